"""Show the hits of an answer: rank, score, docno and title, with the passage that matches best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.analysis.tokens import CutTexts, cut_texts, located_terms
from sublex.contracts.base import Document, Mark, Query
from sublex.contracts.columns import comparisons_in, values_line
from sublex.contracts.comparisons import Value
from sublex.contracts.operators import words_in
from sublex.errors import InputError
from sublex.forms.lines import Line, Shown, Span, line, marked
from sublex.pipeline.absence import kept_none
from sublex.pipeline.query_forms import words_of
from sublex.tools.messages import counted, cut

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Answer, Pipeline
    from sublex.retrieval.hits import Hit

HEAD = ("rank", "score", "docno", "title", "passage")
# The number of blanks before a passage, and the characters for the end of a bar, from empty to eight eighths.
INDENT, EIGHTHS = 5, " ▏▎▍▌▋▊▉█"
BAR = 8
# The number of styles for labels. The numbers of labels with the same style differ by a multiple of it.
LABEL_STYLES = 8


# A piece of a text, and the term of the query that it is; "" for none.
Piece = tuple[str, str]


class ShownHit(NamedTuple):
    """A hit with its title, its best passage, and the places of the query's words in the passage, in characters.

    `in_title` has the places in the title of words that the query restricts to titles.
    """

    hit: Hit
    score: float
    title: str = ""
    passage: str = ""
    places: tuple[tuple[int, int], ...] = ()
    in_title: tuple[tuple[int, int], ...] = ()


class Extras(NamedTuple):
    """Optional parts of the lines, such as bars for scores, grades of documents, and labels of a fitted model.

    `grades` has the grade of each judged document; it is None without judgements. `labels` is the expression of a
    fitted model; words with its labels are marked in the passages. The values of `columns` follow the title.

    The hits begin at the rank `start`. With `docnos`, only docnos are shown, so titles and passages are not read. With
    `parts`, the records also have titles and passages as pieces.
    """

    bars: bool = False
    grades: Mapping[str, int] | None = None
    labels: str = ""
    columns: tuple[str, ...] = ()
    start: int = 1
    docnos: bool = False
    parts: bool = False


NO_EXTRAS = Extras()


def hits(index: Index, answer: Answer, extras: Extras = NO_EXTRAS) -> Shown:
    """Return the hits of an answer as Shown."""
    chosen = answer.hits[extras.start - 1 :]
    found = list(map(_without_text, chosen)) if extras.docnos else excerpts(index, answer, chosen)
    columns = {name: index.snapshot.column(name) for name in extras.columns}
    values = [{name: column.values_of(each.hit.doc) for name, column in columns.items()} for each in found]
    first = HEAD[: HEAD.index("title")] if extras.docnos else HEAD
    head = (*first, *(f"column {name}" if name in HEAD else name for name in columns))
    rows = [(each.hit.rank, each.score, each.hit.docno, each.title, each.passage)[: len(first)] for each in found]

    def data() -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = [
            dict(zip(head, (*row, *own.values()), strict=True)) for row, own in zip(rows, values, strict=True)
        ]
        if extras.parts and not extras.docnos:
            for record, own in zip(records, _parts(index, found, answer.query.weights()), strict=True):
                record["title_parts"], record["passage_parts"] = own
        return records

    return Shown(
        lambda: _lines(index, answer, found, extras, values),
        data,
        head,
        [(*row, *(", ".join(map(str, each)) for each in own.values())) for row, own in zip(rows, values, strict=True)]
        if columns
        else rows,
    )


def _without_text(hit: Hit) -> ShownHit:
    # This is the shortest decimal form of the float32 score, as in a run.
    return ShownHit(hit, float(str(np.float32(hit.score))))


def pieces(index: Index, text: str, words: Mapping[str, str | None]) -> list[Piece]:
    """Cut a text into pieces.

    A word with a term in `words` is a piece; it has the term's value there, or else the term itself.
    """
    return _pieces(text, cut_texts(index.analyzer, [text]), 0, words)


def _pieces(text: str, cut: CutTexts, number: int, words: Mapping[str, str | None]) -> list[Piece]:
    """Cut the text with the number `number` of some texts into pieces."""
    found: list[Piece] = []
    position = 0
    for begin, raw, terms in cut.located_terms(number):
        if term := next((each for each in terms if each in words), ""):
            found += [(text[position:begin], ""), (raw, words[term] or term)]
            position = begin + len(raw)
    return [piece for piece in (*found, (text[position:], "")) if piece[0]]


def _parts(
    index: Index, found: Sequence[ShownHit], terms: Mapping[str, float]
) -> Iterator[tuple[list[Piece], list[Piece]]]:
    """Yield the pieces of the title and of the passage of each hit. All of their words are analysed at once."""
    spans = list(dict.fromkeys(each.passage[begin:end] for each in found for begin, end in each.places))
    cut = cut_texts(index.analyzer, [*(each.title for each in found), *spans])
    term_of = {}
    for number, span in enumerate(spans, len(found)):
        within = [term for _, _, own in cut.located_terms(number) for term in own]
        term_of[span] = next((term for term in within if term in terms), within[0] if within else "")
    words = dict.fromkeys(map(str, terms))
    for number, each in enumerate(found):
        passage: list[Piece] = []
        position = 0
        for begin, end in each.places:
            span = each.passage[begin:end]
            passage += [(each.passage[position:begin], ""), (span, term_of[span])]
            position = end
        passage.append((each.passage[position:], ""))
        yield _pieces(each.title, cut, number, words), [piece for piece in passage if piece[0]]


def excerpts(index: Index, answer: Answer, hits: Sequence[Hit]) -> list[ShownHit]:
    """Return hits with their titles and best passages. Both are empty if the text cannot be read."""
    from sublex.retrieval.passages import passages_of, title_spans

    found = list(map(_without_text, hits))
    places, terms = list[int](), answer.query.weights()

    def documents() -> Iterator[Document]:
        for place, hit in enumerate(hits):
            if document := index.snapshot.shown(hit.doc):
                places.append(place)
                yield document

    own = answer.hits.asked.weights() if answer.hits.asked else {}
    for k, (document, best) in enumerate(passages_of(documents(), index.analyzer, terms, own)):
        in_title = title_spans(document.title, index.analyzer, terms)
        found[places[k]] = found[places[k]]._replace(
            title=document.title, passage=best.text, places=best.spans, in_title=in_title
        )
    return found


def _lines(
    index: Index,
    answer: Answer,
    found: Sequence[ShownHit],
    extras: Extras,
    values: Sequence[Mapping[str, Sequence[Value]]],
) -> Iterator[Line]:
    """Yield a line for each hit, and a line for its passage. `values` has the hit's values in the shown columns."""
    most = max((each.score for each in found), default=0.0)
    for each, own in zip(found, values, strict=True):
        docno, title = each.hit.docno, marked(each.title, each.in_title) if each.in_title else [each.title]
        bar = f"{_bar(each.score, most)} " if extras.bars else ""
        grade = "" if extras.grades is None else f"{extras.grades.get(docno, '?')!s:>2} "
        rank = f"{each.hit.rank:>3}  {each.hit.score:<9.6g} "
        columns = Span("".join(f" · {values_line(name, one)}" for name, one in own.items()), "dim")
        begin = rank, Span(bar, "bar"), Span(grade, "grade"), Span(docno, "docno"), "  "
        yield line(*begin, *title, columns, indent=INDENT)
        marks = index.marks(answer.query, docno, extras.labels) if extras.labels and each.passage else []
        if each.passage:
            spans = label_spans(index, each, marks) if marks else marked(each.passage, each.places)
            yield line(" " * INDENT, *spans, indent=INDENT)
        if marks:
            yield line(" " * INDENT, *_legend(marks), indent=INDENT)


