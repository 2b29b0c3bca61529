"""A BEIR folder: `corpus.jsonl` (compressed or not) beside its queries and judgements.

Only the corpus is read here, as the JSON lines that it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sublex.base import Document, Report, Source
from sublex.errors import InputError
from sublex.readers.batch import Make
from sublex.readers.jsonl import JsonLines
from sublex.readers.source import COMPRESSED, FileSource


class Beir:
    """Reads the corpus of a BEIR folder."""

    folders = True

    def detect(self, path: str, head: bytes) -> bool:
        return corpus(path) is not None

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """The corpus's documents."""
        return JsonLines().read(self._corpus(source), report)

    def batches(self, source: Source, report: Report) -> Iterator[Make]:
        """The same as batches."""
        return JsonLines().batches(self._corpus(source), report)

    def _corpus(self, source: Source) -> FileSource:
        path = corpus(source.path)
        if path is None:
            raise InputError(f"{source.path} is not a BEIR folder: it holds no corpus.jsonl.")
        return FileSource(path)


def corpus(folder: str) -> str | None:
    """The folder's corpus file, if there is one."""
    paths = (os.path.join(folder, f"corpus.jsonl{suffix}") for suffix in ("", *COMPRESSED))
    return next((path for path in paths if os.path.isfile(path)), None)
