"""Fields: what an index keeps of the fields of documents is what a plain count gives, whatever was done to the index."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import naive
import numpy as np
import pytest
from command import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import DEMO, manifest_of, write_manifest
from strategies import collections as some_documents
from strategies import examples

import sublex
from sublex.analysis.tokens import located_terms, tokenize
from sublex.building import term_merge
from sublex.building.inverter import Inverter, count_terms
from sublex.building.merge import merge_segments
from sublex.building.vocabulary import TokenVocabulary
from sublex.contracts.base import Break, Document
from sublex.contracts.fields import field_names, text_of
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.index.check import check
from sublex.index.components.fields import encode_field
from sublex.index.directory import Directory
from sublex.index.format import FolderWriter
from sublex.index.schema import as_json
from sublex.language.plugins import load as registry
from sublex.pipeline.index import Index
from sublex.readers import batch

SMALL = settings(max_examples=examples(60))
ALL = "text,terms,positions"
ODD = [
    Document(
        "a", "the whale and the state-of-the-art whale", "The Whale", {"place": "the sea", "tags": ["whale", 3, None]}
    ),
    Document("b", "", "A title alone, twice: a title"),
    Document("c", "no title, and wi-fi foo_bar:baz 3.14", fields={"place": None, "year": 1851}),
    Document("d", "the of and", "of the", {"place": "of the", "tags": {"first": "sea", "second": ["cat", True]}}),
    Document("e", "whale " * 700 + "the " * 70_000 + "whale", fields={"place": "whale " * 300}),
    Document("f", "Schr\\\\\"odinger's cat\n\nwhale", "\n", {"place": "\ud800 Nantucket"}),
    Document("g", ""),
    Document("h", "鯨は大きい whale", "鯨", {"place": "鯨"}),
    Document("i", "", fields={"tags": "only tags", "place": ""}),
]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """The documents of the demo collection, of which some have other fields."""
    lines = map(json.loads, DEMO.read_text(encoding="utf-8").splitlines())
    return [
        Document(
            line["id"], line["text"], line["title"], {"place": line["text"][-30:]} if k % 3 else {"tags": [k, "whale"]}
        )
        for k, line in enumerate(lines)
    ]


def text_in(value: Any) -> str:
    """Return the text of a field's value by the definition in the documentation."""
    match value:
        case None:
            return ""
        case str():
            # Half a surrogate pair is no character.
            return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in value)
        case list():
            return "\n".join(text for text in map(text_in, value) if text)
        case dict():
            return text_in(list(value.values()))
    return json.dumps(value)


def rows_of(index: Index, document: Document) -> list[list[list[str]]]:
    """Return the terms of each raw token of each content field of a document."""
    others = [name for name in index.fields if name not in ("title", "text")]
    values = [document.title, document.text, *(text_in(document.fields.get(name)) for name in others)]
    return [[terms for _, _, terms in located_terms(index.analyzer, value)] for value in values]


def counted(index: Index, documents: Iterable[Document]) -> dict[str, Any]:
    """Return, for each document, what the index should have of it: term frequencies and places by field, and positions."""
    names = ["title", "text", *(name for name in index.fields if name not in ("title", "text"))]
    found = {}
    for document in documents:
        rows = rows_of(index, document)
        counts = [Counter(term for terms in row for term in terms) for row in rows]
        begins = [*naive.field_begins(rows), 2**31 - 1]
        found[document.docno] = {
            "whole": sum(counts, Counter()),
            "fields": {name: counts[names.index(name)] for name in index.fields},
            "places": {name: tuple(begins[names.index(name) :][:2]) for name in index.fields},
            "positions": naive.positions(*rows),
        }
    return found


