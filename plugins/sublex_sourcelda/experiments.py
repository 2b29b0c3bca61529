"""The experiments of the paper on Source-LDA, on the data that its authors published.

The archive has a folder `source-lda`. It lacks two files. The sources of `integrate` are lines 101 to 200 of
wiki/ks_src.dat. The documents of `wiki` are drawn anew, each token from the topic that its key names; topics are drawn from
the sources with the paper's lambda, of mean 5 and deviation 2.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import rel_entr

from sublex.contracts.experiments import ExperimentWork
from sublex.errors import InputError
from sublex.estimators.topics.counts import Tokens
from sublex_sourcelda.gibbs import SourceChain
from sublex_sourcelda.model import SourceLDA
from sublex_sourcelda.priors import EPSILON, Priors, concept_priors, fixed_priors, points_of, source_priors
from sublex_sourcelda.smoothing import divergence, smoothings

# What the authors' build for the graphical example adds to each count. Their script sets lambda to 25.
GRAPHICAL_EPSILON, GRAPHICAL_LAMBDA = 0.1, 25
# Bytes of a file of the archive, at most.
MOST_BYTES = 1 << 26
# The last sweeps over which a likelihood is averaged.
LAST = 20


class Data(NamedTuple):
    """Documents as tokens, the words by number, the labels of the sources, and their counts."""

    tokens: Tokens
    words: list[str]
    labels: list[str]
    sources: csr_array


def tokens_of(lines: list[str], numbers: dict[str, int]) -> Tokens:
    """Return documents of words separated by blanks, in their order; new words get numbers."""
    words, starts = [], [0]
    for line in lines:
        words += [numbers.setdefault(word, len(numbers)) for word in line.split()]
        starts.append(len(words))
    return Tokens(np.array(starts, np.int64), np.array(words, np.int32))


def sources_of(lines: list[str], numbers: dict[str, int]) -> tuple[list[str], csr_array]:
    """Return the labels and the counts of lines with a label, words and counts; words without a number are left out."""
    labels: list[str] = []
    row: list[int] = []
    column: list[int] = []
    value: list[float] = []
    for line in lines:
        label, *fields = line.split()
        for word, count in zip(fields[::2], fields[1::2], strict=True):
            if word in numbers:
                row.append(len(labels))
                column.append(numbers[word])
                value.append(float(count))
        labels.append(label)
    return labels, csr_array((value, (row, column)), shape=(len(labels), len(numbers)))


def read(archive: str | os.PathLike[str], name: str) -> list[str]:
    """Return the lines of a file in the archive of the paper's data."""
    try:
        with tarfile.open(archive) as files:
            member = files.getmember(f"source-lda/{name}")
            stream = files.extractfile(member) if member.isfile() and member.size <= MOST_BYTES else None
            if stream is None:
                raise InputError(f"{name} in {archive} is no file, or larger than {MOST_BYTES:,} bytes.")
            return stream.read().decode().splitlines()
    except (KeyError, tarfile.TarError, EOFError, UnicodeDecodeError):
        raise InputError(
            f"{archive} is not the archive of the data of Source-LDA: it has no text source-lda/{name}."
        ) from None


def data_of(archive: str | os.PathLike[str], documents: str, sources: str, lines: slice = slice(None)) -> Data:
    """Return documents and sources of the archive."""
    numbers: dict[str, int] = {}
    tokens = tokens_of(read(archive, documents), numbers)
    return Data(tokens, list(numbers), *sources_of(read(archive, sources)[lines], numbers))


