"""The checks of filters: yes or no for each document, always the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sublex.errors import SublexError
from sublex.retrieval.hits import Hits
from sublex.testing.subject import BM25, QUERIES, Subject, called


def _hits(subject: Subject) -> dict[str, Hits]:
    """Return hits for a filter to look at, by what they are: those of queries, all documents, and none."""
    found = {f"for the hits of {text!r}": subject.hits(text) for text in QUERIES}
    docs = subject.index.snapshot.corpus.docs.astype(np.int32)
    found["for all documents"] = Hits(subject.index.snapshot, docs, np.zeros(len(docs), np.float32))
    return found | {"for no documents": Hits.none(subject.index.snapshot)}


def _kept(filter: Any, subject: Subject, hits: Hits, about: str) -> np.ndarray:
    """Return what `keep` says. Raise AssertionError if it is not true or false for each document."""
    docs = hits.docs.copy()
    mask = np.asarray(called("keep", filter.keep, hits.docs, subject.context(hits), about=about))
    assert mask.dtype == bool and mask.shape == hits.docs.shape, (
        f"keep returned {mask.dtype} of shape {mask.shape} {about}, which are {len(hits)}; return a bool array with one item for each"
    )
    assert np.array_equal(docs, hits.docs), f"keep changed the array docs {about}; work on a copy"
    return mask


def keep_answers_for_each_document(subject: Subject) -> None:
    """`keep` returns true or false for each document, for all documents and for none."""
    for about, hits in _hits(subject).items():
        _kept(subject.made, subject, hits, about)


def keep_is_repeatable(subject: Subject) -> None:
    """`keep` says the same when it is asked again, and so does a new object of the factory."""
    other, fresh = Subject(subject.expression, subject.folder / "again", subject.kind), subject.made
    for about, hits in _hits(subject).items():
        first = _kept(fresh, subject, hits, about)
        again, others = (
            _kept(fresh, subject, hits, about),
            _kept(other.made, other, _hits(other)[about], about),
        )
        assert np.array_equal(first, again), (
            f"keep says something else when it is asked again {about}; draw nothing at random"
        )
        assert np.array_equal(first, others), (
            f"keep of a new object says something else {about}; keep nothing from one call to the next, and draw nothing at random"
        )


def search_drops_what_keep_drops(subject: Subject) -> None:
    """Search leaves the hits that `keep` keeps, in their order and with their scores."""
    for text in QUERIES:
        hits = subject.hits(text)
        mask = _kept(subject.made, subject, hits, f"for the hits of {text!r}")
        try:
            found = subject.index.search(text, f"{BM25} >> {subject.component}", k=1000)
        except SublexError as error:
            raise AssertionError(f"search for {text!r}: {error}") from error
        kept = [(hit.docno, hit.score) for hit in Hits(hits.snapshot, hits.docs[mask], hits.scores[mask])]
        assert [(hit.docno, hit.score) for hit in found] == kept, (
            f"search for {text!r} finds other documents than keep keeps"
        )


CHECKS: tuple[Callable[[Subject], None], ...] = (
    keep_answers_for_each_document,
    keep_is_repeatable,
    search_drops_what_keep_drops,
)
