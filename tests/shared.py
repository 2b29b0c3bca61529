"""Paths, texts and small builders that several test files use."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

import sublex
from sublex.contracts.base import DocStats, Query, QueryTerm, Ranker, Statistics, TermStats
from sublex.contracts.fitted import Fittable
from sublex.contracts.operators import GAP, ordered
from sublex.index import manifest as manifests
from sublex.index.directory import Directory
from sublex.index.entries import Manifest
from sublex.index.format import FolderWriter
from sublex.index.schema import SchemaMismatch, record_of
from sublex.index.snapshot import Snapshot
from sublex.pipeline.index import Index
from sublex.rankers.bm25 import BM25
from sublex.rankers.coordination_level import CoordinateMatch
from sublex.rankers.dfr import PL2
from sublex.rankers.tfidf import TFIDF
from sublex.representations.model_store import StoreWriter
from sublex.representations.stored_models import load_values
from sublex.tools.strings import Strings
from sublex.trec.qrels import Qrels
from sublex.trec.runs import Run

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "queries" / "demo" / "documents.jsonl"
TOPICS, QRELS = DEMO.with_name("topics.trec"), DEMO.with_name("qrels.txt")
PLUGINS = Path(__file__).parent / "plugins" / "samples"

# The start of a command line that runs sublex in a process of its own.
SUBLEX = [sys.executable, "-c", "from sublex.cli import main; main()"]

WORDS = [f"w{k}" for k in range(40)]
QUERIES = ["cranes by the river", "bank", "seal pup beach", "zzzz", ""]


class AnySign(Ranker):
    """A ranker with scores of any sign; many are equal, and some are zero."""

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return np.round(3 * np.sin(tf + doc.length + term.df + term.cf)) / 2 * -1.0


RANKERS = {
    "BM25": BM25(),
    "PL2": PL2(),
    "coordination": CoordinateMatch(),
    "any sign": AnySign(),
    "cosine": TFIDF(smart="lnc.ltc"),
}


def texts(number: int, seed: int, words: int = 30) -> list[str]:
    """Return texts of up to `words` words drawn from WORDS, the first of them most often."""
    chance = random.Random(seed)
    odds = [1 / (k + 1) for k in range(len(WORDS))]
    return [" ".join(chance.choices(WORDS, odds, k=chance.randint(0, words))) for _ in range(number)]


def postings_in_fields(index) -> dict[str, dict[str, dict[str, int]]]:
    """Return for each field of an index of one segment, for each term that it holds, the frequencies by docno."""
    segment = index.snapshot.segments[0]
    every = np.arange(len(segment.terms))
    docs, terms = segment.gather(every)[0].tolist(), np.repeat(every, segment.df).tolist()
    found: dict[str, dict[str, dict[str, int]]] = {field: {} for field in index.fields}
    for field, lists in found.items():
        for doc, term, tf in zip(docs, terms, segment.field_tfs(field, every).tolist(), strict=True):
            if tf:
                lists.setdefault(segment.terms.text(term), {})[segment.docno(doc)] = tf
    return found


def postings_of(path: Path) -> dict[str, dict[str, int]]:
    """Return the postings of an index: for each term the docnos that hold it, with frequencies."""
    snapshot = Snapshot(path)
    found = {}
    for term in snapshot.terms():
        docs, tfs = snapshot.postings(term.term)
        found[term.term] = {snapshot.docno(int(doc)): int(tf) for doc, tf in zip(docs, tfs, strict=True)}
    return found


def positions_of(path: Path) -> dict[str, dict[str, list[int]]]:
    """Return the positions of an index: for each term the docnos that hold it, with the places in the document."""
    found: dict[str, dict[str, list[int]]] = {}
    for segment in Snapshot(path).segments:
        for number, term in enumerate(segment.terms.list()):
            docs, tfs = segment.postings(number, number + 1)
            places = np.split(segment.positions(number, number + 1), np.cumsum(tfs)[:-1])
            for doc, place in zip(docs.tolist(), places, strict=True):
                if not segment.dead[doc]:
                    found.setdefault(term.decode(), {})[segment.docno(doc)] = place.tolist()
    return found


def documents_with(index: Index, phrase: str, width: int = 1) -> set[str]:
    """Return the docnos that a search for a phrase finds, with at most `width` places from each word to the next."""
    gap = [] if index.snapshot.gapless else [GAP]
    terms = [index.analyzer.terms(token) or gap for token in phrase.split()]
    parts = [part for own in terms for part in own]
    if all(part is GAP for part in parts):
        return set()
    return set(index.search(Query(phrase, (QueryTerm(ordered(parts, width)),)), "BM25", k=len(index)).docnos)


def manifest_of(root: Path) -> dict[str, Any]:
    """Return the manifest of an index as JSON values, without its checksum."""
    values: dict[str, Any] = json.loads((root / "index.json").read_text(encoding="utf-8"))
    del values["checksum"]
    return values


def write_manifest(root: Path, values: dict[str, Any]) -> None:
    """Write JSON values as a manifest with a valid checksum, and with a valid fingerprint unless the values are no manifest."""
    with suppress(SchemaMismatch):
        values = values | {"fingerprint": manifests.fingerprint_of(record_of(values, Manifest))}
    path = root / "index.json"
    # The file may be linked to that of another index, which stays as it is.
    path.unlink()
    path.write_text(json.dumps(values | {"checksum": manifests.checksum_of(values)}))


def uncover(root: Path, kind: str) -> None:
    """Take the newest segment out of what a fitted model covers, as if its documents had been added without the model.

    `kind` begins the name of the model's entry.
    """
    manifest = manifest_of(root)
    entry = next(entry for name, entry in manifest["fitted"].items() if name.startswith(kind))
    (rows,) = entry["rows"].values()
    del rows["segments"][manifest["segments"][-1]["name"]]
    write_manifest(root, manifest)


def forge_rows(root: Path, name: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
    """Change one array of the rows that a fitted model has of a segment, and make all checksums right again."""
    (file,) = root.rglob(f"{name}.npy")
    kept = {path.stem: np.load(path) for path in file.parent.glob("*.npy") if path.stem != "checksums"}
    kept[name] = change(kept[name])
    place = Directory(root)
    for part in file.parent.relative_to(root).parts:
        place /= part
    place.remove()
    with FolderWriter(place) as writer:
        for each, array in kept.items():
            writer.put(each, array)
        entry = writer.finish()
    manifest = manifest_of(root)
    _, model, rows, segment = file.parent.relative_to(root).parts
    written = json.loads(json.dumps(entry._asdict(), default=dict))
    manifest["fitted"][model]["rows"][rows]["segments"][segment]["data"] = written
    write_manifest(root, manifest)


def stored_by(model: Fittable) -> dict[str, Any]:
    """Return the values that a fitted model stores, by name."""
    values: dict[str, Any] = {}
    model.save(SimpleNamespace(put=values.__setitem__))  # type: ignore[arg-type]
    return values


def load_stored(model: Fittable, values: dict[str, Any]) -> None:
    """Load values into a model as the engine does, from a folder."""
    with TemporaryDirectory() as folder:
        place = Directory(Path(folder)) / "model"
        with FolderWriter(place) as writer:
            store = StoreWriter(writer)
            for name, value in values.items():
                store.put(name, value)
            entry = store.finish()
        load_values(place, entry, model)


def scores(index: Index, expression: str, queries: list[str] = QUERIES) -> dict[str, dict[str, float]]:
    """Return the score of every hit by query and docno."""
    return {text: {hit.docno: hit.score for hit in index.search(text, expression, k=300)} for text in queries}


def run_of(table: dict[str, dict[str, float]], tag: str) -> Run:
    """Return a run of these scores by topic id and docno."""
    docnos = sorted({docno for hits in table.values() for docno in hits})
    rows = [
        (docnos.index(docno), score)
        for hits in table.values()
        for docno, score in sorted(hits.items(), key=lambda h: (h[1], h[0]), reverse=True)
    ]
    ends = np.cumsum([0, *map(len, table.values())])
    docs, values = np.array(rows).reshape(-1, 2).T
    return Run(list(table), ends, docs.astype(np.int32), values.astype(np.float32), Strings.of(docnos), tag)


def qrels_of(text: str) -> Qrels:
    """Return the judgements that this text in TREC's format holds."""
    with NamedTemporaryFile("w", suffix=".qrels") as file:
        file.write(text)
        file.flush()
        return sublex.read_qrels(file.name)
