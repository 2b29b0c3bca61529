"""Tests of filters: hits are those of the complete ranking that pass, filters reach the right stages, masks ask once."""

from __future__ import annotations

import pickle
import sys
import types
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import WORDS, texts
from strategies import examples

import sublex
from sublex.contracts.base import Document, Param, Query, QueryTerm
from sublex.contracts.hookspecs import hookimpl
from sublex.errors import IndexProblem, InputError, PluginError
from sublex.language import plugins
from sublex.pipeline.index import Index
from sublex.pipeline.stages.cached import Cache, cached
from sublex.pipeline.stages.mask import Mask, Masks
from sublex.pipeline.stages.stage import Scorer, State
from sublex.retrieval.searcher import Among

# The documents that the filter `chosen(n)` keeps, by n, and the documents about which each filter was asked.
CHOSEN: dict[int, set[int]] = {}
ASKED: dict[int, Counter[int]] = {}


class Chosen:
    """Keeps documents by their numbers alone."""

    per_document = True

    def __init__(self, n):
        self.n = n

    def keep(self, docs, context):
        assert not len(context.docs) and docs.dtype == np.int32
        ASKED.setdefault(self.n, Counter()).update(docs.tolist())
        return np.isin(docs, list(CHOSEN[self.n]))


class Upper:
    """Keeps the better half of the hits, so it looks at more than a document."""

    def keep(self, docs, context):
        assert docs.tolist() == context.docs.tolist()
        return np.arange(len(docs)) < (len(docs) + 1) // 2


class Titled:
    """Keeps the documents with a title, which it reads from the index."""

    per_document = True

    def keep(self, docs, context):
        return np.array([bool(document.title) for document in context.documents(docs)], bool)


class Odd:
    per_document = "yes"

    def keep(self, docs, context):
        raise AssertionError("It must not be asked.")


@hookimpl
def register_filters(register):
    register("chosen", Chosen, [Param("n", int, ...)])
    for made in (Upper, Titled, Odd):
        register(made.__name__.lower(), made)


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """A function that loads the installed plugins and the filters of this file."""
    module = types.ModuleType("plugin_of_filters")
    vars(module).update({"sublex_api": 3, "register_filters": register_filters})
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        points = [
            *plugins.entry_points(group=plugins.GROUP),
            EntryPoint("filters", module.__name__, plugins.GROUP),
        ]
        registry = plugins.Registry(points)
        yield lambda: registry


@pytest.fixture(scope="module")
def index(tmp_path_factory, load):
    """An index of two segments with deleted documents, and documents with equal scores."""
    path = tmp_path_factory.mktemp("filters") / "index"
    built = sublex.build([Document(f"d{k:03}", text) for k, text in enumerate(texts(150, 11))], path)
    built.add([Document(f"e{k:03}", text, "A title") for k, text in enumerate([*texts(90, 12), *texts(60, 11)])])
    built.delete([f"d{k:03}" for k in range(0, 150, 9)])
    built.fit("lsi(e=8)")
    return Index(path, load_registry=load)


def chosen(docs) -> str:
    """Return the expression of a filter that keeps some documents."""
    CHOSEN[len(CHOSEN)] = {int(doc) for doc in docs}
    return f"chosen({len(CHOSEN) - 1})"


def complete(index, query, expression):
    """Return the complete ranking of an expression, without a filter."""
    return index.search(query, expression, len(index))


def filtered(hits, docs, k=None):
    """Return the docnos and the scores of those hits that are among some documents, the first k of them."""
    pairs = zip(hits.docs.tolist(), hits.docnos, hits.scores.tolist(), strict=True)
    return [(docno, score) for doc, docno, score in pairs if doc in docs][:k]


def as_pairs(hits):
    return list(zip(hits.docnos, hits.scores.tolist(), strict=True))


weights = st.dictionaries(
    st.sampled_from([*WORDS[:12], "absent"]), st.sampled_from([1.0, 2.0, 0.5, -1.0, -0.3]), min_size=1, max_size=5
)
SCORERS = ["BM25", "PL2", 'TFIDF(smart="lnc.ltc")', "CoordinateMatch", "lsi(e=8)"]


@pytest.fixture(scope="module")
def stepped(tmp_path_factory):
    """An index of two segments, in which words are in 1 to 2,400 of the documents, some of them deleted."""
    path = tmp_path_factory.mktemp("stepped") / "index"
    lines = [" ".join(f"n{step}" for step in (1, 2, 7, 60, 300, 1100, 2399) if not k % step) for k in range(2400)]
    index = sublex.build([Document(f"d{k:04}", line) for k, line in enumerate(lines[:1500])], path)
    index.add([Document(f"d{k:04}", line) for k, line in enumerate(lines[1500:], 1500)])
    index.delete([f"d{k:04}" for k in range(0, 2400, 77)])
    return index


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 5, 40])
def test_few_documents_that_pass_are_ranked_whether_words_are_rare_or_frequent(stepped, size):
    chance = np.random.default_rng(size)
    query = {"n1": 0.5, "n2": 1.0, "n7": 1.0, "n60": -0.5, "n300": 1.0, "n1100": 2.0, "n2399": 1.0}
    for _ in range(3 if size > 1 else 20):
        # Documents with rare words, and the last document, are among those that pass.
        kept = {
            2399,
            2200,
            *chance.choice(np.arange(0, 2400, 60), size).tolist(),
            *chance.integers(0, 2400, 3).tolist(),
        }
        few = sorted(kept & {*stepped.corpus.docs.tolist()})
        for words in (query, {"n2399": 1.0}, {"n300": 1.0, "n1": 1.0}):
            asked = Query("", tuple(QueryTerm(*term) for term in words.items()))
            answers = np.where(np.isin(np.arange(2400), few), 2, 1).astype(np.uint8)
            assert filtered(complete(stepped, asked, "BM25"), few)
            found = stepped.searcher("BM25").search(words, 10, Among(answers, len(few), np.array(few, np.int32)))
            assert as_pairs(found) == filtered(complete(stepped, asked, "BM25"), few, 10)


