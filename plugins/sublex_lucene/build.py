"""Build a Lucene index of documents by Anserini's IndexCollection and analyzer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from sublex.contracts.base import Document
from sublex.errors import InputError
from sublex_lucene.commit import read_commit
from sublex_lucene.connection import JavaProcess

MEGABYTE = 1 << 20
# Anserini's options that store a part of the documents, by the name of the part.
OPTIONS = {"text": "-storeRaw", "terms": "-storeDocvectors", "positions": "-storePositions"}
# Megabytes of memory in addition to the memory for postings.
REST = 512


def build(path: str, documents: Iterable[Document], store: frozenset[str], memory: int) -> None:
    """Write a Lucene index with the documents, in their order, to the folder `path`, which must not exist.

    `store` may have "text" (raw documents), "terms" (document vectors) and "positions". `memory` is the number of bytes
    of postings that Anserini keeps before it writes them. The documents are first written to a file next to the index,
    which Anserini reads.
    """
    with TemporaryDirectory(prefix="documents-", dir=Path(path).parent) as folder:
        number = _write(Path(folder) / "documents.jsonl", documents)
        if not number:
            raise InputError("The collection holds no documents, so no Lucene index was built.")
        arguments = [
            "-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", "-optimize",
            "-memoryBuffer", str(max(16, memory // MEGABYTE)), "-input", folder, "-index", path,
        ]  # fmt: skip
        stored = [option for part, option in OPTIONS.items() if part in store]
        process = JavaProcess(path, f"{memory // MEGABYTE + REST}m")
        try:
            process.ask("build", arguments=[*arguments, *stored])
        finally:
            process.close()
    read_commit(path)


def _write(path: Path, documents: Iterable[Document]) -> int:
    """Write documents as lines of JSON, as Anserini's JsonCollection reads them, and return their number."""
    number = 0
    with open(path, "w", encoding="ascii") as out:
        for document in documents:
            record = {"id": document.docno, "contents": document.contents}
            if document.title:
                record["title"] = document.title
            out.write(json.dumps(record) + "\n")
            number += 1
    return number
