"""Measure LDA beside tomotopy: perplexity of held-out documents, and processor time of a sweep.

    python benchmarks/lda.py COLLECTION [--topics 10 50 100] [--seeds 5] [--sweeps 500] [--speed 10 100 500] [--timed 20]

COLLECTION is a file of counts in the format of lda-c (such as AP's ap.dat), or a text file with one document per line, words separated by
spaces (such as Source-LDA's reuters/input.dat), or the archive source-lda.tar.xz that holds the latter. The script needs tomotopy.

Perplexity: every tenth document is held out; both programs learn topics from the others with alpha 0.1 and beta 0.01, neither learned.
The perplexity of one half of each held-out document given the other half is computed by the same function from either phi. Speed: both
programs draw topics for all tokens with one worker, in turns; the figure is processor time per token, the median of the turns, after
sweeps that let the topics form.
"""

from __future__ import annotations

import argparse
import statistics
import tarfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import tomotopy
from scipy.sparse import csr_array

from sublex.estimators.topics.counts import tokens_of, whole_counts_of
from sublex_lda.gibbs import TopicChain
from sublex_lda.model import LDA
from sublex_lda.perplexity import completion

ALPHA, BETA = 0.1, 0.01
# Sweeps before the first timed turn, and turns.
WARM, TURNS = 100, 5


def counts(path: Path) -> csr_array:
    """Return the counts of a collection, documents by words."""
    if path.name.endswith(".tar.xz"):
        with tarfile.open(path) as archive:
            stream = archive.extractfile("source-lda/reuters/input.dat")
            assert stream is not None
            lines = stream.read().decode().splitlines()
    else:
        lines = path.read_text(encoding="utf-8").splitlines()
    # lda-c has the number of distinct words, then word:count; a text may hold colons of its own.
    with_counts = all(":" in field for field in lines[0].split()[1:])
    numbers: dict[str, int] = {}
    data, columns, starts = [], [], [0]
    for line in lines:
        fields = line.split()
        pairs = [field.split(":") for field in fields[1:]] if with_counts else [[word, "1"] for word in fields]
        columns += [numbers.setdefault(word, len(numbers)) for word, _ in pairs]
        data += [int(count) for _, count in pairs]
        starts.append(len(data))
    return whole_counts_of(csr_array((data, columns, starts), shape=(len(lines), len(numbers))))


def peer(rows: csr_array, k: int, seed: int) -> Any:
    """Return a model of tomotopy with the same documents and priors."""
    model = tomotopy.LDAModel(k=k, alpha=ALPHA, eta=BETA, seed=seed + 1)
    model.optim_interval = 0
    starts, words = tokens_of(rows)
    for begin, end in zip(starts.tolist(), starts[1:].tolist(), strict=False):
        if end > begin:
            model.add_doc([str(word) for word in words[begin:end].tolist()])
    return model


def sweep_peer(model: Any, sweeps: int) -> None:
    """Draw topics with one worker."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.train(sweeps, workers=1)


def peer_phi(model: Any, words: int) -> np.ndarray:
    """Return phi of tomotopy over all columns; words that it never saw get beta, as in any LDA with this vocabulary."""
    phi = np.empty((words, model.k))
    known = np.array([int(word) for word in model.used_vocabs])
    for k in range(model.k):
        weights = np.zeros(words)
        # tomotopy's phi has a prior for its own vocabulary only, so counts are read back from it.
        total = model.get_count_by_topics()[k]
        weights[known] = np.asarray(model.get_topic_word_dist(k)) * (total + BETA * len(known)) - BETA
        phi[:, k] = np.maximum(weights, 0) + BETA
    return phi / phi.sum(axis=0)


def perplexities(rows: csr_array, ks: list[int], seeds: int, sweeps: int) -> None:
    """Print the perplexity of held-out documents under both programs' topics, as means over seeds."""
    held_out = np.arange(rows.shape[0]) % 10 == 9
    train, test = rows[~held_out], rows[held_out]
    print("\n| K | Sublex | tomotopy | difference |\n|---|---|---|---|", flush=True)
    for k in ks:
        ours, theirs, alpha = [], [], np.full(k, ALPHA)
        for seed in range(seeds):
            ours.append(
                completion(LDA(k, iterations=sweeps, alpha=ALPHA, beta=BETA, seed=seed).fit(train).phi_, alpha, test)
            )
            model = peer(train, k, seed)
            sweep_peer(model, sweeps)
            theirs.append(completion(peer_phi(model, rows.shape[1]), alpha, test))
        mine, other = statistics.mean(ours), statistics.mean(theirs)
        ranges = [f"{statistics.mean(values):.1f} ({min(values):.1f}-{max(values):.1f})" for values in (ours, theirs)]
        print(f"| {k} | {ranges[0]} | {ranges[1]} | {mine / other - 1:+.2%} |", flush=True)


def speeds(rows: csr_array, ks: list[int], timed: int) -> None:
    """Run Sublex and tomotopy in turns, and print the processor time that each takes for a token."""
    tokens = int(rows.data.sum())
    print("\n| K | Sublex, ns per token | tomotopy | times as fast |\n|---|---|---|---|", flush=True)
    for k in ks:
        chain, model = TopicChain(rows, np.full(k, ALPHA), BETA), peer(rows, k, 0)
        found: dict[str, list[float]] = {"ours": [], "theirs": []}
        sweep_peer(model, WARM)
        for _ in range(WARM):
            chain.sweep()
        for _ in range(TURNS):
            began = time.process_time()
            for _ in range(timed):
                chain.sweep()
            between = time.process_time()
            sweep_peer(model, timed)
            found["ours"].append((between - began) / timed / tokens)
            found["theirs"].append((time.process_time() - between) / timed / tokens)
        mine, other = (1e9 * statistics.median(values) for values in found.values())
        print(f"| {k} | {mine:.0f} | {other:.0f} | {other / mine:.2f} |", flush=True)


def main() -> None:
    """Read the arguments and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--topics", type=int, nargs="*", default=[10, 50, 100])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--speed", type=int, nargs="*", default=[10, 100, 500])
    parser.add_argument("--timed", type=int, default=20)
    chosen = parser.parse_args()
    rows = counts(chosen.collection)
    print(f"{rows.shape[0]:,} documents, {rows.shape[1]:,} words, {int(rows.data.sum()):,} tokens", flush=True)
    if chosen.speed:
        speeds(rows, chosen.speed, chosen.timed)
    if chosen.topics:
        perplexities(rows, chosen.topics, chosen.seeds, chosen.sweeps)


if __name__ == "__main__":
    main()
