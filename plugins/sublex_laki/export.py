"""Write the graph of keyphrases for other programs: GraphML and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from sublex.forms.pages import graphml_file
from sublex_laki.keyphrases import Keyphrases

# Characters that XML does not allow.
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def links(keyphrases: Keyphrases) -> Iterator[tuple[int, int, float]]:
    """Yield the links between keyphrases as tuples: the broader keyphrase, the narrower keyphrase, and a probability.

    The probability is how likely the broader keyphrase turns the narrower keyphrase on.
    """
    found = keyphrases.network.hierarchy.tocoo()
    broader, narrower = found.coords
    for one, other, weight in zip(broader.tolist(), narrower.tolist(), found.data.tolist(), strict=True):
        yield one, other, float(-np.expm1(-weight))


def as_csv(keyphrases: Keyphrases) -> str:
    """Return the links between keyphrases as CSV."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("broader", "narrower", "probability"))
    for broader, narrower, chance in links(keyphrases):
        writer.writerow((keyphrases.names[broader], keyphrases.names[narrower], f"{chance:.6g}"))
    return stream.getvalue()


def as_graphml(keyphrases: Keyphrases, name: str, documents: Sequence[int]) -> str:
    """Return the keyphrases and the links between them as GraphML. `name` is the name of the graph.

    `documents` has for each keyphrase its number of documents.
    """
    labels = zip(map(_text, keyphrases.names), documents, strict=True)
    nodes = ((k, label, docs) for k, (label, docs) in enumerate(labels))
    return graphml_file(_text(name), ("keyphrase", "probability"), nodes, links(keyphrases), directed=True)


def _text(text: str) -> str:
    """Return a text escaped for XML. Characters that XML does not allow are replaced by U+FFFD."""
    return escape(CONTROLS.sub("\ufffd", text))
