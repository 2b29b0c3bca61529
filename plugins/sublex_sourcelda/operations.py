"""The operation `match`, which puts the topics of two fitted models side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from sublex.forms.lines import Shown, records
from sublex.operations import Needs, OperationContext, operation, positional
from sublex.operations.parameters import Model

if TYPE_CHECKING:
    import numpy as np

# The end of the message for a model of another plugin.
NO_TOPICS = "has no topics to match; name a fitted lda or sourcelda"


@operation(needs=Needs.MODEL, forms=("table", "json", "csv"))
def match(
    context: OperationContext, expression: Model, other: Annotated[str, positional("OTHER", completes="model")]
) -> Shown:
    """Match the topics of two fitted models, EXPR and OTHER, one to one by their words.

    The overlap of two topics is 1 if their words are equally probable, and 0 if they share none. The largest overlap comes
    first. A topic without a partner has the overlap 0.

    Examples:
        sublex match press "sourcelda(themes, k=8, model=mixture)" "lda(k=10)"
    """
    from sublex.estimators.topics.matching import matched
    from sublex.estimators.topics.representation import TopicRepresentation

    first, second = (context.fitted_model(given, TopicRepresentation, NO_TOPICS) for given in (expression, other))
    words = sorted({*first.model.vocabulary, *second.model.vocabulary})
    partners, overlaps = matched(
        *(spread(one.model.estimator.phi_, one.model.vocabulary, words) for one in (first, second))
    )
    rows = sorted(
        (
            (round(float(overlap), 3), first.labels[topic], second.labels[partner] if partner >= 0 else "")
            for topic, (partner, overlap) in enumerate(zip(partners.tolist(), overlaps.tolist(), strict=True))
        ),
        key=lambda row: -row[0],
    )
    return records(("overlap", "topic", "partner"), rows)


def spread(phi: np.ndarray, vocabulary: Sequence[str], words: Sequence[str]) -> np.ndarray:
    """Return the probabilities of `words` in each topic, as an array of words by topics.

    `phi` has the probabilities of the words in `vocabulary`. All other words get 0.
    """
    import numpy as np

    numbers = {word: number for number, word in enumerate(words)}
    rows = np.zeros((len(words), phi.shape[1]))
    rows[[numbers[word] for word in vocabulary]] = phi
    return rows
