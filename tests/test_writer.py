"""Writers that fail, are killed, run at the same time or get bad input: the index is then the complete old or new one."""

from __future__ import annotations

import errno
import fcntl
import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from child import Child, Ended, at_change, kill_self, run
from command import invoke
from shared import SUBLEX
from strategies import every

import sublex
from sublex.analysis.interner import Interner
from sublex.building import writer
from sublex.building.build_settings import BuildSettings
from sublex.building.document_source import DocumentSource, source_of
from sublex.building.indexing import add_documents, build_index
from sublex.building.inverter import Inverter
from sublex.building.merge_policy import segments_to_merge
from sublex.building.writer import delete, merge_all
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.index import format as format_module
from sublex.index import lock
from sublex.index import manifest as manifests
from sublex.index.check import check
from sublex.index.entries import AnalyzerEntry, AnalyzerSettings
from sublex.language import plugins
from sublex.readers import batch

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")

OLD = [
    Document(
        f"d{k}", f"whale ship t{k} " + " ".join(f"w{k * j % 997}" for j in range(60)), "Title",
        {"year": k, "tags": [f"g{k % 7}", f"g{k % 3}"][: k % 4]},
    )
    for k in range(300)
]  # fmt: skip
NEW = [
    Document(f"d{k}", f"harpoon t{k}", f"Harpoon {k % 3}", {"year": 2 * k, "tags": f"h{k % 9}"})
    for k in range(290, 420)
]
DELETED = [f"d{k}" for k in range(0, 60, 7)]
GONE = [f"d{k}" for k in range(100, 160)]


class Change(NamedTuple):
    """A kind of change: the function to call, and the docnos that the index has before and after."""

    make: Callable[[Path], Any]
    before: frozenset[str]
    after: frozenset[str]


HELD = frozenset(document.docno for document in OLD) - {*DELETED}
ADDED = frozenset(document.docno for document in NEW)
# All parts that an index may store.
STORED, FIELDS = writer.STORED_PARTS, "title,tags"
COLUMNS = {"tags": "text", "year": "int"}
CHANGES = {
    "index": Change(
        lambda root: build_index(root, NEW, overwrite=True, workers=2, store=STORED, columns=COLUMNS, fields=FIELDS),
        HELD,
        ADDED,
    ),
    "add": Change(lambda root: add_documents(root, NEW, duplicates="last", workers=2), HELD, HELD | ADDED),
    "delete": Change(lambda root: delete(root, GONE), HELD, HELD - {*GONE}),
    "merge": Change(lambda root: merge_all(root, 2), HELD, HELD),
    "reorder": Change(lambda root: merge_all(root, 2, reorder=True), HELD, HELD),
}
# The real one, taken before the tests run: conftest.py puts a function that does nothing in its place.
FSYNC = os.fsync
change = pytest.mark.parametrize("what", CHANGES)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an index of two segments with deletions, so that every kind of change has something to do."""
    index = sublex.build(
        OLD[:200], tmp_path_factory.mktemp("whole") / "index", store=STORED, columns=COLUMNS, fields=FIELDS
    )
    index.add(OLD[200:])
    index.delete(DELETED)
    return index.path


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of the index for one test to change."""
    return Path(shutil.copytree(whole, tmp_path / "index"))


def described(made) -> AnalyzerEntry:
    """Return the manifest's entry for the analyzer of build settings."""
    return AnalyzerEntry(AnalyzerSettings(**made.analyzer.settings()), made.analyzer.versions())


