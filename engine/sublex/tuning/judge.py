"""Measuring ranking after ranking by the same judgements and one measure, each topic on its own.

What is measured is what `evaluate` says of the run; where a measure sees no more than the ranks of judged documents, it is given no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.evaluation import measures as known
from sublex.evaluation.evaluation import GROUP, evaluate
from sublex.pipeline.index import Index
from sublex.retrieval.hits import Hits

# Of trec_eval's measures those that documents without a judgement touch by their places alone.
BY_RANK = frozenset({"AP", "nDCG", "P", "R", "RR", "Rprec", "Bpref", "Success", "IPrec"})


class Judge:
    """Measures the hits of the judged topics `qids`, given in this order; `depth` is how many of the first `k` it looks at."""

    def __init__(
        self,
        index: Index,
        qrels: Mapping[str, Mapping[str, int]],
        qids: Sequence[str],
        measure: str,
        k: int,
    ):
        import ir_measures

        found = known.parse([str(measure)])
        if len(found) > 1:
            raise InputError(f"{measure} stands for {len(found)} measures; tune by one, such as AP.")
        self.measure, self._docnos = found[0], index.snapshot.all_docnos
        if known.is_count(self.measure):
            raise InputError(f"{self.measure} counts, and more of it is not better; tune by a measure such as AP.")
        self.qrels = {qid: dict(qrels[qid]) for qid in qids}
        self._by_rank = self.measure.NAME in BY_RANK and ir_measures.pytrec_eval.supports(self.measure)
        self._cutoff = k if self.measure.params.get("judged_only") else min(k, self.measure.params.get("cutoff", k))
        self.depth = self._cutoff if self._by_rank else k
        docs = ({index.doc(docno): docno for docno in judged} for judged in self.qrels.values())
        self._judged = [{doc: docno for doc, docno in of.items() if doc is not None} for of in docs]
        self._mark = np.zeros(len(self._docnos), np.bool_)
        names = {docno for judged in self.qrels.values() for docno in judged}
        free = next(mark for n in count(1) for mark in ["?" * n] if not any(name.startswith(mark) for name in names))
        places = range(min(self.depth, len(self._docnos)))
        self._others = [f"{free}{place}" for place in places]
        self._scores = [-float(place) for place in places]

    def scores(self, found: Sequence[Hits]) -> np.ndarray:
        """The measure of each topic's hits."""
        values = []
        names = list(self.qrels)
        for begin in range(0, len(names), GROUP):
            places = range(begin, min(begin + GROUP, len(names)))
            run = {names[place]: self._ranking(place, found[place]) for place in places}
            values.append(evaluate(self.qrels, run, [self.measure], topics=run)[str(self.measure)])
        return np.concatenate(values)

    def _ranking(self, topic: int, hits: Hits) -> dict[str, Any]:
        """The hits as far as the measure sees them."""
        if not self._by_rank:
            # Who orders equal scores otherwise must have all of them.
            seen = hits.scores >= hits.scores[: self._cutoff].min(initial=np.inf)
            return dict(zip(self._docnos.take(hits.docs[seen]).tolist(), hits.scores[seen].tolist(), strict=True))
        judged = self._judged[topic]
        own = np.fromiter(judged, np.int64, len(judged))
        self._mark[own] = True
        places = np.flatnonzero(self._mark[hits.docs])
        self._mark[own] = False
        if not len(places):
            return {}
        ranking = self._others[: places[-1] + 1]
        for place, doc in zip(places.tolist(), hits.docs[places].tolist(), strict=True):
            ranking[place] = judged[doc]
        return dict(zip(ranking, self._scores, strict=False))
