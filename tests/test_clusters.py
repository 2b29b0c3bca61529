"""Clusters: the hits, scores, models and files of one index, whatever shards hold the documents and whatever happens to writers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child import at_change, kill_self, run
from command import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import manifest_of, write_manifest
from strategies import examples

import sublex
from sublex.building import clusters as building_clusters
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.index.check import check
from sublex.index.shards import expect_shard
from sublex.language import plugins
from sublex.tools.child_processes import start_child

REGISTRY = plugins.load()
OPTIONS: dict[str, Any] = {"store": "text,terms,positions", "fields": "title,text", "columns": "theme,number:int"}
WORDS = "crane river whale seal law stone rope bird mast deed harbour tide lamp wax brick net oak sail fog gull".split()
QUERIES = ("crane river", "whale seal law", "gull", "fog fog mast", "unicorn crane", "absent")
PHRASES = ('"crane river" OR gull', "+whale -seal law", "title:crane tide")
DELETED = ("d3", "d40", "d41", "d89")
# The documents of each shard, by number. The document 17 alone has the word unicorn.
LAYOUTS = {
    "one": [range(90)],
    "two in turn": [range(k, 90, 2) for k in range(2)],
    "four ranges": [range(20), range(20, 45), range(45, 70), range(70, 90)],
    "seven in turn": [range(k, 90, 7) for k in range(7)],
    "uneven": [range(60), range(60, 61), [61, 62], range(63, 90)],
}
NORMALISERS = ("minmax", "zscore", "rank", "raw", "rrf")


def document(k: int) -> dict[str, Any]:
    """Return document k, in which each of the words occurs now and then."""
    chance = np.random.default_rng(k)
    words = [*chance.choice(WORDS, size=chance.integers(0, 30)), *(["unicorn"] * (k == 17))]
    return {
        "id": f"d{k}",
        "text": " ".join(words),
        "title": " ".join(chance.choice(WORDS, size=2)),
        "theme": "abc"[k % 3],
        "number": k,
    }


def expressions() -> list[str]:
    """Return expressions with every ranker, expander, blend and filter that needs no model or file."""
    rankers = [name for name in REGISTRY.names("ranker") if REGISTRY.find("ranker", name).plugin == "rankers"]
    feedback = [name for name in REGISTRY.names("expander") if name not in ("FDM", "SDM", "phrases", "swg")]
    return [
        *rankers,
        'TFIDF(smart="lnc.ltc")',
        'TFIDF(smart="bnn.ntn")',
        *(f"BM25 >> {name} >> BM25" for name in feedback),
        "SDM >> BM25",
        "FDM >> PL2",
        *(f"{way}(BM25) + 0.3*{way}(PL2)" for way in NORMALISERS),
        'BM25 >> where("theme = b")',
        'BM25 >> where("number >= 20")',
        "BM25 >> sort(number)",
        "BM25 % 20 >> DPH",
    ]


def rows(index: sublex.Index, expression: str, language: str = "plain", queries: Any = QUERIES) -> list[Any]:
    """Return all hits of queries with the bits of their scores."""
    found = []
    for text in queries:
        hits = index.search(text, expression, k=100, language=language)
        found.append((hits.docnos, np.asarray(hits.scores, np.float32).tobytes()))
    return found


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files below a folder, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def parts_in(folder: Path, layout: list[Any]) -> list[sublex.Index]:
    """Build an index of the documents of each part, with some documents deleted. Document 60 alone is deleted with its part."""
    parts = []
    for place, numbers in enumerate(layout):
        part = sublex.build([document(k) for k in numbers], folder / f"part-{place}", **OPTIONS)
        gone = [docno for docno in (*DELETED, "d61", "d62") if docno in part]
        part.delete(gone) if gone else None
        parts.append(part)
    return parts


@pytest.fixture(scope="module", params=LAYOUTS)
def both(request, tmp_path_factory) -> tuple[sublex.Index, sublex.Index]:
    """A cluster, and the joined index of its shards."""
    folder = tmp_path_factory.mktemp("cluster")
    parts = parts_in(folder, LAYOUTS[request.param])
    return sublex.build_cluster(parts, folder / "cluster"), sublex.join(parts, folder / "joined")


def test_a_cluster_ranks_as_the_joined_index_does(both):
    cluster, joined = both
    assert (cluster.statistics, cluster.fingerprint) == (joined.statistics, joined.fingerprint)
    assert cluster.snapshot.all_docnos.tolist() == joined.snapshot.all_docnos.tolist()
    for expression in expressions():
        assert rows(cluster, expression) == rows(joined, expression), expression
    for language, queries in (("query", PHRASES), ("weighted", ("crane^0.5 river^2 gull^-1",))):
        assert rows(cluster, "BM25", language, queries) == rows(joined, "BM25", language, queries)
    assert check(cluster.path) == []


def test_explanations_facets_and_runs_are_those_of_the_joined_index(both, tmp_path):
    cluster, joined = both
    for expression in ("BM25", "BM25 >> RM3 >> BM25", "BM25 + 0.3*PL2", "DirichletLM"):
        docno = joined.search("crane river", expression).docnos[0]
        explained = [str(index.explain("crane river", docno, expression)) for index in both]
        assert explained[0] == explained[1]
    assert cluster.facets("crane", "theme") == joined.facets("crane", "theme")
    for name, index in zip(("cluster", "joined"), both, strict=True):
        index.run({str(n): text for n, text in enumerate(QUERIES)}, "BM25").write(tmp_path / f"{name}.run", "none")
    first, second = ((tmp_path / f"{name}.run").read_bytes() for name in ("cluster", "joined"))
    assert first == second and first.count(b"\n") > 100
    qrels = {"0": {"d1": 1, "d5": 1, "d7": 0}, "1": {"d2": 1}}
    measured = [
        sublex.measure(qrels, "BM25", "AP nDCG@10", index=index, topics={"0": QUERIES[0], "1": QUERIES[1]})
        for index in both
    ]
    assert str(measured[0]) == str(measured[1])


def test_models_have_the_bytes_of_the_joined_index(both):
    cluster, joined = both
    for expression in ("lsi(e=4, min_df=1)", "near(lsi(e=4, min_df=1))", "lda(k=3, iterations=5, max_df=0.9)"):
        for index in both:
            index.fit(expression)
    models = [
        {name: data for name, data in files_below(index.path / "representations").items() if "/model/" in name}
        for index in both
    ]
    assert models[0] == models[1] and models[0]
    for expression in (
        "BM25 + 0.3*lsi(e=4, min_df=1)", "BM25 >> near(lsi(e=4, min_df=1))", "lda(k=3, iterations=5, max_df=0.9)",
    ):  # fmt: skip
        assert rows(cluster, expression) == rows(joined, expression), expression
    assert cluster.facets("crane", "lda(k=3, iterations=5, max_df=0.9)") == joined.facets(
        "crane", "lda(k=3, iterations=5, max_df=0.9)"
    )


def test_stored_impacts_change_no_score(both):
    cluster, joined = both
    before = rows(joined, "BM25")
    cluster.store_impacts(["BM25", "PL2"])
    assert rows(sublex.open(cluster.path), "BM25") == before and cluster.kept_impacts()["BM25"]
    cluster.store_impacts([])


def test_each_shard_opens_alone_with_its_own_statistics(tmp_path):
    parts = parts_in(tmp_path, LAYOUTS["uneven"])
    cluster = sublex.build_cluster(parts, tmp_path / "cluster")
    for place, part in enumerate(parts):
        shard = sublex.open(cluster.path / "shards" / f"{place + 1:03}")
        assert (shard.statistics, shard.fingerprint) == (part.statistics, part.fingerprint)
        assert rows(shard, "BM25") == rows(part, "BM25") and check(shard.path) == []


def test_joining_a_cluster_makes_one_index_and_a_split_one_makes_a_cluster(tmp_path):
    index = sublex.build([document(k) for k in range(90)], tmp_path / "index", **OPTIONS)
    cluster = sublex.build_cluster(index.split([tmp_path / "a", tmp_path / "b", tmp_path / "c"]), tmp_path / "cluster")
    assert [rows(cluster, e) for e in ("BM25", "DPH")] == [rows(index, e) for e in ("BM25", "DPH")]
    joined = sublex.join([cluster], tmp_path / "joined")
    assert joined.fingerprint == cluster.fingerprint and not joined.snapshot.manifest.shards
    assert not (joined.path / "shards").exists() and check(joined.path) == []


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 9), st.integers(0, 3)),
        st.tuples(st.just("delete"), st.integers(0, 10_000), st.integers(1, 4)),
        st.tuples(st.just("replace"), st.integers(0, 10_000), st.just(0)),
        st.tuples(st.just("merge"), st.just(0), st.just(0)),
    ),
    max_size=6,
)


@settings(max_examples=examples(30), deadline=None)
@given(CHANGES)
def test_a_changed_cluster_ranks_as_an_index_with_the_same_changes(tmp_path_factory, changes):
    folder = tmp_path_factory.mktemp("changes")
    documents = [document(k) for k in range(24)]
    cluster = sublex.build_cluster(documents, folder / "cluster", 3, **OPTIONS)
    one = sublex.build(documents, folder / "one", **OPTIONS)
    live, fresh = {f"d{k}" for k in range(24)}, 24
    for what, number, other in changes:
        if what == "add":
            new = [document(k) for k in range(fresh, fresh + number)]
            cluster.add(new, shard=f"{other:03}" if other else None)
            one.add(new)
            live |= {each["id"] for each in new}
            fresh += number
        elif what == "delete" and live:
            gone = sorted(live)[number % len(live) :][:other]
            for index in (cluster, one):
                index.delete(gone)
            live -= {*gone}
        elif what == "replace" and live:
            changed = document(fresh) | {"id": sorted(live)[number % len(live)]}
            fresh += 1
            for index in (cluster, one):
                index.add([changed], "last")
        elif what == "merge":
            cluster.merge()
            one.merge()
    assert len(cluster) == len(one) == len(live)
    assert cluster.statistics == one.statistics and check(cluster.path) == []
    for expression in ("BM25", "DPH", "BM25 >> RM3(docs=3, terms=5) >> BM25", "BM25F"):
        assert rows(cluster, expression) == rows(one, expression), expression
    assert all(expect_shard(cluster.path, cluster.snapshot.manifest, s) for s in cluster.snapshot.manifest.shards)


def test_documents_go_to_the_shard_with_the_fewest_or_to_the_one_that_is_named(tmp_path):
    cluster = sublex.build_cluster([document(k) for k in range(9)], tmp_path / "c", 2)
    cluster.add([document(20)])
    cluster.add([document(21)], shard="001")
    docnos = [sublex.open(tmp_path / "c/shards" / name).snapshot.all_docnos.tolist() for name in ("001", "002")]
    assert docnos == [["d0", "d1", "d2", "d3", "d20", "d21"], ["d4", "d5", "d6", "d7", "d8"]]
    with pytest.raises(InputError, match="No shard 003; "):
        cluster.add([document(22)], shard="003")
    with pytest.raises(InputError, match="is not a cluster, so it has no shard 001"):
        sublex.build([document(1)], tmp_path / "i").add([document(2)], shard="001")


def test_models_cover_what_is_added_to_a_cluster(tmp_path):
    cluster = sublex.build_cluster([document(k) for k in range(40)], tmp_path / "c", 2)
    one = sublex.build([document(k) for k in range(40)], tmp_path / "one")
    for index in (cluster, one):
        index.fit("near(lsi(e=4, min_df=1))")
        index.add([document(k) for k in range(40, 50)])
        index.delete(["d7", "d30", "d41"])
        index.merge()
    for expression in ("lsi(e=4, min_df=1)", "BM25 >> near(lsi(e=4, min_df=1))"):
        for text in QUERIES[:4]:
            wanted = {hit.docno: hit.score for hit in one.search(text, expression, k=100)}
            found = {hit.docno: hit.score for hit in cluster.search(text, expression, k=100)}
            assert found.keys() == wanted.keys()
            # The models are of the same bytes, but the order of the documents may decide how sums are rounded.
            assert found == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    assert check(cluster.path) == []


@pytest.mark.parametrize("what", ["add", "delete", "merge", "replace", "build"])
def test_a_writer_that_is_killed_at_any_step_leaves_a_cluster_of_before_or_after(tmp_path, what):
    made = sublex.build_cluster([document(k) for k in range(12)], tmp_path / "made", 3)
    made.add([document(k) for k in range(12, 15)], shard="002")
    made.delete(["d1"])
    parts = [sublex.build([document(k)], tmp_path / f"part-{k}") for k in (30, 31)]

    def change(path: Path) -> None:
        cluster = sublex.open(path)
        if what == "add":
            cluster.add([document(20)], shard="003")
        elif what == "delete":
            cluster.delete(["d0", "d13"])
        elif what == "merge":
            cluster.merge(workers=1)
        elif what == "replace":
            cluster.add([document(21) | {"id": "d2"}], "last", shard="003")
        else:
            sublex.build_cluster(parts, path, overwrite=True)

    before = sublex.open(made.path).snapshot.all_docnos.tolist()
    after_path = shutil.copytree(made.path, tmp_path / "after")
    change(after_path)
    whole = {"before": rows(made, "BM25"), "after": rows(sublex.open(after_path), "BM25")}
    seen, behind, number = set(), 0, 0
    while True:
        number += 1
        copy = shutil.copytree(made.path, tmp_path / "copy")

        def work(copy: Path = copy, number: int = number) -> None:
            at_change(number, kill_self)
            change(copy)

        ended = run(work)
        index = sublex.open(copy)
        states = [expect_shard(copy, index.snapshot.manifest, s) for s in index.snapshot.manifest.shards]
        behind += not all(states)
        assert check(copy) == []
        assert rows(index, "BM25") in whole.values()
        seen.add(rows(index, "BM25") == whole["after"])
        for name in (shard.name for shard in index.snapshot.manifest.shards):
            assert len(sublex.open(copy / "shards" / name).snapshot.all_docnos)
        # The next writer catches up, and leaves nothing that the manifest does not name.
        index.add([document(40)], shard="001")
        index = sublex.open(copy)
        assert all(expect_shard(copy, index.snapshot.manifest, s) for s in index.snapshot.manifest.shards)
        named = {segment.name for segment in index.snapshot.manifest.segments}
        assert {path.name for path in copy.glob("shards/*/segments/*")} == named
        assert check(copy) == [] and not (copy / "building").exists()
        shutil.rmtree(copy)
        if not ended.signal:
            break
    assert ended.error is None and number > 10 and seen == ({True, False} if what != "merge" else {True})
    # Between the manifest of the cluster and those of its shards, a shard is behind.
    assert behind and len(before) == 15


def test_a_shard_is_changed_only_with_its_cluster(tmp_path):
    cluster = sublex.build_cluster([document(k) for k in range(9)], tmp_path / "c", 2)
    path = tmp_path / "c" / "shards" / "002"
    (tmp_path / "link").symlink_to(path)
    for place in (path, tmp_path / "link"):
        shard = sublex.open(place)
        with pytest.raises(
            IndexProblem, match=r"is shard 002 of the cluster .*run: sublex cluster add \S+c --shard 002 SO"
        ):
            shard.add([document(20)])
        with pytest.raises(IndexProblem, match=r"run: sublex cluster delete \S+c DOCNO…"):
            shard.delete("d5")
        with pytest.raises(IndexProblem, match=r"run: sublex merge \S+c$"):
            shard.merge()
        sentence = "changes only with it; name the cluster, or a copy of the shard"
        with pytest.raises(IndexProblem, match=sentence):
            shard.fit("lsi(e=2)")
        with pytest.raises(IndexProblem, match=sentence):
            shard.name("x", "BM25")
        with pytest.raises(IndexProblem, match=sentence):
            sublex.build([document(1)], place, overwrite=True)
        with pytest.raises(IndexProblem, match=sentence):
            sublex.join([cluster], place, overwrite=True)
    copy = sublex.open(shutil.copytree(path, tmp_path / "copy"))
    copy.delete("d5")
    assert sublex.open(tmp_path / "c").fingerprint == cluster.fingerprint


def test_a_shard_that_is_not_as_the_cluster_left_it_costs_a_sentence(tmp_path):
    cluster = sublex.build_cluster([document(k) for k in range(9)], tmp_path / "c", 3)
    cluster.add([document(20)], shard="002")
    shards, kept = tmp_path / "c" / "shards", shutil.copytree(tmp_path / "c", tmp_path / "kept")
    other = sublex.build([document(50)], tmp_path / "other").path

    def opened(sentence: str) -> None:
        with pytest.raises(IndexCorrupt, match=sentence):
            sublex.open(tmp_path / "c")
        with pytest.raises(IndexCorrupt, match=sentence):
            cluster.delete("d1")
        found = check(tmp_path / "c")
        assert any(sentence in problem for problem in found)
        shown = invoke("cluster", "info", tmp_path / "c", "--format", "json")
        assert shown.code == 1 and [row["state"] for row in json.loads(shown.output)].count("damaged") == 1
        shutil.rmtree(tmp_path / "c")
        shutil.copytree(kept, tmp_path / "c")

    shutil.rmtree(shards / "002")
    opened("Shard 002 of ")
    shutil.rmtree(shards / "003")
    shutil.copytree(other, shards / "003")
    opened("is another index than the one that the cluster has")
    changed = sublex.open(shutil.copytree(shards / "001", tmp_path / "alone"))
    changed.delete("d0")
    shutil.rmtree(shards / "001")
    shutil.copytree(tmp_path / "alone", shards / "001")
    opened("is at generation 2, and the cluster has its generation 1")
    (shards / "002" / "index.json").write_text("{")
    opened("Shard 002 of ")
    (shards / "002" / "index.json").unlink()
    opened("has no index.json")
    shutil.rmtree(shards / "002")
    (shards / "002").symlink_to(other)
    opened("a symbolic link")
    (shards / "002" / "index.json").unlink()
    (shards / "002" / "index.json").symlink_to(other / "index.json")
    opened("a symbolic link")
    assert check(tmp_path / "c") == []


FORGED: dict[str, Any] = {
    "out of the folder": lambda m: m["shards"][0].update(name="../x"),
    "a path": lambda m: m["shards"][0].update(name="/etc"),
    "a word": lambda m: m["shards"][0].update(name="first"),
    "no name": lambda m: m["shards"][0].pop("name"),
    "a number": lambda m: m["shards"][0].update(name=1),
    "a negative generation": lambda m: m["shards"][0].update(generation=-1),
    "a generation to come": lambda m: m["shards"][0].update(generation=99),
    "a huge generation": lambda m: m["shards"][0].update(generation=2**70),
    "half a generation": lambda m: m["shards"][0].update(generation=0.5),
    "before": lambda m: m["shards"][0].update(before="../../x"),
    "one name twice": lambda m: m["shards"][0].update(name=m["shards"][1]["name"]),
    "no shards": lambda m: m.pop("shards"),
    "no list": lambda m: m.update(shards={"001": 1}),
    "an unknown shard": lambda m: m["segments"][0].update(shard="009"),
    "a shard out of the folder": lambda m: m["segments"][0].update(shard="../.."),
    "no shard": lambda m: m["segments"][0].pop("shard"),
    "another order": lambda m: m["shards"].reverse(),
    "an empty shard": lambda m: m["shards"].append({"name": "009", "generation": 1}),
    "one segment twice": lambda m: m["segments"][0].update(name=m["segments"][1]["name"]),
    "format 1": lambda m: m.update(format=1),
    "negative documents": lambda m: m["segments"][0].update(docs=-1),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_manifest_of_a_cluster_costs_a_sentence(tmp_path, forgery):
    sublex.build_cluster([document(k) for k in range(6)], tmp_path / "c", 2)
    values = manifest_of(tmp_path / "c")
    FORGED[forgery](values)
    write_manifest(tmp_path / "c", values)
    with pytest.raises(IndexCorrupt, match=r"is damaged: .*; rebuild the index"):
        sublex.open(tmp_path / "c")


def test_another_analyzer_profile_or_store_in_the_manifest_is_found_at_opening(tmp_path):
    sublex.build_cluster([document(k) for k in range(6)], tmp_path / "c", 2)
    for key, value in (("profile", "terrier"), ("store", ["terms"])):
        values = manifest_of(tmp_path / "c")
        write_manifest(tmp_path / "c", values | {key: value})
        with pytest.raises(IndexCorrupt, match="Shard 001 of .* is another index than the one"):
            sublex.open(tmp_path / "c")
        write_manifest(tmp_path / "c", values)
    assert len(sublex.open(tmp_path / "c")) == 6


def test_indexes_that_do_not_fit_each_other_are_no_cluster(tmp_path):
    first = sublex.build([document(1)], tmp_path / "first")
    with pytest.raises(InputError, match="Document d1 is in .*first and in .*second"):
        sublex.build_cluster([first, sublex.build([document(1)], tmp_path / "second")], tmp_path / "c")
    for name, options in {
        "analyzer": {"analyzer": "plain"}, "profile": {"profile": "terrier", "analyzer": "english"},
        "stored parts": {"store": "terms"}, "fields": {"fields": "title,text"}, "columns": {"columns": "theme"},
    }.items():  # fmt: skip
        other = sublex.build([document(2)], tmp_path / name, **options)
        with pytest.raises(InputError, match=f"the {name} of the one differ"):
            sublex.build_cluster([first, other], tmp_path / "c")
    with pytest.raises(InputError, match="There is nothing to join"):
        sublex.build_cluster([], tmp_path / "c")
    with pytest.raises(InputError, match="analyzer is for documents, and indexes are built already"):
        sublex.build_cluster([first], tmp_path / "c", analyzer="plain")
    with pytest.raises(InputError, match="There are 2 documents to index, too few for 3 shards"):
        sublex.build_cluster([document(1), document(2)], tmp_path / "c", 3)
    with pytest.raises(InputError, match="A cluster of 1,001 shards cannot be built"):
        sublex.build_cluster([document(1), document(2)], tmp_path / "c", 1001)
    assert not (tmp_path / "c").exists()


def test_an_index_replaces_a_cluster_and_a_cluster_an_index(tmp_path):
    parts = parts_in(tmp_path, LAYOUTS["two in turn"])
    sublex.build_cluster(parts, tmp_path / "c").name("usual", "BM25")
    with pytest.raises(IndexProblem, match="is already an index"):
        sublex.build_cluster(parts, tmp_path / "c")
    one = sublex.build([document(1)], tmp_path / "c", overwrite=True)
    assert not any((tmp_path / "c" / "shards").iterdir()) and not one.snapshot.manifest.shards
    again = sublex.build_cluster(parts, tmp_path / "c", overwrite=True)
    assert not any((tmp_path / "c" / "segments").iterdir()) and again.generation == 4 and again.names
    assert check(tmp_path / "c") == []


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """A file that is large enough for processes, with some docnos that come twice."""
    chance = np.random.default_rng(5)
    file = tmp_path_factory.mktemp("large") / "documents.jsonl"
    with file.open("w") as stream:
        for k in range(17_000):
            words = " ".join(chance.choice(WORDS, size=400))
            stream.write(json.dumps({"id": f"d{k % 16_990}", "text": f"{words} n{k % 1000}"}) + "\n")
    return file


def test_processes_build_the_shards_of_a_large_collection(large, tmp_path):
    done: list[int] = []
    cluster = sublex.build_cluster(large, tmp_path / "c", 2, progress=done.append)
    one = sublex.build(large, tmp_path / "one")
    assert len(cluster) == len(one) == 16_990 and cluster.statistics.docs == 16_990
    assert sorted(cluster.built.duplicate) == sorted(one.built.duplicate) and cluster.built.indexed == 16_990
    assert done and max(done) <= 17_000 and check(cluster.path) == []
    # Of two documents with one docno, the first in the order of the shards stays. The last ten documents are in the same
    # batch as no first one, so they may stay in place of the first ones.
    first = {f"d{k}" for k in range(10)}
    assert {*one.built.duplicate} == first
    wanted = sublex.join([cluster], tmp_path / "joined")
    assert rows(cluster, "BM25") == rows(wanted, "BM25")


def test_a_build_that_is_interrupted_while_processes_start_leaves_none(large, tmp_path, monkeypatch):
    started = []

    def start(module: str, function: str) -> Any:
        if started:
            raise KeyboardInterrupt
        started.append(start_child(module, function))
        return started[0]

    monkeypatch.setattr(building_clusters, "start_child", start)
    with pytest.raises(KeyboardInterrupt):
        sublex.build_cluster(large, tmp_path / "c", 2, workers=2)
    # The process was waited for, so that it has an exit status.
    assert started[0].returncode is not None


def test_a_killed_build_by_processes_is_resumed(large, tmp_path):
    def work() -> None:
        def stop(docs: int) -> None:
            if docs > 9_000:
                kill_self()

        sublex.build_cluster(large, tmp_path / "c", 2, workers=1, progress=stop)

    assert run(work).signal == "SIGKILL"
    with pytest.raises(IndexProblem, match="its build was interrupted"):
        sublex.open(tmp_path / "c")
    with pytest.raises(InputError, match="The sources or settings changed since the build was interrupted"):
        sublex.build_cluster(large, tmp_path / "c", 3 - 1, store="text", resume=True)
    kept = list((tmp_path / "c" / "building").glob("*.json"))
    cluster = sublex.build_cluster(large, tmp_path / "c", 2, resume=True)
    assert len(kept) >= 1 and len(cluster) == 16_990 and check(cluster.path) == []
    again = sublex.build_cluster(large, tmp_path / "again", 2)
    assert again.fingerprint == cluster.fingerprint


def test_the_commands_of_clusters(tmp_path, command, demo):
    assert demo("split", "demo", "first", "second").code == 0
    made = demo("cluster", "build", "both", "first", "second")
    assert made.code == 0 and "indexed" in made.output
    wanted = demo("search", "demo", "crane", "--format", "json").output
    assert json.loads(demo("search", "cluster:both", "crane", "--format", "json").output) == json.loads(wanted)
    listed = json.loads(demo("cluster", "info", "both", "--format", "json").output)
    assert [row["shard"] for row in listed] == ["001", "002"] and {row["state"] for row in listed} == {"current"}
    Path("more.jsonl").write_text('{"id": "new", "text": "cranes"}\n')
    assert demo("cluster", "add", "both", "more.jsonl", "--shard", "002").code == 0
    assert demo("cluster", "delete", "both", "new").output.startswith("Deleted 1 of ")
    assert "one segment in each of its 2 shards, made of 3" in demo("merge", "both").output
    assert demo("cluster", "check", "both").output.strip().endswith("both is sound")
    for words, sentence in (
        (("cluster", "info", "demo"), "is an index and not a cluster; make one by: sublex cluster build CLUSTER"),
        (("search", "cluster:demo", "x"), "is an index and not a cluster; name it without cluster:"),
        (("cluster", "build", "c", "more.jsonl"), "more.jsonl is no index; name indexes, or divide documents"),
        (("cluster", "build", "c", "none"), "No index at none; name indexes, which become the shards."),
        (("cluster", "build", "c", "more.jsonl", "--shards", "2"), "too few for 2 shards"),
        (("add", "indexes/both/shards/001", "more.jsonl"), "run: sublex cluster add"),
    ):
        ended = demo(*words)
        assert ended.code in (1, 2) and sentence in ended.messages and ended.messages.count("\n") <= 2, ended.messages


def test_no_index_is_made_where_a_writer_of_another_index_removes_leftovers(tmp_path):
    index = sublex.build([document(k) for k in range(8)], tmp_path / "index")
    cluster = sublex.build_cluster(index.split([tmp_path / "a", tmp_path / "b"]), tmp_path / "c")
    (tmp_path / "link").symlink_to(cluster.path / "shards")
    for place in ("index/shards/001", "index/segments/000009", "c/shards/003", "c/shards/001/x", "link/004"):
        for make in (
            lambda path: sublex.build([document(9)], path),
            lambda path: sublex.build_cluster([tmp_path / "a", tmp_path / "b"], path),
            lambda path: index.split([path, tmp_path / "d"]),
        ):
            with pytest.raises(
                IndexProblem, match=r"is within the folder (shards|segments) of the index .*choose another"
            ):
                make(tmp_path / place)
            assert not (tmp_path / place).exists()
    # Elsewhere within an index, nothing is removed.
    inner = sublex.build([document(9)], tmp_path / "c" / "inner" / "003")
    cluster.add([document(20)])
    assert len(sublex.open(inner.path)) == 1 and not (tmp_path / "d").exists()


def test_a_new_index_is_named_without_the_word_for_clusters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    part = sublex.build([document(1)], tmp_path / "part")
    for make in (
        lambda path: sublex.build([document(9)], path),
        lambda path: sublex.build_cluster([part], path),
        lambda path: sublex.join([part], path),
    ):
        for path in ("cluster:new", f"cluster:{tmp_path}/new"):
            with pytest.raises(
                InputError, match="begins with cluster:, which names a cluster that exists; leave it out"
            ):
                make(path)
    assert [path.name for path in tmp_path.iterdir()] == ["part"]


@pytest.mark.filterwarnings("error", "ignore:No document has a value")
def test_an_index_or_a_cluster_whose_documents_are_all_deleted_finds_nothing(tmp_path):
    documents = [document(k) for k in range(8)]
    cluster = sublex.build_cluster(documents, tmp_path / "c", 2, **OPTIONS)
    one = sublex.build(documents, tmp_path / "one", **OPTIONS)
    one.add([document(8)])
    cluster.add([document(8)])
    for index in (cluster, one):
        index.delete([f"d{k}" for k in range(9)])
        for expression in expressions():
            assert index.search("crane river", expression).docnos == [], expression
        index.merge()
        assert index.search("crane river").docnos == []
        index.add([document(20)])
        assert check(index.path) == [] and len(index) == 1
