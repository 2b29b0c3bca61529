"""Measure dense cohorts of terms on Reuters-21578: classification next to other representations, time to learn and to encode.

    python benchmarks/dcot.py REUTERS [--arxiv ARXIV.jsonl] [--labels 100 500 2000] [--draws 10 10 3] [--workers 2]

REUTERS is reuters21578.tar.xz or its folder; each line of ARXIV.jsonl has a text and an id. The script needs scikit-learn.
The documents are those of the ModApte split with exactly one topic; topics without a training and a test document are left out.
Representations are learned from all training documents, without their topics. A variant of each (weights, sizes, p, layers, rows of length
1 or not) is chosen by accuracy on a fixed fifth of the training documents, with five draws of labelled documents from the others. C of the
linear SVM is chosen by five folds of the labelled documents. Then new draws, the same for all representations, are measured on the test
documents.
"""

from __future__ import annotations

import argparse
import tarfile
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse
from scipy.sparse.linalg import svds
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC

import sublex
from sublex_dcot.model import DCoT

C = (1.0, 10.0, 100.0)
FOLDS, TUNING = 5, 5
SIZES = (50, 100, 200)
LAYERS = (1, 3, 5)
# Weights of x next to h, when both have a mean square of 1.
WEIGHTS = (0.5, 1.0)


class Task(NamedTuple):
    """Counts and topics of the documents, the first `train` of which are for training, and the words."""

    x: csr_array
    topics: np.ndarray
    train: int
    words: list[str]


class Variant(NamedTuple):
    """A way to represent documents: blocks of columns next to one another, each with a weight."""

    family: str
    name: str
    blocks: tuple[str, ...]
    weights: tuple[float, ...]


def reuters(path: Path, folder: Path) -> Task:
    """Return the documents of ModApte with a single topic, over the words of two or more training documents."""
    if path.is_file():
        with tarfile.open(path) as archive:
            archive.extractall(folder / "sgml", filter="data")
        path = folder / "sgml"
    index = sublex.build(sorted(path.rglob("*.sgm")), folder / "index", reader="reuters")
    topics, split = [], []
    for document in index.documents():
        known = document.fields["topics"]
        judged = document.fields["topics_attribute"] == "YES" and len(known) == 1
        topics.append(known[0] if judged else "")
        split.append(document.fields["lewissplit"] if judged else "")
    topics, split = np.array(topics), np.array(split)
    both = np.intersect1d(topics[split == "TRAIN"], topics[split == "TEST"])
    parts = [np.flatnonzero((split == part) & np.isin(topics, both)) for part in ("TRAIN", "TEST")]
    matrix = index.corpus.matrix()
    words = np.flatnonzero(np.bincount(matrix[parts[0]].indices, minlength=matrix.shape[1]) >= 2)
    chosen = np.concatenate(parts)
    x = csr_array(matrix[chosen][:, words].astype(np.float64))
    return Task(x, topics[chosen], len(parts[0]), [index.corpus.vocabulary[k] for k in words])


# Representations, as blocks with a mean square of 1 over the training documents.


class Blocks:
    """The blocks that variants consist of; each is computed on first use."""

    def __init__(self, task: Task, workers: int):
        self.task, self.workers = task, workers
        self.made: dict[str, Any] = {}
        self.models: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.made:
            base, _, unit = name.partition("/")
            self.made[name] = self._scaled(self._unit(self[base]) if unit else self._make(base))
        return self.made[name]

    def _make(self, name: str) -> Any:
        kind, *rest = name.split()
        x, train = self.task.x, self.task.train
        if kind in ("counts", "log"):
            return x if kind == "counts" else x.log1p()
        if kind == "tfidf":
            df = np.bincount(x[:train].indices, minlength=x.shape[1])
            return csr_array(x @ diags_array(np.log(train / np.maximum(df, 1))))
        if kind == "lsi":
            base, e = self[rest[0].replace(":", "/")], int(rest[1])
            rng = np.random.default_rng(0)
            _, _, v = svds(base[:train], k=e, v0=rng.normal(size=min(train, x.shape[1])))
            return base @ v.T
        log_counts, p, layers, r = rest[0] == "log", float(rest[1]), int(rest[2]), int(rest[3])
        key = " ".join(rest[:2] + rest[3:])
        if key not in self.models:
            model = DCoT(r=r, layers=5, p=p, log=log_counts, min_df=1).fit(x[:train], workers=self.workers)
            self.models[key] = model.transform(x, self.workers) - model.empty_
        return self.models[key][:, : layers * r]

    def _unit(self, block: Any) -> Any:
        lengths = np.sqrt((block * block).sum(axis=1))
        inverse = 1 / np.where(lengths > 0, lengths, 1)
        return csr_array(diags_array(inverse) @ block) if issparse(block) else block * inverse[:, None]

    def _scaled(self, block: Any) -> Any:
        part = block[: self.task.train]
        return block / np.sqrt((part * part).sum() / part.shape[0])


