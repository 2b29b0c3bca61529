"""Get the title and the text of an HTML page, and decode the bytes of a page.

This module removes the tags and builds no tree. It takes linear time and raises no error for any page. Other parsers
are worse for some pages. The parser of the standard library takes quadratic time for unclosed tags and fails on `<![x`.
lexbor takes over ten seconds for 100,000 nested `<div>`, or for a tag with 50,000 attributes.
"""

from __future__ import annotations

import codecs
import re

from sublex.contracts.base import Report
from sublex.readers.entities import unescape
from sublex.readers.source import decode

# Elements inside a line of text. The tags of all other elements end a line.
# fmt: off
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
))
# fmt: on
# Elements whose text is not for readers, such as scripts.
HIDDEN = ("script", "style")

_TAG = re.compile(r"<(?:(!--)|[!?]|/?([A-Za-z][^\s/>]*))")
_TAG_END = re.compile(r"""[^>=]*+(?:=\s*+(?:"[^"]*+"|'[^']*+'|)[^>=]*+)*+>""")
_ELEMENT_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in (*HIDDEN, "title")}
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
# Prefixes of codecs that a page cannot declare. A page in UTF-16 or UTF-32 has no declaration that reads as ASCII. The
# other prefixes belong to Python's codecs for escapes; some of these are slow.
_NO_CHARSETS = ("utf-16", "utf-32", "utf-7", "idna", "punycode", "unicode", "raw", "undefined")
# Browsers read pages in these charsets as Windows-1252.
_ALIASES = {"iso8859-1": "cp1252", "ascii": "cp1252"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def page_text(page: str) -> tuple[str, str]:
    """Return the title of a page, and its text without the title.

    The text has a line for each block, and white space is collapsed.
    """
    title, parts = _title_and_parts(page)
    lines = (" ".join(line.split()) for line in unescape("".join(parts)).splitlines())
    return " ".join(unescape(title).split()), "\n".join(line for line in lines if line)


def _title_and_parts(page: str) -> tuple[str, list[str]]:
    """Return the first title and the text between tags, with a newline for each tag that is not inline."""
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
        # An unclosed quote would hide every later `>`. So after an unclosed quote, the first `>` ends the tag.
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


def decode_page(data: bytes, charset: str | None, path: str, report: Report) -> str:
    """Return the text of a page or of a text file.

    The encoding is the first that applies of these: the one of the byte order mark; UTF-8, if the bytes are valid
    UTF-8; `charset`; Latin-1.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data[len(bom) if name == "utf-8" else 0 :].decode(name, "replace")
    try:
        # If there is a byte of 128 or above, UTF-8 is tried first, even if the page declares another charset. If all
        # bytes are below 128, the declared charset is tried first: it may be a 7-bit charset, whose bytes are valid
        # UTF-8, too.
        return data.decode(_codec(charset) if data.isascii() else "utf-8")
    except (LookupError, ValueError):
        pass
    try:
        return data.decode(_codec(charset))
    except (LookupError, ValueError):
        return decode(data, path, report)


def _codec(charset: str | None) -> str:
    """Return Python's codec for the name of a charset in a page; UTF-8 for a charset that a page cannot declare."""
    name = codecs.lookup(charset).name if charset else "utf-8"
    return "utf-8" if name.startswith(_NO_CHARSETS) else _ALIASES.get(name, name)


def declared_charset(page: bytes) -> str | None:
    """Return the charset that a `<meta>` element at the beginning of the page declares, or None."""
    match = _CHARSET.search(page, 0, 4096)
    return match[1].decode("ascii", "replace") if match else None
