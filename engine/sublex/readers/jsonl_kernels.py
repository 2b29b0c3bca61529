"""Kernels that read the documents of JSON lines into arrays of docnos, contents and other fields.

`scan` is called by `readers.jsonl`. It reads only plain well-formed records, and marks every other line as odd.
Python's `json` then reads the odd lines.

The functions read the bytes `buf`, from `i` up to `end`, and write to an array from an index such as `o` on. `tables`
has the meanings of bytes, and `marks` the places of quotes, backslashes and control characters; `m` is a place in
`marks`. `spans` has a row for each field of the record, as `_fields` writes it. `chosen` has the numbers that `_roles`
writes.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int64, uint8

from sublex.tools.compiled import I64, STORED_U8, U8, inner, kernel

# The types of arguments.
TABLE = int64[:, ::1]
BYTES = uint8[:, ::1]

QUOTE, BACKSLASH, COMMA, COLON = 34, 92, 44, 58
OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET = 123, 125, 91, 93
NEWLINE, LETTER_U = 10, 117
# The rows of `tables` have a value for each byte. Row 0: whether the byte ends or interrupts a string. Row 1: the
# character that it means after a backslash, or 0. Row 2: its value as a hexadecimal digit, or 255.
SPECIAL, ESCAPE, HEX = 0, 1, 2
# The number of bytes that are searched together for special bytes.
WIDE = 64
# Eight bytes as one number: the lowest byte, all bytes 1, their highest bits, and eight backslashes.
U = np.uint64
BYTE, ONES, HIGHS, BACKSLASHES = U(0xFF), U(0x0101010101010101), U(0x8080808080808080), U(0x5C5C5C5C5C5C5C5C)
# A line is odd if a whole number in it has this number of digits. Python refuses to read slightly longer numbers.
DIGITS = 4000


@inner
def _skip_space(buf, i, end):
    while i < end and (buf[i] == 32 or buf[i] == 9 or buf[i] == 13):
        i += 1
    return i


@inner
def _marks(buf, tables, marks):
    """Write the places of special bytes to `marks`, followed by the size of `buf`.

    Return the number of special bytes. Special bytes are quotes, backslashes and control characters.
    """
    n, i, end, wide = np.uint64(0), np.uint64(0), np.uint64(len(buf)), np.uint64(WIDE)
    while i < end:
        stop = min(i + wide, end)
        special = stop < i + wide
        if not special:
            # The compiler turns this loop into vector instructions. Most pieces have no special byte.
            found = np.uint8(0)
            for x in range(WIDE):
                c = buf[i + np.uint64(x)]
                found |= np.uint8((c < 32) | (c == QUOTE) | (c == BACKSLASH))
            special = found != 0
        if special:
            for x in range(i, stop):
                # To avoid a branch, every place is written. If the byte is not special, the next place overwrites it.
                marks[n] = x
                n += tables[SPECIAL, buf[x]]
        i = stop
    marks[n] = len(buf)
    return np.int64(n)


@inner
def _string_end(buf, i, end, marks, m):
    """Return the place of the closing quote of the string that begins at `i`, or -1 if the string is odd.

    `marks` has the places of special bytes; the search in it begins at `marks[m]`. Also return the place in `marks` to
    continue from, and whether the string has escapes.
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
    """Return the index after the closing bracket for the bracket at `i`, or -1 if it is not closed."""
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
    stop = i
    while stop < end and 48 <= buf[stop] <= 57:
        stop += 1
    return stop if 0 < stop - i < DIGITS else -1


@inner
def _hex4(buf, i, end, tables):
    """Return the value of four hexadecimal digits at `i`, or -1."""
    if i + 4 > end:
        return -1
    value = np.int64(0)
    for j in range(i, i + 4):
        digit = tables[HEX, buf[j]]
        if digit > 15:
            return -1
        value = value * 16 + digit
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
def _copy(buf, i, end, out, o):
    """Copy buf[i:end] to `out` and return the index after it."""
    for x in range(end - i):
        out[o + x] = buf[i + x]
    return o + end - i


