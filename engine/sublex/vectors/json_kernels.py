"""Kernels that read vectors from JSON lines.

Each line is an object with an id and a vector. A vector is a list of numbers, or an object whose values are numbers. A matrix
is a list of lists of the same size.

`vectors.json_lines` calls `scan`, which reads lines of the usual form and reports every other line as odd. Python's
own `json` reads the odd lines. In the other kernels, `i` is a place in the bytes `buf`, `m` is the number of numbers
read so far, and a place of -1 means that the line is odd.
"""

import numpy as np
from numba import int64

from sublex.tools.compiled import F32, F64, I64, STORED_U8, inner, kernel

MATRIX = int64[:, ::1]
# The columns of `lines`: the number of the line, its id (two columns), its text (two), the form of the vector, the end
# of its numbers in `numbers`, the width of a matrix, and its tokens (two). Two columns have the begin and the end in
# `buf`.
LINE_COLUMNS = 10
# The forms of vectors.
LIST, OBJECT, ROWS = 0, 1, 2
# The roles of the members of an object: the id, the vector, the text of a query, and the tokens of a matrix.
ID, VECTOR, WORDS, TOKENS = 0, 1, 2, 3
QUOTE, BACKSLASH, COMMA, COLON, NEWLINE = 34, 92, 44, 58, 10
OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET = 123, 125, 91, 93
# A decimal number is computed in float64 by two multiplications by powers of ten. Its relative error is less than this.
SHARE = 2e-15
SMALLEST, LARGEST = 1.2e-38, 3.4e38
# The digits of a whole number that always fits in 64 bits, and the largest power of ten that float64 holds exactly.
DIGITS, POWER = 18, 22


@inner
def _skip(buf, i, end):
    while i < end and (buf[i] == 32 or buf[i] == 9 or buf[i] == 13):
        i += 1
    return i


@inner
def _string_end(buf, i, end):
    """Return the place of the quote that closes the string whose first byte is at `i`, or -1, and whether it has escapes."""
    escaped = False
    while i < end:
        c = buf[i]
        if c == QUOTE:
            return i, escaped
        if c == BACKSLASH:
            escaped = True
            i += 1
        i += 1
    return -1, escaped


@inner
def _value_end(buf, i, end):
    """Return the place after the value at `i`, or -1. The value itself is skipped."""
    c = buf[i]
    if c == QUOTE:
        stop, _ = _string_end(buf, i + 1, end)
        return stop + 1 if stop >= 0 else -1
    if c != OPEN_BRACE and c != OPEN_BRACKET:
        stop = i
        while stop < end and buf[stop] > 32 and buf[stop] != COMMA and buf[stop] != CLOSE_BRACE:
            if buf[stop] == QUOTE or buf[stop] == CLOSE_BRACKET or buf[stop] == OPEN_BRACE:
                return -1
            stop += 1
        return stop if stop > i else -1
    depth = 0
    while i < end:
        c = buf[i]
        if c == QUOTE:
            i, _ = _string_end(buf, i + 1, end)
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
def _number(buf, i, end, powers):
    """Return the number at `i` rounded to float32, and the place after it, or -1 if Python has to read it.

    The number is taken only if all values within the error of the computation round to the same float32.
    """
    negative = buf[i] == 45
    if negative:
        i += 1
    begin, mantissa, digits, point = i, np.int64(0), np.int64(0), np.int64(0)
    while i < end and 48 <= buf[i] <= 57:
        mantissa = mantissa * 10 + (buf[i] - 48)
        if mantissa:
            digits += 1
            if digits > DIGITS:
                return np.float32(0), -1
        i += 1
    if i == begin:
        return np.float32(0), -1
    whole = i
    if i < end and buf[i] == 46:
        i += 1
        begin = i
        while i < end and 48 <= buf[i] <= 57:
            mantissa = mantissa * 10 + (buf[i] - 48)
            point -= 1
            if mantissa:
                digits += 1
                if digits > DIGITS:
                    return np.float32(0), -1
            i += 1
        if i == begin:
            return np.float32(0), -1
    if i < end and (buf[i] == 101 or buf[i] == 69):
        i += 1
        minus = i < end and buf[i] == 45
        if i < end and (buf[i] == 43 or buf[i] == 45):
            i += 1
        begin, exponent = i, np.int64(0)
        while i < end and 48 <= buf[i] <= 57:
            exponent = exponent * 10 + (buf[i] - 48)
            if i - begin > 3:
                return np.float32(0), -1
            i += 1
        if i == begin:
            return np.float32(0), -1
        point += -exponent if minus else exponent
    if mantissa == 0:
        # The whole number -0 is 0 in Python.
        return np.float32(-0.0) if negative and i > whole else np.float32(0.0), i
    if point > 2 * POWER or point < -2 * POWER:
        return np.float32(0), -1
    value = np.float64(mantissa)
    rest = point
    if rest > POWER:
        value *= powers[POWER]
        rest -= POWER
    elif rest < -POWER:
        value /= powers[POWER]
        rest += POWER
    value = value * powers[rest] if rest >= 0 else value / powers[-rest]
    if value < SMALLEST or value > LARGEST:
        return np.float32(0), -1
    low, high = np.float32(value * (1.0 - SHARE)), np.float32(value * (1.0 + SHARE))
    if low != high:
        return np.float32(0), -1
    return -low if negative else low, i


