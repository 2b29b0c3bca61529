"""Declarations of the parameters that all models of topics have for the comparison of a document with a query."""

from sublex.contracts.base import Param

# The value for `Param.only`: parameters of the likelihood have no effect on other scores.
LIKELIHOOD = ("score", ("likelihood",))
SCORE_PARAMS = (
    Param("score", str, "cosine", range=("cosine", "js", "likelihood"), help="how a document is compared with a query"),
    Param(
        "share",
        float,
        0.3,
        range=(0, 1),
        only=LIKELIHOOD,
        help="in a likelihood, the weight of the topics; the document's words have the rest",
    ),
    Param(
        "mu",
        float,
        1000.0,
        range=(0, 10**9),
        open=True,
        only=LIKELIHOOD,
        help="Dirichlet smoothing of the words in a likelihood",
    ),
)
