"""Operators: the postings of query terms that are made of other terms, computed when a query first asks for them.

The postings of recent operators are kept in memory, up to a limit. They are never stored. A part of an operator is a
word or another operator; an operator with operators among its parts is called nested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from sublex.contracts.base import TermStats
from sublex.contracts.operators import GAP, Operator, OperatorKind
from sublex.errors import InputError
from sublex.index.offsets import starts_of
from sublex.index.snapshot import Snapshot
from sublex.retrieval.word_positions import WordPositions

# The largest numbers of operators and of their postings that are kept, and the largest number of postings of the operators
# of one query. The postings of one query may be more than are kept.
KEPT_OPERATORS, KEPT_POSTINGS, POSTINGS_OF_A_QUERY = 1 << 16, 1 << 23, 1 << 28
# The largest number of operators that one call computes, and the number of postings for which the call has room.
OPERATORS_PER_CALL, POSTINGS_PER_CALL = 1 << 10, 1 << 22
# The largest number of positions and intervals that the nested operators of one query may read.
POSITIONS_OF_A_QUERY = 1 << 27
# A function that returns the numbers of words, -1 for a word that no live document holds.
NumbersOf = Callable[[Sequence[str]], list[int]]


class Intervals(NamedTuple):
    """The occurrences of a word or an operator in a segment, as intervals of positions.

    `docs` has the documents, ascending. The intervals of the document at place d have the numbers from starts[d] to
    starts[d + 1] - 1 in `begins` and `ends`. `starts` has one item more than `docs`.
    """

    docs: np.ndarray
    starts: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


class PostingsOfOperators(NamedTuple):
    """The postings of some operators in one segment, one operator after the other.

    `counts` and `totals` have an item for each operator: its number of postings, and its number of occurrences.
    """

    docs: np.ndarray
    tfs: np.ndarray
    counts: np.ndarray
    totals: np.ndarray


class TooManyPositions(Exception):
    """Raised when nested operators read more positions than POSITIONS_OF_A_QUERY."""


class SegmentIntervals:
    """The intervals that nested operators have read in the present segment, by term, and a count of positions.

    Positions are counted over all segments.
    """

    def __init__(self) -> None:
        self.intervals: dict[str, Intervals] = {}
        self._positions = 0

    def count(self, positions: int) -> None:
        """Count positions that the caller is about to read. Raise TooManyPositions if the query would then have read too many."""
        self._positions += positions
        if self._positions > POSITIONS_OF_A_QUERY:
            raise TooManyPositions


class OperatorCache:
    """Operators with their postings.

    Their numbers ascend from `first`; an operator that no live document holds has none. Operators are added, but never
    removed, so other threads may read existing operators while new ones are added.
    """

    def __init__(self, first: int, segments: int, operators: int, postings: int):
        self.first = first
        self.number_of: dict[str, int] = {}
        self.operators: list[Operator] = []
        self.df, self.cf = np.zeros(operators), np.zeros(operators)
        self._begins, self._counts = np.zeros((2, segments, operators), np.int64)
        self._docs, self._tfs = np.empty(postings, np.int32), np.empty(postings, np.int32)
        self._used = 0

    def holds(self, number: int) -> bool:
        """Return whether an operator in this cache has the number `number`."""
        return self.first <= number < self.first + len(self.operators)

    def operator(self, number: int) -> Operator:
        """Return the operator with a number."""
        return self.operators[number - self.first]

    def df_of(self, number: int) -> float:
        """Return the document frequency of the operator with a number."""
        return float(self.df[number - self.first])

    def stats(self, numbers: np.ndarray) -> TermStats:
        """Return the document and collection frequencies of operators, given by their numbers."""
        return TermStats(self.df[numbers - self.first], self.cf[numbers - self.first])

    def count(self, numbers: np.ndarray, k: int) -> int:
        """Return the number of postings of operators in segment k, all together."""
        return int(self._counts[k, numbers - self.first].sum())

    def has_room(self, operators: int, postings: int) -> bool:
        """Return whether there is room for this number of further operators with this number of postings."""
        few = len(self.number_of) + operators <= len(self.df)
        return few and self._used + postings <= len(self._docs)

    def add(self, operators: Sequence[Operator], found: Sequence[PostingsOfOperators]) -> None:
        """Add operators with their postings in each segment. There must be room."""
        total, occurrences = (np.sum([own[column] for own in found], axis=0) for column in (2, 3))
        there = np.flatnonzero(total)
        begin, end = len(self.operators), len(self.operators) + len(there)
        for k, own in enumerate(found):
            at, n = self._used, len(own.docs)
            self._docs[at : at + n], self._tfs[at : at + n] = own.docs, own.tfs
            self._begins[k, begin:end], self._counts[k, begin:end] = (
                at + starts_of(own.counts)[there],
                own.counts[there],
            )
            self._used += n
        self.df[begin:end], self.cf[begin:end] = total[there], occurrences[there]
        chosen = operators if len(there) == len(operators) else [operators[x] for x in there.tolist()]
        self.operators += chosen
        self.number_of.update(zip(chosen, range(self.first + begin, self.first + end), strict=True))
        if len(chosen) < len(operators):
            for operator in operators:
                self.number_of.setdefault(operator, -1)

    def postings(self, numbers: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the postings of operators in segment k: documents, frequencies, and the number of postings of each."""
        own = numbers - self.first
        begins, counts = self._begins[k, own], self._counts[k, own]
        if len(own) and (begins[1:] == begins[:-1] + counts[:-1]).all():
            places: slice | np.ndarray = slice(int(begins[0]), int(begins[-1] + counts[-1]))
        else:
            places = np.repeat(begins - starts_of(counts)[:-1], counts) + np.arange(int(counts.sum()))
        return self._docs[places], self._tfs[places], counts


