"""Tests of matrices from elsewhere: their files, how an index stores them, and `late(NAME)`, which ranks by MaxSim."""

from __future__ import annotations

import json
import shutil
import zipfile

import naive
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import forge_rows
from strategies import examples

import sublex
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.index.check import check
from sublex.vectors.given import batches_of
from sublex.vectors.matrices import Matrices
from sublex.vectors.stored import RowLayout

WIDTH = 5


def matrices_of(names, seed: int = 0, width: int = WIDTH) -> dict[str, np.ndarray]:
    """Return a random matrix of one to six rows for each name."""
    chance = np.random.default_rng(seed)
    return {name: chance.standard_normal((chance.integers(1, 7), width)).astype(np.float32) for name in names}


def documents(begin: int, end: int) -> list[sublex.Document]:
    return [sublex.Document(f"d{k}", f"crane river w{k} w{k % 3}") for k in range(begin, end)]


@pytest.fixture
def built(tmp_path):
    """An index of 30 documents."""
    return sublex.build(documents(0, 30), tmp_path / "i")


def read(*args, **options) -> dict[str, list[list[float]]]:
    found = {}
    for batch in batches_of(*args, **options):
        ends = np.cumsum(batch.sizes)
        found |= {name: batch.rows[end - size : end].tolist()
                  for name, size, end in zip(batch.ids, batch.sizes, ends, strict=True)}  # fmt: skip
    return found


def as_lists(matrices) -> dict[str, list[list[float]]]:
    return {name: np.asarray(matrix, np.float32).tolist() for name, matrix in matrices.items()}


def write(path, matrices) -> None:
    """Write matrices in the format that a path names."""
    ids, rows = list(matrices), np.concatenate(list(matrices.values()))
    sizes = np.array([len(matrix) for matrix in matrices.values()])
    match path.name:
        case "sizes.npz" | "more.npz":
            np.savez(path, docnos=ids, rows=rows, sizes=sizes)
        case "packed.npz":
            np.savez_compressed(path, docnos=ids, rows=rows, sizes=sizes.astype(np.uint8))
        case "offsets.npz":
            np.savez(path, docnos=ids, vectors=rows, offsets=np.append(0, np.cumsum(sizes)).astype(np.uint64))
        case _ if path.suffix == ".jsonl":
            lines = [{"id": name, "contents": 'a "[[', "vector": each} for name, each in as_lists(matrices).items()]
            path.write_text("\n".join(map(json.dumps, lines)))
        case "fixed.parquet":
            flat = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows.ravel()), rows.shape[1])
            lists = pyarrow.ListArray.from_arrays(pyarrow.array(np.append(0, np.cumsum(sizes)), pyarrow.int32()), flat)
            pyarrow.parquet.write_table(pyarrow.table({"docno": ids, "embedding": lists}), path)
        case _:
            table = pyarrow.table({"docno": ids, "row": [each.tolist() for each in matrices.values()]})
            pyarrow.parquet.write_table(table, path)


FILES = ["sizes.npz", "packed.npz", "offsets.npz", "v.jsonl", "v.parquet", "fixed.parquet"]


@pytest.mark.parametrize("name", FILES)
def test_matrices_are_read_from_each_format_as_they_were_written(tmp_path, name):
    matrices = matrices_of(["a", "é b", "c", "d"])
    write(tmp_path / name, matrices)
    assert read(tmp_path / name) == as_lists(matrices)


def test_files_of_many_rows_come_in_batches(tmp_path):
    matrices = {f"d{k}": np.full((1 + k % 5, 2), k, np.float32) for k in range(6000)}
    for name in ("packed.npz", "v.jsonl", "v.parquet"):
        write(tmp_path / name, matrices)
        assert read(tmp_path / name) == as_lists(matrices)
    assert len(list(batches_of(tmp_path / "packed.npz"))) > 3


def test_odd_lines_of_json_are_read_as_python_reads_them(tmp_path):
    lines = ['{"id": "a\\u0041", "vector": [[1, 2], [3, 4]]}', ' {"vector" : [ [ 1.5 ,-2e0 ] ,[0,0] ], "id": "b"} ',
             '{"embedding": [[12345678901234567890123, 1]], "docid": 12}']  # fmt: skip
    (tmp_path / "v.jsonl").write_text("\n".join(lines))
    large = float(np.float32(12345678901234567890123))
    assert read(tmp_path / "v.jsonl") == {"aA": [[1, 2], [3, 4]], "b": [[1.5, -2], [0, 0]], "12": [[large, 1]]}


