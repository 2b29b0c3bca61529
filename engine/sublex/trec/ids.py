"""Check the ids of topics and documents that Python code gives: texts, or whole numbers, which become texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.tools.arguments import shown


def id_text(value: Any, kind: str) -> str:
    """Return an id as text; raise InputError for a value that is none. `kind` is "topic" or "document"."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    raise InputError(f"The {kind} id {shown(value)} is neither a text nor a whole number; make it a text.")
