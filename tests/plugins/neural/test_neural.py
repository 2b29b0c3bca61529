"""Tests of the encoders onnx, static and tokens: outputs worked out in NumPy, second readers, and files that lie."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import tiny_models as models
from tiny_models import CLS, PIECES, SEP, UNK, numbers, write

import sublex
from sublex.contracts.encoders import Encoded
from sublex.errors import InputError, MissingExtra
from sublex.language import plugins
from sublex.language.encoding import encoded, identity_of
from sublex_neural.files import ModelFolder
from sublex_neural.onnx_model import checked
from sublex_neural.safetensors import read_arrays
from sublex_neural.wordpiece import read_wordpiece, restored

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
TEXTS = ["The cranes fly over the river", "", "waterfall, waterfall", "a bird", "nonsense by the river " * 9, "quiet"]


@pytest.fixture
def encoder():
    """Return a function that makes an encoder by its name and parameters."""
    registry = plugins.load()
    return lambda name, **params: registry.build("encoder", name, params)


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes a model with its tokenizer and further files, and returns the folder."""

    def make(model=None, name="model.onnx", **files):
        data = {} if model is None else {name: model.SerializeToString()}
        return write(tmp_path / "model", {"tokenizer.json": models.tokenizer()} | data | files)

    return make


VECTORS = models.table()


def dense(pooling, texts=TEXTS, prefix="", length=512, normalise=False):
    rows = []
    for text in texts:
        ids = [CLS, *numbers(prefix + text)[: length - 2], SEP]
        row = VECTORS[ids][0] if pooling == "cls" else VECTORS[ids].astype(np.float64).mean(axis=0)
        rows.append(row / np.linalg.norm(row) if normalise else row)
    return np.array(rows, np.float32)


@pytest.mark.parametrize("role", ["query", "document"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_dense_rows_are_those_that_numpy_gives(encoder, folder, pooling, role):
    made = encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling=pooling)
    found = encoded(made, "onnx", TEXTS, role)
    assert made.kind == "dense" and np.allclose(found.rows, dense(pooling), atol=1e-6) and found.cut == 0


def test_vectors_are_brought_to_length_1_if_asked(encoder, folder):
    made = encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling="mean", normalise=True)
    assert np.allclose(encoded(made, "onnx", TEXTS, "document").rows, dense("mean", normalise=True), atol=1e-6)


def test_prefixes_differ_by_role(encoder, folder):
    made = encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling="mean", prefix=("quiet ", "over the "))
    assert np.allclose(encoded(made, "onnx", TEXTS, "query").rows, dense("mean", prefix="quiet "), atol=1e-6)
    assert np.allclose(encoded(made, "onnx", TEXTS, "document").rows, dense("mean", prefix="over the "), atol=1e-6)


def test_longer_texts_are_cut_and_counted(encoder, folder):
    made = encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling="mean", length=6)
    found = encoded(made, "onnx", TEXTS, "document")
    assert found.cut == 3 and np.allclose(found.rows, dense("mean", length=6), atol=1e-6)


def test_splade_takes_the_largest_weight_of_each_piece(encoder, folder):
    weights = models.table(models.WIDTH, len(PIECES), seed=1)
    made = encoder("onnx", folder=folder(models.weight_model(VECTORS, weights)), pooling="splade")
    found = encoded(made, "onnx", TEXTS, "document")
    assert made.kind == "sparse"
    for row, text in zip(found.rows.toarray(), TEXTS, strict=True):
        logits = VECTORS[[CLS, *numbers(text), SEP]] @ weights
        expected = np.log1p(np.maximum(logits.max(axis=0), 0))
        mine = dict(zip(found.terms, row.tolist(), strict=True))
        assert np.allclose([mine.get(piece, 0) for piece in PIECES], expected, atol=1e-5)
    assert set(found.terms) <= set(PIECES) and (found.rows.data > 0).all()


def test_tokens_gives_a_row_of_length_1_for_each_piece(encoder, folder):
    made = encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling="tokens")
    found = encoded(made, "onnx", TEXTS, "document")
    ids = [number for text in TEXTS for number in (CLS, *numbers(text), SEP)]
    expected = VECTORS[ids] / np.linalg.norm(VECTORS[ids], axis=1, keepdims=True)
    assert made.kind == "late" and found.sizes.tolist() == [len(numbers(text)) + 2 for text in TEXTS]
    assert np.allclose(found.rows, expected, atol=1e-6) and list(found.terms) == [PIECES[number] for number in ids]


def test_a_pooled_output_is_taken_as_it_is(encoder, folder):
    weights = models.table(models.WIDTH, 4, seed=2)
    made = encoder("onnx", folder=folder(models.pair_model(VECTORS, weights)), pooling="none")
    found = encoded(made, "onnx", TEXTS, "document")
    expected = [VECTORS[[CLS, *numbers(text), SEP]].sum(axis=0) @ weights for text in TEXTS]
    assert np.allclose(found.rows, expected, atol=1e-4)


def test_pairs_are_scored_with_the_second_text_marked(encoder, folder):
    weights = models.table(models.WIDTH, 1, seed=3)
    config = {"architectures": ["BertForSequenceClassification"]}
    made = encoder("onnx", folder=folder(models.pair_model(VECTORS, weights), **{"config.json": config}))
    scored = made.score_pairs("quiet river", TEXTS)
    first = VECTORS[[CLS, *numbers("quiet river"), SEP]].sum(axis=0)
    expected = [((first + 2 * VECTORS[[*numbers(text), SEP]].sum(axis=0)) @ weights)[0] for text in TEXTS]
    assert made.kind == "pairs" and np.allclose(scored.scores, expected, atol=1e-4) and scored.cut == 0
    with pytest.raises(InputError, match="scores pairs; use it by cross"):
        made.encode(["a"], "query")


