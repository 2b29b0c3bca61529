"""Writing run files: six columns, scores in the shortest form that reads back to the same float32.

A file appears under its name when it is whole; a pipe or a device is written to as it is. Equal scores stay equal; ranks are
those of the rows.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from sublex.base import NO_FIELDS
from sublex.errors import InputError, SublexError
from sublex.strings import Strings
from sublex.trec.metadata import END, START, sidecar_path, to_comments, to_yaml

WHERE = ("sidecar", "header", "none")
BUFFER = 1 << 22
# Beyond this level gzip takes several times longer than all else, for little.
GZIP_LEVEL = 3

Rows = Iterable[tuple[str, Sequence[str], np.ndarray]]


def write_run(
    path: str | os.PathLike[str],
    rows: Rows,
    tag: str,
    metadata: Mapping[str, Any] = NO_FIELDS,
    where: str = "sidecar",
) -> int:
    """Write a run, compressed when its name ends in .gz; how many lines it has.

    `rows` give (qid, docnos, scores) with each topic's documents as they are ranked; docnos as `Strings` are the fast way.
    """
    if where not in WHERE:
        raise InputError(f"Metadata cannot go to {where}; there are {', '.join(WHERE)}.")
    path, counts = Path(path), [0]
    with _replacing(path) as file:
        if where == "header" and metadata:
            file.write(to_comments(metadata).encode())
        for lines in run_lines(_counted(rows, counts), tag):
            file.write(lines.data)
    if _special(path):
        return sum(counts)
    beside = Path(sidecar_path(path))
    if where == "sidecar" and metadata:
        with _replacing(beside) as file:
            file.write(f"{START}\n{to_yaml(metadata)}{END}\n".encode())
    else:
        _forget(beside)
    return sum(counts)


def _forget(beside: Path) -> None:
    """Remove a sidecar that describes the run that was there before."""
    try:
        if beside.is_file() and beside.read_bytes().startswith(START.encode()):
            beside.unlink()
    except OSError as error:
        raise SublexError(f"Cannot remove {beside}, which may describe another run: {error.strerror}.") from None


def _counted(rows: Rows, counts: list[int]) -> Rows:
    for row in rows:
        counts.append(len(row[2]))
        yield row


def run_lines(rows: Rows, tag: str) -> Iterator[np.ndarray]:
    """The lines of a run as bytes, one array a topic."""
    from sublex.trec import kernels

    _check_word(tag, "tag")
    tail = np.frombuffer(f" {tag}\n".encode(), np.uint8)
    seen: set[str] = set()
    out = np.empty(0, np.uint8)
    for qid, given, values in rows:
        _check_word(qid, "topic id")
        if qid in seen:
            raise InputError(f"Topic {qid} comes twice in one run; give each topic once.")
        seen.add(qid)
        docnos, scores = Strings.of(given), np.ascontiguousarray(values, np.float32)
        if len(docnos) != len(scores):
            raise InputError(f"Topic {qid} has {len(docnos):,} documents and {len(scores):,} scores; give as many.")
        check_docnos(docnos)
        if not np.isfinite(scores).all():
            worst = int(np.argmin(np.isfinite(scores)))
            raise SublexError(f"Topic {qid}: the score of {docnos[worst]} is {scores[worst]}; a run needs finite ones.")
        head = np.frombuffer(f"{qid} Q0 ".encode(), np.uint8)
        room = (len(head) + len(tail) + 2 * kernels.LONGEST_NUMBER) * len(docnos) + int(docnos.sizes.sum())
        if room > len(out):
            out = np.empty(2 * room, np.uint8)
        digits = shortest(scores)
        size = kernels.write(docnos.arena, docnos.starts, docnos.sizes, np.signbit(scores), *digits, head, tail, out)
        yield out[:size]


def shortest(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The fewest digits that read back to each float32 and are nearest to it, and their power of ten."""
    from sublex.trec import kernels

    mantissas, exponents = kernels.shortest(scores, scores.view(np.int32), kernels.TENS)
    hard = np.flatnonzero(mantissas < 0)
    if len(hard):
        values, which = np.unique(np.abs(scores[hard]), return_inverse=True)
        found = np.array([_digits(value) for value in values], np.int64)[which]
        mantissas[hard], exponents[hard] = found.T
    return mantissas, exponents


def _digits(value: np.float32) -> tuple[int, int]:
    """The same for one positive number, by NumPy."""
    digits, _, exponent = np.format_float_scientific(value, trim="-").partition("e")
    whole, _, fraction = digits.partition(".")
    return int(whole + fraction), int(exponent) - len(fraction)


def check_docnos(docnos: Strings) -> None:
    """Refuse docnos that a run file cannot hold; of an index's docnos, before it is searched."""
    from sublex.trec import kernels

    kinds = kernels.visible(docnos.arena, docnos.starts, docnos.sizes)
    for place in np.flatnonzero(kinds):
        if kinds[place] == 1 or not _is_word(docnos[int(place)]):
            raise InputError(
                f"Document {docnos[int(place)]!r} cannot stand in a run: run files separate columns by white space; "
                "index the collection with other ids."
            )


def _is_word(text: str) -> bool:
    return text != "" and not any(character.isspace() for character in text)


def _check_word(text: str, what: str) -> None:
    if not _is_word(text):
        raise InputError(f"The {what} {text!r} is empty or has white space, which separates the columns of a run.")
    if text.startswith("#"):
        raise InputError(f"The {what} {text!r} begins with #, which makes a line of a run a comment.")


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes the path's place when all went well, and vanishes otherwise; links are followed."""
    place = Path(os.path.realpath(path))
    draft = place if _special(place) else place.with_name(f".{place.name[:200]}.{os.getpid()}.tmp")
    try:
        with open(draft, "wb", buffering=BUFFER) as file:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0) as zipped:
                    yield zipped  # type: ignore[misc]
            else:
                yield file
        if draft != place:
            os.replace(draft, place)
    except OSError as error:
        raise SublexError(f"Cannot write {path}: {error.strerror or error}.") from None
    finally:
        if draft != place:
            draft.unlink(missing_ok=True)


def _special(path: Path) -> bool:
    """Whether something stands there that is no regular file, such as a pipe: it is never replaced, and nothing put beside it."""
    return os.path.exists(path) and not os.path.isfile(path)