@st.composite
def choices(draw, number: int):
    """Return a function from a complete ranking to documents: a share of them, at random, or with high or low scores."""
    share = draw(st.sampled_from([0, 0.003, 0.02, 0.1, 0.3, 0.5, 0.9, 1]))
    how, seed = draw(st.sampled_from(["random", "high", "low", "middle"])), draw(st.integers(0, 2**16))

    def choose(ranking: np.ndarray, live: np.ndarray) -> set[int]:
        rest = np.setdiff1d(live, ranking)
        order = np.concatenate([ranking, rest])
        random = np.random.default_rng(seed)
        size = round(share * len(order))
        match how:
            case "random":
                order = random.permutation(order)
            case "low":
                order = order[::-1]
            case "middle":
                order = np.roll(order, len(order) // 2)
        return set(order[:size].tolist())

    return choose


@given(
    scorer=st.sampled_from(SCORERS),
    terms=weights,
    chooses=st.lists(choices(1), min_size=1, max_size=3),
    at_once=st.lists(st.booleans(), min_size=3, max_size=3),
    k=st.sampled_from([1, 2, 10, 40, 150, 1000]),
)
@settings(max_examples=examples(250))
def test_the_best_documents_that_pass_are_the_first_of_the_complete_ranking_that_pass(
    index, scorer, terms, chooses, at_once, k
):
    query = Query(" ".join(terms), tuple(QueryTerm(term, weight) for term, weight in terms.items()))
    every, live = complete(index, query, scorer), index.corpus.docs
    sets = [choose(every.docs, live) for choose in chooses]
    asked: Counter[int] = Counter()

    def mask(docs, once):
        def keep(wanted):
            asked.update((len(docs), doc) for doc in wanted.tolist())
            return np.isin(wanted, list(docs))

        return Mask(keep, index.snapshot, once)

    masks = tuple(mask(docs, once) for docs, once in zip(sets, at_once, strict=False))
    state = State(query)
    for each in masks:
        state = state.filtered(each)
    hits = index.pipeline(scorer).scorer.start(state).find(k)
    assert as_pairs(hits) == filtered(every, set.intersection(*sets), k)
    assert len(hits) <= k
    if len(sets) == 1 and not at_once[0] and asked:
        # A function is not asked about many more documents than a user would look through.
        enough = [place for place, doc in enumerate(every.docs.tolist(), 1) if doc in sets[0]][k - 1 : k]
        assert len(asked) <= 2 * (enough[0] if enough else len(every)) + k
        assert max(asked.values()) == 1


@pytest.fixture
def sketched(tmp_path, monkeypatch, load):
    """An index in which a representation finds documents by sketches."""
    monkeypatch.setattr("sublex.representations.sketch_files.LEAST_DOCUMENTS", 1)
    built = sublex.build([Document(f"d{k:03}", text) for k, text in enumerate(texts(600, 3))], tmp_path / "index")
    built.fit("lsi(e=8)")
    return Index(built.path, load_registry=load)


@pytest.mark.parametrize("find", ["exact", "approximate"])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.7])
def test_finding_by_sketches_is_exact_among_the_documents_that_pass(sketched, find, share):
    every = complete(sketched, "w1 w7", "lsi(e=8)")
    low = every.docs[round(len(every) * (1 - share)) :]
    random = np.random.default_rng(1).choice(600, round(600 * share), replace=False)
    for docs in (low, random):
        for k in (1, 8, 100):
            hits = sketched.search("w1 w7", f"lsi(e=8, find={find}) >> {chosen(docs)}", k)
            assert as_pairs(hits) == filtered(every, set(docs.tolist()), k)


# What a filter reaches.

TEXT = "w1 w7 w3"


@pytest.fixture(scope="module")
def few(index):
    """Every fifth document."""
    return set(range(2, 300, 5))


@pytest.fixture(scope="module")
def f(index, few):
    return chosen(few)


def scores_of(index, docs, expression) -> dict[str, float]:
    """Return the scores by a ranker of the documents that pass, by docno."""
    return dict(filtered(complete(index, TEXT, expression), docs))


def check(hits, expected):
    """Check that hits have these scores by docno, in the order of scores and docnos."""
    assert dict(as_pairs(hits)) == pytest.approx(dict(expected), rel=1e-5, abs=1e-6)
    assert as_pairs(hits) == sorted(as_pairs(hits), key=lambda pair: (pair[1], pair[0].encode()), reverse=True)


