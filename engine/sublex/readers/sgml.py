"""Cut a stream into records between `<NAME …>` and `</NAME>`, and remove markup from their text.

This is for the SGML of TREC and Reuters, which has no DTD: tags may be in any case, unclosed or unknown. Each function
takes time linear in its input, also for hostile input.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import BinaryIO

from sublex.readers import lines
from sublex.readers.entities import unescape
from sublex.readers.source import CHUNK

# Bytes of the longest opening tag that is recognised when it begins in one chunk and ends in the next.
LONGEST_TAG = 4096

_TAG = r"<[/!?]?[A-Za-z][^<>]*>\s*"
_TAGS = re.compile(rf"{_TAG}(?:{_TAG})*")
_DOCNO = re.compile(r"<DOCNO(?:\s[^<>]*)?>([^<]*)(</DOCNO\s*>)?", re.IGNORECASE)
_DOCHDR = re.compile(r"<DOCHDR(?:\s[^<>]*)?>", re.IGNORECASE)
_DOCHDR_END = re.compile(r"</DOCHDR\s*>", re.IGNORECASE)


class Records:
    """An iterator over the records of a stream.

    A record is a tuple: attributes of the opening tag, body, whether it was closed.

    A record that is not closed ends at the next opening tag or at the end. Only the current record is in memory. A
    record above the limit is reported to `report_long` and left out.
    """

    def __init__(self, stream: BinaryIO, name: str, report_long: lines.TooLong):
        self._stream, self._name, self._report_long = stream, name, report_long
        self._tag = re.compile(rb"<(/?)" + name.encode() + rb"(\s[^<>]*)?>", re.IGNORECASE)
        self._buffer = bytearray()
        self._opened = self._counted = 0
        self._lines = 1

    @property
    def line(self) -> int:
        """Return the number of the line on which the current record begins."""
        self._count(self._opened)
        return self._lines

    def __iter__(self) -> Iterator[tuple[bytes, bytes, bool]]:
        buffer, search, scan = self._buffer, self._tag.search, 0
        body, attributes = -1, b""
        while chunk := self._stream.read(CHUNK):
            buffer += chunk
            while tag := search(buffer, scan):
                scan = tag.end()
                if body >= 0 and not self._is_long(body, tag.start()):
                    yield attributes, self._cut(body, tag.start()), bool(tag[1])
                if tag[1]:
                    body = -1
                else:
                    body, attributes, self._opened = scan, tag[2] or b"", tag.start()
            scan = self._resume(scan)
            if body >= 0 and self._is_long(body, len(buffer)):
                body = -1
            gone = self._opened if body >= 0 else scan
            self._forget(gone)
            scan, body = scan - gone, body - gone if body >= 0 else -1
        if body >= 0 and not self._is_long(body, len(buffer)):
            yield attributes, self._cut(body, len(buffer)), False

    def _is_long(self, start: int, end: int) -> bool:
        """Return whether buffer[start:end] is above the limit of a record, and report it if it is."""
        if end - start <= lines.LONGEST_RECORD:
            return False
        self._report_long(self.line, lines.too_long(f"<{self._name}>"))
        return True

    def _cut(self, start: int, end: int) -> bytes:
        """Return a copy of buffer[start:end]."""
        with memoryview(self._buffer) as view:
            return bytes(view[start:end])

    def _resume(self, scan: int) -> int:
        """Return the place where the next search begins: a tag that may be incomplete in the buffer, or else the end."""
        cut = self._buffer.rfind(b"<", max(scan, len(self._buffer) - LONGEST_TAG))
        return cut if cut >= 0 else len(self._buffer)

    def _forget(self, length: int) -> None:
        """Drop the first `length` bytes of the buffer."""
        self._count(length)
        del self._buffer[:length]
        self._counted -= length
        self._opened -= length

    def _count(self, upto: int) -> None:
        """Count the lines up to the place `upto` of the buffer."""
        if upto > self._counted:
            self._lines += self._buffer.count(b"\n", self._counted, upto)
            self._counted = upto


def take_docno(text: str) -> tuple[str, str]:
    """Return the content of the first DOCNO element, and the text without DOCNO elements.

    An element that is not closed ends with its line.
    """
    match = _DOCNO.search(text)
    if not match:
        return "", text
    docno, rest = match[1].strip(), "\n"
    if not match[2]:
        docno, _, rest = docno.partition("\n")
    after = _DOCNO.sub("\n", text[match.end() :])
    return docno.strip(), f"{text[: match.start()]}{rest}{after}"


def take_header(text: str) -> tuple[str, str]:
    """Return the content of the first DOCHDR element, and the text without DOCHDR elements.

    An element that is not closed ends at the next tag.
    """
    match = _DOCHDR.search(text)
    if not match:
        return "", text
    parts, headers, at, closed = [], [], 0, True
    while match:
        parts.append(text[at : match.start()])
        end = _DOCHDR_END.search(text, match.end()) if closed else None
        closed = end is not None
        stop = end.start() if end else text.find("<", match.end())
        stop = stop if stop >= 0 else len(text)
        headers.append(text[match.end() : stop])
        at = end.end() if end else stop
        match = _DOCHDR.search(text, at)
    parts.append(text[at:])
    return headers[0].strip(), "\n".join(parts)


def take_elements(text: str, names: Collection[str]) -> tuple[dict[str, list[str]], str]:
    """Return the texts of the elements with these names, and the remaining text without comments.

    Case does not matter.

    The texts have no markup. The dictionary has them by the given names. An element that is not closed ends at the next
    tag. Empty elements are left out.
    """
    text = _without_comments(text) if "<!--" in text else text
    by_name = {name.lower(): name for name in names}
    tag = re.compile(rf"<(/?)({'|'.join(map(re.escape, by_name))})(?:\s[^<>]*)?>", re.IGNORECASE)
    tags = list(tag.finditer(text))
    # For each tag, the place of the next tag that closes the same element.
    closing, ends = dict.fromkeys(by_name, -1), [-1] * len(tags)
    for place in reversed(range(len(tags))):
        name = tags[place][2].lower()
        ends[place] = closing[name]
        if tags[place][1]:
            closing[name] = place
    taken: dict[str, list[str]] = {}
    parts, at = [], 0
    for opening, end in zip(tags, ends, strict=True):
        if opening[1] or opening.start() < at:
            continue
        begin, name = opening.end(), by_name[opening[2].lower()]
        after = tags[end].end() if end >= 0 else text.find("<", begin)
        after = after if after >= 0 else len(text)
        if value := without_markup(text[begin : tags[end].start() if end >= 0 else after]):
            taken.setdefault(name, []).append(value)
        parts.append(text[at : opening.start()])
        at = after
    return taken, "\n".join([*parts, text[at:]])


def without_markup(text: str) -> str:
    """Return the text without comments and tags, with a newline for each run of tags, and entities decoded."""
    if "<!--" in text:
        text = _without_comments(text)
    if "<![CDATA[" in text:
        text = text.replace("<![CDATA[", " ").replace("]]>", " ")
    return unescape(_TAGS.sub("\n", text)).strip()


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 2)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    parts.append(text[at:])
    return " ".join(parts)
