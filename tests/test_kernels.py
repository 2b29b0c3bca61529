"""Compares the kernels of the index with `naive.py`: counting terms, the byte code of lists, the codes of postings
and positions."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple
from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublex.analysis.interner import Interner
from sublex.building import inversion_kernels
from sublex.index import position_kernels, posting_kernels
from sublex.index.offsets import starts_of

HUGE = (1 << 31) - 1


class Encoded(NamedTuple):
    """The arrays that `encode_postings` returns."""

    words: np.ndarray
    lasts: np.ndarray
    widths: np.ndarray
    tails: np.ndarray
    sizes: np.ndarray


Posting = tuple[list[int], list[int]]


def rising(rng: np.random.Generator, size: int, limit: int) -> list[int]:
    """Return different numbers below the limit, ascending."""
    return sorted(rng.choice(limit, size, replace=False).tolist()) if limit < 1 << 22 else spread(rng, size, limit)


def spread(rng: np.random.Generator, size: int, limit: int) -> list[int]:
    """Return ascending numbers with gaps of very different widths; the last number is just below the limit."""
    gaps = [int(gap) for gap in 2.0 ** rng.uniform(0, 12, size)]
    found = np.cumsum(gaps).tolist()
    return [*found[:-1], limit - 1] if found and found[-1] < limit else list(range(size))


def frequencies(rng: np.random.Generator, size: int, most: int) -> list[int]:
    """Return frequencies: most are 1, some are up to `most`."""
    found = np.where(rng.random(size) < 0.7, 1, rng.integers(1, most + 1, size))
    return found.tolist()


def encode(postings: list[Posting]) -> Encoded:
    """Encode posting lists with the kernel."""
    docs, tfs = (
        np.array([x for column in columns for x in column], np.int32) for columns in zip(*postings, strict=True)
    )
    return Encoded(*posting_kernels.encode_postings(docs, tfs, np.array([len(docs) for docs, _ in postings], np.int64)))


def decode(code: Encoded, df: list[int], limit: int = HUGE) -> tuple[int, list[Posting]]:
    """Decode posting lists with the kernel. Return the first damaged term or -1, and the postings of each term."""
    blocks = starts_of(np.array(df, np.int64) // posting_kernels.BLOCK)
    words = starts_of(4 * code.widths.reshape(-1, 2).sum(axis=1, dtype=np.int64))
    docs, tfs = np.zeros(sum(df), np.int32), np.zeros(sum(df), np.int32)
    tails = starts_of(code.sizes)
    bad = posting_kernels.decode_terms(
        code.words, code.lasts, code.widths, words[blocks], blocks, code.tails, tails[:-1], tails[1:],
        np.array(df, np.int64), limit, *np.empty((2, posting_kernels.BLOCK), np.uint32), docs, tfs,
    )  # fmt: skip
    cuts = np.cumsum(df)[:-1]
    return bad, [(d.tolist(), t.tolist()) for d, t in zip(np.split(docs, cuts), np.split(tfs, cuts), strict=True)]


def check_postings(postings: list[Posting]) -> None:
    """Check that kernel and naive code encode to the same bytes, and that both decode them to the original."""
    code = encode(postings)
    expected = [naive.encode_postings(*posting) for posting in postings]
    assert code.words.tolist() == [word for coded in expected for word in coded.words]
    assert code.lasts.tolist() == [last for coded in expected for last in coded.lasts]
    assert code.widths.tolist() == [width for coded in expected for width in coded.widths]
    assert code.tails.tobytes() == b"".join(coded.tail for coded in expected)
    assert code.sizes.tolist() == [len(coded.tail) for coded in expected]
    assert [naive.decode_postings(coded) for coded in expected] == postings
    assert decode(code, [len(docs) for docs, _ in postings]) == (-1, postings)


@pytest.mark.parametrize("df", [1, 2, 127, 128, 129, 255, 256, 257, 1000])
@pytest.mark.parametrize("limit", [1000, 5000, 1 << 20, HUGE])
@pytest.mark.parametrize("most", [1, 3, 1 << 20])
def test_postings_of_any_length_come_back(df, limit, most):
    rng = np.random.default_rng(df)
    check_postings([(rising(rng, df, limit), frequencies(rng, df, most))])


def test_postings_of_many_terms_stand_end_to_end():
    rng = np.random.default_rng(7)
    sizes = [1, 128, 3, 127, 129, 1, 1000, 256, 2]
    check_postings([(rising(rng, size, 1 << 16), frequencies(rng, size, 9)) for size in sizes])


def test_huge_gaps_and_frequencies_come_back():
    check_postings([([HUGE - 1], [HUGE]), ([0], [1]), ([0, HUGE - 1], [HUGE, 1])])
    docs = [*range(127), HUGE - 1]
    check_postings([(docs, [HUGE] * 128), ([*range(64), *range(HUGE - 64, HUGE)], [1] * 64 + [HUGE] * 64)])


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 1 << 22), st.integers(0, 1 << 21)), min_size=1, max_size=6),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([0, 120, 127, 128, 250]),
)
def test_any_postings_come_back(found, run):
    postings = []
    for gaps in found:
        gaps = [*gaps, *[(0, 0)] * run]
        docs = (np.cumsum([gap + 1 for gap, _ in gaps]) - 1).tolist()
        postings.append((docs, [more + 1 for _, more in gaps]))
    check_postings(postings)


@pytest.mark.parametrize("width", range(33))
def test_blocks_of_every_width_are_packed_as_described(width):
    rng = np.random.default_rng(width)
    top = (1 << width) - 1
    for values in ([top] * 128, [0] * 127 + [top], [top] + [0] * 127, rng.integers(0, top + 1, 128).tolist()):
        packed = np.zeros(4 * width + 8, np.uint32)
        assert posting_kernels.pack(np.array(values, np.uint32), width, packed, 4) == 4 + 4 * width
        assert packed[4:-4].tolist() == naive.pack(values, width)
        assert not packed[:4].any()
        assert not packed[-4:].any()
        found = np.zeros(128, np.uint32)
        posting_kernels.unpack(packed, 4, width, found)
        assert found.tolist() == naive.unpack(naive.pack(values, width), width) == values


# Lists in the byte code, as in tails and document terms.


def encoded_lists(lists: list[Posting]) -> tuple[np.ndarray, np.ndarray]:
    """Encode lists with the kernel. Return the bytes and the size of each list."""
    ids, tfs = (np.array([x for one in lists for x in one[k]], np.int32) for k in (0, 1))
    return posting_kernels.encode_lists(ids, tfs, np.array([len(ids) for ids, _ in lists], np.int64))


def decode_lists(
    data: np.ndarray, sizes: np.ndarray, counts: list[int], limit: int = HUGE
) -> tuple[int, list[Posting]]:
    """Decode lists with the kernel. Return the first damaged list or -1, and the content of each list."""
    ids, tfs = np.zeros(sum(counts), np.int32), np.zeros(sum(counts), np.int32)
    starts = starts_of(sizes)
    bad = posting_kernels.decode_lists(data, starts[:-1], starts[1:], np.array(counts, np.int64), limit, ids, tfs)
    cuts = np.cumsum(counts)[:-1]
    return bad, [(i.tolist(), t.tolist()) for i, t in zip(np.split(ids, cuts), np.split(tfs, cuts), strict=True)]


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 1 << 26), st.integers(0, 1 << 30)), max_size=8), min_size=1, max_size=5)
)
def test_any_lists_come_back(found):
    lists = [((np.cumsum([gap + 1 for gap, _ in gaps]) - 1).tolist(), [more + 1 for _, more in gaps]) for gaps in found]
    data, sizes = encoded_lists(lists)
    expected = [naive.encode_list(*one) for one in lists]
    assert data.tobytes() == b"".join(expected)
    assert sizes.tolist() == list(map(len, expected))
    assert [naive.decode_list(code) for code in expected] == lists
    assert decode_lists(data, sizes, [len(ids) for ids, _ in lists]) == (-1, lists)


@pytest.mark.parametrize("value", [0, 1, 126, 127, 128, 129, 16_383, 16_384, 2_097_151, 2_097_152, HUGE - 2, HUGE - 1])
def test_numbers_at_the_edges_of_the_byte_code_come_back(value):
    for one in ([value], [1]), ([0], [value + 1]), ([value], [value + 1]):
        data, sizes = encoded_lists([one])
        assert data.tobytes() == naive.encode_list(*one)
        assert decode_lists(data, sizes, [1]) == (-1, [one])


# Damage: a kernel has no bounds checks, so it must check its input itself.


@given(st.binary(max_size=40), st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(0, 1000))
def test_bytes_that_are_no_list_are_refused_or_stay_within_the_limit(data, counts, limit):
    cuts = np.linspace(0, len(data), len(counts) + 1).astype(np.int64)
    bad, found = decode_lists(np.frombuffer(data + b"\x80", np.uint8), np.diff(cuts), counts, limit)
    for ids, _ in found[:bad] if bad >= 0 else found:
        assert ids == sorted(set(ids))
        assert not ids or 0 <= ids[0] <= ids[-1] < limit


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "too short"),
        (b"\x80", "the number does not end"),
        (b"\x02", "the frequency is missing"),
        (b"\x01\x01", "a byte too many"),
        (b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "a number of seventy bits"),
        (b"\x15", "ten, and the limit is ten"),
    ],
)
def test_a_list_that_does_not_fit_its_count_or_limit_is_refused(data, why):
    assert decode_lists(np.frombuffer(b"\x03" + data, np.uint8), np.array([1, len(data)]), [1, 1], 10)[0] == 1, why


def test_a_block_that_ends_elsewhere_than_its_header_says_is_refused():
    rng = np.random.default_rng(3)
    postings = [(rising(rng, 300, 4000), frequencies(rng, 300, 9)) for _ in range(3)]
    code, df = encode(postings), [300, 300, 300]
    for block in range(6):
        lasts = code.lasts.copy()
        lasts[block] += 1
        assert decode(code._replace(lasts=lasts), df)[0] == block // 2
    for bit in range(0, 32 * len(code.words), 7):
        words = code.words.copy()
        words[bit // 32] ^= np.uint32(1 << bit % 32)
        bad, found = decode(code._replace(words=words), df, 4000)
        tfs_only = bad < 0 and [docs for docs, _ in found] == [docs for docs, _ in postings]
        assert bad >= 0 or tfs_only, f"bit {bit}"


@pytest.mark.parametrize("width", [33, 64, 255])
def test_a_width_that_no_number_has_is_refused(width):
    postings = [(list(range(0, 512, 2)), [2] * 256)]
    code = encode(postings)
    for k in range(4):
        widths = code.widths.copy()
        widths[k] = width
        assert decode(code._replace(widths=widths), [256])[0] == 0


def test_words_that_end_early_are_refused():
    code = encode([(list(range(0, 512, 2)), [2] * 256)])
    for left in range(len(code.words)):
        assert decode(code._replace(words=code.words[:left].copy()), [256])[0] == 0


def test_documents_beyond_the_limit_are_refused():
    postings = [(list(range(128)), [1] * 128), ([*range(130)], [1] * 130)]
    assert decode(encode(postings), [128, 130], 130)[0] == -1
    assert decode(encode(postings), [128, 130], 129)[0] == 1
    assert decode(encode(postings), [128, 130], 127)[0] == 0


# Positions. A term is a list of postings, and a posting a list of positions.

Places = list[list[int]]


class EncodedPositions(NamedTuple):
    """The arrays that `encode_positions` returns."""

    words: np.ndarray
    widths: np.ndarray
    tails: np.ndarray
    sizes: np.ndarray


def encode_positions(terms: list[Places]) -> EncodedPositions:
    """Encode the positions of terms with the kernel."""
    positions = np.array([place for term in terms for posting in term for place in posting], np.int32)
    tfs = np.array([len(posting) for term in terms for posting in term], np.int32)
    return EncodedPositions(*position_kernels.encode_positions(positions, tfs, cf_of(terms)))


def cf_of(terms: list[Places]) -> np.ndarray:
    return np.array([sum(map(len, term)) for term in terms], np.int64)


def decode_positions(code: EncodedPositions, terms: list[Places], **changed: np.ndarray) -> tuple[int, list[Places]]:
    """Decode positions with the kernel. Return the first damaged term or -1, and the positions of each term."""
    cf = cf_of(terms)
    tfs = np.array([len(posting) for term in terms for posting in term], np.int32)
    blocks, tails = starts_of(cf // 128), starts_of(code.sizes)
    words = starts_of(4 * code.widths.astype(np.int64))
    given = {
        "words": code.words, "widths": code.widths, "word_begins": words[blocks[:-1]], "block_begins": blocks[:-1], "tails": code.tails,
        "tail_begins": tails[:-1], "tail_ends": tails[1:], "cf": cf, "df": np.array(list(map(len, terms)), np.int64), "tfs": tfs,
    } | changed  # fmt: skip
    positions = np.zeros(int(cf.sum()), np.int32)
    bad = position_kernels.decode_positions(*given.values(), np.empty(128, np.uint32), positions)
    rest = iter(positions.tolist())
    return bad, [[[next(rest) for _ in posting] for posting in term] for term in terms]


def check_positions(terms: list[Places]) -> None:
    """Check that kernel and naive code encode to the same bytes, and that the kernel decodes them to the original."""
    code, expected = encode_positions(terms), [naive.encode_positions(term) for term in terms]
    assert code.words.tolist() == [word for coded in expected for word in coded.words]
    assert code.widths.tolist() == [width for coded in expected for width in coded.widths]
    assert code.tails.tobytes() == b"".join(coded.tail for coded in expected)
    assert code.sizes.tolist() == [len(coded.tail) for coded in expected]
    assert decode_positions(code, terms) == (-1, terms)


@given(
    st.lists(
        st.lists(st.lists(st.integers(0, 1 << 24), min_size=1, max_size=6), min_size=1, max_size=8),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([1, 20, 64, 127, 128, 129]),
    st.sampled_from([0, 1, 4]),
)
def test_any_positions_come_back(found, times, shrink):
    gaps = [[posting for posting in term for _ in range(times)] for term in found]
    check_positions(
        [[(np.cumsum([(g >> 6 * shrink) + 1 for g in posting]) - 1).tolist() for posting in term] for term in gaps]
    )


def test_the_greatest_positions_come_back():
    for least in (0, HUGE - 200):
        check_positions([[[HUGE]], [[least + k, HUGE] for k in range(100)], [[*range(HUGE - 400, HUGE + 1)], [0]]])


def test_positions_that_do_not_fit_their_frequencies_or_bounds_are_refused():
    terms = [[[3, 4], [0]], [[k, k + 9] for k in range(100)], [[5, 6, 7]]]
    code = encode_positions(terms)
    assert decode_positions(code, terms)[0] == -1
    tfs = np.array([len(posting) for term in terms for posting in term], np.int32)
    for place, bad in ((0, 0), (1, 0), (2, 1), (101, 1), (102, 2)):
        for change in (-1, 1, HUGE - 4):
            forged = tfs.copy()
            forged[place] += change
            assert decode_positions(code, terms, tfs=forged)[0] == bad
    for k in range(len(code.tails)):
        assert decode_positions(code, terms, tail_ends=np.minimum(starts_of(code.sizes)[1:], k))[0] >= 0
    for left in range(len(code.words)):
        assert decode_positions(code, terms, words=code.words[:left].copy())[0] == 1
    for width in (32, 33, 255):
        assert decode_positions(code, terms, widths=np.array([width], np.uint8))[0] == 1


@pytest.mark.parametrize("gaps", [[1 << 31], [HUGE, 0], [HUGE - 1, 0, 0], [1, 1 << 34], [1 << 41]])
def test_positions_beyond_31_bits_are_refused(gaps):
    tails = bytes(byte for gap in gaps for byte in naive.byte_code(gap))
    none = np.empty(0, np.uint32), np.empty(0, np.uint8)
    code = EncodedPositions(*none, np.frombuffer(tails, np.uint8), np.array([len(tails)]))
    assert decode_positions(code, [[list(range(len(gaps)))]])[0] == 0


# Counting.


class Batch(NamedTuple):
    """Documents as numbers of raw tokens; `rows[numbers[token]]` are the terms of a token."""

    documents: list[list[int]]
    keep: list[bool]
    numbers: list[int]
    rows: list[list[int]]


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Generate raw tokens with no, one or several terms, in documents of which some are not selected."""
    rows = draw(st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=8))
    numbers = draw(st.permutations(range(len(rows))).map(lambda order: list(order)[: draw(st.integers(1, len(rows)))]))
    documents = draw(st.lists(st.lists(st.integers(0, len(numbers) - 1), max_size=12), max_size=6))
    return Batch(
        documents, draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents))), numbers, rows
    )


