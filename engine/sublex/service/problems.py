"""Errors of requests as records of problems (RFC 9457): a status, a sentence, and the place of a mistake in an expression."""

from __future__ import annotations

import re
import sys
import traceback
from http import HTTPStatus
from typing import Any

from sublex.errors import (
    LITTLE_MEMORY,
    IndexCorrupt,
    IndexProblem,
    InputError,
    MissingExtra,
    SublexError,
    UnknownDocument,
    UnknownName,
    UnknownTopic,
    is_out_of_memory,
)
from sublex.forms.values import to_json
from sublex.service.limits import RETRY_AFTER
from sublex.tools.messages import clean_lines

MEDIA = b"application/problem+json"
# A message with a caret: its sentence, and two lines below it.
_CARET = re.compile(
    r"(?P<sentence>.*column (?P<column>\d+)):\n  (?P<text>.*)\n  (?P<mark> *\^)\s*(?P<more>.*)", re.DOTALL
)
STATUSES: dict[type[SublexError], int] = {
    UnknownTopic: 404, UnknownDocument: 404, MissingExtra: 501, IndexCorrupt: 503, IndexProblem: 409, UnknownName: 400, InputError: 400,
}  # fmt: skip


class Refused(SublexError):
    """A request that is refused, with the status of the answer, more members of the record, and more headers."""

    def __init__(self, status: int, sentence: str, headers: tuple[tuple[bytes, bytes], ...] = (), **more: Any):
        super().__init__(sentence)
        self.status, self.headers, self.more = status, headers, more


def busy(sentence: str) -> Refused:
    """Return the refusal of a request that may be sent again soon."""
    return Refused(503, sentence, ((b"retry-after", str(RETRY_AFTER).encode()),))


def problem_of(error: BaseException) -> Refused:
    """Return an exception as a refusal. An exception that no user caused is printed on standard error."""
    if isinstance(error, Refused):
        return error
    if is_out_of_memory(error):
        return busy(LITTLE_MEMORY)
    if isinstance(error, SublexError):
        status = next((code for kind, code in STATUSES.items() if isinstance(error, kind)), 500)
        return Refused(status, str(error))
    traceback.print_exception(error, file=sys.stderr)
    return Refused(500, "The server failed at this request; its standard error has the reason.")


def record_of(refused: Refused) -> dict[str, Any]:
    """Return a refusal as the record of a problem."""
    sentence, more = clean_lines(str(refused)), dict(refused.more)
    if found := _CARET.fullmatch(sentence):
        sentence = f"{found['sentence']}. {found['more']}".strip()
        more["caret"] = {"column": int(found["column"]), "text": found["text"], "mark": found["mark"]}
    title = HTTPStatus(refused.status).phrase
    return {"type": "about:blank", "title": title, "status": refused.status, "detail": sentence, **more}


def body_of(refused: Refused) -> bytes:
    """Return the body of the answer to a refused request."""
    return as_bytes(record_of(refused))


def as_bytes(value: Any) -> bytes:
    """Return a value as JSON in UTF-8. Halves of surrogate pairs are escaped."""
    return to_json(value).encode("utf-8", "backslashreplace")
