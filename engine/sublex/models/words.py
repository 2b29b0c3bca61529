"""From numbers of words to words: what plugins that score by pairs of words say of a score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.base import Explanation
from sublex.models.linear import Shares

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# So many words of the document are named for each word of the query.
NAMED = 8


def frequent(blocks: Iterable[Any], least: int, most: float = 1.0) -> np.ndarray:
    """The columns of terms that are in so many documents or more, and in no more than a share of all."""
    df: np.ndarray | None = None
    docs = 0
    for block in blocks:
        counts = np.bincount(block.indices, minlength=block.shape[1])
        df = counts if df is None else df + counts
        docs += block.shape[0]
    return np.flatnonzero((df >= least) & (df <= most * docs)) if df is not None else np.empty(0, np.int64)


def columns(blocks: Iterable[Any], kept: np.ndarray) -> Iterator[csr_array]:
    """Blocks with these columns alone."""
    from scipy.sparse import csr_array

    for block in blocks:
        yield csr_array(block[:, kept])


def pairs(shares: Shares, vocabulary: Sequence[str], surface: Callable[[str], str]) -> tuple[Explanation, ...]:
    """What each word of the query adds, and through which words of the document; the parts add up."""
    made = []
    for place, word in enumerate(shares.query.tolist()):
        own = shares.values[place]
        order = np.argsort(-np.abs(own), kind="stable")
        best, rest = order[:NAMED], order[NAMED:]
        parts = [Explanation(float(own[k]), surface(vocabulary[int(shares.document[k])])) for k in best]
        if len(rest):
            parts.append(Explanation(float(own[rest].sum()), f"{len(rest):,} other words"))
        made.append(Explanation(float(own.sum()), surface(vocabulary[word]), "sum", tuple(parts)))
    return tuple(made)
