"""The plugin sublex_whoosh: the mirror of a Whoosh index, the analyzer, the reader, and Whoosh's scorers."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import child
import numpy as np
import pytest
from command import invoke
from shared import DEMO, TOPICS, documents_with, positions_of, postings_in_fields, postings_of

import sublex
from sublex.analysis.tokens import analyze
from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import synonyms
from sublex.errors import IndexProblem, InputError, MissingExtra, SublexError
from sublex.language import plugins

pytest.importorskip("whoosh")

from whoosh import analysis, fields, index, query, scoring
from whoosh.qparser import QueryParser
from whoosh.query import Or, Term
from whoosh.util.numeric import byte_to_length, length_to_byte
from whoosh.util.varints import varint

from sublex_whoosh.analyzer import expression_of
from sublex_whoosh.backend import WhooshBackend
from sublex_whoosh.toc import last_toc

# Whoosh leaves files open when it cannot read them, and its code has old forms.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
DOCUMENTS = [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]
SCORERS = {
    "WhooshBM25F": scoring.BM25F(), "WhooshBM25F(k1=0.9, b=0.4)": scoring.BM25F(B=0.4, K1=0.9), "WhooshTFIDF": scoring.TF_IDF(),
    "WhooshPL2": scoring.PL2(), "WhooshPL2(c=7)": scoring.PL2(c=7),
}  # fmt: skip


def build(folder: Path, documents=DOCUMENTS, segments: int = 1, analyzer=None, **more) -> Path:
    """Write a Whoosh index of documents in several segments."""
    folder.mkdir(exist_ok=True)
    text = fields.TEXT(stored=True, analyzer=analyzer or analysis.StemmingAnalyzer())
    schema = fields.Schema(
        **{"docno": fields.ID(stored=True, unique=True), "title": fields.STORED, "text": text} | more
    )
    opened = index.create_in(folder, schema)
    for part in range(segments):
        writer = opened.writer()
        for document in documents[part::segments]:
            values = {"docno": document["id"], "title": document["title"], "text": document["text"]}
            writer.add_document(**{name: value for name, value in values.items() if name in schema})
        writer.commit(merge=False)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of a Whoosh index of the demo collection, in three segments."""
    return build(tmp_path_factory.mktemp("built") / "demo", segments=3)


@pytest.fixture
def work(tmp_path, monkeypatch):
    """An empty working folder, with the user's configuration in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.fixture(scope="module")
def attached(built, tmp_path_factory):
    """The index of the demo collection, attached."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("attached")
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        yield sublex.attach(f"whoosh:{built}", folder / "index", trust=True)


def searcher(folder: Path, weighting):
    return index.open_dir(folder).searcher(weighting=weighting)


def terms_query(opened, text: str):
    """Return Whoosh's query for any of the words of a text."""
    return query.Or([query.Term("text", term, boost=w) for term, w in opened.query(text).weights().items()])


def topics() -> list[str]:
    return [topic.text for topic in sublex.read_topics(TOPICS)]


# The mirror.


def test_the_mirror_has_the_postings_of_whoosh(built, attached):
    reader = index.open_dir(built).reader()
    terms = [text.decode() for text in reader.lexicon("text")]
    assert [term.term for term in attached.terms()] == sorted(terms) and len(attached) == reader.doc_count()
    docnos = [reader.stored_fields(doc)["docno"] for doc in range(reader.doc_count_all())]
    for term in terms[::7]:
        matcher = reader.postings("text", term)
        found = {}
        while matcher.is_active():
            found[docnos[matcher.id()]] = int(matcher.weight())
            matcher.next()
        mine = attached.postings(term)
        assert dict(zip(map(attached.docno, mine.docs.tolist()), mine.tfs.tolist(), strict=True)) == found
    assert attached.statistics.tokens == reader.field_length("text")


def test_texts_titles_and_fields_come_from_whoosh(attached):
    for document in DOCUMENTS[::9]:
        found = attached.document(document["id"])
        assert (found.title, found.text) == (document["title"], document["text"])


def test_attaching_writes_nothing_into_the_folder_of_whoosh(built, work):
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in built.iterdir()}
    opened = sublex.attach(f"whoosh:{built}", "index", trust=True)
    opened.document("birds-01")
    opened.run(topics()[:3], "WhooshBM25F >> RM3 >> WhooshBM25F")
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in built.iterdir()} == before


# Positions.


@pytest.fixture(scope="module")
def placed(attached, built, tmp_path_factory):
    """The index of the demo collection, attached with positions. The user's configuration is that of `attached`."""
    return sublex.attach(f"whoosh:{built}", tmp_path_factory.mktemp("placed") / "index", trust=True, positions=True)


