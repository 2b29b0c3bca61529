"""The bundled plugins, a test plugin and the template pass the checks of `sublex.testing`, and broken plugins fail them."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import subprocess
import sys
import sysconfig
import types
import venv
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Annotated, Any, NamedTuple
from unittest import SkipTest

import numpy as np
import pytest
from scipy.sparse import csr_array
from shared import PLUGINS
from strategies import ALL

from sublex import Expression
from sublex.contracts.base import Document, Example, Explanation, Facet, Mark, Param, Query, QueryTerm, Ranker
from sublex.contracts.encoders import Encoded
from sublex.contracts.fitted import Smoother
from sublex.contracts.hookspecs import hookimpl
from sublex.contracts.operators import Operator, ordered
from sublex.errors import InputError, PluginError, UnknownName
from sublex.language import plugins
from sublex.operations import operation, option
from sublex.testing import (
    CHECKS,
    Check,
    Subject,
    all_checks,
    analyzers,
    checks,
    encoders,
    expanders,
    filters,
    operations,
    rankers,
    readers,
    registrations,
    representations,
    smoothers,
)
from sublex_lda.representation import LDARepresentation

BUNDLED = (
    "lsi(e=20)",
    "lsi(e=20, weighting=tfidf, unit=true)",
    "fisher(k=3, words=lsi(e=10))",
    "fisher(k=3, words=lsi(e=10), variance=true, idf=true, power=0.5)",
    "dcot(r=50)",
    "dcot(r=50, layers=2, words=0.5, log=true)",
    "lda(k=10, iterations=50)",
    "lda(k=5, method=variational, learn_alpha=asymmetric, score=js)",
)


@pytest.fixture(scope="module")
def subject(request, tmp_path_factory):
    """A bundled representation, fitted once for all the checks that only read."""
    return Subject(request.param, tmp_path_factory.mktemp("subject"))


# The first expression of each plugin.
FIRST = {expression.partition("(")[0]: expression for expression in reversed(BUNDLED)}
STARTING = (
    representations.same_bytes_for_workers_and_hash_seeds,
    representations.loads_in_a_fresh_process,
)
# All checks of all expressions; those that start processes are made of the other expressions with SUBLEX_TESTS=all only.
CASES = [
    (expression, check)
    for expression in BUNDLED
    for check in CHECKS
    if ALL or expression in FIRST.values() or check not in STARTING
]


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "check"), CASES, indirect=["subject"])
def test_bundled_plugins_hold_the_contract(subject, check):
    check(subject)


@pytest.fixture
def neighbours(monkeypatch, tmp_path):
    """Install a test plugin that reads sequences, for this process and for those that it starts."""
    installed = tmp_path / "site" / "neighbours-1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: neighbours\nVersion: 1\n")
    (installed / "entry_points.txt").write_text("[sublex]\nneighbours = neighbours\n")
    for place in (PLUGINS, installed.parent):
        monkeypatch.syspath_prepend(place)
    monkeypatch.setenv("PYTHONPATH", f"{installed.parent}{os.pathsep}{PLUGINS}", prepend=os.pathsep)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_reads_sequences_holds_the_contract(neighbours, check, tmp_path):
    check(Subject("neighbours(least=1, log=true)", tmp_path / "subject"))


@pytest.fixture
def projection(monkeypatch):
    """Register a test plugin, and return its class, which tests break."""
    monkeypatch.syspath_prepend(PLUGINS)
    points = [*plugins.entry_points(group=plugins.GROUP), EntryPoint("projection", "projection", plugins.GROUP)]
    monkeypatch.setattr(plugins, "load", lambda: plugins.Registry(points))
    import projection

    return projection.Projection


# Kept before a test replaces it.
topic_rows = LDARepresentation.label_shares


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """A representation with labels, fitted once."""
    subject = Subject("lda(k=4, iterations=20)", tmp_path_factory.mktemp("labelled"))
    assert subject.index.representation(subject.expression).labels
    return subject


def some_only(self, query, view, docs=None):
    return np.zeros(len(view.rows(docs))) if docs is None else np.ones(len(docs))


def beside(self, inputs):
    rows = inputs @ self.vectors.astype(np.float64)
    return (rows - rows.mean(axis=0)).astype(np.float32)


def unsure(self, query, view, docs=None):
    return np.random.default_rng().random(len(view.rows(docs)))


def by_number(self, query, view, docs=None):
    return np.arange(len(view.rows(docs))) if docs is None else np.asarray(docs, float)


def half(self, query, view, doc):
    from sublex.contracts.base import Explanation

    return Explanation(float(self.score(query, view, np.array([doc]))[0]), "half", "sum", (Explanation(123.0, "x"),))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "broken", "check"),
    [
        ("score", some_only, representations.some_scores_are_those_of_all),
        ("encode_documents", beside, representations.encoding_alone_is_encoding_in_a_batch),
        ("score", unsure, representations.threads_score_alike),
        ("score", by_number, representations.deleting_and_merging_change_no_score),
        ("score", by_number, representations.odd_queries_raise_no_error),
        ("explain", half, representations.explanations_add_up),
        ("encode_documents", beside, representations.adding_is_building),
    ],
)
def test_a_check_fails_for_what_breaks_it(projection, monkeypatch, tmp_path, method, broken, check):
    check(Subject("projection(r=16)", tmp_path / "whole"))
    monkeypatch.setattr(projection, method, broken)
    with pytest.raises(AssertionError):
        check(Subject("projection(r=16)", tmp_path / "broken"))


@pytest.mark.parametrize(
    ("method", "broken", "message"),
    [
        ("label_shares", lambda self, view, docs: 2 * topic_rows(self, view, docs), "outside 0 to 1"),
        (
            "label_shares",
            lambda self, view, docs: topic_rows(self, view, docs) / len(docs),
            "depend on the other documents",
        ),
        ("facets", lambda self, view, docs: [Facet(0, "x", 1)], "another label than its number"),
        (
            "facets",
            lambda self, view, docs: [Facet(k, self.labels(view)[k], k + 1) for k in (0, 1)],
            "is not the first",
        ),
        ("facets", lambda self, view, docs: [Facet(0, self.labels(view)[0], 1)] * 2, "counted twice"),
        ("marks", lambda self, query, view, doc: [Mark(("zyx",), 0, self.labels(view)[0])], "not in the document: zyx"),
        ("marks", lambda self, query, view, doc: [Mark((), 0, self.labels(view)[0])] * 2, "two labels"),
    ],
)
def test_the_check_of_labels_fails_for_what_breaks_it(labelled, monkeypatch, method, broken, message):
    representations.labels_facets_and_marks_agree(labelled)
    monkeypatch.setattr(LDARepresentation, method, broken)
    with pytest.raises(AssertionError, match=message):
        representations.labels_facets_and_marks_agree(labelled)


# Broken plugins of each kind.


@pytest.fixture
def made(command, monkeypatch, tmp_path):
    """A function that returns the module of a new plugin of a kind, written by `plugin new` and registered."""

    def make(kind: str) -> ModuleType:
        assert command("plugin", "new", "mine", "--kind", kind, "-o", "made")[0] == 0
        monkeypatch.syspath_prepend(tmp_path / "made" / "mine")
        points = [*plugins.entry_points(group=plugins.GROUP), EntryPoint("mine", "mine", plugins.GROUP)]
        registry = plugins.Registry(points)
        monkeypatch.setattr(plugins, "load", lambda: registry)
        return importlib.import_module("mine")

    yield make
    for module in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[module]


def check_of(name: str, function) -> Check:
    """Return one check of a component."""
    (found,) = [check for check in checks(name) if check.function is function]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ranker", "filter", "expander", "reader"])
def test_a_new_plugin_passes_its_checks(made, tmp_path, kind):
    made(kind)
    chosen = [check for check in checks("mine") if check.function is not registrations.registering_is_light]
    assert {check.thing for check in chosen} == {f"{kind} mine"} and len(chosen) == 2 + len(all_checks.CHECKS_OF[kind])
    for number, check in enumerate(chosen):
        check(tmp_path / str(number))


def broken(name, module, members):
    """Replace members of the class that a plugin registers."""
    cls = next(value for value in vars(module).values() if isinstance(value, type) and value.__module__ == "mine")
    for member, value in members.items():
        setattr(cls, member, value)


class Counter:
    """Counts the calls of a method."""

    calls = 0

    def __call__(self):
        self.calls += 1
        return self.calls


def share(self, tf, doc, term, collection):
    """The score of a ranker without faults, by tf and length alone."""
    return tf / (tf + doc.length)


def doubling(self, tf, doc, term, collection):
    tf *= 2
    return tf / (tf + doc.length)


def raising(self, tf, doc, term, collection):
    return {}["table"]


TITLE_AND_TEXT = ("title", "text")


def part_of_norm(self, tf, doc, term, collection):
    return tf * tf


def leaf(self, tf, doc, term, collection):
    return Explanation(float(self.score(tf, doc, term, collection)), "score")


def wrong_parts(self, tf, doc, term, collection):
    return leaf(self, tf, doc, term, collection)._replace(parts=(Explanation(17.0, "a part"),))


calls = Counter()
BROKEN_RANKERS = [
    (
        rankers.scores_are_finite,
        {"score": lambda self, tf, *_: np.log(tf - 1)},
        "score returned -inf for tf=1, length=1.*finite number",
    ),
    (rankers.scores_are_finite, {"score": lambda self, tf, *_: tf * np.nan}, "score returned nan for tf=1"),
    (
        rankers.scores_are_finite,
        {"score": lambda self, tf, *_: tf * 1e300},
        "score returned 1e.300.*of at most 3.4e.38",
    ),
    (
        rankers.scores_are_finite,
        {"score": lambda self, tf, *_: 1.0},
        "score returned float64 of shape .* one number for each item",
    ),
    (rankers.scores_are_finite, {"score": lambda self, tf, *_: tf > 1}, "score returned bool"),
    (rankers.scores_are_finite, {"score": raising}, "score raised KeyError: 'table', for tf=1"),
    (rankers.scores_are_finite, {"lengths": "lucen"}, "lengths is 'lucen'; write"),
    (rankers.scores_are_finite, {"norm_part": lambda self, tf, *_: tf / 0}, "norm_part returned inf"),
    (
        rankers.scores_are_finite,
        {"fields": TITLE_AND_TEXT, "score": lambda self, tf, doc, *_: tf["title"] / doc.length["title"]},
        "score returned (nan|inf) for",
    ),
    (
        rankers.scores_are_finite,
        {"fields": TITLE_AND_TEXT, "score": lambda self, tf, *_: np.log(tf["title"] + tf["text"])},
        "score returned -inf for",
    ),
    (
        rankers.scores_read_what_reads_declares,
        {"fields": TITLE_AND_TEXT, "reads": (), "score": lambda self, tf, doc, *_: tf["title"] + doc.length["text"]},
        "score reads doc.length",
    ),
    (
        rankers.scores_stand_alone,
        {"fields": TITLE_AND_TEXT, "score": lambda self, tf, *_: np.divide(tf["text"], 2, out=tf["text"])},
        "score changed the arrays",
    ),
    (
        rankers.claims_hold,
        {"fields": TITLE_AND_TEXT, "score": lambda self, tf, doc, *_: tf["title"] * doc.length["text"]},
        "claims says 'falls with length'",
    ),
    (
        rankers.search_adds_up_scores,
        {"fields": TITLE_AND_TEXT, "score": lambda self, tf, *_: tf["title"] + 2 * tf["text"] + calls()},
        "search gives .* and weight times score is",
    ),
    (
        rankers.ends_of_ranges_give_finite_scores,
        {"score": lambda self, tf, doc, *_: tf / (self.s * doc.length)},
        "with s=0, which its range allows, score returned inf",
    ),
    (
        rankers.scores_read_what_reads_declares,
        {"reads": ()},
        r"score reads doc.length, which reads = \(\) leaves out; add 'length'",
    ),
    (
        rankers.scores_read_what_reads_declares,
        {"score": lambda self, tf, doc, *_: tf / doc.unique},
        "score reads doc.unique, which .* add 'unique' to reads",
    ),
    (
        rankers.scores_read_what_reads_declares,
        {"score": lambda self, tf, doc, *_: np.where(doc.unique > 5, tf, 2 * tf)},
        "score reads doc.unique",
    ),
    (
        rankers.scores_read_what_reads_declares,
        {"norm_part": part_of_norm, "score": lambda self, tf, doc, *_: tf / np.sqrt(doc.norm)},
        "score reads doc.norm, which .* add 'norm' to reads",
    ),
    (
        rankers.scores_read_what_reads_declares,
        {"reads": ("norm",), "norm_part": lambda self, tf, doc, *_: tf / doc.length, "score": lambda self, tf, *_: tf},
        "norm_part reads doc.length",
    ),
    (
        rankers.scores_read_what_reads_declares,
        {"reads": ("len",)},
        "reads names 'len'; documents have length, unique and norm",
    ),
    (rankers.scores_read_what_reads_declares, {"reads": "length"}, "reads is the text 'length'; write a tuple"),
    (rankers.scores_stand_alone, {"score": lambda self, tf, *_: tf / tf.max()}, "in one array .* at its own place"),
    (rankers.scores_stand_alone, {"score": lambda self, tf, *_: tf / np.cumsum(tf)}, "score gives .* for it alone"),
    (rankers.scores_stand_alone, {"score": lambda self, tf, *_: tf + calls()}, "score gives .* for it alone"),
    (rankers.scores_stand_alone, {"score": lambda self, tf, *_: tf * np.random.default_rng().random()}, "score gives"),
    (rankers.scores_stand_alone, {"score": doubling}, "score changed the arrays"),
    (
        rankers.scores_stand_alone,
        {"score": lambda self, tf, doc, term, _: tf / term.df[0]},
        "score raised TypeError|for it alone",
    ),
    (
        rankers.weights_are_finite,
        {"weight": lambda self, qtf, *_: np.log(qtf)},
        r"weight returned .* for qtf=\[0.25, -1.0",
    ),
    (rankers.weights_are_finite, {"weight": lambda self, qtf, *_: 1.0}, "weight returned 1.0 for qtf"),
    (rankers.weights_are_finite, {"weight": lambda self, qtf, *_: qtf / qtf[0]}, "weight"),
    (rankers.explanations_are_those_of_scores, {"score": share}, "explain gives the value .* explain the same formula"),
    (
        rankers.explanations_are_those_of_scores,
        {"explain": lambda self, *_: 1.0},
        "explain returned float; return a sublex",
    ),
    (rankers.explanations_are_those_of_scores, {"explain": wrong_parts}, "explain: the parts of score give 17.0"),
    (
        rankers.explanations_are_those_of_scores,
        {"explain": lambda *arguments: leaf(*arguments)._replace(label="")},
        "explain gives the label '' .* name each part",
    ),
    (rankers.claims_hold, {"score": lambda self, tf, *_: 1 / tf}, "claims says 'rises with tf', but score gives"),
    (rankers.claims_hold, {"score": lambda self, tf, doc, *_: tf * doc.length}, "claims says 'falls with length'"),
    (rankers.claims_hold, {"score": lambda self, tf, doc, term, _: tf * term.df}, "claims says 'falls with df'"),
    (
        rankers.claims_hold,
        {"claims": ("grows",)},
        "claims names 'grows'; the claims that can be checked are: rises with tf",
    ),
    (rankers.claims_hold, {"claims": "rises with tf"}, "claims is the text"),
    (
        rankers.search_adds_up_scores,
        {"reads": ()},
        "search with the query .* gave a score that is not a finite number.* reads leaves out",
    ),
    (
        rankers.search_adds_up_scores,
        {"score": lambda self, tf, *_: tf / tf.max()},
        "search gives d.* weight times score is",
    ),
]


@pytest.mark.parametrize(("check", "members", "message"), BROKEN_RANKERS)
def test_a_check_of_rankers_finds_its_fault(made, tmp_path, check, members, message):
    broken("mine", made("ranker"), members)
    with pytest.raises(AssertionError, match=message):
        check_of("mine", check)(tmp_path / "folder")


def every_other(self, docs, context):
    """Keep other documents at each call."""
    return np.arange(len(docs)) % 2 == calls() % 2


def overwriting(self, docs, context):
    docs[:] = 0
    return docs == 0


BROKEN_FILTERS = [
    (
        filters.keep_answers_for_each_document,
        {"keep": lambda self, docs, _: docs},
        "keep returned int32 of shape .* bool array",
    ),
    (
        filters.keep_answers_for_each_document,
        {"keep": lambda self, docs, _: [True]},
        r"keep returned bool of shape \(1,\)",
    ),
    (
        filters.keep_answers_for_each_document,
        {"keep": lambda self, docs, _: docs > docs.max() - 9},
        "keep raised ValueError: .* no documents",
    ),
    (filters.keep_answers_for_each_document, {"keep": lambda self, docs, _: []}, "keep returned float64"),
    (filters.keep_answers_for_each_document, {"keep": overwriting}, "keep changed the array docs"),
    (
        filters.keep_is_repeatable,
        {"keep": lambda self, docs, _: np.random.default_rng().random(len(docs)) < 0.5},
        "keep says something else when it is asked again.*draw nothing at random",
    ),
    (filters.keep_is_repeatable, {"keep": every_other}, "keep says something else"),
    (
        filters.keep_looks_at_the_document_alone,
        {"keep": lambda self, docs, _: np.arange(len(docs)) < 5},
        "keep says something else of .* in another order .* leave out per_document",
    ),
    (
        filters.keep_looks_at_the_document_alone,
        {"keep": lambda self, docs, _: np.full(len(docs), len(docs) > 9)},
        "keep says something else of .* alone than among all",
    ),
    (filters.keep_answers_for_each_document, {"per_document": 1}, "per_document is 1; write True or False"),
    (
        filters.search_drops_what_keep_drops,
        {"per_document": False, "keep": every_other},
        "search for .* finds other documents",
    ),
]


@pytest.mark.parametrize(("check", "members", "message"), BROKEN_FILTERS)
def test_a_check_of_filters_finds_its_fault(made, tmp_path, check, members, message):
    broken("mine", made("filter"), members)
    with pytest.raises(AssertionError, match=message):
        check_of("mine", check)(tmp_path / "folder")


def adding(term="river", weight=1.0, origin="mine"):
    """Return an `expand` that adds one term, whatever was found."""
    return lambda self, query, context: Query(query.text, (*query.terms, QueryTerm(term, weight, origin)))


def best_scored(self, query, context):
    """Add a term with the best score as its weight."""
    return adding(weight=float(context.scores.max()))(self, query, context)


def words_alone(self, query, context):
    """Return the query, and fail for operators."""
    assert not any(isinstance(term.term, Operator) for term in query.terms)
    return query


def all_found(self, query, context):
    return adding(weight=float(len(context.docs)))(self, query, context)


def by_calls(self, query, context):
    return adding(weight=float(calls()))(self, query, context)


def counting(self, query, context):
    self.asked = getattr(self, "asked", 0) + 1
    return adding(weight=float(self.asked > 3))(self, query, context)


BROKEN_EXPANDERS = [
    (
        expanders.expand_gives_finite_weights,
        {"expand": adding(weight=np.nan)},
        "expand gave 'river' the weight nan for .* finite",
    ),
    (expanders.expand_gives_finite_weights, {"expand": adding(weight=1e300)}, "expand gave 'river' the weight 1e.300"),
    (
        expanders.expand_gives_finite_weights,
        {"expand": adding(weight="1")},
        "expand gave 'river' the weight '1' .* give a number",
    ),
    (expanders.expand_gives_finite_weights, {"expand": adding(term=3)}, "expand returned the term"),
    (
        expanders.expand_gives_finite_weights,
        {"expand": lambda self, query, _: list(query.terms)},
        "expand returned list",
    ),
    (
        expanders.expand_gives_finite_weights,
        {"expand": lambda self, query, _: Query("other", query.terms)},
        "expand changed the text",
    ),
    (
        expanders.expand_gives_finite_weights,
        {"expand": lambda self, query, _: Query(query.text, query.terms, ["sense"])},
        "expand gave evidence that is no",
    ),
    (
        expanders.expand_gives_finite_weights,
        {"expand": best_scored},
        "expand raised ValueError: .* and no documents found",
    ),
    (
        expanders.added_terms_exist,
        {"expand": adding(term="rivers")},
        "expand added 'rivers' .*, which no document holds",
    ),
    (
        expanders.added_terms_exist,
        {"expand": adding(term=ordered(["river", "zyzzyvas"]))},
        "expand added 'zyzzyvas' .*, which no document holds",
    ),
    (
        expanders.expand_gives_finite_weights,
        {"expand": words_alone},
        "expand raised AssertionError.* for a phrase",
    ),
    (
        expanders.added_terms_exist,
        {"expand": adding(term="river", origin="query")},
        "expand gave the added term 'river' the origin",
    ),
    (expanders.expand_is_repeatable, {"expand": by_calls}, "expand gives another query when it is asked again"),
    (expanders.expand_is_repeatable, {"expand": counting}, "expand"),
    (
        expanders.expand_looks_at_the_documents_that_it_asks_for,
        {"expand": all_found},
        r"look at context.docs\[:10\] alone, or raise docs",
    ),
    (
        expanders.search_takes_the_query,
        {"expand": adding(weight=np.inf)},
        "search for .*gave a weight that is not a finite number",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("check", "members", "message"), BROKEN_EXPANDERS)
def test_a_check_of_expanders_finds_its_fault(made, tmp_path, check, members, message):
    broken("mine", made("expander"), members)
    with pytest.raises(AssertionError, match=message):
        check_of("mine", check)(tmp_path / "folder")


@pytest.mark.parametrize("docs", [-1, 1.5, None])
def test_the_number_of_documents_of_an_expander_is_checked(made, tmp_path, docs):
    module = made("expander")
    module.ChiSquared.docs = property(lambda self: docs, lambda self, value: None)
    with pytest.raises(AssertionError, match=f"docs is {docs}; write the number of documents"):
        check_of("mine", expanders.expand_gives_finite_weights)(tmp_path / "folder")


def reading(change):
    """Return a `read` of a reader in which something is changed: it gets the list of documents that the reader should yield."""

    def read(self, source, report):
        yield from change(list(type(self).whole(self, source, report)))

    return read


def ids(self, source, report):
    """A `read` that takes each line as a document, and checks nothing."""
    with source.open() as stream:
        for line in stream:
            if line.startswith(b"ID"):
                yield Document(line.decode().split("- ")[1].strip(), "")


def swallowing(self, source, report):
    with contextlib.suppress(Exception):
        yield from type(self).whole(self, source, report)


def from_path(self, source, report):
    """A `read` that opens the file by itself."""
    with open(source.path, "rb") as stream:
        yield from type(self).whole(self, Opened(source.path, stream), report)


class Opened(NamedTuple):
    """A source that is open already."""

    path: str
    stream: Any

    def open(self):
        return self.stream


def without_lines(self, source, report):
    with source.open() as stream:
        if b"ER" not in stream.read():
            report.malformed(source.path, 0, "there is no end")
    yield from type(self).whole(self, source, report)


BROKEN_READERS = [
    (
        readers.detects_its_own_files,
        {"detect": lambda self, path, head: False},
        "detect does not recognise the example",
    ),
    (
        readers.detects_its_own_files,
        {"detect": lambda self, path, head: re.search(b"TY", head)},
        "detect returned <re.* True or False",
    ),
    (readers.detects_its_own_files, {"examples": (Example("references.ris", b"TY", "ab"),)}, "with docnos as a tuple"),
    (
        readers.detects_its_own_files,
        {"examples": (Example("references.txt", b"TY  - JOUR\nID  - a\nER  -\n", ("a",)),)},
        "detect claims the example references.txt, which the reader text claims too",
    ),
    (
        readers.claims_no_other_format,
        {"detect": lambda self, path, head: True},
        "detect claims the file .*another format",
    ),
    (
        readers.claims_no_other_format,
        {"detect": lambda self, path, head: b"cranes" in head.lower()},
        "detect claims the file cranes",
    ),
    (
        readers.claims_no_other_format,
        {"detect": lambda self, path, head: head[0] == 84},
        "detect raised IndexError: .*cranes|empty",
    ),
    (
        readers.claims_no_other_format,
        {"detect": lambda self, path, head: "no such text" in head.decode()},
        "detect raised UnicodeDecodeError",
    ),
    (readers.reads_every_document_once, {"read": reading(lambda docs: docs * 2)}, "yield each document once"),
    (
        readers.reads_every_document_once,
        {"read": reading(lambda docs: docs[1:])},
        "read yields the documents .'salton1971'. of the",
    ),
    (readers.reads_every_document_once, {"read": reading(lambda docs: docs[::-1])}, "read yields the documents"),
    (
        readers.reads_every_document_once,
        {"read": reading(lambda docs: map(tuple, docs))},
        "read yields tuple .*yield sublex",
    ),
    (
        readers.reads_every_document_once,
        {"read": reading(lambda docs: [doc._replace(docno=k) for k, doc in enumerate(docs)])},
        "read yields the docno 0 .*make it a text",
    ),
    (
        readers.reads_every_document_once,
        {"read": reading(lambda docs: [doc._replace(docno=" ") for doc in docs])},
        "read yields an empty docno .*report.malformed",
    ),
    (
        readers.reads_every_document_once,
        {"read": reading(lambda docs: [doc._replace(fields={"set": {1}}) for doc in docs])},
        "json.dumps of the fields raised TypeError",
    ),
    (
        readers.reads_every_document_once,
        {"read": from_path},
        "of the example references.ris.gz.*take the bytes from source.open",
    ),
    (
        readers.damaged_files_cost_a_sentence,
        {"read": ids},
        "read raised .*Error.*report.malformed, or raise InputError",
    ),
    (readers.damaged_files_cost_a_sentence, {"read": swallowing}, "read goes on after .* where it has to be strict"),
    (readers.damaged_files_cost_a_sentence, {"read": without_lines}, "give report.malformed the line, from 1"),
    (readers.random_bytes_do_no_harm, {"read": lambda self, source, report: source.open().read()}, "read yields int"),
    (
        readers.random_bytes_do_no_harm,
        {"read": lambda self, source, report: source.open().read().decode()[:0]},
        "read raised UnicodeDecodeError",
    ),
]


@pytest.mark.parametrize(("check", "members", "message"), BROKEN_READERS)
def test_a_check_of_readers_finds_its_fault(made, tmp_path, check, members, message):
    module = made("reader")
    module.Ris.whole = module.Ris.read
    broken("mine", module, members)
    with pytest.raises(AssertionError, match=message):
        check_of("mine", check)(tmp_path / "folder")


def test_a_reader_without_examples_is_not_checked_by_files(made, tmp_path):
    made("reader").Ris.examples = ()
    with pytest.raises(SkipTest, match="the reader has no examples; give it a small file"):
        check_of("mine", readers.reads_every_document_once)(tmp_path / "folder")
    check_of("mine", readers.claims_no_other_format)(tmp_path / "folder")


class Terms:
    """The smallest analyzer without faults."""

    def terms(self, token):
        return [token.lower()]


class Newlines(Terms):
    def terms(self, token):
        return ["two\nwords"]


class Empty(Terms):
    def terms(self, token):
        return [token[1:]]


class Words(Terms):
    def terms(self, token):
        return token.lower()


class Failing(Terms):
    def terms(self, token):
        return [token.encode("ascii").decode()]


class Remembering(Terms):
    def __init__(self):
        self.seen = set()

    def terms(self, token):
        known = token.lower() in self.seen
        self.seen.add(token.lower())
        return [] if known else [token.lower()]


class Batches(Terms):
    def batch(self, tokens):
        return [token.upper() for token in tokens]


class FewBatches(Terms):
    def batch(self, tokens):
        return [token.lower() for token in set(tokens)][1:]


@pytest.fixture
def registered(monkeypatch):
    """A function that registers members of a module as the plugin `mine`, and returns their checks."""

    def register(**members) -> None:
        module = ModuleType("mine")
        vars(module).update({"sublex_api": 3} | members)
        monkeypatch.setitem(sys.modules, "mine", module)
        points = [*plugins.entry_points(group=plugins.GROUP), EntryPoint("mine", "mine", plugins.GROUP)]
        registry = plugins.Registry(points)
        monkeypatch.setattr(plugins, "load", lambda: registry)

    return register


def registers(kind, factory, *params):
    """Return the hook by which a plugin registers one component, `mine`."""
    return {f"register_{kind}s": hookimpl(lambda register: register("mine", factory, params))}


@pytest.mark.parametrize(
    ("factory", "check", "message"),
    [
        (Newlines, analyzers.terms_are_terms, "terms returned .* for the token .* newlines"),
        (Empty, analyzers.terms_are_terms, "terms returned '' for the token 'A'; leave out empty terms"),
        (Words, analyzers.terms_are_terms, "terms returned str for the token .* list of texts"),
        (Failing, analyzers.terms_are_terms, "terms raised UnicodeEncodeError.* for the token 'Tom"),
        (Remembering, analyzers.terms_depend_on_the_token_alone, "terms gives .* by what came before"),
        (Batches, analyzers.terms_depend_on_the_token_alone, "batch gives .* and terms gives"),
        (FewBatches, analyzers.terms_depend_on_the_token_alone, "batch returned .* one for each"),
    ],
)
def test_a_check_of_analyzers_finds_its_fault(registered, tmp_path, factory, check, message):
    registered(**registers("analyzer", Terms))
    check_of("mine", check)(tmp_path / "whole")
    registered(**registers("analyzer", factory))
    with pytest.raises(AssertionError, match=message):
        check_of("mine", check)(tmp_path / "broken")


class Lengths:
    """An encoder of the lengths of texts."""

    kind, identity = "dense", "0123456789abcdef"

    def encode(self, texts, role):
        return Encoded(np.array([[len(text)] for text in texts], np.float32).reshape(len(texts), 1))


class WordCounts(Lengths):
    """An encoder of the words of texts."""

    kind = "sparse"

    def encode(self, texts, role):
        terms = sorted({word for text in texts for word in text.split()})
        counts = [[text.split().count(term) for term in terms] for text in texts]
        return Encoded(csr_array(np.array(counts, np.float32).reshape(len(texts), len(terms))), terms)


class Ranks(Lengths):
    """An encoder whose rows depend on the other texts."""

    def encode(self, texts, role):
        return Encoded(np.arange(len(texts), dtype=np.float32)[:, None])


class Few(Lengths):
    """An encoder that forgets a text."""

    def encode(self, texts, role):
        return Encoded(np.ones((max(0, len(texts) - 1), 1), np.float32))


class Random(Lengths):
    """An encoder with another hash for each object."""

    def __init__(self):
        self.identity = os.urandom(8).hex()


class Texts(Lengths):
    """An encoder whose hash is no hash."""

    identity = "/home/models"


@pytest.mark.parametrize(
    ("factory", "check", "message"),
    [
        (Few, encoders.encode_returns_what_the_kind_promises, "encode for the role query: .* for 11 texts; give one row for each"),
        (Ranks, encoders.vectors_depend_on_the_text_alone, "another vector for .* alone than among others, for the role query"),
        (Random, encoders.the_identity_stays, "identity is another for a new object"),
        (Texts, encoders.the_identity_stays, "its identity is no text of 8 to 128 hexadecimal digits"),
    ],
)  # fmt: skip
def test_a_check_of_encoders_finds_its_fault(registered, tmp_path, factory, check, message):
    for sound in (Lengths, WordCounts):
        registered(**registers("encoder", sound))
        check_of("mine", check)(tmp_path / sound.__name__)
    registered(**registers("encoder", factory))
    with pytest.raises(AssertionError, match=message):
        check_of("mine", check)(tmp_path / "broken")


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda query, texts: [1e300 for text in texts], "no finite number of float32"),
        (lambda query, texts: [1], "shape .* for 11 texts; give one for each"),
        (lambda query, texts: range(len(texts)), "another score for .* alone than among others"),
        (lambda query, texts: 1 / 0, "scores raised ZeroDivisionError"),
    ],
)
def test_a_check_of_rerankers_finds_its_fault(registered, tmp_path, scores, message):
    check = encoders.scores_are_of_each_text_alone
    made = types.SimpleNamespace(scores=lambda query, texts: [len(text) or None for text in texts])
    registered(**registers("reranker", lambda: made))
    check_of("mine", check)(tmp_path / "whole")
    registered(**registers("reranker", lambda: types.SimpleNamespace(scores=scores)))
    with pytest.raises(AssertionError, match=message):
        check_of("mine", check)(tmp_path / "broken")


class Lifted(Smoother):
    """A smoother that follows the contract."""

    k = 4

    def __init__(self, over):
        self.over = over

    def smooth(self, scores, near, cosines):
        return np.maximum(scores, np.where(cosines > 0, near, -np.inf).max(axis=1))

    def explain(self, score, near, cosines):
        return max([score, *near.values()], key=lambda part: part.value)


def changing(self, scores, near, cosines):
    near[:] = 0
    return scores


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "members", "message"),
    [
        (smoothers.smooth_scores_each_document, {"smooth": changing}, "smooth changed an array that it got"),
        (
            smoothers.smooth_scores_each_document,
            {"smooth": lambda self, scores, near, cosines: near},
            r"shape \(40, 4\) .* one finite number for each of the 40 documents",
        ),
        (
            smoothers.smooth_scores_each_document,
            {"smooth": lambda self, scores, near, cosines: scores / cosines.sum(axis=1)},
            "for random scores; return one finite number",
        ),
        (
            smoothers.smooth_looks_at_the_document_alone,
            {"smooth": lambda self, scores, near, cosines: scores - scores.mean()},
            "gives a document another score .* than among all",
        ),
        (
            smoothers.search_gives_explained_scores,
            {"explain": lambda self, score, near, cosines: Explanation(score.value + 3, "more")},
            "explained .* where the score is",
        ),
        (
            smoothers.search_gives_explained_scores,
            {"explain": lambda *given: Lifted.explain(*given)._replace(kind="sum", parts=(given[1], given[1]))},
            "the parts of .* give",
        ),
    ],
)
def test_a_check_of_smoothers_finds_its_fault(registered, tmp_path, check, members, message):
    over = Param("over", Expression, ..., stage="fit")
    registered(**registers("smoother", Lifted, over))
    check_of("mine(lsi(e=5))", check)(tmp_path / "whole")
    registered(**registers("smoother", type("Broken", (Lifted,), members), over))
    with pytest.raises(AssertionError, match=message):
        check_of("mine(lsi(e=5))", check)(tmp_path / "broken")


class Constant(Ranker):
    """A ranker with one parameter."""

    def __init__(self, k=1.0):
        if k > 5:
            raise RuntimeError("too large")
        self.k = k

    def score(self, tf, doc, term, collection):
        return self.k * np.ones_like(tf)


@pytest.mark.parametrize(
    ("param", "check", "message"),
    [
        (Param("k", float, 3.0, range=(0, 2)), registrations.parameters_fit, "the default of k .* lies outside 0 to 2"),
        (Param("k", float, "3"), registrations.parameters_fit, "the default of k does not fit .* has to be a number"),
        (Param("k", int, 0.5), registrations.parameters_fit, "the default of k .* whole number"),
        (Param("k", float, 1.0, range=(2, 0)), registrations.parameters_fit, r"the range of k is \(2, 0\); write \(lowest"),
        (Param("k", str, "c", range=("a", "b")), registrations.parameters_fit, "the default of k .* none of a, b|unknown"),
        (Param("K", float, 1.0), registrations.parameters_fit, "the factory does not take what params declares, K"),
        (Param("k", float, 9.0), registrations.can_be_made, "the factory raised RuntimeError: too large"),
    ],
)  # fmt: skip
def test_a_check_of_declarations_finds_its_fault(registered, tmp_path, param, check, message):
    registered(**registers("ranker", Constant, Param("k", float, 1.0, range=(0, 2))))
    check_of("mine", check)(tmp_path / "whole")
    registered(**registers("ranker", Constant, param))
    with pytest.raises(AssertionError, match=message):
        check_of("mine", check)(tmp_path / "broken")


def test_a_component_without_values_for_its_parameters_is_said_to_be_unchecked(registered, tmp_path):
    registered(**registers("ranker", Constant, Param("k", float, ...)))
    fit, unchecked = (check for check in checks("mine") if check.thing == "ranker mine")
    fit(tmp_path)
    with pytest.raises(
        SkipTest, match=re.escape("mine has no default for k, so it was not checked; name it too, as in 'mine(k=…)'")
    ):
        unchecked(tmp_path)
    given = [check for check in checks("mine", "mine(k=2)") if check.thing == "ranker mine(k=2)"]
    assert len(given) == 2 + len(rankers.CHECKS) and not [
        c for c in checks("mine", "mine(k=2)") if c.thing == "ranker mine"
    ]


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A function that installs a module as the plugin `heavy`, for this process and for those that it starts."""

    def install(code: str) -> None:
        folder = tmp_path / "site" / "heavy-1.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: heavy\nVersion: 1\n")
        (folder / "entry_points.txt").write_text("[sublex]\nheavy = heavy\n")
        (folder.parent / "heavy.py").write_text(code)
        monkeypatch.syspath_prepend(folder.parent)
        monkeypatch.setenv("PYTHONPATH", str(folder.parent), prepend=os.pathsep)

    yield install
    sys.modules.pop("heavy", None)


