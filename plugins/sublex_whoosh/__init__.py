"""Whoosh as a plugin: registers the back end, the analyzer and the reader `whoosh`, and Whoosh's own scorers as retrievers."""

from sublex.contracts.base import Param
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

FIELD = Param("field", str, None, help="the field of text that is read; by default the first by name")
FIELDS = Param(
    "field",
    str,
    None,
    help="the field of text that is read, or several, as in title,text; by default the first by name",
)
DOCNO = Param("docno", str, None, help="the field with the ids of documents; by default the unique ID field")


@hookimpl
def register_backends(register: Register) -> None:
    """Register the back end."""
    from sublex_whoosh.backend import WhooshBackend

    register("whoosh", WhooshBackend, [FIELDS, DOCNO])


@hookimpl
def register_readers(register: Register) -> None:
    """Register the reader of stored documents."""
    from sublex_whoosh.reader import WhooshReader

    trust = Param("trust", bool, False, help="allow the pickles in the folder to run code")
    register("whoosh", WhooshReader, [FIELD, DOCNO, trust])


@hookimpl
def register_analyzers(register: Register) -> None:
    """Register the analyzer."""
    from sublex_whoosh.analyzer import PARAMS, WhooshAnalyzer

    register("whoosh", WhooshAnalyzer, PARAMS)


@hookimpl
def register_retrievers(register: Register) -> None:
    """Register Whoosh's scorers."""
    from sublex_whoosh import retrievers

    language = Param(
        "language", bool, False, help="whether the query is read in Whoosh's query language, as in title:crane"
    )
    b = Param(
        "b", float, 0.75, range=(0, 1), help="length normalisation: 0 ignores a document's length, 1 applies it in full"
    )
    k1 = Param(
        "k1", float, 1.2, range=(0, 1000), help="saturation: larger values let repetitions of a term count for more"
    )
    c = Param(
        "c",
        float,
        1.0,
        range=(0, 1000),
        open=True,
        help="length normalisation: the smaller c, the more the length of a document counts",
    )
    register("WhooshBM25F", retrievers.WhooshBM25F, [k1, b, language])
    register("WhooshTFIDF", retrievers.WhooshTFIDF, [language])
    register("WhooshPL2", retrievers.WhooshPL2, [c, language])
    register("WhooshDFree", retrievers.WhooshDFree, [language])
