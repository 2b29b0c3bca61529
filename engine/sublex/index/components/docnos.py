"""Docnos: the documents' identifiers, and the order of the documents by the bytes of their docnos.

The order serves to find a document by its docno and to break ties between equal scores.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.index.components.strings import StringsReader, StringsWriter
from sublex.index.format import UNSIGNED, ComponentFolder, FolderWriter, with_smallest_dtype
from sublex.tools.strings import Strings

# If no docno has more bytes than this, docnos are sorted as big-endian 64-bit words, which is fast.
LONGEST_AS_WORDS = 64
# The number of docnos that are copied into 64-bit words in one step. It bounds the memory of a mask with a row for
# each.
DOCNOS_PER_STEP = 1 << 16


class DocnosWriter:
    """Collects docnos in memory and writes `docnos`, `docno_sizes` and `docno_order`."""

    def __init__(self, folder: FolderWriter):
        self._folder = folder
        self._data, self._sizes = [np.empty(0, np.uint8)], [np.empty(0, np.int64)]
        self.nbytes = 0

    def add(self, data: np.ndarray, sizes: np.ndarray) -> None:
        """Append the docnos of the next documents, which lie end to end in `data`."""
        self._data.append(data)
        self._sizes.append(sizes)
        self.nbytes += data.nbytes + sizes.nbytes

    def finish(self) -> None:
        """Write the docnos and their order."""
        data, sizes = np.concatenate(self._data), np.concatenate(self._sizes)
        self._data, self._sizes = [], []
        StringsWriter(self._folder, "docno").add(data, sizes)
        self._folder.put("docno_order", with_smallest_dtype(byte_order(data, sizes)))


class DocnosReader:
    """Reads the docno of a document, and finds documents by their docnos.

    `strings` holds the docnos in the order of the documents' numbers.
    """

    def __init__(self, folder: ComponentFolder, docs: int):
        folder.expect("docno_order", UNSIGNED, docs)
        self.strings = StringsReader(folder, "docno", docs)
        self._order = folder["docno_order"]

    @cached_property
    def order(self) -> np.ndarray:
        """The documents in ascending order of their docnos' bytes."""
        order = self._order.numbers(max(0, len(self.strings) - 1))
        seen = np.zeros(len(order), np.bool_)
        seen[order] = True
        if not seen.all():
            raise self._order.damaged("names a document twice")
        return order

    def find(self, docno: str) -> list[int]:
        """Return the documents that have this docno: at most one live document, and deleted ones."""
        wanted = docno.encode("utf-8", "surrogatepass")
        place = self.strings.bisect(wanted, self.order)
        docs = []
        while place < len(self.order) and self.strings[doc := int(self.order[place])] == wanted:
            docs.append(doc)
            place += 1
        return docs


def byte_order(data: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the numbers of the strings, sorted by the bytes of the strings; equal strings keep their order.

    The strings lie end to end in `data`.
    """
    longest = int(sizes.max()) if len(sizes) else 0
    if longest > LONGEST_AS_WORDS:
        return Strings.joined(data, sizes).order()
    starts = np.cumsum(sizes) - sizes
    width = max(8, -(-longest // 8) * 8)
    words = np.zeros((len(sizes), width), np.uint8)
    columns = np.arange(width)
    for begin in range(0, len(sizes), DOCNOS_PER_STEP):
        inside = columns < sizes[begin : begin + DOCNOS_PER_STEP, None]
        words[begin : begin + DOCNOS_PER_STEP][inside] = data[starts[begin] : starts[begin] + int(inside.sum())]
    keys = words.view(">u8").astype(np.uint64)
    del words, starts
    return np.lexsort((sizes, *keys.T[::-1]))
