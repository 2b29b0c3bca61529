"""Tests of fitted models with rows: views over segments, concurrent writers, uncovered documents, damaged or hostile files, and names."""

from __future__ import annotations

import errno
import json
import mmap
import os
import sys
import threading

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array
from shared import DEMO, manifest_of, scores, write_manifest

import sublex
from sublex.cli import cli
from sublex.contracts.base import Query, QueryTerm
from sublex.errors import IndexCorrupt, IndexProblem, InputError, PluginError, SublexError
from sublex.forms.pages import PAGE_MARK, escaped, html_page
from sublex.index import format
from sublex.index.check import check
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import FolderWriter
from sublex.language import plugins
from sublex.representations import view as views
from sublex.representations.inputs import ModelVocabulary
from sublex.representations.model_store import StoreReader, StoreWriter
from sublex.representations.view import IndexView

pytestmark = pytest.mark.usefixtures("projection")


def inside(*arguments: str) -> str:
    """Run a command in this process, which has the plugins of these tests, and return its output."""
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def several(tmp_path):
    """An index of three segments, with deleted documents."""
    documents = [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]
    made = sublex.build(documents[:100], tmp_path / "several")
    made.add(documents[100:160])
    made.add(documents[160:])
    made.delete(["birds-05", "river-01"])
    assert len(made.snapshot.segments) == 3
    return made


