"""Cosines of tf·idf as a plugin: registers the representation `terms`."""

from typing import Any

from sublex.contracts.fitted import MIN_DF, Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [MIN_DF]


def make(**params: Any) -> Representation:
    """Return the vector space of the index's own terms: cosines of tf·idf, with (1 + ln tf) · ln(N / df) as weights.

    G. Salton, A. Wong and C. S. Yang, A vector space model for automatic indexing, Communications of the ACM 18(11), 1975.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_terms.representation import TermsRepresentation

    return TermsRepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `terms`: cosines of tf·idf."""
    register("terms", make, PARAMS)
