"""Sublex: a search engine for people who study ranking.

import sublex
index = sublex.build("docs.jsonl", "my-index")
index.postings("whale")
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sublex.base import VERSION, Document, Report
from sublex.errors import (
    IndexCorrupt,
    IndexProblem,
    InputError,
    MissingExtra,
    PluginError,
    SublexError,
    UnknownName,
)
from sublex.expression import Expression
from sublex.parser import parse

if TYPE_CHECKING:
    from sublex.index.api import Documents
    from sublex.pipeline.index import Index
    from sublex.trec.topics import Topics

__version__ = VERSION
__all__ = [
    "Document",
    "Expression",
    "IndexCorrupt",
    "IndexProblem",
    "InputError",
    "MissingExtra",
    "PluginError",
    "Report",
    "SublexError",
    "UnknownName",
    "build",
    "open",
    "parse",
]


def build(documents: Documents, path: str | os.PathLike[str], **options: Any) -> Index:
    """Index documents, or the collection files of one path or several, and open the result.

    Documents are `Document`s or mappings with an id and a text. Options: profile, analyzer, reader, store ("text,terms",
    "none"), workers, memory ("1GB"), overwrite, resume, strict, progress (called with the number of documents).
    """
    from sublex.index.api import create

    create(path, documents, **options)
    return open(path)


def open(path: str | os.PathLike[str]) -> Index:
    """Open an index for reading and ranking; it keeps its generation whatever is written meanwhile."""
    from sublex.pipeline.index import Index

    return Index(path)


def read_topics(path: str | os.PathLike[str], fields: str = "title") -> Topics:
    """Read a topic file; `fields` are joined, as in `title+desc`."""
    from sublex.trec.topics import read_topics

    return read_topics(path, fields)
