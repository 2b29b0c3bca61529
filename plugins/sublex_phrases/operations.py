"""The operation `phrases`, which lists the phrases of an index with their quality and features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from sublex.forms.lines import Shown, table_lines
from sublex.operations import Needs, OperationContext, operation, option
from sublex.operations.parameters import Model

if TYPE_CHECKING:
    from sublex.estimators.phrases.phrase_list import PhraseList

# Phrases in a table when the user gives no number.
TABLE_PHRASES = 50
NO_PHRASES = "has no phrases; name fitted phrases, such as phrases(support=10)"


@operation(needs=Needs.MODEL, forms=("table", "json", "csv"))
def phrases(
    context: OperationContext,
    expression: Model,
    number: Annotated[int | None, option("-n", "--number", least=1, shown="50 in a table, else all")] = None,
    words: Literal["several", "one"] | None = None,
) -> Shown:
    """List the phrases of an index with their quality: those of several words, then single words, both best first.

    EXPR names the model. A table shows for each phrase its mentions, its abbreviations, and other forms in which it is
    written. CSV and JSON add all features. You may edit the file and fit its phrases: phrases(list="FILE").

    Args:
        number: Phrases to list.
        words: List phrases of several words, or single words.

    Examples:
        sublex phrases animals "phrases(support=3)"
        sublex phrases animals "phrases(support=3)" --format csv > phrases.csv
    """
    from sublex_phrases.expander import Phrases

    found = context.fitted_model(expression, Phrases, NO_PHRASES).model.phrases
    lengths = found.lengths
    chosen = [k for k in range(len(found)) if words is None or (lengths[k] > 1) == (words == "several")]
    short = [_record(found, k, True) for k in chosen[: number or TABLE_PHRASES]]
    full = [_record(found, k, False) for k in chosen[:number]]
    few = ("phrase", "quality", "mentions")
    return Shown(
        lambda: table_lines([tuple(record.values()) for record in short], tuple(short[0]) if short else few),
        lambda: full,
        tuple(full[0]) if full else few,
        [tuple(map(_joined, record.values())) for record in full],
    )


def _record(found: PhraseList, phrase: int, short: bool) -> dict[str, Any]:
    """Return a phrase as the values of a row: with `short` those of a table, else all that the model knows of it."""
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
    """Return a value as it stands in a cell: texts with their counts become one string, other values stay."""
    return "; ".join(f"{text} ({count})" for text, count in value.items()) if isinstance(value, dict) else value
