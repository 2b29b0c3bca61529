"""Show where rankings disagree: the topics that differ most, and the documents that move, as lines, JSON and a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sublex.forms.lines import Shown, figures
from sublex.forms.pages import html_page
from sublex.forms.parts import Part, part_lines, parts_html, parts_markdown
from sublex.forms.tables import Table

if TYPE_CHECKING:
    from sublex.evaluation.disagreement import Disagreement

STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;margin:0 0 1.5em;display:block;overflow-x:auto}"
    "th,td{padding:.2em .8em;text-align:left;border-bottom:1px solid #8886;vertical-align:top}p{margin:1.5em 0 .5em;font-weight:600}"
)


def disagreements(found: Sequence[Disagreement]) -> Shown:
    """Return the disagreements of the first ranking with each of the others as Shown."""
    parts: list[Part] = [part for each in found for part in each.parts()]
    first = found[0].names[0]
    title = f"Where {first} and {' and '.join(each.names[1] for each in found)} disagree"
    tables = [each.table() for each in found]
    rows = [[each.names[1], *row] for each, table in zip(found, tables, strict=True) for row in table.rows]
    head = ["against", *tables[0].head[:4], *(["measure of the first", "measure"] if len(tables[0].head) > 4 else [])]
    shown = figures(Table(head, rows, 3), lambda: [each.to_json() for each in found], lines=lambda: part_lines(parts))
    shown.forms = {**shown.forms, "markdown": lambda: parts_markdown(parts)}
    shown.files = {".html": lambda: html_page(title, STYLE, parts_html(parts))}
    return shown
