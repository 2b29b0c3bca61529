"""The panels of plugins: views of the page whose modules are read once, when the server starts, and sent by their hash.

A request never names a file on the disk. What is sent are the bytes that were read at the start.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sublex.contracts.panels import Panel
from sublex.errors import InputError
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.language.plugins import Registry

NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
# The files of a panel by their endings; others are left out.
ENDINGS = (".js", ".mjs", ".css", ".svg")
# Bytes and number of the files of a panel, and characters of its title.
MOST_BYTES, MOST_FILES, LONGEST = 1 << 20, 64, 40


@dataclass(frozen=True)
class LoadedPanel:
    """A panel with its files by their names in the folder. `module` is the address of its module in the page."""

    name: str
    title: str
    module: str
    files: Mapping[str, bytes]


def panels_of(registry: Registry) -> tuple[list[LoadedPanel], list[str]]:
    """Return the panels that plugins register, and a sentence for each plugin that failed to."""
    found: dict[str, LoadedPanel] = {}

    def register(panel: Panel) -> None:
        loaded = _loaded(panel)
        if loaded.name in found:
            raise InputError(f"There is a panel {loaded.name} already")
        found[loaded.name] = loaded

    failures = registry.call_all("register_panels", register, "panels")
    return list(found.values()), failures


def _loaded(panel: Panel) -> LoadedPanel:
    """Return a panel with its files. Raise InputError for one that cannot be shown."""
    if not isinstance(panel, Panel):
        raise InputError(
            f"An object of type {type(panel).__name__} is no Panel; register sublex.contracts.panels.Panel(…)"
        )
    if not isinstance(panel.name, str) or not NAME.fullmatch(panel.name):
        raise InputError(f"The name of a panel is {panel.name!r}; write small letters, digits and hyphens, at most 32")
    if not isinstance(panel.title, str) or not panel.title.strip() or len(panel.title) > LONGEST:
        raise InputError(f"The title of the panel {panel.name} is no text of 1 to {LONGEST} characters")
    files = _read(panel)
    if panel.module not in files:
        raise InputError(f"The panel {panel.name} has no file {panel.module!r} in {panel.folder}")
    # A path of its own for each content, in which modules find each other by relative names.
    whole = hashlib.sha256()
    for name, data in files.items():
        whole.update(f"{name}\0{len(data)}\0".encode() + data)
    place = f"panels/{panel.name}/{whole.hexdigest()[:16]}"
    return LoadedPanel(
        panel.name,
        panel.title,
        f"/page/{place}/{panel.module}",
        {f"{place}/{name}": data for name, data in files.items()},
    )


def _read(panel: Panel) -> dict[str, bytes]:
    """Return the files in the folder of a panel. Links are left out, so that nothing outside of the folder is read."""
    folder = Path(os.path.realpath(panel.folder))
    if not folder.is_dir():
        raise InputError(f"The panel {panel.name} has no folder {panel.folder}")
    files, size = dict[str, bytes](), 0
    for path in sorted(folder.rglob("*")):
        if path.suffix not in ENDINGS or not path.is_file() or Path(os.path.realpath(path)) != path:
            continue
        size += path.stat().st_size
        if size > MOST_BYTES or len(files) == MOST_FILES:
            most = f"{counted(MOST_FILES, 'file')} and {MOST_BYTES:,} bytes"
            raise InputError(f"The panel {panel.name} has more than {most}; leave some out")
        files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files