@pytest.mark.parametrize("few", [0, 2000])
@pytest.mark.parametrize("levels", [2, 1 << 16])
def test_a_view_agrees_with_dense_matrices(several, monkeypatch, few, levels):
    monkeypatch.setattr(views, "FEW", few)
    monkeypatch.setattr(views, "LEVELS", levels)
    terms = several.corpus.vocabulary[3::2]
    random = np.random.default_rng(0)
    parts = [random.standard_normal((segment.docs, 5)).astype(np.float32) for segment in several.snapshot.segments]
    view, whole = (
        IndexView(several.snapshot, several.snapshot.segments, ModelVocabulary(terms), parts),
        np.vstack(parts).astype(np.float64),
    )
    counts = np.zeros((len(whole), len(terms)))
    for doc in several.corpus.docs:
        for term in several.corpus.analyze(several.corpus.raw(doc)):
            if term in view.vocabulary.numbers:
                counts[doc, view.vocabulary.numbers[term]] += 1
    vector, weights = random.standard_normal(5), random.standard_normal(len(terms))
    live = several.corpus.docs
    for docs in (live, live[::-3], live[:1], live[:0], np.array([251, 3, 120, 3], np.int32)):
        assert np.array_equal(view.rows(docs), whole[docs].astype(np.float32))
        assert np.array_equal(view.rows(docs, slice(-2, None)), whole[docs][:, -2:].astype(np.float32))
        np.testing.assert_allclose(view.products(vector, docs), whole[docs] @ vector, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(view.dot(weights, docs), counts[docs] @ weights, rtol=1e-12, atol=1e-12)
        damped = np.log1p(counts[docs]) @ weights
        np.testing.assert_allclose(view.dot(weights, docs, transform_counts=np.log1p), damped, rtol=1e-12, atol=1e-12)
        assert np.array_equal(view.terms(docs).toarray(), counts[docs])
    assert np.array_equal(view.products(vector)[live], view.products(vector, live))
    assert np.array_equal(view.dot(weights)[live], view.dot(weights, live))
    halves = IndexView(
        several.snapshot, several.snapshot.segments, ModelVocabulary(terms), [part.astype(np.float16) for part in parts]
    )
    np.testing.assert_allclose(halves.products(vector, live), whole[live] @ vector, atol=0.02)
    assert np.array_equal(halves.products(vector)[live], halves.products(vector, live))


@pytest.mark.parametrize("few", [0, 2000])
def test_weights_may_be_a_function_that_few_documents_ask_for_few_words(several, monkeypatch, few):
    monkeypatch.setattr(views, "FEW", few)
    terms = several.corpus.vocabulary[3::2]
    view = IndexView(
        several.snapshot,
        several.snapshot.segments,
        ModelVocabulary(terms),
        [np.zeros(s.docs) for s in several.snapshot.segments],
    )
    weights, asked = np.random.default_rng(4).standard_normal(len(terms)), []

    def weigh(words):
        asked.append(words)
        return weights[words]

    live = several.corpus.docs
    for docs in (live, live[::-3], live[:1], live[:0], np.array([251, 3, 120, 3], np.int32), None):
        assert np.array_equal(view.dot(weigh, docs), view.dot(weights, docs))
        assert all(len(np.unique(words)) == len(words) for words in asked)
    asked.clear()
    view.dot(weigh, live[:1])
    known = np.unique(view.terms(live[:1]).indices)
    assert np.array_equal(asked[0], known if few else np.arange(len(terms)))


@pytest.mark.parametrize("expression", ["lsi(e=7)", "fisher(k=3, words=lsi(e=7))"])
def test_a_words_value_is_the_same_whichever_words_are_asked_for(several, expression):
    several.fit(expression)
    loaded = several.representation(expression)
    query = Query("crane river", (QueryTerm("crane"), QueryTerm("river", 0.3)))
    everything = np.arange(len(loaded.vocabulary))
    values = loaded.query(query)[1](everything)
    assert values.any()
    for number in (1, 2, 3, 7):
        lazy, chosen = loaded.query(query)[1], everything[::number]
        assert np.array_equal(lazy(chosen), values[chosen]) and np.array_equal(lazy(everything), values)
    row, vector = loaded.query(query)[0], loaded.model.query_vector(loaded.query(query))
    alone = np.eye(len(values))
    assert row.shape == (1, len(values))
    np.testing.assert_allclose(values, loaded.model.transform(csr_array(alone)) @ vector, rtol=1e-9, atol=1e-12)


def test_sparse_rows_and_posting_lists_agree_with_dense_matrices(several):
    random = np.random.default_rng(1)
    segments = several.snapshot.segments
    dense = [np.where(random.random((s.docs, 6)) < 0.4, random.random((s.docs, 6)), 0) for s in segments]
    whole, terms = np.vstack(dense).astype(np.float32).astype(np.float64), several.corpus.vocabulary[3::2]
    vector, live = random.standard_normal(6), several.corpus.docs
    for kind in (np.float32, np.float64):
        view = IndexView(
            several.snapshot,
            segments,
            ModelVocabulary(terms),
            [csr_array(part.astype(np.float32), dtype=kind) for part in dense],
        )
        for docs in (live, live[::-3], live[:1], live[:0], np.array([251, 3, 120, 3], np.int32)):
            np.testing.assert_allclose(view.products(vector, docs), whole[docs] @ vector, rtol=1e-12, atol=1e-12)
            sums = view.map_rows(lambda rows: rows @ np.ones((6, 2)), docs)
            np.testing.assert_allclose(sums, whole[docs] @ np.ones((6, 2)), rtol=1e-6)
        assert np.array_equal(view.products(vector)[live], view.products(vector, live))
        assert view.map_rows(lambda rows: np.diff(rows.indptr)).tolist() == (whole > 0).sum(axis=1).tolist()
        with pytest.raises(PluginError, match="cannot be multiplied with rows of"):
            view.products(np.ones(5))
    lengths = several.corpus.lengths
    assert view.lengths(live).tolist() == view.lengths()[live].tolist() == lengths.tolist()
    counts = several.corpus.matrix()
    for word in range(0, len(terms), 40):
        expected = counts[:, [several.corpus.vocabulary.index(terms[word])]].toarray()[:, 0].tolist()
        assert view.counts(word, live).tolist() == view.counts(word)[live].tolist() == expected
    words, whole = np.array([81, 2, 40]), counts[:, [several.corpus.vocabulary.index(term) for term in terms]].toarray()
    at = np.array([5, 1, 1, 30, 8])
    for docs in (live, live[at], live[:0]):
        expected = whole[np.searchsorted(live, docs)][:, words].T.tolist()
        assert view.counts_of(words, docs).tolist() == expected
        assert [view.counts(word, docs).tolist() for word in words.tolist()] == expected
    assert np.array_equal(view.counts_of(words)[:, live], view.counts_of(words, live))
    assert view.counts_of(words[:0], live).shape == (0, len(live))
    strange = IndexView(several.snapshot, segments, ModelVocabulary(["zyzzyva"]), [csr_array(part) for part in dense])
    assert not strange.counts(0).any()


def test_a_value_is_computed_once_for_a_view(several):
    view = IndexView(several.snapshot, several.snapshot.segments, ModelVocabulary([]), [])
    computed = []
    for name in ("a", "b", "a"):
        assert view.once(name, lambda name=name: computed.append(name) or name) == name
    assert computed == ["a", "b"]


def from_file(array):
    """Return whether the memory of an array is a mapped file."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return array is not None


@pytest.mark.parametrize(
    "expression", ["lsi(e=5)", "lda(k=3, iterations=10)", "lda(k=3, iterations=10, score=js)", "dcot(r=20)"]
)
def test_rows_stay_mapped_and_no_query_copies_them(several, monkeypatch, expression):
    # Files of a small collection would be read and not mapped.
    monkeypatch.setattr(format, "_content", lambda file, size, _: mmap.mmap(file, size, access=mmap.ACCESS_COPY))
    several.fit(expression)
    parts = several.representation(expression).view._parts
    assert len(parts) == 3
    for part in parts:
        assert all(map(from_file, (part.data, part.indices) if hasattr(part, "indptr") else (part,)))
    expected = several.search("crane", expression, k=300).docnos
    stacked = views.stacked

    def refuse(blocks):
        assert all(block.shape[1:] <= (2,) for block in blocks), "the rows of all segments are copied"
        return stacked(blocks)

    monkeypatch.setattr(views, "stacked", refuse)
    assert several.search("crane", expression, k=300).docnos == expected


def test_a_view_reads_nothing_beside_its_rows(several):
    parts = [np.ones((segment.docs, 4), np.float32) for segment in several.snapshot.segments]
    view = IndexView(several.snapshot, several.snapshot.segments, ModelVocabulary(["crane"]), parts)
    for vector in (np.ones(3), np.ones(5), np.float64(1), np.ones((2, 4))):
        with pytest.raises(PluginError, match="cannot be multiplied with rows of"):
            view.products(vector)
    for docs in ([-1], [252], [0, 10**7]):
        with pytest.raises(IndexError, match="of 252"):
            view.products(np.ones(4), np.array(docs))
        with pytest.raises(IndexError, match="of 252"):
            view.dot(np.ones(1), np.array(docs))
    with pytest.raises(PluginError, match="2 weights were given for 1 terms"):
        view.dot(np.ones(2))


@pytest.fixture
def switching_often():
    """Let threads take turns a hundred times as often: more interleavings in less time."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(interval / 100)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["lsi(e=5)", "dcot(r=20)", "projection"])
def test_a_thread_that_searches_beside_one_that_writes_is_told_so(index, expression, switching_often):
    index.fit(expression)
    expected = scores(sublex.open(index.path), expression, ["crane"])["crane"]
    stop, wrong = threading.Event(), []

    def search():
        while not stop.is_set():
            try:
                found = {hit.docno: hit.score for hit in index.search("crane", expression, k=300)}
            except (IndexProblem, IndexCorrupt, PluginError, IndexError, KeyError):
                continue
            wrong.extend(docno for docno in expected if docno in found and abs(found[docno] - expected[docno]) > 1e-5)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(12):
        index.add([{"id": f"new-{number}", "text": "A crane on the bank of a river."}])
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong and len(index.search("crane", expression, k=300)) >= len(expected)


def test_a_loaded_representation_keeps_working_on_the_generation_it_was_loaded_for(index):
    index.fit("lsi(e=5)")
    loaded = index.representation("lsi(e=5)")
    encoded = loaded.query(index.query("crane"))
    scores, (docs, _) = loaded.scores(encoded), loaded.best(loaded.scores(encoded), 10)
    index.delete(["ships-01"])
    index.merge()
    assert np.array_equal(loaded.scores(encoded), scores)
    assert np.array_equal(loaded.best(scores, 10)[0], docs)


# Documents without rows.


@pytest.fixture
def uncovered(index, projection, monkeypatch):
    """An index in which one document was added while the plugin failed; the plugin works again."""
    index.fit("projection")
    with monkeypatch.context() as broken:
        broken.setattr(projection.Projection, "encode_documents", lambda self, inputs: 1 / 0)
        said: list[str] = []
        index.add([{"id": "new", "text": "A crane."}], say=said.append)
        assert "When that is mended, run: sublex fit" in said[0] and said[0].endswith("--update")
    return index


def test_a_merge_covers_what_can_be_covered(uncovered):
    before = scores(sublex.open(uncovered.path, allow_uncovered=True), "projection")
    said: list[str] = []
    uncovered.merge(say=said.append)
    assert not said and check(uncovered.path) == []
    after = scores(uncovered, "projection")
    assert after["bank"].pop("new") and after["bank"] == before["bank"]
    facts = uncovered.card("projection")
    assert (facts["documents"], facts["tokens added since"]) == (253, 1)


def test_a_merge_says_what_it_cannot_cover(uncovered, projection, monkeypatch):
    monkeypatch.setattr(projection.Projection, "encode_documents", lambda self, inputs: 1 / 0)
    said: list[str] = []
    uncovered.merge(say=said.append)
    assert len(said) == 1 and "projection does not cover the merged documents" in said[0]
    with pytest.raises(IndexProblem, match="does not cover 253 documents"):
        uncovered.search("crane", "projection")
    monkeypatch.undo()


def test_no_document_is_missed_that_is_gone(uncovered):
    with pytest.raises(IndexProblem, match="does not cover 1 document"):
        uncovered.search("crane", "projection")
    uncovered.delete(["new"])
    assert len(uncovered.search("crane", "projection", k=300)) == 252


def test_the_card_of_a_model_that_lacks_documents(uncovered):
    assert uncovered.card("projection")["documents"] == 253


def test_what_is_not_covered_is_explained_so(uncovered, tmp_path):
    willing = sublex.open(uncovered.path, allow_uncovered=True)
    for expression in ("projection", "BM25 >> projection"):
        tree = willing.explain("crane", "new", expression)
        assert tree.value == float("-inf") and tree.kind == "evidence" and tree.evidence["rank"] is None
        assert "not covered by the model" in tree.label
    tree = willing.explain("crane", "new", "BM25 + 0.5*projection")
    assert tree.value == pytest.approx(sum(part.value for part in tree.parts))
    path = str(uncovered.path)
    for call in (("search", path, "crane"), ("run", path, str(DEMO.with_name("topics.trec")), "-o", str(tmp_path))):
        said = inside(*call, "-r", "projection", "--allow-uncovered")
        assert "projection has no opinion on 1 document that it does not cover." in said


@pytest.mark.parametrize("expression", ["lsi(e=5)", "dcot(r=20)", "fisher(k=2, words=lsi(e=5))", "projection"])
def test_no_opinion_is_explained_as_such(index, expression):
    index.fit(expression)
    for text in ("zyzzyva", ""):
        tree = index.explain(text, "birds-05", expression)
        assert (tree.value, tree.kind) == (float("-inf"), "evidence") and "no opinion" in tree.label
    assert index.explain("zyzzyva crane", "birds-05", expression).evidence["not in the model"] == {
        "zyzzyva": "is in no document"
    }


def test_a_score_that_is_explained_as_another_is_refused(index, projection, monkeypatch):
    from sublex.contracts.base import Explanation

    index.fit("projection")
    monkeypatch.setattr(projection.Projection, "explain", lambda *given: Explanation(42.0, "wrong"))
    with pytest.raises(PluginError, match="projection explained 42 where the score is"):
        index.explain("crane", "birds-05", "projection")


# Stored models and rows that are not consistent.


def rewritten(root, name: str, changed: dict[str, object]) -> None:
    """Replace some values of a stored model, with correct checksums."""
    manifest = manifest_of(root)
    place = root / "representations" / name / "model"
    reader = StoreReader(Directory(place), FolderEntry(**manifest["fitted"][name]["model"]))
    values = {value: reader.get(value) for value in reader._values} | changed
    for path in place.iterdir():
        path.unlink()
    place.rmdir()
    with FolderWriter(Directory(place)) as folder:
        store = StoreWriter(folder)
        for value, kept in values.items():
            store.put(value, kept)
        manifest["fitted"][name]["model"] = store.finish()._asdict()
    write_manifest(root, manifest)


LIES = {
    "lsi(e=5)": {
        "vectors": [lambda a: a[:-1], lambda a: a[0], lambda a: a[:, :0][:0]],
        "weights": [lambda a: a[:3], lambda a: a[:, None]],
        "vocabulary": [lambda a: a[:-1], lambda a: [*a[:-1], 7], lambda a: [*a[:-1], a[0]], lambda a: {}],
    },
    "fisher(k=3, words=lsi(e=5))": {
        "x": [lambda a: a[:-1], lambda a: a[:, :-1]],
        "weights": [lambda a: a[:-1]],
        "mixture_shares": [lambda a: a[:-1]],
        "mixture_means": [lambda a: a[:-1], lambda a: a[:, :2]],
        "gammas_of": [lambda a: a + 10**6, lambda a: a - 5 * 10**9, lambda a: a[:-1], lambda a: a.astype(float)],
        "gammas_begins": [lambda a: a[:-1], lambda a: a * 1000, lambda a: a[::-1].copy()],
        "gammas_values": [lambda a: a[:-1]],
    },
    "dcot(r=20, layers=2)": {
        "W0": [lambda a: a[:2], lambda a: a[:, :3], lambda a: a[:, :0]],
        "W1": [lambda a: a[:, :3], lambda a: a[:2]],
        "words": [lambda a: a + 10**6, lambda a: a - 10**6, lambda a: a[:-1], lambda a: a[:0]],
        "vocabulary": [lambda a: a[:3]],
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("expression", LIES)
def test_a_model_that_lies_is_refused(index, expression):
    index.fit(expression)
    (name,) = (own for own, entry in index.fitted.items() if entry.expression == expression)
    whole = StoreReader(Directory(index.path / "representations" / name / "model"), index.fitted[name].model)
    for value, lies in LIES[expression].items():
        good = whole.get(value)
        good = good.copy() if hasattr(good, "copy") else good
        for lie in lies:
            rewritten(index.path, name, {value: lie(good)})
            with pytest.raises(SublexError) as error:
                opened = sublex.open(index.path)
                opened.search("cranes by the river", expression)
            assert "\n" not in str(error.value)
        rewritten(index.path, name, {value: good})
    assert sublex.open(index.path).search("cranes by the river", expression)


@pytest.mark.parametrize(
    ("expression", "lies"),
    [
        (
            "dcot(r=20)",
            [
                lambda rows: rows[:, :2], lambda rows: rows[:, 0], lambda rows: rows[:100], csr_array, lambda rows: rows * np.nan,
                lambda rows: rows.astype(np.float64),
            ],
        ),
        ("lsi(e=5)", [lambda rows: -rows, lambda rows: rows[:, None], lambda rows: rows.astype(int), lambda rows: rows * np.inf]),
        (
            "lda(k=2, iterations=3)",
            [lambda rows: rows.toarray(), lambda rows: -rows, lambda rows: rows[:, [0]], lambda rows: rows.astype(int)],
        ),
    ],
)  # fmt: skip
def test_rows_that_lie_are_refused(index, expression, lies):
    index.fit(expression)
    manifest = manifest_of(index.path)
    ((name, entry),) = manifest["fitted"].items()
    ((place, rows),) = entry["rows"].items()
    ((segment, kept),) = rows["segments"].items()
    path = index.path / "representations" / name / place / segment
    good = StoreReader(Directory(path), FolderEntry(**kept["data"])).get("rows").copy()
    for lie in lies:
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
        with FolderWriter(Directory(path)) as folder:
            store = StoreWriter(folder)
            store.put("rows", lie(good))
            kept["data"] = store.finish()._asdict()
        write_manifest(index.path, manifest)
        with pytest.raises(IndexCorrupt, match=f"{segment}.*; run: sublex forget .* then: sublex fit "):
            sublex.open(index.path).search("cranes by the river", expression)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda n: np.ones((n, 0)), "not as one row per document"),
        (lambda n: np.array(["a"] * n), "rows must hold whole numbers or floats"),
        (lambda n: np.full((n, 2), None), "rows must hold whole numbers or floats"),
        (lambda n: np.ones((n, 2), bool), "rows must hold whole numbers or floats"),
        (lambda n: [1.0] * n, "not as one row per document"),
        (lambda n: _beyond(n), "sparse rows with columns beyond 3"),
    ],
)
def test_rows_that_cannot_be_used_are_refused_when_they_are_made(index, projection, monkeypatch, made, sentence):
    monkeypatch.setattr(projection.Projection, "encode_documents", lambda self, inputs: made(inputs.shape[0]))
    with pytest.raises(PluginError, match=f"projection encoded .*{sentence}"):
        index.fit("projection")
    assert not index.fitted


