"""Read the documents and scores that a user's function returns, in any of the allowed forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

from sublex.errors import InputError
from sublex.forms.frames import frame_records, is_frame
from sublex.retrieval.hits import Hits
from sublex.tools.arguments import shown
from sublex.trec.given_tables import DOCNOS, SCORE_NAMES

# At most this number of pairs is taken from a generator, which may have no end.
MOST_PAIRS = 1_000_000


def found_by(who: str, found: Any) -> list[tuple[Any, Any]]:
    """Return the docno and the score of each document that a function returned: hits, a mapping, a frame, or pairs.

    A Series has the scores, and the docnos as its index.

    Raise InputError for any other value. `who` is the function's name in the message.
    """
    if isinstance(found, Hits):
        return [(hit.docno, hit.score) for hit in found]
    if isinstance(found, Mapping):
        return list(found.items())
    if (
        isinstance(getattr(found, "index", None), Iterable)
        and callable(getattr(found, "items", None))
        and not is_frame(found)
    ):
        return list(found.items())
    if is_frame(found):
        docno, score = (
            next((column for column in names if column in found.columns), None) for names in (DOCNOS, SCORE_NAMES)
        )
        if docno and score:
            return [(record[docno], record[score]) for record in frame_records(found)]
    elif isinstance(found, Iterable) and not isinstance(found, (str, bytes)):
        pairs: list[tuple[Any, Any]] = []
        for pair in found:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                break
            if len(pairs) == MOST_PAIRS and not isinstance(found, Sized):
                raise InputError(
                    f"{who} gave more than {MOST_PAIRS:,} pairs one by one; if that is meant, return them as a dictionary."
                )
            pairs.append((pair[0], pair[1]))
        else:
            return pairs
    if getattr(found, "shape", None) and not is_frame(found):
        raise InputError(
            f"{who} returned an array of shape {found.shape}; return a dictionary {{docno: score}}, "
            "as in dict(zip(docnos, scores.tolist()))."
        )
    columns = f"a DataFrame with the columns {', '.join(map(str, found.columns))}" if is_frame(found) else shown(found)
    raise InputError(
        f"{who} returned {columns}; return hits, a dictionary {{docno: score}}, pairs, or a DataFrame with "
        "docno and score."
    )
