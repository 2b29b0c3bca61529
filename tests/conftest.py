"""What the tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# What a shell runs in the background ignores interrupts, and so does whatever it starts; some tests send them.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a property may compile a kernel, which no deadline foresees.
settings.register_profile("sublex", deadline=None)
settings.load_profile("sublex")


@pytest.fixture(scope="session")
def collections() -> Path:
    """The folder of real test collections: $SUBLEX_COLLECTIONS, else shared/collections beside the repository."""
    folder = Path(os.environ.get("SUBLEX_COLLECTIONS") or ROOT.parent / "shared" / "collections")
    if not folder.is_dir():
        pytest.skip("collections are not here")
    return folder
