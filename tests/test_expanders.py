"""Tests of the expanders by feedback. Those of the dependence models are in `test_dependence.py`.

Each expander equals its reference and examples worked by hand, keeps the terms of the query, names itself as the origin of
the terms it adds, and copes with any input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublex.contracts.base import JudgedDocuments, Query, QueryTerm, Statistics, TermStats, TermVector
from sublex.errors import InputError
from sublex.language import plugins
from sublex.language.expression import print_value, shortest
from sublex.language.profiles import PROFILES

REGISTRY = plugins.load()
NAMES = [name for name in REGISTRY.names("expander") if REGISTRY.find("expander", name).plugin == "expanders"]
FEEDBACK = [name for name in NAMES if name not in ("SDM", "FDM", "Burst")]
TERMS = ("a", "ab", "cd", "ef", "gh", "whale", "crane", "12", "b2", "é", "東京", "Ab", "x" * 20, "x" * 21, "all")


class Bags:
    """A context over bags of words. Documents are numbered in the order of the bags, terms in the order of their bytes."""

    original = None

    def __init__(self, bags: naive.Bags, hits: list[naive.Hit], judged: Mapping[str, int] | None = None):
        numbers = {docno: number for number, docno in enumerate(bags)}
        self.judged = judged and JudgedDocuments(
            np.array([numbers[docno] for docno, grade in judged.items() if grade > 0], np.int32),
            np.array([numbers[docno] for docno, grade in judged.items() if grade <= 0], np.int32),
        )
        self.bags = list(bags.values())
        self.vocabulary = sorted({term for bag in self.bags for term in bag}, key=str.encode)
        self.live_docs = np.arange(len(bags))
        self.docs = np.array([numbers[hit.docno] for hit in hits], np.int32)
        self.scores = np.array([hit.score for hit in hits], np.float32)
        lengths = [sum(bag.values()) for bag in self.bags]
        self.collection = Statistics(len(bags), sum(lengths), sum(map(len, self.bags)))
        self.known = TermStats(*np.array([naive.occurrences(bags, t) for t in self.vocabulary], float).reshape(-1, 2).T)

    def term_vectors(self, docs):
        return [self.vector(self.bags[doc]) for doc in docs]

    def vector(self, bag):
        terms = sorted(bag, key=str.encode)
        return TermVector(np.array(self.numbers(terms), np.int32), np.array([bag[term] for term in terms], np.int32))

    def stats(self, terms):
        return TermStats(*(values[terms] for values in self.known))

    def numbers(self, terms):
        return [self.vocabulary.index(term) if term in self.vocabulary else -1 for term in terms]

    def names(self, terms):
        return [self.vocabulary[term] for term in terms]


class Case(NamedTuple):
    """A collection, the hits of a first retrieval, and the weights of a query's terms."""

    bags: naive.Bags
    hits: list[naive.Hit]
    weights: Mapping[str, float]
    judged: Mapping[str, int] | None = None

    @property
    def query(self) -> Query:
        return Query("", tuple(QueryTerm(term, weight) for term, weight in self.weights.items()))

    @property
    def context(self) -> Bags:
        return Bags(self.bags, self.hits, self.judged)

    @property
    def relevant(self) -> list[naive.Hit]:
        """The documents that somebody judged relevant, as hits of equal scores."""
        return [naive.Hit(docno, 1.0) for docno, grade in self.judged.items() if grade > 0]

    @property
    def others(self) -> list[naive.Hit]:
        return [naive.Hit(docno, 1.0) for docno, grade in self.judged.items() if grade <= 0]


