"""The analyzer `whoosh`: turns text into terms as Whoosh's own analyzers do, and recognises those analyzers in a schema.

A word is a run of letters, digits and underscores, which may contain single full stops. This is Whoosh's default
pattern, with two differences: Whoosh keeps a full stop between a letter and a digit, as in `fig.2`, and an asterisk, as
in `a*b`. Here both are two words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from sublex.contracts.base import Param
from sublex.errors import InputError, MissingExtra

# Whoosh's default patterns of words (since 2.7.5, and up to 2.7.4), and its list of stop words.
PATTERNS = (r"[\w\*]+(\.?[\w\*]+)*", r"\w+(\.?\w+)*")
STOP = """a an and are as at be by can for from have if in is it may not of on or tbd that the this to us we when will with yet
you your"""
PARAMS = (
    Param(
        "stop", object, "whoosh", help="stop words: whoosh for Whoosh's list, none, or a list of words, as in [a, the]"
    ),
    Param("least", int, 2, range=(1, 255), help="the least number of characters of a word, unless stop=none"),
    Param(
        "stem",
        str,
        "porter",
        range=("porter", "none"),
        help="the stemmer; porter is Whoosh's own, which differs from others",
    ),
    Param("lower", bool, True, help="turn words to lower case"),
)
_WORD = re.compile(PATTERNS[0])


class WhooshAnalyzer:
    """An analyzer like those of Whoosh: by default its StemmingAnalyzer, and with stem=none its StandardAnalyzer.

    With stem=none and stop=none it is Whoosh's SimpleAnalyzer.
    """

    def __init__(self, stop: Any, least: int, stem: str, lower: bool):
        self.values = {
            "stop": list(stop) if isinstance(stop, (list, tuple)) else stop,
            "least": least,
            "stem": stem,
            "lower": lower,
        }
        self.least, self.lower = least, lower
        self.stop = _stop_words(stop)
        self._stem = _stemmer() if stem == "porter" else None

    def settings(self) -> dict[str, Any]:
        """Return the name and the parameters that make this analyzer again."""
        return {"name": "whoosh", "params": self.values}

    def versions(self) -> dict[str, str]:
        """Return the version of Whoosh if the analyzer stems words, because Whoosh then does the stemming."""
        if self._stem is None:
            return {}
        from importlib.metadata import version

        return {"whoosh-reloaded": version("whoosh-reloaded")}

    def words(self, text: str) -> list[str]:
        """Return the words of a text, in lower case if the analyzer is set so."""
        found = [match[0] for match in _WORD.finditer(text)]
        return [word.lower() for word in found] if self.lower else found

    def kept(self, words: Sequence[str]) -> list[str]:
        """Return the words that are neither stop words nor too short."""
        return list(words) if self.stop is None else [w for w in words if len(w) >= self.least and w not in self.stop]

    def terms(self, token: str) -> list[str]:
        """Return the terms of one raw token."""
        kept = self.kept(self.words(token))
        return [self._stem(word) for word in kept] if self._stem else kept

    def stages(self, text: str) -> list[tuple[str, list[str]]]:
        """Return the words of a text after each stage of the analysis, with the names of the stages."""
        words = self.words(text)
        kept = self.kept(words)
        return [("words", words), ("stopped", kept), ("stemmed", self.terms(text))]


def _stop_words(stop: Any) -> frozenset[str] | None:
    """Return the stop words, or None if no words are removed."""
    if stop == "none":
        return None
    if stop == "whoosh":
        return frozenset(STOP.split())
    if isinstance(stop, (list, tuple)) and all(isinstance(word, str) for word in stop):
        return frozenset(stop)
    raise InputError(f"stop={stop} of the analyzer whoosh is not whoosh, none or a list of words, as in [a, the].")


def _stemmer() -> Callable[[str], str]:
    try:
        from whoosh.lang.porter import stem
    except ImportError:
        raise MissingExtra("The analyzer whoosh with stem=porter", "whoosh") from None
    return stem


def expression_of(analyzer: Any) -> str | None:
    """Return the expression of Sublex's analyzer `whoosh` that makes the same terms as an analyzer of a Whoosh schema.

    There is an expression for StemmingAnalyzer, StandardAnalyzer and SimpleAnalyzer, with any stop words and any least
    length. For other analyzers, return None.
    """
    from whoosh.analysis import LowercaseFilter, RegexTokenizer, StemFilter, StopFilter
    from whoosh.lang.porter import stem

    items = list(getattr(analyzer, "items", [analyzer]))
    tokenizer = items.pop(0)
    if type(tokenizer) is not RegexTokenizer or tokenizer.gaps or tokenizer.expression.pattern not in PATTERNS:
        return None
    values: dict[str, Any] = {"stop": "none", "least": 2, "stem": "none", "lower": "false"}
    for order, item in enumerate(items):
        if type(item) is LowercaseFilter and order == 0:
            values["lower"] = "true"
        elif type(item) is StopFilter and item.max is None and values["stem"] == "none" and values["stop"] == "none":
            words = frozenset(STOP.split())
            values["stop"] = "whoosh" if item.stops == words else json.dumps(sorted(item.stops), ensure_ascii=False)
            values["least"] = max(1, item.min)
        elif (
            type(item) is StemFilter and item.stemfn is stem and not item.lang and not item.ignore and item is items[-1]
        ):
            values["stem"] = "porter"
        else:
            return None
    return f"whoosh({', '.join(f'{name}={value}' for name, value in values.items())})"
