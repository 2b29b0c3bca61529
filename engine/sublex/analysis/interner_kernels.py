"""Kernels that number byte strings.

A byte string is described by its *key*, three numbers: the first eight bytes, the next eight, and the length. Two
strings of up to sixteen bytes are equal if their keys are equal. For longer strings, the bytes after the sixteenth have
to be compared too.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from sublex.tools.compiled import I32, I64, STORED_U8, U8, U64, inner, kernel

# The types of arguments.
KEYS = uint64[:, ::1]
# Bytes that must follow the last string of an array: the kernels read sixteen bytes at a time.
SPARE = 16
U = np.uint64
SIXTEEN = U(16)
NEWLINE = np.uint8(10)
# Masks for a string's first eight bytes and for its next eight, by the string's length from 0 to 16.
LOW = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(17)], np.uint64)
HIGHER = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(17)], np.uint64)
MIX1, MIX2, PRIME = U(0x9E3779B97F4A7C15), U(0xBF58476D1CE4E5B9), U(0x100000001B3)


@inner
def _word8(text, i):
    """Return the eight bytes from `i` on as one number. The compiler makes one load of the eight."""
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
def first_bytes(text, start, length):
    """Return the first sixteen bytes of a string as two numbers, with zeros after the end of a shorter string."""
    wide = min(U(length), SIXTEEN)
    return _word8(text, start) & LOW[wide], _word8(text, start + 8) & HIGHER[wide]


@inner
def hash_of_key(text, start, length, a, b):
    h = (a * MIX1) ^ ((b + U(length)) * MIX2)
    h = (h ^ (h >> U(32))) * MIX1
    for x in range(start + 16, start + length):
        h = (h ^ U(text[x])) * PRIME
    return h ^ (h >> U(29))


@inner
def same_bytes(a, i, b, j, length):
    for x in range(length):
        if a[i + x] != b[j + x]:
            return False
    return True


@kernel((U8, I64, I64), before="number-terms order-terms")
def describe(text, starts, lengths):
    """Return the keys and the hashes of strings in a text, computed as the kernel `tokenize` computes them.

    SPARE further bytes must follow the last string.
    """
    keys, hashes = np.empty((len(starts), 3), np.uint64), np.empty(len(starts), np.uint64)
    for k in range(len(starts)):
        a, b = first_bytes(text, starts[k], lengths[k])
        keys[k, 0], keys[k, 1], keys[k, 2] = a, b, lengths[k]
        hashes[k] = hash_of_key(text, starts[k], lengths[k], a, b)
    return keys, hashes


@kernel((STORED_U8, I64, KEYS, U64, I32, KEYS, U64, I64, U8, int64), before="number-terms order-terms")
def intern(text, starts, keys, hashes, slots, known_keys, known_hashes, ends, arena, n):
    """Return the numbers of byte strings, and the number of strings in the table. Add new strings to the table.

    `starts`, `keys` and `hashes` describe the strings in `text`, as `describe` does. `slots` to `arena` are the arrays
    of the table (`interner.Interner`), and `n` its number of strings before the call. The caller has made room in all
    arrays. A newline follows each string in the arena, so new strings can be read as lines.
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
                if length <= 16 or same_bytes(arena, begin + 16, text, starts[k] + 16, length - 16):
                    break
            j = (j + U(1)) & mask
        numbers[k] = known
    return numbers, n


@kernel((U64, int64, int64), before="order-terms search")
def refill(hashes, n, size):
    """Return a hash table with the numbers of the first `n` strings. Its `size` is a power of two.

    A string's number goes to the slot that its hash gives, or to the first free slot after it, as in `intern`.
    """
    slots = np.full(size, -1, np.int32)
    mask = U(size - 1)
    for k in range(n):
        j = hashes[k] & mask
        while slots[j] >= 0:
            j = (j + U(1)) & mask
        slots[j] = k
    return slots


@inner
def _swapped(x):
    """Return a number with its eight bytes in the opposite order.

    If numbers hold the first eight bytes of strings, the results are in the order of the strings' bytes.
    """
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
    """Sort the numbers of distinct strings in place, by the bytes of the strings.

    `heads` has the first eight bytes of each string, and the numbers must already be sorted by them. So the kernel sorts
    only strings with equal heads, by merge sort. `keys`, `ends` and `arena` hold the strings, as `intern` wrote them.
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
