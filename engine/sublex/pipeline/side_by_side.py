"""Compare rankings of one query: how far documents moved, which documents are new or gone, and how many are shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Ranking(NamedTuple):
    """The name of a ranking, and its docnos, best first."""

    name: str
    docnos: Sequence[str]


class Moved(NamedTuple):
    """A ranking compared with the first one.

    It has the number of ranks that each document rose, None for a new document; the number of shared documents; and the
    documents that are gone.
    """

    ranking: Ranking
    moves: list[int | None]
    shared: int
    gone: list[str]


def moved(ranking: Ranking, first: Ranking) -> Moved:
    """Compare a ranking with the first one."""
    places = {docno: place for place, docno in enumerate(first.docnos)}
    moves = [places[docno] - place if docno in places else None for place, docno in enumerate(ranking.docnos)]
    gone = [docno for docno in first.docnos if docno not in set(ranking.docnos)]
    return Moved(ranking, moves, len(set(ranking.docnos) & set(first.docnos)), gone)
