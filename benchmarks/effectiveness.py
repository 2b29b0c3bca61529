"""Measure what representations are worth, alone and blended with classical rankers, on real collections, with significance.

    python benchmarks/effectiveness.py COLLECTIONS [--choose]

COLLECTIONS holds a folder for each of adi, cacm, cranfield, medline, vaswani (docs.trec, topics.trec, qrels.txt) and scifact (BEIR, with
train and test judgements). With --choose the script compares options on adi, cacm and scifact's training topics. Without it, the chosen
options are measured on the other collections: as they are, and with weights and PL2's c by cross-validation over five folds of the
topics.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sublex
from sublex import plugins
from sublex.expression import Call, Expression
from sublex.statistics.corrections import holm
from sublex.statistics.significance import t

CHOICE = (("adi", ""), ("cacm", ""), ("scifact", "train"))
REPORT = (("cranfield", ""), ("medline", ""), ("vaswani", ""), ("scifact", "test"))

# The chosen options: see docs/effectiveness.md.
FISHER = "fisher(k=4, words=lsi, idf=true)"
DCOT = "dcot(r=1000, p=0.7, log=true)"
FEEDBACK = "(PL2(c=2) >> Bo1 >> PL2(c=2))"
BEST = f"BM25 + (BM25 >> Bo1 >> BM25) + 0.1*lsi(e=200) + 0.2*{FISHER}"
BASE = "PL2"
FIXED = (
    "PL2",
    "PL2(c=2)",
    "BM25",
    "PL2 >> Bo1 >> PL2",
    "PL2(c=2) >> Bo1 >> PL2(c=2)",
    "BM25 >> RM3 >> BM25",
    "lsi(e=200, weighting=count)",
    "lsi(e=200)",
    "fisher",
    FISHER,
    "dcot",
    DCOT,
    "PL2(c=2) + 0.2*lsi(e=200, weighting=count)",
    "PL2(c=2) + 0.2*lsi(e=200)",
    f"PL2(c=2) + 0.2*{FISHER}",
    f"PL2(c=2) + 0.1*{DCOT}",
    f"PL2(c=2) + {FEEDBACK}",
    f"PL2(c=2) + 0.2*lsi(e=200) + 0.2*{FISHER}",
    f"PL2(c=2) + {FEEDBACK} + 0.2*lsi(e=200) + 0.2*{FISHER}",
    "BM25 + (BM25 >> Bo1 >> BM25)",
    f"BM25 + 0.1*lsi(e=200) + 0.2*{FISHER}",
    BEST,
)
C, W = "{0.5,1,2,4,7}", "{0,0.1,0.2,0.4,0.8,1.5,3}"
TUNED = (
    f"PL2(c={C})",
    f"PL2(c={C}) >> Bo1 >> PL2(c={C})",
    f"PL2(c={C}) + {W}*{FEEDBACK}",
    f"PL2(c={C}) + {W}*lsi(e=200, weighting=count)",
    f"PL2(c={C}) + {W}*lsi(e=200)",
    f"PL2(c={C}) + {W}*{FISHER}",
    f"PL2(c={C}) + {W}*{DCOT}",
    f"PL2(c={C}) + {{0,1,2}}*{FEEDBACK} + {{0,0.2,0.5,1,2}}*lsi(e=200) + {{0,0.2,0.5,1}}*{FISHER}",
    f"BM25 + {{0,1,2}}*(BM25 >> Bo1 >> BM25) + {{0,0.2,0.5,1,2}}*lsi(e=200) + {{0,0.2,0.5,1}}*{FISHER}",
)

# The options to choose from: representations alone, blended with PL2 by weight, then the best of each blended together.
C_CHOICE = "PL2(c={0.5,1,2,4,7})"
LSI = [f"lsi(e={e}, weighting={w})" for e in (50, 100, 200, 300) for w in ("count", "tfidf", "logtfidf")]
VECTORS = [
    f"fisher(k={k}, words=lsi(e={e}, weighting={w}), idf={idf})"
    for k in (1, 4, 16)
    for e in (50, 100)
    for w in ("count", "tfidf")
    for idf in ("false", "true")
]
PROTOTYPES = [
    *(
        f"dcot(r={r}, p={p}, log={log})"
        for r in (500, 1000, 2000)
        for p in (0.5, 0.7, 0.9)
        for log in ("false", "true")
    ),
    *(f"dcot(layers={layers}, p={p}, log=true)" for layers in (2, 3) for p in (0.5, 0.7)),
    *(f"dcot(r=1000, p=0.7, log=true, max_df={share})" for share in (0.05, 0.2, 1.0)),
    "dcot(r=1000, p=0.7, log=true, words=0.5)",
]
NORMALISERS = ("", "zscore")


class Test(NamedTuple):
    """A collection with judged topics."""

    name: str
    index: Any
    topics: Any
    qrels: Mapping[str, Mapping[str, int]]

    def fit(self, expression: Expression) -> None:
        """Fit every representation that an expression names."""
        names = plugins.load().names("representation")

        def look(node: Any) -> Any:
            if isinstance(node, Call) and node.name in names:
                self.index.fit(node)
            elif isinstance(node, Expression):
                node.map(look)
            return node

        look(expression)

    def scores(self, expression: str) -> np.ndarray:
        """Return AP of each judged topic, in the order of the topics' ids."""
        self.fit(sublex.parse(expression))
        found = sublex.measure(self.qrels, self.index.run(self.topics, expression), "AP")
        return by_topic(found.qids, found["AP"])

    def tune(self, expression: str) -> Any:
        """Return the result of tuning an expression with ranges, with all settings."""
        self.fit(sublex.parse(expression))
        return sublex.tune(self.index, self.topics, self.qrels, expression)


