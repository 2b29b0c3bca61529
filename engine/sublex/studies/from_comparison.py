"""Write a finished comparison as a study file, so that it can be run again and checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sublex.contracts.base import NO_FIELDS
from sublex.errors import InputError
from sublex.language.names import given_name
from sublex.studies.new_study import place
from sublex.studies.study_plans import ComparePlan
from sublex.studies.study_values import NAME
from sublex.studies.write_study import table, text, value
from sublex.tools.messages import Message, Step


class ComparedSystems(NamedTuple):
    """A comparison: the index at `place`, files of topics and judgements with their options, expressions and run files.

    `profile` is that of all expressions. `options` are the options of the comparison, named as in the table [compare]
    of a study.
    """

    place: Path | None
    topics: str
    qrels: str
    rankers: Sequence[str]
    runs: Sequence[str] = ()
    fields: str = "title"
    contradictions: str = "error"
    language: str = "plain"
    collapse: str = ""
    profile: str | None = None
    options: Mapping[str, Any] = NO_FIELDS


def check_savable(compared: ComparedSystems) -> None:
    """Raise InputError for a comparison that cannot be a study: it lacks an index, or files of topics or judgements."""
    if compared.place is None or not compared.topics or not compared.qrels:
        raise InputError(
            "A study needs an index, and files of topics and judgements; compare INDEX TOPICS QRELS to save one."
        )


def study_of_comparison(file: str, compared: ComparedSystems) -> tuple[str, str]:
    """Return the text of a study that makes a comparison again, and the sentence that says how to run it."""
    check_savable(compared)
    assert compared.place is not None
    folder, name = Path(os.path.abspath(file)).parent, compared.place.name
    name = name if NAME.fullmatch(name) else "index"
    index, defaults = place(folder, str(compared.place)), compared._field_defaults
    topics = {"file": place(folder, compared.topics), "qrels": place(folder, compared.qrels)}
    given = {key: getattr(compared, key) for key in ("fields", "contradictions", "language")}
    topics |= {key: each for key, each in given.items() if each != defaults[key]}
    if compared.collapse:
        topics["collapse"] = place(folder, compared.collapse)
    options = {
        key: _listed(each)
        for key, each in compared.options.items()
        if _listed(each) != _listed(getattr(ComparePlan(), key))
    }
    content = "\n".join(
        [
            f"# A comparison as a study. Paths begin in the folder of this file.\ntitle = {text(Path(file).stem)}\n",
            table("indexes", {name: index}),
            table("topics", topics),
            "# The first system is the baseline.",
            _systems(compared, folder),
            *([table("compare", options)] if options else []),
        ]
    )
    outside = [os.path.dirname(path) for path in (*topics.values(), *compared.runs) if os.path.isabs(path)]
    outside += [index] if os.path.isabs(index) else []
    step = Step("study", file, allow=tuple(dict.fromkeys(outside)) or None)
    return content, Message(f"{file} is written; to run it: ", step)


def _systems(compared: ComparedSystems, folder: Path) -> str:
    """Return the table of systems in TOML: expressions, each under its own text as its name, and run files."""
    rows = ["[systems]"]
    for ranker in compared.rankers:
        name, expression = given_name(ranker) or (ranker, ranker)
        own = value(expression)
        if compared.profile:
            own = f"{{expression = {own}, profile = {value(compared.profile)}}}"
        rows.append(f"{text(name)} = {own}")
    rows += [f"{text(path)} = {{run = {value(place(folder, path))}}}" for path in compared.runs]
    return "\n".join([*rows, ""])


def _listed(given: Any) -> Any:
    return list(given) if isinstance(given, (tuple, list)) else given
