"""Rows that come with a segment: new documents are encoded before they are committed, merged ones keep their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sublex.errors import IndexCorrupt, PluginError, SublexError
from sublex.fitted import Representation, Rows
from sublex.index.manifest import FITTED, REPRESENTATIONS, SEGMENTS, Manifest
from sublex.index.segment import Segment
from sublex.index.writer import BeforeCommit
from sublex.messages import command, counted
from sublex.representations.fitting import UNKNOWN, Fitting, loaded, seen
from sublex.representations.inputs import ROWS
from sublex.representations.job import Options
from sublex.representations.rows import kind_of_rows, read_rows, write_rows


def encode_before_commit(root: Path, options: Options) -> BeforeCommit:
    """What a writer calls before it commits a segment."""

    def before_commit(new: Manifest, replaced: Sequence[Manifest]) -> None:
        if not new.get(FITTED):
            return
        if replaced:
            # What lacks rows gets them before, so that all that is merged has some.
            before = new | {
                "segments": replaced,
                FITTED: _covered(root, new | {"segments": replaced}, options, "merged"),
            }
            new[FITTED] = _merged(root, new, before, options.say)
        else:
            new[FITTED] = _covered(root, new, options, "new")

    return before_commit


def _covered(root: Path, new: Manifest, options: Options, which: str) -> Manifest:
    """Every model with rows for all documents; those that cannot give any leave them uncovered, which is said."""
    work = Fitting(root, new, options)
    for name, entry in new[FITTED].items():
        for place, rows in entry["rows"].items():
            if all(segment["name"] in rows["segments"] for segment in new["segments"]):
                continue
            try:
                resolved = work.namer.resolve(rows["expression"])
                made = work.namer.make(resolved)
                found = work.namer.identity(resolved, made)
                if (found.model, found.rows) != (name, place):
                    raise SublexError("What it was fitted with has changed since, the plugin or a file; fit it again.")
                assert isinstance(made, Representation)
                work.cover(loaded(root, entry, found, made), found)
            except SublexError as error:
                update = command("fit", root, "--update")
                options.say(
                    f"{rows['expression']} does not cover the {which} documents. {error} When that is mended, run: {update}"
                )
                continue
            if which == "new":
                _advise(work.fitted, name, root, options.say)
    return work.fitted


def _advise(fitted: Manifest, name: str, root: Path, say: Callable[[str], None]) -> None:
    """Say when a model knows too little of what was added since it was fitted; some words it may leave out on purpose."""
    whole, added = seen(fitted[name])
    before = (whole["unknown"] - added["unknown"]) / max(1, whole["tokens"] - added["tokens"])
    if added["unknown"] > (before + UNKNOWN) * added["tokens"]:
        share, tokens = added["unknown"] / added["tokens"], counted(added["tokens"], "token")
        own = fitted[name]["expression"]
        again = [*(entry["expression"] for entry in fitted.values() if name in entry["depends"]), own]
        say(
            f"{own} does not know {share:.0%} of the {tokens} added since it was fitted, and {before:.0%} of those before; "
            f"fit it again: {command('forget', root, *again)} && {command('fit', root, *again)}"
        )


def _merged(root: Path, new: Manifest, before: Manifest, say: Callable[[str], None]) -> Manifest:
    """Every model with the rows of the segments that became one, without those of deleted documents."""
    segments = [Segment(root / SEGMENTS / entry["name"], entry) for entry in before["segments"]]
    live = [~segment.dead for segment in segments]
    names = {segment.name for segment in segments}
    last = new["segments"][-1]["name"]
    fitted = {}
    for name, entry in before[FITTED].items():
        rows = {}
        for place, own in entry["rows"].items():
            covered = {key: value for key, value in own["segments"].items() if key not in names}
            if names <= own["segments"].keys():
                try:
                    covered[last] = _joined(
                        root / REPRESENTATIONS / name / place, own["segments"], segments, live, last
                    )
                except (IndexCorrupt, PluginError) as error:
                    say(f"{own['expression']} does not cover the merged documents. {error}")
            rows[place] = own | {"segments": covered}
        known = {key: value for key, value in entry["seen"].items() if key not in names}
        if names <= entry["seen"].keys():
            whole, added = seen(entry, names)
            known[last] = whole | {"added": added}
        fitted[name] = entry | {"rows": rows, "seen": known}
    return fitted


def _joined(
    place: Path, rows: Mapping[str, Any], segments: Sequence[Segment], live: Sequence[np.ndarray], last: str
) -> Manifest:
    def parts() -> Iterator[Rows]:
        kind = None
        for segment, mask in zip(segments, live, strict=True):
            own = read_rows(place / segment.name, rows[segment.name]["data"], segment.docs)
            if kind_of_rows(own) != (kind := kind or kind_of_rows(own)):
                raise PluginError("Their rows are of different shapes or types.")
            for begin in range(0, segment.docs, ROWS):
                yield own[begin : begin + ROWS][mask[begin : begin + ROWS]]

    return {"data": write_rows(place / last, parts())}
