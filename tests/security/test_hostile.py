"""Indexes made to do harm: links, pipes, wrong entries with valid checksums; and hostile files for models to read."""

from __future__ import annotations

import gzip
import json
import os
import shutil

import pytest
from shared import DEMO, manifest_of, write_manifest

import sublex
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.index.check import check


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return an index with fitted models and a resource."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "vectors.txt").write_text("crane 1 2\nriver 2 1\n")
    index = sublex.build(DEMO, folder / "demo")
    index.add_resource("given", folder / "vectors.txt")
    index.fit("vectors(given)")
    index.fit("lsi(e=5)")
    return index.path


@pytest.fixture
def index(built, tmp_path):
    shutil.copytree(built, tmp_path / "demo")
    return sublex.open(tmp_path / "demo")


@pytest.fixture
def outside(tmp_path):
    """Return a folder outside the index, which nothing may change."""
    (tmp_path / "outside" / "photos").mkdir(parents=True)
    (tmp_path / "outside" / "photos" / "one").write_text("precious")
    return tmp_path / "outside"


def whole(outside) -> bool:
    return (outside / "photos" / "one").read_text() == "precious"


@pytest.mark.parametrize(
    "place", ["representations", "resources", "segments", "representations/lsi", "representations/lsi/rows"]
)
def test_nothing_behind_a_link_is_removed(index, outside, place):
    name = next(own for own in index.fitted if own.startswith("lsi-"))
    rows = next(iter(index.fitted[name].rows))
    linked = index.path / place.replace("rows", rows).replace("lsi", name, 1)
    for path in linked.iterdir():
        path.rename(outside / path.name)
    linked.rmdir()
    linked.symlink_to(outside)
    for work in (lambda: index.forget("lsi(e=5)"), lambda: index.delete(["birds-05"]), index.merge):
        try:
            work()
        except SublexError:
            continue
    assert whole(outside)


@pytest.mark.parametrize("name", ["lock", "index.json.new", "resources/other/other.new"])
def test_nothing_is_written_through_a_link(index, outside, tmp_path, name):
    link = index.path / name
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(outside / "photos" / "one")
    (tmp_path / "more.txt").write_text("crane 3 4\n")
    try:
        index.add_resource("other", tmp_path / "more.txt")
    except IndexCorrupt as error:
        assert name == "lock" and "lock is a symbolic link" in str(error)
    assert whole(outside) and not (index.path / "index.json").is_symlink()


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(index):
    paths = [*(index.path / "representations").rglob("*.npy"), index.path / "resources" / "given" / "vectors.txt"]
    for path in paths:
        held = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        assert check(index.path)
        with pytest.raises(SublexError):
            opened = sublex.open(index.path)
            opened.search("crane", "lsi(e=5)")
            opened.search("crane", "vectors(given)")
            opened.fit("vectors(given, idf=false)")
        path.unlink()
        path.write_bytes(held)
    assert check(index.path) == []


def test_a_model_from_elsewhere_brings_nothing_along(index, outside, tmp_path):
    name = next(own for own in index.fitted if own.startswith("lsi-"))
    model = index.path / "representations" / name / "model"
    (model / "more").symlink_to(outside)
    (model / "loop").symlink_to(model)
    os.mkfifo(model / "pipe")
    other = sublex.build(DEMO, tmp_path / "other")
    other.fit("lsi(e=5)", index.path)
    found = {path.name for path in (other.path / "representations" / name / "model").iterdir()}
    assert found == {f"{part}.npy" for part in (*other.fitted[name].model.components, "checksums")}
    assert check(other.path) == [] and other.search("crane", "lsi(e=5)")


@pytest.mark.parametrize("name", ["a\\b.txt", "new\nline.txt", "ß.txt", "a b.txt.gz"])
def test_a_resource_may_come_from_a_file_of_any_name(index, tmp_path, name):
    data = b"crane 5 6\nriver 6 5\n"
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    index.add_resource("odd", tmp_path / name)
    index.fit("vectors(odd)")
    assert sublex.open(index.path).search("crane", "vectors(odd)", k=3) and check(index.path) == []
    index.forget("vectors(odd)")
    index.remove_resource("odd")
    assert check(index.path) == []


def test_what_changes_while_it_is_read_makes_no_model(index, tmp_path):
    path = tmp_path / "moving.txt"
    path.write_text("crane 1 2\nriver 2 2\n")

    def replace(text: str) -> None:
        path.write_text("crane 7 8\nriver 1 1\nbank 3 3\n")

    with pytest.raises(InputError, match="changed while it was fitted; fit it again"):
        index.fit(f'vectors("{path}")', say=replace)
    assert len(sublex.open(index.path).fitted) == 2 and check(index.path) == []


