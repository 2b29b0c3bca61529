"""Score the neighbours of a word in a sense by its contexts, the documents in which the word has this sense.

Edges of a word graph predict well, but many of them come from two or three documents, or lead to words that mean
little, such as "cannot". Contexts look at more: how many documents of a sense contain the other word, in how many of
them both words stand near each other, how many documents of the whole collection contain the other word, and whether it
is a word that some documents are about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csr_array

# A word has a sense if it has the topic in at least MIN_CONTEXTS documents, and in at least the share MIN_CONTEXT_SHARE
# of its documents. Another word is close to it if both stand near each other in at least MIN_SHARED of these documents,
# and if its closeness is at least LEAST. A sense has at least MIN_CLOSE close words.
MIN_CONTEXTS, MIN_CONTEXT_SHARE, MIN_SHARED, LEAST, MIN_CLOSE = 5, 0.02, 4, 0.09, 2
# The limits for an index without texts, for which it is not known which words stand near each other: both words must
# occur in at least MIN_SHARED_APART of the documents, and closeness, which is larger then, must be at least
# LEAST_APART.
MIN_SHARED_APART, LEAST_APART = 3, 0.2
# The discount of closeness: of n shared documents, m in which both words stand near each other count m / (n + DISCOUNT).
DISCOUNT = 4.0
# The residual idf from which a word is fully informative, and the number of groups of documents of similar length.
INFORMATIVE, LENGTHS = 0.5, 64


def informativeness(df: np.ndarray, cf: np.ndarray, lengths: np.ndarray, vocabulary: Sequence[str]) -> np.ndarray:
    """Return for each word how much it says about a document, from 0 to 1.

    The measure is residual idf (K. Church and W. Gale, Inverse document frequency, 1995): the idf of a word, minus the
    idf of a word that occurs equally often, but at random places of the documents. A word
    that documents are about comes several times in few documents; a word such as "cannot" comes once in many. Single
    characters and numbers get 0. `df` and `cf` have the document and collection frequency of each word, and `lengths`
    the length of each document.
    """
    groups = np.array([group.mean() for group in np.array_split(np.sort(lengths), LENGTHS) if len(group)])
    sizes = np.array([len(group) for group in np.array_split(lengths, LENGTHS) if len(group)])
    rates = groups / max(1, lengths.sum())
    expected = -np.expm1(-np.maximum(cf, 1)[:, None] * rates) @ sizes
    residual = np.log2(expected / np.maximum(df, 1))
    word = np.array([len(term) > 1 and not term.isdecimal() for term in vocabulary], np.bool_)
    return np.where(word, np.clip(residual / INFORMATIVE, 0, 1), 0)


def closeness(
    graph: csr_array,
    binary: csr_array,
    occurs: csr_array,
    df: np.ndarray,
    weights: np.ndarray,
    documents: int,
    near: Callable[[csr_array], np.ndarray] | None = None,
) -> csr_array:
    """Return how close each word's neighbours in a topic are to the word, as sparse rows with the pattern of the
    positive edges. Neighbours that are not close are left out.

    Closeness starts from the normalised pointwise mutual information of two events: the word has the topic in a
    document, and the neighbour is in the document. It is computed twice: over the whole collection, where words that
    are common in the topic have high values, and over the documents of the topic, where special words have. Closeness
    is the geometric mean of both, times the share of the shared documents in which both words stand near each other
    (see `DISCOUNT`), times the informativeness of both words.

    Parameters
    ----------
    graph : sparse rows of words by words, the word graph of the topic
    binary : sparse rows of the topic's documents by words, 1 if the word has the topic there
    occurs : sparse rows of the topic's documents by words, 1 if the word is there, whatever its topic
    df : array, the number of documents of the collection that contain each word
    weights : array, the informativeness of each word
    documents : int, the number of documents of the collection
    near : function, returns for each stored entry of a matrix of words by words the number of the topic's documents in
        which both words stand near each other, and the first has the topic; without it, all shared documents count
    """
    contexts = np.bincount(binary.indices, minlength=binary.shape[1])
    enough = (contexts >= MIN_CONTEXTS) & (contexts >= MIN_CONTEXT_SHARE * df)
    pairs = graph.tocoo()
    kept = (pairs.data > 0) & enough[pairs.coords[0]] & (weights[pairs.coords[1]] > 0)
    first, second = (coordinate[kept] for coordinate in pairs.coords)
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    shared = _shared(binary, occurs, first, second)
    least, enough_shared = (LEAST_APART, MIN_SHARED_APART) if near is None else (LEAST, MIN_SHARED)
    beside = shared
    if near is not None:
        beside = near(csr_array((np.ones(len(first), np.int8), (first, second)), shape=graph.shape))
    kept = (shared > 0) & (beside >= enough_shared)
    first, second, shared, beside = first[kept], second[kept], shared[kept], beside[kept]
    share = shared / contexts[first]
    topic_df = np.bincount(occurs.indices, minlength=occurs.shape[1])
    in_all, in_topic = (
        np.maximum(np.log(share * total / held[second]), 0) / -np.log(shared / (total + 1))
        for held, total in ((df, documents), (topic_df, occurs.shape[0]))
    )
    close = np.sqrt(in_all * in_topic) * beside / (shared + DISCOUNT) * weights[first] * weights[second]
    kept = close >= least
    found = csr_array((close[kept].astype(np.float32), (first[kept], second[kept])), shape=graph.shape)
    few = np.diff(found.indptr) < MIN_CLOSE
    found.data[np.repeat(few, np.diff(found.indptr))] = 0
    found.eliminate_zeros()
    found.sort_indices()
    return found


def _shared(binary: csr_array, occurs: csr_array, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return for each pair of words the number of documents in which the first word has the topic and the second
    occurs.

    The pairs are in `first` and `second`, ordered by the first word.
    """
    rows = np.unique(first)
    together = csr_array(csr_array(binary[:, rows].T, dtype=np.int32) @ csr_array(occurs, dtype=np.int32))
    together.sort_indices()
    width = together.shape[1]
    keys = np.repeat(np.arange(len(rows), dtype=np.int64), np.diff(together.indptr)) * width + together.indices
    wanted = np.searchsorted(rows, first).astype(np.int64) * width + second
    places = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.where(keys[places] == wanted, together.data[places], 0) if len(keys) else np.zeros(len(first), np.int64)
