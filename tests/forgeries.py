"""Forged indexes: any value of any component or JSON file replaced, with all checksums right, as somebody hostile would do.

`python tests/forgeries.py NUMBER [SEED] [PLACE]` makes forgeries and tries commands on each, in forked children. No process may die, no
exception may come out of a command or a plugin, and no answer may be wrong without a message: an error, or a problem that `check` finds.
No forgery may have a kernel compiled.

With PLACE, such as representations/lda, only components in folders whose path begins so are forged; with manifest or json, only index.json
or the other JSON files. PLACE may also be shelf, whoosh, lucene or ciff, for forgeries of an index that mirrors one of another engine, of
the files of that engine, and of CIFF files.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from child import run
from command import invoke
from shared import DEMO, PLUGINS, QRELS, TOPICS, manifest_of, write_manifest

import sublex
from sublex.errors import SublexError
from sublex.index import check as checking
from sublex.index import manifest as manifests
from sublex.index.directory import Directory
from sublex.index.format import CHECKSUMS, FolderWriter
from sublex.language import plugins
from sublex.other_engines.attaching import AttachSettings, attach_index
from sublex.representations import list_files, segment_rows, sketch_files
from sublex_lucene import installed
from sublex_whoosh.backend import missing as whoosh_is_missing

# Forgeries that one child tries; seconds of the processor and of the clock that one may take, and memory that it may take beyond its own.
# On a busy machine, a second of the processor takes many of the clock.
BATCH, PATIENCE, WAIT, MEMORY = 25, 60, 600, 2 << 30
QUERY = "cranes by the river"
STORED, NAMED, COLUMNS = "text,terms,positions", "title,text,theme", "day:date,number:int,theme,weight:float"
KNOWLEDGE = """{"label": "Birds", "text": "crane wings nest feathers bird egg heron"}
{"label": "Ships", "text": "ship sail harbour crane load port cargo"}
"""
LDA, SOURCE = (
    "lda(k=2, iterations=5, min_df=8)",
    "sourcelda(known, k=2, iterations=10, model=mixture, min_df=8, evidence=0)",
)
SWG, PHRASES = f"swg(topics={LDA}, near=edges, rho=0.1)", "phrases(support=3)"
LAKI = f"laki(phrases={PHRASES}, width=30, iterations=2)"
# A phrase, and an operator of two words that needs no positions, beside a word.
OPERATORS = '"gray crane" cran* river'
IN_FIELDS = ('title:#uw8(crane seal) theme:"x t4"', 'text:"crane and" text:#uw9(crane seal)')
CONDITION = 'where("(number >= 3 or weight < 1.5) and not theme = fish or day in (2015, 2017-03..2018)")'
READING = [
    ("search", "INDEX", OPERATORS, "--language", "query"),
    ("search", "INDEX", 'title:crane title:"gray crane" theme:(birds x) river', "--language", "query"),
    ("search", "INDEX", "river day:2015..2018 number:..5 theme:x", "--language", "query"),
    ("search", "INDEX", QUERY, "-r", "BM25F(fields=[title, text, theme])"),
    ("search", "INDEX", QUERY, "-r", "PL2F(fields=[title, text])"),
    ("explain", "INDEX", QUERY, "birds-02", "-r", "BM25F(fields=[title, text])"),
    ("search", "INDEX", QUERY, "-r", f"BM25 >> {CONDITION}"), ("search", "INDEX", QUERY, "-r", "BM25 >> sort(day)"),
    ("search", "INDEX", QUERY, "-r", "BM25 >> sort(theme, descending=true)"),
    ("search", "INDEX", QUERY, "--facets", "5", "--of", "theme", "--of", "number", "--of", "day", "--of", "weight"),
    ("info", "INDEX"), ("doc", "INDEX", "birds-02"), ("terms", "INDEX", "*"), ("search", "INDEX", QUERY),
    ("search", "INDEX", QUERY, "-r", "PL2 >> RM3 >> PL2"), ("search", "INDEX", QUERY, "-r", "lsi(e=5)"),
    ("search", "INDEX", QUERY, "-k", "3", "-r", "lsi(e=5, find=approximate)"),
    ("search", "INDEX", QUERY, "-r", "BM25 + dcot(r=8)"), ("search", "INDEX", QUERY, "-r", "fisher(k=2, words=lsi(e=5))"),
    ("explain", "INDEX", QUERY, "birds-02"), ("explain", "INDEX", QUERY, "birds-02", "-r", "lsi(e=5)"), ("card", "INDEX"),
    ("card", "INDEX", "lsi(e=5)"), ("run", "INDEX", str(TOPICS), "-o", "out.run"), ("encode", "INDEX", "lsi(e=5)", "-o", "out.npz"),
    ("compare", "INDEX", str(TOPICS), str(QRELS), "-r", "BM25"), ("resource", "list", "INDEX"),
    ("search", "INDEX", QUERY, "-r", f"BM25 + {LDA[:-1]}, score=js)"), ("search", "INDEX", QUERY, "--facets", "3", "--of", LDA),
    ("search", "INDEX", QUERY, "-r", f"BM25 >> topic(1, of={LDA})"),
    ("explain", "INDEX", QUERY, "birds-02", "-r", f"{LDA[:-1]}, score=likelihood)"),
    ("card", "INDEX", LDA), ("card", "INDEX", LDA, "-o", "lda.html"), ("encode", "INDEX", LDA, "-o", "lda.npz"),
    ("search", "INDEX", QUERY, "-r", f"BM25 >> {SWG} >> BM25"), ("explain", "INDEX", QUERY, "birds-02", "-r", f"{SWG} >> BM25"),
    ("card", "INDEX", SWG), ("card", "INDEX", SWG, "-o", "swg.html"), ("senses", "INDEX", "weather", SWG, "--query", "river"),
    ("graph", "INDEX", SWG, "1", "-o", "graph.html"), ("graph", "INDEX", SWG, "0", "-o", "graph.graphml"),
    ("search", "INDEX", QUERY, "-r", SOURCE, "--facets", "2"), ("search", "INDEX", QUERY, "-r", f"BM25 >> topic(Birds, of={SOURCE})"),
    ("explain", "INDEX", QUERY, "birds-02", "-r", SOURCE), ("card", "INDEX", SOURCE), ("card", "INDEX", SOURCE, "-o", "known.html"),
    ("match", "INDEX", SOURCE, LDA), ("phrases", "INDEX", PHRASES), ("phrases", "INDEX", PHRASES, "--format", "csv"),
    ("search", "INDEX", QUERY, "-r", f"{PHRASES} >> BM25"), ("card", "INDEX", PHRASES),
    ("search", "INDEX", QUERY, "-r", LAKI, "--facets", "3"), ("explain", "INDEX", QUERY, "birds-02", "-r", f"BM25 + {LAKI}"),
    ("card", "INDEX", LAKI), ("card", "INDEX", LAKI, "-o", "laki.html"), ("encode", "INDEX", LAKI, "-o", "laki.npz"),
    ("keyphrases", "INDEX", LAKI, "the crane by the river bank"), ("hierarchy", "INDEX", LAKI, "-o", "laki.graphml"),
    ("vectors", "list", "INDEX"), ("card", "INDEX", "dense(whole)"),
    ("search", "INDEX", QUERY, "-r", "dense(whole)", "--queries", "whole=queries.npz"),
    ("search", "INDEX", QUERY, "-k", "3", "-r", "dense(whole, find=approximate)", "--queries", "whole=queries.npz"),
    ("search", "INDEX", QUERY, "-r", "BM25 + dense(small, similarity=cosine)", "--queries", "small=queries.npz"),
    ("explain", "INDEX", QUERY, "birds-02", "-r", "dense(small, similarity=l2)", "--queries", "small=queries.npz"),
    ("encode", "INDEX", "dense(small)", "-o", "dense.npz"),
    ("search", "INDEX", QUERY, "-r", "late(pieces)", "--queries", "pieces=pieces.npz"), ("card", "INDEX", "late(pieces)"),
    ("explain", "INDEX", QUERY, "birds-02", "-r", "BM25 + late(bytes)", "--queries", "bytes=pieces.npz"),
    ("search", "INDEX", QUERY, "-r", "BM25 % 100 >> late(bytes)", "--queries", "bytes=pieces.npz"),
    ("encode", "INDEX", "late(bytes)", "-o", "late.npz"),
    ("search", "INDEX", QUERY, "-r", "sparse(terms)", "--queries", "terms=terms.jsonl"), ("card", "INDEX", "sparse(steps)"),
    ("explain", "INDEX", QUERY, "birds-02", "-r", "BM25 + sparse(steps)", "--queries", "steps=terms.jsonl"),
    ("search", "INDEX", QUERY, "-r", "BM25 % 100 >> sparse(steps)", "--queries", "steps=terms.jsonl"),
    ("encode", "INDEX", "sparse(terms)", "-o", "sparse.npz"),
    ("search", "INDEX", QUERY, "-r", "chars(n=4)"), ("explain", "INDEX", QUERY, "birds-02", "-r", "BM25 + chars(n=4)"),
    ("card", "INDEX", "chars(n=4)"), ("encode", "INDEX", "chars(n=4)", "-o", "chars.npz"),
    ("search", "INDEX", QUERY, "-r", "terms"), ("explain", "INDEX", QUERY, "birds-02", "-r", "BM25 + terms"),
    ("search", "INDEX", QUERY, "-r", "BM25 >> near(terms)", "--allow-uncovered"), ("card", "INDEX", "near(terms)"),
]  # fmt: skip
WRITING = [
    ("add", "INDEX", "more.jsonl", "--duplicates", "first"), ("add", "INDEX", "more.jsonl", "--duplicates", "last"),
    ("delete", "INDEX", "birds-02"), ("merge", "INDEX"), ("merge", "INDEX", "--reorder"), ("forget", "INDEX", "dcot(r=8)"),
    ("split", "INDEX", "./left", "./right", "--overwrite"), ("join", "./joined", "INDEX", "--overwrite"),
    ("fit", "INDEX", "lsi(e=4)"), ("fit", "INDEX", "--update"),
    ("resource", "remove", "INDEX", "given"), ("vectors", "add", "INDEX", "small", "vectors.npz"),
    ("vectors", "add", "INDEX", "pieces", "late-vectors.npz"), ("vectors", "add", "INDEX", "steps", "weights.jsonl"),
    ("vectors", "add", "INDEX", "whole", "vectors.npz", "--replace"), ("vectors", "remove", "INDEX", "whole"),
    (
        "index", "INDEX", str(DEMO), "--overwrite", "--resume", "--store", STORED, "--fields", NAMED, "--columns", COLUMNS,
    ),
]  # fmt: skip
# Commands that are tried on any index that mirrors one of another engine. The forged copy of an attached index lies elsewhere, so it has no
# texts before it is attached again.
MIRRORED = [
    ("info", "INDEX"), ("doc", "INDEX", "birds-02"), ("terms", "INDEX", "*"), ("search", "INDEX", QUERY), ("card", "INDEX"),
    ("search", "INDEX", QUERY, "-r", "PL2 >> RM3 >> PL2"), ("explain", "INDEX", QUERY, "birds-02"),
    ("run", "INDEX", str(TOPICS), "-o", "out.run"), ("delete", "INDEX", "birds-02"), ("merge", "INDEX", "--reorder"),
    ("fit", "INDEX", "lsi(e=3)"), ("ciff", "export", "INDEX", "out.ciff"),
]  # fmt: skip
# Each forgery whose number is a multiple of this is of such an index.
MIRRORED_EVERY = 10


class Mirror(NamedTuple):
    """An index that mirrors one of another engine: the commands for it alone, and the folder or file with the engine's data."""

    commands: list[tuple[str, ...]]
    source: str
    docno: str = "birds-02"

    def arguments(self, words: Sequence[str], root: Path) -> list[str]:
        """Return the words of a command with the path of an index, and a docno that the index has."""
        return [{"INDEX": str(root), "birds-02": self.docno}.get(word, word) for word in words]


