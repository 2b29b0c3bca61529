"""Repeat the experiments of the paper on Source-LDA, and measure the speed beside the published program.

    python benchmarks/source_lda.py ARCHIVE EXPERIMENT... [--program PROGRAM] [--sweeps 1000] [--chains 12] [--picture FILE.svg]

ARCHIVE is source-lda.tar.xz, the data of the paper's experiments. EXPERIMENT is one of `speed`, `graphical`, `integrate`, `wiki`, `mixed`,
`smoothing` and `reuters`; without any, all run. PROGRAM is the published program, for `speed`: https://github.com/ucla-scai/Source-LDA,
compiled with g++ -O2 and libgsl.

The archive lacks two files. The sources of `integrate` are lines 101 to 200 of wiki/ks_src.dat. The documents of `wiki` are drawn anew,
each token from the topic that its key names; topics are drawn from the sources with the paper's lambda, of mean 5 and deviation 2.
Processor time is that of the sweeps alone.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from sublex.estimators.topics.coherence import npmi, top_words
from sublex_lda.model import LDA
from sublex_sourcelda.experiments import (
    GRAPHICAL_EPSILON,
    Data,
    chain_of,
    data_of,
    graphical_data,
    held_out,
    js,
    key_of,
    read,
    swept,
    wiki_data,
)
from sublex_sourcelda.model import SourceLDA
from sublex_sourcelda.priors import Priors, concept_priors, fixed_priors, points_of, source_priors
from sublex_sourcelda.smoothing import EXPONENTS, divergence, smoothings

# The five labels of Reuters that the paper shows.
SHOWN = ("shipping", "crude_oil", "gold", "coffee", "money_supply")


# Experiments.


def speed(archive: Path, program: Path | None, turns: int = 3, sweeps: int = 6) -> None:
    """Print the processor time of a sweep, both programs in turns, on Reuters with 100 topics without label, 80 with, and 25 points."""
    data = data_of(archive, "reuters/input.dat", "reuters/ks.dat")
    size = len(data.tokens.words)
    print(f"reuters: {size:,} tokens, T = {100 + len(data.labels)}, A = 25", flush=True)
    swept(SourceLDA(smooth=False, high=1, alphas=50).start(data.tokens, data.sources), 1)
    ours, theirs = [], []
    for turn in range(turns):
        chain = swept(SourceLDA(smooth=False, high=1, alphas=50, seed=turn).start(data.tokens, data.sources), 1)
        # No topic disappears, so that both programs have the same number.
        chain.least = len(chain.ids)
        began = time.process_time()
        swept(chain, sweeps)
        ours.append((time.process_time() - began) / sweeps)
        plain = swept_plain(data, 180, sweeps)
        print(f"sublex {ours[-1]:.4f} s a sweep; LDA with K = 180 {plain:.4f}", flush=True)
        if program:
            long, short = published(archive, program, 1 + sweeps), published(archive, program, 1)
            theirs.append((long - short) / sweeps)
            print(f"published program {theirs[-1]:.4f} s", flush=True)
    mine = float(np.median(ours))
    print(f"median: {mine:.4f} s, {mine / size * 1e9:.0f} ns a token")
    if theirs:
        other = float(np.median(theirs))
        print(
            f"published program: {other:.4f} s, {other / size * 1e9:.0f} ns a token; {other / mine:.1f} times",
            flush=True,
        )


def swept_plain(data: Data, k: int, sweeps: int) -> float:
    """Return the processor time of a sweep of plain LDA."""
    from sublex_lda import gibbs

    size = len(data.words)
    document = np.repeat(np.arange(len(data.tokens.starts) - 1), np.diff(data.tokens.starts))
    rows = csr_array((np.ones(len(document)), (document, data.tokens.words)), shape=(document[-1] + 1, size))
    chain = gibbs.TopicChain(rows, np.full(k, 50 / k), 200 / size)
    chain.sweep()
    began = time.process_time()
    for _ in range(sweeps):
        chain.sweep()
    return (time.process_time() - began) / sweeps


def published(archive: Path, program: Path, sweeps: int) -> float:
    """Return the processor time of a run of the published program; it makes one sweep more than it is told."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("input.dat", "ks.dat"):
            (Path(folder) / name).write_text("\n".join(read(archive, f"reuters/{name}")) + "\n")
        options = "-log=false -out=. -in=input.dat -ks=ks.dat -K=100 -model=src -alg=src -mu=0.7 -sigma=0.3 -right=1 -A=25 -P=1"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [program.absolute(), *options.split(), f"-I={sweeps - 1}"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def graphical(archive: Path, chains: int, picture: Path | None, sweeps: int = 500) -> None:
    """Print the divergence of topics from those that the documents were drawn from, for several chains, and draw the topics."""
    data, truth = graphical_data(archive)
    source = data.sources.toarray() / data.sources.sum(axis=1)[:, None]
    found = pixels(data, truth, source_priors(data.sources, 0, points_of(25, 0, 1), GRAPHICAL_EPSILON), chains, sweeps)
    divergences = [value for _, value, _ in found]
    best = max(found[:5], key=lambda one: one[0])
    print(f"of 5 chains that with the highest likelihood: {best[0]:.1f}, JS {best[1]:.4f}")
    print(
        f"of {chains} chains: median JS {np.median(divergences):.4f}, {np.mean(np.array(divergences) > 0.02):.0%} above .02"
    )
    # The paper's lambda is between 0 and 1.
    for name, points, smooth in (
        ("lambda 1", points_of(1, 0, 1), False),
        ("lambda of mean .7 and deviation .3", points_of(0.7, 0.3, 25, 0, 1), False),
        ("the same with smoothing", points_of(0.7, 0.3, 25, 0, 1), True),
    ):
        functions = smoothings(data.sources, epsilon=GRAPHICAL_EPSILON) if smooth else ()
        priors = source_priors(data.sources, 0, points, GRAPHICAL_EPSILON, functions)
        values = sorted(value for _, value, _ in pixels(data, truth, priors, 3, sweeps))
        print(f"{name}: JS of 3 chains {', '.join(f'{value:.3f}' for value in values)}", flush=True)
    concept = swept(chain_of(data, concept_priors(data.sources, 0)), sweeps).phi()
    concept /= concept.sum(axis=0)
    print(f"EDA {js(source, truth).mean():.6f}, CTM {js(concept.T, truth).mean():.4f}", flush=True)
    if picture:
        rows = {"source and EDA": source, "truth": truth, "Source-LDA": best[2].T, "CTM": concept.T}
        picture.write_text(drawn(rows, data.words), encoding="utf-8")


def pixels(
    data: Data, truth: np.ndarray, priors: Priors, chains: int, sweeps: int
) -> list[tuple[float, float, np.ndarray]]:
    """Return the log-likelihood, the divergence of the topics from the true ones, and phi, for several chains."""
    found = []
    for seed in range(chains):
        chain, logs = chain_of(data, priors, alphas=10, seed=seed), []
        for turn in range(sweeps):
            chain.sweep()
            if turn >= sweeps - 20:
                logs.append(chain.log_likelihood())
        found.append((float(np.mean(logs)), float(js(chain.phi().T, truth).mean()), chain.phi()))
        print(f"chain {seed}: log-likelihood {found[-1][0]:.1f}, JS {found[-1][1]:.4f}", flush=True)
    return found


def drawn(rows: dict[str, np.ndarray], words: list[str]) -> str:
    """Return topics over a grid of pixels as SVG: a row for each model, a square for each topic; darker is more probable."""
    step, pixel, left = 72, 12, 130
    parts = []
    for y, (name, topics) in enumerate(rows.items()):
        parts.append(f'<text x="0" y="{y * step + 36}">{name}</text>')
        for x, topic in enumerate(topics):
            for word, chance in zip(words, topic / topic.max(), strict=True):
                column, line = (int(part) for part in word.split("_"))
                grey = round(255 * (1 - chance))
                place = f'x="{left + x * step + column * pixel}" y="{y * step + line * pixel}"'
                parts.append(f'<rect {place} width="{pixel}" height="{pixel}" fill="rgb({grey},{grey},{grey})"/>')
            parts.append(
                f'<rect x="{left + x * step}" y="{y * step}" width="60" height="60" fill="none" stroke="#888" stroke-width="0.5"/>'
            )
    width, height = left + 10 * step, len(rows) * step
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 {width + 8} {height + 4}" width="{width + 8}" '
        f'font-family="sans-serif" font-size="14"><rect x="-8" y="-8" width="{width + 8}" height="{height + 4}" fill="#fff"/>'
        f"{''.join(parts)}</svg>\n"
    )


