"""Kernels of the Fisher vector: the vectors of documents, and the similarities of words to a query.

The word vectors x are in the mixture's standard units (see `gmm`). Nearly all posteriors are 0, so they are stored sparsely: word w
belongs to Gaussian of[g] with probability gammas[g], for g from begins[w] to begins[w + 1]. Callers check the
arguments.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64

from sublex.tools.compiled import kernel

# The types of the kernels' arguments.
I32 = int32[::1]
I64 = int64[::1]
F64 = float64[::1]
MATRIX = float64[:, ::1]


@kernel(
    (I32, I32, I32, int64, F64, MATRIX, I64, I64, F64, F64, MATRIX, MATRIX, MATRIX),
    (I32, I32, F64, int64, F64, MATRIX, I64, I64, F64, F64, MATRIX, MATRIX, MATRIX),
    (I64, I64, F64, int64, F64, MATRIX, I64, I64, F64, F64, MATRIX, MATRIX, MATRIX),
    before="demo",
)
def fisher(starts, terms, counts, first, weights, x, begins, of, gammas, theta, mu, sigma, vectors):
    """Set vectors[d] to the Fisher vector (equation 8) of document `first` + d.

    Documents are compressed sparse rows: `starts`, `terms` and `counts`. `theta`, `mu` and `sigma` are the shares θ,
    means μ and standard deviations σ of the Gaussians. The posteriors γ of the words are in `begins`, `of` and
    `gammas`; `x` are the word vectors. If the vectors are twice as wide as `mu`, their second half is set to the
    gradient by the standard deviations.

    Σ γ (x - μ) / σ is computed as (Σ γ x - μ Σ γ) / σ, so that the loop over words needs neither μ nor σ.
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


@kernel((I64, MATRIX, I64, I64, F64, MATRIX, MATRIX, F64, F64), before="demo")
def similarities(words, x, begins, of, gammas, squares, linear, constants, values):
    """Set values[w] for each word w of `words` to the dot product of the word's Fisher vector and the Fisher vector of
    a query.

    For each Gaussian, the product is a quadratic form in the word's vector x[w]; the forms are weighted by the word's
    posteriors and added. `squares` (empty if the form is linear), `linear` and `constants` have the coefficients of the
    forms, which depend on the query.
    """
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
