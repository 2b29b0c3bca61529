"""Damage: `check` finds it, and reading a damaged index gives an error or the right answer, never a crash."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest
from child import run
from shared import manifest_of, write_manifest
from strategies import every

import sublex
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, IndexProblem, SublexError
from sublex.index.check import check
from sublex.index.directory import Directory
from sublex.index.format import CHUNK, HEADER
from sublex.language import plugins
from sublex.pipeline.index import Index

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")


TERMS = ("whale", "ship", "t9", "t130", "t251", "東京", "absent")
QUERIES = (("whale",), ("whale", "ship"), ("t9", "t130", "東京"))
DOCNOS = ("d3", "d0", "d7", "文書", "d299", "new1", "d301")


def collection() -> list[Document]:
    """Return enough documents for blocks, tails, several checksummed chunks and several blocks of texts."""
    common = "whale ship harpoon sea captain storm"
    filler = " ".join(f"f{k * 7919 % 4001:04}" for k in range(220))
    found = [
        Document(f"d{k}", f"{common} t{k} t{k % 17} {filler[k % 50 :]} n{k * k}", f"Title {k % 5}") for k in range(400)
    ]
    return [*found, Document("文書", "東京 Tokyo whale", "", {"theme": "city", "k": [7, 5]})]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an index with three segments, deletions in two of them, and all optional parts."""
    index = sublex.build(
        collection(), tmp_path_factory.mktemp("whole") / "index", store="text,terms,positions", columns="k:int,theme",
        fields="title,theme",
    )  # fmt: skip
    index.add(
        [
            Document(
                f"new{k}",
                f"whale t{k} harpoon harpoon",
                "",
                {"k": [k, 7][: k % 3], "theme": ["t", f"t{k % 3}"][: k % 3]},
            )
            for k in range(150)
        ]
    )
    index.add([Document("d7", "ship ship ship"), Document("last", "")], duplicates="last")
    index.delete([f"d{k}" for k in range(0, 90, 3)] + ["new0", "new149"])
    assert check(index.path) == []
    assert len(index.snapshot.segments) == 3
    return index.path


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of the index for one test to damage."""
    return Path(shutil.copytree(whole, tmp_path / "index"))


# Every way to read an index. Each is tried by itself, so that an error of one does not hide another.


def questions(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the name of every kind of look-up with its answer or its error."""
    try:
        index = sublex.open(path)
    except SublexError as error:
        yield "open", error
        return
    asked: dict[str, Callable[[], Any]] = {f"term {term}": partial(index.term, term) for term in TERMS}
    asked |= {f"postings {term}": partial(postings, index, term) for term in TERMS}
    asked |= {f"positions {term}": partial(positions, index, term) for term in TERMS}
    asked |= {f"fields {term}": partial(fields, index, term) for term in TERMS}
    asked |= {f"query {' '.join(query)}": partial(search, index, query) for query in QUERIES}
    asked |= {f"docno {docno}": partial(index.doc, docno) for docno in DOCNOS}
    asked |= {f"document {docno}": partial(document, index, docno) for docno in DOCNOS}
    asked |= {f"column {name}": partial(column, index, name) for name in ("k", "theme")}
    asked["terms"] = lambda: list(index.terms())
    asked["documents"] = lambda: list(index.documents())
    asked["docnos"] = lambda: [index.docno(doc) for doc in index.corpus.docs]
    asked["matrix"] = lambda: [index.corpus.matrix().toarray().tobytes(), index.corpus.vocabulary]
    asked["statistics"] = lambda: (index.statistics, index.fingerprint, index.corpus.lengths.tolist())
    asked["uniques"] = lambda: [segment.uniques.tolist() for segment in index.snapshot.segments]
    asked["top terms"] = index.top_terms
    asked["sequence"] = lambda: index.corpus.sequence(5)
    for name, ask in asked.items():
        try:
            yield name, ask()
        except SublexError as error:
            yield name, error


def postings(index: Index, term: str) -> dict[str, int]:
    docs, tfs = index.postings(term)
    return {index.docno(doc): tf for doc, tf in zip(docs.tolist(), tfs.tolist(), strict=True)}