@pytest.mark.parametrize("hook", ["register_rankers", "register_readers", "register_operations"])
def test_a_heavy_import_is_found_in_any_hook(installed, tmp_path, hook):
    installed(
        "from sublex.contracts.hookspecs import hookimpl\nsublex_api = 3\n"
        f"@hookimpl\ndef {hook}(register):\n    import scipy\n"
    )
    (check,) = [check for check in checks("heavy") if check.function is registrations.registering_is_light]
    with pytest.raises(AssertionError, match="registering heavy imports scipy; import it in the factory"):
        check(tmp_path)


def listing(
    name="mine-words", doc="Args:\n    number: How many.\n\nExamples:\n    sublex mine-words demo --number 3\n"
):
    """Return an operation with this name and docstring."""

    def words(context, number: int = 3):
        raise AssertionError("nothing runs an operation")

    words.__doc__ = f"List words.\n\n{doc}"
    return operation(name)(words)


def untyped():
    def words(context, number: Nothing = 3):  # noqa: F821
        """List words."""

    return operation("mine-words")(words)


def without_doc():
    def words(context):
        raise AssertionError("nothing runs an operation")

    return operation("mine-words")(words)


def two_flags(context, first: Annotated[int, option("-n")] = 1, second: Annotated[int, option("-n")] = 1):
    """List words.

    Args:
        first: A number.
        second: A number.

    Examples:
        sublex mine-words demo -n 3
    """