def integrate(archive: Path, sweeps: int) -> None:
    """Print the share of tokens with the right topic, and the perplexity of the last fifth of the documents, by the prior of lambda."""
    data = data_of(archive, "integrate/corpus.dat", "wiki/ks_src.dat", slice(100, 200))
    key, _ = key_of(archive, "integrate/key.dat")
    for name, points in (
        ("mu .5, sigma 1, A 25", points_of(0.5, 1, 25, 0, 1)),
        *((f"lambda {value}", points_of(value, 0, 1)) for value in (0.1, 0.5, 1.0)),
    ):
        chain = swept(chain_of(data, source_priors(data.sources, 0, points)), sweeps)
        print(f"{name}: {(chain.z == key).mean():.2%} of the tokens right", end="", flush=True)
        print(f", perplexity {held_out(archive, points, sweeps):.1f}", flush=True)


def wiki(archive: Path, sweeps: int) -> None:
    """Print the share of tokens with the right topic when the sources are exactly those of the documents."""
    data, key = wiki_data(archive, "wiki/ks_bijective.dat")
    priors = {
        "Source-LDA": source_priors(data.sources, 0, points_of(5, 2, 10)),
        "EDA": fixed_priors(data.sources, 0),
        "CTM": concept_priors(data.sources, 0),
    }
    for name, own in priors.items():
        chain, began = chain_of(data, own), time.process_time()
        for turn in range(sweeps):
            chain.sweep()
            if turn + 1 in (10, 20, 100, sweeps):
                print(
                    f"{name}, sweep {turn + 1}: {(chain.z == key).sum():,} of {len(key):,} right, {(chain.z == key).mean():.2%}",
                    flush=True,
                )
        print(f"{name}: {(time.process_time() - began) / sweeps:.3f} s a sweep", flush=True)


