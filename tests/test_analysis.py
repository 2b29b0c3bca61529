"""Tests of analysis: raw tokens, words, stemmers, stop lists, analyzers by name, profiles, and agreement with Lucene."""

from __future__ import annotations

import json
import os
import random
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import naive
import numba
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared import manifest_of, write_manifest
from strategies import examples

import sublex
from sublex.analysis import porter, stopwords, tokens
from sublex.analysis.analyzers import LANGUAGES
from sublex.analysis.folding import fold
from sublex.analysis.interner import Interner
from sublex.analysis.words import LONGEST, words
from sublex.errors import IndexCorrupt, InputError, SublexError, UnknownName
from sublex.language import plugins
from sublex.language.expression import Call
from sublex.language.parser import parse_call
from sublex.language.profiles import PROFILES, profile

# Without the compiler NumPy warns when a hash overflows, as it should, and every test is slow.
COMPILED = not numba.config.DISABLE_JIT
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
often = settings(max_examples=examples(300 if COMPILED else 10))

GOLDEN = json.loads((Path(__file__).parent / "golden" / "lucene-terms.json").read_text("ascii"))
DIFFERS = "where Sublex differs"
LUCENE_STOP = naive.LUCENE_STOP_WORDS
REGISTRY = plugins.load()
BUILT_IN = ("english", "plain", "terrier", *LANGUAGES)
SAMPLE = "The Whales' song isn't the sailor's; nai\u0308ve CAFÉS в 1,000 東京都で ไทย 😀 snake_case running"


def make(text: str) -> Any:
    """Make an analyzer from its printed form."""
    return REGISTRY.make("analyzer", text)


def terms(analyzer: str, text: str) -> list[str]:
    """Return the terms of a text; the analyzer is given by its printed form."""
    return tokens.analyze(make(analyzer), text)


# Texts: every kind of character next to every other, odd words, and any Unicode characters, halves of surrogate pairs too.
ODD = (
    "don't", "U.S.A.", "3.14", "1,000,000", "O'Neill's", "dog’s", "it＇s", "x’s's", "_a_", "a:b", "1:2", "a..b", "a.1", '"', "“",
    "—", "e\u0301", "\u0301", "ﬁ", "İ", "ΟΔΟΣ", "ß", "כ\"ץ", "צ'", "ที่นี่", "東京都", "か\u3099", "カタカナ", "한\u1100\u1161",
    "👩🏻‍💻", "🇩🇪🇺", "1️⃣", "x²", "\x00", "\ud800", "\udfff", "\u2028", "\xa0", "\ufeff", "a" * 254, "b" * 256, "é" * 130,
    "_" * 200, "\u0338", "\u037e", "\u1fef", "\u212a", "the", "The", "THE", "running", "flies",
)  # fmt: skip
KNOWN = st.sampled_from(list(naive.KINDS)).flatmap(lambda kind: st.sampled_from(naive.KINDS[kind]))
ASCII = st.sampled_from("abcxyzABC0123456789_.:,;'\"-+/ \n\t\x00")
ANYTHING = st.one_of(KNOWN, ASCII, st.characters(categories=None), st.sampled_from(ODD), st.just(" "))
TEXTS = st.lists(ANYTHING, max_size=25).map("".join)
WORDS = st.one_of(
    st.text("abcdefghijklmnopqrstuvwxyz", max_size=12),
    st.text("aeiouylsztbdnmrv", max_size=10),
    st.text("aeyéжß東'2", max_size=6),
).flatmap(
    lambda stem: st.sampled_from(["", *naive.STEP_2, *naive.STEP_3, *naive.STEP_4, *naive.STEP_1]).map(stem.__add__)
)


# Raw tokens.


@often
@given(TEXTS)
@example("a.b.c. 1,2,3, _ __ a_ 'a' a''b “é”")
@example("é.\u2014x é:\xa0y é'。 x\u2019s")
@example("")
def test_raw_tokens_are_those_of_the_reference(text: str) -> None:
    assert tokens.raw_tokens(text) == naive.raw_tokens_of(text.encode("utf-8", "replace").decode())


@often
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_texts_laid_end_to_end_are_cut_as_each_alone(texts: list[str]) -> None:
    parts = [text.encode("utf-8", "replace") for text in texts]
    data = b"".join(parts)
    found = tokens.tokenize(np.frombuffer(data, np.uint8), np.cumsum([len(part) for part in parts]))
    strings = found.strings(data)
    begins = [0, *found.ends.tolist()]
    cut = [[strings[token] for token in found.numbers[a:b]] for a, b in zip(begins, begins[1:], strict=False)]
    assert cut == [tokens.raw_tokens(text) for text in texts]
    assert len(set(strings)) == len(strings), "a distinct token is met once"


