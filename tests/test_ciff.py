"""CIFF files: what Sublex writes, other programs read, and the other way round; a damaged file costs one sentence."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from command import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import DEMO, QUERIES, SUBLEX, postings_of, scores
from strategies import collections, every, examples

import sublex
from sublex.building.writer import merge_all
from sublex.contracts.base import Document
from sublex.errors import InputError, SublexError
from sublex.index.check import check
from sublex.index.snapshot import Snapshot
from sublex.other_engines.ciff import messages
from sublex.other_engines.ciff.header import CiffHeader

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")

Lists = Sequence[tuple[str, Sequence[tuple[int, int]]]]
LISTS: Lists = (("bank", ((0, 2), (3, 1))), ("crane", ((1, 1),)), ("river", ((0, 1), (1, 3), (2, 1))))
DOCS = (("d0", 3), ("d1", 4), ("d2", 1), ("d3", 1))


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = []
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | bytes | str) -> bytes:
    """Return a field of a message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*fields: bytes) -> bytes:
    body = b"".join(fields)
    return varint(len(body)) + body


def posting_list(
    term: str | bytes, postings: Iterable[tuple[int, int]], df: int | None = None, cf: int | None = None
) -> bytes:
    """Return a posting list; `postings` are pairs of a document and a frequency, `df` and `cf` its claims."""
    postings = list(postings)
    gaps = np.diff([doc for doc, _ in postings], prepend=0).tolist()
    parts = [field(4, field(1, gap) + field(2, tf)) for gap, (_, tf) in zip(gaps, postings, strict=True)]
    stated = (len(postings) if df is None else df), (sum(tf for _, tf in postings) if cf is None else cf)
    return message(field(1, term), field(2, stated[0]), field(3, stated[1]), *parts)


def records(docs: Sequence[tuple[str, int]] = DOCS) -> list[bytes]:
    return [message(field(1, doc), field(2, docno), field(3, length)) for doc, (docno, length) in enumerate(docs)]


def head(lists: int = 3, docs: int = 4, version: int = 1, tokens: int = 9, **more: Any) -> bytes:
    header = CiffHeader(version, lists, docs, lists, docs, tokens, tokens / max(docs, 1), "A test.")
    return header._replace(**more).encoded()


def ciff(
    lists: Iterable[bytes] | None = None, docs: Iterable[bytes] | None = None, header: bytes | None = None
) -> bytes:
    """Return the bytes of a CIFF file."""
    lists = [posting_list(*item) for item in LISTS] if lists is None else list(lists)
    docs = records() if docs is None else list(docs)
    return (head(len(lists), len(docs)) if header is None else header) + b"".join(lists) + b"".join(docs)


def lengths(path: Path) -> dict[str, int]:
    snapshot = Snapshot(path)
    return {
        segment.docno(doc): int(segment.lengths[doc])
        for segment in snapshot.segments
        for doc in np.flatnonzero(~segment.dead).tolist()
    }


