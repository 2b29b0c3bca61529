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
from sublex.representations import finding, probes, sifting, sketch, sketch_files
from sublex.representations.sketch import VectorSource, sketch_of
from sublex.representations.sketch_files import read_sketch, write_sketch
from sublex.tools.workers import Workers

KEY = np.arange(16, dtype=np.uint8)
COSINE = probes.measure_of("cosine", 1.0, 1.0)
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


class Compared(Given):
    """A representation that promises a similarity."""

    cosines, similarity = False, "dot"


def source(vectors: np.ndarray, block: int = 7, model: type[Given] = Given) -> VectorSource:
    blocks = [vectors[begin : begin + block] for begin in range(0, len(vectors), block)]
    return VectorSource(
        model(), SimpleNamespace(blocks=lambda segment: iter(blocks)), SimpleNamespace(docs=len(vectors)), "given"
    )


def cosines(vectors: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the cosines of a query with vectors, each computed alone, as float32; -inf where one is zeros."""
    if not query.any():
        return np.full(len(vectors), -np.inf, np.float32)
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)[:, None]
    unit = query / np.abs(query).max()
    products = (scaled * unit).sum(axis=1) / np.sqrt((unit * unit).sum())
    norms = np.sqrt((scaled * scaled).sum(axis=1))
    return np.divide(products, norms, out=np.full(len(vectors), -np.inf), where=norms > 0).astype(np.float32)


def similarities(vectors: np.ndarray, query: np.ndarray, similarity: str) -> np.ndarray:
    """Return the similarities of a query with vectors by their definitions, as float32."""
    if similarity == "cosine":
        return cosines(vectors, query)
    with np.errstate(over="ignore", under="ignore"):
        if similarity == "dot":
            return (vectors * query).sum(axis=1).astype(np.float32)
        return (-((vectors - query) ** 2).sum(axis=1)).astype(np.float32)


def best(docs: np.ndarray, scores: np.ndarray, dead: np.ndarray, depth: int) -> dict[int, float]:
    """Return the best live documents with their scores, and those that tie with the last of them."""
    known = [
        (score, doc)
        for doc, score in zip(docs.tolist(), scores.tolist(), strict=True)
        if score > -np.inf and not dead[doc]
    ]
    known.sort(reverse=True)
    return {doc: score for score, doc in known if score >= known[min(depth, len(known)) - 1][0]}


def found(
    parts: list[tuple[np.ndarray, np.ndarray, bool]], query: np.ndarray, depth: int, exact: bool = True,
    similarity: str = "cosine", model: type[Given] = Given, silent: bool = False,
):  # fmt: skip
    """Find documents in segments, each given by its vectors, its deleted documents, and whether it has a sketch.

    If `silent`, documents whose vector is 0 have no score.
    """
    vectors, dead = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    bases = np.cumsum([0] + [len(part[0]) for part in parts]).tolist()
    segments = [
        probes.SketchedSegment(base, gone, sketch_of(source(own, model=model)) if has else None)
        for base, (own, gone, has) in zip(bases, parts, strict=False)
    ]
    scores = similarities(vectors, query, similarity)
    if silent:
        scores[~vectors.any(axis=1)] = -np.inf
    result = finding.find(segments, query, lambda docs: scores[docs], depth, exact, similarity)
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
    left_out=st.sampled_from([0.1, 1.0]),
    sampled=st.sampled_from([1, 5, 4096]),
    seed=st.integers(0, 2**32),
)
def test_exact_finding_finds_what_scoring_all_documents_finds(kinds, width, depth, entries, left_out, sampled, seed):
    random = np.random.default_rng(seed)
    parts = []
    for number, kind in enumerate(kinds):
        vectors = made(kind, int(random.integers(1, 80)), width, seed + number)
        parts.append((vectors, random.random(len(vectors)) < 0.2, bool(random.random() < 0.8)))
    query = made("signs" if seed % 3 else "normal", 1, width, seed + 9)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "NARROW", entries)
        patch.setattr(sketch, "LEFT_OUT", left_out)
        patch.setattr(finding, "MOST_WANTED", 1.0)
        patch.setattr(probes, "LEAST_SAMPLE", sampled)
        patch.setattr(finding, "LEAST_SAMPLE", sampled)
        scores, dead, result = found(parts, query, depth)
    if result is None:
        assert depth > len(scores) or not any(part[2] for part in parts)
        return
    docs, given_scores = result
    assert len(set(docs.tolist())) == len(docs)
    assert best(docs, given_scores, dead, depth) == best(np.arange(len(scores)), scores, dead, depth)


# Rows of an adversary for products and distances: norms across the range of float32, whose products overflow or
# underflow; equal rows, zeros, ties; rows near the query, and rows whose other entries vanish beside one.
ROWS = st.sampled_from(
    ("normal", "equal", "zeros", "one entry", "signs", "long", "short", "lengths", "one long", "near")
)


def measured(kind: str, docs: int, width: int, seed: int) -> np.ndarray:
    """Return vectors of documents of any norms, float32 as they are stored."""
    random = np.random.default_rng(seed + 1)
    match kind:
        case "long":
            vectors = made("normal", docs, width, seed) * 1e17
        case "short":
            vectors = made("normal", docs, width, seed) * 1e-22
        case "lengths":
            vectors = made("normal", docs, width, seed) * 10.0 ** random.integers(-42, 16, (docs, 1))
        case "one long":
            vectors = made("normal", docs, width, seed) * np.where(np.arange(docs) == docs // 2, 1e15, 1.0)[:, None]
        case "near":
            vectors = 1000.0 + 0.001 * made("normal", docs, width, seed)
        case _:
            vectors = made(kind, docs, width, seed)
    return vectors.astype(np.float32).astype(np.float64)


@given(
    kinds=st.lists(ROWS, min_size=1, max_size=3),
    queries=ROWS,
    similarity=st.sampled_from(("dot", "l2", "cosine")),
    width=st.sampled_from([1, 2, 5, 9, 70]),
    depth=st.integers(1, 30),
    entries=st.sampled_from([3, 256]),
    silent=st.booleans(),
    sampled=st.sampled_from([1, 5, 4096]),
    seed=st.integers(0, 2**32),
)
def test_products_and_distances_are_found_as_by_scoring_all_documents(
    kinds, queries, similarity, width, depth, entries, silent, sampled, seed
):
    random = np.random.default_rng(seed)
    parts = []
    for number, kind in enumerate(kinds):
        vectors = measured(kind, int(random.integers(1, 80)), width, seed + number)
        parts.append((vectors, random.random(len(vectors)) < 0.2, bool(random.random() < 0.8)))
    query = measured(queries, 1, width, seed + 9)[0]
    # A query that is equal to a document has distance 0, and all its estimates are differences of large numbers.
    if seed % 3 == 0:
        query = parts[0][0][0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "NARROW", 3)
        patch.setattr(sketch, "MOST_ENTRIES", entries)
        patch.setattr(finding, "MOST_WANTED", 1.0)
        patch.setattr(probes, "LEAST_SAMPLE", sampled)
        patch.setattr(finding, "LEAST_SAMPLE", sampled)
        scores, dead, result = found(parts, query, depth, True, similarity, Compared, silent)
    if result is None:
        return
    docs, given_scores = result
    assert len(set(docs.tolist())) == len(docs)
    assert best(docs, given_scores, dead, depth) == best(np.arange(len(scores)), scores, dead, depth)


@given(
    kind=ROWS,
    similarity=st.sampled_from(("dot", "l2", "cosine")),
    width=st.sampled_from([1, 3, 9, 70]),
    entries=st.sampled_from([3, 256]),
    seed=st.integers(0, 2**32),
)
def test_a_score_lies_within_the_bound_of_its_estimate(kind, similarity, width, entries, seed):
    """The bound of each document is the lowest threshold that leaves it out; its value never reaches that threshold."""
    vectors, query = measured(kind, 40, width, seed), measured("normal", 1, width, seed + 9)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch, "NARROW", 3)
        patch.setattr(sketch, "MOST_ENTRIES", entries)
        segment = probes.SketchedSegment(0, np.zeros(40, bool), sketch_of(source(vectors, model=Compared)))
    norm = float(np.linalg.norm(query))
    measure = probes.measure_of(similarity, norm, segment.longest)
    if measure is None:
        return
    probe = probes.probe_of(segment, segment.sketch, query / norm, measure)
    (look,) = finding._looks([probe], -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = {
            "dot": vectors @ query,
            "l2": -((vectors - query) ** 2).sum(axis=1),
            "cosine": vectors @ query / (np.linalg.norm(vectors, axis=1) * norm),
        }[similarity] / measure.unit
    for n, doc in enumerate(look.docs.tolist()):
        alone = finding.Look(probe, look.docs[n : n + 1], look.estimates[n : n + 1])
        assert len(finding._reaching(alone, np.inf, exact[doc], 1.0)) == 1, "the bound is too low"
        spread = measure.slope + 1.0
        assert len(finding._reaching(alone, np.inf, exact[doc] + 9 * spread, 1.0)) == 0, "the bound says nothing"


def test_one_long_vector_costs_little():
    """All other documents have nearly the same value then, and their estimates are partitioned."""
    vectors = made("normal", 20_000, 30, 7)
    vectors[9] *= 1e6
    query = made("normal", 1, 30, 8)[0]
    for similarity in ("dot", "l2"):
        scores, dead, (docs, _) = found(
            [(vectors, np.zeros(20_000, bool), True)], query, 100, True, similarity, Compared
        )
        assert set(best(np.arange(20_000), scores, dead, 100)) <= set(docs.tolist())
        assert similarity == "l2" or len(docs) < 2000


@pytest.mark.slow
@pytest.mark.parametrize("similarity", ["dot", "l2"])
def test_approximate_finding_knows_norms(similarity):
    random = np.random.default_rng(6)
    vectors = random.standard_normal((20_000, 70)) * np.exp(0.3 * random.standard_normal((20_000, 1)))
    parts = [(vectors[:12_000], np.zeros(12_000, bool), True), (vectors[12_000:], np.zeros(8_000, bool), True)]
    recalls, sizes = [], []
    for number in range(10):
        query = vectors[number] + 0.5 * random.standard_normal(70)
        scores, dead, (docs, given_scores) = found(parts, query, 100, False, similarity, Compared)
        wanted = best(np.arange(20_000), scores, dead, 100)
        recalls.append(len(wanted.keys() & best(docs, given_scores, dead, 100).keys()) / len(wanted))
        sizes.append(len(docs))
    assert np.mean(recalls) >= 0.99 and np.mean(sizes) < 1000


def test_all_documents_are_scored_for_a_query_without_a_vector_or_for_many_hits():
    parts = [(made("normal", 100, 4, 0), np.zeros(100, bool), True)]
    for query in (np.ones(4), np.full(4, 1e-320), np.full(4, 1e300)):
        assert found(parts, query, 5)[2] is not None
    segments = [probes.SketchedSegment(0, parts[0][1], sketch_of(source(parts[0][0])))]
    assert finding.find(segments, np.zeros(4), lambda docs: np.zeros(len(docs)), 5, True, "cosine") is None
    assert finding.find(segments, np.ones(4), lambda docs: np.zeros(len(docs)), 26, True, "cosine") is None


def test_few_documents_are_scored():
    random = np.random.default_rng(1)
    vectors = random.standard_normal((20_000, 30))
    query = random.standard_normal(30)
    _, _, (docs, _) = found([(vectors, np.zeros(20_000, bool), True)], query, 100)
    assert len(docs) < 300


@pytest.mark.slow
@pytest.mark.parametrize("width", [3, 40, 300, 1100])
def test_approximate_finding_misses_little_and_looks_at_few(width):
    """Half as many documents are wanted as stand around the middle that is nearest to the query."""
    random = np.random.default_rng(2)
    middles = random.standard_normal((200, width))
    vectors = middles[random.integers(0, 200, 20_000)] + 0.3 * random.standard_normal((20_000, width))
    dead = random.random(20_000) < 0.05
    shares, recalls = [], []
    made_sketch = probes.SketchedSegment(0, dead, sketch_of(source(vectors, 512)))
    for number in range(20):
        query = middles[number] + 0.3 * random.standard_normal(width)
        scores = cosines(vectors, query)
        wanted = best(np.arange(20_000), scores, dead, 50)
        docs, given_scores = finding.find(
            [made_sketch], query, lambda docs, scores=scores: scores[docs], 50, False, "cosine"
        )
        assert not dead[docs].any() and (given_scores == scores[docs]).all()
        recalls.append(len(wanted.keys() & best(docs, given_scores, dead, 50).keys()) / len(wanted))
        probe = probes.probe_of(made_sketch, made_sketch.sketch, query / np.linalg.norm(query), COSINE)
        shares.append(len(sifting.likely([probe], 50)[0]) / 20_000)
    assert np.mean(recalls) >= 0.99 and np.mean(shares) < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(("width", "signs"), [(40, 256), (500, 512), (1100, 1024)])
def test_rough_estimates_are_as_near_as_they_are_taken_to_be(width, signs):
    random = np.random.default_rng(5)
    vectors = np.where(np.arange(4000)[:, None] < 2000, 1.0, 0.2) * random.standard_normal((4000, width))
    segment = probes.SketchedSegment(0, np.zeros(4000, bool), sketch_of(source(vectors, 512)))
    for _ in range(5):
        query = random.standard_normal(width)
        probe = probes.probe_of(segment, segment.sketch, query / np.linalg.norm(query), COSINE)
        assert probe.sketch.frame.shape == (width, signs)
        sample, exact = sifting.rough_sample(probe, sifting.rough_query(probe)), cosines(vectors, query)
        assert sample.estimates.shape == (signs // 64, 4000)
        for groups, (rough, margin) in enumerate(zip(*sample, strict=True), 1):
            errors, wanted = rough - exact, margin / sifting.CAUTION
            assert abs(errors.mean()) < 0.005 and np.abs(errors).max() < 5 * wanted
            # With a part of the signs, the two parts of an error depend on each other a little.
            assert 0.7 < errors.std() / wanted < (1.05 if groups == signs // 64 else 1.1)


@pytest.mark.slow
@pytest.mark.parametrize("similarity", ["cosine", "dot", "l2"])
@pytest.mark.parametrize("width", [40, 500, 1100])
def test_two_bits_for_each_sign_estimate_as_they_are_taken_to(width, similarity):
    random = np.random.default_rng(7)
    vectors = np.where(np.arange(4000)[:, None] < 2000, 1.0, 0.2) * random.standard_normal((4000, width))
    model = Given if similarity == "cosine" else Compared
    segment = probes.SketchedSegment(0, np.zeros(4000, bool), sketch_of(source(vectors, 512, model)))
    norms = np.linalg.norm(vectors, axis=1)
    for _ in range(5):
        query = random.standard_normal(width)
        own = np.linalg.norm(query)
        measure = probes.measure_of(similarity, float(own), float(norms.max()))
        probe = probes.probe_of(segment, segment.sketch, query / own, measure)
        rough = sifting.rough_query(probe)
        sifted = sifting._sifted(probe, rough, sifting.rough_sample(probe, rough), -2.0)
        assert sifted.docs.tolist() == list(range(4000))
        cosine, sizes = cosines(vectors, query), norms * measure.inverse if measure.has_norms else np.ones(4000)
        values = measure.offset + sizes * (measure.curve * sizes + measure.slope * cosine)
        # What is left of the error if the norm is taken out is that of the cosine.
        errors, wanted = (
            (sifted.estimates - values) / sizes / measure.slope,
            sifting.deviation(probe, rough, sifting.TWO_BITS),
        )
        assert abs(errors.mean()) < 0.004 and np.abs(errors).max() < 6 * wanted
        assert 0.7 < errors.std() / wanted < 1.05
        for least in np.quantile(values, [0.1, 0.9, 0.99]):
            kept = sifting._sifted(probe, rough, sifting.rough_sample(probe, rough), float(least)).docs
            # .014 of normally distributed errors are below -2.2 deviations, by one bit and by two. Their number varies.
            wanted = 0.028 * (values >= least).sum()
            assert len(np.setdiff1d(np.flatnonzero(values >= least), kept)) <= wanted + 4 * wanted**0.5 + 1


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
        without.setattr("sublex.representations.loaded.LoadedRepresentation.find_by_sketches", lambda *arguments: None)
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


@pytest.mark.slow
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
        ("halves", lambda a: a[:-1]),
        ("halves", lambda a: a[:-60]),
        ("halves", lambda a: np.append(a, a)),
        ("halves", lambda a: a.astype(np.int64)),
        ("half_lengths", lambda a: a * np.nan),
        ("half_lengths", lambda a: -a),
        ("half_lengths", lambda a: a * 1e30),
        ("half_lengths", lambda a: a[1:]),
        ("norms", lambda a: a * np.nan),
        ("norms", lambda a: a * np.inf),
        ("norms", lambda a: -a),
        ("norms", lambda a: a[1:]),
        ("norms", lambda a: a[:0]),
        ("norms", lambda a: a.astype(np.float32)),
        ("key", lambda a: a + 1),
    ],
)
def test_a_sketch_that_lies_is_not_used(tmp_path, name, change):
    vectors = made("normal", 60, 6, 4)
    place = Directory(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch_files, "LEAST_DOCUMENTS", 1)
        written = write_sketch(place, KEY, source(vectors, model=Compared))
        arrays = {"key": KEY, **written._asdict()}
        for ours, theirs in zip(written, read_sketch(place, KEY, 60, True), strict=True):
            assert np.array_equal(ours, theirs) and ours.dtype == theirs.dtype
        with np.errstate(all="ignore"):
            derived.write(place / "sketch", arrays | {name: change(arrays[name].ravel())})
        assert read_sketch(place, KEY, 60, True) is None


def test_a_sketch_wider_than_kernels_take_is_not_used(tmp_path, monkeypatch):
    write_sketch(Directory(tmp_path), KEY, source(made("normal", 60, 6, 4)))
    for name, most in (("MOST_ENTRIES", 5), ("MOST_SIGNS", 255)):
        with monkeypatch.context() as narrower:
            narrower.setattr(sketch_files, name, most)
            assert read_sketch(Directory(tmp_path), KEY, 60, False) is None
    assert read_sketch(Directory(tmp_path), KEY, 60, False) is not None


def test_a_sketch_without_norms_stays_of_use_for_cosines_alone(tmp_path):
    """Older versions of Sublex wrote no norms."""
    written = write_sketch(Directory(tmp_path), KEY, source(made("normal", 60, 6, 4)))
    arrays = {name: values for name, values in written._asdict().items() if name != "norms"}
    derived.write(Directory(tmp_path) / "sketch", {"key": KEY} | arrays)
    assert read_sketch(Directory(tmp_path), KEY, 60, True) is None
    for ours, theirs in zip(written, read_sketch(Directory(tmp_path), KEY, 60, False), strict=True):
        assert np.array_equal(ours, theirs) and ours.dtype == theirs.dtype


def test_a_damaged_sketch_and_one_of_fewer_documents_are_not_used(tmp_path):
    vectors = made("normal", 60, 6, 4)
    write_sketch(Directory(tmp_path), KEY, source(vectors))
    assert read_sketch(Directory(tmp_path), KEY, 59, False) is None
    (tmp_path / "sketch" / "codes.npy").write_bytes(b"x")
    assert read_sketch(Directory(tmp_path), KEY, 60, False) is None


def test_a_folder_that_cannot_be_written_to_costs_nothing(tmp_path):
    (tmp_path / "sketch").write_text("a file")
    assert len(write_sketch(Directory(tmp_path), KEY, source(made("normal", 60, 6, 4))).codes) == 60
