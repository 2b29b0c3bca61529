"""Small compressed files that unpack to very much: one record, and one file that is read whole, have a limit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import resource
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import child
import pytest
import zstandard
from strategies import every
from test_readers import page, response

from sublex.contracts.base import Reader, Report
from sublex.errors import InputError
from sublex.lint.lint_files import lint
from sublex.readers import lines
from sublex.readers.archive import Archive
from sublex.readers.json_array import JsonArray
from sublex.readers.jsonl import JsonLines
from sublex.readers.reuters import Reuters
from sublex.readers.smart import Smart
from sublex.readers.source import FileSource
from sublex.readers.text import Text
from sublex.readers.trec import Trec
from sublex.readers.trecweb import TrecWeb
from sublex.readers.tsv import Csv, Tsv
from sublex.readers.warc import Warc
from sublex.trec.qrels_reader import read_qrels
from sublex.trec.run_reader import metadata_of, read_run
from sublex.trec.topics import read_topics

MIB = 1 << 20
# The limit in these tests, more than a piece that readers of whole lines take at a time, and a text above the limit.
LIMIT = 20 * MIB
LONG = b"x" * (LIMIT + 5)
LINES = b"word word\n" * (LIMIT // 10 + 1)


@pytest.fixture
def limit(monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_RECORD", LIMIT)


def doc(name: bytes, text: bytes) -> bytes:
    return b"<DOC>\n<DOCNO>" + name + b"</DOCNO>\n" + text + b"\n</DOC>\n"


def web(name: bytes, text: bytes) -> bytes:
    return doc(name, b"<DOCHDR>\nhttp://x.org/\n</DOCHDR>\n" + text)


def story(name: bytes, text: bytes) -> bytes:
    return b'<REUTERS NEWID="' + name + b'">\n<TEXT>' + text + b"</TEXT>\n</REUTERS>\n"


def smart(name: bytes, text: bytes) -> bytes:
    return b".I " + name + b"\n.W\n" + text + b"\n"


def json_line(name: bytes, text: bytes) -> bytes:
    return b'{"id": "' + name + b'", "text": "' + text + b'"}\n'


def tsv(name: bytes, text: bytes) -> bytes:
    return name + b"\t" + text + b"\n"


def csv(name: bytes, text: bytes) -> bytes:
    return name + b',"' + text + b'"\n'


def in_gzip(path: Path, data: bytes) -> str:
    path.write_bytes(gzip.compress(data, 1))
    return str(path)


def docnos(reader: Reader, path: str) -> tuple[list[str], list[str]]:
    report = Report()
    found = [document.docno for document in reader.read(FileSource(path), report)]
    return found, [str(problem) for problem in report.problems]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "record", "text", "line", "what"),
    [
        (Trec(), doc, LONG, 5, "<DOC>"),
        (Trec(), doc, LINES, 5, "<DOC>"),
        (TrecWeb(), web, LINES, 8, "<DOC>"),
        (Reuters(), story, LINES, 4, "<REUTERS>"),
        (Smart(), smart, LONG, 4, "a document"),
        (Smart(), smart, LINES, 4, "a document"),
        (JsonLines(), json_line, LONG, 2, "a line"),
        (Tsv(), tsv, LONG, 2, "a line"),
    ],
)
def test_a_record_above_the_limit_is_malformed_and_those_around_it_are_read(
    limit, tmp_path, reader, record, text, line, what
):
    path = in_gzip(tmp_path / "x.gz", record(b"one", b"few words") + record(b"two", text) + record(b"three", b"more"))
    found, problems = docnos(reader, path)
    assert problems == [f"{path}:{line}: {what} has more than {LIMIT:,} bytes; break it up"]
    assert found == ["one", "three"]
    with pytest.raises(InputError, match="break it up"):
        list(reader.read(FileSource(path), Report(strict=True)))


@pytest.mark.parametrize("text", [LONG, b"y" * 1000 + b"\n" + LONG], ids=["a line", "lines"])
def test_a_row_of_csv_above_the_limit_is_malformed_and_those_around_it_are_read(limit, tmp_path, text):
    path = in_gzip(tmp_path / "x.gz", b"id,text\n" + csv(b"one", b"few") + csv(b"two", text) + csv(b"three", b"more"))
    found, problems = docnos(Csv(), path)
    assert problems == [f"{path}:3: not a CSV record (a row has more than {LIMIT:,} bytes; break it up)"]
    assert found == ["one", "three"]


def test_batches_of_json_lines_leave_out_a_line_above_the_limit(limit, tmp_path):
    data = json_line(b"one", b"few") + json_line(b"two", LONG) + json_line(b"three", b"") + json_line(b"four", LONG)
    path = in_gzip(tmp_path / "x.gz", data)
    batches = [make() for make in JsonLines().batches(FileSource(path), Report())]
    assert [batch.docno(k) for batch in batches for k in range(len(batch))] == ["one", "three"]
    reason = f"a line has more than {LIMIT:,} bytes; break it up"
    assert [(p.line, p.reason) for batch in batches for p in batch.report.problems] == [(2, reason), (4, reason)]
    with pytest.raises(InputError, match=":2: a line has more than"):
        [make() for make in JsonLines().batches(FileSource(path), Report(strict=True))]


def test_records_of_exactly_the_limit_are_read(monkeypatch, tmp_path):
    record = json_line(b"one", b"words")
    path = in_gzip(tmp_path / "x.gz", record + record.replace(b"one", b"two").rstrip())
    monkeypatch.setattr(lines, "LONGEST_RECORD", len(record) - 1)
    assert docnos(JsonLines(), path) == (["one", "two"], [])
    monkeypatch.setattr(lines, "LONGEST_RECORD", len(record) - 2)
    assert docnos(JsonLines(), path)[0] == []


@pytest.mark.slow
def test_a_text_and_an_array_element_above_the_limit_are_refused(limit, tmp_path):
    path = in_gzip(tmp_path / "x.txt.gz", LONG)
    assert docnos(Text(), path) == ([], [f"{path}:1: the file has more than {LIMIT:,} bytes; break it up"])
    path = in_gzip(tmp_path / "x.json.gz", b"[" + json_line(b"one", b"") + b"," + json_line(b"two", LONG) + b"]")
    with pytest.raises(InputError) as error:
        docnos(JsonArray(), path)
    assert str(error.value) == f"{path}:2: an element has more than {LIMIT:,} bytes; break it up."


@pytest.mark.slow
@pytest.mark.parametrize("chunked", [False, True])
def test_a_page_that_unpacks_above_the_limit_is_malformed(limit, tmp_path, chunked):
    packed = gzip.compress(LONG * 4)
    headers = ["Content-Type: text/html", "Content-Encoding: gzip"]
    if chunked:
        packed = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
        headers.append("Transfer-Encoding: chunked")
    path = tmp_path / "x.warc"
    path.write_bytes(
        response("one", page(b"<p>few")) + response("two", page(packed, *headers)) + response("three", page(b""))
    )
    tracemalloc.start()
    found, problems = docnos(Warc(), str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["one", "three"] and len(problems) == 1
    assert f"the unpacked content of the record has more than {LIMIT:,} bytes" in problems[0]
    assert peak < 3.5 * LIMIT


def test_a_web_record_above_the_limit_is_malformed(limit, tmp_path):
    path = in_gzip(tmp_path / "x.gz", response("one", page(LONG)) + response("two", page(b"<p>few")))
    found, problems = docnos(Warc(), path)
    assert problems[0] == f"{path}:1: a record has more than {LIMIT:,} bytes; break it up" and found == ["two"]


TOPICS = {
    "trec": b"<top><num>1<title>crane</top>\n<top><num>2<title>" + LINES + b"</top>\n",
    "trecxml": b'<topic number="1"><query>crane</query></topic>\n<topic number="2"><query>'
    + LONG
    + b"</query></topic>",
    "jsonl": b'{"qid": "1", "query": "crane"}\n{"qid": "2", "query": "' + LONG + b'"}\n',
    "json": b'[{"qid": "1", "query": "crane"},\n{"qid": "2", "query": "' + LONG + b'"}]\n',
    "tsv": b"1\tcrane\n2\t" + LONG,
    "csv": b"qid,query\n2," + LONG,
    "colon": b"1:crane\n2:" + LONG,
}


@pytest.mark.slow
@pytest.mark.parametrize("form", TOPICS)
def test_a_topic_above_the_limit_is_refused(limit, tmp_path, form):
    path = in_gzip(tmp_path / "x.gz", TOPICS[form])
    with pytest.raises(InputError) as error:
        read_topics(path)
    assert str(error.value).startswith(f"{path}:2:") and f"has more than {LIMIT:,} bytes; break it up" in str(
        error.value
    )


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"1 0 a 1\n2 0 " + LONG + b" 1\n", ":2: a line"),
        (b"query-id\tcorpus-id\tscore\n1\t" + LONG + b"\t1\n", ":2: a line"),
        (b'{"1": {"' + LONG + b'": 1}}', ":1: a line"),
        (b'{"1": {"a": 1},\n "2": {' + b'"b": 1,\n' * (LIMIT // 8) + b'"c": 1}}', ": the file"),
    ],
)
def test_judgements_above_the_limit_are_refused(limit, tmp_path, data, place):
    path = in_gzip(tmp_path / "x.gz", data)
    with pytest.raises(InputError) as error:
        read_qrels(path)
    assert str(error.value) == f"{path}{place} has more than {LIMIT:,} bytes; break it up."
    if data.startswith(b"{"):
        finding = lint([path], {path: "qrels"}).findings[0]
        assert finding.rule == "unreadable" and "break it up" in finding.text


def test_a_run_above_the_limit_is_refused(limit, tmp_path):
    path = in_gzip(tmp_path / "x.gz", b"1 Q0 a 1 1.0 t\n" + b"2 Q0 " + LONG + b" 1 1.0 t\n")
    with pytest.raises(InputError) as error:
        read_run(path)
    assert str(error.value) == f"{path}:2: a line has more than {LIMIT:,} bytes; break it up."


@pytest.mark.slow
def test_comments_without_end_at_the_head_of_a_run_take_little_memory(tmp_path):
    path = in_gzip(tmp_path / "x.gz", b"#" + b"x" * 10 * MIB + b"\n" + b"# word\n" * 400_000 + b"1 Q0 a 1 1.0 t\n")
    tracemalloc.start()
    assert metadata_of(path) == {}
    assert tracemalloc.get_traced_memory()[1] < 35 * MIB
    tracemalloc.stop()
    assert read_run(path)["1"] == {"a": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pack", "size", "most"),
    # A piece of 4 KiB of Zstandard can hold 128 MiB, and is put together from parts.
    [(gzip.compress, 60, 20), (bz2.compress, 60, 20), (lzma.compress, 60, 20), (zstandard.compress, 600, 300)],
    ids=["gzip", "bzip2", "xz", "zstd"],
)
def test_compressed_files_are_unpacked_piece_by_piece(tmp_path, pack, size, most):
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(size * MIB)))
    tracemalloc.start()
    with FileSource(path).open() as stream:
        assert stream.read(1000) == bytes(1000)
        peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < most * MIB


@pytest.mark.slow
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_of_archives_are_unpacked_piece_by_piece(limit, tmp_path, method):
    with zipfile.ZipFile(tmp_path / "x.zip", "w", method) as archive:
        archive.writestr("long.txt", bytes(200 * MIB))
        archive.writestr("short.txt", b"words")
    path = str(tmp_path / "x.zip")
    tracemalloc.start()
    found, problems = docnos(Archive(lambda path, head: ("text", Text())), path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["short.txt"] and len(problems) == 1 and "break it up" in problems[0]
    # zipfile would unpack the whole member and then copy it: 400 MiB.
    assert peak < 320 * MIB


def bomb(begin: bytes, middle: bytes, end: bytes) -> bytes:
    """Return some 98 KB of Zstandard that unpack to three gigabytes."""
    packed = io.BytesIO()
    with zstandard.ZstdCompressor(1).stream_writer(packed, closefd=False) as out:
        out.write(begin)
        for _ in range(3 << 10):
            out.write(middle * (MIB // len(middle)))
        out.write(end)
    assert len(packed.getvalue()) < 500_000
    return packed.getvalue()


def read_under_limit(read: Callable[[], object]) -> object:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 30), used + (4 << 30)))
    return read()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "begin", "end"),
    [
        (JsonLines(), b'{"id": "1", "text": "', b'"}\n{"id": "2", "text": ""}'),
        (Trec(), b"<DOC><DOCNO>1</DOCNO>", b"</DOC>" + doc(b"2", b"")),
        (Smart(), b".I 1\n.W\n", b"\n.I 2\n.W\n"),
        (Csv(), b"id,text\n1,", b"\n2,\n"),
        (Tsv(), b"id\ttext\n1\t", b"\n2\t\n"),
    ][:: every(5)],
)
def test_three_gigabytes_in_one_record_do_not_exhaust_memory(tmp_path, reader, begin, end):
    path = tmp_path / "bomb.zst"
    path.write_bytes(bomb(begin, b"x", end))
    ended = child.run(lambda: read_under_limit(lambda: docnos(reader, str(path))))
    found, problems = ended.answer
    assert found == ["2"] and len(problems) == 1 and "has more than 1,073,741,824 bytes" in problems[0]


@pytest.mark.slow
@pytest.mark.parametrize("middle", [b"\n", b"x"][:: every(2)])
def test_three_gigabytes_of_judgements_in_json_do_not_exhaust_memory(tmp_path, middle):
    path = tmp_path / "bomb.zst"
    path.write_bytes(bomb(b'{"1": {"', middle, b'": 1}}'))
    ended = child.run(lambda: read_under_limit(lambda: read_qrels(path)))
    assert isinstance(ended.error, InputError) and "has more than 1,073,741,824 bytes" in str(ended.error)
