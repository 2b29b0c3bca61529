"""Show rankings side by side: how far each document moved, which are new or gone, and how many two rankings share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sublex.forms.lines import Column, Line, Shown, Span, line
from sublex.pipeline.side_by_side import Moved, Ranking, moved

# The blanks between the columns of two rankings, and the width of a move, such as ↑12, in characters.
GAP, MOVE = 2, 5


def versus(rankings: Sequence[Ranking]) -> Shown:
    """Return rankings of one query side by side as Shown; the others are compared with the first."""
    compared = [moved(ranking, rankings[0]) for ranking in rankings]
    size = max((len(ranking.docnos) for ranking in rankings), default=0)
    head = ("rank", *(ranking.name for ranking in rankings))
    rows = [(place + 1, *(r.docnos[place] if place < len(r.docnos) else "" for r in rankings)) for place in range(size)]
    return Shown(lambda: _lines(compared, size), lambda: list(map(_as_json, compared)), head, rows)


def _move(move: int | None) -> Span:
    """Return how far a document moved, as in ↑3."""
    if move is None:
        return Span("new", "new")
    return Span(f"↑{move}", "up") if move > 0 else Span(f"↓{-move}", "down") if move else Span("")


def _lines(compared: Sequence[Moved], size: int) -> Iterator[Line]:
    columns = []
    for ranking, moved_by, *_ in compared:
        names = max((len(docno) for docno in ranking.docnos), default=0)
        columns.append((ranking, list(map(_move, moved_by)), max(len(ranking.name), names) + MOVE))
    spans, layout = [Span("rank")], [Column(0, 4, False)]
    for ranking, _, width in columns:
        spans += [Span(" " * GAP), Span(ranking.name.ljust(width), "heading")]
        begin = layout[-1].begin + layout[-1].width + GAP
        # The docnos are shortened, and the moves beside them are not.
        layout += [Column(begin, width - MOVE, True), Column(begin + width - MOVE, MOVE, False)]
    yield line(*spans, columns=layout)
    for place in range(size):
        spans = [Span(f"{place + 1:>4}")]
        for ranking, moves, width in columns:
            docno = ranking.docnos[place] if place < len(ranking.docnos) else ""
            move = moves[place] if docno else Span("")
            blank = " " * (width - len(docno) - len(move.text))
            spans += [Span(" " * GAP), Span(docno, "docno"), Span(blank), move]
        yield line(*spans, columns=layout)
    first = compared[0].ranking
    for ranking, _, shared, gone in compared[1:]:
        lost = f"; gone: {', '.join(gone)}" if gone else ""
        yield line(f"{ranking.name} shares {shared} of {len(first.docnos)} with {first.name}{lost}", indent=2)


def _as_json(compared: Moved) -> dict[str, Any]:
    ranking = compared.ranking
    hits = [
        {"rank": rank, "docno": docno, "rose": move, "new": move is None}
        for rank, (docno, move) in enumerate(zip(ranking.docnos, compared.moves, strict=True), 1)
    ]
    return {"ranking": ranking.name, "hits": hits, "shared": compared.shared, "gone": compared.gone}
