"""The table of contents of a Whoosh index: it names the file of the last commit.

A lock tells whether a writer is at work. Nothing is unpickled.
"""

from __future__ import annotations

import fcntl
import os
import re
from typing import NamedTuple

import xxhash

from sublex.errors import InputError
from sublex.tools.plain_files import open_plain, plain_names

# The largest number of bytes of a table of contents.
MOST_BYTES = 1 << 28
# The name that Whoosh gives an index by default.
MAIN = "MAIN"
_TOC = re.compile(r"_(\w{1,100})_([0-9]{1,18})\.toc")


class Toc(NamedTuple):
    """The last commit of a Whoosh index: the folder, the name of the index in the folder, and the number of the
    commit.
    """

    folder: str
    name: str
    generation: int

    @property
    def state(self) -> str:
        """The name of the index, the number of the commit and a hash of the file that describes it."""
        path = os.path.join(self.folder, f"_{self.name}_{self.generation}.toc")
        try:
            with open_plain(path) as file:
                digest = xxhash.xxh3_128_hexdigest(file.read(MOST_BYTES))
        except OSError as error:
            raise InputError(f"Cannot read {path}: {error.strerror}.") from None
        return f"{re.sub('[^A-Za-z0-9]', '_', self.name)}-{self.generation}-{digest}"

    def refuse_writer(self) -> None:
        """Raise InputError if a Whoosh writer holds the lock of the index. The lock file is opened for reading only."""
        path = os.path.join(self.folder, f"{self.name}_WRITELOCK")
        try:
            with open_plain(path) as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"The Whoosh index {self.folder} is being written; try again when its writer has finished."
            ) from None
        except OSError:
            # If there is no lock file, nobody has written to the index since it was copied.
            return


def last_toc(folder: str) -> Toc:
    """Return the last commit of the Whoosh index in `folder`. Raise InputError if there is no Whoosh index.

    If the folder has several indexes, the index MAIN is used. If it has one index, this index is used, even under
    another name.
    """
    if not os.path.exists(folder):
        raise InputError(f"No folder {folder}; name the folder of a Whoosh index.")
    generations: dict[str, int] = {}
    for match in filter(None, map(_TOC.fullmatch, plain_names(folder))):
        generations[match[1]] = max(int(match[2]), generations.get(match[1], 0))
    if not generations:
        raise InputError(f"{folder} is not a Whoosh index: it holds no file named _MAIN_1.toc or the like.")
    name = MAIN if MAIN in generations else next(iter(generations))
    if name != MAIN and len(generations) > 1:
        raise InputError(
            f"{folder} holds several Whoosh indexes, {', '.join(sorted(generations))}, and none is called {MAIN}; "
            "move one of them to a folder of its own."
        )
    return Toc(folder, name, generations[name])
