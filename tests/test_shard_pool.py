"""The processes of shards: hits and scores are those of one index, and whatever a process does costs a sentence or nothing."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from bad_shards import WAYS
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import examples
from test_clusters import LAYOUTS, OPTIONS, PHRASES, QUERIES, document, expressions, parts_in, rows

import sublex
from sublex.errors import IndexProblem, InputError
from sublex.retrieval.key_kernels import key_of, score_of
from sublex.retrieval.shard_messages import AskedTerms, BadMessage, Gone, Reply, Request, checked_request, receive, send
from sublex.retrieval.shard_search import ShardSearch
from sublex.retrieval.shares import best_in_turns, best_of_parts
from sublex.tools.child_processes import start_child


@pytest.fixture(scope="module", params=["four ranges", "seven in turn", "uneven"])
def both(request, tmp_path_factory) -> tuple[sublex.Index, sublex.Index]:
    """A cluster whose shards processes search, and the joined index of its shards."""
    folder = tmp_path_factory.mktemp("pool")
    parts = parts_in(folder, LAYOUTS[request.param])
    cluster = sublex.build_cluster(parts, folder / "cluster")
    with sublex.open(f"cluster:{cluster.path}", launcher="processes", processes=3) as launched:
        yield launched, sublex.join(parts, folder / "joined")


def test_processes_rank_as_the_joined_index_does(both):
    launched, joined = both
    for expression in expressions():
        before = launched._pool.requests
        assert rows(launched, expression) == rows(joined, expression), expression
        # Rankers with norms, or with fields, and searches under a filter are this process's; all others ask the shards.
        here = expression in ("BM25F", "PL2F") or "where" in expression or "lnc" in expression
        assert here != (launched._pool.requests > before), expression
    assert len(launched._pool.process_ids) == 3
    for language, queries in (("query", PHRASES), ("weighted", ("crane^0.5 river^2 gull^-1",))):
        assert rows(launched, "BM25", language, queries) == rows(joined, "BM25", language, queries)
    for k in (1, 3, 7):
        for text in QUERIES:
            found, wanted = (index.search(text, "BM25", k) for index in both)
            assert found.docnos == wanted.docnos and found.scores.tobytes() == wanted.scores.tobytes()


def test_runs_explanations_and_measures_are_those_of_the_joined_index(both, tmp_path):
    launched, joined = both
    topics = {str(n): text for n, text in enumerate([*QUERIES, *(f"crane {word}" for word in ("seal", "law", "oak"))])}
    for name, index in zip(("launched", "joined"), both, strict=True):
        for expression in ("BM25", "BM25 >> RM3 >> BM25"):
            index.run(topics, expression, k=20, workers=3).write(tmp_path / f"{name}-{len(expression)}.run", "none")
    for length in (4, 19):
        first, second = ((tmp_path / f"{name}-{length}.run").read_bytes() for name in ("launched", "joined"))
        assert first == second and first.count(b"\n") > 50
    docno = joined.search("crane river").docnos[0]
    assert str(launched.explain("crane river", docno)) == str(joined.explain("crane river", docno))
    assert launched.run(topics).metadata["data"] == joined.run(topics).metadata["data"]


def test_a_process_is_asked_again_if_its_hits_could_still_matter(tmp_path):
    chance = np.random.default_rng(2)
    documents = [{"id": f"a{k}", "text": f"crane {'river ' * int(chance.integers(0, 9))}"} for k in range(300)]
    others = [{"id": f"b{k}", "text": "whale crane" if k % 50 == 0 else "whale"} for k in range(900)]
    parts = [sublex.build(each, tmp_path / name) for name, each in (("a", documents), ("b", others))]
    joined = sublex.join(parts, tmp_path / "joined")
    with sublex.build_cluster(parts, tmp_path / "c").launch() as launched:
        for k in (5, 50, 120, 290, 2000):
            for text in ("crane", "crane river", "river", "whale", "whale crane river"):
                found, wanted = (index.search(text, "BM25", k) for index in (launched, joined))
                assert found.docnos == wanted.docnos and found.scores.tobytes() == wanted.scores.tobytes()
        assert launched._pool.asked_again > 3
        # Many documents have equal scores, so the order of docnos decides which are found.
        assert len({*np.asarray(launched.search("crane", "BM25", 200).scores).tolist()}) < 20


def test_a_process_that_dies_is_replaced_and_its_query_is_asked_again(both):
    launched, joined = both
    wanted = rows(joined, "BM25")
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        ids = launched._pool.process_ids
        if number == signal.SIGSTOP:
            # A process that is stopped while another thread searches, and goes on later, loses nothing.
            os.kill(ids[0], number)
            timer = threading.Timer(0.3, os.kill, (ids[0], signal.SIGCONT))
            timer.start()
        else:
            for each in ids:
                os.kill(each, number)
        assert rows(launched, "BM25") == wanted
    launched.close()
    assert launched._pool.process_ids == [] and rows(launched, "BM25") == wanted


def test_several_threads_use_one_pool(both):
    launched, joined = both
    wanted, found = rows(joined, "PL2"), []

    def search() -> None:
        found.extend([rows(launched, "PL2") == wanted for _ in range(3)])

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 12


def test_stored_impacts_of_the_cluster_serve_its_processes_and_those_of_a_shard_do_not(tmp_path):
    parts = parts_in(tmp_path, LAYOUTS["four ranges"])
    cluster, joined = sublex.build_cluster(parts, tmp_path / "c"), sublex.join(parts, tmp_path / "joined")
    wanted = rows(joined, "BM25")
    for name in ("001", "002", "003", "004"):
        sublex.open(tmp_path / "c" / "shards" / name).store_impacts("BM25")
    with cluster.launch() as launched:
        assert rows(launched, "BM25") == wanted
    cluster.store_impacts("BM25")
    with cluster.launch() as launched:
        assert rows(launched, "BM25") == wanted
    search = ShardSearch(tmp_path / "c", ["002"])
    assert all(impacts.is_stored for impacts in search._impacts_of("BM25"))


@pytest.fixture
def cluster(tmp_path) -> sublex.Index:
    """A cluster of three shards."""
    return sublex.build_cluster([document(k) for k in range(30)], tmp_path / "c", 3, **OPTIONS)


@pytest.fixture(scope="module")
def standing(tmp_path_factory) -> Iterator[sublex.Index]:
    """A cluster of three shards with a process for each, which have answered already."""
    made = sublex.build_cluster(
        [document(k) for k in range(30)], tmp_path_factory.mktemp("standing") / "c", 3, **OPTIONS
    )
    with made.launch(3) as launched:
        launched.search("crane river")
        yield launched


@pytest.fixture
def spoilt(standing, monkeypatch) -> Iterator[Callable[[str], sublex.Index]]:
    """A function that makes the process of the second shard answer in a wrong way."""
    assert str(Path(__file__).parent) in sys.path
    pool = standing._pool
    part, kept = pool._parts[1], (pool._parts[1]._start, pool._patience)

    def spoil(way: str) -> sublex.Index:
        monkeypatch.setenv("SUBLEX_BAD_SHARD", way)
        part.end()
        part._start = lambda: start_child("bad_shards", "main")
        return standing

    yield spoil
    part.end()
    part._start, pool._patience = kept
    pool.partial, pool.lost = False, set()


CANNOT_BE_RIGHT = {
    **dict.fromkeys(("nan", "infinite", "largest"), "scores that are not finite numbers"),
    **dict.fromkeys(("out of range", "negative"), "documents that do not exist"),
    **dict.fromkeys(("too many", "negative counts", "fewer"), "a wrong number of hits"),
    "ascending": "its scores ascend",
    "twice": "a document twice",
    "another type": "other arrays",
    "no arrays": "no arrays",
    "another request": "it answers another request",
    "another generation": "another generation of the cluster",
    "another identity": "another generation of the cluster",
    "huge record": r"its record has 1,152,921,504,606,846,976 bytes",
    "bytes": "its record has",
    "not JSON": "its record is not JSON",
    "a record of numbers": "in its record the whole should be an object",
}
NO_ANSWER = {
    "ended": r"does not answer \(it ended\)",
    "half a record": r"does not answer \(it ended\)",
    "an error": "gave no answer: the disk is gone",
}


def test_every_wrong_way_is_tried():
    assert {*WAYS} <= {*CANNOT_BE_RIGHT}


@pytest.mark.parametrize("way", [*CANNOT_BE_RIGHT, *NO_ANSWER])
def test_an_answer_that_cannot_be_right_names_the_shard(spoilt, way):
    why = f"gave an answer that cannot be right: .*{CANNOT_BE_RIGHT[way]}" if way in CANNOT_BE_RIGHT else NO_ANSWER[way]
    with pytest.raises(IndexProblem, match=rf"^The process of shard 002 of \S+c {why}"):
        spoilt(way).search("crane river", "BM25", k=100)


def test_a_process_that_is_silent_names_the_shard(spoilt, standing):
    launched = spoilt("silent")
    standing._pool._patience = 2.0
    with pytest.raises(IndexProblem, match="The process of shard 002 of .* does not answer .it did not answer for 2 s"):
        launched.search("crane river")


def test_a_message_that_nobody_reads_does_not_wait_forever():
    reply = Reply(1, 1, "0" * 32, "", ())
    read, write = os.pipe()
    try:
        with pytest.raises(Gone, match="it read nothing for 0.2 s"):
            send(write, reply, {"scores": np.zeros(1_000_000)}, 0.2)
    finally:
        os.close(read)
        os.close(write)
    # A reader that is slow but reads gets the whole message.
    read, write = os.pipe()
    scores, found = np.arange(300_000.0), []
    reader = threading.Thread(target=lambda: found.append(receive(read, Reply, ("float64",), 60.0)))
    reader.start()
    send(write, reply, {"scores": scores}, 60.0)
    reader.join()
    assert (found[0][1][0] == scores).all()
    os.close(read)
    with pytest.raises(Gone, match="it ended"):
        send(write, reply, {"scores": scores}, 60.0)
    os.close(write)


def test_pipes_may_have_high_descriptors(cluster):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 2000:
        pytest.skip("the system allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, before[1]))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with cluster.launch(2) as launched:
            assert rows(launched, "BM25") == rows(cluster, "BM25")
            assert launched._pool._parts[0].child.stdout.fileno() > 1023
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_partial_hits_are_marked(spoilt):
    launched = spoilt("ended")
    launched._pool.partial = True
    cluster = sublex.open(launched.path)
    whole = {hit.docno: hit.score for hit in cluster.search("crane river", k=100)}
    lost = {*sublex.open(cluster.path / "shards" / "002").snapshot.all_docnos.tolist()}
    hits = launched.search("crane river", k=100)
    assert {hit.docno: hit.score for hit in hits} == {d: s for d, s in whole.items() if d not in lost}
    assert whole.keys() & lost and hits.lost_shards == ("002",) == launched.lost_shards
    data = launched.run({"1": "crane"}).metadata["data"]["index"]
    assert data["partial"] == "without the documents of shards 002"
    assert "partial" not in cluster.run({"1": "crane"}).metadata["data"]["index"]
    assert cluster.search("crane").lost_shards == ()


def test_a_process_of_another_generation_refuses(cluster):
    with cluster.launch(3) as launched:
        before = rows(launched, "BM25")
        sublex.open(cluster.path).add([document(40)], shard="002")
        # The processes still have the generation that the index has.
        assert rows(launched, "BM25") == before
        os.kill(launched._pool.process_ids[1], signal.SIGKILL)
        with pytest.raises(
            IndexProblem, match=r"shard 002 .* it is at generation 2, and the index was opened at generation 1; open"
        ):
            launched.search("crane")
    with sublex.open(cluster.path).launch(3) as again:
        assert rows(again, "BM25") == rows(sublex.open(cluster.path), "BM25") != before


def test_a_launched_cluster_can_be_changed(cluster):
    with cluster.launch(2) as launched:
        launched.search("crane")
        launched.add([document(k) for k in range(40, 45)])
        launched.delete(["d1", "d20"])
        assert rows(launched, "BM25") == rows(sublex.open(cluster.path), "BM25")
        launched.merge()
        assert rows(launched, "DPH") == rows(sublex.open(cluster.path), "DPH")


def test_python_rankers_run_at_the_coordinator(cluster):
    def score(tf, length):
        return tf / (tf + length)

    wanted = rows(cluster, sublex.ranker(score))
    with cluster.launch() as launched:
        assert rows(launched, sublex.ranker(score)) == wanted and launched._pool.requests == 0


def test_wrong_arguments_cost_a_sentence(cluster, tmp_path):
    one = sublex.build([document(1)], tmp_path / "one")
    with pytest.raises(InputError, match="is an index and not a cluster, so it has no shards to search in processes"):
        one.launch()
    with pytest.raises(InputError, match="The number of processes=0 should be at least 1"):
        cluster.launch(0)
    with pytest.raises(InputError, match="The launcher"):
        sublex.open(cluster.path, launcher="ray")
    with pytest.raises(InputError, match="processes and partial are for the launcher processes"):
        sublex.open(cluster.path, partial=True)


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 5), st.integers(1, 6))
def test_shares_and_turns_find_the_largest_keys(seed, k, parts, queries):
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 80, parts).tolist()
    # Few distinct scores, positive and negative, and distinct ranks; some parts have all the good ones.
    scores = np.float32([-1.5, -0.25, 0.0, 0.5, 3.0])
    ranks = chance.permutation(sum(sizes))
    own, begin = [], 0
    for size in sizes:
        rows = []
        for _ in range(queries):
            hits = int(chance.integers(0, size + 1))
            drawn = chance.choice(scores[int(chance.integers(0, 5)) :], hits)
            keys = [
                int(key_of.py_func(score, rank)) for score, rank in zip(drawn, ranks[begin : begin + hits], strict=True)
            ]
            rows.append(sorted(keys, reverse=True))
        own.append(rows)
        begin += size
    wanted = [sorted((key for rows in own for key in rows[q]), reverse=True)[:k] for q in range(queries)]

    def answer(asks):
        found = []
        for ask in asks:
            places = range(queries) if ask.places is None else ask.places.tolist()
            table = np.zeros((len(places), ask.k), np.uint64)
            for row, (q, threshold) in enumerate(zip(places, ask.thresholds, strict=True)):
                kept = [key for key in own[ask.part][q] if score_of.py_func(np.uint64(key)) >= threshold][: ask.k]
                table[row, : len(kept)] = chance.permutation(np.array(kept, np.uint64))
            found.append(table)
        return found

    shared = best_of_parts(answer, sizes, k, queries)
    assert shared is not None
    for keys in (shared[0], best_in_turns(answer, parts, k, queries)):
        assert [[key for key in row[::-1].tolist() if key] for row in keys] == wanted


REQUESTS = {
    "fewer df": lambda a: a._replace(df=a.df[:-1]),
    "zero df": lambda a: a._replace(df=a.df * 0),
    "cf below df": lambda a: a._replace(cf=a.df / 2),
    "nan df": lambda a: a._replace(df=a.df * np.nan),
    "infinite cf": lambda a: a._replace(cf=a.cf * np.inf),
    "descending ends": lambda a: a._replace(ends=a.ends[::-1]),
    "ends too far": lambda a: a._replace(ends=a.ends + 1),
    "negative ends": lambda a: a._replace(ends=a.ends - 9),
    "number out of range": lambda a: a._replace(numbers=a.numbers + 5),
    "negative number": lambda a: a._replace(numbers=a.numbers - 5),
    "nan weights": lambda a: a._replace(weights=a.weights * np.nan),
    "nan thresholds": lambda a: a._replace(thresholds=a.thresholds * np.nan),
    "fewer thresholds": lambda a: a._replace(thresholds=a.thresholds[1:]),
    "no weights": lambda a: a._replace(weights=a.weights[:0]),
}


@pytest.mark.parametrize("way", REQUESTS)
def test_a_request_whose_arrays_do_not_fit_is_refused(way):
    ends, numbers = np.array([1, 3]), np.array([0, 1, 0])
    asked = AskedTerms(("a", "b"), np.array([1.0, 2.0]), np.array([1.0, 3.0]), ends, numbers, np.ones(3), np.zeros(2))
    request = Request(1, "x", 1, "0" * 32, ("001",), "BM25", 10, 3, 3, 3, asked.terms, ())
    assert checked_request(request, [*asked[1:]]).terms == asked.terms
    forged = REQUESTS[way](asked)
    with pytest.raises(BadMessage, match="its arrays do not fit each other"):
        checked_request(request, [*forged[1:]])


def test_the_run_command_searches_by_processes(demo, tmp_path):
    demo("split", "demo", "first", "second")
    demo("cluster", "build", "both", "first", "second")
    Path("topics.tsv").write_text("1\tcranes that dance\n2\triver delta\n")
    assert demo("run", "both", "topics.tsv", "-o", "a.run", "--launcher", "processes").code == 0
    assert demo("run", "demo", "topics.tsv", "-o", "b.run").code == 0
    assert Path("a.run").read_bytes() == Path("b.run").read_bytes()
    refused = demo("run", "both", "topics.tsv", "-o", "c.run", "--partial")
    assert refused.code == 2 and "--partial goes with --launcher processes" in refused.messages
