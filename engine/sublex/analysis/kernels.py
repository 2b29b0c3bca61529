"""Kernels of text analysis: cut text into raw tokens, number byte strings, and stem words with Porter's algorithm.

`analysis.tokens`, `analysis.interner` and `analysis.porter` call them. A byte string is described by its *key*, three
numbers: the first eight bytes, the next eight, and the length. Strings of up to sixteen bytes are equal exactly when
their keys are; longer ones need a comparison of the bytes that follow.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64, uint8, uint16, uint32, uint64
from numba.core.types import Array

from sublex.tools.compiled import inner, kernel

# The types of arguments.
U8 = uint8[::1]
U16 = uint16[::1]
U32 = uint32[::1]
U64 = uint64[::1]
I32 = int32[::1]
I64 = int64[::1]
TEXT = Array(uint8, 1, "C", readonly=True)
TABLE = Array(uint32, 1, "C", readonly=True)
ROWS = int64[:, ::1]
KEYS = uint64[:, ::1]

# Classes of bytes. The joiners, from COLON on, belong to a token only between the right neighbours (UAX 29, rules WB6,
# WB7, WB11 and WB12).
BREAK, LETTER, DIGIT, UNDERSCORE, HIGH, COLON, COMMA, DOT, QUOTE = range(9)

# Bytes that must follow the last string of an array: the kernels read sixteen bytes at a time.
SPARE = 16

U = np.uint64
EIGHT, SIXTEEN = U(8), U(16)
# Masks for a string's first eight bytes and for its next eight, by the string's length from 0 to 16.
LOW = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(17)], np.uint64)
HIGHER = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(17)], np.uint64)
MIX1, MIX2, PRIME = U(0x9E3779B97F4A7C15), U(0xBF58476D1CE4E5B9), U(0x100000001B3)
NEWLINE = np.uint8(10)


@inner
def _joins(kind, before, after):
    """Return whether a joiner of this class, between bytes of the two other classes, is inside a token.

    Next to a byte above ASCII the answer is yes: the kernel does not know the character, and the Unicode rules decide later.
    """
    if before == HIGH or after == HIGH:
        return kind != QUOTE or before == after
    if before == LETTER and after == LETTER:
        return kind == DOT or kind == COLON
    if before == DIGIT and after == DIGIT:
        return kind == DOT or kind == COMMA
    return False


@inner
def _breaking(text, i, end):
    """Return the bytes of the non-ASCII punctuation character at `i` if it can never be inside a word, else 0.

    These characters are dashes, quotes and spaces from U+2010 to U+2029, the no-break space, and the CJK space, comma and
    full stop (U+3000 to U+3002).
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


@inner
def _runs(text, begin, end, in_word, bounds):
    """Write to `bounds` where runs of word bytes start and end, in turn, and return how many entries were written.

    The pass over ASCII text has no branches.
    """
    n = 0
    before = np.uint8(0)
    seen = np.uint8(0)
    for i in range(U(begin), U(end)):
        now = in_word[text[i]]
        seen |= text[i]
        bounds[n] = i
        n += int(now ^ before)
        before = now
    if before:
        bounds[n] = end
        n += 1
    return n if seen < 128 else _runs_above_ascii(text, begin, end, in_word, bounds)


@inner
def _runs_above_ascii(text, begin, end, in_word, bounds):
    """Do the work of `_runs` for text with bytes above ASCII, where breaking punctuation ends a run."""
    n = 0
    before = np.uint8(0)
    i = begin
    while i < end:
        width = _breaking(text, i, end) if text[i] >= 128 else 0
        now = np.uint8(0) if width else in_word[text[i]]
        bounds[n] = i
        n += int(now ^ before)
        before = now
        i += max(width, 1)
    if before:
        bounds[n] = end
        n += 1
    return n


@inner
def _word8(text, i):
    """Return eight bytes as one number; the compiler turns this into one load."""
    i = U(i)
    return (
        U(text[i])
        | U(text[i + U(1)]) << U(8)
        | U(text[i + U(2)]) << U(16)
        | U(text[i + U(3)]) << U(24)
        | U(text[i + U(4)]) << U(32)
        | U(text[i + U(5)]) << U(40)
        | U(text[i + U(6)]) << U(48)
        | U(text[i + U(7)]) << U(56)
    )


