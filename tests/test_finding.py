"""Tests of finding documents by sketches: exactly what scoring all documents finds, nearly all of it, and sketches that lie."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import DEMO, QUERIES

import sublex
from sublex.contracts.fitted import Representation
from sublex.errors import InputError, PluginError
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.representations import finding, sketch, sketch_files, sketch_kernels
from sublex.representations.sketch import Source, sketch_of
from sublex.representations.sketch_files import read_sketch, write_sketch
from sublex.tools.workers import Workers

KEY = np.arange(16, dtype=np.uint8)
EXPRESSIONS = (
    "lsi(e=12)",
    "fisher(k=3, words=lsi(e=10))",
    "fisher(k=3, words=lsi(e=10), power=0.5)",
    "dcot(r=30)",
    "dcot(r=30, words=0.5)",
)


class Given(Representation):
    """A representation whose documents have the vectors that are its inputs."""

    cosines = True

    def transform(self, inputs):
        return inputs


def source(vectors: np.ndarray, block: int = 7) -> Source:
    blocks = [vectors[begin : begin + block] for begin in range(0, len(vectors), block)]
    return Source(
        Given(), SimpleNamespace(blocks=lambda segment: iter(blocks)), SimpleNamespace(docs=len(vectors)), "given"
    )


def cosines(vectors: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the cosines of a query with vectors, each computed alone, as float32; -inf for vectors of zeros."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)[:, None]
    unit = query / np.abs(query).max()
    products = (scaled * unit).sum(axis=1) / np.sqrt((unit * unit).sum())
    norms = np.sqrt((scaled * scaled).sum(axis=1))
    return np.divide(products, norms, out=np.full(len(vectors), -np.inf), where=norms > 0).astype(np.float32)


def best(docs: np.ndarray, scores: np.ndarray, dead: np.ndarray, depth: int) -> dict[int, float]:
    """Return the best live documents with their scores, and those that tie with the last of them."""
    known = [
        (score, doc)
        for doc, score in zip(docs.tolist(), scores.tolist(), strict=True)
        if score > -np.inf and not dead[doc]
    ]
    known.sort(reverse=True)
    return {doc: score for score, doc in known if score >= known[min(depth, len(known)) - 1][0]}


def found(parts: list[tuple[np.ndarray, np.ndarray, bool]], query: np.ndarray, depth: int, exact: bool = True):
    """Find documents in segments, each given by its vectors, its deleted documents, and whether it has a sketch."""
    vectors, dead = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    bases = np.cumsum([0] + [len(part[0]) for part in parts]).tolist()
    segments = [
        finding.SketchedSegment(base, gone, sketch_of(source(own)) if has else None)
        for base, (own, gone, has) in zip(bases, parts, strict=False)
    ]
    scores = cosines(vectors, query)
    result = finding.find(segments, query, lambda docs: scores[docs], depth, exact)
    return scores, dead, result


KINDS = st.sampled_from(("normal", "equal", "zeros", "huge", "tiny", "mixed", "one entry", "signs"))


def made(kind: str, docs: int, width: int, seed: int) -> np.ndarray:
    """Return vectors of documents, some of them as an adversary would choose them."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((docs, width))
    rows = random.random(docs) < 0.5
    match kind:
        case "equal":
            vectors[rows] = vectors[0]
        case "zeros":
            vectors[rows] = 0
        case "huge":
            vectors *= 1e300
        case "tiny":
            vectors *= 1e-310
        case "mixed":
            vectors *= 10.0 ** random.integers(-300, 300, (docs, 1))
        case "one entry":
            vectors[rows] = np.eye(width)[random.integers(0, width, rows.sum())]
        case "signs":
            vectors = np.sign(vectors)
    return vectors


@given(
    kinds=st.lists(KINDS, min_size=1, max_size=3),
    width=st.integers(1, 9),
    depth=st.integers(1, 30),
    entries=st.sampled_from([3, 256]),
    seed=st.integers(0, 2**32),
)
def test_exact_finding_finds_what_scoring_all_documents_finds(kinds, width, depth, entries, seed):
    random = np.random.default_rng(seed)
    parts = []
    for number, kind in enumerate(kinds):
        vectors = made(kind, int(random.integers(1, 80)), width, seed + number)
        parts.append((vectors, random.random(len(vectors)) < 0.2, bool(random.random() < 0.8)))
    query = made("signs" if seed % 3 else "normal", 1, width, seed + 9)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "MOST_ENTRIES", entries)
        patch.setattr(finding, "MOST_WANTED", 1.0)
        scores, dead, result = found(parts, query, depth)
    if result is None:
        assert depth > len(scores) or not any(part[2] for part in parts)
        return
    docs, given_scores = result
    assert len(set(docs.tolist())) == len(docs)
    assert best(docs, given_scores, dead, depth) == best(np.arange(len(scores)), scores, dead, depth)


