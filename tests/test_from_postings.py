"""Indexes made of postings: they hold what the source says, and a source that contradicts itself costs a sentence."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import manifest_of, positions_of, postings_in_fields, postings_of
from strategies import collections, examples

import sublex
from sublex.building.writer import delete, merge_all
from sublex.contracts.base import Document
from sublex.contracts.foreign import DocumentsBatch, PostingsBatch
from sublex.contracts.operators import GAP, ordered, synonyms, window
from sublex.errors import IndexProblem, InputError
from sublex.index.check import check
from sublex.index.entries import AttachedEntry
from sublex.index.manifest import commit, read_manifest
from sublex.index.snapshot import Snapshot
from sublex.other_engines import posting_lists
from sublex.other_engines.from_postings import create_from_postings
from sublex.other_engines.live_postings import LivePostings
from sublex.retrieval.term_table import TermTable
from sublex.tools.workers import Workers

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")

# For each term the documents that hold it, with frequencies.
LISTS = {b"bank": {0: 2, 3: 1}, b"crane": {1: 1}, b"river": {0: 1, 1: 3, 2: 1}, "straße".encode(): {3: 4}}
DOCNOS = ("d0", "d 1", "d2", "d3", "d4")


class Given:
    """A source of postings whose parts a test chooses. Each batch has `step` terms or documents."""

    name = "FILE"

    def __init__(
        self,
        lists: dict[bytes, dict[int, int]] | Sequence[tuple[bytes, dict[int, int]]] = LISTS,
        docnos: Sequence[str] = DOCNOS,
        lengths: Sequence[int] | None = None,
        docs: int | None = None,
        tokens: int | None = None,
        step: int = 3,
    ):
        self.lists = list(lists.items() if isinstance(lists, dict) else lists)
        self.docnos, self.step, self.tokens = docnos, step, tokens
        self.docs = len(docnos) if docs is None else docs
        sums = [sum(tfs.get(doc, 0) for _, tfs in self.lists) for doc in range(len(docnos))]
        self.lengths = sums if lengths is None else lengths

    def postings(self) -> Iterator[PostingsBatch]:
        for begin in range(0, len(self.lists), self.step):
            part = self.lists[begin : begin + self.step]
            docs = np.array([doc for _, tfs in part for doc in tfs], np.int32)
            tfs = np.array([tf for _, tfs in part for tf in tfs.values()], np.int32)
            yield PostingsBatch([term for term, _ in part], np.array([len(t) for _, t in part]), docs, tfs)

    def documents(self) -> Iterator[DocumentsBatch]:
        for begin in range(0, len(self.docnos), self.step):
            end = begin + self.step
            yield DocumentsBatch(self.docnos[begin:end], np.array(self.lengths[begin:end], np.int64))


# The same postings as LISTS, with the places of each term in each document.
PLACES = {
    b"bank": {0: [0, 7], 3: [4]}, b"crane": {1: [2]}, b"river": {0: [1], 1: [0, 1, 900], 2: [2**31 - 1]},
    "straße".encode(): {3: [0, 1, 2, 3]},
}  # fmt: skip


class Placed(Given):
    """A source of postings with positions. `change` gets each batch and returns the batch that is yielded."""

    has_positions = True

    def __init__(
        self,
        places: dict[bytes, dict[int, list[int]]] | Sequence[tuple[bytes, dict[int, list[int]]]] = PLACES,
        change: Callable[[PostingsBatch], Any] = lambda batch: batch,
        **more: Any,
    ):
        self.places = list(places.items() if isinstance(places, dict) else places)
        super().__init__([(term, {doc: len(at) for doc, at in lists.items()}) for term, lists in self.places], **more)
        self.change = change

    def postings(self) -> Iterator[PostingsBatch]:
        for begin, batch in zip(range(0, len(self.places), self.step), super().postings(), strict=True):
            places = [at for _, lists in self.places[begin : begin + self.step] for at in lists.values()]
            yield self.change(batch._replace(positions=np.array([p for at in places for p in at])))


def expected(lists: dict[bytes, dict[int, int]] = LISTS, docnos: Sequence[str] = DOCNOS) -> dict[str, dict[str, int]]:
    return {term.decode(): {docnos[doc]: tf for doc, tf in tfs.items()} for term, tfs in lists.items()}


def test_an_index_holds_the_postings_lengths_and_docnos_of_its_source(tmp_path: Path) -> None:
    summary = create_from_postings(tmp_path / "i", Given(), analyzer="plain")
    assert check(tmp_path / "i") == []
    snapshot = Snapshot(tmp_path / "i")
    assert postings_of(tmp_path / "i") == expected()
    assert snapshot.statistics == (5, 13, 7)
    assert snapshot.segments[0].lengths.tolist() == [3, 4, 1, 5, 0]
    assert snapshot.store == {"terms"} and snapshot.manifest.attached is None
    assert snapshot.analyzer_expression.startswith("plain")
    assert (summary.read, summary.indexed, summary.empty, summary.white_space) == (5, 5, ["d4"], ["d 1"])
    assert summary.notes == {}
    counts, terms, tfs = snapshot.segments[0].terms_of(np.array([3, 0]))
    assert (counts.tolist(), terms.tolist(), tfs.tolist()) == ([2, 2], [0, 3, 0, 2], [1, 4, 2, 1])
    assert snapshot.segments[0].surface(3) == "straße"
    hits = sublex.open(tmp_path / "i").search("river", "BM25", k=10)
    assert {hit.docno for hit in hits} == {"d0", "d 1", "d2"}


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(collections(), collections(), st.integers(0, 3))
def test_the_postings_of_an_index_make_the_same_index(old: list[Document], new: list[Document], deleted: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(posting_lists, "POSTINGS_PER_PASS", 7)
        first, second = Path(folder, "first"), Path(folder, "second")
        index = sublex.build(old, first)
        index.add(new, duplicates="first")
        if deleted:
            index.delete([document.docno for document in old[:deleted]])
        if not len(index):
            return
        with Workers(2) as workers:
            create_from_postings(second, LivePostings(Snapshot(first), workers))
        merge_all(first, 1)
        assert check(second) == []
        a, b = (Snapshot(path).segments[0].folder for path in (first, second))
        for name, component in b:
            if not name.startswith("surface"):
                assert np.array_equal(component.all(), a[name].all()), name
        assert Snapshot(first).statistics == Snapshot(second).statistics


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("turn", [1, -1])
def test_an_index_holds_the_positions_of_its_source(step: int, turn: int, tmp_path: Path) -> None:
    empty = {b"": {1: [5, 6]}, b"a": {}}
    create_from_postings(tmp_path / "i", Placed(list((PLACES | empty).items())[::turn], step=step))
    assert positions_of(tmp_path / "i") == {
        term.decode(): {DOCNOS[doc]: at for doc, at in lists.items()} for term, lists in PLACES.items()
    }
    assert postings_of(tmp_path / "i") == expected()
    assert check(tmp_path / "i") == [] and Snapshot(tmp_path / "i").store == {"terms", "positions"}
    delete(tmp_path / "i", ["d0"])
    assert positions_of(tmp_path / "i")["bank"] == {"d3": [4]}


@settings(max_examples=examples(30))
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=2).map(str.encode),
        st.dictionaries(st.integers(0, 4), st.sets(st.integers(0, 2**31 - 1), min_size=1), min_size=1, max_size=5),
        min_size=1,
    ),
    st.integers(1, 5),
)
def test_positions_of_any_source_come_back(lists: dict[bytes, dict[int, set[int]]], step: int) -> None:
    places = {term: {doc: sorted(lists[term][doc]) for doc in sorted(lists[term])} for term in lists}
    with tempfile.TemporaryDirectory() as folder:
        create_from_postings(Path(folder, "i"), Placed(places, step=step))
        assert positions_of(Path(folder, "i")) == {
            term.decode(): {DOCNOS[doc]: at for doc, at in found.items()} for term, found in places.items()
        }


def test_operators_reach_the_highest_positions(tmp_path: Path) -> None:
    top, phrase = 2**31 - 1, ordered(["a", "b"])
    create_from_postings(tmp_path / "i", Placed({b"a": {0: [top - 2]}, b"b": {0: [top - 1]}, b"c": {0: [0, top]}}))
    table = TermTable(Snapshot(tmp_path / "i"))
    for operator, expected in (
        (phrase, [1]), (ordered(["b", "a"], 1 << 20), []), (ordered(["a", GAP, "c"]), [1]), (window(["c", "a"], 2), []),
        (window(["c", "a"], 3), [1]), (ordered([phrase, "c"], 1 << 20), [1]), (window([phrase, "c"], 3), [1]),
        (synonyms([phrase, "c"]), [3]),
    ):  # fmt: skip
        assert table.postings(operator, 0)[1].tolist() == expected, operator


def test_terms_at_one_place_are_neighbours(tmp_path: Path) -> None:
    create_from_postings(tmp_path / "i", Placed({b"car": {0: [5]}, b"old": {0: [4]}, b"vehicle": {0: [5]}}))
    table = TermTable(Snapshot(tmp_path / "i"))
    both = ["car", "vehicle"]
    for operator, expected in (
        (window(both, 2), [1]), (synonyms(both), [2]), (ordered(both), []), (ordered(["old", "vehicle"]), [1]),
    ):  # fmt: skip
        assert table.postings(operator, 0)[1].tolist() == expected, operator


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (Placed({b"bank": {0: [3, 3]}}), "list of 'bank' has the position 3 after 3 in document 0, and positions must"),
        (Placed({b"a": {0: [9]}, b"bank": {0: [1, 2], 3: [5, 4]}}), "of 'bank' has the position 4 after 5 in document 3"),
        (Placed({b"bank": {2: [-1, 4]}}), "the posting list of 'bank' has the position -1 in document 2"),
        (Placed({b"bank": {2: [2**31 - 1, -(2**31)]}}), "the position -2,147,483,648 after 2,147,483,647 in document 2"),
        (Placed({b"bank": {2: [2**31]}}), "no whole numbers of 32 bits"),
        (Placed(change=lambda b: b._replace(positions=b.positions * 0.5)), "no whole numbers of 32 bits"),
        (Placed(change=lambda b: b._replace(positions=b.positions[1:])), "positions whose number does not fit the freq"),
        (Placed(change=lambda b: b._replace(tfs=b.tfs * np.where(b.docs == 1, -1, 1))), "number does not fit the freq"),
        (Placed(change=lambda b: b._replace(tfs=b.tfs * 0, positions=b.positions[:0])), "has the frequency 0 in doc"),
        (Placed(step=1, change=lambda b: b if b.terms == [b"bank"] else b._replace(positions=None)), "lacks positions"),
    ],
)  # fmt: skip
def test_positions_that_contradict_themselves_cost_a_sentence(source: Placed, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        create_from_postings(tmp_path / "i", source)
    assert str(error.value).startswith("FILE") and "\n" not in str(error.value)
    assert not (tmp_path / "i").exists()


class WithFields(Placed):
    """The source `Placed` with two fields: all positions below 3 are in the title, the others in the body."""

    fields = ("body", "title")
    begins: Any = ([3] * 5, [0] * 5)

    def postings(self) -> Iterator[PostingsBatch]:
        change, self.change = self.change, lambda batch: batch
        for batch in super().postings():
            each = np.split(batch.positions, np.cumsum(batch.tfs)[:-1])  # type: ignore[arg-type]
            title = np.array([(np.asarray(at) < 3).sum() for at in each], np.int32)
            yield change(batch._replace(field_tfs=[batch.tfs - title, title]))

    def documents(self) -> Iterator[DocumentsBatch]:
        begin = 0
        for batch in super().documents():
            end = begin + len(batch.docnos)
            yield batch._replace(field_begins=[np.array(at[begin:end]) for at in self.begins])
            begin = end


BELOW_THE_END = PLACES | {b"river": {0: [1], 1: [0, 1, 900], 2: [2**31 - 2]}}


@pytest.mark.parametrize("turn", [1, -1])
def test_an_index_holds_the_fields_of_its_source(turn: int, tmp_path: Path) -> None:
    places = BELOW_THE_END | {b"": {1: [5, 6]}, b"a": {}}
    source = WithFields(list(places.items())[::turn], lengths=[9, 4, 1, 5, 0], tokens=99)
    summary = create_from_postings(tmp_path / "i", source)
    assert check(tmp_path / "i") == [] and manifest_of(tmp_path / "i")["fields"] == ["body", "title"]
    found = postings_in_fields(sublex.open(tmp_path / "i"))
    assert found["title"] == {
        "bank": {"d0": 1}, "crane": {"d 1": 1}, "river": {"d0": 1, "d 1": 2}, "straße": {"d3": 3},
    }  # fmt: skip
    assert found["body"] == {"bank": {"d0": 1, "d3": 1}, "river": {"d 1": 1, "d2": 1}, "straße": {"d3": 1}}
    snapshot = Snapshot(tmp_path / "i")
    assert snapshot.field_lengths("title").tolist() == [2, 3, 0, 3, 0] and snapshot.field_tokens("body") == 5
    assert snapshot.field_lengths("body").tolist() == [1, 1, 1, 2, 0]
    begins, ends = snapshot.segments[0].field_places("body")
    assert begins.tolist() == [3] * 5 and min(ends) == 2**31 - 1
    # Lengths and tokens that do not fit the fields are replaced by the sums.
    assert snapshot.segments[0].lengths.tolist() == [3, 4, 1, 5, 0] and snapshot.statistics.tokens == 13
    notes = list(summary.notes)
    assert any(note.startswith("The lengths of 1 of 5 documents differ from the sums") for note in notes)
    assert any(note.startswith("The source states 99 tokens") for note in notes)
    delete(tmp_path / "i", ["d0"])
    assert Snapshot(tmp_path / "i").field_tokens("title") == 6


@pytest.mark.parametrize(
    ("change", "begins", "sentence"),
    [
        (lambda b: b._replace(field_tfs=[b.tfs]), None, "has 2 fields, and brings frequencies in 1"),
        (lambda b: b._replace(field_tfs=[b.tfs, b.tfs]), None, "frequencies in fields that do not add up"),
        (lambda b: b._replace(field_tfs=[b.tfs + 1, b.tfs * 0 - 1]), None, "frequencies in fields that do not add up"),
        (lambda b: b._replace(field_tfs=[b.tfs[1:], b.tfs]), None, "frequencies in fields that do not add up"),
        (lambda b: b._replace(field_tfs=[b.tfs * 0.5] * 2), None, "no whole numbers of 32 bits"),
        (None, ([3] * 5,), "places of fields that do not fit"),
        (None, ([3] * 5, [0] * 4), "places of fields that do not fit"),
        (None, ([-1] * 5, [0] * 5), "fields whose places do not ascend"),
        (None, ([2**31] * 5, [0] * 5), "fields whose places do not ascend"),
        (
            lambda b: b._replace(positions=b.positions + (b.positions > 900)),
            None,
            "has a word at the position 2,147,483,647, and fields end there",
        ),
    ],
)
def test_fields_that_contradict_themselves_cost_a_sentence(
    change: Any, begins: Any, sentence: str, tmp_path: Path
) -> None:
    source = WithFields(BELOW_THE_END, **({"change": change} if change else {}))
    source.begins = begins or source.begins
    with pytest.raises(InputError, match=sentence) as error:
        create_from_postings(tmp_path / "i", source)
    assert str(error.value).startswith("FILE") and not (tmp_path / "i").exists()


def test_positions_that_a_source_does_not_announce_are_refused(tmp_path: Path) -> None:
    source = Placed()
    source.has_positions = False
    with pytest.raises(InputError, match="FILE brings positions without has_positions"):
        create_from_postings(tmp_path / "i", source)


def test_terms_in_any_order_make_the_same_index(tmp_path: Path) -> None:
    create_from_postings(tmp_path / "a", Given())
    create_from_postings(tmp_path / "b", Given(list(LISTS.items())[::-1], step=1))
    assert read_manifest(tmp_path / "a") == read_manifest(tmp_path / "b")
    assert check(tmp_path / "b") == []


def test_lengths_and_tokens_that_the_source_states_are_kept_through_deletions_and_merges(tmp_path: Path) -> None:
    summary = create_from_postings(tmp_path / "i", Given(lengths=[3, 0, 9, 5, 0], tokens=30))
    assert [note.split(" documents differ")[0] for note in summary.notes] == [
        "A document has terms but the length 0; the sum of its frequencies was taken",
        "The lengths of 1 of 5",
    ]
    snapshot = Snapshot(tmp_path / "i")
    assert snapshot.segments[0].lengths.tolist() == [3, 4, 9, 5, 0]
    assert snapshot.statistics == (5, 30, 7)
    delete(tmp_path / "i", ["d0"])
    assert Snapshot(tmp_path / "i").statistics == (4, 27, 5)
    assert check(tmp_path / "i") == []
    sublex.open(tmp_path / "i").add([Document("new", "bank bank")])
    merge_all(tmp_path / "i", 1)
    merged = Snapshot(tmp_path / "i")
    assert merged.statistics == (5, 29, 6)
    assert merged.segments[0].lengths.tolist() == [4, 9, 5, 0, 2]
    assert check(tmp_path / "i") == []


def test_indexes_that_differ_only_in_stated_tokens_have_different_fingerprints(tmp_path: Path) -> None:
    for tokens in (13, 20, 30):
        create_from_postings(tmp_path / str(tokens), Given(tokens=tokens))
    create_from_postings(tmp_path / "again", Given(tokens=30))
    fingerprints = [Snapshot(tmp_path / name).fingerprint for name in ("13", "20", "30", "again")]
    assert len(set(fingerprints)) == 3 and fingerprints[2] == fingerprints[3]


def test_a_number_of_tokens_below_the_sum_of_frequencies_is_noted(tmp_path: Path) -> None:
    summary = create_from_postings(tmp_path / "i", Given(tokens=3))
    assert list(summary.notes) == ["The source states 3 tokens, but its frequencies add up to 13, which was taken"]
    assert Snapshot(tmp_path / "i").statistics.tokens == 13


def test_the_empty_term_and_terms_without_postings_are_left_out(tmp_path: Path) -> None:
    summary = create_from_postings(tmp_path / "i", Given({b"": {1: 2}, b"a": {}, **LISTS, "ß".encode(): {}}, step=2))
    assert postings_of(tmp_path / "i") == expected()
    assert list(summary.notes.items())[:2] == [
        ("A term without postings was left out", 2),
        ("The empty term was left out", 1),
    ]
    assert check(tmp_path / "i") == []


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (Given({b"bank": {0: 1, 5: 1}}), "the posting list of 'bank' names document 5, but .* numbers 0 to 4"),
        (Given({b"bank": {-1: 1}}), "the posting list of 'bank' names document -1,"),
        (Given({b"a": {0: 1}, b"bank": {2: 1, 1: 1}}), "the posting list of 'bank' names document 1 after document 2"),
        (Given({b"bank": {0: 1, 2: 0}}), "the posting list of 'bank' has the frequency 0 in document 2"),
        (Given({b"bank": {0: -7}}), "the posting list of 'bank' has the frequency -7 in document 0"),
        (Given({b"\xff": {0: 1}}), r"has a term that is not UTF-8, '\\\\xff'"),
        (Given([(b"\xc3", {0: 1}), (b"\xa9", {0: 1})]), "has a term that is not UTF-8"),
        (Given([(b"a", {0: 1}), (b"a", {1: 1})]), "two posting lists for the term 'a'"),
        (Given([(b"b", {0: 1}), (b"a", {1: 1}), (b"b", {2: 1})], step=1), "two posting lists for the term 'b'"),
        (Given(docnos=("a", "b", "c", "d", "a")), "two documents with the docno 'a'"),
        (Given(docnos=("a", "b\0b", "c", "d", "e")), r"the docno 'b\\x00b' has a NUL character"),
        (Given(docnos=("a", "b", "", "d", "e")), "document 2 has an empty docno"),
        (Given(docnos=("a", "b", "\ud800", "d", "e")), "a docno that is not UTF-8"),
        (Given(docs=6), "claims 6 documents, but describes 5"),
        (Given(docs=4), "names document|claims 4 documents, but describes more"),
        (Given(docs=0), "has 0 documents"),
        (Given(docs=2**31), "has 2,147,483,648 documents"),
        (Given(lengths=(3, 4, 1, 5, -1)), "document 4 has the length -1"),
        (Given(lengths=(3, 4, 1, 5, 2**40)), "document 4 has the length 1,099,511,627,776"),
        (Given(lengths=(3, 4, 1)), "claims 5 documents"),
    ],
)  # fmt: skip
def test_a_source_that_contradicts_itself_costs_a_sentence_and_leaves_nothing(
    source: Given, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        create_from_postings(tmp_path / "i", source)
    assert str(error.value).startswith("FILE") and "\n" not in str(error.value)
    assert not (tmp_path / "i").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda batch: batch._replace(df=batch.df[:-1]),
        lambda batch: batch._replace(df=batch.df + 1),
        lambda batch: batch._replace(df=batch.df * np.array([-1, 3, 1])),
        lambda batch: batch._replace(tfs=batch.tfs[1:]),
        lambda batch: batch._replace(docs=batch.docs.astype(np.int64) + 2**33),
        lambda batch: batch._replace(tfs=batch.tfs * 0.5),
    ],
)
def test_arrays_that_do_not_fit_each_other_cost_a_sentence(
    change: Callable[[PostingsBatch], Any], tmp_path: Path
) -> None:
    source = Given()
    batches = [*source.postings()]
    source.postings = lambda: iter([change(batches[0]), *batches[1:]])  # type: ignore[method-assign]
    with pytest.raises(InputError, match="sizes do not fit each other|no whole numbers of 32 bits"):
        create_from_postings(tmp_path / "i", source)


def test_an_index_that_is_there_stays_until_the_new_one_is_finished(tmp_path: Path) -> None:
    create_from_postings(tmp_path / "i", Given())
    before = read_manifest(tmp_path / "i")
    with pytest.raises(IndexProblem, match="already an index"):
        create_from_postings(tmp_path / "i", Given())
    with pytest.raises(InputError, match="empty docno"):
        create_from_postings(tmp_path / "i", Given(docnos=("", "b", "c", "d", "e")), overwrite=True)
    assert read_manifest(tmp_path / "i") == before and check(tmp_path / "i") == []
    create_from_postings(tmp_path / "i", Given({b"new": {0: 1}}), overwrite=True)
    assert postings_of(tmp_path / "i") == {"new": {"d0": 1}} and read_manifest(tmp_path / "i").generation == 2


def test_an_entry_for_an_attached_index_is_written_into_the_manifest(tmp_path: Path) -> None:
    entry = {"backend": "other", "state": "1", "id": "0" * 32, "stores": [], "options": {}}
    create_from_postings(tmp_path / "i", Given(), attached=AttachedEntry("other", "1", "0" * 32, (), {}))
    assert manifest_of(tmp_path / "i")["attached"] == entry


def test_only_a_segment_with_stated_lengths_may_have_other_lengths(tmp_path: Path) -> None:
    create_from_postings(tmp_path / "i", Given(lengths=[3, 4, 2, 5, 0]))
    manifest = read_manifest(tmp_path / "i")
    assert manifest.segments[0].stated and manifest_of(tmp_path / "i")["segments"][0]["stated"] is True
    commit(tmp_path / "i", manifest.next(segments=(manifest.segments[0]._replace(stated=False),)))
    assert "stated" not in manifest_of(tmp_path / "i")["segments"][0]
    assert any("lengths do not fit the postings" in problem for problem in check(tmp_path / "i"))


def test_fewer_stated_tokens_than_the_postings_hold_are_noticed(tmp_path: Path) -> None:
    create_from_postings(tmp_path / "i", Given(tokens=30))
    manifest = read_manifest(tmp_path / "i")
    commit(tmp_path / "i", manifest.next(segments=(manifest.segments[0]._replace(tokens=12),)))
    assert any("totals in the manifest do not fit" in problem for problem in check(tmp_path / "i"))


def test_progress_counts_terms(tmp_path: Path) -> None:
    counts: list[int] = []
    create_from_postings(tmp_path / "i", Given(), progress=counts.append)
    assert counts == [3, 4]
