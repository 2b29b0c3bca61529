"""Turn texts, Python objects and PyTerrier transformers next to operators into expressions, as in `"BM25" >> ranker`."""

from __future__ import annotations

from typing import Any

from sublex.errors import InputError
from sublex.language.expression import Expression, Range, operand
from sublex.language.parser import parse, parse_range


@operand.register
def _text(value: str, operator: str) -> Expression | Range:
    return parse_range(value, operator) if operator in ("*", "%") else parse(value)


@operand.register
def _thing(value: object, operator: str) -> Any:
    """Return the part of an expression for a Python object.

    The methods of the object say whether it becomes a transformer after `>>`, a ranker, an expander or a filter. Raise
    InputError if its methods fit several of these, or none.
    """
    from sublex.language.functions import is_transformer, transformer

    if is_transformer(value) and operator == ">>":
        return transformer(value)
    if is_transformer(value):
        # PyTerrier evaluates 0.3 * transformer before Sublex sees it, and the normaliser of a blend would undo this weight.
        raise InputError(
            f"The transformer {type(value).__name__} in a blend needs sublex.pyterrier.stage(…) around it, "
            "and the weight outside: 0.3 * stage(…)."
        )
    if (part := part_of(value)) is not None:
        return part
    return parse(value)  # type: ignore[arg-type]  # It raises InputError for a value that is no text.


def part_of(value: Any) -> Expression | None:
    """Return an object as a ranker, expander or filter, as its methods say; None if it has no method of these.

    Raise InputError for a function and for a class, since they could be any of the three.
    """
    from sublex.language.python_expanders import expander, is_expander
    from sublex.language.python_filters import is_filter, keep
    from sublex.language.python_parts import name_of
    from sublex.language.python_rankers import is_ranker, ranker

    for is_one, make in ((is_ranker, ranker), (is_expander, expander), (is_filter, keep)):
        if is_one(value):
            return make(value)
    if isinstance(value, type):
        raise InputError(f"{value.__name__} is a class; make an object of it: {value.__name__}().")
    if callable(value):
        raise InputError(
            f"The function {name_of(value)} becomes a stage by sublex.rerank(…), which scores hits, or by sublex.ranker, "
            "sublex.finder, sublex.keep or sublex.expander."
        )
    return None
