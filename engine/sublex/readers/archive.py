"""Read archives, `.tar` (also compressed) and `.zip`.

Their files are read like the files of a folder.

Nothing is unpacked to the disk. An archive is read twice as a stream: first the beginning of each file, to choose its reader,
then the files. Links, devices, hidden files and archives within archives are not read.
"""

from __future__ import annotations

import io
import os
import posixpath
import stat
import tarfile
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from itertools import chain, groupby
from typing import Any, BinaryIO

from sublex.contracts.base import Document, Reader, Report, Source
from sublex.errors import InputError
from sublex.readers.batch import MakeBatch, batches, with_sound_ids
from sublex.readers.signatures import archive_format
from sublex.readers.source import CHUNK, HEAD, PACKED, FileSource, Guarded, without_compression

# The name of the file with the documents in BEIR's data sets. The other files there have no documents.
CORPUS = "corpus.jsonl"
# The longest header of a member, in bytes; a long name can make a header long.
LONGEST_HEADER = 1 << 20
_HEADERS = (
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
)  # fmt: skip
# For each compression, the packed bytes of a member that are unpacked at a time. 40 bytes of bzip2 can unpack to 45 MB;
# LZMA unpacks to far less.
PIECES = {zipfile.ZIP_BZIP2: 128, zipfile.ZIP_LZMA: PACKED}
# The exceptions of zipfile and tarfile for a damaged, encrypted or unknown member.
_FAULTS = (tarfile.TarError, zipfile.BadZipFile, RuntimeError, NotImplementedError)

# A function of the path and the first bytes of a file. It returns (registered name, reader), or None if no reader
# detects the file.
Detect = Callable[[str, bytes], tuple[str, Reader] | None]
# The name of a file in an archive, and a function that opens it.
Entry = tuple[str, Callable[[], Any]]


class Member:
    """A file in an archive, as a source for readers.

    `path` is its name in messages, and `name` its path within the archive.
    """

    def __init__(self, archive: str, name: str, opened: Callable[[], Any]):
        self.path, self.name, self._opened = f"{archive}/{name}", name, opened

    def open(self) -> BinaryIO:
        """Return a buffered stream of the decompressed bytes. It can be opened only once."""
        try:
            return io.BufferedReader(_MemberStream(self._opened(), self.path), CHUNK)
        except _FAULTS as error:
            raise InputError(f"{self.path} cannot be read: {error}.") from None


class _MemberStream(Guarded):
    """A stream of a member. Its errors, and the errors of its archive, are raised as InputErrors."""

    def readinto(self, buffer: Any) -> int:
        try:
            return super().readinto(buffer)
        except _FAULTS as error:
            raise InputError(f"{self.path} is cut short or damaged: {error}.") from None


