"""Tests of the dependence models: their queries equal Indri's formulas, and stages before and after them work with operators."""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import DEEPEST, Kind, Operator, operator, ordered, synonyms, window
from sublex.expanders.dependence import FDM, MOST_SUBSETS, SDM


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


def test_of_many_subsets_those_of_close_words_are_taken():
    asked = query(" ".join(f"w{place:03}" for place in range(200)))
    found = [term.term for term in FDM().expand(asked, Words()).terms if isinstance(term.term, Operator)]
    windows = [term for term in found if term.kind is Kind.WINDOW]
    assert len(windows) == MOST_SUBSETS == 1000
    distances = [max(places) - min(places) for places in ([int(word[1:]) for word in t.parts] for t in windows)]
    # 199 pairs of neighbours, 2 * 198 sets over three words, and the first of those over four.
    assert Counter(distances) == {1: 199, 2: 396, 3: 405}
    assert math.isclose(sum(FDM().expand(asked, Words()).weights().values()), 1.0)
    long = SDM().expand(query(" ".join("ab" * 5000)), Words())
    assert len(long.terms) == 10_000 + 3
    assert len(SDM().expand(asked, Words()).terms) == 200 + 2 * 199