def fresh(whole: Path, root: Path) -> None:
    """Replace the index at `root` by a copy of the original."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(whole, root)


def docnos(root: Path) -> frozenset[str]:
    """Check that an index is sound and return the docnos of its live documents."""
    index = sublex.open(root)
    assert check(root) == []
    assert all(segment.has_positions is ("positions" in index.store) for segment in index.snapshot.segments)
    found = [index.docno(doc) for doc in index.corpus.docs]
    if "year" in index.snapshot.columns:
        years = index.snapshot.column("year")
        for doc, docno in zip(index.corpus.docs.tolist(), found, strict=True):
            held = [d.fields["year"] for d in (*OLD, *NEW) if d.docno == docno]
            assert (years.rows(np.array([doc])).values.tolist() or [None])[0] in (held or [None]), docno
    assert len(found) == len(set(found)) == len(index)
    assert index.statistics.tokens == index.corpus.lengths.sum()
    return frozenset(found)


def is_whole(root: Path, made: Change, what: str) -> bool:
    """Return whether the index is the new one. Check that it is the old or the new one, is sound, and accepts changes."""
    found, segments = docnos(root), len(sublex.open(root).snapshot.segments)
    is_new = segments == 1 if made.before == made.after else found == made.after
    assert is_new or found == made.before, f"{what}: neither the old index nor the new one"
    assert is_new or segments == 2, what
    index = sublex.open(root)
    assert (index.store, dict(index.snapshot.columns)) == (frozenset(STORED), COLUMNS)
    assert index.fields == tuple(FIELDS.split(",")) and index.snapshot.field_lengths("tags").sum() > 100
    index.add([Document("another", "whale")])
    index.delete(["another"])
    assert docnos(root) == found, what
    assert_tidy(root)
    return is_new


def assert_tidy(root: Path) -> None:
    """Check that no files of interrupted writers or older generations are left."""
    manifest = manifests.read_manifest(root)
    left = {path.name for path in root.iterdir()}
    assert left <= {"index.json", "lock", "segments", "last-build.tsv"}
    assert {path.name for path in (root / "segments").iterdir()} == {entry.name for entry in manifest.segments}
    for entry in manifest.segments:
        folders = [path.name for path in (root / "segments" / entry.name).iterdir() if path.is_dir()]
        assert folders == ([entry.deleted.name] if entry.deleted else [])


# Killed and interrupted.


@pytest.mark.slow
@change
def test_a_writer_killed_at_random_moments_leaves_a_whole_index(whole, tmp_path, what):
    made, root = CHANGES[what], tmp_path / "index"

    def make() -> None:
        with mock.patch("os.fsync", FSYNC):
            made.make(root)

    fresh(whole, root)
    begin = time.monotonic()
    assert run(make).error is None
    duration = time.monotonic() - begin
    chance = random.Random(what)
    for k in range(13):
        fresh(whole, root)
        child = Child(make)
        time.sleep(duration * (k + chance.random()) / 13)
        child.send(signal.SIGKILL)
        child.wait()
        is_whole(root, made, f"{what} killed in part {k} of 13 of its time")


# Of the changes that a writer makes to the disk each of four tests takes every eighth, so that together they take half.
STEP = every(8)


def at_changes(
    whole: Path, root: Path, made: Change, act: Callable[[], None], first: int
) -> Iterator[tuple[int, Ended]]:
    """Run a writer once for every STEP-th of its changes to the disk, and each time call `act` just before that change."""
    for number in count(1 + first % STEP, STEP):
        fresh(whole, root)

        def work(number: int = number) -> bool:
            reached = []
            at_change(number, lambda: (reached.append(True), act()))
            try:
                made.make(root)
            except SublexError as error:
                return error
            return bool(reached)

        ended = run(work)
        yield number, ended
        if ended == Ended(answer=False):
            assert number > 5
            return


@pytest.mark.slow
@change
def test_a_writer_killed_before_any_change_to_the_disk_leaves_a_whole_index(whole, tmp_path, what):
    made, root, new = CHANGES[what], tmp_path / "index", []
    for number, ended in at_changes(whole, root, made, kill_self, 0):
        assert ended.signal == "SIGKILL" or ended.answer is False, ended
        new.append(is_whole(root, made, f"{what} killed before its change {number}"))
    assert new == sorted(new), "a later kill left an older index"
    assert not new[0]
    assert new[-1]


@pytest.mark.slow
@change
def test_a_writer_interrupted_before_any_change_to_the_disk_leaves_a_whole_index(whole, tmp_path, what):
    made, root = CHANGES[what], tmp_path / "index"
    for number, ended in at_changes(whole, root, made, partial(kill_self, signal.SIGINT), 1):
        assert isinstance(ended.error, KeyboardInterrupt) or ended.answer is not None, ended
        assert not (root / "building").exists(), f"{what} interrupted before its change {number}"
        is_whole(root, made, f"{what} interrupted before its change {number}")


FAILURES = {
    "a full disk": (
        OSError(errno.ENOSPC, "No space left on device"),
        "The disk is full; .* is as it was before. Make room",
    ),
    "no permission": (
        PermissionError(errno.EACCES, "Permission denied"),
        "Cannot write .*: Permission denied; the index is as it was",
    ),
}


@pytest.mark.slow
@change
@pytest.mark.parametrize("failure", FAILURES)
def test_a_change_to_the_disk_that_fails_is_told_in_one_sentence_and_leaves_the_old_index(
    whole, tmp_path, what, failure
):
    made, root = CHANGES[what], tmp_path / "index"
    error, sentence = FAILURES[failure]

    def fail() -> None:
        raise error

    told = 0
    for number, ended in at_changes(whole, root, made, fail, 2 + (failure == "no permission")):
        where = f"{what} failing in its change {number}"
        assert ended.error is None, f"{where}: {ended.error!r}"
        failed = isinstance(ended.answer, SublexError)
        if failed:
            told += 1
            assert_one_sentence(ended.answer, sentence)
        is_new = is_whole(root, made, where)
        assert is_new != failed, f"{where}: it said {ended.answer}"
    assert told > 5 // STEP


def assert_one_sentence(error: SublexError, sentence: str) -> None:
    """Check that the message of an error is one line that matches `sentence`."""
    with pytest.raises(SublexError, match=sentence):
        raise error
    assert "\n" not in str(error)


@pytest.mark.slow
@change
def test_a_disk_that_fills_while_a_component_is_written_leaves_the_old_index(whole, tmp_path, monkeypatch, what):
    made, root = CHANGES[what], tmp_path / "index"
    write = format_module._write_all
    for number in count(0, STEP):
        left = number

        def full(file: Any, data: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            write(file, data)

        fresh(whole, root)
        monkeypatch.setattr(format_module, "_write_all", full)
        try:
            made.make(root)
            break
        except IndexProblem as error:
            assert_one_sentence(error, "The disk is full; .* is as it was before")
        finally:
            monkeypatch.setattr(format_module, "_write_all", write)
        is_new = is_whole(root, made, f"{what} with room for {number} pieces")
        assert not is_new, f"{what} with room for {number} pieces said that it failed"
    is_new = is_whole(root, made, what)
    assert is_new
    assert number > 5


@pytest.mark.parametrize("limit", [1, 100, 500, 3_000, 20_000])
def test_a_limit_on_the_size_of_files_is_told_and_leaves_the_old_index(copy, limit):
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        build_index(copy, OLD, overwrite=True)

    ended = run(limited)
    assert_one_sentence(ended.error, "Cannot write .*: File too large; the index is as it was before")
    assert docnos(copy) == HELD


@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_a_folder_where_nothing_may_be_written_is_told(whole, mode, monkeypatch):
    """The test runs as an ordinary user; a superuser gives up its rights first."""
    # That user may have no right to read the folder where Sublex is installed, so the plugins are loaded before.
    registry = plugins.load()
    analyzer = registry.make("analyzer", "english")
    assert analyzer.terms("whales") == ["whale"] and analyzer.versions()
    monkeypatch.setattr(plugins, "load", lambda: registry)
    with tempfile.TemporaryDirectory(prefix="sublex-test-") as place:
        parent, root = Path(place), Path(place) / "there" / "index"
        shutil.copytree(whole, root)
        (parent / "there").chmod(mode)
        root.chmod(mode)
        parent.chmod(0o755)

        def as_nobody(make: Callable[[Path], Any], where: Path) -> Any:
            if os.geteuid() == 0:
                os.setuid(65534)
            return make(where)

        for made in CHANGES.values():
            for where in (root, parent / "there" / "new"):
                error = run(partial(as_nobody, made.make, where)).error
                assert_one_sentence(
                    error, "Permission denied" if where == root or made is CHANGES["index"] else "Permission|No index"
                )
        (parent / "there").chmod(0o755)
        root.chmod(0o755)
        assert docnos(root) == HELD


# One writer at a time.


class Busy(NamedTuple):
    """A child process that builds an index and waits for more documents until `go_on` is called."""

    child: Child
    more: int

    def go_on(self) -> Ended:
        os.close(self.more)
        return self.child.wait()


def busy(root: Path, **options: Any) -> Busy:
    """Start to build in another process, and return once it has the lock."""
    started, start = os.pipe()
    wait, more = os.pipe()

    def slow() -> Iterator[Document]:
        yield Document("slow", "whale")
        os.write(start, b"x")
        os.close(more)
        os.read(wait, 1)
        yield Document("slower", "ship")

    child = Child(lambda: build_index(root, slow(), **options) and None)
    os.close(wait)
    os.close(start)
    assert os.read(started, 1) == b"x"
    os.close(started)
    return Busy(child, more)


@change
def test_a_second_writer_is_refused_and_told_who_is_writing(copy, what):
    made = CHANGES[what]
    other = busy(copy, overwrite=True)
    with pytest.raises(IndexProblem, match=rf"is being written by sublex index, process {other.child.pid}; wait until"):
        made.make(copy)
    assert docnos(copy) == HELD
    assert other.go_on() == Ended()
    assert docnos(copy) == {"slow", "slower"}
    sublex.open(copy).delete("slow")


def test_the_lock_of_a_killed_writer_is_free(tmp_path):
    other = busy(tmp_path / "index")
    other.child.send(signal.SIGKILL)
    assert other.go_on().signal == "SIGKILL"
    with pytest.raises(IndexProblem, match="its build was interrupted"):
        sublex.open(tmp_path / "index")
    assert len(sublex.build(OLD, tmp_path / "index")) == len(OLD)


def test_a_lock_that_its_holder_has_removed_locks_nothing(tmp_path, monkeypatch):
    root, flock, calls = tmp_path / "index", fcntl.flock, count()

    def slow(file: Any, how: int) -> None:
        """Before the first writer gets the lock, another one takes it, fails, and clears up."""
        if not next(calls):
            with pytest.raises(InputError), lock.locked(root, "index", create=True):
                raise InputError("nothing to index")
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", slow)
    with (
        lock.locked(root, "index", create=True),
        pytest.raises(IndexProblem, match="is being written by"),
        lock.locked(root, "index", create=True),
    ):
        pass


def test_an_index_can_be_read_while_it_is_replaced(copy):
    other = busy(copy, overwrite=True)
    reader = sublex.open(copy)
    assert docnos(copy) == HELD
    other.go_on()
    assert reader.term("whale").df == len(HELD)
    assert sublex.open(copy).term("whale").df == 1


@pytest.mark.slow
def test_two_writers_that_take_turns_lose_nothing(tmp_path):
    sublex.build([Document("first", "whale")], tmp_path / "index")

    def add(name: str) -> int:
        refused = 0
        for k in range(8):
            while True:
                try:
                    add_documents(tmp_path / "index", [Document(f"{name}{k}", "ship")])
                    break
                except IndexProblem:
                    refused += 1
        return refused

    children = [Child(partial(add, name)) for name in ("a", "b", "c")]
    assert [child.wait().error for child in children] == [None] * 3
    assert docnos(tmp_path / "index") == {"first"} | {f"{name}{k}" for name in "abc" for k in range(8)}


# Overwriting.


def test_an_existing_index_is_not_replaced_without_the_flag(copy):
    before = (copy / "index.json").read_bytes()
    with pytest.raises(
        IndexProblem,
        match=r"is already an index; replace it by --overwrite \(in Python overwrite=True\), or add documents to it: sublex add ",
    ):
        sublex.build(NEW, copy)
    assert (copy / "index.json").read_bytes() == before
    assert docnos(copy) == HELD


def test_with_the_flag_it_is_replaced_whole(copy):
    generation = sublex.open(copy).generation
    index = sublex.build(NEW, copy, overwrite=True, analyzer="plain", store="none")
    assert docnos(copy) == ADDED
    assert index.generation == generation + 1
    assert str(index.analyzer) == "plain"
    assert_tidy(copy)


def broken(given: list[Document]) -> Iterator[Document]:
    """Yield documents, then raise an error."""
    yield from given
    raise RuntimeError("the source broke")


def test_an_error_of_the_source_leaves_the_old_index(copy):
    for make in (
        lambda: sublex.build(broken(NEW), copy, overwrite=True),
        lambda: sublex.open(copy).add(broken(NEW), duplicates="last"),
    ):
        with pytest.raises(RuntimeError, match="the source broke"):
            make()
        assert docnos(copy) == HELD
        assert_tidy(copy)


def test_a_folder_with_other_files_is_not_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    for make in CHANGES.values():
        with pytest.raises(IndexProblem):
            make.make(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@change
def test_an_index_that_was_copied_without_its_lock_can_be_written_to(copy, what):
    (copy / "lock").unlink()
    CHANGES[what].make(copy)
    assert docnos(copy) == CHANGES[what].after


def test_a_file_is_not_replaced_by_an_index(tmp_path):
    (tmp_path / "file").write_text("mine")
    for make in CHANGES.values():
        for place in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(IndexProblem):
                make.make(place)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("what", ["add", "delete", "merge"])
def test_an_index_that_is_not_there_is_not_made_by_changing_it(tmp_path, what):
    with pytest.raises(IndexProblem, match="No index at .*; make one by: sublex index .*absent"):
        CHANGES[what].make(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


# Resuming an interrupted build.


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a file of documents that is read in about a dozen batches."""
    monkeypatch.setattr(batch, "BATCH_BYTES", 8_000)
    lines = [json.dumps({"id": d.docno, "title": d.title, "text": d.text, **d.fields}) for d in [*OLD, *OLD[:20]]]
    lines[77] = '{"id": "broken"'
    lines[200] = '{"id": "odd", "text": "odd", "x": [1, 2]}'
    (tmp_path / "source.jsonl").write_text("\n".join(lines))
    return tmp_path / "source.jsonl"


