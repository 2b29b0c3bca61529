"""Title and text of an HTML page, for every reader that meets one.

A page is text with tags to be taken out, not a tree to be built. The standard library's parser takes time quadratic
in a page of unclosed tags and fails on `<![x`; this one takes linear time and fails on nothing. It runs no scripts.
"""

from __future__ import annotations

import codecs
import re

from sublex.base import Report
from sublex.readers.entities import unescape
from sublex.readers.source import decode

# fmt: off
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
))
# fmt: on
HIDDEN = ("script", "style")

_TAG = re.compile(r"<(?:(!--)|[!?]|/?([A-Za-z][^\s/>]*))")
_TAG_END = re.compile(r"""[^>=]*+(?:=\s*+(?:"[^"]*+"|'[^']*+'|)[^>=]*+)*+>""")
_ELEMENT_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in (*HIDDEN, "title")}
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
# A page that can be asked for its charset is not in UTF-16, and the rest are escapes, some of them slow to undo.
_NO_CHARSETS = ("utf-16", "utf-32", "utf-7", "idna", "punycode", "unicode", "raw", "undefined")
_ALIASES = {"iso8859-1": "cp1252", "ascii": "cp1252"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def page_text(page: str) -> tuple[str, str]:
    """The page's title, and its text without it."""
    title, parts = _pieces(page)
    lines = (" ".join(line.split()) for line in unescape("".join(parts)).splitlines())
    return " ".join(unescape(title).split()), "\n".join(line for line in lines if line)


def _pieces(page: str) -> tuple[str, list[str]]:
    title, parts = None, []
    at, last, quotes, comments = 0, page.rfind(">"), True, True
    while (tag := _TAG.search(page, at)) and tag.start() < last:
        start, name = tag.start(), (tag[2] or "").lower()
        parts.append(page[at:start])
        if tag[1] and comments:
            at = page.find("-->", start + 2) + 3
            comments = at >= 3
            if comments:
                continue
        # A quote that is never closed hides every later `>`: from there on the first `>` ends a tag.
        end = _TAG_END.match(page, tag.end()) if quotes and name else None
        quotes = quotes and (end is not None or not name)
        at = end.end() if end else page.find(">", start) + 1
        if name not in INLINE:
            parts.append("\n")
        if page[start + 1] == "/" or name not in _ELEMENT_END:
            continue
        if name in HIDDEN:
            close = _ELEMENT_END[name].search(page, at)
            at = close.start() if close else len(page)
        elif title is None:
            close = _ELEMENT_END[name].search(page, at)
            title = page[at : close.start()] if close else ""
            at = close.start() if close else at
    parts.append(page[at:])
    return title or "", parts


def characters(data: bytes, charset: str | None, path: str, report: Report) -> str:
    """The characters of a page or text file: by its byte order mark, else UTF-8, the given charset, Latin-1."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data[len(bom) if name == "utf-8" else 0 :].decode(name, "replace")
    try:
        # Bytes that are UTF-8 are UTF-8, whatever a page says of itself; ASCII may also be one of the 7-bit charsets.
        return data.decode(_codec(charset) if data.isascii() else "utf-8")
    except (LookupError, ValueError):
        pass
    try:
        return data.decode(_codec(charset))
    except (LookupError, ValueError):
        return decode(data, path, report)


def _codec(charset: str | None) -> str:
    """The codec for a charset as pages name it; UTF-8 for those that a page cannot be in."""
    name = codecs.lookup(charset).name if charset else "utf-8"
    return "utf-8" if name.startswith(_NO_CHARSETS) else _ALIASES.get(name, name)


def declared_charset(page: bytes) -> str | None:
    """The charset that the page's own head declares."""
    found = _CHARSET.search(page, 0, 4096)
    return found[1].decode("ascii", "replace") if found else None