@inner
def _head(text, start, length):
    """Return the first sixteen bytes of a string as two numbers, with zeros after the end of a shorter string."""
    wide = min(U(length), SIXTEEN)
    return _word8(text, start) & LOW[wide], _word8(text, start + 8) & HIGHER[wide]


@inner
def _hash(text, start, length, a, b):
    h = (a * MIX1) ^ ((b + U(length)) * MIX2)
    h = (h ^ (h >> U(32))) * MIX1
    for x in range(start + 16, start + length):
        h = (h ^ U(text[x])) * PRIME
    return h ^ (h >> U(29))


@kernel((TEXT, I64, U8, U8, I64, I32, KEYS, I64, U64, I32, I64, I64), before="analyze")
def tokenize(text, ends, classes, in_word, bounds, slots, keys, starts, hashes, tokens, token_ends, state):
    """Cut documents, laid end to end in `text`, into raw tokens, and number the distinct raw tokens from 0.

    Cut from a saved state on; return True if the table is full and must grow, False at the end of the text. `state` holds
    the document, the position in its runs, the number of runs, of distinct raw tokens and of occurrences. `in_word` says
    which bytes are in words, and `bounds` has room for the bytes of the longest document and 2 more. An ASCII raw token is a
    word; one with bytes above ASCII is a run of whole words.
    """
    doc, k, m, n, o = state[0], state[1], state[2], state[3], state[4]
    mask = U(len(slots) - 1)
    full = False
    while doc < len(ends):
        if k == 0:
            m = _runs(text, ends[doc - 1] if doc else 0, ends[doc], in_word, bounds)
        while k < m:
            if n == len(starts):
                full = True
                break
            start, end = bounds[k], bounds[k + 1]
            k += 2
            while k < m and bounds[k] == end + 1 and classes[text[end]] >= COLON:
                if not _joins(classes[text[end]], classes[text[end - 1]], classes[text[end + 1]]):
                    break
                end = bounds[k + 1]
                k += 2
            if classes[text[start]] == UNDERSCORE and _blank(text, start, end, classes):
                continue
            length = U(end - start)
            a, b = _head(text, start, length)
            h = _hash(text, start, end - start, a, b)
            j = h & mask
            while True:
                known = slots[j]
                if known < 0:
                    slots[j] = n
                    keys[n, 0], keys[n, 1], keys[n, 2], starts[n], hashes[n] = a, b, length, start, h
                    known = np.int32(n)
                    n += 1
                    break
                if keys[known, 0] == a and keys[known, 1] == b and keys[known, 2] == length:
                    if length <= SIXTEEN or _same(text, starts[known] + 16, text, start + 16, end - start - 16):
                        break
                j = (j + U(1)) & mask
            tokens[o] = known
            o += 1
        if full:
            break
        token_ends[doc] = o
        doc += 1
        k = 0
    state[0], state[1], state[2], state[3], state[4] = doc, k, m, n, o
    return full


@inner
def _blank(text, start, end, classes):
    """Return whether a run consists of underscores only."""
    for i in range(start, end):
        if classes[text[i]] != UNDERSCORE:
            return False
    return True


@inner
def _slots(hashes, n, size):
    """Return an open-addressing hash table, a power of two in size, of the first n entries."""
    slots = np.full(size, -1, np.int32)
    mask = U(size - 1)
    for k in range(n):
        j = hashes[k] & mask
        while slots[j] >= 0:
            j = (j + U(1)) & mask
        slots[j] = k
    return slots


@inner
def _same(a, i, b, j, length):
    for x in range(length):
        if a[i + x] != b[j + x]:
            return False
    return True


@kernel((U8, I64, I64), before="number-terms order-terms")
def describe(text, starts, lengths):
    """Return the keys and hashes of strings of a text; they equal those that `tokenize` computes. The text ends in SPARE bytes."""
    keys, hashes = np.empty((len(starts), 3), np.uint64), np.empty(len(starts), np.uint64)
    for k in range(len(starts)):
        a, b = _head(text, starts[k], lengths[k])
        keys[k, 0], keys[k, 1], keys[k, 2] = a, b, lengths[k]
        hashes[k] = _hash(text, starts[k], lengths[k], a, b)
    return keys, hashes


