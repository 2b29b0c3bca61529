"""The checks of operations: their declarations are complete and correct."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from sublex.operations import NAMES, Operation
from sublex.testing.subject import called

# The options that every command has, apart from those of its parameters.
GENERAL = {"-h", "--help", "-v", "--verbose", "--format", "-o", "--output", "--index"}


def declaration_makes_a_command(operation: Operation) -> None:
    """The signature of the function declares parameters, and the name is free."""
    assert operation.name not in NAMES, f"Sublex has an operation {operation.name}; give this one another name"
    parameters = called("the signature", lambda: operation.parameters, about="when the command is made")
    flags = [flag for each in parameters for flag in each.flags or ()]
    twice = {flag for flag in flags if flags.count(flag) > 1 or flag in GENERAL}
    assert not twice, f"the signature declares {min(twice)} twice, or as Sublex does; give the option another name"
    for each in parameters:
        assert each.default is ... or not each.choices or each.default in (*each.choices, None), (
            f"the default of {each.name} is {each.default!r}, which is none of its choices; change one of them"
        )


def help_is_complete(operation: Operation) -> None:
    """The docstring describes the operation and each option, and no parameter that is not there."""
    assert operation.function.__doc__, "the function has no docstring; write one, which sublex shows as help"
    names = {each.name for each in operation.parameters} | {"output"}
    unknown = operation.helps.keys() - names
    assert not unknown, f"Args: in the docstring describes {min(unknown)}, which is no parameter; correct the name"
    bare = [each.name for each in operation.parameters if each.flags and not (each.help or each.hidden)]
    assert not bare, f"the option {bare[0]} has no help; describe it under Args: in the docstring"


def examples_fit_the_declaration(operation: Operation) -> None:
    """The docstring has examples, and they use options that the operation has."""
    if "cli" not in operation.faces:
        return
    begin = f"sublex {operation.name}"
    examples = [line for line in operation.examples if line.startswith(begin)]
    assert examples, f"the docstring has no example; write a line under Examples: that begins with {begin}"
    flags = {flag for each in operation.parameters for flag in each.flags or ()} | GENERAL
    for line in examples:
        words = called("an example", shlex.split, line, about=f"in {line!r}")
        wrong = [
            word for word in words if word.startswith("-") and word.partition("=")[0] not in flags and not _number(word)
        ]
        assert not wrong, f"the example {line!r} has the option {wrong[0]}, which the operation lacks; correct it"


def _number(word: str) -> bool:
    return word.lstrip("-").replace(".", "", 1).isdigit()


CHECKS: tuple[Callable[[Operation], None], ...] = (
    declaration_makes_a_command,
    help_is_complete,
    examples_fit_the_declaration,
)
