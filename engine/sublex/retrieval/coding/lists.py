"""The coded postings of one segment under one ranker, as arrays that kernels read: in memory, or mapped from derived data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.format import UNSIGNED, Folder, with_smallest_dtype
from sublex.index.offsets import POSTINGS_PER_CALL, spans, starts_of

# No number of runs and no number of values of a term is greater.
MOST = 1 << 31


class Lists:
    """Documents, runs, codes and values of a segment's postings; `coding_kernels` says how they are coded.

    `rows` has a row for each term, which says where its parts are. In memory the terms lie in the order in which they came, without
    gaps. The arrays have room for all terms, and the operating system provides memory only for what is written.
    """

    def __init__(self, df: np.ndarray, documents: int):
        from sublex.retrieval.coding import coding_kernels as kernels

        self._kernels, self._documents = kernels, documents
        postings, runs = int(df.sum()), int(np.minimum(df, -(-documents // kernels.SPAN)).sum())
        starts = starts_of(df)
        self.rows = np.zeros((len(df), kernels.COLUMNS), np.int64)
        self.rows[:, kernels.FIRST], self.rows[:, kernels.COUNT], self.rows[:, kernels.WIDTH] = starts[:-1], df, 4
        self.run_counts = np.zeros(len(df), np.int64)
        self.docs, self.runs = np.empty(postings, np.uint16), np.empty(runs, np.uint32)
        self.codes = np.empty(4 * postings, np.uint8)
        # The numbers of postings, of runs and of bytes of codes that are written.
        self._used = np.zeros(3, np.int64)

    def map(self, documents: Folder, impacts: Folder) -> None:
        """Use stored postings in place of those in memory. Raise `IndexCorrupt` if they have wrong types or sizes."""
        kernels, rows = self._kernels, self.rows
        documents.expect("docs", ("<u2",), len(self.docs))
        documents.expect("runs", ("<u4",))
        documents.expect("run_counts", UNSIGNED, len(rows))
        for name, types in (("widths", ("|u1",)), ("values", UNSIGNED)):
            impacts.expect(name, types, len(rows))
        impacts.expect("codes", ("|u1",))
        run_counts = documents["run_counts"].numbers(MOST).astype(np.int64)
        values = impacts["values"].numbers(MOST).astype(np.int64)
        widths = impacts["widths"].all()
        if not np.isin(widths, (1, 2, 4)).all() or (values[widths == 4] > 0).any():
            raise impacts["widths"].damaged("has a width that no code has")
        runs, begins = starts_of(run_counts), starts_of(_sizes(rows[:, kernels.COUNT], values, widths))
        if runs[-1] != len(documents["runs"]) or begins[-1] != len(impacts["codes"]):
            raise impacts["codes"].damaged("does not fit the numbers of values")
        rows[:, kernels.RUN], rows[:, kernels.BEGIN] = runs[:-1], begins[:-1]
        rows[:, kernels.VALUES], rows[:, kernels.WIDTH] = values, widths
        self.run_counts = run_counts
        self.docs, self.runs, self.codes = (
            documents["docs"].values,
            documents["runs"].values,
            impacts["codes"].values,
        )

    def put(
        self, terms: np.ndarray, docs: np.ndarray, numbers: np.ndarray, ends: np.ndarray, impacts: np.ndarray,
        live: np.ndarray, least: np.ndarray, most: np.ndarray, kth: np.ndarray,
    ) -> None:  # fmt: skip
        """Write the postings of terms, and their least, greatest and k-th best impacts.

        `docs` and `numbers` have the document and the pair of each posting, and the pairs of term x end at ends[x].
        """
        self._kernels.put_documents(terms, docs, self.rows, self.docs, self.runs, self.run_counts, self._used)
        size = int(np.diff(ends, prepend=0).max(initial=0))
        self._kernels.put_impacts(
            terms, ends, _descending(impacts, ends), impacts, live, numbers, self.rows, self.codes, least, most, kth,
            np.empty(size, np.int32), np.empty(size + 1, np.float32), self._used,
        )  # fmt: skip

    def check(self, terms: np.ndarray, documents: Folder, impacts: Folder) -> None:
        """Verify the stored postings of some terms. Raise `IndexCorrupt` if they are damaged or cannot be right."""
        kernels, rows = self._kernels, self.rows[terms]
        firsts, runs, begins = rows[:, kernels.FIRST], rows[:, kernels.RUN], rows[:, kernels.BEGIN]
        sizes = _sizes(rows[:, kernels.COUNT], rows[:, kernels.VALUES], rows[:, kernels.WIDTH])
        documents["docs"].touch(firsts, firsts + rows[:, kernels.COUNT])
        documents["runs"].touch(runs, runs + self.run_counts[terms])
        impacts["codes"].touch(begins, begins + sizes)
        bad = kernels.sound(terms, self.rows, self.run_counts, self.docs, self.runs, self.codes, self._documents)
        if bad >= 0:
            raise IndexCorrupt(
                f"{documents.path} or {impacts.path} has a posting that cannot be right; delete these folders."
            )

    def read(self, term: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents and the impacts of a term; the impact of a deleted document is NaN."""
        count = int(self.rows[term, self._kernels.COUNT])
        docs, impacts = np.empty(count, np.int32), np.empty(count, np.float32)
        self._kernels.read_list(term, self.rows, self.docs, self.runs, self.codes, docs, impacts)
        return docs, impacts

    def stored_documents(self) -> dict[str, np.ndarray | Iterator[np.ndarray]]:
        """Return the arrays to store of the documents, those of each posting and of each run in pieces. All terms must be there."""
        kernels, rows = self._kernels, self.rows
        return {
            "docs": _pieces(self.docs, rows[:, kernels.FIRST], rows[:, kernels.COUNT]),
            "runs": _pieces(self.runs, rows[:, kernels.RUN], self.run_counts),
            "run_counts": with_smallest_dtype(self.run_counts),
        }

    def stored_impacts(self) -> dict[str, np.ndarray | Iterator[np.ndarray]]:
        """Return the arrays to store of the impacts, values and codes in pieces. All terms must be there."""
        kernels, rows = self._kernels, self.rows
        values, widths = rows[:, kernels.VALUES], rows[:, kernels.WIDTH]
        codes = _pieces(self.codes, rows[:, kernels.BEGIN], _sizes(rows[:, kernels.COUNT], values, widths))
        return {"codes": codes, "values": with_smallest_dtype(values), "widths": widths.astype(np.uint8)}


def _pieces(array: np.ndarray, begins: np.ndarray, sizes: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the parts of an array end to end, in pieces of bounded size; part k has sizes[k] items from begins[k] on."""
    yield array[:0]
    for first, last in spans(sizes, POSTINGS_PER_CALL):
        parts = zip(begins[first:last].tolist(), sizes[first:last].tolist(), strict=True)
        yield np.concatenate([array[begin : begin + size] for begin, size in parts])


def _sizes(counts: np.ndarray, values: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the bytes of the values and codes of terms; each takes a multiple of four."""
    return 4 * values + (counts * widths + 3) // 4 * 4


def _descending(impacts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return for each term its pairs by impact, greatest first: the impact as a number in the upper half, the pair in the lower half."""
    bits = impacts.view(np.int32)
    # Greater impacts get smaller numbers.
    upper = np.where(bits < 0, bits, ~bits & np.int32(0x7FFFFFFF)).view(np.uint32).astype(np.uint64) << np.uint64(32)
    begins = np.concatenate(([0], ends[:-1]))
    order = upper | (np.arange(len(impacts)) - np.repeat(begins, ends - begins)).astype(np.uint64)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        order[begin:end].sort()
    return order