class OperatorTable:
    """The operators of one snapshot: their numbers, statistics and postings. Several threads may use it at once.

    The numbers begin at `first`, and no number is given twice. `numbers_of` returns the numbers of words. `ordinals` has the
    ordinals of the words in each segment, as in `TermTable`.
    """

    def __init__(self, snapshot: Snapshot, first: int, numbers_of: NumbersOf, ordinals: Sequence[np.ndarray | None]):
        self._snapshot, self._numbers_of, self._ordinals = snapshot, numbers_of, ordinals
        self._lock = Lock()
        share = 1 / len(snapshot.segments)
        self._words = [WordPositions(segment, share) for segment in snapshot.segments]
        self.known = OperatorCache(first, len(snapshot.segments), 0, 0)

    def find(self, operators: Sequence[Operator], alone: bool = True) -> OperatorCache | None:
        """Return a cache that has all of `operators`. Raise IndexProblem if they need positions, but the index has none.

        `alone` says that the operators belong to a single query. Then they may have more postings than are kept, and
        InputError is raised above POSTINGS_OF_A_QUERY. Otherwise, return None if they have too many postings to be kept
        together.
        """
        while True:
            known = self.known
            missing = [operator for operator in dict.fromkeys(operators) if operator not in known.number_of]
            if not missing:
                return known
            found = self._compute(missing, alone)
            if found is None:
                return None
            with self._lock:
                if self.known is not known or any(operator in known.number_of for operator in missing):
                    # Another thread has added some of them, or has replaced the arrays.
                    continue
                if known.has_room(len(missing), _size(found)):
                    known.add(missing, found)
                    return known
            whole = list(dict.fromkeys(operators))
            if len(missing) < len(whole):
                found = self._compute(whole, alone)
            if found is None:
                return None
            with self._lock:
                # If another thread has replaced the arrays meanwhile, the new arrays may already have some of these operators.
                if self.known is known:
                    return self._replace(whole, found)

    def _replace(self, operators: Sequence[Operator], found: Sequence[PostingsOfOperators]) -> OperatorCache:
        """Replace the full cache by a new one that has only these operators, and return the new one."""
        first = self.known.first + len(self.known.operators)
        known = OperatorCache(first, len(found), max(KEPT_OPERATORS, len(operators)), max(KEPT_POSTINGS, _size(found)))
        known.add(operators, found)
        self.known = known
        return known

    # Postings.

    def _compute(self, operators: Sequence[Operator], alone: bool) -> list[PostingsOfOperators] | None:
        """Return the postings of operators in each segment.

        If there are too many, raise InputError if the operators belong to one query (`alone`), and otherwise return
        None.
        """
        reader = next((operator for operator in operators if operator.reads_positions), None)
        if reader and "positions" not in self._snapshot.store:
            # The words of the message are made only here, since making them takes a tenth of the time of a search.
            shown = self._snapshot.corpus.surface(reader)
            self._snapshot.need("positions", f"phrases and windows read, such as {shown}")
        for field in sorted({name for operator in operators for name in operator.fields}):
            self._snapshot.need_field(field)
        if len(operators) > KEPT_OPERATORS and not alone:
            return None
        most, postings, found, reading = POSTINGS_OF_A_QUERY if alone else KEPT_POSTINGS, 0, [], SegmentIntervals()
        for begin in range(0, len(operators), OPERATORS_PER_CALL):
            group = operators[begin : begin + OPERATORS_PER_CALL]
            try:
                found.append([self._of_segment(k, group, reading) for k in range(len(self._words))])
            except TooManyPositions:
                if not alone:
                    return None
                raise InputError(
                    f"The operators of a query that stand within others have more than {POSITIONS_OF_A_QUERY:,} positions; "
                    "ask for rarer words."
                ) from None
            postings += _size(found[-1])
            if postings > most and alone:
                raise InputError(f"The operators of a query, such as phrases, have more than {most:,} postings.")
            if postings > most:
                return None
        return [_joined(own) for own in zip(*found, strict=True)]

    def _of_segment(self, k: int, operators: Sequence[Operator], reading: SegmentIntervals) -> PostingsOfOperators:
        """Return the postings of operators in segment k."""
        reading.intervals.clear()
        flat = [operator for operator in operators if operator.depth == 1 and operator.reads_positions]
        found = self._flat(k, flat) if flat else _joined([])
        if len(flat) == len(operators):
            return found
        bounds = iter(starts_of(found.counts).tolist())
        begin, parts = next(bounds), []
        for operator in operators:
            if operator.depth == 1 and operator.reads_positions:
                end = next(bounds)
                docs, tfs, begin = found.docs[begin:end], found.tfs[begin:end], end
            elif operator.reads_positions:
                docs, tfs = self._nested(k, operator, reading)
            else:
                docs, tfs = self._summed(k, operator)
            parts.append(PostingsOfOperators(docs, tfs, np.array([len(docs)]), np.array([tfs.sum(dtype=np.int64)])))
        return _joined(parts)

    def _ordinals_of(self, k: int, numbers: Sequence[int]) -> np.ndarray:
        """Return the ordinals of words in segment k, given by their numbers; -1 for a word that the segment lacks."""
        own, ordinals = np.array(numbers, np.int64), self._ordinals[k]
        return own if ordinals is None else np.where(own < 0, own, ordinals[own])

    def _flat(self, k: int, operators: Sequence[Operator]) -> PostingsOfOperators:
        """Return the postings in segment k of operators ORDERED and WINDOW whose parts are words and gaps."""
        from sublex.retrieval import operator_kernels as kernels

        segment, words = self._snapshot.segments[k], self._words[k]
        parts = [part for operator in operators for part in operator.parts]
        gaps = [place for place, part in enumerate(parts) if part is GAP]
        if gaps:
            parts = ["" if part is GAP else part for part in parts]
        ordinals = self._ordinals_of(k, self._numbers_of(parts))
        ordinals[gaps] = kernels.GAP
        sizes = np.array([len(operator.parts) for operator in operators])
        begins = starts_of(sizes)
        # An operator has at most the number of postings of its rarest word.
        there = np.flatnonzero(ordinals >= 0)
        df = np.zeros(len(ordinals), np.int64)
        df[there], df[gaps] = segment.df[ordinals[there]], segment.docs
        room = np.minimum.reduceat(df, begins[:-1])
        distinct = _distinct(ordinals[there])
        if len(operators) > 1 and not (words.fits(distinct) and room.sum() <= POSTINGS_PER_CALL):
            half = len(operators) // 2
            return _joined([self._flat(k, operators[:half]), self._flat(k, operators[half:])])
        arrays = words.get(distinct)
        rows = ordinals.copy()
        rows[there] = arrays.rows(ordinals[there])
        kinds = np.array(
            [kernels.WINDOW if operator.kind is OperatorKind.WINDOW else kernels.ORDERED for operator in operators]
        )
        widths = np.array([operator.width for operator in operators])
        docs, tfs = np.empty(int(room.sum()), np.int32), np.empty(int(room.sum()), np.int32)
        counts, totals = np.empty(len(operators), np.int64), np.empty(len(operators), np.int64)
        kernels.occurrences(
            kinds, widths, begins[1:], rows, arrays.entries, arrays.docs, arrays.starts, arrays.positions, arrays.marks, arrays.bits,
            arrays.ranks, segment.dead, docs, tfs, counts, totals,
        )  # fmt: skip
        n = int(counts.sum())
        return PostingsOfOperators(docs[:n], tfs[:n], counts, totals)

    def _summed(self, k: int, operator: Operator) -> tuple[np.ndarray, np.ndarray]:
        """Return the postings in segment k of an operator that reads no positions, by adding up frequencies of words.

        It is FIELD of a word, or SYNONYMS of words and of words in fields.
        """
        segment, wanted = self._snapshot.segments[k], dict.fromkeys(_counted(operator))
        by_field: dict[str, list[str]] = {}
        for field, word in wanted:
            # The occurrences of a word in a field are among the occurrences of the word. They must not count twice.
            if not field or ("", word) not in wanted:
                by_field.setdefault(field, []).append(word)
        found = []
        for field, words in by_field.items():
            ordinals = self._ordinals_of(k, self._numbers_of(words))
            own = ordinals[ordinals >= 0]
            docs, tfs = segment.gather(own)
            found.append((docs, segment.field_tfs(field, own, tfs) if field else tfs))
        docs, tfs = (np.concatenate(column) for column in zip(*found, strict=True))
        live = ~segment.dead[docs] & (tfs > 0)
        order = np.argsort(docs[live], kind="stable")
        docs, tfs = docs[live][order], tfs[live][order]
        firsts = np.flatnonzero(np.diff(docs, prepend=-1))
        sums = np.add.reduceat(tfs.astype(np.int64), firsts) if len(firsts) else np.zeros(0, np.int64)
        return docs[firsts], np.minimum(sums, np.iinfo(np.int32).max).astype(np.int32)

    def _nested(self, k: int, operator: Operator, reading: SegmentIntervals) -> tuple[np.ndarray, np.ndarray]:
        """Return the postings in segment k of an operator with operators among its parts."""
        from sublex.retrieval import operator_kernels as kernels

        intervals = self._intervals(k, operator, reading)
        docs, tfs = np.empty(len(intervals.docs), np.int32), np.empty(len(intervals.docs), np.int32)
        n = kernels.count(*intervals, self._snapshot.segments[k].dead, docs, tfs)
        return docs[:n], tfs[:n]

    def _intervals(self, k: int, part: str, reading: SegmentIntervals) -> Intervals:
        """Return the intervals of a word or an operator in segment k, deleted documents included."""
        found = reading.intervals.get(part)
        if found is None:
            found = (
                self._combined(k, part, reading) if isinstance(part, Operator) else self._positions(k, part, reading)
            )
            reading.intervals[part] = found
        return found

    def _combined(self, k: int, operator: Operator, reading: SegmentIntervals) -> Intervals:
        """Return the intervals of an operator in segment k, computed from the intervals of its parts."""
        from sublex.retrieval import operator_kernels as kernels

        if operator.kind is OperatorKind.FIELD:
            inside = self._intervals(k, operator.parts[0], reading)
            return _within(inside, *self._snapshot.segments[k].field_places(operator.field))
        kind = {
            OperatorKind.ORDERED: kernels.ORDERED,
            OperatorKind.WINDOW: kernels.WINDOW,
            OperatorKind.SYNONYMS: kernels.SYNONYMS,
        }[operator.kind]
        nearest, farthest, parts, needed, gaps = [], [], [*operator.parts], [], 0
        if kind == kernels.WINDOW and operator.depth == 1:
            # The kernel counts equal words together.
            counts = Counter(parts)
            kind, parts, needed = kernels.WORDS, [*counts], [*counts.values()]
        inner = []
        for own in parts:
            if own is GAP:
                gaps += 1
                continue
            inner.append(self._intervals(k, own, reading))
            nearest.append(gaps + 1)
            farthest.append((gaps + 1) * operator.width)
            gaps = 0
        sizes = [len(own.begins) for own in inner]
        reading.count(sum(sizes))
        docs = np.concatenate([own.docs for own in inner])
        starts = [own.starts[:-1] + base for own, base in zip(inner, starts_of(np.array(sizes)).tolist(), strict=False)]
        room = sum(sizes)
        docs_out, starts_out = np.empty(len(docs), np.int32), np.empty(len(docs) + 1, np.int64)
        begins, ends = np.empty(room, np.int32), np.empty(room, np.int32)
        n = kernels.combine(
            kind, operator.width, np.array(nearest), np.array(farthest), np.array(needed, np.int64),
            np.cumsum([len(own.docs) for own in inner]), docs, np.concatenate([*starts, [room]]),
            np.concatenate([own.begins for own in inner]), np.concatenate([own.ends for own in inner]), docs_out,
            starts_out, begins, ends,
        )  # fmt: skip
        found = int(starts_out[n])
        return Intervals(docs_out[:n].copy(), starts_out[: n + 1].copy(), begins[:found].copy(), ends[:found].copy())

    def _positions(self, k: int, word: str, reading: SegmentIntervals) -> Intervals:
        """Return the positions of a word in segment k as intervals."""
        segment = self._snapshot.segments[k]
        ordinals = self._ordinals_of(k, self._numbers_of([word]))
        own = ordinals[ordinals >= 0]
        reading.count(int(segment.cf[own].sum()))
        docs, tfs = segment.gather(own)
        positions = segment.gather_positions(own, tfs)
        return Intervals(docs, starts_of(tfs), positions, positions)


