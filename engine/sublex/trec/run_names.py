"""Make the tag of a run from a ranker's printed form, and the name of the run's file from the tag."""

from __future__ import annotations

import re

import xxhash

# Characters of the longest tag that is not replaced by a name and a hash.
LONGEST_TAG = 64

# White space outside quoted strings; it can be removed without changing the meaning.
_BETWEEN = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')
_UNSAFE = re.compile(r"[^A-Za-z0-9.,=()+-]+")


def tag_of(printed: str) -> str:
    """Return a ranker's printed form without spaces.

    If that is too long or has white space in a quoted string, return its first name and a hash of the printed form.
    """
    tag = _BETWEEN.sub(lambda match: match[1] or "", printed)
    if tag and len(tag) <= LONGEST_TAG and not re.search(r"\s", tag) and not tag.startswith("#"):
        return tag
    name = re.match(r"[A-Za-z][A-Za-z0-9_]*", tag)
    return f"{name[0][:40] if name else 'run'}-{xxhash.xxh3_64_hexdigest(printed.encode(errors='surrogatepass'))}"


def file_name_of(tag: str) -> str:
    """Return a file name that every file system takes; it ends in a hash if the tag has other characters or is too long."""
    safe = _UNSAFE.sub("_", tag).strip("._-")
    if safe != tag or len(tag) > LONGEST_TAG:
        safe = f"{safe[:LONGEST_TAG]}-{xxhash.xxh3_64_hexdigest(tag.encode(errors='surrogatepass'))}"
    return f"{safe.lstrip('-')}.run"
