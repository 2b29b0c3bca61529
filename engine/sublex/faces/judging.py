"""Write judgements into a file in TREC's format, each in one atomic step.

A journal allows taking back each step. The journal of a file is in the folder of the user's history; it has a line of
JSON for each step. A step is written to the journal before the file changes. If the process is killed in between, only
this step is lost. The hashes in the journal tell whether anything else changed the file after the last step.
"""

from __future__ import annotations

import fcntl
import json
import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import xxhash

from sublex.contracts.stored import is_text
from sublex.errors import InputError
from sublex.faces.user_folders import state_folder
from sublex.index.entries import NAME_LETTERS
from sublex.index.schema import SchemaMismatch, as_json, record_of
from sublex.tools.arguments import shown
from sublex.tools.files import replace_file
from sublex.tools.outputs import expect_replaceable
from sublex.tools.plain_files import open_plain
from sublex.tools.strings import Strings
from sublex.trec.ids import refuse_faulty

# The largest part of a journal that is read, in bytes.
MOST_BYTES = 1 << 28


class Judged(NamedTuple):
    """A step: the judgement that was written, and the lines about its document that the judgement replaced.

    `old` and `new` are hashes of the file before and after the step. With `is_undone`, the step took back an earlier
    step. `by` is the name of the person who judged; the shell has none.
    """

    qid: str
    docno: str
    grade: int
    before: tuple[str, ...]
    old: str
    new: str
    is_undone: bool = False
    by: str = ""

    @property
    def line(self) -> str:
        """The line that the judgement wrote."""
        return f"{self.qid} 0 {self.docno} {self.grade}"


class JudgingJournal:
    """The steps that wrote to a file of judgements. While this object exists, only this process may write to the file."""

    def __init__(self, path: Path, file: BinaryIO):
        self._path, self._file = path, file
        whole, newline, _ = file.read(MOST_BYTES).rpartition(b"\n")
        try:
            lines = [text for text in whole.split(b"\n") if text]
            self.steps = [record_of(json.loads(text), Judged) for text in lines]
            if not all(map(_is_sound, self.steps)):
                raise ValueError
        except (ValueError, SchemaMismatch, RecursionError):
            raise InputError(f"Cannot read {path}, the journal of :judge; move it away to begin a new one.") from None
        # A last line without an end is incomplete: its process was killed.
        self._end = len(whole) + len(newline)
        self._last = self._end - whole.rindex(lines[-1]) if lines else 0

    def drop_unmade(self, now: str) -> None:
        """Drop the last step if the file did not change, because the process was killed after writing the journal."""
        if self.steps and self.steps[-1].old == now != self.steps[-1].new:
            del self.steps[-1]
            self._end -= self._last

    def add(self, step: Judged) -> None:
        """Write a step to the disk."""
        self._file.seek(self._end)
        self._file.truncate()
        self._file.write(_line(step))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._end = self._file.tell()
        self.steps.append(step)

    def left(self, by: str) -> list[int]:
        """Return the places of the steps that a person can take back, in the order of writing. These are the person's own steps."""
        left: list[int] = []
        for place, step in enumerate(self.steps):
            if step.by != by:
                continue
            if step.is_undone:
                del left[-1:]
            else:
                left.append(place)
        return left

    def under(self, place: int) -> tuple[str, ...]:
        """Return the lines that a step replaced. Judgements that somebody took back under a later one are passed over."""
        step = self.steps[place]
        lines = step.before
        for earlier in range(place - 1, -1, -1):
            other = self.steps[earlier]
            if other.is_undone or (other.qid, other.docno) != (step.qid, step.docno) or lines != (other.line,):
                continue
            if earlier in self.left(other.by):
                break
            lines = other.before
        return lines


def _is_sound(step: Judged) -> bool:
    """Return whether the old lines in a step are lines of judgements about its document."""
    shown = all(line.isprintable() or "\t" in line for line in step.before)
    texts = step.qid, step.docno, step.by
    return shown and all(len(line.split()) == 4 for line in step.before) and all(map(is_text, texts))


def _line(step: Judged) -> bytes:
    return json.dumps(as_json(step)).encode() + b"\n"


def journal_path(file: Path) -> Path:
    """Return the path of the journal of a file of judgements."""
    place = os.path.realpath(file)
    digest = xxhash.xxh3_64_hexdigest(os.fsencode(place))
    name = os.fsencode(file.name)[:100].decode(errors="ignore")
    return state_folder() / "judgements" / f"{name}-{digest}.jsonl"


