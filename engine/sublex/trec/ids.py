"""Check the ids of topics and documents for white space, and make ids from Python code into texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.tools.arguments import shown
from sublex.tools.strings import Strings


def id_text(value: Any, kind: str) -> str:
    """Return an id as text; raise InputError for a value that cannot be an id. `kind` is "topic" or "document"."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    raise InputError(f"The {kind} id {shown(value)} is neither a text nor a whole number; make it a text.")


def with_white_space(ids: Strings) -> np.ndarray:
    """Return the places of the ids that are empty or have white space.

    A file of a run or of qrels cannot hold such ids.
    """
    from sublex.trec import run_kernels

    kinds = run_kernels.classify(ids.arena, ids.starts, ids.sizes)
    # The kernel knows ASCII; Python decides whether other characters are white space.
    places = [k for k in np.flatnonzero(kinds).tolist() if kinds[k] == 1 or any(map(str.isspace, ids[k]))]
    return np.array(places, np.int64)