def test_a_search_finds_k_documents_that_pass_however_deep_they_stand(index, f, few):
    every = complete(index, TEXT, "BM25")
    for k in (1, 7, 300):
        assert as_pairs(index.search(TEXT, f"BM25 >> {f}", k)) == filtered(every, few, k)
    last = every.docs[-1]
    hits = index.search(TEXT, f"BM25 >> {chosen([last])}", 10)
    assert hits.docs.tolist() == [last] and hits.scores[0] == every.scores[-1]
    assert not len(index.search(TEXT, f"BM25 >> {chosen([])}", 10))


def test_a_depth_keeps_its_meaning_before_a_filter_and_after_it(index, f, few):
    every = complete(index, TEXT, "BM25")
    assert as_pairs(index.search(TEXT, f"BM25 % 20 >> {f}", 300)) == filtered(every.first(20), few)
    for expression in (f"BM25 >> {f} % 5", f"(BM25 >> {f}) % 5"):
        assert as_pairs(index.search(TEXT, expression, 300)) == filtered(every, few, 5)
    check(
        index.search(TEXT, f"BM25 >> PL2 % 20 >> {f}", 300),
        filtered(complete(index, TEXT, "PL2").first(20), few),
    )
    top = set(every.docs[:20].tolist())
    check(index.search(TEXT, f"BM25 % 20 >> PL2 >> {f}", 300), scores_of(index, few & top, "PL2"))


def test_the_candidates_of_later_stages_are_the_best_that_pass(index, f, few):
    query, every = index.query(TEXT), complete(index, TEXT, "BM25")
    best = set([doc for doc in every.docs.tolist() if doc in few][:9])
    for expression in (f"BM25 >> {f} >> PL2", f"BM25 >> PL2 >> {f}"):
        hits = index.pipeline(expression).scorer.start(State(query, depth=9)).find(300)
        check(hits, scores_of(index, best, "PL2"))


def test_several_filters_combine_wherever_they_stand(index, f, few):
    other = set(range(0, 300, 2))
    g, both = chosen(other), other & few
    for expression in (f"BM25 >> {f} >> {g}", f"BM25 >> {g} >> PL2 >> {f} >> BM25", f"(BM25 >> {f}) % 1000 >> {g}"):
        assert as_pairs(index.search(TEXT, expression, 300)) == filtered(complete(index, TEXT, "BM25"), both)


@pytest.mark.parametrize("how", naive.SCALES)
def test_a_normaliser_sees_only_what_passes(index, f, few, how):
    expected = naive.blend([(1, how, scores_of(index, few, "BM25"), 1000)])
    for expression in (f"{how}(BM25) >> {f}", f"{how}(BM25 >> {f})", f"BM25 >> {how}({f})"):
        check(index.search(TEXT, expression, 300), expected)


@pytest.mark.parametrize("how", naive.SCALES)
def test_every_part_of_a_blend_finds_what_passes(index, f, few, how):
    parts = [(1, how, scores_of(index, few, "BM25"), 1000), (0.4, "minmax", scores_of(index, few, "lsi(e=8)"), 1000)]
    whole = index.search(TEXT, f"({how}(BM25) + 0.4*lsi(e=8)) >> {f}", 300)
    check(whole, naive.blend(parts))
    apart = index.search(TEXT, f"{how}(BM25 >> {f}) + 0.4*(lsi(e=8) >> {f})", 300)
    assert as_pairs(apart) == as_pairs(whole)
    hits_of = index.pipeline(f"({how}(BM25) + 0.4*lsi(e=8)) >> {f}").scorer.start(State(index.query(TEXT), depth=6))
    check(hits_of.find(300), naive.blend([(*part[:3], 6) for part in parts]))


def test_a_depth_within_a_blend_counts_documents_that_do_not_pass(index, f, few):
    top = complete(index, TEXT, "BM25").first(20)
    parts = [(1, "minmax", scores_of(index, few, "BM25"), len(filtered(top, few)))]
    parts.append((0.5, "minmax", scores_of(index, few, "PL2"), 4))
    expression = f"(BM25 % 20 + 0.5*PL2) >> {f}"
    check(index.pipeline(expression).scorer.start(State(index.query(TEXT), depth=4)).find(300), naive.blend(parts))


def test_a_filter_within_a_part_limits_this_part_alone(index, f, few):
    parts = [
        (1, "minmax", scores_of(index, set(range(300)), "PL2"), 30),
        (2, "zscore", scores_of(index, few, "BM25"), 30),
    ]
    check(index.search(TEXT, f"PL2 % 30 + 2*zscore((BM25 >> {f}) % 30)", 300), naive.blend(parts))
    hits = index.search(TEXT, "BM25", 50)
    some = set(hits.docs.tolist())
    parts = [(1, "raw", scores_of(index, docs, ranker), 50) for docs, ranker in ((some, "PL2"), (some & few, "DPH"))]
    expected = naive.blend(parts)
    for part in (f"{f} >> DPH", f"BM25 >> {f} >> DPH", f"DPH >> {f}"):
        check(index.search(TEXT, f"BM25 % 50 >> raw(PL2) + raw({part})", 300), expected)


