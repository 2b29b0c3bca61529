"""Kernels of operators: find the documents in which operators occur, and count the occurrences.

`docs/operators.md` says what an occurrence is. An occurrence is an interval of positions, from `begin` to `end`. No
interval of an operator lies within another one, so the intervals of an operator in a document have ascending begins
and ascending ends.

The postings of words lie in memory, one word after the other. Word w has a row in `entries`. `docs` has the document of
each posting, and the positions of posting p are `positions[starts[p]:starts[p + 1]]`. In the mark of the posting,
`marks[p]`, bit x is set if some position divided by 64 leaves the remainder x. If two words are not near each other, their
marks usually show it. A frequent word also has a row in `bits` and `ranks`: a bit for each document that holds the word,
and for every 64 documents the number of the word's postings before them.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from sublex.retrieval.block_kernels import BITS, RANKS
from sublex.retrieval.coding.coding_kernels import FLAGS, I32, I64, LISTS, U64, skip_to
from sublex.tools.bit_kernels import ones
from sublex.tools.compiled import inner, kernel

# The columns of `entries`. FIRST: the place of the word's first posting. COUNT: its number of postings. BITS_ROW: its
# row in `bits` and `ranks`, or -1. LONGEST: the largest number of its positions in a document.
FIRST, COUNT, BITS_ROW, LONGEST, COLUMNS = 0, 1, 2, 3, 4
# The kinds of operators. For `combine`, a WINDOW whose parts are all words has the kind WORDS.
ORDERED, WINDOW, SYNONYMS, WORDS = 0, 1, 2, 3
# Where parts are given by the rows of their words, GAP stands for a gap, and LACKING for a word that the segment lacks.
GAP, LACKING = -2, -1
# The number of candidates that are collected before their marks are read.
CANDIDATES = 1 << 10
# The end of an interval that does not exist. It is above every position.
NEVER = 1 << 40


@kernel((int64, I32, BITS, RANKS), before="operators")
def fill_bits(row, docs, bits, ranks):
    """Fill in row `row` of `bits`, where all bits are 0, and of `ranks` for a word with these documents.

    Return True, or False if the documents do not ascend; the row is then only partly filled.
    """
    last, total = np.int64(-1), np.int64(0)
    for i in range(len(docs)):
        doc = np.int64(docs[i])
        if doc <= last or doc >= 64 * bits.shape[1]:
            return False
        last = doc
        bits[row, doc >> 6] |= np.uint64(1) << np.uint64(doc & 63)
    for word in range(bits.shape[1]):
        ranks[row, word] = total
        total += np.int64(ones(bits[row, word]))
    return True


@kernel((I64, I32, I32, I32, int64, int64, int64, I32, I32, I32, U64, LISTS), before="operators")
def put_words(counts, docs_in, tfs, positions_in, word, posting, position, docs, starts, positions, marks, entries):
    """Write the postings and the positions of words.

    Writing begins at row `word` of `entries`, at place `posting` of postings and at place `position` of positions. `counts`
    has the number of postings of each word. `docs_in`, `tfs` and `positions_in` have the postings of one word after the
    other. The words get no row of bits. Return False if the number of positions differs from the number of occurrences.
    """
    i = at = np.int64(0)
    for x in range(len(counts)):
        longest, end = np.int64(0), i + counts[x]
        entries[word + x, FIRST], entries[word + x, COUNT], entries[word + x, BITS_ROW] = posting + i, counts[x], -1
        while i < end:
            stop, mark = at + tfs[i], np.uint64(0)
            if stop > len(positions_in):
                return False
            longest = max(longest, np.int64(tfs[i]))
            docs[posting + i], starts[posting + i] = docs_in[i], position + at
            while at < stop:
                positions[position + at] = positions_in[at]
                mark |= np.uint64(1) << np.uint64(positions_in[at] & 63)
                at += 1
            marks[posting + i] = mark
            i += 1
        entries[word + x, LONGEST] = longest
    starts[posting + i] = position + at
    return at == len(positions_in)


@inner
def _turned(mark, steps):
    """Return the mark of positions, given by their mark, after `steps` (0 to 63) is added to each position."""
    left = np.uint64(steps)
    return mark << left | mark >> (np.uint64(64) - left & np.uint64(63))


@inner
def _spread(mark, nearest, farthest):
    """Return the mark of all positions that are `nearest` to `farthest` after any position in `mark`."""
    if farthest - nearest >= 63:
        return ~np.uint64(0)
    mark, done = _turned(mark, nearest & 63), np.int64(1)
    while done <= farthest - nearest:
        step = min(done, farthest - nearest + 1 - done)
        mark |= _turned(mark, step)
        done += step
    return mark


@inner
def _read_parts(parts, width, entries, slots, nearest, farthest, rows, needed, order):
    """Describe one operator whose parts are words and gaps.

    Return its number of parts that are words, and of distinct words. The number of distinct words is -1 if the segment
    lacks a word. For each part that is a word, `slots` gets the number of its word among the distinct words, and
    `nearest` and `farthest` get the least and the greatest distance from the word before. For each distinct word,
    `rows` gets its row in `entries`, and `needed` its number of parts. `order` gets the numbers of the distinct words,
    rarest first.
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
        slots[n], nearest[n], farthest[n] = slot, gaps + 1, (gaps + 1) * width
        gaps = 0
        n += 1
    return n, words


