"""The folders of the user where the faces store settings, the history, saved queries and journals of judgements."""

from __future__ import annotations

import os
from pathlib import Path


def config_folder() -> Path:
    """Return the folder of settings."""
    return _folder("XDG_CONFIG_HOME", "~/.config")


def state_folder() -> Path:
    """Return the folder of the history, of saved queries and of journals of judgements."""
    return _folder("XDG_STATE_HOME", "~/.local/state")


def _folder(variable: str, otherwise: str) -> Path:
    return Path(os.environ.get(variable) or os.path.expanduser(otherwise)) / "sublex"
