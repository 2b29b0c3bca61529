"""Sublex from Python: every usual form of topics, judgements and runs is taken, and a mistake ends in a sentence."""

from __future__ import annotations

import copy
import json
import pickle
import re
import shutil
import subprocess
import sys
import warnings
from collections import namedtuple
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import scipy.stats
from ir_measures import AP, nDCG
from shared import DEMO, QRELS, TOPICS, run_of

import sublex
from sublex.errors import InputError, MissingExtra, SublexError
from sublex.trec.given_topics import topics_of

TEXTS = {"1": "crane", "2": "bridge tower"}
Row = namedtuple("Row", "query_id text")


@pytest.fixture(scope="module")
def demo(built_demo, plugins_loaded_once, tmp_path_factory):
    """An index of the demo collection, which keeps the runs of comparisons and does not change otherwise."""
    return sublex.open(shutil.copytree(built_demo, tmp_path_factory.mktemp("python") / "demo"))


@pytest.fixture(scope="module")
def topics():
    return sublex.read_topics(TOPICS)


@pytest.fixture(scope="module")
def qrels():
    return sublex.read_qrels(QRELS)


@pytest.fixture(scope="module")
def run(demo, topics):
    return demo.run(topics, "BM25")


def test_an_index_that_was_built_has_the_summary_of_the_build(tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"id": "a", "text": "whale"}\nbroken\n{"id": "a", "text": "again"}\n')
    index = sublex.build(tmp_path / "odd.jsonl", tmp_path / "index")
    assert (index.built.read, index.built.indexed, index.built.duplicate) == (2, 1, ["a"])
    assert [problem.line for problem in index.built.problems] == [2]
    assert sublex.open(tmp_path / "index").built is None


# Topics.


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"qid": ["1", "2"], "query": TEXTS.values()}),
        pd.DataFrame({"query_id": [1, 2], "text": TEXTS.values(), "length": [1.0, 2.0]}),
        TEXTS,
        {1: "crane", 2: "bridge tower"},
        {qid: {"title": text} for qid, text in TEXTS.items()},
        list(TEXTS.items()),
        [list(pair) for pair in TEXTS.items()],
        (pair for pair in TEXTS.items()),
        [{"qid": qid, "query": text} for qid, text in TEXTS.items()],
        [Row(qid, text) for qid, text in TEXTS.items()],
        list(TEXTS.values()),
        np.array(list(TEXTS.values())),
        topics_of(TEXTS),
        topics_of(TEXTS)[:2],
    ],
    ids=lambda given: type(given).__name__,
)
def test_topics_are_taken_in_every_usual_form(demo, given):
    run = demo.run(given, "PL2")
    assert {qid: list(hits) for qid, hits in run.items()} == {
        qid: demo.search(text, "PL2", 1000).docnos for qid, text in TEXTS.items()
    }


def test_a_text_is_a_topics_file_and_fields_of_records_can_be_chosen(demo, topics, tmp_path):
    assert demo.run(str(TOPICS), "PL2") == demo.run(TOPICS, "PL2") == demo.run(topics, "PL2")
    records = [{"qid": "1", "title": "crane", "desc": "wading birds"}, {"qid": "2", "title": "bridge"}]
    assert [topic.text for topic in topics_of(records, "title+desc")] == ["crane wading birds", "bridge"]
    assert topics["7"].qid == "7" and topics[0] is topics["1"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (None, "The topics are None; give a topics file, a DataFrame or records"),
        (3, "The topics are 3 (int); give"),
        ([], "There are no topics; give"),
        ("crane", "Cannot read crane: No such file or directory. A text names a topics file; for one query call search"),
        (b"crane", "The topics are b'crane' (bytes)"),
        ({"crane"}, "The topics are {'crane'} (set)"),
        (("1", "crane"), "The topics are a tuple of texts, which may mean several things"),
        (["crane", ("2", "bridge")], "The topics are texts among other things"),
        ([1, 2], "Topic 1 is 1 (int); give"),
        ([("1", "crane", "more")], "Topic 1 is ('1', 'crane', 'more') (tuple); give"),
        ([("1", None)], "The query of topic 1 is None; give a text."),
        ([("1", "crane"), ("1", "bridge")], "Topics 1 and 2 have the same id 1; keep one of the two."),
        ([("lens crystalline", "dna blood")], "The topic id 'lens crystalline' holds white space"),
        ([("", "crane")], "The topic id '' is empty"),
        ({"qid": "1", "query": "crane"}, "looks like one record, with qid and query; put it into a list."),
        ({"qid": ["1"], "query": ["crane"]}, "looks like columns, qid and query; make a DataFrame of it."),
        ([{"query": "crane"}], "Topic 1 has no qid, only query; name its id qid"),
        ([{"qid": "1"}], "Topic 1 has no text; name its text query."),
        (pd.DataFrame({"a": [1]}), "Topic 1 has no qid, only a; name its id qid"),
        (pd.DataFrame({"qid": ["1"], "utterance": ["crane"]}), "No topic has a query, only utterance; name the column"),
        (pd.DataFrame({"qid": ["1", "2"], "query": ["crane", None]}), "The query of topic 2 is "),
        (pd.DataFrame({"qid": [1.5], "query": ["crane"]}), "The topic id 1.5 (float) is neither a text nor a whole number"),
        (pd.DataFrame([["1", "a", "b"]], columns=["qid", "query", "query"]), "two columns of one name: qid, query, query"),
        (pd.Series(["crane"]), "A Series may have any index; give its list for numbered texts"),
        (run_of({"1": {"a": 1.0}}, "BM25"), "The topics are <BM25: 1 hit for 1 topic> (Run); give"),
    ],
    ids=str,
)  # fmt: skip
def test_topics_that_are_none_are_refused_in_a_sentence(demo, given, sentence):
    with pytest.raises(InputError) as error:
        demo.run(given)
    assert sentence in str(error.value) and "\n" not in str(error.value)


