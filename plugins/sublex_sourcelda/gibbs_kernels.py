"""Kernels of Source-LDA: Gibbs sweeps over topics, some of which expect the words of a knowledge source.

The arguments are arrays of `gibbs.SourceChain` and `priors.Priors`; these classes check them.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64

from sublex.tools.compiled import inner, kernel

# Types of arrays, and of matrices in C order.
I32, I64, F64, COUNTS, MATRIX = int32[::1], int64[::1], float64[::1], int32[:, ::1], float64[:, ::1]
# The kinds of topics, as in `priors`.
UNLABELLED, SOURCE, FIXED, CONCEPT, HIDDEN = 0, 1, 2, 3, 4
# The number of topics whose probabilities are summed together. The sums of several groups are computed in parallel by
# the processor.
GROUP = 16


@inner
def refresh(k, kinds, totals, sums, floors, nu, beta, words, r, inside, outside, base):
    """Compute the factors of topic k, which depend on its number of tokens n = totals[k].

    Let n_wk be the number of tokens of word w in topic k. P(w | k) is n_wk outside[k] + base[k]. For words of the
    topic's source text, P(w | k) is n_wk inside[k] + Σ_a r[k, a] delta_w^lambda_a: delta_w is the count of w in the
    source plus epsilon, lambda_a is the value of lambda at point a, and r[k, a] = nu[a] / (n + sums[k, a]), where nu[a]
    is the weight of the point. The number of points is a multiple of four, so that the processor can compute four sums
    in parallel.
    """
    kind, n = kinds[k], totals[k]
    if kind == SOURCE:
        for a in range(len(nu)):
            # Unlike the operator, the function does not check for 0, so the loop handles several points at once.
            r[k, a] = np.divide(nu[a], n + sums[k, a])
        s0 = s1 = s2 = s3 = b0 = b1 = b2 = b3 = 0.0
        for a in range(0, len(nu), 4):
            s0, s1, s2, s3 = s0 + r[k, a], s1 + r[k, a + 1], s2 + r[k, a + 2], s3 + r[k, a + 3]
            b0, b1 = b0 + r[k, a] * floors[k, a], b1 + r[k, a + 1] * floors[k, a + 1]
            b2, b3 = b2 + r[k, a + 2] * floors[k, a + 2], b3 + r[k, a + 3] * floors[k, a + 3]
        inside[k] = outside[k] = (s0 + s1) + (s2 + s3)
        base[k] = (b0 + b1) + (b2 + b3)
    elif kind == HIDDEN:
        inside[k] = outside[k] = base[k] = 0.0
        r[k, :] = 0.0
    else:
        outside[k] = 1.0 / (n + words * beta)
        base[k] = beta * outside[k]
        if kind != UNLABELLED:
            outside[k], inside[k], r[k, 0] = 0.0, 0.0, 1.0
        if kind == CONCEPT:
            inside[k] = r[k, 0] = 1.0 / (n + sums[k, 0])
            base[k] = r[k, 0] * floors[k, 0]


@inner
def expected(r, k, powers, c):
    """Return the dot product of row k of `r` and row c of `powers`. The lengths of the rows are a multiple of four."""
    # Slices of the rows would be reference-counted objects, which take more time than the product.
    s0 = s1 = s2 = s3 = 0.0
    for a in range(0, r.shape[1], 4):
        s0, s1 = s0 + r[k, a] * powers[c, a], s1 + r[k, a + 1] * powers[c, a + 1]
        s2, s3 = s2 + r[k, a + 2] * powers[c, a + 2], s3 + r[k, a + 3] * powers[c, a + 3]
    return (s0 + s1) + (s2 + s3)


@inner
def choose(p, groups, width, uniform):
    """Return the first topic at which the running sum of `p` exceeds the share `uniform` of the total; -1 if `p` is all
    0.

    `groups` is working memory for the sums of groups of topics. `width` is the number of topics.
    """
    total = 0.0
    for g in range(len(groups)):
        s0 = s1 = s2 = s3 = 0.0
        for k in range(g * GROUP, g * GROUP + GROUP, 4):
            s0, s1, s2, s3 = s0 + p[k], s1 + p[k + 1], s2 + p[k + 2], s3 + p[k + 3]
        groups[g] = (s0 + s1) + (s2 + s3)
        total += groups[g]
    target, g = uniform * total, 0
    while g < len(groups) - 1 and target >= groups[g]:
        target -= groups[g]
        g += 1
    for k in range(g * GROUP, min(width, g * GROUP + GROUP)):
        target -= p[k]
        if target < 0.0:
            return k
    # It can happen by rounding that no running sum exceeds the share.
    for k in range(width - 1, -1, -1):
        if p[k] > 0.0:
            return k
    return -1


@inner
def prior_of_document(kinds, n_d, alpha, d):
    """Set d[k] for each topic k to the document's number of tokens n_d[k] plus alpha.

    For the kinds `FIXED` and `CONCEPT`, d[k] is set to alpha alone, because there, words that the source lacks do not
    depend on the document.
    """
    for k in range(len(kinds)):
        d[k] = alpha if kinds[k] == FIXED or kinds[k] == CONCEPT else n_d[k] + alpha


@kernel(
    (int64, int64, I64, I32, I32, F64, COUNTS, F64, I64, I64, I32, I32, MATRIX, MATRIX, MATRIX, F64, float64, float64, int64)
)  # fmt: skip
def sweep(
    first, last, starts, words, z, uniforms, n_w, totals, kinds, known, topics, classes, powers, sums, floors, nu, beta, alphas, least
):  # fmt: skip
    """Draw a new topic for each token of the documents from `first` up to `last`, without `last`. Each token uses one
    number of `uniforms`.

    Word w occurs in the source texts of topics[known[w]:known[w + 1]]. The same part of `classes` has row numbers of
    `powers`; a row holds (count of the word in the source + epsilon)^lambda for each point. A topic that loses its last
    token is hidden if more than `least` topics are visible. The alpha of a topic is `alphas` divided by the number of
    visible topics. With T topics and A points, a token takes time O(T + A (topics with the word)).
    """
    width, points = len(totals), len(nu)
    groups = np.empty((width + GROUP - 1) // GROUP)
    # The probability of topics from `width` on stays 0.
    p = np.zeros(len(groups) * GROUP)
    r = np.zeros((width, points))
    inside, outside, base = np.zeros(width), np.zeros(width), np.zeros(width)
    n_d, d = np.zeros(width), np.empty(width)
    # Σ_a r[k, a] powers[c, a] only depends on the topic's number of tokens. `at` is the number for which `product` was
    # computed.
    product, at = np.empty(len(powers)), np.full(len(powers), -1.0)
    visible = 0
    for k in range(width):
        visible += kinds[k] != HIDDEN
        refresh(k, kinds, totals, sums, floors, nu, beta, len(n_w), r, inside, outside, base)
    alpha = alphas / visible
    for document in range(first, last):
        n_d[:] = 0.0
        for i in range(starts[document], starts[document + 1]):
            n_d[z[i]] += 1.0
        prior_of_document(kinds, n_d, alpha, d)
        for i in range(starts[document], starts[document + 1]):
            word, old = words[i], z[i]
            n_w[word, old] -= 1
            totals[old] -= 1.0
            n_d[old] -= 1.0
            if totals[old] == 0.0 and kinds[old] != HIDDEN and visible > least:
                kinds[old] = HIDDEN
                visible -= 1
                alpha = alphas / visible
                prior_of_document(kinds, n_d, alpha, d)
            elif kinds[old] <= SOURCE:
                d[old] = n_d[old] + alpha
            refresh(old, kinds, totals, sums, floors, nu, beta, len(n_w), r, inside, outside, base)
            for k in range(width):
                p[k] = (n_w[word, k] * outside[k] + base[k]) * d[k]
            for j in range(known[word], known[word + 1]):
                k, c = topics[j], classes[j]
                if kinds[k] != HIDDEN:
                    if at[c] != totals[k]:
                        product[c], at[c] = expected(r, k, powers, c), totals[k]
                    p[k] = (n_w[word, k] * inside[k] + product[c]) * (n_d[k] + alpha)
            new = choose(p, groups, width, uniforms[i])
            if new < 0:
                new = old
            n_w[word, new] += 1
            totals[new] += 1.0
            n_d[new] += 1.0
            if kinds[new] <= SOURCE:
                d[new] = n_d[new] + alpha
            refresh(new, kinds, totals, sums, floors, nu, beta, len(n_w), r, inside, outside, base)
            z[i] = new
