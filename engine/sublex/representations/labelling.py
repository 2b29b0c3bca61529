"""Let people decide about the labels of a fitted model: read their requests, and store the decisions in one commit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sublex.contracts.labels import PROBABLY, find_label, plain_label
from sublex.errors import InputError
from sublex.index.entries import ACTIONS, MOST_LETTERS, LabelDecision, LabelRef, fault_of_name
from sublex.index.lock import locked
from sublex.index.manifest import commit, read_manifest, remove_leftovers
from sublex.index.schema import ABSENT
from sublex.representations.label_decisions import MOST_DECISIONS, Applied, label_finder, past, plain_name

if TYPE_CHECKING:
    from sublex.contracts.base import Facet
    from sublex.representations.loaded import LoadedRepresentation

# For each action: the lowest number of labels that it takes, and its arguments in words.
FORMS = {
    "accept": (1, "one label or more"),
    "rename": (2, "a label and its new name"),
    "merge": (2, "a label and the labels that become parts of it"),
    "reject": (1, "one label or more"),
}


def act(
    root: Path,
    model: LoadedRepresentation,
    action: str,
    given: Sequence[str | int],
    model_of: Callable[[str], LoadedRepresentation],
) -> None:
    """Carry out an action on labels of a model of the index at `root`.

    `Index.label` documents the actions. `model_of` returns the model of an expression, for "take".
    """
    if action == "undo":
        numbers = {number_of(model, each) for each in given}
        undo(root, model.labels_expression, numbers, [own.text for own in model.proposals])
    elif action == "take":
        decide(root, model.labels_expression, _taken(root, model, given, model_of))
    elif action in ACTIONS:
        decide(root, model.labels_expression, decisions_of(model, action, given))
    else:
        raise InputError(
            f"{action!r} is nothing to do with labels; choose one of {', '.join((*ACTIONS, 'undo', 'take'))}."
        )


def _taken(
    root: Path,
    model: LoadedRepresentation,
    given: Sequence[str | int],
    model_of: Callable[[str], LoadedRepresentation],
) -> list[LabelDecision]:
    """Return the decisions about another model's labels that this model does not have yet."""
    if len(given) != 1:
        raise InputError("take takes the expression of another fitted model.")
    made, own, other = read_manifest(root).labels, model.labels_expression, model_of(str(given[0])).labels_expression
    if not made.get(other) or other == own:
        raise InputError(f"Nobody decided anything about the labels of {given[0]}; there is nothing to take.")
    new = [each for each in made[other] if each not in made.get(own, ())]
    if not new:
        raise InputError(f"All decisions about the labels of {given[0]} are taken already.")
    return new


def decide(root: Path, expression: str, new: Sequence[LabelDecision]) -> None:
    """Add decisions about the labels of a model to an index, in one commit."""
    for each in new:
        assert each.action in ACTIONS
        if each.name is not None and (fault := fault_of_name(each.name)):
            raise InputError(f"The name {each.name[:20]!r} {fault}.")
    with locked(root, "label"):
        manifest = read_manifest(root)
        remove_leftovers(root, manifest)
        kept = (*manifest.labels.get(expression, ()), *new)
        if len(kept) > MOST_DECISIONS:
            raise InputError(f"{expression} has {MOST_DECISIONS:,} decisions on its labels; undo some first.")
        commit(root, manifest.next(labels={**manifest.labels, expression: kept}))


def undo(root: Path, expression: str, numbers: Collection[int], texts: Sequence[str]) -> list[LabelDecision]:
    """Remove the decisions about the labels with these numbers, and return them.

    Without numbers, remove the last decision. `texts` has the model's own text for each label.
    """
    place = label_finder(texts)
    with locked(root, "label"):
        manifest = read_manifest(root)
        remove_leftovers(root, manifest)
        decisions = manifest.labels.get(expression, ())
        gone = [each for each in decisions if place(each.label) in numbers] if numbers else list(decisions[-1:])
        if not gone:
            which = "these labels" if numbers else "the labels"
            raise InputError(f"Nobody decided anything about {which} of {expression}; there is nothing to undo.")
        left = [each for each in decisions if each not in gone] if numbers else list(decisions[:-1])
        labels = {name: own for name, own in manifest.labels.items() if name != expression}
        commit(root, manifest.next(labels=labels | ({expression: tuple(left)} if left else {}) or ABSENT))
        return gone


class LabelState(NamedTuple):
    """The present state of a label.

    `label` is the name that is shown now, and `decision` the last decision of people, such as "renamed". `proposed` is
    the model's own label, "" if it has none; `confidence` and `words` belong to this proposal. `documents` is the
    number of documents that have the label.
    """

    number: int
    label: str
    decision: str
    proposed: str
    confidence: str
    words: str
    documents: int


