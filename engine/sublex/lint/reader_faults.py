"""Turn the faults that the readers of `sublex.trec` report into findings. A finding says what the fault causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from sublex.lint.findings import ERROR, NOTE, Finding, show_id
from sublex.trec.rows import Fault


class Effect(NamedTuple):
    """The rule of a finding and its text. Names in braces in the text stand for facts about the first line."""

    rule: str
    text: str
    severity: str = ERROR


NOT_FINITE = (
    "The score {cell} is not a finite number of float32: it cannot be compared with other scores, so trec_eval orders its topic by "
    "chance, and Sublex refuses the run."
)
_ROWS = {
    "nul": Effect(
        "nul",
        "The line has a NUL byte: trec_eval stops reading there and all lines after it are lost, so Sublex refuses the file; "
        "remove the byte.",
    ),
    "encoding": Effect(
        "encoding",
        "The line is not UTF-8: Sublex reads it as Latin-1 and trec_eval compares bytes, so an id may match in one and not in the "
        "other; save the file as UTF-8.",
    ),
    "few columns": Effect("columns", "{what}: trec_eval stops at such a line, and Sublex refuses the file."),
    "many columns": Effect(
        "columns",
        "{what}: tools read other cells or stop, and Sublex refuses the file; check for an id with white space.",
    ),
    "header": Effect(
        "header",
        "The line names the columns ({names}): trec_eval reads it as data, as a topic {first} with the number 0; remove it.",
    ),
}
RUN = _ROWS | {
    "score": Effect(
        "score",
        "The score {cell} is not a number: trec_eval reads the digits at its beginning, or 0, and Sublex refuses the run.",
    ),
    "infinite": Effect("score", NOT_FINITE),
    "same number": Effect(
        "duplicate",
        "Topic {qid} has {docno} already {before}, with the same score: trec_eval stops, ir_measures takes the last line and "
        "Sublex counts one; keep one.",
    ),
    "other number": Effect(
        "duplicate",
        "Topic {qid} has {docno} already {before}, with another score: trec_eval stops, ir_measures takes the last line, and "
        "Sublex refuses the run; keep one.",
    ),
}
QRELS = _ROWS | {
    "no header": Effect(
        "header",
        "The file has three columns but not the header query-id corpus-id score: trec_eval stops, and Sublex refuses the file; add "
        "the header, or a second column of zeros.",
    ),
    "json": Effect("json", "The file is not JSON ({reason}), so nothing of it was checked; correct this line."),
    "unreadable json": Effect(
        "json", "The file is not JSON that can be read, so nothing of it was checked; correct it."
    ),
    "no object": Effect(
        "json",
        'Topic {qid} has no object of grades such as {{"docno": 1}}: Sublex refuses the file; write one, or remove the topic.',
    ),
    "id": Effect("id", "An id is misread: {reason}, so Sublex refuses the file; give it another id."),
    "empty": Effect("empty", "The file holds no judgements, so Sublex refuses it."),
    "grade": Effect(
        "grade",
        "The grade {cell} is not a whole number of 32 bits: trec_eval reads {read}, and Sublex refuses the file; write whole "
        "numbers.",
    ),
    "same number": Effect(
        "duplicate",
        "Topic {qid} judges {docno} as {value} here and {before} too: trec_eval stops, and other tools count it once; keep one.",
        NOTE,
    ),
    "other number": Effect(
        "duplicate",
        "Topic {qid} judges {docno} as {value} here and as {value_before} {before}: trec_eval stops, Sublex refuses the file "
        "unless --contradictions chooses a grade, and ir_measures takes the last; keep one.",
    ),
}
TOPICS = {
    "record": Effect("record", "The record cannot be read, so Sublex refuses the file: {reason}"),
    "topic again": Effect("duplicate", "Topic {qid} is already {before}: Sublex refuses the file; keep one."),
    "empty": Effect("empty", "The file holds no topics, so Sublex refuses it."),
}


class Reported:
    """A listener that gathers the faults of one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.faults: dict[str, list[Fault]] = {}

    def __call__(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            self.faults.setdefault(fault.kind, []).append(fault)

    def findings(self, effects: Mapping[str, Effect]) -> list[Finding]:
        """Return a finding for each kind of fault."""
        refused = [kind for kind, faults in self.faults.items() if faults[0].refusal]
        found = []
        for kind, (rule, text, severity) in effects.items():
            # A file counts as "empty" even if all its lines were refused. The other faults then give the reason, so
            # "empty" is not reported.
            if kind in self.faults and (kind != "empty" or refused == ["empty"]):
                lines = list(chain.from_iterable(fault.lines for fault in self.faults[kind]))
                facts = _facts(self.faults[kind][0].about)
                found.append(Finding.at(self.path, lines, rule, severity, text.format_map(facts)))
        return found


def _facts(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a line in the form that findings show."""
    facts = {name: show_id(fact) if name in ("qid", "docno", "cell") else fact for name, fact in about.items()}
    facts["before"] = f"on line {about['line_before']}" if about.get("line_before") else "before"
    return facts
