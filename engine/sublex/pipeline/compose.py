"""From an expression to stages that run on an index: names are resolved, parameters filled in, and the order of kinds is checked."""

from __future__ import annotations

from threading import Lock
from typing import Any

from sublex import expression as tree
from sublex.errors import IndexCorrupt, IndexProblem, InputError, UnknownName
from sublex.expression import Call, Expression
from sublex.fitted import Fitted
from sublex.index.manifest import read_manifest
from sublex.index.snapshot import Snapshot
from sublex.messages import counted
from sublex.pipeline.stages import (
    Blend,
    Chain,
    Cut,
    Expand,
    Keep,
    Memo,
    Normalise,
    Rank,
    Remembered,
    Represent,
    Scorer,
    Stage,
)  # fmt: skip
from sublex.plugins import Defaults, Registry
from sublex.representations.identity import Namer
from sublex.representations.loaded import LoadedModel, LoadedRepresentation
from sublex.representations.resources import Resources
from sublex.representations.view import View
from sublex.retrieval.searcher import Searcher
from sublex.retrieval.term_table import TermTable
from sublex.scores import NORMALISERS

# Sublex's own, whatever else is installed.
FEEDBACK = "rankers:BM25"


class Composer:
    """Makes pipelines for one generation of an index; each ranker's impacts are shared by all that name it."""

    def __init__(self, index: Snapshot, registry: Registry, allow_uncovered: bool = False):
        self.index, self.registry, self.allow_uncovered = index, registry, allow_uncovered
        self.term_table = TermTable(index)
        self._namer = Namer(registry, Resources(index.path, index.manifest))
        self._searchers: dict[str, Searcher] = {}
        self._named: set[str] = set()
        self._kept: dict[str, LoadedModel] = {}
        self._views: dict[tuple[int, str], View] = {}
        self._lock = Lock()

    def canonical(self, expression: Expression, defaults: Defaults) -> Expression:
        """The expression with every call resolved."""
        try:
            return self.registry.canonical(expression, defaults)
        except UnknownName:
            self._namer.look_for(expression)
            raise

    def searcher(self, ranker: Call) -> Searcher:
        """The searcher of a ranker, given in its canonical form."""
        name = str(ranker)
        with self._lock:
            self._named.add(name)
            if name not in self._searchers:
                found = self.registry.resolve("ranker", ranker)
                code = self.registry.version(found.registration)
                self._searchers[name] = Searcher(self.index, found.make(), name, self.term_table, code)
            return self._searchers[name]

    def representation(self, representation: Call) -> LoadedRepresentation:
        """The fitted model of a representation with its rows."""
        found = self.fitted_model(representation)
        assert isinstance(found, LoadedRepresentation)
        return found

    def fitted_model(self, call: Call) -> LoadedModel:
        """The fitted model of a component."""
        name = str(call)
        with self._lock:
            self._named.add(name)
            if name not in self._kept or self._kept[name].generation != self.index.generation:
                found = self._namer.resolve(call)
                try:
                    if found.registration.kind == "representation":
                        self._kept[name] = LoadedRepresentation(
                            self.index, found, self._namer, self._views, self.allow_uncovered
                        )
                    else:
                        self._kept[name] = LoadedModel(self.index, found, self._namer)
                except IndexCorrupt:
                    if read_manifest(self.index.path)["generation"] == self.index.generation:
                        raise
                    raise IndexProblem(f"{self.index.path} has changed since it was opened; open it again.") from None
            return self._kept[name]

    def is_fitted(self, call: Call) -> bool:
        """Whether a call names something that is fitted to an index."""
        if call.name in NORMALISERS:
            return False
        found = self.registry.resolve("component", call)
        kind = found.registration.kind
        return kind == "representation" or (kind != "ranker" and isinstance(found.make(), Fitted))

    def models(self, canonical: Expression) -> dict[str, str]:
        """The fitted models that an expression names, with their fingerprints and code, and how many documents they lack."""
        found: dict[str, str] = {}
        for call in self._fitted(canonical):
            kept = self.fitted_model(call)
            lacking = f", {counted(kept.uncovered, 'document')} uncovered" if kept.uncovered else ""
            code = self.registry.version(self._namer.resolve(call).registration)
            found[str(call)] = f"{kept.fingerprint} by {code}{lacking}"
        return found

    def uncovered(self, canonical: Expression) -> dict[str, int]:
        """The models of an expression that lack documents, and how many."""
        return {
            str(call): lacking for call in self._fitted(canonical) if (lacking := self.fitted_model(call).uncovered)
        }

    def unfitted(self, canonical: Expression) -> list[str]:
        """What an expression names and has to be fitted first."""
        return [str(call) for call in self._fitted(canonical) if self._namer.model_of(call) not in self.index.fitted]

    def _fitted(self, expression: Expression) -> list[Call]:
        """The calls in an expression that name something fitted to an index."""
        found: list[Call] = []

        def look(node: Any) -> Any:
            if isinstance(node, Call) and self.is_fitted(node):
                found.append(node)
            elif isinstance(node, Expression):
                node.map(look)
            return node

        look(expression)
        return found

    def sweep(self) -> None:
        """Let go of the rankers, with their impacts, and of the models that nothing has named since the last time."""
        with self._lock:
            self._searchers = {name: made for name, made in self._searchers.items() if name in self._named}
            self._kept = {name: made for name, made in self._kept.items() if name in self._named}
            self._named = set()

    def compose(self, canonical: Expression, defaults: Defaults, memo: Memo | None = None) -> Scorer:
        """The scorer that a canonical expression stands for; `defaults` make the ranker that gives feedback where none is named.

        With a memo, expressions that are composed one after another share what the parts of their blends find.
        """
        feedback = self.registry.canonical(Call(FEEDBACK), defaults)
        made = self._stage(tree.no_ranges(canonical), feedback, memo)
        return _scorer(made, canonical, canonical)

    def _stage(self, node: Expression, feedback: Expression, memo: Memo | None) -> Stage:
        def scorer(inner: Expression) -> Scorer:
            return _scorer(self._stage(inner, feedback, memo), inner, node)

        def part(inner: Expression) -> Scorer:
            made = scorer(inner)
            return made if memo is None or isinstance(made, Normalise) else Remembered(str(inner), made, memo)

        match node:
            case tree.Chain(stages=stages):
                made = [self._stage(stage, feedback, memo) for stage in stages]
                return Chain(made[:-1], _scorer(made[-1], stages[-1], node))
            case tree.Blend(parts=parts):
                weighted = [p if isinstance(p, tree.Weighted) else tree.Weighted(1, p) for p in parts]
                return Blend([(float(p.weight), part(p.expression)) for p in weighted])  # type: ignore[arg-type]
            case tree.Weighted():
                return self._stage(tree.Blend((node,)), feedback, memo)
            case tree.Cut(expression=inner, depth=depth):
                return Cut(scorer(inner), depth)  # type: ignore[arg-type]
            case Call(name=name, args=(inner,)) if name in NORMALISERS:
                inner = Call(inner) if isinstance(inner, str) else inner
                return Normalise(NORMALISERS[name], part(inner))
            case Call() as call:
                found = self.registry.resolve("component", call)
                if found.registration.kind == "representation":
                    return Represent(self.representation(call))
                if found.registration.kind == "ranker":
                    return Rank(self.searcher(call))
                made = found.make()
                if isinstance(made, Fitted):
                    made = self.fitted_model(call).model
                if found.registration.kind == "filter":
                    return Keep(str(call), made, self.term_table)  # type: ignore[arg-type]
                return Expand(str(call), made, Rank(self.searcher(feedback)))  # type: ignore[arg-type]
        raise InputError(f"{node} cannot be run.")


def _scorer(stage: Stage, part: Expression, whole: Expression) -> Scorer:
    """The stage, if it is one that scores."""
    if isinstance(stage, Scorer):
        return stage
    within = f" in {whole}" if whole is not part else ""
    raise InputError(
        f"{part}{within} changes the query and finds nothing itself; put a ranker after it, as in {part} >> BM25."
    )
