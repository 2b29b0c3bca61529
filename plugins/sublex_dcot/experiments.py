"""The experiments of the paper on dCoT: classification of Reuters-21578 from few labels, and the prototypes that words
evoke.

The index has the stories of Reuters-21578, read by the reader `reuters`. The documents are those of the ModApte split
with exactly one topic. A topic is left out if the training documents or the test documents lack it. dCoT and LSI are
learned from the training documents, without their topics. A fixed fifth of the training documents is held out to choose
the parameters of each representation by accuracy. Labelled documents are drawn from the other training documents, and
the accuracy is measured on the test documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from sublex.contracts.experiments import ExperimentWork
from sublex.errors import InputError
from sublex.estimators.classification import accuracy, draws, expect_scikit_learn
from sublex.estimators.svd import truncated_svd
from sublex_dcot.model import DCoT

# The weights that are tried for the words x in [x; h]. Words and prototypes both have a mean square of 1 before.
WEIGHTS = (0.5, 1.0)
# The seeds of the draws that choose parameters, and of the draws that measure.
CHOOSING, MEASURING = 1, 2


class ReutersTask(NamedTuple):
    """The documents of Reuters-21578 that are classified, and their words. The first `train` documents are for
    training.

    `x` has the counts of documents by words. `rows` has the number of each document in the index, and `topics` its
    topic.
    """

    x: csr_array
    rows: np.ndarray
    topics: np.ndarray
    train: int
    words: list[str]

    @property
    def test(self) -> np.ndarray:
        """The places of the test documents in `x`."""
        return np.arange(self.train, len(self.topics))


def reuters(index: Any) -> ReutersTask:
    """Return the documents of the ModApte split with a single topic, and the words that two or more training documents
    have.
    """
    topics, split = [], []
    for document in index.documents():
        known = document.fields.get("topics") or []
        judged = document.fields.get("topics_attribute") == "YES" and len(known) == 1
        topics.append(known[0] if judged else "")
        split.append(document.fields.get("lewissplit") if judged else "")
    of, part = np.array(topics), np.array(split)
    both = np.intersect1d(of[part == "TRAIN"], of[part == "TEST"])
    parts = [np.flatnonzero((part == name) & np.isin(of, both)) for name in ("TRAIN", "TEST")]
    if not len(both):
        raise InputError(f"{index.path} has no stories of Reuters-21578 with topics; index them by the reader reuters.")
    matrix = index.corpus.matrix()
    words = np.flatnonzero(np.bincount(matrix[parts[0]].indices, minlength=matrix.shape[1]) >= 2)
    chosen = np.concatenate(parts)
    x = csr_array(matrix[chosen][:, words].astype(np.float64))
    return ReutersTask(x, chosen, of[chosen], len(parts[0]), [index.corpus.vocabulary[k] for k in words])


class RowVariant(NamedTuple):
    """One way to represent documents: blocks of columns side by side, each multiplied by its weight.

    A block is named by a tuple: its kind, such as "log", and its parameters.
    """

    blocks: tuple[tuple[Any, ...], ...]
    weights: tuple[float, ...] = (1.0,)


class ReutersBlocks:
    """The blocks of columns of which variants consist. A block is computed on first use, and scaled to a mean square of
    1 on the training documents.

    With `unit`, each row is scaled to length 1 before.
    """

    def __init__(self, task: ReutersTask, unit: bool, workers: int, r: int, deepest: int):
        self.task, self.unit, self.workers, self.r, self.deepest = task, unit, workers, r, deepest
        self._made: dict[tuple[Any, ...], Any] = {}
        self._models: dict[tuple[Any, ...], np.ndarray] = {}

    def of(self, variant: RowVariant) -> list[Any]:
        """Return the blocks of a variant, each multiplied by its weight."""
        return [self._block(key) * weight for key, weight in zip(variant.blocks, variant.weights, strict=True)]

    def put(self, name: str, rows: Any) -> None:
        """Add a block that another model computed, under a name."""
        self._made[name,] = self._scaled(self._rows(rows))

    def _block(self, key: tuple[Any, ...]) -> Any:
        if key not in self._made:
            self._made[key] = self._scaled(self._rows(self._make(*key)))
        return self._made[key]

    def _rows(self, block: Any) -> Any:
        return _unit(block) if self.unit else block

    def _make(self, kind: str, *given: Any) -> Any:
        x, train = self.task.x, self.task.train
        match kind:
            case "counts":
                return x
            case "log":
                return x.log1p()
            case "tf-idf":
                df = np.bincount(x[:train].indices, minlength=x.shape[1])
                return csr_array(x @ diags_array(np.log(train / np.maximum(df, 1))))
            case "lsi":
                base, width = given
                rows = self._rows(self._make(base))
                return rows @ self._factors(base, rows)[:, :width]
        base, p, layers = given
        return self._prototypes(base, p)[:, : layers * self.r]

    def _factors(self, base: str, rows: csr_array) -> np.ndarray:
        key = ("svd", base)
        if key not in self._models:
            self._models[key] = truncated_svd(csr_array(rows[: self.task.train]), 200, workers=self.workers).vectors
        return self._models[key]

    def _prototypes(self, base: str, p: float) -> np.ndarray:
        key = ("dcot", base, p)
        if key not in self._models:
            train, log = self.task.x[: self.task.train], base == "log"
            model = DCoT(r=self.r, layers=self.deepest, p=p, log=log, min_df=1).fit(train, workers=self.workers)
            self._models[key] = model.transform(self.task.x, self.workers) - model.empty_
        return self._models[key]

    def _scaled(self, block: Any) -> Any:
        part = block[: self.task.train]
        return block / np.sqrt((part * part).sum() / part.shape[0])


def _unit(block: Any) -> Any:
    lengths = np.sqrt((block * block).sum(axis=1))
    inverse = 1 / np.where(lengths > 0, lengths, 1)
    return csr_array(diags_array(inverse) @ block) if issparse(block) else block * inverse[:, None]


class _OnReuters:
    """An experiment on Reuters-21578. Its units, which it measures one by one, are draws of labelled documents."""

    measures = ("accuracy",)
    needs_index = True

    def __init__(self, labels: int, draws: int, r: int, p: Sequence[Any], layers: Sequence[Any], unit: bool):
        expect_scikit_learn("Classification of Reuters-21578")
        self.labels, self.r, self.unit = labels, r, unit
        self.p, self.layers = _numbers("p", p, 0.01, 0.99, float), _numbers("layers", layers, 1, 10, int)
        self.units = tuple(f"draw {number}" for number in range(1, draws + 1))
        self._task: ReutersTask | None = None

    def task(self, work: ExperimentWork) -> ReutersTask:
        """Return the documents and words. They are read from the index at the first call."""
        if self._task is None:
            self._task = reuters(work.index)
        return self._task

    def pool(self, task: ReutersTask) -> tuple[np.ndarray, np.ndarray]:
        """Return two sets of training documents: a fifth on which parameters are chosen, and the others, from which
        labelled documents are drawn.
        """
        order = np.random.default_rng(0).permutation(task.train)
        return order[: task.train // 5], order[task.train // 5 :]

    def drawn(self, task: ReutersTask, use: int, number: int) -> np.ndarray:
        """Return the labelled documents of draw `number`. `use` is CHOOSING or MEASURING."""
        return draws(self.pool(task)[1], self.labels, (use, self.labels, number))


class ReutersClassification(_OnReuters):
    """Accuracy of representations with few labelled documents.

    Each representation has the parameters that are best on held-out training documents.
    """

    def __init__(self, *, widths: Sequence[Any], tuning: int, lda: Any, **given: Any):
        super().__init__(**given)
        self.widths, self.tuning, self.lda = _numbers("widths", widths, 1, 200, int), tuning, lda
        self._families = self._variants()
        self.cases = tuple(self._families)
        self._best: dict[str, RowVariant] = {}
        self._blocks: ReutersBlocks | None = None

    def _variants(self) -> dict[str, list[RowVariant]]:
        found = {f"BoW, {base}": [RowVariant(((base,),))] for base in ("counts", "log", "tf-idf")}
        for base in ("counts", "tf-idf"):
            found[f"LSI, {base}"] = [RowVariant((("lsi", base, width),)) for width in self.widths]
        if self.lda is not None:
            found["LDA"] = [RowVariant((("LDA",),))]
        for base in ("counts", "log"):
            grid = [("dcot", base, p, layers) for p, layers in product(self.p, self.layers)]
            found[f"dCoT, {base}, h"] = [RowVariant((h,)) for h in grid]
            found[f"dCoT, {base}, [x; h]"] = [
                RowVariant(((base,), h), (weight, 1.0)) for h in grid for weight in WEIGHTS
            ]
        return found

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the accuracy of each representation on the test documents, for the draw of labelled documents that
        `unit` names.
        """
        task = self.task(work)
        blocks, best = self._chosen(task, work)
        labelled = self.drawn(task, MEASURING, self.units.index(unit))
        found = {}
        for done, case in enumerate(self.cases):
            work.progress(done, len(self.cases), "representations")
            found[case] = [accuracy(blocks.of(best[case]), task.topics, labelled, task.test)]
        return found

    def _chosen(self, task: ReutersTask, work: ExperimentWork) -> tuple[ReutersBlocks, dict[str, RowVariant]]:
        """Return the blocks, and the best variant of each representation. The best one classifies held-out training documents best."""
        if self._blocks is None:
            self._blocks = ReutersBlocks(task, self.unit, work.workers, self.r, max(self.layers))
            if self.lda is not None:
                self._blocks.put("LDA", np.sqrt(work.vectors(self.lda)[task.rows]))
        if not self._best:
            held_out, _ = self.pool(task)
            tuning = [self.drawn(task, CHOOSING, number) for number in range(self.tuning)]
            best: dict[str, RowVariant] = {}
            for done, (case, variants) in enumerate(self._families.items()):
                work.progress(done, len(self.cases), "representations chosen")
                means = (
                    [self._mean(variant, task, tuning, held_out) for variant in variants] if len(variants) > 1 else [0]
                )
                best[case] = variants[int(np.argmax(means))]
            self._best = best
        return self._blocks, self._best

    def _mean(
        self, variant: RowVariant, task: ReutersTask, tuning: Sequence[np.ndarray], held_out: np.ndarray
    ) -> float:
        assert self._blocks is not None
        blocks = self._blocks.of(variant)
        return float(np.mean([accuracy(blocks, task.topics, labelled, held_out) for labelled in tuning]))


