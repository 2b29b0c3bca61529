"""Kernels of CIFF: cut a file into its messages, decode and encode posting lists and documents.

A message is a protobuf message: fields, each with a tag that has its number and the kind of its value. A number is a
varint: seven bits per byte, lowest bits first. Compiled code has no bounds checks, so kernels that decode check every
length, and report damage.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from sublex.index.posting_kernels import put_number
from sublex.tools.compiled import I32, I64, STORED_U8, U8, inner, kernel

# The faults of a message. DAMAGED: its fields are damaged. COUNT: the number of postings in a list is 0, or differs
# from the stated number. FREQUENCY: a frequency is not from 1 to MOST. NUMBER: a number is not from 0 to MOST.
SOUND, DAMAGED, COUNT, FREQUENCY, NUMBER = 0, 1, 2, 3, 4
MOST = 2**31 - 1
# The kinds of values.
VARINT, BYTES = 0, 2
# The least number of bytes of a posting: its tag and length, and the tag and value of its frequency.
LEAST_POSTING = 4


@inner
def _varint(data, at, end):
    """Return the varint at data[at] as a signed number, and the place where it ends.

    The place is -1 if the varint does not end before `end`, or if it is longer than ten bytes.
    """
    value, shift = np.uint64(0), np.uint64(0)
    while at < end and shift < np.uint64(70):
        byte = np.uint64(data[at])
        at += 1
        value |= (byte & np.uint64(127)) << shift
        if byte < np.uint64(128):
            return np.int64(value), at
        shift += np.uint64(7)
    return np.int64(0), np.int64(-1)


@inner
def _skip(data, at, end, kind):
    """Return the end of the value at data[at], which belongs to an unknown field.

    Return -1 if the value ends beyond `end`, or if its kind is unknown.
    """
    if kind == VARINT:
        _, at = _varint(data, at, end)
        return at
    if kind == 1:
        at += 8
    elif kind == 5:
        at += 4
    elif kind == BYTES:
        size, at = _varint(data, at, end)
        if at < 0 or size < 0 or size > end - at:
            return np.int64(-1)
        at += size
    else:
        return np.int64(-1)
    return at if at <= end else np.int64(-1)


@kernel((STORED_U8, int64, I64, I64), before="import")
def split(data, at, starts, ends):
    """Find the complete messages in data[at:], at most len(starts). The length of each, a varint, stands before it.

    Message k is data[starts[k]:ends[k]]. Return three values: the number of messages found, the place where the length
    of the next message begins, and the number of bytes from this place to the end of the next message. The last is 0 if
    it is not known yet, and -1 if the length is damaged.
    """
    for k in range(len(starts)):
        size, begin = _varint(data, at, len(data))
        if begin < 0:
            # A length takes at most five bytes, so it is damaged unless the data end within it.
            return k, at, np.int64(0 if len(data) - at < 10 else -1)
        if size < 0:
            return k, at, np.int64(-1)
        if size > len(data) - begin:
            return k, at, begin - at + size
        starts[k], ends[k] = begin, begin + size
        at = begin + size
    return len(starts), at, np.int64(0)


@inner
def _posting(data, at, end):
    """Return the gap and the frequency of the posting data[at:end], and whether its fields are sound."""
    gap = tf = np.int64(0)
    while at < end:
        tag, at = _varint(data, at, end)
        if at < 0:
            return gap, tf, False
        if tag == 8:
            gap, at = _varint(data, at, end)
        elif tag == 16:
            tf, at = _varint(data, at, end)
        elif tag >> 3 < 3:
            return gap, tf, False
        else:
            at = _skip(data, at, end, tag & 7)
        if at < 0:
            return gap, tf, False
    return gap, tf, True


@inner
def _list(data, at, end, docs, tfs, o, term):
    """Decode the posting list data[at:end] to docs[o:] and tfs[o:].

    `term` gets three values: the begin and the end of the term in `data`, and its stated frequency in the collection.
    Return a fault or SOUND, the wrong number or 0, and the place after the last posting in `docs`.
    """
    first, claimed, last = o, np.int64(0), np.int64(0)
    while at < end:
        tag, at = _varint(data, at, end)
        if at < 0:
            return DAMAGED, np.int64(0), o
        field, kind = tag >> 3, tag & 7
        if field < 1 or (field in (1, 4) and kind != BYTES) or (field in (2, 3) and kind != VARINT):
            return DAMAGED, np.int64(0), o
        if field not in (1, 2, 3, 4):
            at = _skip(data, at, end, kind)
            if at < 0:
                return DAMAGED, np.int64(0), o
            continue
        value, at = _varint(data, at, end)
        if at < 0 or (kind == BYTES and (value < 0 or value > end - at)):
            return DAMAGED, np.int64(0), o
        if field == 1:
            term[0], term[1] = at, at + value
        elif field == 2:
            claimed = value
        elif field == 3:
            term[2] = value
        else:
            gap, tf, sound = _posting(data, at, at + value)
            if not sound:
                return DAMAGED, np.int64(0), o
            if tf < 1 or tf > MOST:
                return FREQUENCY, tf, o
            if gap < 0 or gap > MOST - last:
                return NUMBER, gap, o
            last += gap
            # A posting with a frequency has at least LEAST_POSTING bytes, so there is room for it.
            docs[o], tfs[o] = last, tf
            o += 1
        if kind == BYTES:
            at += value
    if claimed != o - first or o == first:
        return COUNT, claimed, o
    return SOUND, np.int64(0), o


@kernel((STORED_U8, I64, I64, I64, I64, I32, I32), before="import")
def decode_lists(data, starts, ends, terms, df, docs, tfs):
    """Decode the posting lists data[starts[k]:ends[k]].

    terms[3k:3k + 3] gets three values for list k: the begin and the end of the term in `data`, and its stated frequency
    in the collection. df[k] gets the number of postings of list k. `docs` and `tfs` need room for one posting per
    LEAST_POSTING bytes of data. Return the number of postings, the number k of the first faulty list or -1, its fault,
    and the wrong number in it.
    """
    o = np.int64(0)
    for k in range(len(starts)):
        term = terms[3 * k : 3 * k + 3]
        term[:] = 0
        begin = o
        fault, number, o = _list(data, starts[k], ends[k], docs, tfs, o, term)
        df[k] = o - begin
        if fault != SOUND:
            return o, np.int64(k), np.int64(fault), number
    return o, np.int64(-1), np.int64(SOUND), np.int64(0)


@kernel((STORED_U8, I64, I64, I64, I64, U8, I64), before="import")
def decode_documents(data, starts, ends, docs, lengths, docnos, sizes):
    """Decode the records of documents; record k is data[starts[k]:ends[k]].

    docs[k] gets the number of the document, lengths[k] its length, and sizes[k] the size of its docno. The docnos are
    written to `docnos`, end to end; it needs room for all bytes of the records. Returns the number of bytes of the
    docnos, the number k of the first faulty record or -1, its fault, and the wrong number in it.
    """
    o = np.int64(0)
    for k in range(len(starts)):
        at, end = starts[k], ends[k]
        docs[k] = lengths[k] = sizes[k] = 0
        begin = size = np.int64(0)
        while at < end:
            tag, at = _varint(data, at, end)
            field, kind = tag >> 3, tag & 7
            if at < 0 or field < 1 or (field in (1, 3) and kind != VARINT) or (field == 2 and kind != BYTES):
                return o, np.int64(k), np.int64(DAMAGED), np.int64(0)
            if field not in (1, 2, 3):
                at = _skip(data, at, end, kind)
                if at < 0:
                    return o, np.int64(k), np.int64(DAMAGED), np.int64(0)
                continue
            value, at = _varint(data, at, end)
            if at < 0 or (field == 2 and (value < 0 or value > end - at)):
                return o, np.int64(k), np.int64(DAMAGED), np.int64(0)
            if field == 2:
                begin, size = at, value
                at += value
                continue
            if value < 0 or value > MOST:
                return o, np.int64(k), np.int64(NUMBER), value
            if field == 1:
                docs[k] = value
            else:
                lengths[k] = value
        docnos[o : o + size] = data[begin : begin + size]
        sizes[k] = size
        o += size
    return o, np.int64(-1), np.int64(SOUND), np.int64(0)


@inner
def _width(value):
    """Return the number of bytes of a varint. `value` is not negative."""
    width = 1
    while value >= 128:
        value >>= 7
        width += 1
    return width


@inner
def _put_field(out, o, tag, value):
    """Write a tag and a number to out[o:], and return the place after them. As in protobuf, a 0 is not written."""
    if value:
        out[o] = tag
        o = put_number(out, o + 1, value)
    return o


@inner
def _put_text(out, o, tag, texts, begin, size):
    """Write a tag, a size, and `size` bytes of `texts` from `begin` on to out[o:]. Return the place after them."""
    out[o] = tag
    o = put_number(out, o + 1, size)
    out[o : o + size] = texts[begin : begin + size]
    return o + size


@inner
def _field_width(value):
    return 1 + _width(value) if value else 0


@kernel((STORED_U8, I64, I64, I32, I32), before="export")
def encode_lists(terms, sizes, df, docs, tfs):
    """Encode posting lists as messages, with the length of each message before it.

    Terms lie end to end in `terms`; term k has sizes[k] bytes. Posting lists lie end to end in `docs` and `tfs`; the
    list of term k has df[k] postings.
    """
    bodies = np.empty(len(df), np.int64)
    cf = np.zeros(len(df), np.int64)
    total = i = np.int64(0)
    for k in range(len(df)):
        body, last = np.int64(0), np.int64(0)
        for _ in range(df[k]):
            body += 2 + _field_width(docs[i] - last) + _field_width(np.int64(tfs[i]))
            cf[k] += tfs[i]
            last = docs[i]
            i += 1
        head = 1 + _width(sizes[k]) + sizes[k] if sizes[k] else 0
        bodies[k] = body + head + _field_width(df[k]) + _field_width(cf[k])
        total += bodies[k] + _width(bodies[k])
    out = np.empty(total, np.uint8)
    o = i = begin = np.int64(0)
    for k in range(len(df)):
        o = put_number(out, o, bodies[k])
        if sizes[k]:
            o = _put_text(out, o, 10, terms, begin, sizes[k])
            begin += sizes[k]
        o = _put_field(out, o, 16, df[k])
        o = _put_field(out, o, 24, cf[k])
        last = np.int64(0)
        for _ in range(df[k]):
            gap, tf = docs[i] - last, np.int64(tfs[i])
            out[o], out[o + 1] = 34, _field_width(gap) + _field_width(tf)
            o = _put_field(out, o + 2, 8, gap)
            o = _put_field(out, o, 16, tf)
            last = docs[i]
            i += 1
    return out


@kernel((STORED_U8, I64, I64, int64), before="export")
def encode_documents(docnos, sizes, lengths, first):
    """Encode the records of documents as messages, with the length of each message before it.

    Document k has the number first + k and the length lengths[k]. Docnos lie end to end; docno k has sizes[k] bytes.
    """
    total = np.int64(0)
    for k in range(len(sizes)):
        body = _field_width(first + k) + 1 + _width(sizes[k]) + sizes[k] + _field_width(lengths[k])
        total += body + _width(body)
    out = np.empty(total, np.uint8)
    o = begin = np.int64(0)
    for k in range(len(sizes)):
        o = put_number(out, o, _field_width(first + k) + 1 + _width(sizes[k]) + sizes[k] + _field_width(lengths[k]))
        o = _put_field(out, o, 8, first + k)
        o = _put_text(out, o, 18, docnos, begin, sizes[k])
        begin += sizes[k]
        o = _put_field(out, o, 24, lengths[k])
    return out
