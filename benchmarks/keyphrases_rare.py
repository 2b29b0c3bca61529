"""Judge what people are shown of a text: with where and what it mentions, and by the network of LAKI alone.

    python benchmarks/keyphrases_rare.py draw INDEX COLLECTION.jsonl TEXTS.txt KEY.csv [--documents 40] [--seed 2727] [--without KEY.csv]
    python benchmarks/keyphrases_rare.py score KEY.csv VERDICTS.csv
    python benchmarks/keyphrases_rare.py learn INDEX COLLECTION.jsonl KEY.csv,VERDICTS.csv[,VERDICTS.csv] …

`draw` draws documents of an index by chance, other ones than those of the keys after `--without`. For each it takes the first
five keyphrases of `laki` and of `laki(shown=network)`, which lists as version 4 did. Both are filled up to five with those that
the text is only perhaps about. They are written in an order by chance to TEXTS.txt, and which list has which to KEY.csv. A
reader writes a line `doc,number,letter` for each phrase as for `keyphrases_judged.py`: A, R or W. `score` prints how many are
right.

`learn` fits the numbers of `sublex_laki/shown.py` to the verdicts on keyphrases of the network: whether a text is about one
that it mentions, and whether it is about one that it does not mention, or at least related to it. To those on rare phrases it
fits BASE, the size of WEIGHTS in `sublex_laki/rare.py`, and the weight of `returns`. The ratios of the other
WEIGHTS stay: `keyphrases.py --learn` prints these. It needs scikit-learn.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from keyphrases_judged import GUIDE, documents_of, letters_of, majority_of, rows_of

import sublex
from sublex_laki.estimator import weighed
from sublex_laki.rare import WEIGHTS, chunks, read_words
from sublex_laki.representation import LEAST_IN_QUERY
from sublex_laki.shown import LEAST, ShownKeyphrase, first_places, latent_facts, of_texts, shared_words

FIRST = 5
FIELDS = ("doc", "number", "phrase", "before", "after", "strength", "shown_before", "shown_after")
LISTS = {"before": "laki(shown=network)", "after": "laki"}


def draw(given: argparse.Namespace) -> None:
    """Write the file for a reader, and the key."""
    chance, documents = np.random.default_rng(given.seed), documents_of(given.collection)
    seen = {doc for path in given.without for doc, _ in rows_of(path)}
    others = [docno for docno in documents if docno not in seen]
    chosen = [documents[docno] for docno in chance.choice(others, given.documents, replace=False).tolist()]
    index, texts = sublex.open(given.index), [GUIDE]
    rows: list[dict[str, dict[str, Any]]] = [{} for _ in chosen]
    for name, expression in LISTS.items():
        loaded = index.representation(expression)
        words, model = loaded.inputs.of_documents(chosen), loaded.model
        for own, items in zip(rows, model.shown(loaded.view, words, model.units.of_texts(words)), strict=True):
            for rank, item in enumerate(items[:FIRST], 1):
                row = own.setdefault(item.name.casefold(), {"phrase": item.name})
                row |= {name: rank, "strength": round(item.strength, 4)}
                row[f"shown_{name}"] = int(item.strength >= model.least_share)
    with open(given.key, "w", encoding="utf-8", newline="") as file:
        key = csv.DictWriter(file, FIELDS, lineterminator="\n")
        key.writeheader()
        for document, own in zip(chosen, rows, strict=True):
            texts.append(f"\n=== doc {document.docno}\n{document.title}\n{document.text.strip()}\n")
            for number, k in enumerate(chance.permutation(len(own)).tolist(), 1):
                row = list(own.values())[k]
                key.writerow({"doc": document.docno, "number": number, **row})
                texts.append(f"{number:3d}. {row['phrase']}")
    Path(given.texts).write_text("\n".join(texts) + "\n", encoding="utf-8")


def score(given: argparse.Namespace) -> None:
    """Print the share of right phrases: among the first five of each document, and among those that are shown without --perhaps."""
    rows = rows_of(given.key)
    letters = {place: own[0] for place, own in letters_of(rows, [given.verdicts]).items()}
    docs = len({doc for doc, _ in rows})
    print(f"{docs} documents, {len(letters):,} phrases judged of {len(rows):,}\n")
    print("| list | phrases | a document | about it | at least related |\n|---|---|---|---|---|")
    for name, title in LISTS.items():
        for kind, column in ((f"the first {FIRST}", name), ("shown", f"shown_{name}")):
            own = [letters[p] for p, row in rows.items() if row[name] and row[column] not in ("", "0") and p in letters]
            about, related = (100 * np.mean([letter in good for letter in own]) for good in ("A", "AR"))
            print(f"| `{title}`: {kind} | {len(own)} | {len(own) / docs:.2f} | {about:.1f} | {related:.1f} |")


def learn(given: argparse.Namespace) -> None:
    """Print the numbers that fit the verdicts best."""
    from sklearn.linear_model import LogisticRegression

    documents, index = documents_of(given.collection), sublex.open(given.index)
    loaded = index.representation(LISTS["after"])
    model, units = loaded.model, loaded.model.units
    numbers = {name.casefold(): k for k, name in enumerate(model.keyphrases(loaded.view).names)}
    listed = {tuple(index.analyze(name)) for name in units.phrases.names}
    facts: dict[str, list[list[float]]] = {"network": [], "latent": [], "latent, related": [], "rare": []}
    right: dict[str, list[bool]] = {kind: [] for kind in facts}
    for judged in given.judged:
        key, *verdicts = judged.split(",")
        rows = rows_of(key)
        docs = list(dict.fromkeys(doc for doc, _ in rows))
        texts = loaded.inputs.of_documents([documents[doc] for doc in docs])
        counts, words = units.of_texts(texts), read_words(units.phrases, units.words_of(texts), texts)
        chances, evidence = model.encode_units(counts, 0.0), weighed(model.network, counts, model.length)
        places, begins = first_places(units, texts), np.append(0, texts.ends)
        lexicon, names = units.words_of(texts), model.keyphrases(loaded.view)
        shared = [shared_words(names, lexicon[begins[k] : begins[k + 1]]) for k in range(len(docs))]
        spans = {doc: (int(begins[k]), int(begins[k + 1])) for k, doc in enumerate(docs)}
        lists = of_texts(
            names, texts, counts, model.encode_units(counts, LEAST_IN_QUERY), evidence, model.nearness, 1.0
        )
        mentions = [[item for item in items if item.mentioned and item.keyphrase is not None] for items in lists]
        found = {doc: {chunk.terms: chunk for chunk in chunks(words, *span)} for doc, span in spans.items()}
        for place, letters in letters_of(rows, verdicts).items():
            text, phrase = docs.index(place[0]), rows[place]["phrase"]
            k, terms = numbers.get(phrase.casefold(), -1), tuple(index.analyze(phrase))
            chance = min(max(float(chances[[text], [k]][0]), LEAST), 1 - LEAST) if k >= 0 else 0.5
            odds = np.log(chance / (1 - chance))
            if k >= 0 and (first := places.get((text, int(model.network.phrases[k])))) is None:
                latent = [ShownKeyphrase(phrase, terms, max(chance, LEAST_IN_QUERY), k, False)]
                own = latent_facts(model.nearness, counts[[text]], latent, mentions[text], shared[text])
                for kind, good in (("latent", "A"), ("latent, related", "AR")):
                    facts[kind].append([float(values[0]) for values in own])
                    right[kind].append(majority_of(letters) in good)
            elif k >= 0:
                facts["network"].append([float(odds), float(np.log1p(first)), float(evidence[[text], [k]][0])])
                right["network"].append(majority_of(letters) == "A")
            elif terms not in listed and terms in found[place[0]]:
                *others, back = found[place[0]][terms].facts
                facts["rare"].append([float(np.dot(others, [*WEIGHTS.values()][:-1])), back])
                right["rare"].append(majority_of(letters) == "A")
    for kind, table in facts.items():
        values = np.array(table)
        scale = values.std(axis=0)
        fit = LogisticRegression().fit(values / scale, right[kind])
        weights = fit.coef_[0] / scale
        print(f"{kind}: {len(table):,} verdicts, {100 * np.mean(right[kind]):.1f} % right; {fit.intercept_[0]:.2f}")
        print(
            [round(float(value), 3) for value in weights]
            if kind != "rare"
            else {name: round(float(weights[0]) * value, 2) for name, value in WEIGHTS.items()}
            | {"returns": round(float(weights[1]), 2)}
        )


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    drawing, scoring, learning = (parts.add_parser(name) for name in ("draw", "score", "learn"))
    for part in (drawing, learning):
        part.add_argument("index")
        part.add_argument("collection")
    drawing.add_argument("texts")
    for part in (drawing, scoring):
        part.add_argument("key")
    scoring.add_argument("verdicts")
    learning.add_argument("judged", nargs="+", metavar="KEY,VERDICTS")
    drawing.add_argument("--documents", type=int, default=40)
    drawing.add_argument("--seed", type=int, default=2727)
    drawing.add_argument("--without", nargs="*", default=[])
    given = parser.parse_args()
    {"draw": draw, "score": score, "learn": learn}[given.part](given)


if __name__ == "__main__":
    main()