def attached_to(source: str, retriever: str, field: str) -> list[tuple[str, ...]]:
    """Return commands for an index that is attached to another engine's."""
    attach = ("attach", "INDEX", source, "--trust")
    return [
        (*attach, "--refresh"), (*attach, "--refresh", "--field", field), (*attach, "--overwrite", "--positions"),
        ("attach", "INDEX", "--refresh", "--trust"),
        ("search", "INDEX", QUERY, "-r", retriever), ("search", "INDEX", QUERY, "-r", f"PL2 >> RM3 >> {retriever}"),
        ("explain", "INDEX", QUERY, "birds-02", "-r", retriever),
    ]  # fmt: skip


MIRRORS = {
    "shelf": Mirror(attached_to("shelf:shelf.source", "ShelfCount", "text"), "shelf.source"),
    "whoosh": Mirror(attached_to("whoosh:whoosh.source", "WhooshBM25F", "text"), "whoosh.source"),
    "lucene": Mirror(attached_to("lucene:lucene.source", "LuceneBM25", "contents"), "lucene.source", "birds-01"),
    "ciff": Mirror(
        [("ciff", "import", "INDEX", "ciff.source", "--analyzer", "english", "--overwrite")] * 3, "ciff.source"
    ),
}
# Which mirror is forged: Lucene's seldom, because Java takes a second to start.
TURNS = ("shelf", "whoosh", "ciff", "whoosh", "ciff", "shelf", "whoosh", "ciff", "shelf", "lucene")
# How messages show an exception of a plugin.
EXCEPTION = re.compile(r"failed \(\w+: ")
# Components that say what the documents are, or what a model learned: other values make another index, and none that is wrong.
CONTENT = {
    "terms", "surfaces", "docnos", "texts", "term_sizes", "surface_sizes", "docno_sizes",
    "positions", "position_widths", "position_tails", "position_tail_sizes",
    *(f"column{k}_{part}" for k in range(4) for part in ("values", "counts", "words", "word_sizes")),
}  # fmt: skip


