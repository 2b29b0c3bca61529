"""Word vectors from a file in word2vec's text format: a word and its numbers on each line, on the first perhaps how many of both."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

import numpy as np

from sublex.errors import InputError
from sublex.readers.source import FileSource

WIDEST = 10_000
# No line is longer.
LINE = 1 << 20
LARGEST = 1e100
Progress = Callable[[int, int], None]


def read_vectors(
    path: str | os.PathLike[str],
    vocabulary: Sequence[str],
    analyze: Callable[[str], list[str]] | None = None,
    progress: Progress = lambda done, total: None,
) -> np.ndarray:
    """A row for each term of the vocabulary, of not-a-numbers where the file has none.

    `analyze` makes the file's words into terms; those that become none or several are left out. Of words that become the same
    term the first counts, which in such files is the commonest. The file may be compressed.
    """
    numbers = {term: number for number, term in enumerate(vocabulary)}

    def place(word: bytes) -> int | None:
        """The number of a word's term; words may hold spaces, as some files' do."""
        text = word.decode("utf-8", "surrogateescape")
        terms = analyze(text) if analyze else [text]
        return numbers.get(terms[0]) if len(terms) == 1 else None

    with FileSource(path).open() as lines:
        made = _read(os.fspath(path), _lines(path, lines), len(numbers), place, progress)
    if np.isnan(made).all():
        raise InputError(f"{path} has a vector for none of the {len(vocabulary):,} terms; is it in their language?")
    return made


def width(path: str | os.PathLike[str]) -> int:
    """How many numbers the vectors have, by the first line."""
    with FileSource(path).open() as lines:
        parts = next((parts for line in _lines(path, lines) if (parts := line.split())), [])
    return min(WIDEST, int(parts[1]) if _is_header(parts) else len(parts))


def _lines(path: str | os.PathLike[str], lines: BinaryIO) -> Iterator[bytes]:
    """The lines, none of which is endless."""
    at = 0
    while line := lines.readline(LINE):
        at += 1
        if len(line) == LINE:
            raise InputError(f"{os.fspath(path)}:{at}: a line of more than {LINE >> 20} MB is none of word vectors.")
        yield line


def _is_header(parts: list[bytes]) -> bool:
    """Whether a line says how many words follow, and how many numbers each has."""
    return len(parts) == 2 and all(part.isdigit() and len(part) < 19 for part in parts)


def _read(
    path: str, lines: Iterable[bytes], terms: int, place: Callable[[bytes], int | None], progress: Progress
) -> np.ndarray:
    """The numbers are counted from the end of a line."""
    made, words, e = None, None, 0
    at = read = 0
    for at, line in enumerate(lines, 1):
        parts = line.split()
        if not parts:
            continue
        if at == 1 and _is_header(parts):
            words, e = int(parts[0]), int(parts[1])
            continue
        e = e or len(parts) - 1
        if made is None:
            if e < 1 or (words is None and not all(map(_is_number, parts[-e:]))):
                raise InputError(
                    f"{path}:{at}: a word and its numbers are needed, or first how many words and numbers there are."
                )
            if e > WIDEST:
                raise InputError(f"{path}:{at}: vectors of {e:,} numbers; {WIDEST:,} are the most.")
            made = np.full((terms, e), np.nan)
        if len(parts) <= e or (len(parts) > e + 1 and _is_number(parts[-e - 1])):
            raise InputError(f"{path}:{at}: {_numbers_of(parts)} numbers where the vectors have {e}.")
        read += 1
        if read % 10_000 == 0:
            progress(read, words or read)
        number = place(b" ".join(parts[:-e]))
        if number is None or not np.isnan(made[number, 0]):
            continue
        made[number] = _numbers(f"{path}:{at}", parts[-e:])
    if words is not None and read != words:
        raise InputError(
            f"{path}:{at}: the file ends after {read:,} words, but its first line says {words:,}; is it whole?"
        )
    if made is None:
        raise InputError(f"{path} holds no word vectors; give a file in word2vec's text format.")
    return made


def _numbers(place: str, parts: list[bytes]) -> list[float]:
    """The numbers of one line; all finite."""
    try:
        if any(b"_" in part for part in parts):
            raise ValueError
        found = [float(part) for part in parts]
    except ValueError:
        wrong = next(part for part in parts if not _is_number(part)).decode(errors="replace")
        raise InputError(f"{place}: {wrong} is no number.") from None
    if not (np.abs(found) < LARGEST).all():
        raise InputError(f"{place}: the vector holds numbers that are not finite, or beyond all measure.")
    return found


def _numbers_of(parts: list[bytes]) -> int:
    """How many of a line's parts are numbers, counted from the end."""
    found = 0
    while found < len(parts) - 1 and _is_number(parts[-found - 1]):
        found += 1
    return found


def _is_number(part: bytes) -> bool:
    try:
        float(part)
    except ValueError:
        return False
    return b"_" not in part