def _beyond(docs: int):
    rows = csr_array((np.ones(docs), np.zeros(docs, np.int32), np.arange(docs + 1)), shape=(docs, 3))
    rows.indices[:] = 7
    return rows


def test_new_rows_are_like_those_that_are_there(index, projection, monkeypatch):
    index.fit("projection")
    for made in (
        lambda n: np.ones((n, 3)),
        lambda n: np.ones((n, 64)),
        lambda n: csr_array(np.ones((n, 64), np.float32)),
    ):
        monkeypatch.setattr(
            projection.Projection, "encode_documents", lambda self, inputs, made=made: made(inputs.shape[0])
        )
        said: list[str] = []
        index.add([{"id": f"x{len(index)}", "text": "A crane."}], say=said.append)
        assert "projection encoded documents as rows of different shapes or types" in said[0]


@pytest.mark.parametrize("kind", ["csc", "coo"])
def test_any_sparse_rows_will_do(index, projection, monkeypatch, kind):
    real = projection.Projection.encode_documents
    monkeypatch.setattr(
        projection.Projection,
        "encode_documents",
        lambda self, inputs: getattr(csr_array(real(self, inputs)), f"to{kind}")(),
    )
    monkeypatch.setattr(
        projection.Projection, "score", lambda self, query, view, docs=None: np.asarray(view.rows(docs) @ query[1])
    )
    index.fit("projection")
    assert len(sublex.open(index.path).search("crane", "projection", k=300)) == 252


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.ENOSPC, "The disk is full; .* is as it was before"),
        (errno.EFBIG, "Cannot write .*: File too large; the index is as it was before"),
    ],
)
def test_a_full_disk_is_not_the_plugins_fault(index, monkeypatch, code, message):
    def full(*given):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as broken:
        broken.setattr("sublex.representations.rows.StoreWriter.put_rows", full)
        with pytest.raises(IndexProblem, match=message):
            index.fit("lsi(e=5)")
    assert not sublex.open(index.path).fitted and check(index.path) == []


