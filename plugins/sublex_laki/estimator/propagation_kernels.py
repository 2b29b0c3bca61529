"""Kernels of belief propagation in noisy-OR networks: they compute the probabilities of the keyphrases, given a
document's units.

No random numbers are used. Each link carries a message from the child to its parent: the odds for the parent that
follow from this child alone. The result is exact if a subgraph is a tree.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64

from sublex.tools.compiled import inner, kernel

# Types of arrays.
I32, I64, F64 = int32[::1], int64[::1], float64[::1]
# The smallest probability that a link does not act, and that no link of a child acts. The second divided by the first
# is a probability too.
LEAST, LEAST_PRODUCT = 1e-100, 1e-300


@kernel((I64, I64, I64, I32, F64, F64, F64, F64, int64, float64, float64, F64))
def propagate(
    node_rows, child_rows, starts, parents, strengths, leaks, counts, outside, steps, tolerance, damping, means
):  # fmt: skip
    """Set `means` to the probabilities of the keyphrases of each document, by belief propagation.

    In each step, a message becomes a weighted mean: of the old message, with the weight `damping`, and of the message
    that the step computes. The iteration ends when no probability changes by more than `tolerance` in a step, or after
    `steps` steps.
    """
    for d in range(len(node_rows) - 1):
        node, node_end, child, child_end = node_rows[d], node_rows[d + 1], child_rows[d], child_rows[d + 1]
        link, link_end = starts[child], starts[child_end]
        messages, quiet = np.zeros(link_end - link), np.empty(link_end - link)
        evidence, priors = -outside[node:node_end], np.empty(node_end - node)
        for k in range(node_end - node):
            leak = leaks[child + k]
            priors[k] = leak if leak > 40.0 else np.log(np.expm1(leak))
        for _ in range(steps):
            change = 0.0
            for c in range(child_end - child - 1, -1, -1):
                begin, end = starts[child + c] - link, starts[child + c + 1] - link
                if begin < end:
                    change = max(change, pass_on(
                        c, parents[link + begin : link + end], strengths[link + begin : link + end], leaks[child + c],
                        counts[child + c], evidence, priors, messages[begin:end], quiet[begin:end], damping,
                    ))  # fmt: skip
            if change <= tolerance:
                break
        for k in range(node_end - node):
            means[node + k] = logistic(priors[k] + evidence[k])


@inner
def logistic(x):
    """Return 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + np.exp(-x))


@inner
def pass_on(child, parents, strengths, leak, count, evidence, priors, messages, quiet, damping):
    """Update the messages from the child with the number `child` to its parents. Return the largest change of a
    probability.

    The log-odds of keyphrase k are the sum of priors[k], which comes from the parents of k, and evidence[k], which
    comes from its children. `quiet` is working memory.
    """
    none, change, spontaneous = np.exp(-leak), 0.0, -np.expm1(-leak)
    for i in range(len(parents)):
        k = parents[i]
        # The log-odds of the parent are used without the last message of this child.
        quiet[i] = max(1.0 - strengths[i] * logistic(priors[k] + evidence[k] - messages[i]), LEAST)
        none *= quiet[i]
    none = max(none, LEAST_PRODUCT)
    is_unit, odds = child >= len(priors), 1.0
    if not is_unit:
        prior = np.log((1.0 - none) / none) if none < 1.0 - spontaneous else np.log(np.expm1(leak))
        change = abs(logistic(prior + evidence[child]) - logistic(priors[child] + evidence[child]))
        priors[child], odds = prior, np.exp(min(evidence[child], 300.0))
    for i in range(len(parents)):
        k = parents[i]
        # Two probabilities that the child is on: if this parent is off, and if this parent is on.
        off = max(1.0 - none / quiet[i], spontaneous)
        on = off + (1.0 - off) * strengths[i]
        likelihoods = on / off if is_unit else (1.0 - on + odds * on) / (1.0 - off + odds * off)
        step = (1.0 - damping) * (np.log(likelihoods) - messages[i])
        before = logistic(priors[k] + evidence[k])
        evidence[k] += count * step
        messages[i] += step
        change = max(change, abs(logistic(priors[k] + evidence[k]) - before))
    return change
