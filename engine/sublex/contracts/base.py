"""The records that plugins exchange with the engine, and the protocols that plugins implement.

Records are named tuples and dataclasses, such as `Document`, `Query` and `Explanation`. Protocols, such as `Reader`
and `Ranker`, list the methods that the engine calls; a plugin may subclass them or only provide the same methods. This
module computes nothing and imports no heavy package. It holds the whole contract, and so it is longer than most.
`sublex.contracts.fitted` adds the contract of models that are fitted to a collection. `docs/plugins.md` has examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, runtime_checkable

from sublex.contracts.fields import contents_of, other_texts
from sublex.contracts.operators import Condition, Operator
from sublex.errors import InputError
from sublex.forms.frames import data_frame
from sublex.forms.trees import node_text, tree_columns, tree_html, tree_lines
from sublex.tools.arguments import shown
from sublex.tools.hints import resolve_hints
from sublex.tools.messages import counted

if TYPE_CHECKING:
    import numpy as np

    from sublex.contracts.columns import Column
    from sublex.language.functions import StoredDocument

VERSION = "0.1.0.dev2"
# One empty mapping that serves as a default value. Nothing may change it.
NO_FIELDS: Mapping[str, Any] = {}
# The largest score: the largest number that float32 holds.
LARGEST_SCORE = 3.4028234663852886e38


# Readers and analyzers: from files to documents, and from text to terms.


class Document(NamedTuple):
    """A document of a collection, as a reader yields it.

    `docno` is the user's identifier: a string of any length, not empty. `title` and `text` are searched. `fields` holds
    other values to store with the document; JSON must be able to represent them. `searched` has the names of the fields
    whose text is searched too. Sublex sets `searched` for documents that it reads from an index; readers leave it empty.
    """

    docno: str
    text: str
    title: str = ""
    fields: Mapping[str, Any] = NO_FIELDS
    searched: tuple[str, ...] = ()

    @property
    def contents(self) -> str:
        """The text that is indexed: the title, a newline and the text; the text alone if there is no title.

        The fields that `searched` names follow, each after an empty line.
        """
        return "".join([contents_of(self.title, self.text), *other_texts(self.fields, self.searched)])

    def heading(self, most: int = 80) -> str:
        """Return the title, or the beginning of the text if there is none, on one line of at most `most` characters."""
        heading = " ".join((self.title or self.text[: 2 * most]).split())
        return heading if len(heading) <= most else f"{heading[: most - 1]}…"


class Token(NamedTuple):
    """One word of a text, as representations that read word sequences receive it.

    `surface` is the word as it is written. `term` is the indexed form of the word, empty for a stop word. `after_break`
    is true if punctuation or an empty line separates the word from the word before it.
    """

    surface: str
    term: str
    after_break: bool


class Break(IntFlag):
    """The kinds of break before a word, as flags. 0 means that only white space stands before the word.

    HYPHEN is one dash directly between two words, DASH any other dash. COMMA stands for commas, colons and semicolons,
    STOP for the end of a sentence, OPEN and CLOSE for brackets, and OTHER for all other symbols. START marks the first
    word of a document, the first word after its title, and the first word after an empty line.
    """

    HYPHEN = 1
    DASH = 2
    COMMA = 4
    STOP = 8
    QUOTE = 16
    OPEN = 32
    CLOSE = 64
    OTHER = 128
    START = 256


class WordArrays(NamedTuple):
    """The words of some documents, end to end in arrays; stop words are included.

    `docs` has the numbers of the documents, and `ends` (int64) says where the words of each document end. `surfaces`
    (int32) has the number of each word's written form. `terms` (int32) has the place of each word's term in the
    vocabulary, -1 for a stop word. `breaks` (uint16) has the kinds of `Break` before each word.
    """

    docs: np.ndarray
    ends: np.ndarray
    surfaces: np.ndarray
    terms: np.ndarray
    breaks: np.ndarray


@dataclass(frozen=True)
class TextWords:
    """The words of some texts in order, as representations that read words receive them. `len` gives the number of texts.

    `words` (int32) and `breaks` (uint16) have an entry for each word, stop words included, one text after the other. An
    entry of `words` is a place in both `surfaces` and `terms`: `surfaces` has the words as they are written, and
    `terms` their indexed forms, empty for stop words. `breaks` has the kinds of `Break` before each word. `ends`
    (int64) says where the words of each text end.
    """

    surfaces: Sequence[str]
    terms: Sequence[str]
    words: np.ndarray
    breaks: np.ndarray
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, texts: slice) -> TextWords:
        """Return a `TextWords` of the texts in a slice."""
        begin, end, _ = texts.indices(len(self))
        first = int(self.ends[begin - 1]) if begin else 0
        last = int(self.ends[end - 1]) if begin < end else first
        return TextWords(
            self.surfaces, self.terms, self.words[first:last], self.breaks[first:last], self.ends[begin:end] - first
        )


class Problem(NamedTuple):
    """A malformed record: the file, the line on which the record begins (from 1, or 0 if unknown), and the reason."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}" if self.line else f"{self.file}: {self.reason}"


