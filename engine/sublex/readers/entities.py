"""Decode character entities: the entities of HTML, and two entities of the old TREC disks.

An unknown entity becomes a space. Names of one letter stay as they are, because they come from texts such as `AT&T;`
and `R&D;`.
"""

from __future__ import annotations

import html
import re
from html.entities import html5

# The entities of the TREC disks that HTML does not have.
TREC = {"hyph": "-", "blank": " "}

_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]+);")
_ENDLESS = re.compile(r"&#[0-9]{20,};?")


def unescape(text: str) -> str:
    """Return the text with each entity replaced by the character it stands for."""
    if "&" not in text:
        return text
    text = _NAMED.sub(_decoded, text)
    if "&#" in text:
        # html.unescape raises ValueError for a number with thousands of digits, which a hostile page may contain.
        text = _ENDLESS.sub("\ufffd", text)
    return html.unescape(text)


def _decoded(entity: re.Match[str]) -> str:
    name = entity[1]
    if name.lower() in TREC:
        return TREC[name.lower()]
    return entity[0] if f"{name};" in html5 else " "