@kernel((TEXT, I64, KEYS, U64, I32, KEYS, U64, I64, U8, int64), before="number-terms order-terms")
def intern(text, starts, keys, hashes, slots, known_keys, known_hashes, ends, arena, n):
    """Return the numbers of byte strings, adding new strings to the table, and how many strings the table then holds.

    The caller has made room in all arrays. A newline follows each string in the arena, so new strings can be read as lines.
    """
    mask = U(len(slots) - 1)
    numbers = np.empty(len(starts), np.int32)
    for k in range(len(starts)):
        a, b, wide = keys[k, 0], keys[k, 1], keys[k, 2]
        length = int(wide)
        j = hashes[k] & mask
        while True:
            known = slots[j]
            if known < 0:
                begin = ends[n - 1] if n else 0
                for x in range(length):
                    arena[begin + x] = text[starts[k] + x]
                arena[begin + length] = NEWLINE
                ends[n] = begin + length + 1
                known_keys[n, 0], known_keys[n, 1], known_keys[n, 2] = a, b, wide
                known_hashes[n] = hashes[k]
                slots[j] = n
                known = np.int32(n)
                n += 1
                break
            if known_keys[known, 0] == a and known_keys[known, 1] == b and known_keys[known, 2] == wide:
                begin = ends[known - 1] if known and length > 16 else 0
                if length <= 16 or _same(arena, begin + 16, text, starts[k] + 16, length - 16):
                    break
            j = (j + U(1)) & mask
        numbers[k] = known
    return numbers, n


@kernel((U64, int64, int64), before="order-terms")
def refill(hashes, n, size):
    """Return a hash table of the given size for `intern`."""
    return _slots(hashes, n, size)


@inner
def _swapped(x):
    """Return eight bytes in the opposite order, so that numbers compare as their bytes do."""
    x = (x & U(0x00FF00FF00FF00FF)) << U(8) | (x >> U(8)) & U(0x00FF00FF00FF00FF)
    x = (x & U(0x0000FFFF0000FFFF)) << U(16) | (x >> U(16)) & U(0x0000FFFF0000FFFF)
    return x << U(32) | x >> U(32)


@inner
def _precedes(x, y, keys, ends, arena):
    """Return whether string x comes before string y in the order of bytes; their first eight bytes are equal."""
    a, b = _swapped(keys[x, 1]), _swapped(keys[y, 1])
    if a != b:
        return a < b
    begin, other = (ends[x - 1] if x else 0), (ends[y - 1] if y else 0)
    length, least = int64(keys[x, 2]), int64(min(keys[x, 2], keys[y, 2]))
    for i in range(16, least):
        if arena[begin + i] != arena[other + i]:
            return arena[begin + i] < arena[other + i]
    return length == least and length < int64(keys[y, 2])


@kernel((I64, U64, KEYS, I64, U8), before="order-terms")
def sort_alike(numbers, heads, keys, ends, arena):
    """Sort the numbers of distinct strings by the strings' bytes; they are sorted by the first eight bytes, `heads`.

    `keys`, `ends` and `arena` hold the strings, as `intern` wrote them. Strings with the same head are merge-sorted.
    """
    spare = np.empty(len(numbers), np.int64)
    begin = 0
    while begin < len(numbers):
        end = begin + 1
        while end < len(numbers) and heads[end] == heads[begin]:
            end += 1
        width = 1
        while width < end - begin:
            for low in range(begin, end, 2 * width):
                i, middle, high = low, min(low + width, end), min(low + 2 * width, end)
                j = middle
                for o in range(low, high):
                    if j == high or (i < middle and not _precedes(numbers[j], numbers[i], keys, ends, arena)):
                        spare[o] = numbers[i]
                        i += 1
                    else:
                        spare[o] = numbers[j]
                        j += 1
            numbers[begin:end] = spare[begin:end]
            width *= 2
        begin = end


