"""Tests of fitting: stores, identities, rows that follow their segments, failing plugins, exports, and fitted expanders."""

from __future__ import annotations

import json
import sys
import types
from importlib.metadata import EntryPoint
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from scipy.sparse import csr_array
from shared import DEMO, PLUGINS, QUERIES, scores

import sublex
from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import ordered, synonyms
from sublex.errors import IndexCorrupt, IndexProblem, InputError, PluginError, SublexError
from sublex.index import manifest as files
from sublex.index.check import check
from sublex.index.directory import Directory
from sublex.index.format import FolderWriter
from sublex.index.schema import as_json
from sublex.language import plugins
from sublex.language.expression import Call
from sublex.language.parser import parse
from sublex.representations.export import export
from sublex.representations.model_store import StoreReader, StoreWriter
from sublex.representations.rows import write_rows

pytestmark = pytest.mark.usefixtures("projection")

# Stores.


def stored(tmp_path, **values) -> StoreReader:
    with FolderWriter(Directory(tmp_path / "store")) as folder:
        store = StoreWriter(folder)
        for name, value in values.items():
            store.put(name, value)
        entry = store.finish()
    reader = StoreReader(Directory(tmp_path / "store"), entry)
    reader.entry = entry
    return reader


@pytest.mark.parametrize("size", [True, -1, 1.0, "1", None])
def test_the_sizes_of_a_stored_array_are_whole_numbers(tmp_path, size):
    reader = stored(tmp_path, only=np.ones(1))
    assert reader.get("only").tolist() == [1]
    reader._values["only"]["shape"] = [size]
    with pytest.raises(IndexCorrupt, match="fit it again"):
        reader.get("only")


def test_a_model_says_which_words_it_leaves_out_and_why(tmp_path, command):
    words = ("crane river", "crane river seal", "crane whale river", "crane tern", "crane tern river")
    index = sublex.build([{"id": f"d{k}", "text": text} for k, text in enumerate(words)], tmp_path / "i")
    for expression in ("lda(k=2, iterations=3, max_df=0.8)", "fisher(words=lsi(e=2), k=1)", "lsi(e=2)"):
        index.fit(expression)
    query = "Cranes WHALE the zyzzyva terns"
    whale = "is in 1 document, fewer than min_df=2"
    assert index.left_out(query, "lsi(e=2)") == [
        ("lsi(e=2)", "WHALE", whale),
        ("lsi(e=2)", "zyzzyva", "is in no document"),
    ]
    often, lda = "is in 100% of the documents, more than max_df=0.8", "lda(k=2, iterations=3, max_df=0.8)"
    found = index.left_out(query, f"BM25 + {lda}")
    assert [(left.model, left.word, left.reason) for left in found][:2] == [
        (lda, "Cranes", often),
        (lda, "WHALE", whale),
    ]
    # A model that depends on another one has its thresholds.
    assert [left.reason for left in index.left_out("whale", "fisher(words=lsi(e=2), k=1)")] == [whale]
    assert index.left_out(query, "BM25 >> RM3 >> BM25") == [] == index.left_out("tern", lda)
    tree = index.explain(query, "d3", "lsi(e=2)")
    assert tree.evidence["not in the model"] == {"WHALE": whale, "zyzzyva": "is in no document"}
    said = f'No document contains "zyzzyva".\n{lda} leaves out "Cranes", which {often}; and "WHALE", which {whale}.\n'
    for arguments in (("search",), ("explain", "d3")):
        name, *docno = arguments
        assert command(name, tmp_path / "i", query, *docno, "-r", f"BM25 + {lda}").messages == said
    index.add([{"id": "new", "text": "osprey osprey"}, {"id": "newer", "text": "osprey"}])
    assert [left.reason for left in index.left_out("osprey", "lsi(e=2)")] == [
        "is not among the words that it was fitted to"
    ]


def test_models_of_words_as_written_and_of_senses_and_of_files_say_it_too(tmp_path):
    text = "neural network of deep learning; the graph theory of deep learning. neural network for graph theory."
    documents = [{"id": f"d{k}", "text": text + (" Lévy" if k == 3 else "")} for k in range(12)]
    index = sublex.build(documents, tmp_path / "i")
    (tmp_path / "v.txt").write_text("neural 1 2\ngraph 2 1\n", "utf-8")
    vectors = f'vectors("{tmp_path / "v.txt"}")'
    swg = "swg(topics=lda(k=1, iterations=2, max_df=1))"
    for expression in (vectors, swg):
        index.fit(expression)
    assert [left.reason for left in index.left_out("learning", vectors)] == [f"is not in {tmp_path / 'v.txt'}"]
    assert [(left.word, left.reason) for left in index.left_out("Lévy graph", f"BM25 >> {swg} >> BM25")] == [
        ("Lévy", "is in 1 document, fewer than min_df=2")
    ]


