"""The built-in rankers: one file for each family of formulas, such as `bm25.py` or `dfr.py`.

A ranker takes arrays of term and document statistics and returns arrays of scores, as `sublex.contracts.base.Ranker`
describes. It reads no index and no files. `sublex.retrieval` reads the statistics, calls the rankers, and finds the top k
documents.
"""

from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3


@hookimpl
def register_rankers(register: Register) -> None:
    """Register the built-in rankers."""
    from sublex.language.parameters import params
    from sublex.rankers import (
        bm25,
        bm25f,
        coordination_level,
        dfi,
        dfr,
        dfr_parameter_free,
        information_based,
        language_models,
        pl2f,
        tfidf,
    )

    first = (tfidf, bm25, dfr, dfr_parameter_free)
    with_fields = (bm25f, pl2f)
    for family in (*first, dfi, information_based, language_models, coordination_level, *with_fields):
        for ranker in family.RANKERS:
            register(ranker.__name__, ranker, params(ranker))
