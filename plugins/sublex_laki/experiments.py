"""The experiments of the paper on LAKI, on open data: classification of short texts, and how related two phrases are.

All representations are learned from the documents of the index, without their categories.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from sublex.contracts.experiments import ExperimentWork
from sublex.errors import InputError
from sublex.estimators.bags import damped
from sublex.estimators.classification import accuracy, draws, expect_scikit_learn
from sublex.estimators.svd import truncated_svd
from sublex.tools.plain_files import read_text
from sublex_laki.estimator import encode
from sublex_laki.representation import LEAST_IN_QUERY

# Costs of errors that are tried, with rows of length 1.
COSTS = (0.1, 1.0, 10.0)
# The share of texts that a split learns from.
LEARNED = 0.7
# The fewest documents that have a word.
RARE = 2
# Bytes of a file of pairs, at most.
MOST_BYTES = 1 << 24


class ComparedTexts:
    """Texts as rows by LAKI and by other models of one index; each kind of rows is made when it is asked for."""

    def __init__(self, work: ExperimentWork, texts: Sequence[str], model: Any, lda: Any, width: int):
        self.work, self.texts, self.lda, self.width = work, texts, lda, width
        loaded = work.index.representation(model)
        self.laki, self.units = loaded.model, csr_array(loaded.model.units.of_texts(loaded.inputs.of_texts(texts)))
        self.matrix = work.index.corpus.matrix()
        df = np.bincount(self.matrix.indices, minlength=self.matrix.shape[1])
        self.kept = np.flatnonzero(df >= RARE)
        self.idf = np.log(self.matrix.shape[0] / df[self.kept])

    def rows(self, kind: str) -> Any:
        """Return the texts as rows of length 1, or of zeros."""
        match kind:
            case "BoW":
                return unit(self._weighted(self._words()))
            case "EKM":
                mentioned = self.units[:, self.laki.network.phrases]
                return unit(csr_array((mentioned > 0).astype(np.float64)))
            case "LSI":
                found = truncated_svd(self._weighted(self._counts()), self.width, powers=3, workers=self.work.workers)
                return unit(self._weighted(self._words()) @ found.vectors)
            case "LDA":
                return unit(np.sqrt(self.work.vectors(self.lda, self.texts)))
        return unit(csr_array(self.laki.encode_units(self.units, LEAST_IN_QUERY)).sqrt())

    def _counts(self) -> csr_array:
        return csr_array(self.matrix[:, self.kept], dtype=np.float64)

    def _weighted(self, rows: csr_array) -> csr_array:
        damp = csr_array((damped(rows.data), rows.indices, rows.indptr), shape=rows.shape)
        return csr_array(damp @ diags_array(self.idf))

    def _words(self) -> csr_array:
        """Return the counts of the words of the texts."""
        index = self.work.index
        numbers = {term: number for number, term in enumerate(index.corpus.vocabulary)}
        rows = [Counter(numbers[term] for term in index.analyze(text) if term in numbers) for text in self.texts]
        places = np.append(0, np.cumsum([len(row) for row in rows]))
        data = [float(count) for row in rows for count in row.values()]
        columns = [number for row in rows for number in row]
        return csr_array(csr_array((data, columns, places), shape=(len(rows), len(numbers)))[:, self.kept])


def unit(rows: Any) -> Any:
    """Return rows of length 1."""
    if issparse(rows):
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        return csr_array(diags_array(np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)) @ rows)
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def cases_of(lda: Any) -> tuple[str, ...]:
    """Return the representations that are compared."""
    return ("LAKI", *(["LDA"] if lda is not None else []), "LSI", "BoW", "EKM")


class _OnTitles:
    """An experiment on titles of the categories with most documents, whose units are splits of the titles."""

    measures = ("accuracy",)
    needs_index = True
    cases: tuple[str, ...] = ()

    def __init__(self, *, model: Any, category: str, categories: int, each: int, splits: int):
        expect_scikit_learn("Classification of titles")
        self.model, self.category, self.categories, self.each = model, category, categories, each
        self.units = tuple(f"split {number}" for number in range(1, splits + 1))
        self._rows: dict[str, Any] = {}
        self._of: np.ndarray | None = None

    def made(self, texts: Sequence[str], work: ExperimentWork) -> Iterator[tuple[str, Any]]:
        """Yield each case with the rows of the titles."""
        raise NotImplementedError

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the accuracy of a linear machine on the titles that a split leaves, for each case."""
        if self._of is None:
            chosen = self._chosen(work.index)
            for done, (case, rows) in enumerate(self.made([title for title, _ in chosen], work), 1):
                self._rows[case] = rows
                work.progress(done, 2 * len(self.cases), "representations")
            self._of = np.array([category for _, category in chosen])
        number = len(self._of)
        learned = np.sort(draws(np.arange(number), round(LEARNED * number), (self.units.index(unit),)))
        others, found = np.setdiff1d(np.arange(number), learned), {}
        for done, case in enumerate(self.cases, len(self.cases)):
            work.progress(done, 2 * len(self.cases), "representations")
            found[case] = [accuracy([self._rows[case]], self._of, learned, others, COSTS)]
        return found

    def _chosen(self, index: Any) -> list[tuple[str, str]]:
        """Return titles with their categories: at most `each` of each of the categories with most titles, each title once."""
        texts: dict[str, tuple[str, str]] = {}
        for document in index.documents():
            given = document.fields.get(self.category)
            # A document with several categories is left out.
            names = given if isinstance(given, list) else [given] if given else []
            if document.title.strip() and len(names) == 1:
                texts.setdefault(document.title.casefold(), (document.title, str(names[0])))
        sizes = Counter(category for _, category in texts.values())
        if len(sizes) < 2:
            raise InputError(
                f"{index.path} has titles of {len(sizes)} categories in the field {self.category}; name another field by category."
            )
        found = []
        for place, (name, _) in enumerate(sizes.most_common(self.categories)):
            own = [item for item in texts.values() if item[1] == name]
            found += [own[k] for k in np.sort(draws(np.arange(len(own)), self.each, (7, place))).tolist()]
        return found


