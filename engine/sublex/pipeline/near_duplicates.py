"""Near duplicates: groups of documents whose texts share most of their shingles, which are runs of consecutive words.

MinHash (A. Z. Broder, On the resemblance and containment of documents, 1997) finds pairs that may be alike. The
signature of a document has the least value of each of many hash functions over its shingles. It is cut into bands; two
documents with an equal band are a pair. Each pair is then checked exactly, by the Jaccard coefficient of its shingles.
So every reported pair is a real pair, but some pairs may be missed. `recall_at` returns the share that is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.forms.parts import InParts, Part
from sublex.forms.tables import Table
from sublex.pipeline import shingle_kernels
from sublex.tools.hints import resolve_hints
from sublex.tools.messages import counted, cut

if TYPE_CHECKING:
    from sublex.contracts.base import Document
    from sublex.pipeline.index import Index

# The number of hash functions of a signature, and the least share that bands should find of the pairs at the threshold.
HASHES, RECALL = 128, 0.999
# If up to this number of documents have an equal band, all pairs of them are checked. Of more documents, each is
# checked with the first one and with the one before it.
MOST_PAIRED = 50
SEED = 20


class Alike(NamedTuple):
    """A group of near duplicates, in the order of the index.

    `least` is the lowest Jaccard coefficient of the pairs that join them.
    """

    docnos: tuple[str, ...]
    least: float


class NearDuplicates(InParts):
    """Groups of near duplicates, the largest first. Two documents that are alike are always in one group."""

    def __init__(self, groups: list[Alike], documents: int, threshold: float, width: int):
        self.groups, self.documents, self.threshold, self.width = tuple(groups), documents, threshold, width

    @property
    def spare(self) -> int:
        """The number of documents to remove if one document of each group stays."""
        return sum(len(group.docnos) - 1 for group in self.groups)

    def table(self) -> Table:
        """Return a table with a row for each group."""
        rows = [[cut(", ".join(g.docnos)), f"{len(g.docnos):,}", f"{g.least:.3f}"] for g in self.groups]
        return Table(["documents", "number", "least"], rows, 1)

    def parts(self) -> list[Part]:
        """Return a sentence, and the table of groups."""
        alike = sum(len(group.docnos) for group in self.groups)
        said = (
            f"{alike:,} of {counted(self.documents, 'document')} are in {counted(len(self.groups), 'group')} of near duplicates: "
            f"{self.threshold:g} or more of their runs of {counted(self.width, 'word')} are the same."
        )
        return (
            [said, self.table()]
            if self.groups
            else [f"No two of {counted(self.documents, 'document')} are near duplicates."]
        )

    def to_json(self) -> dict[str, Any]:
        """Return the groups as a value for JSON."""
        return {
            "documents": self.documents, "threshold": self.threshold, "width": self.width,
            "groups": [group._asdict() for group in self.groups],
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<{counted(len(self.groups), 'group')} of near duplicates among {counted(self.documents, 'document')}>"


def near_duplicates(
    index: Index,
    threshold: float = 0.8,
    width: int = 3,
    progress: Callable[[int], None] = lambda documents: None,
) -> NearDuplicates:
    """Return the near duplicates of an index: groups that pairs with a Jaccard coefficient of `threshold` or more join.

    The coefficient is that of the sets of shingles of title and text. A shingle is a run of `width` words.
    Raise InputError for a threshold below 0.3 or above 1, and IndexProblem for an index without texts.
    """
    if not 0.3 <= threshold <= 1:
        raise InputError(f"The threshold {threshold:g} is out of range; give a number from 0.3 to 1, such as 0.8.")
    if width < 1:
        raise InputError(f"Shingles of {width} words are none; give 1 or more.")
    index.snapshot.need("text", "near duplicates need")
    signatures, docs = _signatures(index, width, progress)
    pairs = candidates(signatures, band_rows(threshold))
    found = _checked(index, docs, pairs, threshold, width)
    names = index.snapshot
    groups = [Alike(tuple(names.docno(int(docs[place])) for place in places), least) for places, least in joined(found)]
    return NearDuplicates(sorted(groups, key=lambda group: -len(group.docnos)), len(index), threshold, width)


def recall_at(similarity: float, rows: int) -> float:
    """Return the probability that a pair with this Jaccard coefficient has an equal band of `rows` hash values."""
    return 1 - (1 - similarity**rows) ** (HASHES // rows)


def band_rows(threshold: float) -> int:
    """Return the number of hash values in a band. It is the largest number that finds 999 of 1,000 pairs at the threshold."""
    return max(rows for rows in range(1, 17) if rows == 1 or recall_at(threshold, rows) >= RECALL)


class _Shingler:
    """Hashes the shingles of documents; its arrays grow with the longest text."""

    def __init__(self, width: int):
        self._width = width
        self._words, self._shingles = np.empty(0, np.uint64), np.empty(0, np.uint64)

    def __call__(self, document: Document) -> np.ndarray:
        """Return the hashes of a document's shingles; the array is overwritten by the next call."""
        data = np.frombuffer(f"{document.title} {document.text}".lower().encode(), np.uint8)
        if len(data) > len(self._words):
            self._words, self._shingles = np.empty(2 * len(data), np.uint64), np.empty(2 * len(data), np.uint64)
        count = shingle_kernels.hash_shingles(data, 0, len(data), self._width, self._words, self._shingles)
        return self._shingles[:count]