def test_a_store_gives_back_what_was_put(tmp_path):
    arrays = {
        kind: np.arange(12).reshape(3, 4).astype(kind) for kind in ("int8", "int64", "uint16", "float16", "float64")
    }
    sparse = csr_array(np.array([[0, 1.5, 0], [2, 0, 0]]))
    found = stored(tmp_path, **arrays, sparse=sparse, empty=np.empty((0, 5)), plain={"a": [1, "ß", None], "b": 2.5})
    for name, values in arrays.items():
        assert found.get(name).dtype == values.dtype and np.array_equal(found.get(name), values)
    assert (found.get("sparse") != sparse).nnz == 0 and found.get("empty").shape == (0, 5)
    assert found.get("plain") == {"a": [1, "ß", None], "b": 2.5}
    with pytest.raises(PluginError, match="holds no value nothing"):
        found.get("nothing")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("objects", np.array([{}, []], object)),
        ("text", np.array(["a", "b"])),
        ("complex", np.array([1j])),
        ("set", {1, 2}),
        ("nan", float("nan")),
        ("../up", 1),
        ("_values", 1),
    ],
)
def test_a_store_refuses_what_it_cannot_give_back(tmp_path, name, value):
    with pytest.raises(PluginError), FolderWriter(Directory(tmp_path / "store")) as folder:
        StoreWriter(folder).put(name, value)


def test_a_store_refuses_rows_that_come_in_no_block(tmp_path):
    with pytest.raises(PluginError, match="The rows rows cannot be stored: there is no block of them"):
        write_rows(Directory(tmp_path / "rows"), [])


def test_a_flipped_bit_is_seen(tmp_path):
    reader = stored(tmp_path, values=np.arange(100.0), sparse=csr_array(np.eye(4)), plain=[1, 2, 3])
    entry = reader.entry
    for path in sorted((tmp_path / "store").glob("*.npy")):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 4]))
        with pytest.raises(IndexCorrupt):
            reader = StoreReader(Directory(tmp_path / "store"), entry)
            for name in ("values", "sparse", "plain"):
                reader.get(name)
        path.write_bytes(whole)


# Fitting and scoring.


def test_a_model_is_named_by_what_it_was_fitted_with(index):
    with pytest.raises(
        IndexProblem, match=r"No projection\(r=8\) in demo; fitted: nothing. Run: sublex fit \S+/demo 'projection"
    ):
        index.search("crane", "projection(r=8)")
    index.fit("projection(r=8)")
    first = index.generation
    index.fit("projection(r=8, power=2)")
    assert index.generation == first, "a parameter of queries fits nothing anew"
    index.fit("projection(r=8, seed=1)")
    assert len(index.fitted) == 2 and index.generation == first + 1
    with pytest.raises(IndexProblem, match=r": projection\(r=8\), projection\(r=8, seed=1\)"):
        index.search("crane", "projection")


def test_a_representation_retrieves_rescores_and_blends(index):
    index.fit("projection")
    alone = scores(index, "projection")
    assert len(alone["bank"]) == 252 and alone["zzzz"] == alone[""] == {}
    first = scores(index, "BM25")
    for text in QUERIES:
        after = scores(index, "BM25 >> projection")[text]
        assert after == {docno: alone[text][docno] for docno in first[text]}
        assert list(scores(index, "projection % 5")[text]) == list(alone[text])[:5]
        blended = index.search(text, "PL2 + 0.3*projection % 9", k=300)
        assert {hit.docno for hit in blended} == {*scores(index, "PL2")[text], *list(alone[text])[:9]}
    tree = index.explain("cranes by the river", "birds-05", "projection")
    assert sum(part.value for part in tree.parts) == pytest.approx(tree.value, rel=1e-6)
    assert tree.value == pytest.approx(alone["cranes by the river"]["birds-05"], rel=1e-6)
    assert {"cranes", "crane"} & {part.label for part in tree.parts}
    assert index.explain("Qwertys crane", "birds-05", "projection").evidence["not in the model"] == {
        "Qwertys": "is in no document"
    }


def test_a_representation_without_an_explanation_says_so(index, projection, monkeypatch):
    index.fit("projection")
    monkeypatch.delattr(projection.Projection, "explain")
    tree = index.explain("river", "birds-05", "projection")
    assert (tree.label, tree.parts) == ("projection: the plugin gives no explanation", ())
    assert tree.value == {hit.docno: hit.score for hit in index.search("river", "projection", k=300)}["birds-05"]
    assert index.explain("river", "birds-05", "PL2 + projection").parts


def test_the_same_bytes_for_any_number_of_workers(index, monkeypatch):
    # Small blocks, so that the demo collection is many of them.
    monkeypatch.setattr("sublex.representations.inputs.DOCUMENTS_PER_BLOCK", 20)
    found = set()
    for workers in (1, 2, 3):
        index.fit("projection", workers=workers)
        entry = next(iter(index.fitted.values()))
        found.add(json.dumps(as_json([entry.model, [rows.segments for rows in entry.rows.values()]]), sort_keys=True))
        index.forget("projection")
    assert len(found) == 1
    assert list((index.path / "representations").glob("*")) == []


def test_rows_come_with_their_segment_and_go_with_a_merge(index):
    index.fit("projection")
    before = scores(index, "projection")
    index.add([{"id": "new", "text": "A crane on the river bank."}])
    after = scores(index, "projection")
    assert all(after[text].pop("new", None) is not None for text in ("bank", "cranes by the river"))
    after["seal pup beach"].pop("new")
    assert after == before, "what was there scores as it did"
    index.delete(["birds-05", "river-01"])
    deleted = scores(index, "projection")
    index.merge()
    assert scores(index, "projection") == deleted and "birds-05" not in deleted["bank"]
    assert deleted["bank"].items() <= (before["bank"] | {"new": deleted["bank"]["new"]}).items()
    rows = next(iter(next(iter(index.fitted.values())).rows.values())).segments
    assert list(rows) == [segment.name for segment in index.snapshot.segments]


