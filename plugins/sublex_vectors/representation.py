"""Given word vectors on an index: one stored number a document, its norm; scores come from the words through the forward index."""

from __future__ import annotations

import numpy as np

from sublex.estimators.bags import Bag
from sublex.estimators.blocks import totals
from sublex.word_sums import BagSums
from sublex_vectors.reader import read_vectors, width


class VectorsRepresentation(BagSums):
    """Cosines of sums of words' vectors."""

    version = 1
    compared = "sums of word vectors"

    def __init__(self, file: str = "", idf: bool = True):
        self.file, self.idf, self.estimator = file, idf, Bag()

    def fit(self, corpus, job):
        terms = corpus.vocabulary
        vectors = read_vectors(job.resource(self.file), terms, corpus.analyze, job.progress)
        known = np.flatnonzero(~np.isnan(vectors[:, 0]))
        self.vocabulary = [terms[k] for k in known.tolist()]
        self.estimator.vectors, self.estimator.weights = vectors[known], np.ones(len(known))
        if self.idf:
            docs, _, df = totals(corpus.blocks)
            self.estimator.weights = np.log(docs / df[known])

    def describe(self, view):
        return {"dimensions": self.estimator.vectors.shape[1]}

    def estimate(self, corpus, job):
        return 8 * 2 * len(corpus.vocabulary) * width(job.resource(self.file))
