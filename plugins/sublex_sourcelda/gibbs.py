"""A Gibbs chain of Source-LDA. It holds the topic of each token, the counts that follow from these topics, and the
topics that are not hidden.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sublex.estimators.blocks import random, spans
from sublex.estimators.topics.counts import Tokens
from sublex_sourcelda.priors import CONCEPT, FIXED, HIDDEN, SOURCE, UNLABELLED, Priors

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class SourceChain:
    """The state of a chain: the topic of each token (`z`), and the counts that follow from the topics.

    At first each token has a random topic. All topics are equally likely; with `informed`, a topic is drawn by the
    probability of the token's word under the priors. Later sweeps may hide topics. `alphas` is the sum of the Dirichlet
    parameters of the topics that are not hidden; these topics have equal parameters. A topic that loses its last token
    is hidden if more than `least` topics remain. `ids` has for each remaining topic its number among `priors`.
    """

    def __init__(
        self, tokens: Tokens, words: int, priors: Priors, beta: float, alphas: float = 50.0, least: int = 1 << 31,
        seed: int = 0, informed: bool = False,
    ):  # fmt: skip
        # The chain may hide topics, so it changes a copy of the kinds.
        priors = priors._replace(kinds=priors.kinds.copy())
        self.tokens, self.priors, self.beta, self.alphas, self.least = tokens, priors, float(beta), float(alphas), least
        self.ids = np.arange(len(priors.kinds))
        self._generator = random(seed)
        self._set(np.zeros(0, np.int32), np.zeros(0, np.int32), words)
        self._set(self._informed() if informed else self._any(), tokens.words, words)

    def _any(self) -> np.ndarray:
        """Return a random topic for each token. All topics are equally likely."""
        return self._generator.integers(0, len(self.ids), len(self.tokens.words), np.int32)

    def _informed(self) -> np.ndarray:
        """Return a random topic for each token. The probability of a topic is proportional to the prior probability of
        the token's word in the topic.

        The chain must have no tokens in its counts yet.
        """
        edges, uniforms = np.cumsum(self.phi(), axis=1), self._generator.random(len(self.tokens.words))
        z = np.empty(len(uniforms), np.int32)
        order = np.argsort(self.tokens.words, kind="stable")
        for own in np.split(order, np.flatnonzero(np.diff(self.tokens.words[order])) + 1):
            if len(own):
                row = edges[self.tokens.words[own[0]]]
                z[own] = np.searchsorted(row[:-1], uniforms[own] * row[-1], side="right")
        return z

    def _set(self, z: np.ndarray, words: np.ndarray, size: int) -> None:
        """Set the topic of each token to `z`, and compute the counts from `z` and `words`, the word of each token.

        `size` is the number of words of the vocabulary.
        """
        self.z, self.n_w = z, np.zeros((size, len(self.ids)), np.int32)
        np.add.at(self.n_w, (words, z), 1)
        self.totals = self.n_w.sum(axis=0, dtype=np.float64)

    @property
    def alpha(self) -> float:
        """The Dirichlet parameter of each visible topic in a document."""
        return self.alphas / int((self.priors.kinds != HIDDEN).sum())

    def sweep(self, progress: Callable[[], None] = lambda: None) -> None:
        """Go through the collection once, and draw a topic anew for each token, given the topics of all others.

        `progress` is called several times. To end the work early, it raises an exception.
        """
        from sublex_sourcelda.gibbs_kernels import sweep

        p = self.priors
        uniforms = self._generator.random(len(self.z))
        # The draws do not depend on how the documents are divided into blocks.
        for span in spans(len(self.tokens.starts) - 1):
            progress()
            sweep(
                span.start, span.stop, *self.tokens, self.z, uniforms, self.n_w, self.totals, p.kinds, p.starts, p.topics,
                p.classes, p.powers, p.sums, p.floors, p.weights, self.beta, self.alphas, self.least,
            )  # fmt: skip
        gone = (p.kinds == HIDDEN) & (self.totals == 0)
        if gone.any():
            self._keep(np.flatnonzero(~gone))

    def hide(self, number: int) -> None:
        """Hide the `number` topics with the fewest tokens; of equal topics the first. The next sweep moves their
        tokens.
        """
        visible = np.flatnonzero(self.priors.kinds != HIDDEN)
        order = np.argsort(self.totals[visible], kind="stable")
        self.priors.kinds[visible[order[:number]]] = HIDDEN

    def document_topics(self) -> csr_array:
        """Return n_dk, the number of tokens of each document in each topic, as sparse rows."""
        return self.tokens.document_topics(self.z, len(self.ids))

    def theta(self) -> np.ndarray:
        """Return the probability of each topic in each document (equation 1). Rows add up to 1."""
        theta = self.document_topics().toarray() + np.where(self.priors.kinds == HIDDEN, 0.0, self.alpha)
        return theta / theta.sum(axis=1, keepdims=True)

    def phi(self) -> np.ndarray:
        """Return the probability of each word in each topic, as an array of words by topics (equation 4).

        Columns add up to 1, except for labelled topics in EDA and CTM. In these two models, a word that the topic's
        source lacks gets a small additional probability.
        """
        p, n = self.priors, self.totals[:, None]
        plain = 1 / (self.totals + len(self.n_w) * self.beta)
        r = p.weights / (n + p.sums)
        outside = np.select([p.kinds == UNLABELLED, p.kinds == SOURCE], [plain, r.sum(axis=1)], 0.0)
        base = np.where(np.isin(p.kinds, (UNLABELLED, FIXED)), self.beta * plain, (r * p.floors).sum(axis=1))
        base[p.kinds == HIDDEN] = 0
        phi = self.n_w * outside + base
        word = np.repeat(np.arange(len(self.n_w)), np.diff(p.starts))
        own = p.kinds[p.topics]
        r[p.kinds == FIXED, 0] = 1.0
        inside = np.where(np.isin(own, (SOURCE, CONCEPT)), r.sum(axis=1)[p.topics], 0.0)
        visible = own != HIDDEN
        values = self.n_w[word, p.topics] * inside + (r[p.topics] * p.powers[p.classes]).sum(axis=1)
        phi[word[visible], p.topics[visible]] = values[visible]
        return phi

    def log_likelihood(self) -> float:
        """Return the logarithm of the probability of all tokens under the smoothed estimates of theta and phi.

        It is the sum over tokens of log Σ_k theta_dk phi_wk, for the token's document d and word w.
        """
        theta, phi, total = self.theta(), self.phi(), 0.0
        starts = self.tokens.starts.tolist()
        for document, (begin, end) in enumerate(zip(starts, starts[1:], strict=False)):
            total += float(np.log(phi[self.tokens.words[begin:end]] @ theta[document]).sum())
        return total

    def _keep(self, kept: np.ndarray) -> None:
        """Keep only the topics whose numbers are in `kept`. All other topics must have no tokens."""
        number = np.full(len(self.ids), -1, np.int32)
        number[kept] = np.arange(len(kept))
        self.priors, self.ids, self.z = self.priors.keep(kept), self.ids[kept], number[self.z]
        self.n_w, self.totals = np.ascontiguousarray(self.n_w[:, kept]), self.totals[kept]
