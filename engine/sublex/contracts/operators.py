"""Operators: query terms that are made of other terms, such as phrases; and conditions on the documents of a query.

An operator has postings like any term: the documents in which it occurs, with the number of its occurrences. They are
computed when a query first asks for them. `docs/operators.md` says what an occurrence is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from numbers import Integral
from typing import Any, NamedTuple

from sublex.contracts.comparisons import ColumnTest
from sublex.errors import InputError
from sublex.tools.messages import counted, cut

# The largest number of parts of an operator, and the greatest depth of operators within operators.
MOST_PARTS, DEEPEST = 1_024, 16
# The greatest depth of conditions within conditions. A query in the query language has fewer, since it may have at most
# 64 parentheses within one another.
DEEPEST_CONDITION = 512
WRONG_PARTS = "The parts of a condition should be a list of terms, operators, comparisons and conditions."
# The largest number n of parts of a window if some are operators: the time to find its occurrences grows with 2 to the n.
MOST_NESTED = 6
# The widest window.
WIDEST = 1 << 20
# The pattern for the name of a field or a column, and the largest number of its characters.
NAME, LONGEST_NAME = r"[^\W\d][\w.-]*", 200


class OperatorKind(StrEnum):
    """The kinds of operators.

    ORDERED: one part after the other. WINDOW: all parts, in any order. SYNONYMS: any part. FIELD: a part within a field.
    """

    ORDERED = "ordered"
    WINDOW = "window"
    SYNONYMS = "syn"
    FIELD = "field"


_KINDS = {kind: kind for kind in OperatorKind}
# The kinds whose operators have no width; they read positions only if a part does.
COUNTED = (OperatorKind.SYNONYMS, OperatorKind.FIELD)


class Gap:
    """A part of an ORDERED operator that matches any one position; it stands for a stop word within a phrase."""

    def __repr__(self) -> str:
        return "GAP"

    def __reduce__(self) -> str:
        return "GAP"


GAP = Gap()


class Operator(str):
    """A term of a query that is made of other terms. Its text is its printed form, such as `#1('stem','cell')`.

    `kind` is one of `OperatorKind`. `width` is the number in the printed form. For ORDERED, it is the largest allowed
    distance from the end of a part to the beginning of the next. For WINDOW, it is the largest number of positions from
    the first to the last, both counted. For SYNONYMS and FIELD, it is 0. `parts` are terms, operators and, for ORDERED,
    gaps; FIELD has one part, a term, an ORDERED or a WINDOW. `field` is the name of the field, "" for other kinds. An
    operator never equals a plain text, since an index may hold any text as a term.

    `reads_positions` says whether occurrences depend on positions. It is false for FIELD of a term, and for SYNONYMS
    whose parts read no positions; otherwise it is true. `fields` are the names of all fields in the operator. `depth` is
    1 plus the greatest depth of an operator among the parts.

    `ordered`, `window`, `synonyms` and `within` make operators, and `operator` reads a printed form. Raise InputError if
    an operator cannot have this kind, this width, these parts or this field.
    """

    kind: OperatorKind
    width: int
    parts: tuple[Any, ...]
    # These are the values for phrases and windows of words, the most frequent operators.
    field: str = ""
    fields: frozenset[str] = frozenset()
    reads_positions: bool = True
    depth: int = 1

    def __new__(cls, kind: OperatorKind, width: int, parts: Sequence[Any], field: str = "") -> Operator:
        kind, width, parts, inner = _checked(kind, width, parts, field)
        made = super().__new__(cls, f"{head(kind, width, field)}{','.join(map(_printed, parts))})")
        made.kind, made.width, made.parts = kind, width, parts
        if inner:
            made.fields = frozenset(name for part in inner for name in part.fields)
            made.depth = 1 + max(part.depth for part in inner)
        if field:
            made.field, made.fields = field, made.fields | {field}
        if kind in COUNTED:
            made.reads_positions = any(part.reads_positions for part in inner)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operator) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    # A class that defines __eq__ has no hash unless it names one. A search looks operators up many times.
    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Operator, (self.kind, self.width, self.parts, self.field)

    def terms(self) -> Iterator[str]:
        """Yield the terms in the operator, in order, with repetitions."""
        for part in self.parts:
            if isinstance(part, Operator):
                yield from part.terms()
            elif isinstance(part, str):
                yield part


def ordered(parts: Sequence[Any], width: int = 1) -> str:
    """Return the term for `parts` one after the other, with at most `width - 1` positions between two neighbours.

    Gaps at the ends are dropped. A single part is returned unchanged.
    """
    kept = list(parts)
    while kept and kept[0] is GAP:
        del kept[0]
    while kept and kept[-1] is GAP:
        del kept[-1]
    return _made(OperatorKind.ORDERED, width, kept)


def window(parts: Sequence[Any], width: int) -> str:
    """Return the term for all `parts` within `width` positions, in any order. A single part is returned unchanged.

    Raise InputError if the parts need more positions than `width`.
    """
    kept = sorted([part for part in parts if part is not GAP])
    needed = sum(map(least_width, kept))
    if len(kept) > 1 and width < needed:
        raise InputError(f"#uw{width} is smaller than its {counted(needed, 'word')}; write #uw{needed} or more.")
    return _made(OperatorKind.WINDOW, width, kept)


def synonyms(parts: Sequence[Any]) -> str:
    """Return the term that occurs where any of `parts` does. Equal parts count once; a single part is returned unchanged."""
    return _made(OperatorKind.SYNONYMS, 0, sorted({part for part in parts if part is not GAP}))


def within(field: str, part: Any) -> str:
    """Return the term that occurs where `part` occurs within a field. A part in the same field is returned unchanged.

    Synonyms become synonyms of their parts within the field. Raise InputError for a part in another field.
    """
    if part is GAP:
        raise InputError("There is no word in the operator that the index could hold; write at least one.")
    if isinstance(part, Operator):
        for other in sorted(part.fields - {field}):
            raise InputError(f"#field({field}:…) cannot hold #field({other}:…): no word is in both fields.")
        if part.kind is OperatorKind.FIELD:
            return part
        if part.kind is OperatorKind.SYNONYMS:
            return synonyms([within(field, inner) for inner in part.parts])
    return Operator(OperatorKind.FIELD, 0, [part], field)


def _made(kind: OperatorKind, width: int, parts: Sequence[Any]) -> str:
    if not parts:
        raise InputError("There is no word in the operator that the index could hold; write at least one.")
    if len(parts) > 1:
        return Operator(kind, width, parts)
    if kind is not OperatorKind.SYNONYMS:
        _expect_width(width)
    return parts[0]


def _checked(
    asked: OperatorKind, width: int, parts: Sequence[Any], field: str
) -> tuple[OperatorKind, int, tuple[Any, ...], list[Operator]]:
    """Return the kind, the width, the parts and the operators among the parts. Raise InputError if they make no operator."""
    kind = _KINDS.get(asked)
    if kind is None:
        raise InputError(f"{asked!r} is not a kind of operator; the kinds are {', '.join(OperatorKind)}.")
    others = [part for part in parts if type(part) is not str]
    if isinstance(parts, str) or not all(part is GAP or isinstance(part, str) for part in others):
        raise InputError("The parts of an operator should be a list of terms, operators and gaps.")
    inner = [part for part in others if isinstance(part, Operator)]
    if kind is OperatorKind.FIELD:
        _expect_field(field, parts)
        if inner and inner[0].kind in COUNTED:
            raise InputError(f"#field takes a term, #N(…) or #uwN(…); within({field!r}, part) makes it of other parts.")
    elif field:
        raise InputError(f"Only #field has a field, and not an operator of the kind {kind}.")
    elif not 2 <= len(parts) <= MOST_PARTS:
        raise InputError(f"An operator has {counted(len(parts), 'part')}; it should have from 2 to {MOST_PARTS:,}.")
    if GAP in others and (kind is not OperatorKind.ORDERED or GAP in (parts[0], parts[-1])):
        raise InputError("A gap stands between two parts of #N alone.")
    if kind in COUNTED:
        width = 0
    else:
        _expect_width(width)
    if inner:
        _expect_shallow(kind, inner, len(parts))
    return kind, int(width), tuple(parts), inner


def _expect_shallow(kind: OperatorKind, inner: Sequence[Operator], parts: int) -> None:
    """Raise InputError for a window of too many parts, some of them operators, and for operators nested too deep.

    `inner` are the operators among the parts, and `parts` is the number of all parts.
    """
    if kind is OperatorKind.WINDOW and parts > MOST_NESTED:
        raise InputError(
            f"A window has {parts} parts, among them operators; #uw with operators takes at most {MOST_NESTED} parts."
        )
    depth = 1 + max(part.depth for part in inner)
    if depth > DEEPEST:
        raise InputError(f"The operators are {depth} deep within one another; the most are {DEEPEST}.")


def _expect_field(field: str, parts: Sequence[Any]) -> None:
    """Raise InputError if no field can have this name, or if there is not exactly one part."""
    if not isinstance(field, str) or len(field) > LONGEST_NAME or not re.fullmatch(NAME, field):
        raise InputError(
            f"{cut(repr(field))} is no name of a field; it should be letters, digits, _, . and -, with a letter or _ first, "
            f"at most {LONGEST_NAME}."
        )
    if len(parts) != 1:
        raise InputError(f"#field({field}:…) has {counted(len(parts), 'part')}; it should have one, such as #1(…).")


def _expect_width(width: int) -> None:
    # The check against int comes first, since the check against Integral takes seven times as long.
    if not isinstance(width, (int, Integral)) or not 1 <= width <= WIDEST:
        raise InputError(f"The width {width} of an operator should be from 1 to {WIDEST:,}.")


def least_width(part: Any) -> int:
    """Return the least number of positions that an occurrence of a part takes: 1 for a term or a gap."""
    if not isinstance(part, Operator):
        return 1
    least = [least_width(inner) for inner in part.parts]
    return min(least) if part.kind in COUNTED else sum(least)


def terms_in(terms: Iterable[str]) -> Iterator[str]:
    """Yield the terms that are not operators, in order. They stand among `terms`, or within operators."""
    for term in terms:
        if isinstance(term, Operator):
            yield from term.terms()
        else:
            yield term


def sought_in(terms: Iterable[str]) -> Iterator[str]:
    """Yield the terms that users miss if no document has them: the terms of `terms_in`, and words within a field.

    The parts of synonyms within a field are left out. They may be all terms with a prefix, and some of these may well be
    in no document.
    """
    for term in terms:
        yield from terms_in([term])
        if isinstance(term, Operator) and term.kind is not OperatorKind.SYNONYMS:
            if term.kind is OperatorKind.FIELD and not term.reads_positions:
                yield term
            yield from (own for own in sought_in(term.parts) if isinstance(own, Operator))


def words_in(term: str, word_of: Callable[[str], str] = str) -> str:
    """Return a term as people read it, such as `"stem cell"`, `(stem … cell) within 8 words`, `car or automobile`, `title:cell`.

    `word_of` returns the word to show for a term that is no operator.
    """
    if not isinstance(term, Operator):
        return word_of(term)
    parts = ["*" if part is GAP else words_in(part, word_of) for part in term.parts]
    if term.kind is OperatorKind.FIELD:
        return f"{term.field}:{parts[0]}"
    if term.kind is OperatorKind.ORDERED:
        return f'"{" ".join(parts)}"' + (f" with gaps of {term.width - 1}" if term.width > 1 else "")
    return (
        " or ".join(parts) if term.kind is OperatorKind.SYNONYMS else f"({' … '.join(parts)}) within {term.width} words"
    )


# The printed form. Terms stand in quotes; a backslash, a quote, white space and control characters are escaped.
_ESCAPED = re.compile(r"[\\'\s\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HEAD = re.compile(rf"#(?:(?:(syn)|(uw)?(\d{{1,30}}))\(|field\(({NAME}):)")
_TERM = re.compile(r"'((?:[^\\']|\\.)*)'")
_CODE = re.compile(r"\\(?:u\{([0-9a-f]{1,6})\}|(.))")


class Head(NamedTuple):
    """How an operator begins: its kind, its width, its field, and the place where its parts begin."""

    kind: OperatorKind
    width: int
    field: str
    end: int


def head(kind: OperatorKind, width: int, field: str = "") -> str:
    """Return how an operator begins, such as `#1(`, `#syn(` or `#field(title:`."""
    if kind is OperatorKind.ORDERED:
        return f"#{width}("
    if kind is OperatorKind.WINDOW:
        return f"#uw{width}("
    return "#syn(" if kind is OperatorKind.SYNONYMS else f"#field({field}:"


def read_head(text: str, at: int = 0) -> Head | None:
    """Return the head of the operator that begins at a place of a text; None if there is no operator."""
    found = _HEAD.match(text, at)
    if not found:
        return None
    named = (found[4], OperatorKind.FIELD), (found[1], OperatorKind.SYNONYMS), (found[2], OperatorKind.WINDOW)
    kind = next((kind for name, kind in named if name), OperatorKind.ORDERED)
    return Head(kind, int(found[3] or 0), found[4] or "", found.end())


def make(kind: OperatorKind, width: int, parts: Sequence[Any], field: str = "") -> str:
    """Return the term that `ordered`, `window`, `synonyms` or `within` makes of parts."""
    if kind is OperatorKind.FIELD:
        _expect_field(field, parts)
        return within(field, parts[0])
    return (
        synonyms(parts)
        if kind is OperatorKind.SYNONYMS
        else (window if kind is OperatorKind.WINDOW else ordered)(parts, width)
    )


def _printed(part: Any) -> str:
    if part is GAP:
        return "*"
    return str(part) if isinstance(part, Operator) else quoted(part)


def quoted(term: str) -> str:
    """Return the printed form of a term within an operator, such as `'stem'`; it has no white space."""
    # Most terms are letters and digits.
    return f"'{term if term.isalnum() else _ESCAPED.sub(_escape, term)}'"


def unescaped(text: str) -> str:
    """Return a text with its escapes replaced by the characters that they stand for: one character for each escape."""
    return _CODE.sub(_unescape, text)


def _escape(match: re.Match[str]) -> str:
    letter = match[0]
    return f"\\{letter}" if letter in "\\'" else f"\\u{{{ord(letter):x}}}"


def _unescape(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else 0
    return match[2] if match[2] else chr(code) if code < 0x110000 else "\N{REPLACEMENT CHARACTER}"


def operator(text: str) -> Operator | None:
    """Return the operator with this printed form, or None if the text is no printed form of an operator."""
    try:
        found = written_operator(text)
    except InputError:
        return None
    return found if isinstance(found, Operator) and str.__eq__(found, text) else None


def written_operator(text: str) -> str | None:
    """Return the operator that a person wrote in its printed form; None if the text is no operator.

    The parts may have any order. Raise InputError for an impossible operator, such as a window that is too narrow for its
    words.
    """
    if not read_head(text):
        return None
    try:
        found, end = _read(text, 0, 0)
    except _NotPrinted:
        return None
    return found if end == len(text) else None


class _NotPrinted(Exception):
    """The text is not the printed form of an operator."""


def _read(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Return the part that begins at a place of a text, and where it ends."""
    if text.startswith("*", at):
        return GAP, at + 1
    if term := _TERM.match(text, at):
        return unescaped(term[1]), term.end()
    begin = read_head(text, at)
    if not begin or depth > DEEPEST:
        raise _NotPrinted
    at, parts = begin.end, []
    while True:
        part, at = _read(text, at, depth + 1)
        parts.append(part)
        if text.startswith(")", at):
            break
        if not text.startswith(",", at):
            raise _NotPrinted
        at += 1
    return make(begin.kind, begin.width, parts, begin.field), at + 1


