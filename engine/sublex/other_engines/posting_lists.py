"""Write a stream of posting lists, sort the lists by their terms, and compute the terms of each document from them.

Each step keeps only a limited number of postings in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from sublex.contracts.foreign import PostingsBatch
from sublex.errors import InputError
from sublex.index.components.document_terms import write_document_lists
from sublex.index.components.fields import FieldReader, stored_fields
from sublex.index.components.inverted_lists import EncodedLists, ListsWriter, encode_lists
from sublex.index.components.lexicon import LexiconReader, LexiconWriter
from sublex.index.components.positions import PositionsReader
from sublex.index.components.postings import PostingsReader
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import ComponentFolder, FolderWriter
from sublex.index.offsets import POSTINGS_PER_CALL, spans, starts_of
from sublex.tools.strings import end_to_end
from sublex.tools.workers import Workers

# The number of postings that one pass over all posting lists turns into document terms. Each takes eight bytes of
# memory.
POSTINGS_PER_PASS = 1 << 25
# A message cuts a term or docno to this number of characters.
LONGEST = 60


class ListTotals(NamedTuple):
    """The numbers of terms, of postings, and of tokens, which is the sum of all frequencies."""

    terms: int
    postings: int
    tokens: int


def write_lists(
    folder: FolderWriter, batches: Iterable[PostingsBatch], lists: ListsWriter, workers: Workers
) -> ListTotals:
    """Write the lexicon of a segment in the order of the batches, and its postings by `lists`.

    Return the totals. The written form of each term is the term itself. Batches have the frequencies in the stored
    fields only.
    """

    def encode(batch: PostingsBatch) -> tuple[PostingsBatch, np.ndarray, EncodedLists]:
        first = np.cumsum(batch.df) - batch.df
        cf = np.add.reduceat(batch.tfs, first, dtype=np.int64) if len(batch.df) else np.empty(0, np.int64)
        return batch, cf, encode_lists(batch.docs, batch.tfs, batch.df, cf, batch.positions, batch.field_tfs)

    lexicon = LexiconWriter(folder)
    terms = total = tokens = 0
    for batch, cf, encoded in workers.map(encode, batches):
        lists.add(encoded)
        # A surface that is equal to its term is stored as empty.
        lexicon.add(end_to_end(batch.terms), end_to_end([b""] * len(batch.terms)), batch.df, cf)
        terms, total, tokens = terms + len(batch.terms), total + len(batch.docs), tokens + int(cf.sum())
    return ListTotals(terms, total, tokens)


class WrittenLists:
    """Reads the lexicon, the postings and any positions of a folder. `entry` is the result of `FolderWriter.finish`."""

    def __init__(self, directory: Directory, entry: FolderEntry, docs: int, terms: int, fields: int):
        folder = ComponentFolder(directory, entry)
        self.lexicon = LexiconReader(folder, terms, docs)
        self.postings = PostingsReader(folder, self.lexicon, docs)
        self.positions = PositionsReader(folder, self.lexicon) if "positions" in folder else None
        self.fields = [FieldReader(folder, self.lexicon, field) for field in stored_fields(fields)]

    def gather(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, Sequence[np.ndarray]]:
        """Return the posting lists of the terms `terms`, end to end.

        These are four values: the documents, the frequencies, the positions or None, and the frequencies in each stored
        field.
        """
        docs, tfs = self.postings.gather(terms)
        fields = [reader.gather(terms, tfs) for reader in self.fields]
        return docs, tfs, self.positions.gather(terms, tfs) if self.positions else None, fields


def sorted_lists(lists: WrittenLists, name: str) -> Iterator[PostingsBatch]:
    """Yield posting lists in ascending order of their terms.

    Raise `InputError` if a term occurs twice. Its message begins with `name`, the name of the source.
    """
    terms = lists.lexicon.terms.list()
    order = np.array(sorted(range(len(terms)), key=terms.__getitem__), np.int64)
    df = lists.lexicon.df[order].astype(np.int64)
    last: bytes | None = None
    for begin, end in spans(df, POSTINGS_PER_CALL):
        ordinals = order[begin:end]
        batch = [terms[ordinal] for ordinal in ordinals.tolist()]
        for term in batch:
            if term == last:
                raise repeated(name, term)
            last = term
        yield PostingsBatch(batch, df[begin:end], *lists.gather(ordinals))


def repeated(name: str, term: bytes) -> InputError:
    """Return the error for a term with two posting lists."""
    return InputError(f"{name} has two posting lists for the term {quoted(term)}; terms must differ.")


def quoted(data: bytes) -> str:
    """Return a term or docno for a message: in quotes, with escapes, and cut if it is long."""
    text = data.decode(errors="backslashreplace")
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def write_document_terms(folder: FolderWriter, lists: WrittenLists, uniques: np.ndarray, workers: Workers) -> None:
    """Write the terms of each document.

    Document d has `uniques[d]` terms. Several passes over all posting lists are made. Each collects the terms of a
    range of documents that fits into memory.
    """
    from sublex.index import posting_kernels
    from sublex.other_engines import postings_kernels

    def decode(span: tuple[int, int]) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        return span[0], lists.lexicon.df[slice(*span)].astype(np.int64), *lists.postings.range(*span)

    def encoded(begin: int, end: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        counts = uniques[begin:end]
        starts = starts_of(counts)
        terms, tfs = np.empty(int(starts[-1]), np.int32), np.empty(int(starts[-1]), np.int32)
        cursors = starts[:-1].copy()
        for first, df, docs, frequencies in workers.map(decode, spans(lists.lexicon.df, POSTINGS_PER_CALL)):
            postings_kernels.collect_terms(docs, frequencies, df, first, begin, cursors, starts[1:], terms, tfs)

        def encode(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            first, last = starts[span[0]], starts[span[1]]
            return posting_kernels.encode_lists(
                terms[first:last], tfs[first:last], np.ascontiguousarray(counts[slice(*span)])
            )

        return workers.map(encode, spans(counts, POSTINGS_PER_CALL))

    passes = spans(uniques, POSTINGS_PER_PASS)
    write_document_lists(folder, chain.from_iterable(encoded(*documents) for documents in passes))
