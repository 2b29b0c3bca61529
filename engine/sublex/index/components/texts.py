"""Stored documents: about 64 KiB of them at a time, compressed as one zstandard frame.

A frame holds the sizes of its documents' titles, contents and other fields, then all contents, then all other fields as JSON.
The docnos are not in it. Documents are stored only if the index keeps `text`.
"""

from __future__ import annotations

import json
import threading
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import zstandard

from sublex.contracts.base import Document, Report
from sublex.contracts.fields import other_texts
from sublex.errors import IndexCorrupt
from sublex.index.components.strings import piece_starts
from sublex.index.format import UNSIGNED, ComponentFolder, FolderWriter
from sublex.readers.batch import Batch, encode

# A frame has about this number of bytes of documents before compression.
FRAME_BYTES = 1 << 16
# The largest size of a frame after decompression, and the largest number of bytes that are decompressed in one step.
MOST_FRAME_BYTES, MOST_AT_ONCE = 1 << 31, 1 << 24
# The number of decompressed frames that a reader keeps.
CACHED_FRAMES = 16
_EMPTY = np.empty(0, np.uint8)
# The object of each thread: its decompressor.
_own = threading.local()


class CompressedFrames(NamedTuple):
    """Compressed frames: their bytes end to end, the size of each, and the number of documents in each."""

    data: np.ndarray
    sizes: list[int]
    counts: list[int]


