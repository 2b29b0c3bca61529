"""The service: routes and checks derived from the table, records as of the command line, generations, refusals, judging, stopping."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote, urlencode

import child
import pytest
from command import invoke
from shared import QRELS, TOPICS, uncover
from strategies import examples

import sublex as engine
from sublex.contracts.base import Document, Folder, Param, Resource
from sublex.contracts.hookspecs import hookimpl
from sublex.errors import InputError, SublexError
from sublex.faces.judging import take_back, write_judgement
from sublex.forms.lines import Shown
from sublex.forms.values import to_json
from sublex.language import plugins
from sublex.operations import NAMES, Needs, Operation, OperationContext, find, operation, option, positional
from sublex.tools.confinement import Confinement, confined

for package in ("starlette", "uvicorn", "httptools"):
    pytest.importorskip(package, reason="the extra serve is not installed")

from sublex.service.app import App  # noqa: E402
from sublex.service.given import GivenFiles  # noqa: E402
from sublex.service.guard import SAFE, Guard, addressed, own_names  # noqa: E402
from sublex.service.held import HeldIndex, HeldIndexes  # noqa: E402
from sublex.service.limits import HELD, MOST_BODY, MOST_HEAD, MOST_QUERY, Limits  # noqa: E402
from sublex.service.running import config_of  # noqa: E402
from sublex.service.server import Served, Server  # noqa: E402

QUERY = "cranes by the river"
MODEL = "lda(k=4)"
PORT = 8642
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
GUARD = Guard.of(own_names("127.0.0.1"), PORT)


class Reply(NamedTuple):
    """What the application answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def record(self) -> Any:
        return json.loads(self.body)

    @property
    def sentence(self) -> str:
        """The sentence of a refusal, which is a record of a problem."""
        assert self.headers["content-type"] == "application/problem+json"
        assert self.record["status"] == self.status and self.record["title"]
        return self.record["detail"]


class Client:
    """Asks an application, in a loop of events that runs in a thread of its own."""

    def __init__(self, app: App):
        self.app, self.loop = app, asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def get(self, path: str, _headers: dict[str, str] | None = None, **fields: Any) -> Reply:
        pairs = [
            (name, each) for name, value in fields.items() for each in (value if isinstance(value, list) else [value])
        ]
        return self.ask("GET", path, urlencode(pairs).encode(), _headers or {})

    def post(self, path: str, body: Any, _headers: dict[str, str] | None = None) -> Reply:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask(
            "POST", path, b"", {"origin": ORIGIN, "content-type": "application/json", **(_headers or {})}, data
        )

    def ask(self, method: str, path: str, query: bytes, headers: dict[str, str], body: bytes = b"") -> Reply:
        return self.submit(method, path, query, headers, body).result()

    def submit(
        self, method: str, path: str, query: bytes = b"", headers: dict[str, str] | None = None, body: bytes = b""
    ):
        given = {"host": HOST, **(headers or {})}
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query, "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()], "http_version": "1.1",
            "scheme": "http", "server": ("127.0.0.1", PORT), "client": ("127.0.0.1", 1), "asgi": {"version": "3.0"},
        }  # fmt: skip
        return asyncio.run_coroutine_threadsafe(self._ask(scope, body), self.loop)

    async def _ask(self, scope: dict[str, Any], body: bytes) -> Reply:
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Reply(sent[0]["status"], headers, b"".join(each.get("body", b"") for each in sent[1:]))

    def close(self) -> None:
        async def end() -> None:
            await self.app.tools.close()

        asyncio.run_coroutine_threadsafe(end(), self.loop).result()
        self.app.pool.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def server_of(path: Path, name: str = "demo", **options: Any) -> Server:
    files = options.pop("files", None) or GivenFiles([str(TOPICS)], [str(QRELS)])
    return Server(HeldIndexes({name: HeldIndex(name, path)}), files, options.pop("limits", Limits(2)), **options)


