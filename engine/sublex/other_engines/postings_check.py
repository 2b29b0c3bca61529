"""Check the postings and documents that a `PostingsSource` yields. Each error is one sentence that names the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sublex.analysis.interner import Interner
from sublex.building.build_summary import BuildSummary
from sublex.contracts.base import Report
from sublex.contracts.fields import TEXT, content_fields, field_names
from sublex.contracts.foreign import DocumentsBatch, PostingsBatch, PostingsSource
from sublex.errors import InputError
from sublex.index.components.fields import LAST_END
from sublex.index.entries import MOST, MOST_DOCS
from sublex.other_engines.posting_lists import quoted, repeated
from sublex.tools.strings import NUL_FAULT, Strings, end_to_end

_SPACE = re.compile(r"\s")
# The end of the messages about a source that contradicts itself.
CAUSE = "the source is damaged, or the program that wrote it has a fault"


def brings_positions(source: PostingsSource) -> bool:
    """Return whether the batches of a source must have positions."""
    return bool(getattr(source, "has_positions", False))


def fields_of(source: PostingsSource) -> tuple[str, ...]:
    """Check and return the names of the fields of a source. There may be none."""
    return field_names(getattr(source, "fields", ()))


class ReceivedPostings:
    """The posting lists of a source. Each is checked when it is received, and its postings are counted by document.

    After the last batch, `uniques` has the number of terms of each document, and `sums` the sum of the frequencies of
    these terms. `ascends` says whether the terms came in ascending order. `report` has notes about lists that were left
    out. `has_positions` says whether every batch must have positions; otherwise no batch may. `fields` has the named
    fields of the source. `contents` has the content fields of its index, which are none if the source has no fields.
    `field_sums` has the lengths of the stored fields.
    """

    def __init__(self, source: PostingsSource):
        self.source, self.docs = source, source.docs
        self.name: str = getattr(source, "name", "The source of postings")
        self.has_positions = brings_positions(source)
        self.fields = fields_of(source)
        self.contents = content_fields(self.fields) if self.fields else ()
        self.report = Report()
        self.ascends = True
        if not 0 < self.docs <= MOST_DOCS:
            raise InputError(f"{self.name} has {self.docs:,} documents; an index has from 1 to {MOST_DOCS:,}.")
        try:
            self.uniques, self.sums = np.zeros(self.docs, np.int64), np.zeros(self.docs, np.int64)
            self.field_sums = [np.zeros(self.docs, np.int64) for name in self.contents if name != TEXT]
        except MemoryError:
            raise InputError(f"{self.name} claims {self.docs:,} documents, which do not fit into memory.") from None
        self._last: bytes | None = None

    def batches(self, progress: Callable[[int], None]) -> Iterator[PostingsBatch]:
        """Check and yield the posting lists. Lists of the empty term, and lists without postings, are left out.

        `field_tfs` of the lists has the fields that an index stores.
        """
        terms = 0
        for batch in self.source.postings():
            terms += len(batch.terms)
            checked = self._checked(batch)
            if checked.terms:
                yield checked
            progress(terms)

    def _checked(self, batch: PostingsBatch) -> PostingsBatch:
        from sublex.other_engines import postings_kernels

        terms = list(batch.terms)
        df = _whole(batch.df, np.int64, self.name)
        docs, tfs = _whole(batch.docs, np.int32, self.name), _whole(batch.tfs, np.int32, self.name)
        if len(df) != len(terms) or len(docs) != len(tfs) or (df < 0).any() or int(df.sum()) != len(docs):
            raise InputError(f"{self.name} has posting lists whose sizes do not fit each other; {CAUSE}.")
        checked = self._without_empty(
            PostingsBatch(terms, df, docs, tfs, self._positions(batch, tfs), self._field_tfs(batch, tfs))
        )
        self._check_terms(checked.terms)
        lists = checked.docs, checked.tfs, checked.df
        bad = postings_kernels.check_postings(*lists, self.docs, self.uniques, self.sums)
        if bad >= 0:
            raise self._bad_posting(checked, bad)
        if checked.positions is not None:
            bad = postings_kernels.check_positions(checked.positions, checked.tfs)
            if bad >= 0:
                raise self._bad_positions(checked, bad)
            if self.fields and (checked.positions == LAST_END).any():
                raise InputError(
                    f"{self.name} has a word at the position {LAST_END:,}, and fields end there; attach it without fields."
                )
        for sums, found in zip(self.field_sums, checked.field_tfs, strict=True):
            sums += np.bincount(checked.docs, found, self.docs).astype(np.int64)
        return checked

    def _field_tfs(self, batch: PostingsBatch, tfs: np.ndarray) -> list[np.ndarray]:
        """Return the frequencies of a batch in the stored fields.

        If the source does not name a title, its frequencies are zeros.
        """
        given = [_whole(found, np.int32, self.name) for found in batch.field_tfs]
        if len(given) != len(self.fields):
            raise InputError(
                f"{self.name} has {len(self.fields):,} fields, and brings frequencies in {len(given):,}; {CAUSE}."
            )
        if any(len(found) != len(tfs) or (found < 0).any() for found in given) or (
            given and (np.sum(given, axis=0, dtype=np.int64) != tfs).any()
        ):
            raise InputError(
                f"{self.name} has frequencies in fields that do not add up to those of documents; {CAUSE}."
            )
        named = dict(zip(self.fields, given, strict=True))
        return [named.get(name, np.zeros(len(tfs), np.int32)) for name in self.contents if name != TEXT]

    def _positions(self, batch: PostingsBatch, tfs: np.ndarray) -> np.ndarray | None:
        """Check the number of positions of a batch by `tfs`, and return them; None if the source has no positions."""
        if (batch.positions is not None) != self.has_positions:
            what = "lacks positions in a batch" if self.has_positions else "brings positions without has_positions"
            raise InputError(f"{self.name} {what}; {CAUSE}.")
        if batch.positions is None:
            return None
        positions = _whole(batch.positions, np.int32, self.name)
        if (tfs < 0).any() or int(tfs.sum(dtype=np.int64)) != len(positions):
            raise InputError(f"{self.name} has positions whose number does not fit the frequencies; {CAUSE}.")
        return positions

    def _without_empty(self, batch: PostingsBatch) -> PostingsBatch:
        """Leave out the empty term and terms without postings, which an index cannot have."""
        terms, df, docs, tfs, positions, field_tfs = batch
        keep = np.array([bool(term) for term in terms], np.bool_) & (df > 0)
        if keep.all():
            return batch
        without_postings = int((df == 0).sum())
        if without_postings:
            self.report.note("A term without postings was left out", without_postings)
        if len(terms) - int(keep.sum()) > without_postings:
            self.report.note("The empty term was left out")
        kept_postings = np.repeat(keep, df)
        kept = [term for term, stays in zip(terms, keep.tolist(), strict=True) if stays]
        if positions is not None:
            positions = positions[np.repeat(kept_postings, tfs)]
        fields = [found[kept_postings] for found in field_tfs]
        return PostingsBatch(kept, df[keep], docs[kept_postings], tfs[kept_postings], positions, fields)

    def _check_terms(self, terms: Sequence[bytes]) -> None:
        """Raise `InputError` unless the terms are UTF-8 and differ from their neighbours. Record whether they ascend."""
        _expect_text(terms, f"{self.name} has a term")
        last = self._last
        for term in terms:
            if last is not None and term <= last:
                if term == last:
                    raise repeated(self.name, term)
                self.ascends = False
            last = term
        self._last = last

    def _bad_posting(self, batch: PostingsBatch, bad: int) -> InputError:
        """Return the error for an invalid posting; `bad` is its place in the batch."""
        docs, tfs = batch.docs, batch.tfs
        term = _term_of(batch, bad)
        if not 0 <= docs[bad] < self.docs:
            what = f"names document {docs[bad]:,}, but the documents have the numbers 0 to {self.docs - 1:,}"
        elif tfs[bad] < 1:
            what = f"has the frequency {tfs[bad]:,} in document {docs[bad]:,}"
        else:
            what = f"names document {docs[bad]:,} after document {docs[bad - 1]:,}"
        return InputError(f"{self.name}: the posting list of {term} {what}; {CAUSE}.")

    def _bad_positions(self, batch: PostingsBatch, bad: int) -> InputError:
        """Return the error for a position that does not ascend; `bad` is the place of its posting in the batch."""
        assert batch.positions is not None
        end = int(batch.tfs[: bad + 1].sum(dtype=np.int64))
        positions = batch.positions[end - int(batch.tfs[bad]) : end]
        place = int(np.argmax(np.diff(positions.astype(np.int64), prepend=-1) <= 0))
        after = f" after {positions[place - 1]:,}" if place else ""
        what = f"has the position {positions[place]:,}{after} in document {batch.docs[bad]:,}"
        return InputError(
            f"{self.name}: the posting list of {_term_of(batch, bad)} {what}, and positions must ascend; leave them out."
        )


class ReceivedDocuments:
    """The docnos and lengths of a source. Each batch is checked when it is received. Documents come after all postings.

    After the last batch, `lengths` has the length of each document. `states_lengths` says whether the length of any
    document differs from the sum of the frequencies of its terms. `summary` counts documents. `begins` has the position
    at which each content field except the title begins in each document. It is empty unless the source has fields and
    positions.
    """

    def __init__(self, source: PostingsSource, postings: ReceivedPostings):
        self.source, self.postings, self.name = source, postings, postings.name
        self.lengths = np.empty(0, np.int64)
        self.begins: list[np.ndarray] = []
        self._has_begins = bool(postings.fields) and postings.has_positions
        self.states_lengths = False
        self.summary = BuildSummary()
        self.summary.add_report(postings.report)
        self._docnos = Interner()

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the docnos of the documents, end to end, and the size of each."""
        lengths, docs = [self.lengths], self.postings.docs
        begins: list[list[np.ndarray]] = [[] for _ in self.postings.fields if self._has_begins]
        for batch in self.source.documents():
            first = self.summary.read
            self.summary.read += len(batch.docnos)
            if self.summary.read > docs or len(batch.lengths) != len(batch.docnos):
                break
            lengths.append(_whole(batch.lengths, np.int64, self.name))
            if len(batch.field_begins) != len(begins) or any(len(p) != len(batch.docnos) for p in batch.field_begins):
                raise InputError(f"{self.name} has places of fields that do not fit its fields and documents; {CAUSE}.")
            for parts, part in zip(begins, batch.field_begins, strict=True):
                parts.append(_whole(part, np.int64, self.name))
            yield self._docnos_of(batch, first)
        if self.summary.read != docs or sum(map(len, lengths)) != docs:
            count = "more" if self.summary.read > docs else f"{self.summary.read:,}"
            raise InputError(f"{self.name} claims {docs:,} documents, but describes {count}; {CAUSE}.")
        self.summary.indexed = docs
        self.lengths = self._checked_lengths(np.concatenate(lengths))
        if self._has_begins:
            self.begins = self._checked_begins(
                dict(zip(self.postings.fields, map(np.concatenate, begins), strict=True))
            )

    def _checked_begins(self, named: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Return the places of all content fields except the title.

        A field that is not named begins where the next field begins.
        """
        after, found = np.full(self.postings.docs, LAST_END, np.int64), []
        for name in reversed(self.postings.contents[1:]):
            begins = named.get(name, after)
            if (begins < 0).any() or (begins > after).any():
                raise InputError(f"{self.name} has fields whose places do not ascend; {CAUSE}.")
            found.append(begins)
            after = begins
        return found[::-1]

    def _docnos_of(self, batch: DocumentsBatch, first: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the docnos of a batch, end to end, and their sizes. `first` is the number of its first document."""
        listed = Strings.of(batch.docnos).tobytes()
        _expect_text(listed, f"{self.name} has a docno")
        data, sizes = end_to_end(listed)
        if not sizes.all():
            raise InputError(f"{self.name}: document {first + int(np.argmin(sizes)):,} has an empty docno; {CAUSE}.")
        if not data.all():
            docno = quoted(next(docno for docno in listed if b"\0" in docno))
            raise InputError(f"{self.name}: the docno {docno} {NUL_FAULT}; {CAUSE}.")
        known = self._docnos.size
        numbers = self._docnos.add(data, np.cumsum(sizes) - sizes, sizes)
        repeats = np.flatnonzero(numbers != known + np.arange(len(numbers)))
        if len(repeats):
            docno = quoted(listed[int(repeats[0])])
            raise InputError(f"{self.name} has two documents with the docno {docno}; docnos must differ.")
        if data.min(initial=33) <= 32 or data.max(initial=0) >= 128:
            self.summary.white_space += [d for docno in listed if _SPACE.search(d := docno.decode())]
        empty = np.flatnonzero(self.postings.uniques[first : first + len(listed)] == 0)
        self.summary.empty += [listed[place].decode() for place in empty.tolist()]
        return data, sizes

    def _checked_lengths(self, lengths: np.ndarray) -> np.ndarray:
        """Return the lengths to store.

        They are the lengths of the source, with one exception: a document that has terms and the length 0 gets the sum
        of its terms' frequencies.
        """
        if (lengths < 0).any() or (lengths > MOST_DOCS).any():
            bad = int(np.flatnonzero((lengths < 0) | (lengths > MOST_DOCS))[0])
            raise InputError(f"{self.name}: document {bad:,} has the length {lengths[bad]:,}; {CAUSE}.")
        unknown = (lengths == 0) & (self.postings.uniques > 0)
        if unknown.any():
            note = "A document has terms but the length 0; the sum of its frequencies was taken"
            self.summary.note(note, int(unknown.sum()))
            lengths[unknown] = self.postings.sums[unknown]
        differing = int((lengths != self.postings.sums).sum())
        if differing and self.postings.fields:
            self.summary.note(
                f"The lengths of {differing:,} of {len(lengths):,} documents differ from the sums of their frequencies, which were "
                "taken, for the lengths of fields add up to them"
            )
            return self.postings.sums
        if differing:
            self.states_lengths = True
            self.summary.note(
                f"The lengths of {differing:,} of {len(lengths):,} documents differ from the sums of their frequencies; "
                "they were kept as the source has them"
            )
        return lengths

    def tokens(self, counted: int) -> int:
        """Return the number of tokens in the collection, as the source states it, or else the sum of all frequencies."""
        stated = getattr(self.source, "tokens", None)
        if stated is None or stated == counted:
            return counted
        if not counted <= stated <= MOST or self.postings.fields:
            self.summary.note(
                f"The source states {stated:,} tokens, but its frequencies add up to {counted:,}, which was taken"
            )
            return counted
        return stated


def _term_of(batch: PostingsBatch, posting: int) -> str:
    """Return the term of a posting for a message."""
    return quoted(batch.terms[int(np.searchsorted(np.cumsum(batch.df), posting, side="right"))])


def _whole(values: Any, dtype: Any, name: str) -> np.ndarray:
    """Return `values` as an array of the type `dtype`.

    Raise `InputError`, which names the source `name`, if they are not whole numbers or do not fit into this type.
    """
    given, limits = np.asarray(values), np.iinfo(dtype)
    is_whole = given.dtype.kind in "iu" or not len(given)
    if not is_whole or (len(given) and (int(given.min()) < limits.min or int(given.max()) > limits.max)):
        raise InputError(f"{name} has numbers that are no whole numbers of {limits.bits} bits; {CAUSE}.")
    return np.ascontiguousarray(given, dtype)


def _expect_text(strings: Sequence[bytes], holder: str) -> None:
    """Raise `InputError` unless each string is UTF-8. `holder` begins the message, such as "FILE has a term"."""
    try:
        # With newlines between the strings, a character that is cut off at the end of a string is an error.
        b"\n".join(strings).decode()
    except UnicodeDecodeError:
        bad = next(string for string in strings if string.decode(errors="ignore").encode() != string)
        raise InputError(f"{holder} that is not UTF-8, {quoted(bad)}; {CAUSE}.") from None
