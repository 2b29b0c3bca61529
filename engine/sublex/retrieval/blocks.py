"""The blocks of a segment under one ranker: for each frequent term, the documents as bits and bounds of the impacts, in memory."""

from __future__ import annotations

import numpy as np

from sublex.retrieval.coding.lists import Lists

# A term gets rows if it is in at least one of so many documents. The rows then take at most 20 bytes a posting, and some 4 on average.
SPARSEST = 64
# A segment needs this number of documents to get rows.
FEWEST = 1 << 14
# The most bytes of memory for the rows of a segment. Terms that come later have no row, and are looked up by a search of their documents.
MOST_BYTES = 3 << 27
# The bytes of rows for 64 documents: a word of bits, a rank, and a bound for each block.
BYTES_PER_WORD = 20


class Blocks:
    """Rows of bits, ranks and bounds of the frequent terms of a segment. A term has its row after `add`, if there is room.

    A bit says that a document has the term. A rank is the number of postings before 64 documents. A bound is the greatest impact in
    a block of eight documents in steps of 1/255 of the term's greatest impact, rounded up.
    """

    def __init__(self, documents: int, df: np.ndarray):
        from sublex.retrieval import block_kernels

        # 512 documents are eight words of bits and 64 blocks.
        self.words = -(-documents // 512) * 8
        self._frequent = (df * SPARSEST >= documents) & (documents >= FEWEST)
        rows = min(int(np.count_nonzero(self._frequent)), MOST_BYTES // (BYTES_PER_WORD * max(self.words, 1)))
        # The system provides memory only for rows that are filled in.
        self.bits = np.zeros((rows, self.words), np.uint64)
        self.ranks = np.zeros((rows, self.words), np.int32)
        self.bounds = np.zeros((rows, block_kernels.PER_WORD * self.words), np.uint8)
        # The row of each term, -1 for a term without one.
        self.row_of = np.full(len(df), -1, np.int32)
        self._filled = 0
        # The arrays that `retrieve` reads.
        self.rows = self.bits, self.ranks, self.bounds, self.row_of

    def add(self, terms: np.ndarray, lists: Lists, most: np.ndarray) -> bool:
        """Fill in the rows of those of the terms that are frequent, if there is room. Return whether the documents of each term ascend."""
        from sublex.retrieval import block_kernels

        for term in terms[self._frequent[terms]][: len(self.bits) - self._filled].tolist():
            docs, impacts = lists.read(term)
            if not block_kernels.fill(self._filled, docs, impacts, most[term], self.bits, self.ranks, self.bounds):
                return False
            self.row_of[term] = self._filled
            self._filled += 1
        return True
