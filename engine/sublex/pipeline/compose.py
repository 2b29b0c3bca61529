"""Make the stages that run a resolved expression on a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from threading import Lock
from typing import Any, NamedTuple, cast
from weakref import WeakValueDictionary

from sublex.contracts.base import Folder, Resource
from sublex.contracts.fitted import Fittable, Smoother
from sublex.contracts.operators import Condition
from sublex.contracts.scores import NORMALISERS
from sublex.errors import IndexCorrupt, IndexProblem, InputError, UnknownName, contract
from sublex.filters.sort import Sort
from sublex.filters.where import Where
from sublex.index.manifest import read_manifest
from sublex.index.snapshot import KEPT as KEPT_SNAPSHOTS
from sublex.index.snapshot import Snapshot
from sublex.language import profiles
from sublex.language.encoding import identity_of
from sublex.language.expression import (
    Blend,
    Call,
    Chain,
    Cut,
    Expression,
    Normalised,
    Weighted,
    chain,
    no_ranges,
    operand,
    walk,
)
from sublex.language.finders import Finder
from sublex.language.functions import Function
from sublex.language.learned import LearnedModel
from sublex.language.names import pipelines_in, refuse_near_names
from sublex.language.plugins import Component, Defaults, Registry, components_in
from sublex.language.profiles import Profile
from sublex.language.python_expanders import PythonExpander
from sublex.language.python_parts import PythonPart, python_parts, states
from sublex.language.python_rankers import GivenRanker, PythonRanker
from sublex.language.rerankers import NamedReranker
from sublex.pipeline.pipeline import Pipeline, expect_scores, reads_plain_words
from sublex.pipeline.stages.blend import BlendPart, BlendScoring, NormaliserScoring, Scale
from sublex.pipeline.stages.cached import Cache, cached
from sublex.pipeline.stages.chain import ChainScoring, CutScoring
from sublex.pipeline.stages.condition import ConditionKeep
from sublex.pipeline.stages.expander import ExpanderStage
from sublex.pipeline.stages.filter import FilteredScorer, FilterScoring, NamedFilter
from sublex.pipeline.stages.finder import finder_scorer
from sublex.pipeline.stages.function import FunctionScoring
from sublex.pipeline.stages.learned import Feature, LearnedScoring
from sublex.pipeline.stages.listing import Everything, Listing
from sublex.pipeline.stages.mask import Mask, Masks
from sublex.pipeline.stages.python_expander import GivenExpander
from sublex.pipeline.stages.ranker import RankerScoring
from sublex.pipeline.stages.representation import RepresentationScoring
from sublex.pipeline.stages.retriever import RetrieverScoring, attachment_of
from sublex.pipeline.stages.smoother import SmootherScoring
from sublex.pipeline.stages.sort import SortScoring
from sublex.pipeline.stages.stage import Scorer, Stage, obeying
from sublex.representations.graph import LoadedGraph
from sublex.representations.identity import Namer
from sublex.representations.label_decisions import hash_of
from sublex.representations.loaded import LoadedModel, LoadedRepresentation
from sublex.representations.matching import Matching
from sublex.representations.stored_models import not_fitted
from sublex.representations.view import IndexView
from sublex.retrieval.searcher import Searcher
from sublex.retrieval.term_table import TermTable
from sublex.tools.copies import Uncopied
from sublex.tools.messages import Message, Step, counted

# The ranker that finds feedback documents for an expander. The plugin is named, because another plugin may also have a
# BM25.
FEEDBACK = Call("rankers:BM25")
# The kinds of components that are always fitted models, and the kinds that may be fitted models.
FITTED = ("representation", "smoother")
MAY_BE_FITTED = ("expander", "filter")
# A composer keeps this number of pipelines: those that were used last.
KEPT = 64


class Composer(Uncopied):
    """Makes the pipelines of expressions on one snapshot.

    Expressions with the same ranker or model share one object for it. The snapshot is not used before the first pipeline
    is made.
    """

    def __init__(self, snapshot: Snapshot, registry: Registry | None = None, allow_uncovered: bool = False):
        self.snapshot, self.allow_uncovered, self._registry = snapshot, allow_uncovered, registry
        self._pipelines: dict[tuple[Any, ...], _Kept] = {}
        self._searchers: dict[str, Searcher] = {}
        # The searchers of Python objects. A searcher goes when no pipeline has it, because a session makes many of
        # these objects.
        self._given: WeakValueDictionary[tuple[object, ...], Searcher] = WeakValueDictionary()
        # Users may give a Python object in place of an expression. This has the part for each such object, by the
        # object's `id`.
        self._standing: WeakValueDictionary[int, PythonPart] = WeakValueDictionary()
        self._rerankers: WeakValueDictionary[tuple[object, ...], NamedReranker] = WeakValueDictionary()
        self._models: dict[tuple[str, ...], LoadedModel] = {}
        self._views: dict[str, IndexView] = {}
        self._used: set[str | tuple[str, ...]] = set()
        self._masks = Masks(snapshot)
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (self.snapshot, self.allow_uncovered)

    @cached_property
    def registry(self) -> Registry:
        """The plugins that resolve names."""
        return self._registry or self.snapshot.registry

    @cached_property
    def term_table(self) -> TermTable:
        """The terms of the snapshot, which all its searchers share."""
        return TermTable(self.snapshot)

    @cached_property
    def _namer(self) -> Namer:
        return Namer(self.snapshot.path, self.snapshot.manifest, self.registry)

    def pipeline(self, expression: str | Expression, profile: Profile) -> Pipeline:
        """Return the pipeline of an expression.

        It is made on first use, and again after a change of a file that it names.
        """
        given = expression if isinstance(expression, (str, Expression)) else self._standing_part(expression)
        parts = _python_parts(given)
        if parts is None:
            return self._made(given, profile).pipeline
        key = str(given), *(part.key for part in parts), profile.name
        with self._lock:
            # The first pipelines of this dictionary are dropped first, so the one in use moves to the end.
            if kept := self._pipelines.pop(key, None):
                self._pipelines[key] = kept
        if kept is None or (kept.files and kept.files != self._hashes(kept.files)):
            kept = self._made(given, profile)
            with self._lock:
                self._pipelines[key] = kept
                if len(self._pipelines) > KEPT:
                    del self._pipelines[next(iter(self._pipelines))]
        # Parts with equal code and values share a searcher. It must call the object in this expression.
        for part in parts:
            if isinstance(part, PythonRanker):
                self._searcher_of(part)
        return kept.pipeline

    def _standing_part(self, thing: Any) -> Expression:
        """Return the part of an expression for a Python object that a user gives in place of an expression.

        As long as the object does not change, every call returns the same part, so that searches by one object are quick.
        """
        part = self._standing.get(id(thing))
        if part is None or part.thing is not thing or not part.identity.still_holds():
            part = operand(thing, ">>")
            if isinstance(part, PythonPart):
                self._standing[id(thing)] = part
        return part

    def _made(self, expression: str | Expression, profile: Profile) -> _Kept:
        """Return a new pipeline, with the hashes of the files that it names."""
        given = operand(expression, ">>")
        resolved, chosen = self.read(given, profile.defaults)
        self._expect_fitted(given, resolved)
        # The files are hashed before they are read. If one changes in between, its hash differs at the next use.
        files, scorer = self._files(resolved), self.compose(resolved, profile.defaults)
        if not scorer.finds:
            raise InputError(
                f"{resolved} finds no documents by itself; put a ranker before it, as in BM25 >> {resolved}."
            )
        fitted = {str(component): self.model(component) for component in self.fitted_components(resolved)}
        uncovered = {name: model.uncovered for name, model in fitted.items() if model.uncovered}
        origin = partial(_pipeline_of, self.snapshot, self.allow_uncovered, resolved, profile.name)
        called = [part for part in python_parts(resolved) if isinstance(part, PythonRanker)]
        rankers = [cast("GivenRanker", self._searcher_of(part).ranker) for part in called]
        pipeline = Pipeline(
            self.snapshot,
            resolved,
            scorer,
            self.term_table,
            self._versions(resolved),
            uncovered,
            [*fitted.values()],
            chosen,
            short=self.registry.print_in(resolved, profile.defaults),
            name=self._namer.called_by(given),
            origin=origin,
            rankers=rankers,
        )
        return _Kept(pipeline, files)

    def _versions(self, resolved: Expression) -> dict[str, str]:
        """Return a text for each model, retriever and function.

        The text identifies the code and the state that the hits depend on.

        The state of a model is its fingerprint, its number of uncovered documents, and the hash of the decisions about
        its labels. The state of a retriever is the state of the foreign index.
        """
        found = {}
        for component in self.fitted_components(resolved):
            model = self.model(component)
            lacking = f", {counted(model.uncovered, 'document')} uncovered" if model.uncovered else ""
            version = self.registry.version(component.registration)
            decided = f", labels {hash_of(model.decisions)}" if model.decisions else ""
            asked = f", {model.asked_by}" if model.asked_by else ""
            found[str(component)] = f"{model.fingerprint} by {version}{lacking}{decided}{asked}"
        for component in components_in(resolved):
            if component.kind == "retriever" and self.snapshot.attachment:
                retriever, state = component.make(), self.snapshot.attachment.state
                engine = f" with {retriever.version()}" if hasattr(retriever, "version") else ""
                found[str(component)] = f"{state} by {self.registry.version(component.registration)}{engine}"
            if component.kind == "encoder" and not isinstance(component, PythonPart):
                made = component.make()
                about = made.about() if hasattr(made, "about") else {}
                named = "".join(f", {name} {text}" for name, text in about.items())
                version = self.registry.version(component.registration)
                found[str(component)] = f"{identity_of(made, component)} by {version}{named}"
        return found | states(resolved)

    def _files(self, resolved: Expression) -> dict[str, str]:
        """Return the hashes of the resources in a resolved expression, and the states of its encoders' folders."""
        # Encoders read the folder that they name. A reranker may also name a folder, where it keeps scores; its state
        # is not needed.
        values = (
            c.values[p.name]
            for c in components_in(resolved)
            for p in c.registration.params
            if p.type is Resource or (p.type is Folder and c.kind == "encoder")
        )
        models = (part.file for part in components_in(resolved) if isinstance(part, LearnedModel) and part.file)
        return self._hashes([*(value for value in values if value is not None), *models])

    def _hashes(self, names: Iterable[str]) -> dict[str, str]:
        """Return the hash of each resource, or the state of each folder, by name; "" for a file that cannot be read."""
        hashes = {}
        for name in names:
            try:
                hashes[name] = self._namer.resources.state(name)
            except (InputError, OSError):
                hashes[name] = ""
        return hashes

    def read(self, expression: Expression, defaults: Defaults) -> MeantExpression:
        """Return the expression with every name resolved to a component, and sentences about the models that were chosen."""
        meant, notes = self.meant(expression, defaults)
        try:
            return MeantExpression(self.registry.resolve_all(meant, defaults), notes)
        except UnknownName:
            self._namer.look_for(meant)
            refuse_near_names(meant, self.snapshot.names, self.registry, self.snapshot.path)
            raise

    def meant(self, expression: Expression, defaults: Defaults) -> MeantExpression:
        """Return the expression with names of the index written out, and components replaced by matching fitted models.

        The expression may have ranges. The result has a sentence for each model whose own expression differs from the
        one that the user wrote.
        """
        if isinstance(expression, Component) and not isinstance(expression, PythonPart):
            return MeantExpression(expression, ())
        if not (self.snapshot.names or self.snapshot.fitted):
            return MeantExpression(self.written_out(expression), ())
        matching = Matching(self._namer, self.is_fitted, defaults)
        return MeantExpression(matching.apply(self.written_out(expression)), tuple(dict.fromkeys(matching.notes)))

    def written_out(self, expression: Expression) -> Expression:
        """Return the expression with the names of the index replaced by their expressions."""
        return self._namer.written_out(expression)

    def searcher(self, ranker: Component) -> Searcher:
        """Return the searcher of a ranker, made on first use."""
        if isinstance(ranker, PythonRanker):
            return self._searcher_of(ranker)
        name = str(ranker)
        with self._lock:
            self._used.add(name)
            if name not in self._searchers:
                code = self.registry.version(ranker.registration)
                self._searchers[name] = Searcher(self.snapshot, ranker.make(), name, self.term_table, code)
            return self._searchers[name]

    def filter(self, component: Component) -> NamedFilter:
        """Return the filter of a component. Filters with equal keys share one mask."""
        key = component.key if isinstance(component, PythonPart) else self._key(component)
        made = self.made(component)
        if isinstance(made, (Where, Sort)):
            made.check(self.snapshot)
        return NamedFilter(str(component), made, self.term_table, self.models(component), self._masks, key)

    def reranker(self, component: Component) -> NamedReranker:
        """Return the reranker of a component. Pipelines share it for as long as one of them exists."""
        key = (*self._key(component), *map(id, python_parts(component)))
        with self._lock:
            made = self._rerankers.get(key)
            if made is None:
                made = self._rerankers[key] = NamedReranker(component)
            return made

    def made(self, component: Component) -> Any:
        """Return the plugin's object of an expander or a filter."""
        return self.model(component).model if self.is_fitted(component) else component.make()

    def models(self, component: Component) -> dict[str, LoadedModel]:
        """Return the fitted models that the parameters of an expander or a filter name, by their expressions."""
        return {str(named): self.model(named) for named in self.fitted_components(_named_in(component))}

    def _key(self, component: Component) -> tuple[str, ...]:
        """Return the key of a plugin's component: its printed form, and the hashes of the files that it names."""
        return str(component), *self._files(component).values()

    def _searcher_of(self, ranker: PythonRanker) -> Searcher:
        """Return the searcher of a Python object. Objects with equal code and values share one."""
        with self._lock:
            searcher = self._given.get(ranker.key)
            if searcher is None:
                searcher = Searcher(self.snapshot, ranker.make(), str(ranker), self.term_table, ranker.state)
                searcher.given = True
                self._given[ranker.key] = searcher
            elif searcher.ranker.part.thing is not ranker.thing:  # type: ignore[attr-defined]
                # The earlier object may have changed since. The new object was checked just now, so the searcher takes
                # it.
                searcher.ranker.use(ranker)  # type: ignore[attr-defined]
            return searcher

    def model(self, component: Component) -> LoadedModel:
        """Return the fitted model of a component, loaded on first use."""
        with self._lock:
            return self._kept(component)

    def _kept(self, component: Component) -> LoadedModel:
        """Return the fitted model of a component, loaded on first use. The caller holds the lock."""
        key = self._key(component)
        self._used.add(key)
        if key not in self._models:
            self._models[key] = self._load(component)
            self._models[key].origin = partial(_model_of, self.snapshot, self.allow_uncovered, component)
        return self._models[key]

    def _load(self, component: Component) -> LoadedModel:
        component = self._namer.resolve(component)
        try:
            if component.kind == "smoother":
                if self._namer.model_of(component) not in self.snapshot.fitted:
                    raise IndexProblem(not_fitted(self.snapshot.path, component, self.snapshot.fitted))
                return LoadedGraph(self.snapshot, component, self._namer, self._over(component), self.allow_uncovered)
            if component.kind != "representation":
                return LoadedModel(self.snapshot, component, self._namer)
            return LoadedRepresentation(self.snapshot, component, self._namer, self._views, self.allow_uncovered)
        except IndexCorrupt:
            path = self.snapshot.path
            if read_manifest(path).generation == self.snapshot.generation:
                raise
            raise IndexProblem(f"{path} has changed since it was opened; open it again.") from None

    def _over(self, smoother: Component) -> LoadedRepresentation:
        """Return the representation whose vectors a smoother compares. The caller holds the lock."""
        found = self._kept(self._namer.resolve(cast("Smoother", self._namer.make(smoother)).over))
        assert isinstance(found, LoadedRepresentation)
        return found

    def is_fitted(self, node: Expression) -> bool:
        """Return whether a node of a resolved expression is a component that is fitted to an index."""
        if not isinstance(node, Component) or isinstance(node, PythonPart):
            return False
        return node.kind in FITTED or (node.kind in MAY_BE_FITTED and isinstance(node.make(), Fittable))

    def fitted_components(self, resolved: Expression | tuple[Any, ...]) -> list[Component]:
        """Return the fitted components of a resolved expression, without the models that they depend on."""
        return list(self._fitted_in(resolved))

    def _fitted_in(self, node: Any) -> Iterator[Component]:
        if isinstance(node, tuple):
            for item in node:
                yield from self._fitted_in(item)
        elif self.is_fitted(node):
            yield node
            yield from self._fitted_in(_named_in(node) if node.kind != "representation" else ())
        elif isinstance(node, Expression):
            for child in node.children():
                yield from self._fitted_in(child)

    def _expect_fitted(self, given: Expression, resolved: Expression) -> None:
        """Raise IndexProblem, with the names, if an expression with built-in names needs models that are not fitted."""
        named = pipelines_in(given, self.snapshot.names, self.registry)
        if named and (missing := self.unfitted(resolved)):
            root = self.snapshot.path
            lacking = f"{', '.join(named)} needs {', '.join(dict.fromkeys(missing))}, not fitted in {root.name}; run: "
            raise IndexProblem(Message(lacking, Step("fit", root, *named)))

    def models_in(self, expression: Expression, defaults: Defaults) -> list[str]:
        """Return the models that the expression of a pipeline needs, each once. Fitted ones are among them."""
        resolved = self.registry.resolve_all(self.written_out(expression), defaults)
        return list(dict.fromkeys(str(component) for component in self.fitted_components(resolved)))

    def unfitted(self, resolved: Expression) -> list[str]:
        """Return the components of a resolved expression that have to be fitted before it can run."""
        components = self.fitted_components(resolved)
        return [str(c) for c in components if self._namer.model_of(c) not in self.snapshot.fitted]

    def release_unused(self) -> None:
        """Drop models and searchers, with their impacts, that no expression has used since the last call."""
        with self._lock:
            self._searchers = {name: searcher for name, searcher in self._searchers.items() if name in self._used}
            self._models = {key: model for key, model in self._models.items() if key in self._used}
            self._used = set()

    def compose(self, resolved: Expression, defaults: Defaults, cache: Cache | None = None) -> Scorer:
        """Return the scorer that runs a resolved expression.

        `defaults` are those of the ranker that finds feedback documents for an expander. Expressions that are composed
        with one cache share the results of the parts of their blends.
        """
        python_parts(resolved)  # This raises InputError for two objects with the same name.
        feedback = self.registry.resolve("component", FEEDBACK, defaults)
        composition = _Composition(self, feedback, cache)
        node = no_ranges(resolved)
        stages = node.stages if isinstance(node, Chain) else (node,)
        _expect_last(stages)
        if cache is not None:
            expect_scores(resolved)
        listing = chain((Everything(), *filter(composition.is_filter, stages)))
        listed = composition.scorer(listing, resolved)
        is_listing = all(map(composition.is_filter, stages))
        scorer = listed if is_listing else composition.scorer(node, resolved)
        allowed = partial(_allowed, self.snapshot, self._masks, self.term_table)
        return obeying(scorer, allowed, listed, None if reads_plain_words(resolved) else str(resolved))