def read(data: bytes, folder: Path, name: str = "f.ciff", **options: Any) -> Path:
    """Make an index from the bytes of a CIFF file."""
    (folder / name).write_bytes(data)
    options = {"analyzer": "plain", "workers": 1} | options
    sublex.from_ciff(folder / name, folder / "index", overwrite=True, **options)
    assert check(folder / "index") == []
    return folder / "index"


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(collections(), collections(), st.integers(0, 3), st.sampled_from(["f.ciff", "f.ciff.gz"]))
def test_a_round_trip_keeps_every_posting_and_statistic(
    old: list[Document], new: list[Document], deleted: int, name: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second, file = Path(folder, "first"), Path(folder, "second"), Path(folder, name)
        index = sublex.build(old, first)
        index.add(new, duplicates="first")
        if deleted:
            index.delete([document.docno for document in old[:deleted]])
        if not len(index):
            with pytest.raises(InputError, match="has no documents to export"):
                index.to_ciff(file)
            return
        index.to_ciff(file)
        copy = sublex.from_ciff(file, second, analyzer="english")
        assert postings_of(second) == postings_of(first)
        assert lengths(second) == lengths(first)
        assert copy.statistics == index.statistics
        assert check(second) == []
        merge_all(first, 1)
        a, b = (Snapshot(path).segments[0].folder for path in (first, second))
        for component, values in b:
            if not component.startswith("surface"):
                assert np.array_equal(values.all(), a[component].all()), component


def test_rankings_of_a_copy_are_the_same(tmp_path: Path) -> None:
    index = sublex.build(DEMO, tmp_path / "demo")
    index.to_ciff(tmp_path / "demo.ciff.gz")
    copy = sublex.from_ciff(tmp_path / "demo.ciff.gz", tmp_path / "copy", analyzer="english")
    for ranker in ("BM25", "BM25(lengths=lucene) >> RM3 >> BM25", "DPH", "DirichletLM"):
        assert scores(copy, ranker, QUERIES) == scores(index, ranker, QUERIES)


def test_the_bytes_of_a_file_are_those_of_protobuf(tmp_path: Path) -> None:
    sublex.build(
        [Document("d0", "bank river bank"), Document("d1", "river crane river river"), Document("d2", "river"), Document("d3", "bank")],
        tmp_path / "i", analyzer="plain",
    ).to_ciff(tmp_path / "f")  # fmt: skip
    bank = message(
        field(1, "bank"), field(2, 2), field(3, 3), field(4, field(2, 2)), field(4, field(1, 3) + field(2, 1))
    )
    crane = message(field(1, "crane"), field(2, 1), field(3, 1), field(4, field(1, 1) + field(2, 1)))
    river = message(
        field(1, "river"), field(2, 3), field(3, 5), field(4, field(2, 1)), field(4, field(1, 1) + field(2, 3)),
        field(4, field(1, 1) + field(2, 1)),
    )  # fmt: skip
    documents = [message(field(2, "d0"), field(3, 3)), *records()[1:]]
    header = CiffHeader(1, 3, 4, 3, 4, 9, 9 / 4, "Written by Sublex. Analyzer: plain").encoded()
    assert (tmp_path / "f").read_bytes() == header + bank + crane + river + b"".join(documents)


def test_files_of_any_compression_are_read_and_gz_is_written_alike_each_time(tmp_path: Path) -> None:
    plain = postings_of(read(ciff(), tmp_path))
    assert plain == {term: {f"d{doc}": tf for doc, tf in postings} for term, postings in LISTS}
    assert postings_of(read(gzip.compress(ciff()), tmp_path)) == plain
    assert postings_of(read(zstandard.compress(ciff()), tmp_path)) == plain
    index = sublex.open(tmp_path / "index")
    for name in ("a.gz", "b.gz", "plain"):
        index.to_ciff(tmp_path / name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == (tmp_path / "plain").read_bytes()
    with pytest.raises(InputError, match="plain or end in .gz"):
        index.to_ciff(tmp_path / "a.zst")


def test_terms_and_documents_may_come_in_any_order(tmp_path: Path) -> None:
    # Java sorts the first of these terms behind the second one, by UTF-16.
    lists = [("\uff41", ((0, 1),)), ("\U00010000", ((1, 1),)), ("b", ((0, 1), (2, 2))), ("a", ((3, 1),))]
    messages = [posting_list(*item) for item in lists]
    documents = records()
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3]):
        found = postings_of(read(ciff(messages, [documents[k] for k in order]), tmp_path))
        assert found == {term: {f"d{doc}": tf for doc, tf in postings} for term, postings in lists}
    assert list(found) == ["a", "b", "\uff41", "\U00010000"]


def test_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    extra = field(9, 300) + field(10, "more") + varint(11 << 3 | 1) + bytes(8) + varint(12 << 3 | 5) + bytes(4)

    def with_extra(data: bytes) -> bytes:
        return varint(data[0] + len(extra)) + data[1:] + extra

    bank = message(field(4, field(2, 2) + extra), field(1, "bank"), extra, field(2, 1), field(3, 2))
    data = ciff([bank, *map(with_extra, [posting_list(*LISTS[1])])], map(with_extra, records()), with_extra(head(2)))
    assert postings_of(read(data, tmp_path)) == {"bank": {"d0": 2}, "crane": {"d1": 1}}


