"""Check an ONNX file before a runtime reads it: it must refer to no other files, need no operators from elsewhere, and
have arrays of acceptable sizes.

The check needs no package. The file is a protocol buffer (https://github.com/onnx/onnx, `onnx.proto`), of which only
the relevant fields are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from sublex.errors import InputError

# The sets of operators (domains) that are part of onnxruntime.
DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc")
# Operators of these sets that open files or call code.
REFUSED = ("EPContext", "PyOp", "PythonOp", "PythonOpGrad", "TritonOp", "ATen")
# Operators that make an array whose shape an input states, with the place of this input.
SHAPED = {"ConstantOfShape": 0, "Expand": 1, "RandomNormal": 0, "RandomUniform": 0}
# The bytes of an entry by the number of its type in TensorProto. Entries of other types take half a byte or more.
WIDTHS = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16, 16: 2}
STRING = 8
# The largest depth of graphs within graphs, and the largest number of dimensions of an array.
DEEPEST, MOST_AXES = 20, 64

Field = tuple[int, int, int, int]


class ModelInputs(NamedTuple):
    """The inputs and outputs that a model declares, with their shapes.

    A size in a shape is None if the model leaves it open, and a shape is None if its rank is open. `pieces` is the
    number of rows of the table that `input_ids` indexes, or None if it is not known.
    """

    inputs: dict[str, tuple[int | None, ...] | None]
    outputs: dict[str, tuple[int | None, ...] | None]
    pieces: int | None


class _Check:
    """Walks through the messages of one ONNX file and checks them. Each method reads the bytes from `begin` up to
    `end`.
    """

    def __init__(self, data: bytes, path: str, memory: int):
        self.data, self.path, self.memory = memoryview(data), path, memory
        self.rows: dict[str, int] = {}
        self.pieces: int | None = None
        self.shapes: dict[str, list[int]] = {}

    def damaged(self) -> InputError:
        return InputError(f"{self.path} is no sound ONNX file.")

    def refuse(self, what: str, advice: str) -> InputError:
        return InputError(f"{self.path} {what}, and Sublex runs no such model; {advice}.")

    def varint(self, place: int, end: int) -> tuple[int, int]:
        value = shift = 0
        while place < end and shift < 70:
            byte = self.data[place]
            value |= (byte & 127) << shift
            place, shift = place + 1, shift + 7
            if byte < 128:
                return value, place
        raise self.damaged()

    def fields(self, begin: int, end: int) -> Iterator[Field]:
        """Yield the number and the type of each field of a message, then its value and 0, or the begin and the end of
        its bytes.
        """
        while begin < end:
            key, begin = self.varint(begin, end)
            number, kind = key >> 3, key & 7
            if kind == 0:
                value, begin = self.varint(begin, end)
                yield number, 0, value, 0
                continue
            size = {1: 8, 5: 4}.get(kind)
            if kind == 2:
                size, begin = self.varint(begin, end)
            if size is None or size > end - begin or not number:
                raise self.damaged()
            yield number, kind, begin, begin + size
            begin += size

    def text(self, begin: int, end: int) -> str:
        return bytes(self.data[begin:end]).decode("utf-8", "replace")

    def messages(self, begin: int, end: int, wanted: int) -> Iterator[tuple[int, int]]:
        """Yield the begin and the end of each message in the fields with the number `wanted`."""
        return ((first, last) for number, kind, first, last in self.fields(begin, end) if (number, kind) == (wanted, 2))

    def model(self) -> ModelInputs:
        end, graphs = len(self.data), []
        for number, kind, first, last in self.fields(0, end):
            if kind != 2:
                continue
            if number == 8:
                self.domain(first, last, 1)
            elif number == 7:
                graphs.append((first, last))
            elif number == 25:
                self.function(first, last)
            elif number == 20:
                raise self.refuse("has information for training", "export it for inference")
        if len(graphs) != 1:
            raise self.damaged()
        self.graph(*graphs[0], 0)
        inputs, outputs = (dict(self.value(*place) for place in self.messages(*graphs[0], n)) for n in (11, 12))
        return ModelInputs({name: inputs[name] for name in inputs if name not in self.rows}, outputs, self.pieces)

    def domain(self, begin: int, end: int, wanted: int) -> None:
        for number, kind, first, last in self.fields(begin, end):
            if number == wanted and kind == 2 and (name := self.text(first, last)) not in DOMAINS:
                raise self.refuse(f"needs operators of {name[:40]!r}", "export it with the operators of ONNX alone")

    def function(self, begin: int, end: int) -> None:
        for number, kind, first, last in self.fields(begin, end):
            if number == 7 and kind == 2:
                self.node(first, last, 0)
            elif number == 9 and kind == 2:
                self.domain(first, last, 1)

    def graph(self, begin: int, end: int, depth: int) -> None:
        if depth > DEEPEST:
            raise self.damaged()
        nodes = []
        for number, kind, first, last in self.fields(begin, end):
            if kind != 2:
                continue
            if number == 1:
                nodes.append((first, last))
            elif number == 5:
                self.tensor(first, last)
            elif number in (11, 12, 13):
                self.value(first, last)
            elif number == 15:
                self.sparse(first, last)
        for place in nodes:
            self.node(*place, depth)

    def node(self, begin: int, end: int, depth: int) -> None:
        self.domain(begin, end, 7)
        operator, attributes = "", []
        inputs: list[str] = []
        outputs: list[str] = []
        for number, kind, first, last in self.fields(begin, end):
            if kind == 2 and number == 4:
                operator = self.text(first, last)
            elif kind == 2 and number in (1, 2):
                (inputs if number == 1 else outputs).append(self.text(first, last))
            elif kind == 2 and number == 5:
                attributes.append((first, last))
        if operator in REFUSED:
            raise self.refuse(f"has the operator {operator}", "export it with the operators of ONNX alone")
        for attribute in attributes:
            self.attribute(*attribute, depth, outputs[0] if operator == "Constant" and outputs else "")
        place = SHAPED.get(operator)
        if place is not None and place < len(inputs) and inputs[place] in self.shapes:
            self.fits(self.shapes[inputs[place]], 4, f"makes an array in {operator}")
        if operator == "Gather" and inputs[1:] == ["input_ids"] and inputs[0] in self.rows:
            self.pieces = self.rows[inputs[0]]

    def attribute(self, begin: int, end: int, depth: int, name: str) -> None:
        for number, kind, first, last in self.fields(begin, end):
            if kind == 2 and number in (5, 10):
                self.tensor(first, last, name)
            elif kind == 2 and number in (6, 11):
                self.graph(first, last, depth + 1)
            elif kind == 2 and number in (22, 23):
                self.sparse(first, last)

    def sparse(self, begin: int, end: int) -> None:
        dims: list[int] = []
        for number, kind, first, last in self.fields(begin, end):
            if number in (1, 2) and kind == 2:
                self.tensor(first, last)
            elif number == 3:
                dims += self.whole(kind, first, last)
        self.fits(dims, 4, "has an array")

    def whole(self, kind: int, first: int, last: int) -> list[int]:
        """Return the whole numbers in a field of type `kind`, which has one number or several packed ones."""
        if kind == 0:
            return [first]
        found = []
        while kind == 2 and first < last:
            value, first = self.varint(first, last)
            found.append(value)
        return found

    def tensor(self, begin: int, end: int, name: str = "") -> None:
        """Check that the file has the bytes for an array of the declared shape.

        A small array of int64 is stored in `shapes`, because it may be the shape of other arrays.
        """
        dims: list[int] = []
        numbers: list[int] = []
        held = data_type = 0
        raw = None
        for number, kind, first, last in self.fields(begin, end):
            if number == 1:
                dims += self.whole(kind, first, last)
            elif number == 2 and kind == 0:
                data_type = first
            elif number == 8 and kind == 2:
                name = self.text(first, last)
            elif number == 13 or (number == 14 and kind == 0 and first):
                raise self.refuse("keeps its weights in another file", "save it as one file, without external data")
            elif number in (4, 5, 6, 7, 9, 10, 11):
                held += last - first if kind == 2 else 8
                raw = (first, last) if number == 9 and kind == 2 else raw
                if number == 7 and last - first < 200:
                    numbers += self.whole(kind, first, last)
        if len(dims) > MOST_AXES or any(size >= 1 << 62 for size in dims):
            raise self.damaged()
        entries = math.prod(dims)
        # The numbers of a packed field take at least one byte each.
        width = WIDTHS.get(data_type, 0.5) if raw else 0.5
        if data_type != STRING and entries * width > held:
            raise InputError(f"{self.path} claims an array of {entries:,} entries, and holds {held:,} bytes for it.")
        if dims:
            self.rows[name] = dims[0]
        else:
            self.rows.setdefault(name, 1)
        if data_type == 7 and entries <= 16:
            if raw:
                held_bytes = bytes(self.data[slice(*raw)])
                numbers = [int.from_bytes(held_bytes[i : i + 8], "little") for i in range(0, len(held_bytes), 8)]
            self.shapes[name] = numbers

    def value(self, begin: int, end: int) -> tuple[str, tuple[int | None, ...] | None]:
        """Return the name and the shape of an input, an output or a value within the graph."""
        name, shape = "", None
        for number, kind, first, last in self.fields(begin, end):
            if number == 1 and kind == 2:
                name = self.text(first, last)
            elif number == 2 and kind == 2:
                for tensor in self.messages(first, last, 1):
                    for described in self.messages(*tensor, 2):
                        shape = tuple(self.size(*dim) for dim in self.messages(*described, 1))
        self.fits([size for size in shape or () if size], 4, f"declares {name[:40]!r}")
        return name, shape

    def size(self, begin: int, end: int) -> int | None:
        return next((first for number, kind, first, _ in self.fields(begin, end) if (number, kind) == (1, 0)), None)

    def fits(self, dims: list[int], width: int, what: str) -> None:
        # The product of very many sizes takes minutes.
        if len(dims) > MOST_AXES:
            raise self.damaged()
        if math.prod(dims) * width > self.memory:
            shape = " × ".join(f"{size:,}" for size in dims[:8])
            raise InputError(f"{self.path} {what} of {shape} entries, which takes more memory than --memory allows.")


def checked(data: bytes, path: str, memory: int) -> ModelInputs:
    """Return the inputs and outputs that a model declares, after checking its file.

    Raise `InputError` if the file is damaged, refers to other files, needs operators that are not part of onnxruntime,
    or has an array whose declared shape takes more than `memory` bytes.
    """
    return _Check(data, path, memory).model()
