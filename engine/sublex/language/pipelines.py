"""The built-in names of pipelines: `good`, `better` and `best`. A name that a user gives in an index hides the built-in one.

The expressions stand here alone, so that they are easily changed. Their weights come from `benchmarks/pipelines.py`, and
`docs/effectiveness.md` says what they are worth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sublex.errors import InputError

# The scores by words: sharp feedback after a search by the words of the query, of which those that come in bursts count more.
WORDS = "(Burst >> BM25 >> Sharp >> BM25)"
LSI = "lsi(e=200, weighting=logtfidf)"
LDA = "lda(k=100, score=likelihood)"
CHARS = "chars"
NEAR = f"near({LSI})"
# The weight of a document's own score in `near`, where a text gives none.
OWN = 0.8
_WEIGHT, _OWN = re.compile(r"(?<= )(\d[\d.]*)\*"), re.compile(r", own=([\d.]+)")
# What each name stands for, in printed form.
_TEXTS = {
    "good": WORDS[1:-1],
    "better": f"{WORDS} + 0.1*{LSI} >> {NEAR}",
    "best": f"{WORDS} + 0.1*{LSI} + 0.2*{LDA} + 0.2*{CHARS} >> {NEAR[:-1]}, own=0.7)",
}
EXACT, APPROXIMATE = "exact", "approximate"


def meaning(name: str, find: str = EXACT) -> str:
    """Return the expression that a built-in name stands for; with find=approximate, representations find nearly all of the best."""
    text = _TEXTS[name]
    return text.replace(f"*{LSI}", f"*{LSI[:-1]}, find=approximate)") if find == APPROXIMATE else text


# The built-in names with what they stand for.
PIPELINES: Mapping[str, str] = MappingProxyType({name: meaning(name) for name in _TEXTS})


def called(name: str, args: tuple[Any, ...], params: Mapping[str, Any]) -> str:
    """Return what a call of a built-in name stands for. Raise InputError for anything but `find`, or where it changes nothing."""
    find = str(params.get("find", EXACT))
    if args or params.keys() - {"find"} or find not in (EXACT, APPROXIMATE):
        raise InputError(f"{name} takes nothing but find=exact or find=approximate; write {name}(find=approximate).")
    if find == APPROXIMATE and meaning(name, find) == meaning(name):
        raise InputError(f"{name} has no part that could find approximately; write {name}.")
    return meaning(name, find)


def around(text: str) -> tuple[str, tuple[float, ...]]:
    """Return what a built-in name stands for with ranges in place of its learned weights, and these weights, in reading order.

    A weight may be 0, the learned one, or twice as large. A document's own weight in `near` may be .1 lower or higher.
    Without weights, the text is returned as it is.
    """
    blend, learned = (
        _WEIGHT.sub(lambda found: f"{{0,{found[1]},{2 * float(found[1]):g}}}*", text),
        _WEIGHT.findall(text),
    )
    if not learned:
        return text, ()
    own = float(found[1]) if (found := _OWN.search(text)) else OWN
    blend, stage = _OWN.sub("", blend).rsplit(" >> ", 1)
    return f"({blend}) >> {stage[:-1]}, own={{{own - 0.1:g},{own:g},{own + 0.1:g}}})", (*map(float, learned), own)
