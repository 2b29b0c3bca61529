"""Commands that change how the session ranks, and that compare rankings."""

from __future__ import annotations

from dataclasses import asdict

from sublex.contracts.base import QueryTerm
from sublex.display.versus import Ranking
from sublex.display.versus import versus as side_by_side
from sublex.errors import InputError, SublexError
from sublex.forms.lines import Shown, line, records
from sublex.language.expression import Call, walk
from sublex.language.parser import parse
from sublex.language.plugins import Component
from sublex.pipeline.weighted import query_of
from sublex.shell.arguments import needed, unquoted, whole, words_of
from sublex.shell.registry import Theme
from sublex.shell.rewriting import after_expanders, with_expander, with_parameter
from sublex.shell.session import Session
from sublex.shell.settings import NAMES, SETTINGS
from sublex.shell.steps import Step, call
from sublex.tools.messages import unknown

command = Theme("Change the ranking")


@command("[EXPR]", completes="expression")
def rank(session: Session, rest: str) -> Shown:
    """Rank by an expression from now on, and answer the last query again. Without EXPR, show the expression."""
    if not rest:
        return session.ranking()
    return session.rank_by(unquoted(rest))


@command("[NAME=VALUE]...", name="set", completes="setting")
def change(session: Session, rest: str) -> Shown:
    """Change settings, or parameters of the expression, and answer the last query again. Without arguments, list the settings.

    BM25.b=0.4 changes a parameter of each BM25 in the expression; b=0.4 does so if only one component has a parameter b.
    k=20 sets the number of hits. format is table, json, csv or trec. bars=on draws a bar for each score. labels=EXPR colours
    the words of a fitted model in passages. timing and pager are on or off. profile is a profile, or none.
    """
    settings = session.settings
    if not rest:
        others = [(name, settings.shown(name)) for name in NAMES if name != "expression"]
        return records(("setting", "value"), [("rank", str(session.pipeline())), *others])
    before = asdict(settings)
    try:
        for text in _changes(rest):
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
    if name == "labels" and session.settings.labels:
        # A model that is not fitted is refused now, and not by the next query.
        assert session.index.representation(session.settings.labels)


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
    """Return the changes of a line; blanks separate them, except within parentheses and brackets."""
    changes, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == " " and not depth:
            changes.append("")
        else:
            changes[-1] += character
    return [change for change in changes if change]


@command("EXPANDER | none", completes="expander")
def expand(session: Session, rest: str) -> Shown:
    """Expand the query by an expander such as RM3, and answer the last query again. `:expand none` takes expanders out."""
    text, expander = str(session.pipeline()), unquoted(needed(rest, ":expand RM3"))
    if expander == "none":
        return session.rank_by(_without(session, text))
    given = parse(expander)
    kind = session.index.registry.find("component", given.name).kind if isinstance(given, Call) else "expander"
    if kind != "expander":
        raise InputError(f"{expander} is no expander, it is a {kind}; write :expand RM3, or :rank {expander}.")
    return session.rank_by(with_expander(text, expander))


@command("[N]...")
def drop(session: Session, rest: str) -> Shown:
    """Strike terms out of the expanded query and search with the others. Without numbers, list the terms.

    The others stay as weighted terms, which `sublex search --weighted` and Python take too. The expression keeps the
    stages after its last expander.
    """
    session.asked()
    assert session.answer is not None
    terms = sorted(session.answer.query.terms, key=lambda term: -abs(term.weight))
    surface = session.index.corpus.surface
    if not rest:
        rows = [(k, surface(t.term), t.term, f"{t.weight:.6g}", t.origin) for k, t in enumerate(terms, 1)]
        return records(("number", "word", "term", "weight", "from"), rows)
    struck = {whole(word, ":drop 2 5") for word in words_of(rest)}
    if wrong := struck - {*range(1, len(terms) + 1)}:
        raise InputError(f"There is no term {min(wrong)}; :drop lists them.")
    kept = [term for k, term in enumerate(terms, 1) if k not in struck]
    if not kept:
        raise InputError("No term would be left; keep one.")
    session.settings.expression = _without(session, str(session.pipeline()))
    return session.search(query_of(QueryTerm(term.term, term.weight) for term in kept), like=session.like)


@command("EXPR...", completes="expression")
def versus(session: Session, rest: str) -> Shown:
    """Show the rankings of several expressions for the last query side by side.

    Put an expression with blanks in quotes: :versus BM25 'PL2 + 0.3*dcot'. The others are compared with the first. With one
    expression, the first is that of the session.
    """
    expressions = words_of(needed(rest, ":versus BM25 PL2"))
    if len(expressions) == 1:
        expressions.insert(0, str(session.pipeline()))
    asked, k = session.index.query(session.asked()), session.settings.k
    rankings = [Ranking(e, session.find(asked, session.pipeline(e), k).hits.docnos) for e in expressions]
    session.step = Step((), f"zip({', '.join(map(session.python_search, expressions))})", "rows")
    return side_by_side(rankings)


@command("EXPR", completes="fittable")
def fit(session: Session, rest: str) -> Shown:
    """Fit a model such as lda(k=20) to the index, with its progress. Ctrl-C stops it and leaves the index as it was."""
    from sublex.cli.interrupts import reporting_interrupts
    from sublex.cli.progress import progress

    expression = unquoted(needed(rest, ":fit lda(k=20)"))
    index, before = session.index, session.index.generation
    with reporting_interrupts(session.path), progress(expression, "documents") as advance:
        index.fit(expression, progress=advance, say=session.say)
    session.step = Step(("fit", "INDEX", expression), call("fit", expression))
    state = "is fitted" if index.generation != before else "was fitted already"
    return Shown(lambda: [line(f"{expression} {state} on {session.path}")])


@command("EXPR...", completes="model")
def forget(session: Session, rest: str) -> Shown:
    """Remove fitted models from the index, with all that they encoded. Put an expression with blanks in quotes."""
    expressions = words_of(needed(rest, ":forget lda(k=20)"))
    session.index.forget(*expressions)
    session.step = Step(("forget", "INDEX", *expressions), call("forget", *expressions))
    return Shown(
        lambda: [line(f"{', '.join(expressions)} {'is' if len(expressions) == 1 else 'are'} gone from {session.path}")]
    )


def _without(session: Session, text: str) -> str:
    registry = session.index.registry
    return after_expanders(text, lambda name: registry.find("component", name).kind == "expander")
