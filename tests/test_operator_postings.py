"""Postings of operators: they equal those of the definition in `naive.py`, and every ranker scores operators by them."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Mapping, Sequence
from functools import partial

import naive
import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import RANKERS, texts
from strategies import examples

import sublex
from sublex.analysis.tokens import raw_tokens
from sublex.contracts.base import Document, Query, QueryTerm, Ranker
from sublex.contracts.operators import GAP, MOST_NESTED, Operator, ordered, synonyms, window, within
from sublex.errors import IndexProblem, InputError, PluginError
from sublex.index.segment import Segment
from sublex.rankers.bm25 import BM25
from sublex.retrieval import arena, operators, word_positions
from sublex.retrieval.feedback import Feedback
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Searcher
from sublex.retrieval.term_table import TermTable

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")

STORE = "text,terms,positions"
WORDS = [f"w{k}" for k in range(7)]


def in_field(field: str, part: str) -> str:
    """Return a part within a field; the part itself if it is in another field."""
    try:
        return within(field, part)
    except InputError:
        return part


def parts(words: st.SearchStrategy[str], fields: Sequence[str] = ()) -> st.SearchStrategy[str]:
    """Words, and operators on them within one another and within fields."""
    few = {"min_size": 2, "max_size": 3}

    def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        with_gaps = st.lists(st.one_of(inner, inner, inner, st.just(GAP)), **few).filter(
            lambda some: any(part is not GAP for part in some)
        )
        return st.one_of(
            st.builds(ordered, with_gaps, st.integers(1, 4)),
            st.builds(lambda some, more: window(some, 8 + more), st.lists(inner, **few), st.integers(0, 3)).filter(
                lambda part: not isinstance(part, Operator) or len([*part.terms()]) < 7
            ),
            st.builds(synonyms, st.lists(inner, **few)),
            *([st.builds(in_field, st.sampled_from(fields), inner)] if fields else []),
        )

    return st.recursive(words, combined, max_leaves=5)


OPERATORS = parts(st.sampled_from([*WORDS, "absent"])).filter(lambda part: isinstance(part, Operator))
QUERIES = st.dictionaries(
    st.one_of(OPERATORS, OPERATORS, st.sampled_from(WORDS)), st.sampled_from([1.0, 2.0, 0.5, -1.0, 0.0]), max_size=5
)


FIELDS = ("tags", "title", "text")
IN_FIELDS = parts(st.sampled_from([*WORDS, "absent"]), FIELDS).filter(
    lambda part: isinstance(part, Operator) and part.fields
)


def documents(number: int, seed: int, name: str = "d") -> list[Document]:
    """Return short documents of the words in WORDS and a stop word; every third has a title, every second has tags."""
    chance = random.Random(seed)

    def words(most: int) -> str:
        return " ".join(chance.choices([*WORDS, "the"], [5, 4, 3, 2, 2, 1, 1, 3], k=chance.randint(0, most)))

    found = [Document(f"{name}{k}", words(9), words(3) if k % 3 == 0 else "") for k in range(number)]
    return [d._replace(fields={"tags": words(3)} if k % 2 else {}) for k, d in enumerate(found)]


def built(path, documents: list[Document], **options) -> sublex.Index:
    return sublex.build(documents, path, store=STORE, workers=1, **options)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    """An index of three segments with deleted documents; the last segment lacks most words."""
    return in_segments(tmp_path_factory.mktemp("operators") / "index")


@pytest.fixture(scope="module")
def fielded(tmp_path_factory: pytest.TempPathFactory):
    """The index of the same documents with fields, and the definition for it."""
    index = in_segments(tmp_path_factory.mktemp("fields") / "index", fields=FIELDS)
    return index, naive.WithOperators(index.snapshot)


def in_segments(path, **options) -> sublex.Index:
    index = built(path, documents(120, 1), **options)
    index.add(documents(70, 2, "é"), workers=1)
    index.add([Document("x", "w0 w1 w0"), Document("y", "w1 w0 w1"), Document("z", "only")], workers=1)
    index.delete(["x", *(f"d{k}" for k in range(0, 120, 7))])
    return index


@pytest.fixture(scope="module")
def exact(index):
    return naive.WithOperators(index.snapshot)


def expect_postings(table: TermTable, exact: naive.WithOperators, terms: list[str]) -> None:
    """Assert that the table has the postings and the statistics of the definition."""
    snapshot = exact.snapshot
    context = Feedback(Hits.none(snapshot), table)
    for term, number in zip(terms, context.numbers(terms), strict=True):
        docs, tfs = exact.postings(term) if exact.term(term) else (np.zeros(0, np.int32),) * 2
        found = [table.postings(term, k) for k in range(len(snapshot.segments))]
        assert (
            np.concatenate([own + base for (own, _), base in zip(found, snapshot.bases, strict=False)]).tolist()
            == docs.tolist()
        )
        assert np.concatenate([own for _, own in found]).tolist() == tfs.tolist()
        every = snapshot.corpus.docs
        frequency = dict(zip(docs.tolist(), tfs.tolist(), strict=True))
        assert table.frequencies(term, every[::-1]).tolist() == [frequency.get(doc, 0) for doc in every[::-1].tolist()]
        if len(docs):
            stats = context.stats(np.array([number]))
            assert (stats.df[0], stats.cf[0]) == (len(docs), tfs.sum())
            assert context.names(np.array([number])) == [term]
            assert isinstance(context.names(np.array([number]))[0], Operator) == isinstance(term, Operator)
        else:
            assert number == -1


def check(searcher: Searcher, exact: naive.WithOperators, query: Mapping[str, float], k: int) -> None:
    """Assert that the hits, and the scores of all documents, are those of the exhaustive definition."""
    hits = searcher.search(query, k)
    docs, scores = naive.retrieve(exact, searcher.ranker, query, len(exact.documents) + 1)
    assert (hits.docs.tolist(), hits.scores.tolist()) == (docs[:k], scores[:k])
    every, score_of = searcher.snapshot.corpus.docs.astype(np.int32), dict(zip(docs, scores, strict=True))
    assert searcher.scores(query, every).tolist() == [score_of.get(doc, -np.inf) for doc in every.tolist()]


@given(terms=st.lists(st.one_of(OPERATORS, st.sampled_from([*WORDS, "absent"])), min_size=1, max_size=6))
@settings(max_examples=examples(150))
def test_postings_equal_those_of_the_definition(index, exact, terms):
    expect_postings(TermTable(index.snapshot), exact, terms)


@given(terms=st.lists(IN_FIELDS, min_size=1, max_size=6))
@settings(max_examples=examples(150))
def test_postings_within_fields_equal_those_of_the_definition(fielded, terms):
    index, exact = fielded
    expect_postings(TermTable(index.snapshot), exact, terms)


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKERS)
@given(query=st.dictionaries(st.one_of(IN_FIELDS, IN_FIELDS, st.sampled_from(WORDS)), st.just(1.5), max_size=4))
@settings(max_examples=examples(20))
def test_hits_within_fields_equal_those_of_the_exhaustive_definition(fielded, name, query):
    index, exact = fielded
    check(Searcher(index.snapshot, RANKERS[name]), exact, query, 10)


@given(collection=strategies.collections(1, 8), more=strategies.collections(0, 4), data=st.data())
@settings(max_examples=examples(25))
def test_postings_within_fields_of_arbitrary_collections_equal_those_of_the_definition(
    tmp_path_factory, collection, more, data
):
    # A field in which no document has a term is refused.
    collection = [*collection, Document("anchor", "anchor", "anchor")]
    index = built(tmp_path_factory.mktemp("odd") / "index", collection, fields="title,text")
    docnos = {document.docno for document in collection}
    if new := [document for document in more if document.docno not in docnos]:
        index.add(new, workers=1)
    terms = [term.term for term in index.terms()] or ["none"]
    some = parts(st.sampled_from(terms), ("title", "text")).filter(lambda part: isinstance(part, Operator))
    exact = naive.WithOperators(index.snapshot)
    expect_postings(TermTable(index.snapshot), exact, data.draw(st.lists(some, max_size=4)))


def test_merged_and_reordered_indexes_give_the_postings_within_fields_of_the_definition(tmp_path):
    index = built(tmp_path / "index", documents(60, 3), fields=FIELDS)
    index.add(documents(40, 4, "e"), workers=1)
    index.delete(["d3", "e5"])
    index.store_impacts(["BM25"])
    terms = [
        within("title", "w0"), within("tags", ordered(["w0", "w1"])), within("text", window(["w0", "w1"], 4)),
        ordered([within("title", "w0"), "w1"]), synonyms([within("title", "w0"), "w0", within("tags", "w1")]),
    ]  # fmt: skip
    for change in (lambda: None, index.merge, partial(index.merge, reorder=True)):
        change()
        opened = sublex.open(index.path)
        exact = naive.WithOperators(opened.snapshot)
        expect_postings(TermTable(opened.snapshot), exact, terms)
        check(opened.searcher("BM25"), exact, dict.fromkeys([*terms, "w0"], 1.0), 10)


def test_words_within_a_field_need_no_positions_and_no_document_of_another_field_is_found(tmp_path):
    index = sublex.build(
        [Document("a", "stem cell cell", "cell"), Document("b", "cell", "stem"), Document("c", "x", "y cell cell")],
        tmp_path / "index", fields="title",
    )  # fmt: skip
    found = index.postings(within("title", "cell"))
    assert [found.docs.tolist(), found.tfs.tolist()] == [[0, 2], [1, 2]]
    both = index.postings(synonyms([within("title", "cell"), "cell"]))
    assert [both.docs.tolist(), both.tfs.tolist()] == [[0, 1, 2], [3, 1, 2]]
    assert index.term("#field(title:'cell')")[1:3] == index.term("title:cells")[1:3] == (2, 3)
    assert index.term("title:stem").surface == "title:stem"
    # The length is that of the whole document, so the shorter one is better.
    assert index.searcher("BM25").search({within("title", "cell"): 1.0}).docnos == ["c", "a"]
    with pytest.raises(IndexProblem, match="built without stored positions"):
        index.postings(within("title", ordered(["stem", "cell"])))


def test_an_occurrence_lies_wholly_within_the_field(tmp_path):
    documents = [
        Document("a", "stem", "cell"),
        Document("b", "cell x stem", "cell x stem"),
        Document("c", "cell", "stem"),
    ]
    index = built(tmp_path / "index", documents, fields="title,text")
    exact = naive.WithOperators(index.snapshot)
    wide = [window(["cell", "stem"], 300), ordered(["cell", "stem"], 300), ordered(["stem", "cell"], 300)]
    expect_postings(
        TermTable(index.snapshot), exact, [within(field, part) for field in ("title", "text") for part in wide]
    )
    assert index.postings(wide[0]).docs.tolist() == [0, 1, 2]
    assert [index.postings(within(field, wide[0])).docs.tolist() for field in ("title", "text")] == [[1], [1]]


def test_an_unknown_field_costs_a_sentence_that_names_the_fields(fielded, index):
    for own, words in (
        (fielded[0], "has no field author; its fields are tags, title, text"),
        (index, "--fields title,text"),
    ):
        for term in (within("author", "w0"), ordered([within("author", "w0"), "w1"])):
            with pytest.raises(InputError, match=words):
                own.searcher("BM25").search({term: 1.0})


@pytest.mark.parametrize("name", RANKERS)
@given(query=QUERIES, k=st.sampled_from([1, 2, 10, 50, 1000]))
@settings(max_examples=examples(40))
def test_hits_equal_those_of_the_exhaustive_definition(index, exact, name, query, k):
    check(Searcher(index.snapshot, RANKERS[name]), exact, query, k)


@given(collection=strategies.collections(1, 8), more=strategies.collections(0, 4), data=st.data())
@settings(max_examples=examples(40))
def test_hits_of_arbitrary_collections_equal_those_of_the_definition(tmp_path_factory, collection, more, data):
    index = built(tmp_path_factory.mktemp("odd") / "index", collection)
    docnos = {document.docno for document in collection}
    if new := [document for document in more if document.docno not in docnos]:
        index.add(new, workers=1)
    terms = [term.term for term in index.terms()] or ["none"]
    some = parts(st.sampled_from(terms)).filter(lambda part: isinstance(part, Operator))
    query = data.draw(
        st.dictionaries(st.one_of(some, some, st.sampled_from(terms)), st.sampled_from([1.0, 2.0, -0.5]), max_size=4)
    )
    exact = naive.WithOperators(index.snapshot)
    expect_postings(TermTable(index.snapshot), exact, [*query])
    check(Searcher(index.snapshot, data.draw(st.sampled_from([*RANKERS.values()]))), exact, query, 5)


SAMPLE = [
    {ordered(["w0", "w1"]): 1.0},
    {ordered(["w0", "w1", "w2"]): 1.0, "w0": 2.0, "w6": 0.5},
    {window(["w0", "w1"], 4): 1.0, ordered(["w0", "w1"]): 1.0, "w1": 1.0},
    {ordered(["w1", GAP, "w0"]): 1.0, synonyms(["w5", "w6"]): 1.5},
    {ordered([synonyms(["w3", "w4"]), "w0"], 2): 1.0, window(["w1", "w1"], 3): 1.0},
    {window([ordered(["w0", "w2"]), "w1", "w3"], 9): 1.0, "absent": 1.0},
]


@pytest.mark.slow
def test_merged_and_reordered_indexes_give_the_hits_of_the_definition(tmp_path):
    index = built(tmp_path / "index", documents(60, 3))
    index.add(documents(40, 4, "e"), workers=1)
    index.delete(["d3", "e5"])
    index.store_impacts(["BM25", "PL2"])
    for change in (lambda: None, lambda: index.delete(["d4"]), index.merge, partial(index.merge, reorder=True)):
        change()
        opened = sublex.open(index.path)
        exact = naive.WithOperators(opened.snapshot)
        for query, name in itertools.product(SAMPLE, ("BM25", "PL2", "DirichletLM")):
            searcher = opened.searcher(name)
            assert all(impacts.is_stored == (name != "DirichletLM") for impacts in searcher.impacts)
            check(searcher, exact, query, 10)
            # At the second search, frequent words have rows in the blocks.
            check(searcher, exact, query, 3)


@given(batch=st.lists(QUERIES, max_size=12), k=st.integers(1, 30), workers=st.integers(1, 3))
@settings(max_examples=examples(30))
def test_a_batch_of_queries_gives_the_hits_of_each_query_alone(index, batch, k, workers):
    searcher = Searcher(index.snapshot, BM25())
    for query, hits in zip(batch, searcher.batch(batch, k, workers), strict=True):
        alone = Searcher(index.snapshot, BM25()).search(query, k)
        assert (hits.docs.tolist(), hits.scores.tolist()) == (alone.docs.tolist(), alone.scores.tolist())


@pytest.mark.parametrize(
    "expression", ["BM25", "SDM >> BM25", "BM25 >> RM3 >> BM25", "BM25 + PL2", "BM25 % 5 >> SDM >> PL2", "BM25 % 4"]
)
def test_queries_that_are_searched_together_get_the_answers_of_each_alone(index, monkeypatch, expression):
    pipeline, chance = index.pipeline(expression), random.Random(8)
    texts = [" ".join(chance.choices([*WORDS, "absent"], k=chance.randint(0, 4))) for _ in range(70)]
    texts[5:9] = ["+w0 w1 -w2", '"w0 w1" w3', "w0 AND NOT w1", '"w1 w2"~4']
    queries = [index.query(text, language="query") for text in texts]
    alone = [pipeline.answer(query, 7) for query in queries]
    groups, batch = [], Searcher.batch
    monkeypatch.setattr(Searcher, "batch", lambda own, asked, k: groups.append(len(asked)) or batch(own, asked, k))
    for workers in (1, 3):
        for one, other in zip(alone, pipeline.answers(queries, 7, workers), strict=True):
            assert (one.hits.docs.tolist(), one.hits.scores.tolist()) == (
                other.hits.docs.tolist(),
                other.hits.scores.tolist(),
            )
            assert (one.query, one.hits.query, one.hits.asked) == (other.query, other.hits.query, other.hits.asked)
            assert other.seconds > 0
    # Those with a condition are answered alone.
    assert sum(groups) == (0 if expression in ("BM25 + PL2", "BM25 % 4") else 2 * (70 - 2))


@pytest.fixture
def narrow(monkeypatch):
    """Let all arrays of operators be full after a few operators."""
    for module, name, value in (
        (operators, "KEPT_OPERATORS", 3), (operators, "KEPT_POSTINGS", 60), (operators, "OPERATORS_PER_CALL", 2),
        (operators, "POSTINGS_PER_CALL", 50), (arena, "ARENA_SLOTS", 12), (arena, "ARENA_POSTINGS", 300),
        (word_positions, "DECODED_WORDS", 3), (word_positions, "DECODED_POSTINGS", 200), (word_positions, "DECODED_POSITIONS", 300),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)


@pytest.mark.usefixtures("narrow")
def test_full_arrays_are_replaced_and_hits_stay_the_same(index, exact):
    searcher, chance = Searcher(index.snapshot, BM25()), random.Random(5)
    queries = [
        {ordered([a, b]): 1.0, window([b, c], 5): 0.5, c: 1.0} for a, b, c in itertools.permutations(WORDS[:5], 3)
    ]
    chance.shuffle(queries)
    expected = [naive.retrieve(exact, searcher.ranker, query, 5)[0] for query in queries]
    assert [searcher.search(query, 5).docs.tolist() for query in queries] == expected
    assert [hits.docs.tolist() for hits in searcher.batch(queries, 5)] == expected
    table = searcher.term_table.operators
    assert table.known.first > searcher.term_table.words
    expect_postings(searcher.term_table, exact, [ordered(["w0", "w1"])])


def test_an_arena_keeps_the_slots_of_a_search_while_terms_are_added_and_when_it_is_replaced(index, exact, monkeypatch):
    monkeypatch.setattr(arena, "ARENA_SLOTS", 4 * len(index.snapshot.segments))
    searcher = Searcher(index.snapshot, BM25())
    table = searcher.term_table
    own = arena.Arena(searcher.impacts, table)

    def ask(*terms: str, alone: bool = True):
        known = table.operators.find([term for term in terms if isinstance(term, Operator)])
        return own.slots(np.array(table.numbers(terms)), known, alone)

    def held(slots: arena.Slots, places: np.ndarray) -> list:
        return [
            [own.least[places].tolist(), own.most[places].tolist(), own.kth[:, places].tolist()]
            for own in (segment.bounds for segment in slots.segments)
        ]

    a, b, c = ordered(["w0", "w1"]), window(["w1", "w2"], 5), ordered(["w2", "w0"])
    slots, first = ask(a, "w1")
    before = held(slots, first)
    for k, segment in enumerate(slots.segments):
        ordinals, places = arena.in_segment(table, k, np.array(table.numbers(["w1"])), first[1:])
        assert segment.bounds.most[places].tolist() == searcher.impacts[k].bounds.most[ordinals].tolist()
    # Terms are added after those that are there, each once.
    more, second = ask("w1", b, a, "w2")
    assert more is slots and second.tolist() == [first[1], 2, first[0], 3] and sorted(first) == [0, 1]
    assert held(slots, first) == before
    # There is no room for one more; the new slots have all terms of the query, and the old ones keep theirs.
    replaced, third = ask(c, "w1", a)
    assert replaced is not slots and third.tolist() == [0, 1, 2] and len(replaced.slot_of) == 3
    assert held(slots, first) == before == held(replaced, third[[2, 1]])
    assert max(segment.largest for segment in slots.segments) >= max(max(most) for _, most, _ in before)
    # A batch with too many terms is told to split; a query alone gets as many slots as it needs.
    words = ["w0", "w1", "w2", "w3"]
    assert ask(a, *words, alone=False) is None and own._slots is replaced
    wide, places = ask(a, *words)
    assert places.tolist() == [0, 1, 2, 3, 4] and held(wide, places[[0, 2]]) == before


def test_the_operators_of_a_query_may_not_have_too_many_postings(index, exact, monkeypatch):
    terms = [ordered(["w0", "w1"]), window(["w0", "w2"], 5)]
    postings = sum(len(exact.postings(term)[0]) for term in terms)
    monkeypatch.setattr(operators, "POSTINGS_OF_A_QUERY", postings)
    check(Searcher(index.snapshot, BM25()), exact, dict.fromkeys(terms, 1.0), 5)
    monkeypatch.setattr(operators, "POSTINGS_OF_A_QUERY", postings - 1)
    message = f"The operators of a query, such as phrases, have more than {postings - 1:,} postings."
    with pytest.raises(InputError) as error:
        Searcher(index.snapshot, BM25()).search(dict.fromkeys(terms, 1.0), 5)
    assert str(error.value) == message


@pytest.mark.usefixtures("narrow")
def test_threads_that_fill_the_arrays_together_get_the_hits_of_one(index, exact):
    searcher = Searcher(index.snapshot, BM25())
    queries = [{ordered([a, b]): 1.0, window([a, b], 5): 0.5, b: 1.0} for a, b in itertools.permutations(WORDS, 2)]
    expected = [naive.retrieve(exact, searcher.ranker, query, 5)[0] for query in queries]
    assert [hits.docs.tolist() for hits in searcher.batch(queries, 5, workers=4)] == expected
    wrong: list[int] = []

    def ask(seed: int) -> None:
        order = random.Random(seed).sample(range(len(queries)), len(queries))
        wrong.extend(n for n in order if searcher.search(queries[n], 5).docs.tolist() != expected[n])

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_numbers_of_operators_follow_those_of_words_and_none_is_given_twice(index, monkeypatch):
    monkeypatch.setattr(operators, "KEPT_OPERATORS", 1)
    table = TermTable(index.snapshot)
    seen = [table.numbers([ordered([a, b])])[0] for a, b in itertools.permutations(WORDS[:4], 2)]
    assert table.words == len(index.corpus.vocabulary)
    assert min(seen) >= table.words
    assert len({*seen}) == len(seen)
    with pytest.raises(InputError, match="No term has the number"):
        table.names(np.array(seen[:1]))


@pytest.mark.usefixtures("narrow")
def test_a_context_keeps_its_numbers_while_other_threads_replace_the_arrays(index, exact):
    table, pairs = TermTable(index.snapshot), [ordered(pair) for pair in itertools.permutations(WORDS, 2)]
    wanted = {term: float(len(exact.postings(term)[0])) for term in pairs}
    wrong: list[object] = []

    def ask(seed: int) -> None:
        chance = random.Random(seed)
        try:
            for _ in range(40):
                context, asked = Feedback(Hits.none(index.snapshot), table), chance.sample(pairs, 3)
                # Numbers that were given first still hold after the others.
                numbers = np.array([number for term in asked for number in context.numbers([term])])
                there = [term for term in asked if wanted[term]]
                if context.names(numbers[numbers >= 0]) != there:
                    wrong.append(asked)
                if context.stats(numbers[numbers >= 0]).df.tolist() != [wanted[term] for term in there]:
                    wrong.append(asked)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_word_with_the_text_of_an_operator_is_another_term(tmp_path):
    phrase = ordered(["a", "b"])
    index = built(tmp_path / "index", [Document("1", "a b"), Document("2", "b a")], analyzer="plain")
    table = TermTable(index.snapshot)
    assert table.numbers([str(phrase)]) == [-1]
    assert table.numbers([phrase, str(phrase), "a"]) == [2, -1, 0]


def test_a_ranker_that_fails_leaves_no_half_filled_arrays(index, exact):
    class Fails(Ranker):
        broken = True

        def score(self, tf, doc, term, collection):
            return np.full_like(tf, np.nan) if self.broken and tf.max() > 1 else tf / doc.length

    ranker = Fails()
    searcher = Searcher(index.snapshot, ranker)
    query = {"w6": 1.0, ordered(["w0", "w1"]): 1.0, synonyms(["w0", "w1"]): 1.0}
    with pytest.raises(PluginError, match="not a finite number"):
        searcher.search(query, 5)
    ranker.broken = False
    check(searcher, exact, {ordered(["w2", "w1"]): 1.0, "w5": 1.0}, 5)
    check(searcher, exact, query, 5)


def test_contexts_count_operators(index, exact):
    context = Feedback(Hits.none(index.snapshot), TermTable(index.snapshot))
    phrase = ordered(["w0", "w1"])
    docs, tfs = exact.postings(phrase)
    assert context.frequencies(phrase, docs[::-1]).tolist() == tfs[::-1].tolist()
    stats = context.stats(np.array(context.numbers(["w0", phrase])))
    assert stats.df.tolist() == [exact.term("w0").df, len(docs)]
    assert stats.cf.tolist() == [exact.term("w0").cf, tfs.sum()]
    assert context.surface(phrase) == '"w0 w1"'


def test_windows_of_many_words_stand_in_other_operators_and_those_of_operators_have_few_parts(index, exact):
    seven = ["w0", "w0", "w0", "w1", "w1", "w2", "w3"]
    chance, terms = random.Random(3), []
    for size in (3, 5):
        for width in (size, size + 1, size + 3):
            inner = window(chance.choices(WORDS[:4], k=size), width)
            terms += [ordered([inner, "w0"], 3), window([inner, "w1"], width + 2), synonyms([inner, "w5"])]
    expect_postings(TermTable(index.snapshot), exact, [*terms, ordered([window(seven, 9), "w2"], 5)])
    assert any(exact.term(term) for term in terms)
    most = [ordered(["w0", "w1"]), *seven]
    window(most[:MOST_NESTED], 20)
    with pytest.raises(InputError, match="has 7 parts, among them operators"):
        window(most[: MOST_NESTED + 1], 20)


def test_nested_operators_read_each_word_once_and_not_too_many_positions(tmp_path, monkeypatch):
    texts = ["a b a c", "b a b", "c a a b", "b c a b"]
    index = built(tmp_path / "index", [Document(str(n), text) for n, text in enumerate(texts)], analyzer="plain")
    read: list[int] = []
    monkeypatch.setattr(
        Segment,
        "gather_positions",
        lambda own, terms, tfs, gather=Segment.gather_positions: read.append(len(terms)) or gather(own, terms, tfs),
    )
    both = synonyms(["a", "b"])
    asked = {ordered([both, both, "a"]): 1.0, ordered([both, "c", "a"], 3): 1.0}
    expected = Searcher(index.snapshot, BM25()).search(asked, 5)
    # The words a, b and c.
    assert read == [1, 1, 1]
    queries = [{ordered([both, "a"]): 1.0}, {ordered([both, "b"]): 1.0}, {"a": 1.0}]
    alone = [Searcher(index.snapshot, BM25()).search(query).docs.tolist() for query in queries]
    monkeypatch.setattr(operators, "POSITIONS_OF_A_QUERY", 50)
    # A group of queries that reads too much is searched in halves.
    assert [hits.docs.tolist() for hits in Searcher(index.snapshot, BM25()).batch(queries)] == alone
    monkeypatch.setattr(operators, "POSITIONS_OF_A_QUERY", 20)
    with pytest.raises(InputError, match=r"stand within others have more than 20 positions; ask for rarer words\."):
        Searcher(index.snapshot, BM25()).search(asked)
    assert len(expected.docs)


def test_the_index_computes_the_operator_that_it_shows_once(tmp_path, monkeypatch):
    built(tmp_path / "index", [Document("1", "a b"), Document("2", "b a")], analyzer="plain")
    index, computed, compute = sublex.open(tmp_path / "index"), [], operators.OperatorTable._compute
    monkeypatch.setattr(
        operators.OperatorTable, "_compute", lambda *given: computed.append(given[1]) or compute(*given)
    )
    for _ in range(2):
        assert index.term("#1('a','b')").df == 1
        assert index.postings("#1('a','b')").docs.tolist() == [0]
        assert index.searcher("BM25").search({ordered(["a", "b"]): 1.0}).docnos == ["1"]
    assert computed == [[ordered(["a", "b"])]]


def test_without_positions_a_sentence_names_the_remedy_and_synonyms_of_words_need_none(tmp_path):
    index = sublex.build([Document("a", "stem cell"), Document("b", "cell stem stem")], tmp_path / "index")
    searcher = index.searcher("BM25")
    assert searcher.search({synonyms(["stem", "cell"]): 1.0}).docnos == ["b", "a"]
    for term in (ordered(["stem", "cell"]), synonyms([window(["stem", "cell"], 8), "stem"])):
        with pytest.raises(
            IndexProblem,
            match=r"without stored positions, which phrases and windows read, such as .*; rebuild it: .*positions",
        ):
            searcher.search({term: 1.0})


def test_too_many_operators_and_too_many_nested_parts_cost_a_sentence(index, monkeypatch):
    searcher = index.searcher("BM25")
    many = {ordered(["w0", "w1"], width): 1.0 for width in range(1, 10_001)}
    with pytest.raises(InputError, match=r"A query has 10,000 operators, such as phrases; the most are 4,096\."):
        searcher.search(many)
    with pytest.raises(
        InputError, match=r"has 15 parts, among them operators; #uw with operators takes at most 6 parts\."
    ):
        window([*WORDS, *WORDS, ordered(["w0", "w1"])], 40)


def test_sums_too_large_for_float32_are_refused(index):
    with pytest.raises(InputError, match="too large"):
        index.searcher("BM25").search({ordered(["w0", "w1"]): 3e38, synonyms(["w0", "w1"]): 3e38})


def test_explanations_show_operators_as_words(index, exact):
    phrase, missing = ordered(["w0", "w1"]), window(["w5", "w6"], 3)
    terms = (QueryTerm(phrase), QueryTerm(missing, 0.5, "SDM"), QueryTerm(ordered(["absent", "w1"])))
    pipeline = index.pipeline("BM25")
    query = Query("w0 w1", terms)
    docs, tfs = exact.postings(phrase)
    others = set(exact.postings(missing)[0].tolist())
    doc, tf = next((doc, tf) for doc, tf in zip(docs.tolist(), tfs.tolist(), strict=True) if doc not in others)
    tree = pipeline.explain(query, doc)
    text = str(tree)
    assert '"w0 w1": ' in text and "(w5 … w6) within 3 words: not in this document" in text
    assert '"absent w1"' in text
    (leaf,) = [part for part in tree.parts if part.label.startswith('"w0 w1"')]
    score = naive.retrieve(exact, BM25(), query.weights(), 1000)
    assert tree.value == pytest.approx(dict(zip(*score, strict=True))[doc])
    assert f"tf {tf}" in str(leaf)


@pytest.mark.parametrize("name", ["cranfield"])
def test_phrases_of_cranfield_are_found_where_the_texts_have_them(collections, tmp_path, name):
    index = sublex.build(collections / name / "docs.trec", tmp_path / "index", store=STORE, analyzer="plain")
    exact = naive.WithOperators(index.snapshot)
    table, chance = TermTable(index.snapshot), random.Random(1)
    texts = [[term for raw in raw_tokens(d.contents) for term in index.analyze(raw)] for d in index.documents()]
    phrases: list[tuple[str, ...]] = []
    for text in chance.sample([text for text in texts if len(text) > 9], 25):
        at, size = chance.randrange(len(text) - 4), chance.choice([2, 2, 3])
        phrases.append(tuple(text[at : at + size]))
    for phrase in phrases:
        term = ordered(phrase)
        found = dict(zip(*(own.tolist() for own in table.postings(term, 0)), strict=True))
        assert found == naive.postings_of(term, exact.documents)
        if len({*phrase}) == len(phrase):
            # With two blanks between words, occurrences in a row share none.
            wanted = {n: f" {'  '.join(text)} ".count(f" {'  '.join(phrase)} ") for n, text in enumerate(texts)}
            assert found == {n: number for n, number in wanted.items() if number}
    for topic in sublex.read_topics(collections / name / "topics.trec")[:3]:
        terms = index.query(topic.text).weights()
        pairs = [(a, b) for a, b in itertools.pairwise(terms) if a != b]
        near = {ordered(pair): 0.1 for pair in pairs} | {window(pair, 8): 0.05 for pair in pairs}
        for ranker in ("BM25", "PL2", "DirichletLM", "DPH"):
            docs, scores = naive.retrieve(exact, index.searcher(ranker).ranker, terms | near, 20)
            hits = index.searcher(ranker).search(terms | near, 20)
            assert (hits.docs.tolist(), hits.scores.tolist()) == (docs, scores)


def test_blends_and_first_retrievals_of_expanders_score_operators(index, exact):
    phrase = ordered(["w0", "w1"])
    query = Query("w0 w1", (QueryTerm("w0"), QueryTerm("w3"), QueryTerm(phrase, 2.0)))
    both = {
        ranker: dict(zip(*naive.retrieve(exact, index.searcher(ranker).ranker, query.weights(), 1000), strict=True))
        for ranker in ("BM25", "PL2")
    }
    hits = index.pipeline("raw(BM25) + 0.5*raw(PL2)").answer(query, 1000).hits
    wanted = {doc: score + 0.5 * both["PL2"][doc] for doc, score in both["BM25"].items()}
    assert dict(zip(hits.docs.tolist(), hits.scores.tolist(), strict=True)) == pytest.approx(wanted, rel=1e-6)
    seen: list[list[int]] = []

    class Look:
        docs = 5

        def expand(self, query, context):
            seen.append(context.docs.tolist())
            assert context.frequencies(phrase, context.docs).tolist() == [
                naive.frequency(phrase, exact.documents[doc]) for doc in context.docs.tolist()
            ]
            return query

    index.pipeline(sublex.expander(Look(), name="look") >> "BM25").answer(query, 5)
    assert seen == [naive.retrieve(exact, BM25(), query.weights(), 5)[0]]


def test_python_rankers_score_operators(index, exact):
    @sublex.ranker
    def loud(tf, length, df, cf):
        return 1000 * tf / length + df + cf

    phrase = window(["w0", "w1"], 3)
    hits = index.pipeline(loud).answer(Query("", (QueryTerm(phrase),)), 1000).hits
    docs, tfs = exact.postings(phrase)
    lengths = np.array([float(own.lengths[doc]) for own, doc in map(index.snapshot.place, docs.tolist())])
    wanted = 1000 * tfs / lengths + len(docs) + tfs.sum()
    assert dict(zip(hits.docs.tolist(), hits.scores.tolist(), strict=True)) == pytest.approx(
        dict(zip(docs.tolist(), wanted.tolist(), strict=True))
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_frequent_words_with_rows_of_bits_give_the_postings_of_the_definition(tmp_path, seed):
    """Longer texts of more words, so that frequent words, rare words and mixtures of both are in one operator."""
    chance = random.Random(seed)
    collection = [
        Document(f"d{k}", text + (f" rare{chance.randint(0, 9)} w1" if chance.random() < 0.1 else ""))
        for k, text in enumerate(texts(700, seed))
    ]
    index = built(tmp_path / "index", collection)
    exact = naive.WithOperators(index.snapshot)
    names = [*(f"w{k}" for k in range(40)), *(f"rare{k}" for k in range(10))]
    terms: list[str] = []
    for _ in range(150):
        some = chance.choices(names, [1 / (k + 1) for k in range(40)] + [0.2] * 10, k=chance.randint(2, 3))
        terms.append(chance.choice([ordered, partial(window, width=chance.randint(3, 8))])(some))
    expect_postings(TermTable(index.snapshot), exact, [term for term in terms if isinstance(term, Operator)])