def resumable(
    root: Path,
    source: Path | str,
    analyzer: str = "english",
    store: tuple[str, ...] = writer.STORED_PARTS,
    columns: Mapping[str, str] = COLUMNS,
    **options: Any,
) -> Any:
    """Build from a file with one byte of memory, so the build spills as often as possible."""
    registry = plugins.load()
    made = BuildSettings(registry.make("analyzer", analyzer), frozenset(store), 2, 1, "first", columns)
    given = source_of(str(source), registry, None, False)
    return writer.create(root, given, made, described(made), "sublex", lambda docs: None, **options)


def contents(root: Path) -> dict[str, bytes]:
    """Return the bytes of every file of an index, except the lock."""
    return {
        str(f.relative_to(root)): f.read_bytes() for f in sorted(root.rglob("*")) if f.is_file() and f.name != "lock"
    }


def interrupt(root: Path, source: Path, number: int, how: signal.Signals = signal.SIGKILL, **options: Any) -> Ended:
    """Build in a child process that gets a signal before its n-th change to the disk."""

    def work() -> None:
        at_change(number, partial(kill_self, how))
        resumable(root, source, **options)

    return run(work)


@pytest.mark.slow
def test_a_resumed_build_gives_the_bytes_of_one_that_was_not_interrupted(tmp_path, source):
    outcome = resumable(tmp_path / "expected", source)
    expected = contents(tmp_path / "expected")
    number, spilled = 1, set()
    while True:
        root = tmp_path / str(number)
        ended = interrupt(root, source, number)
        spilled.add(len(list(root.glob("building/spill-*"))))
        if ended.signal and (root / "index.json").exists():
            assert len(sublex.open(root)) == outcome.indexed, f"killed before change {number}"
        elif ended.signal:
            resumed = resumable(root, source, resume=True)
            assert contents(root) == expected, f"killed before change {number}"
            assert resumed.rows() == outcome.rows(), f"killed before change {number}"
            assert_tidy(root)
        shutil.rmtree(root)
        if not ended.signal:
            break
        number += 5 * STEP if number > 60 else STEP
    assert spilled >= {1, 2, 3, 4}


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_build_can_be_interrupted_and_resumed_many_times(tmp_path, source, how):
    resumable(tmp_path / "expected", source)
    root, spills = tmp_path / "index", []
    for _ in range(100):
        ended = interrupt(root, source, 100, how, resume=True)
        if (root / "index.json").exists():
            break
        spills.append(len(list(root.glob("building/spill-*"))))
    sublex.open(root).merge()
    assert sublex.open(root).fingerprint == sublex.open(tmp_path / "expected").fingerprint
    assert spills, "nothing was interrupted"
    assert spills == sorted(spills)