def test_all_documents_are_scored_for_a_query_without_a_vector_or_for_many_hits():
    parts = [(made("normal", 100, 4, 0), np.zeros(100, bool), True)]
    for query in (np.ones(4), np.full(4, 1e-320), np.full(4, 1e300)):
        assert found(parts, query, 5)[2] is not None
    segments = [finding.SketchedSegment(0, parts[0][1], sketch_of(source(parts[0][0])))]
    assert finding.find(segments, np.zeros(4), lambda docs: np.zeros(len(docs)), 5, True) is None
    assert finding.find(segments, np.ones(4), lambda docs: np.zeros(len(docs)), 26, True) is None


def test_few_documents_are_scored():
    random = np.random.default_rng(1)
    vectors = random.standard_normal((20_000, 30))
    query = random.standard_normal(30)
    _, _, (docs, _) = found([(vectors, np.zeros(20_000, bool), True)], query, 100)
    assert len(docs) < 300


@pytest.mark.slow
@pytest.mark.parametrize("width", [3, 40, 300])
def test_approximate_finding_misses_little_and_looks_at_few(width):
    random = np.random.default_rng(2)
    middles = random.standard_normal((200, width))
    vectors = middles[random.integers(0, 200, 20_000)] + 0.3 * random.standard_normal((20_000, width))
    dead = random.random(20_000) < 0.05
    shares, recalls = [], []
    made_sketch = finding.SketchedSegment(0, dead, sketch_of(source(vectors, 512)))
    for number in range(20):
        query = middles[number] + 0.3 * random.standard_normal(width)
        scores = cosines(vectors, query)
        wanted = best(np.arange(20_000), scores, dead, 100)
        docs, given_scores = finding.find([made_sketch], query, lambda docs, scores=scores: scores[docs], 100, False)
        assert not dead[docs].any() and (given_scores == scores[docs]).all()
        recalls.append(len(wanted.keys() & best(docs, given_scores, dead, 100).keys()) / len(wanted))
        probe = finding._probe(made_sketch, made_sketch.sketch, query / np.linalg.norm(query))
        shares.append(len(finding._likely([probe], 100)[0]) / 20_000)
    assert np.mean(recalls) >= 0.99 and np.mean(shares) < 0.15


def test_no_document_is_on_both_sides_of_the_edge():
    """The kernel compares estimates with the edge in float64, and NumPy in float32."""
    for bucket in range(1, sketch_kernels.BUCKETS, 97):
        counts = np.zeros(sketch_kernels.BUCKETS, np.int64)
        counts[bucket] = 1
        edge = finding._edge(counts, 1)
        estimates, nearest = np.empty(3, np.float32), np.float32(edge)
        estimates[:] = np.nextafter(nearest, np.float32(-3)), nearest, np.nextafter(nearest, np.float32(3))
        assert (estimates >= edge).tolist() == [float(estimate) >= edge for estimate in estimates.tolist()]


def test_rough_estimates_are_as_near_as_they_are_taken_to_be():
    random = np.random.default_rng(5)
    vectors = np.where(np.arange(4000)[:, None] < 2000, 1.0, 0.2) * random.standard_normal((4000, 40))
    segment = finding.SketchedSegment(0, np.zeros(4000, bool), sketch_of(source(vectors, 512)))
    for _ in range(5):
        query = random.standard_normal(40)
        probe = finding._probe(segment, segment.sketch, query / np.linalg.norm(query))
        errors = finding._rough(probe, np.zeros(1 << 14, np.int64)) - cosines(vectors, query)
        assert abs(errors.mean()) < 0.005 and np.abs(errors).max() < 5 * finding.DEVIATION
        assert 0.7 < errors.std() / finding.DEVIATION < 1.05


