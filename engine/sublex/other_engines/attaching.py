"""Attach an index of another engine: copy its postings into a mirror.

The path of the other index and the user's trust in it are stored outside the mirror.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sublex.analysis.tokens import analyze
from sublex.contracts.foreign import Backend, ForeignIndex, PostingsSource
from sublex.errors import IndexProblem, InputError, PluginError, contract
from sublex.index.attachment import Attachment
from sublex.index.directory import Directory
from sublex.index.entries import AttachedEntry, Manifest
from sublex.index.foreign_places import Place, keep_place
from sublex.index.manifest import MANIFEST, read_manifest
from sublex.index.schema import SchemaMismatch, record_of
from sublex.language import plugins
from sublex.language.parser import parse_call
from sublex.language.profiles import profile as find_profile
from sublex.tools.messages import Step, counted

Say = Callable[[str], None]
# A function that is called with the number of terms, or of documents, read so far.
Progress = Callable[[int], None]


class AttachSettings(NamedTuple):
    """The user's settings for reading a foreign index: an analyzer, a profile, options of the back end, such as a field,
    and whether positions are mirrored.
    """

    analyzer: str | None = None
    profile: str | None = None
    options: Mapping[str, str] = {}
    positions: bool = False


def attach_index(
    path: Path,
    source: str | None = None,
    given: AttachSettings | None = None,
    *,
    trust: bool = False,
    refresh: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done: None,
    say: Say = lambda text: None,
    registry: plugins.Registry | None = None,
) -> None:
    """Make an index at `path` that mirrors an index of another engine.

    Args:
        path: The folder of the new index.
        source: The back end and the path of the foreign index, such as "whoosh:PATH"; with `refresh`, by default the
            back end and path that were given before.
        given: The analyzer, the profile, the options of the back end, and whether positions are mirrored. A refresh
            mirrors them again if they were before.
        trust: Allow the back end to run code that the foreign folder holds; with `refresh`, a folder that was trusted
            before still is.
        refresh: Read the foreign index of an attached index again if it has changed; otherwise only store its place and
            the user's trust in it.
        overwrite: Replace any index at `path`.
        progress: Called with the number of terms that were read so far.
        say: Called with sentences for the user.
        registry: The plugins; by default the installed ones are loaded.
    """
    given = given or AttachSettings()
    registry = registry or plugins.load()
    old = _existing(path, refresh, overwrite)
    place = _place(path, source, given, trust, old if refresh else None, registry)
    backend = _backend(place, registry)
    state = _trusted_state(path, place, backend)
    had_positions = old is not None and "positions" in old.store
    has_positions = given.positions or had_positions
    is_as_given = given._replace(positions=False) == AttachSettings() and has_positions == had_positions
    mirrored = old.attached if old and is_as_given else None
    is_current = mirrored is not None and (mirrored.backend, mirrored.state) == (place.backend, state)
    if old and is_current and not _is_damaged(path, old, say):
        keep_place(path, place)
        say(f"{path} is up to date.")
        return
    with contract("back end", place.backend):
        foreign = backend.open(place.path)
    with closing(foreign):
        attached = _entry(place, state, foreign, has_positions)
        _mirror(path, foreign, place, attached, has_positions, overwrite or refresh, progress, say, registry)
    keep_place(path, place)


def _trusted_state(path: Path, place: Place, backend: Backend) -> str:
    """Return the state of the foreign index at a place, as `Backend.state` describes it.

    Raise InputError if the back end runs code of the foreign index, and the user does not trust this index. Raise it
    also if one of the foreign index and the index at `path` lies within the other.
    """
    common = os.path.commonpath([os.path.realpath(path), place.path])
    if common == place.path:
        raise InputError(
            f"{path} lies in the {place.backend} index {place.path}, which Sublex never writes; choose another place."
        )
    if common == os.path.realpath(path):
        raise InputError(
            f"The {place.backend} index {place.path} lies in {path}, whose files Sublex replaces; choose another place."
        )
    with contract("back end", place.backend):
        state = backend.state(place.path)
    if backend.runs_code and not place.trusted:
        raise InputError(
            f"Opening a {place.backend} index runs code that its folder holds; "
            f"if you trust whoever wrote {place.path}, add --trust (in Python trust=True)."
        )
    return state


def _entry(place: Place, state: str, foreign: ForeignIndex, has_positions: bool) -> AttachedEntry:
    """Return the manifest's entry about a foreign index. The entry never contains the path of the foreign index."""
    entry = {
        "backend": place.backend, "state": state, "id": place.identity, "stores": sorted(foreign.stores),
        "options": dict(place.options),
    }  # fmt: skip
    is_gapless = has_positions and bool(getattr(foreign, "gapless", False))
    try:
        return record_of(entry, AttachedEntry)._replace(gapless=is_gapless)
    except SchemaMismatch as error:
        raise PluginError(f"The back end {place.backend} describes {place.path} wrongly: {error}.") from None


def _existing(path: Path, refresh: bool, overwrite: bool) -> Manifest | None:
    """Return the manifest of the attached index at `path` that is refreshed, or None if a new index is made.

    Raise an error if an index is there that may be neither refreshed nor replaced, or if there is no index to refresh.
    """
    if refresh and overwrite:
        raise InputError(
            "--refresh reads an attached index again, and --overwrite replaces any index; give one of them."
        )
    if not Directory(path).has(MANIFEST):
        if refresh:
            raise IndexProblem(f"No index at {path} to refresh; attach it without --refresh.")
        return None
    if overwrite:
        return None
    old = read_manifest(path)
    if not refresh:
        again = "--refresh to read it again, or " if old.attached else ""
        raise IndexProblem(f"{path} is already an index; attach with {again}--overwrite to replace it.")
    if not old.attached:
        raise IndexProblem(f"{path} is an index of Sublex and mirrors no other; attach with --overwrite to replace it.")
    return old


