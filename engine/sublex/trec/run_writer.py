"""Write run files: six columns, with scores in the shortest form that reads back to the same float32.

A file appears under its name when it is complete; a pipe or a device is written to directly. Documents get ranks in the
given order. This module does not sort them.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from sublex.contracts.base import NO_FIELDS
from sublex.errors import InputError, SublexError
from sublex.tools.files import replacing
from sublex.tools.outputs import Sealing, content_hash, expect_replaceable, is_device, is_sealed
from sublex.tools.strings import Strings, id_fault
from sublex.trec.ids import refuse_faulty, with_white_space
from sublex.trec.metadata import END, START, sidecar_path, to_comments, to_yaml

# Where the metadata of a run can go.
WHERE = ("sidecar", "header", "none")
# The comment in a file of metadata that gives the hash of the run.
RUN_HASH = "# sublex.run "
# The number of bytes in one write to a file.
BUFFER = 1 << 22
# The level of gzip. Higher levels take several times longer than all other work, and make the file only a little
# smaller.
GZIP_LEVEL = 3

# The rankings of topics. Each has the topic's id, the docnos in the order of their ranks, and the scores.
Rankings = Iterable[tuple[str, Sequence[str], np.ndarray]]


def write_run(
    path: str | os.PathLike[str],
    rankings: Rankings,
    tag: str,
    metadata: Mapping[str, Any] = NO_FIELDS,
    where: str = "sidecar",
    overwrite: bool = False,
) -> int:
    """Write a run file, and return the number of its lines. A file whose name ends in .gz is compressed.

    Docnos can be any strings; `Strings` are fastest. `where` says where the metadata go: into a file next to the run
    (`sidecar`), into comments at the head of the run file (`header`), or nowhere (`none`). Raise InputError for an id,
    a docno or a tag that a run file cannot hold. `check_run_place` says which files may be replaced; for others, raise
    InputError, too.
    """
    path, counts = Path(path), [0]
    check_run_place(path, where, overwrite)
    with output_file(path) as file:
        sealing = Sealing(file)
        if where == "header" and metadata:
            sealing.write(to_comments(metadata).encode())
        for lines in run_lines(_counted(rankings, counts), tag):
            sealing.write(lines.data)
        if where == "header" and metadata and not is_device(path):
            sealing.seal()
    if is_device(path):
        return sum(counts)
    sidecar = Path(sidecar_path(path))
    if where == "sidecar" and metadata:
        with output_file(sidecar) as file:
            sealing = Sealing(file)
            sealing.write(f"{START}\n{to_yaml(metadata)}{END}\n{RUN_HASH}{content_hash(path)}\n".encode())
            sealing.seal()
    elif _is_metadata(sidecar):
        # Metadata of an earlier run with the same name would describe the new run wrongly, so remove them.
        try:
            sidecar.unlink()
        except OSError as error:
            raise SublexError(f"Cannot remove {sidecar}, which may describe another run: {error.strerror}.") from None
    return sum(counts)


def check_run_place(path: Path, where: str = "sidecar", overwrite: bool = False) -> None:
    """Raise InputError if a run cannot be written to `path` with its metadata at `where`.

    A run, or a file of metadata beside it, is replaced if Sublex wrote it and nobody has changed it since, or if
    `overwrite` is true.
    """
    if where not in WHERE:
        raise InputError(f"Metadata cannot go to {where}; use {', '.join(WHERE[:-1])} or {WHERE[-1]}.")
    if is_device(path):
        return
    sidecar = Path(sidecar_path(path))
    if where == "sidecar" or _is_metadata(sidecar):
        expect_replaceable(sidecar, overwrite)
    expect_replaceable(path, overwrite, _is_own_run)


def _is_own_run(path: Path) -> bool:
    """Return whether Sublex wrote a run and nobody changed it since. Then the hash in its metadata matches the file."""
    sidecar = Path(sidecar_path(path))
    if is_sealed(sidecar):
        with suppress(OSError):
            lines = sidecar.read_bytes().splitlines()
            return f"{RUN_HASH}{content_hash(path)}".encode() in lines[-2:]
    return is_sealed(path)


def _is_metadata(sidecar: Path) -> bool:
    """Return whether a file has metadata of Sublex. A file without their first line has something else, and must stay."""
    with suppress(OSError):
        if sidecar.is_file() and not sidecar.is_symlink():
            with open(sidecar, "rb") as file:
                return file.read(len(START)) == START.encode()
    return False


def _counted(rankings: Rankings, counts: list[int]) -> Rankings:
    """Yield the rankings, and append the number of hits of each to `counts`."""
    for ranking in rankings:
        counts.append(len(ranking[2]))
        yield ranking


def run_lines(rankings: Rankings, tag: str) -> Iterator[np.ndarray]:
    """Yield the lines of each topic as an array of bytes. The next topic overwrites the array."""
    from sublex.trec import run_kernels

    check_word(tag, "tag")
    tail = np.frombuffer(f" {tag}\n".encode(), np.uint8)
    seen: set[str] = set()
    out = np.empty(0, np.uint8)
    for qid, names, values in rankings:
        check_word(qid, "topic id")
        if qid in seen:
            raise InputError(f"Topic {qid} comes twice in one run; give each topic once.")
        seen.add(qid)
        docnos, scores = Strings.of(names), np.ascontiguousarray(values, np.float32)
        if len(docnos) != len(scores):
            raise InputError(
                f"Topic {qid} has {len(docnos):,} documents and {len(scores):,} scores; give one score for each document."
            )
        check_docnos(docnos)
        if not np.isfinite(scores).all():
            worst = int(np.argmin(np.isfinite(scores)))
            raise SublexError(
                f"Topic {qid}: the score of {docnos[worst]} is {scores[worst]}; a run needs finite scores."
            )
        head = np.frombuffer(f"{qid} Q0 ".encode(), np.uint8)
        room = (len(head) + len(tail) + 2 * run_kernels.LONGEST_NUMBER) * len(docnos) + int(docnos.sizes.sum())
        if room > len(out):
            out = np.empty(2 * room, np.uint8)
        digits = shortest(scores)
        size = run_kernels.write(
            docnos.arena, docnos.starts, docnos.sizes, np.signbit(scores), *digits, head, tail, out
        )
        yield out[:size]


def shortest(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the fewest digits that read back to each float32, as whole numbers and exponents of 10 (int64)."""
    from sublex.trec import run_kernels

    mantissas, exponents = run_kernels.shortest(scores, scores.view(np.int32), run_kernels.TENS)
    hard = np.flatnonzero(mantissas < 0)
    if len(hard):
        values, which = np.unique(np.abs(scores[hard]), return_inverse=True)
        found = np.array([_digits(value) for value in values], np.int64)[which]
        mantissas[hard], exponents[hard] = found.T
    return mantissas, exponents


