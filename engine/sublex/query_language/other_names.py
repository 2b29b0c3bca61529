"""Usual names of fields, and operators of Indri, Galago and Terrier with the words to write in their place."""

from __future__ import annotations

import re

# The usual names of fields. Other words before a colon belong to ratios (male:female), ports or web addresses.
USUAL_FIELDS = frozenset(
    "abstract author authors body category content contents date desc description docid docno filetype "
    "headline intext intitle inurl journal keyword keywords lang language name narr publisher site source "
    "subject summary tag tags text title type url venue year".split()
)
# What to write in place of an operator of another engine, by the operator's name without numbers and colons.
_INSTEAD = {
    **dict.fromkeys(("combine", "sum"), "words side by side add up their scores; write (stem cell)"),
    **dict.fromkeys(("weight", "wsum", "wand"), "a weight follows its word; write (stem^2 cell)"),
    "wsyn": "synonyms have no weights of their own; write #syn(car automobile)",
    "and": "write (stem cell), or stem AND cell to require both",
    **dict.fromkeys(("band", "all"), "write (stem AND cell)"),
    **dict.fromkeys(("or", "any"), "write (stem OR cell)"),
    "not": "write NOT cell, or -cell",
    **dict.fromkeys(("filreq", "require"), "+ requires; write +stem cell"),
    **dict.fromkeys(("filrej", "reject"), "- excludes; write cell -stem"),
    "prefix": "write stem*",
    "fuzzy": "write stem~1",
    **dict.fromkeys(("sdm", "seqdep"), "it is an expander here; rank with SDM >> BM25"),
    **dict.fromkeys(("fdm", "fulldep"), "it is an expander here; rank with FDM >> BM25"),
    "synonym": "write #syn(car automobile)",
}
_ORDERED = re.compile(r"(?:(?:od|ow|ordered):?|:)(\d{0,7})")
_WINDOW = re.compile(r"(?:uw|unordered):?(\d{0,7})")


def instead_of(name: str) -> str | None:
    """Return what to write instead of an operator such as `od1`, whose name begins after the #; None for an unknown name.

    >>> instead_of("od1")
    'it names no operator here; write #1(stem cell)'
    """
    lower = name.lower()
    if found := _ORDERED.fullmatch(lower):
        return f"it names no operator here; write #{found[1] or 1}(stem cell)"
    if found := _WINDOW.fullmatch(lower):
        return f"it names no operator here; write #uw{found[1] or 8}(stem cell)"
    return _INSTEAD.get(lower)
