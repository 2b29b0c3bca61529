"""Kernels that hash the shingles of texts: runs of consecutive words. Callers check the arguments."""

import numpy as np
from numba import int64, uint8, uint64

from sublex.tools.compiled import inner, kernel

BYTES = uint8[::1]
NUMBERS = uint64[::1]
PRIME, BASIS = np.uint64(1099511628211), np.uint64(14695981039346656037)


@inner
def mixed(value):
    """Return a hash of 64 bits whose bits all depend on all bits of the value (the last step of SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@inner
def is_word_byte(byte):
    """Return whether a byte belongs to a word. It is a letter from a to z, a digit, or a byte of a character beyond ASCII."""
    return byte >= 128 or (97 <= byte <= 122) or (48 <= byte <= 57)


@kernel((BYTES, int64, int64, int64, NUMBERS, NUMBERS), before="duplicates")
def hash_shingles(data, begin, end, width, words, shingles):
    """Write the hashes of all shingles of a text into `shingles`, and return their number.

    The text is `data[begin:end]`, UTF-8 in lower case. A shingle is a run of `width` words; a text of fewer words is
    one shingle. `words` is scratch memory. It and `shingles` have room for each byte of the text.
    """
    count, value, inside = 0, BASIS, False
    for place in range(begin, end + 1):
        if place < end and is_word_byte(data[place]):
            value = (value ^ np.uint64(data[place])) * PRIME
            inside = True
        elif inside:
            words[count] = mixed(value)
            count += 1
            value, inside = BASIS, False
    if not count:
        return 0
    size = min(width, count)
    for first in range(count - size + 1):
        value = BASIS
        for word in words[first : first + size]:
            value = mixed(value * PRIME + word)
        shingles[first] = value
    return count - size + 1


@kernel((NUMBERS, int64, NUMBERS, NUMBERS, NUMBERS), before="duplicates")
def sign(shingles, count, factors, terms, signature):
    """Write the least value of each hash function over `shingles[:count]` into `signature`.

    Hash function k takes the upper 32 bits of `factors[k]` times the shingle, plus `terms[k]`. Before the call,
    `signature` must be filled with the largest value of 32 bits.
    """
    for number in range(len(factors)):
        least, factor, term = signature[number], factors[number], terms[number]
        for value in shingles[:count]:
            least = min(least, (factor * value + term) >> np.uint64(32))
        signature[number] = least