@dataclass
class Report:
    """The observations that a reader collects while it reads.

    `problems` are the malformed records, in the order in which the reader found them. `notes` maps each sentence for
    the user to the number of times that it applies. `fields` counts documents by role and field: `{"docno=id": 12}`
    says that the field `id` gave the docno of 12 documents. `line` is the line on which the last yielded document
    begins, 0 if it is unknown. A reader may set `line` before it yields a document, so that `sublex lint` can name
    lines. With `strict`, the first malformed record is an error.
    """

    strict: bool = False
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    fields: dict[str, int] = field(default_factory=dict)
    line: int = field(default=0, compare=False)

    def malformed(self, file: str, line: int, reason: str) -> None:
        """Record a malformed record. If `strict` is set, raise `InputError` instead, and the build ends."""
        problem = Problem(file, line, reason)
        if self.strict:
            raise InputError(f"{problem} (--strict stops here).")
        self.problems.append(problem)

    def note(self, text: str, times: int = 1) -> None:
        """Add a sentence for the user. If the sentence is there already, only its count rises."""
        self.notes[text] = self.notes.get(text, 0) + times

    def count_field(self, role: str, name: str, times: int = 1) -> None:
        """Count documents whose field `name` in the collection became their `role`: docno, title or text."""
        key = f"{role}={name}"
        self.fields[key] = self.fields.get(key, 0) + times

    def merge(self, other: Report) -> None:
        """Add the problems and counts of another report to this one."""
        self.problems += other.problems
        for mine, theirs in ((self.notes, other.notes), (self.fields, other.fields)):
            for key, times in theirs.items():
                mine[key] = mine.get(key, 0) + times


class Source(Protocol):
    """The input of a reader: a file, a folder, the name of a dataset, or `-` for standard input."""

    path: str

    def open(self) -> BinaryIO:
        """Return the decompressed bytes of the source as a buffered stream."""
        ...


class Example(NamedTuple):
    """A small file of a reader's format, by which `sublex plugin test` checks the reader.

    `name` is the name of the file, and `data` its bytes. `docnos` has the docno of each document in it, in order. For a
    reader of folders, `name` is the name of the folder, and `data` maps the names of the files in it to their bytes.
    """

    name: str
    data: bytes | Mapping[str, bytes]
    docnos: tuple[str, ...]


@runtime_checkable
class Reader(Protocol):
    """A component that turns the files of one format into documents.

    A reader that sets the class attribute `folders = True` receives a folder as one source. Otherwise the engine gives
    it the files below a folder one by one.

    A reader may have the class attribute `examples`, a sequence of `Example`. Only `sublex plugin test` uses it.
    """

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the source has this reader's format.

        If the user names no reader, the engine calls this method of every reader. `head` is the first 64 KiB of the
        decompressed file, and empty for a folder or the name of a dataset.
        """
        ...

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of one source in their order; pass malformed records to `report.malformed`.

        The engine calls it once per source and consumes the documents as a stream, so a reader need not hold them all.
        """
        ...


