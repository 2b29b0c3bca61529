"""Saved queries: named queries with their expressions, in a file that all sessions of a user share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from sublex.errors import InputError
from sublex.faces.user_folders import state_folder
from sublex.tools.files import replace_file
from sublex.tools.plain_files import open_plain


class Saved(NamedTuple):
    """A saved query: its text, whether this is weighted terms, its expression, the path of its index, and its language.

    `like` is the document that the query was made from.
    """

    query: str
    weighted: bool
    expression: str
    path: str
    like: str = ""
    language: str = "plain"


def read_saved() -> dict[str, Saved]:
    """Return the saved queries by name. Raise InputError for a damaged file."""
    path = state_folder() / "queries.json"
    try:
        with open_plain(path) as file:
            stored = json.loads(file.read().decode(errors="surrogatepass"))
        return {name: Saved(**entry) for name, entry in stored.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"Cannot read {path}; move it away to begin a new one.") from None


def write_saved(saved: Mapping[str, Saved]) -> None:
    """Replace the saved queries."""
    path = state_folder() / "queries.json"
    text = json.dumps({name: entry._asdict() for name, entry in saved.items()}, ensure_ascii=False, indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Bytes that are not UTF-8 come from a terminal as surrogates.
        replace_file(path, text.encode(errors="surrogatepass"))
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}.") from None
