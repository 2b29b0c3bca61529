"""A document in pieces: which of its words the query asks for, after all expanders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sublex.contracts.operators import sought_in, words_in
from sublex.display.hits import pieces

if TYPE_CHECKING:
    from sublex.contracts.base import Query
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline


def matches(index: Index, pipeline: Pipeline, query: Query, docno: str) -> dict[str, Any]:
    """Return the title and the text of a document as pieces, each with the word that an explanation names there, or ""."""
    document = index.document(docno)
    weights = pipeline.answer(query, 1).query.weights()
    words: dict[str, str | None] = {}
    for term in weights:
        for word in sought_in([term]):
            words.setdefault(word, words_in(term, index.corpus.surface))
    texts = {"title": document.title, "text": document.text}
    return {"docno": document.docno, **{name: pieces(index, text, words) for name, text in texts.items()}}