def test_feedback_comes_from_what_the_stages_before_the_expander_find(index, f, few):
    every = set(range(300))
    expanded = index.answer(TEXT, "BM25 >> RM3(docs=4, terms=5) >> BM25").query
    answer = index.answer(TEXT, f"BM25 >> RM3(docs=4, terms=5) >> BM25 >> {f}", k=300)
    assert answer.query.weights() == expanded.weights()
    assert as_pairs(answer.hits) == filtered(complete(index, expanded, "BM25"), few)
    before = index.answer(TEXT, f"BM25 >> {f} >> RM3(docs=4, terms=5) >> BM25", k=300)
    hits = index.search(TEXT, f"BM25 >> {f}", 4)
    bags = {index.docno(doc): naive.vector(index, index.docno(doc)) for doc in index.corpus.docs}
    weights = naive.rm3(bags, dict.fromkeys(TEXT.split(), 1 / 3), hits, 5, 0.5)
    assert before.query.weights() == pytest.approx(weights)
    assert as_pairs(before.hits) == filtered(complete(index, before.query, "BM25"), every)


def test_an_expander_within_a_blend_also_stops_a_filter(index, f, few):
    expression = "BM25 % 60 >> raw(PL2) + raw(BM25 >> RM3(docs=4, terms=5) >> BM25)"
    assert as_pairs(index.search(TEXT, f"{expression} >> {f}", 300)) == filtered(complete(index, TEXT, expression), few)
    normalised = "BM25 >> raw(PL2 >> RM3(docs=4, terms=5) >> BM25)"
    assert as_pairs(index.search(TEXT, f"{normalised} >> {f}", 300)) == filtered(complete(index, TEXT, normalised), few)
    within = f"BM25 % 60 >> raw(PL2) + raw(BM25 >> RM3(docs=4, terms=5) >> BM25 >> {chosen(range(300))})"
    assert as_pairs(index.search(TEXT, f"{within} >> {f}", 300)) == filtered(complete(index, TEXT, within), few)


def test_a_filter_that_looks_at_more_than_the_document_is_not_passed(index, f, few):
    every = complete(index, TEXT, "BM25")
    half = every.first((len(every) + 1) // 2)
    assert as_pairs(index.search(TEXT, "BM25 >> upper", 300)) == as_pairs(half)
    assert as_pairs(index.search(TEXT, f"BM25 >> upper >> {f}", 300)) == filtered(half, few)
    passing = filtered(every, few)
    assert as_pairs(index.search(TEXT, f"BM25 >> {f} >> upper", 300)) == passing[: (len(passing) + 1) // 2]
    check(
        index.search(TEXT, f"BM25 >> upper >> PL2 >> {f}", 300),
        scores_of(index, few & set(half.docs.tolist()), "PL2"),
    )
    parts = [(1, "raw", dict(filtered(half, few)), 300), (1, "raw", scores_of(index, few, "PL2"), 300)]
    check(index.search(TEXT, f"(raw(BM25 >> upper) + raw(PL2)) >> {f}", 300), naive.blend(parts))


def test_a_function_scores_only_what_passes(index, f, few):
    seen: list[str] = []

    def length(query, documents):
        seen.extend(document.docno for document in documents)
        return [len(document.text) for document in documents]

    top = complete(index, TEXT, "BM25").first(20)
    hits = index.search(TEXT, sublex.parse("BM25 % 20") >> sublex.rerank(length) >> f, 300)
    assert sorted(seen) == sorted(hits.docnos) == sorted(docno for docno, _ in filtered(top, few))


def test_a_function_that_finds_keeps_what_passes(index, f, few):
    found = {index.docno(doc): 1 / (doc + 1) for doc in index.corpus.docs.tolist() if doc % 3}
    finder = sublex.finder(lambda query: found)
    passing = {docno: score for docno, score in found.items() if index.doc(docno) in few}
    for filter, docs in ((f, passing), (chosen([4]), {index.docno(4): found[index.docno(4)]})):
        check(index.search(TEXT, finder >> filter, 300), docs)
        check(index.search(TEXT, finder >> filter, 2), dict(sorted(docs.items(), key=lambda pair: -pair[1])[:2]))
    parts = [(1, "minmax", scores_of(index, few, "BM25"), 1000), (0.5, "minmax", passing, 1000)]
    check(index.search(TEXT, ("BM25" + 0.5 * finder) >> f, 300), naive.blend(parts))


def test_a_function_in_a_part_scores_only_what_passes(index, f, few):
    count = sublex.rerank(lambda query, documents: [len(documents)] * len(documents), name="count")
    blend = "BM25 % 20" >> sublex.parse("raw(PL2)") + (count >> f)
    hits = index.search(TEXT, blend, 300)
    for hit in hits:
        assert index.explain(TEXT, hit.docno, blend).value == pytest.approx(hit.score, rel=1e-5)
    with pytest.raises(InputError, match="scores hits, and nothing was found before it"):
        index.search(TEXT, sublex.parse("PL2") + (count >> "BM25" >> chosen([1, 2])))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("{f} >> BM25", "finds no documents by itself"),
        ("RM3 >> {f}", "changes the query and finds nothing itself; put a ranker after it, as in RM3 >> BM25"),
        ("BM25 >> RM3 >> {f}", "changes the query and finds nothing itself; put a ranker after it, as in RM3 >> BM25"),
        ("BM25 >> RM3 >> {f} >> BM25", "changes the query and finds nothing itself; put a ranker after it"),
        ("BM25 + {f}", "keeps or drops hits and has no scores to add; put it after a ranker"),
        ("BM25 + 0.5*zscore({f})", "keeps or drops hits and has no scores to add; put it after a ranker"),
        ("PL2 + ({f} >> BM25)", "keeps or drops hits, and there are none yet; put a ranker before it"),
        ("BM25 >> odd", "The filter odd has per_document='yes'; it has to be True or False."),
    ],
)
def test_a_filter_that_cannot_work_is_refused_with_a_reason(index, f, expression, message):
    with pytest.raises((InputError, PluginError)) as error:
        index.search(TEXT, expression.format(f=f))
    assert message in str(error.value)