# Names.


def test_a_model_whose_plugin_is_gone_is_said_to_be_so(index, monkeypatch, command):
    index.fit("projection")
    (name,) = index.fitted
    points = [*plugins.entry_points(group=plugins.GROUP)]
    monkeypatch.setattr(plugins, "load", lambda: plugins.Registry(points))
    opened = sublex.open(index.path)
    said = rf"projection was fitted by a plugin that is not installed .*Repair the plugin, or run: sublex forget \S+ {name}"
    for ask in (
        lambda: opened.search("crane", "PL2 + 0.1*projection"),
        lambda: opened.card("projection"),
        lambda: opened.fit("projection"),
        lambda: opened.forget("projection"),
    ):
        with pytest.raises(IndexProblem, match=said):
            ask()
    assert command("forget", str(index.path), name)[0] == 0
    assert not sublex.open(index.path).fitted


def test_files_of_one_name_are_told_apart(index, tmp_path):
    path = tmp_path / "vectors.txt"
    for line in ("crane 1 2\nriver 2 1\n", "crane 3 4\nbank 2 1\n"):
        path.write_text(line)
        index.fit(f'vectors("{path}")')
    path.rename(tmp_path / "gone.txt")
    with pytest.raises(
        InputError, match="is gone, and models were fitted to 2 files of that name; put back the file you mean"
    ):
        index.search("crane", f'vectors("{path}")')
    path.write_text("crane 5 6\n")
    with pytest.raises(
        IndexProblem,
        match=r"was fitted with another version of the plugin, another default, or a file .* run: sublex forget \S+ vectors-",
    ):
        index.forget(f'vectors("{path}")')
    index.forget(*index.fitted)
    assert not index.fitted


