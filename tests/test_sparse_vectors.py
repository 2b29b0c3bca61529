"""Tests of files of sparse vectors: weights of terms by document."""

from __future__ import annotations

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strategies import examples

import sublex
from sublex.analysis.interner import Interner
from sublex.errors import InputError
from sublex.vectors.read import read_sparse

Weights = dict[str, dict[str, float]]


def read(path, ids_file=None) -> Weights:
    """Return the weights of each document, by id and term."""
    terms, found = Interner(), {}
    for batch in read_sparse(str(path), terms, ids_file):
        names = terms.strings().tolist()
        rows = batch.rows
        assert rows.shape == (len(batch.ids), terms.size) and rows.has_canonical_format and rows.dtype == np.float32
        for k, docno in enumerate(batch.ids):
            part = slice(rows.indptr[k], rows.indptr[k + 1])
            found[docno] = {
                names[c]: w for c, w in zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True)
            }
    return found


def write(path, weights: Weights) -> None:
    """Write weights in the format that the ending of a path names."""
    if path.suffix == ".jsonl":
        lines = (json.dumps({"id": docno, "contents": "x", "vector": own}) for docno, own in weights.items())
        path.write_text("\n".join(lines))
    elif path.suffix == ".parquet":
        kind = pyarrow.map_(pyarrow.string(), pyarrow.float32())
        maps = pyarrow.array([list(own.items()) for own in weights.values()], kind)
        pyarrow.parquet.write_table(pyarrow.table({"id": list(weights), "vector": maps}), path)
    else:
        terms = sorted({term for own in weights.values() for term in own})
        rows = csr_array(np.array([[own.get(term, 0) for term in terms] for own in weights.values()], np.float32))
        arrays = {name: getattr(rows, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(path, docnos=np.array(list(weights)), terms=np.array(terms), **arrays)


DRAWN = st.dictionaries(
    st.text("abcdé", min_size=1, max_size=3),
    st.dictionaries(st.text("xyz##é", min_size=1, max_size=3), st.floats(0.0078125, 99, width=32), max_size=5),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "npz"])
@settings(max_examples=examples(40))
@given(weights=DRAWN)
def test_weights_are_read_as_they_were_written(tmp_path_factory, ending, weights):
    if ending == "npz" and not any(weights.values()):
        return
    path = tmp_path_factory.getbasetemp() / f"weights.{ending}"
    write(path, weights)
    assert read(path) == {
        docno: {term: float(np.float32(weight)) for term, weight in own.items()} for docno, own in weights.items()
    }


def test_terms_with_escapes_and_empty_vectors_are_read(tmp_path):
    (tmp_path / "w.jsonl").write_text('{"id": "a", "vector": {"\\u00e9": 1.5, "x": 2}}\n{"vector": {}, "id": "b"}\n')
    assert read(tmp_path / "w.jsonl") == {"a": {"é": 1.5, "x": 2}, "b": {}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a", "vector": {"x": 0}}', "weight of x in a is 0; weights are finite and above 0"),
        ('{"id": "a", "vector": {"x": -1.5}}', "weight of x in a is -1.5"),
        ('{"id": "a", "vector": {"x": NaN}}', "weight of x in a is nan"),
        ('{"id": "a", "vector": {"x": 1, "y": 2, "x": 3}}', "x comes twice in a"),
        ('{"id": "a", "vector": {"\\u0078": 1, "x": 3}}', "x comes twice in a"),
        ('{"id": "a", "vector": {"x": "1"}}', "no list of numbers"),
        ('{"id": "a", "vector": {"x": 1e39}}', "too large for float32"),
        ('{"id": "a", "vector": [1, 2]}', "is a list of numbers; sparse vectors are objects"),
        ('{"id": "a", "vector": {"\\ud800": 1}}', "half of a surrogate pair"),
        ('{"id": "a"}', "needs an id and a vector"),
        ("[1]", "no file of sparse vectors"),
    ],
)
def test_a_bad_line_costs_one_sentence(tmp_path, line, message):
    (tmp_path / "w.jsonl").write_text(line)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "w.jsonl")


def test_matrices_that_do_not_fit_cost_one_sentence(tmp_path):
    whole = {
        "docnos": np.array(["a", "b"]), "terms": np.array(["x", "y"]), "data": np.ones(3, np.float32),
        "indices": np.array([0, 1, 1]), "indptr": np.array([0, 2, 3]), "shape": np.array([2, 2]),
    }  # fmt: skip
    for name, value in (
        ("indices", np.array([0, 2, 1])), ("indices", np.array([0, -1, 1])), ("indices", np.array([0, 1])),
        ("indptr", np.array([0, 3, 2])), ("indptr", np.array([1, 2, 3])), ("indptr", np.array([0, 2])),
        ("terms", np.array(["x", "x"])), ("terms", np.array(["x"])), ("data", np.array([1, 0, 1.0])),
        ("data", np.array([[1, 1, 1]])), ("docnos", np.array(["a"])),
    ):  # fmt: skip
        np.savez(tmp_path / "w.npz", **(whole | {name: value}))
        with pytest.raises(InputError):
            read(tmp_path / "w.npz")
    np.savez(tmp_path / "w.npz", **whole)
    assert read(tmp_path / "w.npz") == {"a": {"x": 1, "y": 1}, "b": {"y": 1}}
    data = (tmp_path / "w.npz").read_bytes()
    for end in range(0, len(data), 40):
        (tmp_path / "w.npz").write_bytes(data[:end])
        with pytest.raises(InputError):
            read(tmp_path / "w.npz")


def test_half_of_a_character_in_a_term_costs_a_sentence(tmp_path):
    index = sublex.build([{"id": "d", "text": "crane"}], tmp_path / "index")
    arrays = {"data": np.ones(1, np.float32), "indices": np.zeros(1, int), "indptr": np.array([0, 1]), "shape": [1, 1]}
    np.savez(tmp_path / "half.npz", docnos=np.array(["d"]), terms=np.array(["\ud800"]), **arrays)
    with pytest.raises(InputError, match="half of a surrogate pair"):
        index.add_vectors("half", tmp_path / "half.npz")
    np.savez(tmp_path / "whole.npz", docnos=np.array(["d"]), terms=np.array(["crane"]), **arrays)
    assert index.add_vectors("whole", tmp_path / "whole.npz").matched == 1
