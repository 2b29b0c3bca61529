"""Text to expressions: a tokenizer and a recursive descent, one method for each line of the grammar.

    pipeline := stage (">>" stage)*           stage := part ("+" part)*
    part     := [weight "*"] atom ["%" depth] atom  := NAME ["(" [arg ("," arg)*] ")"] | "(" pipeline ")"
    arg      := [NAME "="] value              value := literal | pipeline
    literal  := NUMBER | true | false | WORD | STRING | RANGE | "[" [value ("," value)*] "]"

A value is a literal if it is nothing more: a number or range followed by `*` is a weight, and a word followed by an
operator or a parenthesis is a name; both begin a pipeline. What a lone word means is for the declared parameter to say.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeVar

from sublex.errors import InputError
from sublex.expression import KEYWORDS, NAME, Blend, Call, Cut, Expression, Range, Weighted, chain

LONGEST = 10_000
DEEPEST = 30
SHOWN = 60  # columns of a long expression, around the caret
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<number>-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![^\s(),="+*%>{}\[\]]))
    |(?P<range>\{[^{}"()]*\})
    |(?P<word>[^\s(),="+*%>{}\[\]]+)
    |(?P<mark>>>|[(),=+*%\[\]])""",
    re.VERBOSE | re.DOTALL,
)
_BEGINNING = re.compile(rf"(?P<name>{NAME.pattern})|-?[0-9]*\.?[0-9]+")
_UNREADABLE = {
    '"': 'Expected a closing " for the text that begins',
    "{": "Expected numbers and a closing } for the range that begins",
    "}": "Expected no } without a { before it",
    ">": "Expected >> in place of >",
}
# What makes a literal, when it follows, the beginning of a pipeline.
_CONTINUED = {"number": ("*",), "range": ("*",), "word": ("(", ">>", "+", "%"), "string": ()}
Made = TypeVar("Made")


class Token(NamedTuple):
    """A piece of the text and where it begins."""

    kind: str
    text: str
    at: int


class _Unreadable(Exception):
    """What is wrong, and at which character."""

    def __init__(self, what: str, at: int):
        self.what, self.at = what, at


def parse(text: str) -> Expression:
    """Read an expression such as `BM25 >> RM3(docs=10) >> PL2 + 0.3*laki`."""
    try:
        return _read(text, _Parser.pipeline)
    except _Unreadable as wrong:
        raise InputError(f"{wrong.what} in column {wrong.at + 1}:\n{_pointed(text, wrong.at)}") from None


def parse_call(text: str) -> Call:
    """Read one component, `name` or `name(parameter=value, …)`, as readers and analyzers are written."""
    try:
        call = _read(text, _Parser.call)
        if call.args:
            raise _Unreadable("Expected parameter=value", text.index("(") + 1)
        return call
    except _Unreadable as wrong:
        what = f"{wrong.what[0].lower()}{wrong.what[1:]} in column {wrong.at + 1}"
        usage = "write it as name or name(parameter=value, parameter=value)"
        raise InputError(f"Cannot read {text[:200]!r}: {what}; {usage}.") from None


def _read(text: str, rule: Callable[[_Parser], Made]) -> Made:
    if len(text) > LONGEST:
        raise _Unreadable(f"Expected the end (an expression has at most {LONGEST} characters)", LONGEST)
    parser = _Parser(_tokens(text))
    made = rule(parser)
    if parser.now.kind != "end":
        parser.expected(">>, + or the end" if rule is _Parser.pipeline else "the end")
    return made


def _misspelt(token: Token) -> None:
    """Point at what makes a word no name, where it begins like one or like a weight."""
    begin = _BEGINNING.match(token.text) if token.kind == "word" else None
    if begin:
        wrong = f"no {token.text[begin.end()]} in a name" if begin["name"] else f"* after {begin.group()}"
        raise _Unreadable(f"Expected {wrong}", token.at + begin.end())


def _tokens(text: str) -> list[Token]:
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match:
            tokens.append(Token(match.lastgroup or "", match.group(), at))
        elif not text[at].isspace():
            raise _Unreadable(_UNREADABLE[text[at]], at)
        at = match.end() if match else at + 1
    return [*tokens, Token("end", "", len(text))]