def stored(index: Index) -> dict[str, Any]:
    """Return what the index has of each live document, in the form of `counted`."""
    found: dict[str, Any] = {}
    for segment in index.snapshot.segments:
        every = np.arange(len(segment.terms))
        docs, tfs = segment.gather(every)
        terms = np.repeat(every, segment.df).tolist()
        positions = np.split(segment.gather_positions(every, tfs), np.cumsum(tfs))[:-1]
        fields = {name: segment.field_tfs(name, every) for name in index.fields}
        lengths = {name: segment.field_lengths(name) for name in index.fields}
        places = {name: segment.field_places(name) for name in index.fields}
        for doc in np.flatnonzero(~segment.dead).tolist():
            found[segment.docno(doc)] = {
                "whole": Counter(), "fields": {name: Counter() for name in index.fields}, "positions": {},
                "places": {name: (int(begins[doc]), int(ends[doc])) for name, (begins, ends) in places.items()},
            }  # fmt: skip
        for k, (doc, tf) in enumerate(zip(docs.tolist(), tfs.tolist(), strict=True)):
            if segment.dead[doc]:
                continue
            term, one = segment.terms.text(terms[k]), found[segment.docno(doc)]
            one["whole"][term], one["positions"][term] = tf, positions[k].tolist()
            for name, values in fields.items():
                assert values.dtype == np.int32 and 0 <= values[k] <= tf
                if values[k]:
                    one["fields"][name][term] = int(values[k])
        for doc in np.flatnonzero(~segment.dead).tolist():
            for name, counts in found[segment.docno(doc)]["fields"].items():
                assert lengths[name][doc] == counts.total()
    return found


def assert_right(index: Index, documents: Iterable[Document]) -> None:
    documents = list(documents)
    expected = counted(index, documents)
    assert stored(index) == expected
    for name in index.fields:
        assert index.snapshot.field_tokens(name) == sum(one["fields"][name].total() for one in expected.values())
    assert len(index.snapshot.field_lengths(index.fields[0])) == index.snapshot.bases[-1]
    assert check(index.path) == []


@pytest.mark.slow
@pytest.mark.parametrize("fields", ["title,text", "title", "text", "text,place,tags", "year,title", "place"])
def test_the_frequencies_of_fields_are_those_of_their_words(tmp_path, documents, fields):
    given = documents + ODD
    index = sublex.build(given, tmp_path / "index", store=ALL, fields=fields)
    assert index.fields == tuple(fields.split(","))
    assert_right(index, given)


@pytest.mark.slow
@pytest.mark.parametrize("analyzer", ["english(stop=none, stem=none)", "english(latex=true)", "plain"])
def test_fields_are_counted_by_the_analyzer(tmp_path, documents, analyzer):
    given = documents + ODD
    assert_right(sublex.build(given, tmp_path / "index", store=ALL, analyzer=analyzer, fields="tags,title,text"), given)


def test_an_index_with_title_and_text_has_the_postings_of_one_without_fields(tmp_path, documents):
    given = documents + ODD
    index, without = (
        sublex.build(given, tmp_path / name, store=ALL, fields=fields)
        for name, fields in (("with", "title,text"), ("without", ""))
    )
    own, other = (made.path / "segments" / "000001" for made in (index, without))
    added = {file.name for file in own.iterdir()} - {file.name for file in other.iterdir()}
    assert added == {
        "field_tfs_0.npy", "field_widths_0.npy", "field_tails_0.npy", "field_tail_sizes_0.npy", "field_lengths_0.npy", "field_begins_1.npy"
    }  # fmt: skip
    for file in other.iterdir():
        assert file.name == "checksums.npy" or (own / file.name).read_bytes() == file.read_bytes()
    assert index.fingerprint != without.fingerprint
    assert list(index.documents()) == list(without.documents())


def test_documents_are_given_back_and_their_contents_have_all_fields(tmp_path):
    index = sublex.build(ODD, tmp_path / "index", fields="place,tags")
    for document in ODD:
        found = index.document(document.docno)
        assert (found.title, found.text, found.searched) == (document.title, document.text, ("place", "tags"))
    assert index.document("a").contents == "The Whale\nthe whale and the state-of-the-art whale\n\nthe sea\n\nwhale\n3"
    assert index.document("i").contents == "\n\nonly tags"
    assert index.document("c").contents == ODD[2].text
    again = sublex.build(index.documents(), tmp_path / "again", fields="place,tags")
    assert again.fingerprint == index.fingerprint
    plain = sublex.build(index.documents(), tmp_path / "plain")
    assert [hit.docno for hit in index.search("nantucket")] == ["f"] and not list(plain.search("nantucket"))


