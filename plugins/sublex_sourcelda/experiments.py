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
from sublex.estimators.topics.coherence import listed_words, npmi, top_words
from sublex.estimators.topics.counts import Tokens
from sublex_sourcelda.gibbs import SourceChain
from sublex_sourcelda.model import SourceLDA
from sublex_sourcelda.priors import EPSILON, Priors, concept_priors, fixed_priors, points_of, source_priors
from sublex_sourcelda.smoothing import divergence, divergences, smoothings

# What the authors' build for the graphical example adds to each count. Their script sets lambda to 25.
GRAPHICAL_EPSILON, GRAPHICAL_LAMBDA = 0.1, 25
# Bytes of a file of the archive, at most.
MOST_BYTES = 1 << 26
# The last sweeps over which a likelihood is averaged.
LAST = 20
# The words of topics that table I of the paper prints, by label and model.
TABLE_I = {
    "inventories": {
        "Source-LDA": "inventory cost stock accounting goods management time costs financial process",
        "IR-LDA": "systems products said information technology company data network kodak available",
        "CTM": "sales year sold retail given place marketing improved passed addition",
    },
    "natural_gas": {
        "Source-LDA": "gas natural used water oil carbon cubic energy fuel million",
        "IR-LDA": "corp contract company services unit subsidiary completed work dlr received",
        "CTM": "gas said total value near natural properties california wells future",
    },
    "balance_of_payments": {
        "Source-LDA": "account surplus deficit current balance currency trade exchange capital foreign",
        "IR-LDA": "said public state private planned reduce local added make did",
        "CTM": "said june april beginning great later remain reserve equivalent imported",
    },
}
# The topics that are drawn from each source, as in figure 2.
DRAWN = 1000


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


def graphical_data(archive: str | os.PathLike[str]) -> tuple[Data, np.ndarray]:
    """Return the documents of the graphical example, and the topics that they were drawn from."""
    data = data_of(archive, "graphical/corpus.dat", "graphical/ks.dat")
    numbers = {word: number for number, word in enumerate(data.words)}
    truth = sources_of(read(archive, "graphical/phi.dat"), numbers)[1].toarray()
    return data, truth / truth.sum(axis=1, keepdims=True)


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
    """How far the fitted topics are from those that the documents were drawn from. The words are pixels.

    Each unit runs several chains of Source-LDA, and takes the one with the highest likelihood. The settings of the case
    "Source-LDA" are those of the authors' script.
    EDA (explicit Dirichlet allocation) does not learn topics, but keeps those of the sources.
    """

    measures = ("JS divergence",)
    cases = ("Source-LDA", "Source-LDA, lambda 1", "EDA", "CTM")

    def __init__(self, *, chains: int, **given: Any):
        super().__init__(**given)
        self.chains = chains

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the mean divergence of the topics by each model."""
        data, truth = graphical_data(self.archive)
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


class LikelihoodBySweep(_OnArchive):
    """The likelihood of the graphical example after some sweeps, and the divergence of its topics from the true ones."""

    measures = ("log-likelihood", "JS divergence")

    def __init__(self, *, after: Sequence[Any], **given: Any):
        super().__init__(sweeps=0, **given)
        for value in after:
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 100_000:
                raise InputError(f"after has {value!r}; give numbers of sweeps, 1 to 100,000.")
        self.after = {f"sweep {value}": value for value in sorted(set(after))}
        self.cases = tuple(self.after)

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the figures of a chain with the settings of the authors' script."""
        data, truth = graphical_data(self.archive)
        priors = source_priors(data.sources, 0, points_of(GRAPHICAL_LAMBDA, 0, 1), GRAPHICAL_EPSILON)
        chain = chain_of(data, priors, alphas=10, seed=self.units.index(unit))
        advance, done, found = _Counter(work, max(self.after.values())), 0, {}
        for case, sweeps in self.after.items():
            swept(chain, sweeps - done, advance)
            done = sweeps
            found[case] = [chain.log_likelihood(), float(js(chain.phi().T, truth).mean())]
        return found


