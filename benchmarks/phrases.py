"""Mine the phrases of a collection, and measure the time, their number, and how well their quality tells gold phrases from others.

    python benchmarks/phrases.py ARXIV INSPEC [--workers 2] [--support 10] [--offset 1] [--source now]

ARXIV is a collection, such as arxiv-cs.jsonl.xz (100,000 abstracts), and INSPEC a file of JSON lines with `keyphrases`, such as
inspec.jsonl.xz. AUC: the chance that a gold phrase of several words that occurs often enough has a higher quality than another sequence
with about its frequency. The script draws 60 phrases with a seed, prints how many are phrases by the verdicts of readers,
and lists those without a verdict. With `--offset`, only every fifth document is read, from this place on. The verdicts of
three readers are on phrases of offset 1, and those of one reader on phrases of offset 2 (`--source "offset 2"`).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import lzma
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

import sublex
from sublex.estimators.phrases.phrase_list import NAMES, PhraseList
from sublex.tools.workers import Workers
from sublex_phrases.mining import Mined, mine, phrase_list_of
from sublex_phrases.text import JoinedTexts, read_text

# Phrases that readers judge, and the seed that draws them.
JUDGED, SEED = 60, 27
# The share of the documents that --offset reads.
EVERY = 5
# Other sequences for each gold phrase, and bins of the frequency for each doubling of it.
OTHERS, BINS = 10, 4


def measured(index: sublex.Index, support: int, workers: int) -> tuple[JoinedTexts, Mined]:
    """Print how long each part takes, and return the text and the phrases."""
    vocabulary = index.corpus.vocabulary
    begin, processor = time.perf_counter(), time.process_time()
    with Workers(workers) as pool:
        words = index.corpus.words()
        text = read_text(words.blocks(pool.map), vocabulary, lambda: words.surfaces, support)
        read = time.perf_counter() - begin
        print(
            f"words {len(text.units):,}, read in {read:.1f} s, {len(text.units) / read / 1e6:.1f} million words a second"
        )
        mined = mine(text, support, run=pool.map)
    spent = time.process_time() - processor
    print(f"phrases mined in {time.perf_counter() - begin:.1f} s in all, {spent:.1f} s of processor time")
    return text, mined


def gold_nodes(index: sublex.Index, path: str, text: JoinedTexts, mined: Mined, several: bool = True) -> np.ndarray:
    """Return the nodes of the gold phrases of several words, or of the single words among them."""
    with lzma.open(path, "rt") as lines:
        gold = {phrase for line in lines for phrase in json.loads(line)["keyphrases"]}
    sequences = {text.lexicon.sequence(phrase, index.analyze) for phrase in gold}
    nodes = mined.ngrams.nodes(sorted(sequence for sequence in sequences if (len(sequence) > 1) == several))
    return np.array(sorted(node for node in nodes if node >= 0), np.int64)


def auc(mined: Mined, gold: np.ndarray, others: np.ndarray) -> float:
    """Return the area under the ROC curve of the quality, gold phrases against others of like frequency; `others` is a mask."""
    chance, drawn = np.random.default_rng(0), []
    bins = np.floor(np.log2(mined.ngrams.counts) * BINS).astype(np.int64)
    is_gold = np.zeros(len(bins), bool)
    is_gold[gold] = True
    for like in np.unique(bins[gold]):
        pool = np.flatnonzero(others & ~is_gold & (bins == like))
        drawn.append(chance.choice(pool, min(len(pool), OTHERS * int((bins[gold] == like).sum())), replace=False))
    other = np.concatenate(drawn)
    ranks = rankdata(np.concatenate([mined.judged[gold], mined.judged[other]]))[: len(gold)]
    return float((ranks.sum() - len(gold) * (len(gold) + 1) / 2) / len(gold) / len(other))


def draw(phrases: PhraseList) -> list[str]:
    """Return the phrases of several words that readers judge."""
    several = np.flatnonzero(phrases.lengths > 1)
    return [phrases.names[k] for k in np.random.default_rng(SEED).choice(several, JUDGED, replace=False).tolist()]


def judge(phrases: PhraseList, verdicts: Path, drawn_from: str) -> None:
    """Print how many of the drawn phrases are good by the majority of the readers, and how far the readers agree.

    A row of the file has a source, a phrase, and the verdict of each reader, `good` or `bad`. The source `now` has phrases
    of this program, `before` those of the version before words had roles, and `offset 2` those of this program from other
    documents. The drawn phrases are those of the source `drawn_from`.
    """
    with open(verdicts, encoding="utf-8", newline="") as file:
        rows = [(row[0], row[1], [verdict == "good" for verdict in row[2:] if verdict]) for row in csv.reader(file)][1:]
    judged = [(source, phrase, verdicts) for source, phrase, verdicts in rows if verdicts]
    for source in sorted({source for source, _, _ in judged}):
        own = [verdicts for found, _, verdicts in judged if found == source]
        good = sum(2 * sum(verdicts) > len(verdicts) for verdicts in own)
        print(f"{source}: {good} of {len(own)} are phrases")
    several = [set(verdicts) for _, _, verdicts in judged if len(verdicts) > 1]
    if several:
        print(f"all readers agree on {sum(len(own) == 1 for own in several)} of {len(several)}")
    known = {phrase for source, phrase, _ in judged if source == drawn_from}
    for phrase in draw(phrases):
        if phrase not in known:
            print(f"without a verdict: {phrase}")


def main() -> None:
    """Run the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("gold")
    parser.add_argument(
        "--index", help="an index of the collection that stores text; by default one is built and deleted"
    )
    parser.add_argument("--support", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--verdicts", type=Path, default=Path(__file__).parent / "verdicts/phrases_verdicts.csv")
    parser.add_argument("--offset", type=int, help="read every fifth document, from this place on")
    parser.add_argument("--source", default="now", help="the source of the verdicts on the drawn phrases")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = options.collection
        if options.offset is not None:
            source = str(Path(folder) / "part.jsonl")
            with (
                lzma.open(options.collection, "rt", encoding="utf-8") as lines,
                open(source, "w", encoding="utf-8") as part,
            ):
                part.writelines(itertools.islice(lines, options.offset, None, EVERY))
        index = sublex.open(options.index) if options.index else sublex.build(source, Path(folder) / "index")
        text, mined = measured(index, options.support, options.workers)
        gold = gold_nodes(index, options.gold, text, mined)
        several = mined.ngrams.lengths > 1
        inner = several & (mined.table[:, [NAMES.index("first_stop"), NAMES.index("last_stop")]] == 0).all(axis=1)
        print(
            f"AUC {auc(mined, gold, several):.3f} of {len(gold):,} gold phrases against others of like frequency, and"
        )
        print(f"    {auc(mined, gold, inner):.3f} against those that neither begin nor end with a stop word")
        single = gold_nodes(index, options.gold, text, mined, several=False)
        print(
            f"    {auc(mined, single, ~several):.3f} of {len(single):,} single gold words, against other words of like frequency"
        )
        phrases = phrase_list_of(text, mined)
        count = int((phrases.lengths > 1).sum())
        merged = sum(map(bool, phrases.abbreviations))
        print(
            f"{count:,} phrases of several words, {len(phrases) - count:,} single words; {merged:,} with another name"
        )
        judge(phrases, options.verdicts, options.source)


if __name__ == "__main__":
    main()