def test_a_break_stands_before_each_field_where_words_are_read_in_order(tmp_path):
    document = Document("a", "white whale", "big sea", {"place": "cold north", "tags": ["ship", "crew"]})
    index = sublex.build([document], tmp_path / "index", fields="place,tags")
    (block,) = index.corpus.words().blocks()
    starts = [bool(breaks & Break.START) for breaks in block.breaks.tolist()]
    assert starts == [True, False, True, False, True, False, True, False]
    assert [word.after_break for word in index.corpus.sequence(0)][2::2] == [False, True, True]


@pytest.mark.slow
def test_fields_follow_their_documents_through_every_change(tmp_path, documents):
    left = documents + ODD
    index = sublex.build(left, tmp_path / "index", store=ALL, fields="title,tags")
    new = [
        Document("new", "a whale by the river of whales", "Whales", {"tags": "river"}),
        Document("newer", "the harpoon"),
    ]
    index.add(new)
    assert index.fields == ("title", "tags")
    left = left + new
    assert_right(index, left)
    gone = {document.docno for document in left[::7]} | {"newer", "e"}
    index.delete(sorted(gone))
    left = [document for document in left if document.docno not in gone]
    assert_right(index, left)
    index.merge()
    assert_right(index, left)
    index.delete([left[5].docno])
    del left[5]
    index.merge(reorder=True)
    assert_right(index, left)


@SMALL
@given(some_documents(most=12), some_documents(0, 6), st.sampled_from([1, 2]), st.data())
def test_the_fields_of_any_collection_are_right_whatever_is_done_to_it(given, more, number, data):
    words = st.sampled_from(["", "whale", "the", "the whale", "cat cat", "cat\nwhale"])
    values = st.none() | words | st.lists(words | st.integers(0, 9), max_size=3)
    given, more = ([d._replace(fields={"place": data.draw(values)}) for d in docs] for docs in (given, more))
    given.append(Document("last", "text", "title", {"place": "place"}))
    added = [document._replace(docno=f"new {document.docno}") for document in more]
    fields = data.draw(st.sampled_from(["title,text", "title", "place", "text,place", "place,title,text"]))
    parts = mock.patch.multiple(term_merge, WINDOW_TERMS=1, LEAST_TERMS=number, RANGE_POSTINGS=number)
    with tempfile.TemporaryDirectory() as place, parts, mock.patch.object(batch, "BATCH_BYTES", 100):
        reorder = data.draw(st.booleans())
        index = sublex.build(given + given[::3], Path(place) / "index", store=ALL, reorder=reorder, fields=fields)
        left = list(given)
        if added:
            index.add(added)
            left += added
        if gone := data.draw(st.sets(st.sampled_from(range(len(left))), max_size=len(left) - 1)):
            index.delete([left[k].docno for k in sorted(gone)])
            left = [document for k, document in enumerate(left) if k not in gone]
        assert_right(index, left)
        index.merge(reorder=data.draw(st.booleans()))
        assert_right(index, left)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("title,place,title", "The field title is named twice; name it once."),
        ("2nd", "'2nd' (str) is no name of a field; a name begins with a letter and has letters, digits, _, - and dots, at "),
        ("title,,text", "'' (str) is no name of a field; "),
        ("a" * 201, "is no name of a field"),
        (["title", 3], "3 (int) is no name of a field"),
        (7, 'The fields are 7 (int); give their names, such as "title,text".'),
        ("title,editor", "No document has a term in the field editor; leave it out, or name a field that documents have."),
    ],
)  # fmt: skip
def test_a_wrong_field_costs_a_sentence(tmp_path, fields, message):
    with pytest.raises(InputError) as error:
        sublex.build(ODD, tmp_path / "index", fields=fields)
    assert message in str(error.value)
    assert not (tmp_path / "index" / "index.json").exists()