def variants(sizes: Iterable[int]) -> Iterator[Variant]:
    """Return all variants that are tried: each representation with rows as they are, and with rows of length 1."""
    for unit in ("", "/unit"):
        rows = ", unit rows" if unit else ""
        for base in ("counts", "log", "tfidf"):
            yield Variant(f"BoW {base}{rows}", base, (base + unit,), (1.0,))
        for base, e in product(("counts", "tfidf", "tfidf:unit"), SIZES):
            family = f"LSI {base.partition(':')[0]}{rows}"
            yield Variant(family, f"{base} e={e}", (f"lsi {base} {e}{unit}",), (1.0,))
        for base, p, layers, r in product(("counts", "log"), (0.5, 0.7, 0.9), LAYERS, sizes):
            h, name = f"dcot {base} {p} {layers} {r}{unit}", f"p={p} l={layers} r={r}"
            yield Variant(f"dCoT {base} h alone{rows}", name, (h,), (1.0,))
            for weight in WEIGHTS:
                yield Variant(f"dCoT {base} [x; h]{rows}", f"{name} x times {weight}", (base + unit, h), (weight, 1.0))


# Classification.


def coordinates(blocks: Blocks, variant: Variant, labelled: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return documents in the space that the labelled documents span, which is all that a linear SVM sees of them."""
    inner, outer = 0.0, 0.0
    for name, weight in zip(variant.blocks, variant.weights, strict=True):
        block = blocks[name] * weight
        products = [block[rows] @ block[labelled].T for rows in (labelled, others)]
        inner, outer = (a + (b.toarray() if issparse(b) else b) for a, b in zip((inner, outer), products, strict=True))
    values, vectors = np.linalg.eigh(np.asarray(inner, np.float64))
    there = values > 1e-9 * values[-1]
    roots = np.sqrt(values[there])
    return vectors[:, there] * roots, outer @ vectors[:, there] / roots


def correct(c: float, x: np.ndarray, topics: np.ndarray, new: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of new documents for which an SVM finds the topic."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = LinearSVC(C=c, random_state=0, max_iter=2000, tol=1e-3).fit(x, topics)
    return float((machine.predict(new) == truth).mean())


def accuracy(blocks: Blocks, variant: Variant, labelled: np.ndarray, others: np.ndarray) -> float:
    """Return the accuracy on the other documents, with C chosen within the labelled documents."""
    topics = blocks.task.topics
    known, new = coordinates(blocks, variant, labelled, others)
    # With many labels one fold is enough.
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(known))[: max(1, FOLDS * 100 // len(known))]
    within = topics[labelled]
    means = [np.mean([correct(c, known[a], within[a], known[b], within[b]) for a, b in folds]) for c in C]
    return correct(C[int(np.argmax(means))], known, within, new, topics[others])


def draws(pool: np.ndarray, number: int, times: int, use: int) -> list[np.ndarray]:
    """Return `times` draws of labelled documents; each use of this function has its own draws."""
    return [np.random.default_rng((use, number, k)).choice(pool, number, replace=False) for k in range(times)]


def classify(task: Task, labels: list[int], times: list[int], sizes: list[int], workers: int) -> None:
    """Choose a variant of each family, and print their accuracy on the test documents."""
    blocks = Blocks(task, workers)
    order = np.random.default_rng(0).permutation(task.train)
    validation, pool = order[: task.train // 5], order[task.train // 5 :]
    test = np.arange(task.train, len(task.topics))
    tuning = draws(pool, labels[0], TUNING, 1)
    scores = {v: float(np.mean([accuracy(blocks, v, rows, validation) for rows in tuning])) for v in variants(sizes)}
    chosen: dict[str, Variant] = {}
    for variant in scores:
        best = chosen.setdefault(variant.family, variant)
        chosen[variant.family] = max(best, variant, key=lambda one: scores[one])
    depth(scores)
    for number, repeat in zip(labels, times, strict=True):
        drawn = draws(pool, number, repeat, 2)
        print(f"\n{number} labels, {repeat} draws\n", flush=True)
        print("| representation | variant chosen | validation | test, mean (lowest–highest) |\n|---|---|---|---|")
        found = {}
        for family, one in chosen.items():
            found[family] = np.array([accuracy(blocks, one, labelled, test) for labelled in drawn])
            print(f"| {family} | {one.name} | {100 * scores[one]:.1f} | {spread(found[family])} |", flush=True)
        differences(found)


def spread(values: np.ndarray) -> str:
    return f"{100 * values.mean():.1f} ({100 * values.min():.1f}–{100 * values.max():.1f})"


def differences(found: dict[str, np.ndarray]) -> None:
    """Print the differences of dCoT from the others, draw by draw."""
    print()
    for base, rows in product(("counts", "log"), ("", ", unit rows")):
        ours = found[f"dCoT {base} [x; h]{rows}"]
        for other in (f"BoW {base}", "BoW tfidf", "LSI counts", "LSI tfidf", f"dCoT {base} h alone"):
            less = 100 * (ours - found[other + rows])
            print(
                f"dCoT {base} [x; h]{rows} less {other}: {less.mean():+.1f} ± {less.std(ddof=1) / np.sqrt(len(less)):.1f}"
            )


def depth(scores: dict[Variant, float]) -> None:
    """Print the accuracy of [x; h] on the validation documents by p and layers, with the best of the other choices."""
    print()
    for base, p in product(("counts", "log"), (0.5, 0.7, 0.9)):
        best = []
        for layers in LAYERS:
            known = [
                s for v, s in scores.items() if " [x; h]" in v.family and f"dcot {base} {p} {layers} " in v.blocks[1]
            ]
            best.append(f"l={layers} {100 * max(known, default=np.nan):.1f}")
        print(f"validation, dCoT {base} [x; h], p={p}: {', '.join(best)}")


# Time.


def seconds(work: Any, repeat: int = 3) -> float:
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return float(np.median(taken))


def timed(name: str, x: csr_array, workers: int, repeat: int = 3) -> None:
    """Print one line: the time to learn, and the documents encoded per second."""
    model = DCoT(min_df=2)
    for number in (1, workers):
        learn = seconds(partial(model.fit, x, workers=number), repeat)
        encode = x.shape[0] / seconds(partial(model.transform, x, number), repeat)
        size = model.W_[0].nbytes / 1e6
        print(
            f"| {name} | {x.shape[0]:,} | {len(model.words_):,} | {x.nnz:,} | {number} | {learn:.1f} s | "
            f"{1e9 * learn / x.nnz:,.0f} ns | {model.steps_.mean():.1f} | {size:.0f} MB | {encode:,.0f} |",
            flush=True,
        )


def times(task: Task, arxiv: str | None, workers: int, folder: Path) -> None:
    """Print the time of learning and encoding, p = 0.9 and r = 500, on Reuters and on growing parts of arXiv."""
    DCoT(r=1, min_df=1).fit(task.x[:50]).transform(task.x[:50])
    print(
        "\n| collection | documents | words | non-zeros | workers | learning | a non-zero | steps | W | encoded a second |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    timed("Reuters", csr_array(task.x[: task.train]), workers)
    if arxiv:
        matrix = sublex.build(arxiv, folder / "arxiv").corpus.matrix().astype(np.float64)
        for documents in (12_500, 25_000, 50_000, 100_000):
            timed("arXiv", csr_array(matrix[:documents]), workers, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reuters", type=Path)
    parser.add_argument("--arxiv")
    parser.add_argument("--labels", type=int, nargs="*", default=[100, 500, 2000])
    parser.add_argument("--draws", type=int, nargs="*", default=[10, 10, 3])
    parser.add_argument("--sizes", type=int, nargs="*", default=[500], help="numbers of prototypes")
    parser.add_argument("--parts", nargs="*", default=["times", "classes"])
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        task = reuters(options.reuters, Path(folder))
        documents = f"{task.train:,} + {len(task.topics) - task.train:,} documents"
        print(f"Reuters: {documents}, {len(set(task.topics))} topics, {len(task.words):,} words")
        if "times" in options.parts:
            times(task, options.arxiv, options.workers, Path(folder))
        if "classes" in options.parts:
            classify(task, options.labels, options.draws, options.sizes, options.workers)


if __name__ == "__main__":
    main()
