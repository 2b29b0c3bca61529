"""Show a fitted model with its fit, its coverage and the facts of its plugin, or list all fitted models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sublex.forms.lines import Line, Shown, line, records, table_lines
from sublex.language.parser import parse
from sublex.representations.stored_models import expressions_of
from sublex.tools.messages import Message, Step

if TYPE_CHECKING:
    from sublex.pipeline.index import Index


def models(index: Index) -> Shown:
    """Return a table of the fitted models of an index.

    A row has the expression, the name on disk and, for an outdated model, the reason.
    """
    outdated = index.outdated_models()
    rows = [
        (expression, model, outdated.get(model, ""))
        for model, entry in index.fitted.items()
        for expression in expressions_of(entry)
    ]
    return records(("expression", "model", "outdated"), rows)


def card(index: Index, expression: str) -> Shown:
    """Return the description of a fitted model as Shown."""
    facts = index.card(expression)
    return Shown(lambda: _lines(facts), lambda: facts)


def pipeline_models(index: Index, text: str) -> Shown:
    """Return a table of the models that a pipeline needs.

    A row says whether the model is fitted, and estimates its size. A note names the command that fits the missing
    models.
    """
    rows, missing = list[tuple[str, str, str]](), False
    for model in index.models_in(text):
        is_fitted, cost = index.is_fitted(model), index.cost_of(model)
        missing |= not is_fitted
        rows.append((model, "yes" if is_fitted else "no", f"{cost.nbytes / 1e6:,.1f}" if cost else ""))
    whole = f"{text} is {index.written_out(parse(text))}."
    notes = [whole] if rows else [whole, f"{text} needs no fitted model."]
    if missing:
        notes.append(Message("Not all models are fitted; run: ", Step("fit", index.path, text)))
    return records(("model", "fitted", "about MB"), rows, notes)


def _lines(facts: Mapping[str, Any]) -> Iterator[Line]:
    tables = {fact: value for fact, value in facts.items() if _is_table(value)}
    yield from table_lines([(fact, _cell(value)) for fact, value in facts.items() if fact not in tables])
    for fact, rows in tables.items():
        yield line()
        yield line(f"{fact}:")
        yield from table_lines([[_cell(cell) for cell in row.values()] for row in rows], list(rows[0]))


def _is_table(value: Any) -> bool:
    """Return whether a fact is a list of records. It is then shown as a separate table."""
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _cell(value: Any) -> Any:
    """Return a fact of a card as the cell of a table."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else value