# Mistakes. Each is Python code; `index`, `topics`, `qrels` and `run` are what a user has.

MISTAKES = {
    "index.search(None)": "The query is None; give a text.",
    "index.search(['a', 'b'])": "The query is ['a', 'b'] (list); give a text.",
    "index.search('crane', 5)": "The expression is 5 (int); give a text such as",
    "index.search('crane', k='5')": "k is '5' (str); give a whole number, at least 1.",
    "index.search('crane', k=0)": "k=0 should be at least 1.",
    "index.search('crane', profile=[])": "The profile is [] (list); give a text.",
    "index.search('crane', 'BM26')": "did you mean BM25?",
    "index.run('BM25', topics)": "A text names a topics file",
    "index.run(topics, qrels)": "The expression is <368 judgements of 30 topics",
    "index.run(topics, k=2.5)": "k is 2.5 (float); give a whole number",
    "index.run(topics, workers='2')": "workers is '2' (str); give a whole number",
    "index.document('nope')": "No document nope in ",
    "index.document(None)": "The docno is None; give a text.",
    "index.docno(10**9)": "No document has the number 1000000000 in ",
    "index.docno('birds-05')": "doc is 'birds-05' (str); give a whole number",
    "index.term(None)": "The term is None; give a text.",
    "index.postings(3)": "The term is 3 (int); give a text.",
    "index.analyze(None)": "The text is None; give a text.",
    "index.explain('crane', 'nope')": "No document nope in ",
    "index.explain('crane', None)": "The docno is None; give a text.",
    "index.delete(None)": "The docnos to delete are None; give one or a list.",
    "index.delete([1])": "The docno is 1 (int); give a text.",
    "index.add(None)": "The documents are None; give a path, a DataFrame, or a list of documents.",
    "index.add({'id': '1', 'text': 'x'})": "The documents are {'id': '1', 'text': 'x'} (dict); give a path",
    "index.add([('1', 'x')])": "Document 1 cannot be indexed",
    "index.fit(None)": "The expression is None; give a text such as",
    "index.searcher(None)": "The expression is None; give a text such as",
    "index.store_impacts(None)": "The rankers are None; give expressions",
    "index.add_resource('x', None)": "The file is None; give a path.",
    "sublex.open(None)": "The index is None; give a path.",
    "sublex.open(3)": "The index is 3 (int); give a path.",
    "sublex.open('')": "An index needs a name or a path.",
    "sublex.open('nope')": "No index at ",
    "sublex.build(None, 'x')": "The documents are None",
    "sublex.build([], None)": "The path of the index is None; give a path.",
    "sublex.build([], 'x', store=None)": "The parts to store are None",
    "sublex.build([], 'x', analyzer=3)": "The analyzer is 3 (int); give a text.",
    "sublex.build([], 'x', workers='2')": "workers is '2' (str)",
    "sublex.parse(None)": "The expression is None; give a text",
    "sublex.read_topics(None)": "The path of the topics is None; give a path.",
    "sublex.read_qrels(3)": "The path of the qrels is 3 (int); give a path.",
    "sublex.read_run(None)": "The path of the run is None; give a path.",
    "sublex.measure(None, run)": "The judgements cannot be None; give a qrels file",
    "sublex.measure(qrels, None)": "The system None cannot be run",
    "sublex.measure(run, qrels)": "which is not a whole number",
    "sublex.measure(qrels, 'BM25')": "BM25 cannot be run without an index and topics",
    "sublex.measure(qrels, 'nope.run')": "Cannot read nope.run",
    "sublex.measure(qrels, run, 5)": "The measures are 5 (int); give names such as 'AP nDCG@10'.",
    "sublex.measure(qrels, {'1': ['a']})": "Topic 1 of the run has ['a'] (list); give a run file",
    "sublex.measure(qrels, {'1': {'a': None}})": "Topic 1 has the score None, not a finite float32 number",
    "sublex.measure(qrels, pandas.DataFrame({'a': [1]}))": "A row of the run has no qid, only a; give a run file",
    "sublex.measure(qrels, len, topics=topics)": "The function len returned 5 (int); return hits",
    "sublex.measure(qrels, len)": "The function len cannot be run without topics; give them.",
    "sublex.measure(qrels, run, 'AP').mean_of('RR')": "RR was not computed; there are AP.",
    "run['nope']": "No topic nope in this Run; the topics are 1, 2, 3, ….",
    "run[1]": "The topic id 1 (int) is no text; the topics are 1, 2, 3, ….",
    "run.write(None)": "The path of the run is None; give a path.",
    r"run.write('a\0b')": r"The path of the run is 'a\x00b' (str), which has a character that no path has; give another.",
    r"sublex.open('./\ud800')": r"'./\ud800' has a character that no path has; give another name.",
    r"sublex.read_run('\ud800')": r"The path of the run is '\ud800' (str), which has a character that no path has; give another.",
    "run.update({})": "A run does not change; make a dictionary of it by dict(run).",
    "topics['99']": "No topic 99 among 30 topics from ",
    "sublex.compare(index, topics, qrels, None)": "The systems are None; give an expression",
    "sublex.compare(index, topics, qrels, [])": "There is nothing to compare; give a ranker or a run.",
    "sublex.compare(index, qrels, topics, ['BM25'])": "The topics are <368 judgements of 30 topics",
    "sublex.compare(topics, index, qrels, ['BM25'])": "The index is <30 topics from ",
    "sublex.compare(index, topics, None, ['BM25'])": "The judgements cannot be None",
    "sublex.compare(index, topics, qrels, ['BM25'], alpha='x')": "alpha is 'x' (str); give a number.",
    "sublex.fuse(run)": "Fusion needs at least two runs.",
    "sublex.fuse([run, run], 'weighted', 3)": "weighted needs 2 weights",
    "sublex.fuse([run, run], normalise='minmax')": "rrf uses ranks only and takes no normaliser; leave it out",
    "sublex.tune(None, topics, qrels, 'BM25(b={0..1})')": "Tuning needs an index; give one, or its path.",
    "sublex.tune(index, topics, qrels, 'BM25(b={0..1})', folds='x')": "folds is 'x' (str); give a whole number",
    "sublex.write_report(None, 'x.html')": "The comparison is None; give a result of sublex.compare.",
}  # fmt: skip


