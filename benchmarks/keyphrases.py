"""Compare keyphrases with those that readers gave: keyphrases that a text has, and keyphrases that it does not have.

    python benchmarks/keyphrases.py INSPEC.jsonl.xz [--part dev|test] [--model MODEL] [--background COLLECTION] [--yake FOLDER] [--learn]

INSPEC is a file of JSON lines with `text` and `keyphrases`. Of its documents, those with even places are for development
(`dev`), the others for the report (`test`). MODEL is an expression of LAKI; it is fitted to all texts of the file, without
their keyphrases, and to those of COLLECTION if one is given.

Two phrases are the same if their words have the same stems. Present: precision, recall and F1 of the best 5 and 10, and
recall of the best 10, among the readers' keyphrases that the text has; means over documents with such keyphrases. Absent:
the recall of the best 10 among the readers' keyphrases that the text does not have, in all and of those that are
keyphrases of the model.

LAKI stands in two rows for keyphrases that the text has: as people see them, rare phrases included, and by the network alone,
as `shown=network` says. With `--learn`, the weights of `sublex_laki/rare.py` that fit the readers' keyphrases of the part best
are printed too; this needs scikit-learn. Their ratios matter, their size does not: readers do not name all keyphrases.

The baselines are YAKE (if it is installed, in FOLDER if named), TextRank and PositionRank without a tagger (word graphs
over a window; candidates are sequences between stop words), tf-idf of such sequences, and LSI's nearest phrases.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import sublex
from sublex.analysis.words import word_spans
from sublex_laki.estimator import decomposed
from sublex_laki.rare import WEIGHTS, chunks, read_words

BEST, LONGEST, WIDTH = 10, 4, 100
# TextRank and PositionRank: neighbours in a window, damping and iterations.
WINDOW, DAMPING, ITERATIONS = 10, 0.85, 30
Terms = tuple[str, ...]

# English words that end a candidate of the baselines, in addition to stop words of the index.
FUNCTION = set(
    "we our us they them he she his her its who whom whose which what when where why how can could may might must shall should "
    "would do does did done has have had having been being am were also both each every some any many much more most other "
    "others such than too very so however thus hence therefore while whereas although because since until unless between among "
    "through during before after above below under over from about against across within without upon via per using used use "
    "uses based one two three first second new several various different same only even still yet just well often here now all "
    "few less least not nor either neither own show shows shown present presents presented propose proposed proposes paper "
    "study result results given make makes made get provide provides provided".split()
)


class Texts:
    """Texts as sequences of runs: candidates of the baselines are parts of a run, which has no stop word or punctuation."""

    def __init__(self, texts: Sequence[str], index: sublex.Index):
        self.raw, self.analyze = texts, index.analyze
        self.runs = [self._runs(text) for text in texts]
        self.terms = [tuple(index.analyze(text)) for text in texts]

    def _runs(self, text: str) -> list[list[tuple[str, int]]]:
        """Return the runs of a text; each word has its term and its place."""
        runs: list[list[tuple[str, int]]] = [[]]
        last = 0
        for place, (begin, end) in enumerate(word_spans(text)):
            word, gap = text[begin:end], text[last:begin]
            terms = self.analyze(word)
            if gap.strip(" \t\r\n-") or not terms or word.casefold() in FUNCTION:
                runs.append([])
            if terms and word.casefold() not in FUNCTION and len(word) > 1:
                runs[-1].append((terms[0], place))
            last = end
        return [run for run in runs if run]

    def candidates(self, text: int) -> Counter[Terms]:
        """Return the parts of runs, of up to LONGEST words, with their numbers of occurrences."""
        found: Counter[Terms] = Counter()
        for run in self.runs[text]:
            for i in range(len(run)):
                for j in range(i + 1, min(i + LONGEST, len(run)) + 1):
                    found[tuple(term for term, _ in run[i:j])] += 1
        return found


def ranked(scores: dict[Terms, float]) -> list[Terms]:
    """Return phrases, the best first."""
    return sorted(scores, key=lambda phrase: (-scores[phrase], phrase))


def tfidf(texts: Texts) -> Callable[[int], list[Terms]]:
    """Return a function that ranks the candidates of a text by tf-idf, weighted by the number of words."""
    df: Counter[Terms] = Counter()
    for text in range(len(texts.raw)):
        df.update(texts.candidates(text).keys())
    number = len(texts.raw)

    def rank(text: int) -> list[Terms]:
        found = texts.candidates(text)
        return ranked({phrase: tf * np.log(number / df[phrase]) * len(phrase) ** 0.5 for phrase, tf in found.items()})

    return rank


def text_rank(texts: Texts, by_place: bool) -> Callable[[int], list[Terms]]:
    """Return a function that ranks whole runs of a text by the sum of their words' PageRank in the graph of neighbours.

    R. Mihalcea and P. Tarau, TextRank, 2004; with `by_place`, C. Florescu and C. Caragea, PositionRank, 2017.
    """

    def rank(text: int) -> list[Terms]:
        words = sorted(word for run in texts.runs[text] for word in run)
        words.sort(key=lambda word: word[1])
        number = {term: k for k, term in enumerate(dict.fromkeys(term for term, _ in words))}
        graph, start = np.zeros((len(number), len(number))), np.zeros(len(number))
        for i, (term, place) in enumerate(words):
            start[number[term]] += 1 / (place + 1) if by_place else 1.0
            for other, at in words[i + 1 :]:
                if at - place >= WINDOW:
                    break
                if other != term:
                    graph[number[term], number[other]] += 1
                    graph[number[other], number[term]] += 1
        start = start / start.sum() if by_place else np.full(len(start), 1 / max(1, len(start)))
        moves = graph / np.maximum(graph.sum(axis=0), 1e-12)
        values = start.copy()
        for _ in range(ITERATIONS):
            values = (1 - DAMPING) * start + DAMPING * moves @ values
        whole = {tuple(term for term, _ in run[-LONGEST:]) for run in texts.runs[text]}
        return ranked({phrase: float(sum(values[number[term]] for term in phrase)) for phrase in whole})

    return rank


def yake(texts: Texts, folder: str | None) -> Callable[[int], list[Terms]] | None:
    """Return a function that ranks by YAKE; None if it is not installed."""
    if folder:
        sys.path.append(folder)
    try:
        from yake import KeywordExtractor
    except ImportError:
        return None
    extractor = KeywordExtractor(lan="en", n=3, top=40)

    def rank(text: int) -> list[Terms]:
        found = [
            tuple(texts.analyze(phrase)) for phrase, _ in extractor.extract_keywords(" ".join(texts.raw[text].split()))
        ]
        return list(dict.fromkeys(phrase for phrase in found if phrase))

    return rank


class Model:
    """The keyphrases of a fitted LAKI in texts, and what LSI of the same units finds."""

    def __init__(self, index: sublex.Index, expression: str, texts: list[str]):
        loaded = index.representation(expression)
        self.model = loaded.model
        units, phrases = self.model.units, self.model.network.phrases
        self.names = [tuple(units.terms[unit]) for unit in phrases.tolist()]
        counts = units.of_texts(loaded.inputs.of_texts(texts))
        self.chances = self.model.encode_units(counts, 0.0).toarray()
        words = loaded.inputs.of_texts(texts)
        self.shown = [
            [item.terms for item in items if item.mentioned]
            for items in self.model.shown(loaded.view, words, counts, 0.0)
        ]
        every = index.representation(
            f"{expression.removesuffix(')')}{', ' if '(' in expression else '('}related=0)"
        ).model
        self.latent, self.every_latent = (
            [[item.terms for item in items if not item.mentioned] for items in model.shown(loaded.view, words, counts)]
            for model in (self.model, every)
        )
        self.words = read_words(units.phrases, units.words_of(words), words)
        self.spans = list(zip([0, *words.ends[:-1].tolist()], words.ends.tolist(), strict=True))
        self.mentioned = counts[:, phrases].toarray() > 0
        self.df = self.mentioned.sum(axis=0).astype(float)
        found = decomposed(units.of_corpus(index.corpus, Quiet()), WIDTH)
        vectors = found.vectors
        rows = counts @ vectors
        self.near = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)) @ vectors[phrases].T

    def best(self, values: np.ndarray, allowed: np.ndarray) -> list[Terms]:
        """Return the allowed keyphrases, the largest value first."""
        order = np.argsort(np.where(allowed, -values, np.inf), kind="stable")[: int(allowed.sum())][: 4 * BEST]
        return list(dict.fromkeys(self.names[k] for k in order.tolist()))


def learn_weights(model: Model, chosen: list[int], present: list[set[Terms]]) -> None:
    """Print the weights of the facts about rare phrases that fit the readers' keyphrases of some texts best."""
    from sklearn.linear_model import LogisticRegression

    found = [(chunk, text) for text in chosen for chunk in chunks(model.words, *model.spans[text])]
    facts, right = (
        np.array([chunk.facts for chunk, _ in found]),
        [chunk.terms in present[text] for chunk, text in found],
    )
    scale = facts.std(axis=0)
    fit = LogisticRegression().fit(facts / scale, right)
    weights = {name: round(float(value), 2) for name, value in zip(WEIGHTS, fit.coef_[0] / scale, strict=True)}
    print(f"{len(found):,} phrases, {100 * np.mean(right):.1f} % of readers: {weights}\n")


