"""Tests of the plugin swg: senses, expansion within a topic, choices of the user, the card, commands and hostile input."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, vstack
from scipy.sparse.csgraph import connected_components
from shared import load_stored, stored_by

import sublex
from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import synonyms
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.index.check import check
from sublex.language.expression import Call
from sublex.pipeline.index import Index
from sublex_swg.common_words import topics_of_common_words
from sublex_swg.contexts import closeness, informativeness
from sublex_swg.drawing import Picture, pictures, svg
from sublex_swg.expander import SWG
from sublex_swg.layout import place_words
from sublex_swg.windows import read_sentences
from sublex_swg.word_senses import WordSenses

WATER = "river shore boat mud reed flood otter bridge stream heron".split()
MONEY = "loan credit teller coin deposit vault branch interest money client".split()
TOPICS = "lda(k=2, iterations=200, max_df=1.0)"
# The paper's edges and penalty. Tests of contexts are below.
PAPER = f"topics={TOPICS}, rho=0.1, near=edges"
MODEL = f"swg({PAPER})"


def texts(number: int = 160):
    """Return documents about water and about money; words of a field come in pairs, and both fields have a bank."""
    chance = np.random.default_rng(0)
    for k in range(number):
        field = (WATER, MONEY)[k % 2]
        pairs = chance.choice(5, 3, replace=False)
        words = [field[2 * pair + side] for pair in pairs for side in (0, 1) if chance.random() < 0.9]
        if chance.random() < 0.7 and 0 in pairs:
            words += ["bank"]
        yield {"id": f"d{k:03}", "text": " ".join(words * 4)}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of documents about water and money with the model, which tests only read."""
    index = sublex.build(list(texts()), tmp_path_factory.mktemp("swg") / "talk", analyzer="plain")
    index.fit(MODEL)
    return index


def water(index: Index) -> int:
    """Return the number of the topic about water."""
    graphs = index.fitted_model(MODEL).model.graphs
    return int(graphs.df[:, graphs.numbers["river"]].argmax())


def added(index: Index, text: str, options: str = "") -> list[QueryTerm]:
    """Return the terms that are added to a query."""
    terms = index.answer(text, f"swg({options}{PAPER}) >> BM25").query.terms
    return [term for term in terms if term.origin != "query"]


# Senses, by hand.


def two_topics() -> WordSenses:
    """Return senses of four words in two topics, with edges bank-river in topic 0 and bank-money in topic 1."""
    first = np.zeros((4, 4))
    first[0, 1] = first[1, 0] = 3.0
    first[0, 3] = first[3, 0] = -1.0
    second = np.zeros((4, 4))
    second[0, 2] = second[2, 0] = 2.0
    graphs = csr_array(vstack([csr_array(first), csr_array(second)], format="csr"))
    df = np.array([[4, 6, 0, 2], [8, 0, 5, 2]])
    return WordSenses(["bank", "river", "money", "the"], graphs, df, np.array([10, 12]))


def test_the_score_of_a_sense_is_that_of_the_formula():
    senses = two_topics()
    assert [sense.topic for sense in senses.senses(0)] == [1, 0]
    found = {sense.topic: sense.score for sense in senses.senses(0, [1, 0, 3])}

    def log(documents, total):
        return np.log((documents + 0.5) / (total + 1))

    assert found[0] == pytest.approx(log(4, 12) + log(6, 6) + 3 / 2 + log(2, 4) - 1 / 2)
    assert found[1] == pytest.approx(log(8, 12) + log(0, 6) + log(2, 4))
    assert [sense.topic for sense in senses.senses(0, [1])] == [0, 1]
    # The edge of money and bank is in the second topic, below the rows of the first one.
    assert [tuple(sense) for sense in senses.senses(2, [0])] == [(1, 5, pytest.approx(log(5, 5) + log(8, 12) + 2 / 2))]
    assert [sense.topic for sense in senses.senses(3)] == []
    assert senses.neighbours(0, 0) == [(1, 3.0)] and senses.top_words(1, 2) == [0, 2]


