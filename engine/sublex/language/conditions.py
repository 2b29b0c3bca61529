"""The language of `where`: turns a text such as `year >= 2015 and category in (cs.IR, cs.CL)` into a condition on columns.

A tokenizer cuts the text, and a recursive descent has one method for each line of the grammar:

    any     := all ("or" all)*                  all := one ("and" one)*
    one     := "not" one | "(" any ")" | compared
    compared := NAME relation range | value relation NAME [relation value] | NAME ["not"] "between" value "and" value
              | NAME ["not"] "in" ( range | "(" range ("," range)* ")" ) | NAME "is" ["not"] "null"
    range   := value [".." [value]] | ".." value | WORD"*" | STRING"*"         value := NUMBER | WORD | STRING

The parser does not know the columns. `contracts/columns.py` compares their values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from sublex.contracts.comparisons import RANGES, ColumnTest, Value, number_of, printed_value
from sublex.contracts.operators import Condition
from sublex.errors import InputError
from sublex.language.parser import DEEPEST, LONGEST, ExpressionToken, TokenList, Unreadable, printable, with_caret
from sublex.tools.arguments import shown

# The pattern of names of columns.
COLUMN = re.compile(r"[^\W\d][\w.-]*")
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[“”„‟](?:[^“”„‟\\]|\\.)*[“”„‟]|«[^»]*»|[‘’‚](?:[^‘’‚\\]|\\.)*[‘’‚])
    |(?P<mark>\.\.\.?|<=|>=|!=|<>|==|[(),=<>])
    |(?P<word>(?:(?!\.\.|&&|\|\|)[^\s(),=<>!"'“”„‟])+)""",
    re.VERBOSE | re.DOTALL,
)
_RELATIONS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
# Each relation, and the relation that means the same after both sides are exchanged: `2015 < year` is `year > 2015`.
_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
KEYWORDS = ("and", "or", "not", "in", "between")
# Signs of other languages, and the words to write in their place.
_INSTEAD = {"&&": "and", "||": "or", "!": "not or !="}


def parse_condition(text: str) -> Condition:
    """Return the condition in a text. If the text is no condition, raise InputError with a caret under the mistake."""
    if not isinstance(text, str):
        raise InputError(f"The condition is {shown(text)}; give a text such as 'year >= 2015'.")
    try:
        if len(text) > LONGEST:
            raise Unreadable(f"Expected the end (a condition has at most {LONGEST:,} characters)", LONGEST)
        parser = _ConditionParser(_tokens(text))
        condition = parser.any()
        if parser.now.kind != "end":
            parser.expected("and, or or the end")
    except Unreadable as mistake:
        raise InputError(f"{mistake.message} in column {mistake.at + 1}:\n{with_caret(text, mistake.at)}") from None
    return condition if isinstance(condition, Condition) else Condition("all", (condition,))


def _tokens(text: str) -> list[ExpressionToken]:
    """Return the tokens of a text, and a last one of the kind "end"."""
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match:
            tokens.append(ExpressionToken(match.lastgroup or "", match.group(), at))
        elif not text[at].isspace():
            sign = text[at : at + 2] if text[at] in "&|" else text[at]
            instead = f"{_INSTEAD.get(sign)} in place of {sign}"
            raise Unreadable(
                f"Expected {instead if sign in _INSTEAD else f'a closing {sign} for the text that begins'}", at
            )
        at = match.end() if match else at + 1
    return [*tokens, ExpressionToken("end", "", len(text))]


