"""Show rankings side by side: the moves of documents, the new and the missing documents, and how many two rankings share."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from sublex.forms.lines import LEAST_CELL, Line, Shown, Span, TableColumn, line
from sublex.pipeline.side_by_side import Moved, NamedRanking, moved

# In characters: the width of the ranks, the blanks between two columns, and the width of a move, such as ↑12.
RANK, GAP, MOVE = 4, 2, 5


def versus(rankings: Sequence[NamedRanking], width: int = sys.maxsize) -> Shown:
    """Return rankings of one query side by side as Shown; the others are compared with the first.

    If the columns do not fit into `width` characters, each ranking gets its own block, beside the first ranking.
    """
    compared = [moved(ranking, rankings[0]) for ranking in rankings]
    size = max((len(ranking.docnos) for ranking in rankings), default=0)
    head = ("rank", *(ranking.name for ranking in rankings))
    rows = [(place + 1, *(r.docnos[place] if place < len(r.docnos) else "" for r in rankings)) for place in range(size)]
    return Shown(lambda: _lines(compared, size, width), lambda: list(map(_as_json, compared)), head, rows)


def _move(move: int | None) -> Span:
    """Return how far a document moved, as in ↑3."""
    if move is None:
        return Span("new", "new")
    return Span(f"↑{move}", "up") if move > 0 else Span(f"↓{-move}", "down") if move else Span("")


def _lines(compared: list[Moved], size: int, width: int) -> Iterator[Line]:
    columns = [_Column(each, place > 0) for place, each in enumerate(compared)]
    needed = RANK + sum(GAP + column.least + column.move for column in columns)
    if needed > width:
        for place, column in enumerate(columns[1:]):
            yield from [line()] * (place > 0)
            yield from _table([columns[0], column], size)
    else:
        yield from _table(columns, size)
    first = compared[0].ranking
    for ranking, _, shared, gone in compared[1:]:
        lost = f"; gone: {', '.join(gone)}" if gone else ""
        yield line(f"{ranking.name} shares {shared} of {len(first.docnos)} with {first.name}{lost}", indent=2)


class _Column:
    """The column of a ranking: its head and its docnos. A ranking after the first also has the moves beside the docnos."""

    def __init__(self, compared: Moved, has_moves: bool):
        self.ranking, self.moves = compared.ranking, list(map(_move, compared.moves))
        self.docnos = max((len(docno) for docno in self.ranking.docnos), default=0)
        self.move = MOVE * has_moves
        self.width = max(len(self.ranking.name), self.docnos) + self.move
        # A head is shortened to LEAST_CELL characters, and no further.
        self.least = max(self.docnos, min(len(self.ranking.name), LEAST_CELL))


def _table(columns: Sequence[_Column], size: int) -> Iterator[Line]:
    """Yield the lines of rankings side by side."""
    spans, layout = [Span("rank")], [TableColumn(0, RANK, False)]
    for column in columns:
        spans += [Span(" " * GAP), Span(column.ranking.name.ljust(column.width), "heading")]
        begin = layout[-1].begin + layout[-1].width + GAP
        # The docnos may be shortened, but the moves are not.
        layout.append(TableColumn(begin, column.width - column.move, True))
        layout += [TableColumn(begin + column.width - column.move, column.move, False)] * (column.move > 0)
    yield line(*spans, columns=layout)
    for place in range(size):
        spans = [Span(f"{place + 1:>{RANK}}")]
        for column in columns:
            docno = column.ranking.docnos[place] if place < len(column.ranking.docnos) else ""
            move = column.moves[place] if docno and column.move else Span("")
            blank = " " * (column.width - len(docno) - len(move.text))
            spans += [Span(" " * GAP), Span(docno, "docno"), Span(blank), move]
        yield line(*spans, columns=layout)


def _as_json(compared: Moved) -> dict[str, Any]:
    ranking = compared.ranking
    hits = [
        {"rank": rank, "docno": docno, "rose": move, "new": move is None}
        for rank, (docno, move) in enumerate(zip(ranking.docnos, compared.moves, strict=True), 1)
    ]
    return {"ranking": ranking.name, "hits": hits, "shared": compared.shared, "gone": compared.gone}
