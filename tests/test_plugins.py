"""Tests of loading plugins: every hook is documented and tested, and a plugin that fails disables no other plugin."""

from __future__ import annotations

import copy
import inspect
import json
import math
import re
import shlex
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Literal

import naive
import numpy as np
import pytest
from command import invoke
from shared import PLUGINS

import sublex
import sublex_neural
import sublex_vectors
from sublex import Expression
from sublex.contracts import hookspecs
from sublex.contracts.base import (
    DocStats,
    Document,
    Evidence,
    Explanation,
    Folder,
    Param,
    Query,
    QueryTerm,
    Statistics,
    TermStats,
)
from sublex.contracts.encoders import Encoded
from sublex.contracts.experiments import Experiment
from sublex.contracts.fitted import Fittable, Representation, Smoother
from sublex.contracts.hookspecs import hookimpl
from sublex.errors import IndexProblem, InputError, PluginError, UnknownName
from sublex.faces import files
from sublex.language import plugins
from sublex.language.encoding import encoded
from sublex.operations import Needs, operation, plugin_operations
from sublex.pipeline.compose import Composer
from sublex.pipeline.stages.stage import State
from sublex.shell.commands import add_plugins, built_in
from sublex.shell.completing import Completions
from sublex.shell.session import Session
from sublex.shell.settings import ShellSettings
from sublex.tools import outputs

ROOT = Path(__file__).parents[1]
HOOKS = [name for name, f in inspect.getmembers(hookspecs, inspect.isfunction) if f.__module__ == hookspecs.__name__]


def compose(composer, expression):
    """Return the scorer of an expression."""
    return composer.compose(composer.read(sublex.parse(expression), {}).expression, {})


def registry(monkeypatch, **modules) -> plugins.Registry:
    """Return a registry of the built-in plugins and of new modules with these members, one entry point each."""
    points = [point for point in plugins.entry_points(group=plugins.GROUP) if point.value.startswith(plugins.BUILT_IN)]
    for name, members in modules.items():
        module = types.ModuleType(f"plugin_{name}")
        vars(module).update({"sublex_api": 3} | members)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        points.append(EntryPoint(name, module.__name__, plugins.GROUP))
    return plugins.Registry(points)


def analyzers(**named):
    """Return the members of a module that registers analyzers."""

    @hookimpl
    def register_analyzers(register):
        for name, factory in named.items():
            register(name, factory, [Param("loud", bool, False), Param("k", float, 1.0, range=(0, 2))])

    return {"register_analyzers": register_analyzers}


class Shout:
    """An analyzer with one term for each token, upper case if `loud`."""

    def __init__(self, loud=False, k=1.0):
        self.loud = loud

    def terms(self, token):
        return [token.upper() if self.loud else token]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_heading_with_its_arguments_and_a_test(hook):
    arguments = ", ".join(inspect.signature(getattr(hookspecs, hook)).parameters)
    assert re.search(rf"^### {hook}\({arguments}\)$", (ROOT / "docs/plugins.md").read_text(), re.MULTILINE)
    assert f"test_hook_{hook}" in globals()


def test_hook_register_readers(monkeypatch, tmp_path):
    class Lines:
        def detect(self, path, head):
            return path.endswith(".lines")

        def read(self, source, report):
            with source.open() as stream:
                for number, line in enumerate(stream):
                    yield Document(f"line-{number}", line.decode())

    @hookimpl
    def register_readers(register):
        register("lines", Lines)

    loaded = registry(monkeypatch, lines={"register_readers": register_readers})
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    import sublex

    (tmp_path / "x.lines").write_text("one whale\ntwo whales\n")
    index = sublex.build(tmp_path / "x.lines", tmp_path / "index")
    assert index.term("whale").df == 2 and "line-1" in index


def test_hook_register_analyzers(monkeypatch, tmp_path):
    loaded = registry(monkeypatch, shout=analyzers(shout=Shout))
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    import sublex

    index = sublex.build([Document("a", "Whale whale")], tmp_path / "index", analyzer="shout(loud=true)")
    assert [term.term for term in index.terms()] == ["WHALE"]
    assert sublex.open(tmp_path / "index").analyze("ship") == ["SHIP"]