def test_fields_have_names_of_any_script():
    assert field_names(" title , größe-2.x ") == ("title", "größe-2.x")
    assert field_names(["年"]) == ("年",) and field_names("") == ()


def test_text_of_a_value_that_is_nested_deeply():
    value: Any = "deep"
    for _ in range(100_000):
        value = [value, None]
    assert text_of(value) == "deep"


def test_asking_for_a_field_that_is_not_there_says_which_there_are(tmp_path):
    index = sublex.build(ODD, tmp_path / "index", fields="title,place")
    index.snapshot.need_field("place")
    with pytest.raises(InputError) as error:
        index.snapshot.need_field("text")
    assert str(error.value) == f"{index.path} has no field text; its fields are title, place."
    plain = sublex.build(ODD, tmp_path / "plain")
    with pytest.raises(InputError) as error:
        plain.snapshot.need_field("title")
    assert str(error.value) == (
        f"{plain.path} was built without fields, so it has no field title; "
        f"rebuild it: sublex index {plain.path} SOURCE… --overwrite --fields title,text"
    )
    parts = sublex.build(ODD, tmp_path / "parts", columns="place:text,year:int", store="text")
    rebuilt = f"rebuild it: sublex index {parts.path} SOURCE… --overwrite --store"
    with pytest.raises(InputError) as error:
        parts.snapshot.need_field("title")
    assert str(error.value).endswith(f"{rebuilt} text --fields title,text --columns place:text,year:int")
    parts = sublex.build(ODD, tmp_path / "parts", fields="place", columns="place:text", store="text", overwrite=True)
    with pytest.raises(IndexProblem) as problem:
        parts.snapshot.need("positions", "phrases need")
    assert str(problem.value).endswith(f"{rebuilt} positions,text --fields place --columns place:text")


def test_fields_of_spills_are_merged_and_memory_does_not_change_the_index(tmp_path, documents):
    source = tmp_path / "documents.jsonl"
    with source.open("w", encoding="utf-8") as file:
        for k in range(5):
            for d in documents:
                record = {"id": f"{d.docno}-{k}", "title": d.title, "text": d.text, **d.fields}
                file.write(json.dumps(record) + "\n")
    # Batches are cut into frames of texts, so their size changes those.
    options: dict[str, Any] = {"store": "terms,positions", "fields": "place,title,text"}
    whole = sublex.build(source, tmp_path / "whole", workers=1, **options)
    with mock.patch("sublex.readers.batch.BATCH_BYTES", 1 << 16):
        in_parts = sublex.build(source, tmp_path / "parts", workers=2, **options)
        memory = mock.patch("sublex.building.segment_builder.SegmentBuilder._memory_for_segment", lambda self: 0)
        merging = mock.patch("sublex.building.segment_builder.merge_segments", side_effect=merge_segments)
        with memory, merging as merged:
            spilled = sublex.build(source, tmp_path / "spilled", workers=2, **options)
    assert len(merged.call_args.args[0]) > 2
    assert whole.fingerprint == in_parts.fingerprint == spilled.fingerprint
    assert check(spilled.path) == []


def test_a_build_is_resumed_with_the_same_fields_only(tmp_path, documents):
    source = tmp_path / "documents.jsonl"
    source.write_text("".join(json.dumps({"id": d.docno, "title": d.title, "text": d.text}) + "\n" for d in documents))
    expected = sublex.build(source, tmp_path / "expected", fields="title,text", store="terms,positions")
    options: dict[str, Any] = {"store": "terms,positions", "workers": 1}
    spill = mock.patch("sublex.building.segment_builder.SegmentBuilder._memory_for_segment", lambda self: 0)
    small = mock.patch("sublex.readers.batch.BATCH_BYTES", 1 << 12)
    stopped = mock.patch("sublex.building.segment_builder.merge_segments", side_effect=KeyboardInterrupt)
    with spill, small:
        with stopped, pytest.raises(KeyboardInterrupt):
            sublex.build(source, tmp_path / "index", fields="title,text", **options)
        for fields in ("", "title", "text,title"):
            with pytest.raises(InputError, match="start again without resume"):
                sublex.build(source, tmp_path / "index", fields=fields, resume=True, **options)
        index = sublex.build(source, tmp_path / "index", fields="title,text", resume=True, **options)
    assert index.fingerprint == expected.fingerprint
    assert check(index.path) == []


