"""The contracts between the engine and plugins that are fitted to a collection.

A plugin subclasses `Fittable` (an expander or filter that learns) or `Representation` (a model that gives documents rows and scores them).
The engine passes it the objects described by the protocols here. The engine writes all files; a plugin never touches the disk.
This module only declares, and imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from sublex.contracts.base import (
    NO_FIELDS,
    Explanation,
    Facet,
    Mark,
    Param,
    Proposal,
    Statistics,
    TextWords,
    Token,
    WordArrays,
)
from sublex.contracts.labels import count_labels, find_label
from sublex.contracts.stored import Declared, Numbers
from sublex.tools.hints import resolve_hints

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

    from sublex.language.expression import Expression

# One row per document: a NumPy array, or SciPy's sparse rows; or a matrix per document.
Rows = Any
# A function applied to an array of term counts before they are summed, such as `np.log1p`.
CountTransform = Callable[[Any], Any]
# The weights of all terms of a vocabulary; or a function that returns the weights of some terms, given their distinct numbers.
Weights: TypeAlias = "np.ndarray | Callable[[np.ndarray], np.ndarray]"
# The parameter of a representation whose scores are cosines. The factory of the representation keeps the value in the
# attribute `find`.
FIND = Param(
    "find", str, "exact", range=("exact", "approximate"), help="find all of the best documents, or nearly all, faster"
)
# An empty mapping, for a model whose labels have no names from people.
NO_NAMES: Mapping[int, Any] = MappingProxyType({})
# Parameters of models that leave out rare and common words.
MIN_DF = Param("min_df", int, 2, stage="fit", range=(1, 10**9), help="the fewest documents that a word must occur in")
MAX_DF = Param(
    "max_df", float, 0.1, stage="fit", range=(0, 1), help="the largest share of documents that a word may occur in"
)


class Store(Protocol):
    """The place where `Fittable.save` puts the values that a model has learned, under names."""

    def put(self, name: str, value: Any) -> None:
        """Store an array of numbers of any shape, SciPy's sparse rows, or a value that JSON can hold.

        The name is an identifier that has not been used in this store.
        """
        ...


class Stored(Protocol):
    """The place where `Fittable.load` gets the values that `save` put into a `Store`."""

    def get(self, name: str) -> Any:
        """Return the value stored under a name. Arrays are mapped into memory; writing to them changes nothing on disk."""
        ...


class Job(Protocol):
    """The means to fit a model: threads, bytes of memory, and a scratch folder that is deleted afterwards.

    `given` is a `sublex.vectors.stored.GivenSet` for a model that reads "rows"; None for others.
    BLAS runs on one thread during a job. The bytes of the result must be the same for any number of workers.
    """

    workers: int
    memory: int
    scratch: Path
    given: Any

    def progress(self, done: int, total: int, unit: str = "steps") -> None:
        """Report progress. `unit` says what is counted, such as "documents" or "sweeps".

        Call this method often. If the user wants to stop, the call raises an exception, which must not be caught.
        """
        ...

    def say(self, text: str) -> None:
        """Tell the user a sentence about the fit, such as data that is too small."""
        ...

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item, in the order of the items. The workers, which are threads, share the items.

        Items must not depend on the number of workers; otherwise the results depend on it too.
        """
        ...

    def model(self, expression: Expression) -> Any:
        """Return another fitted model; `depends` must name its expression."""
        ...

    def resource(self, name: str) -> Path:
        """Return the path of a file. `name` is the value of a parameter of type `sublex.contracts.base.Resource`."""
        ...


class Words(Protocol):
    """The words of all documents of a corpus, as arrays."""

    @property
    def surfaces(self) -> list[str]:
        """The written form of each word, by its number. The list is complete after the last block."""
        ...

    def blocks(self, run: Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]] = ...) -> Iterator[WordArrays]:
        """Yield the words of all documents, some documents at a time.

        `run` applies a function to items, as the built-in `map` does. With `job.map` as `run`, the workers share the
        work.
        """
        ...