def positions(index: Index, term: str) -> list[list[int]]:
    """Return the positions of a term in each segment."""
    ordinals = [(segment, segment.find(term)) for segment in index.snapshot.segments]
    return [segment.positions(n, n + 1).tolist() for segment, n in ordinals if n is not None]


def fields(index: Index, term: str) -> list[list[int]]:
    """Return the frequencies of a term in each field of each segment, with the lengths and places of the field."""
    ordinals = [(segment, segment.find(term)) for segment in index.snapshot.segments]
    return [
        [
            *segment.field_tfs(name, np.array([n])),
            *segment.field_lengths(name),
            *np.concatenate(segment.field_places(name)),
        ]
        for segment, n in ordinals
        for name in index.fields
        if n is not None
    ]


def column(index: Index, name: str) -> list[Any]:
    """Return the values of a column, with their documents."""
    found = index.snapshot.column(name)
    return [found.starts is not None and found.starts.tolist(), [found.shown(value) for value in found.values]]


def search(index: Index, query: tuple[str, ...]) -> list[naive.Hit]:
    """Return the ranking of naive BM25 over the lengths and postings of the index."""
    lengths = dict(zip((index.docno(doc) for doc in index.corpus.docs), index.corpus.lengths.tolist(), strict=True))
    return naive.bm25(query, lengths, partial(postings, index))


def document(index: Index, docno: str) -> Document | None:
    return index.document(docno) if docno in index else None


class Verdict(NamedTuple):
    """Wrong answers of a damaged index, and the number of look-ups that raised an error."""

    wrong: list[str]
    errors: int


def judge(path: Path, right: dict[str, Any]) -> Verdict:
    """Try every look-up. Each must give the right answer or an error of one sentence."""
    wrong, errors = [], 0
    for name, answer in questions(path):
        if isinstance(answer, SublexError):
            errors += 1
            if not str(answer).strip() or "\n" in str(answer):
                wrong.append(f"{name}: the error is not one sentence: {answer}")
        elif answer != right[name]:
            wrong.append(f"{name}: {str(answer)[:200]} instead of {str(right[name])[:200]}")
    return Verdict(wrong, errors)


@pytest.fixture(scope="module")
def right(whole: Path) -> dict[str, Any]:
    """Return the answers of the undamaged index."""
    found = dict(questions(whole))
    assert not [name for name, answer in found.items() if isinstance(answer, SublexError)]
    assert found["document d3"] is None
    assert found["document d7"].text == "ship ship ship"
    assert len(found["query whale"]) > 300
    return found


class Damage(NamedTuple):
    """A way to spoil an index and to mend it again."""

    what: str
    spoil: Callable[[], Any]
    mend: Callable[[], Any]


def assert_harmless(path: Path, right: dict[str, Any], damages: Iterable[Damage]) -> None:
    """After each damage, reading the index ends well and `check` finds the damage.

    All of this happens in one child, which may crash.
    """
    begun = path.parent / "begun"

    def work() -> None:
        for what, spoil, mend in damages:
            begun.write_text(what, encoding="utf-8")
            spoil()
            verdict, problems = judge(path, right), checked(path)
            mend()
            assert not verdict.wrong, verdict.wrong
            assert problems, "check did not find it"
            assert all("\n" not in problem and problem.endswith(".") for problem in problems), problems

    ended = run(work)
    what = begun.read_text(encoding="utf-8")
    assert not ended.signal, f"{what}: the process died of {ended.signal}"
    assert not ended.error, f"{what}: {ended.error!r}"


def rewriting(file: Path, what: str, data: bytes) -> Damage:
    """Put these bytes in the place of a file."""
    original = file.read_bytes()
    return Damage(f"{file} {what}", lambda: file.write_bytes(data), lambda: file.write_bytes(original))


def checked(path: Path) -> list[str]:
    """Return the problems that `check` finds, or the error that it raises."""
    try:
        return check(path)
    except SublexError as error:
        return [str(error)]


def files(path: Path) -> list[Path]:
    """Return the paths, relative to the index, of the manifest and of all components and checksums of all segments."""
    found = [file.relative_to(path) for file in sorted(path.rglob("*")) if file.suffix in (".npy", ".json")]
    assert len(found) > 60
    return found


