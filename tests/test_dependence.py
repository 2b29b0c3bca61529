"""Tests of the dependence models: their queries equal Indri's formulas, and stages before and after them work with operators."""

from __future__ import annotations

import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from command import invoke
from hypothesis import given
from hypothesis import strategies as st

import sublex
from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import DEEPEST, MOST_NESTED, Operator, OperatorKind, operator, ordered, synonyms, window
from sublex.errors import IndexProblem
from sublex.expanders.dependence import FDM, MOST_SUBSETS, SDM
from sublex.retrieval.feedback import Feedback
from sublex.retrieval.hits import Hits
from sublex.retrieval.term_table import TermTable


class Words:
    """A context in which documents hold all words but those in `absent`."""

    def __init__(self, absent=(), original=None):
        self.absent, self.original = absent, original

    def numbers(self, terms):
        assert not any(isinstance(term, Operator) for term in terms)
        return [-1 if term in self.absent else 0 for term in terms]


def query(text: str) -> Query:
    return Query(text, tuple(map(QueryTerm, text.split())))


def printed(kind: str, words) -> str:
    """Return an operator as text, with the words of a window in order."""
    words = words if kind == "#1" else sorted(words)
    return f"{kind}({','.join(map(repr, words))})"


def of_indri(formula: str) -> dict[str, float]:
    """Return the weight of each leaf of a #weight of #combines in Indri's query language, as Indri computes it."""
    weights: dict[str, float] = Counter()
    for weight, group in re.findall(r"([\d.]+) #combine\( (.*?) \)(?= [\d.]|$)", formula):
        leaves = re.findall(r"(#\w+)\( ([^()]*) \)|(\w+)", group)
        for kind, words, word in leaves:
            weights[word or printed(kind, words.split())] += float(weight) / len(leaves)
    return weights


def by_bits(words: list[str], most: int, only_pairs: bool, normalise: bool) -> dict[str, float]:
    """Return the weights of a dependence model over all sets of words, each a number in binary, as Indri's script has them."""
    groups: tuple[list[str], ...] = [*words], [], []
    for bits in range(1, 1 << len(words)):
        chosen = [word for place, word in enumerate(words) if bits >> place & 1]
        together = re.fullmatch("0b1+0*", bin(bits)) is not None
        if 2 <= len(chosen) <= most and (together or not only_pairs):
            groups[2].append(printed(f"#uw{4 * len(chosen)}", chosen))
            if together:
                groups[1].append(printed("#1", chosen))
    weights: dict[str, float] = Counter()
    for weight, group in zip((0.85, 0.1, 0.05), groups, strict=True):
        for term in group:
            weights[term] += weight / (len(group) if normalise else 1)
    return weights


def weights(query: Query) -> dict[str, float]:
    return {str(term): weight for term, weight in query.weights().items()}


def test_sdm_is_indris_formula():
    # The formula of the Lemur project's wiki and of Metzler's script dm.pl.
    formula = (
        "0.85 #combine( white house rose garden ) "
        "0.1 #combine( #1( white house ) #1( house rose ) #1( rose garden ) ) "
        "0.05 #combine( #uw8( white house ) #uw8( house rose ) #uw8( rose garden ) )"
    )
    expected = of_indri(formula)
    assert len(expected) == 10
    assert weights(SDM().expand(query("white house rose garden"), Words())) == pytest.approx(expected)


def test_fdm_is_indris_formula():
    formula = (
        "0.85 #combine( prostate cancer treatment ) "
        "0.1 #combine( #1( prostate cancer ) #1( cancer treatment ) #1( prostate cancer treatment ) ) "
        "0.05 #combine( #uw8( prostate cancer ) #uw8( cancer treatment ) #uw8( prostate treatment ) "
        "#uw12( prostate cancer treatment ) )"
    )
    expected = of_indri(formula)
    assert len(expected) == 10
    assert weights(FDM().expand(query("prostate cancer treatment"), Words())) == pytest.approx(expected)


@given(st.lists(st.sampled_from("abcde"), min_size=2, max_size=8), st.booleans(), st.integers(2, 7))
def test_dependence_models_equal_the_enumeration_of_all_sets(words, normalise, size):
    asked = query(" ".join(words))
    sdm = SDM(normalise=normalise).expand(asked, Words())
    fdm = FDM(normalise=normalise, size=size).expand(asked, Words())
    assert weights(sdm) == pytest.approx(by_bits(words, 2, True, normalise))
    assert weights(fdm) == pytest.approx(by_bits(words, size, False, normalise))
    assert {term.origin for term in sdm.terms} == {"query", "SDM"}
    assert all(operator(term.term) == term.term for term in fdm.terms if term.origin == "FDM")


