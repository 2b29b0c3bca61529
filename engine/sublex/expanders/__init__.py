"""Expanders: queries grown by the terms of the documents found first, one file a family."""

from sublex.hookspecs import Register, hookimpl

sublex_api = 2


@hookimpl
def register_expanders(register: Register) -> None:
    """The built-in expanders."""
    from sublex.expanders import axiomatic, divergence, prf, relevance, rocchio
    from sublex.parameters import params

    for family in (relevance, divergence, rocchio, axiomatic, prf):
        for model in family.MODELS:
            register(model.__name__, model, params(model))