@inner
def _role(buf, start, stop, names, name_ends, role_of):
    """Return the role of a member by its name, or -1."""
    begin = 0
    for k in range(len(name_ends)):
        if name_ends[k] - begin == stop - start:
            same = True
            for j in range(stop - start):
                if names[begin + j] != buf[start + j]:
                    same = False
                    break
            if same:
                return role_of[k]
        begin = name_ends[k]
    return -1


@inner
def _entries(buf, i, end, powers, numbers, m, spans):
    """Write the numbers of the list or object at `i` to `numbers`.

    For an object, write the places of its names to `spans`. Return the place after the list or object, or -1, and the
    new m.
    """
    named = buf[i] == OPEN_BRACE
    close = CLOSE_BRACE if named else CLOSE_BRACKET
    i = _skip(buf, i + 1, end)
    if i < end and buf[i] == close:
        return i + 1, m
    while i < end:
        if named:
            if buf[i] != QUOTE:
                return -1, m
            stop, escaped = _string_end(buf, i + 1, end)
            if stop < 0 or escaped:
                return -1, m
            spans[m, 0], spans[m, 1] = i + 1, stop
            i = _skip(buf, stop + 1, end)
            if i >= end or buf[i] != COLON:
                return -1, m
            i = _skip(buf, i + 1, end)
            if i >= end:
                return -1, m
        number, i = _number(buf, i, end, powers)
        if i < 0:
            return -1, m
        numbers[m] = number
        m += 1
        i = _skip(buf, i, end)
        if i >= end:
            return -1, m
        if buf[i] == close:
            return i + 1, m
        if buf[i] != COMMA:
            return -1, m
        i = _skip(buf, i + 1, end)
    return -1, m


@inner
def _matrix(buf, i, end, powers, numbers, m, spans):
    """Write the numbers of the matrix at `i`, a list of lists, to `numbers`.

    Return the place after the outer list, or -1, the new m, and the size of each inner list.
    """
    width, begin = 0, m
    while i < end:
        i = _skip(buf, i + 1, end)
        if i >= end or buf[i] != OPEN_BRACKET:
            return -1, m, width
        before = m
        i, m = _entries(buf, i, end, powers, numbers, m, spans)
        if i < 0 or m == before or (before > begin and m - before != width):
            return -1, m, width
        width = m - before
        i = _skip(buf, i, end)
        if i >= end:
            return -1, m, width
        if buf[i] == CLOSE_BRACKET:
            return i + 1, m, width
        if buf[i] != COMMA:
            return -1, m, width
    return -1, m, width


