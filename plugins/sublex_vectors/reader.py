"""Read word vectors from a file in word2vec's text format: each line has a word and the numbers of its vector.

The first line may hold two other numbers: of words, and of dimensions. The file may be compressed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

import numpy as np

from sublex.errors import InputError
from sublex.readers.source import FileSource

# The largest number of dimensions of a vector.
MAX_DIMENSIONS = 10_000
# The largest number of bytes of a line.
MAX_LINE = 1 << 20
# All absolute values must be below this number, so that sums of squares stay finite.
MAX_NUMBER = 1e100
# Words between two calls of the progress callback.
WORDS_PER_REPORT = 10_000
Progress = Callable[[int, int], None]


def read_vectors(
    path: str | os.PathLike[str],
    vocabulary: Sequence[str],
    analyze: Callable[[str], list[str]] | None = None,
    progress: Progress = lambda done, total: None,
) -> np.ndarray:
    """Return a row for each term of `vocabulary` (float64): the vector of the term. A row is NaN if the file lacks the
    term.

    `analyze` turns a word of the file into terms, as an index's analyzer does. Words that become no term or several
    terms are left out. If several words become the same term, the first of these words in the file is used, since files
    of word vectors usually list frequent words first. Raises `InputError` for a file in another format, or if the file
    has none of the terms.
    """
    numbers = {term: number for number, term in enumerate(vocabulary)}

    def row_of(word: bytes) -> int | None:
        """Return the row of a word's term, or None. In some files words contain spaces."""
        text = word.decode("utf-8", "surrogateescape")
        terms = analyze(text) if analyze else [text]
        return numbers.get(terms[0]) if len(terms) == 1 else None

    with FileSource(path).open() as lines:
        vectors = _read(os.fspath(path), _lines(path, lines), len(numbers), row_of, progress)
    if np.isnan(vectors).all():
        raise InputError(f"{path} has a vector for none of the {len(vocabulary):,} terms; is it in their language?")
    return vectors


def width(path: str | os.PathLike[str]) -> int:
    """Return the number of dimensions of the vectors, taken from the first line of the file."""
    with FileSource(path).open() as lines:
        parts = next((parts for line in _lines(path, lines) if (parts := line.split())), [])
    return min(MAX_DIMENSIONS, int(parts[1]) if _is_header(parts) else len(parts))


def _lines(path: str | os.PathLike[str], lines: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a stream. Raise `InputError`, whose message names `path`, for a line that is too long."""
    number = 0
    while line := lines.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE:
            raise InputError(
                f"{os.fspath(path)}:{number}: the line has more than {MAX_LINE >> 20} MB, so this is no file of word vectors."
            )
        yield line


def _is_header(parts: list[bytes]) -> bool:
    """Return whether a first line holds the number of words and the number of dimensions."""
    return len(parts) == 2 and all(part.isdigit() and len(part) < 19 for part in parts)


def _read(
    path: str, lines: Iterable[bytes], terms: int, row_of: Callable[[bytes], int | None], progress: Progress
) -> np.ndarray:
    """Return an array of `terms` rows with the vectors of the lines. `row_of` returns the row of a word, or None.

    A row without a vector is NaN. The last parts of a line are its numbers, and the parts before them are its word.
    """
    vectors, words, dimensions = None, None, 0
    number = words_read = 0
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts:
            continue
        if number == 1 and _is_header(parts):
            words, dimensions = int(parts[0]), int(parts[1])
            continue
        dimensions = dimensions or len(parts) - 1
        if vectors is None:
            if dimensions < 1 or (words is None and not all(map(_is_number, parts[-dimensions:]))):
                raise InputError(
                    f"{path}:{number}: a word and its numbers are needed, or first the number of words and of dimensions."
                )
            if dimensions > MAX_DIMENSIONS:
                raise InputError(
                    f"{path}:{number}: vectors of {dimensions:,} numbers; {MAX_DIMENSIONS:,} are the most."
                )
        if len(parts) <= dimensions or (len(parts) > dimensions + 1 and _is_number(parts[-dimensions - 1])):
            raise InputError(f"{path}:{number}: {_count_numbers(parts)} numbers where the vectors have {dimensions}.")
        # Memory for the vectors is reserved only when a line really has this number of numbers.
        vectors = np.full((terms, dimensions), np.nan) if vectors is None else vectors
        words_read += 1
        if words_read % WORDS_PER_REPORT == 0:
            progress(words_read, words or words_read)
        row = row_of(b" ".join(parts[:-dimensions]))
        if row is None or not np.isnan(vectors[row, 0]):
            continue
        vectors[row] = _numbers(f"{path}:{number}", parts[-dimensions:])
    progress(words_read, words_read)
    if words is not None and words_read != words:
        raise InputError(
            f"{path}:{number}: the file ends after {words_read:,} words, but its first line says {words:,}; is it whole?"
        )
    if vectors is None:
        raise InputError(f"{path} holds no word vectors; give a file in word2vec's text format.")
    return vectors


def _numbers(place: str, parts: list[bytes]) -> list[float]:
    """Return the numbers of a line. Raise `InputError`, whose message names `place`, unless all numbers are finite."""
    try:
        if any(b"_" in part for part in parts):
            raise ValueError
        numbers = [float(part) for part in parts]
    except ValueError:
        wrong = next(part for part in parts if not _is_number(part)).decode(errors="replace")
        raise InputError(f"{place}: {wrong} is no number.") from None
    if not (np.abs(numbers) < MAX_NUMBER).all():
        raise InputError(f"{place}: the vector holds numbers that are not finite, or not below {MAX_NUMBER:g}.")
    return numbers


def _count_numbers(parts: list[bytes]) -> int:
    """Return the number of parts at the end of a line that are numbers. The first part is always the word."""
    count = 0
    while count < len(parts) - 1 and _is_number(parts[-count - 1]):
        count += 1
    return count


def _is_number(part: bytes) -> bool:
    """Return whether a part is a number. Python's digit separator _ is not allowed."""
    try:
        float(part)
    except ValueError:
        return False
    return b"_" not in part
