"""The commands of the session itself, a file for each theme.

They change the memory of the shell, so no other face has them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sublex.errors import InputError
from sublex.operations import SECTIONS, Needs, Operation, find, plugin_operations
from sublex.shell.registry import ShellCommands

# The files of commands by the section of the help.
THEMES = {
    "Change the ranking": "ranking",
    "Topics and judgements": "topics",
    "Keep results and queries": "keeping",
    "Reproduce": "code",
    "The session": "control",
}


def built_in() -> ShellCommands:
    """Return a table of the operations in the shell, and of the shell's own commands."""
    table = ShellCommands()
    for section, places in SECTIONS.items():
        for name, place in places.items():
            # All other operations belong to the command line.
            if "." not in place:
                each = find(name)
                each.section = section
                table.add(each)
    for section, theme in THEMES.items():
        module = import_module(f"sublex.shell.commands.{theme}")
        for each in vars(module).values():
            if isinstance(each, Operation) and each.needs is Needs.SESSION:
                each.section = section
                table.add(each)
    return table


def add_plugins(table: ShellCommands, registry: Any) -> list[str]:
    """Add the operations of the installed plugins. Return a sentence for each plugin that failed."""
    found, failures = plugin_operations(registry)
    for each in found:
        try:
            table.add(each)
        except InputError as error:
            failures.append(f"{error}.")
    return failures
