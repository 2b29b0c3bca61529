"""Tests of the reranker cross and the analyzer wordpiece on an index."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import tiny_models as models
from tiny_models import CLS, SEP, numbers, write

import sublex
from sublex.errors import IndexProblem, InputError, SublexError
from sublex.index import manifest as manifests
from sublex.index.lock import locked

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
DOCUMENTS = {
    "d1": "The cranes fly over the river", "d2": "A quiet bird by the water, waterfall", "d3": "crane " * 3 + "construction over the river",
    "d4": "river " * 30,
}  # fmt: skip
VECTORS, WEIGHTS = models.table(), models.table(models.WIDTH, 1, seed=3)


@pytest.fixture
def cross(tmp_path, monkeypatch):
    """The expression of a cross-encoder that takes 24 pieces, in the working directory."""
    monkeypatch.chdir(tmp_path)
    model = models.pair_model(VECTORS, WEIGHTS).SerializeToString()
    config = {"architectures": ["BertForSequenceClassification"], "max_position_embeddings": 24}
    write(tmp_path / "m", {"model.onnx": model, "tokenizer.json": models.tokenizer(), "config.json": config})
    return "cross(onnx(m))"


@pytest.fixture
def index(tmp_path):
    return sublex.build([{"id": docno, "text": text} for docno, text in DOCUMENTS.items()], tmp_path / "index")


def expected(query, docno):
    first, second = numbers(query), numbers(DOCUMENTS[docno])
    second = second[: 24 - 3 - len(first)]  # Only the documents of these tests are longer than half.
    return float(((VECTORS[[CLS, *first, SEP]].sum(axis=0) + 2 * VECTORS[[*second, SEP]].sum(axis=0)) @ WEIGHTS)[0])


def test_cross_ranks_by_the_scores_of_the_model(index, cross):
    hits = index.search("crane river", f"BM25 >> {cross}")
    scores = {docno: expected("crane river", docno) for docno in ("d1", "d3", "d4")}
    assert {hit.docno: hit.score for hit in hits} == pytest.approx(scores, abs=1e-4)
    assert hits.docnos == sorted(scores, key=scores.get, reverse=True)


def test_cross_is_blended_as_other_stages_are(index, cross):
    blended = index.search("crane river", f"BM25 >> raw(BM25) + 0.5*raw({cross})")
    bm25 = {hit.docno: hit.score for hit in index.search("crane river", "BM25")}
    assert {hit.docno: hit.score for hit in blended} == pytest.approx(
        {docno: score + 0.5 * expected("crane river", docno) for docno, score in bm25.items()}, abs=1e-4
    )


def test_an_explanation_says_that_the_end_of_a_document_was_left_out(index, cross):
    assert "its end was left out" in str(index.explain("crane river", "d4", f"BM25 >> {cross}"))
    assert "its end was left out" not in str(index.explain("crane river", "d1", f"BM25 >> {cross}"))


def test_an_explanation_shows_the_sentence_that_scores_best_alone(tmp_path, cross):
    sentences = ["Construction", "Cranes fly over water", "A quiet bird by the waterfall", "The river"]
    scores = [((VECTORS[[CLS, *numbers("crane river"), SEP]].sum(axis=0) + 2 * VECTORS[[*numbers(each), SEP]].sum(axis=0))
               @ WEIGHTS)[0] for each in sentences]  # fmt: skip
    best = sentences[int(np.argmax(scores))]
    assert best not in sentences[:1]
    text = f"{sentences[0]}! {sentences[1]}?\n\n{sentences[2]}\n\n...\n\n{sentences[3]}"
    index = sublex.build([{"id": "d", "text": text}], tmp_path / "s")
    tree = index.explain("crane river", "d", f"BM25 >> {cross}")
    (shown,) = [
        part.evidence["sentence that scores best alone"]
        for part in walk(tree)
        if part.evidence.get("sentence that scores best alone")
    ]
    assert shown.rstrip("?!") == best


def walk(tree):
    yield tree
    for part in tree.parts:
        yield from walk(part)


def test_kept_scores_are_not_computed_again_but_for_another_model(index, cross, monkeypatch, tmp_path):
    from sublex_neural.onnx import OnnxEncoder

    kept, called = 'cross(onnx(m), cache="kept")', []
    real = OnnxEncoder.score_pairs
    monkeypatch.setattr(OnnxEncoder, "score_pairs", lambda self, *given: called.append(given) or real(self, *given))
    first = index.search("crane river", f"BM25 >> {kept}")
    assert len(called) == 1 and (tmp_path / "kept" / "cross.sqlite").is_file()
    again = sublex.open(tmp_path / "index").search("crane river", f"BM25 >> {kept}")
    assert len(called) == 1 and again.docnos == first.docnos and np.array_equal(again.scores, first.scores)
    write(tmp_path / "m", {"model.onnx": models.pair_model(VECTORS, -WEIGHTS).SerializeToString()})
    other = index.search("crane river", f"BM25 >> {kept}")
    assert len(called) == 2 and np.allclose(sorted(-other.scores), sorted(first.scores), atol=1e-4)


def test_batches_change_no_score(index, cross):
    one = index.search("crane river", "BM25 >> cross(onnx(m), batch=1)")
    assert np.allclose(one.scores, index.search("crane river", f"BM25 >> {cross}").scores, atol=1e-5)


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("BM25 >> cross(BM25)", "cross: BM25 is no encoder"),
        ("BM25 >> cross(static(m))", r"cross: static\(m\) scores no pairs"),
        ("BM25 >> cross(onnx(m, pooling=mean))", "scores no pairs; cross needs a cross-encoder"),
        ("BM25 >> cross(onnx(nowhere))", "There is no folder nowhere"),
        ("cross(onnx(m))", "finds no documents by itself; put a ranker before it"),
        ("BM25 >> cross", "cross needs the parameter encoder"),
    ],
)
def test_what_cannot_score_pairs_costs_a_sentence(index, cross, expression, sentence):
    with pytest.raises(InputError, match=sentence):
        index.search("crane river", expression)


def test_cross_needs_texts(tmp_path, cross):
    bare = sublex.build([{"id": "a", "text": "crane"}], tmp_path / "bare", store=())
    with pytest.raises(IndexProblem, match="text"):
        bare.search("crane", f"BM25 >> {cross}")


def test_metadata_of_a_run_name_the_model_and_the_runtime(index, cross):
    (about,) = index.run({"1": "crane river"}, f"BM25 >> {cross}").metadata["data"]["models"].values()
    assert "runtime onnxruntime" in about and "provider CPUExecutionProvider, reads 24 pieces" in about


def test_an_index_of_pieces_needs_the_folder_no_more(tmp_path, cross):
    documents = [{"id": docno, "text": text} for docno, text in DOCUMENTS.items()]
    built = sublex.build(documents, tmp_path / "pieces", analyzer='wordpiece("m")')
    shutil.rmtree(tmp_path / "m")
    opened = sublex.open(tmp_path / "pieces")
    assert opened.search("waterfalls").docnos == ["d2", "d1"]  # By ##fall and water in d2, by ##s in d1.
    assert str(tmp_path) not in (tmp_path / "pieces" / "index.json").read_text()
    opened.add([{"id": "new", "text": "waterfall [SEP] zebra"}])
    assert opened.search("waterfall").docnos[0] == "new" and built.path == opened.path
    # No index names a folder: one that does was not written by Sublex.
    entry = manifests.read_manifest(tmp_path / "pieces")
    stored = entry.analyzer.settings.params["stored"]
    for params, sentence in [
        ({"folder": str(tmp_path)}, "names a folder, which no index may do"),
        ({"folder": "", "stored": {"pieces": "a"}}, "no sound tokenizer"),
        ({"folder": "", "stored": stored | {"unknown": "zebra"}}, "has no piece"),
        ({}, "wordpiece needs the parameter folder"),
    ]:
        forged = entry.analyzer._replace(settings=entry.analyzer.settings._replace(params=params))
        with locked(tmp_path / "pieces", "test"):
            manifests.commit(tmp_path / "pieces", entry.next(analyzer=forged))
        with pytest.raises(SublexError, match=sentence):
            sublex.open(tmp_path / "pieces").search("waterfall")


def test_marks_and_unknown_words_are_no_terms(tmp_path, cross):
    built = sublex.build(
        [{"id": "a", "text": "Quiet, zebra [SEP] bird's!"}], tmp_path / "few", analyzer='wordpiece("m")'
    )
    assert [each.term for each in built.terms()] == ["bird", "quiet"]