def test_hook_register_rankers(monkeypatch, tmp_path):
    (tmp_path / "sublex_often.py").write_text(
        "from sublex.contracts.base import Param, Ranker\nfrom sublex.contracts.hookspecs import hookimpl\nsublex_api = 3\n"
        "class Often(Ranker):\n    def __init__(self, times=1.0): self.times = times\n"
        "    def score(self, tf, doc, term, collection): return self.times * tf / doc.length\n"
        "@hookimpl\ndef register_rankers(register): register('Often', Often, [Param('times', float, 1.0, range=(0, 9))])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    points = [point for point in plugins.entry_points(group=plugins.GROUP) if point.value.startswith(plugins.BUILT_IN)]
    loaded = plugins.Registry([*points, EntryPoint("often", "sublex_often", plugins.GROUP)])
    ranker = loaded.make("ranker", "Often(times=2)")
    doc, term, collection = DocStats(np.array([4.0, 8.0]), np.array([2.0, 2.0])), TermStats(2, 3), Statistics(2, 12, 4)
    assert ranker.score(np.array([1.0, 2.0]), doc, term, collection).tolist() == [0.5, 0.5]
    assert ranker.weight(np.array([3.0]), term, collection).tolist() == [3.0]
    assert ranker.explain(1.0, DocStats(4.0, 2.0), term, collection).value == 0.5
    assert ranker.lengths == "exact" and ranker.norm_part is None
    with pytest.raises(InputError, match="Often: times=10 lies outside 0 to 9"):
        loaded.make("ranker", "Often(times=10)")
    assert {"BM25", "PL2", "Often"} <= set(loaded.names("ranker"))


def test_hook_register_expanders(monkeypatch, tmp_path):
    class Twice:
        docs = 0

        def expand(self, query, context):
            return Query(query.text, tuple(term._replace(weight=2.0, origin="Twice") for term in query.terms))

    members = {"register_expanders": hookimpl(lambda register: register("Twice", Twice))}
    loaded = registry(monkeypatch, twice=members)
    index = sublex.build([Document("a", "whale"), Document("b", "whale whale ship")], tmp_path / "index")
    composed = compose(Composer(index.snapshot, loaded), "Twice >> BM25")
    plain = compose(Composer(index.snapshot, loaded), "BM25")
    state = State(index.query("whale"))
    assert composed.start(state).find().docnos == plain.start(state).find().docnos
    assert composed.start(state).find().scores == pytest.approx(2 * plain.start(state).find().scores)
    assert {"RM3", "Twice"} <= set(loaded.names("expander"))


def test_hook_register_backends(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(PLUGINS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    import shelf

    loaded = registry(monkeypatch, shelf=vars(shelf))
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "shelf.json").write_text('{"texts": {"a": "whale ship", "b": "whale"}}')
    index = sublex.attach(f"shelf:{tmp_path / 'books'}", tmp_path / "index")
    assert index.search("ship").docnos == ["a"] and index.document("b").text == "whale"
    assert loaded.names("backend") == ["shelf"]
    assert loaded.find("backend", "shelf").params == (Param("field", str, None),)


def test_hook_register_retrievers(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(PLUGINS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    import shelf

    loaded = registry(monkeypatch, shelf=vars(shelf))
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "shelf.json").write_text('{"texts": {"a": "whale ship", "b": "whale whale"}}')
    index = sublex.attach(f"shelf:{tmp_path / 'books'}", tmp_path / "index")
    assert index.search("whale", "ShelfCount(times=2)").scores.tolist() == [4, 2]
    assert "ShelfCount" in loaded.names("component") and "ShelfCount" in loaded.names("retriever")
    with pytest.raises(InputError, match="ShelfCount: times=10 lies outside 0 to 9"):
        index.search("whale", "ShelfCount(times=10)")


def test_hook_register_encoders(monkeypatch):
    class Lengths:
        kind, identity = "dense", "0123456789abcdef"

        def __init__(self, scale):
            self.scale = scale

        def encode(self, texts, role):
            return Encoded(np.array([[len(text) * self.scale, role == "query"] for text in texts], float))

    def register_encoders(register):
        register("lengths", Lengths, [Param("scale", float, 1.0, range=(0, 9))])

    loaded = registry(monkeypatch, lengths={"register_encoders": hookimpl(register_encoders)})
    made = loaded.make("encoder", "lengths(scale=2)")
    assert encoded(made, "lengths", ["ab", ""], "query").rows.tolist() == [[4, 1], [0, 1]]
    assert "lengths" in loaded.names("component") and loaded.names("encoder") == ["lengths"]
    with pytest.raises(InputError, match="scale=10 lies outside 0 to 9"):
        loaded.make("encoder", "lengths(scale=10)")


def lifted_documents(scores: dict[str, float], units: dict[str, np.ndarray], k: int) -> dict[str, float]:
    """Return the hits of a smoother that gives a document half of its best near document's score, by the definition."""
    lowest, found = min(scores.values()), {}
    for docno in scores:
        others = {other: unit for other, unit in units.items() if other != docno}
        near = naive.nearest(units[docno], others, k)
        best = max((scores.get(other, lowest) for other, _ in near), default=-math.inf)
        found[docno] = max(scores[docno], 0.5 * best)
    return found


def test_hook_register_smoothers(monkeypatch, tmp_path):
    class Lifted(Smoother):
        def __init__(self, over, k):
            self.over, self.k = over, k

        def smooth(self, scores, near, cosines):
            return np.maximum(scores, 0.5 * np.where(cosines > 0, near, -np.inf).max(axis=1))

    def register_smoothers(register):
        register("lifted", Lifted, [Param("over", Expression, ..., stage="fit"), Param("k", int, 3)])
        register("plain", lambda over: object(), [Param("over", Expression, ..., stage="fit")])

    hooks = {"register_smoothers": hookimpl(register_smoothers)}
    loaded = registry(monkeypatch, lifted=hooks, vectors=vars(sublex_vectors), neural=vars(sublex_neural))
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    random = np.random.default_rng(2)
    words = [" ".join(random.choice(["whale", "ship", "sea", "crane", "river"], 4)) for _ in range(40)]
    index = sublex.build([{"id": f"d{n:02}", "text": text} for n, text in enumerate(words)], tmp_path / "index")
    vectors = random.normal(size=(40, 6)).astype(np.float32)
    index.add_vectors("given", {f"d{n:02}": row.tolist() for n, row in enumerate(vectors)})
    index.fit("lifted(dense(given))")
    scores = {hit.docno: hit.score for hit in index.search("whale crane", "BM25", k=1000)}
    units = {f"d{n:02}": row / np.linalg.norm(row) for n, row in enumerate(vectors)}
    for k in (3, 1):
        found = index.search("whale crane", f"BM25 >> lifted(dense(given), k={k})", k=1000)
        assert {hit.docno: hit.score for hit in found} == pytest.approx(lifted_documents(scores, units, k), rel=1e-6)
    assert loaded.names("smoother") == ["lifted", "near", "plain"] and "lifted" in loaded.names("component")
    assert (
        str(index.explain("whale", "d00", "BM25 >> lifted(dense(given))")).count("the plugin gives no explanation") == 1
    )
    with pytest.raises(PluginError, match="asks for 17 near documents; the engine gives 1 to 16"):
        index.search("whale", "BM25 >> lifted(dense(given), k=17)")
    with pytest.raises(PluginError, match=r"The smoother plain.* does not subclass sublex.contracts.fitted.Smoother"):
        index.fit("plain(dense(given))")
    monkeypatch.setattr(Lifted, "smooth", lambda self, scores, near, cosines: scores[1:])
    with pytest.raises(PluginError, match=r"The smoother lifted.* did not give each document one finite score"):
        index.search("whale ship", "BM25 >> lifted(dense(given))")


def test_hook_register_rerankers(monkeypatch, built_demo, tmp_path):
    monkeypatch.chdir(tmp_path)
    calls = []

    class Short:
        """Prefers short documents."""

        batch, identity = 4, "1"

        def __init__(self, cache=None):
            self.cache = cache

        def scores(self, query, texts):
            calls.append((query, len(texts)))
            return [None if "river" in text else -len(text) for text in texts]

        def evidence(self, query, text):
            return {"characters": len(text)}

    def register_rerankers(register):
        register("short", Short, [Param("cache", Folder, None)])

    loaded = registry(monkeypatch, short={"register_rerankers": hookimpl(register_rerankers)})
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    index = sublex.open(built_demo)
    hits = index.search("crane", "BM25 % 9 >> short", k=9)
    found = {hit.docno: hit.score for hit in index.search("crane", "BM25", k=9)}
    expected = {
        docno: -len(index.document(docno).contents) for docno in found if "river" not in index.document(docno).contents
    }
    assert {hit.docno: hit.score for hit in hits} == expected
    assert [size for _, size in calls] == [4, 4, 1] and {query for query, _ in calls} == {"crane"}
    explained = str(index.explain("crane", hits[0].docno, "BM25 % 9 >> short"))
    assert "the score that the reranker gave" in explained and "characters" in explained
    index.search("crane", 'BM25 % 9 >> short(cache="kept")', k=9)
    del calls[:]
    again = index.search("crane", 'BM25 % 9 >> short(cache="kept")', k=9)
    assert not calls and again.docnos == hits.docnos
    with pytest.raises(InputError, match="finds no documents by itself; put a ranker before it, as in BM25 >> short"):
        index.search("crane", "short")


def test_hook_register_experiments(monkeypatch):
    class Lengths:
        """Measures nothing, with parameters."""

        cases, measures, units, needs_index = ("a",), ("m",), ("u",), False

        def __init__(self, draws, model):
            self.draws, self.model = draws, model

        def measure(self, unit, work):
            return {"a": [self.draws]}

    def register_experiments(register):
        register("lengths", Lengths, [Param("draws", int, 5), Param("model", sublex.Expression, "BM25")])

    loaded = registry(monkeypatch, short={"register_experiments": hookimpl(register_experiments)})
    assert loaded.names("experiment") == ["lengths"] and "lengths" not in loaded.names("component")
    made = loaded.make("experiment", "lengths(7)")
    assert isinstance(made, Experiment) and made.measure("u", None) == {"a": [7]} and str(made.model) == "BM25"


def test_hook_register_filters(monkeypatch, tmp_path):
    class Containing:
        """A filter that keeps the documents that contain a term."""

        def __init__(self, term):
            self.term = term

        def keep(self, docs, context):
            (number,) = context.numbers([self.term])
            return np.array([number in vector.terms for vector in context.term_vectors(docs)], bool)

    class Faulty:
        def keep(self, docs, context):
            return np.ones(len(docs))

    def register_filters(register):
        register("containing", Containing, [Param("term", str, ...)])
        register("faulty", Faulty)

    loaded = registry(monkeypatch, filters={"register_filters": hookimpl(register_filters)})
    documents = [Document("a", "whale"), Document("b", "whale ship"), Document("c", "ship whale whale")]
    index = sublex.build(documents, tmp_path / "index")
    composer = Composer(index.snapshot, loaded)
    state = State(index.query("whale"))
    unfiltered = compose(composer, "BM25").start(state).find()
    scores = dict(zip(unfiltered.docnos, unfiltered.scores.tolist(), strict=True))

    def run(expression):
        return compose(composer, expression).start(state).find()

    hits = run("BM25 >> containing(ship)")
    assert hits.docnos == [docno for docno in unfiltered.docnos if docno != "a"]
    assert hits.scores.tolist() == [scores[docno] for docno in hits.docnos]
    assert run("BM25 >> containing(ship) >> PL2").docnos == run("PL2 >> containing(ship)").docnos
    assert set(run("PL2 + 0.5*(BM25 >> containing(ship))").docnos) == {"a", "b", "c"}
    with pytest.raises(InputError, match="put a ranker before it, as in BM25 >> containing"):
        run("containing(ship)")
    with pytest.raises(PluginError, match="The filter faulty gave float64 of shape"):
        run("BM25 >> faulty")
    for docno, note in (("a", "does not keep it"), ("c", "keeps it")):
        tree = compose(composer, "BM25 >> containing(ship)").start(state).explain(index.doc(docno))
        assert tree.parts[0].label == f"containing(ship) {note}"
        assert tree.value == (pytest.approx(scores[docno]) if docno == "c" else -math.inf)


def test_evidence_of_a_query_is_shown_and_is_no_part_of_the_query(monkeypatch, tmp_path):
    class Wavering:
        docs = 0
        evidence = (Evidence("taken", 0.75, (Evidence("rejected", 0.25),)),)

        def expand(self, query, context):
            assert context.surface("whale") == "Whales"
            return Query(query.text, query.terms, self.evidence)

    wavering = {"register_expanders": hookimpl(lambda register: register("Wavering", Wavering))}
    loaded = registry(monkeypatch, wavering=wavering)
    index = sublex.build([Document("a", "Whales"), Document("b", "ship")], tmp_path / "index")
    composed = compose(Composer(index.snapshot, loaded), "Wavering >> BM25")
    state = State(index.query("whale"))
    (stage,) = [part for part in composed.start(state).explain(0).parts if part.kind == "evidence"]
    assert stage.parts == (Explanation(0.75, "taken", "evidence", (Explanation(0.25, "rejected", "evidence"),)),)
    after = composed.run(state).query
    assert after.evidence == Wavering.evidence
    assert (after, hash(after), repr(after)) == (state.query, hash(state.query), repr(state.query))
    copies = [copy.copy(after), copy.deepcopy(after), after._replace(text="Whale")]
    assert [query.evidence for query in copies] == [Wavering.evidence] * 3
    assert after._replace(evidence=()).evidence == ()
    assert [*after] == ["whale", after.terms]
    Wavering.evidence = ("taken",)
    with pytest.raises(
        PluginError, match=r"The expander Wavering gave evidence that is not sublex\.contracts\.base\.Evidence"
    ):
        composed.start(state).find()


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (lambda: 1 / 0, "The expander .*Faulty.* failed (ZeroDivisionError: division by zero)"),
        (lambda: math.nan, "The expander .*Faulty.* gave a weight that is not a finite number"),
    ],
)
def test_an_expander_that_fails_is_named_in_one_sentence(monkeypatch, tmp_path, weight, sentence):
    class Faulty:
        docs = 0

        def expand(self, query, context):
            return Query(query.text, tuple(term._replace(weight=weight()) for term in query.terms))

    loaded = registry(monkeypatch, faulty={"register_expanders": hookimpl(lambda register: register("Faulty", Faulty))})
    index = sublex.build([Document("a", "whale")], tmp_path / "index")
    composed = compose(Composer(index.snapshot, loaded), "Faulty >> BM25")
    with pytest.raises(PluginError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        composed.start(State(index.query("whale"))).find()


def test_an_analyzer_that_fails_is_named_in_one_sentence(monkeypatch, tmp_path):
    class Faulty(Shout):
        def terms(self, token):
            return [1 / (len(token) - 5)]

        def __str__(self):
            return "faulty"

    loaded = registry(monkeypatch, faulty=analyzers(faulty=Faulty))
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    with pytest.raises(
        PluginError, match=r"The analyzer faulty failed \(ZeroDivisionError: .*\); its results are not used\.$"
    ):
        sublex.build([Document("a", "whale")], tmp_path / "index", analyzer="faulty")


def test_hook_register_representations(monkeypatch, tmp_path):
    class Lengths(Representation):
        """A representation with a single number for each document: its tokens in the vocabulary of the model."""

        def fit(self, corpus, job):
            self.vocabulary = corpus.vocabulary

        def save(self, store):
            store.put("vocabulary", self.vocabulary)

        def load(self, store):
            self.vocabulary = store.get("vocabulary")

        def encode_documents(self, inputs):
            return inputs.sum(axis=1).astype(np.float32)

        def encode_queries(self, inputs):
            return [None] * inputs.shape[0]

        def score(self, query, view, docs=None):
            return view.rows(docs)

    @hookimpl
    def register_representations(register):
        register("lengths", Lengths)

    loaded = registry(monkeypatch, plug={"register_representations": register_representations})
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    index = sublex.build([{"id": "a", "text": "x y z"}, {"id": "b", "text": "x"}], tmp_path / "index")
    index.fit("lengths")
    assert [(hit.docno, hit.score) for hit in index.search("x", "lengths")] == [("a", 3.0), ("b", 1.0)]


def test_an_expander_that_is_fitted_names_another_model_too(monkeypatch, tmp_path):
    class Lengths(Representation):
        def fit(self, corpus, job):
            self.vocabulary = corpus.vocabulary

        def save(self, store):
            store.put("vocabulary", self.vocabulary)

        def load(self, store):
            self.vocabulary = store.get("vocabulary")

        def encode_documents(self, inputs):
            return inputs.sum(axis=1).astype(np.float32)

        def encode_queries(self, inputs):
            return [None] * inputs.shape[0]

        def score(self, query, view, docs=None):
            return view.map_rows(lambda rows: rows, docs)

    class Longest(Fittable):
        """Adds a term of the longest document."""

        docs = 0

        def __init__(self, of):
            self.of = of

        def fit(self, corpus, job):
            pass

        def save(self, store):
            store.put("nothing", 0)

        def load(self, store):
            pass

        def expand(self, query, context):
            model = context.model(self.of)
            assert (model.name, model.labels, type(model.model)) == ("lengths", (), Lengths)
            longest = int(model.view.rows(context.live_docs).argmax())
            term = context.names(context.term_vectors(np.array([longest]))[0].terms[:1])[0]
            return Query(query.text, (*query.terms, QueryTerm(term, 1.0, "Longest")))

    def register_expanders(register):
        register("Longest", Longest, [Param("of", Expression, ...)])

    members = {
        "register_representations": hookimpl(lambda register: register("lengths", Lengths)),
        "register_expanders": hookimpl(register_expanders),
    }
    loaded = registry(monkeypatch, plug=members)
    monkeypatch.setattr(plugins, "load", lambda: loaded)
    index = sublex.build(
        [{"id": "a", "text": "z"}, {"id": "b", "text": "x y"}, {"id": "c", "text": "q"}], tmp_path / "i"
    )
    index.fit("Longest(lengths)")
    with pytest.raises(IndexProblem, match="No lengths in i; fitted: .* Run: sublex fit .*i lengths"):
        index.pipeline("Longest(lengths) >> BM25")
    index.fit("lengths")
    pipeline = index.pipeline("Longest(lengths) >> BM25")
    assert set(pipeline.models) == {"Longest(lengths)", "lengths"}
    assert set(index.search("z", pipeline).docnos) == {"a", "b"}
    with pytest.raises(InputError, match="BM25 is not a model that is fitted to an index"):
        index.fit("Longest(BM25)")
        index.search("z", "Longest(BM25) >> BM25")


# A stranger's operation, in one file.

STRANGER = """
from typing import Annotated, Literal

from sublex.contracts.encoders import Encoded
from sublex.contracts.hookspecs import hookimpl
from sublex.forms.lines import Shown, records
from sublex.operations import OperationContext, File, operation, option, positional

sublex_api = 3


@operation(
    forms=("table", "json", "csv"),
    file=File((".html",)),
    python="index.terms({prefix} + '*')",
    prints="rows",
)
def beginnings(
    context: OperationContext,
    prefix: Annotated[str, positional("PREFIX", completes="word")],
    number: Annotated[int, option("-n", "--number", least=1)] = 3,
    by: Literal["df", "cf"] = "df",
) -> Shown:
    '''List the words that begin with PREFIX.

    The most frequent come first.

    Args:
        number: Maximum number
            of words.
        by: What they are sorted by.
        output: Write a page.

    Examples:
        sublex beginnings demo cra -n 2
    '''
    rows = [(term.term, term.df, term.cf) for term in context.index.terms(f"{prefix}*")]
    rows.sort(key=lambda row: (-row[1 if by == "df" else 2], row[0]))
    shown = records(("term", "df", "cf"), rows[:number], [] if rows else [f"No word begins with {prefix}."])
    shown.files, shown.about = {".html": lambda: "<p>" + prefix}, f"shows words with {prefix}"
    return shown


@hookimpl
def register_operations(register):
    register(beginnings)
"""


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """Install a plugin of one file, as an entry point."""
    (tmp_path / "stranger.py").write_text(STRANGER)
    monkeypatch.syspath_prepend(str(tmp_path))
    point, found = EntryPoint("stranger", "stranger", plugins.GROUP), plugins.entry_points
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*found(group=group), point])
    yield
    sys.modules.pop("stranger", None)


