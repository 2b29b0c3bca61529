"""The launcher `processes`: processes that search the shards of a cluster, and the merge of what they find.

Each process answers for a range of shards. It gets the terms of queries with their weights, and the statistics of these
terms in the whole cluster, so its scores are those of one index. It is asked for its share of the best k documents and a
margin, and again only if its last hit could still matter. The merge is exact: equal scores are ordered by docno.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from subprocess import Popen
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

import numpy as np

from sublex.contracts.base import LARGEST_SCORE
from sublex.errors import IndexProblem, InputError
from sublex.index.shards import segments_of
from sublex.index.snapshot import Snapshot
from sublex.retrieval.searcher import some_queries
from sublex.retrieval.shard_messages import (
    REPLY_TYPES,
    ArrayHead,
    BadMessage,
    Gone,
    Reply,
    Request,
    checked_reply,
    receive,
    send,
)
from sublex.retrieval.shares import LOWEST, TURNS, Ask, best_in_turns, best_of_parts
from sublex.tools.child_processes import end_child, start_child

if TYPE_CHECKING:
    from sublex.retrieval.searcher import Searcher

# The seconds that a process may take for an answer.
PATIENCE = 600.0
Start = Callable[[], "Popen[bytes]"]


def start_process() -> Popen[bytes]:
    """Start the process of `sublex.retrieval.shard_process`."""
    return start_child("sublex.retrieval.shard_process", "main")


class _Queries(NamedTuple):
    """Queries as a request has them: see `Request`."""

    names: tuple[str, ...]
    df: np.ndarray
    cf: np.ndarray
    ends: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray
    thresholds: np.ndarray

    def some(self, places: np.ndarray, thresholds: np.ndarray) -> _Queries:
        """Return the queries at some places, with thresholds."""
        ends, numbers, weights = some_queries(places, self.ends, self.numbers, self.weights)
        return self._replace(ends=ends, numbers=numbers, weights=weights, thresholds=thresholds)


class _ShardProcess:
    """A process, and the shards for which it answers."""

    def __init__(self, names: tuple[str, ...], start: Start):
        self.names, self._start = names, start
        self.child: Popen[bytes] | None = None

    @property
    def what(self) -> str:
        """The names of the shards, for a message."""
        return f"shard {self.names[0]}" if len(self.names) == 1 else f"shards {self.names[0]} to {self.names[-1]}"

    def send(self, request: Request, arrays: dict[str, np.ndarray], patience: float) -> None:
        """Send a request, to a new process if there is none."""
        if self.child is None or self.child.poll() is not None:
            self.end()
            self.child = self._start()
        assert self.child.stdin
        send(self.child.stdin.fileno(), request, arrays, patience)

    def receive(self, request: Request, docs: int, patience: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Return the checked answer. Raise `Gone`, `BadMessage` or `IndexProblem`."""
        assert self.child and self.child.stdout
        reply, arrays = receive(self.child.stdout.fileno(), Reply, REPLY_TYPES, patience)
        if reply.error:
            raise IndexProblem(reply.error)
        return checked_reply(reply, arrays, request, docs)

    def end(self) -> None:
        """End the process."""
        if self.child:
            end_child(self.child)
        self.child = None