def test_damaged_graphs_are_refused():
    good = two_topics()
    model = SWG(topics=Call("lda"), terms=1, weight=1.0, sense="auto", senses=[], rho=0.1, near="edges", documents=9)
    model.graphs, model.surfaces = good, good.vocabulary
    values = stored_by(model) | {"graphs": good.graphs.astype(np.float32), "follows": good.follows.astype(np.int32)}
    load_stored(model, values)
    wide = csr_array((np.ones(1, np.float32), [9], [0, *[1] * 8]), shape=(8, 99))
    for lie in (
        {"df": good.df[:1]},
        {"graphs": csr_array(values["graphs"][:5])},
        {"graphs": wide},
        {"sizes": good.sizes[:1]},
        {"says": good.says[:3]},
        {"follows": csr_array((3, 4), dtype=np.int32)},
    ):
        with pytest.raises(IndexCorrupt, match="where the model has"):
            load_stored(model, values | lie)


# Expansion.


def test_the_other_words_choose_the_sense(fitted):
    topic = water(fitted)
    for other, field, sense in (("flood", WATER, topic), ("credit", MONEY, 1 - topic)):
        found = added(fitted, f"bank {other}")
        assert found and {term.term for term in found} <= set(field)
        assert all(term.origin.endswith(f" in topic {sense}") for term in found)
        assert any(term.origin.startswith("swg: bank") for term in found)


def test_a_word_in_the_expression_overrules_the_query(fitted):
    topic = water(fitted)
    for text in ("bank", "bank interest"):
        found = added(fitted, text, f'senses=["bank:{topic}"], ')
        from_bank = {term.term for term in found if term.origin == f"swg: bank in topic {topic}"}
        assert from_bank and from_bank <= set(WATER)
    assert added(fitted, "Bank", f'senses=["BANK:{topic}"], ') == added(fitted, "bank", f'senses=["bank:{topic}"], ')


def test_an_explanation_shows_chosen_and_rejected_senses(fitted):
    topic = water(fitted)
    docno = fitted.search("bank flood", f"{MODEL} >> BM25").docnos[0]
    stage = fitted.explain("bank flood", docno, f"{MODEL} >> BM25").parts[0]
    assert stage.kind == "evidence"
    bank, _ = stage.parts
    assert bank.label.startswith(f"bank is taken in topic {topic}: ")
    assert set(bank.label.partition(": ")[2].split(", ")) <= set(WATER)
    (rejected,) = bank.parts
    assert rejected.label.startswith(f"not in topic {1 - topic}: ") and rejected.kind == "evidence"
    assert set(rejected.label.partition(": ")[2].split(", ")) <= set(MONEY)
    assert bank.value > rejected.value > 0 and bank.value + rejected.value == pytest.approx(1, abs=1e-3)
    forced = fitted.answer("bank flood", f'swg(senses=["bank:{1 - topic}"], {PAPER}) >> BM25').query
    assert forced.evidence[0].label.startswith(f"bank is taken by senses in topic {1 - topic}: ")
    # The same terms with other evidence are the same query.
    plain = Query(forced.text, forced.terms)
    assert plain == forced and hash(plain) == hash(forced) and repr(plain) == repr(forced) and not plain.evidence


def test_the_main_sense_ignores_the_other_words(fitted):
    model = fitted.fitted_model(f"swg(sense=main, {PAPER})").model
    bank, flood = (model.graphs.numbers[word] for word in ("bank", "flood"))
    assert model.chosen({bank: 1.0, flood: 1.0})[bank] == model.graphs.senses(bank)[0].topic


def test_weights_are_sums_of_edges_scaled_to_the_largest(fitted):
    topic = water(fitted)
    graph = fitted.fitted_model(MODEL).model.graphs
    dense = graph.graph(topic).toarray()
    numbers = graph.numbers
    found = fitted.pipeline(f"swg(terms=4, weight=0.5, {PAPER}) >> BM25").answer(
        Query("", (QueryTerm("river", 2.0), QueryTerm("boat", 1.0))), 10
    )
    terms = [term for term in found.query.terms if term.origin != "query"]
    sums = 2 * np.maximum(dense[numbers["river"]], 0) + np.maximum(dense[numbers["boat"]], 0)
    for word in ("river", "boat"):
        sums[numbers[word]] = 0
    assert len(terms) <= 4 and terms[0].weight == pytest.approx(0.5)
    assert [term.weight for term in terms] == pytest.approx(0.5 * np.sort(sums)[::-1][: len(terms)] / sums.max())
    assert {term.term for term in terms} == {graph.vocabulary[k] for k in np.argsort(-sums)[: len(terms)]}


