"""The contract of encoders, which turn texts into dense rows, sparse weights, or a matrix for each text.

A plugin registers encoders by `register_encoders`; a Python function becomes one by `sublex.encoder`. Like
`sublex.contracts.base`, this module computes nothing and imports no heavy package. `docs/encoders.md` has examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sublex.tools.hints import resolve_hints

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

# The kinds of vectors that an encoder may return, and the roles of the texts that it gets.
KINDS = ("dense", "sparse", "late")
ROLES = ("query", "document")


class Encoded(NamedTuple):
    """The vectors of some texts, in the order of the texts.

    * An encoder of the kind "dense" returns `rows` as a float32 array with one row for each text.
    * An encoder of the kind "sparse" returns `rows` as a `csr_array` of float32. It has a row for each text, and a column
      for each of `terms`. The weights of documents are above 0.
    * An encoder of the kind "late" returns `rows` as a float32 array with the rows of all texts, one text after the other.
      `sizes` (int64) has the number of rows of each text. `terms` has the token of each row, or is empty.

    `cut` is the number of texts that were too long for the encoder, so that it did not read their ends.
    """

    rows: np.ndarray | csr_array
    terms: Sequence[str] = ()
    sizes: np.ndarray | None = None
    cut: int = 0


class Scored(NamedTuple):
    """The scores of some texts for one query, in the order of the texts, as a float64 array.

    `cut` is the number of texts that were too long for the encoder, so that it did not read their ends.
    """

    scores: np.ndarray
    cut: int = 0


class Encoder(Protocol):
    """A component that turns texts into vectors.

    * `kind` says what `encode` returns: "dense", "sparse" or "late". It is "pairs" for an encoder that only scores pairs.
    * `identity` is a hash, in hexadecimal digits, of all that the output depends on: files, parameters, and code that may
      change. It contains no path. An index stores it. The engine asks for it before the first call of `encode`.

    The module that registers an encoder must not import heavy packages, and the factory must not read the model: the
    encoder reads it when `kind`, `identity` or a method is first used. The engine calls an encoder from one thread at a
    time.

    These members are optional:

    * `about()` returns texts by name for the metadata of runs, such as the name of a runtime and its provider.
    * `score_pairs(query, texts)` returns a `Scored`: the scores of a model that reads a query and a text together.
      `cross` calls it.
    * `limit(memory)` gets the number of bytes that the encoder may take for its work. The engine calls it before the
      first text. Raise `InputError` if the encoder needs more.
    """

    @property
    def kind(self) -> str: ...

    @property
    def identity(self) -> str: ...

    def encode(self, texts: Sequence[str], role: str) -> Encoded:
        """Return the vectors of texts. `role` is "query" or "document".

        All numbers have to be finite. The vector of a text should not depend on the other texts. In some runtimes the
        last digits depend on them; the documentation of the encoder then says so.
        """
        ...


class PairScorer(Protocol):
    """The part of an encoder that `cross` uses."""

    def score_pairs(self, query: str, texts: Sequence[str]) -> Scored:
        """Return the score of each text for the query. All scores have to be finite numbers of float32."""
        ...


class Reranker(Protocol):
    """A component that scores documents by their texts. A plugin registers it by `register_rerankers`.

    It scores the documents that the stage before it found, as a Python function in `sublex.rerank` does. It finds no
    documents itself.

    These members are optional:

    * `batch` is the largest number of documents of one call; by default all documents come in one call.
    * `cache` is a folder in which the engine keeps scores, or None.
    * `identity` is a hash of all that the scores depend on, which a reranker with a cache must have.
    * `sentences` is True if explanations may also score single sentences, at most the first 64 of a document. The
      explanation shows the sentence with the highest score.
    * `evidence(query, text)` returns numbers and texts by name, which explanations show beside the score of a document.
    """

    def scores(self, query: str, texts: Sequence[str]) -> np.ndarray:
        """Return one finite score for each text. A text is the title of a document, a newline and the document's text."""
        ...


resolve_hints(__name__)
