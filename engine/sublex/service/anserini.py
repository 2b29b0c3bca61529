"""The routes of Anserini's REST server, version 1, so that its clients find here what they know: search and document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sublex.contracts.base import Document
from sublex.service.fields import RequestField
from sublex.service.limits import MOST_HITS
from sublex.service.problems import Refused, as_bytes
from sublex.service.server import RequestAnswer, Server
from sublex.tools.confinement import Confinement, confined

QUERY = RequestField("query", "query", str)
HITS = RequestField("hits", "hits", int, 10, least=1, most=MOST_HITS)
PARSE = RequestField("parse", "parse", bool, True)


def search(server: Server, path: Mapping[str, str], query: Mapping[str, Sequence[str]]) -> RequestAnswer:
    """Return the best documents for a query by the ranker of the index, with their texts."""
    found = _values((QUERY, HITS, PARSE), query)
    index = server.indexes[path["index"]].now().index
    with confined(Confinement()):
        hits = index.search(found["query"], k=found["hits"])
        candidates = [
            {
                "docid": hit.docno,
                "score": hit.score,
                "rank": hit.rank,
                "doc": _doc(index.snapshot.shown(hit.doc), found["parse"]),
            }
            for hit in hits
        ]
    record = {"api": "v1", "index": path["index"], "query": {"text": found["query"]}, "candidates": candidates}
    return RequestAnswer(as_bytes(record))


def document(server: Server, path: Mapping[str, str], query: Mapping[str, Sequence[str]]) -> RequestAnswer:
    """Return a document by its docno."""
    found = _values((PARSE,), query)
    index = server.indexes[path["index"]].now().index
    docno = path["docid"]
    doc = index.doc(docno)
    if doc is None:
        raise Refused(404, f"Document not found: {docno[:200]}")
    record = {
        "api": "v1",
        "index": path["index"],
        "docid": docno,
        "doc": _doc(index.snapshot.shown(doc), found["parse"]),
    }
    return RequestAnswer(as_bytes(record))


def _values(fields: Sequence[RequestField], query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the values of the fields. As in Anserini's server, other fields are ignored."""
    values = {}
    for field in fields:
        if field.name in query:
            values[field.name] = field.read(query[field.name])
        elif field.is_required:
            raise Refused(400, f"Parameter '{field.name}' is required", parameter=field.name)
        else:
            values[field.name] = field.default
    return values


def _doc(found: Document | None, parse: bool) -> Any:
    """Return a document as an object, or as the text of that object; None where no texts are stored."""
    if found is None:
        return None
    record = {"id": found.docno, "title": found.title, "contents": found.text, **dict(found.fields)}
    return record if parse else json.dumps(record, ensure_ascii=False, default=str)