class Counted(NamedTuple):
    """The arrays that `count_terms` returns, and the batch's number of each term."""

    met: np.ndarray
    entries: np.ndarray
    tfs: np.ndarray
    ends: np.ndarray
    lengths: np.ndarray
    rows: np.ndarray
    cf: np.ndarray
    counts: np.ndarray
    begins: np.ndarray
    flat: np.ndarray
    places: np.ndarray


def counted(batch: Batch) -> Counted:
    """Count the terms of a batch with the kernel."""
    tokens = np.array([token for document in batch.documents for token in document], np.int32)
    places = np.zeros(6, np.int32)
    found = inversion_kernels.count_terms(
        tokens,
        np.cumsum([len(document) for document in batch.documents], dtype=np.int64),
        np.array(batch.keep, np.bool_),
        np.array(batch.numbers, np.int32),
        np.cumsum([len(row) for row in batch.rows], dtype=np.int64),
        np.array([term for row in batch.rows for term in row], np.int32),
        places,
    )
    return Counted(*found, places)


def kept(batch: Batch) -> list[list[int]]:
    """Return the raw tokens of each document that is kept."""
    return [document for document, keep in zip(batch.documents, batch.keep, strict=True) if keep]


def terms_of(batch: Batch) -> list[list[int]]:
    """Return the terms of each document that is kept."""
    return [[term for token in document for term in batch.rows[batch.numbers[token]]] for document in kept(batch)]


