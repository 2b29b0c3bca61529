"""Commands that print the last step as code, which gives the same result outside of the shell."""

from __future__ import annotations

import os

from sublex.errors import InputError
from sublex.forms.lines import Shown, line
from sublex.operations import Needs, operation
from sublex.shell.session import Last, Session

# How code prints a result.
PRINTERS = {
    "hits": "for hit in {}:\n    print(hit.rank, hit.docno, hit.score)",
    "rows": "for row in {}:\n    print(row)",
    "value": "print({})",
}


@operation(needs=Needs.SESSION)
def to_cli(session: Session) -> Shown:
    """Print the last step as a command of the command line."""
    last = _last(session)
    step = last.twin or last.operation.step(last.arguments, os.path.abspath(session.path))
    if step is None:
        raise InputError("No command of the command line does this step; try :to-python.")
    return Shown(lambda: [line(str(step))], lambda: str(step))


@operation(needs=Needs.SESSION)
def to_python(session: Session) -> Shown:
    """Print the last step as a Python program."""
    last = _last(session)
    code = last.operation.code(last.arguments)
    if not code:
        raise InputError("No single call of Python does this step; try :to-cli.")
    opened = f"import sublex\n\nindex = sublex.open({os.path.abspath(session.path)!r})"
    text = f"{opened}\n{PRINTERS[last.operation.prints].format(code)}"
    return Shown(lambda: [line(part) for part in text.split("\n")], lambda: text)


def _last(session: Session) -> Last:
    if session.step is None:
        raise InputError("The last step has no code; ask a query, or :explain, :doc, :terms or another command.")
    return session.step
