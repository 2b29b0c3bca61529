"""The checks of representations: bytes and scores do not depend on workers, threads, processes or changes of the index."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import sublex
from sublex.contracts.base import Param, Query, QueryTerm
from sublex.language.expression import Call
from sublex.pipeline.index import Index
from sublex.representations.fitting import Fitting
from sublex.representations.identity import Namer
from sublex.representations.inputs import size_of
from sublex.representations.sketch import similarity_of
from sublex.testing.subject import QUERIES, SPLIT, Subject, assert_adds_up, child, nodes

# A child process that fits the expression and prints the manifest's record of it.
FIT_CHILD = """
import json, sys, sublex
from sublex.index.corpus import SnapshotCorpus
from sublex.index.schema import as_json
from sublex.estimators import blocks
from sublex.representations import inputs
# Blocks are made small, so that the demo collection has many.
blocks.ROWS_PER_BLOCK = inputs.DOCUMENTS_PER_BLOCK = inputs.SEQUENCES_PER_BLOCK = 50
SnapshotCorpus.blocks.__defaults__ = (50,)
documents = [sublex.Document(*row) for row in json.load(open(sys.argv[1]))]
found = {}
for workers in sys.argv[4:]:
    index = sublex.build(documents, f"{sys.argv[2]}-{workers}", workers=1)
    index.fit(sys.argv[3], workers=int(workers))
    found[workers] = as_json(index.fitted)