def test_lists_dictionaries_and_frames_are_read():
    import pandas

    matrices = matrices_of("abc")
    values = list(matrices.values())
    frame = pandas.DataFrame({"docno": list("abc"), "vector": [list(each) for each in values]})
    for data in ((matrices,), (as_lists(matrices),), (values, list("abc")), (frame,)):
        assert read(*data) == as_lists(matrices)
    whole = np.arange(12.0).reshape(2, 3, 2)
    assert read(whole, ["a", "b"]) == {"a": whole[0].tolist(), "b": whole[1].tolist()}


BAD = {
    '{"id": "d0", "vector": [[1, NaN]]}': "vector of d0 holds NaN",
    '{"id": "d0", "vector": [[1, 2], [1, -Infinity]]}': "vector of d0 holds infinity",
    '{"id": "d0", "vector": [[1, 1e39]]}': "too large for float32",
    '{"id": "d0", "vector": [[1, 2], [1]]}': "matrix of d0 has rows of 1 and of 2 numbers",
    '{"id": "d0", "vector": [[1, 2], 1]}': "vector of d0 is no list of numbers",
    '{"id": "d0", "vector": [[1, "2"]]}': "vector of d0 is no list of numbers",
    '{"id": "d0", "vector": [[1, [2]]]}': "vector of d0 is no list of numbers",
    '{"id": "d0", "vector": [[]]}': "vectors of 0 numbers",
    '{"id": "d0", "vector": []}': "vectors of 0 numbers",
    '{"id": "d0", "vector": [[1, 2], [3, 4]': "no JSON object",
    '{"id": "d0", "vector": [[1]]}\n{"id": "d1", "vector": [[1, 2]]}': "vector of d1 has 2 numbers, and that of d0 1",
    '{"id": "d0", "vector": [[1]]}\n{"id": "d1", "vector": [1]}': "vectors and matrices",
    '{"id": "d0", "vector": [[1]]}\n{"id": "d0", "vector": [[2]]}': "second (vector|matrix) of d0",
    '{"id": "x", "vector": [[1]]}': "The only id, x, is no docno of i such as",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_line_of_json_costs_one_sentence(built, tmp_path, text):
    (tmp_path / "v.jsonl").write_text(text)
    before = (built.path / "index.json").read_bytes()
    with pytest.raises(InputError, match=BAD[text]) as raised:
        built.add_vectors("v", tmp_path / "v.jsonl")
    assert "\n" not in str(raised.value) and (built.path / "index.json").read_bytes() == before


ROWS, IDS = np.ones((5, 2), np.float32), ["d0", "d1"]
BAD_ARRAYS = {
    "sizes that do not add up": ({"sizes": [2, 2]}, "5 rows, and sizes that add up to 4"),
    "an empty matrix": ({"sizes": [5, 0]}, "matrix of d1 is empty; leave it out"),
    "a negative size": ({"sizes": [6, -1]}, "matrix of d1 has -1 rows"),
    "10⁹ rows": ({"sizes": [10**9, 4]}, "matrix of d0 has 1,000,000,000 rows"),
    "sizes beyond 64 bits": ({"sizes": np.array([2**63, 2**63 + 5], np.uint64)}, "matrix of d0 has"),
    "other sizes": ({"sizes": [5]}, "2 ids and no whole number of rows for each"),
    "floats": ({"sizes": [2.0, 3.0]}, "no list of whole numbers"),
    "a table": ({"sizes": [[2, 3]]}, "no list of whole numbers"),
    "offsets of two": ({"offsets": [0, 2]}, "2 ids and no whole number"),
    "offsets from 1": ({"offsets": [1, 2, 6]}, "do not lead from 0"),
    "offsets that fall": ({"offsets": [0, 6, 5]}, "matrix of d1 has -1 rows"),
    "no offsets": ({"offsets": np.zeros(0, int)}, "do not lead from 0"),
    "offsets that end early": ({"offsets": [0, 2, 4]}, "5 rows, and sizes that add up to 4"),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("what", BAD_ARRAYS)
def test_a_bad_archive_costs_one_sentence(built, tmp_path, what, save):
    arrays, message = BAD_ARRAYS[what]
    save(tmp_path / "v.npz", docnos=IDS, rows=ROWS, **arrays)
    with pytest.raises(InputError, match=message) as raised:
        built.add_vectors("v", tmp_path / "v.npz")
    assert "\n" not in str(raised.value) and not built.vectors


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_that_are_cut_short_or_claim_rows_cost_one_sentence(built, tmp_path, save):
    save(tmp_path / "v.npz", docnos=IDS, rows=ROWS, sizes=[2, 3])
    whole = (tmp_path / "v.npz").read_bytes()
    for end in range(0, len(whole), 11):
        (tmp_path / "v.npz").write_bytes(whole[:end])
        with pytest.raises(InputError):
            built.add_vectors("v", tmp_path / "v.npz")
    kind = zipfile.ZIP_STORED if save is np.savez else zipfile.ZIP_DEFLATED
    head = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({10**9},), }}".ljust(117) + "\n"
    (tmp_path / "v.npz").write_bytes(whole)
    with zipfile.ZipFile(tmp_path / "v.npz") as old, zipfile.ZipFile(tmp_path / "w.npz", "w", kind) as new:
        for name in ("docnos.npy", "rows.npy"):
            new.writestr(name, old.read(name))
        new.writestr("sizes.npy", b"\x93NUMPY\x01\x00v\x00" + head.encode())
    with pytest.raises(InputError, match="claims 1,000,000,000 values"):
        built.add_vectors("v", tmp_path / "w.npz")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"d0": [[1, 2]], "d1": [[1, 2, 3]]}, "matrix of d1 has rows of 3 numbers, and the first 2"),
        ({"d0": [[1, 2], [1]]}, "rows of two widths"),
        ({"d0": [[1.0, float("nan")]]}, "vector of d0 holds NaN"),
        ({"d0": [[1.0]], "d1": np.zeros((0, 1))}, "matrix of d1 is empty; leave it out"),
        ({"d0": [[1.0]], "d1": [1.0]}, "matrix of d1 is no matrix of numbers"),
        ({"d0": [1.0], "d1": [[1.0]]}, "vector of d1 is no list of numbers"),
        ({"d0": [["a"]]}, "no matrix of numbers"),
        ({"d0": np.zeros((1 << 16, 1)), "d1": np.zeros((1 + (1 << 16), 1))}, "matrix of d1 has 65,537 rows; give 1 to"),
    ],
)
def test_bad_python_objects_cost_one_sentence(built, data, message):
    with pytest.raises(InputError, match=message):
        built.add_vectors("v", data)
    with pytest.raises(InputError, match="2 matrices and 1 id"):
        built.add_vectors("v", [np.ones((1, 2)), np.ones((1, 2))], ["d0"])


