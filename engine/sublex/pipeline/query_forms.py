"""Find forms of query languages in plain text, and say how Sublex reads them.

A *form* is a piece of syntax, such as a phrase in quotation marks or `title:cell`. A query is plain words unless the
user asks for the query language. Hyphens, times, web addresses and formulas are ordinary text, and not forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sublex.analysis.stopwords import LUCENE
from sublex.analysis.tokens import words_by_term
from sublex.contracts.operators import read_head
from sublex.pipeline.missing_words import MissingWords
from sublex.query_language.other_names import USUAL_FIELDS, instead_of
from sublex.query_language.tree import IN_FIELD
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.contracts.base import Query
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline
    from sublex.trec.topics import Topic

# The option by which a user of the command line chooses the query language.
OPTION = "--language query"
# The most characters of a form, and the most words of a query, that a note shows.
LONGEST_FORM, LISTED_WORDS = 40, 10
# In a longer text, + and - before a word are ordinary marks, as in "Ca2+ -dependent" or in a list.
LONGEST_SIGNED = 12

# Regular expressions for a letter, for the end of a word, and for a place at which a form may begin.
LETTER, END, BEGIN = r"[^\W\d_]", r"(?=[\s),.;]|$)", r"(?<![^\s(])"
PHRASE = re.compile(r'(?<![^\s(:+-])"([^"\n]{3,200})"')
SIGN = re.compile(rf'{BEGIN}([+-])(["(]?)({LETTER}{{2,}})')
FIELD = re.compile(r"(?<![^\s(+-])([a-z][a-z_]+):(?=([\"(\[{])|[\w*])(?![^\s\"]*:)")
# The name of a field or a column that the index may have.
NAMED = re.compile(rf"(?<![^\s(+-]){IN_FIELD.pattern}")
WEIGHT = re.compile(rf"(?<!\S)({LETTER}{{3,}}|\S*[\")])\^\d+(\.\d+)?{END}")
# Stars and question marks that stand for letters: net*, wom?n, n*work. A star before a word, as in *work, may also be
# emphasis.
WILDCARD = re.compile(rf"(?<![^\s(:+-])(?:{LETTER}{{2,50}}\*|{LETTER}{{1,50}}[*?]{LETTER}{{1,50}}[*?]?){END}")
LEADING = re.compile(rf"{BEGIN}\*{LETTER}{{2,50}}{END}")
FUZZY = re.compile(rf"{BEGIN}{LETTER}{{2,50}}~\d?(?:\.\d+)?(?:\^\d+(?:\.\d+)?)?{END}")
NEAR = re.compile(r'(?<=[^\s"])"~\d+|(?<!\S)(?:NEAR|ONEAR|ADJ|PRE|W)/\d+(?!\S)')
RANGE = re.compile(r"[\[{](?:\*|[^\s\[\]{}]{1,50}) TO (?:\*|[^\s\[\]{}]{1,50})[\]}](?:\^\d+(?:\.\d+)?)?")
# Between slashes, a character that only regular expressions use tells a pattern from a path.
REGEX = re.compile(rf"(?<![^\s(:+-])/(?=[^\s/]{{0,100}}[\[\](){{}}*+?|^$\\])[^\s/]{{2,100}}/{END}")
SYMBOL = re.compile(r"(?<=\S )(?:&&|\|\|)(?= \S)")
BANG = re.compile(rf'{BEGIN}!(["(]?)({LETTER}{{2,50}})')
# Field tags of PubMed.
TAGGED = re.compile(r"(?<=[\w\"])\[(?:ti|tiab|tw|ab|au|mh|mesh|majr|pt|la|ta|so|dp|all)\]", re.IGNORECASE)
EMPHASIS = re.compile(r"(?<!\S)\*\S")
# Operators of Indri, Galago and Terrier, such as #od1( and #combine:0=0.5:1=0.5(. A note translates at most TRANSLATED
# of them.
INDRI = re.compile(r"(?<![^\s(])#(\w*(?::\d+)?)(?::\d+=[\d.]+)*\(")
TRANSLATED = 3

OPERATORS = frozenset(("AND", "OR", "NOT"))
# Next to one of these words, AND, OR and NOT are ordinary words in capitals, as in "must NOT".
COMMON = frozenset(LUCENE.split()) | frozenset(
    "am can could did do does had has have i may might must only shall should were which who would we you".split()
)
# In formulas, these names stand before ^.
FUNCTIONS = frozenset("cos cot deg exp log max min mol rad sec sin tan".split())


# Kinds of forms that even the query language does not read, and that its own notes do not name.
UNREAD = ("!", "&&", "||", "pattern")


def query_notes(index: Index, query: str, pipeline: Pipeline | None = None, option: str = OPTION) -> list[str]:
    """Return a list with a sentence on how Sublex reads forms of a query language in a query; [] for plain words.

    The list is also empty for a pipeline with a retriever whose parameter `language` is true: such a retriever reads the
    query language of another engine. `option` is the option by which the user chooses Sublex's query language.
    """
    forms = forms_of(query, _names_of(index))
    if not forms or (pipeline and not pipeline.reads_plain_words):
        return []
    words = words_of(index, query)
    listed = ", ".join(words[:LISTED_WORDS]) + (", …" if len(words) > LISTED_WORDS else "")
    sought = f" It looks for: {listed}." if words else ""
    read = _option_note([query], forms, option)
    return [f"Sublex reads a query as plain words: {', '.join(forms.values())}.{sought}{read}"]


def language_notes(text: str, query: Query) -> list[str]:
    """Return sentences on parts of a text in the query language that are plain text, or whose meaning may surprise.

    `query` is the query that was made of the text.
    """
    unread = [clause for kind, clause in forms_of(text).items() if kind in UNREAD]
    more = [f"The query language has no such form: {', '.join(unread)}."] if unread else []
    return [*query.tree.notes, *more]


def words_of(index: Index, query: str) -> list[str]:
    """Return the words of a query that the analyzer keeps, as the user wrote them.

    Of several words with the same term, only the first is returned.
    """
    return list(words_by_term(index.analyzer, query).values())


def topics_notes(topics: Sequence[Topic], index: Index, language: str = "plain", option: str = OPTION) -> list[str]:
    """Return sentences about topics.

    One is about all forms of a query language, and one about words that no document contains.

    The list is empty if the topics have neither.
    """
    queries = dict(zip((topic.qid for topic in topics), index.queries(topics, language), strict=True))
    return [
        *forms_notes(topics, index, language, option),
        *MissingWords(index.snapshot, queries).notes(len(topics)),
    ]


def forms_notes(topics: Sequence[Topic], index: Index, language: str = "plain", option: str = OPTION) -> list[str]:
    """Return a list with one sentence about all topics with forms of a query language; [] if there are none.

    In the query language, the sentence is about forms that it does not read.
    """
    if language == "weighted":
        return []
    if language != "plain":
        return notes_of_all(topics, index.queries(topics, "query"))
    examples: dict[str, str] = {}
    number, names = 0, _names_of(index)
    for topic in topics:
        forms = forms_of(topic.text, names)
        number += bool(forms)
        for kind, sentence in forms.items():
            examples.setdefault(kind, f"{sentence} (topic {topic.qid})")
    if not number:
        return []
    of_all = f"{number:,} of {counted(len(topics), 'topic')}"
    verb = "have" if number > 1 else "has"
    read = _option_note([topic.text for topic in topics], examples, option)
    return [f"{of_all} {verb} forms of a query language, read as plain words: {', '.join(examples.values())}.{read}"]


def _option_note(texts: Iterable[str], kinds: Iterable[str], option: str) -> str:
    """Return a sentence on how to choose the query language, and how it writes operators of other engines in `texts`.

    `kinds` are the kinds of forms that were found. Return "" if the query language reads none of them.
    """
    if all(kind in (*UNREAD, "range") for kind in kinds):
        return ""
    instead: dict[str, str] = {}
    for found in (match for text in texts for match in INDRI.finditer(text)):
        is_read = read_head(found[0]) is not None
        if len(instead) < TRANSLATED and not is_read and (reason := instead_of(found[1])):
            instead.setdefault(found[1].lower(), f"#{found[1]}(…): {reason.rpartition('; ')[2]}")
    more = f" For {'. For '.join(instead.values())}." if instead else ""
    return f" {option} reads the query language.{more}"


def notes_of_all(topics: Iterable[Sequence[Any]], queries: Iterable[Query]) -> list[str]:
    """Return a list with the notes of the first topic that has notes, and the number of topics with notes, or [].

    The topics have an id and a text. `queries` are the queries of the topics; plain queries have no notes.
    """
    noted = [(qid, notes) for (qid, text, *_), query in zip(topics, queries, strict=True)
             if query.tree is not None and (notes := language_notes(text, query))]  # fmt: skip
    if not noted:
        return []
    qid, notes = noted[0]
    beside = f" There are notes about {counted(len(noted) - 1, 'other topic')}." if len(noted) > 1 else ""
    return [f"Topic {qid}: {' '.join(notes)}{beside}"]


def forms_of(text: str, names: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return the kinds of forms of a query language in a text, each with a clause on how Sublex reads the first form.

    `names` maps the name of each field and column of the index to "field" or "column".
    """
    found: dict[str, str] = {}
    for kind, form, meaning in _forms(text, names):
        shown = form if len(form) <= LONGEST_FORM else f"{form[:LONGEST_FORM]}…"
        found.setdefault(kind, f"{shown} {meaning}")
    return found