class _ConditionParser(TokenList):
    """The grammar of conditions. Each rule of the grammar is a method with the rule's name."""

    def accept(self, text: str) -> bool:
        """Return whether the token is this mark, or this keyword in any case. If it is, move on to the next token."""
        matches = self.now.kind in ("mark", "word") and self.now.text.lower() == text
        self.at += matches
        return matches

    def expected(self, what: str) -> NoReturn:
        """Raise Unreadable with the message that `what` should stand at the position."""
        before = self.tokens[self.at - 1] if self.at else ExpressionToken("", "", 0)
        after = f" after {printable(before.text[:30])}{'…' * (len(before.text) > 30)}" if before.text else ""
        both_words = before.kind == self.now.kind == "word" and self.now.text.lower() not in KEYWORDS
        after_value = both_words and what.startswith(("and", ","))
        hint = ' (a text of several words stands in ", as in "two words")' if after_value else ""
        raise Unreadable(f"Expected {what}{after}{hint}", self.now.at)

    def joined(self, kind: str, word: str, part: Callable[[], Any]) -> Any:
        """Read parts with `word` between them, and join them in a condition of the kind `kind`. A single part stays alone."""
        parts = [part()]
        while self.accept(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Condition(kind, tuple(parts))

    def any(self) -> Any:
        return self.joined("any", "or", self.all)

    def all(self) -> Any:
        return self.joined("all", "and", self.one)

    def one(self) -> Any:
        begin = self.now.at
        negated = self.accept("not")
        if not negated and not self.accept("("):
            return self.compared()
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable(f"Expected at most {DEEPEST} nested parentheses", begin)
        inner = self.one() if negated else self.any()
        if not negated and not self.accept(")"):
            self.expected("and, or or )")
        self.depth -= 1
        return Condition("not", (inner,)) if negated else inner

    def compared(self) -> Any:
        if self.is_name():
            column = self.take().text
            negated = self.accept("not")
            if not negated and self.accept("is"):
                return self.existence(column)
            if self.accept("in"):
                found = self.within(column)
            elif self.accept("between"):
                low = self.value()
                if not self.accept("and"):
                    self.expected("and")
                found = ColumnTest(column, "between", (low, self.value()))
            elif negated:
                self.expected("in or between")
            else:
                relation = self.relation()
                found = self.range(column) if relation == "=" else ColumnTest(column, relation, (self.value(),))
            return Condition("not", (found,)) if negated else found
        if self.now.kind not in ("word", "string") or self.now.text.lower() in KEYWORDS:
            self.expected("a column or (")
        value, relation = self.value(), self.relation()
        if not self.is_name():
            self.expected("a column")
        column = self.take().text
        left = ColumnTest(column, _TURNED[relation], (value,))
        if self.now.kind != "mark" or self.now.text not in _RELATIONS:
            return left
        ends = ("<", "<=") if left.relation in (">", ">=") else (">", ">=") if left.relation in ("<", "<=") else ()
        if self.now.text not in ends:
            self.expected(" or ".join(ends) or "and, or or the end")
        second = ColumnTest(column, self.relation(), (self.value(),))
        first, last = (left, second) if left.relation.startswith(">") else (second, left)
        relation = f"{first.relation} {last.relation}"
        return ColumnTest(column, "between" if relation == ">= <=" else relation, (*first.values, *last.values))

    def existence(self, column: str) -> Any:
        """Read the end of `NAME is null` or `NAME is not null`, from behind `is`, and return the condition."""
        negated = self.accept("not")
        if not self.accept("null"):
            self.expected("null" if negated else "null or not null")
        found = ColumnTest(column, "exists", ())
        return found if negated else Condition("not", (found,))

    def is_name(self) -> bool:
        """Return whether the token is the name of a column."""
        return (
            self.now.kind == "word" and bool(COLUMN.fullmatch(self.now.text)) and self.now.text.lower() not in KEYWORDS
        )

    def relation(self) -> str:
        if self.now.kind != "mark" or self.now.text not in _RELATIONS:
            self.expected("=, !=, <, <=, >, >=, in, between or is")
        return _RELATIONS[self.take().text]

    def within(self, column: str) -> Any:
        """Read the values after `in`, and return the condition that the column has one of them."""
        if not self.accept("("):
            return self.range(column)
        found: list[ColumnTest] = []
        while not found or self.accept(","):
            found.append(self.range(column))
        if not self.accept(")"):
            self.expected(", or )")
        values = tuple(each.values[0] for each in found if each.relation == "=")
        ranges = [each for each in found if each.relation != "="]
        parts = (*([ColumnTest(column, "in", values)] if values else []), *ranges)
        return parts[0] if len(parts) == 1 else Condition("any", parts)

    def range(self, column: str) -> ColumnTest:
        if self.dots():
            return ColumnTest(column, "<=", (self.value(),))
        written, low = self.now, self.value()
        if written.kind == "word" and len(written.text) > 1 and written.text.endswith("*"):
            return ColumnTest(column, "begins", (written.text[:-1],))
        if written.kind == "string" and self.accept("*"):
            return ColumnTest(column, "begins", (low,))
        if not self.dots():
            return ColumnTest(column, "=", (low,))
        if self.now.kind in ("word", "string") and self.now.text.lower() not in KEYWORDS:
            return ColumnTest(column, "between", (low, self.value()))
        return ColumnTest(column, ">=", (low,))

    def dots(self) -> bool:
        """Return whether the token is the `..` of a range. If it is, move on to the next token."""
        return self.accept("..") or self.accept("...")

    def value(self) -> Value:
        kind, text, at = self.now
        if kind not in ("word", "string") or (kind == "word" and text.lower() in KEYWORDS):
            self.expected("a value")
        self.at += 1
        if kind == "string":
            return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
        if text.lower() == "null":
            raise Unreadable('Expected a value (write is null, or the text "null" in quotes)', at)
        number = number_of(text)
        if number is not None and math.isinf(number):
            raise Unreadable("Expected a number below 1e308", at)
        return text if number is None else number


def printed_condition(condition: Any) -> str:
    """Return the text of a condition on columns. `parse_condition` reads the text back."""
    if isinstance(condition, ColumnTest):
        column, relation = condition.column, condition.relation
        values = [_printed(value) for value in condition.values]
        if relation == "between":
            return f"{column} = {'..'.join(values)}"
        if relation in RANGES:
            after, before = relation.split()
            return f"{values[0]} {after.replace('>', '<')} {column} {before} {values[1]}"
        if relation == "exists":
            return f"{column} is not null"
        if relation == "begins":
            return f"{column} = {values[0]}*"
        return f"{column} in ({', '.join(values)})" if relation == "in" else f"{column} {relation} {values[0]}"
    if condition.kind == "not":
        return f"not ({printed_condition(condition.parts[0])})"
    parts = [
        f"({printed_condition(part)})" if isinstance(part, Condition) and part.kind != "not" and len(condition.parts) > 1
        else printed_condition(part)
        for part in condition.parts
    ]  # fmt: skip
    return f" {'and' if condition.kind == 'all' else 'or'} ".join(parts)


def _printed(value: Value) -> str:
    """Return a value as a condition writes it. A text that looks like a number or a word of the language gets quotes."""
    is_read_otherwise = isinstance(value, str) and (
        value.lower() in (*KEYWORDS, "null") or number_of(value) is not None
    )
    return f'"{value}"' if is_read_otherwise else printed_value(value)