def interrupted(root: Path, source: Path, **options: Any) -> None:
    """Leave an interrupted build that has spilled at least once."""
    for number in range(40, 400, 10):
        assert interrupt(root, source, number, **options).signal
        if (root / "building" / "journal.json").exists():
            return
    raise AssertionError("no interruption left a journal")


def test_without_resume_an_interrupted_build_starts_again(tmp_path, source):
    interrupted(tmp_path / "index", source)
    resumable(tmp_path / "index", source)
    resumable(tmp_path / "expected", source)
    assert contents(tmp_path / "index") == contents(tmp_path / "expected")
    assert_tidy(tmp_path / "index")


def test_a_resumed_build_counts_the_values_that_were_read_before_it_was_interrupted(tmp_path, source):
    source.write_text(source.read_text() + '\n{"id": "late", "text": "whale", "year": "n.d."}')
    root, sentence = (
        tmp_path / "index",
        "Of 299 values of the column year:int, 298 are whole numbers, the first 0 in document d0, and 1 ",
    )
    interrupted(root, source)
    for again in (True, True, False):
        with pytest.raises(InputError, match=sentence):
            resumable(root, source, resume=again)
        assert not (root / "index.json").exists()


def test_resume_refuses_changed_sources_and_settings_and_keeps_what_there_is(tmp_path, source):
    root = tmp_path / "index"
    interrupted(root, source)
    text = source.read_text()
    status = source.stat()
    (tmp_path / "other.jsonl").write_text(text)
    source.write_text(text + " ")
    wrong = [
        lambda: resumable(root, source, resume=True),
        lambda: resumable(root, tmp_path / "other.jsonl", resume=True),
        lambda: (source.write_text(text), resumable(root, source, resume=True)),
        lambda: (
            os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns)),
            resumable(root, source, "plain", resume=True),
        ),
        lambda: resumable(root, source, store=("text",), resume=True),
        lambda: resumable(root, source, columns={"year": "int"}, resume=True),
        lambda: resumable(root, source, columns={**COLUMNS, "year": "float"}, resume=True),
        lambda: resumable(root, source, columns={}, resume=True),
    ]
    for k, again in enumerate(wrong):
        with pytest.raises(InputError, match="changed since the build was interrupted: start again without resume"):
            again()
        assert (root / "building" / "journal.json").exists(), k
    resumable(root, source, resume=True)
    resumable(tmp_path / "expected", source)
    assert contents(root) == contents(tmp_path / "expected")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"sources": 1, "batches": 2, "docs": 3, "spills": [], "outcome": 5}']
)
def test_resume_refuses_a_damaged_journal_in_one_sentence(tmp_path, source, text):
    interrupted(tmp_path / "index", source)
    (tmp_path / "index" / "building" / "journal.json").write_text(text)
    with pytest.raises(IndexCorrupt, match=r"journal.json is damaged: start again without resume\.$"):
        resumable(tmp_path / "index", source, resume=True)
    resumable(tmp_path / "index", source)