class _KindAndParts(NamedTuple):
    kind: str
    parts: tuple[Any, ...]


class Condition(_KindAndParts):
    """The documents that a query allows. `kind` is "all", "any" or "not"; `parts` are conditions, terms, operators and
    `sublex.contracts.comparisons.ColumnTest`s.

    A document meets a term or an operator if it holds it. It meets a condition "all" if it meets each part, "any" if it
    meets at least one, and "not" if it does not meet the only part. Raise InputError for another kind, for parts that are
    none of these, and if conditions are nested too deep.
    """

    def __new__(cls, kind: str, parts: Iterable[Any]) -> Condition:
        if kind not in ("all", "any", "not"):
            raise InputError(f"{kind!r} is not a kind of condition; the kinds are all, any and not.")
        if isinstance(parts, (str, Condition, ColumnTest)) or not isinstance(parts, Iterable):
            raise InputError(WRONG_PARTS)
        made = super().__new__(cls, kind, tuple(parts))
        if not all(isinstance(part, (str, Condition, ColumnTest)) for part in made.parts):
            raise InputError(WRONG_PARTS)
        if kind == "not" and len(made.parts) != 1:
            raise InputError(f'A condition "not" has {counted(len(made.parts), "part")}; it should have one.')
        made.depth = 1 + max((part.depth for part in made.parts if isinstance(part, Condition)), default=0)
        if made.depth > DEEPEST_CONDITION:
            raise InputError(
                f"The conditions are {made.depth} deep within one another; the most are {DEEPEST_CONDITION}."
            )
        return made

    # 1 plus the greatest depth of a condition among the parts.
    depth: int

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Condition:  # type: ignore[override]
        """Return the condition of a kind and parts, checked as `Condition(kind, parts)` is; `_replace` calls it."""
        return cls(*iterable)

    def leaves(self) -> Iterator[str]:
        """Yield the terms and operators of the condition, in order, with repetitions; comparisons are not among them."""
        for part in self.parts:
            if isinstance(part, Condition):
                yield from part.leaves()
            elif isinstance(part, str):
                yield part

    def excluded(self) -> frozenset[str]:
        """Return the terms that no allowed document holds: parts of a "not" that is the condition itself or a part of an "all"."""
        nots = self.parts if self.kind == "all" else (self,)
        leaves = [part.parts[0] for part in nots if isinstance(part, Condition) and part.kind == "not"]
        either = [leaf.parts if isinstance(leaf, Condition) and leaf.kind == "any" else [leaf] for leaf in leaves]
        return frozenset(leaf for group in either for leaf in group if isinstance(leaf, str))


# A condition that no document meets.
NOTHING = Condition("any", ())