def phrases(documents=DOCUMENTS) -> list[str]:
    """Return the most frequent pairs of words, and a phrase of two to five words of the title and of the text of each
    document, some read backwards.
    """
    words = [(place, text.split()) for place, d in enumerate(documents) for text in (d["title"], d["text"])]
    words += [(place, split[::-1]) for place, split in words[::5]]
    cut = [split[(at := place % max(1, len(split) - 4)) : at + 2 + place % 4] for place, split in words]
    pairs = Counter(pair for _, split in words for pair in pairwise(split)).most_common(60)
    return [re.sub(r"[^\w ]+", " ", " ".join(part)) for part in [*(pair for pair, _ in pairs), *cut]]


def found_by_whoosh(folder: Path, phrase: str, slop: int = 1, field: str = "text") -> set[str]:
    """Return the docnos that Whoosh finds for a phrase, as its own parser reads it."""
    with index.open_dir(folder).searcher() as whoosh:
        parsed = QueryParser(field, whoosh.schema).parse(f'"{phrase}"~{slop}')
        return {hit["docno"] for hit in whoosh.search(parsed, limit=None)}


def test_positions_are_those_of_whoosh(built, placed):
    assert placed.store == {"terms", "text", "positions"} and invoke("check", str(placed.path)).code == 0
    mirrored, reader = positions_of(placed.path), index.open_dir(built).reader()
    assert len(mirrored) == len(list(reader.lexicon("text")))
    for term in list(mirrored)[::7]:
        matcher, found = reader.postings("text", term), {}
        while matcher.is_active():
            found[reader.stored_fields(matcher.id())["docno"]] = matcher.value_as("positions")
            matcher.next()
        assert mirrored[term] == found


@pytest.mark.parametrize("slop", [1, 3])
def test_phrases_over_the_mirror_are_found_where_whoosh_finds_them(built, placed, slop):
    assert placed.snapshot.gapless
    found = [(phrase, found_by_whoosh(built, phrase, slop)) for phrase in phrases()[::3]]
    for phrase, theirs in found:
        assert documents_with(placed, phrase, slop) == theirs, phrase
    sizes = {len(theirs) for _, theirs in found}
    assert sizes >= {0, 1} and max(sizes) > 3


def test_the_query_language_reads_phrases_as_whoosh_does(built, placed):
    assert str(placed.query('"common the swift"', language="query").terms[0].term) == "#1('common','swift')"
    for phrase in phrases()[:240:3]:
        words = " ".join(word for word in phrase.split() if word.isalnum())
        asked = placed.query(f'"{words}"', language="query")
        assert set(placed.search(asked, "BM25", k=500).docnos) == found_by_whoosh(built, words), words


@pytest.mark.slow
def test_phrases_of_cranfield_are_found_where_whoosh_finds_them(work, collections):
    own = sublex.build(collections / "cranfield" / "docs.trec", "own").documents()
    documents = [{"id": document.docno, "title": "", "text": document.contents} for document in own]
    folder = build(work / "w", documents, segments=2)
    opened = sublex.attach("whoosh:w", "index", trust=True, positions=True)
    sizes = Counter()
    for phrase in set(phrases(documents)[::3]):
        theirs = found_by_whoosh(folder, phrase)
        assert documents_with(opened, phrase) == theirs, phrase
        sizes[len(theirs)] += 1
    assert sizes.total() > 300 and sizes[0] > 20 and max(sizes) > 20


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        (fields.TEXT(stored=True, chars=True), {"common": [1], "swift": [2, 4], "over": [3]}),
        # Stop words keep their place.
        (
            fields.TEXT(
                stored=True,
                analyzer=analysis.RegexTokenizer() | analysis.LowercaseFilter() | analysis.StopFilter(renumber=False),
            ),
            {"common": [1], "swift": [2, 5], "over": [3]},
        ),
    ],
)
def test_positions_of_other_formats_and_analyzers_are_mirrored(work, text, positions):
    folder = build(work / "w", [{"id": "a", "title": "", "text": "the common swift over the swift"}], text=text)
    opened = sublex.attach(f"whoosh:{folder}", "index", trust=True, positions=True)
    assert {term: places["a"] for term, places in positions_of(opened.path).items()} == positions
    assert opened.snapshot.gapless is (positions["swift"] == [2, 4])


def test_positions_of_deleted_documents_are_left_out(work):
    folder = build(work / "w", DOCUMENTS[:20], segments=2)
    writer = index.open_dir(folder).writer()
    for document in DOCUMENTS[:20:3]:
        writer.delete_by_term("docno", document["id"])
    writer.commit(merge=False)
    sublex.attach("whoosh:w", "index", trust=True, positions=True)
    build(work / "rest", [document for place, document in enumerate(DOCUMENTS[:20]) if place % 3])
    sublex.attach("whoosh:rest", "other", trust=True, positions=True)
    assert positions_of(Path("index")) == positions_of(Path("other"))


