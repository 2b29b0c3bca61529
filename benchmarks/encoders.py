"""Time the encoder `onnx` beside a bare loop over onnxruntime, on a model of the shape of MiniLM with random weights.

    python benchmarks/encoders.py [--texts 512] [--rounds 5] [--words 60]

The model has 6 layers of width 384 and 12 heads, as all-MiniLM-L6-v2 has; the texts are random words of random number. The bare loop
reads the same tokenizer, sorts the texts by length, makes the same batches, runs the same session options, and takes the mean
of the rows by NumPy. Both take turns, and the ratio of the medians is printed, with the settings. It needs the package onnx.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from sublex.language import plugins

LAYERS, WIDTH, HEADS, PIECES = 6, 384, 12, 3000


def write_model(folder: Path) -> None:
    """Write a transformer with random weights, and a tokenizer of random words."""
    from onnx import TensorProto, helper, numpy_helper

    rng, nodes, arrays = np.random.default_rng(0), [], []

    def array(name: str, *shape: int) -> str:
        arrays.append(numpy_helper.from_array((rng.normal(size=shape) * 0.05).astype(np.float32), name))
        return name

    def constant(name: str, value: list, kind: type = np.int64) -> str:
        arrays.append(numpy_helper.from_array(np.array(value, kind), name))
        return name

    def node(kind: str, inputs: list[str], output: str, **options: object) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **options))
        return output

    heads, flat = constant("heads", [0, 0, HEADS, WIDTH // HEADS]), constant("flat", [0, 0, WIDTH])
    scale, half = constant("scale", (WIDTH / HEADS) ** -0.5, np.float32), constant("half", 0.5, np.float32)
    root, one = constant("root", 2**-0.5, np.float32), constant("one", 1.0, np.float32)
    mask = node("Cast", ["attention_mask"], "m0", to=TensorProto.FLOAT)
    mask = node("Mul", [node("Sub", [mask, one], "m1"), constant("far", 1e4, np.float32)], "m2")
    mask = node("Unsqueeze", [mask, constant("axes", [1, 2])], "m3")
    x = node("Gather", [array("words", PIECES, WIDTH), "input_ids"], "x0")
    for n in range(LAYERS):
        parts = []
        for part in "qkv":
            y = node("MatMul", [x, array(f"w{part}{n}", WIDTH, WIDTH)], f"{part}{n}")
            y = node("Reshape", [y, heads], f"{part}r{n}")
            parts.append(node("Transpose", [y], f"{part}t{n}", perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]))
        scores = node("Mul", [node("MatMul", parts[:2], f"s{n}"), scale], f"ss{n}")
        weights = node("Softmax", [node("Add", [scores, mask], f"sm{n}")], f"p{n}", axis=-1)
        y = node("Transpose", [node("MatMul", [weights, parts[2]], f"c{n}")], f"ct{n}", perm=[0, 2, 1, 3])
        y = node("MatMul", [node("Reshape", [y, flat], f"cr{n}"), array(f"wo{n}", WIDTH, WIDTH)], f"o{n}")
        gain, bias = constant(f"g{n}", [1.0] * WIDTH, np.float32), constant(f"b{n}", [0.0] * WIDTH, np.float32)
        x = node("LayerNormalization", [node("Add", [x, y], f"a{n}"), gain, bias], f"n{n}")
        y = node("MatMul", [x, array(f"w1{n}", WIDTH, 4 * WIDTH)], f"f{n}")
        gate = node("Add", [node("Erf", [node("Mul", [y, root], f"e0{n}")], f"e{n}"), one], f"e1{n}")
        y = node("Mul", [node("Mul", [y, gate], f"e2{n}"), half], f"e3{n}")
        y = node("MatMul", [y, array(f"w2{n}", 4 * WIDTH, WIDTH)], f"ff{n}")
        x = node("LayerNormalization", [node("Add", [x, y], f"af{n}"), gain, bias], f"x{n + 1}")
    node("Identity", [x], "last_hidden_state")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "l"]) for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "l", WIDTH])
    graph = helper.make_graph(nodes, "minilm", inputs, [output], arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [f"w{number}" for number in range(PIECES - 5)]
    specials = [
        {"id": i, "content": pieces[i], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for i in range(5)
    ]  # fmt: skip
    special = {name: {"id": name, "ids": [i], "tokens": [name]} for name, i in (("[CLS]", 2), ("[SEP]", 3))}
    single = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    single.append({"SpecialToken": {"id": "[SEP]", "type_id": 0}})
    tokenizer = {
        "version": "1.0", "added_tokens": specials, "normalizer": {"type": "BertNormalizer", "clean_text": True,
        "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {piece: number for number, piece in enumerate(pieces)}},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def bare_loop(folder: Path):
    """Return a function that encodes texts by onnxruntime and tokenizers alone."""
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()

    def encode(texts: list[str]) -> np.ndarray:
        encodings = tokenizer.encode_batch(texts)
        order = sorted(range(len(texts)), key=lambda place: len(encodings[place].ids))
        rows, begin = np.empty((len(texts), WIDTH), np.float32), 0
        while begin < len(order):
            end = begin + 1
            while end < len(order) and end - begin < 64 and (end + 1 - begin) * len(encodings[order[end]].ids) <= 8192:
                end += 1
            places, begin = order[begin:end], end
            longest = len(encodings[places[-1]].ids)
            ids, mask = np.zeros((2, len(places), longest), np.int64)
            for row, place in enumerate(places):
                size = len(encodings[place].ids)
                ids[row, :size], mask[row, :size] = encodings[place].ids, 1
            (output,) = session.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask})
            rows[places] = (output * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return rows

    return encode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--words", type=int, default=60, help="mean number of words of a text")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    rng = random.Random(0)
    texts = [
        " ".join(f"w{rng.randrange(PIECES - 5)}" for _ in range(rng.randrange(1, 2 * asked.words)))
        for _ in range(asked.texts)
    ]
    with tempfile.TemporaryDirectory() as name:
        write_model(Path(name))
        bare, made = bare_loop(Path(name)), plugins.load().build("encoder", "onnx", {"folder": name, "pooling": "mean"})
        runs = {"onnx(FOLDER)": lambda: made.encode(texts, "document").rows, "bare loop": lambda: bare(texts)}
        rows = {what: run() for what, run in runs.items()}
        assert np.allclose(*rows.values(), atol=1e-4), "both encode alike"
        seconds: dict[str, list[float]] = {what: [] for what in runs}
        for _ in range(asked.rounds):
            for what, run in runs.items():
                begin = time.perf_counter()
                run()
                seconds[what].append(time.perf_counter() - begin)
    medians = {what: statistics.median(found) for what, found in seconds.items()}
    print(f"{asked.texts} texts of {asked.words} words on average, {asked.rounds} rounds, {made.about()}")
    for what, median in medians.items():
        print(f"{what:<14} {median:.3f} s  {asked.texts / median:,.0f} texts/s")
    mine, theirs = medians.values()
    print(f"ratio {mine / theirs:.3f}")


if __name__ == "__main__":
    main()
