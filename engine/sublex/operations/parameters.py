"""Parameters that several operations share, so that their names, types, ranges and help are the same everywhere."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from sublex.operations.declaring import option, positional

# The help of --overwrite for a file. With it, -o also replaces files that Sublex did not write.
OVERWRITE_HELP = "Replace a file that is there even if Sublex did not write it, or somebody changed it."
# The help of --judged, for one query and for topics.
JUDGED_HELP = "Judgements from which expanders learn: relevant documents add to the query, others subtract."

# fmt: off
Docno = Annotated[str, positional("DOCNO", completes="docno")]
# One fitted model; files.
Model = Annotated[str, positional("EXPR", completes="model")]
TopicFile = Annotated[str, positional("TOPICS", completes="file", given="topics", remembered=True)]
JudgementFile = Annotated[str, positional("QRELS", completes="file", given="judgements", remembered=True)]
Runs = Annotated[tuple[str, ...], positional("RUN", completes="file", given="runs", remembered=True)]
Sources = Annotated[tuple[str, ...], positional("SOURCE", completes="file")]
DataFile = Annotated[str, positional("FILE", completes="file")]

Ranker = Annotated[str | None, option(
    "-r", "--ranker", metavar="EXPR", completes="expression", shown="BM25", remembered=True,
    help="The ranker, such as 'BM25 >> RM3 >> BM25'.",
)]
Rankers = Annotated[tuple[str, ...], option(
    "-r", "--ranker", metavar="EXPR", completes="expression", bare=True, help="A ranker; may be given several times."
)]
# For a session: the expression that ranks from now on. The expression of the last answer may differ.
Ranking = Annotated[str | None, option(hidden=True, remembered=True)]
# The default number of hits for a person, and for a topic in a run.
HitCount = Annotated[int, option("-k", least=1, remembered=True, help="Maximum number of documents per query.")]
RunHits = Annotated[int, option("-k", least=1, help="Maximum number of documents per query.")]
Profile = Annotated[str | None, option(
    completes="profile", shown="the index's", remembered=True,
    help="Defaults of the rankers: sublex, anserini, terrier or pisa.",
)]
LanguageName = Literal["plain", "query", "weighted"]
Language = Annotated[LanguageName, option(
    remembered=True,
    help="Read queries as plain words, or in the query language: \"stem cells\", +stem -cells, a AND b, stem*; or as terms "
    "with weights: crane^1 river^0.5.",
)]
WeightedTopics = Annotated[bool, option(
    "--weighted", help="Topics are terms of the index with weights, as --language weighted reads them."
)]
AllowUncovered = Annotated[bool, option(
    remembered=True,
    help="Rank with fitted models that do not cover all documents. They give the others no score.",
)]
Contradictions = Annotated[Literal["error", "first", "last", "highest"], option(
    remembered=True,
    help="If a topic judges a document with different grades: refuse the file, or take the first, last or highest grade.",
)]
Measures = Annotated[tuple[str, ...], option(
    "-m", "--measure", metavar="MEASURE", shown="AP nDCG@10 P@10 R@1000 RR Bpref NumRet NumRel",
    help="A measure of ir-measures or trec_eval; may be given several times.",
)]
# Names, separated by commas. An option that is given several times adds names.
Names = Annotated[tuple[str, ...], option(metavar="NAMES")]
GroupedBy = Annotated[tuple[str, ...], option(
    metavar="WHAT", completes="model",
    help="Show groups of topics by length, df, clarity, relevant, judged, agreement, a field of the topics, or the topics of a "
    "fitted model such as 'lda(k=20)'; may be given several times.",
)]
Collapse = Annotated[str, option(
    metavar="FILE", completes="file",
    help="Count one document of each group of near duplicates in FILE, the CSV of sublex duplicates.",
)]
GroupCount = Annotated[int, option(least=2, help="Groups that --by makes of numbers.")]
Fields = Annotated[str, option(help="The fields of a topic that form its query, as in title+desc.")]
Metadata = Annotated[Literal["sidecar", "header", "none"], option(
    help="Describe a run in a second file, RUN.yaml; in # lines at its head; or not at all."
)]
Workers = Annotated[int | None, option(least=1, shown="all cores", help="Number of threads.")]
Seed = Annotated[int, option(least=0, help="Seed of random numbers.")]
Reader = Annotated[str | None, option(
    completes="reader", shown="detected",
    help="The format of the documents, such as jsonl or 'jsonl(id=NAME, text=NAME)'.",
)]
Strict = Annotated[bool, option(help="Stop at the first malformed record.")]
Reorder = Annotated[bool, option(
    help="Put similar documents next to each other, for quicker searches; hits stay the same."
)]
Overwrite = Annotated[bool, option(help="Replace an existing index when the new one is finished.")]

Launcher = Annotated[Literal["embedded", "processes"], option(
    help="Search the shards of a cluster in this process, or in processes of their own."
)]
Partial = Annotated[bool, option(
    help="With --launcher processes: if shards do not answer, go on without their documents, and say so in the run."
)]

OverwriteFile = Annotated[bool, option("--overwrite", help=OVERWRITE_HELP)]

QueryVectors = Annotated[tuple[str, ...], option(
    "--queries", metavar="NAME=FILE", completes="file", remembered=True,
    help="Vectors of queries for the vectors NAME of the index, by topic or by text; may be given several times.",
)]

# Judgements as feedback, and what is left out to measure it.
JudgedFeedback = Annotated[str, option(
    "--judged", metavar="QRELS", completes="file", remembered=True,
    help=JUDGED_HELP,
)]
Residual = Annotated[str, option(
    "--residual", metavar="QRELS", completes="file",
    help="Leave out the documents that QRELS judges, such as those of --judged: the residual collection.",
)]


class Asked(NamedTuple):
    """The parameters of an operation on one query: the query, the way to rank it, and facts that a session knows.

    `without` is the docno of a document that is left out of the hits, because the query asks for documents like it.
    """

    query: Annotated[str, positional("QUERY", completes="word", remembered=True)]
    ranker: Ranker = None
    k: HitCount = 10
    profile: Profile = None
    allow_uncovered: AllowUncovered = False
    weighted: Annotated[bool, option(
        remembered=True,
        help="QUERY is terms of the index with weights, as in 'crane^1 river^0.5'. Expanders give such queries.",
    )] = False
    language: Language = "plain"
    without: Annotated[str, option(hidden=True, remembered=True)] = ""
    queries: QueryVectors = ()
    judged: Annotated[str, option(
        metavar="QRELS", completes="file", given="judgements", remembered=True,
        help=JUDGED_HELP,
    )] = ""
    qid: Annotated[str, option(
        metavar="QID", remembered=True, help="The topic whose judgements in --judged are those of QUERY."
    )] = ""