@inner
def _count_ordered(slots, nearest, farthest, n, at, starts, positions, chain):
    """Return the number of occurrences of an operator ORDERED in a document. Word w has the posting at[w].

    `_read_parts` has filled in `slots`, `nearest` and `farthest` for the n parts that are words. `chain` is scratch
    space for the occurrences of the first parts: their begins and ends, before and after the next part is added. If
    several occurrences end at the same place, it has the one that begins last.
    """
    old, new, size = np.uint64(0), np.uint64(2), np.uint64(0)
    one, count, last = np.uint64(1), np.int64(0), np.int64(-1)
    p = np.uint64(at[slots[0]])
    for i in range(np.uint64(starts[p]), np.uint64(starts[p + one])):
        chain[old, size] = chain[old + one, size] = positions[i]
        size += one
    for part in range(1, n):
        p, found, x = np.uint64(at[slots[part]]), np.uint64(0), np.uint64(0)
        for i in range(np.uint64(starts[p]), np.uint64(starts[p + one])):
            position = np.int64(positions[i])
            while x < size and chain[old + one, x] <= position - nearest[part]:
                x += one
            if x > 0 and chain[old + one, x - one] >= position - farthest[part]:
                begin = chain[old, x - one]
                if part < n - 1:
                    chain[new, found], chain[new + one, found] = begin, position
                    found += one
                elif begin > last:
                    # Intervals of the whole operator are counted if they do not overlap. The earliest end is taken first.
                    last = position
                    count += 1
        old, new, size = new, old, found
    return count


@inner
def _fetch(chosen, words, postings, starts, positions):
    """Read the first positions of postings, so that the processor loads them into its cache in parallel.

    Return a number that depends on all of them: the compiler removes reads whose result is not used.
    """
    total = np.int64(0)
    for w in range(words):
        own = postings[w]
        for c in chosen:
            total += positions[np.uint64(starts[np.uint64(own[np.uint64(c)])])]
    return total


@inner
def _disjoint(begins, ends, first, stop):
    """Return the number of intervals that do not overlap. The interval with the earliest end is always taken next."""
    count, last = np.int64(0), np.int64(-1)
    for i in range(first, stop):
        if begins[i] > last:
            last = ends[i]
            count += 1
    return count