def make_mirrors(folder: Path) -> None:
    """Make the indexes of other engines in `folder`, as far as these are installed, and the indexes that mirror them."""
    index = sublex.open(folder / "index")
    documents = [doc for doc in index.documents() if not doc.docno.startswith("more")]
    (folder / "shelf.source").mkdir()
    texts = {doc.docno: doc.contents for doc in documents}
    (folder / "shelf.source" / "shelf.json").write_text(json.dumps({"texts": texts}))
    if not whoosh_is_missing():
        make_whoosh(folder / "whoosh.source", texts)
    if not installed.missing():
        make_lucene(folder)
    with patch.dict(os.environ, XDG_CONFIG_HOME=str(folder / "config")):
        for name in ("shelf", "whoosh", "lucene"):
            if (source := folder / f"{name}.source").exists():
                placed = AttachSettings(positions=True)
                attach_index(folder / name, f"{name}:{source}", placed, trust=True, registry=registry())
    index.to_ciff(folder / "ciff.source")
    sublex.from_ciff(folder / "ciff.source", folder / "ciff", analyzer="english")
    # Copies share their files, and a lock that they share would let only one of them be changed at a time.
    for path in folder.glob("*/lock"):
        path.unlink()


def make_whoosh(folder: Path, texts: dict[str, str]) -> None:
    """Write a Whoosh index of several segments."""
    from whoosh import fields, index

    folder.mkdir()
    opened = index.create_in(
        folder, fields.Schema(docno=fields.ID(stored=True, unique=True), text=fields.TEXT(stored=True))
    )
    for part in range(2):
        writer = opened.writer()
        for docno in list(texts)[part::2]:
            writer.add_document(docno=docno, text=texts[docno])
        writer.commit(merge=False)
    opened.close()


