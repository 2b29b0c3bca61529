"""The keyphrases of a model as records, and as one HTML page that needs neither the Internet nor another file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import shorten
from typing import Any

import numpy as np

from sublex.contracts.base import Document
from sublex.forms.pages import escaped, html_page
from sublex_laki.keyphrases import Keyphrases, WeightedName

# Numbers of keyphrases on a page, and of units of each silhouette; the model's card shows fewer units.
PAGE_KEYPHRASES, PAGE_UNITS, CARD_UNITS = 1000, 20, 6
# The number of broader and of narrower keyphrases that a page shows for each keyphrase.
NEAR = 8
# The number of characters of a text that a page shows.
TEXT_LENGTH = 2000
# The largest and the smallest size of a word, in rem.
LARGEST, SMALLEST = 1.3, 0.8
STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
p.note { max-width: 44rem; }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(21rem, 1fr)); }
article { border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .4rem; }
p { margin: 0 0 .4rem; }
p.near { font-size: .85rem; opacity: .8; }
table { border-collapse: collapse; }
td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
td.number { font-variant-numeric: tabular-nums; }
td.latent { font-style: italic; }
"""


def records(keyphrases: Keyphrases, documents: np.ndarray, number: int) -> list[dict[str, Any]]:
    """Return the `number` most frequent keyphrases as values for JSON.

    Each has the number of documents that are about it, and its silhouette: the units that it turns on most. `documents`
    has the number of documents of each keyphrase.
    """
    return [
        {
            "keyphrase": keyphrases.names[k],
            "documents": int(documents[k]),
            "silhouette": [item.name for item in keyphrases.silhouette(k, CARD_UNITS)],
        }
        for k in _ordered(documents)[:number]
    ]


def _ordered(documents: np.ndarray) -> list[int]:
    """Return all keyphrases, those with most documents first."""
    order: list[int] = np.argsort(-documents, kind="stable").tolist()
    return order


def page(title: str, keyphrases: Keyphrases, documents: np.ndarray) -> str:
    """Return the page of a model: a card for each of the keyphrases that most documents are about."""
    shown = _ordered(documents)[:PAGE_KEYPHRASES]
    note = (
        f"{len(shown):,} of {keyphrases.network.keyphrases:,} keyphrases, those that most documents are about first. Below each is "
        "its silhouette, the words and phrases that it turns on; a word's size shows the probability. Broader keyphrases are "
        "more frequent ones that lead to it."
    )
    return document(title, note, f"<main>\n{''.join(card(keyphrases, k) for k in shown)}</main>")


def card(keyphrases: Keyphrases, keyphrase: int) -> str:
    """Return a keyphrase as HTML, with its silhouette and with broader and narrower keyphrases."""
    items = keyphrases.silhouette(keyphrase, PAGE_UNITS)
    highest = max((item.weight for item in items), default=1.0)
    words = ", ".join(
        f'<span style="font-size:{max(SMALLEST, LARGEST * (item.weight / highest) ** 0.5):.2f}rem" '
        f'title="{item.weight:.4f}">{escaped(item.name)}</span>'
        for item in items
    )
    near = _near("Broader", keyphrases.broader(keyphrase)) + _near("Narrower", keyphrases.narrower(keyphrase))
    return f"<article>\n<h2>{escaped(keyphrases.names[keyphrase])}</h2>\n<p>{words}</p>\n{near}</article>\n"


def _near(name: str, items: list[WeightedName]) -> str:
    names = ", ".join(escaped(item.name) for item in items[:NEAR])
    return f'<p class="near">{name}: {names}</p>\n' if items else ""


def texts_page(title: str, head: Sequence[str], results: Iterable[tuple[Document, Sequence[Sequence[Any]]]]) -> str:
    """Return a page of texts, each with a table of its keyphrases. Keyphrases that the text does not mention are in
    italics.
    """
    names = "".join(f"<th>{escaped(name)}</th>" for name in head)
    sections = []
    for text, rows in results:
        shown = shorten(text.contents, TEXT_LENGTH, placeholder=" …")
        heading = f"<h2>{escaped(text.docno)}</h2>\n" if text.docno else ""
        lines = "".join(f"<tr>{_cells(row)}</tr>\n" for row in rows)
        table = f"<table>\n<tr>{names}</tr>\n{lines}</table>" if rows else "<p>No keyphrase.</p>"
        sections.append(f"<article>\n{heading}<p>{escaped(shown)}</p>\n{table}\n</article>\n")
    note = "The keyphrases of each text with their strength. Those in italics are not mentioned in the text."
    return document(title, note, "".join(sections))


def _cells(row: Sequence[Any]) -> str:
    """Return the HTML cells of one row of the table: a keyphrase of a text.

    The cells are its name, whether the text is about it, its strength, whether the text mentions it, and the words that
    evoked it.
    """
    name, about, strength, mentioned, evoked = row
    kind = "mentioned" if mentioned == "yes" else "latent"
    return (
        f'<td class="{kind}">{escaped(name)}</td><td>{escaped(about)}</td><td class="number">{strength:.3f}</td>'
        f"<td>{escaped(mentioned)}</td><td>{escaped(evoked)}</td>"
    )


def document(title: str, note: str, body: str) -> str:
    """Return an HTML page of keyphrases, with a note below the heading. `body` is HTML."""
    return html_page(title, STYLE, f'<p class="note">{escaped(note)}</p>\n{body}')
