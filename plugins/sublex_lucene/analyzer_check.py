"""Check an analyzer on a sample of the stored documents of a Lucene index: does it turn their texts into their indexed
terms?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sublex.errors import InputError
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.contracts.base import Document
    from sublex_lucene.index import LuceneIndex

# The number of documents that are checked. They are evenly spread over the index.
SAMPLE = 100
# The check ends after this many characters of texts, even if fewer documents were checked.
CHARACTERS = 5_000_000
# The largest share of documents that may differ. Some versions of Lucene have other rules for rare characters.
TOLERATED = 0.1


def check_analyzer(index: LuceneIndex, analyzer: str, terms_of: Callable[[str], list[str]]) -> str | None:
    """Raise InputError if the analyzer makes other terms than the indexed terms in more than a tenth of the sampled
    documents.

    `terms_of` returns the terms that the analyzer makes of a text. Return a sentence for the user if fewer documents
    differ, or if no text is stored; otherwise None.
    """
    if not index.stores:
        return f"Without stored texts Sublex cannot check that {analyzer} is the analyzer of {index.name}."
    wanted = np.unique(np.linspace(0, index.docs - 1, min(SAMPLE, index.docs)).astype(int)).tolist()
    differences, checked, characters = [], 0, 0
    for doc in wanted:
        document, is_exact = index.stored_documents(doc, 1)[0]
        if difference := _difference(index, doc, document, is_exact, terms_of):
            differences.append(difference)
        checked += 1
        characters += len(document.contents)
        if characters > CHARACTERS:
            break
    if not differences:
        is_exact = all(exact for _, exact in index.stored_documents(0, 1))
        return (
            None if is_exact else "Texts are stored with their markup, so models that read texts read the markup too."
        )
    if len(differences) > TOLERATED * checked:
        raise InputError(
            f"The documents of {index.name} were not analysed by {analyzer}: {differences[0]}; "
            "name the analyzer that the index was made with by --analyzer, or leave it out for Anserini's default."
        )
    return f"Of {counted(checked, 'document')}, {len(differences)} have other terms than {analyzer} makes: {differences[0]}."


def _difference(
    index: LuceneIndex, doc: int, document: Document, is_exact: bool, terms_of: Callable[[str], list[str]]
) -> str | None:
    """Return the first difference between the terms of a stored text and the indexed terms of the document, or None.

    If the document's length in the index differs, the index has terms that the text lacks. If `is_exact` is false, the
    text is raw and may have markup; terms that only the text has are then ignored.
    """
    counts = Counter(terms_of(document.contents))
    length = sum(counts.values())
    answer, parts = index.connection.ask("frequencies", doc=doc, terms=list(counts), length=length)
    for term, tf in zip(counts, np.frombuffer(parts[0], "<i4").tolist(), strict=True):
        if tf > counts[term] or (is_exact and tf < counts[term]):
            return f"{document.docno} holds the term '{term}' {_times(counts[term])} by its text and {_times(tf)} in the index"
    if is_exact and not answer["same length"]:
        return f"{document.docno} has {counted(length, 'term')} by its text and another number in the index"
    return None


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