@inner
def _string(buf, spans, f, out, o, tables):
    """Write the characters of the string field `f` to `out`, from index `o` on.

    Return the index after them, or -1 if an escape is invalid.
    """
    if spans[f, 4]:
        return _unescape(buf, spans[f, 2], spans[f, 3], out, o, tables)
    return _copy(buf, spans[f, 2], spans[f, 3], out, o)


@inner
def _copy_plain(buf, i, end, out, o):
    """Copy buf[i:end] up to its first backslash.

    Return the two indexes after the copied bytes, in `buf` and in `out`.

    Up to seven further bytes are overwritten, too. `out` has room for all bytes up to `end`.
    """
    while i + 8 <= end:
        a, z = U(i), U(o)
        word = (
            U(buf[a])
            | U(buf[a + U(1)]) << U(8)
            | U(buf[a + U(2)]) << U(16)
            | U(buf[a + U(3)]) << U(24)
            | U(buf[a + U(4)]) << U(32)
            | U(buf[a + U(5)]) << U(40)
            | U(buf[a + U(6)]) << U(48)
            | U(buf[a + U(7)]) << U(56)
        )
        # The compiler turns the lines above into one load of eight bytes, and these lines into one store.
        out[z], out[z + U(1)], out[z + U(2)] = word & BYTE, word >> U(8) & BYTE, word >> U(16) & BYTE
        out[z + U(3)], out[z + U(4)], out[z + U(5)] = word >> U(24) & BYTE, word >> U(32) & BYTE, word >> U(40) & BYTE
        out[z + U(6)], out[z + U(7)] = word >> U(48) & BYTE, word >> U(56)
        # A byte of `zero` is 0 where `word` has a backslash. The next expression sets the highest bit of the first such
        # byte.
        zero = word ^ BACKSLASHES
        if (zero - ONES) & ~zero & HIGHS:
            break
        i += 8
        o += 8
    while i < end and buf[i] != BACKSLASH:
        out[o] = buf[i]
        o += 1
        i += 1
    return i, o


@inner
def _unescape(buf, i, end, out, o, tables):
    """Write a string with escapes to `out`; return the index after it.

    Return -1 if an escape is not valid JSON or is half a surrogate pair.
    """
    while True:
        i, o = _copy_plain(buf, i, end, out, o)
        if i >= end:
            return o
        if i + 1 >= end:
            return -1
        code = np.int64(tables[ESCAPE, buf[i + 1]])
        i += 2
        if code == LETTER_U:
            code = _hex4(buf, i, end, tables)
            i += 4
            if 0xD800 <= code < 0xE000:
                if code >= 0xDC00 or i + 6 > end or buf[i] != BACKSLASH or buf[i + 1] != LETTER_U:
                    return -1
                low = _hex4(buf, i + 2, end, tables)
                if low < 0xDC00 or low >= 0xE000:
                    return -1
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                i += 6
            if code < 0:
                return -1
        elif code == 0:
            return -1
        o = _put_code(out, o, code)