@given(batches())
def test_terms_of_kept_documents_are_counted(batch):
    result, expected = counted(batch), terms_of(batch)
    bounds = [0, *result.ends.tolist()]
    terms = result.met[result.entries - 1]
    found = [
        dict(zip(terms[a:b].tolist(), result.tfs[a:b].tolist(), strict=True))
        for a, b in zip(bounds, bounds[1:], strict=False)
    ]
    assert found == [dict(Counter(document)) for document in expected]
    assert [list(counts) for counts in found] == [list(dict.fromkeys(document)) for document in expected]
    assert result.lengths.tolist() == list(map(len, expected))
    assert result.counts.tolist() == [
        sum(document.count(token) for document in kept(batch)) for token in range(len(batch.numbers))
    ]
    everything = Counter(term for document in expected for term in document)
    assert {int(term): int(n) for term, n in zip(result.met, result.cf[1:], strict=True) if n} == everything


@given(batches(), batches(), st.permutations(range(6)))
def test_the_lists_of_batches_are_joined_to_posting_lists_and_turned_back_into_documents(first, second, order):
    """The terms are joined in two ranges, in an order that is not the order of their numbers."""
    ranks = np.argsort(order).astype(np.int32)
    parts, documents, data = [], [], []
    for batch in (first, second):
        result = counted(batch)
        terms = np.array([term for term in order if any(term in document for document in terms_of(batch))], np.int32)
        numbers = result.places[terms]
        lists = inversion_kernels.invert_batch(result.entries, result.tfs, result.ends, result.rows, numbers)
        sizes = np.ascontiguousarray(result.rows[numbers, inversion_kernels.BYTES])
        assert sizes.sum() == len(lists)
        parts.append((terms, sizes))
        data.append(lists)
        documents += terms_of(batch)
        uniques = np.array([len(set(document)) for document in terms_of(batch)], np.int64)
        code, ends = inversion_kernels.document_lists(
            terms, sizes, np.append(lists, np.zeros(3, np.uint8)), ranks, uniques
        )
        by_rank = [sorted(Counter(ranks[document].tolist()).items()) for document in terms_of(batch)]
        expected, expected_sizes = posting_kernels.encode_lists(
            np.array([rank for items in by_rank for rank, _ in items], np.int32),
            np.array([tf for items in by_rank for _, tf in items], np.int32), uniques,
        )  # fmt: skip
        assert code.tobytes() == expected.tobytes() and ends.tolist() == expected_sizes.tolist()
    postings = [
        [(doc, document.count(term)) for doc, document in enumerate(documents) if term in document] for term in order
    ]
    list_starts = starts_of(np.array([len(terms) for terms, _ in parts]))
    terms, sizes = (np.concatenate([part[k] for part in parts]) for k in range(2))
    for begin, end in ((0, 2), (2, 6)):
        wanted = [posting for rank in range(begin, end) for posting in postings[rank]]
        docs, tfs = np.zeros(len(wanted), np.int32), np.zeros(len(wanted), np.int32)
        cuts = [list_starts[b] + np.searchsorted(ranks[parts[b][0]], [begin, end]) for b in range(2)]
        inversion_kernels.join_lists(
            terms, sizes, np.concatenate([*data, np.zeros(3, np.uint8)]), np.array([c[0] for c in cuts]), np.array([c[1] for c in cuts]),
            np.array([starts_of(sizes)[c[0]] for c in cuts]), np.array([0, len(terms_of(first))]), ranks, begin,
            starts_of(np.array([len(postings[rank]) for rank in range(begin, end)]))[:-1], docs, tfs,
        )  # fmt: skip
        assert list(zip(docs.tolist(), tfs.tolist(), strict=True)) == wanted