@inner
def _count_in_window(width, needed, words, at, starts, positions, events, seen):
    """Return the number of occurrences of an operator WINDOW in a document. Word w has the posting at[w], and needed[w] parts.

    `events` and `seen` are scratch space. `events` gets the positions of all words; `seen` gets the number of each word's
    positions between the event `left` and the present event.
    """
    n = 0
    for w in range(words):
        seen[w] = 0
        for i in range(starts[at[w]], starts[at[w] + 1]):
            events[n] = np.int64(positions[i]) << 10 | w
            n += 1
    # Most documents have few events, which are sorted by insertion.
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
        seen[w] += 1
        lacking -= seen[w] == needed[w]
        if lacking == 0:
            while seen[events[left] & 1023] > needed[events[left] & 1023]:
                seen[events[left] & 1023] -= 1
                left += 1
            begin, end = events[left] >> 10, events[right] >> 10
            if begin > last and end - begin < width:
                last = end
                count += 1
    return count


@inner
def _near(ordered, width, slots, nearest, farthest, parts, found, postings, marks, chosen, reached):
    """Write to `chosen` the candidates in which the marks allow an occurrence. Return their number.

    There are `found` candidates; word w has the posting postings[w, c] in candidate c. For an operator ORDERED,
    `slots` has the word of each part. `reached` is scratch space: for an operator ORDERED, the marks of the places
    where the parts so far can end; for an operator WINDOW, the marks of the places near the first word.
    """
    first = postings[slots[0] if ordered else 0]
    for c in range(found):
        chosen[c], reached[c] = c, marks[np.uint64(first[c])]
    if not ordered:
        if width >= 32:
            return found
        for c in range(found):
            reached[c] = _spread(_turned(reached[c], (65 - width) & 63), 0, 2 * width - 2)
    for part in range(1, parts):
        own, left = postings[slots[part] if ordered else part], 0
        for c in range(found):
            mark = marks[np.uint64(own[chosen[c]])]
            both = (_spread(reached[c], nearest[part], farthest[part]) if ordered else reached[c]) & mark
            # In a WINDOW each word has to be near the first word, so the places near the first word stay the same.
            chosen[left], reached[left] = chosen[c], both if ordered else reached[c]
            left += both != 0
        found = left
    return found