class Quiet:
    """Stands for the engine's `Job` where the benchmark fits a method itself, and drops all reports of progress."""

    map = staticmethod(map)

    @staticmethod
    def progress(done: int, total: int, unit: str = "") -> None:
        """Do nothing."""


def within(part: Terms, whole: Terms) -> bool:
    """Return whether one sequence of terms is within another."""
    return any(whole[k : k + len(part)] == part for k in range(len(whole) - len(part) + 1))


def show_present(
    methods: dict[str, Callable[[int], list[Terms]]], chosen: list[int], present: list[set[Terms]]
) -> None:
    """Print precision, recall and F1 of each method for the readers' keyphrases that stand in the text."""
    known = [text for text in chosen if present[text]]
    print(f"{len(known):,} texts with {sum(len(present[text]) for text in known):,} keyphrases that the text has\n")
    print("| method | P@5 | R@5 | F1@5 | P@10 | R@10 | F1@10 |\n|---|---|---|---|---|---|---|")
    for name, rank in methods.items():
        sums = np.zeros((len(known), 6))
        for row, text in enumerate(known):
            found = rank(text)[:BEST]
            for column, size in ((0, 5), (3, BEST)):
                right = len(present[text] & {*found[:size]})
                precision, recall = right / size, right / len(present[text])
                sums[row, column : column + 3] = (
                    precision,
                    recall,
                    2 * precision * recall / max(precision + recall, 1e-12),
                )
        print(f"| {name} | " + " | ".join(f"{100 * value:.1f}" for value in sums.mean(axis=0)) + " |", flush=True)