def test_more_distinct_tokens_than_the_first_table_holds_keep_their_numbers() -> None:
    text = " ".join(f"{'x' * (n % 40)}{n % (15000 if COMPILED else 50)}" for n in range(40000 if COMPILED else 200))
    assert tokens.raw_tokens(text) == text.split()


@often
@given(st.lists(st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=30), max_size=5))
def test_interned_strings_are_numbered_by_first_appearance(batches: list[list[bytes]]) -> None:
    interner, known = Interner(), dict[bytes, int]()
    for batch in batches:
        lengths = np.array([len(string) for string in batch], np.int64)
        data = np.frombuffer(b"".join(batch), np.uint8)
        numbers = interner.add(data, np.cumsum(lengths) - lengths, lengths)
        assert numbers.tolist() == [known.setdefault(string, len(known)) for string in batch]
    assert interner.strings().tobytes() == list(known)
    assert interner.lines() == b"".join(string + b"\n" for string in known)
    half = len(known) // 2
    assert interner.lines(half) == b"".join(string + b"\n" for string in list(known)[half:])


@often
@given(TEXTS)
def test_strings_are_the_same_however_they_reach_the_table(text: str) -> None:
    data = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    found = tokens.tokenize(data, np.array([len(data)], np.int64))
    interner = Interner()
    numbers = interner.add_described(tokens.with_spare(data, len(data)), found.starts, found.keys, found.hashes)
    assert numbers.tolist() == list(range(len(numbers)))
    assert interner.add(data, found.starts, found.keys[:, 2].astype(np.int64)).tolist() == numbers.tolist()
    assert interner.strings().tolist() == list(dict.fromkeys(tokens.raw_tokens(text)))


@given(st.lists(st.text("aé汉\U00020000\ud800 .'-_1b\n"), max_size=4))
@often
def test_each_raw_token_is_located_in_its_text(written):
    analyzer = make("plain")
    cut = tokens.cut_texts(analyzer, written)
    for number, text in enumerate(written):
        expected, at = [], 0
        for raw in tokens.raw_tokens(text):
            expected.append((text.index(raw, at), raw))
            at = expected[-1][0] + len(raw)
        assert [(place, cut.raws[raw]) for place, raw in cut.located(number)] == expected
    chosen = np.array(["a" in raw for raw in cut.raws], bool)
    few = cut.only(chosen)
    for number in range(len(written)):
        kept = [(place, raw) for place, raw in cut.located(number) if chosen[raw]]
        assert list(few.located(number)) == kept


# LaTeX and accents.

PIECES = (
    *"\\{}'\"`^~=. aeioucszOijx$-1_é", "\\'", '\\"', "{\\", "\\v", "\\H", "\\c", "\\ss", "\\o", "\\L", "\\i", "\\j", "\\AA", "\\d ",
    "{\\i}", "{\\'e}", "\\'{e}", '\\"{\\i}', "\\v{s}", "{\\v{s}}", "{\\ss}", "\\o{}", "\\o ", "\\~", "\\dots", "\\left",
)  # fmt: skip


@often
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example("\\v s\\v ss \\o sx\\o s")
@example("é\\ss é\\o ss")
@example('a\\ss\\"o{\\"{o}}\\.\\i{}\\.\\i x')
def test_raw_tokens_with_latex_are_those_of_the_reference(text: str) -> None:
    assert tokens.raw_tokens(text, True) == naive.latex_tokens_of(text)
    assert tokens.raw_tokens(text) == naive.raw_tokens_of(text)


LATEX_WORDS = {
    "schrödinger": r"Schr\"odinger Schr\"{o}dinger Schr{\"o}dinger Schr{\"{o}}dinger Schrödinger SCHR\"ODINGER",
    "poincaré": r"Poincar\'e Poincar\'{e} Poincar{\'e} Poincar{\'{e}} Poincar\' e",
    "naïve": r"na\"ive na\"{\i}ve na\"\i ve na\"{i}ve",
    "erdős": r"Erd\H{o}s Erd{\H o}s Erd\H os",
    "garçon": r"gar\c{c}on gar\c con gar{\c c}on",
    "nešetřil": r"Ne\v{s}et\v{r}il Ne{\v{s}}et{\v{r}}il Ne\v set\v ril",
    "sørensen": r"S\o rensen S{\o}rensen S\o{}rensen",
    "łukasiewicz": r"{\L}ukasiewicz \L ukasiewicz \L{}ukasiewicz",
    "łódź": r"{\L}\'{o}d\'{z} \L\'od\'z",
    "gauß": r"Gau\ss. Gau\ss, Gau{\ss} Gau\ss{}",
    "straße": r"Stra\ss e Stra{\ss}e",
    "ångström": r"{\AA}ngstr\"om \AA{}ngstr{\"o}m \AA ngstr\"om \r{A}ngstr\"om",
    "mądry": r"M\k{a}dry M{\k{a}}dry",
    "yağan": r"Ya\u{g}an Ya{\u g}an",
    "itō": r"It\=o It\={o}",
    "spież": r"Spie\.z Spie\.{z}",
    "arıkan": r"Ar{\i}kan Ar\i kan Ar\i{}kan",
}