def _place(
    path: Path, source: str | None, given: AttachSettings, trust: bool, old: Manifest | None, registry: plugins.Registry
) -> Place:
    """Return the place of the foreign index.

    It comes from `source` if the user gave this; otherwise it is the stored place. `old` is the manifest of the
    attached index that is refreshed. Settings that are not in `given` come from the stored place. The trust in the
    folder also comes from there, if the folder is the same.
    """
    mirrored = old.attached if old else None
    known = Attachment(path, mirrored, 0, lambda: registry).place if mirrored else None
    if source is None:
        if mirrored is None:
            raise InputError(f"Name the index that {path} shall mirror: {Step('attach', path, 'BACKEND:PATH')}")
        if known is None:
            raise InputError(
                f"Sublex does not know which index {path} mirrors; name it: {Step('attach', path, 'BACKEND:PATH', refresh=True)}"
            )
        name, where = known.backend, known.path
    else:
        name, colon, where = source.partition(":")
        if not (name and colon and where):
            raise InputError(
                f"{source or repr(source)} names no index of another engine; write BACKEND:PATH, as in whoosh:folder."
            )
        name = registry.find("backend", name).name
    if mirrored and name != mirrored.backend:
        raise IndexProblem(
            f"{path} mirrors a {mirrored.backend} index, and {where} is a {name} index; "
            "attach with --overwrite to replace it."
        )
    identity = mirrored.id if mirrored else secrets.token_hex(16)
    settings = AttachSettings(None, None, mirrored.options if mirrored else {})
    if known:
        settings = AttachSettings(known.analyzer, known.profile, known.options)
    options = {**settings.options, **given.options}
    where = os.path.realpath(os.path.expanduser(where))
    # Trust belongs to one folder, and to those who can write there. It does not apply to another folder.
    trusted = trust or (known is not None and known.trusted and known.path == where)
    return Place(
        identity, name, where, trusted, given.analyzer or settings.analyzer,
        given.profile or settings.profile, options,
    )  # fmt: skip


def _backend(place: Place, registry: plugins.Registry) -> Backend:
    """Return the back end of a place.

    Raise an error if the back end does not know an option of the place, or if a package that it needs is not installed.
    """
    known = [param.name for param in registry.find("backend", place.backend).params]
    for option in place.options:
        if option not in known:
            raise InputError(f"The back end {place.backend} has no option --{option}.")
    with contract("back end", place.backend):
        backend: Backend = registry.build("backend", place.backend, dict(place.options))
        missing = backend.missing()
    if missing:
        raise InputError(missing)
    return backend


def _is_damaged(path: Path, old: Manifest, say: Say) -> bool:
    """Return whether a file of the mirror is damaged. If so, tell the user which file."""
    from sublex.index.check import damaged_segments

    problems = damaged_segments(path, old)
    if problems:
        # The message after the semicolon advises to rebuild the index, which is wrong here.
        say(f"{problems[0].rpartition(';')[0] or problems[0]}, so the other index is read again.")
    return bool(problems)


def _mirror(
    path: Path, foreign: ForeignIndex, place: Place, attached: AttachedEntry, has_positions: bool, overwrite: bool,
    progress: Progress, say: Say, registry: plugins.Registry,
) -> None:  # fmt: skip
    """Write the mirror of a foreign index, with positions if `has_positions` is true."""
    from sublex.other_engines.from_postings import create_from_postings
    from sublex.other_engines.joined_fields import JoinedFields

    profile: str = place.profile or str(getattr(foreign, "profile", "sublex"))
    find_profile(profile)
    analyzer = place.analyzer or foreign.analyzer
    if analyzer is None:
        raise InputError(
            f"The analyzer of {place.path} is not known; name the one that analyses queries as it analysed documents, by --analyzer."
        )
    analyzer = str(registry.resolve("analyzer", parse_call(analyzer, unnamed=True)))
    if not foreign.docs:
        raise InputError(f"The {place.backend} index {place.path} holds no documents.")
    source = _with_positions(foreign, place.backend) if has_positions else foreign
    if fields := getattr(foreign, "fields", ()):
        with contract("back end", place.backend):
            source = JoinedFields(source, fields)
    for note in foreign.notes:
        say(note)
    if hasattr(foreign, "check_analyzer"):
        with contract("back end", place.backend):
            remark = foreign.check_analyzer(analyzer, partial(analyze, registry.make("analyzer", analyzer)))
        if remark:
            say(remark)
    say(f"Reading {counted(foreign.docs, 'document')}; queries are analysed by {analyzer}.")
    with contract("back end", place.backend):
        summary = create_from_postings(
            path, source, analyzer=analyzer, profile=profile, attached=attached, overwrite=overwrite, progress=progress,
            registry=registry,
        )  # fmt: skip
    for remark in summary.remarks():
        say(remark)


def _with_positions(foreign: ForeignIndex, backend: str) -> PostingsSource:
    """Return the source of the foreign index's postings with positions. Raise InputError if there are none."""
    if not hasattr(foreign, "with_positions"):
        raise InputError(
            f"The back end {backend} brings no positions; leave --positions out (in Python positions), or replace the "
            "index by --overwrite."
        )
    with contract("back end", backend):
        return foreign.with_positions()
