"""The declaration of a panel: a view that a plugin adds to the page of `sublex serve`."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Panel:
    """A view that a plugin adds to the page of `sublex serve`.

    `name` is the name in links, in small letters; `title` stands at the top of the page. `folder` is the folder in the plugin's
    package with the modules of the view. `module` is the file whose default export is the component. The page loads
    modules from this folder alone.
    """

    name: str
    title: str
    folder: str | os.PathLike[str]
    module: str = "panel.js"
