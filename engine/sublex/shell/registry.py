"""The table of the shell's commands: names, functions, and the help that their docstrings hold."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from sublex.errors import InputError, UnknownName
from sublex.tools.messages import nearest

if TYPE_CHECKING:
    from sublex.forms.lines import Shown
    from sublex.shell.session import Session

# A command gets the session and the rest of its line. It returns what to show, or nothing.
Function = Callable[["Session", str], "Shown | None"]

# The section of the commands of plugins in the help.
PLUGINS = "Plugins"


def is_command(text: str) -> bool:
    """Return whether a line is a command."""
    return text.lstrip().startswith(":") and not text.lstrip().startswith("::")


class Command(NamedTuple):
    """A command: its name, its function, its arguments as the help shows them, what completes them, and its section."""

    name: str
    function: Function
    usage: str = ""
    completes: str = ""
    section: str = PLUGINS

    @property
    def help(self) -> str:
        """The docstring of the function."""
        return inspect.getdoc(self.function) or "It has no description."

    @property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        return f"{' '.join(self.help.split()).partition('. ')[0].rstrip('.')}."


class Commands:
    """Commands by name. Plugins get such a table in `register_commands(shell=…)` and call `add`."""

    def __init__(self) -> None:
        self._commands: dict[str, Command] = {}

    def add(
        self, function: Function, usage: str = "", *, name: str = "", completes: str = "", section: str = PLUGINS
    ) -> Function:
        """Add a command: a function of the session and of the text after the command's name, which returns what to show.

        The name of the command is that of the function, with - for _. `usage` shows its arguments, as in "WORD TOPIC"; a
        command without `usage` is refused with any text after it.
        `completes` says what may follow: "docno", "word", "expression", "expander", "fittable", "model", "component" or "file".
        """
        named = name or function.__name__.replace("_", "-")
        if named in self._commands:
            raise InputError(f"There is a command :{named} already")
        self._commands[named] = Command(named, function, usage, completes, section)
        return function

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def names(self) -> list[str]:
        """Return the names of all commands."""
        return list(self._commands)

    def find(self, name: str) -> Command:
        """Return a command by its name, whatever its case. Raise UnknownName, with the most similar name."""
        if not name:
            raise InputError("Write a command after the colon; :help lists all.")
        found = self._commands.get(name.lower())
        if found is None:
            if name in _command_line():
                raise UnknownName(f"The shell has no command :{name}; run sublex {name} outside of it.")
            hint = nearest(name, self._commands)
            raise UnknownName(f"No command :{name}; {hint}:help lists all. To search for a colon, begin with two.")
        return found


def _command_line() -> list[str]:
    """Return the names of the commands of the command line, those of plugins included."""
    from click import Context

    from sublex.cli import cli

    return cli.list_commands(Context(cli))


class Theme:
    """A decorator that collects the commands of one file; `shell/commands/__init__.py` adds them to a table."""

    def __init__(self, section: str):
        self.section = section
        self.commands: list[dict[str, Any]] = []

    def __call__(self, usage: str = "", *, name: str = "", completes: str = "") -> Callable[[Function], Function]:
        """Return the decorator that makes a function a command with these arguments."""

        def collect(function: Function) -> Function:
            self.commands.append({"function": function, "usage": usage, "name": name, "completes": completes})
            return function

        return collect