class Archive:
    """`Archive(detect)` is the reader of an archive. The function `detect` returns the reader of each member."""

    def __init__(self, detect: Detect):
        self._detect = detect

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file is an archive."""
        return bool(archive_format(path, head))

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of all members."""
        for reader, member in self._members(source.path, report):
            yield from with_sound_ids(reader.read(member, report), member.path, report)

    def batches(self, source: Source, report: Report) -> Iterator[MakeBatch]:
        """Yield a function for each batch, in the order of the documents. Any thread may call these functions."""
        members = self._members(source.path, report)
        for makes_batches, group in groupby(members, lambda member: hasattr(member[0], "batches")):
            if makes_batches:
                for reader, member in group:
                    yield from reader.batches(member, report)  # type: ignore[attr-defined]
            else:
                parts = (with_sound_ids(reader.read(member, report), member.path, report) for reader, member in group)
                yield from batches(chain.from_iterable(parts), report)
        # A batch without documents carries the notes about members.
        yield from batches((), report)

    def _members(self, path: str, report: Report) -> Iterator[tuple[Reader, Member]]:
        """Yield (reader, member) for each member that has a reader.

        The caller has to read a member before it takes the next one.
        """
        if not os.path.isfile(path):
            raise InputError(f"The archive {path} has to be a file, because it is read twice; write it to a file.")
        chosen = self._choose(path, report)
        with closing(_files(path, Report())) as files:
            for (name, opened), reader in zip(files, chosen, strict=True):
                if reader:
                    yield reader, Member(path, name, opened)

    def _choose(self, path: str, report: Report) -> list[Reader | None]:
        """Return the reader of each file of an archive, in the order of the files. A file that is left out has None."""
        found: list[tuple[str, tuple[str, Reader] | None]] = []
        with closing(_files(path, report)) as files:
            for name, opened in files:
                with Member(path, name, opened).open() as stream:
                    found.append((name, self._detect(f"{path}/{name}", stream.read(HEAD))))
        is_corpus = [posixpath.basename(without_compression(name)) == CORPUS for name, _ in found]
        reasons = {}
        for (name, claim), corpus in zip(found, is_corpus, strict=True):
            if any(is_corpus) and not corpus:
                reasons[name] = f"no {CORPUS}, which is there"
            elif claim is None:
                reasons[name] = "no reader knows the format"
            elif claim[0] == "text" and any(other and other[0] != "text" for _, other in found):
                reasons[name] = "plain text next to collection files"
        for reason, names in groupby(sorted(reasons, key=reasons.__getitem__), reasons.__getitem__):
            first, *more = names
            which = f"{path}/{first} and {len(more):,} more were" if more else f"{path}/{first} was"
            report.note(f"{which} left out: {reason}")
        if len(reasons) == len(found):
            raise InputError(f"{path} holds no file whose format a reader knows; name one by --reader.")
        return [claim[1] if claim and name not in reasons else None for name, claim in found]


def _files(path: str, report: Report) -> Generator[Entry, None, None]:
    """Yield the regular files of an archive that are not hidden. The report gets a note about links and devices."""
    is_zip = archive_format(path, FileSource(path).head()) == "zip"
    try:
        for name, kind, opened in (_zip_entries if is_zip else _tar_entries)(path):
            name = posixpath.normpath(name).lstrip("/")
            if kind == "other":
                report.note(f"{path}: links and devices in it were left out")
            elif kind == "file" and not any(part.startswith(".") and part != ".." for part in name.split("/")):
                yield name, opened
    except _FAULTS as error:
        raise InputError(f"{path} is cut short or damaged: {error}.") from None


class _Header(tarfile.TarInfo):
    """The header of a tar member. A header that is damaged or needs much memory raises an error."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Any:
        try:
            return super().fromtarfile(archive)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            # Without this error, tarfile treats a damaged header as the end of the archive.
            raise tarfile.ReadError(str(error)) from None

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        if self.type in _HEADERS and self.size > LONGEST_HEADER:
            raise tarfile.ReadError(f"a header has {self.size:,} bytes")
        return super()._proc_member(archive)  # type: ignore[misc]


def _tar_entries(path: str) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    with FileSource(path).open() as stream, tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as archive:
        while entry := archive.next():
            # tarfile would keep all headers in memory, so remove them.
            archive.members.clear()  # type: ignore[attr-defined]
            kind = "file" if entry.isreg() else "folder" if entry.isdir() else "other"
            yield entry.name, kind, partial(archive.extractfile, entry)


def _zip_entries(path: str) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            mode = stat.S_IFMT(entry.external_attr >> 16)
            if entry.flag_bits & 1:
                raise InputError(f"{path}/{entry.filename} is encrypted; decrypt the archive first.")
            kind = "folder" if entry.is_dir() else "file" if mode in (0, stat.S_IFREG) else "other"
            in_pieces = entry.compress_type in PIECES
            yield (
                entry.filename,
                kind,
                partial(_opened_in_pieces if in_pieces else zipfile.ZipFile.open, archive, entry),
            )


class _Pieces(io.RawIOBase):
    """A stream of a member of a zip file. It unpacks about `size` packed bytes at a time."""

    def __init__(self, member: Any, size: int):
        self.member, self.size = member, size
        # zipfile reads at least this number of bytes, and unpacks them all at once.
        member.MIN_READ_SIZE = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.member.read(min(len(buffer), self.size))
        buffer[: len(data)] = data
        return len(data)


def _opened_in_pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> BinaryIO:
    return io.BufferedReader(_Pieces(archive.open(entry), PIECES[entry.compress_type]), PACKED)
