"""Labels, the names that a fitted model gives to its topics or keyphrases: look them up, and count them in documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sublex.contracts.base import Facet
from sublex.errors import InputError
from sublex.tools.hints import resolve_hints
from sublex.tools.messages import Message, Step, nearest

if TYPE_CHECKING:
    from scipy.sparse import csr_array


# This word stands before a label if the model is not sure of it. Users need not write the word.
PROBABLY = "probably "


def find_label(wanted: str | int, labels: Sequence[str], noun: str, model: object) -> int:
    """Return the number of a label, which the user names by its text or by its number.

    Case does not matter, `_` stands for a blank, and `probably` may be left out. `noun` and `model` appear in messages, such as "topic" and
    "lda(k=20)". Raise `InputError` for an unknown label; the message names the nearest label.
    """
    if not labels:
        raise InputError(f"{model} names no {noun}s; name a model that does.")
    plain = plain_label(wanted)
    found = [number for number, label in enumerate(labels) if plain_label(label) == plain]
    if not found:
        found = [number for number, label in enumerate(labels) if plain_label(label) == PROBABLY + plain]
    if not found and plain.isdecimal():
        if int(plain) < len(labels):
            return int(plain)
        raise InputError(f"{model} has no {noun} {wanted}; its {noun}s have the numbers 0 to {len(labels) - 1:,}.")
    if len(found) > 1:
        numbers = " and ".join(map(str, found))
        raise InputError(f"{model} has several {noun}s {wanted}; write one of their numbers: {numbers}.")
    if not found:
        close = next((label for label in labels if plain and plain in plain_label(label)), "")
        hint = f"did you mean {close}? " if close else nearest(plain, labels)
        unknown = f"{model} has no {noun} {wanted or repr(wanted)}; {hint}{'T' if hint else 't'}o list them"
        raise InputError(Message(unknown, ", run: ", Step("card", "INDEX", model)))
    return found[0]


def count_labels(labels: Sequence[str], shares: csr_array, least: float) -> list[Facet]:
    """Return each label with the number of documents whose share of the label is at least `least`.

    The most frequent labels come first; equally frequent ones are in the order of their numbers.
    """
    import numpy as np

    docs = np.bincount(shares.indices[shares.data >= least], minlength=len(labels))
    order = np.argsort(-docs, kind="stable")
    return [Facet(number, labels[number], int(docs[number])) for number in order[docs[order] > 0].tolist()]


def plain_label(label: str | int) -> str:
    """Return a label in one case for comparison, with each underscore or run of white space as one blank."""
    return " ".join(str(label).replace("_", " ").split()).casefold()


resolve_hints(__name__)
