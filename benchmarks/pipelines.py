"""Choose the weights of the pipelines `better` and `best`, and measure `good`, `better` and `best`, with significance by topic.

    python benchmarks/pipelines.py COLLECTIONS [--weights | --tables | --parts | --lsi | --near] [--work FOLDER]

COLLECTIONS holds a folder for each of adi, cranfield, medline, cacm, vaswani (docs.trec, topics.trec, qrels.txt) and scifact (BEIR,
with its test judgements). With --weights the script measures every setting of the ranges below on every collection. It prints the
setting with the highest mean gain in AP over all collections, and for each collection the setting that the other five choose, with
the gain of the collection under that setting. With --tables it prints the tables of the three pipelines as Sublex has them, and of
`best` without each of its parts; with --parts, those of further parts of `best`, which Sublex does not use; with --lsi, those of the
weightings of `lsi`, alone and in blends. Without an option it does all of this. With --work, the indexes and their fitted models stay
in FOLDER, and the next call uses them again. The base is BM25 with the lengths and the parameters of Lucene.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from effectiveness import Test, by_topic, load

import sublex
from sublex.language.pipelines import CHARS, LDA, LSI, WORDS, meaning
from sublex.statistics.corrections import holm
from sublex.statistics.significance import t

COLLECTIONS = (("adi", ""), ("cranfield", ""), ("medline", ""), ("cacm", ""), ("vaswani", ""), ("scifact", "test"))
BASE = "BM25(lengths=lucene, k1=1.2, b=0.75)"
MEASURES = ("AP", "nDCG@10", "R@1000")
FEEDBACK = WORDS[1:-1]

# The ranges of the weights, and the parts that have them.
RANGES = {
    "better": f"({WORDS} + {{0.1,0.2,0.4}}*{LSI}) >> near({LSI}, own={{0.6,0.7,0.8}})",
    "best": f"({WORDS} + {{0.1,0.2}}*{LSI} + {{0.1,0.2}}*{LDA} + {{0,0.1,0.2,0.3}}*{CHARS}) >> near({LSI}, own={{0.6,0.7,0.8}})",
}


def best(words: str = "", lsi: str = "", lda: str = "", chars: str = "", near: str = "") -> str:
    """Return `best` with other parts in the place of some of its own; "-" leaves a part out."""
    own = PARTS
    parts = [given or mine for given, mine in ((words, own[0]), (lsi, own[1]), (lda, own[2]), (chars, own[3]))]
    stage = near or own[4]
    blend = " + ".join(part for part in parts if part != "-")
    return blend if stage == "-" else f"({blend}) >> {stage}"


def parts_of(text: str) -> tuple[str, ...]:
    """Return the parts of the blend that `best` is, and its last stage."""
    blend, stage = text.rsplit(" >> ", 1)
    rest = blend.removeprefix(WORDS).removeprefix(" + ")
    return (WORDS, *rest.split(" + "), stage)


PARTS = parts_of(meaning("best"))
TFIDF = f"{LSI[:-1]}, weighting=tfidf)"
WITHOUT = {
    "`best`": meaning("best"),
    "without feedback: `Burst >> BM25`": best("(Burst >> BM25)"),
    "without `Burst`": best("(BM25 >> Sharp >> BM25)"),
    "feedback by `RM3`": best("(Burst >> BM25 >> RM3 >> BM25)"),
    "feedback by `Bo1`": best("(Burst >> BM25 >> Bo1 >> BM25)"),
    "without `lsi`": best(lsi="-"),
    "without `lda`": best(lda="-"),
    "without `chars`": best(chars="-"),
    "with `DirichletLM`": best(chars=f"{PARTS[3]} + 0.1*DirichletLM"),
    "without `near`": best(near="-"),
    "`near` with k=5": best(near=PARTS[4][:-1] + ", k=5)"),
    "`near` with add=true": best(near=PARTS[4][:-1] + ", add=true)"),
    "`lsi` with weighting=tfidf": best(lsi=PARTS[1].replace(LSI, TFIDF), near=PARTS[4].replace(LSI, TFIDF)),
    "z-scores in place of minmax": "("
    + " + ".join(f"{w}*zscore({p})" for w, p in [("1", FEEDBACK), *(part.split("*", 1) for part in PARTS[1:4])])
    + f") >> {PARTS[4]}",
}
FURTHER = {
    "`best`": meaning("best"),
    **{
        f"`+ 0.1*{part}`": f"{meaning('best').rsplit(' >> ', 1)[0]} + 0.1*{part} >> {PARTS[4]}"
        for part in (
            "fisher(k=4, words=lsi(e=50, weighting=tfidf), idf=true)",
            "dcot(r=1000, p=0.7, log=true)",
            "(swg(topics=lda(k=1)) >> BM25)",
            "laki(phrases=phrases(support=5))",
            "(BM25 >> Bo1 >> BM25)",
            "DPH",
        )
    },
}
WEIGHTINGS = {
    f"`{text.format(model)}`": text.format(model)
    for text in ("{}", "BM25 + 0.2*{}", "BM25 + (BM25 >> Bo1 >> BM25) + 0.4*{}")
    for model in (f"lsi(e={e}, weighting={weighting})" for e in (100, 200) for weighting in ("tfidf", "logtfidf"))
}
NEAR = {
    "`good`": meaning("good"),
    **{
        f"`good >> near({over})`": f"({meaning('good')}) >> near({over})"
        for over in (LSI, "terms", CHARS, LDA.replace("score=likelihood", "").replace(", )", ")"))
    },
    **{f"`best`, {stage}": best(near=stage) for stage in (PARTS[4], "near(terms, own=0.7)", "near(chars, own=0.7)")},
}
PIPELINES = {
    f"`{BASE}`": BASE,
    "`BM25`": "BM25",
    "`BM25 >> RM3 >> BM25`": "BM25 >> RM3 >> BM25",
    "`BM25 >> Bo1 >> BM25`": "BM25 >> Bo1 >> BM25",
    "`good`": meaning("good"),
    "`better`": meaning("better"),
    "`best`": meaning("best"),
    "`better(find=approximate)`": meaning("better", "approximate"),
    "`best(find=approximate)`": meaning("best", "approximate"),
}


def gains_of(means: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return relative gains over the base, in per cent; the last axis has the collections."""
    gains: np.ndarray = 100 * (means / base - 1)
    return gains


