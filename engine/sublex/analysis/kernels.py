"""Kernels of the analysis: cutting text into raw tokens, interning byte strings, Porter's stemmer as Lucene has it."""

from __future__ import annotations

import numpy as np
from numba import njit

# Classes of bytes. A joiner belongs to a token only between the right neighbours (UAX 29, rules WB6, 7, 11 and 12).
BREAK, LETTER, DIGIT, UNDERSCORE, HIGH, COLON, COMMA, DOT, QUOTE = range(9)

SEED = np.uint64(0x9E3779B97F4A7C15)
PRIME = np.uint64(0x100000001B3)
NEWLINE = np.uint8(10)


@njit(cache=True, nogil=True)
def _joins(kind, before, after):
    """Whether a joiner of this kind stands inside a token, between bytes of these two classes.

    Next to a byte above ASCII the answer is yes: the character is not known here, and the Unicode rules decide later.
    """
    if before == BREAK or after == BREAK or before >= COLON or after >= COLON:
        return False
    if before == HIGH or after == HIGH:
        return kind != QUOTE or before == after
    if before == LETTER and after == LETTER:
        return kind == DOT or kind == COLON
    if before == DIGIT and after == DIGIT:
        return kind == DOT or kind == COMMA
    return False


@njit(cache=True, nogil=True)
def _breaking(text, i, end):
    """The length of the punctuation character above ASCII that starts at `i` and never stands inside a word, else 0.

    Dashes, quotes, spaces and the like of U+2010 to U+2029, the no-break space, and the CJK comma and full stop.
    """
    c = text[i]
    if c == 0xE2 and i + 2 < end and text[i + 1] == 0x80:
        x = text[i + 2]
        if 0x90 <= x <= 0xA9 and x != 0x98 and x != 0x99 and x != 0xA4 and x != 0xA7:
            return 3
    elif c == 0xC2 and i + 1 < end and text[i + 1] == 0xA0:
        return 2
    elif c == 0xE3 and i + 2 < end and text[i + 1] == 0x80 and 0x80 <= text[i + 2] <= 0x82:
        return 3
    return 0


