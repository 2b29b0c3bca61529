"""Find the frequent sequences of words in a text, their counts and the places where they begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex_phrases.mining_kernels import count_longer, find_suffixes, place_longer
from sublex_phrases.text import JoinedTexts, Run

# The number of parts, a power of two, into which the distinct sequences of one length are divided. It does not depend
# on the number of workers.
PARTS = 4
# The least number of frequent sequences of two words without stop words that mining needs.
FEWEST = 30
Sequence = tuple[int, ...]


class Ngrams(NamedTuple):
    """Frequent sequences of units. They are numbered as nodes of a trie: all sequences of one unit, then all of two,
    and so on.

    For each node, `parents` has the node without the last unit, `suffixes` the node without the first unit (both -1 for
    single units), `last` the last unit, `lengths` the number of units and `counts` the number of occurrences. `longest`
    has for each place of the text the node of the longest sequence that begins there, or -1.
    """

    parents: np.ndarray
    suffixes: np.ndarray
    last: np.ndarray
    lengths: np.ndarray
    counts: np.ndarray
    longest: np.ndarray

    @property
    def singles(self) -> int:
        """The number of nodes of one unit."""
        return int((self.lengths == 1).sum())

    @property
    def firsts(self) -> np.ndarray:
        """The first unit of each node."""
        nodes = np.arange(len(self.parents))
        while (longer := self.parents[nodes] >= 0).any():
            nodes = np.where(longer, self.parents[nodes], nodes)
        return self.last[nodes]

    def sequences(self) -> np.ndarray:
        """Return the units of each node as a row that is filled up with -1."""
        rows = np.full((len(self.parents), int(self.lengths.max(initial=1))), -1, np.int32)
        for length in range(1, rows.shape[1] + 1):
            nodes = np.flatnonzero(self.lengths == length)
            if length > 1:
                rows[nodes, : length - 1] = rows[self.parents[nodes], : length - 1]
            rows[nodes, length - 1] = self.last[nodes]
        return rows

    def places(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where any of `nodes` occur, as two arrays: the places of the first words and of the last words."""
        chosen = np.zeros(len(self.parents) + 1, bool)
        chosen[nodes] = True
        firsts, lasts = [], []
        node = self.longest.copy()
        while (inside := node >= 0).any():
            first = np.flatnonzero(inside & chosen[node])
            firsts.append(first)
            lasts.append(first + self.lengths[node[first]] - 1)
            node = np.where(inside, self.parents[node], -1)
        return np.concatenate(firsts), np.concatenate(lasts)

    def nodes(self, sequences: Iterable[Sequence]) -> list[int]:
        """Return the node of each sequence; -1 for a sequence without a node."""
        keys = self.parents.astype(np.int64) << 32 | self.last
        order = np.argsort(keys, kind="stable")
        keys, found = keys[order], []
        for sequence in sequences:
            node = -1
            for unit in sequence:
                place = int(np.searchsorted(keys, node << 32 | unit))
                if place == len(keys) or keys[place] != node << 32 | unit:
                    node = -1
                    break
                node = int(order[place])
            found.append(node)
        return found