class TitleClassification(_OnTitles):
    """Accuracy on titles by representation."""

    def __init__(self, *, lda: Any, width: int, **given: Any):
        super().__init__(**given)
        self.lda, self.width = lda, width
        self.cases = cases_of(lda)

    def made(self, texts: Sequence[str], work: ExperimentWork) -> Iterator[tuple[str, Any]]:
        """Yield the rows of each representation."""
        compared = ComparedTexts(work, texts, self.model, self.lda, self.width)
        return ((case, compared.rows(case)) for case in self.cases)


class TitleSettings(_OnTitles):
    """Accuracy on titles by the keyphrases that inference considers, and by the sweeps of Gibbs sampling (figures 5 and 8).

    Keyphrases are inferred by belief propagation; sweeps consider 200 of them, and count samples, as in the paper.
    """

    def __init__(self, *, most: Sequence[Any], sweeps: Sequence[Any], **given: Any):
        super().__init__(**given)
        for name, values in (("most", most), ("sweeps", sweeps)):
            for value in values:
                if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 100_000:
                    raise InputError(f"{name} has {value!r}; give numbers from 1 to 100,000.")
        self.options: dict[str, dict[str, Any]] = {
            **{f"{value:,} keyphrases": {"most": value} for value in most},
            **{f"{value:,} sweeps": {"method": "gibbs", "estimate": "samples", "sweeps": value} for value in sweeps},
        }
        self.cases = tuple(self.options)

    def made(self, texts: Sequence[str], work: ExperimentWork) -> Iterator[tuple[str, Any]]:
        """Yield the rows of each setting."""
        loaded = work.index.representation(self.model)
        model = loaded.model
        units = csr_array(model.units.of_texts(loaded.inputs.of_texts(texts)))
        for case, options in self.options.items():
            found = encode(model.capped, units, length=model.length, workers=work.workers, **options)
            yield case, unit(found.sqrt())


