"""Check an index: every checksum, and whether the components of each segment agree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from sublex.contracts.base import Statistics
from sublex.errors import IndexCorrupt, SublexError, is_out_of_memory
from sublex.index import derived
from sublex.index.components.fields import TEXT
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry, Manifest, ModelEntry, ResourceEntry, SegmentEntry
from sublex.index.format import ComponentFolder
from sublex.index.manifest import MANIFEST, REPRESENTATIONS, RESOURCES, fingerprint_of, read_manifest, segment_folder
from sublex.index.offsets import POSTINGS_PER_CALL, spans, starts_of
from sublex.index.remedies import add_again, fit_again
from sublex.index.segment import Segment
from sublex.index.shards import expect_shard
from sublex.tools.messages import Message, in_short

Entry = TypeVar("Entry")


def check(root: Path, progress: Callable[[str], None] = lambda what: None) -> list[str]:
    """Return one sentence for each problem of an index. The list is empty if the index is sound.

    `progress` is called with the name of each segment and model before it is checked.
    """
    try:
        manifest = read_manifest(root)
    except IndexCorrupt as error:
        return [str(error)]
    problems, index = [], Directory(root)
    if manifest.fingerprint != fingerprint_of(manifest):
        problems.append(f"{root / MANIFEST}: the fingerprint does not fit the segments; rebuild the index.")
    for shard in manifest.shards:
        try:
            expect_shard(root, manifest, shard)
        except SublexError as error:
            problems.append(str(error))
    for segment in manifest.segments:
        progress(f"segment {segment.name}")
        directory = segment_folder(root, segment)
        check_own = partial(_check_segment, manifest.columns, manifest.fields)
        problems += _verdict(check_own, directory, segment)
    for name, model in manifest.fitted.items():
        progress(model.expression)
        problems += _check_model(root, name, model, manifest.vectors)
    for name, resource in manifest.resources.items():
        problems += _check_resource(index / RESOURCES / name, resource)
    return [*problems, *derived.check(root)]


def damaged_segments(root: Path, manifest: Manifest) -> list[str]:
    """Return one sentence for each damaged component of the segments.

    Only checksums are compared, which is faster than `check`.
    """
    return [p for entry in manifest.segments for p in _verdict(_check_folder, segment_folder(root, entry), entry.data)]


def _verdict(check_part: Callable[[Directory, Entry], list[str]], directory: Directory, entry: Entry) -> list[str]:
    """Return `check_part(directory, entry)`: a sentence for each problem.

    An error that it raises becomes a sentence too.
    """
    try:
        return check_part(directory, entry)
    except (SublexError, ArithmeticError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        if is_out_of_memory(error):
            raise MemoryError from error
        if isinstance(error, SublexError):
            return [str(error)]
        return [f"{directory.path} is damaged ({in_short(error)}); rebuild the index."]


def _check_model(root: Path, name: str, entry: ModelEntry, given: Collection[str]) -> list[str]:
    """Return the problems of a fitted model and of all its rows. `given` has the names of the index's vectors."""
    place = Directory(root) / REPRESENTATIONS / name
    folders = [(place / "model", entry.model)]
    for rows_name, rows in entry.rows.items():
        folders += [(place / rows_name / segment, stored.data) for segment, stored in rows.segments.items()]
    vectors = next((each for each in entry.resources if each in given), "")
    remedy = ("; run: ", *(add_again(root, vectors) if vectors else fit_again(root, name, entry.expression)))
    problems = [problem for folder, data in folders for problem in _verdict(_check_folder, folder, data)]
    return [Message(problem.rpartition(";")[0], *remedy) for problem in problems]


def _check_folder(folder: Directory, entry: FolderEntry) -> list[str]:
    return list(_damaged_components(ComponentFolder(folder, entry)))


def _check_resource(folder: Directory, entry: ResourceEntry) -> list[str]:
    try:
        if folder.hash(entry.file) == (entry.bytes, entry.hash):
            return []
    except IndexCorrupt as error:
        return [str(error)]
    except OSError:
        pass
    return [f"{folder.path / entry.file} is missing or damaged; add the same file again by sublex resource add."]


def _check_segment(
    columns: Mapping[str, str], fields: tuple[str, ...], directory: Directory, entry: SegmentEntry
) -> list[str]:
    """Return the problems of a segment. The components are compared with one another only if no component is damaged.

    `columns` has the types of the columns of the index by their names, and `fields` the names of its named fields.
    """
    segment = Segment(directory, entry)
    segment.fields = fields
    problems = list(_damaged_components(segment.folder))
    if entry.deleted:
        problems += _check_folder(directory / entry.deleted.name, entry.deleted.data)
    return problems or list(_disagreements(segment, columns))


def _damaged_components(folder: ComponentFolder) -> Iterator[str]:
    for _, component in folder:
        try:
            component.all()
        except IndexCorrupt as error:
            yield str(error)


