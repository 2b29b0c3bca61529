"""Commands that print the last step as code. The code gives the same result outside the shell."""

from __future__ import annotations

import os

from sublex.errors import InputError
from sublex.forms.lines import Shown, line
from sublex.operations import Needs, operation
from sublex.operations.parameters import DataFile
from sublex.operations.searching import compared
from sublex.shell.session import Last, Session

# The lines of Python that print a result.
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


@operation(needs=Needs.SESSION)
def to_study(session: Session, file: DataFile) -> Shown:
    """Write the loaded topics and judgements, with the expressions of the last :compare, as a study.

    Without a comparison, the study has the expression of the session.
    """
    from sublex.operations.evaluating import save_comparison
    from sublex.studies.from_comparison import ComparedSystems

    topics, qrels = session.loaded_topics(), session.loaded_qrels()
    given = session.comparison.arguments if session.comparison is not None else {}
    if given.get("queries"):
        raise InputError("A study cannot name vectors of queries yet; compare without --queries first.")
    rankers = compared(given["rankers"], given["ranking"]) if given.get("rankers") else (str(session.pipeline()),)
    names = ("test", "correction", "alpha", "seed", "k", "by", "groups")
    options = {name: given[name] for name in names if name in given}
    if given.get("measures"):
        options["measures"] = tuple(given["measures"])
    saved = ComparedSystems(
        session.path, topics.path, qrels.path, rankers, (), "+".join(topics.used), session.contradictions,
        session.settings.language, given.get("collapse", ""), session.settings.profile, options,
    )  # fmt: skip
    written = session.worded(save_comparison(file, saved))
    return Shown(lambda: [line(written)], lambda: file)


def _last(session: Session) -> Last:
    if session.step is None:
        raise InputError("The last step has no code; ask a query, or :explain, :doc, :terms or another command.")
    return session.step
