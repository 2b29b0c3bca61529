"""Measure what representations are worth, alone and blended with classical rankers, on real collections, with significance.

    python benchmarks/effectiveness.py COLLECTIONS [--choose [PART ...] | --labels | --keyphrases | --dependence | --fields | --sharp]
        [--work FOLDER]

COLLECTIONS holds a folder for each of adi, cacm, cranfield, medline, vaswani (docs.trec, topics.trec, qrels.txt) and scifact (BEIR,
with train and test judgements). With --choose the script compares options on adi, cacm and scifact's training topics; PART limits it to
some of them (lsi, vectors, prototypes, feedback, topics, graphs, dependence, blends). Without it, the chosen options are measured on
the other collections: as they are, and with weights by cross-validation over five folds of the topics. With --labels it measures topics
with the labels of MedlinePlus (knowledge/medlineplus.jsonl) on medline, with weights by cross-validation. With --keyphrases it measures
latent keyphrases on all collections but adi, which is too small for phrases. With --dependence it measures dependence models, on
indexes with positions. With --sharp it measures sharp feedback. With --fields it measures rankers with fields on the collections that
have titles, on indexes with fields. With --work, the indexes and their fitted models stay in FOLDER, and the next call uses them again;
--dependence, --choose and --fields need a folder of their own.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sublex
from sublex.contracts.base import Document
from sublex.language import plugins
from sublex.language.expression import Call, Expression
from sublex.statistics.corrections import holm
from sublex.statistics.significance import t

CHOICE = (("adi", ""), ("cacm", ""), ("scifact", "train"))
REPORT = (("cranfield", ""), ("medline", ""), ("vaswani", ""), ("scifact", "test"))

# The chosen options: see docs/effectiveness.md.
FISHER = "fisher(k=4, words=lsi(weighting=tfidf), idf=true)"
DCOT = "dcot(r=1000, p=0.7, log=true)"
LDA = "lda(k=100, score=likelihood)"
VARIATIONAL = "topics=lda(k=10, method=variational)"
BO1 = "(BM25 >> Bo1 >> BM25)"
BEST = f"BM25 + {BO1} + 0.4*lsi(e=200, weighting=tfidf)"
WITH_TOPICS = f"BM25 + {BO1} + 0.2*lsi(e=200, weighting=tfidf) + 0.2*{LDA}"
BEFORE = f"BM25 + {BO1} + 0.1*lsi(e=200, weighting=tfidf) + 0.2*{FISHER}"
PARTS = ("BM25 >> Bo1 >> BM25", "lsi(e=200, weighting=tfidf)", LDA)
BASE = "BM25"
FIXED = (
    BASE,
    "PL2",
    "PL2(c=2)",
    "BM25 >> Bo1 >> BM25",
    "BM25 >> Bo1(trust=1) >> BM25",
    "BM25 >> RM3 >> BM25",
    "BM25 >> RM3(trust=1) >> BM25",
    "BM25 >> RM3(trust=2) >> BM25",
    "lsi(e=200, weighting=count)",
    "lsi(e=200, weighting=tfidf)",
    "fisher",
    FISHER,
    "dcot",
    DCOT,
    "lda",
    LDA,
    "swg >> BM25",
    f"swg(terms=20, weight=0.1, {VARIATIONAL}) >> BM25",
    "swg(topics=lda(k=1)) >> BM25",
    "ppmi >> BM25",
    "ppmi(weight=0.1) >> BM25",
    "BM25 + 0.2*lsi(e=200, weighting=tfidf)",
    "BM25 >> BM25 + 0.2*lsi(e=200, weighting=tfidf)",
    f"BM25 + 0.2*{FISHER}",
    f"BM25 + 0.1*{DCOT}",
    f"BM25 + 0.2*{LDA}",
    "BM25 + (swg >> BM25)",
    f"BM25 + (swg(terms=5, {VARIATIONAL}) >> BM25)",
    "BM25 + (swg(topics=lda(k=1)) >> BM25)",
    "BM25 + (ppmi >> BM25)",
    f"BM25 + {BO1}",
    f"BM25 >> BM25 + {BO1}",
    BEFORE,
    f"BM25 >> {BEFORE}",
    f"rrf(BM25) + rrf{BO1} + rrf(lsi(e=200, weighting=tfidf))",
    f"zscore(BM25) + zscore{BO1} + 0.4*zscore(lsi(e=200, weighting=tfidf))",
    BEST,
    f"BM25 >> {BEST}",
    WITH_TOPICS,
)
C, W = "{0.5,1,2,4,7}", "{0,0.1,0.2,0.4,0.8,1.5,3}"
TUNED = (
    f"PL2(c={C})",
    f"BM25 + {W}*{BO1}",
    f"BM25 + {W}*lsi(e=200, weighting=count)",
    f"BM25 + {W}*lsi(e=200, weighting=tfidf)",
    f"BM25 + {W}*{FISHER}",
    f"BM25 + {W}*{DCOT}",
    f"BM25 + {W}*{LDA}",
    f"BM25 + {W}*(swg({VARIATIONAL}) >> BM25)",
    f"BM25 + {{0,1,2}}*{BO1} + {{0,0.2,0.4,1,2}}*lsi(e=200, weighting=tfidf)",
    f"BM25 + {{0,1,2}}*{BO1} + {{0,0.2,0.4,1,2}}*lsi(e=200, weighting=tfidf) + {{0,0.2,0.5}}*{FISHER}",
    f"BM25 + {{0,1,2}}*{BO1} + {{0,0.2,0.4,1,2}}*lsi(e=200, weighting=tfidf) + {{0,0.2,0.5}}*{LDA}",
)

SOURCES = "sourcelda(medlineplus)"
LABELLED = (
    *(
        f"BM25 + {W}*{part}"
        for part in (SOURCES, f"{SOURCES[:-1]}, score=likelihood)", "lda", LDA, "lsi(e=200, weighting=tfidf)")
    ),
    *(f"BM25 + {W}*(BM25 >> {name} >> BM25)" for name in ("Bo1", "RM3")),
)

# Latent keyphrases beside LSI and feedback.
WITH_PHRASES = (("cacm", ""), *REPORT)
LAKI = "laki(phrases=phrases(support=5))"
KEYPHRASES = (
    BASE,
    LAKI,
    f"{LAKI[:-1]}, absent=all)",
    f"BM25 + 0.3*{LAKI}",
    "lsi(e=200, weighting=tfidf)",
    "BM25 + 0.2*lsi(e=200, weighting=tfidf)",
)
WEIGHED = (
    f"BM25 + {W}*{LAKI}",
    f"BM25 + {W}*lsi(e=200, weighting=tfidf)",
    f"BM25 + {{0,1,2}}*{BO1}",
    f"BM25 + {{0,1,2}}*{BO1} + {{0,0.2,0.4,1,2}}*{LAKI}",
    f"BM25 + {{0,1,2}}*{BO1} + {{0,0.2,0.4,1,2}}*lsi(e=200, weighting=tfidf)",
)

# Dependence models, alone, with feedback, and in the recommended blend.
CHOSEN_SDM = "SDM(ordered=0.2, window=0.1, normalise=false) >> BM25"
CHOSEN_FDM = "FDM(normalise=false, size=3) >> BM25"
DEPENDENT = (
    BASE,
    "SDM >> BM25",
    "SDM(normalise=false) >> BM25",
    CHOSEN_SDM,
    "FDM >> BM25",
    "FDM(normalise=false) >> BM25",
    CHOSEN_FDM,
    "DirichletLM",
    "SDM >> DirichletLM",
    "BM25 >> Bo1 >> BM25",
    "SDM >> BM25 >> Bo1 >> BM25",
    "BM25 >> RM3 >> BM25",
    "SDM >> BM25 >> RM3 >> BM25",
    BEST,
    f"(SDM >> BM25) + {BO1} + 0.4*lsi(e=200, weighting=tfidf)",
    "(SDM >> BM25) + (SDM >> BM25 >> Bo1 >> BM25) + 0.4*lsi(e=200, weighting=tfidf)",
)
WEIGHTS = "ordered={0.02,0.05,0.1,0.2,0.4}, window={0.02,0.05,0.1,0.2}"
DEPENDENT_TUNED = (f"SDM({WEIGHTS}) >> BM25", f"FDM(size=3, {WEIGHTS}) >> BM25")

# Sharp feedback, beside the feedback of other engines, alone and with LSI and topics.
SHARP = "(Burst >> BM25 >> Sharp >> BM25)"
SHARPENED = (
    BASE,
    "BM25 >> RM3 >> BM25",
    "BM25 >> Bo1 >> BM25",
    "Burst >> BM25",
    "BM25 >> Sharp >> BM25",
    SHARP[1:-1],
    "Burst >> BM25 >> Sharp(terms=10) >> BM25",
    "Burst >> BM25 >> Sharp(terms=50) >> BM25",
    "Burst >> BM25 >> Sharp(terms=200) >> BM25",
    "Burst >> BM25 >> Sharp(power=1) >> BM25",
    "Burst >> BM25 >> Sharp(vectors=lm) >> BM25",
    "Burst >> BM25 >> Sharp(original=0.5) >> BM25",
    WITH_TOPICS,
    f"2*{SHARP} + 0.4*lsi(e=200, weighting=tfidf)",
    f"2*{SHARP} + 0.4*lsi(e=200)",
    f"2*{SHARP} + 0.4*lsi(e=200) + 0.3*{LDA}",
)

# Rankers with the fields title and text, beside those that read the whole document, with the same freedom for both.
WITH_TITLES = (("cranfield", ""), ("cacm", ""), ("scifact", "test"))
FIELDED = (BASE, "BM25F", "BM25F(weights=[2, 1], b=[0.5, 0.75])", "BM25F(weights=[5, 1], b=[0.5, 0.75])", "PL2", "PL2F")
TITLE_WEIGHTS, B, K1 = "weights=[{0,0.5,1,2,3,5,10}, 1]", "{0.25,0.5,0.75,1}", "k1={0.6,1.2,2.4}"
FIELDED_TUNED = (
    f"BM25(b={B}, {K1})",
    f"BM25F({TITLE_WEIGHTS})",
    f"BM25F({TITLE_WEIGHTS}, b=[{B}, {B}], {K1})",
    f"PL2(c={C})",
    f"PL2F({TITLE_WEIGHTS}, c=[{C}, {C}])",
)

# The options to choose from: representations alone, blended with BM25 by weight, then feedback, then all of them blended.
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
FEEDBACK = [f"BM25 >> {name}(trust={trust}) >> BM25" for name in ("RM3", "Bo1", "KL") for trust in (0, 1, 2, 4)]
TOPICS = [f"lda(k={k}, score={score})" for k in (50, 100, 200) for score in ("cosine", "js", "likelihood")]
GRAPHS = [
    f"{name}(terms={terms}, weight={weight}{topics}) >> BM25"
    for name, topics in (
        *(("swg", f", topics=lda(k={k})") for k in (1, 10, 30)),
        ("swg", ", topics=lda(k=10, method=variational)"),
        ("ppmi", ""),
    )
    for terms in (5, 10, 20)
    for weight in (0.1, 0.3)
]
DEPENDENCE = [
    f"{name}(ordered={ordered}, window={window}, normalise={normalise}{size}) >> BM25"
    for name, size in (("SDM", ""), ("FDM", ", size=3"))
    for ordered, window in ((0.1, 0.05), (0.05, 0.1), (0.2, 0.1), (0.4, 0.2))
    for normalise in ("true", "false")
] + [f"FDM(normalise={normalise}) >> BM25" for normalise in ("true", "false")]
OPTIONS = {
    "lsi": LSI,
    "vectors": VECTORS,
    "prototypes": PROTOTYPES,
    "feedback": FEEDBACK,
    "topics": TOPICS,
    "graphs": GRAPHS,
    "dependence": DEPENDENCE,
    "sharp": SHARPENED[1:],
}
NORMALISERS = ("", "zscore")


class Test(NamedTuple):
    """A collection with judged topics."""

    name: str
    index: Any
    topics: Any
    qrels: Mapping[str, Mapping[str, int]]

    def fit(self, expression: Expression) -> None:
        """Fit every model that an expression names."""
        registry = plugins.load()
        names = {*registry.names("representation"), "swg", "ppmi"}

        def look(node: Any) -> Any:
            if isinstance(node, Call) and node.name == "near":
                # Its other parameters change no model, and may be ranges.
                self.index.fit(Call("near", node.args[:1]))
            elif isinstance(node, Call) and node.name in names:
                self.index.fit(node)
            elif isinstance(node, Expression):
                node.map(look)
            return node

        look(expression)

    def scores(self, expression: str, measure: str = "AP") -> np.ndarray:
        """Return the measure of each judged topic, in the order of the topics' ids."""
        self.fit(sublex.parse(expression))
        found = sublex.measure(self.qrels, self.index.run(self.topics, expression), measure)
        return by_topic(found.qids, found[measure])

    def both(self, expression: str) -> tuple[np.ndarray, np.ndarray]:
        """Return AP and R@1000 of each judged topic, in the order of the topics' ids."""
        self.fit(sublex.parse(expression))
        found = sublex.measure(self.qrels, self.index.run(self.topics, expression), "AP R@1000")
        return by_topic(found.qids, found["AP"]), by_topic(found.qids, found["R@1000"])

    def tune(self, expression: str) -> Any:
        """Return the result of tuning an expression with ranges, with all settings."""
        self.fit(sublex.parse(expression))
        return sublex.tune(self.index, self.topics, self.qrels, expression)