def test_building_in_one_or_in_two_gives_the_same_rows(tmp_path):
    documents = [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]
    whole = sublex.build(documents, tmp_path / "whole")
    whole.fit("projection")
    parts = sublex.build(documents[:150], tmp_path / "parts")
    parts.fit("projection", whole.path)
    parts.add(documents[150:])
    for text in QUERIES[:3]:
        assert scores(parts, "projection")[text] == pytest.approx(scores(whole, "projection")[text], abs=1e-6)


def test_an_expression_names_the_model_that_its_text_names(index):
    index.fit("projection(r=8)")
    generation, resolved = index.generation, index.pipeline("BM25 + projection(r=8)").expression.parts[1]
    for same in (parse("projection(r=8)"), Call("projection", (8,)), Call("projection", (), {"r": 8}), resolved):
        index.fit(same)
        assert index.generation == generation and len(index.fitted) == 1
    with pytest.raises(InputError, match="BM25 % 5 is not a single component; name one representation"):
        index.fit(parse("BM25") % 5)


def test_a_refit_is_advised_when_too_much_is_unknown(index):
    index.fit("projection")
    said: list[str] = []
    index.add([{"id": "x", "text": "Xyzzy plugh foo crane."}], say=said.append)
    assert not said, "four tokens are no sample"
    facts = index.card("projection")
    assert (facts["tokens added since"], facts["of these unknown"], facts["directions"]) == (4, 3, 64)
    index.merge()
    facts = index.card("projection")
    assert (facts["tokens added since"], facts["of these unknown"]) == (4, 3)
    index.add([{"id": "y", "text": "Xyzzy plugh foo crane. " * 249}], say=said.append)
    (advice,) = said
    expected = "does not know 75% of the 1,000 tokens added since it was fitted, and 0% of those before; fit it again"
    assert expected in advice


def test_words_left_out_on_purpose_are_no_reason_to_fit_again(index):
    index.fit("dcot(r=50)")
    said: list[str] = []
    again = [index.document(docno) for docno in index.snapshot.all_docnos.tolist()[:30]]
    index.add([{"id": f"again-{document.docno}", "text": document.contents} for document in again], say=said.append)
    assert index.card("dcot(r=50)")["of these unknown"] > 0.2 * index.card("dcot(r=50)")["tokens added since"]
    assert not said


def test_what_is_not_covered_is_said_and_can_be_covered(index, projection, monkeypatch):
    index.fit("projection")
    before = scores(index, "projection")
    monkeypatch.setattr(projection.Projection, "encode_documents", lambda self, inputs: 1 / 0)
    said: list[str] = []
    index.add([{"id": "new", "text": "A crane."}], say=said.append)
    assert len(index) == 253 and any("projection does not cover the new documents" in text for text in said)
    with pytest.raises(
        IndexProblem, match=r"projection does not cover 1 document of \S+; run: sublex fit \S+/demo projection --update"
    ):
        index.search("crane", "projection")
    assert index.search("crane", "BM25")
    willing = sublex.open(index.path, allow_uncovered=True)
    assert scores(willing, "projection") == before
    assert "new" in willing.search("crane", "BM25 + 0.5*projection", k=300).docnos
    assert willing.pipeline("projection").models["projection"].endswith(", 1 document uncovered")
    monkeypatch.undo()
    monkeypatch.syspath_prepend(PLUGINS)
    points = [*plugins.entry_points(group=plugins.GROUP), EntryPoint("projection", "projection", plugins.GROUP)]
    monkeypatch.setattr(plugins, "load", lambda: plugins.Registry(points))
    index.fit("projection")
    assert "new" in scores(index, "projection")["bank"]


def test_a_model_of_one_index_serves_another(index, tmp_path):
    other = sublex.build([{"id": "a", "text": "A crane by the river."}, {"id": "b", "text": "zyx"}], tmp_path / "other")
    with pytest.raises(IndexProblem, match="No projection in demo; fitted: nothing"):
        other.fit("projection", index.path)
    index.fit("projection")
    other.fit("projection", index.path)
    assert list(scores(other, "projection")["cranes by the river"]) == ["a"]
    assert other.card("projection")["fitted on"] == index.fingerprint


def test_what_others_depend_on_is_kept(index):
    index.fit("fisher(k=2, words=lsi(e=5))")
    assert sorted(entry.expression for entry in index.fitted.values()) == ["fisher(k=2, words=lsi(e=5))", "lsi(e=5)"]
    with pytest.raises(IndexProblem, match=r"depends on lsi\(e=5\); run: sublex forget \S+ 'fisher.* 'lsi\(e=5\)'$"):
        index.forget("lsi(e=5)")
    index.forget("fisher(k=2, words=lsi(e=5))")
    index.forget("lsi(e=5)")
    assert index.fitted == {}


def test_stopping_in_the_middle_leaves_nothing(index):
    def stop(done, total):
        raise KeyboardInterrupt

    before = sorted(path for path in index.path.rglob("*") if path.is_file())
    for expression in ("projection", "lsi(e=5)", "dcot(r=20)"):
        with pytest.raises(KeyboardInterrupt):
            index.fit(expression, progress=stop)
        assert sorted(path for path in index.path.rglob("*") if path.is_file()) == before
    assert sublex.open(index.path).fitted == {}


def test_memory_is_checked_before(index):
    with pytest.raises(InputError, match=r"Fitting projection\(r=4096\) takes .* MB and memory allows 16; allow more"):
        index.fit("projection(r=4096)", memory=16 << 20)


