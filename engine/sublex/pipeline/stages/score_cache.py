"""The cache of a function's scores: an SQLite file in a folder that the user chooses, which several processes may share."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from sublex.contracts.base import LARGEST_SCORE
from sublex.errors import InputError

# The file may contain only this table. WITHOUT ROWID stores the rows in the order of the key, with no further index.
TABLE = "CREATE TABLE scores (key BLOB PRIMARY KEY, score REAL NOT NULL) WITHOUT ROWID"
# The most keys in one SQL query. SQLite allows at least 999 values.
KEYS = 500
# Seconds to wait for another process that writes to the file.
PATIENCE = 60.0
LONGEST_NAME = 100


class ScoreCache:
    """Scores by key, on disk. Every access opens the file and checks that it contains nothing but scores.

    The check is needed because another program may have written the file.
    """

    def __init__(self, folder: Path, name: str):
        # Two functions may have the same file name. Their scores stay apart, because keys contain the function's name.
        self.path = folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', name)[:LONGEST_NAME]}.sqlite"

    def get(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """Return the known scores of keys."""
        known: dict[bytes, float] = {}
        with self._open() as database:
            for begin in range(0, len(keys), KEYS):
                part = keys[begin : begin + KEYS]
                marks = ",".join("?" * len(part))
                known |= database.execute(f"SELECT key, score FROM scores WHERE key IN ({marks})", part).fetchall()
        for score in known.values():
            if not isinstance(score, float) or not abs(score) <= LARGEST_SCORE:
                raise InputError(
                    f"The cache {self.path} holds {str(score)[:60]!r} in place of a score; delete the file."
                )
        return known

    def put(self, scores: Mapping[bytes, float]) -> None:
        """Add scores, all or none."""
        with self._open() as database, database:
            database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", scores.items())

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file, or make it. Raise InputError if this fails, or if the file contains anything but scores."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.is_symlink():
                raise InputError(
                    f"{self.path} is a symbolic link, and Sublex writes through none; choose another folder."
                )
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                if not _tables(database):
                    database.execute(TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1))
                if _tables(database) != [("table", "scores", TABLE)]:
                    raise InputError(f"{self.path} is not a cache of scores; choose another folder.")
                yield database
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"Cannot use the cache {self.path}: {reason}; delete the file, or choose another folder."
            ) from error


def _tables(database: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Return the kind, the name and the definition of everything in a database."""
    return database.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
