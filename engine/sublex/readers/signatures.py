"""Detect a file's format from its first bytes.

A file has at most one signature, so no two readers claim the same file. Readers that go by a file's name (`.tsv`, `.txt`)
call this module too, and take only files without a signature.
"""

from __future__ import annotations

import re

BOM = b"\xef\xbb\xbf"

_WARC = re.compile(rb"WARC/[01]\.\d+[ \t]*\r?\n")
_SMART = re.compile(rb"\.I[ \t]+\S[^\r\n]*\r?\n\s*\.[A-Z][ \t]*\r?(\n|$)")
_RECORD = re.compile(rb"<(REUTERS|DOC)(?:\s[^<>]*)?>", re.IGNORECASE)
_DOC_END = re.compile(rb"</?DOC\s*>", re.IGNORECASE)
_DOCNO = re.compile(rb"<DOCNO[\s>]", re.IGNORECASE)
_DOCHDR = re.compile(rb"<DOCHDR[\s>]", re.IGNORECASE)


def signature(head: bytes) -> str:
    """Return `jsonl`, `warc`, `smart`, `reuters`, `trec` or `trecweb`, or an empty string if the bytes show none of these."""
    head = head.removeprefix(BOM).lstrip()
    if head.startswith(b"{"):
        return "jsonl"
    if _WARC.match(head):
        return "warc"
    if _SMART.match(head):
        return "smart"
    return _markup(head) if head.startswith(b"<") else ""


def _markup(head: bytes) -> str:
    """Return which of the formats with `<DOC>` or `<REUTERS>` elements the bytes are in, or an empty string."""
    first = _RECORD.search(head)
    if not first:
        return ""
    if first[1].upper() == b"REUTERS":
        return "reuters" if b"NEWID" in first[0].upper() else ""
    end = _DOC_END.search(head, first.end())
    record = head[first.end() : end.start() if end else len(head)]
    if not _DOCNO.search(record):
        return ""
    return "trecweb" if _DOCHDR.search(record) else "trec"
