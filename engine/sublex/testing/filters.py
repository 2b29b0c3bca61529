"""The checks of filters: answers are yes or no, repeatable, and about each document alone if the filter declares this."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sublex.errors import SublexError
from sublex.retrieval.hits import Hits
from sublex.testing.subject import BM25, QUERIES, Subject, called


def _per_document(subject: Subject) -> bool:
    """Return whether the filter says that it looks at each document alone."""
    given = getattr(subject.made, "per_document", False)
    assert isinstance(given, bool), f"per_document is {given!r}; write True or False, or leave it out"
    return given


def _hits(subject: Subject) -> dict[str, Hits]:
    """Return hits for the checks of a filter, by names for messages: hits of queries, all documents, and no documents."""
    found = {f"for the hits of {text!r}": subject.hits(text) for text in QUERIES}
    docs = subject.index.snapshot.corpus.docs.astype(np.int32)
    found["for all documents"] = Hits(subject.index.snapshot, docs, np.zeros(len(docs), np.float32))
    return found | {"for no documents": Hits.none(subject.index.snapshot)}


def _kept(subject: Subject, hits: Hits, about: str) -> np.ndarray:
    """Return the answers of `keep`. Raise AssertionError if the answer about any document is not true or false."""
    docs, context = hits.docs.copy(), subject.context(hits)
    if _per_document(subject):
        # The engine asks such a filter before it has searched, so its context has no hits.
        context = subject.context(Hits.none(hits.snapshot))
    mask = np.asarray(called("keep", subject.made.keep, hits.docs, context, about=about))
    assert mask.dtype == bool and mask.shape == hits.docs.shape, (
        f"keep returned {mask.dtype} of shape {mask.shape} {about}, which are {len(hits)}; return a bool array with one item for each"
    )
    assert np.array_equal(docs, hits.docs), f"keep changed the array docs {about}; work on a copy"
    return mask


def keep_answers_for_each_document(subject: Subject) -> None:
    """`keep` returns true or false for each document, for all documents and for none."""
    for about, hits in _hits(subject).items():
        _kept(subject, hits, about)


def keep_is_repeatable(subject: Subject) -> None:
    """`keep` says the same when it is asked again, and so does a new object of the factory."""
    other = Subject(subject.expression, subject.folder / "again", subject.kind)
    for about, hits in _hits(subject).items():
        first, again = _kept(subject, hits, about), _kept(subject, hits, about)
        assert np.array_equal(first, again), (
            f"keep says something else when it is asked again {about}; draw nothing at random"
        )
        assert np.array_equal(first, _kept(other, _hits(other)[about], about)), (
            f"keep of a new object says something else {about}; keep nothing from one call to the next, and draw nothing at random"
        )


def keep_looks_at_the_document_alone(subject: Subject) -> None:
    """`keep` says the same of a document alone, among others and in any order, if `per_document` says so."""
    if not _per_document(subject):
        return
    whole = _hits(subject)["for all documents"]
    answers = _kept(subject, whole, "for all documents")
    order = np.arange(len(whole))
    parts = [("in another order", order[::-1]), ("among some", order[::7])]
    parts += [("alone", order[place : place + 1]) for place in order[::29]]
    for how, places in parts:
        docs = Hits(whole.snapshot, whole.docs[places], whole.scores[places])
        differ = np.flatnonzero(_kept(subject, docs, f"for documents {how}") != answers[places])
        assert not len(differ), (
            f"keep says something else of {whole[int(places[differ[0]])].docno} {how} than among all documents; look at each document "
            "alone, or leave out per_document"
        )


def search_drops_what_keep_drops(subject: Subject) -> None:
    """Search leaves the hits that `keep` keeps, in their order and with their scores."""
    for text in QUERIES:
        hits = subject.hits(text)
        mask = _kept(subject, hits, f"for the hits of {text!r}")
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
    keep_looks_at_the_document_alone,
    search_drops_what_keep_drops,
)
