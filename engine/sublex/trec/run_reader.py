"""Read run files, plain or compressed, with lines in any order, and the metadata of runs.

The rank column is ignored. As in trec_eval, hits are ordered by score as float32, and hits with equal scores by docno.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.base import NO_FIELDS, Report
from sublex.readers import lines
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.tools.strings import Strings, read_only
from sublex.trec.columns import offsets
from sublex.trec.kinds import RUN, reads
from sublex.trec.metadata import LONGEST, from_yaml, sidecar_path, yaml_in_comments
from sublex.trec.rows import (
    NUMBER,
    Fault,
    Listener,
    Rows,
    first_rows,
    header,
    is_number,
    miscounted,
    pieces_of_text,
    refuse,
    report_repeated,
)
from sublex.trec.runs import Run, ranking

# A file is parsed in pieces of this number of bytes.
PIECE = 1 << 24
# The number of comments at the head of a run that may be metadata.
MOST_COMMENTS = 100_000
EXPECTED = "a run has six, qid Q0 docno rank score tag"
WHOLE = re.compile(rb"[+-]?[0-9]+")


class RunLayout(NamedTuple):
    """The names of the columns of a run file, and the positions of the columns that Sublex reads.

    `tag` is -1 without a tag.
    """

    name: str
    columns: tuple[str, ...]
    docno: int
    rank: int
    score: int
    tag: int = -1
    qid: int = 0


SIX = RunLayout("six columns", ("qid", "Q0", "docno", "rank", "score", "tag"), 2, 3, 4, 5)
NO_TAG = RunLayout("no tag", ("qid", "Q0", "docno", "rank", "score"), 2, 3, 4)
NO_Q0 = RunLayout("no Q0", ("qid", "docno", "rank", "score", "tag"), 1, 2, 3, 4)


class Details(NamedTuple):
    """Columns of hits that only lint needs: the number of the tag, the rank and the score as float64.

    A rank that is not a number is NaN.
    """

    tags: np.ndarray
    ranks: np.ndarray
    scores: np.ndarray


class RunFile(NamedTuple):
    """The hits of a run file without repeated ones, the distinct tags, and the comments before the hits."""

    layout: RunLayout
    hits: Rows
    tags: Strings
    comments: list[str]
    details: Details

    def order(self) -> np.ndarray:
        """Return the places of the hits in the order of a run."""
        return ranking(self.hits.topics, self.hits.docs, self.hits.values, self.hits.docnos)

    def run(self, order: np.ndarray, **more: Any) -> Run:
        """Return the hits in the order `order` as a run. `more` are further arguments of `Run`."""
        qids, docnos, topics, docs, scores, _ = self.hits
        tag = self.tags[0] if len(self.tags) else ""
        return Run(qids, offsets(topics[order], len(qids)), docs[order], scores[order], docnos, tag, **more)


def layout_of(rows: Iterable[Sequence[bytes]]) -> RunLayout:
    """Return the layout that most rows have. If no row has a known layout, return six columns."""
    votes = Counter(layout for cells in rows if (layout := line_layout(cells)))
    return votes.most_common(1)[0][0] if votes else SIX


def line_layout(cells: Sequence[bytes]) -> RunLayout | None:
    """Return the layout of a row, or None.

    A row has six cells, or five cells that show which column is missing. Otherwise the result is None.
    """
    if len(cells) == 6:
        return SIX
    if len(cells) != 5:
        return None
    without_tag = WHOLE.fullmatch(cells[3]) and NUMBER.fullmatch(cells[4]) and cells[1].upper() in (b"Q0", b"0")
    without_q0 = WHOLE.fullmatch(cells[2]) and NUMBER.fullmatch(cells[3])
    if bool(without_tag) == bool(without_q0):
        return None
    return NO_TAG if without_tag else NO_Q0


@reads(RUN)
def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run file, plain or compressed, or `-` for standard input.

    Metadata come from the comments at the head of the file, or else from the file next to it. Raise InputError, with
    the line number, for a malformed line, and for a document that occurs twice in a topic with different scores.
    """
    source, report = FileSource(path), Report()
    file = read_hits(source, refuse, report)
    metadata = _metadata(file.comments, source.path, report)
    return file.run(file.order(), metadata=metadata, notes=tuple(report.notes))


