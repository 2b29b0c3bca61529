"""Commands that print the last step as code, which gives the same result outside of the shell."""

from __future__ import annotations

import os

from sublex.errors import InputError
from sublex.forms.lines import Shown, line
from sublex.shell.registry import Theme
from sublex.shell.session import Session
from sublex.shell.steps import Step, command_line, python_code

command = Theme("Reproduce")


@command(name="to-cli")
def to_cli(session: Session, rest: str) -> Shown:
    """Print the last step as a command of the command line."""
    step = _step(session)
    if not step.words:
        raise InputError("No command of the command line does this step; try :to-python.")
    text = command_line(step, os.path.abspath(session.path))
    return Shown(lambda: [line(text)], lambda: text)


@command(name="to-python")
def to_python(session: Session, rest: str) -> Shown:
    """Print the last step as a Python program."""
    step = _step(session)
    if not step.python:
        raise InputError("No single call of Python does this step; try :to-cli.")
    text = python_code(step, os.path.abspath(session.path))
    return Shown(lambda: [line(part) for part in text.split("\n")], lambda: text)


def _step(session: Session) -> Step:
    if session.step is None:
        raise InputError("The last step has no code; ask a query, or :explain, :doc, :terms or another command.")
    return session.step
