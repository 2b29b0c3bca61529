"""Tests of the JSON-lines reader: for any bytes its kernel gives the same documents and reports as Python's `json`."""

from __future__ import annotations

import io
import json
import random
from itertools import product
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import CHARACTERS, ODD_DOCNOS, ODD_WORDS

from sublex.contracts.base import Document, Problem, Report
from sublex.errors import InputError
from sublex.readers import jsonl, jsonl_kernels
from sublex.readers.batch import Batch, pack
from sublex.readers.fields import ALIASES
from sublex.readers.jsonl import BOM, JsonLines

RICH = (
    r'{"id": "d\u00e9j\u00e0 \ud83d\udc33", "title": "A \"title\"\/\b\f\n\r\t\\", "text": "caf\u00e9 naïve 東京 \u0000",'
    r' "year": 1851, "none": null, "yes": true, "no": false, "pi": 3.14, "minus": -7, "big": 12e30,'
    r' "list": [1, [2, {"a": "]}"}], []], "object": {"k": {"\"": "\\"}}, "text": "the last text counts", "e": {}, "l": []}'
).encode()
GOOD = b'{"docno": 7, "body": "a good line"}'


class Held(NamedTuple):
    """A source in memory."""

    data: bytes
    path: str = "held.jsonl"

    def open(self) -> io.BytesIO:
        return io.BytesIO(self.data)


class Read(NamedTuple):
    """The documents of a source as rows, and everything that was reported about them."""

    rows: list[tuple[str, str, str, str]]
    problems: list[Problem]
    notes: dict[str, int]
    fields: dict[str, int]


def rows(batch: Batch) -> list[tuple[str, str, str, str]]:
    """Return the documents of a batch as (docno, title, text, other fields in comparable form)."""
    found = []
    for k in range(len(batch)):
        begin, more = (int(ends[k - 1]) if k else 0 for ends in (batch.text_ends, batch.extra_ends))
        contents, title = batch.text[begin : batch.text_ends[k]].tobytes(), int(batch.titles[k])
        extra = batch.extra[more : batch.extra_ends[k]].tobytes().decode()
        text = contents[title + 1 :] if title else contents
        found.append((batch.docno(k), contents[:title].decode(), text.decode(), sorted_fields(extra)))
    return found


def sorted_fields(extra: str) -> str:
    """Return stored fields in comparable form."""
    try:
        return json.dumps(json.loads(extra or "{}"), sort_keys=True)
    except ValueError:
        return f"not JSON: {extra}"


def by_library(data: bytes) -> Read:
    """Read a source with Python's `json`."""
    report = Report()
    documents = list(JsonLines().read(Held(data), report))
    return Read(rows(pack(documents, report)), report.problems, report.notes, report.fields)


def by_kernel(data: bytes, size: int = 1 << 20) -> Read:
    """Read a source with the kernel, in chunks of `size` bytes."""
    report, found = Report(), []
    with mock.patch("sublex.readers.batch.BATCH_BYTES", size):
        for make in JsonLines().batches(Held(data), report):
            batch = make()
            found += rows(batch)
            report.merge(batch.report)
    return Read(found, report.problems, report.notes, report.fields)


def same(data: bytes, size: int = 1 << 20) -> Read:
    """Read bytes both ways, and fail with the difference if there is one."""
    expected, found = by_library(data), by_kernel(data, size)
    for what in Read._fields:
        assert getattr(found, what) == getattr(expected, what), f"the {what} of {data[:300]!r}"
    return expected


def same_lines(lines: list[bytes]) -> None:
    """Read lines both ways; if the results differ, look for a single line that shows the difference."""
    if by_kernel(b"\n".join(lines)) != by_library(b"\n".join(lines)):
        for line in lines:
            same(line)
        same(b"\n".join(lines))


def test_a_rich_record_is_read_with_all_its_escapes_and_values():
    read = same(RICH)
    docno, title, text, fields = read.rows[0]
    assert (docno, title, text) == ("déjà 🐳", 'A "title"/\b\f\n\r\t\\', "the last text counts")
    assert json.loads(fields)["list"] == [1, [2, {"a": "]}"}], []]
    assert not read.problems