def test_several_models_are_forgotten_at_once(index):
    for expression in ("fisher(k=2, words=lsi(e=5))", "neighbours", "neighbours(log=true)"):
        index.fit(expression)
    assert inside("card", str(index.path)).count("neighbours") == 4
    said = inside("forget", str(index.path), "lsi(e=5)", "fisher(k=2, words=lsi(e=5))", "neighbours(log=true)")
    assert "neighbours, neighbours(log=true)" in said and "are gone from" in said
    assert not sublex.open(index.path).fitted


def test_a_model_is_taken_with_the_name_of_its_resource(index, tmp_path):
    (tmp_path / "vectors.txt").write_text("crane 1 2\nriver 2 1\n")
    index.add_resource("given", tmp_path / "vectors.txt")
    index.fit("vectors(given)")
    other = sublex.build(DEMO, tmp_path / "other")
    other.fit("vectors(given)", index.path)
    assert other.search("crane", "vectors(given)", k=1).docnos == index.search("crane", "vectors(given)", k=1).docnos
    with pytest.raises(InputError, match="is the index itself"):
        other.fit("vectors(given)", other.path)


def test_all_that_a_tuning_lacks_is_named_at_once(index):
    index.fit("lsi(e=5)")
    with pytest.raises(IndexProblem, match=r"2 models .* run: sublex fit \S+ 'lsi\(e=6\)' 'lsi\(e=7\)'$"):
        sublex.tune(index, DEMO.with_name("topics.trec"), DEMO.with_name("qrels.txt"), "PL2 + lsi(e={5,6,7})")


