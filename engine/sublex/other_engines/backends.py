"""List the back ends, which are the engines whose indexes can be attached, and the packages that they still need."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import NamedTuple

from sublex.errors import SublexError, contract
from sublex.language.plugins import Registry


class BackendRow(NamedTuple):
    """A back end of a plugin.

    `about` is the first paragraph of its description. `retrievers` are the names of the retrievers that search its
    indexes. `runs_code` says whether it runs code that is stored in an index. `missing` says how to install missing
    parts, or why the back end fails. It is empty if the back end works.
    """

    name: str
    plugin: str
    about: str
    retrievers: tuple[str, ...]
    runs_code: bool
    missing: str


def backends(registry: Registry) -> list[BackendRow]:
    """Return the back ends of all plugins, by name."""
    return [_row(registry, name) for name in registry.names("backend")]


def _row(registry: Registry, name: str) -> BackendRow:
    registration = registry.find("backend", name)
    about = (inspect.getdoc(registration.factory) or "").split("\n\n")[0]
    runs_code, missing = False, ""
    try:
        with contract("back end", name):
            backend = registry.build("backend", name, {})
            runs_code, missing = bool(backend.runs_code), backend.missing() or ""
    except SublexError as error:
        missing = str(error)
    return BackendRow(
        name, registration.plugin, " ".join(about.split()), _retrievers(registry, name), runs_code, missing
    )


def _retrievers(registry: Registry, backend: str) -> tuple[str, ...]:
    """Return the names of the retrievers that search indexes of a back end."""
    names = []
    for name in registry.names("retriever"):
        # A retriever with a parameter that is required is not listed.
        with suppress(SublexError), contract("retriever", name):
            if registry.build("retriever", name, {}).backend == backend:
                names.append(name)
    return tuple(names)