@pytest.mark.slow
def test_messages_are_read_across_the_pieces_of_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = postings_of(read(ciff(), tmp_path))
    monkeypatch.setattr(messages, "MESSAGES", 2)
    for size in range(1, 40):
        monkeypatch.setattr(messages, "CHUNK", size)
        assert postings_of(read(ciff(), tmp_path)) == expected


def remarks(data: bytes, folder: Path, **options: Any) -> list[str]:
    said: list[str] = []
    read(data, folder, say=said.append, **options)
    return said


def test_what_a_file_states_beside_its_postings_is_said_once(tmp_path: Path) -> None:
    bare = "CIFF carries no texts and no written forms of words, so documents cannot be shown."
    assert remarks(ciff(), tmp_path) == [bare]
    said = remarks(ciff([posting_list("bank", ((0, 2),), cf=7), posting_list("ship", ((0, 1),), cf=9)]), tmp_path)
    assert "A collection frequency in the file is not the sum of the frequencies; the sum was taken (2 times)." in said
    said = remarks(ciff(header=head(total_postings_lists=5, total_terms_in_collection=20)), tmp_path)
    assert "The file has the posting lists of 3 of 5 terms." in said
    assert Snapshot(tmp_path / "index").statistics == (4, 20, 6)
    said = remarks(ciff(header=head(total_docs=40)), tmp_path)
    assert any(remark.startswith("The file has 4 of the 40 documents of its collection") for remark in said)
    assert Snapshot(tmp_path / "index").statistics == (4, 9, 6)


def test_lengths_as_lucene_rounds_them_are_kept(tmp_path: Path) -> None:
    said = remarks(ciff(docs=records((("d0", 3), ("d1", 4), ("d2", 1), ("d3", 40)))), tmp_path)
    assert sum("lengths of 1 of 4 documents differ" in remark for remark in said) == 1
    assert lengths(tmp_path / "index") == {"d0": 3, "d1": 4, "d2": 1, "d3": 40}
    assert Snapshot(tmp_path / "index").statistics.tokens == 9


def test_an_analyzer_that_did_not_make_the_terms_is_noticed(tmp_path: Path) -> None:
    lists = [posting_list(word, ((0, 1),)) for word in ("Running", "easily", "houses", "whaling")]
    assert any("changes 100% of the terms" in remark for remark in remarks(ciff(lists), tmp_path, analyzer="english"))
    assert not any("Warning" in remark for remark in remarks(ciff(), tmp_path, analyzer="english"))


def test_an_unknown_profile_costs_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SublexError, match="No profile nowhere"):
        read(ciff(), tmp_path, profile="nowhere")
    assert not (tmp_path / "index").exists()