def frequent(text: JoinedTexts, support: int, most: int, listed: Iterable[Sequence] = (), run: Run = map) -> Ngrams:
    """Return the sequences of up to `most` units that occur at least `support` times and cross no wall.

    The sequences in `listed` and their parts are returned even if they are rare, provided that they occur.
    """
    wanted = {
        sequence[i:j] for sequence in listed for i in range(len(sequence)) for j in range(i + 1, len(sequence) + 1)
    }
    often = text.counts >= support
    often[[sequence[0] for sequence in wanted if len(sequence) == 1]] = True
    # A variant is kept with its term.
    terms, lexicon = np.array(text.lexicon.variant_terms, np.int64), text.lexicon
    often[terms[often[len(lexicon.terms) : lexicon.first_stop]]] = True
    kept = np.flatnonzero(often & (text.counts > 0))
    numbers = np.full(len(text.lexicon), -1, np.int32)
    numbers[kept] = np.arange(len(kept))
    nodes = numbers[text.units]
    longest, none = nodes.copy(), np.full(len(kept), -1, np.int32)
    levels: list[tuple[np.ndarray, ...]] = [
        (none, none, kept.astype(np.int32), np.ones(len(kept), np.int32), text.counts[kept])
    ]
    total = len(kept)
    known: dict[Sequence, int] = {(unit,): int(numbers[unit]) for unit in kept.tolist()} if wanted else {}
    for length in range(2, most + 1):
        keys = {
            known[sequence[:-1]] << 32 | sequence[-1]: sequence
            for sequence in wanted
            if len(sequence) == length and sequence[:-1] in known
        }
        level, nodes = _longer(text, nodes, length, support, total, longest, np.array(sorted(keys), np.int64), run)
        if not len(level[0]):
            break
        levels.append(level)
        found = zip(
            (level[0].astype(np.int64) << 32 | level[2]).tolist(), range(total, total + len(level[0])), strict=True
        )
        known |= {keys[key]: node for key, node in found if key in keys} if keys else {}
        total += len(level[0])
    parents, suffixes, last, lengths, counts = (np.concatenate(column) for column in zip(*levels, strict=True))
    return Ngrams(parents, suffixes, last, lengths, counts, longest)


def _longer(
    text: JoinedTexts,
    nodes: np.ndarray,
    length: int,
    support: int,
    total: int,
    longest: np.ndarray,
    wanted: np.ndarray,
    run: Run,
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Return the arrays of the nodes of `length` units, and for each place of the text the node of this length that
    begins there.

    `longest` is updated. `nodes` has for each place the node of `length - 1` units, and `total` is the number of nodes
    of fewer units. `wanted` has the keys of sequences that become nodes even if they are rare.
    """
    places = np.empty(len(nodes), np.int32)

    def count(part: int) -> tuple[np.ndarray, np.ndarray]:
        return count_longer(nodes, text.units, text.walls, length, part, PARTS, places)

    counted = list(run(count, range(PARTS)))
    numbers, keys, counts, end = [], [], [], total
    for found, occurrences in counted:
        enough = (occurrences >= support) | np.isin(found, wanted)
        number = np.full(len(found), -1, np.int32)
        number[enough] = np.arange(end, end + enough.sum())
        end += int(enough.sum())
        numbers.append(number)
        keys.append(found[enough])
        counts.append(occurrences[enough])
    longer = np.full(len(nodes), -1, np.int32)

    def place(part: int) -> None:
        place_longer(nodes, text.walls, length, part, PARTS, places, numbers[part], longer, longest)

    list(run(place, range(PARTS)))
    suffixes, key = np.empty(end - total, np.int32), np.concatenate(keys)
    find_suffixes(nodes, longer, total, suffixes)
    lengths = np.full(len(key), length, np.int32)
    last = (key & 0xFFFFFFFF).astype(np.int32)
    return ((key >> 32).astype(np.int32), suffixes, last, lengths, np.concatenate(counts)), longer


def check_enough(text: JoinedTexts, ngrams: Ngrams, support: int) -> None:
    """Raise InputError if there are too few frequent sequences of two words.

    The message names a `support` that is low enough, or says that the collection is too small.
    """
    if _pairs(text, ngrams).size >= FEWEST:
        return
    counts = np.sort(_pairs(text, frequent(text, 2, 2)))[::-1] if support > 2 else np.empty(0)
    if len(counts) < FEWEST:
        raise InputError(
            f"The collection is too small for phrases: fewer than {FEWEST} pairs of words occur twice in it; add documents."
        )
    raise InputError(
        f"Too few word sequences occur {support:,} times in this collection to learn phrases from; "
        f"write phrases(support={int(counts[FEWEST - 1])})."
    )


def _pairs(text: JoinedTexts, ngrams: Ngrams) -> np.ndarray:
    """Return the counts of the sequences of two units that contain no stop word."""
    pairs = np.flatnonzero(ngrams.lengths == 2)
    first = ngrams.last[ngrams.parents[pairs]]
    return ngrams.counts[pairs[~text.stops[first] & ~text.stops[ngrams.last[pairs]]]]
