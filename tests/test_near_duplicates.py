"""Near duplicates: hashes of shingles, candidates, exact checks and groups, against definitions by Python's sets."""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import examples

import sublex as engine
from sublex.contracts.base import Document
from sublex.errors import InputError, SublexError
from sublex.pipeline.near_duplicates import (
    HASHES,
    MOST_PAIRED,
    _Shingler,
    band_rows,
    candidates,
    jaccard,
    joined,
    recall_at,
)

WORDS = [f"w{number}" for number in range(200)]


def shingles_of(text: str, width: int) -> set[tuple[str, ...]]:
    """Return the runs of words of a text; a short text is one run."""
    words = re.findall(r"[a-z0-9\u0080-\U0010ffff]+", text.lower())
    size = min(width, len(words))
    return {tuple(words[k : k + size]) for k in range(len(words) - size + 1)} if words else set()


def exact(one: set, other: set) -> float:
    return len(one & other) / len(one | other)


texts = st.text("aB1é .-\n", max_size=40)


@settings(max_examples=examples(100), deadline=None)
@given(texts, texts, st.integers(1, 4))
def test_hashes_stand_for_the_runs_of_words(one, other, width):
    shingler = _Shingler(width)
    hashed = [np.unique(shingler(Document("x", "", text))) for text in (one, other)]
    sets = [shingles_of(text, width) for text in (one, other)]
    assert list(map(len, hashed)) == list(map(len, sets))
    if all(sets):
        assert jaccard(*hashed) == pytest.approx(exact(*sets))


def changed(words: list[str], times: int, rng: random.Random) -> list[str]:
    """Return words of which some are replaced."""
    words = list(words)
    for place in rng.sample(range(len(words)), times):
        words[place] = rng.choice(WORDS)
    return words


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = random.Random(1)
    documents = []
    for number in range(60):
        words = [rng.choice(WORDS) for _ in range(80)]
        documents.append((f"{number}", words))
        documents += [(f"{number}.{times}", changed(words, times, rng)) for times in (0, 1, 3, 8)[: number % 5]]
    documents += [("empty", []), ("none", ["..."])]
    given = [{"id": docno, "title": "A title", "text": " ".join(words)} for docno, words in documents]
    return engine.build(given, tmp_path_factory.mktemp("near") / "index")


@pytest.mark.parametrize(("threshold", "width"), [(0.8, 3), (0.5, 2), (1.0, 3)])
def test_groups_are_those_of_all_pairs_compared(index, threshold, width):
    sets = {d.docno: shingles_of(f"{d.title} {d.text}", width) for d in index.documents()}
    docnos, parents = list(sets), {docno: docno for docno in sets}
    least = {}
    pairs = [(a, b) for k, a in enumerate(docnos) for b in docnos[k + 1 :] if exact(sets[a], sets[b]) >= threshold]
    for a, b in pairs:
        old, new = parents[b], parents[a]
        parents = {docno: new if own == old else own for docno, own in parents.items()}
    for a, b in pairs:
        least[parents[a]] = min(least.get(parents[a], 1), exact(sets[a], sets[b]))
    wanted = {tuple(d for d in docnos if parents[d] == root): value for root, value in least.items()}
    found = index.duplicates(threshold, width)
    assert {group.docnos: group.least for group in found.groups} == pytest.approx(wanted) and len(wanted) > 20
    sizes = [len(group.docnos) for group in found.groups]
    assert sizes == sorted(sizes, reverse=True) and found.spare == sum(sizes) - len(sizes)


def test_deleted_documents_are_no_duplicates(tmp_path):
    text = "one two three four five six"
    index = engine.build([{"id": name, "text": text} for name in "abc"], tmp_path / "index")
    assert [group.docnos for group in index.duplicates().groups] == [("a", "b", "c")]
    index.delete("b")
    index.add([{"id": "d", "text": text.upper()}])
    assert [group.docnos for group in index.duplicates().groups] == [("a", "c", "d")]


def test_the_bands_find_nearly_all_pairs_at_the_threshold():
    for threshold in (0.3, 0.5, 0.8, 0.9, 1.0):
        rows = band_rows(threshold)
        assert rows == 1 or recall_at(threshold, rows) >= 0.999
        assert rows == 16 or recall_at(threshold, rows + 1) < 0.999
    # By hand: of 128 hashes, 32 bands of 4; a band of a pair at 0.8 differs with the chance 1 - 0.8⁴ = 0.5904.
    assert recall_at(0.8, 4) == pytest.approx(1 - 0.5904**32)


def test_candidates_are_the_pairs_with_a_band_in_common():
    rng = np.random.default_rng(3)
    signatures = rng.integers(0, 3, (40, HASHES)).astype(np.uint32)
    wanted = [
        [a, b]
        for a in range(40)
        for b in range(a + 1, 40)
        if any((signatures[a, k : k + 4] == signatures[b, k : k + 4]).all() for k in range(0, HASHES, 4))
    ]
    assert candidates(signatures, 4).tolist() == wanted and len(wanted) < 780
    many = np.zeros((MOST_PAIRED + 10, HASHES), np.uint32)
    pairs = candidates(many, 16)
    assert len(joined([(*pair, 1.0) for pair in pairs.tolist()])) == 1 and len(pairs) < 2 * len(many)


def test_thresholds_and_indexes_that_cannot_be_used_are_refused(index, tmp_path):
    for arguments, sentence in (((0.2,), "0.3 to 1"), ((float("nan"),), "threshold"), ((0.8, 0), "width")):
        with pytest.raises(InputError, match=sentence):
            index.duplicates(*arguments)
    bare = engine.build([{"id": "a", "text": "x"}], tmp_path / "bare", store="none")
    with pytest.raises(SublexError, match="near duplicates need"):
        bare.duplicates()