@pytest.mark.parametrize("code", MISTAKES)
def test_a_natural_mistake_ends_in_a_sentence(code, demo, topics, qrels, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"index": demo, "topics": topics, "qrels": qrels, "run": run, "sublex": sublex, "pandas": pd}
    with pytest.raises(SublexError) as error:
        eval(code, names)
    message = str(error.value)
    assert MISTAKES[code] in message
    assert "\n" not in message and not re.search(r"(^|\s)--?[a-z]", message), "names an option of the command line"


# Warnings.


def warned(call):
    """Return the warnings of Sublex that a call gives; each names a line of this file."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(each.category is sublex.SublexWarning and each.filename == __file__ for each in found)
    return [str(each.message) for each in found]


def test_measure_and_compare_warn_as_the_commands_do(demo, topics, run, command):
    Path("qrels.txt").write_text("1 0 birds-05 1\n1 0 birds-05 1\n99 0 sea-01 1\n")
    run.write("one.run")
    Path("two.run").write_text("x Q0 a 1 2.0 two\nx Q0 a 1 2.0 two\n")
    for file in ("one.run", "two.run"):
        _, *notes = command("eval", "qrels.txt", file, "-m", "AP").messages.strip().split("\n")
        assert warned(lambda file=file: sublex.measure("qrels.txt", file, "AP")) == notes and len(notes) > 1
    assert "two: No topic id of the run is in qrels.txt: every measure will be 0." in notes[-1]
    notes = command("compare", "qrels.txt", "one.run", "two.run", "-m", "AP").messages.strip().split("\n")
    files = ["one.run", "two.run"]
    assert warned(lambda: sublex.compare(None, None, "qrels.txt", files, "AP")) == notes
    assert sublex.compare(None, None, "qrels.txt", files, "AP").notes == tuple(notes)
    # What an index and topics tell besides.
    (judged,) = warned(
        lambda: sublex.measure({"1": {"birds-05": 1, "gone": 1}}, "PL2", "AP", index=demo, topics=topics)
    )
    assert "gone is not in" in judged
    assert warned(lambda: sublex.measure({"1": {"birds-05": 1}}, {"1": {"birds-05": 1.0}}, "AP")) == []
    assert warned(lambda: sublex.measure({"1": {"birds-05": 1}}, {"1": {}}, "AP")) == []  # nothing was found


def test_fuse_warns_as_the_command_does(demo, topics, tmp_path, command):
    other = sublex.build(DEMO, tmp_path / "other", analyzer="english(stop=none)")
    demo.run(topics, "PL2").write("one.run")
    other.run(topics, "BM25").write("two.run")
    run_of({"x": {"a": 1.0}}, "three").write("three.run")
    for files, sentences in (
        (["one.run", "two.run"], [
            "The runs come from different indexes, whose documents or analyzers differ (by fingerprint "
            f"{demo.fingerprint[:12]}: one.run; {other.fingerprint[:12]}: two.run).",
        ]),
        (["one.run", "three.run"], [
            "three.run has no topic in common with the runs before it: it has x, and they have 1, 2, 3; "
            "fuse runs of the same topics.",
        ]),
    ):  # fmt: skip
        done = command("fuse", *files, "-o", "fused.run")
        assert done.messages.strip().split("\n") == sentences
        runs = dict(zip(files, files, strict=True))
        assert warned(lambda runs=runs: sublex.fuse(runs)) == sentences
    assert warned(lambda: sublex.fuse(["PL2", "BM25", {}], index=demo, topics=topics)) == []


def test_tune_warns_of_topics_that_are_left_out(demo, command):
    Path("qrels.txt").write_text("1 0 birds-05 1\n1 0 birds-05 1\n2 0 sea-01 1\n5 0 sea-01 1\n")
    Path("topics.tsv").write_text("1\tcrane\n2\tseal\n3\tmill\n4\tbank\n")
    found = warned(lambda: sublex.tune(demo, "topics.tsv", "qrels.txt", "BM25(b={0,1})", folds=2))
    assert found == [
        "qrels.txt: 1 judgement repeats another with the same grade and counts once",
        "2 topics have no judgements and are left out.",
        "1 judged topics are not among the topics and are left out.",
    ]
    messages = command("tune", demo.path, "topics.tsv", "qrels.txt", "BM25(b={0,1})", "--folds", "2").messages
    assert all(sentence in messages for sentence in found)


def test_a_warning_holds_no_control_characters():
    found = warned(
        lambda: sublex.fuse({"a": run_of({"1": {"a": 1.0}}, "a"), "b\x1b[2J\n": run_of({"2": {"a": 1.0}}, "b")})
    )
    assert len(found) == 1 and "\x1b" not in found[0] and "\n" not in found[0]


# Terms.


def test_a_word_finds_its_term(tmp_path):
    text = "Indexing indexes the agreed state-of-the-art aggregates"
    index = sublex.build([{"id": "a", "text": text}], tmp_path / "index")
    assert index.term("indexing") == index.term("index") == index.term("Indexes")
    assert (index.term("indexing").term, index.term("indexing").cf) == ("index", 2)
    assert index.postings("indexed").tfs.tolist() == [2] and index.postings("whales").tfs.tolist() == []
    assert index.term("the") is index.term("whales") is index.term("") is None
    # A term is not stemmed again: the term of "agreed" is "agre", whose own stem would be "agr".
    assert index.analyze("agreed") == ["agre"] and index.analyze("agre") == ["agr"]
    assert [index.term(term.term) for term in index.terms()] == list(index.terms())
    with pytest.raises(
        InputError, match="The analyzer makes 3 terms of 'state-of-the-art whale': state, art, whale; ask for"
    ):
        index.term("state-of-the-art whale")


# Runs and judgements.


def as_table(run):
    return {qid: dict(hits) for qid, hits in run.items() if hits}


def test_runs_and_judgements_are_taken_in_every_usual_form(run, qrels, tmp_path):
    run.write(tmp_path / "bm25.run")
    expected = sublex.measure(qrels, run).mean
    scored = [ir_measures.ScoredDoc(qid, docno, score) for qid, hits in run.items() for docno, score in hits.items()]
    frame = run.to_pandas()
    runs = [
        tmp_path / "bm25.run", str(tmp_path / "bm25.run"), dict(run), frame, scored, iter(scored),
        frame.rename(columns={"qid": "query_id", "docno": "doc_id"}), frame.sample(frac=1, random_state=0).to_dict("records"),
    ]  # fmt: skip
    judgements = [
        QRELS, str(QRELS), dict(qrels), qrels.to_pandas(), qrels.to_pandas().astype({"label": float}), list(qrels.itertuples()),
    ]  # fmt: skip
    for given in runs:
        evaluation = sublex.measure(qrels, given)
        assert evaluation.mean == expected and evaluation.name in ("run", "BM25")
    for given in judgements:
        assert sublex.measure(given, run).mean == expected


def test_ids_that_are_whole_numbers_become_texts():
    assert sublex.measure({1: {7: 1}}, {"1": {"7": 2.0, "8": 1.0}}, "AP").mean == {"AP": 1.0}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "a"], "score": [1.0, 2.0]}), "Topic 1 has a twice; keep one"),
        ({"1": {"a": float("nan")}}, "Topic 1 has the score nan (float), not a finite float32 number"),
        ([("1", "a", 1.0)], "The run cannot hold ('1', 'a', 1.0) (tuple); give a run file"),
        ([{"qid": ["1"], "docno": "a", "score": 1.0}], "Some topic id is a list or the like; make all ids texts."),
        ([{"qid": "1", "docno": "a", "rank": 1}], "A row of the run has no score, only qid, docno, rank; give"),
    ],
)
def test_runs_that_are_none_are_refused_in_a_sentence(given, sentence, qrels):
    with pytest.raises(InputError) as error:
        sublex.measure(qrels, given)
    assert sentence in str(error.value)


def test_hits_are_sliced_as_a_list_is(demo):
    hits = demo.search("crane")
    assert hits[:2] == list(hits)[:2] and hits[::-3] == list(hits)[::-3] and hits[99:] == []


def test_measures_of_ir_measures_are_taken_as_they_are(demo, topics, qrels, run):
    assert sublex.measure(qrels, run, nDCG @ 10).mean == sublex.measure(qrels, run, "nDCG@10").mean
    found = sublex.measure(qrels, run, [AP(rel=2), nDCG(dcg="exp-log2") @ 10, "RR"])
    assert list(found.mean) == ["AP(rel=2)", "nDCG(dcg='exp-log2')@10", "RR"]
    assert sublex.compare(demo, topics, qrels, ["BM25", "PL2"], [ir_measures.P @ 5]).main == "P@5"
    assert sublex.tune(demo, topics, qrels, "BM25(b={0,1})", ir_measures.P @ 5).names == ("b",)


def test_a_function_that_scores_documents_is_no_system(demo, topics, qrels):
    def scores(query, documents):
        return [0] * len(documents)

    with pytest.raises(
        InputError, match=r'scores does not take a query alone; .* "BM25 % 100" >> sublex.rerank\(scores'
    ):
        sublex.compare(demo, topics, qrels, ["BM25", scores], "AP")


def test_expressions_and_functions_are_measured_compared_and_fused(demo, topics, qrels, run):
    def found(query):
        return demo.search(query, "BM25", 1000)

    def scores(query):
        return {hit.docno: hit.score for hit in found(query)}

    def pairs(query):
        return list(scores(query).items())

    expected = sublex.measure(qrels, run).mean
    assert sublex.measure(qrels, "BM25", index=demo, topics=topics).mean == expected
    for function in (found, scores, pairs):
        evaluation = sublex.measure(qrels, function, topics=TOPICS)
        assert evaluation.mean == expected and evaluation.name == function.__name__
    compared = sublex.compare(demo, TOPICS, dict(qrels), ["BM25", found, dict(run), run.to_pandas()], "AP")
    assert compared.names == ("BM25", "found", "run 3", "run 4") and len(set(compared.mean("AP"))) == 1
    assert compared.systems[1].milliseconds.shape == (30,)
    named = sublex.compare(demo, topics, qrels, {"mine": dict(run), "theirs": "PL2"}, "AP")
    assert named.names == ("mine", "theirs")
    fused = sublex.fuse(["PL2", run, scores], k=5, index=demo, topics=topics)
    assert fused == sublex.fuse([demo.run(topics, "PL2"), dict(run), run], k=5)


def test_a_file_with_the_name_of_a_ranker_does_not_stand_for_the_ranker(
    demo, topics, qrels, run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    sublex.fuse([run, run], k=1).write("BM25")
    run.write("one.run")
    systems = sublex.compare(demo, topics, qrels, ["BM25", "one.run"], "NumRet AP", k=2).systems
    assert [system.name for system in systems] == ["BM25", "one.run"]
    assert as_table(systems[0].run) == as_table(run.top(2)) == as_table(systems[1].run)
    assert sublex.measure(qrels, "BM25", "NumRet").mean["NumRet"] == len(sublex.read_run("BM25").docs)


def test_a_run_from_python_has_the_metadata_of_the_command(demo, topics, command, tmp_path):
    done = command("run", demo.path, TOPICS, "-r", "PL2", "-o", tmp_path / "runs")
    assert done.code == 0, done.messages
    demo.run(TOPICS, "PL2").write(tmp_path / "mine.run")
    sublex.measure(QRELS, "PL2", index=demo, topics=topics)  # keeps the run
    kept = sublex.compare(demo, topics, QRELS, ["PL2"]).systems[0]
    theirs, mine = sublex.read_run(tmp_path / "runs" / "PL2.run"), sublex.read_run(tmp_path / "mine.run")
    assert kept.cached and mine == theirs and mine.tag == theirs.tag
    for run in (mine.metadata, dict(kept.run.metadata)):
        run["implementation"]["executable"] = theirs.metadata["implementation"]["executable"]
        assert run == theirs.metadata
    given = demo.run(TEXTS, "PL2").metadata["data"]["topics"]
    assert given == {"name": "given in Python", "number": 2, "fields": "title"}


def test_a_fresh_comparison_replaces_the_kept_runs(index):
    def milliseconds(fresh):
        system = sublex.compare(index, TEXTS, {"1": {"birds-05": 1}}, ["BM25"], "AP", fresh=fresh).systems[0]
        return system.cached, system.milliseconds.tolist()

    first, again, fresh, after = milliseconds(False), milliseconds(False), milliseconds(True), milliseconds(False)
    assert (first[0], again[0], fresh[0], after[0]) == (False, True, False, True)
    assert again[1] == first[1] and after[1] == fresh[1] != first[1]


# Other libraries.


def test_ir_measures_takes_runs_and_qrels_as_they_are(run, qrels):
    ours = sublex.measure(qrels, run, "AP nDCG@10")
    theirs = ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)
    assert theirs[AP] == pytest.approx(ours.mean["AP"]) and theirs[nDCG @ 10] == pytest.approx(ours.mean["nDCG@10"])
    by_topic = {metric.query_id: metric.value for metric in ir_measures.iter_calc([AP], qrels, run)}
    assert [by_topic[qid] for qid in ours.qids] == pytest.approx(ours["AP"].tolist())
    assert ir_measures.evaluator([AP], qrels).calc_aggregate(run)[AP] == theirs[AP]
    assert ir_measures.calc_aggregate([AP], qrels.itertuples(), run) == {AP: theirs[AP]}


def test_pytrec_eval_takes_runs_and_qrels_as_they_are(run, qrels):
    found = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    ours = sublex.measure(qrels, run, "AP")
    # Topic 26 has no hit, and trec_eval's code does not stand an empty ranking.
    assert not run["26"] and set(found) == set(run) - {"26"}
    assert [found[qid]["map"] for qid in found] == pytest.approx([ours["AP"][ours.qids.index(qid)] for qid in found])


def test_ranx_takes_runs_and_qrels_as_they_are(run, qrels):
    ranx = pytest.importorskip("ranx", reason="ranx is not here")
    value = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run, name=run.tag), "map")
    assert value == pytest.approx(sublex.measure(qrels, run, "AP").mean["AP"], abs=1e-3)  # ties
    back = ranx.Run(run)
    assert sublex.measure(qrels, back, "NumRet").mean == sublex.measure(qrels, run, "NumRet").mean


def test_a_run_is_a_dictionary_that_does_not_change(run):
    plain = {qid: run[qid] for qid in run.qids}
    assert isinstance(run, dict) and run == plain == dict(run) == {**run} == run.copy()
    assert json.loads(json.dumps(run)) == plain and len(run) == 30 and run.get("nope") is None
    for other in (copy.copy(run), copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert other == run and other.tag == run.tag
    assert run | {"x": {}} == {**plain, "x": {}} and {"x": {}} | run == {"x": {}, **plain}
    assert bool(run) and not run_of({}, "none") and dict.get(run, "26", "left out") == "left out"
    for change in (lambda: run.pop("1"), run.clear, lambda: run.__setitem__("1", {})):
        with pytest.raises(InputError, match="A run does not change"):
            change()
    with pytest.raises(KeyError):
        run["nope"]


# DataFrames and notebooks.


def test_frames_have_the_columns_that_pyterrier_uses(demo, topics, qrels, run):
    frame = run.to_pandas()
    assert list(frame.columns) == ["qid", "docno", "rank", "score"] and len(frame) == len(run.docs)
    assert {qid: dict(zip(part.docno, part.score, strict=True)) for qid, part in frame.groupby("qid")} == as_table(run)
    assert all(part["rank"].tolist() == list(range(1, len(part) + 1)) for _, part in frame.groupby("qid"))
    assert {qid: dict(zip(p.docno, p.label, strict=True)) for qid, p in qrels.to_pandas().groupby("qid")} == dict(qrels)
    asked = topics.to_pandas()
    assert list(asked.columns) == ["qid", "query"] and demo.run(asked, "BM25") == run
    hits = demo.search("crane")
    found = hits.to_pandas()
    assert found.docno.tolist() == hits.docnos and found["rank"].tolist() == list(range(1, len(hits) + 1))
    tree = demo.explain("crane bird", "birds-05").to_pandas()
    assert tree.depth[0] == 0 and tree.value[0] == demo.search("crane bird")[0].score
    assert tree.value[tree.depth == 1].sum() == pytest.approx(tree.value[0])
    assert list(sublex.compare(demo, topics, qrels, ["BM25", "PL2"], "AP").to_pandas().index) == ["BM25", "PL2"]


def test_displays_are_small_and_escaped(tmp_path):
    title = "<b>crane & co</b>"
    index = sublex.build([{"id": f"<{k}>", "title": title, "text": "crane"} for k in range(30)], tmp_path / "index")
    topics = topics_of({f"<{k}>": f"crane <i>{k}" for k in range(30)})
    run = index.run(topics, "BM25")
    qrels = {topic.qid: {"<1>": 1} for topic in topics}
    compared = sublex.compare(index, topics, qrels, {"<u>": "BM25", "<v>": run}, "AP")
    displays = [
        index.search("crane", k=30),
        run,
        topics,
        compared,
        compared.evaluations[0],
        index.explain("crane", "<1>"),
    ]
    displays += [sublex.read_qrels(path) for path in [write_qrels(tmp_path, qrels)]]
    for shown in displays:
        page = shown._repr_html_()
        assert len(page) < 5000 and not re.search(r"<(b>crane|i>|u>|v>|[0-9]+>)", page), type(shown)
        assert page.count("<tr>") <= 11
    assert "&lt;b&gt;crane &amp; co&lt;/b&gt;" in displays[0]._repr_html_() and "… and 20 more" in run._repr_html_()


def test_print_shows_the_first_hits_as_a_table(tmp_path):
    documents = [{"id": f"d{k:02}", "title": "A crane\x1b[2J" if k < 11 else "", "text": "crane"} for k in range(12)]
    hits = sublex.build(documents, tmp_path / "index").search("crane", k=12)
    caption, blank, head, first, *rows, after, more = str(hits).split("\n")
    assert (caption, blank, after, more) == ("12 hits", "", "", "… and 2 more")
    assert head.split() == ["rank", "docno", "title", "score"] and len(rows) == 9
    assert first.split() == ["1", "d11", "crane", f"{hits[0].score:.4f}"]  # the text stands in for a title
    assert "A crane\ufffd[2J" in rows[0] and "\x1b" not in str(hits)
    assert repr(hits) == "<12 hits>"
    assert str(hits.first(0)) == "0 hits" and str(hits.first(1)).split("\n")[3].split() == first.split()


def test_print_shows_a_tree_a_comparison_and_an_evaluation_as_the_commands_do(demo, topics, qrels, command):
    done = command("explain", demo.path, "cranes", "birds-05")
    tree = demo.explain("cranes", "birds-05")
    assert str(tree).split("\n")[1:] == done.output.rstrip("\n").split("\n")[3:]
    value = f"{demo.search('cranes')[0].score:.6g}"
    assert str(tree).split("\n")[0].split()[:2] == [value, "BM25,"] and repr(tree).startswith(f"<Explanation: {value} ")
    assert len(repr(tree)) < 100 and "\n" not in repr(tree) and repr(tree).endswith(", 1 part>")
    systems = ["-r", "BM25", "-r", "BM25 >> RM3 >> BM25", "-m", "AP NumRel"]
    done = command("compare", demo.path, TOPICS, QRELS, *systems)
    compared = sublex.compare(demo, topics, qrels, ["BM25", "BM25 >> RM3 >> BM25"], "AP NumRel")
    assert str(compared) == done.output.rstrip("\n")
    page = compared._repr_html_()
    assert page.count("<table>") == 2 and "<li>BM25 &gt;&gt; RM3 &gt;&gt; BM25 beats BM25 by" in page
    assert str(compared.evaluations[0]).split("\n")[0].split() == ["run", "AP", "NumRel"]
    assert str(compared.evaluations[0]).split("\n")[1].split() == ["BM25", f"{compared.mean('AP')[0]:.4f}", "149"]


def test_markdown_has_the_tables_the_tests_and_the_sentences(demo, topics, qrels, command):
    arguments = [
        demo.path,
        TOPICS,
        QRELS,
        "-r",
        "BM25",
        "-r",
        "BM25 >> RM3 >> BM25",
        "-m",
        "AP",
        "--format",
        "markdown",
    ]
    output = command("compare", *arguments).output
    measures, tests, sentences, unjudged = output.split("\n\n")
    assert measures.startswith("|  | system | AP |\n") and "| **0." in measures
    assert tests.startswith("|  | system | AP | 95 % interval | difference | corrected p |")
    assert sentences.startswith(r"* BM25 \>\> RM3 \>\> BM25 beats BM25 by .032 AP (95 % interval ")
    assert unjudged.startswith("* 95 documents among the first 10 of ")
    assert sublex.compare(demo, topics, qrels, ["BM25", "BM25 >> RM3 >> BM25"], "AP").markdown() == output
    assert (
        sublex.compare(demo, topics, qrels, "BM25", "AP").markdown().count("\n\n") == 1
    )  # nothing to say of one system


def test_the_frame_of_a_comparison_has_intervals_and_tests_against_the_first_system(demo, topics, qrels):
    systems = ["PL2", "BM25", "BM25 >> RM3 >> BM25"]
    compared = sublex.compare(demo, topics, qrels, systems, "P@10 AP NumRel")
    frame = compared.to_pandas()
    figures = ["low", "high", "difference", "p", "corrected p"]
    assert list(frame.columns) == [
        "P@10",
        "AP",
        "NumRel",
        *(f"{m} {figure}" for m in ("P@10", "AP") for figure in figures),
    ]
    scores = {name: sublex.measure(qrels, demo.run(topics, name), "AP")["AP"] for name in systems}
    for row, name in zip(frame.itertuples(index=False), systems, strict=True):
        mean, low, high, difference, p, corrected = (row[1], *row[8:])
        assert mean == pytest.approx(scores[name].mean()) and low < mean < high
        if name == "PL2":
            assert np.isnan([difference, p, corrected]).all()
            continue
        assert difference == pytest.approx((scores[name] - scores["PL2"]).mean())
        assert p == pytest.approx(scipy.stats.ttest_rel(scores[name], scores["PL2"]).pvalue) and p <= corrected <= 3 * p
    alone = sublex.compare(demo, topics, qrels, "BM25", "AP").to_pandas()
    assert np.isnan(alone["AP difference"]).all() and alone["AP low"].iloc[0] < alone["AP"].iloc[0]


# Documents of hits.


def test_hits_have_their_documents_on_demand(tmp_path):
    index = sublex.build(
        [
            {"id": "a", "title": "Birds", "text": f"{'gull ' * 100}a crane on the quay {'tern ' * 100}", "year": 1999},
            {"id": "b", "text": "crane and crane", "place": "Rye"},
        ],
        tmp_path / "index",
    )
    hits = index.search("cranes")
    assert [hit.docno for hit in hits] == ["b", "a"]
    assert hits.titles == ["", "Birds"] == [hit.title for hit in hits]
    assert hits.texts == [index.document(docno).text for docno in "ba"] == [hit.text for hit in hits]
    assert hits.fields == [{"place": "Rye"}, {"year": 1999}] == [hit.fields for hit in hits]
    assert hits.passages[0] == "crane and crane" == hits[0].passage
    assert "a crane on the quay" in hits[1].passage and hits[1].passage.startswith("… ") and len(hits[1].passage) < 210
    assert hits.first(1).passages == hits.passages[:1] and hits.without(hits[0].doc).passages == hits.passages[1:]
    frame = hits.to_pandas("year", "title", "passage", "fields", "text")
    assert list(frame.columns) == ["rank", "docno", "score", "year", "title", "passage", "fields", "text"]
    assert frame.year.tolist()[1] == 1999 and np.isnan(frame.year[0]) and frame.title.tolist() == hits.titles
    assert frame.passage.tolist() == hits.passages and frame.fields.tolist() == hits.fields
    with pytest.raises(
        InputError, match=r"No hit has yeer; the columns are title, text, passage, fields, place, year\."
    ):
        hits.to_pandas("yeer")
    index.delete(["a"])  # Hits keep their generation.
    assert hits[1].title == "Birds" and len(hits[:2]) == 2


def test_the_passage_of_a_hit_is_that_of_the_command(demo, command):
    expression = "BM25 >> RM3 >> BM25"
    hits = demo.search("cranes by the river", expression, k=5)
    done = command("search", demo.path, "cranes by the river", "-k", "5", "-r", expression, "--format", "json")
    assert hits.passages == [hit["passage"] for hit in json.loads(done.output)["hits"]]


def test_hits_and_runs_have_the_words_that_no_document_contains(demo):
    hits = demo.search("the zyzzyva of cranes by Qwghlm", "BM25 >> RM3 >> BM25", k=3)
    assert hits.missing == hits.first(1).missing == pickle.loads(pickle.dumps(hits)).missing == ["zyzzyva", "Qwghlm"]
    assert str(hits).endswith('\nNo document contains "zyzzyva" or "Qwghlm".') and "zyzzyva" in hits._repr_html_()
    assert demo.search("the crane").missing == [] and "No document" not in str(demo.search("the crane"))
    assert demo.searcher("BM25").search(["zyzzyva"]).missing == []
    run = demo.run({"7": "zyzzyva crane", "8": "river"}, k=2)
    assert dict(run.missing) == dict(run.top(1).missing) == dict(pickle.loads(pickle.dumps(run)).missing)
    assert run.missing == {"7": ("zyzzyva",)} and repr(run.missing) == "{'7': ('zyzzyva',)}"


def test_a_hit_is_a_tuple_still(demo):
    hit = demo.search("crane")[0]
    rank, docno, score, doc = hit
    assert (rank, docno) == (1, "birds-05") == hit[:2] and hit == (rank, docno, score, doc)
    assert repr(hit) == f"Hit(rank=1, docno='birds-05', score={score!r}, doc={doc})"
    for copied in (pickle.loads(pickle.dumps(hit)), copy.copy(hit)):
        assert copied == hit and type(copied) is type(hit)
        assert (copied.title, copied.passage) == (hit.title, hit.passage)
    with pytest.raises(InputError, match=r"No search made this hit of birds-05; ask for index.document\('birds-05'\)"):
        hit._replace(score=1.0).title  # noqa: B018


def test_an_index_without_texts_says_so_when_a_hit_is_asked_for_its_text(tmp_path):
    hits = sublex.build([{"id": "a", "text": "crane"}], tmp_path / "index", store="none").search("crane")
    sentence = r"index was built without stored text, which has the titles, texts and fields of hits; rebuild it: "
    for ask in (lambda: hits[0].title, lambda: hits.passages, lambda: hits.to_pandas("fields")):
        with pytest.raises(sublex.IndexProblem, match=sentence):
            ask()


def write_qrels(folder, qrels):
    path = folder / "qrels"
    path.write_text("".join(f"{qid} 0 {docno} {grade}\n" for qid in qrels for docno, grade in qrels[qid].items()))
    return path


def test_hits_without_stored_texts_are_shown_by_docno(tmp_path):
    index = sublex.build(DEMO, tmp_path / "index", store="none")
    assert "birds-05" in index.search("crane")._repr_html_()


def test_empty_results_are_shown_too(demo):
    nothing = demo.search("zzzz")
    assert (
        nothing._repr_html_() == "<p>0 hits</p>\n<p>No document contains &quot;zzzz&quot;.</p>\n"
        and len(nothing.to_pandas()) == 0
    )
    empty = demo.run(["zzzz"], "BM25")
    assert (
        str(empty) == "BM25: 0 hits for 1 topic" and len(empty.to_pandas()) == 0 and "<td>1</td>" in empty._repr_html_()
    )


def test_without_pandas_a_frame_is_refused_in_a_sentence(demo, run, topics, qrels, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for source in (run, qrels, topics, demo.search("crane"), demo.explain("crane", "birds-05")):
        with pytest.raises(MissingExtra, match=r"A DataFrame needs an optional part; to install it: .*pandas"):
            source.to_pandas()


def test_a_data_frame_of_documents_is_indexed(tmp_path):
    frame = pd.DataFrame({"docno": ["a", "b"], "text": ["a crane", "a bridge"], "year": [1999, 2001]})
    index = sublex.build(frame, tmp_path / "index")
    assert index.search("crane").docnos == ["a"] and index.document("b").fields == {"year": 2001}
    index.add(frame.assign(docno=["c", "d"]))
    assert len(index) == 4


# Names.


def test_a_name_is_looked_up_as_the_commands_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUBLEX_INDEXES", str(tmp_path / "home"))
    documents = [sublex.Document("a", "crane")]
    sublex.build(documents, tmp_path / "home" / "cranes")
    assert sublex.open("cranes").path == tmp_path / "home" / "cranes"
    built = sublex.build(documents, "cranes")
    assert str(built.path) == "cranes" == str(sublex.open("cranes").path)
    assert sublex.compare("cranes", ["crane"], {"1": {"a": 1}}, "BM25", "AP").mean("AP") == [1.0]


def test_the_module_shows_its_api_and_nothing_else(monkeypatch):
    code = "import sublex, sublex.evaluation.comparison; print(*dir(sublex))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert shown == sorted([*sublex.__all__, "__version__"])
    assert all(hasattr(sublex, name) for name in shown)


# Run in a process of its own, in which nothing is imported yet. It prints the functions whose hints name unknown types.
HINTS = """
import functools, inspect, sys, typing
import sublex
from sublex.contracts import base, fitted, foreign, labels
assert "numpy" not in sys.modules, "import sublex takes long"
found = []
def look(thing, module):
    for name, member in list(vars(thing).items()):
        member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        member = member.func if isinstance(member, functools.cached_property) else member
        if inspect.isfunction(member) and member.__module__ == module:
            try:
                assert isinstance(typing.get_type_hints(member), dict)
                found.append(name)
            except NameError as error:
                print(f"{module}.{name}: {error}")
        elif inspect.isclass(member) and member.__module__ == module and thing.__name__ == module:
            look(member, module)