@inner
def _alias(buf, start, stop, names, name_ends):
    """Return the number of the name that equals buf[start:stop], or -1 if there is none."""
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
    """Write a row (key start, key end, value start, value end, escaped) to `spans` for each field of the object at `i`.

    Return the number of fields, or -1 for an odd record. If the value is a string, the row has the bounds of the text
    between the quotes, and a negative key end marks the string. A `trusted` object was checked before, so its values
    are not checked again.
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
def _roles(buf, spans, fields, names, name_ends, role_of, chosen):
    """Write the numbers of the docno, title and text fields to `chosen`, and after them the numbers of their names.

    A missing field has the numbers -1. If several fields have the same role, the one whose name comes first in `names`
    counts. Return False for an odd record, else True.
    """
    for k in range(len(chosen)):
        chosen[k] = -1
    for f in range(fields):
        name = _alias(buf, spans[f, 0], abs(spans[f, 1]), names, name_ends)
        if name >= 0:
            role = role_of[name]
            if name == chosen[role + 3]:
                return False
            if chosen[role] < 0 or name < chosen[role + 3]:
                chosen[role], chosen[role + 3] = f, name
    docno, title, text = chosen[0], chosen[1], chosen[2]
    if docno < 0 or (text < 0 and title < 0):
        return False
    start = spans[docno, 2]
    if start == spans[docno, 3] or not (spans[docno, 1] < 0 or 48 <= buf[start] <= 57):
        return False
    return (text < 0 or spans[text, 1] < 0) and (title < 0 or spans[title, 1] < 0)


@inner
def _visible(data, start, end):
    """Return whether data[start:end] has a printable ASCII character other than white space."""
    for i in range(start, end):
        if 32 < data[i] < 127:
            return True
    return False


@inner
def _contents(buf, spans, chosen, text, t, tables):
    """Write title, newline and text to `text`, from `t` on.

    Return the index after them, and the title's size in bytes.

    The index is -1 if an escape is invalid.
    """
    o, title = t, np.int64(0)
    for role in range(1, 3):
        if chosen[role] >= 0 and o >= 0:
            o = _string(buf, spans, chosen[role], text, o, tables)
            if role == 1 and o > t:
                title = o - t
                text[o] = NEWLINE
                o += 1
    return o, title


@inner
def _others(buf, spans, fields, chosen, extra, e, tables):
    """Write the fields without a role as a JSON object, or nothing if there are none.

    Return the index after the object, or -1 if an escape is invalid.
    """
    begin = e
    for f in range(fields):
        if f == chosen[0] or f == chosen[1] or f == chosen[2]:
            continue
        if spans[f, 4] and _unescape(buf, spans[f, 2], spans[f, 3], extra, e, tables) < 0:
            return -1
        extra[e] = OPEN_BRACE if e == begin else COMMA
        e = _copy(buf, spans[f, 0] - 1, spans[f, 3] + (spans[f, 1] < 0), extra, e + 1)
    if e > begin:
        extra[e] = CLOSE_BRACE
        e += 1
    return e


@kernel(
    (STORED_U8, BYTES, STORED_U8, I64, I64, boolean, I64, TABLE, I64, U8, U8, U8, TABLE, TABLE, I64), before="read-json"
)
def scan(buf, tables, names, name_ends, role_of, trusted, marks, spans, chosen, docnos, text, extra, ends, odd, used):
    """Cut records, one per line, into docnos, contents and other fields.

    Return the number of documents and the number of odd lines.

    `tables` has the meanings of bytes. `names` are the known names of fields, and `role_of` has the role of each name:
    0 for docno, 1 for title, 2 for text. `trusted` says that the lines have been checked before. `marks`, `spans` and
    `chosen` are scratch memory. A record with more fields than `spans` has rows is odd.

    The kernel fills `docnos`, `text` and `extra` with the bytes of docnos, contents and other fields. Row k of `ends`
    gets the three places where document k ends in `docnos`, `text` and `extra`, and the size of its title in bytes. Row
    k of `odd` gets the number, start and end of the odd line k. `used` gets the number of times that each name was
    used.
    """
    n = n_odd = number = d = t = e = start = first = m = np.int64(0)
    last = _marks(buf, tables, marks)
    while start < len(buf):
        while m < last and buf[marks[m]] != NEWLINE:
            m += 1
        end = marks[m]
        begin = _skip_space(buf, start, end)
        if begin < end:
            fields = _fields(buf, begin, end, trusted, spans, marks, first)
            ok = fields > 0 and _roles(buf, spans, fields, names, name_ends, role_of, chosen)
            if ok:
                d2 = _string(buf, spans, chosen[0], docnos, d, tables)
                t2, title = _contents(buf, spans, chosen, text, t, tables)
                e2 = _others(buf, spans, fields, chosen, extra, e, tables)
                ok = d2 >= 0 and t2 >= 0 and e2 >= 0 and (trusted or _visible(docnos, d, d2))
            if ok:
                d, t, e = d2, t2, e2
                ends[n, 0], ends[n, 1], ends[n, 2], ends[n, 3] = d, t, e, title
                n += 1
                for role in range(3, 6):
                    if chosen[role] >= 0:
                        used[chosen[role]] += 1
            else:
                odd[n_odd, 0], odd[n_odd, 1], odd[n_odd, 2] = number, start, end
                n_odd += 1
        number += 1
        start = end + 1
        m += 1
        first = min(m, last)
    return n, n_odd
