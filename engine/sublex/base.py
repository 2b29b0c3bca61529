"""Records and the protocols of the plug-in kinds. Nothing here does work or imports anything heavy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, runtime_checkable

from sublex.errors import InputError

if TYPE_CHECKING:
    import numpy as np

VERSION = "0.1.0.dev0"
NO_FIELDS: Mapping[str, Any] = {}


class Document(NamedTuple):
    """One document: the user's id, an optional title, the text, and any other fields to store."""

    docno: str
    text: str
    title: str = ""
    fields: Mapping[str, Any] = NO_FIELDS

    @property
    def contents(self) -> str:
        """What is indexed: title, newline, text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


class Token(NamedTuple):
    """A word of a text as written, its term (empty for a stop word), and whether punctuation stands before it."""

    surface: str
    term: str
    pause: bool


class Problem(NamedTuple):
    """A record that could not be read: where, and why."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass
class Report:
    """What a reader noticed: malformed records, notes a user should see, the fields it took.

    `line` is where the document that was read last begins, 0 from readers that do not tell.
    """

    strict: bool = False
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    fields: dict[str, int] = field(default_factory=dict)
    line: int = field(default=0, compare=False)

    def malformed(self, file: str, line: int, reason: str) -> None:
        """Record a malformed record; under `strict` it ends the build."""
        problem = Problem(file, line, reason)
        if self.strict:
            raise InputError(f"{problem} (--strict stops here).")
        self.problems.append(problem)

    def note(self, text: str, times: int = 1) -> None:
        """Say something once, with how often it happened."""
        self.notes[text] = self.notes.get(text, 0) + times

    def used(self, role: str, name: str, times: int = 1) -> None:
        """Count that the collection's field `name` served as `role` (docno, title or text)."""
        key = f"{role}={name}"
        self.fields[key] = self.fields.get(key, 0) + times

    def merge(self, other: Report) -> None:
        """Add what another report holds."""
        self.problems += other.problems
        for mine, theirs in ((self.notes, other.notes), (self.fields, other.fields)):
            for key, times in theirs.items():
                mine[key] = mine.get(key, 0) + times


class Source(Protocol):
    """A file, folder, dataset name or standard input that a reader reads."""

    path: str

    def open(self) -> BinaryIO:
        """The bytes, decompressed, as a stream."""
        ...


@runtime_checkable
class Reader(Protocol):
    """Turns the files of one format into documents, one at a time."""

    def detect(self, path: str, head: bytes) -> bool:
        """Whether this looks like the reader's format; `head` is empty for a folder or a dataset name."""
        ...

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Stream the documents of one source; malformed records go to the report."""
        ...


@runtime_checkable
class Analyzer(Protocol):
    """Turns raw tokens into terms, the same for documents and queries.

    It may also have `batch(tokens)`, many tokens at once (see `sublex.analysis.tokens.terms_of`); `settings()`, the
    `{"name": …, "params": {…}}` to store in place of what the user wrote; `versions()`, of the parts that shape terms;
    and `stages(text)` for `sublex analyze`.
    """

    def terms(self, token: str) -> list[str]:
        """The terms of one raw token; depends on the token alone, so it is asked once for each distinct one."""
        ...


class Resource(str):
    """A file that a fitted model reads: a path in quotes, or the name that `sublex resource add` gave it in an index."""


@dataclass(frozen=True)
class Param:
    """One declared parameter of a plug-in.

    The type is bool, int, float, str, tuple (written `[a, b]`), `Resource`, `sublex.Expression`, or object for anything. The
    default `...` says that the parameter must be given. The range of a number is (lowest, highest), `open` when it excludes
    both; of anything else, the choices. It holds for each item of a tuple.
    """

    name: str
    type: type
    default: Any
    stage: str = "query"
    range: tuple[Any, ...] | None = None
    help: str = ""
    open: bool = False


class Statistics(NamedTuple):
    """Of a collection's live documents: how many, their tokens, their postings, and the mean length."""

    docs: int
    tokens: int
    postings: int

    @property
    def mean_length(self) -> float:
        return self.tokens / self.docs if self.docs else 0.0


