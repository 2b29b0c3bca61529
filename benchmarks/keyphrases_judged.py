"""Have readers judge the keyphrases of LAKI, blind beside those of other methods, and score their verdicts.

    python benchmarks/keyphrases_judged.py draw INDEX COLLECTION.jsonl FOLDER KEY.csv [--seed 27] [--best 10] [--without KEY.csv]
    python benchmarks/keyphrases_judged.py score KEY.csv VERDICTS.csv VERDICTS.csv VERDICTS.csv
    python benchmarks/keyphrases_judged.py learn INDEX COLLECTION.jsonl KEY.csv VERDICTS.csv VERDICTS.csv VERDICTS.csv

`draw` draws documents of an index by chance, other ones than those of the key after `--without`. It writes into FOLDER what
readers may see, and KEY.csv elsewhere:

* `texts-1.txt` to `texts-4.txt`: what readers see. Each document has its title, its text and one list of phrases, which is
  shuffled. Nothing says which method a phrase comes from, or whether the text mentions it.
* KEY.csv: for each phrase the ranks that the methods give it, LAKI's strength, and whether the phrase is latent.

The methods, ten phrases each, or as many as `--best` says:

* `laki`: the strongest keyphrases, as `sublex keyphrases --perhaps` lists them. (In keys of seeds 27 and 60, the most
  probable keyphrases of the network.)
* `shown`: those of them that `sublex keyphrases` shows as strong. A part of a stronger phrase is left out.
* `latent`: the five strongest keyphrases that the text does not mention.
* `lsi`: the keyphrases of LAKI's model that are nearest to the text by the cosine in LSI of words and phrases with 200
  dimensions (log counts, idf), mentioned or not.
* `lda`: the labels of the text's strongest topics, at most five, with .05 of the text or more.
* `tfidf`: the phrases in the text, by (1 + log count) * idf.

A reader writes a line `doc,number,letter` for each phrase: A if the text is about it, R if it is related to what the text is
about, W if it is wrong. `score` reads the verdicts of all readers of all files, and takes the majority (three different
verdicts make R). It prints the precision at 5 and at 10, intervals by bootstrap samples of the documents, that of the strong
keyphrases beside as many phrases of each other method for each document, the agreement, and how often phrases with such a
probability are right.

`learn` fits the numbers of `sublex_laki/estimator/certainty.py` to verdicts: which of the keyphrases that a text mentions is
it about? It says how well they do on documents that they were not fitted to, by ten folds, and what the fitted model shows of
the judged phrases. This part needs scikit-learn.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from laki_features import Features, Job, unit
from scipy.sparse import csr_array

import sublex
from sublex.contracts.base import Document
from sublex.estimators.phrases.phrase_list import NAMES
from sublex_laki.estimator import concentration, decomposed
from sublex_laki.estimator.certainty import facts_of_phrases
from sublex_laki.keyphrases import is_part

# Files for readers, phrases of a method, latent keyphrases, and topics that have at least SHARE of a text.
FILES, BEST, LATENT, TOPICS, SHARE = 4, 10, 5, 5, 0.05
LETTERS, BREAKS = "ARW", (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
SOURCES = ("laki", "shown", "latent", "lsi", "lda", "tfidf")
# The least strength of a keyphrase that is shown, if a key does not say which ones are.
STRONG = 0.7
# Bootstrap samples of the documents.
SAMPLES = 10_000
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


def draw(index: sublex.Index, given: argparse.Namespace) -> None:
    """Write the files for readers, and the key."""
    chance, folder, number = np.random.default_rng(given.seed), Path(given.folder), given.documents
    folder.mkdir(parents=True, exist_ok=True)
    records = texts_of(given.collection)
    seen = {doc for path in given.without for doc, _ in rows_of(path)}
    view = index.representation(given.model).view
    others = [doc for doc in index.corpus.docs.tolist() if view.docno(doc) not in seen]
    chosen = np.sort(chance.choice(others, number, replace=False)).tolist()
    docnos = [view.docno(doc) or "" for doc in chosen]
    texts = [records[docno] for docno in docnos]
    documents = documents_of(given.collection)
    rankings = rankings_of(index, given.model, given.topics, Path(given.work), [documents[docno] for docno in docnos])
    rankings = [{name: phrases[: given.best] for name, phrases in own.items()} for own in rankings]
    with open(given.key, "w", encoding="utf-8", newline="") as file:
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
    print(f"{number} documents, seed {given.seed}: {folder}")


def texts_of(collection: str) -> dict[str, str]:
    """Return the texts of a collection with their titles, by docno."""
    with open(collection, encoding="utf-8") as lines:
        return {record["id"]: f"{record['title']}\n{record['text']}" for record in map(json.loads, lines)}


def documents_of(collection: str) -> dict[str, Document]:
    """Return the documents of a collection, by docno."""
    with open(collection, encoding="utf-8") as lines:
        return {r["id"]: Document(r["id"], r["text"], r["title"]) for r in map(json.loads, lines)}


def rows_of(key: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of a key by document and number."""
    with open(key, encoding="utf-8", newline="") as file:
        return {(row["doc"], row["number"]): row for row in csv.DictReader(file)}


