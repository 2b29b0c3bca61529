"""Write tests/golden/effectiveness.txt: AP and nDCG@10 of every ranker on the demo collection, computed by tests/naive.py.

    python benchmarks/golden_effectiveness.py

Formulas, statistics and the ranking come from the reference implementations. Of Sublex only the analyzer and the readers are used.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

import ir_measures
from ir_measures import AP, nDCG

import sublex
from sublex.analysis.tokens import analyze
from sublex.contracts.base import Report
from sublex.language import plugins
from sublex.readers.jsonl import JsonLines
from sublex.readers.source import FileSource

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import naive  # noqa: E402


def main() -> None:
    """Rank the demo collection with every reference formula and write the golden file."""
    demo = ROOT / "queries" / "demo"
    analyzer = plugins.load().make("analyzer", "english")
    bags = {
        document.docno: Counter(analyze(analyzer, document.contents))
        for document in JsonLines().read(FileSource(str(demo / "documents.jsonl")), Report())
    }
    df: Counter[str] = Counter(term for bag in bags.values() for term in bag)
    cf: Counter[str] = sum(bags.values(), Counter())
    tokens, postings = sum(cf.values()), sum(df.values())
    judged = sublex.read_qrels(demo / "qrels.txt")
    qrels = {qid: dict(judged[qid]) for qid in judged}
    lines = ["# ranker, AP, nDCG@10 on queries/demo by tests/naive.py; written by benchmarks/golden_effectiveness.py"]
    for name, formula in sorted(naive.RANKERS.items()):
        run: dict[str, dict[str, float]] = {}
        for topic in sublex.read_topics(demo / "topics.trec"):
            found: dict[str, float] = defaultdict(float)
            for term, qtf in Counter(analyze(analyzer, topic.text)).items():
                for docno, bag in bags.items():
                    if term in bag:
                        facts = (bag[term], bag.total(), len(bag), df[term], cf[term], len(bags), tokens, postings)
                        found[docno] += qtf * formula(naive.Facts(*map(float, facts)))
            assert all(map(math.isfinite, found.values()))
            ranked = naive.trec_eval_order(found)[:1000]
            run[topic.qid] = {docno: float(len(ranked) - place) for place, (docno, _) in enumerate(ranked)}
        values = ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)
        lines.append(f"{name} {values[AP]:.4f} {values[nDCG @ 10]:.4f}")
    (ROOT / "tests" / "golden" / "effectiveness.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
