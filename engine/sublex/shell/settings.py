"""The settings of a session: how it ranks and shows results. `:set` changes them. A file may have the user's own settings."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sublex.errors import InputError
from sublex.faces.user_folders import config_folder
from sublex.tools.messages import unknown
from sublex.tools.plain_files import open_plain

FORMATS = ("table", "json", "csv", "trec")


@dataclass
class ShellSettings:
    """The settings of a shell: how it ranks, and how it shows results.

    If `expression` is None, the default ranker of the profile ranks. `k` is the number of hits. `labels` is the fitted
    model whose words are coloured in passages. `keys` is "emacs" or "vi". `language` is the language of queries and
    topics: "plain" or "query". `queries` names files with vectors of queries, as in "bge=queries.npz". `judged` says
    whether expanders learn from the loaded judgements.
    """

    expression: str | None = None
    k: int = 10
    profile: str | None = None
    language: str = "plain"
    queries: str | None = None
    judged: bool = False
    allow_uncovered: bool = False
    format: str = "table"
    bars: bool = True
    labels: str | None = None
    timing: bool = False
    pager: bool = True
    keys: str = "emacs"

    def shown(self, name: str) -> str:
        """Return a setting as a user types it: on, off, none, a number or a text."""
        value = getattr(self, name)
        if isinstance(value, bool):
            return "on" if value else "off"
        return "none" if value is None else str(value)

    def change(self, name: str, value: Any) -> None:
        """Give a setting a value that a user typed. Raise InputError for an unknown name or a value of another type."""
        if name == "rank":
            name = "expression"
        kinds = {name: type(getattr(ShellSettings(), name)) for name in NAMES}
        if name not in kinds:
            raise InputError(unknown("setting", name, SETTINGS))
        setattr(self, name, _typed(name, value, kinds[name]))


# The settings that can be changed while an index is open.
NAMES = [field.name for field in fields(ShellSettings) if field.name != "allow_uncovered"]
# The names of these settings for users.
SETTINGS = ["rank" if name == "expression" else name for name in NAMES]


def _typed(name: str, value: Any, kind: type) -> Any:
    text = str(value).strip()
    if kind is bool:
        if text.lower() in ("on", "true", "yes", "off", "false", "no"):
            return text.lower() in ("on", "true", "yes")
        raise InputError(f"{name} is on or off, not {text}.")
    if kind is int:
        if text.isdecimal() and int(text) > 0:
            return int(text)
        raise InputError(f"{name} is a whole number above 0, not {text}.")
    choices = {"format": FORMATS, "language": ("plain", "query"), "keys": ("emacs", "vi")}.get(name)
    if choices and text not in choices:
        raise InputError(f"{name} is {' or '.join(choices)}, not {text}.")
    return None if kind is type(None) and text.lower() in ("", "none", "off") else text


def config_path() -> Path:
    """Return the user's file of settings."""
    return config_folder() / "shell.toml"


def read_settings() -> ShellSettings:
    """Return the settings of the user's file, or the defaults without one. Raise InputError for a mistake in the file."""
    settings, path = ShellSettings(), config_path()
    try:
        with open_plain(path) as file:
            declared = tomllib.load(file)
    except FileNotFoundError:
        return settings
    except (OSError, ValueError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from None
    for name, value in declared.items():
        try:
            settings.change(name, value)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
    return settings
