"""Compile the kernels that a command needs before it begins, and tell the user about it.

The machine code is stored, so later commands start at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sublex.faces.output import say
from sublex.faces.progress import progress
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.tools.compile_kernels import Job

# The kernels that commands need: rooms, and packages of plugins, each with names of kernels.
NOTHING: dict[str, str] = {}
ANALYZE = {"analysis": "tokenize porter"}
SEARCH = {
    **ANALYZE,
    "index": "find_strings decode_terms", "retrieval.coding": "find_pairs put_documents put_impacts",
    "retrieval": "retrieve", "retrieval.keys": "unpack",
}  # fmt: skip
BUILD = {
    "analysis": "tokenize porter intern describe refill sort_alike copy_strings",
    "index": "count_terms invert_batch join_lists document_lists choose_surfaces encode_postings",
}
# The kernels that number the terms of several segments, in the room `analysis`.
TERMS = "describe intern refill sort_alike copy_strings"
REORDER = {
    "index": "decode_terms decode_lists encode_lists encode_postings",
    "building.reorder": "list_terms half bisect move",
}
NUMBERED = {**SEARCH, "analysis": "tokenize porter intern describe"}
# Many queries to an index with a large segment need these kernels, and those of SEARCH.
BLOCKS = {"retrieval.coding": "read_list", "retrieval.blocks": "fill"}
# A search of an index with stored impacts needs these kernels, and those of SEARCH.
STORED = {"retrieval.coding": "sound"}
READ_RUNS = {"analysis": "intern describe", "trec": "split parse"}
NEEDED = {
    "index": BUILD, "add": BUILD,
    "delete": {"index": "decode_terms count_dead"},
    "merge": {
        "analysis": TERMS,
        "index": "decode_terms decode_lists merge_postings choose_surfaces encode_lists encode_postings",
    },
    "check": {"index": "decode_terms decode_lists"},
    "analyze": ANALYZE, "search": SEARCH, "tune": SEARCH, "compare": NUMBERED,
    "explain": {**SEARCH, "retrieval.rescoring": "rescore"},
    "run": {**SEARCH, "trec": "shortest write classify"},
    "eval": READ_RUNS, "fuse": {**READ_RUNS, "trec": "split parse shortest write classify"},
    "shell": {**SEARCH, "retrieval.rescoring": "rescore"},
    "export": {"analysis": TERMS, "index": "decode_terms merge_postings", "other_engines.ciff": "encode_lists encode_documents"},
    "import": {
        "analysis": "tokenize porter intern describe", "other_engines.ciff": "split decode_lists decode_documents",
        "index": "check_postings encode_postings decode_terms collect_terms encode_lists",
    },
    "info": NOTHING, "phrases": NOTHING,
    "keyphrases": {
        "analysis": "tokenize porter intern describe mark_breaks", "estimators.phrases": "find_longest segment hash_keys",
        "sublex_laki.estimator": "cut", "sublex_laki.estimator.sampling": "sample",
    },
    "silhouette": NOTHING, "hierarchy": NOTHING,
    "lint": {"analysis": "intern describe", "trec": "split classify", "lint": "fold"},
    "demo": {
        **SEARCH, "analysis": BUILD["analysis"], "index": f"{BUILD['index']} {SEARCH['index']} decode_lists", "readers": "scan",
        "representations": "dot products", "estimators": "gram dots advance turn similarities",
        "estimators.lda": "sweep fold_in", "sublex_swg.estimator": "neighbourhoods",
        "sublex_fisher": "fisher similarities", "sublex_dcot": "affine",
    },
}  # fmt: skip


def say_if_compiling(
    command: str, index: Index | None = None, once: bool = False, *, reorder: bool = False, sources: Sequence[str] = ()
) -> None:
    """Compile what a command needs and is not yet compiled, and print what happens on standard error.

    A command that searches `index` names it, so that kernels for stored impacts and for large indexes are compiled, too. With `once`,
    the command searches each term only once, which needs no kernels for large indexes. `reorder` and `sources` are options of
    commands that build. A kernel that is not foreseen here is compiled when it is called; a line on standard error says that too.
    """
    needed = NEEDED.get(command, {})
    if needed is NOTHING:
        return
    from sublex.tools.compile_kernels import jobs_of

    jobs = _jobs(_joined(needed, *_of_index(index, once))) + (_jobs(REORDER) if reorder else [])
    if _has_json(sources):
        jobs += jobs_of("sublex.readers.kernels", ["scan"])
    compile_missing(jobs)
    _announce_others()


def compile_quietly(command: str, index: Index, say_status: Callable[[str], None]) -> None:
    """Compile what a command needs for an index and is not yet compiled, and print nothing; `say_status` gets a few words meanwhile."""
    from sublex.tools.compile_kernels import compile_all, missing, processors

    left = missing(_jobs(_joined(NEEDED[command], *_of_index(index))))
    if left:
        say_status(f"compiling {counted(len(left), 'kernel')}, once")
        compile_all(left, min(len(left), processors()), lambda: None)


def _of_index(index: Index | None, once: bool = False) -> list[Mapping[str, str]]:
    """Return the kernels that a search needs because of the size of an index and its stored impacts, as tables like those above."""
    if index is None:
        return []
    from sublex.retrieval.blocks.blocks import FEWEST
    from sublex.retrieval.impact_store import declared

    stored: list[Mapping[str, str]] = [STORED] if declared(index.path) else []
    large = any(segment.docs >= FEWEST for segment in index.snapshot.segments)
    return [*stored, BLOCKS] if large and not once else stored


def _joined(*tables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the kernels of all tables as one table; a room that several tables have gets the kernels of all of them."""
    rooms = dict.fromkeys(room for table in tables for room in table)
    return {room: " ".join(table[room] for table in tables if room in table) for room in rooms}


