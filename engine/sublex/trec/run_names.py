"""Make the tag of a run from a ranker's printed form, and the path of the run's file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import xxhash

# The longest tag, in characters. Longer expressions are cut and get a hash.
LONGEST_TAG = 1000
# The longest file name before `.run`, in characters. File systems allow 255 bytes, and `.run.yaml` or a hash may
# follow.
LONGEST_NAME = 200
# Endings of files that hold a run, before an ending such as `.gz`.
SUFFIXES = (".run", ".res", ".trec", ".txt")

# White space outside quoted strings; it can be removed without changing the meaning.
_BETWEEN = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')
_UNSAFE = re.compile(r"[^A-Za-z0-9.,=()+-]+")


def tag_of(printed: str) -> str:
    """Return a ranker's printed form without spaces.

    White space in a quoted string becomes `_`. A hash follows if this happens, or if the form was cut because it is too
    long.
    """
    tag = _BETWEEN.sub(lambda match: match[1] or "", printed)
    readable = re.sub(r"\s", "_", tag).lstrip("#")[:LONGEST_TAG] or "run"
    return tag if readable == tag else f"{readable}-{_hash(printed)}"


def file_name_of(tag: str) -> str:
    """Return a file name that every file system allows. `_` replaces other characters, so two tags may get the same name."""
    return f"{_safe(tag)}.run"


def is_run_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path names a file for a run, such as `bm25.run` or `bm25.run.gz`, and not a folder.

    The file need not exist. A device counts as a file.
    """
    stem, suffix = os.path.splitext(os.fspath(path))
    suffix = os.path.splitext(stem)[1] if suffix.lower() == ".gz" else suffix
    is_device = os.path.exists(path) and not os.path.isdir(path) and not os.path.isfile(path)
    return is_device or (suffix.lower() in SUFFIXES and not os.path.isdir(path))


def path_in(folder: Path, printed: str, is_other: Callable[[Path], bool] = lambda path: False) -> Path:
    """Return the path in `folder` for the run of an expression.

    The file is named after the expression. `is_other` tells whether an existing file holds the run of another
    expression; then a hash of the expression follows the name.
    """
    path = folder / file_name_of(tag_of(printed))
    if os.path.isfile(path) and is_other(path):
        path = folder / f"{_safe(tag_of(printed))}-{_hash(printed)}.run"
    return path


def _safe(tag: str) -> str:
    return _UNSAFE.sub("_", tag).strip("._-")[:LONGEST_NAME].rstrip("._-") or "run"


def _hash(text: str) -> str:
    return xxhash.xxh3_64_hexdigest(text.encode(errors="surrogatepass"))
