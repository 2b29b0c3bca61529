"""The words of queries that no document contains, and the sentences that tell users about them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from sublex.contracts.operators import Operator, sought_in
from sublex.index.spelling import Correction, correction
from sublex.tools.messages import counted, cut

if TYPE_CHECKING:
    from sublex.contracts.base import Query
    from sublex.index.snapshot import Snapshot
    from sublex.pipeline.pipeline import LeftOut

# The number of words that a sentence about topics shows.
EXAMPLES = 3
# Other spellings are sought for at most this number of words, because each search reads all words of the index.
MOST_CORRECTED = 5


def corrections(snapshot: Snapshot, words: Mapping[str, str]) -> dict[str, Correction]:
    """Return the corrections of missing words by term: the words that documents have in their place.

    `words` maps the terms that no document contains to the words as written. Only the first `MOST_CORRECTED` are
    corrected. A word without a correction is left out.
    """
    some = islice((item for item in words.items() if not isinstance(item[0], Operator)), MOST_CORRECTED)
    found = {term: correction(snapshot, term, word) for term, word in some}
    return {term: other for term, other in found.items() if other}


def missing_notes(words: Mapping[str, str], corrected: Mapping[str, Correction]) -> list[str]:
    """Return the sentences about words that no document contains; `words` maps their terms to the words as written.

    Each word in `corrected`, a result of `corrections`, has its own sentence. The last sentence has all other words.
    """
    others = [f'"{word}"' for term, word in words.items() if term not in corrected]
    last = [f"No document contains {cut(' or '.join(others))}."] if others else []
    return [*(_with(words[term], other) for term, other in corrected.items()), *last]


def _with(word: str, other: Correction) -> str:
    """Return the sentence about a word that no document contains, with its correction."""
    hint = f" An index with {other.options} {other.reason}." if other.options else ""
    return f'No document contains "{word}"; did you mean {other.words}?{hint}'


def left_out_notes(left: Sequence[LeftOut], missing: Collection[str]) -> list[str]:
    """Return a sentence for each model that leaves out words of a query, with the reasons.

    Words in `missing` are left out, because another sentence says that no document contains them.
    """
    words: dict[str, list[str]] = {}
    for model, word, reason in left:
        if word not in missing:
            words.setdefault(model, []).append(f'"{word}", which {reason}')
    return [f"{model} leaves out {cut('; and '.join(own))}." for model, own in words.items()]


class MissingWords(Mapping[str, tuple[str, ...]]):
    """The words of topics that no document contains, as the topics write them, by topic id.

    Topics without missing words are left out. The first access looks up the terms of all topics at once.
    """

    def __init__(self, snapshot: Snapshot, queries: Mapping[str, Query]):
        self._snapshot, self._queries = snapshot, queries

    @cached_property
    def terms(self) -> frozenset[str]:
        """The distinct terms of all the words."""
        return frozenset(
            self._snapshot.absent({t for query in self._queries.values() for t in sought_in(query.weights())})
        )

    @cached_property
    def _found(self) -> dict[str, Query]:
        """The queries with a word that no document contains."""
        terms = self.terms
        return {qid: query for qid, query in self._queries.items() if not terms.isdisjoint(sought_in(query.weights()))}

    def __getitem__(self, qid: str) -> tuple[str, ...]:
        return tuple(self._snapshot.missing(self._found[qid]).values())

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def notes(self, topics: int) -> list[str]:
        """Return a list with a sentence that counts the missing words and shows the first ones; [] if none is missing.

        `topics` is the number of all topics.
        """
        if not self:
            return []
        first: dict[str, str] = {}
        for qid, query in self._found.items():
            for term, word in self._snapshot.missing(query).items():
                first.setdefault(term, f'"{word}" (topic {qid})')
            if len(first) >= EXAMPLES:
                break
        shown = list(first.values())[:EXAMPLES]
        such = ", such as " if len(self.terms) > len(shown) else ": "
        verb = "have" if len(self) > 1 else "has"
        return [
            f"{len(self):,} of {counted(topics, 'topic')} {verb} {counted(len(self.terms), 'word')} that no document contains"
            f"{such}{', '.join(shown)}."
        ]
