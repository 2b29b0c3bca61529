"""Derive a command of the command line from an operation: arguments, options, help, completion, and the form of the result."""

from __future__ import annotations

from typing import Any

import click

from sublex.cli.completion import COMPLETIONS
from sublex.cli.options import examples, format_option
from sublex.cli.steps import verbose_option
from sublex.errors import InputError
from sublex.faces.files import check_output, write_file
from sublex.faces.output import print_shown, say
from sublex.operations import INDEXED, Needs, Operation, Parameter
from sublex.tools.messages import Step


def command_of(operation: Operation) -> click.Command:
    """Return the command that asks for an operation."""

    def callback(**given: Any) -> None:
        _run(operation, given)

    command = click.Command(
        operation.name.split()[-1],
        callback=callback,
        params=_params(operation),
        help=operation.help,
        epilog=examples(*operation.examples) if operation.examples else None,
    )
    # The last options are those that every command has.
    for decorate in (verbose_option, format_option(*operation.forms)) if operation.forms[1:] else (verbose_option,):
        decorate(command)
    return command


def _run(operation: Operation, given: dict[str, Any]) -> None:
    """Ask an operation and print what it returns."""
    from sublex.cli.context import CommandContext

    form, output, name = given.pop("form", "table"), given.pop("output_file", None), given.pop("index_name", None)
    arguments = {each.name: _value(operation, each, given[each.name], name) for each in _shown(operation)}
    ending = check_output(output, *operation.file.endings) if output is not None and operation.file else ""
    context = CommandContext(operation, name, bool(arguments.get("allow_uncovered")))
    shown = context.ask(operation, **arguments)
    if output is not None:
        shown = write_file(shown, output, ending)
    say(*shown.notes)
    print_shown(shown, form)
    if shown.code:
        click.get_current_context().exit(shown.code)


def _value(operation: Operation, each: Parameter, value: Any, index: str | None) -> Any:
    """Return the value of a parameter as the operation takes it. Raise InputError where click's message would not help."""
    if each.many:
        value = tuple(value)
    given = value if each.many else (value,)
    if each.flags and each.completes == "expression" and any(text is not None and not text.strip() for text in given):
        flag = each.flags[0]
        raise InputError(f"The expression after {flag} is empty; write for example {flag} BM25, or leave {flag} out.")
    if _is_text(operation, each):
        if len(value) > 1:
            words = [index] if operation.needs in INDEXED else []
            quoted = Step(operation.name, *words, " ".join(value))
            raise InputError(f"The {each.metavar.lower()} is one argument; put it in quotes: {quoted}")
        return value[0] if value else each.default
    return value


def _shown(operation: Operation) -> list[Parameter]:
    return [each for each in operation.parameters if not each.hidden]


def _is_text(operation: Operation, each: Parameter) -> bool:
    """Return whether a parameter is a text after which nothing stands, so that further words belong to it."""
    last = [other for other in _shown(operation) if other.flags is None][-1:]
    return each.completes == "word" and not each.many and last == [each]


def _params(operation: Operation) -> list[click.Parameter]:
    params: list[click.Parameter] = []
    if operation.needs in INDEXED:
        params.append(click.Argument(["index_name"], metavar="INDEX", shell_complete=COMPLETIONS["index"]))
    params += [_argument(operation, each) if each.flags is None else _option(each) for each in _shown(operation)]
    if operation.needs is Needs.ANY_INDEX:
        params.append(
            click.Option(
                ["--index", "index_name"],
                metavar="INDEX",
                shell_complete=COMPLETIONS["index"],
                help=operation.index_help,
            )
        )
    if operation.file:
        params.append(
            click.Option(
                ["-o", "--output", "output_file"], required=operation.file.required, metavar=operation.file.metavar,
                shell_complete=COMPLETIONS["file"], help=operation.file.help,
            )
        )  # fmt: skip
    return params


def _argument(operation: Operation, each: Parameter) -> click.Argument:
    many = each.many or _is_text(operation, each)
    metavar = each.metavar if each.is_required or each.metavar.startswith("[") else f"[{each.metavar}]"
    return click.Argument(
        [each.name],
        nargs=-1 if many else 1,
        required=each.is_required,
        type=_type(each),
        metavar=f"{metavar}..." if each.many and not metavar.endswith("...") else metavar,
        shell_complete=COMPLETIONS.get(each.completes),
        **({} if many or each.is_required else {"default": each.default}),
    )


def _option(each: Parameter) -> click.Option:
    is_flag = each.type is bool
    return click.Option(
        [*(each.flags or ()), each.name],
        is_flag=is_flag,
        multiple=each.many,
        required=each.is_required,
        default=None if each.is_required else each.default,
        type=None if is_flag else _type(each),
        metavar=each.metavar if not (is_flag or each.choices) else None,
        show_default=each.shown or not (is_flag or each.many or each.default in (None, "", ...)),
        shell_complete=COMPLETIONS.get(each.completes),
        help=each.help,
    )


def _type(each: Parameter) -> Any:
    if each.choices:
        return click.Choice(each.choices)
    return click.IntRange(each.least) if each.type is int and each.least is not None else each.type
