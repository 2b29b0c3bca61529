"""The feedback documents of an expander as one sparse matrix, and the functions that build the expanded query.

Feedback documents are the documents from which an expander takes terms: the first documents of a retrieval, or those
that the user judged relevant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from sublex.contracts.base import Context, Query, QueryTerm

TRUST = "How much feedback depends on the share of the query that its documents hold; 0 is not at all."
# Anserini's filters: a pattern that terms must match, and the largest share of the collection's documents that may
# contain a term.
ANSERINI_WORD = re.compile("[a-z0-9]{2,20}")
MAX_SHARE = 0.1


class FeedbackDocuments(NamedTuple):
    """The term frequencies of documents, as a sparse matrix with one row for each document.

    `terms` holds the numbers of the distinct terms, ascending; each is a column. An entry of the matrix has its row in
    `rows`, its column in `columns` and its term frequency, a float64, in `tfs`. `lengths` holds the length of each
    document in tokens; methods that drop terms leave `lengths` unchanged.
    """

    terms: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    tfs: np.ndarray
    lengths: np.ndarray

    @classmethod
    def read(cls, context: Context, docs: np.ndarray) -> FeedbackDocuments:
        """Return the matrix of the documents with these numbers."""
        vectors = context.term_vectors(docs)
        empty = np.empty(0, np.int64)
        terms, columns = np.unique(np.concatenate([empty, *(v.terms for v in vectors)]), return_inverse=True)
        tfs = np.concatenate([empty, *(v.tfs for v in vectors)]).astype(np.float64)
        rows = np.repeat(np.arange(len(vectors)), [len(v.terms) for v in vectors])
        return cls(terms, rows, columns, tfs, np.bincount(rows, tfs, len(vectors)))

    def trusted(self, context: Context, query: Query, trust: float) -> float:
        """Return the `coverage` of the query to the power of `trust`; 1 for a trust of 0."""
        return self.coverage(context, query) ** trust if trust else 1.0

    def coverage(self, context: Context, query: Query) -> float:
        """Return the mean, over the documents, of the share of the query's words that a document contains.

        Each word counts with its idf, ln(1 + N / df). Words that no document of the collection contains are left out.
        """
        known = np.array([*known_terms(context, query.word_weights()).values()], np.int64)
        if not len(known) or not len(self.lengths):
            return 0.0
        idf = np.log1p(context.collection.docs / context.stats(known).df)
        by_term = np.zeros(len(self.terms))
        held = np.isin(known, self.terms)
        by_term[np.searchsorted(self.terms, known[held])] = idf[held]
        return float(self.sum_by_document(by_term[self.columns]).mean() / idf.sum())

    def select(self, mask: np.ndarray) -> FeedbackDocuments:
        """Return the matrix with only the terms for which the mask is true. The mask has one bool for each term."""
        entries = mask[self.columns]
        columns = (np.cumsum(mask) - 1)[self.columns[entries]]
        return FeedbackDocuments(self.terms[mask], self.rows[entries], columns, self.tfs[entries], self.lengths)

    def select_matching(self, context: Context, pattern: re.Pattern[str]) -> FeedbackDocuments:
        """Return the matrix with only the terms that the pattern matches in full."""
        return self.select(np.array([bool(pattern.fullmatch(name)) for name in context.names(self.terms)], bool))

    def drop_common(self, context: Context, max_share: float) -> FeedbackDocuments:
        """Return the matrix without terms that more than the share `max_share` of the collection's documents hold."""
        return self.select(context.stats(self.terms).df / max(context.collection.docs, 1) <= max_share)

    def top_per_document(self, number: int) -> FeedbackDocuments:
        """Return the matrix with only the `number` most frequent terms of each document.

        Of equals, the first terms are kept.
        """
        order = np.lexsort((self.columns, -self.tfs, self.rows))
        rows = self.rows[order]
        entries = order[np.arange(len(rows)) - np.searchsorted(rows, rows) < number]
        return self._replace(rows=self.rows[entries], columns=self.columns[entries], tfs=self.tfs[entries])

    def document_counts(self) -> np.ndarray:
        """Return for each term the number of feedback documents that hold it, as integers."""
        return np.bincount(self.columns, minlength=len(self.terms))

    def sum_by_term(self, values: np.ndarray) -> np.ndarray:
        """Return for each term the sum of the values of its entries; `values` has one number for each entry."""
        return np.bincount(self.columns, values, len(self.terms))

    def sum_by_document(self, values: np.ndarray) -> np.ndarray:
        """Return for each document the sum of the values of its entries; `values` has one number for each entry."""
        return np.bincount(self.rows, values, len(self.lengths))

    def best_terms(
        self, context: Context, weights: np.ndarray, number: int, merits: np.ndarray | None = None
    ) -> dict[str, float]:
        """Return the `number` terms of highest merit, with their weights, best first.

        Only terms with a merit above 0 are returned. Of equals, the first terms are preferred. By default the merit of
        a term is its weight.
        """
        merits = weights if merits is None else merits
        order = _first_of(-merits, number)
        order = order[merits[order] > 0]
        return dict(zip(context.names(self.terms[order]), weights[order].tolist(), strict=True))


