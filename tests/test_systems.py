"""The cache of runs next to an index: its key holds everything that changes a run, and a broken cache does no harm."""

from __future__ import annotations

import numpy as np
import pytest

import sublex
from sublex.evaluation import systems
from sublex.index import derived
from sublex.trec.topics import Topic, Topics

TOPICS = Topics([Topic("1", "crane nest", {}), Topic("2", "zzz", {}), Topic("3", "river bank", {})])


@pytest.fixture
def index(tmp_path):
    texts = {"a": "The crane nests by the river.", "b": "A crane at the building.", "c": "The bank of the river."}
    return sublex.build([{"id": key, "text": text} for key, text in texts.items()], tmp_path / "index")


def run(index, expression="BM25", topics=TOPICS, k=1000, **more):
    return systems.run_system(index, topics, index.pipeline(expression), k, **more)


def test_a_run_is_made_once(index):
    first, again = run(index), run(index)
    assert (first.cached, again.cached) == (False, True)
    assert first.name == again.name == again.run.tag == "BM25"
    assert dict(first.run) == dict(again.run) and set(first.run["1"]) == {"a", "b"} and first.run["2"] == {}
    np.testing.assert_array_equal(first.milliseconds, again.milliseconds)
    assert len(first.milliseconds) == 3 and (first.milliseconds > 0).all()


def test_times_are_those_of_a_second_pass_if_only_the_first_query_was_slow(index, monkeypatch):
    """Compiling kernels may take a minute of the first query. A run that is slow throughout is made once."""
    passes = []
    for slow in (lambda number: number == 0, lambda number: True):
        passes.append(0)
        real = systems.ranked_run

        def run_slowly(*args, real=real, slow=slow):
            *given, each, language = args
            number, passes[-1] = iter(range(9)), passes[-1] + 1
            first = passes[-1] == 1
            return real(
                *given,
                lambda a: each(a._replace(seconds=100.0 if first and slow(next(number)) else 0.001)),
                language,
            )

        monkeypatch.setattr(systems, "ranked_run", run_slowly)
        times = run(index, cache=False).milliseconds
        monkeypatch.setattr(systems, "ranked_run", real)
        assert times.tolist() == pytest.approx([1.0] * 3 if passes[-1] == 2 else [100_000.0] * 3)
    assert passes == [2, 1]


def test_a_change_of_expression_depth_topics_or_index_makes_a_new_run(index):
    run(index)
    assert not run(index, "BM25(k1=0.9)").cached
    assert not run(index, k=1).cached
    assert not run(index, topics=TOPICS[:2]).cached
    assert not run(index, topics=[("1", "crane"), *TOPICS[1:]]).cached
    assert run(index, "BM25(k1=1.2)").cached
    index.add([{"id": "d", "text": "crane crane"}])
    assert not run(index).cached and "d" in run(index).run["1"]


def test_damaged_runs_are_made_again(index):
    whole = dict(run(index).run)
    for path in sorted((index.path / derived.DERIVED).glob("run-*/*")):
        before = path.read_bytes()
        path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        found = run(index)
        assert dict(found.run) == whole and not found.cached
        assert run(index).cached


def test_a_run_is_made_without_the_cache_if_that_cannot_be_written(index, monkeypatch):
    (index.path / derived.DERIVED).write_text("in the way")
    assert not run(index).cached and not run(index).cached


def test_the_oldest_runs_are_removed(index, monkeypatch):
    monkeypatch.setattr(systems, "CACHED_RUNS", 2)
    for k in (1, 2, 3):
        run(index, k=k)
    assert len(list((index.path / derived.DERIVED).glob("run-*"))) == 2
    assert run(index, k=3).cached and not run(index, k=1).cached
    assert not run(index, k=7, cache=False).cached and not run(index, k=7).cached


def test_a_commit_removes_cached_runs(index):
    run(index)
    index.merge()
    assert not list((index.path / derived.DERIVED).glob("run-*"))
