"""JSON arrays and archives as collections: what is read, what is left out, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sublex
from sublex.building.indexing import build_index
from sublex.contracts.base import Report
from sublex.errors import InputError
from sublex.readers import json_array, lines
from sublex.readers.json_array import JsonArray, elements
from sublex.readers.source import FileSource

LINES = b'{"id": "a", "text": "whale song"}\n{"id": "b", "text": "crane"}\n'
ARRAY = b'[{"id": "c", "text": "an array"},\n {"id": 5}, {"id": "d", "text": "its end"}]'
MEMBERS = {
    "x/docs.jsonl": LINES,
    "x/more.jsonl.gz": gzip.compress(b'{"id": "z", "text": "zipped"}\n'),
    "./x/array.json": ARRAY,
    "x/README.md": b"# Read me",
    "noise.bin": bytes(range(256)),
    ".hidden/docs.jsonl": LINES,
}
LINKS = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "device": tarfile.CHRTYPE, "pipe": tarfile.FIFOTYPE}


def tar(path: Path, members: dict[str, bytes], mode: str = "w", links: dict[str, bytes] | None = None) -> Path:
    """Write a tar archive of these files and links."""
    with tarfile.open(path, mode) as archive:
        for name, kind in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    """Write a zip archive of these files, and of a symbolic link."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def build(path: Path, *files: Path, **options):
    """Return the docnos of an index of these files, and what was said while it was built."""
    said: list[str] = []
    summary = build_index(path, files, overwrite=True, say=said.append, **options)
    index = sublex.open(path)
    return sorted(index.snapshot.all_docnos.tolist()), "\n".join([*said, *summary.remarks()]), index


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tar.xz", "a.tar.bz2", "a.zip"])
def test_an_archive_is_read_like_a_folder(tmp_path, name):
    path = tmp_path / name
    if name == "a.zip":
        zipped(path, MEMBERS)
    else:
        tar(path, MEMBERS, f"w:{path.suffix[1:]}" if path.suffix != ".tar" else "w", LINKS)
    docnos, said, index = build(tmp_path / "index", path)
    assert docnos == ["a", "b", "c", "d", "z"] and index.document("c").text == "an array"
    assert f"Reading {path} as {'zip' if name == 'a.zip' else 'tar'}." in said
    assert f"{path}/noise.bin was left out: no reader knows the format." in said
    assert f"{path}/x/README.md was left out: plain text next to collection files." in said
    times = "" if name == "a.zip" else " (4 times)"
    assert f"{path}: links and devices in it were left out{times}" in said
    listing = (tmp_path / "index" / "last-build.tsv").read_text()
    assert f"{path}/x/array.json:2: no text" in listing


def test_an_archive_of_texts_has_the_docnos_of_a_folder_of_texts(tmp_path):
    texts = {"notes/May.md": b"# May\nwarm", "notes/June.txt": b"hot"}
    for name, data in texts.items():
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_bytes(data)
    docnos, _, index = build(tmp_path / "one", tmp_path / "folder")
    packed, _, other = build(tmp_path / "two", tar(tmp_path / "t.tgz", texts, "w:gz"))
    assert docnos == packed == ["notes/June.txt", "notes/May.md"]
    assert index.document("notes/May.md") == other.document("notes/May.md")
    (tmp_path / "folder" / "more.tar").write_bytes((tmp_path / "t.tgz").read_bytes())


