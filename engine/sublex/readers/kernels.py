"""Kernels that cut JSON lines into documents: from bytes to arrays of docnos, contents and other fields.

`scan` is called by `readers.jsonl`. It takes plain well-formed records only and marks every other line as odd; Python's
`json` then decides what an odd line means.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, uint8
from numba.core.types import Array

from sublex.compiled import inner, kernel

# The types of arguments.
U8 = uint8[::1]
I64 = int64[::1]
TEXT = Array(uint8, 1, "C", readonly=True)

QUOTE, BACKSLASH, COMMA, COLON = 34, 92, 44, 58
OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET = 123, 125, 91, 93
NEWLINE = 10
# Digits of a whole number from which a line is odd: Python refuses to read slightly longer ones.
DIGITS = 4000
# Bytes that follow the contents, because the tokenizer reads ahead.
SPARE = 16


@inner
def _skip_space(buf, i, end):
    while i < end and (buf[i] == 32 or buf[i] == 9 or buf[i] == 13):
        i += 1
    return i


@inner
def _marks(buf, special):
    """Return the places of quotes, backslashes and control characters, and of the end. The loop has no branch."""
    marks = np.empty(len(buf) + 1, np.int64)
    n = 0
    for i in range(np.uint64(len(buf))):
        marks[n] = i
        n += special[buf[i]]
    marks[n] = len(buf)
    return marks[: n + 1].copy()


@inner
def _string_end(buf, i, end, marks, m):
    """Return the place of the quote that closes the string whose first byte is at `i`, or -1 if the string is odd.

    Return also the place in `marks` to go on from, and whether the string has escapes.
    """
    escaped = False
    while True:
        while marks[m] < i:
            m += 1
        at = marks[m]
        if at >= end:
            return -1, m, escaped
        if buf[at] == QUOTE:
            return at, m, escaped
        if buf[at] != BACKSLASH:
            return -1, m, escaped
        escaped = True
        i = min(at + 2, end)


@inner
def _nested_end(buf, i, end, marks, m):
    """Return the index after the bracket that closes the one at `i`, or -1 if no bracket does."""
    depth = 0
    while i < end:
        c = buf[i]
        if c == QUOTE:
            i, m, _ = _string_end(buf, i + 1, end, marks, m)
            if i < 0:
                return -1
        elif c == OPEN_BRACE or c == OPEN_BRACKET:
            depth += 1
        elif c == CLOSE_BRACE or c == CLOSE_BRACKET:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return -1


@inner
def _digits_end(buf, i, end):
    while i < end and 48 <= buf[i] <= 57:
        i += 1
    return i


@inner
def _plain_end(buf, i, end):
    """Return the index after a natural number, `true`, `false` or `null` at `i`, or -1 for anything else."""
    c = buf[i]
    if c == 116 and i + 4 <= end and buf[i + 1] == 114 and buf[i + 2] == 117 and buf[i + 3] == 101:
        return i + 4
    if c == 110 and i + 4 <= end and buf[i + 1] == 117 and buf[i + 2] == 108 and buf[i + 3] == 108:
        return i + 4
    if c == 102 and i + 5 <= end and buf[i + 1] == 97 and buf[i + 2] == 108 and buf[i + 3] == 115 and buf[i + 4] == 101:
        return i + 5
    if c == 48:
        return i + 1
    stop = _digits_end(buf, i, end)
    return stop if 0 < stop - i < DIGITS else -1


@inner
def _hex4(buf, i, end):
    """Return the value of four hexadecimal digits at `i`, or -1."""
    value = 0
    if i + 4 > end:
        return -1
    for j in range(i, i + 4):
        c = buf[j]
        if 48 <= c <= 57:
            value = value * 16 + c - 48
        elif 97 <= c <= 102:
            value = value * 16 + c - 87
        elif 65 <= c <= 70:
            value = value * 16 + c - 55
        else:
            return -1
    return value


@inner
def _put_code(out, o, code):
    """Write a code point to `out` in UTF-8 and return the index after it."""
    if code < 0x80:
        out[o] = code
        return o + 1
    if code < 0x800:
        out[o] = 0xC0 | (code >> 6)
        out[o + 1] = 0x80 | (code & 63)
        return o + 2
    if code < 0x10000:
        out[o] = 0xE0 | (code >> 12)
        out[o + 1] = 0x80 | ((code >> 6) & 63)
        out[o + 2] = 0x80 | (code & 63)
        return o + 3
    out[o] = 0xF0 | (code >> 18)
    out[o + 1] = 0x80 | ((code >> 12) & 63)
    out[o + 2] = 0x80 | ((code >> 6) & 63)
    out[o + 3] = 0x80 | (code & 63)
    return o + 4


@inner
def _string(buf, span, out, o):
    """Write the characters of a string field to `out`; return the index after them, or -1 if an escape is odd."""
    begin, size = span[2], span[3] - span[2]
    if span[4]:
        return _unescape(buf, begin, span[3], out, o)
    for x in range(size):
        out[o + x] = buf[begin + x]
    return o + size


@inner
def _unescape(buf, i, end, out, o):
    """Write a string with escapes to `out`; return the index after it, or -1 if an escape is not JSON or half a surrogate pair."""
    while i < end:
        c = buf[i]
        if c != BACKSLASH:
            out[o] = c
            o += 1
            i += 1
            continue
        if i + 1 >= end:
            return -1
        c = buf[i + 1]
        i += 2
        if c == QUOTE or c == BACKSLASH or c == 47:
            code = np.int64(c)
        elif c == 98:
            code = 8
        elif c == 102:
            code = 12
        elif c == 110:
            code = 10
        elif c == 114:
            code = 13
        elif c == 116:
            code = 9
        elif c == 117:
            code = _hex4(buf, i, end)
            i += 4
            if 0xD800 <= code < 0xE000:
                if code >= 0xDC00 or i + 6 > end or buf[i] != BACKSLASH or buf[i + 1] != 117:
                    return -1
                low = _hex4(buf, i + 2, end)
                if low < 0xDC00 or low >= 0xE000:
                    return -1
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                i += 6
        else:
            code = -1
        if code < 0:
            return -1
        o = _put_code(out, o, code)
    return o


@inner
def _alias(buf, start, stop, names, name_ends):
    """Return which of the names buf[start:stop] is, or -1."""
    begin = 0
    for k in range(len(name_ends)):
        finish = name_ends[k]
        if finish - begin == stop - start:
            same = True
            for j in range(stop - start):
                if names[begin + j] != buf[start + j]:
                    same = False
                    break
            if same:
                return k
        begin = finish
    return -1


@inner
def _fields(buf, i, end, trusted, spans, marks, m):
    """Write (key start, key end, value start, value end, escaped) of each field of the object at `i` to `spans`.

    Return the number of fields, or -1 for an odd record. The value of a string is what its quotes enclose, and the key end
    is negated to mark it. A `trusted` object is canonical: only its structure is read, not the form of its values.
    """
    n = 0
    if buf[i] != OPEN_BRACE:
        return -1
    i = _skip_space(buf, i + 1, end)
    if i < end and buf[i] == CLOSE_BRACE:
        return -1 if _skip_space(buf, i + 1, end) < end else 0
    while i < end:
        if buf[i] != QUOTE or n == len(spans):
            return -1
        key = i + 1
        key_end = key
        while key_end < end and buf[key_end] != QUOTE:
            if buf[key_end] < 32 or (buf[key_end] == BACKSLASH and not trusted):
                return -1
            if buf[key_end] == BACKSLASH:
                key_end += 1
            key_end += 1
        i = _skip_space(buf, key_end + 1, end)
        if i >= end or buf[i] != COLON:
            return -1
        i = _skip_space(buf, i + 1, end)
        if i >= end:
            return -1
        spans[n, 0], spans[n, 1] = key, key_end
        c = buf[i]
        if c == QUOTE:
            stop, m, escaped = _string_end(buf, i + 1, end, marks, m)
            if stop < 0:
                return -1
            spans[n, 1], spans[n, 2], spans[n, 3], spans[n, 4] = -key_end, i + 1, stop, escaped
            i = stop + 1
        else:
            if c == OPEN_BRACE or c == OPEN_BRACKET:
                stop = _nested_end(buf, i, end, marks, m)
                if not trusted and (stop != i + 2 or buf[i + 1] != c + 2):
                    return -1
            elif trusted:
                stop = i
                while stop < end and buf[stop] != COMMA and buf[stop] != CLOSE_BRACE:
                    stop += 1
            else:
                stop = _plain_end(buf, i, end)
            if stop < 0:
                return -1
            spans[n, 2], spans[n, 3], spans[n, 4] = i, stop, False
            i = stop
        n += 1
        i = _skip_space(buf, i, end)
        if i >= end:
            return -1
        if buf[i] == CLOSE_BRACE:
            return -1 if _skip_space(buf, i + 1, end) < end else n
        if buf[i] != COMMA:
            return -1
        i = _skip_space(buf, i + 1, end)
    return -1


@inner
def _choose(buf, spans, n, names, name_ends, first, last):
    """Return the field with the earliest of names[first:last], and which name; (-1, -1) for none, (-2, -2) if a name is repeated."""
    best, which = -1, -1
    for f in range(n):
        k = _alias(buf, spans[f, 0], abs(spans[f, 1]), names, name_ends)
        if first <= k < last:
            if k == which:
                return -2, -2
            if which < 0 or k < which:
                best, which = f, k
    return best, which


@inner
def _visible(data, start, end):
    """Return whether data[start:end] has a printable ASCII character other than white space."""
    for i in range(start, end):
        if 32 < data[i] < 127:
            return True
    return False


@kernel((TEXT, U8, TEXT, I64, int64, int64, int64, boolean))
def scan(buf, special, names, name_ends, ids, texts, capacity, trusted):
    """Cut records, one per line, into arrays of docnos, contents and other fields.

    `names` holds `ids` aliases of the id, then `texts` aliases of the text, then the title's name. `special` marks the
    bytes that end or interrupt a JSON string. A record with more than `capacity` fields is odd. For `trusted` lines, see
    `_fields`.

    Return, in this order: docnos and their ends; contents, with spare bytes, and their ends; the bytes of each title;
    other fields and their ends; how often each name was used; the odd lines as rows of (number, start, end).
    """
    size = len(buf)
    marks = _marks(buf, special)
    lines = 1
    for m in range(len(marks) - 1):
        lines += buf[marks[m]] == NEWLINE
    docnos, docno_ends = np.empty(size, np.uint8), np.empty(lines, np.int64)
    text, text_ends = np.empty(size + lines + SPARE, np.uint8), np.empty(lines, np.int64)
    extra, extra_ends = np.empty(size + 2 * lines, np.uint8), np.empty(lines, np.int64)
    titles = np.empty(lines, np.int32)
    used = np.zeros(len(name_ends), np.int64)
    odd = np.empty((lines, 3), np.int64)
    spans = np.empty((capacity, 5), np.int64)
    chosen = np.empty(3, np.int64)
    served = np.empty(3, np.int64)
    n = n_odd = number = d = t = e = start = first = m = np.int64(0)
    while start < size:
        while m < len(marks) - 1 and buf[marks[m]] != NEWLINE:
            m += 1
        end = marks[m]
        begin = _skip_space(buf, start, end)
        if begin < end:
            fields = _fields(buf, begin, end, trusted, spans, marks, first)
            ok = fields > 0 and _roles(buf, spans, fields, names, name_ends, ids, texts, chosen, served)
            if ok:
                d2 = _string(buf, spans[chosen[0]], docnos, d)
                t2, title = _contents(buf, spans, chosen, text, t)
                ok = t2 >= 0 and (trusted or (_visible(docnos, d, d2) and _readable(buf, spans, fields, extra, e)))
            if ok:
                d, t = d2, t2
                for role in range(3):
                    if chosen[role] >= 0:
                        used[served[role]] += 1
                e = _others(buf, spans, fields, chosen, extra, e)
                docno_ends[n], text_ends[n], extra_ends[n], titles[n] = d, t, e, title
                n += 1
            else:
                odd[n_odd, 0], odd[n_odd, 1], odd[n_odd, 2] = number, start, end
                n_odd += 1
        number += 1
        start = end + 1
        m += 1
        first = min(m, len(marks) - 1)
    return (docnos[:d].copy(), docno_ends[:n].copy(), text[: t + SPARE], text_ends[:n].copy(), titles[:n].copy(),
            extra[:e].copy(), extra_ends[:n].copy(), used, odd[:n_odd].copy())  # fmt: skip


@inner
def _roles(buf, spans, fields, names, name_ends, ids, texts, chosen, served):
    """Write to `chosen` the fields that are docno, text and title, and to `served` their names; return False for an odd record."""
    chosen[0], served[0] = _choose(buf, spans, fields, names, name_ends, np.int64(0), ids)
    chosen[1], served[1] = _choose(buf, spans, fields, names, name_ends, ids, ids + texts)
    chosen[2], served[2] = _choose(buf, spans, fields, names, name_ends, ids + texts, ids + texts + 1)
    if chosen[0] < 0 or chosen[1] == -2 or chosen[2] == -2 or (chosen[1] < 0 and chosen[2] < 0):
        return False
    docno = spans[chosen[0]]
    if docno[2] == docno[3] or not (docno[1] < 0 or 48 <= buf[docno[2]] <= 57):
        return False
    return (chosen[1] < 0 or spans[chosen[1], 1] < 0) and (chosen[2] < 0 or spans[chosen[2], 1] < 0)


@inner
def _contents(buf, spans, chosen, text, t):
    """Write title, newline and text from `t` on; return the index after them, or -1, and the bytes of the title."""
    title = 0
    o = t
    if chosen[2] >= 0:
        o = _string(buf, spans[chosen[2]], text, o)
        title = o - t
        if title > 0:
            text[o] = NEWLINE
            o += 1
    if chosen[1] >= 0 and o >= 0:
        o = _string(buf, spans[chosen[1]], text, o)
    return o, title


@inner
def _readable(buf, spans, fields, scratch, at):
    """Return whether every escape of the record can be read; `scratch` is overwritten from `at` on."""
    for f in range(fields):
        if spans[f, 4] and _unescape(buf, spans[f, 2], spans[f, 3], scratch, at) < 0:
            return False
    return True


@inner
def _others(buf, spans, fields, chosen, extra, e):
    """Write the fields without a role as a JSON object, or nothing if there are none; return the index after it."""
    begin = e
    for f in range(fields):
        if f == chosen[0] or f == chosen[1] or f == chosen[2]:
            continue
        extra[e] = OPEN_BRACE if e == begin else COMMA
        e += 1
        for j in range(spans[f, 0] - 1, spans[f, 3] + (1 if spans[f, 1] < 0 else 0)):
            extra[e] = buf[j]
            e += 1
    if e > begin:
        extra[e] = CLOSE_BRACE
        e += 1
    return e
