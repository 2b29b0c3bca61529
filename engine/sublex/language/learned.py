"""Learned models as parts of an expression: they score documents by rows of features, which are the scores of other expressions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from sublex.errors import InputError, contract
from sublex.language.expression import Change, Expression, no_ranges, operand, print_value, walk
from sublex.language.given_scores import finite_scores
from sublex.language.python_parts import PythonPart, make_part
from sublex.tools.files import hash_of
from sublex.tools.messages import counted
from sublex.trees.forest import Forest, UnreadModel, read_forest

# The most features of a model, and the digits of the hash of a file that are shown.
MOST, DIGITS = 1000, 16


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LearnedModel(PythonPart):
    """A Python object with a method `predict(rows)`, and the expressions whose scores are the columns of the rows.

    `sublex.learned` documents the kinds of objects.
    """

    word = "learned"
    parts: tuple[Expression, ...] = field(default=())
    # The file that the model was read from, as the user wrote it; "" for an object.
    file: str = ""
    # The hashes of the topics that the model learned from, as far as they are known.
    learned_from: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parts(self.parts)

    @cached_property
    def _printed(self) -> str:
        mark = super()._printed
        return f"{mark[:-1]}, {print_value(self.parts)})"

    def children(self) -> Iterable[Any]:
        return self.parts

    def map(self, change: Change) -> LearnedModel:  # type: ignore[override]
        return self.with_parts(tuple(change(part) for part in self.parts))

    def resolved(self, canonical: Callable[[Expression], Expression]) -> LearnedModel:
        return self.map(canonical)

    def with_parts(self, parts: tuple[Expression, ...]) -> LearnedModel:
        """Return a copy of this part whose features are other expressions. The model is the same."""
        given = {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}
        return type(self)(**{**given, "parts": parts})

    def with_model(self, model: Any, topics: Iterable[str] = ()) -> LearnedModel:
        """Return a part with another model, such as one that learned from other topics, whose texts are given."""
        return learned(model, self.parts, self.name, self.identity.version or None, topics)

    def known_among(self, topics: Iterable[str]) -> int:
        """Return the number of these topics that the model learned from."""
        return len(self.learned_from & {_hash(text) for text in topics})

    def scores(self, rows: np.ndarray, docnos: Sequence[str]) -> np.ndarray:
        """Return the scores of documents. `rows` has a row of features for each of them."""
        with self.call() as thing, contract(self.kind, self.name):
            given = _predicted(thing, rows)
        return finite_scores(self, given, docnos)

    def contributions(self, row: np.ndarray) -> np.ndarray | None:
        """Return the amount that each feature adds to the score of a row, and then the constant part of the score.

        Return None if it cannot be computed for this kind of model.
        """
        with self.call() as thing, contract(self.kind, self.name):
            if forest := _forest_of(thing):
                return forest.contributions(row)
            slopes = np.asarray(getattr(thing, "coef_", ()), np.float64)
            if slopes.shape != row.shape or hasattr(thing, "predict_proba"):
                return None
            return np.append(slopes * row, float(np.ravel(thing.intercept_)[0]))


def _hash(text: str) -> str:
    """Return the hash of a topic, without its case and spaces."""
    return xxhash.xxh3_128_hexdigest(" ".join(text.casefold().split()).encode(errors="surrogatepass"))


def notes_on_topics(expression: Expression, topics: Sequence[str]) -> list[str]:
    """Return a sentence for each learned model that learned from some of the topics on which it is measured."""
    notes = {}
    for model in (node for node in walk(expression) if isinstance(node, LearnedModel)):
        if number := model.known_among(topics):
            notes[str(model)] = (
                f"{model} learned from {number:,} of these {counted(len(topics), 'topic')}, so its figures say little about new "
                "ones; measure it on other topics, or by cross-validation with sublex.tune."
            )
    return list(notes.values())


def learned(
    model: Any,
    parts: Iterable[str | Expression],
    name: str | None = None,
    version: object = None,
    topics: Iterable[str] = (),
) -> LearnedModel:
    """Return a model as a part of an expression. `sublex.learned` documents the parameters."""
    if isinstance(parts, (str, Expression)):
        raise InputError("sublex.learned takes a list of expressions, as in sublex.learned(model, ['BM25', 'lsi']).")
    given = tuple(operand(part, ">>") for part in parts)
    check_parts(given)
    file = os.fspath(model) if isinstance(model, (str, os.PathLike)) else ""
    if file:
        name, model = Path(file).name if name is None else name, read_forest(file)
        # A file is known by its content.
        version = hash_of(Path(file))[:DIGITS] if version is None else version
    if isinstance(model, type) or not callable(getattr(model, "predict", None)):
        kind = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InputError(
            f"sublex.learned takes a model with a method predict(rows), or the path of one, and not {kind}; fit one first."
        )
    width = getattr(model, "n_features_in_", None)
    named = tuple(map(str, getattr(model, "feature_names_in_", ())))
    if isinstance(model, Forest):
        width, named = model.width, model.names
    if isinstance(width, (int, np.integer)):
        _check_names(int(width), named, given)
    known = frozenset(map(_hash, topics))
    return make_part(LearnedModel, "model", model, name, version, parts=given, file=file, learned_from=known)


def check_parts(parts: Sequence[Expression]) -> None:
    """Raise InputError if there are no parts or too many, or if a part has a range or occurs twice."""
    if not 0 < len(parts) <= MOST:
        raise InputError(f"A learned model takes 1 to {MOST:,} expressions as features, and not {len(parts):,}.")
    seen: set[str] = set()
    for part in parts:
        if str(no_ranges(part)) in seen:
            raise InputError(f"The feature {part} comes twice; give each once.")
        seen.add(str(part))


def _check_names(width: int, names: Sequence[str], parts: Sequence[Expression]) -> None:
    """Raise InputError if a model learned from another number of features, or from the same features in another order.

    `width` is the number of the model's features, and `names` are their names, if the model has them.
    """
    if width != len(parts):
        raise InputError(f"The model was trained with {width} features, and {len(parts)} expressions are given.")
    # LightGBM writes _ for a space.
    printed, named = ([str(name).replace(" ", "_") for name in each] for each in (parts, names))
    if named != printed and sorted(named) == sorted(printed):
        order = ", ".join(names)
        raise InputError(f"The model was trained with the features {order}; give the expressions in this order.")


def _predicted(model: Any, rows: np.ndarray) -> Any:
    """Return the prediction of a model for each row.

    For a classifier, whose classes are grades, it is the expected grade.
    """
    with warnings.catch_warnings():
        # The order of the names was compared when the part was made.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        if hasattr(model, "inplace_predict"):  # XGBoost's own class, whose `predict` takes another kind of table.
            return model.inplace_predict(rows)
        if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
            return np.asarray(model.predict_proba(rows)) @ np.asarray(model.classes_, np.float64)
        return model.predict(rows)


def _forest_of(model: Any) -> Forest | None:
    """Return the trees of a LightGBM or XGBoost model; None for other models, and for trees that Sublex cannot read."""
    from sublex.trees.lightgbm_text import from_lightgbm
    from sublex.trees.xgboost_json import from_xgboost

    if isinstance(model, Forest) or hasattr(model, "predict_proba"):
        return model if isinstance(model, Forest) else None
    try:
        if hasattr(model, "get_booster"):
            model = model.get_booster()
        if hasattr(model, "save_raw"):
            return from_xgboost(bytes(model.save_raw("json")).decode())
        model = getattr(model, "booster_", model)
        if hasattr(model, "model_to_string"):
            return from_lightgbm(model.model_to_string())
    except (UnreadModel, ValueError, KeyError):
        pass
    return None
