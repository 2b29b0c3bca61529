"""Verifying an index: every checksum, and everything that readers take for granted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from sublex.errors import IndexCorrupt, SublexError
from sublex.index import derived
from sublex.index.arena import spans
from sublex.index.format import Folder, hash_of
from sublex.index.manifest import FITTED, REPRESENTATIONS, RESOURCES, SEGMENTS, read_manifest
from sublex.index.segment import Segment
from sublex.messages import command

SPAN = 1 << 20


def check(root: Path, progress: Callable[[str], None] = lambda what: None) -> list[str]:
    """What is wrong with an index, one sentence each; empty when nothing is."""
    try:
        manifest = read_manifest(root)
    except IndexCorrupt as error:
        return [str(error)]
    problems = []
    for entry in manifest["segments"]:
        progress(f"segment {entry['name']}")
        problems += _segment(root / SEGMENTS / entry["name"], entry)
    for name, entry in manifest.get(FITTED, {}).items():
        progress(entry["expression"])
        place = root / REPRESENTATIONS / name
        folders = [(place / "model", entry["model"])]
        for rows, own in entry["rows"].items():
            folders += [(place / rows / segment, kept["data"]) for segment, kept in own["segments"].items()]
        mend = f"run: {command('forget', root, name)}, then: {command('fit', root, entry['expression'])}"
        problems += [
            f"{problem.rpartition(';')[0]}; {mend}" for place, of in folders for problem in _component_folder(place, of)
        ]
    for name, entry in manifest.get(RESOURCES, {}).items():
        problems += _resource(root / RESOURCES / name / entry["file"], entry)
    return [*problems, *derived.check(root)]


def _component_folder(path: Path, entry: dict) -> list[str]:
    try:
        return list(_damaged(Folder(path, entry)))
    except SublexError as error:
        return [str(error)]


def _resource(path: Path, entry: dict) -> list[str]:
    try:
        whole = path.is_file() and path.stat().st_size == entry.get("bytes") and hash_of(path) == entry["hash"]
    except OSError:
        whole = False
    return [] if whole else [f"{path} is missing or damaged; add the same file again by sublex resource add."]


def _segment(path: Path, entry: dict) -> list[str]:
    try:
        segment = Segment(path, entry)
    except SublexError as error:
        return [str(error)]
    folders = [segment.folder] + (
        [Folder(path / entry["deleted"]["name"], entry["deleted"]["data"])] if entry.get("deleted") else []
    )
    problems = [problem for folder in folders for problem in _damaged(folder)]
    if problems:
        return problems
    try:
        return list(_inconsistent(segment))
    except SublexError as error:
        return [str(error)]


def _damaged(folder: Folder) -> Iterator[str]:
    for _, component in folder:
        try:
            component.all()
        except IndexCorrupt as error:
            yield str(error)


def _inconsistent(segment: Segment) -> Iterator[str]:
    """Components that do not fit each other, though each is as it was written."""
    counts, total = np.zeros(segment.docs, np.int64), np.zeros(segment.docs, np.int64)
    mixed = 0
    for begin, end in segment.spans(SPAN):
        docs, tfs = segment.postings(begin, end)
        mixed += _mixed(np.repeat(np.arange(begin, end), segment.df[begin:end]), docs, tfs)
        starts = np.cumsum(segment.df[begin:end], dtype=np.int64) - segment.df[begin:end]
        if not np.array_equal(np.add.reduceat(tfs, starts, dtype=np.int64), segment.cf[begin:end]):
            yield f"{segment.path}: collection frequencies do not fit the postings."
        counts += np.bincount(docs, minlength=segment.docs)
        total += np.bincount(docs, tfs, segment.docs).astype(np.int64)
    if not np.array_equal(counts, segment.uniques) or not np.array_equal(total, segment.lengths):
        yield f"{segment.path}: document lengths do not fit the postings."
    elif "document_terms" in segment.folder and mixed % 2**64 != _of_documents(segment):
        yield f"{segment.path}: document terms do not fit the postings."
    terms = segment.terms.list()
    if any(a >= b for a, b in zip(terms, terms[1:], strict=False)):
        yield f"{segment.path}: terms do not ascend."
    docnos = segment.docnos.list()
    order = segment.docno_order.tolist()
    if sorted(order) != list(range(segment.docs)) or any(
        docnos[a] > docnos[b] for a, b in zip(order, order[1:], strict=False)
    ):
        yield f"{segment.path}: the order of docnos is wrong."
    if segment.texts and int(segment.texts.counts.sum()) != segment.docs:
        yield f"{segment.path}: stored documents are missing."
    for block in range(len(segment.texts.counts) if segment.texts else 0):
        segment.texts.raw(block)  # type: ignore[union-attr]


def _of_documents(segment: Segment) -> int:
    """What `_mixed` makes of all postings, from the documents' side."""
    mixed = 0
    for begin, end in spans(segment.uniques, SPAN):
        counts, terms, tfs = segment.document_terms(begin, end)  # type: ignore[misc]
        mixed += _mixed(terms, np.repeat(np.arange(begin, end), counts), tfs)
    return mixed % 2**64


def _mixed(terms: np.ndarray, docs: np.ndarray, tfs: np.ndarray) -> int:
    """A sum over postings that does not depend on their order, and hardly ever is the same for others."""
    mixed = (terms.astype(np.uint64) << np.uint64(32)) + docs.astype(np.uint64)
    mixed += tfs.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return int(mixed.sum(dtype=np.uint64))