def test_a_query_has_the_same_vector_whatever_else_is_asked(encoder, folder):
    made = encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling="mean")
    together = made.encode(TEXTS, "query").rows
    for place, text in enumerate(TEXTS):
        assert np.array_equal(made.encode([text], "query").rows[0], together[place])


SETTINGS = {
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ],
    "1_Pooling/config.json": {"word_embedding_dimension": 6, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
    "config_sentence_transformers.json": {"prompts": {"query": "quiet ", "passage": "over "}, "default_prompt_name": None},
    "sentence_bert_config.json": {"max_seq_length": 8, "do_lower_case": False},
    "tokenizer_config.json": {"model_max_length": 10**30},
    "config.json": {"model_type": "bert", "max_position_embeddings": 12, "vocab_size": len(PIECES)},
}  # fmt: skip


def test_settings_come_from_the_files_of_sentence_transformers(encoder, folder):
    path = folder(models.token_model(VECTORS, "token_embeddings"), "onnx/model.onnx", **SETTINGS)
    made = encoder("onnx", folder=path)
    assert np.allclose(
        made.encode(TEXTS, "query").rows, dense("cls", prefix="quiet ", length=8, normalise=True), atol=1e-6
    )
    assert made.encode(TEXTS, "document").cut == 2
    mine = encoder("onnx", folder=path, pooling="mean", normalise=False, prefix=("", ""), length=12)
    assert np.allclose(mine.encode(TEXTS, "query").rows, dense("mean", length=12), atol=1e-6)
    with pytest.raises(InputError, match="length=13 is more than the 12 pieces"):
        encoder("onnx", folder=path, length=13).encode(["a"], "query")


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx"])
def test_a_model_is_found_where_exporters_put_it(encoder, folder, name):
    made = encoder("onnx", folder=folder(models.token_model(VECTORS), name), pooling="mean")
    assert np.allclose(made.encode(TEXTS, "document").rows, dense("mean"), atol=1e-6)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"1_Pooling/config.json": {"pooling_mode_max_tokens": True}}, "pools by max_tokens; Sublex has cls and mean"),
        ({"1_Pooling/config.json": {"pooling_mode_mean_tokens": True, "include_prompt": False}}, "without the prompt"),
        ({"modules.json": {}}, "lists no modules of sentence-transformers"),
        ({"modules.json": [{"path": "x", "type": "a.Dense"}, {"path": "1_Pooling", "type": "a.Pooling"}]}, "has a module Dense"),
        ({"modules.json": [{"path": "../../x", "type": "a.Pooling"}]}, "leads out of the folder|pools by nothing"),
        ({"config.json": []}, "holds no JSON object"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_followed_cost_a_sentence(encoder, folder, files, sentence):
    refused(encoder("onnx", folder=folder(models.token_model(VECTORS), **SETTINGS | files)), sentence)


def test_a_prefix_has_two_texts(encoder, folder):
    path = folder(models.token_model(VECTORS))
    for prefix in (("a",), ("a", 1), ("a", "b", "c")):
        refused(encoder("onnx", folder=path, pooling="mean", prefix=prefix), "prefix= takes two texts")


def test_the_first_positions_of_roberta_stand_for_no_piece(encoder, folder):
    config = {"model_type": "roberta", "max_position_embeddings": 10, "pad_token_id": 1}
    made = encoder("onnx", folder=folder(models.token_model(VECTORS), **{"config.json": config}), pooling="mean")
    assert np.allclose(made.encode(TEXTS, "document").rows, dense("mean", length=8), atol=1e-6)


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"config.json": {"architectures": ["BertForMaskedLM"]}}, "sparse"),
        (
            {"modules.json": [{"path": "1", "type": "sentence_transformers.sparse_encoder.models.SpladePooling"}]},
            "sparse",
        ),
        ({"config.json": {"architectures": ["XForSequenceClassification"]}}, "pairs"),
    ],
)
def test_the_files_say_what_kind_of_encoder_a_model_is(encoder, folder, files, kind):
    assert encoder("onnx", folder=folder(models.token_model(VECTORS), **files)).kind == kind


def test_the_identity_follows_files_and_parameters_and_no_path(encoder, tmp_path):
    model = models.token_model(VECTORS).SerializeToString()
    files = {"model.onnx": model, "tokenizer.json": models.tokenizer()}

    def hashed(name, changed=None, **params):
        made = encoder("onnx", folder=write(tmp_path / name, files | (changed or {})), pooling="mean", **params)
        return identity_of(made, "onnx")

    first = hashed("a")
    assert hashed("b") == first
    other = models.tokenizer(pieces=[*PIECES[:-1], "works"])
    different = [
        hashed("c", normalise=True), hashed("d", prefix=("a", "")), hashed("d2", prefix=("", "a")), hashed("e", length=7),
        hashed("h", {"sentence_bert_config.json": {"do_lower_case": True}}),
        hashed("f", {"tokenizer.json": other}), hashed("g", {"model.onnx": models.token_model(VECTORS * 2).SerializeToString()}),
    ]  # fmt: skip
    assert len({first, *different}) == 8


def test_runtime_and_provider_are_told(encoder, folder):
    about = encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling="mean").about()
    assert about["runtime"].startswith("onnxruntime ") and about["provider"] == "CPUExecutionProvider"
    assert about["reads"] == "512 pieces"


