"""The built-in analyzers: `english`, `plain`, the Snowball languages and `terrier`.

One class makes them all; they differ in their parameters. An analyzer normalises a raw token, cuts it into words by the
rules of Unicode, lower-cases the words, removes their accents if `fold` is on, removes stop words and stems the rest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from importlib import metadata
from itertools import compress, islice
from typing import Any

from sublex.analysis import stopwords
from sublex.analysis.folding import fold
from sublex.analysis.latex import decoded
from sublex.analysis.tokens import raw_tokens
from sublex.analysis.words import LONGEST, split_terms, words
from sublex.contracts.base import Param
from sublex.contracts.hookspecs import Register
from sublex.language.parameters import printed

LANGUAGES = (
    "arabic", "armenian", "basque", "catalan", "danish", "dutch", "finnish", "french", "german", "greek", "hindi",
    "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali", "norwegian", "portuguese", "romanian",
    "russian", "serbian", "spanish", "swedish", "tamil", "turkish", "yiddish",
)  # fmt: skip
STEMMERS = ("none", "porter", "porter2", *LANGUAGES)
_POSSESSIVE = re.compile("['\u2019\uff07]s$", re.MULTILINE)
_TERRIER = re.compile("[A-Za-z0-9]+")
# Parameters that were added after the first indexes were built. An index stores them only if they are on.
_LATER = ("fold", "latex")
_FOUR_ALIKE = re.compile(r"(.)\1{3}")


class WordAnalyzer:
    """An analyzer that turns a raw token into words, and words into terms, as its parameters say."""

    # Whether an ASCII raw token of up to LONGEST characters is always one word.
    _ascii_is_one_word = True

    def __init__(self, name: str, params: Sequence[Param], values: dict[str, Any]):
        self.name, self.params = name, tuple(params)
        chosen = {param.name: values.get(param.name, param.default) for param in params}
        self.stop = stopwords.load(chosen["stop"])
        self._users_list = chosen["stop"] not in stopwords.NAMES
        chosen["stop"] = self.stop.name
        self.values = chosen
        self._stem = _stemmer(chosen["stem"])
        self._bigrams = chosen.get("cjk") == "bigrams"
        self._normal = chosen.get("normalize") == "nfc"
        self._possessive = bool(chosen.get("possessive"))
        self._fold = bool(chosen.get("fold"))
        self.latex = bool(chosen.get("latex"))
        self._stopped = frozenset(map(fold, self.stop.words)) if self._fold else self.stop.words

    def __str__(self) -> str:
        return printed(self.name, self.params, self.values)

    def settings(self) -> dict[str, Any]:
        """Return the name and the parameters from which this analyzer can be made again.

        If the user gave a file of stop words, the parameters contain its words. They contain a parameter of `_LATER` only
        if it is on.
        """
        stop = {"name": self.stop.name, "words": sorted(self.stop.words)} if self._users_list else self.stop.name
        values = {name: value for name, value in self.values.items() if value or name not in _LATER}
        return {"name": self.name, "params": values | {"stop": stop}}

    def versions(self) -> dict[str, str]:
        """Return the versions of Unicode and of the packages that may change a term."""
        parts = {"unicode": unicodedata.unidata_version, "regex": _version("regex")}
        return parts | ({"PyStemmer": _version("PyStemmer")} if self.values["stem"] not in ("none", "porter") else {})

    def terms(self, token: str) -> list[str]:
        """Return the terms of one raw token."""
        return split_terms(self.batch([token])[0])

    def batch(self, tokens: Sequence[str]) -> list[str]:
        """Return for each raw token its terms, joined by newlines."""
        if not self._ascii_is_one_word:
            return self._batch_of_any(tokens)
        joined = "\n".join(tokens)
        if joined.isascii() and not (self.latex and "\\" in joined) and max(map(len, tokens), default=0) <= LONGEST:
            return self._finish(self._lowered(joined)) if tokens else []
        is_word = [token.isascii() and len(token) <= LONGEST for token in tokens]
        if self.latex:
            is_word = [word and "\\" not in token for word, token in zip(is_word, tokens, strict=True)]
        words = list(compress(tokens, is_word))
        terms = self._finish(self._lowered("\n".join(words))) if words else []
        if len(words) == len(tokens):
            return terms
        one = iter(terms)
        any_ = iter(self._batch_of_any([token for token, word in zip(tokens, is_word, strict=True) if not word]))
        return [next(one) if word else next(any_) for word in is_word]

    def _batch_of_any(self, tokens: Sequence[str]) -> list[str]:
        """Return for each raw token its terms, joined by newlines. A raw token may hold several words."""
        words_of = [self.words(token) for token in tokens]
        flat = [word for words in words_of for word in words]
        terms = iter(self._finish(self._lowered("\n".join(flat))) if flat else [])
        return ["\n".join(filter(None, islice(terms, len(words)))) for words in words_of]

    def _finish(self, lowered: list[str]) -> list[str]:
        """Return the stem of each lower-case word, and an empty string for each stop word."""
        stop = self._stopped
        return ["" if word in stop else stem for word, stem in zip(lowered, self._stem(lowered), strict=True)]

    def _lowered(self, words: str) -> list[str]:
        """Return a list of the words in lower case, without a final 's and without accents if the parameters say so.

        In `words`, newlines separate the words.
        """
        lowered = words.replace("\u0130", "i").lower()
        if self._possessive:
            lowered = _POSSESSIVE.sub("", lowered)
        return (fold(lowered) if self._fold else lowered).split("\n")

    def letters(self, text: str) -> str:
        """Return a text with letters as in terms: composed, in lower case, and without accents if `fold` is on."""
        text = self._composed(text).replace("\u0130", "i").lower()
        return fold(text) if self._fold else text

    def _composed(self, text: str) -> str:
        text = decoded(text) if self.latex else text
        return unicodedata.normalize("NFC", text) if self._normal else text

    def words(self, text: str) -> list[str]:
        """Return the words of a text, in order and as they are written."""
        return words(self._composed(text), self._bigrams)

    def stages(self, text: str) -> list[tuple[str, list[str]]]:
        """Return (stage, words) for each stage of the analysis of a text, for `sublex analyze`."""
        words = [word for raw in raw_tokens(text, True) for word in self.words(raw)] if self.latex else self.words(text)
        lowered = self._lowered("\n".join(words)) if words else []
        stopped = [word for word in lowered if word not in self._stopped]
        lower = "folded" if self._fold else "lower-cased"
        return [("words", words), (lower, lowered), ("stopped", stopped), ("stemmed", self._stem(stopped))]


class TerrierAnalyzer(WordAnalyzer):
    """An analyzer with Terrier's English tokens: runs of ASCII letters and digits.

    It drops a word that has more than 20 characters, more than 4 digits, or 4 identical characters in a row.
    """

    _ascii_is_one_word = False

    def words(self, text: str) -> list[str]:
        """Return the words of a text that Terrier keeps."""
        return [word for word in _TERRIER.findall(text) if _terrier_keeps(word)]


@cache
def _version(package: str) -> str:
    return metadata.version(package)


def _terrier_keeps(word: str) -> bool:
    return len(word) <= 20 and not _FOUR_ALIKE.search(word) and sum(map(str.isdigit, word)) <= 4


def _stemmer(name: str) -> Callable[[list[str]], list[str]]:
    """Return the function that stems a list of words."""
    if name == "none":
        return lambda words: words
    if name == "porter":
        from sublex.analysis.porter import stem

        return stem
    import Stemmer

    return Stemmer.Stemmer("english" if name == "porter2" else name, 0).stemWords


def _params(stop: str, stem: str, possessive: bool) -> tuple[Param, ...]:
    """Return the parameters of an analyzer whose defaults are `stop`, `stem` and `possessive`."""
    return (
        Param("stop", object, stop, help="the stop words: a list's name (lucene, none) or a file with one word a line"),
        Param("stem", str, stem, range=STEMMERS, help="the stemmer"),
        Param("possessive", bool, possessive, help="remove a final 's"),
        Param(
            "cjk", str, "bigrams", range=("bigrams", "single"), help="Han and Hiragana as overlapping pairs or alone"
        ),
        Param("normalize", str, "nfc", range=("nfc", "none"), help="the Unicode normalisation, before all else"),
        Param("fold", bool, False, help="write Latin letters without accents, so that Schrödinger is schrodinger"),
        Param("latex", bool, False, help="read LaTeX's letters, so that Schr\\\"odinger is Schrödinger"),
    )


def register(register: Register) -> None:
    """Register every built-in analyzer."""
    presets = {"english": _params("lucene", "porter", True), "plain": _params("none", "none", False)}
    presets |= {language: _params("none", language, False) for language in LANGUAGES}
    for name, params in presets.items():
        register(name, _factory(WordAnalyzer, name, params), params)
    terrier = _params("none", "porter", False)[:2]
    register("terrier", _factory(TerrierAnalyzer, "terrier", terrier), terrier)


def _factory(kind: type[WordAnalyzer], name: str, params: tuple[Param, ...]) -> Callable[..., WordAnalyzer]:
    """Return the function that makes an analyzer from the values of its parameters."""
    return lambda **values: kind(name, params, values)
