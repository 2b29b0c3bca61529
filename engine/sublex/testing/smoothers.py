"""The checks of smoothers: scores are finite and of each document alone, explanations add up, and searches use `smooth`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sublex.contracts.fitted import Smoother
from sublex.errors import SublexError
from sublex.testing.subject import BM25, QUERIES, Subject, assert_adds_up, called, nodes

# The number of documents of random scores.
DOCUMENTS = 40


def _random_scores(subject: Subject) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return arguments of `smooth` for random documents. Some have few near documents, and some have none."""
    random = np.random.default_rng(7)
    shape = DOCUMENTS, subject.made.k
    cosines = -np.sort(-random.random(shape), axis=1)
    cosines[np.arange(shape[1]) >= random.integers(0, shape[1] + 1, DOCUMENTS)[:, None]] = 0
    return random.normal(0, 10, DOCUMENTS), random.normal(0, 10, shape), cosines


def _smoothed(subject: Subject, given: tuple[np.ndarray, ...], about: str) -> np.ndarray:
    """Return the result of `smooth`. Raise AssertionError unless it is one finite score for each document."""
    scores = np.asarray(called("smooth", subject.made.smooth, *given, about=about))
    assert scores.shape == given[0].shape and np.isfinite(scores).all(), (
        f"smooth returned {scores.dtype} of shape {scores.shape} {about}; return one finite number for each of the "
        f"{len(given[0])} documents"
    )
    return scores


def smooth_scores_each_document(subject: Subject) -> None:
    """`smooth` gives each document a finite score, and changes none of the arrays that it gets; no documents do no harm."""
    given = _random_scores(subject)
    copies = tuple(array.copy() for array in given)
    _smoothed(subject, given, "for random scores")
    assert all(map(np.array_equal, given, copies)), "smooth changed an array that it got; work on copies"
    _smoothed(subject, tuple(array[:0] for array in given), "for no documents")


def smooth_looks_at_the_document_alone(subject: Subject) -> None:
    """`smooth` gives a document the same score alone, and among others in any order."""
    given = _random_scores(subject)
    whole = _smoothed(subject, given, "for random scores")
    order = np.arange(DOCUMENTS)
    for how, places in (("in another order", order[::-1]), *(("alone", order[n : n + 1]) for n in order[::7])):
        some = _smoothed(subject, tuple(array[places] for array in given), f"for documents {how}")
        assert np.allclose(some, whole[places], rtol=1e-9, atol=1e-12), (
            f"smooth gives a document another score {how} than among all; look at the rows of the document alone"
        )


def search_gives_explained_scores(subject: Subject) -> None:
    """Search scores the hits, and where there are explanations, they have the value of the score and add up."""
    for text in QUERIES:
        ranking = f"{BM25} >> {subject.component}"
        try:
            found = subject.index.search(text, ranking, k=20)
            trees = [subject.index.explain(text, hit.docno, ranking) for hit in found]
        except SublexError as error:
            raise AssertionError(f"search for {text!r}: {error}") from error
        assert len(found), f"search for {text!r} finds nothing where {BM25} finds documents"
        if type(subject.made).explain is not Smoother.explain:
            for tree in trees:
                for node in nodes(tree):
                    assert_adds_up(node)


CHECKS: tuple[Callable[[Subject], None], ...] = (
    smooth_scores_each_document,
    smooth_looks_at_the_document_alone,
    search_gives_explained_scores,
)
