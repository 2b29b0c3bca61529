"""The schema of a server in OpenAPI 3.1, made from the fields that check its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sublex import __version__
from sublex.service.fields import RequestField
from sublex.service.limits import MOST_HITS

if TYPE_CHECKING:
    from sublex.service.server import Served, Server

PROBLEM = {"content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
# The statuses of refusals.
REFUSALS = {
    400: "A wrong or missing parameter, or an unknown name.",
    401: "The token is missing.",
    403: "The Host, the Origin or the right to change is missing.",
    404: "Unknown operation, index, file, topic or document.",
    405: "The method is another one.",
    408: "The body did not come in time.",
    409: "The index lacks what was asked for, such as a fitted model.",
    410: "The generation is not held any more; `now` is a link to the current one.",
    413: "The body or the answer is too large.",
    414: "The query string is too long.",
    415: "The body is no JSON.",
    431: "The head of the request is too long.",
    500: "The server failed.",
    501: "An optional part is not installed.",
    503: "The server is busy, or the index cannot be read; try again later.",
    504: "The answer takes too long.",
}
COMPONENTS: dict[str, Any] = {
    "Problem": {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "A sentence: what happened, to which thing, what to do next."},
            "parameter": {"type": "string", "description": "The parameter at fault."},
            "now": {"type": "string", "description": "The same link for the current generation."},
            "caret": {
                "type": "object",
                "description": "The place of a mistake in an expression.",
                "required": ["column", "text", "mark"],
                "properties": {"column": {"type": "integer"}, "text": {"type": "string"}, "mark": {"type": "string"}},
            },
        },
    },
    "Answer": {
        "type": "object",
        "required": ["result", "notes"],
        "properties": {
            "result": {"description": "What the command line prints with --format json."},
            "notes": {"type": "array", "items": {"type": "string"}},
            "index": {"type": "string"},
            "generation": {"type": "integer"},
            "command": {"type": ["string", "null"]},
            "python": {"type": ["string", "null"]},
        },
    },
    "Candidate": {
        "type": "object",
        "required": ["docid", "score", "rank", "doc"],
        "properties": {
            "docid": {"type": "string"},
            "score": {"type": "number"},
            "rank": {"type": "integer"},
            "doc": {},
        },
    },
}


def schema_of(server: Server) -> dict[str, Any]:
    """Return the schema of a server."""
    paths = {f"/v1/{name}": _path(served) for name, served in sorted(server.served.items())}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sublex", "version": __version__, "summary": "Search, explain and evaluate rankings."},
        "paths": paths | _anserini(),
        "components": {"schemas": COMPONENTS, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _path(served: Served) -> dict[str, Any]:
    """Return the methods of an operation."""
    operation, found = served.operation, dict[str, Any]()
    about = {"summary": operation.summary, "description": operation.help}
    if operation.may_read:
        parameters = [_parameter(field) for field in served.fields.values()]
        found["get"] = {"operationId": served.name, **about, "parameters": parameters, "responses": _responses(served)}
    if operation.may_change:
        body = {
            "type": "object",
            "properties": {field.name: _described(field) for field in served.fields.values()},
            "required": [field.name for field in served.fields.values() if field.is_required],
            "additionalProperties": False,
        }
        name = f"{served.name}-post" if operation.may_read else served.name
        content = {"required": True, "content": {"application/json": {"schema": body}}}
        found["post"] = {"operationId": name, **about, "requestBody": content, "responses": _responses(served)}
    return found


def _parameter(field: RequestField) -> dict[str, Any]:
    found = {"name": field.name, "in": "query", "schema": field.schema(), "required": field.is_required}
    if "null" in field.schema().get("type", ()):
        found["schema"] = {**field.schema(), "type": field.schema()["type"][0]}
    return {**found, "description": field.help} if field.help else found


def _described(field: RequestField) -> dict[str, Any]:
    return {**field.schema(), "description": field.help} if field.help else field.schema()


def _responses(served: Served) -> dict[str, Any]:
    if served.name == "run" or served.operation.is_long:
        content = {"application/x-ndjson": {"schema": {"type": "string"}}}
    else:
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}}
    return {"200": {"description": "The answer.", "content": content}, **_refusals()}


def _refusals() -> dict[str, Any]:
    return {str(status): {"description": text, **PROBLEM} for status, text in REFUSALS.items()}


def _anserini() -> dict[str, Any]:
    """Return the routes of Anserini's REST server, version 1."""
    index = {"name": "index", "in": "path", "required": True, "schema": {"type": "string"}}
    parse = {"name": "parse", "in": "query", "schema": {"type": "boolean", "default": True}}
    hits = {"type": "integer", "minimum": 1, "maximum": MOST_HITS, "default": 10}
    ok = {"type": "object", "required": ["api", "index"]}
    response = {
        "200": {"description": "As Anserini answers.", "content": {"application/json": {"schema": ok}}},
        **_refusals(),
    }
    query = {"name": "query", "in": "query", "required": True, "schema": {"type": "string"}}
    docid = {"name": "docid", "in": "path", "required": True, "schema": {"type": "string"}}
    search = [index, query, {"name": "hits", "in": "query", "schema": hits}, parse]
    return {
        "/v1/{index}/search": {"get": {"operationId": "searchV1", "parameters": search, "responses": response}},
        "/v1/{index}/doc/{docid}": {
            "get": {"operationId": "getDocumentV1", "parameters": [index, docid, parse], "responses": response}
        },
    }