def _counted(operator: Operator) -> Iterator[tuple[str, str]]:
    """Yield (field, word) for each word of an operator that reads no positions. The field is "" for a word in any field."""
    for part in operator.parts:
        if isinstance(part, Operator):
            yield from _counted(part)
        else:
            yield operator.field, part


def _within(intervals: Intervals, begins: np.ndarray, ends: np.ndarray) -> Intervals:
    """Return the intervals that lie within a field. In document d, the field has the positions begins[d] to ends[d] - 1."""
    docs = np.repeat(intervals.docs, np.diff(intervals.starts))
    kept = (intervals.begins >= begins[docs]) & (intervals.ends < ends[docs])
    before = starts_of(kept)
    counts = np.diff(before[intervals.starts])
    there = counts > 0
    return Intervals(
        intervals.docs[there], starts_of(counts[there]), intervals.begins[kept], intervals.ends[kept]
    )  # fmt: skip


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """Return the distinct numbers, ascending."""
    # np.unique would load NumPy's masked arrays first, which takes 20 ms.
    found = np.sort(numbers)
    return found[np.diff(found, prepend=-1) > 0]


def _joined(found: Sequence[PostingsOfOperators]) -> PostingsOfOperators:
    """Return the postings of several groups of operators as one group."""
    if len(found) == 1:
        return found[0]
    none = PostingsOfOperators(*(np.zeros(0, kind) for kind in (np.int32, np.int32, np.int64, np.int64)))
    return PostingsOfOperators(*map(np.concatenate, zip(none, *found, strict=True)))


def _size(found: Sequence[PostingsOfOperators]) -> int:
    """Return the number of postings in all segments."""
    return sum(len(own.docs) for own in found)