def test_duplicates_on_the_command_line(sublex, tmp_path):
    lines = [
        {"id": name, "text": "one two three four " + more}
        for name, more in (("a", "five"), ("b", "five"), ("c", "six"))
    ]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sublex("index", "tiny", str(tmp_path / "docs.jsonl"))
    code, output, _ = sublex("duplicates", "tiny")
    assert code == 0 and output.startswith(
        "2 of 3 documents are in 1 group of near duplicates: 0.8 or more of their runs of 3 words"
    )
    # Of the runs of two words, three are in all, and one is not: 3 of 5.
    found = json.loads(sublex("duplicates", "tiny", "--threshold", "0.6", "--width", "2", "--format", "json")[1])
    assert found["groups"] == [{"docnos": ["a", "b", "c"], "least": 0.6}]
    assert sublex("duplicates", "tiny", "--format", "csv")[1].splitlines() == [
        "document,group,least",
        "a,1,1.000",
        "b,1,1.000",
    ]
    assert "0.3 to 1" in sublex("duplicates", "tiny", "--threshold", "2")[2]


# Collapsing.

QRELS = "1 0 a 0\n1 0 b 2\n1 0 x 1\n2 0 c 1\n2 0 d 0\n"
RUN = {"1": ["c", "a", "b", "x", "y"], "2": ["b", "d", "a", "c"]}


def test_measures_count_one_document_of_a_group(sublex, tmp_path):
    (tmp_path / "groups.csv").write_text("document,group,least\na,1,.9\nb,1,.9\nc,2,.9\nd,2,.9\n")
    for name, names in (("plain", {}), ("collapsed", {"b": "a", "d": "c"})):
        qrels: dict[str, dict[str, int]] = {}
        for line in QRELS.splitlines():
            qid, _, docno, grade = line.split()
            own = qrels.setdefault(qid, {})
            own[names.get(docno, docno)] = max(int(grade), own.get(names.get(docno, docno), 0))
        (tmp_path / f"{name}.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q in qrels for d, g in qrels[q].items()))
        lines = []
        for qid, docs in RUN.items():
            kept = list(dict.fromkeys(names.get(docno, docno) for docno in docs))
            lines += [f"{qid} Q0 {docno} {rank} {10 - rank} one\n" for rank, docno in enumerate(kept, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = [
        str(tmp_path / name) for name in ("plain.txt", "plain.run", "collapsed.txt", "collapsed.run", "groups.csv")
    ]
    for command in ("eval", "compare"):
        measures = ("-m", "AP", "-m", "nDCG@3", "-m", "P@2", "--format", "csv")
        wanted = sublex(command, files[2], files[3], *measures)[1]
        assert sublex(command, files[0], files[1], "--collapse", files[4], *measures)[1] == wanted
        alone = sublex(command, files[0], files[1], *measures)[1]
        (tmp_path / "none.csv").write_text("document,group,least\n")
        assert (
            sublex(command, files[0], files[1], "--collapse", str(tmp_path / "none.csv"), *measures)[1]
            == alone
            != wanted
        )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"a,1\n", "does not begin with document,group"),
        (b"document,group\na,1\na,2\n", "line 3: each document stands on one line"),
        (b"document,group\na\n", "line 2: each document"),
        (b"", "does not begin with document,group"),
        (b"\xff", "is not text in UTF-8"),
        (None, "Cannot read"),
    ],
)
def test_groups_with_a_fault_are_refused_in_a_sentence(sublex, tmp_path, text, sentence):
    (tmp_path / "q.txt").write_text("1 0 a 1\n")
    (tmp_path / "r.run").write_text("1 Q0 a 1 1 one\n")
    if text is not None:
        (tmp_path / "g.csv").write_bytes(text)
    code, output, messages = sublex(
        "eval", *(str(tmp_path / n) for n in ("q.txt", "r.run")), "--collapse", str(tmp_path / "g.csv")
    )
    assert (code, output) == (2, "") and sentence in messages


def test_python_counts_one_of_each_group_as_the_command_does(tmp_path):
    qrels, run = {"1": {"a": 1, "c": 1}}, {"1": {"b": 3.0, "a": 2.0, "c": 1.0}}
    # By hand: b and a are one document, which is relevant and first; c is second.
    (tmp_path / "g.csv").write_text("document,group\na,1\nb,1\n")
    for groups in ({"a": 7, "b": 7}, str(tmp_path / "g.csv"), tmp_path / "g.csv"):
        with pytest.warns(engine.SublexWarning, match="near duplicates were left out, 1 hit and 0 judgements"):
            assert engine.measure(qrels, run, "AP", collapse=groups).mean_of("AP") == 1
        with pytest.warns(engine.SublexWarning, match="near duplicates were left out, 1 hit"):
            assert engine.compare(None, None, qrels, run, "AP", collapse=groups).mean("AP")[0] == 1
    documents = [
        engine.Document(name, text) for name, text in (("a", "one two three four"), ("b", "one two three four"))
    ]
    found = engine.build([*documents, engine.Document("c", "five six seven")], tmp_path / "index").duplicates()
    with pytest.warns(engine.SublexWarning, match="near duplicates were left out, 1 hit"):
        assert engine.measure(qrels, run, "AP", collapse=found).mean_of("AP") == 1
    with pytest.warns(engine.SublexWarning, match="so nothing was left out"):
        assert engine.measure(qrels, run, "AP", collapse={"x": 1, "y": 1}).mean_of("AP") == pytest.approx(7 / 12)
    with pytest.raises(InputError, match="The file of near duplicates"):
        engine.measure(qrels, run, "AP", collapse=3)