def test_anserini_does_not_divide_by_the_number_of_words():
    # io.anserini.search.query.SdmQueryGenerator: three Boolean queries with the boosts 0.85, 0.1 and 0.05.
    found = weights(SDM(normalise=False).expand(query("a b c"), Words()))
    assert Counter(found.values()) == {0.85: 3, 0.1: 2, 0.05: 2}


def test_each_weight_is_that_of_its_group():
    found = weights(SDM(words=1, ordered=0.5, window=0.25, normalise=False).expand(query("a b"), Words()))
    assert found == {"a": 1, "b": 1, "#1('a','b')": 0.5, "#uw8('a','b')": 0.25}
    assert weights(FDM(ordered=0, window=0).expand(query("a b"), Words())) == {"a": 0.425, "b": 0.425}


@pytest.mark.parametrize("model", (SDM(), FDM()))
def test_one_word_or_none_stays_as_it_is(model):
    for asked in (query(""), query("a"), Query("", (QueryTerm("a", 2.0), QueryTerm("b", 0.0)))):
        assert model.expand(asked, Words()) is asked


def test_words_that_no_document_holds_get_no_operators():
    assert [*weights(SDM().expand(query("a zyzzyva b c"), Words({"zyzzyva"})))] == [
        "a", "zyzzyva", "b", "c", "#1('b','c')", "#uw8('b','c')",
    ]  # fmt: skip


def test_operators_have_the_mean_weight_of_their_words():
    asked = Query("", (QueryTerm("a", 3.0), QueryTerm("b", 1.0), QueryTerm("a", 1.0)))
    # The weight of `a` is 4, so each of its two places has 2.
    found = SDM(normalise=False).expand(asked, Words())
    assert weights(found) == pytest.approx(
        {"a": 3.4, "b": 0.85, "#1('a','b')": 0.15, "#1('b','a')": 0.15, "#uw8('a','b')": 0.15}
    )


def test_neighbours_are_those_of_the_original_query():
    # Feedback orders terms by weight and adds others; the user wrote "c a b".
    original = query("c a b")
    after = Query(
        "c a b", (QueryTerm("b", 2.0, "query + RM3"), QueryTerm("x", 1.5, "RM3"), QueryTerm("a"), QueryTerm("c"))
    )
    found = SDM(normalise=False).expand(after, Words(original=original))
    assert weights(found) == pytest.approx(
        {"b": 1.7, "x": 1.275, "a": 0.85, "c": 0.85, "#1('c','a')": 0.1, "#1('a','b')": 0.15,
         "#uw8('a','c')": 0.05, "#uw8('a','b')": 0.075}
    )  # fmt: skip


def test_an_operator_in_the_query_counts_as_one_word():
    phrase, either = ordered(["stem", "cell"]), synonyms(["car", "auto"])
    asked = Query("", (QueryTerm(phrase), QueryTerm("b"), QueryTerm(either, 0.5)))
    added = [term.term for term in SDM().expand(asked, Words()).terms if term.origin == "SDM"]
    assert added == [
        ordered([phrase, "b"]), ordered(["b", either]), window([phrase, "b"], 12), window(["b", either], 8),
    ]  # fmt: skip
    deep = "a"
    for _ in range(DEEPEST):
        deep = ordered([deep, "a"])
    asked = Query("", (QueryTerm("x"), QueryTerm(deep), QueryTerm("y")))
    assert SDM().expand(asked, Words()).terms[3:] == (
        (ordered(["x", "y"]), 0.1, "SDM"), (window(["x", "y"], 8), 0.05, "SDM"),
    )  # fmt: skip


def test_a_window_of_many_words_is_one_unit_and_stands_in_small_subsets():
    near = window([*"abcdefg"], 10)
    asked = Query("", (QueryTerm(near), *map(QueryTerm, "hijklmn")))
    found = [term.term for term in FDM(size=10).expand(asked, Words()).terms if isinstance(term.term, Operator)]
    windows = [term.parts for term in found if term.kind is OperatorKind.WINDOW and term != near]
    assert max(len(parts) for parts in windows if near in parts) == MOST_NESTED
    assert max(map(len, windows)) == 7
    assert math.isclose(sum(FDM(size=10).expand(asked, Words()).weights().values()), 1.0)


