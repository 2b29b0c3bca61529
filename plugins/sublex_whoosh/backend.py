"""The back end `whoosh`: opens the folder of a Whoosh index."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from sublex.tools.messages import install_command
from sublex_whoosh.toc import last_toc

if TYPE_CHECKING:
    from sublex_whoosh.foreign import WhooshIndex


class WhooshBackend:
    """Whoosh, a search engine in Python (the package whoosh-reloaded). Its indexes hold pickles, so they need --trust."""

    runs_code = True

    def __init__(self, field: str | None, docno: str | None):
        self.field, self.docno = field, docno

    def missing(self) -> str | None:
        """Return a sentence if Whoosh is not installed, or None."""
        return missing()

    def state(self, path: str) -> str:
        """Return the name of the index, the number of its last commit, and a hash of the file that describes the commit."""
        return last_toc(path).state

    def open(self, path: str) -> WhooshIndex:
        """Open the index. This unpickles its schema and segments."""
        from sublex_whoosh.foreign import WhooshIndex

        return WhooshIndex(path, self.field, self.docno)


def missing() -> str | None:
    """Return a sentence that names the command that installs Whoosh, or None if it is installed."""
    if find_spec("whoosh") is None:
        return f"Whoosh is not installed; to install it: {install_command('whoosh')}"
    return None
