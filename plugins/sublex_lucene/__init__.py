"""Lucene as a plugin: registers the back end `lucene`, a reader of stored documents, and Lucene's scorers as retrievers."""

from typing import Any

from sublex.contracts.base import Param, Reader
from sublex.contracts.foreign import Backend, Retriever
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

DOCNO = Param("docno", str, None, help="the field with the documents' ids; by default id")
FIELD = Param("field", str, None, help="the indexed field that is read; by default contents")
FIELDS = Param(
    "field", str, None, help="the indexed field that is read, or several, as in title,contents; by default contents"
)
FEEDBACK = Param(
    "feedback",
    str,
    "none",
    range=("none", "rm3", "rocchio"),
    help="Anserini's feedback; the Lucene index has to store document vectors or raw JSON",
)
C = Param(
    "c",
    float,
    0.1,
    range=(0, 1000),
    open=True,
    help="length normalisation: the smaller c, the more the length of a document counts",
)
# The description and the parameters of each retriever, with Anserini's defaults.
RETRIEVERS = {
    "LuceneBM25": (
        """Lucene's BM25Similarity on its own index; lengths are rounded to one byte.

        S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009.""",
        [
            Param(
                "k1",
                float,
                0.9,
                range=(0, 1000),
                help="saturation: larger values let repetitions of a term count for more",
            ),
            Param(
                "b",
                float,
                0.4,
                range=(0, 1),
                help="length normalisation: 0 ignores a document's length, 1 applies it in full",
            ),
        ],
    ),
    "LuceneQLD": (
        """Lucene's LMDirichletSimilarity on its own index: query likelihood with Dirichlet smoothing.

        Lucene raises negative scores to 0.

        C. Zhai and J. Lafferty, A Study of Smoothing Methods for Language Models Applied to Ad Hoc IR, SIGIR 2001.""",
        [
            Param(
                "mu",
                float,
                1000.0,
                range=(0, 10**9),
                help="smoothing: larger values give the collection more weight beside the document",
            )
        ],
    ),
    "LuceneQLJM": (
        """Lucene's LMJelinekMercerSimilarity on its own index: query likelihood with Jelinek-Mercer smoothing.

        C. Zhai and J. Lafferty, A Study of Smoothing Methods for Language Models Applied to Ad Hoc IR, SIGIR 2001.""",
        [Param("lam", float, 0.1, range=(0, 1), open=True, help="the share of the collection in the smoothed model")],
    ),
    "LuceneInL2": (
        """Lucene's DFRSimilarity on its own index, with BasicModelIn, AfterEffectL and NormalizationH2.

        G. Amati and C. J. van Rijsbergen, Probabilistic Models of IR Based on Measuring the Divergence from Randomness, 2002.""",
        [C],
    ),
    "LuceneSPL": (
        """Lucene's IBSimilarity on its own index, with DistributionSPL, LambdaDF and NormalizationH2.

        S. Clinchant and E. Gaussier, Information-based models for ad hoc IR, SIGIR 2010.""",
        [C],
    ),
    "LuceneF2Exp": (
        """Lucene's AxiomaticF2EXP on its own index.

        H. Fang and C. Zhai, An Exploration of Axiomatic Approaches to Information Retrieval, SIGIR 2005.""",
        [
            Param(
                "s",
                float,
                0.5,
                range=(0, 1),
                help="length normalisation: the larger s, the more the length of a document counts",
            )
        ],
    ),
}


def make_backend(**params: Any) -> Backend:
    """Lucene 9: inverted indexes as Anserini and Pyserini write them. Java runs in a process of its own."""
    from sublex_lucene.backend import LuceneBackend

    return LuceneBackend(**params)


def make_reader(**params: Any) -> Reader:
    """Return the reader of the documents that a Lucene index stores, named as in lucene:PATH."""
    from sublex_lucene.reader import LuceneReader

    return LuceneReader(**params)


def _retriever(name: str, description: str) -> Any:
    """Return a function that makes the retriever `name`. `description` becomes the docstring of the function."""

    def make(**params: Any) -> Retriever:
        from sublex_lucene.retrievers import LuceneRetriever

        return LuceneRetriever(name, **params)

    make.__doc__ = description
    return make


@hookimpl
def register_backends(register: Register) -> None:
    """Register `lucene`: inverted indexes of Lucene 9, as Anserini and Pyserini write them."""
    register("lucene", make_backend, [FIELDS, DOCNO])


@hookimpl
def register_readers(register: Register) -> None:
    """Register `lucene`: the documents that a Lucene index stores, named as in `lucene:PATH`."""
    register("lucene", make_reader, [FIELD, DOCNO])


@hookimpl
def register_retrievers(register: Register) -> None:
    """Register Lucene's scorers, which search a Lucene index that is attached."""
    for name, (description, params) in RETRIEVERS.items():
        register(name, _retriever(name, description), [*params, FEEDBACK])