def _jobs(needed: Mapping[str, str]) -> list[Job]:
    """Return the kernels of rooms, given as names of kernels by room, as jobs."""
    from sublex.tools.compile_kernels import jobs_of

    return [job for room, names in needed.items() for job in jobs_of(module_of(room), names.split())]


def module_of(room: str) -> str:
    """Return the module with the kernels of a room of Sublex, or of a package of plugins."""
    return f"{room}.kernels" if room.startswith("sublex_") else f"sublex.{room}.kernels"


def compile_missing(jobs: Iterable[Job]) -> bool:
    """Compile the kernels whose machine code is not on disk, in parallel, and return whether there were any."""
    from sublex.tools.compile_kernels import compile_all, missing, processors

    left = missing(jobs)
    if not left:
        return False
    begin = time.monotonic()
    kernels, processes = counted(len(left), "kernel"), min(len(left), processors())
    say(f"Compiling {kernels} on {counted(processes, 'processor')}, {_fate(left)}.")
    with progress("Compiling", "kernels", len(left)) as advance:
        done = 0

        def count() -> None:
            nonlocal done
            done += 1
            advance(done)

        compile_all(left, processes, count)
    say(f"Compiled {kernels} in {time.monotonic() - begin:.1f} s.")
    return True


def _has_json(sources: Iterable[str]) -> bool:
    """Return whether a source looks like JSON lines by its name or by the names of the files in it. A guess only costs time."""
    return any(
        ".json" in name.lower()
        for source in sources
        for name in (source, *(os.listdir(source) if os.path.isdir(source) else ()))
    )


def _fate(jobs: Sequence[Job]) -> str:
    """Return whether the machine code outlives this command, as the end of a sentence."""
    from sublex.tools.compiled import is_temporary

    if is_temporary(jobs[0].kernel()):
        return "for this command only; name a folder in NUMBA_CACHE_DIR that can be written to"
    return f"{'which is' if len(jobs) == 1 else 'which are'} then stored for every later command"


def _announce_others() -> None:
    """Print a line when Numba compiles a kernel that was not foreseen."""
    from numba.core import event

    class Listener(event.Listener):
        """Announces the first compilation."""

        announced = False

        def on_start(self, event: Any) -> None:
            """Announce that a compilation has started, once."""
            if not self.announced:
                say("Compiling another kernel, which takes a second or two.")
            self.announced = True

        def on_end(self, event: Any) -> None:
            """Do nothing when a compilation ends."""

    event.register("numba:compile", Listener())
