"""The bundled plugins, a test plugin and the template pass the checks of `sublex.testing`, and broken plugins fail them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from shared import PLUGINS
from strategies import ALL

from sublex import testing
from sublex.contracts.base import Facet, Mark
from sublex.language import plugins
from sublex.testing import CHECKS, Subject
from sublex_lda.representation import LDARepresentation

BUNDLED = (
    "lsi(e=20)",
    "lsi(e=20, weighting=logtfidf, unit=true)",
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
    testing.registering_is_light,
    testing.same_bytes_for_workers_and_hash_seeds,
    testing.loads_in_a_fresh_process,
)
# All checks of all expressions; those that start processes are made of the other expressions in .ci/run only.
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
        ("score", some_only, testing.some_scores_are_those_of_all),
        ("encode_documents", beside, testing.encoding_alone_is_encoding_in_a_batch),
        ("score", unsure, testing.threads_score_alike),
        ("score", by_number, testing.deleting_and_merging_change_no_score),
        ("score", by_number, testing.odd_queries_raise_no_error),
        ("explain", half, testing.explanations_add_up),
        ("encode_documents", beside, testing.adding_is_building),
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
    testing.labels_facets_and_marks_agree(labelled)
    monkeypatch.setattr(LDARepresentation, method, broken)
    with pytest.raises(AssertionError, match=message):
        testing.labels_facets_and_marks_agree(labelled)


@pytest.mark.slow
def test_plugin_test_says_what_holds(command, monkeypatch):
    # The test above makes the others.
    checks = CHECKS if ALL else CHECKS[2:5]
    monkeypatch.setattr(testing, "CHECKS", checks)
    code, output, _ = command("plugin", "test", "lsi(e=5)")
    assert (
        code == 0
        and output.splitlines()[-1] == f"{len(checks)} of {len(checks)} hold"
        and output.count("ok ") == len(checks)
    )
    for nothing in ("nothing", "BM25", "lsi(e=0)"):
        code, output, said = command("plugin", "test", nothing)
        assert code == 2 and not output and said.count("sublex: ") == 1


@pytest.mark.slow
def test_a_new_plugin_is_installed_fitted_and_found(command, tmp_path):
    code, output, _ = command("plugin", "new", "mine", "-o", str(tmp_path))
    assert code == 0 and "sublex plugin test mine" in output
    for bad in ("mine", "Mine", "../up", "1x", "class", "lsi", "json", "tests"):
        assert command("plugin", "new", bad, "-o", str(tmp_path))[0] == 2
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
    code = (
        "import sublex; index = sublex.build([{'id': 'a', 'text': 'a crane'}, {'id': 'b', 'text': 'a river'}], 'made'); "
        "index.fit('mine(r=16)'); print([hit.docno for hit in index.search('crane', 'BM25 >> BM25 + 0.5*mine(r=16)')])"
    )
    done = subprocess.run([python, "-c", code], cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True)
    assert done.stdout.strip() == "['a']", done.stderr
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-x", "-k", "light or alone or explanations", tmp_path / "mine"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
