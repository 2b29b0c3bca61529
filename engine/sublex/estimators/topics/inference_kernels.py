"""Kernels that infer the topics of single documents, and the draws that other kernels of topic models share.

`phi` has a row for each word and a column for each topic. Documents are compressed sparse rows in three arrays: where each row starts,
its words, and their counts. Callers check the arguments.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, uint64

from sublex.estimators.random_kernels import uniform
from sublex.tools.compiled import inner, kernel

# Types of arrays, and of a matrix in the order of C.
I32, I64, U64, F64, MATRIX = int32[::1], int64[::1], uint64[::1], float64[::1], float64[:, ::1]


@inner
def choose(weights, target):
    """Return the first place at which the running sum of the weights exceeds `target`, or the last place."""
    last = len(weights) - 1
    for k in range(last):
        target -= weights[k]
        if target < 0.0:
            return k
    return last


@kernel((I64, I32, F64, U64, MATRIX, F64, int64, int64, MATRIX, I32), before="demo")
def fold_in(starts, words, counts, seeds, phi, alpha, burn_in, samples, sums, topics):
    """Set sums[d, k] to the mean number of tokens of row d in topic k, over the sweeps of a Gibbs chain.

    `sums` must be 0 before the call. phi[w, k] is the probability of word w in topic k, and alpha[k] the parameter of
    the topic's prior; both stay fixed. The first `burn_in` sweeps are dropped, and `samples` sweeps are averaged. Row d
    draws random numbers from seeds[d]. topics[i] gets the most frequent topic of the tokens of entry i; if several topics are
    equally frequent, it gets the lowest number. If `topics` is empty, nothing is written to it.
    """
    width = len(alpha)
    n_d, p, state = np.empty(width), np.empty(width), np.empty(1, np.uint64)
    for d in range(len(starts) - 1):
        state[0] = seeds[d]
        begin, end = starts[d], starts[d + 1]
        tokens = 0
        for i in range(begin, end):
            tokens += int(counts[i])
        z = np.full(tokens, -1, np.int32)
        votes = np.zeros((end - begin if len(topics) else 0, width), np.int32)
        n_d[:] = 0.0
        for turn in range(burn_in + samples):
            t = 0
            for i in range(begin, end):
                row = phi[words[i]]
                for _ in range(int(counts[i])):
                    if z[t] >= 0:
                        n_d[z[t]] -= 1.0
                    total = 0.0
                    for k in range(width):
                        p[k] = row[k] * (n_d[k] + alpha[k])
                        total += p[k]
                    z[t] = choose(p, uniform(state) * total)
                    n_d[z[t]] += 1.0
                    if turn >= burn_in and len(topics):
                        votes[i - begin, z[t]] += 1
                    t += 1
            if turn >= burn_in:
                for k in range(width):
                    sums[d, k] += n_d[k]
        for k in range(width):
            sums[d, k] /= samples
        if len(topics):
            for i in range(begin, end):
                topics[i] = np.argmax(votes[i - begin])


@kernel((I64, I32, F64, MATRIX, F64, int64, float64, MATRIX))
def fixed_point(starts, words, weights, phi, alpha, steps, tolerance, expected):
    """Set expected[d, k] to the weight of row d in topic k, by CVB0 (Asuncion, Welling, Smyth and Teh 2009).

    phi[w, k] is the probability of word w in topic k, and alpha[k] the parameter of the topic's prior; both stay fixed.
    Each word of a row has a distribution over topics, which depends on the distributions of the other tokens of the
    row. Weights must be above 0. The iteration ends when no weight changes by more than `tolerance`, or after `steps`
    steps. If a row has a single word, of weight 1, it gets exactly the probabilities of the topics given the word.
    """
    width = len(alpha)
    new = np.empty(width)
    for d in range(len(starts) - 1):
        begin, end = starts[d], starts[d + 1]
        r = np.empty((end - begin, width))
        n = expected[d]
        n[:] = 0.0
        for i in range(begin, end):
            total = 0.0
            for k in range(width):
                r[i - begin, k] = phi[words[i], k] * alpha[k]
                total += r[i - begin, k]
            for k in range(width):
                r[i - begin, k] /= total
                n[k] += weights[i] * r[i - begin, k]
        for _ in range(steps):
            change = 0.0
            for i in range(begin, end):
                one, total = min(weights[i], 1.0), 0.0
                for k in range(width):
                    # Rounding may make the difference slightly negative.
                    new[k] = phi[words[i], k] * (alpha[k] + max(0.0, n[k] - one * r[i - begin, k]))
                    total += new[k]
                for k in range(width):
                    value = new[k] / total
                    difference = weights[i] * (value - r[i - begin, k])
                    n[k] += difference
                    change = max(change, abs(difference))
                    r[i - begin, k] = value
            if change <= tolerance:
                break
