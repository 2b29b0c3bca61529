"""Make queries of trees: the weighted terms and operators, the condition on documents, and the plain words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from sublex.analysis.tokens import analyze, located_terms
from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.columns import comparisons_in, typed
from sublex.contracts.comparisons import ColumnTest
from sublex.contracts.operators import GAP, NOTHING, Condition, OperatorKind, make, ordered, synonyms, within
from sublex.contracts.scores import expect_weights
from sublex.errors import InputError
from sublex.index.missing_values import has_values, missing_values
from sublex.query_language.expand import Expansion, letters_of, near_terms, terms_beginning
from sublex.query_language.read import NO_COLUMNS, read_tree
from sublex.query_language.tree import (
    And,
    AnyWord,
    Boost,
    Clauses,
    Compared,
    Field,
    Fuzzy,
    Node,
    Not,
    OperatorTerm,
    Or,
    Prefix,
    QueryTree,
    QuotedPhrase,
    Stem,
    WrittenWord,
    parts_of,
)  # fmt: skip

if TYPE_CHECKING:
    from sublex.contracts.base import Analyzer
    from sublex.index.snapshot import Snapshot


def read_query(text: str, analyzer: Analyzer, snapshot: Snapshot | None) -> Query:
    """Return the query for a text in the query language.

    The notes of its tree name the parts of the text that mean something else than users may expect. Without a snapshot,
    prefixes and fuzzy words stand for no terms. Raise InputError for an impossible query, such as one with a window that is
    too narrow for its words.
    """
    fields, columns = (snapshot.fields, snapshot.columns) if snapshot else ((), NO_COLUMNS)
    return Maker(analyzer, snapshot).query(read_tree(text, fields, columns))


class Maker:
    """Makes a query of a tree. Each part of the tree is analysed once."""

    def __init__(self, analyzer: Analyzer, snapshot: Snapshot | None):
        self.analyzer, self.snapshot = analyzer, snapshot
        self._notes: dict[str, None] = {}
        self._terms: dict[Node, list[str]] = {}
        # The parts of a phrase for a word without a term: a gap, or nothing if such words take no position in the index.
        self._gap: list[Any] = [] if snapshot is not None and snapshot.gapless else [GAP]

    def query(self, tree: QueryTree) -> Query:
        """Return the query of a tree."""
        scored = list(_scored(tree.root, 1.0))
        weighted = [(term, weight) for leaf, weight in scored for term in self.terms(leaf)]
        expect_weights(weight for _, weight in weighted)
        condition = self._of_root(tree.root)
        if self.snapshot is not None:
            self._notes |= dict.fromkeys(missing_values(self.snapshot, condition))
        # A query that only asks for values of columns lists all documents with these values.
        lists = not scored and any(comparisons_in(condition))
        if condition is not None and not weighted and not lists:
            if not scored:
                self._notes["The query only excludes, which finds nothing; write a word to look for, too."] = None
            elif condition != NOTHING:
                self._notes["No word to look for is left, so the query finds nothing."] = None
            condition = NOTHING
        if condition is not None and not isinstance(condition, Condition):
            condition = Condition("all", (condition,))
        made = QueryTree(tree.root, (*tree.notes, *self._notes))
        words = " ".join(word for leaf, _ in scored for word in _words(leaf))
        return Query(words, tuple(QueryTerm(*term) for term in weighted), (), made, condition)

    # Terms.

    def terms(self, leaf: Node) -> list[str]:
        """Return the terms of a word, a phrase or an operator.

        Most have one term. The list is empty if the analyzer leaves no word, or if no term of the index fits.
        """
        if leaf not in self._terms:
            self._terms[leaf] = self._terms_of(leaf)
        return self._terms[leaf]

    def _terms_of(self, leaf: Node) -> list[str]:
        match leaf:
            case WrittenWord(text=text):
                return analyze(self.analyzer, text)
            case Stem(term=term):
                return [term]
            case Prefix() | Fuzzy():
                return self._expanded(leaf)
            case QuotedPhrase(text=text, slop=slop):
                parts = self._places(text)
                return self._made(
                    leaf,
                    OperatorKind.WINDOW if slop else OperatorKind.ORDERED,
                    slop + _extent(parts) if slop else 1,
                    parts,
                )
            case OperatorTerm(kind=kind, width=width, parts=inner):
                return self._made(leaf, kind, width, [term for part in inner for term in self._part(part, kind)])
            case Field(name=name, part=inside):
                self._note_column(leaf)
                return [self._within(name, term) for term in self.terms(inside)]
        return []

    def _note_column(self, leaf: Field) -> None:
        """Add a note if a word or phrase within a field is also a value of the column with the same name.

        Only the first such word or phrase gets a note.
        """
        asks = "asks for words of the field"
        if (
            self.snapshot is None
            or leaf.name not in self.snapshot.columns
            or not isinstance(leaf.part, (WrittenWord, QuotedPhrase))
        ):
            return
        if any(asks in note for note in self._notes):
            return
        asked = ColumnTest(leaf.name, "=", (typed(leaf.part.text, self.snapshot.columns[leaf.name]),))
        with suppress(InputError):
            if has_values(self.snapshot, asked):
                column = _short(Compared(asked, True))
                self._notes[f"{_short(leaf)} {asks}; {column} asks for the column."] = None

    def _part(self, part: Node, kind: OperatorKind) -> list[Any]:
        """Return the term of a part of an operator, in a list. For a part without terms, the list has gaps or is empty."""
        inner = _leaf(part)
        places = self._places(inner.text) if isinstance(inner, WrittenWord) else self.terms(inner)
        if any(place is not GAP for place in places):
            term = ordered(places)
            return [self._within(part.name, term) if isinstance(part, Field) else term]
        if kind is not OperatorKind.ORDERED:
            return []
        return places or ([GAP] if isinstance(part, AnyWord) else self._gap)

    def _within(self, field: str, term: str) -> str:
        """Return the term within a field. Raise InputError if the index has no such field."""
        if self.snapshot is not None:
            self.snapshot.need_field(field)
        return within(field, term)

    def _places(self, text: str) -> list[Any]:
        """Return the parts of a phrase for a text, in order: the terms of its words, and gaps for words without terms."""
        located = located_terms(self.analyzer, text)
        return [term for *_, terms in located for term in cast("list[Any]", terms) or self._gap]

    def _made(self, leaf: Node, kind: OperatorKind, width: int, parts: list[Any]) -> list[str]:
        """Return a list with the operator of this kind and width over `parts`.

        If no part is a term, note this and return []. `leaf` is the part of the query that the note names.
        """
        if all(part is GAP for part in parts):
            self._notes[f"{_short(leaf)} has no word that the index could hold, and is left out."] = None
            return []
        return [make(kind, width, parts)]

    def _expanded(self, leaf: Prefix | Fuzzy) -> list[str]:
        """Return a list with one term for a prefix or a fuzzy word: the synonyms of the terms that fit; [] if no term fits."""
        letters = letters_of(self.analyzer, leaf.text)
        if self.snapshot is None:
            return []
        found = Expansion([], 0)
        if letters and isinstance(leaf, Prefix):
            found = terms_beginning(self.snapshot, letters)
        elif letters and isinstance(leaf, Fuzzy):
            found = near_terms(self.snapshot, letters, leaf.edits)
        stem, instead = self._stem_beside(leaf, letters, found)
        if not found.terms and stem:
            self._notes[
                f"No term of the index matches {_short(leaf)}; {instead} matches {stem}, the stem of {leaf.text}."
            ] = None
        elif not found.terms:
            self._notes[f"No term of the index matches {_short(leaf)}."] = None
        elif stem:
            self._notes[f"{_short(leaf)} does not match {stem}, the stem of {leaf.text}; {instead} does."] = None
        if not found.terms:
            return []
        if found.matching > len(found.terms):
            which = "most frequent" if isinstance(leaf, Prefix) else "nearest"
            self._notes[
                f"{_short(leaf)} matches {found.matching:,} terms; it stands for the {len(found.terms):,} {which}."
            ] = None
        return [synonyms(found.terms)]

    def _stem_beside(self, leaf: Prefix | Fuzzy, letters: str, found: Expansion) -> tuple[str, Node | None]:
        """Return a stem that a user may expect a prefix or a fuzzy word to match, and the part that matches it.

        A prefix is not stemmed, so `running*` does not match the stem `run`, but `run*` does. `letters` are the
        normalised letters of `leaf`, and `found` has the terms that match it. Return "" and None if there is no such
        stem.
        """
        terms = analyze(self.analyzer, leaf.text)
        is_cut = found.matching > len(found.terms)
        if len(terms) != 1 or is_cut or terms[0] in found.terms or not cast("Snapshot", self.snapshot).term(terms[0]):
            return "", None
        if isinstance(leaf, Fuzzy):
            return terms[0], Fuzzy(terms[0], leaf.edits)
        shared = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(terms[0], letters, strict=False))]
        return (terms[0], Prefix("".join(shared))) if shared else ("", None)

    # The condition.

    def _of_root(self, root: Node) -> Any:
        """Return the condition of a query, or None if it allows all documents.

        Words, phrases and operators side by side, or with OR between them, make no condition. A ranker finds only
        documents with one of them; a representation may find other documents too.
        """
        match root:
            case Boost(part=part):
                return self._of_root(part)
            case Clauses(clauses=clauses):
                words = [part for sign, part in clauses if not sign and not _compares(part)]
                return self._of_clauses(clauses, free=all(map(_is_plain, words)))
            case _:
                return None if _is_plain(root) else self._of(root)

    def _of(self, node: Node) -> Any:
        """Return the condition or the term that a document has to meet, so that a part of the query holds for it.

        Return None for a part that demands nothing, such as a stop word.
        """
        match node:
            case Compared(comparison=comparison):
                return comparison
            case Boost(part=part):
                return self._of(part)
            case Not(part=part):
                inner = self._of(part)
                return None if inner is None else Condition("not", (inner,))
            case And(parts=parts):
                return _joined("all", map(self._of, parts))
            case Or(parts=parts):
                return _joined("any", (found for part in parts for found in self._choices(part)))
            case Clauses(clauses=clauses):
                return self._of_clauses(clauses)
        terms = self.terms(node)
        return NOTHING if not terms and isinstance(_leaf(node), (Prefix, Fuzzy)) else _joined("all", terms)

    def _of_clauses(self, clauses: Iterable[tuple[str, Node]], free: bool = False) -> Any:
        """Return the condition of clauses side by side.

        If no clause is required, at least one of the clauses without a sign has to hold. With `free`, no clause without a sign
        has to hold. A clause about a column is required even without a sign.
        """
        required, excluded, others = list[Any](), list[Any](), list[Any]()
        compared = [part for sign, part in clauses if not sign and _compares(part)]
        for sign, part in clauses:
            if not sign and _compares(part):
                continue
            if not sign:
                others += self._choices(part)
                continue
            found = self._of(part)
            if found is None:
                does = "requires" if sign == "+" else "excludes"
                self._notes[f"{sign}{_short(part)} {does} nothing: the analyzer leaves no word of it."] = None
            elif sign == "+":
                required.append(found)
            else:
                excluded.append(Condition("not", (found,)))
        if not required and not free:
            required = [_joined("any", others)]
        return _joined("all", [*required, *map(self._of, compared), *excluded])

    def _choices(self, part: Node) -> list[Any]:
        """Return conditions, at least one of which has to hold. A word of several terms gives a condition for each term."""
        return self.terms(part) if isinstance(_leaf(part), WrittenWord) else [self._of(part)]


def _leaf(node: Node) -> Node:
    """Return the part within a field. Any other part is returned unchanged."""
    return node.part if isinstance(node, Field) else node


def _joined(kind: str, parts: Iterable[Any]) -> Any:
    """Return the condition that joins parts. Parts that are None are left out; a single part is returned alone."""
    kept = tuple(part for part in parts if part is not None)
    return None if not kept else kept[0] if len(kept) == 1 else Condition(kind, kept)


def _is_plain(node: Node) -> bool:
    """Return whether a part is a word, a phrase or an operator, or consists of several with only OR or blanks between them."""
    signed = isinstance(node, Clauses) and any(sign for sign, _ in node.clauses)
    return not (signed or isinstance(node, (And, Not, Compared))) and all(map(_is_plain, parts_of(node)))


def _compares(node: Node) -> bool:
    """Return whether a part asks only for values of columns."""
    parts = parts_of(node)
    return all(map(_compares, parts)) if parts else isinstance(node, Compared)


def _scored(node: Node, weight: float) -> Iterator[tuple[Node, float]]:
    """Yield the words, phrases and operators that add to scores, each with its weight. Excluded parts are left out."""
    match node:
        case Boost(part=part, weight=factor):
            yield from _scored(part, weight * factor)
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _scored(part, weight)
        case Clauses(clauses=clauses):
            for sign, part in clauses:
                if sign != "-":
                    yield from _scored(part, weight)
        case Not() | Compared():
            return
        case _:
            yield node, weight


def _words(leaf: Node) -> Iterator[str]:
    """Yield the words of a part as plain text."""
    match leaf:
        case WrittenWord(text=text) | Prefix(text=text) | Fuzzy(text=text) | QuotedPhrase(text=text) | Stem(term=text):
            yield text
        case OperatorTerm(parts=parts):
            for part in parts:
                yield from _words(part)
        case Field(part=part):
            yield from _words(part)


def _extent(parts: list[Any]) -> int:
    """Return the number of positions from the first term of a phrase to the last."""
    places = [place for place, part in enumerate(parts) if part is not GAP]
    return places[-1] - places[0] + 1 if places else 0


def _short(leaf: Node) -> str:
    text = str(leaf)
    return text if len(text) <= 40 else f"{text[:40]}…"
