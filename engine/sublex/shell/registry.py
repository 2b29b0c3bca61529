"""The table of the shell's commands: operations, by their names in the shell, and the commands of the session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sublex.errors import InputError, UnknownName
from sublex.operations import NAMES, WITHOUT_COMMAND, Operation
from sublex.shell.settings import SETTINGS
from sublex.tools.messages import nearest

# Other words that people type for commands. They stand after a colon; at the prompt, the words of BARE need no colon.
MEANT = {"exit": "quit", "q": "quit", "bye": "quit", "h": "help", "?": "help", "man": "help"}
SEARCHES = ("search", "query", "find", "s")
BARE = ("help", "?", "quit", "exit")


def bare_command(text: str) -> str:
    """Return the command for a word such as `help` that needs no colon; "" for any other line."""
    word = text.strip().rstrip(";").removesuffix("()").lower()
    return f":{MEANT.get(word, word)}" if word in BARE else ""


def is_command(text: str) -> bool:
    """Return whether a line is a command."""
    return text.lstrip().startswith(":") and not text.lstrip().startswith("::")


class ShellCommands:
    """The table of the shell's commands by name."""

    def __init__(self, operations: Iterable[Operation] = ()) -> None:
        self._commands: dict[str, Operation] = {}
        # Names of commands that only the command line has. The shell knows them only for a message.
        self._elsewhere = {name.split()[0] for name in NAMES if name not in WITHOUT_COMMAND}
        for each in operations:
            self.add(each)

    def add(self, operation: Operation) -> None:
        """Add an operation of the shell. Raise InputError if a command has the same name."""
        if "shell" not in operation.faces:
            self._elsewhere.add(operation.name)
            return
        if operation.shell in self._commands:
            raise InputError(f"There is a command :{operation.shell} already")
        self._commands[operation.shell] = operation

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._commands.values())

    def names(self) -> list[str]:
        """Return the names of all commands."""
        return list(self._commands)

    def doing(self, name: str) -> Operation | None:
        """Return the operation with this name if the shell has it, even under another name."""
        return next((each for each in self if each.name == name), None)

    def known(self, name: str) -> Operation | None:
        """Return a command by its name or by another word for it, such as q, in any case. Return None if it is unknown."""
        return self._commands.get(name.lower()) or self._commands.get(MEANT.get(name.lower(), ""))

    def find(self, name: str) -> Operation:
        """Return a command by its name, in any case. Raise UnknownName, with the most similar names, if there is none."""
        if not name:
            raise InputError("Write a command after the colon; :help lists all.")
        found = self.known(name)
        if found is None:
            if name.lower() in SEARCHES:
                raise UnknownName(
                    f"There is no command :{name}, for a line without a colon is a query; leave :{name} out."
                )
            if name.lower() in SETTINGS:
                raise UnknownName(f"No command :{name}, but a setting; write :set {name.lower()}=VALUE.")
            if name in self._elsewhere:
                raise UnknownName(f"The shell has no command :{name}; run sublex {name} outside of it.")
            hint = nearest(name, self._commands).replace("mean ", "mean :")
            raise UnknownName(f"No command :{name}; {hint}:help lists all. To search for a colon, begin with two.")
        return found
