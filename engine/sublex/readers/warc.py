"""Web archives, WARC 0.18 to 1.1: the pages of ClueWeb, Common Crawl and whoever else crawls.

The envelope of a record is read here, because archives in use have wrong lengths and stray lines that a strict parser
stops at; what is inside (HTTP, chunks, content encoding) is left to warcio. Records that hold no text are passed over.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from sublex.base import Document, Report, Source
from sublex.errors import MissingExtra
from sublex.readers.html import characters, declared_charset, page_text
from sublex.readers.signatures import signature

KINDS = ("response", "conversion", "resource")
HTML = ("text/html", "application/xhtml+xml")
LONGEST_LINE = LONGEST_HEADER = 1 << 20
LONGEST_BLOCK = 1 << 30

_VERSION = re.compile(rb"WARC/[01]\.\d+[ \t]*\r?\n")
_TYPE = re.compile(rb"^WARC-Type:[ \t]*([\w-]+)", re.IGNORECASE | re.MULTILINE)
_LENGTH = re.compile(rb"^Content-Length:[ \t]*(\d{1,15})[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_NEXT = re.compile(rb"\nWARC/[01]\.\d+[ \t]*\r?\nWARC-")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


class Warc:
    """Reads web archives."""

    def detect(self, path: str, head: bytes) -> bool:
        return signature(head) == "warc"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        payload = _payload_of()
        with source.open() as stream:
            for line, header, block in _records(_Tape(stream), source.path, report):
                try:
                    found = payload(header + block)
                except ValueError as error:
                    report.malformed(source.path, line, str(error))
                    continue
                if found is None:
                    report.note(f"{source.path}: records that hold no text were passed over")
                else:
                    yield _document(found, source.path, report)


class _Payload(NamedTuple):
    docno: str
    url: str
    kind: str
    data: bytes


def _document(payload: _Payload, path: str, report: Report) -> Document:
    docno, url, kind, data = payload
    charset = _CHARSET.search(kind)
    is_page = not kind.strip().lower().startswith("text/plain")
    text = characters(data, charset[1] if charset else declared_charset(data) if is_page else None, path, report)
    title, text = page_text(text) if is_page else ("", text)
    return Document(docno, text, title, {"url": url})


def _payload_of() -> Callable[[bytes], _Payload | None]:
    """A function from a record's bytes to what they hold, None where that is no text."""
    try:
        from warcio.bufferedreaders import BufferedReader
        from warcio.exceptions import ArchiveLoadFailed
        from warcio.recordloader import ArcWarcRecordLoader
        from warcio.statusandheaders import StatusAndHeadersParserException as BadHeader
    except ImportError:
        raise MissingExtra("The reader warc", "warc") from None

    class Loader(ArcWarcRecordLoader):
        """A response need not name its address to be one of HTTP."""

        def load_http_headers(self, rec_type, uri, stream, length):
            return super().load_http_headers(rec_type, uri or "http:", stream, length)

    loader = Loader(verify_http=False)
    encodings = ("", "identity", *BufferedReader.get_supported_decompressors())

    def payload(record: bytes) -> _Payload | None:
        try:
            parsed = loader.parse_record_stream(io.BytesIO(record), known_format="warc")
            http = parsed.http_headers
            kind = (http.get_header("Content-Type", HTML[0]) if http else parsed.content_type) or ""
            encoding = ((http.get_header("Content-Encoding") if http else "") or "").strip().lower()
            if not kind.strip().lower().startswith((*HTML, "text/plain")) or encoding not in encodings:
                return None
            data = parsed.content_stream().read()
        except (ArchiveLoadFailed, BadHeader, EOFError, zlib.error) as error:
            raise ValueError(f"not a record that can be read ({' '.join(str(error).split())[:200]})") from None
        headers = parsed.rec_headers
        docno = (headers.get_header("WARC-TREC-ID") or headers.get_header("WARC-Record-ID") or "").strip().strip("<>")
        if not docno:
            raise ValueError("neither WARC-TREC-ID nor WARC-Record-ID")
        return _Payload(docno, headers.get_header("WARC-Target-URI") or "", kind, data)

    return payload


def _records(tape: _Tape, path: str, report: Report) -> Iterator[tuple[int, bytes, bytes]]:
    """Line, header and block of each record that may hold text."""
    lost, line = False, tape.line
    while first := tape.readline():
        if not _VERSION.fullmatch(first):
            if first.strip() and not lost:
                report.malformed(path, line, "not the beginning of a WARC record; reading goes on at the next one")
                lost = True
            line = tape.line
            continue
        lost = False
        header = _header(first, tape)
        length, kind = _LENGTH.search(header), _TYPE.search(header)
        if not length or not kind:
            report.malformed(path, line, "a WARC record without Content-Length or WARC-Type")
        elif kind[1].decode().lower() not in KINDS:
            missing = tape.skip(int(length[1]))
            if missing:
                report.malformed(path, line, f"the file ends {missing} bytes before this record does")
        elif int(length[1]) > LONGEST_BLOCK:
            report.malformed(path, line, f"a record of {int(length[1])} bytes, more than a page can have")
        else:
            block, whole = _block(tape, int(length[1]))
            if whole:
                yield line, header, block
            else:
                missing = int(length[1]) - len(block)
                report.malformed(path, line, f"the file ends {missing} bytes before this record does")
        line = tape.line


def _header(first: bytes, tape: _Tape) -> bytes:
    """The header lines; ClueWeb09 has blank lines among them, so only those after Content-Length end it."""
    lines, size, complete = [first], 0, False
    while size < LONGEST_HEADER and (line := tape.readline()):
        if _VERSION.fullmatch(line):
            tape.unread(line)
            break
        if line.strip():
            lines.append(line)
            size += len(line)
            complete = complete or _LENGTH.match(line) is not None
        elif complete:
            break
    return b"".join(lines) + b"\r\n"


def _block(tape: _Tape, length: int) -> tuple[bytes, bool]:
    """The record's block and whether all of it is there; a length that reaches into the next record is corrected."""
    block = tape.read(length)
    after = tape.readline()
    tape.unread(after)
    if len(block) == length and not after.strip():
        return block, True
    overrun = _NEXT.search(block)
    if overrun:
        tape.unread(block[overrun.start() + 1 :])
        return block[: overrun.start()], True
    return block, len(block) == length


class _Tape:
    """A stream that counts lines and takes back what was read too far."""

    def __init__(self, stream: BinaryIO):
        self._stream, self._back, self._at, self.line = stream, b"", 0, 1

    def readline(self) -> bytes:
        end = self._back.find(b"\n", self._at) + 1
        data = self._back[self._at : end or len(self._back)]
        self._at += len(data)
        if not end:
            data += self._stream.readline(LONGEST_LINE)
        self.line += data.endswith(b"\n")
        return data

    def read(self, length: int) -> bytes:
        data = self._back[self._at : self._at + length]
        self._at += len(data)
        data += self._stream.read(length - len(data))
        self.line += data.count(b"\n")
        return data

    def skip(self, length: int) -> int:
        """Pass over so many bytes; how many were missing."""
        while length and (data := self.read(min(length, LONGEST_LINE))):
            length -= len(data)
        return length

    def unread(self, data: bytes) -> None:
        self.line -= data.count(b"\n")
        if self._back.endswith(data, 0, self._at):
            self._at -= len(data)
        else:
            self._back, self._at = data + self._back[self._at :], 0
