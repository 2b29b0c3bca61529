"""Porter's stemmer, with the same results as Lucene's. It stems many words in one call of a kernel.

M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980. The rules for `bli` and `logi` are those of Porter's
later C program.
"""

from __future__ import annotations

from functools import cache

import numpy as np

# The rules of steps 2 to 4: a suffix and its replacement, which may be empty.
STEP2 = """ational ate, tional tion, enci ence, anci ance, izer ize, bli ble, alli al, entli ent, eli e, ousli ous, ization ize,
ation ate, ator ate, alism al, iveness ive, fulness ful, ousness ous, aliti al, iviti ive, biliti ble, logi log"""
STEP3 = "icate ic, ative, alize al, iciti ic, ical ic, ful, ness"
# The asterisk marks -ion, which is removed only after s or t.
STEP4 = "al, ance, ence, er, ic, able, ible, ant, ement, ment, ent, ion *, ou, ism, ate, iti, ous, ive, ize"


@cache
def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rules of steps 2 to 4 as three arrays for the kernel.

    The arrays are the code points of all rules end to end; where the suffix and the replacement of each rule begin and
    end; and the number of rules up to the end of each step.
    """
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
    """Return the stems of lower-case words, in their order."""
    from sublex.analysis import porter_kernels

    if not words:
        return []
    points = np.frombuffer("\n".join(words).encode("utf-32-le"), np.uint32).copy()
    remaining = porter_kernels.porter(points, np.uint32(10), *_tables())
    return points[:remaining].tobytes().decode("utf-32-le").split("\n")
