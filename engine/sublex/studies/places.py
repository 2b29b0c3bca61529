"""The paths that a study may read: below its own folder, below a folder of collections, and below folders that the user allows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sublex.errors import InputError
from sublex.readers.irds import PREFIX
from sublex.readers.source import files_below
from sublex.tools.messages import one_line


class StudyPlaces:
    """Finds the files of a study.

    A relative path is looked up in the study's folder, and then in the folder of collections.
    """

    def __init__(
        self,
        folder: Path,
        collections: str | os.PathLike[str] | None = None,
        allowed: Sequence[str] = (),
        download: bool = False,
    ):
        if collections is not None and not os.path.isdir(collections):
            raise InputError(f"There is no folder {os.fspath(collections)} of collections; name another.")
        self.bases = [folder, *([Path(os.path.abspath(collections))] if collections is not None else [])]
        self.roots = [os.path.realpath(each) for each in (*map(str, self.bases), *allowed)]
        self.download = download

    def find(self, text: str, where: str) -> str:
        """Return the path of a file or folder that a study names, or the name of a data set of ir_datasets.

        Raise InputError if there is none, or if the study may not read it; `where` begins the message.
        """
        if text.startswith(PREFIX):
            if not self.download:
                raise InputError(
                    f"{where}: {text} is a data set of ir_datasets, which may be downloaded; allow this by --download "
                    "(in Python download=True)."
                )
            return text
        if text == "-" or "\0" in text or not text:
            raise InputError(f"{where}: {text!r} is no file; give the path of one.")
        # The path that is checked is the one that is opened: `..` after a link would lead elsewhere than without it.
        candidates = [os.path.normpath(os.path.join(base, text)) for base in self.bases]
        for path in candidates:
            self._expect_allowed(path, text, where)
        found = next(filter(os.path.exists, candidates), None)
        if found is None:
            listed = " or ".join(dict.fromkeys(str(base) for base in self.bases))
            more = "" if len(self.bases) > 1 else ", or name a folder by --collections"
            raise InputError(f"{where}: there is no {text} in {listed}; correct the path{more}.")
        return found

    def _expect_allowed(self, path: str, text: str, where: str) -> None:
        """Raise InputError for a path outside of the folders that may be read, also if only a link leads outside."""
        if not self.allows(path):
            raise InputError(
                f"{where}: {one_line(text)} lies outside of the study's folder; if the study may read it, add --allow "
                f"{one_line(os.path.dirname(os.path.abspath(path)))} (in Python allow=[…])."
            )

    def allows(self, path: str) -> bool:
        """Return whether a path, after its links are followed, lies within the folders that may be read."""
        real = os.path.realpath(path)
        return any(real == root or real.startswith(os.path.join(root, "")) for root in self.roots)

    def files(self, text: str, where: str) -> list[str]:
        """Return the files of a source: the file itself, or all files below a folder.

        Raise InputError if one may not be read.
        """
        path = self.find(text, where)
        if path.startswith(PREFIX) or not os.path.isdir(path):
            return [path]
        return list(self._below(path, where))

    def _below(self, folder: str, where: str) -> Iterator[str]:
        for path in files_below(folder):
            self._expect_allowed(path, path, where)
            yield path
