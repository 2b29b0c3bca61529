"""The coded postings of one segment for one ranker: arrays that kernels read.

They are in memory or mapped from files.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.format import UNSIGNED, ComponentFolder, with_smallest_dtype
from sublex.index.offsets import POSTINGS_PER_CALL, spans, starts_of
from sublex.retrieval.bounds import ImpactBounds

# An upper limit of the number of runs, and of the number of values, of a single term.
MOST = 1 << 31


class CodedPostings:
    """Documents, runs, codes and values of a segment's postings; `coding_kernels` says how they are coded.

    `lists` has a row for each term; the row says where the parts of its posting list begin. In memory, terms are stored
    in the order of the calls of `put`, without gaps. The arrays have room for all terms, but the operating system
    provides memory only for the parts that are written.
    """

    def __init__(self, df: np.ndarray, documents: int, room: int = 0):
        """Make arrays with room for the postings of terms with these document frequencies, and for `room` further postings."""
        from sublex.retrieval.coding import coding_kernels as kernels

        self._kernels, self._documents = kernels, documents
        postings, runs = int(df.sum()) + room, int(np.minimum(df, -(-documents // kernels.SPAN)).sum()) + room
        self.lists = np.zeros((len(df), kernels.COLUMNS), np.int64)
        self.lists[:, kernels.FIRST], self.lists[:, kernels.COUNT] = starts_of(df)[:-1], df
        self.lists[:, kernels.WIDTH] = 4
        self.run_counts = np.zeros(len(df), np.int64)
        self.docs, self.runs = np.empty(postings, np.uint16), np.empty(runs, np.uint32)
        self.codes = np.empty(4 * postings, np.uint8)
        # The numbers of postings, of runs and of bytes of codes that are written.
        self._used = np.zeros(3, np.int64)

    def map(self, documents: ComponentFolder, impacts: ComponentFolder) -> None:
        """Map stored postings in place of those in memory. Raise `IndexCorrupt` if they have wrong dtypes or sizes."""
        kernels, lists = self._kernels, self.lists
        documents.expect("docs", ("<u2",), len(self.docs))
        documents.expect("runs", ("<u4",))
        documents.expect("run_counts", UNSIGNED, len(lists))
        impacts.expect("widths", ("|u1",), len(lists))
        impacts.expect("values", UNSIGNED, len(lists))
        impacts.expect("codes", ("|u1",))
        run_counts = documents["run_counts"].numbers(MOST).astype(np.int64)
        values = impacts["values"].numbers(MOST).astype(np.int64)
        widths = impacts["widths"].all()
        if not np.isin(widths, (1, 2, 4)).all() or (values[widths == 4] > 0).any():
            raise impacts["widths"].damaged("has a width that no code has")
        sizes = _sizes(lists[:, kernels.COUNT], values, widths)
        # `copy` writes to arrays that have room for four bytes per posting.
        if (sizes > 4 * lists[:, kernels.COUNT]).any():
            raise impacts["values"].damaged("has more values than a term can have")
        runs, begins = starts_of(run_counts), starts_of(sizes)
        if runs[-1] != len(documents["runs"]) or begins[-1] != len(impacts["codes"]):
            raise impacts["codes"].damaged("does not fit the numbers of values")
        lists[:, kernels.RUN], lists[:, kernels.BEGIN] = runs[:-1], begins[:-1]
        lists[:, kernels.VALUES], lists[:, kernels.WIDTH] = values, widths
        self.docs, self.runs, self.run_counts = documents["docs"].values, documents["runs"].values, run_counts
        self.codes = impacts["codes"].values

    def put(
        self, terms: np.ndarray, docs: np.ndarray, numbers: np.ndarray, ends: np.ndarray, impacts: np.ndarray,
        live: np.ndarray, bounds: ImpactBounds,
    ) -> None:  # fmt: skip
        """Write the postings of terms, and the bounds of their impacts.

        A pair stands for one or more postings of a term with the same impact. Their term frequencies are equal, and all
        statistics of their documents that the ranker reads are equal. `docs` has the document of each posting,
        and `numbers` has the number of the posting's pair. `impacts` has the impact of each pair, and `live` the pair's
        number of postings. The pairs of `terms[x]` end at `ends[x]`.
        """
        self._kernels.put_documents(terms, docs, self.lists, self.docs, self.runs, self.run_counts, self._used)
        size = int(np.diff(ends, prepend=0).max(initial=0))
        self._kernels.put_impacts(
            terms, ends, _descending(impacts, ends), impacts, live, numbers, self.lists, self.codes, bounds.least, bounds.most,
            bounds.kth, np.empty(size, np.int32), np.empty(size + 1, np.float32), self._used,
        )  # fmt: skip

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The arrays that kernels read."""
        return self.docs, self.runs, self.codes, self.lists

    def set_counts(self, terms: np.ndarray, counts: np.ndarray) -> None:
        """Set the numbers of postings of terms that were made with a df of 0. `put` may then write their postings."""
        self.lists[terms, self._kernels.COUNT] = counts

    def copy(self, terms: np.ndarray, other: CodedPostings, others: np.ndarray) -> None:
        """Copy the postings of the terms `others` in `other` to the terms `terms` here, which have no postings yet."""
        self._kernels.copy_lists(
            terms, others, other.lists, other.docs, other.runs, other.run_counts, other.codes, self.lists, self.docs, self.runs,
            self.run_counts, self.codes, self._used,
        )  # fmt: skip

    def check(self, terms: np.ndarray, documents: ComponentFolder, impacts: ComponentFolder) -> None:
        """Verify the stored postings of some terms. Raise `IndexCorrupt` if they are damaged or impossible."""
        kernels = self._kernels
        firsts, counts, runs, begins, values, widths = self.lists[terms].T
        documents["docs"].touch(firsts, firsts + counts)
        documents["runs"].touch(runs, runs + self.run_counts[terms])
        impacts["codes"].touch(begins, begins + _sizes(counts, values, widths))
        if kernels.sound(terms, self.lists, self.run_counts, self.docs, self.runs, self.codes, self._documents) >= 0:
            raise IndexCorrupt(
                f"{documents.path} or {impacts.path} has a posting that cannot be right; delete these folders."
            )

    def read(self, term: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents and the impacts of a term; the impact of a deleted document is NaN."""
        count = int(self.lists[term, self._kernels.COUNT])
        docs, impacts = np.empty(count, np.int32), np.empty(count, np.float32)
        self._kernels.read_list(term, self.lists, self.docs, self.runs, self.codes, docs, impacts)
        return docs, impacts

    def stored_documents(self) -> dict[str, np.ndarray | Iterator[np.ndarray]]:
        """Return the arrays to store for the documents, by name. A long array is an iterator of pieces.

        Before this call, `put` must have written the postings of all terms.
        """
        firsts, counts, runs, *_ = self.lists.T
        docs, runs_of_terms = _pieces(self.docs, firsts, counts), _pieces(self.runs, runs, self.run_counts)
        return {"docs": docs, "runs": runs_of_terms, "run_counts": with_smallest_dtype(self.run_counts)}

    def stored_impacts(self) -> dict[str, np.ndarray | Iterator[np.ndarray]]:
        """Return the arrays to store for the impacts, by name. A long array is an iterator of pieces.

        Before this call, `put` must have written the postings of all terms.
        """
        _, counts, _, begins, values, widths = self.lists.T
        codes = _pieces(self.codes, begins, _sizes(counts, values, widths))
        return {"codes": codes, "values": with_smallest_dtype(values), "widths": widths.astype(np.uint8)}


def _pieces(array: np.ndarray, begins: np.ndarray, sizes: np.ndarray) -> Iterator[np.ndarray]:
    """Yield chosen parts of an array in their order, several joined at a time.

    Part k is the sizes[k] items that start at begins[k].
    """
    yield array[:0]
    for first, last in spans(sizes, POSTINGS_PER_CALL):
        parts = zip(begins[first:last].tolist(), sizes[first:last].tolist(), strict=True)
        yield np.concatenate([array[begin : begin + size] for begin, size in parts])


def _sizes(counts: np.ndarray, values: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return for each term the number of bytes that its values and codes take, rounded up to a multiple of four.

    `counts` has the terms' numbers of postings, `values` their numbers of values, and `widths` the bytes of one code.
    """
    return 4 * values + (counts * widths + 3) // 4 * 4


def _descending(impacts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return, for each term, the order of its pairs by impact, greatest first, as uint64.

    Its pairs end at ends[x] in `impacts`. The upper half of an item encodes the impact of a pair; the lower half is
    the number of the pair within its term.
    """
    bits = impacts.view(np.int32)
    # Greater impacts get smaller numbers.
    upper = np.where(bits < 0, bits, ~bits & np.int32(0x7FFFFFFF)).view(np.uint32).astype(np.uint64) << np.uint64(32)
    begins = np.concatenate(([0], ends[:-1]))
    order = upper | (np.arange(len(impacts)) - np.repeat(begins, ends - begins)).astype(np.uint64)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        order[begin:end].sort()
    return order
