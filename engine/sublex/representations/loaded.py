"""Loaded models: fitted models of a snapshot, read from disk and ready to score.

The engine calls fitted plugins only through these classes. They check the values that the plugin returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.analysis.tokens import words_by_term
from sublex.contracts.base import Explanation, Facet, Mark, Param, Proposal, Query, Vectors
from sublex.contracts.fitted import Representation, Rows
from sublex.contracts.labels import count_labels
from sublex.contracts.scores import NO_OPINION
from sublex.errors import IndexCorrupt, IndexProblem, InputError, PluginError, contract
from sublex.index.directory import Directory
from sublex.index.entries import SegmentRows
from sublex.index.manifest import REPRESENTATIONS
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.language.plugins import Component
from sublex.representations.finding import SketchedSegment, find
from sublex.representations.identity import Namer
from sublex.representations.inputs import ModelVocabulary, inputs_of, size_of
from sublex.representations.label_decisions import NOTHING, Applied, applied, hash_of, told
from sublex.representations.left_out import why_left_out
from sublex.representations.list_files import LISTS, has_lists, read_lists, weights_of
from sublex.representations.list_files import key_of as lists_key
from sublex.representations.query_encoding import QueryEncoder
from sublex.representations.rows import checked_rows, declared_rows, kind_of_rows, read_rows, zero_rows
from sublex.representations.sketch import Sketch, VectorSource, similarity_of
from sublex.representations.sketch_files import has_sketch, key_of, read_sketch, write_sketch
from sublex.representations.stored_models import advising_refit, load_model, not_fitted, token_counts
from sublex.representations.view import IndexView
from sublex.retrieval.space_searcher import SpaceSearcher
from sublex.retrieval.weight_lists import WeightLists
from sublex.tools.copies import Deferred
from sublex.tools.hints import resolve_hints
from sublex.tools.messages import Message, Step, counted
from sublex.tools.sentences import best_sentence, first_sentences

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sublex.contracts.base import Document

# The largest relative difference between a score and its explanation. They may differ because rows are float32, and
# explanations may add up float64.
TOLERANCE = 1e-3


def checked_explanation(found: Any, score: float, name: str) -> Explanation:
    """Check and return a model's explanation of a score. Raise PluginError if it explains another value."""
    if not isinstance(found, Explanation):
        raise PluginError(f"{name} explained a score by {type(found).__name__}, and not by an Explanation.")
    if not abs(found.value - score) <= TOLERANCE * max(1.0, abs(score)):
        raise PluginError(f"{name} explained {found.value:g} where the score is {score:g}.")
    return found


