"""Tests of phrase mining: frequent sequences and segmentation against naive ones, the forest, abbreviations, and mining as a whole."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import examples

from sublex.contracts.base import Break
from sublex.errors import InputError
from sublex.estimators.phrases.lexicon import Lexicon
from sublex.estimators.phrases.phrase_list import NAMES, PhraseList
from sublex_phrases.abbreviations import defining_places, definitions, main_definitions
from sublex_phrases.features import count_uses, features
from sublex_phrases.forest import binned, likeness
from sublex_phrases.forms import written_forms
from sublex_phrases.inflections import is_inflection, variants_of
from sublex_phrases.mining import mine, phrase_list_of
from sublex_phrases.ngrams import frequent
from sublex_phrases.quality import judge_words
from sublex_phrases.roles import PRIOR, _shares, learn_roles, unknown_roles
from sublex_phrases.segmentation import segment
from sublex_phrases.text import JoinedTexts

STOPS = ("of", "the", "a", "in", "for")
SMALL = settings(max_examples=examples(100), deadline=None)


def text_of(*texts: str) -> JoinedTexts:
    """Return a text. Words stand between spaces, a term is a word in small letters, and the break before a word is given by . , ( ) -"""
    kinds = {".": Break.STOP, ",": Break.COMMA, "(": Break.OPEN, ")": Break.CLOSE, "-": Break.HYPHEN}
    written, surfaces, breaks, ends = {}, [], [], []
    for text in texts:
        pending = Break.START
        for word in text.split():
            if word in kinds:
                pending |= kinds[word]
                continue
            surfaces.append(written.setdefault(word, len(written)))
            breaks.append(int(pending))
            pending = Break(0)
        ends.append(len(surfaces))
    terms = sorted({word.lower() for word in written} - {*STOPS})
    lexicon = Lexicon(terms, STOPS)
    unit = [lexicon.unit(word, "" if word.lower() in STOPS else word.lower()) for word in written]
    arrays = np.array(surfaces, np.int32), np.array(breaks, np.uint16), np.array(ends, np.int64)
    return JoinedTexts(lexicon, np.array(unit, np.int32)[arrays[0]], *arrays, list(written))


def words(text: JoinedTexts, sequence) -> str:
    return " ".join(text.lexicon.words[unit] for unit in sequence if unit >= 0)


def collection(seed: int = 0, texts: int = 300) -> list[str]:
    """Return texts with phrases among words in random order; some phrases are abbreviated."""
    chance = np.random.default_rng(seed)
    syllables = ["ba", "ko", "ru", "mi", "te", "so", "la", "ni"]
    filler = ["".join(parts) for parts in itertools.product(syllables, repeat=3)][:150]
    weights = 1 / np.arange(1, len(filler) + 1)
    phrases = [
        " ".join(f"{x}{part}{k}x" for part in ("alpha", "beta", "gamma")[: 2 + k % 2])
        for k, x in enumerate("abcdefghij" * 4)
    ]
    made = []
    for _ in range(texts):
        parts = []
        for _ in range(12):
            parts += [*chance.choice(filler, 3, p=weights / weights.sum()), chance.choice(STOPS)]
            k = int(chance.integers(len(phrases)))
            letters = "".join(word[0] for word in phrases[k].split()).upper()
            parts += [phrases[k], *(["(", letters, ")"] if chance.random() < 0.5 else [])]
            parts += [chance.choice([",", ".", "of", "the"])]
        made.append(" ".join(parts))
    return made


@pytest.fixture(scope="module")
def mined():
    text = text_of(*collection())
    return text, mine(text, support=5)


# Frequent sequences and their uses.


@SMALL
@given(st.lists(st.text("ab.,-", min_size=1, max_size=30).map(" ".join), min_size=1, max_size=4), st.integers(1, 3))
def test_frequent_sequences_are_those_of_a_naive_count(texts, support):
    text = text_of("a", *texts)
    counts: Counter = Counter()
    for i in range(len(text.units)):
        for j in range(i + 1, min(i + 6, len(text.units)) + 1):
            if not text.walls[i + 1 : j].any():
                counts[tuple(text.units[i:j].tolist())] += 1
    ngrams = frequent(text, support, 6)
    found = {
        tuple(row[row >= 0].tolist()): int(count) for row, count in zip(ngrams.sequences(), ngrams.counts, strict=True)
    }
    assert found == {sequence: count for sequence, count in counts.items() if count >= support}
    for i, node in enumerate(ngrams.longest.tolist()):
        begun = [sequence for sequence in found if tuple(text.units[i : i + len(sequence)].tolist()) == sequence]
        begun = [sequence for sequence in begun if not text.walls[i + 1 : i + len(sequence)].any()]
        assert (max(map(len, begun)) if begun else 0) == (ngrams.lengths[node] if node >= 0 else 0)
    for node in np.flatnonzero(ngrams.lengths > 1).tolist():
        assert words(text, ngrams.sequences()[ngrams.suffixes[node]]) == words(text, ngrams.sequences()[node][1:])


def test_listed_sequences_count_however_rare():
    text = text_of("a b c d", "a b c e", "a b")
    listed = tuple(text.lexicon.unit(word, word) for word in "bce")
    ngrams = frequent(text, 2, 6, [listed])
    (node,) = ngrams.nodes([listed])
    assert ngrams.counts[node] == 1
    assert ngrams.nodes([listed[:0:-1], (listed[2], listed[0])]) == [-1, -1]


def test_uses_are_counted():
    text = text_of("Big Data of ( big data ) , big - data . Big data", "the big data")
    ngrams = frequent(text, 2, 6)
    (node,) = ngrams.nodes([tuple(text.lexicon.unit(word, word) for word in ("big", "data"))])
    uses = count_uses(text, ngrams)[node]
    # Quoted, bracketed, capitals, hyphens, after a wall, before a wall, alone, not at the beginning of a sentence.
    assert ngrams.counts[node] == 5
    assert uses.tolist() == [0, 1, 0, 1, 4, 4, 3, 3]
    table = features(text, ngrams, count_uses(text, ngrams), unknown_roles(text))
    assert table.shape == (len(ngrams.parents), len(NAMES)) and np.isfinite(table).all()
    c, total = ngrams.counts, len(text.units)
    a, b = ngrams.nodes([(text.lexicon.unit("big", "big"),), (text.lexicon.unit("data", "data"),)])
    assert table[node, NAMES.index("concordance")] == pytest.approx(np.log(c[node] * total / (c[a] * c[b])))
    assert table[node, NAMES.index("association")] == pytest.approx(np.log(c[node] / np.sqrt(c[a] * c[b])))


# Segmentation.


@SMALL
@given(st.lists(st.text("abc.", min_size=1, max_size=9).map(" ".join), min_size=1, max_size=3), st.integers(0, 10**6))
def test_the_segmentation_is_the_best_of_all(texts, seed):
    text = text_of("a b c", *texts)
    ngrams = frequent(text, 1, 3)
    weights = -np.random.default_rng(seed).random(len(ngrams.parents))
    weights[(ngrams.lengths > 1) & (weights < -0.8)] = -np.inf
    found = segment(text, ngrams, weights).found
    node_of = {tuple(row[row >= 0].tolist()): node for node, row in enumerate(ngrams.sequences())}
    begins = [*np.flatnonzero(text.walls).tolist(), len(text.units)]
    for begin, end in itertools.pairwise(begins):
        best = -np.inf
        for cuts in itertools.product((0, 1), repeat=end - begin - 1):
            places = [begin, *(begin + k + 1 for k, cut in enumerate(cuts) if cut), end]
            nodes = [node_of.get(tuple(text.units[i:j].tolist()), -1) for i, j in itertools.pairwise(places)]
            best = max(best, sum(weights[nodes]) if min(nodes) >= 0 else -np.inf)
        chosen = found[begin:end]
        assert sum(weights[chosen[chosen >= 0]]) == pytest.approx(best)
        assert ngrams.lengths[chosen[chosen >= 0]].sum() == end - begin


# The forest.


def test_a_forest_finds_what_is_like_the_good_ones():
    chance = np.random.default_rng(0)
    values = chance.normal(size=(2000, 6))
    like = (values[:, 0] > 0.3) & (values[:, 3] < 0.5)
    good = np.flatnonzero(like)[:100]
    found = likeness(values, good)
    assert ((found > 0.5) == like)[100:].mean() > 0.9
    assert found.min() >= 0 and found.max() <= 1
    backwards = likeness(values, good, run=lambda work, items: reversed([work(item) for item in reversed(list(items))]))
    assert np.array_equal(found, backwards)


@pytest.mark.parametrize(
    "values", [np.zeros((9, 2)), np.arange(9.0).reshape(9, 1), np.repeat([[1.0], [5.0]], 5, axis=0)]
)
def test_bins_keep_the_order_and_few_rows_are_no_problem(values):
    bins = binned(values)
    for column, of in zip(bins.T, values.T, strict=True):
        assert ((np.diff(of) > 0) == (np.diff(column.astype(int)) > 0)).all()
    assert np.isfinite(likeness(values, np.array([0]))).all()


# Abbreviations.


def test_abbreviations_are_found_by_the_first_letters():
    text = text_of(
        *["a Support Vector Machine ( SVM ) , Internet of Things ( IoT ) , support , vector machine ( SVM ) here"] * 3
    )
    found = {
        text.lexicon.words[unit]: {words(text, sequence): times for sequence, times in sequences.items()}
        for unit, sequences in definitions(text, defining_places(text, 6)).items()
    }
    assert found == {"svm": {"support vector machine": 3}, "iot": {"internet of things": 3}}


def test_an_abbreviation_that_is_mostly_a_word_or_stands_for_two_phrases_is_left_out():
    text = text_of(
        *["World Health Organization ( WHO ) here"] * 3, *["who is who"] * 9,
        *["cool new name ( CNN ) , central nerve node ( CNN ) here"] * 3, *["red green blue ( RGB ) here"] * 2,
    )  # fmt: skip
    main = main_definitions(text, definitions(text, defining_places(text, 6)))
    assert {text.lexicon.words[unit]: times for unit, (_, times) in main.items()} == {"rgb": 2}


# Mining.


def test_the_phrases_of_a_text_are_found(mined):
    _, found = mined
    names = {forms[0][0] for forms in found.forms}
    planted = [
        f"{x}alpha{k}x {x}beta{k}x" + (f" {x}gamma{k}x" if k % 2 else "") for k, x in enumerate("abcdefghij" * 4)
    ]
    assert sum(name in names for name in planted) >= 0.9 * len(planted)
    several = found.ngrams.lengths[found.nodes] > 1
    assert several.sum() < 1.5 * len(planted)
    assert (np.diff(several.astype(int)) <= 0).all() and (np.diff(found.quality[several]) <= 0).all()


def test_single_words_are_those_that_texts_come_back_to():
    # Both words end as many sequences and occur 60 times; "keen" in every tenth text, "dull" in every fifth one.
    made = collection()
    for k in range(0, 300, 5):
        made[k] += f" . {('bax', 'kox', 'rux')[k % 3]} dull ."
        made[k] += f" bax keen . {('kox', 'rux')[k % 3 % 2]} keen ." if k % 2 else ""
    text = text_of(*made)
    dull, keen = (text.lexicon.unit(word, word) for word in ("dull", "keen"))
    assert text.counts[dull] == text.counts[keen] == 60
    by_chance = -np.log(1 - np.exp(-60 / 300))
    assert text.residual_idf[[dull, keen]] == pytest.approx([np.log(5) - by_chance, np.log(10) - by_chance])
    ngrams = frequent(text, 5, 6)
    table = features(text, ngrams, count_uses(text, ngrams), unknown_roles(text))
    every = np.ones(len(table))
    quality = judge_words(text, ngrams, table, every, every > 0)
    assert quality[ngrams.nodes([(keen,)])] > 0.5 > quality[ngrams.nodes([(dull,)])]


def test_the_result_does_not_depend_on_the_workers(mined):
    text, found = mined

    def backwards(work, items):
        items = list(items)
        done = {k: work(items[k]) for k in reversed(range(len(items)))}
        return iter([done[k] for k in range(len(items))])

    again = mine(text, support=5, run=backwards)
    for name in ("nodes", "judged", "mentions", "table", "weights"):
        assert np.array_equal(getattr(found, name), getattr(again, name)), name
    assert found.forms == again.forms and found.abbreviations == again.abbreviations


def test_a_list_finds_its_phrases_in_the_text_as_mining_counted_them(mined):
    text, found = mined
    phrases = phrase_list_of(text, found)
    assert phrases.is_whole()
    again = PhraseList(
        phrases.lexicon.terms,
        phrases.lexicon.words[phrases.lexicon.first_stop :],
        phrases.values(),
    )
    units = np.array([again.lexicon.unit(word, "" if word in STOPS else word) for word in text.lexicon.words], np.int32)
    begins, ids = again.find(units[text.units], text.walls)
    assert np.bincount(ids[ids >= 0], minlength=len(again)).tolist() == phrases.mentions.tolist()
    sizes = np.diff([*begins.tolist(), len(text.units)])
    single = np.isin(ids, np.flatnonzero(again.lengths > 1), invert=True)
    assert (sizes[single] == 1).all() and sizes.sum() == len(text.units)


def test_a_list_keeps_what_the_text_tells_about_each_word(mined):
    text, found = mined
    phrases = phrase_list_of(text, found)
    texts = [text.units[begin:end].tolist() for begin, end in zip([0, *text.ends[:-1]], text.ends, strict=True)]
    for word in phrases.lexicon.words[:: max(1, len(phrases.lexicon) // 20)]:
        unit, own = (lexicon.unit(word, "" if word in STOPS else word) for lexicon in (text.lexicon, phrases.lexicon))
        df, cf = sum(unit in units for units in texts), sum(units.count(unit) for units in texts)
        idf = np.log(len(texts) / df)
        assert phrases.word_idf[own] == pytest.approx(idf, abs=1e-5)
        by_chance = -np.log(1 - np.exp(-cf / len(texts)))
        assert phrases.word_residual[own] == pytest.approx(idf - by_chance, abs=1e-5)
        assert phrases.word_begins[own] == pytest.approx(found.roles.begins[unit], abs=1e-6)
        assert phrases.word_ends[own] == pytest.approx(found.roles.ends[unit], abs=1e-6)


def test_unknown_words_and_empty_texts_are_no_problem(mined):
    text, found = mined
    phrases = phrase_list_of(text, found)
    begins, ids = phrases.find(np.array([-1, -1, -1], np.int32), np.array([1, 0, 0], np.uint8))
    assert begins.tolist() == [0, 1, 2] and ids.tolist() == [-1, -1, -1]
    begins, ids = phrases.find(np.empty(0, np.int32), np.empty(0, np.uint8))
    assert not len(begins) and not len(ids)


def test_listed_phrases_are_the_phrases(mined):
    text, found = mined
    sequences = found.ngrams.sequences()
    listed = {tuple(row[row >= 0].tolist()): 0.7 for row in sequences[found.nodes[:5]]}
    rare = next(
        tuple(text.units[k : k + 2].tolist())
        for k in range(len(text.units))
        if not text.walls[k + 1] and text.counts[text.units[k]] > 30
    )
    again = mine(text, support=10**6, listed=listed | {rare: 1.0})
    kept = {tuple(row[row >= 0].tolist()) for row in again.ngrams.sequences()[again.nodes]}
    assert kept <= {*listed, rare} and kept >= {*listed}


@pytest.mark.parametrize("number, message", [(1, "too small for phrases"), (60, r"write phrases\(support=\d\)")])
def test_too_few_sequences_are_refused_with_the_support_that_would_do(number, message):
    text = text_of(*collection(texts=number)[: max(1, number // 2)])
    with pytest.raises(InputError, match=message) as refused:
        mine(text, support=200)
    if number > 1:
        support = int(str(refused.value).rpartition("=")[2].strip(")."))
        assert len(mine(text, support=support).nodes)
        with pytest.raises(InputError):
            mine(text, support=support + 1)


def test_forms_keep_capitals_and_hyphens_and_chinese_has_no_spaces():
    text = text_of(*["Big data , big - data", "big data", "机 器", "big data . Big Data"])
    ngrams = frequent(text, 1, 2)
    nodes = ngrams.nodes(
        [tuple(text.lexicon.unit(word, word) for word in words) for words in (("big", "data"), "机器")]
    )
    forms = written_forms(
        text, ngrams, np.where(ngrams.lengths[ngrams.longest] == 2, ngrams.longest, -1), np.array(nodes)
    )
    assert forms == {nodes[0]: [("big data", 4), ("big-data", 1)], nodes[1]: [("机器", 1)]}


# What may be in a phrase.


@pytest.mark.parametrize(
    "word, other, same",
    [
        ("network", "networks", True), ("theory", "theories", True), ("class", "classes", True), ("Netz", "Netze", True),
        ("analysis", "analyses", True), ("computer", "computational", False), ("relation", "related", False),
        ("observed", "observations", False), ("formal", "formalism", False),
    ],
)  # fmt: skip
def test_inflections_differ_by_few_letters_at_the_end(word, other, same):
    assert is_inflection(word, other) is is_inflection(other, word) is same


def test_words_of_one_stem_that_are_no_inflections_are_variants_if_they_are_frequent():
    written = ["Computer", "computers", "computational", "computer", "computing", "of"]
    terms = np.array([0, 0, 0, 0, 0, -1])
    counts = np.array([2, 3, 4, 2, 1, 9])
    assert list(variants_of(written, terms, counts, 2)) == [(0, ["computational"])]
    assert list(variants_of(written, terms, counts, 1)) == [(0, ["computational"]), (0, ["computing"])]
    assert list(variants_of(written, terms, np.array([2, 3, 9, 2, 1, 9]), 2)) == [(0, ["computer", "computers"])]
    lexicon = Lexicon(["comput"], ["of"], [["computational"]], [0])
    assert [lexicon.unit(word, "comput") for word in ("computer", "Computational")] == [0, 1]
    assert lexicon.unit("of", "") == 2 == lexicon.first_stop and lexicon.words == ["comput", "comput", "of"]


def sentences(number: int = 120) -> list[str]:
    """Return texts in which nouns, adjectives and verbs stand where English has them; the text defines few phrases."""
    chance = np.random.default_rng(1)
    nouns, adjectives = [f"noun{k}" for k in range(30)], [f"adj{k}" for k in range(20)]
    verbs, determiners = [f"verb{k}" for k in range(20)], ["the", "a"]
    made = []
    for _ in range(number):
        parts = []
        for _ in range(12):
            a, n, m, v = (chance.choice(words) for words in (adjectives, nouns, nouns, verbs))
            short = f" ( {a[0]}{n[0]} )".upper() if chance.random() < 0.1 else ""
            parts.append(f"{chance.choice(determiners)} {a} {n}{short} {v} {chance.choice(determiners)} {m} .")
        made.append(" ".join(parts))
    return made


def test_words_get_roles_from_the_phrases_that_the_text_defines():
    text = text_of(*sentences())
    places = defining_places(text, 6)
    several = [(begin, end) for begin, end in places if end - begin > 1]
    assert several
    firsts, lasts = (np.array(column) for column in zip(*[(begin, end - 1) for begin, end in several], strict=True))
    roles = learn_roles(text, firsts, lasts).of_units(text)
    of = {kind: [text.lexicon.unit(f"{kind}{k}", f"{kind}{k}") for k in range(20)] for kind in ("noun", "adj", "verb")}
    assert roles.begins[of["adj"]].mean() > 0.8 and roles.begins[of["verb"]].mean() < 0.4
    assert roles.ends[of["noun"]].mean() > 0.8
    assert max(roles.ends[of["adj"]].mean(), roles.ends[of["verb"]].mean()) < 0.4


def test_a_word_of_a_good_group_counts_the_others_of_its_group():
    # Of three words with one ending two are good. The word itself does not count, and half of all words are good.
    found = _shares(np.array([0, 0, 0, 1]), np.array([0, 1]))
    assert found == pytest.approx(
        [(1 + PRIOR / 2) / (2 + PRIOR), (1 + PRIOR / 2) / (2 + PRIOR), (2 + PRIOR / 2) / (2 + PRIOR), 1 / 2]
    )


def test_a_role_does_not_tell_how_frequent_a_word_is():
    levels = np.repeat([0, 5], [90, 30])
    features = np.random.default_rng(0).random((120, 2))
    features[:, 0] += levels
    good = np.arange(100, 110)
    with_levels = likeness(features, good, 0, levels=levels)
    assert likeness(features, good, 0)[110:].mean() > with_levels[110:].mean() + 0.2


def test_phrases_with_verbs_numbers_and_letters_are_no_phrases():
    made = collection()
    for k in range(0, 300, 10):
        made[k] += " . we show how balpha1x bbeta1x bgamma1x . 50 calpha2x cbeta2x . x is k . it is x"
    text = text_of(*made)
    found = mine(text, support=5)
    names = [forms[0][0] for forms in found.forms]
    assert "balpha1x bbeta1x bgamma1x" in names
    assert not [name for name in names if {"show", "how", "we", "50"} & {*name.split()} or len(name) == 1]


def test_a_phrase_is_written_in_small_letters_if_texts_often_do():
    text = text_of(*["Neural Network"] * 3, *["neural network", "Markov chain", "Markov chain", "Markov Chain"])
    ngrams = frequent(text, 1, 2)
    nodes = ngrams.nodes(
        [tuple(text.lexicon.unit(w, w) for w in pair.split()) for pair in ("neural network", "markov chain")]
    )
    found = np.where(ngrams.lengths[ngrams.longest] == 2, ngrams.longest, -1)
    forms = written_forms(text, ngrams, found, np.array(nodes))
    assert [forms[node] for node in nodes] == [[("neural network", 4)], [("Markov chain", 3)]]
