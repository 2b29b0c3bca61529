"""Read a list of phrases from a file: CSV or JSON as `sublex phrases` writes it, or a text with a phrase on
each line.
"""

from __future__ import annotations

import csv
import io
import json
import os
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex.readers.source import FileSource

# The largest number of bytes, and of phrases, of a list.
MOST_BYTES, MOST_PHRASES = 1 << 28, 3_000_000


class Phrase(NamedTuple):
    """A phrase of a list, and its quality."""

    text: str
    quality: float


def read_list(path: str | os.PathLike[str]) -> list[Phrase]:
    """Return the phrases of a file, in the order of the file. The quality of a phrase is 1 where the file has none.

    A CSV file has a header with the column `phrase`, and may have a column `quality`. A JSON file is a list of texts,
    or of objects with the member `phrase`, and optionally `quality`. In any other file, each line is a phrase. Raises
    `InputError` for a file without phrases.
    """
    with FileSource(path).open() as stream:
        data = stream.read(MOST_BYTES + 1)
    name = os.fspath(path)
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} has more than {MOST_BYTES >> 20} MB, so this is no list of phrases.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text; give a list of phrases.") from None
    if text.count("\n") > MOST_PHRASES:
        raise InputError(f"{name} has more than {MOST_PHRASES:,} lines; keep the phrases that matter.")
    phrases = [phrase for phrase in _records(name, text) if phrase.text.strip()]
    if not phrases:
        raise InputError(f"{name} lists no phrase; write one on each line.")
    return phrases


def _records(name: str, text: str) -> list[Phrase]:
    """Return the phrases of a text in one of the three formats."""
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} begins like JSON, but is none: {error}.") from None
        return [_from_json(name, number, item) for number, item in enumerate(items, 1)]
    lines = text.splitlines()
    head = next(csv.reader(lines[:1]), [])
    if "phrase" not in head:
        return [Phrase(line, 1.0) for line in lines]
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [
        Phrase(row["phrase"] or "", _quality(f"{name}:{rows.line_num}", row.get("quality")))
        for row in rows
    ]  # fmt: skip


def _from_json(name: str, number: int, item: Any) -> Phrase:
    if isinstance(item, str):
        return Phrase(item, 1.0)
    if isinstance(item, dict) and isinstance(item.get("phrase"), str):
        return Phrase(item["phrase"], _quality(f"{name}, item {number}", item.get("quality")))
    raise InputError(f"{name}: item {number} is neither a text nor an object with a phrase.")


def _quality(place: str, value: Any) -> float:
    """Return `value` as a quality, or 1 if there is no value. Raise `InputError` unless the quality is above 0 and at
    most 1.
    """
    if value is None or value == "":
        return 1.0
    try:
        quality = float(value)
    except (TypeError, ValueError):
        quality = -1.0
    if not 0 < quality <= 1:
        raise InputError(f"{place}: the quality {value} is not a number above 0 and up to 1.")
    return quality