@pytest.mark.parametrize(
    "expression",
    [
        "BM25 + {0.2,0.9}*((BM25 + PL2) >> FILTER)",
        "BM25 % 60 >> raw(PL2) + {0.2,0.9}*raw(BM25 >> RM3(docs=4, terms=5) >> BM25) >> FILTER",
    ],
)
def test_tuning_measures_what_a_run_finds(index, f, expression):
    topics = [("1", TEXT), ("2", "w2 w9")]
    qrels = {"1": dict.fromkeys(complete(index, TEXT, "BM25").docnos[::7], 1), "2": {"d001": 1, "e005": 1}}
    tuning = sublex.tune(index, topics, qrels, expression.replace("FILTER", f), "AP", folds=2)
    for setting, scores in zip(tuning.settings, tuning.scores, strict=True):
        evaluation = sublex.measure(qrels, index.run(topics, setting.expression), "AP")
        assert float(scores.mean()) == pytest.approx(evaluation.mean["AP"])


def test_a_cache_keeps_results_under_different_masks_apart(index, few):
    query, cache, live = index.query(TEXT), Cache(), index.corpus.docs.astype(np.int32)
    mask = Mask(lambda docs: np.isin(docs, list(few)), index.snapshot)
    plain = index.pipeline("BM25 >> PL2").scorer
    scorer = cached("BM25 >> PL2", plain, cache)
    for masks in ((), (mask,)):
        state = State(query, depth=7, masks=masks)
        assert as_pairs(scorer.start(state).find()) == as_pairs(plain.start(state).find())
        assert np.array_equal(scorer.start(state).scores(live), plain.start(state).scores(live))


def test_a_cache_finds_its_results_again_under_another_mask_of_the_same_condition(index, few):
    """The query has the condition, so two masks of one query allow the same documents."""
    query, cache, started = index.query("w2 -w9", "query"), Cache(), []
    plain = index.pipeline("BM25").scorer

    def start(state: State):
        started.append(state)
        return plain.start(state)

    scorer = cached("BM25", Scorer(start, plain.finds, plain.through), cache)
    masks = [Mask(lambda docs: np.isin(docs, list(few)), index.snapshot) for _ in range(2)]
    first, second = (scorer.start(State(query, depth=7, allowed=mask)).find() for mask in masks)
    assert first is second and len(started) == 1 and started[0].allowed is masks[0]


# Explanations.


def test_an_explanation_says_whether_the_filter_keeps_the_document(index, f, few):
    expression = f"BM25 >> {f}"
    hits, every = index.search(TEXT, expression, 300), complete(index, TEXT, "BM25")
    tree = index.explain(TEXT, hits[3].docno, expression)
    assert tree.parts[0].label == f"{f} keeps it"
    assert tree.evidence["rank"] == 4 and tree.evidence["found"] == len(hits)
    assert tree.value == pytest.approx(hits[3].score, rel=1e-6)
    (other,) = [docno for doc, docno in zip(every.docs[:5].tolist(), every.docnos, strict=False) if doc not in few][:1]
    tree = index.explain(TEXT, other, expression)
    assert tree.parts[0].label == f"{f} does not keep it" and tree.value == -np.inf and tree.evidence["rank"] is None


def test_an_explanation_follows_a_filter_into_blends_and_chains(index, f, few):
    every = complete(index, TEXT, "BM25")
    kept = next(hit for hit in every if hit.doc in few)
    other = next(hit for hit in every if hit.doc not in few)
    blend = f"(BM25 + 0.5*PL2) >> {f}"
    hits = index.search(TEXT, blend, 300)
    tree = index.explain(TEXT, kept.docno, blend)
    assert tree.value == pytest.approx(dict(as_pairs(hits))[kept.docno], rel=1e-5)
    note, *parts = tree.parts
    assert note.label == f"{f} keeps it" and sum(part.value for part in parts) == pytest.approx(tree.value, rel=1e-6)
    assert tree.label == f"blend over {len(hits)} candidates"
    rank = [hit.doc for hit in every if hit.doc in few].index(kept.doc) + 1
    assert parts[0].evidence == {"rank among the hits of this part": rank}
    tree = index.explain(TEXT, other.docno, blend)
    assert tree.parts[0].label == f"{f} does not keep it" and tree.value == -np.inf
    part = index.explain(TEXT, other.docno, f"PL2 + (BM25 >> {f})").parts[1]
    assert "no opinion, which counts as the lowest" in {node.label for node in part.parts[1].parts}
    chain = f"BM25 >> {f} >> PL2"
    for hit, note, found in ((kept, "keeps it", "found at rank 1"), (other, "does not keep it", "not found")):
        step = index.explain(TEXT, hit.docno, chain).parts[0]
        assert step.label == f"{found} by the stage before" and step.parts[0].label == f"{f} {note}"