@pytest.mark.parametrize(
    ("fit", "sentence"),
    [
        ("BM25", "needs no fit; name a model that needs one"),
        ("fisher(words=BM25)", "needs no fit; name a model that needs one"),
        ("vectors(nope)", "No file 'nope'"),
    ],
)
def test_what_cannot_be_fitted_is_said_before_all_is_indexed(command, fit, sentence):
    from pathlib import Path

    code, _, said = command("index", "early", str(DEMO), "--fit", fit)
    assert code == 2 and sentence in said and not Path("indexes/early").exists()
    code, _, said = command("index", "early", str(DEMO), "--store", "text", "--fit", "lsi(e=5)")
    assert code == 2 and "lsi(e=5) needs stored terms" in said


def test_paths_in_advice_can_be_typed(command, monkeypatch):
    command("index", "./here", str(DEMO))
    code, _, said = command("search", "./here", "crane", "-r", "lsi(e=5)")
    assert code == 2 and "Run: sublex fit ./here 'lsi(e=5)'" in said
    assert "make one by: sublex index ./absent FILE" in command("fit", "./absent", "lsi")[2]


@pytest.mark.parametrize("group", ["resource", "plugin"])
def test_a_group_without_a_command_shows_its_help(command, group):
    code, output, said = command(group)
    assert code == 0 and output.startswith("Usage:") and "Commands:" in output and not said


def test_the_page_of_a_model_has_the_mark_of_sublex_and_no_markup_or_control_of_its_texts():
    page = html_page("a <b>\x1b\nc", "p { margin: 0 }", "<p>" + escaped("<i> & \u202e") + "</p>")
    assert PAGE_MARK in page and "<title>a &lt;b&gt;\ufffd c</title>" in page
    assert "<p>&lt;i&gt; &amp; \ufffd</p>" in page and "\x1b" not in page
