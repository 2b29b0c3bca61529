"""The blocks of a segment under one ranker: for each frequent term, the documents as bits and bounds of the impacts, in memory."""

from __future__ import annotations

import numpy as np

from sublex.retrieval.coding.coded_postings import CodedPostings

# A term gets a row if at least one document in SPARSEST has it. The row then takes at most 20 bytes a posting, and 4 on
# average.
SPARSEST = 64
# A segment needs this number of documents to get rows.
FEWEST = 1 << 14
# The most bytes of memory for the rows of a segment. Later terms get no row; their postings are found by binary search.
MOST_BYTES = 3 << 27
# The bytes of rows for 64 documents: a word of bits, a rank, and a bound for each block.
BYTES_PER_WORD = 20


class Blocks:
    """Arrays of bits, ranks and bounds with a row for each frequent term of a segment. `add` fills rows, if there is room.

    A bit says that a document has the term. A rank is the number of postings before 64 documents. A bound is the
    greatest impact in a block of eight documents in steps of 1/255 of the term's greatest impact, rounded up.
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
        self.arrays = self.bits, self.ranks, self.bounds, self.row_of

    def add(self, terms: np.ndarray, postings: CodedPostings, most: np.ndarray) -> bool:
        """Fill in the rows of the frequent ones of these terms, if there is room.

        Return False, with a row half filled, if the documents of a term do not ascend.
        """
        from sublex.retrieval import block_kernels

        for term in terms[self._frequent[terms]][: len(self.bits) - self._filled].tolist():
            docs, impacts = postings.read(term)
            if not block_kernels.fill(self._filled, docs, impacts, most[term], self.bits, self.ranks, self.bounds):
                return False
            self.row_of[term] = self._filled
            self._filled += 1
        return True