def test_a_field_without_positions_costs_a_sentence(work):
    build(work / "w", DOCUMENTS[:3], text=fields.TEXT(stored=True, phrase=False))
    sentence = r"The field text of \S*w holds no positions \(it was made with phrase=False\); leave --positions out"
    with pytest.raises(SublexError, match=sentence):
        sublex.attach("whoosh:w", "index", trust=True, positions=True)
    assert len(sublex.attach("whoosh:w", "index", trust=True)) == 3


def test_positions_of_words_with_boosts_cost_a_sentence(work):
    weighted = analysis.RegexTokenizer(r"\S+") | analysis.DelimitedAttributeFilter("^", "boost", 1.0, float)
    build(work / "w", [{"id": "a", "title": "", "text": "crane^3 river"}], analyzer=weighted)
    sentence = (
        "has words with a weight of their own, so its positions do not fit its frequencies; leave --positions out"
    )
    with pytest.raises(SublexError, match=sentence):
        sublex.attach("whoosh:w", "index", trust=True, positions=True, analyzer="plain")


@pytest.mark.slow
def test_deleted_documents_are_left_out(work):
    folder = build(work / "w", segments=2)
    writer = index.open_dir(folder).writer()
    writer.delete_by_term("docno", "birds-01")
    writer.commit(merge=False)
    said: list[str] = []
    opened = sublex.attach("whoosh:w", "index", trust=True, say=said.append)
    assert len(opened) == len(DOCUMENTS) - 1 and "birds-01" not in opened
    assert any(text.startswith("Deleted documents are left out: 1.") for text in said)
    assert opened.document("birds-02").docno == "birds-02"
    assert "birds-01" not in opened.search("swift", "WhooshBM25F", k=500).docnos
    assert invoke("check", "./index").code == 0


def test_an_index_of_another_name_with_dates_is_attached_without_the_words_of_deleted_documents(work):
    folder = work / "w"
    folder.mkdir()
    schema = fields.Schema(
        docno=fields.ID(stored=True, unique=True), text=fields.TEXT(stored=True), when=fields.DATETIME(stored=True)
    )
    opened = index.create_in(folder, schema, indexname="books")
    writer = opened.writer()
    writer.add_document(docno="d1", text="whale ship", when=datetime(2026, 11, 28, 9, 30))
    writer.add_document(docno="d2", text="zebra", when=datetime(2026, 11, 29))
    writer.commit()
    writer = opened.writer()
    writer.delete_by_term("docno", "d2")
    writer.commit(merge=False)
    found = sublex.attach("whoosh:w", "index", trust=True)
    assert [term.term for term in found.terms()] == ["ship", "whale"] and found.search("ship").docnos == ["d1"]
    assert found.document("d1").fields == {"when": "2026-11-28 09:30:00"}


# Whoosh's scorers.


@pytest.mark.slow
@pytest.mark.parametrize("expression", SCORERS)
def test_a_retriever_ranks_as_whoosh_does(built, attached, expression):
    for text in topics():
        hits = attached.search(text, expression, k=50)
        results = searcher(built, SCORERS[expression]).search(terms_query(attached, text), limit=None, optimize=False)
        expected = sorted(results.top_n, key=lambda item: -item[0])[:50]
        assert hits.scores == pytest.approx([score for score, _ in expected], rel=1e-6)
        found = {results.searcher.stored_fields(doc)["docno"]: score for score, doc in results.top_n}
        assert [found[docno] for docno in hits.docnos] == pytest.approx(hits.scores.tolist(), rel=1e-6)


def test_bm25_over_the_mirror_ranks_as_whoosh(attached):
    for text in topics():
        theirs, ours = (attached.search(text, name, k=100) for name in ("WhooshBM25F", "BM25(variant=whoosh)"))
        assert ours.docnos == theirs.docnos and ours.scores == pytest.approx(theirs.scores, rel=1e-6)


def test_lengths_are_rounded_as_whoosh_stores_them():
    from sublex.rankers.whoosh_lengths import round_lengths

    lengths = [*range(3000), *range(3000, 120_000, 97), 106_373, 106_374, 10**7]
    assert round_lengths(np.array(lengths)).tolist() == [byte_to_length(length_to_byte(length)) for length in lengths]


def test_dfree_follows_its_formula(attached):
    # whoosh/scoring.py: dfree. Whoosh 2.7.5 cannot run it by itself, since its searcher lacks the method `weight`.
    hits = attached.search("swift", "WhooshDFree")
    docs, tfs = attached.postings("swift")
    frequency = dict(zip(docs.tolist(), tfs.tolist(), strict=True))
    total, cf = attached.statistics.tokens, attached.term("swift").cf
    for doc, score in zip(hits.docs.tolist(), hits.scores.tolist(), strict=True):
        tf = frequency[doc]
        length = attached.explain("swift", attached.docno(doc), "WhooshDFree").parts[0].evidence["length, rounded"]
        prior, post = tf / length, (tf + 1) / (length + 1)
        gain = tf * np.log(prior * total / cf) + (tf + 1) * np.log(post * total / cf) + 0.5 * np.log(post / prior)
        assert score == pytest.approx(tf * np.log(post / prior) * gain, rel=1e-6)


