"""The command `:sense` of the shell, which lists the senses of a word, or ranks by one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sublex
from sublex.errors import InputError
from sublex.forms.lines import Shown, records
from sublex_swg.commands import HEAD, sense_rows

USAGE = "Write :sense WORD, or :sense WORD TOPIC with a topic that :sense WORD lists."


def sense(session: Any, rest: str) -> Shown:
    """List the senses of a word by a fitted swg, or take the word in the sense of a topic from now on: :sense bank 2.

    The model is the swg in the expression, else the only one that is fitted; then it is put before the expression.
    """
    words = rest.split()
    if not words or len(words) > 2:
        raise InputError(USAGE)
    _check(session.index, words[0])
    text = str(session.pipeline())
    call = next(_calls(sublex.parse(text)), None)
    model = call or _fitted(session.index)
    query = session.query.text if session.query else ""
    rows = sense_rows(session.index, words[0], str(model), query)
    if len(words) == 1:
        session.reproduced_by("senses", "INDEX", *(["--query", query] if query else []), "--", words[0], str(model))
        return records(HEAD, rows)
    if words[1] not in [str(row[0]) for row in rows]:
        raise InputError(f"{words[0]} has no sense of the topic {words[1]}; :sense {words[0]} lists its senses.")
    others = [each for each in model.params.get("senses", ()) if each.partition(":")[0] != words[0]]
    chosen = type(model)(model.name, model.args, {**model.params, "senses": (*others, ":".join(words))})
    return session.rank_by(text.replace(str(call), str(chosen), 1) if call else f"{chosen} >> {text}")


def _check(index: sublex.Index, word: str) -> None:
    """Raise InputError for a word that no document has."""
    terms = index.analyze(word)
    if not terms:
        raise InputError(f"The analyzer leaves nothing of {word}, so it has no senses.")
    if not any(map(index.term, terms)):
        raise InputError(f"No document of {index.path} contains {word}, so it has no senses.")


def _calls(node: Any) -> Iterator[Any]:
    """Yield the calls of swg in an expression."""
    if getattr(node, "name", "") == "swg":
        yield node
    for child in node.children() if isinstance(node, sublex.Expression) else node if isinstance(node, tuple) else ():
        yield from _calls(child)


def _fitted(index: sublex.Index) -> Any:
    """Return the call of the only fitted swg; raise InputError if there is not exactly one."""
    found = [call for entry in index.fitted.values() for call in _calls(sublex.parse(entry.expression))]
    if len(found) != 1:
        problem = "Several swg are fitted; rank by one of them first" if found else "No swg is fitted; fit one first"
        raise InputError(
            f"{problem}, as in :{'rank' if found else 'fit'} swg(topics=lda(k=10)){' >> BM25' * bool(found)}."
        )
    return found[0]