def test_a_journal_is_on_the_disk_before_it_replaces_the_last_one(tmp_path, source, monkeypatch):
    synced: set[int] = set()
    fsync, rename = os.fsync, Path.rename
    monkeypatch.setattr(os, "fsync", lambda number: (synced.add(os.fstat(number).st_ino), fsync(number)))

    def checked(self: Path, target: Path) -> Path:
        assert self.stat().st_ino in synced, self
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", checked)
    resumable(tmp_path / "index", source)


def test_an_addition_that_spills_may_contain_a_docno_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "BATCH_BYTES", 8_000)
    index = sublex.build([Document("before", "whale")], tmp_path / "index")
    settings = BuildSettings(index.analyzer, index.store, 1, 1, "last")
    spills: set[str] = set()
    look = lambda docs: spills.update(f.name for f in tmp_path.glob("index/building/spill-*"))  # noqa: E731
    summary = writer.add(index.path, DocumentSource(documents=[*OLD, *OLD[:20]]), lambda manifest: settings, look)
    assert len(spills) > 2
    assert (summary.read, summary.indexed) == (len(OLD) + 20, len(OLD))
    assert docnos(index.path) == {"before"} | {document.docno for document in OLD}


def test_a_merge_of_many_spills_needs_few_open_files(tmp_path, source):
    def limited() -> tuple[int, int, int]:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Other tests of this process may have left files open.
        few = max(map(int, os.listdir("/dev/fd"))) + 54
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, most))
        resumable(tmp_path / "soft", source)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))
        resumable(tmp_path / "hard", source)
        return few, soft, hard

    ended = run(limited)
    assert ended.error is None
    few, soft, hard = ended.answer
    assert few < soft == hard


