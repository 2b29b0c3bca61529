"""Tests of the rankers.

Each ranker equals its scalar reference and numbers from outside; scores are finite and monotone where they must be;
explanations add up; printed forms parse back; wrong parameters are refused.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import product
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublex.contracts.base import DocStats, Explanation, FieldStatistics, Param, Statistics, TermStats
from sublex.display.components import component
from sublex.errors import SublexError
from sublex.language import plugins
from sublex.language.profiles import PROFILES
from sublex.rankers.bm25 import BM25
from sublex.rankers.lucene_lengths import round_lengths
from sublex.rankers.tfidf import TFIDF

REGISTRY = plugins.load()
BUILT_IN = [name for name in REGISTRY.names("ranker") if REGISTRY.find("ranker", name).plugin == "rankers"]
# The rankers that weigh fields get mappings, so they have tests of their own.
FIELD_NAMES = ("BM25F", "PL2F")
NAMES = [name for name in BUILT_IN if name not in FIELD_NAMES]
SCHEMES = [
    f"{''.join(d)}.{''.join(q)}" for d, q in product(product("nlLdb", "ntp", "ncu"), [("l", "t", "c"), ("a", "p", "u")])
]
# Rankers whose scores never fall when the term frequency grows, and never rise when the document grows.
MONOTONE = (
    "BM25", "BM25(variant=atire)", "BM25(variant=plus)", "BM25(variant=L)", "BM25(variant=pisa)", "BM25(variant=whoosh)", "TFIDF", "InL2",
    "IneB2", "LGD", "SPL", "DFI", "DFI(measure=saturated)", "DFI(measure=chisquared)", "DirichletLM", "DirichletLM(variant=published)",
    "JelinekMercerLM", "HiemstraLM", "CoordinateMatch", "DFR(basic=G, after=none)",
)  # fmt: skip


def make(text: str):
    return REGISTRY.make("ranker", text)


def score(ranker, f: naive.Facts, squares: float = 1.0) -> float:
    """Return the score of one posting, computed by arrays of one place as in the engine."""
    doc = DocStats(np.array([f.length]), np.array([f.unique]), np.array([squares]))
    scores = ranker.score(np.array([f.tf], dtype=np.float64), doc, TermStats(f.df, f.cf), statistics(f))
    assert scores.shape == (1,) and scores.dtype == np.float64
    return float(scores[0])


def statistics(f: naive.Facts) -> Statistics:
    return Statistics(f.docs, f.tokens, f.postings)


@st.composite
def facts(draw: st.DrawFn) -> naive.Facts:
    """Draw consistent statistics, with hapaxes, words in every document and documents of one word among them."""
    some = st.one_of(st.integers(0, 5), st.integers(0, 10_000_000))
    tf = draw(st.one_of(st.integers(1, 5), st.integers(1, 100_000)))
    df = 1 + draw(some)
    cf = tf + (df - 1) + (draw(some) if df > 1 else 0)
    length = tf + draw(some)
    docs = df + draw(some)
    tokens = length + (cf - tf) + draw(some)
    unique = draw(st.integers(1, 1 + length - tf))
    return naive.Facts(float(tf), float(length), float(unique), df, cf, docs, tokens, df + draw(some))


def values(param: Param) -> st.SearchStrategy:
    """Return a strategy for any value of a parameter, the ends of its range included."""
    if param.name == "smart":
        return st.sampled_from(SCHEMES)
    if param.type is str:
        return st.sampled_from(param.range)
    low, high = param.range
    return st.one_of(st.sampled_from((low, high)), st.floats(low, min(high, low + 10)), st.floats(low, high))


@st.composite
def rankers(draw: st.DrawFn, names=tuple(NAMES), without: tuple[str, ...] = ()):
    """Draw a ranker with some of its parameters set."""
    registration = REGISTRY.find("ranker", draw(st.sampled_from(names)))
    chosen = {p.name: draw(values(p)) for p in registration.params if p.name not in without and draw(st.booleans())}
    if chosen.get("variant", "lucene") not in ("plus", "L"):
        chosen.pop("delta", None)
    for idle in ("k1", "b") if "smart" in chosen else ("slope", "base"):
        chosen.pop(idle, None)
    return REGISTRY.build("ranker", registration.name, chosen)


# Comparison with the references.


def test_every_ranker_has_a_reference():
    assert set(NAMES) == set(naive.RANKERS) and set(FIELD_NAMES) == set(naive.FIELD_RANKERS)


@given(rankers(without=("smart", "k3", "lengths")), facts())
def test_a_ranker_equals_its_reference(ranker, f):
    chosen = {p.name: getattr(ranker, p.name) for p in REGISTRY.find("ranker", type(ranker).__name__).params}
    chosen = {k: v for k, v in chosen.items() if k not in ("smart", "slope", "base", "k3", "lengths")}
    expected = naive.RANKERS[type(ranker).__name__](f, **chosen)
    # The parts of Bose-Einstein are as large as the collection and nearly cancel, which costs digits.
    lost = 1e-13 * (f.docs + f.cf) * max(1, f.cf / f.df) if getattr(ranker, "basic", "") == "BE" else 0
    assert score(ranker, f) == pytest.approx(expected, rel=1e-7, abs=1e-9 + lost)


WORDS = st.dictionaries(st.sampled_from("abcdefg"), st.integers(1, 9), max_size=6)


@given(
    WORDS.filter(bool),
    st.lists(WORDS, min_size=1, max_size=6),
    st.sampled_from(SCHEMES),
    st.sampled_from((2, math.e, 10)),
)
def test_smart_equals_its_reference(query, docs, scheme, base):
    result = smart_scores(query, docs, TFIDF(smart=scheme, base=base))
    assert result == pytest.approx(naive.smart(query, docs, scheme, base=base), rel=1e-9, abs=1e-12)


def smart_scores(query, docs, ranker) -> list[float]:
    """Return the scores of documents, computed in the engine's steps.

    The norm of a document is the sum of `norm_part` over its terms; its score is the sum of weight times score over the
    query's terms.
    """
    df = Counter(term for doc in docs for term in doc)
    cf = sum(map(Counter, docs), Counter())
    collection = Statistics(len(docs), sum(cf.values()), sum(df.values()))
    length = np.array([float(sum(doc.values())) for doc in docs])
    unique = np.array([float(len(doc)) for doc in docs])
    norm = np.zeros(len(docs))

    def postings(term, norm=None):
        rows = [i for i, doc in enumerate(docs) if term in doc]
        tf = np.array([float(docs[i][term]) for i in rows])
        return rows, (tf, DocStats(length[rows], unique[rows], norm), TermStats(df[term], cf[term]), collection)

    if ranker.norm_part:
        for term in df:
            rows, arguments = postings(term)
            norm[rows] += ranker.norm_part(*arguments)
    terms = [term for term in query if df[term]]
    stats = TermStats(np.array([df[t] for t in terms]), np.array([cf[t] for t in terms]))
    weights = ranker.weight(np.array([float(query[t]) for t in terms]), stats, collection)
    scores = np.zeros(len(docs))
    for term, weight in zip(terms, weights, strict=True):
        rows, (tf, doc, stats, collection) = postings(term)
        scores[rows] += weight * ranker.score(tf, doc._replace(norm=norm[rows]), stats, collection)
    return scores.tolist()


# Comparison with numbers from the textbook, from hand, and from Lucene.


def test_smart_gives_the_numbers_of_the_textbook():
    # Manning, Raghavan and Schütze 2008, example 6.4: lnc.ltc, N = 1,000,000, the query "best car insurance", and a document
    # with auto 1, car 1, insurance 2. The document's weights .52 and .68, times the query's .52 and .78, give
    # 0.27 + 0.53 = 0.8.
    ranker = TFIDF(smart="lnc.ltc", base=10)
    collection = Statistics(1_000_000, 100_000_000, 50_000_000)
    df = np.array([50_000, 10_000, 1_000])
    weights = ranker.weight(np.ones(3), TermStats(df, df), collection)
    assert weights.round(2).tolist() == [0.34, 0.52, 0.78]
    tf = np.array([1.0, 1.0, 2.0])
    doc = DocStats(np.full(3, 4.0), np.full(3, 3.0))
    squares = ranker.norm_part(tf, doc, TermStats(5_000, 5_000), collection).sum()
    scores = ranker.score(tf, doc._replace(norm=np.full(3, squares)), TermStats(1_000, 1_000), collection)
    assert scores.round(2).tolist() == [0.52, 0.52, 0.68]
    assert (weights[1:] * scores[1:]).round(2).tolist() == [0.27, 0.53]
    assert round(float((weights[1:] * scores[1:]).sum()), 1) == 0.8


def test_tfidf_worked_by_hand():
    # A document of mean length: 1.2 * 3 / (3 + 1.2) * log2(7 / 1 + 1) = 0.857142... * 3.
    assert score(make("TFIDF"), naive.Facts(3, 10, 5, 1, 3, 7, 70, 40)) == pytest.approx(18 / 7, rel=1e-12)


def test_pl2_worked_by_hand():
    # A document of mean length and c = 1, so that tfn = tf = 1; cf / N = 1/4:
    # (1 * log2 4 + (1/4 - 1) * 1.4426950 + 0.5 * log2(6.2831853)) / 2 = (2 - 1.0820213 + 1.3257481) / 2.
    assert score(make("PL2"), naive.Facts(1, 10, 8, 2, 2, 8, 80, 60)) == pytest.approx(1.1218634, rel=1e-7)


def test_robertsons_bm25_worked_by_hand():
    # A document of mean length: ln((9 - 1 + 0.5) / (1 + 0.5)) * 1 / (1 + 1.2) = ln(17/3) / 2.2.
    assert score(make("BM25(variant=robertson)"), naive.Facts(1, 10, 8, 1, 1, 9, 90, 60)) == pytest.approx(
        math.log(17 / 3) / 2.2, rel=1e-12
    )


def test_dirichlet_worked_by_hand():
    # ln(1 + 2 / (100 * 1/100)) + ln(100 / (50 + 100)) = ln 3 + ln(2/3) = ln 2.
    f = naive.Facts(2, 50, 30, 5, 10, 20, 1000, 600)
    assert score(make("DirichletLM(mu=100, variant=published)"), f) == pytest.approx(math.log(2), rel=1e-12)


# Scores by the Similarity classes of Lucene 9.9.1, from the jar of pyserini 1.6.0, for a term with df 9 and cf 11 in 252
# documents of 18,000 words: tf 3 of 90 words, tf 2 of 72, tf 1 of 1,000. In these rankers Lucene's formulas are Sublex's.
LUCENE = {
    "BM25(k1=0.9, b=0.4)": (2.471756935119629, 2.2612698078155518, 0.5049877166748047),
    "BM25": (2.2333271503448486, 2.046705961227417, 0.23959732055664062),
    "DirichletLM": (1.6204524040222168, 1.3168100118637085, 0.23120905458927155),
    "JelinekMercerLM": (6.133946418762207, 5.929644584655762, 2.689225673675537),
    "InL2(c=0.1)": (1.195558786392212, 1.0152333974838257, 0.048898741602897644),
    "DFR(basic=Ine)": (3.230659246444702, 2.985422134399414, 0.4119560122489929),
}


@pytest.mark.parametrize("text", LUCENE)
def test_lucene_gives_the_same_scores(text):
    length = round_lengths(np.array([90, 72, 1000])).astype(np.float64)
    doc = DocStats(length, np.ones(3))
    result = make(text).score(np.array([3.0, 2.0, 1.0]), doc, TermStats(9, 11), Statistics(252, 18_000, 9_000))
    assert result == pytest.approx(LUCENE[text], rel=1e-6)


# Lengths by the same Lucene: SmallFloat.byte4ToInt(SmallFloat.intToByte4(length)).
ONE_BYTE = {
    0: 0, 1: 1, 23: 23, 24: 24, 39: 39, 40: 40, 41: 40, 42: 42, 43: 42, 55: 54, 56: 56, 58: 56, 60: 60, 63: 60, 64: 64, 72: 72,
    100: 96, 255: 248, 256: 248, 1000: 984, 12345: 12312, 100_000: 98328, 2**31 - 1: 2013265944,
}  # fmt: skip


@pytest.mark.slow
def test_lengths_in_one_byte_are_lucenes():
    for kind in (np.int32, np.int64):
        rounded = round_lengths(np.array(list(ONE_BYTE), dtype=kind))
        assert rounded.dtype == kind and rounded.tolist() == list(ONE_BYTE.values())
    assert len(set(round_lengths(np.arange(3_000_000)).tolist())) < 256


@given(st.integers(0, 2**31 - 1))
def test_a_length_in_one_byte_is_at_most_an_eighth_short_and_stays_when_taken_again(length):
    rounded = int(round_lengths(np.array(length)))
    assert length - length / 8 <= rounded <= length and int(round_lengths(np.array(rounded))) == rounded


# Rankers with fields.

FIELDS = ("title", "text", "abstract")


def score_by_field(ranker, f: naive.FieldFacts) -> float:
    """Return the score of one posting by a ranker with fields, computed by arrays of one place as in the engine."""
    tf, length = ({field: np.array([float(own[field])]) for field in ranker.fields} for own in (f.tf, f.length))
    collection = FieldStatistics(f.docs, 10 * f.docs, 5 * f.docs, {field: f.mean[field] for field in ranker.fields})
    scores = ranker.score(tf, DocStats(length, np.ones(1)), TermStats(float(f.df), float(f.cf)), collection)
    assert scores.shape == (1,) and scores.dtype == np.float64
    return float(scores[0])


@st.composite
def field_facts(draw: st.DrawFn) -> naive.FieldFacts:
    """Draw consistent statistics. Fields without the term, empty fields and fields empty everywhere are among them."""
    tf = {field: draw(st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 10_000))) for field in FIELDS}
    length = {field: tf[field] + draw(st.one_of(st.just(0), st.integers(0, 100_000))) for field in FIELDS}
    df = 1 + draw(st.one_of(st.integers(0, 5), st.integers(0, 1_000_000)))
    docs = df + draw(st.one_of(st.integers(0, 5), st.integers(0, 10_000_000)))
    mean = {field: (length[field] + draw(st.integers(0, 100)) * (docs - 1)) / docs for field in FIELDS}
    return naive.FieldFacts(tf, length, mean, df, df - 1 + max(sum(tf.values()), 1), docs)


@st.composite
def field_rankers(draw: st.DrawFn):
    """Draw a ranker with fields: with a number for each field, or one for all."""
    registration = REGISTRY.find("ranker", draw(st.sampled_from(FIELD_NAMES)))
    fields = tuple(draw(st.lists(st.sampled_from(FIELDS), min_size=1, unique=True)))
    chosen = {"fields": fields}
    for p in registration.params:
        if p.name in ("fields", "lengths", "k3") or draw(st.booleans()):
            continue
        number = values(p)
        if p.type is object:
            number = st.one_of(number, st.tuples(*[number] * len(fields)))
        chosen[p.name] = draw(number)
    if chosen.get("variant", "lucene") not in ("plus", "L"):
        chosen.pop("delta", None)
    return REGISTRY.build("ranker", registration.name, chosen)


@given(field_rankers(), field_facts())
def test_a_ranker_with_fields_equals_its_reference(ranker, f):
    chosen = {p.name: getattr(ranker, p.name) for p in REGISTRY.find("ranker", type(ranker).__name__).params}
    chosen = {k: v for k, v in chosen.items() if k not in ("k3", "lengths")}
    expected = naive.FIELD_RANKERS[type(ranker).__name__](f, **chosen)
    assert score_by_field(ranker, f) == pytest.approx(expected, rel=1e-7, abs=1e-9)


@given(rankers(names=("BM25",), without=("k3", "lengths")), facts())
def test_bm25f_of_one_field_with_all_words_is_bm25(ranker, f):
    f = f._replace(tf=min(f.tf, f.length))
    own = {p.name: getattr(ranker, p.name) for p in REGISTRY.find("ranker", "BM25").params}
    with_field = REGISTRY.build("ranker", "BM25F", own | {"fields": ("text",)})
    one = naive.FieldFacts({"text": f.tf}, {"text": f.length}, {"text": f.mean}, f.df, f.cf, f.docs)
    assert score_by_field(with_field, one) == pytest.approx(score(ranker, f), rel=1e-9, abs=1e-12)


def test_bm25f_worked_by_hand():
    # title: 2 * 1 / (1 - .5 + .5 * 4 / 8) = 8/3. text: 2 / (1 - .75 + .75 * 120 / 60) = 8/7. Their sum is 80/21, and
    # 80/21 / (80/21 + 1.2) = 400/526. The idf is ln(1 + (99 - 4 + .5) / (4 + .5)) = ln(200/9).
    f = naive.FieldFacts({"title": 1, "text": 2}, {"title": 4, "text": 120}, {"title": 8.0, "text": 60.0}, 4, 7, 99)
    expected = math.log(200 / 9) * 400 / 526
    assert score_by_field(make("BM25F(weights=[2, 1], b=[0.5, 0.75])"), f) == pytest.approx(expected, rel=1e-12)


def test_pl2f_worked_by_hand():
    # Terrier's `PerFieldNormWeightingModel` with `PL` and `Normalisation2` for w.0=1, c.0=1, w.1=0.5, c.1=3: a title of
    # mean length adds 1 * 1 * log2(1 + 1) = 1, a text of mean length 0.5 * 3 * log2(1 + 3) = 3, so that tfn is 4. With
    # f = 8 / 32: (4 * log2(1 / f) + f * log2 e + 0.5 * log2(2 pi 4) + 4 * (log2 4 - log2 e)) / (4 + 1)
    # = (8 + 0.3606738 + 2.3257481 + 8 - 5.7707802) / 5 = 12.9156417 / 5.
    f = naive.FieldFacts({"title": 1, "text": 3}, {"title": 9, "text": 70}, {"title": 9.0, "text": 70.0}, 5, 8, 32)
    assert score_by_field(make("PL2F(weights=[1, 0.5], c=[1, 3])"), f) == pytest.approx(2.58312834, rel=1e-8)


@given(field_rankers(), field_facts())
def test_a_score_by_fields_is_finite_and_0_without_the_fields(ranker, f):
    assert math.isfinite(score_by_field(ranker, f))
    assert score_by_field(ranker, f._replace(tf=dict.fromkeys(FIELDS, 0))) == 0


@given(field_rankers(), field_facts())
def test_the_explanation_of_a_score_by_fields_adds_up(ranker, f):
    collection = FieldStatistics(f.docs, 10 * f.docs, 5 * f.docs, f.mean)
    tree = ranker.explain(f.tf, DocStats(f.length, 1.0), TermStats(f.df, f.cf), collection)
    assert tree.value == pytest.approx(score_by_field(ranker, f), rel=1e-9, abs=1e-12)
    check_sums(tree)


def test_the_explanation_shows_each_field_with_its_evidence():
    f = naive.FieldFacts({"title": 1, "text": 2}, {"title": 4, "text": 120}, {"title": 8.0, "text": 60.0}, 4, 7, 99)
    tree = make("BM25F(weights=[2, 1], b=[0.5, 0.75])").explain(
        f.tf, DocStats(f.length, 1.0), TermStats(f.df, f.cf), FieldStatistics(99, 900, 500, f.mean)
    )
    title, text = tree.parts[1].parts[0].parts
    assert title.label == "title: 1 of the field's 4 words (mean 8)" and title.value == pytest.approx(8 / 3)
    assert text.label == "text: 2 of the field's 120 words (mean 60)" and text.value == pytest.approx(8 / 7)
    assert dict(title.evidence) == {
        "formula": "w tf / (1 - b + b length / mean)", "tf": 1, "length": 4, "mean_length": 8.0, "w": 2, "b": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("BM25F(fields=[])", "fields=[] has to name one field or more"),
        ("BM25F(fields=[title, title])", "fields=[title, title] names a field twice"),
        ("BM25F(fields=title)", "fields=title has to be a list"),
        ("BM25F(fields=[1])", "fields=[1] has to name one field or more"),
        ("BM25F(b=[0.5])", "b=[0.5] has 1 number for 2 fields, [title, text]; write one for each field, or one number"),
        ("PL2F(weights=[1, 2, 3])", "weights=[1, 2, 3] has 3 numbers for 2 fields"),
        ("BM25F(b=[0.5, 2])", "b=2 lies outside 0 to 1"),
        ("BM25F(b=[true, 1])", "b=[true, 1] has to be a number, or a list of numbers"),
        ("BM25F(delta=1)", "delta has no effect with variant=lucene"),
        ("PL2F(c=0)", "c=0 lies outside"),
    ],
)
def test_wrong_parameters_of_fields_are_answered_in_one_sentence(text, sentence):
    with pytest.raises(SublexError, match=re.escape(sentence)):
        make(text)


def test_the_parameters_of_fields_are_shown_as_a_number_or_a_list():
    lines = [line.text.strip() for line in component(REGISTRY, "BM25F").lines]
    assert "weights=1.0 (number or list; 0 to 1,000)" in lines and "b=0.75 (number or list; 0 to 1)" in lines


@given(field_rankers())
def test_the_printed_form_of_a_ranker_with_fields_parses_back(ranker):
    assert make(str(ranker)) == ranker


# Properties.


@given(rankers(), facts(), st.floats(1e-3, 1e3))
def test_a_score_is_finite_whatever_the_statistics(ranker, f, fraction):
    doc = DocStats(np.full(2, f.length), np.full(2, f.unique), np.array([0.0, 1e12]))
    result = ranker.score(np.array([f.tf, fraction]), doc, TermStats(f.df, f.cf), statistics(f))
    assert np.isfinite(result).all()
    # A length rounded as Lucene rounds it may be less than the term frequency.
    short = doc._replace(length=np.maximum(round_lengths(doc.length.astype(np.int64)), 1).astype(np.float64))
    assert np.isfinite(ranker.score(np.array([f.tf, fraction]), short, TermStats(f.df, f.cf), statistics(f))).all()
    if ranker.norm_part:
        assert np.isfinite(
            ranker.norm_part(np.array([f.tf, fraction]), doc, TermStats(f.df, f.cf), statistics(f))
        ).all()


@given(rankers(), facts(), st.integers(1, 1000))
def test_a_score_depends_on_what_the_ranker_says_that_it_reads_and_on_nothing_else(ranker, f, other):
    assert set(ranker.reads) <= {"length", "unique", "norm"}
    others = f._replace(length=f.length if "length" in ranker.reads else f.length + other)
    others = others._replace(unique=f.unique if "unique" in ranker.reads else f.unique + other)
    assert score(ranker, others, 1.0 if "norm" in ranker.reads else 1.0 + other) == score(ranker, f)


@pytest.mark.parametrize(
    ("text", "reads"), [("BM25", {"length"}), ("TFIDF", {"length"}), ("TFIDF(smart=lnc.ltc)", {"length", "unique", "norm"})]
)  # fmt: skip
def test_documents_of_one_length_are_scored_together_where_that_is_all_a_ranker_reads(text, reads):
    assert set(make(text).reads) == reads


@given(rankers(names=("BM25", "TFIDF")), facts(), st.lists(st.one_of(st.just(0.0), st.floats(-100, 100)), max_size=5))
def test_a_weight_is_finite_and_keeps_its_sign(ranker, f, qtf):
    several = TermStats(np.full(len(qtf), f.df), np.full(len(qtf), f.cf))
    result = ranker.weight(np.array(qtf, dtype=np.float64), several, statistics(f))
    assert result.shape == (len(qtf),) and np.isfinite(result).all()
    assert (result * np.array(qtf) >= 0).all()


def test_k3_saturates_repetitions_in_the_query():
    one, several = TermStats(np.array([3]), np.array([3])), np.array([1.0, 2.0, 8.0])
    assert make("BM25(k3=8)").weight(several, one, Statistics(9, 90, 50)).tolist() == [1.0, 1.8, 4.5]
    assert make("BM25").weight(several, one, Statistics(9, 90, 50)).tolist() == [1.0, 2.0, 8.0]


@pytest.mark.parametrize("text", MONOTONE)
def test_a_score_grows_with_the_frequency_and_falls_with_the_length(text):
    ranker = make(text)

    @given(facts(), st.integers(1, 10_000))
    def check(f, more):
        f = f._replace(cf=f.cf + more, tokens=f.tokens + 2 * more)
        least = -1e-9 * max(1, abs(score(ranker, f)))
        longer = f._replace(length=f.length + more)
        assert score(ranker, longer) - score(ranker, f) <= -least
        assert score(ranker, longer._replace(tf=f.tf + more)) - score(ranker, longer) >= least

    check()


def check_sums(node: Explanation) -> None:
    """Check for every node of an explanation that its parts make its value."""
    counted = [part.value for part in node.parts if part.kind != "evidence"]
    assert node.label and math.isfinite(node.value)
    if counted and node.kind == "sum":
        assert sum(counted) == pytest.approx(node.value, abs=1e-9 * max(map(abs, counted)))
    elif counted and node.kind != "evidence":
        assert node.kind == "product" and math.prod(counted) == pytest.approx(node.value, rel=1e-9)
    for part in node.parts:
        check_sums(part)


@given(rankers(), facts())
def test_an_explanation_adds_up_to_the_score(ranker, f):
    doc = DocStats(f.length, f.unique, 2.0)
    explained = ranker.explain(f.tf, doc, TermStats(f.df, f.cf), statistics(f))
    assert explained.value == pytest.approx(score(ranker, f, 2.0), rel=1e-9, abs=1e-9)
    check_sums(explained)
    assert explained.label == str(ranker)


def test_an_explanation_is_written_for_people():
    doc = DocStats(90.0, 60.0)
    explained = make("BM25(k1=0.9)").explain(3, doc, TermStats(9, 11), Statistics(252, 18_000, 9_000))
    assert explained.label == "BM25(k1=0.9)" and explained.kind == "product"
    assert [part.label for part in explained.parts] == [
        "rarity: in 9 of 252 documents",
        "frequency: 3 of the document's 90 words (mean 71.43)",
    ]
    assert explained.parts[0].evidence["formula"] == "ln(1 + (N - df + 0.5) / (df + 0.5))"


def test_lucenes_floor_is_a_part_of_its_own():
    f = naive.Facts(1, 5000, 900, 200, 90_000, 252, 180_000, 90_000)
    explained = make("DirichletLM").explain(1, DocStats(f.length, f.unique), TermStats(f.df, f.cf), statistics(f))
    assert explained.value == score(make("DirichletLM"), f) == 0 and explained.parts[-1].label == "raised to 0"
    assert score(make("DirichletLM(variant=published)"), f) < 0


# Printed forms and parameters.


@given(rankers())
def test_a_printed_form_parses_back(ranker):
    assert (
        make(str(ranker)) == ranker
        and str(make(str(ranker))) == str(ranker)
        and hash(make(str(ranker))) == hash(ranker)
    )


def test_equal_numbers_print_alike():
    assert str(BM25(k1=1)) == str(BM25(k1=1.0)) == str(make("BM25(k1=1)")) == "BM25(k1=1)"
    assert str(make("PL2(c=1, lengths=lucene)")) == "PL2(lengths=lucene)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("BM52", "No ranker BM52; did you mean BM25? There are: BM25, BM25F,"),
        ("BM25(k4=1)", "BM25 has no parameter k4; it takes k1, b, variant, k3, delta, lengths."),
        ("BM25(b=1.5)", "BM25: b=1.5 lies outside 0 to 1."),
        ("BM25(b=nan)", "BM25: b=nan has to be a number."),
        ("BM25(k1=many)", "BM25: k1=many has to be a number."),
        ("BM25(variant=lucen)", "BM25: variant=lucen is unknown; did you mean lucene? There are: lucene, "),
        ("BM25(delta=1)", "BM25: delta has no effect with variant=lucene; leave it out."),
        ("PL2(c=0)", "PL2: c=0 lies outside 0.001 to 10000."),
        ("PL2(basic=P)", "PL2 has no parameter basic; it takes c, lengths."),
        ("TFIDF(smart=ltc)", "TFIDF: smart=ltc is no scheme such as lnc.ltc; each part is a letter of n l L d b (in queries also a),"),
        ("TFIDF(smart=anc.ltc)", "TFIDF: smart=anc.ltc is no scheme such as lnc.ltc;"),
        ("TFIDF(smart=lnc.ltc, b=0.5)", "TFIDF: b has no effect with smart=lnc.ltc; leave it out."),
        ("TFIDF(slope=0.5)", "TFIDF: slope has no effect without smart; leave it out."),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_answered_in_one_sentence(text, sentence):
    with pytest.raises(SublexError) as caught:
        make(text)
    assert str(caught.value).startswith(sentence)


def test_python_gets_the_same_answers():
    with pytest.raises(SublexError, match="BM25: b=2 lies outside 0 to 1."):
        BM25(b=2)


def test_pl2_is_a_divergence_from_randomness():
    f = naive.Facts(3, 90, 60, 9, 11, 252, 18_000, 9_000)
    assert score(make("PL2(c=7)"), f) == score(make("DFR(c=7)"), f)
    assert score(make("HiemstraLM(lam=0.25)"), f) == pytest.approx(
        score(make("JelinekMercerLM(lam=0.75, variant=published)"), f), rel=1e-12
    )


def test_the_rankers_of_every_profile_can_be_made():
    for profile in PROFILES.values():
        assert profile.ranker.removeprefix("rankers:") in NAMES
        for name, params in profile.defaults.items():
            if name in NAMES:
                assert REGISTRY.build("ranker", name, dict(params))
    assert str(REGISTRY.build("ranker", "BM25", dict(PROFILES["anserini"].defaults["BM25"]))) == (
        "BM25(k1=0.9, b=0.4, lengths=lucene)"
    )


def test_every_ranker_and_parameter_says_what_it_does():
    page = (Path(__file__).parents[1] / "docs/rankers.md").read_text(encoding="utf-8")
    for name in NAMES:
        params = REGISTRY.find("ranker", name).params
        assert params[-1].name == "lengths" and all(p.help and p.stage == "query" for p in params)
        row = re.search(rf"^\| `{name}` \|([^|]*)\|", page, re.MULTILINE)
        named = [part.split(" ")[0] for part in re.split("[;,] ", row[1].strip())] if row else ["no row"]
        assert [p.name for p in params[:-1]] == [word for word in named if word != "–"]
        assert all(f"| {p.help} |" in page for p in params), name
