"""Decisions of people about the labels of fitted models: accept, rename, merge, reject. The manifest keeps them.

Decisions are stored under the expression of the model, so they outlive a refit. A decision names its label by number
and by the text that the model gave it. It applies to the label with both. If a refit numbers labels anew, it applies to
the only label with the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

import xxhash

from sublex.index.entries import ACTIONS, MOST_LETTERS, NAME_LETTERS, LabelDecision, LabelRef
from sublex.index.schema import as_json
from sublex.tools.messages import counted

# The highest number of decisions that are kept about a model.
MOST_DECISIONS = 10_000
# A message lists at most this number of labels that the model does not have.
SHOWN = 5


class Applied(NamedTuple):
    """The result of decisions about the labels of a model. Labels are numbers.

    `named` has the names that decisions gave to labels; for a rejected label it has None. `merged` maps each merged
    label to the label that contains it. `done` has the last action on each label. `lost` has the decisions about
    labels that the model does not have.
    """

    named: dict[int, str | None]
    merged: dict[int, int]
    done: dict[int, str]
    lost: list[LabelDecision]


NOTHING = Applied({}, {}, {}, [])


def label_finder(texts: Sequence[str]) -> Callable[[LabelRef | None], int]:
    """Return a function from the label in a decision to the number that this label has in the model, or -1.

    `texts` has the model's own text for each label.
    """
    places: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        places.setdefault(text[:MOST_LETTERS], []).append(number)

    def place(ref: LabelRef | None) -> int:
        found = places.get(ref.text, []) if ref else []
        return ref.number if ref and ref.number in found else found[0] if len(found) == 1 else -1

    return place


def applied(decisions: Sequence[LabelDecision], texts: Sequence[str]) -> Applied:
    """Apply decisions to the labels of a model, and return the result. `texts` has the model's own text for each label.

    A decision that lacks a part which its action needs counts as lost. Only a forged index has such decisions.
    """
    place, result = label_finder(texts), Applied({}, {}, {}, [])
    for each in decisions[:MOST_DECISIONS]:
        number, into = place(each.label), place(each.into)
        lacks_name = each.action in ("accept", "rename") and not each.name
        if number < 0 or lacks_name or (each.action == "merge" and into < 0):
            result.lost.append(each)
            continue
        into = result.merged.get(into, into)
        if each.action == "merge":
            if into == number:
                continue
            # If other labels were merged into this label before, they now belong to the label `into`.
            result.merged.update({part: into for part, whole in result.merged.items() if whole == number})
            result.merged[number] = into
        else:
            result.merged.pop(number, None)
            result.named[number] = each.name if each.action in ("accept", "rename") else None
        result.done[number] = each.action
    return result


def hash_of(decisions: Sequence[LabelDecision]) -> str:
    """Return a hash of decisions, for the metadata of runs."""
    return xxhash.xxh3_64_hexdigest(json.dumps(as_json(decisions), sort_keys=True).encode())


def told(result: Applied) -> str:
    """Return decisions in words, such as "2 accepted, 1 rejected"; "" if there are none."""
    done = list(result.done.values())
    words = [f"{done.count(action):,} {past(action)}" for action in ACTIONS if action in done]
    names = ", ".join(sorted({plain_name(each.label.text) for each in result.lost})[:SHOWN])
    lost = f"{counted(len(result.lost), 'decision')} on labels that the model does not have ({names})"
    return ", ".join(words + ([lost] if result.lost else []))


def past(action: str) -> str:
    """Return the participle of an action: "accepted", "renamed", "merged" or "rejected"."""
    return f"{action.rstrip('e')}ed"


def plain_name(label: str) -> str:
    """Return the name that a label gets when people accept it."""
    visible = "".join(letter if letter.isprintable() else " " for letter in label)
    return " ".join(visible.split())[:NAME_LETTERS].strip()
