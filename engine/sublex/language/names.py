"""Names that an index gives to expressions: which names are allowed, and how expressions replace the names.

Every name is replaced by its expression before components are looked up, so a pipeline, a run and its metadata have the
expression and not the name. Names come from an index, which may be hostile. An expression that is too long, or that
contains its own name, is refused with one sentence.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from sublex.contracts.base import Folder, Param, Resource
from sublex.errors import InputError, UnknownName
from sublex.language.expression import GIVEN_NAME, NORMALISERS, Call, Chain, Expression, chain, walk
from sublex.language.parser import DEEPEST, LONGEST, parse
from sublex.language.pipelines import PIPELINES, around, called
from sublex.language.plugins import NORMALISED, RESERVED, Component, Registry
from sublex.language.python_parts import PythonPart
from sublex.tools.messages import Message, Step, nearest

# The pattern for names of fitted models on disk. Commands take such a name in place of an expression.
_ON_DISK = re.compile(r"[\w-]+-[0-9a-f]{16}")
# An expression under a name that it has only here. In an expression, = stands within parentheses.
_NAMED = re.compile(r"\s*([^\s()=\"'{}]+)\s*=\s*(\S.*)", re.DOTALL)
# Words that mean something else in expressions or commands, in small letters.
_WORDS = {*map(str.lower, (*RESERVED, *keyword.kwlist)), "off"}
# The word that begins a learned model of a file in an expression, as in learned("model.txt", [BM25]), and its
# parameters.
LEARNED = "learned"
LEARNED_PARAMS = (Param("model", Resource, ...), Param("parts", tuple, ...), Param("topics", Resource, None))
# The largest number of names in an index.
MOST = 1_000
# The declaration of each part of a learned model, which is an expression.
_PART = Param("part", Expression, ...)
# A function from a call to the expression that replaces it. For None, the call stays, and its values are looked at next.
Change = Callable[[Call], Expression | None]


def check_name(name: str, registry: Registry, lost: Collection[str] = ()) -> None:
    """Raise InputError unless a name is free for an expression. `lost` has the names of components whose plugin is gone."""
    if name.lower() in _WORDS or _ON_DISK.fullmatch(name):
        raise InputError(f"{name} cannot be a name, for it has another meaning; choose another word.")
    if not GIVEN_NAME.fullmatch(name):
        raise InputError(
            f"{name or repr(name)} cannot be a name; take a letter first, then letters, digits, _ and -, 64 in all."
        )
    if registry.knows("component", name) or name.lower() in map(str.lower, lost):
        raise InputError(f"{name} is a component, which no name may hide; choose another name.")


def found(name: str, names: Mapping[str, str]) -> str | None:
    """Return the key of `names` that a word means; None if there is none.

    An equal name is preferred. Otherwise the word means a name in another case, if there is only one.
    """
    if name in names:
        return name
    alike = [known for known in names if known.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def built_in(names: Mapping[str, str]) -> dict[str, str]:
    """Return the built-in names that `names` does not hide, with their expressions."""
    return {name: text for name, text in PIPELINES.items() if found(name, names) is None}


def written_out(
    expression: Expression, names: Mapping[str, str], registry: Registry, resources: Collection[str]
) -> Expression:
    """Return an expression with each name replaced by the expression that it stands for.

    If a component and a name are called alike, the component is meant; a name of the index is preferred to a built-in
    one. `resources` are the resources of the index: the expression of a name can read no other files. Raise InputError
    for a name whose expression contains the name, and if the result would be too long or too deep.
    """
    if not names and not any(word in str(expression).lower() for word in PIPELINES):
        return expression
    left = LONGEST

    def meaning(call: Call, within: tuple[str, ...]) -> Expression | None:
        nonlocal left
        if within:
            _refuse_files(call, within[-1], registry, resources)
        name = None if is_component(call, registry) else found(call.name, names)
        if name is None:
            built_in = pipeline_of(call, names, registry)
            return None if built_in is None else parse(built_in)
        text = names[name]
        if call.args or call.params:
            raise InputError(
                f"{name} is a name for {text[:200]}, and takes no parameters; write it without parentheses."
            )
        if name in within:
            raise InputError(
                f"The name {name} stands for itself: {' > '.join((*within, name))}; give it another meaning."
            )
        left -= len(text)
        if left < 0 or len(within) == DEEPEST:
            raise InputError(f"The name {(*within, name)[0]} stands for too much: {_limits()}.")
        return rewritten(parse(text), registry, lambda inner: meaning(inner, (*within, name)))

    try:
        whole = rewritten(expression, registry, lambda call: meaning(call, ()))
        printed = str(whole)
    except RecursionError:
        raise InputError(f"With its names written out, {expression} is too deep: {_limits()}.") from None
    if left < LONGEST:
        try:
            parse(printed)
        except InputError:
            raise InputError(
                f"With its names written out, {expression} is too long or too deep: {_limits()}."
            ) from None
    return whole


def pipeline_of(call: Call, names: Mapping[str, str], registry: Registry) -> str | None:
    """Return the expression of a call of a built-in name. Return None for another call, and for a name that the index hides."""
    if is_component(call, registry) or found(call.name, names) is not None:
        return None
    name = found(call.name, PIPELINES)
    return None if name is None else called(name, call.args, call.params)


def called_by(expression: Expression, names: Mapping[str, str], registry: Registry) -> str:
    """Return the name that an expression is, as the index or the list of built-in names spells it; "" for another expression."""
    if not isinstance(expression, Call) or is_component(expression, registry):
        return ""
    name = found(expression.name, names) or found(expression.name, PIPELINES)
    return str(Call(name, expression.args, expression.params)) if name else ""


def given_name(written: str | None) -> tuple[str, str] | None:
    """Return the name and the expression of a text NAME=EXPR; None for an expression alone."""
    given = _NAMED.match(written or "")
    return (given[1], given[2]) if given else None


def to_tune(
    expression: Expression, names: Mapping[str, str], registry: Registry
) -> tuple[Expression, tuple[float, ...]]:
    """Return the expression whose ranges `tune` searches, and the numbers from which the search starts, in reading order.

    A built-in name gets ranges around its learned weights, and the search starts from these weights. Another expression
    keeps its own ranges; then there are no such numbers, and the search starts from the defaults.
    """
    built_in = pipeline_of(expression, names, registry) if isinstance(expression, Call) else None
    if built_in is None:
        return expression, ()
    text, learned = around(built_in)
    if not learned:
        raise InputError(f"{expression} has no weights to tune; write a range in place of a number in {built_in}.")
    return parse(text), learned


def pipelines_in(expression: Expression, names: Mapping[str, str], registry: Registry) -> list[str]:
    """Return the calls of built-in names in an expression, as they are written, each once."""
    met: list[str] = []

    def note(call: Call) -> None:
        if pipeline_of(call, names, registry) is not None:
            met.append(str(call))

    rewritten(expression, registry, note)
    return list(dict.fromkeys(met))


def mentioned(expression: Expression, names: Mapping[str, str], registry: Registry) -> set[str]:
    """Return the names that an expression contains. Names within the expressions of these names are not among them."""
    met: set[str] = set()

    def note(call: Call) -> None:
        name = None if is_component(call, registry) else found(call.name, names)
        met.update([name] if name else ())

    rewritten(expression, registry, note)
    return met


def _limits() -> str:
    return f"an expression has at most {LONGEST:,} characters, and parentheses {DEEPEST} deep"


def rewritten(node: Any, registry: Registry, change: Change) -> Any:
    """Return an expression with `change` applied to its calls, outer ones first.

    A value of a parameter is a call where the parameter takes an expression. Resolved components stay as they are, but
    not the expressions in a Python object, such as the features of a learned model.
    """

    def inner(value: Any) -> Any:
        return rewritten(value, registry, change) if isinstance(value, Expression) else value

    match node:
        case PythonPart():
            return node.map(inner)
        case Component():
            return node
        case Chain(stages=stages):
            return chain(map(inner, stages))
        case Call():
            changed = change(node)
            return changed if changed is not None else _with_values(node, registry, change)
    return node.map(inner)


def _with_values(call: Call, registry: Registry, change: Change) -> Call:
    """Return a call in which each value that is an expression is rewritten."""

    def changed(param: Param | None, value: Any) -> Any:
        if param is LEARNED_PARAMS[1] and isinstance(value, tuple):
            return tuple(changed(_PART, part) for part in value)
        if param is None or param.type is not Expression or not isinstance(value, (str, Expression)):
            return value
        try:
            tree = parse(value) if isinstance(value, str) else value
        except InputError:
            # Resolving the call raises an error that names the parameter.
            return value
        return rewritten(tree, registry, change)

    declared = declared_by(call, registry)
    named = {param.name: param for param in declared}
    args = tuple(changed(param, value) for param, value in zip_longest(declared, call.args[: len(declared)]))
    return Call(
        call.name,
        (*args[: len(call.args)], *call.args[len(declared) :]),
        {name: changed(named.get(name), value) for name, value in call.params.items()},
    )


def given_by(call: Call, registry: Registry) -> dict[str, tuple[Param, Any]]:
    """Return the parameters to which a call gives values: a mapping from the name to the parameter and the value."""
    declared = declared_by(call, registry)
    by_place = {param.name: (param, value) for param, value in zip(declared, call.args, strict=False)}
    return by_place | {param.name: (param, call.params[param.name]) for param in declared if param.name in call.params}


def declared_by(call: Call, registry: Registry) -> Sequence[Param]:
    """Return the parameters of the component, or of the normaliser, that a call names. An unknown component has none."""
    if call.name.lower() in NORMALISERS and not registry.knows("component", call.name):
        return NORMALISED
    if call.name == LEARNED:
        return LEARNED_PARAMS
    # For an unknown name, `find` would make a message with a hint, which takes longer than everything else here.
    if not registry.knows("component", call.name):
        return ()
    try:
        return registry.find("component", call.name).params
    except UnknownName:
        return ()


def is_component(call: Call, registry: Registry) -> bool:
    """Return whether a call names a component or a normaliser. Then the call cannot mean a name of the index."""
    return call.name.lower() in _WORDS or registry.knows("component", call.name)


def _refuse_files(call: Call, name: str, registry: Registry, resources: Collection[str]) -> None:
    """Raise InputError if a call reads a file outside of the index. The call stands in the expression of the name `name`."""
    if call.name == LEARNED:
        raise InputError(
            f"The name {name} stands for {call}, and an expression that an index brings can name no file of a model; "
            f"write {call} yourself."
        )
    for param, value in given_by(call, registry).values():
        if param.type is Folder and value is not None:
            raise InputError(
                f"The name {name} stands for {call}, and an expression that an index brings can name no folder; "
                f"write {call} yourself."
            )
        if param.type is Resource and value not in resources:
            add = Step("resource add", "INDEX", "NAME", "FILE")
            raise InputError(
                Message(
                    f"The name {name} stands for {call}, and {value} is no resource of the index; add the file: ", add
                )
            )


def refuse_near_names(expression: Expression, names: Mapping[str, str], registry: Registry, root: object) -> None:
    """Raise UnknownName if an unknown word is almost a name of the index. The message suggests the name."""
    for node in walk(expression):
        if (
            isinstance(node, Call)
            and not is_component(node, registry)
            and (hint := nearest(node.name, [*names, *PIPELINES]))
        ):
            raise UnknownName(Message(f"No component {node.name}; {hint}To list the names: ", Step("name", root)))


def unknown_name(name: str, names: Mapping[str, str], root: object) -> str:
    """Return the message for a name that an index does not have."""
    if built_in := found(name, PIPELINES):
        return f"{built_in} is built in, and not a name of {root}; give it another meaning to hide it."
    known = f"{nearest(name, names)}It has {', '.join(sorted(names)[:8])}" if names else "it has none"
    return Message(f"No name {name}; {known}. To list them: ", Step("name", root))
