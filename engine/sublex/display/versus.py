"""Show rankings side by side: how far each document moved, which are new or gone, and how many two rankings share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sublex.forms.lines import Column, Line, Shown, Span, line

# Blanks between the columns of two rankings, and the characters of a move, as in  ↑12.
GAP, MOVE = 2, 5


class Ranking(NamedTuple):
    """A name and docnos, best first."""

    name: str
    docnos: Sequence[str]


def versus(rankings: Sequence[Ranking]) -> Shown:
    """Return rankings of one query side by side as Shown; the others are compared with the first."""
    first = rankings[0]
    size = max((len(ranking.docnos) for ranking in rankings), default=0)
    head = ("rank", *(ranking.name for ranking in rankings))
    rows = [(place + 1, *(r.docnos[place] if place < len(r.docnos) else "" for r in rankings)) for place in range(size)]
    return Shown(lambda: _lines(rankings, size), lambda: [_as_json(ranking, first) for ranking in rankings], head, rows)


def _moves(ranking: Ranking, first: Ranking) -> list[int | None]:
    """Return for each document of a ranking how many ranks it rose since the first; None for a new one."""
    places = {docno: place for place, docno in enumerate(first.docnos)}
    return [places[docno] - place if docno in places else None for place, docno in enumerate(ranking.docnos)]


def _move(move: int | None) -> Span:
    """Return how far a document moved, as in ↑3."""
    if move is None:
        return Span("new", "new")
    return Span(f"↑{move}", "up") if move > 0 else Span(f"↓{-move}", "down") if move else Span("")


def _lines(rankings: Sequence[Ranking], size: int) -> Iterator[Line]:
    columns = []
    for number, ranking in enumerate(rankings):
        moves = [_move(move) for move in _moves(ranking, rankings[0])] if number else [Span("")] * len(ranking.docnos)
        names = max((len(docno) for docno in ranking.docnos), default=0)
        columns.append((ranking, moves, max(len(ranking.name), names) + MOVE))
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
    first = rankings[0]
    for ranking in rankings[1:]:
        shared, gone = _shared(ranking, first), _gone(ranking, first)
        lost = f"; gone: {', '.join(gone)}" if gone else ""
        yield line(f"{ranking.name} shares {shared} of {len(first.docnos)} with {first.name}{lost}", indent=2)


def _shared(ranking: Ranking, first: Ranking) -> int:
    return len(set(ranking.docnos) & set(first.docnos))


def _gone(ranking: Ranking, first: Ranking) -> list[str]:
    return [docno for docno in first.docnos if docno not in set(ranking.docnos)]


def _as_json(ranking: Ranking, first: Ranking) -> dict[str, Any]:
    moves = _moves(ranking, first)
    hits = [
        {"rank": rank, "docno": docno, "rose": move, "new": move is None}
        for rank, (docno, move) in enumerate(zip(ranking.docnos, moves, strict=True), 1)
    ]
    return {
        "ranking": ranking.name,
        "hits": hits,
        "shared": _shared(ranking, first),
        "gone": _gone(ranking, first),
    }
