"""Tiny neural models for tests: a WordPiece tokenizer of twenty-odd words, and ONNX files whose outputs NumPy can work out."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

PIECES = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "crane", "##s", "river", "by", "a", "fly", "##ing", "bird", "over",
    "water", "##fall", "quiet", ",", "##e", "é", "construction",
]  # fmt: skip
PAD, UNK, CLS, SEP = 0, 1, 2, 3
WIDTH = 6


def numbers(text):
    """Return the numbers of a text's pieces, worked out without the code under test."""
    found = []
    for word in text.lower().replace(",", " , ").split():
        begin = 0
        pieces = []
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = ("##" if begin else "") + word[begin:end]
                if piece in PIECES:
                    pieces.append(PIECES.index(piece))
                    begin = end
                    break
            else:
                pieces = [UNK]
                break
        found += pieces
    return found


def tokenizer(pieces=PIECES, **changes):
    """Return the value of a `tokenizer.json`, as the package tokenizers writes one for BERT."""
    specials = [
        {"id": i, "content": pieces[i], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for i in range(5)
    ]  # fmt: skip
    special = {name: {"id": name, "ids": [i], "tokens": [name]} for name, i in (("[CLS]", CLS), ("[SEP]", SEP))}
    pair = [("[CLS]", 0), ("A", 0), ("[SEP]", 0), ("B", 1), ("[SEP]", 1)]
    template = [{"Sequence" if name in "AB" else "SpecialToken": {"id": name, "type_id": side}} for name, side in pair]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": specials,
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": template[:3], "pair": template, "special_tokens": special},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": {piece: number for number, piece in enumerate(pieces)},
        },
    } | changes  # fmt: skip


def write(folder, files):
    """Write values as JSON files, and bytes as they are."""
    for name, value in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return str(folder)


def safetensors(**arrays):
    """Return the bytes of a safetensors file."""
    names = {"f4": "F32", "f2": "F16", "f8": "F64", "i8": "I64", "i1": "I8", "i4": "I32"}
    header, data = {}, b""
    for name, array in arrays.items():
        kind = names[array.dtype.str[1:]]
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + array.nbytes],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def table(rows=22, width=WIDTH, seed=0):
    """Return vectors of pieces: small numbers of either sign."""
    return np.random.default_rng(seed).integers(-8, 9, (rows, width)).astype(np.float32) / 4


def _model(nodes, outputs, arrays, inputs=("input_ids", "attention_mask", "token_type_ids")):
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        nodes, "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def token_model(vectors, output="last_hidden_state"):
    """Return a model whose output is the vector of each piece."""
    from onnx import helper

    nodes = [helper.make_node("Gather", ["words", "input_ids"], [output])]
    return _model(nodes, {output: ["batch", "length", vectors.shape[1]]}, {"words": vectors})


def weight_model(vectors, weights):
    """Return a model whose output has a number for each piece of the vocabulary at each piece of the text."""
    from onnx import helper

    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["rows"]),
        helper.make_node("MatMul", ["rows", "weights"], ["logits"]),
    ]
    return _model(nodes, {"logits": ["batch", "length", weights.shape[1]]}, {"words": vectors, "weights": weights})


def pair_model(vectors, weights):
    """Return a model that scores pairs: the sum of the vectors, those of the second text doubled, times weights."""
    from onnx import helper

    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["rows"]),
        helper.make_node("Add", ["attention_mask", "token_type_ids"], ["times"]),
        helper.make_node("Cast", ["times"], ["factors"], to=1),
        helper.make_node("Unsqueeze", ["factors", "axis"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "sum_axis"], ["summed"], keepdims=0),
        helper.make_node("MatMul", ["summed", "weights"], ["logits"]),
    ]
    arrays = {"words": vectors, "weights": weights, "axis": np.array([2]), "sum_axis": np.array([1])}
    return _model(nodes, {"logits": ["batch", weights.shape[1]]}, arrays)