def test_queries_without_known_words_and_weights_of_0_stay_as_they_are(fitted):
    for text in ("", "zebra", "the of"):
        assert added(fitted, text) == []
    assert added(fitted, "bank river", "terms=0, ") == added(fitted, "bank river", "weight=0, ") == []
    negative = Query("", (QueryTerm("river", -1.0),))
    assert fitted.pipeline(f"{MODEL} >> BM25").answer(negative, 10).query == negative


def test_terms_of_the_query_are_not_added_again(fitted):
    terms = [term.term for term in fitted.answer("river shore boat bank", f"{MODEL} >> BM25").query.terms]
    assert len(terms) == len(set(terms)) > 4


# The model on disk.


def test_the_words_of_operators_have_senses(fitted):
    both = synonyms(["bank", "flood"])
    asked = Query("bank flood", (QueryTerm(both, 2.0),))
    made = fitted.answer(asked, f"{MODEL} >> BM25").query
    words = fitted.answer("bank flood", f"{MODEL} >> BM25").query
    assert made.terms[0] == (both, 2.0, "query")
    assert made.terms[1:] == words.terms[2:] and len(made.terms) > 2


def test_the_bytes_are_the_same_for_any_number_of_workers(tmp_path):
    found = []
    for workers in (1, 2):
        index = sublex.build(list(texts(60)), tmp_path / str(workers), analyzer="plain")
        index.fit(MODEL, workers=workers)
        found.append(index.fitted)
    assert found[0] == found[1]


def test_additions_and_merges_leave_the_expansion_alone(tmp_path):
    index = sublex.build(list(texts(60)), tmp_path / "talk", analyzer="plain")
    index.fit(MODEL)
    before = added(index, "bank flood")
    index.add([{"id": "new", "text": "a bank of another kind"}])
    index.merge()
    assert added(sublex.open(index.path), "bank flood") == before != [] and check(index.path) == []


def test_the_card_lists_topics_with_words_and_edges(fitted):
    card = fitted.card(MODEL)
    assert [row["topic"] for row in card["topics"]] == [0, 1]
    row = card["topics"][water(fitted)]
    assert set(row["words"]) <= {*WATER, "bank"} and row["edges"] > 3 and row["documents"] >= 70
    assert all(edge.count("-") == 1 for edge in row["strongest edges"])


def test_a_topic_without_documents_has_an_empty_graph(tmp_path):
    index = sublex.build(list(texts(60)), tmp_path / "talk", analyzer="plain")
    many = "swg(topics=lda(k=12, iterations=20, alpha=50, max_df=1.0))"
    index.fit(many)
    assert any(row["documents"] == 0 and row["edges"] == 0 for row in index.card(many)["topics"])
    assert index.search("bank river", f"{many} >> BM25")


# Mistakes.


def test_mistakes_cost_one_sentence(fitted):
    topic = water(fitted)
    for senses, message in (
        ('["bank"]', r"swg: senses=bank is not a word with the number of a topic; write it as in \[\"bank:2\"\]"),
        ('["bank:7"]', "swg: bank has no sense in topic 7; the topics of its senses: 0, 1"),
        (f'["heron:{1 - topic}"]', f"swg: heron has no sense in topic {1 - topic}; the topics of its senses: {topic}"),
        (
            '["bankk:0"]',
            r"swg: lda.* does not know bankk; it leaves out rare words, .* lower its min_df, .*; did you mean bank\?",
        ),
        ('["bank:0", "bank:1"]', "swg: senses names two topics for bank; leave one of them out"),
    ):
        with pytest.raises(InputError, match=message):
            added(fitted, "bank", f"senses={senses}, ")
    with pytest.raises(IndexProblem, match="No swg.* fitted"):
        fitted.search("bank", "swg(topics=lda(k=3)) >> BM25")


def test_topics_come_from_a_model_of_topics(tmp_path):
    index = sublex.build(list(texts(60)), tmp_path / "talk", analyzer="plain")
    with pytest.raises(InputError, match=r"swg: lsi\(e=2\) is not a model of topics; name one, as in swg\(topics=lda"):
        index.fit("swg(topics=lsi(e=2))")


def test_one_document_has_no_graph(tmp_path: Path):
    index = sublex.build([{"id": "a", "text": "river bank " * 3}], tmp_path / "one", analyzer="plain")
    index.fit("swg(topics=lda(k=2, min_df=1, max_df=1.0))")
    assert len(index.search("river", "swg(topics=lda(k=2, min_df=1, max_df=1.0)) >> BM25")) == 1


