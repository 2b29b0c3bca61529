"""Whoosh's own scorers as retrievers: BM25F, TF_IDF, PL2 and DFree, as Whoosh computes them.

Whoosh searches its own index. By default it finds documents with any of the weighted terms of the query. With
`language=true`, Whoosh parses the text of the query in its own query language. Every matching document is scored,
because Whoosh's shortcuts could lose documents.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sublex.contracts.base import Explanation, Query
from sublex.contracts.operators import Operator, OperatorKind
from sublex.errors import InputError
from sublex.tools.messages import in_short

if TYPE_CHECKING:
    import numpy as np

    from sublex_whoosh.foreign import WhooshIndex


class WhooshRetriever:
    """A scorer of Whoosh. Subclasses make Whoosh's object for it."""

    backend = "whoosh"

    def __init__(self, language: bool, **params: float):
        self.language, self.params = language, params

    @abstractmethod
    def weighting(self) -> Any:
        """Return Whoosh's object for the scorer."""

    def version(self) -> str:
        """Return the name and version of Whoosh."""
        from importlib.metadata import version

        return f"whoosh-reloaded {version('whoosh-reloaded')}"

    def takes(self, operator: Operator) -> bool:
        """Return whether Whoosh counts the occurrences of an operator as Sublex does.

        It does for a term in a field, but not with `language`, because Whoosh then reads the query's text.
        """
        return not self.language and operator.kind is OperatorKind.FIELD and not isinstance(operator.parts[0], Operator)

    def search(self, query: Query, index: WhooshIndex, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the best `k` documents and their scores, and all documents with the same score as the document at
        place `k`.
        """
        # NumPy is imported with the first search, because `sublex --help` loads this module.
        import numpy as np

        sums: dict[int, float] = {}
        for weight, part in self._parts(query, index):
            for base, matcher in self._matchers(part, index):
                while matcher.is_active():
                    doc = base + matcher.id()
                    sums[doc] = sums.get(doc, 0.0) + weight * matcher.score()
                    matcher.next()
        docs, scores = np.fromiter(sums, np.int64, len(sums)), np.fromiter(sums.values(), np.float64, len(sums))
        if len(scores) > k:
            # The engine decides between documents with the same score as the document at place k.
            best = scores >= np.partition(scores, -k)[-k]
            docs, scores = docs[best], scores[best]
        return index.numbers[docs], scores

    def scores(self, query: Query, index: WhooshIndex, docs: np.ndarray) -> np.ndarray:
        """Return the scores of documents; -inf for documents that do not match."""
        import numpy as np

        scores = np.full(len(docs), -np.inf)
        wanted = index.live[docs]
        order = np.argsort(wanted)
        # The place among the wanted documents where the documents of each segment begin, and where those of the last
        # one end.
        cuts = np.searchsorted(wanted[order], [*(base for _, base in index.leaves), np.inf])
        for weight, part in self._parts(query, index):
            for segment, (base, matcher) in enumerate(self._matchers(part, index)):
                for place in order[cuts[segment] : cuts[segment + 1]].tolist():
                    doc = int(wanted[place]) - base
                    if matcher.is_active():
                        matcher.skip_to(doc)
                    if matcher.is_active() and matcher.id() == doc:
                        before = 0.0 if scores[place] == -np.inf else scores[place]
                        scores[place] = before + weight * matcher.score()
        return scores

    def explain(self, query: Query, index: WhooshIndex, doc: int) -> Explanation:
        """Return the score of a document as a sum of the parts of its terms."""
        import numpy as np

        score = float(self.scores(query, index, np.array([doc]))[0])
        if self.language:
            parsed = self._parsed(query, index)
            terms = {(name, text): 1.0 for name, text in parsed.terms() if name in index.schema}
        else:
            parsed = None
            placed = [(*_in_field(term, index), weight) for term, weight in query.weights().items()]
            terms = {(name, term.encode()): weight for name, term, weight in placed}
        parts = tuple(self._part(index, name, term, weight, doc) for (name, term), weight in terms.items())
        if parsed is None:
            return Explanation(score, "added up over the words", "sum", parts)
        # Scores of some operators of Whoosh's query language are not sums.
        shown = tuple(part._replace(kind="evidence") for part in parts)
        return Explanation(score, f"Whoosh's score for {parsed}", "sum", shown)

    def _part(self, index: WhooshIndex, field: str, term: Any, weight: float, doc: int) -> Explanation:
        """Return the part of one term in a document's score. It is only evidence if the document lacks the term."""
        from whoosh.query import Term

        text = term.decode() if isinstance(term, bytes) else str(term)
        label = text if field == index.field else f"{field}:{text}"
        for base, matcher in self._matchers(Term(field, text), index):
            local = int(index.live[doc]) - base
            if local < 0 or not matcher.is_active():
                continue
            matcher.skip_to(local)
            if matcher.is_active() and matcher.id() == local:
                length = index.reader.doc_field_length(int(index.live[doc]), field, 1)
                evidence = {
                    "tf": matcher.weight(),
                    "length, rounded": length,
                    "df": index.reader.doc_frequency(field, text),
                }
                score = float(matcher.score())
                if weight == 1:
                    return Explanation(score, label, evidence=evidence)
                factors = Explanation(weight, "weight in the query"), Explanation(score, "score", evidence=evidence)
                return Explanation(weight * score, label, "product", factors)
        return Explanation(0.0, f"{label}: not in this document", "evidence")

    def _parts(self, query: Query, index: WhooshIndex) -> list[tuple[float, Any]]:
        """Return pairs of a weight and a Whoosh query. The score of a document is the sum over the pairs of the weight
        times the document's score for the Whoosh query.

        There is a pair for each term. With `language` there is one pair, for the whole query text of the user.
        """
        from whoosh.query import Term

        if self.language:
            return [(1.0, self._parsed(query, index))]
        return [(weight, Term(*_in_field(term, index))) for term, weight in query.weights().items() if weight]

    def _parsed(self, query: Query, index: WhooshIndex) -> Any:
        """Return the text of the query as a query object, parsed by Whoosh's query language."""
        from whoosh.qparser import QueryParser

        if any(term.origin != "query" for term in query.terms):
            raise InputError(
                f"{type(self).__name__}(language=true) reads the user's text, and an expander before it changed the query; "
                "leave language out."
            )
        try:
            return QueryParser(index.field, index.schema).parse(query.text).normalize()
        except Exception as error:
            # Whoosh raises a plain Exception for a field that is stored but not indexed.
            raise InputError(
                f"Whoosh cannot read the query ({in_short(error)}); the fields that it can search are {index.searched}."
            ) from None

    def _matchers(self, part: Any, index: WhooshIndex) -> Iterator[tuple[int, Any]]:
        """Yield a pair for each segment: the number of documents in the segments before it, and Whoosh's matcher of the
        query `part`.
        """
        searcher = index.searcher(self.weighting(), f"{type(self).__name__}{sorted(self.params.items())}")
        context = searcher.context()
        for leaf, base in searcher.leaf_searchers():
            yield base, part.matcher(leaf, context)


def _in_field(term: str, index: WhooshIndex) -> tuple[str, str]:
    """Return the field in which a term of the query is searched, and the term."""
    return (term.field, term.parts[0]) if isinstance(term, Operator) else (index.field, term)


class WhooshBM25F(WhooshRetriever):
    """Whoosh's BM25F on its own index: idf is ln(N / (df + 1)) + 1, and lengths are rounded to one byte.

    S. Robertson, H. Zaragoza and M. Taylor, Simple BM25 Extension to Multiple Weighted Fields, 2004.
    """

    def __init__(self, k1: float, b: float, language: bool):
        super().__init__(language, k1=k1, b=b)

    def weighting(self) -> Any:
        """Return Whoosh's object for the scorer."""
        from whoosh.scoring import BM25F

        return BM25F(B=self.params["b"], K1=self.params["k1"])


class WhooshTFIDF(WhooshRetriever):
    """Whoosh's TF_IDF on its own index: the frequency times ln(N / (df + 1)) + 1, without regard to lengths.

    K. Spärck Jones, A statistical interpretation of term specificity and its application in retrieval, 1972.
    """

    def weighting(self) -> Any:
        """Return Whoosh's object for the scorer."""
        from whoosh.scoring import TF_IDF

        return TF_IDF()


class WhooshPL2(WhooshRetriever):
    """Whoosh's PL2 on its own index. Its constants and logarithms differ from those of the paper and of Terrier.

    G. Amati and C. J. van Rijsbergen, Probabilistic Models of Information Retrieval Based on Measuring the Divergence from
    Randomness, 2002.
    """

    def __init__(self, c: float, language: bool):
        super().__init__(language, c=c)

    def weighting(self) -> Any:
        """Return Whoosh's object for the scorer."""
        from whoosh.scoring import PL2

        return PL2(c=self.params["c"])


class WhooshDFree(WhooshRetriever):
    """Whoosh's DFree on its own index, with natural logarithms.

    G. Amati, Frequentist and Bayesian Approach to Information Retrieval, 2006.
    """

    def weighting(self) -> Any:
        """Return Whoosh's object for the scorer."""
        from whoosh.scoring import DFree

        return DFree()
