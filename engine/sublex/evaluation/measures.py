"""Measures by the names that ir-measures gives them, or trec_eval; what they mean is ir-measures' affair."""

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

DEFAULTS = ("AP", "nDCG@10", "P@10", "R@1000", "RR", "Bpref", "NumRet", "NumRel")
# What trec_eval calls them, for hints; a cutoff follows as in P_10.
TREC_NAMES = (
    "map", "ndcg", "ndcg_cut_10", "P_10", "recall_1000", "recip_rank", "bpref", "Rprec", "num_ret", "num_rel",
    "num_rel_ret", "success_5", "iprec_at_recall_0.10", "infAP", "set_F", "set_P", "set_recall", "set_map", "official",
)  # fmt: skip


# A name of trec_eval's with its cutoffs.
_TREC = re.compile(r"[A-Za-z0-9_]+?([._][0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*)?")


def parse(names: Iterable[str]) -> list[Measure]:
    """The measures of these names, each once; a name of trec_eval's such as `official` or `P` may stand for several."""
    found = dict.fromkeys(measure for name in names for part in name.split() for measure in _named(part))
    if not found:
        raise InputError("No measure is named; write for example -m AP -m nDCG@10.")
    _computable(found)
    return list(found)


def is_count(measure: Measure) -> bool:
    """Whether the measure counts things, so that topics are added up and not averaged."""
    return measure.NAME in ("NumRet", "NumRel", "NumQ")


def _named(name: str) -> list[Measure]:
    import ir_measures

    base, at, cutoff = name.partition("@")
    known = {known.lower(): known for known in ir_measures.measures.registry}
    for spelling in (name, known.get(base.lower(), base) + at + cutoff):
        # Asserting is how ir-measures refuses a parameter's value.
        with contextlib.suppress(NameError, ValueError, AssertionError, TypeError):
            measure = ir_measures.parse_measure(spelling)
            measure.validate_params()
            return [_positive(measure, name)]
    # Names that trec_eval has and ir-measures has not are printed there; `official` has some of them.
    whole = _TREC.fullmatch(name) is not None
    with contextlib.suppress(ValueError, TypeError), contextlib.redirect_stdout(io.StringIO()):
        if whole:
            return [_positive(measure, name) for measure in ir_measures.parse_trec_measure(name)]
    spelt = {trec.lower(): trec for trec in TREC_NAMES}
    spelt |= {known.lower(): f"{measure}{at}{cutoff}" for known, measure in ir_measures.measures.registry.items()}
    near = difflib.get_close_matches(name.lower(), spelt, 1) or difflib.get_close_matches(base.lower(), spelt, 1)
    hint = f"did you mean {spelt[near[0]]}? " if near and spelt[near[0]] != name else ""
    raise InputError(
        f"No measure {name}; {hint}there are AP, nDCG@10, P@10, R@1000, RR, Bpref, Rprec, Success@5, ERR@10 and others of "
        "ir-measures, and trec_eval's names such as map, ndcg_cut_10 and P_10."
    )


def _positive(measure: Measure, name: str) -> Measure:
    if measure.params.get("cutoff", 1) < 1:
        raise InputError(f"The measure {name} looks at no document; its cutoff has to be 1 or more.")
    return measure


def _computable(measures: Iterable[Measure]) -> None:
    """Some measures need a parameter, or a package beside ir-measures: say so before anything is computed."""
    for measure in measures:
        if _why_not(measure) is None:
            continue
        given = [{"rel": 1}, {"cutoff": 10}, {"rel": 1, "cutoff": 10}]
        fuller = [measure(**more) for more in given if more.keys() <= measure.SUPPORTED_PARAMS.keys()]
        computable = [str(other) for other in fuller if _why_not(other) is None]
        if computable:
            raise InputError(f"The measure {measure} lacks a parameter; write for example {computable[0]}.")
        ways = [way for other in (measure, *fuller) for way in _why_not(other) or ()]
        hint = f"; {ways[0]} computes it" if ways else ""
        raise InputError(f"The measure {measure} cannot be computed with what is installed{hint}.")


def _why_not(measure: Measure) -> list[str] | None:
    """None for a measure that can be computed, else what could be installed for it."""
    import ir_measures

    try:
        list(ir_measures.iter_calc([measure], {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0, "b": 0.5}}))
    except Exception as error:
        # ir-measures checks some parameters only when they are used.
        return [line.strip(" -") for line in str(error).split("\n")[1:]]
    return None
