"""Read the topics and the judgements of a dataset of the package ir_datasets. Its path is a name such as `irds:vaswani`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sublex.errors import InputError
from sublex.readers.irds import PREFIX, iterated, load

CATALOGUE = "https://ir-datasets.com"


def queries(path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the id and the text fields of each query of the dataset that `path` names, in the dataset's order."""
    name, dataset = _dataset(path, "Topics")
    if not dataset.has_queries():
        raise InputError(f"The dataset {name} of ir_datasets holds no queries; {CATALOGUE} lists those that do.")
    for record in iterated(name, dataset.queries_iter):
        values = record._asdict()
        qid = str(values.pop("query_id"))
        fields = {field: " ".join(text.split()) for field, text in values.items() if isinstance(text, str)}
        yield qid, fields or {"text": record.default_text()}


def judgements(path: str) -> Iterator[tuple[str, str, int]]:
    """Yield topic, document and grade of each judgement of the dataset that `path` names, in the dataset's order."""
    name, dataset = _dataset(path, "Qrels")
    if not dataset.has_qrels():
        raise InputError(f"The dataset {name} of ir_datasets holds no judgements; {CATALOGUE} lists those that do.")
    for record in iterated(name, dataset.qrels_iter):
        yield str(record.query_id), str(record.doc_id), record.relevance


def _dataset(path: str, what: str) -> tuple[str, Any]:
    name = path.removeprefix(PREFIX)
    return name, load(name, f"{what} from {path}")