look(sublex, "sublex")
assert typing.get_type_hints(sublex.build)["return"] is sublex.Index
assert {name for name in sublex.__all__ if inspect.isfunction(getattr(sublex, name))} <= {*found, "parse"}
assert typing.get_type_hints(sublex.parse)
for public in [getattr(sublex, name) for name in sublex.__all__]:
    for each in public.__mro__ if inspect.isclass(public) else ():
        if each.__module__.startswith("sublex."):
            look(each, each.__module__)
assert {"search", "term", "documents", "to_pandas", "pairs"} <= set(found)
for module in (base, fitted, foreign, labels):
    look(module, module.__name__)
"""


def test_the_type_hints_of_the_public_api_resolve():
    done = subprocess.run([sys.executable, "-c", HINTS], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_classes_of_results_are_in_the_api(demo, topics, qrels, run):
    for thing, kind in ((demo, sublex.Index), (topics, sublex.Topics), (qrels, sublex.Qrels), (run, sublex.Run)):
        assert isinstance(thing, kind)
    assert isinstance(demo.search("crane"), sublex.Hits)
    assert isinstance(sublex.compare(demo, topics, qrels, "BM25", "AP"), sublex.Comparison)
    assert isinstance(sublex.measure(qrels, run, "AP"), sublex.Evaluation)
    assert isinstance(sublex.tune(demo, topics, qrels, "BM25(b={0,1})"), sublex.Tuning)
    with pytest.raises(AttributeError, match="module 'sublex' has no attribute 'Indx'"):
        sublex.Indx  # noqa: B018
