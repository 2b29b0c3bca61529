"""Measure LAKI on phrases: gold keyphrases that a text does not mention, and how related two phrases are (table 5 of LAKI).

    python benchmarks/laki_phrases.py absent INDEX INSPEC.jsonl.xz [--model laki] [--work FOLDER]
    python benchmarks/laki_phrases.py removed INDEX TEXTS.jsonl [--model laki] [--work FOLDER]
    python benchmarks/laki_phrases.py related INDEX PAIRS.csv [--model laki] [--work FOLDER]
    python benchmarks/laki_phrases.py passages ENWIKI.jsonl.xz OUT.jsonl [--every 1]

`absent` takes texts with gold keyphrases. Those that no word sequence of the text matches are absent; of them, those that are keyphrases of
the model can be found. All methods rank the model's keyphrases that the text does not mention: LAKI by probability, LSI by the cosine of
text and phrase, and frequency by the number of documents of the index.

`removed` takes texts that the index lacks, each with a title and a text. Of each text one keyphrase of several words that the text mentions
is drawn by chance, and all its mentions are removed. How often is it among the best keyphrases that the text then does not mention? And
of the pairs of a whole text and a keyphrase whose probability without the keyphrase's own mentions is so high, in how many does the text
mention it? The latter is answered for `alone` only.

`related` takes WikiSRS pairs with ratings; both sides have to occur ten times in INDEX, which has passages of Wikipedia. The correlation is
Pearson's r of ratings and cosines of the vectors of both sides, with an interval by 10,000 bootstrap samples, and the interval of the
difference to LAKI. `passages` cuts articles into passages of 200 words, and keeps every n-th.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from laki_features import Features, scaled, unit
from scipy.sparse import csr_array, vstack

import sublex
from sublex_laki.estimator import weighed
from sublex_laki.estimator.certainty import mentions

WORDS, FEWEST, BEST, SAMPLES = 200, 10, 10, 10_000
EDGES = (0, 0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1)


def write_passages(path: str, to: str, every: int) -> None:
    """Write every n-th passage of articles."""
    number = 0
    with lzma.open(path, "rt", encoding="utf-8") as lines, open(to, "w", encoding="utf-8") as output:
        for line in lines:
            record = json.loads(line)
            words = f"{record['title']}. {record['text']}".split(" ")
            for begin in range(0, len(words), WORDS):
                if number % every == 0:
                    passage = {"id": f"{record['id']}-{begin}", "text": " ".join(words[begin : begin + WORDS])}
                    output.write(json.dumps(passage) + "\n")
                number += 1


def within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Return whether one sequence of terms is within another."""
    return any(whole[k : k + len(part)] == part for k in range(len(whole) - len(part) + 1))


def show_absent(features: Features, index: sublex.Index, path: str) -> None:
    """Print the recall of absent gold keyphrases."""
    model = features.laki
    names = {model.units.terms[unit]: k for k, unit in enumerate(model.network.phrases.tolist())}
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    texts = [record["text"] for record in records]
    units = features.units(texts)
    terms = [tuple(index.analyze(text)) for text in texts]
    golds = [{tuple(index.analyze(gold)) for gold in record["keyphrases"]} - {()} for record in records]
    absent = [{gold for gold in own if not within(gold, text)} for own, text in zip(golds, terms, strict=True)]
    known = [{names[gold] for gold in own if gold in names} for own in absent]
    print(
        f"{len(texts):,} texts, {sum(map(len, golds)):,} gold keyphrases, {sum(map(len, absent)):,} of them absent from the"
    )
    print(f"text, {sum(map(len, known)):,} of these keyphrases of the model, in {sum(map(bool, known)):,} texts\n")
    mentioned = units[:, model.network.phrases]
    df = np.bincount(features.by_unit.whole.indices, minlength=len(model.units))[model.network.phrases].astype(float)
    vectors = unit(features.by_unit.lsi)
    phrases = vectors[np.searchsorted(features.by_unit.kept, model.network.phrases)]
    lsi = unit(features.by_unit.tfidf(csr_array(units[:, features.by_unit.kept])) @ features.by_unit.lsi)
    chances = features.keyphrases(units)
    together = features.together(units)
    print(f"| method | recall@{BEST} of those that can be found | recall@{BEST} of all absent |\n|---|---|---|")
    total, findable = sum(map(len, absent)), sum(map(len, known))
    for name, score in (
        ("LAKI", lambda k: chances[[k]].toarray()[0]),
        ("LAKI, propagation", lambda k: together[[k]].toarray()[0]),
        ("LSI of units", lambda k: phrases @ lsi[k]),
        ("frequency", lambda k: df.copy()),
    ):
        found = 0
        for k, wanted in enumerate(known):
            if wanted:
                values = np.array(score(k), float)
                values[mentioned[[k]].indices] = -np.inf
                found += len(wanted & {*np.argsort(-values, kind="stable")[:BEST].tolist()})
        print(f"| {name} | {100 * found / findable:.1f} | {100 * found / total:.1f} |", flush=True)


