"""What every representation must hold, checked on the demo collection: for `sublex plugin test`, and for a plugin's own tests.

    import pytest
    from sublex.testing import CHECKS, Subject

    @pytest.mark.parametrize("check", CHECKS)
    def test_contract(check, tmp_path):
        check(Subject("mine(k=8)", tmp_path))

Each check raises an AssertionError whose message says what was found.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import sublex
from sublex.base import Document, Explanation, Param, Query, QueryTerm
from sublex.expression import Call
from sublex.pipeline.index import Index
from sublex.representations.fitting import Fitting, namer
from sublex.representations.inputs import size_of

QUERIES = ("cranes by the river", "bank", "seal seal pup")
SPLIT = 150
CHILD = """
import json, sys, sublex
from sublex.index.corpus import Corpus
from sublex.estimators import blocks
from sublex.representations import inputs
# Small blocks, so that the demo collection is many of them.
blocks.BLOCK = inputs.ROWS = inputs.TEXTS = 50
Corpus.blocks.__defaults__ = (50,)
documents = [sublex.Document(*row) for row in json.load(open(sys.argv[1]))]
found = {}
for workers in sys.argv[4:]:
    index = sublex.build(documents, f"{sys.argv[2]}-{workers}", workers=1)
    index.fit(sys.argv[3], workers=int(workers))
    found[workers] = index.fitted
