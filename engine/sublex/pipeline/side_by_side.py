"""Compare rankings of one query: which documents moved, are new, or are gone, and how many both rankings have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class NamedRanking(NamedTuple):
    """The name of a ranking, and its docnos, best first."""

    name: str
    docnos: Sequence[str]


class Moved(NamedTuple):
    """A ranking compared with the first one.

    `moves` has the number of ranks that each document of `ranking` rose; None for a document that the first ranking
    lacks. `shared` is the number of documents that both rankings have. `gone` has the documents that only the first
    ranking has.
    """

    ranking: NamedRanking
    moves: list[int | None]
    shared: int
    gone: list[str]


def moved(ranking: NamedRanking, first: NamedRanking) -> Moved:
    """Compare a ranking with the first one."""
    places = {docno: place for place, docno in enumerate(first.docnos)}
    moves = [places[docno] - place if docno in places else None for place, docno in enumerate(ranking.docnos)]
    gone = [docno for docno in first.docnos if docno not in set(ranking.docnos)]
    return Moved(ranking, moves, len(set(ranking.docnos) & set(first.docnos)), gone)
