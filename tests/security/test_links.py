"""Links, pipes and sockets in an index: no command follows one, waits for one, or changes a file outside the index."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from child import run
from command import invoke
from shared import DEMO, QRELS, TOPICS
from strategies import ALL, every

import sublex
from sublex.errors import IndexCorrupt
from sublex.index import check as checking
from sublex.index.directory import Directory

# Seconds after which a command counts as waiting for ever.
PATIENCE = 180
QUERY = "cranes by the river"
pytestmark = pytest.mark.usefixtures("plugins_loaded_once")
# Every command that opens or changes an index.
COMMANDS = [
    ("check", "INDEX"), ("info", "INDEX"), ("doc", "INDEX", "birds-02"), ("terms", "INDEX", "crane*"),
    ("search", "INDEX", QUERY), ("search", "INDEX", QUERY, "-r", "lsi(e=5)"), ("explain", "INDEX", QUERY, "birds-02"),
    ("run", "INDEX", str(TOPICS), "-o", "out.run"), ("compare", "INDEX", str(TOPICS), str(QRELS), "-r", "BM25", "-r", "PL2"),
    ("add", "INDEX", "more.jsonl"), ("delete", "INDEX", "birds-02"), ("merge", "INDEX"),
    ("join", "./joined", "INDEX", "--overwrite"),
    ("fit", "INDEX", "lsi(e=4)"), ("fit", "INDEX", "vectors(given, idf=false)"), ("card", "INDEX"),
    ("card", "INDEX", "lsi(e=5)"), ("forget", "INDEX", "lsi(e=5)"), ("encode", "INDEX", "lsi(e=5)", "-o", "out.npz"),
    ("resource", "list", "INDEX"), ("resource", "add", "INDEX", "given", "vectors.txt"),
    ("resource", "add", "INDEX", "other", "vectors.txt"), ("resource", "remove", "INDEX", "spare"),
    ("index", "INDEX", str(DEMO), "--overwrite"), ("index", "INDEX", str(DEMO), "--overwrite", "--resume"),
    ("index", "INDEX", str(DEMO), "--overwrite", "--impacts", "PL2"),
]  # fmt: skip


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an index with everything that an index may hold: tombstones, models, a resource, derived data, an unfinished build."""
    folder = tmp_path_factory.mktemp("full")
    (folder / "vectors.txt").write_text("crane 1 2\nriver 2 1\n")
    (folder / "more.jsonl").write_text('{"id": "new", "text": "a crane at night"}\n')
    index = sublex.build(DEMO, folder / "index")
    index.add_resource("given", folder / "vectors.txt")
    index.add_resource("spare", folder / "vectors.txt")
    index.fit("vectors(given)")
    index.fit("lsi(e=5)")
    index.add([sublex.Document(f"more-{k}", "a crane and a seal") for k in range(5)])
    index.delete(["more-1", "birds-01"])
    index.store_impacts(["BM25"])
    sublex.compare(index, TOPICS, QRELS, ["BM25", "PL2"])
    building = index.path / "building"
    shutil.copytree(index.path / "segments" / "000001", building / "spill-0000")
    (building / "journal.json").write_text('{"sources": [], "batches": 1, "docs": 1, "spills": [], "outcome": {}}')
    assert invoke("check", index.path).code == 0
    return folder


def paths(root: Path) -> list[str]:
    """Return every file and folder of an index, and places where there is none yet; of equal files in many folders, one."""
    found = {str(path.relative_to(root)): path for path in sorted(root.rglob("*"))}
    assert {"lock", "last-build.tsv", "derived/declared.json", "building/journal.json"} <= found.keys()
    kinds = {(path.parent.name[:4], path.name): name for name, path in sorted(found.items(), reverse=True)}
    return sorted([*kinds.values(), f"index.json.new-{os.getpid()}", "segments/000003", "representations/other"])


