"""Features that tell phrases from other frequent sequences of words.

They answer three questions: do the words belong together, do they say something, and is the sequence complete?

X. Liu et al., Mining Quality Phrases from Massive Text Corpora (SegPhrase), 2015, section 4. The released program of
LAKI has the same features.
"""

from __future__ import annotations

import numpy as np

from sublex_phrases import mining_kernels as kernels
from sublex_phrases.mining_kernels import count_documents
from sublex_phrases.ngrams import Ngrams
from sublex_phrases.roles import Roles
from sublex_phrases.segmentation import Segmentation
from sublex_phrases.text import JoinedTexts, Run

# The number of parts into which the text is divided. One call counts the occurrences in one part.
PARTS = 8


def count_uses(text: JoinedTexts, ngrams: Ngrams, run: Run = map) -> np.ndarray:
    """Return how often each node occurs in several ways, such as between quotes or after a wall.

    The result has a row for each node, with the columns that `mining_kernels` names.
    """

    def count(part: tuple[int, int]) -> np.ndarray:
        return kernels.count_uses(
            ngrams.longest, text.walls, text.breaks, text.capitals, ngrams.parents, ngrams.lengths, *part,
            len(ngrams.parents),
        )  # fmt: skip

    uses = np.zeros((len(ngrams.parents), kernels.USES), np.int64)
    for counted in run(count, text.parts(PARTS)):
        uses += counted
    return uses


def features(
    text: JoinedTexts, ngrams: Ngrams, uses: np.ndarray, roles: Roles, done: Segmentation | None = None
) -> np.ndarray:
    """Return a row of features for each node, in the order of `phrase_list.NAMES`.

    `uses` is the result of `count_uses`, and `roles` has the roles of units. The last column, `named`, is filled later.
    `done` is the segmentation that says where the nodes occur. Without it, all occurrences count, and the feature
    `again` is 0.
    """
    rectified = ngrams.counts if done is None else done.counts
    counts, units = ngrams.counts.astype(np.float64), ngrams.sequences()
    present, nodes = units >= 0, np.arange(len(units))
    idf, common = np.where(present, text.idf[units], 0.0), np.where(present, text.common[units], False)
    first, last = units[:, 0], ngrams.last
    share = uses / counts[:, None]
    placed = np.maximum(uses[:, kernels.PLACED], 1)
    right, right_choice = _extensions(ngrams.parents, ngrams)
    left, left_choice = _extensions(ngrams.suffixes, ngrams)
    either = np.where(present, np.maximum(roles.begins, roles.ends)[units], 1.0)
    columns = (
        *_concordance(ngrams, rectified, text),
        np.minimum(rectified / counts, 1.0),
        ngrams.lengths,
        idf.sum(axis=1) / ngrams.lengths,
        np.where(present, idf, np.inf).min(axis=1),
        idf.max(axis=1),
        text.idf[first],
        text.idf[last],
        common.sum(axis=1) / ngrams.lengths,
        text.stops[first],
        text.stops[last],
        share[:, kernels.QUOTED],
        share[:, kernels.BRACKETED],
        share[:, kernels.HYPHENED],
        uses[:, kernels.CAPITAL] / placed,
        share[:, kernels.AFTER],
        share[:, kernels.BEFORE],
        share[:, kernels.ALONE],
        right,
        left,
        right_choice,
        left_choice,
        counts / counts[np.where(ngrams.parents >= 0, ngrams.parents, nodes)],
        counts / counts[np.where(ngrams.suffixes >= 0, ngrams.suffixes, nodes)],
        np.zeros(len(units)) if done is None else _again(text, done),
        np.where(present, text.residual_idf[units], -np.inf).max(axis=1),
        roles.begins[first],
        roles.ends[last],
        either.min(axis=1),
        (present & text.numbers[units]).sum(axis=1) / ngrams.lengths,
        np.zeros(len(units)),
    )
    return np.column_stack([np.asarray(column, np.float64) for column in columns])


def _again(text: JoinedTexts, done: Segmentation) -> np.ndarray:
    """Return for each node the logarithm of its mean number of occurrences in the texts that have it."""
    nodes = len(done.counts)
    df = count_documents(np.where(done.found < 0, nodes, done.found).astype(np.int32), text.ends, nodes + 1)[:nodes]
    return np.log((done.counts + 0.5) / (df + 0.5))


def _concordance(ngrams: Ngrams, counts: np.ndarray, text: JoinedTexts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays with a value for each node: concordance, association and salience.

    They are computed from `counts`, the counts of the nodes. Counts below a half are replaced by a half.
    """
    logs, total = np.log(np.maximum(counts, 0.5)), float(len(text.units))
    best = np.full(len(logs), -np.inf)
    for cut in range(1, int(ngrams.lengths.max(initial=1))):
        nodes = np.flatnonzero(ngrams.lengths > cut)
        prefix, suffix = nodes.copy(), nodes.copy()
        for _ in range(cut):
            suffix = ngrams.suffixes[suffix]
        while (long := ngrams.lengths[prefix] > cut).any():
            prefix[long] = ngrams.parents[prefix[long]]
        best[nodes] = np.maximum(best[nodes], logs[prefix] + logs[suffix])
    # A single word has no parts, so these features of it are 0.
    single = ngrams.lengths == 1
    best[single] = 2 * logs[single]
    concordance = np.where(single, 0.0, logs - best + np.log(total))
    return concordance, logs - best / 2, logs + np.log(np.maximum(concordance, 1e-3))


def _extensions(shorter: np.ndarray, ngrams: Ngrams) -> tuple[np.ndarray, np.ndarray]:
    """Return how the longer nodes of one unit more explain each node, as two arrays with a value for each node.

    `shorter` has for each node the node without its last unit, or without its first. The first array has the share of a
    node's occurrences that belong to its most frequent extension. The second array has the entropy of the units by
    which the node is extended.
    """
    counts = ngrams.counts.astype(np.float64)
    longer = np.flatnonzero(shorter >= 0)
    most, spread = np.zeros(len(counts)), np.zeros(len(counts))
    np.maximum.at(most, shorter[longer], counts[longer])
    spread += np.bincount(shorter[longer], counts[longer] * np.log(counts[longer]), len(counts))
    return most / counts, np.log(counts) - spread / counts
