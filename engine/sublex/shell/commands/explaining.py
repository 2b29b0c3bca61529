"""Commands that explain results: a score, the difference of two scores, why a document is absent, and documents like another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sublex.display.absence import absence
from sublex.display.difference import difference
from sublex.display.explanation import explanation
from sublex.display.likeness import like_document
from sublex.errors import InputError
from sublex.forms.lines import Shown
from sublex.shell.arguments import exactly, unquoted, words_of
from sublex.shell.registry import Theme
from sublex.shell.session import Session
from sublex.shell.steps import Step, option_words

command = Theme("Understand the results")


@command("N | DOCNO [vs N | DOCNO]", completes="docno")
def explain(session: Session, rest: str) -> Shown:
    """Show how the score of a document is computed, or why one document is ranked above another.

    Name documents by their ranks in the last results or by their docnos: :explain 3, or :explain 3 vs 5.
    """
    words = words_of(rest)
    if len(words) not in (1, 3) or (len(words) == 3 and words[1].lower() != "vs"):
        raise InputError("Write :explain 3, or :explain 3 vs 5.")
    index, asked = session.index, session.asked()
    pipeline = session.pipeline(session.used)
    docnos = [session.docno(word) for word in words[::2]]
    if len(docnos) == 2 and docnos[0] == docnos[1]:
        raise InputError(f"Both are {docnos[0]}; name two documents.")
    trees = [index.explain(asked, docno, pipeline) for docno in docnos]
    text = index.query(asked).text
    session.step = _explain_step(session, docnos[0], {"--versus": docnos[1]} if len(docnos) == 2 else {})
    if len(trees) == 2:
        python = ", ".join(session.python_call("explain", docno) for docno in docnos)
        session.step = session.step._replace(python=f"({python})", result="rows")
        return difference(trees[0], trees[1], (docnos[0], docnos[1]), text)
    return explanation(trees[0], docnos[0], pipeline, bool(index.query(asked).terms))


@command("DOCNO", name="why-not", completes="docno")
def why_not(session: Session, rest: str) -> Shown:
    """Show why a document is not among the hits of the last query.

    The result has its rank, its words, its rank after each stage, and the depth or the weight of a part that brings it in.
    """
    (word,) = exactly(rest, 1, ":why-not DOCNO")
    index, pipeline = session.index, session.pipeline(session.used)
    asked, docno, k = index.query(session.asked()), session.docno(word), session.settings.k
    session.step = _explain_step(session, docno, {"--why-not": True, "-k": k})
    return absence(index, asked, docno, pipeline, k)


def _explain_step(session: Session, docno: str, more: Mapping[str, Any]) -> Step:
    """Return the step that explains a document for the last query, with more options of `sublex explain`."""
    options = option_words({**session.ranking_options(), "--weighted": session.is_weighted(), **more})
    assert session.query is not None
    words = ("explain", "INDEX", *options, "--", session.query.text, docno)
    return Step(words, session.python_call("explain", docno))


@command("N | DOCNO [EXPR]", completes="docno")
def similar(session: Session, rest: str) -> Shown:
    """Find documents like another: by its 25 best terms, or with EXPR by a representation such as lsi(e=50).

    The terms become the last query, as weighted terms. With EXPR, the text of the document becomes the last query. The
    document itself is left out.
    """
    word, _, expression = rest.partition(" ")
    (word,) = exactly(word, 1, ":similar 3, or :similar 3 lsi(e=50)")
    docno = session.docno(word)
    session.topic = ""
    if not expression.strip():
        return session.search(like_document(session.index, docno), like=docno)
    return session.search(session.index.document(docno).contents, unquoted(expression.strip()), like=docno)
