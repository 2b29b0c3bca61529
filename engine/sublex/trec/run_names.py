"""From a ranker's printed form to the tag of its run and the name of its file."""

from __future__ import annotations

import re

import xxhash

LONGEST_TAG = 64

# White space outside of quoted strings, which may be left out without changing the meaning.
_BETWEEN = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')
_UNSAFE = re.compile(r"[^A-Za-z0-9.,=()+-]+")


def tag_of(printed: str) -> str:
    """The print without spaces; when that is too long or leaves white space in a quoted string, its first name and a hash."""
    tag = _BETWEEN.sub(lambda found: found[1] or "", printed)
    if tag and len(tag) <= LONGEST_TAG and not re.search(r"\s", tag) and not tag.startswith("#"):
        return tag
    name = re.match(r"[A-Za-z][A-Za-z0-9_]*", tag)
    return f"{name[0][:40] if name else 'run'}-{xxhash.xxh3_64_hexdigest(printed.encode(errors='surrogatepass'))}"


def file_name_of(tag: str) -> str:
    """A name for the run's file that every file system takes; a tag with other characters in it ends in its hash."""
    safe = _UNSAFE.sub("_", tag).strip("._-")
    if safe != tag or len(tag) > LONGEST_TAG:
        safe = f"{safe[:LONGEST_TAG]}-{xxhash.xxh3_64_hexdigest(tag.encode(errors='surrogatepass'))}"
    return f"{safe.lstrip('-')}.run"