# Files that lie.


def refused(made, sentence, memory=None):
    with pytest.raises(InputError, match=sentence):
        if memory is not None:
            made.limit(memory)
        made.encode(["the river"], "query")


def test_weights_in_another_file_are_refused(encoder, folder, tmp_path):
    model = models.token_model(VECTORS)
    path = folder(model)
    onnx.save_model(model, f"{path}/model.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    refused(encoder("onnx", folder=path, pooling="mean"), "keeps its weights in another file")


def test_operators_from_elsewhere_are_refused(encoder, folder):
    model = models.token_model(VECTORS)
    model.graph.node[0].domain = "evil.com"
    refused(encoder("onnx", folder=folder(model), pooling="mean"), "needs operators of 'evil.com'")
    model = models.token_model(VECTORS)
    model.opset_import.add(domain="evil.com", version=1)
    refused(encoder("onnx", folder=folder(model), pooling="mean"), "needs operators of 'evil.com'")
    model = models.token_model(VECTORS)
    model.graph.node[0].op_type = "EPContext"
    refused(encoder("onnx", folder=folder(model), pooling="mean"), "has the operator EPContext")


def test_an_operator_from_elsewhere_is_found_in_a_graph_within_a_graph(folder):
    inner = onnx.helper.make_graph([onnx.helper.make_node("X", [], ["y"], domain="evil.com")], "inner", [], [])
    model = models.token_model(VECTORS)
    model.graph.node.append(onnx.helper.make_node("If", ["input_ids"], ["z"], then_branch=inner, else_branch=inner))
    with pytest.raises(InputError, match="evil.com"):
        checked(model.SerializeToString(), "model", 1 << 30)


def test_an_operator_from_elsewhere_is_found_in_a_function(folder):
    node = onnx.helper.make_node("X", [], ["y"], domain="evil.com")
    for opsets, nodes in (([], [node]), ([onnx.helper.make_opsetid("evil.com", 1)], [])):
        model = models.token_model(VECTORS)
        model.functions.append(onnx.helper.make_function("ai.onnx", "F", [], ["y"], nodes, opsets))
        with pytest.raises(InputError, match="evil.com"):
            checked(model.SerializeToString(), "model", 1 << 30)


def test_weights_in_another_file_are_found_wherever_an_array_stands():
    far = onnx.numpy_helper.from_array(np.ones(4, np.float32), "far")
    far.ClearField("raw_data")
    far.data_location = onnx.TensorProto.EXTERNAL
    inner = onnx.helper.make_graph([], "inner", [], [], [far])
    index = onnx.numpy_helper.from_array(np.array([0]), "index")
    sparse = onnx.helper.make_sparse_tensor(far, index, [4])
    for change in (
        lambda graph: graph.initializer.append(far),
        lambda graph: graph.sparse_initializer.append(sparse),
        lambda graph: graph.node.append(onnx.helper.make_node("Constant", [], ["y"], value=far)),
        lambda graph: graph.node.append(onnx.helper.make_node("Loop", [], ["y"], body=inner)),
        lambda graph: graph.node.append(onnx.helper.make_node("Constant", [], ["y"], sparse_value=sparse)),
    ):
        model = models.token_model(VECTORS)
        change(model.graph)
        with pytest.raises(InputError, match="keeps its weights in another file"):
            checked(model.SerializeToString(), "model", 1 << 30)


def test_what_a_model_declares_is_read_with_packed_and_single_sizes():
    model = models.token_model(VECTORS)
    found = checked(model.SerializeToString(), "model", 1 << 30)
    assert found.inputs["input_ids"] == (None, None) and found.outputs == {
        "last_hidden_state": (None, None, models.WIDTH)
    }
    assert found.pieces == len(PIECES)
    # An initializer with the packed sizes [3, 10 ** 9], type float, and no values; then in a model of this graph alone.
    tensor = bytes([0x0A, 6, 3, *b"\x80\x94\xeb\xdc\x03", 0x10, 1])
    graph = bytes([0x2A, len(tensor), *tensor])
    with pytest.raises(InputError, match="claims an array of 3,000,000,000 entries, and holds 0 bytes"):
        checked(bytes([0x3A, len(graph), *graph]), "model", 1 << 40)


def test_safetensors_that_claim_a_huge_array_without_values_cost_a_sentence(encoder, tmp_path):
    files = {"model.safetensors": models.safetensors(embeddings=VECTORS), "tokenizer.json": models.tokenizer()}
    path = write(tmp_path / "m", {**files, "config.json": {}})
    header = json.dumps({"embeddings": {"dtype": "F32", "shape": [0, 2**61, 2**61], "data_offsets": [0, 0]}}).encode()
    (Path(path) / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    refused(encoder("static", folder=path), "the shape of the array 'embeddings' does not fit its 0 bytes")


def field(number, content):
    """Return a field of a protocol buffer that holds bytes."""
    size = len(content)
    return bytes([number << 3 | 2, size & 127 | 128, size >> 7 & 127 | 128, size >> 14]) + content


def test_an_array_of_very_many_dimensions_is_refused_at_once():
    sizes = b"".join([b"\xff" * 8 + b"\x0f"] * 100_000)
    with pytest.raises(InputError, match="no sound ONNX file"):
        checked(field(7, field(5, field(1, sizes))), "model", 1 << 30)
    with pytest.raises(InputError, match="no sound ONNX file"):
        checked(
            field(7, field(11, field(2, field(1, field(2, field(1, b"\x08" + b"\x0f") * 100_000))))), "model", 1 << 30
        )


def replaced(pattern, content):
    return {"type": "Replace", "pattern": pattern, "content": content}


def test_a_tokenizer_that_makes_texts_very_long_is_refused(encoder, folder):
    model = models.token_model(VECTORS)
    double = replaced({"String": "e"}, "ee")
    for steps in (
        [double] * 7,
        [{"type": "Sequence", "normalizers": [double] * 4}] * 2,
        [replaced({"Regex": "e"}, "e" * 65)],
    ):
        file = models.tokenizer(normalizer={"type": "Sequence", "normalizers": steps})
        path = folder(model, **{"tokenizer.json": file})
        refused(encoder("onnx", folder=path, pooling="mean"), "make a text more than 64 times as long")
    harmless = [replaced({"String": " "}, "▁"), replaced({"String": "▁"}, " "), replaced({"Regex": "e+"}, "e")]
    file = models.tokenizer(normalizer={"type": "Sequence", "normalizers": [*harmless, double, double]})
    made = encoder("onnx", folder=folder(model, **{"tokenizer.json": file}), pooling="mean")
    assert np.allclose(made.encode(["a river"], "document").rows, dense("mean", ["a riveeeer"]))


def test_a_tokenizer_that_gives_up_on_a_text_costs_a_sentence(encoder, folder):
    file = models.tokenizer(normalizer=replaced({"Regex": "(a+)+$"}, "b"))
    made = encoder("onnx", folder=folder(models.token_model(VECTORS), **{"tokenizer.json": file}), pooling="mean")
    with pytest.raises(InputError, match="cannot read a text: .*retry-limit"):
        made.encode(["a" * 28 + "!"], "query")


def test_the_vocabulary_of_the_configuration_counts_where_the_graph_does_not_tell(encoder, folder):
    model = models.token_model(VECTORS)
    model.graph.node[0].input[1] = "shifted"
    model.graph.node.insert(0, onnx.helper.make_node("Abs", ["input_ids"], ["shifted"]))
    path = folder(model, **{"config.json": {"vocab_size": 21}})
    refused(encoder("onnx", folder=path, pooling="mean"), "has the piece 21, and the model has 21 pieces")


def test_shapes_beyond_the_memory_are_refused_before_anything_runs(encoder, folder):
    model = models.token_model(VECTORS)
    model.graph.output[0].type.tensor_type.shape.dim[2].dim_value = 10**12
    refused(encoder("onnx", folder=folder(model), pooling="mean"), "takes more memory than --memory allows")
    model = models.token_model(VECTORS)
    model.graph.initializer[0].dims[0] = 10**9
    refused(encoder("onnx", folder=folder(model), pooling="mean"), "claims an array of 6,000,000,000 entries")
    model = models.token_model(VECTORS)
    shape = onnx.numpy_helper.from_array(np.array([10**6, 10**6]), "shape")
    model.graph.initializer.append(shape)
    model.graph.node.append(onnx.helper.make_node("ConstantOfShape", ["shape"], ["large"]))
    refused(
        encoder("onnx", folder=folder(model), pooling="mean"),
        "makes an array in ConstantOfShape of 1,000,000 × 1,000,000",
    )


def hungry(times):
    """Return a model that makes an array with `times` numbers for each piece of a batch, and adds its sum, which is 0."""
    helper = onnx.helper
    model = models.token_model(VECTORS)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1, times]), "times"))
    model.graph.node[0].output[0] = "rows"
    model.graph.node.extend(
        [
            helper.make_node("Shape", ["input_ids"], ["shape"]),
            helper.make_node("Mul", ["shape", "times"], ["large"]),
            helper.make_node("ConstantOfShape", ["large"], ["zeros"]),
            helper.make_node("ReduceSum", ["zeros"], ["sum"], keepdims=0),
            helper.make_node("Add", ["rows", "sum"], ["last_hidden_state"]),
        ]
    )
    return model