@njit(cache=True, nogil=True)
def tokenize(text, ends, classes):
    """Raw tokens of documents laid end to end: a number for each token met, and the bytes of each distinct one once.

    Returns the tokens, where each document's tokens end, and the starts, lengths and hashes of the distinct ones. A raw
    token is a word, or, where bytes above ASCII take part, a run that holds whole words.
    """
    slots = np.full(1 << 12, -1, np.int32)
    starts, lengths, hashes = np.empty(1 << 11, np.int64), np.empty(1 << 11, np.int32), np.empty(1 << 11, np.uint64)
    tokens = np.empty(len(text) // 2 + len(ends) + 1, np.int32)
    token_ends = np.empty(len(ends), np.int64)
    doc = i = n = o = 0
    while True:
        doc, i, n, o = _tokenize(text, ends, classes, slots, starts, lengths, hashes, tokens, token_ends, doc, i, n, o)
        if doc == len(ends):
            break
        starts, lengths, hashes = _doubled(starts), _doubled(lengths), _doubled(hashes)
        slots = _slots(hashes, n, 4 * n)
    return tokens[:o].copy(), token_ends, starts[:n].copy(), lengths[:n].copy(), hashes[:n].copy()


@njit(cache=True, nogil=True)
def _tokenize(text, ends, classes, slots, starts, lengths, hashes, tokens, token_ends, doc, i, n, o):
    """Go on from a state until the text ends or the table is full; arrays are not replaced here, which keeps the loop fast."""
    mask = np.uint64(len(slots) - 1)
    room = len(starts)
    while doc < len(ends):
        end = ends[doc]
        while i < end:
            kind = classes[text[i]]
            if kind == BREAK or kind >= COLON:
                i += 1
                continue
            if n == room:
                return doc, i, n, o
            start = i
            h = SEED
            word = False
            while i < end:
                c = text[i]
                kind = classes[c]
                if kind == LETTER or kind == DIGIT:
                    word = True
                elif kind == BREAK:
                    break
                elif kind >= COLON:
                    if i == start or i + 1 >= end or not _joins(kind, classes[text[i - 1]], classes[text[i + 1]]):
                        break
                    if _breaking(text, i + 1, end):
                        break
                elif kind == HIGH:
                    if _breaking(text, i, end):
                        break
                    word = True
                h = (h ^ np.uint64(c)) * PRIME
                i += 1
            length = i - start
            if i < end and classes[text[i]] == HIGH:
                i += _breaking(text, i, end)
            if not word:
                continue
            h ^= h >> np.uint64(32)
            j = h & mask
            while True:
                known = slots[j]
                if known < 0:
                    slots[j] = n
                    starts[n], lengths[n], hashes[n] = start, length, h
                    known = n
                    n += 1
                    break
                if hashes[known] == h and lengths[known] == length and _same(text, starts[known], text, start, length):
                    break
                j = (j + np.uint64(1)) & mask
            tokens[o] = known
            o += 1
        token_ends[doc] = o
        doc += 1
    return doc, i, n, o


@njit(cache=True, nogil=True)
def _doubled(values):
    longer = np.empty(2 * len(values), values.dtype)
    longer[: len(values)] = values
    return longer


@njit(cache=True, nogil=True)
def _slots(hashes, n, size):
    """An open-addressing table of the first n entries."""
    slots = np.full(size, -1, np.int32)
    mask = np.uint64(size - 1)
    for k in range(n):
        j = hashes[k] & mask
        while slots[j] >= 0:
            j = (j + np.uint64(1)) & mask
        slots[j] = k
    return slots


@njit(cache=True, nogil=True)
def _same(a, i, b, j, length):
    for x in range(length):
        if a[i + x] != b[j + x]:
            return False
    return True


@njit(cache=True, nogil=True)
def hash_strings(text, starts, lengths):
    """The hash that `tokenize` gives, for any byte strings."""
    hashes = np.empty(len(starts), np.uint64)
    for k in range(len(starts)):
        h = SEED
        for x in range(starts[k], starts[k] + lengths[k]):
            h = (h ^ np.uint64(text[x])) * PRIME
        hashes[k] = h ^ (h >> np.uint64(32))
    return hashes


@njit(cache=True, nogil=True)
def intern(text, starts, lengths, hashes, slots, known_hashes, ends, arena, n):
    """Number byte strings by first appearance, adding the new ones to the table; the caller has made room.

    Each string in the arena is followed by a newline, so that what is new can be read in one go.
    """
    mask = np.uint64(len(slots) - 1)
    numbers = np.empty(len(starts), np.int32)
    for k in range(len(starts)):
        h, length = hashes[k], lengths[k]
        j = h & mask
        while True:
            known = slots[j]
            if known < 0:
                begin = ends[n - 1] if n else 0
                for x in range(length):
                    arena[begin + x] = text[starts[k] + x]
                arena[begin + length] = NEWLINE
                ends[n] = begin + length + 1
                known_hashes[n] = h
                slots[j] = n
                known = n
                n += 1
                break
            if known_hashes[known] == h:
                begin = ends[known - 1] if known else 0
                if ends[known] - begin - 1 == length and _same(arena, begin, text, starts[k], length):
                    break
            j = (j + np.uint64(1)) & mask
        numbers[k] = known
    return numbers, n


@njit(cache=True, nogil=True)
def refill(hashes, n, size):
    """A larger table for `intern`."""
    return _slots(hashes, n, size)


# Porter's algorithm (1980) with Lucene's departures: words of one or two letters stay, `bli` becomes `ble`, `logi` becomes `log`.
# A word is word[start:k + 1]; suffixes are tables of code points.


@njit(cache=True, nogil=True)
def _consonant(word, start, i):
    c = word[i]
    if c == 97 or c == 101 or c == 105 or c == 111 or c == 117:
        return False
    if c == 121:
        return i == start or not _consonant(word, start, i - 1)
    return True


@njit(cache=True, nogil=True)
def _measure(word, start, j):
    """How many vowel-consonant sequences stand in word[start:j + 1]."""
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


@njit(cache=True, nogil=True)
def _has_vowel(word, start, j):
    for i in range(start, j + 1):
        if not _consonant(word, start, i):
            return True
    return False


@njit(cache=True, nogil=True)
def _double(word, start, j):
    return j > start and word[j] == word[j - 1] and _consonant(word, start, j)


@njit(cache=True, nogil=True)
def _cvc(word, start, i):
    if i < start + 2 or not _consonant(word, start, i) or _consonant(word, start, i - 1) or not _consonant(word, start, i - 2):
        return False
    return word[i] != 119 and word[i] != 120 and word[i] != 121


@njit(cache=True, nogil=True)
def _ends(word, start, k, suffix, a, b):
    """The index before the suffix suffix[a:b] when word[start:k + 1] ends in it, else a number below start - 1."""
    length = b - a
    if length > k - start + 1:
        return start - 2
    for x in range(length):
        if word[k + 1 - length + x] != suffix[a + x]:
            return start - 2
    return k - length


@njit(cache=True, nogil=True)
def _replace(word, start, k, table, bounds, least):
    """Take the first row (suffix, replacement) of the table that ends the word; replace it when the stem's measure exceeds `least`."""
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


@njit(cache=True, nogil=True)
def porter(words, breaks, tables, rows, row_ends):
    """Stem words of code points separated by `breaks`, in place; returns how many code points remain.

    `rows` bounds each suffix and its replacement in `tables`; steps 2, 3 and 4 are its three groups.
    """
    step2, step3, step4 = rows[: row_ends[0]], rows[row_ends[0] : row_ends[1]], rows[row_ends[1] : row_ends[2]]
    out = 0
    i = 0
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


@njit(cache=True, nogil=True)
def _stem(w, start, k, tables, step2, step3, step4):
    # Step 1a: plurals.
    if w[k] == 115:
        if k - start >= 3 and w[k - 1] == 101 and w[k - 2] == 115 and w[k - 3] == 115:
            k -= 2
        elif k - start >= 2 and w[k - 1] == 101 and w[k - 2] == 105:
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
            if pair and ((w[k - 1] == 97 and w[k] == 116) or (w[k - 1] == 98 and w[k] == 108) or (w[k - 1] == 105 and w[k] == 122)):
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


@njit(cache=True, nogil=True)
def _residual(w, start, k, tables, step4):
    """Step 4: the first suffix that fits goes when the measure exceeds 1; -ion only after s or t."""
    for row in range(len(step4)):
        j = _ends(w, start, k, tables, step4[row, 0], step4[row, 1])
        if j >= start - 1:
            if step4[row, 2] > step4[row, 1] and (j < start or (w[j] != 115 and w[j] != 116)):
                continue
            return j if _measure(w, start, j) > 1 else k
    return k
