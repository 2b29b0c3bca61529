"""A fitted representation on an index, ready to score: what a pipeline names by its expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sublex.base import Explanation, Query
from sublex.errors import IndexProblem, InputError, PluginError, contract
from sublex.fitted import Rows
from sublex.index.manifest import REPRESENTATIONS
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.messages import command, counted
from sublex.plugins import Resolved
from sublex.representations.identity import Namer
from sublex.representations.inputs import Vocabulary, inputs_of, size_of
from sublex.representations.rows import checked_rows, read_rows, zero_rows
from sublex.representations.stored_models import advising_refit as mending
from sublex.representations.stored_models import load_model as loaded
from sublex.representations.stored_models import not_fitted as absent
from sublex.representations.stored_models import token_counts as seen
from sublex.representations.view import View
from sublex.scores import NO_OPINION

# An explanation may differ from the score by so much: rows are single precision, explanations may add up doubles.
APART = 1e-3


class LoadedModel:
    """A fitted model of an index, loaded."""

    def __init__(self, index: Snapshot, resolved: Resolved, namer: Namer):
        self.index, self.name, self.generation = index, str(resolved.call), index.generation
        self.model: Any = namer.make(resolved)
        self._found = namer.identity(resolved, self.model)
        if self._found.model not in index.fitted:
            raise IndexProblem(absent(index.path, resolved.call, index.fitted))
        self._entry = index.fitted[self._found.model]
        loaded(index.path, self._entry, self._found, self.model)
        self.fingerprint: str = self._entry["model"]["checksum"]
        self.uncovered = 0
        # The index as the model sees it.
        self.view = View(index, index.segments, Vocabulary(()), ())

    def card(self) -> dict[str, Any]:
        """How the model was made, and what it says of itself."""
        entry = self._entry
        with contract(self._found.kind, self.name):
            described = dict(self.model.describe(self.view))
        return {
            "expression": self.name,
            "model": self._found.model,
            "fingerprint": self.fingerprint,
            "version": entry["version"],
            "fitted on": entry["origin"],
            "depends on": entry["depends"],
            "resources": sorted(entry["resources"]),
            **self._coverage(),
            "bytes of the model": sum(entry["model"]["components"].values()),
            **described,
        }

    def _coverage(self) -> dict[str, Any]:
        return {}


class LoadedRepresentation(LoadedModel):
    """A representation with the rows of an index's documents; those that differ at query time alone share these in `views`."""

    def __init__(
        self,
        index: Snapshot,
        resolved: Resolved,
        namer: Namer,
        views: dict[tuple[int, str], View],
        allow_uncovered: bool = False,
    ):
        super().__init__(index, resolved, namer)
        found = self._found
        rows = self._entry["rows"].get(found.rows, {}).get("segments")
        if rows is None:
            raise IndexProblem(absent(index.path, resolved.call, index.fitted))
        segments = tuple(index.segments)
        covered = [segment.name in rows for segment in segments]
        self.uncovered = sum(segment.live for segment, known in zip(segments, covered, strict=True) if not known)
        if self.uncovered and not (allow_uncovered and any(covered)):
            raise IndexProblem(
                f"{self.name} does not cover {counted(self.uncovered, 'document')} of {index.path}; "
                f"run: {command('fit', index.path, resolved.call, '--update')}"
            )
        self._covered = np.repeat(covered, [segment.docs for segment in segments])
        key = self.generation, found.rows
        if key not in views:
            with mending(index.path, self._entry["expression"]):
                place = index.path / REPRESENTATIONS / found.model / found.rows
                views[key] = self._view(segments, place, rows)
        self.view = views[key]
        self.vocabulary = self.view.vocabulary
        self.inputs = inputs_of(self.model, self.vocabulary, index.analyzer)

    def _view(self, segments: Sequence[Segment], place: Path, rows: Mapping[str, Any]) -> View:
        """The index with the rows of its segments; rows of zeros where they are not covered."""
        parts = {s.name: read_rows(place / s.name, rows[s.name]["data"], s.docs) for s in segments if s.name in rows}
        like = next(iter(parts.values()), np.empty(0))
        return View(
            self.index,
            segments,
            Vocabulary(self.model.vocabulary),
            [parts[s.name] if s.name in parts else zero_rows(like, s.docs) for s in segments],
        )

    def _coverage(self) -> dict[str, Any]:
        rows = self._entry["rows"][self._found.rows]["segments"].values()
        _, added = seen(self._entry)
        return {
            "terms": len(self.vocabulary),
            "documents": sum(segment.live for segment in self.index.segments),
            "tokens added since": added["tokens"],
            "of these unknown": added["unknown"],
            "bytes of the rows": sum(sum(own["data"]["components"].values()) for own in rows),
        }

    def query(self, query: Query) -> Any:
        """A query as the model reads it."""
        self._still()
        with contract("representation", self.name):
            return self.model.encode_queries(self.inputs.query(query))[0]

    def _still(self) -> None:
        """Documents have other numbers in another generation."""
        if self.index.generation != self.generation:
            raise IndexProblem(f"{self.index.path} has changed since this pipeline was made; ask for a new one.")

    def vectors(self, inputs: Any) -> Rows:
        """Documents as vectors for use elsewhere."""
        with contract("representation", self.name):
            return checked_rows(self.model.transform(inputs), size_of(inputs), self.name)

    def scores(self, encoded: Any, docs: np.ndarray | None = None) -> np.ndarray:
        """What the model says of documents; of all, by number, without `docs`."""
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

    def best(self, encoded: Any, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """The documents that it scores highest, in no order yet but with every tie of the last, and their scores."""
        if depth < 1:
            raise InputError(f"k={depth} should be at least 1.")
        scores = self.scores(encoded)
        dead = np.concatenate([segment.dead for segment in self.view.segments])
        scores[dead] = NO_OPINION
        found = np.flatnonzero(scores > NO_OPINION)
        if len(found) > depth:
            least = np.partition(scores[found], len(found) - depth)[len(found) - depth]
            found = found[scores[found] >= least]
        self._still()
        return found.astype(np.int32), scores[found]

    def explain(self, encoded: Any, doc: int) -> Explanation:
        """A document's score, taken apart by the model; -inf where it has no opinion."""
        score = float(self.scores(encoded, np.array([doc], np.int32))[0])
        if score == NO_OPINION:
            why = "no opinion on this document" if self._covered[doc] else "this document is not covered by the model"
            return Explanation(float(NO_OPINION), why, "evidence")
        with contract("representation", self.name):
            found = self.model.explain(encoded, self.view, doc)
            if not isinstance(found, Explanation):
                raise PluginError(
                    f"{self.name} explained a score by {type(found).__name__}, and not by an Explanation."
                )
            if not abs(found.value - score) <= APART * max(1.0, abs(score)):
                raise PluginError(f"{self.name} explained {found.value:g} where the score is {score:g}.")
            return found
