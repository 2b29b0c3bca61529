"""Read run files, plain or compressed, with lines in any order, and the metadata of runs.

The rank column is ignored. As in trec_eval, scores as float32 and docnos make the order.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.base import NO_FIELDS, Report
from sublex.errors import InputError
from sublex.readers.lines import numbered_lines, refuse, utf8_lines, whole_lines
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.trec.columns import first_repeated
from sublex.trec.metadata import LONGEST, from_yaml, sidecar_path, yaml_in_comments
from sublex.trec.runs import Run, ranked

# Bytes of a file that are parsed at a time.
PIECE = 1 << 24
# Comments at the head of a run that are searched for metadata.
MOST_COMMENTS = 100_000
# The byte order marks of UTF-16.
UTF16 = (b"\xff\xfe", b"\xfe\xff")
EXPECTED = "a run has six, qid Q0 docno rank score tag"
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WHOLE = re.compile(rb"[+-]?[0-9]+")


class Layout(NamedTuple):
    """How many columns a run file has, and the positions of the columns that are read; `tag` is -1 if there is none."""

    columns: int
    qid: int = 0
    docno: int = 2
    score: int = 4
    tag: int = 5


SIX = Layout(6)
NO_TAG = Layout(5, tag=-1)
NO_Q0 = Layout(5, docno=1, score=3, tag=4)


class _Hits:
    """The hits read so far, in the order of the file; topic ids, docnos and tags are numbers."""

    def __init__(self) -> None:
        self.qids, self.docnos, self.tags = Interner(), Interner(), Interner()
        self.columns: list[tuple[np.ndarray, ...]] = []

    def add(self, buf: np.ndarray, layout: Layout, spans: np.ndarray, lines: np.ndarray, scores: np.ndarray) -> None:
        """Add lines of a file; `spans` is where the columns begin and end in `buf`."""
        topics = self._intern(self.qids, buf, spans[:, layout.qid])
        docs = self._intern(self.docnos, buf, spans[:, layout.docno])
        if layout.tag >= 0:
            self._intern(self.tags, buf, spans[:, layout.tag])
        self.columns.append((topics, docs, scores, lines))

    def _intern(self, table: Interner, buf: np.ndarray, spans: np.ndarray) -> np.ndarray:
        starts = spans[:, 0].astype(np.int64)
        return table.add(buf, starts, spans[:, 1] - starts)

    def joined(self) -> Iterator[np.ndarray]:
        """Yield topics, documents, scores and line numbers, each as one array."""
        for place, kind in enumerate((np.int32, np.int32, np.float32, np.int64)):
            yield np.concatenate([np.empty(0, kind), *(columns[place] for columns in self.columns)])


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run file, plain or compressed, or `-` for standard input.

    Metadata come from the comments at its head, else from the file next to it. Raise InputError, with the line, for a
    malformed line and for a document that a topic has twice with different scores.
    """
    source, report, hits = FileSource(path), Report(), _Hits()
    layout: Layout | None = None
    comments: list[str] = []
    with source.open() as stream:
        for first, piece in whole_lines(stream, PIECE, refuse(source.path)):
            if first == 1 and (piece[:2] in UTF16 or (len(piece) > 20 and not any(piece[1:20:2]))):
                raise InputError(f"{source.path} is in UTF-16; save it as UTF-8.")
            data = utf8_lines(piece, source.path, report)
            if layout is None:
                layout = _layout(data, source.path, first, comments)
            if layout is not None:
                _read(data, layout, source.path, first, hits)
    if layout is None:
        report.note(f"{source.path} holds no hits")
    topics, docs, scores, lines = hits.joined()
    docnos, qids = hits.docnos.strings(), hits.qids.strings().tolist()
    earlier, later = first_repeated(topics, docs)
    differing = np.flatnonzero(scores[earlier] != scores[later])
    if len(differing):
        a, b = earlier[differing], later[differing]
        at = np.argmin(b)
        raise InputError(
            f"{source.path}:{lines[b[at]]}: topic {qids[topics[b[at]]]} has {docnos[int(docs[b[at]])]} already "
            f"on line {lines[a[at]]}, with another score; keep one of the two."
        )
    if len(later):
        verbs = ("repeat", "count") if len(later) > 1 else ("repeats", "counts")
        repeated = f"{counted(len(later), 'line')} {verbs[0]} a hit with the same score and {verbs[1]} once"
        report.note(f"{source.path}: {repeated}")
        topics, docs, scores = (np.delete(column, later) for column in (topics, docs, scores))
    tags = hits.tags.strings().tolist()
    if len(tags) > 1:
        report.note(f"{source.path}: {len(tags):,} different tags ({', '.join(tags[:3])}…)")
    metadata = _metadata(comments, source.path, report)
    tag = tags[0] if tags else ""
    return ranked(qids, topics, docs, scores, docnos, tag=tag, metadata=metadata, notes=tuple(report.notes))


