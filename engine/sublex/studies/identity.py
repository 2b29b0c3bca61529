"""The parts of identities, which change only when something that a result depends on changes: hashes and versions.

Code is identified by the versions of packages, and by a hash of the source of each plugin whose component is used.
Files, topics and judgements are identified by their content, and not by their names or dates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import xxhash

from sublex.contracts.base import VERSION
from sublex.errors import UnknownName
from sublex.language.expression import Call, Expression, walk
from sublex.language.plugins import Registry
from sublex.readers.irds import PREFIX
from sublex.tools.files import hash_of
from sublex.trec.topics import Topics

# Packages whose versions count for every result, and for measures and tests.
ENGINE, STATISTICS = ("numpy", "scipy", "numba", "PyStemmer"), ("numpy", "scipy", "ir-measures", "pytrec-eval-terrier")


def hash_of_value(value: Any) -> str:
    """Return the hash of a value that JSON can hold."""
    return xxhash.xxh3_128_hexdigest(
        json.dumps(value, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass")
    )


def topics_hash(topics: Topics) -> str:
    """Return the hash of the ids and texts of topics."""
    return hash_of_value([[topic.qid, topic.text] for topic in topics])


def qrels_hash(qrels: Mapping[str, Mapping[str, int]]) -> str:
    """Return the hash of judgements."""
    return hash_of_value([[qid, sorted((docno, int(grade)) for docno, grade in qrels[qid].items())] for qid in qrels])


@cache
def versions(packages: tuple[str, ...] = ENGINE) -> dict[str, str]:
    """Return the versions of Sublex and of packages, without those that are not installed."""
    found = {"sublex": VERSION}
    for name in packages:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def source_hash(module: str) -> str:
    """Return the hash of the source of a module, or of all Python files of a package; "" if there is no source."""
    spec = find_spec(module)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = [(str(path.relative_to(folder)), path) for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    if spec and not folders and spec.origin and os.path.isfile(spec.origin):
        files = [("", Path(spec.origin))]
    return hash_of_value([[name, hash_of(path)] for name, path in files]) if files else ""


def code_of(expressions: Iterable[Expression], registry: Registry, kind: str = "component") -> dict[str, str]:
    """Return the version and a hash of the source of each plugin with a component in the expressions, by its name."""
    found = {}
    for call in (node for tree in expressions for node in walk(tree) if isinstance(node, Call)):
        with suppress(UnknownName):
            plugin = registry.plugin(registry.find(kind, call.name).plugin)
            found[plugin.name] = f"{plugin.distribution} {plugin.version} {source_hash(plugin.module)}".strip()
    return dict(sorted(found.items()))


class FileHashes:
    """Hashes of files by path.

    Each is kept with the size and times of the file; while these stay, the file is not read again.
    """

    def __init__(self, known: Any = None):
        self.known: dict[str, list[Any]] = {
            path: entry
            for path, entry in (known.items() if isinstance(known, dict) else ())
            if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], str)
        }

    def of(self, path: str) -> str:
        """Return the hash of a file; for a data set of ir_datasets, its name and the version of the package."""
        if path.startswith(PREFIX):
            return f"{path} {versions(('ir_datasets',)).get('ir_datasets', '')}".strip()
        status = os.stat(path)
        state = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        if self.known.get(path, [None])[0] != state:
            self.known[path] = [state, hash_of(Path(path))]
        return str(self.known[path][1])