def by_topic(qids: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Return values in the order of the topics' ids."""
    return values[np.argsort(np.array(qids))]


def load(collections: Path, name: str, split: str, work: Path, store: str = "text,terms", fields: str = "") -> Test:
    """Index a collection, unless `work` has its index, and return it with its topics and judgements."""
    folder = collections / name
    source: Any = folder if split else folder / "docs.trec"
    if fields and not split:
        source = list(titled(source.read_text()))
    kept = work / name
    index = sublex.open(kept) if kept.exists() else sublex.build(source, kept, store=store, fields=fields)
    topics = sublex.read_topics(folder / ("queries.jsonl" if split else "topics.trec"))
    qrels = sublex.read_qrels(folder / (f"qrels/{split}.tsv" if split else "qrels.txt"))
    return Test(name, index, [topic for topic in topics if topic.qid in qrels], qrels)


def titled(records: str) -> Iterator[Document]:
    """Yield the documents of a collection in TREC's form with their titles, which Sublex reads as a part of the text.

    The text of cranfield's and cacm's documents begins with the title once more.
    """
    for record in re.findall(r"<DOC>(.*?)</DOC>", records, re.DOTALL):
        parts = dict(re.findall(r"<(DOCNO|TITLE|TEXT)>(.*?)</\1>", record, re.DOTALL))
        yield Document(parts["DOCNO"].strip(), parts.get("TEXT", ""), parts.get("TITLE", "").strip())


def choose(tests: Sequence[Test], parts: Sequence[str]) -> None:
    """Print the AP of each option of some parts on the collections for choosing, and its mean gain over BM25."""
    base = np.array([test.scores(BASE).mean() for test in tests])
    print(f"{BASE}: {cells(base)}\n")

    def show(text: str, means: np.ndarray) -> None:
        print(f"{text:100} {cells(means)} {100 * float((means / base - 1).mean()):+6.1f} %", flush=True)

    for expression in [option for part in parts for option in OPTIONS.get(part, ())]:
        show(expression, np.array([test.scores(expression).mean() for test in tests]))
        mixed = f"BM25 + {{0.1,0.2,0.4,1}}*({expression})"
        tunings = [test.tune(mixed) for test in tests]
        for place, setting in enumerate(tunings[0].settings):
            show(f"  {setting.text}", np.array([found.means[place] for found in tunings]))
    if "blends" not in parts:
        return
    print("\nAll together, the best of those that lose nowhere, and the best:")
    for normaliser in NORMALISERS:
        parts = (
            f"{{0,1,2}}*{normaliser}(BM25 >> Bo1 >> BM25)",
            f"{{0,0.2,0.4,0.6,1}}*{normaliser}(lsi(e=200, weighting=tfidf))",
            f"{{0,0.2,0.4}}*{normaliser}({FISHER})",
            f"{{0,0.1,0.2}}*{normaliser}({DCOT})",
            f"{{0,0.1,0.2,0.4}}*{normaliser}({LDA})",
        )
        tunings = [test.tune(" + ".join((f"{normaliser}(BM25)", *parts))) for test in tests]
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
    recall = {
        text: [test.scores(text, "R@1000") for test in tests]
        for text in (BASE, *PARTS, BEST, f"BM25 >> {BEST}", WITH_TOPICS)
    }
    show("R@1000", tests, recall, BASE)
    report_tuned(tests, TUNED)


def report_tuned(tests: Sequence[Test], expressions: Sequence[str]) -> None:
    """Print the table of expressions with weights by cross-validation, and the weights."""
    tuned: dict[str, list[Any]] = {}
    held_out = {BASE: [test.scores(BASE) for test in tests]}
    for text in expressions:
        tuned[text] = [test.tune(text) for test in tests]
        held_out[text] = [by_topic(found.qids, found.held_out) for found in tuned[text]]
    show("AP, weights by five-fold cross-validation", tests, held_out, BASE)
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
    parser.add_argument(
        "--choose",
        nargs="*",
        choices=[*OPTIONS, "blends"],
        metavar="PART",
        help="measure the options on the collections for choosing",
    )
    parser.add_argument("--labels", action="store_true", help="measure topics with labels on medline")
    parser.add_argument("--keyphrases", action="store_true", help="measure latent keyphrases")
    parser.add_argument("--dependence", action="store_true", help="measure dependence models")
    parser.add_argument("--sharp", action="store_true", help="measure sharp feedback")
    parser.add_argument("--fields", action="store_true", help="measure rankers with fields")
    parser.add_argument("--work", type=Path, help="keep the indexes and their fitted models in this folder")
    given = parser.parse_args()
    # The control `ppmi` stands beside this script.
    installed = plugins.entry_points
    plugins.entry_points = lambda group: [*installed(group=group), EntryPoint("ppmi", "ppmi", group)]
    choosing = given.choose is not None
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        if given.labels:
            test = load(given.collections, "medline", "", work)
            test.index.add_resource("medlineplus", given.collections / "knowledge" / "medlineplus.jsonl")
            report_tuned([test], LABELLED)
            return
        if given.keyphrases:
            tests = [load(given.collections, *one, work) for one in WITH_PHRASES]
            show("AP", tests, {text: [test.scores(text) for test in tests] for text in KEYPHRASES}, BASE)
            report_tuned(tests, WEIGHED)
            return
        if given.fields:
            tests = [load(given.collections, *one, work, fields="title,text") for one in WITH_TITLES]
            show("AP", tests, {text: [test.scores(text) for test in tests] for text in FIELDED}, BASE)
            ndcg = {text: [test.scores(text, "nDCG@10") for test in tests] for text in FIELDED}
            show("nDCG@10", tests, ndcg, BASE)
            report_tuned(tests, FIELDED_TUNED)
            return
        # An index with positions gives the same scores to everything else.
        store = "text,terms,positions" if given.dependence or choosing else "text,terms"
        tests = [load(given.collections, *one, work, store) for one in (CHOICE if choosing else REPORT)]
        if given.dependence:
            show("AP", tests, {text: [test.scores(text) for test in tests] for text in DEPENDENT}, BASE)
            report_tuned(tests, DEPENDENT_TUNED)
            return
        if given.sharp:
            both = {text: [test.both(text) for test in tests] for text in SHARPENED}
            for place, measure in enumerate(("AP", "R@1000")):
                show(measure, tests, {text: [found[place] for found in each] for text, each in both.items()}, BASE)
            return
        if choosing:
            choose(tests, given.choose or [*OPTIONS, "blends"])
        else:
            report(tests)


if __name__ == "__main__":
    main()
