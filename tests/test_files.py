"""Atomic replacement of files, and the ordered queue of calls in threads."""

from __future__ import annotations

import time

import pytest

from sublex.tools.files import hash_of, replace_file, replacing
from sublex.tools.workers import Workers


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "file"
    replace_file(path, b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_replacement_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    replace_file(path, b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"precious"
    assert not (tmp_path / "link").is_symlink()


def test_the_hash_of_a_file_depends_on_every_byte(tmp_path):
    (tmp_path / "one").write_bytes(bytes(200_000))
    (tmp_path / "two").write_bytes(bytes(199_999) + b"a")
    assert hash_of(tmp_path / "one") != hash_of(tmp_path / "two")


@pytest.mark.parametrize("number", [1, 3])
def test_results_come_in_the_order_of_submission(number):
    def slow_at_first(k: int) -> int:
        time.sleep(0.02 if k < 2 else 0)
        return k

    with Workers(number) as workers:
        queue, results = workers.queue(), []
        for k in range(20):
            queue.submit(slow_at_first, k)
            results += queue.ready()
            assert k + 1 - len(results) <= (0 if number == 1 else 2 * number)
        assert [*results, *queue.rest()] == list(range(20))
        assert list(workers.map(slow_at_first, range(9))) == list(range(9))


@pytest.mark.parametrize("number", [1, 2])
def test_an_error_in_a_thread_is_raised_where_its_result_is_taken(number):
    def fail(k: int) -> int:
        if k == 3:
            raise ValueError("three")
        return k

    results: list[int] = []
    with Workers(number) as workers, pytest.raises(ValueError, match="three"):
        results.extend(workers.map(fail, range(10)))
    assert results == [0, 1, 2]
    with Workers(number) as workers, pytest.raises(ValueError, match="three"), workers.in_background(lambda: fail(3)):
        pass