@runtime_checkable
class Analyzer(Protocol):
    """A component that turns raw tokens into terms, in the same way for documents and queries.

    These methods are optional:

    * `batch(tokens)` analyses a list of raw tokens at once. It returns one string for each token: the token's terms,
      joined by newlines.
    * `settings()` returns `{"name": …, "params": {…}}`, which the index stores to make the analyzer again. By default
      the index stores the name and the parameters that the user wrote.
    * `versions()` returns the versions of the libraries that shape terms, by name. The index stores them.
    * `stages(text)` returns pairs of a stage's name and its words, which `sublex analyze` shows.
    * `letters(text)` returns a text in the letters that terms have, such as lower case. The engine applies it to
      patterns that terms should match, such as `comput*`.

    The attribute `latex` is optional too. If it is true, raw tokens keep LaTeX commands that stand for letters, so that
    `Schr\\"odinger` is one raw token; otherwise a raw token ends before a backslash.
    """

    def terms(self, token: str) -> list[str]:
        """Return the terms of one raw token; an empty list drops the token.

        The terms must depend on the token alone, because the engine calls this once for each distinct raw token. A raw
        token in ASCII is one word. A raw token with other characters is a run without white space, and may hold several
        words. A term must not contain a newline.
        """
        ...


# Parameters, which every registration may declare.


class Resource(str):
    """The value of a parameter that names a file: a path in quotes, or a name registered by `sublex resource add`."""


class Vectors(str):
    """The value of a parameter that names vectors of the index, which `sublex vectors add` has read."""


class Folder(str):
    """The value of a parameter that names a folder of the user, such as the folder of a neural model: a path in quotes.

    An expression that comes from a file of an index must not name a folder.
    """


@dataclass(frozen=True)
class Param:
    """The declaration of one parameter of a component.

    * `type` is bool, int, float, str, tuple (written `[a, b]`), `Resource`, `Folder`, `Vectors`, `sublex.Expression`,
      or object for any value.
    * `default` is the value if the user gives none; the default `...` makes the parameter required. A parameter with
      the default None also accepts None.
    * `stage` says what a change of the value affects: `"fit"` (fitting again), `"encode"` (encoding the documents
      again) or `"query"` (neither).
    * `range` is (lowest, highest) for a number; both ends are allowed unless `open` is true. For any other type,
      `range` lists the choices. For a tuple, `range` applies to each item.
    * `help` is a sentence that says what the parameter does.
    * `only` is a pair: the name of another parameter, and some of its values. The parameter has an effect only if the
      other one has one of these values; otherwise the parameter must keep its default.
    """

    name: str
    type: type
    default: Any
    stage: str = "query"
    range: tuple[Any, ...] | None = None
    help: str = ""
    open: bool = False
    only: tuple[str, tuple[Any, ...]] | None = None


# Rankers: statistics, scores and explanations.


class Statistics(NamedTuple):
    """The numbers of documents, tokens and postings of a collection. Deleted documents do not count.

    A posting is one pair of a document and a distinct term in it.
    """

    docs: int
    tokens: int
    postings: int

    @property
    def mean_length(self) -> float:
        """The mean number of tokens in a document; 0 for an empty collection."""
        return self.tokens / self.docs if self.docs else 0.0


class FieldStatistics(NamedTuple):
    """The statistics of a collection for a ranker with `fields`, over its live documents.

    `docs`, `tokens` and `postings` are as in `Statistics`: they count whole documents. `mean_length` has the mean
    number of tokens of each field, by name; documents in which the field is empty count too.
    """

    docs: int
    tokens: int
    postings: int
    mean_length: Mapping[str, float]


class TermStats(NamedTuple):
    """The document frequency and the collection frequency of a term.

    `df` is the number of documents that hold the term, `cf` the number of its occurrences in all documents; both are at
    least 1. Each is a number, or a float64 array with one item for each of several terms or postings.
    """

    df: Any
    cf: Any


class DocStats(NamedTuple):
    """The statistics of the documents that a ranker scores, as float64 arrays of the same length.

    `length` is the number of tokens, `unique` the number of distinct terms. `norm` is the sum of `Ranker.norm_part`
    over all terms of the document, and None for rankers without `norm_part`. `Ranker.explain` gets numbers in place of
    arrays. For a ranker with `fields`, `length` maps the name of each field to the number of tokens in it.
    """

    length: Any
    unique: np.ndarray
    norm: np.ndarray | None = None