def metadata_of(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Return the metadata of a run file without reading its hits."""
    source, comments = FileSource(path), list[str]()
    with source.open() as stream:
        head = takewhile(
            lambda line: line.startswith(b"#"), (line for _, line in numbered_lines(stream, refuse(source.path)))
        )
        for line in head:
            _add_comment(comments, line)
    return _metadata(comments, source.path, Report())


def _layout(data: bytes, path: str, line: int, comments: list[str]) -> Layout | None:
    """Return the layout that the first line with columns shows, or None if there is no such line.

    Comments before that line are added to `comments`.
    """
    for number, text in enumerate(io.BytesIO(data), line):
        cells = text.split()
        if not cells:
            continue
        if cells[0].startswith(b"#"):
            _add_comment(comments, text)
            continue
        layout = SIX if len(cells) == 6 else without_one(cells)
        if layout is None:
            raise _miscounted(path, number, len(cells), 6)
        return layout
    return None


def _add_comment(comments: list[str], line: bytes) -> None:
    """Add a comment at the head of a run; after MOST_COMMENTS, and of a long line, nothing more is kept."""
    if len(comments) < MOST_COMMENTS:
        comments.append(line[: LONGEST + 1].decode(errors="replace").strip())


def without_one(cells: Sequence[bytes]) -> Layout | None:
    """Return the layout of a line of five columns, or None if it is not clear whether Q0 or the tag is missing."""
    if len(cells) != 5:
        return None
    without_tag = WHOLE.fullmatch(cells[3]) and NUMBER.fullmatch(cells[4]) and cells[1].upper() in (b"Q0", b"0")
    without_q0 = WHOLE.fullmatch(cells[2]) and NUMBER.fullmatch(cells[3])
    if bool(without_tag) == bool(without_q0):
        return None
    return NO_TAG if without_tag else NO_Q0


def _read(data: bytes, layout: Layout, path: str, first: int, hits: _Hits) -> None:
    """Add the hits in whole lines to `hits`; `first` is the number of the first line."""
    from sublex.trec import kernels

    buf = np.frombuffer(data, np.uint8)
    spans, lines, counts = kernels.split(buf, layout.columns)
    wrong = int(np.argmax(np.append(counts, 0) != layout.columns))
    spans, lines = spans[:wrong], lines + np.int64(first)
    scores, certain = kernels.parse(buf, np.ascontiguousarray(spans[:, layout.score]), kernels.TENS)
    for k in np.flatnonzero(~certain):
        start, end = spans[k, layout.score]
        text = data[start:end]
        with np.errstate(over="ignore"):
            scores[k] = np.float32(float(text)) if NUMBER.fullmatch(text) else np.nan
        if not np.isfinite(scores[k]):
            shown = text[:50].decode(errors="replace")
            raise InputError(f"{path}:{lines[k]}: the score {shown} is not a finite float32 number.")
    if wrong < len(counts):
        raise _miscounted(path, lines[wrong], int(counts[wrong]), layout.columns)
    hits.add(buf, layout, spans, lines, scores)


def _miscounted(path: str, line: int, found: int, expected: int) -> InputError:
    return InputError(f"{path}:{line}: {found} column{'s' * (found != 1)} where {expected} should be; {EXPECTED}.")


def _metadata(comments: list[str], path: str, report: Report) -> Mapping[str, Any]:
    """Return the metadata in the comments at a run's head, else in the file next to it.

    Metadata that cannot be read are noted and left out.
    """
    sidecar = Path(sidecar_path(path))
    text = yaml_in_comments(comments)
    try:
        if text is None and path != "-" and sidecar.is_file():
            with sidecar.open(encoding="utf-8", errors="replace") as file:
                text = file.read(LONGEST + 1)
        return NO_FIELDS if text is None else from_yaml(text)
    except (OSError, ValueError) as error:
        report.note(f"{path}: its metadata could not be read and are left out ({error})")
        return NO_FIELDS