def compress(batch: Batch, keep: np.ndarray) -> CompressedFrames:
    """Return the documents of a batch that the mask `keep` selects, compressed. Any thread may call this.

    The end of a frame depends on the documents alone, so the result is the same for any number of threads.
    """
    text, extra = batch.text, batch.extra
    text_sizes, extra_sizes = np.diff(batch.text_ends, prepend=0), np.diff(batch.extra_ends, prepend=0)
    text_starts, extra_starts = batch.text_ends - text_sizes, batch.extra_ends - extra_sizes
    selected = np.flatnonzero(keep)
    total = np.cumsum(text_sizes[selected] + extra_sizes[selected])
    cuts = np.flatnonzero(np.diff(total // FRAME_BYTES, prepend=0)) + 1
    bounds = np.unique(np.concatenate(([0], cuts, [len(selected)])))
    compressor = zstandard.ZstdCompressor(level=1)
    frames, counts = [], []
    for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
        docs = selected[begin:end]
        sizes = np.stack([batch.titles[docs], text_sizes[docs], extra_sizes[docs]], axis=1).astype("<u4")
        parts: list[Any] = [sizes.tobytes()]
        if len(docs) == docs[-1] - docs[0] + 1:
            parts.append(text[text_starts[docs[0]] : batch.text_ends[docs[-1]]].data)
            parts.append(extra[extra_starts[docs[0]] : batch.extra_ends[docs[-1]]].data)
        else:
            parts += [text[text_starts[doc] : batch.text_ends[doc]].data for doc in docs]
            parts += [extra[extra_starts[doc] : batch.extra_ends[doc]].data for doc in docs]
        frames.append(compressor.compress(b"".join(parts)))
        counts.append(len(docs))
    return CompressedFrames(np.frombuffer(b"".join(frames), np.uint8), [len(frame) for frame in frames], counts)


class TextsWriter:
    """Writes `texts`, `text_sizes` and `text_counts`."""

    def __init__(self, folder: FolderWriter):
        self._data = folder.stream("texts", np.uint8)
        self._sizes, self._counts = folder.collect("text_sizes"), folder.collect("text_counts")

    def add(self, frames: CompressedFrames) -> None:
        """Append the frames of the next documents."""
        self._data.write(frames.data)
        self._sizes.write(np.array(frames.sizes, np.int64))
        self._counts.write(np.array(frames.counts, np.int64))


class TextFrame(NamedTuple):
    """A decompressed frame of documents.

    `sizes` has a row for each document, with the bytes of its title, of its contents and of its other fields. `text`
    has the contents of all documents end to end, and `extra` their other fields as JSON, end to end.
    """

    sizes: np.ndarray
    text: np.ndarray
    extra: np.ndarray

    def batch(self) -> Batch:
        """Return the frame's documents as a batch without docnos."""
        ends = np.cumsum(self.sizes, axis=0)
        return Batch(_EMPTY, _EMPTY, self.text, ends[:, 1], self.sizes[:, 0], self.extra, ends[:, 2], Report())


class TextsReader:
    """Decompresses stored documents. `counts` holds the number of documents in each frame.

    `searched` has the names of the fields, besides title and text, whose text is a part of the contents.
    """

    def __init__(self, folder: ComponentFolder, searched: tuple[str, ...] = ()):
        self._searched = searched
        docs = len(folder["docno_sizes"])
        folder.expect("texts", ("|u1",))
        folder.expect("text_counts", UNSIGNED, len(folder["text_sizes"]))
        folder.expect("text_sizes", UNSIGNED)
        self._data = folder["texts"]
        self._ends = piece_starts(folder["text_sizes"], self._data)[1:]
        self.counts = folder["text_counts"].numbers(docs)
        self._doc_ends = np.cumsum(self.counts, dtype=np.int64)
        if int(self.counts.sum(dtype=np.int64)) != docs:
            raise folder["text_counts"].damaged(f"does not count {docs:,} documents")
        # `raw(frame)` returns a frame decompressed; the frames used last stay in memory.
        self.raw = lru_cache(maxsize=CACHED_FRAMES)(self._decompress)

    def compressed(self, frame: int) -> CompressedFrames:
        """Return one frame as it is stored."""
        data = self._data.part(int(self._ends[frame - 1]) if frame else 0, int(self._ends[frame]))
        return CompressedFrames(data, [len(data)], [int(self.counts[frame])])

    def _decompress(self, frame: int) -> TextFrame:
        try:
            raw = np.frombuffer(_decompressed(self.compressed(frame).data.tobytes()), np.uint8)
            docs = int(self.counts[frame])
            sizes = raw[: 12 * docs].view("<u4").reshape(docs, 3).astype(np.int64)
            cut = 12 * docs + int(sizes[:, 1].sum())
            if cut + int(sizes[:, 2].sum()) != len(raw):
                raise ValueError("sizes do not add up")
        except (zstandard.ZstdError, ValueError, MemoryError) as error:
            raise self._damaged(frame, error) from None
        return TextFrame(sizes, raw[12 * docs : cut], raw[cut:])

    def validate(self, frame: int) -> None:
        """Raise `IndexCorrupt` unless each document of a frame is text, and its other fields are a JSON object."""
        raw = self.raw(frame)
        ends, text_ends = np.cumsum(raw.sizes[:, 2]), np.cumsum(raw.sizes[:, 1])
        try:
            raw.text.tobytes().decode()
            for doc in np.flatnonzero(raw.sizes[:, 2]).tolist():
                fields = _fields(raw.extra[ends[doc] - raw.sizes[doc, 2] : ends[doc]])
                self._own(
                    raw.text[text_ends[doc] - raw.sizes[doc, 1] : text_ends[doc]].tobytes(), raw.sizes[doc, 0], fields
                )
        except (ValueError, RecursionError) as error:
            raise self._damaged(frame, error) from None

    def _own(self, contents: bytes, title_size: int, fields: dict[str, Any]) -> bytes:
        """Return title and text of a document: its contents without the text of the searched fields at their end.

        Raise ValueError if the contents do not end with that text. `title_size` is the number of bytes of the title.
        """
        more = encode("".join(other_texts(fields, self._searched)))
        if not contents.endswith(more) or len(contents) < title_size + len(more):
            raise ValueError("the contents do not end with the fields that are searched")
        return contents[: len(contents) - len(more)]

    def _damaged(self, frame: int, error: Exception) -> IndexCorrupt:
        return IndexCorrupt(f"{self._data.path} is damaged in frame {frame} ({error}); rebuild the index.")

    def document(self, doc: int, docno: str) -> Document:
        """Return the document with the number `doc`. The caller gives its docno, which another component stores."""
        frame = int(np.searchsorted(self._doc_ends, doc, side="right"))
        raw = self.raw(frame)
        place = doc - (int(self._doc_ends[frame - 1]) if frame else 0)
        title_size, text_size, extra_size = (int(size) for size in raw.sizes[place])
        text_start, extra_start = int(raw.sizes[:place, 1].sum()), int(raw.sizes[:place, 2].sum())
        contents = raw.text[text_start : text_start + text_size].tobytes()
        try:
            fields = _fields(raw.extra[extra_start : extra_start + extra_size]) if extra_size else {}
            contents = self._own(contents, title_size, fields)
            text = contents[title_size + 1 :] if title_size else contents
            return Document(docno, text.decode(), contents[:title_size].decode(), fields, self._searched)
        except (ValueError, RecursionError) as error:
            raise self._damaged(frame, error) from None


def _fields(data: np.ndarray) -> dict[str, Any]:
    fields = json.loads(data.tobytes())
    if not isinstance(fields, dict):
        raise ValueError("the fields are no object")
    return fields


def _decompressor() -> zstandard.ZstdDecompressor:
    """Return the decompressor of this thread.

    Making one takes a fifth of the time in which a small frame is decompressed.
    """
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    return _own.decompressor


def _decompressed(frame: bytes) -> bytes:
    """Return a zstandard frame decompressed.

    A large frame is decompressed in pieces, because its header may state a wrong size, and memory for that size is not
    reserved. Raise `ValueError` for a frame of more than `MOST_FRAME_BYTES`.
    """
    decompressor = _decompressor()
    claimed = zstandard.frame_content_size(frame)
    if 0 <= claimed <= MOST_AT_ONCE:
        return decompressor.decompress(frame)
    pieces, size = [], 0
    with decompressor.stream_reader(frame) as stream:
        while piece := stream.read(MOST_AT_ONCE):
            pieces.append(piece)
            size += len(piece)
            if size > MOST_FRAME_BYTES:
                raise ValueError(f"more than {MOST_FRAME_BYTES >> 20:,} MB")
    return b"".join(pieces)