def in_place(root: Path, name: str, kind: str, outside: Path) -> None:
    """Put a link, a pipe or a socket in the place of an entry; a link leads to the entry itself, which is moved outside."""
    place, target = root / name, outside / "moved"
    if place.exists():
        place.rename(target)
    else:
        target.mkdir()
        (target / "inner").mkdir()
        (target / "inner" / "file").write_text("precious")
    if kind == "link":
        place.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        with socket.socket(socket.AF_UNIX) as made:
            # The address of a socket is a short text.
            os.chdir(place.parent)
            made.bind(place.name)


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def copied(full: Path, place: Path) -> None:
    """Copy the index and what is beside it. Sublex never writes into a file that is there, but for the lock, so others are shared."""

    def link(source: str, target: str) -> None:
        (shutil.copyfile if source.endswith("lock") else os.link)(source, target)

    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(full, place, copy_function=link)


def attempt(full: Path, place: Path, name: str, kind: str, words: tuple[str, ...]) -> None:
    """Run one command on an index with a link or a pipe in it; see that it ends well and leaves the files outside as they are."""
    copied(full, place)
    (place / "outside" / "photos").mkdir(parents=True)
    (place / "outside" / "photos" / "one").write_text("precious")
    in_place(place / "index", name, kind, place / "outside")
    before = contents(place / "outside")
    os.chdir(place)
    signal.alarm(PATIENCE)
    done = invoke(*(str(place / "index") if word == "INDEX" else word for word in words))
    signal.alarm(0)
    what = f"{' '.join(words)} with a {kind} as {name}"
    assert done.code in (0, 1, 2), f"{what}: exit code {done.code}"
    refusals = [line for line in done.messages.splitlines() if line.startswith("sublex: ")]
    assert done.code != 2 or refusals == done.messages.splitlines()[-1:], f"{what}: {done.messages}"
    assert contents(place / "outside") == before, f"{what} changed files outside"


def attempts(full: Path, place: Path, names: list[str], kind: str, part: int, parts: int) -> None:
    """Run commands on an index with a link, a pipe or a socket in these places, in a forked process.

    Of all pairs of a place and a command, every `parts`-th is tried, from number `part` on.
    """
    # All components are opened in one way, so each is tried by a third of the commands.
    pairs = [
        (name, words)
        for number, name in enumerate(names)
        for words in (COMMANDS[number % 3 :: 3] if name.endswith(".npy") else COMMANDS)
    ]

    def work() -> None:
        for name, words in pairs[part::parts]:
            (place.parent / "begun").write_text(f"{words} with a {kind} as {name}")
            attempt(full, place, name, kind, words)

    ended = run(work)
    begun = (place.parent / "begun").read_text()
    assert not ended.signal, f"{begun}: {ended.signal}"
    assert not ended.error, f"{begun}: {ended.error!r}"
    assert checking.check(full / "index") == [], "a file of the whole index was written"


ENDANGERED = ["derived", "building", "segments", "last-build.tsv", "derived/declared.json", "building/journal.json"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_no_command_follows_what_endangers_files(full, tmp_path, kind):
    names = ENDANGERED[:3] if kind == "link" else ENDANGERED[3:]
    attempts(full, tmp_path / "place", names, kind, 0, every(3))


# All pairs of a command and a path are in eight parts. With SUBLEX_TESTS=all, links are tried in all of them, pipes in a half, and sockets,
# which one check refuses together with pipes, in a quarter; elsewhere one test of each kind tries every 37th pair.
PARTS = 8
KINDS = {"link": range(PARTS), "pipe": range(0, PARTS, 2), "socket": range(1, PARTS, 4)}
TRIED = [(kind, part) for kind, parts in KINDS.items() for part in (parts if ALL else parts[:1])]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "part"), TRIED)
def test_no_command_follows_a_link_or_waits_for_a_pipe_at_any_path(full, tmp_path, kind, part):
    attempts(full, tmp_path / "place", paths(full / "index"), kind, part, PARTS if ALL else 37)


