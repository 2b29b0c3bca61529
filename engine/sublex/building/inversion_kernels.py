"""Kernels that count the terms of documents, and invert the counts into posting lists.

The byte code, in which lists are kept until the segment is written, is that of `index.posting_kernels`. String k of a
table of strings (ends, arena) is arena[ends[k - 1]:ends[k]]. The rank of a term is its place in the order of the
terms' bytes.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64

from sublex.index.lexicon_kernels import compare_bytes
from sublex.index.posting_kernels import code_size, encode_lists_into, get_posting, put_number
from sublex.tools.compiled import FLAGS, I32, I64, U8, inner, kernel

# The type of `records` in the signatures of the kernels.
RECORDS = int32[:, ::1]
# The columns of `records`, which has a row for each term of a batch: the place of the term's last entry; its last
# document, or -1; the number of bytes of its posting list; the number of its documents.
PLACE, DOC, BYTES, DF = range(4)


@inner
def _count(term, first, o, records, entries, tfs):
    """Count one occurrence of `term` in the document whose entries begin at `first`.

    Return the place for the next new entry. An entry is a place of `entries` and `tfs`. A term without an entry in
    this document gets the entry at the place `o`. The number 0 means no term; its entry is written too, but the next
    new entry overwrites it. So the code needs no branches, which a processor could not predict.
    """
    at = np.int64(records[term, PLACE])
    place = at if at >= first else o
    tf = tfs[place]
    entries[place] = term
    tfs[place] = (tf if at >= first else np.int32(0)) + np.int32(1)
    records[term, PLACE] = place if term > 0 else -1
    return o + (np.int64(at < first) & np.int64(term > 0))


@kernel((I32, I64, FLAGS, I32, I64, I32, I32), before="build")
def count_terms(tokens, token_ends, keep, numbers, term_ends, term_flat, places):
    """Count the terms of the documents of a batch that the mask `keep` selects.

    `tokens` has the tokens of the batch, each by its place among the batch's distinct tokens; document d ends at
    token_ends[d]. Distinct token t has the number x = numbers[t] in the segment, and its terms are
    term_flat[term_ends[x - 1]:term_ends[x]]. `places` must be an array of zeros with an element for each term of the
    segment. The kernel numbers the terms of the batch from 1, in the order of their first appearance, and writes these
    numbers to `places`. It returns (met, entries, tfs, ends, lengths, records, cf, counts, begins, flat):

    * met[n - 1] is the term with the number n.
    * `entries` and `tfs` have the numbers and frequencies of the distinct terms of each document, in the order of first
      appearance, document after document. `ends` has the place where each document ends in these two arrays.
    * `lengths` has the number of terms of each document, with repetitions.
    * records[n] has, for term n, the bytes of its posting list in the byte code (column BYTES) and the number of its
      documents (column DF).
    * cf[n] is the number of occurrences of term n.
    * `counts` has the number of occurrences of each distinct token in the selected documents.
    * flat[begins[t]:begins[t + 1]] are the numbers of the terms of distinct token t.
    """
    room = 0
    for local in range(len(numbers)):
        token = numbers[local]
        room += term_ends[token] - (term_ends[token - 1] if token else 0)
    begins, met, flat = np.empty(len(numbers) + 1, np.int64), np.empty(room, np.int32), np.empty(room, np.int32)
    # Two columns for each token. The first is its term if it has exactly one term, 0 if it has none, and -1 if it has
    # several. The second is the number of its occurrences.
    found = np.zeros((len(numbers), 2), np.int32)
    n, x = np.int32(0), np.int64(0)
    for local in range(len(numbers)):
        token = numbers[local]
        begins[local] = x
        for y in range(term_ends[token - 1] if token else 0, term_ends[token]):
            term = term_flat[y]
            if places[term] == 0:
                met[n] = term
                n += 1
                places[term] = n
            flat[x] = places[term]
            x += 1
        width = x - begins[local]
        found[local, 0] = flat[x - 1] if width == 1 else (0 if width == 0 else -1)
    begins[len(numbers)] = x
    docs, room = 0, len(tokens) + 1
    for i in range(len(tokens)):
        if found[tokens[i], 0] < 0:
            room += begins[tokens[i] + 1] - begins[tokens[i]]
    for doc in range(len(keep)):
        docs += keep[doc]
    entries, tfs = np.empty(room, np.int32), np.empty(room, np.int32)
    ends, lengths = np.empty(docs, np.int64), np.empty(docs, np.int32)
    records = np.zeros((n + 1, 4), np.int32)
    for term in range(n + 1):
        records[term, PLACE] = records[term, DOC] = -1
    d, o, i = np.int32(0), np.int64(0), np.int64(0)
    for doc in range(len(keep)):
        end = token_ends[doc]
        if not keep[doc]:
            i = end
            continue
        first, length = o, np.int64(0)
        while i < end:
            local = tokens[i]
            i += 1
            term = found[local, 0]
            found[local, 1] += 1
            if term >= 0:
                o = _count(term, first, o, records, entries, tfs)
                length += np.int64(term > 0)
                continue
            for y in range(begins[local], begins[local + 1]):
                o = _count(flat[y], first, o, records, entries, tfs)
                length += 1
        for at in range(first, o):
            term, tf = entries[at], np.int64(tfs[at])
            gap = np.int64(d - records[term, DOC] - 1)
            records[term, DOC] = d
            records[term, BYTES] += code_size(gap << 1) + np.int32(tf > 1) * code_size(tf - 2)
            records[term, DF] += 1
        ends[d], lengths[d] = o, length
        d += 1
    cf, counts = np.zeros(n + 1, np.int64), np.empty(len(numbers), np.int64)
    for local in range(len(numbers)):
        counts[local] = found[local, 1]
        for y in range(begins[local], begins[local + 1]):
            cf[flat[y]] += counts[local]
    return met[:n].copy(), entries[:o], tfs[:o], ends, lengths, records, cf, counts, begins, flat


@kernel((I32, I64, FLAGS, I64, I32, I64, int64), before="positions")
def invert_positions(tokens, field_ends, keep, begins, flat, cursors, gap):
    """Return the positions of the terms of a batch as bytes, the bytes of one position, and the begins of fields.

    `tokens` and `keep` are arguments of `count_terms`, and `begins` and `flat` its results. `field_ends` says where
    the tokens of each document's title, text and other fields end, document after document. Each term takes one
    position. A token without terms takes one position too, which stays free. Between two fields that have tokens,
    `gap` positions stay free. The positions of term n are written from cursors[n] on, in the order of the documents,
    and the kernel advances cursors[n]. A position takes 2 or 4 bytes.

    The third result has, document after document, the position at which each field but the title begins. A field without
    tokens begins where the field before it ends.
    """
    fields = len(field_ends) // max(1, len(keep))
    i, total, longest, docs = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for doc in range(len(keep)):
        positions = gap * (fields - 1)
        docs += keep[doc]
        while i < field_ends[doc * fields + fields - 1]:
            terms = begins[tokens[i] + 1] - begins[tokens[i]]
            positions += max(terms, 1)
            total += terms * keep[doc]
            i += 1
        longest = max(longest, positions * keep[doc])
    size = np.int64(2) if longest <= 1 << 16 else np.int64(4)
    out, places = np.empty(total * size, np.uint8), np.empty(docs * (fields - 1), np.int32)
    i = place = np.int64(0)
    for doc in range(len(keep)):
        if not keep[doc]:
            i = field_ends[doc * fields + fields - 1]
            continue
        first, position = i, np.int64(0)
        for field in range(fields):
            end = field_ends[doc * fields + field]
            if first < i < end:
                position += gap
            if field > 0:
                places[place] = position
                place += 1
            while i < end:
                begin, stop = begins[tokens[i]], begins[tokens[i] + 1]
                i += 1
                if begin == stop:
                    position += 1
                for y in range(begin, stop):
                    o = cursors[flat[y]]
                    cursors[flat[y]] = o + 1
                    if size == 2:
                        out[2 * o] = position & 255
                        out[2 * o + 1] = position >> 8
                    else:
                        for byte in range(4):
                            out[4 * o + byte] = position >> (8 * byte) & 255
                    position += 1
    return out, size, places


@kernel((I32, I32, I64, RECORDS, I32), before="build")
def invert_batch(entries, tfs, ends, records, order):
    """Return the posting lists of a batch in the byte code, end to end, with documents counted from 0 within the batch.

    `entries`, `tfs`, `ends` and `records` are results of `count_terms`. `order` lists the terms, by their numbers in
    the batch, in the order in which their lists are returned.
    """
    # Two columns for each term: the place for the next posting of its list, and the last document in the list.
    state = np.empty((len(records), 2), np.int64)
    total = np.int64(0)
    for k in range(len(order)):
        state[order[k], 0], state[order[k], 1] = total, -1
        total += records[order[k], BYTES]
    # There are three spare bytes at the end, for two reasons. A posting is always written as three bytes, even if it needs
    # fewer. And the kernels that decode read three bytes ahead.
    out = np.zeros(total + 3, np.uint8)
    i = np.int64(0)
    for doc in range(len(ends)):
        while i < ends[doc]:
            term, tf = entries[i], np.int64(tfs[i])
            i += 1
            o, gap = state[term, 0], (doc - state[term, 1] - 1) << 1 | np.int64(tf == 1)
            state[term, 1] = doc
            if gap < 1 << 14 and tf < 130:
                # The code has no branch for the size of the gap (one byte or two) or for the frequency (one or more).
                long, more = np.int64(gap >= 128), np.int64(tf > 1)
                out[o] = gap & 127 | long << 7
                out[o + 1] |= gap >> 7
                out[o + 1 + long] |= (tf - 2) * more
                o += 1 + long + more
            else:
                o = put_number(out, o, gap)
                if tf > 1:
                    o = put_number(out, o, tf - 2)
            state[term, 0] = o
    return out[:total]


@kernel((I32, I32, U8, I64, I64, I64, I64, I32, int64, I64, I32, I32), before="build")
def join_lists(terms, sizes, data, begins, ends, offsets, first_docs, ranks, first_rank, cursors, docs, tfs):
    """Decode the lists of consecutive terms from consecutive batches, and append them to the posting lists of these terms.

    Batch b has the lists of the terms terms[begins[b]:ends[b]]; list k takes sizes[k] bytes. The lists of the batch
    begin at data[offsets[b]], and their documents are counted from first_docs[b]. Three spare bytes follow the data.
    The postings of term t go to `docs` and `tfs` from the place cursors[ranks[t] - first_rank] on. The kernel advances
    this cursor to the place after them.
    """
    for b in range(len(begins)):
        at, before = offsets[b], first_docs[b] - 1
        for k in range(begins[b], ends[b]):
            place = ranks[terms[k]] - first_rank
            o, doc, stop = cursors[place], before, at + sizes[k]
            while at < stop:
                gap, tf, at = get_posting(data, at)
                doc += gap + 1
                docs[o], tfs[o] = doc, tf
                o += 1
            cursors[place] = o


@kernel((I32, I32, U8, I64, I64, I64, I64, I32, int64, I64, I32), before="positions")
def join_positions(terms, counts, data, sizes, begins, ends, offsets, ranks, first_rank, cursors, positions):
    """Append the positions of consecutive terms from consecutive batches to the positions of these terms.

    `invert_positions` made the positions. Batch b has those of the terms terms[begins[b]:ends[b]] in `data`, from the byte
    offsets[b] on. List k has counts[k] positions, and each position takes sizes[b] bytes. The positions of term t go to
    `positions` from the place cursors[ranks[t] - first_rank] on. The kernel advances this cursor to the place after them.
    """
    for b in range(len(begins)):
        at, size = offsets[b], sizes[b]
        for k in range(begins[b], ends[b]):
            place = ranks[terms[k]] - first_rank
            o = cursors[place]
            for _ in range(counts[k]):
                position = np.int64(data[at]) | np.int64(data[at + 1]) << 8
                if size == 4:
                    position |= np.int64(data[at + 2]) << 16 | np.int64(data[at + 3]) << 24
                positions[o] = position
                at += size
                o += 1
            cursors[place] = o


@kernel((I32, I64, I32, I32, I64, I32), before="fields")
def spread(docs, df, field_docs, field_tfs, field_df, out):
    """Write to `out`, for each posting, the frequency of its term in one field of its document; 0 if it is not there.

    The documents of the posting lists lie end to end in `docs`; list k has df[k] documents. `field_docs` and `field_tfs` have,
    in the same way, the documents whose field holds the term, and the frequencies there. List k has field_df[k] such
    documents, and all of them are among its df[k] documents.
    """
    i = j = np.int64(0)
    for k in range(len(df)):
        stop, end = i + df[k], j + field_df[k]
        while i < stop:
            found = j < end and field_docs[j] == docs[i]
            out[i] = field_tfs[j] if found else 0
            j += found
            i += 1


@kernel((I32, I32, U8, I32, I64), before="build")
def document_lists(terms, sizes, data, ranks, counts):
    """Turn the posting lists of a batch into a list of terms for each document.

    Return the lists of all documents in the byte code, end to end, and the size of each list in bytes.

    `data` has the posting lists of the batch end to end, followed by three spare bytes. List k belongs to terms[k] and
    takes sizes[k] bytes; the terms ascend by their ranks. Document d of the batch has counts[d] terms.
    """
    cursors, total = np.empty(len(counts), np.int64), np.int64(0)
    for doc in range(len(counts)):
        cursors[doc] = total
        total += counts[doc]
    found, tfs = np.empty(total, np.int32), np.empty(total, np.int32)
    at = np.int64(0)
    for k in range(len(terms)):
        rank, doc, stop = ranks[terms[k]], np.int64(-1), at + sizes[k]
        while at < stop:
            gap, tf, at = get_posting(data, at)
            doc += gap + 1
            o = cursors[doc]
            cursors[doc] = o + 1
            found[o], tfs[o] = rank, tf
    return encode_lists_into(found, tfs, counts)


@kernel((I64, I32, I64, I64, U8, I64, I64, U8, I64), before="build merge")
def choose_surfaces(forms, ranks, counts, ends, arena, terms, term_ends, term_arena, chosen):
    """Write the most frequent form of each term to `chosen`, whose values must be -1 before the call.

    If several forms are equally frequent, the kernel takes the one whose bytes come first.

    String forms[k] of the table (ends, arena) is a form of the term with the rank ranks[k]; it occurs counts[k] times.
    The term with the rank r is string terms[r] of the table (term_ends, term_arena). A term gets -1 if it has no form,
    or if it is equal to its most frequent form.
    """
    most = np.zeros(len(chosen), np.int64)
    for k in range(len(forms)):
        rank, count = ranks[k], counts[k]
        if count > most[rank] or (
            count == most[rank] and compare_bytes(forms[k], ends, arena, chosen[rank], ends, arena) < 0
        ):
            most[rank], chosen[rank] = count, forms[k]
    for rank in range(len(chosen)):
        if chosen[rank] >= 0 and compare_bytes(chosen[rank], ends, arena, terms[rank], term_ends, term_arena) == 0:
            chosen[rank] = -1
