"""Kernels that check postings of other programs, and collect the terms of each document."""

from __future__ import annotations

import numpy as np
from numba import int64

from sublex.tools.compiled import I32, I64, kernel


@kernel((I32, I32, I64, int64, I64, I64), before="import")
def check_postings(docs, tfs, df, limit, uniques, lengths):
    """Check posting lists that lie end to end, term k with df[k] postings, and count their postings by document.

    Each list must ascend and have document numbers below `limit`; frequencies must be at least 1. Add the number of
    terms of document d to uniques[d], and the sum of their frequencies to lengths[d]. Return the place of the first bad
    posting, or -1.
    """
    i = 0
    for k in range(len(df)):
        last = np.int64(-1)
        for _ in range(df[k]):
            doc = np.int64(docs[i])
            if doc <= last or doc >= limit or tfs[i] < 1:
                return i
            uniques[doc] += 1
            lengths[doc] += tfs[i]
            last = doc
            i += 1
    return -1


@kernel((I32, I32))
def check_positions(positions, tfs):
    """Check the positions of postings.

    They lie end to end; posting i has tfs[i] positions. The positions of a posting must ascend from 0 on. The caller
    has checked that the number of positions is the sum of `tfs`. Return the first bad posting, or -1.
    """
    p = np.int64(0)
    for i in range(len(tfs)):
        last = np.int64(-1)
        for _ in range(tfs[i]):
            if positions[p] <= last:
                return i
            last = np.int64(positions[p])
            p += 1
    return -1


@kernel((I32, I32, I64, int64, int64, I64, I64, I32, I32), before="import")
def collect_terms(docs, tfs, df, first_term, first_doc, cursors, ends, terms_out, tfs_out):
    """Turn the postings of some documents into lists of terms, one list for each document.

    Posting lists lie end to end; term first_term + k has df[k] postings. The terms and frequencies of document
    first_doc + d go to the places of `terms_out` and `tfs_out` from cursors[d] up to ends[d], and the kernel advances
    the cursor. Postings of other documents are skipped. Returns the place of the first posting that does not fit into
    its document's places, or -1.
    """
    i = 0
    for k in range(len(df)):
        for _ in range(df[k]):
            d = docs[i] - first_doc
            if 0 <= d < len(cursors):
                at = cursors[d]
                if at == ends[d]:
                    return i
                terms_out[at], tfs_out[at] = first_term + k, tfs[i]
                cursors[d] = at + 1
            i += 1
    return -1