# Storage and scores.


def scored(index, query, expression: str = "late(v)") -> dict[str, float]:
    return {hit.docno: hit.score for hit in index.search("crane", expression, 1000, queries={"v": {"crane": query}})}


def near(found: dict[str, float], query, matrices) -> bool:
    """Return whether scores differ from those of the definition by at most one step of float32."""
    wanted = {docno: naive.max_sim(query, matrix) for docno, matrix in matrices.items()}
    return found.keys() == wanted.keys() and all(
        abs(score - wanted[docno]) <= 2e-7 * max(1.0, abs(wanted[docno])) for docno, score in found.items()
    )


NUMBERS = st.floats(-1e3, 1e3, width=32).map(lambda x: x if abs(x) > 1e-20 else 0.0)


@st.composite
def cases(draw):
    """Return a query and matrices of one width, for documents of which some have none."""
    width = draw(st.integers(1, 9))
    rows = st.lists(NUMBERS, min_size=width, max_size=width)
    matrices = draw(st.dictionaries(st.integers(0, 11), st.lists(rows, min_size=1, max_size=4), min_size=1))
    return draw(st.lists(rows, min_size=1, max_size=10)), {f"d{doc}": matrix for doc, matrix in matrices.items()}


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    """An index of twelve documents in two segments, one of them deleted."""
    index = sublex.build(documents(0, 7), tmp_path_factory.mktemp("twelve") / "i")
    index.add(documents(7, 12))
    index.delete("d5")
    return index