def test_naming_a_nest_of_models_takes_no_time_to_speak_of(index):
    nest = "fisher(words=" * 28 + "lsi" + ")" * 28
    with pytest.raises(IndexProblem, match="No fisher"):
        index.search("crane", nest)


LIES = [
    ("fitted", None), ("fitted", [1]), ("fitted", "x"), ("fitted.*", None), ("fitted.*.model", None), ("fitted.*.model.components", 3),
    ("fitted.*.expression", 7), ("fitted.*.depends", None), ("fitted.*.resources", []), ("fitted.*.rows", "x"), ("fitted.*.rows.*", 1),
    ("fitted.*.rows.*.expression", None), ("fitted.*.rows.*.segments", 4), ("fitted.*.seen", 0), ("resources", 1), ("resources.given", []),
    ("resources.given.file", 3), ("resources.given.hash", None), ("segments", None), ("segments.0", 5),
]  # fmt: skip


@pytest.mark.parametrize(("place", "lie"), LIES)
def test_a_manifest_that_lies_costs_a_sentence(index, place, lie):
    manifest = manifest_of(index.path)
    *steps, last = place.split(".")
    node = manifest
    for step in steps:
        node = node[0] if isinstance(node, list) else node[next(iter(node)) if step == "*" else step]
    key = (next(iter(node)) if last == "*" else last) if isinstance(node, dict) else int(last)
    node[key] = lie
    write_manifest(index.path, manifest)
    for ask in (
        lambda: sublex.open(index.path).search("crane", "lsi(e=5)"),
        lambda: sublex.open(index.path).forget("lsi(e=5)"),
    ):
        with pytest.raises(SublexError) as error:
            ask()
        assert "\n" not in str(error.value)
    assert check(index.path)


STORES = [
    [], None, "x", {"rows": {"json": 3}}, {"rows": {"shape": "ab"}}, {"rows": {"shape": [-5, -25]}}, {"rows": {"sparse": None}},
    {"rows": {"shape": [10**30]}}, {"rows": {"sparse": [252]}}, {"rows": {"other": [252]}}, {"rows": {}},
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("lie", STORES)
def test_a_store_that_lies_about_its_rows_costs_a_sentence(index, lie):
    import numpy as np

    from sublex.index.directory import Directory
    from sublex.index.format import FolderWriter

    manifest = manifest_of(index.path)
    name = next(own for own in manifest["fitted"] if own.startswith("lsi-"))
    ((place, rows),) = manifest["fitted"][name]["rows"].items()
    ((segment, kept),) = rows["segments"].items()
    path = index.path / "representations" / name / place / segment
    values = np.load(path / "rows.npy")
    shutil.rmtree(path)
    with FolderWriter(Directory(path)) as folder:
        folder.put("rows", values)
        folder.put("_values", np.frombuffer(json.dumps(lie).encode(), np.uint8))
        kept["data"] = folder.finish()._asdict()
    write_manifest(index.path, manifest)
    for ask in ("search", "explain", "merge"):
        opened = sublex.open(index.path)
        with pytest.raises(SublexError) as error:
            if ask == "search":
                opened.search("crane", "lsi(e=5)")
            elif ask == "explain":
                opened.explain("crane", "birds-05", "lsi(e=5)")
            else:
                said: list[str] = []
                opened.delete(["birds-05"])
                opened.merge(say=said.append)
                raise SublexError(said[0])
        assert "\n" not in str(error.value)


def test_no_line_is_read_that_does_not_end(index, tmp_path):
    for name, data in (
        ("zeros.gz", bytes(5 << 20)),
        ("spaces.gz", b"crane 1 2\n" + b" " * (5 << 20)),
        ("word.gz", b"x" * (5 << 20)),
    ):
        (tmp_path / name).write_bytes(gzip.compress(data))
        with pytest.raises(InputError, match="the line has more than 1 MB, so this is no file of word vectors"):
            index.fit(f'vectors("{tmp_path / name}")')
    (tmp_path / "digits.txt").write_text(f"{'9' * 5000} {'9' * 5000}\n")
    with pytest.raises(SublexError) as error:
        index.fit(f'vectors("{tmp_path / "digits.txt"}")')
    assert "\n" not in str(error.value)


def test_an_empty_first_line_hides_no_width(index, tmp_path):
    path = tmp_path / "wide.txt"
    path.write_text("\n" + f"crane {' '.join(['1'] * 5000)}\n")
    with pytest.raises(InputError, match="and memory allows 16"):
        index.fit(f'vectors("{path}")', memory=16 << 20)


def test_an_index_of_an_index_is_damaged_and_says_so(index):
    (index.path / "index.json").write_text('{"format":' + "[" * 200_000)
    with pytest.raises(IndexCorrupt, match="is damaged; rebuild the index"):
        sublex.open(index.path)
