"""Pipelines: expressions at work equal their definition, and explanations add up."""

from __future__ import annotations

import math
import random
from threading import current_thread, main_thread

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import WORDS, texts
from strategies import examples

import sublex
from sublex.analysis.tokens import analyze
from sublex.base import Document, Explanation
from sublex.errors import InputError, SublexError
from sublex.pipeline.passages import passage
from sublex.pipeline.running import write
from sublex.profiles import PROFILES
from sublex.trec.topics import Topic, Topics

RANKERS = ["BM25", "PL2", "DirichletLM(mu=50)", "CoordinateMatch", "DPH", 'TFIDF(smart="lnc.ltc")']
EXPANDERS = ["RM3(docs=5, terms=4)", "Bo1", "KL(terms=5)", "Rocchio(docs=4, negative=2)", "Axiomatic(r=5, n=3)"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    made = sublex.build(
        [Document(f"d{k}", text) for k, text in enumerate(texts(150, 11))],
        tmp_path_factory.mktemp("pipeline") / "index",
    )
    made.add([Document(f"e{k}", text) for k, text in enumerate(texts(90, 12))])
    made.delete([f"d{k}" for k in range(0, 150, 9)])
    return made


@pytest.fixture(scope="module")
def bags(index) -> naive.Bags:
    """The terms of every document."""
    return {docno: naive.vector(index, docno) for docno in (index.docno(doc) for doc in index.corpus.docs)}


rankers = st.sampled_from(RANKERS)
normalised = st.builds("{}({})".format, st.sampled_from(["minmax", "zscore", "rank", "raw"]), rankers)
parts = st.builds(lambda w, x: f"{w}*{x}" if w else x, st.sampled_from([None, 0.3, 2, -1]), rankers | normalised)
blends = st.builds(lambda own: "(" + " + ".join(own) + ")", st.lists(parts, min_size=2, max_size=3))
scorers = rankers | normalised | blends
cuts = st.builds("{} % {}".format, scorers, st.sampled_from([3, 20, 100]))
stages = st.sampled_from(EXPANDERS) | scorers | cuts
expressions = st.builds(lambda before, last: " >> ".join([*before, last]), st.lists(stages, max_size=2), scorers | cuts)
queries = st.lists(st.sampled_from([*WORDS, "absent"]), max_size=5).map(" ".join)


@given(expression=expressions, text=queries)
@settings(max_examples=examples(150))
def test_a_short_search_is_the_head_of_a_long_one(index, expression, text):
    long, short = index.search(text, expression, 1000), index.search(text, expression, 10)
    assert short.docnos == long.docnos[:10]
    assert short.scores.tolist() == long.scores.tolist()[:10]


@given(expression=expressions, text=queries)
@settings(max_examples=examples(80))
def test_what_prints_alike_ranks_alike(index, expression, text):
    made = index.pipeline(expression)
    again = index.pipeline(str(made))
    assert str(again) == str(made)
    assert index.search(text, str(made), 30).scores.tolist() == index.search(text, expression, 30).scores.tolist()


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_is_written_out_in_the_print(index, profile):
    for expression in ("BM25", "DirichletLM", "BM25 >> RM3 >> BM25", "PL2 + 0.3*BM25"):
        made = index.pipeline(expression, profile)
        plain = index.pipeline(str(made), "sublex")
        assert str(plain) == str(made)
        assert index.search("w1 w2 w9", expression, 20, profile).scores.tolist() == pytest.approx(
            index.search("w1 w2 w9", str(made), 20, "sublex").scores.tolist(), abs=0 if ">>" not in expression else 1e-1
        )


@given(
    text=queries,
    first=rankers,
    second=rankers,
    weight=st.sampled_from([0.3, 1.0, -2.0]),
    how=st.sampled_from(naive.SCALES),
)
@settings(max_examples=examples(80))
def test_a_blend_is_what_its_definition_says(index, text, first, second, weight, how):
    def scores(ranker: str) -> dict[int, float]:
        found = index.search(text, ranker, 1000)
        return dict(zip(found.docs.tolist(), map(float, found.scores.tolist()), strict=True))

    expected = naive.blend(scores(first), scores(second), weight, how)
    hits = index.search(text, f"{first} + {weight}*{how}({second})", 1000)
    assert dict(zip(hits.docs.tolist(), hits.scores.tolist(), strict=True)) == pytest.approx(
        expected, rel=1e-5, abs=1e-6
    )
    order = sorted(zip(hits.scores.tolist(), map(str.encode, hits.docnos), strict=True), reverse=True)
    assert [docno.decode() for _, docno in order] == hits.docnos


def test_rescoring_keeps_the_candidates_and_drops_what_does_not_match(index):
    first = index.search("w1 w7", "BM25", 5)
    again = index.search("w1 w7", "BM25 % 5 >> PL2", 1000)
    assert set(again.docnos) == set(first.docnos)
    full = dict(zip(*(lambda h: (h.docnos, h.scores.tolist()))(index.search("w1 w7", "PL2", 1000)), strict=True))
    assert again.scores.tolist() == [full[docno] for docno in again.docnos]


def test_operators_make_what_text_makes(index):
    bm25, pl2, rm3 = (sublex.parse(name) for name in ("BM25", "PL2", "RM3"))
    made = (bm25 % 50 >> rm3) >> bm25 + 0.3 * pl2
    assert str(index.pipeline(made)) == "BM25 % 50 >> RM3 >> BM25 + 0.3*PL2"
    assert index.search("w3", made).docnos == index.search("w3", "BM25 % 50 >> RM3 >> BM25 + 0.3*PL2").docnos


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("RM3", "RM3 changes the query and finds nothing itself; put a ranker after it, as in RM3 >> BM25."),
        ("BM25 >> RM3", "put a ranker after it"),
        ("BM25 + RM3", "put a ranker after it"),
        ("minmax(RM3)", "put a ranker after it"),
        ("RM3 % 5 >> BM25", "put a ranker after it"),
        ("BM25(k1={0..1})", "ranges are for sublex tune"),
        ("{0..1}*BM25", "ranges are for sublex tune"),
        ("BM52", "did you mean BM25?"),
        ("BM25(k=1)", "BM25 has no parameter k; did you mean k3?"),
        ("BM25(b=2)", "b=2 lies outside 0 to 1"),
        ("BM25 >>", "Expected a name or ( after >> in column 8"),
        ("", "Expected"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words(index, expression, message):
    with pytest.raises(SublexError) as caught:
        index.pipeline(expression or " ")
    assert message in str(caught.value)


def test_a_deep_run_goes_beyond_a_thousand_hits(tmp_path):
    made = sublex.build([Document(f"d{k}", "whale") for k in range(1500)], tmp_path / "index", store="none")
    assert len(made.search("whale", "BM25", 1500)) == 1500
    assert len(made.search("whale", "BM25 + PL2", 1500)) == 1000
    assert len(made.search("whale", "BM25 % 1200 >> PL2", 1500)) == 1200
    for expression in (
        "(BM25 + PL2) % 1200",
        "minmax(BM25) % 1200",
        "(BM25 >> PL2) % 1200",
        "(BM25 % 20 >> PL2) % 1200",
    ):
        expected = 20 if "% 20" in expression else 1200
        assert len(made.search("whale", expression, 1500)) == expected, expression
        assert made.explain("whale", "d3", expression).evidence["found"] == expected
    blend = made.search("whale", "(BM25 + PL2) % 1200", 1500)
    lowest = made.explain("whale", blend[1100].docno, "(BM25 + PL2) % 1200")
    assert (lowest.evidence["rank"], lowest.value) == (1101, pytest.approx(blend[1100].score))


def test_weights_beyond_all_bounds_are_refused(index):
    with pytest.raises(InputError, match="too large for float32"):
        index.search("w1 w2", "1e308*raw(BM25) + 1e308*raw(BM25) + 1e308*raw(PL2)")


def test_the_first_query_makes_what_threads_share(index):
    made = index.pipeline("BM25")
    seen: list[tuple[str, bool]] = []
    answer = made.answer
    made.answer = lambda query, k: (seen.append((query.text, current_thread() is main_thread())), answer(query, k))[1]
    asked = [index.query(f"w{k % 40} {k}") for k in range(100)]
    assert [found.query for found in made.answers(asked, 5, workers=2)] == asked
    assert seen[0] == (asked[0].text, True)
    assert not any(here for _, here in seen[1:])


def test_a_run_minds_white_space_in_live_docnos_only(tmp_path):
    made = sublex.build([Document("a b", "whale"), Document("c", "whale")], tmp_path / "index")
    topics = Topics([Topic("1", "whale", {})])
    with pytest.raises(InputError, match="'a b' cannot be in a run"):
        write(made, topics, made.pipeline(), 10, tmp_path)
    made.delete("a b")
    done = write(made, topics, made.pipeline(), 10, tmp_path)
    assert done.path.read_text().split()[:3] == ["1", "Q0", "c"]


def test_a_run_and_its_description_bear_the_same_tag(index, tmp_path):
    made = index.pipeline("BM25(k1=0.9) >> RM3(docs=5, terms=7) >> BM25(k1=0.9) >> 0.25*PL2(c=7) + BM25(b=0.123)")
    path = write(index, Topics([Topic("1", "w1", {})]), made, 10, tmp_path).path
    run = sublex.read_run(path)
    assert len(run.tag) <= 64
    assert run.metadata["tag"] == run.tag


# Feedback.


@pytest.mark.parametrize("expander", EXPANDERS)
@given(text=queries)
@settings(max_examples=examples(30))
def test_an_expander_keeps_the_query_and_names_what_it_adds(index, expander, text):
    answer = index.answer(text, f"{expander} >> BM25", 5)
    asked = index.query(text)
    assert set(asked.weights()) <= set(answer.query.weights())
    assert all(math.isfinite(term.weight) for term in answer.query.terms)
    name = expander.partition("(")[0]
    assert all(name in term.origin for term in answer.query.terms if term.term not in asked.weights())
    assert index.answer(text, f"{expander} >> BM25", 5).query == answer.query


@given(text=queries, docs=st.integers(1, 8), terms=st.integers(1, 8), original=st.sampled_from([0.0, 0.4, 1.0]))
@settings(max_examples=examples(60))
def test_rm3_is_what_its_definition_says(index, bags, text, docs, terms, original):
    answer = index.answer(text, f"BM25 >> RM3(docs={docs}, terms={terms}, original={original}) >> BM25", 5)
    hits = index.search(text, "BM25", docs)
    expected = naive.rm3(bags, index.query(text).weights(), hits, terms, original)
    assert answer.query.weights() == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", ["Bo1", "KL"])
@given(text=queries, docs=st.integers(1, 6), terms=st.integers(1, 8))
@settings(max_examples=examples(40))
def test_divergence_expansion_is_what_its_definition_says(index, bags, name, text, docs, terms):
    answer = index.answer(text, f"BM25 >> {name}(docs={docs}, terms={terms}) >> BM25", 5)
    expected = naive.divergence(bags, name, index.query(text).weights(), index.search(text, "BM25", docs), terms)
    assert answer.query.weights() == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_feedback_needs_stored_terms(tmp_path):
    made = sublex.build([Document("a", "whale")], tmp_path / "index", store="text")
    with pytest.raises(SublexError, match="--store terms,text"):
        made.search("whale", "BM25 >> RM3 >> BM25")


# Explanations.


def adds_up(node: Explanation) -> None:
    """Each value is what its parts make it, by its kind."""
    counted = [part for part in node.parts if part.kind != "evidence"]
    for part in node.parts:
        adds_up(part)
    if not counted or node.value == -math.inf or node.kind == "evidence":
        return
    if node.kind == "sum":
        made = sum(part.value for part in counted)
    elif node.kind == "product":
        made = math.prod(part.value for part in counted)
    else:
        assert node.kind == "scaled"
        made = counted[0].value * counted[1].value + counted[2].value
    assert made == pytest.approx(node.value, rel=2e-6, abs=2e-6), node


@given(expression=expressions, text=queries, seed=st.integers(0, 99))
@settings(max_examples=examples(150))
def test_an_explanation_adds_up_to_the_score(index, expression, text, seed):
    hits = index.search(text, expression, 1000)
    docno = random.Random(seed).choice([*index.search(text, "BM25", 50).docnos, *hits.docnos[:20], "d1"])
    tree = index.explain(text, docno, expression)
    adds_up(tree)
    if docno in hits.docnos:
        place = hits.docnos.index(docno)
        assert tree.value == pytest.approx(float(hits.scores[place]), rel=2e-6, abs=2e-6)
        assert tree.evidence["rank"] == place + 1
    else:
        assert tree.evidence["rank"] is None


def test_an_explanation_names_words_as_they_are_written(tmp_path):
    made = sublex.build([Document("a", "Whales hunting"), Document("b", "Whales whales sleeping")], tmp_path / "index")
    tree = made.explain("whale hunts zebra", "b")
    text = str(tree)
    assert "Whales" in text or "whales" in text
    assert "hunting: not in this document" in text
    assert tree.evidence["in no document"] == ["zebra"]
    with pytest.raises(InputError, match="No document c"):
        made.explain("whale", "c")


# Passages.


@given(text=st.text(max_size=400), terms=st.lists(st.sampled_from(["whale", "a", "x", "the"]), max_size=3))
@settings(max_examples=examples(100))
def test_a_passage_marks_words_of_the_query(text, terms):
    analyzer = sublex.plugins.load().make("analyzer", "plain")
    found = passage(text + " whale " + text, analyzer, terms, 60)
    assert len(found.text) <= 60 + 4
    for begin, end in found.spans:
        assert 0 <= begin < end <= len(found.text)
        assert found.text[begin:end].lower() in terms or not found.text[begin:end].isascii()


def test_a_passage_is_where_the_most_different_words_are():
    analyzer = sublex.plugins.load().make("analyzer", "english")
    text = "whale " * 30 + "far " * 60 + "a whale hunted the ship " + "near " * 60
    found = passage(text, analyzer, ["whale", "hunt", "ship"], 80)
    assert "whale hunted the ship" in found.text
    assert {found.text[a:b] for a, b in found.spans} == {"whale", "hunted", "ship"}


def test_a_word_longer_than_the_passage_is_shown_from_its_beginning():
    analyzer = sublex.plugins.load().make("analyzer", "english")
    found = passage("intro " + "ab" * 105, analyzer, ["ab" * 105], 200)
    assert found.text.removeprefix("… ").startswith("abab")


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
    analyzer = sublex.plugins.load().make("analyzer", "english")
    found = passage(text, analyzer, analyze(analyzer, query), 140)
    shown = [found.text[a:b] for a, b in found.spans]
    assert shown[: len(marked)] == marked


def test_runs_are_the_searches_of_their_topics(index):
    topics = [("1", "w1 w2"), ("02", "absent"), ("x", "w5")]
    run = index.run(topics, "PL2 % 7", workers=2)
    assert list(run) == ["1", "02", "x"]
    assert run.tag == "PL2%7"
    for qid, text in topics:
        hits = index.search(text, "PL2 % 7", 1000)
        assert list(run[qid]) == hits.docnos
        assert list(run[qid].values()) == hits.scores.tolist()
    assert np.array_equal(index.run(topics, "PL2 % 7", workers=1).scores, run.scores)
    assert len(index.run([], "PL2")) == 0
