"""Ranking: weighting models, one file a family, and retrieval by them."""

from sublex.hookspecs import Register, hookimpl

sublex_api = 2


@hookimpl
def register_rankers(register: Register) -> None:
    """The built-in rankers."""
    from sublex.parameters import params
    from sublex.rankers import bm25, coordinate, dfi, dfr, hypergeometric, information, language, tfidf

    for family in (tfidf, bm25, dfr, hypergeometric, dfi, information, language, coordinate):
        for model in family.MODELS:
            register(model.__name__, model, params(model))