sys.stdout.write(json.dumps(found, sort_keys=True))
"""
# A child process that searches, and prints documents with scores.
SEARCH_CHILD = """
import json, sys, sublex
index = sublex.open(sys.argv[1])
sys.stdout.write(json.dumps([[(hit.docno, hit.score) for hit in index.search(text, sys.argv[2], k=300)] for text in sys.argv[3:]]))
"""


def scores_of(subject: Subject, index: Index) -> list[dict[str, float]]:
    """Return for each of `QUERIES` the scores of all documents that the representation finds, by docno."""
    return [{hit.docno: hit.score for hit in index.search(text, subject.expression, k=10_000)} for text in QUERIES]


def same_bytes_for_workers_and_hash_seeds(subject: Subject) -> None:
    """The bytes are the same for 1, 2 and 3 workers, in two processes with other hash seeds and another order of fits."""
    subject.folder.mkdir(parents=True, exist_ok=True)
    documents = subject.folder / "documents.json"
    documents.write_text(json.dumps([[d.docno, d.text, d.title] for d in subject.documents]), encoding="utf-8")
    records = {}
    for seed, order in (("0", "123"), ("1", "321")):
        folder = str(subject.folder / f"child-{seed}")
        printed = json.loads(child(FIT_CHILD, str(documents), folder, subject.expression, *order, hash_seed=seed))
        for workers, fitted in printed.items():
            records[f"{workers} workers, hash seed {seed}"] = fitted
    first = records["1 workers, hash seed 0"]
    differ = [name for name, record in records.items() if record != first]
    assert not differ, f"the bytes differ from those of one worker and hash seed 0: {'; '.join(differ)}"


def loads_in_a_fresh_process(subject: Subject) -> None:
    """A model that was fitted in one process gives the same scores in another."""
    ours = [
        [[hit.docno, hit.score] for hit in subject.index.search(text, subject.expression, k=300)] for text in QUERIES
    ]
    theirs = json.loads(child(SEARCH_CHILD, str(subject.index.path), subject.expression, *QUERIES))
    assert ours == theirs, "a fresh process finds other documents or scores"


def some_scores_are_those_of_all(subject: Subject) -> None:
    """The scores of some documents are equal to their scores among all documents: score(docs) is score(None)[docs]."""
    representation = subject.index.representation(subject.expression)
    docs = np.arange(len(subject.documents), dtype=np.int32)[::-7]
    for text in QUERIES:
        encoded = representation.query(subject.index.query(text))
        np.testing.assert_array_equal(representation.scores(encoded, docs), representation.scores(encoded)[docs])


def similarities_are_scores(subject: Subject) -> None:
    """Where `cosines` or `similarity` says so, scores are the cosines, products or distances of the vectors of query and documents.

    A cosine is -inf where a vector is 0; another score may be -inf where the document's vector is.
    """
    representation = subject.index.representation(subject.expression)
    model, segment = representation.model, subject.index.snapshot.segments[0]
    similarity = similarity_of(model)
    if not similarity:
        return
    vectors = np.concatenate([model.document_vectors(block) for block in representation.inputs.blocks(segment)])
    lengths = np.linalg.norm(vectors, axis=1)
    for text in QUERIES:
        encoded = representation.query(subject.index.query(text))
        query, scores = np.asarray(model.query_vector(encoded), np.float64), representation.scores(encoded)
        length, products = np.linalg.norm(query), vectors @ query
        known = lengths > 0
        match similarity:
            case "cosine":
                known &= bool(length > 0)
                wanted, unit = products / np.where(known, lengths * length, 1), np.ones(len(vectors))
            case "dot":
                wanted, unit = products, lengths * length
            case "l2":
                wanted, unit = -((vectors - query) ** 2).sum(axis=1), (lengths + length) ** 2
            case _:
                raise AssertionError(f"similarity is {similarity}, and not cosine, dot or l2")
        assert (scores > -np.inf)[known].all(), "a score is -inf where no vector is 0"
        assert similarity != "cosine" or not (scores > -np.inf)[~known].any(), (
            "a cosine is not -inf where a vector is 0"
        )
        given = scores > -np.inf
        # The last step rounds scores to float32.
        most = 1e-6 * unit[given] + 1e-7 * np.abs(wanted[given])
        differ = np.abs(scores[given] - wanted[given])
        worst = differ.max(initial=0.0)
        assert (differ <= most).all(), f"a score differs by {worst:g} from the {similarity} of the vectors"


def encoding_alone_is_encoding_in_a_batch(subject: Subject) -> None:
    """A document encoded alone gets the row that it gets in a block."""
    representation = subject.index.representation(subject.expression)
    block: Any = next(iter(representation.inputs.blocks(subject.index.snapshot.segments[0])))
    whole = representation.model.encode_documents(block)
    for k in (0, 7, size_of(block) - 1):
        alone = representation.model.encode_documents(block[k : k + 1])
        np.testing.assert_allclose(_dense(alone)[0], _dense(whole)[k], rtol=1e-5, atol=1e-5)


def adding_is_building(subject: Subject) -> None:
    """Adding documents gives the scores of a build of all documents with the same model."""
    first = subject.build("first", subject.documents[:SPLIT])
    first.fit(subject.expression)
    both = subject.build("both")
    both.fit(subject.expression, first.path)
    first.add(subject.documents[SPLIT:])
    _assert_close(scores_of(subject, first), scores_of(subject, both))


def deleting_and_merging_change_no_score(subject: Subject) -> None:
    """Deletions and merges change no score of the other documents."""
    index = subject.build("changed", subject.documents[:SPLIT])
    index.fit(subject.expression)
    index.add(subject.documents[SPLIT:])
    before = scores_of(subject, index)
    deleted = {subject.documents[3].docno, subject.documents[SPLIT + 3].docno}
    remaining = [{docno: score for docno, score in scores.items() if docno not in deleted} for scores in before]
    index.delete(sorted(deleted))
    _assert_close(scores_of(subject, index), remaining)
    index.merge()
    _assert_close(scores_of(subject, index), remaining)


def odd_queries_raise_no_error(subject: Subject) -> None:
    """Queries with fractional or negative weights, unknown words or no words raise no error."""
    representation = subject.index.representation(subject.expression)
    terms = [term for text in QUERIES for term in subject.index.analyze(text)]
    for weights in ([0.25, 2.5], [-1.0, 1.0], [0.0, 0.0], []):
        chosen = tuple(QueryTerm(term, weight) for term, weight in zip(terms, weights, strict=False))
        representation.scores(representation.query(Query(" ".join(term.term for term in chosen), chosen)))
    scores = representation.scores(representation.query(subject.index.query("zyzzyva")))
    assert len(np.unique(scores)) == 1, "a query of one unknown word gives documents different scores"


def explanations_add_up(subject: Subject) -> None:
    """Explanations add up to the score, and their labels are words as people write them."""
    representation = subject.index.representation(subject.expression)
    stems = {term: subject.index.corpus.surface(term) for term in representation.vocabulary.terms}
    for text in QUERIES:
        encoded = representation.query(subject.index.query(text))
        best = np.argsort(-representation.scores(encoded), kind="stable")[:3]
        for doc in best.tolist():
            tree = representation.explain(encoded, doc)
            score = float(representation.scores(encoded, np.array([doc], np.int32))[0])
            assert tree.value == score or abs(tree.value - score) <= 1e-4 * max(1e-3, abs(score)), (
                f"the explanation's value is {tree.value}, the score is {score}"
            )
            for node in nodes(tree):
                assert_adds_up(node)
                label = node.label
                assert stems.get(label, label) == label or label in stems.values(), (
                    f"the label {label} is the stem of {stems[label]}; use view.surface"
                )


def card_and_vectors_are_well_formed(subject: Subject) -> None:
    """The card can be written as JSON, each document has one vector, and each word one word vector."""
    representation = subject.index.representation(subject.expression)
    try:
        json.dumps(subject.index.card(subject.expression))
    except TypeError as error:
        raise AssertionError(f"describe returns a value that JSON cannot hold: {error}") from None
    block: Any = next(iter(representation.inputs.blocks(subject.index.snapshot.segments[0])))
    whole = _dense(representation.vectors(block))
    for k in (0, size_of(block) - 1):
        np.testing.assert_allclose(_dense(representation.vectors(block[k : k + 1]))[0], whole[k], rtol=1e-5, atol=1e-5)
    vectors = representation.model.word_vectors()
    if vectors is not None:
        words = len(representation.vocabulary)
        assert len(vectors) == words, f"there are {len(vectors)} word vectors for {words} words"


def labels_facets_and_marks_agree(subject: Subject) -> None:
    """Where the model names topics: shares lie within 0 to 1, facets count documents by them, and marks are words of the document."""
    representation = subject.index.representation(subject.expression)
    labels = representation.labels
    if not labels:
        return
    docs = np.arange(len(subject.documents), dtype=np.int32)[::-7]
    shares = representation.label_shares(docs).toarray()
    assert ((shares >= 0) & (shares <= 1)).all(), "a share of a label lies outside 0 to 1"
    alone = representation.label_shares(docs[3:4]).toarray()[0]
    np.testing.assert_array_equal(alone, shares[3], "the shares of a document depend on the other documents")
    facets = representation.facets(docs)
    assert all(facet.label == labels[facet.number] for facet in facets), "a facet has another label than its number"
    counts = [facet.docs for facet in facets]
    assert counts == sorted(counts, reverse=True), "the facet with most documents is not the first"
    assert len({facet.number for facet in facets}) == len(facets), "a label is counted twice"
    for text, doc in zip(QUERIES, docs.tolist(), strict=False):
        marks = representation.marks(representation.query(subject.index.query(text)), doc)
        assert all(mark.label == labels[mark.number] for mark in marks), "a mark has another label than its number"
        words = set(subject.index.analyze(subject.documents[doc].contents))
        odd = [term for mark in marks for term in mark.terms if term not in words]
        assert not odd, f"marked terms are not in the document: {', '.join(odd)}"
        assert len({mark.terms for mark in marks}) == len(marks), "a word has two labels"


def query_parameters_change_no_model(subject: Subject) -> None:
    """Parameters of the stage query change neither the fitted model nor the rows."""
    resolved = Namer(subject.folder, None).resolve(subject.expression)
    whole = subject.index.fitted
    for param in resolved.registration.params:
        other = _other(param, resolved.values[param.name])
        if param.stage != "query" or other is None:
            continue
        call, needed = resolved, dict[str, Any]()
        if param.only:
            # The parameter has an effect only together with this value of another parameter.
            needed[param.only[0]] = param.only[1][0]
        changed = Call(call.name, call.args, {**call.params, **needed, param.name: other})
        index = subject.build(f"with-{param.name}")
        index.fit(changed)
        assert index.fitted == whole, (
            f"{param.name}={other} changes what is fitted or encoded; declare it with stage='fit' or 'encode'"
        )


def stopping_leaves_nothing(subject: Subject) -> None:
    """A fit that the user stops leaves the index as it was."""
    index = subject.build("stopped")
    names = Namer(index.path, index.snapshot.manifest)
    for dependency in names.make(names.resolve(subject.expression)).depends():
        index.fit(dependency)
    before = _files(index.path)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    def encode(model: Any, identity: Any, just_fitted: bool = False) -> None:
        assert not just_fitted, "fit never calls job.progress, so it cannot be stopped"

    with suppress(KeyboardInterrupt), patch.object(Fitting, "encode_missing_rows", side_effect=encode):
        index.fit(subject.expression, progress=stop)
    after = _files(index.path)
    assert after == before, f"the stopped fit left {next(iter(after.items() ^ before.items()))[0]}"


def threads_score_alike(subject: Subject) -> None:
    """Threads that search at the same time get the same scores as one thread."""
    alone = scores_of(subject, subject.index)
    with ThreadPoolExecutor(2) as pool:
        # A newly opened index has computed nothing yet. So both threads compute the values for the first use at the
        # same time.
        for scores in pool.map(partial(scores_of, subject), [sublex.open(subject.index.path)] * 4):
            assert scores == alone, "two threads at once get other scores than one"


CHECKS: tuple[Callable[[Subject], None], ...] = (
    same_bytes_for_workers_and_hash_seeds,
    loads_in_a_fresh_process,
    some_scores_are_those_of_all,
    similarities_are_scores,
    encoding_alone_is_encoding_in_a_batch,
    adding_is_building,
    deleting_and_merging_change_no_score,
    odd_queries_raise_no_error,
    explanations_add_up,
    card_and_vectors_are_well_formed,
    labels_facets_and_marks_agree,
    query_parameters_change_no_model,
    stopping_leaves_nothing,
    threads_score_alike,
)


def _other(param: Param, value: Any) -> Any:
    """Return another possible value of a parameter; None if its declaration shows no other value."""
    if param.type is bool:
        return not value
    if param.type not in (int, float, str) or not param.range:
        return None
    if param.type is str:
        return next((choice for choice in param.range if choice != value), None)
    low, high = param.range
    candidates: list[Any] = [param.type(x) for x in (low, high, value + 1, value / 2) if abs(x) < 1e9]

    def allowed(x: float) -> bool:
        return low < x < high or (not param.open and low <= x <= high)

    return next((x for x in candidates if x != value and allowed(x)), None)


def _files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file() and path.name != "lock"}


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.todense() if hasattr(rows, "todense") else rows)


def _assert_close(found: list[dict[str, float]], expected: list[dict[str, float]]) -> None:
    for text, mine, theirs in zip(QUERIES, found, expected, strict=True):
        assert mine.keys() == theirs.keys(), f"for {text!r} other documents are found"
        apart = max((abs(mine[docno] - theirs[docno]) for docno in mine), default=0.0)
        assert apart <= 1e-5, f"for {text!r} a score differs by {apart:g}"
