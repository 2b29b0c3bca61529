"""A test plugin with a representation that reads sequences: phrases of two words with no pause between them."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sublex.contracts.base import Explanation, Param
from sublex.contracts.fitted import Representation
from sublex.contracts.hookspecs import hookimpl

sublex_api = 3


def phrases(words):
    """Yield the pairs of successive terms, without stop words, each with the words as written."""
    before = None
    for word in words:
        if word.after_break:
            before = None
        if word.term:
            if before:
                yield f"{before.term} {word.term}", f"{before.surface} {word.surface}"
            before = word


class Neighbours(Representation):
    """Cosines of bags of phrases that occur in at least `least` documents; with `log` of log(1 + count)."""

    reads = "sequence"

    def __init__(self, least: int, log: bool, power: float):
        self.least, self.log, self.power = least, log, power

    def fit(self, corpus, job):
        df: Counter[str] = Counter()
        for done, words in enumerate(corpus.sequences()):
            df.update({phrase for phrase, _ in phrases(words)})
            job.progress(done, len(corpus.docs))
        self.phrases = sorted(phrase for phrase, docs in df.items() if docs >= self.least)
        self.numbers = {phrase: number for number, phrase in enumerate(self.phrases)}

    def save(self, store):
        store.put("phrases", self.phrases)

    def load(self, store):
        self.phrases = store.get("phrases")
        self.numbers = {phrase: number for number, phrase in enumerate(self.phrases)}

    def describe(self, view):
        return {"phrases": len(self.phrases)}

    def encode_documents(self, inputs):
        from scipy.sparse import csr_array

        bags = [Counter(self.numbers[p] for p, _ in phrases(words) if p in self.numbers) for words in inputs]
        columns = np.array([number for bag in bags for number in sorted(bag)], np.int32)
        counts = np.array([bag[number] for bag in bags for number in sorted(bag)], np.float32)
        starts = np.cumsum([0, *map(len, bags)])
        rows = csr_array((np.log1p(counts) if self.log else counts, columns, starts), (len(bags), len(self.phrases)))
        lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
        return csr_array(rows.multiply(np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)[:, None]))

    def encode_queries(self, inputs):
        rows = self.encode_documents(inputs)
        return [rows[[k]] for k in range(rows.shape[0])]

    def score(self, query, view, docs=None):
        cosines = (view.rows(docs) @ query.T).toarray()[:, 0]
        return np.where(cosines > 0, cosines**self.power, -np.inf)

    def explain(self, query, view, doc):
        shared = view.rows(np.array([doc])).multiply(query).tocoo()
        written = dict(phrases(view.sequence(doc)))
        parts = tuple(
            Explanation(float(value), written[self.phrases[k]])
            for k, value in zip(shared.coords[1], shared.data, strict=True)
        )
        total = Explanation(sum(part.value for part in parts), "cosine of phrases", "sum", parts)
        if self.power == 1:
            return total if parts else total._replace(value=float("-inf"), kind="evidence")
        return Explanation(total.value**self.power, f"to the power of {self.power:g}", "scaled", (total,))


@hookimpl
def register_representations(register):
    """Register `neighbours`: cosines of bags of phrases."""
    register(
        "neighbours",
        Neighbours,
        [
            Param("least", int, 2, stage="fit", range=(1, 10**6), help="documents that a phrase must be in"),
            Param("log", bool, False, stage="encode", help="damp counts"),
            Param("power", float, 1.0, range=(0, 9), open=True, help="what the cosine is brought to"),
        ],
    )