class WikiTopics(_OnArchive):
    """Topics of documents that were drawn from known sources, beside the true ones.

    The measures are the share of tokens with the right topic; the divergence of the topics of documents from the true
    ones, both sorted, summed over documents; and the mean coherence of topics, NPMI over documents. The topics of LDA
    stand for the sources that are least divergent. The sources are exactly those of the documents; or, with `mixed`, all
    578, of which models with topics without a label leave 100.
    """

    measures = ("right", "JS of documents", "NPMI")

    def __init__(self, *, mixed: bool, **given: Any):
        super().__init__(**given)
        self.mixed = mixed
        self.cases = ("Source-LDA", "EDA", "CTM", "LDA")

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the figures of each model."""
        data, key = wiki_data(self.archive, "wiki/ks_src.dat" if self.mixed else "wiki/ks_bijective.dat")
        starts = data.tokens.starts
        truth = data.tokens.document_topics(key.astype(np.int32), int(key.max()) + 1).toarray()
        truth = _sorted_shares(truth / np.maximum(np.diff(starts), 1)[:, None])
        counts = data.tokens.document_topics(data.tokens.words, len(data.words))
        advance, seed = _Counter(work, self.sweeps * len(self.cases)), self.units.index(unit)
        found = {}
        for case in self.cases:
            chain, labels = self._fitted(case, data, seed, advance, truth.shape[1])
            right = float((labels[chain.z] == key).mean())
            theta = _sorted_shares(chain.theta())
            width = max(theta.shape[1], truth.shape[1])
            apart = js(_padded(theta, width), _padded(truth, width)).sum()
            found[case] = [right, float(apart), float(npmi(counts, top_words(chain.phi())).mean())]
        return found

    def _fitted(
        self, case: str, data: Data, seed: int, advance: Callable[[], None], topics: int
    ) -> tuple[SourceChain, np.ndarray]:
        """Return a chain at its end, and the source of each of its topics; -1 for none."""
        if case == "LDA":
            chain = swept(chain_of(data, fixed_priors(data.sources[:0], topics), seed=seed), self.sweeps, advance)
            source = data.sources.toarray() / data.sources.sum(axis=1)[:, None]
            return chain, np.array([int(js(column[None], source).argmin()) for column in chain.phi().T])
        if not self.mixed:
            priors = {
                "Source-LDA": lambda: source_priors(data.sources, 0, points_of(5, 2, 10)),
                "EDA": lambda: fixed_priors(data.sources, 0),
                "CTM": lambda: concept_priors(data.sources, 0),
            }[case]()
            return swept(chain_of(data, priors, seed=seed), self.sweeps, advance), np.arange(data.sources.shape[0])
        kind = {"Source-LDA": "full", "EDA": "eda", "CTM": "ctm"}[case]
        model = SourceLDA(topics, kind, self.sweeps, 5, 2, points=10, smooth=False, alphas=50, seed=seed)
        model.fit_tokens(data.tokens, data.sources, progress=lambda done, total: advance() if done < total else None)
        assert model.chain_ is not None
        return model.chain_, model.topics_


def _sorted_shares(rows: np.ndarray) -> np.ndarray:
    """Return rows with their values in falling order."""
    return -np.sort(-rows, axis=1)


def _padded(rows: np.ndarray, width: int) -> np.ndarray:
    """Return rows with zeros on the right up to a width."""
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


class ReutersLabels(_OnArchive):
    """The topics of Reuters that are left at the end: how many of `k` have a label, and the words of those in table I.

    For each label of table I, the share of the ten words that the table has for the model is measured; it is 0 if no topic
    has the label. IR-LDA gives each topic of LDA the label whose source is nearest to its ten best words, by tf-idf.
    """

    measures = ("labelled topics", *TABLE_I)
    cases = ("Source-LDA", "CTM", "IR-LDA")

    def __init__(self, *, k: int, **given: Any):
        super().__init__(**given)
        self.k = k

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the figures of each model."""
        data = data_of(self.archive, "reuters/input.dat", "reuters/ks.dat")
        found, seed = {}, self.units.index(unit)
        for done, (case, model) in enumerate((("Source-LDA", "full"), ("CTM", "ctm"))):
            work.progress(done, len(self.cases), "models")
            fitted = SourceLDA(self.k, model, self.sweeps, alphas=50, seed=seed).fit_tokens(data.tokens, data.sources)
            found[case] = self._figures(case, data, fitted.topics_, fitted.phi_)
        work.progress(2, len(self.cases), "models")
        chain = swept(chain_of(data, fixed_priors(data.sources[:0], self.k), seed=seed), self.sweeps)
        found["IR-LDA"] = self._figures("IR-LDA", data, nearest_sources(data.sources, chain.phi()), chain.phi())
        return found

    def _figures(self, case: str, data: Data, sources: np.ndarray, phi: np.ndarray) -> list[float]:
        """Return the number of topics with a label, and for each label of table I the share of its words."""
        words, shares = top_words(phi), []
        for label, printed in TABLE_I.items():
            wanted = set(printed[case].split())
            own = [
                words[k] for k, source in enumerate(sources.tolist()) if source >= 0 and data.labels[source] == label
            ]
            found = [len({data.words[w] for w in ten.tolist()} & wanted) for ten in own]
            shares.append(max(found, default=0) / len(wanted))
        return [float((sources >= 0).sum()), *shares]


