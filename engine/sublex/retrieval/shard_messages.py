"""Messages between a coordinator and the processes of shards: a record of JSON, and arrays of declared types.

A message is the size of its record in 8 bytes, the record, and the bytes of its arrays. Both sides check what they read: the
size of the record, the values in it, and the types and sizes of the arrays. Nothing is unpickled.
"""

from __future__ import annotations

import json
import math
import os
import select
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple, TypeVar

import numpy as np

from sublex.index.entries import Count, Docs, IdText, ShardName
from sublex.index.schema import Rule, SchemaMismatch, record_of

# The largest number of bytes of a record, and of the arrays of a message.
MOST_RECORD, MOST_BYTES = 1 << 28, 1 << 34
# The number of bytes that are read or written at a time.
PIECE = 1 << 20
_TYPES = {"float64": np.float64, "float32": np.float32, "int64": np.int64, "int32": np.int32}
Record = TypeVar("Record")
Terms = Annotated[list, Rule("a list of texts", lambda texts: all(type(text) is str for text in texts))]


class Gone(Exception):
    """The other side ended, or does not answer in time."""


class BadMessage(Exception):
    """A message is not as it is declared. The text says why, as the end of a sentence."""


class ArrayHead(NamedTuple):
    """The type and the number of items of an array of a message."""

    type: Annotated[str, Rule("a type of numbers", _TYPES.__contains__)]
    size: Count


class Request(NamedTuple):
    """A request for the best documents of queries, or with k = 0 for the state of the process.

    `generation` and `identity` name the cluster that the coordinator has open. `shards` are those that the process answers
    for. `ranker` is the printed form of a ranker. `docs`, `tokens` and `postings` are the statistics of the whole cluster.
    `terms` are the distinct terms of all queries. The arrays are: the df and the cf of the terms in the whole cluster; the
    place where each query ends; for each place the number of its term, and its weight; and the threshold of each query.
    """

    number: Count
    path: str
    generation: Count
    identity: IdText
    shards: tuple[ShardName, ...]
    ranker: str
    k: Docs
    docs: Docs
    tokens: Count
    postings: Count
    terms: Terms
    arrays: tuple[ArrayHead, ...]


class Reply(NamedTuple):
    """The answer to the request of this number, from the state of a cluster that it names; or the sentence of an error.

    The arrays are: the number of hits of each query; the documents and the scores of all hits, best first, where documents
    are numbered from 0 within the process; and the largest absolute value of an impact.
    """

    number: Count
    generation: Count
    identity: IdText
    error: str
    arrays: tuple[ArrayHead, ...]


def send(pipe: int, record: NamedTuple, arrays: Mapping[str, np.ndarray], patience: float = math.inf) -> None:
    """Write a message. The heads of the arrays are added to the record.

    Raise `Gone` if the other side ended, or reads nothing for `patience` seconds.
    """
    heads = [{"type": array.dtype.name, "size": array.size} for array in arrays.values()]
    # Tuples become lists of JSON, as in `as_json`, which is slower for many terms.
    text = json.dumps(record._asdict() | {"arrays": heads}).encode("utf-8", "surrogatepass")
    pieces = [
        len(text).to_bytes(8, "little"),
        text,
        *(np.ascontiguousarray(array).tobytes() for array in arrays.values()),
    ]
    data = memoryview(b"".join(pieces))
    os.set_blocking(pipe, patience == math.inf)
    while data:
        try:
            data = data[os.write(pipe, data[:PIECE]) :]
        except BlockingIOError:
            if not _is_ready(pipe, select.POLLOUT, patience):
                raise Gone(f"it read nothing for {patience:g} s") from None
        except OSError:
            raise Gone("it ended") from None


def receive(
    pipe: int, record: type[Record], types: tuple[str, ...], patience: float = math.inf
) -> tuple[Record, list[np.ndarray]]:
    """Read a message with a record of this type and arrays of these `types`; a message of an error has no arrays.

    Raise `Gone` if the other side ends, or sends nothing for `patience` seconds, and `BadMessage` for anything that is not
    declared.
    """
    size = int.from_bytes(_read(pipe, 8, patience), "little")
    if size > MOST_RECORD:
        raise BadMessage(f"its record has {size:,} bytes")
    try:
        found = record_of(json.loads(_read(pipe, size, patience).decode("utf-8", "surrogatepass")), record)
    except SchemaMismatch as error:
        raise BadMessage(f"in its record {error}") from None
    except (ValueError, RecursionError, MemoryError):
        raise BadMessage("its record is not JSON") from None
    heads: tuple[ArrayHead, ...] = found.arrays  # type: ignore[attr-defined]
    if [head.type for head in heads] != list(types) and heads:
        raise BadMessage("it has other arrays")
    if sum(head.size * np.dtype(head.type).itemsize for head in heads) > MOST_BYTES:
        raise BadMessage("its arrays are too large")
    arrays = []
    for head in heads:
        dtype = np.dtype(_TYPES[head.type])
        arrays.append(np.frombuffer(bytearray(_read(pipe, head.size * dtype.itemsize, patience)), dtype))
    return found, arrays


