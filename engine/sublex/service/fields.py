"""The fields of requests: what each operation takes over HTTP, derived from its parameters, with the check and the schema of each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sublex.errors import InputError
from sublex.operations import Operation, Parameter
from sublex.service.limits import MOST_COUNT, MOST_HITS, MOST_LETTERS, MOST_TEXT, MOST_VALUES
from sublex.service.problems import Refused
from sublex.tools.messages import cut, nearest

# Parameters that only the owner of a server decides.
OF_THE_OWNER = frozenset(("workers", "memory"))
# The values of `Parameter.completes` for expressions, and for paths, which requests cannot name.
EXPRESSIONS = frozenset(("expression", "model", "fittable", "expander"))
PATHS = frozenset(("file", "index", "index or file"))
# The parameters in which an operation takes what the server was given, each with the kind of file.
LOADED = {"loaded_topics": "topics", "loaded_qrels": "judgements", "judgements": "judgements", "loaded_runs": "runs"}
# The fields by which a request chooses a file of the server, by its kind.
CHOSEN = {"topics": "topics", "judgements": "qrels", "runs": "run", "files": "file"}
WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
TRUE, FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


@dataclass(frozen=True)
class RequestField:
    """A field of a request: its name, the type of its values, and the allowed values.

    `parameter` is the name of the operation's parameter. `file` is the kind of file whose name it takes, one of those that
    the server was given. `most` is the highest number.
    """

    name: str
    parameter: str
    type: type
    default: Any = ...
    many: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    longest: int = MOST_TEXT
    file: str = ""
    help: str = ""
    is_expression: bool = False
    is_nullable: bool = False
    # Whether a value has to be an expression that can be read; a column or the name of a model on disk is none.
    is_strict: bool = False
    # What the parameter gets if the request names no file; ... for the first file that the server was given.
    absent: Any = ...

    @property
    def is_required(self) -> bool:
        """Whether a request has to have the field."""
        return self.default is ...

    def read(self, texts: Sequence[str]) -> Any:
        """Return the value of the field from the texts of a query string.

        Raise Refused for a value that is not allowed.
        """
        if not self.many:
            if len(texts) > 1:
                raise self.refused(f"{self.name} is given {len(texts)} times; give it once.")
            return self._value(texts[0])
        if len(texts) > MOST_VALUES:
            raise self.refused(f"{self.name} has {len(texts)} values; give at most {MOST_VALUES}.")
        return tuple(map(self._value, texts))

    def take(self, value: Any) -> Any:
        """Return the value of the field from a JSON body. Raise Refused for a value that is not allowed."""
        if value is None and self.is_nullable:
            return None
        if not self.many:
            return self._checked(value)
        if not isinstance(value, list):
            raise self.refused(f"{self.name} is {_shown(value)}; give a list.")
        if len(value) > MOST_VALUES and self.type is not dict:
            raise self.refused(f"{self.name} has {len(value)} values; give at most {MOST_VALUES}.")
        return tuple(map(self._checked, value))

    def refused(self, sentence: str) -> Refused:
        """Return the refusal of a value of this field."""
        return Refused(400, sentence, parameter=self.name)

    def _value(self, text: str) -> Any:
        """Return the value of one text."""
        if self.type is bool:
            if text.lower() not in (*TRUE, *FALSE):
                raise self.refused(f"{self.name} is {_shown(text)}; give true or false.")
            return text.lower() in TRUE
        if self.type is int:
            if not WHOLE.fullmatch(text.strip()):
                raise self.refused(f"{self.name} is {_shown(text)}; give a whole number{self._range}.")
            return self._in_range(int(text))
        if self.type is float:
            try:
                number = float(text)
            except ValueError:
                number = math.nan
            return self._in_range(number)
        return self._text(text)

    def _checked(self, value: Any) -> Any:
        """Return one value of a JSON body."""
        kinds = (int, float) if self.type is float else (self.type,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and self.type is not bool):
            raise self.refused(f"{self.name} is {_shown(value)}; give {self._kind}{self._range}.")
        if isinstance(value, str):
            return self._text(value)
        return self._in_range(value) if self.type in (int, float) else value

    def _in_range(self, number: Any) -> Any:
        low = self.least is not None and number < self.least
        if low or not math.isfinite(number) or (self.most is not None and number > self.most):
            kind = "a whole number" if self.type is int else "a number"
            raise self.refused(f"{self.name} is {_shown(number)}; give {kind}{self._range}.")
        return number

    def _text(self, text: str) -> str:
        if len(text) > self.longest:
            raise self.refused(f"{self.name} has {len(text):,} characters; give at most {self.longest:,}.")
        if self.choices and text not in self.choices:
            hint = nearest(text, self.choices)
            raise self.refused(
                f"{self.name} is {_shown(text)}; {hint}{'I' if hint else 'i'}t may be {', '.join(self.choices)}."
            )
        if self.is_expression and not text.strip():
            raise self.refused(f"{self.name} is empty; write an expression such as BM25, or leave {self.name} out.")
        return text

    @property
    def _kind(self) -> str:
        return {int: "a whole number", float: "a number", bool: "true or false", dict: "an object"}.get(
            self.type, "a text"
        )

    @property
    def _range(self) -> str:
        if self.least is None and self.most is None:
            return ""
        if self.most is None:
            return f" of at least {self.least:,}"
        return f" from {self.least:,} to {self.most:,}" if self.least is not None else f" of at most {self.most:,}"

    def schema(self) -> dict[str, Any]:
        """Return the field as a JSON schema, whose limits are those that `read` and `take` check."""
        kinds = {int: "integer", float: "number", bool: "boolean", dict: "object"}
        one: dict[str, Any] = {"type": kinds.get(self.type, "string")}
        if self.type is str:
            one["maxLength"] = self.longest
        if self.choices:
            one = {"type": "string", "enum": list(self.choices)}
        for name, bound in (("minimum", self.least), ("maximum", self.most)):
            if bound is not None:
                one[name] = bound
        if self.many:
            whole: dict[str, Any] = {"type": "array", "items": one}
            return whole if self.type is dict else {**whole, "maxItems": MOST_VALUES}
        if self.is_nullable:
            one = {**one, "type": [one["type"], "null"]}
        return one if self.default in (..., None, "") else {**one, "default": self.default}


def _shown(value: Any) -> str:
    """Return a value as a sentence shows it."""
    text = value if isinstance(value, str) else "null" if value is None else str(value)
    return repr(cut(text)) if isinstance(value, str) else cut(text)


def name_of(each: Parameter) -> str:
    """Return the name of a parameter in requests: that of its long option, with _ for -, or else its own."""
    long = next((flag for flag in each.flags or () if flag.startswith("--")), "")
    return long.lstrip("-").replace("-", "_") or each.name


def fields_of(operation: Operation) -> tuple[RequestField, ...]:
    """Return the fields of an operation. Raise InputError if it needs a file that no request can name."""
    fields: dict[str, RequestField] = {}
    loaded = {each.name: LOADED[each.name] for each in operation.parameters if each.name in LOADED}
    for each in operation.parameters:
        if each.name in loaded:
            kind = loaded[each.name]
            name = CHOSEN[kind]
            default = () if kind == "runs" else ""
            fields[name] = RequestField(name, each.name, str, default, kind == "runs", file=kind, help=HELP[kind])
        elif each.given in loaded.values() or each.name in OF_THE_OWNER or (each.hidden and not each.bare):
            continue
        elif each.given:
            name = CHOSEN[each.given]
            absent = ... if each.is_required else each.default
            fields[name] = RequestField(
                name, each.name, str, "", each.many, file=each.given, absent=absent,
                help=HELP[each.given] if absent is ... or not each.help else each.help,
            )  # fmt: skip
        elif each.completes in PATHS:
            if each.is_required and not loaded:
                raise InputError(f"{operation.name} needs a file, which no request can name")
        else:
            found = _field(each)
            fields.setdefault(found.name, found)
    return tuple(fields.values())


HELP = {
    "topics": "The name of a topic file that the server was given; by default the first.",
    "judgements": "The name of a file of judgements that the server was given; by default the first --qrels.",
    "runs": "The name of a run file that the server was given.",
    "files": "The name of a file that the server was given; by default all of them.",
}


def _field(each: Parameter) -> RequestField:
    """Return the field of a parameter that holds no file."""
    name, is_expression = name_of(each), each.completes in EXPRESSIONS
    least: float | None = each.least
    most = None
    if each.type is int:
        most = MOST_HITS if name in ("k", "from") else 2**63 - 1 if name == "seed" else MOST_COUNT
        least = 0 if least is None else least
    return RequestField(
        name, each.name, each.type, each.default, each.many, each.choices, least, most,
        MOST_LETTERS if is_expression or each.completes in ("analyzer", "reader") else MOST_TEXT,
        help=each.help, is_expression=is_expression, is_strict=each.completes == "expression", is_nullable=each.default is None,
    )  # fmt: skip


def unknown_field(name: str, operation: str, fields: Mapping[str, RequestField]) -> Refused:
    """Return the refusal of a field that an operation does not have."""
    hint = nearest(name, fields)
    known = f"{operation} takes {', '.join(fields)}" if fields else f"{operation} takes none"
    return Refused(
        400, f"No parameter {cut(name)}; {hint}{known[0].upper() if hint else known[0]}{known[1:]}.", parameter=name
    )