def _allowed(snapshot: Snapshot, masks: Masks, term_table: TermTable, condition: Condition) -> Mask:
    """Return the mask of the documents that the condition of a query allows.

    The function must not hold a composer: the composer and its pipelines would then refer to each other.
    """
    return masks.get(("condition", condition), ConditionKeep(condition, term_table, snapshot))


@lru_cache(maxsize=KEPT_SNAPSHOTS)
def unpickled(snapshot: Snapshot, allow_uncovered: bool) -> Composer:
    """Return the composer of an unpickled snapshot. All objects that a process unpickles share it."""
    return Composer(snapshot, allow_uncovered=allow_uncovered)


# How pickled objects are made again. Their origins hold no composer, because a composer holds its searchers, models and
# pipelines. With a cycle of references, the memory of impacts and rows would be freed late.


def _pipeline_of(snapshot: Snapshot, allow_uncovered: bool, resolved: Expression, profile: str) -> Pipeline:
    return unpickled(snapshot, allow_uncovered).pipeline(resolved, profiles.profile(profile))


def searcher_of(snapshot: Snapshot, allow_uncovered: bool, ranker: Component) -> Searcher:
    """Return the searcher of an unpickled snapshot for a ranker."""
    return unpickled(snapshot, allow_uncovered).searcher(ranker)


