"""Tests of `dense` beyond its scores, which tests/test_given_vectors.py has: explanations, cards, and other kinds of index."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from tiny_models import numbers, safetensors, table, tokenizer, write

import sublex
from sublex.errors import IndexProblem, InputError, SublexWarning, UnknownName
from sublex.index.check import check
from sublex.language.expression import Call

ROWS = np.random.default_rng(0).standard_normal((252, 6)).astype(np.float32)


@pytest.fixture
def given(index):
    """The demo index with vectors, and vectors of one query."""
    docnos = [str(docno) for docno in index.snapshot.all_docnos]
    index.add_vectors("v", ROWS[:-1], docnos[:-1])
    return index.with_queries({"v": {"crane": ROWS[7]}})


@pytest.mark.parametrize(
    ("similarity", "label"),
    [("dot", "product of"), ("cosine", "cosine of"), ("l2", "minus the squared distance of")],
)
def test_an_explanation_is_a_leaf_with_the_score(given, similarity, label):
    expression = f"dense(v, similarity={similarity})"
    best = given.search("crane", expression, 3)
    assert similarity == "dot" or best[0].docno == given.snapshot.docno(7)
    tree = given.explain("crane", best[1].docno, expression)
    assert f"{label} the vectors of query and document, 6 entries" in tree.label and not tree.parts
    assert tree.value == pytest.approx(best[1].score, 1e-6)
    without = given.explain("crane", given.snapshot.docno(251), f"BM25 + {expression}")
    assert "no opinion: the document has no vector v" in str(without)


def test_a_card_counts_the_vectors(given):
    card = given.card("dense(v)")
    wanted = {"dimensions": 6, "stored as": "float32", "documents with a vector": 251, "documents without": 1}
    assert {name: card[name] for name in wanted} == wanted


def test_parameters_of_queries_share_the_rows(given):
    assert len(given.fitted) == 1
    with pytest.raises(InputError, match="similarity=angle is none of"):
        given.pipeline("dense(v, similarity=angle)")
    with pytest.raises(IndexProblem, match="has no vectors w"):
        given.fit("dense(w)")
    given.fit("dense(v)")
    assert len(given.fitted) == 1


def test_filters_and_masks_hold_for_dense(given):
    docnos = [hit.docno for hit in given.search("crane", "dense(v)", 252)]
    found = given.search("+crane", "dense(v)", 252, language="query")
    assert 0 < len(found) < 30
    listed = [docno for docno in docnos if "crane" in given.analyze(given.document(docno).contents)]
    assert [hit.docno for hit in given.with_queries({"v": {"+crane": ROWS[7], "crane": ROWS[7]}}).search(
        "+crane", "dense(v)", 252, language="query")] == listed  # fmt: skip


def test_an_index_of_ciff_postings_takes_vectors(given, tmp_path):
    given.to_ciff(tmp_path / "x.ciff")
    other = sublex.from_ciff(tmp_path / "x.ciff", tmp_path / "ciff", analyzer="english")
    docnos = [str(docno) for docno in other.snapshot.all_docnos]
    order = {docno: k for k, docno in enumerate(str(docno) for docno in given.snapshot.all_docnos)}
    other.add_vectors("v", ROWS[[order[docno] for docno in docnos]], docnos)
    hits = other.search("crane", "dense(v)", 20, queries={"v": {"crane": ROWS[7]}})
    theirs = given.search("crane", "dense(v)", 20)
    assert {h.docno: h.score for h in hits} == {h.docno: h.score for h in theirs} and not check(other.path)


def test_an_index_that_another_program_copied_needs_no_files(given, tmp_path):
    shutil.copytree(given.path, tmp_path / "copy")
    copy = sublex.open(tmp_path / "copy").with_queries({"v": {"crane": ROWS[7]}})
    assert copy.search("crane", "dense(v)").docnos == given.search("crane", "dense(v)").docnos
    assert copy.vectors["v"].hash == given.vectors["v"].hash


# Encoders of queries.


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Two folders of static models with different vectors, and an empty list of encoders of the user."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folders = []
    for seed in range(2):
        files = {"model.safetensors": safetensors(embeddings=table(seed=seed)), "tokenizer.json": tokenizer()}
        (tmp_path / f"m{seed}").mkdir()
        folders.append(write(tmp_path / f"m{seed}", files | {"config.json": {"normalize": False}}))
    return folders


def test_the_first_query_that_is_longer_than_the_model_reads_costs_a_warning(given, tmp_path):
    files = {"tokenizer.json": tokenizer(), "model.safetensors": safetensors(embeddings=table())}
    given.add_vectors("w", {"birds-01": table()[6]}, encoder=f'static("{write(tmp_path / "m", files)}", length=2)')
    with pytest.warns(
        SublexWarning, match=r"static\(.*\) left out the end of the query the crane by the river…"
    ) as said:
        for text in ("crane river", "the crane by the river", "the crane by the water"):
            assert len(given.search(text, "dense(w)")) == 1
    assert len(said) == 1


def test_the_encoder_of_queries_is_found_by_its_hash_and_another_one_is_refused(tmp_path, models, command):
    texts = ["the crane", "the river", "crane by the river", "unheard"]
    index = sublex.build([{"id": f"d{k}", "text": text} for k, text in enumerate(texts)], tmp_path / "i")
    vectors = [table()[numbers(text)].mean(axis=0) for text in texts[:3]]
    given_vectors = {f"d{k}": vector for k, vector in enumerate(vectors)}
    first, second = (f'static("{folder}")' for folder in models)
    index.add_vectors("v", given_vectors, encoder=first)
    assert len(index.vectors["v"].encoder) >= 8 and models[0] not in (index.path / "index.json").read_text()
    wanted = {f"d{k}": float(np.dot(vectors[2], vector)) for k, vector in enumerate(vectors)}
    for expression in ("dense(v)", f"dense(v, encoder={first})"):
        hits = index.search(texts[2], expression)
        assert {hit.docno: hit.score for hit in hits} == pytest.approx(wanted, abs=1e-5)
    # A vector that the user gives comes first, and a file without the query is no reason to encode it.
    assert index.search(texts[2], "dense(v)", queries={"v": {texts[2]: np.zeros(len(vectors[0]))}})[0].score == 0
    with pytest.raises(InputError, match="no vector of the query"):
        index.search(texts[2], "dense(v)", queries={"v": {"other": vectors[0]}})
    with pytest.raises(InputError, match="is not the encoder of the vectors v, .* write other_encoder=true"):
        index.search(texts[2], f"dense(v, encoder={second})")
    assert len(index.search(texts[2], f"dense(v, encoder={second}, other_encoder=true)")) == 3
    with pytest.raises(InputError, match="is no encoder"):
        index.search(texts[2], "dense(v, encoder=BM25)")
    assert command("run", index.path, "--help").code == 0
    # Another user, who has the index alone, has to name the encoder.
    (tmp_path / "config" / "sublex" / "encoders.json").unlink()
    with pytest.raises(InputError, match="You have no encoder with the hash .*sublex encoder add"):
        sublex.open(index.path).search(texts[2], "dense(v)")
    index.add_vectors("w", given_vectors)
    with pytest.raises(InputError, match=r"dense\(w\) needs the vectors of queries"):
        index.search(texts[2], "dense(w)")


def test_an_explanation_shows_the_sentence_that_scores_best_alone(tmp_path, models):
    sentences = ["The crane flies.", "A quiet river by the water!", "Construction"]
    places = [numbers(text.rstrip(".!")) for text in sentences]
    vectors = [table()[[n for n in each if n != 1]].mean(axis=0) for each in places]
    first, asked = f'static("{models[0]}")', table()[numbers("water")].mean(axis=0)
    index = sublex.build([{"id": "d", "title": "The crane flies.", "text": " ".join(sentences[1:])}], tmp_path / "i")
    index.add_vectors("v", {"d": vectors[0]}, encoder=first)
    name = "sentence that scores best alone"
    for similarity, measure in (
        ("dot", lambda v: asked @ v),
        ("cosine", lambda v: asked @ v / np.sqrt((asked @ asked) * (v @ v))),
        ("l2", lambda v: -((asked - v) ** 2).sum()),
    ):
        tree = index.explain("water", "d", f"dense(v, similarity={similarity})")
        assert tree.evidence[name] == sentences[int(np.argmax([measure(vector) for vector in vectors]))]
        # The score is that of the stored vector, and not of the sentence.
        assert tree.value == pytest.approx(float(measure(vectors[0])), rel=1e-5)
    # The vector that a user gives need not come from the encoder, and an index without texts has no sentence.
    own = index.explain("water", "d", "dense(v)", queries={"v": {"water": asked}})
    assert name not in own.evidence
    bare = sublex.build([{"id": "d", "text": "crane"}], tmp_path / "bare", store=())
    bare.add_vectors("v", {"d": vectors[0]}, encoder=first)
    assert name not in bare.explain("water", "d", "dense(v)").evidence


def test_an_encoder_of_another_hash_is_refused_on_every_path(given, models, command, tmp_path):
    first, second = (f'static("{folder}")' for folder in models)
    index = sublex.open(given.path)
    docnos = [str(docno) for docno in index.snapshot.all_docnos]
    index.add_vectors("e", np.ones((len(docnos), 6), np.float32), docnos, encoder=first)
    right, wrong = f"dense(e, encoder={first})", f"dense(e, encoder={second})"
    tuned = f"BM25 + {{0.1,0.2}}*{wrong}"
    topics, judged = {"1": "crane", "2": "river"}, {"1": {docnos[0]: 1}, "2": {docnos[1]: 1}}
    refused = "is not the encoder of the vectors e, whose hash is"
    for path in (
        lambda expression: index.search("crane", expression),
        lambda expression: index.run(topics, expression),
        lambda expression: index.explain("crane", docnos[0], expression),
        lambda expression: sublex.compare(index, topics, judged, [expression, "BM25"]),
        lambda expression: sublex.tune(index, topics, judged, f"BM25 + {{0.1,0.2}}*{expression}", folds=2),
    ):
        path(right)
        with pytest.raises(InputError, match=refused):
            path(wrong)
    (tmp_path / "t.tsv").write_text("1\tcrane\n2\triver\n")
    (tmp_path / "q.txt").write_text("".join(f"{qid} 0 {docno} 1\n" for qid, rows in judged.items() for docno in rows))
    files = [tmp_path / "t.tsv", tmp_path / "q.txt"]
    for words in (
        ("search", index.path, "crane", "-r", wrong),
        ("explain", index.path, "crane", docnos[0], "-r", wrong),
        ("run", index.path, files[0], "-r", wrong, "-o", tmp_path / "x.run"),
        ("compare", index.path, *files, "-r", wrong, "-r", "BM25"),
        ("tune", index.path, *files, tuned, "--folds", 2),
    ):
        result = command(*map(str, words))
        assert result.code and refused in result.messages and "Traceback" not in result.messages, words
    shell = command("shell", index.path, "-r", wrong, "-c", "crane")
    assert refused in shell.messages


def test_the_hash_of_a_python_function_is_kept_and_compared(given, models):
    index, docnos = sublex.open(given.path), [str(docno) for docno in given.snapshot.all_docnos]

    def lengths(texts, role):
        return [[len(text), 1] for text in texts]

    def other(texts, role):
        return [[1, len(text)] for text in texts]

    mine, theirs = sublex.encoder(lengths), sublex.encoder(other)
    rows = np.array([[1, k] for k in range(len(docnos))], np.float32)
    index.add_vectors("p", rows, docnos, encoder=mine)
    hits = index.search("crane", Call("dense", ("p",), {"encoder": mine}), 1)
    assert [(hit.docno, hit.score) for hit in hits] == [(docnos[-1], 5.0 + len(docnos) - 1)]
    with pytest.raises(InputError, match="is not the encoder of the vectors p"):
        index.search("crane", Call("dense", ("p",), {"encoder": theirs}))
    with pytest.raises(InputError, match="You have no encoder with the hash"):
        index.search("crane", "dense(p)")


def test_an_encoder_of_another_kind_of_vectors_is_refused_with_the_vectors(given, models, tmp_path):
    (tmp_path / "s").mkdir()
    folder = write(tmp_path / "s", {"tokenizer.json": tokenizer(), "idf.json": {"crane": 1.5}})
    with pytest.raises(InputError, match=r"tokens\(.*\) gives sparse vectors, and s are dense vectors; name their own"):
        given.add_vectors("s", {"birds-01": [1.0]}, encoder=f'tokens("{folder}")')
    assert "s" not in given.vectors and not (tmp_path / "config" / "sublex" / "encoders.json").exists()


def test_a_name_like_that_of_an_encoder_is_suggested(given, models, command):
    command("encoder", "add", "minilm", f'static("{models[0]}")')
    given.search("crane", "dense(v, encoder=minilm)")
    for word in ("minilmm", "minilm6"):
        with pytest.raises(UnknownName, match=f"No component {word}; did you mean minilm.*sublex encoder list"):
            sublex.open(given.path).search("crane", f"dense(v, encoder={word})")
    # A word that is nearer to a component means that component.
    with pytest.raises(UnknownName, match="BM25"):
        given.search("crane", "BM52")


# Finding by sketches.


@pytest.fixture
def sketched(index, monkeypatch):
    """The demo index in three segments with deletions, and sketches of vectors of several norms, of zeros and of none."""
    monkeypatch.setattr("sublex.representations.sketch_files.LEAST_DOCUMENTS", 1)
    index.add([{"id": f"new-{k}", "text": f"a crane {k}"} for k in range(40)])
    index.add([{"id": f"newer-{k}", "text": f"a river {k}"} for k in range(40)])
    index.delete(["birds-05", "new-3"])
    docnos = [str(docno) for docno in index.snapshot.all_docnos if docno is not None]
    random = np.random.default_rng(4)
    rows = random.standard_normal((len(docnos), 300)) * 10.0 ** random.integers(-3, 3, (len(docnos), 1))
    rows[5], rows[20:26] = 0, rows[20]
    stays = np.arange(len(docnos)) % 9 > 0
    index.add_vectors("v", rows[stays].astype(np.float32), [docnos[k] for k in np.flatnonzero(stays)])
    return index.with_queries({"v": {"crane": rows[20], "river": -rows[20], "both": random.standard_normal(300)}})


@pytest.mark.parametrize("similarity", ["dot", "cosine", "l2"])
def test_dense_finds_by_sketches_what_it_finds_by_scoring_all_documents(sketched, monkeypatch, similarity):
    expression = f"dense(v, similarity={similarity})"

    def hits(index):
        return [
            [(hit.docno, hit.score) for hit in index.search(text, expression, k)]
            for text in ("crane", "river", "both")
            for k in (1, 4, 60)
        ]

    counted, kept = [], sublex.representations.loaded.find
    monkeypatch.setattr(
        "sublex.representations.loaded.find", lambda *given: counted.append(kept(*given)) or counted[-1]
    )
    for step in (lambda: None, lambda: sketched.delete(["new-7"]), sketched.merge):
        step()
        found, sizes = hits(sketched), [len(parts[0]) for parts in counted]
        assert min(sizes) < len(sketched) / 2 and len(list(sketched.path.rglob("sketch/norms.npy"))) == len(
            sketched.snapshot.segments
        )
        with monkeypatch.context() as without:
            without.setattr("sublex.representations.loaded.LoadedRepresentation.find_by_sketches", lambda *given: None)
            assert found == hits(sketched)
        counted.clear()
    near = sketched.search("both", expression.replace(")", ", find=approximate)"), 60)
    assert {(hit.docno, hit.score) for hit in near} <= set(hits(sketched)[-1]) | {(h.docno, h.score) for h in near}
    assert len(near) == 60