class Corpus(Protocol):
    """The documents that a model is fitted to.

    Deleted documents are left out. Rows, `docs` and `lengths` have the same order.
    """

    @property
    def has(self) -> frozenset[str]:
        """The parts of documents that the index stores: any of "text", "terms" and "positions"."""
        ...

    @property
    def docs(self) -> np.ndarray:
        """The numbers of the documents, ascending."""
        ...

    @property
    def lengths(self) -> np.ndarray:
        """The length of each document in terms, int64."""
        ...

    @property
    def vocabulary(self) -> list[str]:
        """All terms, in the order of their bytes."""
        ...

    def blocks(self, rows: int = 4096) -> Iterator[csr_array]:
        """Yield the term counts as sparse rows over the vocabulary, `rows` documents at a time."""
        ...

    def matrix(self, memory: int = 4 << 30) -> csr_array:
        """Return the term counts of all documents as one matrix; raise `SublexError` if it needs more bytes than `memory`."""
        ...

    def surface(self, term: str) -> str:
        """Return the most frequent raw form of a term, to show to people."""
        ...

    def analyze(self, text: str) -> list[str]:
        """Return the terms of a text, as the index's analyzer makes them."""
        ...

    def raw(self, doc: int) -> str:
        """Return a document's title and text; the index must store text."""
        ...

    def sequence(self, doc: int) -> list[Token]:
        """Return a document's words in order, stop words included; the index must store text."""
        ...

    def sequences(self) -> Iterator[list[Token]]:
        """Yield the words of each document, in the order of `docs`. This is faster than calls of `sequence`."""
        ...

    def words(self) -> Words:
        """Return the words of all documents as arrays; much faster than `sequences`. The index must store text."""
        ...

    def recode(self, vocabulary: Sequence[str]) -> np.ndarray:
        """Return for each term of the corpus its position in another vocabulary (int32), -1 for terms that are not in it."""
        ...


