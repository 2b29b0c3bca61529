"""Profiles: named sets of defaults for analysis and ranking, so that "why is your BM25 different?" has an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sublex.errors import UnknownName
from sublex.messages import unknown

Defaults = Mapping[str, Mapping[str, Any]]


class Profile(NamedTuple):
    """What an engine takes for granted; `defaults` has the parameters of a ranker or expander where they differ from its own."""

    name: str
    analyzer: str
    about: str
    defaults: Defaults
    ranker: str = "rankers:BM25"


# Lucene keeps lengths in one byte, so that all models of this profile see them so.
_LUCENE = {"lengths": "lucene"}

PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "sublex",
            "english",
            "words as Lucene cuts them, Chinese and Japanese as bigrams, 33 stop words, Porter; BM25 with k1=1.2, b=0.75",
            {},
        ),
        Profile(
            "anserini",
            "english(cjk=single, normalize=none)",
            "the terms of Lucene's English analyzer; BM25 with k1=0.9, b=0.4 and lengths in one byte",
            {
                "BM25": {"k1": 0.9, "b": 0.4} | _LUCENE,
                "DirichletLM": {"mu": 1000.0, "variant": "lucene"} | _LUCENE,
                "JelinekMercerLM": {"lam": 0.1, "variant": "lucene"} | _LUCENE,
                "InL2": {"c": 0.1} | _LUCENE,
                "SPL": {"c": 0.1} | _LUCENE,
                "RM3": {"docs": 10, "terms": 10, "original": 0.5},
                "Rocchio": {"docs": 10, "terms": 10, "alpha": 1.0, "beta": 0.75, "gamma": 0.15},
                "BM25PRF": {"docs": 10, "terms": 20, "weight": 0.2},
                "Axiomatic": {"r": 20, "n": 30, "m": 20, "beta": 0.4, "seed": 42},
            },
        ),
        Profile(
            "terrier",
            "terrier",
            "Terrier's tokens, Porter; name Terrier's stop list by terrier(stop=FILE); BM25 with its idf and k3=8",
            {
                "BM25": {"k1": 1.2, "b": 0.75, "variant": "terrier", "k3": 8.0},
                "DirichletLM": {"mu": 2500.0, "variant": "published"},
                "RM3": {"docs": 3, "terms": 10, "original": 0.6, "variant": "terrier"},
                "Rocchio": {"docs": 3, "terms": 10, "beta": 0.4},
                "Bo1": {"docs": 3, "terms": 10},
                "KL": {"docs": 3, "terms": 10},
            },
        ),
        Profile(
            "pisa",
            "plain(stem=porter2)",
            "words as they come, Porter2, no stop words; BM25 with k1=0.9, b=0.4 and an idf that is never negative",
            {"BM25": {"k1": 0.9, "b": 0.4, "variant": "pisa"}, "DirichletLM": {"mu": 1000.0, "variant": "published"}},
        ),
    )
}


def profile(name: str) -> Profile:
    """The profile of this name."""
    if name in PROFILES:
        return PROFILES[name]
    raise UnknownName(unknown("profile", name, PROFILES))
