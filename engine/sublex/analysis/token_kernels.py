"""Kernels that cut text into raw tokens, and find the breaks between them."""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint16, uint64

from sublex.analysis.interner_kernels import NEWLINE, SIXTEEN, U, first_bytes, hash_of_key, same_bytes
from sublex.tools.compiled import I32, I64, STORED_U8, U8, U64, inner, kernel

# The types of arguments.
U16 = uint16[::1]
KEYS = uint64[:, ::1]
TABLE = uint8[:, :, ::1]
# Classes of bytes. The classes from COLON on are joiners. A joiner belongs to a token only between certain neighbours
# (UAX 29, rules WB6, WB7, WB11 and WB12).
BREAK, LETTER, DIGIT, UNDERSCORE, HIGH, COLON, COMMA, DOT, QUOTE = range(9)

# The characters of LaTeX's commands, and the parts of the table `sublex.analysis.latex.commands`.
BACKSLASH, OPEN, CLOSE, BLANK = 92, 123, 125, 32
ACCENT, NAME = 0, 1

# Kinds of break, as in `sublex.contracts.base.Break`.
HYPHEN, DASH, OTHER, START = 1, 2, 128, 256


@inner
def _blank(text, start, end, classes):
    """Return whether the run text[start:end] consists of underscores only."""
    for i in range(start, end):
        if classes[text[i]] != UNDERSCORE:
            return False
    return True