def relevant_documents(context: Context, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents that count as relevant, and their scores as float64.

    They are the documents that the user judged relevant, all with the score 1; without judgements, the first `number`
    documents found, with their own scores.
    """
    if context.judged is None:
        return context.docs[:number], context.scores[:number].astype(np.float64)
    return context.judged.relevant, np.ones(len(context.judged.relevant))


def other_documents(context: Context, after: int, number: int) -> np.ndarray:
    """Return the documents that count as non-relevant.

    They are the judged documents that are not relevant; without judgements, the last `number` documents found, none of
    which is among the first `after`.
    """
    if context.judged is not None:
        return context.judged.others
    rest = context.docs[after:]
    return rest[max(len(rest) - number, 0) :]


def moved(
    query: Query, original: Mapping[str, float], towards: Mapping[str, float], away: Mapping[str, float], origin: str
) -> Query:
    """Return the query with the weights `original`, plus those of `towards`, minus those of `away`.

    Subtracting never takes the weight of a term below 0; a weight that was below 0 stays. A term whose weight would be
    0 is not added. `origin` is the origin of the terms that are added.
    """
    if not away and min(towards.values(), default=0.0) > 0:
        return expanded_query(query, original, towards, origin)
    moves = {}
    for term in [*towards, *away]:
        move = towards.get(term, 0.0) - away.get(term, 0.0)
        moves[term] = max(move, -max(original.get(term, 0.0), 0.0))
    return expanded_query(query, original, {term: move for term, move in moves.items() if move}, origin)


def known_terms(context: Context, terms: Collection[str]) -> dict[str, int]:
    """Return a dictionary from terms to their numbers.

    Terms that no document of the collection contains are left out.
    """
    return {term: number for term, number in zip(terms, context.numbers([*terms]), strict=True) if number >= 0}


def normalise(weights: Mapping[str, float], power: int) -> dict[str, float]:
    """Return the weights divided by their L1 norm (`power` 1) or L2 norm (`power` 2); unchanged if the norm is 0."""
    # The weights are divided by the largest one first, so that their powers stay within the range of floats.
    largest = max(map(abs, weights.values()), default=0.0) or 1.0
    norm = sum([abs(weight / largest) ** power for weight in weights.values()]) ** (1 / power) or 1.0
    return {term: weight / largest / norm for term, weight in weights.items()}


def expanded_query(query: Query, weights: Mapping[str, float], added: Mapping[str, float], origin: str) -> Query:
    """Return the query with new weights for its own terms, and with added terms, heaviest first.

    Terms of the query that `weights` lacks get 0. A term that is both in the query and in `added` gets the sum of both
    weights, and `origin` is appended to its origin, as in "query + RM3".
    """
    sources: dict[str, list[str]] = {}
    for term, _, source in query.terms:
        known = sources.setdefault(term, [])
        if source not in known:
            known.append(source)
    totals, origins = dict(added), dict.fromkeys(added, origin)
    for term, known in sources.items():
        totals[term] = weights.get(term, 0.0) + added.get(term, 0.0)
        origins[term] = " + ".join(known if term not in added or origin in known else [*known, origin])
    # Heaviest first, of equals by term.
    order = sorted([(-weight, term) for term, weight in totals.items()])
    return Query(query.text, tuple([QueryTerm(term, -weight, origins[term]) for weight, term in order]))


def _first_of(values: np.ndarray, number: int) -> np.ndarray:
    """Return the places of the `number` least values, ascending by value, and of equals by place."""
    places = np.arange(len(values))
    if number < len(values):
        # Only the values that can be among the least are put in order. Not-a-numbers stand last.
        places = np.flatnonzero(~(values > np.partition(values, number - 1)[number - 1]))
    return places[np.argsort(values[places], kind="stable")][:number]
