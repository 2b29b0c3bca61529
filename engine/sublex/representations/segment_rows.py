"""Keep rows up to date: encode new documents before they are committed, and copy the rows of merged segments.

`encode_before_commit` returns a function. A writer calls it with the manifest to commit; the function returns the
manifest with the rows of the new segment. If a model cannot encode the documents, they stay without rows, a message
tells the user, and the commit goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from sublex.building.writer import BeforeCommit
from sublex.contracts.fitted import Representation, Rows, Smoother
from sublex.errors import IndexCorrupt, PluginError, SublexError
from sublex.index.directory import Directory
from sublex.index.entries import Manifest, ModelEntry, SeenEntry, SegmentEntry, SegmentRows
from sublex.index.manifest import REPRESENTATIONS
from sublex.index.segment import Segment, open_segment
from sublex.representations import sketch_files
from sublex.representations.fitting import Fitting
from sublex.representations.identity import ModelIdentity, Namer
from sublex.representations.inputs import DOCUMENTS_PER_BLOCK
from sublex.representations.job import Options
from sublex.representations.rows import kind_of_rows, read_rows, stacked, write_rows
from sublex.representations.stored_models import load_model, token_counts
from sublex.tools.messages import Message, Step, counted

# A refit is advised if the share of unknown tokens in the documents added since the fit exceeds the share at the time
# of the fit by more than this.
UNKNOWN_SHARE_RISE = 0.2
# No refit is advised before this number of tokens was added, because the share of unknown tokens in fewer says little.
LEAST_TOKENS = 1000


def encode_before_commit(root: Path, options: Options) -> BeforeCommit:
    """Return a function that a writer calls before a commit, to get the manifest with the rows of the new segment.

    It takes three arguments: the new manifest; the entries of the segments that a merge replaced, none for an
    addition; and the order in which the merge wrote their live documents, or None if the order is unchanged.
    """

    def before_commit(new: Manifest, replaced: Sequence[SegmentEntry], order: np.ndarray | None) -> Manifest:
        if not new.fitted:
            return new
        if not replaced:
            return _encode_uncovered(root, new, options, "new")
        # Uncovered documents are encoded before the merge, so that every merged segment has rows to copy.
        unmerged = _encode_uncovered(root, new._replace(segments=tuple(replaced)), options, "merged")
        merged = new._replace(fitted=_merge_rows(root, new, unmerged, order, options))
        _sketch_merged(Fitting(root, merged, options))
        return _link_merged(root, merged, options)

    return before_commit


def _encode_uncovered(root: Path, manifest: Manifest, options: Options, which: str) -> Manifest:
    """Encode the documents that models do not cover, and return the manifest with their rows.

    `which` is a word about the documents for messages: "new" or "merged".
    """
    fitting = Fitting(root, manifest, options)
    segments = {segment.name for segment in manifest.segments}
    # A graph comes after the representation that it depends on.
    for name, entry in sorted(manifest.fitted.items(), key=lambda item: _is_graph(fitting.namer, item[1].expression)):
        for folder, rows in entry.rows.items():
            if segments <= rows.segments.keys():
                continue
            try:
                model, identity = _loaded(fitting, name, folder, rows.expression)
                if isinstance(model, Smoother):
                    fitting.link_missing_documents(model, identity)
                    continue
                fitting.encode_missing_rows(model, identity)
            except SublexError as error:
                state = f"{rows.expression} does not cover the {which} documents. {error} When that is mended, run: "
                options.say(Message(state, Step("fit", root, update=True)))
                continue
            if which == "new" and model.reads == "rows":
                vectors = Step("vectors add", root, *entry.resources)
                options.say(Message(f"{rows.expression} has no vectors of the new documents; run: ", vectors, " FILE"))
            elif which == "new":
                _advise_refit(fitting.fitted, name, root, options.say)
    return manifest._replace(fitted=fitting.fitted)


def _is_graph(namer: Namer, expression: str) -> bool:
    """Return whether an expression names a graph of neighbours."""
    try:
        return namer.resolve(expression).kind == "smoother"
    except SublexError:
        return False


def _link_merged(root: Path, merged: Manifest, options: Options) -> Manifest:
    """Find the neighbours of a merged segment's documents, for graphs that cover all other segments.

    Return the manifest.
    """
    fitting = Fitting(root, merged, options)
    others = {segment.name for segment in merged.segments[:-1]}
    for name, entry in merged.fitted.items():
        for folder, rows in entry.rows.items():
            if not _is_graph(fitting.namer, rows.expression) or not others <= rows.segments.keys():
                continue
            try:
                model, identity = _loaded(fitting, name, folder, rows.expression)
                assert isinstance(model, Smoother)
                fitting.link_missing_documents(model, identity)
            except SublexError as error:
                state = f"{rows.expression} does not cover the merged documents. {error} When that is mended, run: "
                options.say(Message(state, Step("fit", root, update=True)))
    return merged._replace(fitted=fitting.fitted)


def _loaded(
    fitting: Fitting, name: str, folder: str, expression: str
) -> tuple[Representation | Smoother, ModelIdentity]:
    """Return the fitted representation or graph that `expression` names, loaded, and its identity.

    `name` and `folder` are the names on disk of its model and its rows. Raise SublexError if the expression now leads
    to other names.
    """
    component = fitting.namer.resolve(expression)
    model = fitting.namer.make(component)
    identity = fitting.namer.identity(component, model)
    if (identity.model, identity.rows) != (name, folder) or not isinstance(model, (Representation, Smoother)):
        raise SublexError("The plugin, or a file that it reads, has changed since it was fitted; fit it again.")
    load_model(fitting.root, fitting.fitted[name], identity, model)
    return model, identity


def _advise_refit(fitted: Mapping[str, ModelEntry], name: str, root: Path, say: Callable[[str], None]) -> None:
    """Tell the user to refit a model that knows too few of the words that were added since it was fitted.

    The share of unknown tokens is compared with the share at the time of the fit, because a model may leave out words
    on purpose.
    """
    tokens, unknown, added = token_counts(fitted[name])
    unknown_before = (unknown - added.unknown) / max(1, tokens - added.tokens)
    if added.tokens < LEAST_TOKENS or added.unknown <= (unknown_before + UNKNOWN_SHARE_RISE) * added.tokens:
        return
    expression = fitted[name].expression
    refitted = [*(entry.expression for entry in fitted.values() if name in entry.depends), expression]
    state = (
        f"{expression} does not know {added.unknown / added.tokens:.0%} of the {counted(added.tokens, 'token')} "
        f"added since it was fitted, and {unknown_before:.0%} of those before; fit it again: "
    )
    say(Message(state, Step("forget", root, *refitted), " && ", Step("fit", root, *refitted)))


def _merge_rows(
    root: Path, new: Manifest, unmerged: Manifest, order: np.ndarray | None, options: Options
) -> dict[str, ModelEntry]:
    """Write the rows of a merged segment for every model, and return the entries of all models by their names.

    `unmerged` is the manifest with the segments that were merged. The merged segment is the last segment of `new`.
    For each document of the merged segment, `order` has its place among the live documents of the original segments. It
    is None if their order is unchanged.
    """
    segments = [open_segment(root, entry) for entry in unmerged.segments]
    merged_from = {segment.name for segment in segments}
    merged = new.segments[-1].name
    namer = Fitting(root, new, options).namer
    fitted = {}
    for name, entry in unmerged.fitted.items():
        all_rows = {}
        for folder, rows in entry.rows.items():
            by_segment = rows.segments
            kept = {segment: written for segment, written in by_segment.items() if segment not in merged_from}
            # The neighbours of merged documents are found anew.
            if merged_from <= by_segment.keys() and not _is_graph(namer, rows.expression):
                try:
                    source = Directory(root) / REPRESENTATIONS / name / folder
                    kept[merged] = _write_merged(source, by_segment, segments, merged, order)
                except (IndexCorrupt, PluginError) as error:
                    options.say(f"{rows.expression} does not cover the merged documents. {error}")
            all_rows[folder] = rows._replace(segments=kept)
        fitted[name] = entry._replace(rows=all_rows, seen=_merge_token_counts(entry, merged_from, merged))
    return fitted


def _sketch_merged(fitting: Fitting) -> None:
    """Make the sketches and posting lists of merged segments.

    Errors are ignored: without a sketch, all documents are scored, and lists are made in memory.
    """
    covering = {segment.name for segment in fitting.manifest.segments}
    is_small = fitting.manifest.segments[-1].docs < sketch_files.LEAST_DOCUMENTS
    for name, entry in fitting.fitted.items():
        # Even few documents may have many weights, if the weights were given to the index.
        if is_small and not entry.resources.keys() & fitting.manifest.vectors.keys():
            continue
        for folder, rows in entry.rows.items():
            if covering <= rows.segments.keys():
                with suppress(SublexError):
                    model, identity = _loaded(fitting, name, folder, rows.expression)
                    if isinstance(model, Smoother):
                        continue
                    fitting.write_missing_sketches(model, identity, rows.segments)
                    fitting.write_missing_lists(model, identity, rows.segments)


def _merge_token_counts(entry: ModelEntry, merged_from: set[str], merged: str) -> dict[str, SeenEntry]:
    """Return a model's token counts by segment after a merge: the merged segment gets the sums."""
    seen = {segment: counts for segment, counts in entry.seen.items() if segment not in merged_from}
    return seen | {merged: token_counts(entry, merged_from)} if merged_from <= entry.seen.keys() else seen