@given(batches(), batches(), st.permutations(range(6)), st.sampled_from([100, 1 << 16]), st.data())
def test_the_positions_of_batches_are_joined(first, second, order, gap, data):
    """A gap of 65,536 needs positions of four bytes."""
    ranks = np.argsort(order).astype(np.int32)
    expected: list[dict[int, list[int]]] = []
    terms, counts, parts, sizes = [], [], [], []
    for batch in (first, second):
        cuts = [
            data.draw(st.lists(st.integers(0, len(document)), min_size=2, max_size=2)) for document in batch.documents
        ]
        begins = []
        for document, (a, b), keep in zip(batch.documents, map(sorted, cuts), batch.keep, strict=True):
            rows = [list(map(str, batch.rows[batch.numbers[token]])) for token in document]
            if keep:
                fields = rows[:a], rows[a:b], rows[b:]
                with mock.patch.object(naive, "TITLE_GAP", gap):
                    found = naive.positions(*fields)
                    begins += naive.field_begins(fields)[1:]
                expected.append({int(term): places for term, places in found.items()})
        result = counted(batch)
        terms.append(np.array([term for term in order if any(term in one for one in terms_of(batch))], np.int32))
        numbers = result.places[terms[-1]]
        counts.append(result.cf[numbers].astype(np.int32))
        cursors = np.zeros(len(result.cf), np.int64)
        cursors[numbers] = starts_of(counts[-1])[:-1]
        lengths = np.array([len(document) for document in batch.documents], np.int64)
        ends = [
            int(begin) + end
            for begin, length, cut in zip(starts_of(lengths), lengths.tolist(), cuts, strict=False)
            for end in (*sorted(cut), length)
        ]
        positions, size, places = inversion_kernels.invert_positions(
            np.array([token for document in batch.documents for token in document], np.int32), np.array(ends, np.int64),
            np.array(batch.keep, np.bool_), result.begins, result.flat, cursors, gap,
        )  # fmt: skip
        assert places.tolist() == begins
        assert len(positions) == size * counts[-1].sum()
        assert size == (4 if gap > 100 and any(batch.keep) else 2)
        parts.append(positions)
        sizes.append(size)
    wanted = [[place for document in expected for place in document.get(term, [])] for term in order]
    joined_terms, joined_counts = np.concatenate(terms), np.concatenate(counts)
    for begin, end in ((0, 2), (2, 6)):
        cuts = [np.searchsorted(ranks[terms[b]], [begin, end]) for b in range(2)]
        offsets = [sum(map(len, parts[:b])) + sizes[b] * starts_of(counts[b])[cuts[b][0]] for b in range(2)]
        starts = starts_of(np.array(list(map(len, wanted[begin:end]))))
        found = np.zeros(starts[-1], np.int32)
        inversion_kernels.join_positions(
            joined_terms, joined_counts, np.concatenate(parts), np.array(sizes, np.int64),
            np.array([cuts[0][0], len(terms[0]) + cuts[1][0]]), np.array([cuts[0][1], len(terms[0]) + cuts[1][1]]),
            np.array(offsets, np.int64), ranks, begin, starts[:-1].copy(), found,
        )  # fmt: skip
        assert found.tolist() == [place for places in wanted[begin:end] for place in places]


