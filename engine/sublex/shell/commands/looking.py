"""Commands that look into the index: documents, terms, analysis, models and components."""

from __future__ import annotations

from sublex.display import card as cards
from sublex.display import components as display_components
from sublex.display import terms as display_terms
from sublex.display.analysis import analysis
from sublex.display.document import document
from sublex.display.facets import DEPTH, labelled_model
from sublex.display.facets import facets as facets_of
from sublex.display.overview import overview as overview_of
from sublex.errors import InputError
from sublex.forms.lines import Shown, line
from sublex.shell.arguments import exactly, needed, unquoted, words_of
from sublex.shell.registry import Theme
from sublex.shell.session import Session
from sublex.shell.steps import Step, call, option_words

command = Theme("Look into the index")
# Terms that a list shows, terms of an overview, and labels of facets.
TERMS, FREQUENT, LABELS = 50, 10, 10


@command("N | DOCNO", completes="docno")
def doc(session: Session, rest: str) -> Shown:
    """Show a stored document, by its rank in the last results or by its docno."""
    (word,) = exactly(rest, 1, ":doc 3, or :doc DOCNO")
    docno = session.docno(word)
    session.step = Step(("doc", "INDEX", docno), call("document", docno))
    return document(session.index, docno)


@command("[PATTERN]", completes="word")
def terms(session: Session, rest: str) -> Shown:
    """List the first 50 terms that match a pattern.

    In the pattern, * stands for any characters, ? for one character, [ab] for a or b. Terms are as the analyzer makes
    them; :term takes words as you write them.
    """
    pattern = rest or "*"
    session.step = Step(("terms", "INDEX", pattern), call("terms", pattern), "rows")
    return display_terms.terms(session.index, pattern, TERMS)


@command("WORD...", completes="word")
def term(session: Session, rest: str) -> Shown:
    """Show the document frequency and the collection frequency of words, as you write them."""
    shown = display_terms.words(session.index, needed(rest, ":term WORD"))
    analyzed = session.index.analyze(rest)
    session.step = Step(("terms", "INDEX", analyzed[0]) if len(analyzed) == 1 else (), call("term", analyzed[0]))
    return shown


@command("TEXT", completes="word")
def analyze(session: Session, rest: str) -> Shown:
    """Show how the analyzer of the index turns a text into terms, stage by stage."""
    snapshot = session.index.snapshot
    session.step = Step(("analyze", "--index", "INDEX", "--", rest), call("analyze", rest))
    return analysis(rest, snapshot.analyzer, snapshot.analyzer_expression)


@command()
def overview(session: Session, rest: str) -> Shown:
    """Describe the index: counts, analyzer, models, sizes, frequent terms."""
    session.step = Step(("info", "INDEX"), "index.statistics")
    return overview_of(session.index, FREQUENT)


@command("[EXPR]", completes="model")
def card(session: Session, rest: str) -> Shown:
    """Describe a fitted model, or list all fitted models."""
    index, rest = session.index, unquoted(rest)
    if "-o" in rest.split():
        raise InputError(
            "The page of a model is written outside of the shell, by sublex card with -o; leave -o out here."
        )
    if not rest:
        session.step = Step(("card", "INDEX"), "index.fitted", "rows")
        return cards.models(index)
    session.step = Step(("card", "INDEX", rest), call("card", rest))
    return cards.card(index, rest)


@command("[NAME]", completes="component")
def components(session: Session, rest: str) -> Shown:
    """List what expressions are made of, or describe one component, analyzer or reader."""
    registry = session.index.registry
    session.step = Step(("components", *words_of(rest)))
    return display_components.component(registry, rest) if rest else display_components.components(registry)


@command("[EXPR]", completes="model")
def facets(session: Session, rest: str) -> Shown:
    """Count the labels of a fitted model, such as topics, in the first 1,000 documents found for the last query.

    Without EXPR, the model is the one in the expression.
    """
    index, asked, pipeline = session.index, session.asked(), session.pipeline(session.used)
    model = unquoted(rest) or labelled_model(index, pipeline, ":facets ", str)
    hits = index.answer(index.query(asked), pipeline, max(session.settings.k, DEPTH)).hits
    search = session.ranking_step().words
    more = option_words({"--facets": LABELS, "--of": model})
    session.step = Step((*search[:2], *more, *search[2:]), "")
    return facets_of(index, hits, model, LABELS)


@command()
def check(session: Session, rest: str) -> Shown:
    """Verify every file of the index, and whether its parts agree with each other."""
    from sublex.index.check import check

    session.step = Step(("check", "INDEX"))
    problems = check(session.path)
    if problems:
        raise InputError(" ".join(problems))
    return Shown(lambda: [line(f"{session.path} is sound")], list)