def test_kernels_code_the_frequencies_as_the_definition_says():
    chance = np.random.default_rng(5)
    df = np.array([0, 1, 127, 128, 129, 300, 512, 3])
    lists = [
        chance.integers(0, most, size) for size, most in zip(df, (1, 9, 300, 2, 1, 2**31, 1 << 20, 1), strict=True)
    ]
    lists[5][130:256] = 0
    tfs = np.concatenate(lists).astype(np.int32)
    encoded = encode_field(tfs, df)
    expected = [naive.encode_field(part.tolist()) for part in lists]
    assert encoded.words.tolist() == [word for one in expected for word in one.words]
    assert encoded.widths.tolist() == [width for one in expected for width in one.widths]
    assert encoded.tails.tobytes() == b"".join(one.tail for one in expected)
    assert encoded.tail_sizes.tolist() == [len(one.tail) for one in expected]
    # Blocks and tails of zeros take nothing.
    assert encoded.tail_sizes[4] == encoded.tail_sizes[7] == 0 and encoded.widths[1] == 0


@pytest.mark.slow
def test_frequencies_that_do_not_fit_are_damage(tmp_path):
    """Each forgery has right checksums."""
    words = " ".join(f"w{number}" for number in range(200))
    documents = [Document(f"d{k}", words, "w1 w2 w2 w3" if k % 2 else "", {"more": "w1 w9"}) for k in range(130)]
    whole = sublex.build(documents, tmp_path / "index", store="positions", analyzer="plain", fields="title,more,text")

    def forged(change: Callable[[dict[str, Any]], Any], check_only: bool = False) -> None:
        (segment,) = whole.snapshot.segments
        arrays = {name: component.all().copy() for name, component in segment.folder}
        change(arrays)
        root = tmp_path / "forged"
        shutil.copytree(whole.path, root, dirs_exist_ok=True)
        shutil.rmtree(root / "segments")
        (root / "segments").mkdir()
        with FolderWriter(Directory(root / "segments" / segment.name)) as writer:
            for name, array in arrays.items():
                writer.put(name, array)
            entry = writer.finish()
        manifest = manifest_of(whole.path)
        manifest["segments"][0]["data"] = as_json(entry)
        write_manifest(root, manifest)
        assert check(root)
        if not check_only:
            with pytest.raises(IndexCorrupt, match="rebuild the index"):
                stored(sublex.open(root))
            with pytest.raises(IndexCorrupt, match="rebuild the index"):
                sublex.open(root).merge(reorder=True)

    def put(name: str, **values: Any) -> Callable[[dict[str, Any]], Any]:
        def change(arrays: dict[str, Any]) -> None:
            array = arrays[name]
            place = values.get("at", 0)
            if "resize" in values:
                arrays[name] = np.resize(array, len(array) + values["resize"])
            else:
                array[place] = values["to"]

        return change

    for field in (0, 2):
        forged(put(f"field_widths_{field}", at=1, to=32))
        forged(put(f"field_widths_{field}", at=1, to=31))
        forged(put(f"field_widths_{field}", resize=1))
        forged(put(f"field_tfs_{field}", resize=-1))
        forged(put(f"field_tails_{field}", at=0, to=0x80))
        forged(put(f"field_tails_{field}", at=0, to=9))
        forged(put(f"field_tail_sizes_{field}", resize=1))
        forged(put(f"field_tail_sizes_{field}", to=200))
        forged(put(f"field_lengths_{field}", resize=1))
        forged(put(f"field_lengths_{field}", to=255), check_only=True)
    forged(lambda arrays: arrays.update(field_lengths_0=arrays["field_lengths_0"].astype(np.int8)))
    forged(lambda arrays: arrays.update(field_begins_1=np.full(130, 2**40, np.uint64)))
    forged(put("field_tfs_0", at=slice(None), to=0xFFFFFFFF))
    forged(put("field_tfs_2", at=slice(None), to=0), check_only=True)
    forged(put("field_begins_2", at=1, to=0))
    forged(put("field_lengths_0", to=1), check_only=True)
    forged(put("field_begins_2", to=150), check_only=True)
    forged(lambda arrays: arrays.pop("field_lengths_2"), check_only=True)