def _model_of(snapshot: Snapshot, allow_uncovered: bool, component: Component) -> LoadedModel:
    return unpickled(snapshot, allow_uncovered).model(component)


class MeantExpression(NamedTuple):
    """An expression as the index reads it.

    `notes` tell which model stands for a component, where their expressions differ.
    """

    expression: Expression
    notes: tuple[str, ...]


class _Kept(NamedTuple):
    """A pipeline, and the hash of each resource that its expression names."""

    pipeline: Pipeline
    files: dict[str, str]


class _Composition:
    """The composition of one expression: methods that make the stage of each of its nodes."""

    def __init__(self, composer: Composer, feedback: Component, cache: Cache | None):
        self.composer, self.feedback, self.cache = composer, feedback, cache

    def is_filter(self, node: Expression) -> bool:
        """Return whether a node is a sort stage, or a filter that looks at each document alone; either may have a cut."""
        if isinstance(node, Cut):
            return self.is_filter(node.expression)
        if not isinstance(node, Component) or node.kind != "filter":
            return False
        filter = self.composer.filter(node)
        return filter.per_document or isinstance(filter.filter, Sort)

    def scorer(self, node: Expression, whole: Expression) -> Scorer:
        """Return the stage of a node.

        Raise `InputError`, with the expression `whole` in the message, if the stage is not a scorer.
        """
        return _as_scorer(self.stage(node), node, whole)

    def stage(self, node: Expression) -> Stage:
        """Return the stage of a node."""
        match node:
            case Chain(stages=nodes):
                *before, final = self.stages(nodes, node)
                last = _as_scorer(final, nodes[-1], node)
                if not before:
                    return last
                through = all(stage.through for stage in (*before, last))
                return Scorer(partial(ChainScoring, before, last), before[0].finds, through)
            case Blend() | Weighted():
                parts = [self.part(part, node) for part in (node.parts if isinstance(node, Blend) else (node,))]
                finds, through = any(part.finds for part in parts), all(part.scorer.through for part in parts)
                return Scorer(partial(BlendScoring, self.composer.snapshot, parts), finds, through)
            case Cut(expression=inner, depth=0):
                raise InputError(
                    f"{node} finds nothing, so it can only be a part of a blend, as in BM25 + 0.3*{node}; write {inner} here."
                )
            case Cut(expression=inner, depth=depth):
                return _cut(self.scorer(inner, node), depth)  # type: ignore[arg-type]
            case Normalised(normaliser=name, expression=inner):
                return self.normalised(name, self.cached(inner, node))
            case Everything():
                return Scorer(Listing(self.composer.snapshot).start)
            case Function():
                return Scorer(partial(FunctionScoring, node, self.composer.snapshot), finds=False)
            case LearnedModel():
                return self.learned(node)
            case Finder():
                return finder_scorer(node, self.composer.snapshot, self.cache)
            case PythonExpander():
                expander = GivenExpander(node, self.composer.snapshot)
                return ExpanderStage(node.name, expander, self.composer.searcher(self.feedback), printed=str(node))
            case Component():
                return self.component(node)
        raise InputError(f"{node} cannot be run.")

    def stages(self, nodes: Sequence[Expression], whole: Chain) -> list[Stage]:
        """Return the stages of the nodes of a chain.

        A filter that looks at each document alone makes one stage with all nodes before it.
        """
        for place in range(len(nodes) - 1, 0, -1):
            filtered = self.filtered(nodes[:place], nodes[place], whole)
            if filtered is not None:
                return [filtered, *map(self.stage, nodes[place + 1 :])]
        return list(map(self.stage, nodes))

    def filtered(self, before: Sequence[Expression], node: Expression, whole: Chain) -> Scorer | None:
        """Return the scorer of a chain that ends with a filter.

        Return None if the last node is not a filter.

        The filter may be cut or normalised. For a filter that looks at more than the document, the result is None too.
        """
        match node:
            case Cut(expression=inner, depth=depth):
                scorer = self.filtered(before, inner, whole)
                return scorer and _cut(scorer, depth)  # type: ignore[arg-type]
            case Normalised(normaliser=name, expression=inner):
                scorer = self.filtered(before, inner, whole)
                return scorer and self.normalised(name, scorer)
            case Component(kind="filter"):
                filter = self.composer.filter(node)
                return FilteredScorer(filter, self.scorer(chain(before), whole)) if filter.per_document else None
        return None

    def normalised(self, normaliser: str, scorer: Scorer) -> Scorer:
        """Return a scorer whose scores are normalised."""
        return Scorer(partial(NormaliserScoring, self.scale(normaliser), scorer), scorer.finds, scorer.through)

    def part(self, part: Expression, blend: Expression) -> BlendPart:
        """Return one part of a blend. If the part names no normaliser, it gets minmax."""
        weight, inner = (part.weight, part.expression) if isinstance(part, Weighted) else (1, part)
        normaliser, whole = "minmax", blend
        if isinstance(inner, Normalised):
            normaliser, inner, whole = inner.normaliser, inner.expression, inner
        if isinstance(inner, Cut) and inner.depth == 0:
            found = self.cached(inner.expression, whole)
            scorer = Scorer(found.start, finds=False, through=found.through)
        else:
            scorer = self.cached(inner, whole)
        if _is_filter(inner):
            raise InputError(
                f"{inner} keeps or drops hits and has no scores to add; put it after a ranker, as in BM25 >> {inner}."
            )
        return BlendPart(str(part), float(weight), self.scale(normaliser), scorer)  # type: ignore[arg-type]

    def learned(self, model: LearnedModel) -> Scorer:
        """Return the scorer of a learned model, whose features are the scores of its parts."""
        features = [Feature(str(part), self.cached(part, part)) for part in model.parts]
        through = all(feature.scorer.through for feature in features)
        return Scorer(partial(LearnedScoring, model, self.composer.snapshot, features), finds=False, through=through)

    def scale(self, normaliser: str) -> Scale:
        """Return the scale of a normaliser, given by its name."""
        return Scale(NORMALISERS[normaliser], self.composer.snapshot)

    def cached(self, node: Expression, whole: Expression) -> Scorer:
        """Return the scorer of a node. If the composition has a cache, the scorer uses the cache."""
        scorer = self.scorer(node, whole)
        if self.cache is None or isinstance(node, Normalised):
            return scorer
        return cached(str(node), scorer, self.cache)

    def component(self, component: Component) -> Stage:
        """Return the stage of a component, by its kind."""
        composer = self.composer
        if component.kind == "ranker":
            return Scorer(partial(RankerScoring, composer.searcher(component)))
        if component.kind == "retriever":
            with contract("retriever", component):
                name, made = str(component), component.make()
                attachment = attachment_of(name, made, composer.snapshot)
                return Scorer(partial(RetrieverScoring, name, made, composer.snapshot, attachment))
        if component.kind == "reranker":
            return Scorer(partial(FunctionScoring, composer.reranker(component), composer.snapshot), finds=False)
        if component.kind == "encoder":
            raise InputError(
                f"{component} encodes texts and scores no documents; name it in a stage that does, as in cross({component})."
            )
        if component.kind == "representation":
            model = composer.model(component)
            assert isinstance(model, LoadedRepresentation)
            return Scorer(partial(RepresentationScoring, model))
        if component.kind == "filter":
            filter = composer.filter(component)
            scoring = SortScoring if isinstance(filter.filter, Sort) else FilterScoring
            return Scorer(partial(scoring, filter), finds=False, through=filter.per_document)
        if component.kind == "smoother":
            graph = composer.model(component)
            assert isinstance(graph, LoadedGraph)
            return Scorer(partial(SmootherScoring, graph), finds=False, through=False)
        made, models = composer.made(component), composer.models(component)
        return ExpanderStage(str(component), made, composer.searcher(self.feedback), models)


