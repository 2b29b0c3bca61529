"""Kernels of operators: find the documents in which operators occur, and count the occurrences.

`docs/operators.md` says what an occurrence is. An occurrence is an interval of positions, from `begin` to `end`. No
interval of an operator lies within another one, so the intervals of an operator in a document have ascending begins
and ascending ends.

The postings of words lie in memory, one word after the other. Word w has a row in `entries`. `docs` has the document of
each posting, and the positions of posting p are `positions[starts[p]:starts[p + 1]]`. A frequent word has a row in
`bits` and `ranks` too: a bit for each document that holds the word, and for every 64 documents the number of the
word's postings before them.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from sublex.retrieval.block_kernels import BITS, RANKS
from sublex.retrieval.coding.coding_kernels import FLAGS, I32, I64, LISTS
from sublex.tools.bit_kernels import ones
from sublex.tools.compiled import inner, kernel

# The columns of `entries`. FIRST: the place of the word's first posting. COUNT: its number of postings. BITS_ROW: its
# row in `bits` and `ranks`, or -1. LONGEST: the most positions that it has in a document.
FIRST, COUNT, BITS_ROW, LONGEST, COLUMNS = 0, 1, 2, 3, 4
# The kinds of operators.
ORDERED, WINDOW, SYNONYMS = 0, 1, 2
# In place of a part: a gap, and a word that the segment lacks.
GAP, LACKING = -2, -1
# An end of an interval that does not exist.
NEVER = 1 << 40


@kernel((int64, I32, BITS, RANKS), before="search")
def mark(row, docs, bits, ranks):
    """Fill in row `row` of `bits` and `ranks` for a word with these documents. Return False if they do not ascend."""
    i, end, last = np.int64(0), len(docs), np.int64(-1)
    for word in range(bits.shape[1]):
        ranks[row, word] = i
        held = np.uint64(0)
        while i < end and docs[i] < (word + 1) * 64:
            doc = np.int64(docs[i])
            if doc <= last:
                return False
            last = doc
            held |= np.uint64(1) << np.uint64(doc & 63)
            i += 1
        bits[row, word] = held
    return i == end


@inner
def _place_of(docs, begin, end, doc):
    """Return the first place from `begin` on with a document of at least `doc`, or `end` if there is none."""
    step, i = np.int64(1), begin
    while i + step < end and docs[i + step] < doc:
        i += step
        step *= 2
    low, high = i, min(i + step, end)
    while low < high:
        middle = (low + high) >> 1
        if docs[middle] < doc:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _read_parts(parts, width, entries, slots, low, high, rows, needed, order):
    """Fill in the description of one operator whose parts are words and gaps. Return its numbers of parts and of words.

    `slots` gets the number of each part's word among the distinct words, `low` and `high` the least and the greatest
    distance from the part before. Of each distinct word, `rows` gets the row and `needed` the number of parts. `order`
    gets the distinct words, rarest first. The number of words is -1 if the segment lacks a word.
    """
    n, words, gaps = 0, 0, np.int64(0)
    for part in parts:
        if part == GAP:
            gaps += 1
            continue
        if part == LACKING:
            return n, -1
        slot = 0
        while slot < words and rows[slot] != part:
            slot += 1
        if slot == words:
            rows[words], needed[words] = part, 0
            p = words
            while p > 0 and entries[rows[order[p - 1]], COUNT] > entries[part, COUNT]:
                order[p] = order[p - 1]
                p -= 1
            order[p] = words
            words += 1
        needed[slot] += 1
        slots[n], low[n], high[n] = slot, gaps + 1, (gaps + 1) * width
        gaps = 0
        n += 1
    return n, words


@inner
def _count_ordered(slots, low, high, n, at, starts, positions, chain):
    """Return how often an operator ORDERED occurs in a document. Word w has the posting at[w].

    `chain` is scratch space for the occurrences of the first parts: their begins and ends, before and after the next
    part is added. Of the occurrences that end at one place, it has the one that begins last.
    """
    old, new, size = 0, 2, 0
    p = at[slots[0]]
    for i in range(starts[p], starts[p + 1]):
        chain[old, size] = chain[old + 1, size] = positions[i]
        size += 1
    for part in range(1, n):
        p, found, x = at[slots[part]], 0, 0
        for i in range(starts[p], starts[p + 1]):
            position = np.int64(positions[i])
            while x < size and chain[old + 1, x] <= position - low[part]:
                x += 1
            if x > 0 and chain[old + 1, x - 1] >= position - high[part]:
                chain[new, found], chain[new + 1, found] = chain[old, x - 1], position
                found += 1
        old, new, size = new, old, found
        if size == 0:
            return np.int64(0)
    return _disjoint(chain[old], chain[old + 1], 0, size)


@inner
def _disjoint(begins, ends, first, stop):
    """Return the number of intervals without overlap, when always the one with the earliest end is taken next."""
    count, last = np.int64(0), np.int64(-1)
    for i in range(first, stop):
        if begins[i] > last:
            last = ends[i]
            count += 1
    return count


@inner
def _count_in_window(width, needed, words, at, starts, positions, events, held):
    """Return how often an operator WINDOW occurs in a document. Word w has the posting at[w], and needed[w] parts.

    `events` and `held` are scratch space: for the positions of all words, and for the number of each word's positions
    between the event `left` and the present one.
    """
    n = 0
    for w in range(words):
        held[w] = 0
        for i in range(starts[at[w]], starts[at[w] + 1]):
            events[n] = np.int64(positions[i]) << 10 | w
            n += 1
    # Most documents have few events. These are sorted by insertion.
    if n <= 24:
        for i in range(1, n):
            event, p = events[i], i
            while p > 0 and events[p - 1] > event:
                events[p] = events[p - 1]
                p -= 1
            events[p] = event
    else:
        events[:n].sort()
    count, last, left, lacking = np.int64(0), np.int64(-1), 0, words
    for right in range(n):
        w = events[right] & 1023
        held[w] += 1
        lacking -= held[w] == needed[w]
        if lacking == 0:
            while held[events[left] & 1023] > needed[events[left] & 1023]:
                held[events[left] & 1023] -= 1
                left += 1
            begin, end = events[left] >> 10, events[right] >> 10
            if begin > last and end - begin < width:
                last = end
                count += 1
    return count


@kernel((
    I64, I64, I64, I64, LISTS, I32, I64, I32, BITS, RANKS, FLAGS, I32, I32, I64, I64,
), before="search")  # fmt: skip
def occurrences(
    kinds, widths, part_ends, parts, entries, docs, starts, positions, bits, ranks, dead, docs_out, tfs_out, counts, totals
):  # fmt: skip
    """Write the postings of operators, one after the other, to `docs_out` and `tfs_out`. Deleted documents are left out.

    The operators are ORDERED or WINDOW. Their parts are words and gaps; those of operator x end at part_ends[x]. `parts`
    has the row of each word in `entries`, GAP or LACKING. `counts` gets the number of postings of each operator, and
    `totals` the number of occurrences.
    """
    most, longest, sum_longest = np.int64(1), np.int64(1), np.int64(1)
    begin = np.int64(0)
    for x in range(len(kinds)):
        most, total = max(most, part_ends[x] - begin), np.int64(0)
        for part in parts[begin : part_ends[x]]:
            if part >= 0:
                longest = max(longest, entries[part, LONGEST])
                total += entries[part, LONGEST]
        sum_longest = max(sum_longest, total)
        begin = part_ends[x]
    slots, low, high = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    rows, needed, order = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    at, cursors, held = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    chain, events = np.empty((4, longest), np.int64), np.empty(sum_longest, np.int64)
    begin = o = np.int64(0)
    for x in range(len(kinds)):
        n, words = _read_parts(parts[begin : part_ends[x]], widths[x], entries, slots, low, high, rows, needed, order)
        begin, first = part_ends[x], o
        totals[x] = 0
        if words > 0:
            for w in range(words):
                cursors[w] = entries[rows[w], FIRST]
            rarest, all_bits = rows[order[0]], True
            for w in range(words):
                all_bits &= entries[rows[w], BITS_ROW] >= 0
            # If every word is frequent, 64 documents are looked at together. If not, one posting of the rarest word.
            steps = bits.shape[1] if all_bits else entries[rarest, COUNT]
            for step in range(steps):
                if all_bits:
                    left = bits[entries[rarest, BITS_ROW], step]
                    for w in range(1, words):
                        left &= bits[entries[rows[order[w]], BITS_ROW], step]
                else:
                    left = np.uint64(1)
                while left:
                    if all_bits:
                        lowest = left & (~left + np.uint64(1))
                        below = lowest - np.uint64(1)
                        left ^= lowest
                        doc = np.int64(step) * 64 + np.int64(ones(below))
                        for w in range(words):
                            row = entries[rows[w], BITS_ROW]
                            at[w] = (
                                entries[rows[w], FIRST]
                                + np.int64(ranks[row, step])
                                + np.int64(ones(bits[row, step] & below))
                            )
                    else:
                        left = np.uint64(0)
                        place = entries[rarest, FIRST] + step
                        doc = np.int64(docs[place])
                        at[order[0]] = place
                        there = True
                        for i in range(1, words):
                            w = order[i]
                            word, row = rows[w], entries[rows[w], BITS_ROW]
                            if row >= 0:
                                held_bits, bit = bits[row, doc >> 6], np.uint64(1) << np.uint64(doc & 63)
                                if not held_bits & bit:
                                    there = False
                                    break
                                below = bit - np.uint64(1)
                                at[w] = (
                                    entries[word, FIRST]
                                    + np.int64(ranks[row, doc >> 6])
                                    + np.int64(ones(held_bits & below))
                                )
                            else:
                                stop = entries[word, FIRST] + entries[word, COUNT]
                                place = _place_of(docs, cursors[w], stop, doc)
                                cursors[w] = place
                                if place == stop or docs[place] != doc:
                                    there = False
                                    break
                                at[w] = place
                        if not there:
                            continue
                    if dead[doc]:
                        continue
                    if kinds[x] == ORDERED:
                        tf = _count_ordered(slots, low, high, n, at, starts, positions, chain)
                    else:
                        tf = _count_in_window(widths[x], needed, words, at, starts, positions, events, held)
                    if tf:
                        docs_out[o], tfs_out[o] = doc, tf
                        totals[x] += tf
                        o += 1
        counts[x] = o - first


@inner
def _chain_intervals(low, high, ends, begins_in, ends_in, first, stop, chain):
    """Write the intervals of an operator ORDERED in a document to `chain`. Return their row there, and their number.

    Part p has the intervals from first[p] to stop[p] in `begins_in` and `ends_in`.
    """
    old, new, size = 0, 2, 0
    for i in range(first[0], stop[0]):
        chain[old, size], chain[old + 1, size] = begins_in[i], ends_in[i]
        size += 1
    for part in range(1, len(ends)):
        found, x = 0, 0
        for i in range(first[part], stop[part]):
            while x < size and chain[old + 1, x] <= begins_in[i] - low[part]:
                x += 1
            if x > 0 and chain[old + 1, x - 1] >= begins_in[i] - high[part]:
                chain[new, found], chain[new + 1, found] = chain[old, x - 1], ends_in[i]
                found += 1
        old, new, size = new, old, found
    # Of the intervals with one begin, only the first lies around no other.
    found = 0
    for i in range(size):
        if found == 0 or chain[old, i] > chain[old, found - 1]:
            chain[old, found], chain[old + 1, found] = chain[old, i], chain[old + 1, i]
            found += 1
    return old, found


@inner
def _next_end(begins_in, ends_in, i, stop, after):
    """Return the end of the first interval from place i on that begins after `after`, or NEVER."""
    while i < stop and begins_in[i] <= after:
        i += 1
    return np.int64(ends_in[i]) if i < stop else np.int64(NEVER)


@inner
def _window_intervals(width, parts, begins_in, ends_in, first, stop, keys, least, chain):
    """Write the intervals of an operator WINDOW in a document to the first rows of `chain`. Return their number.

    Part p has the intervals from first[p] to stop[p]; first[p] moves on. For each begin, and for each set of parts,
    `least` gets the earliest end of intervals of these parts that share no position and do not begin before it.
    """
    n = found = 0
    for p in range(parts):
        for i in range(first[p], stop[p]):
            keys[n] = begins_in[i]
            n += 1
    keys[:n].sort()
    for k in range(n):
        if k > 0 and keys[k] == keys[k - 1]:
            continue
        begin, possible = keys[k], True
        for p in range(parts):
            while first[p] < stop[p] and begins_in[first[p]] < begin:
                first[p] += 1
            if first[p] == stop[p]:
                return found
            possible &= ends_in[first[p]] - begin < width
        if not possible:
            continue
        least[0] = begin - 1
        for chosen in range(1, 1 << parts):
            least[chosen] = NEVER
            for p in range(parts):
                if chosen >> p & 1:
                    before = least[chosen ^ (1 << p)]
                    if before < begin + width:
                        least[chosen] = min(least[chosen], _next_end(begins_in, ends_in, first[p], stop[p], before))
        end = least[(1 << parts) - 1]
        if end - begin < width:
            # Of the intervals with one end, only the last lies around no other.
            if found > 0 and chain[1, found - 1] == end:
                found -= 1
            chain[0, found], chain[1, found] = begin, end
            found += 1
    return found


@inner
def _joined_intervals(parts, begins_in, ends_in, first, stop, keys, chain):
    """Write the intervals of an operator SYNONYMS in a document to the first rows of `chain`. Return their number."""
    n = found = 0
    for p in range(parts):
        for i in range(first[p], stop[p]):
            # The interval with the earlier end comes first; of equal ends, that with the later begin.
            keys[n] = np.int64(ends_in[i]) << 31 | (0x7FFFFFFF - np.int64(begins_in[i]))
            n += 1
    keys[:n].sort()
    for i in range(n):
        begin, end = 0x7FFFFFFF - (keys[i] & 0x7FFFFFFF), keys[i] >> 31
        if found == 0 or begin > chain[0, found - 1]:
            chain[0, found], chain[1, found] = begin, end
            found += 1
    return found


@kernel((int64, int64, I64, I64, I64, I32, I64, I32, I32, I32, I64, I32, I32), before="search")
def combine(
    kind, width, low, high, part_ends, docs, starts, begins_in, ends_in, docs_out, starts_out, begins_out, ends_out
):  # fmt: skip
    """Write the intervals of an operator to the arrays `…_out`, document by document. Return the number of documents.

    The documents of part p end at part_ends[p] in `docs`. The intervals of the document at place d are those from
    starts[d] to starts[d + 1]. `low` and `high` have the least and the greatest distance of each part from the part
    before.
    """
    parts, longest, total = len(part_ends), np.int64(0), np.int64(0)
    at, first, stop = np.zeros(parts, np.int64), np.empty(parts, np.int64), np.empty(parts, np.int64)
    for p in range(parts):
        at[p], most = part_ends[p - 1] if p else 0, np.int64(0)
        for d in range(at[p], part_ends[p]):
            most = max(most, starts[d + 1] - starts[d])
        longest, total = max(longest, most), total + most
    chain = np.empty((4, max(longest, total if kind != ORDERED else 0)), np.int64)
    keys, least = np.empty(total, np.int64), np.empty(1 << parts if kind == WINDOW else 1, np.int64)
    n, o = np.int64(0), np.int64(0)
    starts_out[0] = 0
    while True:
        # The next document: the least one of any part for SYNONYMS, the greatest next one of all parts for others.
        doc, finished = np.int64(-1), np.int64(0)
        for p in range(parts):
            if at[p] == part_ends[p]:
                finished += 1
            elif doc < 0:
                doc = np.int64(docs[at[p]])
            elif kind == SYNONYMS:
                doc = min(doc, np.int64(docs[at[p]]))
            else:
                doc = max(doc, np.int64(docs[at[p]]))
        if finished == parts or (finished and kind != SYNONYMS):
            return n
        everywhere = True
        for p in range(parts):
            if kind != SYNONYMS:
                at[p] = _place_of(docs, at[p], part_ends[p], doc)
            there = at[p] < part_ends[p] and docs[at[p]] == doc
            everywhere &= there
            first[p], stop[p] = (starts[at[p]], starts[at[p] + 1]) if there else (np.int64(0), np.int64(0))
        if everywhere or kind == SYNONYMS:
            row = 0
            if kind == ORDERED:
                row, found = _chain_intervals(low, high, part_ends, begins_in, ends_in, first, stop, chain)
            elif kind == WINDOW:
                found = _window_intervals(width, parts, begins_in, ends_in, first, stop, keys, least, chain)
            else:
                found = _joined_intervals(parts, begins_in, ends_in, first, stop, keys, chain)
            for i in range(found):
                begins_out[o], ends_out[o] = chain[row, i], chain[row + 1, i]
                o += 1
            if found:
                docs_out[n] = doc
                n += 1
                starts_out[n] = o
            for p in range(parts):
                at[p] += at[p] < part_ends[p] and docs[at[p]] == doc


@kernel((I32, I64, I32, I32, FLAGS, I32, I32), before="search")
def count(docs, starts, begins, ends, dead, docs_out, tfs_out):
    """Write the number of intervals without overlap in each live document. Return the number of documents."""
    n = np.int64(0)
    for d in range(len(docs)):
        if not dead[docs[d]]:
            docs_out[n], tfs_out[n] = docs[d], _disjoint(begins, ends, starts[d], starts[d + 1])
            n += 1
    return n
