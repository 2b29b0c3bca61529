"""Experiments of studies: what a plugin registers, what a study keeps, and what its tables and claims show."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from shared import DEMO

import sublex
from sublex import Expression
from sublex.contracts.base import Param, Resource
from sublex.contracts.hookspecs import hookimpl
from sublex.errors import InputError
from sublex.language import plugins

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")
STUDY = """
[experiments]
dice = 'dice(numbers="numbers.txt", sides=6)'
[tables.rolls]
title = "Rolls"
experiment = "dice"
tolerance = 0.5
published.loaded.mean = 5.5
published.fair.mean = 5.5
expected.fair = {mean = 3.5, most = 6}
[claims.loaded]
experiment = "dice"
higher = ["loaded"]
lower = ["fair"]
[claims.fair]
experiment = "dice"
measure = "mean"
higher = ["fair"]
lower = ["loaded"]
[plots.means]
experiment = "dice"
x = {fair = 1, loaded = 2}
"""


class Dice:
    """Throws of a fair die, and of one that adds the number in a file."""

    cases, measures, needs_index = ("fair", "loaded"), ("mean", "most"), False
    units = tuple(f"seed {seed}" for seed in range(6))
    calls: list[str]

    def __init__(self, numbers, sides):
        self.numbers, self.sides = numbers, sides

    def measure(self, unit, work):
        self.calls.append(unit)
        work.progress(1, 2, "throws")
        more = float(Path(self.numbers).read_text())
        chance = np.random.default_rng(self.units.index(unit))
        throws, loaded = (chance.integers(1, self.sides + 1, 30) for _ in self.cases)
        return {"fair": [throws.mean(), throws.max()], "loaded": [loaded.mean() + more, loaded.max() + more]}


class Norms:
    """The mean norm of the vectors of documents by a model, and of a text."""

    cases, measures, units, needs_index = ("documents", "crane"), ("norm",), ("all",), True

    def __init__(self, model):
        self.model = model

    def measure(self, unit, work):
        rows = work.vectors(self.model), work.vectors(self.model, ["crane"])
        return {case: [np.linalg.norm(each, axis=1).mean()] for case, each in zip(self.cases, rows, strict=True)}


@pytest.fixture
def dice(monkeypatch, tmp_path):
    """A function that writes a study with experiments, and the calls of `Dice.measure`."""
    module, Dice.calls = ModuleType("mine"), []

    @hookimpl
    def register_experiments(register):
        register("dice", Dice, [Param("numbers", Resource, ...), Param("sides", int, 6, range=(2, 20))])
        register("norms", Norms, [Param("model", Expression, "lsi(e=3)")])

    vars(module).update(sublex_api=3, register_experiments=register_experiments, __spec__=ModuleSpec("mine", None))
    monkeypatch.setitem(sys.modules, "mine", module)
    points = [*plugins.entry_points(group=plugins.GROUP), EntryPoint("mine", "mine", plugins.GROUP)]
    registry = plugins.Registry(points)
    monkeypatch.setattr(plugins, "load", lambda: registry)
    (tmp_path / "numbers.txt").write_text("2")

    def write(text=STUDY):
        (tmp_path / "study.toml").write_text(text)
        return tmp_path / "study.toml"

    return write


def expected_throws(more=None):
    """Return the means of the fair die, or with a number in the file of the loaded one."""
    chances = [np.random.default_rng(seed) for seed in range(6)]
    fair, loaded = (np.array([chance.integers(1, 7, 30).mean() for chance in chances]) for _ in Dice.cases)
    return fair if more is None else loaded + more


def test_an_experiment_has_tables_claims_and_files(dice):
    from scipy.stats import ttest_rel

    found = sublex.study(dice())
    fair, loaded = expected_throws(), expected_throws(2)
    result = found.experiment("dice")
    assert result.system("fair").values[:, 0].tolist() == pytest.approx(fair)
    assert found.value("dice", "loaded", "mean") == pytest.approx(loaded.mean())
    verdicts = {each.system: each.verdict for each in found.published}
    assert verdicts == {"loaded": "as published", "fair": "disagrees"}
    # Our 3.5 is on the better side of 5.5 if lower is better.
    better = sublex.study(dice(STUDY.replace("tolerance = 0.5", 'tolerance = 0.5\nbetter = "lower"')))
    assert {each.system: each.verdict for each in better.published} == {"loaded": "as published", "fair": "better"}
    worse = sublex.study(dice(STUDY.replace("tolerance = 0.5", 'tolerance = 0.5\nbetter = "higher"')))
    assert {each.system: each.verdict for each in worse.published} == {"loaded": "as published", "fair": "disagrees"}
    assert [each.verdict for each in found.claims] == ["same order", "disagrees"]
    order = found.claims[1].orders[0]
    assert order.difference == pytest.approx(fair.mean() - loaded.mean())
    assert order.corrected == pytest.approx(ttest_rel(fair, loaded).pvalue)
    frame = found.by_unit()
    assert len(frame) == 2 * 6 * 2 and frame.value[
        frame.case.eq("fair") & frame.measure.eq("mean")
    ].mean() == pytest.approx(fair.mean())
    assert found.to_pandas().loc[("dice", "loaded"), "mean"] == pytest.approx(loaded.mean())
    lines = (found.folder / "experiments.csv").read_text().splitlines()
    assert lines[0] == "experiment,case,unit,measure,value" and len(lines) == 25
    assert not (found.folder / "measures.csv").exists()
    page = (found.folder / "report.html").read_text()
    assert "Rolls" in page and "dice(" in page and "<svg" in page
    assert found.lock["figures"]["dice"]["loaded"]["mean"] == pytest.approx(loaded.mean())


def test_units_are_kept_until_something_that_they_depend_on_changes(dice, tmp_path):
    assert len(sublex.study(dice()).done) == 6 and len(Dice.calls) == 6
    again = sublex.study(dice())
    assert not again.done and len(again.kept) == 6 and len(Dice.calls) == 6
    (tmp_path / "study-study" / "state" / next(iter(names(tmp_path)))).unlink()
    assert len(sublex.study(dice()).done) == 1 and len(Dice.calls) == 7
    (tmp_path / "numbers.txt").write_text("3")
    assert sublex.study(dice()).value("dice", "loaded", "mean") == pytest.approx(expected_throws(3).mean())
    assert len(Dice.calls) == 13
    sublex.study(dice(STUDY.replace("sides=6", "sides=7")))
    assert len(Dice.calls) == 19


def names(folder):
    return sorted(
        path.name for path in (folder / "study-study" / "state").iterdir() if path.name.startswith("experiment-")
    )


def test_a_check_compares_the_figures_of_experiments(dice, command):
    file = str(dice())
    code, output, said = command("study", file, "--check")
    assert code == 0 and "No figure moved, of 4" in output, output + said
    dice(STUDY.replace("mean = 3.5", "mean = 2.5"))
    code, output, _ = command("study", file, "--check")
    assert code == 1 and "rolls, fair, mean: " in output


def test_a_plan_lists_the_units_and_the_files(dice, command):
    file = str(dice())
    code, output, _ = command("study", file, "--plan")
    assert (
        code == 0 and "numbers.txt" in output and "experiment dice/seed 5" in output and "6 steps of 6 to do." in output
    )
    assert not Dice.calls
    code, output, _ = command("study", file)
    assert code == 0 and "6 steps done, 0 steps kept" in output
    assert "0 steps of 6 to do" in command("study", file, "--plan").output


def test_an_experiment_measures_on_an_index_with_its_models(dice):
    text = f"""