@pytest.mark.parametrize("word", LATEX_WORDS)
def test_the_usual_forms_of_a_letter_in_latex_are_one_word(word: str) -> None:
    written = LATEX_WORDS[word]
    assert set(terms("plain(latex=true)", written)) == {word}
    assert all(" " in raw or raw == raw.strip() for raw in tokens.raw_tokens(written, True))


def test_schroedinger_in_unicode_in_ascii_and_in_latex_meet():
    written = r"Schrödinger Schrodinger Schr\"odinger Schro\u0308dinger SCHRÖDINGER".replace("\\u0308", "\u0308")
    assert set(terms("plain(fold=true, latex=true)", written)) == {"schrodinger"}
    assert set(terms("english(fold=true, latex=true, normalize=none)", written)) == {"schroding"}
    assert set(terms("plain", written)) == {"schrödinger", "schrodinger", "schr", "odinger"}


def test_formulas_and_other_commands_are_read_as_without_latex():
    text = r"$\O(\log n)$, \tilde{O}(n), n^{-\d}, $\b{eta}$ \left\l( \l\lfloor \vec{v} \v{x} \K{s} 5\AA\ 60\% \{x\} C:\users\oliver \em{so}"
    assert terms("plain(latex=true)", text) == terms("plain", text)


def test_a_possessive_and_a_dash_after_latex_are_read_as_after_a_letter():
    text = r"Poincar\'{e}'s l'\'Etat R\'enyi--Erd\H{o}s~graph"
    assert terms("english(latex=true, stem=none)", text) == ["poincaré", "l'état", "rényi", "erdős", "graph"]


def test_folding_is_that_of_lucene():
    lines = (Path(__file__).parent / "golden" / "lucene-folding.tsv").read_text("utf-8").splitlines()[1:]
    lucene = dict(line.split("\t") for line in lines)
    other = {letter: folded for letter, folded in lucene.items() if fold(letter) != folded}
    # Lucene writes these two in upper case, and an f for this long s.
    assert {letter: fold(letter) for letter in "ǥǧẛ"} == {"ǥ": "g", "ǧ": "g", "ẛ": "s"}
    blocks = [*range(0x80, 0x250), *range(0x1E00, 0x1F00), *range(0xFF00, 0xFFF0)]
    left = {letter for letter in other if ord(letter) in blocks and letter == letter.lower()} - set("ǥǧẛ")
    assert left == set("ȸȹỻ")
    # Other differences are letters of phonetics and of medieval print, which stay as they are.
    assert all(fold(letter) == letter for letter in other if letter not in "ǥǧẛ" and letter == letter.lower())


def test_folding_leaves_other_scripts_as_they_are():
    for text in ("ёлка йод", "άνθρωπος", "हिन्दी", "か\u3099く", "한국어", "عَرَبِيّ", "ที่นี่", "😀"):
        assert terms("plain(fold=true)", text) == terms("plain", text)
    assert fold("x\u0302 и\u0306 ﬁ") == "x и\u0306 fi"


def test_stop_words_are_folded_with_the_words(tmp_path: Path):
    (tmp_path / "stop").write_text("für\n", "utf-8")
    assert terms(f'plain(stop="{tmp_path / "stop"}", fold=true)', "Für FUR für x") == ["x"]


def test_an_index_stores_the_new_switches_only_where_they_are_on():
    assert "fold" not in make("english").settings()["params"] and "latex" not in make("english").settings()["params"]
    assert make("english(fold=true)").settings()["params"]["fold"] is True
    assert str(make("english(fold=true, latex=true)")) == "english(fold=true, latex=true)"


# Words.


@often
@given(st.lists(KNOWN, max_size=14).map("".join), st.booleans())
@example("カ_a カー_カ 日本ひゝa日 กา1 a\u200d☺\u200d☺", True)
@example("א\"ש אג' 1.9.1. a.Z_a:Z 🇺🇸🇸🇺🇺 _ a_", False)
@example("_\u0301a\u0301.\u00adZ ☺\u200d\u0301☺ \u0301a", False)
def test_words_follow_the_rules_of_uax_29(text: str, bigrams: bool) -> None:
    assert words(text, bigrams) == naive.words_of(text, bigrams)


