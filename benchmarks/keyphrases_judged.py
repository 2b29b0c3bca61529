"""Have readers judge the keyphrases of LAKI, blind beside those of other methods, and score their verdicts.

    python benchmarks/keyphrases_judged.py draw INDEX COLLECTION.jsonl FOLDER [--topics 'lda(k=100)'] [--seed 27]
    python benchmarks/keyphrases_judged.py score KEY.csv VERDICTS.csv VERDICTS.csv VERDICTS.csv

`draw` draws documents of an index by chance and writes into FOLDER:

* `texts-1.txt` to `texts-4.txt`: what readers see. Each document has its title, its text and one list of phrases, which is
  shuffled. Nothing says which method a phrase comes from, or whether the text mentions it.
* `key.csv`: for each phrase the ranks that the methods give it, LAKI's probability, and whether the phrase is latent.

The methods, ten phrases each:

* `laki`: the most probable keyphrases. Of equal ones, the rarer comes first.
* `latent`: the five most probable keyphrases that the text does not mention.
* `lsi`: the keyphrases of LAKI's model that are nearest to the text by the cosine in LSI of words and phrases with 200
  dimensions (log counts, idf), mentioned or not.
* `lda`: the labels of the text's strongest topics, at most five, with .05 of the text or more.
* `tfidf`: the phrases in the text, by (1 + log count) * idf.

A reader writes a line `doc,number,letter` for each phrase: A if the text is about it, R if it is related to what the text is
about, W if it is wrong. `score` reads the verdicts of all readers of all files, and takes the majority (three different
verdicts make R). It prints the precision at 5 and at 10, the agreement, and how often phrases with such a probability are
right.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from laki_features import Features, unit
from scipy.sparse import csr_array

import sublex

# Files for readers, phrases of a method, latent keyphrases, and topics that have at least SHARE of a text.
FILES, BEST, LATENT, TOPICS, SHARE = 4, 10, 5, 5, 0.05
LETTERS, BREAKS = "ARW", (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
SOURCES = ("laki", "latent", "lsi", "lda", "tfidf")
FIELDS = ("doc", "number", "phrase", "is_latent", "probability", *SOURCES)
# The lines of the table of precision, each with the column of ranks that it reads.
METHODS = {
    "laki": "laki", "laki: mentioned": "laki", "laki: latent": "laki", "the five best latent": "latent", "lsi": "lsi",
    "lsi: mentioned": "lsi", "lsi: latent": "lsi", "lda": "lda", "tfidf": "tfidf",
}  # fmt: skip
GUIDE = """For each document: read its title and abstract, then judge each numbered phrase.
  A  the text is about it: it names a subject, method, problem or material that the text treats. A user who looks for
     texts about it would be glad to find this one.
  R  related: not what the text is about, but near to it; the text touches it, or one who reads the text may want it.
  W  wrong: it has nothing to do with the text, or says nothing (a common word, a fragment, a bare adjective or verb).