def show_removed(features: Features, path: str) -> None:
    """Print how often a keyphrase is found whose mentions were removed, and how often probabilities are borne out."""
    laki, several = features.laki, np.array([len(terms) > 1 for terms in features.laki.units.terms])
    with open(path, encoding="utf-8") as lines:
        units = features.units([f"{record['title']}\n{record['text']}" for record in map(json.loads, lines)])
    chance, rows, wanted = np.random.default_rng(0), [], []
    for k in range(units.shape[0]):
        row = units[[k]]
        own = [unit for unit in row.indices.tolist() if laki.network.mentioned[unit] >= 0 and several[unit]]
        if own:
            drawn = int(chance.choice(own))
            row.data[row.indices == drawn] = 0
            row.eliminate_zeros()
            rows.append(row)
            wanted.append(laki.network.mentioned[drawn])
    texts = csr_array(vstack(rows, format="csr"))
    known, phrases = csr_array(texts[:, features.by_unit.kept]), laki.network.phrases
    vectors = unit(features.by_unit.lsi)[np.searchsorted(features.by_unit.kept, phrases)]
    print(f"{len(wanted):,} texts\n\n| method | recall@1 | recall@5 | recall@{BEST} | MRR |\n|---|---|---|---|---|")
    for name, scores in (
        ("LAKI", lambda: features.keyphrases(texts, 0.0).toarray()),
        ("LAKI, propagation", lambda: features.together(texts).toarray()),
        ("LSI of units", lambda: unit(features.by_unit.tfidf(known) @ features.by_unit.lsi) @ vectors.T),
    ):
        values, ranks = np.array(scores(), float), []
        for k, keyphrase in enumerate(wanted):
            mentioned = laki.network.mentioned[texts[[k]].indices]
            values[k, mentioned[mentioned >= 0]] = -np.inf
            above, equal = (values[k] > values[k, keyphrase]).sum(), (values[k] == values[k, keyphrase]).sum()
            ranks.append(1 + above + (equal - 1) / 2)
        cells = [f"{100 * np.mean(np.array(ranks) <= depth):.1f}" for depth in (1, 5, BEST)]
        print(f"| {name} | {' | '.join(cells)} | {np.mean(1 / np.array(ranks)):.3f} |", flush=True)
    found = weighed(laki.network, units, laki.length)
    mentioned, chances = mentions(laki.network, units, found) > 0, laki.curve.of(found.data)
    # Each keyphrase has the same weight.
    weights = np.where(mentioned, (share := laki.network.leaks[: len(phrases)]).mean() / share[found.indices], 1.0)
    print("\n| probability | pairs | mean | mentioned |\n|---|---|---|---|")
    for low, high in zip(EDGES[:-1], EDGES[1:], strict=True):
        own = (chances >= low) & (chances < high)
        if own.any():
            right = (weights * mentioned)[own].sum() / weights[own].sum()
            print(
                f"| {low} to {high} | {own.sum():,} | {np.average(chances[own], weights=weights[own]):.3f} | {right:.3f} |"
            )


