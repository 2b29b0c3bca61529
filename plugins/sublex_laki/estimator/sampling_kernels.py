"""Kernels of Gibbs sampling in noisy-OR networks: they draw which keyphrases are on, given the units of a document.

A chain keeps the log-odds of every keyphrase given all others. A flip of one keyphrase changes only the log-odds of the
keyphrases that are linked with it. Between two flips all probabilities stay the same. So the chain draws the sweep and
the keyphrase of the next flip at once, from the exact distribution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int8, int32, int64, uint64

from sublex.estimators.random_kernels import uniform
from sublex.tools.compiled import inner, kernel

# Types of arrays.
I8, I32, I64, U64, F64, MATRIX = int8[::1], int32[::1], int64[::1], uint64[::1], float64[::1], float64[:, ::1]
# The number of flips after which the log-odds are summed again, so that rounding errors do not grow.
FLIPS = 4096
# The state of a keyphrase that is on and stays on.
HELD = 2
# The table covers log-odds from -RANGE to RANGE, with this number of entries for each unit of log-odds.
RANGE, STEPS = 30.0, 64


class SamplingState(NamedTuple):
    """The chain of one document. The children of the document are its keyphrases and then its units. Links are in the
    order of their children.

    * `concerned` lists for each keyphrase the nodes whose values a flip of the keyphrase changes: its children, and
      then the keyphrase itself. The list of each keyphrase begins at `out_starts`. `out_links` has the link to each of
      these children.
    * `on` is 1, 0 or `HELD` for each child. `sums` has for each child its leak plus the weights of its links from
      parents that are on.
    * `parts` has the number that each link adds to the log-odds of its parent. `priors` has for each keyphrase the
      number that the keyphrase's own parents add to its log-odds.
    * `since` has for each child the sweep up to which its shares are complete: the last sweep in which the child or a
      parent changed.
    * `joint` has one entry: the logarithm of the joint probability of the state and the units.
    """

    starts: np.ndarray
    parents: np.ndarray
    weights: np.ndarray
    strengths: np.ndarray
    leaks: np.ndarray
    counts: np.ndarray
    outside: np.ndarray
    on: np.ndarray
    link_shares: np.ndarray
    leak_shares: np.ndarray
    out_starts: np.ndarray
    concerned: np.ndarray
    out_links: np.ndarray
    sums: np.ndarray
    parts: np.ndarray
    priors: np.ndarray
    logodds: np.ndarray
    stale: np.ndarray
    since: np.ndarray
    joint: np.ndarray


class ChainRecord(NamedTuple):
    """The record of a chain for each keyphrase: its probability now, sums over sweeps, and the sweep up to which the
    sums are complete.

    `means` sums the probabilities with which the keyphrase was drawn. `shares` counts the sweeps at whose end the
    keyphrase was on.
    """

    hazards: np.ndarray
    p: np.ndarray
    p_since: np.ndarray
    on_since: np.ndarray
    means: np.ndarray
    shares: np.ndarray
    table: np.ndarray


@kernel(
    (
        I64, I64, I64, I32, F64, F64, F64, F64, F64, I8, U64, int64, int64, int64, boolean, MATRIX, F64, F64, F64, F64, F64,
        I64,
    )
)  # fmt: skip
def sample(
    node_rows, child_rows, starts, parents, weights, strengths, leaks, counts, outside, on, seeds, sweeps, burn_in, swaps,
    learn, table, means, shares, link_shares, leak_shares, joints, flips,
):  # fmt: skip
    """Run a chain of `sweeps` sweeps for each document. The first `burn_in` sweeps do not count.

    `on` holds the first state of each child, and is set to the last state. `means` and `shares` are set to the two
    estimates of each keyphrase's probability, `joints` to the mean logarithm of the joint probability, and `flips` to
    the number of flips. With `learn`, `link_shares` is set for each link to the probability that parent and child are
    on and the link turns the child on. `leak_shares` is set for each child to the probability that the child is on and
    its leak turns it on.
    """
    state = np.empty(1, np.uint64)
    for d in range(len(node_rows) - 1):
        node, node_end, child, child_end = node_rows[d], node_rows[d + 1], child_rows[d], child_rows[d + 1]
        link, link_end = starts[child], starts[child_end]
        chain = chain_of(
            starts[child : child_end + 1] - link, parents[link:link_end], weights[link:link_end],
            strengths[link:link_end], leaks[child:child_end], counts[child:child_end], outside[node:node_end],
            on[child:child_end], link_shares[link:link_end] if learn else link_shares,
            leak_shares[child:child_end] if learn else leak_shares,
        )  # fmt: skip
        state[0] = seeds[d]
        size = node_end - node
        record = ChainRecord(
            np.empty(size), np.empty(size), np.zeros(size, np.int64), np.zeros(size, np.int64), means[node:node_end],
            shares[node:node_end], table,
        )  # fmt: skip
        flips[d], joints[d] = run(chain, record, state, sweeps, burn_in, swaps, learn)


@inner
def run(chain, record, state, sweeps, burn_in, swaps, learn):
    """Run one chain. Return its number of flips, and the mean logarithm of the joint probability."""
    size, flipped, t, joint = len(chain.logodds), np.int64(0), np.int64(0), 0.0
    left = exponential(state)
    record.on_since[:] = burn_in
    while t < sweeps:
        before, calm = left, True
        for k in range(size):
            if chain.stale[k]:
                refresh(chain, record, k, t, burn_in)
            left -= record.hazards[k]
            if left < 0.0:
                calm = False
                if comes_true(chain, record, k, state):
                    turn(chain, record, k, t, burn_in, learn)
                    flipped += 1
                    if flipped % FLIPS == 0:
                        add_up(chain)
                left = exponential(state)
        for _ in range(swaps):
            if swap(chain, record, state, t, burn_in, learn):
                calm = False
                flipped += 2
        skipped = np.int64(0)
        if calm and swaps == 0:
            # Every sweep without a flip uses up the same part of the exponential variate.
            rate = before - left
            skipped = sweeps - t - 1 if left >= (sweeps - t - 1) * rate else int(left / rate)
            left -= skipped * rate
        counted = min(1 + skipped, t + 1 + skipped - burn_in)
        if counted > 0:
            joint += chain.joint[0] * counted
        t += 1 + skipped
    finish(chain, record, sweeps, burn_in, learn)
    return flipped, joint / (sweeps - burn_in)


@inner
def exponential(state):
    """Return the next random number from the exponential distribution with mean 1."""
    return -np.log(1.0 - uniform(state))


@inner
def log1mexp(a):
    """Return log(1 - exp(-a)) for a > 0."""
    return np.log(-np.expm1(-a)) if a < 0.6931471805599453 else np.log1p(-np.exp(-a))


@inner
def chain_of(starts, parents, weights, strengths, leaks, counts, outside, on, link_shares, leak_shares):
    """Return the chain of a document in the state `on`."""
    size, children, links = len(outside), len(leaks), len(parents)
    out_starts = np.zeros(size + 1, np.int64)
    for k in parents:
        out_starts[k + 1] += 1
    for k in range(size):
        out_starts[k + 1] += out_starts[k] + 1
    place = out_starts[:-1].copy()
    concerned, out_links = np.empty(links + size, np.int32), np.full(links + size, -1, np.int32)
    for child in range(children):
        for i in range(starts[child], starts[child + 1]):
            k = parents[i]
            concerned[place[k]], out_links[place[k]] = child, i
            place[k] += 1
    concerned[place] = np.arange(size)
    chain = SamplingState(
        starts, parents, weights, strengths, leaks, counts, outside, on, link_shares, leak_shares, out_starts, concerned,
        out_links, np.empty(children), np.zeros(links), np.zeros(size), np.zeros(size), np.ones(size, np.bool_),
        np.zeros(children, np.int64), np.zeros(1),
    )  # fmt: skip
    update(chain, np.arange(children, dtype=np.int32))
    add_up(chain)
    return chain


@inner
def update(chain, children):
    """Recompute the values of some children, and change the log-odds accordingly.

    The values are the sums of the children, the priors of the children that are keyphrases, and the parts of their
    links. Let k be a parent of a child, w the weight of the link, s = 1 - exp(-w), and b the sum of the child without
    k. If the child is on, turning k on multiplies the probability of each copy of the child by (1 - exp(-b - w)) / (1 -
    exp(-b)) = 1 + s / (exp(b) - 1). If the child is off, the factor is exp(-w).
    """
    starts, parents, weights, strengths, on, parts = (
        chain.starts, chain.parents, chain.weights, chain.strengths, chain.on, chain.parts
    )  # fmt: skip
    logodds, stale = chain.logodds, chain.stale
    for child in children:
        begin, end, leak, count = starts[child], starts[child + 1], chain.leaks[child], chain.counts[child]
        # The sums are computed from the beginning, not updated, so that rounding errors do not grow.
        total = leak
        for i in range(begin, end):
            if on[parents[i]]:
                total += weights[i]
        chain.sums[child] = total
        odds = np.expm1(total)
        if child < len(logodds):
            prior = total if total > 40.0 else np.log(odds)
            logodds[child] += prior - chain.priors[child]
            chain.priors[child] = prior
            stale[child] = True
        # `reciprocal` does not test for 0, as a division would. Sums are above 0. This saves a quarter of the time.
        r = np.reciprocal(odds)
        for i in range(begin, end):
            k = parents[i]
            if not on[child]:
                part = -weights[i]
            elif on[k]:
                # Rounding could make the sum of the other links smaller than the leak.
                part = count * np.log(1.0 + strengths[i] * np.reciprocal(np.expm1(max(total - weights[i], leak))))
            else:
                part = count * np.log(1.0 + strengths[i] * r)
            logodds[k] += part - parts[i]
            parts[i] = part
            stale[k] = True


@inner
def add_up(chain):
    """Compute the log-odds and the joint probability again from all their parts."""
    size, joint = len(chain.logodds), 0.0
    for k in range(size):
        total = chain.priors[k] - chain.outside[k]
        for j in range(chain.out_starts[k], chain.out_starts[k + 1] - 1):
            total += chain.parts[chain.out_links[j]]
        chain.logodds[k] = total
        chain.stale[k] = True
        if chain.on[k]:
            joint -= chain.outside[k]
    for child in range(len(chain.sums)):
        joint += chain.counts[child] * log1mexp(chain.sums[child]) if chain.on[child] else -chain.sums[child]
    chain.joint[0] = joint


@inner
def flip(chain, k):
    """Turn a keyphrase on or off, and update the log-odds of all keyphrases that the flip changes."""
    chain.joint[0] += -chain.logodds[k] if chain.on[k] else chain.logodds[k]
    chain.on[k] = 1 - chain.on[k]
    update(chain, chain.concerned[chain.out_starts[k] : chain.out_starts[k + 1]])


@inner
def refresh(chain, record, k, t, burn_in):
    """Set two numbers of keyphrase k: the probability that it is on, and its hazard, which is at least -log(1 -
    probability of a flip).

    Both numbers come from the table, by linear interpolation. The hazard is a convex function of the log-odds, so the
    interpolated hazard is slightly too large; `comes_true` corrects this. The relative error of the probability is at
    most 3e-5.
    """
    record.means[k] += record.p[k] * max(0, t - max(record.p_since[k], burn_in)) if t > 0 else 0.0
    record.p_since[k] = t
    x = -chain.logodds[k] if chain.on[k] else chain.logodds[k]
    place = (min(max(x, -RANGE), RANGE) + RANGE) * STEPS
    i = min(np.int64(place), len(record.table) - 2)
    rest = place - i
    chance = record.table[i, 1] + rest * (record.table[i + 1, 1] - record.table[i, 1])
    record.hazards[k] = record.table[i, 0] + rest * (record.table[i + 1, 0] - record.table[i, 0])
    if x > RANGE:
        record.hazards[k] += x
    if chain.on[k] == HELD:
        record.hazards[k] = chance = 0.0
    record.p[k] = 1.0 - chance if chain.on[k] else chance
    chain.stale[k] = False


@inner
def comes_true(chain, record, k, state):
    """Return whether keyphrase k, which was drawn by its hazard, really flips.

    The hazard may be slightly too large, so some of the drawn flips are rejected.
    """
    x = -chain.logodds[k] if chain.on[k] else chain.logodds[k]
    return -uniform(state) * np.expm1(-record.hazards[k]) * (1.0 + np.exp(-x)) < 1.0


@inner
def turn(chain, record, k, t, burn_in, learn):
    """Flip keyphrase k in sweep t, and bring the record of the chain up to date."""
    if chain.on[k]:
        record.shares[k] += max(0, t - record.on_since[k])
    else:
        record.on_since[k] = max(t, burn_in)
    if learn:
        for j in range(chain.out_starts[k], chain.out_starts[k + 1]):
            share(chain, np.int64(chain.concerned[j]), t, burn_in)
    flip(chain, k)


@inner
def share(chain, child, t, burn_in):
    """Count the sweeps from the last change of a child up to sweep t in the shares of the child's leak and links.

    A share is a sum over the sweeps in which the child is on: of the probability that the leak, or a link from a parent
    that is on, turns the child on. Sweeps before `burn_in` do not count.
    """
    sweeps = t - max(chain.since[child], burn_in)
    chain.since[child] = t
    if sweeps <= 0 or not chain.on[child]:
        return
    each = sweeps / -np.expm1(-chain.sums[child])
    chain.leak_shares[child] += each * -np.expm1(-chain.leaks[child])
    for i in range(chain.starts[child], chain.starts[child + 1]):
        if chain.on[chain.parents[i]]:
            chain.link_shares[i] += each * chain.strengths[i]


@inner
def swap(chain, record, state, t, burn_in, learn):
    """Propose to turn one parent of a unit off and another parent on. Return whether the state changed.

    The probability of acceptance is Barker's, p' / (p + p'). With Metropolis's rule a pair of equally probable states
    would be swapped every time, and so end where it began.
    """
    size = len(chain.logodds)
    child = size + int(uniform(state) * (len(chain.sums) - size))
    begin, end = chain.starts[child], chain.starts[child + 1]
    active = off = 0
    for i in range(begin, end):
        active += chain.on[chain.parents[i]] == 1
        off += chain.on[chain.parents[i]] == 0
    if active == 0 or off == 0:
        return False
    old = pick(chain, begin, end, 1, int(uniform(state) * active))
    new = pick(chain, begin, end, 0, int(uniform(state) * off))
    change = -chain.logodds[old]
    turn(chain, record, old, t, burn_in, learn)
    accepted = uniform(state) * (1.0 + np.exp(-change - chain.logodds[new])) < 1.0
    turn(chain, record, new if accepted else old, t, burn_in, learn)
    return accepted


@inner
def pick(chain, begin, end, on, number):
    """Return a parent of the links from `begin` to `end`, whose last one is excluded; -1 if there are too few parents.

    Parents whose state is `on` (1 or 0) are counted from 0. The parent with this `number` is returned.
    """
    for i in range(begin, end):
        if chain.on[chain.parents[i]] == on:
            if number == 0:
                return np.int64(chain.parents[i])
            number -= 1
    return np.int64(-1)


@inner
def finish(chain, record, sweeps, burn_in, learn):
    """Add the sweeps since the last changes to the sums of the record and, with `learn`, to the shares of links and
    leaks.

    Then divide all these sums by the number of sweeps that count.
    """
    counted = sweeps - burn_in
    for k in range(len(chain.logodds)):
        record.means[k] += record.p[k] * (sweeps - max(record.p_since[k], burn_in))
        if chain.on[k]:
            record.shares[k] += sweeps - record.on_since[k]
        record.means[k] /= counted
        record.shares[k] /= counted
    if learn:
        for child in range(len(chain.sums)):
            share(chain, child, sweeps, burn_in)
            chain.leak_shares[child] /= counted
        for i in range(len(chain.link_shares)):
            chain.link_shares[i] /= counted