def test_plain_records_are_cut_by_the_kernel_alone():
    lines = b'{"id": "a", "text": "one", "year": 7}\n{"docid": 8, "title": "T", "abstract": "two"}\n'
    with mock.patch.object(jsonl, "document_of", side_effect=AssertionError("the line was found odd")):
        read = by_kernel(lines)
    assert read.rows == [("a", "", "one", '{"year": 7}'), ("8", "T", "two", "{}")]


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 50])
def test_an_odd_line_among_any_number_of_plain_ones_keeps_its_place(count):
    lines = [f'{{"id": {k}, "text": "plain"}}'.encode() for k in range(count)]
    for place in {0, count // 2, count}:
        read = same(b"\n".join([*lines[:place], RICH, *lines[place:]]))
        assert read.rows[place][0] == "déjà 🐳"


def test_every_docno_is_kept_whatever_its_script():
    lines = [json.dumps({"id": docno, "text": "x"}, ensure_ascii=False).encode() for docno in ODD_DOCNOS]
    assert [row[0] for row in same(b"\n".join(lines)).rows] == list(ODD_DOCNOS)
    escaped = [json.dumps({"id": docno, "text": "x"}).encode() for docno in ODD_DOCNOS]
    assert [row[0] for row in same(b"\n".join(escaped)).rows] == list(ODD_DOCNOS)


@pytest.mark.parametrize("docno", ['""', '" "', r'"\u3000"', r'"\u001f"', "null", "true", "1.5", "[1]", '{"a": 1}'])
def test_a_docno_that_is_none_is_reported(docno):
    read = same(f'{{"id": {docno}, "text": "x"}}'.encode())
    assert not read.rows
    assert read.problems[0].reason.startswith("id is ")


@pytest.mark.parametrize("docno", ["0", "7", "-7", "123456789012345678901234567890"])
def test_a_whole_number_is_a_docno(docno):
    assert same(f'{{"id": {docno}, "text": "x"}}'.encode()).rows[0][0] == docno


@pytest.mark.parametrize("name", ALIASES.all)
@pytest.mark.parametrize("value", ["null", "7", '"x"', "[]", "{}", r'"\u0000"', '""'])
def test_the_names_of_docno_title_and_text_take_the_same_values_both_ways(name, value):
    same(f'{{"{name}": {value}, "id": "a", "text": "b"}}'.encode())
    same(f'{{"id": "a", "text": "b", "{name}": {value}}}'.encode())
    same(f'{{"{name}": {value}, "title": "t"}}'.encode())


def test_of_two_names_for_the_same_thing_both_ways_choose_alike():
    found = []
    for first, second in product(ALIASES.all, ALIASES.all):
        found.append(f'{{"{first}": "one", "{second}": "two", "_id": "z", "abstract": "w"}}'.encode())
        found.append(f'{{"{first}": "one", "{second}": "two", "{first}": "three", "title": ""}}'.encode())
    same_lines(found)


def test_what_begins_a_value_is_judged_alike_whatever_follows():
    pieces = [
        "[",
        "]",
        "{",
        "}",
        '"',
        "\\",
        "0",
        "1",
        "-",
        ".",
        "e",
        ",",
        ":",
        " ",
        "t",
        "true",
        "null",
        '"a"',
        "NaN",
        "\t",
    ]
    for length in (1, 2, 3):
        found = [f'{{"id":"a","text":"b","x":{"".join(value)}}}'.encode() for value in product(pieces, repeat=length)]
        same_lines(found)


@pytest.mark.parametrize("where", ["id", "title", "text", "x"])
def test_what_stands_in_a_string_is_judged_alike_wherever_it_stands(where):
    pieces = ["\\", '"', "u", "00e9", "ud83d", "udc33", "n", "q", "/", "\t", "\x7f", "é", "\x1f", "a", "\\u12"]
    record = {"id": "d", "title": "t", "text": "b", "x": "y"} | {where: "HERE"}
    line = json.dumps(record)
    same_lines([line.replace("HERE", "".join(inside)).encode() for inside in product(pieces, repeat=3)])


def test_what_stands_in_a_name_is_judged_alike():
    pieces = ["\\", '"', "u0078", "n", "id", "\t", "\x7f", "é", "\x00", "text", ""]
    same_lines([f'{{"id": "a", "text": "b", "{"".join(name)}": 1}}'.encode() for name in product(pieces, repeat=3)])


def test_lines_cut_at_every_place_are_read_alike():
    cut = [RICH[:k] for k in range(len(RICH))] + [RICH[k:] for k in range(len(RICH))]
    same_lines([line for piece in cut for line in (piece, GOOD)])


def test_the_kernel_reads_nothing_behind_a_file_that_ends_in_a_backslash():
    data = GOOD + b'\n{"id":"z","text":"abc\\'
    assert len(same(data).problems) == 1
    buf, marks = np.frombuffer(data, np.uint8), np.array([len(data) - 1, len(data)])
    # Python checks the bounds that a compiled kernel does not.
    assert jsonl_kernels._string_end.py_func(buf, len(data) - 4, len(data), marks, 0)[0] == -1


@pytest.mark.slow
@pytest.mark.parametrize(
    "byte", [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"0", b"\x01", b"\xff", b"\r", b"\n", b""]
)
def test_a_byte_set_at_every_place_of_a_record_is_read_alike(byte):
    changed = [RICH[:k] + byte + RICH[k + 1 :] for k in range(len(RICH))]
    added = [RICH[:k] + byte + RICH[k:] for k in range(len(RICH))]
    same_lines(changed + added)


def test_chunks_of_any_size_give_the_same_documents_and_line_numbers():
    data = BOM + b"\n".join([RICH, b"", GOOD, b"{odd", b"  ", b'{"id": "a", "text": "\xe9"}', GOOD, b'{"id": 1}', GOOD])
    read = same(data)
    assert [problem.line for problem in read.problems] == [4, 8]
    for size in range(len(BOM), len(data) + 2):
        assert by_kernel(data, size) == read, f"chunks of {size} bytes"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \t\r\n", b"\n\n", b"\n \t \n", b"\n\x0b\n", b"\n\x0c\n"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_may_end_and_be_blank_in_any_usual_way(end, last):
    read = same(end.join([GOOD, RICH, GOOD, b'{"id": "x"']) + (end if last else b""))
    assert len(read.rows) == 3
    assert len(read.problems) == 1


@pytest.mark.parametrize(
    "data", [b"", b"\n", b" ", BOM, BOM + b"\n", BOM + BOM + GOOD, BOM + GOOD, GOOD + b"\n" + BOM + GOOD]
)
def test_empty_files_and_byte_order_marks_are_read_alike(data):
    same(data)


def test_spaces_are_taken_wherever_json_takes_them():
    spaced = b' {\t"id" \t:\r "a" , "text":"b"\t,"x" : [ ] ,"y":{ } } \r'
    assert same(spaced).rows == [("a", "", "b", '{"x": [], "y": {}}')]


def test_a_record_may_have_any_number_of_fields():
    for count in (60, 61, 62, 63, 64, 65, 66, 200):
        record = {"id": "a", "text": "b"} | {f"f{k}": k for k in range(count)}
        line = json.dumps(record).encode()
        read = same(b"\n".join([GOOD, line, GOOD]))
        assert len(json.loads(read.rows[1][3])) == count


@pytest.mark.parametrize("depth", [1, 2, 10, 100, 400, 900, 2_000, 100_000])
@pytest.mark.parametrize("brackets", ["[]", '{"a":}'])
def test_values_nested_to_any_depth_are_read_or_refused_alike(depth, brackets):
    opening, closing = brackets[:-1], brackets[-1]
    nested = opening * depth + ("1" if closing == "}" else "") + closing * depth
    same(b"\n".join([GOOD, f'{{"id": "a", "text": "b", "x": {nested}}}'.encode(), GOOD]))


def test_numbers_with_very_many_digits_are_read_or_refused_alike():
    for digits in (300, 4300, 4301, 10_000):
        number = "7" * digits
        same(f'{{"id": {number}, "text": "b"}}'.encode())
        same(f'{{"id": "a", "text": "b", "x": {number}}}'.encode())


def test_halves_of_surrogate_pairs_become_the_replacement_character_everywhere():
    read = same(rb'{"id": "a\ud800", "title": "\udc00", "text": "b\ud83d \udc33 \ud83d\udc33", "x": "\ud800"}')
    assert read.rows == [("a\ufffd", "\ufffd", "b\ufffd \ufffd 🐳", json.dumps({"x": "\ufffd"}))]


def test_lines_that_are_not_utf8_are_read_as_latin1_and_others_are_not():
    data = b'{"id": "\xe9", "text": "caf\xe9"}\n{"id": "u", "text": "caf\xc3\xa9"}\n\xff\n'
    read = same(data)
    assert [row[:3] for row in read.rows] == [("é", "", "café"), ("u", "", "café")]
    assert list(read.notes.values()) == [2]


def test_a_malformed_line_ends_a_strict_reading_with_file_and_line():
    report = Report(strict=True)
    with pytest.raises(InputError, match=r"held\.jsonl:3: not JSON"):
        for make in JsonLines().batches(Held(b"\n".join([GOOD, GOOD, b"{", GOOD])), report):
            make()


def test_the_names_that_served_are_counted_both_ways():
    data = b'{"id": "a", "text": "b", "theme": "sea"}\n{"id": "b", "text": "b", "theme": [1]}'
    reports = Report(), Report()
    list(JsonLines().read(Held(data), reports[0]))
    for make in JsonLines().batches(Held(data), reports[1]):
        reports[1].merge(make().report)
    assert reports[0].fields == reports[1].fields


# Anything at all.

STRINGS = st.one_of(st.sampled_from(ODD_WORDS), st.text(CHARACTERS, max_size=12))
NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([0, -0.0, 1e400, 10**30]))
VALUES = st.recursive(
    st.one_of(STRINGS, NUMBERS, st.none(), st.booleans()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRINGS, inner, max_size=3),
    max_leaves=4,
)
PAIRS = st.lists(st.tuples(st.one_of(st.sampled_from(ALIASES.all), STRINGS), VALUES), max_size=6)