# Damage.


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is not a CIFF file"),
        (b"Whales and ships\n" * 20, "is not a CIFF file"),
        (b"\xff" * 100, "is not a CIFF file"),
        (head()[:-1], "is not a CIFF file"),
        (message(varint(1 << 3 | 2) + varint(0)), "is not a CIFF file"),
        (message(field(8, b"\xff")), "is not a CIFF file"),
        (message(field(0, 1)), "is not a CIFF file"),
        (varint(2**62), "is not a CIFF file"),
        (message(field(1, 1), varint(7 << 3 | 1)), "is not a CIFF file"),
        (head(version=2), "is CIFF of version 2, and Sublex reads version 1"),
        (message(field(2, 3)), "is CIFF of version 0"),
        (head(docs=-1), "its header has a negative num_docs"),
        (head(lists=-1), "its header has a negative num_postings_lists"),
        (head(docs=0), "has 0 documents"),
        (head(docs=2**40), "claims 1,099,511,627,776 documents, and is too small for them"),
        (ciff(header=head(docs=2**31 - 1)), "claims 2,147,483,647 documents, and is too small for them"),
        (ciff(header=head(docs=5)), "it ends after 4 documents of 5"),
        (ciff(header=head(docs=4, lists=2**31 - 1)), "is damaged|is cut short"),
        (ciff(header=head(docs=3)), "names document 3, but the documents have the numbers 0 to 2"),
        (ciff([], records(), head(0, 3)), "goes on after its last document"),
        (ciff() + b"\n", "goes on after its last document"),
        (head() + posting_list(*LISTS[0]), "it ends after 1 posting list of 3"),
        (head() + varint(2**20) + b"x", "it ends after 0 posting lists of 3"),
        (head() + varint(2**33) + b"x", "posting list 1 claims 8,589,934,597 bytes; Sublex reads at most"),
        (head() + varint(2**62) + b"x", "posting list 1 claims"),
        (head() + varint(-1) + b"x", "posting list 1 has an impossible length"),
        (head() + b"\xff" * 30, "posting list 1 has an impossible length"),
        (ciff([posting_list("a", ((0, 1),), df=2)]), "posting list 1 claims 2 postings, but has 1"),
        (ciff([posting_list("a", ((0, 1),), df=2**62)]), "posting list 1 claims 4,611,686,018,427,387,904 postings"),
        (ciff([posting_list("a", ((0, 1),), df=-1)]), "posting list 1 claims -1 postings, but has 1"),
        (ciff([posting_list("a", ((0, 0),))]), "posting list 1 has the frequency 0"),
        (ciff([posting_list("a", ((0, -1),))]), "posting list 1 has the frequency -1"),
        (ciff([posting_list("a", ((0, 2**31),))]), "posting list 1 has the frequency 2,147,483,648"),
        (ciff([posting_list("a", ((-1, 1),))]), "posting list 1 has the gap -1 between"),
        (ciff([posting_list("a", ((2, 1), (1, 1)))]), "posting list 1 has the gap -1 between"),
        (ciff([posting_list("a", ((2, 1), (2, 1)))]), "posting list of 'a' names document 2 after document 2"),
        (ciff([posting_list("a", ((4, 1),))]), "posting list of 'a' names document 4"),
        (ciff([posting_list("a", ((3, 1), (2**31 + 2, 1)))]), "posting list 1 has the gap 2,147,483,647 between"),
        (ciff([posting_list("a", ((3, 1), (2**63 - 1, 1)))]), "posting list 1 has the gap"),
        (ciff([posting_list(b"\xff", ((0, 1),))]), "has a term that is not UTF-8"),
        (ciff([posting_list(*LISTS[0]), posting_list(*LISTS[0])]), "two posting lists for the term 'bank'"),
        (ciff([message(field(1, 7))]), "posting list 1 has damaged fields"),
        (ciff([message(field(4, 7))]), "posting list 1 has damaged fields"),
        (ciff([message(field(2, "7"))]), "posting list 1 has damaged fields"),
        (ciff([message(varint(4 << 3 | 2) + varint(2**40))]), "posting list 1 has damaged fields"),
        (ciff([message(varint(4 << 3 | 2) + varint(-1))]), "posting list 1 has damaged fields"),
        (ciff([message(varint(9 << 3 | 2) + varint(2**63 - 1))]), "posting list 1 has damaged fields"),
        (ciff([message(varint(9 << 3 | 2) + varint(-5))]), "posting list 1 has damaged fields"),
        (ciff([message(varint(9 << 3 | 3))]), "posting list 1 has damaged fields"),
        (ciff([message(varint(9 << 3 | 1) + bytes(7))]), "posting list 1 has damaged fields"),
        (ciff([message(field(4, b"\x0a\x00"))]), "posting list 1 has damaged fields"),
        (ciff([message(field(4, b"\xff" * 11))]), "posting list 1 has damaged fields"),
        (ciff([message(b"\x80" * 11)]), "posting list 1 has damaged fields"),
        (ciff(docs=[*records()[:3], message(field(1, -1))]), "document 4 has the number -1"),
        (ciff(docs=[*records()[:3], message(field(1, 3), field(3, 2**31))]), "document 4 has the number 2,147,483,648"),
        (ciff(docs=[*records()[:3], message(field(1, "3"))]), "document 4 has damaged fields"),
        (ciff(docs=[*records()[:3], message(field(2, 3))]), "document 4 has damaged fields"),
        (ciff(docs=[*records()[:3], message(varint(2 << 3 | 2) + varint(2**40))]), "document 4 has damaged fields"),
        (ciff(docs=[*records()[:3], records()[0]]), "two documents have the number 0"),
        (ciff(docs=[*records()[:2], records()[3], records()[3]]), "two documents have the number 3"),
        (ciff(docs=[*records()[:3], message(field(1, 9), field(2, "x"))]), "document has the number 9, and the last is 3"),
        (ciff(docs=[*records()[:3], message(field(1, 3))]), "document 4 has no docno"),
        (ciff(docs=records((*DOCS[:3], ("d0", 1)))), "two documents with the docno 'd0'"),
        (ciff(docs=[*records()[:3], message(field(1, 3), field(2, b"\xff"))]), "has a docno that is not UTF-8"),
    ],
)  # fmt: skip
def test_a_damaged_or_lying_file_costs_a_sentence_and_leaves_nothing(
    data: bytes, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        read(data, tmp_path)
    assert "\n" not in str(error.value) and str(error.value).startswith(str(tmp_path / "f.ciff"))
    assert not (tmp_path / "index").exists()


def outcome(data: bytes, folder: Path) -> str:
    """Return how reading a file ends: its sentence, or "" for an index, which must then be sound."""
    try:
        read(data, folder)
    except SublexError as error:
        assert "\n" not in str(error)
        return str(error)
    return ""


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = ciff()
    for size in range(0, len(whole), every(3)):
        assert outcome(whole[:size], tmp_path)
    packed = gzip.compress(whole)
    for size in range(1, len(packed), every(7)):
        assert outcome(packed[:size], tmp_path)


@pytest.mark.slow
def test_a_file_with_any_byte_changed_is_refused_or_makes_a_sound_index(tmp_path: Path) -> None:
    whole = ciff()
    for place in range(0, len(whole), every(3)):
        for change in (0x01, 0x80, 0xFF)[:: every(2)]:
            outcome(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :], tmp_path)


