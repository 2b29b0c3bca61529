"""The report: its figures are those of the comparison, only its own script can run in it, and a click shows a topic."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
from shared import DEMO, QRELS, TOPICS, qrels_of, run_of

import sublex
from sublex.errors import InputError
from sublex.evaluation.comparison import compare
from sublex.evaluation.systems import System
from sublex.language import plugins
from sublex.report import svg
from sublex.report.curves import CUTOFFS, RECALL_LEVELS, precision_and_gain, sweep
from sublex.report.page import render_page
from sublex.report.rankings import Rankings, reversals, to_judge
from sublex.trec.topics import Topic, Topics

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
RANKERS = ["TFIDF", "BM25", "BM25 >> RM3 >> BM25"]
HOSTILE = "</script><script>document.title='run'</script><img src=x onerror=alert(1)> & \"quotes\" {{ 7*7 }}"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    index = sublex.build(DEMO, tmp_path_factory.mktemp("report") / "demo")
    return sublex.compare(index, TOPICS, QRELS, RANKERS, "AP nDCG@10 P@10")


def data_of(text: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def tiny(**more):
    """Two runs over two topics; documents x, y and z are not judged."""
    one = run_of({"1": {"a": 3.0, "x": 2.0, "b": 1.0}, "2": {"y": 1.0}}, "one")
    two = run_of({"1": {"b": 3.0, "a": 2.0}, "2": {"z": 2.0, "c": 1.0}}, "two")
    qrels = qrels_of("1 0 a 2\n1 0 b 0\n2 0 c 1\n")
    return compare([System("one", one), System("two", two)], qrels, names=["AP"], **more)


def test_the_page_has_the_figures_and_sentences_of_the_comparison(comparison):
    text = render_page(comparison, "sublex compare demo")
    for name in comparison.names:
        assert name.replace(">", "&gt;") in text
    for row in comparison.table().rows:
        for cell in row[2:]:
            assert cell.split()[0] in text
    for sentence in comparison.sentences():
        assert sentence.replace(">", "&gt;").replace("'", "&#39;") in text
    assert "<pre>sublex compare demo</pre>" in text and comparison.index.fingerprint in text
    data = data_of(text)
    assert data["systems"] == list(comparison.names) and data["measures"] == ["AP", "nDCG@10", "P@10"]
    assert [topic["qid"] for topic in data["topics"]] == list(comparison.qids)
    first = data["topics"][0]
    np.testing.assert_allclose(first["scores"][0], comparison.scores("AP")[:, 0], atol=1e-5)
    best = data["documents"][first["lists"][1][0]]
    assert best == ["birds-05", comparison.index.document("birds-05").title]
    assert first["grades"][str(first["lists"][1][0])] == 2 and first["text"] == "crane"
    assert data["best"] == 2 and first["length"] == 1


def test_the_page_needs_no_other_file(comparison):
    text = render_page(comparison)
    assert not re.search(r"(src|href)=", text.replace("href: URL", ""))
    assert "http" not in re.sub(r"http-equiv|http://www.w3.org/2000/svg", "", text)
    assert "default-src 'none'" in text


def test_the_page_has_all_plots_and_they_are_well_formed(comparison):
    plots = [ElementTree.fromstring(plot) for plot in re.findall(r"<svg.*?</svg>", render_page(comparison), re.DOTALL)]
    assert [plot.get("aria-label") for plot in plots] == [
        "AP with its interval, by system",
        "precision by recall",
        "nDCG@k by k",
        "rank-biased overlap of the systems' rankings",
        "τ_AP of the systems' rankings",
    ]
    # A point per system, level of recall or cutoff; a cell per pair of systems.
    circles = [len(list(plot.iter("circle"))) for plot in plots]
    assert circles == [3, 3 * len(RECALL_LEVELS), 3 * len(CUTOFFS), 0, 0]
    assert [len(list(plot.iter("rect"))) for plot in plots[3:]] == [9, 9]


def test_texts_and_names_never_become_markup(tmp_path):
    topics = Topics([Topic("1", HOSTILE, {"desc": HOSTILE}), Topic("2", "b", {})], "t", "tsv", ("title",))
    index = sublex.build([{"id": "a", "title": HOSTILE, "text": "b"}, {"id": "b", "text": "b"}], tmp_path / "index")
    docno = "<b>x</b>"
    run = run_of({"1": {docno: 1.0, "a": 0.5}, "2": {"b": 1.0}}, HOSTILE.replace(" ", ""))
    systems = [System(run.tag, run), System("<i>two</i>", run_of({"1": {"a": 1.0}}, "x"))]
    found = compare(systems, qrels_of("1 0 a 1\n2 0 b 1\n"), topics, ["AP"], index, notes=[HOSTILE])
    text = render_page(found, HOSTILE)
    assert "<img" not in text and "<b>x" not in text and "<i>two" not in text and text.count("<script") == 2
    assert "{{ 7*7 }}" in text
    data = data_of(text)
    assert data["topics"][0]["text"] == HOSTILE and [docno, ""] in data["documents"]


def test_unjudged_documents_and_the_order_they_could_reverse():
    found = tiny()
    rankings = Rankings(found)
    # one: a, b of 3 and none of 1; two: 2 of 2 and 1 of 2.
    assert rankings.judged_shares()[:, 0].tolist() == [2 / 4, 3 / 4]
    assert [(rankings.qids[t], rankings.docnos[d]) for t, d in rankings.unjudged(0, 1)] == [("1", "x"), ("2", "y")]
    reversal = reversals(found, rankings)[0]
    assert (reversal.ahead, reversal.behind, reversal.unjudged) == ("two", "one", 2)
    assert reversal.difference == pytest.approx(0.05) and reversal.gain == pytest.approx(0.1) and reversal.possible
    assert to_judge(rankings) == [("2", "y", {0: 1}), ("2", "z", {1: 1}), ("1", "x", {0: 2})]


def test_agreement_is_one_with_itself_and_less_with_others():
    overlap, correlation = Rankings(tiny()).agreement()
    assert overlap[0, 0] == correlation[1, 1] == 1 and 0 < overlap[0, 1] == overlap[1, 0] < 1
    assert correlation[0, 1] == -1  # a and b the other way round in topic 1, nothing in common in topic 2


def test_curves_are_the_means_of_their_measures(comparison):
    precision, gain = precision_and_gain(comparison)
    qrels, run = comparison.qrels, comparison.systems[1].run
    assert precision[1].x == RECALL_LEVELS and gain[1].x == CUTOFFS
    assert gain[1].y[CUTOFFS.index(10)] == pytest.approx(sublex.measure(qrels, run, "nDCG@10").mean["nDCG@10"])
    assert precision[1].y[5] == pytest.approx(sublex.measure(qrels, run, "IPrec@0.5").mean["IPrec@0.5"])


@pytest.mark.parametrize(
    ("names", "parameter", "values", "order"),
    [
        (["BM25", "BM25(k1=0.9)", "BM25(k1=2)"], "k1", (0.9, 1.2, 2.0), (1, 0, 2)),
        (["PL2 + 0.3*BM25", "PL2 + 0.1*BM25", "PL2 + 0.2*BM25"], "weight of BM25", (0.1, 0.2, 0.3), (1, 2, 0)),
        (["BM25 >> RM3(terms=5) >> PL2", "BM25 >> RM3 >> PL2", "BM25 >> RM3(terms=20) >> PL2"], "terms", (5, 10, 20), (0, 1, 2)),
        (["BM25 % 10 >> PL2", "BM25 % 20 >> PL2", "BM25 % 30 >> PL2"], "depth", (10, 20, 30), (0, 1, 2)),
        (["zscore(BM25(k1=1)) + PL2", "zscore(BM25(k1=3)) + PL2", "zscore(BM25(k1=2)) + PL2"], "k1", (1, 2, 3), (0, 2, 1)),
    ],
)  # fmt: skip
def test_a_sweep_is_found_if_one_number_differs(names, parameter, values, order):
    found = sweep(names, plugins.load())
    assert (found.parameter, found.values, found.systems) == (parameter, values, order)


@pytest.mark.parametrize(
    "names",
    [
        ["BM25", "BM25(k1=2)"],
        ["BM25", "BM25(k1=0.9)", "BM25(k1=2, b=0.3)"],
        ["BM25", "PL2", "TFIDF"],
        ["BM25", "BM25(variant=atire)", "BM25(variant=plus)"],
        ["BM25 + PL2", "zscore(BM25) + PL2", "DPH"],
        ["my run", "other", "BM25"],
    ],
)
def test_no_sweep_is_found_if_more_differs(names):
    assert sweep(names, plugins.load()) is None


def test_a_sweep_is_drawn(comparison):
    swept = sublex.compare(comparison.index, TOPICS, QRELS, ["BM25(b=0.2)", "BM25", "BM25(b=0.9)"], "AP")
    assert "The systems differ in b alone" in render_page(swept)
    assert "differ in" not in render_page(comparison)


def test_a_single_system_and_a_topic_without_hits_have_a_page(comparison):
    alone = sublex.compare(comparison.index, TOPICS, QRELS, ["BM25"], "AP")
    text = render_page(alone)
    assert "How much the systems agree" not in text and "AP, against" not in text and "Raised letters" not in text
    empty = compare([System("none", run_of({"9": {"a": 1.0}}, "none"))], qrels_of("1 0 a 1\n"), names=["AP"])
    assert data_of(render_page(empty))["topics"][0]["lists"] == [[]]


def test_names_of_any_length_are_whole_and_within_the_plot():
    names = ["BM25 >> RM3 >> BM25", "BM25(k1=0.9, b=0.4) >> RM3(docs=7, terms=25) >> BM25(k1=0.9, b=0.4) + 0.25*PL2(c=7)",
             "run-" + 80 * "x", "ärzte <b>"]  # fmt: skip
    ends = np.array([[0.2, 0.3], [0.1, 0.4], [0.25, 0.35], [np.nan, np.nan]])
    plot = ElementTree.fromstring(svg.intervals(names, [0.25, 0.3, 0.3, 0.2], ends, "AP"))
    lines = [text.text for text in plot.iter("text") if text.get("class") == "name"]
    assert "".join(lines).replace(" ", "") == "".join(names).replace(" ", "")
    assert max(sum(map(svg._width, line)) for line in lines) <= svg.NARROW
    # A tick's text of some 30 pixels stays inside a plot of 360.
    ticks = [float(text.get("x")[:-1]) for text in plot.iter("text") if text.get("x", "").endswith("%")]
    assert len(ticks) > 3 and min(ticks) >= 4 and max(ticks) <= 96
    assert len(list(plot.iter("circle"))) == 4 and plot.get("viewBox") is None


def test_cells_shrink_and_lose_their_figures_for_many_systems():
    for systems, figures in ((3, 9), (12, 144), (40, 0)):
        plot = ElementTree.fromstring(svg.heat([str(k) for k in range(systems)], ["s"] * systems, np.eye(systems), "x"))
        cells = [cell for cell in plot.iter("g") if cell.get("class") == "cell"]
        assert len(cells) == systems**2 and sum(cell.find("text") is not None for cell in cells) == figures
        assert all(cell.find("title") is not None for cell in cells)
        assert float(plot.get("viewBox").split()[2]) < 900


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0.41, 0.58, [0.45, 0.5, 0.55]), (3, 3, [3]), (-10, 90, [0, 20, 40, 60, 80])],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert svg.ticks(low, high) == pytest.approx(expected)


def test_a_report_that_cannot_be_written_is_refused_in_a_sentence(comparison, tmp_path):
    with pytest.raises(InputError, match="There is no folder .*no for report.html"):
        sublex.write_report(comparison, tmp_path / "no" / "report.html")
    with pytest.raises(InputError, match="which is a folder; name a file"):
        sublex.write_report(comparison, tmp_path)
    sublex.write_report(comparison, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


# In a browser.


def dom_after(text: str, script: str, tmp_path) -> str:
    """Return the DOM of the page after this script has acted as a user."""
    if CHROMIUM is None:
        pytest.skip("no Chromium to open the page with")
    errors = "<script>addEventListener('error', e => document.documentElement.dataset.error = e.message)</script>"
    actions = f"<script>{script}</script></body>"
    (tmp_path / "page.html").write_text(text.replace("<style>", errors + "<style>", 1).replace("</body>", actions))
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    done = subprocess.run([*command, (tmp_path / "page.html").as_uri()], capture_output=True, text=True, check=True)
    assert "data-error" not in done.stdout
    return done.stdout


def panel(dom: str) -> str:
    return re.sub(r"<[^>]+>", " ", re.search(r'<div id="panel".*?</div><div id="hurt"', dom.replace("\n", ""))[0])


@pytest.mark.slow
def test_a_click_on_a_topic_shows_it_with_both_rankings(comparison, tmp_path):
    text = render_page(comparison)
    before = panel(dom_after(text, "", tmp_path))
    clicked = (
        "document.querySelector('#bars [data-topic=\"1\"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    after = panel(dom_after(text, clicked, tmp_path))
    assert before != after and "Topic 1: crane" in after and "birds-05" in after
    assert f"BM25 &gt;&gt; RM3 &gt;&gt; BM25: AP {comparison.scores('AP')[2, 0]:.4f}" in after
    assert f"TFIDF: AP {comparison.scores('AP')[0, 0]:.4f}" in after


@pytest.mark.slow
def test_systems_measures_and_topics_are_chosen_by_keys_too(comparison, tmp_path):
    script = """
    const choose = (id, value) => { const s = document.getElementById(id); s.value = value; s.dispatchEvent(new Event('change')); };
    choose('b', 1); choose('measure', 1);
    const plot = document.querySelector('#bars svg');
    plot.focus();
    for (const key of ['End', 'ArrowLeft', 'ArrowRight', 'Home'])
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    document.documentElement.dataset.focused = document.activeElement.getAttribute('role');
    """
    dom = dom_after(render_page(comparison), script, tmp_path)
    change = comparison.scores("nDCG@10")[1] - comparison.scores("nDCG@10")[0]
    best = comparison.qids[int(np.argmax(change))]
    assert f"Topic {best}:" in panel(dom) and "BM25: nDCG@10" in panel(dom)
    assert 'data-focused="listbox"' in dom


@pytest.mark.slow
def test_tables_are_sorted_by_a_click_and_plain_without_a_script(comparison, tmp_path):
    text = render_page(comparison)
    assert 'class="sortable"' not in text
    script = """
    const tables = [...document.querySelectorAll('table.sortable')];
    const click = (table, column) => tables[table].tHead.rows[0].cells[column].dispatchEvent(new MouseEvent('click', {bubbles: true}));
    const column = (table, k) => [...tables[table].tBodies[0].rows].map((row) => row.cells[k].textContent.trim()).join('|');
    const said = [tables.length >= 3];
    click(0, 1); said.push(column(0, 1));
    click(0, 1); said.push(column(0, 1));
    click(0, 4); said.push(column(0, 0));
    click(1, 3); said.push(column(1, 0));
    click(1, 3); said.push(column(1, 0), tables[1].tHead.rows[0].cells[3].getAttribute('aria-sort'));
    document.documentElement.dataset.sorted = JSON.stringify(said);
    """
    dom = dom_after(text, script, tmp_path)
    said = json.loads(html.unescape(re.search('data-sorted="(.*?)"', dom)[1]))
    feedback = "BM25 >> RM3 >> BM25"
    # By name both ways; by P@10, where the first two are equal and keep their order; by the difference from the first.
    assert said == [
        True, f"BM25|{feedback}|TFIDF", f"TFIDF|{feedback}|BM25", "c|a|b", f"{feedback}|BM25|TFIDF", f"BM25|{feedback}|TFIDF",
        "ascending",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("names", ["short", "long"])
def test_nothing_sticks_out_of_a_narrow_page(comparison, tmp_path, names):
    if names == "long":
        made = [System(f"BM25(k1=0.9, b=0.4) >> RM3(docs={k}, terms=25, original=0.35) >> BM25(k1=0.9, b=0.4) + 0.25*PL2(c=7)",
                       system.run) for k, system in enumerate(comparison.systems)]  # fmt: skip
        comparison = compare(made, comparison.qrels, comparison.topics, ["AP"], comparison.index)
    script = """
    document.body.style.width = '376px'; document.body.style.maxWidth = '376px'; dispatchEvent(new Event('resize'));
    const edge = document.body.getBoundingClientRect();
    const out = [...document.querySelectorAll('svg text, h1, h2, h3, select, .facts dd')].filter((node) => {
      const box = node.getBoundingClientRect();
      return box.width && !node.closest('.scroll') && (box.right > edge.right + 1 || box.left < edge.left - 1);
    }).map((node) => node.textContent);
    document.documentElement.dataset.out = JSON.stringify(out);
    """
    dom = dom_after(render_page(comparison), script, tmp_path)
    assert html.unescape(re.search('data-out="(.*?)"', dom)[1]) == "[]"


@pytest.mark.slow
def test_a_page_of_hostile_texts_runs_none_of_them(tmp_path):
    topics = Topics([Topic("1", HOSTILE, {"desc": HOSTILE})], "t", "tsv", ("title",))
    run = run_of({"1": {"<img/src=x/onerror=alert(1)>": 1.0}}, "<i>x</i>")
    found = compare([System(run.tag, run), System("two", run)], qrels_of("1 0 a 1\n"), topics, ["AP"], notes=[HOSTILE])
    dom = dom_after(render_page(found), "", tmp_path)
    assert "<title>run</title>" not in dom and "<img" not in dom
    assert "&lt;img/src=x/onerror=alert(1)&gt;" in panel(dom)


def test_a_dataset_of_ir_datasets_is_named_as_a_whole():
    topics = Topics([Topic("1", "one", {}), Topic("2", "two", {})], "irds:beir/scifact/test", "irds", ("text",))
    assert "irds:beir/scifact/test, by text" in render_page(tiny(topics=topics))


def test_a_plot_of_negative_values_stays_in_its_frame_and_has_short_marks():
    from sublex.report.svg import lines

    close = lines([("a", [1, 2], [0.75, 0.78])], "x", "accuracy", from_zero=False)
    first, last = (float(p.split(",")[1]) for p in re.search(r'polyline points="([^"]*)"', close)[1].split())
    # The lowest and the highest value are near the edges.
    assert 230 < first <= 258 and 12 <= last < 40 and ">0.76<" in close
    text = lines([("a", [1, 2, 3], [-160_877.0, -150_331.0, -149_818.0])], "sweeps", "likelihood")
    heights = [float(point.split(",")[1]) for point in re.search(r'polyline points="([^"]*)"', text)[1].split()]
    # The area of the plot is from 12 to 258 pixels.
    assert all(12 <= height <= 258.05 for height in heights) and heights == sorted(heights, reverse=True)
    assert ">-156k<" in text or ">-155k<" in text
