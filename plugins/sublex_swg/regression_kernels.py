"""Kernels that fit the logistic regression of one word on the other words of a topic's documents.

The documents are binary and stored by column, in two arrays: where each column starts, and the documents that hold the
column's word. No two columns are equal, and no column is empty or full. Callers check the arguments.

The method is a Newton method with a line search. Each Newton step is a quadratic problem with an ℓ1 penalty. Coordinate
descent solves it over a small working set of columns. The intercept is not penalised; each step computes it exactly.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64

from sublex.tools.compiled import inner, kernel

# Types of arrays.
I32, I64 = int32[::1], int64[::1]

# The largest number of steps of each loop. With text, a loop takes some tens of steps. If a loop ends too early, the
# returned violation shows it.
ROUNDS, NEWTON_STEPS, SWEEPS, HALVINGS = 200, 100, 5000, 40
# The smallest number of columns that enter the working set in a round.
NEW_COLUMNS = 16
# The number of documents whose losses share one logarithm: that of a product, which is at most 2 ** PRODUCT.
PRODUCT = 32
# A constant that is added to second derivatives. It keeps a step finite where the documents of a column are nearly
# certain.
RIDGE = 1e-9


@kernel((I64, I32, int64, I64, float64, float64), before="demo")
def neighbourhoods(starts, docs, size, targets, rho, tol):
    """Return the regressions of the columns `targets`, each on all other columns.

    Five arrays are returned: lengths, columns, weights, intercepts and violations. The non-zero weights of all targets
    are stored end to end, and `columns` has the column of each weight; `lengths` has the number of weights of each
    target. A violation says how far the conditions of the optimum are violated at most, divided by `rho`. It is at most
    `tol` where the method converged.
    """
    lengths = np.zeros(len(targets), np.int64)
    intercepts, violations = np.empty(len(targets)), np.empty(len(targets))
    columns, values = np.empty(64 * len(targets), np.int32), np.empty(64 * len(targets))
    weights = np.zeros(len(starts) - 1)
    end = 0
    for t in range(len(targets)):
        support, intercepts[t], violations[t] = _neighbourhood(starts, docs, size, targets[t], rho, tol, weights)
        while end + len(support) > len(columns):
            columns = np.concatenate((columns, np.empty_like(columns)))
            values = np.concatenate((values, np.empty_like(values)))
        for j in support:
            columns[end], values[end] = j, weights[j]
            weights[j] = 0.0
            end += 1
        lengths[t] = len(support)
    return lengths, columns[:end], values[:end], intercepts, violations


@inner
def _neighbourhood(starts, docs, size, target, rho, tol, weights):
    """Set `weights`, which must be all 0, to the regression of the column `target`.

    Return the columns whose weight is not 0, the intercept, and the violation.
    """
    y = np.zeros(size)
    y[docs[starts[target] : starts[target + 1]]] = 1.0
    positives = starts[target + 1] - starts[target]
    intercept = np.log(positives / (size - positives))
    logits, residuals, decays = np.full(size, intercept), np.empty(size), np.full(size, np.exp(-abs(intercept)))
    gradient, violations = np.empty(len(weights)), np.empty(len(weights))
    support = np.empty(0, np.int64)
    worst = np.inf
    for _ in range(ROUNDS):
        _residuals(logits, decays, y, residuals)
        _gradients(starts, docs, residuals, gradient)
        gradient[target] = 0.0
        worst = max(_violations(gradient, weights, rho, violations), abs(residuals.sum()))
        if worst <= tol * rho:
            break
        working = _working_set(support, violations)
        goal = max(0.5 * tol * rho, 0.1 * worst)
        intercept = _minimise(starts, docs, working, y, rho, goal, weights, intercept, logits, decays)
        support = working[weights[working] != 0]
    return np.sort(support), intercept, worst / rho


@inner
def _residuals(logits, decays, y, residuals):
    """Set `residuals` for each document to the probability of the target word, minus `y`.

    `y` is 1 for documents with the target word, otherwise 0. `logits` are the log-odds of the probabilities, and `decays`
    has exp(-|x|) for each logit x.
    """
    for d in range(len(y)):
        chance = 1.0 / (1.0 + decays[d])
        residuals[d] = (chance if logits[d] >= 0.0 else decays[d] * chance) - y[d]


@inner
def _sum_of(values, docs, begin, end):
    """Return the sum of the values of the documents in a part of `docs`.

    Four sums run beside each other, because each addition waits for the one before it.
    """
    first = second = third = fourth = 0.0
    whole = end - (end - begin) % 4
    for i in range(begin, whole, 4):
        first += values[docs[i]]
        second += values[docs[i + 1]]
        third += values[docs[i + 2]]
        fourth += values[docs[i + 3]]
    for i in range(whole, end):
        first += values[docs[i]]
    return (first + second) + (third + fourth)


@inner
def _gradients(starts, docs, residuals, gradient):
    """Set the gradient of the loss for every column. It is the sum of the residuals of the column's documents."""
    for j in range(len(gradient)):
        gradient[j] = _sum_of(residuals, docs, starts[j], starts[j + 1])


