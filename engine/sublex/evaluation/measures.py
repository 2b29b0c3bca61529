"""Turn names of measures, as ir-measures or trec_eval write them, into measures of ir-measures.

This module refuses unknown names and measures that cannot be computed, before any run is read. ir-measures defines each
measure.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sublex.errors import InputError

if TYPE_CHECKING:
    from ir_measures import Measure

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "R@1000", "RR", "Bpref", "NumRet", "NumRel")
# The names of measures in trec_eval; messages suggest the nearest name. In some of them a cutoff follows the name, as
# in P_10.
TREC_NAMES = (
    "map", "ndcg", "ndcg_cut_10", "P_10", "recall_1000", "recip_rank", "bpref", "Rprec", "num_ret", "num_rel",
    "num_rel_ret", "success_5", "iprec_at_recall_0.10", "infAP", "set_F", "set_P", "set_recall", "set_map", "official",
)  # fmt: skip

# A trec_eval name with its cutoffs, such as ndcg_cut_10 or P.5,10.
_TREC = re.compile(r"[A-Za-z0-9_]+?([._][0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*)?")


def parse_measures(names: Iterable[str]) -> list[Measure]:
    """Return the measures with these names, in order and without repetition.

    A string may hold several names separated by spaces. A trec_eval name such as `official` or `P` may stand for
    several measures. Raise InputError for an unknown name and for a measure that cannot be computed.
    """
    chosen = dict.fromkeys(measure for name in names for part in name.split() for measure in _parse_one(part))
    if not chosen:
        raise InputError("No measure is named; name for example AP and nDCG@10.")
    _check_computable(chosen)
    return list(chosen)


def is_count(measure: Measure) -> bool:
    """Return whether the measure counts documents or topics. Its values are then summed over topics, not averaged."""
    return measure.NAME in ("NumRet", "NumRel", "NumQ")


def is_measure(value: object) -> bool:
    """Return whether a value is a measure of ir-measures, such as `ir_measures.AP @ 10`."""
    import ir_measures

    return isinstance(value, ir_measures.Measure)


def _parse_one(name: str) -> list[Measure]:
    import ir_measures

    base, at, cutoff = name.partition("@")
    known = {known.lower(): known for known in ir_measures.measures.registry}
    for spelling in (name, known.get(base.lower(), base) + at + cutoff):
        # ir-measures refuses the value of a parameter with an assertion.
        with contextlib.suppress(NameError, ValueError, AssertionError, TypeError):
            measure = ir_measures.parse_measure(spelling)
            measure.validate_params()
            return [_check_cutoff(measure, name)]
    # parse_trec_measure prints the trec_eval names that ir-measures lacks; `official` includes some.
    if _TREC.fullmatch(name):
        with contextlib.suppress(ValueError, TypeError), contextlib.redirect_stdout(io.StringIO()):
            return [_check_cutoff(measure, name) for measure in ir_measures.parse_trec_measure(name)]
    spelt = {trec.lower(): trec for trec in TREC_NAMES}
    spelt |= {known.lower(): f"{measure}{at}{cutoff}" for known, measure in ir_measures.measures.registry.items()}
    near = difflib.get_close_matches(name.lower(), spelt, 1) or difflib.get_close_matches(base.lower(), spelt, 1)
    there_are = f"did you mean {spelt[near[0]]}? There are" if near and spelt[near[0]] != name else "there are"
    raise InputError(
        f"No measure {name}; {there_are} AP, nDCG@10, P@10, R@1000, RR, Bpref, Rprec, Success@5, ERR@10 and the others of "
        "ir-measures, and trec_eval's names such as map, ndcg_cut_10 and P_10."
    )


def _check_cutoff(measure: Measure, name: str) -> Measure:
    if measure.params.get("cutoff", 1) < 1:
        raise InputError(f"The measure {name} has a cutoff below 1; write a cutoff of 1 or more.")
    return measure


def _check_computable(measures: Iterable[Measure]) -> None:
    """Raise InputError for a measure that lacks a parameter or an extra package. The message names what is missing."""
    for measure in measures:
        if _packages_for(measure) is None:
            continue
        additions = [{"rel": 1}, {"cutoff": 10}, {"rel": 1, "cutoff": 10}]
        fuller = [measure(**more) for more in additions if more.keys() <= measure.SUPPORTED_PARAMS.keys()]
        computable = [str(other) for other in fuller if _packages_for(other) is None]
        if computable:
            raise InputError(f"The measure {measure} needs a parameter; write for example {computable[0]}.")
        packages = [line for other in (measure, *fuller) for line in _packages_for(other) or ()]
        hint = f"; this package can: {packages[0]}" if packages else ""
        raise InputError(f"The installed packages cannot compute the measure {measure}{hint}.")


def _packages_for(measure: Measure) -> list[str] | None:
    """Return None if the measure can be computed, else the packages that ir-measures needs for it."""
    import ir_measures

    try:
        list(ir_measures.iter_calc([measure], {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0, "b": 0.5}}))
    except Exception as error:
        # ir-measures checks some parameters only when it computes a measure.
        return [line.strip(" -") for line in str(error).split("\n")[1:]]
    return None