def _signatures(index: Index, width: int, progress: Callable[[int], None]) -> tuple[np.ndarray, np.ndarray]:
    """Return the signatures of all live documents that have words, and the numbers of these documents."""
    random = np.random.Generator(np.random.Philox(SEED))
    factors = random.integers(0, 1 << 63, HASHES, np.uint64) * np.uint64(2) + np.uint64(1)
    terms = random.integers(0, 1 << 63, HASHES, np.uint64)
    docs, shingler = index.snapshot.corpus.docs, _Shingler(width)
    signatures, kept, row = (
        np.empty((len(docs), HASHES), np.uint32),
        np.zeros(len(docs), bool),
        np.empty(HASHES, np.uint64),
    )
    for place, document in enumerate(_documents(index, docs)):
        shingles = shingler(document)
        if len(shingles):
            row.fill(0xFFFFFFFF)
            shingle_kernels.sign(shingles, len(shingles), factors, terms, row)
            signatures[place], kept[place] = row, True
        if place % 1000 == 999:
            progress(place + 1)
    progress(len(docs))
    return signatures[kept], docs[kept]


def _documents(index: Index, docs: np.ndarray) -> Iterator[Document]:
    for doc in docs.tolist():
        yield index.snapshot.stored(doc, "near duplicates need")


def candidates(signatures: np.ndarray, rows: int) -> np.ndarray:
    """Return the pairs of signatures with an equal band of `rows` hash values.

    A pair is two rows of `signatures`, by number; pairs are distinct and ascending.
    """
    found = [np.empty((0, 2), np.int64)]
    for begin in range(0, HASHES - rows + 1, rows):
        band = np.ascontiguousarray(signatures[:, begin : begin + rows])
        _, keys = np.unique(band.view([("", band.dtype)] * rows).ravel(), return_inverse=True)
        order = np.argsort(keys, kind="stable")
        ends = np.flatnonzero(np.diff(keys[order], append=-1)) + 1
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            if end - start > 1:
                same = order[start:end]
                found.append(np.array(list(_paired(same.tolist())), np.int64))
    return np.unique(np.concatenate(found), axis=0)


def _paired(places: list[int]) -> Iterator[tuple[int, int]]:
    if len(places) <= MOST_PAIRED:
        yield from combinations(places, 2)
        return
    for before, place in zip(places, places[1:], strict=False):
        yield before, place
        if before != places[0]:
            yield places[0], place


def _checked(
    index: Index, docs: np.ndarray, pairs: np.ndarray, threshold: float, width: int
) -> list[tuple[int, int, float]]:
    """Return the pairs whose Jaccard coefficient is at least the threshold, with their coefficients."""
    used, shingler = np.unique(pairs), _Shingler(width)
    sets = {
        place: np.unique(shingler(document))
        for place, document in zip(used.tolist(), _documents(index, docs[used]), strict=True)
    }
    found = []
    for one, other in pairs.tolist():
        value = jaccard(sets[one], sets[other], threshold)
        if value >= threshold:
            found.append((one, other, value))
    return found


def jaccard(one: np.ndarray, other: np.ndarray, threshold: float = 0.0) -> float:
    """Return the Jaccard coefficient of two ascending sets of numbers.

    If their sizes show that it is below the threshold, return 0.
    """
    if min(len(one), len(other)) < threshold * max(len(one), len(other)):
        return 0.0
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)


def joined(pairs: list[tuple[int, int, float]]) -> list[tuple[list[int], float]]:
    """Return the connected components of the graph whose edges are the pairs, in the order of their first members.

    A pair has two members and a value. A component has its members, ascending, and the least value of its pairs.
    """
    parents: dict[int, int] = {}

    def root(place: int) -> int:
        while parents.setdefault(place, place) != place:
            parents[place] = place = parents[parents[place]]
        return place

    for one, other, _ in pairs:
        first, second = sorted((root(one), root(other)))
        parents[second] = first
    groups: dict[int, list[int]] = {}
    for place in sorted(parents):
        groups.setdefault(root(place), []).append(place)
    least = dict.fromkeys(groups, 1.0)
    for one, _, value in pairs:
        least[root(one)] = min(least[root(one)], value)
    return [(places, least[first]) for first, places in groups.items()]


resolve_hints(__name__)