def nearest_sources(sources: csr_array, phi: np.ndarray) -> np.ndarray:
    """Return the source of each topic with the highest cosine to its ten best words, both by tf-idf."""
    df = np.maximum((sources > 0).sum(axis=0), 1)
    idf = np.log(sources.shape[0] / df)
    texts = sources.toarray() * idf
    lengths = np.sqrt((texts**2).sum(axis=1))
    query = np.zeros(phi.shape)
    for topic, words in enumerate(listed_words(phi)):
        query[words, topic] = idf[words]
    found: np.ndarray = ((texts @ query) / np.where(lengths > 0, lengths, 1)[:, None]).argmax(axis=0)
    return found


class _OnSources:
    """An experiment on the first sources of Reuters, which are its units."""

    needs_index = False

    def __init__(self, *, archive: str, sources: int):
        self.archive = archive
        self.units = tuple(f"source {number}" for number in range(1, sources + 1))

    def source(self, unit: str) -> tuple[csr_array, int]:
        """Return the row of a source, and the number of words that it lacks."""
        counts, number = data_of(self.archive, "reuters/input.dat", "reuters/ks.dat").sources, self.units.index(unit)
        if number >= counts.shape[0]:
            raise InputError(f"{self.archive} has {counts.shape[0]} sources of Reuters, and not {len(self.units)}.")
        row = counts[[number]]
        row.eliminate_zeros()
        return row, row.shape[1] - row.nnz


class SourceSpread(_OnSources):
    """The divergence of topics from the source that they are drawn from: its least, its quartiles, its largest (figure 2)."""

    measures = ("JS divergence",)
    cases = ("lowest", "lower quartile", "median", "upper quartile", "highest")

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the quantiles over the topics of a source."""
        row, lacking = self.source(unit)
        found = divergences(row.data, lacking, 1.0, np.random.default_rng(0), draws=DRAWN)
        quantiles = np.quantile(found, [0, 0.25, 0.5, 0.75, 1])
        return {case: [float(value)] for case, value in zip(self.cases, quantiles, strict=True)}


class LambdaCurves(_OnSources):
    """The divergence of topics from their source by lambda, as it is, and mapped by the function g (figures 3 and 4)."""

    measures = ("divergence", "divergence with g")

    def __init__(self, *, steps: int, **given: Any):
        super().__init__(**given)
        self.at = {f"{x:g}": x for x in np.linspace(0, 1, steps + 1).round(4).tolist()}
        self.cases = tuple(self.at)

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the mean divergence at each lambda."""
        row, lacking = self.source(unit)
        g, chance = smoothings(row)[0], np.random.default_rng(1)
        return {
            case: [divergence(row.data, lacking, float(curve(x)), chance) for curve in (float, g)]
            for case, x in self.at.items()
        }


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
