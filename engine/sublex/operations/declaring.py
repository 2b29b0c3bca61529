"""The declaration of an operation: a typed function. Each face derives from it how users call the operation."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from sublex.forms.lines import Shown
from sublex.tools.messages import Step
from sublex.tools.outputs import expect_no_input


class Needs(Enum):
    """The thing that an operation needs. A face finds the thing, and the operation gets it from its context."""

    NOTHING = "nothing"
    INDEX = "an index"
    MODEL = "an index whose fitted models may lack documents, since the operation names the model that it reads"
    ANY_INDEX = "an index if the user names one by --index"
    MAYBE_INDEX = "an index as an optional first argument, before the text"
    PATH = "the path of an index, which the operation opens itself"
    NEW = "the path of an index to make"
    SESSION = "a session of the shell, with its last results; the operation gets the session in place of a context"


# Operations that need one of these take the index as their first argument.
INDEXED = (Needs.INDEX, Needs.MODEL, Needs.PATH, Needs.NEW)


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation.

    `name`, `type`, `default`, `choices` and `many` come from the signature of the operation's function. `help` comes
    from the section `Args:` of the function's docstring.

    `flags` are the names of an option, such as ("-k",); they are None for a positional parameter. `completes` says what
    kind of value the parameter takes, so that a face can complete it: "index", "file", "word", "docno", "expression",
    "fittable", "expander", "model", "name", "component", "analyzer", "reader", "backend" or "profile". `shown` is the
    default in words. `least` is the lowest number that the parameter takes. `given` is for files that a server may read
    for its users: "topics", "judgements" or "runs", or "files" for any of them. The users choose among the files that
    were given at the start of the server.

    The other attributes are for faces that remember the last answer, such as the shell. These faces supply the value of
    a `remembered` parameter themselves. They take a `bare` option as a positional argument, after `word` if that is not
    empty. A `hidden` parameter exists only in these faces.
    """

    metavar: str = ""
    help: str = ""
    flags: tuple[str, ...] | None = None
    completes: str = ""
    shown: str = ""
    least: int | None = None
    given: str = ""
    remembered: bool = False
    bare: bool = False
    word: str = ""
    hidden: bool = False
    name: str = ""
    type: type = str
    default: Any = ...
    many: bool = False
    choices: tuple[str, ...] = ()

    @property
    def is_required(self) -> bool:
        """Whether the parameter has no default."""
        return self.default is ...

    @property
    def flag(self) -> str:
        """The first name of an option, without dashes."""
        return (self.flags or (self.name,))[0].lstrip("-")


def positional(metavar: str = "", **facts: Any) -> Parameter:
    """Declare a positional parameter. The facts are attributes of `Parameter`."""
    return Parameter(metavar, **facts)


def option(*flags: str, **facts: Any) -> Parameter:
    """Declare an option.

    Without `flags`, the option has the name of the parameter: `allow_uncovered` becomes --allow-uncovered.
    """
    return Parameter(flags=flags, **facts)


class File(NamedTuple):
    """A file that an operation can write with -o: the endings of its name, and whether the user must name it.

    The docstring's text for `output` is the help of the option.
    """

    endings: tuple[str, ...]
    required: bool = False
    metavar: str = "FILE"