def read_hits(source: FileSource, listen: Listener, report: Report, detailed: bool = False) -> RunFile:
    """Read the hits of a run file, and report its faults. Lines with a fault that is an error are left out.

    The details of the hits are empty unless `detailed` asks for them.
    """
    read = _HitsRead(source.path, detailed)
    with source.open() as stream:
        for first, text in pieces_of_text(stream, source.path, PIECE, listen, report):
            listen(read.add(first, text))
    hits, details = read.joined()
    tags = read.tags.strings()
    again = report_repeated(hits, source.path, listen, _other_score)
    _note(report, source.path, hits, again, tags)
    details = Details(*(np.delete(column, again) if detailed else column for column in details))
    return RunFile(read.layout or SIX, hits.without(again), tags, read.comments, details)


class _HitsRead:
    """The hits read so far, in the order of the file; topic ids, docnos and tags are numbered."""

    def __init__(self, path: str, detailed: bool) -> None:
        self.path, self.detailed = path, detailed
        self.layout: RunLayout | None = None
        self.begun, self.comments = False, list[str]()
        self.qids, self.docnos, self.tags = Interner(), Interner(), Interner()
        kinds = np.int32, np.int32, np.float32, np.int64, np.int32, np.float64, np.float64
        self.columns = [[np.empty(0, kind)] for kind in kinds]

    def add(self, first: int, text: bytes) -> list[Fault]:
        """Add the hits in whole lines, and return the faults of the lines; `first` is the number of the first line."""
        from sublex.analysis.interner_kernels import SPARE
        from sublex.trec import run_kernels

        if self.layout is None:
            start = first_rows(text)
            self.comments += _comments(io.BytesIO(text))
            if not start:
                return []
            self.layout = layout_of(start)
        layout, buf = self.layout, np.frombuffer(bytearray(text) + bytes(SPARE), np.uint8)
        spans, places, counts = run_kernels.split(read_only(buf[: len(text)]), len(layout.columns))
        piece = _Piece(self.path, buf, spans, places + np.int64(first))
        faults = miscounted(self.path, layout.columns, EXPECTED, piece.lines, counts)
        piece = piece.where(counts == len(layout.columns)) if faults else piece
        if not self.begun and len(piece.lines):
            self.begun, cells = True, [piece.cell(0, column) for column in range(len(layout.columns))]
            if not is_number(cells[layout.score].encode()):
                named = header(piece.lines[0], cells, piece.no_score(0, layout))
                faults += named
                piece = piece.where(slice(len(named), None))
        scores, is_junk = _scores(piece, layout.score, self.detailed)
        with np.errstate(over="ignore"):
            rounded = scores.astype(np.float32)
        scores = scores if self.detailed else rounded
        sound = np.isfinite(rounded)
        if not sound.all():
            faults += piece.bad_scores("score", is_junk, layout)
            faults += piece.bad_scores("infinite", ~sound & ~is_junk, layout)
            piece, scores, rounded = piece.where(sound), scores[sound], rounded[sound]
        ids = piece.numbered(layout.qid, self.qids), piece.numbered(layout.docno, self.docnos)
        tags = piece.numbered(layout.tag, self.tags) if layout.tag >= 0 else np.zeros(len(scores), np.int32)
        details = (tags, piece.ranks(layout.rank), scores) if self.detailed else ()
        for column, part in zip(self.columns, (*ids, rounded, piece.lines, *details), strict=False):
            column.append(part)
        return faults

    def joined(self) -> tuple[Rows, Details]:
        """Return all hits and their details."""
        columns = [np.concatenate(parts) for parts in self.columns]
        return Rows(self.qids.strings().tolist(), self.docnos.strings(), *columns[:4]), Details(*columns[4:])