@given(case=cases())
@settings(max_examples=examples(120), deadline=None)
def test_scores_are_those_of_the_definition(twelve, case):
    query, matrices = case
    matrices = {docno: matrix for docno, matrix in matrices.items() if docno != "d5"} or {"d0": query}
    twelve.add_vectors("v", matrices, replace="v" in twelve.vectors)
    found = scored(twelve, query)
    assert near(found, np.float32(query), as_lists(matrices))
    # The candidates of another stage get the same scores, in the same order.
    candidates = scored(twelve, query, "BM25 % 100 >> late(v)")
    assert list(candidates.items()) == list(found.items())


def test_scores_are_the_same_over_segments_deletions_merges_and_reordering(built, tmp_path):
    matrices, query = matrices_of([f"d{k}" for k in range(28)]), matrices_of("q", 1)["q"]
    built.add_vectors("v", matrices)
    before = scored(built, query)
    assert near(before, query, matrices)
    said: list[str] = []
    built.add(documents(30, 45), say=said.append)
    assert any("late(v) has no vectors of the new documents; run: sublex vectors add" in text for text in said)
    with pytest.raises(IndexProblem, match=r"does not cover 15 documents .*sublex vectors add .* v FILE"):
        scored(built, query)
    assert scored(sublex.open(built.path, allow_uncovered=True), query) == before
    built.merge()
    with pytest.raises(IndexProblem, match="does not cover 15 documents"):
        scored(built, query)
    new = matrices_of([f"d{k}" for k in range(30, 44)], 2)
    summary = built.add_vectors("v", new)
    assert (summary.read, summary.matched, summary.without_vector) == (14, 14, 3)
    assert summary.rows == sum(map(len, (matrices | new).values()))
    # The same matrices of the same documents have the same hash in an index of one segment.
    other = sublex.build(documents(0, 45), tmp_path / "other")
    other.add_vectors("v", matrices | new)
    assert other.vectors["v"].hash == built.vectors["v"].hash
    built.delete(["d3", "d31"])
    left = {docno: matrix for docno, matrix in (matrices | new).items() if docno not in ("d3", "d31")}
    first = scored(built, query)
    assert near(first, query, left)
    for merge in (built.merge, lambda: built.merge(reorder=True)):
        merge()
        assert scored(built, query) == first and not check(built.path)


def test_workers_change_nothing(tmp_path):
    matrices, found = matrices_of([f"d{k}" for k in range(900)], 5), []
    for workers in (1, 3):
        index = sublex.build(documents(0, 900), tmp_path / str(workers))
        index.add_vectors("v", matrices, workers=workers)
        found.append((index.vectors["v"].hash, scored(index, matrices["d0"])))
    assert found[0] == found[1] and len(found[0][1]) == 900


@pytest.mark.parametrize(("stored", "lost"), [("float32", 0), ("float16", 1e-3), ("int8", 2e-2)])
def test_matrices_are_scored_as_they_are_stored(built, stored, lost):
    matrices, query = matrices_of([f"d{k}" for k in range(29)]), matrices_of("q", 1)["q"]
    summary = built.add_vectors("v", matrices, stored=stored)
    assert (summary.lost > 0) == (lost > 0) and summary.lost <= lost
    layout = RowLayout(WIDTH, stored)
    kept = {docno: layout.vectors(layout.rows(matrix)) for docno, matrix in matrices.items()}
    assert near(scored(built, query), query, kept)
    built.add(documents(30, 33))
    built.merge()
    built.add_vectors("v", matrices_of(["d31"], 4))
    assert len(scored(built, query)) == 30 and not check(built.path)


def test_numbers_that_float16_cannot_hold_are_refused(built):
    with pytest.raises(InputError, match="vector of d1 holds a number that is too large for float16"):
        built.add_vectors("v", {"d0": [[1.0]], "d1": [[2.0], [1e5]]}, stored="float16")


def test_files_of_several_formats_are_one_set_and_their_order_does_not_matter(built, tmp_path):
    matrices = matrices_of([f"d{k}" for k in range(30)] + ["unknown"])
    names = list(matrices)
    parts = {"sizes.npz": names[:9], "v.jsonl": names[9:16], "v.parquet": names[16:22], "packed.npz": names[22:]}
    for name, own in parts.items():
        write(tmp_path / name, {each: matrices[each] for each in own[::-1]})
    summary = built.add_vectors("v", [tmp_path / name for name in parts])
    assert (summary.read, summary.matched, summary.without_document) == (31, 30, 1)
    del matrices["unknown"]
    assert near(scored(built, matrices["d0"]), matrices["d0"], matrices)
    built.add_vectors("w", dict(reversed(matrices.items())))
    assert not built.add_vectors("w", matrices).changed
    assert built.vectors["w"].hash == built.vectors["v"].hash