def test_of_many_subsets_those_of_close_words_are_taken():
    asked = query(" ".join(f"w{place:03}" for place in range(200)))
    found = [term.term for term in FDM().expand(asked, Words()).terms if isinstance(term.term, Operator)]
    windows = [term for term in found if term.kind is OperatorKind.WINDOW]
    assert len(windows) == MOST_SUBSETS == 1000
    distances = [max(places) - min(places) for places in ([int(word[1:]) for word in t.parts] for t in windows)]
    # 199 pairs of neighbours, 2 * 198 sets over three words, and the first of those over four.
    assert Counter(distances) == {1: 199, 2: 396, 3: 405}
    assert math.isclose(sum(FDM().expand(asked, Words()).weights().values()), 1.0)
    long = SDM().expand(query(" ".join("ab" * 5000)), Words())
    assert len(long.terms) == 10_000 + 3
    assert len(SDM().expand(asked, Words()).terms) == 200 + 2 * 199


# Dependence models and other expanders on an index with positions.

TEXTS = {
    "d0": "stem cell stem cell line",
    "d1": "a stem cell of the line",
    "d2": "cell and stem line growth",
    "d3": "the stem of a cell wall",
    **{f"e{k:02}": f"other words number{k}" for k in range(36)},
}
PHRASE = ordered(["stem", "cell"])


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """An index with positions. The phrase "stem cell" occurs twice in d0, once in d1 and nowhere else."""
    rows = [{"id": docno, "text": text} for docno, text in TEXTS.items()]
    return sublex.build(rows, tmp_path_factory.mktemp("cells") / "index", store="text,terms,positions")


def context(index, docnos) -> Feedback:
    """Return a context with these documents, best first; the scores are 4, 3, 2 and so on."""
    docs = np.array([index.doc(docno) for docno in docnos], np.int32)
    return Feedback(
        Hits(index.snapshot, docs, np.arange(4, 4 - len(docs), -1, dtype=np.float32)), TermTable(index.snapshot)
    )


def test_a_context_counts_operators(cells):
    seen = context(cells, ["d2", "d0", "d1"])
    (number,) = seen.numbers([PHRASE])
    assert seen.names(np.array([number])) == [PHRASE]
    assert [values.tolist() for values in seen.stats(np.array([number]))] == [[2.0], [3.0]]
    assert seen.frequencies(PHRASE, seen.docs).tolist() == [0, 2, 1]
    assert all(number not in vector.terms for vector in seen.term_vectors(seen.docs))


def kept(index, expander, docnos=("d0", "d1", "d2")) -> tuple[float, float]:
    """Return the weights that an expander gives to the word "stem" and to the phrase in a query of both."""
    asked = Query("stem cells", (QueryTerm("stem", 2.0), QueryTerm(PHRASE)))
    made = index.registry.build("expander", *expander).expand(asked, context(index, docnos))
    assert [term.origin for term in made.terms if term.term == PHRASE] == ["query"]
    assert not any(isinstance(term.term, Operator) for term in made.terms if term.term != PHRASE)
    assert len(made.terms) > 2
    return made.weights()["stem"], made.weights()[PHRASE]


def test_feedback_keeps_operators_with_their_weights(cells):
    # RM3 scales the query to a sum of 1, Rocchio to a norm of 1, and Bo1 and KL to a largest weight of 1.
    assert kept(cells, ("RM3", {"original": 0.6}))[1] == pytest.approx(0.6 / 3)
    assert kept(cells, ("Rocchio", {"alpha": 0.5, "common": 1}))[1] == pytest.approx(0.5 / math.sqrt(5))
    assert kept(cells, ("Bo1", {}))[1] == pytest.approx(0.5)
    assert kept(cells, ("KL", {}))[1] == pytest.approx(0.5)


def test_axiomatic_gives_an_operator_its_own_idf(cells):
    # The phrase is in 2 of 40 documents, and the weights of the query are scaled to a sum of 1.
    assert kept(cells, ("Axiomatic", {}))[1] == pytest.approx(math.log(41 / 2) / 3)


def test_bm25prf_counts_the_feedback_documents_of_an_operator(cells):
    # Robertson and Sparck Jones: r = 2 of the R = 3 feedback documents and n = 2 of the N = 40 documents hold the phrase.
    weight = math.log((2 + 0.5) * (40 - 2 - 3 + 2 + 0.5) / ((2 - 2 + 0.5) * (3 - 2 + 0.5)))
    assert kept(cells, ("BM25PRF", {}))[1] == pytest.approx(weight)
    # Of the documents d1 and d2, one holds it.
    weight = math.log((1 + 0.5) * (40 - 2 - 2 + 1 + 0.5) / ((2 - 1 + 0.5) * (2 - 1 + 0.5)))
    assert kept(cells, ("BM25PRF", {}), ("d1", "d2"))[1] == pytest.approx(weight)


