"""The user's file of foreign indexes: the path of the foreign index behind each attached index, and whether the user trusts it.

The file stands beside the settings of the shell and never in an index, so an index folder from another person can
neither choose a path nor declare itself trusted.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex.tools.files import replace_file
from sublex.tools.plain_files import open_plain

# The largest size of the file in bytes.
MOST_BYTES = 1 << 24


class Place(NamedTuple):
    """The foreign index behind an attached index, as the user attached it.

    `identity` is the random id of the attached index, and `backend` the name of the back end that opens the foreign
    one. `path` is the path of the foreign index, and `trusted` says that the user trusts whoever wrote it. `analyzer`,
    `profile` and `options` are the settings that the user gave; they are used again when the index is refreshed.
    """

    identity: str
    backend: str
    path: str
    trusted: bool
    analyzer: str | None = None
    profile: str | None = None
    options: Mapping[str, str] = {}


def places_path() -> Path:
    """Return the user's file of foreign indexes."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) / "sublex" / "attached.json"


def place_of(root: Path, identity: str) -> Place | None:
    """Return the place of the foreign index behind the index at `root`, or None if the user has not attached it here."""
    entry = _read().get(_key(root))
    if not isinstance(entry, dict) or entry.get("identity") != identity:
        return None
    try:
        place = Place(**entry)
    except TypeError:
        raise _unreadable() from None
    if not isinstance(place.options, dict):
        raise _unreadable()
    texts = (place.backend, place.path, *place.options, *place.options.values())
    if not all(isinstance(text, str) for text in texts) or not isinstance(place.trusted, bool):
        raise _unreadable()
    return place


def keep_place(root: Path, place: Place) -> None:
    """Write the place of the foreign index behind the index at `root` into the user's file, in one atomic step."""
    path = places_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes that attach indexes at the same time write one after the other.
        with open_plain(path.with_name(f"{path.name}.lock"), make=True) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            entries = _read() | {_key(root): place._asdict()}
            replace_file(path, json.dumps(entries, indent=1, sort_keys=True).encode() + b"\n")
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}.") from None


def _key(root: Path) -> str:
    return os.path.realpath(root)


def _read() -> dict[str, Any]:
    """Return the entries of the user's file, by the paths of the attached indexes with links resolved."""
    try:
        with open_plain(places_path()) as file:
            entries = json.loads(file.read(MOST_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        raise _unreadable() from None
    if not isinstance(entries, dict):
        raise _unreadable()
    return entries


def _unreadable() -> InputError:
    return InputError(f"Cannot read {places_path()}, the list of attached indexes; move it away and attach them again.")