def test_why_a_document_is_absent_names_the_filter(index, f, few):
    from sublex.pipeline.absence import absence

    every = complete(index, TEXT, "BM25")
    other = next(hit for hit in every[40:] if hit.doc not in few)
    for expression in (f"BM25 >> {f}", f"BM25 >> {f} >> PL2"):
        found = absence(index, index.query(TEXT), other.docno, index.pipeline(expression), 10)
        assert found.changes == [f"{f} does not keep it."]
        assert found.stages[0].rank == other.rank and not found.stages[1].rank
    kept = [hit for hit in every if hit.doc in few][15]
    found = absence(index, index.query(TEXT), kept.docno, index.pipeline(f"BM25 >> {f}"), 10)
    assert found.changes == ["With k = 16 it is shown."]


def test_why_a_document_is_absent_takes_the_terms_of_the_query_as_they_are(tmp_path):
    from sublex.pipeline.absence import absence

    texts = {"a": "river crane", "b": "river river bank", "c": "a tower by the sea"}
    index = sublex.build([{"id": docno, "text": text} for docno, text in texts.items()], tmp_path / "index")
    # The index has the term "crane". An analyzer would make it of "cranes", and two terms of "river-crane".
    query = Query("cranes", tuple(QueryTerm(term, 1.0) for term in ("cranes", "river-crane", "river")))
    found = absence(index, query, "a", index.pipeline("BM25"), 1)
    assert {word.word: word.tf for word in found.words} == {"cranes": 0, "river-crane": 0, "river": 1}


def test_a_filter_that_keeps_nothing_is_named(tmp_path):
    from sublex.display.hits import nothing_found

    texts = {"a": "river crane", "b": "river river bank", "c": "a tower by the sea"}
    index = sublex.build([{"id": docno, "text": text} for docno, text in texts.items()], tmp_path / "index")

    def said(expression):
        query = index.query("River")
        assert not len(index.search(query, expression))
        return nothing_found(index, query, index.pipeline(expression))

    keep = {
        name: sublex.keep(lambda d, ids=ids: d.docno in ids, name=name, version=1)
        for name, ids in (("c", "c"), ("a", "a"))
    }
    left = "Nothing is left: keep({}@1) keeps none of the {} that BM25{} finds for River."
    assert said("BM25" >> keep["c"]) == left.format("c", "2 documents", "")
    assert said("BM25" >> keep["a"] >> keep["c"]) == left.format("c", "1 document", " >> keep(a@1)")
    assert said("BM25" >> keep["c"] >> keep["a"] >> sublex.parse("PL2")) == left.format("c", "2 documents", "")


# Masks.


def test_a_filter_is_asked_once_about_each_live_document_of_a_snapshot(index, load):
    docs = set(range(0, 300, 3))
    f, n = chosen(docs), len(CHOSEN) - 1
    again = Index(index.path, load_registry=load)
    for text in ("w1", "w2 w5", "absent"):
        for expression in ("BM25 >> {}", "PL2 + (lsi(e=8) >> {})", "BM25 % 5 >> {}", "BM25 >> {} >> PL2 >> {}"):
            again.search(text, expression.format(f, f))
    assert ASKED[n] == Counter(again.corpus.docs.tolist())
    Index(index.path, load_registry=load).search("w1", f"BM25 >> {f}")
    assert ASKED[n] == Counter(again.corpus.docs.tolist() * 2)


def test_masks_are_dropped_beyond_a_number_of_bytes(index):
    masks = Masks(index.snapshot, 3 * len(index.snapshot.docs_by_docno))
    made = []

    def get(key):
        return masks.get(key, lambda docs: made.append(key) or np.zeros(len(docs), bool))

    for key in (1, 2, 3, 1, 4, 1):
        get(key).of(np.array([1]))
    assert made == [1, 2, 3, 4]
    get(2).of(np.array([1]))
    assert made == [1, 2, 3, 4, 2]
    small = Masks(index.snapshot, 1)
    first = small.get(1, lambda docs: np.ones(len(docs), bool))
    assert small.get(1, lambda docs: np.zeros(len(docs), bool)) is first


@pytest.mark.parametrize("at_once", [True, False])
def test_threads_ask_a_filter_once(index, at_once):
    asked: list[int] = []

    def keep(docs):
        asked.extend(docs.tolist())
        return docs % 2 == 0

    mask, live = Mask(keep, index.snapshot, at_once), index.corpus.docs
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(mask.of, [live] * 8))
    assert sorted(asked) == live.tolist()
    assert all(np.array_equal(answer, live % 2 == 0) for answer in answers)
    assert mask.passing.tolist() == [doc for doc in live.tolist() if doc % 2 == 0]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_deleted_document_is_not_asked_about_and_does_not_pass(index, at_once):
    asked: list[int] = []
    mask = Mask(lambda docs: asked.extend(docs.tolist()) or np.ones(len(docs), bool), index.snapshot, at_once)
    dead = np.setdiff1d(np.arange(300), index.corpus.docs)
    assert len(dead) and not mask.of(dead).any() and not set(asked) & set(dead.tolist())