def weights(tests: Sequence[Test], name: str) -> None:
    """Print the setting that all collections choose, and what each collection gets from the choice of the others."""
    base = np.array([test.scores(BASE).mean() for test in tests])
    tunings = [test.tune(RANGES[name]) for test in tests]
    gains = gains_of(np.array([found.means for found in tunings]).T, base)
    settings = tunings[0].settings
    chosen = int(gains.mean(axis=1).argmax())
    print(
        f"\nWeights of {name}: {len(settings)} settings\n\n| chosen on | weights | gain of the collection held out |\n|---|---|---|"
    )
    held_out = []
    for place, test in enumerate(tests):
        others = np.delete(gains, place, axis=1).mean(axis=1)
        best_of_others = int(others.argmax())
        held_out.append(gains[best_of_others, place])
        values = ", ".join(f"{value:g}" for value in settings[best_of_others].values.values())
        print(f"| all but {test.name} | {values} | {held_out[-1]:+.1f} % |")
    values = ", ".join(f"{value:g}" for value in settings[chosen].values.values())
    print(f"| mean | | {np.mean(held_out):+.1f} %; without adi {np.mean(held_out[1:]):+.1f} % |")
    print(
        f"| all six | {values} | {gains[chosen].mean():+.1f} %; without adi {gains[chosen, 1:].mean():+.1f} %: not held out |"
    )
    print(f"\n{settings[chosen].text}")
    near_best = np.argsort(-gains.mean(axis=1))[:5]
    for place in near_best:
        print(f"{gains[place].mean():+.2f} % {', '.join(f'{v:g}' for v in settings[place].values.values())}")