def make_lucene(folder: Path) -> None:
    """Write a Lucene index, in a process that runs Java."""
    script = Path(__file__).parent / "plugins" / "lucene" / "lucene_indexes.py"
    (folder / "made").mkdir()
    words = [sys.executable, script, folder / "made", installed.anserini_jar(), installed.CLASSES]
    java = {"JAVA_HOME": str(installed.java_home()), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run(words, env=os.environ | java, check=True, capture_output=True)
    (folder / "made" / "segments").rename(folder / "lucene.source")
    shutil.rmtree(folder / "made")


@cache
def registry() -> plugins.Registry:
    """Return the installed plugins and that of the shelf, which comes before Sublex's own."""
    if str(PLUGINS) not in sys.path:
        sys.path.insert(0, str(PLUGINS))
    points = [EntryPoint("shelf", "shelf", plugins.GROUP), *plugins.entry_points(group=plugins.GROUP)]
    return plugins.Registry(sorted(points, key=lambda point: not point.value.startswith(plugins.BUILT_IN)))


@contextmanager
def sketches_of_small_segments() -> Iterator[None]:
    """Have sketches, and posting lists of weights, made and read for segments of any size."""
    kept = sketch_files.LEAST_DOCUMENTS, list_files.LEAST_WEIGHTS
    sketch_files.LEAST_DOCUMENTS = segment_rows.LEAST_DOCUMENTS = list_files.LEAST_WEIGHTS = 1
    yield
    sketch_files.LEAST_DOCUMENTS, list_files.LEAST_WEIGHTS = kept
    segment_rows.LEAST_DOCUMENTS = kept[0]


def more_values(k: int) -> dict[str, Any]:
    """Return values of the columns of an added document: none, one, or several."""
    return {
        "theme": ["x", f"t{k % 9}"][: k % 3],
        "day": [None, "2017-03-14T12:00:00Z", ["1066", "9999-12-31"]][k % 3],
        "number": [-k, None, [k, 2**62]][k % 3],
        "weight": [1e300, [0.5, -0.5], None][k % 3],
    }


def documents() -> list[sublex.Document]:
    """Return the documents of the demo with values for columns of every type."""
    records = [json.loads(line) for line in DEMO.read_text().splitlines()]
    return [
        sublex.Document(
            record["id"],
            record["text"],
            record.get("title", ""),
            {
                "theme": record["theme"],
                "day": f"20{10 + k % 10}-03-0{k % 9 + 1}",
                "number": list(range(k % 3)),
                "weight": k / 7,
            },
        )
        for k, record in enumerate(records)
    ]


@sketches_of_small_segments()
def make(folder: Path) -> Path:
    """Build an index with every kind of component, and an unfinished build, in `folder`; return its path."""
    (folder / "vectors.txt").write_text("crane 1 2\nriver 2 1\n")
    (folder / "known.jsonl").write_text(KNOWLEDGE)
    (folder / "more.jsonl").write_text(
        '{"id": "new", "text": "a crane at night"}\n{"id": "birds-02", "text": "none"}\n'
    )
    index = sublex.build(documents(), folder / "index", store=STORED, fields=NAMED, columns=COLUMNS)
    index.add_resource("given", folder / "vectors.txt")
    index.add_resource("known", folder / "known.jsonl")
    for expression in (
        "lsi(e=5)",
        "dcot(r=8)",
        "fisher(k=2, words=lsi(e=5))",
        "vectors(given)",
        LDA,
        SWG,
        SOURCE,
        PHRASES,
        LAKI,
        "chars(n=4)",
        "terms",
        "near(terms)",
    ):
        index.fit(expression)
    index.add(
        [
            sublex.Document(f"more-{k}", "a crane and a seal " * (k % 7) + f"number{k}", "", more_values(k))
            for k in range(300)
        ]
    )
    docnos = [str(docno) for docno in index.snapshot.all_docnos]
    rows = np.random.default_rng(0).standard_normal((len(docnos), 5)).astype(np.float32)
    np.savez(folder / "vectors.npz", docnos=docnos, rows=rows)
    np.savez(folder / "queries.npz", ids=[QUERY], rows=rows[:1])
    index.add_vectors("whole", folder / "vectors.npz")
    index.add_vectors("small", rows[:-9], docnos[:-9], stored="int8")
    sizes = np.arange(len(docnos) - 9) % 3 + 1
    pieces = np.random.default_rng(1).standard_normal((sizes.sum(), 4)).astype(np.float32)
    tokens = [f"piece{k % 7}" for k in range(len(pieces))]
    np.savez(folder / "late-vectors.npz", docnos=docnos[:-9], rows=pieces, sizes=sizes, tokens=tokens)
    np.savez(folder / "pieces.npz", ids=[QUERY], rows=pieces[:3], sizes=[3])
    index.add_vectors("pieces", folder / "late-vectors.npz")
    index.add_vectors("bytes", folder / "late-vectors.npz", stored="int8")
    chance = np.random.default_rng(2)
    weights = {
        docno: {f"t{t}": float(w) for t, w in enumerate(chance.integers(-9, 9, 12)) if w > 0} for docno in docnos[:-9]
    }
    lines = (json.dumps({"id": docno, "vector": own}) for docno, own in weights.items())
    (folder / "weights.jsonl").write_text("\n".join(lines))
    (folder / "terms.jsonl").write_text(json.dumps({"id": QUERY, "vector": {"t1": 1.5, "t2": 0.5, "crane": 2}}))
    index.add_vectors("terms", folder / "weights.jsonl")
    index.add_vectors("steps", folder / "weights.jsonl", stored="int8")
    index.delete(["more-1", "birds-01"])
    index.store_impacts(["BM25"])
    sublex.compare(index, TOPICS, QRELS, ["BM25"])
    spill = index.path / "building" / "spill-0000"
    shutil.copytree(index.path / "segments" / "000001", spill, ignore=shutil.ignore_patterns("deleted-*"))
    manifest = manifest_of(index.path)
    entry = {key: value for key, value in manifest["segments"][0].items() if key != "deleted"} | {"name": spill.name}
    identity = sublex.building.document_source.source_of(str(DEMO), index.registry, None, False).identity()
    outcome = {
        "read": 1,
        "indexed": 0,
        "empty": [],
        "duplicate": [],
        "white_space": [],
        "problems": [],
        "notes": {},
        "fields": {},
    }
    sources = [identity, manifest["analyzer"], manifest["store"], manifest["columns"], manifest["fields"]]
    journal = {"sources": sources, "batches": 1, "docs": entry["docs"], "spills": [entry], "outcome": outcome}
    (spill.parent / "journal.json").write_text(json.dumps(journal))
    make_mirrors(folder)
    return index.path


# Forging.


def forged_array(values: np.ndarray, chance: random.Random) -> tuple[str, np.ndarray]:
    """Return what was done to an array, and the result."""
    values, n = values.copy(), len(values)
    signed = values.astype(np.int64) if values.dtype.kind in "iu" else values.astype(np.float64)
    place, other = (chance.randrange(n), chance.randrange(n)) if n else (0, 0)
    huge = chance.choice([2**7, 2**15, 2**31 - 1, 2**31, 2**40, 2**62])
    ways: list[tuple[str, Callable[[], np.ndarray]]] = [
        ("shortened", lambda: values[: chance.randrange(n)]),
        ("lengthened", lambda: np.concatenate([values, values[: chance.randrange(n) + 1]])),
        ("shuffled", lambda: values[np.array(chance.sample(range(n), n), int)]),
        ("of another type", lambda: values.astype(chance.choice(["u1", "u2", "u4", "u8", "i1", "i4", "i8", "f4", "f8"]))),
        ("negative", lambda: put(signed, {place: -chance.choice([1, 2, 200, huge])})),
        ("huge", lambda: put(signed, {place: huge})),
        ("huge, unsigned", lambda: put(signed, {place: huge}).astype(np.uint64)),
        ("of the same sum", lambda: put(signed, {place: signed[place] + huge, other: signed[other] - huge})),
        ("of the same sum, by little", lambda: same_type(values, put(signed, {place: signed[place] + 1, other: signed[other] - 1}))),
        ("swapped", lambda: put(values, {place: values[other], other: values[place]})),
        ("another value", lambda: same_type(values, put(signed, {place: signed[place] + chance.choice([-1, 1, 5])}))),
        ("the largest of its type", lambda: put(values, {place: np.iinfo(values.dtype).max if values.dtype.kind in "iu" else np.inf})),
        ("all zero", lambda: np.zeros_like(values)),
        ("random", lambda: np.frombuffer(chance.randbytes(values.nbytes), values.dtype).copy()),
    ]  # fmt: skip
    name, way = chance.choice(ways if n else ways[3:4])
    with np.errstate(all="ignore"):
        return name, way()


def put(values: np.ndarray, changes: dict[int, Any]) -> np.ndarray:
    for place, value in changes.items():
        values[place] = value
    return values


def same_type(like: np.ndarray, values: np.ndarray) -> np.ndarray:
    return values.astype(like.dtype)


ODD: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**53 + 1, 2**70, 1.5, "", "x", "../outside", "a/b", [], {}, [1], {"a": 1}, "checksums", "\x00", "é" * 300,
    [[[[]]]] * 3, float("nan"), -(2**63), "\ud800", "\x1b[31m<b>\n", [-1], [1, 2], 1e308,
]  # fmt: skip