@kernel((I64, I64, I64, U8, U8), before="order-terms")
def copy_strings(numbers, sizes, ends, arena, out):
    """Copy strings of a table to `out`, end to end; string numbers[k] has sizes[k] bytes."""
    o = np.int64(0)
    for k in range(len(numbers)):
        begin = ends[numbers[k] - 1] if numbers[k] > 0 else 0
        for i in range(sizes[k]):
            out[o + i] = arena[begin + i]
        o += sizes[k]


# Porter's algorithm (1980) with Lucene's departures: words of one or two letters stay, `bli` becomes `ble`, `logi` becomes `log`.
# A word is word[start:k + 1], an array of code points; k changes as suffixes are removed. The paper calls _measure m.


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
    """Return m, the number of vowel-consonant sequences in word[start:j + 1]."""
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
    """Return the index before the suffix if word[start:k + 1] ends in suffix[a:b], else start - 2."""
    length = b - a
    if length > k - start + 1:
        return start - 2
    for x in range(length):
        if word[k + 1 - length + x] != suffix[a + x]:
            return start - 2
    return k - length


@inner
def _replace(word, start, k, table, bounds, least):
    """Find the first suffix of the table that ends the word, and replace it if the stem's m exceeds `least`; return the new k."""
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


@kernel((U32, uint32, TABLE, ROWS, I64), before="analyze")
def porter(words, breaks, tables, rows, row_ends):
    """Stem words of code points, separated by `breaks`, in place; return how many code points remain.

    Each row of `rows` says where a suffix and its replacement begin and end in `tables`. `row_ends` separates the rows of
    steps 2, 3 and 4.
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
    """Do step 4: remove the first suffix that ends the word if m exceeds 1 (-ion only after s or t); return the new k."""
    for row in range(len(step4)):
        j = _ends(w, start, k, tables, step4[row, 0], step4[row, 1])
        if j >= start - 1:
            if step4[row, 2] > step4[row, 1] and (j < start or (w[j] != 115 and w[j] != 116)):
                continue
            return j if _measure(w, start, j) > 1 else k
    return k


# Kinds of break, as in `sublex.contracts.base.Break`.
HYPHEN, DASH, OTHER, START = 1, 2, 128, 256


@inner
def _character(text, i):
    """Return the code point of the character at `i` and its number of bytes; `text` is UTF-8."""
    c = int64(text[i])
    if c < 0x80:
        return c, 1
    if c < 0xE0:
        return (c & 0x1F) << 6 | int64(text[i + 1]) & 0x3F, 2
    if c < 0xF0:
        return (c & 0x0F) << 12 | (int64(text[i + 1]) & 0x3F) << 6 | int64(text[i + 2]) & 0x3F, 3
    return int64(0x10000), 4


@kernel((TEXT, I64, I64, U16, I32, I64, KEYS, I64, U16))
def mark_breaks(text, ends, titles, kinds, numbers, token_ends, keys, starts, marks):
    """Set `marks`, one for each occurrence of a raw token, to the kinds of break before it.

    The arguments are those of `tokenize` and its results. `titles` has the bytes of each document's title, and `kinds` the kind of break
    of each character up to U+FFFF.
    """
    o = 0
    for doc in range(len(ends)):
        at = ends[doc - 1] if doc else 0
        title_end = at + titles[doc] if titles[doc] else np.int64(-1)
        mark = START
        while o < token_ends[doc]:
            first, length = starts[numbers[o]], int64(keys[numbers[o], 2])
            begin, characters, newlines = at, 0, 0
            while at < ends[doc] and not (text[at] == text[first] and _same(text, first, text, at, length)):
                point, width = _character(text, at)
                kind = kinds[point] if point < len(kinds) else OTHER
                # An empty line is two line ends with nothing but white space between them.
                newlines = 0 if kind else newlines + (text[at] == NEWLINE)
                mark |= START if newlines > 1 else kind
                characters += 1
                at += width
            if characters == 1 and mark & DASH:
                mark ^= HYPHEN | DASH
            if begin <= title_end <= at:
                mark |= START
            marks[o] = mark
            mark = 0
            at += length
            o += 1