@settings(max_examples=examples(60))
@given(st.data())
def test_bytes_put_in_or_taken_out_are_refused_or_make_a_sound_index(data: st.DataObject) -> None:
    whole = ciff()
    place = data.draw(st.integers(len(head()), len(whole)))
    removed = data.draw(st.integers(0, 8))
    put = data.draw(st.binary(max_size=12))
    with tempfile.TemporaryDirectory() as folder:
        outcome(whole[:place] + put + whole[place + removed :], Path(folder))


@pytest.mark.slow
def test_a_bomb_is_refused_at_its_first_pieces(tmp_path: Path) -> None:
    # In a process of its own, so that what other tests left in memory does not count.
    code = f"import pathlib, test_ciff; test_ciff.refuse_bombs(pathlib.Path({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def refuse_bombs(folder: Path) -> None:
    zeros = gzip.compress(bytes(1 << 26), 1)
    for begin, sentence in (
        (head(lists=2**31 - 1), "posting list 1 claims 0 postings, but has 0"),
        (head(0, 2**24), "document 1 has no docno"),
        (head(0, 2**31 - 1), "claims 2,147,483,647 documents, and is too small for them"),
        (head() + varint(2**26), "posting list 1 has damaged fields"),
    ):
        (folder / "f").write_bytes(gzip.compress(begin) + zeros)
        with pytest.raises(InputError, match=sentence):
            sublex.from_ciff(folder / "f", folder / "index", analyzer="plain", workers=1)


# Other programs.


@pytest.fixture
def toolkit() -> Any:
    return pytest.importorskip("ciff_toolkit", reason="ciff-toolkit is not installed")