def test_a_table_of_docnos_beyond_the_memory_does_not_make_every_batch_a_spill(tmp_path, source, monkeypatch):
    monkeypatch.setattr(Interner, "nbytes", property(lambda table: 1 << 20 if table.size > 100 else 0))
    monkeypatch.setattr(Inverter, "nbytes", property(lambda inverter: 100_000 * len(inverter._uniques)))
    spills: set[str] = set()
    registry = plugins.load()
    made = BuildSettings(registry.make("analyzer", "english"), frozenset(), 1, 1 << 20, "first")
    look = lambda docs: spills.update(f.name for f in tmp_path.glob("index/building/spill-*"))  # noqa: E731
    given = source_of(str(source), registry, None, False)
    writer.create(tmp_path / "index", given, made, described(made), "sublex", look)
    assert 1 < len(spills) < 8


def test_resume_refuses_what_cannot_be_read_twice(tmp_path, source):
    interrupted(tmp_path / "index", source)
    for given in ("-", [Document("a", "whale")]):
        with pytest.raises(
            InputError, match="cannot be read again, so the build cannot resume; start again without resume"
        ):
            sublex.build(given, tmp_path / "index", reader="jsonl" if given == "-" else None, resume=True)
    assert (tmp_path / "index" / "building" / "journal.json").exists()


def test_resume_without_anything_to_resume_is_a_build(tmp_path, source):
    resumable(tmp_path / "index", source, resume=True)
    resumable(tmp_path / "expected", source)
    assert contents(tmp_path / "index") == contents(tmp_path / "expected")


def test_a_replacement_is_resumed_while_the_old_index_stays(copy, source, tmp_path):
    interrupted(copy, source, overwrite=True)
    assert docnos(copy) == HELD
    resumable(copy, source, resume=True, overwrite=True)
    assert docnos(copy) == {document.docno for document in OLD if document.docno not in ("d77", "d200")} | {"odd"}
    assert_tidy(copy)


def test_another_writer_gives_up_what_was_interrupted(copy, source):
    assert interrupt(copy, source, 200, overwrite=True).signal
    delete(copy, GONE[:1])
    assert_tidy(copy)


# Bad input: one clear sentence, and the index as it was.


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


