"""Store the values of a model or of its rows: arrays, sparse rows, matrices and JSON values, each under a name.

A `StoreWriter` writes the values to a folder as NumPy's `.npy` files, and its `finish` returns the manifest's entry. A
`StoreReader` verifies checksums and maps the arrays into memory. Nothing is pickled or unpickled.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.contracts.stored import DeclarationMismatch, Declared, Sizes
from sublex.errors import IndexCorrupt, PluginError
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import CHECKSUMS, DTYPES, ComponentFolder, ComponentWriter, FolderWriter
from sublex.vectors.matrices import Matrices

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The file that holds the shapes of the arrays and the JSON values.
VALUES = "_values"
# The arrays of sparse rows. Each is in a separate file.
SPARSE = ("data", "indices", "indptr")
# The endings of the files with the offsets of rows, by the form of the rows.
STARTS = {"sparse": "indptr", "matrices": "starts"}
# The ending of the file with the tokens of matrices.
TOKENS = "tokens"


class StoreWriter:
    """Writes the values of a store into a folder; this is the `sublex.contracts.fitted.Store` that `save` gets."""

    def __init__(self, folder: FolderWriter):
        self._folder = folder
        self._values: dict[str, Any] = {}

    def put(self, name: str, value: Any) -> None:
        """Write an array of numbers, sparse rows, or a JSON value under a new name."""
        self._expect(name)
        if isinstance(value, np.ndarray):
            self._values[name] = {"shape": value.shape}
            self._stream(name, value.dtype).write(value.ravel())
        elif _is_sparse(value):
            self.put_rows(name, [value])
        else:
            try:
                self._values[name] = {"json": json.loads(json.dumps(value, allow_nan=False))}
            except (TypeError, ValueError) as error:
                raise PluginError(f"The value {name} cannot be stored: {error}.") from None

    def put_rows(self, name: str, parts: Iterable[Any]) -> None:
        """Write rows in blocks.

        All blocks have the same kind (dense, sparse or matrices), type and width. At least one block is needed.
        """
        self._expect(name)
        streams: list[ComponentWriter] = []
        starts = [np.zeros(1, np.int64)]
        docs, kind = 0, None
        for part in parts:
            sparse, has_matrices = _is_sparse(part), isinstance(part, Matrices)
            if kind is None:
                kind = "sparse" if sparse else "matrices" if has_matrices else "shape", part.shape[1:]
                types = {f"{name}.data" if sparse or has_matrices else name: part.dtype}
                if sparse or (has_matrices and part.tokens is not None):
                    types[f"{name}.{SPARSE[1] if sparse else TOKENS}"] = np.int32
                streams = [self._stream(stream, dtype) for stream, dtype in types.items()]
            docs += part.shape[0]
            columns: tuple[np.ndarray, ...] = (part,)
            if sparse:
                part = part.tocsr()
                part.sum_duplicates()
                starts.append(starts[-1][-1] + part.indptr[1:])
                columns = (part.data, part.indices)
            elif has_matrices:
                starts.append(starts[-1][-1] + part.starts[1:])
                columns = (part.data,) if part.tokens is None else (part.data, part.tokens)
            for stream, values in zip(streams, columns, strict=True):
                stream.write(values.ravel())
        if kind is None:
            raise PluginError(
                f"The rows {name} cannot be stored: there is no block of them to take a type and a width from."
            )
        form, width = kind
        if form in STARTS:
            self._stream(f"{name}.{STARTS[form]}", np.int64).write(np.concatenate(starts))
        self._values[name] = {form: (docs, *width)}

    def _expect(self, name: str) -> None:
        if not name.isidentifier() or name in (VALUES, CHECKSUMS) or name in self._values:
            raise PluginError(
                f"A value cannot be stored under the name {name!r}; use a new name of letters, digits and _."
            )

    def _stream(self, name: str, dtype: Any) -> ComponentWriter:
        plain = np.dtype(dtype).newbyteorder("<")
        if plain.str not in DTYPES:
            raise PluginError(f"The array {name} of {dtype} cannot be stored; store whole numbers or floats.")
        return self._folder.stream(name, plain)

    def finish(self) -> FolderEntry:
        """Write the names and shapes. Return the manifest's entry, which has the sizes of files and the checksum."""
        text = json.dumps(self._values, sort_keys=True).encode()
        self._folder.put(VALUES, np.frombuffer(text, np.uint8))
        return self._folder.finish()


