"""Read the query language: text to a tree. Any text is a query.

A *form* is a piece of syntax, such as `stem*` or `year:2015`. A form without a meaning at its place is read as plain
text, and a note says so.

A scan cuts the text into tokens and pairs the parentheses, in time linear in the text. The parser then reads clauses,
OR, AND, NOT and single parts, in this order of precedence. It calls itself only for parentheses, whose depth is limited.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from sublex.contracts.columns import expect_values, typed
from sublex.contracts.comparisons import ColumnTest
from sublex.contracts.operators import NAME, OperatorKind, read_head, unescaped
from sublex.errors import InputError
from sublex.query_language.other_names import USUAL_FIELDS, instead_of
from sublex.query_language.tree import (
    IN_FIELD,
    JOINERS,
    QUOTES,
    And,
    AnyWord,
    Boost,
    Clauses,
    Compared,
    Field,
    Fuzzy,
    Node,
    Not,
    OperatorTerm,
    Or,
    Prefix,
    QueryTree,
    QuotedPhrase,
    Stem,
    WrittenWord,
    any_of,
    in_field,
)  # fmt: skip
from sublex.tools.messages import near_names, nearest

# The greatest depth of parentheses within parentheses, and the largest number of operators and phrases in a query.
DEEPEST_PARENTHESES, WRITTEN_OPERATORS = 64, 1_024
# The largest number of characters of a form that a note shows.
SHOWN = 40

_SPACE = re.compile(r"\s+")
_NUMBER = r"((?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:e[+-]?\d{1,3})?)"
_STEM = re.compile(r"'((?:[^\\'\s]|\\.)+)'(?=[\s(),^]|\Z)")
# The pattern of a phrase, by its first quotation mark. Any two curly marks are a pair, since their use differs between
# languages. Two guillemets are a pair if they point away from each other or towards each other.
_PHRASES = {
    first: re.compile(rf"{first}((?:[^\\{marks}]|\\.|\\(?=\n))*)[{last}]")
    for marks, firsts, last in (('"', '"', '"'), ("“”„‟", "“”„‟", "“”„‟"), ("«»", "«", "»"), ("«»", "»", "«"))
    for first in firsts
}
_SLOP = re.compile(r"~(\d{1,7})(?=[\s(),^]|\Z)")
_BOOST = re.compile(rf"\^{_NUMBER}(?=[\s(),]|\Z)")
_SIGN = re.compile(r"[+-](?=[^\s()+-]|\()")
_ESCAPE = r"\\u\{[0-9a-f]{1,6}\}|\\.|\\(?=\n|\Z)"
_WORD = re.compile(rf"(?:{_ESCAPE}|[^\s(){QUOTES}\\])+")
_WORD_WITHIN = re.compile(rf"(?:{_ESCAPE}|[^\s(){QUOTES},\\])+")
_ESCAPED = re.compile(r"\\u\{[0-9a-f]{1,6}\}|\\.")
# Patterns of forms at the end of a word, such as ^2, and of forms without a meaning. Before a match, "x" takes the place of
# each escaped character of a word.
_WEIGHTED = re.compile(rf"(.+)\^{_NUMBER}")
_PREFIX = re.compile(r"([^*?]+)\*")
_FUZZY = re.compile(r"([^~*?]+)~([12]?)")
_NAMED = re.compile(rf"({NAME}):(?!//|:)(.*)", re.DOTALL)
_UNREAD = (
    (re.compile(r".*\^.*"), "^ takes a number, as in stem^2.5"),
    (re.compile(r".+~.*"), "~ takes 1 or 2 after a word, as in stem~1"),
    (re.compile(r".*\w[*?].*|.*[*?]\w.*"), "only a * at the end of a word stands for letters"),
    (re.compile(r"#\w+(?::\d*)?"), "the operators are #1(…), #3(…), #uw8(…), #syn(…) and #field(title:…)"),
)
_STARS = re.compile(r"[*:]*\*[*:]*")
# The pattern of a form within a phrase that would have a meaning outside of the phrase, and the pattern of a phrase whose
# words may stand within an operator.
_FORM_WITHIN = re.compile(rf"(?<!\S)[^\s*?~^\\]*\w(?:\*|~[12]?|\^{_NUMBER})(?!\S)")
_WORDS = re.compile(r"[\w*~^.\s-]+")


# Patterns of values of a column, such as 2015..2020 after year: or "two words" after category:.
_QUOTED = (
    r'"(?:[^\\"]|\\.){0,1000}"|[“”„‟](?:[^\\“”„‟]|\\.){0,1000}[“”„‟]|«[^»]{0,1000}»|»[^«]{0,1000}«'
    r"|'(?:[^\\']|\\.){0,1000}'(?=[\s()^.\]}]|\Z)"
)
_VALUE = rf"{_QUOTED}|(?:(?!\.\.)[^\s(){QUOTES}\\^])+"
_END = rf"\*|{_QUOTED}|[^\s(){QUOTES}\\^\]}}]+"
_VALUES = (
    rf"(?:(?P<any>\*)|(?P<open>[\[{{])(?P<first>{_END}) TO (?P<last>{_END})(?P<close>[\]}}])"
    rf"|(?P<relation>[<>]=?|!=|==?)(?P<only>{_VALUE})"
    rf"|(?P<low>{_VALUE})(?:(?P<to>\.\.\.?)(?P<high>{_VALUE})?|(?P<star>\*))?|(?P<until>\.\.\.?)(?P<most>{_VALUE}))"
    r"(?=[\s()^]|\Z)"
)
_COMPARED = re.compile(rf"(?P<name>{NAME}):{_VALUES}", re.DOTALL)
_IN_GROUP = re.compile(_VALUES, re.DOTALL)
# The name of a column before a group of values, as in category:(cs.IR OR cs.CL).
_GROUP = re.compile(rf"({NAME}):(?=\()")
_RANGE = re.compile(r"[\[{](?:\*|[^\s\[\]{}]{1,50}) TO (?:\*|[^\s\[\]{}]{1,50})[\]}]")
# A value that is not a word begins with one of these characters.
_BEGINS = "<>=![{(\"“„«'"
NO_COLUMNS: Mapping[str, str] = {}
# Tokens that belong to the part directly after them.
_BEFORE_A_PART = ("sign", "field", "group")


class _Token(NamedTuple):
    """A piece of the text: its kind, the text as written, and its value.

    `joined` says that no white space stands before it. `weight` is the number after ^, None without a number. `pair` is the
    number of the token that closes an opened parenthesis.
    """

    kind: str
    written: str
    value: Any = None
    joined: bool = False
    weight: float | None = None
    pair: int = -1


def read_tree(text: str, fields: Collection[str] = (), columns: Mapping[str, str] = NO_COLUMNS) -> QueryTree:
    """Return the tree of a query.

    `fields` are the fields that `title:cell` can name, and `columns` has the types of the columns that `year:2015` can name.
    If a field and a column have the same name, `name:word` means the field, and only a range such as `name:a..b` or
    `name:>a` means the column.

    Raise InputError if parentheses are nested too deep, or if there are too many operators.
    """
    notes: dict[str, None] = {}
    tokens = _paired(list(_scan(text, notes, fields, columns)), notes)
    operators = sum(token.kind in ("phrase", "head") for token in tokens)
    if operators > WRITTEN_OPERATORS:
        raise InputError(f"The query has {operators:,} phrases and operators; the most are {WRITTEN_OPERATORS:,}.")
    return QueryTree(_QueryParser(tokens, notes, fields, columns).clauses(len(tokens)), tuple(notes))


def _scan(
    text: str, notes: dict[str, None], fields: Collection[str], columns: Mapping[str, str]
) -> Iterator[_Token]:  # fmt: skip
    """Yield the tokens of a text."""
    # `opened` has an item for each open parenthesis: "#" for one of an operator, a name and a colon for one around values of a
    # column, and "(" for any other. `after` is the end of the last sign or name, which belongs to the part directly after it.
    at, begins, opened, after, group = 0, True, list[str](), -1, ""
    while at < len(text):
        joined = True
        if space := _SPACE.match(text, at):
            at, begins, joined = space.end(), True, False
            continue
        joined, begins, may_begin = not begins, False, begins or text[at - 1] in "()" or at == after
        letter, within, named = text[at], "#" in opened[-1:], may_begin and text[at - 1 : at] != ":"
        column = opened[-1][:-1] if opened and opened[-1][-1] == ":" else ""
        if letter == "(":
            # A group within a group of values has the same column, unless the name of a field stands before the inner group.
            opened.append(f"{group or column}:" if group or (column and text[at - 1] != ":") else "(")
            begins, at, group = True, at + 1, ""
            yield _Token("(", "(", joined=joined)
        elif letter == ")":
            boost = _BOOST.match(text, at + 1)
            at = boost.end() if boost else at + 1
            if opened:
                opened.pop()
            yield _Token(")", ")", weight=_weight(boost))
        elif within and letter == ",":
            begins, at = True, at + 1
        elif head := read_head(text, at):
            opened.append("#")
            yield _Token("head", text[at : head.end], head, joined)
            begins, at = True, head.end
        elif not joined and not within and (sign := _SIGN.match(text, at)):
            at = after = sign.end()
            yield _Token("sign", sign[0])
        elif (
            columns and named and not within and (found := _GROUP.match(text, at))
            and found[1] in columns and found[1] not in fields
        ):  # fmt: skip
            at, after, group = found.end(), found.end(), found[1]
            yield _Token("group", found[0], joined=joined)
        elif columns and named and not within and (valued := _values(text, at, column, fields, columns, notes)):
            at += len(valued.written)
            boost = _BOOST.match(text, at)
            at = boost.end() if boost else at
            # If the column cannot have the value, the name, the colon and the value together are a word.
            written = str(WrittenWord(valued.value, True)) if valued.kind == "word" else valued.written
            yield valued._replace(written=written, joined=joined, weight=_weight(boost))
        elif phrase := _PHRASES[letter].match(text, at) if letter in QUOTES else None:
            slop = _SLOP.match(text, phrase.end())
            boost = _BOOST.match(text, slop.end() if slop else phrase.end())
            at = (boost or slop or phrase).end()
            value = unescaped_phrase(phrase[1]), int(slop[1]) if slop else 0
            _note_phrase(notes, phrase[1], *value)
            yield _Token("phrase", phrase[0], value, joined, _weight(boost))
        elif letter in QUOTES:
            _note(notes, text[at:], "its quotation mark has no partner")
            begins, at = True, at + 1
        elif may_begin and (stem := _STEM.match(text, at)):
            boost = _BOOST.match(text, stem.end())
            at = (boost or stem).end()
            yield _Token("stem", stem[0], unescaped(stem[1]), joined, _weight(boost))
        elif named and (field := IN_FIELD.match(text, at)) and field[1] in fields:
            at = after = field.end()
            # title:-stem means the same as -title:stem.
            sign = None if joined or within else _SIGN.match(text, at)
            if sign:
                at = after = sign.end()
                yield _Token("sign", sign[0])
            yield _Token("field", field[0], field[1], joined or sign is not None)
        else:
            if may_begin and (span := _RANGE.match(text, at)):
                _note(notes, span[0], "a range is one of a column, as in year:2015..2020")
            word = (_WORD_WITHIN if within else _WORD).match(text, at)
            written = word[0] if word else letter
            at += len(written)
            yield _Token("word", written, joined=joined)


def _values(
    text: str, at: int, column: str, fields: Collection[str], columns: Mapping[str, str], notes: dict[str, None]
) -> _Token | None:
    """Return the token of the values of a column that begins at a place. Its text is exactly that of the query.

    Within a group, `column` is the column of values without a name. Return None if the text is no value; a note may say why.
    """
    compared = _COMPARED.match(text, at)
    if compared and (found := _comparison(compared["name"], compared, fields, columns, notes)):
        return _Token("column", compared[0], found)
    begin = IN_FIELD.match(text, at)
    value = _IN_GROUP.match(text, at) if column else None
    if value is None or value[0] in JOINERS or (begin and (begin[1] in fields or begin[1] in columns)):
        return None
    if found := _comparison(column, value, fields, columns, notes):
        return _Token("column", value[0], found)
    return _Token("word", value[0], f"{column}:{value[0]}")


def _comparison(
    name: str, written: re.Match[str], fields: Collection[str], columns: Mapping[str, str], notes: dict[str, None]
) -> Compared | None:
    """Return the comparison for a form such as `2015..2020` that stands after the name of a column.

    Return None if the form is plain text; a note may say why it is plain.
    """
    kind, is_field = columns.get(name), name in fields
    is_word = written["low"] is not None and not written["to"]
    if kind is None or (is_field and is_word):
        return None
    ends = [written[end] for end in ("first", "last", "only", "low", "high", "most") if written[end]]
    relation = "between" if written["high"] else ">=" if written["to"] else "<=" if written["until"] else "="
    if written["any"]:
        relation = "exists"
    elif written["open"]:
        relation, ends = _of_brackets(written["open"] + written["close"], ends)
    elif written["relation"]:
        relation = written["relation"].replace("==", "=")
    elif written["star"]:
        relation = "begins"
    if relation == "=" and kind == "text" and len(ends[0]) > 1 and ends[0].endswith("*"):
        relation, ends = "begins", [ends[0][:-1]]
    values = (unescaped_phrase(end[1:-1]) if len(end) > 1 and end[0] in f"{QUOTES}'" else end for end in ends)
    found = ColumnTest(name, relation, tuple(typed(text, kind) for text in values))
    try:
        expect_values(found, kind)
    except InputError as error:
        _note(notes, written[0], str(error).removesuffix("."))
        return None
    return Compared(found, is_field)


def _of_brackets(brackets: str, ends: list[str]) -> tuple[str, list[str]]:
    """Return the relation and the values of a range in Lucene's form, such as [2015 TO 2020}. A * means an open end."""
    low, high = (">=" if brackets[0] == "[" else ">"), ("<=" if brackets[1] == "]" else "<")
    kept = [end for end in ends if end != "*"]
    if len(kept) == 2:
        relation = f"{low} {high}"
        return ("between" if relation == ">= <=" else relation), kept
    return ("exists" if not kept else high if ends[0] == "*" else low), kept


