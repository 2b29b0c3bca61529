"""Results as parts: paragraphs, tables and lists of sentences. Lines, HTML and Markdown of a result have the same parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sublex.forms.lines import Line, figure_lines, line
from sublex.forms.pages import escaped
from sublex.forms.tables import ROWS_SHOWN, Table, in_markdown

# A paragraph, a table, or the sentences of a list.
Part = str | Table | tuple[str, ...]


class InParts:
    """A result in parts: `print` shows them as text, and a notebook as HTML."""

    def parts(self) -> Iterable[Part]:
        """Return the parts of the result, in the order in which they are shown."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(each.text for each in part_lines(self.parts()))

    def _repr_html_(self) -> str:
        return parts_html(self.parts())


def summary(
    caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], count: int, labels: int = 1
) -> list[Part]:
    """Return a caption, a table of the first of `rows`, and the number of rows left out, as parts.

    `count` is the number of all rows; `rows` needs only the first of them. The first `labels` columns hold words, as in
    `Table`.
    """
    shown = rows[:ROWS_SHOWN]
    more = [f"… and {count - len(shown):,} more"] if count > len(shown) else []
    return [caption, *([Table(head, shown, labels)] if shown else []), *more]


def part_lines(parts: Iterable[Part]) -> Iterator[Line]:
    """Yield the lines of parts, with an empty line between two parts."""
    for number, part in enumerate(_shown(parts)):
        if number:
            yield line()
        if isinstance(part, Table):
            yield from figure_lines(part)
        elif isinstance(part, str):
            yield line(part, indent=0)
        else:
            yield from (line(f"* {sentence}", indent=2) for sentence in part)


def _shown(parts: Iterable[Part]) -> list[Part]:
    """Return the parts without empty paragraphs and lists."""
    return [part for part in parts if part]


def parts_html(parts: Iterable[Part]) -> str:
    """Return parts as HTML elements."""
    return "".join(map(_html, _shown(parts)))


def _html(part: Part) -> str:
    if isinstance(part, Table):
        return part.html()
    if isinstance(part, str):
        return f"<p>{escaped(part)}</p>\n"
    items = "".join(f"<li>{escaped(sentence)}</li>\n" for sentence in part)
    return f"<ul>\n{items}</ul>\n"


def parts_markdown(parts: Iterable[Part]) -> str:
    """Return parts in GitHub's Markdown, with an empty line between two parts."""
    return "\n".join(map(_markdown, _shown(parts)))


def _markdown(part: Part) -> str:
    if isinstance(part, Table):
        return part.markdown()
    if isinstance(part, str):
        return f"{in_markdown(part)}\n"
    return "".join(f"* {in_markdown(sentence)}\n" for sentence in part)
