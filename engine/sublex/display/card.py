"""Show a fitted model: how it was fitted, what it covers, and what its plugin says about it; or list all fitted models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sublex.errors import IndexProblem
from sublex.forms.lines import Line, Shown, line, records, table_lines
from sublex.tools.messages import Message, Step

if TYPE_CHECKING:
    from sublex.pipeline.index import Index


def models(index: Index) -> Shown:
    """Return a table of the fitted models of an index: the expression and the name on disk of each, and the reason if it is outdated."""
    outdated = index.outdated_models()
    rows = [
        (expression, model, outdated.get(model, ""))
        for model, entry in index.fitted.items()
        for expression in expressions_of(entry)
    ]
    return records(("expression", "model", "outdated"), rows)


def named(index: Index, text: str) -> str:
    """Return the expression of the fitted model that `text` names: itself, or that of the model with this name on disk.

    Raise IndexProblem for the name of an outdated model, whose expression names another model or none.
    """
    if text not in index.fitted:
        return text
    expression = expressions_of(index.fitted[text])[0]
    if reason := index.outdated_models().get(text):
        state = f"{text}, which was {expression}, is outdated ({reason.rstrip('.')}), so nothing can use it"
        raise IndexProblem(Message(state, "; to remove it: ", Step("forget", index.path, text)))
    return expression


def card(index: Index, expression: str) -> Shown:
    """Return the description of a fitted model as Shown. The model is named by its expression or by its name on disk."""
    facts = index.card(named(index, expression))
    return Shown(lambda: _lines(facts), lambda: facts)


def _lines(facts: Mapping[str, Any]) -> Iterator[Line]:
    tables = {fact: value for fact, value in facts.items() if _is_table(value)}
    yield from table_lines([(fact, _cell(value)) for fact, value in facts.items() if fact not in tables])
    for fact, rows in tables.items():
        yield line()
        yield line(f"{fact}:")
        yield from table_lines([[_cell(cell) for cell in row.values()] for row in rows], list(rows[0]))


def _is_table(value: Any) -> bool:
    """Return whether a fact is a list of records, which is shown as a table of its own."""
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _cell(value: Any) -> Any:
    """Return a fact of a card as the cell of a table."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else value


def expressions_of(entry: Mapping[str, Any]) -> list[str]:
    """Return the expressions of a fitted model: one for each way in which it encodes documents."""
    return sorted(rows["expression"] for rows in entry["rows"].values()) or [entry["expression"]]
