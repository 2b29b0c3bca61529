"""Learned models in texts of expressions: `learned("model.txt", [BM25, lsi])` reads the model from a file of the user."""

from __future__ import annotations

from typing import Any

from sublex.errors import InputError
from sublex.language.expression import Call, Expression
from sublex.language.names import LEARNED, LEARNED_PARAMS, given_by, rewritten
from sublex.language.parameters import matched
from sublex.language.parser import parse
from sublex.language.plugins import Registry
from sublex.tools.confinement import refused_path

USAGE = 'learned("model.txt", [BM25, PL2]), the file of a model of LightGBM or XGBoost and its features'


def with_learned_models(expression: Expression, registry: Registry) -> Any:
    """Return an expression with the models that it names by files. Raise InputError for a file that is no model."""
    return rewritten(expression, registry, lambda call: _model(call, registry) if call.name == LEARNED else None)


def _model(call: Call, registry: Registry) -> Expression:
    """Return the model that a call names, with the models that its features name."""
    # SciPy, which these import, is not loaded for an expression without learned models.
    from sublex.language.learned import learned
    from sublex.trec.topics import read_topics

    # A list of words is checked in place of the list of expressions.
    plain = Call(
        call.name, tuple(map(_printed, call.args)), {name: _printed(value) for name, value in call.params.items()}
    )
    try:
        values = matched(plain, LEARNED_PARAMS, lambda inner: inner, {})
    except InputError as error:
        raise InputError(f"{error} Write {USAGE}.") from None
    if refusal := refused_path(str(call)):
        raise InputError(refusal)
    _, written = given_by(call, registry)["parts"]
    parts = [with_learned_models(part, registry) for part in map(_expression, written)]
    topics = read_topics(values["topics"]) if values["topics"] is not None else ()
    return learned(values["model"], parts, topics=[topic.text for topic in topics])


def _printed(value: Any) -> Any:
    """Return a list with its expressions as texts; another value as it is."""
    return (
        tuple(str(item) if isinstance(item, Expression) else item for item in value)
        if isinstance(value, tuple)
        else value
    )


def _expression(part: Any) -> Expression:
    if isinstance(part, (str, Expression)):
        return parse(part) if isinstance(part, str) else part
    raise InputError(f"{part} is no expression; write {USAGE}.")
