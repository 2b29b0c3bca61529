"""Check whether an analyzer makes the indexed terms of the documents of a Lucene index from their stored texts, on a
sample.
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
# The largest share of the sampled documents that may differ. Versions of Lucene treat rare characters differently.
TOLERATED = 0.1


def check_analyzer(index: LuceneIndex, analyzer: str, terms_of: Callable[[str], list[str]]) -> str | None:
    """Check whether an analyzer makes the indexed terms from the stored texts of a sample of documents.

    Raise InputError if the terms differ in more than a tenth of the sampled documents, and if several fields are read,
    in all fields. Return a sentence for the user if fewer documents differ, if only some fields differ (the sentence
    names them), or if no text is stored; otherwise None. `terms_of` returns the terms that the analyzer makes of a
    text.
    """
    if not index.stores:
        return f"Without stored texts Sublex cannot check that {analyzer} is the analyzer of {index.name}."
    wanted = np.unique(np.linspace(0, index.docs - 1, min(SAMPLE, index.docs)).astype(int)).tolist()
    checked, characters = 0, 0
    differences: dict[str, list[str]] = {field: [] for field in index.read}
    for doc in wanted:
        document, is_exact = index.stored_documents(doc, 1)[0]
        for field, text in _texts(index, document).items():
            if difference := _difference(index, doc, document.docno, field, text, is_exact, terms_of):
                differences[field].append(difference)
            characters += len(text)
        checked += 1
        if characters > CHARACTERS:
            break
    if index.fields:
        return _several(index.name, analyzer, differences, checked)
    return _one(index, analyzer, differences[index.field], checked)


def _texts(index: LuceneIndex, document: Document) -> dict[str, str]:
    """Return the stored texts of the fields that are read. A field without a stored text is left out."""
    if not index.fields:
        return {index.field: document.contents}
    values = {**document.fields, "title": document.title, "text": document.text}
    return {field: values[field] for field in index.fields if values.get(field) and isinstance(values[field], str)}


def _several(name: str, analyzer: str, differences: dict[str, list[str]], checked: int) -> str | None:
    """Return a sentence about the fields whose terms differ from those of the analyzer, or None if no field differs.

    Raise InputError if all fields differ in more than a tenth of the documents. `differences` has the differences that
    were found in each field, and `checked` is the number of documents.
    """
    wrong = {field: found for field, found in differences.items() if found}
    if len(wrong) == len(differences) and min(map(len, wrong.values())) > TOLERATED * checked:
        raise _not_analysed(name, analyzer, next(iter(wrong.values()))[0])
    return (
        " ".join(
            f"The field {field} has other terms than {analyzer} makes, in {len(found)} of {counted(checked, 'document')}: {found[0]}."
            for field, found in wrong.items()
        )
        or None
    )


def _not_analysed(name: str, analyzer: str, difference: str) -> InputError:
    return InputError(
        f"The documents of {name} were not analysed by {analyzer}: {difference}; "
        "name the analyzer that the index was made with by --analyzer, or leave it out for Anserini's default."
    )


def _one(index: LuceneIndex, analyzer: str, differences: list[str], checked: int) -> str | None:
    """Return a sentence about the differences in the only field that is read, or None if there are none to report.

    Raise InputError if more than a tenth of the `checked` documents differ.
    """
    if not differences:
        is_exact = all(exact for _, exact in index.stored_documents(0, 1))
        return (
            None if is_exact else "Texts are stored with their markup, so models that read texts read the markup too."
        )
    if len(differences) > TOLERATED * checked:
        raise _not_analysed(index.name, analyzer, differences[0])
    return f"Of {counted(checked, 'document')}, {len(differences)} have other terms than {analyzer} makes: {differences[0]}."


def _difference(
    index: LuceneIndex,
    doc: int,
    docno: str,
    field: str,
    text: str,
    is_exact: bool,
    terms_of: Callable[[str], list[str]],
) -> str | None:
    """Return the first difference between the terms of a stored text and the indexed terms of its field, or None.

    A field whose length in the index differs has terms that the text lacks. If `is_exact` is false, the text is raw and
    may have markup; terms that only the text has are then ignored.
    """
    counts = Counter(terms_of(text))
    length = sum(counts.values())
    answer, parts = index.connection.ask("frequencies", field=field, doc=doc, terms=list(counts), length=length)
    for term, tf in zip(counts, np.frombuffer(parts[0], "<i4").tolist(), strict=True):
        if tf > counts[term] or (is_exact and tf < counts[term]):
            return f"{docno} holds the term '{term}' {_times(counts[term])} by its text and {_times(tf)} in the index"
    if is_exact and not answer["same length"]:
        return f"{docno} has {counted(length, 'term')} by its text and another number in the index"
    return None


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