def by_topic(qids: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Return values in the order of the topics' ids."""
    return values[np.argsort(np.array(qids))]


def load(collections: Path, name: str, split: str, work: Path) -> Test:
    """Index a collection, and return it with its topics and judgements."""
    folder = collections / name
    index = sublex.build(folder if split else folder / "docs.trec", work / name)
    topics = sublex.read_topics(folder / ("queries.jsonl" if split else "topics.trec"))
    qrels = sublex.read_qrels(folder / (f"qrels/{split}.tsv" if split else "qrels.txt"))
    return Test(name, index, [topic for topic in topics if topic.qid in qrels], qrels)


def choose(tests: Sequence[Test]) -> None:
    """Print each option's AP on the collections for choosing, and its mean gain over PL2 with the best c."""
    c = [test.tune(C_CHOICE) for test in tests]
    best = int(np.argmax(np.mean([found.means / found.means.max() for found in c], axis=0)))
    base = np.array([found.means[best] for found in c])
    print(f"{c[0].settings[best].text}: {cells(base)}\n")

    def show(text: str, means: np.ndarray) -> float:
        gain = 100 * float((means / base - 1).mean())
        print(f"{text:100} {cells(means)} {gain:+6.1f} %", flush=True)
        return gain

    plain = c[0].settings[best].text
    for representation in (*LSI, *VECTORS, *PROTOTYPES):
        show(representation, np.array([test.scores(representation).mean() for test in tests]))
        for normaliser in NORMALISERS:
            mixed = f"{normaliser}({plain}) + {{0.1,0.2,0.4}}*{normaliser}({representation})"
            tunings = [test.tune(mixed) for test in tests]
            for place, setting in enumerate(tunings[0].settings):
                show(f"  {setting.text}", np.array([found.means[place] for found in tunings]))
    print("\nAll together, the best of those that lose nowhere, and the best:")
    for ranker, normaliser in product((plain, "BM25"), NORMALISERS):
        parts = (
            f"{{0,0.5,1,2}}*{normaliser}({ranker} >> Bo1 >> {ranker})",
            *(f"{{0,0.1,0.2,0.4}}*{normaliser}({x})" for x in ("lsi(e=200)", FISHER, DCOT)),
        )
        tunings = [test.tune(" + ".join((f"{normaliser}({ranker})", *parts))) for test in tests]
        means = np.array([found.means for found in tunings]).T
        gains = means / base - 1
        order = np.argsort(-gains.mean(axis=1), kind="stable")
        kept = [place for place in order if gains[place].min() > -0.002]
        for place in (*kept[:12], *order[:6]):
            show(tunings[0].settings[place].text, means[place])


def cells(values: np.ndarray) -> str:
    """Return numbers as text, in points."""
    return " ".join(f"{100 * value:6.2f}" for value in values)


def report(tests: Sequence[Test]) -> None:
    """Print the tables of the chosen options, on collections that had no part in the choice."""
    fixed = {text: [test.scores(text) for test in tests] for text in FIXED}
    show("AP, everything as chosen", tests, fixed, BASE)
    tuned, honest = {}, {}
    for text in TUNED:
        tuned[text] = [test.tune(text) for test in tests]
        honest[text] = [by_topic(found.qids, found.held_out) for found in tuned[text]]
    show("AP, c and weights by five-fold cross-validation", tests, honest, TUNED[0])
    own = {TUNED[0]: honest[TUNED[0]], BEST: fixed[BEST]}
    show("AP, everything as chosen beside PL2 with c by cross-validation", tests, own, TUNED[0])
    print("\nChosen on all topics (with the optimistic AP), and by the folds")
    for found in tuned.values():
        for test, one in zip(tests, found, strict=True):
            folds = "; ".join(sorted({str(tuple(fold.setting.values.values())) for fold in one.folds}))
            print(f"{test.name:10} {one.best.setting.text} ({100 * one.best.score:.2f}); folds {folds}")


def show(title: str, tests: Sequence[Test], scores: Mapping[str, Sequence[np.ndarray]], base: str) -> None:
    """Print a table: means in points, the gain over the first row, and marks where it is significant after Holm's correction."""
    others = [text for text in scores if text != base]
    signs = {}
    for place in range(len(tests)):
        p = holm(np.array([float(t(scores[text][place], scores[base][place])) for text in others]))
        signs.update({(text, place): corrected for text, corrected in zip(others, p, strict=True)})
    print(
        f"\n{title}\n\n| system | {' | '.join(test.name for test in tests)} | mean | gain | of it the best collection's |"
    )
    print(f"|---|{'---|' * len(tests)}---|---|---|")
    for text, found in scores.items():
        row = []
        gains = np.array([own.mean() / theirs.mean() - 1 for own, theirs in zip(found, scores[base], strict=True)])
        for place, own in enumerate(found):
            better = own.mean() > scores[base][place].mean()
            mark = ("▲" if better else "▼") if signs.get((text, place), 1) < 0.05 else ""
            row.append(f"{100 * own.mean():.2f}{mark}")
        mean = np.mean([own.mean() for own in found])
        share = f"{gains.max() / gains.sum():.0%}" if gains.mean() > 0.01 else ""
        gain = "" if text == base else f"{100 * gains.mean():+.1f} %"
        print(f"| `{text}` | {' | '.join(row)} | {100 * mean:.2f} | {gain} | {share} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="?", default="../shared/collections", type=Path)
    parser.add_argument("--choose", action="store_true", help="measure the options on the collections for choosing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        tests = [load(given.collections, *one, Path(work)) for one in (CHOICE if given.choose else REPORT)]
        (choose if given.choose else report)(tests)


if __name__ == "__main__":
    main()