@pytest.mark.slow
def test_every_command_works_on_the_index_without_a_link(full, tmp_path):
    for words in COMMANDS:
        copied(full, tmp_path / "place")
        os.chdir(tmp_path / "place")
        done = invoke(*(str(tmp_path / "place" / "index") if word == "INDEX" else word for word in words))
        resumed = "--resume" in words
        assert done.code == (2 if resumed else 0), (words, done.messages)


def test_an_index_may_itself_be_reached_through_links(full, tmp_path):
    shutil.copytree(full / "index", tmp_path / "real" / "index")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "index").symlink_to(tmp_path / "link" / "index")
    index = sublex.open(tmp_path / "index")
    index.delete(["birds-02"])
    index.merge()
    assert checking.check(tmp_path / "index") == [] and "birds-02" not in sublex.open(tmp_path / "index")


# The folder itself.


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/etc", "a\0b", "a\\b"])
def test_a_name_that_leads_out_of_a_folder_is_refused(tmp_path, name):
    folder = Directory(tmp_path)
    work: list[Callable[[], object]] = [
        lambda: folder / name, lambda: folder.read(name), lambda: folder.replace(name, b""), lambda: folder.delete(name),
        lambda: folder.create(name), lambda: folder.has(name), lambda: folder.open_or_make(name),
    ]  # fmt: skip
    for act in work:
        with pytest.raises(IndexCorrupt, match="do not trust this index"):
            act()


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "socket", "file"])
def test_a_folder_is_entered_only_if_it_is_one(tmp_path, kind):
    (tmp_path / "outside").mkdir()
    place = tmp_path / "index" / "inner"
    place.parent.mkdir()
    if kind in ("link", "dangling"):
        place.symlink_to(tmp_path / ("outside" if kind == "link" else "nowhere"))
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        in_place(tmp_path / "index", "inner", "socket", tmp_path / "outside")
    else:
        place.write_text("a file")
    before = contents(tmp_path)
    inner = Directory(tmp_path / "index") / "inner"
    acts: list[Callable[[], object]] = [
        inner.make, (inner / "deep").make, inner.entries, inner.exists, lambda: inner.read("x"), (inner / "deep").make_new,
        lambda: inner.replace("x", b""), lambda: inner.create("x"), inner.sync, lambda: inner.has("x"),
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(
            IndexCorrupt, match="where an index has a folder of its own; remove it, or rebuild the index"
        ):
            act()
    inner.remove()
    (inner / "deep").remove()
    assert contents(tmp_path) == before


def test_a_tree_is_removed_and_its_links_are_not_followed(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "one").write_text("precious")
    inner = tmp_path / "index" / "inner"
    (inner / "deep" / "deeper").mkdir(parents=True)
    (inner / "link").symlink_to(tmp_path / "outside")
    (inner / "deep" / "file").symlink_to(tmp_path / "outside" / "one")
    os.mkfifo(inner / "deep" / "deeper" / "pipe")
    (Directory(tmp_path / "index") / "inner").remove()
    assert not inner.exists() and (tmp_path / "outside" / "one").read_text() == "precious"


def test_a_lock_with_a_second_name_is_not_written(tmp_path):
    (tmp_path / "mine").write_text("precious")
    index = sublex.build([sublex.Document("a", "crane"), sublex.Document("b", "seal")], tmp_path / "index")
    (index.path / "lock").unlink()
    (index.path / "lock").hardlink_to(tmp_path / "mine")
    index.delete(["a"])
    assert (tmp_path / "mine").read_text() == "precious"


@pytest.mark.slow
def test_a_nest_of_folders_ends_no_command(tmp_path):
    index = sublex.build([sublex.Document("a", "crane"), sublex.Document("b", "seal")], tmp_path / "index")
    here, handle = os.getcwd(), os.open(index.path, os.O_RDONLY)
    for name in ["building", *["n"] * 1500]:
        os.mkdir(name, dir_fd=handle)
        inner = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)
    os.chdir(here)
    try:
        index.delete(["a"])
        assert checking.check(index.path) == [] and index.nbytes()
    finally:
        # Python's own `rmtree`, by which pytest clears up, fails for so many levels.
        subprocess.run(["rm", "-rf", index.path], check=True)
