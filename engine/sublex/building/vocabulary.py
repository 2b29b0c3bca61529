"""The vocabulary of a segment that is being built: raw tokens, their terms, and the number of occurrences of each.

Raw tokens and terms get numbers in the order of their first appearance. `number` must see the batches in order, in one
thread. Other threads work with a `TokenTerms`, which never changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.analysis.interner import Interner, Numbered, longer
from sublex.analysis.tokens import RawTokens, terms_of
from sublex.contracts.base import Analyzer
from sublex.index.components.lexicon import LexiconWriter
from sublex.index.format import FolderWriter

# The bytes of memory that each distinct raw token takes while the lexicon is written, in addition to the tables.
TOKEN_BYTES = 64
NEWLINE = 10


class TokenTerms(NamedTuple):
    """The terms of the raw tokens seen so far: raw token n has the terms `numbers[ends[n - 1]:ends[n]]`.

    `terms` has the distinct terms. Later batches do not change the values: they write beyond the ends of these arrays,
    or make new arrays.
    """

    ends: np.ndarray
    numbers: np.ndarray
    terms: Numbered


class TokenVocabulary:
    """Numbers raw tokens and terms. `size` is the number of distinct terms."""

    def __init__(self, analyzer: Analyzer):
        self._analyzer = analyzer
        self._raw_tokens, self._terms = Interner(), Interner()
        self._counts = np.zeros(1 << 12, np.int64)
        self._ends, self._numbers = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.int32)
        self._used = 0

    @property
    def size(self) -> int:
        return self._terms.size

    @property
    def nbytes(self) -> int:
        """An upper bound of the memory, in bytes, that is needed to hold the vocabulary and to write it."""
        arrays = self._counts.nbytes + self._ends.nbytes + self._numbers.nbytes
        return self._raw_tokens.nbytes + self._terms.nbytes + arrays + TOKEN_BYTES * self._raw_tokens.size

    def number(self, text: np.ndarray, tokens: RawTokens) -> np.ndarray:
        """Return the numbers of a batch's distinct raw tokens. The analyzer gets each new raw token once."""
        known = self._raw_tokens.size
        numbers = self._raw_tokens.add_described(text, tokens.starts, tokens.keys, tokens.hashes)
        if self._raw_tokens.size > known:
            new_tokens = self._raw_tokens.lines(known)[:-1].decode().split("\n")
            self._add_terms(known, terms_of(self._analyzer, new_tokens))
        return numbers

    def _add_terms(self, first: int, joined: list[str]) -> None:
        """Number the terms of new raw tokens.

        The first new raw token has the number `first`. Each string in `joined` has the terms of one raw token, one on
        each line.
        """
        lines = "\n".join(joined)
        data = np.frombuffer(lines.encode() + b"\n", np.uint8)
        parts = joined if lines.isascii() else [terms.encode() for terms in joined]
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        ends = np.flatnonzero(data == NEWLINE)
        # The number of lines of each raw token. A raw token without terms has one line, which is empty.
        lines_of = np.diff(np.searchsorted(ends, np.cumsum(sizes + 1) - 1) + 1, prepend=0)
        starts = np.concatenate([[0], ends[:-1] + 1])
        kept = np.repeat(sizes > 0, lines_of)
        numbers = self._terms.add(data, starts[kept], (ends - starts)[kept])
        if first + len(joined) > len(self._ends):
            self._ends = longer(self._ends, first + len(joined))
        if self._used + len(numbers) > len(self._numbers):
            self._numbers = longer(self._numbers, self._used + len(numbers))
        self._ends[first : first + len(joined)] = self._used + np.cumsum(np.where(sizes > 0, lines_of, 0))
        self._numbers[self._used : self._used + len(numbers)] = numbers
        self._used += len(numbers)

    def token_terms(self) -> TokenTerms:
        """Return the terms of all raw tokens that have a number."""
        return TokenTerms(self._ends, self._numbers, self._terms.numbered())

    def count(self, numbers: np.ndarray, counts: np.ndarray) -> None:
        """Add `counts[k]` occurrences to the raw token with the number `numbers[k]`, for each k."""
        if self._raw_tokens.size > len(self._counts):
            more = np.zeros(max(self._raw_tokens.size, len(self._counts)), np.int64)
            self._counts = np.concatenate([self._counts, more])
        self._counts[numbers] += counts

    def ascending(self, numbers: np.ndarray) -> np.ndarray:
        """Return `numbers`, the numbers of distinct terms, sorted by the bytes of the terms."""
        return self._terms.numbered().ascending(numbers)

    def ranks(self, numbers: np.ndarray) -> np.ndarray:
        """Return for each term of the vocabulary its place in `numbers`; -1 for a term that is not there."""
        ranks = np.full(self.size, -1, np.int32)
        ranks[numbers] = np.arange(len(numbers))
        return ranks

    def write(self, folder: FolderWriter, numbers: np.ndarray, df: np.ndarray, cf: np.ndarray, spill: bool) -> None:
        """Write the lexicon: terms with their frequencies and surfaces.

        `numbers` has the numbers of the terms, in ascending order of the terms' bytes. `df` and `cf` have their
        frequencies. With `spill`, write all raw forms of the terms too.
        """
        from sublex.building import inversion_kernels

        size, terms, raws = self._raw_tokens.size, self._terms.numbered(), self._raw_tokens.numbered()
        ends, ranks = self._ends[:size], self.ranks(numbers)
        # A raw token that the analyzer cuts into several terms is not a raw form of any of these terms.
        forms = np.flatnonzero((np.diff(ends, prepend=0) == 1) & (self._counts[:size] > 0))
        form_ranks, counts = ranks[self._numbers[ends[forms] - 1]], self._counts[forms]
        chosen = np.full(len(numbers), -1, np.int64)
        inversion_kernels.choose_surfaces(
            forms, form_ranks, counts, raws.ends, raws.arena, numbers, terms.ends, terms.arena, chosen
        )
        writer = LexiconWriter(folder)
        writer.add(terms.copies(numbers), raws.copies(chosen), df, cf)
        if spill:
            order = np.lexsort((-counts, form_ranks))
            writer.put_raw_forms(raws.copies(forms[order]), counts[order], form_ranks[order])
