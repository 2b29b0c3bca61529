"""Tests of pipelines: hits equal the definitions in `naive.py`, and explanations add up to the scores. Also passages and runs."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import current_thread, main_thread

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shared import WORDS, texts
from strategies import examples
from test_operators import operators

import sublex
from sublex.analysis.tokens import analyze
from sublex.contracts.base import Document, Explanation, Query, QueryTerm
from sublex.contracts.operators import GAP, Operator, OperatorKind, ordered, synonyms, window, within
from sublex.errors import InputError, SublexError
from sublex.language.parser import parse
from sublex.language.profiles import PROFILES
from sublex.operations.context import OperationContext
from sublex.operations.parameters import Asked
from sublex.operations.searching import search
from sublex.pipeline.compose import KEPT
from sublex.pipeline.running import write
from sublex.retrieval.passages import passage, passages, passages_of, title_spans
from sublex.retrieval.term_table import TermTable
from sublex.retrieval.text_occurrences import occurrences
from sublex.trec.fuse import fuse
from sublex.trec.topics import Topic, Topics

RANKERS = ["BM25", "PL2", "DirichletLM(mu=50)", "CoordinateMatch", "DPH", 'TFIDF(smart="lnc.ltc")']
EXPANDERS = ["RM3(docs=5, terms=4)", "Bo1", "KL(terms=5)", "Rocchio(docs=4, negative=2)", "Axiomatic(r=5, n=3)"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    """An index of two segments with deleted documents."""
    index = sublex.build(
        [Document(f"d{k}", text) for k, text in enumerate(texts(150, 11))],
        tmp_path_factory.mktemp("pipeline") / "index",
    )
    index.add([Document(f"e{k}", text) for k, text in enumerate(texts(90, 12))])
    index.delete([f"d{k}" for k in range(0, 150, 9)])
    return index


@pytest.fixture(scope="module")
def bags(index) -> naive.Bags:
    """The terms of each document, by docno."""
    return {docno: naive.vector(index, docno) for docno in (index.docno(doc) for doc in index.corpus.docs)}


rankers = st.sampled_from(RANKERS)
normalised = st.builds("{}({})".format, st.sampled_from(naive.SCALES), rankers)
parts = st.builds(lambda w, x: f"{w}*{x}" if w else x, st.sampled_from([None, 0.3, 2, -1]), rankers | normalised)
blends = st.builds(
    lambda first, parts: f"({' + '.join([first, *parts])})", normalised, st.lists(parts, min_size=1, max_size=2)
)
scorers = rankers | normalised | blends
cuts = st.builds("{} % {}".format, scorers, st.sampled_from([3, 20, 100]))
stages = st.sampled_from(EXPANDERS) | scorers | cuts
expressions = st.builds(lambda before, last: " >> ".join([*before, last]), st.lists(stages, max_size=2), scorers | cuts)
queries = st.lists(st.sampled_from([*WORDS, "absent"]), max_size=5).map(" ".join)


@given(expression=expressions, text=queries)
@settings(max_examples=examples(150))
def test_a_search_with_small_k_gives_the_first_hits_of_one_with_large_k(index, expression, text):
    long, short = index.search(text, expression, 1000), index.search(text, expression, 10)
    assert short.docnos == long.docnos[:10]
    assert short.scores.tolist() == long.scores.tolist()[:10]


@given(expression=expressions, text=queries)
@settings(max_examples=examples(80))
def test_the_printed_form_of_a_pipeline_gives_the_same_hits(index, expression, text):
    pipeline = index.pipeline(expression)
    assert str(index.pipeline(str(pipeline))) == str(pipeline)
    assert index.search(text, str(pipeline), 30).scores.tolist() == index.search(text, expression, 30).scores.tolist()


@pytest.mark.parametrize("profile", PROFILES)
def test_the_printed_form_includes_the_parameters_of_the_profile(index, profile):
    for expression in ("BM25", "DirichletLM", "BM25 >> RM3 >> BM25", "PL2 + 0.3*BM25"):
        pipeline = index.pipeline(expression, profile)
        assert str(index.pipeline(str(pipeline), "sublex")) == str(pipeline)
        by_profile = index.search("w1 w2 w9", expression, 20, profile)
        assert by_profile.scores.tolist() == index.search("w1 w2 w9", str(pipeline), 20, "sublex").scores.tolist()


def all_scores(index, text: str, expression: str) -> dict[str, float]:
    """Return the score of every document on which a ranker has an opinion, by docno."""
    hits = index.search(text, expression, 1000)
    return dict(zip(hits.docnos, map(float, hits.scores.tolist()), strict=True))


blend_parts = st.lists(
    st.tuples(
        st.sampled_from([1.0, 0.3, -2.0, 0.0]), st.sampled_from(naive.SCALES), rankers, st.sampled_from([3, 20, 1000])
    ),
    min_size=1,
    max_size=3,
)


@given(text=queries, parts=blend_parts)
@settings(max_examples=examples(120))
def test_a_blend_equals_its_definition(index, text, parts):
    assume(any(weight > 0 for weight, *_ in parts))
    expression = " + ".join(f"{weight}*{how}({ranker} % {depth})" for weight, how, ranker, depth in parts)
    expected = naive.blend([(w, how, all_scores(index, text, ranker), depth) for w, how, ranker, depth in parts])
    hits = index.search(text, expression, 1000)
    assert dict(zip(hits.docnos, hits.scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    order = sorted(zip(hits.scores.tolist(), map(str.encode, hits.docnos), strict=True), reverse=True)
    assert [docno.decode() for _, docno in order] == hits.docnos


@given(text=queries, parts=st.lists(parts | cuts.map("({})".format), min_size=2, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=examples(60))
def test_the_order_of_the_parts_of_a_blend_does_not_matter(index, text, parts, seed):
    assume(not all(part.startswith("-") for part in parts))
    shuffled = random.Random(seed).sample(parts, len(parts))
    hits, again = (index.search(text, f"BM25 + {' + '.join(order)}", 1000) for order in (parts, shuffled))
    assert (hits.docnos, hits.scores.tolist()) == (again.docnos, again.scores.tolist())


@pytest.mark.parametrize("part", ["BM25 % 5 >> PL2", "(BM25 >> PL2) % 5 >> PL2"])
def test_a_part_that_rescores_hits_has_no_opinion_on_other_documents(index, part):
    inner = all_scores(index, "w1 w7", part)
    bm25 = all_scores(index, "w1 w7", "BM25")
    assert len(inner) == 5 < len(bm25)
    expected = naive.blend([(1.0, "raw", inner, 1000), (1.0, "raw", bm25, 1000)])
    assert all_scores(index, "w1 w7", f"raw({part}) + raw(BM25)") == pytest.approx(expected)


def test_a_part_with_feedback_scores_documents_that_another_part_found(index):
    part = "BM25 >> RM3(docs=5, terms=4) >> BM25"
    expected = naive.blend(
        [(1.0, "raw", all_scores(index, "w1 w7", part), 3), (1.0, "raw", all_scores(index, "w1 w7", "PL2"), 1000)]
    )
    assert all_scores(index, "w1 w7", f"raw(({part}) % 3) + raw(PL2)") == pytest.approx(expected)


def test_after_hits_a_blend_scores_exactly_these_hits(index):
    first = index.search("w1 w7", "BM25", 1000)
    for blend in ("DPH + 0.5*(BM25 >> RM3 >> BM25)", "DPH % 2 + PL2", "-1*DPH", "0*DPH"):
        assert set(index.search("w1 w7", f"BM25 % 30 >> {blend}", 1000).docnos) == set(first.docnos[:30]), blend


@pytest.mark.parametrize("how", ["minmax", "zscore", "raw", "rrf"])
def test_a_blend_and_the_fusion_of_runs_agree_where_every_run_has_every_candidate(index, how):
    topics = [("1", "w1 w7"), ("2", "w3"), ("3", "w0 w2 w9")]
    runs = [index.run(topics, ranker) for ranker in ("BM25", "PL2", "DPH")]
    blend = index.run(topics, f"{how}(BM25) + 0.5*{how}(PL2) + 2*{how}(DPH)")
    fused = fuse(runs, "weighted", [1, 0.5, 2], how)
    assert {qid: list(blend[qid]) for qid in "123"} == {qid: list(fused[qid]) for qid in "123"}
    for qid in "123":
        assert list(blend[qid].values()) == pytest.approx(list(fused[qid].values()), rel=1e-5, abs=1e-6)
    if how == "rrf":
        assert list(fuse(runs)["1"]) == list(index.run(topics, "rrf(BM25) + rrf(PL2) + rrf(DPH)")["1"])


def test_an_explanation_says_which_parts_found_the_document(index):
    docno = index.search("w1 w7", "PL2", 9)[8].docno
    tree = index.explain("w1 w7", docno, "BM25 % 3 + PL2 + -1*DPH")
    assert [(part.label, part.evidence) for part in tree.parts] == [
        ("BM25 % 3", {"hits of this part": "3, without this document"}),
        ("PL2", {"rank among the hits of this part": 9}),
        ("-1*DPH", {}),
    ]


@pytest.mark.parametrize("how", ["minmax", "zscore", "raw", "rank", "rrf"])
def test_a_blend_is_explained_for_a_document_on_which_a_part_has_no_opinion(index, how):
    hits = index.search("w1 w7", f"{how}(BM25 % 2 >> PL2) + DPH", 1000)
    tree = index.explain("w1 w7", hits.docnos[-1], f"{how}(BM25 % 2 >> PL2) + DPH")
    assert tree.value == pytest.approx(float(hits.scores[-1]), abs=1e-6)
    first = tree.parts[0].parts[1]
    labels = [first.label, *(part.label for part in first.parts)]
    assert ("no opinion, which adds nothing" if how == "rrf" else "no opinion, which counts as the lowest") in labels
    assert (first.value == 0) or how != "rrf"


def test_rescoring_keeps_the_matching_candidates_and_no_other_documents(index):
    first = index.search("w1 w7", "BM25", 5)
    again = index.search("w1 w7", "BM25 % 5 >> PL2", 1000)
    assert set(again.docnos) == set(first.docnos)
    full = dict(zip(*(lambda h: (h.docnos, h.scores.tolist()))(index.search("w1 w7", "PL2", 1000)), strict=True))
    assert again.scores.tolist() == [full[docno] for docno in again.docnos]


def test_python_operators_give_the_pipeline_of_the_text(index):
    bm25, pl2, rm3 = (sublex.parse(name) for name in ("BM25", "PL2", "RM3"))
    expression = (bm25 % 50 >> rm3) >> bm25 + 0.3 * pl2
    assert str(index.pipeline(expression)) == "BM25 % 50 >> RM3 >> BM25 + 0.3*PL2"
    assert index.search("w3", expression).docnos == index.search("w3", "BM25 % 50 >> RM3 >> BM25 + 0.3*PL2").docnos


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("RM3", "RM3 changes the query and finds nothing itself; put a ranker after it, as in RM3 >> BM25."),
        ("BM25 >> RM3", "put a ranker after it"),
        ("BM25 + RM3", "put a ranker after it"),
        ("-1*BM25", "-1*BM25 finds no documents by itself; put a ranker before it, as in BM25 >> -1*BM25."),
        ("0*BM25 + -2*PL2 >> DPH", "finds no documents by itself"),
        ("minmax(RM3)", "put a ranker after it"),
        ("RM3 % 5 >> BM25", "put a ranker after it"),
        ("BM25(k1={0..1})", "ranges are for sublex tune"),
        ("{0..1}*BM25", "ranges are for sublex tune"),
        ("BM52", "did you mean BM25?"),
        ("BM25(k=1)", "BM25 has no parameter k; did you mean k1?"),
        ("BM25(b=2)", "b=2 lies outside 0 to 1"),
        ("BM25 >>", "Expected a name or ( after >> in column 8"),
        ("", "Expected"),
    ],
)
def test_an_expression_that_cannot_run_is_refused_with_a_reason(index, expression, message):
    with pytest.raises(SublexError) as caught:
        index.pipeline(expression or " ")
    assert message in str(caught.value)


def test_a_cut_raises_the_number_of_candidates_beyond_a_thousand(tmp_path):
    index = sublex.build([Document(f"d{k}", "whale") for k in range(1500)], tmp_path / "index", store="none")
    assert len(index.search("whale", "BM25", 1500)) == 1500
    assert len(index.search("whale", "BM25 + PL2", 1500)) == 1000
    assert len(index.search("whale", "BM25 % 1200 >> PL2", 1500)) == 1200
    for expression in (
        "(BM25 + PL2) % 1200",
        "minmax(BM25) % 1200",
        "(BM25 >> PL2) % 1200",
        "(BM25 % 20 >> PL2) % 1200",
    ):
        expected = 20 if "% 20" in expression else 1200
        assert len(index.search("whale", expression, 1500)) == expected, expression
        assert index.explain("whale", "d3", expression).evidence["found"] == expected
    blend = index.search("whale", "(BM25 + PL2) % 1200", 1500)
    lowest = index.explain("whale", blend[1100].docno, "(BM25 + PL2) % 1200")
    assert (lowest.evidence["rank"], lowest.value) == (1101, pytest.approx(blend[1100].score))


def test_weights_that_overflow_float32_are_refused(index):
    with pytest.raises(InputError, match="too large for float32"):
        index.search("w1 w2", "1e308*raw(BM25) + 1e308*raw(BM25) + 1e308*raw(PL2)")


@pytest.mark.parametrize("weight", [10**400, "1", None, 1j], ids=["huge", "text", "none", "complex"])
def test_a_weight_of_a_query_is_a_number(index, weight):
    with pytest.raises(InputError, match=r"^The weight of w1 is .*; give a number\.$"):
        index.search(Query("w1", (QueryTerm("w1", weight),)), "BM25")


def test_the_first_query_runs_alone_in_the_main_thread(index):
    pipeline = index.pipeline("BM25")
    calls: list[tuple[list[str], bool]] = []
    search = pipeline._group
    pipeline._group = lambda group, k: (
        calls.append(([query.text for query in group], current_thread() is main_thread())),
        search(group, k),
    )[1]
    queries = [index.query(f"w{k % 40} {k}") for k in range(100)]
    assert [result.query for result in pipeline.answers(queries, 5, workers=2)] == queries
    assert calls[0] == ([queries[0].text], True)
    assert len(calls) > 2
    assert not any(in_main_thread for _, in_main_thread in calls[1:])


def test_queries_of_topics_are_those_of_their_texts(index):
    texts = ["w1 w2", "", "w3-w1", "w1 w2"]
    made = Query("w5", (QueryTerm("w5", 2.0),))
    assert index.queries([(str(k), text) for k, text in enumerate([*texts, made])]) == [*map(index.query, texts), made]
    with pytest.raises(InputError, match=r"^Topic b: The query is \['w1'\] "):
        index.queries([("a", "w1"), ("b", ["w1"])])


def test_the_topic_whose_text_the_analyzer_refuses_is_named(tmp_path, monkeypatch):
    index = sublex.build([Document("a", "whale")], tmp_path / "index")

    def refusing(tokens):
        if "ship" in tokens:
            raise InputError("no ships")
        return tokens

    monkeypatch.setattr(index.analyzer, "batch", refusing)
    with pytest.raises(InputError, match="^Topic 2: no ships$"):
        index.queries([("1", "whale"), ("2", "ship"), ("3", "whale")])


def test_the_words_of_queries_that_are_expanded_together_are_looked_up_together(index, monkeypatch):
    looked_up = []
    find = TermTable._find
    monkeypatch.setattr(TermTable, "_find", lambda table, words: looked_up.append(words) or find(table, words))
    pipeline = sublex.open(index.path).pipeline("BM25 >> Bo1 >> BM25")
    queries = index.queries((n, f"x{n}") for n in range(13))
    assert [answer.query for answer in pipeline.answers(queries, 3)] == queries
    # The first query is answered alone, and of the others a quarter at a time.
    assert looked_up == [["x0"], ["x1", "x2", "x3"], ["x4", "x5", "x6"], ["x7", "x8", "x9"], ["x10", "x11", "x12"]]


def test_a_run_refuses_white_space_in_docnos_of_live_documents_only(tmp_path):
    index = sublex.build([Document("a b", "whale"), Document("c", "whale")], tmp_path / "index")
    topics = Topics([Topic("1", "whale", {})])
    with pytest.raises(InputError, match="'a b' cannot be in a run"):
        write(index, topics, index.pipeline(), 10, tmp_path)
    index.delete("a b")
    done = write(index, topics, index.pipeline(), 10, tmp_path)
    assert done.path.read_text().split()[:3] == ["1", "Q0", "c"]


def test_a_run_and_its_metadata_have_the_same_tag(index, tmp_path):
    pipeline = index.pipeline("BM25(k1=0.9) >> RM3(docs=5, terms=7) >> BM25(k1=0.9) >> 0.25*PL2(c=7) + BM25(b=0.123)")
    path = write(index, Topics([Topic("1", "w1", {})]), pipeline, 10, tmp_path).path
    run = sublex.read_run(path)
    assert run.metadata["tag"] == run.tag == str(pipeline).replace(" ", "")


# Feedback.


@pytest.mark.parametrize("expander", EXPANDERS)
@given(text=queries)
@settings(max_examples=examples(30))
def test_an_expander_keeps_the_query_and_names_what_it_adds(index, expander, text):
    answer = index.answer(text, f"{expander} >> BM25", 5)
    query = index.query(text)
    assert set(query.weights()) <= set(answer.query.weights())
    assert all(math.isfinite(term.weight) for term in answer.query.terms)
    name = expander.partition("(")[0]
    assert all(name in term.origin for term in answer.query.terms if term.term not in query.weights())
    assert index.answer(text, f"{expander} >> BM25", 5).query == answer.query


@given(
    text=queries,
    docs=st.integers(1, 8),
    terms=st.integers(1, 8),
    original=st.sampled_from([0.0, 0.4, 1.0]),
    trust=st.sampled_from([0, 0.5, 2]),
)
@settings(max_examples=examples(60))
def test_rm3_equals_its_definition(index, bags, text, docs, terms, original, trust):
    rm3 = f"RM3(docs={docs}, terms={terms}, original={original}, trust={trust})"
    answer = index.answer(text, f"BM25 >> {rm3} >> BM25", 5)
    hits = index.search(text, "BM25", docs)
    expected = naive.rm3(bags, index.query(text).weights(), hits, terms, original, trust=trust)
    assert answer.query.weights() == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", ["Bo1", "KL"])
@given(text=queries, docs=st.integers(1, 6), terms=st.integers(1, 8), trust=st.sampled_from([0, 0.5, 2]))
@settings(max_examples=examples(40))
def test_bo1_and_kl_equal_their_definitions(index, bags, name, text, docs, terms, trust):
    answer = index.answer(text, f"BM25 >> {name}(docs={docs}, terms={terms}, trust={trust}) >> BM25", 5)
    hits = index.search(text, "BM25", docs)
    expected = naive.divergence(bags, name, index.query(text).weights(), hits, terms, trust=trust)
    assert answer.query.weights() == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_feedback_needs_stored_terms(tmp_path):
    index = sublex.build([Document("a", "whale")], tmp_path / "index", store="text")
    with pytest.raises(SublexError, match="--store terms,text"):
        index.search("whale", "BM25 >> RM3 >> BM25")


# Explanations.


def check_sums(node: Explanation) -> None:
    """Assert that each value follows from its parts, by the kind of the node."""
    counted = [part for part in node.parts if part.kind != "evidence"]
    for part in node.parts:
        check_sums(part)
    if not counted or node.value == -math.inf or node.kind == "evidence":
        return
    if node.kind == "sum":
        value = sum(part.value for part in counted)
    elif node.kind == "product":
        value = math.prod(part.value for part in counted)
    else:
        assert node.kind == "scaled"
        value = counted[0].value * counted[1].value + counted[2].value
    assert value == pytest.approx(node.value, rel=2e-6, abs=2e-6), node


@given(expression=expressions, text=queries, seed=st.integers(0, 99))
@settings(max_examples=examples(150))
def test_an_explanation_adds_up_to_the_score(index, expression, text, seed):
    hits = index.search(text, expression, 1000)
    docno = random.Random(seed).choice([*index.search(text, "BM25", 50).docnos, *hits.docnos[:20], "d1"])
    tree = index.explain(text, docno, expression)
    check_sums(tree)
    if docno in hits.docnos:
        place = hits.docnos.index(docno)
        assert tree.value == pytest.approx(float(hits.scores[place]), rel=2e-6, abs=2e-6)
        assert tree.evidence["rank"] == place + 1
    else:
        assert tree.evidence["rank"] is None


def test_an_explanation_shows_raw_words_and_unknown_terms(tmp_path):
    index = sublex.build([Document("a", "Whales hunting"), Document("b", "Whales whales sleeping")], tmp_path / "index")
    tree = index.explain("whale hunts zebra", "b")
    text = str(tree)
    assert "Whales" in text or "whales" in text
    assert "hunting: not in this document" in text
    assert tree.evidence["in no document"] == ["zebra"]
    with pytest.raises(InputError, match="No document c"):
        index.explain("whale", "c")


# Passages.


@given(text=st.text(max_size=400), terms=st.lists(st.sampled_from(["whale", "a", "x", "the"]), max_size=3))
@settings(max_examples=examples(100))
def test_a_passage_is_short_and_marks_query_words_only(text, terms):
    analyzer = sublex.language.plugins.load().make("analyzer", "plain")
    best = passage(text + " whale " + text, analyzer, terms, 60)
    assert len(best.text) <= 60 + 4
    for begin, end in best.spans:
        assert 0 <= begin < end <= len(best.text)
        assert best.text[begin:end].lower() in terms or not best.text[begin:end].isascii()


def test_a_passage_has_the_most_different_query_words():
    analyzer = sublex.language.plugins.load().make("analyzer", "english")
    text = "whale " * 30 + "far " * 60 + "a whale hunted the ship " + "near " * 60
    best = passage(text, analyzer, ["whale", "hunt", "ship"], 80)
    assert "whale hunted the ship" in best.text
    assert {best.text[a:b] for a, b in best.spans} == {"whale", "hunted", "ship"}


def test_passages_follow_the_words_of_the_user_before_those_of_an_expander(tmp_path):
    text = "nest egg feather wing " + "far " * 80 + "a crane alone " + "near " * 80 + "nest egg"
    others = [Document(f"d{n}", "crane nest egg feather wing") for n in range(3)]
    index = sublex.build([Document("long", text), *others], tmp_path / "index")
    (hit,) = (hit for hit in index.search("crane", "BM25 >> RM3 >> BM25", k=4) if hit.docno == "long")
    assert "crane alone" in hit.passage and "feather" not in hit.passage
    shown = OperationContext(index).ask(search, **Asked("crane", "BM25 >> RM3 >> BM25")._asdict()).data["hits"]
    assert {hit["docno"]: hit["passage"] for hit in shown}["long"] == hit.passage
    # Among passages with the same words of the user, that with the most others.
    best = passages([text + " crane nest"], index.analyzer, ["crane", "nest", "egg"], 80, first=["crane"])[0]
    assert best.text.endswith("nest egg crane nest")


def test_words_of_an_expander_that_a_document_lacks_have_one_line(tmp_path):
    documents = [Document("a", "crane nest egg feather"), Document("b", "crane wing beak"), Document("c", "crane")]
    index = sublex.build([*documents, *(Document(f"x{n}", "far away") for n in range(9))], tmp_path / "index")
    text = str(index.explain("crane zoo", "c", "BM25 >> RM3(docs=3) >> BM25"))
    assert text.count("not in this document") == 1
    (line,) = (line for line in text.splitlines() if "not in this document" in line)
    assert line.strip().startswith("5 words from RM3: not in this document  [")
    assert {"nest", "egg", "feather", "wing", "beak"} == set(line.partition("[")[2].rstrip("]").split(", "))


def test_passages_follow_phrases_and_windows():
    analyzer = sublex.language.plugins.load().make("analyzer", "english")
    text = "Stem then. " + "far " * 60 + "stem a cell, and stem cells and a stem. " + "near " * 60 + "cell"

    def marked(*terms: str) -> tuple[str, list[str]]:
        best = passage(text, analyzer, terms, 80)
        return best.text, [best.text[a:b] for a, b in best.spans]

    assert marked(ordered(["stem", "cell"]))[1] == ["stem", "cells"]
    assert marked(ordered(["stem", GAP, "cell"]))[1] == ["stem", "cell"]
    assert marked(window(["cell", "stem"], 4))[1] == ["stem", "cell", "stem", "cells", "stem"]
    assert "stem cells" in marked(ordered(["stem", "cell"]), "far")[0]
    # A phrase that does not occur is shown by its words.
    assert marked(ordered(["cell", "then"]))[1] == ["cell", "cells"]
    assert set(marked(synonyms(["near", "then"]))[1]) == {"near"}


@given(
    st.lists(st.sampled_from("uvw"), max_size=9),
    operators(st.sampled_from("uvw")).filter(lambda part: len([*part.terms()]) < 6),
    st.sampled_from(["text", "title"]),
)
@settings(max_examples=examples(300))
def test_occurrences_in_a_text_are_those_of_the_definition(words, operator, field):
    places = naive.places_of({field: [[word] for word in words]})
    found, expected = occurrences(operator, places, field), naive.intervals_of(operator, places)
    windows = [part for part in parts_of(operator) if part.kind is OperatorKind.WINDOW]
    if all(not isinstance(inner, Operator) for part in windows for inner in part.parts):
        assert found == expected
    else:
        # Operators within a window may share a position here, so more intervals fit; none is lost.
        assert all(any(begin <= b and e <= end for b, e in found) for begin, end in expected)


def parts_of(operator: Operator) -> Iterator[Operator]:
    yield operator
    for part in operator.parts:
        if isinstance(part, Operator):
            yield from parts_of(part)


def test_passages_leave_out_words_of_other_fields_and_titles_mark_their_own():
    analyzer = sublex.language.plugins.load().make("analyzer", "english")
    text = "Stem cells. The cell has a stem."
    document = Document("a", text, "Stem cells of a cell", {"tags": ["red cells", "blue"], "note": "cell"})

    def marked(*terms):
        ((_, best),) = passages_of([document], analyzer, terms)
        return best.text, [best.text[begin:end] for begin, end in best.spans]

    def in_title(*terms):
        return [document.title[begin:end] for begin, end in title_spans(document.title, analyzer, terms)]

    phrase = ordered(["stem", "cell"])
    assert marked(within("title", "cell")) == (text, [])
    assert marked("stem", within("title", "cell"))[1] == ["Stem", "stem"]
    assert marked(within("text", phrase))[1] == ["Stem", "cells"]
    # A phrase that does not occur is shown by its words, but for those of another field.
    assert marked(ordered([within("title", "cell"), "stem"]))[1] == ["Stem", "stem"]
    # Without a word in the text, another field that the query asks for is shown.
    assert marked(within("tags", "cell")) == ("red cells blue", ["cells"])
    assert marked(within("tags", "cell"), "stem")[0] == text
    assert marked(within("tags", "green")) == (text, [])
    assert in_title(within("title", "cell")) == ["cells", "cell"]
    assert in_title(within("title", phrase)) == ["Stem", "cells"]
    assert in_title("cell", within("text", "cell"), phrase) == []
    assert title_spans("Stem \n cells", analyzer, [within("title", "cell")]) == ()


def test_a_word_longer_than_the_passage_is_shown_from_its_beginning():
    analyzer = sublex.language.plugins.load().make("analyzer", "english")
    best = passage("intro " + "ab" * 105, analyzer, ["ab" * 105], 200)
    assert best.text.removeprefix("… ").startswith("abab")


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("开头的话" * 80 + "我喜欢吃北京烤鸭" + "结尾的话" * 80, "北京", ["北京"]),
        ("北京是中国的首都，" * 30, "首都", ["首都"] * 15),
        ("在北京大学" * 3, "北京大学", ["北京大学"] * 3),
        ("x " * 300 + "résumé;cafés—end", "CAFÉ", ["café"]),
    ],
)
def test_a_passage_marks_every_word_of_a_run_without_spaces(text, query, marked):
    analyzer = sublex.language.plugins.load().make("analyzer", "english")
    shown_passage = passage(text, analyzer, analyze(analyzer, query), 140)
    shown = [shown_passage.text[a:b] for a, b in shown_passage.spans]
    assert shown[: len(marked)] == marked


def test_a_run_has_the_hits_of_each_topic(index):
    topics = [("1", "w1 w2"), ("02", "absent"), ("x", "w5")]
    run = index.run(topics, "PL2 % 7", workers=2)
    assert list(run) == ["1", "02", "x"]
    assert run.tag == "PL2%7"
    for qid, text in topics:
        hits = index.search(text, "PL2 % 7", 1000)
        assert list(run[qid]) == hits.docnos
        assert list(run[qid].values()) == hits.scores.tolist()
    assert np.array_equal(index.run(topics, "PL2 % 7", workers=1).scores, run.scores)
    with pytest.raises(InputError, match="There are no topics"):
        index.run([], "PL2")


def test_a_pipeline_keeps_to_its_snapshot_when_the_index_changes(tmp_path):
    documents = [Document(docno, f"crane {docno}") for docno in "abc"]
    index = sublex.build(documents, tmp_path / "index")
    pipeline = index.pipeline("BM25")
    run, tree = index.run([("1", "crane")], pipeline), index.explain("crane", "a", pipeline)
    index.delete(["a"])
    index.add([Document("d", "crane")])
    index.merge()
    again = index.run([("1", "crane")], pipeline)
    assert dict(again["1"]) == dict(run["1"]) and set(run["1"]) == {"a", "b", "c"}
    assert index.explain("crane", "a", pipeline) == tree
    assert set(index.run([("1", "crane")], "BM25")["1"]) == {"b", "c", "d"}
    with pytest.raises(InputError, match="No document d in"):
        index.explain("crane", "d", pipeline)


def test_a_pipeline_is_made_once_for_an_expression_and_a_profile(index):
    ready = index.pipeline("BM25 >> RM3 >> PL2")
    assert index.pipeline("BM25 >> RM3 >> PL2") is ready
    assert index.pipeline(parse("BM25 >> RM3 >> PL2")) is ready is index.pipeline("BM25" >> parse("RM3") >> "PL2")
    # A component that is resolved keeps its parameters, and prints like the name that gets those of another profile.
    assert str(ready.expression) == "BM25 >> RM3 >> PL2"
    anserini = index.pipeline("BM25 >> RM3 >> PL2", "anserini")
    assert str(anserini) != str(ready) == str(index.pipeline(ready.expression, "anserini"))
    assert index.pipeline("BM25 >> RM3 >> PL2", "anserini") is anserini
    assert index.pipeline() is index.pipeline(None, index.profile) is not index.pipeline(None, "anserini")


def test_a_pipeline_is_made_again_for_another_generation(tmp_path):
    index = sublex.build([Document("a", "crane"), Document("b", "crane")], tmp_path / "index")
    before = index.pipeline("BM25")
    assert index.search("crane", "BM25").docnos == ["b", "a"]
    index.delete("b")
    assert index.search("crane", "BM25").docnos == ["a"] and index.pipeline("BM25") is not before


def test_a_mistake_is_not_kept(index):
    for _ in range(2):
        with pytest.raises(InputError, match="finds no documents by itself"):
            index.pipeline("0*BM25 + -1*PL2")


def test_the_pipelines_that_were_asked_for_last_are_kept(index):
    first, second = index.pipeline("BM25(k1=0.1)"), index.pipeline("BM25(k1=0.2)")
    for k in range(KEPT - 1):
        assert index.pipeline("BM25(k1=0.1)") is first
        index.pipeline(f"CoordinateMatch % {k + 1}")
    assert index.pipeline("BM25(k1=0.1)") is first
    assert index.pipeline("BM25(k1=0.2)") is not second


def test_threads_may_ask_for_pipelines_at_once(tmp_path):
    index = sublex.build([Document(f"d{k}", text) for k, text in enumerate(texts(40, 7))], tmp_path / "index")
    expressions = [f"BM25 + {k}*PL2" for k in range(1, 2 * KEPT, 5)] * 8
    expected = {e: sublex.open(index.path).search("w1 w2", e).scores.tolist() for e in set(expressions)}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda e: index.search("w1 w2", e).scores.tolist(), expressions))
    assert found == [expected[e] for e in expressions]


def test_a_pipeline_of_another_index_is_refused(tmp_path):
    one, other = (sublex.build([Document(name, "crane")], tmp_path / name) for name in ("one", "other"))
    for use in (lambda p: one.search("crane", p), lambda p: one.run([("1", "crane")], p), one.pipeline):
        with pytest.raises(InputError, match="The pipeline BM25 belongs to the index .*other; make one for .*one"):
            use(other.pipeline("BM25"))


def test_a_pipeline_of_an_earlier_generation_is_not_compared(tmp_path):
    index = sublex.build([Document(docno, "crane") for docno in "abc"], tmp_path / "index")
    pipeline = index.pipeline("BM25")
    (tmp_path / "qrels").write_text("1 0 b 1\n", encoding="utf-8")
    (tmp_path / "topics.tsv").write_text("1\tcrane\n", encoding="utf-8")
    index.delete(["a"])
    with pytest.raises(InputError, match="The pipeline BM25 belongs to an earlier generation of .*; make it again"):
        sublex.compare(index, tmp_path / "topics.tsv", tmp_path / "qrels", [pipeline, "PL2"], "AP")