def test_hook_register_operations(stranger, built_demo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo = str(built_demo)
    # The command line: result, forms, options, range, choices, completion, help, file.
    table = invoke("beginnings", demo, "cra", "-n", "2")
    rows = [row.split() for row in table.output.splitlines()]
    assert table.code == 0 and rows[0] == ["term", "df", "cf"] and len(rows) == 3
    assert rows[1][0].startswith("cra") and int(rows[1][1]) >= int(rows[2][1])
    objects = json.loads(invoke("beginnings", demo, "cra", "-n", "2", "--format", "json").output)
    assert [[each["term"], str(each["df"]), str(each["cf"])] for each in objects] == rows[1:]
    csv = invoke("beginnings", demo, "cra", "-n", "2", "--format", "csv").output
    assert csv.splitlines() == [",".join(row) for row in rows]
    assert "has to be at least 1" in invoke("beginnings", demo, "cra", "-n", "0").messages
    assert "is not one of 'df', 'cf'" in invoke("beginnings", demo, "cra", "--by", "x").messages
    assert invoke("beginnings", demo, "zzz").messages == "No word begins with zzz.\n"
    help = invoke("beginnings", "--help").output
    assert "[OPTIONS] INDEX PREFIX" in help and "List the words that begin with PREFIX." in help
    assert "-n, --number N" in help and "Maximum number of words." in help and "sublex beginnings demo cra -n 2" in help
    assert "Write a page." in help and "What they are sorted by." in help
    assert re.search(r"beginnings +List the words that begin with PREFIX\.", invoke("--help").output)
    assert invoke("beginnings", demo, "cra", "-o", "page.html").output == "page.html shows words with cra\n"
    assert Path("page.html").read_text().startswith("<p>cra<!-- sublex.written ")
    # The shell: the same result, options, errors, completion, help and file, and what :to-cli and :to-python print.
    session = Session(lambda: sublex.open(built_demo), built_demo, built_in(), ShellSettings(bars=False))
    assert add_plugins(session.commands, session.index.registry) == []

    def lines(text: str) -> str:
        return "".join(f"{each.text}\n" for each in session.run(text).lines)

    assert lines(":beginnings -n 2 cra") == table.output
    twin = shlex.split(session.run(":to-cli").data)
    assert invoke(*twin[1:]).output == table.output and twin[-2:] == ["-n", "2"]
    assert "index.terms('cra' + '*')" in session.run(":to-python").data
    assert session.run(":beginnings cra").data[:2] == objects and session.run(":beginnings zzz").notes
    assert lines(":beginnings -o other.html cra") == "other.html shows words with cra\n"
    for text, message in (
        (":beginnings", "Write :beginnings PREFIX."), (":beginnings -n 0 cra", "has to be at least 1"),
        (":beginnings --by x cra", "by is df or cf, not x"), (":beginnings -n two cra", "two is not a whole number"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            session.run(text)
    assert lines(":help beginnings").startswith(":beginnings PREFIX\n\nList the words that begin with PREFIX.\n")
    assert "Maximum number of words." in lines(":help beginnings") and ":beginnings PREFIX" in lines(":help")
    completions = Completions(session)
    completions.prepare()

    def offered(text: str) -> list[str]:
        return [offer.text for offer in completions.complete(text)]

    assert offered(":beg") == ["beginnings"] and offered(":beginnings --n") == ["--number"]
    assert "crane" in offered(":beginnings cran")


def test_hook_register_panels(monkeypatch, tmp_path):
    """The panels of plugins with their files; whatever lies outside of the folder of a panel is left out."""
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    from sublex.contracts.panels import Panel
    from sublex.service.panels import panels_of

    folder = tmp_path / "panel"
    (folder / "parts").mkdir(parents=True)
    (tmp_path / "secret.js").write_text("secret")
    (folder / "panel.js").write_text("export default 1;")
    (folder / "parts/more.mjs").write_text("export const more = 2;")
    (folder / "notes.txt").write_text("no file of a page")
    (folder / "link.js").symlink_to(tmp_path / "secret.js")
    (folder / "up").symlink_to(tmp_path)

    def found(*panels):
        @hookimpl
        def register_panels(register):
            for panel in panels:
                register(panel)

        return panels_of(registry(monkeypatch, mine={"register_panels": register_panels}))

    (panel,), failures = found(Panel("mine", "Mine", folder))
    place = panel.module.removeprefix("/page/").removesuffix("panel.js")
    assert (panel.name, panel.title, failures) == ("mine", "Mine", [])
    assert re.fullmatch(r"panels/mine/[0-9a-f]{16}/", place)
    assert panel.files == {
        f"{place}panel.js": b"export default 1;",
        f"{place}parts/more.mjs": b"export const more = 2;",
    }
    (folder / "parts/more.mjs").write_text("export const more = 3;")
    assert found(Panel("mine", "Mine", folder))[0][0].module != panel.module
    for wrong, sentence in [
        (Panel("Mine", "Mine", folder), "The name of a panel is 'Mine'; write small letters"),
        (Panel("mine", " ", folder), "The title of the panel mine is no text of 1 to 40 characters"),
        (Panel("mine", "Mine", folder, "other.js"), "The panel mine has no file 'other.js' in"),
        (Panel("mine", "Mine", folder, "../secret.js"), "The panel mine has no file '../secret.js' in"),
        (Panel("mine", "Mine", tmp_path / "nowhere"), "The panel mine has no folder"),
        ("mine", "An object of type str is no Panel"),
    ]:
        assert found(wrong)[0] == [] and sentence in found(wrong)[1][0]
    kept, (said,) = found(Panel("mine", "Mine", folder), Panel("mine", "Again", folder))
    assert [each.title for each in kept] == ["Mine"]
    assert said == "Plugin mine could not add its panels: There is a panel mine already."
    for n in range(64):
        (folder / f"{n}.js").write_text("")
    assert "more than 64 files and 1,048,576 bytes" in found(Panel("mine", "Mine", folder))[1][0]


def test_an_operation_of_a_name_that_is_taken_is_refused(monkeypatch):
    @operation()
    def search(context):
        """Find nothing."""

    taken = {"register_operations": hookimpl(lambda register: register(search))}
    assert plugin_operations(registry(monkeypatch, taken=taken)) == (
        [],
        ["Plugin taken could not add its operations: There is an operation search already."],
    )


def test_a_stranger_may_leave_out_all_but_types():
    @operation(needs=Needs.NOTHING)
    def add(
        context, numbers: tuple[int, ...], sign: Literal["+", "-"] = "+", twice: bool = False, at: float | None = None
    ):
        """Add numbers."""

    numbers, sign, twice, at = add.parameters
    assert (numbers.flags, numbers.many, numbers.type, numbers.metavar) == (None, True, int, "NUMBERS")
    assert (sign.flags, sign.choices, sign.default) == (("--sign",), ("+", "-"), "+")
    assert (twice.type, twice.default, at.type, at.default) == (bool, False, float, None)
    assert str(add.step({"numbers": (1, 2), "twice": True})) == "sublex add 1 2 --twice"
    assert str(add.step({"numbers": (-1, 2), "sign": "-"})) == "sublex add --sign - -- -1 2"


def test_outputs_are_checked_before_they_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.html").write_text("mine")
    Path("old.csv").write_text("a,b")
    Path("folder.csv").mkdir()
    assert files.check_output("old.csv", ".csv", ".html", overwrite=True) == ".csv"
    outputs.write_output("old.csv", "c,d\n")
    assert Path("old.csv").read_text() == "c,d\n"
    for output, endings, message in (
        ("a.pdf", (".html", ".svg", ".csv"), "a.pdf does not end in .html, .svg or .csv; choose one of these."),
        ("a", (".html",), "a does not end in .html; choose this ending."),
        (
            "mine.html",
            (".html",),
            "mine.html is there, and nothing shows that Sublex wrote it as it is; choose another name",
        ),
        (
            "old.csv",
            (".csv",),
            "old.csv is there, and nothing shows that Sublex wrote it as it is; choose another name",
        ),
        ("folder.csv", (), "Cannot write folder.csv, which is a folder; name a file."),
        ("nowhere/a.json", (), "There is no folder nowhere for a.json; make one, or choose another place."),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            files.check_output(output, *endings)


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"sublex_api": 2}, "its sublex_api is 2, and this Sublex has 3"),
        ({"sublex_api": None}, "its sublex_api is None, and this Sublex has 3"),
        ({"register_nonsense": hookimpl(lambda register: None)}, "unknown hook"),
        ({"register_analyzers": hookimpl(lambda register: 1 / 0)}, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_plugin_that_fails_disables_only_its_own_names(monkeypatch, members, sentence):
    loaded = registry(monkeypatch, bad=members, shout=analyzers(shout=Shout))
    failed = next(plugin for plugin in loaded.plugins if plugin.name == "bad")
    assert sentence in failed.error
    assert loaded.make("analyzer", "shout").terms("a") == ["a"] and loaded.make("analyzer", "english").terms(
        "cranes"
    ) == ["crane"]
    with pytest.raises(UnknownName, match="No analyzer bad: plugin bad failed to load"):
        loaded.make("analyzer", "bad")


def test_the_error_of_a_plugin_that_cannot_be_imported_names_the_module():
    loaded = plugins.Registry([EntryPoint("gone", "no_such_module_here", plugins.GROUP)])
    assert "no_such_module_here" in loaded.plugins[0].error


def test_a_plugin_that_fails_after_a_registration_registers_nothing(monkeypatch):
    @hookimpl
    def register_analyzers(register):
        register("early", Shout)
        raise RuntimeError("later")

    loaded = registry(monkeypatch, half={"register_analyzers": register_analyzers})
    assert "early" not in loaded.names("analyzer")


def test_a_name_that_two_plugins_offer_needs_the_plugin_before_it(monkeypatch):
    loaded = registry(monkeypatch, one=analyzers(shout=Shout), two=analyzers(shout=Shout, other=Shout))
    assert loaded.make("analyzer", "other").terms("a") == ["a"]
    with pytest.raises(UnknownName, match="write one:shout or two:shout"):
        loaded.make("analyzer", "shout")
    assert loaded.make("analyzer", "two:shout(loud=true)").terms("a") == ["A"]


def test_parameters_are_checked_against_the_declared_ones(monkeypatch):
    loaded = registry(monkeypatch, shout=analyzers(shout=Shout))
    for text, sentence in {
        "shout(volume=3)": "shout has no parameter volume; it takes loud, k.",
        "shout(loud=3)": "shout: loud=3 has to be true or false.",
        "shout(k=true)": "shout: k=true has to be a number.",
        "shout(k=3)": "shout: k=3 lies outside 0 to 2.",
    }.items():
        with pytest.raises(InputError) as caught:
            loaded.make("analyzer", text)
        assert str(caught.value) == sentence
    assert loaded.make("analyzer", "shout(k=2, loud=true)").loud


def test_the_error_for_an_unknown_name_has_the_nearest_names(monkeypatch):
    with pytest.raises(UnknownName, match="No reader jsnl; did you mean jsonl\\? There are: jsonl, json"):
        registry(monkeypatch).find("reader", "jsnl")


def test_a_name_is_found_whatever_its_case_and_as_written_first(monkeypatch):
    loaded = registry(monkeypatch, one=analyzers(Shout=Shout, quiet=Shout), two=analyzers(shout=Shout, QUIET=Shout))
    assert loaded.find("ranker", "bm25") == loaded.find("ranker", "Rankers:Bm25") == loaded.find("ranker", "BM25")
    assert str(loaded.resolve_all(sublex.parse("bm25 >> rm3(docs=1) >> MINMAX(pl2)"))) == (
        "BM25 >> RM3(docs=1) >> minmax(PL2)"
    )
    assert loaded.find("analyzer", "shout").plugin == "two" and loaded.find("analyzer", "Shout").plugin == "one"
    assert loaded.find("analyzer", "one:SHOUT").name == "Shout"
    with pytest.raises(UnknownName, match="Several plugins offer the analyzer SHOUT; write Shout or shout"):
        loaded.find("analyzer", "SHOUT")


def test_sublex_plugins_selects_the_plugins_and_keeps_the_built_in_ones(monkeypatch):
    monkeypatch.setenv("SUBLEX_PLUGINS", "nothing")
    names = {plugin.name for plugin in plugins.load().plugins}
    assert {"readers", "analyzers"} <= names


def test_a_packaged_plugin_is_found_by_its_entry_point(tmp_path):
    (tmp_path / "sublex_shout.py").write_text(
        "from sublex.contracts.hookspecs import hookimpl\nsublex_api = 3\n"
        "class Shout:\n    def terms(self, token): return [token.upper()]\n"
        "@hookimpl\ndef register_analyzers(register): register('shout', Shout)\n"
    )
    meta = tmp_path / "sublex_shout-0.3.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: sublex-shout\nVersion: 0.3\n")
    (meta / "entry_points.txt").write_text("[sublex]\nshout = sublex_shout\n")
    command = [sys.executable, "-c", "from sublex.cli import main; main()", "plugins", "--format", "json"]
    result = subprocess.run(
        command, env={"PYTHONPATH": str(tmp_path), "PATH": ""}, capture_output=True, text=True, check=True
    )
    shout = next(plugin for plugin in json.loads(result.stdout) if plugin["name"] == "shout")
    assert (
        shout["distribution"] == "sublex-shout"
        and shout["version"] == "0.3"
        and shout["registers"] == ["analyzer shout"]
    )


def test_loading_the_plugins_imports_neither_numba_nor_scipy():
    code = "import sys; from sublex.language import plugins; plugins.load(); print([m for m in ('numba', 'scipy') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_threads_that_look_names_up_at_once_load_each_plugin_once():
    for _ in range(20):
        registry = plugins.load()
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _, registry=registry: registry.find("component", "rankers:BM25"), range(8)))
        assert all(registration is found[0] for registration in found)
        assert not [plugin.error for plugin in registry.plugins if plugin.error]