class ShardPool:
    """The processes of the shards of a cluster. Several threads may use a pool; their requests take turns.

    With `partial`, the hits of shards that do not answer are left out, and `lost` has the names of all shards for which this
    ever happened. Otherwise such a shard is an error. `start` starts a process, and `patience` is in seconds.
    """

    def __init__(
        self, snapshot: Snapshot, processes: int | None = None, partial: bool = False, start: Start = start_process,
        patience: float = PATIENCE,
    ):  # fmt: skip
        names = [shard.name for shard in snapshot.manifest.shards]
        if not names:
            raise InputError(
                f"{snapshot.path} is an index and not a cluster, so it has no shards to search in processes."
            )
        number = min(processes or os.cpu_count() or 1, len(names))
        ends = [len(names) * (k + 1) // number for k in range(number)]
        self._parts = [
            _ShardProcess(tuple(names[begin:end]), start) for begin, end in zip([0, *ends], ends, strict=False)
        ]
        self.partial, self._patience = partial, patience
        self.lost: set[str] = set()
        # The numbers of requests to processes, and of queries for which a process was asked again.
        self.requests = self.asked_again = 0
        self._lock = Lock()
        self._end = finalize(self, _end_all, self._parts)

    def close(self) -> None:
        """End all processes. They are started again if they are needed."""
        with self._lock:
            _end_all(self._parts)

    @property
    def process_ids(self) -> list[int]:
        """The ids of the processes that run."""
        return [part.child.pid for part in self._parts if part.child and part.child.poll() is None]

    def keys(
        self, searcher: Searcher, ends: np.ndarray, terms: np.ndarray, weights: np.ndarray, k: int, total: float
    ) -> np.ndarray | None:
        """Return a row for each query: the keys of its best k documents in all shards, unsorted, then zeros.

        `terms` has the numbers of the terms of all queries, `ends` the place where each query ends, and `total` the sum of
        the absolute `weights`. Return None if a score may be too large for float32; the caller then searches by itself, and
        finds the query.
        """
        snapshot, table = searcher.snapshot, searcher.term_table
        distinct, numbers = np.unique(terms, return_inverse=True)
        stats = table.stats_of(distinct)
        lowest = np.full(len(ends), LOWEST)
        names = tuple(table.names(distinct))
        queries = _Queries(names, stats.df, stats.cf, ends, numbers.astype(np.int64), weights, lowest)
        with self._lock:
            try:
                return self._merged(searcher.name, snapshot, queries, k, total)
            except IndexProblem:
                # All replies were read.
                raise
            except BaseException:
                # Replies may be on their way, and nobody reads them.
                _end_all(self._parts)
                raise

    def _merged(self, ranker: str, snapshot: Snapshot, queries: _Queries, k: int, total: float) -> np.ndarray | None:
        sizes = self._sizes(snapshot)

        def answer(asks: Sequence[Ask]) -> list[np.ndarray] | None:
            wanted = [
                (
                    self._parts[ask.part],
                    queries if ask.places is None else queries.some(ask.places, ask.thresholds),
                    ask.k,
                )
                for ask in asks
            ]
            keys, largest = self._ask(ranker, snapshot, wanted, [sizes[ask.part] for ask in asks])
            return keys if largest * total <= LARGEST_SCORE else None

        if k < TURNS and len(queries.ends) >= len(sizes):
            return best_in_turns(answer, len(sizes), k, len(queries.ends))
        best = best_of_parts(answer, sizes, k, len(queries.ends))
        if best is None:
            return None
        self.asked_again += best[1]
        return best[0]

    def _sizes(self, snapshot: Snapshot) -> list[int]:
        """Return the number of documents of each process, deleted ones included."""
        known = [name for part in self._parts for name in part.names]
        if known != [shard.name for shard in snapshot.manifest.shards]:
            raise IndexProblem(f"{snapshot.path} has other shards than when its processes were started; open it again.")
        return [
            sum(entry.docs for name in part.names for entry in segments_of(snapshot.manifest, name))
            for part in self._parts
        ]

    def _ask(
        self,
        ranker: str,
        snapshot: Snapshot,
        wanted: Sequence[tuple[_ShardProcess, _Queries, int]],
        sizes: Sequence[int],
    ) -> tuple[list[np.ndarray], float]:
        """Ask processes for the best documents of queries. Return the keys by process, and the largest impact."""
        asked = [(part, *self._request(part, ranker, snapshot, queries, k)) for part, queries, k in wanted]
        unsent: list[Exception | None] = []
        for part, request, arrays in asked:
            try:
                part.send(request, arrays, self._patience)
                unsent.append(None)
            except (Gone, OSError) as error:
                unsent.append(error)
        keys, most = [], 0.0
        failures: list[str] = []
        for (part, request, arrays), (_, queries, k), docs, problem in zip(asked, wanted, sizes, unsent, strict=True):
            found = self._answer(part, request, arrays, docs, problem)
            if isinstance(found, str):
                failures.append(f"The process of {part.what} of {snapshot.path} {found}.")
                self.lost.update(part.names if self.partial else ())
                keys.append(np.zeros((len(queries.ends), k), np.uint64))
                continue
            own_counts, own_docs, scores, largest = found
            base = _base(snapshot, part)
            keys.append(_rows(own_counts, own_docs + np.int32(base), scores, k, snapshot))
            most = max(most, largest)
        if failures and not self.partial:
            raise IndexProblem(failures[0])
        return keys, most

    def _answer(
        self, part: _ShardProcess, request: Request, arrays: dict[str, np.ndarray], docs: int, problem: Exception | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float] | str:
        """Return the answer of a process; if there is none, what the process did, as the end of a sentence.

        If the process ended, a new one is asked once.
        """
        failed = ""
        for attempt in range(2):
            try:
                if attempt or problem:
                    part.end()
                    part.send(request, arrays, self._patience)
                    problem = None
                return part.receive(request, docs, self._patience)
            except (Gone, OSError) as error:
                failed, problem = f"does not answer ({error})", None
            except BadMessage as error:
                failed = f"gave an answer that cannot be right: {error}"
                break
            except IndexProblem as error:
                failed = f"gave no answer: {error}"
                break
        part.end()
        return failed

    def _request(
        self, part: _ShardProcess, ranker: str, snapshot: Snapshot, queries: _Queries, k: int
    ) -> tuple[Request, dict[str, np.ndarray]]:
        self.requests += 1
        arrays: dict[str, Any] = {name: getattr(queries, name) for name in _Queries._fields[1:]}
        heads = tuple(ArrayHead(str(array.dtype), array.size) for array in arrays.values())
        request = Request(
            self.requests, str(snapshot.absolute_path), snapshot.generation, snapshot.identity, part.names, ranker, k,
            *snapshot.statistics, list(queries.names), heads,
        )  # fmt: skip
        return request, arrays


def _end_all(parts: Sequence[_ShardProcess]) -> None:
    for part in parts:
        part.end()


def _base(snapshot: Snapshot, part: _ShardProcess) -> int:
    """Return the number of the first document of a process in the whole cluster."""
    first = next(k for k, entry in enumerate(snapshot.manifest.segments) if entry.shard == part.names[0])
    return int(snapshot.bases[first])


def _rows(counts: np.ndarray, docs: np.ndarray, scores: np.ndarray, k: int, snapshot: Snapshot) -> np.ndarray:
    """Return a row of k keys for each query: the keys of its hits, then zeros. `key_kernels` describes keys."""
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)
    bits = np.where(bits < 0, ~bits & 0x7FFFFFFF, bits | 0x80000000)
    keys = (bits.astype(np.uint64) << np.uint64(32)) | snapshot.docno_ranks[docs].astype(np.uint64)
    rows = np.zeros((len(counts), max(1, k)), np.uint64)
    rows[np.arange(rows.shape[1]) < counts[:, None]] = keys
    return rows