def forged_json(value: Any, chance: random.Random) -> tuple[str, Any]:
    """Return what was done to a JSON value, and the result: one node of the tree is replaced, removed or doubled."""
    value = json.loads(json.dumps(value))
    nodes: list[tuple[str, Any, Any]] = []

    def walk(node: Any, place: str) -> None:
        members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, member in members:
            nodes.append((f"{place}.{key}", node, key))
            walk(member, f"{place}.{key}")

    walk(value, "")
    # Each place counts once, however long a list is.
    place, parent, key = chance.choices(nodes, [1 / len(parent) for _, parent, _ in nodes])[0]
    way = chance.choice(["removed", "replaced", "replaced", "replaced", "added to", "renamed"])
    if way == "removed":
        del parent[key]
    elif way == "added to" and isinstance(parent[key], int):
        parent[key] += chance.choice([-1, 1, 1000])
    elif way == "renamed" and isinstance(parent, dict):
        parent[str(chance.choice(ODD))] = parent.pop(key)
    else:
        parent[key] = chance.choice(ODD)
    return f"{place[1:]} {way}", value


def folders(root: Path) -> list[Path]:
    """Return every folder of components."""
    return sorted(path.parent for path in root.rglob(f"{CHECKSUMS}.npy"))


def write(path: Path, text: str) -> None:
    """Write a new file in the place of one that the copies of the index share."""
    path.unlink()
    path.write_text(text)


