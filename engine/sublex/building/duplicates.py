"""The rule for documents with the same docno: which of them a build indexes, and which older ones it deletes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sublex.analysis.interner import Interner
from sublex.errors import InputError
from sublex.readers.batch import Batch

# error: refuse the input; first: keep the document that came first; last: keep the newest one.
RULES = ("error", "first", "last")


class Duplicates:
    """Remembers all docnos of a build, and selects the documents to index by one of `RULES`.

    `known` yields docnos that are in the index already, as `add_known` takes them. Under the rule `last` every
    document is indexed, and the caller deletes older documents with the same docno afterwards: `replaced` lists the
    docnos of those in the index, and `superseded` the numbers of those in this build.
    """

    def __init__(self, rule: str, known: Iterable[tuple[np.ndarray, np.ndarray]] = ()):
        self.rule = rule
        self.replaced: list[str] = []
        self.superseded: list[int] = []
        self._docnos = Interner()
        self._doc_of_docno: dict[int, int] = {}
        self._docs = 0
        for data, sizes in known:
            self.add_known(data, sizes)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the table of docnos takes."""
        return self._docnos.nbytes

    def add_known(self, data: np.ndarray, sizes: np.ndarray) -> None:
        """Add the docnos of the index, or of a spill of this build: their bytes end to end, and the size of each."""
        self._number(data, np.cumsum(sizes, dtype=np.int64))

    def select(self, batch: Batch) -> tuple[np.ndarray, list[str]]:
        """Return the mask of the documents of a batch to index, and the docnos in the batch that had occurred before.

        Batches must come in order. Raises `InputError` for a duplicate under the rule `error`.
        """
        numbers, is_new = self._number(batch.docnos, batch.docno_ends)
        repeated = np.flatnonzero(~is_new).tolist()
        docnos = [batch.docno(place) for place in repeated]
        if self.rule == "last":
            for place, number in enumerate(numbers.tolist()):
                if number in self._doc_of_docno:
                    self.superseded.append(self._doc_of_docno[number])
                elif not is_new[place]:
                    self.replaced.append(batch.docno(place))
                self._doc_of_docno[number] = self._docs + place
            self._docs += len(batch)
            return np.ones(len(batch), np.bool_), docnos
        if docnos and self.rule == "error":
            raise InputError(
                f"Document {docnos[0]} is there twice, so nothing was added; "
                "--duplicates first (in Python duplicates='first') keeps the old one, --duplicates last takes the new one."
            )
        return is_new, docnos

    def forget(self) -> None:
        """Free the memory of the table of docnos. After this call, `select` must not be called again."""
        self._docnos = Interner()
        self._doc_of_docno = {}

    def _number(self, data: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each docno, and a mask that is true where a docno occurs for the first time.

        The docnos lie end to end in `data`; docno k ends before the byte ends[k].
        """
        sizes = np.diff(ends, prepend=0)
        known = self._docnos.size
        numbers = self._docnos.add(data, ends - sizes, sizes.astype(np.int32))
        # New docnos get the next numbers, in order. So the number of a new docno is greater than all numbers before it.
        return numbers, numbers > np.maximum.accumulate(np.concatenate(([known - 1], numbers)))[:-1]
