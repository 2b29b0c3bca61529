"""Make an index from the postings of a `PostingsSource`, which another program made.

No documents are read. All values of the source are checked. The index has terms, postings, document lengths, docnos and
the terms of each document. It has positions and fields if the source has them. It has no texts, and the written form of
a term is the term itself. Memory is needed for the docnos and for two numbers per document. Postings are written as
they arrive.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from sublex.building.build_summary import BuildSummary
from sublex.building.indexing import chosen_analyzer
from sublex.building.segment_builder import SEGMENT
from sublex.building.writer import existing_index, make_index
from sublex.contracts.foreign import PostingsSource
from sublex.index.components.docnos import DocnosWriter
from sublex.index.components.inverted_lists import ListsWriter
from sublex.index.components.lengths import LengthsWriter
from sublex.index.directory import Directory
from sublex.index.entries import AttachedEntry, SegmentEntry
from sublex.index.format import FolderWriter
from sublex.index.manifest import new_manifest
from sublex.language import plugins
from sublex.other_engines.posting_lists import WrittenLists, sorted_lists, write_document_terms, write_lists
from sublex.other_engines.postings_check import ReceivedDocuments, ReceivedPostings, brings_positions, fields_of
from sublex.tools.workers import Workers


def create_from_postings(
    path: str | Path,
    source: PostingsSource,
    *,
    profile: str = "sublex",
    analyzer: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    attached: AttachedEntry | None = None,
    progress: Callable[[int], None] = lambda terms: None,
    registry: plugins.Registry | None = None,
) -> BuildSummary:
    """Make an index at `path` from a source of postings, and return the summary of its documents.

    Nothing is analysed. Raise `InputError` with one sentence if the source contradicts itself.

    Args:
        path: The folder of the index.
        source: The postings and documents.
        profile: The name of the set of defaults for ranking: sublex, anserini, terrier or pisa.
        analyzer: The expression of the analyzer for queries, which should be the one that made the terms; by default the profile's.
        workers: The number of threads; by default one per core. It does not change the index.
        overwrite: Replace an existing index when the new one is finished.
        attached: The manifest's entry `attached`, for an index that mirrors an index of another engine.
        progress: Called with the number of terms received so far.
        registry: The plugins; by default the installed ones are loaded.
    """
    root, registry = Path(path), registry or plugins.load()
    existing_index(root, overwrite)
    _, described = chosen_analyzer(analyzer, profile, registry)

    def write(folder: Directory) -> tuple[list[SegmentEntry], BuildSummary]:
        with Workers(max(1, workers or os.cpu_count() or 1)) as pool:
            entry, summary = _write_segment(folder, source, pool, progress)
        return [entry], summary

    store = ["terms", "positions"] if brings_positions(source) else ["terms"]
    new = new_manifest(profile, store, described, attached, fields=fields_of(source))
    return make_index(root, "ciff import" if attached is None else "attach", new, write, overwrite)


def _write_segment(
    building: Directory, source: PostingsSource, workers: Workers, progress: Callable[[int], None]
) -> tuple[SegmentEntry, BuildSummary]:
    """Write the postings and documents of the source as the segment of a build.

    Return its entry in the manifest, and the summary.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(FolderWriter(building / "received"))
        postings = ReceivedPostings(source)
        number, positions = len(postings.contents), postings.has_positions
        writer = ListsWriter(folder, positions, number)
        lists = write_lists(folder, postings.batches(progress), writer, workers)
        if not postings.ascends:
            received = WrittenLists(folder.directory, folder.finish(), source.docs, lists.terms, number)
            folder = stack.enter_context(FolderWriter(building / "sorted"))
            writer = ListsWriter(folder, positions, number)
            lists = write_lists(folder, sorted_lists(received, postings.name), writer, workers)
        documents = ReceivedDocuments(source, postings)
        docnos = DocnosWriter(folder)
        for data, sizes in documents.batches():
            docnos.add(data, sizes)
        docnos.finish()
        LengthsWriter(folder).add(documents.lengths, postings.uniques)
        writer.add_documents(postings.field_sums, documents.begins)
        written = WrittenLists(folder.directory, folder.finish(), source.docs, lists.terms, number)
        write_document_terms(folder, written, postings.uniques, workers)
        tokens = documents.tokens(lists.tokens)
        stated = documents.states_lengths or tokens != lists.tokens
        entry = SegmentEntry(SEGMENT, source.docs, tokens, lists.terms, lists.postings, folder.finish(), stated=stated)
        folder.directory.move(building / SEGMENT)
    return entry, documents.summary