@often
@given(TEXTS)
@example("naïve nai\u0308ve <\u0338 1\u037e2 a\u1fefb")
def test_terms_of_raw_tokens_are_the_terms_of_the_whole_text(text: str) -> None:
    english = make("english")
    found = words(unicodedata.normalize("NFC", text), True)
    assert tokens.analyze(english, text) == naive.english(found, LUCENE_STOP)
    assert tokens.analyze(make("plain(cjk=single, normalize=none)"), text) == [
        naive.lower(word) for word in words(text, False)
    ]


@often
@given(TEXTS)
def test_no_word_is_longer_than_255_characters_or_holds_white_space(text: str) -> None:
    for word in words(text, True):
        assert 0 < len(word) <= LONGEST and not re.search(r"\s|\x00", word)


LENGTHS = {
    "w" * 255: [255],
    "w" * 256: [255, 1],
    "w" * 511: [255, 255, 1],
    "é" * 300: [255, 45],
    "w" * 254 + "." + "w" * 10: [254, 10],
    "w" * 253 + "." + "w" * 10: [255, 9],
    "1" * 250 + ".5" * 10: [254, 15],
    "w" * 250 + "_" * 20 + "w": [255, 16],
    "_" * 300 + "w": [255],
    "カ" * 300: [255, 45],
    "ก" * 300: [255, 45],
    "w" + "\u0301" * 300: [255],
}


@pytest.mark.parametrize("text", LENGTHS, ids=ascii)
def test_a_long_word_is_cut_where_lucene_cuts_it(text: str) -> None:
    assert [len(word) for word in words(text, False)] == LENGTHS[text]
    assert [len(term) for term in terms("plain(cjk=single)", text)] == LENGTHS[text]