def test_a_batch_that_takes_too_much_memory_is_cut_in_two(encoder, folder):
    texts = ["the river", "a bird", "quiet water", "over a", "by the", "fly over", "the water", "a river"]
    made = encoder("onnx", folder=folder(hungry(2_000_000)), pooling="mean")
    made.limit(100 << 20)  # A text takes 32 MB, and all together 256.
    assert np.allclose(made.encode(texts, "document").rows, dense("mean", texts), atol=1e-6)


def test_a_shape_that_only_shows_when_a_model_runs_costs_a_sentence(encoder, folder):
    refused(
        encoder("onnx", folder=folder(hungry(10**8)), pooling="mean"), "needs more memory than --memory allows", 1 << 26
    )


def test_a_long_text_beyond_the_memory_is_refused(encoder, folder):
    weights = models.table(models.WIDTH, len(PIECES))
    made = encoder("onnx", folder=folder(models.weight_model(VECTORS, weights)), pooling="splade", length=100_000)
    refused(made, "give it a smaller length=", 1 << 20)


def test_an_output_of_another_rank_is_refused(encoder, folder):
    pairs = models.pair_model(VECTORS, models.table(models.WIDTH, 1))
    refused(
        encoder("onnx", folder=folder(pairs), pooling="mean"), "logits of rank 2, and pooling=mean reads one of rank 3"
    )
    made = encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling="none")
    refused(made, "last_hidden_state of rank 3, and pooling=none reads one of rank 2")


def test_an_output_that_differs_from_its_declaration_is_refused(encoder, folder):
    model = models.pair_model(VECTORS, models.table(models.WIDTH, 1))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    refused(encoder("onnx", folder=folder(model), pooling="mean"), r"gave an output of the shape \(1, 1\) for 1 text")


