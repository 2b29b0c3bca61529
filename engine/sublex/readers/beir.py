"""Read the corpus of a BEIR folder, which is the file `corpus.jsonl`, plain or compressed.

This reader does not read the queries and judgements in the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sublex.contracts.base import Document, Report, Source
from sublex.errors import InputError
from sublex.readers.batch import MakeBatch
from sublex.readers.jsonl import JsonLines
from sublex.readers.source import COMPRESSED, FileSource


class Beir:
    """The reader `beir`: the corpus of a BEIR folder."""

    folders = True

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the path is a folder with a corpus file."""
        return corpus_path(path) is not None

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of the corpus."""
        return JsonLines().read(self._corpus(source), report)

    def batches(self, source: Source, report: Report) -> Iterator[MakeBatch]:
        """Yield a function for each batch of documents of the corpus."""
        return JsonLines().batches(self._corpus(source), report)

    def _corpus(self, source: Source) -> FileSource:
        path = corpus_path(source.path)
        if path is None:
            raise InputError(f"{source.path} is not a BEIR folder: it holds no corpus.jsonl.")
        return FileSource(path)


def corpus_path(folder: str) -> str | None:
    """Return the path of the folder's corpus file, or None if there is none."""
    paths = (os.path.join(folder, f"corpus.jsonl{suffix}") for suffix in ("", *COMPRESSED))
    return next((path for path in paths if os.path.isfile(path)), None)
