"""Judge the keyphrases that a text does not mention, blind beside those of LSI and of vectors alone.

    python benchmarks/keyphrases_latent.py draw INDEX COLLECTION.jsonl FOLDER KEY.csv [--documents 60] [--seed 2811] [--without KEY.csv …]
    python benchmarks/keyphrases_latent.py score KEY.csv VERDICTS.csv VERDICTS.csv VERDICTS.csv

`draw` draws documents of an index by chance, other ones than those of the keys after `--without`. All lists have keyphrases of
LAKI's model that the text does not mention:

* `laki`: what `sublex keyphrases --latent` lists, at most five.
* `stricter`: the same with `related=0.95`.
* `lsi`: the five nearest to the text by the cosine in LSI of words and phrases with 200 dimensions (log counts, idf).
  `lsi_rank` is the rank among all keyphrases, those that the text mentions too.
* `vectors`: the four nearest by the vectors that LAKI stores, without the network.

The phrases of a document are shuffled into one list. FOLDER gets `texts.txt` with the documents and their phrases, and a form for
each reader (`read_a.csv`, `read_b.csv`, `read_c.csv`), each with the documents in another order. A reader fills the column
`verdict`: about, related or wrong. KEY.csv says which list has which phrase.

`score` prints for each list how many are about the text and at least related to it, with intervals of 95 % by bootstrap samples
of the documents, and the agreement. A list is cut to as many phrases of each document as `laki` has, and whole.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from keyphrases_judged import agreement, documents_of, majority_of, rows_of
from laki_features import Features, unit

import sublex

STRICTER = "laki(related=0.95)"
FIRST, BY_VECTORS, READERS, SAMPLES = 5, 4, "abc", 10_000
FIELDS = ("doc", "number", "phrase", "strength", "laki", "stricter", "lsi", "lsi_rank", "vectors")
VERDICTS = {"about": "A", "about it": "A", "related": "R", "wrong": "W"}
Place = tuple[str, str]


def draw(given: argparse.Namespace) -> None:
    """Write the texts, the forms of the readers, and the key."""
    chance, documents = np.random.default_rng(given.seed), documents_of(given.collection)
    index, folder = sublex.open(given.index), Path(given.folder)
    folder.mkdir(parents=True, exist_ok=True)
    seen = {doc for path in given.without for doc, _ in rows_of(path)}
    view = index.representation("laki").view
    docnos = [view.docno(doc) or "" for doc in index.corpus.docs.tolist()]
    chosen = chance.choice([docno for docno in docnos if docno not in seen], given.documents, replace=False).tolist()
    lists = lists_of(index, Path(given.work), [documents[docno] for docno in chosen])
    rows: list[dict[str, Any]] = []
    texts: list[str] = []
    for docno, own in zip(chosen, lists, strict=True):
        document = documents[docno]
        texts.append(f"=== doc {docno}\n{document.title}\n{document.text.strip()}\n")
        for number, k in enumerate(chance.permutation(len(own)).tolist(), 1):
            rows.append({"doc": docno, "number": number, **own[k]})
            texts.append(f"{number:3d}. {own[k]['phrase']}")
        texts.append("")
    (folder / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    write(given.key, FIELDS, rows)
    for reader in READERS:
        order = {docno: place for place, docno in enumerate(chance.permutation(chosen).tolist())}
        write(
            folder / f"read_{reader}.csv",
            ("doc", "number", "phrase", "verdict"),
            [{"verdict": "", **row} for row in sorted(rows, key=lambda row: order[row["doc"]])],
        )
    print(f"{given.documents} documents, seed {given.seed}, {len(rows):,} phrases: {folder}")


def write(path: str | Path, fields: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, fields, lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)


def lists_of(index: sublex.Index, work: Path, documents: list[Any]) -> list[list[dict[str, Any]]]:
    """Return for each document its phrases, each with its rank in each list."""
    loaded = index.representation("laki")
    model, words = loaded.model, loaded.inputs.of_documents(documents)
    counts, names = model.units.of_texts(words), model.keyphrases(loaded.view).names
    units = Features(index, "laki", work).by_unit
    phrases = model.network.phrases
    vectors = unit(units.lsi)[np.searchsorted(units.kept, phrases)]
    cosines = unit(units.tfidf(counts[:, units.kept]) @ units.lsi) @ vectors.T
    kinds = {"laki": model, "stricter": index.representation(STRICTER).model}
    listed = {name: list(each.shown(loaded.view, words, counts)) for name, each in kinds.items()}
    found = []
    for text in range(len(documents)):
        own = counts[[text]]
        latent = ~np.isin(phrases, own.indices)
        alike, _ = model.nearness.of(range(len(phrases)), own, [], [])
        rows: dict[str, dict[str, Any]] = {}
        for name, items in listed.items():
            for rank, item in enumerate([item for item in items[text] if not item.mentioned][:FIRST], 1):
                row = rows.setdefault(item.name.casefold(), {"phrase": item.name})
                row |= {name: rank, "strength": round(item.strength, 4)}
        places = np.argsort(np.argsort(-cosines[text], kind="stable"), kind="stable") + 1
        for name, values, number in (("lsi", cosines[text], FIRST), ("vectors", alike, BY_VECTORS)):
            order = np.argsort(np.where(latent, -values, np.inf), kind="stable")[:number].tolist()
            for rank, k in enumerate(order, 1):
                row = rows.setdefault(names[k].casefold(), {"phrase": names[k]})
                row[name], row["lsi_rank"] = rank, int(places[k])
        found.append(list(rows.values()))
    return found


def letters_of(rows: dict[Place, dict[str, str]], paths: list[str]) -> dict[Place, list[str]]:
    """Return the letters that the readers gave to each phrase. Stop the program at a verdict that is none."""
    letters: dict[Place, list[str]] = defaultdict(list)
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                place, verdict = (row["doc"], row["number"]), row["verdict"].strip().casefold()
                if verdict and (place not in rows or verdict not in VERDICTS):
                    raise SystemExit(f"{path}: doc {place[0]}, number {place[1]}: {verdict} is no verdict.")
                if verdict:
                    letters[place].append(VERDICTS[verdict])
    return letters


def score(given: argparse.Namespace) -> None:
    """Print how many phrases of each list are right, and the agreement."""
    rows = rows_of(given.key)
    letters = letters_of(rows, given.verdicts)
    majority = {place: majority_of(own) for place, own in letters.items()}
    docs = list(dict.fromkeys(doc for doc, _ in rows))
    sizes = dict.fromkeys(docs, 0)
    for (doc, _), row in rows.items():
        sizes[doc] += bool(row["laki"])
    lists: dict[str, list[Place]] = {"laki": [place for place, row in rows.items() if row["laki"]]}
    lists["laki(related=0.95)"] = [place for place, row in rows.items() if row["stricter"]]
    for name in ("lsi", "vectors"):
        own = [place for place, row in rows.items() if row[name]]
        lists[f"{name}: as many of each document"] = [p for p in own if int(rows[p][name]) <= sizes[p[0]]]
        lists[f"{name}: all"] = own
    near = [place for place, row in rows.items() if row["lsi"] and int(row["lsi_rank"]) <= FIRST]
    lists["lsi: those of its first five that the text does not mention"] = near
    lists["laki: those that lsi has too"] = [place for place in lists["laki"] if rows[place]["lsi"]]
    shown = sum(1 for size in sizes.values() if size)
    print(f"{len(docs)} documents, {shown} with latent keyphrases, {len(majority):,} phrases judged of {len(rows):,}\n")
    print("| list | phrases | about it | interval | at least related | interval | laki less this one, related |")
    print("|---" * 7 + "|")
    samples, first = np.random.default_rng(0).integers(0, len(docs), (SAMPLES, len(docs))), np.empty(0)
    for name, places in lists.items():
        judged = [place for place in places if place in majority]
        cells, drawn = [], np.empty(0)
        total = per_document(docs, judged)
        for good in ("A", "AR"):
            right = per_document(docs, [place for place in judged if majority[place] in good])
            drawn = 100 * right[samples].sum(axis=1) / np.maximum(total[samples].sum(axis=1), 1)
            cells += [f"{100 * right.sum() / max(total.sum(), 1):.1f}", interval(drawn)]
        first = first if len(first) else drawn
        print(f"| {name} | {len(judged)} | {' | '.join(cells)} | {interval(first - drawn)} |")
    agreement(list(letters.values()))


def per_document(docs: list[str], places: list[Place]) -> np.ndarray:
    """Return how many of some phrases each document has."""
    numbers = dict.fromkeys(docs, 0)
    for doc, _ in places:
        numbers[doc] += 1
    return np.array([*numbers.values()], float)


def interval(values: np.ndarray) -> str:
    """Return the interval that holds 95 % of some values."""
    return " to ".join(f"{value:.1f}" for value in np.quantile(values, (0.025, 0.975)))


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    drawing, scoring = (parts.add_parser(name) for name in ("draw", "score"))
    for name in ("index", "collection", "folder", "key"):
        drawing.add_argument(name)
    drawing.add_argument("--documents", type=int, default=60)
    drawing.add_argument("--seed", type=int, default=2811)
    drawing.add_argument("--without", nargs="*", default=[])
    drawing.add_argument("--work", default="laki-features", help="a folder for what takes long to compute")
    scoring.add_argument("key")
    scoring.add_argument("verdicts", nargs="+")
    given = parser.parse_args()
    {"draw": draw, "score": score}[given.part](given)


if __name__ == "__main__":
    main()