def test_a_tokenizer_without_the_models_vocabulary_is_refused(encoder, folder):
    few = models.token_model(VECTORS[:10])
    refused(encoder("onnx", folder=folder(few), pooling="mean"), "has the piece 21, and the model has 10 pieces")
    weights = models.table(models.WIDTH, 7)
    made = encoder("onnx", folder=folder(models.weight_model(VECTORS, weights)), pooling="splade")
    refused(made, "gives 7 weights, and the tokenizer has 22 pieces")


@pytest.mark.parametrize("ending", [".bin", ".pt", ".pkl"])
def test_pickles_are_refused_by_name(encoder, tmp_path, ending):
    path = write(tmp_path / "m", {"tokenizer.json": models.tokenizer(), f"pytorch_model{ending}": b""})
    refused(encoder("onnx", folder=path), f"has no model.onnx. It has pytorch_model{ending}, which Sublex never reads")
    refused(encoder("static", folder=path), f"has no model.safetensors. It has pytorch_model{ending}")
    refused(
        encoder("onnx", folder=f"{path}/pytorch_model{ending}"), f"ends in {ending}, as files with Python's pickles"
    )
    refused(encoder("tokens", folder=path, weights=f"{path}/pytorch_model{ending}"), f"ends in {ending}")


def test_a_model_that_asks_for_other_inputs_is_refused(encoder, folder):
    model = models._model(
        [onnx.helper.make_node("Gather", ["words", "input_ids"], ["last_hidden_state"])],
        {"last_hidden_state": [1, 2, 6]}, {"words": VECTORS}, inputs=("input_ids", "pixel_values"),
    )  # fmt: skip
    refused(encoder("onnx", folder=folder(model), pooling="mean"), "asks for 'pixel_values'")


def test_what_nobody_says_about_pooling_is_asked(encoder, folder):
    refused(encoder("onnx", folder=folder(models.token_model(VECTORS))), "give pooling=cls, mean, splade or tokens")


def test_numbers_that_are_not_finite_are_refused(encoder, folder):
    vectors = VECTORS.copy()
    vectors[PIECES.index("river")] = np.nan
    refused(encoder("onnx", folder=folder(models.token_model(vectors)), pooling="mean"), "a number that is not finite")


def test_a_link_out_of_the_folder_is_refused(encoder, folder, tmp_path):
    path = folder()
    (tmp_path / "elsewhere").write_bytes(models.token_model(VECTORS).SerializeToString())
    (tmp_path / "model" / "model.onnx").symlink_to(tmp_path / "elsewhere")
    refused(encoder("onnx", folder=path, pooling="mean"), "leads out of the folder")


def test_a_damaged_model_costs_a_sentence_and_no_crash(encoder, tmp_path):
    whole = models.weight_model(VECTORS, models.table(models.WIDTH, len(PIECES))).SerializeToString()
    rng = random.Random(7)
    for number in range(150):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        data = data[: rng.randrange(len(data))] if number % 3 == 0 else data
        path = write(tmp_path / str(number), {"model.onnx": bytes(data), "tokenizer.json": models.tokenizer()})
        try:
            found = encoded(
                encoder("onnx", folder=path, pooling="splade"), "onnx", ["the river", "a crane"], "document"
            )
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert found.rows.shape[0] == 2


def test_without_the_packages_one_sentence_says_how_to_install_them(encoder, folder, monkeypatch):
    path = folder(models.token_model(VECTORS))
    for name in ("tokenizers", "onnxruntime"):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, name, None)
            with pytest.raises(MissingExtra, match="The encoder onnx needs an optional part; to install it: .*onnx"):
                encoder("onnx", folder=path, pooling="mean").encode(["a"], "query")


def test_without_onnxruntime_metadata_cost_the_same_sentence(encoder, folder, monkeypatch):
    from sublex_neural import onnx as module

    def absent(name):
        raise module.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(module.metadata, "version", absent)
    with pytest.raises(MissingExtra, match="The encoder onnx needs an optional part"):
        encoder("onnx", folder=folder(models.token_model(VECTORS)), pooling="mean").about()


def test_packages_are_imported_only_by_an_encoder_that_runs():
    code = (
        "import sys; from sublex.language import plugins; r = plugins.load(); r.build('encoder', 'onnx', {'folder': 'x'});"
        "print(sorted({'onnxruntime', 'tokenizers', 'onnx'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_search_without_encoders_imports_none_of_their_packages(tmp_path):
    index = sublex.build([{"id": "d1", "text": "crane"}, {"id": "d2", "text": "crane river"}], tmp_path / "i")
    index.add_vectors("v", {"d1": [1.0, 2.0], "d2": [3.0, 1.0]})
    index.add_vectors("w", {"d1": {"crane": 1.5}})
    (tmp_path / "v.jsonl").write_text('{"id": "crane", "vector": [1, 0]}')
    (tmp_path / "w.jsonl").write_text('{"id": "crane", "vector": {"crane": 2}}')
    given = ["--queries", f"v={tmp_path / 'v.jsonl'}", "--queries", f"w={tmp_path / 'w.jsonl'}"]
    for expression, options in (("BM25", []), ("BM25 + dense(v) + sparse(w)", given), ("dense(v) >> BM25", given)):
        code = (
            "import atexit, sys; from sublex.cli import main; names = 'onnxruntime tokenizers onnx torch transformers';"
            "atexit.register(lambda: print('imported', sorted(set(names.split()) & set(sys.modules))));"
            f"sys.argv = ['sublex', 'search', {str(index.path)!r}, 'crane', '-r', {expression!r}, *{options!r}]; main()"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "d2" in done.stdout and done.stdout.endswith("imported []\n"), done


# static


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8])
def test_static_takes_the_mean_of_the_vectors_of_known_pieces(encoder, tmp_path, kind):
    vectors = VECTORS.astype(kind)
    files = {"model.safetensors": models.safetensors(embeddings=vectors), "config.json": {"normalize": False}}
    made = encoder("static", folder=write(tmp_path, {"tokenizer.json": models.tokenizer()} | files))
    found = encoded(made, "static", TEXTS, "document")
    for row, text in zip(found.rows, TEXTS, strict=True):
        known = [number for number in numbers(text) if number != UNK]
        expected = vectors[known].astype(np.float64).mean(axis=0) if known else np.zeros(models.WIDTH)
        assert np.allclose(row, expected, atol=1e-6)