sys.stdout.write(json.dumps(found, sort_keys=True))
"""
FRESH = """
import json, sys, sublex
index = sublex.open(sys.argv[1])
sys.stdout.write(json.dumps([[(hit.docno, hit.score) for hit in index.search(text, sys.argv[2], k=300)] for text in sys.argv[3:]]))
"""
IMPORTS = """
import sys
from importlib.metadata import entry_points
(point,) = [point for point in entry_points(group="sublex") if point.name == sys.argv[1]]
module = point.load()
module.register_representations(register=lambda *args, **named: None)
sys.stdout.write(",".join(sorted({"numba", "scipy"} & set(sys.modules))))
"""


class Subject:
    """A representation on the demo collection, in a folder of its own."""

    def __init__(self, expression: str, folder: str | os.PathLike[str]):
        self.expression, self.folder = expression, Path(folder)

    @cached_property
    def documents(self) -> list[Document]:
        """The demo's documents."""
        package = Path(sublex.__file__).parent
        places = (package / "demo", package.parents[1] / "queries" / "demo")
        file = next(place / "documents.jsonl" for place in places if (place / "documents.jsonl").is_file())
        rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
        return [Document(row["id"], row["text"], row["title"]) for row in rows]

    def build(self, name: str, documents: list[Document] | None = None) -> Index:
        """An index of documents, by default of all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return sublex.build(documents or self.documents, self.folder / name, overwrite=True)

    @cached_property
    def index(self) -> Index:
        """An index of all documents with the model fitted."""
        index = self.build("whole")
        index.fit(self.expression)
        return index

    def scores(self, index: Index) -> list[dict[str, float]]:
        """What it says of every document for each query."""
        return [{hit.docno: hit.score for hit in index.search(text, self.expression, k=10_000)} for text in QUERIES]

    def child(self, code: str, *arguments: str, hash_seed: str = "0") -> str:
        """What a process of its own prints."""
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True)
        last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
        assert done.returncode == 0, f"a process of its own failed: {last}"
        # What a plugin prints goes before what is asked for.
        return done.stdout.rpartition("\n")[2]


def same_bytes_for_workers_and_hash_seeds(subject: Subject) -> None:
    """1, 2 and 3 workers give the same bytes, in two processes with different hash seeds and orders of numbers of workers."""
    subject.folder.mkdir(parents=True, exist_ok=True)
    given = subject.folder / "documents.json"
    given.write_text(json.dumps([[d.docno, d.text, d.title] for d in subject.documents]), encoding="utf-8")
    found = {}
    for seed, order in (("0", "123"), ("1", "321")):
        place = str(subject.folder / f"child-{seed}")
        printed = json.loads(subject.child(CHILD, str(given), place, subject.expression, *order, hash_seed=seed))
        for workers, fitted in printed.items():
            found[f"{workers} workers, hash seed {seed}"] = fitted
    first = found["1 workers, hash seed 0"]
    differ = [name for name, printed in found.items() if printed != first]
    assert not differ, f"the bytes differ from those of one worker and hash seed 0: {'; '.join(differ)}"


def loads_in_a_fresh_process(subject: Subject) -> None:
    """What was fitted here scores the same elsewhere."""
    ours = [
        [[hit.docno, hit.score] for hit in subject.index.search(text, subject.expression, k=300)] for text in QUERIES
    ]
    theirs = json.loads(subject.child(FRESH, str(subject.index.path), subject.expression, *QUERIES))
    assert ours == theirs, "a fresh process finds other documents or scores"


def some_scores_are_those_of_all(subject: Subject) -> None:
    """score(docs) is score(None)[docs]."""
    side = subject.index.representation(subject.expression)
    docs = np.arange(len(subject.documents), dtype=np.int32)[::-7]
    for text in QUERIES:
        encoded = side.query(subject.index.query(text))
        np.testing.assert_array_equal(side.scores(encoded, docs), side.scores(encoded)[docs])


def encoding_alone_is_encoding_in_a_batch(subject: Subject) -> None:
    """A row does not depend on the rows beside it."""
    side = subject.index.representation(subject.expression)
    block = next(iter(side.inputs.blocks(subject.index.segments[0])))
    whole = side.model.encode_documents(block)
    for k in (0, 7, size_of(block) - 1):
        alone = side.model.encode_documents(block[k : k + 1])
        np.testing.assert_allclose(_dense(alone)[0], _dense(whole)[k], rtol=1e-5, atol=1e-5)


def adding_is_building(subject: Subject) -> None:
    """fit(A) and add(B) scores as a build of A and B with the model of A."""
    first = subject.build("first", subject.documents[:SPLIT])
    first.fit(subject.expression)
    both = subject.build("both")
    both.fit(subject.expression, first.path)
    first.add(subject.documents[SPLIT:])
    _close(subject.scores(first), subject.scores(both))


def deleting_and_merging_change_no_score(subject: Subject) -> None:
    """Scores by docno stay what they were."""
    index = subject.build("changed", subject.documents[:SPLIT])
    index.fit(subject.expression)
    index.add(subject.documents[SPLIT:])
    before = subject.scores(index)
    gone = {subject.documents[3].docno, subject.documents[SPLIT + 3].docno}
    left = [{docno: score for docno, score in own.items() if docno not in gone} for own in before]
    index.delete(sorted(gone))
    _close(subject.scores(index), left)
    index.merge()
    _close(subject.scores(index), left)


def odd_queries_are_survived(subject: Subject) -> None:
    """Weighted, negative, unknown and empty queries."""
    side = subject.index.representation(subject.expression)
    terms = [term for text in QUERIES for term in subject.index.analyze(text)]
    for weights in ([0.25, 2.5], [-1.0, 1.0], [0.0, 0.0], []):
        chosen = tuple(QueryTerm(term, weight) for term, weight in zip(terms, weights, strict=False))
        side.scores(side.query(Query(" ".join(term.term for term in chosen), chosen)))
    scores = side.scores(side.query(subject.index.query("zyzzyva")))
    assert len(np.unique(scores)) == 1, "an unknown word tells documents apart"


def explanations_add_up(subject: Subject) -> None:
    """By their kinds, and to the score; labels are words as people write them."""
    side = subject.index.representation(subject.expression)
    stems = {term: subject.index.corpus.surface(term) for term in side.vocabulary.terms}
    for text in QUERIES:
        encoded = side.query(subject.index.query(text))
        best = np.argsort(-side.scores(encoded), kind="stable")[:3]
        for doc in best.tolist():
            tree = side.explain(encoded, doc)
            score = float(side.scores(encoded, np.array([doc], np.int32))[0])
            assert tree.value == score or abs(tree.value - score) <= 1e-4 * max(1e-3, abs(score)), (
                f"it explains {tree.value}, the score is {score}"
            )
            for node in _nodes(tree):
                _adds_up(node)
                label = node.label
                assert stems.get(label, label) == label or label in stems.values(), (
                    f"the label {label} is a stem of {stems[label]}"
                )


def what_it_says_and_gives_is_sound(subject: Subject) -> None:
    """Its card can be written down, its vectors are one a document, its words' vectors one a word."""
    side = subject.index.representation(subject.expression)
    try:
        json.dumps(subject.index.card(subject.expression))
    except TypeError as error:
        raise AssertionError(f"describe gives what JSON cannot hold: {error}") from None
    block = next(iter(side.inputs.blocks(subject.index.segments[0])))
    whole = _dense(side.vectors(block))
    for k in (0, size_of(block) - 1):
        np.testing.assert_allclose(_dense(side.vectors(block[k : k + 1]))[0], whole[k], rtol=1e-5, atol=1e-5)
    vectors = side.model.word_vectors()
    assert vectors is None or len(vectors) == len(side.vocabulary), (
        f"{len(vectors or ())} word vectors for {len(side.vocabulary)} words"
    )