def places(size: int) -> list[int]:
    """Return the places of bytes to flip: header, first values, middle, edges of chunks, end."""
    wanted = {
        0,
        3,
        8,
        HEADER // 2,
        HEADER - 1,
        HEADER,
        HEADER + 1,
        size // 3,
        size // 2,
        CHUNK - 1,
        CHUNK,
        size - 2,
        size - 1,
    }
    return sorted(position for position in wanted if 0 <= position < size)


def flip(file: Path, position: int, mask: int) -> None:
    """Flip the bits of the mask in one byte."""
    with open(file, "r+b") as stream:
        stream.seek(position)
        byte = stream.read(1)[0]
        stream.seek(position)
        stream.write(bytes([byte ^ mask]))


def kinds() -> list[str]:
    """Return the names of all components; there is one test for each."""
    stored = (
        "texts",
        "text_sizes",
        "text_counts",
        "document_terms",
        "document_term_sizes",
        "surfaces",
        "surface_sizes",
        "positions",
        "position_widths",
        "position_tails",
        "position_tail_sizes",
        "columns",
        "column_sizes",
        "column0_values",
        "column0_counts",
        "column1_values",
        "column1_counts",
        "column1_words",
        "column1_word_sizes",
    )
    stored += tuple(
        f"field_{part}_{field}" for part in ("tfs", "widths", "tails", "tail_sizes", "lengths") for field in (0, 2)
    )
    stored += ("field_begins_1", "field_begins_2")
    words = ("terms", "term_sizes", "df", "cf", "postings", "block_lasts", "block_widths", "tails", "tail_sizes")
    return [*stored, *words, "docnos", "docno_sizes", "docno_order", "lengths", "uniques", "docs", "checksums", "index"]


def test_every_file_of_an_index_is_of_a_known_kind(whole):
    assert {file.stem for file in files(whole)} == set(kinds())


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds())
def test_a_flipped_byte_is_found_and_does_no_harm(copy, right, kind):
    damages = []
    for file in (copy / file for file in files(copy) if file.stem == kind):
        for k, position in enumerate(places(file.stat().st_size)):
            mask = (0x01, 0x80, 0xFF, 0x10)[k % 4]
            flipped = partial(flip, file, position, mask)
            damages.append(Damage(f"{file}, byte {position} ^ {mask:#x}", flipped, flipped))
    assert_harmless(copy, right, damages[:: every(5)])
    assert check(copy) == []


@pytest.mark.slow
def test_every_byte_of_the_manifest_matters(copy):
    file = copy / "index.json"
    data = file.read_bytes()
    assert len(data) > 1000
    for position in range(len(data) - 1):
        mask = (0x01, 0x04, 0x20)[position % 3]
        file.write_bytes(data[:position] + bytes([data[position] ^ mask]) + data[position + 1 :])
        problems = checked(copy)
        assert problems, f"byte {position} ^ {mask:#x} of {data[max(0, position - 20) : position + 20]!r}"


@pytest.mark.slow
@pytest.mark.parametrize("left", [0, 1, HEADER - 1, HEADER, -1, -2])
def test_a_truncated_file_is_found_and_does_no_harm(copy, right, left):
    whole = {copy / file: (copy / file).read_bytes() for file in files(copy)}
    cut = {file: data[:left] for file, data in whole.items() if data[:left].rstrip() != data.rstrip()}
    assert_harmless(copy, right, [rewriting(file, f"cut at {left}", data) for file, data in cut.items()])
    assert check(copy) == []


@pytest.mark.slow
def test_a_file_with_something_added_is_found_and_does_no_harm(copy, right):
    whole = {copy / file: (copy / file).read_bytes() for file in files(copy)}
    assert_harmless(copy, right, [rewriting(file, "with a byte more", data + b"x") for file, data in whole.items()])
    assert check(copy) == []


@pytest.mark.slow
def test_a_missing_file_is_found_and_does_no_harm(copy, right):
    whole = [copy / file for file in files(copy)]
    assert_harmless(copy, right, [rewriting(file, "missing", b"")._replace(spoil=file.unlink) for file in whole])
    assert check(copy) == []