[collections]
demo = "{DEMO}"
[experiments]
norms = {{call = "norms(lsi(e=4))", index = "demo"}}
"""
    found = sublex.study(dice(text), allow=[DEMO.parent])
    assert {step.partition(" ")[0] for step in found.done} == {"index", "fit", "experiment"}
    index = sublex.open(found.folder / "indexes" / "demo")
    representation = index.representation("lsi(e=4)")
    norms = [
        np.linalg.norm(rows, axis=1) for rows in (representation.vectors(representation.inputs.of_texts(["crane"])),)
    ]
    assert found.value("norms", "crane", "norm") == pytest.approx(norms[0].mean())
    assert found.value("norms", "documents", "norm") > 0
    assert not sublex.study(dice(text), allow=[DEMO.parent]).done


def test_an_experiment_that_fails_leaves_the_others_alone(dice, monkeypatch, command):
    text = STUDY.replace("[tables.rolls]", "other = 'dice(\"numbers.txt\", sides=9)'\n[tables.rolls]")
    monkeypatch.setattr(Dice, "measure", wrapped(Dice.measure, lambda self: self.sides == 9))
    found = sublex.study(dice(text))
    assert found.value("dice", "fair", "mean") == pytest.approx(expected_throws().mean())
    assert (
        len(found.failures) == 1
        and "study.toml, line 4: The experiment dice failed (ZeroDivisionError" in found.failures[0]
    )
    assert command("study", str(dice(text))).code == 2


def wrapped(measure, fails):
    def replaced(self, unit, work):
        if fails(self):
            raise ZeroDivisionError("by zero")
        return measure(self, unit, work)

    return replaced


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dice(numbers", "dices(numbers", "line 3: No experiment dices; did you mean dice"),
        ("sides=6", "side=6", "line 3: dice has no parameter side; did you mean sides"),
        ("numbers.txt", "none.txt", "line 3: there is no none.txt in"),
        ("numbers.txt", "/etc/hosts", "line 3: /etc/hosts lies outside of the study's folder"),
        ('"dice"\nhigher = ["loaded"]', '"dice"\nhigher = ["heavy"]', r"line 11: no case heavy of dice; there are: fair, loaded"),
        ("mean = 3.5", "meen = 3.5", "line 4: no measure meen of dice; did you|no measure meen of dice"),
        ('experiment = "dice"\ntolerance', 'experiment = "dies"\ntolerance', "line 6: no experiment dies"),
        ('measure = "mean"', 'topics = ["dice"]', "line 17: topics does not go with experiment"),
        ("[experiments]\n", "[experiments]\nnorm = 'norms'\n", "line 3: norms measures on an index, and none is named"),
    ],
)  # fmt: skip
def test_mistakes_about_experiments_cost_a_sentence(dice, old, new, message):
    assert old in STUDY
    try:
        failures = sublex.study(dice(STUDY.replace(old, new, 1))).failures
    except InputError as error:
        failures = [str(error)]
    assert len(failures) == 1
    with pytest.raises(InputError, match=message):
        raise InputError(failures[0])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "measure",
            lambda self, unit, work: {"fair": [1, 2]},
            "did not give loaded one finite number for each measure",
        ),
        (
            "measure",
            lambda self, unit, work: {"fair": [1, np.nan], "loaded": [1, 2]},
            "did not give fair one finite number",
        ),
        ("cases", ("a", "a"), "The cases of dice should be"),
        ("units", (), "The units of dice should be"),
        ("measures", None, "The measures of dice should be"),
    ],
)
def test_an_experiment_that_breaks_its_contract_fails(dice, monkeypatch, name, value, message):
    monkeypatch.setattr(Dice, name, value)
    found = sublex.study(dice("[experiments]\ndice = 'dice(\"numbers.txt\")'\n"))
    assert len(found.failures) == 1 and message in found.failures[0]


def test_plots_have_lines_of_cases_and_lines_over_experiments(dice):
    plots = """
