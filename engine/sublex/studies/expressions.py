"""Resolve the expressions of a study: replace the names of its models, and make allowed paths absolute."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from sublex.contracts.base import Folder, Resource
from sublex.errors import InputError
from sublex.language.expression import Call, Expression
from sublex.language.names import LEARNED, check_name, declared_by, found, is_component, rewritten
from sublex.language.parser import DEEPEST, LONGEST, parse, parse_call
from sublex.language.plugins import Component, Registry
from sublex.studies.places import StudyPlaces
from sublex.studies.study_plans import Study


def check_models(study: Study, registry: Registry) -> None:
    """Raise InputError for a model with the name of a component, and for a name that its own expression contains."""
    for name, text in study.models.items():
        where = study.where(("models", name))
        try:
            check_name(name, registry)
            _written_out(parse(text), study.models, registry, (name,))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None


def expression_of(text: str, study: Study, registry: Registry, places: StudyPlaces, where: str) -> Expression:
    """Return the expression of a system or a model, with the names of models written out and absolute paths of files.

    `where` begins the message about a path that the study may not read.
    """
    whole = _written_out(parse(text), study.models, registry, ())
    return _with_whole_paths(whole, registry, places, where)


def experiment_of(call: Call, study: Study, registry: Registry, places: StudyPlaces, where: str) -> Component:
    """Return the resolved call of an experiment, with the names of models written out and absolute paths of files."""
    params = registry.find("experiment", call.name).params
    types = {param.name: param.type for param in params}

    def whole(name: str, value: Any) -> Any:
        if types.get(name) in (Resource, Folder) and isinstance(value, (str, Expression)):
            return places.find(str(value), where)
        if types.get(name) is Expression and isinstance(value, (str, Expression)):
            tree = parse(value) if isinstance(value, str) else value
            return _with_whole_paths(_written_out(tree, study.models, registry, ()), registry, places, where)
        return value

    # A default may be a model too, whose name the study may have given another meaning.
    given = {
        param.name: param.default for param in params if param.type is Expression and param.default not in (..., None)
    }
    given |= dict(zip(types, call.args, strict=False)) | dict(call.params)
    extra = call.args[len(params) :]
    return registry.resolve(
        "experiment", Call(call.name, extra, {name: whole(name, value) for name, value in given.items()})
    )


def _written_out(
    tree: Expression, models: Mapping[str, str], registry: Registry, within: tuple[str, ...]
) -> Expression:
    """Return an expression with the names of models written out. `within` has the names whose expressions contain it.

    Raise InputError for a name within its own expression, and if the names stand for more than `LONGEST` characters in
    all.
    """
    left = LONGEST

    def meaning(call: Call, within: tuple[str, ...]) -> Expression | None:
        nonlocal left
        name = None if is_component(call, registry) else found(call.name, models)
        if name is None:
            return None
        if call.args or call.params:
            raise InputError(
                f"{name} is a name for {models[name][:200]}, and takes no parameters; write it without parentheses."
            )
        if name in within:
            raise InputError(
                f"the name {name} stands for itself: {' > '.join((*within, name))}; give it another meaning."
            )
        left -= len(models[name])
        if left < 0 or len(within) == DEEPEST:
            raise InputError(
                f"the name {(*within, name)[0]} stands for too much; names are written out to {LONGEST:,} characters, and "
                f"may be {DEEPEST} deep."
            )
        return rewritten(parse(models[name]), registry, lambda inner: meaning(inner, (*within, name)))

    changed: Expression = rewritten(tree, registry, lambda call: meaning(call, within))
    return changed


def _with_whole_paths(tree: Expression, registry: Registry, places: StudyPlaces, where: str) -> Expression:
    """Return an expression with absolute paths of files and folders.

    Raise InputError for one that the study may not read.
    """

    def changed(call: Call) -> Expression | None:
        declared = declared_by(call, registry)
        if not any(param.type in (Resource, Folder) for param in declared):
            return None
        types: dict[str, Any] = {param.name: param.type for param in declared}
        if call.name == LEARNED:
            types["parts"] = LEARNED
        by_place = dict(enumerate(param.name for param in declared))
        args = tuple(whole(types.get(by_place.get(place, "")), value) for place, value in enumerate(call.args))
        return Call(call.name, args, {name: whole(types.get(name), value) for name, value in call.params.items()})

    def whole(kind: Any, value: Any) -> Any:
        if kind in (Resource, Folder) and isinstance(value, (str, Expression)):
            return places.find(value if isinstance(value, str) else str(value), where)
        if kind == LEARNED and isinstance(value, tuple):
            return tuple(whole(Expression, part) for part in value)
        if kind is Expression and isinstance(value, str):
            value = parse(value)
        return rewritten(value, registry, changed) if isinstance(value, Expression) else value

    found: Expression = rewritten(tree, registry, changed)
    return found


def call_with_whole_paths(text: str, places: StudyPlaces, where: str) -> str:
    """Return the expression of an analyzer or a reader with absolute paths of files.

    A value counts as the path of a file if it has a slash, or if there is a file of this name.
    """

    def whole(value: Any) -> Any:
        if isinstance(value, str) and (os.sep in value or value.startswith("~") or os.path.lexists(value)):
            return places.find(value, where)
        return value

    call = parse_call(text, unnamed=True)
    return str(
        Call(call.name, tuple(map(whole, call.args)), {name: whole(value) for name, value in call.params.items()})
    )