@inner
def _joins(kind, before, after):
    """Return whether a joiner of class `kind` is inside a token, if bytes of classes `before` and `after` surround it.

    Next to a byte above ASCII it always is: the kernel does not know the character, and the Unicode rules decide later.
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
    """Return the number of bytes of the punctuation character at `i`, or 0 if the character may be inside a word.

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
    """Write the start and the end of each run of word bytes to `bounds`; return the number of entries written.

    `in_word` says for each byte value whether it belongs to words. Starts and ends alternate in `bounds`. The loop
    over ASCII text has no branches.
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
    """Write the start and the end of each run of word bytes to `bounds`; return the number of entries written.

    This is for text with bytes above ASCII. A punctuation character that is never inside a word ends a run.
    """
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
def _is_letter(c):
    """Return whether a byte is a letter from A to Z, in either case."""
    return 65 <= c <= 90 or 97 <= c <= 122


@inner
def _at(text, i, end):
    """Return the byte at `i`, or 0 at the end."""
    return int64(text[i]) if i < end else int64(0)


@inner
def _latex_letter(text, i, end, after_letter, commands):
    r"""Return the end of the LaTeX command at `i` that stands for a letter, or `i` if there is none.

    `after_letter` says whether a letter of the same word stands before the command. A command that ends with a blank, as
    in `S\o rensen`, counts only inside a word, so commands of formulas are no letters.
    """
    braced = _at(text, i, end) == OPEN
    j = i + 1 + braced
    first, second = _at(text, j, end), _at(text, j + 1, end)
    if _at(text, j - 1, end) != BACKSLASH or first >= 128 or second >= 128:
        return i
    j += 1
    if _is_letter(first):
        if _is_letter(second):
            if not commands[NAME, first, second] or _is_letter(_at(text, j + 1, end)):
                return i
            return _after_name(text, i, j + 1, end, braced, after_letter, commands)
        if commands[NAME, first, 0]:
            return _after_name(text, i, j, end, braced, after_letter, commands)
    blank = _at(text, j, end) == BLANK
    j += blank
    argument = _at(text, j, end)
    if argument == OPEN:
        j += 1 + (_at(text, j + 1, end) == BACKSLASH and _is_dotless(_at(text, j + 2, end)))
        argument = _at(text, j, end)
        if _at(text, j + 1, end) != CLOSE:
            return i
        j += 2
    elif argument == BACKSLASH:
        argument = _at(text, j + 1, end)
        if not _is_dotless(argument) or _is_letter(_at(text, j + 2, end)):
            return i
        j += 2
        if _at(text, j, end) == OPEN and _at(text, j + 1, end) == CLOSE:
            j += 2
        elif _at(text, j, end) == BLANK and _is_letter(_at(text, j + 1, end)):
            j += 1
    else:
        j += 1
        if blank and not after_letter and not _is_letter(_at(text, j, end)):
            return i
    if argument >= 128 or not commands[ACCENT, first, argument] or (braced and _at(text, j, end) != CLOSE):
        return i
    return j + braced


@inner
def _is_dotless(c):
    r"""Return whether a byte is i or j. LaTeX has the commands `\i` and `\j` for both letters without dots."""
    return c == 105 or c == 106


@inner
def _after_name(text, i, j, end, braced, after_letter, commands):
    r"""Return the end of a letter such as `\o`, whose name ends at `j`, or `i` if the command stands for no letter."""
    after, second = _at(text, j, end), _at(text, j + 1, end)
    if braced:
        return j + 1 if after == CLOSE else i
    if after == OPEN:
        return j + 2 if second == CLOSE else i
    if after == BLANK and _is_letter(second):
        return j + 1 if after_letter or _is_letter(_at(text, j + 2, end)) else i
    if after == BACKSLASH:
        return j if second < 128 and not _is_letter(second) and commands[ACCENT, second, 97] else i
    # Blanks, line ends, and the marks that may follow a word.
    ends_word = after <= BLANK or after == 33 or after == 34 or after == 39 or after == 41 or 44 <= after <= 47
    ends_word = ends_word or after == 58 or after == 59 or after == 63 or after == CLOSE or after == 126
    return j if after_letter and ends_word else i


@inner
def _has_commands(text, begin, end):
    """Return whether a text has a backslash."""
    for i in range(begin, end):
        if text[i] == BACKSLASH:
            return True
    return False


@inner
def _runs_with_commands(text, begin, end, in_word, commands, bounds):
    """Write the start and the end of each run of word bytes to `bounds`; return the number of entries written.

    A LaTeX command that stands for a letter belongs to a run, like a letter.
    """
    n = 0
    before = np.uint8(0)
    after_letter = False
    i = begin
    while i < end:
        stop = i
        if text[i] == BACKSLASH or text[i] == OPEN:
            stop = _latex_letter(text, i, end, after_letter, commands)
        width = _breaking(text, i, end) if text[i] >= 128 else 0
        is_command = stop > i
        now = np.uint8(1) if is_command else np.uint8(0) if width else in_word[text[i]]
        after_letter = is_command or (now != 0 and (text[i] >= 128 or _is_letter(text[i])))
        bounds[n] = i
        n += int(now ^ before)
        before = now
        i = stop if is_command else i + max(width, 1)
    if before:
        bounds[n] = end
        n += 1
    return n


@kernel((STORED_U8, I64, U8, U8, TABLE, I64, I32, KEYS, I64, U64, I32, I64, I64), before="analyze")
def tokenize(text, ends, classes, in_word, commands, bounds, slots, keys, starts, hashes, tokens, token_ends, state):
    """Cut documents, laid end to end in `text`, into raw tokens, and number the distinct raw tokens from 0.

    Document d ends before the byte ends[d]. `tokens` gets the number of the raw token at each occurrence, and
    `token_ends` the place where each document ends in `tokens`. `keys`, `starts` and `hashes` get the key, the first
    byte and the hash of each distinct raw token, and `slots` is their hash table.

    Return True if the table is full, and False at the end of the text. After True, the caller enlarges the table and
    calls again, and the kernel goes on from `state`. `state` holds five numbers: the document, the position in its
    runs, the number of its runs, the number of distinct raw tokens, and the number of occurrences.

    `classes` has the class of each byte value, and `in_word` says whether the value belongs to words. `commands` is
    the table of LaTeX commands that stand for letters; if it is empty, no command belongs to a word. The size of
    `bounds` is the number of bytes of the longest document, plus 2. A raw token in ASCII is one word; a raw token with
    bytes above ASCII is a run of whole words.
    """
    doc, k, m, n, o = state[0], state[1], state[2], state[3], state[4]
    mask = U(len(slots) - 1)
    full = False
    while doc < len(ends):
        if k == 0:
            begin = ends[doc - 1] if doc else 0
            if len(commands) and _has_commands(text, begin, ends[doc]):
                m = _runs_with_commands(text, begin, ends[doc], in_word, commands, bounds)
            else:
                m = _runs(text, begin, ends[doc], in_word, bounds)
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
            a, b = first_bytes(text, start, length)
            h = hash_of_key(text, start, end - start, a, b)
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
                    if length <= SIXTEEN or same_bytes(text, starts[known] + 16, text, start + 16, end - start - 16):
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


@kernel((STORED_U8, I64, I64, U16, I32, I64, KEYS, I64, U16), before="demo")
def mark_breaks(text, ends, titles, kinds, numbers, token_ends, keys, starts, marks):
    """Set `marks` to the kinds of break before each occurrence of a raw token.

    `titles` has the number of bytes of each document's title. `kinds` has the kind of break of each character up to
    U+FFFF. The other arguments are arguments and results of `tokenize`.
    """
    o = 0
    for doc in range(len(ends)):
        at = ends[doc - 1] if doc else 0
        title_end = at + titles[doc] if titles[doc] else np.int64(-1)
        mark = START
        while o < token_ends[doc]:
            first, length = starts[numbers[o]], int64(keys[numbers[o], 2])
            begin, characters, newlines = at, 0, 0
            while at < ends[doc] and not (text[at] == text[first] and same_bytes(text, first, text, at, length)):
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


@kernel((STORED_U8, I64, I32, I64, KEYS, I64, I64), before="search demo")
def locate(text, ends, numbers, token_ends, keys, starts, places):
    """Set `places` to the character at which each occurrence of a raw token begins, counted from the start of its text.

    The other arguments are arguments and results of `tokenize`.
    """
    o = 0
    for doc in range(len(ends)):
        at = ends[doc - 1] if doc else 0
        characters = 0
        while o < token_ends[doc]:
            first, length = starts[numbers[o]], int64(keys[numbers[o], 2])
            while at < ends[doc] and not (text[at] == text[first] and same_bytes(text, first, text, at, length)):
                characters += _begins_character(text[at])
                at += 1
            places[o] = characters
            for i in range(at, at + length):
                characters += _begins_character(text[i])
            at += length
            o += 1


@inner
def _begins_character(byte):
    """Return whether a byte of UTF-8 is the first one of a character."""
    return (byte & 0xC0) != 0x80