class _Piece(NamedTuple):
    """Some rows of a run file with the number of the line of each.

    Column k of row n is `buf[begin:end]`, where `begin` and `end` are `spans[n, k]` (int32). `buf` is padded for `Interner`.
    """

    path: str
    buf: np.ndarray
    spans: np.ndarray
    lines: np.ndarray

    def where(self, chosen: np.ndarray | slice) -> _Piece:
        """Return the chosen rows."""
        return self._replace(spans=self.spans[chosen], lines=self.lines[chosen])

    def cell(self, row: int, column: int) -> str:
        """Return the text of a cell."""
        begin, end = self.spans[row, column]
        return self.buf[begin:end].tobytes().decode(errors="replace")

    def numbered(self, column: int, table: Interner) -> np.ndarray:
        """Return the number of each cell of a column in `table`. Add cells that are new to the table."""
        begins = self.spans[:, column, 0].astype(np.int64)
        return table.add_padded(self.buf, begins, self.spans[:, column, 1] - begins)

    def ranks(self, column: int) -> np.ndarray:
        """Return the ranks of a column as float64, NaN for a cell that is not a number."""
        ranks, certainties = self.parsed(column)
        return np.where(certainties == 2, ranks, np.nan)

    def parsed(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells of a column as float64, and the certainty of each, as `run_kernels.parse` defines it."""
        from sublex.trec import run_kernels

        return run_kernels.parse(read_only(self.buf), np.ascontiguousarray(self.spans[:, column]), run_kernels.TENS)

    def bad_scores(self, kind: str, wrong: np.ndarray, layout: RunLayout) -> list[Fault]:
        """Return the fault of the rows where `wrong` is true; an empty list if there are no such rows."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return []
        return [
            Fault(kind, self.lines[rows], self.no_score(rows[0], layout), {"cell": self.cell(rows[0], layout.score)})
        ]

    def no_score(self, row: int, layout: RunLayout) -> str:
        """Return the message about a row's score."""
        score = self.cell(row, layout.score)[:50]
        return f"{self.path}:{self.lines[row]}: the score {score} is not a finite float32 number."


def _scores(piece: _Piece, column: int, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of a piece as float64, and a mask of cells that are not numbers.

    The scores round to the right float32. With `exact`, each score is the float64 that is nearest to the text.
    """
    scores, certainties = piece.parsed(column)
    unsure, is_junk = np.flatnonzero(certainties < (2 if exact else 1)), np.zeros(len(scores), np.bool_)
    if len(unsure):
        table = Interner()
        places = piece.where(unsure).numbered(column, table)
        numbers = [float(text) if is_number(text) else None for text in table.strings().tobytes()]
        scores[unsure] = np.array(numbers, np.float64)[places]
        is_junk[unsure] = np.array([number is None for number in numbers], np.bool_)[places]
    return scores, is_junk


def _note(report: Report, path: str, hits: Rows, again: np.ndarray, tags: Sequence[str]) -> None:
    """Add notes to the report if a run has no hits, repeated hits, or several tags."""
    if not len(hits.lines):
        report.note(f"{path} holds no hits")
    if len(again):
        verbs = ("repeat", "count") if len(again) > 1 else ("repeats", "counts")
        repeated = f"{counted(len(again), 'line')} {verbs[0]} a hit with the same score and {verbs[1]} once"
        report.note(f"{path}: {repeated}")
    if len(tags) > 1:
        report.note(f"{path}: {len(tags):,} different tags ({', '.join(tags[:3])}…)")


def _other_score(about: Mapping[str, Any]) -> str:
    return (
        "{where}topic {qid} has {docno} already on line {line_before}, with another score; keep one of the two."
    ).format_map(about)


def metadata_of(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Return the metadata of a run file without reading its hits."""
    source = FileSource(path)
    with source.open() as stream:
        head = (line for _, line in lines.numbered_lines(stream, lines.refuse(source.path)))
        return _metadata(_comments(head), source.path, Report())


def _comments(head: Iterable[bytes]) -> list[str]:
    """Return the comments before the first row.

    At most MOST_COMMENTS comments are kept, and only the beginning of a long line.
    """
    texts = (line.strip() for line in takewhile(lambda line: line.lstrip()[:1] in (b"", b"#"), head))
    comments = (text[: LONGEST + 1].decode(errors="replace").strip() for text in texts if text)
    return list(islice(comments, MOST_COMMENTS))


def _metadata(comments: list[str], path: str, report: Report) -> Mapping[str, Any]:
    """Return the metadata in the comments at a run's head or, without these, in the file next to it.

    If metadata cannot be read, the report notes it and the result is empty.
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