@given(
    st.lists(
        st.tuples(st.integers(0, 1 << 22), st.sampled_from([1, 2, 129, 130, 131, 1 << 20])), min_size=1, max_size=9
    )
)
def test_a_batch_is_inverted_with_gaps_and_frequencies_of_any_size(postings):
    """One term, in documents with these gaps between them."""
    docs = np.cumsum([gap + 1 for gap, _ in postings]) - 1
    tfs = np.array([tf for _, tf in postings], np.int32)
    ends = np.searchsorted(docs, np.arange(docs[-1] + 1), side="right")
    code, sizes = posting_kernels.encode_lists(docs.astype(np.int32), tfs, np.array([len(docs)]))
    rows = np.array([[0, 0, 0, 0], [0, 0, sizes[0], len(docs)]], np.int32)
    entries = np.ones(len(docs), np.int32)
    assert inversion_kernels.invert_batch(entries, tfs, ends, rows, np.array([1], np.int32)).tobytes() == code.tobytes()


# Strings.

STRINGS = st.lists(
    st.one_of(st.binary(max_size=3), st.binary(max_size=20), st.binary(max_size=3).map(lambda tail: b"internationalized" + tail)),
    max_size=30,
    unique=True,
)  # fmt: skip


def table(strings: list[bytes]) -> Interner:
    """Return a table of strings, which get the numbers 0, 1, 2 and so on."""
    interner, sizes = Interner(), np.array(list(map(len, strings)), np.int64)
    interner.add(np.frombuffer(b"".join(strings), np.uint8), np.cumsum(sizes) - sizes, sizes)
    return interner


