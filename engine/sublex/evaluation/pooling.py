"""Choose the documents of runs that are worth judging next, and write and read them as a form.

A form is a text file. It has a line for each document: topic, docno, grade, and the reason for the choice, separated by
tabs. A document without a judgement has the grade `?`; a person replaces it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex.evaluation.systems import System
from sublex.forms.frames import data_frame
from sublex.tools.messages import one_line
from sublex.tools.plain_files import read_text

# The depth to which runs are read if only a budget is given.
DEPTH = 100
# The mark of a document without a grade, the first lines of a form, and the largest size of a form in bytes.
UNJUDGED = "?"
HEAD = "# Replace each ? by a grade. In the shell, :qrels FILE and then :judge --form FORM read the form.\n# topic\tdocno\tgrade\twhy\n"
MOST_BYTES = 1 << 28
# A dictionary from topics to dictionaries from docnos to grades.
Judgements = Mapping[str, Mapping[str, int]]


class Chosen(NamedTuple):
    """A document to judge. `grade` is None if nobody has judged it, and `why` says in words why it was chosen."""

    qid: str
    docno: str
    grade: int | None
    why: str


class Pool(tuple[Chosen, ...]):
    """The documents to judge, as a tuple of `Chosen`."""

    def form(self) -> str:
        """Return the documents as the text of a form."""
        return form_text(self)

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each document; pandas must be installed."""
        return data_frame({name: [getattr(each, name) for each in self] for name in Chosen._fields})


class _Candidate(NamedTuple):
    docno: str
    value: float
    why: str


def pool(
    systems: Sequence[System],
    judged: Judgements,
    method: str = "depth",
    depth: int | None = None,
    budget: int | None = None,
) -> list[Chosen]:
    """Choose the documents to judge. Topics stand in the order of the first run, and in a topic the most useful document is first.

    `method` is one of:

    * "depth": by the best rank in any run;
    * "front": move to front (G. V. Cormack, C. R. Palmer and C. L. A. Clarke, SIGIR 1998): runs that have just given a
      relevant document come first;
    * "change": by how much the difference between two runs would change if the document were relevant.

    The first `depth` documents of each run count. With a `budget`, at most this number of documents without a grade are
    returned, and judged documents are left out. Topics get documents in turn. Without a budget, judged documents stay,
    with their grades.
    """
    if method not in METHODS:
        raise InputError(f"No method {method}; there are {', '.join(METHODS)}.")
    if depth is None and budget is None:
        raise InputError("Say how many documents to judge: by --depth of each ranking, or by --budget in all.")
    if method == "change" and len(systems) < 2:
        raise InputError("--method change compares runs; give two or more.")
    qids = list(dict.fromkeys(qid for system in systems for qid in system.run.qids))
    ordered = {}
    for qid in qids:
        ranked = [system.run.docnos.take(system.run.topic(qid)[0][: depth or DEPTH]).tolist() for system in systems]
        grades = judged.get(qid, {})
        ordered[qid] = [
            Chosen(qid, each.docno, grades.get(each.docno), each.why)
            for each in METHODS[method](ranked, grades, systems)
        ]
    if budget is None:
        return [each for chosen in ordered.values() for each in chosen]
    return _within(ordered, budget)


def _within(ordered: Mapping[str, Sequence[Chosen]], budget: int) -> list[Chosen]:
    """Return at most `budget` documents without a grade. The topics get documents in turn."""
    open_ones = {qid: [each for each in chosen if each.grade is None] for qid, chosen in ordered.items()}
    taken, turn = dict.fromkeys(open_ones, 0), 0
    while budget and any(len(chosen) > turn for chosen in open_ones.values()):
        for qid, chosen in open_ones.items():
            if budget and len(chosen) > turn:
                taken[qid] += 1
                budget -= 1
        turn += 1
    return [each for qid, chosen in open_ones.items() for each in chosen[: taken[qid]]]


def _by_depth(
    ranked: Sequence[Sequence[str]], grades: Mapping[str, int], systems: Sequence[System]
) -> list[_Candidate]:
    best: dict[str, tuple[int, str]] = {}
    for system, docnos in zip(systems, ranked, strict=True):
        for rank, docno in enumerate(docnos, 1):
            if docno not in best or rank < best[docno][0]:
                best[docno] = rank, system.name
    found = [_Candidate(docno, -rank, f"rank {rank} of {name}") for docno, (rank, name) in best.items()]
    return sorted(found, key=lambda each: -each.value)