class LoadedModel(Deferred):
    """A fitted model of a snapshot: the plugin's object, restored from disk, and the plugin's view of the snapshot."""

    pickled = ("snapshot", "name")

    def __init__(self, snapshot: Snapshot, component: Component, namer: Namer):
        self.snapshot, self.name, self._component = snapshot, str(component), component
        self.model: Any = namer.make(component)
        self._identity = namer.identity(component, self.model)
        if self._identity.model not in snapshot.fitted:
            raise IndexProblem(not_fitted(snapshot.path, component, snapshot.fitted))
        self._entry = snapshot.fitted[self._identity.model]
        load_model(snapshot.path, self._entry, self._identity, self.model)
        self.fingerprint = self._entry.model.checksum
        self.decisions = snapshot.manifest.labels.get(self._identity.expression, ())
        self.uncovered = 0
        self.view = IndexView(snapshot, snapshot.segments, ModelVocabulary(()), ())

    def card(self) -> dict[str, Any]:
        """Return facts about the model: those of the fit, and those that the plugin's `describe` adds."""
        entry = self._entry
        with contract(self._identity.kind, self.name):
            described = dict(self.model.describe(self.view))
        return {
            "expression": self.name,
            "model": self._identity.model,
            "fingerprint": self.fingerprint,
            "version": entry.version,
            "fitted on": entry.origin,
            "depends on": list(entry.depends),
            "resources": sorted(entry.resources),
            **self._coverage(),
            **self._decided(),
            "bytes of the model": sum(entry.model.components.values()),
            **described,
        }

    @property
    def labels(self) -> tuple[str, ...]:
        """The names that the model gives to its topics or keyphrases; empty if it has no names."""
        return ()

    @cached_property
    def _known_terms(self) -> frozenset[str]:
        with contract(self._identity.kind, self.name):
            return frozenset(self.model.known_terms())

    def left_out(self, query: Query) -> dict[str, str]:
        """Return the words of a query that the model does not know, each with the reason.

        The words are written as in the query. The result also has unknown terms that an expander added, in the form
        that documents use most.
        """
        if not self._known_terms:
            return {}
        unknown = [term for term in query.word_weights() if term not in self._known_terms]
        words = words_by_term(self.snapshot.analyzer, query.text) if unknown else {}
        surface = self.snapshot.corpus.surface
        return {
            words.get(term) or surface(term): why_left_out(self.snapshot, self._component, term) for term in unknown
        }

    def page(self) -> str:
        """Return the HTML page on which the plugin shows the model. Raise InputError if the plugin has no page."""
        with contract(self._identity.kind, self.name):
            text = str(self.model.page(self.view, self.name))
        if not text:
            raise InputError(f"{self.name} has no page; leave out -o to print its card.")
        return text

    @property
    def labels_expression(self) -> str:
        """The expression under which decisions about the model's labels are stored."""
        return self._identity.expression

    def _coverage(self) -> dict[str, Any]:
        return {}

    def _decided(self) -> dict[str, Any]:
        return {}

    @property
    def decided(self) -> str:
        """The decisions of people about the labels of the model, in words; "" without decisions."""
        return ""

    @property
    def asked_by(self) -> str:
        """The words "queries by" and the hash of the encoder that the index records; "" without an encoder."""
        return ""


