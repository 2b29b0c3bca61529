"""Forged models: any value of any file of a model's folder replaced, or bytes changed. Each costs a sentence or none."""

from __future__ import annotations

import json
import random

import forgeries
import pytest
import tiny_models as models
from tiny_models import PIECES, WIDTH, write

import sublex
from sublex.errors import SublexError
from sublex.language import plugins
from sublex.language.encoding import encoded

pytest.importorskip("onnx", reason="onnx is not installed")
TEXTS = ["The cranes fly over the river", "", "waterfall, waterfall"]
VECTORS = models.table()
CONFIG = {"model_type": "bert", "max_position_embeddings": 24, "vocab_size": len(PIECES), "hidden_size": WIDTH}
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]
POOLING = {"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
PROMPTS = {"prompts": {"query": "the ", "document": "a "}, "default_prompt_name": None}


def files_of(kind: str) -> dict[str, object]:
    """Return the files of a model by their names."""
    files: dict[str, object] = {"tokenizer.json": models.tokenizer()}
    if kind == "static":
        return files | {"model.safetensors": models.safetensors(embeddings=VECTORS), "config.json": {"normalize": True}}
    if kind == "tokens":
        return files | {"idf.json": {"river": 2.5, "crane": 1.25, "##s": 0.5}}
    if kind == "wordpiece":
        return files
    config = CONFIG | {"architectures": ["BertForMaskedLM" if kind == "splade" else "BertForSequenceClassification"]}
    if kind == "dense":
        files |= {"modules.json": MODULES, "1_Pooling/config.json": POOLING}
        files |= {"config_sentence_transformers.json": PROMPTS, "sentence_bert_config.json": {"max_seq_length": 12}}
        config = CONFIG | {"architectures": ["BertModel"]}
    made = {
        "dense": lambda: models.token_model(VECTORS),
        "splade": lambda: models.weight_model(VECTORS, models.table(WIDTH, len(PIECES))),
        "cross": lambda: models.pair_model(VECTORS, models.table(WIDTH, 1)),
    }[kind]()
    return files | {"config.json": config, "model.onnx": made.SerializeToString()}


def use(kind: str, folder: str, place) -> int:
    """Use a model; return the number of texts that got numbers."""
    if kind == "wordpiece":
        texts = [{"id": str(n), "text": text} for n, text in enumerate(TEXTS)]
        built = sublex.build(texts, place, analyzer=f"wordpiece({json.dumps(folder)})")
        return len(sublex.open(built.path).search("the crane")) and 3
    name = "onnx" if kind in ("dense", "splade", "cross") else kind
    made = plugins.load().build("encoder", name, {"folder": folder})
    if kind == "cross":
        return len(made.score_pairs("the river", TEXTS).scores)
    found = encoded(made, name, TEXTS, "query")
    return found.rows.shape[0]


@pytest.mark.parametrize("kind", ["dense", "splade", "cross", "static", "tokens", "wordpiece"])
def test_a_forged_model_costs_a_sentence_and_no_crash(tmp_path, kind):
    files, used, refused = files_of(kind), 0, 0
    assert use(kind, write(tmp_path / "whole", files), tmp_path / "index") == 3
    for seed in range(120):
        chance = random.Random(seed)
        folder = tmp_path / str(seed)
        name = chance.choice(sorted(files))
        value, what = files[name], ""
        if not isinstance(value, bytes) and chance.random() < 0.8:
            what, value = forgeries.forged_json(value, chance)
        write(folder, files | {name: value})
        if not what:
            what = forgeries.forge_bytes(folder / name, chance)
        try:
            assert use(kind, str(folder), tmp_path / f"index-{seed}") in (0, 3), (seed, name, what)
            used += 1
        except SublexError as error:
            assert "\n" not in str(error), (seed, name, what)
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {name}: {what}") from error
    # Both happen: what is forged is read.
    assert used > 5 and refused > 5
