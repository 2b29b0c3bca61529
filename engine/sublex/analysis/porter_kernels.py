"""Kernels that stem words with Porter's algorithm."""

from __future__ import annotations

import numpy as np
from numba import int64, uint32

from sublex.tools.compiled import I64, STORED_U32, U32, inner, kernel

ROWS = int64[:, ::1]


# Porter's algorithm (1980). As in Lucene, it differs from the paper in three rules: words of one or two letters stay,
# `bli` becomes `ble`, and `logi` becomes `log`. A word is word[start:k + 1], an array of code points; k decreases when a
# suffix is removed.


@inner
def _consonant(word, start, i):
    c = word[i]
    if c == 97 or c == 101 or c == 105 or c == 111 or c == 117:
        return False
    if c == 121:
        return i == start or not _consonant(word, start, i - 1)
    return True


@inner
def _measure(word, start, j):
    """Return the number of vowel-consonant sequences in word[start:j + 1], which Porter's paper calls m."""
    m = 0
    vowel = False
    for i in range(start, j + 1):
        if _consonant(word, start, i):
            if vowel:
                m += 1
            vowel = False
        else:
            vowel = True
    return m


@inner
def _has_vowel(word, start, j):
    for i in range(start, j + 1):
        if not _consonant(word, start, i):
            return True
    return False


@inner
def _double(word, start, j):
    return j > start and word[j] == word[j - 1] and _consonant(word, start, j)


@inner
def _cvc(word, start, i):
    if (
        i < start + 2
        or not _consonant(word, start, i)
        or _consonant(word, start, i - 1)
        or not _consonant(word, start, i - 2)
    ):
        return False
    return word[i] != 119 and word[i] != 120 and word[i] != 121


@inner
def _ends(word, start, k, suffix, a, b):
    """Return the index of the letter before the suffix if word[start:k + 1] ends in suffix[a:b], else start - 2."""
    length = b - a
    if length > k - start + 1:
        return start - 2
    for x in range(length):
        if word[k + 1 - length + x] != suffix[a + x]:
            return start - 2
    return k - length


@inner
def _replace(word, start, k, table, bounds, least):
    """Replace the first suffix of `table` that ends word[start:k + 1]; return the new index of the word's last letter.

    The suffix stays if the letters before it have at most `least` vowel-consonant sequences. Each row of `bounds` says
    where a suffix and its replacement begin and end in `table`.
    """
    for row in range(len(bounds)):
        j = _ends(word, start, k, table, bounds[row, 0], bounds[row, 1])
        if j >= start - 1:
            if _measure(word, start, j) > least:
                for x in range(bounds[row, 1], bounds[row, 2]):
                    j += 1
                    word[j] = table[x]
                return j
            return k
    return k


@kernel((U32, uint32, STORED_U32, ROWS, I64), before="analyze")
def porter(words, breaks, tables, rows, row_ends):
    """Stem words in place and return how many code points remain in `words`.

    `words` has the code points of the words; the code point `breaks` separates the words.

    Each row of `rows` says where a suffix and its replacement begin and end in `tables`. `row_ends` separates the rows
    of steps 2, 3 and 4.
    """
    step2, step3, step4 = rows[: row_ends[0]], rows[row_ends[0] : row_ends[1]], rows[row_ends[1] : row_ends[2]]
    out = i = np.int64(0)
    while i < len(words):
        start = i
        while i < len(words) and words[i] != breaks:
            i += 1
        k = i - 1
        if k - start >= 2:
            k = _stem(words, start, k, tables, step2, step3, step4)
        for x in range(start, k + 1):
            words[out] = words[x]
            out += 1
        if i < len(words):
            words[out] = breaks
            out += 1
        i += 1
    return out


@inner
def _stem(w, start, k, tables, step2, step3, step4):
    # Step 1a: plurals.
    if w[k] == 115:
        if (k - start >= 3 and w[k - 1] == 101 and w[k - 2] == 115 and w[k - 3] == 115) or (
            k - start >= 2 and w[k - 1] == 101 and w[k - 2] == 105
        ):
            k -= 2
        elif w[k - 1] != 115:
            k -= 1
    # Step 1b: -eed, -ed, -ing.
    if k - start >= 2 and w[k] == 100 and w[k - 1] == 101 and w[k - 2] == 101:
        if _measure(w, start, k - 3) > 0:
            k -= 1
    else:
        j = start - 2
        if k - start >= 1 and w[k] == 100 and w[k - 1] == 101:
            j = k - 2
        elif k - start >= 2 and w[k] == 103 and w[k - 1] == 110 and w[k - 2] == 105:
            j = k - 3
        if j >= start and _has_vowel(w, start, j):
            k = j
            pair = k > start
            if pair and (
                (w[k - 1] == 97 and w[k] == 116)
                or (w[k - 1] == 98 and w[k] == 108)
                or (w[k - 1] == 105 and w[k] == 122)
            ):
                k += 1
                w[k] = 101
            elif _double(w, start, k):
                if w[k] != 108 and w[k] != 115 and w[k] != 122:
                    k -= 1
            elif _measure(w, start, k) == 1 and _cvc(w, start, k):
                k += 1
                w[k] = 101
    # Step 1c: a final y after a vowel.
    if w[k] == 121 and _has_vowel(w, start, k - 1):
        w[k] = 105
    k = _replace(w, start, k, tables, step2, 0)
    k = _replace(w, start, k, tables, step3, 0)
    k = _residual(w, start, k, tables, step4)
    # Step 5: a final e, and a double l.
    if w[k] == 101:
        m = _measure(w, start, k - 1)
        if m > 1 or (m == 1 and not _cvc(w, start, k - 1)):
            k -= 1
    if w[k] == 108 and _double(w, start, k) and _measure(w, start, k - 1) > 1:
        k -= 1
    return k


@inner
def _residual(w, start, k, tables, step4):
    """Do step 4: remove the first suffix that ends word[start:k + 1]; return the new index of the word's last letter.

    The suffix stays if the letters before it have at most one vowel-consonant sequence. The suffix -ion is removed only
    after s or t.
    """
    for row in range(len(step4)):
        j = _ends(w, start, k, tables, step4[row, 0], step4[row, 1])
        if j >= start - 1:
            if step4[row, 2] > step4[row, 1] and (j < start or (w[j] != 115 and w[j] != 116)):
                continue
            return j if _measure(w, start, j) > 1 else k
    return k
