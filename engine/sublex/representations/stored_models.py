"""Read the fitted models of an index: load a model, sum its token counts, and tell about absent or damaged models.

The module reads the manifest's entries and the folders below `representations/`. It does not fit or write models; `fitting` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sublex.contracts.fitted import Fittable
from sublex.errors import IndexCorrupt, SublexError, contract
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry, ModelEntry, SeenEntry, TokenCounts
from sublex.index.manifest import REPRESENTATIONS
from sublex.index.remedies import add_again, fit_again
from sublex.representations.identity import ModelIdentity, Namer
from sublex.representations.model_store import DeclaredValues, StoreReader
from sublex.tools.messages import Message, Step

# The folder of a model within its folder below `representations/`; rows lie next to it.
MODEL = "model"
# A message lists this number of fitted models before "and N more".
LISTED_MODELS = 8


def load_model(root: Path, entry: ModelEntry, identity: ModelIdentity, model: Fittable) -> None:
    """Load the files of a fitted model into `model`, which is not fitted yet.

    `entry` is the model's entry in the manifest. Raises `IndexCorrupt`, with the commands that repair the index, for damaged files.
    """
    vectors = next(iter(entry.resources), "") if getattr(model, "reads", "") == "rows" else ""
    with contract(identity.kind, identity.expression), advising_refit(root, entry.expression, vectors):
        load_values(Directory(root) / REPRESENTATIONS / identity.model / MODEL, entry.model, model)


def load_values(folder: Directory, entry: FolderEntry, model: Fittable) -> None:
    """Load the values in a folder into `model`.

    Raise `IndexCorrupt`, which names the folder, if the values do not fit the model's declarations.
    """
    store, declared = StoreReader(folder, entry), model.declares()
    try:
        model.load(DeclaredValues(store, declared) if declared else store)
    except IndexCorrupt as error:
        if str(folder.path) in str(error):
            raise
        raise IndexCorrupt(f"{folder.path}: {error}") from None


@contextmanager
def advising_refit(root: Path, expression: str, vectors: str = "") -> Iterator[None]:
    """If the block raises `IndexCorrupt`, add the commands that make the model again to the message.

    `vectors` is the name of the vectors that a model of given vectors has. A model without such vectors is fitted
    again.
    """
    try:
        yield
    except IndexCorrupt as error:
        damage = str(error).rpartition(";")[0] or str(error)
        again = add_again(root, vectors) if vectors else fit_again(root, expression, expression)
        raise IndexCorrupt(Message(f"{damage}; run: ", *again)) from None


def expressions_of(entry: ModelEntry) -> list[str]:
    """Return the expressions of a fitted model: one for each set of its rows, or its own if it has no rows."""
    return sorted(rows.expression for rows in entry.rows.values()) or [entry.expression]


def not_fitted(root: Path, expression: Any, fitted: Mapping[str, ModelEntry], advise: bool = True) -> str:
    """Return the message for a model that is not fitted. With `advise`, it ends with the command that fits the model."""
    advice = (" Run: ", Step("fit", root, expression)) if advise else ()
    if any(str(expression) == entry.expression for entry in fitted.values()):
        changed = "with another version of the plugin, another default, or a file that has changed since."
        return Message(f"{expression} was fitted in {root.name} {changed}", *advice)
    return Message(f"No {expression} in {root.name}; fitted: {_listed(expression, fitted)}.", *advice)


def not_a_model(root: Path, expression: Any, fitted: Mapping[str, ModelEntry]) -> str:
    """Return the message for an expression, such as BM25, that is given where a fitted model is needed."""
    if not fitted:
        problem = f"{expression} is not a single fitted model, and {root.name} has none; fit one: "
        return Message(problem, Step("fit", root, "lsi(e=100)"))
    return f"{expression} is not a single fitted model; name one that is fitted in {root.name}: {_listed(expression, fitted)}."


def _listed(expression: Any, fitted: Mapping[str, ModelEntry]) -> str:
    """Return the expressions of some fitted models, separated by commas.

    Those of the component in `expression` come first.
    """
    name = str(expression).partition("(")[0]
    others = {entry.expression: entry.expression.partition("(")[0] != name for entry in fitted.values()}
    expressions = sorted(others, key=lambda text: (others[text], text))
    more = f" and {len(expressions) - LISTED_MODELS:,} more" if len(expressions) > LISTED_MODELS else ""
    return (", ".join(expressions[:LISTED_MODELS]) or "nothing") + more


def outdated_models(names: Namer, fitted: Mapping[str, ModelEntry]) -> dict[str, str]:
    """Return the reasons why models are outdated, by the names of the models on disk. Other models are left out.

    A model is outdated if its expression now leads to a model with another name on disk, or to an error.
    """
    known: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for name, entry in fitted.items():
        try:
            component = names.resolve(entry.expression)
            model = names.make(component)
            if model.version != entry.version:
                reasons[name] = f"fitted by version {entry.version} of the plugin, which is now {model.version}"
            elif names.identity(component, model, known).model != name:
                reasons[name] = "a file or a model that it uses, or the default of a parameter, has changed"
        except SublexError as error:
            reasons[name] = str(error)
    return reasons


def token_counts(entry: ModelEntry, segments: Collection[str] = ()) -> SeenEntry:
    """Return the token counts of a model over some segments, by default all."""
    seen = [seen for name, seen in entry.seen.items() if not segments or name in segments]
    added = TokenCounts(sum(s.added.tokens for s in seen), sum(s.added.unknown for s in seen))
    return SeenEntry(sum(s.tokens for s in seen), sum(s.unknown for s in seen), added)
