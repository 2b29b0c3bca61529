"""What is not Sublex's is not touched: folders that are no index, files that somebody else wrote or changed, links."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from shared import manifest_of, write_manifest

import sublex as engine
from sublex.contracts.base import Document
from sublex.errors import IndexProblem, InputError

DOCUMENTS = [
    Document("a", "a crane by the river"),
    Document("b", "the river bank"),
    Document("c", "ships in the harbour"),
]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files below a folder, and an entry for each folder."""
    found = {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
    return {name: data for name, data in found.items() if name not in ("lock",)}


@pytest.fixture
def site(tmp_path):
    """Return a folder of a user with files of the names that an index has."""
    site = tmp_path / "site"
    for name in (
        "segments/photos",
        "segments/000001",
        "building/plans",
        "representations/art",
        "resources/pens",
        "derived/x",
    ):
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


# Outputs.

QRELS, TOPICS = "1 0 a 1\n1 0 c 0\n2 0 b 1\n", "1\tcrane river\n2\tbank\n"
# For each kind of output: the command without the file, the file, and whether it may be written again without --overwrite.
OUTPUTS = {
    "run": (("run", "papers", "t.tsv", "-o"), "out.run", True),
    "run.gz": (("run", "papers", "t.tsv", "-o"), "out.run.gz", True),
    "run with a header": (("run", "papers", "t.tsv", "--metadata", "header", "-o"), "out.run", True),
    "run.gz with a header": (("run", "papers", "t.tsv", "--metadata", "header", "-o"), "out.run.gz", True),
    "run alone": (("run", "papers", "t.tsv", "--metadata", "none", "-o"), "out.run", False),
    "fuse": (("fuse", "one.run", "two.run", "-o"), "out.run", True),
    "fuse into .txt": (("fuse", "one.run", "two.run", "-o"), "out.txt", True),
    "report": (("compare", "papers", "t.tsv", "q.txt", "-r", "BM25", "-o"), "out.html", True),
    "encode": (("encode", "papers", "lsi(e=2)", "-o"), "out.npz", False),
    "ciff": (("ciff", "export", "papers"), "out.ciff", False),
    "card": (("card", "papers", "lda(k=2, iterations=5, min_df=1, max_df=1)", "-o"), "out.html", True),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with an index, models, topics, judgements and two runs."""
    folder = tmp_path_factory.mktemp("outputs")
    index = engine.build(DOCUMENTS, folder / "papers")
    index.fit("lsi(e=2)")
    index.fit("lda(k=2, iterations=5, min_df=1, max_df=1)")
    (folder / "q.txt").write_text(QRELS)
    (folder / "t.tsv").write_text(TOPICS)
    for name, ranker in (("one.run", "BM25"), ("two.run", "PL2")):
        index.run(engine.read_topics(folder / "t.tsv"), ranker).write(folder / name)
    return folder


@pytest.fixture
def inside(place, tmp_path, sublex):
    """Copy the folder to the working directory; return the function that runs a command."""
    for path in place.iterdir():
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    os.chdir(tmp_path)
    return sublex


@pytest.mark.parametrize(
    "words",
    [
        ("run", "papers", "t.tsv", "-o", "t.tsv"),
        ("run", "papers", "./t.tsv", "--metadata", "none", "-o", "t.tsv"),
        ("compare", "papers", "t.html", "q.txt", "-r", "BM25", "-o", "t.html"),
        ("compare", "papers", "t.tsv", "q.html", "-r", "BM25", "-o", "q.html"),
        ("fuse", "one.run", "two.run", "-o", "two.run"),
    ],
)
def test_no_command_writes_over_what_it_reads(inside, words):
    shutil.copy("t.tsv", "t.html")
    shutil.copy("q.txt", "q.html")
    before = Path(words[-1]).read_bytes()
    code, _, messages = inside(*words, "--overwrite")
    assert code == 2 and messages == f"sublex: {words[-1]} is read by this command; write to another file.\n"
    assert Path(words[-1]).read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", OUTPUTS)
def test_an_output_replaces_its_own_kind_and_nothing_that_somebody_wrote_or_changed(inside, kind):
    command, name, again = OUTPUTS[kind]
    file, beside = Path(name), Path(f"{name}.yaml")
    file.write_bytes(b"")  # An empty file holds nothing.
    assert inside(*command, name)[0] == 0
    made = file.read_bytes()
    for options, done in (((), 0 if again else 2), (("--overwrite",), 0), ((), 0 if again else 2)):
        code, output, messages = inside(*command, name, *options)
        assert code == done, (options, messages)
        assert done == 0 or (
            not output and f"sublex: {name} is there, and nothing shows that Sublex wrote it" in messages
        )
    for changed in (b"mine", made + b"x", made[:-1], b"1" + made[1:], made[:20] + b"x" + made[21:]):
        if changed == made:
            continue
        file.write_bytes(changed)
        kept = beside.read_bytes() if beside.exists() else None
        assert inside(*command, name)[0] == 2 and file.read_bytes() == changed
        assert not beside.exists() or beside.read_bytes() == kept
    assert inside(*command, name, "--overwrite")[0] == 0 and file.read_bytes() != b"mine"


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("leads", ["to a file", "nowhere", "to a folder"])
def test_no_output_is_written_through_a_link(inside, kind, leads):
    command, name, _ = OUTPUTS[kind]
    target = Path("target")
    if leads != "nowhere":
        target.write_text("mine") if leads == "to a file" else target.mkdir()
    Path(name).symlink_to("target")
    for options in ((), ("--overwrite",)):
        code, _, messages = inside(*command, name, *options)
        is_folder_of_runs = leads == "to a folder" and command[0] == "run"
        assert is_folder_of_runs or (
            code == 2 and f"{name} is a symbolic link, and Sublex writes through none" in messages
        )
    assert Path(name).is_symlink() and target.exists() == (leads != "nowhere")
    assert leads != "to a file" or target.read_text() == "mine"


@pytest.mark.parametrize("leads", ["link", "file", "edited"])
def test_a_file_beside_a_run_is_not_replaced_either(inside, leads):
    command, beside = ("fuse", "one.run", "two.run", "-o", "out.run"), Path("out.run.yaml")
    if leads == "link":
        beside.symlink_to("t.tsv")
    elif leads == "file":
        beside.write_text("mine")
    else:
        assert inside(*command)[0] == 0
        beside.write_text(beside.read_text() + "# my notes\n")
    code, _, messages = inside(*command)
    assert code == 2 and "out.run.yaml is" in messages and Path("t.tsv").read_text() == TOPICS
    assert Path("out.run").exists() == (leads == "edited")
    code = inside(*command, "--overwrite")[0]
    assert code == (2 if leads == "link" else 0) and Path("t.tsv").read_text() == TOPICS


def test_a_run_is_refused_before_it_is_made(inside, monkeypatch):
    from sublex.pipeline.index import Index

    Path("BM25.run").write_text("mine")
    monkeypatch.setattr(Index, "run", lambda *_, **__: pytest.fail("the topics were run"))
    code, _, messages = inside("run", "papers", "t.tsv", "-r", "PL2", "-r", "BM25")
    assert code == 2 and "BM25.run is there" in messages and not Path("PL2.run").exists()


def test_the_python_functions_follow_the_same_rule(inside):
    index = engine.open("papers")
    run, comparison = index.run({"1": "crane"}, "BM25"), engine.compare(None, None, "q.txt", ["one.run", "two.run"])
    for name, write in (
        ("a.run", lambda **more: run.write("a.run", **more)),
        ("a.html", lambda **more: engine.write_report(comparison, "a.html", **more)),
    ):
        write()
        write()
        Path(name).write_text("mine")
        with pytest.raises(InputError, match=r"\(in Python overwrite=True\)"):
            write()
        assert Path(name).read_text() == "mine"
        write(overwrite=True)
    index.to_ciff("a.ciff")
    with pytest.raises(InputError, match="a.ciff is there"):
        index.to_ciff("a.ciff")
    index.to_ciff("a.ciff", overwrite=True)


def test_a_stale_temporary_file_of_somebody_else_stays(tmp_path):
    stale = tmp_path / f"a.run.new-{os.getpid()}"
    stale.write_text("mine")
    engine.build(DOCUMENTS, tmp_path / "papers").run({"1": "crane"}, "BM25").write(tmp_path / "a.run")
    assert stale.read_text() == "mine" and (tmp_path / "a.run").exists()
    assert (
        sorted(os.listdir(tmp_path)) == ["a.run", stale.name, "a.run.yaml", "papers"] or len(os.listdir(tmp_path)) == 4
    )


def test_files_of_the_shell_are_not_written_through_links(inside, tmp_path):

    Path("mine").write_text("mine")
    Path("link").symlink_to("mine")
    Path("gone").symlink_to("nowhere")
    messages = inside("shell", "papers", stdin=b":out link\n:out gone\n:history link\n:history gone\n").messages
    assert Path("mine").read_text() == "mine" and not Path("nowhere").exists()
    assert messages.count("exists; choose another name") == 4, messages
