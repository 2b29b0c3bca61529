"""Anserini's pseudo-relevance feedback, RM3 and Rocchio, with Anserini's defaults. Only the process that runs Java
imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jnius import autoclass, cast

if TYPE_CHECKING:
    from sublex_lucene.opened import OpenedIndex

# The number of best documents from which Anserini takes terms.
DOCS = 10


def expanded(index: OpenedIndex, method: str, made: Any, query: dict[str, Any]) -> tuple[list[str], list[float]]:
    """Return the terms of Anserini's expanded query and their weights. Anserini makes it from `query` and its best
    documents.

    `method` is "rm3" or "rocchio". `made` is Lucene's object for `query`.
    """
    tokens = autoclass("java.util.ArrayList")()
    for term, weight in zip(query["terms"], query["weights"], strict=True):
        if weight != int(weight) or weight > 1000:
            raise ValueError(
                f"feedback={method} takes the plain words of a query, and here {term} has the weight {weight:.4g}; "
                f"use the stage RM3 or Rocchio of Sublex in its place, as in LuceneBM25 >> RM3 >> LuceneBM25"
            )
        for _ in range(int(weight)):
            tokens.add(term)
    found = index.searcher.search(made, DOCS)
    if not found.scoreDocs:
        return query["terms"], query["weights"]
    scored = autoclass("io.anserini.search.ScoredDocs").fromTopDocs(found, index.searcher)
    arguments = autoclass("io.anserini.search.SearchCollection$Args")()
    # Anserini also searches with the expanded query. One hit is enough, since only the query is needed.
    arguments.hits = 1
    context = autoclass("io.anserini.rerank.RerankerContext")(
        index.searcher, cast("java.lang.Object", autoclass("java.lang.String")("")), made, None, query["text"],
        cast("java.util.List", tokens), None, arguments,
    )  # fmt: skip
    _reranker(index, method).rerank(scored, context)
    terms, weights = [], []
    entries = context.feedbackTerms.entrySet().iterator()
    while entries.hasNext():
        entry = cast("java.util.Map$Entry", entries.next())
        terms.append(str(entry.getKey()))
        weights.append(float(entry.getValue()))
    return terms, weights


def _reranker(index: OpenedIndex, method: str) -> Any:
    """Return Anserini's object for the feedback `method`.

    If the index has no document vectors, this object takes the terms of a document from the analysis of its raw JSON.
    """
    analyzer = cast(
        "org.apache.lucene.analysis.Analyzer", autoclass("io.anserini.index.IndexCollection").DEFAULT_ANALYZER
    )
    parser = autoclass("java.lang.Class").forName("io.anserini.collection.JsonCollection")
    if method == "rm3":
        reranker = autoclass("io.anserini.rerank.lib.Rm3Reranker")
        return reranker(analyzer, parser, index.field, 10, DOCS, 0.5, False, True)
    reranker = autoclass("io.anserini.rerank.lib.RocchioReranker")
    return reranker(analyzer, parser, index.field, 10, DOCS, 10, 10, 1.0, 0.75, 0.15, False, False)