[plots.means]
experiment = "dice"
lines.rising = {loaded = 2, fair = 1}
lines.falling = {fair = 2, loaded = 1}
[plots.sides]
x = {dice = 6, coin = 2}
cases = ["fair", "loaded"]
measure = "most"
label = "sides"
"""
    more = "[experiments]\ncoin = 'dice(\"numbers.txt\", sides=2)'\n"
    found = sublex.study(dice(STUDY.partition("[plots")[0].replace("[experiments]\n", more) + plots))
    lines, sides = found.study.plots
    assert [line.name for line in lines.lines] == ["rising", "falling"] and lines.measure == "mean"
    assert sides.lines[1] == ("loaded", (("dice", "loaded", 6.0), ("coin", "loaded", 2.0)))
    page = (found.folder / "report.html").read_text()
    # Points are in the order of the x axis, and each shows its values.
    titles = [title for title in re.findall("<title>(.*?)</title>", page) if "sides" in title]
    assert titles == [
        f"{case}: sides {x}, most {found.value(name, case, 'most'):.4f}"
        for case in ("fair", "loaded")
        for x, name in ((2, "coin"), (6, "dice"))
    ]
    assert page.count("<polyline") == 4 and page.count("</i>rising</li>") == 1


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        ("x = {dice = 1, coin = 2}", "no case dice of dice"),
        ("cases = ['fair']\nx = {dice = 1, coin = 2}", "line 22: no experiment coin"),
        ("cases = ['fair']\nx = {dice = 1}", r"line 20: \[plots.p\] needs x, a number for each of two experiments"),
        ("cases = ['fair']\nlines.a = {dice = 1}", "line 20: lines does not go with cases"),
        ("experiment = 'dice'\nlines.a = {fair = 1}", "line 22: a needs a number for each of two systems"),
        ("experiment = 'dice'\nlines.a = {fair = 1, heavy = 2}", "line 20: no case heavy of dice"),
        ("experiment = 'dice'\nlines.a = {fair = 1, loaded = 2}\nx = {fair = 1, loaded = 2}", "line 23: x does not go with lines"),
    ],
)  # fmt: skip
def test_mistakes_about_plots_cost_a_sentence(dice, plot, message):
    text = STUDY.partition("[plots")[0] + "[plots.p]\n"
    if "cases" not in plot and "experiment" not in plot:
        plot = f"experiment = 'dice'\n{plot}"
    with pytest.raises(InputError, match=message):
        sublex.study(dice(text + plot + "\n"))


def test_a_claim_needs_five_units(dice, monkeypatch):
    monkeypatch.setattr(Dice, "units", ("one", "two"))
    with pytest.raises(InputError, match="line 11: dice has 2 units, and an order is claimed over five or more"):
        sublex.study(dice())


def test_studies_of_papers_name_experiments_that_can_be_made(tmp_path):
    from sublex.studies.papers_shipped import PAPERS

    registry = plugins.load()
    for path in sorted(PAPERS.glob("*.toml")):
        for value in tomllib.loads(path.read_text()).get("experiments", {}).values():
            call = value if isinstance(value, str) else value["call"]
            made = registry.make("experiment", call)
            assert made.cases and made.measures and made.units, path


def test_a_brief_report_counts_expected_figures_and_shows_the_others(dice):
    own = "[tables.found]\nexperiment = 'dice'\nmeasures = ['mean']\ntolerance = 0.5\nexpected = {fair = 3.5, loaded = 9}\n"
    found = sublex.study(dice(STUDY + own))
    brief, whole = ([str(part) for part in parts] for parts in (found.brief_parts(), found.parts()))
    assert "1 of 2 expected figures moved; the report lists them." in brief
    assert "found" in whole and "found" not in brief and any(part.startswith("Rolls") for part in brief)