@inner
def _line(buf, i, end, names, name_ends, role_of, powers, line, numbers, m, spans):
    """Read the object at `i`, and fill in its row `line` of `lines`. Return the new m, or -1 for an odd line."""
    line[1], line[3], line[4], line[5], line[8], line[9] = -1, 0, 0, -1, 0, 0
    if buf[i] != OPEN_BRACE:
        return -1
    i = _skip(buf, i + 1, end)
    while i < end:
        if buf[i] != QUOTE:
            return -1
        stop, escaped = _string_end(buf, i + 1, end)
        if stop < 0 or escaped:
            return -1
        role = _role(buf, i + 1, stop, names, name_ends, role_of)
        i = _skip(buf, stop + 1, end)
        if i >= end or buf[i] != COLON:
            return -1
        i = _skip(buf, i + 1, end)
        if i >= end:
            return -1
        c = buf[i]
        if role == VECTOR:
            if line[5] >= 0 or (c != OPEN_BRACKET and c != OPEN_BRACE):
                return -1
            first = _skip(buf, i + 1, end)
            if c == OPEN_BRACKET and first < end and buf[first] == OPEN_BRACKET:
                line[5] = ROWS
                i, m, line[7] = _matrix(buf, i, end, powers, numbers, m, spans)
            else:
                line[5] = OBJECT if c == OPEN_BRACE else LIST
                i, m = _entries(buf, i, end, powers, numbers, m, spans)
            if i < 0:
                return -1
        elif role == TOKENS:
            if line[9]:
                return -1
            line[8] = i
            i = _value_end(buf, i, end)
            if i < 0:
                return -1
            line[9] = i
        elif role >= 0 and c == QUOTE:
            stop, escaped = _string_end(buf, i + 1, end)
            if stop < 0 or escaped:
                return -1
            if role == ID:
                if line[1] >= 0:
                    return -1
                line[1], line[2] = i + 1, stop
            else:
                if line[4]:
                    return -1
                line[3], line[4] = i + 1, stop
            i = stop + 1
        elif role == ID and 48 <= c <= 57 and line[1] < 0:
            line[1] = i
            while i < end and 48 <= buf[i] <= 57:
                i += 1
            line[2] = i
            # JSON allows no number with a zero before other digits.
            if i < end and (buf[i] == 46 or buf[i] == 101 or buf[i] == 69 or (c == 48 and i > line[1] + 1)):
                return -1
        elif role >= 0:
            return -1
        else:
            i = _value_end(buf, i, end)
            if i < 0:
                return -1
        i = _skip(buf, i, end)
        if i >= end:
            return -1
        if buf[i] == CLOSE_BRACE:
            if _skip(buf, i + 1, end) < end or line[1] < 0 or line[5] < 0:
                return -1
            return m
        if buf[i] != COMMA:
            return -1
        i = _skip(buf, i + 1, end)
    return -1


@kernel((STORED_U8, STORED_U8, I64, I64, F64, MATRIX, F32, MATRIX, MATRIX))
def scan(buf, names, name_ends, role_of, powers, lines, numbers, spans, odd):
    """Read the lines of `buf`, and return the numbers of lines read and of odd lines.

    `lines` gets a row for each line that was read, and `odd` the number, begin and end of each odd line. `numbers`
    gets the numbers of all vectors. If a vector is an object, `spans` gets the begin and end of each number's name.
    `names` has the known names of members end to end, `name_ends` their ends, and `role_of` their roles. `powers` are
    the powers of ten.
    """
    read, left, m, number, i = 0, 0, np.int64(0), 0, np.int64(0)
    while i < len(buf):
        end = i
        while end < len(buf) and buf[end] != NEWLINE:
            end += 1
        begin = _skip(buf, i, end)
        if begin < end:
            line = lines[read]
            found = _line(buf, begin, end, names, name_ends, role_of, powers, line, numbers, m, spans)
            if found < 0:
                odd[left, 0], odd[left, 1], odd[left, 2] = number, i, end
                left += 1
            else:
                m = found
                line[0], line[6] = number, m
                read += 1
        i = end + 1
        number += 1
    return read, left