Judge each phrase by itself, whether the text has its words or not. Write one line for each: doc,number,letter
"""


def draw(index: sublex.Index, collection: str, model: str, topics: str, folder: Path, number: int, seed: int) -> None:
    """Write the files for readers, and the key."""
    chance = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    with open(collection, encoding="utf-8") as lines:
        records = {record["id"]: record for record in map(json.loads, lines)}
    chosen = np.sort(chance.choice(index.corpus.docs, number, replace=False)).tolist()
    docnos = [index.representation(model).view.docno(doc) or "" for doc in chosen]
    texts = [f"{records[docno]['title']}\n{records[docno]['text']}" for docno in docnos]
    rankings = rankings_of(index, model, topics, folder / "work", texts)
    with open(folder / "key.csv", "w", encoding="utf-8", newline="") as file:
        key = csv.DictWriter(file, FIELDS, lineterminator="\n")
        key.writeheader()
        for part in range(FILES):
            shown = [GUIDE]
            for k in range(part, number, FILES):
                rows = merged(rankings[k])
                shown.append(f"\n=== doc {docnos[k]}\n{texts[k].strip()}\n")
                for place, row in enumerate(chance.permutation(len(rows)).tolist(), 1):
                    key.writerow({"doc": docnos[k], "number": place, **rows[row]})
                    shown.append(f"{place:3d}. {rows[row]['phrase']}")
            (folder / f"texts-{part + 1}.txt").write_text("\n".join(shown) + "\n", encoding="utf-8")
    print(f"{number} documents, seed {seed}: {folder}")


class Ranked(NamedTuple):
    """A phrase that a method gives to a text, LAKI's probability of it, and whether it is latent: the text does not mention
    it.
    """

    phrase: str
    probability: float
    is_latent: bool


def rankings_of(
    index: sublex.Index, model: str, topics: str, work: Path, texts: list[str]
) -> list[dict[str, list[Ranked]]]:
    """Return for each text the best phrases by each method."""
    features = Features(index, model, work)
    laki, view, units = features.laki, index.representation(model).view, features.units(texts)
    phrases, names, df = laki.network.phrases, laki.keyphrases(view).names, np.bincount(features.by_unit.whole.indices)
    known = csr_array(units[:, features.by_unit.kept])
    # The vector of a phrase is that of a text with nothing else.
    vectors = unit(features.by_unit.lsi)[np.searchsorted(features.by_unit.kept, phrases)]
    cosines = unit(features.by_unit.tfidf(known) @ features.by_unit.lsi) @ vectors.T
    chances, weights = laki.encode_units(units).toarray(), csr_array(features.by_unit.tfidf(known))
    labels = labels_of(index, topics, texts)
    found = []
    for k in range(len(texts)):
        own = set(units.indices[units.indptr[k] : units.indptr[k + 1]].tolist())
        latent = np.array([number not in own for number in phrases.tolist()])

        def best(values: np.ndarray, number: int, k: int = k, latent: np.ndarray = latent) -> list[Ranked]:
            order = [n for n in np.lexsort((df[phrases], -values))[:number].tolist() if values[n] > 0]
            return [Ranked(names[n], float(chances[k, n]), bool(latent[n])) for n in order]

        row = slice(weights.indptr[k], weights.indptr[k + 1])
        numbers, values = features.by_unit.kept[weights.indices[row]], weights.data[row]
        order = [n for n in np.argsort(-values, kind="stable").tolist() if laki.units.is_phrase[numbers[n]]][:BEST]
        place = {number: n for n, number in enumerate(phrases.tolist())}
        mentioned = numbers[order].tolist()
        found.append(
            {
                "laki": best(chances[k], BEST),
                "latent": best(np.where(latent, chances[k], 0.0), LATENT),
                "lsi": best(cosines[k], BEST),
                "lda": [Ranked(label, 0.0, False) for label in labels[k]],
                "tfidf": [
                    Ranked(laki.units.name(n, view.surface), float(chances[k, place[n]]) if n in place else 0.0, False)
                    for n in mentioned
                ],
            }
        )
    return found


def labels_of(index: sublex.Index, topics: str, texts: list[str]) -> list[list[str]]:
    """Return for each text the labels of its strongest topics, which have at least SHARE of it."""
    loaded = index.representation(topics)
    rows = loaded.model.encode_documents(loaded.inputs.of_texts(texts))
    shares = rows.toarray() / np.maximum(rows.sum(axis=1), 1e-9)[:, None]
    return [[loaded.labels[t] for t in np.argsort(-own)[:TOPICS].tolist() if own[t] >= SHARE] for own in shares]


def merged(ranked: dict[str, list[Ranked]]) -> list[dict[str, Any]]:
    """Merge the lists that the methods give for a text: return one record for each phrase, with its rank in each list."""
    found: dict[str, dict[str, Any]] = {}
    for source, phrases in ranked.items():
        for rank, phrase in enumerate(phrases, 1):
            row = found.setdefault(
                phrase.phrase.casefold(), {"phrase": phrase.phrase, "is_latent": 0, "probability": 0.0}
            )
            row["probability"] = max(row["probability"], round(phrase.probability, 4))
            row["is_latent"] |= int(phrase.is_latent)
            row[source] = rank
    return list(found.values())


def score(key: str, verdicts: list[str]) -> None:
    """Print the precision of each method, the agreement of readers, and how often probabilities are right."""
    with open(key, encoding="utf-8", newline="") as file:
        rows = {(row["doc"], row["number"]): row for row in csv.DictReader(file)}
    letters: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in verdicts:
        with open(path, encoding="utf-8", newline="") as file:
            for place, line in enumerate(csv.reader(file), 1):
                if len(line) != 3 or line[0] == "doc":
                    continue
                doc, number, letter = (cell.strip() for cell in line)
                if (doc, number) not in rows or letter not in LETTERS:
                    raise SystemExit(f"{path}, line {place}: {','.join(line)} is no verdict on a phrase of {key}.")
                letters[doc, number].append(letter)
    lacking = len(rows) - len(letters)
    print(f"{len(letters):,} phrases with {sum(map(len, letters.values())):,} verdicts; {lacking:,} without any\n")
    majority = {place: majority_of(own) for place, own in letters.items()}
    print(
        "| method | about it @5 | about it @10 | at least related @5 | at least related @10 | phrases |\n|---|---|---|---|---|---|"
    )
    for name, chosen in METHODS.items():
        kept = [
            (row, majority[place])
            for place, row in rows.items()
            if place in majority and row[chosen] and fits(name, row)
        ]
        cells = [
            f"{100 * np.mean([letter in good for row, letter in kept if int(row[chosen]) <= depth] or [0]):.1f}"
            for good in ("A", "AR") for depth in (5, BEST)
        ]  # fmt: skip
        print(f"| {name} | {' | '.join(cells)} | {len(kept):,} |")
    agreement(list(letters.values()))
    print("\n| probability shown | phrases | mean | about it | at least related |\n|---|---|---|---|---|")
    shown = [
        (float(row["probability"]), majority[p])
        for p, row in rows.items()
        if p in majority and (row["laki"] or row["latent"])
    ]
    for low, high in zip(BREAKS[:-1], BREAKS[1:], strict=True):
        own = [item for item in shown if low <= item[0] < high or item[0] == high == 1]
        if own:
            about, related = (100 * np.mean([letter in good for _, letter in own]) for good in ("A", "AR"))
            print(
                f"| {low} to {high} | {len(own):,} | {np.mean([p for p, _ in own]):.2f} | {about:.1f} | {related:.1f} |"
            )


def fits(name: str, row: dict[str, str]) -> bool:
    """Return whether a phrase belongs to a line of the table of precision."""
    return row["is_latent"] == {"latent": "1", "mentioned": "0"}.get(name.partition(": ")[2], row["is_latent"])


def majority_of(letters: list[str]) -> str:
    """Return the verdict that most readers gave; R if no verdict has a majority."""
    (letter, number), *others = Counter(letters).most_common()
    return "R" if others and others[0][1] == number else letter


def agreement(verdicts: list[list[str]]) -> None:
    """Print Fleiss's kappa, and the share of pairs of readers that agree, of phrases that all readers judged."""
    most = max(map(len, verdicts), default=0)
    counts = np.array([[own.count(letter) for letter in LETTERS] for own in verdicts if len(own) == most], float)
    if most < 2 or not len(counts):
        return
    pairs = ((counts * (counts - 1)).sum(axis=1) / (most * (most - 1))).mean()
    chance = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    print(
        f"\n{most} readers, {len(counts):,} phrases: Fleiss's kappa {(pairs - chance) / (1 - chance):.2f}, equal pairs {pairs:.1%}"
    )


def main() -> None:
    """Draw documents, or score verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    drawing, scoring = parts.add_parser("draw"), parts.add_parser("score")
    for name in ("index", "collection", "folder"):
        drawing.add_argument(name)
    drawing.add_argument("--model", default="laki")
    drawing.add_argument("--topics", default="lda(k=100)")
    drawing.add_argument("--documents", type=int, default=100)
    drawing.add_argument("--seed", type=int, default=27)
    scoring.add_argument("key")
    scoring.add_argument("verdicts", nargs="+")
    given = parser.parse_args()
    if given.part == "score":
        score(given.key, given.verdicts)
        return
    index = sublex.open(given.index)
    draw(index, given.collection, given.model, given.topics, Path(given.folder), given.documents, given.seed)


if __name__ == "__main__":
    main()
