"""Open, read and hash the files of a model's folder.

Models are data from elsewhere. So files with pickles are refused, and links that lead out of the folder, and everything
that is no plain file. JSON files have a largest size.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import lru_cache
from typing import Any, BinaryIO

from sublex.errors import InputError
from sublex.tools.plain_files import open_plain

# The endings of files that are pickles or contain pickles.
PICKLES = (".pkl", ".pickle", ".bin", ".pt", ".pth", ".ckpt", ".joblib")
# The largest number of bytes of a JSON file, such as a tokenizer.
LONGEST_JSON = 1 << 28


def refuse_pickle(path: str) -> None:
    """Raise `InputError` for a file whose name says that it holds a pickle, which runs code when it is read."""
    ending = os.path.splitext(path)[1].lower()
    if ending in PICKLES:
        raise InputError(
            f"{path} ends in {ending}, as files with Python's pickles do; these run code, and Sublex reads none. "
            "Save the model as ONNX or safetensors."
        )


def open_file(path: str) -> BinaryIO:
    """Return a plain file, opened for reading. Raise `InputError` if there is none, or if its name says that it is a
    pickle.
    """
    refuse_pickle(path)
    try:
        return open_plain(path)
    except (OSError, ValueError) as error:
        raise InputError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}.") from None


def read_json(path: str) -> Any:
    """Return the value in a JSON file."""
    with open_file(path) as file:
        data = file.read(LONGEST_JSON + 1)
    if len(data) > LONGEST_JSON:
        raise InputError(f"{path} has more than {LONGEST_JSON >> 20} MiB; it is no file of a tokenizer or of settings.")
    return json_value(data, path)


def json_value(data: bytes, path: str) -> Any:
    """Return the JSON value in `data`."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not sound JSON.") from None


def json_of(data: bytes, path: str) -> dict[str, Any]:
    """Return the JSON object in `data`. Raise `InputError` for other JSON."""
    value = json_value(data, path)
    if not isinstance(value, dict):
        raise InputError(f"{path} holds no JSON object.")
    return value


class ModelFolder:
    """The folder of a model. Files are named by their paths within the folder."""

    def __init__(self, folder: str):
        self.path = os.path.expanduser(folder)
        if not os.path.isdir(self.path):
            refuse_pickle(self.path)
            raise InputError(f"There is no folder {folder}; name the folder of a model.")

    def place(self, name: str) -> str:
        """Return the path of a file. Raise `InputError` for a link that leads out of the folder.

        A cache of Hugging Face has links from the folder of a snapshot to files beside it, which are followed.
        """
        path = os.path.join(self.path, name)
        real, root = os.path.realpath(path), os.path.realpath(self.path)
        blobs = os.path.join(os.path.dirname(os.path.dirname(root)), "blobs", "")
        is_cache = os.path.basename(os.path.dirname(root)) == "snapshots" and real.startswith(blobs)
        if not (real.startswith(os.path.join(root, "")) or is_cache):
            raise InputError(f"{path} leads out of the folder of the model; put a copy in its place.")
        return path

    def has(self, name: str) -> bool:
        """Return whether the folder has a file."""
        return os.path.isfile(os.path.join(self.path, name))

    def json(self, name: str) -> dict[str, Any]:
        """Return the object in a JSON file; an empty object if there is no such file."""
        if not self.has(name):
            return {}
        value = read_json(self.place(name))
        if not isinstance(value, dict):
            raise InputError(f"{os.path.join(self.path, name)} holds no JSON object.")
        return value

    def hash(self, name: str) -> str:
        """Return the SHA-256 of a file. It is not read again while its size and time stay the same."""
        path = self.place(name)
        try:
            status = os.stat(path)
        except OSError as error:
            raise InputError(f"Cannot read {path}: {error.strerror}.") from None
        return _hash(os.path.realpath(path), status.st_size, status.st_mtime_ns, status.st_ino)

    def no_model(self, wanted: str, advice: str) -> InputError:
        """Return the error that the folder lacks the file `wanted`. If the folder has files of pickles, the error names
        one of them.
        """
        listed = sorted(os.listdir(self.path))
        pickles = [name for name in listed if os.path.splitext(name)[1].lower() in PICKLES]
        has = f" It has {pickles[0]}, which Sublex never reads, because files of this kind run code." if pickles else ""
        return InputError(f"{self.path} has no {wanted}.{has} {advice}")


@lru_cache(maxsize=256)
def _hash(path: str, size: int, changed: int, inode: int) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def identity_of(*parts: Any) -> str:
    """Return a hash of values that JSON can hold: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