class LoadedRepresentation(LoadedModel):
    """A fitted representation with the rows of the snapshot's documents.

    Representations that differ only in parameters of queries share their rows through `views`. `uncovered` counts live
    documents without a row, which get no score. If the number is not 0, an error is raised unless `allow_uncovered` is
    set.
    """

    def __init__(
        self, snapshot: Snapshot, component: Component, namer: Namer, views: dict[str, IndexView], allow_uncovered: bool
    ):
        super().__init__(snapshot, component, namer)
        identity = self._identity
        if identity.rows not in self._entry.rows:
            raise IndexProblem(not_fitted(snapshot.path, component, snapshot.fitted))
        rows = self._entry.rows[identity.rows].segments
        segments = tuple(snapshot.segments)
        covered = [segment.name in rows for segment in segments]
        self.uncovered = sum(segment.live for segment, known in zip(segments, covered, strict=True) if not known)
        if self.uncovered and not (allow_uncovered and any(covered)):
            raise IndexProblem(
                Message(self._not_covering(), "; run: ", Step("fit", snapshot.path, component, update=True))
            )
        self._covered = np.repeat(covered, [segment.docs for segment in segments])
        self._rows, self._folder = rows, Directory(snapshot.path) / REPRESENTATIONS / identity.model / identity.rows
        if identity.rows not in views:
            vectors = self._component.values[self.model_vectors.name] if self.model.reads == "rows" else ""
            with advising_refit(snapshot.path, self._entry.expression, vectors):
                views[identity.rows] = self._view(segments, self._folder, rows)
        self.view = views[identity.rows]
        self.vocabulary = self.view.vocabulary
        self.inputs = inputs_of(self.model, self.vocabulary, snapshot.analyzer, self._parts)
        self.query_encoder: QueryEncoder | None = None
        if self.model.reads == "rows":
            self._look_for_uncovered_rows(allow_uncovered)
            values, name = component.values, component.values[self.model_vectors.name]
            chosen, other = values.get("encoder"), bool(values.get("other_encoder"))
            entry = snapshot.manifest.vectors[name]
            self.query_encoder = QueryEncoder(name, entry, chosen, other, namer.registry)
        self._applied = NOTHING
        if self.decisions:
            self._applied = applied(self.decisions, [proposal.text for proposal in self.proposals])
            self.model.named, self.model.merged = self._applied.named, self._applied.merged

    def _not_covering(self) -> str:
        return f"{self.name} does not cover {counted(self.uncovered, 'document')} of {self.snapshot.path}"

    @property
    def _parts(self) -> Mapping[str, Rows]:
        """The rows of segments, by the names of segments."""
        return {segment.name: self.view.part(number) for number, segment in enumerate(self.view.segments)}

    def _look_for_uncovered_rows(self, allow_uncovered: bool) -> None:
        """Count the live documents whose rows are empty. Raise IndexProblem if there are any, unless they are allowed."""
        with contract("representation", self.name):
            covers = self.model.covers(self.view)
        if covers is None:
            return
        self._covered &= covers
        self.uncovered = int((~self._covered & ~self._dead).sum())
        if self.uncovered and not allow_uncovered:
            names = self._component.values[self.model_vectors.name]
            step = Step("vectors add", self.snapshot.path, names)
            raise IndexProblem(Message(self._not_covering(), ", which came after its vectors; run: ", step, " FILE"))

    @property
    def model_vectors(self) -> Param:
        """The parameter that names vectors of the index. Only a representation of given vectors has it."""
        return next(param for param in self._component.registration.params if param.type is Vectors)

    def _view(self, segments: Sequence[Segment], place: Directory, rows: Mapping[str, SegmentRows]) -> IndexView:
        """Return a view of the segments with their stored rows. A segment without stored rows gets rows of zeros."""
        wanted = declared_rows(self.model)
        parts = {
            s.name: read_rows(place / s.name, rows[s.name].data, s.docs, wanted) for s in segments if s.name in rows
        }
        like = next(iter(parts.values()), np.empty(0))
        for name, part in parts.items():
            if kind_of_rows(part) != kind_of_rows(like):
                raise IndexCorrupt(f"{(place / name).path} has rows of another model; fit it again.")
        return IndexView(
            self.snapshot,
            segments,
            ModelVocabulary(self.model.vocabulary),
            [parts[s.name] if s.name in parts else zero_rows(like, s.docs) for s in segments],
        )

    def _coverage(self) -> dict[str, Any]:
        rows = self._entry.rows[self._identity.rows].segments.values()
        added = token_counts(self._entry).added
        return {
            "terms": len(self.vocabulary),
            "documents": sum(segment.live for segment in self.snapshot.segments),
            "tokens added since": added.tokens,
            "of these unknown": added.unknown,
            "bytes of the rows": sum(sum(own.data.components.values()) for own in rows),
            **self._bytes_of_lists(),
        }

    def _bytes_of_lists(self) -> dict[str, int]:
        """Return the bytes of the model's posting lists on disk, if it has posting lists."""
        if not self.model.sums:
            return {}
        return {"bytes of the lists": sum((self._folder / name / LISTS).nbytes() for name in self._rows)}

    def _decided(self) -> dict[str, Any]:
        if not self.decisions:
            return {}
        return {"decisions on labels": self.decided, "hash of the decisions": hash_of(self.decisions)}

    @property
    def decided(self) -> str:
        """The decisions of people about the labels of the model, in words; "" without decisions."""
        return told(self._applied)

    @property
    def asked_by(self) -> str:
        """The words "queries by" and the hash of the encoder that the index records; "" without an encoder."""
        return self.query_encoder.about if self.query_encoder else ""

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """The proposals of the model for its labels; empty if people cannot name its labels."""
        with contract("representation", self.name):
            name = f"proposals, {self.model.labels_name}"
            found: tuple[Proposal, ...] = self.view.once(name, lambda: tuple(self.model.proposals(self.view)))
        if not all(isinstance(proposal, Proposal) for proposal in found):
            raise PluginError(f"{self.name} proposed a label that is not a Proposal.")
        return found

    @property
    def applied_decisions(self) -> Applied:
        """The decisions of people about the labels of this model, applied to them."""
        return self._applied

    def query(self, query: Query) -> Any:
        """Return the query as the model encodes it, for `scores` and `explain`."""
        query = self.query_encoder.given(query) if self.query_encoder else query
        with contract("representation", self.name):
            return self.model.encode_queries(self.inputs.query(query))[0]

    def vectors(self, inputs: Any) -> Rows:
        """Return the vectors of documents for use outside the engine.

        `inputs` are the documents in the form that the model reads.
        """
        with contract("representation", self.name):
            return checked_rows(self.model.transform(inputs), size_of(inputs), self.name)

    def has_vectors(self, inputs: Any) -> np.ndarray:
        """Return for each document of `inputs` whether `vectors` returns a vector for it."""
        with contract("representation", self.name):
            known = self.model.has_vectors(inputs)
            return np.ones(size_of(inputs), np.bool_) if known is None else known

    def query_vectors(self, queries: Sequence[Query]) -> Rows:
        """Return the vectors of queries as rows of float32.

        The rows are sparse if the model's scores are sums. Raise InputError if the model compares no vectors.
        """
        if self.sums:
            return self._query_weights(queries)
        if type(self.model).query_vector is Representation.query_vector:
            raise InputError(f"{self.name} gives queries no vectors; sublex encode can write those of documents alone.")
        with contract("representation", self.name):
            found = [self.model.query_vector(self.query(query)) for query in queries]
            return np.array(found, np.float32)

    def _query_weights(self, queries: Sequence[Query]) -> csr_array:
        from scipy.sparse import csr_array

        found = [dict(sorted(self.weights(self.query(query)).items())) for query in queries]
        columns = np.array([column for each in found for column in each], np.int32)
        weights = np.array([weight for each in found for weight in each.values()], np.float32)
        ends = np.cumsum([0, *map(len, found)])
        return csr_array((weights, columns, ends), shape=(len(found), self.view.part(0).shape[1]))

    @property
    def column_names(self) -> Sequence[str]:
        """The names of the columns of sparse `vectors`; empty if columns have no names."""
        with contract("representation", self.name):
            return list(self.model.column_names())

    def scores(self, encoded: Any, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the scores of the documents `docs` as float32.

        By default, return the scores of all documents by number. A document without a score gets -inf.
        """
        if self.model.sums:
            return self.searcher.scores(self.weights(encoded), self._all if docs is None else docs)
        with contract("representation", self.name):
            scores = np.asarray(self.model.score(encoded, self.view, docs))
            if self.uncovered:
                scores = np.where(self._covered if docs is None else self._covered[docs], scores, NO_OPINION)
        wanted = len(self.view) if docs is None else len(docs)
        if scores.shape != (wanted,):
            raise PluginError(f"{self.name} gave scores of shape {scores.shape} for {wanted:,} documents.")
        with np.errstate(over="ignore"):
            rounded = scores.astype(np.float32)
        if np.isnan(rounded).any() or np.isposinf(rounded).any():
            raise PluginError(f"{self.name} gave a score that is not a number, or too large for one.")
        return rounded

    @cached_property
    def _all(self) -> np.ndarray:
        """The numbers of all documents."""
        return np.arange(len(self.view), dtype=np.int32)

    @property
    def sums(self) -> bool:
        """Whether scores are sums over columns of the rows. If they are, `searcher` finds and scores documents."""
        return bool(self.model.sums)

    @property
    def searcher(self) -> SpaceSearcher:
        """The searcher that reads the posting lists of columns, if scores are `sums`.

        Representations with one view share it.
        """
        found: SpaceSearcher = self.view.once("searcher of columns", self._searcher)
        return found

    def _searcher(self) -> SpaceSearcher:
        lists = []
        for number, segment in enumerate(self.view.segments):
            rows, stored = self.view.part(number), None
            if segment.name in self._rows and has_lists(self.model, rows):
                key = lists_key(self._entry.model, self._rows[segment.name].data, segment.dead)
                stored = read_lists(self._folder / segment.name, key)
            lists.append(WeightLists(weights_of(self.model, rows, self.name), segment.dead, stored))
        return SpaceSearcher(self.snapshot, lists)

    def weights(self, encoded: Any) -> dict[int, float]:
        """Return the weights that the model gives to columns for an encoded query, by the columns' numbers, checked."""
        with contract("representation", self.name):
            weights, columns = self.model.query_weights(encoded), self.view.part(0).shape[1]
            # This test of sets of types and of extremes takes a third of the time of a test for each column.
            if not {*map(type, weights)} <= {int} or (weights and not 0 <= min(weights) <= max(weights) < columns):
                raise PluginError("it gave a query the weight of a column that rows do not have")
            return dict(zip(weights, map(float, weights.values()), strict=True))

    def best(self, scores: np.ndarray, depth: int, docs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the `depth` live documents with the highest scores, unordered, and their scores.

        `scores` has the scores of `docs`; if `docs` is None, it has the scores of all documents by number. The result
        also has all documents that tie with the last of the `depth` documents.
        """
        if depth < 1:
            raise InputError(f"k={depth} should be at least 1.")
        known = np.flatnonzero((scores > NO_OPINION) & ~(self._dead if docs is None else self._dead[docs]))
        docs, scores = known if docs is None else docs[known], scores[known]
        if len(docs) > depth:
            high = scores >= np.partition(scores, len(docs) - depth)[len(docs) - depth]
            docs, scores = docs[high], scores[high]
        return docs.astype(np.int32), scores

    def find_by_sketches(self, encoded: Any, depth: int, exact: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the numbers and scores of some documents, among them the `depth` best documents.

        If the model has `find=approximate`, a few of the best may be missing, unless `exact` is true. Return None if
        all documents must be scored.
        """
        widths = {segment.sketch.width for segment in self._sketched if segment.sketch}
        if not widths or depth < 1:
            return None
        with contract("representation", self.name):
            query = np.asarray(self.model.query_vector(encoded), np.float64)
        if query.ndim != 1 or widths != {len(query)} or not np.isfinite(query).all():
            raise PluginError(f"{self.name} gave a query vector that does not fit the vectors of the documents.")
        return find(
            self._sketched, query, lambda docs: self.scores(encoded, docs), depth, exact or not self._approximate,
            similarity_of(self.model),
        )  # fmt: skip

    @cached_property
    def _dead(self) -> np.ndarray:
        """The mask of the deleted documents, by number."""
        return np.concatenate([segment.dead for segment in self.view.segments])

    @property
    def _approximate(self) -> bool:
        return bool(self.model.find == "approximate")

    @cached_property
    def _sketched(self) -> list[SketchedSegment]:
        """The segments with their sketches. With `find=approximate`, missing sketches are made now."""
        if not similarity_of(self.model):
            if not self._approximate:
                return []
            raise InputError(f"{self.name} finds documents by scoring them all; leave out find=approximate.")
        segments = self.view.segments
        found = self.view.once("sketches", lambda: [self._sketch(segment) for segment in segments])
        if self._approximate:
            read = list(zip(segments, found, strict=True))
            found = self.view.once("all sketches", lambda: [known or self._sketch(s, make=True) for s, known in read])
        return [
            SketchedSegment(base, segment.dead, sketch)
            for base, segment, sketch in zip(self.view.bases.tolist(), segments, found, strict=False)
        ]

    def _sketch(self, segment: Segment, make: bool = False) -> Sketch | None:
        """Read or make the sketch of a segment; return None if the segment has none."""
        if segment.name not in self._rows or not has_sketch(self.model, segment.docs):
            return None
        folder, key = self._folder / segment.name, key_of(self._entry.model, self._rows[segment.name].data)
        if make:
            return write_sketch(folder, key, VectorSource(self.model, self.inputs, segment, self.name))
        return read_sketch(folder, key, segment.docs, not self.model.cosines)

    def explain(self, encoded: Any, doc: int) -> Explanation:
        """Return the model's explanation of the score of the document `doc`.

        If the plugin gives no explanation, the result is one leaf that says so. Raise PluginError if the value of the
        explanation is not the score.
        """
        score = float(self.scores(encoded, np.array([doc], np.int32))[0])
        if score == NO_OPINION:
            return Explanation(float(NO_OPINION), self._why_silent(doc), "evidence")
        if type(self.model).explain is Representation.explain:
            return Explanation(score, "the plugin gives no explanation")
        with contract("representation", self.name):
            return checked_explanation(self.model.explain(encoded, self.view, doc), score, self.name)

    def _why_silent(self, doc: int) -> str:
        """Return why a document has no score, in words."""
        if not self._covered[doc]:
            return "this document is not covered by the model"
        if self.model.reads == "rows":
            known = self.view.map_rows(lambda rows: self.has_vectors(rows), np.array([doc]))
            if not known[0]:
                return f"no opinion: the document has no vector {self._component.values[self.model_vectors.name]}"
            if similarity_of(self.model) == "cosine":
                return "no opinion: a vector of zeros has no cosine"
        return "no opinion on this document"

    def sentence_of(self, query: Query, encoded: Any, document: Document) -> dict[str, str]:
        """Return, as evidence, the sentence of a document that alone would have the highest score.

        The result is empty unless an encoder computes the vector of the query and the model compares vectors.
        """
        compare = getattr(self.model, "similarities", None)
        if self.query_encoder is None or compare is None or not self.query_encoder.encodes(query):
            return {}
        sentences = first_sentences(f"{document.title}\n\n{document.text}")
        if not sentences:
            return {}
        vectors = self.query_encoder.documents(sentences)
        with contract("representation", self.name):
            return best_sentence(sentences, compare(encoded, vectors))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names that the model gives to its topics or keyphrases; empty if it has no names."""
        with contract("representation", self.name):
            name = self.model.labels_name
            labels: tuple[str, ...] = self.view.once(name, lambda: tuple(self.model.labels(self.view)))
        if not all(isinstance(label, str) and label.strip() for label in labels):
            raise PluginError(f"{self.name} gave a label that is not a text.")
        return labels

    def label_shares(self, docs: np.ndarray) -> csr_array:
        """Return the share of each label in each document, from 0 to 1, as sparse rows of documents by labels."""
        with contract("representation", self.name):
            shares = checked_rows(self.model.label_shares(self.view, docs), len(docs), self.name)
        if shares.shape != (len(docs), len(self.labels)) or not hasattr(shares, "indptr"):
            raise PluginError(f"{self.name} gave shares of shape {shares.shape} for {len(self.labels):,} labels.")
        return self._joined(shares)

    def _joined(self, shares: csr_array) -> csr_array:
        """Give every label of a merged group the sum of the group's shares."""
        merged = self._applied.merged
        if not merged:
            return shares
        from scipy.sparse import csr_array

        wholes = np.array([merged.get(number, number) for number in range(shares.shape[1])])
        ones, numbers = np.ones(len(wholes), np.float32), np.arange(len(wholes))
        sums = csr_array((ones, (numbers, wholes)), shape=(len(wholes), len(wholes)))
        return csr_array(shares @ sums @ sums.T)

    def facets(self, docs: np.ndarray) -> list[Facet]:
        """Return the labels of the documents `docs`, each with the number of its documents, most frequent first."""
        if not self.labels:
            raise InputError(f"{self.name} has no labels to count; name a model that has, for example lda(k=20).")
        merged = self._applied.merged
        with contract("representation", self.name):
            facets = (
                [f for f in self._counted(docs) if f.number not in merged]
                if merged
                else list(self.model.facets(self.view, docs))
            )
        if not all(isinstance(facet, Facet) and 0 < facet.docs <= len(docs) for facet in facets):
            raise PluginError(f"{self.name} counted labels by something else than Facet, or beyond the documents.")
        return facets

    def _counted(self, docs: np.ndarray) -> list[Facet]:
        return count_labels(self.labels, self.label_shares(docs), self.model.least_share)

    def marks(self, encoded: Any, doc: int) -> list[Mark]:
        """Return the words of a document that have a label, with their labels."""
        with contract("representation", self.name):
            marks = list(self.model.marks(encoded, self.view, doc))
        if not all(isinstance(mark, Mark) and 0 < mark.weight <= 1 for mark in marks):
            raise PluginError(f"{self.name} marked words by something else than Mark, or with a weight outside 0 to 1.")
        merged = self._applied.merged
        return [
            mark._replace(number=merged[mark.number], label=self.labels[merged[mark.number]])
            if mark.number in merged
            else mark
            for mark in marks
        ]


resolve_hints(__name__)
