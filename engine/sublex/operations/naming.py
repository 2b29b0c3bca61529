"""Operations on the names that an index gives to expressions: name, unname."""

from __future__ import annotations

from typing import Annotated

from sublex.errors import IndexProblem, SublexError
from sublex.forms.lines import Shown, records, sentence
from sublex.operations.context import OperationContext
from sublex.operations.declaring import operation, positional
from sublex.tools.messages import Message, Step


@operation(python="index.names", changes=lambda given: given["expression"] is not None)
def name(
    context: OperationContext,
    name: Annotated[str | None, positional("NAME", completes="name")] = None,
    expression: Annotated[str | None, positional("EXPR", completes="expression")] = None,
) -> Shown:
    """Give a name to an expression, or list the names.

    The index keeps the name. Wherever an expression is taken, NAME then stands for EXPR, and EXPR is what runs, reports and
    metadata have. EXPR may contain other names. A name that is there gets the new expression. Without EXPR, the command
    shows what NAME stands for, and without NAME all names. The names good, better and best are built in; a name of your own
    hides the built-in one.

    Examples:
        sublex name demo both 'PL2 + 0.3*DirichletLM'
        sublex name demo
    """
    from sublex.language.names import found, unknown_name
    from sublex.language.pipelines import PIPELINES

    index = context.index
    if name is None:
        return _listed(context)
    if expression is None:
        known = found(name, index.names)
        if known is None and (built_in := found(name, PIPELINES)):
            return sentence(f"{built_in} is built in and stands for {PIPELINES[built_in]}")
        if known is None:
            raise IndexProblem(unknown_name(name, index.names, index.path))
        return sentence(f"{known} stands for {index.names[known]}")
    before = index.name(name, expression)
    now = index.names[name]
    before = before or PIPELINES.get(found(name, PIPELINES) or "", "")
    instead = f"; before, it stood for {before}" if before and before != now else ""
    return sentence(f"{name} stands for {now} in {index.path}{instead}")


def _listed(context: OperationContext) -> Shown:
    """Return the names of an index as records, with a note on the built-in ones. A name that cannot be used has the reason."""
    from sublex.language.names import built_in

    index, rows = context.index, []
    for name, text in sorted(index.names.items()):
        try:
            problem = "is a component now, which hides it" if index.registry.knows("component", name) else ""
            index.meaning(name)
        except SublexError as error:
            problem = str(error)
        rows.append((name, text, problem))
    head = ("name", "expression", "problem") if any(problem for *_, problem in rows) else ("name", "expression")
    there = list(built_in(index.names))
    known = f"Built in: {', '.join(there)}. To see what one stands for: "
    notes = [Message(known, Step("name", index.path, there[-1]))] if there else []
    return records(head, [row[: len(head)] for row in rows], notes=notes)


@operation(python="index.unname({name})", changes=True)
def unname(context: OperationContext, name: Annotated[str, positional("NAME", completes="name")]) -> Shown:
    """Remove a name, unless another name contains it. What it stood for stays.

    Examples:
        sublex unname demo both
    """
    removed = context.index.unname(name)
    return sentence(f"{name} is no name any more in {context.path}; it stood for {removed}")