LINES = b"".join(json.dumps({"id": d.docno, "text": d.text}).encode() + b"\n" for d in OLD)
BAD = {
    "a missing file": (lambda p: p / "absent.jsonl", "No file or folder .*absent.jsonl"),
    "an empty file": (lambda p: write(p / "a.jsonl", b""), "a.jsonl is empty"),
    "an empty folder": (
        lambda p: (p / "empty").mkdir() or p / "empty",
        "empty holds no file whose format a reader knows",
    ),
    "no documents": (lambda p: [], "There is no document to index"),
    "malformed lines only": (
        lambda p: write(p / "a.jsonl", b"{\n{\n"),
        r"There is no document to index; the first of 2 malformed records is .*a.jsonl:1: not JSON",
    ),
    "an unknown format": (
        lambda p: write(p / "a.bin", bytes(range(256)) * 40),
        "No reader knows the format of .*a.bin",
    ),
    "a truncated gzip": (lambda p: write(p / "a.jsonl.gz", gzip.compress(LINES)[:-2000]), "a.jsonl.gz is cut short"),
    "a damaged gzip": (
        lambda p: write(p / "a.jsonl.gz", spoilt(gzip.compress(LINES))),
        "a.jsonl.gz (cannot be decompressed|is cut short)",
    ),
    "a broken line, strictly": (
        lambda p: write(p / "a.jsonl", LINES + b"{"),
        "a.jsonl:301: not JSON.*--strict stops here",
    ),
    "NUL bytes only": (lambda p: write(p / "a.jsonl", bytes(10_000)), "No reader knows the format of .*a.jsonl"),
    "a good file and a missing one": (
        lambda p: [write(p / "a.jsonl", LINES), p / "b.jsonl"],
        "No file or folder .*b.jsonl",
    ),
    "a folder as a reader's file": (
        lambda p: (p / "f").mkdir() or write(p / "f" / "x.bin", b"\x00\x01") and p / "f",
        "f holds no file",
    ),
}


def spoilt(data: bytes) -> bytes:
    """Return the data with 50 bytes in the middle changed."""
    middle = len(data) // 2
    return data[:middle] + bytes(byte ^ 0x55 for byte in data[middle : middle + 50]) + data[middle + 50 :]


@pytest.mark.slow
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("how", ["index", "overwrite", "add"])
def test_bad_input_gets_one_sentence_and_changes_nothing(whole, tmp_path, bad, how):
    give, sentence = BAD[bad]
    root, given = tmp_path / "index", give(tmp_path)
    before = {}
    if how != "index":
        fresh(whole, root)
        before = contents(root)
    with pytest.raises(InputError) as error:
        if how == "add":
            sublex.open(root).add(given, duplicates="last", strict="strictly" in bad)
        else:
            sublex.build(given, root, overwrite=how == "overwrite", strict="strictly" in bad)
    assert_one_sentence(error.value, sentence)
    if before:
        assert contents(root) == before
    else:
        assert not root.exists() or {path.name for path in root.iterdir()} == {"lock"}
        assert len(sublex.build(OLD, root)) == len(OLD)


def test_nul_bytes_in_texts_are_kept_and_part_words(tmp_path):
    source = write(
        tmp_path / "a.jsonl",
        b'{"id": "a", "text": "whale\\u0000ship"}\n\x00\x00\n{"id": "b\x00"}\n{"id": "b", "text": "sea"}\n',
    )
    index = sublex.build(source, tmp_path / "index")
    assert index.document("a").text == "whale\0ship"
    assert [term.term for term in index.terms()] == ["sea", "ship", "whale"]
    listed = (tmp_path / "index" / "last-build.tsv").read_text().splitlines()
    assert [line.split(":")[1] for line in listed] == ["2", "3"]


