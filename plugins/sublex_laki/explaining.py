"""Explain a cosine of two texts by the keyphrases that they share."""

from __future__ import annotations

from typing import Any

import numpy as np

from sublex.contracts.base import Explanation
from sublex_laki.keyphrases import PERHAPS, Keyphrases, listed

# Numbers of keyphrases in an explanation, and for each: of units of its silhouette, of evoking words, and of broader
# keyphrases.
LISTED, SILHOUETTE, EVOKING, BROADER = 8, 5, 3, 2
SIDES = ("query", "document")
Pair = tuple[Any, Any]


def explain(keyphrases: Keyphrases, chances: Pair, counts: Pair, evoked: Pair, strong: float) -> Explanation:
    """Return the cosine of a query and a document as a sum over the keyphrases that they share.

    Each of `chances`, `counts` and `evoked` has two values: for the query, and for the document. `chances` are the
    probabilities of the keyphrases, and `counts` the text's row of units. `evoked` are sparse rows of keyphrases by
    units, as `LAKIRepresentation.evoked` returns them: how likely a keyphrase turns a unit on. The name of a keyphrase
    gets the word "perhaps" if its probability is below `strong` in the query or in the document.
    """
    query, document = chances
    values = query * document / np.sqrt((query @ query) * (document @ document))
    order = np.argsort(-values, kind="stable")
    shared = order[values[order] > 0]
    parts = []
    for k in shared[:LISTED].tolist():
        name = keyphrases.names[k] if min(query[k], document[k]) >= strong else f"{PERHAPS} {keyphrases.names[k]}"
        parts.append(Explanation(float(values[k]), name, evidence=_evidence(keyphrases, k, chances, counts, evoked)))
    rest = shared[LISTED:]
    if len(rest):
        parts.append(Explanation(float(values[rest].sum()), f"{len(rest):,} other keyphrases"))
    label = "cosine of the keyphrases of query and document, by keyphrase"
    return Explanation(float(sum(part.value for part in parts)), label, "sum", tuple(parts))


def _evidence(keyphrases: Keyphrases, k: int, chances: Pair, counts: Pair, evoked: Pair) -> dict[str, Any]:
    """Return the facts that an explanation shows about keyphrase k.

    The facts are the keyphrase's probability in the query and in the document, which of the two mention it, the words
    that evoked it, its silhouette, and broader keyphrases.
    """
    mentioned = [side for side, row in zip(SIDES, counts, strict=True) if keyphrases.is_mentioned(row, [k])[0]]
    facts: dict[str, Any] = {
        f"in the {side}": round(float(own[k]), 3) for side, own in zip(SIDES, chances, strict=True)
    }
    facts["mentioned in"] = " and ".join(mentioned) or "neither"
    for side, matrix in zip(SIDES, evoked, strict=True):
        words = keyphrases.evoking(matrix, k, EVOKING)
        if words:
            facts[f"evoked in the {side} by"] = listed(words)
    facts["silhouette"] = ", ".join(item.name for item in keyphrases.silhouette(k, SILHOUETTE))
    broader = keyphrases.broader(k)[:BROADER]
    return facts | ({"broader": ", ".join(item.name for item in broader)} if broader else {})
