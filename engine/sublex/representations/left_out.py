"""Say why a fitted model leaves out a word of a query: the word is in no document, too rare, too common, or not learnt."""

from __future__ import annotations

from sublex.contracts.base import Resource
from sublex.index.snapshot import Snapshot
from sublex.language.plugins import Component, components_in
from sublex.tools.messages import counted


def why_left_out(snapshot: Snapshot, component: Component, term: str) -> str:
    """Return why a fitted model does not know a term, as the end of a sentence that begins with the word.

    The thresholds are the parameters `min_df` and `max_df`, of the model or else of a model that it depends on.
    """
    known = snapshot.term(term)
    if known is None:
        return "is in no document"
    named = list(components_in(component))
    for name, value in (item for each in named for item in each.values.items()):
        if name == "min_df" and known.df < value:
            return f"is in {counted(known.df, 'document')}, fewer than min_df={value}"
        if name == "max_df" and known.df > value * len(snapshot):
            return f"is in {known.df / len(snapshot):.0%} of the documents, more than max_df={value:g}"
    files = (each.values[p.name] for each in named for p in each.registration.params if p.type is Resource)
    file = next((value for value in files if value is not None), None)
    return f"is not in {file}" if file else "is not among the words that it was fitted to"