@pytest.mark.slow
def test_swapped_files_are_found_and_do_no_harm(copy, right):
    segments = sorted((copy / "segments").iterdir())
    pairs = [(file, segments[1] / file.name) for file in segments[0].glob("*.npy")]
    first = {file.stem: file for file in segments[0].glob("*.npy")}
    pairs += [
        (first[a], first[b])
        for a, b in (("df", "cf"), ("lengths", "uniques"), ("terms", "surfaces"), ("docnos", "tails"))
    ]
    pairs += [(first["term_sizes"], first["surface_sizes"]), (segments[0], segments[1])]
    swaps = [(*pair, partial(swap, *pair)) for pair in pairs if not same_bytes(*pair)]
    assert_harmless(copy, right, [Damage(f"{one} and {other} swapped", each, each) for one, other, each in swaps])
    assert check(copy) == []


def same_bytes(one: Path, other: Path) -> bool:
    return one.is_file() and one.read_bytes() == other.read_bytes()


def swap(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


@pytest.mark.parametrize("name", ["index.json", "segments/000001/terms.npy", "segments/000001/checksums.npy"])
def test_a_folder_in_the_place_of_a_file_is_an_error(copy, right, name):
    def spoil() -> None:
        (copy / name).unlink()
        (copy / name).mkdir()

    assert_harmless(copy, right, [Damage(f"{name} as a folder", spoil, lambda: None)])


@pytest.mark.parametrize("name", ["index.json", "terms.npy", "checksums.npy"])
def test_a_file_that_may_not_be_read_is_an_error(copy, monkeypatch, name):
    def refuse(path: Any, *args: Any, **options: Any) -> int:
        if str(path).endswith(name):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **options)

    opened = os.open
    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(SublexError, match="Permission denied"):
        sublex.open(copy)


def test_components_that_are_whole_but_do_not_fit_each_other_are_found(copy):
    """A component is rewritten with valid checksums, so only a comparison with other components can find the change."""
    from sublex.index.format import FolderWriter

    manifest = manifest_of(copy)
    entry = manifest["segments"][0]
    folder = copy / "segments" / entry["name"]
    arrays = {file.stem: np.load(file) for file in folder.glob("*.npy") if file.stem != "checksums"}
    original = {file.name: file.read_bytes() for file in folder.glob("*.npy")}
    changes = {
        "cf": lambda values: values + 1,
        "lengths": lambda values: values[::-1],
        "uniques": lambda values: np.roll(values, 1),
        "docno_order": lambda values: values[::-1],
        "text_counts": lambda values: values + 1,
        "document_terms": lambda values: np.concatenate([values[:-1], values[-1:] ^ 3]),
    }
    for name, change in changes.items():
        shutil.rmtree(folder)
        writer = FolderWriter(Directory(folder))
        for other, values in arrays.items():
            writer.put(other, change(values).astype(values.dtype) if other == name else values)
        whole = {key: value for key, value in entry.items() if key != "deleted"}
        new = [whole | {"data": writer.finish()._asdict()}, *manifest["segments"][1:]]
        write_manifest(copy, manifest | {"segments": new})
        assert checked(copy), f"{name} changed"
    shutil.rmtree(folder)
    folder.mkdir()
    for name, data in original.items():
        (folder / name).write_bytes(data)


def test_many_parts_at_once_are_verified_as_each_is(tmp_path):
    from sublex.index.format import ComponentFolder, FolderWriter

    with FolderWriter(Directory(tmp_path / "folder")) as writer:
        writer.put("numbers", np.arange(100_000, dtype=np.int32))
        entry = writer.finish()
    path = tmp_path / "folder" / "numbers.npy"
    whole = bytearray(path.read_bytes())
    whole[3 * CHUNK + 5] ^= 1
    path.write_bytes(whole)
    random = np.random.default_rng(5)

    def damaged(ask: Callable[[Any], Any]) -> bool:
        component = ComponentFolder(Directory(tmp_path / "folder"), entry)["numbers"]
        try:
            ask(component)
        except IndexCorrupt:
            return True
        return False

    found = set()
    for _ in range(60):
        begins = random.integers(0, 100_000, 3)
        ends = np.minimum(begins + random.integers(0, 30_000, 3), 100_000)
        each = damaged(lambda c, b=begins, e=ends: [c.part(*span) for span in zip(b.tolist(), e.tolist(), strict=True)])
        assert damaged(lambda c, b=begins, e=ends: c.touch(b, e)) == each
        found.add(each)
    assert found == {True, False}
    assert not damaged(lambda component: component.touch(np.array([100_000]), np.array([100_000])))