@pytest.fixture(scope="module")
def fitted(built_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo collection with a fitted model and a name; tests only read it."""
    path = tmp_path_factory.mktemp("served") / "demo"
    shutil.copytree(built_demo, path)
    index = engine.open(path)
    index.fit(MODEL)
    index.name("both", f"BM25 + 0.3*{MODEL}")
    return path


@pytest.fixture(scope="module")
def client(fitted: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A server of the fitted index that only reads, with topics, judgements and two runs."""
    folder = tmp_path_factory.mktemp("runs")
    index = engine.open(fitted)
    for ranker in ("BM25", "PL2"):
        index.run(engine.read_topics(TOPICS), ranker, k=20).write(folder / f"{ranker}.run")
    runs = [str(folder / f"{ranker}.run") for ranker in ("BM25", "PL2")]
    client = Client(App(server_of(fitted, files=GivenFiles([str(TOPICS)], [str(QRELS)], runs)), GUARD))
    yield client
    client.close()


@pytest.fixture
def writing(built_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A server that may change its index, a copy, and writes judgements."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shutil.copytree(built_demo, tmp_path / "demo")
    files = GivenFiles([str(TOPICS)], [], judge=str(tmp_path / "mine.txt"))
    client = Client(App(server_of(tmp_path / "demo", files=files, may_write=True), GUARD))
    yield client
    client.close()


@pytest.mark.slow
def test_a_schema_is_obeyed_whatever_is_asked(client):
    """Requests that schemathesis makes of the schema get answers that the schema knows, and none is a failure of the server."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, given, settings
    from hypothesis.strategies import one_of

    record = client.get("/openapi.json").record
    schema = schemathesis.openapi.from_dict(record)
    operations = [found.ok() for found in schema.get_all_operations()]
    reading = [each for each in operations if each.method.upper() == "GET" and "{" not in each.path]
    seen = []

    @settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=one_of(*(each.as_strategy() for each in reading)))
    def ask(case: Any) -> None:
        fields = (case.query or {}).items()
        pairs = [(name, each) for name, value in fields for each in (value if isinstance(value, list) else [value])]
        texts = [(name, str(each).lower() if isinstance(each, bool) else str(each)) for name, each in pairs]
        reply = client.ask("GET", case.path, urlencode(texts, errors="surrogatepass").encode(), {})
        declared = record["paths"][case.path]["get"]["responses"]
        assert str(reply.status) in declared and reply.status != 500, (case.path, texts, reply.body[:300])
        assert reply.headers["content-type"] in declared[str(reply.status)]["content"]
        seen.append(reply.status)

    ask()
    assert {200, 400} <= set(seen)


# Records.

# Requests, with the command line that asks the same.
TWINS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("search", {"query": QUERY}, [QUERY]),
    ("search", {"query": QUERY, "k": 3, "from": 4, "parts": "true"}, [QUERY, "-k", "3", "--from", "4", "--parts"]),
    ("search", {"query": QUERY, "docnos": "true", "ranker": "PL2 + 0.3*DPH"}, [QUERY, "--docnos", "-r", "PL2 + 0.3*DPH"]),
    ("search", {"query": "+crane river", "language": "query"}, ["+crane river", "--language", "query"]),
    ("search", {"query": "crane^2 river", "weighted": "true"}, ["crane^2 river", "--weighted"]),
    ("search", {"query": QUERY, "facets": 3, "of": MODEL, "ranker": "both"}, [QUERY, "--facets", "3", "--of", MODEL, "-r", "both"]),
    ("explain", {"query": QUERY, "docno": "birds-05", "ranker": "BM25 >> RM3 >> BM25"},
     [QUERY, "birds-05", "-r", "BM25 >> RM3 >> BM25"]),
    ("explain", {"query": QUERY, "docno": "birds-05", "versus": "river-08"}, [QUERY, "birds-05", "--versus", "river-08"]),
    ("explain", {"query": QUERY, "docno": "birds-01", "why_not": "true"}, [QUERY, "birds-01", "--why-not"]),
    ("similar", {"docno": "birds-05", "k": 3}, ["birds-05", "-k", "3"]),
    ("doc", {"docno": "birds-05"}, ["birds-05"]),
    ("terms", {"pattern": "cran*", "number": 3}, ["cran*", "-n", "3"]),
    ("info", {"terms": 3}, ["--terms", "3"]),
    ("analyze", {"text": "The cranes"}, ["The cranes"]),
    ("card", {}, []),
    ("card", {"expression": MODEL}, [MODEL]),
    ("label", {"expression": MODEL}, [MODEL]),
    ("duplicates", {"threshold": 0.5}, ["--threshold", "0.5"]),
    ("name", {}, []),
    ("vectors-list", {}, []),
    ("resource-list", {}, []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fields", "words"), TWINS)
def test_a_record_is_that_of_the_command_line(client, fitted, name, fields, words):
    reply = client.get(f"/v1/{name}", **fields)
    done = invoke(
        *name.split("-"),
        str(fitted),
        *words,
        "--format",
        "json",
    )
    assert reply.status == 200 and done.code == 0, (reply.body, done.messages)
    assert reply.record["result"] == json.loads(done.output)
    assert reply.record["index"] == "demo" and reply.record["generation"] == engine.open(fitted).generation
    # What the command says on standard error are the notes.
    assert [" ".join(note.split()) for note in reply.record["notes"]] == [
        " ".join(line.replace(str(fitted), "demo").split()) for line in done.messages.splitlines()
    ]


# Operations that the command line has under another one, with the arguments of the function.
BARE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "versus",
        {"query": QUERY, "ranker": ["BM25", "PL2"], "k": 5},
        {"query": QUERY, "rankers": ("BM25", "PL2"), "k": 5},
    ),
    ("why-not", {"query": QUERY, "docno": "birds-01"}, {"query": QUERY, "docno": "birds-01"}),
    ("facets", {"query": QUERY, "of": MODEL}, {"query": QUERY, "of": (MODEL,)}),
    ("term", {"text": "cranes"}, {"text": "cranes"}),
]


@pytest.mark.parametrize(("name", "fields", "arguments"), BARE)
def test_an_operation_of_the_shell_answers_with_its_data(client, fitted, name, fields, arguments):
    expected = find(name)(OperationContext(engine.open(fitted).uncovered()), **arguments).data
    assert client.get(f"/v1/{name}", **fields).record["result"] == json.loads(to_json(expected))


def test_systems_are_compared_on_the_files_of_the_server(client, fitted):
    words = [str(TOPICS), str(QRELS), "-r", "BM25", "-r", "PL2", "-m", "AP", "-k", "20", "--format", "json"]
    expected = json.loads(invoke("compare", str(fitted), *words).output)
    found = client.get("/v1/compare", ranker=["BM25", "PL2"], measure="AP", k=20).record["result"]
    # Times differ from run to run.
    for result in (found, expected):
        for system in result["systems"]:
            for name in [name for name in system if "milliseconds" in name or name == "cached"]:
                del system[name]
    assert {**found, "notes": ""} == {**expected, "notes": ""}
    # A ranker may have a name for one request.
    named = client.get("/v1/compare", ranker=["mine=BM25", "PL2"], measure="AP", k=20).record["result"]["systems"]
    assert [(each["name"], each["expression"]) for each in named] == [("mine", "BM25"), ("PL2", "PL2")]
    assert named[0]["measures"] == found["systems"][0]["measures"]
    for wrong in ("BM25=PL2", "mine=", "mine=PL2(", f"mine={'(' * 10_000}"):
        assert client.get("/v1/compare", ranker=[wrong, "PL2"]).status == 400
    assert client.get("/v1/search", query="crane", ranker="mine=BM25").status == 400
    # The default ranking alone is not compared with itself.
    alone = client.get("/v1/compare", ranker=["BM25"], measure="AP", k=20).record["result"]["systems"]
    assert [system["name"] for system in alone] == ["BM25"] and alone[0]["measures"] == found["systems"][0]["measures"]
    given = client.get("/v1/eval", run=["BM25.run", "PL2.run"], measure="AP", by_topic="true").record["result"]
    paths = list(client.app.server.files.paths["runs"].values())
    done = invoke("eval", str(QRELS), *paths, "-m", "AP", "--by-topic", "--format", "json")
    assert given == json.loads(done.output)
    pooled = client.get("/v1/pool", run=["BM25.run", "PL2.run"], depth=3).record["result"]
    assert pooled == json.loads(invoke("pool", *paths, "--depth", "3", "--format", "json").output)
    assert client.get("/v1/disagree", ranker=["BM25", "PL2"], number=2).record["result"] == json.loads(
        invoke(
            "disagree",
            str(fitted),
            str(TOPICS),
            "-r",
            "BM25",
            "-r",
            "PL2",
            "--qrels",
            str(QRELS),
            "-n",
            "2",
            "--format",
            "json",
        ).output
    )


def test_a_call_is_also_answered_as_a_command_and_as_python(client, fitted):
    found = client.get("/v1/search", query=QUERY, k=3, ranker="PL2", step="true").record
    assert found["command"] == f"sublex search {fitted} '{QUERY}' -r PL2 -k 3"
    index = engine.open(fitted)
    assert eval(found["python"], {"index": index}).docnos == [hit["docno"] for hit in found["result"]["hits"]]
    assert "command" not in client.get("/v1/search", query=QUERY).record


def test_a_run_streams_a_topic_a_line(client, fitted):
    reply = client.get("/v1/run", ranker="PL2", k=5)
    assert reply.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in reply.body.splitlines()]
    run = engine.open(fitted).run(engine.read_topics(TOPICS), "PL2", k=5)
    assert [line["topic"] for line in lines] == [topic.qid for topic in engine.read_topics(TOPICS)]
    for line in lines:
        docs = run.get(line["topic"], {})
        assert [hit["docno"] for hit in line["hits"]] == list(docs)
        assert [hit["score"] for hit in line["hits"]] == pytest.approx(list(docs.values()))
    assert client.get("/v1/run", ranker="nonsense").status == 400
    assert client.get("/v1/run", generation=99).status == 404
    assert client.get("/v1/run", language="query", topics="topics.trec").status == 200


def test_tuning_streams_its_progress_and_then_its_result(client, fitted, monkeypatch):
    monkeypatch.setattr("sublex.service.context.PAUSE", 0)
    fields = {"expression": "BM25(k1={0.4..2}, b={.3,.5})", "measure": "AP", "steps": 2, "folds": 3, "k": 20}
    reply = client.get("/v1/tune", **fields)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/x-ndjson")
    *told, last = [json.loads(line) for line in reply.body.splitlines()]
    assert [each["done"] for each in told] == sorted(each["done"] for each in told)
    assert told and {each["total"] for each in told} == {4 * 30 + 30} and told[-1]["done"] == told[-1]["total"]
    words = [fields["expression"], "-m", "AP", "--steps", "2", "--folds", "3", "-k", "20", "--format", "json"]
    expected = json.loads(invoke("tune", str(fitted), str(TOPICS), str(QRELS), *words).output)
    command = expected.pop("command").replace(str(fitted), "demo")
    assert last["result"].pop("command") == command and last["result"] == expected
    assert (last["index"], last["generation"]) == ("demo", engine.open(fitted).generation)
    # What is wrong is said before the first line, as elsewhere.
    for wrong, sentence in [("BM25", "has no range to tune"), ("BM52(b={0..1})", "BM52"), ("BM25(b={0..1}", "column")]:
        refused = client.get("/v1/tune", expression=wrong)
        assert refused.status == 400 and sentence in refused.sentence


def test_the_files_of_the_server_are_checked(client, fitted):
    """lint takes the names of the server's files, by default all of them, and the index."""
    paths = client.app.server.files.paths["files"]
    assert list(paths) == ["topics.trec", "qrels.txt", "BM25.run", "PL2.run"]
    for given in ([], ["qrels.txt", "PL2.run"]):
        files = [paths[name] for name in given or paths]
        done = invoke("lint", *files, "--index", str(fitted), "--format", "json")
        expected = done.output
        for name, path in paths.items():
            expected = expected.replace(path, name)
        found = client.get("/v1/lint", **({"file": given} if given else {}))
        assert found.status == 200 and found.record["result"] == json.loads(expected)
        assert str(fitted.parent).encode() not in found.body
    assert client.get("/v1/lint", file="/etc/passwd").status == 404
    assert client.get("/v1/lint", **{"as": "run=/etc/passwd"}).status == 400


def test_rankings_become_a_study_of_the_topics_of_the_server(client, fitted):
    reply = client.get("/v1/into-study", ranker=["BM25", "PL2"], query="crane", measure="P@5").record
    found = reply["result"]
    study = tomllib.loads(found["study"])
    assert study["systems"] == {"BM25": "BM25", "PL2": "PL2"} and study["compare"] == {"measures": ["P@5"]}
    assert study["indexes"] == {"demo": os.path.realpath(fitted)}
    assert study["topics"] == {"file": os.path.realpath(TOPICS), "qrels": os.path.realpath(QRELS)}
    assert found["topics"] == ["1"] and reply["notes"] == [
        "The study ranks 30 topics; the hits of this view are those of topic 1."
    ]
    assert found["command"].startswith("sublex study demo.toml --allow ") and str(fitted) in found["command"]
    alone = client.get("/v1/into-study", query="no topic").record
    assert list(tomllib.loads(alone["result"]["study"])["systems"]) == ["BM25"]
    assert "The query is none of them" in alone["notes"][0]
    assert client.get("/v1/into-study", ranker="BM52").record["parameter"] == "ranker"


def test_how_a_query_is_read_and_completed(client):
    found = client.get("/v1/reading", query="the cranez dancing").record["result"]
    assert [(each["text"], each["state"], each["nearest"]) for each in found["words"]] == [
        ("the", "stop", ""), ("cranez", "unknown", "crane"), ("dancing", "known", ""),
    ]  # fmt: skip
    assert "".join(text for text, _ in found["parts"]).startswith("the  cranez unknown, crane?")
    words = client.get("/v1/complete", text="a flying cran").record["result"]
    assert words["word"] == "cran" and words["offers"][0]["text"] == "crane"
    offers = client.get("/v1/complete", text="BM25 + ld", what="expression", number=50).record["result"]["offers"]
    assert {"lda", MODEL} <= {each["text"] for each in offers}
    assert [each["text"] for each in client.get("/v1/complete", text="BM25(k", what="expression").record["result"]["offers"]] == [
        "k1=", "k3=",
    ]  # fmt: skip


def test_the_words_of_a_document_that_a_query_asks_for_are_marked(client, fitted):
    found = client.get("/v1/matches", query="cranes dance", docno="birds-05").record["result"]
    document = engine.open(fitted).document("birds-05")
    assert "".join(text for text, _ in found["title"]) == document.title
    assert "".join(text for text, _ in found["text"]) == document.text
    assert {text.lower() for text, word in found["text"] if word} == {"cranes", "dance"}
    marks = client.get("/v1/marks", query="cranes", docno="birds-05", expression=MODEL).record["result"]
    assert marks == json.loads(
        to_json([each._asdict() for each in engine.open(fitted).marks("cranes", "birds-05", MODEL)])
    )


def test_an_expression_is_a_tree_with_parameters(client):
    found = client.get("/v1/tree", expression="BM25(k1=2) % 50 >> PL2 + 0.5*both").record["result"]
    chain = found["tree"]
    assert [part["kind"] for part in chain["parts"]] == ["cut", "blend"] and chain["parts"][0]["depth"] == 50
    k1 = chain["parts"][0]["parts"][0]["parameters"][0]
    assert (k1["name"], k1["value"], k1["default"], k1["type"]) == ("k1", 2.0, 1.2, "float") and len(k1["range"]) == 2
    assert chain["parts"][1]["parts"][1]["weight"] == 0.5


def test_each_stage_has_its_cost_and_its_documents(client, fitted):
    index = engine.open(fitted)
    rows = client.get("/v1/costs", query=QUERY, ranker="PL2 + 0.3*DPH >> RM3 >> BM25 % 7", k=5).record["result"]
    assert [row["stage"] for row in rows] == ["PL2 + 0.3*DPH", "RM3 >> BM25 % 7"]
    assert [row["found"] for row in rows] == [len(index.search(QUERY, "PL2 + 0.3*DPH", k=1000)), 5]
    assert [part["part"] for part in rows[0]["parts"]] == ["PL2", "0.3*DPH"] and not rows[1]["parts"]
    for before, row in zip([{"total": 0.0}, *rows], rows, strict=False):
        assert row["milliseconds"] == pytest.approx(max(0, row["total"] - before["total"]))
        assert row["total"] > 0
    assert client.get("/v1/costs", query=QUERY, ranker="BM52").record["parameter"] == "ranker"


def test_topics_and_judgements_are_those_of_the_command_line(client):
    topics, qrels = engine.read_topics(TOPICS), engine.read_qrels(QRELS)
    found = client.get("/v1/topics").record["result"]
    assert [(each["qid"], each["text"], each["judged"]) for each in found] == [
        (topic.qid, topic.text, len(qrels[topic.qid])) for topic in topics
    ]
    assert client.get("/v1/judgements", topic="1").record["result"] == {"topic": "1", "grades": dict(qrels["1"])}
    assert (
        "no topic file 'other.trec'; there are: topics.trec" in client.get("/v1/topics", topics="other.trec").sentence
    )
    assert client.get("/v1/topics", topics="/etc/passwd").status == 404


def test_a_request_learns_from_the_judgements_of_a_topic(client, fitted):
    text, grades, ranker = engine.read_topics(TOPICS)["1"].text, engine.read_qrels(QRELS)["1"], "BM25 >> Sharp >> BM25"
    reply = client.get("/v1/search", query=text, ranker=ranker, qrels="qrels.txt", qid="1")
    expected = engine.open(fitted).search(text, ranker, judged=grades)
    assert [hit["docno"] for hit in reply.record["result"]["hits"]] == expected.docnos
    assert expected.docnos != engine.open(fitted).search(text, ranker).docnos
    refused = client.get("/v1/search", query=text, ranker=ranker, qrels="qrels.txt", qid="none")
    assert refused.status == 400 and refused.sentence.startswith("qrels.txt judges 1, ")
    # Without the name of a file, no judgements count.
    plain = client.get("/v1/search", query=text, ranker=ranker).record["result"]["hits"]
    assert [hit["docno"] for hit in plain] == engine.open(fitted).search(text, ranker).docnos


def test_a_graph_that_does_not_cover_all_documents_costs_a_sentence(built_demo, tmp_path):
    graph = "near(lsi(e=4))"
    index = engine.open(shutil.copytree(built_demo, tmp_path / "demo"))
    index.fit(graph)
    index.add([{"id": "late", "title": "Late", "text": "A crane that came late"}])
    uncover(index.path, "near")
    client = Client(App(server_of(index.path), GUARD))
    try:
        reply = client.get("/v1/search", query="crane", ranker=f"BM25 >> {graph}")
        assert reply.status == 409 and f"{graph} does not cover 1 document of demo" in reply.sentence
    finally:
        client.close()


def test_a_name_that_is_taken_or_refers_to_itself_costs_a_sentence(writing):
    for name, expression, sentence in (
        ("BM25", "PL2", "BM25 is a component, which no name may hide"),
        ("best", "best + 0.1*PL2", "The name best stands for itself: best > best"),
    ):
        reply = writing.post("/v1/name", {"name": name, "expression": expression})
        assert reply.status == 400 and sentence in reply.sentence


def test_clients_of_anserini_find_its_routes(client, fitted):
    found = client.get("/v1/demo/search", query="cranes", hits=2).record
    hits = engine.open(fitted).search("cranes", k=2)
    assert (found["api"], found["index"], found["query"]) == ("v1", "demo", {"text": "cranes"})
    assert [(c["docid"], c["rank"]) for c in found["candidates"]] == [(hit.docno, hit.rank) for hit in hits]
    assert found["candidates"][0]["score"] == pytest.approx(hits[0].score)
    assert found["candidates"][0]["doc"]["contents"] == hits[0].text
    doc = client.get("/v1/demo/doc/birds-05", parse="false").record
    assert (doc["docid"], json.loads(doc["doc"])["id"]) == ("birds-05", "birds-05")
    for path, fields, status in [
        ("/v1/demo/doc/none", {}, 404), ("/v1/demo/search", {}, 400), ("/v1/demo/search", {"query": "x", "hits": 0}, 400),
        ("/v1/other/search", {"query": "x"}, 404), ("/v1/demo/search", {"query": "x", "parse": "perhaps"}, 400),
    ]:  # fmt: skip
        reply = client.get(path, **fields)
        assert reply.status == status and reply.record["error"]


# The table.


def test_every_operation_of_the_table_that_shows_records_is_served(client):
    served = client.app.server.served
    in_table = {name.replace(" ", "-") for name in NAMES if "service" in find(name).faces}
    # A study is a file.
    assert in_table - {"study"} <= set(served)
    assert {"search", "explain", "facets", "versus", "why-not", "similar", "doc", "terms", "analyze", "card", "label", "compare",
            "eval", "pool", "components", "tune", "lint", "info", "senses", "phrases", "match", "fit", "delete"} <= set(served)  # fmt: skip
    # Nothing that names a file on the disk of the server, or makes one.
    assert not {
        "index",
        "attach",
        "encode",
        "vectors-add",
        "resource-add",
        "encoder-list",
        "indexes-all",
    } & set(served)
    for each in served.values():
        # A field that takes the name of a file which the server was given is none of these.
        assert not {field.name for field in each.fields.values() if not field.file} & {
            "file",
            "files",
            "reader_file",
            "collapse",
            "output",
        }


def test_the_schema_is_made_of_the_fields_that_check(client):
    schema = client.get("/openapi.json").record
    assert schema["openapi"] == "3.1.0"
    for served in client.app.server.served.values():
        path = schema["paths"][f"/v1/{served.name}"]
        methods = ["get"] * served.operation.may_read + ["post"] * served.operation.may_change
        assert list(path) == methods and methods
        if "get" in path:
            assert [each["name"] for each in path["get"]["parameters"]] == list(served.fields)
    search = {each["name"]: each for each in schema["paths"]["/v1/search"]["get"]["parameters"]}
    assert search["k"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10}
    assert search["language"]["schema"]["enum"] == ["plain", "query", "weighted"] and search["query"]["required"]


def test_what_the_schema_allows_at_its_ends_is_read_and_what_is_beyond_is_refused(client):
    for served in client.app.server.served.values():
        for field in served.fields.values():
            bounds = field.schema()
            if field.type is int and not field.many:
                assert field.read([str(bounds["minimum"])]) == bounds["minimum"]
                assert field.read([str(bounds["maximum"])]) == bounds["maximum"]
                for beyond in (bounds["minimum"] - 1, bounds["maximum"] + 1):
                    with pytest.raises(InputError.__base__, match="give a whole number"):
                        field.read([str(beyond)])


class Shout:
    """A plugin with an operation that reads, one that changes an index, and one that wants a file."""

    @staticmethod
    @operation(forms=("table", "json"))
    def shout(
        context: OperationContext, word: Annotated[str, positional("WORD")], times: Annotated[int, option(least=1)] = 2
    ) -> Shown:
        """Shout a word."""
        return Shown(list, lambda: [word.upper()] * times, notes=[f"{len(context.index)} documents heard it."])

    @staticmethod
    @operation(forms=("table", "json"))
    def steal(context: OperationContext) -> Shown:
        """Fit a model, without saying so."""
        context.index.fit("lsi(e=2)")
        return Shown(list)

    @staticmethod
    @operation(forms=("table", "json"))
    def look(context: OperationContext, file: Annotated[str, positional("FILE", completes="file")]) -> Shown:
        """Read a file."""
        return Shown(list, lambda: Path(file).read_text())

    @staticmethod
    @hookimpl
    def register_operations(register: Callable[[Operation], None]) -> None:
        for each in (Shout.shout, Shout.steal, Shout.look):
            register(each)


def test_the_operations_of_a_plugin_are_served_and_cannot_change_what_they_do_not_say(fitted, monkeypatch):
    registry = plugins.load()
    known = registry.plugins
    registry._manager.register(Shout, "shout")
    monkeypatch.setattr(plugins.Registry, "plugins", [*known, plugins.Plugin("shout", "shout")])
    monkeypatch.setattr(plugins, "load", lambda: registry)
    client = Client(App(server_of(fitted), GUARD))
    try:
        reply = client.get("/v1/shout", word="hello")
        assert reply.record["result"] == ["HELLO", "HELLO"] and reply.record["notes"] == ["252 documents heard it."]
        assert (
            client.get("/v1/shout", word="hello", times=0).sentence
            == "times is 0; give a whole number from 1 to 10,000."
        )
        assert "/v1/shout" in client.get("/openapi.json").record["paths"]
        before = engine.open(fitted).generation
        assert "may only read" in client.get("/v1/steal").sentence and engine.open(fitted).generation == before
        assert client.get("/v1/look", file="/etc/passwd").status == 404
    finally:
        client.close()


# Refusals.

REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("nonsense", {}, 404, "No operation 'nonsense'"),
    ("search", {}, 400, "search needs the parameter query."),
    ("search", {"query": "x", "foo": 1}, 400, "No parameter foo; search takes index"),
    ("search", {"query": "x", "rankr": "BM25"}, 400, "No parameter rankr; did you mean ranker?"),
    ("search", {"query": "x", "k": 0}, 400, "k is 0; give a whole number from 1 to 1,000."),
    ("search", {"query": "x", "k": -1}, 400, "k is -1; give a whole number from 1 to 1,000."),
    ("search", {"query": "x", "k": "1e9"}, 400, "k is '1e9'; give a whole number from 1 to 1,000."),
    ("search", {"query": "x", "k": 10**9}, 400, "k is 1000000000; give a whole number from 1 to 1,000."),
    ("search", {"query": "x", "k": "NaN"}, 400, "k is 'NaN'; give a whole number from 1 to 1,000."),
    ("search", {"query": "x", "k": ["1", "2"]}, 400, "k is given 2 times; give it once."),
    ("search", {"query": "x", "docnos": "perhaps"}, 400, "docnos is 'perhaps'; give true or false."),
    ("search", {"query": "x", "language": "latin"}, 400, "language is 'latin'; did you mean plain? It may be plain, query, weighted."),
    ("search", {"query": "x", "ranker": "BN25"}, 400, "No component BN25; did you mean BM25?"),
    ("search", {"query": "x", "ranker": " "}, 400, "ranker is empty"),
    ("search", {"query": "x", "ranker": "BM25 >> >> x"}, 400, "Expected a name or ( after >> in column 9."),
    ("search", {"query": "x", "ranker": "(" * 1000 + "BM25"}, 400, "Expected at most 30 nested parentheses"),
    ("search", {"query": "x", "ranker": "(" * 10_000}, 400, "ranker has 10,000 characters; give at most 2,000."),
    ("search", {"query": "x", "ranker": " + ".join(["BM25"] * 33)}, 400, "The expression has 33 components"),
    ("search", {"query": "x", "ranker": "BM25 % 999999"}, 400, "% 999999 keeps more candidates than a request may"),
    ("search", {"query": "x", "ranker": "lsi"}, 409, "No lsi in demo"),
    ("search", {"query": "x", "ranker": "BM25 >> near(lsi)"}, 409, "No near(lsi) in demo"),
    ("search", {"query": "x", "ranker": "chars"}, 409, "No chars in demo"),
    ("search", {"query": "x", "ranker": "better"}, 409, "better needs lsi(e=200), near("),
    ("search", {"query": "x", "ranker": "good(find=approximate)"}, 400, "good has no part that could find approximately"),
    ("search", {"query": "x", "ranker": 'cross(onnx("/tmp"))'}, 400, "names a folder, and a request cannot name one."),
    ("search", {"query": "x", "ranker": 'sourcelda("/etc/passwd", k=2)'}, 400, "a request cannot name files"),
    ("search", {"query": "x", "profile": "nonsense"}, 400, "nonsense"),
    ("search", {"query": "x", "index": "other"}, 404, "No index 'other'; this server has: demo."),
    ("search", {"query": "x", "index": "../demo"}, 404, "No index '../demo'"),
    ("search", {"query": "x", "generation": 99}, 404, "demo has no generation 99 yet"),
    ("search", {"query": "x", "facets": 3, "of": "nothing"}, 400, "nothing"),
    ("search", {"query": "q" * 20_000}, 400, "query has 20,000 characters; give at most 16,384."),
    ("explain", {"query": "x", "docno": "none"}, 404, "No document none in"),
    ("similar", {"docno": "none"}, 404, "No document none in"),
    ("doc", {"docno": "bad\x00docno"}, 404, "No document"),
    ("analyze", {"text": "x", "analyzer": 'wordpiece("/etc")'}, 400, "names a folder"),
    ("card", {"expression": "lsi"}, 409, "No lsi in demo"),
    ("judgements", {"topic": "1", "qrels": "../../etc/passwd"}, 404, "no file of judgements"),
    ("compare", {"topics": "/etc/passwd", "ranker": "BM25"}, 404, "no topic file '/etc/passwd'"),
    ("compare", {"ranker": ["BM25"], "run": "x.run"}, 404, "no run file 'x.run'; did you mean"),
    ("eval", {"ranker": "BM25", "measure": "nonsense"}, 400, "nonsense"),
    ("eval", {"files": "/etc/passwd"}, 400, "No parameter files"),
    ("search", {"query": "x", "queries": "bge=/etc/passwd"}, 400, "No parameter queries"),
    ("fit", {"expressions": "lsi"}, 405, "GET is no method of fit, which changes something; send it by POST."),
    ("name", {"name": "mine", "expression": "BM25"}, 405, "name changes something; send it by POST."),
    ("label", {"expression": MODEL, "action": "undo"}, 405, "label changes something; send it by POST."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fields", "status", "sentence"), REFUSED)
def test_a_wrong_request_costs_a_sentence(client, name, fields, status, sentence):
    reply = client.get(f"/v1/{name}", **fields)
    assert sentence in reply.sentence and reply.status == status


@pytest.mark.parametrize(
    ("name", "fields", "parameter"),
    [
        ("search", {"query": "x", "ranker": "BM52"}, "ranker"),
        ("search", {"query": "x", "ranker": "BM25(k7=1)"}, "ranker"),
        ("search", {"query": "x", "ranker": "BM25 + lsi"}, "ranker"),
        ("versus", {"query": "x", "ranker": ["BM25", "PL3"]}, "ranker"),
        ("card", {"expression": "lsi(e=3)"}, "expression"),
        ("explain", {"query": "x", "docno": "none"}, "docno"),
        ("explain", {"query": "x", "docno": "birds-05", "versus": "none"}, "versus"),
        ("compare", {"topics": "other.trec", "ranker": "BM25"}, "topics"),
        ("eval", {"run": ["other.run"]}, "run"),
    ],
)
def test_a_mistake_names_its_parameter(client, name, fields, parameter):
    problem = client.get(f"/v1/{name}", **fields).record
    assert problem["status"] in (400, 404, 409) and problem["parameter"] == parameter


def test_a_mistake_in_an_expression_has_its_parameter_and_its_place(client):
    problem = client.get("/v1/versus", query="x", ranker=["BM25", "PL2 +"]).record
    assert problem["parameter"] == "ranker"
    assert problem["caret"] == {"column": 6, "text": "PL2 +", "mark": "     ^"}


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "a\x00b",
        "\x1b[31m",
        "\u202etxt",
        "<script>alert(1)</script>",
        "\U0001f426",
        "ﬁ",
        "-" * 5000,
        "(" * 10_000,
        "",
    ],
)
def test_any_text_is_a_query(client, text):
    reply = client.get("/v1/search", query=text)
    assert reply.status == 200 and b"\x1b" not in reply.body and b"\x00" not in reply.body


def test_halves_of_surrogate_pairs_and_bytes_that_are_no_utf8_cost_a_sentence(client):
    for query in (b"query=%ED%A0%80", b"query=%FF", b"%FF=x", b"k=%80"):
        assert "no UTF-8" in client.ask("GET", "/v1/search", query, {}).sentence
    many = "&".join(f"a{n}=1" for n in range(300)).encode()
    assert "more than 256 fields" in client.ask("GET", "/v1/search", many, {}).sentence


def test_a_long_query_string_is_refused_unread(client):
    reply = client.ask("GET", "/v1/search", b"query=" + b"q" * MOST_QUERY, {})
    assert reply.status == 414 and "ask for less" in reply.sentence


def test_methods_and_paths_that_there_are_not(client):
    assert client.ask("DELETE", "/v1/search", b"", {"origin": ORIGIN}).status == 405
    assert (
        client.post("/v1/search", {"query": "x"}).sentence
        == "POST is no method of search, which reads; send it by GET."
    )
    assert (
        client.get("/v2/search").status
        == client.get("/page/../app.py").status
        == client.get("/page/%2e%2e").status
        == 404
    )
    assert client.ask("POST", "/", b"", {"origin": ORIGIN}).status == 405


def test_a_wrong_method_is_told_the_right_ones(client, writing):
    """The methods in Allow are those that the schema has."""
    for each in (client, writing):
        for path, methods in each.get("/openapi.json").record["paths"].items():
            # The query string is not read for a method that there is not.
            reply = each.ask("OPTIONS", path, b"query=" + b"a" * MOST_QUERY, {"origin": ORIGIN})
            assert (reply.status, reply.headers["allow"]) == (405, ", ".join(sorted(methods)).upper()), path
    assert client.ask("HEAD", "/v1/health", b"", {"origin": ORIGIN}).status == 200


def test_messages_have_names_in_place_of_paths(client, fitted, writing, tmp_path):
    unknown = client.get("/v1/doc", docno="nobody")
    assert unknown.status == 404 and unknown.sentence == "No document nobody in demo."
    nothing = client.get("/v1/search", query="zzz")
    assert nothing.status == 200 and any("demo" in note for note in nothing.record["notes"])
    shutil.rmtree(tmp_path / "demo")
    gone = writing.get("/v1/search", query=QUERY)
    assert gone.sentence == "demo is no index any more; older links show what it was."
    for reply in (unknown, nothing, gone):
        assert str(fitted.parent).encode() not in reply.body and str(tmp_path).encode() not in reply.body


def test_who_only_reads_cannot_change(client):
    assert (
        client.post("/v1/fit", {"expressions": ["lsi"]}).sentence
        == "This server only reads, and fit changes an index; start it with --write."
    )
    judged = client.post("/v1/judge", {"topic": "1", "docno": "birds-05", "grade": 1})
    assert judged.status == 403 and "--judge FILE" in judged.sentence


@pytest.mark.parametrize(
    ("headers", "status", "sentence"),
    [
        ({"host": "evil.example"}, 403, "The Host 'evil.example' is no name of this server"),
        ({"host": "127.0.0.1"}, 403, "The Host '127.0.0.1' is no name"),
        ({"host": f"127.0.0.1:{PORT + 1}"}, 403, "is no name of this server"),
        ({"host": ""}, 403, "The Host that is missing"),
        ({"origin": "http://evil.example"}, 403, "The Origin 'http://evil.example' is not the page"),
        ({"origin": "null"}, 403, "The Origin 'null' is not the page"),
        ({"origin": f"http://127.0.0.1:{PORT + 1}"}, 403, "is not the page"),
        ({"sec-fetch-site": "cross-site"}, 403, "Another site asked for this"),
        ({"sec-fetch-site": "same-site"}, 403, "Another site asked for this"),
    ],
)
def test_other_hosts_and_origins_are_refused(client, headers, status, sentence):
    reply = client.get("/v1/health", headers)
    assert reply.status == status and sentence in reply.sentence


def test_the_names_of_the_server_are_let_in(client):
    for host in (HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"):
        assert client.get("/v1/health", {"host": host, "origin": f"http://{host.lower()}"}).status == 200
    assert own_names("127.0.0.1", ["x.example:443"])[-1] == "x.example:443"
    assert (addressed("::1", 80), addressed("x.example:443", 8), addressed("x", 8)) == (
        "[::1]:80",
        "x.example:443",
        "x:8",
    )
    assert b"localhost" in Guard.of(["localhost"], 80).hosts and b"localhost" not in Guard.of(["localhost"], 81).hosts


def test_changes_and_tools_need_an_origin(writing):
    for path in ("/v1/judge", "/mcp", "/v1/fit"):
        reply = writing.ask("POST", path, b"", {"content-type": "application/json"}, b"{}")
        assert reply.status == 403 and "needs the header Origin" in reply.sentence
    assert writing.ask("GET", "/mcp", b"", {}).status == 403


def test_a_server_with_a_token_asks_for_it_and_shows_its_page_to_anybody(fitted, tmp_path):
    (tmp_path / "index.html").write_text("<!doctype html>")
    client = Client(App(server_of(fitted), Guard.of(["localhost"], PORT, "secret-token-of-mine"), tmp_path))
    host = {"host": f"localhost:{PORT}"}
    try:
        for wrong in ({}, {"authorization": "Bearer secret"}, {"authorization": "secret-token-of-mine"}):
            reply = client.get("/v1/health", {**host, **wrong})
            assert (
                reply.status == 401
                and "needs its token" in reply.sentence
                and reply.headers["www-authenticate"] == "Bearer"
            )
            assert "secret" not in reply.sentence
        assert client.get("/v1/health", {**host, "authorization": "Bearer secret-token-of-mine"}).status == 200
        assert client.get("/", host).status == 200
        assert client.get("/openapi.json", host).status == 401
    finally:
        client.close()


def test_every_answer_has_the_headers_of_safety(client):
    for reply in (
        client.get("/v1/health"),
        client.get("/v1/nonsense"),
        client.get("/openapi.json"),
        client.get("/nowhere"),
    ):
        for name, value in SAFE:
            assert reply.headers[name.decode()] == value.decode()
    policy = client.get("/v1/health").headers["content-security-policy"]
    assert (
        policy.startswith("default-src 'none'")
        and "require-trusted-types-for 'script'" in policy
        and "unsafe" not in policy
    )


def test_the_files_of_the_page_are_a_fixed_list(fitted, tmp_path):
    page, secret = tmp_path / "page", tmp_path / "secret.js"
    (page / "vendor").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html>")
    (page / "vendor" / "x.mjs").write_text("1")
    (page / "notes.py").write_text("no")
    secret.write_text("no")
    client = Client(App(server_of(fitted), GUARD, page))
    try:
        found = client.get("/")
        assert (
            found.headers["content-type"] == "text/html; charset=utf-8" and found.headers["x-frame-options"] == "DENY"
        )
        assert client.get("/", {"if-none-match": found.headers["etag"]}).status == 304
        assert client.get("/page/vendor/x.mjs").headers["content-type"] == "text/javascript; charset=utf-8"
        for name in ("notes.py", "../secret.js", "/etc/passwd", "vendor", "x"):
            assert client.ask("GET", f"/page/{name}", b"", {}).status == 404
    finally:
        client.close()


# Bodies.


@pytest.mark.parametrize(
    ("body", "headers", "status", "sentence"),
    [
        (b"", {}, 400, "no JSON object"),
        (b"[1]", {}, 400, "no JSON object"),
        (b'{"topic": NaN}', {}, 400, "no JSON object"),
        (b"[" * 100_000, {}, 413, "send less"),
        (b"[" * 60_000, {}, 400, "no JSON object"),
        (b'{"x": "' + b"y" * MOST_BODY + b'"}', {}, 413, "send less"),
        (b"topic=1", {"content-type": "application/x-www-form-urlencoded"}, 415, "Content-Type application/json"),
        (b"{}", {"content-type": "text/plain"}, 415, "Content-Type application/json"),
        (b"{}", {}, 400, "judge needs the parameter topic."),
        (b'{"topic": 1, "docno": "birds-05", "grade": 1}', {}, 400, "topic is 1; give a text."),
        (b'{"topic": "1", "docno": "birds-05", "grade": "1"}', {}, 400, "grade is '1'; give a whole number"),
        (b'{"topic": "1", "docno": "birds-05", "grade": 1.5}', {}, 400, "grade is 1.5; give a whole number"),
        (b'{"topic": "1", "docno": "birds-05", "grade": true}', {}, 400, "grade is True; give a whole number"),
        (b'{"topic": "1", "docno": "birds-05", "grade": 99999999999}', {}, 400, "grade is 99999999999"),
        (b'{"topic": "1", "docno": "none", "grade": 1}', {}, 404, "No document none in"),
        (b'{"topic": "1 2", "docno": "birds-05", "grade": 1}', {}, 404, "No topic '1 2' in topics.trec"),
        (b'{"topic": "1", "docno": "birds-05", "grade": 1, "file": "/etc/passwd"}', {}, 400, "No parameter file"),
    ],
)
def test_a_wrong_body_costs_a_sentence_and_changes_nothing(writing, tmp_path, body, headers, status, sentence):
    reply = writing.post("/v1/judge", body, headers)
    assert sentence in reply.sentence and reply.status == status
    assert not (tmp_path / "mine.txt").exists()


# Generations.


def test_a_page_of_hits_is_one_of_a_generation_until_it_is_let_go(built_demo, tmp_path):
    path, now = tmp_path / "demo", [0.0]
    shutil.copytree(built_demo, path)
    held = HeldIndex("demo", path, lambda: now[0])
    client = Client(App(Server(HeldIndexes({"demo": held}), GivenFiles()), GUARD))
    index = engine.open(path)
    first = index.generation

    def hits(**more: Any) -> list[str]:
        reply = client.get("/v1/search", query="crane", k=2, docnos="true", **more)
        assert reply.status == 200, reply.body
        return [hit["docno"] for hit in reply.record["result"]["hits"]]

    try:
        before, after = hits(), index.search("crane", k=4).docnos[2:]
        index.delete([before[0]])
        # A commit between two pages: the second one is of the generation of the first.
        assert hits(**{"from": 3, "generation": first}) == after
        assert hits(generation=first) == before and hits()[0] == before[1]
        assert client.get("/v1/search", query="crane").record["generation"] == first + 1
        for number in range(2):
            index.delete([f"birds-1{number}"])
            hits()
        gone = client.get("/v1/search", query="crane", k=2, generation=first)
        assert (
            gone.status == 410
            and f"Generation {first} of demo is not held any more; it is at {first + 3}." == gone.sentence
        )
        assert gone.record["now"] == "/v1/search?query=crane&k=2"
        assert hits(generation=first + 1)
        now[0] += HELD + 1
        assert client.get("/v1/search", query="crane", generation=first + 1).status == 410
        assert hits(generation=first + 3)
    finally:
        client.close()


def test_an_index_that_is_deleted_or_damaged_meanwhile_costs_a_sentence(built_demo, tmp_path):
    path = tmp_path / "demo"
    shutil.copytree(built_demo, path)
    client = Client(App(server_of(path), GUARD))
    try:
        generation = client.get("/v1/search", query="crane").record["generation"]
        manifest = (path / "index.json").read_text()
        (path / "index.json").write_text(manifest[:100])
        assert client.get("/v1/search", query="crane").status in (409, 503)
        shutil.rmtree(path)
        gone = client.get("/v1/search", query="crane")
        assert gone.status == 409 and "is no index any more" in gone.sentence
        assert client.get("/v1/search", query="crane", generation=generation).status == 200
        assert client.get("/v1/health").status == 200
    finally:
        client.close()


# Changes.


def test_a_server_that_may_write_changes_its_index(writing):
    added = writing.post(
        "/v1/add", {"documents": [{"docno": "new-1", "title": "<b>A</b> \u202ecrane", "text": "a crane flies"}]}
    )
    assert added.status == 200 and added.record["result"]["documents"] == 253
    found = writing.get("/v1/search", query="flies crane", k=1).record
    assert (
        found["result"]["hits"][0]["docno"] == "new-1" and found["result"]["hits"][0]["title"] == "<b>A</b> \u202ecrane"
    )
    assert writing.post("/v1/add", {"documents": [{"docno": "new-1", "text": "again"}]}).status in (400, 409)
    assert (
        writing.post("/v1/add", {"documents": ["/etc/passwd"]}).sentence
        == "documents is '/etc/passwd'; give an object."
    )
    assert writing.post("/v1/delete", {"docnos": ["new-1"]}).status == 200
    assert writing.post("/v1/fit", {"expressions": [MODEL]}).status == 200
    assert writing.post("/v1/name", {"name": "mine", "expression": MODEL}).status == 200
    assert writing.get("/v1/name").record["result"] == [{"name": "mine", "expression": MODEL}]
    assert writing.get("/v1/search", query="crane", ranker="BM25 + 0.1*mine").status == 200
    labels = writing.get("/v1/label", expression=MODEL).record["result"]
    renamed = writing.post(
        "/v1/label", {"expression": MODEL, "action": "rename", "labels": [str(labels[0]["number"]), "Birds"]}
    )
    assert renamed.record["result"][0]["label"] == "Birds"
    assert writing.post("/v1/fit", {"expressions": ['sourcelda("/etc/passwd", k=2)']}).sentence.endswith("it has none.")


def test_two_who_judge_lose_no_line(writing, tmp_path):
    docnos = engine.open(tmp_path / "demo").snapshot.all_docnos.tolist()[:20]

    def judge(topic: str) -> list[int]:
        return [writing.post("/v1/judge", {"topic": topic, "docno": docno, "grade": 1}).status for docno in docnos]

    with ThreadPoolExecutor(2) as two:
        assert {status for statuses in two.map(judge, ("1", "2")) for status in statuses} == {200}
    qrels = engine.read_qrels(tmp_path / "mine.txt")
    assert {qid: set(qrels[qid]) for qid in ("1", "2")} == {"1": set(docnos), "2": set(docnos)}
    again = writing.post("/v1/judge", {"topic": "1", "docno": docnos[0], "grade": 3}).record["result"]
    assert again == {"topic": "1", "docno": docnos[0], "grade": 3, "before": 1}
    assert writing.get("/v1/judgements", topic="1").record["result"]["grades"][docnos[0]] == 3
    taken = writing.post("/v1/unjudge", {}).record["result"]
    assert taken == {"topic": "1", "docno": docnos[0], "grade": 1, "before": 3}


def test_a_judgement_changes_no_figure_of_a_link_that_names_no_file(built_demo, tmp_path):
    files = GivenFiles([str(TOPICS)], [str(QRELS)], judge=str(tmp_path / "mine.txt"))
    client = Client(App(server_of(built_demo, files=files, may_write=True), GUARD))
    try:
        before = client.get("/v1/eval", ranker="BM25", measure="AP").record["result"]
        assert client.post("/v1/judge", {"topic": "1", "docno": "birds-01", "grade": 1}).status == 200
        assert client.get("/v1/eval", ranker="BM25", measure="AP").record["result"] == before
        own = client.get("/v1/eval", ranker="BM25", measure="AP", qrels="mine.txt").record["result"]
        assert own != before
        # Those of all files, that of users last, are the grades of a topic.
        topics = client.get("/v1/topics").record["result"]
        assert topics[0]["judged"] == len({*engine.read_qrels(QRELS)["1"], "birds-01"})
    finally:
        client.close()


def test_each_takes_back_their_own_judgements_alone(writing, tmp_path):
    for docno, grade, by in [("birds-01", 1, "anna"), ("birds-02", 2, "ben"), ("birds-03", 1, "anna")]:
        assert writing.post("/v1/judge", {"topic": "1", "docno": docno, "grade": grade, "by": by}).status == 200
    taken = [writing.post("/v1/unjudge", {"by": by}) for by in ("ben", "anna", "anna")]
    assert [each.record["result"]["docno"] for each in taken] == ["birds-02", "birds-03", "birds-01"]
    for by in ("anna", "ben", "", "carl"):
        refused = writing.post("/v1/unjudge", {"by": by})
        assert refused.status == 400 and "There is no judgement" in refused.sentence
    # A document that somebody else has judged anew keeps the later grade.
    for grade, by in [(1, "anna"), (3, "ben")]:
        writing.post("/v1/judge", {"topic": "2", "docno": "birds-01", "grade": grade, "by": by})
    assert "another judgement of birds-01" in writing.post("/v1/unjudge", {"by": "anna"}).sentence
    assert engine.read_qrels(tmp_path / "mine.txt")["2"] == {"birds-01": 3}
    # What was taken back under a later judgement does not come back with the end of that one.
    assert writing.post("/v1/unjudge", {"by": "ben"}).record["result"]["grade"] is None
    assert (tmp_path / "mine.txt").read_text() == ""


@pytest.mark.parametrize(
    ("steps", "grades"),
    [
        ("b1 a2 a- b-", [1, 2, 1, None]),
        ("b1 a2 b- a- b-", [1, 2, 2, None, None]),
        ("b1 a2 b3 a- b- b-", [1, 2, 3, 3, 1, None]),
        ("b1 b2 a3 b- a- b-", [1, 2, 3, 3, 1, None]),
        # Equal judgements, one after the other: the second one of a person is another step.
        ("b1 a2 b1 a- b- b-", [1, 2, 1, 1, 1, None]),
    ],
)
def test_judgements_are_taken_back_under_others(tmp_path, monkeypatch, steps, grades):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file, seen = tmp_path / "mine.txt", []
    for by, grade in steps.split():
        with suppress(InputError):
            take_back(file, by) if grade == "-" else write_judgement(file, "1", "birds-01", int(grade), by)
        seen.append(int(file.read_text().split()[3]) if file.read_text() else None)
    assert seen == grades


@pytest.mark.parametrize(
    "wrong",
    [{"by": "\ud800"}, {"by": "a\nb"}, {"by": "a\0"}, {"by": "\u202eanna"}, {"by": "x" * 81}, {"topic": "\ud800"}, {"topic": "1\0"}],
)  # fmt: skip
def test_no_name_of_a_judge_or_topic_ends_the_judging_of_others(built_demo, tmp_path, monkeypatch, wrong):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    files = GivenFiles([], [], judge=str(tmp_path / "mine.txt"))
    client = Client(App(server_of(built_demo, files=files), GUARD))
    asked = {"topic": "1", "docno": "birds-05", "grade": 2, "by": "anna"}
    refused = client.post("/v1/judge", asked | wrong)
    assert refused.status == 400 and not (tmp_path / "mine.txt").exists()
    assert client.post("/v1/judge", asked).status == 200
    assert client.post("/v1/unjudge", {"by": "anna"}).record["result"]["grade"] is None
    client.close()


def test_a_damaged_journal_is_named_without_its_path(writing, tmp_path):
    asked = {"topic": "1", "docno": "birds-05", "grade": 2}
    assert writing.post("/v1/judge", asked).status == 200
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    journal.write_bytes(b"{}\n")
    refused = writing.post("/v1/judge", asked)
    assert refused.status == 400 and journal.name in refused.sentence
    assert str(tmp_path).encode() not in refused.body


def test_records_about_files_have_names_in_place_of_their_paths(fitted, tmp_path):
    """A comparison names the file of judgements in a note within its result."""
    docno = engine.open(fitted).snapshot.all_docnos.tolist()[0]
    (tmp_path / "one.run").write_text(f"1 Q0 {docno} 1 2.5 mine\n")
    (tmp_path / "two.qrels").write_text(f"1 0 {docno} 1\n2 0 {docno} 1\n")
    files = GivenFiles([str(TOPICS)], [str(tmp_path / "two.qrels")], [str(tmp_path / "one.run")])
    client = Client(App(server_of(fitted, files=files), GUARD))
    reply = client.get("/v1/compare", run="one.run")
    client.close()
    assert reply.status == 200 and b"two.qrels" in reply.body
    assert str(tmp_path).encode() not in reply.body


def test_only_topics_of_the_server_are_judged(writing, tmp_path):
    refused = writing.post("/v1/judge", {"topic": "99", "docno": "birds-05", "grade": 1})
    assert (refused.status, refused.record["parameter"]) == (404, "topic")
    assert refused.sentence == "No topic '99' in topics.trec; did you mean 9? Nothing is judged."
    assert not (tmp_path / "mine.txt").exists()


def test_judgements_that_cannot_be_written_cost_a_sentence(writing, tmp_path):
    (tmp_path / "mine.txt").mkdir()
    refused = writing.post("/v1/judge", {"topic": "1", "docno": "birds-05", "grade": 1})
    assert refused.status == 400 and "mine.txt" in refused.sentence


# Stopping. A real server answers on a port.


class Running(NamedTuple):
    """A server on a port, its application, and what its slow operation has done."""

    port: int
    app: App
    began: threading.Event
    ended: list[str]


@pytest.fixture
def running(fitted: Path) -> Iterator[Running]:
    """A real server with one thread, one place to wait, and an operation that takes long."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = server_of(fitted, limits=Limits(1, 1, 60.0))
    began, ended = threading.Event(), list[str]()

    @operation(needs=Needs.NOTHING, faces=("service",))
    def slow(context: OperationContext) -> Shown:
        """Take long."""
        try:
            began.set()
            for _ in range(6000):
                time.sleep(0.01)
            ended.append("done")
        except KeyboardInterrupt:
            ended.append("stopped")
            raise
        return Shown(list)

    server.served["slow"] = Served("slow", slow, {}, False)
    app = App(server, Guard.of(own_names("127.0.0.1"), port))
    program = uvicorn.Server(config_of(app))
    thread = threading.Thread(target=program.run, args=([listening],), daemon=True)
    thread.start()
    yield Running(port, app, began, ended)
    program.should_exit = program.force_exit = True
    thread.join()


def connect(port: int) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", port))
    found.settimeout(60)
    return found


def asked(port: int, path: str, head: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{head}\r\n".encode()


def answered(connection: socket.socket) -> bytes:
    pieces = []
    while piece := connection.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds; the test hangs if it never does."""
    while not condition():
        time.sleep(0.005)


def test_a_client_that_leaves_frees_its_thread(running):
    with connect(running.port) as leaving:
        leaving.sendall(asked(running.port, "/v1/slow"))
        running.began.wait()
    until(lambda: running.ended == ["stopped"] and running.app.pool.open == 0)
    with connect(running.port) as next_one:
        next_one.sendall(asked(running.port, "/v1/search?query=crane"))
        assert b"HTTP/1.1 200" in answered(next_one)


def test_a_full_queue_is_refused_with_the_time_to_try_again(running):
    with connect(running.port) as one, connect(running.port) as two:
        one.sendall(asked(running.port, "/v1/slow"))
        running.began.wait()
        two.sendall(asked(running.port, "/v1/slow"))
        until(lambda: running.app.pool.open == 2)
        with connect(running.port) as three:
            three.sendall(asked(running.port, "/v1/search?query=crane"))
            reply = answered(three)
            assert (
                reply.startswith(b"HTTP/1.1 503") and b"retry-after: 1" in reply and b"try again in a moment" in reply
            )
        # The state of the server can be asked for all the same.
        with connect(running.port) as four:
            four.sendall(asked(running.port, "/v1/health"))
            assert answered(four).startswith(b"HTTP/1.1 200")


def test_a_request_that_takes_too_long_is_stopped(running):
    running.app.server.limits = Limits(1, 1, 0.2)
    with connect(running.port) as waiting:
        waiting.sendall(asked(running.port, "/v1/slow"))
        reply = answered(waiting)
    assert reply.startswith(b"HTTP/1.1 504") and b"takes longer than 0.2 seconds" in reply
    until(lambda: running.ended == ["stopped"])


def test_heads_without_an_end_and_what_is_no_http_are_refused(running):
    with connect(running.port) as endless:
        endless.sendall(b"GET / HTTP/1.1\r\n")
        try:
            for n in range(200):
                endless.sendall(f"X-{n}: {'y' * 1000}\r\n".encode())
            reply = answered(endless)
        except ConnectionError:
            reply = b""
    assert not reply or reply.startswith(b"HTTP/1.1 431")
    with connect(running.port) as nonsense:
        nonsense.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 not http\r\n\r\n")
        assert answered(nonsense).startswith(b"HTTP/1.1 400")
    # What the operation refuses, and what nobody could read as an address.
    for size in (MOST_HEAD // 2 + 100, MOST_HEAD + 100):
        with connect(running.port) as late:
            late.sendall(asked(running.port, "/v1/search?query=" + "q" * size))
            assert b" 414 " in answered(late)
    with connect(running.port) as still_there:
        still_there.sendall(asked(running.port, "/v1/health"))
        assert answered(still_there).startswith(b"HTTP/1.1 200")


def test_a_slow_client_is_let_go(running, monkeypatch):
    monkeypatch.setattr("sublex.service.protocol.SLOW", 0.1)
    with connect(running.port) as slow:
        slow.sendall(b"GET / HTT")
        assert answered(slow).startswith(b"HTTP/1.1 408")
    monkeypatch.setattr("sublex.service.app.SLOW", 0.1)
    running.app.server.may_write = True
    with connect(running.port) as slow:
        head = f"POST /v1/fit HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nOrigin: http://127.0.0.1:{running.port}\r\n"
        slow.sendall(
            f"{head}Content-Type: application/json\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{{".encode()
        )
        assert answered(slow).startswith(b"HTTP/1.1 408")


# Tools.

MCP = {
    "origin": ORIGIN, "content-type": "application/json", "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
}  # fmt: skip


def call(client: Client, method: str, **params: Any) -> Any:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    reply = client.ask("POST", "/mcp", b"", MCP, body)
    assert reply.status == 200 and reply.headers["x-content-type-options"] == "nosniff"
    return reply.record["result"]


def test_the_operations_that_read_are_tools(client):
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    tools = {tool["name"]: tool for tool in call(client, "tools/list")["tools"]}
    assert {"search", "explain", "versus", "doc", "compare", "senses"} <= set(tools)
    assert not {"fit", "judge", "delete", "run", "add"} & set(tools)
    assert tools["search"]["inputSchema"]["required"] == ["query"]
    done = call(client, "tools/call", name="search", arguments={"query": QUERY, "k": 2})
    assert json.loads(done["content"][0]["text"]) == client.get("/v1/search", query=QUERY, k=2).record
    for name, arguments, sentence in [
        ("search", {"query": "x", "k": 0}, "k is 0; give a whole number from 1 to 1,000."),
        ("fit", {"expressions": ["lsi"]}, "No operation 'fit'"),
        ("label", {"expression": MODEL, "action": "undo"}, "tools only read"),
        ("search", {"query": "x", "ranker": 'cross(onnx("/tmp"))'}, "a request cannot name one"),
    ]:
        failed = call(client, "tools/call", name=name, arguments=arguments)
        assert failed["isError"] and sentence in failed["content"][0]["text"]


@pytest.mark.slow
def test_tools_are_offered_on_standard_input_and_output(fitted):
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": QUERY, "k": 1}}},
    ]  # fmt: skip
    words = [sys.executable, "-m", "sublex", "mcp", str(fitted)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, **pipes) as program:  # type: ignore[call-overload]
        for line in lines:
            program.stdin.write(json.dumps(line).encode() + b"\n")
        program.stdin.flush()
        replies = {reply["id"]: reply for reply in (json.loads(program.stdout.readline()) for _ in range(2))}
    assert json.loads(replies[2]["result"]["content"][0]["text"])["result"]["hits"][0]["rank"] == 1
    assert program.returncode == 0


# The command line.


def test_without_the_extra_the_command_says_how_to_install_it(demo, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    done = demo("serve", "demo")
    assert done.code == 2 and "sublex serve needs an optional part; to install it:" in done.messages


def test_a_wrong_command_line_costs_a_sentence(demo):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = demo("serve", "demo", "--port", port)
    assert done.code == 2 and f"Port {port} of 127.0.0.1 is in use; choose another one by --port" in done.messages
    for words, sentence in [
        (["nothing", "--port", "0"], "nothing"),
        (["demo", "--port", "0", "--topics", "none.trec"], "none.trec"),
        (["demo", "--port", "99999"], "--port is 99999"),
        (["demo", "--port", "0", "--host", "no such address"], "no such address"),
        (["demo", "--port", "0", "--seconds", "0"], "--seconds is 0"),
    ]:
        failed = demo("serve", *words)
        assert failed.code == 2 and sentence in failed.messages, words


@pytest.mark.slow
def test_a_killed_server_has_kept_every_judgement_that_it_acknowledged(fitted, tmp_path):
    """The server is a process of its own, which is killed in the middle of judgements."""
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    judged = tmp_path / "mine.txt"
    docnos = engine.open(fitted).snapshot.all_docnos.tolist()
    words = ["serve", str(fitted), "--port", "0", "--judge", str(judged)]
    with subprocess.Popen([sys.executable, "-m", "sublex", *words], stdout=subprocess.PIPE, env=environment) as program:
        assert program.stdout
        line = program.stdout.readline().decode()
        port = int(line.split("127.0.0.1:")[1].split("/")[0])
        acknowledged = []
        for docno in docnos:
            body = json.dumps({"topic": "1", "docno": docno, "grade": 1}).encode()
            with connect(port) as connection:
                head = f"POST /v1/judge HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nConnection: close\r\n"
                more = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                connection.sendall(f"{head}{more}".encode() + body)
                if len(acknowledged) == 20:
                    program.send_signal(signal.SIGKILL)
                    break
                assert answered(connection).startswith(b"HTTP/1.1 200")
            acknowledged.append(docno)
    kept = set(engine.read_qrels(judged)["1"])
    assert set(acknowledged) <= kept <= {*acknowledged, docnos[20]}


def test_a_forged_index_costs_sentences(tmp_path):
    """Indexes with sound checksums and wrong values: requests get answers or problems, and the process lives."""
    import random

    import forgeries

    engine.build([{"docno": f"d{n}", "text": f"crane river {n} bird"} for n in range(30)], tmp_path / "whole")
    asked = [("search", {"query": "crane river"}), ("explain", {"query": "crane", "docno": "d3"}), ("doc", {"docno": "d4"}),
             ("terms", {}), ("info", {}), ("reading", {"query": "crane riverr"}), ("complete", {"text": "cra"}),
             ("matches", {"query": "crane", "docno": "d5"}), ("run", {"k": 5})]  # fmt: skip

    def ask(path: Path) -> list[int]:
        try:
            server = server_of(path)
        except SublexError:
            return []
        client = Client(App(server, GUARD))
        try:
            replies = [client.get(f"/v1/{name}", **fields) for name, fields in asked]
        finally:
            client.close()
        return [reply.status for reply in replies]

    for seed in range(examples(12)):
        path = tmp_path / str(seed)
        shutil.copytree(tmp_path / "whole", path)
        chance = random.Random(seed)
        what, _ = forgeries.forge(path, chance, chance.choice(["segments", "segments", "manifest"]))
        ended = child.run(lambda path=path: ask(path))
        assert not ended.signal and ended.error is None, (what, ended)
        assert set(ended.answer) <= {200, 400, 404, 409, 503}, (what, ended.answer)


# Confinement.


def test_whoever_is_confined_names_no_file_and_changes_nothing(index, tmp_path):
    registry = index.registry
    (tmp_path / "words.txt").write_text("x")
    registry._load_for(("ranker",))
    made = plugins.Registration(
        "ranker",
        "Reading",
        "rankers",
        lambda **values: None,
        (Param("file", Resource, None), Param("folder", Folder, None)),
    )
    registry._names.setdefault(("ranker", "reading"), []).append(made)
    free = engine.parse(f'Reading("{tmp_path}/words.txt")')
    assert registry.resolve("component", free).values["file"]
    with confined(Confinement({"words"})):
        for text, why in [
            (f'Reading("{tmp_path}/words.txt")', "a request cannot name files; it has words."),
            (f'Reading(folder="{tmp_path}")', "a request cannot name one."),
            (f'BM25 >> Reading(folder="{tmp_path}")', "a request cannot name one."),
        ]:
            with pytest.raises(InputError, match=why):
                registry.resolve_all(engine.parse(text))
        assert registry.resolve("component", engine.parse("Reading(words)")).values["file"] == "words"
        for change in (
            lambda: index.delete(["birds-01"]),
            lambda: index.fit("lsi(e=2)"),
            lambda: index.name("mine", "BM25"),
        ):
            with pytest.raises(InputError, match="may only read"):
                change()
        with confined(Confinement(may_change=True)):
            index.name("mine", "BM25")
    assert index.names == {"mine": "BM25"}


def test_documents_of_a_hostile_collection_reach_the_page_as_text(tmp_path):
    title = "<img src=x onerror=alert(1)>\u202e\x1b[2J"
    engine.build([Document("d1", "a crane", title), Document("</script>", "another crane")], tmp_path / "bad")
    client = Client(App(server_of(tmp_path / "bad", "bad"), GUARD))
    try:
        reply = client.get("/v1/search", query="crane", parts="true")
        assert reply.headers["content-type"] == "application/json" and b"\x1b" not in reply.body
        assert {hit["docno"] for hit in reply.record["result"]["hits"]} == {"d1", "</script>"}
        assert client.get("/v1/doc", docno="</script>").status == 200
        assert client.get(f"/v1/bad/doc/{quote('</script>')}").status in (200, 404)
    finally:
        client.close()