def test_trust_looks_at_the_words_of_operators(cells):
    # Selective feedback: d0 to d2 hold both words of the phrase, so nothing is taken from the feedback.
    assert kept(cells, ("RM3", {"trust": 2})) == pytest.approx(kept(cells, ("RM3", {})))


def test_bo1_selects_as_many_terms_as_the_query_has_words(cells):
    # Operators do not count: two words select two terms, "stem" and "cell", which the query has.
    phrases = [ordered(["stem", "cell"], width) for width in range(1, 5)]
    asked = Query("", tuple(QueryTerm(term) for term in ("stem", "cell", *phrases)))
    made = cells.registry.build("expander", "Bo1", {"terms": 1}).expand(asked, context(cells, ["d0", "d1", "d2"]))
    assert sum("Bo1" in term.origin for term in made.terms) <= 2


def test_sdm_ranks_by_phrases_and_windows(cells):
    plain, model = (cells.search("stem cell", expression, k=9).docnos for expression in ("BM25", "SDM >> BM25"))
    assert set(model) == set(plain) == {"d0", "d1", "d2", "d3"}
    assert [docno for docno in model if docno in ("d1", "d3")] == ["d1", "d3"]
    # The score is the sum of the ranker's scores of all terms with their weights.
    for expression in ("BM25", "PL2", "DirichletLM"):
        found = cells.answer("stem cell", f"SDM >> {expression}", k=9)
        searcher = cells.searcher(expression)
        alone = [w * searcher.scores({term: 1.0}, found.hits.docs) for term, w in found.query.weights().items()]
        sums = np.where(np.isfinite(alone), alone, 0).sum(axis=0)
        np.testing.assert_allclose(found.hits.scores, sums, rtol=1e-5)
        for hit in found.hits:
            assert cells.explain("stem cell", hit.docno, f"SDM >> {expression}").value == pytest.approx(
                hit.score, rel=1e-5
            )


def test_dependence_models_stand_before_and_after_feedback(cells):
    made = cells.answer("stem cell", "BM25 >> RM3(docs=2, terms=4, common=1) >> SDM >> BM25").query
    pairs = [term.term for term in made.terms if term.origin == "SDM"]
    assert pairs == [PHRASE, window(["stem", "cell"], 8)]
    assert {"line"} < {term.term for term in made.terms}
    made = cells.answer("stem cell", "SDM >> BM25 >> RM3(docs=2, terms=4, common=1) >> BM25").query
    assert {PHRASE, "line"} < {term.term for term in made.terms}
    assert {term.term: term.origin for term in made.terms}[PHRASE] == "SDM"


def test_an_index_without_positions_says_what_to_do(tmp_path):
    index = sublex.build([{"id": docno, "text": text} for docno, text in TEXTS.items()], tmp_path / "index")
    with pytest.raises(IndexProblem, match="positions"):
        index.search("stem cell", "SDM >> BM25")
    assert index.search("stem", "SDM >> BM25").docnos == index.search("stem", "BM25").docnos


def test_explanations_count_words_and_operators(cells):
    tree = cells.explain("stem cell", "d0", "SDM >> BM25")
    assert tree.parts[0].label == "SDM made the query 2 words and 2 operators"
    assert len(tree.parts[0].evidence["added"]) == 2


def test_a_printed_operator_is_looked_up_like_a_term(cells):
    for text in (PHRASE, str(PHRASE)):
        term = cells.term(text)
        assert (term.term, term.df, term.cf, term.surface) == (PHRASE, 2, 3, '"stem cell"')
        assert [*cells.terms(str(text))] == [term]
        docs, tfs = cells.postings(text)
        assert ([cells.docno(doc) for doc in docs.tolist()], tfs.tolist()) == (["d0", "d1"], [2, 1])
    unseen = "#1('line','cell')"
    assert cells.term(unseen) is None and not [*cells.terms(unseen)] and len(cells.postings(unseen).docs) == 0
    listed = invoke("terms", str(cells.path), "#uw8('cell','stem')").output
    assert re.search(r"#uw8\('cell','stem'\) +4 +5 ", listed)
    assert f"No term of {cells.path} fits {unseen}." in invoke("terms", str(cells.path), unseen).messages


def test_weighted_queries_hold_operators(cells):
    text = "stem^0.5 #1('stem','cell')^2"
    query = Query(text, (QueryTerm("stem", 0.5), QueryTerm(PHRASE, 2.0)))
    shown = json.loads(invoke("search", str(cells.path), text, "--weighted", "--format", "json").output)
    assert [hit["docno"] for hit in shown["hits"]] == cells.search(query).docnos
