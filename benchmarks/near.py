"""Compare the lists of near documents that clusters find with the exact ones: their recall, and the time of both.

    python benchmarks/near.py arxiv-cs.jsonl [--documents 100000] [--work FOLDER] [--sample 1000] [--fitted]

The vectors are those of `lsi(e=200, weighting=logtfidf)`. Times are processor times of one thread. With --work, the index and its
model stay in FOLDER, as for pipeline_costs.py, and the next call uses them again. Exact lists are made for a sample of the documents.
With --fitted, the lists are those of the graph that the index has, which is fitted if it is missing, and their time is not measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from blends import records
from threadpoolctl import threadpool_limits

import sublex
from sublex.language.pipelines import LSI, NEAR
from sublex.representations.clusters import Clusters
from sublex.representations.neighbours import STORED, NeighbourLists, UnitVectors, likely_nearest, nearest
from sublex.representations.sketch import VectorSource

# Each list has the document itself, which is left out, and 23 others.
COUNTS = (10, 23)


def recall(own: np.ndarray, found: np.ndarray, exact: np.ndarray, count: int) -> float:
    """Return the share of the first documents of exact lists that are among as many first ones of the lists found.

    `own` has the documents whose lists these are; they do not count.
    """
    shares = []
    for document, *both in zip(own.tolist(), found.tolist(), exact.tolist(), strict=True):
        some, wanted = ({*[other for other in each if other != document][:count]} for each in both)
        shares.append(len(some & wanted) / count)
    return float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=1000, help="the number of documents whose exact lists are made")
    parser.add_argument("--fitted", action="store_true", help="measure the lists of the fitted graph")
    parser.add_argument("--work", type=Path, help="keep the index and its model in this folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = (given.work or Path(temporary)) / "index"
        place.parent.mkdir(parents=True, exist_ok=True)
        source = records(given.collection, given.documents)
        index = sublex.open(place) if place.exists() else sublex.build(source, place, store="text,terms")
        for model in (LSI, NEAR) if given.fitted else (LSI,):
            if not index.is_fitted(model):
                index.fit(model)
        graph = index.fitted_model(NEAR) if given.fitted else None
        if graph and len(index.snapshot.segments) > 1:
            raise SystemExit(f"{place} has several segments; merge them, or leave out --fitted.")
        over = index.representation(LSI)
        vectors = [UnitVectors.of(VectorSource(over.model, over.inputs, s, LSI)) for s in index.snapshot.segments]
        whole = max(vectors, key=lambda each: len(each.units))
    with threadpool_limits(1):
        chosen = np.flatnonzero(whole.units.any(axis=1))
        chosen = chosen[:: max(1, len(chosen) // given.sample)]
        begin = time.process_time()
        exact = NeighbourLists.stacked(list(nearest(whole.units[chosen], whole))).docs
        seconds = (time.process_time() - begin) / len(chosen) * len(whole.units)
        print(
            f"{len(whole.units):,} documents; exact {seconds:.0f} s, reckoned from {len(chosen):,} of them", flush=True
        )
        begin = time.process_time()
        if graph:
            found = graph.neighbours(chosen, STORED)[0]
        else:
            lists = NeighbourLists.empty(len(whole.units))
            for rows, own in likely_nearest(whole.units, whole, Clusters.of(whole.units)):
                lists.docs[rows], lists.cosines[rows] = own
            found = lists.docs[chosen]
        shares = ", ".join(f"{recall(chosen, found, exact, count):.3f} of the first {count}" for count in COUNTS)
        took = "the fitted graph" if graph else f"by clusters {time.process_time() - begin:.0f} s"
        print(f"{took}; found: {shares}")


if __name__ == "__main__":
    main()