def _disagreements(segment: Segment, columns: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each contradiction between components, whose checksums have been verified before."""
    yield from _postings_disagreements(segment)
    terms = segment.terms.list()
    if any(a >= b for a, b in zip(terms, terms[1:], strict=False)):
        yield f"{segment.path}: terms do not ascend."
    segment.terms.texts()
    docnos = segment.docnos.list()
    order = segment.docno_order.tolist()
    if any(docnos[a] > docnos[b] for a, b in zip(order, order[1:], strict=False)):
        yield f"{segment.path}: the order of docnos is wrong."
    segment.docnos.texts()
    if terms:
        segment.lexicon.surface(0)
    # These lines raise an error if the columns differ from `columns`, or if their components contradict each other.
    segment.expect_columns(columns)
    for name in columns:
        segment.column(name)
    for frame in range(len(segment.texts.counts) if segment.texts else 0):
        segment.texts.validate(frame)  # type: ignore[union-attr]


def _postings_disagreements(segment: Segment) -> Iterator[str]:
    """Yield a sentence for each component that does not fit the postings."""
    uniques, lengths = np.zeros(segment.docs, np.int64), np.zeros(segment.docs, np.int64)
    lost = np.zeros((2, len(segment.terms)), np.int64)
    field_lengths = np.zeros((segment.content_fields, segment.docs), np.int64)
    misplaced: set[int] = set()
    postings_sum = postings = 0
    for begin, end in segment.spans(POSTINGS_PER_CALL):
        docs, tfs = segment.postings(begin, end)
        # This raises an error if the positions do not fit the frequencies.
        positions = segment.positions(begin, end, tfs) if segment.has_positions else None
        in_fields = [
            segment.fields_reader.gather(field, np.arange(begin, end), tfs) for field in range(segment.content_fields)
        ]
        for field, found in enumerate(in_fields):
            field_lengths[field] += np.bincount(docs, found, segment.docs).astype(np.int64)
            if positions is not None and not np.array_equal(found, _count_inside(segment, field, docs, tfs, positions)):
                misplaced.add(field)
        term = np.repeat(np.arange(begin, end), segment.df[begin:end])
        postings_sum += _mixed_sum(term, docs, tfs)
        postings += len(docs)
        cf = np.bincount(term - begin, tfs, end - begin)
        if not np.array_equal(cf, segment.cf[begin:end]):
            yield f"{segment.path}: collection frequencies do not fit the postings."
        dead = segment.dead[docs]
        lost[0] += np.bincount(term[dead], minlength=len(segment.terms))
        lost[1] += np.bincount(term[dead], tfs[dead], len(segment.terms)).astype(np.int64)
        uniques += np.bincount(docs, minlength=segment.docs)
        lengths += np.bincount(docs, tfs, segment.docs).astype(np.int64)
    # Other engines may round lengths, or leave out postings; then the totals come from the other engine too.
    entry = segment.entry
    if not np.array_equal(uniques, segment.uniques) or not (entry.stated or np.array_equal(lengths, segment.lengths)):
        yield f"{segment.path}: document lengths do not fit the postings."
    elif "document_terms" in segment.folder and postings_sum % 2**64 != _document_terms_sum(segment):
        yield f"{segment.path}: document terms do not fit the postings."
    for field, counted in enumerate(field_lengths):
        # If another engine stated the lengths of documents, the length of the text is computed from them: it is the rest
        # after the other fields.
        if not (entry.stated and field == TEXT) and not np.array_equal(counted, segment.fields_reader.lengths(field)):
            yield f"{segment.path}: the lengths of field {field} do not fit the postings."
    for field in sorted(misplaced):
        yield f"{segment.path}: the places of field {field} do not fit the positions."
    if not np.array_equal(segment.df - lost[0], segment.live_df) or not np.array_equal(
        segment.cf - lost[1], segment.live_cf
    ):
        yield f"{segment.path}: the frequencies of the tombstones do not fit the postings."
    tokens = max(entry.tokens if entry.stated else 0, int(lengths.sum()))
    dead, dead_postings, dead_tokens = int(segment.dead.sum()), int(lost[0].sum()), int(lost[1].sum())
    live = Statistics(entry.docs - dead, tokens - dead_tokens, postings - dead_postings)
    if (entry.tokens, entry.postings, entry.live) != (tokens, postings, live):
        yield f"{segment.path}: the totals in the manifest do not fit the postings."


def _count_inside(segment: Segment, field: int, docs: np.ndarray, tfs: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return for each posting the number of its positions that lie in a content field.

    `docs` and `tfs` have the document and the frequency of each posting, and `positions` the positions of all postings.
    """
    begins, ends = (np.repeat(places[docs], tfs) for places in segment.fields_reader.places(field))
    inside = np.concatenate([[0], np.cumsum((begins <= positions) & (positions < ends))])
    starts = starts_of(tfs)
    return inside[starts[1:]] - inside[starts[:-1]]


def _document_terms_sum(segment: Segment) -> int:
    """Return the sum of hashes (`_mixed_sum`) of all postings, read from the document terms."""
    mixed_sum = 0
    for begin, end in spans(segment.uniques, POSTINGS_PER_CALL):
        counts, terms, tfs = segment.document_terms(begin, end)  # type: ignore[misc]
        mixed_sum += _mixed_sum(terms, np.repeat(np.arange(begin, end), counts), tfs)
    return mixed_sum % 2**64


def _mixed_sum(terms: np.ndarray, docs: np.ndarray, tfs: np.ndarray) -> int:
    """Return the sum of the hashes of postings, modulo 2**64.

    Posting k consists of `terms[k]`, `docs[k]` and `tfs[k]`; its hash is the finaliser of SplitMix64. The order of the
    postings does not change the sum, and two different sets of postings almost surely have different sums.
    """
    mixed = (terms.astype(np.uint64) << np.uint64(32)) + docs.astype(np.uint64)
    mixed += tfs.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return int(mixed.sum(dtype=np.uint64))
