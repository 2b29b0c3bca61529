"""The experiments on LAKI, on texts of two fields whose titles tell the field."""

from __future__ import annotations

import numpy as np
import pytest

import sublex
from sublex.contracts.base import Document
from sublex.contracts.experiments import Experiment, ExperimentWork
from sublex.errors import InputError
from sublex_laki.experiments import TitleClassification, TitleSettings, occurrences, read_pairs

FIELDS = {
    "water": ("otter colony", "river shore boat mud reed heron bridge stream lake pond dam canal".split()),
    "money": ("credit union", "loan teller coin deposit vault branch client broker bond stock audit tax".split()),
}
TITLES = {"category": "field", "categories": 2, "each": 60, "splits": 5}


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """An index of texts with titles of their field's words, and fitted models."""
    pytest.importorskip("sklearn")
    chance, documents, place = np.random.default_rng(0), [], tmp_path_factory.mktemp("laki")
    for number in range(160):
        name, (phrase, words) = list(FIELDS.items())[number % 2]
        text = ", ".join([*(" and ".join(part) for part in chance.choice(words, (3, 2))), phrase])
        title = " ".join([*chance.choice(words, 3), f"number{number}"])
        documents.append(Document(f"d{number}", text, title, fields={"field": name}))
    (place / "phrases.txt").write_text("\n".join(phrase for phrase, _ in FIELDS.values()))
    index = sublex.build(documents, place / "index")
    model = sublex.parse(
        f'laki(phrases=phrases(support=3, list="{place / "phrases.txt"}"), max_df=1, width=4, weights=similarity, inference=gibbs)'
    )
    lda = sublex.parse("lda(k=2, iterations=50, max_df=1)")
    index.fit(str(model)), index.fit(str(lda))

    def vectors(expression, texts):
        representation = index.representation(expression)
        return representation.vectors(representation.inputs.of_texts(texts))

    return ExperimentWork(index, 1, vectors, lambda *given: None), model, lda


def test_titles_of_own_words_are_told_apart_by_each_representation(work):
    work, model, lda = work
    made = TitleClassification(model=model, lda=lda, width=4, **TITLES)
    assert isinstance(made, Experiment) and made.cases == ("LAKI", "LDA", "LSI", "BoW", "EKM")
    found = made.measure("split 2", work)
    assert {case: value for case, (value,) in found.items() if case in ("BoW", "LSI")} == {"BoW": 1.0, "LSI": 1.0}
    # No title mentions a keyphrase, so all rows are zero, and the more frequent class is guessed.
    assert 0.3 < found["EKM"][0] < 0.7 and found["LAKI"][0] > 0.75 and found["LDA"][0] > 0.9


def test_settings_of_inference_are_measured_one_by_one(work):
    work, model, _ = work
    made = TitleSettings(model=model, most=(1, 2), sweeps=(10, 1000), **TITLES)
    assert made.cases == ("1 keyphrases", "2 keyphrases", "10 sweeps", "1,000 sweeps")
    found = made.measure("split 1", work)
    assert found["2 keyphrases"][0] > 0.75 and found["1,000 sweeps"][0] > 0.75
    assert made.measure("split 1", work) == found
    with pytest.raises(InputError, match="most has 0; give numbers from 1"):
        TitleSettings(model=model, most=(0,), sweeps=(10,), **TITLES)


def test_a_wrong_category_costs_a_sentence(work):
    work, model, _ = work
    made = TitleSettings(model=model, most=(1,), sweeps=(), **{**TITLES, "category": "kind"})
    with pytest.raises(InputError, match="has titles of 0 categories in the field kind; name another field"):
        made.measure("split 1", work)


def test_pairs_are_read_and_phrases_counted(work, tmp_path):
    work, _, _ = work
    (tmp_path / "pairs.csv").write_text("String1\tString2\tMean\notter colony\tlake\t2.5\n")
    assert read_pairs(str(tmp_path / "pairs.csv")) == [("otter colony", "lake", 2.5)]
    found = occurrences(work.index, ["otter colony", "credit union", "union otter"])
    assert found == {"otter colony": 80, "credit union": 80, "union otter": 0}
    (tmp_path / "bad.csv").write_text("String1\tString2\tMean\na\tb\tmuch\n")
    with pytest.raises(InputError, match="line 2: no pair"):
        read_pairs(str(tmp_path / "bad.csv"))