class Ranked(NamedTuple):
    """A phrase that a method gives to a text, LAKI's strength of it, and whether it is latent: the text does not mention it."""

    phrase: str
    probability: float
    is_latent: bool


def rankings_of(
    index: sublex.Index, model: str, topics: str, work: Path, documents: list[Document]
) -> list[dict[str, list[Ranked]]]:
    """Return for each document the best phrases by each method."""
    features, loaded = Features(index, model, work), index.representation(model)
    laki, view, words = features.laki, loaded.view, loaded.inputs.of_documents(documents)
    units = csr_array(laki.units.of_texts(words))
    phrases, names, df = laki.network.phrases, laki.keyphrases(view).names, np.bincount(features.by_unit.whole.indices)
    listed = [
        [Ranked(item.name, item.strength, not item.mentioned) for item in items]
        for items in laki.shown(view, words, units)
    ]
    known = csr_array(units[:, features.by_unit.kept])
    # The vector of a phrase is that of a text with nothing else.
    vectors = unit(features.by_unit.lsi)[np.searchsorted(features.by_unit.kept, phrases)]
    cosines = unit(features.by_unit.tfidf(known) @ features.by_unit.lsi) @ vectors.T
    chances, weights = laki.encode_units(units).toarray(), csr_array(features.by_unit.tfidf(known))
    labels = labels_of(index, topics, [f"{each.title}\n{each.text}" for each in documents])
    found = []
    for k in range(len(documents)):
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
                "laki": listed[k][:BEST],
                "shown": [item for item in listed[k] if item.probability >= laki.least_share][:BEST],
                "latent": [item for item in listed[k] if item.is_latent][:LATENT],
                "lsi": best(cosines[k], BEST),
                "lda": [Ranked(label, 0.0, False) for label in labels[k]],
                "tfidf": [
                    Ranked(laki.units.name(n, view.surface), float(chances[k, place[n]]) if n in place else 0.0, False)
                    for n in mentioned
                ],
            }
        )
    return found


def strong_ones(chances: np.ndarray, least: float) -> list[tuple[int, float]]:
    """Return the keyphrases whose probability is `least` or more, the most probable first, as pairs with it."""
    order = np.argsort(-chances, kind="stable")
    return [(k, float(chances[k])) for k in order[chances[order] >= least].tolist()]


