"""The subject of checks: a registered component, the object that its factory makes, and indexes of the demo collection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import sublex
from sublex.contracts.base import Document, Explanation, Query
from sublex.errors import InputError, SublexError
from sublex.language import plugins
from sublex.language.expression import Call
from sublex.language.parser import parse
from sublex.language.plugins import Component, Registration
from sublex.pipeline.compose import Composer
from sublex.pipeline.index import Index
from sublex.retrieval.feedback import Feedback
from sublex.retrieval.hits import Hits
from sublex.tools.demo_collection import demo_folder
from sublex.tools.messages import in_short

# The ranker that finds documents for expanders and filters. The plugin is named, because another may also have a BM25.
BM25 = "rankers:BM25"
QUERIES = ("cranes by the river", "bank", "seal seal pup")
# The kinds of components in the order in which a name is looked up: first those that expressions can contain.
KINDS = (*plugins.COMPONENTS, *(kind for kind in plugins.KINDS if kind not in plugins.COMPONENTS))
# The number of documents of the demo collection that are indexed first in checks that add the other documents later.
SPLIT = 150
# The documents of the demo collection get years as a field, in turn. These are the first year and the number of years.
FIRST_YEAR, YEARS = 1990, 35


class Subject:
    """A component to check: its expression, and a folder for the indexes that the checks build.

    `kind` is the kind of the component, such as "reader". It is needed only if components of several kinds have the
    name.
    """

    def __init__(self, expression: str, folder: str | os.PathLike[str], kind: str = ""):
        self.expression, self.folder = expression, Path(folder)
        self.kind = kind or kind_of(expression)

    @cached_property
    def registry(self) -> plugins.Registry:
        """The installed plugins."""
        return plugins.load()

    @cached_property
    def registration(self) -> Registration:
        """The component as its plugin registered it."""
        return self.registry.find(self.kind, call_of(self.expression).name)

    @cached_property
    def component(self) -> Component:
        """The component with a value for each parameter."""
        return self.registry.resolve(self.kind, call_of(self.expression))

    @cached_property
    def made(self) -> Any:
        """The object that the factory makes. For a fitted expander, filter or smoother, it is the fitted object."""
        if self.kind in ("expander", "filter", "smoother"):
            return self.composer.made(self.component)
        return self.component.make()

    @cached_property
    def documents(self) -> list[Document]:
        """The documents of the demo collection, with the fields `theme` and `year`."""
        rows = map(json.loads, (demo_folder() / "documents.jsonl").read_text(encoding="utf-8").splitlines())
        return [
            Document(row["id"], row["text"], row["title"], {"theme": row["theme"], "year": str(FIRST_YEAR + n % YEARS)})
            for n, row in enumerate(rows)
        ]

    def build(self, name: str, documents: list[Document] | None = None, fields: Sequence[str] = ()) -> Index:
        """Build an index of some documents, by default of all, in a folder with this name, and return it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # Expanders may add phrases and windows.
        store = "text,terms,positions" if self.kind == "expander" else "text,terms"
        more: dict[str, Any] = {"fields": list(fields)} if fields else {}
        return sublex.build(documents or self.documents, self.folder / name, store=store, overwrite=True, **more)

    @cached_property
    def index(self) -> Index:
        """An index of all documents. The component, or the models that it names, are fitted to it."""
        index = self.build("whole")
        if self.kind in plugins.COMPONENTS:
            for model in Composer(index.snapshot).unfitted(self.component):
                index.fit(model)
        return index

    @cached_property
    def composer(self) -> Composer:
        """The composer for the index."""
        return Composer(self.index.snapshot)

    def context(self, hits: Hits, query: Query | None = None) -> Feedback:
        """Return the context that an expander or a filter gets for the hits of a query."""
        return Feedback(hits, self.composer.term_table, self.composer.models(self.component), original=query)

    def hits(self, text: str, k: int = 1000) -> Hits:
        """Return the documents that BM25 finds, as input for a filter or an expander."""
        return self.index.search(text, BM25, k=k)


def call_of(expression: str) -> Call:
    """Return an expression as a call. Raise InputError if the expression is not a call."""
    call = parse(expression)
    if not isinstance(call, Call):
        raise InputError(f"{expression} is not one component; name a plugin or a component, such as BM25(k1=0.9).")
    return call


def kind_of(expression: str) -> str:
    """Return the kind of the component that an expression names, or "" if there is none."""
    name, registry = call_of(expression).name.rpartition(":")[2].casefold(), plugins.load()
    return next((kind for kind in KINDS if name in map(str.casefold, registry.names(kind))), "")


def called(name: str, method: Callable[..., Any], *args: Any, about: str = "") -> Any:
    """Call a method of a plugin, and return its result. An exception becomes an AssertionError that names the method.

    `about` describes the arguments, as in "for a query without words".
    """
    try:
        # The engine ignores NumPy's warnings too, and looks at the results.
        with np.errstate(all="ignore"):
            return method(*args)
    except SublexError as error:
        raise AssertionError(f"{name} raised {type(error).__name__}{about and ' '}{about}: {error}") from error
    except (Exception, SystemExit) as error:
        raise AssertionError(f"{name} raised {in_short(error)}{about and ', '}{about}") from error


def child(code: str, *arguments: str, hash_seed: str = "0") -> str:
    """Run Python code in another process, and return the last line that it prints."""
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True)
    last = (done.stderr.strip().splitlines() or ["without a message"])[-1]
    assert done.returncode == 0, f"another process failed: {last}"
    # A plugin may print lines before the result.
    return done.stdout.rpartition("\n")[2]


def nodes(tree: Explanation) -> Iterator[Explanation]:
    """Yield all nodes of an explanation."""
    yield tree
    for part in tree.parts:
        yield from nodes(part)


def assert_adds_up(node: Explanation) -> None:
    """Raise AssertionError if the parts of a node do not add up to its value."""
    values = [part.value for part in node.parts if part.kind != "evidence"]
    if not values or node.kind not in ("sum", "product"):
        return
    total = float(np.sum(values) if node.kind == "sum" else np.prod(values))
    assert abs(total - node.value) <= 1e-6 * max(abs(part) for part in [*values, node.value]), (
        f"the parts of {node.label} give {total}, not {node.value}"
    )
