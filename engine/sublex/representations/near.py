"""The component `near`: a fitted graph of each document's nearest documents, over which a stage smooths scores.

The graph is over the vectors of another representation. This file has the parameters and what is fitted; `neighbours` finds
the neighbours, `graph` reads them, and `sublex/pipeline/stages/near.py` scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sublex.contracts.base import Context, Param, Statistics
from sublex.contracts.fitted import Corpus, Cost, Fittable, Job, Store, Stored, View
from sublex.contracts.stored import Declared, Json
from sublex.errors import InputError
from sublex.language.expression import Expression
from sublex.representations.neighbours import EXACT, MOST, STORED
from sublex.representations.sketch import similarity_of

# Seconds on one core for a pair of documents that is compared, and for a document that is compared by a sketch.
PER_PAIR, PER_DOCUMENT = 1e-8, 5e-3

PARAMS = (
    Param("over", Expression, ..., stage="fit", help="The representation whose vectors tell which documents are near."),
    Param("k", int, 10, range=(1, MOST), help="The number of nearest documents."),
    Param("own", float, 0.8, range=(0, 1), help="The weight of a document's own score; that of the others is 1 - own."),
    Param("add", bool, False, help="Whether documents come in that the stages before did not find."),
)


class Near(Fittable):
    """The hits of the stages before it, each scored by its own score and by the scores of its nearest documents.

    The nearest documents are those with the highest cosines of the vectors of a fitted representation. The new score is
    `own` times the document's score, plus 1 - `own` times the mean score of its `k` nearest documents, each weighted by its
    cosine. A nearest document that the stages before did not find counts as the lowest hit. A document without near ones
    keeps its score. With `add`, the nearest documents of the hits are scored too, so documents come in that the stages
    before did not find: S. MacAvaney, N. Tonellotto and C. Macdonald, Adaptive Re-Ranking with a Corpus Graph, 2022.

    That documents which are near each other answer the same queries is the cluster hypothesis of C. van Rijsbergen,
    Information Retrieval, 1979; F. Diaz, Regularizing ad hoc retrieval scores, 2005, smooths scores in this way.
    """

    # The engine runs it as a stage of its own: it looks at all hits.
    per_document = False

    def __init__(self, over: Expression, k: int, own: float, add: bool):
        self.over, self.k, self.own, self.add = over, k, own, add

    def depends(self) -> Sequence[Expression]:
        """Return the representation of the vectors."""
        return (self.over,)

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Check that the representation compares vectors. The engine finds the neighbours afterwards, by segment."""
        expect_vectors(self.over, job.model(self.over))

    def save(self, store: Store) -> None:
        """Store the number of neighbours in the lists."""
        store.put("stored", STORED)

    def load(self, store: Stored) -> None:
        """Check the number of neighbours in the lists."""
        if store.get("stored") != STORED:
            raise InputError(f"The lists of neighbours do not have {STORED} documents; fit the graph again.")

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of the number of neighbours."""
        return {"stored": Json(int)}

    def cost(self, collection: Statistics, terms: int) -> Cost:
        """Return the time to compare all pairs of documents, or each document with a sketch, and the bytes of the lists."""
        pairs = collection.docs**2
        seconds = PER_PAIR * pairs if pairs <= EXACT else PER_DOCUMENT * collection.docs
        return Cost(seconds, 8 * STORED * collection.docs)

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the number of neighbours that are stored for each document and pair of segments."""
        return {"neighbours in a list": STORED}

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Keep all documents."""
        return np.ones(len(docs), bool)


def expect_vectors(over: Expression, model: Any) -> None:
    """Raise InputError unless the scores of a representation are a similarity of vectors."""
    if not similarity_of(model):
        raise InputError(f"near({over}) needs vectors of documents, and {over} compares none; name lsi, for example.")
