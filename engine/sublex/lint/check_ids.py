"""Ids that are easily mistaken: those that programs take for nothing, and those that differ by case, zeros or a cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.lint.findings import ERROR, NOTE, Finding, Ids, finding, shown
from sublex.strings import Strings

# What pandas and its like read as a missing value; all have from two to four bytes.
NOTHING = (b"NA", b"N/A", b"n/a", b"<NA>", b"#NA", b"#N/A", b"nan", b"NaN", b"-nan", b"-NaN", b"null", b"NULL", b"None")
LONGEST = max(map(len, NOTHING))
# By rule: fold case, fold zeros.
FOLDS = {"case": (True, False), "zeros": (False, True)}
HOW = {"case": "case", "zeros": "leading zeros", "case or zeros": "case and leading zeros"}
# Shorter ids are prefixes of others by chance.
SHORTEST_CUT = 6


def fold(strings: Strings, case: bool, zeros: bool) -> Strings:
    """The strings in lower case, without the leading zeros of their numbers."""
    from sublex.lint import kernels

    return Strings(*kernels.fold(strings.arena, strings.starts, strings.sizes, case, zeros))


def number(table: Interner, strings: Strings) -> np.ndarray:
    """The strings' numbers in the table."""
    return table.add(strings.arena, strings.starts, strings.sizes)


def check_ids(ids: Ids, what: str) -> Iterator[Finding]:
    """Ids of one file that are no names, or nearly the same."""
    yield from check_names(ids, what)
    yield from check_clashes(ids, what)


def check_names(ids: Ids, what: str) -> Iterator[Finding]:
    """Ids that are empty, have white space, or look like nothing."""
    odd = _not_words(ids.strings)
    if len(odd):
        places = ids.first(odd)
        yield finding(
            ids.file, ids.lines[places], "space", ERROR,
            f"The {what} {shown(ids.strings[places[0]])} has white space or is empty: programs split the columns of qrels and runs at "
            "white space, so it cannot stand in one and be understood by all; rename it.",
        )  # fmt: skip
    short = np.flatnonzero(ids.strings.sizes <= LONGEST)
    like = [k for k, text in zip(short, ids.strings.take(short).tobytes(), strict=True) if text in NOTHING]
    if like:
        places = ids.first(np.array(like))
        yield finding(
            ids.file, ids.lines[places], "na", NOTE,
            f"The {what} {shown(ids.strings[places[0]])} is what pandas and its like read as a missing value, and drop; "
            "rename it, or read the file with keep_default_na=False.",
        )  # fmt: skip


def check_clashes(ids: Ids, what: str) -> Iterator[Finding]:
    """Ids that differ by case or zeros only."""
    for rule, options in FOLDS.items():
        earlier, later = clashes(fold(ids.strings, *options))
        if len(later):
            order = np.argsort(ids.lines[later], kind="stable")
            a, b = ids.strings[earlier[order[0]]], ids.strings[later[order[0]]]
            yield finding(
                ids.file, ids.lines[later[order]], rule, NOTE,
                f"The {what}s {shown(a)} and {shown(b)} differ by {HOW[rule]} only and count as two; "
                "make sure that they are.",
            )  # fmt: skip


def _not_words(texts: Strings) -> np.ndarray:
    """The places of strings that are empty or have white space."""
    from sublex.trec import kernels

    kinds = kernels.classify(texts.arena, texts.starts, texts.sizes)
    # White space beyond ASCII is left to Python.
    places = [k for k in np.flatnonzero(kinds) if kinds[k] == 1 or any(map(str.isspace, texts[int(k)]))]
    return np.array(places, np.int64)


