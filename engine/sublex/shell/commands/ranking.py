"""Commands that change how the session ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from sublex.contracts.base import QueryTerm
from sublex.errors import InputError, SublexError
from sublex.forms.lines import Shown, records
from sublex.language.expression import Call, walk
from sublex.language.plugins import Component
from sublex.operations import Needs, operation, positional
from sublex.operations.context import query_files
from sublex.pipeline.weighted import query_of
from sublex.shell.rewriting import after_expanders, with_expander, with_parameter
from sublex.shell.session import Session
from sublex.shell.settings import NAMES, SETTINGS
from sublex.tools.messages import unknown


@operation(needs=Needs.SESSION)
def rank(session: Session, expression: Annotated[str, positional("EXPR", completes="expression")] = "") -> Shown:
    """Rank by an expression from now on, and answer the last query again. Without EXPR, show the expression."""
    return session.rank_by(expression) if expression else session.ranking()


@operation("set", Needs.SESSION)
def change(session: Session, changes: Annotated[str, positional("NAME=VALUE...", completes="setting")] = "") -> Shown:
    """Change settings, or parameters of the expression, and answer the last query again. Without arguments, list the settings.

    BM25.b=0.4 changes a parameter of each BM25 in the expression; b=0.4 does so if only one component has a parameter b.
    k=20 sets the number of hits. format is table, json, csv or trec. bars=on draws a bar for each score. labels=EXPR colours
    the words of a fitted model in passages. timing and pager are on or off. profile is a profile, or none.
    language is plain or query: how queries and topics are read. queries=NAME=FILE names a file with vectors of queries.
    With judged=on, expanders learn from the judgements of the current topic: relevant documents add to the query, others
    subtract.
    """
    settings = session.settings
    if not changes:
        others = [(name, settings.shown(name)) for name in NAMES if name != "expression"]
        return records(("setting", "value"), [("rank", str(session.pipeline())), *others])
    before = asdict(settings)
    try:
        for text in _changes(changes):
            _change(session, text)
        session.pipeline()
    except SublexError:
        for name, value in before.items():
            setattr(settings, name, value)
        raise
    return session.again() or session.ranking()


def _change(session: Session, text: str) -> None:
    """Make one change, such as BM25.b=0.4 or k=20."""
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"{text} has no value; write for example :set BM25.b=0.4 or :set k=20.")
    component, dot, parameter = name.rpartition(".")
    if not dot and name not in SETTINGS:
        component, parameter = _component_with(session, name), name
    if component:
        changed = with_parameter(str(session.pipeline()), component, parameter, value)
        session.settings.expression = str(session.pipeline(changed))
        return
    session.settings.change(name, value)
    notes: Sequence[str] = ()
    if name == "rank" and session.settings.expression:
        pipeline = session.pipeline()
        session.settings.expression, notes = str(pipeline), pipeline.chosen
    if name == "judged" and session.settings.judged and session.qrels_path is None:
        raise InputError("There are no judgements; load them by :qrels FILE, and ask a topic by :topic QID.")
    if name == "queries":
        # Files that cannot be read are refused now, and not by the next query.
        session.index.with_queries(query_files(session.query_vectors()))
    if name == "labels" and session.settings.labels:
        # A model that is not fitted is refused now, and not by the next query.
        session.settings.labels, notes = session.index.meaning(session.settings.labels)
        assert session.index.representation(session.settings.labels)
    for note in notes:
        session.say(note)


def _component_with(session: Session, parameter: str) -> str:
    """Return the only component of the expression that has a parameter. Raise InputError if there is not exactly one."""
    pipeline = session.pipeline()
    named = {node.name: node.values for node in walk(pipeline.expression) if isinstance(node, Component)}
    having = [name for name, values in named.items() if parameter in values]
    if len(having) == 1:
        return having[0]
    if having:
        raise InputError(f"{' and '.join(having)} have {parameter}; write for example :set {having[0]}.{parameter}=…")
    raise InputError(f"{unknown('setting', parameter, SETTINGS)} No part of {pipeline} has a parameter {parameter}.")


def _changes(text: str) -> list[str]:
    """Return the changes in a line. Blanks separate them, except within parentheses and brackets."""
    changes, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == " " and not depth:
            changes.append("")
        else:
            changes[-1] += character
    return [change for change in changes if change]


@operation(needs=Needs.SESSION)
def expand(session: Session, expander: Annotated[str, positional("EXPANDER | none", completes="expander")]) -> Shown:
    """Expand the query by an expander such as RM3, and answer the last query again. `:expand none` takes expanders out."""
    text = str(session.pipeline())
    if expander == "none":
        return session.rank_by(_without(session, text))
    given = session.index.written_out(expander)
    kind = session.index.registry.find("component", given.name).kind if isinstance(given, Call) else "expander"
    if kind != "expander":
        raise InputError(f"{expander} is no expander, it is a {kind}; write :expand RM3, or :rank {expander}.")
    return session.rank_by(with_expander(text, str(given)))


@operation(needs=Needs.SESSION)
def drop(session: Session, numbers: Annotated[tuple[int, ...], positional("N")] = ()) -> Shown:
    """Strike terms out of the expanded query and search with the others. Without numbers, list the terms.

    The others stay as weighted terms, which `sublex search --weighted` and Python take too. The expression keeps the
    stages after its last expander. A query that requires or excludes words keeps all its terms.
    """
    session.asked()
    assert session.answer is not None
    terms = sorted(session.answer.query.terms, key=lambda term: -abs(term.weight))
    surface = session.index.corpus.surface
    if not numbers:
        rows = [(k, surface(t.term), t.term, f"{t.weight:.6g}", t.origin) for k, t in enumerate(terms, 1)]
        return records(("number", "word", "term", "weight", "from"), rows)
    if session.answer.query.condition is not None:
        raise InputError(
            "The query requires or excludes words, which weighted terms cannot say; write the query again without the term."
        )
    struck = set(numbers)
    if wrong := struck - {*range(1, len(terms) + 1)}:
        raise InputError(f"There is no term {min(wrong)}; :drop lists them.")
    kept = [term for k, term in enumerate(terms, 1) if k not in struck]
    if not kept:
        raise InputError("No term would be left; keep one.")
    session.settings.expression = _without(session, str(session.pipeline()))
    return session.search(query_of(QueryTerm(term.term, term.weight) for term in kept), like=session.like)


def _without(session: Session, text: str) -> str:
    registry = session.index.registry
    return after_expanders(text, lambda name: registry.find("component", name).kind == "expander")
