"""The script that compares with published figures, on tiny models: it reads a collection of BEIR and the files of models, and measures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_models as models

pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

DOCUMENTS = {"d1": "the crane", "d2": "a river by the waterfall", "d3": "quiet water"}


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
    import neural

    yield neural
    sys.modules.pop("neural")


@pytest.fixture
def beir(tmp_path):
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    corpus = [json.dumps({"_id": docno, "title": "", "text": text}) for docno, text in DOCUMENTS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(corpus) + "\n")
    (folder / "queries.jsonl").write_text('{"_id": "1", "text": "the crane"}\n{"_id": "2", "text": "not judged"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n")
    return folder


def test_the_models_that_are_there_are_measured(script, beir, tmp_path, monkeypatch, capsys):
    """A query with the text of a document finds it first: by its weights, and by the product with vectors of norm 1."""
    vectors = models.table()
    for name, model in (
        ("bge-base-en-v1.5", models.token_model(vectors)),
        (
            "splade-cocondenser-ensembledistil",
            models.weight_model(np.eye(22, dtype=np.float32), np.eye(22, dtype=np.float32)),
        ),
    ):
        files = {"tokenizer.json": models.tokenizer(), "model.onnx": model.SerializeToString()}
        models.write(tmp_path / "models" / name, files)
    published = script.MODELS["bge-base-en-v1.5"]._replace(
        parameters={"pooling": "mean", "normalise": True}, published={"tiny": (1.0, 0.5)}
    )
    monkeypatch.setitem(script.MODELS, "bge-base-en-v1.5", published)
    monkeypatch.setattr(sys, "argv", ["neural.py", str(beir), str(tmp_path / "models")])
    script.main()
    said = capsys.readouterr().out
    assert "nDCG@10 1.0000, published 1.0000: agrees" in said and "R@100 1.0000, published 0.5000: DIFFERS" in said
    assert said.count("3 documents encoded") == 2 and said.count("nDCG@10 1.0000") == 2


def test_without_models_nothing_is_compared(script, beir, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["neural.py", str(beir), str(tmp_path)])
    script.main()
    assert "has none of the models; nothing was compared" in capsys.readouterr().out