class TermStats(NamedTuple):
    """In how many documents a term occurs, and how often in all of them: numbers, or arrays for several terms."""

    df: Any
    cf: Any


class DocStats(NamedTuple):
    """Of the documents scored, as arrays: tokens, distinct terms, and the sum of `Ranker.norm_part` over all their terms."""

    length: np.ndarray
    unique: np.ndarray
    norm: np.ndarray | None = None


class Explanation(NamedTuple):
    """A value taken apart.

    The parts of a `sum` add up to the value and those of a `product` multiply to it; those of `scaled` explain it up to a factor
    and an offset, which are leaves of their own. A part of kind `evidence` is shown and counted in neither.
    """

    value: float
    label: str
    kind: str = "sum"
    parts: tuple[Explanation, ...] = ()
    evidence: Mapping[str, Any] = NO_FIELDS


class Ranker(Protocol):
    """A weighting model: what one term adds to the score of each document that holds it. Subclass it for the defaults.

    With `lengths = "lucene"` the lengths it sees are rounded as Lucene stores them, in one byte; the mean stays exact. Where
    `norm_part` is set, `norm_part(tf, doc, term, collection)` is summed over all terms of each document and handed back as `doc.norm`.
    """

    lengths: str = "exact"
    norm_part: Callable[[np.ndarray, DocStats, TermStats, Statistics], np.ndarray] | None = None

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        """The scores of documents that hold a term `tf` times each (float64, above 0); finite, of any sign."""
        ...

    def weight(self, qtf: np.ndarray, term: TermStats, collection: Statistics) -> np.ndarray:
        """What the scores of the query's terms are multiplied by; `qtf`, which may be fractional or negative, itself if by that."""
        return qtf

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        """Take the score of one document apart; here `doc` holds numbers."""
        value = float(self.score(tf, doc, term, collection))  # type: ignore[arg-type]
        return Explanation(value, type(self).__name__, evidence={"tf": tf, "length": doc.length, "df": term.df})


class QueryTerm(NamedTuple):
    """One term of a query: how strongly it is asked for, and where it comes from."""

    term: str
    weight: float = 1.0
    origin: str = "query"


class Query(NamedTuple):
    """What is asked: the user's words, and the terms they have become."""

    text: str
    terms: tuple[QueryTerm, ...]

    def weights(self) -> dict[str, float]:
        """The weight of each term, repetitions added up."""
        found: dict[str, float] = {}
        for term, weight, _ in self.terms:
            found[term] = found.get(term, 0.0) + weight
        return found


class Vector(NamedTuple):
    """A document's terms by number, with their frequencies."""

    terms: np.ndarray
    tfs: np.ndarray


class Context(Protocol):
    """What an expander may look at: the documents of a first retrieval, best first, and the collection's statistics.

    Terms have numbers here, which `numbers` and `names` translate.
    """

    @property
    def docs(self) -> np.ndarray:
        """The documents found, best first."""
        ...

    @property
    def scores(self) -> np.ndarray:
        """Their scores."""
        ...

    @property
    def collection(self) -> Statistics:
        """The statistics of the collection."""
        ...

    @property
    def live(self) -> np.ndarray:
        """All documents of the collection."""
        ...

    def vectors(self, docs: np.ndarray) -> list[Vector]:
        """The terms of documents."""
        ...

    def stats(self, terms: np.ndarray) -> TermStats:
        """Document and collection frequencies, as arrays."""
        ...

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """The numbers of terms, -1 for those that no document holds."""
        ...

    def names(self, terms: np.ndarray) -> list[str]:
        """The terms of numbers."""
        ...


class Expander(Protocol):
    """Turns a query into a weighted query. `docs` is how many documents of a first retrieval it looks at, 0 for none."""

    docs: int

    def expand(self, query: Query, context: Context) -> Query:
        """The new query; every added term says in `origin` where it comes from."""
        ...


class Filter(Protocol):
    """Keeps or drops documents that were found."""

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """For each of the documents whether it is kept; the context is what was found, with these documents."""
        ...
