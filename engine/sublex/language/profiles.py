"""Profiles: named sets of defaults for analysis and ranking. Each profile has the defaults of an engine.

A profile explains why two engines disagree on "BM25". `docs/analysis.md` and `docs/rankers.md` show the profiles as
tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sublex.errors import UnknownName
from sublex.tools.messages import unknown

# Parameter values by component, as in {"BM25": {"k1": 0.9}}.
Defaults = Mapping[str, Mapping[str, Any]]


class Profile(NamedTuple):
    """The defaults of one engine.

    `analyzer` is an analyzer expression. `ranker` is the ranker of searches that name no ranker, as `plugin:name`.
    `defaults` holds the parameters of rankers and expanders that differ from the declared defaults.
    """

    name: str
    analyzer: str
    defaults: Defaults
    ranker: str = "rankers:BM25"


# Lucene stores a document's length in one byte, so all rankers of the profile `anserini` round lengths.
_LUCENE = {"lengths": "lucene"}

PROFILES = {
    profile.name: profile
    for profile in (
        # Words by Lucene's rules, Chinese and Japanese as bigrams, 33 stop words, Porter; BM25 with k1=1.2, b=0.75.
        Profile("sublex", "english", {}),
        # The terms of Lucene's English analyzer.
        Profile(
            "anserini",
            "english(cjk=single, normalize=none)",
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
        # Terrier's tokens, Porter. Sublex does not include Terrier's stop list; users name their own list by terrier(stop=FILE).
        Profile(
            "terrier",
            "terrier",
            {
                "BM25": {"k1": 1.2, "b": 0.75, "variant": "terrier", "k3": 8.0},
                "DirichletLM": {"mu": 2500.0, "variant": "published"},
                "RM3": {"docs": 3, "terms": 10, "original": 0.6, "variant": "terrier"},
                "Rocchio": {"docs": 3, "terms": 10, "beta": 0.4},
                "Bo1": {"docs": 3, "terms": 10},
                "KL": {"docs": 3, "terms": 10},
            },
        ),
        # Words as they are written, Porter2, no stop words; a BM25 with an idf that is never negative.
        Profile(
            "pisa",
            "plain(stem=porter2)",
            {"BM25": {"k1": 0.9, "b": 0.4, "variant": "pisa"}, "DirichletLM": {"mu": 1000.0, "variant": "published"}},
        ),
    )
}


def profile(name: str) -> Profile:
    """Return the profile of this name. If there is none, raise `UnknownName`, whose message lists the known names."""
    if name in PROFILES:
        return PROFILES[name]
    raise UnknownName(unknown("profile", name, PROFILES))
