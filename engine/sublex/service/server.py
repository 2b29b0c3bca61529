"""A server without its protocol: the operations that it has, the indexes and files that it was given, and answers to requests."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from sublex import __version__
from sublex.errors import InputError, SublexError, UnknownTopic
from sublex.forms.lines import Shown
from sublex.language.names import given_name
from sublex.operations import NAMES, Needs, Operation, find, plugin_operations
from sublex.service.context import RequestContext
from sublex.service.expressions import expect_sound
from sublex.service.faults import at_fault
from sublex.service.fields import LOADED, RequestField, fields_of, unknown_field
from sublex.service.given import GivenFiles
from sublex.service.held import Generation, HeldIndex, HeldIndexes
from sublex.service.limits import MOST_ANSWER, MOST_DEPTH, MOST_HITS, MOST_LETTERS, Limits
from sublex.service.panels import panels_of
from sublex.service.problems import Refused, as_bytes
from sublex.service.tools import is_installed
from sublex.tools.confinement import Confinement, confined
from sublex.tools.messages import cut, near_names, nearest

# Operations that need one of these work on an index of the server.
ON_INDEX = (Needs.INDEX, Needs.MODEL, Needs.PATH, Needs.MAYBE_INDEX, Needs.ANY_INDEX)
# The fields that all operations on an index have.
INDEX = RequestField(
    "index", "", str, "", longest=255, help="The name of an index of the server; by default the first."
)
GENERATION = RequestField(
    "generation", "", int, None, least=0, most=2**63 - 1, is_nullable=True,
    help="A generation of the index that the server holds; by default the current one.",
)  # fmt: skip
STEP = RequestField("step", "", bool, False, help="Also answer with the call as a command line and as Python.")


@dataclass(frozen=True)
class Served:
    """An operation of a server: its name in routes, its fields, and whether it needs an index."""

    name: str
    operation: Operation
    fields: Mapping[str, RequestField]
    on_index: bool


# Takes a record that becomes a line of an answer.
Put = Callable[[Any], None]


@dataclass(frozen=True)
class RequestAnswer:
    """The body of an answer, or a function that hands over its lines, one record after the other."""

    body: bytes = b""
    lines: Callable[[Put], None] | None = None


class Server:
    """What a server has and may do. It answers a request in the thread that calls `answer`."""

    def __init__(
        self,
        indexes: HeldIndexes,
        files: GivenFiles | None = None,
        limits: Limits | None = None,
        may_write: bool = False,
    ):
        self.indexes, self.files = indexes, files or GivenFiles()
        self.limits, self.may_write = limits or Limits(2), may_write
        self.failures: list[str] = []
        self.served = {each.name: each for each in self._table()}
        self.panels, failures = panels_of(self.indexes[""].last.index.registry)
        self.failures += failures

    def _table(self) -> list[Served]:
        """Return the operations of the server: those of the table, of plugins, and its own, which come first."""
        from sublex.service.operations import OWN

        registry = self.indexes[""].last.index.registry
        found, failures = plugin_operations(registry)
        self.failures += failures
        table: dict[str, Served] = {}
        for operation in (*OWN, *(find(name) for name in NAMES if _in_room(name)), *found):
            name = operation.name.replace(" ", "-")
            if "service" not in operation.faces or name in table:
                continue
            try:
                fields = {field.name: field for field in fields_of(operation)}
            except InputError:
                continue
            on_index = operation.needs in ON_INDEX or any(each.name in LOADED for each in operation.parameters)
            shared = [INDEX, GENERATION, STEP] if on_index else []
            table[name] = Served(name, operation, {**{each.name: each for each in shared}, **fields}, on_index)
        return list(table.values())

    def find(self, name: str) -> Served:
        """Return an operation by its name in routes. Raise Refused for an unknown one."""
        if name not in self.served:
            raise self.unknown(name, self.served)
        return self.served[name]

    def unknown(self, name: str, names: Iterable[str]) -> Refused:
        """Return the refusal of an operation that the server does not have; it has `names`."""
        hint = nearest(name, names)
        known = f"{'T' if hint else 't'}here are: {near_names(name, names)}"
        return Refused(404, f"No operation {name[:80]!r}; {hint}{known}.")

    def given(self, served: Served, texts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the values of fields from a query string.

        Raise Refused for a field or value that the operation refuses.
        """
        return self._complete(served, texts, lambda field, value: field.read(value))

    def taken(self, served: Served, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of fields from a JSON body. Raise Refused for a field or value that is not allowed."""
        return self._complete(served, body, lambda field, value: field.take(value))

    def _complete(
        self, served: Served, given: Mapping[str, Any], read: Callable[[RequestField, Any], Any]
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        fields = served.fields
        for name, value in given.items():
            if name not in fields:
                raise unknown_field(name, served.name, fields)
            values[name] = read(fields[name], value)
        for name, field in fields.items():
            if name not in values:
                if field.is_required:
                    raise Refused(400, f"{served.name} needs the parameter {name}.", parameter=name)
                values[name] = () if field.many and not field.default else field.default
            elif field.is_expression:
                for text in values[name] if field.many else (values[name],):
                    if text is not None and field.is_strict:
                        named = given_name(text)
                        expect_sound(named[1] if named else text, name)
        return values

    def arguments(self, served: Served, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of an operation for the values of its fields; files are those that the server was given."""
        arguments: dict[str, Any] = {}
        for field in served.fields.values():
            if not field.parameter:
                continue
            value = values[field.name]
            try:
                arguments[field.parameter] = self._file(field, value) if field.file else value
            except Refused as refused:
                refused.more.setdefault("parameter", field.name)
                raise
        for each in served.operation.parameters:
            # A file that no request can name, and what only sessions remember.
            if each.is_required and each.name not in arguments:
                arguments[each.name] = () if each.many else ""
        return arguments

    def _file(self, field: RequestField, value: Any) -> Any:
        """Return the content or the path of a file, as the parameter of the field takes it."""
        kind = field.file
        if field.parameter not in LOADED:
            if field.many:
                return tuple(self.files.path(kind, name) for name in value or self.files.names(kind) or [""])
            return self.files.path(kind, value) if value or field.absent is ... else field.absent
        if kind == "runs":
            return tuple(self.files.runs(value))
        if kind == "topics":
            return self.files.topics(value)
        names = [value] if value else self.files.usual("judgements")
        # A file into which nobody has judged yet is passed over.
        found = next(filter(None, map(self.files.judgements, names)), None)
        if found is None and field.parameter == "loaded_qrels":
            self.files.path("judgements", value)
            raise Refused(404, "There are no judgements yet; judge a document first.")
        return found

    def place(self, served: Served, values: Mapping[str, Any]) -> tuple[HeldIndex | None, Generation | None]:
        """Return the index and the generation that a request asks for."""
        if not served.on_index:
            return None, None
        held = self.indexes[values["index"]]
        return held, held.generation(values["generation"])

    def answer(self, served: Served, values: Mapping[str, Any]) -> RequestAnswer:
        """Return the answer to a request, in the thread that calls this."""
        if served.operation.is_long:
            return RequestAnswer(lines=lambda put: put(json.loads(self._answered(served, values, put).body)))
        return self._answered(served, values)

    def _answered(self, served: Served, values: Mapping[str, Any], tell: Put | None = None) -> RequestAnswer:
        """Return the answer to a request. `tell` takes records of progress meanwhile."""
        held, generation = self.place(served, values)
        operation = served.operation
        arguments = self.arguments(served, values)
        changes = operation.changes(arguments)
        context = RequestContext(self, operation, held, generation, bool(arguments.get("allow_uncovered")))
        context.tell = tell
        if changes and generation is not None:
            context._index = context.changed_index()
        resources = generation.confinement.resources if generation else frozenset[str]()
        with confined(Confinement(resources, may_change=changes)):
            try:
                shown = context.ask(operation, **arguments)
            except SublexError as error:
                raise at_fault(error, served.fields.values(), values, context) from None
            return self._answer(served, context, shown, arguments, bool(values.get("step")))

    def _answer(
        self, served: Served, context: RequestContext, shown: Shown, arguments: Mapping[str, Any], step: bool
    ) -> RequestAnswer:
        if "ndjson" in shown.forms:
            return RequestAnswer(lines=partial(_hand_over, shown.forms["ndjson"]))
        names_files = any(each.given == "files" for each in served.operation.parameters)
        result = _everywhere(self._with_names, shown.data) if names_files else shown.data
        if isinstance(result, dict) and "notes" in result:
            # A comparison has notes of its own.
            result = {**result, "notes": _everywhere(self._with_names, result["notes"])}
        record: dict[str, Any] = {
            "result": result,
            "notes": [self._with_names(note) for note in (*context.notes, *shown.notes)],
        }
        if context.held and context.generation:
            record |= {"index": context.held.name, "generation": context.index.generation}
        if step:
            record |= _steps(served.operation, context, shown, arguments)
        body = as_bytes(record)
        if len(body) > MOST_ANSWER:
            raise Refused(413, f"The answer has {len(body):,} bytes, more than {MOST_ANSWER:,}; ask for less.")
        return RequestAnswer(body)

    @cached_property
    def _places(self) -> dict[str, str]:
        """The names of indexes and files by path, the longest path first. A path without a folder is as good as a name."""
        from sublex.faces.judging import journal_path

        places = {str(held.path): name for name, held in self.indexes.items()} | self.files.places
        if self.files.judge:
            journal = journal_path(Path(self.files.judge))
            places[str(journal)] = journal.name
        return {path: places[path] for path in sorted(places, key=len, reverse=True) if os.sep in path}

    def _with_names(self, sentence: str) -> str:
        """Return a sentence with the names of indexes and files in place of paths, which clients must not learn."""
        for path, name in self._places.items():
            sentence = sentence.replace(path, name)
        return sentence

    def named(self, refused: Refused) -> Refused:
        """Return a refusal whose sentence has names in place of paths."""
        refused.args = (self._with_names(str(refused)),)
        return refused

    def changes(self, served: Served, values: Mapping[str, Any]) -> bool:
        """Return whether a request with these values changes something."""
        if not served.operation.may_change:
            return False
        given = {field.parameter: values[field.name] for field in served.fields.values() if field.parameter}
        return served.operation.changes(given)

    def expect_leave(self, served: Served) -> None:
        """Raise Refused unless users may change what an operation changes."""
        if served.name in ("judge", "unjudge"):
            if not self.files.judge:
                raise Refused(403, "This server takes no judgements; start it with --judge FILE.")
        elif not self.may_write:
            raise Refused(403, f"This server only reads, and {served.name} changes an index; start it with --write.")

    def health(self) -> dict[str, Any]:
        """Return what the server has and may do."""
        indexes = [
            {"name": name, "generation": held.last.number, "documents": len(held.last.index)}
            for name, held in self.indexes.items()
        ]
        files = {kind: self.files.names(kind) for kind in ("topics", "judgements", "runs")}
        limits = {**self.limits._asdict(), "hits": MOST_HITS, "depth": MOST_DEPTH, "letters": MOST_LETTERS}
        more = {"judge": bool(self.files.judge), "write": self.may_write, "limits": limits}
        return {
            "status": "ok",
            "version": __version__,
            "indexes": indexes,
            **files,
            **more,
            "operations": list(self.served),
            "panels": [{"name": each.name, "title": each.title, "module": each.module} for each in self.panels],
            "mcp": is_installed(),
        }

    def grades(self, topic: str) -> dict[str, int]:
        """Return the grades of a topic in all files of judgements.

        If they differ, the first file counts: that of users.
        """
        found: dict[str, int] = {}
        for name in reversed(self.files.names("judgements")):
            qrels = self.files.judgements(name)
            if qrels is not None and topic in qrels:
                found |= qrels[topic]
        return found

    def expect_topic(self, topic: str) -> None:
        """Raise UnknownTopic if the server has topics, and this is none of them."""
        names = self.files.names("topics")
        known = [each.qid for name in names for each in self.files.topics(name)]
        if names and topic not in known:
            hint = nearest(topic, known)
            raise UnknownTopic(
                f"No topic {cut(topic)!r} in {', '.join(names)}; {hint}{'N' if hint else 'n'}othing is judged."
            )

    def judge(self, topic: str, docno: str, grade: int, by: str = "") -> dict[str, Any]:
        """Write a judgement, and return it with the grade before; None for a document that was not judged."""
        from sublex.faces.judging import write_judgement

        before = write_judgement(Path(self.files.judge), topic, docno, grade, by)
        return {"topic": topic, "docno": docno, "grade": grade, "before": _grade(before)}

    def unjudge(self, by: str = "") -> dict[str, Any]:
        """Take the last judgement of a person back, and return it with the grade that the document has now."""
        from sublex.faces.judging import take_back

        step = take_back(Path(self.files.judge), by)
        return {"topic": step.qid, "docno": step.docno, "grade": _grade(step.before), "before": step.grade}


def _hand_over(records: Callable[[], Iterable[Any]], put: Put) -> None:
    for record in records():
        put(record)


def _everywhere(change: Callable[[str], str], value: Any) -> Any:
    """Return a record with all of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _everywhere(change, each) for name, each in value.items()}
    return [_everywhere(change, each) for each in value] if isinstance(value, (list, tuple)) else value


def _grade(lines: Sequence[str]) -> int | None:
    """Return the grade in the lines of a file of judgements about one document."""
    try:
        return int(lines[-1].split()[-1]) if lines else None
    except ValueError:
        return None


def _in_room(name: str) -> bool:
    """Return whether an operation in the table is for all faces, and not for a single one."""
    return not NAMES[name].startswith("sublex.")


def _steps(operation: Operation, context: RequestContext, shown: Shown, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call as a command line and as Python; None where there is no such thing."""
    from sublex.tools.messages import one_line

    path = context.index.path if context.has_index else "INDEX"
    step = shown.step or operation.step(arguments, path)
    try:
        code = operation.code(arguments) if operation.python else ""
    except (KeyError, IndexError, AttributeError):
        code = ""
    return {"command": None if step is None else one_line(str(step)), "python": code or None}