def _names_of(index: Index) -> dict[str, str]:
    """Return a dictionary from the fields and columns that the query language knows to "field" or "column"."""
    snapshot = index.snapshot
    return dict.fromkeys(snapshot.columns, "column") | dict.fromkeys(snapshot.fields, "field")


def _forms(text: str, names: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each form in a text: its kind, the form as written, and how Sublex reads it."""
    for match in PHRASE.finditer(text):
        # A comma or a point before the second quotation mark means that the text is a quotation.
        if match[1] == match[1].strip(" \t,.") and len(match[1].split()) > 1:
            yield "phrase", match[0], "is not a phrase"
    for match in SIGN.finditer(text) if len(text.split()) <= LONGEST_SIGNED else ():
        if match[2] or match[3].lower() not in COMMON | {"ve"}:
            meaning = "requires nothing" if match[1] == "+" else "excludes nothing"
            yield match[1], match[0] if not match[2] else match[1], meaning
    for match in BANG.finditer(text) if len(text.split()) <= LONGEST_SIGNED else ():
        yield "!", match[0] if not match[1] else "!", "excludes nothing"
    named = [match for match in NAMED.finditer(text) if match[1] in names] if names else []
    for match in named:
        kind = names[match[1]]
        yield kind, match[0], f"does not ask for the {kind}"
    ends = {match.end() for match in named}
    for match in FIELD.finditer(text):
        if match.end() not in ends and (match[1] in USUAL_FIELDS or match[2]):
            yield "other field", match[0], "names no field"
    for match in TAGGED.finditer(text):
        yield "other field", match[0], "names no field"
    for match in RANGE.finditer(text):
        yield "range", match[0], "is not a range"
    for match in WEIGHT.finditer(text):
        if match[1] not in FUNCTIONS:
            yield "weight", match[0], "gives no weight"
    for word in _operators(text):
        yield word, word, "is not an operator"
    for match in SYMBOL.finditer(text):
        yield match[0], match[0], "is not an operator"
    for match in NEAR.finditer(text):
        yield "distance", match[0].removeprefix('"'), "allows no distance"
    for match in FUZZY.finditer(text):
        yield "fuzzy", match[0], "matches no other spellings"
    for match in REGEX.finditer(text):
        yield "pattern", match[0], "is not a pattern"
    emphasised = EMPHASIS.search(text)
    if not emphasised or "*" not in text[emphasised.end() :]:
        kinds = (WILDCARD, LEADING) if len(text.split()) <= LONGEST_SIGNED else (WILDCARD,) * (not emphasised)
        for match in (found for kind in kinds for found in kind.finditer(text)):
            yield "wildcard", match[0], "matches no other words"
    for match in INDRI.finditer(text):
        yield "operator", f"{match[0]})", "is not an operator"


def _operators(text: str) -> Iterable[str]:
    """Yield the operators AND, OR and NOT. Between words in capitals, as in a heading, they are not operators."""
    words = text.split()
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        beside = (before.strip('("'), after.strip(')"'))
        plain = all(near in OPERATORS or near.lower() not in COMMON for near in beside)
        heading = all(near.isupper() and near not in OPERATORS for near in beside)
        if word in OPERATORS and plain and not heading and before[-1] not in ".,;:!?":
            yield word
