"""Tests of the number of hits: a stage before an expander finds no more than the expander looks at, which changes no result.

A part of a blend with `% 0` finds none.
"""

from __future__ import annotations

import shutil

import pytest

import sublex
from sublex.errors import InputError
from sublex.expanders.sharp import Sharp

TOPICS = ("crane lake", "river of the north", "birds nest in reeds", "winter feeding grounds")


@pytest.fixture(scope="module")
def index(built_demo, tmp_path_factory):
    made = sublex.open(shutil.copytree(built_demo, tmp_path_factory.mktemp("enough") / "index"))
    made.fit("lsi(e=5)")
    return made


def looked_at(index, monkeypatch, text):
    """Return the number of hits that Sharp gets in a search by a pipeline."""
    seen, expand = [], Sharp.expand
    monkeypatch.setattr(
        Sharp, "expand", lambda self, query, context: (seen.append(len(context.docs)), expand(self, query, context))[1]
    )
    index.search("crane lake winter", text, k=5)
    monkeypatch.undo()
    return seen


def test_sharp_gets_no_more_hits_than_it_looks_at(index, monkeypatch):
    every = len(index.search("crane lake winter", "BM25", k=1000))
    assert every > 12
    for text, expected in (
        ("BM25 >> Sharp(docs=3) >> BM25", 3),
        ("BM25 % 1000 >> Sharp(docs=3) >> BM25", every),
        ("BM25 % 2 >> Sharp(docs=3) >> BM25", 2),
        ("BM25 >> Sharp(docs=3, negative=4) >> BM25", every),
        ("BM25 >> Sharp(docs=10000) >> BM25", every),
        ("BM25 >> RM3 >> BM25 >> Sharp(docs=3) >> BM25", 3),
    ):
        assert looked_at(index, monkeypatch, text) == [expected], text


@pytest.mark.parametrize("query", TOPICS)
@pytest.mark.parametrize("first", ["BM25", "Burst >> BM25", "(BM25 + 0.5*lsi(e=5))", "BM25 >> PL2", "lsi(e=5)"])
def test_fewer_hits_before_sharp_change_no_result(index, query, first):
    # A cut finds all that it is told to, so these are the hits with everything before the expander.
    own, other = (
        index.search(query, f"{text} >> Sharp(docs=4) >> BM25", k=1000) for text in (first, f"{first} % 1000")
    )
    assert own.docnos == other.docnos and own.scores.tolist() == other.scores.tolist()


def test_an_explanation_has_the_rank_that_the_stage_before_gave(index):
    ranked = index.search("crane lake winter", "BM25", k=1000).docnos
    for rank in (1, 3, 4, 12):
        tree = index.explain("crane lake winter", ranked[rank - 1], "BM25 >> Sharp(docs=3) >> BM25")
        assert f"found at rank {rank} by the stage before" in [part.label for part in tree.parts]


def test_a_part_with_depth_0_finds_nothing_and_scores_what_others_find(index):
    model = "lsi(e=5)"
    for query in TOPICS:
        found = index.search(query, "BM25", k=1000)
        own = index.search(query, f"BM25 + 0.7*{model} % 0", k=1000)
        assert sorted(own.docnos) == sorted(found.docnos)
        # After hits, a blend scores exactly these hits.
        after = index.search(query, f"BM25 % 1000 >> BM25 + 0.7*{model}", k=1000)
        assert dict(zip(own.docnos, own.scores.tolist(), strict=True)) == dict(
            zip(after.docnos, after.scores.tolist(), strict=True)
        )
        scaled = index.search(query, f"BM25 + 0.7*zscore({model} % 0)", k=1000)
        expected = index.search(query, f"BM25 % 1000 >> BM25 + 0.7*zscore({model})", k=1000)
        assert scaled.docnos == expected.docnos and scaled.scores.tolist() == expected.scores.tolist()
    assert str(sublex.parse("a + 0.2*b % 0")) == "a + 0.2*b % 0"
    assert sublex.parse("a") + 0.2 * sublex.parse("b") % 0 == sublex.parse("a + 0.2*b % 0")


def test_a_filter_reaches_a_part_with_depth_0(index):
    kept = index.search("crane lake", "BM25", k=1000).docnos[::2]
    keep = sublex.keep(lambda document: document.docno in kept)
    own = index.search("crane lake", ("BM25 + 0.7*lsi(e=5) % 0") >> keep, k=1000)
    assert own.docnos and set(own.docnos) <= {*kept}
    expected = index.search("crane lake", "BM25" >> keep, k=1000)
    assert sorted(own.docnos) == sorted(expected.docnos)


@pytest.mark.parametrize(
    "text", ["BM25 % 0", "lsi(e=5) % 0", "BM25 >> lsi(e=5) % 0", "(BM25 + PL2) % 0 >> RM3 >> BM25"]
)
def test_depth_0_outside_of_a_blend_costs_a_sentence(index, text):
    with pytest.raises(
        InputError,
        match=r"% 0 finds nothing, so it can only be a part of a blend, as in BM25 \+ 0.3\*.*; write .* here\.$",
    ):
        index.search("crane", text)


def test_a_blend_in_which_nothing_finds_costs_a_sentence(index):
    with pytest.raises(InputError, match="finds no documents by itself"):
        index.search("crane", "BM25 % 0 + 0.3*lsi(e=5) % 0")