def clashes(strings: Strings) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of places that hold the same string: the earlier ones, and those that follow them."""
    table = Interner()
    numbers = number(table, strings)
    if table.size == len(numbers):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    order = np.argsort(numbers, kind="stable")
    same = np.flatnonzero(numbers[order[1:]] == numbers[order[:-1]])
    return order[same], order[same + 1]


class Meeting(NamedTuple):
    """The ids of two files as numbers of one table, and whether each stands in the other file."""

    mine: np.ndarray
    theirs: np.ndarray
    mine_known: np.ndarray
    theirs_known: np.ndarray


def meet(mine: Strings, theirs: Strings) -> Meeting:
    """Which ids of two files are the same."""
    table = Interner()
    a, b = number(table, mine), number(table, theirs)
    in_mine, in_theirs = np.zeros(table.size, np.bool_), np.zeros(table.size, np.bool_)
    in_mine[a], in_theirs[b] = True, True
    return Meeting(a, b, in_theirs[a], in_mine[b])


def check_near(mine: Ids, theirs: Ids, what: str, met: Meeting) -> Iterator[Finding]:
    """Ids of two files that only nearly meet."""
    a, b = np.flatnonzero(~met.mine_known), np.flatnonzero(~met.theirs_known)
    for rule, options in (FOLDS | {"case or zeros": (True, True)}).items():
        if not len(a) or not len(b):
            return
        folded_a, folded_b = fold(mine.strings.take(a), *options), fold(theirs.strings.take(b), *options)
        again = meet(folded_a, folded_b)
        if again.mine_known.any():
            yield _near(mine, theirs, what, rule, a, b, again)
            a, b = a[~again.mine_known], b[~again.theirs_known]
    for one, other, places in ((mine, theirs, a), (theirs, mine, b)):
        yield from _cut(one, other, what, places)


def _near(
    mine: Ids, theirs: Ids, what: str, rule: str, a: np.ndarray, b: np.ndarray, again: Meeting
) -> Finding:  # fmt: skip
    near = np.flatnonzero(again.mine_known)
    near = near[np.argsort(mine.lines[a[near]], kind="stable")]
    other = b[np.flatnonzero(again.theirs == again.mine[near[0]])[0]]
    return finding(
        mine.file, mine.lines[a[near]], rule, ERROR,
        f"The {what} {shown(mine.strings[a[near[0]]])} is {shown(theirs.strings[other])} in {theirs.file}: ids that differ by "
        f"{HOW[rule]} are strangers to each other, and neither counts for the other; write one form in both files.",
    )  # fmt: skip


def _cut(mine: Ids, theirs: Ids, what: str, places: np.ndarray) -> Iterator[Finding]:
    """Whether these ids, unknown to the other file, are ids of it cut off at one length."""
    longest = int(mine.strings.sizes.max()) if len(mine.strings) else 0
    whole = np.flatnonzero(mine.strings.sizes == longest)
    long = theirs.strings.take(_longer(theirs.strings, longest))
    if longest < SHORTEST_CUT or not len(long) or len(np.intersect1d(whole, places)) < len(whole):
        return
    met = meet(mine.strings.take(whole), Strings(long.arena, long.starts, np.full(len(long), longest)))
    cut = mine.first(whole[met.mine_known])
    if not len(cut) or 2 * len(cut) < min(len(whole), len(long)):
        return
    at = np.flatnonzero(met.theirs == met.mine[np.flatnonzero(whole == cut[0])[0]])[0]
    yield finding(
        mine.file, mine.lines[cut], "cut", ERROR,
        f"The {what} {shown(mine.strings[cut[0]])} looks like {shown(long[at])} of {theirs.file} cut off at {longest} bytes: "
        "the two do not count for each other; write ids in full.",
    )  # fmt: skip


def _longer(strings: Strings, size: int) -> np.ndarray:
    """The strings of more bytes, but for those where the next byte is one more digit of a number."""
    places = np.flatnonzero(strings.sizes > size)
    if not len(places) or not size:
        return places
    last = strings.starts[places] + size
    digits = [(strings.arena[at] >= ord("0")) & (strings.arena[at] <= ord("9")) for at in (last - 1, last)]
    return places[~(digits[0] & digits[1] & (strings.sizes[places] == size + 1))]
