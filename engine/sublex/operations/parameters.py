"""Parameters that several operations share, so that they have one name, one type, one range and one help everywhere."""

from __future__ import annotations

from typing import Annotated, Literal

from sublex.operations.declaring import option, positional

Query = Annotated[str, positional("QUERY", completes="word", remembered=True)]
Docno = Annotated[str, positional("DOCNO", completes="docno")]
# One fitted model, and any number of expressions.
Model = Annotated[str, positional("EXPR", completes="model")]
Expressions = Annotated[tuple[str, ...], positional("EXPR", completes="expression")]
TopicFile = Annotated[str, positional("TOPICS", completes="file", remembered=True)]
JudgementFile = Annotated[str, positional("QRELS", completes="file", remembered=True)]
Runs = Annotated[tuple[str, ...], positional("RUN", completes="file", remembered=True)]
Sources = Annotated[tuple[str, ...], positional("SOURCE", completes="file")]
DataFile = Annotated[str, positional("FILE", completes="file")]

Ranker = Annotated[
    str | None,
    option(
        "-r", "--ranker", metavar="EXPR", completes="expression", shown="BM25", remembered=True,
        help="The ranker, such as 'BM25 >> RM3 >> BM25'.",
    ),
]  # fmt: skip
Rankers = Annotated[
    tuple[str, ...],
    option(
        "-r", "--ranker", metavar="EXPR", completes="expression", bare=True,
        help="A ranker; may be given several times.",
    ),
]  # fmt: skip
HitCount = Annotated[
    int, option("-k", metavar="N", least=1, remembered=True, help="Maximum number of documents per query.")
]
# The hits of a topic in a run, which are more than a person looks at.
RunHits = Annotated[int, option("-k", metavar="N", least=1, help="Maximum number of documents per query.")]
Profile = Annotated[
    str | None,
    option(
        metavar="PROFILE", completes="profile", shown="the index's", remembered=True,
        help="Defaults of the rankers: sublex, anserini, terrier or pisa.",
    ),
]  # fmt: skip
AllowUncovered = Annotated[
    bool,
    option(
        remembered=True,
        help="Rank with fitted models that do not cover all documents. They have no opinion on the others.",
    ),
]
Weighted = Annotated[
    bool,
    option(
        remembered=True,
        help="QUERY is terms of the index with weights, as in 'crane^1 river^0.5'. Expanders give such queries.",
    ),
]
Measures = Annotated[
    tuple[str, ...],
    option(
        "-m", "--measure", metavar="MEASURE", shown="AP nDCG@10 P@10 R@1000 RR Bpref NumRet NumRel",
        help="A measure of ir-measures or trec_eval; may be given several times.",
    ),
]  # fmt: skip
Fields = Annotated[str, option(metavar="FIELDS", help="The fields of a topic that form its query, as in title+desc.")]
Metadata = Annotated[
    Literal["sidecar", "header", "none"],
    option(help="Describe a run in a second file, RUN.yaml; in # lines at its head; or not at all."),
]
Workers = Annotated[int | None, option(metavar="N", least=1, shown="all cores", help="Number of threads.")]
Reader = Annotated[
    str | None,
    option(
        metavar="READER", completes="reader", shown="detected",
        help="The format of the documents, such as jsonl or 'jsonl(id=NAME, text=NAME)'.",
    ),
]  # fmt: skip
Analyzer = Annotated[
    str | None,
    option(metavar="ANALYZER", completes="analyzer", help="How text becomes terms, such as 'english(stop=none)'."),
]
Strict = Annotated[bool, option(help="Stop at the first malformed record.")]
Reorder = Annotated[
    bool, option(help="Put similar documents next to each other, for quicker searches; hits stay the same.")
]
Overwrite = Annotated[bool, option(help="Replace an existing index when the new one is finished.")]