@inner
def _violation(gradient, weight, rho):
    """Return how far a weight violates the condition of its optimum.

    It is the distance of 0 from the subdifferential of loss + rho·|weight|; `gradient` is the derivative of the loss.
    """
    if weight > 0:
        return abs(gradient + rho)
    if weight < 0:
        return abs(gradient - rho)
    return max(abs(gradient) - rho, 0.0)


@inner
def _violations(gradient, weights, rho, violations):
    """Set the violation of every column, and return the largest violation."""
    worst = 0.0
    for j in range(len(weights)):
        violations[j] = _violation(gradient[j], weights[j], rho)
        worst = max(worst, violations[j])
    return worst


@inner
def _working_set(support, violations):
    """Return the columns of `support`, and other columns with the largest violations.

    There are about as many other columns as columns of `support`, but at least `NEW_COLUMNS` if enough columns have a
    violation.
    """
    violations[support] = 0.0
    others = np.flatnonzero(violations)
    order = np.argsort(-violations[others], kind="mergesort")
    return np.concatenate((support, others[order[: max(NEW_COLUMNS, len(support))]]))


@inner
def _by_document(starts, docs, working, size):
    """Return the working set by document, in two arrays: where each document starts, and the places in `working` of the
    columns that the document has.
    """
    begin = np.zeros(size + 1, np.int64)
    for j in working:
        for i in range(starts[j], starts[j + 1]):
            begin[docs[i] + 1] += 1
    begin = np.cumsum(begin)
    place, items = begin[:-1].copy(), np.empty(begin[-1], np.int32)
    for k in range(len(working)):
        for i in range(starts[working[k]], starts[working[k] + 1]):
            items[place[docs[i]]] = k
            place[docs[i]] += 1
    return begin, items


@inner
def _minimise(starts, docs, working, y, rho, goal, weights, intercept, logits, decays):
    """Minimise the objective over the weights of the columns in `working` and the intercept, until no violation is
    above `goal`.

    `weights`, `logits` and `decays` (exp(-|x|) for each logit x) are updated. Returns the intercept.
    """
    size, width = len(y), len(working)
    begin, items = _by_document(starts, docs, working, size)
    w = weights[working]
    residuals, seconds, change = np.empty(size), np.empty(size), np.empty(size)
    trial, trial_decays = np.empty(size), np.empty(size)
    loss = _loss(logits, decays)
    gradient, centre, step = np.empty(width), np.empty(width), np.empty(width)
    hessian = np.empty((width, width))
    for _ in range(NEWTON_STEPS):
        _residuals(logits, decays, y, residuals)
        slope = residuals.sum()
        worst = abs(slope)
        for k in range(width):
            gradient[k] = _sum_of(residuals, docs, starts[working[k]], starts[working[k] + 1])
            worst = max(worst, _violation(gradient[k], w[k], rho))
        if worst <= goal:
            break
        curve = _curves(starts, docs, working, begin, items, y, residuals, seconds, centre, hessian)
        # For given weights, the best intercept has a closed form. With this form, the quadratic problem has only the
        # weights as unknowns.
        for k in range(width):
            gradient[k] -= centre[k] * slope / curve
            for m in range(width):
                hessian[k, m] -= centre[k] * centre[m] / curve
            hessian[k, k] += RIDGE
        step[:] = 0.0
        descent = _descend(hessian, gradient.copy(), w, rho, 0.01 * worst, step)
        shift = -(slope + (centre * step).sum()) / curve
        descent += (gradient * step).sum() - slope * slope / curve
        for d in range(size):
            change[d] = shift
            for i in range(begin[d], begin[d + 1]):
                change[d] += step[items[i]]
        t, loss = _line_search(logits, y, change, w, step, rho, descent, loss, trial, trial_decays)
        intercept += t * shift
        logits[:] = trial
        decays[:] = trial_decays
        for k in range(width):
            w[k] += t * step[k]
    weights[working] = w
    return intercept