@often
@given(TEXTS)
def test_words_do_not_depend_on_how_a_text_too_long_for_the_expression_is_read(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        plainly = words(text, True)
        patch.setattr("sublex.analysis.words.ENDLESS", 0)
        assert words(text, True) == plainly


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="long for an interpreted kernel")
def test_a_word_of_millions_of_characters_is_cut_like_any_other() -> None:
    for analyzer in ("english", "plain", "german"):
        assert len(terms(analyzer, "x" * 5_000_000)) == -(-5_000_000 // LONGEST)
    assert words("_" * 1_000_000 + "w", True) == ["_" * 254 + "w"]


@pytest.mark.slow
def test_a_hundred_thousand_characters_without_a_space_are_read() -> None:
    size = 100_000 if COMPILED else 300
    assert terms("plain", "日本" * (size // 2)) == ["日本", "本日"] * (size // 2 - 1) + ["日本"]
    assert terms("plain(cjk=single)", "日本" * (size // 2)) == ["日", "本"] * (size // 2)
    assert terms("plain", "一" + "\u0301" * size) == ["一"]
    assert terms("plain", "x" * size) == ["x" * 255] * (size // 255) + ["x" * (size % 255)]
    for unit in ("‿", "_", "\u0301", ".", "'", '"', "é.-"):
        found = terms("plain", unit * (size // len(unit)))
        assert found == (["é"] * (size // 3) if unit == "é.-" else []), ascii(unit)


@pytest.mark.parametrize(
    ("text", "pairs", "single"),
    [
        ("東京都", ["東京", "京都"], ["東", "京", "都"]),
        ("東", ["東"], ["東"]),
        ("東京、大阪", ["東京", "大阪"], ["東", "京", "大", "阪"]),
        ("東 京", ["東", "京"], ["東", "京"]),
        ("東京tower都", ["東京", "tower", "都"], ["東", "京", "tower", "都"]),
        ("私はコーヒー", ["私は", "コーヒー"], ["私", "は", "コーヒー"]),
        ("か\u3099き", ["がき"], ["が", "き"]),
    ],
)
def test_han_and_hiragana_pair_up_or_stand_alone(text: str, pairs: list[str], single: list[str]) -> None:
    assert terms("plain", text) == pairs
    assert terms("plain(cjk=single)", text) == single


# Stemmers.


@often
@given(st.lists(WORDS.filter(bool), max_size=20))
def test_porters_kernel_stems_as_the_reference_does(found: list[str]) -> None:
    assert porter.stem(found) == [naive.porter(word) for word in found]


def test_every_short_word_of_telling_letters_is_stemmed_as_by_the_reference() -> None:
    letters = "aeiyslngdt" if COMPILED else "es"
    found = [a + b + c + d for a in letters for b in letters for c in letters for d in letters]
    assert porter.stem(found) == [naive.porter(word) for word in found]


def test_porters_kernel_stems_real_vocabulary_as_the_reference_does() -> None:
    root = Path(__file__).resolve().parents[1]
    text = (root / "queries" / "demo" / "documents.jsonl").read_text("utf-8").lower()
    found = sorted(set(re.findall("[a-z]+", text)))[:: 1 if COMPILED else 100]
    assert porter.stem(found) == [naive.porter(word) for word in found]


def test_porters_kernel_stems_a_whole_collection_as_the_reference_does(collections: Path) -> None:
    text = (collections / "cranfield" / "docs.trec").read_text("latin-1").lower()
    found = sorted(set(re.findall("[a-z]+", text)))[:: 1 if COMPILED else 200]
    assert porter.stem(found) == [naive.porter(word) for word in found]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("cats", "cat"), ("feed", "feed"), ("agreed", "agre"),
        ("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"), ("hopping", "hop"),
        ("falling", "fall"), ("filing", "file"), ("happy", "happi"), ("sky", "sky"), ("relational", "relat"),
        ("triplicate", "triplic"), ("revival", "reviv"), ("adoption", "adopt"), ("probate", "probat"), ("cease", "ceas"),
        ("controll", "control"), ("roll", "roll"),
        # What Lucene does where the paper says otherwise or nothing.
        ("as", "as"), ("is", "is"), ("analogy", "analog"), ("possibly", "possibl"), ("ion", "ion"), ("aed", "a"), ("", ""),
    ],
)  # fmt: skip
def test_porters_examples_come_out_as_in_his_paper_and_as_in_lucene(word: str, stem: str) -> None:
    assert porter.stem([word]) == [naive.porter(word)] == [stem]


def test_no_words_have_no_stems() -> None:
    assert porter.stem([]) == []


def test_each_language_stems_with_its_snowball_stemmer() -> None:
    import Stemmer

    samples = ["nationalen", "relations", "corriendo", "бегущими", "गाड़ियाँ", "περπατώντας", "koşuyorlar", "المكتبات"]
    for language in LANGUAGES:
        assert terms(language, " ".join(samples)) == Stemmer.Stemmer(language).stemWords(samples), language
    assert terms("plain(stem=porter2)", "possibly generously") == Stemmer.Stemmer("english").stemWords(
        ["possibly", "generously"]
    )


# Analyzers by name.


def test_every_analyzer_is_registered_under_its_name() -> None:
    assert set(BUILT_IN) <= set(REGISTRY.names("analyzer"))


def other_value(param: Any) -> Any:
    """Return a legal value of a parameter that is not its default."""
    if param.type is bool:
        return not param.default
    if param.name == "stop":
        return "none" if param.default == "lucene" else "lucene"
    return next(value for value in reversed(param.range) if value != param.default)


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_analyzer_with_each_parameter_changed_prints_restores_and_analyzes(name: str) -> None:
    params = REGISTRY.find("analyzer", name).params
    choices = [{}, *({p.name: other_value(p)} for p in params), {p.name: other_value(p) for p in params}]
    for values in choices:
        made = REGISTRY.build("analyzer", name, values)
        assert str(made) == str(Call(name, (), values))
        restored = [make(str(made)), REGISTRY.build("analyzer", **unpacked(json.loads(json.dumps(made.settings()))))]
        expected = tokens.analyze(made, SAMPLE)
        assert expected and all(
            str(again) == str(made) and tokens.analyze(again, SAMPLE) == expected for again in restored
        )


def unpacked(stored: dict[str, Any]) -> dict[str, Any]:
    """Return stored settings as the registry takes them."""
    return {"name": stored["name"], "params": stored["params"]}


@pytest.mark.parametrize(
    ("analyzer", "expected"),
    [
        ("english", "whale song isn't sailor naïv café в 1,000 東京 京都 都で ไทย 😀 snake_cas run"),
        ("english(stop=none)", "the whale song isn't the sailor naïv café в 1,000 東京 京都 都で ไทย 😀 snake_cas run"),
        ("english(stem=none)", "whales song isn't sailor naïve cafés в 1,000 東京 京都 都で ไทย 😀 snake_case running"),
        ("english(possessive=false)", "whale song isn't sailor' naïv café в 1,000 東京 京都 都で ไทย 😀 snake_cas run"),
        ("english(cjk=single)", "whale song isn't sailor naïv café в 1,000 東 京 都 で ไทย 😀 snake_cas run"),
        (
            "english(normalize=none)",
            "whale song isn't sailor nai\u0308v café в 1,000 東京 京都 都で ไทย 😀 snake_cas run",
        ),
        ("plain", "the whales song isn't the sailor's naïve cafés в 1,000 東京 京都 都で ไทย 😀 snake_case running"),
        ("german(stop=lucene)", "whal song isn't sailor naïv cafés в 1,000 東京 京都 都で ไทย 😀 snake_cas running"),
        ("terrier", "the whale song isn t the sailor s nai ve caf s 1 000 snake case run"),
        ("terrier(stem=none, stop=lucene)", "whales song isn t sailor s nai ve caf s 1 000 snake case running"),
    ],
)
def test_parameters_do_what_they_say(analyzer: str, expected: str) -> None:
    assert terms(analyzer, SAMPLE) == expected.split()


@often
@given(st.lists(TEXTS, max_size=4), st.sampled_from(["english", "plain(cjk=single)", "french", "terrier"]))
def test_a_batch_gives_what_each_token_gives_alone(texts: list[str], name: str) -> None:
    analyzer = make(name)
    raws = [raw for text in texts for raw in tokens.raw_tokens(text)]
    together = [tokens.split_terms(joined) for joined in tokens.terms_of(analyzer, raws)]
    assert together == [analyzer.terms(raw) for raw in raws]


@often
@given(TEXTS, st.sampled_from(["english", "plain", "german", "terrier"]))
def test_the_stages_shown_to_people_end_in_the_terms(text: str, name: str) -> None:
    stages = make(name).stages(text)
    assert [stage for stage, _ in stages] == ["words", "lower-cased", "stopped", "stemmed"]
    assert stages[-1][1] == terms(name, text)


def test_an_analyzer_names_the_versions_that_its_terms_depend_on() -> None:
    assert set(make("english").versions()) == {"unicode", "regex"}
    assert set(make("german").versions()) == {"unicode", "regex", "PyStemmer"}


def test_an_analyzer_of_a_stranger_needs_only_terms() -> None:
    class Shout:
        def terms(self, token: str) -> list[str]:
            return [token.upper()] if len(token) > 1 else []

    assert tokens.analyze(Shout(), "a whale, a ship") == ["WHALE", "SHIP"]


def test_texts_are_analysed_together_and_each_raw_token_once() -> None:
    class Counting:
        seen: ClassVar[list[str]] = []

        def terms(self, token: str) -> list[str]:
            self.seen.append(token)
            return token.split(".")

    texts = ["a whale.boat", "", "a ship, a whale.boat", "a ship"]
    assert tokens.analyze_all(Counting(), texts) == [
        ["a", "whale", "boat"],
        [],
        ["a", "ship", "a", "whale", "boat"],
        ["a", "ship"],
    ]
    assert sorted(Counting.seen) == ["a", "ship", "whale.boat"]
    assert tokens.analyze_all(Counting(), []) == []


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("dog's", "dog"), ("DOG'S", "dog"), ("dog’s", "dog"), ("dog＇s", "dog"), ("dogs'", "dog"), ("don't", "don't"),
        ("x's's", "x'"), ("x’s's", "x’"), ("x's’s", "x'"), ("is's", ""), ("it‘s", "it‘"), ("_'s", "s"), ("s's", "s"),
    ],
)  # fmt: skip
def test_one_possessive_is_taken_off(written: str, term: str) -> None:
    assert terms("english", written) == term.split()


def test_composed_and_decomposed_letters_are_the_same_term() -> None:
    assert terms("plain", "caf\u00e9") == terms("plain", "cafe\u0301") == ["caf\u00e9"]
    assert terms("plain", "\u212bngstro\u0308m") == terms("plain", "\u00e5ngstr\u00f6m")
    assert terms("plain(normalize=none)", "cafe\u0301") == ["cafe\u0301"]


def test_a_dotted_capital_i_becomes_a_plain_i() -> None:
    assert terms("plain", "İzmir IZMIR") == ["izmir", "izmir"]


# Stop lists.


def test_a_stop_list_comes_from_a_file_and_is_kept_in_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "my words.txt"
    path.write_text("\ufeffWhale\n\n  ship  # a comment\n# nothing\nçà\n", encoding="utf-8")
    made = REGISTRY.build("analyzer", "english", {"stop": str(path)})
    assert tokens.analyze(made, "The whale, a SHIP, whales, ÇÀ") == ["the", "a", "whale"]
    stored = json.loads(json.dumps(made.settings()))
    path.unlink()
    again = REGISTRY.build("analyzer", **unpacked(stored))
    assert tokens.analyze(again, "The whale, a SHIP, whales, ÇÀ") == ["the", "a", "whale"]
    assert str(again) == str(made) == 'english(stop="my words.txt")'
    assert again.settings() == stored


def test_the_named_lists_are_lucenes_33_words_and_none() -> None:
    assert stopwords.load("lucene").words == set(LUCENE_STOP) and len(LUCENE_STOP) == 33
    assert stopwords.load("none").words == frozenset()


# What a user gets wrong.


def fails(act: Callable[[], object]) -> str:
    """Return the message of the SublexError that a call raises; it is one sentence."""
    with pytest.raises(SublexError) as caught:
        act()
    message = str(caught.value)
    assert "\n" not in message and message.endswith("."), message
    return message


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("englsh", ["No analyzer englsh", "did you mean english?", "and 27 others"]),
        ("klingon", ["No analyzer klingon", "and 27 others"]),
        ("english(stopwords=none)", ["no parameter stopwords", "stop, stem, possessive, cjk, normalize"]),
        ("terrier(cjk=single)", ["no parameter cjk", "stop, stem"]),
        ("english(stem=klingon)", ["stem=klingon is unknown; there are: ", " and 25 others."]),
        ("english(stem=3)", ["stem=3", "a word or a text"]),
        ("english(possessive=maybe)", ["possessive=maybe", "true or false"]),
        ("english(possessive=1)", ["possessive=1", "true or false"]),
        ("english(stop=nowhere.txt)", ["No stop list nowhere.txt", "No such file", "none or lucene"]),
        ("english(stop=3)", ["stop=3 is not a list", "lucene"]),
        ('english(stop="")', ["No stop list"]),
        ('english(stop="a\\u0000b")', ["no file can have that name"]),
        ("english(", ["Cannot read 'english('"]),
        ("english(stem)", ["Cannot read"]),
        ("english(stem=none,)", ["Cannot read"]),
        ("english(stem=none) x", ["Cannot read"]),
        ("english(stem=none, stem=none)", ["gives stem twice"]),
        ('english(stop="\\x")', ["is not a valid JSON string"]),
        ('english(stop="x)', ["Cannot read"]),
        ("", ["Cannot read ''"]),
        ("(", ["Cannot read '('"]),
        ('"english"', ["Cannot read"]),
        ('english("stem"=none)', ["Cannot read"]),
    ],
)
def test_what_is_wrong_with_an_analyzer_is_said_in_one_sentence(text: str, parts: list[str]) -> None:
    message = fails(lambda: make(text))
    assert all(part in message for part in parts), message


def test_a_stop_list_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    assert "it is not UTF-8" in fails(lambda: stopwords.load(str(tmp_path / "latin")))
    assert "not a plain file" in fails(lambda: stopwords.load(str(tmp_path)))


# Printed forms.

NAMES = st.from_regex(r"[A-Za-z_][\w.:/-]{0,10}", fullmatch=True)
VALUES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=12),
    st.text('tru"\\, ()=e\n', max_size=8),
    st.sampled_from(["true", "false", "inf", "nan", "Infinity", "1", "1.5", "1e5", "a b", "", "é", "None"]),
)


@given(st.builds(Call, NAMES, st.just(()), st.dictionaries(NAMES, VALUES, max_size=4)))
def test_a_printed_form_is_read_back_as_it_was(spec: Call) -> None:
    again = parse_call(str(spec))
    assert again == spec and str(again) == str(spec)
    assert [type(value) for value in again.params.values()] == [type(value) for value in spec.params.values()]


@given(st.one_of(st.text('ab=(),"\\ 1.e', max_size=16), st.text(max_size=10)))
def test_any_text_is_read_as_a_printed_form_or_refused_in_a_sentence(text: str) -> None:
    try:
        spec = parse_call(text)
    except InputError:
        return
    if not any(value != value for value in spec.params.values()):
        assert parse_call(str(spec)) == spec


def test_white_space_in_a_printed_form_means_nothing() -> None:
    assert parse_call(" english ( stem = none,stop=lucene ) ") == Call(
        "english", (), {"stem": "none", "stop": "lucene"}
    )
    assert parse_call("plain()") == Call("plain")
    assert str(parse_call('plain( stop = "a b.txt" )')) == 'plain(stop="a b.txt")'


# Profiles.


def test_each_profile_names_an_analyzer_in_its_printed_form() -> None:
    assert set(PROFILES) == {"sublex", "anserini", "terrier", "pisa"}
    for name in PROFILES:
        assert str(make(profile(name).analyzer)) == profile(name).analyzer


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sublex", "reader café 東京 京都 isn't 1,000"),
        ("anserini", "reader café 東 京 都 isn't 1,000"),
        ("terrier", "the reader s caf s isn t 1 000"),
        ("pisa", "the reader café 東京 京都 isn't 1,000"),
    ],
)
def test_profiles_differ_as_they_say(name: str, expected: str) -> None:
    assert terms(profile(name).analyzer, "The reader's cafés: 東京都 isn't 1,000") == expected.split()