@pytest.mark.parametrize(
    "expression", ["WhooshBM25F", "WhooshPL2 >> RM3 >> WhooshPL2", "WhooshBM25F + 0.3*BM25", "BM25 >> WhooshTFIDF"]
)
def test_explanations_equal_the_scores(attached, expression):
    hits = attached.search("the swifts over the rivers", expression, k=20)
    for hit in list(hits)[::4]:
        tree = attached.explain("the swifts over the rivers", hit.docno, expression)
        assert tree.value == pytest.approx(hit.score, rel=1e-6)
        if expression == "WhooshBM25F":
            assert {part.label.partition(":")[0] for part in tree.parts} == {"swifts", "over", "rivers"}
            assert sum(part.value for part in tree.parts if part.kind != "evidence") == pytest.approx(
                hit.score, rel=1e-6
            )


def test_scores_of_any_documents_are_those_of_the_search(attached):
    hits = attached.search("swift river", "WhooshBM25F", k=500)
    stage = attached.pipeline("WhooshBM25F").scorer
    from sublex.pipeline.stages.stage import State

    scoring = stage.start(State(attached.query("swift river")))
    scores = scoring.scores(np.arange(len(attached))[::-1].astype(np.int32))[::-1]
    assert scores[hits.docs].tolist() == hits.scores.tolist() and np.isfinite(scores).sum() == len(hits)


def test_a_filter_has_a_retriever_find_what_passes(attached):
    every = attached.search("swift river", "WhooshBM25F", k=500)
    for share in (2, 9, len(every) - 1):
        passing = set(every.docnos[share - 1 :: share])
        keep = sublex.keep(lambda document, passing=passing: document.docno in passing)
        for k in (1, 4, 500):
            hits = attached.search("swift river", "WhooshBM25F" >> keep, k)
            expected = [(hit.docno, hit.score) for hit in every if hit.docno in passing][:k]
            assert [(hit.docno, hit.score) for hit in hits] == expected


def test_retrievers_of_whoosh_take_no_operators(attached):
    query = Query("swift", (QueryTerm("swift"), QueryTerm(synonyms(["river", "swift"]))))
    assert attached.search(query, "BM25").docnos
    with pytest.raises(
        InputError, match=r"^WhooshPL2 does not take the operator #syn\('river','swift'\); use a ranker"
    ):
        attached.search(query, "WhooshPL2")


