"""A test plugin with a fitted expander: it adds to each word the words that share most documents with it."""

from __future__ import annotations

from sublex.contracts.base import Param, Query, QueryTerm
from sublex.contracts.fitted import Fittable
from sublex.contracts.hookspecs import hookimpl

sublex_api = 3


class Companions(Fittable):
    """Adds to each word of a query the words that share most documents with it."""

    docs = 0

    def __init__(self, words: int, weight: float):
        self.words, self.weight = words, weight

    def fit(self, corpus, job):
        matrix = corpus.matrix().astype(bool).astype(int)
        together = (matrix.T @ matrix).tolil()
        together.setdiag(0)
        terms = corpus.vocabulary
        self.beside = {}
        for number, (others, counts) in enumerate(zip(together.rows, together.data, strict=True)):
            order = sorted(range(len(others)), key=lambda k: (-counts[k], others[k]))[: self.words]
            self.beside[terms[number]] = [terms[others[k]] for k in order]
            job.progress(number, len(terms))

    def save(self, store):
        store.put("beside", self.beside)

    def load(self, store):
        self.beside = store.get("beside")

    def describe(self, view):
        return {"words known": len(self.beside)}

    def expand(self, query, context):
        added = [
            QueryTerm(term, self.weight * one.weight, "Companions")
            for one in query.terms
            for term in self.beside.get(one.term, [])
        ]
        return Query(query.text, (*query.terms, *added))


@hookimpl
def register_expanders(register):
    """Register `Companions`."""
    register(
        "Companions",
        Companions,
        [Param("words", int, 2, stage="fit", range=(1, 100)), Param("weight", float, 0.3, range=(0, 10))],
    )
