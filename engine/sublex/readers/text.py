"""A folder of `.txt`, `.md` and `.html` files, or one such file: each file is a document.

The docno is the path below the folder. HTML has its title from `<title>`, Markdown from its first `# heading`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

from sublex.base import Document, Report, Source
from sublex.readers.beir import corpus
from sublex.readers.html import characters, declared_charset, page_text
from sublex.readers.signatures import signature
from sublex.readers.source import FileSource, files_below, without_compression

KINDS = {".txt": "text", ".md": "markdown", ".html": "html", ".htm": "html"}
LOOKED_AT = 1000

_HEADING = re.compile(r"^#[ \t]+(.*)$", re.MULTILINE)


class Text:
    """Reads text, Markdown and HTML files."""

    folders = True

    def detect(self, path: str, head: bytes) -> bool:
        """A text file by its name; a folder when at least half of its files are text."""
        if not os.path.isdir(path):
            return bool(_kind(path)) and not signature(head)
        if corpus(path):
            return False
        kinds = [_kind(file) for file in islice(files_below(path), LOOKED_AT)]
        return bool(kinds) and 2 * sum(map(bool, kinds)) >= len(kinds)

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        if not os.path.isdir(source.path):
            yield _document(source, os.path.basename(source.path), report)
            return
        paths = list(files_below(source.path, report))
        if others := [path for path in paths if not _kind(path)]:
            which = f"{others[0]} was" if len(others) == 1 else f"{others[0]} and {len(others) - 1:,} more were"
            report.note(f"{which} left out: not text, Markdown or HTML by name")
        for path in paths:
            if _kind(path):
                yield _document(FileSource(path), os.path.relpath(path, source.path), report)


def _kind(path: str) -> str:
    return KINDS.get(os.path.splitext(without_compression(path))[1].lower(), "")


def _document(source: Source, name: str, report: Report) -> Document:
    with source.open() as stream:
        data = stream.read()
    docno, kind = without_compression(name).replace(os.sep, "/"), _kind(name)
    if kind == "html":
        title, text = page_text(characters(data, declared_charset(data), source.path, report))
        return Document(docno, text, title)
    text = characters(data, None, source.path, report)
    heading = _HEADING.search(text) if kind == "markdown" else None
    if heading is None:
        return Document(docno, text)
    title = heading[1].strip().rstrip("#").strip()
    return Document(docno, text[: heading.start()] + text[heading.end() :].lstrip(), title)
