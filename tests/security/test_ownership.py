"""What is not Sublex's is not touched: folders that are no index, files that somebody else wrote or changed, links."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from shared import manifest_of, write_manifest

import sublex as engine
from sublex.contracts.base import Document
from sublex.errors import IndexProblem, InputError

DOCUMENTS = [Document("a", "a crane by the river"), Document("b", "the river bank"), Document("c", "ships in the harbour")]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files below a folder, and an entry for each folder."""
    found = {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
    return {name: data for name, data in found.items() if name not in ("lock",)}


@pytest.fixture
def site(tmp_path):
    """Return a folder of a user with files of the names that an index has."""
    site = tmp_path / "site"
    for name in ("segments/photos", "segments/000001", "building/plans", "representations/art", "resources/pens", "derived/x"):
        (site / name).mkdir(parents=True)
        (site / name / "mine.txt").write_text("mine")
    return site


MANIFESTS = {
    "a lock": ("lock", ""),
    "a lock of another program": ("lock", "host 123"),
    "a page of a web site": ("index.json", '{"title": "My site", "format": 1}'),
    "no JSON": ("index.json", "hello"),
    "an empty file": ("index.json", ""),
    "a list": ("index.json", "[1]"),
    "a checksum that is wrong": ("index.json", '{"format": 1, "checksum": "0123456789abcdef0123456789abcdef"}'),
    "deep": ("index.json", "[" * 100_000),
}  # fmt: skip


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("kind", MANIFESTS)
def test_a_folder_that_is_no_index_is_not_touched(site, kind, overwrite):
    name, text = MANIFESTS[kind]
    (site / name).write_text(text)
    before = contents(site)
    with pytest.raises(IndexProblem) as error:
        engine.build(DOCUMENTS, site, overwrite=overwrite)
    assert "\n" not in str(error.value) and contents(site) == before and (site / name).read_text() == text


def test_every_command_that_makes_an_index_leaves_such_a_folder(site, sublex):
    (site / "index.json").write_text('{"title": "My site"}')
    engine.build(DOCUMENTS, "made")
    engine.open("made").to_ciff("made.ciff")
    Path("d.jsonl").write_text('{"id": "a", "text": "x"}\n')
    before = contents(site)
    for command in (
        ("index", str(site), "d.jsonl", "--overwrite"),
        ("index", str(site), "d.jsonl", "--overwrite", "--resume"),
        ("index", str(site), "d.jsonl", "--resume"),
        ("ciff", "import", str(site), "made.ciff", "--overwrite"),
        ("add", str(site), "d.jsonl"),
        ("merge", str(site)),
        ("delete", str(site), "a"),
        ("fit", str(site), "lsi(e=2)"),
        ("forget", str(site), "lsi(e=2)"),
        ("resource", "add", str(site), "x", "d.jsonl"),
    ):
        code, _, messages = sublex(*command)
        assert code == 2 and messages.count("sublex: ") == 1, (command, messages)
        assert contents(site) == before, command


@pytest.mark.parametrize("how", ["add", "build", "merge"])
def test_folders_that_sublex_did_not_name_stay_in_an_index(tmp_path, how):
    path = tmp_path / "papers"
    index = engine.build(DOCUMENTS, path)
    index.fit("lsi(e=2)")
    names = ("segments/photos", "representations/art", "segments/000001/notes", "derived/old", "my.new-year")
    for name in names:
        (path / name).mkdir(parents=True)
        (path / name / "mine.txt").write_text("mine")
    (path / "party.new-year").write_text("mine")
    {
        "add": lambda: index.add([Document("d", "a fourth one")]),
        "merge": lambda: (index.delete(["a"]), index.merge()),
        "build": lambda: engine.build(DOCUMENTS, path, overwrite=True),
    }[how]()
    gone = {"merge": {names[2]}, "build": {names[2]}}.get(how, set())
    assert {name for name in names if not (path / name / "mine.txt").exists()} == gone
    assert (path / "party.new-year").exists()


def test_an_index_and_what_a_killed_build_left_are_replaced(tmp_path):
    path = tmp_path / "papers"
    path.mkdir()
    (path / "lock").write_text("sublex index, process 77")
    (path / "building" / "spill-0000").mkdir(parents=True)
    (path / "segments" / "000001").mkdir(parents=True)
    (path / "index.json.new-77").write_text("{")
    assert len(engine.build(DOCUMENTS, path)) == 3
    assert len(engine.build(DOCUMENTS[:2], path, overwrite=True)) == 2
    manifest = manifest_of(path)
    manifest["format"] = 0
    write_manifest(path, manifest)
    assert len(engine.build(DOCUMENTS, path, overwrite=True)) == 3


def test_a_folder_with_a_signed_lock_and_other_files_is_not_touched(tmp_path):
    path = tmp_path / "papers"
    path.mkdir()
    (path / "lock").write_text("sublex index, process 77")
    (path / "mine.txt").write_text("mine")
    with pytest.raises(IndexProblem, match="holds other files and is not an index"):
        engine.build(DOCUMENTS, path)
    assert sorted(os.listdir(path)) == ["lock", "mine.txt"]


def test_an_empty_folder_of_a_user_stays_when_a_build_fails(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new"):
        with pytest.raises(InputError):
            engine.build([], tmp_path / name)
    assert os.listdir(tmp_path) == ["empty"] and not os.listdir(tmp_path / "empty")
