"""Put the results of tests into words: a sentence for each pair of systems, and letters that show who beats whom."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sublex.statistics.significance import TUKEY, Pair

# The corrections in words. Tukey's correction is also a test.
CORRECTIONS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
    "none": "no correction",
    TUKEY: "Tukey's HSD",
}


@dataclass(frozen=True)
class Letters:
    """The letter of a system, and the letters of the systems that it beats significantly.

    `str` returns the letters of the systems that it beats.
    """

    letter: str
    beats: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(self.beats) if all(len(letter) == 1 for letter in self.beats) else ",".join(self.beats)


def sentence(pair: Pair, measure: str) -> str:
    """Return a sentence about a pair.

    It says which system is better, by how much, and how certain this is.

    If the test finds no difference, the sentence gives the smallest difference that it could have found.
    """
    topics = f"{pair.topics} topics" if pair.topics != 1 else "one topic"
    if pair.ties == pair.topics:
        return f"{pair.a} and {pair.b} have the same {measure} on {'all ' if pair.topics > 1 else ''}{topics}."
    if not pair.significant:
        return _no_difference(pair, measure, topics)
    if not pair.difference:
        return f"{pair.a} and {pair.b} have the same mean {measure}, but differ over {topics} ({_evidence(pair)})."
    ahead = pair.difference > 0
    better, worse = (pair.a, pair.b) if ahead else (pair.b, pair.a)
    wins, losses = (pair.wins, pair.losses) if ahead else (pair.losses, pair.wins)
    ends = pair.interval if ahead else (-pair.interval[1], -pair.interval[0])
    simultaneous = "simultaneous " if pair.correction == TUKEY and pair.family > 1 else ""
    low, high = map(format_difference, ends)
    interval = f"{simultaneous}{100 * (1 - pair.alpha):g} % interval {low} to {high}"
    equal = f", equal on {pair.ties}" if pair.ties else ""
    return (
        f"{better} beats {worse} by {format_difference(abs(pair.difference))} {measure} ({interval}, {_evidence(pair)}); "
        f"it is better on {wins} topics, worse on {losses}{equal}."
    )


def letters(pairs: Iterable[Pair]) -> dict[str, Letters]:
    """Return for each system its letter (a, b, c in the order of the pairs) and the letters of the systems that it beats."""
    pairs = list(pairs)
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    letter_of = {name: _letter(place) for place, name in enumerate(names)}
    decided = [pair for pair in pairs if pair.significant and pair.difference]
    beaten = {(pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a) for pair in decided}
    return {
        name: Letters(letter_of[name], tuple(letter_of[other] for other in names if (name, other) in beaten))
        for name in names
    }


def format_difference(value: float) -> str:
    """Return a score or difference with three decimals and without the 0 before the point, as in `.012`.

    A value that is too small for three decimals gets decimals up to its first digit that is not 0, as in `.0001`.
    """
    decimals = 3
    if 0 < abs(value) < 0.0005:
        decimals = -math.floor(math.log10(abs(value)))
    text = f"{value:.{decimals}f}"
    return "0" if not float(text) else text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def format_p(p: float, alpha: float = 0.05) -> str:
    """Return p as `= .031`, `< .001` or `> .99`. It has enough decimals to show on which side of alpha it lies."""
    least = 0.001
    while least > max(alpha, 1e-12):
        least /= 10
    if p < least:
        return f"< {f'{least:.12f}'.rstrip('0')[1:]}"
    if p > 0.99:
        return "> .99" if p < 1 else "= 1"
    decimals = 2 if p >= 0.1 else 3
    while not float(f"{p:.{decimals}f}") or (float(f"{p:.{decimals}f}") <= alpha) != (p <= alpha):
        decimals += 1
    return f"= {f'{p:.{decimals}f}'[1:]}"


def p_cell(p: float) -> str:
    """Return p as the cell of a table: four decimals, or `< .0001`."""
    return "< .0001" if p < 0.0001 else f"{p:.4f}"


def _no_difference(pair: Pair, measure: str, topics: str) -> str:
    """Return the sentence about two systems that the topics cannot tell apart."""
    subject = f"These {topics}" if pair.topics > 1 else "One topic"
    difference = f"difference {format_difference(abs(pair.difference))} {measure}"
    if pair.topics < 2:
        return f"{subject} cannot tell {pair.a} and {pair.b} apart ({difference})."
    corrected = "corrected " if pair.correction != "none" and pair.family > 1 else ""
    alone = "tested alone, " if corrected and pair.correction != TUKEY else ""
    # Measures that are averaged lie from 0 to 1, so no difference is larger than 1.
    power = (
        f"a true difference of {format_difference(pair.detectable)} or more would have been found four times in five"
        if pair.detectable < 1
        else "even the largest possible difference would have been missed more than once in five"
    )
    return (
        f"{subject} cannot tell {pair.a} and {pair.b} apart ({difference}, {corrected}p "
        f"{format_p(pair.corrected, pair.alpha)}); {alone}{power}."
    )


def _evidence(pair: Pair) -> str:
    """Return p as text, with the correction and the number of pairs if there are several pairs."""
    p = f"p {format_p(pair.corrected, pair.alpha)}"
    if pair.family < 2:
        return p
    if pair.correction == "none":
        return f"{p} without correction over {pair.family} pairs"
    return (
        f"{p} {'by' if pair.correction == TUKEY else 'after'} {CORRECTIONS[pair.correction]} over {pair.family} pairs"
    )


def _letter(place: int) -> str:
    """Return the letter or letters of the system at a place: a, b, …, z, aa, ab, …"""
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