def _bar(score: float, most: float) -> str:
    """Return a bar with a length in proportion to the score. The highest score has the longest bar."""
    size = round(8 * BAR * max(0.0, score) / most) if most > 0 else 0
    return ("█" * (size // 8) + EIGHTHS[size % 8].strip()).ljust(BAR)


def label_spans(index: Index, found: ShownHit, marks: Sequence[Mark]) -> list[Span]:
    """Return the passage of a hit as spans.

    Words with labels have the styles of the labels; the query's words are matches.
    """
    tokens = [(at, at + len(raw), terms) for at, raw, terms in located_terms(index.analyzer, found.passage)]
    words = [terms[0] if terms else "" for _, _, terms in tokens]
    styles: dict[int, str] = {}
    for mark in sorted(marks, key=lambda mark: mark.weight):
        size = len(mark.terms)
        for place in range(len(words) - size + 1):
            if tuple(words[place : place + size]) == mark.terms:
                styles.update(dict.fromkeys(range(place, place + size), label_style(mark.number)))
    spans, position = [], 0
    for place, (begin, end, _) in enumerate(tokens):
        style = "match" if any(first < end and begin < last for first, last in found.places) else styles.get(place, "")
        spans += [Span(found.passage[position:begin]), Span(found.passage[begin:end], style)]
        position = end
    return [*spans, Span(found.passage[position:])]


def label_style(number: int) -> str:
    """Return the style of a label by its number."""
    return f"label-{number % LABEL_STYLES}"


def _legend(marks: Sequence[Mark]) -> Iterator[Span]:
    """Yield the distinct labels of marks in their styles. The labels with most weight are first."""
    weights: dict[tuple[int, str], float] = {}
    for mark in marks:
        key = (mark.number, mark.label)
        weights[key] = weights.get(key, 0.0) + mark.weight
    for place, (number, label) in enumerate(sorted(weights, key=lambda key: -weights[key])[:3]):
        yield Span(" · " if place else "", "dim")
        yield Span(label, label_style(number))


def trec_lines(answer: Answer, pipeline: Pipeline, qid: str, start: int = 1) -> Iterator[np.ndarray]:
    """Yield a line of bytes for each hit, as in a TREC run. Raise InputError if the first hit does not have rank 1."""
    from sublex.pipeline.pipeline import expect_scores
    from sublex.trec.run_names import tag_of
    from sublex.trec.run_writer import run_lines

    if start != 1:
        raise InputError("A run begins at the first rank; leave --from out.")
    expect_scores(pipeline.expression)
    yield from run_lines([(qid, answer.hits.docnos, answer.hits.scores)], tag_of(str(pipeline)))


def nothing_found(index: Index, query: Query, pipeline: Pipeline) -> str:
    """Return the sentence that says why there are no hits."""
    if not pipeline.scores_words:
        return f"Nothing in {index.path} passes {pipeline}."
    # Only a user's text has words. A query of weighted terms has terms.
    is_text = query.tree is None and index.query(query.text) == query
    missing = index.snapshot.missing(query)

    def word_of(term: str) -> str:
        return missing.get(term) or index.corpus.surface(term)

    terms = words_of(index, query.text) if is_text else [words_in(term, word_of) for term in query.weights()]
    if query.terms and not any(query.weights().values()):
        return f"Nothing in {index.path} is found: the weights of all terms are 0."
    words = cut(" or ".join(terms)) if query.condition is None else f"the query {cut(str(query.tree or query.text))}"
    if not terms and not any(comparisons_in(query.condition)):
        reason = "no term is left of the query" if query.tree else "the analyzer leaves no word of the query"
        return f"Nothing in {index.path} is found: {reason}."
    if dropped := kept_none(index, query, pipeline):
        last, before, number = dropped
        return (
            f"Nothing is left: {last} keeps none of the {counted(number, 'document')} that {before} finds for {words}."
        )
    # If no document has any of the words, this is the reason, whatever the model.
    unknown = query.condition is None and 0 < len(query.weights()) <= len(missing)
    if pipeline.models and not unknown:
        return f"Nothing in {index.path} is found by {pipeline} for {words}."
    return f"Nothing in {index.path} {'contains' if query.condition is None else 'meets'} {words}."
