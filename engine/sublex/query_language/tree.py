"""The tree of a query in the query language: records with a printed form. Reading the printed form gives the same tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Union

from sublex.contracts.comparisons import ColumnTest
from sublex.contracts.operators import NAME, OperatorKind, head, quoted

# Quotation marks. Two of them stand around a phrase.
QUOTES = '"“”„‟«»'
# Characters with a meaning, which are escaped in the printed form of a word. White space and controls are escaped too.
_SPECIAL = re.compile(rf"""[\\{QUOTES}()^~*]|^[+\-#']""")
# The pattern with which a part within a field begins. Addresses such as http://x and names such as std::vector do not match.
IN_FIELD = re.compile(rf"({NAME}):(?!//|:)(?=[^\s)])")
# Signs that are escaped directly after a name and a colon: signs that compare values of a column, and signs that cannot follow
# the name of a field.
_AFTER_NAME, _BACKSLASH = re.compile(r"^(?:[<>:=\[{]|!=|//)|\.(?=\.)"), r"\\\g<0>"
_INVISIBLE = "\\xad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff"
_UNSEEN = re.compile(rf"[\s\x00-\x1f\x7f-\x9f\u2028\u2029{_INVISIBLE}]")
# Words that join parts of a query.
JOINERS = ("AND", "OR", "NOT")


@dataclass(frozen=True)
class WrittenWord:
    """A word as the user wrote it. The analyzer makes terms of it: one, several or none.

    `named` says that the word begins with the name of a field and a colon, which is printed with a backslash.
    """

    text: str
    named: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"\\{self.text}" if self.text in JOINERS else _escaped(self.text, self.named)


@dataclass(frozen=True)
class Stem:
    """A term of the index, which the analyzer does not change: `'stem'`."""

    term: str

    def __str__(self) -> str:
        return quoted(self.term)


@dataclass(frozen=True)
class Prefix:
    """All terms that begin with the letters of a text: `stem*`. `named` is as in `WrittenWord`."""

    text: str
    named: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{_letters(self.text, self.named)}*"


@dataclass(frozen=True)
class Fuzzy:
    """All terms within `edits` edits of the letters of a text: `stem~1`. `named` is as in `WrittenWord`."""

    text: str
    edits: int
    named: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{_letters(self.text, self.named)}~{self.edits}"


@dataclass(frozen=True)
class QuotedPhrase:
    """Words one after the other: `"stem cells"`. With `slop` above 0, words in any order, with up to `slop` other positions between."""

    text: str
    slop: int = 0

    def __str__(self) -> str:
        text = re.sub(r'[\\"]', r"\\\g<0>", self.text)
        return f'"{text}"{f"~{self.slop}" if self.slop else ""}'


@dataclass(frozen=True)
class AnyWord:
    """The `*` within `#3(…)`, which stands for any one position."""

    def __str__(self) -> str:
        return "*"


@dataclass(frozen=True)
class OperatorTerm:
    """An operator over parts: `#1(stem cell)`, `#uw8(stem cell)`, `#syn(car automobile)`."""

    kind: OperatorKind
    width: int
    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return f"{head(self.kind, self.width)}{' '.join(map(_within, self.parts))})"


@dataclass(frozen=True)
class Field:
    """A word, a phrase or an operator within a field of the index: `title:cell`, `title:"stem cells"`."""

    name: str
    part: Node

    def __str__(self) -> str:
        part = str(self.part)
        return f"{self.name}:{_AFTER_NAME.sub(_BACKSLASH, part) if isinstance(self.part, (WrittenWord, Prefix, Fuzzy)) else part}"


@dataclass(frozen=True)
class Compared:
    """Documents whose column has certain values: `year:2015..2020`, `year:>=2015`, `category:"two words"`, `year:*`.

    `named` says that a field has the same name as the column. Then `year:2015` asks for a word in the field, and `year:=2015`
    for a value of the column.
    """

    comparison: ColumnTest
    named: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        text = str(self.comparison)
        return text.replace(":", ":=", 1) if self.named and self.comparison.relation in ("=", "begins") else text


class _Joining:
    """A part of a tree that prints other parts with signs or joiners around them."""

    def __str__(self) -> str:
        return "".join(map(str, pieces(self)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Boost(_Joining):
    """A part with a factor for the weights of its terms: `stem^2.5`."""

    part: Node
    weight: float


@dataclass(frozen=True)
class Not(_Joining):
    """Documents for which a part does not hold: `NOT cell`."""

    part: Node


@dataclass(frozen=True)
class And(_Joining):
    """Documents for which all parts hold: `stem AND cell`."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Or(_Joining):
    """Documents for which at least one part holds: `stem OR cell`."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Clauses(_Joining):
    """Clauses side by side, each with a sign: "+" for a required clause, "-" for an excluded clause, "" without a sign."""

    clauses: tuple[tuple[str, Node], ...]


Node = Union[  # noqa: UP007
    WrittenWord, Stem, Prefix, Fuzzy, QuotedPhrase, AnyWord, OperatorTerm, Field, Compared, Boost, Not, And, Or, Clauses
]


@dataclass(frozen=True)
class QueryTree:
    """A query in the query language. Its text is its printed form.

    `notes` are sentences about parts of the query that mean something else than users may expect.
    """

    root: Node
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return str(self.root)


def parts_of(node: Node) -> tuple[Node, ...]:
    """Return the parts within a weight, NOT, AND, OR or clauses. A word, phrase, operator or comparison has no such parts."""
    match node:
        case Boost(part=part) | Not(part=part):
            return (part,)
        case And(parts=parts) | Or(parts=parts):
            return parts
        case Clauses(clauses=clauses):
            return tuple(part for _, part in clauses)
    return ()


def _with(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a node in which `change` is applied to each part that `parts_of` returns."""
    match node:
        case Boost(part=part, weight=weight):
            return Boost(change(part), weight)
        case Not(part=part):
            return Not(change(part))
        case And(parts=parts):
            return And(tuple(map(change, parts)))
        case Or(parts=parts):
            return Or(tuple(map(change, parts)))
        case Clauses(clauses=clauses):
            return Clauses(tuple((sign, change(part)) for sign, part in clauses))
    return node


def in_field(name: str, node: Node) -> Node:
    """Return a part in which all words, phrases and operators are within a field. If they name a field, they keep it."""
    match node:
        case Boost() | Not() | And() | Or() | Clauses():
            return _with(node, lambda part: in_field(name, part))
        case Field() | Compared():
            return node
    return Field(name, node)


def any_of(node: Node) -> Node:
    """Return the tree for a group of values of a column, as in `category:(a b)`.

    Values without a sign are joined by OR. If a value has the sign +, the values without a sign are left out, because
    they cannot add to scores.
    """
    group = _with(node, any_of)
    if not isinstance(group, Clauses) or not group.clauses:
        return group
    unsigned = tuple(part for sign, part in group.clauses if not sign)
    signed = tuple(clause for clause in group.clauses if clause[0])
    if any(sign == "+" for sign, _ in signed):
        # Beside a required value, other values would only add to scores. Values of columns add nothing to scores, so they go.
        return Clauses((*(("", part) for part in unsigned if not isinstance(part, Compared)), *signed))
    if not unsigned:
        return group
    either = unsigned[0] if len(unsigned) == 1 else Or(unsigned)
    return Clauses((("", either), *signed)) if signed else either


def _number(weight: float) -> str:
    text = repr(weight)
    return text.removesuffix(".0")


def _escaped(text: str, named: bool) -> str:
    escaped = _UNSEEN.sub(_coded, _SPECIAL.sub(r"\\\g<0>", text))
    return escaped.replace(":", "\\:", 1) if named else escaped


def _letters(text: str, named: bool) -> str:
    """Return the printed letters of a prefix or a fuzzy word. A ? is escaped, as it stands for any letter in other languages."""
    return _escaped(text, named).replace("?", "\\?")


def _within(part: Node) -> str:
    """Return the printed form of a part of an operator. Commas are escaped, since they separate words there."""
    if isinstance(part.part if isinstance(part, Field) else part, (WrittenWord, Prefix, Fuzzy)):
        return str(part).replace(",", "\\,")
    return str(part)


def visible(text: str) -> str:
    """Return a text with codes in place of characters that have no shape, such as a space of no width."""
    return re.sub(f"[{_INVISIBLE}]", _coded, text)


def _coded(match: re.Match[str]) -> str:
    """Return the code of a matched character that cannot be seen."""
    return f"\\u{{{ord(match[0]):x}}}"


def pieces(node: Node) -> Iterator[str | Node]:
    """Yield the pieces of a tree's printed form: its words, phrases and operators, and the signs and joiners around them."""
    match node:
        case Boost(part=part, weight=weight):
            yield from _bracketed(part, isinstance(part, (Boost, Not, And, Or, Clauses)))
            yield f"^{_number(weight)}"
        case Not(part=part):
            yield "NOT "
            yield from _bracketed(part, isinstance(part, (Not, And, Or, Clauses)))
        case And(parts=parts) | Or(parts=parts):
            bare = (Not,) if isinstance(node, And) else (Not, And)
            for place, part in enumerate(parts):
                if place:
                    yield " AND " if isinstance(node, And) else " OR "
                yield from _bracketed(part, isinstance(part, (Not, And, Or, Clauses)) and not isinstance(part, bare))
        case Clauses(clauses=clauses):
            for place, (sign, part) in enumerate(clauses):
                yield f"{' ' if place else ''}{sign}"
                yield from _bracketed(part, isinstance(part, (Not, And, Or, Clauses) if sign else Clauses))
        case _:
            yield node


def _bracketed(part: Node, is_bracketed: bool) -> Iterator[str | Node]:
    if is_bracketed:
        yield "("
    yield from pieces(part)
    if is_bracketed:
        yield ")"