def test_other_matrices_and_vectors_replace_the_old_ones_alone_when_told(built):
    matrices = matrices_of([f"d{k}" for k in range(30)])
    built.add_vectors("v", matrices)
    for data, message in (
        ({"d0": -matrices["d0"]}, "d0 has another matrix already; --replace"),
        ({"d0": matrices["d0"][:1].repeat(7, 0)}, "d0 has another matrix already; --replace"),
        ({"d0": [[1.0, 2.0]]}, f"vectors of 2 numbers, and the index already has {WIDTH}"),
        ({"d0": [1.0] * WIDTH}, r"v is ranked by late\(v\), and these are of dense\(v\); --replace them"),
    ):
        with pytest.raises(InputError, match=message):
            built.add_vectors("v", data)
    with pytest.raises(InputError, match="stored as float32"):
        built.add_vectors("v", matrices, stored="int8")
    with pytest.raises(InputError, match=r"vectors v are ranked by late\(v\), and not by dense\(v\)"):
        scored(built, matrices["d0"], "dense(v)")
    built.add_vectors("v", {"d0": [1.0] * WIDTH}, replace=True)
    assert [entry.expression for entry in built.fitted.values()] == ["dense(v)"]
    with pytest.raises(InputError, match=r"vectors v are ranked by dense\(v\), and not by late\(v\)"):
        scored(built, matrices["d0"])
    built.add_vectors("v", matrices, replace=True)
    assert near(scored(built, matrices["d1"]), matrices["d1"], matrices)
    built.remove_vectors("v")
    assert not built.vectors and not built.fitted and not list((built.path / "representations").iterdir())
    built.add_vectors("v", matrices)
    built.forget("late(v)")
    assert not built.vectors and not built.fitted


def test_stored_matrices_are_exported_as_they_came(built, tmp_path, command):
    matrices = matrices_of([f"d{k}" for k in range(3, 30)])
    built.add_vectors("v", matrices)
    for ending in ("npz", "parquet"):
        assert command("encode", built.path, "late(v)", "-o", tmp_path / f"o.{ending}").code == 0
        assert read(tmp_path / f"o.{ending}") == as_lists(matrices)


# Queries.


def test_queries_come_as_matrices_from_files_and_objects(built, tmp_path):
    matrices = matrices_of([f"d{k}" for k in range(30)])
    built.add_vectors("v", matrices)
    queries = matrices_of(["1", "crane"], 3)
    wanted = {name: {docno: naive.max_sim(queries[name], each) for docno, each in matrices.items()} for name in queries}
    for file in FILES:
        write(tmp_path / file, queries)
        run = built.run({"1": "crane", "crane": "x"}, "late(v)", 30, queries={"v": tmp_path / file})
        for qid in wanted:
            assert dict(run[qid]) == pytest.approx(wanted[qid], rel=1e-6, abs=1e-6)
    lines = [{"id": "7", "text": "heron", "vector": queries["1"].tolist()}]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    best = built.search("heron", "late(v)", 1, queries={"v": tmp_path / "q.jsonl"})[0]
    assert best.score == pytest.approx(max(wanted["1"].values()), rel=1e-6)
    for bad, message in (
        ([[1.0, 2.0]], f"query's matrix has 2 numbers in a row where the vectors v have {WIDTH}"),
        ([1.0] * WIDTH, r"late\(v\) needs a matrix of the query, and v has a vector of it"),
    ):
        with pytest.raises(InputError, match=message):
            scored(built, bad)
    with pytest.raises(InputError, match=r"late\(v\) needs the vectors of queries; give them: --queries v=FILE"):
        built.search("crane", "late(v)")
    with pytest.raises(InputError, match="matrix of crane is empty"):
        scored(built, np.zeros((0, WIDTH)))
    built.add_vectors("w", {"d0": [1.0] * WIDTH})
    with pytest.raises(InputError, match=r"dense\(w\) needs a vector of the query, and w has a matrix of it"):
        built.search("crane", "dense(w)", queries={"w": {"crane": queries["1"]}})


