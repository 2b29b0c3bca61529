"""Turn the systems that Python code gives into `System`s: expressions, functions, runs, files, dictionaries and DataFrames."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.evaluation.systems import System, run_system
from sublex.forms.frames import is_frame
from sublex.language.expression import Expression
from sublex.language.functions import is_transformer
from sublex.language.python_parts import name_of
from sublex.language.python_rankers import is_ranker, ranker
from sublex.pipeline.index import Index
from sublex.pipeline.pipeline import Pipeline
from sublex.pipeline.stages.found import found_by
from sublex.tools.arguments import shown
from sublex.trec.given_tables import run_of
from sublex.trec.run_names import tag_of
from sublex.trec.runs import Run
from sublex.trec.topics import Topics

EXPECTED = "give an expression, a function from a query to hits, a run, a run file, a dictionary or a DataFrame"


@dataclass(frozen=True)
class Setup:
    """The index and the topics on which expressions and functions are run, and the options of running them."""

    index: Index | None
    topics: Topics | None
    k: int = 1000
    profile: str | None = None
    workers: int | None = None
    fresh: bool = False
    language: str = "plain"


def systems_of(given: Any, setup: Setup) -> list[System]:
    """Return the systems that the user gives: one, several, or a dictionary of several by name.

    Runs are cut at `setup.k` hits.
    """
    if _is_one(given):
        return [system_of(given, setup)]
    if isinstance(given, Mapping):
        named = [(name, system_of(source, setup)) for name, source in given.items()]
        return [system._replace(name=str(name)) for name, system in named]
    if not isinstance(given, Iterable) or isinstance(given, (bytes, bytearray)):
        raise InputError(f"The systems are {shown(given)}; {EXPECTED}, or a list of them.")
    systems: list[System] = []
    for number, source in enumerate(given, 1):
        system, taken = system_of(source, setup, f"run {number}"), {system.name for system in systems}
        # A run file whose tag is the name of another system is named by its path, as on the command line.
        is_file = system.milliseconds is None and isinstance(source, (str, os.PathLike))
        systems.append(system._replace(name=os.fspath(source)) if is_file and system.name in taken else system)
    return systems


def _is_one(given: Any) -> bool:
    """Return whether the user gives a single system.

    A dictionary is a single system if its values are dictionaries of scores.
    """
    if isinstance(given, Run) or not isinstance(given, Mapping):
        one = (str, os.PathLike, Expression, Pipeline, Run)
        return (
            isinstance(given, one)
            or callable(given)
            or is_ranker(given)
            or is_frame(given)
            or hasattr(given, "to_dict")
        )
    return all(
        isinstance(hits, Mapping) and all(isinstance(score, (int, float, np.number)) for score in hits.values())
        for hits in given.values()
    )


def system_of(source: Any, setup: Setup, name: str = "run") -> System:
    """Return one system. A run without a name gets the name `name`."""
    if isinstance(source, str) and _is_path(source, setup.index is not None):
        source = Path(source)
    if is_ranker(source):
        source = ranker(source)
    if isinstance(source, (str, Expression, Pipeline)):
        return _ranked(source, setup)
    if is_transformer(source) and not is_frame(source):  # A DataFrame has a method transform too.
        return _transformed(source, setup)
    if callable(source) and not isinstance(source, Mapping):
        return _called(source, setup)
    if source is None or isinstance(source, (bytes, bytearray, int, float)):
        raise InputError(f"The system {shown(source)} cannot be run; {EXPECTED}.")
    run = run_of(source, name)
    return System(run.tag or name, run.top(setup.k))


def _is_path(text: str, has_index: bool) -> bool:
    """Return whether a text is the path of a run file. Otherwise it is an expression.

    The text is a path if it has a folder separator, if it ends in .run or .gz, or if there is a file with this name. If
    there is an index, the name of the file must have a dot, so that a file called BM25 does not hide the ranker. In
    brackets an expression may name folders, as in cross(onnx("models/minilm")).
    """
    looks = os.sep in text.partition("(")[0] or text.endswith((".run", ".gz"))
    return looks or (os.path.isfile(text) and ("." in text or not has_index))


def _ranked(source: str | Expression | Pipeline, setup: Setup) -> System:
    """Return the system of an expression or pipeline: run it on the index, or read its run from the cache."""
    index, topics = setup.index, setup.topics
    if index is None or topics is None:
        raise InputError(f"{source} cannot be run without an index and topics; give both, or runs alone.")
    pipeline = index.pipeline(source, setup.profile)
    if pipeline.snapshot.generation != index.generation:
        raise InputError(f"The pipeline {pipeline} belongs to an earlier generation of {index.path}; make it again.")
    return run_system(index, topics, pipeline, setup.k, setup.workers, fresh=setup.fresh, language=setup.language)


def _called(function: Callable[[str], Any], setup: Setup) -> System:
    """Call a function with the text of each topic, and return the hits that it returns as a system with the function's name."""
    name = name_of(function)
    if setup.topics is None:
        raise InputError(f"The function {name} cannot be run without topics; give them.")
    if not _takes_one(function):
        raise InputError(
            f"The function {name} does not take a query alone; to score documents with it, write "
            f'"BM25 % 100" >> sublex.rerank({name}).'
        )
    seconds, hits = [], {}
    for topic in setup.topics:
        begin = time.perf_counter()
        found = function(topic.text)
        seconds.append(time.perf_counter() - begin)
        hits[topic.qid] = dict(found_by(f"The function {name}", found))
    run = run_of(hits, tag_of(name))
    return System(name, run.top(setup.k), np.array(seconds, np.float32) * 1000)


def _transformed(transformer: Any, setup: Setup) -> System:
    """Run a PyTerrier transformer on all topics, and return its hits as a system with the name that PyTerrier prints."""
    name = str(transformer)
    if setup.topics is None:
        raise InputError(f"The transformer {name} cannot be run without topics; give them.")
    run = run_of(transformer.transform(setup.topics.to_pandas()), tag_of(name))
    return System(name, run.top(setup.k))


def _takes_one(function: Callable[..., Any]) -> bool:
    """Return whether a function can be called with one argument. Return True if Python cannot tell."""
    try:
        inspect.signature(function).bind("query")
    except TypeError:
        return False
    except ValueError:
        return True
    return True
