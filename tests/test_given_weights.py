"""Tests of weights of terms from elsewhere: how an index stores them, and `sparse(NAME)`, which ranks by their posting lists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shared import forge_rows
from strategies import examples

import sublex
from sublex.errors import IndexCorrupt, IndexProblem, InputError, PluginError
from sublex.index.check import check
from sublex.language import plugins
from sublex.language.expression import Call
from sublex.other_engines.weights import vectors_of
from sublex.representations import list_files
from sublex.representations.export import export_queries
from sublex.retrieval.space_searcher import SpaceSearcher
from sublex.vectors.weight_rows import WeightLayout

Weights = dict[str, dict[str, float]]
TERMS = ["crane", "river", "##s", "é", "bird", "w1", "w2", "zz"]


def weights_of(names, seed: int = 0, terms=TERMS) -> Weights:
    """Return random weights of some of the terms for each name."""
    chance = np.random.default_rng(seed)
    return {
        name: {term: float(chance.random() * 3 + 0.01) for term in terms if chance.random() < 0.5} for name in names
    }


def documents(begin: int, end: int) -> list[sublex.Document]:
    return [sublex.Document(f"d{k}", f"crane river w{k} w{k % 3}") for k in range(begin, end)]


@pytest.fixture
def built(tmp_path):
    """An index of 30 documents."""
    return sublex.build(documents(0, 30), tmp_path / "i")


def scored(index, query, expression: str = "sparse(v)", k: int = 1000) -> dict[str, float]:
    hits = index.search("crane", expression, k=k, queries={"v": {"crane": query}})
    return {hit.docno: hit.score for hit in hits}


def loaded(index):
    """Return the loaded representation `sparse(v)`."""
    return index._composer.model(sublex.parse("sparse(v)"))


def single(weights: Weights) -> Weights:
    """Return weights as float32 holds them."""
    return {name: {term: float(np.float32(w)) for term, w in own.items()} for name, own in weights.items()}


def best_of(query, weights: Weights, k: int = 1000) -> list[tuple[str, float]]:
    return naive.best(naive.sparse_scores(single({"q": query})["q"], single(weights)), k)


keep_wanted = sublex.keep(lambda document: document.docno in ("d1", "d8", "d9"), name="wanted", version=1)
QUERY = {"crane": 1.5, "##s": 0.25, "é": 2.0, "nowhere": 3.0}


@st.composite
def cases(draw) -> tuple[dict[str, float], Weights]:
    numbers = st.floats(0.0078125, 9, width=32) | st.integers(1, 4).map(float)
    bags = st.dictionaries(st.sampled_from(TERMS), numbers, max_size=6)
    names = st.sampled_from([f"d{k}" for k in range(12)])
    return draw(bags.filter(bool)), draw(st.dictionaries(names, bags, min_size=1))


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    """An index of twelve documents in two segments, one of them deleted."""
    index = sublex.build(documents(0, 7), tmp_path_factory.mktemp("twelve") / "i")
    index.add(documents(7, 12))
    index.delete("d5")
    return index


def test_the_queries_of_a_run_are_searched_together(twelve, monkeypatch):
    weights = weights_of([f"d{k}" for k in range(12) if k != 5], 4)
    twelve.add_vectors("v", weights, replace="v" in twelve.vectors)
    queries = weights_of([f"q{k}" for k in range(30)], 8)
    asked = {qid: {**own, "nowhere": 2.0} for qid, own in queries.items()}
    # A query of which no document has a term stands among the others.
    asked["q7"] = {"nowhere": 1.0}
    monkeypatch.setattr(SpaceSearcher, "search", lambda *given: pytest.fail("a query was searched alone"))
    groups, batch = [], SpaceSearcher.batch
    monkeypatch.setattr(
        SpaceSearcher, "batch", lambda searcher, group, k: groups.append(len(group)) or batch(searcher, group, k)
    )
    topics = dict.fromkeys(asked, "crane")
    for expression in ("sparse(v)", "RM3 >> sparse(v)"):
        run = twelve.run(topics, expression, k=5, workers=1, queries={"v": asked})
        for qid, query in asked.items():
            assert list(run[qid].items()) == best_of(query, weights, 5), (expression, qid)
    assert sum(groups) == 60 and max(groups) > 1
    # After an error, each query is searched alone, so that the error names the topic.
    monkeypatch.undo()
    with pytest.raises(InputError, match="has no vector of topic other, which"):
        twelve.run({**topics, "other": "crane"}, "sparse(v)", queries={"v": asked})


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_weights_of_queries_are_written_and_read_again(built, tmp_path, ending):
    weights, file = weights_of([f"d{k}" for k in range(28)]), tmp_path / f"q.{ending}"
    built.add_vectors("v", weights)
    asked = {"1": QUERY, "2": {"zz": 2.0, "crane": 0.1}, "3": {"nowhere": 1.0}}
    index = built.with_queries({"v": asked})
    queries = dict(zip(asked, index.queries([(qid, "crane") for qid in asked]), strict=True))
    assert export_queries(loaded(built), queries, file) == 3
    run = built.run(dict.fromkeys(asked, "crane"), "sparse(v)", queries={"v": file})
    for qid, query in asked.items():
        assert list(run[qid].items()) == best_of(query, weights)
    with pytest.raises(InputError, match="needs the vectors of queries; give them"):
        export_queries(loaded(built), {"1": built.query("crane")}, tmp_path / f"none.{ending}")


@given(case=cases(), k=st.integers(1, 12))
@settings(max_examples=examples(120), deadline=None)
def test_hits_are_those_of_the_definition(twelve, case, k):
    query, weights = case
    weights = {docno: own for docno, own in weights.items() if docno != "d5"} or {"d0": query}
    twelve.add_vectors("v", weights, replace="v" in twelve.vectors)
    assert list(scored(twelve, query, k=k).items()) == best_of(query, weights, k)
    # The candidates of another stage, and those that pass a filter, get the same scores in the same order.
    everything = best_of(query, weights)
    assert list(scored(twelve, query, "BM25 % 100 >> sparse(v)").items()) == everything
    hits = twelve.search("crane", sublex.parse("sparse(v)") >> keep_wanted, k=k, queries={"v": {"crane": query}})
    assert [(hit.docno, hit.score) for hit in hits] == [pair for pair in everything if pair[0] in ("d1", "d8", "d9")][
        :k
    ]


@pytest.mark.slow
def test_the_best_of_many_documents_are_those_of_the_definition(tmp_path, monkeypatch):
    monkeypatch.setattr(list_files, "LEAST_WEIGHTS", 100)
    terms = [f"t{k:03}" for k in range(200)]
    chance = np.random.default_rng(3)
    names = [f"d{k}" for k in range(3000)]
    weights = {
        name: dict(zip(chance.choice(terms, 30, False).tolist(), chance.integers(1, 200, 30).tolist(), strict=True))
        for name in names
    }
    index = sublex.build(documents(0, 1000), tmp_path / "i")
    for begin in (1000, 2000):
        index.add(documents(begin, begin + 1000))
    index.add_vectors("v", weights, stored="int8")
    queries = [
        dict(zip(chance.choice(terms, 20, False).tolist(), chance.integers(1, 9, 20).tolist(), strict=True))
        for _ in range(4)
    ]
    for change, gone in (
        (lambda: None, ()),
        (lambda: index.delete(["d7", "d2001"]), ("d7", "d2001")),
        (index.merge, ("d7", "d2001")),
    ):
        change()
        left = {name: own for name, own in weights.items() if name not in gone}
        for query in queries:
            for k in (1, 10, 1000):
                assert list(scored(index, query, k=k).items()) == best_of(query, left, k)
    # The merged segment has its lists on disk, and they are read.
    again = sublex.open(index.path)
    (lists,) = loaded(again).searcher.impacts
    assert lists.is_stored and list(scored(again, queries[0]).items()) == best_of(queries[0], left)
    assert not check(index.path)


def test_scores_are_the_same_over_segments_deletions_merges_and_reordering(built, tmp_path):
    weights = weights_of([f"d{k}" for k in range(28)])
    summary = built.add_vectors("v", weights)
    assert (summary.read, summary.matched, summary.width) == (28, 28, len(TERMS))
    assert summary.rows == sum(map(len, weights.values())) and summary.expression == "sparse(v)"
    before = scored(built, QUERY)
    assert list(before.items()) == best_of(QUERY, weights)
    said: list[str] = []
    built.add(documents(30, 45), say=said.append)
    assert any("sparse(v) has no vectors of the new documents; run: sublex vectors add" in text for text in said)
    with pytest.raises(IndexProblem, match=r"does not cover 15 documents .*sublex vectors add .* v FILE"):
        scored(built, QUERY)
    assert scored(sublex.open(built.path, allow_uncovered=True), QUERY) == before
    built.merge()
    with pytest.raises(IndexProblem, match="does not cover 15 documents"):
        scored(built, QUERY)
    new = weights_of([f"d{k}" for k in range(30, 44)], 2, [*TERMS, "a new term", "B"])
    summary = built.add_vectors("v", new)
    assert (summary.read, summary.matched, summary.width) == (14, 14, len(TERMS) + 2)
    other = sublex.build(documents(0, 45), tmp_path / "other")
    other.add_vectors("v", weights | new)
    assert other.vectors["v"].hash == built.vectors["v"].hash
    built.delete(["d3", "d31"])
    left = {docno: own for docno, own in (weights | new).items() if docno not in ("d3", "d31")}
    first = scored(built, QUERY)
    assert list(first.items()) == best_of(QUERY, left)
    for merge in (built.merge, lambda: built.merge(reorder=True)):
        merge()
        assert scored(built, QUERY) == first and not check(built.path)
    built.forget("sparse(v)")
    assert not built.vectors


def test_equal_weights_are_an_equal_hash_and_others_another(built, tmp_path):
    weights, hashes = weights_of([f"d{k}" for k in range(30)]), []
    other = {name: dict(own) for name, own in weights.items()}
    other["d4"]["crane"] = 0.125
    for given_weights in (weights, dict(reversed(weights.items())), other, {**weights, "unknown": {"x": 1.0}}):
        built.add_vectors("v", given_weights, replace=True)
        hashes.append(built.vectors["v"].hash)
    assert hashes[0] == hashes[1] == hashes[3] != hashes[2]
    built.add_vectors("v", weights)
    with pytest.raises(InputError, match="d4 has another vector already; --replace"):
        built.add_vectors("v", {"d4": {"crane": 9.0}})


def test_workers_change_nothing(tmp_path):
    weights, found = weights_of([f"d{k}" for k in range(900)], 5), []
    for workers in (1, 3):
        index = sublex.build(documents(0, 900), tmp_path / str(workers))
        index.add_vectors("v", weights, workers=workers)
        found.append((index.vectors["v"].hash, scored(index, QUERY)))
    assert found[0] == found[1]


@pytest.mark.parametrize(("largest", "lost"), [(255.0, 0.0), (1000.0, 0.02)])
def test_weights_are_scored_as_a_byte_stores_them(built, largest, lost):
    chance = np.random.default_rng(0)
    weights = {f"d{k}": {t: float(chance.integers(1, largest + 1)) for t in TERMS[:5]} for k in range(30)}
    weights["d0"]["crane"] = largest
    summary = built.add_vectors("v", weights, stored="int8")
    assert (summary.lost > 0) == (lost > 0) and summary.lost <= lost
    step = np.float32(1 if largest <= 255 else largest / 255)
    kept = {
        docno: {term: float(np.float32(max(1, np.rint(np.float32(w) / step))) * step) for term, w in own.items()}
        for docno, own in weights.items()
    }
    assert list(scored(built, QUERY).items()) == best_of(QUERY, kept)
    built.add(documents(30, 33))
    built.merge()
    with pytest.raises(InputError, match="A weight is 5000, and the weights that the index has reach to"):
        built.add_vectors("v", {"d31": {"crane": 5000.0}})
    built.add_vectors("v", {"d31": {"crane": 2 * float(step)}})
    assert scored(built, {"crane": 1.0})["d31"] == pytest.approx(2 * step)
    with pytest.raises(InputError, match="Weights of terms are stored as float32 or int8, and not as float16"):
        built.add_vectors("v", weights, stored="float16", replace=True)


# Formats of files, forms of queries, and explanations.


def write(path, weights: Weights) -> None:
    """Write weights in the format that the ending of a path names."""
    if path.suffix == ".jsonl":
        lines = (json.dumps({"id": name, "contents": "", "vector": own}) for name, own in weights.items())
        path.write_text("\n".join(lines))
    elif path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        kind = pyarrow.map_(pyarrow.string(), pyarrow.float32())
        columns = {"id": list(weights), "vector": pyarrow.array([list(own.items()) for own in weights.values()], kind)}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    else:
        terms = sorted({term for own in weights.values() for term in own})
        dense = np.array([[own.get(term, 0) for term in terms] for own in weights.values()], np.float32)
        rows = csr_array(dense)
        arrays = {name: getattr(rows, name) for name in ("data", "indices", "indptr")}
        np.savez(path, docnos=list(weights), terms=terms, shape=rows.shape, **arrays)


def test_files_of_several_formats_are_one_set_and_their_order_does_not_matter(built, tmp_path):
    weights = weights_of([f"d{k}" for k in range(30)] + ["unknown"])
    names = list(weights)
    parts = {"v.npz": names[:9], "v.jsonl": names[9:16], "v.parquet": names[16:]}
    for name, own in parts.items():
        write(tmp_path / name, {each: weights[each] for each in own[::-1]})
    summary = built.add_vectors("v", [tmp_path / name for name in parts])
    assert (summary.read, summary.matched, summary.without_document) == (31, 30, 1)
    assert list(scored(built, QUERY).items()) == best_of(QUERY, {n: w for n, w in weights.items() if n != "unknown"})
    again = built.add_vectors("v", [tmp_path / name for name in reversed(parts)])
    assert not again.changed
    queries = {"1": QUERY, "2": {"bird": 1.0}}
    for name in ("q.jsonl", "q.npz", "q.parquet"):
        write(tmp_path / name, queries)
        found = built.search("1", "sparse(v)", queries={"v": tmp_path / name})
        assert [(hit.docno, hit.score) for hit in found] == best_of(
            QUERY, {n: w for n, w in weights.items() if n != "unknown"}, 10
        )


def test_the_frequencies_of_a_ciff_file_are_weights(built, tmp_path):
    chance = np.random.default_rng(1)
    words = ["crane", "river", "bird", "seal", *(f"x{k}" for k in range(20))]
    bags = {f"d{k}": chance.choice(words, chance.integers(40, 90)).tolist() for k in range(26)}
    other = sublex.build([sublex.Document(docno, " ".join(own)) for docno, own in bags.items()], tmp_path / "other")
    other.to_ciff(tmp_path / "quantised.ciff")
    summary = built.add_vectors("v", [tmp_path / "quantised.ciff"])
    assert (summary.read, summary.matched) == (26, 26)
    weights = {docno: {term: float(own.count(term)) for term in set(own)} for docno, own in bags.items()}
    query = {"crane": 2.0, "seal": 1.0}
    assert list(scored(built, query).items()) == best_of(query, weights)
    # An index that was made of a CIFF file takes weights too; it has no texts, so nothing is marked as expansion of one.
    mirror = sublex.from_ciff(tmp_path / "quantised.ciff", tmp_path / "mirror", analyzer="english")
    mirror.add_vectors("v", weights)
    assert list(scored(mirror, query).items()) == best_of(query, weights)
    tree = mirror.explain("crane", "d0", "sparse(v)", queries={"v": {"crane": query}})
    assert {part.label for part in tree.parts} <= {"crane", "seal, expansion of the query"}
    data = (tmp_path / "quantised.ciff").read_bytes()
    (tmp_path / "cut.ciff").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"cut\.ciff"):
        built.add_vectors("w", tmp_path / "cut.ciff")
    with pytest.raises(InputError, match="take more than 0 MB of memory; allow more"):
        list(vectors_of(tmp_path / "quantised.ciff", None, 9000, plugins.load()))


def test_frames_and_dictionaries_of_pyterrier_are_read(built):
    import pandas

    weights = weights_of([f"d{k}" for k in range(30)])
    built.add_vectors("v", pandas.DataFrame({"docno": list(weights), "toks": list(weights.values())}))
    frame = pandas.DataFrame({"qid": ["1"], "query": ["the crane"], "query_toks": [QUERY]})
    found = built.search("the crane", "sparse(v)", k=99, queries={"v": frame})
    assert [(hit.docno, hit.score) for hit in found] == best_of(QUERY, weights)


@pytest.mark.parametrize("name", ["out.npz", "out.parquet"])
def test_stored_weights_are_exported_as_they_came(built, tmp_path, command, name):
    weights = weights_of([f"d{k}" for k in range(3, 28)])
    built.add_vectors("v", weights)
    hash_before = built.vectors["v"].hash
    assert command("encode", built.path, "sparse(v)", "-o", tmp_path / name).code == 0
    built.remove_vectors("v")
    summary = built.add_vectors("v", tmp_path / name)
    assert summary.read == sum(map(bool, weights.values())) and built.vectors["v"].hash == hash_before


def test_an_explanation_adds_up_and_marks_expansion(built):
    weights = {"d1": {"crane": 2.0, "##s": 1.0, "bird": 3.0, "w1": 1.0}, "d2": {"cr": 1.0}}
    built.add_vectors("v", weights)
    query = {"crane": 1.5, "bird": 0.5, "w1": 1.0, "nowhere": 2.0, "cr": 1.0}
    tree = built.explain("crane", "d1", "sparse(v)", queries={"v": {"crane": query}})
    assert tree.value == 5.5
    assert [(part.value, part.label) for part in tree.parts] == [
        (3.0, "crane"), (1.5, "bird, expansion of the query and the document"), (1.0, "w1, expansion of the query"),
    ]  # fmt: skip
    assert tree.evidence["in no document"] == ["nowhere"] and tree.evidence["not in this document"] == ["cr"]
    # Pieces that make up a word of a text are no expansion of it.
    built.add_vectors("v", {"d1": {"cr": 1.0, "##ane": 2.0, "##s": 1.0}}, replace=True)
    query = {"cr": 1.0, "##ane": 1.0, "##s": 1.0}
    tree = built.explain("crane", "d1", "sparse(v)", queries={"v": {"crane": query}})
    assert [part.label for part in tree.parts] == ["##ane", "cr", "##s, expansion of the query and the document"]


def test_encoders_of_weights_encode_queries(built):
    weights = weights_of([f"d{k}" for k in range(30)])

    def encode(texts, role):
        return [QUERY for _ in texts]

    encoder = sublex.encoder(encode, kind="sparse", name="mine")
    built.add_vectors("v", weights)
    hits = built.search("any", Call("sparse", ("v",), {"encoder": encoder}), k=99)
    assert [(hit.docno, hit.score) for hit in hits] == best_of(QUERY, weights)
    built.add_vectors("v", weights, encoder=encoder)
    dense = sublex.encoder(lambda texts, role: np.ones((len(texts), 2)), name="other")
    with pytest.raises(
        InputError, match="other.* gives dense vectors, and v are sparse vectors; name their own encoder"
    ):
        built.add_vectors("v", weights, encoder=dense)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"d1": {"crane": -1.0}}, "the weight of crane in d1 is -1; weights are finite and above 0"),
        ({"d1": {"crane": 0}}, "the weight of crane in d1 is 0; weights are finite and above 0"),
        ({"d1": {"crane": float("nan")}}, "the weight of crane in d1 is nan"),
        ({"d1": {"crane": 10**60}}, "the weight of crane in d1 is inf"),
        ({"d1": {"crane": "a"}}, "weights are numbers of terms"),
        ({"d1": {3: 1.0}}, "weights are numbers of terms"),
        ({"d1": {"\ud800": 1.0}}, "half of a surrogate pair"),
        ({"d1": {"crane": 1.0}, "d2": [1.0]}, "the vector of d2 is no dictionary of weights"),
        ({"x": {"crane": 1.0}, "y": {}}, "None of the 2 ids, the first of them x, is a docno of i such as d0"),
    ],
)
def test_bad_weights_cost_one_sentence(built, data, message):
    with pytest.raises(InputError, match=message):
        built.add_vectors("v", data)
    assert not built.vectors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "d1", "vector": {"a": 1, "a": 2}}', "a comes twice in d1; give each term one weight"),
        ('{"id": "d1", "vector": {"a": 1}}\n{"id": "d1", "vector": {"b": 1}}', "a second vector of d1"),
        ('{"id": "d1", "vector": {"a": 1}}\n{"id": "d2", "vector": [1, 2]}', "sparse vectors are objects of weights"),
        ('{"id": "d1", "vector": [1, 2]}\n{"id": "d2", "vector": {"a": 1}}', "dense vectors are lists of numbers"),
    ],
)
def test_a_bad_line_of_json_costs_one_sentence(built, tmp_path, text, message):
    (tmp_path / "v.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        built.add_vectors("v", tmp_path / "v.jsonl")
    assert not built.vectors


def test_vectors_of_another_kind_cost_one_sentence(built):
    built.add_vectors("v", {"d1": {"crane": 1.0}})
    built.add_vectors("w", {"d1": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"v is ranked by sparse\(v\), and these are of dense\(v\); --replace them"):
        built.add_vectors("v", {"d1": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"w is ranked by dense\(w\), and these are of sparse\(w\); --replace them"):
        built.add_vectors("w", {"d1": {"crane": 1.0}})
    with pytest.raises(InputError, match=r"The vectors w are ranked by dense\(w\), and not by sparse\(w\)"):
        built.search("crane", "sparse(w)", queries={"w": {"crane": QUERY}})
    with pytest.raises(InputError, match=r"sparse\(v\) needs weights of terms for the query, and v has a vector of it"):
        scored(built, [1.0, 2.0])
    with pytest.raises(InputError, match=r"dense\(w\) needs a vector of the query, and w has weights of terms of it"):
        built.search("crane", "dense(w)", queries={"w": {"crane": {"a": 1.0, "b": 2.0}}})
    with pytest.raises(InputError, match=r"sparse\(v\) needs the vectors of queries; give them: --queries v=FILE"):
        built.search("crane", "sparse(v)")


def test_an_archive_that_claims_a_thousand_million_rows_costs_one_sentence(built, tmp_path):
    rows = csr_array(np.ones((1, 1), np.float32))
    np.savez(
        tmp_path / "v.npz", docnos=["d1"], terms=["a"], shape=(10**9, 1), data=rows.data, indices=rows.indices,
        indptr=np.zeros(10**6, np.int8),
    )  # fmt: skip
    with pytest.raises(InputError, match="no matrix of sparse rows with one id for each row"):
        built.add_vectors("v", tmp_path / "v.npz")


def test_the_command_counts_weights_and_searches(built, tmp_path, command):
    weights = weights_of([f"d{k}" for k in range(28)] + ["x", "y"])
    write(tmp_path / "v.jsonl", weights)
    write(tmp_path / "q.jsonl", {"crane": QUERY})
    done = command("vectors", "add", built.path, "v", tmp_path / "v.jsonl", "--as", "int8")
    number = sum(len(weights[f"d{k}"]) for k in range(28))
    assert done.code == 0
    for text in (
        f"v: {number} weights of {len(TERMS)} terms as int8, ranked by sparse(v)",
        "read 30 vectors, 28 of them of documents", "2 vectors without a document left out", "int8 moves a vector by at most",
    ):  # fmt: skip
        assert text in done.output + done.messages
    assert "sparse(v)" in command("vectors", "list", built.path).output
    option = ("--queries", f"v={tmp_path / 'q.jsonl'}")
    found = command("search", built.path, "crane", "-r", "BM25 + 0.3*sparse(v)", *option)
    assert found.code == 0 and "d9" in found.output
    card = command("card", built.path, "sparse(v)")
    assert card.code == 0 and "terms of the weights" in card.output
    assert command("vectors", "remove", built.path, "v").code == 0


# Damage.


@pytest.mark.parametrize(
    ("name", "value"),
    [("data", 0.0), ("data", -1.0), ("data", np.nan), ("data", np.inf), ("indices", 99), ("indices", -1)],
)
def test_forged_rows_with_sound_checksums_are_refused(built, name, value):
    built.add_vectors("v", weights_of([f"d{k}" for k in range(30)]))

    def damage(array: np.ndarray) -> np.ndarray:
        array[3] = value
        return array

    forge_rows(built.path, f"rows.{name}", damage)
    with pytest.raises(IndexCorrupt, match=r"sublex vectors (remove|add)|damaged|fit it again"):
        scored(sublex.open(built.path), QUERY)


@pytest.mark.parametrize("name", ["docs", "runs", "codes", "values", "widths", "least", "kth", "key", "run_counts"])
def test_damaged_lists_are_made_again_in_memory_or_named(tmp_path, monkeypatch, name):
    monkeypatch.setattr(list_files, "LEAST_WEIGHTS", 1)
    index = sublex.build(documents(0, 30), tmp_path / "i")
    weights = weights_of([f"d{k}" for k in range(30)])
    index.add_vectors("v", weights)
    (path,) = index.path.glob(f"**/lists/{name}.npy")
    expected = scored(index, QUERY)
    data = bytearray(path.read_bytes())
    data[-1] ^= 255
    path.write_bytes(data)
    try:
        assert scored(sublex.open(index.path), QUERY) == expected
    except IndexCorrupt as error:
        assert "lists" in str(error)


def test_a_layout_of_bytes_holds_the_largest_weight():
    rows = csr_array(np.array([[0.0, 1000.0, 0.001]], np.float32))
    layout = WeightLayout.fitting("int8", 1000.0, False)._replace(terms=3)
    kept = layout.weights(layout.rows(rows)).toarray()[0]
    assert kept[1] == pytest.approx(1000) and kept[2] > 0
    assert WeightLayout.fitting("int8", 255.0, True).step == 1


# Other representations whose scores are sums over columns.

PAGE = Path(__file__).parents[1] / "docs" / "plugins.md"


@pytest.fixture
def overlap(built, monkeypatch, projection):
    """The index with the representation `overlap` of `docs/plugins.md`, fitted; the class of it."""
    (block,) = [
        each for each in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if "class Overlap" in each
    ]
    there: dict = {}
    exec(block, there)
    monkeypatch.setattr(
        projection, "register_representations",
        projection.hookimpl(lambda register: register("overlap", there["Overlap"], [])),
    )  # fmt: skip
    index = sublex.open(built.path)
    index.fit("overlap")
    return index, there["Overlap"]


def test_a_representation_of_terms_may_have_scores_that_are_sums(overlap):
    index, _ = overlap
    index.add(documents(30, 40))
    index.delete("d4")
    # The model knows the terms of the first thirty documents.
    known = {"crane", "river", *(f"w{k}" for k in range(30))}
    words = {f"d{k}": ["crane", "river", f"w{k}", f"w{k % 3}"] for k in range(40) if k != 4}
    counts = {docno: {term: float(own.count(term)) for term in known.intersection(own)} for docno, own in words.items()}
    hits = index.search("w1 w7 w7 river", "overlap", k=99)
    assert [(hit.docno, hit.score) for hit in hits] == naive.best(
        naive.sparse_scores({"w1": 1.0, "w7": 2.0, "river": 1.0}, counts), 99
    )


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("posting_weights", lambda self, rows: rows.astype("f8"), "no sparse rows of float32"),
        ("posting_weights", lambda self, rows: -rows, "a weight that is not above 0"),
        ("query_weights", lambda self, query: {-1: 1.0}, "a column that rows do not have"),
        ("query_weights", lambda self, query: {0.5: 1.0}, "a column that rows do not have"),
        ("query_weights", lambda self, query: {0: 1.0, 1 << 40: 1.0}, "a column that rows do not have"),
        ("query_weights", lambda self, query: {0: "much"}, "could not convert string to float"),
    ],
)
def test_wrong_weights_of_a_plugin_cost_one_sentence(overlap, monkeypatch, name, wrong, message):
    index, kind = overlap
    monkeypatch.setattr(kind, name, wrong)
    with pytest.raises(PluginError, match=message):
        sublex.open(index.path).search("river", "overlap")
