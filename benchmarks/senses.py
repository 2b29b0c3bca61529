"""Measure the words that `swg` adds to a word in each of its senses, as readers judge them.

    python benchmarks/senses.py draw WORDS.json --seed 1 --from 'arxiv:30:INDEX:swg(topics=lda(k=20))' …
    python benchmarks/senses.py list WORDS.json LISTS.json 'arxiv:INDEX:swg(topics=lda(k=20))' …
    python benchmarks/senses.py sample WORDS.json FOLDER paper=OLD.json contexts=NEW.json --seed 1
    python benchmarks/senses.py score FOLDER VERDICTS.csv …

`draw` draws words by chance: in at least 20 documents, or 2 % of a small collection, written in three letters or more, with a residual
idf of .3 or more and no stop words of scikit-learn, as nobody looks up "towards" or "would". The chance of a word is its number of
documents times the entropy of its topics, so frequent and ambiguous words come first. `list` lists the three most likely senses of each
word by one setting, with their first five words. `sample` writes the lists of several settings, in an order by chance, to a file for
readers, and the key to another. `score` takes the majority of the readers and prints the table.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import sublex

SENSES, FIRST, TOPIC_WORDS = 3, 5, 8
GRADES = {"g": "good", "r": "related", "n": "noise"}
HEAD = """# Words that go with a word in one of its senses

Each block names a word and a collection. Lines that begin with "topic" show the most frequent words of a topic: they say which sense of
the word is meant. Below it stand lists of words that a search engine would add to a query for the word in this sense. Grade each word of
each list, in its order, with one letter:

* g (good): a reader who searches for the word in this sense would agree that it belongs to the subject: a synonym, a part, a kind, a
  method, a typical companion, the other half of a phrase or name.
* r (related): it is from the same field, but says little about the word.
* n (noise): it has nothing to do with the word in this sense, or means nothing (a stop word, a fragment, a mere number).

Judge each word by itself; the same word gets the same grade in two lists of one topic. Write a CSV file with the columns id and verdict,
as in `12a,ggrgn`: the id of the list, and one letter for each of its words.
"""


def draw(given: argparse.Namespace) -> None:
    """Write words, drawn by chance from several collections."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    from sublex_swg.contexts import INFORMATIVE, informativeness

    chance, drawn = np.random.default_rng(given.seed), []
    seen = {(each["collection"], each["word"]) for path in given.without for each in json.loads(path.read_text())}
    for source in given.sources:
        name, number, path, expression = source.split(":", 3)
        index = sublex.open(path)
        graphs = index.fitted_model(expression).model.graphs
        numbers = index.corpus.recode(graphs.vocabulary)
        df, cf = np.zeros((2, len(graphs.vocabulary)))
        for block in index.corpus.blocks():
            columns = numbers[block.indices]
            known = columns >= 0
            df += np.bincount(columns[known], minlength=len(df))
            cf += np.bincount(columns[known], block.data[known], len(df))
        residual = informativeness(df, cf, index.corpus.lengths, graphs.vocabulary) * INFORMATIVE
        shares = (graphs.df + 1e-9) / (graphs.df + 1e-9).sum(axis=0)
        entropy = -(shares * np.log2(shares)).sum(axis=0)
        words = [index.corpus.surface(term) for term in graphs.vocabulary]
        written = np.array(
            [len(word) >= 3 and word.isalpha() and word.casefold() not in ENGLISH_STOP_WORDS for word in words]
        )
        fit = written & (df >= min(20, 0.02 * len(index))) & (residual >= 0.3)
        fit &= np.array([(name, word) not in seen for word in words])
        weights = np.where(fit, df * entropy, 0)
        chosen = chance.choice(len(words), int(number), replace=False, p=weights / weights.sum())
        drawn += [{"collection": name, "word": words[k], "documents": int(df[k])} for k in chosen.tolist()]
    given.words.write_text(json.dumps(drawn, indent=1))


def lists(given: argparse.Namespace) -> None:
    """Write the senses of words by one setting."""
    found = {}
    for source in given.sources:
        name, path, expression = source.split(":", 2)
        index = sublex.open(path)
        graphs = index.fitted_model(expression).model.graphs

        def surfaces(numbers: Any, index: Any = index, graphs: Any = graphs) -> list[str]:
            return [index.corpus.surface(graphs.vocabulary[k]) for k in numbers]

        for each in json.loads(given.words.read_text()):
            (term,) = index.analyze(each["word"])
            if each["collection"] != name:
                continue
            number = graphs.numbers.get(term)
            found[f"{name} {each['word']}"] = [
                {
                    "topic": sense.topic,
                    "about": surfaces(graphs.top_words(sense.topic, TOPIC_WORDS)),
                    "near": surfaces(k for k, _ in graphs.neighbours(number, sense.topic, FIRST)),
                }
                for sense in ([] if number is None else graphs.senses(number)[:SENSES])
            ]
    given.output.write_text(json.dumps(found, indent=1))