def test_the_command_counts_matrices_and_searches(built, tmp_path, command):
    matrices = matrices_of([f"d{k}" for k in range(28)] + ["x", "y"])
    write(tmp_path / "v.jsonl", matrices)
    write(tmp_path / "sizes.npz", {"crane": matrices["d4"]})
    done = command("vectors", "add", built.path, "v", tmp_path / "v.jsonl", "--as", "float16")
    rows = sum(len(matrices[f"d{k}"]) for k in range(28))
    assert done.code == 0
    for text in (
        f"matrices with {rows} rows of {WIDTH} numbers as float16, ranked by late(v)",
        "read 30 matrices, 28 of them of documents", "2 matrices without a document left out",
        "2 documents without a matrix; late(v) has no opinion on them",
    ):  # fmt: skip
        assert text in done.output + done.messages
    assert "late(v)" in command("vectors", "list", built.path).output
    option = ("--queries", f"v={tmp_path / 'sizes.npz'}")
    found = command("search", built.path, "crane", "-r", "BM25 % 100 >> late(v)", *option)
    assert found.code == 0 and "d4" in found.output
    assert command("vectors", "remove", built.path, "v").code == 0


# Damage.


def test_matrices_that_do_not_fit_their_starts_are_refused(built, tmp_path):
    matrices = matrices_of([f"d{k}" for k in range(30)])
    built.add_vectors("v", matrices)
    assert scored(built, matrices["d0"])
    for name in ("rows.starts.npy", "rows.data.npy"):
        copy = shutil.copytree(built.path, tmp_path / name)
        (file,) = copy.rglob(name)
        data = bytearray(file.read_bytes())
        data[-3] ^= 255
        file.write_bytes(data)
        with pytest.raises(IndexCorrupt):
            scored(sublex.open(copy), matrices["d0"])
        assert check(copy)


@pytest.mark.parametrize(
    ("name", "values"),
    [("rows.tokens", [0, 9]), ("rows.tokens", [0, -2]), ("rows.tokens", [0]), ("rows.starts", [0, 1, 3]), ("rows.starts", [0, 2, 1])],
)  # fmt: skip
def test_forged_tokens_and_starts_with_checksums_do_no_harm(tmp_path, name, values):
    index = sublex.build(documents(0, 2), tmp_path / "i")
    write_tokens(tmp_path / "v.npz", {"d0": np.eye(2, dtype=np.float32)}, {"d0": ["a", "b"]})
    index.add_vectors("v", tmp_path / "v.npz")
    forge_rows(index.path, name, lambda array: np.array(values, array.dtype))
    index = sublex.open(index.path)
    try:
        assert pairs(index, "d0", {"crane": [[0.0, 1.0]]}) == ["query token 1 ↔ document token 2"]
    except IndexCorrupt:
        assert values != [0, 9] and values != [0, -2]
    with pytest.raises(IndexCorrupt):
        index.add_vectors("v", {"d1": [[1.0, 2.0]]})
    index.add_vectors("v", {"d1": [[1.0, 2.0]]}, replace=True)
    assert not check(index.path)


def test_matrices_are_taken_by_slices_numbers_and_masks():
    whole = Matrices.of_sizes(np.arange(12.0).reshape(6, 2), np.array([2, 0, 3, 1]))
    assert len(whole) == 4 and whole.shape == (4, 2)
    for chosen in (slice(1, 3), np.array([1, 2]), np.array([False, True, True, False])):
        part = whole[chosen]
        assert part.sizes.tolist() == [0, 3] and part.data.tolist() == whole.data[2:5].tolist()
    assert whole[np.array([3, 0])].data.tolist() == [[10, 11], [0, 1], [2, 3]]
    assert Matrices.stacked([whole[2:], whole[:2]]).data[:4].tolist() == whole.data[2:].tolist()
    assert len(whole[4:]) == 0 and not len(whole[:0].data)


# Tokens.

TOKENS = {"d0": ["the", "crane"], "d1": ["a", "é\n"], "d2": ["crane"]}


def write_tokens(path, matrices, tokens) -> None:
    """Write matrices with their tokens in the format that a path names."""
    ids, rows = list(matrices), np.concatenate(list(matrices.values()))
    texts = [tokens[name] for name in ids]
    if path.suffix == ".npz":
        save = np.savez_compressed if path.name == "packed.npz" else np.savez
        save(
            path,
            docnos=ids,
            rows=rows,
            sizes=[len(own) for own in texts],
            tokens=[text for own in texts for text in own],
        )
    elif path.suffix == ".jsonl":
        lists = zip(ids, as_lists(matrices).values(), texts, strict=True)
        path.write_text("\n".join(json.dumps({"tokens": own, "id": name, "vector": each}) for name, each, own in lists))
    else:
        columns = {"docno": ids, "row": [each.tolist() for each in matrices.values()], "tokens": texts}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)


