"""The built-in names of pipelines: `good`, `better` and `best`. A name that a user gives in an index hides the built-in one.

No other file has these expressions, so they are easy to change. `benchmarks/pipelines.py` finds their weights, and
`docs/effectiveness.md` shows how well they rank.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sublex.errors import InputError

# The part that scores by words: a search by the words of the query, and sharp feedback. `Burst` raises the weights of words
# that come in bursts.
WORDS = "(Burst >> BM25 >> Sharp >> BM25)"
LSI = "lsi(e=200)"
LDA = "lda(k=100, score=likelihood)"
CHARS = "chars"
NEAR = f"near({LSI})"
# The default weight of a document's own score in `near`.
OWN = 0.8
_WEIGHT, _OWN = re.compile(r"(?<= )(\d[\d.]*)\*"), re.compile(r", own=([\d.]+)")
# The printed form of the expression that each name stands for.
_TEXTS = {
    "good": WORDS[1:-1],
    "better": f"{WORDS} + 0.1*{LSI} >> {NEAR}",
    "best": f"{WORDS} + 0.1*{LSI} + 0.2*{LDA} + 0.2*{CHARS} >> {NEAR[:-1]}, own=0.7)",
}
EXACT, APPROXIMATE = "exact", "approximate"
# With find=approximate, these parts find no documents, and score those that feedback finds. So no part looks at all documents.
SCORED_ONLY = (LSI, LDA, CHARS)


def meaning(name: str, find: str = EXACT) -> str:
    """Return the expression of a built-in name.

    With find=approximate, only feedback finds documents, and the other parts score these.
    """
    text = _TEXTS[name]
    if find == APPROXIMATE:
        for part in SCORED_ONLY:
            text = text.replace(f"*{part} ", f"*{part} % 0 ")
    return text


# The built-in names and their expressions.
PIPELINES: Mapping[str, str] = MappingProxyType({name: meaning(name) for name in _TEXTS})


def called(name: str, args: tuple[Any, ...], params: Mapping[str, Any]) -> str:
    """Return the expression of a call of a built-in name, whose only parameter is `find`.

    Raise InputError for another parameter, and if find=approximate would change nothing.
    """
    find = str(params.get("find", EXACT))
    if args or params.keys() - {"find"} or find not in (EXACT, APPROXIMATE):
        raise InputError(f"{name} takes nothing but find=exact or find=approximate; write {name}(find=approximate).")
    if find == APPROXIMATE and meaning(name, find) == meaning(name):
        raise InputError(f"{name} has no part that could find approximately; write {name}.")
    return meaning(name, find)


def around(text: str) -> tuple[str, tuple[float, ...]]:
    """Return an expression with ranges in place of its learned weights, and the list of these weights, in reading order.

    The range of a weight is 0, the learned weight, and twice the learned weight. The weight of a document's own score in
    `near` may also be .1 lower or higher. An expression without weights is returned as it is.
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
