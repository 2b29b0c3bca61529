"""Lucene's scorers as retrievers: they search the Lucene index itself, in the process that runs Java."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from sublex.contracts.base import Explanation, Query
from sublex.contracts.operators import GAP, Operator, OperatorKind
from sublex.errors import InputError
from sublex_lucene import installed
from sublex_lucene.index import LuceneIndex

# The largest difference between a value of Lucene's explanation and the sum or product of its parts. Lucene adds in
# float32.
_NEAR = 1e-4
# Lucene's description of the score of one term; it contains the term.
_WEIGHT = re.compile(r"weight\([^:]*:(.*) in \d+\)")
# Lucene's description of synonyms begins with this text, and names the field before each word.
_SYNONYMS = re.compile(r"weight\(Synonym\((.*)\) in \d+\)")


class LuceneRetriever:
    """One of Lucene's scorers with its parameters, and with Anserini's feedback if `feedback` is "rm3" or "rocchio"."""

    backend = "lucene"

    def __init__(self, name: str, feedback: str, **parameters: float):
        self.name = name
        self.model = {"name": name, "feedback": feedback, "parameters": parameters}

    def version(self) -> str:
        """Return the version of Anserini, whose jar holds Lucene."""
        return f"Anserini {installed.anserini_version()}".strip()

    def takes(self, operator: Operator) -> bool:
        """Return whether Lucene counts the occurrences of an operator as Sublex does.

        This holds for a phrase of different words, for synonyms of words, and for a word, each within one field.
        """
        return self.model["feedback"] == "none" and _sent(operator) is not None

    def search(self, query: Query, index: LuceneIndex, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and the scores of the best `k` documents.

        If several documents have the same score as the last one, Lucene keeps the documents that were indexed first.
        """
        asked = self._asked(query)
        if not asked["terms"] or k < 1:
            return np.empty(0, np.int32), np.empty(0, np.float32)
        docs, scores = index.connection.ask("search", model=self.model, query=asked, k=min(k, index.docs))[1]
        return np.frombuffer(docs, "<i4"), np.frombuffer(scores, "<f4")

    def scores(self, query: Query, index: LuceneIndex, docs: np.ndarray) -> np.ndarray:
        """Return the scores of documents; -inf for documents without a word of the query."""
        asked = self._asked(query)
        result = np.full(len(docs), -np.inf, np.float32)
        if asked["terms"] and len(docs):
            order = np.argsort(docs, kind="stable")
            wanted = np.ascontiguousarray(docs[order], "<i4")
            found = index.connection.ask("scores", [wanted], model=self.model, query=asked)[1][0]
            result[order] = np.frombuffer(found, "<f4")
        return result

    def explain(self, query: Query, index: LuceneIndex, doc: int) -> Explanation:
        """Return Lucene's own explanation of the score of one document."""
        asked = self._asked(query)
        if not asked["terms"]:
            return Explanation(-math.inf, "no word of the query is left")
        answer = index.connection.ask("explain", model=self.model, query=asked, doc=doc)[0]
        tree = by_words(to_explanation(answer["tree"]))
        value = float(self.scores(query, index, np.array([doc]))[0])
        return tree._replace(value=value)

    def _asked(self, query: Query) -> dict[str, Any]:
        """Return the weighted terms of a query as a request to the process. Raise InputError for a negative weight."""
        weights = {term: weight for term, weight in query.weights().items() if weight}
        for term, weight in weights.items():
            if weight < 0:
                raise InputError(
                    f"{self.name} cannot take the weight {weight:.4g} of {term}, since Lucene has no negative weights; "
                    f"use a ranker of Sublex, such as BM25."
                )
        terms = [_sent(term) if isinstance(term, Operator) else term for term in weights]
        return {"text": query.text, "terms": terms, "weights": list(weights.values())}


def _sent(operator: Operator) -> list[Any] | None:
    """Return an operator in the form that the process reads: its kind, its field and its words.

    The field is "" for the field that is searched. Return None if Lucene does not count the operator's occurrences as
    Sublex does.
    """
    kind, width, field, words = operator.kind, operator.width, operator.field, operator.parts
    if kind is OperatorKind.FIELD and isinstance(words[0], Operator):
        kind, width, words = words[0].kind, words[0].width, words[0].parts
    elif (
        kind is OperatorKind.SYNONYMS
        and len(operator.fields) == 1
        and all(getattr(part, "field", "") for part in words)
    ):
        # Synonyms in a field are synonyms of words in the field.
        (field,), words = operator.fields, tuple(part.parts[0] for part in words)
    is_repeated = len(set(words)) < len(words)
    if kind is OperatorKind.WINDOW or (kind is OperatorKind.ORDERED and (width != 1 or is_repeated)):
        return None
    if any(word is GAP or isinstance(word, Operator) for word in words):
        return None
    return [kind, field, *words]


def by_words(tree: Explanation) -> Explanation:
    """Return an explanation of Lucene with one part for each term of the query. The label of a part begins with its
    term.
    """
    if _WEIGHT.match(tree.label):
        # For a query of one term, Lucene's explanation has no level above the term.
        tree = Explanation(tree.value, "sum of:", parts=(tree,))
    parts = []
    for part in tree.parts:
        found, synonyms = _WEIGHT.match(part.label), _SYNONYMS.match(part.label)
        words = [word.partition(":")[2] for word in synonyms[1].split()] if synonyms else [found[1]] if found else []
        parts.append(part._replace(label=f"{' or '.join(words)}: {part.label}") if words else part)
    return tree._replace(parts=tuple(parts))


def to_explanation(tree: list[Any]) -> Explanation:
    """Return Lucene's explanation, a tree of lists, as an explanation of Sublex.

    The values tell whether the parts are added or multiplied. If neither fits, the parts become evidence.
    """
    value, description, children = tree
    parts = tuple(map(to_explanation, children))
    values = [part.value for part in parts]
    kind = "sum"
    if not parts or math.isclose(sum(values), value, rel_tol=_NEAR):
        kind = "sum"
    elif math.isclose(math.prod(values), value, rel_tol=_NEAR):
        kind = "product"
    else:
        parts = tuple(part._replace(kind="evidence") for part in parts)
    return Explanation(value, description, kind, parts)
