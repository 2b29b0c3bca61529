"""Choose the number of topics by their coherence, and measure whether other seeds lead to the same topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators.topics.coherence import WORDS, npmi, top_words
from sublex.estimators.topics.counts import counts_of
from sublex.estimators.topics.matching import matched
from sublex_lda.model import LDA
from sublex_lda.perplexity import completion

# Every tenth document is held out to compute the perplexity.
HELD_OUT = 10


class Choice(NamedTuple):
    """A number of topics, and two measures of the model with this number.

    `coherence` is the mean NPMI of the topics. `perplexity` is the completion perplexity of held-out documents.
    """

    k: int
    coherence: float
    perplexity: float


def compare_k(
    matrix: Any, ks: Iterable[int], words: int = WORDS, progress: Callable[[int, int], None] = lambda done, total: None,
    **parameters: Any,
) -> list[Choice]:  # fmt: skip
    """Fit a model for each number of topics in `ks`. Return for each number the coherence of the topics and the
    perplexity of held-out documents.

    Every tenth document of `matrix` is held out; the models are fitted to the others. The coherence is computed from
    the first `words` words of each topic. `parameters` are parameters of `LDA`, such as `iterations`. The number with
    the most coherent topics is `max(compare_k(matrix, ks), key=lambda choice: choice.coherence).k`.
    """
    rows, ks = counts_of(matrix), list(ks)
    held_out = np.arange(rows.shape[0]) % HELD_OUT == HELD_OUT - 1
    if not held_out.any():
        raise InputError(f"Choosing k needs {HELD_OUT} documents or more, and not {rows.shape[0]}.")
    choices = []
    for done, k in enumerate(ks):
        progress(done, len(ks))
        model = LDA(**{**parameters, "k": k}).fit(rows[~held_out])
        coherence = npmi(rows, top_words(model.phi_, words)).mean()
        choices.append(Choice(k, float(coherence), completion(model.phi_, model.alpha_, rows[held_out])))
    return choices


def stability(phis: Sequence[np.ndarray]) -> np.ndarray:
    """Return the stability of each topic of the first model: its mean affinity to the topics that match it in the other
    models.

    `phis` are the word probabilities of the topics of several models, fitted with different seeds. Topics of two models
    are matched one to one.
    """
    if len(phis) < 2:
        raise InputError("Stability needs two models or more, fitted with different seeds.")
    return np.mean([matched(phis[0], other)[1] for other in phis[1:]], axis=0)
