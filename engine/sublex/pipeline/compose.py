"""Composing: from a resolved expression to the stages that run it on a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

from sublex.contracts.fitted import Fitted
from sublex.contracts.scores import NORMALISERS
from sublex.errors import IndexCorrupt, IndexProblem, InputError, UnknownName, contract
from sublex.index.manifest import read_manifest
from sublex.index.snapshot import Snapshot
from sublex.language.expression import Blend, Call, Chain, Cut, Expression, Normalised, Weighted, no_ranges
from sublex.language.functions import Function, functions_in
from sublex.language.plugins import Component, Defaults, Registry, components_in
from sublex.pipeline.stages.blend import BlendStage
from sublex.pipeline.stages.cached import Cache, CachedStage
from sublex.pipeline.stages.chain import ChainStage
from sublex.pipeline.stages.cut import CutStage
from sublex.pipeline.stages.expander import ExpanderStage
from sublex.pipeline.stages.filter import FilterStage
from sublex.pipeline.stages.function import FunctionStage
from sublex.pipeline.stages.normalise import NormaliserStage
from sublex.pipeline.stages.ranker import RankerStage
from sublex.pipeline.stages.representation import RepresentationStage
from sublex.pipeline.stages.retriever import RetrieverStage
from sublex.pipeline.stages.stage import Scorer, Stage
from sublex.representations.identity import Namer
from sublex.representations.loaded import LoadedModel, LoadedRepresentation
from sublex.representations.resources import Resources
from sublex.representations.view import View
from sublex.retrieval.searcher import Searcher
from sublex.retrieval.term_table import TermTable
from sublex.tools.messages import counted

# The ranker that retrieves for an expander. The plugin is named, so that no other plugin's BM25 is meant.
FEEDBACK = Call("rankers:BM25")


class Composer:
    """Makes the stages of expressions for one snapshot; expressions that name the same ranker or model share it."""

    def __init__(self, snapshot: Snapshot, registry: Registry | None = None, allow_uncovered: bool = False):
        self.snapshot, self._registry, self.allow_uncovered = snapshot, registry, allow_uncovered
        self.term_table = TermTable(snapshot)
        self._searchers: dict[str, Searcher] = {}
        self._models: dict[str, LoadedModel] = {}
        self._views: dict[str, View] = {}
        self._used: set[str] = set()
        self._lock = Lock()

    @property
    def registry(self) -> Registry:
        """The plugins that names are looked up in."""
        return self._registry or self.snapshot.registry

    @cached_property
    def _namer(self) -> Namer:
        return Namer(self.registry, Resources(self.snapshot.path, self.snapshot.manifest))

    def resolve(self, expression: Expression, defaults: Defaults) -> Expression:
        """Return the expression with every name resolved to a component."""
        try:
            return self.registry.resolve_all(expression, defaults)
        except UnknownName:
            self._namer.look_for(expression)
            raise

    def searcher(self, ranker: Component) -> Searcher:
        """Return the searcher of a ranker, made on first use."""
        name = str(ranker)
        with self._lock:
            self._used.add(name)
            if name not in self._searchers:
                code = self.registry.version(ranker.registration)
                self._searchers[name] = Searcher(self.snapshot, ranker.make(), name, self.term_table, code)
            return self._searchers[name]

    def model(self, component: Component) -> LoadedModel:
        """Return the fitted model of a component, loaded on first use."""
        name = str(component)
        with self._lock:
            self._used.add(name)
            if name not in self._models:
                self._models[name] = self._load(component)
            return self._models[name]

    def _load(self, component: Component) -> LoadedModel:
        component = self._namer.resolve(component)
        try:
            if component.kind != "representation":
                return LoadedModel(self.snapshot, component, self._namer)
            return LoadedRepresentation(self.snapshot, component, self._namer, self._views, self.allow_uncovered)
        except IndexCorrupt:
            path = self.snapshot.path
            if read_manifest(path).generation == self.snapshot.generation:
                raise
            raise IndexProblem(f"{path} has changed since it was opened; open it again.") from None

    def is_fitted(self, node: Expression) -> bool:
        """Return whether a node of a resolved expression is a component that is fitted to an index."""
        if not isinstance(node, Component) or node.kind in ("ranker", "retriever"):
            return False
        return node.kind == "representation" or isinstance(node.make(), Fitted)

    def fitted_components(self, resolved: Expression | tuple[Any, ...]) -> list[Component]:
        """Return the components of a resolved expression that are fitted, without the models that they depend on."""

        def walk(node: Any) -> Iterator[Component]:
            if isinstance(node, tuple):
                for item in node:
                    yield from walk(item)
            elif self.is_fitted(node):
                yield node
                yield from walk(_named_in(node) if node.kind != "representation" else ())
            elif isinstance(node, Expression):
                for child in node.children():
                    yield from walk(child)

        return list(walk(resolved))

    def models_in(self, component: Component) -> dict[str, LoadedModel]:
        """Return the fitted models that the parameters of an expander or a filter name, by their expressions."""
        return {str(named): self.model(named) for named in self.fitted_components(_named_in(component))}

    def models(self, components: list[Component]) -> dict[str, str]:
        """Return for each fitted component the fingerprint of its model, its code, and how many documents it does not cover."""
        described = {}
        for component in components:
            model = self.model(component)
            lacking = f", {counted(model.uncovered, 'document')} uncovered" if model.uncovered else ""
            described[str(component)] = (
                f"{model.fingerprint} by {self.registry.version(component.registration)}{lacking}"
            )
        return described

    def retrievers(self, resolved: Expression) -> dict[str, str]:
        """Return for each retriever of a resolved expression its code, its engine, and the state of the foreign index that it searches."""
        described = {}
        for component in components_in(resolved):
            if component.kind == "retriever" and self.snapshot.attachment:
                retriever = component.make()
                engine = f" with {retriever.version()}" if hasattr(retriever, "version") else ""
                state = self.snapshot.attachment.state
                described[str(component)] = f"{state} by {self.registry.version(component.registration)}{engine}"
        return described

    def uncovered(self, components: list[Component]) -> dict[str, int]:
        """Return the fitted components that do not cover all documents, with the number of documents they lack."""
        return {str(component): lacking for component in components if (lacking := self.model(component).uncovered)}

    def unfitted(self, resolved: Expression) -> list[str]:
        """Return the components of a resolved expression that have to be fitted before it can run."""
        components = self.fitted_components(resolved)
        return [str(c) for c in components if self._namer.model_of(c) not in self.snapshot.fitted]

    def release_unused(self) -> None:
        """Drop the searchers, with their impacts, and the models that no expression has used since the last call."""
        with self._lock:
            self._searchers = {name: searcher for name, searcher in self._searchers.items() if name in self._used}
            self._models = {name: model for name, model in self._models.items() if name in self._used}
            self._used = set()

    def compose(self, resolved: Expression, defaults: Defaults, cache: Cache | None = None) -> Scorer:
        """Return the scorer of a resolved expression.

        `defaults` are those of the ranker that retrieves for an expander. With a cache, expressions that are composed one
        after another share what the parts of their blends find.
        """
        functions_in(resolved)  # Raises InputError for two functions with one name, by which results are shared.
        feedback = self.registry.resolve("component", FEEDBACK, defaults)
        return _Composition(self, feedback, cache).scorer(no_ranges(resolved), resolved)


class _Composition:
    """One expression on its way to stages."""

    def __init__(self, composer: Composer, feedback: Component, cache: Cache | None):
        self.composer, self.feedback, self.cache = composer, feedback, cache

    def scorer(self, node: Expression, whole: Expression) -> Scorer:
        """Return the stage of a node that has to be a scorer; `whole` is the expression that a message shows."""
        stage = self.stage(node)
        if isinstance(stage, Scorer):
            return stage
        within = f" in {whole}" if whole is not node else ""
        raise InputError(
            f"{node}{within} changes the query and finds nothing itself; put a ranker after it, as in {node} >> BM25."
        )

    def stage(self, node: Expression) -> Stage:
        """Return the stage of a node."""
        match node:
            case Chain(stages=nodes):
                return ChainStage([self.stage(inner) for inner in nodes[:-1]], self.scorer(nodes[-1], node))
            case Blend(parts=parts):
                return self.blend(parts, node)
            case Weighted():
                return self.blend([node], node)
            case Cut(expression=inner, depth=depth):
                return CutStage(self.scorer(inner, node), depth)  # type: ignore[arg-type]
            case Normalised(normaliser=name, expression=inner):
                return NormaliserStage(NORMALISERS[name], self.cached(inner, node), self.composer.snapshot)
            case Function():
                return FunctionStage(node, self.composer.snapshot)
            case Component():
                return self.component(node)
        raise InputError(f"{node} cannot be run.")

    def blend(self, parts: Sequence[Expression], node: Expression) -> BlendStage:
        """Return the stage of a blend."""
        return BlendStage(self.composer.snapshot, [(str(part), *self.weighted(part, node)) for part in parts])

    def weighted(self, part: Expression, blend: Expression) -> tuple[float, Scorer]:
        """Return the weight and the scorer of one part of a blend."""
        weight, inner = (part.weight, part.expression) if isinstance(part, Weighted) else (1, part)
        scorer = self.cached(inner, blend)
        if _is_filter(inner):
            raise InputError(
                f"{inner} keeps or drops hits and has no scores to add; put it after a ranker, as in BM25 >> {inner}."
            )
        return float(weight), scorer  # type: ignore[arg-type]

    def cached(self, node: Expression, whole: Expression) -> Scorer:
        """Return the scorer of a node, with the cache around it where there is one."""
        scorer = self.scorer(node, whole)
        if self.cache is None or isinstance(scorer, NormaliserStage):
            return scorer
        return CachedStage(str(node), scorer, self.cache)

    def component(self, component: Component) -> Stage:
        """Return the stage of a component, by its kind."""
        composer = self.composer
        if component.kind == "ranker":
            return RankerStage(composer.searcher(component))
        if component.kind == "retriever":
            with contract("retriever", component):
                return RetrieverStage(str(component), component.make(), composer.snapshot)
        if component.kind == "representation":
            model = composer.model(component)
            assert isinstance(model, LoadedRepresentation)
            return RepresentationStage(model)
        made = composer.model(component).model if composer.is_fitted(component) else component.make()
        name, models = str(component), composer.models_in(component)
        if component.kind == "filter":
            return FilterStage(name, made, composer.term_table, models)
        return ExpanderStage(name, made, RankerStage(composer.searcher(self.feedback)), models)


def _named_in(component: Component) -> tuple[Any, ...]:
    """Return the values of a component's query parameters, among which are the models that it asks for when it runs."""
    return tuple(component.values[p.name] for p in component.registration.params if p.stage == "query")


def _is_filter(node: Expression) -> bool:
    """Return whether a part of a blend is nothing but a filter."""
    match node:
        case Cut(expression=inner) | Normalised(expression=inner) | Weighted(expression=inner):
            return _is_filter(inner)
        case Component(kind=kind):
            return kind == "filter"
    return False