class Explanation(NamedTuple):
    """A value with the parts that it is made of, as a tree.

    `label` names the value for people, with words as they are written and not their stems. `kind` says how parts make
    the value:

    * `"sum"`: the parts add up to the value. A leaf, which has no parts, is of this kind too.
    * `"product"`: the parts multiply to the value.
    * `"scaled"`: the value is a factor times some of the parts, plus an offset. The factor and the offset are leaves
      among the parts.
    * `"evidence"`: the node is shown but does not count towards the value of the node above it.

    `evidence` holds the numbers and texts to show with the node, by name.
    """

    value: float
    label: str
    kind: str = "sum"
    parts: tuple[Explanation, ...] = ()
    evidence: Mapping[str, Any] = NO_FIELDS

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each node: depth, value, label, kind, evidence. pandas must be installed."""
        return data_frame(tree_columns(self))

    def __str__(self) -> str:
        """Return the tree as indented lines."""
        return "\n".join(line.text for line in tree_lines(self))

    def __repr__(self) -> str:
        value, label, _ = node_text(self)
        return f"<Explanation: {value} {label}, {counted(len(self.parts), 'part')}>"

    def _repr_html_(self) -> str:
        return tree_html(self)


class Ranker(Protocol):
    """A weighting model, which computes the score that one term adds to each document that holds the term.

    Subclass it to inherit the defaults; only `score` must be written. The score of a document is the sum, over the
    terms that it shares with the query, of `weight` times `score`. A term that the document lacks adds nothing.

    `lengths = "lucene"` makes the engine pass document lengths rounded to one byte, as Lucene stores them; the mean
    length stays exact. `reads` names the statistics of documents that `score` and `norm_part` read: `"length"`,
    `"unique"`, `"norm"`, by default all three. The engine computes one score for all documents that have equal values
    of these statistics, so a ranker that reads fewer statistics is faster. The ranker gets NaN in place of a statistic
    that `reads` does not name.

    `claims` names properties of the scores, which `sublex plugin test` checks. The engine does not use them.
    `"rises with tf"`: a score never falls when the term frequency grows and all else stays. `"falls with length"`: a
    score never grows when the document gets longer. `"falls with df"`: a score never grows when the term occurs once in
    each of some more documents.

    `norm_part` is None, or a method `norm_part(tf, doc, term, collection)` for rankers that normalise by all terms of a
    document. The engine sums the results over the terms of each document and passes the sum as `doc.norm`. For the
    cosine, `norm_part` returns the squared weight.

    `fields` names the fields of documents whose frequencies and lengths the ranker reads, such as `("title", "text")`;
    by default it names none. The index must have been built with these fields. For such a ranker, `tf` and `doc.length`
    map the name of each field to an array; in `explain`, they map it to a number. `collection` is a `FieldStatistics`,
    whose `mean_length` maps names to numbers too. `term` and `doc.unique` still describe whole documents. If a term
    stands only in fields that the ranker does not name, its frequencies are 0 in all fields of the ranker.
    """

    fields: Sequence[str] = ()
    lengths: str = "exact"
    reads: Sequence[str] = ("length", "unique", "norm")
    claims: Sequence[str] = ()
    norm_part: Callable[[np.ndarray, DocStats, TermStats, Statistics], np.ndarray] | None = None

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        """Return the scores of postings: finite numbers of any sign, in an array of the shape of `tf`.

        `tf` is a float64 array of term frequencies above 0. `doc` has arrays of the same shape. `term` has numbers or
        arrays of the same shape, since one call may score the postings of several terms. Each score may depend only on
        the items at its own place. The engine calls `score` once for all postings with equal `tf` and equal values of
        the statistics in `reads`. The engine keeps the score as float32 and uses it for all later queries.
        """
        ...

    def weight(self, qtf: np.ndarray, term: TermStats, collection: Statistics) -> np.ndarray:
        """Return the weight of each query term, by which the term's scores are multiplied; by default `qtf` itself.

        `qtf` is a float64 array with one item for each term that the index holds: the term's frequency in the query,
        which after expansion may be fractional or negative. `term` has arrays of the same shape. Weights must be
        finite. The engine calls `weight` only if the ranker overrides it.
        """
        return qtf

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        """Return the score of one posting with its parts; the value must equal that of `score`.

        All arguments hold numbers. By default the explanation is one leaf.
        """
        value = float(self.score(tf, doc, term, collection))  # type: ignore[arg-type]
        return Explanation(value, type(self).__name__, evidence=evidence_of(tf, doc, term))


def evidence_of(tf: Any, doc: DocStats, term: TermStats) -> dict[str, Any]:
    """Return the numbers of one posting to show with its score. A ranker with fields has the numbers of each field."""
    if not isinstance(tf, Mapping):
        return {"tf": float(tf), "length": float(doc.length), "df": float(term.df)}
    own = {f"tf in {field}": float(number) for field, number in tf.items()}
    return own | {f"length of {field}": float(doc.length[field]) for field in tf} | {"df": float(term.df)}


# Expanders and filters: queries, and the documents found for them.


class QueryTerm(NamedTuple):
    """One term of a query, its weight, and its origin.

    The origin is `"query"` for the words of the user, or the name of the expander that added the term.
    """

    term: str
    weight: float = 1.0
    origin: str = "query"


class Facet(NamedTuple):
    """A label that a fitted model gives to documents, such as a topic, and the number of documents that have it.

    `number` is the label's place among all labels of the model.
    """

    number: int
    label: str
    docs: int


class ValueCount(NamedTuple):
    """A value of a column, and the number of documents that have it. A date is a text such as "2015-03-01"."""

    value: str | float | int
    docs: int


class Mark(NamedTuple):
    """Words of a document that belong to a label of a fitted model, to be shown in the label's colour.

    `terms` are the words as terms of the index: one term for a word, and several for a phrase, whose words stand side
    by side. `number` and `label` name the label. `weight`, above 0 and at most 1, says how surely or how strongly the
    words belong to the label.
    """

    terms: tuple[str, ...]
    number: int
    label: str
    weight: float = 1.0


class Proposal(NamedTuple):
    """The proposal of a fitted model for one of its topics. People may accept, rename, merge or reject the label.

    `text` identifies the topic, such as the label of its source, so that the engine recognises the topic after the
    model is fitted again. `words` name a topic without a label. `label` is the label that the model has for the topic,
    "" for none. `confidence` says in words how sure the label is, and `shown` whether the model shows it.
    """

    text: str
    words: str
    label: str = ""
    confidence: str = ""
    shown: bool = True


class Evidence(NamedTuple):
    """A reason why an expander changed a query as it did, such as a rejected sense of a word. `sublex explain` shows it.

    `label` describes the reason in words, `value` is its score, and `parts` are further evidence for it.
    """

    label: str
    value: float
    parts: tuple[Evidence, ...] = ()


class GivenVectors(Mapping[str, Any]):
    """The vectors that a user gives for one query. Each is stored under the name of vectors of the index.

    A vector is a float32 array of one dimension. A matrix, which has a row for each token, is an array of two. Weights of
    terms are an array of one dimension, and `tokens` has their terms. Two objects are equal if their names, values and
    terms are equal.
    """

    def __init__(
        self, vectors: Mapping[str, Any], unknown: Mapping[str, str] = MappingProxyType({}),
        tokens: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ):  # fmt: skip
        """Keep `vectors`. `unknown` has the names whose file has no vector of this query, each with words that say so.

        `tokens` has the tokens of matrices, where they are known, and the terms of weights.
        """
        self._vectors, self.unknown, self.tokens = dict(vectors), unknown, tokens

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        return tuple(
            (name, value.shape, value.tobytes() + self._terms(name)) for name, value in sorted(self._vectors.items())
        )

    def weighs(self, name: str) -> bool:
        """Return whether the user gave weights of terms under a name, and not a vector or a matrix."""
        return name in self.tokens and getattr(self._vectors.get(name), "ndim", 0) == 1

    def _terms(self, name: str) -> bytes:
        """Return the terms of weights as bytes. Vectors and matrices have no terms."""
        terms = [term.encode("utf-8", "surrogatepass") for term in self.tokens[name]] if self.weighs(name) else ()
        return b"".join(len(term).to_bytes(4, "little") + term for term in terms)

    @property
    def hash(self) -> str:
        """A hash of the names and values."""
        whole = sha256()
        for name, shape, data in self._identity:
            whole.update(f"{name} {shape} ".encode() + data)
        return whole.hexdigest()

    def __getitem__(self, name: str) -> Any:
        return self._vectors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._vectors)

    def __len__(self) -> int:
        return len(self._vectors)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GivenVectors) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)


class JudgedDocnos(NamedTuple):
    """The documents that somebody judged for a query: the docnos of those with a grade above 0, and of the others."""

    relevant: tuple[str, ...]
    others: tuple[str, ...]


class JudgedDocuments(NamedTuple):
    """The judged documents of a query that the index holds, by their numbers, ascending: the relevant ones, and the others."""

    relevant: np.ndarray
    others: np.ndarray


class _TextAndTerms(NamedTuple):
    """The two fields of a query that comparison and printing use."""

    text: str
    terms: tuple[QueryTerm, ...]


class Query(_TextAndTerms):
    """A query: the user's text, and the weighted terms that stand for it. A term may be a `sublex.contracts.operators.Operator`.

    `text` is plain words. `tree` is the query as it was written in the query language, None for plain words; it has a
    printed form. `condition` is a `sublex.contracts.operators.Condition` that all hits meet, None if there is none.
    After an expander, the engine puts `tree` and `condition` back, and leaves out terms that the condition excludes.

    `given` has the vectors that the user gives for the query, by the name of the vectors of the index; None if the user
    gives no vectors. `judged` has the documents that the user judged, from which expanders learn; None without judgements.
    The engine puts these back after an expander, too.

    `evidence` says how an expander found the terms, and explanations show it. Comparison, the hash, the printed form
    and iteration ignore `evidence` and `tree`: queries with equal text, terms, condition, vectors and judgements are
    equal.
    """

    evidence: tuple[Evidence, ...] = ()
    tree: Any = None
    condition: Condition | None = None
    given: GivenVectors | None = None
    judged: JudgedDocnos | None = None

    def __new__(
        cls, text: str, terms: tuple[QueryTerm, ...], evidence: Iterable[Evidence] = (), tree: Any = None,
        condition: Condition | None = None, given: GivenVectors | None = None, judged: JudgedDocnos | None = None,
    ) -> Query:  # fmt: skip
        if not (condition is None or isinstance(condition, Condition)):
            raise InputError(f"The condition of a query is {shown(condition)}; give a Condition.")
        query = super().__new__(cls, text, terms)
        query.evidence, query.tree, query.condition, query.given = tuple(evidence), tree, condition, given
        query.judged = judged
        return query

    def __eq__(self, other: object) -> bool:
        theirs = getattr(other, "condition", None), getattr(other, "given", None), getattr(other, "judged", None)
        return tuple.__eq__(self, other) and (self.condition, self.given, self.judged) == theirs  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((tuple(self), self.condition, self.given, self.judged))

    def _replace(self, **changes: Any) -> Query:
        """Return the query with some fields replaced."""
        fields = {
            "text": self.text, "terms": self.terms, "evidence": self.evidence, "tree": self.tree, "condition": self.condition,
            "given": self.given, "judged": self.judged,
        }  # fmt: skip
        return Query(**{**fields, **changes})

    def weights(self) -> dict[str, float]:
        """Return the weight of each distinct term. The weights of a repeated term are added up."""
        totals: dict[str, float] = {}
        for term, weight, _ in self.terms:
            totals[term] = totals.get(term, 0.0) + weight
        return totals

    def word_weights(self) -> dict[str, float]:
        """Return the weight of each distinct word. The words of an operator share its weight equally.

        For queries without operators these are the `weights`.
        """
        totals: dict[str, float] = {}
        for term, weight, _ in self.terms:
            words = [*term.terms()] if isinstance(term, Operator) else [term]
            for word in words:
                totals[word] = totals.get(word, 0.0) + weight / len(words)
        return totals


class TermVector(NamedTuple):
    """The distinct terms of a document and their frequencies: two integer arrays of equal length.

    `terms` holds term numbers in ascending order; `Context.names` translates them.
    """

    terms: np.ndarray
    tfs: np.ndarray


class Context(Protocol):
    """The engine's view of one query, which expanders and filters receive: the hits and the collection's statistics.

    Documents and terms have numbers, which hold for this context only. Terms are numbered in the order of their UTF-8
    bytes; `numbers` and `names` translate.
    """

    @property
    def docs(self) -> np.ndarray:
        """The numbers of the documents found, best first, as an int32 array; empty if nothing was found."""
        ...

    @property
    def scores(self) -> np.ndarray:
        """The scores of the documents in `docs`, in the same order, as a float32 array."""
        ...

    @property
    def original(self) -> Query | None:
        """The query before all expanders, with its terms in the order of the text. None in a context without a query."""
        ...

    @property
    def judged(self) -> JudgedDocuments | None:
        """The documents that the user judged for the query; None if the user gave no judgements.

        An expander that learns from documents takes the relevant ones in place of the first documents found.
        """
        ...

    @property
    def collection(self) -> Statistics:
        """The statistics of the collection."""
        ...

    @property
    def live_docs(self) -> np.ndarray:
        """The numbers of all documents of the collection that are not deleted, ascending, as an int64 array."""
        ...

    def documents(self, docs: np.ndarray) -> Sequence[StoredDocument]:
        """Return the stored documents with these numbers, as objects with docno, title, text, fields and contents.

        A document is read when its title, text, fields or contents are first asked for. The index must store texts for
        this; without them, `IndexProblem` is raised.
        """
        ...

    def term_vectors(self, docs: np.ndarray) -> list[TermVector]:
        """Return the term vector of each document. The index must store document terms."""
        ...

    def stats(self, terms: np.ndarray) -> TermStats:
        """Return the document and collection frequencies of the terms with these numbers, as float64 arrays."""
        ...

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """Return the number of each term, -1 for terms that no document holds."""
        ...

    def names(self, numbers: np.ndarray) -> list[str]:
        """Return the terms that have these numbers."""
        ...

    def frequencies(self, term: str, docs: np.ndarray) -> np.ndarray:
        """Return how often each of the documents `docs` holds a term, as an int32 array. A document without the term has 0.

        The term may be an operator; `numbers` takes operators too.
        """
        ...

    def surface(self, term: str) -> str:
        """Return the most frequent written form of a term, to show to people."""
        ...

    def column(self, name: str) -> Column:
        """Return a column of the index: a `sublex.contracts.columns.Column` with the values of each document, by its number.

        Raise `InputError` if the index has no column of this name.
        """
        ...

    def model(self, expression: Any) -> Any:
        """Return a fitted model of the index, a `sublex.contracts.fitted.FittedModel`.

        `expression` is the value of a parameter of type `sublex.Expression` and stage "query". Before the engine runs
        any query, it refuses an expression whose model is not fitted. Raise `InputError` for an expression of a
        component that is never fitted, such as BM25.
        """
        ...


class Expander(Protocol):
    """A component that turns a query into a weighted query.

    `docs` is the number of documents from a first retrieval that the expander needs, 0 for none. The stages before the
    expander find these documents; if the expander stands first, BM25 finds them.

    An expander may also have `first_alone`, a bool: True says that it looks at the first `docs` documents and at no other
    ones, so that the stage before it need not find more.
    """

    docs: int

    def expand(self, query: Query, context: Context) -> Query:
        """Return the new query. The `origin` of each added term is the name of this expander.

        The engine calls it once for each query. Weights must be finite; they may be negative. Return `query` itself if
        there is nothing to add, for example if `context.docs` is empty. `context.docs` may hold more documents than
        `docs` asks for. The expander can put reasons for its changes into the `evidence` of the new query; the
        explanation of this stage shows them.
        """
        ...


class Filter(Protocol):
    """A component that keeps or drops documents.

    `per_document` says that the answer for a document depends on this document alone: not on the query, nor on the
    scores, nor on the other documents in `docs`. It may depend on the collection and on fitted models. The engine then
    asks about a document once, and the stages before the filter find only documents that it keeps. The default is False.
    """

    per_document: bool = False

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return a bool array of the length of `docs`: true for each document to keep.

        `docs` is a read-only int32 array, which may be empty. Without `per_document`, `docs` is `context.docs`; the
        documents that the filter keeps stay in order, with their scores. With `per_document`, `docs` may have any
        documents of the index, and `context.docs` is empty.
        """
        ...


resolve_hints(__name__)
