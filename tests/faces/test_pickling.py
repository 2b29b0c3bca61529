"""Indexes, pipelines and results go to worker processes and come back, as small pickles without data of the index."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import shutil
import sys
import threading
import time
import weakref

import cloudpickle
import joblib
import numpy as np
import pytest
from shared import QRELS, TOPICS

import sublex
from sublex.errors import IndexProblem, InputError, MissingExtra
from sublex.index import snapshot as snapshots
from sublex.index.schema import as_json
from sublex.language import plugins
from sublex.pipeline import compose
from sublex.pipeline.index import Index
from sublex.pipeline.pipeline import Pipeline
from sublex.representations.loaded import LoadedRepresentation
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Searcher
from sublex.tools.messages import Message, Step

QUERY = "crane bridge river"
QUERIES = [QUERY, "tower", "birds that nest", "zzzz", "bridge"]
BLEND = "BM25(k1=2) >> RM3 >> BM25 + 0.3*lsi(e=5)"
# Another Python process starts and imports Sublex within this many seconds.
PATIENCE = 120

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@pytest.fixture(scope="module")
def folder(built_demo, tmp_path_factory):
    """The folder of an index of the demo collection with a fitted model, which no test changes."""
    path = shutil.copytree(built_demo, tmp_path_factory.mktemp("pickling") / "demo")
    sublex.open(path).fit("lsi(e=5)")
    return path


@pytest.fixture
def demo(folder):
    return sublex.open(folder)


@pytest.fixture(autouse=True)
def fresh_process():
    """Forget what this process has unpickled, as another process would not know it."""
    forget()
    yield
    forget()


def forget() -> None:
    for cache in (snapshots.unpickled, compose.unpickled, plugins.shared):
        cache.cache_clear()


def through(thing):
    """Return a thing as another process would unpickle it."""
    data = pickle.dumps(thing)
    forget()
    return pickle.loads(data)


def rows(hits):
    return [(hit.rank, hit.docno, hit.score, hit.doc) for hit in hits]


# What the functions of workers need. A worker finds them by their names in this file.


def lengths(query, documents):
    return [len(document.text) for document in documents]


def search(index, pipeline, query):
    return index.search(query, pipeline, k=20)


def first_title(hits):
    return hits.snapshot.document(hits[0].docno).title


def elsewhere(folder, pipeline, query):
    os.chdir(folder)
    return pipeline.answer(sublex.open(pipeline.snapshot.path).query(query), 5).hits


def failing(index):
    index.fit("nope")


def lacking(index):
    raise MissingExtra("Reading WARC files", "warc")


class Longest:
    """A reranker with a function of its own."""

    def __init__(self, of):
        self.of = of

    def __call__(self, query, documents):
        return [self.of(document.text) for document in documents]


@pytest.fixture(params=["fork", "spawn"])
def pool(request):
    with multiprocessing.get_context(request.param).Pool(2) as made:
        yield lambda function, *each: made.starmap_async(function, zip(*each, strict=True)).get(PATIENCE)


# In workers.


@pytest.mark.slow
def test_workers_of_multiprocessing_search_as_this_process_does(demo, pool):
    blend, ranked = demo.pipeline(BLEND), demo.pipeline("BM25 % 20" >> sublex.rerank(lengths))
    for pipeline in (blend, ranked, "PL2", sublex.parse("PL2")):
        found = pool(search, [demo] * 5, [pipeline] * 5, QUERIES)
        assert [rows(hits) for hits in found] == [rows(search(demo, pipeline, query)) for query in QUERIES]
    hits = search(demo, "PL2", "tower")
    assert pool(first_title, [hits]) == [first_title(hits)]


@pytest.mark.slow
def test_a_lambda_and_a_local_function_go_to_workers_by_cloudpickle(demo, pool):
    factor = -1

    def inner(query, documents):
        return [factor * len(document.text) for document in documents]

    for function in (inner, lambda query, documents: inner(query, documents), Longest(lambda text: len(text))):
        pipeline = demo.pipeline("BM25 % 20" >> sublex.rerank(function, name="f"))
        (found,) = pool(search, [demo], [pipeline], ["tower"])
        assert rows(found) == rows(search(demo, pipeline, "tower"))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_searches_by_every_backend(demo, backend):
    pipeline = demo.pipeline("BM25 % 20" >> sublex.rerank(lambda query, documents: [len(d.text) for d in documents]))
    for given in (pipeline, BLEND):
        found = joblib.Parallel(n_jobs=2, backend=backend)(
            joblib.delayed(demo.search)(query, given, k=20) for query in QUERIES
        )
        assert [rows(hits) for hits in found] == [rows(search(demo, given, query)) for query in QUERIES]
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)


def test_joblib_hashes_an_index_by_its_generation(demo, index):
    assert joblib.hash(demo) == joblib.hash(sublex.open(demo.path)) != joblib.hash(index)
    before = joblib.hash(index)
    index.delete(index.docno(0))
    assert joblib.hash(index) != before


@pytest.mark.slow
def test_a_relative_path_means_the_same_in_a_worker_with_another_folder(folder, tmp_path, monkeypatch, pool):
    monkeypatch.chdir(folder.parent)
    index = sublex.open("./demo")
    pipeline = index.pipeline("BM25" >> sublex.rerank(lengths, version=1, cache="scores"))
    monkeypatch.chdir(tmp_path)
    # The path is that of the folder in which the index was opened.
    assert pickle.loads(pickle.dumps(index)).path == folder
    monkeypatch.chdir(folder.parent)
    (found,) = pool(elsewhere, [tmp_path], [pipeline], [QUERY])
    assert rows(found) == rows(index.search(QUERY, pipeline, k=5))
    assert not (tmp_path / "scores").exists() and (folder.parent / "scores").exists()


@pytest.mark.slow
def test_an_error_in_a_worker_arrives_as_its_sentence(demo, pool):
    with pytest.raises(sublex.UnknownName, match="No representation nope"):
        pool(failing, [demo])
    with pytest.raises(MissingExtra, match="Reading WARC files needs an optional part"):
        pool(lacking, [demo])


def test_the_steps_of_a_message_are_pickled():
    error = through(InputError(Message("Nothing is there; run: ", Step("fit", "x", "lsi", workers=2))))
    assert str(error) == "Nothing is there; run: sublex fit x lsi --workers 2"
    assert [type(part) for part in error.args[0].parts] == [str, Step]


# Values.


def test_an_index_comes_back_with_its_options(demo, index):
    back = through(demo)
    assert isinstance(back, Index) and repr(back) == repr(demo) and not back.allow_uncovered
    assert (back.path, back.generation, back.fingerprint) == (demo.path, demo.generation, demo.fingerprint)
    assert rows(back.search(QUERY, BLEND)) == rows(demo.search(QUERY, BLEND))
    index.fit("lsi(e=5)")
    index._encode_before_commit = lambda say, workers: None
    index.add([{"id": "new", "text": "a crane"}])
    lenient = sublex.open(index.path, allow_uncovered=True)
    assert through(lenient).search("crane", "lsi(e=5)").docnos == lenient.search("crane", "lsi(e=5)").docnos
    pipeline = through(lenient.pipeline("lsi(e=5)"))
    assert lenient.search("crane", pipeline).docnos == lenient.search("crane", "lsi(e=5)").docnos
    assert pipeline.uncovered == {"lsi(e=5)": 1} and through(lenient.representation("lsi(e=5)")).uncovered == 1
    with pytest.raises(IndexProblem):
        through(index).search("crane", "lsi(e=5)")


def test_an_unpickled_index_can_be_changed_and_others_stay(index):
    back, other = through([index, index.pipeline("BM25")])
    back.add([{"id": "new", "text": "zzzz"}])
    assert back.search("zzzz").docnos == ["new"] and back.generation == index.generation + 1
    assert index.search("zzzz").docnos == [] and str(other) == "BM25"


def test_an_unpickled_index_with_stored_impacts_can_be_read_and_changed(index):
    index.store_impacts("BM25")
    there = through(index)
    assert there.kept_impacts() == index.kept_impacts()
    there.add([{"id": "new", "text": QUERY}])
    assert "new" in there and "BM25" in there.kept_impacts()


def test_a_pipeline_comes_back_with_its_parameters(folder, tmp_path):
    # BM25 has other defaults in this profile, for the feedback of RM3 too.
    texts = [{"id": str(k), "text": f"crane {k} bridge {'river ' * k}"} for k in range(30)]
    index = sublex.build(texts, tmp_path / "index", profile="anserini")
    for expression, profile in (
        ("BM25", "sublex"),
        ("RM3(docs=2, terms=3) >> PL2(c=2)", None),
        ("BM25 >> RM3 >> BM25", "terrier"),
    ):
        pipeline = index.pipeline(expression, profile)
        back = through(pipeline)
        assert isinstance(back, Pipeline) and str(back) == str(pipeline) and back.expression == pipeline.expression
        assert b"rankers:" in pickle.dumps(pipeline)  # Another plugin may have a ranker of the same name.
        assert [c.values for c in back.components] == [c.values for c in pipeline.components]
        assert rows(through(index).search(QUERY, back)) == rows(index.search(QUERY, pipeline))
        assert rows(index.search(QUERY, back.expression, profile=profile)) == rows(index.search(QUERY, pipeline))
    fitted = sublex.open(folder).pipeline(BLEND)
    assert through(fitted).models == fitted.models and through(fitted).notes == fitted.notes == []


def test_expressions_come_back_as_their_nodes():
    for text in ("BM25 % 100 >> RM3 >> BM25(k1={0..1}) + {0,0.1}*zscore(lsi(e=5))", 'x(a, [1, 2], b="c d", t=true)'):
        tree = sublex.parse(text)
        assert through(tree) == tree and str(through(tree)) == str(tree) and type(through(tree)) is type(tree)
    node = through(sublex.rerank(lengths, name="mine", version=2, batch=7))
    assert (node.name, node.thing, node.identity.version, node.batch) == ("mine", lengths, "2", 7)


def test_hits_come_back_with_docnos_that_need_no_index(demo, tmp_path):
    path = shutil.copytree(demo.path, tmp_path / "gone")
    hits = sublex.open(path).search(QUERY, k=20)
    data = pickle.dumps(hits)
    expected, frame, html = rows(hits), hits.to_pandas(), hits._repr_html_()
    assert pickle.loads(data)._repr_html_() == html
    shutil.rmtree(path)
    forget()
    back = pickle.loads(data)
    assert isinstance(back, Hits) and rows(back) == expected and rows(back[-2:]) == expected[-2:]
    assert back.docnos == [docno for _, docno, _, _ in expected] and back.to_pandas().equals(frame)
    assert back.scores.dtype == np.float32 and back.docs.dtype == np.int32 and "title" not in back._repr_html_()
    assert rows(pickle.loads(pickle.dumps(back))) == expected
    with pytest.raises(IndexProblem, match=f"No index at {path}"):
        back.snapshot.document(back[0].docno)


def test_results_come_back_equal(demo):
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    run, answer = demo.run(topics), demo.answer(QUERY, "BM25 >> RM3 >> BM25")
    assert through(run) == run and through(run).metadata == run.metadata and through(run).top(2) == run.top(2)
    assert through(qrels) == qrels and list(through(topics)) == list(topics)
    back = through(answer)
    assert (back.query, back.seconds, rows(back.hits)) == (answer.query, answer.seconds, rows(answer.hits))
    tree = demo.explain(QUERY, answer.hits[0].docno, BLEND)
    assert through(tree) == tree
    evaluation = sublex.measure(qrels, run)
    assert through(evaluation).mean == evaluation.mean
    comparison = sublex.compare(demo, topics, qrels, ["BM25", BLEND])
    assert through(comparison)._repr_html_() == comparison._repr_html_()
    tuning = sublex.tune(demo, topics, qrels, "BM25(b={0,1})")
    assert through(tuning)._repr_html_() == tuning._repr_html_() and str(through(tuning)) == str(tuning)
    values = [demo.term("bridg"), demo.top_terms(), demo.statistics, demo.query(QUERY), demo.card("lsi(e=5)")]
    assert through([*values, demo.document("birds-05")]) == [*values, demo.document("birds-05")]
    assert through(demo.fitted) == demo.fitted and dict(through(demo.resources)) == {}
    assert as_json(through(demo.snapshot.manifest)) == as_json(demo.snapshot.manifest)


def test_searchers_models_and_views_come_back(demo):
    searcher, model, corpus = demo.searcher("PL2"), demo.representation("lsi(e=5)"), demo.corpus
    assert rows(through(searcher).search(["bridg"])) == rows(searcher.search(["bridg"]))
    back = through(model)
    assert isinstance(back, LoadedRepresentation) and (back.name, back.fingerprint) == (model.name, model.fingerprint)
    docs, query = np.arange(20, dtype=np.int32), demo.query(QUERY)
    assert np.array_equal(back.scores(back.query(query), docs), model.scores(model.query(query), docs))
    assert through(corpus).vocabulary == corpus.vocabulary and through(corpus).has == corpus.has
    again, snapshot = through([corpus, demo.snapshot])
    assert again is snapshot.corpus


def test_results_work_with_arrays_that_are_read_only(demo, tmp_path):
    """Ray and joblib give workers arrays in shared memory, which nobody may write to."""

    def shared(thing):
        buffers = []
        data = pickle.dumps(thing, 5, buffer_callback=buffers.append)
        return pickle.loads(data, buffers=[bytes(buffer.raw()) for buffer in buffers])

    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    run, other, hits = demo.run(topics), demo.run(topics, "PL2"), demo.search(QUERY)
    run_back, qrels_back, hits_back = shared(run), shared(qrels), shared(hits)
    assert not run_back.scores.flags.writeable and not hits_back.docs.flags.writeable
    assert run_back.top(3) == run.top(3) and run_back.write(tmp_path / "a.run") == run.write(tmp_path / "b.run")
    assert (tmp_path / "a.run").read_bytes() == (tmp_path / "b.run").read_bytes()
    assert sublex.fuse([run_back, other]) == sublex.fuse([run, other])
    assert sublex.measure(qrels_back, run_back).mean == sublex.measure(qrels, run).mean
    model = demo.representation("lsi(e=5)")
    query = model.query(demo.query(QUERY))
    assert np.array_equal(model.scores(query, hits_back.docs), model.scores(query, hits.docs))
    assert hits_back.first(3).docnos == hits.docnos[:3]


def test_results_of_functions_come_back(demo):
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    stage = "BM25 % 5" >> sublex.rerank(lambda query, documents: [len(d.text) for d in documents], name="f")
    comparison = sublex.compare(demo, topics, qrels, [lambda query: demo.search(query), stage], "AP")
    assert through(comparison)._repr_html_() == comparison._repr_html_()
    tuning = sublex.tune(demo, topics, qrels, "BM25 % 5" >> sublex.parse("BM25") + "{0,1}" * stage.stages[1])
    assert through(tuning)._repr_html_() == tuning._repr_html_()


# What a pickle has.


def test_a_pickle_is_small_and_has_no_data_of_the_index(demo):
    pipeline, searcher, model = demo.pipeline(BLEND), demo.searcher(), demo.representation("lsi(e=5)")
    hits = demo.search(QUERY, pipeline, k=1000)
    used = demo.corpus.vocabulary, demo.snapshot.all_docnos, searcher.search(["crane"]), demo.corpus.docs
    assert len(used[0]) > 1000
    demo.explain(QUERY, hits[0].docno, pipeline)
    for thing in (demo, demo.snapshot, pipeline, searcher, model, demo.corpus):
        data = pickle.dumps(thing)
        assert len(data) < 1200
        assert b"bridg" not in data and hits[0].docno.encode() not in data
    data = pickle.dumps(hits)
    assert len(data) < 1300 + len(hits) * (4 + 4 + 8) + len("".join(hits.docnos))
    assert demo.snapshot.document(hits[0].docno).title.encode() not in data


def test_a_run_is_pickled_with_the_docnos_of_its_hits_alone(demo):
    run = demo.run({"1": "crane", "2": "tower"}, k=2)
    assert len(run.docnos) == len(demo)
    used = {docno for qid in run for docno in run[qid]}
    data = pickle.dumps(run)
    assert not [docno for docno in demo.snapshot.all_docnos if docno.encode() in data and docno not in used]
    back = through(run)
    assert back == run and sorted(back.docnos.tolist()) == sorted(used) and back.docs.dtype == run.docs.dtype


def test_a_process_opens_a_generation_once(demo, monkeypatch):
    searcher = pickle.dumps(demo.searcher())
    many = [demo.search(query, k=3) for query in QUERIES * 200]
    things = [pickle.dumps(thing) for thing in (demo, demo.pipeline(BLEND), demo.pipeline("BM25"), *many)]
    forget()
    opened, open_generation = [], snapshots._open_generation
    monkeypatch.setattr(snapshots, "_open_generation", lambda path: opened.append(path) or open_generation(path))
    hits = [pickle.loads(thing) for thing in things][3:]
    assert not opened
    titles = {found.snapshot.document(found[0].docno).title for found in hits if len(found)}
    assert len(titles) > 1 and opened == [demo.path]
    # Indexes and pipelines share what was computed, such as impacts.
    computed = []
    monkeypatch.setattr(compose, "Searcher", lambda *values: computed.append(values[2]) or Searcher(*values))
    for _ in range(3):
        again = pickle.loads(things[0])
        assert rows(again.search(QUERY, pickle.loads(things[1]))) == rows(demo.search(QUERY, BLEND))
        assert rows(again.search(QUERY, pickle.loads(things[2]))) == rows(demo.search(QUERY))
    assert pickle.loads(searcher) is pickle.loads(searcher)
    assert opened == [demo.path] and sorted(computed) == ["BM25", "BM25(k1=2)"]


def test_threads_open_an_unpickled_index_once(demo, monkeypatch):
    back, opened, open_generation = through(demo), [], snapshots._open_generation
    barrier, found = threading.Barrier(8), []

    def slowly(path):
        opened.append(path)
        time.sleep(0.05)
        return open_generation(path)

    monkeypatch.setattr(snapshots, "_open_generation", slowly)

    def work():
        barrier.wait()
        assert len(back.snapshot.segments) == 1
        found.append(rows(back.search(QUERY)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [rows(demo.search(QUERY))] * 8 and len(opened) == 1


# What is gone.


@pytest.mark.slow
def test_a_generation_that_is_gone_costs_a_sentence(index, pool):
    pipeline, hits, searcher = index.pipeline("BM25"), index.search("tower"), index.searcher()
    things = [copy.copy(index), pipeline, hits]
    index.add([{"id": "new", "text": "a crane"}])
    sentence = (
        f"Generation 1 of {index.path}, which was pickled, is gone, and the index is at generation 2; "
        "open the index again, and make the object anew."
    )
    for arguments in ((things[0], "BM25"), (index, pipeline)):
        with pytest.raises(IndexProblem) as caught:
            pool(search, *([argument] for argument in (*arguments, "tower")))
        assert str(caught.value) == sentence
    with pytest.raises(IndexProblem, match="Generation 1 of"):
        pool(first_title, [hits])
    # Whoever only shows them sees no error.
    back = through([*things, searcher])
    assert repr(back[0]) == repr(things[0]) and str(back[1]) == "BM25" and repr(back[2]) == repr(hits)
    with pytest.raises(IndexProblem, match="Generation 1 of"):
        back[3].search(["tower"])


def test_an_index_that_was_replaced_costs_a_sentence(index):
    data = pickle.dumps(index)
    shutil.rmtree(index.path)
    sublex.build([{"id": "a", "text": "tower"}], index.path)
    with pytest.raises(
        IndexProblem, match="which was pickled, is gone, and another one is in its place; open the index again"
    ):
        pickle.loads(data).search("tower")
    shutil.rmtree(index.path)
    with pytest.raises(IndexProblem, match="No index at"):
        pickle.loads(data).search("tower")


def test_facets_of_hits_of_another_generation_are_refused(index):
    index.fit("lda(k=3, iterations=5)")
    hits = index.search("tower")
    assert index.facets(through(hits), "lda(k=3, iterations=5)") == index.facets(hits, "lda(k=3, iterations=5)")
    index.delete(hits[0].docno)
    with pytest.raises(InputError, match="another generation"):
        index.facets(through(hits), "lda(k=3, iterations=5)")


def test_a_function_without_a_name_needs_cloudpickle(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    assert through(sublex.rerank(lengths)).thing is lengths
    assert through(sublex.rerank(Longest(len), name="f")).thing.of is len
    for function in (lambda query, documents: [], Longest(lambda text: 1)):
        part = sublex.rerank(function, name="f")
        with pytest.raises(InputError) as caught:
            pickle.dumps("BM25" >> part)
        assert str(caught.value) == (
            f"{part} holds a lambda or a local function, which no other process can find by its name; "
            "define it by def at the top of a module, or install cloudpickle."
        )


def test_a_function_that_cannot_be_pickled_costs_a_sentence():
    lock = threading.Lock()
    with pytest.raises(
        InputError, match=r"The function in rerank\(f@\w+\) cannot be pickled \(TypeError: cannot pickle '_thread.lock'"
    ):
        pickle.dumps(sublex.rerank(lambda query, documents: lock, name="f"))


def test_cloudpickle_takes_functions_by_value(demo):
    function = sublex.rerank(lambda query, documents: [len(d.text) for d in documents], name="f")
    back = cloudpickle.loads(cloudpickle.dumps(demo.pipeline("BM25 % 20" >> function)))
    assert rows(demo.search("tower", back)) == rows(demo.search("tower", "BM25 % 20" >> function))


# Copies.


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_share_the_open_generation(index, copied):
    pipeline, hits = (
        index.pipeline("BM25" >> sublex.rerank(lambda query, documents: [1] * len(documents))),
        index.search(QUERY),
    )
    for thing in (index.snapshot, pipeline, pipeline.expression, index.searcher(), index.corpus):
        assert copied(thing) is thing
    other, found = copied(index), copied(hits)
    assert other.registry is index.registry
    index.delete(hits[0].docno)
    assert other is not index and other.snapshot is hits.snapshot is found.snapshot and other.path == index.path
    assert rows(other.search(QUERY)) == rows(found) == rows(hits) and rows(index.search(QUERY)) != rows(hits)
    assert (found.docs is hits.docs) == (copied is copy.copy)


def test_an_old_generation_is_freed_with_its_impacts(index):
    gc.collect()
    gc.disable()
    try:
        index.search(QUERY, "BM25 >> RM3 >> BM25")
        pickle.dumps([index, index.pipeline("BM25"), index.searcher()])
        searcher = weakref.ref(index.searcher())
        index.delete(index.docno(0))
        assert searcher() is None
    finally:
        gc.enable()