@pytest.mark.parametrize(
    ("declared", "check", "message"),
    [
        (listing("search"), operations.declaration_makes_a_command, "Sublex has an operation search"),
        (untyped(), operations.declaration_makes_a_command, "the signature raised NameError"),
        (operation("mine-words")(two_flags), operations.declaration_makes_a_command, "the signature declares -n twice"),
        (without_doc(), operations.help_is_complete, "the function has no docstring"),
        (listing(doc="Args:\n    numbr: How many.\n"), operations.help_is_complete, "Args: .* describes numbr, which is no parameter"),
        (listing(doc="Args:\n    output: A file.\n"), operations.help_is_complete, "the option number has no help"),
        (listing(doc=""), operations.examples_fit_the_declaration, "no example; write a line .* sublex mine-words"),
        (
            listing(doc="Examples:\n    sublex mine-words demo --numbers 3\n"),
            operations.examples_fit_the_declaration,
            "has the option --numbers, which the operation lacks",
        ),
        (
            listing(doc="Examples:\n    sublex mine-words 'demo\n"),
            operations.examples_fit_the_declaration,
            "an example raised ValueError: No closing quotation",
        ),
    ],
)  # fmt: skip
def test_a_check_of_operations_finds_its_fault(registered, tmp_path, declared, check, message):
    registered(register_operations=hookimpl(lambda register: register(listing())))
    (whole,) = [each for each in checks("mine") if each.function is check]
    whole(tmp_path)
    registered(register_operations=hookimpl(lambda register: register(declared)))
    (broken,) = [each for each in checks("mine") if each.function is check]
    with pytest.raises(AssertionError, match=message):
        broken(tmp_path)