def forge(root: Path, chance: random.Random, place: str = "") -> tuple[str, bool]:
    """Forge one thing in an index. Return what it is, and whether a wrong answer may come of it without a message."""
    if place and place not in ("manifest", "json"):
        return forge_component(
            root, chance, [folder for folder in folders(root) if str(folder).startswith(str(root / place))]
        )
    kind = place or chance.choice(["component"] * 7 + ["manifest"] * 2 + ["json"])
    if kind == "manifest":
        what, forged = forged_json(manifest_of(root), chance)
        checked = forged | {"checksum": manifests.checksum_of(forged)} if isinstance(forged, dict) else forged
        write(root / "index.json", json.dumps(checked))
        return f"index.json: {what}", not what.startswith(("segments", "statistics", "store"))
    if kind == "json":
        # The order in which a folder lists its files differs from run to run.
        path = chance.choice(sorted([*root.glob("building/*.json"), *root.glob("derived/**/*.json")]))
        what, forged = forged_json(json.loads(path.read_text()), chance)
        write(path, json.dumps(forged))
        return f"{path.relative_to(root)}: {what}", True
    return forge_component(root, chance, folders(root / "segments") if chance.random() < 0.6 else folders(root))


def forge_mirror(root: Path, chance: random.Random, source: Path) -> tuple[str, bool]:
    """Forge a component of an index that mirrors another, what its manifest says of the other engine, or that engine's file.

    Return the same as `forge`.
    """
    manifest = manifest_of(root)
    way = chance.choice(["component", "component", "manifest", "file"])
    if way == "component":
        return forge_component(root, chance, folders(root / "segments"))
    if way == "manifest" and "attached" in manifest:
        what, manifest["attached"] = forged_json(manifest["attached"], chance)
        write_manifest(root, manifest)
        return f"index.json: attached.{what}", True
    # Whoosh's table of contents is a pickle. It may run any code, which is why it needs --trust.
    files = (
        [source]
        if source.is_file()
        else sorted(path for path in source.iterdir() if path.suffix not in (".toc", ".json"))
    )
    return (
        (forge_bytes(chance.choice(files), chance), True)
        if files
        else forge_component(root, chance, folders(root / "segments"))
    )


def forge_bytes(path: Path, chance: random.Random) -> str:
    """Change some bytes of a file, and return what was done."""
    data = bytearray(path.read_bytes())
    place = chance.randrange(len(data) + 1)
    size = chance.choice([1, 1, 1, 2, 4, 8, 100])
    way = chance.choice(["replaced", "replaced", "zeroed", "filled", "inserted", "removed", "cut"])
    new = {"zeroed": bytes(size), "filled": b"\xff" * size, "removed": b"", "cut": b""}.get(way, chance.randbytes(size))
    data[place : len(data) if way == "cut" else place if way == "inserted" else place + size] = new
    path.unlink()
    path.write_bytes(data)
    return f"{path.parent.name}/{path.name} {way} at {place}"


def forge_component(root: Path, chance: random.Random, below: list[Path]) -> tuple[str, bool]:
    """Forge one component in some folders, or exchange two, and make checksums and manifest right again."""
    folder = chance.choice(below)
    arrays = {path.stem: np.load(path) for path in sorted(folder.glob("*.npy")) if path.stem != CHECKSUMS}
    name = chance.choice(sorted(arrays))
    if name == "_values" and chance.random() < 0.8:
        what, value = forged_json(json.loads(arrays[name].tobytes()), chance)
        arrays[name] = np.frombuffer(json.dumps(value).encode(), np.uint8)
    elif chance.random() < 0.1:
        other = chance.choice(sorted(arrays))
        what, arrays[name], arrays[other] = f"exchanged with {other}", arrays[other], arrays[name]
    else:
        what, arrays[name] = forged_array(arrays[name], chance)
    kept = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.suffix != ".npy"}
    inner = [path for path in folder.iterdir() if path.is_dir()]
    for path in folder.glob("*.npy"):
        path.unlink()
    aside = folder.with_name("aside")
    folder.rename(aside)
    with FolderWriter(Directory(folder)) as writer:
        for each, values in arrays.items():
            writer.put(each, values)
        entry = writer.finish()._asdict()
    for path in inner:
        (aside / path.name).rename(folder / path.name)
    for file, data in kept.items():
        (folder / file).write_bytes(data)
    shutil.rmtree(aside)
    register(root, folder, entry)
    place = folder.relative_to(root)
    return f"{place}/{name} {what}", place.parts[0] != "segments" or name in CONTENT