def test_static_reads_weights_a_mapping_and_a_length(encoder, tmp_path):
    weights, places = np.arange(len(PIECES), dtype=np.float32) / 7, np.arange(len(PIECES)) // 2
    files = {
        "model.safetensors": models.safetensors(embeddings=VECTORS[:11], weights=weights, mapping=places),
        "config.json": {"normalize": True, "max_length": 4}, "tokenizer.json": models.tokenizer(),
    }  # fmt: skip
    found = encoded(encoder("static", folder=write(tmp_path, files)), "static", TEXTS, "query")
    assert found.cut == 3
    for row, text in zip(found.rows, TEXTS, strict=True):
        known = [number for number in numbers(text)[:4] if number != UNK]
        mean = (VECTORS[places[known]] * weights[known][:, None]).mean(axis=0) if known else np.zeros(models.WIDTH)
        assert np.allclose(row, mean / (np.linalg.norm(mean) or 1), atol=1e-6)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("arrays", [{"embeddings": VECTORS}, {
    "embeddings": VECTORS[:11], "weights": np.linspace(0.5, 2, 22), "mapping": np.arange(22, dtype=np.int64)[::-1] // 2,
}])  # fmt: skip
def test_model2vec_gives_the_same_vectors(encoder, tmp_path, arrays, normalise):
    """The table as it is, and one with a vector for several pieces and weights, as model2vec's quantised vocabularies have."""
    model2vec = pytest.importorskip("model2vec", reason="model2vec is not installed")
    files = {
        "model.safetensors": models.safetensors(**arrays), "config.json": {"normalize": normalise, "model_type": "model2vec"},
        "tokenizer.json": models.tokenizer(),
    }  # fmt: skip
    path = write(tmp_path, files)
    theirs = model2vec.StaticModel.from_pretrained(path, force_download=False).encode(TEXTS)
    assert np.allclose(encoder("static", folder=path).encode(TEXTS, "document").rows, theirs, atol=1e-6)


@pytest.fixture
def fastembed(folder, monkeypatch):
    """Return a function that writes a model as fastembed's folders have it, and names the folder. It reads 20 pieces."""
    pytest.importorskip("fastembed", reason="fastembed is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    names = {
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "mask_token": "[MASK]",
    }
    others = {"tokenizer_config.json": names | {"model_max_length": 20}, "special_tokens_map.json": names}
    return lambda model, **config: folder(
        model,
        "onnx/model.onnx",
        **others,
        **{"config.json": {"pad_token_id": 0, "max_position_embeddings": 20} | config},
    )


@pytest.mark.parametrize(("pooling", "normalise"), [("mean", True), ("mean", False), ("cls", False)])
def test_fastembed_gives_the_same_vectors(encoder, fastembed, pooling, normalise):
    path, texts = fastembed(models.token_model(VECTORS)), [text for text in TEXTS if text]
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"tiny/{pooling}-{normalise}"
    TextEmbedding.add_custom_model(
        name, PoolingType[pooling.upper()], normalise, ModelSource(hf="tiny/none"), models.WIDTH, "onnx/model.onnx"
    )
    theirs = np.array(
        list(TextEmbedding(name, specific_model_path=path, providers=["CPUExecutionProvider"]).embed(texts))
    )
    ours = encoder("onnx", folder=path, pooling=pooling, normalise=normalise).encode(texts, "document")
    assert ours.cut == 1 and np.allclose(ours.rows, theirs, atol=1e-6)


def test_fastembed_gives_pairs_the_same_scores(encoder, fastembed):
    path = fastembed(
        models.pair_model(VECTORS, models.table(models.WIDTH, 1, seed=3)),
        architectures=["BertForSequenceClassification"],
    )
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    TextCrossEncoder.add_custom_model("tiny/pairs", ModelSource(hf="tiny/none"), "onnx/model.onnx")
    theirs = list(TextCrossEncoder("tiny/pairs", specific_model_path=path).rerank("crane river", TEXTS))
    assert np.allclose(encoder("onnx", folder=path).score_pairs("crane river", TEXTS).scores, theirs, atol=1e-5)


