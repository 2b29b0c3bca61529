"""The parser: turns the text of an expression into a tree, or raises an error with a caret under the mistake.

A tokenizer cuts the text, and a recursive descent has one method for each line of the grammar:

    pipeline := stage (">>" stage)*           stage := part ("+" part)*
    part     := [weight "*"] atom ["%" depth] atom  := NAME ["(" [arg ("," arg)*] ")"] | "(" pipeline ")"
    arg      := [NAME "="] value              value := literal | pipeline
    literal  := NUMBER | true | false | WORD | STRING | RANGE | "[" [value ("," value)*] "]"

A value that is a single literal is a literal and no pipeline. A number or range before `*` is a weight, and a word before
an operator or a parenthesis is a name; both begin a pipeline. The parser reads a lone word as a text. Later, the declared
type of the parameter decides whether the text names a component.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeVar

from sublex.errors import InputError
from sublex.language.expression import KEYWORDS, NAME, Blend, Call, Cut, Expression, Range, Weighted, chain
from sublex.tools.arguments import shown

# The largest number of characters of an expression, and the deepest nesting of its parentheses and brackets.
LONGEST, DEEPEST = 10_000, 30
# Characters of a long expression that a message shows around the caret.
SHOWN = 60
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
# For each kind of literal: if one of these tokens follows it, it is the beginning of a pipeline.
_CONTINUED = {"number": ("*",), "range": ("*",), "word": ("(", ">>", "+", "%"), "string": ()}
# The end of an expression that calls `where` without quotes around its argument, as many users write it.
_BARE_CONDITION = re.compile(r"(?P<before>\bwhere\(\s*)[^\s\"][^\"]*\Z", re.IGNORECASE)
T = TypeVar("T")


class ExpressionToken(NamedTuple):
    """A token: its kind, its text, and the position of its first character."""

    kind: str
    text: str
    at: int


class Unreadable(Exception):
    """A mistake in the text: a message, and the position of the character that the caret points at."""

    def __init__(self, message: str, at: int):
        self.message, self.at = message, at


def parse(text: str) -> Expression:
    """Return the tree of an expression such as `BM25 >> RM3(docs=10) >> PL2 + 0.3*lsi`.

    For any other text, raise InputError, whose message has a caret under the mistake.
    """
    if not isinstance(text, str):
        raise InputError(f"The expression is {shown(text)}; give a text such as 'BM25 >> RM3 >> BM25'.")
    try:
        return _read(text, _ExpressionParser.pipeline)
    except Unreadable as mistake:
        if bare := _BARE_CONDITION.search(text, 0, mistake.at):
            mistake = Unreadable(
                'Expected the condition in double quotes, as in where("year >= 2015"),', bare.end("before")
            )
        raise InputError(f"{mistake.message} in column {mistake.at + 1}:\n{with_caret(text, mistake.at)}") from None


def parse_call(text: str, unnamed: bool = False) -> Call:
    """Return one component, `name` or `name(parameter=value, …)`, the form of readers and analyzers.

    With `unnamed`, values may stand without the name of their parameter. Raise InputError if the text is no such component.
    """
    try:
        call = _read(text, _ExpressionParser.call)
        if call.args and not unnamed:
            raise Unreadable("Expected parameter=value", text.index("(") + 1)
        return call
    except Unreadable as mistake:
        reason = f"{mistake.message[0].lower()}{mistake.message[1:]} in column {mistake.at + 1}"
        usage = "write it as name or name(parameter=value, parameter=value)"
        raise InputError(f"Cannot read {text[:200]!r}: {reason}; {usage}.") from None


def parse_range(text: str, operator: str) -> Range:
    """Return the range in a text such as `{0..1}` before `*` or after `%`. Raise InputError if the text is no range."""
    try:
        found = _read(text, _ExpressionParser.literal)
    except Unreadable:
        found = None
    if not isinstance(found, Range):
        if operator == "%":
            raise InputError(
                f"The depth {text!r} should be a whole number, 0 or above, or a range such as '{{100,200}}'."
            )
        raise InputError(f"The weight {text!r} should be a finite number, or a range such as '{{0..1}}'.")
    return found


def _read(text: str, rule: Callable[[_ExpressionParser], T]) -> T:
    """Return the result of a grammar rule on the whole text."""
    if len(text) > LONGEST:
        raise Unreadable(f"Expected the end (an expression has at most {LONGEST} characters)", LONGEST)
    parser = _ExpressionParser(_tokens(text))
    tree = rule(parser)
    if parser.now.kind != "end":
        parser.expected(">>, + or the end" if rule is _ExpressionParser.pipeline else "the end")
    return tree


def _refuse_misspelt(token: ExpressionToken) -> None:
    """Raise Unreadable at the first wrong character of a word that begins like a name or a weight, but is neither."""
    begin = _BEGINNING.match(token.text) if token.kind == "word" else None
    if begin:
        wrong = f"no {token.text[begin.end()]} in a name" if begin["name"] else f"* after {begin.group()}"
        raise Unreadable(f"Expected {wrong}", token.at + begin.end())


def _tokens(text: str) -> list[ExpressionToken]:
    """Return the tokens of a text, and a last one of the kind "end"."""
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match:
            tokens.append(ExpressionToken(match.lastgroup or "", match.group(), at))
        elif not text[at].isspace():
            raise Unreadable(_UNREADABLE[text[at]], at)
        at = match.end() if match else at + 1
    return [*tokens, ExpressionToken("end", "", len(text))]


class TokenList:
    """A list of tokens with a current position, which a recursive descent reads."""

    def __init__(self, tokens: list[ExpressionToken]):
        self.tokens, self.at, self.depth = tokens, 0, 0

    @property
    def now(self) -> ExpressionToken:
        """The token at the position."""
        return self.tokens[self.at]

    def take(self) -> ExpressionToken:
        """Return the token at the position, and move on."""
        self.at += 1
        return self.tokens[self.at - 1]


class _ExpressionParser(TokenList):
    """The grammar of expressions. Each rule of the grammar is a method with the rule's name.

    The method reads text from the position on, as its rule says, and moves the position behind this text.
    """

    def accept(self, mark: str) -> bool:
        """Return whether the token is this mark. If it is, move on to the next token."""
        matches = self.now.kind == "mark" and self.now.text == mark
        self.at += matches
        return matches

    def require(self, mark: str, what: str) -> None:
        """Move behind this mark. If the token is another one, raise Unreadable, whose message says that `what` is expected."""
        if not self.accept(mark):
            self.expected(what)

    def expected(self, what: str) -> NoReturn:
        """Raise Unreadable with the message that `what` should stand at the position."""
        before = self.tokens[self.at - 1].text if self.at else ""
        after = f" after {printable(before[:30])}{'…' * (len(before) > 30)}" if before else ""
        hint = ' (a text of several words stands in ", as in "river bank")' if before.startswith("'") else ""
        if what.startswith(">>"):
            hint = self.hint()
        raise Unreadable(f"Expected {what}{after}{hint}", self.now.at)

    def hint(self) -> str:
        """Return a hint for the token at the position: how to write what the user seems to mean. Return "" without a hint."""
        if self.now.text.startswith("-"):
            return " (to subtract, give a negative weight, as in a + -0.5*b)"
        return " (a weight comes first, as in 0.5*a)" if self.now.text == "*" else ""

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
        self.require("*", "* and a name")
        return Weighted(weight, self.cut())

    def cut(self) -> Expression:
        inner = self.atom()
        if not self.accept("%"):
            return inner
        depth = self.literal() if self.now.kind in ("number", "range") else None
        if isinstance(depth, Range) or (isinstance(depth, int) and depth >= 0):
            return Cut(inner, depth)
        self.at -= depth is not None
        self.expected("a whole number, 0 or above")

    def atom(self) -> Expression:
        if not self.accept("("):
            return self.call("a name or (")
        inner = self.nested(self.pipeline)
        self.require(")", ">>, + or )")
        return inner

    def call(self, what: str = "a name") -> Call:
        if self.now.kind != "word" or not NAME.fullmatch(self.now.text):
            _refuse_misspelt(self.now)
            self.expected(what)
        name = self.take().text
        args: list[Any] = []
        params: dict[str, Any] = {}
        if self.accept("(") and not self.accept(")"):
            self.nested(lambda: self.arguments(name, args, params))
        return Call(name, tuple(args), params)

    def arguments(self, name: str, args: list[Any], params: dict[str, Any]) -> None:
        while True:
            word, following = self.tokens[self.at : self.at + 2] if self.now.kind == "word" else (self.now, self.now)
            if following.text == "=" and NAME.fullmatch(word.text):
                if word.text in params:
                    raise Unreadable(f"{name} gives {word.text} twice", word.at)
                self.at += 2
                params[word.text] = self.value()
            elif params:
                self.expected("parameter=value")
            else:
                args.append(self.value())
            if self.accept(")"):
                return
            self.require(",", ", or )")

    def value(self) -> Any:
        if self.accept("["):
            return self.nested(self.items)
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
                self.require(",", ", or ]")
            items.append(self.value())
        return tuple(items)

    def literal(self) -> Any:
        """Read a number, range, word or string. The caller has checked that the token is one of these."""
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
            raise Unreadable(f"{printable(text)} is not a valid JSON string; write \\\\ for a backslash", at) from None

    def nested(self, rule: Callable[[], T]) -> T:
        """Return the result of a rule within parentheses or brackets.

        Raise Unreadable when they are nested too deep.
        """
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable(f"Expected at most {DEEPEST} nested parentheses", self.tokens[self.at - 1].at)
        result = rule()
        self.depth -= 1
        return result


def _number(text: str, at: int) -> float:
    """Return the number that a token writes, an integer or a finite float. `at` is its position, for errors."""
    if math.isinf(float(text)):
        raise Unreadable("Expected a number below 1e308", at)
    return int(text) if re.fullmatch("-?[0-9]+", text) else float(text)


def _range(text: str, at: int) -> Range:
    """Return the range of `{low..high}` or `{number, …}`."""
    interval = ".." in text
    parts = [part.strip() for part in text[1:-1].split(".." if interval else ",")]
    numbers = [_number(part, at) for part in parts if (m := _TOKEN.fullmatch(part)) and m.lastgroup == "number"]
    if len(numbers) != len(parts) or (interval and (len(numbers) != 2 or numbers[0] >= numbers[1])):
        raise Unreadable(f"{printable(text)} is not a range such as {{0..1}} or {{1,2,5}}", at)
    return Range(tuple(numbers), interval)


def printable(text: str) -> str:
    """Return a text for one line of a message: control characters, line ends and surrogates become spaces."""
    return "".join(c if c.isprintable() else " " for c in text)


def with_caret(text: str, at: int) -> str:
    """Return two lines: the text, or the part of it around a position, and a caret under the position."""
    start = max(0, min(at - SHOWN // 2, len(text) - SHOWN))
    before, after = printable(text[start:at]), printable(text[at : start + SHOWN])
    before = f"{'…' * (start > 0)}{before}"
    return f"  {before}{after}{'…' * (start + SHOWN < len(text))}\n  {' ' * _columns(before)}^"


def _columns(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