def _note_phrase(notes: dict[str, None], written: str, text: str, slop: int) -> None:
    """Add a note if there is a prefix, a fuzzy word or a weight between quotation marks, where it is plain text.

    `written` is the text between the marks, and `slop` the number behind them.
    """
    form = _FORM_WITHIN.search(written)
    if not form:
        return
    words = written.split()
    head = f"#uw{len(words) + slop}" if slop else "#1"
    short = _WORDS.fullmatch(written) and len(written) <= SHOWN and "^" not in written
    instead = words[0] if short and len(words) == 1 else f"{head}({' '.join(words) if short else 'stem cel*'})"
    if "^" in form[0]:
        reason = 'a weight stands after a phrase, as in "stem cells"^2, and not within it'
    else:
        reason = f"no prefix and no fuzzy word stands between quotation marks; write {instead}"
    _note(notes, form[0], reason)


def unescaped_phrase(text: str) -> str:
    """Return the text between quotation marks; a backslash makes the next character stand for itself."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def no_name(name: str, fields: Collection[str], columns: Collection[str]) -> str:
    """Return the reason why a name has no meaning: it is neither a field nor a column. The text lists the known names."""
    lists = [
        f"the {what} are {near_names(name, names)}" if names else f"the index has no {what}"
        for what, names in (("fields", fields), ("columns", sorted(columns)))
    ]
    if not fields and not columns:
        return "it names no field and no column; an index has them if it is built with them"
    hint, listed = nearest(name, (*fields, *columns)), ", and ".join(lists)
    return f"it names no field and no column; {hint}{listed[0].upper() if hint else listed[0]}{listed[1:]}"


def _weight(match: re.Match[str] | None) -> float | None:
    return float(match[1]) if match else None


def _paired(tokens: list[_Token], notes: dict[str, None]) -> list[_Token]:
    """Return the tokens with `pair` set for each opened parenthesis. Parentheses without a partner are left out."""
    stack, partners, without = list[int](), dict[int, int](), set[int]()
    for place, token in enumerate(tokens):
        if token.kind in ("(", "head"):
            stack.append(place)
        elif token.kind == ")" and stack:
            partners[stack.pop()] = place
        elif token.kind == ")":
            without.add(place)
    without.update(stack)
    for place in sorted(without)[:1]:
        _note(notes, tokens[place].written, "it has no partner")
    kept, moved, depth, deepest = list[_Token](), dict[int, int](), 0, 0
    for place, token in enumerate(tokens):
        is_lone = token.kind in _BEFORE_A_PART and _is_lone(place, tokens, without)
        if (place in without and token.kind != "head") or (token.kind in ("sign", "group") and is_lone):
            continue
        moved[place] = len(kept)
        token = token._replace(kind="word") if is_lone else token
        kept.append(token._replace(kind="word", written=f"\\{token.written[:-1]}") if place in without else token)
        depth += (place in partners) - (token.kind == ")")
        deepest = max(deepest, depth)
    if deepest > DEEPEST_PARENTHESES:
        raise InputError(f"The parentheses of the query are {deepest:,} deep; the most are {DEEPEST_PARENTHESES}.")
    for opening, closing in partners.items():
        place = moved[opening]
        kept[place] = kept[place]._replace(pair=moved[closing])
    return kept


def _is_lone(place: int, tokens: list[_Token], without: set[int]) -> bool:
    """Return whether no part stands directly after the sign or the name at a place.

    `without` has the places of the parentheses without a partner.
    """
    return place + 1 == len(tokens) or not tokens[place + 1].joined or tokens[place + 1].kind == ")" or (
        place + 1 in without and tokens[place + 1].kind != "head"
    )  # fmt: skip


def _note(notes: dict[str, None], form: str, reason: str) -> None:
    """Add a note that a form is plain text for some reason. Only the first form with the same reason gets a note."""
    shown = form if len(form) <= SHOWN else f"{form[:SHOWN]}…"
    if not any(f" is plain text: {reason.partition(';')[0]}" in note for note in notes):
        notes[f"{shown} is plain text: {reason}."] = None


class _QueryParser:
    """Reads the tokens of one query. `at` is the place of the next token."""

    def __init__(
        self, tokens: list[_Token], notes: dict[str, None], fields: Collection[str], columns: Mapping[str, str]
    ):
        self.tokens, self.notes, self.fields, self.columns, self.at = tokens, notes, fields, columns, 0
        # Whether a note already lists the fields and the columns.
        self._knows_names = False
        # For each token, and for the end, whether a part begins there. A part begins with any token but ), AND and OR.
        self._begins = [False] * (len(tokens) + 1)
        for place in range(len(tokens) - 1, -1, -1):
            follows = self._begins[place + 1] and self._is_joiner(place, "NOT")
            self._begins[place] = follows or not (tokens[place].kind == ")" or self._is_joiner(place))

    def clauses(self, end: int) -> Node:
        """Read clauses up to the token `end`."""
        found: list[tuple[str, Node]] = []
        while self.at < end:
            for sign, node in self._disjunction():
                # NOT before a clause means the same as -.
                found.append(("-", node.part) if not sign and isinstance(node, Not) else (sign, node))
        return found[0][1] if len(found) == 1 and not found[0][0] else Clauses(tuple(found))

    def _disjunction(self) -> list[tuple[str, Node]]:
        """Read parts with OR between them, and return them as clauses.

        Parts without a sign become one clause. A part with + or - is a clause of its own: a sign is about all clauses in the same
        parentheses, and not about one side of OR.
        """
        parts = [self._conjunction()]
        while self._joins("OR"):
            self.at += 1
            parts.append(self._conjunction())
        known = [part for part in parts if part]
        if len(known) < 2:
            return known
        unsigned = [node for sign, node in known if not sign]
        either = [("", unsigned[0] if len(unsigned) == 1 else Or(tuple(unsigned)))] if unsigned else []
        return [*either, *(part for part in known if part[0])]

    def _conjunction(self) -> tuple[str, Node] | None:
        """Read parts with AND between them. If + stands before one of these parts, all of them are required."""
        parts = [self._part()]
        while self._joins("AND"):
            self.at += 1
            parts.append(self._part())
        known = [part for part in parts if part]
        if len(known) < 2:
            return known[0] if known else None
        nodes = [Not(node) if sign == "-" else node for sign, node in known]
        if all(isinstance(node, Not) for node in nodes):
            return "-", Or(tuple(node.part for node in nodes if isinstance(node, Not)))
        return "+" if any(sign == "+" for sign, _ in known) else "", And(tuple(nodes))

    def _joins(self, joiner: str) -> bool:
        """Return whether the next token is this joiner, and a part follows the joiner."""
        return self._is_joiner(self.at, joiner) and self._begins[self.at + 1]

    def _is_joiner(self, place: int, *joiners: str) -> bool:
        if place >= len(self.tokens):
            return False
        token = self.tokens[place]
        is_bound = place > 0 and self.tokens[place - 1].kind in _BEFORE_A_PART
        return token.kind == "word" and token.written in (joiners or JOINERS) and not is_bound

    def _part(self) -> tuple[str, Node] | None:
        """Read one part, with its sign, or with NOT before it. Return None for parentheses without words."""
        negations = 0
        while self._joins("NOT"):
            negations, self.at = negations + 1, self.at + 1
        token = self.tokens[self.at]
        sign = token.written if token.kind == "sign" else ""
        self.at += bool(sign)
        node = self._atom()
        if node is None:
            return None
        negated = (negations + (sign == "-")) % 2 if negations else 0
        if negations:
            return "", Not(node) if negated else node
        return sign, node

    def _atom(self) -> Node | None:
        """Read a word, a term, a phrase, an operator or parentheses, with or without a field."""
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == "field":
            part = self._atom()
            return part and in_field(token.value, part)
        if token.kind == "group":
            part = self._atom()
            return part and any_of(part)
        weight = token.weight
        node: Node | None
        if token.kind == "(":
            inner = self.clauses(token.pair)
            weight = self.tokens[token.pair].weight
            self.at = token.pair + 1
            node = None if inner == Clauses(()) else inner
        elif token.kind == "head":
            node = self._operation(token)
            weight = self.tokens[token.pair].weight
        elif token.kind == "phrase":
            node = QuotedPhrase(*token.value)
        elif token.kind == "stem":
            node = Stem(str(token.value))
        elif token.kind == "column":
            node = token.value
        else:
            if token.kind == "word" and token.written in JOINERS and not self._is_bound():
                _note(self.notes, token.written, "AND and OR stand between two parts, and NOT before one")
            self._note_loose(token)
            return self._word(token)
        return node if node is None or weight is None else Boost(node, weight)

    def _is_bound(self) -> bool:
        return self.at > 1 and self.tokens[self.at - 2].kind in _BEFORE_A_PART

    def _note_loose(self, token: _Token) -> None:
        """Add a note about a lone ~ or ^ that has no meaning after the phrase or group before it, or about stars without letters."""
        before = self.tokens[self.at - 2] if self.at > 1 else token
        if before.kind == "phrase" and token.written[0] == "~":
            _note(self.notes, token.written, '~ takes a whole number directly after a phrase, as in "stem cells"~3')
        elif before.kind == ")" and token.joined and token.written[0] == "~":
            _note(self.notes, token.written, "~ stands after words and phrases")
        elif before.kind in ("phrase", ")") and token.joined and token.written[0] == "^":
            _note(self.notes, token.written, "^ takes a number, as in stem^2.5")
        elif _STARS.fullmatch(token.written):
            _note(
                self.notes, token.written, "a * stands for letters at the end of a word, and for one word within #3(…)"
            )

    def _word(self, token: _Token) -> Node:
        """Return the part for a token without parentheses and quotation marks: a word, a prefix or a fuzzy word."""
        text, mask = unescaped(token.written), _ESCAPED.sub("x", token.written)
        if name := _NAMED.fullmatch(mask):
            self._note_name(*name.groups())
        if weighted := _WEIGHTED.fullmatch(mask):
            inner = self._plain(text[: weighted.end(1)], weighted[1])
            return Boost(inner, float(weighted[2]))
        return self._plain(text, mask)

    def _plain(self, text: str, mask: str) -> Node:
        """Return a word, a prefix or a fuzzy word; `mask` has an x for each character that was escaped."""
        begin = IN_FIELD.match(text)
        name, colon, _ = text.partition(":")
        named = bool(begin and begin[1] in self.fields) or bool(colon and name in self.columns)
        if _PREFIX.fullmatch(mask) and _has_letters(text[:-1]):
            return Prefix(text[:-1], named)
        if (fuzzy := _FUZZY.fullmatch(mask)) and _has_letters(text[: fuzzy.end(1)]):
            return Fuzzy(text[: fuzzy.end(1)], int(fuzzy[2] or 2), named)
        for form, reason in _UNREAD:
            if form.fullmatch(mask) and _has_letters(text):
                instead = instead_of(text[1:]) if text[0] == "#" else None
                _note(self.notes, text, instead or reason)
        return WrittenWord(text, named)

    def _note_name(self, name: str, value: str) -> None:
        """Add a note about a wrong name of a field or column before a colon.

        Words that were hardly meant as a name get no note, as in male:female or Objective:.
        """
        after = self.tokens[self.at] if self.at < len(self.tokens) else None
        if not value and after and after.joined and after.kind in ("phrase", "stem", "(", "head"):
            value = after.written
        if name in self.fields and value:
            _note(self.notes, f"{name}:", "a part has one field")
        elif name in self.fields:
            alone = 'what is within a field stands directly after the colon, as in title:cell and title:"stem cells"'
            _note(self.notes, f"{name}:", alone)
        elif name in self.columns and not value:
            _note(
                self.notes, f"{name}:", "a value stands directly after the colon, as in year:2015 and year:2015..2020"
            )
        elif name not in self.columns and not self._knows_names and self._seems_name(name, value):
            self._knows_names = True
            _note(self.notes, f"{name}:", no_name(name, self.fields, self.columns))

    def _seems_name(self, name: str, value: str) -> bool:
        """Return whether the unknown word before a colon probably means a field or a column.

        It does not in `localhost:80` or `C:drive`.
        """
        known = (*self.fields, *self.columns)
        if any(name.lower() == each.lower() for each in known):
            return True
        if not value or ":" in value:
            return False
        is_near = name.lower() in USUAL_FIELDS or bool(nearest(name, known or USUAL_FIELDS))
        # A word before a sign of comparison or a bracket is always meant as a name. A number after the colon may be a port, a
        # verse or a ratio.
        return is_near or value[0] in _BEGINS or (name[0].islower() and name.isidentifier() and not value[0].isdigit())

    def _operation(self, head: _Token) -> Node | None:
        """Read the parts of the operator that begins with `head`, and return the operator; None if it has no words."""
        kind, width, field, _ = head.value
        parts: list[Node] = []
        while self.at < head.pair:
            token = self.tokens[self.at]
            if token.kind == "field" and self.tokens[self.at + 1].kind == "(":
                parts.append(WrittenWord(token.written))
                self.at += 1
            elif token.kind in ("(", ")"):
                _note(self.notes, token.written, f"within {head.written}…), only operators have parentheses")
                self.at += 1
            elif token.kind == "word" and token.written == "*" and kind is OperatorKind.ORDERED:
                parts.append(AnyWord())
                self.at += 1
            else:
                parts += self._within(head)
        self.at = head.pair + 1
        if not any(not isinstance(part, AnyWord) for part in parts):
            _note(self.notes, f"{head.written})", "it has no words")
            return None
        if kind is not OperatorKind.FIELD:
            return OperatorTerm(kind, width, tuple(parts))
        if len(parts) > 1:
            raise InputError(
                f"{head.written}…) takes one part; write {field}:(…), or an operator such as #1(…) within it."
            )
        if isinstance(parts[0], Field) and parts[0].name != field:
            raise InputError(f"#field({field}:…) cannot hold #field({parts[0].name}:…): no word is in both fields.")
        return in_field(field, parts[0])

    def _within(self, head: _Token) -> list[Node]:
        """Read one part of an operator. A weight of the part is ignored."""
        token = self.tokens[self.at]
        if token.kind == "word" and token.written in JOINERS:
            self.at += 1
            return [WrittenWord(token.written)]
        node = self._atom()
        if isinstance(node, Boost):
            _note(self.notes, f"^{node.weight:g}", f"a weight stands after {head.written}…), not within it")
            node = node.part
        return [node] if node else []


def _has_letters(text: str) -> bool:
    return any(map(str.isalnum, text))