@given(STRINGS, st.randoms())
def test_numbers_are_sorted_by_the_bytes_of_their_strings(strings, random):
    chosen = random.sample(range(len(strings)), random.randint(0, len(strings)))
    numbered = table(strings).numbered()
    ascending = numbered.ascending(np.array(chosen, np.int64))
    assert ascending.tolist() == sorted(chosen, key=strings.__getitem__)
    data, sizes = numbered.copies(np.append(ascending, -1))
    assert data.tobytes() == b"".join(sorted(strings[k] for k in chosen))
    assert sizes.tolist() == [*(len(strings[k]) for k in ascending), 0]


@given(STRINGS, STRINGS, st.data())
def test_the_surface_of_a_term_is_its_most_frequent_form_and_of_equally_frequent_ones_the_smallest(terms, forms, data):
    if not terms:
        return
    rank, count = st.integers(0, len(terms) - 1), st.integers(1, 3)
    given = [(k, data.draw(rank), data.draw(count)) for k in range(len(forms))]
    chosen = np.full(len(terms), -1, np.int64)
    raws, numbered = table(forms), table(terms)
    columns = np.array(given, np.int64).reshape(-1, 3).T
    inversion_kernels.choose_surfaces(
        np.ascontiguousarray(columns[0]), columns[1].astype(np.int32), np.ascontiguousarray(columns[2]), raws.ends,
        raws.arena, np.arange(len(terms)), numbered.ends, numbered.arena, chosen,
    )  # fmt: skip
    for k, term in enumerate(terms):
        own = sorted((-count, forms[form], form) for form, rank, count in given if rank == k)
        assert chosen[k] == (own[0][2] if own and own[0][1] != term else -1)
