"""Fisher vectors on an index: it stores the norm of each document's vector, and scores documents by their terms.

With a power other than 1, a document's vector is not a sum over words. The vectors themselves are then stored, scaled
to norm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.fitted import Corpus, Job, Rows, Store, Stored, View, Weights
from sublex.contracts.stored import POSITIVE, Declared, Numbers, Places
from sublex.errors import InputError
from sublex.estimators.word_sums import NORM, VOCABULARY, WordSums, WordValues, check_model, count_blocks
from sublex_fisher.gmm import VARIANCE_FLOOR, Mixture
from sublex_fisher.model import Fisher, Gammas

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sublex import Expression

# The number of words that name a Gaussian.
LISTED_WORDS = 8


class FisherRepresentation(WordSums):
    """Cosines of Fisher vectors. The word vectors come from another model, which is fitted first."""

    version = 2
    vectors_name = "Fisher vectors"
    estimator: Fisher

    def __init__(self, *, words: Expression, power: float, find: str, **params: Any):
        self.words, self.find = words, find
        self.estimator = Fisher(None, power=power, l2=power != 1, **params)

    def depends(self) -> Sequence[Expression]:
        """Return the expression of the model that supplies the word vectors."""
        return (self.words,)

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Fit the Gaussians to the word vectors of the model in the parameter `words`.

        The vocabulary is that of this model. Each word vector counts as often as its word occurs in the corpus.
        """
        model = job.model(self.words)
        vectors = model.word_vectors()
        if vectors is None:
            raise InputError(f"{self.words} has no word vectors; name a model that has, as in fisher(words=lsi(e=50)).")
        self.vocabulary = list(model.vocabulary)
        self.estimator.words = vectors
        self.estimator.fit(
            count_blocks(corpus, self.vocabulary), workers=job.workers, progress=partial(job.progress, unit="starts")
        )

    def save(self, store: Store) -> None:
        """Store the vocabulary, the word vectors and counts, the mixture and the posteriors."""
        fitted = self.estimator
        store.put("vocabulary", self.vocabulary)
        for name in ("x", "weights", "counts", "likelihoods"):
            store.put(name, np.asarray(getattr(fitted, name)))
        for name, values in zip(fitted.mixture._fields, fitted.mixture, strict=True):
            store.put(f"mixture_{name}", np.asarray(values))
        for name, values in zip(fitted.gammas._fields, fitted.gammas, strict=True):
            store.put(f"gammas_{name}", values)

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name. The mixture has k Gaussians of e dimensions."""
        return {
            **VOCABULARY,
            "x": Numbers(("words", "e")),
            "weights": Numbers(("words",)),
            "counts": Numbers(("words",), least=0),
            "likelihoods": Numbers((None,)),
            "mixture_shares": Numbers(("k",), least=POSITIVE, most=1),
            "mixture_means": Numbers(("k", "e")),
            "mixture_variances": Numbers(("k", "e"), least=VARIANCE_FLOOR),
            "mixture_centre": Numbers(("e",)),
            "mixture_scale": Numbers(("e",), least=POSITIVE),
            "gammas_values": Numbers(("gammas",), least=0),
            "gammas_begins": Places("words", "gammas"),
            "gammas_of": Numbers(("gammas",), "i8", 0, below="k"),
        }

    def load(self, store: Stored) -> None:
        """Restore the model."""
        fitted = self.estimator
        self.vocabulary = store.get("vocabulary")
        for name in ("x", "weights", "counts", "likelihoods"):
            setattr(fitted, name, store.get(name))
        fitted.mixture = Mixture(*(store.get(f"mixture_{name}") for name in Mixture._fields))
        fitted.gammas = Gammas(*(store.get(f"gammas_{name}") for name in Gammas._fields))
        check_model(fitted.width > 0)
        self.row_values = NORM if self._sums else Numbers((fitted.width + 1,), "f4")

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the likelihoods of the starts, and each Gaussian's share and most frequent words."""
        theta = self.estimator.mixture.shares
        topics = {
            f"Gaussian {place} ({theta[k]:.0%})": words
            for place, (k, words) in enumerate(self._named(view.surface).items(), 1)
        }
        return {"log-likelihoods of the starts": [round(float(x), 4) for x in self.estimator.likelihoods], **topics}

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes: four arrays of word vectors, and four arrays of posteriors."""
        vectors = job.model(self.words).word_vectors()
        return 0 if vectors is None else 8 * 4 * vectors.size + 8 * 4 * len(vectors) * self.estimator.k

    def encode_documents(self, inputs: csr_array) -> Rows:
        """Return the norms of the documents' Fisher vectors (float32).

        With a power other than 1, return the Fisher vectors themselves, scaled to norm 1. A last column then has 1, or
        0 for documents whose Fisher vector is all zeros.
        """
        if self._sums:
            return super().encode_documents(inputs)
        vectors = self.estimator.transform(inputs)
        return np.hstack([vectors, vectors.any(axis=1, keepdims=True)]).astype(np.float32)

    def word_values(self, row: csr_array) -> tuple[Weights, float]:
        """Return the value of each word for a query, and the norm of the query's Fisher vector.

        The value of a word is the dot product of its Fisher vector and the query's, times the weight that the word has
        in documents. With a power other than 1, return the query's Fisher vector scaled to norm 1, and the number 1.
        `row` has the weights of the query's words.
        """
        query_vector = self.estimator.transform(row)[0]
        if not self._sums:
            return query_vector, 1.0
        weights = self.estimator.weights

        def compute(words: np.ndarray, values: np.ndarray) -> None:
            self.estimator.similarities(query_vector, words, values)
            values[words] *= weights[words]

        return WordValues(len(self.vocabulary), compute), float(np.linalg.norm(query_vector))

    def score(self, query: Any, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the cosines of the query with documents. A cosine is -inf if the query or the document has no Fisher
        vector.
        """
        if self._sums:
            return super().score(query, view, docs)
        known = np.asarray(view.rows(docs, slice(-1, None)))[:, 0] > 0
        return np.where(known & query[1].any(), view.products(np.append(query[1], 0.0), docs), -np.inf)

    def explain(self, query: Any, view: View, doc: int) -> Explanation:
        """Return the cosine of a query and a document as a sum over pairs of a query word and a document word.

        With a power other than 1, return it as a sum over the Gaussians.
        """
        if self._sums:
            return super().explain(query, view, doc)
        k = len(self.estimator.mixture.shares)
        products = (view.rows(np.array([doc]))[0, :-1] * query[1]).reshape(-1, k, self.estimator.x.shape[1])
        values = products.sum(axis=(0, 2))
        parts = tuple(Explanation(float(values[k]), words) for k, words in self._named(view.surface).items())
        return Explanation(
            float(values.sum()), "cosine of the Fisher vectors of query and document, by Gaussians", "sum", parts
        )

    @property
    def _sums(self) -> bool:
        """Whether a document's vector is a sum over its words."""
        return self.estimator.power == 1

    def _named(self, surface: Callable[[str], str]) -> dict[int, str]:
        """Return for each Gaussian its most frequent words as one string, which names it.

        The keys are the numbers of the Gaussians; the Gaussians with the largest shares come first. `surface` returns
        the written form of a term.
        """
        names, _ = self.estimator.topics(LISTED_WORDS)
        order = np.argsort(-self.estimator.mixture.shares, kind="stable").tolist()
        return {k: ", ".join(surface(self.vocabulary[word]) for word in names[k] if word >= 0) for k in order}
