"""The blocks of a segment for one ranker, in memory.

A block is eight documents. For each frequent term there is a bit for each document, and a bound of the impacts in each
block.
"""

from __future__ import annotations

import numpy as np

from sublex.retrieval.coding.coded_postings import CodedPostings

# A term gets a row if at least one of SPARSEST documents contains it. The row then takes at most 20 bytes for each
# posting, and 4 on average.
SPARSEST = 64
# A segment with fewer documents gets no rows.
FEWEST = 1 << 14
# The limit of memory for the rows of one segment, in bytes. When the limit is reached, further terms get no row; kernels
# find their postings by binary search.
MOST_BYTES = 3 << 27
# The bytes that a row takes for 64 documents: 8 for a word of bits, 4 for a rank, and 8 for the bounds of eight blocks.
BYTES_PER_WORD = 20


class Blocks:
    """Three arrays with a row for each frequent term of a segment: bits, ranks and bounds.

    `add` fills in rows while there is room. A row has a bit for each document, which says whether the document contains the
    term. It has a rank for every 64 documents: the number of the term's postings before these documents. It has a bound for
    each block of eight documents: the greatest impact in the block, as a number from 0 to 255, where 255 is the term's
    greatest impact. Bounds are rounded up.
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
        # The row of each term, -1 for a term without a row.
        self.row_of = np.full(len(df), -1, np.int32)
        self._filled = 0
        # The arrays that `retrieve` reads.
        self.arrays = self.bits, self.ranks, self.bounds, self.row_of

    def add(self, terms: np.ndarray, postings: CodedPostings, most: np.ndarray) -> bool:
        """Fill in rows for the frequent terms among `terms`, while there is room.

        `most` has the greatest impact of every term. Return True, or False if the documents of a term do not ascend;
        the row of this term is then only partly filled.
        """
        from sublex.retrieval import block_kernels

        for term in terms[self._frequent[terms]][: len(self.bits) - self._filled].tolist():
            docs, impacts = postings.read(term)
            if not block_kernels.fill(self._filled, docs, impacts, most[term], self.bits, self.ranks, self.bounds):
                return False
            self.row_of[term] = self._filled
            self._filled += 1
        return True