def key_of(archive: str | os.PathLike[str], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the true topic of each token, and where documents start."""
    lines = [np.array(line.split(), np.int64) for line in read(archive, name)]
    return np.concatenate(lines), np.append(0, np.cumsum([len(line) for line in lines]))


def js(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence of rows in nats."""
    middle = (p + q) / 2
    return (rel_entr(p, middle).sum(axis=-1) + rel_entr(q, middle).sum(axis=-1)) / 2


def swept(chain: SourceChain, sweeps: int, advance: Callable[[], None] = lambda: None) -> SourceChain:
    """Return a chain after some sweeps; `advance` is called after each."""
    for _ in range(sweeps):
        chain.sweep()
        advance()
    return chain


def chain_of(data: Data, priors: Priors, alphas: float = 50.0, seed: int = 0) -> SourceChain:
    """Return a chain with the published program's beta."""
    return SourceChain(data.tokens, len(data.words), priors, 200 / len(data.words), alphas, seed=seed)


class _Counter:
    """Reports the sweeps of several chains as one progress."""

    def __init__(self, work: ExperimentWork, total: int):
        self.work, self.total, self.done = work, total, 0

    def __call__(self) -> None:
        self.done += 1
        self.work.progress(self.done, self.total, "sweeps")


class _OnArchive:
    """An experiment on the archive whose units are seeds of chains."""

    needs_index = False
    measures: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()

    def __init__(self, *, archive: str, sweeps: int, seeds: int):
        self.archive, self.sweeps = archive, sweeps
        self.units = tuple(f"seed {seed}" for seed in range(seeds))


class GraphicalExample(_OnArchive):
    """The divergence of topics over pixels from the topics that the documents were drawn from.

    Each unit runs several chains of Source-LDA, and takes the one with the highest likelihood. The settings of the case
    "Source-LDA" are those of the authors' script. EDA keeps the topics of the sources.
    """

    measures = ("JS divergence",)
    cases = ("Source-LDA", "Source-LDA, lambda 1", "EDA", "CTM")

    def __init__(self, *, chains: int, **given: Any):
        super().__init__(**given)
        self.chains = chains

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the mean divergence of the topics by each model."""
        data = data_of(self.archive, "graphical/corpus.dat", "graphical/ks.dat")
        numbers = {word: number for number, word in enumerate(data.words)}
        truth = sources_of(read(self.archive, "graphical/phi.dat"), numbers)[1].toarray()
        truth /= truth.sum(axis=1, keepdims=True)
        source = data.sources.toarray() / data.sources.sum(axis=1)[:, None]
        advance, first = _Counter(work, self.sweeps * (2 * self.chains + 1)), self.units.index(unit) * self.chains
        found = {}
        for case, lam in (("Source-LDA", GRAPHICAL_LAMBDA), ("Source-LDA, lambda 1", 1)):
            priors = source_priors(data.sources, 0, points_of(lam, 0, 1), GRAPHICAL_EPSILON)
            found[case] = [min(self._chain(data, truth, priors, first + k, advance) for k in range(self.chains))[1]]
        concept = swept(chain_of(data, concept_priors(data.sources, 0), seed=first), self.sweeps, advance).phi()
        concept /= concept.sum(axis=0)
        return {**found, "EDA": [float(js(source, truth).mean())], "CTM": [float(js(concept.T, truth).mean())]}

    def _chain(
        self, data: Data, truth: np.ndarray, priors: Priors, seed: int, advance: Callable[[], None]
    ) -> tuple[float, float]:
        """Return minus the log-likelihood of a chain, and the divergence of its topics."""
        chain, logs = chain_of(data, priors, alphas=10, seed=seed), []
        for turn in range(self.sweeps):
            chain.sweep()
            advance()
            if turn >= self.sweeps - LAST:
                logs.append(chain.log_likelihood())
        return -float(np.mean(logs)), float(js(chain.phi().T, truth).mean())


class IntegratedLambda(_OnArchive):
    """The share of tokens with the right topic, and the perplexity of the last fifth of the documents, by the prior of lambda."""

    measures = ("right", "perplexity")

    def __init__(self, *, lambdas: Sequence[Any], **given: Any):
        super().__init__(**given)
        self.points = {"mean .5, deviation 1": points_of(0.5, 1, 25, 0, 1)}
        for value in lambdas:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
                raise InputError(f"lambdas has {value!r}; give numbers from 0 to 1.")
            self.points[f"lambda {value:g}"] = points_of(float(value), 0, 1)
        self.cases = tuple(self.points)

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the share and the perplexity for each prior."""
        data = data_of(self.archive, "integrate/corpus.dat", "wiki/ks_src.dat", slice(100, 200))
        key, _ = key_of(self.archive, "integrate/key.dat")
        advance, seed = _Counter(work, 2 * self.sweeps * len(self.cases)), self.units.index(unit)
        found = {}
        for case, points in self.points.items():
            chain = swept(chain_of(data, source_priors(data.sources, 0, points), seed=seed), self.sweeps, advance)
            perplexity = held_out(self.archive, points, self.sweeps, seed, advance)
            found[case] = [float((chain.z == key).mean()), perplexity]
        return found


class WikiTopics(_OnArchive):
    """The share of tokens with the right topic when the sources are exactly those of the documents."""

    measures = ("right",)
    cases = ("Source-LDA", "EDA", "CTM")

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the share for each model."""
        data, key = wiki_data(self.archive, "wiki/ks_bijective.dat")
        priors = {
            "Source-LDA": source_priors(data.sources, 0, points_of(5, 2, 10)),
            "EDA": fixed_priors(data.sources, 0),
            "CTM": concept_priors(data.sources, 0),
        }
        advance, seed = _Counter(work, self.sweeps * len(self.cases)), self.units.index(unit)
        return {
            case: [float((swept(chain_of(data, own, seed=seed), self.sweeps, advance).z == key).mean())]
            for case, own in priors.items()
        }


class ReutersLabels(_OnArchive):
    """The topics of Reuters that are left at the end: how many of `k` have a label."""

    measures = ("labelled topics",)
    cases = ("Source-LDA", "CTM")

    def __init__(self, *, k: int, **given: Any):
        super().__init__(**given)
        self.k = k

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the number of labelled topics by each model."""
        data = data_of(self.archive, "reuters/input.dat", "reuters/ks.dat")
        found, seed = {}, self.units.index(unit)
        for done, (case, model) in enumerate((("Source-LDA", "full"), ("CTM", "ctm"))):
            work.progress(done, len(self.cases), "models")
            fitted = SourceLDA(self.k, model, self.sweeps, alphas=50, seed=seed).fit_tokens(data.tokens, data.sources)
            found[case] = [float((fitted.topics_ >= 0).sum())]
        return found


class LambdaSmoothing:
    """How far the divergence of a topic from its source departs from a line in lambda, with and without the function g."""

    needs_index = False
    measures = ("off the line",)
    cases = ("with g", "without g")
    units = ("new draws",)

    def __init__(self, *, archive: str, sources: int):
        self.archive, self.sources = archive, sources

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the largest departure as a share of the whole rise, the mean over the first sources of Reuters."""
        data = data_of(self.archive, "reuters/input.dat", "reuters/ks.dat")
        counts, off = data.sources[: self.sources], np.zeros((self.sources, 2))
        for number, g in enumerate(smoothings(counts)):
            work.progress(number, self.sources, "sources")
            row = counts[[number]].data
            row, chance = row[row > 0], np.random.default_rng(1)
            curves: tuple[Callable[[Any], Any], ...] = (g, float)
            for place, curve in enumerate(curves):
                at = [
                    divergence(row, len(data.words) - len(row), float(curve(x)), chance) for x in np.linspace(0, 1, 20)
                ]
                line = np.linspace(at[0], at[-1], 20)
                off[number, place] = np.abs(at - line).max() / (at[0] - at[-1])
        return {case: [float(value)] for case, value in zip(self.cases, off.mean(axis=0), strict=True)}


def held_out(
    archive: str | os.PathLike[str], points: Any, sweeps: int, seed: int = 0, advance: Callable[[], None] = lambda: None
) -> float:
    """Return the perplexity as the published program computes it: topics of the test documents are drawn along with the others."""
    lines = read(archive, "integrate/corpus.dat")
    limit, numbers = int(len(lines) * 0.8), dict[str, int]()
    train = tokens_of(lines[:limit], numbers)
    known = [" ".join(word for word in line.split() if word in numbers) for line in lines[limit:]]
    test = tokens_of([line for line in known if line], numbers)
    labels, sources = sources_of(read(archive, "wiki/ks_src.dat")[100:200], numbers)
    priors = source_priors(sources, 0, points)
    chain = chain_of(Data(train, list(numbers), labels, sources), priors, seed=2 * seed)
    other = chain_of(Data(test, list(numbers), labels, sources), priors, seed=2 * seed + 1)
    for _ in range(sweeps):
        advance()
        chain.sweep()
        other.n_w += chain.n_w
        other.totals += chain.totals
        other.sweep()
        other.n_w -= chain.n_w
        other.totals -= chain.totals
    theta, phi = other.theta(), chain.phi()
    document = np.repeat(np.arange(len(theta)), np.diff(test.starts))
    return float(np.exp(-np.log((phi[test.words] * theta[document]).sum(axis=1)).mean()))


def wiki_data(archive: str | os.PathLike[str], sources: str) -> tuple[Data, np.ndarray]:
    """Return the documents of wiki, drawn anew by the model from the keyed topics, with a file of sources, and the key."""
    key, starts = key_of(archive, "wiki/key.dat")
    numbers: dict[str, int] = {}
    lines = read(archive, "wiki/ks_bijective.dat")
    for line in lines:
        for word in line.split()[1::2]:
            numbers.setdefault(word, len(numbers))
    counts, rng = sources_of(lines, numbers)[1].toarray(), np.random.default_rng(0)
    lambdas = np.maximum(np.random.default_rng(1).normal(5, 2, len(counts)), 0)
    words = np.empty(len(key), np.int32)
    for topic, row in enumerate(counts):
        own = key == topic
        phi = rng.dirichlet(np.where(row > 0, row, EPSILON) ** lambdas[topic])
        words[own] = rng.choice(len(row), own.sum(), p=phi)
    # The vocabulary is that of the documents.
    used, numbered = np.unique(words, return_inverse=True)
    vocabulary = [word for word, number in numbers.items() if number in set(used.tolist())]
    renumbered = {word: number for number, word in enumerate(vocabulary)}
    tokens = Tokens(starts, numbered.astype(np.int32))
    return Data(tokens, vocabulary, *sources_of(read(archive, sources), renumbered)), key
