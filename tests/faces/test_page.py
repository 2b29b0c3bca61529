"""The page of `sublex serve`, driven by keys in a browser: its views, links, marks, and what it must never do."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from command import invoke
from shared import DEMO, QRELS, ROOT, SUBLEX, TOPICS

import sublex

pytestmark = pytest.mark.slow

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
PAGE = Path(sublex.__file__).parent / "service" / "page"
# The most bytes of the first page with hits, as the files are.
FIRST_LOAD = 120_000
TOKEN = "only-for-these-tests"
# In JavaScript: no part of the page waits for an answer.
QUIET = "!document.querySelector('[aria-busy=true], .is-old')"
# In JavaScript: whether a table is wider than the box that it stands in.
WIDER = "table => table.getBoundingClientRect().right > table.parentElement.getBoundingClientRect().right + 1"
# The requests of each page that are not answered yet.
WAITING: dict[object, set[object]] = {}
# Seconds to wait for what must come.
PATIENCE = 60
BLEND = "BM25 + 0.3*PL2"
TOPICS_MODEL, KEYPHRASES = "lda(k=4, iterations=20)", "laki(phrases=phrases(support=4))"
HOSTILE = {
    "tags": "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script> zebra & <b>bold</b>",
    "bidi": "zebra \u202eevil\u2066 title \u200f end",
    "control": "zebra \x00\x07\x1b[31m red \x7f \x85 end",
    "docno<i>&\"'": "zebra with a docno of marks",
}
VIEWS = {
    "empty": {},
    "hits": {"query": "crane bridge"},
    "facets": {"query": "crane bridge", "of": "theme"},
    "why": {"query": "crane bridge", "ranker": BLEND, "docno": "birds-05", "code": "true"},
    "against": {"query": "crane bridge", "ranker": BLEND, "docno": "birds-05", "versus": "building-17"},
    "why not": {"query": "crane bridge", "docno": "sea-01", "why_not": "true"},
    "side by side": {"query": "crane", "topic": "1", "ranker": ["BM25", "BM25 >> RM3 >> BM25", "PL2"]},
    "costs": {"query": "crane bridge", "ranker": f"BM25 >> RM3 >> {BLEND}", "costs": "true"},
    "moved": {"query": "crane bridge", "ranker": "BM25 + 0.9*PL2", "base": BLEND},
    "a mistake": {"query": "crane", "ranker": "BM25 >> >> x"},
    "topics": {"view": "topics", "ranker": ["BM25", "PL2"]},
    "judging": {"view": "judge", "query": "crane", "topic": "1", "ranker": ["BM25", "PL2"]},
    "the index": {"view": "index", "word": "cr*"},
    "meaning": {"view": "meaning", "model": TOPICS_MODEL},
    "a keyphrase": {"view": "meaning", "model": KEYPHRASES, "word": "when we"},
    "what a document is about": {"query": "crane", "docno": "birds-16"},
    "a panel of a plugin": {"view": "panel-initials"},
}


def link(**state) -> str:
    return f"?{urlencode(state, doseq=True)}#token={TOKEN}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with an index of the demo collection and of documents with hostile titles."""
    folder = tmp_path_factory.mktemp("page")
    hostile = [
        {"id": docno, "title": title, "text": f"A zebra. {title}", "theme": "x<u>"} for docno, title in HOSTILE.items()
    ]
    lines = DEMO.read_text(encoding="utf-8") + "".join(f"{json.dumps(each)}\n" for each in hostile)
    (folder / "documents.jsonl").write_text(lines, encoding="utf-8")
    index = sublex.build(folder / "documents.jsonl", folder / "zoo", fields=["title", "text"], columns=["theme"])
    index.fit(TOPICS_MODEL)
    # An index that a test changes.
    shutil.copytree(folder / "zoo", folder / "grown")
    index.fit(KEYPHRASES)
    # The plugin that docs/plugins.md shows, installed for the service alone.
    (folder / "plugins" / "initials" / "panel").mkdir(parents=True)
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8").partition("### register_panels(register)")[2]
    python, script = (re.search(f"```{kind}\n(.*?)```", page, re.DOTALL)[1] for kind in ("python", "js"))
    (folder / "plugins" / "initials" / "__init__.py").write_text(python, encoding="utf-8")
    (folder / "plugins" / "initials" / "panel" / "panel.js").write_text(script, encoding="utf-8")
    facts = folder / "plugins" / "initials-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: initials\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[sublex]\ninitials = initials\n")
    return folder


@pytest.fixture(scope="module")
def index(folder):
    return sublex.open(folder / "zoo")


