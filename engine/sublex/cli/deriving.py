"""Derive a command of the command line from an operation: arguments, options, help, completion and the form of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from sublex.cli.completion import COMPLETIONS
from sublex.errors import InputError
from sublex.faces.files import check_output, write_file
from sublex.faces.output import CSV, print_shown, say
from sublex.operations import INDEXED, Needs, Operation, Parameter
from sublex.operations.parameters import OVERWRITE_HELP
from sublex.tools.messages import Step
from sublex.tools.outputs import expect_no_input


def command_of(operation: Operation) -> click.Command:
    """Return the command that calls an operation."""

    def callback(**given: Any) -> None:
        _run(operation, given)

    return click.Command(
        operation.name.split()[-1],
        callback=callback,
        params=_params(operation),
        help=operation.help,
        epilog=_examples(operation.examples),
    )


class CommandBeside(click.Command):
    """A command that also has subcommands, such as `sublex study FILE` and `sublex study new FILE`.

    If the first word names a subcommand, this one is called.
    """

    others: Mapping[str, click.Command] = MappingProxyType({})

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of this command, or of the subcommand that the first word names."""
        other = self.others.get(args[0]) if args else None
        if other is None:
            return super().make_context(info_name, args, parent, **extra)
        return other.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)


def command_beside(operation: Operation, others: Sequence[Operation]) -> click.Command:
    """Return the command of an operation such as `study`, with subcommands for `study new` and others that begin with its name."""
    plain = command_of(operation)
    command = CommandBeside(
        plain.name, callback=plain.callback, params=plain.params, help=plain.help, epilog=plain.epilog
    )
    command.others = {each.name.split()[-1]: command_of(each) for each in others}
    return command


def group_of(name: str, help: str, operations: Sequence[Operation]) -> click.Group:
    """Return the command that groups operations, such as `ciff` for `ciff export` and `ciff import`."""
    commands = {each.name.split()[-1]: command_of(each) for each in operations}
    group = click.Group(name, commands, invoke_without_command=True, help=help)
    group.epilog = _examples([example for each in operations for example in each.examples[:1]])

    def callback() -> None:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            click.echo(context.get_help())

    group.callback = callback
    return group


def _run(operation: Operation, given: dict[str, Any]) -> None:
    """Call an operation and print its result."""
    from sublex.cli.context import CommandContext

    overwrite = bool(given.pop("overwrite_file", False))
    form, output, name = given.pop("form", "table"), given.pop("output_file", None), given.pop("index_name", None)
    if operation.needs is Needs.MAYBE_INDEX:
        name, given = _index_before_text(operation, given)
    arguments = {each.name: _value(operation, each, given[each.name], name) for each in _shown(operation)}
    ending = ""
    if output is not None and operation.file:
        expect_no_input(output, arguments)
        ending = check_output(output, *operation.file.endings, overwrite=overwrite)
    allow_uncovered = bool(arguments.get("allow_uncovered"))
    if operation.needs in (Needs.INDEX, Needs.MODEL, Needs.PATH):
        _check_order(operation, name or "", arguments)
    with CommandContext(operation, name, allow_uncovered, given["verbose"]) as context:
        shown = context.ask(operation, **arguments)
        shown, after = (shown, "") if output is None else write_file(shown, output, ending)
        say(*shown.notes)
        print_shown(shown, form)
        say(*filter(None, [after]))
    if shown.code:
        click.get_current_context().exit(shown.code)


def _index_before_text(operation: Operation, given: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Return the index before the text of an operation, or None, and the arguments without the index."""
    from sublex.index.lookup import names_index

    text = next(each for each in _shown(operation) if _is_text(operation, each))
    words = given[text.name]
    if len(words) > 1 and names_index(words[0]):
        return words[0], {**given, text.name: words[1:]}
    if len(words) == 2:
        quoted = Step(operation.name, " ".join(words))
        raise InputError(f"No index {words[0]}; if it belongs to the text, put the text in quotes: {quoted}")
    return None, given


def _check_order(operation: Operation, name: str, arguments: dict[str, Any]) -> None:
    """Raise InputError if the first argument names no index, but another argument does."""
    from sublex.index.lookup import names_index

    places = [each for each in _shown(operation) if each.flags is None]
    words = [word for each in places if (value := arguments[each.name]) for word in (value if each.many else (value,))]
    if names_index(name) or not (found := next(filter(names_index, words), None)):
        return
    words[words.index(found)] = name
    turned = Step(operation.name, found, *words)
    raise InputError(f"{name} is no index, and {found} is one; the index comes first: {turned}")


def _value(operation: Operation, each: Parameter, value: Any, index: str | None) -> Any:
    """Convert the value of a parameter for the operation.

    Raise InputError for mistakes about which click's message would not help.
    """
    if each.many:
        value = tuple(value)
    given = value if each.many else (value,)
    if each.flags and each.completes == "expression" and any(text is not None and not text.strip() for text in given):
        flag = each.flags[0]
        raise InputError(f"The expression after {flag} is empty; write for example {flag} BM25, or leave {flag} out.")
    if _is_text(operation, each):
        if len(value) > 1:
            words = [index] if index else []
            quoted = Step(operation.name, *words, " ".join(value))
            raise InputError(f"The {each.metavar.lower()} is one argument; put it in quotes: {quoted}")
        return value[0] if value else each.default
    return value


def _shown(operation: Operation) -> list[Parameter]:
    return [each for each in operation.parameters if not each.hidden]


def _is_text(operation: Operation, each: Parameter) -> bool:
    """Return whether a parameter is a text and the last argument. Further words then belong to it."""
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
                shell_complete=COMPLETIONS["file"], help=operation.helps.get("output", ""),
            )
        )  # fmt: skip
        params.append(click.Option(["--overwrite", "overwrite_file"], is_flag=True, help=OVERWRITE_HELP))
    params.append(click.Option(["-v", "--verbose"], is_flag=True, help="Say what is done and how long it takes."))
    if operation.forms[1:]:
        forms = [form for each in operation.forms for form in (CSV if each == "csv" else (each,))]
        text = "Output format." + " spreadsheet is CSV without formulas." * ("csv" in forms)
        choice = click.Choice(forms)
        params.append(click.Option(["--format", "form"], type=choice, default=forms[0], show_default=True, help=text))
    return params


def _examples(commands: Sequence[str]) -> str | None:
    """Return the end of a command's help: example command lines that users can type."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)]) if commands else None


def _argument(operation: Operation, each: Parameter) -> click.Argument:
    many = each.many or _is_text(operation, each)
    metavar = each.metavar if each.is_required or each.metavar.startswith("[") else f"[{each.metavar}]"
    completed = COMPLETIONS.get(each.completes)
    if operation.needs is Needs.MAYBE_INDEX and _is_text(operation, each):
        metavar, completed = f"[INDEX] {metavar}", COMPLETIONS["index"]
    return click.Argument(
        [each.name],
        nargs=-1 if many else 1,
        required=each.is_required,
        type=_type(each),
        metavar=f"{metavar}..." if each.many and not metavar.endswith("...") else metavar,
        shell_complete=completed,
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