@pytest.mark.slow
def test_a_sketch_is_the_same_for_any_number_of_workers():
    vectors = made("normal", 3000, 300, 3)
    alone = sketch_of(source(vectors, 100))
    for workers in (2, 3):
        with Workers(workers) as pool:
            for name, ours, theirs in zip(alone._fields, alone, sketch_of(source(vectors, 100), pool.map), strict=True):
                assert np.array_equal(ours, theirs), name


# On an index.


def sketch_all(monkeypatch):
    """Let segments of any size have a sketch."""
    monkeypatch.setattr(sketch_files, "LEAST_DOCUMENTS", 1)
    monkeypatch.setattr("sublex.representations.segment_rows.LEAST_DOCUMENTS", 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An index of the demo collection in three segments with deletions, in which every segment has a sketch."""
    documents = [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]
    with pytest.MonkeyPatch.context() as monkeypatch:
        sketch_all(monkeypatch)
        index = sublex.build(documents[:100], tmp_path_factory.mktemp("whole") / "sketched")
        for expression in EXPRESSIONS:
            index.fit(expression)
        index.add(documents[100:160])
        index.add(documents[160:])
        index.delete(["birds-05", "river-01"])
    return index.path


@pytest.fixture
def sketched(folder, monkeypatch, tmp_path):
    """A copy of the index, which a test may change."""
    sketch_all(monkeypatch)
    return sublex.open(shutil.copytree(folder, tmp_path / "sketched"))


def hits(index, expression: str, k: int) -> list[list[tuple[str, float]]]:
    return [[(hit.docno, hit.score) for hit in index.search(text, expression, k=k)] for text in QUERIES]


def all_scored(monkeypatch, index, expression: str, k: int) -> list[list[tuple[str, float]]]:
    """Return the hits when all documents are scored."""
    with monkeypatch.context() as without:
        without.setattr("sublex.representations.loaded.LoadedRepresentation.candidates", lambda *arguments: None)
        return hits(index, expression, k)


@pytest.mark.slow
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_hits_scores_and_ties_are_those_of_scoring_all_documents(sketched, monkeypatch, expression):
    counted = []
    kept = finding.find
    monkeypatch.setattr("sublex.representations.loaded.find", lambda *given: counted.append(1) or kept(*given))
    for blend in (expression, f"BM25 + 0.5*{expression}", f"{expression} % 5 >> BM25"):
        for k in (1, 3, 10, 40, 300):
            assert hits(sketched, blend, k) == all_scored(monkeypatch, sketched, blend, k), (blend, k)
    assert bool(counted) == ("words=0.5" not in expression)
    sketched.merge()
    assert len(sketched.snapshot.segments) == 1
    for k in (3, 10):
        assert hits(sketched, expression, k) == all_scored(monkeypatch, sketched, expression, k)


def sketches(index) -> list[str]:
    """Return the models and segments that have a sketch, as in lsi/000001."""
    rows = [path.parent.parent for path in index.path.rglob("sketch/entry.json")]
    return sorted(f"{folder.parent.parent.name.partition('-')[0]}/{folder.name}" for folder in rows)


def test_sketches_come_and_go_with_their_rows(sketched):
    models = ("dcot", "fisher", "fisher", "lsi", "lsi")
    assert sketches(sketched) == sorted(f"{model}/00000{k}" for model in models for k in (1, 2, 3))
    sketched.merge()
    sketched.add([{"id": "new", "text": "A crane."}])
    names = [segment.name for segment in sketched.snapshot.segments]
    assert sketches(sketched) == sorted(f"{model}/{name}" for model in models for name in names)
    sketched.forget(*EXPRESSIONS[:4], "lsi(e=10)")
    assert not sketches(sketched)


def test_find_is_printed_and_shares_the_model(sketched):
    pipeline = sketched.pipeline("lsi(e=12, find=approximate)")
    assert str(pipeline) == "lsi(e=12, find=approximate)"
    assert str(sketched.pipeline("lsi(e=12, find=exact)")) == "lsi(e=12)"
    exact, approximate = hits(sketched, "lsi(e=12)", 300)[0], hits(sketched, "lsi(e=12, find=approximate)", 10)[0]
    assert approximate and set(approximate) <= set(exact)
    tree = sketched.explain("cranes by the river", approximate[0][0], pipeline)
    assert tree.value == pytest.approx(approximate[0][1], rel=1e-6) and "find=approximate" in tree.label


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("lsi(e=12, find=fast)", "find=fast"),
        ("dcot(r=30, words=0.5, find=approximate)", "finds documents by scoring them all; leave out find=approximate"),
    ],
)
def test_what_find_cannot_be_is_one_sentence(sketched, expression, sentence):
    with pytest.raises(InputError, match=sentence):
        sketched.search("crane", expression)


def test_missing_sketches_are_made_by_a_fit_and_by_the_first_approximate_query(sketched, monkeypatch):
    expected = hits(sketched, "lsi(e=12, find=approximate)", 5)
    before = sketches(sketched)
    for folder in list(sketched.path.rglob("sketch")):
        shutil.rmtree(folder)
    index = sublex.open(sketched.path)
    assert hits(index, "lsi(e=12)", 5) == all_scored(monkeypatch, index, "lsi(e=12)", 5) and not sketches(index)
    assert hits(index, "lsi(e=12, find=approximate)", 5) == expected
    assert sketches(index) == ["lsi/000001", "lsi/000002", "lsi/000003"]
    for expression in EXPRESSIONS:
        index.fit(expression)
    index.fit("lsi(e=10)")
    assert sketches(index) == before


def test_a_query_vector_that_does_not_fit_is_the_plugins_fault(sketched, monkeypatch):
    for vector in (np.ones(3), np.full(12, np.nan), np.ones((12, 1))):
        monkeypatch.setattr("sublex_lsi.representation.LSIRepresentation.query_vector", lambda self, query, v=vector: v)
        with pytest.raises(PluginError, match="gave a query vector that does not fit"):
            sublex.open(sketched.path).search("crane", "lsi(e=12)", k=3)


# Files that lie.


def forged(name: str, values: np.ndarray):
    return lambda arrays: arrays | {name: values(arrays[name]) if callable(values) else values}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("codes", lambda a: a[:-1]),
        ("codes", lambda a: a[:0]),
        ("codes", lambda a: np.full_like(a, -128)),
        ("scales", lambda a: a * np.nan),
        ("scales", lambda a: a * 1e30),
        ("scales", lambda a: -a),
        ("scales", lambda a: a[1:]),
        ("errors", lambda a: a * np.nan),
        ("errors", lambda a: -a),
        ("errors", lambda a: np.append(a, a)),
        ("tails", lambda a: np.append(a, np.ones(1, np.float32))),
        ("directions", lambda a: np.ones(7)),
        ("directions", lambda a: np.full(48, np.nan)),
        ("frame", lambda a: a * np.nan),
        ("frame", lambda a: a * 1e30),
        ("frame", lambda a: a[:-1]),
        ("frame", lambda a: a[:0]),
        ("signs", lambda a: a[:-1]),
        ("signs", lambda a: a[:-60]),
        ("signs", lambda a: np.append(a, a)),
        ("signs", lambda a: a.astype(np.int64)),
        ("lengths", lambda a: a * np.nan),
        ("lengths", lambda a: -a),
        ("lengths", lambda a: a * 1e30),
        ("lengths", lambda a: a[1:]),
        ("key", lambda a: a + 1),
    ],
)
def test_a_sketch_that_lies_is_not_used(tmp_path, name, change):
    vectors = made("normal", 60, 6, 4)
    place = Directory(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch_files, "LEAST_DOCUMENTS", 1)
        written = write_sketch(place, KEY, source(vectors))
        arrays = {"key": KEY, **written._asdict()}
        for ours, theirs in zip(written, read_sketch(place, KEY, 60), strict=True):
            assert np.array_equal(ours, theirs) and ours.dtype == theirs.dtype
        with np.errstate(all="ignore"):
            derived.write(place / "sketch", arrays | {name: change(arrays[name].ravel())})
        assert read_sketch(place, KEY, 60) is None


def test_a_damaged_sketch_and_one_of_fewer_documents_are_not_used(tmp_path):
    vectors = made("normal", 60, 6, 4)
    write_sketch(Directory(tmp_path), KEY, source(vectors))
    assert read_sketch(Directory(tmp_path), KEY, 59) is None
    (tmp_path / "sketch" / "codes.npy").write_bytes(b"x")
    assert read_sketch(Directory(tmp_path), KEY, 60) is None


def test_a_folder_that_cannot_be_written_to_costs_nothing(tmp_path):
    (tmp_path / "sketch").write_text("a file")
    assert len(write_sketch(Directory(tmp_path), KEY, source(made("normal", 60, 6, 4))).codes) == 60
