"""The reader `whoosh`: it reads the stored documents of a Whoosh index into an index of Sublex. They are named as in
`whoosh:PATH`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sublex.contracts.base import Document, Report, Source
from sublex.contracts.fields import several_fields
from sublex.errors import InputError
from sublex_whoosh.backend import missing

PREFIX = "whoosh:"


class WhooshReader:
    """The reader of a Whoosh index. It needs `trust=true`, because Whoosh stores pickles, and pickles can run code."""

    folders = True

    def __init__(self, field: str | None, docno: str | None, trust: bool):
        self.field, self.docno, self.trust = field, docno, trust

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the path names a Whoosh index."""
        return path.startswith(PREFIX)

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the stored documents."""
        path = os.path.realpath(os.path.expanduser(source.path.removeprefix(PREFIX)))
        if not self.trust:
            raise InputError(
                f"Opening a Whoosh index runs code that its folder holds; if you trust whoever wrote {path}, "
                "add --reader 'whoosh(trust=true)'."
            )
        if sentence := missing():
            raise InputError(sentence)
        if several_fields(self.field):
            raise InputError("The reader whoosh reads one field; name one, or attach the index to read several.")
        from sublex_whoosh.foreign import WhooshIndex

        index = WhooshIndex(path, self.field, self.docno)
        try:
            if not index.stores:
                raise InputError(
                    f"The field {index.field} of {path} is not stored, so its documents cannot be read; "
                    f"use its postings: sublex attach NAME {PREFIX}{path} --trust"
                )
            report.note(f"Ids come from the field {index.docno_field}, texts from the field {index.field}")
            for doc in range(index.docs):
                yield index.document(doc)
        finally:
            index.close()