@pytest.mark.parametrize(
    ("method", "made", "sentence"),
    [
        ("fit", lambda *a: 1 / 0, "ZeroDivisionError"),
        ("save", lambda self, store: store.put("x", np.array([object()])), "cannot be stored"),
        ("encode_documents", lambda self, inputs: np.ones((3, 2)), "not as one row per document"),
        ("encode_documents", lambda self, inputs: np.full((inputs.shape[0], 2), np.nan), "not finite"),
    ],
)
def test_a_plugin_that_fails_while_it_is_fitted_costs_a_sentence(
    index, projection, monkeypatch, method, made, sentence
):
    monkeypatch.setattr(projection.Projection, method, made)
    with pytest.raises(SublexError, match=sentence) as error:
        index.fit("projection")
    assert "\n" not in str(error.value) and sublex.open(index.path).fitted == {}
    assert index.search("crane", "BM25")


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda *a: 1 / 0, "projection failed .ZeroDivisionError"),
        (lambda self, query, view, docs=None: np.ones(3), "projection gave scores of shape"),
        (lambda self, query, view, docs=None: np.full(len(view.rows(docs)), np.nan), "projection gave a score that is not a number"),
        (lambda self, query, view, docs=None: np.full(len(view.rows(docs)), 1e39), "not a number"),
    ],
)  # fmt: skip
def test_a_plugin_that_fails_while_it_scores_costs_a_sentence(index, projection, monkeypatch, made, sentence):
    index.fit("projection")
    monkeypatch.setattr(projection.Projection, "score", made)
    with pytest.raises(PluginError, match=sentence):
        index.search("crane", "projection")
    assert index.search("crane", "BM25")


def test_damaged_models_and_rows_are_seen(index):
    index.fit("projection")
    for path in sorted((index.path / "representations").rglob("*.npy")):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(SublexError):
            scores(sublex.open(index.path), "projection")
        path.write_bytes(whole)
    assert scores(sublex.open(index.path), "projection")