@kernel((
    I64, I64, I64, I64, LISTS, I32, I32, I32, U64, BITS, RANKS, FLAGS, I32, I32, I64, I64,
), before="operators")  # fmt: skip
def occurrences(
    kinds, widths, part_ends, parts, entries, docs, starts, positions, marks, bits, ranks, dead, docs_out, tfs_out, counts,
    totals
):  # fmt: skip
    """Write the postings of operators, one after the other, to `docs_out` and `tfs_out`. Deleted documents are left out.

    The operators are ORDERED or WINDOW. Their parts are words and gaps; the parts of operator x end at part_ends[x]. `parts`
    has the row of each word in `entries`, or GAP, or LACKING. `counts` gets the number of postings of each operator, and
    `totals` its number of occurrences.
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
    slots, nearest, farthest = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    rows, needed, order = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    at, cursors, seen = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    firsts, bit_rows = np.empty(most, np.int64), np.empty(most, np.int64)
    chain, events = np.empty((4, longest), np.int64), np.empty(sum_longest, np.int64)
    # An array of one dimension is indexed faster than an array of rows.
    width, all_bits, all_ranks = bits.shape[1], bits.reshape(-1), ranks.reshape(-1)
    together, postings = np.empty(width, np.uint64), np.empty((most, CANDIDATES), np.int64)
    candidates, chosen, reached = (
        np.empty(CANDIDATES, np.int64),
        np.empty(CANDIDATES, np.int64),
        np.empty(CANDIDATES, np.uint64),
    )
    begin = o = fetched = np.int64(0)
    for x in range(len(kinds)):
        n, words = _read_parts(
            parts[begin : part_ends[x]], widths[x], entries, slots, nearest, farthest, rows, needed, order
        )
        begin, first = part_ends[x], o
        totals[x] = 0
        frequent, ordered = True, kinds[x] == ORDERED
        for w in range(words):
            firsts[w] = cursors[w] = entries[rows[w], FIRST]
            bit_rows[w] = entries[rows[w], BITS_ROW] * width
            frequent &= bit_rows[w] >= 0
        # If every word is frequent, a step looks at 64 documents together. If not, it looks at one posting of the rarest word.
        steps = np.int64(0)
        if words > 0:
            steps = width if frequent else entries[rows[order[0]], COUNT]
        for w in range(words if frequent else 0):
            own_bits = all_bits[bit_rows[w] : bit_rows[w] + width]
            for step in range(width):
                together[step] = own_bits[step] & (together[step] if w else ~np.uint64(0))
        step = np.int64(0)
        while step < steps:
            # Candidates are documents that hold all words. They are collected first, so that the processor can read the
            # marks of many postings at a time.
            found = 0
            while step < steps and found <= CANDIDATES - 64:
                if frequent:
                    left = together[np.uint64(step)]
                    while left:
                        below = (left & (~left + np.uint64(1))) - np.uint64(1)
                        left &= left - np.uint64(1)
                        candidates[found] = step * 64 + np.int64(ones(below))
                        for w in range(words):
                            place = np.uint64(bit_rows[w] + step)
                            postings[w, found] = (
                                firsts[w] + np.int64(all_ranks[place]) + np.int64(ones(all_bits[place] & below))
                            )
                        found += 1
                else:
                    doc, there = np.int64(docs[np.uint64(firsts[order[0]] + step)]), True
                    bit = np.uint64(1) << np.uint64(doc & 63)
                    postings[order[0], found], candidates[found] = firsts[order[0]] + step, doc
                    for i in range(1, words):
                        w = order[i]
                        if bit_rows[w] >= 0:
                            place = np.uint64(bit_rows[w] + (doc >> 6))
                            there = (all_bits[place] & bit) != 0
                            below = all_bits[place] & (bit - np.uint64(1))
                            postings[w, found] = firsts[w] + np.int64(all_ranks[place]) + np.int64(ones(below))
                        else:
                            stop = firsts[w] + entries[rows[w], COUNT]
                            cursors[w] = skip_to(docs, cursors[w], stop, doc)
                            there = cursors[w] < stop and docs[cursors[w]] == doc
                            postings[w, found] = cursors[w]
                        if not there:
                            break
                    found += there
                step += 1
            kept = _near(
                ordered,
                widths[x],
                slots,
                nearest,
                farthest,
                n if ordered else words,
                found,
                postings,
                marks,
                chosen,
                reached,
            )
            fetched += _fetch(chosen[:kept], words, postings, starts, positions)
            for c in chosen[:kept]:
                if dead[candidates[c]]:
                    continue
                for w in range(words):
                    at[w] = postings[w, c]
                if ordered:
                    tf = _count_ordered(slots, nearest, farthest, n, at, starts, positions, chain)
                else:
                    tf = _count_in_window(widths[x], needed, words, at, starts, positions, events, seen)
                if tf:
                    docs_out[o], tfs_out[o] = candidates[c], tf
                    totals[x] += tf
                    o += 1
        counts[x] = o - first
    return fetched


@inner
def _chain_intervals(nearest, farthest, ends, begins_in, ends_in, first, stop, chain):
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
            while x < size and chain[old + 1, x] <= begins_in[i] - nearest[part]:
                x += 1
            if x > 0 and chain[old + 1, x - 1] >= begins_in[i] - farthest[part]:
                chain[new, found], chain[new + 1, found] = chain[old, x - 1], ends_in[i]
                found += 1
        old, new, size = new, old, found
    # Of several intervals with the same begin, only the first contains no other interval.
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

    Part p has the intervals from first[p] to stop[p]; first[p] moves on. `least` is scratch space with a place for
    each set of parts. For the present begin, it has the earliest end of intervals, one for each part of the set, that
    share no position and do not begin earlier.
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
        # If the first intervals of all parts share no position, no other intervals can end earlier.
        end, apart = np.int64(0), True
        for p in range(parts):
            end = max(end, np.int64(ends_in[first[p]]))
            for q in range(p):
                apart &= ends_in[first[p]] < begins_in[first[q]] or ends_in[first[q]] < begins_in[first[p]]
        if not apart:
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
            # Of several intervals with the same end, only the last contains no other interval.
            if found > 0 and chain[1, found - 1] == end:
                found -= 1
            chain[0, found], chain[1, found] = begin, end
            found += 1
    return found


@inner
def _word_intervals(width, needed, positions, first, stop, events, seen, chain):
    """Write the intervals of an operator WINDOW of words in a document to the first rows of `chain`. Return their number.

    Word w has the positions from first[w] to stop[w] in `positions`, and needed[w] parts. `events` and `seen` are scratch
    space. `events` gets the positions of all words; `seen` gets the number of each word's positions between the event
    `left` and the present event.
    """
    n = found = left = np.int64(0)
    words = lacking = np.int64(len(needed))
    for w in range(words):
        seen[w] = 0
        for i in range(first[w], stop[w]):
            events[n] = np.int64(positions[i]) << 10 | w
            n += 1
    events[:n].sort()
    for right in range(n):
        w = events[right] & 1023
        seen[w] += 1
        lacking -= seen[w] == needed[w]
        if lacking:
            continue
        while seen[events[left] & 1023] > needed[events[left] & 1023]:
            seen[events[left] & 1023] -= 1
            left += 1
        begin, end = events[left] >> 10, events[right] >> 10
        # Of several intervals with the same begin, only the first contains no other interval; of several with the same end,
        # only the last.
        if end - begin < width and (found == 0 or begin > chain[0, found - 1]):
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
            # The interval with the earlier end comes first. If ends are equal, the interval with the later begin comes first.
            keys[n] = np.int64(ends_in[i]) << 31 | (0x7FFFFFFF - np.int64(begins_in[i]))
            n += 1
    keys[:n].sort()
    for i in range(n):
        begin, end = 0x7FFFFFFF - (keys[i] & 0x7FFFFFFF), keys[i] >> 31
        if found == 0 or begin > chain[0, found - 1]:
            chain[0, found], chain[1, found] = begin, end
            found += 1
    return found


@kernel((int64, int64, I64, I64, I64, I64, I32, I64, I32, I32, I32, I64, I32, I32), before="operators")
def combine(
    kind, width, nearest, farthest, needed, part_ends, docs, starts, begins_in, ends_in, docs_out, starts_out, begins_out,
    ends_out
):  # fmt: skip
    """Write the intervals of an operator to the arrays `…_out`, document by document. Return the number of documents.

    The documents of part p end at part_ends[p] in `docs`. The intervals of the document at place d are those from
    starts[d] to starts[d + 1]. `nearest` and `farthest` have the least and the greatest distance of each part from the part
    before. A WINDOW has few parts, because time and memory double with each part. For WORDS, the parts are distinct words,
    and needed[p] is the number of parts of the operator that are the word p.
    """
    parts, longest, total = len(part_ends), np.int64(0), np.int64(0)
    seen = np.empty(parts, np.int64)
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
        # The next document. For SYNONYMS, it is the least of the parts' next documents; for other kinds, the greatest of them.
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
                at[p] = skip_to(docs, at[p], part_ends[p], doc)
            there = at[p] < part_ends[p] and docs[at[p]] == doc
            everywhere &= there
            first[p], stop[p] = (starts[at[p]], starts[at[p] + 1]) if there else (np.int64(0), np.int64(0))
        if everywhere or kind == SYNONYMS:
            row = 0
            if kind == ORDERED:
                row, found = _chain_intervals(nearest, farthest, part_ends, begins_in, ends_in, first, stop, chain)
            elif kind == WORDS:
                found = _word_intervals(width, needed, begins_in, first, stop, keys, seen, chain)
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


@kernel((I32, I64, I32, I32, FLAGS, I32, I32), before="operators")
def count(docs, starts, begins, ends, dead, docs_out, tfs_out):
    """Count the intervals without overlap in each live document. Write documents and counts, and return their number.

    The intervals are given as in `operators.Intervals`; `dead` marks deleted documents.
    """
    n = np.int64(0)
    for d in range(len(docs)):
        if not dead[docs[d]]:
            docs_out[n], tfs_out[n] = docs[d], _disjoint(begins, ends, starts[d], starts[d + 1])
            n += 1
    return n
