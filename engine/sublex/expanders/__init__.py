"""The built-in expanders: one file for each family of methods, such as `rm3.py`, `rocchio.py` or `dependence.py`.

An expander takes a query and a `sublex.contracts.base.Context`, which holds the documents of a first retrieval and term
statistics. It returns a query with new weights and added terms. `sublex.pipeline` provides the context and retrieves
with the new query.
"""

from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3


@hookimpl
def register_expanders(register: Register) -> None:
    """Register the built-in expanders."""
    from sublex.expanders import axiomatic, bm25prf, burst, dependence, divergence, rm3, rocchio, sharp
    from sublex.language.parameters import params

    for family in (rm3, divergence, rocchio, axiomatic, bm25prf, sharp, burst, dependence):
        for expander in family.EXPANDERS:
            register(expander.__name__, expander, params(expander))
