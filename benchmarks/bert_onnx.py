"""Write the weights of a BERT model as ONNX, and compare the encoder `onnx` with figures that sentence-transformers publishes.

    python benchmarks/bert_onnx.py FOLDER

FOLDER has the files of all-MiniLM-L6-v2, or of another BERT model: model.safetensors, config.json, tokenizer.json and what
sentence-transformers writes. The script writes model.onnx beside them, as optimum-cli would, and prints the cosines of the three
sentences of sentence-transformers' quickstart; for all-MiniLM-L6-v2 it publishes 0.6660, 0.1046 and 0.1411
(https://sbert.net/docs/quickstart.html). It compares `wordpiece` with the package tokenizers on the demo collection too. It needs
the packages onnx, onnxruntime and tokenizers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from sublex.language import plugins
from sublex_neural.files import ModelFolder
from sublex_neural.safetensors import read_arrays
from sublex_neural.wordpiece import read_wordpiece

SENTENCES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Graph:
    """A graph of ONNX that grows by nodes."""

    def __init__(self, weights: dict[str, np.ndarray]):
        self.weights, self.nodes, self.arrays = weights, [], []

    def node(self, kind: str, inputs: list[str], output: str, **options: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], **options))
        return output

    def array(self, name: str, value: object, kind: type = np.int64) -> str:
        self.arrays.append(numpy_helper.from_array(np.array(value, kind, order="C"), name))
        return name

    def weight(self, name: str, turned: bool = False) -> str:
        return self.array(name, self.weights[name].T if turned else self.weights[name], np.float32)

    def linear(self, x: str, name: str, output: str) -> str:
        product = self.node("MatMul", [x, self.weight(f"{name}.weight", True)], f"{output}.product")
        return self.node("Add", [product, self.weight(f"{name}.bias")], output)

    def norm(self, x: str, name: str, epsilon: float, output: str) -> str:
        inputs = [x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.node("LayerNormalization", inputs, output, epsilon=epsilon, axis=-1)


def bert(weights: dict[str, np.ndarray], config: dict) -> bytes:
    """Return a BERT model in ONNX, whose output is `last_hidden_state`."""
    g, width, heads, small = (
        Graph(weights),
        config["hidden_size"],
        config["num_attention_heads"],
        config["layer_norm_eps"],
    )
    length = g.node("Gather", [g.node("Shape", ["input_ids"], "shape"), g.array("second", 1)], "length")
    places = g.node("Range", [g.array("from", 0), length, g.array("step", 1)], "places")
    x = g.node("Gather", [g.weight("embeddings.word_embeddings.weight"), "input_ids"], "words")
    for kind, numbers in (("token_type", "token_type_ids"), ("position", places)):
        rows = g.node("Gather", [g.weight(f"embeddings.{kind}_embeddings.weight"), numbers], kind)
        x = g.node("Add", [x, rows], f"with.{kind}")
    x = g.norm(x, "embeddings.LayerNorm", small, "layer.0")
    one, half = g.array("one", 1, np.float32), g.array("half", 0.5, np.float32)
    scale, root = g.array("scale", (width // heads) ** -0.5, np.float32), g.array("root", 2**-0.5, np.float32)
    shape, flat = g.array("heads", [0, 0, heads, width // heads]), g.array("flat", [0, 0, width])
    mask = g.node("Sub", [g.node("Cast", ["attention_mask"], "read", to=TensorProto.FLOAT), one], "left.out")
    mask = g.node("Mul", [mask, g.array("far", 1e9, np.float32)], "lowered")
    mask = g.node("Unsqueeze", [mask, g.array("axes", [1, 2])], "mask")
    for n in range(config["num_hidden_layers"]):
        layer, parts = f"encoder.layer.{n}", {}
        for part in ("query", "key", "value"):
            y = g.node(
                "Reshape", [g.linear(x, f"{layer}.attention.self.{part}", f"{part}.{n}"), shape], f"{part}.heads.{n}"
            )
            order = [0, 2, 3, 1] if part == "key" else [0, 2, 1, 3]
            parts[part] = g.node("Transpose", [y], f"{part}.turned.{n}", perm=order)
        y = g.node("Mul", [g.node("MatMul", [parts["query"], parts["key"]], f"dots.{n}"), scale], f"scaled.{n}")
        y = g.node("Softmax", [g.node("Add", [y, mask], f"masked.{n}")], f"shares.{n}", axis=-1)
        y = g.node(
            "Transpose", [g.node("MatMul", [y, parts["value"]], f"mixed.{n}")], f"mixed.turned.{n}", perm=[0, 2, 1, 3]
        )
        y = g.linear(g.node("Reshape", [y, flat], f"joined.{n}"), f"{layer}.attention.output.dense", f"attended.{n}")
        x = g.norm(g.node("Add", [y, x], f"sum.{n}"), f"{layer}.attention.output.LayerNorm", small, f"half.{n}")
        y = g.linear(x, f"{layer}.intermediate.dense", f"wide.{n}")
        erf = g.node("Erf", [g.node("Mul", [y, root], f"rooted.{n}")], f"erf.{n}")
        gate = g.node("Mul", [g.node("Add", [erf, one], f"above.{n}"), half], f"gate.{n}")
        y = g.linear(g.node("Mul", [y, gate], f"gelu.{n}"), f"{layer}.output.dense", f"narrow.{n}")
        x = g.norm(g.node("Add", [y, x], f"whole.{n}"), f"{layer}.output.LayerNorm", small, f"layer.{n + 1}")
    g.node("Identity", [x], "last_hidden_state")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in INPUTS]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", width])
    graph = helper.make_graph(g.nodes, "bert", inputs, [output], g.arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def main() -> None:
    folder = Path(sys.argv[1])
    weights = {
        name.removeprefix("bert."): array for name, array in read_arrays(str(folder / "model.safetensors")).items()
    }
    (folder / "model.onnx").write_bytes(bert(weights, json.loads((folder / "config.json").read_text())))
    made = plugins.load().build("encoder", "onnx", {"folder": str(folder)})
    rows = made.encode(SENTENCES, "document").rows.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    print("cosines", *(f"{rows[a] @ rows[b]:.4f}" for a, b in ((0, 1), (0, 2), (1, 2))), "by", *made.about().values())
    mine, theirs = read_wordpiece(ModelFolder(str(folder))), Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs.no_truncation()
    theirs.no_padding()
    demo = Path(__file__).parents[1] / "queries" / "demo" / "documents.jsonl"
    texts = [json.loads(line)["text"] for line in demo.read_text(encoding="utf-8").splitlines()]
    same = sum(mine.encode(text) == theirs.encode(text, add_special_tokens=False).ids for text in texts)
    print(f"{same} of {len(texts)} documents have the pieces that tokenizers gives")


if __name__ == "__main__":
    main()