def show_absent(
    methods: dict[str, Callable[[int], list[Terms]]], chosen: list[int], absent: list[set[Terms]], names: set[Terms]
) -> None:
    """Print the recall of each method among the keyphrases that texts do not have."""
    total = sum(len(absent[text]) for text in chosen)
    findable = sum(len(absent[text] & names) for text in chosen)
    print(f"\n{total:,} keyphrases that the text does not have; {findable:,} are keyphrases of the model\n")
    print(f"| method | R@{BEST} of those of the model | R@{BEST} of all |\n|---|---|---|")
    for name, rank in methods.items():
        right = sum(len(absent[text] & names & {*rank(text)[:BEST]}) for text in chosen)
        print(f"| {name} | {100 * right / max(1, findable):.1f} | {100 * right / max(1, total):.1f} |", flush=True)


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold")
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument("--model", default="laki(phrases=phrases(support=3))")
    parser.add_argument("--background", help="a collection whose texts are fitted too")
    parser.add_argument("--yake", help="a folder where the package yake is installed")
    parser.add_argument("--learn", action="store_true", help="print the weights of rare phrases that fit best")
    given = parser.parse_args()
    with lzma.open(given.gold, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    raw = [record["text"] for record in records]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "inspec.jsonl"
        with open(file, "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"id": f"inspec-{k}", "text": text}) + "\n" for k, text in enumerate(raw))
        sources = [str(file), *([given.background] if given.background else [])]
        index = sublex.build(sources, Path(folder) / "index")
        index.fit(given.model)
        texts, model = Texts(raw, index), Model(index, given.model, raw)
        golds = [{tuple(index.analyze(gold)) for gold in record["keyphrases"]} - {()} for record in records]
        present = [{gold for gold in own if within(gold, text)} for own, text in zip(golds, texts.terms, strict=True)]
        absent = [own - here for own, here in zip(golds, present, strict=True)]
        chosen = list(range(given.part == "test", len(records), 2))
        if given.learn:
            learn_weights(model, chosen, present)
        methods: dict[str, Callable[[int], list[Terms]]] = {
            f"`{given.model}`": lambda k: model.shown[k],
            "the same with `shown=network`": lambda k: model.best(model.chances[k], model.mentioned[k]),
            "tf-idf of sequences": tfidf(texts),
            "TextRank, without a tagger": text_rank(texts, False),
            "PositionRank, without a tagger": text_rank(texts, True),
            "LSI, nearest phrases that the text has": lambda k: model.best(model.near[k], model.mentioned[k]),
        }
        other = yake(texts, given.yake)
        if other is not None:
            methods["YAKE"] = other
        show_present(methods, chosen, present)
        lacking: dict[str, Callable[[int], list[Terms]]] = {
            f"`{given.model}`": lambda k: model.latent[k],
            "the same with `related=0`": lambda k: model.every_latent[k],
            "the same with `shown=network`": lambda k: model.best(model.chances[k], ~model.mentioned[k]),
            "LSI, nearest phrases": lambda k: model.best(model.near[k], ~model.mentioned[k]),
            "most frequent keyphrases": lambda k: model.best(model.df, ~model.mentioned[k]),
        }
        show_absent(lacking, chosen, absent, {*model.names})


if __name__ == "__main__":
    main()