class StoreReader:
    """Reads a store. A file is verified when it is first read.

    A model that declares no values gets this object in `load`, as its `sublex.contracts.fitted.Stored`.
    """

    def __init__(self, directory: Directory, entry: FolderEntry):
        # Arrays are mapped copy-on-write, because kernels are compiled for writable arrays. Writing changes nothing on
        # disk.
        self._folder = ComponentFolder(directory, entry, private=True)

    @cached_property
    def _values(self) -> dict[str, Any]:
        try:
            values = json.loads(self._folder[VALUES].all().tobytes())
        except (KeyError, ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or not all(
            isinstance(value, dict) and len(value) == 1 for value in values.values()
        ):
            raise IndexCorrupt(f"{self._folder.path} is damaged; fit it again.")
        return values

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def get(self, name: str) -> Any:
        """Return the value stored under a name. Arrays are mapped into memory."""
        value = self._values.get(name)
        if value is None:
            raise PluginError(f"{self._folder.path} holds no value {name}.")
        ((kind, described),) = value.items()
        if kind == "json":
            return described
        sizes = described if isinstance(described, list) else [-1]
        if kind not in ("shape", *STARTS) or not all(type(size) is int and size >= 0 for size in sizes):
            raise IndexCorrupt(f"{self._folder.path} is damaged; fit it again.")
        try:
            read = {"shape": self._array, "sparse": self._sparse, "matrices": self._matrices}[kind]
            return read(name, tuple(sizes))
        except (KeyError, ValueError):
            raise IndexCorrupt(f"{self._folder.path / name} is damaged; fit it again.") from None

    def checked(self, name: str, declared: Declared, sizes: Sizes) -> Any:
        """Return the value stored under a name. Raise `IndexCorrupt` if it does not fit its declaration."""
        if name not in self:
            raise IndexCorrupt(f"{self._folder.path} lacks the value {name}; fit it again.")
        value = self.get(name)
        try:
            sizes.check(value, declared)
        except DeclarationMismatch as fault:
            files = {"shape": f"{name}.npy", **dict.fromkeys(STARTS, f"{name}.{SPARSE[0]}.npy")}
            file = next((files[kind] for kind in self._values[name] if kind in files), f"{VALUES}.npy: {name}")
            raise IndexCorrupt(f"{self._folder.path / file}{fault}; fit it again.") from None
        return value

    def _array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        values = self._folder[name].all()
        if values.size != math.prod(shape):
            raise IndexCorrupt(f"{self._folder.path / name}.npy is damaged; fit it again.")
        return values.reshape(shape)

    def _matrices(self, name: str, shape: tuple[int, ...]) -> Matrices:
        # Kernels do not check bounds, so every offset is checked here.
        data, starts = (self._folder[f"{name}.{part}"].all() for part in (SPARSE[0], STARTS["matrices"]))
        fits = len(shape) == 2 and shape[1] > 0 and starts.dtype == np.int64 and len(starts) == shape[0] + 1
        if (
            not fits
            or starts[0] != 0
            or (starts[1:] < starts[:-1]).any()
            or len(data) % shape[1]
            or starts[-1] != len(data) // shape[1]
        ):
            raise IndexCorrupt(f"{self._folder.path / name} is damaged; add the vectors again.")
        tokens = self._folder[f"{name}.{TOKENS}"].all() if f"{name}.{TOKENS}" in self._folder else None
        if tokens is not None and (tokens.dtype != np.int32 or len(tokens) != starts[-1]):
            raise IndexCorrupt(f"{self._folder.path / name}.{TOKENS}.npy is damaged; add the vectors again.")
        return Matrices(data.reshape(-1, shape[1]), starts, tokens)

    def _sparse(self, name: str, shape: tuple[int, ...]) -> csr_array:
        from scipy.sparse import csr_array

        # Kernels do not check bounds, so every offset and column is checked here.
        data, indices, indptr = (self._folder[f"{name}.{part}"].all() for part in SPARSE)
        # `put_rows` writes these types. For other types, kernels would have to be compiled anew.
        if indices.dtype != np.int32 or indptr.dtype != np.int64:
            raise IndexCorrupt(f"{self._folder.path / name} is damaged; fit it again.")
        ascending = len(shape) == 2 and len(indptr) == shape[0] + 1 and indptr[0] == 0 and (np.diff(indptr) >= 0).all()
        fits = ascending and indptr[-1] == len(data) == len(indices)
        if not fits or (len(indices) and not 0 <= indices.min() <= indices.max() < shape[1]):
            raise IndexCorrupt(f"{self._folder.path / name} is damaged; fit it again.")
        # SciPy uses the same type for columns and offsets. With offsets of 4 bytes the columns stay mapped; with 8
        # bytes SciPy would copy them.
        starts = indptr.astype(np.int32) if len(data) <= np.iinfo(np.int32).max else indptr
        rows = csr_array((data, indices, starts), shape=shape)
        if not rows.has_canonical_format:
            raise IndexCorrupt(f"{self._folder.path / name} has a row whose columns do not ascend; fit it again.")
        return rows


class DeclaredValues:
    """The values of a model that fit their declarations. All values are read and checked when the object is made.

    A model that declares its values gets this object in `load`, as its `sublex.contracts.fitted.Stored`.
    """

    def __init__(self, store: StoreReader, declared: Mapping[str, Declared]):
        sizes = Sizes()
        self._values = {name: store.checked(name, own, sizes) for name, own in declared.items()}

    def get(self, name: str) -> Any:
        """Return the value stored under a name."""
        if name not in self._values:
            raise PluginError(f"Its method declares does not name the value {name}.")
        return self._values[name]


def _is_sparse(value: Any) -> bool:
    return all(hasattr(value, part) for part in SPARSE)