# Commands and pictures.


def test_senses_are_listed_with_neighbours_and_documents(command, fitted):
    topic = water(fitted)
    done = command("senses", fitted.path, "Bank", MODEL, "--query", "flood", "--format", "json")
    rows = json.loads(done.output)
    assert done.code == 0 and [row["topic"] for row in rows] == [topic, 1 - topic]
    assert set(rows[0]["neighbours"].split(", ")) <= set(WATER)
    assert sum(row["chance"] for row in rows) == pytest.approx(1, abs=1e-3) and rows[0]["chance"] > 0.5
    assert all(document in fitted for document in rows[0]["examples"].split(", "))
    assert "river" in command("senses", fitted.path, "bank", MODEL).output
    for word, message in (
        ("bankk", "No document of .* contains bankk"),
        ("", "The analyzer leaves nothing"),
        ("river bank", "river bank is 2 words"),
    ):
        done = command("senses", fitted.path, word, MODEL)
        assert done.code != 0 and re.search(message, done.messages)
    done = command("senses", fitted.path, "bank", TOPICS)
    assert done.code != 0 and "has no word graphs; name a fitted swg" in done.messages


def test_a_graph_is_drawn_and_exported(command, fitted, tmp_path):
    topic = water(fitted)
    for kind in ("html", "svg", "graphml"):
        done = command("graph", fitted.path, MODEL, str(topic), "-o", f"graph.{kind}")
        assert (done.code, done.output) == (0, f"graph.{kind} shows topic {topic} of {MODEL}\n")
    page = (tmp_path / "graph.html").read_text()
    assert (
        page.count("<svg") == 2
        and ">river</text>" in page
        and "<script" not in page
        and "http:" not in page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    )
    ElementTree.parse(tmp_path / "graph.svg")
    space = "{http://graphml.graphdrawing.org/xmlns}"
    drawn = ElementTree.parse(tmp_path / "graph.graphml").getroot()
    graph = fitted.fitted_model(MODEL).model.graphs.graph(topic)
    assert len(list(drawn.iter(f"{space}edge"))) == graph.nnz // 2
    assert "river" in {data.text for data in drawn.iter(f"{space}data")}
    # A file that Sublex wrote is replaced.
    assert command("graph", fitted.path, MODEL, str(topic), "-o", "graph.html").code == 0


def test_mistakes_of_graph_cost_one_sentence(command, fitted, tmp_path):
    (tmp_path / "mine.html").write_text("mine")
    for topic, output, message in (
        ("7", "a.html", "has no topic 7; its topics are 0 to 1."),
        ("0", "a.pdf", "a.pdf does not end in .html, .svg or .graphml; choose one of these."),
        ("0", "mine.html", "mine.html is there, and nothing shows that Sublex wrote it"),
    ):
        done = command("graph", fitted.path, MODEL, topic, "-o", output)
        assert done.code != 0 and message in done.messages and not done.output
    assert (tmp_path / "mine.html").read_text() == "mine"


@pytest.mark.parametrize("seed", range(4))
def test_words_of_a_drawing_do_not_overlap(seed):
    chance = np.random.default_rng(seed)
    widths = chance.uniform(20, 120, 30)
    edges = [(int(a), int(b)) for a, b in chance.integers(0, 30, (26, 2)) if a != b]
    middles, height = place_words(widths, edges, 1000)
    for i in range(30):
        for j in range(i):
            apart = np.abs(middles[i] - middles[j])
            assert apart[0] >= (widths[i] + widths[j]) / 2 - 1e-3 or apart[1] >= 20, (i, j)
    assert (middles >= 0).all() and middles[:, 1].max() <= height


def test_the_page_of_a_card_shows_all_topics(command, fitted, tmp_path):
    assert command("card", fitted.path, MODEL, "-o", "card.html").code == 0
    assert (tmp_path / "card.html").read_text().count("<h2") == 2