def _python_parts(expression: str | Expression) -> list[PythonPart] | None:
    """Return the Python objects of an expression.

    They and the text of the expression are the key of its pipeline.

    Return None for an expression with a resolved component. Its pipeline has no key, because another profile may have
    resolved the component.
    """
    if isinstance(expression, str):
        return []
    components = list(components_in(expression))
    parts = [component for component in components if isinstance(component, PythonPart)]
    return parts if len(parts) == len(components) else None


def _named_in(component: Component) -> tuple[Any, ...]:
    """Return the values of a component's query parameters.

    These values may name models that the component uses for each query.
    """
    return tuple(component.values[p.name] for p in component.registration.params if p.stage == "query")


def _as_scorer(stage: Stage, node: Expression, whole: Expression) -> Scorer:
    """Return `stage`, the stage of `node`, if it is a scorer.

    Otherwise raise `InputError`, with the expression `whole` in the message.
    """
    if isinstance(stage, Scorer):
        return stage
    within = f" in {whole}" if whole is not node else ""
    raise InputError(
        f"{node}{within} changes the query and finds nothing itself; put a ranker after it, as in {node} >> BM25."
    )


def _expect_last(stages: Sequence[Expression]) -> None:
    """Raise InputError if a sort stage is not the last stage of a chain."""
    for node in (*stages[:-1], *(child for stage in stages[-1:] for child in walk(stage) if child is not stage)):
        for component in components_in(node):
            if component.registration.factory is Sort:
                raise InputError(
                    f"{component} puts hits in an order to look at, so it comes last, as in BM25 >> {component}."
                )


def _cut(scorer: Scorer, depth: int) -> Scorer:
    """Return a scorer that keeps the first `depth` hits of another scorer."""
    return Scorer(partial(CutScoring, scorer, depth), scorer.finds, through=False)


def _is_filter(node: Expression) -> bool:
    """Return whether a part of a blend is only a filter."""
    match node:
        case Cut(expression=inner) | Normalised(expression=inner) | Weighted(expression=inner):
            return _is_filter(inner)
        case Component(kind=kind):
            return kind == "filter"
    return False
