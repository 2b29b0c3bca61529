"""Build an index of another engine from a collection, which Sublex's readers read, and attach it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sublex.building.build_summary import BuildSummary
from sublex.building.columns import columns_of
from sublex.building.document_source import Documents, DocumentSource, source_of
from sublex.building.duplicates import Duplicates
from sublex.building.indexing import parse_size, stored_parts
from sublex.building.writer import DEFAULT_PARTS, existing_index
from sublex.contracts.base import Document
from sublex.errors import IndexProblem, InputError, contract
from sublex.index.directory import Directory
from sublex.index.entries import Manifest
from sublex.index.foreign_places import place_of
from sublex.index.lock import locked
from sublex.index.manifest import read_manifest
from sublex.index.snapshot import Snapshot
from sublex.language import plugins
from sublex.other_engines.attaching import AttachSettings, Progress, Say, attach_index
from sublex.readers.batch import Batch
from sublex.tools.messages import counted

# The name of the folder of an unfinished build.
WORK = "work"


def build_foreign(
    path: Path,
    documents: Documents,
    backend: str,
    given: AttachSettings | None = None,
    *,
    reader: str | None = None,
    roles: Mapping[str, str] | None = None,
    columns: str | Mapping[str, str] | Iterable[str] = (),
    store: str | Iterable[str] = DEFAULT_PARTS,
    memory: str | int = "1GB",
    overwrite: bool = False,
    strict: bool = False,
    progress: Progress = lambda docs: None,
    say: Say = lambda text: None,
    registry: plugins.Registry | None = None,
) -> BuildSummary:
    """Build an index of another engine, attach it as the index at `path`, and return the summary of the documents.

    The other engine's index is the folder `path` with the name of the back end as its suffix, such as `papers.lucene`. The arguments are
    those of `build_index`; `given` is passed to `attach_index`.
    """
    registry = registry or plugins.load()
    if columns_of(columns):
        raise InputError(f"columns do not go with the back end {backend}; leave one of them out.")
    old = existing_index(path, overwrite)
    name = registry.find("backend", backend).name
    place = path.absolute().with_name(f"{path.absolute().name}.{name}")
    folder = Directory(place.parent) / place.name
    is_there = folder.exists()
    if is_there and not overwrite:
        raise IndexProblem(f"{place} is in the way; move it away, or replace it by --overwrite.")
    if is_there and not _is_behind(place, path, old):
        raise IndexProblem(f"{place} is not the index behind {path}, so it is not replaced; move it away.")
    if (kept := _aside(folder)).exists():
        raise IndexProblem(f"{kept.path} is in the way; an interrupted build may have put {place} there, so move it.")
    with contract("back end", name):
        made = registry.build("backend", name, {})
        if not hasattr(made, "build"):
            raise InputError(f"Sublex cannot build indexes by {name}; build one by its own tools, and attach it.")
        if missing := made.missing():
            raise InputError(missing)
        if is_there:
            # If the folder is not an index of this engine, an error is raised, and the folder stays.
            made.state(str(place))
    parts = stored_parts(store)
    given = (given or AttachSettings())._replace(positions="positions" in parts)
    source, summary = source_of(documents, registry, reader, strict, roles), BuildSummary()
    source.announce(say)
    unfinished = Directory(place.parent) / f"{place.name}.unfinished"
    with locked(unfinished.path, f"index --backend {name}", create=True, left=(WORK,)):
        work = unfinished / WORK
        work.remove()
        work.make()
        built = work / "index"
        try:
            with contract("back end", name):
                made.build(str(built.path), _documents(source, summary, progress), parts, parse_size(memory))
            with _replacing(folder, built):
                attach_index(path, f"{name}:{place}", given, overwrite=overwrite, say=say, registry=registry)
        finally:
            work.remove()
    summary.indexed = read_manifest(path).statistics.docs
    snapshot = Snapshot(path, lambda: registry)
    summary.empty = [snapshot.docno(doc) for doc in np.flatnonzero(snapshot.corpus.lengths == 0).tolist()]
    if left := summary.read - len(summary.duplicate) - summary.indexed:
        summary.note(f"{name.capitalize()} left out {counted(left, 'document')} without text")
    return summary


@contextmanager
def _replacing(folder: Directory, new: Directory) -> Iterator[None]:
    """Move the folder `new` to the place of `folder` before the block runs.

    If the block fails, the old `folder` is put back; if there was no old folder, `folder` is removed.
    """
    old, was_there = _aside(folder), folder.exists()
    if was_there:
        folder.move(old)
    try:
        new.move(folder)
        yield
    except BaseException:
        folder.remove()
        if was_there:
            old.move(folder)
        raise
    if was_there:
        old.remove()


def _aside(folder: Directory) -> Directory:
    """Return the folder to which the old index is moved while a new one is attached."""
    return folder.parent / f"{folder.name}.replaced"


def _is_behind(place: Path, path: Path, old: Manifest | None) -> bool:
    """Return whether the folder `place` is the foreign index behind the index at `path`, whose manifest is `old`."""
    known = place_of(path, old.attached.id) if old and old.attached else None
    return known is not None and os.path.realpath(known.path) == os.path.realpath(place)


def _documents(source: DocumentSource, summary: BuildSummary, progress: Progress) -> Iterator[Document]:
    """Yield the documents of `source` to index, and count all its documents in `summary`.

    If several documents have the same docno, only the first is yielded.
    """
    duplicates = Duplicates("first")
    if source.report:
        summary.add_report(source.report)
    done = 0
    for make in source.batch_makers():
        batch = make()
        keep, repeated = duplicates.select(batch)
        summary.add_report(batch.report)
        summary.read += len(batch)
        summary.duplicate += repeated
        for k in np.flatnonzero(keep).tolist():
            document = _document(batch, k)
            if document.docno.split() != [document.docno]:
                summary.white_space.append(document.docno)
            yield document
        done += int(keep.sum())
        progress(done)
    progress(done)


def _document(batch: Batch, k: int) -> Document:
    """Return document k of a batch; its contents begin with its title, if it has one."""
    begin, end, title = int(batch.text_ends[k - 1]) if k else 0, int(batch.text_ends[k]), int(batch.titles[k])
    text = batch.text[begin:end].tobytes()
    if title:
        return Document(batch.docno(k), text[title + 1 :].decode(), text[:title].decode())
    return Document(batch.docno(k), text.decode())