# What filters and expanders read.


def test_a_filter_reads_stored_documents(index, tmp_path, load):
    hits = index.search(TEXT, "BM25 >> titled", 300)
    assert as_pairs(hits) == filtered(complete(index, TEXT, "BM25"), set(range(150, 300)))
    bare = sublex.build([Document("a", "w1"), Document("b", "w1 w2")], tmp_path / "bare", store="terms")
    with pytest.raises(IndexProblem, match="without stored text, which titled reads; rebuild it: sublex index"):
        Index(bare.path, load_registry=load).search("w1", "BM25 >> titled")


def test_an_expander_reads_stored_documents(index, f, tmp_path):
    titles: list[str] = []

    def words_of_titles(query, context):
        titles.extend(document.title for document in context.documents(context.docs[:3]))
        return query

    index.search(TEXT, sublex.parse("BM25") >> f >> sublex.expander(words_of_titles, docs=3) >> "BM25")
    first = index.search(TEXT, f"BM25 >> {f}", 3)
    assert titles == [index.document(docno).title for docno in first.docnos]
    bare = sublex.build([Document("a", "w1"), Document("b", "w1 w2")], tmp_path / "bare", store="terms")
    with pytest.raises(IndexProblem, match="without stored text, which words_of_titles reads; rebuild it"):
        bare.search("w1", "BM25" >> sublex.expander(words_of_titles, docs=2) >> "BM25")


# Python functions.


def years(tmp_path, store="text,terms"):
    """Return an index of documents whose years are in their fields; the last one has none."""
    documents = [{"id": f"d{k}", "text": "w1 " * (k % 4 + 1) + "w2", "year": str(2010 + k)} for k in range(12)]
    return sublex.build([*documents, {"id": "none", "text": "w1"}], tmp_path / "years", store=store)


def test_a_function_keeps_documents_by_their_stored_fields(tmp_path):
    index = years(tmp_path)
    asked: Counter[str] = Counter()

    def recent(document):
        asked[document.docno] += 1
        return document.fields.get("year", "") >= "2018"

    keep = sublex.keep(recent, version=1)
    every = index.search("w1", "BM25", 20)
    expected = [pair for pair in as_pairs(every) if pair[0] in {"d8", "d9", "d10", "d11"}]
    assert as_pairs(index.search("w1", "BM25" >> keep, 20)) == expected
    assert as_pairs(index.search("w1", "BM25" >> keep, 2)) == expected[:2]
    blend = index.search("w1", ("BM25" + sublex.parse("0.5*PL2")) >> keep, 20)
    assert sorted(blend.docnos) == sorted(docno for docno, _ in expected)
    index.search("w2", "BM25" >> sublex.keep(recent, version=1), 20)
    assert set(asked.values()) == {1} and len(asked) == 13
    assert as_pairs(index.search("w1", "BM25" >> sublex.keep(lambda d: np.bool_(len(d.text) > 5)), 20)) == [
        pair for pair in as_pairs(every) if len(index.document(pair[0]).text) > 5
    ]


def test_only_the_documents_that_a_search_looks_at_are_read(tmp_path):
    index = years(tmp_path)
    asked = []
    index.search("w1", "BM25" >> sublex.keep(lambda document: asked.append(document.docno) or True), 3)
    assert sorted(asked) == sorted(index.search("w1", "BM25", 3).docnos)


def test_a_function_is_asked_only_about_what_other_filters_keep(index, f, few):
    asked = []
    keep = sublex.keep(lambda document: asked.append(index.doc(document.docno)) or True, version=1)
    for expression in ("BM25" >> keep >> f, f"BM25 >> {f}" >> keep):
        asked.clear()
        assert as_pairs(index.search(TEXT, expression, 9)) == filtered(complete(index, TEXT, "BM25"), few, 9)
        assert set(asked) <= few
    assert asked == []


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda d: d.fields["year"] > "2000",
            r"asked about the document none, failed \(KeyError: 'year'\). It has no fields; .* 'year' in document.fields and …",
        ),
        (
            lambda d: d.docno != "none" and d.fields["yaer"] > "2000",
            r"asked about the document d\d+, failed \(KeyError: 'yaer'\). It has the fields year; .* in document.fields and …",
        ),
        (
            lambda d: d.fields.get("year") > "2000",
            r"asked about the document none, failed \(TypeError: .*'NoneType' and 'str'\); .*\.fields.get\('year'\) is not None",
        ),
        (
            lambda d: d.year > "2000",
            r"asked .*, failed \(AttributeError: a document has docno, .*, not year; .* document.fields\[\"year\"\]\)",
        ),
        (
            lambda d: d["docno"] > "a",
            r"asked .*, failed \(TypeError: a document is no dictionary; write document.docno, .*[.]fields\['docno'\]",
        ),
        (lambda d: {}[1], r"asked about the document \w+, failed \(KeyError: 1\); its results are not used"),
        (lambda d: 1 / 0, r"asked about the document \w+, failed \(ZeroDivisionError: division by zero\)"),
        (lambda d: None, r"asked about the document \w+, gave None; it has to give True or False"),
        (lambda d: 1, r"asked about the document \w+, gave 1; it has to give True or False"),
        (lambda d: "no", r"asked about the document \w+, gave 'no'; it has to give True or False"),
        (lambda d: np.array([True]), r"asked about the document \w+, gave ndarray; it has to give True or False"),
    ],
)
def test_an_answer_that_is_not_true_or_false_costs_a_sentence(tmp_path, function, message):
    with pytest.raises(PluginError, match=rf"^The filter keep\(mine@\w+\), {message}"):
        years(tmp_path).search("w1", "BM25" >> sublex.keep(function, name="mine"), 20)


