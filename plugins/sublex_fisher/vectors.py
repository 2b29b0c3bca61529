"""Word vectors from a file in word2vec's text format: a word and its numbers on each line, on the first perhaps how many of both."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from sublex.errors import InputError


def read_vectors(path: str | os.PathLike[str], vocabulary: Sequence[str]) -> np.ndarray:
    """A row for each word of the vocabulary, of not-a-numbers where the file has none; of a word that comes twice the first counts."""
    numbers = {word.encode(): number for number, word in enumerate(vocabulary)}
    try:
        with open(path, "rb") as file:
            made = _read(str(path), file, numbers)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; give a file of word vectors.") from None
    if np.isnan(made).all():
        raise InputError(
            f"{path} has a vector for none of the {len(vocabulary):,} words; are its words analysed alike?"
        )
    return made


def _read(path: str, file, numbers: dict[bytes, int]) -> np.ndarray:
    """Words may hold spaces, as some files' do: the numbers are counted from the end."""
    made, words, e = None, None, 0
    at = read = 0
    for at, line in enumerate(file, 1):
        parts = line.split()
        if not parts:
            continue
        if at == 1 and len(parts) == 2 and all(part.isdigit() for part in parts):
            words, e = int(parts[0]), int(parts[1])
            continue
        e = e or len(parts) - 1
        if made is None:
            if e < 1:
                raise InputError(
                    f"{path}:{at}: a word and its numbers are needed, or first how many words and numbers there are."
                )
            made = np.full((len(numbers), e), np.nan)
        if len(parts) <= e:
            raise InputError(f"{path}:{at}: {len(parts) - 1} numbers where the vectors have {e}.")
        read += 1
        number = numbers.get(b" ".join(parts[:-e]))
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
        found = [float(part) for part in parts]
    except ValueError:
        wrong = next(part for part in parts if not _is_number(part)).decode(errors="replace")
        raise InputError(f"{place}: {wrong} is no number.") from None
    if not np.isfinite(found).all():
        raise InputError(f"{place}: the vector holds numbers that are not finite.")
    return found


def _is_number(part: bytes) -> bool:
    try:
        float(part)
    except ValueError:
        return False
    return True
