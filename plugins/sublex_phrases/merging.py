"""Find the other names of a phrase: single words that abbreviate it, and words that are written like the phrase without
its spaces, as "database" and "data base".
"""

from __future__ import annotations

from collections.abc import Mapping

from sublex_phrases.forms import Forms
from sublex_phrases.ngrams import Ngrams, Sequence
from sublex_phrases.text import JoinedTexts


def other_names(
    text: JoinedTexts, ngrams: Ngrams, forms: Mapping[int, Forms], main: Mapping[int, tuple[Sequence, int]]
) -> dict[int, dict[int, int]]:
    """Return for each phrase of several words the nodes of the single words that also name the phrase.

    With each node comes the number of definitions that make the word an abbreviation of the phrase. `forms` has the
    written forms of each phrase, and `main` the sequence that each abbreviation stands for. A word names at most one
    phrase.
    """
    single = {unit: node for node, unit in enumerate(ngrams.last[: ngrams.singles].tolist())}
    defined = ngrams.nodes(sequence for sequence, _ in main.values())
    phrase_of: dict[int, tuple[int, int]] = {}
    for (unit, (_, times)), node in zip(main.items(), defined, strict=True):
        if node in forms and unit in single:
            phrase_of[single[unit]] = node, times
    units = {word.casefold(): unit for word, unit in zip(text.written, text.units_of_surfaces.tolist(), strict=True)}
    for node, written in forms.items():
        joined = written[0][0].replace(" ", "").replace("-", "").casefold()
        if ngrams.lengths[node] > 1 and units.get(joined) in single:
            phrase_of.setdefault(single[units[joined]], (node, 0))
    names: dict[int, dict[int, int]] = {}
    for word, (node, times) in phrase_of.items():
        names.setdefault(node, {})[word] = times
    return names
