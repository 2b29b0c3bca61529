"""Character n-grams as a plugin: registers the representation `chars`."""

from typing import Any

from sublex.contracts.base import Param
from sublex.contracts.fitted import Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("n", int, 5, stage="fit", range=(2, 20), help="the number of characters of an n-gram"),
    Param("min_df", int, 2, stage="fit", range=(1, 10**9), help="the fewest documents that an n-gram must occur in"),
    Param(
        "k1",
        float,
        1.2,
        stage="encode",
        range=(0, 1000),
        help="saturation: larger values let repetitions of an n-gram count for more",
    ),
    Param(
        "b",
        float,
        0.75,
        stage="encode",
        range=(0, 1),
        help="length normalisation: 0 ignores a document's length, 1 applies it in full",
    ),
]


def make(**params: Any) -> Representation:
    """Return character n-grams as a term space: BM25 over the n-grams of words in place of the words.

    P. McNamee and J. Mayfield, Character n-gram tokenization for European language text retrieval, Information Retrieval 7, 2004.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_chars.representation import CharsRepresentation

    return CharsRepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `chars`: BM25 over the character n-grams of words."""
    register("chars", make, PARAMS)
