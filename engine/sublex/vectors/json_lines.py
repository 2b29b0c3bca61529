"""Read vectors from JSON lines: on each line an object with an id and a list of numbers, or a list of such lists.

A kernel reads lines of the usual form. Python's own `json` reads all other lines, and decides whether they are malformed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.readers.batch import arena
from sublex.readers.lines import count_lines, refuse, whole_lines
from sublex.readers.source import FileSource
from sublex.vectors.batch import VectorsBatch, expect_sizes, expect_width

# The names of members, in the order in which they are looked for.
ID_NAMES = ("id", "docno", "docid", "_id", "doc_id", "qid")
VECTOR_NAMES = ("vector", "embedding", "row")
TEXT_NAMES = ("query", "text")
TOKEN_NAMES = ("tokens",)
# The number of bytes that are read at a time.
BYTES = 1 << 23
_POWERS = np.array([float(f"1e{power}") for power in range(23)])


def read_json_lines(path: str, texts: bool = False) -> Iterator[VectorsBatch]:
    """Yield the vectors or matrices of a file of JSON lines, plain or compressed.

    With `texts`, queries come with their texts.
    """
    width, first = 0, ""
    with FileSource(path).open() as stream:
        for line, data in whole_lines(stream, BYTES, refuse(path)):
            for batch in scanned(data, path, line, texts):
                if batch.names is not None:
                    raise InputError(
                        f"{batch.place}: the vector is an object of weights; dense vectors are lists of numbers."
                    )
                # The width of a vector is its number of entries. The width of a matrix is the width of its rows.
                sizes = batch.sizes if batch.widths is None else batch.widths
                width, first = width or int(sizes[0]), first or batch.ids[0]
                if (sizes != width).any():
                    wrong = int(np.argmax(sizes != width))
                    raise InputError(
                        f"{path}: the vector of {batch.ids[wrong]} has {int(sizes[wrong]):,} numbers, and that of {first} "
                        f"{width:,}; all must be alike."
                    )
                expect_width(width, f"{path}: {first}")
                rows = batch.numbers.reshape(-1, width)
                count = None
                if batch.widths is not None:
                    count = expect_sizes(batch.sizes // width, batch.ids, len(rows), path)
                yield VectorsBatch(batch.ids, rows, path, texts=batch.texts, sizes=count, tokens=batch.tokens)


def begins_with_object(path: str) -> bool:
    """Return whether the vector of the first line is an object of weights. For a malformed line, return False."""
    with FileSource(path).open() as stream:
        for _, data in whole_lines(stream, 1 << 16, refuse(path)):
            line = data.lstrip().split(b"\n", 1)[0]
            if line:
                try:
                    return _by_python(line, path, False).names is not None
                except InputError:
                    return False
    return False


class Lines(NamedTuple):
    """The vectors of some lines: the ids, the number of entries of each vector, all numbers, and the texts of queries.

    If vectors are objects, `names` has the begin and end in `data` of the name of each number; for lists, `names` is
    None. `widths` has the width of each matrix; it is None for vectors. `tokens` has the tokens of the rows of
    matrices, end to end, or is empty. `place` is the file and the number of the first of these lines, for messages.
    """

    ids: list[str]
    sizes: np.ndarray
    numbers: np.ndarray
    texts: list[str]
    data: bytes
    names: np.ndarray | None
    place: str
    widths: np.ndarray | None = None
    tokens: Sequence[str] = ()


def scanned(data: bytes, path: str, first: int, texts: bool) -> Iterator[Lines]:
    """Yield the vectors in `data`, which has whole lines: first all lists, then objects, then matrices, then odd lines.

    `first` is the number of the first line in the file `path`. With `texts`, the texts of queries are read too.
    """
    from sublex.vectors import json_kernels

    names = [*ID_NAMES, *VECTOR_NAMES, *TOKEN_NAMES, *(TEXT_NAMES if texts else ())]
    kinds = [json_kernels.ID] * len(ID_NAMES) + [json_kernels.VECTOR] * len(VECTOR_NAMES)
    kinds += [json_kernels.TOKENS] * len(TOKEN_NAMES)
    kinds += [json_kernels.WORDS] * (len(names) - len(kinds))
    encoded, name_ends = arena([name.encode() for name in names])
    count = count_lines(data) + 1
    lines, odd = np.empty((count, json_kernels.LINE_COLUMNS), np.int64), np.empty((count, 3), np.int64)
    # A number takes at least two bytes, together with the comma after it.
    numbers, spans = np.empty(len(data) // 2 + 2, np.float32), np.empty((len(data) // 2 + 2, 2), np.int64)
    read, left = json_kernels.scan(
        np.frombuffer(data, np.uint8), encoded, name_ends, np.array(kinds), _POWERS, lines, numbers, spans, odd
    )
    found = lines[:read]
    sizes = np.diff(found[:, 6], prepend=0)
    for form in (json_kernels.LIST, json_kernels.OBJECT, json_kernels.ROWS):
        chosen = np.flatnonzero(found[:, 5] == form)
        if not len(chosen):
            continue
        own = found[chosen]
        place = f"{path}:{first + int(own[0, 0])}"
        ids = [_text(data, path, first, *row) for row in own[:, [0, 1, 2]].tolist()]
        words = [_text(data, path, first, *row) for row in own[:, [0, 3, 4]].tolist()] if texts else []
        kept = np.repeat(found[:, 5] == form, sizes)
        of_vectors = numbers[: len(kept)], spans[: len(kept)]
        values, places = of_vectors if len(chosen) == read else (of_vectors[0][kept], of_vectors[1][kept])
        objects, widths = form == json_kernels.OBJECT, own[:, 7] if form == json_kernels.ROWS else None
        tokens = [] if widths is None else _all_tokens(data, own, sizes[chosen] // widths, ids, place)
        yield Lines(ids, sizes[chosen], values, words, data, places if objects else None, place, widths, tokens)
    for number, begin, end in odd[:left].tolist():
        yield _by_python(data[begin:end], f"{path}:{first + number}", texts)


def _all_tokens(data: bytes, lines: np.ndarray, sizes: np.ndarray, ids: list[str], place: str) -> list[str]:
    """Return the tokens of the matrices of some lines, end to end. Return an empty list if no line has tokens."""
    found: list[str] = []
    if not lines[:, 9].any():
        return found
    for name, size, (begin, end) in zip(ids, sizes.tolist(), lines[:, 8:10].tolist(), strict=True):
        try:
            value = json.loads(data[begin:end]) if end else None
        except (ValueError, RecursionError):
            raise InputError(f"{place}: the tokens of {name} are no list of texts; leave them out.") from None
        found += _tokens(value, size, name, place)
    return found


def _tokens(value: Any, size: int, name: object, place: str) -> list[str]:
    """Return `value`, the tokens of a matrix with `size` rows. If it is None, return "" for each row."""
    if value is None:
        return [""] * size
    if not isinstance(value, list) or not all(isinstance(token, str) for token in value):
        raise InputError(f"{place}: the tokens of {name} are no list of texts; leave them out.")
    if len(value) != size:
        raise InputError(
            f"{place}: the matrix of {name} has {size:,} rows and {len(value):,} tokens; give each row one."
        )
    return value


def _text(data: bytes, path: str, first: int, line: int, begin: int, end: int) -> str:
    try:
        return data[begin:end].decode()
    except UnicodeDecodeError:
        raise InputError(f"{path}:{first + line}: an id or a text is not UTF-8; correct it.") from None


def _by_python(line: bytes, place: str, texts: bool) -> Lines:
    """Return the vector of one line as Python reads it. Raise InputError for a malformed line."""
    try:
        record = json.loads(line, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        raise InputError(f"{place}: this is no JSON object; write one on each line.") from None
    if not isinstance(record, _Pairs):
        raise InputError(f"{place}: this is no JSON object; write one on each line.")
    members = dict(record)
    name, values = _member(members, ID_NAMES, place), _member(members, VECTOR_NAMES, place)
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise InputError(f"{place}: the id is no text; correct it.")
    numbers, widths = [value for _, value in values] if isinstance(values, _Pairs) else values, None
    if (
        isinstance(values, list)
        and values
        and all(type(row) is list for row in values)
        and not isinstance(values, _Pairs)
    ):
        widths, numbers = _width_of(values, name, place), [value for row in values for value in row]
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in numbers):
        raise InputError(f"{place}: the vector of {name} is no list of numbers; correct it.")
    text: Any = next((members[each] for each in TEXT_NAMES if each in members), "")
    words = [text if isinstance(text, str) else ""] if texts else []
    try:
        terms = [term.encode() for term, _ in values] if isinstance(values, _Pairs) else []
    except UnicodeEncodeError:
        raise InputError(f"{place}: a term of {name} has half of a surrogate pair, which is no character.") from None
    ends = np.cumsum(np.fromiter(map(len, terms), np.int64, len(terms)))
    spans = np.stack([ends - np.diff(ends, prepend=0), ends], axis=1) if isinstance(values, _Pairs) else None
    tokens = [] if widths is None else _tokens(members.get(TOKEN_NAMES[0]), len(values), name, place)
    return Lines(
        [str(name)],
        np.array([len(numbers)]),
        _singles(numbers, name, place),
        words,
        b"".join(terms),
        spans,
        place,
        widths,
        tokens,
    )


def _width_of(rows: list[list[Any]], name: object, place: str) -> np.ndarray:
    """Return the width of a matrix. Raise InputError if its rows have different widths."""
    sizes = sorted(set(map(len, rows)))
    if len(sizes) > 1:
        raise InputError(f"{place}: the matrix of {name} has rows of {sizes[0]:,} and of {sizes[1]:,} numbers.")
    expect_width(sizes[0], f"{place}: {name}")
    return np.array(sizes)


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object as pairs, since several members may have the same name."""


def _singles(values: list[Any], name: object, place: str) -> np.ndarray:
    """Return numbers as float32. Raise InputError for a finite number that is too large for float32."""
    try:
        wide = np.array(values, np.float64)
    except OverflowError:
        wide = np.array([np.finfo(np.float64).max])
    with np.errstate(over="ignore"):
        numbers = wide.astype(np.float32)
    if (np.isinf(numbers) & np.isfinite(wide)).any():
        raise InputError(f"{place}: the vector of {name} holds a number that is too large for float32.")
    return numbers


def _member(record: dict[str, Any], names: tuple[str, ...], place: str) -> Any:
    found = next((record[name] for name in names if name in record), None)
    if found is None:
        raise InputError(
            f"{place}: the object has no {names[0]} and no {names[1]}; each line needs an id and a vector."
        )
    return found