def _is_ready(pipe: int, event: int, patience: float) -> bool:
    """Return whether a pipe becomes ready within `patience` seconds. Unlike `select`, `poll` takes descriptors above 1,023."""
    waiting = select.poll()
    waiting.register(pipe, event)
    return bool(waiting.poll(patience * 1000))


def _read(pipe: int, size: int, patience: float) -> bytes:
    """Read exactly `size` bytes. Memory is taken as the bytes arrive, so a wrong size takes none."""
    pieces, left = [], size
    while left:
        if patience < math.inf and not _is_ready(pipe, select.POLLIN, patience):
            raise Gone(f"it did not answer for {patience:g} s")
        try:
            piece = os.read(pipe, min(left, PIECE))
        except OSError:
            piece = b""
        if not piece:
            raise Gone("it ended")
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


REQUEST_TYPES = ("float64", "float64", "int64", "int64", "float64", "float64")
REPLY_TYPES = ("int64", "int32", "float32", "float64")


class AskedTerms(NamedTuple):
    """The arrays of a request, checked, with its terms."""

    terms: Sequence[str]
    df: np.ndarray
    cf: np.ndarray
    ends: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray
    thresholds: np.ndarray


def checked_request(request: Request, arrays: list[np.ndarray]) -> AskedTerms:
    """Return the arrays of a request. Raise `BadMessage` if they contradict each other."""
    if not arrays:
        arrays = [np.empty(0, name) for name in REQUEST_TYPES]
    asked = AskedTerms(request.terms, *arrays)
    places = len(asked.numbers)
    sound = (
        len(asked.df) == len(asked.cf) == len(asked.terms)
        and len(asked.weights) == places
        and len(asked.thresholds) == len(asked.ends)
        and (np.diff(asked.ends, prepend=0) >= 0).all()
        and (int(asked.ends[-1]) if len(asked.ends) else 0) == places
        and (not places or (asked.numbers.min() >= 0 and asked.numbers.max() < len(asked.terms)))
        and np.isfinite(asked.weights).all()
        and not np.isnan(asked.thresholds).any()
        and (asked.df > 0).all()
        and (asked.cf >= asked.df).all()
        and np.isfinite(asked.cf).all()
    )
    if not sound:
        raise BadMessage("its arrays do not fit each other")
    return asked


def checked_reply(
    reply: Reply, arrays: list[np.ndarray], request: Request, docs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return the arrays of the reply to a request. `docs` is the number of documents of the process.

    Raise `BadMessage` for a reply to another request, for wrong numbers of hits, documents that do not exist, and scores
    that are not finite or that ascend.
    """
    if reply.number != request.number:
        raise BadMessage("it answers another request")
    if (reply.generation, reply.identity) != (request.generation, request.identity):
        raise BadMessage("it comes from another generation of the cluster")
    if not arrays:
        raise BadMessage("it has no arrays")
    counts, found, scores, largest = arrays
    queries = request.arrays[2].size
    if len(counts) != queries or len(largest) != 1 or (len(counts) and (counts.min() < 0 or counts.max() > request.k)):
        raise BadMessage("it has a wrong number of hits")
    if len(found) != len(scores) or len(found) != int(counts.sum()):
        raise BadMessage("it has a wrong number of hits")
    if len(found) and (found.min() < 0 or found.max() >= docs):
        raise BadMessage("it names documents that do not exist")
    if not np.isfinite(scores).all() or not (math.isfinite(largest[0]) and largest[0] >= 0):
        raise BadMessage("it has scores that are not finite numbers")
    row = np.repeat(np.arange(queries), counts)
    if len(scores) > 1 and (np.diff(scores)[row[1:] == row[:-1]] > 0).any():
        raise BadMessage("its scores ascend")
    pairs = np.sort(row * np.int64(docs) + found)
    if (pairs[1:] == pairs[:-1]).any():
        raise BadMessage("it names a document twice")
    return counts, found, scores, float(largest[0])