def test_names_that_cannot_be_checked_cost_a_sentence(registered):
    registered(register_rankers=hookimpl(lambda register: 1 / 0))
    with pytest.raises(PluginError, match=r"Plugin mine failed to load \(ZeroDivisionError: division by zero\)"):
        checks("mine")
    registered(register_operations=hookimpl(lambda register: 1 / 0))
    with pytest.raises(PluginError, match="Plugin mine could not add its operations: ZeroDivisionError"):
        checks("mine")
    registered(register_operations=hookimpl(lambda register: register(len)))
    with pytest.raises(
        InputError, match="Plugin mine registers <built-in .* decorate it by sublex.operations.operation"
    ):
        checks("mine")
    with pytest.raises(UnknownName, match="No plugin and no component BM52 is installed; did you mean BM25"):
        checks("BM52")
    with pytest.raises(InputError, match="BM25 >> RM3 is not one component"):
        checks("BM25 >> RM3")
    with pytest.raises(InputError, match="lies outside"):
        checks("BM25(b=2)")


# What comes with Sublex.


@pytest.mark.slow
@pytest.mark.parametrize("plugin", ["rankers", "expanders", "readers", "analyzers"])
def test_the_built_in_plugins_pass_their_checks(tmp_path, plugin):
    chosen, passed = checks(plugin), 0
    for number, check in enumerate(chosen):
        try:
            check(tmp_path / str(number))
            passed += 1
        except SkipTest:
            assert check.thing == "reader irds", "only the collections of ir_datasets have to be downloaded"
    assert passed == len(chosen) - 3 * (plugin == "readers")


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("phrases", "phrases(support=4)"),
        ("near(lsi(e=20))",),
        ("swg",),
        ("whoosh",),
        ("lda(k=3, iterations=20)", 'topic("0", of=lda(k=3, iterations=20))'),
        ('keyphrase("would have", of=laki(phrases=phrases(support=4)))',),
    ],
)
def test_the_other_bundled_components_pass_their_checks(tmp_path, names):
    for number, check in enumerate(checks(*names)):
        with contextlib.suppress(SkipTest):
            check(tmp_path / str(number))


