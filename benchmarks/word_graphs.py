"""Measure sparse word graphs on AP and on made data: time, exactness, and how often they find edges and senses that are known.

    python benchmarks/word_graphs.py AP [--parts time liblinear named ising senses] [--seeds 0 1 2] [--workers 2]

AP is the folder with ap.dat and vocab.txt of the AP corpus of lda-c (2,246 documents, 10,473 words). The script needs scikit-learn.
Topics come from variational EM as in lda-c, which the paper used: topics by maximum likelihood, one learned alpha, and gamma started anew
in each E-step. Of several seeds, the one with the best likelihood is used for all parts but `named`, which shows every seed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from sublex_swg.experiments import TOPICS, WordCounts, binary_documents, read_corpus
from sublex_swg.graph import strongest, truncated, word_graph
from sublex_swg.lda_c import LdaTopics, variational_em
from sublex_swg.neighbourhoods import neighbourhoods

RHO, TOP = 0.1, 50
BUSINESS = (
    "wall-street lehman-shearson merrill-lynch los-angeles dow-jones rjr-nabisco carl-icahn drexel-lambert du-pont "
    "wells-fargo"
).split()
WAR = "united-states gulf-persian tariq-aziz hosni-mubarak eduard-shevardnadze".split()
# Pseudo-words: how many, the fewest documents of each of the two words, and the least share of a word's documents with its topic.
PLANTED, PLANTED_DF, PLANTED_SHARE, NEIGHBOURS = 40, 50, 0.6, 5


def columns(corpus: WordCounts, edge: str) -> tuple[int, int]:
    """Return the numbers of the two words of an edge such as wall-street, the smaller first."""
    first, second = sorted(corpus.words.index(word) for word in edge.split("-"))
    return first, second


# Parts.


def show_times(corpus: WordCounts, topics: LdaTopics, workers: int) -> None:
    """Print for each topic its documents, words, weights and edges, and the seconds of its graph."""
    print("\n| topic | documents | words | weights | edges | largest violation / rho | wall s | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for topic in range(TOPICS):
        binary = binary_documents(corpus, topics, topic)
        wall, cpu = time.perf_counter(), time.process_time()
        found = neighbourhoods(binary, RHO, workers=workers)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        edges = (found.weights + found.weights.T).nnz // 2
        words = int((binary.sum(axis=0) > 0).sum())
        print(
            f"| {topic} | {binary.shape[0]} | {words:,} | {found.weights.nnz:,} | {edges:,} | {found.violations.max():.1e} "
            f"| {wall:.1f} | {cpu:.1f} |"
        )


def objective(x: csr_array, y: np.ndarray, weights: np.ndarray, intercept: float) -> float:
    """Return the objective that the regression of a word minimises."""
    logits = x @ weights + intercept
    return float(np.sum(np.logaddexp(0, logits) - y * logits) + RHO * np.abs(weights).sum())


def show_liblinear(corpus: WordCounts, topics: LdaTopics, workers: int) -> None:
    """Fit 50 words by Sublex and by liblinear, and print the ratio of the two objectives."""
    topic = with_most(corpus, topics, BUSINESS)
    binary = binary_documents(corpus, topics, topic).astype(np.float64)
    found = neighbourhoods(binary, RHO, workers=workers)
    words = np.random.default_rng(0).choice(np.flatnonzero(np.isfinite(found.intercepts)), 50, replace=False)
    ratios, seconds = [], time.process_time()
    for word in words:
        others = np.setdiff1d(np.flatnonzero(binary.sum(axis=0)), [word])
        x, y = csr_array(binary[:, others]), binary[:, [word]].toarray()[:, 0]
        # liblinear takes 32-bit indices only.
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = LogisticRegression(
                penalty="l1", C=1 / RHO, solver="liblinear", intercept_scaling=1e3, tol=1e-5, max_iter=1000
            ).fit(x, y)
        ours = objective(x, y, found.weights[[word]].toarray()[0, others], found.intercepts[word])
        ratios.append(ours / objective(x, y, peer.coef_[0], peer.intercept_[0]))
    print(f"\nObjective / liblinear's on 50 words: at most {max(ratios):.7f}, at least {min(ratios):.7f}.")
    print(f"liblinear took {(time.process_time() - seconds) / 50:.2f} s a word.")


def with_most(corpus: WordCounts, topics: LdaTopics, edges: list[str]) -> int:
    """Return the topic in which most of the edges have both words in two documents or more."""
    found = []
    for topic in range(TOPICS):
        df = binary_documents(corpus, topics, topic).sum(axis=0)
        found.append(sum(min(df[list(columns(corpus, edge))]) >= 2 for edge in edges))
    return int(np.argmax(found))


def show_named(corpus: WordCounts, seeds: dict[int, LdaTopics], workers: int) -> None:
    """Print the ranks of the named edges, among all edges and among those of words in three documents or more."""
    print("\n| seed | bound | topic | documents | words in ≥ | in the top 50 | ranks |")
    print("|---|---|---|---|---|---|---|")
    for seed, topics in seeds.items():
        for name, named in (("Business", BUSINESS), ("War", WAR)):
            topic = with_most(corpus, topics, named)
            binary = binary_documents(corpus, topics, topic)
            edges, df = strongest(word_graph(binary, RHO, workers=workers)), binary.sum(axis=0)
            for least in (1, 3):
                kept = (df[edges.first] >= least) & (df[edges.second] >= least)
                pairs = zip(edges.first[kept].tolist(), edges.second[kept].tolist(), strict=True)
                ranks = {pair: rank for rank, pair in enumerate(pairs, 1)}
                places = {edge: ranks.get(columns(corpus, edge)) for edge in named}
                high = sum(place is not None and place <= TOP for place in places.values())
                listed = ", ".join(f"{edge} {place or '–'}" for edge, place in places.items())
                print(
                    f"| {seed} | {topics.bound:,.0f} | {name} | {binary.shape[0]} | {least} | {high} of {len(named)} "
                    f"| {listed} |",
                    flush=True,
                )


def grid_model(side: int, chance: np.random.Generator, samples: int) -> tuple[set[tuple[int, int]], np.ndarray]:
    """Return the edges of a grid with weights ±[.5, 1], and samples of its Ising model (equation 1), by Gibbs sampling."""
    nodes = np.arange(side * side).reshape(side, side)
    edges = {*zip(nodes[:, :-1].ravel(), nodes[:, 1:].ravel(), strict=True)}
    edges |= {*zip(nodes[:-1].ravel(), nodes[1:].ravel(), strict=True)}
    weights = np.zeros((side**2, side**2))
    for i, j in edges:
        weights[i, j] = weights[j, i] = chance.uniform(0.5, 1) * chance.choice([-1, 1])
    # These intercepts make 0 and 1 equally likely.
    intercepts = -weights.sum(axis=1) / 2
    x = chance.integers(0, 2, (samples, side**2)).astype(np.float64)
    colour = nodes // side % 2 ^ nodes % side % 2
    for _ in range(100):
        for part in (0, 1):
            these = np.flatnonzero(colour.ravel() == part)
            probability = 1 / (1 + np.exp(-(x @ weights[:, these] + intercepts[these])))
            x[:, these] = chance.random(probability.shape) < probability
    return {(int(i), int(j)) for i, j in edges}, x.astype(np.int8)


def show_ising(workers: int) -> None:
    """Print the F1 of the recovered edges of grids, by number of nodes and of samples, with rho = ½ √(n log p)."""
    print("\n| nodes | samples | F1, mean of 5 grids | range |")
    print("|---|---|---|---|")
    for side in (5, 8):
        models = [grid_model(side, np.random.default_rng(seed), 5000) for seed in range(5)]
        for samples in (500, 1000, 2000, 5000):
            scores = []
            for edges, x in models:
                rho = 0.5 * np.sqrt(np.log(side**2) * samples)
                found = strongest(word_graph(x[:samples], rho, workers=workers))
                pairs = {*zip(found.first.tolist(), found.second.tolist(), strict=True)}
                scores.append(2 * len(pairs & edges) / (len(pairs) + len(edges)))
            print(f"| {side**2} | {samples:,} | {np.mean(scores):.3f} | {min(scores):.3f} to {max(scores):.3f} |")


def plant(
    corpus: WordCounts, topics: LdaTopics, chance: np.random.Generator
) -> tuple[WordCounts, list[tuple[int, int]]]:
    """Return the corpus with pseudo-words, each two words of different topics made one, and the pairs of words.

    The pseudo-word has the column of the first word; that of the second becomes empty.
    """
    shape = (corpus.counts.shape[1], TOPICS)
    by_topic = csr_array(
        (np.ones(corpus.counts.nnz), (corpus.counts.indices, topics.assignments)), shape=shape
    ).toarray()
    df = by_topic.sum(axis=1)
    clear = np.flatnonzero((df >= PLANTED_DF) & (by_topic.max(axis=1) >= PLANTED_SHARE * df))
    pairs: list[tuple[int, int]] = []
    order = chance.permutation(clear).tolist()
    while order and len(pairs) < PLANTED:
        first = order.pop()
        other = next((w for w in order if by_topic[w].argmax() != by_topic[first].argmax()), None)
        if other is not None:
            order.remove(other)
            pairs.append((first, other))
    renamed = np.arange(shape[0])
    renamed[[second for _, second in pairs]] = [first for first, _ in pairs]
    rows = np.repeat(np.arange(corpus.counts.shape[0]), np.diff(corpus.counts.indptr))
    merged = csr_array((corpus.counts.data, (rows, renamed[corpus.counts.indices])), shape=corpus.counts.shape)
    return WordCounts(merged, corpus.words), pairs


def show_senses(corpus: WordCounts, topics: LdaTopics, seed: int, workers: int) -> None:
    """Print how well the neighbours of pseudo-words separate by topic.

    The sense of each of the two words is the topic that the pseudo-word has in most of the word's documents. A neighbour goes with the
    word in whose documents it has the larger share. A pseudo-word is separated if in each of two topics most of the first five neighbours
    go with the topic's word. The number of those with at least four of five is printed too.
    """
    planted, pairs = plant(corpus, topics, np.random.default_rng(0))
    learned = variational_em(planted.counts, TOPICS, seed)
    numbers = csr_array((learned.assignments + 1, planted.counts.indices, planted.counts.indptr), planted.counts.shape)
    graphs = [word_graph(binary_documents(planted, learned, k, min_df=3), RHO, workers=workers) for k in range(TOPICS)]
    holds = (corpus.counts > 0).astype(np.float64).tocsc()
    right, found, separated, clearly = 0, 0, 0, 0
    for pair in pairs:
        documents = [holds[:, [word]].toarray()[:, 0] for word in pair]
        only = [documents[0] * (1 - documents[1]), documents[1] * (1 - documents[0])]
        topic = numbers[:, [pair[0]]].toarray()[:, 0]
        senses = [int(np.bincount(topic[mask > 0], minlength=TOPICS + 1)[1:].argmax()) for mask in only]
        shares = np.stack([holds.T @ mask / mask.sum() for mask in only])
        hits = []
        for word, sense in enumerate(senses):
            neighbours = truncated(graphs[sense], pair[0], NEIGHBOURS)[0]
            hits.append(int((shares[word, neighbours] > shares[1 - word, neighbours]).sum()))
            found += len(neighbours)
        right += sum(hits)
        good = senses[0] != senses[1] and 2 * min(hits) > NEIGHBOURS
        separated += good
        clearly += good and min(hits) >= NEIGHBOURS - 1
        if not good:
            names = "+".join(corpus.words[word] for word in pair)
            print(f"not separated: {names}, topics {senses}, right neighbours {hits}")
    print(
        f"\nPseudo-words: {separated} of {len(pairs)} separate ({separated / len(pairs):.0%}), {clearly} of them with 4 of 5."
    )
    print(f"Of their neighbours, {right} of {found} ({right / found:.0%}) go with the word of the topic.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ap", type=Path)
    parser.add_argument("--parts", nargs="+", default=["time", "liblinear", "named", "ising", "senses"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if "ising" in given.parts:
        show_ising(given.workers)
    if set(given.parts) == {"ising"}:
        return
    corpus = read_corpus(str(given.ap / "ap.dat"), str(given.ap / "vocab.txt"))
    seeds = {seed: variational_em(corpus.counts, TOPICS, seed) for seed in given.seeds}
    best = max(seeds, key=lambda seed: seeds[seed].bound)
    print("\nBounds by seed:", ", ".join(f"{seed} {topics.bound:,.0f}" for seed, topics in seeds.items()))
    # The first call of the kernels compiles them.
    neighbourhoods(np.eye(3), RHO)
    if "time" in given.parts:
        show_times(corpus, seeds[best], given.workers)
    if "liblinear" in given.parts:
        show_liblinear(corpus, seeds[best], given.workers)
    if "named" in given.parts:
        show_named(corpus, seeds, given.workers)
    if "senses" in given.parts:
        show_senses(corpus, seeds[best], best, given.workers)


if __name__ == "__main__":
    main()
