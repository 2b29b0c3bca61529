"""Search some shards of a cluster with statistics that are given: those of the whole cluster, and of each term in it.

Nothing here has an item for each document or term of other shards. The coordinator sends the statistics of the terms that
a query needs, and they are remembered as long as the generation of the cluster is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sublex.contracts.base import Ranker, Statistics, TermStats
from sublex.errors import IndexProblem
from sublex.index import derived
from sublex.index.components.docnos import byte_order
from sublex.index.manifest import identity_of, read_manifest
from sublex.index.segment import Segment, open_segment
from sublex.index.shards import expect_shard
from sublex.language import plugins, profiles
from sublex.language.parser import parse_call
from sublex.retrieval import impact_store
from sublex.retrieval.impacts import Impacts
from sublex.retrieval.scratch import Scratch
from sublex.retrieval.searcher import best_keys, some_queries
from sublex.retrieval.shard_messages import AskedTerms
from sublex.retrieval.shares import TURNS, Ask, best_of_parts
from sublex.tools.strings import Strings

# The largest number of terms whose ordinals are remembered for a segment.
REMEMBERED = 1 << 20


class ShardSegment:
    """A segment of a shard, with the statistics of terms that were given so far. Those of other terms are NaN."""

    def __init__(self, segment: Segment):
        self.segment = segment
        self.stats = TermStats(np.full(len(segment.terms), np.nan), np.full(len(segment.terms), np.nan))
        self._ordinal_of: dict[str, int] = {}

    def ordinals(self, asked: AskedTerms) -> np.ndarray:
        """Return the ordinal of each term, -1 for one that no live document has. Keep the statistics of the terms."""
        known = self._ordinal_of
        if len(known) > REMEMBERED:
            known = self._ordinal_of = {}
        fresh = [term for term in asked.terms if term not in known]
        for term, ordinal in zip(fresh, self.segment.find_all(fresh), strict=True):
            known[term] = ordinal if ordinal >= 0 and self.segment.live_df[ordinal] else -1
        found = np.array([known[term] for term in asked.terms], np.int64)
        there = found >= 0
        self.stats.df[found[there]], self.stats.cf[found[there]] = asked.df[there], asked.cf[there]
        return found


class ShardSearch:
    """Some shards of one generation of a cluster, opened to search them.

    Documents are numbered from 0 within these shards, in their order.
    """

    def __init__(self, root: Path, names: Sequence[str]):
        manifest = read_manifest(root)
        self.path, self.generation, self.identity = root, manifest.generation, identity_of(manifest)
        self.fingerprint, self.statistics = manifest.fingerprint, manifest.statistics
        shards = {shard.name: shard for shard in manifest.shards}
        for name in names:
            if name not in shards:
                raise IndexProblem(f"{root} has no shard {name} in its generation {manifest.generation:,}.")
            expect_shard(root, manifest, shards[name])
        entries = [entry for entry in manifest.segments if entry.shard in names]
        self.segments = [ShardSegment(open_segment(root, entry, manifest.fields)) for entry in entries]
        self.bases = np.cumsum([0, *(own.segment.docs for own in self.segments)])
        arenas, sizes = zip(*(own.segment.docnos.arrays() for own in self.segments), strict=True)
        docnos = Strings.joined(np.concatenate(arenas), np.concatenate(sizes))
        self.docs_by_docno = byte_order(docnos.arena, docnos.sizes).astype(np.int32)
        ranks = np.zeros(len(self.docs_by_docno), np.int32)
        ranks[self.docs_by_docno] = np.arange(len(ranks), dtype=np.int32)
        self._ranks = [ranks[base:end] for base, end in zip(self.bases, self.bases[1:], strict=False)]
        self._registry, self._scratch = plugins.load(), Scratch()
        self._impacts: dict[str, list[Impacts]] = {}

    def _impacts_of(self, name: str) -> list[Impacts]:
        """Return the impacts of a ranker in each segment, from disk if the cluster stores them."""
        if name not in self._impacts:
            component = self._registry.resolve("ranker", parse_call(name), profiles.profile("sublex").defaults)
            ranker: Ranker = component.make()
            code = self._registry.version(component.registration)
            # The folder's name has the fingerprint of the cluster, so impacts by other statistics are never read.
            here: Any = self
            impacts = []
            for own in self.segments:
                places = (
                    impact_store.documents_folder(here, own.segment),
                    impact_store.impacts_folder(here, name, code) / own.segment.name,
                )
                folders = [derived.read(place) for place in places]
                stored = (folders[0], folders[1]) if folders[0] and folders[1] else None
                impacts.append(Impacts(own.segment, ranker, own.stats, Statistics(*self.statistics), stored))
            self._impacts[name] = impacts
        return self._impacts[name]

    def _queries(self, own: ShardSegment, asked: AskedTerms) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the queries for a segment: the place where each ends, ordinals of terms, and weights."""
        ordinals = own.ordinals(asked)[asked.numbers]
        there = ordinals >= 0
        return np.concatenate(([0], np.cumsum(there)))[asked.ends], ordinals[there], asked.weights[there]

    def search(self, ranker: str, k: int, asked: AskedTerms) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Return the numbers of hits, the documents and the scores of all queries, and the largest absolute impact."""
        from sublex.retrieval import key_kernels

        k = max(1, min(k, int(self.bases[-1])))
        impacts = self._impacts_of(ranker)
        queries = [self._queries(own, asked) for own in self.segments]
        for own, (_, terms, _) in zip(impacts, queries, strict=True):
            own.settle(terms)

        def best(place: int, own_k: int, places: np.ndarray | None, thresholds: np.ndarray) -> np.ndarray:
            own, (ends, terms, weights) = impacts[place], queries[place]
            if places is not None:
                ends, terms, weights = some_queries(places, ends, terms, weights)
            kth = own.bounds.best(own_k)
            return best_keys(own, self._ranks[place], ends, terms, weights, thresholds, own_k, self._scratch, kth)

        def answer(asks: Sequence[Ask]) -> list[np.ndarray]:
            given = [asked.thresholds if ask.places is None else asked.thresholds[ask.places] for ask in asks]
            return [
                best(ask.part, ask.k, ask.places, np.maximum(ask.thresholds, own))
                for ask, own in zip(asks, given, strict=True)
            ]

        if k < TURNS:
            # The kernel takes the thresholds from one segment to the next.
            thresholds = asked.thresholds.copy()
            keys = np.concatenate([best(place, k, None, thresholds) for place in range(len(impacts))], axis=1)
            keys.sort(axis=1)
        else:
            found = best_of_parts(answer, np.diff(self.bases).tolist(), k, len(asked.ends))
            assert found is not None
            keys, _ = found
        largest = max(own.largest for own in impacts)
        shape = len(asked.ends), k
        docs, scores, counts = np.empty(shape, np.int32), np.empty(shape, np.float32), np.empty(shape[0], np.int64)
        key_kernels.unpack(keys, self.docs_by_docno, docs, scores, counts)
        filled = np.arange(k) < counts[:, None]
        return counts, docs[filled], scores[filled], float(largest)
