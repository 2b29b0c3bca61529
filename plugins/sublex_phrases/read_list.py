"""Read a list of phrases from a file: CSV or JSON as `sublex phrases` writes it, or a text with a phrase on
each line.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex.readers.source import FileSource

# The most bytes and phrases of a list, and the most characters of a phrase. The last is the limit of Python's reader of CSV.
MOST_BYTES, MOST_PHRASES, LONGEST = 1 << 28, 3_000_000, 131_072
# The largest number of commas in a JSON list, for each phrase: an object has some members.
COMMAS = 8


class ListedPhrase(NamedTuple):
    """A phrase of a list, and its quality."""

    text: str
    quality: float


def read_list(path: str | os.PathLike[str]) -> list[ListedPhrase]:
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
    # Each line, and each item of JSON, takes some memory, however short it is. The ends of lines are those of files;
    # `str.splitlines` would split at others too.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") > MOST_PHRASES or (_is_json(text) and text.count(",") > COMMAS * MOST_PHRASES):
        raise InputError(f"{name} has more than {MOST_PHRASES:,} phrases; keep those that matter.")
    phrases = []
    for place, phrase in _records(name, text):
        if len(phrase.text) > LONGEST:
            raise InputError(f"{place}: the phrase has more than {LONGEST:,} characters; shorten it, or leave it out.")
        if phrase.text.strip():
            phrases.append(phrase)
    if not phrases:
        raise InputError(f"{name} lists no phrase; write one on each line.")
    return phrases


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("[")


def _records(name: str, text: str) -> Iterator[tuple[str, ListedPhrase]]:
    """Yield the place and the value of each phrase of a text in one of the three formats. Lines end with a line feed."""
    if _is_json(text):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} begins like JSON, but is none: {error}.") from None
        for number, item in enumerate(items, 1):
            yield f"{name}, item {number}", _from_json(f"{name}, item {number}", item)
        return
    head, _, _ = text.partition("\n")
    if len(head) > LONGEST or "phrase" not in next(csv.reader([head]), []):
        for number, line in enumerate(text.split("\n"), 1):
            yield f"{name}:{number}", ListedPhrase(line, 1.0)
        return
    rows, begin = csv.DictReader(io.StringIO(text, newline="")), 1
    try:
        for row in rows:
            place, begin = f"{name}:{rows.line_num}", rows.line_num + 1
            yield place, ListedPhrase(row["phrase"] or "", _quality(place, row.get("quality")))
    except csv.Error as error:
        raise InputError(f"{name}:{begin}: the line cannot be read as CSV: {error}; is a quote not closed?") from None


def _from_json(place: str, item: Any) -> ListedPhrase:
    if isinstance(item, str):
        return ListedPhrase(item, 1.0)
    if isinstance(item, dict) and isinstance(item.get("phrase"), str):
        return ListedPhrase(item["phrase"], _quality(place, item.get("quality")))
    raise InputError(f"{place} is neither a text nor an object with a phrase.")


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
