"""Word vectors from a file on an index: it stores the norm of each document's vector, and scores documents by their
terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sublex.contracts.fitted import Corpus, Job, View
from sublex.estimators.bags import Bag
from sublex.estimators.blocks import totals
from sublex.estimators.word_sums import NORM, BagSums
from sublex_vectors.reader import read_vectors, width


class VectorsRepresentation(BagSums):
    """Cosines of weighted sums of word vectors. The vocabulary has the words of the index that have a vector in the
    file.
    """

    version = 1
    row_values = NORM
    vectors_name = "sums of word vectors"

    def __init__(self, *, file: str, idf: bool, find: str):
        self.file, self.idf, self.estimator, self.find = file, idf, Bag(), find

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Read the vectors of the corpus's words from the file, and weight the words."""
        terms = corpus.vocabulary
        vectors = read_vectors(job.resource(self.file), terms, corpus.analyze, partial(job.progress, unit="words"))
        known = np.flatnonzero(~np.isnan(vectors[:, 0]))
        self.vocabulary = [terms[k] for k in known.tolist()]
        self.estimator.vectors, self.estimator.weights = vectors[known], np.ones(len(known))
        if self.idf:
            docs, _, df = totals(corpus.blocks)
            self.estimator.weights = np.log(docs / df[known])

    def vectors_of_texts(
        self, texts: Sequence[Sequence[str]], analyze: Callable[[str], list[str]], job: Job
    ) -> np.ndarray:
        """Return the vectors of texts of several terms, for which the file has an entry such as `machine_learning`.

        Each of `texts` is a sequence of terms. A row is NaN if the file has no entry for the text.
        """
        keys = [" ".join(terms) for terms in texts]
        # Several texts may have the same terms.
        distinct = list(dict.fromkeys(keys))
        path = job.resource(self.file)
        vectors = read_vectors(
            path,
            distinct,
            lambda text: [" ".join(analyze(text.replace("_", " ")))],
            partial(job.progress, unit="words"),
        )
        places = {key: place for place, key in enumerate(distinct)}
        return vectors[[places[key] for key in keys]]

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the number of dimensions."""
        return {"dimensions": self.estimator.vectors.shape[1]}

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes: twice those of the vectors of all words."""
        return 8 * 2 * len(corpus.vocabulary) * width(job.resource(self.file))
