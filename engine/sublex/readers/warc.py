"""Read web archives, WARC 0.18 to 1.1, such as ClueWeb and Common Crawl.

This module cuts the archive into records itself, because real archives have wrong lengths and extra lines, and a strict
parser stops there. The package warcio reads the content of a record: HTTP, chunks and content encoding. Records without
text are skipped.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from sublex.contracts.base import Document, Report, Source
from sublex.errors import MissingExtra
from sublex.readers import lines
from sublex.readers.html import declared_charset, decode_page, page_text
from sublex.readers.signatures import signature
from sublex.readers.source import PACKED

# The types of records that may contain a page.
KINDS = ("response", "conversion", "resource")
# The content types of pages.
HTML = ("text/html", "application/xhtml+xml")
# The longest line and the longest header, in bytes.
LONGEST_LINE = LONGEST_HEADER = 1 << 20

_VERSION = re.compile(rb"WARC/[01]\.\d+[ \t]*\r?\n")
_TYPE = re.compile(rb"^WARC-Type:[ \t]*([\w-]+)", re.IGNORECASE | re.MULTILINE)
_LENGTH = re.compile(rb"^Content-Length:[ \t]*(\d{1,15})[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_NEXT = re.compile(rb"\nWARC/[01]\.\d+[ \t]*\r?\nWARC-")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


class Warc:
    """The reader `warc`: web archives."""

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file begins with a WARC version line."""
        return signature(head) == "warc"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield a document for each record that holds a page or plain text."""
        read_payload = _payload_reader()
        with source.open() as stream:
            for line, header, block in _records(_LineStream(stream), source.path, report):
                try:
                    payload = read_payload(header + block)
                except ValueError as error:
                    report.malformed(source.path, line, str(error))
                    continue
                if payload is None:
                    report.note(f"{source.path}: records without text were skipped")
                else:
                    yield _document(payload, source.path, report)


class _Payload(NamedTuple):
    """The content of a record: its id, address, content type and decoded bytes."""

    docno: str
    url: str
    kind: str
    data: bytes


def _document(payload: _Payload, path: str, report: Report) -> Document:
    """Return a record's content as a document."""
    docno, url, kind, data = payload
    charset = _CHARSET.search(kind)
    is_page = not kind.strip().lower().startswith("text/plain")
    text = decode_page(data, charset[1] if charset else declared_charset(data) if is_page else None, path, report)
    title, text = page_text(text) if is_page else ("", text)
    return Document(docno, text, title, {"url": url})


def _payload_reader() -> Callable[[bytes], _Payload | None]:
    """Return a function that takes the bytes of a record and returns its content, or None if the content is not text.

    The function raises ValueError, with the reason, for a record that cannot be read.
    """
    try:
        from warcio.bufferedreaders import BufferedReader, ChunkedDataReader
        from warcio.exceptions import ArchiveLoadFailed
        from warcio.recordloader import ArcWarcRecordLoader
        from warcio.statusandheaders import StatusAndHeadersParserException as BadHeader
    except ImportError:
        raise MissingExtra("The reader warc", "warc") from None

    class Loader(ArcWarcRecordLoader):
        """A loader that also reads the HTTP headers of responses that have no address."""

        def load_http_headers(self, rec_type, uri, stream, length):
            return super().load_http_headers(rec_type, uri or "http:", stream, length)

    loader = Loader(verify_http=False)
    encodings = ("", "identity", *BufferedReader.get_supported_decompressors())

    def content(parsed: Any, encoding: str) -> Any:
        """Return a stream of a record's content. Chunks are joined first and then unpacked piece by piece."""
        http, stream = parsed.http_headers, parsed.raw_stream
        if http and http.get_header("Transfer-Encoding") == "chunked":
            stream = ChunkedDataReader(stream)
        return BufferedReader(stream, block_size=PACKED, decomp_type=encoding) if encoding in encodings[2:] else stream

    def read_payload(record: bytes) -> _Payload | None:
        try:
            parsed = loader.parse_record_stream(io.BytesIO(record), known_format="warc")
            http = parsed.http_headers
            kind = (http.get_header("Content-Type", HTML[0]) if http else parsed.content_type) or ""
            encoding = ((http.get_header("Content-Encoding") if http else "") or "").strip().lower()
            if not kind.strip().lower().startswith((*HTML, "text/plain")) or encoding not in encodings:
                return None
            data = content(parsed, encoding).read(lines.LONGEST_RECORD + 1)
        except (ArchiveLoadFailed, BadHeader, EOFError, zlib.error) as error:
            raise ValueError(f"not a record that can be read ({' '.join(str(error).split())[:200]})") from None
        if len(data) > lines.LONGEST_RECORD:
            raise ValueError(lines.too_long("the unpacked content of the record"))
        headers = parsed.rec_headers
        docno = (headers.get_header("WARC-TREC-ID") or headers.get_header("WARC-Record-ID") or "").strip().strip("<>")
        if not docno:
            raise ValueError("the record has neither WARC-TREC-ID nor WARC-Record-ID")
        return _Payload(docno, headers.get_header("WARC-Target-URI") or "", kind, data)

    return read_payload


