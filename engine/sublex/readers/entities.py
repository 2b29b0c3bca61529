"""Character entities, as HTML has them and as the old TREC disks do.

A name that nobody knows becomes a space. Names of one letter are left alone: they are `AT&T;` and `R&D;`.
"""

from __future__ import annotations

import html
import re
from html.entities import html5

TREC = {"hyph": "-", "blank": " "}

_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]+);")
_ENDLESS = re.compile(r"&#[0-9]{20,};?")


def unescape(text: str) -> str:
    """The text with its entities replaced by what they stand for."""
    if "&" not in text:
        return text
    text = _NAMED.sub(_own, text)
    if "&#" in text:
        # Python refuses to read a number of thousands of digits, and would fail on a hostile page.
        text = _ENDLESS.sub("\ufffd", text)
    return html.unescape(text)


def _own(entity: re.Match[str]) -> str:
    name = entity[1]
    if name.lower() in TREC:
        return TREC[name.lower()]
    return entity[0] if f"{name};" in html5 else " "