def _to_front(
    ranked: Sequence[Sequence[str]], grades: Mapping[str, int], systems: Sequence[System]
) -> list[_Candidate]:
    """Return the documents of one topic in the order in which move to front takes them.

    `ranked` has the docnos of each run, best first. Each run has a priority. The next document comes from the run with
    the highest priority: its first document that is still left. A relevant document moves its run to the front. Any
    other document lowers its run by one step.
    """
    priority, places = [0] * len(ranked), [0] * len(ranked)
    seen: set[str] = set()
    found: list[_Candidate] = []
    while True:
        left = [number for number, docnos in enumerate(ranked) if places[number] < len(docnos)]
        if not left:
            return found
        run = max(left, key=lambda number: (priority[number], -number))
        docno, rank = ranked[run][places[run]], places[run] + 1
        places[run] += 1
        if docno in seen:
            continue
        seen.add(docno)
        found.append(_Candidate(docno, 0.0, f"rank {rank} of {systems[run].name}"))
        priority[run] = 0 if grades.get(docno, 0) > 0 else priority[run] - 1


def _by_change(
    ranked: Sequence[Sequence[str]], grades: Mapping[str, int], systems: Sequence[System]
) -> list[_Candidate]:
    """Return the documents of one topic, ordered by the largest difference of their gains in any two runs.

    `ranked` has the docnos of each run, best first. A gain is 1 / log2(1 + rank). If all documents are relevant with
    the same probability, the order follows the expected change of the difference between the runs' discounted gains. B.
    Carterette, J. Allan and R. Sitaraman (SIGIR 2006) do this for AP.
    """
    gains = [{docno: 1 / math.log2(1 + rank) for rank, docno in enumerate(docnos, 1)} for docnos in ranked]
    found = []
    for docno in dict.fromkeys(docno for docnos in ranked for docno in docnos):
        values = [own.get(docno, 0.0) for own in gains]
        change, a, b = max(
            ((abs(values[a] - values[b]), a, b) for a, b in combinations(range(len(values)), 2)),
            key=lambda each: each[0],
        )
        better, other = (a, b) if values[a] >= values[b] else (b, a)
        said = (
            f"{change:.4f} for {systems[better].name} over {systems[other].name}"
            if change
            else "the same rank in all runs"
        )
        found.append(_Candidate(docno, change, said))
    return sorted(found, key=lambda each: -each.value)


METHODS: Mapping[str, Callable[[Sequence[Sequence[str]], Mapping[str, int], Sequence[System]], list[_Candidate]]] = {
    "depth": _by_depth,
    "front": _to_front,
    "change": _by_change,
}


def pool_notes(systems: Sequence[System], judged: Judgements | None) -> list[str]:
    """Return sentences about the runs that have no topic in common with the first run, and about such judgements."""
    first = systems[0]
    known = set(first.run.qids)
    notes = [
        f"{system.name} has no topic of {first.name}; use runs of the same topics."
        for system in systems[1:]
        if known and len(system.run.qids) and not known.intersection(system.run.qids)
    ]
    if judged and known and not known.intersection(judged):
        notes.append(f"The judgements have no topic of {first.name}; use those of the same topics.")
    return notes


def form_text(chosen: Sequence[Chosen]) -> str:
    """Return the documents as a form."""
    lines = (
        "\t".join((each.qid, each.docno, UNJUDGED if each.grade is None else str(each.grade), one_line(each.why)))
        for each in chosen
    )
    return HEAD + "".join(f"{line}\n" for line in lines)


def read_form(path: Path) -> Iterator[tuple[str, str, int]]:
    """Yield topic, docno and grade of each document of a form that has a grade.

    Raise InputError, with the line number, if the file is not a form, or if a document has two grades.
    """
    lines = read_text(path, MOST_BYTES, "a form of sublex pool").split("\n")
    seen: dict[tuple[str, str], int] = {}
    for number, line in enumerate(lines, 1):
        cells = line.rstrip("\r").split("\t")
        # A topic's id may begin with #; it has no white space after that.
        if line.startswith("# ") or not line.strip():
            continue
        if len(cells) < 3 or any(cell.split() != [cell] for cell in cells[:2]):
            raise InputError(f"{path}, line {number}: a form has topic, docno and grade, with tabs between them.")
        grade = cells[2].strip()
        if grade in (UNJUDGED, ""):
            continue
        digits = grade.removeprefix("-")
        if not digits.isdecimal() or not digits.isascii() or len(digits) > 10 or int(digits) >= 2**31:
            raise InputError(
                f"{path}, line {number}: {one_line(grade)[:40]} is no grade; write a whole number, or ? for none."
            )
        before = seen.setdefault((cells[0], cells[1]), int(grade))
        if before != int(grade):
            raise InputError(
                f"{path}, line {number}: {one_line(cells[1])} has the grade {before} for topic {one_line(cells[0])} on a line "
                "above; keep one of both lines."
            )
        yield cells[0], cells[1], int(grade)