def test_rows_are_exported(index, tmp_path):
    index.fit("projection(r=8)")
    side = index.representation("projection(r=8)")
    assert export(index.snapshot, side, None, tmp_path / "rows.npz") == 252
    found = np.load(tmp_path / "rows.npz")
    export(index.snapshot, side, None, tmp_path / "rows.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "rows.parquet").to_pandas()
    assert list(table.docno) == list(found["docnos"]) and np.array_equal(np.stack(table.row), found["rows"])
    assert found["docnos"][0] == index.docno(0) and found["rows"].shape == (252, 8)
    (tmp_path / "more.jsonl").write_text(json.dumps({"id": "x", "text": index.document("birds-05").contents}) + "\n")
    assert export(index.snapshot, side, tmp_path / "more.jsonl", tmp_path / "more.npz") == 1
    row = np.load(tmp_path / "more.npz")["rows"][0]
    np.testing.assert_allclose(row, side.view.rows(np.array([index.doc("birds-05")]))[0], rtol=1e-5)
    with pytest.raises(InputError, match=r"neither .npz nor .parquet"):
        export(index.snapshot, side, None, tmp_path / "rows.txt")


BUNDLED = [
    "lsi(e=20)",
    "lsi(e=20, weighting=tfidf, unit=true)",
    "fisher(k=3, words=lsi(e=10))",
    "fisher(k=3, words=lsi(e=10), idf=true, variance=true)",
    "fisher(k=3, words=lsi(e=10), power=0.5)",
    "dcot(r=50)",
    "dcot(r=50, words=0.7)",
    "dcot(r=50, layers=2, log=true, words=0.7)",
]


@pytest.mark.slow
@pytest.mark.parametrize("expression", BUNDLED)
def test_bundled_plugins_score_as_their_estimators(index, expression):
    index.fit(expression)
    side = index.representation(expression)
    estimator, docs = side.model.estimator, np.arange(len(index))
    query = index.query("cranes by the river, cranes")
    asked, matrix = side.vocabulary.query(query.weights()), side.view.terms(docs)
    if "dcot" in expression:
        width = estimator.W_[-1].shape[1]
        words = side.model.words
        above = [
            np.hstack(
                [words * (np.log1p(x) if estimator.log else x), (estimator.transform(x) - estimator.empty_)[:, -width:]]
            )
            for x in (asked.toarray(), matrix.toarray())
        ]
        expected = (above[1] @ above[0].T)[:, 0] / np.linalg.norm(above[0]) / np.linalg.norm(above[1], axis=1)
    else:
        expected = estimator.scores(asked, matrix)
    np.testing.assert_allclose(side.scores(side.query(query)), expected, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("expression", BUNDLED)
def test_bundled_plugins_read_the_words_of_operators(index, expression):
    index.fit(expression)
    side = index.representation(expression)
    phrase, either = ordered(["crane", "river"]), synonyms(["seal", "bank", "pup"])
    asked = Query("", (QueryTerm(phrase, 1.0), QueryTerm("bank", 1.0), QueryTerm(either, 1.5)))
    # The words of an operator share its weight.
    words = {"crane": 0.5, "river": 0.5, "bank": 1.5, "pup": 0.5, "seal": 0.5}
    expected = side.scores(side.query(Query("", tuple(QueryTerm(word, weight) for word, weight in words.items()))))
    np.testing.assert_allclose(side.scores(side.query(asked)), expected, rtol=1e-5)
    assert side.left_out(asked) == {}
    unknown = Query("", (QueryTerm(ordered(["crane", "zyzzyva"])),))
    assert [*side.left_out(unknown)] == ["zyzzyva"]


@pytest.mark.slow
@pytest.mark.parametrize("expression", BUNDLED)
def test_bundled_plugins_score_the_same_some_documents_and_all(index, expression):
    index.fit(expression, workers=2)
    side = sublex.open(index.path).representation(expression)
    docs = np.array([3, 200, 17, 90], np.int32)
    for text in ("cranes by the river", "bank bank seal", "zzzz"):
        encoded = side.query(index.query(text))
        np.testing.assert_allclose(side.scores(encoded)[docs], side.scores(encoded, docs), rtol=1e-6)
        if text != "zzzz":
            for doc in docs.tolist():
                tree = side.explain(encoded, doc)
                assert tree.value == pytest.approx(float(side.scores(encoded, np.array([doc]))[0]), rel=1e-4, abs=1e-6)
                assert sum(part.value for part in tree.parts) == pytest.approx(tree.value, rel=1e-6, abs=1e-9)
        else:
            assert (side.scores(encoded) == -np.inf).all()


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["lsi(e=20)", "fisher(k=3, words=lsi(e=10))", "dcot(r=50)"])
def test_bundled_plugins_are_fitted_alike_by_any_number_of_workers(index, expression):
    found = set()
    for workers in (1, 2, 3):
        index.fit(expression, workers=workers)
        found.add(json.dumps(as_json([entry.model for entry in index.fitted.values()]), sort_keys=True))
        for entry in sorted(index.fitted.values(), key=lambda entry: -len(entry.depends)):
            index.forget(entry.expression)
    assert len(found) == 1


def test_check_looks_at_models_rows_and_resources(index, tmp_path):
    (tmp_path / "vectors.txt").write_text("crane 1 2\nriver 2 1\n")
    index.add_resource("given", tmp_path / "vectors.txt")
    index.fit("vectors(given)")
    assert check(index.path) == []
    places = [*(index.path / "representations").rglob("*.npy"), index.path / "resources" / "given" / "vectors.txt"]
    assert len(places) > 5
    for path in places:
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert len(check(index.path)) >= 1, path
        path.unlink()
        assert len(check(index.path)) >= 1, path
        path.write_bytes(whole)
    assert check(index.path) == []


def test_a_pipeline_keeps_working_on_the_generation_it_was_made_for(index):
    index.fit("projection")
    pipeline = index.pipeline("projection")
    before = pipeline.answer(index.query("crane"), 3).hits
    docnos = before.docnos
    index.delete(docnos[:1])
    index.merge()
    again = pipeline.answer(index.query("crane"), 3).hits
    assert again.docnos == docnos == before.docnos and np.array_equal(again.scores, before.scores)
    assert docnos[0] not in index.search("crane", "projection", k=300).docnos


def test_an_index_that_another_writer_changed_is_said_to_be_so(index):
    index.fit("projection")
    reader = sublex.open(index.path)
    index.add([{"id": "new", "text": "A crane."}])
    index.merge()
    assert len(reader.search("crane", "BM25"))
    with pytest.raises(IndexProblem, match="has changed since it was opened; open it again"):
        reader.search("crane", "projection")


def test_a_name_that_two_plugins_offer_is_told_apart_everywhere(index, monkeypatch, projection):
    points = [*plugins.entry_points(group=plugins.GROUP)]
    twin = types.ModuleType("twin")
    vars(twin).update(vars(projection))
    monkeypatch.setitem(sys.modules, "twin", twin)
    both = [*points, EntryPoint("one", "projection", plugins.GROUP), EntryPoint("two", "twin", plugins.GROUP)]
    monkeypatch.setattr(plugins, "load", lambda: plugins.Registry(both))
    index.fit("one:projection")
    assert index.card("one:projection")["directions"] == 64
    assert list(index.pipeline("BM25 + one:projection").models) == ["one:projection"]
    with pytest.raises(SublexError, match="Several plugins offer"):
        index.search("crane", "projection")


def test_who_stops_a_fit_gets_his_own_exception(index):
    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    with pytest.raises(Enough):
        index.fit("projection", progress=stop)
    assert not index.fitted and not list((index.path / "representations").glob("*/model"))


@pytest.mark.parametrize("method", ["estimate", "depends", "__init__", "describe", "load"])
def test_whatever_of_a_plugin_fails_is_one_sentence(index, projection, monkeypatch, method):
    if method in ("describe", "load"):
        index.fit("projection")
        index = sublex.open(index.path)
    monkeypatch.setattr(projection.Projection, method, lambda self, *given, **named: 1 / 0)
    with pytest.raises(PluginError, match="projection.* failed .ZeroDivisionError"):
        index.fit("projection")
        index.card("projection")


def test_rows_of_different_widths_are_refused(index, projection, monkeypatch):
    monkeypatch.setattr("sublex.representations.inputs.DOCUMENTS_PER_BLOCK", 100)
    monkeypatch.setattr(
        projection.Projection, "encode_documents", lambda self, inputs: np.ones((inputs.shape[0], inputs.shape[0]))
    )
    with pytest.raises(PluginError, match="rows of different shapes or types"):
        index.fit("projection")
    assert not index.fitted


def test_what_reads_something_else_is_refused(index, projection, monkeypatch):
    monkeypatch.setattr(projection.Projection, "reads", "pictures")
    with pytest.raises(PluginError, match="projection reads pictures; representations read terms or sequence"):
        index.fit("projection")


def test_a_representation_may_read_words_in_their_order(index, tmp_path):
    texts = {
        "a": "The river bank.",
        "b": "The bank: river.",
        "c": "A river bank, a river bank.",
        "d": "Bank the river.",
    }
    index = sublex.build([{"id": docno, "text": text} for docno, text in texts.items()], tmp_path / "order")
    index.fit("neighbours")
    assert index.card("neighbours")["phrases"] == 1, "the others are in one document each, or have a pause within"
    found = index.search("by the River Banks", "neighbours")
    assert {hit.docno: hit.score for hit in found} == {"a": 1.0, "c": 1.0}
    assert not index.search("river, bank", "neighbours")
    tree = index.explain("river banks", "a", "neighbours")
    assert tree.evidence["read as written"] == "river banks"
    assert [(part.label, part.value) for part in tree.parts] == [("river bank", 1.0)]
    index.add([{"id": "e", "text": "River banks"}])
    index.delete(["a"])
    index.merge()
    assert set(index.search("river bank", "neighbours").docnos) == {"c", "e"}
    assert (index.card("neighbours")["tokens added since"], index.card("neighbours")["of these unknown"]) == (2, 0)


def test_what_reads_words_in_their_order_does_not_see_expansions(index):
    index.fit("neighbours")
    text = "what looks like a crane"
    plain, expanded = (index.pipeline(e) for e in ("neighbours", "Bo1(terms=50) >> neighbours"))
    answers = [made.answer(index.query(text), 300) for made in (plain, expanded)]
    assert len(answers[1].query.terms) > len(answers[0].query.terms)
    assert answers[0].hits.docnos == answers[1].hits.docnos and len(answers[0].hits)


def test_what_reads_sequences_needs_the_text(tmp_path):
    bare = sublex.build(DEMO, tmp_path / "bare", store="terms")
    with pytest.raises(
        IndexProblem, match="without stored text, which documents are encoded by; rebuild it: .*--store terms,text"
    ):
        bare.fit("neighbours")
    whole = sublex.build(DEMO, tmp_path / "whole", store="text")
    whole.fit("neighbours")
    with pytest.raises(IndexProblem, match="without stored terms, which documents are encoded by"):
        whole.fit("projection")
    assert whole.search("a thousand years", "neighbours") and check(whole.path) == []


@pytest.mark.slow
def test_a_parameter_of_encoding_shares_the_model_and_has_rows_of_its_own(index, tmp_path):
    index.fit("neighbours")
    with pytest.raises(IndexProblem, match=r"No neighbours\(log=true\) in demo; fitted: neighbours"):
        index.search("a thousand years", "neighbours(log=true)")
    model = next(iter(index.fitted.values())).model
    said: list[str] = []
    index.fit("neighbours(log=true)", say=said.append)
    (entry,) = index.fitted.values()
    assert entry.model == model and len(entry.rows) == 2 and not said
    index.add([{"id": "new", "text": "A thousand years, a thousand years: it looks like a thousand years."}])
    index.delete(["birds-05"])
    index.merge()
    sides = [index.representation(expression) for expression in ("neighbours", "neighbours(log=true)")]
    rows = [side.view.rows(np.array([index.doc("new")])).toarray()[0] for side in sides]
    counts = rows[0] / rows[0][rows[0] > 0].min()
    np.testing.assert_allclose(rows[1], np.log1p(counts) / np.linalg.norm(np.log1p(counts)), rtol=1e-6)
    assert counts.max() == 3
    both = index.search("a thousand years", "neighbours + 0.5*neighbours(log=true, power=2)", k=5)
    assert both.docnos[0] == "new"
    assert export(index.snapshot, sides[1], None, tmp_path / "rows.npz") == 252
    held = np.load(tmp_path / "rows.npz")
    exported = csr_array((held["data"], held["indices"], held["indptr"]), shape=held["shape"])
    docs = index.corpus.docs
    assert (exported != sides[1].view.rows(docs)).nnz == 0 and held["docnos"].tolist() == [index.docno(d) for d in docs]
    index.forget("neighbours(log=true)")
    assert not index.fitted


def test_rows_of_all_documents_deleted_and_added_anew(index, tmp_path):
    empty = sublex.build([{"id": "a", "text": "A river bank."}], tmp_path / "empty")
    empty.delete(["a"])
    empty.merge()
    empty.add([{"id": "b", "text": "A river bank."}])
    for expression in ("neighbours(least=1)", "projection"):
        empty.fit(expression)
        assert empty.search("river bank", expression).docnos == ["b"]
    empty.merge()
    assert empty.search("river bank", "projection").docnos == ["b"] and check(empty.path) == []


def test_fitting_goes_on_after_one_that_cannot_be_fitted(index, command):
    code, output, said = command("fit", str(index.path), "lsi(e=5)", "nope", "dcot(r=9)", "--seed", "3")
    assert code == 2 and "No representation nope" in said
    assert "lsi(e=5, seed=3) is fitted" in output and "dcot(r=9) is fitted" in output
    assert command("fit", str(index.path), "lsi(e=5, seed=5)", "--seed", "3")[0] == 2
    code, output, said = command("search", str(index.path), "zyzzyva", "-r", "lsi(e=5, seed=3)")
    assert code == 0 and said.endswith(f"Nothing in {index.path} contains zyzzyva.\n")


def test_a_list_of_models_says_which_are_outdated(index, command, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("crane 1 2\nriver 2 1\n")
    expression = f'vectors("{words}")'
    index.fit(expression)
    (old,) = index.fitted
    words.write_text("crane 1 2\nriver 2 3\n")
    index.fit(expression)
    (new,) = set(index.fitted) - {old}
    listed = {
        row["model"]: row["outdated"] for row in json.loads(command("card", str(index.path), "--format", "json")[1])
    }
    assert (
        listed == {old: "a file or a model that it uses, or the default of a parameter, has changed", new: ""}
        and listed.keys() == index.fitted.keys()
    )
    code, output, said = command("card", str(index.path), old)
    assert (code, output) == (2, "") and said.startswith(f"sublex: {old}, which was vectors(")
    assert f"to remove it: sublex forget {index.path} {old}" in said
    assert command("card", str(index.path), new)[0] == 0
    index.forget(old)
    assert index.outdated_models() == {}


def test_the_model_of_another_version_of_a_plugin_is_outdated(index, monkeypatch, projection):
    index.fit("projection")
    (name,) = index.fitted
    monkeypatch.setattr(projection.Projection, "version", projection.Projection.version + 1)
    assert index.outdated_models()[name].startswith("fitted by version ")


def test_a_model_is_described_by_its_name_whatever_its_rows(index, command):
    """The rows may belong to an expression with other values of encoding parameters, here `neighbours(log=true)`."""
    expression = "neighbours(log=true)"
    index.fit(expression)
    (name,) = index.fitted
    assert command("card", str(index.path), name)[1] == command("card", str(index.path), expression)[1]


def test_damage_is_said_with_what_mends_it(index):
    index.fit("projection")
    index.add([{"id": "new", "text": "A crane."}])
    model = next((index.path / "representations").iterdir())
    path = next(model.glob("rows-*/*/rows.npy"))
    path.write_bytes(path.read_bytes()[:-4])
    said: list[str] = []
    index.merge(say=said.append)
    assert any("projection does not cover the merged documents" in text for text in said)
    path = model / "model" / "vectors.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(IndexCorrupt, match=r"run: sublex forget \S+/demo projection, then: sublex fit \S+ projection"):
        index.fit("projection")
    index.forget("projection")
    index.fit("projection")
    assert "new" in scores(index, "projection")["bank"]


def test_words_of_expressions_cannot_be_registered(monkeypatch, projection):
    monkeypatch.setattr(
        projection, "register_representations", projection.hookimpl(lambda register: register("minmax", None))
    )
    registry = plugins.Registry([EntryPoint("projection", "projection", plugins.GROUP)])
    assert "minmax, a word with another meaning in expressions" in registry.plugins[0].error


def test_what_is_sublexs_own_works_whatever_else_is_registered(index, monkeypatch):
    other = types.ModuleType("other")

    def register_rankers(register):
        register("BM25", lambda: 1 / 0)

    def register_representations(register):
        register("lsi", lambda: 1 / 0)

    from sublex.contracts.hookspecs import hookimpl

    other.sublex_api = 3
    other.register_rankers, other.register_representations = (
        hookimpl(register_rankers),
        hookimpl(register_representations),
    )
    monkeypatch.setitem(sys.modules, "other", other)
    points = [*plugins.entry_points(group=plugins.GROUP), EntryPoint("other", "other", plugins.GROUP)]
    monkeypatch.setattr(plugins, "load", lambda: plugins.Registry(points))
    assert index.search("crane") and index.search("crane", "RM3 >> PL2")
    index.fit("fisher(k=2)")
    assert index.search("crane", "rankers:BM25 + fisher(k=2)")
    with pytest.raises(SublexError, match="Several plugins offer the component BM25"):
        index.search("crane", "BM25")


def test_tuning_leaves_out_defaults_that_are_not_fitted(index):
    for e in (5, 9):
        index.fit(f"lsi(e={e})")
    found = sublex.tune(index, DEMO.with_name("topics.trec"), DEMO.with_name("qrels.txt"), "PL2 + lsi(e={5,9})")
    assert found.default is None and len(found.settings) == 2


def test_models_are_fitted_with_the_index(command):
    code, output, said = command("index", "new", str(DEMO), "--fit", "lsi(e=5)", "--fit", "lsi(e=9, min_df=10000)")
    assert code == 2 and "indexed                        252" in output and "lsi(e=5) is fitted on" in output
    assert "LSI" in said
    assert command("index", "other", str(DEMO), "--fit", "nope")[0] == 2
    assert not Path("indexes/other").exists()
    assert command("search", "new", "crane", "-r", "lsi(e=5)")[0] == 0


def test_models_go_with_the_documents_they_were_fitted_to_and_resources_stay(command, index, tmp_path):
    (tmp_path / "vectors.txt").write_text("crane 1 2\nriver 2 1\n")
    index.add_resource("given", tmp_path / "vectors.txt")
    index.fit("vectors(given)")
    index.fit("lsi(e=5)")
    code, _, said = command("index", str(index.path), str(DEMO), "--overwrite")
    assert (
        code == 0
        and "The models fitted to the replaced index are gone: lsi(e=5), vectors(given); run sublex fit" in said
    )
    anew = sublex.open(index.path)
    assert not anew.fitted and not list((index.path / "representations").glob("*")) and check(index.path) == []
    anew.fit("vectors(given)")
    assert anew.search("crane", "vectors(given)")


# Expanders may be fitted too.


@pytest.fixture
def companions(monkeypatch):
    """Register a test plugin with a fitted expander."""
    points = [*plugins.entry_points(group=plugins.GROUP), EntryPoint("companions", "companions", plugins.GROUP)]
    monkeypatch.setattr(plugins, "load", lambda: plugins.Registry(points))


def test_an_expander_is_fitted_once_and_then_expands(index, companions, tmp_path):
    with pytest.raises(
        IndexProblem, match=r"No Companions in demo; fitted: nothing. Run: sublex fit \S+/demo Companions"
    ):
        index.search("crane", "Companions >> BM25")
    index.fit("Companions")
    matrix = index.corpus.matrix().toarray() > 0
    terms = index.corpus.vocabulary
    counts = (matrix[:, terms.index("crane")][:, None] & matrix).sum(axis=0)
    counts[terms.index("crane")] = 0
    beside = [terms[k] for k in np.argsort(-counts, kind="stable")[:2]]
    answer = sublex.open(index.path).answer("crane", "Companions(weight=0.5) >> BM25")
    assert [(t.term, t.weight) for t in answer.query.terms] == [("crane", 1.0), (beside[0], 0.5), (beside[1], 0.5)]
    assert index.card("Companions")["words known"] == len(terms) and "documents" not in index.card("Companions")
    assert list(index.pipeline("Companions >> BM25 + 0.1*PL2").models) == ["Companions"]
    generation = index.generation
    index.fit("Companions")
    assert index.generation == generation
    index.add([{"id": "new", "text": "A crane of another kind."}])
    index.merge()
    assert index.search("crane", "Companions >> BM25") and check(index.path) == []
    other = sublex.build([{"id": "a", "text": "A crane by the river."}], tmp_path / "other")
    other.fit("Companions", index.path)
    assert other.answer("crane", "Companions >> BM25").query.weights().keys() == {"crane", *beside}
    index.forget("Companions")
    assert not index.fitted


def test_what_is_not_fitted_cannot_be(index):
    for expression in ("BM25", "RM3", "PL2(c=3)"):
        with pytest.raises(InputError, match="needs no fit; name a model that needs one"):
            index.fit(expression)
        with pytest.raises(InputError, match=r"is not a single fitted model, and demo has none; fit one: sublex fit"):
            index.card(expression)
    index.fit("projection")
    with pytest.raises(
        InputError, match="BM25 is not a single fitted model; name one that is fitted in demo: projection"
    ):
        index.card("BM25")
    with pytest.raises(SublexError, match="No representation nope"):
        index.fit("nope")


def test_a_manifest_cannot_name_what_lies_outside_the_index(index, tmp_path):
    (tmp_path / "vectors.txt").write_text("crane 1 2\n")
    index.add_resource("given", tmp_path / "vectors.txt")
    index.fit("vectors(given)")
    path = index.path / "index.json"
    good = json.loads(path.read_text())
    del good["checksum"]
    text, model = json.dumps(good), next(iter(good["fitted"]))
    for name in (
        model,
        "vectors.txt",
        "given",
        good["segments"][0]["name"],
        "tails",
        next(iter(good["fitted"][model]["rows"])),
    ):
        for bad in ("../../outside", "..", "/etc/passwd", ""):
            changed = json.loads(text.replace(json.dumps(name), json.dumps(bad)))
            path.write_text(json.dumps(changed | {"checksum": files.checksum_of(changed)}))
            with pytest.raises(IndexCorrupt, match="should be the name of a file or folder within the index"):
                sublex.open(index.path)
    path.write_text(json.dumps(good | {"checksum": files.checksum_of(good)}))
    assert sublex.open(index.path).search("crane", "vectors(given)")


def test_a_name_may_hold_what_a_folder_cannot(index, monkeypatch, projection):
    monkeypatch.setattr(
        projection,
        "register_representations",
        projection.hookimpl(lambda register: register("my/own.model", projection.Projection, projection.PARAMS)),
    )
    index.fit("my/own.model")
    index.add([{"id": "new", "text": "A crane."}])
    assert "new" in sublex.open(index.path).search("crane", "my/own.model", k=300).docnos


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "units"),
    [
        ("lda(k=2, iterations=3)", ["sweeps", "documents"]),
        ("lda(k=2, method=variational, iterations=2)", ["iterations", "documents"]),
        ("lsi(e=4)", ["documents"]),
        ("vectors(words)", ["words", "documents"]),
        ("sourcelda(labels, k=1, iterations=10, model=mixture)", ["sweeps", "documents"]),
        (
            "laki(phrases=phrases(support=3), iterations=1)",
            ["steps", "documents", "documents in 1 iteration", "documents"],
        ),
        ("dcot(r=8)", ["columns", "documents"]),
        ("dcot(r=8, layers=2)", ["steps", "documents"]),
        ("swg(topics=lda(k=2, iterations=3))", ["sweeps", "documents", "steps"]),
    ],
)
def test_fitting_says_what_its_progress_counts(index, tmp_path, expression, units):
    (tmp_path / "words.txt").write_text("crane 1 0\nriver 0 1\n")
    (tmp_path / "labels.tsv").write_text("Birds crane 3 birds 2 nest 1\nWater river 3 water 2 lake 1\n")
    index.add_resource("words", tmp_path / "words.txt")
    index.add_resource("labels", tmp_path / "labels.tsv")
    counted: list[tuple[str, int, int]] = []
    said: list[str] = []
    index.fit(expression, counting=said.append, progress=lambda done, total: counted.append((said[-1], done, total)))
    assert [unit for unit, _ in groupby(said)] == units
    assert all(done <= total for _, done, total in counted)
    if expression.startswith("lda"):
        (total,) = {total for unit, _, total in counted if unit == units[0]}
        assert total == int(expression.rpartition("=")[2].rstrip(")"))
