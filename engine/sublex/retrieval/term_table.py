"""The term table: gives each term of a snapshot one number for all segments, and holds the statistics of the terms.

In a snapshot with one segment, a term's number is its ordinal in the segment. With several segments, the number is the
term's position in the corpus vocabulary. The numbers of operators follow those of the words.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from threading import Lock

import numpy as np

from sublex.contracts.base import TermStats, TermVector
from sublex.contracts.operators import Operator
from sublex.errors import InputError
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.retrieval.operators import OperatorCache, OperatorTable

# The largest number of terms whose numbers are cached. When there are more, the cache is emptied.
REMEMBERED = 1 << 20
_NONE = np.empty(0, np.int32)


class TermTable:
    """The numbers of terms, their statistics over all segments, and their ordinals in each segment.

    A term is a word or an operator. The number of an operator is valid only together with the cache that `find` returns
    with it.
    """

    def __init__(self, snapshot: Snapshot):
        self._snapshot = snapshot
        self._number_of: dict[str, int] = {}
        self._name_of: dict[int, str] = {}
        self._operators: OperatorTable | None = None
        self._lock = Lock()

    def numbers(self, terms: Collection[str]) -> list[int]:
        """Return the number of each term, -1 for a term that no live document contains."""
        found = self.find(terms)
        assert found is not None
        return found[0]

    def find(self, terms: Collection[str], alone: bool = True) -> tuple[list[int], OperatorCache | None] | None:
        """Return the number of each term, as `numbers` does, and a cache with the operators among the terms.

        The cache is None if there are no operators. `alone` says that the terms belong to a single query. If it is
        false, return None in place of the pair when the operators have too many postings to be kept together.
        """
        known = self._number_of
        try:
            return [known[term] for term in terms], None
        except KeyError:
            pass
        operators = [term for term in terms if isinstance(term, Operator)]
        if not operators:
            return self._numbers_of_words(terms), None
        found = self.operators.find(operators, alone)
        if found is None:
            return None
        of_words = iter(self._numbers_of_words([term for term in terms if not isinstance(term, Operator)]))
        of_operators = found.number_of
        return [of_operators[term] if isinstance(term, Operator) else next(of_words) for term in terms], found

    def _numbers_of_words(self, words: Collection[str]) -> list[int]:
        """Return the number of each word, -1 for a word that no live document contains."""
        known = self._number_of
        if len(known) > REMEMBERED:
            # The dictionary is replaced and not cleared, because another thread may be reading it.
            known = self._number_of = {}
        fresh = [word for word in dict.fromkeys(words) if word not in known]
        known.update(zip(fresh, self._find(fresh), strict=True))
        return [known[word] for word in words]

    @property
    def operators(self) -> OperatorTable:
        """The operators of the snapshot."""
        # The lock makes sure that there is one table: a second table would give the same numbers to other operators.
        with self._lock:
            if self._operators is None:
                self._operators = OperatorTable(self._snapshot, self.words, self._numbers_of_words, self.ordinals)
            return self._operators

    @cached_property
    def words(self) -> int:
        """The number of words; the numbers of operators begin here."""
        segments = self._snapshot.segments
        return len(segments[0].terms) if len(segments) == 1 else len(self._snapshot.corpus.vocabulary)

    def _find(self, terms: list[str]) -> list[int]:
        if len(self._snapshot.segments) == 1:
            return [n if n >= 0 and self.stats.df[n] else -1 for n in self._snapshot.segments[0].find_all(terms)]
        return [self._snapshot.corpus.numbers.get(term, -1) for term in terms]

    def names(self, numbers: np.ndarray, operators: Sequence[OperatorCache] = ()) -> list[str]:
        """Return the terms with these numbers.

        `operators` has the caches that gave numbers to the operators among them.
        """
        known = self._name_of
        if len(known) > REMEMBERED:
            known = self._name_of = {}
        for number in numbers.tolist():
            if number not in known and number < self.words:
                known[number] = self._snapshot.word(number)
        return [known[n] if n < self.words else _holder(n, operators).operator(n) for n in numbers.tolist()]

    def vectors(self, docs: np.ndarray) -> list[TermVector]:
        """Return for each document the numbers of its terms, ascending, and the frequencies of these terms.

        The documents of a segment are read in one call.
        """
        self._snapshot.need("terms", "are what feedback looks at")
        segments, places = self._snapshot.places(docs)
        found = [TermVector(_NONE, _NONE)] * len(docs)
        for k in np.unique(segments).tolist():
            inside = np.flatnonzero(segments == k)
            counts, terms, tfs = self._snapshot.segments[k].terms_of(places[inside])
            if len(self._snapshot.segments) > 1:
                terms = self._snapshot.corpus.ranks[k][terms]
            ends = np.cumsum(counts).tolist()
            for place, begin, end in zip(inside.tolist(), [0, *ends], ends, strict=False):
                found[place] = TermVector(terms[begin:end], tfs[begin:end])
        return found

    @cached_property
    def stats(self) -> TermStats:
        """The document and collection frequencies of all words in live documents, as float64 arrays."""
        segments = self._snapshot.segments
        if len(segments) == 1:
            return TermStats(segments[0].live_df.astype(np.float64), segments[0].live_cf.astype(np.float64))
        size = len(self._snapshot.corpus.vocabulary)
        df, cf = np.zeros(size), np.zeros(size)
        for segment, numbers in zip(segments, self._snapshot.corpus.ranks, strict=True):
            df += np.bincount(numbers, segment.live_df, size)[:size]
            cf += np.bincount(numbers, segment.live_cf, size)[:size]
        return TermStats(df, cf)

    def stats_of(self, numbers: np.ndarray, operators: Sequence[OperatorCache] = ()) -> TermStats:
        """Return the document and collection frequencies of terms, given by their numbers.

        `operators` has the caches that gave numbers to the operators among them.
        """
        inside = numbers < self.words
        if inside.all():
            return TermStats(self.stats.df[numbers], self.stats.cf[numbers])
        df, cf = np.empty(len(numbers)), np.empty(len(numbers))
        df[inside], cf[inside] = self.stats.df[numbers[inside]], self.stats.cf[numbers[inside]]
        for x in np.flatnonzero(~inside).tolist():
            df[x], cf[x] = _holder(int(numbers[x]), operators).stats(numbers[x])
        return TermStats(df, cf)

    def postings(self, term: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the live documents of segment k that contain a term, ascending, and the term's frequency in each.

        Raise IndexProblem for an operator that reads positions if the index does not store them.
        """
        segment = self._snapshot.segments[k]
        if isinstance(term, Operator):
            known = self.operators.find([term])
            assert known is not None
            number = known.number_of[term]
            return known.postings(np.array([number] if number >= 0 else [], np.int64), k)[:2]
        ordinal = segment.find(term)
        docs, tfs = segment.gather(np.array([] if ordinal is None else [ordinal], np.int64))
        live = ~segment.dead[docs]
        return docs[live], tfs[live]

    def frequencies(self, term: str, docs: np.ndarray) -> np.ndarray:
        """Return the frequency of a term in each of `docs` (int32); 0 for a document without the term."""
        found = np.zeros(len(docs), np.int32)
        for k, (begin, end) in enumerate(zip(self._snapshot.bases, self._snapshot.bases[1:], strict=False)):
            inside = np.flatnonzero((docs >= begin) & (docs < end))
            own_docs, tfs = self.postings(term, k) if len(inside) else (docs[:0], docs[:0])
            if len(own_docs):
                places = np.minimum(np.searchsorted(own_docs, docs[inside] - begin), len(own_docs) - 1)
                found[inside] = np.where(own_docs[places] == docs[inside] - begin, tfs[places], 0)
        return found

    def segment(self, k: int) -> Segment:
        """Return segment k of the snapshot."""
        return self._snapshot.segments[k]

    def of_segment(self, k: int) -> TermStats:
        """Return the statistics of the terms that segment k has, in the order of its ordinals.

        Documents and occurrences are counted over all segments, not in segment k alone.
        """
        if len(self._snapshot.segments) == 1:
            return self.stats
        numbers = self._snapshot.corpus.ranks[k]
        if not len(self.stats.df):
            # No live document has a term.
            nothing = np.zeros(len(numbers))
            return TermStats(nothing, nothing)
        return TermStats(self.stats.df[numbers], self.stats.cf[numbers])

    @cached_property
    def df(self) -> memoryview:
        """The document frequencies as a memoryview.

        Single items are read faster from a memoryview than from an array.
        """
        return memoryview(self.stats.df)

    @cached_property
    def ordinals(self) -> list[np.ndarray | None]:
        """For each segment, an array with the ordinals of all terms, -1 for a term that the segment lacks.

        If there is a single segment, the list has None in place of the array, because the number of a term is then its
        ordinal.
        """
        segments = self._snapshot.segments
        if len(segments) == 1:
            return [None]
        arrays: list[np.ndarray | None] = []
        for segment, numbers in zip(segments, self._snapshot.corpus.ranks, strict=True):
            ordinals = np.full(len(self._snapshot.corpus.vocabulary), -1, np.int64)
            live = np.flatnonzero(segment.live_df)
            ordinals[numbers[live]] = live
            arrays.append(ordinals)
        return arrays

    def ordinal(self, k: int, number: int) -> int:
        """Return the ordinal of a term in segment k, or -1 if the segment lacks the term."""
        ordinals = self.ordinals[k]
        return number if ordinals is None else int(ordinals[number])


def _holder(number: int, operators: Sequence[OperatorCache]) -> OperatorCache:
    """Return the cache that gave this number to an operator. Raise InputError if no cache gave it."""
    for own in operators:
        if own.holds(number):
            return own
    raise InputError(f"No term has the number {number}; ask for the numbers of terms first.")