@pytest.mark.slow
def test_plugin_test_says_what_holds(command, monkeypatch):
    # The tests above make the others.
    some = representations.CHECKS if ALL else representations.CHECKS[2:5]
    monkeypatch.setitem(all_checks.CHECKS_OF, "representation", some)
    code, output, _ = command("plugin", "test", "lsi(e=5)")
    made = 3 + len(some)
    assert code == 0 and output.splitlines()[-1] == f"{made} of {made} hold" and output.count("ok      ") == made
    assert "representation lsi(e=5)\n" in output and "plugin lsi\n" in output
    for nothing in ("nothing", "BM25 >> RM3", "lsi(e=0)"):
        code, output, said = command("plugin", "test", nothing)
        assert code == 2 and not output and said.count("sublex: ") == 1


def test_plugin_test_says_what_is_wrong_and_what_was_left_out(command, registered):
    members = registers("ranker", Constant, Param("k", float, 3.0, range=(0, 2)))
    registered(**members, **registers("filter", Terms, Param("label", str, ...)))
    code, output, _ = command("plugin", "test", "mine")
    assert code == 1
    lines = output.splitlines()
    # Registering cannot be tried: nothing is installed.
    assert lines[0] == "plugin mine" and lines[1].startswith("failed  Registering")
    at = lines.index("ranker mine")
    assert lines[at + 1].startswith("failed  The default of each parameter") and lines[at + 2].startswith(
        "        the default of k"
    )
    # The other checks of this ranker would say the same.
    assert lines[at + 3] == "filter mine" and lines[at + 4].startswith("failed  ") and lines[-1] == "0 of 3 hold"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ranker", "filter", "expander", "reader", "representation"])
