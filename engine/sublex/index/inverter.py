"""Inversion: counts the terms of batches of documents in memory and writes them as the postings of a segment.

Raw tokens and terms get numbers in the order of their first appearance. `number` must see the batches in order, in one thread.
`count_terms` may run in any thread. `write` sorts the terms and turns documents with terms into terms with documents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.analysis.tokens import RawTokens, terms_of
from sublex.analysis.words import split_terms
from sublex.base import Analyzer
from sublex.index.components.document_terms import DocumentTermsWriter
from sublex.index.components.lengths import LengthsWriter
from sublex.index.components.lexicon import LexiconWriter
from sublex.index.components.postings import PostingsWriter
from sublex.index.format import FolderWriter
from sublex.workers import Workers

# Bytes of memory that one distinct raw token needs besides its characters: Python strings and entries of tables.
TOKEN_BYTES = 200
# Groups of batches that are inverted in parallel. Each needs memory for two counters a term.
GROUPS = 16


class TokenTerms(NamedTuple):
    """The term numbers of the raw tokens seen so far: raw token n has `numbers[ends[n - 1]:ends[n]]`.

    `terms` is the number of distinct terms. The arrays are never changed; later batches make new ones.
    """

    ends: np.ndarray
    numbers: np.ndarray
    terms: int


class BatchCounts(NamedTuple):
    """The term counts of a batch: terms with frequencies, document after document.

    `ends` is where each document ends in `terms` and `tfs`; `lengths` counts repetitions. `token_counts` has the number of
    occurrences of each distinct raw token of the batch.
    """

    terms: np.ndarray
    tfs: np.ndarray
    ends: np.ndarray
    lengths: np.ndarray
    token_counts: np.ndarray


def count_terms(tokens: RawTokens, keep: np.ndarray, numbers: np.ndarray, token_terms: TokenTerms) -> BatchCounts:
    """Count the terms of the documents that the mask `keep` selects. Any thread may call this.

    `numbers` are the numbers of the batch's raw tokens; `token_terms` must cover them.
    """
    from sublex.index import kernels

    last_places = np.zeros(token_terms.terms, np.int32)
    ends, flat = token_terms.ends, token_terms.numbers
    return BatchCounts(*kernels.count_terms(tokens.numbers, tokens.ends, keep, numbers, ends, flat, last_places))


class _Group(NamedTuple):
    """Batches that follow one another. `first` is the number of their first document, `docs` how many they hold."""

    first: int
    docs: int
    batches: list[BatchCounts]


class _GroupPostings(NamedTuple):
    """For each term, in sorted order, where the postings of one group begin and end."""

    group: _Group
    begins: np.ndarray
    ends: np.ndarray


class Inverter:
    """The inverted index of a segment while it is in memory."""

    def __init__(self, analyzer: Analyzer):
        self.analyzer = analyzer
        self.token_terms = TokenTerms(np.empty(0, np.int64), np.empty(0, np.int32), 0)
        self.batches: list[BatchCounts] = []
        self.docs = 0
        self._raw_tokens = Interner()
        self._token_counts = np.zeros(1 << 12, np.int64)
        self._term_numbers: dict[str, int] = {}
        self._batch_bytes = 0

    @property
    def nbytes(self) -> int:
        """An upper bound for the memory needed to write: inversion copies the counts, and the vocabulary is sorted."""
        return 2 * self._batch_bytes + self._raw_tokens.nbytes + TOKEN_BYTES * self._raw_tokens.size

    def number(self, text: np.ndarray, tokens: RawTokens) -> np.ndarray:
        """Return the numbers of a batch's distinct raw tokens. The analyzer gets each new raw token once."""
        known = self._raw_tokens.size
        numbers = self._raw_tokens.add_described(text, tokens.starts, tokens.keys, tokens.hashes)
        if self._raw_tokens.size > known:
            new_tokens = self._raw_tokens.lines(known)[:-1].decode().split("\n")
            self._number_terms(terms_of(self.analyzer, new_tokens))
        return numbers

    def _number_terms(self, token_terms: list[str]) -> None:
        """Number the terms of new raw tokens; each string holds the terms of one token, one a line."""
        ids = self._term_numbers
        new = [ids.setdefault(term, len(ids)) for term in split_terms("\n".join(filter(None, token_terms)))]
        counts = np.fromiter(
            (terms.count("\n") + 1 if terms else 0 for terms in token_terms), np.int64, len(token_terms)
        )
        ends, numbers, _ = self.token_terms
        first = int(ends[-1]) if len(ends) else 0
        self.token_terms = TokenTerms(
            np.concatenate([ends, first + np.cumsum(counts)]),
            np.concatenate([numbers, np.array(new, np.int32)]),
            len(ids),
        )

    def add(self, counts: BatchCounts, numbers: np.ndarray) -> None:
        """Add the counts of a batch. Batches must come in the order of their documents."""
        if self._raw_tokens.size > len(self._token_counts):
            more = np.zeros(max(self._raw_tokens.size, len(self._token_counts)), np.int64)
            self._token_counts = np.concatenate([self._token_counts, more])
        self._token_counts[numbers] += counts.token_counts
        counts = counts._replace(token_counts=np.empty(0, np.int64))
        self.batches.append(counts)
        self.docs += len(counts.ends)
        self._batch_bytes += sum(array.nbytes for array in counts)

    def write(self, folder: FolderWriter, workers: Workers, document_terms: bool, spill: bool) -> dict[str, int]:
        """Write lexicon, postings, lengths and, if wanted, document terms. Return the segment's totals.

        A spill also gets all raw forms.
        """
        groups = _groups(self.batches)
        frequencies = list(workers.map(self._frequencies, groups))
        total = np.sum(frequencies, axis=0) if frequencies else np.zeros((2, len(self._term_numbers)), np.int64)
        terms, numbers = self._sorted_terms(total[0] > 0)
        ranks = np.zeros(len(self._term_numbers), np.int32)
        ranks[numbers] = np.arange(len(terms))
        df, cf = total[:, numbers]
        with workers.in_background(lambda: self._write_lexicon(folder, terms, ranks, df, cf, spill)):
            docs, tfs, places = self._invert(
                groups, ranks, df, [group_df[numbers] for group_df, _ in frequencies], workers
            )
            postings = PostingsWriter(folder)
            postings.encode_and_add(docs, tfs, df, workers)
            postings.finish()
            lengths = LengthsWriter(folder)
            for batch in self.batches:
                lengths.add(batch.lengths, np.diff(batch.ends, prepend=0))
            lengths.finish()
            if document_terms:
                _write_document_terms(folder, docs, tfs, places, workers)
        return {"docs": self.docs, "tokens": lengths.tokens, "terms": len(terms), "postings": len(docs)}

    def _frequencies(self, group: _Group) -> np.ndarray:
        """Return, for all terms by their numbers, document and collection frequencies within a group: two rows."""
        from sublex.index import kernels

        counts = np.zeros((2, len(self._term_numbers)), np.int64)
        for batch in group.batches:
            kernels.add_frequencies(batch.terms, batch.tfs, counts[0], counts[1])
        return counts

    def _sorted_terms(self, used: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Return the used terms in ascending order, and their numbers.

        A term of a document that was left out as a duplicate may be unused.
        """
        terms = sorted(term for term, number in self._term_numbers.items() if used[number])
        return terms, np.fromiter(map(self._term_numbers.__getitem__, terms), np.int64, len(terms))

    def _invert(
        self, groups: list[_Group], ranks: np.ndarray, df: np.ndarray, group_df: list[np.ndarray], workers: Workers
    ) -> tuple[np.ndarray, np.ndarray, list[_GroupPostings]]:
        """Return documents and frequencies in order of terms, then of documents, and where each group's postings are.

        `ranks` takes the number of a term to its position in sorted order; `df` and `group_df` are in sorted order.
        """
        from sublex.index import kernels

        docs, tfs = np.empty(int(df.sum()), np.int32), np.empty(int(df.sum()), np.int32)
        begins = np.cumsum(df) - df
        places = []
        for group, counts in zip(groups, group_df, strict=True):
            places.append(_GroupPostings(group, begins, begins + counts))
            begins = begins + counts

        def scatter(place: _GroupPostings) -> None:
            cursors, first = place.begins.copy(), place.group.first
            for batch in place.group.batches:
                kernels.scatter(batch.terms, batch.tfs, batch.ends, first, ranks, cursors, docs, tfs)
                first += len(batch.ends)

        # Each group writes to ranges of its own, so the threads do not disturb one another.
        list(workers.map(scatter, places))
        return docs, tfs, places

    def _write_lexicon(
        self, folder: FolderWriter, terms: list[str], ranks: np.ndarray, df: np.ndarray, cf: np.ndarray, spill: bool
    ) -> None:
        """Write the terms, their frequencies and their surfaces, and for a spill all raw forms."""
        encoded = [term.encode() for term in terms]
        counts = self._token_counts[: self._raw_tokens.size]
        ends, flat, _ = self.token_terms
        # A raw token that the analyzer cuts into several terms is the raw form of none of them.
        tokens = np.flatnonzero((np.diff(ends, prepend=0) == 1) & (counts > 0))
        token_ranks, counts = ranks[flat[ends[tokens] - 1]], counts[tokens]
        order = np.lexsort((-counts, token_ranks))
        token_ranks, counts = token_ranks[order], counts[order]
        strings = self._raw_tokens.lines().split(b"\n")
        forms = [strings[token] for token in tokens[order].tolist()]
        writer = LexiconWriter(folder)
        writer.add(encoded, _most_frequent(forms, counts, token_ranks, len(terms)), df, cf)
        if spill:
            writer.put_raw_forms(forms, counts, token_ranks)
        writer.finish()


def _most_frequent(forms: list[bytes], counts: np.ndarray, ranks: np.ndarray, terms: int) -> list[bytes]:
    """Return the most frequent raw form of each term; of equally frequent ones, the smallest.

    The forms are sorted by the ranks of their terms, then by falling counts. A term without a raw form gets an empty one.
    """
    surfaces = [b""] * terms
    is_first = np.diff(ranks, prepend=-1) > 0
    for k in np.flatnonzero(is_first).tolist():
        surfaces[ranks[k]] = forms[k]
    first = np.maximum.accumulate(np.where(is_first, np.arange(len(counts)), 0))
    for k in np.flatnonzero(~is_first & (counts == counts[first])).tolist():
        surfaces[ranks[k]] = min(surfaces[ranks[k]], forms[k])
    return surfaces


def _groups(batches: list[BatchCounts]) -> list[_Group]:
    """Put batches that follow one another into groups. Their number changes the speed and not the result."""
    groups, first = [], 0
    step = -(-len(batches) // GROUPS) or 1
    for begin in range(0, len(batches), step):
        members = batches[begin : begin + step]
        docs = sum(len(batch.ends) for batch in members)
        groups.append(_Group(first, docs, members))
        first += docs
    return groups


def _write_document_terms(
    folder: FolderWriter, docs: np.ndarray, tfs: np.ndarray, places: list[_GroupPostings], workers: Workers
) -> None:
    """Turn the postings, which are sorted by terms, back into documents, and write each document's terms in order."""

    from sublex.index import kernels

    def encode(place: _GroupPostings) -> tuple[np.ndarray, np.ndarray]:
        group = place.group
        uniques = np.concatenate([np.diff(batch.ends, prepend=0) for batch in group.batches])
        return kernels.document_lists(docs, tfs, place.begins, place.ends, group.first, uniques)

    writer = DocumentTermsWriter(folder)
    for data, sizes in workers.map(encode, places):
        writer.add(data, sizes)
    writer.finish()
