"""The checks of encoders and rerankers.

Vectors must be of the declared kind and depend only on the text; the hash must stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sublex.contracts.base import LARGEST_SCORE
from sublex.contracts.encoders import ROLES, Encoded
from sublex.errors import InputError, SublexError
from sublex.language.encoding import encoded, identity_of
from sublex.testing.subject import QUERIES, Subject, called

# The allowed distance between the vector of a text alone and in a batch, because runtimes sum in another order.
NEAR = 1e-3


def _texts(subject: Subject) -> list[str]:
    return [*(document.contents for document in subject.documents[:6]), "", "crane", *QUERIES]


def _encoded(subject: Subject) -> Iterator[tuple[str, list[str], Encoded]]:
    """Yield the vectors of texts for each role that the encoder supports."""
    texts, taken = _texts(subject), 0
    for role in ROLES:
        try:
            found = encoded(subject.made, subject.expression, texts, role)
        except InputError:
            continue  # An encoder of queries takes no documents.
        except SublexError as error:
            raise AssertionError(f"encode for the role {role}: {error}") from error
        taken += 1
        yield role, texts, found
    assert taken, "encode takes neither queries nor documents"


def _only_pairs(subject: Subject) -> bool:
    return bool(subject.made.kind == "pairs")


def encode_returns_what_the_kind_promises(subject: Subject) -> None:
    """`encode` returns finite vectors of the kind for each text, for an empty text too, and for no texts."""
    if _only_pairs(subject):
        scored = called("score_pairs", subject.made.score_pairs, "crane", _texts(subject))
        _check_scores(scored.scores, len(_texts(subject)))
        return
    for role, _, _ in _encoded(subject):
        encoded(subject.made, subject.expression, [], role)


def vectors_depend_on_the_text_alone(subject: Subject) -> None:
    """`encode` gives a text the same vector alone and among others, but for the rounding of a runtime's sums."""
    if _only_pairs(subject):
        return
    for role, texts, together in _encoded(subject):
        for place, text in enumerate(texts):
            alone = encoded(subject.made, subject.expression, [text], role)
            mine, theirs = _weights(together, place), _weights(alone, 0)
            near = mine.keys() == theirs.keys() and all(np.allclose(mine[key], theirs[key], NEAR, NEAR) for key in mine)
            assert near, f"encode gives another vector for {text[:40]!r} alone than among others, for the role {role}"


def _weights(found: Encoded, place: int) -> dict[Any, Any]:
    """Return the vector of a text as a dictionary of numbers by term, by place or by row. Weights near 0 are left out."""
    if found.sizes is not None:
        end = int(found.sizes[: place + 1].sum())
        return {"rows": found.rows[end - int(found.sizes[place]) : end]}
    if isinstance(found.rows, np.ndarray):
        return {"row": found.rows[place]}
    row = found.rows[[place]].tocoo()
    return {found.terms[column]: value for column, value in zip(row.coords[1], row.data, strict=True) if value > NEAR}


def the_identity_stays(subject: Subject) -> None:
    """`identity` is a hash in hexadecimal digits, and that of a new object is the same."""
    try:
        first, again = (
            identity_of(subject.made, subject.expression),
            identity_of(subject.component.make(), subject.expression),
        )
    except SublexError as error:
        raise AssertionError(str(error)) from error
    assert first == again, "identity is another for a new object; make it of the files and parameters alone"


def scores_are_of_each_text_alone(subject: Subject) -> None:
    """`scores` returns a finite score for each text, the same alone and among others."""
    texts = _texts(subject)
    for query in QUERIES:
        together = _check_scores(called("scores", subject.made.scores, query, texts), len(texts))
        for place, text in enumerate(texts):
            alone = _check_scores(called("scores", subject.made.scores, query, [text]), 1)
            assert np.allclose(alone, together[place], NEAR, NEAR), (
                f"scores gives another score for {text[:40]!r} alone than among others"
            )


def _check_scores(given: Any, number: int) -> np.ndarray:
    scores = np.array([np.nan if score is None else score for score in given], np.float64)
    assert scores.shape == (number,), f"scores have the shape {scores.shape} for {number} texts; give one for each"
    assert not (np.abs(scores) > LARGEST_SCORE).any(), "a score is no finite number of float32"
    return np.nan_to_num(scores, nan=0.0)


CHECKS: tuple[Callable[[Subject], None], ...] = (
    encode_returns_what_the_kind_promises,
    vectors_depend_on_the_text_alone,
    the_identity_stays,
)
RERANKER_CHECKS: tuple[Callable[[Subject], None], ...] = (scores_are_of_each_text_alone,)