def states(model: LoadedRepresentation, counts: Sequence[Facet]) -> list[LabelState]:
    """Return the states of a model's labels.

    Labels with a proposal or a decision come first; then labels are ordered by their number of documents, highest
    first. `counts` has these numbers.
    """
    documents = {facet.number: facet.docs for facet in counts}
    result, labels = model.applied_decisions, model.labels
    found = [
        LabelState(
            number, labels[number], _decision(number, result), own.label, own.confidence, own.words,
            documents.get(result.merged.get(number, number), 0),
        )
        for number, own in enumerate(model.proposals)
    ]  # fmt: skip
    return sorted(found, key=lambda each: (not (each.proposed or each.decision), -each.documents, each.number))


def _decision(number: int, result: Applied) -> str:
    """Return the last decision about a label in words, such as "renamed" or "merged into 3"; "" without a decision."""
    if number in result.merged:
        return f"merged into {result.merged[number]}"
    return past(result.done[number]) if number in result.done else ""


def decisions_of(model: LoadedRepresentation, action: str, given: Sequence[str | int]) -> list[LabelDecision]:
    """Return the decisions for an action on some labels. Raise `InputError` for an action that makes no sense.

    `given` names labels by text or number. For "rename" it has a label and its new name; for "merge", the first label
    takes all others.
    """
    least, form = FORMS[action]
    if len(given) < least or (action == "rename" and len(given) > least):
        raise InputError(f"{action} takes {form}.")
    if action == "rename" and not isinstance(given[1], str):
        raise InputError(f"{given[1]!r} is no name for a label; give a text.")
    new = " ".join(str(given[1]).split()) if action == "rename" else None
    numbers = [number_of(model, each) for each in (given[:1] if new is not None else given)]
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{action} got one label twice; name each once.")
    refs = [LabelRef(number, model.proposals[number].text[:MOST_LETTERS]) for number in numbers]
    if action == "merge":
        merged = model.applied_decisions.merged
        if {merged.get(number, number) for number in numbers} == {merged.get(numbers[0], numbers[0])}:
            raise InputError(f"These labels of {model.name} are merged already.")
        return [LabelDecision("merge", ref, into=refs[0]) for ref in refs[1:]]
    if new is not None:
        _refuse_taken(model, numbers[0], new)
        return [LabelDecision("rename", refs[0], new)]
    for number in numbers:
        if not (model.proposals[number].label or model.applied_decisions.named.get(number)):
            does = "give it one by rename" if action == "accept" else "it is shown by its words already"
            raise InputError(f"Topic {number} of {model.name} has no label to {action}; {does}.")
    if action == "reject":
        if all(model.applied_decisions.done.get(number) == "reject" for number in numbers):
            raise InputError(f"{'These labels are' if numbers[1:] else 'This label is'} rejected already.")
        return [LabelDecision("reject", ref) for ref in refs]
    names = [model.applied_decisions.named.get(number) or model.proposals[number].label for number in numbers]
    for number, name in zip(numbers, names, strict=True):
        _refuse_taken(model, number, name)
    return [LabelDecision("accept", ref, plain_name(name)) for ref, name in zip(refs, names, strict=True)]


def _refuse_taken(model: LoadedRepresentation, number: int, name: str) -> None:
    """Raise InputError if another label than `number` has this name, or is shown as "probably" having it.

    Upper and lower case are equal, and so are underscores and spaces.
    """
    if plain_label(name).startswith((PROBABLY, "unlabelled")):
        raise InputError(f"{name} begins with a word that says how sure a label is; choose another name.")
    merged = model.applied_decisions.merged
    whole = merged.get(number, number)
    for other, label in enumerate(model.labels):
        if merged.get(other, other) != whole and plain_label(label).removeprefix(PROBABLY) == plain_label(name):
            raise InputError(
                f"Label {other} of {model.name} is called {name} already; merge the two, or choose another."
            )


def number_of(model: LoadedRepresentation, wanted: str | int) -> int:
    """Return the number of a label that a user names by its number, its name, or the model's own text for it."""
    own = [proposal.label for proposal in model.proposals]
    text = " ".join(str(wanted).replace("_", " ").split()).casefold()
    hidden = [number for number, label in enumerate(own) if label and label.casefold() == text]
    shown = [label.casefold() for label in model.labels]
    if len(hidden) == 1 and text not in shown:
        return hidden[0]
    return find_label(wanted, model.labels, "topic", model.name)