# Other formats, and files and folders that are not an index.


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the manifest and make its checksum valid again."""
    manifest = manifest_of(path)
    change(manifest)
    write_manifest(path, manifest)


@pytest.mark.parametrize("number", [0, 5, 99, "1", None])
def test_an_index_of_another_format_says_which_and_what_to_do(copy, number):
    rewritten(copy, lambda manifest: manifest.update(format=number))
    with pytest.raises(
        IndexProblem,
        match=f"has index format {number}, and this Sublex reads 1, 2, 3 and 4: update Sublex or rebuild it",
    ):
        sublex.open(copy)
    for change in (lambda: index_of(copy).delete(["d1"]), lambda: index_of(copy).add([Document("a", "b")])):
        with pytest.raises(IndexProblem, match="has index format"):
            change()
    assert checked(copy)


@pytest.mark.parametrize(
    "change",
    [{"format": 1}, {"format": 2}, {"columns": {}, "fields": []}, {"format": True}, {"format": 3.0}],
)
def test_a_format_that_does_not_fit_the_stored_parts_is_damage(copy, change):
    rewritten(copy, lambda manifest: manifest.update(change))
    with pytest.raises(IndexCorrupt, match=r"index\.json is damaged: format .*; rebuild the index"):
        sublex.open(copy)


def index_of(path: Path) -> Index:
    """Return an `Index` object for a path without opening the index, as if it had been opened before the damage."""
    index = Index.__new__(Index)
    index.path, index._load_registry = path, plugins.load
    return index


@pytest.mark.parametrize(
    "spoil", [lambda m: m.update(format=99), lambda m: m.pop("segments"), lambda m: m.update(format=0)]
)
def test_an_index_of_another_format_can_be_rebuilt_as_its_message_says(copy, spoil):
    rewritten(copy, spoil)
    index = sublex.build([Document("a", "whale")], copy, overwrite=True)
    assert len(index) == 1
    assert check(copy) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '"format"', "null", '{"format": 1}', "\x00" * 100, "{" * 10_000, '{"format": {}}']
)
def test_a_manifest_that_is_none_is_an_error(copy, text):
    (copy / "index.json").write_text(text)
    with pytest.raises(SublexError):
        sublex.open(copy)
    assert checked(copy)


def test_a_path_without_an_index_says_how_to_make_one(tmp_path):
    with pytest.raises(IndexProblem, match="No index at .*; make one by: sublex index .*absent FILE"):
        sublex.open(tmp_path / "absent")


def test_a_folder_that_is_no_index_is_called_so(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(IndexProblem, match="is not an index: it has no index.json"):
        sublex.open(tmp_path)


def test_a_file_is_no_index(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(IndexProblem, match="is not an index"):
        sublex.open(tmp_path / "file")
    with pytest.raises(SublexError):
        sublex.open(tmp_path / "file" / "below")


def test_an_interrupted_first_build_is_called_so(tmp_path):
    (tmp_path / "index" / "building").mkdir(parents=True)
    with pytest.raises(IndexProblem, match="its build was interrupted; run it again, with resume to go on"):
        sublex.open(tmp_path / "index")


def test_the_message_of_damage_names_the_file_and_what_to_do(copy):
    file = max((copy / "segments").rglob("postings.npy"), key=lambda file: file.stat().st_size)
    flip(file, HEADER + 5, 1)
    with pytest.raises(IndexCorrupt) as error:
        sublex.open(copy).postings("whale")
    assert str(file) in str(error.value)
    assert str(error.value).endswith("rebuild the index.")
