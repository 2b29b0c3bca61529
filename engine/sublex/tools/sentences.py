"""Cut a text into sentences, for explanations that show the best-scored sentence. Scores never depend on these cuts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

# The largest number of sentences of a document that an explanation scores, and of characters of a sentence that it shows.
MOST_SENTENCES, SHOWN = 64, 300
# A sentence ends with a full stop, a question mark or an exclamation mark before white space, or with an empty line.
_ENDS = re.compile(r"(?<=[.!?])[\"')\]”’]*\s+|(?<=[。！？])\s*|\n\s*\n")


def first_sentences(text: str) -> list[str]:
    """Return the first sentences of a text, at most `MOST_SENTENCES`. Sentences without a letter or digit are left out."""

    def parts() -> Iterator[str]:
        begin = 0
        for end in _ENDS.finditer(text):
            yield text[begin : end.end()]
            begin = end.end()
        yield text[begin:]

    plain = (" ".join(part.split()) for part in parts())
    return list(islice((part for part in plain if any(map(str.isalnum, part))), MOST_SENTENCES))


def best_sentence(sentences: Sequence[str], scores: np.ndarray) -> dict[str, str]:
    """Return the sentence with the highest score as evidence for an explanation; {} if no score is finite."""
    if not len(sentences) or not np.isfinite(scores).any():
        return {}
    best = sentences[int(np.argmax(scores))]
    name = "sentence that scores best alone"
    if len(sentences) == MOST_SENTENCES:
        name = f"of the first {MOST_SENTENCES} sentences, the one that scores best alone"
    return {name: best if len(best) <= SHOWN else best[:SHOWN] + "…"}
