"""Make the text of a new study file, with comments about the optional tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sublex.errors import InputError
from sublex.readers.irds import PREFIX
from sublex.studies.study_values import NAME
from sublex.studies.write_study import path_from, system_names, table, text, value

# The comments of a new study about optional tables.
MORE = """
# Everything below is optional. Take away the marks of comments to use it.

# [models]
# meaning = "lsi(e=100)"              # fitted to the index; a name for expressions, as in "BM25 + 0.3*meaning"

# [compare]                            # as for sublex compare
# measures = ["AP", "nDCG@10"]
# by = ["length"]                      # groups of topics

# [tune]                               # as for sublex tune
# folds = 5

# [tables.main]                        # figures beside published ones, and beside those that --check expects
# measures = ["AP"]
# source = "Table 2 of the paper"
# tolerance = 0.005
# published.BM25 = 0.253
"""


def new_study(file: str, documents: Sequence[str], topics: str, qrels: str, rankers: Sequence[str]) -> str:
    """Return the text of a study of one collection. Paths below the folder of `file` are relative, others absolute."""
    folder = Path(os.path.abspath(file)).parent
    name = Path(file).stem
    if not NAME.fullmatch(name):
        name = "collection"
    paths = [place(folder, path) for path in documents]
    head = "# A study: run it by sublex study, and see what it would do by --plan. Paths begin in the folder of this file.\n"
    return (
        "\n".join(
            [
                head + f"title = {text(name)}\n",
                table("collections", {name: paths[0] if len(paths) == 1 else paths}),
                table("topics", {"file": place(folder, topics), "qrels": place(folder, qrels)}),
                "# A name for each system, and its expression. The first one is the baseline.",
                table("systems", system_names(rankers))
                + '# tuned = "BM25(k1={0.4..2}, b={0..1})"   # a range is tuned by cross-validation\n',
            ]
        )
        + MORE
    )


def folders_to_allow(file: str, paths: Sequence[str]) -> tuple[str, ...] | None:
    """Return the folders of those `paths` that lie outside of the folder of the study `file`; None if there are none.

    The user has to allow the study to read them.
    """
    folder = Path(os.path.abspath(file)).parent
    outside = [os.path.dirname(path) for path in (place(folder, each) for each in paths) if os.path.isabs(path)]
    return tuple(dict.fromkeys(outside)) or None


def place(folder: Path, path: str) -> str:
    """Return a path as a study file in `folder` writes it: relative if it lies below. The name of a data set stays."""
    if not path.strip() or "\0" in path:
        raise InputError(f"{value(path)} is no path; name a file.")
    return path if path.startswith(PREFIX) else path_from(folder, path)