@contextmanager
def _opened(file: Path) -> Iterator[tuple[JudgingJournal, bytes]]:
    """Yield the journal of a file and the content of the file. Other processes that judge wait until the block ends."""
    path = journal_path(file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = open_plain(path, make=True)
    except OSError as error:
        raise InputError(f"Cannot write {path}, the journal of :judge: {error.strerror}.") from None
    with opened:
        if path.is_symlink() or os.fstat(opened.fileno()).st_nlink > 1:
            raise InputError(f"{path}, the journal of :judge, is a link; move it away.")
        fcntl.flock(opened, fcntl.LOCK_EX)
        journal, data = JudgingJournal(path, opened), _read(file)
        journal.drop_unmade(_hash(data))
        yield journal, data


def is_own(file: Path) -> bool:
    """Return whether nobody but Sublex has made or changed a file. This holds for a missing file, too.

    Raise InputError for a file that is not in TREC's format.
    """
    if not os.path.lexists(file):
        return True
    with _opened(file) as (journal, data):
        _replaced(file, data, ("", ""), [])
        return bool(journal.steps) and journal.steps[-1].new == _hash(data)


def write_judgement(file: Path, qid: str, docno: str, grade: int, by: str = "") -> list[str]:
    """Add a judgement to a file, or change the grade of an existing judgement. Other lines stay as they are.

    `by` names the person who judges. Return the lines about this document that were there before.

    Raise InputError for a file that is not in TREC's format, or that cannot be written.
    """
    if docno.split() != [docno]:
        raise InputError(f"{docno!r} holds white space, which separates the columns of judgements.")
    if qid.split() != [qid]:
        raise InputError(f"The topic id {qid!r} holds white space, which separates the columns of judgements.")
    refuse_faulty(Strings.of([docno]), "document")
    refuse_faulty(Strings.of([qid]), "topic")
    # A journal with a name that cannot be read again would end all judging.
    if len(by) > NAME_LETTERS or not by.isprintable():
        raise InputError(
            f"The name of whoever judges has up to {NAME_LETTERS} characters in one line, all of which can be seen; "
            f"{shown(by)} has not."
        )
    expect_replaceable(file, overwrite=True)
    with _opened(file) as (journal, data):
        before, changed = _replaced(file, data, (qid, docno), [f"{qid} 0 {docno} {grade}"])
        if changed != data:
            journal.add(Judged(qid, docno, grade, tuple(before), _hash(data), _hash(changed), by=by))
            _write(file, changed)
    return before


def take_back(file: Path, by: str = "") -> Judged:
    """Take back the last remaining judgement of a person in the journal of a file, and return it.

    Raise InputError if no judgement remains, or if the file has a different judgement in its place.
    """
    expect_replaceable(file, overwrite=True)
    with _opened(file) as (journal, data):
        left = journal.left(by)
        if not left:
            raise InputError(f"There is no judgement{' of yours' * bool(by)} in {file} to take back.")
        step = journal.steps[left[-1]]
        before = journal.under(left[-1])
        found, changed = _replaced(file, data, (step.qid, step.docno), before)
        if found != [step.line]:
            journal.add(step._replace(old=_hash(data), new=_hash(data), is_undone=True))
            raise InputError(
                f"{file} has another judgement of {step.docno} for topic {step.qid} now, which stays; "
                ":unjudge takes back the one before."
            )
        journal.add(step._replace(old=_hash(data), new=_hash(changed), is_undone=True))
        _write(file, changed)
    return step._replace(before=before)


def _replaced(file: Path, data: bytes, wanted: tuple[str, str], lines: Iterable[str]) -> tuple[list[str], bytes]:
    """Return the lines about a topic and a document, and the file's content with `lines` in their place or at its end."""
    pair = tuple(word.encode() for word in wanted)
    new = b"".join(line.encode(errors="surrogateescape") + b"\n" for line in lines)
    kept, found = list[bytes](), list[str]()
    mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    for line in data.removeprefix(mark).splitlines(keepends=True):
        cells = line.split()
        if cells and not line.startswith(b"#") and len(cells) != 4:
            raise InputError(f"{file} is not in TREC's format; Sublex writes judgements only to such a file.")
        if len(cells) != 4 or (cells[0], cells[2]) != pair:
            kept.append(line if line.endswith(b"\n") else line + b"\n")
            continue
        if not found:
            kept.append(new)
        found.append(line.rstrip(b"\r\n").decode(errors="surrogateescape"))
    return found, b"".join([mark, *kept, *([] if found else [new])])


def _read(file: Path) -> bytes:
    try:
        with open_plain(file) as opened:
            return opened.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputError(f"Cannot read {file}: {error.strerror}.") from None


def _write(file: Path, data: bytes) -> None:
    try:
        replace_file(file, data)
    except OSError as error:
        raise InputError(f"Cannot write {file}: {error.strerror}.") from None


def _hash(data: bytes) -> str:
    return xxhash.xxh3_128_hexdigest(data)
