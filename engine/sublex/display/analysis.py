"""Show how an analyzer turns a text into terms, stage by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sublex.analysis.tokens import raw_tokens, reads_latex, terms_of
from sublex.analysis.words import split_terms
from sublex.contracts.base import Analyzer
from sublex.contracts.operators import Condition
from sublex.forms.lines import Shown, table_lines

if TYPE_CHECKING:
    from sublex.index.snapshot import Snapshot


def analysis(text: str, analyzer: Analyzer, printed: str) -> Shown:
    """Return the stages of a text as Shown; `printed` is the printed form of the analyzer."""
    tokens = raw_tokens(text, reads_latex(analyzer))
    stages = [("raw tokens", tokens)]
    if hasattr(analyzer, "stages"):
        stages += analyzer.stages(text)
    stages.append(("terms", [term for joined in terms_of(analyzer, tokens) for term in split_terms(joined)]))
    rows = [("analyzer", printed), *((stage, " | ".join(words)) for stage, words in stages)]
    return Shown(lambda: table_lines(rows), lambda: {"analyzer": printed, **dict(stages)})


def reading(text: str, analyzer: Analyzer, printed: str, snapshot: Snapshot | None = None) -> Shown:
    """Return the reading of a text in the query language as Shown: query, plain words, terms and condition."""
    from sublex.pipeline.query_forms import language_notes
    from sublex.pipeline.weighted import query_of
    from sublex.query_language.make_query import read_query
    from sublex.query_language.tree import visible

    query = read_query(text, analyzer, snapshot)
    terms = query_of(query.terms).text.split()
    condition = "" if query.condition is None else condition_text(query.condition)
    facts = {"analyzer": printed, "query": str(query.tree), "words": query.text}
    shown = {**facts, "words": visible(query.text), "terms": visible(" | ".join(terms))}
    rows = [*shown.items(), ("documents", visible(condition) or ("with any of the terms" if terms else "none"))]
    data = {**facts, "terms": terms, "documents": condition or None}
    return Shown(lambda: table_lines(rows), lambda: data, notes=language_notes(text, query))


def condition_text(part: Condition | str, within: bool = False) -> str:
    """Return a condition as text, such as `stem AND NOT (cell OR line)`. Its words are terms of the index."""
    if not isinstance(part, Condition):
        return str(part)
    if not part.parts:
        return "all" if part.kind == "all" else "none"
    if part.kind == "not":
        return f"NOT {condition_text(part.parts[0], True)}"
    joined = f" {'AND' if part.kind == 'all' else 'OR'} ".join(condition_text(inner, True) for inner in part.parts)
    return f"({joined})" if within and len(part.parts) > 1 else joined