def query_parameters_change_no_model(subject: Subject) -> None:
    """A parameter that changes what is fitted has the stage fit, and one that changes rows fit or encode."""
    resolved = namer(subject.folder, {}).resolve(subject.expression)
    whole = subject.index.fitted
    for param in resolved.registration.params:
        other = _other(param, resolved.values[param.name])
        if param.stage != "query" or other is None:
            continue
        call = resolved.call
        changed = Call(call.name, call.args, {**call.params, param.name: other})
        index = subject.build(f"with-{param.name}")
        index.fit(changed)
        assert index.fitted == whole, f"{param.name}={other} is fitted to something else; declare it with stage='fit'"


def stopping_leaves_nothing(subject: Subject) -> None:
    """A fit that is stopped leaves the index as it was."""
    index = subject.build("stopped")
    names = namer(index.path, index.manifest)
    for dependency in names.make(names.resolve(subject.expression)).depends():
        index.fit(dependency)
    before = _files(index.path)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    def fitted(made: Any, found: Any, fresh: bool = False) -> None:
        assert not fresh, "it never says how far it is, so it cannot be stopped"

    with suppress(KeyboardInterrupt), patch.object(Fitting, "cover", side_effect=fitted):
        index.fit(subject.expression, progress=stop)
    after = _files(index.path)
    assert after == before, f"it left {next(iter(after.items() ^ before.items()))[0]}"


def registering_is_light(subject: Subject) -> None:
    """Registering imports neither Numba nor SciPy."""
    registration = namer(subject.folder, {}).resolve(subject.expression).registration
    heavy = subject.child(IMPORTS, registration.plugin).strip()
    assert not heavy, f"registering {registration.plugin} imports {heavy}; import it in the factory"


def threads_score_alike(subject: Subject) -> None:
    """Two threads at once score as one."""
    alone = subject.scores(subject.index)
    with ThreadPoolExecutor(2) as pool:
        # Opened anew: what is made on first use is made by both at once.
        for found in pool.map(subject.scores, [sublex.open(subject.index.path)] * 4):
            assert found == alone, "a thread beside another finds other scores"


CHECKS: tuple[Callable[[Subject], None], ...] = (
    registering_is_light,
    same_bytes_for_workers_and_hash_seeds,
    loads_in_a_fresh_process,
    some_scores_are_those_of_all,
    encoding_alone_is_encoding_in_a_batch,
    adding_is_building,
    deleting_and_merging_change_no_score,
    odd_queries_are_survived,
    explanations_add_up,
    what_it_says_and_gives_is_sound,
    query_parameters_change_no_model,
    stopping_leaves_nothing,
    threads_score_alike,
)


def _other(param: Param, value: Any) -> Any:
    """Another value that a parameter may have, if it is a number, yes or no, or one of a few."""
    if param.type is bool:
        return not value
    if param.type not in (int, float, str) or not param.range:
        return None
    tried = (
        param.range
        if param.type is str
        else [param.type(x) for x in (*param.range, value + 1, value / 2) if abs(x) < 1e9]
    )
    low, high = (-np.inf, np.inf) if param.type is str else param.range
    inside = (
        (lambda x: True) if param.type is str else (lambda x: low < x < high or (not param.open and low <= x <= high))
    )
    return next((x for x in tried if x != value and inside(x)), None)


def _files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file() and path.name != "lock"}


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.todense() if hasattr(rows, "todense") else rows)


def _close(found: list[dict[str, float]], expected: list[dict[str, float]]) -> None:
    for text, mine, theirs in zip(QUERIES, found, expected, strict=True):
        assert mine.keys() == theirs.keys(), f"for {text!r} it finds other documents"
        apart = max((abs(mine[docno] - theirs[docno]) for docno in mine), default=0.0)
        assert apart <= 1e-5, f"for {text!r} a score differs by {apart:g}"


def _nodes(tree: Explanation) -> Iterator[Explanation]:
    yield tree
    for part in tree.parts:
        yield from _nodes(part)


def _adds_up(node: Explanation) -> None:
    counted = [part.value for part in node.parts if part.kind != "evidence"]
    if not counted or node.kind not in ("sum", "product"):
        return
    value = float(np.sum(counted) if node.kind == "sum" else np.prod(counted))
    assert abs(value - node.value) <= 1e-6 * max(abs(part) for part in [*counted, node.value]), (
        f"the parts of {node.label} give {value}, not {node.value}"
    )