class View(Protocol):
    """An index as a fitted model sees it when it scores: documents by number, and terms over the model's own vocabulary.

    Methods take the numbers of documents as the integer array `docs`, and return one item per document in the order of
    `docs`. If `docs` is None, they return one item for every number from 0 to `len(view) - 1`, deleted documents
    included.
    """

    def __len__(self) -> int:
        """Return the number of documents, deleted ones included."""
        ...

    def rows(self, docs: np.ndarray | None = None, columns: slice = ...) -> Rows:
        """Return the rows that `encode_documents` gave to documents, or some of their columns.

        If `docs` is None and the index has several segments, the rows are copied. `products` and `map_rows` copy
        nothing.
        """
        ...

    def map_rows(self, function: Callable[[Rows], np.ndarray], docs: np.ndarray | None = None) -> np.ndarray:
        """Return `function(rows)`, an array with one item for each document.

        The function gets the rows of one segment at a time; if `docs` is None, the rows are mapped into memory and not
        copied. An item must depend on its own row alone.
        """
        ...

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute()`, such as the norms of all rows.

        The engine calls `compute` once while the index stays open.

        `name` has to contain the name of the plugin, so that two plugins never use the same name. Models that differ
        only in parameters of the stage query share the values.
        """
        ...

    def products(self, vector: np.ndarray, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the product of each document's row, dense or sparse, with a vector, float64.

        The product of a document does not depend on the other documents in `docs`. A product of matrices would not
        promise this.
        """
        ...

    def dot(
        self, weights: Weights, docs: np.ndarray | None = None, transform_counts: CountTransform | None = None
    ) -> np.ndarray:
        """Return one sum for each document (float64): its terms' counts, each multiplied by the weight of the term.

        `weights` has one weight per term of the model's vocabulary. It may also be a function that returns the weights
        of some terms, given their distinct numbers: if `docs` are few, the function is called for the terms of these
        documents alone. `transform_counts`, such as `np.log1p`, is applied to an array of counts (float64) before they
        are multiplied. The index must store terms.
        """
        ...

    def terms(self, docs: np.ndarray) -> csr_array:
        """Return the term counts of documents as sparse rows over the model's vocabulary; the index must store terms."""
        ...

    def lengths(self, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the number of terms of each document (float64). Terms that the model does not know count too."""
        ...

    def counts(self, word: int, docs: np.ndarray | None = None) -> np.ndarray:
        """Return how often a term occurs in each document (float64).

        `word` is the term's number in the model's vocabulary.

        The counts come from the posting list of the term, so the index need not store terms.
        """
        ...

    def counts_of(self, words: np.ndarray, docs: np.ndarray | None = None) -> np.ndarray:
        """Return how often each of some distinct terms occurs in each document: the results of `counts`, as rows.

        For a few documents, this is faster than `counts` if the index stores terms.
        """
        ...

    def sequence(self, doc: int) -> list[Token]:
        """Return a document's words in order, stop words included; the index must store text."""
        ...

    def words(self, doc: int) -> TextWords:
        """Return the words of one document, as a representation that reads "words" gets them; the index must store text."""
        ...

    def surface(self, term: str) -> str:
        """Return the most frequent raw form of a term; explanations show it in place of the stem."""
        ...

    def docno(self, doc: int) -> str | None:
        """Return the docno of a document; None for a deleted one."""
        ...

    def text(self, doc: int) -> str | None:
        """Return the title and the text of a document; None where the index stores no text."""
        ...

    def terms_of(self, text: str) -> set[str]:
        """Return the terms that the analyzer of the index makes of a text."""
        ...

    def title(self, doc: int) -> str:
        """Return the title of a document, or the beginning of its text; an empty string where the index stores no text."""
        ...


class FittedModel(Protocol):
    """A fitted model of the index, as filters and expanders get it from `sublex.contracts.base.Context.model`.

    `name` is its expression, `model` the plugin's object, and `view` the index as this model sees it, with the rows of the documents.
    The view has the same document numbers as the context.
    """

    name: str
    model: Any
    view: View

    @property
    def labels(self) -> Sequence[str]:
        """The names that the model gives to its topics or keyphrases; empty for a model that names nothing."""
        ...

    def label_shares(self, docs: np.ndarray) -> csr_array:
        """Return how much of each label each document has, as `Representation.label_shares` does."""
        ...


def share_of_label(model: FittedModel, wanted: str | int, docs: np.ndarray, noun: str) -> np.ndarray:
    """Return the share of a label in each document, as a float array.

    `wanted` names the label by its text or its number, and `noun` names it in messages, as in
    `sublex.contracts.labels.find_label`.
    """
    number = find_label(wanted, model.labels, noun, model.name)
    return model.label_shares(docs)[:, [number]].toarray()[:, 0]


class Cost(NamedTuple):
    """The approximate cost of fitting a model: seconds on one core, and the bytes of the model and of its rows on disk."""

    seconds: float
    nbytes: float


class Fittable:
    """The base class of a plugin's models, fitted to a collection once and named by an expression such as `lsi(e=100)`.

    The engine makes an unfitted object by calling the registered factory with the value of every parameter. It then
    calls either `fit` and `save`, or `load`. A `FittedModel` joins the object and the index to which it is fitted.
    `version` is part of the model's name on disk: raise it whenever a change of the code changes the result of fitting
    or encoding.
    """

    version: int = 1

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Learn from a collection and keep the result in attributes.

        The engine calls it once per `sublex fit`, while it holds the index's lock. Call `job.progress` often. Any exception ends the
        fit and leaves the index as it was.
        """
        raise NotImplementedError

    def save(self, store: Store) -> None:
        """Put what `fit` learned into a store. The engine calls it right after `fit`, and `load` right after that."""
        raise NotImplementedError

    def load(self, store: Stored) -> None:
        """Restore the model from what `save` put into the store.

        The engine calls it on an unfitted model, in this process or in another, before the model is used. The values
        fit what `declares` says of them. Without a declaration, only their checksums are verified, which anybody can
        compute.
        """
        raise NotImplementedError

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each value that `save` stores, by name: its shape, type and range.

        The engine calls it on an unfitted model before `load`, and refuses a stored model whose values do not fit.
        `load` then gets the declared values alone. `sublex.contracts.stored` has the declarations. By default nothing
        is declared or checked.
        """
        return NO_FIELDS

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return facts about the fitted model that JSON can hold; `sublex card` shows them. `view.surface` gives words for terms."""
        return NO_FIELDS

    def known_terms(self) -> Collection[str]:
        """Return the terms that the model knows. The model ignores a query word whose term is not among them.

        Searches and explanations name the ignored words and say why. An empty collection, the default, means that the
        model ignores no word.
        """
        return ()

    def page(self, view: View, title: str) -> str:
        """Return an HTML page that shows the fitted model; `sublex card -o FILE` writes it.

        By default there is no page. A page needs no other file and no network. `sublex.forms.pages.html_page` makes one.
        """
        return ""

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the largest number of bytes of memory that `fit` may take.

        The engine calls it before `fit`, and refuses to fit if the estimate exceeds `--memory`.
        """
        return 0

    def cost(self, collection: Statistics, terms: int) -> Cost | None:
        """Return the approximate cost of fitting to a collection with this number of terms; None, the default, if it is unknown.

        `sublex fit` tells the user the cost before it fits the models of a pipeline.
        """
        return None

    def depends(self) -> Sequence[Expression]:
        """Return the expressions of the models that must be fitted first.

        The engine calls it on the unfitted model. `fit` gets these models from `job.model`. The model has to store the
        parts of them that it uses later.
        """
        return ()


class Smoother(Fittable):
    """A fitted stage that scores hits by their own scores and by the scores of the documents near them.

    Two documents are near if the cosine of their vectors is high. Another representation computes the vectors; `over`
    names it. `sublex fit` finds the nearest documents of each document and keeps them as a graph, and the engine
    keeps the graph up to date. So a smoother has no `fit`, unless it learns more.

    `k` is the number of near documents, 16 at most, that `smooth` gets with each document. With `add`, the near documents
    of the hits are scored too, so the smoother adds documents that the stages before it did not find. The parameter `over`
    is of the stage fit. `k`, `add` and all other parameters that change only scores are of the stage query.
    """

    over: Expression
    k: int = 10
    add: bool = False

    def depends(self) -> Sequence[Expression]:
        """Return the representation of the vectors. A smoother that names more models returns `over` too."""
        return (self.over,)

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Learn nothing. The engine finds the near documents afterwards."""

    def save(self, store: Store) -> None:
        """Store nothing. The engine stores the near documents."""

    def load(self, store: Stored) -> None:
        """Restore nothing."""

    def smooth(self, scores: np.ndarray, near: np.ndarray, cosines: np.ndarray) -> np.ndarray:
        """Return the new scores of documents, as a float array.

        `scores` has the documents' scores from the stage before. `near` and `cosines` have a row of `k` numbers for each
        document: the scores of its near documents, nearest first, and their cosines. All are float64. If a document has
        fewer near documents, its row ends with cosines of 0. A document that the stage before did not find gets the score
        of the lowest hit. A new score must not depend on the other documents. The engine calls the method from several
        threads.
        """
        raise NotImplementedError

    def explain(self, score: Explanation, near: Mapping[str, Explanation], cosines: Sequence[float]) -> Explanation:
        """Return the new score of a document as a tree of parts that add up to it.

        `score` is the document's score from the stage before. `near` has the scores of its near documents by docno,
        nearest first, and `cosines` their cosines, which are above 0. The method is optional. Without it, the explanation
        is one leaf, which says that the plugin explains nothing.
        """
        raise NotImplementedError


class Representation(Fittable):
    """A fitted model that gives each document a row and scores documents for a query by their rows.

    `reads` says what the inputs of `encode_documents`, `encode_queries` and `transform` are:

    * `"terms"`: a `csr_array` of float64 with one row per text and one column per term of `vocabulary`. Documents have counts. Queries
      have weights, which may be fractional or negative and include the terms that expanders added.
    * `"sequence"`: a list with one list of `sublex.contracts.base.Token` per text, stop words included. A query is read as the
      user wrote it, without the terms that expanders added. The index must store text, and `vocabulary` may stay empty.
    * `"rows"`: rows that `sublex vectors add` stored in the index. `transform` gets these rows. A document that was added
      to the index later has no row: `encode_documents` gets its number of words, and returns a row without a vector. A
      query is a `sublex.contracts.base.Query`, with the vectors that the user gives.
    * `"words"`: a `sublex.contracts.base.TextWords`, the words of all texts as arrays with the kinds of break before
      them. Queries and the stored text are as for `"sequence"`; reading is faster.

    `vocabulary` lists the model's terms; `fit` and `load` set it. A model whose `labels` name its topics or keyphrases
    works with filters, facets and marks; a document has a label if its share of the label is at least `least_share`. If
    labels depend on a parameter of the stage query, `labels_name` has to contain the value of the parameter, because
    models that differ only in such parameters share a view.

    If the method `proposals` is implemented, people may name and reject labels. The engine then sets `named`: it maps the
    number of a label to the name that people gave it, or to None if they rejected it. `labels`, explanations, marks and
    cards have to use these names. The engine itself joins labels that people merged; `merged` maps a merged label to the
    label that it joins.

    `row_values` declares a document's row: its shape, `()` for one number, its type and range; `load` may set it. The engine then
    refuses other stored rows, before `score` sees them. `row_shape` declares the shape alone.

    `cosines` says that a score is the cosine of two vectors, to within 0.000001: of `query_vector`, and of the document's
    vector in `document_vectors`. If one of the vectors is 0, the score is -inf. The engine then finds the best documents
    of a large index without scoring all of them. `find` is the value of the parameter `FIND`, if the representation
    declares this parameter.

    `similarity` says how the score follows from q, the result of `query_vector`, and x, a vector of `document_vectors`.
    "cosine": it is their cosine, to within 0.000001. "dot": it is their product, to within 0.000001 |q||x|. "l2": it is
    minus their squared distance, to within 0.000001 (|q| + |x|)². A document whose vector is 0 may have a score, or -inf.
    A representation with `similarity` leaves `cosines` False. If models share their rows and differ only in `similarity`,
    the engine computes the vectors once for all of them.

    `sums` says that rows are sparse, and that a score is a sum of products, one for each column that the query and the
    document share. A product is the weight from `query_weights` times the weight from `posting_weights`. A document that
    shares no column has no score. The engine keeps a posting list for each column, finds and scores documents by these
    lists, exactly, and does not call `score`. The columns are terms of a term space, which is separate from the words of
    the index.
    """

    reads: str = "terms"
    vocabulary: Sequence[str] = ()
    least_share: float = 0.2
    labels_name: str = "labels"
    row_shape: tuple[int, ...] | None = None
    row_values: Numbers | None = None
    cosines: bool = False
    similarity: str = ""
    find: str = "exact"
    sums: bool = False
    named: Mapping[int, str | None] = NO_NAMES
    merged: Mapping[int, int] = NO_NAMES

    def known_terms(self) -> Collection[str]:
        """Return the terms that the model knows, by default the terms of `vocabulary`."""
        return self.vocabulary

    def covers(self, view: View) -> np.ndarray | None:
        """Return for each document, by its number, whether its row says anything about the document; None if all rows do.

        A document whose row says nothing is uncovered. A representation that reads "rows" has to implement this method.
        """
        return None

    def encode_documents(self, inputs: Any) -> Rows:
        """Return one row for each text of `inputs`.

        The engine calls it, from several threads, with blocks of documents after a fit and whenever documents are
        added. Rows are an array of one or two dimensions, of whole numbers or floats. They may also be SciPy's sparse
        rows, or `sublex.vectors.matrices.Matrices` with a matrix for each text. All numbers are finite. Type and width are
        the same in every call. A row must not depend on the other texts of the block.
        """
        raise NotImplementedError

    def transform(self, inputs: Any) -> Rows:
        """Return one vector for each text of `inputs`, for use in other programs. By default the vectors are the rows.

        `sublex encode` writes the vectors.
        """
        return self.encode_documents(inputs)

    def has_vectors(self, inputs: Any) -> np.ndarray | None:
        """Return for each text of `inputs` whether `transform` has a vector of it; None if it has vectors of all texts."""
        return None

    def column_names(self) -> Sequence[str]:
        """Return the names of the columns of the sparse vectors that `transform` returns. There are none if columns have no names.

        `sublex encode` writes them, and leaves out documents without an entry.
        """
        return ()

    def document_vectors(self, inputs: Any) -> np.ndarray:
        """Return the vectors that `cosines` and `similarity` compare, one for each text of `inputs`, as a dense array.

        A graph of near documents compares them, too. If the representation has no such scores, they may be sparse rows.
        By default they are the vectors that `transform` returns. The engine calls it after documents were encoded, from
        several threads.
        """
        vectors: np.ndarray = self.transform(inputs)
        return vectors

    def query_vector(self, query: Any) -> np.ndarray:
        """Return the vector of an object that `encode_queries` returned.

        A representation with `cosines` or a `similarity` has to implement it.
        """
        raise NotImplementedError

    def posting_weights(self, rows: csr_array) -> csr_array:
        """Return the weights of the documents with these rows, as sparse rows of float32. With `sums`, all weights are above 0.

        The weights depend only on the rows and the fitted model, and not on parameters of the stage query. The result has
        the same columns as the rows, but no entries that stand for no term, such as marks. By default the weights are the
        rows.
        """
        return rows

    def query_weights(self, query: Any) -> Mapping[int, float]:
        """Return the weights of an object that `encode_queries` returned, by the numbers of columns.

        A representation with `sums` has to implement it.
        """
        raise NotImplementedError

    def encode_queries(self, inputs: Any) -> Sequence[Any]:
        """Return one object of any kind for each query of `inputs`.

        The engine passes the object to `score` and `explain`.

        The engine calls it with one query at a time. A query may be empty.
        """
        raise NotImplementedError

    def score(self, query: Any, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return one score for each document of `docs`, as a float array.

        If `docs` is None, the array has the scores of all documents, by number.

        `query` is an object that `encode_queries` returned. The score -inf means "no opinion on this document"; all other scores are
        finite. A document's score must not depend on the other documents. The engine calls it from several threads.
        """
        raise NotImplementedError

    def explain(self, query: Any, view: View, doc: int) -> Explanation:
        """Return a document's score as a tree of parts that add up to it.

        The engine calls it for a document that has a score. Label parts with `view.surface(term)`, so that people read words and not
        stems. The engine refuses an explanation whose value differs from the score by more than 0.001 (0.1 % of a score above 1).
        The method is optional. Without it, the explanation is one leaf, which says that the plugin explains nothing.
        """
        raise NotImplementedError

    def word_vectors(self) -> np.ndarray | None:
        """Return one vector for each term of `vocabulary`, for other models to build on; None if the model has no such vectors."""
        return None

    def labels(self, view: View) -> Sequence[str]:
        """Return the names that the model gives to its topics, senses or keyphrases; an empty list if it names nothing.

        A label's place is its number. Users name a label by its text or its number, in filters and commands. The engine calls
        the method once for each view and `labels_name`.
        """
        return ()

    def proposals(self, view: View) -> Sequence[Proposal]:
        """Return a proposal for each label of the model, as it is before people change anything.

        By default it proposes nothing, and people cannot name or reject its labels.
        """
        return ()

    def label_shares(self, view: View, docs: np.ndarray) -> csr_array:
        """Return how much of each label each document has, from 0 to 1: sparse rows, documents by labels.

        A model with labels has to implement it. A share must not depend on the other documents.
        """
        raise NotImplementedError

    def facets(self, view: View, docs: np.ndarray) -> Sequence[Facet]:
        """Return the labels of documents, most frequent first, each with the number of documents that have the label.

        By default a document has a label if its share is at least `least_share`. Labels without a document are left out.
        """
        labels = view.once(self.labels_name, lambda: tuple(self.labels(view)))
        return count_labels(labels, self.label_shares(view, docs), self.least_share)

    def marks(self, query: Any, view: View, doc: int) -> Sequence[Mark]:
        """Return the words of a document with the labels that they belong to; by default none.

        `query` is an object that `encode_queries` returned. A word has one label. Words without a label are left out.
        """
        return ()


resolve_hints(__name__)