def test_archives_in_a_folder_and_the_corpus_of_a_beir_archive_are_read(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    beir = {
        "d/corpus.jsonl": LINES,
        "d/queries.jsonl": b'{"_id": "1", "text": "q"}',
        "d/qrels/test.tsv": b"1\t0\ta\t1\n",
    }
    zipped(folder / "beir.zip", beir)
    tar(folder / "more.tar", {"more.jsonl": b'{"id": "m", "text": "more"}'})
    docnos, said, _ = build(tmp_path / "index", folder)
    assert docnos == ["a", "b", "m"] and "d/queries.jsonl and 1 more were left out: no corpus.jsonl, which is" in said


def test_a_named_reader_reads_every_member(tmp_path):
    path = tar(tmp_path / "a.tar", {"docs.data": b'{"key": "k", "text": "mine"}'})
    assert build(tmp_path / "index", path, reader="jsonl(id=key)")[0] == ["k"]


def test_an_archive_is_never_written_to_the_disk(tmp_path):
    path = tar(tmp_path / "a.tar", {"../../out.jsonl": LINES, "/abs/x.jsonl": b'{"id": "x", "text": "y"}'})
    assert build(tmp_path / "in" / "index", path)[0] == ["a", "b", "x"]
    assert {p.name for p in tmp_path.iterdir()} == {"a.tar", "in"} and not Path("/abs").exists()


def broken(kind: str, folder: Path) -> Path:
    """Write an archive with a fault."""
    path = tar(folder / "a.tar", {"one.jsonl": LINES, "two.jsonl": LINES * 40})
    data = path.read_bytes()
    if kind == "cut":
        path.write_bytes(data[:2000])
    elif kind == "damaged":
        path.write_bytes(data[:1024] + b"\xff" * 600 + data[1624:])
    elif kind == "no end of gzip":
        path.write_bytes(gzip.compress(data, mtime=0)[:-9])
    elif kind == "long name":
        info = tarfile.TarInfo("name")
        info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
        path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_000))
    elif kind == "unknown":
        tar(path, {"noise.bin": bytes(range(256))})
    elif kind == "zip":
        zipped(path.with_suffix(".zip"), {"one.jsonl": LINES})
        data = path.with_suffix(".zip").read_bytes()
        path.with_suffix(".zip").write_bytes(data[:-30])
        return path.with_suffix(".zip")
    elif kind == "encrypted":
        zipped(path.with_suffix(".zip"), {"one.jsonl": LINES})
        data = bytearray(path.with_suffix(".zip").read_bytes())
        data[data.rindex(b"PK\x01\x02") + 8] |= 1
        path.with_suffix(".zip").write_bytes(data)
        return path.with_suffix(".zip")
    elif kind == "checksum":
        zipped(path.with_suffix(".zip"), {"one.jsonl": LINES})
        data = bytearray(path.with_suffix(".zip").read_bytes())
        data[data.index(b"one.jsonl") + 15] ^= 255
        path.with_suffix(".zip").write_bytes(data)
        return path.with_suffix(".zip")
    return path


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("cut", "a.tar/two.jsonl cannot be read: unexpected end of data."),
        ("damaged", "a.tar is cut short or damaged: bad checksum."),
        ("no end of gzip", "a.tar is cut short: the compressed data ends before its end mark."),
        ("long name", "a.tar is cut short or damaged: a header has 1,099,511,627,776 bytes."),
        ("unknown", "a.tar holds no file whose format a reader knows; name one by --reader."),
        ("zip", "a.zip is cut short or damaged: File is not a zip file."),
        ("encrypted", "a.zip/one.jsonl is encrypted; decrypt the archive first."),
        ("checksum", "a.zip"),
    ],
)
def test_a_faulty_archive_costs_one_sentence_and_makes_no_index(tmp_path, kind, sentence):
    with pytest.raises(InputError) as error:
        build(tmp_path / "index", broken(kind, tmp_path))
    assert sentence in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "index" / "index.json").exists()
    # The archive is closed, though the error still holds on to what read it.
    opened = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    assert not [name for name in opened if name.startswith(str(tmp_path))]


def test_an_archive_from_a_pipe_is_refused(sublex, tmp_path):
    data = tar(tmp_path / "a.tar", {"one.jsonl": LINES}).read_bytes()
    code, _, messages = sublex("index", "x", "-", stdin=data)
    assert code == 2 and "The archive - has to be a file, because it is read twice" in messages


def test_a_text_that_is_too_long_is_malformed(tmp_path, monkeypatch):
    monkeypatch.setattr("sublex.readers.lines.LONGEST_RECORD", 100)
    path = tar(tmp_path / "a.tar", {"long.txt": b"word " * 100, "short.txt": b"word"})
    assert build(tmp_path / "index", path)[0] == ["short.txt"]


# JSON arrays.


def split(data: bytes) -> list[tuple[int, bytes]]:
    return list(elements(io.BytesIO(data), "x.json"))


def test_the_documents_of_an_array_are_those_of_json_lines(tmp_path):
    path = tmp_path / "docs.json"
    path.write_bytes(b"\xef\xbb\xbf" + ARRAY)
    report = Report()
    documents = list(JsonArray().read(FileSource(path), report))
    assert [(d.docno, d.text) for d in documents] == [("c", "an array"), ("d", "its end")]
    assert [(problem.line, problem.reason[:7]) for problem in report.problems] == [(2, "no text")]
    assert (
        JsonArray().detect("x", b"\n [\n {") and JsonArray().detect("x", b"[]") and not JsonArray().detect("x", b"[1]")
    )
    assert build(tmp_path / "index", path, reader="json(id=id)")[0] == ["c", "d"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(values, max_size=6), st.sampled_from([None, 1]), st.booleans(), st.integers(1, 40))
def test_any_array_is_cut_into_its_elements_whatever_the_size_of_the_reads(array, indent, ascii, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_array, "CHUNK", size)
        # The first read has to hold the opening bracket.
        cut = split(json.dumps(array, indent=indent, ensure_ascii=ascii).encode())
    assert [json.loads(element) for _, element in cut] == array


def test_a_malformed_element_does_not_hide_those_after_it():
    assert split(b'[{"id": 1}}, {,}, 3,\n, {"id": 2},]') == [
        (1, b'{"id": 1}}'), (1, b"{,}"), (1, b"3"), (2, b""), (2, b'{"id": 2}'),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'[{"id": 1}', "x.json is cut short: its array has no closing bracket."),
        (b'[{"id": "1', "x.json is cut short: its array has no closing bracket."),
        (b'[{"id": 1}]\n[{"id": 2}]', "x.json: text follows the end of the array; keep one array in a file."),
        (b"word", "x.json holds no JSON array"),
        (b'[{"id": "' + b"x" * 500, "x.json:1: an element has more than 100 bytes; break it up."),
    ],
)
def test_a_file_that_is_not_one_array_is_refused(monkeypatch, data, sentence):
    monkeypatch.setattr(lines, "LONGEST_RECORD", 100)
    monkeypatch.setattr(json_array, "CHUNK", 10)
    with pytest.raises(InputError) as error:
        split(data)
    assert sentence in str(error.value)
