"""A fitted representation on an index, ready to score: what a pipeline names by its expression."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sublex.base import Explanation, Query
from sublex.errors import IndexProblem, PluginError, contract, counted
from sublex.fitted import Rows
from sublex.index import manifest as files
from sublex.index.index import Index
from sublex.plugins import Resolved
from sublex.represent import rows as kept
from sublex.represent.fit import absent, loaded, mending, seen
from sublex.represent.identity import Namer
from sublex.represent.inputs import Vocabulary, inputs_of, size_of
from sublex.represent.view import View

NO_OPINION = np.float32(-np.inf)


class Kept:
    """A fitted model of an index, loaded."""

    def __init__(self, index: Index, resolved: Resolved, namer: Namer):
        self.index, self.name, self._generation = index, str(resolved.call), index.generation
        self.model: Any = namer.make(resolved)
        self._found = namer.identity(resolved, self.model)
        if self._found.model not in index.fitted:
            raise IndexProblem(absent(index.path, resolved.call, index.fitted))
        self._entry = index.fitted[self._found.model]
        loaded(index.path, self._entry, self._found, self.model)
        self.fingerprint: str = self._entry["model"]["checksum"]
        self.uncovered = 0

    @cached_property
    def view(self) -> View:
        """The index as the model sees it."""
        return View(self.index, Vocabulary(()), ())

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


class Side(Kept):
    """A representation with the rows of an index's documents; those that differ at query time alone share these in `views`."""

    def __init__(
        self, index: Index, resolved: Resolved, namer: Namer, views: dict[str, View], allow_uncovered: bool = False
    ):
        super().__init__(index, resolved, namer)
        found = self._found
        rows = self._entry["rows"].get(found.rows, {}).get("segments")
        if rows is None:
            raise IndexProblem(absent(index.path, resolved.call, index.fitted))
        covered = [segment.name in rows for segment in index.segments]
        self.uncovered = sum(segment.live for segment, known in zip(index.segments, covered, strict=True) if not known)
        if not all(covered) and not (allow_uncovered and any(covered)):
            raise IndexProblem(
                f"{self.name} does not cover {counted(self.uncovered, 'document')} added to {index.path}; "
                f"run: sublex fit {index.path} '{resolved.call}' --update"
            )
        self._covered = np.repeat(covered, [segment.docs for segment in index.segments])
        self.inputs = inputs_of(self.model, index.analyzer)
        self.vocabulary = self.inputs.vocabulary
        if found.rows not in views:
            with mending(index.path, self._entry["expression"]):
                views[found.rows] = self._view(index.path / files.REPRESENTATIONS / found.model / found.rows, rows)
        self.__dict__["view"] = views[found.rows]

    def _view(self, place: Path, rows: Mapping[str, Any]) -> View:
        """The index with the rows of its segments; rows of zeros where they are not covered."""
        segments = self.index.segments
        parts = {s.name: kept.read(place / s.name, rows[s.name]["data"], s.docs) for s in segments if s.name in rows}
        like = next(iter(parts.values()), np.empty(0))
        return View(
            self.index,
            self.vocabulary,
            [parts[s.name] if s.name in parts else kept.empty(like, s.docs) for s in segments],
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
        if self.index.generation != self._generation:
            raise IndexProblem(f"{self.index.path} has changed since this pipeline was made; ask for a new one.")
        with contract("representation", self.name):
            return self.model.encode_queries(self.inputs.query(query))[0]

    def vectors(self, inputs: Any) -> Rows:
        """Documents as vectors for use elsewhere."""
        with contract("representation", self.name):
            return kept.checked(self.model.transform(inputs), size_of(inputs), self.name)

    def scores(self, encoded: Any, docs: np.ndarray | None = None) -> np.ndarray:
        """What the model says of documents; of all, by number, without `docs`."""
        with contract("representation", self.name):
            scores = np.asarray(self.model.score(encoded, self.view, docs))
            if self.uncovered:
                scores = np.where(self._covered if docs is None else self._covered[docs], scores, NO_OPINION)
        wanted = int(self.index.bases[-1]) if docs is None else len(docs)
        if scores.shape != (wanted,):
            raise PluginError(f"{self.name} gave scores of shape {scores.shape} for {wanted:,} documents.")
        with np.errstate(over="ignore"):
            rounded = scores.astype(np.float32)
        if np.isnan(rounded).any() or np.isposinf(rounded).any():
            raise PluginError(f"{self.name} gave a score that is not a number.")
        return rounded

    def best(self, encoded: Any, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """The documents that it scores highest, in no order yet but with every tie of the last, and their scores."""
        scores = self.scores(encoded)
        dead = np.concatenate([segment.dead for segment in self.index.segments])
        scores[dead] = NO_OPINION
        found = np.flatnonzero(scores > NO_OPINION)
        if len(found) > depth:
            least = np.partition(scores[found], len(found) - depth)[len(found) - depth]
            found = found[scores[found] >= least]
        return found.astype(np.int32), scores[found]

    def explain(self, encoded: Any, doc: int) -> Explanation:
        """A document's score, taken apart by the model."""
        with contract("representation", self.name):
            found = self.model.explain(encoded, self.view, doc)
            if not isinstance(found, Explanation):
                raise PluginError(
                    f"{self.name} explained a score by {type(found).__name__}, and not by an Explanation."
                )
            return found
