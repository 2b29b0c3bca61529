"""The commands of the shell: a file for each theme, and in it a function for each command.

The docstring of the function is the help of the command.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sublex.errors import SublexError
from sublex.shell.registry import Commands
from sublex.tools.messages import in_short

# The files of commands, in the order of the help.
THEMES = ("looking", "ranking", "explaining", "topics", "keeping", "code", "control")


def built_in() -> Commands:
    """Return a table of the shell's own commands."""
    table = Commands()
    for name in THEMES:
        theme = import_module(f"sublex.shell.commands.{name}").command
        for declared in theme.commands:
            table.add(section=theme.section, **declared)
    return table


def add_plugins(table: Commands, registry: Any) -> list[str]:
    """Let each installed plugin add its commands; return a sentence for each one that failed."""
    import click

    failures = []
    for plugin, implementation in registry.hook("register_commands"):
        try:
            # A plugin adds its commands to the command line and to the shell by one hook; here only the shell's are kept.
            implementation(cli=click.Group(), shell=table)
        except Exception as error:
            reason = str(error).rstrip(".") if isinstance(error, SublexError) else in_short(error)
            failures.append(f"Plugin {plugin.name} could not add its commands: {reason}.")
    return failures
