"""Find the folder of an index that a user names: by a path, or by a bare name in the index home."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from sublex.errors import IndexProblem, InputError, SublexError
from sublex.tools.messages import Step, nearest

# The file that makes a folder an index.
MANIFEST = "index.json"
# The beginning of the name of an index that must be a cluster.
CLUSTER = "cluster:"


def index_home() -> Path:
    """Return the folder of indexes that are named without a path.

    It is $SUBLEX_INDEXES if this variable is set. Otherwise it is ./indexes if this folder exists. Otherwise it is
    sublex/indexes in the user's data folder.
    """
    if os.environ.get("SUBLEX_INDEXES"):
        return Path(os.environ["SUBLEX_INDEXES"])
    return Path("indexes") if Path("indexes").is_dir() else user_home()


def user_home() -> Path:
    """Return the folder of indexes in the user's data folder."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(data) / "sublex" / "indexes"


def index_path(name: str) -> Path:
    """Return the folder of an index, which need not exist.

    A name with a slash is a path. A bare name is a folder in the working directory if that folder is an index, and a
    folder in the index home otherwise.
    """
    if not name.strip() or "\x00" in name:
        raise InputError("An index needs a name or a path.")
    is_path = os.sep in name or name in (".", "..") or os.path.isfile(os.path.join(name, MANIFEST))
    path = Path(name) if is_path else index_home() / name
    try:
        os.stat(path)
    except UnicodeEncodeError:
        raise InputError(f"{name!r} has a character that no path has; give another name.") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"No file system takes a name as long as {name[:30]}…; choose a shorter one.") from None
    return path


def existing_path(name: str) -> Path:
    """Return the folder of an index to open. Upper and lower case are equal in a bare name.

    If there is no such folder, raise IndexProblem that names the most similar index. If no index has a similar name,
    return the path that does not exist. The name may begin with "cluster:"; the index must then be a cluster.
    """
    if name.startswith(CLUSTER) and not os.path.exists(name):
        return _cluster_path(name.removeprefix(CLUSTER))
    path = index_path(name)
    if os.sep in name or path.exists():
        return path
    found = [folder for folder in known_indexes() if folder.name.casefold() == name.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        raise IndexProblem(f"Several indexes are called {name}; write {' or '.join(each.name for each in found)}.")
    elsewhere = user_home() / name
    if (elsewhere / MANIFEST).is_file():
        raise IndexProblem(f"No index at {path}; there is one at {elsewhere}, which is found by its path.")
    hint = nearest(name, [folder.name for folder in known_indexes()])
    if hint:
        raise IndexProblem(f"No index at {path}; {hint}To list all indexes: {Step('indexes')}")
    return path


def _cluster_path(name: str) -> Path:
    """Return the folder of a cluster. Raise InputError if there is an index that is not a cluster."""
    from sublex.index.manifest import read_manifest

    path = existing_path(name)
    if not read_manifest(path).shards:
        raise InputError(f"{path} is an index and not a cluster; name it without {CLUSTER}")
    return path


def names_index(name: str) -> bool:
    """Return whether a name or a path leads to an index."""
    try:
        return (existing_path(name) / MANIFEST).is_file()
    except (OSError, SublexError, ValueError):
        return False


def known_indexes() -> list[Path]:
    """Return the folders of all indexes that a bare name finds: those in the working directory and in the index home."""
    manifests = [path for folder in (index_home(), Path()) for path in folder.glob(f"*/{MANIFEST}")]
    return sorted({path.parent.name: path.parent for path in manifests}.values(), key=lambda path: path.name)
