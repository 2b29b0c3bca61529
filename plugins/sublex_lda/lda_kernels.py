"""Kernels of latent Dirichlet allocation: Gibbs sweeps, variational inference, and estimates of the likelihood of documents.

`phi` has a row for each word and a column for each topic. Documents are compressed sparse rows in three arrays: the
starts of rows, the words, and their counts. Callers check the arguments.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, uint64

from sublex.estimators.random_kernels import uniform
from sublex.estimators.topics.inference_kernels import choose
from sublex.tools.compiled import inner, kernel

# Types of arrays, and of a matrix in C order.
I32, I64, U64, F64, MATRIX = int32[::1], int64[::1], uint64[::1], float64[::1], float64[:, ::1]


@inner
def count(topic, step, n_d, totals, alpha, smoothing, a):
    """Add `step`, 1 or -1, to the number of tokens of a topic: in the document (`n_d`) and in all documents (`totals`).

    Return the change of a[topic], which `sweep` explains. `smoothing` is beta times the number of words.
    """
    n_d[topic] += step
    totals[topic] += step
    old = a[topic]
    a[topic] = (n_d[topic] + alpha[topic]) / (totals[topic] + smoothing)
    return a[topic] - old


@kernel((int64, int64, I64, I32, I32, I64, I32, I32, I64, F64, F64, float64, U64), before="demo")
def sweep(first, last, starts, words, z, places, topics, counts, sizes, totals, alpha, beta, state):
    """Draw a new topic for each token of the documents from `first` up to, but not including, `last`.

    topics[places[w]:places[w] + sizes[w]] are the topics of word w. The same part of `counts` has n_wk, the number of
    tokens of the word in each of these topics. `totals` has n_k, the number of tokens of each topic. Let n_dk be the
    number of tokens of document d in topic k, and V the number of words. The probability of topic k is proportional to
    (n_wk + beta) a_k = n_wk a_k + beta a_k, where a_k = (n_dk + alpha_k) / (n_k + V beta). The first term is 0 for
    topics that the word does not have (Yao, Mimno and McCallum 2009). The sum of a_k over all topics is `mass`; it
    changes at two topics for each token.
    """
    width, smoothing = len(totals), beta * len(sizes)
    n_d, a, running = np.zeros(width), np.empty(width), np.empty(width)
    for d in range(first, last):
        n_d[:] = 0.0
        for i in range(starts[d], starts[d + 1]):
            n_d[z[i]] += 1.0
        mass = 0.0
        for k in range(width):
            a[k] = (n_d[k] + alpha[k]) / (totals[k] + smoothing)
            mass += a[k]
        for i in range(starts[d], starts[d + 1]):
            word, old = words[i], z[i]
            begin, size = places[word], sizes[word]
            j = begin
            while topics[j] != old:
                j += 1
            counts[j] -= 1
            if counts[j] == 0:
                size -= 1
                topics[j], counts[j] = topics[begin + size], counts[begin + size]
                counts[begin + size] = 0
            mass += count(old, -1.0, n_d, totals, alpha, smoothing, a)
            total = 0.0
            for j in range(size):
                total += counts[begin + j] * a[topics[begin + j]]
                running[j] = total
            target = uniform(state) * (total + beta * mass)
            j = 0
            if target < total:
                while running[j] <= target:
                    j += 1
                new = topics[begin + j]
            else:
                new = choose(a, (target - total) / beta)
                while j < size and topics[begin + j] != new:
                    j += 1
                if j == size:
                    topics[begin + j] = new
                    size += 1
            counts[begin + j] += 1
            sizes[word], z[i] = size, new
            mass += count(new, 1.0, n_d, totals, alpha, smoothing, a)


@kernel((I32, MATRIX, F64, int64, U64, F64, F64))
def left_to_right(words, phi, alpha, particles, state, means, logs):
    """Estimate the probability of each word of a document, given the words before it (Wallach et al. 2009, algorithm
    3).

    Each particle draws topics for the words. means[n] is set to the mean over the particles of the probability of word
    n. logs[r] is set to the sum over the words of the logarithms of these probabilities for particle r.
    """
    width = len(alpha)
    n_d, p = np.empty(width), np.empty(width)
    z = np.empty(len(words), np.int32)
    alphas = 0.0
    for k in range(width):
        alphas += alpha[k]
    means[:] = 0.0
    for r in range(particles):
        n_d[:] = 0.0
        logs[r] = 0.0
        for n in range(len(words)):
            # First draw a topic again for each earlier token, given the topics of the others. Then draw a topic for the
            # new token.
            for m in range(n + 1):
                if m < n:
                    n_d[z[m]] -= 1.0
                total = 0.0
                for k in range(width):
                    p[k] = phi[words[m], k] * (n_d[k] + alpha[k])
                    total += p[k]
                if m == n:
                    means[n] += total / (n + alphas) / particles
                    logs[r] += np.log(total / (n + alphas))
                z[m] = choose(p, uniform(state) * total)
                n_d[z[m]] += 1.0


@kernel((float64,))
def digamma(x):
    """Return the digamma function of x > 0, with an error of about 1e-14: by recurrence up to 10, then by the
    asymptotic series.
    """
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    return shift + np.log(x) - 0.5 / x - series


@inner
def exp_mean_log(gamma, theta):
    """Set theta[k] to exp E[log theta_k] for a Dirichlet distribution with the parameters gamma."""
    total = 0.0
    for k in range(len(gamma)):
        total += gamma[k]
    shift = digamma(total)
    for k in range(len(gamma)):
        theta[k] = np.exp(digamma(gamma[k]) - shift)


@kernel((I64, I32, F64, MATRIX, F64, int64, float64, MATRIX, MATRIX, F64))
def expectation(starts, words, counts, factors, alpha, steps, tolerance, gamma, theta, norms):
    """Improve the variational parameters `gamma` of each row in place (Blei, Ng and Jordan 2003, figure 6).

    `factors` holds exp E[log phi], by word and topic. `theta` is set to exp E[log theta]. For each entry i of the rows,
    norms[i] is set to the sum over topics of the document's `theta` times the word's factor. The iteration starts at
    the given `gamma`. It ends when the mean change of the entries of `gamma` is at most `tolerance`, or after `steps`
    steps.
    """
    width = len(alpha)
    sums = np.empty(width)
    for d in range(len(starts) - 1):
        row, parameters = theta[d], gamma[d]
        exp_mean_log(parameters, row)
        change, step = np.inf, 0
        while True:
            sums[:] = 0.0
            for i in range(starts[d], starts[d + 1]):
                factor = factors[words[i]]
                norm = 1e-300
                for k in range(width):
                    norm += row[k] * factor[k]
                norms[i] = norm
                for k in range(width):
                    sums[k] += counts[i] / norm * factor[k]
            # The norms are computed from the last gamma, so the test comes before the next gamma is computed.
            if step == steps or change <= tolerance * width:
                break
            change = 0.0
            for k in range(width):
                value = alpha[k] + row[k] * sums[k]
                change += abs(value - parameters[k])
                parameters[k] = value
            exp_mean_log(parameters, row)
            step += 1