def _write_merged(
    folder: Directory, by_segment: Mapping[str, SegmentRows], segments: Sequence[Segment], merged: str,
    order: np.ndarray | None,
) -> SegmentRows:  # fmt: skip
    """Write the rows of the live documents of `segments` as the rows of the segment `merged`.

    Return the manifest's entry. `folder` has the rows of all segments, and `by_segment` their entries. With `order`,
    the rows are written in this order.
    """

    def live_rows() -> Iterator[Rows]:
        kind = None
        for segment in segments:
            rows = read_rows(folder / segment.name, by_segment[segment.name].data, segment.docs)
            if kind_of_rows(rows) != (kind := kind or kind_of_rows(rows)):
                raise PluginError("Their rows are of different shapes or types.")
            live = ~segment.dead
            for begin in range(0, segment.docs, DOCUMENTS_PER_BLOCK):
                block = slice(begin, begin + DOCUMENTS_PER_BLOCK)
                yield rows[block][live[block]]

    return SegmentRows(write_rows(folder / merged, live_rows() if order is None else _ordered(live_rows(), order)))


def _ordered(blocks: Iterable[Rows], order: np.ndarray) -> Iterator[Rows]:
    """Yield the rows of `blocks` in the order `order`, in blocks. All rows are in memory at the same time."""
    rows = stacked(list(blocks))
    for begin in range(0, len(order), DOCUMENTS_PER_BLOCK):
        yield rows[order[begin : begin + DOCUMENTS_PER_BLOCK]]
