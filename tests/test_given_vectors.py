"""Tests of vectors from elsewhere: their files, how an index stores them, `dense(NAME)`, and vectors of queries."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import struct
import zipfile

import naive
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from child import at_change, kill_self, run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shared import DEMO, TOPICS
from strategies import examples

import sublex
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.index.check import check
from sublex.vectors.given import batches_of
from sublex.vectors.npids import read_npids
from sublex.vectors.read import read_vectors
from sublex.vectors.stored import UNCOVERED, RowLayout

SIMILARITIES = ("dot", "cosine", "l2")
WIDTH = 7


def vectors_of(number: int, seed: int = 0, width: int = WIDTH) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((number, width)).astype(np.float32)


def documents(begin: int, end: int) -> list[sublex.Document]:
    return [sublex.Document(f"d{k}", f"crane river w{k} w{k % 3}") for k in range(begin, end)]


@pytest.fixture
def built(tmp_path):
    """An index of 30 documents."""
    return sublex.build(documents(0, 30), tmp_path / "i")


def read(*given, **options) -> dict[str, list[float]]:
    return {
        docno: row
        for batch in batches_of(*given, **options)
        for docno, row in zip(batch.ids, batch.rows.tolist(), strict=True)
    }


# Files.


def write(path, ids, rows) -> None:
    """Write vectors in the format that the ending of a path names."""
    match path.suffix:
        case ".npy":
            np.save(path, rows)
            path.with_suffix(".docnos").write_text("".join(f"{each}\n" for each in ids))
        case ".npz":
            (np.savez_compressed if "packed" in path.name else np.savez)(path, docnos=np.array(ids), rows=rows)
        case ".jsonl":
            lines = (
                json.dumps({"id": each, "contents": 'a "[', "vector": row})
                for each, row in zip(ids, rows.tolist(), strict=True)
            )
            path.write_text("\n".join(lines))
        case ".parquet":
            table = pyarrow.table({"docno": ids, "row": pyarrow.array(list(rows))})
            pyarrow.parquet.write_table(table, path)


@pytest.mark.parametrize("name", ["v.npy", "v.npz", "packed.npz", "v.jsonl", "v.parquet"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", "<f2", "<i2"])
def test_vectors_are_read_from_each_format_as_they_were_written(tmp_path, name, dtype):
    ids, rows = ["a", "é b", "c"], np.round(100 * vectors_of(3)).astype(dtype)
    write(tmp_path / name, ids, rows.astype(dtype[1:]) if name.endswith("parquet") else rows)
    assert read(tmp_path / name) == dict(zip(ids, rows.astype(np.float32).tolist(), strict=True))


def test_arrays_stored_by_columns_and_ids_in_other_files_are_read(tmp_path):
    rows = vectors_of(3)
    np.save(tmp_path / "v.npy", np.asfortranarray(rows))
    (tmp_path / "names").write_bytes(b"\xef\xbb\xbfa\r\nb\r\nc")
    assert list(read(tmp_path / "v.npy", tmp_path / "names")) == ["a", "b", "c"]
    np.save(tmp_path / "names.npy", np.array([7, 8, 9]))
    assert read(tmp_path / "v.npy", tmp_path / "names.npy")["8"] == rows[1].tolist()


def test_arrays_dictionaries_and_frames_are_read():
    import pandas

    rows = vectors_of(3)
    expected = dict(zip("abc", rows.tolist(), strict=True))
    frame = pandas.DataFrame({"docno": list("abc"), "vector": list(rows)})
    for given_vectors in ((rows, list("abc")), (expected,), (frame,)):
        assert read(*given_vectors) == expected


NUMBERS = st.floats(-3e38, 3e38).map(repr) | st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr)
NUMBERS |= (
    st.decimals(-9, 9, places=12).map(str)
    | st.integers(-(10**20), 10**20).map(str)
    | st.sampled_from(["1e-45", "-0", "1E+2"])
)


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=4), st.sampled_from(["", " ", "\t"]))
@example([["1.00000005960464477540", "1.0000000596046447754", "16777217"]], "")
@settings(max_examples=examples(300))
def test_numbers_in_json_become_the_float32_that_python_reads(tmp_path_factory, rows, blank):
    path = tmp_path_factory.getbasetemp() / "numbers.jsonl"
    line = '{{"id":{0}"d{1}"{0},{0}"vector"{0}:[{0}{2}{0}]{0}}}'
    path.write_text("\n".join(line.format(blank, k, f"{blank},{blank}".join(row)) for k, row in enumerate(rows)))
    found = {each: row for batch in read_vectors(str(path)) for each, row in zip(batch.ids, batch.rows, strict=True)}
    for k, row in enumerate(rows):
        assert (
            found[f"d{k}"].tobytes() == np.array([json.loads(n) for n in row], np.float64).astype(np.float32).tobytes()
        )


def test_odd_lines_of_json_are_read_as_python_reads_them(tmp_path):
    lines = [
        '{"id": "a\\u0041", "vector": [1, 2]}', "", '{"docid": 12, "embedding": [1.5, -2e0], "n": [{"vector": [3]}]}',
        ' {"vector": [0, 0], "x": null, "id": "b", "y": true} ', '{"vector": [12345678901234567890123, 1], "id": "c"}',
    ]  # fmt: skip
    (tmp_path / "v.jsonl").write_text("\n".join(lines))
    assert read(tmp_path / "v.jsonl") == {
        "aA": [1, 2],
        "12": [1.5, -2],
        "b": [0, 0],
        "c": [float(np.float32(12345678901234567890123)), 1],
    }


BAD_LINES = {
    '{"id": "a", "vector": [1, NaN]}': "vector of a holds NaN",
    '{"id": "a", "vector": [1, -Infinity]}': "vector of a holds infinity",
    '{"id": "a", "vector": [1, 1e39]}': "too large for float32",
    '{"id": "a", "vector": [1, "2"]}': "vector of a is no list of numbers",
    '{"id": "a", "vector": [1, [2]]}': "vector of a is no list of numbers",
    '{"id": "a", "vector": []}': "vectors of 0 numbers",
    '{"id": "d1", "vector": [1, 2]}\n{"id": "a", "vector": {"x": 1}}': "object of weights",
    '{"id": "a"}': "each line needs an id and a vector",
    '{"vector": [1, 2]}': "each line needs an id and a vector",
    '{"id": "a", "vector": [1, 2}': "no JSON object",
    '{"id": "a", "vector": [1, 2': "no JSON object",
    '{"id": ["a"], "vector": [1, 2]}': "the id is no text",
    '{"id": "a", "vector": [1, 2]}\n{"id": "b", "vector": [1, 2, 3]}': "vector of b has 3 numbers, and that of a 2",
    '{"id": "d1", "vector": [1, 2]}\n{"id": "d1", "vector": [1, 2]}': "second vector of d1",
    '{"id": "a", "vector": [1, 2]}': "only id, a, is no docno",
}


@pytest.mark.parametrize("text", BAD_LINES)
def test_a_bad_line_of_json_costs_one_sentence(built, tmp_path, text):
    (tmp_path / "v.jsonl").write_text(text.replace('"a"', '"d0"') if "is no docno" not in BAD_LINES[text] else text)
    before = (built.path / "index.json").read_bytes()
    with pytest.raises(
        InputError, match=BAD_LINES[text].replace(" a ", " (a|d0) ").replace("a 2", "(a|d0) 2")
    ) as raised:
        built.add_vectors("v", tmp_path / "v.jsonl")
    assert "\n" not in str(raised.value) and (built.path / "index.json").read_bytes() == before


def npy(claimed: tuple[int, ...], data: bytes, descr: str = "'<f4'", order: bool = False) -> bytes:
    """Return a file of NumPy whose header claims a shape."""
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {claimed}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


BAD_ARRAYS = {
    "10⁹ rows": (npy((10**9, 384), bytes(64)), "claims 1,000,000,000 × 384 values of 4 bytes and has 64 bytes"),
    "more rows than numbers": (npy((10**18, 10**18), bytes(64)), "claims"),
    "cut short": (npy((3, 4), bytes(47)), "is it whole"),
    "objects": (npy((3,), b"cos\nsystem\n", "'|O'"), "pickled Python objects"),
    "records": (npy((3,), bytes(12), "[('x', '<f4')]"), "values of the type"),
    "texts": (npy((3, 1), bytes(12), "'|S4'"), "values of the type"),
    "one dimension": (npy((3,), bytes(12)), "1 dimension;"),
    "three dimensions": (npy((3, 1, 1), bytes(12)), "3 dimensions"),
    "no width": (npy((3, 0), b""), "vectors of 0 numbers"),
    "much width": (npy((3, 10**5), bytes(12 * 10**5)), "vectors of 100,000 numbers"),
    "a negative size": (npy((-3, 4), bytes(48)), "a shape that no array has"),
    "2⁷⁰ rows of nothing": (npy((2**70, 0), b""), "a shape that no array has"),
    "no row of 2⁷⁰ numbers": (npy((0, 2**70), b""), "a shape that no array has"),
    "2⁶² rows of nothing": (npy((2**62, 0), b""), "a shape that no array has"),
    "70 dimensions": (npy((1,) * 70, bytes(4)), "a shape that no array has"),
    "True rows": (npy((True, 4), bytes(16)), "a shape that no array has"),
    "texts without letters": (npy((3, 4), b"", "'<U0'"), "values of the type <U0"),
    "a brace that stays open": (npy((3, 4), bytes(48), "'<f4', {"), "no array of NumPy"),
    "deep brackets": (npy((3, 4), bytes(48), "(" * 5000), "no array of NumPy"),
    "code": (npy((3, 4), bytes(48), "__import__('os')"), "no array of NumPy"),
    "no header": (b"\x93NUMPY\x01\x00\xff\xff", "no array of NumPy"),
    "other ids": (npy((2, 4), bytes(32)), "2 vectors and 3 ids"),
    "pickle": (b"\x80\x04\x95", "pickled Python objects"),
    "nothing": (b"", "no file of vectors"),
    "a text": (b"hello", "no file of vectors"),
    "Parquet cut short": (b"PAR1\x15\x00", "damaged or cut short"),
    "zip cut short": (b"PK\x03\x04\x14", "damaged or cut short"),
}


@pytest.mark.parametrize("what", BAD_ARRAYS)
def test_a_bad_array_costs_one_sentence(built, tmp_path, what):
    data, message = BAD_ARRAYS[what]
    (tmp_path / "v.npy").write_bytes(data)
    (tmp_path / "v.docnos").write_text("d0\nd1\nd2\n")
    with pytest.raises(InputError, match=message) as raised:
        built.add_vectors("v", tmp_path / "v.npy")
    assert "\n" not in str(raised.value) and not built.vectors


def faiss_folder(folder, rows: np.ndarray, ids, code: bytes = b"IxFI", **changes):
    """Write a flat index as Faiss 1.8 does, and the docnos as Pyserini does; `changes` are lies of the header."""
    claimed = {"width": rows.shape[1], "count": len(rows), "numbers": rows.size, "metric": code == b"IxF2"} | changes
    folder.mkdir(exist_ok=True)
    head = struct.pack("<iqqq?i", claimed["width"], claimed["count"], 1 << 20, 1 << 20, True, claimed["metric"])
    (folder / "index").write_bytes(code + head + struct.pack("<Q", claimed["numbers"]) + rows.tobytes())
    (folder / "docid").write_text("".join(f"{each}\n" for each in ids))
    return folder


def test_a_folder_of_pyserini_is_read_without_faiss(built, tmp_path):
    rows, ids = vectors_of(3), ["d0", "d1", "d2"]
    for code in (b"IxFI", b"IxF2"):
        assert read(faiss_folder(tmp_path / "f", rows, ids, code)) == dict(zip(ids, rows.tolist(), strict=True))
    for changes, message in (
        ({"code": b"IHNf"}, "no flat index of Faiss"),
        ({"count": 10**9}, "claims 1,000,000,000 vectors"),
        ({"count": 10**9, "numbers": 10**9 * WIDTH}, "claims 1,000,000,000 vectors"),
        ({"count": -3}, "claims -3 vectors"),
        ({"width": -1}, "vectors of -1 numbers"),
        ({"width": 1 << 30}, "vectors of 1,073,741,824 numbers"),
        ({"ids": ids[:2]}, "3 vectors and 2 docnos"),
    ):
        with pytest.raises(InputError, match=message):
            built.add_vectors("v", faiss_folder(tmp_path / "f", rows, changes.pop("ids", ids), **changes))
    whole = (faiss_folder(tmp_path / "f", rows, ids) / "index").read_bytes()
    for end in range(0, len(whole), 3):
        (tmp_path / "f" / "index").write_bytes(whole[:end])
        with pytest.raises(InputError):
            built.add_vectors("v", tmp_path / "f")
    (tmp_path / "f" / "docid").unlink()
    with pytest.raises(InputError, match="folder without the files index and docid"):
        built.add_vectors("v", tmp_path / "f")


def npids(blocks, version: int = 1, **changes) -> bytes:
    """Return docnos as npids 0.1 writes them. A block is (settings, number of docnos, bytes)."""
    file, place = b"", 0
    parts = [(1145655374, {"version": version}, 0, b""), *((0, *block) for block in blocks)]
    # A block for looking up docnos, which nobody reads.
    parts.append((1, {"format": "hash", "hash_bits": 3}, 7, b"\xff" * 5))
    for number, (kind, values, count, data) in enumerate(parts):
        text = json.dumps(values).encode()
        size = 24 + len(text) + len(data)
        following = -1 if number == len(parts) - 1 else changes.get("following", place + size)
        file += struct.pack("<IqqI", kind, following, count, changes.get("length", len(text))) + text + data
        place += size
    return file


def flex_folder(folder, rows: np.ndarray, docnos: bytes, **changes):
    """Write a FlexIndex as pyterrier_dr 0.6 does; `changes` are lies in its settings."""
    folder.mkdir(exist_ok=True)
    (folder / "vecs.f4").write_bytes(rows.tobytes())
    (folder / "docnos.npids").write_bytes(docnos)
    meta = {"type": "dense_index", "format": "flex", "vec_size": rows.shape[1], "doc_count": len(rows)}
    (folder / "pt_meta.json").write_text(json.dumps(meta | changes))
    return folder


IN_ORDER = ({"format": "intsequence", "prefix": "d", "start": 0}, 3, b"")


def test_a_flex_index_of_pyterrier_is_read_without_its_package(built, tmp_path):
    """The bytes of each coding of docnos are worked out by hand from the codecs of npids."""
    hexadecimal = "0123456789abcdef0123456789abcdef"
    uuid = "01234567-89ab-cdef-0123-456789abcdef"
    codings = [
        (IN_ORDER, ["d0", "d1", "d2"]),
        (({"format": "intsequencepad", "prefix": "x", "start": 9, "pad": 3}, 2, b""), ["x009", "x010"]),
        (({"format": "intstored", "prefix": "", "int_bytes": 2}, 2, b"\x02\x01\x07\0"), ["258", "7"]),
        (({"format": "fixedbytes", "prefix": "é", "length": 5}, 2, b"abcd\0\0"), ["éabc", "éd"]),
        (({"format": "hexdigest", "prefix": "p", "length": 32, "upper": True}, 1, bytes.fromhex(hexadecimal)),
         ["p" + hexadecimal.upper()]),
        (({"format": "uuid", "prefix": "u-", "upper": False}, 1, bytes.fromhex(hexadecimal)), ["u-" + uuid]),
    ]  # fmt: skip
    ids = [docno for _, docnos in codings for docno in docnos]
    rows = vectors_of(len(ids))
    folder = flex_folder(tmp_path / "f", rows, npids([block for block, _ in codings]))
    assert read(folder) == dict(zip(ids, rows.tolist(), strict=True))
    assert built.add_vectors("v", folder)[4:6] == (len(ids), 3)


def test_a_flex_index_that_lies_costs_one_sentence(built, tmp_path):
    rows = vectors_of(3)
    huge = ({"format": "intsequence", "prefix": "d", "start": 0}, 10**9, b"")
    for docnos, changes, message in (
        ([IN_ORDER], {"doc_count": 10**9}, "claims 1,000,000,000 vectors of 7 numbers and has 84 bytes"),
        ([IN_ORDER], {"doc_count": -1}, "gives no doc_count"),
        ([IN_ORDER], {"vec_size": 1 << 40}, "vectors of 1,099,511,627,776 numbers"),
        ([IN_ORDER], {"vec_size": None}, "gives no doc_count and no vec_size"),
        ([IN_ORDER], {"format": "terrier"}, "describes no FlexIndex"),
        ([IN_ORDER, IN_ORDER], {}, "damaged"),
        ([huge], {}, "damaged"),
        ([], {}, "0 docnos for 3 vectors"),
        ([({"format": "pickle"}, 3, b"")], {}, "damaged"),
        ([({**IN_ORDER[0], "start": -1}, 3, b"")], {}, "damaged"),
        ([({**IN_ORDER[0], "prefix": 7}, 3, b"")], {}, "damaged"),
        ([({"format": "intsequencepad", "prefix": "", "start": 0, "pad": 10**9}, 3, b"")], {}, "damaged"),
        ([({"format": "intstored", "prefix": "", "int_bytes": 3}, 3, bytes(9))], {}, "damaged"),
        ([({"format": "fixedbytes", "prefix": "abc", "length": 2}, 3, b"")], {}, "damaged"),
        ([({"format": "fixedbytes", "prefix": "", "length": 1}, 3, b"\xff\xfe\xfd")], {}, "damaged"),
        ([({"format": "fixedbytes", "prefix": "", "length": 9}, 3, b"short")], {}, "damaged"),
    ):
        with pytest.raises(InputError, match=message) as raised:
            built.add_vectors("v", flex_folder(tmp_path / "f", rows, npids(docnos), **changes))
        assert "\n" not in str(raised.value)
    for lies, message in (
        ({"following": 0}, "damaged"),
        ({"length": 1 << 31}, "damaged"),
        ({"version": 9}, "in format 1"),
    ):
        with pytest.raises(InputError, match=message):
            built.add_vectors("v", flex_folder(tmp_path / "f", rows, npids([IN_ORDER], **lies)))
    whole = npids([IN_ORDER])
    # The last five bytes belong to the block that nobody reads.
    for end in range(len(whole) - 5):
        with pytest.raises(InputError):
            built.add_vectors("v", flex_folder(tmp_path / "f", rows, whole[:end]))
    with pytest.raises(InputError, match="memory allows 0"):
        read(flex_folder(tmp_path / "f", rows, whole), memory=100)
    (tmp_path / "f" / "pt_meta.json").write_text("[" * 10**5)
    with pytest.raises(InputError, match="no sound JSON"):
        built.add_vectors("v", tmp_path / "f")
    (tmp_path / "f" / "docnos.npids").unlink()
    flex_folder(tmp_path / "g", rows, b"")
    (tmp_path / "g" / "docnos.npids").unlink()
    with pytest.raises(InputError, match="Cannot read .*docnos.npids: No such file"):
        built.add_vectors("v", tmp_path / "g")


def test_docnos_equal_those_that_npids_reads(tmp_path):
    """A second reader: the package npids itself writes and reads the docnos."""
    peer = pytest.importorskip("npids", reason="npids is not installed")
    ids = [f"D{k}" for k in range(300)] + [f"E{k:07d}" for k in range(300)] + [f"zz{k * k % 97}x" for k in range(300)]
    path = str(tmp_path / "docnos.npids")
    assert list(peer.Lookup.build(ids, path)) == read_npids(path, len(ids), 1 << 30) == ids


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives_that_lie_cost_one_sentence(built, tmp_path, compression):
    ids = npy((2,), np.array(["d0", "d1"]).tobytes(), "'<U2'")
    for members, message in (
        ({"docnos.npy": ids, "rows.npy": npy((10**9, 384), bytes(64))}, "claims 1,000,000,000"),
        ({"docnos.npy": npy((10**9,), b"", "'<U2'"), "rows.npy": npy((2, 1), bytes(8))}, "claims 1,000,000,000"),
        ({"docnos.npy": npy((2,), b"x", "'|O'"), "rows.npy": npy((2, 1), bytes(8))}, "pickled"),
        ({"rows.npy": npy((2, 1), bytes(8))}, "no array of ids"),
        ({"docnos.npy": ids}, "no array of vectors"),
        ({"docnos.npy": ids, "rows.npy": npy((3, 1), bytes(12))}, "3 vectors and 2 ids"),
    ):
        with zipfile.ZipFile(tmp_path / "v.npz", "w", compression) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        with pytest.raises(InputError, match=message):
            built.add_vectors("v", tmp_path / "v.npz")
    whole = (tmp_path / "v.npz").read_bytes()
    for end in range(0, len(whole), 7):
        (tmp_path / "v.npz").write_bytes(whole[:end])
        with pytest.raises(InputError):
            built.add_vectors("v", tmp_path / "v.npz")


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_with_a_damaged_byte_cost_one_sentence(built, tmp_path, compression):
    ids, rows = (
        npy((2,), np.array(["d0", "d1"]).tobytes(), "'<U2'"),
        np.random.default_rng(1).random((2, 40), np.float32),
    )
    with zipfile.ZipFile(tmp_path / "v.npz", "w", compression) as archive:
        for name, data in {"docnos.npy": ids, "rows.npy": npy((2, 40), rows.tobytes()), "é.npy": b""}.items():
            archive.writestr(name, data)
    whole = (tmp_path / "v.npz").read_bytes()
    for place in [*range(0, len(whole), 41), whole.rindex("é".encode())]:
        (tmp_path / "v.npz").write_bytes(whole[:place] + b"\xff" * 4 + whole[place + 4 :])
        try:
            built.add_vectors("v", tmp_path / "v.npz", replace=True)
        except InputError as error:
            assert "\n" not in str(error)


def test_a_batch_that_unpacks_above_the_memory_is_refused(built, tmp_path):
    np.savez_compressed(tmp_path / "v.npz", docnos=["d0"], rows=np.zeros((60_000, 100), np.float32), sizes=[60_000])
    with pytest.raises(InputError, match="take 22 MB and memory allows 20; allow more"):
        built.add_vectors("v", tmp_path / "v.npz", memory="20MB")


def test_ids_that_need_more_memory_than_allowed_are_refused(built, tmp_path):
    np.savez(tmp_path / "v.npz", docnos=np.array(["d" * 2000] * 2000), rows=np.zeros((2000, 2)))
    with pytest.raises(InputError, match="takes? .* MB and memory allows 16"):
        built.add_vectors("v", tmp_path / "v.npz", memory="16MB")


@pytest.mark.parametrize(
    ("given_vectors", "message"),
    [
        ({"d0": [1, 2], "d1": [1, 2, 3]}, "vector of d1 has 3 numbers"),
        ({"d0": [1, float("nan")]}, "vector of d0 holds NaN"),
        ({"d0": [1, float("inf")]}, "vector of d0 holds infinity"),
        ({"d0": "text"}, "no list of numbers"),
        ({"d0": [[1], 2]}, "no list of numbers"),
        ({1.5: [1]}, "ids are texts"),
        (np.zeros((2, 2)), "array has no ids"),
        (7, "give a file"),
        ([], "give a file"),
    ],
)
def test_bad_python_objects_cost_one_sentence(built, given_vectors, message):
    with pytest.raises(InputError, match=message):
        built.add_vectors("v", given_vectors)


def test_names_and_types_that_cannot_be_used_are_refused(built):
    built.add_resource("file", DEMO)
    for name, stored, message in (
        ("a-b", None, "cannot be called"),
        ("true", None, "cannot"),
        ("v", "int4", "stored as"),
        ("file", None, "resource"),
    ):
        with pytest.raises(SublexError, match=message):
            built.add_vectors(name, {"d0": [1.0]}, stored=stored)


# Storage and scores.


def scored(index, expression: str, query: np.ndarray, k: int = 1000) -> dict[str, float]:
    return {hit.docno: hit.score for hit in index.search("crane", expression, k, queries={"v": {"crane": query}})}


def expected(kind: str, query: np.ndarray, vectors: dict[str, np.ndarray]) -> dict[str, float]:
    found = {docno: naive.similarity(kind, query, vector) for docno, vector in vectors.items()}
    return {docno: score for docno, score in found.items() if score > -np.inf}


def equal(found: dict[str, float], wanted: dict[str, float]) -> bool:
    """Return whether scores differ by at most one step of float32, since the naive sum is exact."""
    return found.keys() == wanted.keys() and all(
        abs(score - wanted[docno]) <= 2e-7 * max(1.0, abs(wanted[docno])) for docno, score in found.items()
    )


@pytest.mark.parametrize("kind", SIMILARITIES)
def test_scores_are_the_naive_ones_over_segments_deletions_merges_and_reordering(built, kind):
    rows, query = vectors_of(45), vectors_of(1, 1)[0]
    rows[4] = 0
    built.add_vectors("v", rows[:28], [f"d{k}" for k in range(28)])
    expression = f"dense(v, similarity={kind})"
    vectors = {f"d{k}": rows[k] for k in range(28)}
    before = scored(built, expression, query)
    assert equal(before, expected(kind, query, vectors))
    said: list[str] = []
    built.add(documents(30, 45), say=said.append)
    assert any("dense(v) has no vectors of the new documents; run: sublex vectors add" in text for text in said)
    with pytest.raises(IndexProblem, match=r"does not cover 15 documents .*sublex vectors add .* v FILE"):
        scored(built, expression, query)
    open_anyway = sublex.open(built.path, allow_uncovered=True)
    assert scored(open_anyway, expression, query) == before
    built.merge()
    with pytest.raises(IndexProblem, match="does not cover 15 documents"):
        scored(built, expression, query)
    summary = built.add_vectors("v", rows[30:44], [f"d{k}" for k in range(30, 44)])
    assert (summary.read, summary.matched, summary.without_vector, summary.zeros) == (14, 14, 3, 1)
    vectors |= {f"d{k}": rows[k] for k in range(30, 44)}
    built.delete(["d3", "d31"])
    vectors = {docno: vector for docno, vector in vectors.items() if docno not in ("d3", "d31")}
    first = scored(built, expression, query)
    assert equal(first, expected(kind, query, vectors))
    assert {docno: first[docno] for docno in before if docno in first} == {
        d: s for d, s in before.items() if d in first
    }
    built.merge()
    assert scored(built, expression, query) == first
    built.merge(reorder=True)
    assert scored(built, expression, query) == first and not check(built.path)
    # Each document alone, as a rescoring stage asks for it.
    for docno in ("d0", "d40"):
        assert built.explain("crane", docno, expression, queries={"v": {"crane": query}}).value == pytest.approx(
            first[docno], 1e-7
        )
    blended = built.search("crane w1", f"BM25 + 0.5*raw({expression}) % 20", 50, queries={"v": {"crane w1": query}})
    assert len(blended)


@pytest.mark.parametrize(("stored", "lost"), [("float32", 0), ("float16", 1e-3), ("int8", 2e-2)])
@pytest.mark.parametrize("kind", SIMILARITIES)
def test_vectors_are_scored_as_they_are_stored(built, stored, lost, kind):
    rows, query = vectors_of(30), vectors_of(1, 1)[0]
    rows[7], rows[8] = 0, rows[8] * 1e-20
    summary = built.add_vectors("v", rows, [f"d{k}" for k in range(30)], stored=stored)
    assert summary.lost <= lost if stored != "float16" else summary.lost <= 1
    layout = RowLayout(WIDTH, stored)
    kept = layout.vectors(layout.rows(rows))
    assert np.abs(kept - rows).max() <= lost * np.abs(rows).max()
    vectors = {f"d{k}": kept[k] for k in range(30)}
    assert equal(scored(built, f"dense(v, similarity={kind})", query), expected(kind, query, vectors))


def test_numbers_that_float16_cannot_hold_are_refused(built):
    with pytest.raises(InputError, match="vector of d1 holds a number that is too large for float16"):
        built.add_vectors("v", {"d0": [1.0], "d1": [1e5]}, stored="float16")


def test_several_files_are_one_set_and_the_order_of_vectors_does_not_matter(built, tmp_path):
    rows, ids = vectors_of(30), [f"d{k}" for k in range(30)]
    for name, part in (("a.npz", slice(0, 9)), ("b.jsonl", slice(9, 20)), ("c.parquet", slice(20, 30))):
        write(tmp_path / name, ids[part], rows[part])
    built.add_vectors("v", [tmp_path / name for name in ("c.parquet", "a.npz", "b.jsonl")])
    files, hits = built.vectors["v"].hash, scored(built, "dense(v)", rows[0])
    order = np.random.default_rng(1).permutation(30)
    assert not built.add_vectors("v", rows[order], [ids[k] for k in order]).changed
    built.add_vectors("w", rows[order], [ids[k] for k in order])
    assert built.vectors["w"].hash == files
    assert {
        hit.docno: hit.score for hit in built.search("crane", "dense(w)", 99, queries={"w": {"crane": rows[0]}})
    } == hits


def test_other_values_are_another_model_and_replace_the_old_one_alone_when_told(built):
    rows, ids = vectors_of(30), [f"d{k}" for k in range(30)]
    built.add_vectors("v", rows, ids)
    first = built.vectors["v"].hash, list(built.fitted)
    with pytest.raises(InputError, match="d0 has another vector already; --replace"):
        built.add_vectors("v", -rows, ids)
    with pytest.raises(InputError, match=f"vectors of 3 numbers, and the index already has {WIDTH}"):
        built.add_vectors("v", vectors_of(30, 0, 3), ids)
    with pytest.raises(InputError, match="stored as float32"):
        built.add_vectors("v", rows, ids, stored="int8")
    assert (built.vectors["v"].hash, list(built.fitted)) == first
    built.add_vectors("v", vectors_of(30, 0, 3), ids, replace=True)
    assert built.vectors["v"].hash != first[0] and len(built.fitted) == 1 and list(built.fitted) != first[1]
    assert built.card("dense(v)")["dimensions"] == 3


def test_vectors_are_removed_with_their_models_and_forgotten_with_them(built):
    ids = [f"d{k}" for k in range(30)]
    for name in ("v", "w"):
        built.add_vectors(name, vectors_of(30), ids)
    built.forget("dense(v)")
    assert list(built.vectors) == ["w"] and len(built.fitted) == 1
    built.remove_vectors("w")
    assert not built.vectors and not built.fitted and not list((built.path / "representations").iterdir())
    with pytest.raises(IndexProblem, match="no vectors w; it has none"):
        built.remove_vectors("w")
    with pytest.raises(IndexProblem, match="i has no vectors w. .*sublex vectors add .*i w FILE"):
        built.search("crane", "dense(w)")


def test_vectors_follow_documents_that_are_replaced(built):
    built.add_vectors("v", vectors_of(30), [f"d{k}" for k in range(30)])
    built.add([sublex.Document("d4", "another text")], "last")
    with pytest.raises(IndexProblem, match="does not cover 1 document"):
        scored(built, "dense(v)", vectors_of(1)[0])
    assert built.card("dense(v)")["documents without"] == 0
    built.add_vectors("v", {"d4": vectors_of(1, 9)[0]})
    assert len(scored(built, "dense(v)", vectors_of(1)[0])) == 30


def test_lsi_exported_and_imported_as_dense_gives_the_run_of_lsi(tmp_path, command):
    index = sublex.build(DEMO, tmp_path / "i")
    index.fit("lsi(e=20)")
    topics = sublex.read_topics(TOPICS)
    model = index.representation("lsi(e=20)")
    queries = {topic.qid: model.model.query_vector(model.query(index.query(topic.text))) for topic in topics}
    for ending in ("npz", "parquet"):
        assert command("encode", index.path, "lsi(e=20)", "-o", tmp_path / f"v.{ending}").code == 0
        told = command("encode", index.path, "lsi(e=20)", "--topics", TOPICS, "-o", tmp_path / f"q.{ending}")
        assert f"q.{ending} has the vectors of 30 queries by lsi(e=20)" in told.output
        given = read(tmp_path / f"q.{ending}")
        assert given == {qid: row.astype(np.float32).tolist() for qid, row in queries.items()}
        assert command("vectors", "add", index.path, ending, tmp_path / f"v.{ending}").code == 0
        index = sublex.open(index.path)
        lsi = index.run(topics, "lsi(e=20)", 100)
        dense = index.run(topics, f"dense({ending}, similarity=cosine)", 100, queries={ending: queries})
        for qid in queries:
            theirs, ours = lsi[qid], dense[qid]
            assert list(theirs) == list(ours) or sorted(theirs) == sorted(ours)
            assert ours == pytest.approx(theirs, abs=2e-6)


def test_stored_vectors_are_exported_as_they_came(built, tmp_path, command):
    rows = vectors_of(30)
    built.add_vectors("v", rows, [f"d{k}" for k in range(30)])
    assert command("encode", built.path, "dense(v)", "-o", tmp_path / "o.npz").code == 0
    assert read(tmp_path / "o.npz") == {f"d{k}": rows[k].tolist() for k in range(30)}
    built.add_vectors("some", rows[:7], [f"d{k}" for k in range(7)], stored="int8")
    assert command("encode", built.path, "dense(some)", "-o", tmp_path / "some.npz").code == 0
    assert list(read(tmp_path / "some.npz")) == [f"d{k}" for k in range(7)]


def test_queries_cannot_be_exported_without_vectors_or_beside_documents(demo, tmp_path, command):
    demo.fit("lda(k=2)")
    told = command("encode", demo.path, "lda(k=2)", "--topics", TOPICS, "-o", tmp_path / "o.npz")
    assert told.code and "lda(k=2) gives queries no vectors" in told.messages
    told = command("encode", demo.path, "lda(k=2)", DEMO, "--topics", TOPICS, "-o", tmp_path / "o.npz")
    assert told.code and "Give a file of documents or --topics, not both." in told.messages
    assert not (tmp_path / "o.npz").exists()


# Vectors of queries.


def test_queries_are_found_by_the_topic_or_by_the_text_and_an_unknown_one_costs_a_sentence(built, tmp_path):
    rows = vectors_of(30)
    built.add_vectors("v", rows, [f"d{k}" for k in range(30)])
    lines = [{"id": "1", "text": "crane", "vector": rows[3].tolist()}, {"id": "crane", "vector": rows[5].tolist()}]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    given_queries = {"v": tmp_path / "q.jsonl"}
    best = {f"d{k}": naive.similarity("dot", rows[k], rows[k]) for k in (3, 5)}
    run_of = built.run({"1": "crane", "2": "crane", "crane": "other"}, "dense(v)", 30, queries=given_queries)
    assert run_of["1"] == run_of["2"] and run_of["1"]["d3"] == pytest.approx(best["d3"])
    assert run_of["crane"]["d5"] == pytest.approx(best["d5"])
    assert built.search("crane", "dense(v)", 30, queries=given_queries)[0].score == max(run_of["1"].values())
    for text, message in (
        ("heron", 'q.jsonl has no vector of the query "heron"'),
        ("x" * 99, f'the query "{"x" * 60}…"'),
    ):
        with pytest.raises(InputError, match=message):
            built.search(text, "dense(v)", queries=given_queries)
    with pytest.raises(InputError, match="q.jsonl has no vector of topic 7, which dense"):
        built.run({"7": "heron"}, "dense(v)", queries=given_queries)
    with pytest.raises(InputError, match=r"dense\(v\) needs the vectors of queries; give them: --queries v=FILE"):
        built.search("crane", "dense(v)")
    with pytest.raises(InputError, match="query's vector has 2 numbers where the vectors v have 7"):
        built.search("crane", "dense(v)", queries={"v": {"crane": [1, 2]}})
    with pytest.raises(IndexProblem, match="no vectors w. To add"):
        built.search("crane", "dense(v)", queries={"w": {"crane": rows[0]}})
    for bad, message in (
        ({"v": {"a": [np.nan]}}, "NaN"),
        (7, "give a dictionary"),
        ({"v": {}}, "no vector of a query"),
    ):
        with pytest.raises(InputError, match=message):
            built.with_queries(bad)
    # BM25 asks for none, and an expander keeps those of the query.
    assert len(built.search("heron crane", "BM25", queries=given_queries))
    chained = built.search("crane", "BM25 >> RM3 >> dense(v)", 30, queries=given_queries)
    assert {hit.docno: hit.score for hit in chained} == run_of["1"]


def test_a_query_of_zeros_has_no_cosine_and_a_product_of_zero(built):
    built.add_vectors("v", vectors_of(30), [f"d{k}" for k in range(30)])
    zeros = np.zeros(WIDTH)
    assert not scored(built, "dense(v, similarity=cosine)", zeros)
    assert set(scored(built, "dense(v)", zeros).values()) == {0.0}
    asked = built.with_queries({"v": {"crane": zeros}})
    explained = str(asked.explain("crane", "d0", "dense(v, similarity=cosine)"))
    assert "no opinion: a vector of zeros has no cosine" in explained


@pytest.fixture
def demo(tmp_path):
    """The demo collection with vectors, and a file with vectors of its topics."""
    index = sublex.build(DEMO, tmp_path / "demo")
    ids = [str(docno) for docno in index.snapshot.all_docnos]
    index.add_vectors("v", vectors_of(len(ids)), ids)
    topics = sublex.read_topics(TOPICS)
    qids = [topic.qid for topic in topics]
    frame = {"qid": np.array(qids), "rows": vectors_of(len(qids), 3)}
    np.savez(tmp_path / "q.npz", **frame)
    np.savez(tmp_path / "other.npz", **(frame | {"rows": -frame["rows"]}))
    return index


def test_runs_comparisons_and_tuning_take_vectors_of_queries(demo, tmp_path, command):
    qrels, queries = TOPICS.with_name("qrels.txt"), {"v": tmp_path / "q.npz"}
    opposite = {"v": tmp_path / "other.npz"}
    own = demo.run(TOPICS, "dense(v)", 100, queries=queries)
    assert own[own.qids[0]] != demo.run(TOPICS, "dense(v)", 100, queries=opposite)[own.qids[0]]
    first, second, again = (
        sublex.compare(demo, TOPICS, qrels, ["dense(v)"], queries=each).mean("AP")[0]
        for each in (queries, opposite, queries)
    )
    assert first == again != second
    # Other vectors of documents under the same name are another system.
    demo.add_vectors("w", vectors_of(len(demo)), [str(docno) for docno in demo.snapshot.all_docnos])
    found = []
    for sign in (1, -1, 1):
        demo.add_vectors(
            "w", sign * vectors_of(len(demo)), [str(docno) for docno in demo.snapshot.all_docnos], replace=True
        )
        found.append(sublex.compare(demo, TOPICS, qrels, ["dense(w)"], queries={"w": tmp_path / "q.npz"}).mean("AP")[0])
    assert found[0] == found[2] == first != found[1]
    tuned = sublex.tune(demo, TOPICS, qrels, "BM25 + {0,0.5}*dense(v)", queries=queries)
    assert len(tuned.settings) == 2
    option = ("--queries", f"v={tmp_path / 'q.npz'}")
    done = command("run", demo.path, TOPICS, "-r", "dense(v)", "-k", "100", "-o", tmp_path / "d.run", *option)
    assert done.code == 0 and dict(sublex.read_run(tmp_path / "d.run")[own.qids[0]]) == pytest.approx(own[own.qids[0]])
    for words in (
        ("compare", demo.path, TOPICS, qrels, "-r", "dense(v)", "-r", "BM25"),
        ("tune", demo.path, TOPICS, qrels, "BM25 + {0,1}*dense(v)"),
    ):
        assert command(*words).code != 0 and command(*words, *option).code == 0
    for text, message in (("v", "write NAME=FILE"), ("=x", "write NAME=FILE"), ("v=none.npz", "Cannot read none.npz")):
        assert message in command("search", demo.path, "crane", "--queries", text).messages
    assert "names v twice" in command("search", demo.path, "crane", *option, *option).messages


def test_the_shell_refuses_vectors_of_queries_that_it_cannot_read_when_they_are_set(demo, tmp_path, command):
    before = ("-c", f":set queries=v={tmp_path / 'q.npz'}")
    for text, message in (("v", "write NAME=FILE"), ("v=none.npz", "Cannot read none.npz"), ("w=none.npz", "none.npz")):
        done = command("shell", demo.path, *before, "-c", f":set queries={text}", "-c", ":set")
        assert message in done.messages and f"v={tmp_path / 'q.npz'}" in done.output
    done = command("shell", demo.path, *before, "-c", ":set queries=none", "-c", ":set")
    assert done.code == 0 and str(tmp_path) not in done.output


# The command.


def test_the_command_says_what_it_did_and_lists_and_removes(built, tmp_path, command):
    np.savez(
        tmp_path / "v.npz",
        docnos=[f"d{k}" for k in range(28)] + ["x"],
        rows=np.append(vectors_of(28), np.zeros((1, WIDTH)), 0),
    )
    done = command("vectors", "add", built.path, "bge", tmp_path / "v.npz", "--as", "int8")
    assert done.output.splitlines()[:3] == [
        f"{built.path} has bge: vectors of 7 numbers as int8, ranked by dense(bge)",
        "read 29 vectors, 28 of them of documents",
        "1 vector without a document left out",
    ]
    assert "2 documents without a vector; dense(bge) has no opinion on them" in done.output
    assert "had already bge" in command("vectors", "add", built.path, "bge", tmp_path / "v.npz").output
    assert command("vectors", "list", built.path).output.split()[4:7] == ["bge", "dense(bge)", "28"]
    assert "dense(bge)" in command("card", built.path).output
    assert command("vectors", "remove", built.path, "bge").output == f"bge is gone from {built.path}\n"
    assert "no vectors bge" in command("vectors", "remove", built.path, "bge").messages


# Damage, forgeries and kills.


def test_a_model_that_lies_about_its_rows_is_refused(built):
    built.add_vectors("v", vectors_of(30), [f"d{k}" for k in range(30)])
    (model,) = built.fitted
    (rows,) = (built.path / "representations" / model).glob("rows-*/*/rows.npy")
    data = bytearray(rows.read_bytes())
    data[-1] ^= 1
    rows.write_bytes(data)
    with pytest.raises(IndexCorrupt):
        scored(sublex.open(built.path), "dense(v)", vectors_of(1)[0])
    assert check(built.path)


def test_scales_that_nobody_writes_are_refused():
    for stored in ("float32", "int8"):
        layout = RowLayout(3, stored)
        layout.check_scales(
            layout.scales(
                np.concatenate([layout.rows(vectors_of(2, 0, 3)), layout.blank(1), layout.blank(1, UNCOVERED)])
            )
        )
        for scale in (-2.0, np.inf, np.nan) + ((2.0,) if stored == "float32" else ()):
            with pytest.raises(IndexCorrupt):
                layout.check_scales(np.array([1, scale], np.float32))


@pytest.mark.slow
def test_an_addition_that_is_killed_is_made_or_not(built, tmp_path):
    rows, ids = vectors_of(30), [f"d{k}" for k in range(30)]
    built.add_vectors("v", rows, ids)
    made = set()
    for number in range(0, 60, 4):
        copy = shutil.copytree(built.path, tmp_path / str(number))

        def work(copy=copy, number=number) -> None:
            at_change(number + 1, kill_self)
            sublex.open(copy).add_vectors("v", -rows, ids, replace=True)

        run(work)
        index = sublex.open(copy)
        is_new = index.vectors["v"].hash != built.vectors["v"].hash
        vectors = dict(zip(ids, -rows if is_new else rows, strict=True))
        assert equal(scored(index, "dense(v)", rows[0]), expected("dot", rows[0], vectors)) and not check(copy)
        made.add(is_new)
        index.add_vectors("w", rows, ids)
        assert sorted(index.vectors) == ["v", "w"] and len(list((copy / "representations").iterdir())) == 2
    assert made == {True, False}


def test_an_index_that_is_empty_for_a_while_takes_vectors(tmp_path):
    index = sublex.build([{"id": "a", "text": "x"}], tmp_path / "i")
    index.delete("a")
    with pytest.raises(InputError, match="The only id, a, is no docno of i"):
        index.add_vectors("v", {"a": [1.0]})
    index.merge()
    index.add([{"id": "b", "text": "y"}])
    for docno, value in (("b", 1.0), ("c", 2.0)):
        index.add_vectors("v", {docno: [value]})
        found = index.search("x", "dense(v)", queries={"v": {"x": [3.0]}})
        assert [(hit.docno, hit.score) for hit in found] == [(docno, 3 * value)]
        index.delete(docno)
        index.merge()
        assert not len(index.search("x", "dense(v)", queries={"v": {"x": [3.0]}}))
        index.add([{"id": "c", "text": "y"}])


def test_an_index_with_vectors_of_queries_is_pickled_with_them(built):
    built.add_vectors("v", vectors_of(30), [f"d{k}" for k in range(30)])
    given_queries = built.with_queries({"v": {"crane": vectors_of(1)[0]}})
    copy = pickle.loads(pickle.dumps(given_queries))
    assert copy.search("crane", "dense(v)").docnos == given_queries.search("crane", "dense(v)").docnos


def test_damaged_vectors_are_to_be_added_again_and_not_fitted(built):
    for file in ("rows-*/*/rows.npy", "model/_values.npy"):
        built.add_vectors("v", {"d0": [1.0], "d1": [2.0]})
        damaged = next(built.path.glob(f"representations/dense-*/{file}"))
        damaged.unlink()
        again = r"; run: sublex vectors remove \S+ v, then: sublex vectors add \S+ v FILE$"
        with pytest.raises(IndexCorrupt, match=again):
            sublex.open(built.path).search("crane", "dense(v)", queries={"v": {"crane": [1.0]}})
        with pytest.raises(IndexCorrupt, match=again):
            sublex.open(built.path).add_vectors("v", {"d2": [1.0]})
        (problem,) = check(built.path)
        assert re.search(again, problem)
        # The commands that the message names mend the index.
        again = sublex.open(built.path)
        again.remove_vectors("v")
        again.add_vectors("v", {"d0": [1.0], "d1": [2.0]})
        assert not check(built.path)
        built = again


def test_parquet_with_lists_of_texts_costs_a_sentence_that_says_so(built, tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"id": ["d0"], "vector": [["a", "b"]]}), tmp_path / "v.parquet")
    with pytest.raises(InputError, match="lists of the type string; vectors are lists of whole numbers or floats"):
        built.add_vectors("v", tmp_path / "v.parquet")


def test_parquet_whose_runs_of_equal_numbers_need_much_memory_is_refused(built, tmp_path):
    import pyarrow
    from pyarrow import parquet

    numbers = pyarrow.array(np.zeros(6_000_000, np.float32))
    vectors = pyarrow.ListArray.from_arrays(pyarrow.array([0, 6_000_000], pyarrow.int32()), numbers)
    parquet.write_table(pyarrow.table({"id": ["d0"], "vector": vectors}), tmp_path / "v.parquet", compression="zstd")
    assert (tmp_path / "v.parquet").stat().st_size < 2000
    with pytest.raises(InputError, match="takes 22 MB and memory allows 20; allow more"):
        built.add_vectors("v", tmp_path / "v.parquet", memory="20MB")


def test_odd_parquet_costs_one_sentence(built, tmp_path):
    import pyarrow
    from pyarrow import parquet

    def expect(message):
        with pytest.raises(InputError, match=message) as raised:
            built.add_vectors("v", tmp_path / "v.parquet")
        assert "\n" not in str(raised.value)

    columns = [pyarrow.array(["d0"]), pyarrow.array(["d1"]), pyarrow.array([[1.0]])]
    parquet.write_table(pyarrow.Table.from_arrays(columns, ["id", "id", "vector"]), tmp_path / "v.parquet")
    expect("two columns of one name")
    rows = pyarrow.table({"id": ["d0", "d1"], "vector": [[[1.0, 2.0], [1.0]], [[1.0, 2.0]]]})
    parquet.write_table(rows, tmp_path / "v.parquet")
    expect("the matrix of d0 has rows of 2 and of 1 numbers")
    parquet.write_table(
        pyarrow.table({"id": ["d0"], "vector": [[1.0]], "qqqqqq": [1]}), tmp_path / "v.parquet", store_schema=False
    )
    (tmp_path / "v.parquet").write_bytes((tmp_path / "v.parquet").read_bytes().replace(b"qqqqqq", b"\xffqqqqq"))
    expect("damaged or cut short")


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (np.ones((2, 1)), {"ids": 5}, "The ids are 5 "),
        (np.ones((2, 1)), {"ids": "d0"}, "The ids are 'd0' .*; give a list, with one id for each row"),
        (np.ones((1, 1)), {"ids": ["d0", "d1"]}, "has 1 row and 2 ids"),
        (np.float64(3), {"ids": ["d0"]}, "The array has 0 dimensions"),
        (np.array([[1, "a"]], object), {"ids": ["d0"]}, "holds Python objects; vectors are"),
        (np.ma.masked_array([[1.0, 2.0]], [[False, True]]), {"ids": ["d0"]}, "masked places"),
        (csr_array(np.eye(2)), {"ids": ["d0", "d1"]}, "The array is sparse"),
        (np.ones((1, 1)), {"ids": ["d0"], "encoder": 5}, "The encoder is 5 .*; give an expression"),
    ],
)
def test_odd_arrays_cost_one_sentence(built, data, options, message):
    with pytest.raises(InputError, match=message) as raised:
        built.add_vectors("v", data, **options)
    assert "\n" not in str(raised.value) and not built.vectors


@pytest.mark.parametrize(("similarity", "sign"), [("dot", 1), ("dot", -1), ("l2", 1), ("l2", -1)])
def test_scores_beyond_float32_cost_a_sentence_in_either_direction(built, similarity, sign):
    built.add_vectors("v", {"d0": [3e38, 0], "d1": [1, 1]})
    queries = {"v": {"crane": [sign * 3e38, 0]}}
    expression = f"dense(v, similarity={similarity})"
    if (similarity, sign) == ("l2", 1):
        queries["v"]["crane"] = [0, 3e38]
    with pytest.raises(InputError, match="too large: a .* of them is beyond float32; divide all vectors by one number"):
        built.search("crane", expression, queries=queries)
    cosine = built.search("crane", "dense(v, similarity=cosine)", queries=queries)
    assert len(cosine) == 2
