"""Turn texts, functions and PyTerrier transformers next to operators into expressions, as in `"BM25" >> ranker`."""

from __future__ import annotations

from typing import Any

from sublex.errors import InputError
from sublex.language.expression import Expression, Range, operand
from sublex.language.parser import parse, parse_range


@operand.register
def _text(value: str, operator: str) -> Expression | Range:
    return parse_range(value) if operator == "*" else parse(value)


@operand.register
def _thing(value: object, operator: str) -> Any:
    """Return a transformer after `>>` as a stage. Raise InputError for anything else."""
    from sublex.language.functions import is_transformer, name_of, transformer

    if is_transformer(value) and operator == ">>":
        return transformer(value)
    if is_transformer(value):
        # PyTerrier itself evaluates 0.3 * transformer, and the normaliser of a blend would undo this weight.
        raise InputError(
            f"The transformer {type(value).__name__} in a blend needs sublex.pyterrier.stage(…) around it, "
            "and the weight outside: 0.3 * stage(…)."
        )
    if callable(value):
        raise InputError(f"The function {name_of(value)} becomes a stage by sublex.rerank(…).")
    return parse(value)  # type: ignore[arg-type]  # It raises InputError for a value that is no text.