def register(root: Path, folder: Path, entry: dict[str, Any]) -> None:
    """Enter the sizes and the checksum of a forged folder where they are recorded."""
    place = folder.relative_to(root).parts
    if (folder / "entry.json").exists():
        # Derived data: impacts, kept runs, sketches.
        write((folder / "entry.json"), json.dumps(entry))
        return
    if place[0] == "building":
        journal = json.loads((root / "building" / "journal.json").read_text())
        journal["spills"][0]["data"] = entry
        write((root / "building" / "journal.json"), json.dumps(journal))
        return
    manifest = manifest_of(root)
    if place[0] == "segments":
        (segment,) = (segment for segment in manifest["segments"] if segment["name"] == place[1])
        (segment["deleted"] if len(place) > 2 else segment)["data"] = entry
    elif place[2] == "model":
        manifest["fitted"][place[1]]["model"] = entry
    else:
        manifest["fitted"][place[1]]["rows"][place[2]]["segments"][place[3]]["data"] = entry
    write_manifest(root, manifest)


# Trying.


def answers(root: Path) -> list[Any]:
    """Return answers of rankers and look-ups, which a forged index gives too, or refuses."""
    index = sublex.open(root)
    found: list[Any] = [
        [(hit.docno, hit.score) for hit in index.search(QUERY, ranker)] for ranker in ("BM25", "PL2", "DirichletLM")
    ]
    # With stored impacts, words beside operators have theirs copied.
    found.append([(hit.docno, hit.score) for hit in index.search("(cran* river)", "BM25", language="query")])
    # A field may begin at any of several positions that no term has.
    found += [
        [(hit.docno, hit.score) for hit in index.search(query, "BM25", language="query")]
        for query in (IN_FIELDS if index.fields else ())
    ]
    found.append([index.term(term) for term in ("crane", "river", "seal")])
    # As many positions as frequencies, or an error.
    found.append([positions_of(index, term) for term in ("crane", "river", "seal")])
    found.append([fields_of(index, term) for term in ("crane", "river", "seal")])
    found.append([list(index.snapshot.column(name).words[:3]) for name in index.snapshot.columns])
    found.append([(docno in index) for docno in ("birds-01", "birds-02", "more-1", "more-2")])
    return found


def fields_of(index: sublex.Index, term: str) -> list[list[int]]:
    """Return the frequencies of a term in each field of each segment that has it, with the lengths of the field."""
    segments = [(segment, segment.find(term)) for segment in index.snapshot.segments]
    return [
        [
            *segment.field_tfs(name, np.array([n])).tolist(),
            *segment.field_lengths(name).tolist(),
        ]
        for segment, n in segments
        for name in index.fields
        if n is not None
    ]


def positions_of(index: sublex.Index, term: str) -> list[list[int]]:
    """Return the positions of a term in each segment that stores positions."""
    segments = [(segment, segment.find(term)) for segment in index.snapshot.segments if segment.has_positions]
    return [segment.positions(n, n + 1).tolist() for segment, n in segments if n is not None]


def reading(what: str) -> list[tuple[str, ...]]:
    """Return the commands that read what was forged: those that name the model, if it is one."""
    model = re.match(r"representations/(\w+)-", what)
    return [words for words in READING if model and any(f"{model[1]}(" in word for word in words)] or READING


def unforeseen_code() -> set[str]:
    """Return the kernels that were compiled for types that they do not declare, with these types.

    A forgery whose types reach a kernel has it compiled. This takes a minute of a busy machine or all memory that is allowed, and the
    machine code is kept, so that the next run of the same forgery finds nothing.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("sublex")]
    kernels = {
        id(value): value for module in modules for value in vars(module).values() if getattr(value, "declared", None)
    }
    return {
        f"{kernel.py_func.__name__}{tuple(types)}"
        for kernel in kernels.values()
        for types in getattr(kernel, "overloads", ())
        if tuple(types) not in set(kernel.declared)
    }


def limit_memory(limited: bool = True) -> None:
    """Allow this process MEMORY more bytes than it has; or any number, as Java reserves far more than it uses."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY if limited else most, most))


