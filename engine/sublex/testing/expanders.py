"""The checks of expanders: weights are finite, terms exist, and results are repeatable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sublex.contracts.base import LARGEST_SCORE, Evidence, Query, QueryTerm
from sublex.contracts.operators import Operator, ordered
from sublex.errors import SublexError
from sublex.retrieval.hits import Hits
from sublex.testing.subject import BM25, QUERIES, Subject, called
from sublex.tools.messages import cut

# The number of documents that an expander gets in excess of its request.
MORE = 50


def _docs(subject: Subject) -> int:
    """Return the number of documents that the expander asks for. Raise AssertionError if this is not a valid number."""
    docs = getattr(subject.made, "docs", None)
    assert isinstance(docs, int) and docs >= 0, (
        f"docs is {docs!r}; write the number of documents that expand looks at, 0 for none"
    )
    return docs


def _queries(subject: Subject) -> dict[str, Query]:
    """Return queries by names for messages.

    They are texts, and queries with odd weights, a phrase, an unknown word or no words.
    """
    index = subject.index
    terms = [term for text in QUERIES for term in index.analyze(text)][:2]
    odd = tuple(map(QueryTerm, terms, (-1.0, 0.25)))
    return {f"for {text!r}": index.query(text) for text in QUERIES} | {
        "for negative and fractional weights": Query(" ".join(terms), odd),
        "for a phrase": Query(" ".join(terms), (QueryTerm(ordered(terms)), QueryTerm(terms[0], 0.5))),
        "for an unknown word": index.query("zyzzyva"),
        "for a query without words": Query("", ()),
    }


def _expanded(expander: Any, subject: Subject, query: Query, hits: Hits, about: str) -> Query:
    """Return the query that `expand` makes. Raise AssertionError if the query breaks the contract."""
    docs = hits.docs.copy()
    found = called("expand", expander.expand, query, subject.context(hits, query), about=about)
    assert isinstance(found, Query), (
        f"expand returned {type(found).__name__} {about}; return a sublex.contracts.base.Query"
    )
    assert (docs == hits.docs).all(), f"expand changed context.docs {about}; work on a copy"
    assert found.text == query.text, (
        f"expand changed the text of the query {about} to {cut(repr(found.text))}; keep query.text"
    )
    for term in found.terms:
        assert isinstance(term, QueryTerm) and isinstance(term.term, str) and isinstance(term.origin, str), (
            f"expand returned the term {cut(repr(term))} {about}; return terms as QueryTerm(term, weight, origin)"
        )
        assert isinstance(term.weight, (int, float)) or hasattr(term.weight, "__float__"), (
            f"expand gave {term.term!r} the weight {cut(repr(term.weight))} {about}; give a number"
        )
        assert math.isfinite(term.weight) and abs(term.weight) <= LARGEST_SCORE, (
            f"expand gave {term.term!r} the weight {term.weight} {about}; give a finite number"
        )
    assert all(isinstance(evidence, Evidence) for evidence in found.evidence), (
        f"expand gave evidence that is no sublex.contracts.base.Evidence {about}; make it of Evidence(label, value)"
    )
    return found


def _feedback(subject: Subject, query: Query, k: int) -> Hits:
    """Return the documents that BM25 finds for a query, at most k."""
    return subject.index.search(query, BM25, k=k) if k else Hits.none(subject.index.snapshot)


def expand_gives_finite_weights(subject: Subject) -> None:
    """`expand` returns a query with finite weights, whatever the query and the documents found, none among them."""
    docs = _docs(subject)
    for about, query in _queries(subject).items():
        _expanded(subject.made, subject, query, _feedback(subject, query, docs), about)
        _expanded(subject.made, subject, query, Hits.none(subject.index.snapshot), f"{about} and no documents found")


def added_terms_exist(subject: Subject) -> None:
    """The terms that `expand` adds are terms of the collection, and their origin names the expander."""
    for about, query in _queries(subject).items():
        hits = _feedback(subject, query, _docs(subject))
        known = {term.term for term in query.terms}
        added = [term for term in _expanded(subject.made, subject, query, hits, about).terms if term.term not in known]
        context = subject.context(hits)
        for term in added:
            words = [*term.term.terms()] if isinstance(term.term, Operator) else [term.term]
            for word, number in zip(words, context.numbers(words), strict=True):
                assert number >= 0, (
                    f"expand added {word!r} {about}, which no document holds; add terms as the index has them, by context.names"
                )
            assert term.origin not in ("", "query"), (
                f"expand gave the added term {term.term!r} the origin {term.origin!r} {about}; give it the name of the expander"
            )


def expand_is_repeatable(subject: Subject) -> None:
    """`expand` gives the same query when it is asked again, and so does a new object of the factory."""
    other = Subject(subject.expression, subject.folder / "again", subject.kind)
    docs = _docs(subject)
    for about, query in _queries(subject).items():
        hits = _feedback(subject, query, docs)
        first = _expanded(subject.made, subject, query, hits, about)
        again = _expanded(subject.made, subject, query, hits, about)
        assert first == again, (
            f"expand gives another query when it is asked again {about}; draw nothing at random without a seed"
        )
        others = _expanded(other.made, other, query, _feedback(other, query, docs), about)
        assert first == others, (
            f"expand of a new object gives another query {about}; keep nothing from one call to the next, and draw nothing at random"
        )


def expand_looks_at_the_documents_that_it_asks_for(subject: Subject) -> None:
    """`expand` gives the same query when more documents were found than `docs` says."""
    docs = _docs(subject)
    for about, query in _queries(subject).items():
        few, many = (
            _expanded(subject.made, subject, query, _feedback(subject, query, k), about) for k in (docs, docs + MORE)
        )
        assert few == many, (
            f"expand gives another query {about} when {MORE} more documents are found than docs = {docs}; "
            f"look at context.docs[:{docs}] alone, or raise docs"
        )


def search_takes_the_query(subject: Subject) -> None:
    """BM25 searches with the new query, before any hits and after some."""
    for text in QUERIES:
        for expression in (f"{subject.component} >> {BM25}", f"{BM25} >> {subject.component} >> {BM25}"):
            try:
                subject.index.search(text, expression)
            except SublexError as error:
                raise AssertionError(f"search for {text!r} by {expression}: {error}") from error


CHECKS: tuple[Callable[[Subject], None], ...] = (
    expand_gives_finite_weights,
    added_terms_exist,
    expand_is_repeatable,
    expand_looks_at_the_documents_that_it_asks_for,
    search_takes_the_query,
)
