"""Phrases as a plugin: registers the expander `phrases`, which other models can build on, and the command `phrases`."""

from typing import Any

from sublex.contracts.base import Expander, Param, Resource
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param(
        "support", int, 10, stage="fit", range=(2, 10**9), help="the least number of occurrences of a sequence of words"
    ),
    Param("quality", float, 0.5, stage="fit", range=(0.01, 1), help="the least quality of a phrase"),
    Param("good", Resource, None, stage="fit", help="a file of phrases that are known to be good, to learn from"),
    Param("list", Resource, None, stage="fit", help="a file that lists the phrases; no others are found"),
    Param(
        "forms",
        str,
        "inflections",
        stage="fit",
        range=("inflections", "stems"),
        help="whether a phrase has only the inflections of its words, or all words with the same stems",
    ),
    Param("weight", float, 0.3, range=(0, 10), help="the weight of the words that are added to a query"),
]


def make(**params: Any) -> Expander:
    """Return the phrases of a collection, an expander that adds to an abbreviation its phrase, and to a phrase its
    abbreviations.

    X. Liu, J. Shang, C. Wang, X. Ren and J. Han, Mining Quality Phrases from Massive Text Corpora, 2015.
    """
    # NumPy and the estimators are imported only when the expander is made.
    from sublex_phrases.expander import Phrases

    return Phrases(**params)


@hookimpl
def register_expanders(register: Register) -> None:
    """Register `phrases`: the phrases of a collection. In a query, they join an abbreviation with the phrase that it
    abbreviates.
    """
    register("phrases", make, PARAMS)


@hookimpl
def register_operations(register: Register) -> None:
    """Add the operation `phrases`."""
    from sublex_phrases.operations import phrases

    register(phrases)
