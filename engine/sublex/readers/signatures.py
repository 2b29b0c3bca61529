"""Detect a file's format from its first bytes.

A file has at most one signature, so no two readers claim the same file. Readers that detect files by name (`.tsv`,
`.txt`) call this module too, and accept only files without a signature.
"""

from __future__ import annotations

import re

BOM = b"\xef\xbb\xbf"
# A run or judgements are recognised from this number of first lines.
LINES = 200

_WARC = re.compile(rb"WARC/[01]\.\d+[ \t]*\r?\n")
_SMART = re.compile(rb"\.I[ \t]+\S[^\r\n]*\r?\n\s*\.[A-Z][ \t]*\r?(\n|$)")
_RECORD = re.compile(rb"<(REUTERS|DOC)(?:\s[^<>]*)?>", re.IGNORECASE)
_DOC_END = re.compile(rb"</?DOC\s*>", re.IGNORECASE)
_DOCNO = re.compile(rb"<DOCNO[\s>]", re.IGNORECASE)
_ARRAY = re.compile(rb"\[\s*[{\]]")
_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_RUN = re.compile(rb"\S+\s+(?:Q0|q0|0)\s+\S+\s+[0-9]+\s+" + _NUMBER + rb"\s+\S+")
_QRELS = re.compile(rb"\S+\s+(?:Q0|q0|[0-9]+)\s+\S+\s+[+-]?[0-9]+")
_DOCHDR = re.compile(rb"<DOCHDR[\s>]", re.IGNORECASE)


def signature(head: bytes) -> str:
    """Return the format that the bytes show, or an empty string if they show none.

    The formats of collections are `json`, `jsonl`, `warc`, `smart`, `reuters`, `trec` and `trecweb`. The formats `run`
    and `qrels` are not those of collections.
    """
    head = head.removeprefix(BOM).lstrip()
    if head.startswith(b"{"):
        return "jsonl"
    if _ARRAY.match(head):
        return "json"
    if _WARC.match(head):
        return "warc"
    if _SMART.match(head):
        return "smart"
    return _markup(head) if head.startswith(b"<") else _columns(head)


def _columns(head: bytes) -> str:
    """Return `run` or `qrels` if every line has the columns of a run or of judgements, else an empty string."""
    lines = head.split(b"\n")
    # The last line of the head may be cut, so it is left out if there are others.
    lines = [line.rstrip() for line in (lines[:-1] or lines)[:LINES] if line.strip() and not line.startswith(b"#")]
    if lines and lines[0].lower().split() == [b"query-id", b"corpus-id", b"score"]:
        return "qrels"
    for name, pattern in (("run", _RUN), ("qrels", _QRELS)):
        if lines and all(map(pattern.fullmatch, lines)):
            return name
    return ""


def _markup(head: bytes) -> str:
    """Return `trec`, `trecweb` or `reuters` for bytes with a `<DOC>` or `<REUTERS>` element, or an empty string."""
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


def archive_format(path: str, head: bytes) -> str:
    """Return `tar` or `zip`, or an empty string for any other file.

    `head` has the first bytes of the file, decompressed.
    """
    if head[257:262] == b"ustar":
        return "tar"
    return "zip" if head.startswith(b"PK\x03\x04") and path.lower().endswith(".zip") else ""
