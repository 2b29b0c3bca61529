"""Profiles: named sets of defaults, so that "why is your BM25 different?" has an answer. So far they fix the analysis."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from sublex.errors import UnknownName


class Profile(NamedTuple):
    """A named set of defaults."""

    name: str
    analyzer: str
    about: str


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "sublex", "english", "words as Lucene cuts them, Chinese and Japanese as bigrams, 33 stop words, Porter"
        ),
        Profile("anserini", "english(cjk=single, normalize=none)", "the terms of Lucene's English analyzer"),
        Profile("terrier", "terrier", "Terrier's tokens, Porter; name Terrier's stop list by terrier(stop=FILE)"),
        Profile("pisa", "plain(stem=porter2)", "words as they come, Porter2, no stop words"),
    )
}


def profile(name: str) -> Profile:
    """The profile of this name."""
    if name in PROFILES:
        return PROFILES[name]
    near = difflib.get_close_matches(name, PROFILES, 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UnknownName(f"No profile {name}; {hint}There are: {', '.join(PROFILES)}.")