def toolkit_contents(file: Path) -> tuple[Any, dict[str, list[tuple[int, int]]], list[tuple[int, str, int]]]:
    """Return the header, the posting lists with document numbers, and the documents of a file, as ciff-toolkit reads them."""
    from ciff_toolkit.read import CiffReader

    with CiffReader(file) as reader:
        header = reader.read_header()
        lists = {}
        for found in reader.read_postings_lists():
            numbers = np.cumsum([posting.docid for posting in found.postings]).tolist()
            lists[found.term] = list(zip(numbers, [posting.tf for posting in found.postings], strict=True))
            assert found.df == len(found.postings) and found.cf == sum(posting.tf for posting in found.postings)
        docs = [(doc.docid, doc.collection_docid, doc.doclength) for doc in reader.read_documents()]
    return header, lists, docs


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f.ciff", "f.ciff.gz"])
def test_ciff_toolkit_reads_our_files(toolkit: Any, tmp_path: Path, name: str) -> None:
    index = sublex.build(DEMO, tmp_path / "demo")
    index.delete(["birds-01", "birds-02"])
    index.to_ciff(tmp_path / name)
    header, lists, docs = toolkit_contents(tmp_path / name)
    assert (header.num_docs, header.total_docs, header.num_postings_lists) == (len(index), len(index), len(lists))
    assert header.average_doclength == index.statistics.mean_length
    assert header.total_terms_in_collection == index.statistics.tokens
    assert [number for number, _, _ in docs] == list(range(len(index)))
    assert {docno: length for _, docno, length in docs} == lengths(tmp_path / "demo")
    docnos = [docno for _, docno, _ in docs]
    ours = postings_of(tmp_path / "demo")
    assert {term: {docnos[doc]: tf for doc, tf in postings} for term, postings in lists.items()} == ours
    assert list(lists) == sorted(lists)


@pytest.mark.slow
def test_our_files_are_bytes_that_ciff_toolkit_writes_and_we_read_its_files(toolkit: Any, tmp_path: Path) -> None:
    from ciff_toolkit.read import CiffReader
    from ciff_toolkit.write import CiffWriter

    sublex.build(DEMO, tmp_path / "demo").to_ciff(tmp_path / "ours.ciff")
    with CiffReader(tmp_path / "ours.ciff") as reader, CiffWriter(tmp_path / "theirs.ciff") as writer:
        writer.write_header(reader.read_header())
        writer.write_postings_lists(reader.read_postings_lists())
        writer.write_documents(reader.read_documents())
    assert (tmp_path / "theirs.ciff").read_bytes() == (tmp_path / "ours.ciff").read_bytes()
    sublex.from_ciff(tmp_path / "theirs.ciff", tmp_path / "copy", analyzer="english")
    assert postings_of(tmp_path / "copy") == postings_of(tmp_path / "demo")


@pytest.mark.parametrize("name", ["cranfield", "vaswani", "scifact"])
def test_a_copy_gives_the_same_runs_on_a_collection(collections: Path, name: str, tmp_path: Path) -> None:
    folder = collections / name
    topics = next(path for path in (folder / "topics.trec", folder / "queries.jsonl") if path.exists())
    documents = folder / "docs.trec" if (folder / "docs.trec").exists() else folder / "corpus.jsonl"
    index = sublex.build(documents, tmp_path / "index", profile="anserini")
    index.to_ciff(tmp_path / "f.ciff")
    copy = sublex.from_ciff(tmp_path / "f.ciff", tmp_path / "copy", profile="anserini")
    for ranker in ("BM25", "BM25 >> RM3 >> BM25"):
        for opened, file in ((index, "ours"), (copy, "theirs")):
            opened.run(topics, ranker).write(tmp_path / file, "none", overwrite=True)
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


# The command.


