"""Make `Topics` of topics from Python code: a file, a DataFrame, records, a dictionary, pairs or a list of texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sublex.errors import InputError
from sublex.forms.frames import frame_records, is_frame
from sublex.tools.arguments import shown
from sublex.tools.messages import near_names
from sublex.trec.columns import Columns
from sublex.trec.ids import id_text
from sublex.trec.topic_formats import ALIASES, QID_ALIASES, TopicRecord
from sublex.trec.topics import Topic, Topics, choose_fields, read_topics

EXPECTED = (
    "give a topics file, a DataFrame or records with qid and query, a dictionary {qid: text}, pairs (qid, text), "
    "or a list of texts"
)


def topics_of(given: Any, fields: str = "title") -> Topics:
    """Return topics as `Topics`.

    Raise InputError for a value that cannot be topics, and for an id that occurs twice.

    The topics of a list of texts get the ids 1, 2 and so on. `fields` names the fields that make the query; it is for
    files and records.
    """
    if isinstance(given, Topics):
        return given
    if isinstance(given, (str, os.PathLike)):
        return _from_file(given, fields)
    items = list(_items(given))
    if not items:
        raise InputError(f"There are no topics; {EXPECTED}.")
    if all(isinstance(item, Topic) for item in items):
        return Topics(_distinct(items))
    records = [_record(item, number) for number, item in enumerate(items, 1)]
    available, used = _chosen(records, fields)
    topics = []
    for qid, texts, _ in records:
        parts = [texts[name] for name in used if name in texts]
        if not parts:
            raise InputError(f"Topic {qid} has no text in the field {' or '.join(used)}; give it one or leave it out.")
        topics.append(Topic(qid, " ".join(part for part in parts if part), texts))
    return Topics(_distinct(topics), used=used, available=available)


def _distinct(topics: Iterable[Topic]) -> list[Topic]:
    """Return the topics with their ids as texts; raise InputError for an id that occurs twice."""
    seen: dict[str, Topic] = {}
    for number, topic in enumerate(topics, 1):
        qid = id_text(topic.qid, "topic")
        if qid.split() != [qid]:
            why = "holds white space, which separates the columns of a run" if qid.strip() else "is empty"
            raise InputError(f"The topic id {qid!r} {why}; give another id.")
        if qid in seen:
            first = list(seen).index(qid) + 1
            raise InputError(f"Topics {first} and {number} have the same id {qid}; keep one of the two.")
        seen[qid] = topic._replace(qid=qid, text=query_text(topic.text, qid))
    return list(seen.values())


def _chosen(records: Sequence[TopicRecord], fields: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all fields, and the names of the fields that make the queries."""
    try:
        return choose_fields(records, fields, "those given")
    except InputError:
        if fields != "title":
            raise
        names = dict.fromkeys(name for record in records for name in record.fields)
        raise InputError(
            f"No topic has a query, only {', '.join(names)}; name the column of the texts query."
        ) from None


def _from_file(path: str | os.PathLike[str], fields: str) -> Topics:
    try:
        return read_topics(path, fields)
    except InputError as error:
        if isinstance(path, os.PathLike) or os.path.exists(path):
            raise
        raise InputError(
            f"{error} A text names a topics file; for one query call search, or give a list of texts."
        ) from None


def _items(given: Any) -> Iterable[Any]:
    """Return the topics one by one: records, pairs, texts or `Topic`s.

    Raise InputError for a mixture of texts and other objects.
    """
    if is_frame(given):
        return frame_records(given)
    if isinstance(given, Columns):
        raise InputError(f"The topics are {shown(given)}; {EXPECTED}.")
    if isinstance(given, Mapping):
        _refuse_record(given)
        return [(qid, text) for qid, text in given.items()]
    if isinstance(given, (bytes, bytearray, set, frozenset)) or not isinstance(given, Iterable):
        raise InputError(f"The topics are {shown(given)}; {EXPECTED}.")
    if hasattr(given, "items"):
        raise InputError(f"A {type(given).__name__} may have any index; give its list for numbered texts, or its dict.")
    items = list(given)
    texts = sum(isinstance(item, str) for item in items)
    if texts and (texts < len(items) or isinstance(given, tuple)):
        kind = "a tuple of texts" if texts == len(items) else "texts among other things"
        raise InputError(f"The topics are {kind}, which may mean several things; {EXPECTED}.")
    return enumerate(items, 1) if texts else items


def _refuse_record(given: Mapping[Any, Any]) -> None:
    """Raise InputError if a dictionary is a single record or a table by columns, and not a dictionary of topics by id."""
    ids, texts = [name for name in QID_ALIASES if name in given], [name for name in ALIASES[0] if name in given]
    if ids and texts:
        if isinstance(given[texts[0]], str):
            raise InputError(
                f"This dictionary looks like one record, with {ids[0]} and {texts[0]}; put it into a list."
            )
        raise InputError(f"This dictionary looks like columns, {ids[0]} and {texts[0]}; make a DataFrame of it.")


def _record(item: Any, number: int) -> TopicRecord:
    """Return one topic with its id and its fields of text; `number` counts the topics from 1."""
    if isinstance(item, Topic):
        item = item.qid, item.text
    if hasattr(item, "_asdict"):
        item = item._asdict()
    if isinstance(item, Mapping):
        name = next((alias for alias in QID_ALIASES if alias in item), None)
        if name is None:
            there = near_names("qid", map(str, item)) or "nothing"
            raise InputError(f"Topic {number} has no qid, only {there}; name its id qid and its text query.")
        rest = {key: value for key, value in item.items() if key != name}
        return TopicRecord(id_text(item[name], "topic"), _fields(rest, item[name]), number)
    if isinstance(item, (list, tuple)) and len(item) == 2:
        qid, text = item
        fields = _fields(text, qid) if isinstance(text, Mapping) else {"title": query_text(text, qid)}
        return TopicRecord(id_text(qid, "topic"), fields, number)
    raise InputError(f"Topic {number} is {shown(item)}; {EXPECTED}.")


def _fields(texts: Mapping[Any, Any], qid: Any) -> dict[str, str]:
    """Return the fields that are texts; raise InputError for a record without any."""
    fields = {str(name): str(value) for name, value in texts.items() if isinstance(value, str)}
    if not fields:
        known = next((name for name in ALIASES[0] if name in texts), None)
        if known:
            raise InputError(
                f"The {known} of topic {qid} is {shown(texts[known])}; give it a text, or leave the topic out."
            )
        there = f", only {shown(dict(texts))}" if texts else ""
        raise InputError(f"Topic {qid} has no text{there}; name its text query.")
    return fields


def query_text(text: Any, qid: Any) -> str:
    """Return the query of a topic; raise InputError if it is no text."""
    if not isinstance(text, str):
        raise InputError(f"The query of topic {qid} is {shown(text)}; give a text.")
    return str(text)
