"""Stored documents: blocks of some 64 KiB, each a zstandard frame of sizes followed by contents and other fields."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import zstandard

from sublex.base import Document, Report
from sublex.errors import IndexCorrupt
from sublex.index.format import Component
from sublex.readers.batch import Batch

BLOCK_BYTES = 1 << 16
LARGEST = 1 << 31
_NONE = np.empty(0, np.uint8)


class Blocks(NamedTuple):
    """Compressed blocks laid end to end: their bytes, their sizes, and how many documents each holds."""

    data: bytes
    sizes: list[int]
    counts: list[int]


def compress(batch: Batch, keep: np.ndarray) -> Blocks:
    """Blocks of the kept documents of a batch, cut by their bytes alone."""
    text, text_ends, titles, extra, extra_ends = (
        batch.text,
        batch.text_ends,
        batch.titles,
        batch.extra,
        batch.extra_ends,
    )
    text_sizes, extra_sizes = np.diff(text_ends, prepend=0), np.diff(extra_ends, prepend=0)
    text_starts, extra_starts = text_ends - text_sizes, extra_ends - extra_sizes
    kept = np.flatnonzero(keep)
    total = np.cumsum(text_sizes[kept] + extra_sizes[kept])
    cuts = np.flatnonzero(np.diff(total // BLOCK_BYTES, prepend=0)) + 1
    bounds = np.unique(np.concatenate(([0], cuts, [len(kept)])))
    packer = zstandard.ZstdCompressor(level=1)
    frames, counts = [], []
    for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
        docs = kept[begin:end]
        sizes = np.stack([titles[docs], text_sizes[docs], extra_sizes[docs]], axis=1).astype("<u4")
        parts: list[Any] = [sizes.tobytes()]
        if len(docs) == docs[-1] - docs[0] + 1:
            parts.append(text[text_starts[docs[0]] : text_ends[docs[-1]]].data)
            parts.append(extra[extra_starts[docs[0]] : extra_ends[docs[-1]]].data)
        else:
            parts += [text[text_starts[d] : text_ends[d]].data for d in docs]
            parts += [extra[extra_starts[d] : extra_ends[d]].data for d in docs]
        frames.append(packer.compress(b"".join(parts)))
        counts.append(len(docs))
    return Blocks(b"".join(frames), [len(frame) for frame in frames], counts)


class Raw(NamedTuple):
    """A decompressed block."""

    sizes: np.ndarray
    text: np.ndarray
    extra: np.ndarray

    def batch(self) -> Batch:
        """The block's documents as a batch, without their docnos."""
        ends = np.cumsum(self.sizes, axis=0)
        return Batch(_NONE, _NONE, self.text, ends[:, 1], self.sizes[:, 0], self.extra, ends[:, 2], Report())


class TextReader:
    """Finds and decompresses stored documents."""

    def __init__(self, data: Component, sizes: np.ndarray, counts: np.ndarray):
        self._data, self.counts = data, counts
        self.ends = np.cumsum(sizes, dtype=np.int64)
        self.doc_ends = np.cumsum(counts, dtype=np.int64)
        # A block's documents as arenas; the last blocks are remembered.
        self.raw = lru_cache(maxsize=16)(self._read)

    def frame(self, block: int) -> np.ndarray:
        """A block as it is stored."""
        return self._data.part(int(self.ends[block - 1]) if block else 0, int(self.ends[block]))

    def _read(self, block: int) -> Raw:
        frame = self.frame(block)
        try:
            raw = np.frombuffer(zstandard.ZstdDecompressor().decompress(frame.data, max_output_size=LARGEST), np.uint8)
            n = int(self.counts[block])
            sizes = raw[: 12 * n].view("<u4").reshape(n, 3).astype(np.int64)
            cut = 12 * n + int(sizes[:, 1].sum())
            if cut + int(sizes[:, 2].sum()) != len(raw):
                raise ValueError("sizes do not add up")
        except (zstandard.ZstdError, ValueError) as error:
            raise IndexCorrupt(f"{self._data.path} is damaged in block {block} ({error}); rebuild the index.") from None
        return Raw(sizes, raw[12 * n : cut], raw[cut:])

    def document(self, doc: int, docno: str) -> Document:
        """One stored document."""
        block = int(np.searchsorted(self.doc_ends, doc, side="right"))
        raw = self.raw(block)
        k = doc - (int(self.doc_ends[block - 1]) if block else 0)
        title, size, more = (int(x) for x in raw.sizes[k])
        begin, at = int(raw.sizes[:k, 1].sum()), int(raw.sizes[:k, 2].sum())
        contents = raw.text[begin : begin + size].tobytes()
        fields = json.loads(raw.extra[at : at + more].tobytes()) if more else {}
        text = contents[title + 1 :] if title else contents
        return Document(docno, text.decode(), contents[:title].decode(), fields)