def test_the_commands_write_and_read_a_file(tmp_path: Path) -> None:
    index = sublex.build(DEMO, tmp_path / "demo")
    index.delete(["birds-01"])
    done = invoke("ciff", "export", tmp_path / "demo", tmp_path / "f.ciff.gz")
    assert done.code == 0 and "deleted documents (left out)" in done.output and "251" in done.output
    assert "texts, written forms of words, and the analyzer english" in done.messages
    done = invoke(
        "ciff", "import", tmp_path / "copy", tmp_path / "f.ciff.gz", "--analyzer", "english", "--profile", "anserini"
    )
    assert done.code == 0 and "251" in done.output
    assert done.messages == "CIFF carries no texts and no written forms of words, so documents cannot be shown.\n"
    copy = sublex.open(tmp_path / "copy")
    assert (copy.profile, copy.snapshot.analyzer_expression, copy.store) == ("anserini", "english", {"terms"})
    done = invoke("search", tmp_path / "copy", "cranes by the river", "-k", "3")
    assert done.code == 0 and "birds" in done.output
    done = invoke("ciff", "export", tmp_path / "copy", tmp_path / "g.ciff", "--format", "json")
    assert done.code == 0 and '"documents": 251' in done.output


def test_positions_are_left_out_and_the_command_says_so(tmp_path: Path) -> None:
    for name, store in (("plain", "text,terms"), ("placed", "text,terms,positions")):
        sublex.build(DEMO, tmp_path / name, store=store)
    done = invoke("ciff", "export", tmp_path / "placed", tmp_path / "placed.ciff")
    assert "carry it: texts, positions, written forms of words, and the analyzer english" in done.messages
    sublex.open(tmp_path / "plain").to_ciff(tmp_path / "plain.ciff")
    assert (tmp_path / "placed.ciff").read_bytes() == (tmp_path / "plain.ciff").read_bytes()
    assert "positions" not in sublex.from_ciff(tmp_path / "placed.ciff", tmp_path / "i", analyzer="english").store


@pytest.mark.slow
def test_a_file_goes_through_pipes(tmp_path: Path) -> None:
    index = sublex.build(DEMO, tmp_path / "demo")
    index.to_ciff(tmp_path / "f")
    done = subprocess.run([*SUBLEX, "ciff", "export", tmp_path / "demo", "-"], capture_output=True, check=True)
    assert done.stdout == (tmp_path / "f").read_bytes()
    done = subprocess.run(
        [*SUBLEX, "ciff", "import", tmp_path / "copy", "-", "--analyzer", "english"], input=gzip.compress(done.stdout),
        capture_output=True, check=True,
    )  # fmt: skip
    assert postings_of(tmp_path / "copy") == postings_of(tmp_path / "demo")


def test_mistakes_on_the_command_line_cost_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "f.ciff").write_bytes(ciff())
    sublex.from_ciff(tmp_path / "f.ciff", tmp_path / "i", analyzer="plain").to_ciff(tmp_path / "g.ciff")
    for arguments, sentence in (
        (("import", tmp_path / "new", tmp_path / "f.ciff"), "does not name the analyzer.*for example english"),
        (("import", tmp_path / "new", tmp_path / "g.ciff"), "does not name the analyzer.*its description says plain"),
        (("import", tmp_path / "new", tmp_path / "f.ciff", "--analyzer", "plian"), "did you mean plain"),
        (("import", tmp_path / "new", tmp_path / "f.ciff", "--profile", "lucene"), "profile lucene"),
        (("import", tmp_path / "i", tmp_path / "f.ciff", "--analyzer", "plain"), "already an index"),
        (("import", tmp_path / "new", tmp_path / "none.ciff", "--analyzer", "plain"), "Cannot read"),
        (("export", tmp_path / "none", tmp_path / "h.ciff"), "No index"),
        (("export", tmp_path / "i", tmp_path / "no" / "h.ciff"), "There is no folder .*/no for h.ciff"),
        (("export", tmp_path / "i", tmp_path), "Cannot write"),
        (
            ("export", tmp_path / "i", DEMO),
            "is there, and nothing shows that Sublex wrote it as it is; choose another name, or",
        ),
    ):
        done = invoke("ciff", *arguments)
        assert done.code == 2, (arguments, done)
        assert done.messages.count("\n") == 1
        assert re.search(sentence, done.messages), done.messages
    assert not (tmp_path / "new").exists()
