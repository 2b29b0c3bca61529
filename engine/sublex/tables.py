"""Tables of text in the forms that people paste: Markdown, LaTeX, HTML, CSV."""

from __future__ import annotations

import csv
import html
import io
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


class Table(NamedTuple):
    """A head and rows of cells; the first `labels` columns are words, the others figures; `bold` are cells as (row, column)."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1
    bold: Collection[tuple[int, int]] = ()

    def markdown(self) -> str:
        """A table of GitHub's Markdown."""
        rule = ["---" if column < self.labels else "---:" for column in range(len(self.head))]
        lines = [[cell.translate(_MARKDOWN) for cell in self.head], rule, *self._marked(_MARKDOWN, "**{}**")]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def latex(self) -> str:
        """A tabular with the rules of booktabs."""
        columns = "l" * self.labels + "r" * (len(self.head) - self.labels)
        head = " & ".join(cell.translate(_LATEX) for cell in self.head)
        body = "".join(f"{' & '.join(line)} \\\\\n" for line in self._marked(_LATEX, "\\textbf{{{}}}"))
        return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"

    def html(self) -> str:
        """A table element."""

        def cells(tag: str, line: Sequence[str], bold: Collection[int] = ()) -> str:
            marked = (f"<b>{html.escape(cell)}</b>" if k in bold else html.escape(cell) for k, cell in enumerate(line))
            align = ("" if k < self.labels else ' style="text-align:right"' for k in range(len(line)))
            return "".join(f"<{tag}{style}>{cell}</{tag}>" for cell, style in zip(marked, align, strict=True))

        bold = [{column for at, column in self.bold if at == row} for row in range(len(self.rows))]
        body = "".join(f"<tr>{cells('td', line, bold[row])}</tr>\n" for row, line in enumerate(self.rows))
        return f"<table>\n<thead><tr>{cells('th', self.head)}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"

    def csv(self) -> str:
        """Comma-separated values."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        writer.writerows([self.head, *self.rows])
        return written.getvalue()

    def _marked(self, escapes: dict[int, str], form: str) -> list[list[str]]:
        return [
            [
                form.format(cell.translate(escapes)) if (row, column) in self.bold else cell.translate(escapes)
                for column, cell in enumerate(line)
            ]
            for row, line in enumerate(self.rows)
        ]