def mixed(archive: Path, sweeps: int) -> None:
    """Print the share of tokens with the right topic among 578 sources and 100 topics without label, reduced to 100."""
    data, key = wiki_data(archive, "wiki/ks_src.dat")
    for name, model in (
        ("Source-LDA", SourceLDA(100, "full", sweeps, mu=5, sigma=2, points=10, smooth=False, alphas=50)),
        ("EDA", SourceLDA(100, "eda", sweeps, alphas=50)),
    ):
        model.fit_tokens(data.tokens, data.sources)
        assert model.chain_ is not None
        right = model.topics_[model.chain_.z] == key
        print(
            f"mixed {name}, {sweeps} sweeps: {right.mean():.2%} right, {(model.topics_ >= 0).sum()} of {len(model.topics_)} labelled",
            flush=True,
        )


def smoothing(archive: Path, sources: int = 10) -> None:
    """Print how far the divergence of topics departs from a line, for the first sources of Reuters, with new draws."""
    data = data_of(archive, "reuters/input.dat", "reuters/ks.dat")
    counts = data.sources[:sources]
    for number, g in enumerate(smoothings(counts)):
        row = counts[[number]].data
        row, rng = row[row > 0], np.random.default_rng(1)
        at = [divergence(row, len(data.words) - len(row), float(g(x)), rng) for x in np.linspace(0, 1, 20)]
        line = np.linspace(at[0], at[-1], 20)
        furthest = np.abs(at - line).max() / (at[0] - at[-1])
        print(
            f"{data.labels[number]}: JS {at[0]:.3f} to {at[-1]:.3f}, off the line by {furthest:.2%} at most",
            flush=True,
        )
    print(f"{len(EXPONENTS)} exponents")


