"""Make the binary documents of a topic: the documents that belong to the topic, and in each the words that have the
topic there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError


class TopicDocuments(NamedTuple):
    """The documents of a topic: their numbers, ascending, and a binary row of words for each document.

    An entry is 1 if the word has the topic in the document.
    """

    docs: np.ndarray
    binary: csr_array


def topic_documents(
    counts: Any,
    assignments: np.ndarray,
    shares: np.ndarray,
    topic: int,
    least: float = 0.25,
    most: int | None = None,
    min_df: int = 1,
) -> TopicDocuments:
    """Return the binary documents of one topic (equation 4).

    Parameters
    ----------
    counts : sparse rows of documents by words
    assignments : array of shape (entries of counts,)
        The topic of each word in each document, in the order of the entries of `counts`.
    shares : array of shape (documents,)
        The share of the topic in each document (θ in the paper).
    topic : int
    least : float
        The smallest share. Documents in which the topic has a smaller share are left out.
    most : int
        The largest number of documents. If there are more, the documents with the largest shares are taken.
    min_df : int
        Words that have the topic in fewer of the documents that are left get an empty column.
    """
    rows = counts if isinstance(counts, csr_array) else csr_array(counts)
    if len(assignments) != rows.nnz or len(shares) != rows.shape[0]:
        raise InputError(
            f"The counts have {rows.nnz:,} entries in {rows.shape[0]:,} documents, and there are {len(assignments):,} "
            f"assignments and {len(shares):,} shares; each entry needs a topic, and each document a share."
        )
    docs = np.flatnonzero(np.asarray(shares) >= least)
    if most is not None and len(docs) > most:
        docs = np.sort(docs[np.argsort(-shares[docs], kind="stable")[:most]])
    place = np.full(rows.shape[0], -1)
    place[docs] = np.arange(len(docs))
    entry_rows = np.repeat(place, np.diff(rows.indptr))
    chosen = (np.asarray(assignments) == topic) & (entry_rows >= 0) & (rows.data != 0)
    df = np.bincount(rows.indices[chosen], minlength=rows.shape[1])
    chosen &= df[rows.indices] >= min_df
    ones = np.ones(int(chosen.sum()), np.int8)
    return TopicDocuments(
        docs, csr_array((ones, (entry_rows[chosen], rows.indices[chosen])), shape=(len(docs), rows.shape[1]))
    )