def test_the_shell_lists_senses_and_ranks_by_one(fitted, command):
    from sublex.shell.commands import add_plugins, built_in
    from sublex.shell.session import Session
    from sublex.shell.settings import ShellSettings

    session = Session(lambda: fitted, fitted.path, built_in(), ShellSettings())
    assert add_plugins(session.commands, fitted.registry) == []
    topics = {row[0] for row in session.run(":sense bank").rows}
    assert topics == {0, 1}
    twin = shlex.split(session.run(":to-cli").data)
    listed = "".join(f"{line.text}\n" for line in session.run(":sense bank").lines)
    assert command(*twin[1:]).output == listed != ""
    session.run("bank")
    for topic in (water(fitted), 1 - water(fitted)):
        session.run(f":sense bank {topic}")
        expression = session.settings.expression
        assert expression.startswith("swg(topics=lda(k=2,") and f", senses=[bank:{topic}]" in expression
        words = set(fitted.document(session.answer.hits[0].docno).text.split())
        assert bool(words & set(WATER)) == (topic == water(fitted))
    for line, message in (
        (":sense", "Write :sense WORD"), (":sense bank 7", "no sense of the topic 7"), (":sense zzzz", "zzzz"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            session.run(line)


# Frequent words, contexts, reading order, and pictures in one piece.

CONTEXTS = "swg(topics=lda(k=2, iterations=200, max_df=0.4))"
GROUPS = [["river", "shore", "boat"], ["mud", "reed", "flood"], ["otter", "bridge", "stream"],
          ["loan", "credit", "teller"], ["coin", "deposit", "vault"], ["branch", "interest", "client"]]  # fmt: skip


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of documents about water and about money. More documents have a bank than the topics allow; it goes with
    rivers and with loans. "cannot" comes by chance.
    """
    chance, made = np.random.default_rng(1), []
    for k in range(360):
        group = GROUPS[k % 6]
        words = [word for word in group if chance.random() < 0.9] * 4
        words += [str(chance.choice(GROUPS[k % 6 // 3 * 3 + other])) for other in range(3)]
        words += ["bank"] * (8 if k % 3 == 0 else int(chance.random() < 0.3)) + ["cannot"] * int(chance.random() < 0.3)
        made.append({"id": f"d{k}", "text": " ".join(words)})
    made.append({"id": "once", "text": "zeppelin bank cannot"})
    index = sublex.build(made, tmp_path_factory.mktemp("swg") / "banks", analyzer="plain")
    index.fit(CONTEXTS)
    return index


def test_a_word_that_topics_leave_out_as_too_frequent_has_senses(banks, command):
    model = banks.fitted_model(CONTEXTS).model
    assert "bank" not in banks.fitted_model("lda(k=2, iterations=200, max_df=0.4)").model.vocabulary
    done = command("senses", banks.path, "bank", CONTEXTS, "--format", "json")
    rows = json.loads(done.output)
    assert done.code == 0 and {row["topic"] for row in rows} == {0, 1}
    topic = int(model.graphs.df[:, model.graphs.numbers["river"]].argmax())
    for row in rows:
        near = row["neighbours"].split(", ")
        assert set(near[:3]) == set(GROUPS[0] if row["topic"] == topic else GROUPS[3])


def test_topics_of_common_words_follow_the_topics_of_documents():
    theta = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    # Word 0 is everywhere; word 1 is in documents of topic 1, which then decide for it where topics are equal.
    counts = csr_array([[1, 0], [2, 0], [1, 3], [1, 1]])
    assigned = csr_array(([0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 2, 3, 4]), shape=(4, 1))
    found = topics_of_common_words(counts, theta, assigned)
    assert found.nnz == counts.nnz and found.dtype == np.int32
    dense = {(i, j): k for i, j, k in zip(*found.tocoo().coords, found.tocoo().data, strict=True)}
    assert [dense[row, 0] for row in range(3)] == [0, 0, 1] and dense[2, 1] == dense[3, 1] == 1


def test_topics_of_common_words_are_those_of_expectation_maximisation():
    """Computed anew, document by document. No word of the model has the last topic."""
    chance = np.random.default_rng(8)
    theta = chance.dirichlet([0.4] * 4, 40)
    counts = (chance.integers(0, 9, (40, 6)) * (chance.random((40, 6)) < 0.7)).astype(float)
    assigned = csr_array(chance.integers(0, 3, (40, 5)) + 1)
    assigned.data -= 1
    sizes = [1 + sum(assigned.data == topic) for topic in range(4)]
    found = topics_of_common_words(csr_array(counts), theta, assigned)
    for word in range(6):
        phi, docs = [1.0] * 4, np.flatnonzero(counts[:, word]).tolist()
        for _ in range(20):
            sums = [0.5] * 4
            for doc in docs:
                likely = [share * p for share, p in zip(theta[doc], phi, strict=True)]
                sums = [old + counts[doc, word] * each / sum(likely) for old, each in zip(sums, likely, strict=True)]
            phi = [each / size for each, size in zip(sums, sizes, strict=True)]
        expected = [max(range(4), key=lambda topic, doc=doc, phi=phi: theta[doc, topic] * phi[topic]) for doc in docs]
        assert csc_array(found)[:, [word]].tocoo().data.tolist() == expected
    assert found.shape == counts.shape


def test_words_that_are_spread_by_chance_say_little():
    chance = np.random.default_rng(0)
    lengths = chance.integers(20, 400, 3000)
    spread = chance.poisson(lengths / 400)
    bursts = np.where(chance.random(3000) < 0.05, 6, 0)
    columns = np.stack([spread, bursts, bursts, bursts])
    found = informativeness((columns > 0).sum(axis=1), columns.sum(axis=1), lengths, ["would", "network", "n", "2"])
    assert found[0] < 0.1 and found.tolist()[1:] == [1, 0, 0]
    # 300 occurrences in random places of 3,000 equal documents are in 285.5 documents; log2(285.5 / 240) is 0.25, half of 0.5.
    (half,) = informativeness(np.array([240]), np.array([300]), np.full(3000, 100), ["network"])
    assert half == pytest.approx(np.log2(3000 * (1 - np.exp(-0.1)) / 240) / 0.5) and 0.49 < half < 0.51


def naive_closeness(graph, topic, occurs, df, weights, documents, near):
    """Return closeness pair by pair. `near` has the shared documents in which both stand near each other, or is None."""
    expected = np.zeros(graph.shape)
    for i, j in zip(*np.nonzero(graph > 0), strict=True):
        shared, contexts = int((topic[:, i] * occurs[:, j]).sum()), int(topic[:, i].sum())
        beside = shared if near is None else near[i, j]
        if contexts < 5 or contexts < 0.02 * df[i] or beside < (3 if near is None else 4):
            continue
        values = []
        for total, held in ((documents, df[j]), (len(occurs), occurs[:, j].sum())):
            values.append(max(0, np.log(shared / contexts * total / held)) / -np.log(shared / (total + 1)))
        close = np.sqrt(values[0] * values[1]) * beside / (shared + 4) * weights[i] * weights[j]
        expected[i, j] = close if close >= (0.2 if near is None else 0.09) else 0
    expected[(expected > 0).sum(axis=1) < 2] = 0
    return expected


def topic_of_six_words():
    """Return a word graph, the documents in which the words have a topic, and those in which they occur."""
    chance = np.random.default_rng(2)
    occurs = (chance.random((60, 6)) < 0.4).astype(int)
    occurs[:, 1] |= occurs[:, 0]
    occurs[20:, 1] = 0
    occurs[:, 5] = occurs[:, 0]
    topic = occurs * (chance.random(occurs.shape) < 0.9)
    graph = np.ones((6, 6)) - np.eye(6)
    graph[0, 2] = graph[2, 0] = -1
    return graph, topic, occurs


@pytest.mark.parametrize("texts", [True, False])
def test_closeness_is_that_of_the_formula(texts):
    graph, topic, occurs = topic_of_six_words()
    df, weights = occurs.sum(axis=0) + 7, np.array([1, 0.9, 1, 1, 0, 1.0])
    # Of the documents with both words, some have them near each other.
    near = np.random.default_rng(3).integers(0, topic.T @ occurs + 1) if texts else None
    given = (lambda pairs: near[pairs.tocoo().coords]) if texts else None
    found = closeness(csr_array(graph), csr_array(topic), csr_array(occurs), df, weights, 500, given).toarray()
    expected = naive_closeness(graph, topic, occurs, df, weights, 500, near)
    assert (expected > 0).any() and (expected[:, 4] == 0).all() and found == pytest.approx(expected, rel=1e-5)


def test_closeness_counts_hundreds_of_documents_as_far_as_the_last_word():
    """The counts of documents are bytes, as the fit stores them, and the last words are in no document."""
    graph, topic, occurs = topic_of_six_words()
    graph = np.pad(graph, (0, 2), constant_values=1)
    topic, occurs = (np.tile(np.pad(part, ((0, 0), (0, 2))), (12, 1)).astype(np.int8) for part in (topic, occurs))
    df, weights, near = occurs.sum(axis=0, dtype=int) + 7, np.ones(8), topic.T.astype(int) @ occurs
    # Less than 2 % of the documents with the word are in the topic.
    df[3] = 51 * topic[:, 3].sum(dtype=int)
    seen = []

    def given(pairs):
        seen.append(pairs.shape)
        return near[pairs.tocoo().coords]

    found = closeness(csr_array(graph), csr_array(topic), csr_array(occurs), df, weights, 50_000, given)
    expected = naive_closeness(graph, topic.astype(int), occurs, df, weights, 50_000, near)
    assert seen == [(8, 8)] and near.max() > 127 and not expected[3].any() and expected.any()
    assert found.toarray() == pytest.approx(expected, rel=1e-5)
    assert (found.data > 0).all() and found.has_sorted_indices


def test_words_are_near_each_other_within_a_sentence_and_eight_words(tmp_path):
    """Counted anew, text by text, with random titles and texts in three segments."""
    chance, letters = np.random.default_rng(5), "bcdefgh"
    made = []
    for k in range(40):
        words = chance.choice([*letters, "the", "zz"], chance.integers(0, 60)).tolist()
        text = " ".join(w + (". Then" if chance.random() < 0.1 else "") for w in words)
        made.append({"id": str(k), "title": " ".join(chance.choice([*letters], 2)), "text": text})
    index = sublex.build(made[:15], tmp_path / "i", analyzer="english(stem=none)")
    for some in (made[15:25], made[25:]):
        index.add([sublex.Document(each["id"], each["text"], each["title"]) for each in some])
    sentences = read_sentences(index.corpus, letters)
    docs = np.array([1, 4, 7, 8, 20, 30, 38, 39])
    counted = chance.random((len(docs), 7)) < 0.7
    pairs = (chance.random((7, 7)) < 0.6) & ~np.eye(7, dtype=bool)
    expected = np.zeros((7, 7), int)
    for row, doc in enumerate(docs.tolist()):
        found = set()
        for sentence in (made[doc]["title"], *made[doc]["text"].split(".")):
            words = sentence.split()
            for place, word in enumerate(words):
                found |= {(word, other) for other in words[max(0, place - 8) : place + 9]}
        for i, j in zip(*np.nonzero(pairs), strict=True):
            expected[i, j] += counted[row, i] and (letters[i], letters[j]) in found
    got = csr_array(pairs.astype(np.int8))
    got.data = sentences.near(docs, csr_array(counted.astype(np.int8)), got)
    assert (got.toarray() == expected).all() and expected.max() > 3


def test_sentences_end_with_documents_and_full_stops(tmp_path):
    index = sublex.build(
        [{"id": "a", "text": "big data. big big"}, {"id": "b", "text": "…"}, {"id": "c", "text": "data, big"}],
        tmp_path / "i",
        analyzer="plain",
    )
    found = read_sentences(index.corpus, ["big", "data"])
    assert [part.tolist() for part in found] == [[0, 1, 0, 0, 1, 0], [2, 4, 6], [2, 2, 3]]
    pairs = csr_array(np.array([[0, 1], [1, 0]], np.int8))
    both = csr_array(np.ones((3, 2), np.int8))
    assert found.near(np.arange(3), both, pairs).tolist() == [2, 2]
    assert found.near(np.array([2]), both[[2]], pairs).tolist() == [1, 1]


def test_no_more_documents_of_a_topic_are_looked_at_than_the_parameter_says(banks):
    expression = CONTEXTS.replace("swg(", "swg(documents=40, ")
    banks.fit(expression)
    assert banks.fitted_model(expression).model.graphs.sizes.tolist() == [40, 40]
    assert banks.fitted_model(CONTEXTS).model.graphs.sizes.min() > 40


def test_a_word_without_a_sense_has_a_reason(banks, command):
    stage = banks.explain("bank zeppelin cannot aardvark", "once", f"{CONTEXTS} >> BM25").parts[0]
    labels = [part.label for part in stage.parts]
    assert labels[0].startswith("bank is taken in topic") and len(labels) == 3
    assert re.match(r"zeppelin has no sense: lda.* does not know it; .* lower its min_df", labels[1])
    assert re.match(r"cannot has no sense: no topic has 2 words that are close to it; near=edges", labels[2])
    done = command("senses", banks.path, "cannot", CONTEXTS)
    assert done.code != 0 and "cannot has no senses in swg(" in done.messages and "near=edges" in done.messages


def test_words_that_follow_each_other_are_in_reading_order(banks):
    graphs = banks.fitted_model(CONTEXTS).model.graphs
    for first, second, _ in GROUPS:
        one, other = graphs.numbers[first], graphs.numbers[second]
        assert graphs.follows[one, other] > 100 and graphs.follows[other, one] == 0
        assert graphs.in_order(one, other) == graphs.in_order(other, one) == (one, other)
    for row in banks.card(CONTEXTS)["topics"]:
        for edge in row["strongest edges"]:
            first, second = (graphs.numbers[word] for word in edge.split("-"))
            assert not graphs.follows[second, first]


def test_documents_without_words_have_no_reading_order(tmp_path):
    """Also if they are all documents of a segment."""
    from sublex_swg.reading_order import followers

    index = sublex.build(
        [{"id": str(k), "text": "big data. big data"} for k in range(3)], tmp_path / "i", analyzer="plain"
    )
    index.add([sublex.Document("none", "…")])
    assert len(index.snapshot.segments) == 2
    found = followers(index.corpus, ["big", "data"], csr_array(np.ones((2, 2))))
    assert found.toarray().tolist() == [[0, 6], [0, 0]]


def test_an_index_without_texts_has_no_reading_order(tmp_path):
    index = sublex.build(list(texts(60)), tmp_path / "talk", analyzer="plain", store="terms")
    index.fit(MODEL)
    graphs = index.fitted_model(MODEL).model.graphs
    assert graphs.follows.nnz == 0 and graphs.in_order(3, 1) == (3, 1)


def chain(links: list[tuple[int, int, float]], words: int) -> WordSenses:
    """Return one topic whose graph has the given edges."""
    graph = np.zeros((words, words))
    for i, j, weight in links:
        graph[i, j] = graph[j, i] = weight
    df = np.arange(words, 0, -1)[None]
    return WordSenses([f"w{k}" for k in range(words)], csr_array(graph), df, np.array([words]))


def pieces(picture: Picture) -> int:
    place = {word: number for number, word in enumerate(picture.words)}
    ends = np.array([(place[i], place[j]) for i, j in picture.edges]).T
    shape = (len(place), len(place))
    return connected_components(csr_array((np.ones(len(ends[0])), tuple(ends)), shape=shape), directed=False)[0]


def test_a_picture_is_in_one_piece_if_the_graph_is():
    heavy = [(3 * k, 3 * k + 1, 20.0 + k) for k in range(16)] + [(3 * k + 1, 3 * k + 2, 9.0) for k in range(16)]
    light = [(3 * k + 2, 48 + k, 0.5) for k in range(16)] + [(48 + k, 3 * k + 3, 0.5) for k in range(15)]
    for links, count in ((heavy + light, 1), (heavy + light[:8] + light[9:], 2)):
        picture = pictures(chain(links, 64), 0)[1]
        assert pieces(picture) == count
        drawn = svg(picture, lambda word: f"w{word}")
        assert 'class="joins"' in drawn and "joins parts of the picture" in drawn and 'class="legend"' in drawn


@pytest.mark.parametrize("turned", [False, True])
def test_a_drawing_has_a_line_for_each_edge_and_the_words_of_its_phrases_in_order(turned):
    edges = {(k, k + 1): 1.0 for k in range(11)}
    if turned:
        edges = {(j, i): weight for (i, j), weight in edges.items()}
    picture = Picture("one", [*range(12)], edges, frozenset(), frozenset(), frozenset(), frozenset(edges))
    drawn = svg(picture, lambda word: f"w{word}")
    assert all(f"<title>w{i} – w{j}: 1.00</title></line>" in drawn for i, j in edges)
    places = {name: float(x) for x, name in re.findall(r'<text x="([0-9.]+)" y="[0-9.]+">(w[0-9]+)</text>', drawn)}
    assert len(places) == 12
    assert sum(places[f"w{i}"] < places[f"w{j}"] for i, j in edges) >= 10


def test_the_words_of_phrases_stand_from_left_to_right():
    edges = [(k, k + 1) for k in range(0, 30, 2)] + [(k, k + 2) for k in range(0, 28, 2)]
    phrases = edges[:15]
    for turned in (phrases, [(j, i) for i, j in phrases]):
        middles, _ = place_words([60.0] * 30, edges, 1000, turned)
        assert sum(middles[i, 0] < middles[j, 0] for i, j in turned) >= 13
