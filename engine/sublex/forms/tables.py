"""Tables of figures, and their text in the formats that users paste into documents: Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sublex.forms.pages import escaped
from sublex.tools.messages import one_line

_LATEX = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_{}"}
    | {
        char: f"\\text{name}{{}}"
        for char, name in zip("\\~^<>", "backslash asciitilde asciicircum less greater".split(), strict=True)
    }
)
_MARKDOWN = str.maketrans({char: f"\\{char}" for char in "\\|*_`<>[]!"})
# Markdown makes links of addresses without brackets. It recognises them by these parts.
_ADDRESS = re.compile(r":(?=//)|(?<=www)\.|(?<=\w)@(?=[\w-]+\.\w)", re.IGNORECASE)
# Characters with which a spreadsheet begins a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
# The number of rows of a long list that a notebook shows.
ROWS_SHOWN = 10


class Table(NamedTuple):
    """A head and rows of cells, all of them text.

    The first `labels` columns hold words and are aligned to the left; the others hold figures and are aligned to the
    right. `bold` names cells as (row, column). If `raised` is true, a space and letters may follow a figure; LaTeX and
    HTML print these letters as superscripts.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1
    bold: Collection[tuple[int, int]] = ()
    raised: bool = False

    def markdown(self) -> str:
        """Return the table in GitHub's Markdown."""
        rule = ["---" if column < self.labels else "---:" for column in range(len(self.head))]
        lines = [list(map(in_markdown, self.head)), rule, *self._body(in_markdown, "**{}**", " {}")]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def latex(self) -> str:
        """Return the table as a LaTeX tabular; it needs the package booktabs."""
        columns = "l" * self.labels + "r" * (len(self.head) - self.labels)
        head = " & ".join(map(_in_latex, self.head))
        lines = self._body(_in_latex, "\\textbf{{{}}}", "\\textsuperscript{{{}}}")
        body = "".join(f"{' & '.join(line)} \\\\\n" for line in lines)
        return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"

    def html(self) -> str:
        """Return the table as an HTML table element."""

        def row(tag: str, cells: Iterable[str]) -> str:
            styles = ("" if k < self.labels else ' style="text-align:right"' for k in range(len(self.head)))
            return "".join(f"<{tag}{style}>{cell}</{tag}>" for cell, style in zip(cells, styles, strict=True))

        head = row("th", map(escaped, self.head))
        body = "".join(f"<tr>{row('td', line)}</tr>\n" for line in self._body(escaped, "<b>{}</b>", "<sup>{}</sup>"))
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"

    def csv(self) -> str:
        """Return the table as comma-separated values."""
        return as_csv(self.head, self.rows)

    def spreadsheet(self) -> str:
        """Return the table as comma-separated values, without texts that a spreadsheet reads as formulas."""
        return as_csv(self.head, self.rows, self.labels)

    def _body(self, escape: Callable[[str], str], bold: str, raised: str) -> list[list[str]]:
        """Return the rows with special characters escaped; `bold` and `raised` are formats, such as "**{}**"."""
        body = []
        for row, line in enumerate(self.rows):
            cells = []
            for column, cell in enumerate(line):
                figure, _, letters = cell.partition(" ") if self.raised and column >= self.labels else (cell, "", "")
                text = bold.format(escape(figure)) if (row, column) in self.bold else escape(figure)
                cells.append(text + (raised.format(escape(letters.strip())) if letters.strip() else ""))
            body.append(cells)
        return body


def as_csv(head: Sequence[str], rows: Sequence[Sequence[Any]], formulas: int = 0) -> str:
    """Return rows as comma-separated values, each on its own line.

    In the first `formulas` columns, a text that a spreadsheet takes for a formula gets an apostrophe in front.
    """
    import csv
    import io

    def plain(column: int, cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = one_line(cell).rstrip()
        return f"'{text}" if column < formulas and cell.startswith(FORMULA) else text

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([plain(column, cell) for column, cell in enumerate(line)] for line in [head, *rows])
    return stream.getvalue()


def in_markdown(text: str) -> str:
    """Return a text on one line for Markdown: characters that Markdown reads as marks are escaped."""
    return _ADDRESS.sub(r"\\\g<0>", one_line(text).translate(_MARKDOWN))


def _in_latex(text: str) -> str:
    return one_line(text).translate(_LATEX)
