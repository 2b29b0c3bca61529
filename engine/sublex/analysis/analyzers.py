"""The built-in analyzers: one class, whose choices make `english`, `plain`, the Snowball languages and Terrier's tokens.

A raw token becomes words by the Unicode rules; each is normalised, lower-cased, stopped and stemmed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from importlib import metadata
from itertools import islice
from typing import Any

from sublex.analysis import stopwords
from sublex.analysis.words import LONGEST, split_terms, words
from sublex.base import Param
from sublex.hookspecs import Register
from sublex.parameters import printed

LANGUAGES = (
    "arabic", "armenian", "basque", "catalan", "danish", "dutch", "finnish", "french", "german", "greek", "hindi",
    "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali", "norwegian", "portuguese", "romanian",
    "russian", "serbian", "spanish", "swedish", "tamil", "turkish", "yiddish",
)  # fmt: skip
STEMMERS = ("none", "porter", "porter2", *LANGUAGES)
_POSSESSIVE = re.compile("['\u2019\uff07]s$", re.MULTILINE)
_TERRIER = re.compile("[A-Za-z0-9]+")
_FOUR_ALIKE = re.compile(r"(.)\1{3}")


class WordAnalyzer:
    """Words, normalised, stopped and stemmed."""

    # A raw token of ASCII characters is one word.
    _whole = True

    def __init__(self, name: str, params: Sequence[Param], values: dict[str, Any]):
        self.name, self.params = name, tuple(params)
        chosen = {param.name: values.get(param.name, param.default) for param in params}
        self.stop = stopwords.load(chosen["stop"])
        self._given = chosen["stop"] not in stopwords.NAMES
        chosen["stop"] = self.stop.name
        self.values = chosen
        self._stem = _stemmer(chosen["stem"])
        self._bigrams = chosen.get("cjk") == "bigrams"
        self._normal = chosen.get("normalize") == "nfc"
        self._possessive = bool(chosen.get("possessive"))

    def __str__(self) -> str:
        return printed(self.name, self.params, self.values)

    def settings(self) -> dict[str, Any]:
        """All that is needed to make this analyzer again, stop words included where they are the user's."""
        stop = {"name": self.stop.name, "words": sorted(self.stop.words)} if self._given else self.stop.name
        return {"name": self.name, "params": self.values | {"stop": stop}}

    def versions(self) -> dict[str, str]:
        """The parts whose versions may change a term."""
        parts = {"unicode": unicodedata.unidata_version, "regex": _version("regex")}
        return parts | ({"PyStemmer": _version("PyStemmer")} if self.values["stem"] not in ("none", "porter") else {})

    def terms(self, token: str) -> list[str]:
        """The terms of one raw token."""
        return split_terms(self.batch([token])[0])

    def batch(self, tokens: Sequence[str]) -> list[str]:
        """The terms of many raw tokens, each on its own; those of one token stand one a line."""
        if not tokens:
            return []
        if self._whole and (joined := "\n".join(tokens)).isascii() and max(map(len, tokens)) <= LONGEST:
            return self._finish(self._lowered(joined))
        split = [self._split(token) for token in tokens]
        words = [word for found in split for word in found]
        kept = iter(self._finish(self._lowered("\n".join(words))) if words else [])
        return ["\n".join(filter(None, islice(kept, len(found)))) for found in split]

    def _finish(self, lowered: list[str]) -> list[str]:
        """Stop and stem; nothing stands for a stop word."""
        stop = self.stop.words
        return ["" if word in stop else stem for word, stem in zip(lowered, self._stem(lowered), strict=True)]

    def _lowered(self, words: str) -> list[str]:
        """Lower-case words, one a line, without their final 's where that is wanted."""
        lowered = words.replace("\u0130", "i").lower()
        return (_POSSESSIVE.sub("", lowered) if self._possessive else lowered).split("\n")

    def words(self, text: str) -> list[str]:
        """The words of a text as they are written."""
        return words(unicodedata.normalize("NFC", text) if self._normal else text, self._bigrams)

    def _split(self, token: str) -> list[str]:
        return [token] if token.isascii() and len(token) <= LONGEST else self.words(token)

    def stages(self, text: str) -> list[tuple[str, list[str]]]:
        """What each stage makes of a text, for people to look at."""
        found = self.words(text)
        lowered = self._lowered("\n".join(found)) if found else []
        kept = [word for word in lowered if word not in self.stop.words]
        return [("words", found), ("lower-cased", lowered), ("stopped", kept), ("stemmed", self._stem(kept))]


class TerrierAnalyzer(WordAnalyzer):
    """Terrier's English tokens: runs of letters and digits; long, repetitive and digit-heavy ones are dropped."""

    _whole = False

    def words(self, text: str) -> list[str]:
        return [word for word in _TERRIER.findall(text) if _terrier_keeps(word)]

    def _split(self, token: str) -> list[str]:
        return self.words(token)


@cache
def _version(package: str) -> str:
    return metadata.version(package)


def _terrier_keeps(word: str) -> bool:
    return len(word) <= 20 and not _FOUR_ALIKE.search(word) and sum(map(str.isdigit, word)) <= 4


def _stemmer(name: str) -> Callable[[list[str]], list[str]]:
    if name == "none":
        return lambda words: words
    if name == "porter":
        from sublex.analysis.porter import stem

        return stem
    import Stemmer

    return Stemmer.Stemmer("english" if name == "porter2" else name, 0).stemWords


def _params(stop: str, stem: str, possessive: bool) -> tuple[Param, ...]:
    return (
        Param("stop", object, stop, help="a list's name (lucene, none) or a file with one word a line"),
        Param("stem", str, stem, range=STEMMERS, help="the stemmer"),
        Param("possessive", bool, possessive, help="take a final 's off"),
        Param(
            "cjk", str, "bigrams", range=("bigrams", "single"), help="Han and Hiragana as overlapping pairs or alone"
        ),
        Param("normalize", str, "nfc", range=("nfc", "none"), help="Unicode composition before anything else"),
    )


def register(register: Register) -> None:
    """Register every built-in analyzer."""
    presets = {"english": _params("lucene", "porter", True), "plain": _params("none", "none", False)}
    presets |= {language: _params("none", language, False) for language in LANGUAGES}
    for name, params in presets.items():
        register(name, _factory(WordAnalyzer, name, params), params)
    terrier = _params("none", "porter", False)[:2]
    register("terrier", _factory(TerrierAnalyzer, "terrier", terrier), terrier)


def _factory(made: type[WordAnalyzer], name: str, params: tuple[Param, ...]) -> Callable[..., WordAnalyzer]:
    return lambda **values: made(name, params, values)