def test_static_refuses_vectors_that_do_not_fit_the_tokenizer(encoder, tmp_path):
    def of(**arrays):
        files = {"model.safetensors": models.safetensors(**arrays), "tokenizer.json": models.tokenizer()}
        return encoder("static", folder=write(tmp_path, files))

    refused(of(embeddings=VECTORS[:9]), "has 9 vectors, and its tokenizer 22 pieces")
    refused(of(words=VECTORS), "has no array embeddings of two dimensions")
    refused(of(embeddings=VECTORS[0]), "has no array embeddings of two dimensions")
    refused(of(embeddings=VECTORS, mapping=np.full(22, 99)), "maps a piece to a vector that it does not have")
    refused(of(embeddings=VECTORS, weights=np.ones(3, np.float32)), "does not fit its tokenizer")
    refused(of(embeddings=np.full_like(VECTORS, np.inf)), "no finite number")
    refused(of(embeddings=VECTORS), "more than --memory allows", memory=100)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ({"a": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 8]}}, "does not fit its 8 bytes"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 800]}}, "lies outside of the file"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}}, "lies outside of the file"),
        ({"a": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}}, "no shape and place in whole numbers"),
        ({"a": {"dtype": "F32", "shape": [1e9], "data_offsets": [0, 8]}}, "no shape and place in whole numbers"),
        ({"a": {"dtype": "PICKLE", "shape": [2], "data_offsets": [0, 8]}}, "of the type PICKLE"),
        ({"a": []}, "does not describe the array 'a'"),
        ([], "holds no JSON object"),
        (
            {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}},
            "two of its arrays overlap",
        ),
    ],
)  # fmt: skip
def test_a_header_of_safetensors_is_checked_before_anything_is_made(tmp_path, header, sentence):
    text = json.dumps(header).encode()
    (tmp_path / "m.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
    with pytest.raises(InputError, match=sentence):
        read_arrays(str(tmp_path / "m.safetensors"))


@pytest.mark.parametrize(
    "data", [b"", b"12345678", struct.pack("<Q", 1 << 60) + b"{}", struct.pack("<Q", 5) + b"{nope"]
)
def test_a_damaged_safetensors_file_is_refused(tmp_path, data):
    (tmp_path / "m.safetensors").write_bytes(data)
    with pytest.raises(InputError, match="safetensors"):
        read_arrays(str(tmp_path / "m.safetensors"))


def test_the_package_safetensors_reads_the_same_arrays(tmp_path):
    theirs = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    arrays = {"a": VECTORS, "b": np.arange(5), "c": VECTORS.astype(np.float16), "d": np.array([1.5], np.float64)}
    theirs.save_file(arrays, tmp_path / "m.safetensors")
    mine = read_arrays(str(tmp_path / "m.safetensors"))
    assert mine.keys() == arrays.keys() and all(np.array_equal(mine[name], arrays[name]) for name in arrays)


# tokens


def test_tokens_gives_each_distinct_piece_its_weight(encoder, tmp_path):
    weights = {"river": 2.5, "crane": 1.25, "##s": 0.5, "the": 0, "[SEP]": 9.0}
    path = write(tmp_path, {"tokenizer.json": models.tokenizer(), "idf.json": weights})
    made = encoder("tokens", folder=path)
    found = encoded(made, "tokens", ["The cranes, crane river [SEP]", "quiet", ""], "query")
    mine = [{t: w for t, w in zip(found.terms, row, strict=True) if w} for row in found.rows.toarray().tolist()]
    assert mine == [{"river": 2.5, "crane": 1.25, "##s": 0.5}, {}, {}]
    with pytest.raises(InputError, match="encodes queries alone"):
        made.encode(["a"], "document")


def test_tokens_reads_weights_of_safetensors(encoder, tmp_path):
    weights = np.arange(len(PIECES), dtype=np.float32)
    files = {"tokenizer.json": models.tokenizer(), "w.safetensors": models.safetensors(weight=weights)}
    made = encoder("tokens", folder=write(tmp_path, files), weights=str(tmp_path / "w.safetensors"))
    found = made.encode(["river bird"], "query")
    assert dict(zip(found.terms, found.rows.toarray()[0].tolist(), strict=True)) == {"river": 8.0, "bird": 13.0}


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"whale": 1.0}, "a weight for 'whale', which is no piece of the tokenizer"),
        ({"river": -1}, "negative or no finite number"),
        ({"river": float("inf")}, "negative or no finite number"),
        ({"river": 10**400}, "negative or no finite number"),
        ({"river": "1"}, "no object of pieces with their weights"),
        ([], "no object of pieces with their weights"),
    ],
)
def test_a_wrong_table_of_weights_costs_a_sentence(encoder, tmp_path, table, sentence):
    path = write(tmp_path, {"tokenizer.json": models.tokenizer(), "idf.json": table})
    refused(encoder("tokens", folder=path), sentence)


# The tokenizer


def some_texts(number, seed=0):
    """Return texts of characters from all of Unicode 3.2, whose categories have not changed, and of known words."""
    rng = random.Random(seed)
    old = unicodedata.ucd_3_2_0
    pool = [
        chr(c) for c in range(0x30000)
        if not 0xD800 <= c < 0xE000 and old.category(chr(c)) == unicodedata.category(chr(c)) != "Cn"
    ]  # fmt: skip
    words = [
        "crane",
        "cranes",
        "Waterfall",
        "[MASK]",
        "[SEP]",
        "É",
        "Σας",
        "İstanbul",
        "\t",
        "\n",
        " ",
        ",",
        "...",
        "a" * 120,
    ]
    return [
        "".join(rng.choice(words if rng.random() < 0.6 else pool) for _ in range(rng.randrange(20)))
        for _ in range(number)
    ]


@pytest.mark.parametrize(("lowercase", "accents"), [(True, None), (False, None), (True, False), (False, True)])
def test_wordpiece_gives_the_pieces_of_the_package_tokenizers(tmp_path, lowercase, accents):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    normalizer = {
        "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": accents, "lowercase": lowercase,
    }  # fmt: skip
    letters = "abcdefghijklmnopqrstuvwxyzσέάιαλ中國фи"
    pieces = [*PIECES, *(p for c in letters for p in (c, f"##{c}") if p not in PIECES)]
    path = write(tmp_path, {"tokenizer.json": models.tokenizer(pieces, normalizer=normalizer)})
    theirs, mine = tokenizers.Tokenizer.from_file(f"{path}/tokenizer.json"), read_wordpiece(ModelFolder(path))
    for text in some_texts(1500):
        assert mine.tokens(text) == theirs.encode(text, add_special_tokens=False).tokens, repr(text)