class Scores:
    """Scores of pipelines for each topic of the collections. All measures of a pipeline come from one run, which is kept."""

    def __init__(self, tests: Sequence[Test]):
        self.tests, self._known = tests, dict[tuple[str, str], Any]()

    def of(self, text: str, measure: str) -> list[np.ndarray | None]:
        """Return the measure of each topic of each collection, in the order of the topics' ids.

        It is None for a collection that a part of the pipeline cannot be fitted to.
        """
        every = (self._found(test, text) for test in self.tests)
        return [None if found is None else by_topic(found.qids, found[measure]) for found in every]

    def _found(self, test: Test, text: str) -> Any:
        if (test.name, text) not in self._known:
            found = None
            try:
                test.fit(sublex.parse(text))
                found = sublex.measure(test.qrels, test.index.run(test.topics, text), MEASURES)
            except sublex.SublexError as problem:
                print(f"{test.name}: {problem}", file=sys.stderr, flush=True)
            self._known[test.name, text] = found
        return self._known[test.name, text]


def table(known: Scores, rows: dict[str, str], measure: str, base: str, topics: bool = False, title: str = "") -> None:
    """Print a table of one measure under a title. ▲ and ▼ are significant at .05 after Holm's correction over the rows, by topic.

    A pipeline that a collection is too small for has a dash there, and no gain over collections that include this one.
    """
    tests = known.tests
    print(
        f"\n{title or measure}\n\n| pipeline | {' | '.join(test.name for test in tests)} | gain | without adi |"
        f"{' won, lost, tied |' * topics}"
    )
    print(f"|---|{'---|' * len(tests)}---|---|{'---|' * topics}")
    scores = {name: known.of(text, measure) for name, text in rows.items()}
    theirs = known.of(base, measure)
    others = [name for name in rows if rows[name] != base]
    marks = {}
    for place in range(len(tests)):
        there = {name: scores[name][place] for name in others if scores[name][place] is not None}
        p = holm(np.array([float(t(own, theirs[place])) for own in there.values()]))
        marks |= {(name, place): value for name, value in zip(there, p, strict=True)}
    means = np.array([own.mean() for own in theirs])
    for name, own in scores.items():
        gains = gains_of(np.array([np.nan if each is None else each.mean() for each in own]), means)
        row = [
            "–"
            if each is None
            else f"{100 * each.mean():.2f}"
            f"{'' if marks.get((name, place), 1) >= 0.05 else '▲' if gains[place] > 0 else '▼'}"
            for place, each in enumerate(own)
        ]
        means_of = [gains.mean(), gains[1:].mean()] if rows[name] != base else []
        more = "".join(" – |" if np.isnan(gain) else f" {gain:+.1f} % |" for gain in means_of) or "  |  |"
        if topics and rows[name] != base:
            differences = np.concatenate(own) - np.concatenate(theirs)
            more += f" {(differences > 0).sum()}, {(differences < 0).sum()}, {(differences == 0).sum()} |"
        elif topics:
            more += "  |"
        print(f"| {name} | {' | '.join(row)} |{more}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="?", default="../shared/collections", type=Path)
    for option, help in (
        ("weights", "choose the weights"),
        ("tables", "measure the pipelines"),
        ("parts", "measure further parts"),
        ("lsi", "measure the weightings of LSI"),
        ("near", "measure graphs over several representations"),
    ):
        parser.add_argument(f"--{option}", action="store_true", help=help)
    parser.add_argument("--work", type=Path, help="keep the indexes and their fitted models in this folder")
    given = parser.parse_args()
    every = not (given.weights or given.tables or given.parts or given.lsi or given.near)
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        tests = [load(given.collections, *one, work) for one in COLLECTIONS]
        known = Scores(tests)
        if given.weights or every:
            for name in RANGES:
                weights(tests, name)
        if given.tables or every:
            for measure in MEASURES:
                table(known, PIPELINES, measure, BASE, topics=True)
            table(known, WITHOUT, "AP", BASE, title="AP, parts left out or replaced")
        if given.parts or every:
            table(known, FURTHER, "AP", BASE, title="AP, further parts")
        if given.near or every:
            table(known, {f"`{BASE}`": BASE} | NEAR, "AP", BASE, title="AP, graphs of near documents")
        if given.lsi or every:
            for measure in MEASURES[:2]:
                table(known, {f"`{BASE}`": BASE} | WEIGHTINGS, measure, BASE, title=f"{measure}, weightings of LSI")


if __name__ == "__main__":
    main()
