"""Check ids: find ids that programs misread, and ids that are almost equal, within a file or between two files.

Ids are almost equal if they differ only in case or in leading zeros, or if one is the beginning of the other, cut at a
fixed length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.lint.findings import ERROR, NOTE, Finding, show_id
from sublex.lint.located import Ids
from sublex.tools.strings import Strings
from sublex.trec.columns import first_repeated
from sublex.trec.ids import with_white_space

# Ids that pandas reads as a missing value.
MISSING_VALUES = (
    b"NA", b"N/A", b"n/a", b"<NA>", b"#NA", b"#N/A", b"nan", b"NaN", b"-nan", b"-NaN", b"null", b"NULL", b"None",
)  # fmt: skip
LONGEST_MISSING_VALUE = max(map(len, MISSING_VALUES))
# For each rule, the arguments of `fold`: whether to ignore case, and whether to ignore leading zeros.
FOLDS = {"case": (True, False), "zeros": (False, True)}
DIFFERENCES = {"case": "case", "zeros": "leading zeros", "case or zeros": "case and leading zeros"}
# An id of fewer bytes never counts as cut off. It may be the beginning of other ids by chance.
SHORTEST_CUT = 6


def fold(strings: Strings, case: bool, zeros: bool) -> Strings:
    """Return the strings with ASCII letters in lower case (`case`) and numbers without leading zeros (`zeros`)."""
    from sublex.lint import fold_kernels

    return Strings(*fold_kernels.fold(strings.arena, strings.starts, strings.sizes, case, zeros))


def number(table: Interner, strings: Strings) -> np.ndarray:
    """Return the number of each string in the table. Add new strings to the table."""
    return table.add(strings.arena, strings.starts, strings.sizes)


def check_ids(ids: Ids, noun: str) -> Iterator[Finding]:
    """Yield findings about the ids of one file; `noun` is "topic id" or "docno"."""
    yield from check_names(ids, noun)
    yield from check_clashes(ids, noun)


def check_names(ids: Ids, noun: str) -> Iterator[Finding]:
    """Yield findings about ids that are empty, have white space, or look like a missing value."""
    odd = with_white_space(ids.strings)
    if len(odd):
        places = ids.by_line(odd)
        yield Finding.at(
            ids.file, ids.lines[places], "space", ERROR,
            f"The {noun} {show_id(ids.strings[places[0]])} is empty or has white space: programs split the lines of qrels and runs "
            "at white space, so they misread this id; rename it.",
        )  # fmt: skip
    short = np.flatnonzero(ids.strings.sizes <= LONGEST_MISSING_VALUE)
    texts = ids.strings.take(short).tobytes()
    missing = [place for place, text in zip(short, texts, strict=True) if text in MISSING_VALUES]
    if missing:
        places = ids.by_line(np.array(missing))
        yield Finding.at(
            ids.file, ids.lines[places], "na", NOTE,
            f"pandas and similar tools read the {noun} {show_id(ids.strings[places[0]])} as a missing value and drop its line; "
            "rename it, or read the file with keep_default_na=False.",
        )  # fmt: skip


def check_clashes(ids: Ids, noun: str) -> Iterator[Finding]:
    """Yield findings about ids of one file that differ only in case or leading zeros."""
    for rule, options in FOLDS.items():
        folded = number(Interner(), fold(ids.strings, *options))
        earlier, later = first_repeated(np.zeros(len(folded), np.int64), folded)
        if len(later):
            order = np.lexsort((folded[later], ids.lines[later]))
            a, b = ids.strings[earlier[order[0]]], ids.strings[later[order[0]]]
            yield Finding.at(
                ids.file, ids.lines[later[order]], rule, NOTE,
                f"The {noun}s {show_id(a)} and {show_id(b)} differ only in {DIFFERENCES[rule]} and count as two ids; "
                "if they mean the same, write one form.",
            )  # fmt: skip


class Match(NamedTuple):
    """The strings of two files, as numbers in one table.

    `mine` and `theirs` have the numbers of the strings of the two files. For each string of the first file,
    `mine_known` says whether the second file has it. `theirs_known` says the same for the strings of the second file.
    """

    mine: np.ndarray
    theirs: np.ndarray
    mine_known: np.ndarray
    theirs_known: np.ndarray


def match(mine: Strings, theirs: Strings) -> Match:
    """Return which strings of each of two files the other one has."""
    table = Interner()
    a, b = number(table, mine), number(table, theirs)
    in_mine, in_theirs = np.zeros(table.size, np.bool_), np.zeros(table.size, np.bool_)
    in_mine[a], in_theirs[b] = True, True
    return Match(a, b, in_theirs[a], in_mine[b])


def check_near(mine: Ids, theirs: Ids, noun: str, matched: Match) -> Iterator[Finding]:
    """Yield findings about ids that two files write differently, so that only case or leading zeros differ.

    Only ids that the other file lacks are compared. `matched` is `match` of the ids of both files.
    """
    a, b = np.flatnonzero(~matched.mine_known), np.flatnonzero(~matched.theirs_known)
    for rule, options in (FOLDS | {"case or zeros": (True, True)}).items():
        if not len(a) or not len(b):
            return
        folded = match(fold(mine.strings.take(a), *options), fold(theirs.strings.take(b), *options))
        if folded.mine_known.any():
            yield _near(mine, theirs, noun, rule, a, b, folded)
            a, b = a[~folded.mine_known], b[~folded.theirs_known]
    yield from _cut(mine, theirs, noun, a)
    yield from _cut(theirs, mine, noun, b)


def _near(
    mine: Ids, theirs: Ids, noun: str, rule: str, a: np.ndarray, b: np.ndarray, folded: Match
) -> Finding:  # fmt: skip
    near = np.flatnonzero(folded.mine_known)
    near = near[np.argsort(mine.lines[a[near]], kind="stable")]
    other = b[np.flatnonzero(folded.theirs == folded.mine[near[0]])[0]]
    return Finding.at(
        mine.file, mine.lines[a[near]], rule, ERROR,
        f"The {noun} {show_id(mine.strings[a[near[0]]])} is {show_id(theirs.strings[other])} in {theirs.file}: ids that differ in "
        f"{DIFFERENCES[rule]} do not match, so neither counts for the other; write one form in both files.",
    )  # fmt: skip


def _cut(mine: Ids, theirs: Ids, noun: str, unknown: np.ndarray) -> Iterator[Finding]:
    """Yield a finding if the longest ids of `mine` look like ids of `theirs` that were cut off at that length.

    `unknown` has the places of the ids of `mine` that `theirs` lacks. The finding needs two conditions: all of the
    longest ids are among them, and many of these are the beginning of a longer id of `theirs`.
    """
    longest = int(mine.strings.sizes.max()) if len(mine.strings) else 0
    whole = np.flatnonzero(mine.strings.sizes == longest)
    long = theirs.strings.take(_longer(theirs.strings, longest))
    if longest < SHORTEST_CUT or not len(long) or len(np.intersect1d(whole, unknown)) < len(whole):
        return
    matched = match(mine.strings.take(whole), Strings(long.arena, long.starts, np.full(len(long), longest)))
    cut = mine.by_line(whole[matched.mine_known])
    if not len(cut) or 2 * len(cut) < min(len(whole), len(long)):
        return
    at = np.flatnonzero(matched.theirs == matched.mine[np.flatnonzero(whole == cut[0])[0]])[0]
    yield Finding.at(
        mine.file, mine.lines[cut], "cut", ERROR,
        f"The {noun} {show_id(mine.strings[cut[0]])} looks like {show_id(long[at])} of {theirs.file} cut off at {longest} bytes: "
        "the two do not match, so neither counts for the other; write ids in full.",
    )  # fmt: skip


def _longer(strings: Strings, size: int) -> np.ndarray:
    """Return the positions of strings longer than `size` bytes.

    Numbers that are only one digit longer are left out.
    """
    places = np.flatnonzero(strings.sizes > size)
    if not len(places) or not size:
        return places
    last = strings.starts[places] + size
    digits = [(strings.arena[at] >= ord("0")) & (strings.arena[at] <= ord("9")) for at in (last - 1, last)]
    return places[~(digits[0] & digits[1] & (strings.sizes[places] == size + 1))]