def _digits(value: np.float32) -> tuple[int, int]:
    """Return the shortest digits of one positive number and their exponent of 10, by NumPy."""
    digits, _, exponent = np.format_float_scientific(value, trim="-").partition("e")
    whole, _, fraction = digits.partition(".")
    return int(whole + fraction), int(exponent) - len(fraction)


def check_docnos(docnos: Strings) -> None:
    """Raise InputError for a docno that a run file cannot hold. Commands call this before they search an index."""
    refuse_faulty(docnos, "document")
    for place in with_white_space(docnos)[:1].tolist():
        raise InputError(
            f"Document {docnos[place]!r} cannot be in a run, because white space separates the columns of a run; "
            "index the collection with other ids."
        )


def check_word(text: str, what: str) -> None:
    """Raise InputError for an id or a tag that a run file cannot hold."""
    if not text or any(map(str.isspace, text)):
        raise InputError(f"The {what} {text!r} is empty or has white space, which separates the columns of a run.")
    if fault := id_fault(text):
        raise InputError(f"The {what} {text!r} {fault}; choose another.")
    if text.startswith("#"):
        raise InputError(f"The {what} {text!r} begins with #, which marks comments in a run; choose another.")


@contextmanager
def output_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write.

    At the end, the new file replaces the file at `path`; after an error, the new file is removed. Callers must call
    `expect_replaceable` before, unless `path` is a device.
    """
    try:
        with open(path, "wb", buffering=BUFFER) if is_device(path) else replacing(path, BUFFER) as file:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0) as zipped:
                    yield zipped  # type: ignore[misc]
            else:
                yield file
    except OSError as error:
        raise SublexError(f"Cannot write {path}: {error.strerror or error}.") from None
