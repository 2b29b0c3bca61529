"""Tests of filters: hits are those of the complete ranking that pass, filters reach the right stages, masks ask once."""

from __future__ import annotations

import sys
import types
from collections import Counter
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import WORDS, texts
from strategies import examples

import sublex
from sublex.contracts.base import Document, Param, Query, QueryTerm
from sublex.contracts.hookspecs import hookimpl
from sublex.language import plugins
from sublex.pipeline.index import Index
from sublex.pipeline.stages.mask import Mask
from sublex.pipeline.stages.stage import State

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
        points = [*plugins.entry_points(group=plugins.GROUP), EntryPoint("filters", module.__name__, plugins.GROUP)]
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


def parts_of(index, query, docs, *expressions):
    """Return the scores of the documents that pass by docno, for each expression."""
    return [dict(filtered(complete(index, query, expression), docs)) for expression in expressions]
