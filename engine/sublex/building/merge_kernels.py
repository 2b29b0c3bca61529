"""Kernels that merge posting lists without the postings of deleted documents."""

from __future__ import annotations

import numpy as np

from sublex.tools.compiled import FLAGS, I32, I64, kernel


@kernel((I32, I32, I64, I64, I32, I64, I64, I32, I32), before="merge export")
def merge_postings(docs, tfs, ranks, counts, doc_map, cursors, ends, docs_out, tfs_out):
    """Copy the decoded posting lists of one segment to the posting lists of the merged segment.

    Document d becomes document doc_map[d]; if doc_map[d] is -1, d is left out. Term k, with counts[k] postings, becomes term
    t = ranks[k] of the merged segment. Its postings go to the places of `docs_out` and `tfs_out` from cursors[t] up to
    ends[t], and the kernel advances the cursor. Returns the first k whose postings do not fit into these places, or -1.
    """
    i = 0
    for k in range(len(counts)):
        at, end = cursors[ranks[k]], ends[ranks[k]]
        for _ in range(counts[k]):
            doc = doc_map[docs[i]]
            if doc >= 0:
                if at == end:
                    return k
                docs_out[at], tfs_out[at] = doc, tfs[i]
                at += 1
            i += 1
        cursors[ranks[k]] = at
    return -1


@kernel((I32, I32, I32, I64, I64, I32, I64, I64, I32), before="positions")
def merge_positions(positions, docs, tfs, ranks, counts, doc_map, cursors, ends, positions_out):
    """Copy the positions of the postings of one segment to the positions of the merged segment.

    `docs` to `doc_map` are as in `merge_postings`. Posting i has the next tfs[i] values of `positions`. The positions of term
    t go to the places of `positions_out` from cursors[t] up to ends[t], and the kernel advances the cursor. Returns the
    first k whose positions do not fit into these places, or -1.
    """
    i = at = np.int64(0)
    for k in range(len(counts)):
        o, end = cursors[ranks[k]], ends[ranks[k]]
        for _ in range(counts[k]):
            if doc_map[docs[i]] >= 0:
                if o + tfs[i] > end:
                    return k
                for x in range(tfs[i]):
                    positions_out[o + x] = positions[at + x]
                o += tfs[i]
            at += tfs[i]
            i += 1
        cursors[ranks[k]] = o
    return -1


@kernel((I32, I32, I64, FLAGS, I64, I64), before="delete")
def count_dead(docs, tfs, counts, dead, df, cf):
    """Add to df[k] and cf[k] the frequencies of term k within the documents of the mask `dead`.

    The posting lists of the terms lie end to end in `docs` and `tfs`; term k has counts[k] postings.
    """
    i = 0
    for k in range(len(counts)):
        for _ in range(counts[k]):
            if dead[docs[i]]:
                df[k] += 1
                cf[k] += tfs[i]
            i += 1
