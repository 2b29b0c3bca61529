"""Porter's stemmer as Lucene has it, many words at a time.

M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980; `bli` and `logi` as in his later C version.
"""

from __future__ import annotations

from functools import cache

import numpy as np

STEP2 = """ational ate, tional tion, enci ence, anci ance, izer ize, bli ble, alli al, entli ent, eli e, ousli ous, ization ize,
ation ate, ator ate, alism al, iveness ive, fulness ful, ousness ous, aliti al, iviti ive, biliti ble, logi log"""
STEP3 = "icate ic, ative, alize al, iciti ic, ical ic, ful, ness"
# After -ion a mark: it goes only after s or t.
STEP4 = "al, ance, ence, er, ic, able, ible, ant, ement, ment, ent, ion *, ou, ism, ate, iti, ous, ive, ize"


@cache
def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    text, rows, ends = "", [], []
    for step in (STEP2, STEP3, STEP4):
        for rule in step.split(","):
            suffix, replacement = [*rule.split(), ""][:2]
            begin = len(text)
            text += suffix + replacement
            rows.append((begin, begin + len(suffix), len(text)))
        ends.append(len(rows))
    return np.frombuffer(text.encode("utf-32-le"), np.uint32), np.array(rows, np.int64), np.array(ends, np.int64)


def stem(words: list[str]) -> list[str]:
    """The stems of lower-cased words."""
    from sublex.analysis import kernels

    if not words:
        return []
    points = np.frombuffer("\n".join(words).encode("utf-32-le"), np.uint32).copy()
    left = kernels.porter(points, np.uint32(10), *_tables())
    return points[:left].tobytes().decode("utf-32-le").split("\n")
