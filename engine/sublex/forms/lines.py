"""Lines of styled text, and `Shown`: a result as lines for people, as JSON for programs, and as a table for spreadsheets.

A style is a name, such as "docno" or "match". Each face (the command line, the shell, notebooks) maps styles to its own
colours. Texts here contain no control characters of terminals.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

from sublex.forms.tables import Table
from sublex.forms.values import as_text
from sublex.tools.messages import Step, one_line

# The least number of characters for the text beside an indent. If the terminal is too narrow, the indent gets smaller.
LEAST_TEXT = 20
# The least number of characters of a shortened cell of a table.
LEAST_CELL = 8


class Span(NamedTuple):
    """A piece of a line and the name of its style; the empty name is plain text."""

    text: str
    style: str = ""


class TableColumn(NamedTuple):
    """A column of a table: its first character, its width in characters, and whether its cells may be shortened."""

    begin: int
    width: int
    shortens: bool


class Line(NamedTuple):
    """A line of spans.

    If a terminal is too narrow, the line continues on further lines, each of which begins with `indent` blanks. With the
    `indent` None it stays one line.

    A row of a table has the `columns` of the table, so that its cells can be shortened where a terminal is too narrow.
    """

    spans: tuple[Span, ...] = ()
    indent: int | None = None
    columns: tuple[TableColumn, ...] = ()

    @property
    def text(self) -> str:
        """The line without styles."""
        return "".join(span.text for span in self.spans)


class Shown:
    """A result to show: `lines` for people, `data` for JSON, and the `head` and `rows` of a table for CSV.

    Lines and data are computed at their first use. `notes` are messages for the user that are no part of the result.
    `forms` has functions that make the text of other forms, by names such as "trec" or "markdown". `files` has
    functions that make the text of files, by endings such as ".html". `about` describes the content of a file, for the
    message that the file was written. `code` is the exit status, which is not 0 if the answer is no. `step` names the
    command-line operation with the same result, if that operation has another name.
    """

    def __init__(
        self,
        lines: Callable[[], Iterable[Line]],
        data: Callable[[], Any] = lambda: None,
        head: Sequence[str] = (),
        rows: Sequence[Sequence[Any]] = (),
        notes: Sequence[str] = (),
        *,
        forms: Mapping[str, Callable[[], Any]] | None = None,
        files: Mapping[str, Callable[[], str]] | None = None,
        about: str = "",
        code: int = 0,
        step: Step | None = None,
    ):
        self._lines, self._data = lines, data
        self.head, self.rows, self.notes = head, rows, notes
        self.forms, self.files, self.about, self.code, self.step = forms or {}, files or {}, about, code, step

    @cached_property
    def lines(self) -> list[Line]:
        """The result as lines for people."""
        return list(self._lines())

    @cached_property
    def data(self) -> Any:
        """The result as a value for JSON."""
        return self._data()

    def between(self, above: Sequence[Line] = (), below: Sequence[Line] = (), notes: Sequence[str] = ()) -> Shown:
        """Return the result with further lines above and below its own, and with further notes."""
        other = copy(self)
        other.__dict__.pop("lines", None)
        other._lines, other.notes = lambda: [*above, *self.lines, *below], [*self.notes, *notes]
        return other

    def offers(self, form: str) -> bool:
        """Return whether the result has a form besides its lines."""
        return form == "json" or form in self.forms or (form in ("csv", "spreadsheet") and bool(self.head))

    def compute(self, form: str) -> None:
        """Compute now what a face will print: the lines, and with the form "json" the data."""
        for part in ("lines", "data") if form == "json" else ("lines",):
            getattr(self, part)


def sentence(text: str, **options: Any) -> Shown:
    """Return a sentence as Shown; as JSON it is a string."""
    return Shown(lambda: [line(text, indent=0)], lambda: text, **options)


def line(*parts: str | Span, indent: int | None = None, columns: Iterable[TableColumn] = ()) -> Line:
    """Return a line of texts and spans, without control characters and without blanks at its end."""
    spans = [Span(one_line(text), style) for text, style in (Span(p) if isinstance(p, str) else p for p in parts)]
    while spans and not spans[-1].text.rstrip():
        spans.pop()
    if spans:
        spans[-1] = spans[-1]._replace(text=spans[-1].text.rstrip())
    return Line(tuple(spans), indent, tuple(columns))


def records(head: Sequence[str], rows: Sequence[Sequence[Any]], notes: Sequence[str] = ()) -> Shown:
    """Return records as Shown: an aligned table for people, a list of objects as JSON.

    `head` has the names of the fields.
    """
    return Shown(
        lambda: table_lines(rows, head), lambda: [dict(zip(head, row, strict=True)) for row in rows], head, rows, notes
    )


def table_lines(
    rows: Sequence[Sequence[Any]],
    head: Sequence[str] = (),
    right: Sequence[bool] | None = None,
    bold: Collection[tuple[int, int]] = (),
) -> list[Line]:
    """Return rows of cells as aligned columns, under a head if there is one.

    `right` tells which columns are aligned to the right; by default, these are the columns that hold only numbers.
    `bold` names cells as (row, column). A last column of text may be wrapped.
    """
    texts = [[as_text(cell) for cell in row] for row in ([head, *rows] if head else rows)]
    if not texts:
        return []
    places = range(len(texts[0]))
    if right is None:
        right = [bool(rows) and all(isinstance(row[place], (int, float)) for row in rows) for place in places]
    widths = [max(len(cells[place]) for cells in texts) for place in places]
    begins = [sum(widths[:place]) + 2 * place for place in places]
    columns = [TableColumn(begins[place], widths[place], not right[place]) for place in places]
    indent = None if right[-1] else begins[-1]
    lines = []
    for number, cells in enumerate(texts, -1 if head else 0):
        spans: list[Span | str] = []
        for place, cell in enumerate(cells):
            padded = cell.rjust(widths[place]) if right[place] else cell.ljust(widths[place])
            spans += ["  " * bool(place), Span(padded, "best" if (number, place) in bold else "")]
        lines.append(line(*spans, indent=indent, columns=columns))
    return lines


def figure_lines(table: Table) -> list[Line]:
    """Return a table of figures as aligned columns: words to the left, figures to the right."""
    right = [column >= table.labels for column in range(len(table.head))]
    return table_lines(table.rows, table.head, right, table.bold)


def figures(
    table: Table,
    data: Callable[[], Any],
    exact: Callable[[], Table] | None = None,
    notes: Sequence[str] = (),
    lines: Callable[[], Iterable[Line]] | None = None,
) -> Shown:
    """Return a table of figures as Shown, with all forms of `Table`, such as Markdown and LaTeX.

    `data` returns the value for JSON. `exact` returns a table with more digits, for CSV. `lines` returns lines for
    people, in place of the table.
    """
    exact = exact or (lambda: table)
    own: dict[str, Callable[[], str]] = {"markdown": table.markdown, "latex": table.latex}
    own |= {"csv": lambda: exact().csv(), "spreadsheet": lambda: exact().spreadsheet()}
    return Shown(lines or (lambda: figure_lines(table)), data, table.head, table.rows, notes, forms=own)


def wrapped(long: Line, width: int) -> Iterator[Line]:
    """Cut a line at blanks, and yield the pieces as lines of at most `width` characters.

    The cells of a table are shortened first, to the same widths in each row. A line without an indent is not cut.
    """
    if long.columns:
        long = _shortened(long, width)
    if long.indent is None or len(long.text) <= width:
        yield long
        return
    text, begin, blanks = long.text, 0, " " * max(0, min(long.indent, width - LEAST_TEXT))
    rows = textwrap.wrap(text, width, subsequent_indent=blanks, replace_whitespace=False, expand_tabs=False)
    for number, row in enumerate(rows):
        content = row[len(blanks) :] if number else row
        begin = text.index(content, begin)
        indent = (Span(blanks),) if number else ()
        yield Line((*indent, *_part(long.spans, begin, begin + len(content))))
        begin += len(content)


def _shortened(row: Line, width: int) -> Line:
    """Return a row of a table with cells short enough for a width, if that is possible."""
    widths = [column.width for column in row.columns]
    if row.indent is not None:
        # The last column can be wrapped, so LEAST_TEXT characters are enough for it.
        widths[-1] = min(widths[-1], LEAST_TEXT)
    gaps = row.columns[-1].begin + row.columns[-1].width - sum(column.width for column in row.columns)
    excess = sum(widths) + gaps - width
    kept = len(widths) - (row.indent is not None)
    while excess > 0:
        place = max(range(kept), key=lambda place: row.columns[place].shortens * widths[place], default=0)
        if not kept or not row.columns[place].shortens or widths[place] <= LEAST_CELL:
            break
        widths[place] -= 1
        excess -= 1
    spans: list[Span] = []
    end = 0
    for column, size in zip(row.columns[:kept], widths, strict=False):
        spans += _part(row.spans, end, column.begin)
        spans += _cut(list(_part(row.spans, column.begin, column.begin + column.width)), size)
        end = column.begin + column.width
    spans += _part(row.spans, end, len(row.text))
    saved = sum(column.width for column in row.columns[:kept]) - sum(widths[:kept])
    return Line(tuple(spans), row.indent if row.indent is None else row.indent - saved)


def _cut(spans: list[Span], size: int) -> list[Span]:
    """Return the spans of a cell cut to `size` characters; a cell that loses letters ends with an ellipsis."""
    text = "".join(span.text for span in spans)
    if len(text.rstrip()) <= size:
        return list(_part(spans, 0, size))
    return [*_part(spans, 0, size - 1), Span("…", spans[-1].style)]


def _part(spans: Iterable[Span], begin: int, end: int) -> Iterator[Span]:
    """Yield the part of the spans from character `begin` to character `end` of the line."""
    at = 0
    for text, style in spans:
        if piece := text[max(0, begin - at) : max(0, end - at)]:
            yield Span(piece, style)
        at += len(text)


def marked(text: str, places: Iterable[tuple[int, int]], style: str = "match") -> list[Span]:
    """Return a text as spans. The spans of `places`, (begin, end) in ascending order, have the style `style`."""
    spans, position = [], 0
    for begin, end in places:
        spans += [Span(text[position:begin]), Span(text[begin:end], style)]
        position = end
    return [span for span in (*spans, Span(text[position:])) if span.text]
