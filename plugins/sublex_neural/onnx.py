"""The encoder `onnx`: a neural model in ONNX, run by onnxruntime, with the tokenizer beside it.

The packages onnxruntime and tokenizers are imported when the encoder is first used. Documents are sorted by length and
encoded in batches. Queries are encoded one by one. The last digits of the results may depend on the batch, the number
of threads and the processor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import metadata
from typing import Any

import numpy as np

from sublex.contracts.encoders import Encoded, Scored
from sublex.errors import InputError, MissingExtra
from sublex.tools.messages import counted, in_short
from sublex_neural.files import ModelFolder, identity_of, json_of, open_file
from sublex_neural.long_texts import CHARACTERS, beginnings, is_local
from sublex_neural.onnx_model import ModelInputs, checked
from sublex_neural.settings import POOLINGS, TOKENIZER, GivenSettings, ModelSettings, settings_of

# Increased when the same files and texts give other vectors.
VERSION = 1
PROVIDER = "CPUExecutionProvider"
# The most texts of a batch, and the most pieces of all of them.
BATCH, BATCH_PIECES = 64, 8192
# The bytes of memory for the work of a model, unless the user gives a number.
MEMORY = 1 << 32
# The output of a batch may take 1 / SHARE of this memory, because a model needs several arrays of its size.
SHARE = 8
# The factor by which the normalizers of a tokenizer may make a text longer, at most.
MOST_GROWTH = 64
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# The names of outputs by their rank, the best first.
NAMES = {
    3: ("last_hidden_state", "token_embeddings", "logits", "output"),
    2: ("sentence_embedding", "logits", "pooler_output"),
}
TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


@contextmanager
def _refusing(sentence: str) -> Iterator[None]:
    """Turn an error of the package tokenizers into an InputError that begins with `sentence`."""
    try:
        yield
    except BaseException as error:  # A panic of Rust is no Exception.
        if isinstance(error, (KeyboardInterrupt, MemoryError)):
            raise
        raise InputError(f"{sentence}: {in_short(error)}.") from None


def _expect_no_growth(data: bytes, path: str) -> None:
    """Raise InputError for a `tokenizer.json` whose normalizers can make a text very much longer.

    Forty replacements of "a" by "aa" would fill any memory before a text is cut to its length.
    """
    growth, parts = 1, [json_of(data, path).get("normalizer")]
    while parts and growth <= MOST_GROWTH:
        part = parts.pop()
        if not isinstance(part, dict):
            continue
        inner, content, pattern = part.get("normalizers"), part.get("content"), part.get("pattern")
        parts += inner if isinstance(inner, list) else []
        if isinstance(content, str):
            # How much a regular expression matches is not known, so it counts as one character.
            text = pattern.get("String") if isinstance(pattern, dict) else None
            growth *= max(1, -(-len(content) // max(1, len(text if isinstance(text, str) else ""))))
    if growth > MOST_GROWTH:
        raise InputError(f"{path} has normalizers that make a text more than {MOST_GROWTH} times as long.")


class OnnxEncoder:
    """An encoder that runs a neural model: `model.onnx` and `tokenizer.json` of a folder.

    Parameters that are not given are read from the files beside the model that Optimum, sentence-transformers and
    fastembed write. The ends of texts that are too long are left out, and results state the number of such texts. The
    packages onnxruntime and tokenizers run the model.
    """

    def __init__(self, folder: str, **given: Any):
        self.folder, self.given, self.memory = folder, GivenSettings(**given), MEMORY

    @cached_property
    def _files(self) -> ModelFolder:
        return ModelFolder(self.folder)

    @cached_property
    def _settings(self) -> ModelSettings:
        return settings_of(self._files, self.given)

    @cached_property
    def _data(self) -> bytes:
        """The bytes of the model. They are dropped when the runtime has read them."""
        with open_file(self._files.place(self._settings.model)) as file:
            return file.read()

    @cached_property
    def _model(self) -> ModelInputs:
        path = self._files.place(self._settings.model)
        model = checked(self._data, path, self.memory)
        unknown = [name for name in model.inputs if name not in INPUTS]
        if unknown or "input_ids" not in model.inputs:
            asks = f"asks for {unknown[0][:40]!r}" if unknown else "does not ask for input_ids"
            raise InputError(f"{path} {asks}; Sublex gives a model {', '.join(INPUTS)}.")
        return model

    @cached_property
    def pooling(self) -> str:
        """How the output becomes vectors; "pairs" for a model that scores pairs."""
        found = self._settings.pooling
        if found is None:
            outputs = self._model.outputs
            if "sentence_embedding" in outputs:
                return "none"
            raise InputError(
                f"The files in {self.folder} do not say how the model pools; give pooling=cls, mean, splade or tokens, "
                "as the model was trained."
            )
        return found

    @cached_property
    def kind(self) -> str:
        """What the encoder returns: "dense", "sparse" or "late"; "pairs" for a model that scores pairs."""
        return POOLINGS.get(self.pooling, "pairs")

    @cached_property
    def identity(self) -> str:
        """A hash of the model, the tokenizer and the settings."""
        settings, files = self._settings, self._files
        hashes = [files.hash(name) for name in (settings.model, TOKENIZER)]
        return identity_of(
            "onnx",
            VERSION,
            *hashes,
            self.pooling,
            settings.normalise,
            settings.prefixes,
            settings.length,
            settings.lowercase,
        )

    def limit(self, memory: int) -> None:
        """Refuse a model whose work needs more than `memory` bytes, without its weights."""
        self.memory = memory
        self._room()

    def about(self) -> Mapping[str, str]:
        """Return the runtime with its version, its provider, and the number of pieces that are read of a text."""
        try:
            version = metadata.version("onnxruntime")
        except metadata.PackageNotFoundError:
            raise MissingExtra("The encoder onnx", "onnx") from None
        return {
            "runtime": f"onnxruntime {version}", "provider": PROVIDER,
            "reads": counted(self._settings.length, "piece"),
        }  # fmt: skip

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra("The encoder onnx", "onnx") from None
        path = self._files.place(TOKENIZER)
        with open_file(path) as file:
            data = file.read()
        _expect_no_growth(data, path)
        self._cuts = is_local(json_of(data, path))
        with _refusing(f"{path} is no tokenizer that the package tokenizers reads"):
            tokenizer = Tokenizer.from_str(data.decode())
            tokenizer.no_padding()
            tokenizer.enable_truncation(self._settings.length)
        largest = max(tokenizer.get_vocab().values(), default=0)
        pieces = self._model.pieces or self._settings.vocabulary
        if pieces is not None and largest >= pieces:
            raise InputError(
                f"{path} has the piece {largest:,}, and the model has {counted(pieces, 'piece')}: "
                "the tokenizer is not the model's; save both together."
            )
        return tokenizer

    @cached_property
    def _pieces(self) -> list[str]:
        """The pieces of the tokenizer by number; "" for a number without a piece."""
        vocabulary = self._tokenizer.get_vocab()
        pieces = [""] * (max(vocabulary.values()) + 1)
        for piece, number in vocabulary.items():
            pieces[number] = piece
        return pieces

    @cached_property
    def _output(self) -> str:
        """The name of the output that the pooling reads."""
        rank = 2 if self.pooling in ("none", "pairs") else 3
        outputs, path = self._model.outputs, self._files.place(self._settings.model)
        fitting = [name for name, shape in outputs.items() if shape is None or len(shape) == rank]
        if not fitting:
            shown = ", ".join(f"{name[:40]} of rank {len(shape or ())}" for name, shape in outputs.items())
            raise InputError(
                f"{path} has the outputs {shown or 'none'}, and pooling={self.pooling} reads one of rank {rank}; "
                "give the pooling that the model was trained with."
            )
        name = next((name for name in NAMES[rank] if name in fitting), fitting[0])
        width = (outputs[name] or (None,))[-1]
        if self.pooling == "pairs" and width not in (1, None):
            raise InputError(f"{path} gives a pair {width:,} numbers, and Sublex reads models that give one.")
        if self.pooling == "splade" and width is not None and width < len(self._pieces):
            raise InputError(
                f"{path} gives {counted(width, 'weight')}, and the tokenizer has {counted(len(self._pieces), 'piece')}: "
                "the tokenizer is not the model's, or pooling=splade is not its pooling."
            )
        return name

    def _room(self) -> int:
        """Return the number of pieces that a batch may have within the memory. Raise `InputError` if one text needs
        more.
        """
        shape = self._model.outputs[self._output]
        width = (shape[-1] if shape else None) or 1
        pieces = self.memory // SHARE // (4 * width)
        if pieces < self._settings.length:
            raise InputError(
                f"A text of {counted(self._settings.length, 'piece')} takes {4 * width * self._settings.length * SHARE:,} bytes "
                f"in the model of {self.folder}, more than --memory allows; give it a smaller length=."
            )
        return pieces

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtra("The encoder onnx", "onnx") from None
        path = self._files.place(self._settings.model)
        self._room()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        # The memory of the work is limited, so that a model that makes a huge array fails and kills nothing.
        place = onnxruntime.OrtMemoryInfo(
            "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
        )
        most = self.memory + 2 * len(self._data)
        onnxruntime.create_and_register_allocator(place, onnxruntime.OrtArenaCfg({"max_mem": most}))
        options.add_session_config_entry("session.use_env_allocators", "1")
        try:
            # Without a fallback, which would print and try the same provider again.
            session = onnxruntime.InferenceSession(self._data, options, providers=[PROVIDER], enable_fallback=0)
        except Exception as error:
            raise self._refusal("read", path, error) from None
        del self.__dict__["_data"]
        odd = [each for each in session.get_inputs() if each.type not in TYPES]
        if odd:
            raise InputError(f"{path} wants {odd[0].name} as {odd[0].type}; Sublex gives whole numbers.")
        return session

    def _refusal(self, verb: str, path: str, error: Exception) -> InputError:
        if _is_memory(error):
            return InputError(
                f"{path} needs more memory than --memory allows; allow more, or give it a smaller length=."
            )
        return InputError(f"onnxruntime cannot {verb} {path}: {in_short(error)}.")

    def encode(self, texts: Sequence[str], role: str) -> Encoded:
        """Return the vectors of texts. Queries are encoded one by one, so that no query changes another's vector."""
        if self.pooling == "pairs":
            raise InputError(
                f"The model in {self.folder} scores pairs; use it by cross(onnx({json.dumps(self.folder)}))."
            )
        prefix = self._settings.prefixes[role != "query"]
        lower = str.lower if self._settings.lowercase else str
        encodings = self._tokenized([prefix + lower(text) for text in texts])
        found: list[Any] = [None] * len(texts)
        for places in self._batches([len(each.ids) for each in encodings], alone=role == "query"):
            batch = [encodings[place] for place in places]
            for place, rows in zip(places, self._pooled(self._run(batch), batch), strict=True):
                found[place] = rows
        return self._joined(found, encodings)

    def score_pairs(self, query: str, texts: Sequence[str]) -> Scored:
        """Return the model's score of each text for a query, before any sigmoid."""
        if self.pooling != "pairs":
            raise InputError(
                f"The model in {self.folder} encodes texts one by one and scores no pairs; cross needs a cross-encoder."
            )
        encodings = self._tokenized(texts, query)
        scores = np.empty(len(texts))
        for places in self._batches([len(each.ids) for each in encodings], alone=False):
            scores[places] = self._run([encodings[place] for place in places])[:, 0]
        self._refuse_infinite(scores)
        return Scored(scores, _cut(encodings))

    def _tokenized(self, texts: Sequence[str], query: str | None = None) -> list[Any]:
        """Return the pieces of texts, or of the pairs of a query and each text."""
        tokenizer = self._tokenizer
        with _refusing(f"The tokenizer in {self.folder} cannot read a text"):
            read = [self._beginning(text, query) for text in texts]
            return list(tokenizer.encode_batch(read if query is None else [(query, text) for text in read]))

    def _beginning(self, text: str, query: str | None) -> str:
        """Return a text, or a shorter beginning of it whose first pieces, as many as are kept, are the same.

        In a pair, the longer of query and text is cut first. So a text of a pair is shortened only if it has more
        pieces than are kept, and the query has not.
        """
        length = self._settings.length
        if len(text) <= CHARACTERS * length or not self._cuts:
            return text
        encode = self._tokenizer.encode
        if query is not None and (len(query) > CHARACTERS * length or encode(query).overflowing):
            return text
        return next((part for part in beginnings(text, length) if part is text or encode(part).overflowing), text)

    def _batches(self, sizes: Sequence[int], alone: bool) -> Iterator[list[int]]:
        """Yield the numbers of the texts of each batch. Texts of similar length are in one batch; with `alone`, each
        text is a batch.
        """
        most = min(BATCH_PIECES, self._room())
        batch: list[int] = []
        for place in np.argsort(sizes, kind="stable").tolist():
            # Sizes ascend, so the last text has the width of the batch.
            if batch and (alone or len(batch) == BATCH or (len(batch) + 1) * sizes[place] > most):
                yield batch
                batch = []
            batch.append(place)
        if batch:
            yield batch

    def _run(self, batch: Sequence[Any]) -> np.ndarray:
        """Return the output of the model for a batch of encoded texts."""
        longest = max(1, *(len(each.ids) for each in batch))
        output = self._output_of(batch, longest)
        expected = (len(batch),) if self.pooling in ("none", "pairs") else (len(batch), longest)
        path = self._files.place(self._settings.model)
        if output.ndim != len(expected) + 1 or output.shape[:-1] != expected or output.dtype.kind != "f":
            raise InputError(
                f"{path} gave an output of the shape {output.shape} for {counted(len(batch), 'text')} of "
                f"{counted(longest, 'piece')}, which pooling={self.pooling} does not read."
            )
        if self.pooling == "pairs" and output.shape[-1] != 1:
            raise InputError(
                f"{path} gives a pair {output.shape[-1]:,} numbers, and Sublex reads models that give one."
            )
        return output

    def _output_of(self, batch: Sequence[Any], longest: int) -> np.ndarray:
        """Return the output of the runtime for a batch. If a batch needs too much memory, its halves are run one after
        the other.
        """
        session = self._session
        values = {
            "input_ids": [each.ids for each in batch], "attention_mask": [each.attention_mask for each in batch],
            "token_type_ids": [each.type_ids for each in batch],
        }  # fmt: skip
        given = {}
        for each in session.get_inputs():
            array = np.zeros((len(batch), longest), TYPES[each.type])
            for row, numbers in zip(array, values[each.name], strict=True):
                row[: len(numbers)] = numbers
            given[each.name] = array
        path = self._files.place(self._settings.model)
        try:
            (output,) = session.run([self._output], given)
        except Exception as error:
            if len(batch) == 1 or not _is_memory(error):
                raise self._refusal("run", path, error) from None
        else:
            return np.asarray(output)
        half = len(batch) // 2
        return np.concatenate([self._output_of(part, longest) for part in (batch[:half], batch[half:])])

    def _pooled(self, output: np.ndarray, batch: Sequence[Any]) -> Iterator[np.ndarray]:
        """Yield the vector, the weights or the matrix of each text of a batch."""
        for rows, each in zip(output, batch, strict=True):
            if self.pooling == "none":
                yield self._scaled(rows.astype(np.float64))
                continue
            read = rows[: len(each.ids)][np.array(each.attention_mask, np.bool_)]
            if not len(read):
                width = len(self._pieces) if self.pooling == "splade" else rows.shape[1]
                yield np.zeros((0, width) if self.pooling == "tokens" else width)
            elif self.pooling == "splade":
                yield np.log1p(np.maximum(read.max(axis=0)[: len(self._pieces)].astype(np.float64), 0))
            elif self.pooling == "tokens":
                yield self._scaled(read.astype(np.float64))
            else:
                yield self._scaled(
                    read[0].astype(np.float64) if self.pooling == "cls" else read.mean(axis=0, dtype=np.float64)
                )

    def _scaled(self, rows: np.ndarray) -> np.ndarray:
        """Return `rows`, scaled to length 1 if the settings say so. A row of zeros stays as it is."""
        if not self._settings.normalise:
            return rows
        norms = np.sqrt(np.sum(rows * rows, axis=-1, keepdims=True))
        return (
            np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
            if np.isfinite(norms).all()
            else rows * np.nan
        )

    def _joined(self, found: list[Any], encodings: Sequence[Any]) -> Encoded:
        """Return the vectors, weights or matrices of all texts as one record."""
        cut = _cut(encodings)
        if self.kind == "sparse":
            from scipy.sparse import csr_array

            columns = [np.flatnonzero(row) for row in found]
            weights = np.concatenate([row[places] for row, places in zip(found, columns, strict=True)] or [np.empty(0)])
            self._refuse_infinite(weights)
            used = np.unique(np.concatenate(columns or [np.empty(0, np.int64)]))
            ends = np.cumsum([0, *map(len, columns)])
            numbers = np.searchsorted(used, np.concatenate(columns or [np.empty(0, np.int64)]))
            matrix = csr_array((weights.astype(np.float32), numbers, ends), shape=(len(found), len(used)))
            return Encoded(matrix, [self._pieces[place] for place in used.tolist()], cut=cut)
        if self.kind == "late":
            rows = np.concatenate(found) if found else np.empty((0, 0))
            terms = [
                token
                for each in encodings
                for token, mask in zip(each.tokens, each.attention_mask, strict=True)
                if mask
            ]
            sizes = np.array([len(row) for row in found], np.int64)
            self._refuse_infinite(rows)
            return Encoded(rows.astype(np.float32), terms, sizes, cut)
        rows = np.stack(found) if found else np.empty((0, 0))
        self._refuse_infinite(rows)
        return Encoded(rows.astype(np.float32), cut=cut)

    def _refuse_infinite(self, values: np.ndarray) -> None:
        if not np.isfinite(values).all():
            raise InputError(f"The model in {self.folder} gave a number that is not finite; its file may be damaged.")


def _is_memory(error: Exception) -> bool:
    """Return whether the runtime failed because it got too little memory."""
    return any(words in str(error) for words in ("Available memory", "Failed to allocate", "bad_alloc"))


def _cut(encodings: Sequence[Any]) -> int:
    """Return the number of texts whose ends were left out."""
    return sum(bool(each.overflowing) for each in encodings)