class Operation:
    """A request that users can make in any face: a function that returns `Shown`.

    The function takes a context and typed parameters. Its docstring is the help, with sections `Args:` and `Examples:`.
    A parameter whose type is a NamedTuple stands for several parameters, the fields of this type.

    `forms` are the forms of the result, the usual one first. `python` is an expression of Python that gives the same
    result, with {name} for the arguments, or a function of the arguments that returns such an expression. `prints` is
    the kind of value of this expression: "hits", "rows" or "value". `faces` are the faces that have the operation:
    "cli", "shell" and "service". By default all have it, the service only if the result has the form "json". `shell` is
    the operation's name in the shell, if it has another name there. `changes` says whether a call changes the index; it
    may be a function of the arguments. The service makes such a call only for users who may change the index. `is_long`
    says that a call may take minutes. The service then answers with lines, and the last line has the result.
    """

    def __init__(
        self,
        function: Callable[..., Shown | None],
        name: str = "",
        needs: Needs = Needs.INDEX,
        *,
        forms: Sequence[str] = ("table", "json"),
        file: File | None = None,
        python: str | Callable[[Mapping[str, Any]], str] = "",
        prints: str = "value",
        index_help: str = "",
        faces: Sequence[str] = (),
        shell: str = "",
        section: str = "",
        changes: bool | Callable[[Mapping[str, Any]], bool] = False,
        is_long: bool = False,
    ):
        self.function, self.name = function, name or function.__name__.replace("_", "-")
        self.needs, self.forms, self.file = needs, tuple(forms), file
        self.python, self.prints, self.index_help, self.section = python, prints, index_help, section
        usual = ("cli", "shell", "service") if "json" in self.forms else ("cli", "shell")
        self.faces = ("shell",) if needs is Needs.SESSION else tuple(faces or usual)
        self._changes, self.is_long = changes, is_long
        self.shell = shell or self.name

    def __call__(self, context: Any, **arguments: Any) -> Any:
        """Call the function. The arguments for the fields of a group become one NamedTuple."""
        expect_no_input(arguments.get("output"), arguments)
        for name, group in self._groups.items():
            arguments[name] = group(**{each: arguments.pop(each) for each in group._fields if each in arguments})
        return self.function(context, **arguments)

    def changes(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call with these arguments changes the index."""
        return self._changes(arguments) if callable(self._changes) else self._changes

    @property
    def may_change(self) -> bool:
        """Whether there are calls that change the index."""
        return bool(self._changes)

    @property
    def may_read(self) -> bool:
        """Whether there are calls that change nothing."""
        return self._changes is not True

    @cached_property
    def _doc(self) -> dict[str, str]:
        """The docstring by sections. The text before the sections has the key ""."""
        text, *sections = re.split(r"\n\n(Args|Examples):\n", inspect.getdoc(self.function) or "It has no description.")
        return {"": text, **dict(zip(sections[::2], sections[1::2], strict=True))}

    @property
    def help(self) -> str:
        """The docstring of the function, without its sections `Args:` and `Examples:`."""
        return self._doc[""]

    @property
    def examples(self) -> list[str]:
        """Example command lines, ready to type."""
        return [example.strip() for example in self._doc.get("Examples", "").split("\n") if example.strip()]

    @property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        return f"{' '.join(self.help.split()).partition('. ')[0].rstrip('.')}."

    @cached_property
    def helps(self) -> dict[str, str]:
        """The help of each parameter, and of `output` (the file of -o), from the section `Args:` of the docstring."""
        section = self._doc.get("Args", "")
        found = re.findall(r"^    (\w+): (.*(?:\n     +.*)*)", section, re.MULTILINE)
        return {name: " ".join(text.split()) for name, text in found}

    @cached_property
    def _hints(self) -> dict[str, tuple[Any, Any]]:
        """The type and the default of each parameter of the function after the context."""
        _, *signature = inspect.signature(self.function).parameters.values()
        hints = types.SimpleNamespace(__annotations__={each.name: each.annotation for each in signature})
        typed = get_type_hints(hints, getattr(self.function, "__globals__", {}), include_extras=True)
        return {each.name: (typed[each.name], each.default) for each in signature}

    @cached_property
    def _groups(self) -> dict[str, Any]:
        """The parameters whose type is a NamedTuple: each stands for several parameters, the fields of this type."""
        return {name: hint for name, (hint, _) in self._hints.items() if hasattr(hint, "_fields")}

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the function after the context.

        A group is replaced by the parameters that it stands for.
        """
        declared: list[Parameter] = []
        for name, (hint, default) in self._hints.items():
            if name in self._groups:
                fields = get_type_hints(hint, include_extras=True)
                defaults = {**dict.fromkeys(hint._fields, inspect.Parameter.empty), **hint._field_defaults}
                declared += [_parameter(each, fields[each], defaults[each], self.helps) for each in hint._fields]
            else:
                declared.append(_parameter(name, hint, default, self.helps))
        return tuple(declared)

    def step(self, arguments: Mapping[str, Any], index: object = "INDEX") -> Step | None:
        """Return a call as a step of the command line; None if the command line cannot make this call."""
        words, options = [index] if self.needs in (*INDEXED, Needs.MAYBE_INDEX) else [], {}
        if self.needs is Needs.ANY_INDEX:
            options["index"] = index
        for each in self.parameters:
            value = arguments.get(each.name, each.default)
            if each.hidden and value != each.default:
                return None
            if each.flags is not None:
                options[each.flag] = None if value == each.default else value
            elif value is not None:
                words += value if each.many else [value]
        return Step(self.name, *words, **options) if "cli" in self.faces else None

    def code(self, arguments: Mapping[str, Any]) -> str:
        """Return a call as an expression of Python that uses `index`; "" if the operation has no such expression."""
        given = {each.name: arguments.get(each.name, each.default) for each in self.parameters}
        if callable(self.python):
            return self.python(given)
        return self.python.format_map({name: repr(value) for name, value in given.items()})


def operation(*args: Any, **facts: Any) -> Callable[[Callable[..., Shown | None]], Operation]:
    """Return a decorator that turns a function into an `Operation`.

    The arguments of `operation` are the arguments of `Operation` without the function, as in this example:

        @operation(needs=Needs.MODEL, forms=("table", "json", "csv"))
        def labels(context: Context, expression: Model) -> Shown:
            '''List the labels of a fitted model.'''
    """
    return lambda function: Operation(function, *args, **facts)


def _parameter(name: str, hint: Any, default: Any, helps: Mapping[str, str]) -> Parameter:
    """Return the parameter for a name, a type and a default. The type may have annotations with more facts."""
    declared = next((fact for fact in getattr(hint, "__metadata__", ()) if isinstance(fact, Parameter)), None)
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(plain) in (Union, types.UnionType):
        plain = next(kind for kind in get_args(plain) if kind is not type(None))
    many = get_origin(plain) is tuple
    plain = get_args(plain)[0] if many else plain
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    is_required = default is inspect.Parameter.empty
    if declared is None:
        # Without a declaration, a parameter with a default is an option, and any other parameter is positional.
        declared = Parameter(flags=None if is_required else ())
    is_number = plain in (int, float) and declared.flags is not None
    return replace(
        declared,
        name=name,
        metavar=declared.metavar or ("N" if is_number else name.replace("_", " ").upper()),
        help=helps.get(name, declared.help),
        flags=(f"--{name.replace('_', '-')}",) if declared.flags == () else declared.flags,
        type=str if choices else plain,
        default=... if is_required else default,
        many=many,
        choices=choices,
    )
