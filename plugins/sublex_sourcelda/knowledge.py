"""Read a knowledge source: labels, each with counts of words or with a text. The file may be compressed.

A knowledge source is a file of counts or a file of texts. Each line of a file of counts has a label, then a word, its
count, the next word, and so on. Each line of a file of texts is a JSON object with the members `label` and `text`. In
labels, `_` stands for a blank.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sublex.contracts.stored import is_text
from sublex.errors import InputError
from sublex.readers.source import FileSource

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The largest number of bytes of a line, and of occurrences of a word in a text.
MAX_LINE, MAX_COUNT = 1 << 26, 10**9
# The largest number of characters of a label that a message shows.
SHOWN = 60
Analyze = Callable[[str], list[str]]
Path = str | os.PathLike[str]


class Knowledge(NamedTuple):
    """A knowledge source: `labels`, and the counts of words for each label.

    `unknown` has the labels that are left out because none of their words is known. `missing` has for each other label
    the number of its distinct words that no document has.
    """

    labels: list[str]
    counts: csr_array
    unknown: list[str]
    missing: np.ndarray


def read_knowledge(
    path: Path,
    vocabulary: Sequence[str],
    analyze: Analyze,
    progress: Callable[[int], None] = lambda done: None,
    others: Collection[str] = (),
) -> Knowledge:
    """Return the labels of a file that have words of the vocabulary, with the counts of these words.

    `others` are words of the documents that the vocabulary leaves out, such as too common ones. `analyze` turns texts and
    words into terms, as the index's analyzer does. Raises `InputError` for a file in another format, a repeated label, or
    a file without any word of the vocabulary.
    """
    from scipy.sparse import csr_array

    numbers = {term: number for number, term in enumerate(vocabulary)}
    lines: dict[str, int] = {}
    labels, unknown = list[str](), list[str]()
    columns, values, starts, missing = list[int](), list[int](), [0], list[int]()
    for number, label, terms in _entries(os.fspath(path), analyze):
        progress(number)
        plain = label.casefold()
        if plain in lines:
            raise InputError(
                f"{path}:{number}: line {lines[plain]} has the label {label[:SHOWN]} already; join the two, or rename one."
            )
        lines[plain] = number
        known = {numbers[term]: count for term, count in terms.items() if term in numbers}
        if not any(known.values()):
            unknown.append(label)
            continue
        labels.append(label)
        missing.append(sum(term not in numbers and term not in others for term in terms))
        columns += sorted(known)
        values += [known[column] for column in sorted(known)]
        starts.append(len(columns))
    if not lines:
        raise InputError(
            f"{path} holds no labels; write a label, then words and counts, in each line, or JSON with label and text."
        )
    if not labels:
        raise InputError(f"{path} has none of the {len(vocabulary):,} words of the documents; is it in their language?")
    counts = csr_array((np.array(values, np.float64), columns, starts), shape=(len(labels), len(numbers)))
    return Knowledge(labels, counts, unknown, np.array(missing, np.int64))


def count_lines(path: Path) -> int:
    """Return the number of lines of a knowledge source. It has at most this number of labels."""
    with FileSource(path).open() as stream:
        return sum(1 for _ in _lines(os.fspath(path), stream.readline))


def _entries(path: str, analyze: Analyze) -> Iterator[tuple[int, str, Counter[str]]]:
    """Yield three things for each label: the number of its line, the label, and the counts of its terms."""
    # In a file of counts, the same word occurs under many labels.
    analyze_word = cache(analyze)
    parse: Callable[[str, str], tuple[str, Counter[str]]] | None = None
    with FileSource(path).open() as stream:
        for number, line in _lines(path, stream.readline):
            place = f"{path}:{number}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError:
                raise InputError(f"{place}: the line is not in UTF-8; convert the file.") from None
            if not text:
                continue
            if parse is None:
                parse = _text_parser(analyze) if text.startswith("{") else _count_parser(analyze_word)
            label, terms = parse(place, text)
            label = " ".join(label.replace("_", " ").split())
            if not is_text(label):
                raise InputError(f"{place}: the label holds half a character (\\ud800 to \\udfff); correct it.")
            if not label:
                raise InputError(f"{place}: the label is empty; name the topic.")
            yield number, label, terms


def _lines(path: str, readline: Callable[[int], bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield pairs of a number and a line of a stream. Raise `InputError` for a line that is too long."""
    number = 0
    while line := readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE:
            raise InputError(
                f"{path}:{number}: the line has more than {MAX_LINE >> 20} MB, so this is no knowledge source."
            )
        yield number, line


def _text_parser(analyze: Analyze) -> Callable[[str, str], tuple[str, Counter[str]]]:
    """Return the function that parses a line with a JSON object."""

    def parse(place: str, line: str) -> tuple[str, Counter[str]]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(f"{place}: the line is no JSON object, but the first line is one.") from None
        if not (isinstance(record, dict) and all(isinstance(record.get(name), str) for name in ("label", "text"))):
            raise InputError(f"{place}: a JSON object with the texts label and text is needed.")
        return record["label"], Counter(analyze(record["text"]))

    return parse


def _count_parser(analyze: Analyze) -> Callable[[str, str], tuple[str, Counter[str]]]:
    """Return the function that parses a line with a label, words and counts."""

    def parse(place: str, line: str) -> tuple[str, Counter[str]]:
        label, *fields = line.split()
        words, counts = fields[::2], fields[1::2]
        wrong = next((count for count in counts if not (count.isascii() and count.isdigit() and len(count) < 11)), None)
        if len(words) != len(counts) or wrong is not None or any(int(count) > MAX_COUNT for count in counts):
            raise InputError(
                f"{place}: after the label, words and whole counts must take turns, as in: gold mine 3 ounce 2."
            )
        terms = Counter[str]()
        for word, count in zip(words, counts, strict=True):
            for term in analyze(word):
                terms[term] += int(count)
        return label, terms

    return parse