class _Parser:
    """A position in the tokens; each method reads one thing and stands behind it."""

    def __init__(self, tokens: list[Token]):
        self.tokens, self.at, self.depth = tokens, 0, 0

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, mark: str) -> bool:
        found = self.now.kind == "mark" and self.now.text == mark
        self.at += found
        return found

    def need(self, mark: str, what: str) -> None:
        if not self.accept(mark):
            self.expected(what)

    def expected(self, what: str) -> NoReturn:
        before = self.tokens[self.at - 1].text if self.at else ""
        after = f" after {_plainly(before[:30])}{'…' * (len(before) > 30)}" if before else ""
        raise _Unreadable(f"Expected {what}{after}", self.now.at)

    def pipeline(self) -> Expression:
        stages = [self.stage()]
        while self.accept(">>"):
            stages.append(self.stage())
        return chain(stages)

    def stage(self) -> Expression:
        parts = [self.part()]
        while self.accept("+"):
            parts.append(self.part())
        return Blend(tuple(parts)) if len(parts) > 1 else parts[0]

    def part(self) -> Expression:
        if self.now.kind not in ("number", "range"):
            return self.cut()
        weight = self.literal()
        self.need("*", "* and a name")
        return Weighted(weight, self.cut())

    def cut(self) -> Expression:
        inner = self.atom()
        if not self.accept("%"):
            return inner
        depth = self.literal() if self.now.kind in ("number", "range") else None
        if isinstance(depth, Range) or (isinstance(depth, int) and depth > 0):
            return Cut(inner, depth)
        self.at -= depth is not None
        self.expected("a whole number above 0")

    def atom(self) -> Expression:
        if not self.accept("("):
            return self.call("a name or (")
        inner = self.inside(self.pipeline)
        self.need(")", ">>, + or )")
        return inner

    def call(self, what: str = "a name") -> Call:
        if self.now.kind != "word" or not NAME.fullmatch(self.now.text):
            _misspelt(self.now)
            self.expected(what)
        name = self.take().text
        args: list[Any] = []
        params: dict[str, Any] = {}
        if self.accept("(") and not self.accept(")"):
            self.inside(lambda: self.arguments(name, args, params))
        return Call(name, tuple(args), params)

    def arguments(self, name: str, args: list[Any], params: dict[str, Any]) -> None:
        while True:
            word, following = self.tokens[self.at : self.at + 2] if self.now.kind == "word" else (self.now, self.now)
            if following.text == "=" and NAME.fullmatch(word.text):
                if word.text in params:
                    raise _Unreadable(f"{name} gives {word.text} twice", word.at)
                self.at += 2
                params[word.text] = self.value()
            elif params:
                self.expected("parameter=value")
            else:
                args.append(self.value())
            if self.accept(")"):
                return
            self.need(",", ", or )")

    def value(self) -> Any:
        if self.accept("["):
            return self.inside(self.items)
        kind, text, _ = self.now
        following = "" if kind == "end" else self.tokens[self.at + 1].text
        if kind in _CONTINUED and following not in _CONTINUED[kind]:
            return self.literal()
        if kind not in _CONTINUED and text != "(":
            self.expected("a value")
        return self.pipeline()

    def items(self) -> tuple[Any, ...]:
        items: list[Any] = []
        while not self.accept("]"):
            if items:
                self.need(",", ", or ]")
            items.append(self.value())
        return tuple(items)

    def literal(self) -> Any:
        """A number, range, word or string, which is there."""
        kind, text, at = self.take()
        if kind == "number":
            return _number(text, at)
        if kind == "range":
            return _range(text, at)
        if kind == "word":
            return KEYWORDS.get(text, text)
        try:
            return json.loads(text)
        except ValueError:
            raise _Unreadable(
                f"{_plainly(text)} is not a string JSON can read; write \\\\ for a backslash", at
            ) from None

    def inside(self, rule: Callable[[], Made]) -> Made:
        """What stands in parentheses or brackets: not endlessly many in one another."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise _Unreadable(f"Expected at most {DEEPEST} parentheses in one another", self.tokens[self.at - 1].at)
        made = rule()
        self.depth -= 1
        return made


def _number(text: str, at: int) -> float:
    if math.isinf(float(text)):
        raise _Unreadable("Expected a number below 1e308", at)
    return int(text) if re.fullmatch("-?[0-9]+", text) else float(text)


def _range(text: str, at: int) -> Range:
    interval = ".." in text
    numbers = [part.strip() for part in text[1:-1].split(".." if interval else ",")]
    read = [_number(part, at) for part in numbers if (m := _TOKEN.fullmatch(part)) and m.lastgroup == "number"]
    if len(read) != len(numbers) or (interval and (len(read) != 2 or read[0] >= read[1])):
        raise _Unreadable(f"{_plainly(text)} is not a range such as {{0..1}} or {{1,2,5}}", at)
    return Range(tuple(read), interval)


def _plainly(text: str) -> str:
    """Text for a line of a message: control characters, line ends and broken characters become spaces."""
    return "".join(c if c.isprintable() else " " for c in text)


def _pointed(text: str, at: int) -> str:
    """Two lines: the text, or the part of it around a place, and a caret under the place."""
    start = max(0, min(at - SHOWN // 2, len(text) - SHOWN))
    before, after = _plainly(text[start:at]), _plainly(text[at : start + SHOWN])
    before = f"{'…' * (start > 0)}{before}"
    return f"  {before}{after}{'…' * (start + SHOWN < len(text))}\n  {' ' * _columns(before)}^"


def _columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
