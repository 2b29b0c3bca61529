"""Read the settings of a neural model that the user does not give from the files in its folder.

Optimum, sentence-transformers and fastembed write these files:

| file | what is read |
|---|---|
| `config.json` | the architecture, the number of positions, the size of the vocabulary |
| `tokenizer_config.json`, `sentence_bert_config.json` | the length of texts |
| `modules.json`, `1_Pooling/config.json` | the pooling; whether vectors are brought to length 1 |
| `config_sentence_transformers.json` | the prompts of queries and documents |
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex_neural.files import ModelFolder, read_json

# The places of a model within a folder, in the order in which they are tried: Optimum's, sentence-transformers', and fastembed's.
MODELS = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
TOKENIZER = "tokenizer.json"
# The poolings that users can name, with the kind of result of each. Models that score pairs have the pooling "pairs".
POOLINGS = {"cls": "dense", "mean": "dense", "none": "dense", "splade": "sparse", "tokens": "late"}
# The number of pieces that are read of a text, if no file says how many the model takes.
LENGTH = 512
# A tokenizer that has no limit writes a number of this size or more.
NO_LIMIT = 1_000_000
# The types of models that number positions from the number of the padding piece on, so that fewer remain for pieces.
SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl", "longformer")


class ModelSettings(NamedTuple):
    """How a model is used.

    `prefixes` are put before the texts of queries and of documents. `length` is the largest number of pieces of a text.
    `pooling` is one of `POOLINGS`, "pairs", or None if no file names it. `vocabulary` is the number of pieces that the
    model's configuration states, or None.
    """

    model: str
    pooling: str | None
    normalise: bool
    prefixes: tuple[str, str]
    length: int
    lowercase: bool
    vocabulary: int | None


class GivenSettings(NamedTuple):
    """The values of the parameters that the user gave; None for those that the files decide."""

    pooling: str | None = None
    normalise: bool | None = None
    prefix: tuple[Any, ...] | None = None
    length: int | None = None


def settings_of(folder: ModelFolder, given: GivenSettings) -> ModelSettings:
    """Return the settings of the model in a folder."""
    model = next((name for name in MODELS if folder.has(name)), None)
    if model is None:
        raise folder.no_model("model.onnx", "Export the model as ONNX, for example by optimum-cli export onnx.")
    if not folder.has(TOKENIZER):
        raise folder.no_model(TOKENIZER, "Save the tokenizer beside the model, as transformers' fast tokenizers do.")
    config, modules = folder.json("config.json"), _modules(folder)
    pooling = given.pooling or _pooling(folder, modules, config)
    refused = [kind for kind, _ in modules if kind == "Dense"]
    if refused and pooling not in ("none", "pairs"):
        raise InputError(
            f"{folder.path} has a module {refused[0]} after the pooling, which model.onnx lacks; "
            "export the model with all its modules, and give pooling=none."
        )
    normalise = given.normalise
    if normalise is None:
        normalise = pooling == "tokens" or any(kind == "Normalize" for kind, _ in modules)
    sbert = folder.json("sentence_bert_config.json")
    size = config.get("vocab_size")
    return ModelSettings(
        model, pooling, normalise, _prefixes(folder, given.prefix), _length(folder, config, sbert, given.length),
        sbert.get("do_lower_case") is True, size if type(size) is int else None,
    )  # fmt: skip


def _modules(folder: ModelFolder) -> list[tuple[str, str]]:
    """Return the kind and the folder of each module of a sentence-transformers model; nothing for other models."""
    if not folder.has("modules.json"):
        return []
    listed = read_json(folder.place("modules.json"))
    if not isinstance(listed, list) or not all(
        isinstance(each, dict) and isinstance(each.get("type"), str) and isinstance(each.get("path"), str)
        for each in listed
    ):
        raise InputError(f"{os.path.join(folder.path, 'modules.json')} lists no modules of sentence-transformers.")
    return [(each["type"].rpartition(".")[2], each["path"]) for each in listed]


def _pooling(folder: ModelFolder, modules: list[tuple[str, str]], config: dict[str, Any]) -> str | None:
    """Return the pooling that the files name, or None."""
    for kind, path in modules:
        if kind == "SpladePooling":
            strategy = folder.json(os.path.join(path, "config.json")).get("pooling_strategy", "max")
            if strategy != "max":
                raise InputError(f"{folder.path} has the SPLADE pooling {str(strategy)[:30]!r}; Sublex has max.")
            return "splade"
        if kind == "Pooling":
            return _of_pooling(folder, os.path.join(path, "config.json"))
    architectures = config.get("architectures")
    names = [str(name) for name in architectures] if isinstance(architectures, list) else []
    if any(name.endswith("ForMaskedLM") for name in names):
        return "splade"
    return "pairs" if any(name.endswith("ForSequenceClassification") for name in names) else None


def _of_pooling(folder: ModelFolder, name: str) -> str:
    found = folder.json(name)
    modes = [
        key.removeprefix("pooling_mode_")
        for key, value in found.items()
        if key.startswith("pooling_mode_") and value is True
    ]
    if isinstance(found.get("pooling_mode"), str):
        modes = [found["pooling_mode"]]
    known = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean"}
    if len(modes) != 1 or modes[0] not in known or found.get("include_prompt") is False:
        what = ", ".join(modes) or "nothing"
        more = " without the prompt" if found.get("include_prompt") is False else ""
        raise InputError(
            f"{os.path.join(folder.path, name)} pools by {what[:60]}{more}; Sublex has cls and mean. Give pooling= to use one of them."
        )
    return known[modes[0]]


def _prefixes(folder: ModelFolder, given: tuple[Any, ...] | None) -> tuple[str, str]:
    """Return the texts that are put before a query and before a document."""
    if given is not None:
        if len(given) != 2 or not all(isinstance(text, str) for text in given):
            raise InputError(
                'onnx: prefix= takes two texts, for queries and documents, as in prefix=["query: ", "passage: "].'
            )
        return given[0], given[1]
    found = folder.json("config_sentence_transformers.json")
    prompts = found.get("prompts")
    prompts = (
        {name: text for name, text in prompts.items() if isinstance(text, str)} if isinstance(prompts, dict) else {}
    )
    default = prompts.get(str(found.get("default_prompt_name")), "")
    document = next((prompts[name] for name in ("document", "passage", "corpus") if name in prompts), default)
    return prompts.get("query", default), document


def _length(folder: ModelFolder, config: dict[str, Any], sbert: dict[str, Any], given: int | None) -> int:
    """Return the number of pieces that the model reads of a text. Raise `InputError` if the user asks for more."""
    positions = config.get("max_position_embeddings")
    most = positions if type(positions) is int and positions > 0 else None
    if most is not None and config.get("model_type") in SHIFTED:
        padding = config.get("pad_token_id")
        most -= (padding if type(padding) is int else 1) + 1
    if given is not None:
        if most is not None and given > most:
            raise InputError(
                f"onnx: length={given} is more than the {most} pieces that the model in {folder.path} takes."
            )
        return given
    settings = folder.json("tokenizer_config.json")
    known = [most, settings.get("model_max_length"), sbert.get("max_seq_length")]
    limits = [int(limit) for limit in known if isinstance(limit, (int, float)) and 1 < limit < NO_LIMIT]
    return min(limits, default=LENGTH)
