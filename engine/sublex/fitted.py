"""Plugins that are fitted to a collection, and what the engine hands them. Nothing here does work or imports anything heavy.

A representation is fitted once, gives every document a row, and scores documents by their rows. The engine keeps model and
rows beside the index, publishes the rows of new documents with them, and never lets a plugin touch the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sublex.base import NO_FIELDS, Explanation, Token

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

    from sublex.expression import Expression

# A row a document: a NumPy array, or SciPy's sparse rows.
Rows = Any
# What counts are taken for.
Of = Callable[[Any], Any]


class Store(Protocol):
    """Where a model is kept: arrays of any shape, sparse rows, and values that JSON can hold, each under a name."""

    def put(self, name: str, value: Any) -> None:
        """Keep a value."""
        ...


class Stored(Protocol):
    """What was kept."""

    def get(self, name: str) -> Any:
        """The value kept under a name; arrays are mapped, and writing to them changes nothing on disk."""
        ...


class Job(Protocol):
    """The terms on which a model is fitted and documents are encoded."""

    workers: int
    memory: int
    scratch: Path

    def progress(self, done: int, total: int) -> None:
        """Say how far it is; call it often, since it raises when the user wants to stop."""
        ...

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """The results of work on items, in their order, done by all workers; what is an item must not depend on their number."""
        ...

    def model(self, expression: Expression) -> Any:
        """Another fitted model, one of those that `depends` names."""
        ...

    def resource(self, name: str) -> Path:
        """The file that the value of a parameter of type `Resource` stands for."""
        ...


class Corpus(Protocol):
    """The documents that a model is fitted to, whichever back end holds them; rows and `docs` are in the same order."""

    has: frozenset[str]

    @property
    def docs(self) -> np.ndarray:
        """The numbers of the documents."""
        ...

    @property
    def lengths(self) -> np.ndarray:
        """Their lengths in terms."""
        ...

    @property
    def vocabulary(self) -> list[str]:
        """All terms, ascending by their bytes."""
        ...

    def blocks(self, rows: int = 4096) -> Iterator[csr_array]:
        """The term counts, some documents at a time, as sparse rows over the vocabulary."""
        ...

    def matrix(self, memory: int = 4 << 30) -> csr_array:
        """The same in one matrix, if it fits the memory."""
        ...

    def surface(self, term: str) -> str:
        """The commonest raw form of a term, for people to read."""
        ...

    def analyze(self, text: str) -> list[str]:
        """The terms of a text."""
        ...

    def raw(self, doc: int) -> str:
        """A document's title and text, where `has` says that text is kept."""
        ...

    def sequence(self, doc: int) -> list[Token]:
        """A document's words in order, stop words included, where `has` says that text is kept."""
        ...

    def sequences(self) -> Iterator[list[Token]]:
        """Those of all documents, in the order of `docs`."""
        ...

    def recode(self, vocabulary: Sequence[str]) -> np.ndarray:
        """For each term of the corpus its number in another vocabulary, -1 where it has none."""
        ...


class View(Protocol):
    """An index as a fitted model sees it when it scores: rows, and terms over the model's own vocabulary."""

    def __len__(self) -> int:
        """How many documents it numbers."""
        ...

    def rows(self, docs: np.ndarray | None = None, columns: slice = ...) -> Rows:
        """The rows of documents, or some columns of them; of all, by document number, without `docs`."""
        ...

    def products(self, vector: np.ndarray, docs: np.ndarray | None = None) -> np.ndarray:
        """The products of documents' dense rows with a vector, float64, a document's the same whichever others are asked for."""
        ...

    def dot(self, weights: np.ndarray, docs: np.ndarray | None = None, of: Of | None = None) -> np.ndarray:
        """For each document the sum over its terms of count times the term's weight: one float64 a document.

        With `of`, a function of arrays such as `np.log1p`, what it makes of the counts takes their place.
        """
        ...

    def terms(self, docs: np.ndarray) -> csr_array:
        """The term counts of documents."""
        ...

    def sequence(self, doc: int) -> list[Token]:
        """A document's words in order, where text is kept."""
        ...

    def surface(self, term: str) -> str:
        """The commonest raw form of a term: what explanations show."""
        ...


class Fitted:
    """A model that is fitted to a collection. `version` changes with whatever changes what fitting gives."""

    version: int = 1

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Learn from a collection."""
        raise NotImplementedError

    def save(self, store: Store) -> None:
        """Keep what was learnt."""
        raise NotImplementedError

    def load(self, store: Stored) -> None:
        """Be what was kept."""
        raise NotImplementedError

    def describe(self, view: View) -> Mapping[str, Any]:
        """What people may want to know of the fitted model, in words as `view.surface` gives them: its card."""
        return NO_FIELDS

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """How many bytes fitting takes at most."""
        return 0

    def depends(self) -> Sequence[Expression]:
        """The models that have to be fitted first."""
        return ()


class Representation(Fitted):
    """A fitted model that gives documents rows and scores them by these.

    It reads `"terms"`: sparse rows of counts over its own `vocabulary`, which for queries are weights and may be fractions. Or it
    reads `"sequence"`: a list of a text's words for each text, which for queries is what the user wrote and not what expanders added.
    """

    reads: str = "terms"
    vocabulary: Sequence[str] = ()

    def encode_documents(self, inputs: Any) -> Rows:
        """A row a document: of an array, or sparse."""
        raise NotImplementedError

    def transform(self, inputs: Any) -> Rows:
        """Documents as vectors for use elsewhere; their rows, where these are such."""
        return self.encode_documents(inputs)

    def encode_queries(self, inputs: Any) -> Sequence[Any]:
        """Whatever `score` needs of each query."""
        raise NotImplementedError

    def score(self, query: Any, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """What it says of documents (all, by number, without `docs`); -inf where it has no opinion."""
        raise NotImplementedError

    def explain(self, query: Any, view: View, doc: int) -> Explanation:
        """Take a document's score apart, in words as people write them."""
        raise NotImplementedError

    def word_vectors(self) -> np.ndarray | None:
        """A vector for each word of the vocabulary, for other models to build on; None where it has none."""
        return None
