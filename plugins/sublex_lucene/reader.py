"""The reader `lucene`: it reads the documents that a Lucene index stores into an index of Sublex. They are named as in
`lucene:PATH`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

from sublex.contracts.base import Document, Report, Source
from sublex.contracts.fields import several_fields
from sublex.errors import InputError
from sublex.tools.messages import Step
from sublex_lucene.commit import read_commit
from sublex_lucene.index import LuceneIndex

PREFIX = "lucene:"
# The number of documents that are read at a time.
BATCH = 256


class LuceneReader:
    """The reader of stored documents. Sublex's analyzer makes their terms and lengths anew.

    `field` is the field whose text is read, and `docno` is the field with the ids. With None, Anserini's names are
    used.
    """

    def __init__(self, field: str | None, docno: str | None):
        self.field, self.docno = field, docno

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the path names a Lucene index."""
        return path.startswith(PREFIX)

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the stored documents in the order of the index; deleted documents are left out."""
        path = os.path.expanduser(source.path.removeprefix(PREFIX))
        if several_fields(self.field):
            raise InputError("The reader lucene reads one field; name one, or attach the index to read several.")
        read_commit(path)
        with closing(LuceneIndex(path, self.field, self.docno)) as index:
            if not index.stores:
                raise InputError(
                    f"{path} stores no documents (it was made without -storeRaw), so no index can be built of them; attach it "
                    f"instead: {Step('attach', 'NAME', source.path)}"
                )
            index.verify()
            number = 0
            while number < index.docs:
                for document, is_exact in index.stored_documents(number, BATCH):
                    if not is_exact:
                        report.note("raw texts are indexed with their markup")
                    report.line = number = number + 1
                    if document.docno:
                        yield document
                    else:
                        report.malformed(source.path, report.line, f"it has no field {index.docno}")