def show_related(features: Features, index: sublex.Index, path: str) -> None:
    """Print the correlation of ratings and cosines."""
    with open(path, encoding="utf-8", newline="") as lines:
        pairs = [(row["String1"], row["String2"], float(row["Mean"])) for row in csv.DictReader(lines, delimiter="\t")]
    sides = sorted({side for first, second, _ in pairs for side in (first, second)})
    counts = occurrences(index, sides)
    pairs = [pair for pair in pairs if min(counts[pair[0]], counts[pair[1]]) >= FEWEST]
    sides = sorted({side for first, second, _ in pairs for side in (first, second)})
    place = {side: k for k, side in enumerate(sides)}
    print(f"{len(pairs)} pairs of {len(sides)} phrases\n")
    ratings = np.array([rating for _, _, rating in pairs])
    firsts, seconds = ([place[pair[side]] for pair in pairs] for side in (0, 1))
    cosines = {}
    for name, rows in vectors_of(features, sides).items():
        scaled_rows = unit(rows)
        dense = scaled_rows.toarray() if hasattr(scaled_rows, "toarray") else scaled_rows
        cosines[name] = np.einsum("ij,ij->i", dense[firsts], dense[seconds])
    report(cosines, ratings)


def occurrences(index: sublex.Index, sides: list[str]) -> dict[str, int]:
    """Return how often each phrase occurs in an index, by its terms."""
    wanted = {side: tuple(index.analyze(side)) for side in sides}
    by_first: dict[str, set[tuple[str, ...]]] = {}
    for terms in wanted.values():
        by_first.setdefault(terms[0] if terms else "", set()).add(terms)
    found = dict.fromkeys(wanted.values(), 0)
    for tokens in index.corpus.sequences():
        terms = [token.term for token in tokens]
        for k, term in enumerate(terms):
            for own in by_first.get(term, ()):
                found[own] += tuple(terms[k : k + len(own)]) == own
    return {side: found[terms] if terms else 0 for side, terms in wanted.items()}


def vectors_of(features: Features, sides: list[str]) -> Mapping[str, Any]:
    """Return the vectors of phrases by each method."""
    words, units = features.words(sides), features.units(sides)
    known = csr_array(units[:, features.by_unit.kept])
    found: dict[str, Any] = {}
    for name, rows in scaled(features.keyphrases(units)).items():
        found[f"LAKI, {name}"] = rows
    for name, rows in scaled(features.together(units)).items():
        found[f"LAKI, propagation, {name}"] = rows
    for counts, own in ((features.by_word, words), (features.by_unit, known)):
        found[f"LSI of {counts.name}"] = counts.tfidf(own) @ counts.lsi
        found[f"LDA of {counts.name}"] = counts.lda_of(own)["roots"]
    return found


def report(cosines: Mapping[str, np.ndarray], ratings: np.ndarray) -> None:
    """Print correlations with their intervals, and those of the differences to the first method."""
    chance = np.random.default_rng(0)
    samples = chance.integers(0, len(ratings), (SAMPLES, len(ratings)))
    print("| method | r | 95 % interval | first method less this one |\n|---|---|---|---|")
    first = None
    for name, values in cosines.items():
        drawn = correlations(values[samples], ratings[samples])
        first = drawn if first is None else first
        low, high = np.quantile(drawn, (0.025, 0.975))
        less = np.quantile(first - drawn, (0.025, 0.975))
        r = correlations(values[None], ratings[None])[0]
        print(f"| {name} | {r:.3f} | {low:.3f} to {high:.3f} | {less[0]:+.3f} to {less[1]:+.3f} |", flush=True)


def correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Pearson's r of each row."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    return np.asarray((x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))


def main() -> None:
    """Run the part that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("absent", "removed", "related", "passages"))
    parser.add_argument("first", metavar="INDEX")
    parser.add_argument("second", metavar="FILE")
    parser.add_argument("--model", default="laki")
    parser.add_argument(
        "--work", default="laki-features", type=Path, help="a folder for models that take long to learn"
    )
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    if given.part == "passages":
        write_passages(given.first, given.second, given.every)
        return
    index = sublex.open(given.first)
    features = Features(index, given.model, given.work)
    if given.part == "removed":
        show_removed(features, given.second)
        return
    (show_absent if given.part == "absent" else show_related)(features, index, given.second)


if __name__ == "__main__":
    main()
