"""Use Sublex with PyTerrier (https://pyterrier.readthedocs.io): an index as a transformer, a transformer as a stage."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

import sublex
from sublex.contracts.base import GivenVectors, Query, Vectors
from sublex.errors import IndexProblem, InputError, MissingExtra, warn
from sublex.language import functions
from sublex.language.expression import Chain, Cut, walk
from sublex.language.plugins import Component
from sublex.pipeline.index import LANGUAGES, Expr, Index
from sublex.pipeline.pipeline import Pipeline, error_of_topic, expect_scores
from sublex.pipeline.query_forms import notes_of_all
from sublex.pipeline.stages.stage import State
from sublex.retrieval.hits import Hits
from sublex.tools.arguments import choice, threads, whole
from sublex.trec.given_topics import query_text
from sublex.vectors.queries import QueryVectors

try:
    import pandas as pd
    import pyterrier as pt
except ImportError:
    raise MissingExtra("sublex.pyterrier", "pyterrier") from None


def stage(transformer: pt.Transformer, name: str | None = None, version: str | int | None = None) -> functions.Function:
    """Return a PyTerrier transformer as a part of an expression, as in `"BM25 % 100" >> sublex.pyterrier.stage(transformer)`.

    The transformer gets the hits of one query in a frame. Its columns are qid, query, docno, score and rank, and where
    the index stores texts, also title and text. The transformer gives the hits new scores or drops some hits. `name` is
    the name in the printed form `rerank(name)`, by default the name of the transformer's class. With a `version`,
    `compare` keeps the runs; change the version whenever the transformer's scores change.
    """
    return functions.transformer(transformer, name, version)


# The columns of PyTerrier's dense frames with the vectors of queries and of documents.
VECTOR, OF_DOCUMENT = "query_vec", "doc_vec"


def _open(index: Index | str | os.PathLike[str]) -> Index:
    return sublex.open(index) if isinstance(index, (str, os.PathLike)) else index


def _number(index: Index, docno: object) -> int:
    """Return the number of a document in the index."""
    doc = index.snapshot.doc(str(docno))
    if doc is None:
        raise InputError(f"No document {docno} in {index.path}; rerank documents of this index.")
    return doc


def _with_vector(query: Query, name: str, qid: str, text: str, vector: Any) -> Query:
    """Return a query with its vector for the vectors `name`. Raise InputError for a vector that cannot be one."""
    given = QueryVectors({name: {qid: vector}}).of(qid, text)
    return query._replace(given=GivenVectors({**(query.given or {}), **given}))


class _Ranked(NamedTuple):
    """The hits of one query. Each hit also has the number of the input row that it was made from."""

    hits: Hits
    rows: np.ndarray


class Retriever(pt.Transformer):
    """A PyTerrier transformer that ranks documents by a Sublex pipeline.

    Its input is a frame with the columns `qid` and `query`. It finds the best `k` documents for each query, and adds the columns
    `docno`, `rank` (from 0) and `score`. When the input has a column `docno` too, exactly these documents are the
    candidates: the transformer scores them again, and drops documents to which the pipeline gives no score, as a stage
    after `>>` does. A column `query_vec` has the vectors of queries for `dense(NAME)`.
    """

    def __init__(
        self,
        index: Index | str | os.PathLike[str],
        expression: Expr | Pipeline | None = None,
        k: int = 1000,
        language: str = "plain",
    ):
        """Make a transformer of an index or its path, and an expression; by default the index's own ranker.

        `language` is that of the queries: "plain", "query" for the query language, or "weighted" for terms with weights.

        The transformer always reads the generation of the index that was current when it was made.
        """
        self.index = _open(index)
        self.pipeline, self.k = self.index.pipeline(expression), whole(k, "k")
        expect_scores(self.pipeline.expression)
        self.language = choice(language, "The language of queries", LANGUAGES)

    def __repr__(self) -> str:
        language = "" if self.language == "plain" else f", language={self.language!r}"
        return f"Retriever({str(self.index.path)!r}, {str(self.pipeline)!r}, k={self.k}{language})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with a row for each hit, best first within a query: the input's columns, docno, rank and score."""
        with pt.validate.any(inp, context=self) as check:
            check.query_frame(extra_columns=["query"], mode="retrieve")
            check.result_frame(extra_columns=["query"], mode="rerank")
        ranked = self._rescored(inp) if check.mode == "rerank" else self._retrieved(inp)
        kept = inp.drop(columns=["docno", "rank", "score"], errors="ignore")
        rows = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in ranked)])
        return kept.iloc[rows].assign(
            docno=np.array([docno for hits, _ in ranked for docno in hits.docnos], object),
            rank=np.concatenate([np.empty(0, np.int64), *(np.arange(len(hits)) for hits, _ in ranked)]),
            score=np.concatenate([np.empty(0), *(hits.scores for hits, _ in ranked)]),
        ).reset_index(drop=True)  # fmt: skip

    def fuse_rank_cutoff(self, k: int) -> Retriever:
        """Return a transformer that finds at most k documents. PyTerrier calls it for `retriever % k`."""
        return self if k >= self.k else Retriever(self.index, self.pipeline, k, self.language)

    def _retrieved(self, inp: pd.DataFrame) -> list[_Ranked]:
        """Return the best documents of the collection for each row."""
        queries, qids = self._queries(inp), inp["qid"].tolist()
        answers = self.pipeline.answers(queries, self.k, threads(None), qids)
        return [_Ranked(answer.hits, np.full(len(answer.hits), row)) for row, answer in enumerate(answers)]

    def _rescored(self, inp: pd.DataFrame) -> list[_Ranked]:
        """Return the candidates of each query, scored by the pipeline."""
        groups: dict[Any, list[int]] = {}
        for row, qid in enumerate(inp["qid"].tolist()):
            groups.setdefault(qid, []).append(row)
        queries = self._queries(inp.iloc[[rows[0] for rows in groups.values()]])
        found = []
        for (qid, rows), query in zip(groups.items(), queries, strict=True):
            try:
                found.append(self._rescore(query, inp.iloc[rows], np.array(rows)))
            except (InputError, IndexProblem) as error:
                raise error_of_topic(error, qid, query) from None
        return found

    def _queries(self, inp: pd.DataFrame) -> list[Query]:
        """Return the query of each row. A warning has the notes of the query language."""
        topics = [(qid, query_text(text, qid)) for qid, text in zip(inp["qid"], inp["query"], strict=True)]
        queries = self.index.queries(topics, self.language)
        warn(notes_of_all(topics, queries))
        names = self._names_of_vectors() if VECTOR in inp.columns else []
        if not names:
            return queries
        rows = zip(queries, topics, inp[VECTOR], strict=True)
        return [_with_vector(query, names[0], str(qid), text, vector) for query, (qid, text), vector in rows]

    def _names_of_vectors(self) -> list[str]:
        """Return the name of the vectors that the expression compares with queries; no name if there are none."""
        names = {
            node.values[param.name]
            for node in walk(self.pipeline.expression)
            if isinstance(node, Component)
            for param in node.registration.params
            if param.type is Vectors
        }
        if len(names) > 1:
            raise InputError(
                f"The column {VECTOR} cannot have the vectors of {', '.join(sorted(names))} at once; leave it out, and "
                "give each its own by index.with_queries."
            )
        return sorted(names)

    def _rescore(self, query: Query, candidates: pd.DataFrame, rows: np.ndarray) -> _Ranked:
        docs, first = np.unique(
            [_number(self.index, docno) for docno in candidates["docno"].tolist()], return_index=True
        )
        before, qid = np.arange(len(rows), 0, -1), candidates["qid"].iloc[0]
        if "score" in candidates:
            before = candidates["score"].to_numpy(np.float64)
            if not np.isfinite(before).all():
                raise InputError(f"A score of query {qid} is not a finite number.")
        given = Hits.ranked(self.pipeline.snapshot, docs.astype(np.int32), before[first])
        scoring = self.pipeline.scorer.start(State(query, given))
        hits = scoring.rescored(scoring.state.passing(given)).first(self._most())
        return _Ranked(hits, rows[first[np.searchsorted(docs, hits.docs)]])

    def _most(self) -> int:
        """Return the largest number of candidates that a rerank keeps: k, or the number after % at the end of the expression."""
        tree = self.pipeline.expression
        last = tree.stages[-1] if isinstance(tree, Chain) else tree
        return min(self.k, last.depth) if isinstance(last, Cut) and isinstance(last.depth, int) else self.k


class DocumentVectors(pt.Transformer):
    """A PyTerrier transformer that adds the column `doc_vec`: the stored vector of each document.

    Its input is a frame with a column `docno`, such as the results of a retriever. A document without a vector gets None.
    """

    def __init__(self, index: Index | str | os.PathLike[str], name: str):
        """Make a transformer of an index or its path, and the name of vectors that were added to it."""
        self.index, self.name = _open(index), name
        self.index.expect_vectors(name)

    def __repr__(self) -> str:
        return f"DocumentVectors({str(self.index.path)!r}, {self.name!r})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with the vectors of its documents, float32."""
        pt.validate.columns(inp, includes=["docno"])
        loaded, column = self.index.representation(f"dense({self.name})"), np.full(len(inp), None, object)
        if len(inp):
            docs, places = np.unique([_number(self.index, docno) for docno in inp["docno"]], return_inverse=True)
            rows = loaded.view.rows(docs)
            vectors, known = loaded.vectors(rows), loaded.has_vectors(rows)
            column[:] = [vectors[place] if known[place] else None for place in places.tolist()]
        return inp.assign(**{OF_DOCUMENT: column})