def pairs(index, docno: str, queries) -> list[str]:
    return [part.label for part in index.explain("crane", docno, "late(v)", queries={"v": queries}).parts]


@pytest.mark.parametrize("name", ["v.npz", "packed.npz", "v.jsonl", "v.parquet"])
def test_explanations_show_the_texts_of_tokens(built, tmp_path, name):
    eye = np.eye(3, dtype=np.float32)
    write_tokens(tmp_path / name, {"d0": eye[:2], "d1": eye[1:], "d2": eye[:1]}, TOKENS)
    write_tokens(tmp_path / f"q{name[-6:]}", {"crane": eye[:2]}, {"crane": ["big", "bird"]})
    queries = tmp_path / f"q{name[-6:]}"
    built.add_vectors("v", tmp_path / name)
    first = built.vectors["v"].hash

    def expect():
        assert pairs(built, "d0", queries) == [
            "query token 1 big ↔ document token 1 the", "query token 2 bird ↔ document token 2 crane",
        ]  # fmt: skip
        assert pairs(built, "d2", queries)[0].endswith("document token 1 crane")

    expect()
    assert "document token 1 a" in pairs(built, "d1", queries)[1]
    # Documents with other tokens, and without any, join those of the index.
    write_tokens(tmp_path / "more.npz", {"d7": eye[:1]}, {"d7": ["crane"]})
    built.add_vectors("v", tmp_path / "more.npz")
    built.add_vectors("v", {"d8": eye})
    built.delete("d1")
    built.add(documents(30, 33))
    built.merge(reorder=True)
    built.add_vectors("v", {"d30": eye[:1]})
    expect()
    assert pairs(built, "d7", queries)[0].endswith("document token 1 crane")
    assert pairs(built, "d8", queries)[0].endswith("document token 1") and not check(built.path)
    assert built.vectors["v"].hash != first


def test_equal_tokens_are_an_equal_hash_and_others_another(built, tmp_path):
    eye, hashes = np.eye(3, dtype=np.float32), []
    for number, texts in enumerate((TOKENS, TOKENS, TOKENS | {"d0": ["an", "crane"]})):
        names = sorted(TOKENS, reverse=number == 1)
        matrices = {name: eye[: len(TOKENS[name])] for name in names}
        write_tokens(tmp_path / "v.npz", matrices, texts)
        built.add_vectors("v", tmp_path / "v.npz", replace=True)
        hashes.append(built.vectors["v"].hash)
    assert hashes[0] == hashes[1] != hashes[2]


BAD_TOKENS = {
    '{"id": "d0", "vector": [[1], [2]], "tokens": ["a"]}': "matrix of d0 has 2 rows and 1 tokens",
    '{"id": "d0", "vector": [[1]], "tokens": [1]}': "tokens of d0 are no list of texts",
    '{"id": "d0", "vector": [[1]], "tokens": "a"}': "tokens of d0 are no list of texts",
    '{"id": "d0", "vector": [[1]], "tokens": [a]}': "tokens of d0 are no list of texts|no JSON object",
    '{"id": "d\\u0030", "vector": [[1]], "tokens": [1]}': "tokens of d0 are no list of texts",
}


@pytest.mark.parametrize("text", BAD_TOKENS)
def test_bad_tokens_cost_one_sentence(built, tmp_path, text):
    (tmp_path / "v.jsonl").write_text(text)
    with pytest.raises(InputError, match=BAD_TOKENS[text]):
        built.add_vectors("v", tmp_path / "v.jsonl")
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "v.npz", docnos=["d0"], rows=np.ones((2, 1)), sizes=[2], tokens=["a"])
        with pytest.raises(InputError, match="2 rows and 1 token; give each row one"):
            built.add_vectors("v", tmp_path / "v.npz")


def test_half_of_a_surrogate_pair_in_a_token_is_replaced(built, tmp_path):
    (tmp_path / "v.jsonl").write_text('{"id": "d0", "vector": [[1]], "tokens": ["\\ud800x"]}')
    built.add_vectors("v", tmp_path / "v.jsonl")
    assert pairs(built, "d0", {"crane": [[1.0]]}) == ["query token 1 ↔ document token 1 ?x"]