def test_an_unknown_profile_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"^No profile terier; did you mean terrier\? There are: sublex, anserini"):
        profile("terier")


# Terrier.


@often
@given(st.one_of(TEXTS, st.text("aAbB12 é'_", max_size=30)))
def test_terriers_tokens_are_those_of_the_reference(text: str) -> None:
    assert terms("terrier", text) == naive.terrier(text)
    assert terms("terrier(stop=lucene)", text) == naive.terrier(text, LUCENE_STOP)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 3 + "y" * 3 + "abcdefghijklmn", "xxxyyyabcdefghijklmn"),
        ("abcdefghijklmnopqrstu", ""),
        ("aaab aaaab AAAAb", "aaab"),
        ("aaAAb", "aaaab"),
        ("1234 12345 a1b2c3d4 a1b2c3d4e5 1112", "1234 a1b2c3d4 1112"),
        ("state-of-the-art can't U.S.A. snake_case", "state of the art can t u s a snake case"),
        ("café naïve Ωmega 東京 ４２", "caf na ve mega"),
    ],
)
def test_terrier_drops_long_repetitive_and_digit_heavy_tokens(text: str, expected: str) -> None:
    assert terms("terrier(stem=none)", text) == expected.split()


# Lucene.


def test_profile_anserini_gives_the_terms_lucene_gave() -> None:
    differing = [
        f"{group}: {text!r}: Lucene {theirs}, Sublex {ours}"
        for group, pairs in GOLDEN.items()
        if group not in ("made with", DIFFERS)
        for text, theirs in (pairs if COMPILED else pairs[::5])
        if (ours := terms(profile("anserini").analyzer, text)) != theirs
    ]
    assert not differing, "\n".join(differing)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ΚΌΣΜΟΣ ΤΗΣ ΟΔΟΥ", "κόσμος της οδου"),
        ("々1 々々 日々日々", "々 1 々 々 日 々 日 々"),
        ("#️⃣ *️⃣ 1️⃣", "1️⃣"),
        ("סנדוויץ' וגם צ'יפס'", "סנדוויץ וגם צ'יפס"),
        ('א"ב"ג', 'א"ב"ג'),
        ("\u200d😀 a\u200d😀", "😀 a\u200d 😀"),
        ("ℹ\u200d😀", "ℹ\u200d 😀"),
        ("𐕰𐖗 𞊐𞊑 𑤀𑤁", None),
    ],
)
def test_what_docs_analysis_says_of_the_rest_is_so(text: str, expected: str | None) -> None:
    theirs = dict(GOLDEN[DIFFERS])[text]
    ours = terms(profile("anserini").analyzer, text)
    assert ours != theirs
    assert len(ours) == 3 if expected is None else ours == expected.split()


