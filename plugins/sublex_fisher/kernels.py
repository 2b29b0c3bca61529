"""Kernels of the Fisher vector: the vectors of documents, and the similarity of words to a query.

Words x are in the mixture's standard units. Their posteriors are sparse, for nearly all of them are 0: of word w, gammas[g] belongs to
Gaussian of[g], for g from begins[w] on.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fisher(starts, terms, counts, first, weights, x, begins, of, gammas, theta, mu, sigma, vectors):
    """Equation 8 for each row from the first on; the second half of wider vectors is the gradient by the deviations.

    Σ γ (x - μ) / σ is (Σ γ x - μ Σ γ) / σ, so the sums over words need nothing of the Gaussian.
    """
    gaussians, e = mu.shape
    second = vectors.shape[1] > gaussians * e
    held = np.empty(gaussians)
    for d in range(len(vectors)):
        vector = vectors[d]
        vector[:] = 0.0
        held[:] = 0.0
        for i in range(starts[first + d], starts[first + d + 1]):
            word = terms[i]
            row = x[word]
            for g in range(begins[word], begins[word + 1]):
                k = of[g]
                share = np.float64(counts[i]) * weights[word] * gammas[g]
                held[k] += share
                part = vector[k * e : k * e + e]
                for j in range(e):
                    part[j] += share * row[j]
                if second:
                    part = vector[(gaussians + k) * e : (gaussians + k + 1) * e]
                    for j in range(e):
                        part[j] += share * row[j] * row[j]
        for k in range(gaussians):
            root = np.sqrt(theta[k])
            for j in range(e):
                linear, centre, width = vector[k * e + j], mu[k, j], sigma[k, j]
                vector[k * e + j] = (linear - held[k] * centre) / (width * root)
                if second:
                    square = vector[(gaussians + k) * e + j]
                    spread = square - 2.0 * centre * linear + held[k] * (centre * centre - width * width)
                    vector[(gaussians + k) * e + j] = spread / (width * width * root * np.sqrt(2.0))


@njit(cache=True, nogil=True)
def similarities(words, x, begins, of, gammas, squares, linear, constants, values):
    """The dot products of some words' vectors with the query's, which is a quadratic form for each Gaussian; `squares` may be empty."""
    second = len(squares) > 0
    for i in range(len(words)):
        word = words[i]
        total = 0.0
        for g in range(begins[word], begins[word + 1]):
            k = of[g]
            form = constants[k]
            for j in range(x.shape[1]):
                form += linear[k, j] * x[word, j]
            if second:
                for j in range(x.shape[1]):
                    form += squares[k, j] * x[word, j] * x[word, j]
            total += gammas[g] * form
        values[word] = total