class ReutersNoise(_OnReuters):
    """Accuracy of [x; h] by the probability with which words are removed in training, and by the number of layers."""

    def __init__(self, *, base: str, weight: float, **given: Any):
        super().__init__(**given)
        self.base, self.weight = base, weight
        self._grid = {_setting(p, layers): (p, layers) for p, layers in product(self.p, self.layers)}
        self.cases = tuple(self._grid)
        self._blocks: ReutersBlocks | None = None

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the accuracy of each setting on the test documents, for the draw of labelled documents that `unit`
        names.
        """
        task = self.task(work)
        if self._blocks is None:
            self._blocks = ReutersBlocks(task, self.unit, work.workers, self.r, max(self.layers))
        labelled, found = self.drawn(task, MEASURING, self.units.index(unit)), {}
        for done, (case, (p, layers)) in enumerate(self._grid.items()):
            work.progress(done, len(self.cases), "settings")
            variant = RowVariant(((self.base,), ("dcot", self.base, p, layers)), (self.weight, 1.0))
            found[case] = [accuracy(self._blocks.of(variant), task.topics, labelled, task.test)]
        return found


def _setting(p: float, layers: int) -> str:
    return f"p = {p:g}, {layers} layer{'s' * (layers > 1)}"


class EvokedPrototypes:
    """The rank of a given prototype among all prototypes that a word evokes, and whether it is among the first ten (1
    or 0).

    A word evokes a prototype by the prototype's value for a text of this word, minus its value for an empty text.
    """

    measures = ("rank", "among the first ten")
    units = ("the map",)
    needs_index = True

    def __init__(self, words: Sequence[Any], r: int, p: float, layers: int):
        self.r, self.p, self.layers = r, p, layers
        self._pairs = {str(text): str(text).split(" ") for text in words}
        for text, pair in self._pairs.items():
            if len(pair) != 2:
                raise InputError(f"words has {text!r}; write a word and a prototype, such as 'reagan president'.")
        self.cases = tuple(self._pairs)

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return both measures of each pair of a word and a prototype.

        If the documents lack the word, or if the second word is no prototype, the rank is `r` + 1.
        """
        task = reuters(work.index)
        numbers = {word: number for number, word in enumerate(task.words)}
        model = DCoT(r=self.r, layers=self.layers, p=self.p, min_df=1).fit(task.x[: task.train], workers=work.workers)
        prototypes = [task.words[number] for number in model.prototypes_.tolist()]
        found = {}
        for case, pair in self._pairs.items():
            word, prototype = (next(iter(work.index.analyze(each)), "") for each in pair)
            if word not in numbers or prototype not in prototypes:
                found[case] = [float(self.r + 1), 0.0]
                continue
            row = csr_array(([1.0], ([0], [numbers[word]])), shape=(1, len(numbers)))
            evoked = (model.transform(row) - model.empty_)[0, -len(prototypes) :]
            above = int((evoked > evoked[prototypes.index(prototype)]).sum())
            found[case] = [1.0 + above, float(above < 10)]
        return found


def _numbers(name: str, given: Sequence[Any], least: float, most: float, kind: type) -> tuple[Any, ...]:
    """Return the list `given` as numbers of type `kind`.

    Raise InputError, which names the parameter `name`, unless they are distinct numbers from `least` to `most`.
    """
    for value in given:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if not (is_number or (kind is float and isinstance(value, float))) or not least <= value <= most:
            raise InputError(f"{name} has {value!r}; give numbers from {least:g} to {most:g}.")
    if not given or len(set(given)) < len(given):
        raise InputError(f"{name} should be a list of different numbers, and not empty.")
    return tuple(map(kind, given))
