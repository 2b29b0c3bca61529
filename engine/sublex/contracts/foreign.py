"""The contracts between Sublex and other engines: sources of postings, back ends that open indexes, and retrievers.

`sublex.other_engines.from_postings` makes an index of a `PostingsSource`. `sublex attach` mirrors a `ForeignIndex`, which a
`Backend` opens. A `Retriever` is another engine's own scorer. `docs/plugins.md` has an example. Like `sublex.contracts.base`,
this module imports no heavy package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sublex.contracts.base import Document, Explanation, Query
from sublex.tools.hints import resolve_hints

if TYPE_CHECKING:
    import numpy as np


# Postings that exist already. An index can be made from them in place of documents.


class PostingsBatch(NamedTuple):
    """The posting lists of some terms, one after the other.

    `terms` are in UTF-8. `df` (int64) has the number of postings of each term. `docs` (int32) has the documents of all lists end to end,
    ascending within each list. `tfs` (int32) has the frequency of the term in each document, which is at least 1.

    `positions` (int32) has the positions of the terms in the documents, end to end: posting i has tfs[i] of them, ascending from 0 on.
    It is None if the source has no positions.

    `field_tfs` has an array (int32) for each of the fields of the source: the frequency of the term in the field, for each posting.
    They add up to `tfs`. It is empty if the source has no fields.
    """

    terms: Sequence[bytes]
    df: np.ndarray
    docs: np.ndarray
    tfs: np.ndarray
    positions: np.ndarray | None = None
    field_tfs: Sequence[np.ndarray] = ()


class DocumentsBatch(NamedTuple):
    """The docnos of the next documents, and their lengths in tokens (int64).

    `docnos` may be any sequence of texts; a `sublex.tools.strings.Strings` needs the least memory.

    `field_begins` has an array (int64) for each of the fields of the source: the position at which the field begins in each
    document. It is empty unless the source has both fields and positions.
    """

    docnos: Sequence[str]
    lengths: np.ndarray
    field_begins: Sequence[np.ndarray] = ()


class PostingsSource(Protocol):
    """Posting lists and documents that another program made, as `sublex.other_engines.from_postings` reads them to make an index.

    `docs` is the number of documents, which have the numbers from 0 to `docs - 1`. The engine calls `postings` first,
    reads it to its end, and then `documents`, each once. The engine checks all values of the source. The length of a
    document may differ from the sum of its frequencies.

    These attributes are optional:

    * `name` is the name of the source in messages, such as a path.
    * `tokens` is the number of tokens in the whole collection, if the source states it; by default the sum of all frequencies. Together
      with `docs` it makes the mean length of documents.
    * `has_positions` says whether every batch brings positions; by default none does. Positions make phrases and
      windows possible, and the index stores them.
    * `fields` has the names of the fields whose frequencies every batch brings, such as ("title", "text"); by default there
      are none. The index stores these frequencies, and the lengths of fields, which are their sums. The length of a document
      is then the sum of its frequencies. With positions, the fields of a document stand one after the other: the title,
      the text, and the others in the order of `fields`.
    """

    docs: int

    def postings(self) -> Iterator[PostingsBatch]:
        """Yield the posting lists of all terms, in batches of some megabytes.

        The terms should be in ascending order of their bytes. In any other order the index takes about twice as long.
        """
        ...

    def documents(self) -> Iterator[DocumentsBatch]:
        """Yield the docnos and lengths of all documents, in the order of their numbers."""
        ...


# Other engines: back ends, the indexes that they open, and retrievers, which are the engines' own scorers.


class ForeignIndex(PostingsSource, Protocol):
    """An index of another engine, opened for reading.

    `sublex attach` calls `postings` and `documents` once.

    A foreign index is a `PostingsSource` that can also return the texts of documents. It never writes into the folder
    that it reads. Documents have the numbers from 0 to `docs - 1`, in the order of `documents`; deleted documents have
    none. The engine calls the methods from one thread at a time. An index that was opened for its texts or for
    retrievers is never asked for postings.

    * `stores` is `{"text"}` if `document` returns texts, otherwise empty.
    * `analyzer` is the expression of the analyzer that made the terms, such as "english(stop=none)", or None if the engine's index does not
      tell. The user's `--analyzer` replaces it.
    * `notes` are sentences for the user: which field was read, and what could not be carried over. `sublex attach` prints them.
    * `profile`, which is optional, is the profile of an attached index if the user names none, such as "anserini".

    A method `check_analyzer(analyzer, terms_of)` is optional. `analyzer` is an expression, and `terms_of(text)` returns
    the terms that the analyzer makes of a text, in order. For a sample of the stored texts, the method compares the
    terms of `terms_of` with the indexed terms. It raises `InputError` if they differ; otherwise it returns a sentence
    for the user or None. `sublex attach` calls the method before it reads the postings.

    A method `with_positions()` is optional. It returns a `PostingsSource` of the same documents whose batches bring
    positions; this may be the object itself. Without the call, batches bring no positions. The method raises
    `InputError` with one sentence if the engine's index has no positions. `sublex attach --positions` calls the method before it reads the
    postings. The attribute `gapless`, also optional, says that words without a term, such as stop words, take no
    position. A phrase of a query then has no gap in the place of such a word.

    If several fields are read, the index has the attribute `fields`, their names in the user's order, and a method
    `field_postings(field)`. The method yields the posting lists of one field as `postings` does, in ascending order of the
    terms; each call begins anew. `sublex attach` then calls `field_postings` in place of `postings`. It ignores the lengths
    in `documents`: in the index that it makes, a length is the sum of the frequencies.
    """

    stores: frozenset[str]
    analyzer: str | None
    notes: Sequence[str]

    def document(self, doc: int) -> Document:
        """Return the stored document with this number. Raise `InputError` with one sentence if the stored data are damaged."""
        ...

    def close(self) -> None:
        """Release files and processes. The engine calls it once, and no method after it."""
        ...


class Backend(Protocol):
    """An engine whose indexes can be attached. A plugin registers it by `register_backends`; `sublex attach NAME BACKEND:PATH` names it.

    A back end may declare the parameters `field` and `docno`. They get the values of the options `--field` and
    `--docno`. The default of both must be None; with None the back end chooses. For several fields, `field` has their names with
    commas between them, which `sublex.contracts.fields.several_fields` splits. The module that registers the back end
    must not import the engine's packages: it imports them in `open`.

    A method `build(path, documents, store, memory)` is optional. It writes a new index of the engine at `path`, which
    does not exist yet; `documents` yields `Document`s. `store` names the parts to store: any of "text", "terms" and
    "positions". `memory` is the number of bytes for postings. `sublex index --backend` calls it.

    A method `open_weights(path)` is optional. It opens an index whose frequencies are weights of terms, as learned sparse
    models give them, and returns a `PostingsSource` with a method `close`. The lengths of its documents do not count.
    `sublex vectors add` calls it.

    `runs_code` is true if opening an index may run code that its folder holds, such as pickles. The engine then calls `open` only
    after the user has said `--trust` for this path.
    """

    runs_code: bool

    def missing(self) -> str | None:
        """Return a sentence that says which part is not installed and names the command that installs it, or None.

        It starts no process and imports no heavy package. `sublex backends` prints the sentence. The engine does not
        call `open` unless `missing` returns None.
        """
        ...

    def state(self, path: str) -> str:
        """Return a short text of ASCII letters, digits and `-_.` that changes with every commit of the index at `path`.

        The engine calls it often, also before the user has said that the folder is trusted. So it must be fast and must
        run no code from the folder: hash the file that names the commit. Raise `InputError` with one sentence if there
        is no index at the path.
        """
        ...

    def open(self, path: str) -> ForeignIndex:
        """Open the index at `path`.

        Raise `InputError` with one sentence if the index is locked, damaged or of another version.

        The engine calls it from any thread, and keeps the index open until the process ends or the `Index` object of
        Sublex is deleted.
        """
        ...


class Retriever(Protocol):
    """A scorer of another engine, which searches the engine's own index; an expression names it, as in `LuceneBM25 >> RM3 >> LuceneBM25`.

    `backend` is the name of the back end whose indexes it searches. `index` is the object that the back end's `open` returned, and
    documents have the numbers of that index. Scores must be finite and fit into float32; they may be negative. The engine calls the methods
    from one thread at a time.

    These methods are optional:

    * `version()` returns the name and version of the engine, for the metadata of runs.
    * `takes(operator)` returns whether the retriever can search for an operator, a `sublex.contracts.operators.Operator`
      among the terms of a query. For an operator that it does not take, the engine says so and calls no other method.
      Without the method, the retriever takes no operators.
    """

    backend: str

    def search(self, query: Query, index: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and the scores of the best k documents, in any order; fewer if fewer match.

        `query.terms` are the weighted terms, analysed by the analyzer of the index, after all expanders. `query.text`
        is the text of the user. The engine sorts the documents by score, and documents with equal scores by docno.
        """
        ...

    def scores(self, query: Query, index: Any, docs: np.ndarray) -> np.ndarray:
        """Return the scores that `search` gives to these documents, -inf for documents that do not match the query."""
        ...

    def explain(self, query: Query, index: Any, doc: int) -> Explanation:
        """Return the score of one document with its parts; the value must equal that of `scores`."""
        ...


resolve_hints(__name__)
