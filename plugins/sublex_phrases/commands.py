"""The command `phrases`, which lists the phrases of an index with their quality and features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sublex.cli.plugin_commands import (
    fitted_model,
    format_option,
    index_argument,
    model_argument,
    open_index,
    print_records,
)

if TYPE_CHECKING:
    from sublex.estimators.phrases.phrase_list import PhraseList

# Phrases in a table when the user gives no number.
TABLE_PHRASES = 50
NO_PHRASES = "has no phrases; name fitted phrases, such as phrases(support=10)"


@click.command()
@index_argument
@model_argument
@click.option("-n", "--number", type=click.IntRange(1), show_default="50 in a table, else all", help="Phrases to list.")
@click.option("--words", type=click.Choice(["several", "one"]), help="List phrases of several words, or single words.")
@format_option("table", "json", "csv")
def phrases(name: str, expression: str, number: int | None, words: str | None, form: str) -> None:
    """List the phrases of an index with their quality: those of several words, then single words, both best first.

    EXPR names the model. A table shows for each phrase its mentions, its abbreviations, and other forms in which it is written. CSV and
    JSON add all features. You may edit the file and give it back: phrases(list="FILE").

    \b
      sublex phrases animals "phrases(support=3)"
      sublex phrases animals "phrases(support=3)" --format csv > phrases.csv
    """
    from sublex_phrases.expander import Phrases

    index = open_index(name, allow_uncovered=True)
    found = fitted_model(index, expression, Phrases, NO_PHRASES).model.phrases
    lengths = found.lengths
    chosen = [k for k in range(len(found)) if words is None or (lengths[k] > 1) == (words == "several")]
    number = TABLE_PHRASES if number is None and form == "table" else number
    records = [_record(found, k, form == "table") for k in chosen[:number]]
    head = list(_record(found, chosen[0], form == "table")) if chosen else ["phrase", "quality", "mentions"]
    if form in ("csv", "spreadsheet"):
        records = [{key: _joined(value) for key, value in record.items()} for record in records]
    print_records(form, head, [tuple(record.values()) for record in records])


def _record(found: PhraseList, phrase: int, short: bool) -> dict[str, Any]:
    """Return what is known of a phrase, or only what a table has room for."""
    from sublex.estimators.phrases.phrase_list import NAMES

    name, abbreviations = found.names[phrase], found.abbreviations[phrase]
    forms = found.forms[phrase][1:]
    record: dict[str, Any] = {
        "phrase": name,
        "quality": round(float(found.quality[phrase]), 3),
        "mentions": int(found.mentions[phrase]),
    }
    if short:
        texts = {"abbreviations": abbreviations, "other forms": forms}
        return record | {key: ", ".join(text for text, _ in items) for key, items in texts.items()}
    values = found.features[phrase].tolist()
    record |= {"count": int(found.counts[phrase]), "words": int(found.lengths[phrase])}
    record |= {"abbreviations": dict(abbreviations), "forms": dict(found.forms[phrase])}
    return record | {key: round(value, 4) for key, value in zip(NAMES, values, strict=True) if key != "words"}


def _joined(value: Any) -> Any:
    """Return the texts and counts of a record's member as one text for a cell."""
    return "; ".join(f"{text} ({count})" for text, count in value.items()) if isinstance(value, dict) else value
