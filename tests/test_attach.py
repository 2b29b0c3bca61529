"""Attached indexes: the mirror of another engine's index, its texts and retrievers, and everything that can be wrong with them."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
from importlib.metadata import EntryPoint
from pathlib import Path

import child
import numpy as np
import pytest
from command import invoke
from shared import PLUGINS, manifest_of, positions_of, write_manifest

import sublex
from sublex.contracts.base import Document, Query, QueryTerm
from sublex.contracts.operators import OperatorKind, ordered, synonyms
from sublex.errors import IndexCorrupt, IndexProblem, InputError, PluginError, SublexError
from sublex.index import check as checking
from sublex.index.directory import Directory
from sublex.index.foreign_places import Place, keep_place, place_of, places_path
from sublex.index.manifest import read_manifest
from sublex.language import plugins
from sublex.other_engines.build import _replacing

TEXTS = {
    "b1": "The crane stood in the river and the crane slept",
    "b2": "A river without a crane",
    "b3": "The bank of the river",
    "b4": "Money in the bank",
}


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    """Install the engine of tests/plugins/samples/shelf.py, make a shelf in the working folder, and return the engine's module."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.syspath_prepend(PLUGINS)
    points = sorted(
        plugins.entry_points(group=plugins.GROUP), key=lambda point: not point.value.startswith(plugins.BUILT_IN)
    )
    loaded = plugins.Registry([*points, EntryPoint("shelf", "shelf", plugins.GROUP)])
    monkeypatch.setattr(plugins, "load", lambda builtin=True: loaded)
    import shelf

    shelf.OPENED.clear()
    write()
    return shelf


def write(texts=TEXTS, **more) -> None:
    """Write the shelf `books`."""
    Path("books").mkdir(exist_ok=True)
    Path("books/shelf.json").write_text(json.dumps({"texts": texts} | more))


def attached(**options):
    return sublex.attach("shelf:books", "index", **options)