def written(pairs: list[tuple[str, Any]], chance: random.Random) -> str:
    """Draw a record as JSON, with random spaces and escapes; names may repeat."""

    def space() -> str:
        return "".join(chance.choice(("", "", "", " ", "\t", "\r", "  ")) for _ in range(2))

    def string(text: str) -> str:
        return '"' + "".join(map(character, text)) + '"'

    def character(c: str) -> str:
        if c in '"\\' or c < " ":
            return json.dumps(c)[1:-1] if chance.random() < 0.5 else f"\\u{ord(c):04x}"
        if chance.random() < 0.9:
            return c
        return json.dumps(c)[1:-1] if ord(c) > 126 else f"\\u{ord(c):04X}"

    def value(of: Any) -> str:
        if isinstance(of, str):
            return string(of)
        if isinstance(of, list):
            return "[" + ",".join(space() + value(item) + space() for item in of) + space() + "]"
        if isinstance(of, dict):
            return record(list(of.items()))
        return json.dumps(of)

    def record(of: list[tuple[str, Any]]) -> str:
        inside = ",".join(f"{space()}{string(k)}{space()}:{space()}{value(v)}{space()}" for k, v in of)
        return "{" + inside + space() + "}"

    return space() + record(pairs) + space()


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Draw a line: a record, often with an id and a text, sometimes damaged, or any bytes."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=20)).replace(b"\n", b"")
    chance = random.Random(draw(st.integers(0, 1 << 32)))
    pairs = draw(PAIRS)
    if draw(st.integers(0, 4)):
        pairs = [("id", draw(STRINGS)), *pairs, ("text", draw(STRINGS))]
    chance.shuffle(pairs)
    line = written(pairs, chance).encode()
    if draw(st.integers(0, 4)) == 0:
        at = draw(st.integers(0, len(line)))
        line = (
            line[:at] + draw(st.sampled_from([b"", b'"', b"\\", b"}", b",", b"\xff", b"\x02", b"\r"])) + line[at + 1 :]
        )
    return line


@given(
    st.lists(lines(), max_size=8),
    st.sampled_from([b"", BOM]),
    st.sampled_from([b"\n", b"\r\n"]),
    st.sampled_from([3, 40, 1 << 20]),
)
def test_any_lines_are_read_alike(found, mark, end, size):
    same(mark + end.join(found), size)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_alike(data):
    same(data)


@given(
    st.lists(
        st.tuples(
            STRINGS.filter(lambda docno: docno.strip() and "\0" not in docno),
            STRINGS,
            STRINGS,
            st.dictionaries(STRINGS, VALUES, max_size=3),
        ),
        max_size=5,
    )
)
def test_documents_written_as_json_lines_come_back(found):
    records = [{"x": fields, "id": docno, "text": text, "title": title} for docno, title, text, fields in found]
    data = "\n".join(json.dumps(record, ensure_ascii=k % 2 == 0) for k, record in enumerate(records)).encode()
    expected = rows(pack([Document(r["id"], r["text"], r["title"], {"x": r["x"]}) for r in records], Report()))
    assert by_kernel(data).rows == expected