def test_wordpiece_reads_a_plain_list_of_pieces(tmp_path):
    made = read_wordpiece(ModelFolder(write(tmp_path, {"vocab.txt": ("\n".join(PIECES) + "\n").encode()})))
    assert made.encode("Cranes fly, [MASK]") == [6, 7, 11, 18, 4]
    cased = {"vocab.txt": "\n".join(PIECES).encode(), "tokenizer_config.json": {"do_lower_case": False}}
    assert read_wordpiece(ModelFolder(write(tmp_path, cased))).tokens("Crane crane é") == ["[UNK]", "crane", "é"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": {"type": "BPE", "vocab": {}, "merges": []}}, "a model of the type BPE"),
        ({"normalizer": None}, "a normalizer of the type None"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "a pre-tokenizer of the type Whitespace"),
        ({"added_tokens": [{"content": "x", "lstrip": True}]}, "an added token with rules of its own"),
        ({"added_tokens": [7]}, "an added token with rules of its own"),
        ({"model": {"type": "WordPiece", "vocab": {"a": 0}}}, "has no piece '.UNK.'"),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 0}}}, "gives two pieces the same number"),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 10**12}}}, "numbers its pieces by other than"),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": "0"}}}, "numbers its pieces by other than"),
    ],
)
def test_another_tokenizer_is_refused(tmp_path, changes, sentence):
    changes = {"added_tokens": []} | changes
    with pytest.raises(InputError, match=sentence):
        read_wordpiece(ModelFolder(write(tmp_path, {"tokenizer.json": models.tokenizer(**changes)})))


def test_a_stored_tokenizer_is_the_same_and_another_value_is_refused(tmp_path):
    made = read_wordpiece(ModelFolder(write(tmp_path, {"tokenizer.json": models.tokenizer()})))
    again = restored(json.loads(json.dumps(made.stored())))
    assert again == made and again.encode("cranes") == [6, 7]
    for wrong in (
        None,
        {},
        made.stored() | {"longest": "x"},
        made.stored() | {"pieces": "a"},
        made.stored() | {"specials": [1]},
    ):
        with pytest.raises(InputError):
            restored(wrong)


def test_the_encoders_pass_the_checks_of_plugins(tmp_path):
    from sublex.testing import checks

    files = {"tokenizer.json": models.tokenizer(), "idf.json": {"crane": 1.5, "river": 2}}
    files["model.safetensors"] = models.safetensors(embeddings=VECTORS)
    files["model.onnx"] = models.token_model(VECTORS).SerializeToString()
    path = json.dumps(write(tmp_path / "m", files))
    pairs = models.pair_model(VECTORS, models.table(models.WIDTH, 1)).SerializeToString()
    config = {"architectures": ["BertForSequenceClassification"]}
    cross = json.dumps(
        write(tmp_path / "c", {"tokenizer.json": models.tokenizer(), "model.onnx": pairs, "config.json": config})
    )
    for expression in (
        f"static({path})", f"tokens({path})", f"onnx({path}, pooling=mean)", f"onnx({path}, pooling=tokens)", f"onnx({cross})",
        f"cross(onnx({cross}))",
    ):  # fmt: skip
        found = checks(expression)
        assert len(found) >= 4
        for check in found:
            check(tmp_path / "checks")


def test_an_encoder_that_breaks_its_promise_is_refused():
    from scipy.sparse import csr_array

    from sublex.errors import PluginError

    class Lying:
        def __init__(self, kind, given):
            self.kind, self.given = kind, given

        def encode(self, texts, role):
            return self.given

    good = np.ones((2, 3), np.float32)
    for kind, given in [
        ("dense", Encoded(good[:1])), ("dense", Encoded(good * np.nan)), ("dense", Encoded(np.full((2, 3), 1e300))),
        ("dense", [1]), ("dense", Encoded(good[0])), ("wide", Encoded(good)), ("sparse", Encoded(good)),
        ("sparse", Encoded(csr_array(good), ["a", "b"])), ("sparse", Encoded(csr_array(good), ["a", "a", "b"])),
        ("sparse", Encoded(csr_array(good), ["a", "", "b"])), ("late", Encoded(good)),
        ("late", Encoded(good, (), np.array([1, 2]))), ("late", Encoded(good, (), np.array([3, -1]))),
        ("late", Encoded(good, ["a"], np.array([1, 1]))),
    ]:  # fmt: skip
        with pytest.raises(PluginError, match="lying"):
            encoded(Lying(kind, given), "lying", ["a", "b"], "query")
    assert encoded(Lying("late", Encoded(good, (), np.array([2, 0]))), "x", ["a", "b"], "query").sizes.tolist() == [
        2,
        0,
    ]


def test_a_name_that_is_not_utf8_costs_a_sentence_and_prints_nothing(encoder, folder, capfd):
    """onnxruntime's own fallback would print several lines."""
    data = models.token_model(VECTORS).SerializeToString().replace(b"Gather", b"G\xf5ther")
    made = encoder("onnx", folder=folder(**{"model.onnx": data}), pooling="mean")
    refused(made, "onnxruntime cannot read .*model.onnx")
    assert capfd.readouterr() == ("", "")