def files(folder: str) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the time of change of each file below a folder."""
    return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in Path(folder).rglob("*") if p.is_file()}


def refused(error=SublexError, **options) -> str:
    """Return the message with which attaching the shelf is refused."""
    with pytest.raises(error) as caught:
        attached(**options)
    assert not Path("index/index.json").exists()
    return str(caught.value)


# The mirror.


def test_an_attached_index_ranks_as_an_index_of_the_same_texts(shelf):
    before = files("books")
    index = attached()
    native = sublex.build([sublex.Document(*item) for item in TEXTS.items()], "native", analyzer="plain", store="terms")
    assert index.fingerprint != native.fingerprint or index.statistics == native.statistics
    assert index.statistics == native.statistics
    for expression in ("BM25", "PL2 >> RM3 >> PL2", "LGD + 0.5*DPH", "DirichletLM"):
        mine, theirs = index.search("crane river", expression), native.search("crane river", expression)
        assert mine.docnos == theirs.docnos and mine.scores.tolist() == theirs.scores.tolist()
    assert files("books") == before


def test_positions_are_mirrored_only_if_asked(shelf):
    assert attached().store == {"terms", "text"} and manifest_of(Path("index"))["store"] == ["terms"]
    with pytest.raises(
        IndexProblem, match=r"^index was attached without positions, which phrases need; read them too: "
    ):
        sublex.open("index").snapshot.need("positions", "phrases need")
    done = invoke("attach", "./index", "--refresh", "--positions")
    assert done.code == 0 and "mirrors 4 documents" in done.output
    documents = [sublex.Document(*item) for item in TEXTS.items()]
    sublex.build(documents, "native", analyzer="plain", store="terms,positions")
    assert positions_of(Path("index")) == positions_of(Path("native"))
    assert positions_of(Path("index"))["crane"] == {"b1": [1, 8], "b2": [4]}
    assert sublex.open("index").store == {"terms", "positions", "text"} and checking.check(Path("index")) == []


def test_a_refresh_keeps_positions(shelf):
    attached(positions=True)
    said: list[str] = []
    sublex.attach(None, "index", refresh=True, say=said.append)
    assert said == ["index is up to date."]
    sublex.attach(None, "index", refresh=True, positions=True, say=said.append)
    assert said == ["index is up to date."] * 2
    write(TEXTS | {"b5": "a new crane"})
    sublex.attach(None, "index", refresh=True)
    assert positions_of(Path("index"))["crane"] == {"b1": [1, 8], "b2": [4], "b5": [2]}
    assert attached(overwrite=True).store == {"terms", "text"}


def test_an_engine_without_positions_costs_a_sentence(shelf, monkeypatch):
    write(lies="unplaced")
    assert refused(InputError, positions=True).endswith("books has no positions.")
    write(lies="places")
    assert "has the position 0 after 0 in document 1, and positions must ascend" in refused(InputError, positions=True)
    monkeypatch.delattr(shelf.Shelf, "with_positions")
    assert refused(InputError, positions=True) == (
        "The back end shelf brings no positions; leave --positions out (in Python positions), "
        "or replace the index by --overwrite."
    )


@pytest.mark.parametrize("gapless", [False, True])
def test_an_index_with_positions_says_whether_stop_words_take_one(shelf, monkeypatch, gapless):
    monkeypatch.setattr(shelf.Shelf, "gapless", gapless, raising=False)
    attached()
    assert "gapless" not in manifest_of(Path("index"))["attached"]
    attached(positions=True, overwrite=True)
    assert manifest_of(Path("index"))["attached"].get("gapless", False) is gapless
    assert sublex.open("index").snapshot.gapless is gapless


# Several fields.

SHELVED = {
    "b1": {"title": "The Crane", "text": "a crane stood in the river and the crane slept", "place": "river bank"},
    "b2": {"text": "a river without a crane"},
    "b3": {"title": "The bank", "place": "the bank of the river"},
    "b4": {"title": "", "text": "", "place": ""},
    "b5": {"title": "money", "text": "money in the bank", "place": "money"},
}


def with_fields(**options):
    """Return the shelf of documents with fields attached, and an index of Sublex of the same documents."""
    write(SHELVED)
    names = options.pop("field", "title,text,place")
    documents = [
        Document(docno, fields.get("text", ""), fields.get("title", ""), {"place": fields.get("place", "")})
        for docno, fields in SHELVED.items()
    ]
    native = sublex.build(documents, "native", analyzer="plain", fields=names, store="text,terms,positions")
    return attached(field=names, **options), native


@pytest.mark.parametrize("positions", [False, True])
def test_several_fields_are_those_of_an_index_of_the_same_documents(shelf, positions):
    index, native = with_fields(positions=positions)
    assert index.fields == native.fields == ("title", "text", "place")
    assert index.statistics == native.statistics and manifest_of(Path("index"))["format"] == 3
    mine, theirs = index.snapshot.segments[0], native.snapshot.segments[0]
    every = np.arange(len(mine.terms))
    assert mine.terms.list() == theirs.terms.list() and mine.lengths.tolist() == theirs.lengths.tolist()
    assert [part.tolist() for part in mine.gather(every)] == [part.tolist() for part in theirs.gather(every)]
    for field in index.fields:
        assert mine.field_tfs(field, every).tolist() == theirs.field_tfs(field, every).tolist()
        words = [len(document.get(field, "").split()) for document in SHELVED.values()]
        assert mine.field_lengths(field).tolist() == words and index.snapshot.field_tokens(field) == sum(words)
    if positions:
        assert positions_of(Path("index")) == positions_of(Path("native"))
        # The title has two words, the text begins after a gap of 100, and the last field after another.
        assert positions_of(Path("index"))["crane"]["b1"] == [1, 103, 110]
        assert positions_of(Path("index"))["river"] == {"b1": [107, 212], "b2": [1], "b3": [106]}
        assert [part.tolist()[:3] for part in mine.field_places("text")] == [[102, 0, 102], [212, 105, 102]]
    assert checking.check(Path("index")) == []


def test_documents_with_several_fields_are_shown_and_searched(shelf):
    index, native = with_fields()
    for docno in SHELVED:
        assert index.document(docno).contents == native.document(docno).contents
        assert index.document(docno).fields.get("place", "") == native.document(docno).fields["place"]
    assert index.search("river", "BM25").docnos == native.search("river", "BM25").docnos
    frames = index.snapshot.segments[0].texts.raw(0)
    assert b"river bank" in frames.text.tobytes()


def test_the_order_of_fields_and_a_part_of_them_are_the_users(shelf):
    index, _ = with_fields(field="place,title", positions=True)
    assert index.fields == ("place", "title") and index.statistics.tokens == 13
    # In the contents of a document, the title comes first.
    assert positions_of(Path("index"))["river"] == {"b1": [102], "b3": [106]}
    assert index.snapshot.segments[0].field_lengths("place").tolist() == [2, 0, 5, 0, 1]
    assert checking.check(Path("index")) == []
    said: list[str] = []
    assert sublex.attach(None, "index", refresh=True, say=said.append).fields == ("place", "title")
    assert said == ["index is up to date."]
    assert attached(field=["title", "text"], overwrite=True).fields == ("title", "text")


def test_fields_on_the_command_line(shelf):
    write(SHELVED)
    done = invoke("attach", "./index", "shelf:books", "--field", "title,text", "--positions")
    assert done.code == 0 and "index mirrors 5 documents" in done.output
    assert sublex.open("index").fields == ("title", "text")
    done = invoke("ciff", "export", "./index", "index.ciff")
    assert (
        "Left out, for CIFF does not carry it: texts, positions, the fields title, text, written forms" in done.messages
    )


def test_one_field_has_no_fields_and_keeps_its_bytes(shelf):
    index = attached(field="text")
    assert index.fields == () and "fields" not in manifest_of(Path("index"))
    with pytest.raises(InputError) as caught:
        index.snapshot.need_field("title")
    assert str(caught.value) == (
        "index is attached with one field, so it has no field title of its own; "
        "attach it with several: sublex attach ./index --refresh --field title,OTHER"
    )


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("title,pages", "books has no field pages."),
        ("title,title", "The field title is named twice; name it once."),
        ("title,", "'' (str) is no name of a field; a name begins with a letter"),
        (["title", 3], "3 (int) is no name of a field"),
    ],
)
def test_wrong_names_of_fields_cost_a_sentence(shelf, field, sentence):
    write(SHELVED)
    assert sentence in refused(InputError, field=field)


def test_a_field_whose_terms_do_not_ascend_costs_a_sentence(shelf):
    write(SHELVED, lies="order")
    assert refused(InputError, field="title,text").endswith(
        "books (field title) has terms that do not ascend, so it cannot be joined with another."
    )
    write(SHELVED, lies="numbers")
    assert "books (field title): the posting list of" in refused(InputError, field="title,text")
    write(SHELVED, lies="places")
    assert "(field text): the posting list of" in refused(InputError, field="title,text", positions=True)


def test_opening_an_attached_index_touches_nothing_foreign(shelf):
    attached()
    shelf.OPENED.clear()
    shutil.rmtree("books")
    index = sublex.open("index")
    assert index.search("crane").docnos == ["b1", "b2"] and len(index.run(["crane", "bank"], "BM25").scores) == 4
    assert shelf.OPENED == []


def test_texts_come_from_the_foreign_index(shelf):
    index = attached()
    assert index.store == {"terms", "text"} and index.document("b3").text == TEXTS["b3"]
    assert [document.text for document in index.documents()] == list(TEXTS.values())
    assert [word.surface for word in index.corpus.sequence(3)] == ["Money", "in", "the", "bank"]
    words = [block.docs.tolist() for block in index.corpus.words().blocks()]
    assert words == [[0, 1, 2, 3]]
    hit = json.loads(invoke("search", "./index", "money", "--format", "json").output)["hits"][0]
    assert hit["passage"] == TEXTS["b4"]


def test_an_attached_index_is_pickled_by_its_path_and_finds_its_texts_again(shelf, monkeypatch, tmp_path):
    index = attached()
    data = pickle.dumps([index, index.pipeline("ShelfCount + BM25")])
    assert TEXTS["b3"].encode() not in data and b"crane" not in data
    shelf.OPENED.clear()
    plugins.shared.cache_clear()
    monkeypatch.chdir("/")
    back, pipeline = pickle.loads(data)
    assert shelf.OPENED == [] and back.path == tmp_path / "index"
    assert back.document("b3").text == TEXTS["b3"] and back.store == {"terms", "text"}
    assert back.search("crane river", pipeline).docnos == ["b1", "b2", "b3"]
    plugins.shared.cache_clear()


def test_models_are_fitted_to_an_attached_index(shelf):
    index = attached()
    index.fit("lsi(e=2)")
    native = sublex.build([sublex.Document(*item) for item in TEXTS.items()], "native", analyzer="plain")
    native.fit("lsi(e=2)")
    assert index.search("crane", "lsi(e=2)").docnos == native.search("crane", "lsi(e=2)").docnos != []
    assert read_manifest(Path("index")).attached and sublex.open("index").document("b4").text


def test_an_attached_index_is_sound_and_shows_where_it_points(shelf):
    attached()
    assert invoke("check", "./index").code == 0
    facts = json.loads(invoke("info", "./index", "--format", "json").output)
    assert facts["attached_to"] == f"the shelf index {os.path.realpath('books')}" and facts["stored"] == "terms, text"


def test_the_documents_of_an_attached_index_cannot_be_changed(shelf):
    index = attached()
    for change in (lambda: index.add([{"id": "b9", "text": "new"}]), lambda: index.delete("b1"), index.merge):
        with pytest.raises(
            IndexProblem, match=r"index mirrors a shelf index, so Sublex cannot .*attach \S*index --refresh$"
        ):
            change()
    assert len(sublex.open("index")) == 4
    Path("shelves-run-code").touch()
    attached(trust=True, overwrite=True)
    with pytest.raises(IndexProblem, match=r"attach \S*index --refresh$"):
        sublex.open("index").delete("b1")


def test_a_refresh_does_not_change_the_engine(shelf):
    attached()
    with pytest.raises(
        IndexProblem, match="index mirrors a shelf index, and books is a whoosh index; attach with --overwrite"
    ):
        sublex.attach("whoosh:books", "index", refresh=True, trust=True)


def test_python_lists_the_engines(shelf):
    assert {row.name: row.retrievers for row in sublex.backends()}["shelf"] == ("ShelfCount",)


def test_building_by_an_engine_that_cannot_build_costs_a_sentence(shelf):
    with pytest.raises(InputError, match="Sublex cannot build indexes by shelf"):
        sublex.build([{"id": "x", "text": "crane"}], "own", backend="shelf")
    for option in ("workers", "resume", "reorder"):
        with pytest.raises(InputError, match=f"{option} does not go with the back end shelf; leave one of them out"):
            sublex.build([{"id": "x", "text": "crane"}], "own", backend="shelf", **{option: 2})


def test_roles_name_the_fields_of_documents_that_another_engine_indexes(shelf, monkeypatch):
    def build(self, path, documents, store, memory):
        assert store == {"text", "positions"}
        Path(path).mkdir(parents=True)
        texts = {document.docno: f"{document.title} {document.text}" for document in documents}
        Path(path, "shelf.json").write_text(json.dumps({"texts": texts}))

    monkeypatch.setattr(shelf.ShelfBackend, "build", build, raising=False)
    given = [{"paper": 7, "abstract": "crane", "heading": "Birds"}, {"paper": 8}, {"paper": 7, "abstract": "again"}]
    roles = {"id": "paper", "text": "abstract", "title": "heading"}
    sentence = (
        r"2 documents of 3 left out: 1 for a docno that came before \(7\) and 1 for a fault \(documents:2: no text"
    )
    with pytest.warns(sublex.SublexWarning, match=sentence):
        index = sublex.build(given, "own", backend="shelf", roles=roles, store="text,positions")
    assert positions_of(Path("own")) == {"birds": {"7": [0]}, "crane": {"7": [1]}}
    assert index.document("7").text == "Birds crane" and index.search("birds", "ShelfCount").docnos == ["7"]
    assert (index.built.indexed, index.built.duplicate, len(index.built.problems)) == (1, ["7"], 1)


# What the index and the user's file hold.


def test_the_index_names_no_path_and_the_users_file_does(shelf):
    attached(field="text")
    entry = manifest_of(Path("index"))["attached"]
    assert entry.keys() == {"backend", "state", "id", "stores", "options"} and entry["options"] == {"field": "text"}
    assert not any(b"books" in data for data, _ in files("index").values())
    place = place_of(Path("index"), entry["id"])
    assert place == Place(entry["id"], "shelf", os.path.realpath("books"), False, None, None, {"field": "text"})
    assert places_path().is_relative_to(Path("config").resolve())
    assert place_of(Path("index"), "0" * 32) is None and place_of(Path("other"), entry["id"]) is None


def test_two_indexes_keep_their_places(shelf):
    attached()
    sublex.attach("shelf:books", "second")
    assert {Path(path).name for path in json.loads(places_path().read_text())} == {"index", "second"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"ROOT": 1}',
        '{"ROOT": {"identity": "ID"}}',
        '{"ROOT": {"identity": "ID", "x": 1}}',
        '{"ROOT": {"identity": "ID", "backend": "shelf", "path": "books", "trusted": true, "options": ["field"]}}',
    ],
)
def test_a_damaged_file_of_places_costs_a_sentence_or_counts_as_empty(shelf, text):
    index = attached()
    identity = read_manifest(Path("index")).attached.id
    places_path().write_text(text.replace("ROOT", os.path.realpath("index")).replace("ID", identity))
    assert index.search("crane").docnos == ["b1", "b2"]
    with pytest.raises(SublexError, match=r"Cannot read .*attached.json|was attached to a shelf index elsewhere"):
        sublex.open("index").document("b1")


@pytest.mark.parametrize("name", ["attached.json", "attached.json.lock"])
def test_no_pipe_in_the_place_of_the_file_of_places_makes_a_command_wait(shelf, name):
    attached()
    place = places_path().with_name(name)
    place.unlink()
    os.mkfifo(place)

    def work() -> list[str]:
        signal.alarm(60)
        words = ("attach", "./second", "shelf:books")
        return [invoke("doc", "index", "b1").messages, invoke(*words).messages]

    ended = child.run(work)
    assert not ended.signal and not ended.error
    read, written = ended.answer
    assert "attached.json" in written and "sublex: Cannot" in written
    assert name != "attached.json" or "sublex: Cannot read" in read


@pytest.mark.parametrize(
    "entry",
    [
        None, 1, {}, {"backend": "../x"}, {"backend": "shelf", "state": "a b"}, {"id": "x"}, {"id": "0" * 31}, {"stores": ["terms"]},
        {"stores": "text"}, {"state": "x" * 300}, {"options": {"field": 1}}, {"options": []},
    ],
)  # fmt: skip
def test_a_forged_entry_is_a_damaged_manifest(shelf, entry):
    attached()
    forged = manifest_of(Path("index"))
    forged["attached"] = (
        (forged["attached"] | entry if entry else {"backend": "shelf"}) if isinstance(entry, dict) else entry
    )
    write_manifest(Path("index"), forged)
    with pytest.raises(IndexCorrupt, match=r"index.json is damaged: attached"):
        sublex.open("index")


def test_an_attached_index_has_one_segment_and_no_texts_of_its_own(shelf):
    attached()
    nothing = {"segments": [], "statistics": {"docs": 0, "tokens": 0, "postings": 0}}
    write_manifest(Path("index"), manifest_of(Path("index")) | nothing)
    with pytest.raises(IndexCorrupt, match="an attached index has other segments"):
        sublex.open("index")


# Moved folders, changed indexes, and attaching again.


def test_a_copy_searches_by_its_mirror_and_asks_to_be_attached_again(shelf):
    attached()
    shutil.copytree("index", "copy")
    copy = sublex.open("copy")
    assert copy.search("crane").docnos == ["b1", "b2"] and copy.store == {"terms"}
    for ask in (lambda: copy.document("b1"), lambda: copy.search("crane", "ShelfCount")):
        with pytest.raises(
            IndexProblem,
            match="copy was attached to a shelf index elsewhere, so there are no texts and no retrievers; attach it again",
        ):
            ask()
    done = invoke("search", "./copy", "crane")
    assert done.code == 0 and done.messages.count("elsewhere") == 1 and "b1" in done.output
    done = invoke("doc", "./copy", "b1")
    assert done.code == 2 and done.messages.count("elsewhere") == 1
    assert "no texts" in done.messages
    done = invoke("attach", "./copy", "--refresh")
    assert (done.code, done.messages) == (
        2, "sublex: Sublex does not know which index copy mirrors; name it: sublex attach ./copy BACKEND:PATH --refresh\n",
    )  # fmt: skip
    done = invoke("attach", "./copy", "shelf:books", "--refresh")
    assert done.code == 0 and done.messages == "copy is up to date.\n"
    assert sublex.open("copy").document("b1").text == TEXTS["b1"] and sublex.open("copy").generation == 1


def test_a_changed_index_is_noticed_and_refreshed(shelf):
    index = attached(field="text")
    index.fit("lsi(e=2)")
    write(TEXTS | {"b5": "a new crane"})
    changed = sublex.open("index")
    assert changed.search("crane").docnos == ["b1", "b2"] and changed.store == {"terms"}
    sentence = (
        f"The shelf index {os.path.realpath('books')} has changed since it was attached; "
        "to read it again: sublex attach ./index --refresh"
    )
    assert changed.attachment.problem == sentence
    with pytest.raises(IndexProblem, match="has changed since it was attached"):
        changed.search("crane", "ShelfCount")
    done = invoke("search", "./index", "crane")
    assert done.code == 0 and done.messages == f"{sentence}\n"
    done = invoke("explain", "./index", "crane", "b1", "-r", "ShelfCount")
    assert (done.code, done.messages) == (2, f"sublex: {sentence}\n")
    identity = read_manifest(Path("index")).attached.id
    said: list[str] = []
    fresh = sublex.attach(None, "index", refresh=True, say=said.append)
    assert fresh.search("crane").docnos == ["b5", "b1", "b2"] and fresh.document("b5").text == "a new crane"
    assert read_manifest(Path("index")).attached.id == identity and any("lsi(e=2)" in text for text in said)


def test_a_refresh_keeps_the_trust_in_the_same_folder(shelf):
    Path("shelves-run-code").touch()
    attached(trust=True)
    write(TEXTS | {"b5": "a new crane"})
    assert re.search(r"attach ./index --refresh$", sublex.open("index").attachment.problem)
    assert invoke("attach", "./index", "--refresh").code == 0
    assert invoke("attach", "./index", "shelf:books", "--refresh").code == 0
    assert sublex.open("index").document("b5").text == "a new crane"
    # Trust in one folder says nothing about another one, nor about an index that somebody else attached.
    shutil.copytree("books", "others")
    done = invoke("attach", "./index", "shelf:others", "--refresh")
    assert done.code == 2 and "add --trust" in done.messages
    shutil.copytree("index", "copy")
    done = invoke("attach", "./copy", "shelf:books", "--refresh")
    assert done.code == 2 and "add --trust" in done.messages


def test_a_foreign_index_that_moved_costs_a_sentence(shelf):
    attached()
    Path("books").rename("moved")
    index = sublex.open("index")
    assert index.search("crane").docnos == ["b1", "b2"]
    with pytest.raises(
        IndexProblem, match=r"books is not there; if it has moved: sublex attach ./index shelf:PATH --refresh"
    ):
        index.document("b1")
    assert invoke("attach", "./index", "shelf:moved", "--refresh").code == 0
    assert sublex.open("index").document("b1").text == TEXTS["b1"]


def test_an_index_that_was_open_before_a_change_reads_no_other_texts(shelf):
    index = attached()
    assert index.document("b1").text == TEXTS["b1"]
    write(dict(reversed(TEXTS.items())))
    assert index.document("b1").text == TEXTS["b1"]
    with pytest.raises(IndexProblem, match="has changed"):
        sublex.open("index").document("b1")


def test_a_foreign_index_that_cannot_be_opened_costs_the_texts_and_no_hits(shelf, monkeypatch):
    attached()
    right = invoke("search", "./index", "crane")

    def damaged(self, path, field):
        raise InputError(f"{path} is damaged.")

    monkeypatch.setattr(shelf.Shelf, "__init__", damaged)
    done = invoke("search", "./index", "crane")
    first = [line for line in right.output.splitlines() if "  b" in line]
    assert done.code == 0 and [line.strip() for line in done.output.splitlines()] == [line.strip() for line in first]
    assert done.messages.endswith("books is damaged.\n") and done.messages.count("damaged") == 1
    assert "<table" in sublex.open("index").search("crane")._repr_html_()
    assert invoke("doc", "./index", "b1").code == 2
    assert "books is damaged." in invoke("search", "./index", "crane", "-r", "ShelfCount").messages


def test_an_index_without_a_name_costs_one_sentence(shelf):
    done = invoke("attach", "shelf:books")
    assert done.messages == "sublex: Name the new index before the other one: sublex attach NAME shelf:books\n"


def test_an_index_whose_name_has_a_colon_is_refreshed(shelf, tmp_path, monkeypatch):
    monkeypatch.setenv("SUBLEX_INDEXES", str(tmp_path))
    assert invoke("attach", "a:b", "shelf:books").code == 0
    done = invoke("attach", "a:b", "--refresh")
    assert done.code == 0 and "is up to date." in done.output + done.messages


def test_a_damaged_mirror_is_read_again_by_a_refresh(shelf):
    said: list[str] = []
    right = attached().search("crane", k=4).scores.tolist()
    path = Path("index/segments/000001/docnos.npy")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(IndexCorrupt):
        str(sublex.open("index").search("crane").docnos)
    index = sublex.attach(None, "index", refresh=True, say=said.append)
    assert said[0].startswith("index/segments/000001/docnos.npy is damaged") and said[0].endswith("is read again.")
    assert index.search("crane", k=4).scores.tolist() == right and checking.check(index.path) == []
    said.clear()
    sublex.attach(None, "index", refresh=True, say=said.append)
    assert said[0] == "index is up to date."


def test_options_are_kept_for_the_next_time(shelf):
    attached(analyzer="english", profile="terrier")
    write(TEXTS | {"b5": "a new crane"})
    index = sublex.attach(None, "index", refresh=True)
    assert (index.profile, index.snapshot.analyzer_expression) == ("terrier", "english")


def test_an_existing_index_is_replaced_only_if_asked(shelf):
    attached()
    with pytest.raises(
        IndexProblem, match="index is already an index; attach with --refresh to read it again, or --overwrite"
    ):
        attached()
    with pytest.raises(InputError, match="--refresh reads an attached index again, and --overwrite replaces any index"):
        attached(refresh=True, overwrite=True)
    assert len(attached(overwrite=True)) == 4
    sublex.build([{"id": "x", "text": "own"}], "own")
    with pytest.raises(IndexProblem, match="own is an index of Sublex and mirrors no other"):
        sublex.attach("shelf:books", "own", refresh=True)
    assert "attached" not in manifest_of(Path("own"))
    assert len(sublex.attach("shelf:books", "own", overwrite=True)) == 4
    assert sublex.build([{"id": "x", "text": "own"}], "own", overwrite=True).attachment is None
    with pytest.raises(IndexProblem, match="No index at nowhere to refresh"):
        sublex.attach("shelf:books", "nowhere", refresh=True)


def test_a_copy_is_attached_again_by_the_same_field(shelf):
    attached(field="text")
    shutil.copytree("index", "copy")
    sublex.attach("shelf:books", "copy", refresh=True)
    identity = read_manifest(Path("copy")).attached.id
    place = place_of(Path("copy"), identity)
    assert place.options == {"field": "text"}


# Trust.


def test_an_index_that_runs_code_is_not_opened_without_trust(shelf):
    Path("shelves-run-code").touch()
    assert refused(InputError) == (
        "Opening a shelf index runs code that its folder holds; "
        f"if you trust whoever wrote {os.path.realpath('books')}, add --trust (in Python trust=True)."
    )
    assert shelf.OPENED == []
    index = attached(trust=True)
    assert index.document("b1").text == TEXTS["b1"]
    place = place_of(Path("index"), read_manifest(Path("index")).attached.id)
    keep_place(Path("index"), place._replace(trusted=False))
    shelf.OPENED.clear()
    with pytest.raises(IndexProblem, match=r"is not trusted; if you trust whoever wrote it: .* --trust$"):
        sublex.open("index").document("b1")
    assert shelf.OPENED == []


def test_a_copy_does_not_inherit_trust(shelf):
    Path("shelves-run-code").touch()
    attached(trust=True)
    shutil.copytree("index", "copy")
    shelf.OPENED.clear()
    with pytest.raises(InputError, match="add --trust"):
        sublex.attach("shelf:books", "copy", refresh=True)
    assert sublex.open("copy").attachment.problem and shelf.OPENED == []


# Retrievers.


def test_a_retriever_finds_scores_and_explains(shelf):
    index = attached()
    hits = index.search("crane river", "ShelfCount")
    assert list(zip(hits.docnos, hits.scores.tolist(), strict=True)) == [("b1", 3.0), ("b2", 2.0), ("b3", 1.0)]
    tree = index.explain("crane river", "b1", "ShelfCount")
    assert tree.value == 3 and tree.label == "ShelfCount: words counted" and tree.evidence["rank"] == 1
    assert index.explain("crane", "b4", "ShelfCount").value == -np.inf


def test_retrievers_stand_wherever_a_ranker_may(shelf):
    index = attached()
    for expression in (
        "ShelfCount >> RM3 >> ShelfCount",
        "ShelfCount % 2 >> BM25",
        "BM25 >> ShelfCount",
        "ShelfCount + 0.3*BM25",
        "rrf(ShelfCount) + rrf(PL2)",
    ):
        found = index.search("crane bank", expression)
        assert len(found)
        for hit in found:
            assert index.explain("crane bank", hit.docno, expression).value == pytest.approx(hit.score, rel=1e-6)
    assert index.search("crane bank", "ShelfCount % 1 >> BM25").docnos == ["b1"]
    blend = index.search("money crane", "raw(ShelfCount) + 0.5*raw(ShelfCount(times=2))")
    assert dict(zip(blend.docnos, blend.scores.tolist(), strict=True)) == {"b1": 4, "b2": 2, "b4": 2}


def test_runs_and_tuning_use_retrievers(shelf, tmp_path):
    index = attached()
    run = index.run({"1": "crane", "2": "bank"}, "ShelfCount", workers=2)
    assert run["1"] == {"b1": 2.0, "b2": 1.0}
    (model,) = (
        run.metadata["method"]["models"].values()
        if "models" in run.metadata.get("method", {})
        else [json.dumps(run.metadata)]
    )
    assert "shelves 1.0" in model
    qrels = {"1": {"b2": 1}, "2": {"b4": 1}}
    tuned = sublex.tune(index, {"1": "crane", "2": "bank"}, qrels, "ShelfCount(times={1,2}) + BM25", folds=2)
    assert "ShelfCount" in str(tuned.best)
    compared = sublex.compare(index, {"1": "crane", "2": "bank"}, qrels, ["BM25", "ShelfCount"], ["RR"])
    assert len(compared.systems) == 2


def test_a_retriever_on_another_index_costs_a_sentence(shelf):
    own = sublex.build([{"id": "x", "text": "crane"}], "own")
    with pytest.raises(IndexProblem) as caught:
        own.search("crane", "BM25 + ShelfCount")
    assert str(caught.value) == (
        "ShelfCount searches a shelf index, and own is an index of Sublex; use a ranker such as BM25, "
        "or attach a shelf index: sublex attach NAME shelf:PATH"
    )


def test_an_operator_that_a_retriever_does_not_take_costs_a_sentence(shelf, monkeypatch):
    index = attached()
    phrase, either = ordered(["crane", "river"]), synonyms(["river", "crane"])
    query = Query("crane", (QueryTerm("crane"), QueryTerm(either)))
    sentence = r"ShelfCount does not take the operator #syn\('crane','river'\); use a ranker of Sublex, such as BM25"
    for expression in ("ShelfCount", "BM25 >> ShelfCount", "BM25 + ShelfCount"):
        with pytest.raises(InputError, match=sentence):
            index.search(query, expression)
    with pytest.raises(InputError, match=sentence):
        index.explain(query, "b1", "ShelfCount")
    # A retriever that takes synonyms gets them; the others are still refused.
    monkeypatch.setattr(shelf.ShelfCount, "takes", lambda self, term: term.kind is OperatorKind.SYNONYMS, raising=False)
    assert index.search(query, "ShelfCount").docnos == ["b1", "b2"]
    with pytest.raises(InputError, match="does not take the operator #1"):
        index.search(Query("", (QueryTerm(phrase),)), "ShelfCount")
    monkeypatch.setattr(shelf.ShelfCount, "takes", lambda self, term: 1 / 0, raising=False)
    with pytest.raises(PluginError, match="The retriever ShelfCount failed"):
        index.search(query, "ShelfCount")


def test_a_retriever_that_explains_nothing_costs_a_sentence(shelf, monkeypatch):
    monkeypatch.setattr(shelf.ShelfCount, "explain", lambda *parts: None)
    with pytest.raises(PluginError, match="The retriever ShelfCount explained a score by a NoneType"):
        attached().explain("crane", "b1", "ShelfCount")


def test_an_index_with_other_documents_is_closed_each_time(shelf, monkeypatch):
    index = attached()
    monkeypatch.setattr(shelf.ShelfBackend, "state", lambda self, path: read_manifest(Path("index")).attached.state)
    write({"b1": "one"})
    shelf.OPENED.clear()
    for _ in range(3):
        with pytest.raises(IndexProblem, match="mirrors 4 documents, and .* has 1"):
            index.search("crane", "ShelfCount")
    assert [os.path.realpath("books"), "closed"] * 3 == shelf.OPENED


@pytest.mark.parametrize("lie", ["hits", "scores"])
def test_a_retriever_that_lies_costs_a_sentence(shelf, lie):
    write(lies=lie)
    index = attached()
    with pytest.raises(PluginError, match="The retriever ShelfCount (found documents that are not|did not give each)"):
        index.search("crane", "ShelfCount" if lie == "hits" else "BM25 >> ShelfCount")


# What can be wrong with a foreign index.


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("books", "books names no index of another engine; write BACKEND:PATH, as in whoosh:folder."),
        ("shelf:", "shelf: names no index of another engine; write BACKEND:PATH, as in whoosh:folder."),
        ("shell:books", "No backend shell; did you mean shelf? There are:"),
        ("shelf:nowhere", "nowhere is not a shelf."),
        (None, "Name the index that index shall mirror: sublex attach ./index BACKEND:PATH"),
    ],
)
def test_a_wrong_source_costs_a_sentence(shelf, source, sentence):
    with pytest.raises(SublexError) as caught:
        sublex.attach(source, Path("index"))
    assert sentence in str(caught.value) and not Path("index").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"field": "title"}, "has no field title"),
        ({"docno": "id"}, "The back end shelf has no option --docno."),
        ({"analyzer": "nope"}, "No analyzer nope"),
        ({"profile": "nope"}, "No profile nope"),
        ({"analyzer": 3}, "The analyzer is 3"),
    ],
)
def test_a_wrong_option_costs_a_sentence(shelf, options, sentence):
    assert sentence in refused(**options)


def test_an_engine_that_is_not_installed_costs_a_sentence(shelf):
    index = attached()
    assert index.document("b1").text
    Path("no-shelves").touch()
    with pytest.raises(IndexProblem, match="Shelves are not installed; to install them: build one"):
        sublex.open("index").document("b1")
    shutil.rmtree("index")
    assert refused(InputError) == "Shelves are not installed; to install them: build one"
    rows = json.loads(invoke("backends", "--format", "json").output)
    row = next(row for row in rows if row["name"] == "shelf")
    assert row["missing"].startswith("Shelves are not installed") and row["retrievers"] == ["ShelfCount"]


def test_a_lying_index_changes_nothing(shelf):
    write(lies="numbers")
    assert "books" in refused()
    write(lies="crash")
    assert "The back end shelf failed (RuntimeError: the shelf" in refused(PluginError)
    write(lies="parts")
    assert "The back end shelf describes" in refused(PluginError)
    write({})
    assert "holds no documents" in refused(InputError)
    Path("books/shelf.json").write_text("{")
    assert "is a damaged shelf" in refused(InputError)


def test_texts_that_lie_are_refused_or_cleaned(shelf):
    write(lies="docnos")
    with pytest.raises(PluginError, match="The shelf index gave the document another for b1"):
        attached().document("b1")
    write(lies="surrogates")
    assert attached(overwrite=True).document("b2").text == f"{TEXTS['b2']}?"
    write(lies="no texts")
    with pytest.raises(IndexProblem, match="stores no texts"):
        attached(overwrite=True).document("b2")


def test_the_foreign_folder_is_no_place_for_the_index(shelf):
    for place in ("books/index", "books"):
        with pytest.raises(
            InputError, match="lies in the shelf index .* which Sublex never writes; choose another place"
        ):
            sublex.attach("shelf:books", place)
    os.symlink("books", "link")
    with pytest.raises(InputError, match="lies in the shelf index"):
        sublex.attach("shelf:books", "link/index")
    assert list(files("books")) == ["books/shelf.json"]


def test_an_index_does_not_replace_the_foreign_index_within_it(shelf):
    attached()
    shutil.copytree("books", "index/segments/books")
    with pytest.raises(InputError, match=r"The shelf index .*books lies in index, whose files Sublex replaces"):
        sublex.attach("shelf:index/segments/books", "index", overwrite=True)
    assert Path("index/segments/books/shelf.json").exists()


def test_an_interrupt_while_a_built_index_is_replaced_loses_nothing(tmp_path, monkeypatch):
    for name in ("new", "papers.shelf"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "text").write_text(name)
    real = Directory.move

    def move(folder, to):
        if folder.name == "new":
            raise KeyboardInterrupt
        real(folder, to)

    monkeypatch.setattr(Directory, "move", move)
    new, folder = Directory(tmp_path) / "new", Directory(tmp_path) / "papers.shelf"
    with pytest.raises(KeyboardInterrupt), _replacing(folder, new):
        pass
    assert {path.read_text() for path in tmp_path.glob("*/text")} == {"new", "papers.shelf"}
    monkeypatch.setattr(Directory, "move", real)
    with pytest.raises(InputError), _replacing(folder, new):
        raise InputError("The terms differ.")
    assert [path.read_text() for path in tmp_path.glob("*/text")] == ["papers.shelf"]
    new.make()
    (new.path / "text").write_text("new")
    with _replacing(folder, new):
        pass
    assert [path.read_text() for path in tmp_path.glob("*/text")] == ["new"]


def test_the_documentation_of_retrievers_is_listed(shelf):
    assert "Counts the words of the query" in invoke("components", "ShelfCount").output
    assert "Retrievers" in invoke("components").output
    listed = invoke("plugins").output
    assert "retrievers ShelfCount" in listed and "backends shelf" in listed


# Indexes that Sublex has another engine build.


@pytest.fixture
def building(shelf, monkeypatch):
    """Let the engine of shelves build a shelf; return the function that builds one as the index `papers`."""

    def build(self, path, documents, store, memory):
        Path(path).mkdir()
        Path(path, "shelf.json").write_text(json.dumps({"texts": {each.docno: each.text for each in documents}}))

    monkeypatch.setattr(shelf.ShelfBackend, "build", build, raising=False)
    return lambda *docnos, **options: sublex.build(
        [Document(docno, "crane river") for docno in docnos], "papers", backend="shelf", **options
    )


def test_the_index_behind_a_built_index_is_replaced_and_no_other_folder(building):
    building("a", "b")
    assert len(building("a", overwrite=True)) == 1 and sorted(os.listdir("papers.shelf")) == ["shelf.json"]
    shutil.rmtree("papers")
    # Nothing tells that this shelf is not the user's own.
    with pytest.raises(IndexProblem, match=r"papers.shelf is not the index behind papers, so it is not replaced"):
        building("a", "b", "c", overwrite=True)
    with pytest.raises(IndexProblem, match="is in the way"):
        building("a")
    assert len(json.loads(Path("papers.shelf/shelf.json").read_text())["texts"]) == 1
    assert not list(Path().glob("papers.shelf.*"))


def test_what_stands_where_a_build_puts_its_files_is_not_touched(building):
    building("a", "b")
    for name, message in (("papers.shelf.replaced", "is in the way"), ("papers.shelf.unfinished", "holds other files")):
        Path(name).mkdir()
        Path(name, "mine.txt").write_text("mine")
        with pytest.raises(IndexProblem, match=message):
            building("a", overwrite=True)
        assert Path(name, "mine.txt").read_text() == "mine"
        assert len(sublex.open("papers")) == 2 and Path("papers.shelf/shelf.json").exists()
        shutil.rmtree(name)
    Path("papers.shelf.unfinished/work/index").mkdir(parents=True)
    Path("papers.shelf.unfinished/lock").write_text("sublex index --backend shelf, process 77")
    assert len(building("a", overwrite=True)) == 1 and not Path("papers.shelf.unfinished").exists()