def reuters(archive: Path, sweeps: int) -> None:
    """Print the topics of Reuters that are left at the end, beside those of CTM and of LDA."""
    data = data_of(archive, "reuters/input.dat", "reuters/ks.dat")
    document = np.repeat(np.arange(len(data.tokens.starts) - 1), np.diff(data.tokens.starts))
    shape = (document[-1] + 1, len(data.words))
    rows = csr_array((np.ones(len(document)), (document, data.tokens.words)), shape=shape)
    for name, model in (
        ("Source-LDA", SourceLDA(100, "full", sweeps, alphas=50)),
        ("Source-LDA with an informed start", SourceLDA(100, "full", sweeps, informed=True, alphas=50)),
        ("Source-LDA without smoothing", SourceLDA(100, "full", sweeps, smooth=False, high=1, alphas=50)),
        ("CTM", SourceLDA(100, "ctm", sweeps, alphas=50)),
    ):
        began = time.process_time()
        model.fit_tokens(data.tokens, data.sources)
        print(f"\n{name}: {sweeps} sweeps in {time.process_time() - began:.0f} s", flush=True)
        print_labelled(model, data, npmi(rows, top_words(model.phi_)))
    plain = LDA(100, iterations=sweeps, alpha=0.5, beta=200 / len(data.words)).fit(rows)
    print(f"\nLDA: mean coherence {npmi(rows, top_words(plain.phi_)).mean():.3f}")
    sizes = plain.word_topics_.sum(axis=0)
    for k in np.argsort(-sizes)[:10].tolist():
        print(f"  {k}: {', '.join(data.words[w] for w in top_words(plain.phi_[:, [k]])[0].tolist())}")


def print_labelled(model: SourceLDA, data: Data, coherence: np.ndarray) -> None:
    """Print the labelled topics, the largest first; a star marks those that the paper shows."""
    labelled = model.topics_ >= 0
    print(f"{labelled.sum()} of {len(model.topics_)} topics labelled; mean coherence {coherence.mean():.3f}", end="")
    print(f", of labelled topics {coherence[labelled].mean():.3f}" if labelled.any() else "")
    sizes, like = model.word_topics_.sum(axis=0), model.likeness(data.sources)
    for k in sorted(np.flatnonzero(labelled).tolist(), key=lambda k: -sizes[k]):
        words = ", ".join(data.words[w] for w in top_words(model.phi_[:, [k]])[0].tolist())
        label = data.labels[model.topics_[k]]
        star = "*" if label in SHOWN else " "
        print(f"{star} {label} ({int(sizes[k]):,} tokens, likeness {like[k]:.2f}): {words}", flush=True)


def main() -> None:
    """Read the arguments and run the experiments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    experiments = {
        "speed": lambda: speed(chosen.archive, chosen.program),
        "graphical": lambda: graphical(chosen.archive, chosen.chains, chosen.picture),
        "integrate": lambda: integrate(chosen.archive, chosen.sweeps),
        "wiki": lambda: wiki(chosen.archive, min(chosen.sweeps, 100)),
        "mixed": lambda: mixed(chosen.archive, chosen.sweeps),
        "smoothing": lambda: smoothing(chosen.archive),
        "reuters": lambda: reuters(chosen.archive, chosen.sweeps),
    }
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=", ".join(experiments))
    parser.add_argument("--program", type=Path)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=12)
    parser.add_argument("--picture", type=Path)
    chosen = parser.parse_args()
    for name in chosen.experiments or experiments:
        if name not in experiments:
            parser.error(f"{name} is none of {', '.join(experiments)}")
        print(f"\n{name}", flush=True)
        experiments[name]()


if __name__ == "__main__":
    main()
