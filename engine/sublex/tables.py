"""Tables of figures, and their text in the formats that users paste into documents: Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

_LATEX = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_{}"}
    | {
        char: f"\\text{name}{{}}"
        for char, name in zip("\\~^<>", "backslash asciitilde asciicircum less greater".split(), strict=True)
    }
)
_MARKDOWN = str.maketrans({char: f"\\{char}" for char in "\\|*_`<>"} | {"\n": " "})


# Rows of a long list that a notebook shows.
ROWS_SHOWN = 10


class Table(NamedTuple):
    """A head and rows of cells, all of them text.

    The first `labels` columns hold words and are aligned to the left; the others hold figures and are aligned to the right.
    `bold` names cells as (row, column).
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1
    bold: Collection[tuple[int, int]] = ()

    def markdown(self) -> str:
        """Return the table in GitHub's Markdown."""
        rule = ["---" if column < self.labels else "---:" for column in range(len(self.head))]
        lines = [[cell.translate(_MARKDOWN) for cell in self.head], rule, *self._body(_MARKDOWN, "**{}**")]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def latex(self) -> str:
        """Return the table as a LaTeX tabular; it needs the package booktabs."""
        columns = "l" * self.labels + "r" * (len(self.head) - self.labels)
        head = " & ".join(cell.translate(_LATEX) for cell in self.head)
        body = "".join(f"{' & '.join(line)} \\\\\n" for line in self._body(_LATEX, "\\textbf{{{}}}"))
        return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"

    def html(self) -> str:
        """Return the table as an HTML table element."""

        import html

        def cells(tag: str, line: Sequence[str], bold: Collection[int] = ()) -> str:
            texts = (f"<b>{html.escape(cell)}</b>" if k in bold else html.escape(cell) for k, cell in enumerate(line))
            styles = ("" if k < self.labels else ' style="text-align:right"' for k in range(len(line)))
            return "".join(f"<{tag}{style}>{text}</{tag}>" for text, style in zip(texts, styles, strict=True))

        bold = [{column for number, column in self.bold if number == row} for row in range(len(self.rows))]
        body = "".join(f"<tr>{cells('td', line, bold[row])}</tr>\n" for row, line in enumerate(self.rows))
        return f"<table>\n<thead><tr>{cells('th', self.head)}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"

    def csv(self) -> str:
        """Return the table as comma-separated values."""
        import csv
        import io

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([self.head, *self.rows])
        return stream.getvalue()

    def _body(self, escapes: dict[int, str], bold: str) -> list[list[str]]:
        """Return the rows with special characters escaped; `bold` is the format of a bold cell, such as "**{}**"."""
        return [
            [
                bold.format(cell.translate(escapes)) if (row, column) in self.bold else cell.translate(escapes)
                for column, cell in enumerate(line)
            ]
            for row, line in enumerate(self.rows)
        ]


def summary(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], count: int, labels: int = 1) -> str:
    """Return the HTML of the first rows of a list of `count` rows, with a caption, and how many rows are left out."""
    import html

    shown = rows[:ROWS_SHOWN]
    more = f"<p>… and {count - len(shown):,} more</p>\n" if count > len(shown) else ""
    return f"<p>{html.escape(caption)}</p>\n{Table(head, shown, labels).html() if shown else ''}{more}"