def _records(stream: _LineStream, path: str, report: Report) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield line number, header and block of each record that may contain text.

    The block is the part after the header.

    Damaged records are reported.
    """
    lost, line = False, stream.line
    while first := stream.readline():
        if not _VERSION.fullmatch(first):
            if first.strip() and not lost:
                report.malformed(
                    path, line, "this is not the beginning of a WARC record; reading goes on at the next record"
                )
                lost = True
            line = stream.line
            continue
        lost = False
        header = _header(first, stream)
        length, kind = _LENGTH.search(header), _TYPE.search(header)
        if not length or not kind:
            report.malformed(path, line, "a WARC record without Content-Length or WARC-Type")
        elif kind[1].decode().lower() not in KINDS:
            missing = stream.skip(int(length[1]))
            if missing:
                report.malformed(path, line, f"the file ends {missing} bytes before this record does")
        elif int(length[1]) > lines.LONGEST_RECORD:
            report.malformed(path, line, lines.too_long("a record"))
        else:
            block, whole = _block(stream, int(length[1]))
            if whole:
                yield line, header, block
            else:
                missing = int(length[1]) - len(block)
                report.malformed(path, line, f"the file ends {missing} bytes before this record does")
        line = stream.line


def _header(first: bytes, stream: _LineStream) -> bytes:
    """Return the header of a record.

    ClueWeb09 has blank lines in headers, so only a blank line after Content-Length ends the header.
    """
    lines, size, complete = [first], 0, False
    while size < LONGEST_HEADER and (line := stream.readline()):
        if _VERSION.fullmatch(line):
            stream.unread(line)
            break
        if line.strip():
            lines.append(line)
            size += len(line)
            complete = complete or _LENGTH.match(line) is not None
        elif complete:
            break
    return b"".join(lines) + b"\r\n"


def _block(stream: _LineStream, length: int) -> tuple[bytes, bool]:
    """Return the block of a record, and whether it is complete. A block that would reach into the next record is cut."""
    block = stream.read(length)
    after = stream.readline()
    stream.unread(after)
    if len(block) == length and not after.strip():
        return block, True
    overrun = _NEXT.search(block)
    if overrun:
        stream.unread(block[overrun.start() + 1 :])
        return block[: overrun.start()], True
    return block, len(block) == length


class _LineStream:
    """A stream that counts lines. Bytes that were read too early can be put back with `unread`."""

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
        data += lines.read_upto(self._stream, length - len(data))
        self.line += data.count(b"\n")
        return data

    def skip(self, length: int) -> int:
        """Skip `length` bytes, and return how many of them were missing."""
        while length and (data := self.read(min(length, LONGEST_LINE))):
            length -= len(data)
        return length

    def unread(self, data: bytes) -> None:
        self.line -= data.count(b"\n")
        if self._back.endswith(data, 0, self._at):
            self._at -= len(data)
        else:
            self._back, self._at = data + self._back[self._at :], 0
