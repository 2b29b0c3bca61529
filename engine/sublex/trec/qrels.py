"""`Qrels`: relevance judgements by topic, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sublex.forms.frames import data_frame
from sublex.forms.parts import parts_html, summary
from sublex.forms.tables import ROWS_SHOWN
from sublex.tools.messages import counted
from sublex.tools.strings import Strings
from sublex.trec.columns import Columns

# The largest grade that measures accept. With larger grades, trec_eval's nDCG takes seconds or minutes for a topic.
LARGEST_GRADE = 10_000


class IrMeasuresQrel(NamedTuple):
    """One judgement, with the field names of ir_measures."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Qrels(Columns):
    """Judgements by topic: `qrels[qid]` is `{docno: grade}`. Topics and documents are in the order of the file.

    `grades` is the column of grades, int32. `format` is trec, beir, json or irds; it is empty if no file was read.
    `notes` are sentences from the reader to the user.
    """

    def __init__(
        self,
        qids: list[str],
        offsets: np.ndarray,
        docs: np.ndarray,
        grades: np.ndarray,
        docnos: Strings,
        path: str = "",
        format: str = "",
        notes: tuple[str, ...] = (),
    ):
        super().__init__(qids, offsets, docs, grades, docnos)
        self.grades, self.path, self.format, self.notes = grades, path, format, notes

    def only(self, qids: Iterable[str]) -> Qrels:
        """Return only the judgements of the topics `qids`, in this order. Each of these topics must have judgements."""
        names = list(qids)
        rows = [np.arange(place.start, place.stop) for place in map(self.slice, names)]
        ends = np.cumsum([0, *map(len, rows)])
        chosen = np.concatenate([np.empty(0, np.int64), *rows])
        columns = self.docs[chosen], self.grades[chosen]
        return Qrels(names, ends, *columns, self.docnos, self.path, self.format, self.notes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the fields of `itertuples`. ir_measures recognises judgements by `columns` and `itertuples`."""
        return IrMeasuresQrel._fields

    def itertuples(self) -> Iterator[IrMeasuresQrel]:
        """Yield each judgement in the form of ir_measures, topic by topic."""
        for qid, judged in self.items():
            for docno, grade in judged.items():
                yield IrMeasuresQrel(qid, docno, grade)

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each judgement: qid, docno, label. pandas must be installed."""
        return data_frame({**self._by_row(), "label": self.grades})

    def __str__(self) -> str:
        source = f" from {self.path}" if self.path else ""
        form = f" ({self.format})" if self.format else ""
        return f"{counted(len(self.docs), 'judgement')} of {counted(len(self), 'topic')}{source}{form}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        rows = []
        for qid in self.qids[: ROWS_SHOWN + 1]:
            grades = self.topic(qid)[1]
            rows.append([qid, f"{len(grades):,}", f"{int((grades > 0).sum()):,}", f"{int(grades.max(initial=0))}"])
        return parts_html(summary(str(self), ["qid", "judged", "relevant", "highest grade"], rows, len(self)))
