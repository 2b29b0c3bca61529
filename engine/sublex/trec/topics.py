"""Read topics, which are TREC's queries.

A topic has an id, fields, and a text to search for, which is made of some fields.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from sublex.contracts.base import Report
from sublex.errors import InputError, UnknownTopic
from sublex.forms.frames import data_frame
from sublex.forms.parts import parts_html, summary
from sublex.forms.tables import ROWS_SHOWN
from sublex.readers.irds import PREFIX
from sublex.readers.source import FileSource
from sublex.tools.messages import counted, near_names
from sublex.trec.kinds import TOPICS, reads
from sublex.trec.rows import refuse
from sublex.trec.topic_formats import ALIASES, TopicRecord, distinct_records, read_records

# Characters of a topic's text that `str(topics)` shows.
SHOWN = 80


class Topic(NamedTuple):
    """One topic: its id, the text of the chosen fields, and all fields by name."""

    qid: str
    text: str
    fields: Mapping[str, str]


class Topics(Sequence[Topic]):
    """The topics of a file, in its order, or topics that Python code gave.

    `format` is the detected format, and `used` the fields that make the texts. `available` are all fields of any topic,
    and `notes` are sentences from the reader to the user. `path` and `format` are empty for topics that were not read
    from a file.
    """

    def __init__(
        self,
        topics: Iterable[Topic],
        path: str = "",
        format: str = "",
        used: tuple[str, ...] = (),
        available: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
    ):
        self._topics = tuple(topics)
        self.path, self.format, self.used, self.available, self.notes = path, format, used, available, notes

    def __len__(self) -> int:
        return len(self._topics)

    @overload
    def __getitem__(self, place: int | str) -> Topic: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Topic]: ...
    def __getitem__(self, place: int | str | slice) -> Topic | Sequence[Topic]:
        """Return the topic with this id (a text) or at this place (from 0), or a slice of the topics."""
        if not isinstance(place, str):
            return self._topics[place]
        for topic in self:
            if topic.qid == place:
                return topic
        raise UnknownTopic(f"No topic {place or repr(place)} among {self._described()}.")

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each topic: qid, query. pandas must be installed."""
        return data_frame({"qid": [topic.qid for topic in self], "query": [topic.text for topic in self]})

    def _described(self) -> str:
        source = f" from {self.path}" if self.path else ""
        form = f" ({self.format})" if self.format else ""
        fields = f", by {'+'.join(self.used)}" if self.path and self.used else ""
        return f"{counted(len(self), 'topic')}{source}{form}{fields}"

    def __str__(self) -> str:
        if not self:
            return self._described()
        text = self[0].text if len(self[0].text) <= SHOWN else f"{self[0].text[: SHOWN - 1]}…"
        return f"{self._described()}; the first is {self[0].qid}: {text}"

    def __repr__(self) -> str:
        return f"<{self._described()}>"

    def _repr_html_(self) -> str:
        rows = [[topic.qid, topic.text] for topic in self[: ROWS_SHOWN + 1]]
        return parts_html(summary(self._described(), ["qid", "query"], rows, len(self), 2))


@reads(TOPICS)
def read_topics(path: str | os.PathLike[str], fields: str = "title") -> Topics:
    """Read a topic file, plain or compressed, `-` for standard input, or `irds:NAME` for a data set of ir_datasets.

    `fields` names the fields that make a topic's text, as in `title+desc`; they are joined by a space. Raise InputError
    for a malformed topic, with the line number, and for a field that no topic has.
    """
    source, report = FileSource(path), Report()
    if source.path.startswith(PREFIX):
        form, read = "irds", distinct_records(_of_dataset(source.path), source.path, refuse)
    else:
        form, read = read_records(source, refuse, report)
    available, used = choose_fields(read, fields, source.path)
    topics = [Topic(record.qid, _text(record.fields, used), record.fields) for record in read]
    for name in used:
        if lacking := [record.qid for record in read if name not in record.fields]:
            report.note(f"{source.path}: {_some(lacking)} without {name}")
    if empty := [topic.qid for topic in topics if not topic.text]:
        report.note(f"{source.path}: {_some(empty)} with an empty query, which finds nothing")
    return Topics(topics, source.path, form, used, available, tuple(report.notes))


def choose_fields(read: Sequence[TopicRecord], fields: str, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all fields of the records, and the names of the fields that make the queries.

    Raise InputError if `fields` names a field that no record has.
    """
    available = tuple(dict.fromkeys(name for record in read for name in record.fields))
    return available, tuple(_resolve(name.strip(), available, path) for name in fields.split("+"))


def _of_dataset(path: str) -> Iterator[TopicRecord]:
    """Yield the queries of a data set of ir_datasets.

    The place of a query in the data set serves as its line number.
    """
    from sublex.trec.irds import queries

    for place, (qid, fields) in enumerate(queries(path), 1):
        yield TopicRecord(qid, fields, place)


def _resolve(name: str, available: tuple[str, ...], path: str) -> str:
    """Return the name of a field in the file. `name` may be another name of the same group."""
    if name in available:
        return name
    group = next((group for group in ALIASES if name in group), ())
    for other in group:
        if other in available:
            return other
    known = near_names(name, available) or "none"
    raise InputError(f"No topic of {path} has a field {name or 'without a name'}; the fields are: {known}.")


def _text(fields: Mapping[str, str], used: Sequence[str]) -> str:
    return " ".join(fields[name] for name in used if fields.get(name))


def _some(qids: list[str]) -> str:
    """Return the number of topics and the ids of the first five, for a note."""
    more = ", …" if len(qids) > 5 else ""
    return f"{counted(len(qids), 'topic')} ({', '.join(qids[:5])}{more})"