@sketches_of_small_segments()
def attempt(whole: Path, place: Path, seed: int, rights: dict[str, list[Any]], below: str = "") -> list[str]:
    """Make one forgery and try it. Return what was found wrong; an exception or a signal ends the child."""
    turn = TURNS[seed // MIRRORED_EVERY % len(TURNS)] if seed % MIRRORED_EVERY == 0 else ""
    mirror = below if below in MIRRORS else "" if below or turn not in rights else turn
    chance = random.Random(seed)
    shutil.rmtree(place, ignore_errors=True)
    # Sublex never writes into a file that is there, so the copies share the files of the whole index.
    shutil.copytree(whole.parent, place, copy_function=os.link)
    os.chdir(place)
    os.environ["XDG_CONFIG_HOME"] = str(place / "config")
    root = place / (mirror or "index")
    what, content = forge_mirror(root, chance, place / MIRRORS[mirror].source) if mirror else forge(root, chance, below)
    (place.parent / f"begun-{seed}").write_text(what)
    limit_memory(mirror != "lucene")
    findings, foreseen = [], unforeseen_code()
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(WAIT)
    try:
        problems = checking.check(root)
        if any("\n" in problem for problem in problems):
            findings.append(f"{what}: check says {problems}")
        odd = [line for line in problems if "damaged (" in line and "in frame" not in line]
        findings += [f"{what}: check met an exception: {line}" for line in odd]
    except SublexError as error:
        problems = [str(error)]
    right = rights[root.name]
    try:
        answered = answers(root)
    except SublexError:
        answered = right
    if answered != right and not problems and not content:
        findings.append(f"{what}: wrong answers, and check finds nothing")
    if mirror:
        tried = [*chance.sample(MIRRORED, 2), *chance.sample(MIRRORS[mirror].commands, 2), *chance.sample(MIRRORED, 1)]
    else:
        able = reading(what)
        tried = [*chance.sample(able, min(3, len(able))), *chance.sample(WRITING, 1)]
    for words in tried:
        done = invoke(*MIRRORS.get(mirror, Mirror([], "")).arguments(words, root))
        refused = any(line.startswith("sublex: ") for line in done.messages.splitlines())
        if done.code not in (0, 1, 2) or done.code == 2 and not refused:
            findings.append(f"{what}: {words} ended with {done.code}: {done.messages[-300:]}")
        elif EXCEPTION.search(done.messages):
            findings.append(f"{what}: {words} met an exception: {done.messages[-300:]}")
    findings += [f"{what}: compiled {kernel}" for kernel in sorted(unforeseen_code() - foreseen)]
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)
    (place.parent / f"begun-{seed}").unlink()
    shutil.rmtree(place)
    return findings


def preload() -> None:
    """Find the installed plugins once, and not for each command."""
    known = registry()
    plugins.load = lambda builtin=True: known  # type: ignore[misc, assignment]


def batch(whole: Path, folder: Path, seeds: list[int], right: dict[str, list[Any]], place: str = "") -> list[str]:
    """Try forgeries in a child; return the findings."""

    def work() -> list[str]:
        preload()
        found = []
        for seed in seeds:
            try:
                found += [
                    f"seed {seed}: {finding}" for finding in attempt(whole, folder / str(seed), seed, right, place)
                ]
            except Exception as error:
                what = (folder / f"begun-{seed}").read_text() if (folder / f"begun-{seed}").exists() else "(forging)"
                trace = error.__traceback__
                while trace and trace.tb_next:
                    trace = trace.tb_next
                at = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
                found.append(f"seed {seed}: {what}: {type(error).__name__}: {str(error)[:200]} at {at}")
        return found

    ended = run(work)
    if ended.signal or ended.error:
        begun = [
            f"{path.name}: {path.read_text()}" for seed in seeds for path in [folder / f"begun-{seed}"] if path.exists()
        ]
        return [f"{ended.signal or repr(ended.error)} in {begun}"]
    return ended.answer


def findings(whole: Path, folder: Path, number: int, first: int = 0, workers: int = 1, place: str = "") -> list[str]:
    """Try `number` forgeries of an index, and return the findings."""
    right = {name: answers(whole.parent / name) for name in ("index", *MIRRORS) if (whole.parent / name).exists()}
    seeds = list(range(first, first + number))
    batches = [seeds[begin : begin + BATCH] for begin in range(0, number, BATCH)]
    with ThreadPool(workers) as pool:
        return [
            found for each in pool.imap(lambda own: batch(whole, folder, own, right, place), batches) for found in each
        ]


def warm_mirrors(whole: Path, place: Path) -> None:
    """Run the commands for every mirror on what is not forged. They must succeed, or the forgeries would try nothing.

    Those for all mirrors may be refused: Sublex deletes nothing from an attached index, and a CIFF file has no texts.
    """
    for name in MIRRORS:
        if (whole.parent / name).exists():
            copy = Path(shutil.copytree(whole.parent, place))
            os.chdir(copy)
            with patch.dict(os.environ, XDG_CONFIG_HOME=str(copy / "config")):
                for words in (*MIRRORS[name].commands, *MIRRORED):
                    done = invoke(*MIRRORS[name].arguments(words, copy / name))
                    assert done.code == 0 or words in MIRRORED, (name, words, done)
            shutil.rmtree(copy)


@sketches_of_small_segments()
def main(number: int, first: int = 0, place: str = "") -> int:
    """Try forgeries, print the findings, and return 1 if there are any."""
    with tempfile.TemporaryDirectory(prefix="sublex-forged-") as folder:
        whole = make(_made(Path(folder) / "whole"))
        preload()
        for words in (*READING, *WRITING):
            # Compiles every kernel once, and not in each child.
            copy = Path(shutil.copytree(whole.parent, Path(folder) / "warm"))
            os.chdir(copy)
            done = invoke(*(str(copy / "index") if word == "INDEX" else word for word in words))
            assert done.code == 0 or {"remove", "--resume"} & set(words), (words, done)
            shutil.rmtree(copy)
        warm_mirrors(whole, Path(folder) / "warm")
        os.chdir(folder)
        found = findings(whole, _made(Path(folder) / "forged"), number, first, len(os.sched_getaffinity(0)), place)
        assert checking.check(whole) == [], "a file of the whole index was written"
    # Findings may hold halves of characters.
    text = "\n".join([*found, f"{number:,} forgeries, {len(found):,} findings"])
    print(text.encode(errors="backslashreplace").decode())
    return bool(found)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    os.fsync = lambda file: None  # type: ignore[assignment]
    sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:]))
