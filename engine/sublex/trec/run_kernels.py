"""Kernels for run files: find the columns of lines, turn digits into numbers and back, and write lines.

`rows` calls `split`, `run_reader` calls `parse`, and `run_writer` calls `shortest`, `write` and `classify`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import int32, int64

from sublex.tools.compiled import F32, F64, FLAGS, I32, I64, STORED_U8, U8, inner, kernel

# The types of arguments.
SPANS = int32[:, ::1]

NEWLINE, SPACE, HASH, PLUS, MINUS, DOT, ZERO, NINE, SMALL_E = 10, 32, 35, 43, 45, 46, 48, 57, 101
# Powers of ten up to here are exact in float64.
EXACT_TENS = 22
# Whole numbers up to here are exact in float64.
EXACT_WHOLE = 2**53
TENS = 10.0 ** np.arange(EXACT_TENS + 1)
# The number of decimal digits that always fit int64.
MOST_DIGITS = 18
# The most digits that the shortest form of a float32 needs.
DIGITS = 9
# Bytes of the longest number in a line, which is a rank or a score.
LONGEST_NUMBER = 24


@inner
def _is_space(c):
    return c == SPACE or 9 <= c <= 13


@kernel((STORED_U8, int64), before="read-runs lint")
def split(buf, width):
    """Return for each line the bounds of its first `width` columns, its number from 0, and its number of columns.

    Blank lines and comments, which begin with #, are left out.
    """
    most = 1
    for i in range(len(buf)):
        most += buf[i] == NEWLINE
    spans, lines, counts = np.zeros((most, width, 2), np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    n, line, i, end = 0, 0, 0, len(buf)
    while i < end:
        k, comment = 0, False
        while i < end and buf[i] != NEWLINE:
            if _is_space(buf[i]):
                i += 1
                continue
            if k == 0 and buf[i] == HASH:
                comment = True
            start = i
            while i < end and not _is_space(buf[i]):
                i += 1
            if k < width:
                spans[n, k, 0], spans[n, k, 1] = start, i
            k += 1
        if k > 0 and not comment:
            lines[n], counts[n] = line, k
            n += 1
        i += 1
        line += 1
    return spans[:n], lines[:n], counts[:n]


@inner
def _number(buf, i, end, tens):
    """Return the decimal number in buf[i:end] as float64, and how certain the value is.

    Certainty 2 means that the value is the nearest float64. Certainty 1 means that it may be wrong by a few units in
    the last place of float64. Certainty 0 means that the text is not a number, or out of range.
    """
    negative = buf[i] == MINUS
    if buf[i] == MINUS or buf[i] == PLUS:
        i += 1
    mantissa, digits, exponent, seen, dot = 0, 0, 0, False, False
    while i < end:
        c = buf[i]
        if ZERO <= c <= NINE:
            seen = True
            if digits < MOST_DIGITS:
                mantissa = mantissa * 10 + (int(c) - ZERO)
                digits += mantissa > 0
                exponent -= dot
            else:
                exponent += not dot
        elif c == DOT and not dot:
            dot = True
        else:
            break
        i += 1
    if i < end and (buf[i] | 32) == SMALL_E and end - i < 6:
        i += 1
        sign = 1
        if i < end and (buf[i] == MINUS or buf[i] == PLUS):
            sign = -1 if buf[i] == MINUS else 1
            i += 1
        power = 0
        seen = seen and i < end
        while i < end and ZERO <= buf[i] <= NINE:
            power = power * 10 + (int(buf[i]) - ZERO)
            i += 1
        exponent += sign * power
    if i < end or not seen or abs(exponent) > EXACT_TENS:
        return 0.0, 0
    # An operation on two exact numbers rounds only once, so the result is the nearest float64.
    value = mantissa * tens[exponent] if exponent >= 0 else mantissa / tens[-exponent]
    return -value if negative else value, 2 if mantissa <= EXACT_WHOLE else 1


@kernel((STORED_U8, SPANS, F64), before="read-runs lint")
def parse(buf, spans, tens):
    """Return the decimal numbers buf[spans[k, 0] : spans[k, 1]] as float64, and the certainty of each: 2, 1 or 0.

    With certainty 1 or 2, the value rounds to the right float32, because all float64 values within the reading error
    round to the same finite float32. With certainty 2, it is also the nearest float64. Certainty 0 promises nothing.
    `tens` has the powers of ten.
    """
    values, certainties = np.empty(len(spans), np.float64), np.empty(len(spans), np.uint8)
    slack = 2.0**-50
    for k in range(len(spans)):
        value, certainty = _number(buf, spans[k, 0], spans[k, 1], tens)
        low, high = np.float32(value * (1 - slack)), np.float32(value * (1 + slack))
        values[k], certainties[k] = value, certainty if low == high and abs(low) < np.inf else 0
    return values, certainties


@kernel((F32, I32, F64), before="write-runs")
def shortest(scores, bits, tens):
    """Return the fewest decimal digits that read back to each float32, as mantissas and exponents of 10.

    `bits` is the scores viewed as int32. Mantissa -1 tells the caller to find the digits in another way. This happens
    for very large and very small numbers, and where float64 is not precise enough. It also happens for powers of two,
    whose two neighbours are not equally far.
    """
    mantissas, exponents = np.empty(len(scores), np.int64), np.empty(len(scores), np.int64)
    for k in range(len(scores)):
        mantissas[k], exponents[k] = -1, 0
        x = abs(np.float64(scores[k]))
        if x == 0.0:
            mantissas[k] = 0
            continue
        if not 1e-12 < x < 1e20 or bits[k] & 0x7FFFFF == 0:
            continue
        power = (bits[k] >> 23) & 255
        half = 2.0 ** (power - 151)
        first = math.floor(math.log10(x))
        # If a number of digits is enough, every larger number is enough. So the search starts at 7 and goes down, or
        # up.
        digits = 7
        m, fits = _rounded(x, half, digits - 1 - first, tens)
        if fits > 0:
            while digits > 1:
                fewer, fits = _rounded(x, half, digits - 2 - first, tens)
                if fits <= 0:
                    break
                m, digits = fewer, digits - 1
        else:
            while fits == 0 and digits < DIGITS + 1:
                digits += 1
                m, fits = _rounded(x, half, digits - 1 - first, tens)
            if fits <= 0:
                continue
        if fits < 0:
            continue
        exponent = first + 1 - digits
        while m % 10 == 0:
            m //= 10
            exponent += 1
        mantissas[k], exponents[k] = m, exponent
    return mantissas, exponents


@inner
def _rounded(x, half, places, tens):
    """Return x rounded to `places` decimals, as a whole number, and whether this decimal reads back as x.

    The second value is 1 for yes, 0 for no, and -1 for unknown.

    The decimal reads back as x if its distance from x is less than `half`, half a step of float32. The bounds x ± half
    are exact, and rounding to float64 keeps the order. So if the rounded value lies strictly inside the bounds, the
    decimal does, too.
    """
    scaled = x * tens[places] if places >= 0 else x / tens[-places]
    m = math.floor(scaled + 0.5)
    value = m / tens[places] if places >= 0 else m * tens[-places]
    away = abs(value - x)
    if away > half:
        return int(m), 0
    if away == half or abs(scaled - math.floor(scaled) - 0.5) < 1e-5:
        return int(m), -1
    return int(m), 1


@inner
def _put(out, o, part):
    """Write bytes from index `o` on and return the index after them."""
    for x in range(len(part)):
        out[o + x] = part[x]
    return o + len(part)


@inner
def _put_whole(out, o, number):
    """Write a natural number in decimal and return the index after it. Division by ten is cheap for unsigned numbers."""
    rest, end, limit = np.uint64(number), o + 1, np.uint64(10)
    while rest >= limit:
        end += 1
        limit *= np.uint64(10)
    for x in range(end - 1, o - 1, -1):
        quotient = rest // np.uint64(10)
        out[x] = np.uint8(ZERO) + np.uint8(rest - quotient * np.uint64(10))
        rest = quotient
    return end


@inner
def _put_number(out, o, mantissa, exponent):
    """Write mantissa · 10^exponent as Python writes a float (12.0, 0.5, 1e-07, 1.5e+16); return the index after it."""
    end = _put_whole(out, o, mantissa)
    digits = end - o
    point = digits + exponent
    if point > 16 or point < -3:
        if digits > 1:
            for x in range(end, o + 1, -1):
                out[x] = out[x - 1]
            out[o + 1] = DOT
            end += 1
        power = point - 1
        out[end], out[end + 1] = SMALL_E, MINUS if power < 0 else PLUS
        end += 2
        if abs(power) < 10:
            out[end] = ZERO
            end += 1
        return _put_whole(out, end, abs(power))
    if point <= 0:
        for x in range(digits - 1, -1, -1):
            out[o + 2 - point + x] = out[o + x]
        for x in range(2 - point):
            out[o + x] = ZERO
        out[o + 1] = DOT
        return end + 2 - point
    if exponent >= 0:
        for x in range(exponent):
            out[end + x] = ZERO
        out[end + exponent], out[end + exponent + 1] = DOT, ZERO
        return end + exponent + 2
    for x in range(end, o + point, -1):
        out[x] = out[x - 1]
    out[o + point] = DOT
    return end + 1


@kernel((STORED_U8, I64, I64, FLAGS, I64, I64, STORED_U8, STORED_U8, U8), before="write-runs")
def write(arena, starts, sizes, negative, mantissas, exponents, head, tail, out):
    """Write the lines of one topic to `out`, which must have room, and return their size in bytes.

    A line is `head` docno rank score `tail`. The docno of line k is arena[starts[k] : starts[k] + sizes[k]], and its
    score is mantissas[k] · 10^exponents[k], below 0 if negative[k] is set.
    """
    o = 0
    for k in range(len(starts)):
        o = _put(out, o, head)
        for x in range(sizes[k]):
            out[o + x] = arena[starts[k] + x]
        o += sizes[k]
        out[o] = SPACE
        o = _put_whole(out, o + 1, k + 1)
        out[o] = SPACE
        o += 1
        if negative[k]:
            out[o] = MINUS
            o += 1
        o = _put_number(out, o, mantissas[k], exponents[k])
        o = _put(out, o, tail)
    return o


@kernel((STORED_U8, I64, I64), before="write-runs lint")
def classify(arena, starts, sizes):
    """Return a number for each string: 0 for ASCII without white space, 1 for empty or with white space, 2 otherwise.

    String k is arena[starts[k] : starts[k] + sizes[k]].
    """
    kinds = np.zeros(len(starts), np.uint8)
    for k in range(len(starts)):
        kinds[k] = sizes[k] == 0
        for x in range(starts[k], starts[k] + sizes[k]):
            c = arena[x]
            if c == SPACE or 9 <= c <= 13 or 28 <= c <= 31:
                kinds[k] = 1
                break
            if c > 127:
                kinds[k] = 2
    return kinds
