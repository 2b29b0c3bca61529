"""Read Reuters-21578: SGML in Latin-1, one thousand stories per file.

The docno is NEWID, and the title is TITLE. The text is everything else in TEXT: author, dateline and body. Categories,
splits and dates are stored; the wire codes in UNKNOWN are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from sublex.contracts.base import Document, Report, Source
from sublex.readers.sgml import Records, without_markup
from sublex.readers.signatures import signature

# Elements that hold a list of labels.
LISTS = ("TOPICS", "PLACES", "PEOPLE", "ORGS", "EXCHANGES", "COMPANIES")
UNCLOSED = "<REUTERS> was never closed and was read up to the next one or the end"
# A story of the type BRIEF has no body, but this sentence in its place.
FILLER = "Blah blah blah."

_ATTRIBUTE = re.compile(r'\b([A-Z]+)\s*=\s*"([^"]*)"', re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Reuters:
    """The reader `reuters`: files of Reuters-21578."""

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file begins with a REUTERS element that has a NEWID."""
        return signature(head) == "reuters"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the stories of one file."""
        with source.open() as stream:
            records = Records(stream, "REUTERS", partial(report.malformed, source.path))
            for tag, body, closed in records:
                if not closed:
                    report.note(f"{source.path}: {UNCLOSED}")
                attributes = {name.upper(): value for name, value in _ATTRIBUTE.findall(tag.decode("latin-1"))}
                docno = attributes.pop("NEWID", "").strip()
                report.line = records.line
                if docno:
                    yield _story(docno, attributes, body.decode("latin-1"))
                else:
                    report.malformed(source.path, report.line, "<REUTERS> without a NEWID")


def _story(docno: str, attributes: dict[str, str], body: str) -> Document:
    """Return a story as a document, from the attributes and the content of its REUTERS element."""
    before, kind, text, _ = _element(body, "TEXT")
    start, _, title, end = _element(text, "TITLE")
    kind = next((value for name, value in _ATTRIBUTE.findall(kind) if name.upper() == "TYPE"), "NORM")
    text = _clean(f"{start}\n{end}")
    if kind == "BRIEF":
        text = text.replace(FILLER, "").strip("* \n")
    fields: dict[str, Any] = {"type": kind, "date": _clean(_element(before, "DATE")[2])}
    for name in LISTS:
        labels = _element(before, name)[2].replace("</D>", "").split("<D>")[1:]
        fields[name.lower()] = [_clean(label) for label in labels]
    # The attribute TOPICS says whether topics were assigned; it is not the list in the element TOPICS.
    fields |= {"topics_attribute" if name == "TOPICS" else name.lower(): value for name, value in attributes.items()}
    return Document(docno, text, " ".join(_clean(title).split()), fields)


def _element(text: str, name: str) -> tuple[str, str, str, str]:
    """Find the first element of this name.

    Return the text before it, its opening tag, its content, and the text after it.

    The content of an unclosed element is all the rest. If there is no such element, the first text is all of `text`,
    and the others are empty.
    """
    start = text.find(f"<{name}")
    tag_end = text.find(">", start)
    if start < 0 or tag_end < 0:
        return text, "", "", ""
    end = text.find(f"</{name}>", tag_end)
    end = end if end >= 0 else len(text)
    return text[:start], text[start:tag_end], text[tag_end + 1 : end], text[end + len(name) + 3 :]


def _clean(text: str) -> str:
    """Return the text without markup and control characters."""
    return _CONTROL.sub("", without_markup(text)).strip()
