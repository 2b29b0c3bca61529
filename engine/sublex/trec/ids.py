"""Check the ids of topics and documents, and convert ids from Python code to texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.tools.arguments import shown
from sublex.tools.strings import Strings, first_faulty_id, id_fault


def id_text(value: Any, kind: str) -> str:
    """Return an id as text; raise InputError for a value that cannot be an id. `kind` is "topic" or "document"."""
    if isinstance(value, str):
        if fault := id_fault(value):
            raise InputError(f"The {kind} id {value!r} {fault}; give another id.")
        return str(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    raise InputError(f"The {kind} id {shown(value)} is neither a text nor a whole number; make it a text.")


def refuse_faulty(ids: Strings, kind: str) -> None:
    """Raise InputError for an id that trec_eval's code misreads. `kind` is "topic" or "document"."""
    if (text := first_faulty_id(ids)) is not None:
        raise InputError(f"The {kind} id {text!r} {id_fault(text)}; give it another id.")


def with_white_space(ids: Strings) -> np.ndarray:
    """Return the places of the ids that are empty or have white space.

    A file of a run or of qrels cannot hold such ids.
    """
    from sublex.trec import run_kernels

    kinds = run_kernels.classify(ids.arena, ids.starts, ids.sizes)
    # The kernel knows only ASCII. Python decides whether other characters are white space.
    places = [k for k in np.flatnonzero(kinds).tolist() if kinds[k] == 1 or any(map(str.isspace, ids[k]))]
    return np.array(places, np.int64)