def test_a_new_plugin_is_installed_and_passes_its_own_tests(command, tmp_path, kind):
    code, output, _ = command("plugin", "new", "mine", "--kind", kind, "-o", str(tmp_path))
    assert code == 0 and f"registers the {kind} mine" in output and "sublex plugin test mine" in output
    files = {file: file.read_text() for file in (tmp_path / "mine").rglob("*") if file.is_file()}
    assert not [file for file, text in files.items() if re.search("NAME|KIND|USES", text)]
    uses = output.partition("plugin test mine\n")[2].split("\n  ")
    readme = files[tmp_path / "mine" / "README.md"]
    assert uses and all(use.strip() in readme for use in uses) and f"The {kind} `mine`" in readme
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    inside = environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (inside / "outside.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_paths()['purelib']!r})\n", encoding="utf-8"
    )
    python = environment / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", tmp_path / "mine"]
    done = subprocess.run(pip, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    chosen = ["-k", "light or alone or explanations or method"] if kind == "representation" and not ALL else []
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-x", *chosen, tmp_path / "mine"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_a_name_for_a_new_plugin_is_checked(command, tmp_path):
    assert command("plugin", "new", "mine", "-o", str(tmp_path))[0] == 0
    for bad in ("mine", "Mine", "../up", "1x", "class", "lsi", "json", "tests"):
        assert command("plugin", "new", bad, "-o", str(tmp_path))[0] == 2
    assert command("plugin", "new", "other", "--kind", "rankers", "-o", str(tmp_path))[0] == 2
