"""Read `.txt`, `.md` and `.html` files, one document per file: a single file, or all those in a folder.

The docno is the path below the folder. The title of an HTML file is its `<title>`; the title of a Markdown file is its
first `# heading`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

from sublex.contracts.base import Document, Report, Source
from sublex.readers import lines
from sublex.readers.beir import corpus_path
from sublex.readers.html import declared_charset, decode_page, page_text
from sublex.readers.signatures import signature
from sublex.readers.source import FileSource, files_below, without_compression

KINDS = {".txt": "text", ".md": "markdown", ".html": "html", ".htm": "html"}
# The format of a folder is detected from this number of its files.
SAMPLED_FILES = 1000

_HEADING = re.compile(r"^#[ \t]+(.*)$", re.MULTILINE)


class Text:
    """The reader `text`: text, Markdown and HTML files."""

    folders = True

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether a file is text by its name. For a folder, return whether at least half of its files are text."""
        if not os.path.isdir(path):
            return bool(_kind(path)) and not signature(head)
        if corpus_path(path):
            return False
        kinds = [_kind(file) for file in islice(files_below(path), SAMPLED_FILES)]
        return bool(kinds) and 2 * sum(map(bool, kinds)) >= len(kinds)

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield a document for the file, or for each file below the folder."""
        if not os.path.isdir(source.path):
            # A member of an archive has the attribute `name`, its path in the archive.
            yield from _document(source, getattr(source, "name", os.path.basename(source.path)), report)
            return
        paths = list(files_below(source.path, report))
        if others := [path for path in paths if not _kind(path)]:
            which = f"{others[0]} was" if len(others) == 1 else f"{others[0]} and {len(others) - 1:,} more were"
            report.note(f"{which} left out: not text, Markdown or HTML by name")
        for path in paths:
            if _kind(path):
                yield from _document(FileSource(path), os.path.relpath(path, source.path), report)


def _kind(path: str) -> str:
    """Return `text`, `markdown` or `html` by the file's name, or an empty string."""
    return KINDS.get(os.path.splitext(without_compression(path))[1].lower(), "")


def _document(source: Source, name: str, report: Report) -> Iterator[Document]:
    """Yield a file as a document. `name` is its path below the folder. A file that is too long is reported as malformed."""
    with source.open() as stream:
        data = lines.read_upto(stream, lines.LONGEST_RECORD + 1)
    if len(data) > lines.LONGEST_RECORD:
        report.malformed(source.path, 1, lines.too_long("the file"))
        return
    docno, kind = without_compression(name).replace(os.sep, "/"), _kind(name)
    if kind == "html":
        title, text = page_text(decode_page(data, declared_charset(data), source.path, report))
        yield Document(docno, text, title)
        return
    text = decode_page(data, None, source.path, report)
    heading = _HEADING.search(text) if kind == "markdown" else None
    if heading is None:
        yield Document(docno, text)
        return
    title = heading[1].strip().rstrip("#").strip()
    yield Document(docno, text[: heading.start()] + text[heading.end() :].lstrip(), title)