def sample(given: argparse.Namespace) -> None:
    """Write the file for readers, and the key."""
    settings = {name: json.loads(Path(path).read_text()) for name, path in (each.split("=", 1) for each in given.lists)}
    chance, text, key = np.random.default_rng(given.seed), [HEAD], []
    words = json.loads(given.words.read_text())
    for place in chance.permutation(len(words)).tolist():
        name = f"{words[place]['collection']} {words[place]['word']}"
        listed = [(sense, setting) for setting, of in settings.items() for sense in of[name]]
        topics = list(dict.fromkeys(sense["topic"] for sense, _ in listed))
        text.append(f"\n## {words[place]['word']} ({words[place]['collection']})\n")
        for topic in chance.permutation(topics).tolist() if topics else []:
            lines = [pair for pair in listed if pair[0]["topic"] == topic]
            # The topics are the same for all settings; the words of a topic are shown as the last setting has them.
            text.append(f"\ntopic: {', '.join(lines[-1][0]['about'])}\n\n")
            for number in chance.permutation(len(lines)).tolist():
                sense, setting = lines[number]
                label = f"{len(key) + 1}"
                key.append(
                    (label, setting, words[place]["collection"], words[place]["word"], topic, " ".join(sense["near"]))
                )
                text.append(f"* {label}: {', '.join(sense['near'])}\n")
        if not topics:
            text.append("\n(no list)\n")
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "sample.md").write_text("".join(text))
    with (given.folder / "key.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "setting", "collection", "word", "topic", "near"))
        writer.writerows(key)
    (given.folder / "words.json").write_text(json.dumps(words, indent=1))


def score(given: argparse.Namespace) -> None:
    """Print what the majority of the readers found, by setting and collection, and how often the readers agree."""
    with (given.folder / "key.csv").open() as file:
        key = list(csv.DictReader(file))
    readers = []
    for path in given.verdicts:
        with path.open() as file:
            readers.append({row["id"].strip(): row["verdict"].strip().lower() for row in csv.DictReader(file)})
    counts: dict[tuple[str, str], Counter[str]] = {}
    agreed = pairs = same = judged = 0
    for row in key:
        near = row["near"].split()
        marks = [reader.get(row["id"], "") for reader in readers]
        wrong = [
            str(path)
            for path, mark in zip(given.verdicts, marks, strict=True)
            if len(mark) != len(near) or set(mark) - set(GRADES)
        ]
        if wrong:
            print(f"left out: list {row['id']} has {len(near)} words; see {', '.join(wrong)}")
            continue
        for letters in zip(*marks, strict=True):
            letter, votes = Counter(letters).most_common(1)[0]
            # Three readers with three grades: the middle one counts.
            grade = letter if votes > 1 or len(letters) == 1 else "r"
            for collection in (row["collection"], "all"):
                counts.setdefault((row["setting"], collection), Counter())[grade] += 1
            judged += 1
            agreed += len(set(letters)) == 1
            same += sum(a == b for k, a in enumerate(letters) for b in letters[:k])
            pairs += len(letters) * (len(letters) - 1) // 2
    words = json.loads((given.folder / "words.json").read_text())
    print(
        "| setting | collection | words drawn | with senses | senses | words listed | good | good or related | noise |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for (setting, collection), found in sorted(counts.items()):
        rows = [row for row in key if row["setting"] == setting and collection in (row["collection"], "all")]
        total = sum(found.values())
        drawn = sum(collection in (word["collection"], "all") for word in words)
        held = len({(row["collection"], row["word"]) for row in rows})
        print(
            f"| {setting} | {collection} | {drawn} | {held} | {len(rows)} | {total} | {found['g'] / total:.2f} "
            f"| {(found['g'] + found['r']) / total:.2f} | {found['n'] / total:.2f} |"
        )
    if pairs:
        print(
            f"\n{len(readers)} readers: all agree on {agreed / judged:.0%} of {judged:,} words, two agree on {same / pairs:.0%}."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("draw")
    part.add_argument("words", type=Path)
    part.add_argument("--seed", type=int, required=True)
    part.add_argument("--from", dest="sources", nargs="+", required=True)
    part.add_argument("--without", type=Path, nargs="*", default=[], help="files of words that are not drawn")
    part.set_defaults(work=draw)
    part = parts.add_parser("list")
    part.add_argument("words", type=Path)
    part.add_argument("output", type=Path)
    part.add_argument("sources", nargs="+")
    part.set_defaults(work=lists)
    part = parts.add_parser("sample")
    part.add_argument("words", type=Path)
    part.add_argument("folder", type=Path)
    part.add_argument("lists", nargs="+")
    part.add_argument("--seed", type=int, required=True)
    part.set_defaults(work=sample)
    part = parts.add_parser("score")
    part.add_argument("folder", type=Path)
    part.add_argument("verdicts", type=Path, nargs="+")
    part.set_defaults(work=score)
    given = parser.parse_args()
    given.work(given)


if __name__ == "__main__":
    main()