WEIGHTS = st.sampled_from((1.0, 1.0, 2.0, 0.5, -1.0, 0.0)) | st.floats(-1e6, 1e6, width=32)
SCORES = st.sampled_from((1.0, 2.5, 7.0)) | st.floats(-20, 50, width=32)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw documents, some of them empty, among other documents that make their terms rare or common."""
    bag = st.dictionaries(st.sampled_from(TERMS), st.integers(1, 4), max_size=8)
    bags = {f"d{k}": own for k, own in enumerate(draw(st.lists(bag, min_size=1, max_size=7)))}
    bags |= {f"e{k:02}": {"all": 1, f"other{k}": 2} for k in range(draw(st.sampled_from((0, 3, 25, 60))))}
    docnos = draw(st.lists(st.sampled_from([*bags]), unique=True, max_size=9))
    scores = sorted(draw(st.lists(SCORES, min_size=len(docnos), max_size=len(docnos))), reverse=True)
    weights = draw(st.dictionaries(st.sampled_from((*TERMS, "absent")), WEIGHTS, max_size=4))
    return Case(bags, [naive.Hit(docno, score) for docno, score in zip(docnos, scores, strict=True)], weights)


def make(name: str, **params):
    return REGISTRY.build("expander", name, params)


def expanded(case: Case, name: str, **params) -> Query:
    """Return the query that an expander makes of a case."""
    return make(name, **params).expand(case.query, case.context)


def agree(query: Query, expected: Mapping[str, float]) -> None:
    """Check that the query has the expected weights, up to rounding; terms of weight 0 may be missing."""
    weights = {term: weight for term, weight in query.weights().items() if abs(weight) > 1e-7}
    assert weights == pytest.approx({t: w for t, w in expected.items() if abs(w) > 1e-7}, rel=1e-5, abs=1e-7)


# Comparison with the references.

numbers = st.integers(1, 6)


@given(cases(), numbers, numbers, st.sampled_from((0.0, 0.5, 0.6, 1.0)), st.sampled_from(("anserini", "terrier")))
def test_rm3_equals_its_reference(case, docs, terms, original, variant):
    result = expanded(case, "RM3", docs=docs, terms=terms, original=original, variant=variant)
    agree(result, naive.rm3(case.bags, case.weights, case.hits[:docs], terms, original, variant))


@pytest.mark.parametrize("name", ["Bo1", "KL"])
@given(cases(), numbers, st.integers(0, 6), st.sampled_from((None, 0.0, 0.4)), st.integers(1, 3))
def test_divergence_equals_its_reference(name, case, docs, terms, beta, least):
    result = expanded(case, name, docs=docs, terms=terms, beta=beta, least=least)
    agree(result, naive.divergence(case.bags, name, case.weights, case.hits[:docs], terms, beta, least))


@given(cases(), numbers, numbers, st.integers(0, 4), st.sampled_from((0.0, 1.0)), st.sampled_from((0.15, 2.0)))
def test_rocchio_equals_its_reference(case, docs, terms, negative, alpha, gamma):
    result = expanded(case, "Rocchio", docs=docs, terms=terms, negative=negative, alpha=alpha, gamma=gamma)
    last = case.hits[docs:][::-1][:negative]
    agree(result, naive.rocchio(case.bags, case.weights, case.hits[:docs], last, terms, alpha, gamma=gamma))


@given(cases(), numbers)
def test_axiomatic_equals_its_reference(case, terms):
    # The pool is the whole collection, so the random draw does not matter.
    result = expanded(case, "Axiomatic", r=10, n=10, m=terms)
    agree(result, naive.axiomatic(case.bags, case.weights, case.bags, terms) if case.hits else case.weights)


@given(cases(), numbers, numbers)
def test_bm25prf_equals_its_reference(case, docs, terms):
    result = expanded(case, "BM25PRF", docs=docs, terms=terms)
    agree(result, naive.bm25prf(case.bags, case.weights, case.hits[:docs], terms))


@given(
    cases(), numbers, numbers, st.sampled_from((0.0, 0.35, 1.0)), st.sampled_from((0.0, 1.0, 5.0)),
    st.sampled_from(("bm25", "lm")), st.sampled_from((0, 2)), st.sampled_from((0.15, 1.5)),
)  # fmt: skip
def test_sharp_equals_its_reference(case, docs, terms, original, power, vectors, negative, gamma):
    options = {"terms": terms, "original": original, "power": power, "vectors": vectors, "gamma": gamma}
    result = expanded(case, "Sharp", docs=docs, negative=negative, **options)
    last = case.hits[docs:][-negative:] if negative else []
    agree(result, naive.sharp(case.bags, case.weights, case.hits[:docs], last, *options.values()))


@st.composite
def judged_cases(draw: st.DrawFn) -> Case:
    """Draw a case with judgements of one document or more, which need not be among the hits."""
    case = draw(cases())
    grades = st.dictionaries(st.sampled_from([*case.bags]), st.integers(-1, 2), min_size=1, max_size=6)
    return case._replace(judged=draw(grades))


@given(judged_cases(), numbers, numbers)
def test_judged_documents_take_the_places_of_the_documents_found(case, docs, terms):
    bags, weights, relevant, others = case.bags, case.weights, case.relevant, case.others
    for name, expected in (
        ("Sharp", naive.sharp(bags, weights, relevant, others, terms, 0.35, 5.0, "bm25", 0.05)),
        ("Rocchio", naive.rocchio(bags, weights, relevant, others, terms)),
        ("RM3", naive.rm3(bags, weights, relevant, terms, 0.5)),
        ("Bo1", naive.divergence(bags, "Bo1", weights, relevant, terms)),
        ("BM25PRF", naive.bm25prf(bags, weights, relevant, terms)),
    ):
        agree(expanded(case, name, docs=docs, terms=terms), expected)


# Examples worked by hand.


def test_rm3_worked_by_hand():
    # Two documents among forty have the scores 3 and 1: the first (whale 3, crane 1) and the second (whale 1, ship 1). whale
    # gets 3 * 3/4 + 1 * 1/2 = 11/4, crane 3/4, ship 1/2, the sum is 4, and the model is 11/16, 3/16, 2/16. The new query is
    # half of the model and half of the query:
    bags = {"d0": {"whale": 3, "crane": 1, "é": 9}, "d1": {"whale": 1, "ship": 1, "w": 7}}
    bags |= {f"e{k}": {"other": 1} for k in range(38)}
    result = expanded(Case(bags, [naive.Hit("d0", 3.0), naive.Hit("d1", 1.0)], {"crane": 1.0, "nest": 1.0}), "RM3")
    assert [(t.term, t.weight * 32, t.origin) for t in result.terms] == [
        ("crane", 8.0 + 3.0, "query + RM3"),
        ("whale", 11.0, "RM3"),
        ("nest", 8.0, "query"),
        ("ship", 2.0, "RM3"),
    ]


def test_bo1_worked_by_hand():
    # Three documents of four. whale occurs 4 times in two of them and nowhere else: p = 4/4, so 4 log2(2) + log2(2) = 5,
    # which is its highest possible weight. crane occurs 2 times in two, and once elsewhere: p = 3/4, so
    # 2 log2(7/3) + log2(7/4).
    bags = {"d0": {"whale": 3, "crane": 1}, "d1": {"whale": 1, "crane": 1}, "d2": {"ship": 8}, "d3": {"crane": 1}}
    hits = [naive.Hit(docno, 1.0) for docno in ("d0", "d1", "d2")]
    result = expanded(Case(bags, hits, {"crane": 2.0, "nest": 1.0}), "Bo1")
    crane = 1 + (2 * math.log2(7 / 3) + math.log2(7 / 4)) / 5
    assert result.weights() == pytest.approx({"crane": crane, "whale": 1.0, "nest": 0.5}, rel=1e-12)
    assert [term.origin for term in result.terms] == ["query + Bo1", "Bo1", "query"]


def test_kl_worked_by_hand():
    # whale is 2 of the 4 words in the hits and 2 of 16 in the collection: 1/2 log2(4) = 1, its highest possible weight. crane
    # has no more than its share.
    bags = {"d0": {"whale": 1, "crane": 1}, "d1": {"whale": 1, "crane": 1}, "d2": {"crane": 6, "ship": 6}}
    result = expanded(Case(bags, [naive.Hit("d0", 1.0), naive.Hit("d1", 1.0)], {"crane": 1.0}), "KL")
    assert result.terms == (("crane", 1.0, "query"), ("whale", 1.0, "KL"))


def test_rocchio_worked_by_hand():
    # One document (whale 3, crane 4) has the length 5: 3/5 and 4/5, times 0.75, plus a query of length 1.
    bags = {"d0": {"whale": 3, "crane": 4}} | {f"e{k}": {"other": 1} for k in range(20)}
    result = expanded(Case(bags, [naive.Hit("d0", 1.0)], {"crane": 2.0}), "Rocchio")
    assert result.weights() == pytest.approx({"crane": 1.6, "whale": 0.45}, rel=1e-12)


def test_sharp_worked_by_hand():
    # Two documents of equal length with the scores 2 and 1, so the second counts (1/2)^2. Each holds two of three terms
    # equally often; crane is in both and the others in one. The mean is computed with idf ln(1 + (21 - df + .5) / (df + .5)).
    bags = {"d0": {"whale": 1, "crane": 1}, "d1": {"ship": 1, "crane": 1}} | {f"e{k}": {"z": 2} for k in range(19)}
    hits = [naive.Hit("d0", 2.0), naive.Hit("d1", 1.0)]
    result = expanded(Case(bags, hits, {"crane": 7.0}), "Sharp", power=2, original=0.5)
    rare, both = math.log(1 + 20.5 / 1.5), math.log(1 + 19.5 / 2.5)
    whale, crane, ship = rare, 1.25 * both, 0.25 * rare
    norm = math.sqrt(whale**2 + crane**2 + ship**2)
    expected = {"crane": 0.5 + 0.5 * crane / norm, "whale": 0.5 * whale / norm, "ship": 0.5 * ship / norm}
    assert result.weights() == pytest.approx(expected, rel=1e-12)
    assert [term.origin for term in result.terms] == ["query + Sharp", "Sharp", "Sharp"]


def test_sharp_subtracts_non_relevant_documents():
    # A judged relevant document (crane, whale) and a judged other one (crane, ship), which the search did not find. Both
    # have the average length 2, so that both terms of a document have the same tf part, and its vector has the idfs.
    bags = {"d0": {"whale": 1, "crane": 1}, "d1": {"ship": 1, "crane": 1}} | {f"e{k}": {"z": 2} for k in range(19)}
    case = Case(bags, [naive.Hit("e0", 9.0)], {"ship": 3.0, "crane": 4.0}, {"d1": 0, "d0": 2})
    result = expanded(case, "Sharp", original=0.5, gamma=0.75)
    rare, both = math.log(1 + 20.5 / 1.5), math.log(1 + 19.5 / 2.5)
    norm = math.sqrt(rare**2 + both**2)
    # crane: half of 4/5 of the query, half of the relevant document, less three quarters of the other. ship: half of 3/5,
    # less three quarters, which is below 0.
    expected = {"crane": 0.4 + (0.5 - 0.75) * both / norm, "whale": 0.5 * rare / norm, "ship": 0.0}
    assert 0.3 - 0.75 * rare / norm < 0
    assert result.weights() == pytest.approx(expected, rel=1e-12)


def test_rocchio_learns_from_judgements():
    # The query (crane 1), the relevant document (whale 3, crane 4) of length 5, and the other one (crane 1).
    bags = {"d0": {"whale": 3, "crane": 4}, "d1": {"crane": 1}} | {f"e{k}": {"other": 1} for k in range(28)}
    result = expanded(Case(bags, [], {"crane": 2.0}, {"d0": 1, "d1": 0}), "Rocchio")
    assert result.weights() == pytest.approx({"crane": 1 + 0.75 * 0.8 - 0.15, "whale": 0.75 * 0.6}, rel=1e-12)


def test_judgements_without_a_relevant_document_only_subtract():
    bags = {"d0": {"whale": 3, "crane": 4}} | {f"e{k}": {"other": 1} for k in range(20)}
    case = Case(bags, [naive.Hit("d0", 1.0)], {"crane": 2.0}, {"d0": 0})
    assert expanded(case, "Rocchio").weights() == pytest.approx({"crane": 1 - 0.15 * 0.8}, rel=1e-12)
    assert expanded(case, "RM3") == case.query


def test_more_documents_are_judged_than_an_expander_takes_of_a_ranking():
    # Bo1 takes the first three of a ranking. All five judged ones hold crane and nothing else does, so that its weight is
    # the highest possible one, which is scaled to 1.
    bags = {f"d{k}": {"crane": 1, f"own{k}": 1} for k in range(5)} | {f"e{k}": {"other": 1} for k in range(5)}
    result = expanded(Case(bags, [], {"nest": 1.0}, dict.fromkeys([f"d{k}" for k in range(5)], 1)), "Bo1", least=5)
    assert result.weights() == pytest.approx({"crane": 1.0, "nest": 1.0})


def test_burst_worked_by_hand():
    # whale occurs 9 times in one document, crane 8 times in two, nest once in each that holds it, and owl nowhere.
    bags = {"d0": {"whale": 9, "crane": 7, "nest": 1}, "d1": {"crane": 1, "nest": 1}, "d2": {"ship": 1}}
    case = Case(bags, [], {"crane": 2.0, "whale": 1.0, "nest": 3.0, "owl": 5.0})
    assert expanded(case, "Burst").terms == (
        ("crane", 4.0, "query"), ("whale", 3.0, "query"), ("nest", 3.0, "query"), ("owl", 5.0, "query"),
    )  # fmt: skip
    assert expanded(case, "Burst", power=1).weights() == {"crane": 8.0, "whale": 9.0, "nest": 3.0, "owl": 5.0}
    assert expanded(case, "Burst", power=0) == case.query


# Properties of all expanders.


@st.composite
def expanders(draw: st.DrawFn):
    """Draw an expander with some of its parameters set."""
    registration = REGISTRY.find("expander", draw(st.sampled_from(FEEDBACK)))
    chosen = {}
    for param in registration.params:
        if draw(st.booleans()):
            choices = param.range if param.type is str else (False, True) if param.type is bool else None
            between = st.floats if param.type is float else st.integers
            low, high = (param.range or (0, 1))[:2]
            chosen[param.name] = draw(
                st.sampled_from(choices) if choices else between(low, high) | between(low, low + 1)
            )
    if chosen.get("variant") == "terrier":
        chosen.pop("filter", None)
    return REGISTRY.build("expander", registration.name, chosen)


@given(expanders(), cases())
def test_every_expander_keeps_the_query_and_names_what_it_adds(expander, case):
    result, name = expander.expand(case.query, case.context), type(expander).__name__
    terms = [term.term for term in result.terms]
    assert len(set(terms)) == len(terms) and set(case.weights) <= set(terms)
    assert all(math.isfinite(term.weight) for term in result.terms)
    for term in result.terms:
        assert term.origin in (("query", f"query + {name}") if term.term in case.weights else (name,))
    if result != case.query:
        assert list(result.terms) == sorted(result.terms, key=lambda term: (-term.weight, term.term))
    assert expander.expand(case.query, case.context) == result


@given(expanders(), cases())
def test_nothing_found_leaves_the_query_as_it_is(expander, case):
    assert expander.expand(case.query, Bags(case.bags, [])) == case.query


@given(cases(), st.sampled_from(FEEDBACK), numbers)
def test_no_more_terms_are_added_than_asked_for(case, name, number):
    result = expanded(case, name, **{"m" if name == "Axiomatic" else "terms": number})
    twice = 2 if name == "Rocchio" else 1
    assert sum(name in term.origin for term in result.terms) <= twice * max(number, len(case.weights))


def test_an_expansion_of_an_expansion_keeps_all_origins():
    bags = {"d0": {"whale": 3, "crane": 4}} | {f"e{k}": {"other": 1} for k in range(20)}
    case = Case(bags, [naive.Hit("d0", 1.0)], {"crane": 2.0})
    result = make("Bo1").expand(expanded(case, "RM3"), case.context)
    assert {term.term: term.origin for term in result.terms} == {"crane": "query + RM3 + Bo1", "whale": "RM3 + Bo1"}


def test_axiomatic_draws_the_same_documents_whatever_was_asked_before():
    bags = {f"d{k:04}": {"crane": 1, f"w{chr(97 + k % 26)}": 1} if k % 3 else {"nest": 1} for k in range(2000)}
    hits = [naive.Hit(f"d{k:04}", 1.0) for k in range(1, 20, 3)]
    case = Case(bags, hits, {"crane": 1.0})
    first = expanded(case, "Axiomatic", r=5, n=10)
    other = Case(bags, hits, {"nest": 1.0})
    assert expanded(other, "Axiomatic", r=5, n=10) != first == expanded(case, "Axiomatic", r=5, n=10)
    pools = [
        make("Axiomatic", r=5, n=10, seed=seed)._pool(["crane"], case.context.docs[:5], case.context) for seed in (1, 2)
    ]
    assert all(len(set(pool.tolist())) == 50 and pool[:5].tolist() == [1, 4, 7, 10, 13] for pool in pools)
    assert set(pools[0].tolist()) != set(pools[1].tolist())


# Parameters.


def test_an_expander_is_printed_by_what_differs():
    assert str(make("RM3", docs=10, terms=20)) == "RM3(terms=20)"
    assert str(make("Bo1", beta=1)) == "Bo1(beta=1)" and str(make("Axiomatic", m=20)) == "Axiomatic"


def test_a_parameter_without_meaning_is_refused():
    with pytest.raises(InputError, match="RM3: filter has no effect with variant=terrier; leave it out."):
        make("RM3", variant="terrier", filter=False)


def test_the_expanders_of_every_profile_can_be_made():
    made = {
        (profile.name, name): str(REGISTRY.build("expander", name, dict(params)))
        for profile in PROFILES.values()
        for name, params in profile.defaults.items()
        if name in NAMES
    }
    assert made["terrier", "RM3"] == "RM3(docs=3, original=0.6, variant=terrier)"
    assert made["terrier", "Rocchio"] == "Rocchio(docs=3, beta=0.4)"
    # Sublex's own defaults are Anserini's and, where Anserini has none, Terrier's.
    assert all(
        text == name
        for (profile, name), text in made.items()
        if profile == "anserini" or name in ("Bo1", "KL", "SDM", "FDM")
    )


def test_the_page_documents_every_expander_and_parameter():
    page = (Path(__file__).parents[1] / "docs/expanders.md").read_text(encoding="utf-8")
    assert {"RM3", "Bo1", "KL", "Rocchio", "Axiomatic", "BM25PRF", "Sharp", "Burst", "SDM", "FDM"} == set(NAMES)
    for name in NAMES:
        params = REGISTRY.find("expander", name).params
        assert all(param.help and param.stage == "query" for param in params)
        assert all(f"| {param.help} |" in page for param in params), name
        defaults = (shortest(p.default) if isinstance(p.default, float) else p.default for p in params)
        shown = (p.name if d is None else f"{p.name} = {print_value(d)}" for p, d in zip(params, defaults, strict=True))
        assert f"| `{name}` | {', '.join(shown)} |" in page
