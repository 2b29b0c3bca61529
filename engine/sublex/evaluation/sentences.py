"""What a comparison says, in words, and in letters beside the systems' names."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sublex.statistics.significance import TUKEY, Pair

PHRASES = {
    "holm": "after Holm's correction",
    "bonferroni": "after Bonferroni's correction",
    "bh": "after Benjamini and Hochberg's correction",
    TUKEY: "by Tukey's HSD",
}


@dataclass(frozen=True)
class Letters:
    """A system's own letter, and those of the systems that it beats significantly."""

    own: str
    beats: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(self.beats) if all(len(letter) == 1 for letter in self.beats) else ",".join(self.beats)


def sentence(pair: Pair, measure: str) -> str:
    """One sentence: which system is better by how much and how surely, or what could have been found where none was."""
    topics = f"{pair.topics} topics" if pair.topics != 1 else "one topic"
    if pair.ties == pair.topics:
        return f"{pair.a} and {pair.b} have the same {measure} on {'all ' if pair.topics > 1 else ''}{topics}."
    if not pair.significant:
        return _apart(pair, measure, topics)
    if not pair.difference:
        return f"{pair.a} and {pair.b} have the same mean {measure}, but differ over {topics} ({_surely(pair)})."
    ahead = pair.difference > 0
    better, worse = (pair.a, pair.b) if ahead else (pair.b, pair.a)
    wins, losses = (pair.wins, pair.losses) if ahead else (pair.losses, pair.wins)
    ends = pair.interval if ahead else (-pair.interval[1], -pair.interval[0])
    simultaneous = "simultaneous " if pair.correction == TUKEY and pair.family > 1 else ""
    interval = f"{simultaneous}{100 * (1 - pair.alpha):g} % interval {number(ends[0])} to {number(ends[1])}"
    equal = f", equal on {pair.ties}" if pair.ties else ""
    return (
        f"{better} beats {worse} by {number(abs(pair.difference))} {measure} ({interval}, {_surely(pair)}); "
        f"it is better on {wins} topics, worse on {losses}{equal}."
    )


def letters(pairs: Iterable[Pair]) -> dict[str, Letters]:
    """For each system, in the order of the pairs, its letter and the letters of those it beats."""
    pairs = list(pairs)
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    own = {name: _letter(place) for place, name in enumerate(names)}
    found = [pair for pair in pairs if pair.significant and pair.difference]
    beaten = {(pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a) for pair in found}
    return {name: Letters(own[name], tuple(own[other] for other in names if (name, other) in beaten)) for name in names}


def number(value: float) -> str:
    """A score or difference to three decimals, or to its first digit where it is smaller; no 0 before the point."""
    decimals = 3
    if 0 < abs(value) < 0.0005:
        decimals = -math.floor(math.log10(abs(value)))
    text = f"{value:.{decimals}f}"
    return "0" if not float(text) else text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def probability(p: float, alpha: float = 0.05) -> str:
    """`= .031`, `< .001` or `> .99`; with as many decimals as keep it on its side of alpha."""
    if p < 0.001 <= alpha:
        return "< .001"
    if p > 0.99:
        return "> .99" if p < 1 else "= 1"
    decimals = 2 if p >= 0.1 else 3
    while (float(f"{p:.{decimals}f}") <= alpha) != (p <= alpha):
        decimals += 1
    return f"= {f'{p:.{decimals}f}'[1:]}"


def _apart(pair: Pair, measure: str, topics: str) -> str:
    """The sentence of two systems that the topics do not tell apart."""
    subject = f"These {topics}" if pair.topics > 1 else "One topic"
    difference = f"difference {number(abs(pair.difference))} {measure}"
    if pair.topics < 2:
        return f"{subject} cannot tell {pair.a} and {pair.b} apart ({difference})."
    corrected = "corrected " if pair.correction != "none" and pair.family > 1 else ""
    alone = "tested alone, " if corrected and pair.correction != TUKEY else ""
    # No measure that is averaged here is above 1.
    found = (
        f"a true difference of {number(pair.detectable)} or more would have been"
        if pair.detectable < 1
        else "no difference that there can be would have been"
    )
    return (
        f"{subject} cannot tell {pair.a} and {pair.b} apart ({difference}, {corrected}p "
        f"{probability(pair.corrected, pair.alpha)}); {alone}{found} found four times in five."
    )


def _surely(pair: Pair) -> str:
    """p, and what has been done to it."""
    p = f"p {probability(pair.corrected, pair.alpha)}"
    if pair.family < 2:
        return p
    if pair.correction not in PHRASES:
        return f"{p} without correction over {pair.family} pairs"
    return f"{p} {PHRASES[pair.correction]} over {pair.family} pairs"


def _letter(place: int) -> str:
    """a, b, …, z, aa, ab, …"""
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