def test_a_manifest_with_other_fields_than_its_segments_is_damaged(tmp_path):
    index = sublex.build(ODD, tmp_path / "index", fields="title,place")
    good = manifest_of(index.path)
    assert good["format"] == 3 and good["fields"] == ["title", "place"]
    for changes in (
        {"fields": ["title"]}, {"fields": ["title", "place", "tags"]}, {"fields": ["place", "place"]}, {"fields": ["../x", "a"]},
        {"fields": "title"}, {"format": 1}, {"fields": []},
    ):  # fmt: skip
        write_manifest(index.path, good | changes)
        with pytest.raises(SublexError, match="rebuild"):
            sublex.open(index.path)
    # Other names for the same number of fields do not fit the texts.
    write_manifest(index.path, good | {"fields": ["title", "tags"]})
    assert "the contents do not end with the fields that are searched" in check(index.path)[0]


def test_an_index_without_fields_keeps_its_manifest_and_its_format(tmp_path):
    index = sublex.build(ODD, tmp_path / "index")
    assert manifest_of(index.path)["format"] == 1 and "fields" not in manifest_of(index.path)
    assert sublex.build(ODD, tmp_path / "both", store="positions", fields="title").snapshot.manifest.format == 3


def test_the_memory_of_a_batch_counts_its_fields():
    analyzer, contents = registry().make("analyzer", "english"), b"whale and whale " * 1000 + bytes(16)
    tokens = tokenize(np.frombuffer(contents, np.uint8), np.array([len(contents) - 16]))
    vocabulary = TokenVocabulary(analyzer)
    numbers = vocabulary.number(np.frombuffer(contents, np.uint8), tokens)
    given = tokens, np.ones(1, np.bool_), numbers, vocabulary.token_terms()
    ends = np.array([[1500, 3000]])
    without, counts = count_terms(*given), count_terms(*given, ends, has_fields=True)
    (field,) = counts.fields
    assert field.lengths.tolist() == [1000] and field.df.tolist() == [1]
    assert counts.nbytes == without.nbytes + field.sizes.nbytes + field.data.nbytes + field.lengths.nbytes
    sizes = []
    for made, fields in ((without, 0), (counts, 2)):
        with FolderWriter(Directory(Path(tempfile.mkdtemp()) / "folder")) as folder:
            inverter = Inverter(analyzer, folder, fields=fields)
            inverter.vocabulary.number(np.frombuffer(contents, np.uint8), tokens)
            inverter.add(made, numbers)
            sizes.append(inverter.nbytes)
    assert sizes[1] >= sizes[0] + field.data.nbytes + 12


def test_fields_on_the_command_line(tmp_path):
    root = tmp_path / "index"
    made = invoke("index", str(root), str(DEMO), "--fields", "title,text,theme")
    assert made.code == 0, made
    assert "title, text, theme" in invoke("info", str(root)).output
    assert sublex.open(root).fields == ("title", "text", "theme")
    wrong = invoke("index", str(tmp_path / "other"), str(DEMO), "--fields", "title,a b")
    assert wrong.code and "'a b' (str) is no name of a field" in wrong.messages