def test_the_golden_file_says_what_made_it_and_has_texts_of_every_kind() -> None:
    assert set(GOLDEN["made with"]) == {"lucene", "anserini", "pyserini", "analyzer"}
    assert sum(len(pairs) for group, pairs in GOLDEN.items() if group != "made with") >= 400


def test_vocabulary_order_does_not_matter_to_a_batch() -> None:
    raws = list(dict.fromkeys(tokens.raw_tokens(SAMPLE)))
    shuffled = random.Random(1).sample(raws, len(raws))
    analyzer = make("english")
    assert dict(zip(raws, tokens.terms_of(analyzer, raws), strict=True)) == dict(
        zip(shuffled, tokens.terms_of(analyzer, shuffled), strict=True)
    )


def test_an_index_cannot_name_a_file_of_stop_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index stores the words of a list. The path of a list would be read, wherever it leads."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("crane")
    os.mkfifo(tmp_path / "pipe")
    sublex.build([{"id": "a", "text": "crane"}], "index", analyzer="english(stop=none)")
    for path in (str(tmp_path / "secret"), "secret", str(tmp_path / "pipe"), "/dev/zero", str(tmp_path)):
        manifest = manifest_of(tmp_path / "index")
        manifest["analyzer"]["settings"]["params"]["stop"] = path
        write_manifest(tmp_path / "index", manifest)
        with pytest.raises(IndexCorrupt, match="The analyzer of the index names a file outside the index"):
            sublex.open("index").search("crane")
    with pytest.raises(InputError, match="is not a plain file"):
        sublex.build([{"id": "a", "text": "crane"}], "other", analyzer="english(stop=pipe)")
