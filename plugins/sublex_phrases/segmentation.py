"""Divide texts into phrases and single words, so that a sequence is counted only where it is used as a phrase.

The best segmentation has the largest product of p(sequence | length)·p(length)·quality. Counts and segmentation are
computed alternately (X. Liu et al. 2015, section 4.3: "rectified" counts).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.estimators.phrases import phrase_kernels
from sublex_phrases.mining_kernels import count_found
from sublex_phrases.ngrams import Ngrams
from sublex_phrases.text import JoinedTexts, Run

# The largest share of the known good phrases that segmentation may divide.
CUT_SHARE = 0.05
# The range in which the logarithm of the penalty is searched, the number of search steps, and the number of parts into
# which the text is divided.
PENALTIES, STEPS, PARTS = (-10.0, 10.0), 20, 8


class Segmentation(NamedTuple):
    """A segmentation of a text.

    `found` has for each place the node of the segment that begins there, or -1. `counts` has for each node the number
    of its segments, and `weights` its weight.
    """

    found: np.ndarray
    counts: np.ndarray
    weights: np.ndarray


def weights(ngrams: Ngrams, counts: np.ndarray, quality: np.ndarray, log_penalty: float) -> np.ndarray:
    """Return for each node log p(sequence | length) + log p(length) + log quality; -inf where the count is 0.

    p(length) falls by the same factor, the penalty, with each further word. A single word keeps a small probability
    even if its count is 0.
    """
    lengths = ngrams.lengths
    sums = np.bincount(lengths, counts)
    chances = np.exp(-log_penalty * np.arange(len(sums) - 1))
    prior = np.log(chances / chances.sum())
    smoothed = np.where(lengths == 1, np.maximum(counts, 0.5), counts)
    with np.errstate(divide="ignore"):
        return np.log(smoothed) - np.log(np.maximum(sums[lengths], 1.0)) + prior[lengths - 1] + np.log(quality)


def segment(text: JoinedTexts, ngrams: Ngrams, weighted: np.ndarray, run: Run = map) -> Segmentation:
    """Return the best segmentation of a text under the weights of the nodes."""
    found = np.empty(len(text.units), np.int32)

    def cut(part: tuple[int, int]) -> np.ndarray:
        begin, end = part
        phrase_kernels.segment(ngrams.longest, text.walls, ngrams.parents, ngrams.lengths, weighted, begin, end, found)
        return count_found(found[begin:end], len(weighted))

    counts = np.zeros(len(weighted), np.int64)
    for counted in run(cut, text.parts(PARTS)):
        counts += counted
    return Segmentation(found, counts, weighted)


def rectify(
    text: JoinedTexts,
    ngrams: Ngrams,
    quality: np.ndarray,
    good: np.ndarray,
    rounds: int,
    counts: np.ndarray,
    run: Run = map,
) -> Segmentation:
    """Return the segmentation after `rounds` rounds, each of which uses the counts that the round before computed.

    The first round uses `counts`. `good` has nodes that are known to be phrases. The penalty of each round is chosen so
    that nearly all of the nodes in `good` are left whole.
    """
    for _ in range(rounds):
        log_penalty = _penalty(ngrams, counts, quality, good)
        done = segment(text, ngrams, weights(ngrams, counts, quality, log_penalty), run)
        counts = done.counts
    return done


def _penalty(ngrams: Ngrams, counts: np.ndarray, quality: np.ndarray, good: np.ndarray) -> float:
    """Return the logarithm of the largest penalty with which at most the share `CUT_SHARE` of the good nodes is
    divided.
    """
    known = good[counts[good] > 0]
    low, high = PENALTIES
    for _ in range(STEPS):
        middle = (low + high) / 2
        whole = _whole(ngrams, weights(ngrams, counts, quality, middle), known)
        low, high = (middle, high) if (~whole).sum() <= CUT_SHARE * len(known) else (low, middle)
    return low


def _whole(ngrams: Ngrams, weighted: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return for each of `nodes` whether the best segmentation of its words alone is the node as one segment."""
    lengths = ngrams.lengths[nodes].astype(np.int64)
    ends = np.cumsum(lengths)
    longest, walls = (
        np.empty(int(ends[-1]) if len(ends) else 0, np.int32),
        np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8),
    )
    walls[ends - lengths] = 1
    current = nodes.copy()
    for step in range(int(lengths.max(initial=0))):
        inside = lengths > step
        longest[(ends - lengths)[inside] + step] = current[inside]
        current = np.where(lengths > step + 1, ngrams.suffixes[current], current)
    found = np.empty(len(longest), np.int32)
    phrase_kernels.segment(longest, walls, ngrams.parents, ngrams.lengths, weighted, 0, len(longest), found)
    return found[ends - lengths] == nodes
