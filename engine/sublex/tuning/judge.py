"""Measure many rankings of the same topics by one measure.

The scores are those of `sublex.evaluation`. Some measures depend only on the ranks of judged documents. For these,
tuning is faster: this module does not look up the docnos of documents without a judgement, and cuts rankings after the
last judged document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.evaluation.measures import is_count, parse_measures
from sublex.evaluation.run_evaluation import GROUP, evaluate
from sublex.pipeline.index import Index
from sublex.retrieval.hits import Hits

# Measures of trec_eval that depend only on the ranks of judged documents.
BY_RANK = frozenset({"AP", "nDCG", "P", "R", "RR", "Rprec", "Bpref", "Success", "IPrec"})


class Judge:
    """Measures the hits of the judged topics `qids` by one measure.

    The values are the same as for a run with at most `k` hits per topic.

    `depth` is the number of hits per topic that the measure needs, at most `k`.
    """

    def __init__(self, index: Index, qrels: Mapping[str, Mapping[str, int]], qids: Sequence[str], measure: str, k: int):
        import ir_measures

        measures = parse_measures([str(measure)])
        if len(measures) > 1:
            raise InputError(f"{measure} stands for {len(measures)} measures; tune by one, such as AP.")
        self.measure, self._docnos = measures[0], index.snapshot.all_docnos
        if is_count(self.measure):
            raise InputError(
                f"{self.measure} is a count, and a higher count is not better; tune by a measure such as AP."
            )
        self.qrels = {qid: dict(qrels[qid]) for qid in qids}
        self._by_rank = self.measure.NAME in BY_RANK and ir_measures.pytrec_eval.supports(self.measure)
        self._cutoff = k if self.measure.params.get("judged_only") else min(k, self.measure.params.get("cutoff", k))
        self.depth = self._cutoff if self._by_rank else k
        docs = ({index.doc(docno): docno for docno in judged} for judged in self.qrels.values())
        # For each topic, the judged documents in the index, with their docnos.
        self._judged = [{doc: docno for doc, docno in topic.items() if doc is not None} for topic in docs]
        # Scratch space: marks the judged documents of the topic being measured.
        self._marked = np.zeros(len(self._docnos), np.bool_)
        # Made-up docnos for documents without a judgement, one per rank. No docno of a judged document begins like
        # these.
        names = {docno for judged in self.qrels.values() for docno in judged}
        free = next(mark for n in count(1) for mark in ["?" * n] if not any(name.startswith(mark) for name in names))
        places = range(min(self.depth, len(self._docnos)))
        self._placeholders = [f"{free}{place}" for place in places]
        self._descending = [-float(place) for place in places]

    def scores(self, hits: Sequence[Hits]) -> np.ndarray:
        """Return the measure of each topic. `hits` has the hits of the topics in the order of `qids`."""
        values = []
        topics = list(enumerate(self.qrels))
        for begin in range(0, len(topics), GROUP):
            run = {qid: self._ranking(topic, hits[topic]) for topic, qid in topics[begin : begin + GROUP]}
            values.append(evaluate(self.qrels, run, [self.measure], topics=run)[str(self.measure)])
        return np.concatenate(values)

    def _ranking(self, topic: int, hits: Hits) -> dict[str, Any]:
        """Return a dictionary from docno to score. Its measure has the same value as that of the hits."""
        if not self._by_rank:
            # The measure may order ties in another way. So keep all hits with the same score as the last hit within the
            # cutoff.
            within = hits.scores >= hits.scores[: self._cutoff].min(initial=np.inf)
            return dict(zip(self._docnos.take(hits.docs[within]).tolist(), hits.scores[within].tolist(), strict=True))
        judged = self._judged[topic]
        docs = np.fromiter(judged, np.int64, len(judged))
        self._marked[docs] = True
        places = np.flatnonzero(self._marked[hits.docs])
        self._marked[docs] = False
        if not len(places):
            return {}
        ranking = self._placeholders[: places[-1] + 1]
        for place, doc in zip(places.tolist(), hits.docs[places].tolist(), strict=True):
            ranking[place] = judged[doc]
        return dict(zip(ranking, self._descending, strict=False))