@pytest.fixture(scope="module")
def address(folder) -> Iterator[str]:
    """The address of a service of the index that needs a token, with topics and judgements; users may judge."""
    shutil.copy(QRELS, folder / "qrels.txt")
    options = [
        "--topics",
        str(TOPICS),
        "--qrels",
        str(folder / "qrels.txt"),
        "--judge",
        str(folder / "mine.txt"),
        "--seconds",
        "600",
        "--port",
        "0",
    ]
    paths = os.pathsep.join(filter(None, [str(folder / "plugins"), os.environ.get("PYTHONPATH")]))
    started = subprocess.Popen(
        [*SUBLEX, "serve", "zoo", "grown", *options], cwd=folder, env={**os.environ, "SUBLEX_TOKEN": TOKEN, "PYTHONPATH": paths},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    said = ""
    for line in started.stdout or ():
        said += line
        if found := re.search(r"http://[\w.:]+:\d+/", line):
            break
    else:
        pytest.fail(f"The service did not start: {said}")
    yield found[0]
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=30)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    if CHROMIUM is None:
        pytest.skip("no Chromium to open the page with")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser, address) -> Iterator[Callable]:
    """A function that opens a state of the page. What the page does wrong meanwhile fails the test at its end."""
    contexts: list = []
    faults: list[str] = []

    def console(message) -> None:
        # A browser writes a line about each answer that is a mistake's sentence.
        if message.type in ("error", "warning") and "the server responded with a status of 4" not in message.text:
            faults.append(message.text)

    def opened(state: dict | None = None, another: bool = False):
        if another or not contexts:
            contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}))
            contexts[-1].set_default_timeout(1000 * PATIENCE)
        page = contexts[-1].new_page()
        waiting = WAITING[page] = set[object]()
        page.on("request", lambda request: waiting.add(request))
        page.on("requestfinished", lambda request: waiting.discard(request))
        page.on("requestfailed", lambda request: waiting.discard(request))
        page.on("console", console)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: faults.append(request.url) if not request.url.startswith(address) else None)
        page.on("dialog", lambda dialog: faults.append("a dialog"))
        page.goto(address + link(**(state or {})))
        settled(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def until(page, condition: str) -> None:
    """Wait until a condition holds in the page. Playwright's own wait evaluates texts there, which the policy forbids."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(f"Boolean({condition})"):
        if time.monotonic() > end:
            pytest.fail(f"It never held that {condition}; the page shows: {page.locator('#page').inner_text()[:2000]}")
        time.sleep(0.02)


def settled(page) -> None:
    """Wait until the page has asked everything and shows the answers: nothing is on its way, three times in a row."""
    until(page, f"document.querySelector('#page > *') && {QUIET}")
    end, calm = time.monotonic() + PATIENCE, 0
    while calm < 3:
        # Playwright hears of requests while it waits. Two frames are enough for the page to ask what an answer leads to.
        page.wait_for_timeout(35)
        calm = calm + 1 if not WAITING[page] and page.evaluate(f"Boolean({QUIET})") else 0
        if time.monotonic() > end:
            pytest.fail(f"The page still waits for {[request.url for request in WAITING[page]]}")


def state_of(page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def docnos(page) -> list[str]:
    return page.locator(".hit").evaluate_all("hits => hits.map(hit => hit.dataset.docno)")


def moved(ranking: list[str], base: list[str]) -> list[str]:
    """Return in words how far each document of a ranking moved since another ranking."""
    words = []
    for place, docno in enumerate(ranking):
        move = base.index(docno) - place if docno in base else None
        words.append("new" if move is None else f"up {move}" if move > 0 else f"down {-move}" if move else "same rank")
    return words


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


# The files.


def test_vendored_modules_are_those_that_their_authors_published():
    table = re.findall(r"^(\S+\.mjs) .* ([0-9a-f]{64})$", (PAGE / "vendor" / "README").read_text(), re.MULTILINE)
    assert {name for name, _ in table} == {path.name for path in (PAGE / "vendor").glob("*.mjs")}
    for name, digest in table:
        assert hashlib.sha256((PAGE / "vendor" / name).read_bytes()).hexdigest() == digest
        assert (PAGE / "vendor" / f"{name.removesuffix('.mjs')}.LICENSE").is_file()


def test_no_module_of_the_page_makes_markup_of_text():
    for path in PAGE.glob("*.*"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|style=\"|<script>", path.read_text()
        ), path


def test_the_first_page_with_hits_is_small(visit, browser, address):
    page = visit()
    sizes = {}
    page.on("response", lambda answer: sizes.setdefault(answer.url, len(answer.body())))
    page.goto("about:blank")
    page.goto(address + link(query="crane"))
    settled(page)
    assert any("style.css" in url for url in sizes)
    assert any("/v1/search" in url for url in sizes)
    assert sum(sizes.values()) <= FIRST_LOAD


# Each view by keys alone.


def test_hits_appear_while_a_query_is_typed_and_keys_lead_to_why_and_back(visit, index):
    page = visit()
    press(page, "/")
    page.keyboard.type("how cranes dance")
    page.wait_for_selector(".hit")
    settled(page)
    assert docnos(page) == index.search("how cranes dance", k=10).docnos
    assert state_of(page) == {"query": ["how cranes dance"]}
    assert page.locator(".passage").first.inner_text() == index.search("how cranes dance", k=1)[0].passage
    assert [mark.lower() for mark in page.locator(".passage").first.locator("mark").all_inner_texts()] == [
        "cranes",
        "dance",
    ]
    until(page, "document.querySelector('#said').textContent.startsWith('10 hits for how cranes dance; first')")
    press(page, "Escape", "j", "j", "Enter")
    settled(page)
    second = index.search("how cranes dance", k=2)[1].docno
    assert state_of(page)["docno"] == [second]
    assert page.evaluate("document.activeElement.textContent") == "Why"
    assert page.locator(".lead").inner_text().startswith(f"{second} is at rank 2 of")
    press(page, "n")
    settled(page)
    assert state_of(page)["docno"] == [docnos(page)[2]]
    press(page, "Escape")
    page.wait_for_selector(".beside", state="detached")
    assert page.evaluate("document.activeElement.className") == "hit-link"


def test_the_line_below_the_query_tells_how_it_is_read(visit, index):
    page = visit({"query": "the cranes zzyzx "})
    assert page.locator(".read-stopped").inner_text() == "the"
    assert "cranes→crane" in page.locator(".reading").inner_text()
    assert str(index.term("crane").df) in page.locator(".read-dim").all_inner_texts()[0]
    assert "zzyzx" in page.locator(".read-unknown").first.inner_text()


def test_two_rankings_stand_side_by_side_with_lines_moves_and_grades(visit, index):
    page = visit({"query": "crane", "topic": "1"})
    press(page, "c")
    page.keyboard.type("BM25 >> RM3 >> BM25")
    page.wait_for_selector(".columns")
    until(page, "location.search.endsWith('RM3+%3E%3E+BM25')")
    settled(page)
    one, other = (index.search("crane", ranker, k=10).docnos for ranker in ("BM25", "BM25 >> RM3 >> BM25"))
    shown = [column.locator("li .docno").all_inner_texts() for column in page.locator(".ranking").all()]
    assert shown == [one, other]
    words = moved(other, one)
    assert page.locator(".ranking").nth(1).locator(".move .visually-hidden").all_text_contents() == words
    for kind in ("up", "down", "same", "new"):
        assert page.locator(f".line.is-{kind}").count() == sum(word.startswith(kind) for word in words)
    grades = sublex.read_qrels(QRELS)["1"]
    shown_grades = page.locator(".ranking").first.locator(".grade .visually-hidden").all_text_contents()
    assert shown_grades == [f"grade {grades[docno]}" if docno in grades else "not judged" for docno in one]
    assert f"{len(set(one) & set(other))} of {len(one)}" in page.locator(".shared").inner_text()


def test_lines_end_at_the_rows_of_their_documents(visit):
    page = visit({"query": "crane", "ranker": ["BM25", "PL2"]})
    rows = [page.locator(".ranking").nth(place).locator("li").nth(4).bounding_box() for place in (0, 1)]
    docno = page.locator(".ranking").nth(0).locator("li .docno").nth(4).inner_text()
    second = page.locator(".ranking").nth(1).locator("li", has_text=docno).bounding_box()
    page.locator(".ranking").nth(0).locator("li").nth(4).hover()
    on_screen = "const matrix = line.getScreenCTM(); return line.getPointAtLength(at).y * matrix.d + matrix.f;"
    ends = page.locator(".line.is-lit").evaluate(f"line => [0, line.getTotalLength()].map(at => {{ {on_screen} }})")
    assert ends[0] == pytest.approx(rows[0]["y"] + rows[0]["height"] / 2, abs=1)
    assert ends[1] == pytest.approx(second["y"] + second["height"] / 2, abs=1)


def values(texts: list[str]) -> list[float]:
    return [float(text.replace("−", "-").replace("+", "").replace(",", "")) for text in texts]


@pytest.mark.parametrize("ranker", ["BM25", BLEND, "BM25 >> RM3(terms=4) >> PL2", "BM25 + 0.5*zscore(PL2)"])
def test_the_bars_add_up_to_the_score(visit, index, ranker):
    page = visit({"query": "how cranes dance", "ranker": ranker, "docno": "birds-05"})
    tree = index.explain("how cranes dance", "birds-05", ranker)
    rows = page.locator(".bars tbody tr:not(.bars-part):not(.bars-sum)")
    adds = values([row.locator("td").last.inner_text() for row in rows.all()])
    assert math.fsum(adds) == pytest.approx(tree.value, abs=0.001 * len(adds))
    assert values([page.locator(".bars-sum td").last.inner_text()]) == pytest.approx([tree.value], abs=0.001)
    boxes = [row.locator(".span").bounding_box() for row in page.locator(".bars tbody tr:not(.bars-part)").all()]
    track = page.locator(".bars .track").first.bounding_box()
    scale = boxes[-1]["width"] / tree.value
    at = boxes[-1]["x"]
    for add, box in zip(adds, boxes, strict=False):
        begin = at if add >= 0 else at + scale * add
        assert box["x"] == pytest.approx(begin, abs=2.5)
        at += scale * add
    assert boxes[-1]["x"] + boxes[-1]["width"] <= track["x"] + track["width"] + 1


def test_words_of_the_text_have_the_colours_of_their_bars(visit):
    page = visit({"query": "how cranes dance", "ranker": "BM25 >> RM3(terms=4) >> BM25", "docno": "birds-05"})
    bars = {row.inner_text().lower(): row.get_attribute("class") for row in page.locator(".bars th .word").all()}
    marks = {mark.inner_text().lower(): mark.get_attribute("class") for mark in page.locator(".fulltext mark").all()}
    assert marks["cranes"] == bars["crane"]
    assert marks["dance"] == bars["dancing"]
    assert len({bars["crane"], bars["dancing"], bars["birds"]}) == 3


def test_one_document_against_another_by_keys(visit, index):
    page = visit({"query": "how cranes dance", "ranker": BLEND, "docno": "birds-05"})
    press(page, "o")
    page.keyboard.type("building-17")
    press(page, "Enter")
    page.wait_for_selector(".versus")
    settled(page)
    assert state_of(page)["versus"] == ["building-17"]
    scores = [index.explain("how cranes dance", docno, BLEND).value for docno in ("birds-05", "building-17")]
    sums = values([page.locator(".versus tfoot td").nth(place).inner_text() for place in (1, 2, 4)])
    assert sums == pytest.approx([*scores, scores[0] - scores[1]], abs=0.001)
    differences = values([row.locator("td").last.inner_text() for row in page.locator(".versus tbody tr").all()])
    assert math.fsum(differences) == pytest.approx(scores[0] - scores[1], abs=0.001 * len(differences))


def test_why_a_document_is_not_shown(visit):
    page = visit({"query": "crane bridge", "ranker": "BM25", "k": "3", "docno": "birds-05"})
    press(page, "o")
    page.keyboard.type("ships-07")
    press(page, "Tab", "Tab", "Enter")
    page.wait_for_selector(".changes")
    settled(page)
    assert state_of(page)["why_not"] == ["true"]
    assert "the hits shown end at rank 3" in page.locator(".lead").inner_text()
    rank = int(re.search(r"at rank (\d+)", page.locator(".lead").inner_text())[1])
    assert f"With k = {rank} it is shown." in page.locator(".changes").inner_text()


def test_a_dragged_weight_moves_the_ranking(visit, index):
    page = visit({"query": "crane bridge", "ranker": "BM25 + 0.3*DPH"})
    press(page, "w", "Tab", "Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "weight of DPH"
    press(page, *["ArrowRight"] * 60)
    page.wait_for_selector(".basis")
    settled(page)
    assert state_of(page)["ranker"] == ["BM25 + 0.9*DPH"]
    assert state_of(page)["base"] == ["BM25 + 0.3*DPH"]
    now, before = (index.search("crane bridge", ranker, k=10).docnos for ranker in ("BM25 + 0.9*DPH", "BM25 + 0.3*DPH"))
    assert docnos(page) == now
    told = page.locator(".hit .move .visually-hidden").all_text_contents()
    assert told == moved(now, before)


def test_the_cost_of_each_stage_stands_below_the_expression(visit, index):
    page = visit({"query": "crane bridge", "ranker": "BM25 >> RM3 >> BM25 >> PL2 + 0.3*DPH"})
    page.locator(".settings a", has_text="Cost of each stage").press("Enter")
    page.wait_for_selector(".costs")
    settled(page)
    assert state_of(page)["costs"] == ["true"]
    rows = page.locator(".costs tbody tr")
    assert rows.locator("th code").all_inner_texts() == ["BM25", "RM3 >> BM25", "PL2 + 0.3*DPH"]
    handed = rows.locator("td:last-child").all_inner_texts()
    found = [len(index.search("crane bridge", ranker, k=1000)) for ranker in ("BM25", "BM25 >> RM3 >> BM25")]
    assert handed == [f"{found[0]} documents", f"{found[1]} documents", "10 documents"]
    assert all(float(each) >= 0 for each in rows.locator("td:nth-child(2)").all_inner_texts())


NUMBERS = {
    "BM25": [],
    "BM25 + 0.3*PL2": [("", "BM25"), ("0.3", "PL2")],
    "2*BM25(k1=0.9, b=0.4) + lsi(e=20) % 100 >> RM3(terms=5) >> PL2": [
        ("2", "BM25(k1=0.9, b=0.4)"), ("0.9", "k1"), ("0.4", "b"), ("", "lsi(e=20)"), ("20", "e"), ("5", "terms"),
    ],
    "BM25 >> (PL2 + 0.5*DPH) >> where(\"year >= 2015 + 0.5*x\")": [("", "PL2"), ("0.5", "DPH")],
    "BM25 + zscore(0.2*PL2 + DPH)": [("", "BM25"), ("", "zscore(0.2*PL2 + DPH)"), ("0.2", "PL2"), ("", "DPH")],
    "BM25 +": [("", "BM25")],
    "((( + ) 0.3 * \"": [],
}  # fmt: skip


def test_the_numbers_of_an_expression_have_their_places(visit):
    page = visit()
    for text, wanted in NUMBERS.items():
        found = page.evaluate("text => import('/page/expression.js').then(module => module.numbers(text))", text)
        shown = [(text[each["begin"] : each["end"]], each["name"]) for each in found]
        assert sorted(shown) == sorted(wanted), text
        for each in found:
            change = (
                "([text, each]) => import('/page/expression.js').then(module => module.withNumber(text, each, 0.25))"
            )
            written = page.evaluate(change, [text, each])
            star = "*" if each["begin"] == each["end"] else ""
            assert written == f"{text[: each['begin']]}0.25{star}{text[each['end'] :]}"


def test_an_expression_is_completed_by_keys(visit):
    page = visit({"query": "crane"})
    press(page, "e")
    page.keyboard.type("BM25(k1=0.9, b=0.4) >> RM", delay=20)
    page.wait_for_selector(".offers:not([hidden]) li:has-text('RM3')")
    press(page, "ArrowDown", "Enter")
    until(page, "document.querySelector('#ranker').value.endsWith('>> RM3')")
    page.keyboard.type(" >> BM25")
    until(page, "document.querySelectorAll('.knob').length === 2")
    until(page, "location.search.endsWith('RM3+%3E%3E+BM25')")
    settled(page)
    assert state_of(page)["ranker"] == ["BM25(k1=0.9, b=0.4) >> RM3 >> BM25"]


def test_a_mistake_shows_its_sentence_and_the_old_hits_stay(visit, index):
    page = visit({"query": "crane", "ranker": "BM25"})
    press(page, "e", "End")
    page.keyboard.type("(k=1)")
    page.wait_for_selector(".problem")
    assert "BM25 has no parameter k" in page.locator(".problem").inner_text()
    assert docnos(page) == index.search("crane", k=10).docnos


def test_a_value_of_a_facet_filters(visit, index):
    page = visit({"query": "crane"})
    page.get_by_role("button", name="theme").press("Space")
    page.wait_for_selector(".counts li")
    assert page.locator(".counts li").count() == 3
    page.locator(".counts a", has_text="ships").press("Enter")
    settled(page)
    assert docnos(page) == index.search("crane", "BM25 >> where(\"theme = 'ships'\")").docnos


def test_a_topic_of_a_model_filters(visit, index):
    model = TOPICS_MODEL
    page = visit({"query": "crane", "of": model})
    rows = page.locator(".counts li")
    count, label = int(rows.last.locator(".count").inner_text()), rows.last.locator("a").inner_text()
    rows.last.locator("a").press("Enter")
    settled(page)
    kept = index.search("crane", f'BM25 >> topic("{label}", of={model})', k=10).docnos
    assert docnos(page) == kept and 0 < len(kept) == min(count, 10) < len(index.search("crane", k=10))
    page.locator(".counts a[aria-current]").press("Enter")
    settled(page)
    assert docnos(page) == index.search("crane", k=10).docnos


def test_topics_are_sorted_by_their_difference_and_lead_to_rankings(visit, index):
    compared = sublex.compare(index, TOPICS, QRELS, ["BM25", "BM25 >> RM3 >> BM25"], "AP")
    page = visit({"view": "topics", "ranker": ["BM25", "BM25 >> RM3 >> BM25"]})
    page.wait_for_selector(".by-topic")
    gaps = values([row.locator("td").last.inner_text() for row in page.locator(".by-topic tbody tr").all()])
    means = [float(row[2].split()[0]) for row in compared.table().rows]
    assert len(gaps) == 30
    assert [abs(gap) for gap in gaps] == sorted(map(abs, gaps), reverse=True)
    assert values([row.locator("td").first.inner_text() for row in page.locator(".shared tbody tr").all()]) == means
    press(page, "j", "Enter")
    page.wait_for_selector(".columns")
    assert set(state_of(page)) == {"query", "topic", "ranker"}


def test_documents_are_judged_with_keys_unjudged_first(visit, folder):
    page = visit({"view": "judge", "query": "crane", "topic": "1", "ranker": ["BM25", "PL2 >> RM3 >> PL2"]})
    page.wait_for_selector(".pool")
    first = page.locator(".pool .hit").first
    assert first.locator(".grade .visually-hidden").inner_text() == "not judged"
    docno = first.get_attribute("data-docno")
    press(page, "j", "2")
    until(page, "document.querySelector('.pool .hit .grade .visually-hidden').textContent === 'grade 2'")
    assert sublex.read_qrels(folder / "mine.txt")["1"][docno] == 2
    assert page.evaluate("document.activeElement.closest('.hit') === document.querySelectorAll('.pool .hit')[1]")


def test_a_link_to_a_topic_alone_is_enough_to_judge_and_each_takes_back_their_own(visit, folder):
    """Two browsers judge a document each, and the first takes back what it did, not what came last."""
    judged = []
    for grade in ("1", "3"):
        page = visit({"view": "judge", "topic": "2"}, another=True)
        assert set(docnos(page)) == set(sublex.open(folder / "zoo").search("crane lifting heavy loads", k=10).docnos)
        press(page, "j", grade)
        until(page, f"document.querySelector('.pool .hit .grade .visually-hidden').textContent === 'grade {grade}'")
        judged.append((page, docnos(page)[0]))
    (one, first), (_, second) = judged
    assert sublex.read_qrels(folder / "mine.txt")["2"] == {first: 1, second: 3}
    one.locator("button", has_text="Take back").click()
    until(one, "document.querySelector('#said').textContent === 'Your last judgement is taken back'")
    assert sublex.read_qrels(folder / "mine.txt")["2"] == {second: 3}


def test_the_index_lists_terms_that_match(visit, index):
    page = visit({"view": "index"})
    press(page, "/")
    page.keyboard.type("cran*")
    rows = "[...document.querySelectorAll('.terms tbody tr')]"
    until(page, f"{rows}.length === {len(list(index.terms('cran*')))}")
    until(page, f"{rows}.every(row => row.textContent.startsWith('cran'))")


def test_labels_of_a_model_are_listed(visit, index):
    page = visit({"view": "meaning", "model": TOPICS_MODEL})
    page.wait_for_selector(".by-topic")
    assert page.locator("tbody th").all_inner_texts() == [state.label for state in index.labels(TOPICS_MODEL)]


def test_keyphrases_of_a_document_are_full_or_hollow_and_lead_to_what_they_stand_for(visit, address, index):
    # In so small a collection, no keyphrase that a text does not mention is likely enough to be listed. So the answer is
    # changed on its way: the text does not mention the first keyphrase.
    def with_one_unmentioned(route) -> None:
        answer = route.fetch()
        record = answer.json()
        record["result"][0]["mentioned"] = "no"
        route.fulfill(response=answer, json=record)

    page = visit()
    page.route("**/v1/keyphrases*", with_one_unmentioned)
    page.goto(address + link(query="crane", docno="birds-16"))
    settled(page)
    words = ["keyphrases", index.path, KEYPHRASES, "--docno", "birds-16", "--perhaps", "--format", "json"]
    rows = [row for row in json.loads(invoke(*words).output) if row["strength"] >= 0.5]
    assert rows and {row["mentioned"] for row in rows} == {"yes"}
    rows[0]["mentioned"] = "no"
    shown = page.locator(".about li")
    assert shown.locator("a").all_inner_texts() == [row["keyphrase"] for row in rows]
    assert [text.strip()[0] for text in shown.locator("span[title]").all_inner_texts()] == [
        "●" if row["mentioned"] == "yes" else "○" for row in rows
    ]
    assert shown.locator(".count").all_inner_texts() == [f"{row['strength']:.2f}" for row in rows]
    shown.locator("a").first.press("Enter")
    settled(page)
    assert page.locator(".family .self strong").inner_text() == rows[0]["keyphrase"]


def test_a_ranking_that_fails_has_its_sentence_and_no_place_among_the_others(visit, index):
    page = visit({"query": "crane", "ranker": ["BM25", "lsi", "PL2"]})
    assert "No lsi in" in page.locator(".problem").inner_text()
    assert page.locator(".ranking h2 .letter").all_inner_texts() == ["A", "C"]
    columns = [page.locator(".ranking").nth(place).locator(".docno").all_inner_texts() for place in (0, 1)]
    assert columns == [index.search("crane", ranker, k=10).docnos for ranker in ("BM25", "PL2")]


def test_a_plugin_adds_a_view_that_shows_its_operation(visit, address, index):
    """Its modules come from its own folder by their hash, under the policy of the page."""
    page = visit({"query": "crane"})
    asked = []
    page.on("response", lambda answer: asked.append((answer.url.removeprefix(address), answer.headers)))
    press(page, "Escape", "g", *["Tab"] * 5, "Enter")
    page.wait_for_selector("table")
    settled(page)
    assert state_of(page)["view"] == ["panel-initials"]
    assert page.locator(".views a[aria-current]").inner_text() == "Initials"
    counts = Counter(term.term[0] for term in index.terms())
    assert page.locator("tbody th").all_inner_texts() == sorted(counts)
    assert page.locator("tbody td").all_inner_texts() == [str(counts[first]) for first in sorted(counts)]
    (headers,) = [headers for url, headers in asked if re.fullmatch(r"page/panels/initials/[0-9a-f]{16}/panel.js", url)]
    assert (
        headers["content-type"].startswith("text/javascript")
        and "script-src 'self'" in headers["content-security-policy"]
    )
    gone = visit({"view": "panel-nobody"})
    assert "No plugin of this service has this view" in gone.locator("#results").inner_text()


# Links, history and tabs.


@pytest.mark.parametrize("view", ["hits", "why", "against", "side by side"])
def test_the_code_of_a_view_gives_the_same_hits(visit, view, folder, index, monkeypatch):
    monkeypatch.chdir(folder)
    page = visit({**VIEWS[view], "query": "crane", "code": ""})
    press(page, "s")
    page.wait_for_selector(".code pre")
    settled(page)
    place = ".beside" if "docno" in VIEWS[view] else "#results"
    command, python, study = page.locator(f"{place} .code pre").all_inner_texts()[-3:]
    answers = [json.loads(invoke(*shlex.split(one)[1:], "--format", "json").output) for one in command.splitlines()]
    made = [eval(line, {"index": index, "sublex": sublex}) for line in python.splitlines()]
    if view == "why":
        assert [answers[0]["value"]] == [made[0].value]
        assert values([page.locator(".bars-sum td").last.inner_text()]) == pytest.approx([made[0].value], abs=0.001)
    elif view == "against":
        assert [row["word"] for row in answers[0]] == page.locator(".versus tbody th").all_inner_texts()
    else:
        columns = [each.locator("li .docno").all_inner_texts() for each in page.locator(".ranking").all()]
        lists = columns or [docnos(page)]
        assert [[hit["docno"] for hit in answer["hits"]] for answer in answers] == lists
        assert [hits.docnos for hits in made] == lists
        told = page.locator(f"{place} .commands > .soft")
        assert "the hits of this view are those of topic 1." in told.inner_text()
        file, run = told.locator("code").all_inner_texts()
        shutil.rmtree(folder / "zoo-study", ignore_errors=True)
        (folder / file).write_text(study, encoding="utf-8")
        done = invoke(*shlex.split(run)[1:])
        assert done.code == 0, done.messages
        runs = [sublex.read_run(path) for path in sorted((folder / "zoo-study" / "runs").rglob("*.run.gz"))]
        ran = [list(run["1"])[:10] for run in runs]
        assert sorted(ran) == sorted(lists)


def test_the_back_button_leads_through_the_states(visit):
    page = visit({"query": "crane"})
    hits = docnos(page)
    page.locator(".hit-link").nth(1).press("Enter")
    settled(page)
    press(page, "/")
    page.keyboard.press("Control+a")
    page.keyboard.type("bridge")
    until(page, "location.search === '?query=bridge'")
    settled(page)
    assert docnos(page) != hits
    page.go_back()
    settled(page)
    assert state_of(page) == {"query": ["crane"], "docno": [hits[1]]}
    assert page.locator("#query").input_value() == "crane"
    page.go_back()
    settled(page)
    assert (state_of(page), docnos(page)) == ({"query": ["crane"]}, hits)
    page.go_forward()
    settled(page)
    assert page.locator(".beside").count() == 1


def test_pages_of_hits_are_of_one_generation_and_a_link_to_one_that_is_gone_leads_to_now(visit, folder):
    """Documents that come between two pages of hits change no page, until the reader asks for the index as it is now."""
    before = sublex.open(folder / "grown")
    page = visit({"index": "grown", "query": "crane", "k": "3"})
    ranking = before.search("crane", k=9).docnos
    assert docnos(page) == ranking[:3]
    sublex.open(folder / "grown").add([{"id": "new-1", "title": "Crane", "text": "crane crane crane"}])
    for place in (3, 6):
        page.locator(".more a", has_text="More hits").press("Enter")
        settled(page)
        assert docnos(page) == ranking[place : place + 3]
        assert page.locator(".hit .rank").all_inner_texts() == [str(place + n) for n in (1, 2, 3)]
    assert state_of(page)["generation"] == [str(before.generation)] and state_of(page)["from"] == ["7"]
    page.locator(".more a", has_text="Hits before").press("Enter")
    settled(page)
    assert docnos(page) == ranking[3:6]
    page.locator(".more a", has_text="As the index is now").press("Enter")
    settled(page)
    assert docnos(page) == sublex.open(folder / "grown").search("crane", k=3).docnos and "new-1" in docnos(page)
    assert state_of(page) == {"index": ["grown"], "query": ["crane"], "k": ["3"]}
    # The service was started at a later generation than the first.
    gone = visit({"index": "grown", "query": "crane", "k": "3", "from": "4", "generation": "1"})
    assert "Generation 1 of grown is not held any more" in gone.locator(".problem").inner_text()
    gone.locator(".problem a").press("Enter")
    settled(gone)
    assert docnos(gone) == docnos(page) and state_of(gone) == state_of(page)


def test_two_tabs_keep_apart(visit, index):
    one, other = visit({"query": "crane"}), visit({"query": "bridge", "ranker": "PL2"})
    press(one, "/", "End")
    one.keyboard.type(" river")
    until(one, "location.search === '?query=crane+river'")
    settled(one)
    assert docnos(one) == index.search("crane river", k=10).docnos
    assert docnos(other) == index.search("bridge", "PL2", k=10).docnos


def test_an_older_answer_never_paints_over_a_newer_one(visit, index):
    page = visit({"query": "crane"})
    page.evaluate("""() => {
        const real = window.fetch;
        window.fetch = async (path, options) => {
            const answer = await real(path, { ...options, signal: undefined });
            if (path.includes('/search') && path.includes('query=bridge&')) await new Promise((done) => setTimeout(done, 600));
            return answer;
        };
    }""")
    press(page, "/")
    page.keyboard.press("Control+a")
    page.keyboard.type("bridge")
    until(page, "location.search === '?query=bridge'")
    page.keyboard.type(" river")
    until(page, "location.search === '?query=bridge+river'")
    page.wait_for_timeout(900)
    settled(page)
    assert docnos(page) == index.search("bridge river", k=10).docnos


# What users must be able to rely on.


def test_hostile_titles_are_shown_as_text(visit):
    page = visit({"query": "zebra"})
    titles = page.locator(".hit h3").all_inner_texts()
    assert len(titles) == len(HOSTILE)
    assert HOSTILE["tags"] in titles
    assert "zebra ⟨RLO⟩evil⟨LRI⟩ title ⟨RLM⟩ end" in titles
    assert "zebra ␀␇␛[31m red ␡ ⟨0085⟩ end" in titles
    assert page.locator("#page img, #page b, #page i, #page u").count() == 0
    page.locator(".hit-link", has_text="a docno of marks").press("Enter")
    settled(page)
    assert "docno<i>&\"' is at rank" in page.locator(".lead").inner_text()
    assert page.title() == "zebra · Sublex"
    assert page.locator(".hit bdi").first.evaluate("each => getComputedStyle(each).unicodeBidi") == "isolate"


def test_a_hostile_query_is_text_in_the_page_and_in_its_link(visit):
    query = '<img src=x onerror=alert(1)> \u202e\x07 & "zebra"'
    page = visit({"query": query, "ranker": ["BM25", "PL2"], "docno": "<script>"})
    assert page.locator("#page img").count() == 0
    assert state_of(page)["query"] == [query]


def test_axe_finds_nothing_in_any_view_and_none_is_wider_than_a_small_phone(visit, address):
    """Each view is opened once: as it is, in dark colours, and 320 pixels wide."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    page = visit()
    found, wide = {}, {}
    for name, state in VIEWS.items():
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        # Axe looks at every element, and each hit has the same ones.
        page.goto(address + link(**{"k": "3", **state}))
        settled(page)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            # Another scheme has other colours, and the rest of the page is the same.
            options = {"resultTypes": ["violations"], **({"runOnly": ["color-contrast"]} if scheme == "dark" else {})}
            violations = axe.run(page, options=options).response["violations"]
            found |= {f"{name}: {each['id']}": [node["html"] for node in each["nodes"]] for each in violations}
        page.set_viewport_size({"width": 320, "height": 640})
        # Tables are whole, too; nobody sees that a table which is cut could be scrolled.
        cut = page.locator("table").evaluate_all(f"tables => tables.filter({WIDER}).map(table => table.className)")
        if cut or page.evaluate("document.documentElement.scrollWidth") > 320:
            wide[name] = cut
    assert found == {}
    assert wide == {}


def test_the_list_of_keys_opens_and_closes_by_keys(visit):
    page = visit({"query": "crane"})
    press(page, "?")
    assert page.locator("dialog[open]").count() == 1
    press(page, "Escape")
    assert page.locator("dialog[open]").count() == 0
    assert docnos(page)


def test_the_token_goes_into_a_header_and_into_no_link_or_code(visit, address):
    page = visit({**VIEWS["why"]})
    sent = []
    page.on(
        "request",
        lambda request: (
            sent.append((request.url, request.headers.get("authorization"))) if "/v1/" in request.url else None
        ),
    )
    page.locator(".hit:not(.is-open) .hit-link").first.press("Enter")
    until(page, "!location.search.includes('docno=birds-05')")
    settled(page)
    assert len(sent) >= 2
    assert all(header == f"Bearer {TOKEN}" and TOKEN not in url for url, header in sent)
    assert page.url.endswith(f"#token={TOKEN}")
    assert TOKEN not in page.locator("#page").inner_html()


def test_without_the_token_the_page_says_so(visit, address):
    page = visit()
    page.goto("about:blank")
    page.goto(address + "?query=crane")
    page.wait_for_selector(".problem")
    assert "token" in page.locator(".problem").first.inner_text()