@pytest.mark.slow
def test_a_line_of_50_megabytes_is_one_document(tmp_path):
    text = "whale ship harpoon sea " * (50_000_000 // 23)
    source = write(
        tmp_path / "a.jsonl",
        b'{"id": "small", "text": "x"}\n{"id": "huge", "text": "'
        + text.encode()
        + b'"}\n{"id": "last", "text": "sea"}\n',
    )
    index = sublex.build(source, tmp_path / "index", memory="16MB")
    assert len(index) == 3
    assert index.term("whale")[1:3] == (1, 50_000_000 // 23)
    assert index.document("huge").text == text
    assert check(index.path) == []


@pytest.mark.slow
def test_a_malformed_line_of_50_megabytes_is_reported_briefly(tmp_path):
    source = write(
        tmp_path / "a.jsonl",
        b'{"id": "a", "text": "x"}\n{"id": "huge", "text": "' + b"whale " * 8_000_000 + b'\n{"id": "b", "text": "y"}\n',
    )
    index = sublex.build(source, tmp_path / "index")
    assert docnos(index.path) == {"a", "b"}
    listed = (tmp_path / "index" / "last-build.tsv").read_text()
    assert "a.jsonl:2: not JSON" in listed
    assert len(listed) < 1000


@pytest.mark.slow
def test_a_document_of_a_million_words_is_indexed(tmp_path):
    text = " ".join(f"w{k}" for k in range(1_000_000))
    index = sublex.build(
        [Document("a", "w1 w2"), Document("long", text), Document("b", "w1")], tmp_path / "index", memory="16MB"
    )
    assert index.statistics == (3, 1_000_003, 1_000_003)
    assert index.term("w1").df == 3
    assert index.term("w999999").df == 1
    assert index.document("long").text == text
    index.delete("long")
    index.merge()
    assert [term.term for term in index.terms()] == ["w1", "w2"]


def test_ten_thousand_empty_documents_are_indexed_and_a_warning_says_so(tmp_path):
    given = [Document(f"d{k}", "" if k % 2 else " \n", "") for k in range(10_000)]
    outcome = build_index(tmp_path / "index", given)
    assert dict((what, number) for what, number, _ in outcome.rows())["empty (indexed, but no terms)"] == 10_000
    assert any("100% of the documents give no terms" in remark for remark in outcome.remarks())
    index = sublex.open(tmp_path / "index")
    assert index.statistics == (10_000, 0, 0)
    assert list(index.terms()) == []
    assert index.document("d1").text == ""
    assert index.corpus.matrix().shape == (10_000, 0)
    assert check(index.path) == []
    index.add([Document("full", "whale")])
    index.delete(["d1"])
    index.merge()
    assert index.statistics == (10_000, 1, 1)


def test_too_little_memory_and_sizes_that_are_none_are_refused(tmp_path):
    for memory, sentence in (
        ("1MB", "1MB of memory is too little; give at least 16MB"),
        ("lots", "lots is not a size"),
        ("9" * 300 + "GB", "99GB is not a size"),
    ):
        with pytest.raises(InputError, match=sentence):
            sublex.build(OLD, tmp_path / "index", memory=memory)
    assert not (tmp_path / "index").exists()


# The command line says it in one line, and ends with 2 (or 130).


def test_the_command_line_ends_with_2_and_one_line(copy, tmp_path):
    bad = write(tmp_path / "a.jsonl.gz", gzip.compress(LINES)[:-1000])
    for arguments, sentence in (
        (("index", copy, bad, "--overwrite"), "is cut short"),
        (("index", copy, tmp_path), "is already an index; replace it by --overwrite"),
        (("add", copy, bad), "is cut short"),
        (("delete", copy, "d1", "absent"), "No document absent in the index, so nothing was deleted"),
        (("merge", tmp_path / "absent"), "No index at"),
    ):
        done = invoke(*arguments)
        assert done.code == 2, arguments
        assert sentence in done.messages
        lines = [
            line for line in done.messages.splitlines() if not line.startswith(("Reading ", "Compiling ", "Compiled "))
        ]
        assert len(lines) == 1, done.messages
        assert lines[0].startswith("sublex: ")
    assert docnos(copy) == HELD


@pytest.mark.slow
def test_ctrl_c_on_the_command_line_says_that_the_index_is_as_before(copy):
    process = subprocess.Popen(
        [*SUBLEX, "index", str(copy), "-", "--reader", "jsonl", "--overwrite"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(LINES.decode() * 5)
    process.stdin.flush()
    while not (copy / "building").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "sublex: interrupted; the index is as it was before."
    assert "Traceback" not in said
    assert docnos(copy) == HELD
    assert not (copy / "building").exists()


@pytest.mark.slow
def test_many_small_additions_leave_few_segments_in_the_order_of_their_documents(tmp_path):
    index = sublex.build([Document("first", "whale")], tmp_path / "index")
    for number in range(70):
        index.add([Document(f"d{number}", f"whale {number}")], workers=1)
    assert len(index.snapshot.segments) <= 16
    assert [index.docno(doc) for doc in index.postings("whale").docs] == ["first", *(f"d{n}" for n in range(70))]
    assert check(index.path) == []


def test_an_addition_is_kept_though_a_segment_it_would_be_merged_with_is_damaged(tmp_path):
    index = sublex.build([Document("d0", "whale")], tmp_path / "index")
    for number in range(1, 7):
        index.add([Document(f"d{number}", "whale")], workers=1)
    file = tmp_path / "index" / "segments" / "000001" / "texts.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    index.add([Document("d7", "whale")], workers=1)
    assert index.term("whale").df == 8
    assert len(index.snapshot.segments) == 8


@pytest.mark.parametrize(
    ("sizes", "last"),
    [([], 1), ([5], 1), ([1] * 7, 1), ([1] * 8, 8), ([8] + [1] * 7, 1), ([8] * 7 + [1] * 8, 15), ([9999] + [1] * 8, 8)],
)
def test_segments_are_merged_when_eight_of_a_size_have_come_together(sizes, last):
    assert segments_to_merge(sizes) == last


def test_an_unknown_profile_is_refused_beside_an_analyzer(tmp_path):
    with pytest.raises(SublexError, match="No profile nowhere"):
        sublex.build([{"id": "a", "text": "crane"}], tmp_path / "index", analyzer="plain", profile="nowhere")
    assert not (tmp_path / "index").exists()


def test_an_index_is_no_collection(tmp_path):
    sublex.build([{"id": "a", "text": "crane"}], tmp_path / "first")
    with pytest.raises(InputError, match="first is an index of Sublex and no collection; name the files"):
        sublex.build(tmp_path / "first", tmp_path / "second")
    for path in ("a\0b", "x" * 5000):
        with pytest.raises(InputError, match="No file or folder"):
            sublex.build(path, tmp_path / "second")
    assert not (tmp_path / "second").exists()