def test_a_function_that_reads_no_text_serves_an_index_without_texts(tmp_path):
    index = years(tmp_path, store="terms")
    assert index.search("w1", "BM25" >> sublex.keep(lambda d: d.docno == "d3")).docnos == ["d3"]
    with pytest.raises(IndexProblem, match=r"without stored text, which keep\(mine@\w+\) reads; rebuild it"):
        index.search("w1", "BM25" >> sublex.keep(lambda d: d.title == "", name="mine"))


def long(document):
    return len(document.text) > 6


def test_a_pickled_pipeline_keeps_what_its_filter_keeps(tmp_path):
    pipeline = years(tmp_path).pipeline("BM25" >> sublex.keep(long))
    back = pickle.loads(pickle.dumps(pipeline))
    query = pipeline.snapshot.analyze("w1")
    hits, again = (each.answer(Query("w1", tuple(map(QueryTerm, query))), 20).hits for each in (pipeline, back))
    assert as_pairs(again) == as_pairs(hits) and 0 < len(hits) < 13


def test_an_object_with_the_method_keep_is_a_filter(index, few):
    every = complete(index, TEXT, "BM25")
    assert as_pairs(index.search(TEXT, "BM25" >> sublex.keep(Upper()), 300)) == as_pairs(
        every.first((len(every) + 1) // 2)
    )
    CHOSEN[-1] = few
    assert as_pairs(index.search(TEXT, "BM25" >> sublex.keep(Chosen(-1)), 300)) == filtered(every, few)


@pytest.mark.parametrize("name", ["docs", "context.docs", "context.scores", "context.live_docs"])
def test_a_filter_cannot_write_into_what_it_is_asked_about(index, name):
    class Writes:
        per_document = name in ("docs", "context.live_docs")

        def keep(self, docs, context):
            given = {"docs": docs, "scores": context.scores, "live_docs": context.live_docs}
            given["context.docs"] = context.docs
            given.get(name, given.get(name.partition(".")[2])).fill(0)
            return np.ones(len(docs), bool)

    before = as_pairs(complete(index, TEXT, "BM25"))
    with pytest.raises(PluginError, match=r"The filter keep\(Writes@.* failed \(ValueError: .*read-only"):
        index.search(TEXT, "BM25" >> sublex.keep(Writes()), 300)
    assert as_pairs(complete(index, TEXT, "BM25")) == before


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An index of two segments with deletions and positions, of so many documents that frequent terms have rows of bits."""
    made = texts(6000, 21)
    built = sublex.build(
        [Document(f"d{k:05}", text) for k, text in enumerate(made[:4500])],
        tmp_path_factory.mktemp("large") / "index",
        store=("text", "terms", "positions"),
    )
    built.add([Document(f"d{k:05}", text) for k, text in enumerate(made[4500:], 4500)])
    built.delete([f"d{k:05}" for k in range(0, 6000, 13)])
    return built


@pytest.mark.parametrize("language, query", [
    ("plain", " ".join(WORDS[:5])), ("query", f'"{WORDS[0]} {WORDS[1]}" {WORDS[2]} #uw8({WORDS[3]} {WORDS[4]})'),
])  # fmt: skip
@pytest.mark.parametrize("ranker", ["BM25", "DirichletLM"])
@pytest.mark.parametrize("how", ["random", "best", "worst", "middle"])
@pytest.mark.parametrize("share", [0.95, 0.5, 0.1, 0.019, 0.001, 0])
def test_the_best_that_pass_are_exact_for_masks_of_any_size_and_kind(large, ranker, language, query, how, share):
    asked = large.query(query, language)
    ranking = large.search(asked, ranker, len(large))
    size, number = round(share * len(ranking)), int(large.snapshot.bases[-1])
    random = np.random.default_rng(size)
    order = {"random": random.permutation(ranking.docs), "best": ranking.docs, "worst": ranking.docs[::-1]}
    passes = np.isin(np.arange(number), order.get(how, np.roll(ranking.docs, len(ranking) // 2))[:size])
    mask = Mask(lambda docs: passes[docs], large.snapshot)
    expected = np.flatnonzero(passes[ranking.docs])
    scorer = large.pipeline(ranker).scorer
    for masks in ((mask,), (mask, Mask(lambda docs: passes[docs] | (docs % 2 == 0), large.snapshot))):
        for k in (1, 10, 100, 2000):
            found = scorer.start(State(asked, masks=masks)).find(k)
            assert found.docs.tolist() == ranking.docs[expected][:k].tolist()
            assert found.scores.tobytes() == ranking.scores[expected][:k].tobytes()