@inner
def _curves(starts, docs, working, begin, items, y, residuals, seconds, centre, hessian):
    """Set the second derivatives of the loss over the working set: `hessian`, and `centre`, those with the intercept.

    `seconds` is set to the second derivative of each document. Returns their sum, that of the intercept.
    """
    hessian[:, :] = 0.0
    curve = 0.0
    for d in range(len(y)):
        r = residuals[d]
        h = (r + y[d]) * (1.0 - y[d] - r)
        seconds[d] = h
        curve += h
        for i in range(begin[d], begin[d + 1]):
            # The columns of a document ascend, so this fills the upper half.
            k = items[i]
            for m in range(i, begin[d + 1]):
                hessian[k, items[m]] += h
    for k in range(len(centre)):
        centre[k] = _sum_of(seconds, docs, starts[working[k]], starts[working[k] + 1])
        for m in range(k):
            hessian[k, m] = hessian[m, k]
    return max(curve, 1e-300)


@inner
def _descend(hessian, slopes, w, rho, goal, step):
    """Set `step` by coordinate descent to the s that minimises slopes·s + ½ sᵀ·hessian·s + rho·|w + s|.

    `slopes` becomes the gradient of the first two terms at the minimum. Returns the change of rho·|w|. Sweeps over all
    coordinates alternate with sweeps over the coordinates at which w + s is not 0.
    """
    width = len(w)
    everything = True
    for _ in range(SWEEPS):
        largest = 0.0
        for k in range(width):
            old = w[k] + step[k]
            if old == 0.0 and not everything:
                continue
            curve = hessian[k, k]
            if curve <= 0.0:
                continue
            pull = curve * old - slopes[k]
            new = 0.0
            if pull > rho:
                new = (pull - rho) / curve
            elif pull < -rho:
                new = (pull + rho) / curve
            if new != old:
                delta = new - old
                # w + step must be exactly 0 where the penalty sets it to 0.
                step[k] = new - w[k] if new != 0.0 else -w[k]
                largest = max(largest, curve * abs(delta))
                row = hessian[k]
                for m in range(width):
                    slopes[m] += row[m] * delta
        if largest <= goal:
            if everything:
                break
            everything = True
        else:
            everything = False
    penalty = 0.0
    for k in range(width):
        penalty += abs(w[k] + step[k]) - abs(w[k])
    return rho * penalty


@inner
def _loss(logits, decays):
    """Return the sum of log(1 + exp(x)) over all logits x. `decays` has exp(-|x|) for each of them."""
    total, product = 0.0, 1.0
    for d in range(len(logits)):
        total += max(logits[d], 0.0)
        product *= 1.0 + decays[d]
        if (d + 1) % PRODUCT == 0:
            total += np.log(product)
            product = 1.0
    return total + np.log(product)


@inner
def _line_search(logits, y, change, w, step, rho, descent, loss, trial, decays):
    """Return the first of the step lengths 1, ½, ¼ … that lowers the objective enough, and the loss after this step.

    A full step adds `change` to the logits and `step` to the weights `w`. `loss` is the sum of log(1 + exp(x)) before the
    step, and `descent` is the change of the objective that the quadratic problem predicts for a full step. `trial` is set to
    the logits after the step, and `decays` to exp(-|x|) of them.
    """
    t = 1.0
    after = loss
    for _ in range(HALVINGS):
        gain = 0.0
        for d in range(len(y)):
            trial[d] = logits[d] + t * change[d]
            decays[d] = np.exp(-abs(trial[d]))
            gain += y[d] * change[d]
        after = _loss(trial, decays)
        difference = after - loss - t * gain
        for k in range(len(w)):
            difference += rho * (abs(w[k] + t * step[k]) - abs(w[k]))
        # Differences smaller than the rounding of the sums are meaningless.
        if difference <= 0.01 * t * descent + 1e-14 * (loss + len(y)):
            break
        t *= 0.5
    return t, after