class PhraseRelatedness:
    """Pearson's correlation of people's ratings of pairs of phrases with cosines; the units are disjoint parts of the pairs."""

    measures = ("r",)
    needs_index = True

    def __init__(self, *, pairs: str, model: Any, lda: Any, least: int, parts: int, width: int):
        self.pairs, self.model, self.lda, self.least, self.width = pairs, model, lda, least, width
        self.cases = tuple(case for case in cases_of(lda) if case != "EKM")
        self.units = tuple(f"part {number}" for number in range(1, parts + 1))
        self._cosines: dict[str, np.ndarray] = {}
        self._ratings = np.empty(0)

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the correlation for each representation, on a part of the pairs."""
        if not self._cosines:
            self._measure_all(work)
        part = np.arange(self.units.index(unit), len(self._ratings), len(self.units))
        if len(part) < 3:
            raise InputError(
                f"{len(self._ratings)} pairs of {self.pairs} occur {self.least} times in the index; {len(self.units)} parts need three "
                "pairs each."
            )
        return {case: [_correlation(self._cosines[case][part], self._ratings[part])] for case in self.cases}

    def _measure_all(self, work: ExperimentWork) -> None:
        given = read_pairs(self.pairs)
        counts = occurrences(work.index, sorted({side for first, second, _ in given for side in (first, second)}))
        known = [pair for pair in given if min(counts[pair[0]], counts[pair[1]]) >= self.least]
        # Pairs are ordered by their ratings in the file, so parts take every n-th of a random order.
        order = np.random.default_rng(0).permutation(len(known)).tolist()
        known = [known[k] for k in order]
        sides = sorted({side for first, second, _ in known for side in (first, second)})
        place = {side: k for k, side in enumerate(sides)}
        self._ratings = np.array([rating for _, _, rating in known])
        firsts, seconds = [place[first] for first, _, _ in known], [place[second] for _, second, _ in known]
        texts = ComparedTexts(work, sides, self.model, self.lda, self.width)
        for done, case in enumerate(self.cases):
            work.progress(done, len(self.cases), "representations")
            rows = texts.rows(case)
            if issparse(rows):
                self._cosines[case] = np.asarray(rows[firsts].multiply(rows[seconds]).sum(axis=1)).ravel()
            else:
                self._cosines[case] = np.einsum("ij,ij->i", rows[firsts], rows[seconds])


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Return Pearson's correlation; 0 if one side is constant."""
    x, y = x - x.mean(), y - y.mean()
    norm = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / norm if norm > 0 else 0.0


def read_pairs(path: str) -> list[tuple[str, str, float]]:
    """Return pairs of phrases with ratings from a file with tabs and the columns String1, String2 and Mean."""
    lines = read_text(path, MOST_BYTES, "pairs of phrases").splitlines()
    found = []
    for number, row in enumerate(csv.DictReader(lines, delimiter="\t"), 2):
        first, second, mean = (row.get(name) for name in ("String1", "String2", "Mean"))
        try:
            rating = float(mean or "")
        except ValueError:
            rating = math.nan
        if not first or not second or not math.isfinite(rating):
            raise InputError(
                f"{path}, line {number}: no pair; a line has String1, String2 and a number as Mean, with tabs."
            )
        found.append((first, second, rating))
    return found


def occurrences(index: Any, phrases: Sequence[str]) -> dict[str, int]:
    """Return how often each phrase occurs in an index, by its terms."""
    wanted = {phrase: tuple(index.analyze(phrase)) for phrase in phrases}
    by_first: dict[str, set[tuple[str, ...]]] = {}
    for terms in wanted.values():
        by_first.setdefault(terms[0] if terms else "", set()).add(terms)
    found = dict.fromkeys(wanted.values(), 0)
    for tokens in index.corpus.sequences():
        words = [token.term for token in tokens]
        for k, word in enumerate(words):
            for own in by_first.get(word, ()):
                found[own] += tuple(words[k : k + len(own)]) == own
    return {phrase: found[terms] if terms else 0 for phrase, terms in wanted.items()}
