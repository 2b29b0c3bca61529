"""The caches of the scores and documents that functions return.

A cache is an SQLite file in a folder that the user chooses. Several processes may share it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sublex.contracts.base import LARGEST_SCORE
from sublex.contracts.scores import NO_OPINION
from sublex.errors import InputError

# The file may contain only this table. WITHOUT ROWID stores the rows in the order of the key, with no further index.
TABLE = "CREATE TABLE scores (key BLOB PRIMARY KEY, score REAL NOT NULL) WITHOUT ROWID"
# The file of documents that a function found may contain only this table. Its lists are JSON.
FOUND = "CREATE TABLE found (key BLOB PRIMARY KEY, docnos TEXT NOT NULL, scores TEXT NOT NULL) WITHOUT ROWID"
# The most keys in one SQL query. SQLite allows at least 999 values.
KEYS = 500
# Seconds to wait for another process that writes to the file.
PATIENCE = 60.0
LONGEST_NAME = 100


class _CacheFile:
    """A file with one table. Every access opens the file and checks that it contains nothing but this table.

    The check is needed because another program may have written the file.
    """

    table: str
    holds: str
    ending: str

    def __init__(self, folder: Path, name: str):
        # Two functions may have the same file name. Their entries stay apart, because keys contain the function's name.
        self.path = folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', name)[:LONGEST_NAME]}{self.ending}"

    def refusal(self, value: object) -> InputError:
        return InputError(f"The cache {self.path} holds {str(value)[:60]!r} in place of {self.holds}; delete the file.")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file, or make it. Raise InputError if this fails, or if the file has anything but its table."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.is_symlink():
                raise InputError(
                    f"{self.path} is a symbolic link, and Sublex writes through none; choose another folder."
                )
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                if not _tables(database):
                    database.execute(self.table.replace("TABLE", "TABLE IF NOT EXISTS", 1))
                if _tables(database) != [("table", self.table.split()[2], self.table)]:
                    raise InputError(f"{self.path} is not a cache of scores; choose another folder.")
                yield database
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"Cannot use the cache {self.path}: {reason}; delete the file, or choose another folder."
            ) from error


class ScoreCache(_CacheFile):
    """The scores of a function by key, on disk. The score -inf stands for no opinion."""

    table, holds, ending = TABLE, "a score", ".sqlite"

    def get(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """Return the known scores of keys."""
        known: dict[bytes, float] = {}
        with self._open() as database:
            for begin in range(0, len(keys), KEYS):
                part = keys[begin : begin + KEYS]
                marks = ",".join("?" * len(part))
                known |= database.execute(f"SELECT key, score FROM scores WHERE key IN ({marks})", part).fetchall()
        for score in known.values():
            if not isinstance(score, float) or not (abs(score) <= LARGEST_SCORE or score == NO_OPINION):
                raise self.refusal(score)
        return known

    def put(self, scores: Mapping[bytes, float]) -> None:
        """Add scores by key, in one transaction."""
        with self._open() as database, database:
            database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", scores.items())


class FoundCache(_CacheFile):
    """The documents that a function found, by the key of the query, on disk."""

    table, holds, ending = FOUND, "documents with scores", ".found.sqlite"

    def get(self, key: bytes) -> tuple[list[str], np.ndarray] | None:
        """Return the docnos and the scores of a key; None if they are not known."""
        with self._open() as database:
            row = database.execute("SELECT docnos, scores FROM found WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        docnos, scores = map(_listed, row)
        sound = all(isinstance(docno, str) for docno in docnos) and len(set(docnos)) == len(docnos) == len(scores)
        if not sound or not all(isinstance(score, float) and abs(score) <= LARGEST_SCORE for score in scores):
            raise self.refusal(row)
        return docnos, np.array(scores, np.float64)

    def put(self, key: bytes, docnos: Sequence[str], scores: np.ndarray) -> None:
        """Add the docnos and scores for a key. Documents with the score -inf are left out."""
        known = [(docno, score) for docno, score in zip(docnos, scores.tolist(), strict=True) if score > NO_OPINION]
        row = key, json.dumps([docno for docno, _ in known]), json.dumps([score for _, score in known])
        with self._open() as database, database:
            database.execute("INSERT OR REPLACE INTO found VALUES (?, ?, ?)", row)


def _listed(text: object) -> list[Any]:
    """Return the list in a JSON text. Any other value comes back inside a list, which later checks refuse."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, list) else [None, text, None]


def _tables(database: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Return the kind, the name and the definition of everything in a database."""
    return database.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