def without_parts(laki: Any, found: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return keyphrases with their strengths without those that are a part of one before them."""
    terms, kept = [laki.units.terms[laki.network.phrases[k]] for k, _ in found], list[int]()
    for place, own in enumerate(terms):
        if not any(is_part(own, terms[other]) for other in kept):
            kept.append(place)
    return [found[place] for place in kept]


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


def letters_of(rows: dict[tuple[str, str], dict[str, str]], verdicts: list[str]) -> dict[tuple[str, str], list[str]]:
    """Return the letters that all readers gave to each phrase of the key. Stop the program at a line without a verdict."""
    letters: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in verdicts:
        with open(path, encoding="utf-8", newline="") as file:
            for place, line in enumerate(csv.reader(file), 1):
                if len(line) != 3 or line[0] == "doc":
                    continue
                doc, number, letter = (cell.strip() for cell in line)
                if (doc, number) not in rows or letter not in LETTERS:
                    raise SystemExit(f"{path}, line {place}: {','.join(line)} is no verdict on a phrase of the key.")
                letters[doc, number].append(letter)
    return letters


def show_strong(rows: dict[tuple[str, str], dict[str, str]], majority: dict[tuple[str, str], str]) -> None:
    """Print how many strong keyphrases are right, beside as many phrases of each other method for each document."""
    if any("shown" in row for row in rows.values()):
        chosen = [place for place, row in rows.items() if row["shown"]]
    else:
        chosen = [place for place, row in rows.items() if row["laki"] and float(row["probability"]) >= STRONG]
    sizes, docs = Counter(doc for doc, _ in chosen), len({doc for doc, _ in rows})
    print(
        f"\nstrong keyphrases: {len(chosen) / docs:.2f} a document, {docs - len(sizes)} of {docs} documents without any\n\n"
        "| as many phrases of each document | phrases | about it | at least related |\n|---|---|---|---|"
    )
    lists = {"strong keyphrases": chosen}
    for name in ("lsi", "tfidf", "lda"):
        lists[name] = [place for place, row in rows.items() if row[name] and int(row[name]) <= sizes[place[0]]]
    for name, places in lists.items():
        found = [majority[place] for place in places if place in majority]
        about, related = (100 * np.mean([letter in good for letter in found] or [0]) for good in ("A", "AR"))
        print(f"| {name} | {len(found):,} | {about:.1f} | {related:.1f} |")


def learn(index: sublex.Index, given: argparse.Namespace) -> None:
    """Learn from the verdicts how likely a mention of a phrase is about the document.

    Print the weights of the log-odds, and how many of the phrases that the model shows are right.
    """
    from sklearn.linear_model import LogisticRegression

    rows = rows_of(given.key)
    majority = {place: majority_of(own) for place, own in letters_of(rows, given.verdicts).items()}
    loaded = index.representation(given.model)
    laki, units, names = loaded.model, loaded.model.units, loaded.model.keyphrases(loaded.view)
    phrases, corpus = laki.network.phrases, units.of_corpus(index.corpus, Job())
    focus = concentration(decomposed(corpus, laki.params.width, laki.params.seed), phrases)
    words = np.array([len(units.terms[unit]) > 1 for unit in phrases.tolist()])
    named = units.phrases.features[units.codes[phrases], NAMES.index("named")]
    facts = np.column_stack((*facts_of_phrases(corpus, phrases, focus), words, named))
    texts, docs = texts_of(given.collection), list(dict.fromkeys(doc for doc, _ in rows))
    counts = units.of_texts(loaded.inputs.of_texts([texts[doc] for doc in docs]))
    numbers = {name.casefold(): k for k, name in enumerate(names.names)}
    x, y, folds = [], [], []
    for (doc, number), row in rows.items():
        k, place = numbers.get(row["phrase"].casefold(), -1), docs.index(doc)
        count = counts[[place], [phrases[k]]][0]
        if k >= 0 and count and (doc, number) in majority:
            x.append((*facts[k], np.log(count)))
            y.append(majority[doc, number] == "A")
            folds.append(place % 10)
    scaled, right, parts = np.array(x), np.array(y), np.array(folds)
    scale, odds = scaled.std(axis=0), np.zeros(len(y))
    for fold in range(10):
        others = LogisticRegression().fit((scaled / scale)[parts != fold], right[parts != fold])
        odds[parts == fold] = others.decision_function((scaled / scale)[parts == fold])
    fit = LogisticRegression().fit(scaled / scale, right)
    print("| mentions | about it | base | rare | again | focus | several | named | count |\n" + "|---" * 9 + "|")
    cells = " | ".join(f"{value:.2f}" for value in (*fit.intercept_, *(fit.coef_[0] / scale)))
    print(f"| {len(y):,} | {right.mean():.3f} | {cells} |\n")
    chances, judged = laki.encode_units(counts).toarray(), {}
    for place, row in rows.items():
        if place in majority:
            judged[place[0], row["phrase"].casefold()] = majority[place]
    print(
        "| least | by folds: mentions | about it | shown a document | not judged | about it |\n|---|---|---|---|---|---|"
    )
    for least in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8):
        kept = 1 / (1 + np.exp(-odds)) >= least
        shown = [
            judged.get((doc, names.names[k].casefold()))
            for place, doc in enumerate(docs)
            for k, _ in without_parts(laki, strong_ones(chances[place], least))[:BEST]
        ]
        known = [letter == "A" for letter in shown if letter]
        print(
            f"| {least} | {kept.sum():,} | {100 * right[kept].mean():.1f} | {len(shown) / len(docs):.2f} | "
            f"{len(shown) - len(known):,} | {100 * np.mean(known):.1f} |"
        )


def score(key: str, verdicts: list[str]) -> None:
    """Print the precision of each method, the agreement of readers, and how often probabilities are right."""
    rows = rows_of(key)
    letters = letters_of(rows, verdicts)
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
    show_intervals(rows, majority)
    show_strong(rows, majority)
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


def show_intervals(rows: dict[tuple[str, str], dict[str, str]], majority: dict[tuple[str, str], str]) -> None:
    """Print for each method the precision at 5 with an interval, and the interval of the difference of LAKI from it.

    The intervals are those of 95 % by bootstrap samples of the documents.
    """
    docs = list(dict.fromkeys(doc for doc, _ in rows))
    samples = np.random.default_rng(0).integers(0, len(docs), (SAMPLES, len(docs)))
    print("\n| about it @5 | percent | interval | LAKI less this one |\n|---|---|---|---|")
    first = np.empty(0)
    for name in SOURCES:
        right, judged = Counter[str](), Counter[str]()
        for place, row in rows.items():
            if place in majority and row.get(name) and int(row[name]) <= 5:
                judged[place[0]] += 1
                right[place[0]] += majority[place] == "A"
        if not judged:
            continue
        good, number = (np.array([counts[doc] for doc in docs], float) for counts in (right, judged))
        drawn = 100 * good[samples].sum(axis=1) / np.maximum(number[samples].sum(axis=1), 1)
        first = first if len(first) else drawn
        cells = (
            " to ".join(f"{value:.1f}" for value in np.quantile(each, (0.025, 0.975)))
            for each in (drawn, first - drawn)
        )
        print(f"| {name} | {100 * good.sum() / number.sum():.1f} | {' | '.join(cells)} |")


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
    """Draw documents, score verdicts, or learn from them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    drawing, scoring, learning = (parts.add_parser(name) for name in ("draw", "score", "learn"))
    for name in ("index", "collection", "folder", "key"):
        drawing.add_argument(name)
    drawing.add_argument("--without", metavar="KEY", nargs="*", default=[])
    drawing.add_argument("--work", default="laki-features", help="a folder for what takes long to compute")
    for name in ("index", "collection", "key"):
        learning.add_argument(name)
    learning.add_argument("verdicts", nargs="+")
    for part in (drawing, learning):
        part.add_argument("--model", default="laki")
    drawing.add_argument("--topics", default="lda(k=100)")
    drawing.add_argument("--documents", type=int, default=100)
    drawing.add_argument("--seed", type=int, default=27)
    drawing.add_argument("--best", type=int, default=BEST, help="the most phrases of a method")
    scoring.add_argument("key")
    scoring.add_argument("verdicts", nargs="+")
    given = parser.parse_args()
    if given.part == "score":
        score(given.key, given.verdicts)
        return
    (draw if given.part == "draw" else learn)(sublex.open(given.index), given)


if __name__ == "__main__":
    main()