def test_a_retriever_reads_whooshs_query_language(built, attached):
    opened = index.open_dir(built)
    for text in ("swift AND river", '"common swift"', "docno:birds-01", "swi* NOT river", "zzzz", ""):
        parsed = QueryParser("text", opened.schema).parse(text)
        with opened.searcher() as whoosh:
            results = whoosh.search(parsed, limit=None)
            expected = {hit["docno"]: hit.score for hit in results}
        hits = attached.search(text, "WhooshBM25F(language=true)", k=500)
        assert dict(zip(hits.docnos, hits.scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-6)
    tree = attached.explain("swift AND river", "birds-01", "WhooshBM25F(language=true)")
    assert tree.label.startswith("WhooshBM25F(language=true): Whoosh's score for (text:swift AND text:river)")
    with pytest.raises(
        SublexError, match=r"reads the user's text, and an expander before it changed the query; leave language out"
    ):
        attached.search("swift river", "BM25 >> RM3 >> WhooshBM25F(language=true)")
    with pytest.raises(
        SublexError, match=r"^Whoosh cannot read the query .*; the fields that it can search are docno, text\.$"
    ):
        attached.search("title:swift", "WhooshBM25F(language=true)")


def test_a_retriever_obeys_the_condition_of_a_query(attached):
    hits = attached.search("+swift river -common", "WhooshBM25F", k=500, language="query")
    every = attached.search("swift river", "WhooshBM25F", k=500)
    texts = {hit.docno: attached.analyze(f"{hit.title} {hit.text}") for hit in every}
    allowed = [hit.docno for hit in every if "swift" in texts[hit.docno] and "common" not in texts[hit.docno]]
    assert hits.docnos == allowed != every.docnos
    for k in (1, 2, 3):
        assert attached.search("+swift river -common", "WhooshBM25F", k=k, language="query").docnos == allowed[:k]


def test_one_query_is_not_read_in_two_languages(attached):
    for expression in ("WhooshBM25F(language=true)", "BM25 + WhooshBM25F(language=true)"):
        with pytest.raises(SublexError, match="take language=true out of the expression, or ask in plain language"):
            attached.search("+swift river", expression, language="query")


def test_a_query_in_whooshs_language_is_not_called_plain_words(work, built):
    sublex.attach(f"whoosh:{built}", "index", trust=True)
    asked = ("search", "./index", "docno:birds-01", "-r")
    assert "plain words" in invoke(*asked, "WhooshBM25F").messages
    assert "plain words" not in invoke(*asked, "WhooshBM25F(language=true)").messages


# Analyzers.


TEXT = "It is THE accelerated Foo_bar naïve café x-y don't 3.14 a.b.c of you to-day ФИЛЬМ 日本 I.B.M. 2nd a"


@pytest.mark.parametrize(
    ("analyzer", "printed"),
    [
        (analysis.StemmingAnalyzer(), "whoosh"),
        (analysis.StandardAnalyzer(), "whoosh(stem=none)"),
        (analysis.StandardAnalyzer(minsize=1), "whoosh(least=1, stem=none)"),
        (analysis.StandardAnalyzer(stoplist=["the", "o'x"]), 'whoosh(stop=["o\'x", the], stem=none)'),
        (analysis.StemmingAnalyzer(stoplist=None), "whoosh(stop=none)"),
        (analysis.SimpleAnalyzer(), "whoosh(stop=none, stem=none)"),
        (analysis.RegexTokenizer(), "whoosh(stop=none, stem=none, lower=false)"),
    ],
)
def test_whooshs_analyzers_are_recognised_and_reproduced(analyzer, printed):
    registry = plugins.load()
    mine = registry.make("analyzer", expression_of(analyzer))
    settings = mine.settings()
    assert registry.print_of("analyzer", mine, settings["name"], settings["params"]) == printed
    assert analyze(mine, TEXT) == [token.text for token in analyzer(TEXT)]
    again = registry.build("analyzer", settings["name"], json.loads(json.dumps(settings["params"])))
    assert analyze(again, TEXT) == analyze(mine, TEXT)


@pytest.mark.parametrize(
    "analyzer",
    [
        analysis.LanguageAnalyzer("de"), analysis.FancyAnalyzer(), analysis.KeywordAnalyzer(), analysis.RegexTokenizer(r"\w+"),
        analysis.StandardAnalyzer(maxsize=9), analysis.StemmingAnalyzer(ignore=["apples"]), analysis.NgramWordAnalyzer(2, 4),
        analysis.RegexTokenizer(gaps=True),
    ],
)  # fmt: skip
def test_other_analyzers_have_to_be_named(analyzer):
    assert expression_of(analyzer) is None


def test_an_index_with_an_unknown_analyzer_needs_a_name(work):
    build(work / "w", DOCUMENTS[:3], analyzer=analysis.LanguageAnalyzer("de"))
    with pytest.raises(SublexError, match=r"The analyzer of \S*w is not known; .* by --analyzer\.$"):
        sublex.attach("whoosh:w", "index", trust=True)
    assert len(sublex.attach("whoosh:w", "index", trust=True, analyzer="german")) == 3


@pytest.mark.parametrize(("characters", "read"), [(1, 1), (5_000_000, 3)])
def test_large_documents_end_the_check_of_the_analyzer(work, monkeypatch, characters, read):
    build(work / "w", DOCUMENTS[:3])
    monkeypatch.setattr("sublex_whoosh.foreign.CHARACTERS", characters)
    texts: list[str] = []
    with closing(WhooshBackend(None, None).open(str(work / "w"))) as index:
        index.check_analyzer(
            "plain", lambda text: texts.append(text) or [t.text for t in analysis.StemmingAnalyzer()(text)]
        )
    assert len(texts) == read


def test_a_wrong_stop_list_costs_a_sentence():
    with pytest.raises(SublexError, match=r"stop=3 of the analyzer whoosh is not whoosh, none or a list of words"):
        plugins.load().make("analyzer", "whoosh(stop=3)")


# Fields.


def test_fields_are_chosen_and_named(work):
    schema = {"body": fields.TEXT(stored=True), "number": fields.NUMERIC(stored=True), "tag": fields.KEYWORD}
    folder = work / "w"
    folder.mkdir()
    opened = index.create_in(
        folder, fields.Schema(key=fields.ID(stored=True), path=fields.ID(stored=True), abstract=fields.TEXT, **schema)
    )
    writer = opened.writer()
    writer.add_document(key="k1", path="p1", abstract="a whale", body="the ship sailed", number=7, tag="x")
    writer.add_document(key="k2", path="p2", abstract="another whale")
    writer.commit()
    with pytest.raises(
        SublexError,
        match=r"holds the ids of documents; name it by --docno \(docno=… in Python and in readers\): body, key, number, path\.$",
    ):
        sublex.attach("whoosh:w", "index", trust=True)
    said: list[str] = []
    first = sublex.attach("whoosh:w", "index", trust=True, docno="path", say=said.append)
    assert said[:2] == [
        "Ids come from the field path, postings from the field abstract.",
        "Other fields are not searched by Sublex's rankers: body, key, number, tag.",
    ]
    assert first.search("whale").docnos == ["p1", "p2"] and first.store == {"terms"}
    with pytest.raises(IndexProblem, match="stores no texts"):
        first.document("p1")
    second = sublex.attach("whoosh:w", "index", trust=True, docno="key", field="body", overwrite=True)
    assert second.search("ship").docnos == ["k1"]
    document = second.document("k1")
    assert document.text == "the ship sailed" and document.fields == {"number": 7, "path": "p1"}
    assert second.document("k2").text == ""
    for options, sentence in (
        ({"field": "nope", "docno": "key"}, "has no field nope that is searched; there are abstract, body"),
        ({"docno": "nope"}, "has no stored field nope; there are body, key, number, path"),
        ({"docno": "body"}, "has no id in the field body; name another by --docno"),
    ):
        with pytest.raises(SublexError, match=sentence):
            sublex.attach("whoosh:w", "other", trust=True, **options)


# Several fields.


@pytest.fixture(scope="module")
def titled(tmp_path_factory):
    """The folder of a Whoosh index of the demo collection whose titles and texts are searched, in three segments."""
    title = fields.TEXT(stored=True, analyzer=analysis.StemmingAnalyzer())
    return build(tmp_path_factory.mktemp("titled") / "demo", segments=3, title=title, place=fields.TEXT)


def whoosh_postings(folder: Path, field: str) -> dict[str, dict[str, int]]:
    """Return the frequencies of the terms of a field by docno, as Whoosh's own matchers give them."""
    reader, found = index.open_dir(folder).reader(), {}
    for term in reader.lexicon(field):
        matcher, lists = reader.postings(field, term), {}
        while matcher.is_active():
            lists[reader.stored_fields(matcher.id())["docno"]] = int(matcher.weight())
            matcher.next()
        found[term.decode()] = lists
    return found


def test_several_fields_have_the_postings_of_whoosh(titled, work):
    said: list[str] = []
    opened = sublex.attach(f"whoosh:{titled}", "index", field="title,text", trust=True, say=said.append)
    assert said[:2] == [
        "Ids come from the field docno, postings from the fields title, text as one.",
        "Whoosh's own scorers search the field title alone.",
    ]
    expected = {field: whoosh_postings(titled, field) for field in ("title", "text")}
    assert opened.fields == ("title", "text") and postings_in_fields(opened) == expected
    whole = {
        term: Counter(expected["title"].get(term, {})) + Counter(expected["text"].get(term, {}))
        for term in {*expected["title"], *expected["text"]}
    }
    assert postings_of(opened.path) == whole and invoke("check", "./index").code == 0
    for field, lists in expected.items():
        assert opened.snapshot.field_tokens(field) == sum(sum(tfs.values()) for tfs in lists.values())
    document = DOCUMENTS[7]
    assert opened.document(document["id"]).contents == f"{document['title']}\n{document['text']}"
    assert opened.search("crane", "WhooshBM25F").docnos


def test_a_word_in_a_field_is_scored_by_whoosh_in_that_field(titled, work):
    opened = sublex.attach(f"whoosh:{titled}", "index", field="title,text", trust=True)
    with index.open_dir(titled).searcher() as searcher:
        for written, parsed in (
            ("text:river", Term("text", "river")),
            ("title:crane^2 text:river", Or([Term("title", "crane", boost=2), Term("text", "river")])),
            ("crane text:crane", Or([Term("title", "crane"), Term("text", "crane")])),
        ):
            expected = {hit["docno"]: hit.score for hit in searcher.search(parsed, limit=None)}
            hits = opened.search(written, "WhooshBM25F", k=500, language="query")
            assert len(expected) > 3 and dict(zip(hits.docnos, hits.scores.tolist(), strict=True)) == pytest.approx(
                expected
            )
    tree = opened.explain("text:river title:crane", hits.docnos[0], "WhooshBM25F", language="query")
    assert [part.label.split(":")[0] for part in tree.parts] == ["text", "crane"]
    with pytest.raises(InputError, match=r"^WhooshBM25F does not take the operator #syn\("):
        opened.search("title:#syn(crane river)", "WhooshBM25F", language="query")


def test_phrases_in_several_fields_are_found_where_whoosh_finds_them(titled, work):
    placed = sublex.attach(f"whoosh:{titled}", "index", field="title,text", trust=True, positions=True)
    assert placed.snapshot.gapless and invoke("check", "./index").code == 0
    sizes = set()
    for phrase in phrases()[::3]:
        theirs = set.union(*(found_by_whoosh(titled, phrase, field=field) for field in placed.fields))
        assert documents_with(placed, phrase) == theirs, phrase
        sizes.add(len(theirs))
    assert sizes >= {0, 1} and max(sizes) > 3


def test_fields_that_differ_are_named(work):
    other = fields.TEXT(stored=True, analyzer=analysis.StandardAnalyzer())
    bare = fields.TEXT(phrase=False, analyzer=analysis.StemmingAnalyzer())
    build(work / "w", DOCUMENTS[:9], title=other, place=bare)
    said: list[str] = []
    sublex.attach("whoosh:w", "index", trust=True, field="text,title,place", say=said.append)
    assert (
        "The field title is analysed otherwise than the field text, so its terms may differ from those of queries."
        in said
    )
    assert "The field place is not stored, so it is not shown." in said
    assert not any("The field place is analysed otherwise" in line for line in said)
    with pytest.raises(InputError, match="The field place of .*w holds no positions"):
        sublex.attach("whoosh:w", "other", trust=True, field="text,place", positions=True)
    with pytest.raises(InputError, match="has no field nope that is searched"):
        sublex.attach("whoosh:w", "other", trust=True, field="text,nope")
    with pytest.raises(InputError, match=r"^The reader whoosh reads one field; name one, or attach"):
        sublex.build("whoosh:w", "own", reader='whoosh(field="title,text", trust=true)')


def test_the_boost_of_a_field_is_left_out(work):
    build(work / "plain", DOCUMENTS[:5], text=fields.TEXT(stored=True))
    build(work / "boosted", DOCUMENTS[:5], text=fields.TEXT(stored=True, field_boost=1.5))
    said: list[str] = []
    plain = sublex.attach("whoosh:plain", "first", trust=True)
    boosted = sublex.attach("whoosh:boosted", "second", trust=True, say=said.append)
    assert boosted.fingerprint == plain.fingerprint and "The boost 1.5 of the field text is left out." in said


# The reader.


@pytest.mark.parametrize("boost", [0.0, float("nan")])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_boost_that_is_no_factor_costs_a_sentence(work, boost):
    build(work / "w", DOCUMENTS[:3], text=fields.TEXT(stored=True, field_boost=boost))
    with pytest.raises(SublexError, match="has the frequency -2,147,483,648"):
        sublex.attach("whoosh:w", "index", trust=True)


def test_stored_documents_are_read_into_an_own_index(work, built):
    done = invoke("index", "./own", f"whoosh:{built}")
    assert done.code == 2 and "if you trust whoever wrote" in done.messages and "whoosh(trust=true)" in done.messages
    done = invoke("index", "./own", f"whoosh:{built}", "--reader", "whoosh(trust=true)")
    assert done.code == 0, done.messages
    own, direct = sublex.open("own"), sublex.build(DEMO, "direct")
    assert "Ids come from the field docno, texts from the field text." in done.messages
    assert own.statistics == direct.statistics and own.attachment is None
    assert own.document("birds-01")[:3] == direct.document("birds-01")[:3]


def test_a_field_that_is_not_stored_cannot_be_read(work):
    build(work / "w", DOCUMENTS[:3], text=fields.TEXT)
    with pytest.raises(
        SublexError, match=r"is not stored, so its documents cannot be read; use its postings: sublex attach NAME"
    ):
        sublex.build("whoosh:w", "own", reader="whoosh(trust=true)")


# Trust, and folders that are wrong.


class Bomb:
    """An object whose pickle makes a file when it is loaded."""

    def __reduce__(self):
        return Path.touch, (Path("exploded"),)


def test_nothing_is_unpickled_before_trust(work):
    folder = build(work / "w", DOCUMENTS[:3])
    toc = folder / f"_MAIN_{last_toc(str(folder)).generation}.toc"
    sublex.attach("whoosh:w", "index", trust=True)
    shutil.copytree("index", "copy")
    with open(folder / "_MAIN_9.toc", "wb") as file:
        # The head of a table of contents, and a schema that explodes.
        bomb = pickle.dumps(Bomb(), 2)
        file.write(toc.read_bytes()[:14] + varint(len(bomb)) + bomb)
    for attempt in (
        lambda: sublex.attach("whoosh:w", "other"),
        lambda: sublex.attach("whoosh:w", "copy", refresh=True),
        lambda: sublex.open("index").document("birds-01"),
        lambda: sublex.open("index").search("swift", "WhooshBM25F"),
        lambda: sublex.build("whoosh:w", "own"),
    ):
        with pytest.raises(SublexError, match=r"add --|has changed since"):
            attempt()
    assert invoke("search", "./index", "swift").code == 0 and invoke("info", "./index").code == 0
    assert invoke("backends").code == 0 and not Path("exploded").exists()
    with pytest.raises(SublexError, match=r"cannot be read; it may be damaged"):
        sublex.attach("whoosh:w", "other", trust=True)
    assert Path("exploded").exists()


@pytest.mark.parametrize("name", ["_MAIN_9.toc", "MAIN_WRITELOCK", "a segment", "another"])
@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_nothing_but_a_plain_file_within_the_folder_is_opened(work, name, kind):
    """Whoosh would wait for a pipe. A forged table of contents may name any file."""
    folder = build(work / "w", DOCUMENTS[:3])
    place = next(folder.glob("*.seg")) if name == "a segment" else folder / name
    place.unlink(missing_ok=True)
    (work / "outside").touch()
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/null" if kind == "device" else "../outside")

    def work_in_child() -> None:
        signal.alarm(60)
        for trust in (False, True):
            with pytest.raises(
                SublexError, match=f"w holds {re.escape(place.name)}, (which is not a plain file|a link that leads out)"
            ):
                sublex.attach("whoosh:w", "index", trust=trust)

    ended = child.run(work_in_child)
    assert not ended.signal and not ended.error


def test_wrong_folders_cost_a_sentence(work, built):
    Path("empty").mkdir()
    Path("file").touch()
    two = Path("two")
    two.mkdir()
    for name in ("_A_1.toc", "_B_1.toc"):
        (two / name).touch()
    for source, sentence in (
        ("nowhere", "No folder .*nowhere; name the folder of a Whoosh index"),
        ("empty", "empty is not a Whoosh index: it holds no file named _MAIN_1.toc or the like"),
        ("file", "Cannot read .*file: Not a directory"),
        ("two", "two holds several Whoosh indexes, A, B, and none is called MAIN"),
    ):
        with pytest.raises(SublexError, match=sentence):
            sublex.attach(f"whoosh:{source}", "index", trust=True)
    Path("w").mkdir()
    index.create_in("w", fields.Schema(docno=fields.ID(stored=True), text=fields.TEXT(stored=True)))
    with pytest.raises(SublexError, match="holds no documents"):
        sublex.attach("whoosh:w", "index", trust=True)
    assert not Path("index").exists()


@pytest.mark.slow
def test_a_damaged_index_costs_a_sentence(work):
    folder = build(work / "w", DOCUMENTS[:20])
    (segment,) = folder.glob("*.seg")
    sound = segment.read_bytes()
    for cut in (0, 10, len(sound) // 2, len(sound) - 50):
        segment.write_bytes(sound[:cut])
        with pytest.raises(SublexError, match=r"The Whoosh index .*w cannot be read; it may be damaged"):
            sublex.attach("whoosh:w", "index", trust=True)
    segment.unlink()
    with pytest.raises(SublexError, match=r"it may be damaged \(FileNotFoundError"):
        sublex.attach("whoosh:w", "index", trust=True)


def test_an_index_that_is_being_written_is_refused(work):
    folder = build(work / "w", DOCUMENTS[:3])
    writer = index.open_dir(folder).writer()
    with pytest.raises(SublexError, match="is being written; try again when its writer has finished"):
        sublex.attach("whoosh:w", "index", trust=True)
    writer.cancel()
    assert len(sublex.attach("whoosh:w", "index", trust=True)) == 3


def test_another_version_costs_a_sentence(work):
    folder = build(work / "w", DOCUMENTS[:3])
    toc = folder / f"_MAIN_{last_toc(str(folder)).generation}.toc"
    data = toc.read_bytes()
    place = data.index((-111).to_bytes(4, "big", signed=True))
    toc.write_bytes(data[:place] + (-999).to_bytes(4, "big", signed=True) + data[place + 4 :])
    with pytest.raises(SublexError, match="is a Whoosh index of another version"):
        sublex.attach("whoosh:w", "index", trust=True)


def test_a_missing_whoosh_costs_a_sentence_that_installs_it(work, built, monkeypatch):
    sublex.attach(f"whoosh:{built}", "index", trust=True)
    monkeypatch.setattr("sublex_whoosh.backend.find_spec", lambda name: None)
    message = "Whoosh is not installed; to install it: "
    with pytest.raises(SublexError, match=message):
        sublex.attach(f"whoosh:{built}", "other", trust=True)
    with pytest.raises(SublexError, match=message):
        sublex.build(f"whoosh:{built}", "own", reader="whoosh(trust=true)")
    with pytest.raises(IndexProblem, match=message):
        sublex.open("index").document("birds-01")
    assert message in invoke("backends").output
    monkeypatch.setitem(sys.modules, "whoosh.lang.porter", None)
    with pytest.raises(MissingExtra, match="The analyzer whoosh with stem=porter needs an optional part"):
        sublex.open("index").search("swift")


def test_whoosh_is_not_imported_before_it_is_needed():
    code = "import sys; from sublex.language import plugins; plugins.load().plugins; print('whoosh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


# The analyzer that a user names is compared with Whoosh's on stored texts.


def test_another_analyzer_is_checked_on_stored_texts(built):
    from sublex_whoosh.foreign import WhooshIndex

    opened, registry = WhooshIndex(str(built), None, None), plugins.load()

    def check(expression: str) -> str | None:
        made = registry.make("analyzer", expression)
        return opened.check_analyzer(expression, lambda text: analyze(made, text))

    try:
        assert check("whoosh") is None
        assert re.fullmatch(
            r"On a sample of the texts, \d+\.\d% of the terms by english and by Whoosh differ; queries do not find these\.",
            check("english") or "",
        )
        with pytest.raises(
            SublexError, match=r"german\(.*\) makes other terms than those of .*; name the right analyzer by --analyzer"
        ):
            check("german(stop=none)")
    finally:
        opened.close()
