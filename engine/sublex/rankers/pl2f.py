"""PL2F: PL2 on fields, which adds up the weighted frequencies of the fields, each normalised by DFR's normalisation 2.

C. Macdonald, V. Plachouras, B. He, C. Lioma and I. Ounis, University of Glasgow at WebCLEF 2005: experiments in
per-field normalisation and language specific stemming, CLEF 2005 (LNCS 4022, 2006). The defaults are Terrier's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Explanation, TermStats
from sublex.language.parameters import parameter
from sublex.rankers.dfr import AFTER, BASIC, NORM
from sublex.rankers.explanations import as_evidence, leaf, product, total
from sublex.rankers.field_weighting_model import FieldWeightingModel

POISSON, (LAPLACE, LAPLACE_FORMULA) = BASIC["P"], AFTER["L"]


@dataclass(frozen=True)
class PL2F(FieldWeightingModel):
    """PL2 on fields: Poisson and Laplace for tfn, the sum of w tf log2(1 + c mean / length) over the fields.

    C. Macdonald et al., University of Glasgow at WebCLEF 2005. The frequency cf and the number N in the Poisson model
    are those of whole documents.
    """

    normalisation = "c"
    normalisation_formula = "w tf log2(1 + c mean / length)"

    c: float | tuple[float, ...] = parameter(
        1.0, "Length normalisation of each field, or one number for all; larger values weaken it.", (0.001, 10_000),
        type=object,
    )  # fmt: skip

    def normalised(self, tf: Any, length: Any, mean: float, number: float) -> Any:
        return NORM["H2"][0](tf, mean / length, number)

    def score(self, tf: Any, doc: DocStats, term: TermStats, collection: Any) -> np.ndarray:
        tfn = self.frequency(tf, doc, collection)
        there = tfn > 0
        own = np.where(there, tfn, 1.0)
        divergence = sum(part[0] for part in POISSON(own, term, collection.docs))
        return np.where(there, LAPLACE(own, term) * divergence, 0.0)

    def explain(self, tf: Any, doc: DocStats, term: TermStats, collection: Any) -> Explanation:
        tfn = self.explained_frequency(tf, doc, collection)
        if not tfn.value:
            return leaf(0.0, f"{self}: in none of the fields", "0 if tfn = 0")
        sums = POISSON(np.float64(tfn.value), term, collection.docs)
        parts = [leaf(*part, df=term.df, cf=term.cf, N=collection.docs) for part in sums]
        gained = leaf(LAPLACE(tfn.value, term), "gain of one more occurrence", LAPLACE_FORMULA)
        return product(str(self), gained, total("divergence from randomness", *parts), as_evidence(tfn))


RANKERS = (PL2F,)
