"""Lucene as a plugin: registers the back end `lucene`, a reader of stored documents, and Lucene's scorers as retrievers."""

from typing import Any

from sublex.base import Backend, Param, Reader, Retriever
from sublex.hookspecs import Register, hookimpl

sublex_api = 2

BACKEND_PARAMS = [
    Param("field", str, None, help="the indexed field whose postings are read; by default contents"),
    Param("docno", str, None, help="the field with the documents' ids; by default id"),
]
FEEDBACK = Param(
    "feedback",
    str,
    "none",
    range=("none", "rm3", "rocchio"),
    help="Anserini's pseudo-relevance feedback before the last search; the index must store document vectors or raw documents",
)
# The parameters of each retriever, with Anserini's defaults.
RETRIEVERS = {
    "LuceneBM25": [
        Param("k1", float, 0.9, range=(0, 1000), help="how slowly a repeated term saturates"),
        Param("b", float, 0.4, range=(0, 1), help="how much long documents are held back"),
    ],
    "LuceneQLD": [
        Param("mu", float, 1000.0, range=(0, 10**9), help="the weight of the collection in Dirichlet smoothing")
    ],
    "LuceneQLJM": [
        Param(
            "lam", float, 0.1, range=(0, 1), open=True, help="the share of the collection in Jelinek-Mercer smoothing"
        )
    ],
    "LuceneInL2": [
        Param("c", float, 0.1, range=(0, 1000), open=True, help="how much frequencies depend on the length")
    ],
    "LuceneSPL": [Param("c", float, 0.1, range=(0, 1000), open=True, help="how much frequencies depend on the length")],
    "LuceneF2Exp": [Param("s", float, 0.5, range=(0, 1), help="how much long documents are held back")],
}


def make_backend(**params: Any) -> Backend:
    """Return the back end for inverted indexes of Lucene 9, as Anserini and Pyserini write them."""
    from sublex_lucene.backend import LuceneBackend

    return LuceneBackend(**params)


def make_reader() -> Reader:
    """Return the reader of the documents that a Lucene index stores."""
    from sublex_lucene.reader import LuceneReader

    return LuceneReader()


def _retriever(name: str) -> Any:
    """Return a function that makes the retriever of this name."""

    def make(**params: Any) -> Retriever:
        from sublex_lucene.retrievers import LuceneRetriever

        return LuceneRetriever(name, **params)

    return make


@hookimpl
def register_backends(register: Register) -> None:
    """Register `lucene`: inverted indexes of Lucene 9, as Anserini and Pyserini write them."""
    register("lucene", make_backend, BACKEND_PARAMS)


@hookimpl
def register_readers(register: Register) -> None:
    """Register `lucene`: the documents that a Lucene index stores, named as in `lucene:PATH`."""
    register("lucene", make_reader)


@hookimpl
def register_retrievers(register: Register) -> None:
    """Register Lucene's scorers, which search a Lucene index that is attached."""
    for name, params in RETRIEVERS.items():
        register(name, _retriever(name), [*params, FEEDBACK])
