"""Tell a user who interrupts a change of an index that the index is unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def reporting_interrupts(path: Path) -> Iterator[None]:
    """Run a change of an index, and add the state of the index to a KeyboardInterrupt.

    If the change was not committed, the message of the KeyboardInterrupt says that the index is as it was before, and
    how to continue an interrupted build. If the change was committed, the KeyboardInterrupt has no message.
    """
    from sublex.index.journal import resumable

    before = _manifest_version(path)
    try:
        yield
    except KeyboardInterrupt:
        if _manifest_version(path) != before:
            raise
        advice = "; to continue the build, run the same command with --resume" if resumable(path) else ""
        raise KeyboardInterrupt(f"the index is as it was before{advice}") from None


def _manifest_version(path: Path) -> tuple[int, ...]:
    """Return the inode and modification time of the manifest, which change with every commit; () without a manifest."""
    manifest = path / "index.json"
    if not manifest.exists():
        return ()
    stat = manifest.stat()
    return stat.st_ino, stat.st_mtime_ns
