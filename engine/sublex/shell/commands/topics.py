"""Commands for topics and judgements: load them, ask topics, judge hits, run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import sublex
from sublex.errors import InputError
from sublex.evaluation.pooling import read_form
from sublex.faces.judging import is_own, take_back, write_judgement
from sublex.forms.lines import Shown, line, sentence, table_lines
from sublex.operations import Needs, operation, option, positional
from sublex.operations.evaluating import RUN_HITS
from sublex.operations.parameters import DataFile, Docno, OverwriteFile
from sublex.operations.running import place_of_run, write_run
from sublex.operations.running import run as write_runs
from sublex.pipeline.query_forms import topics_notes
from sublex.shell.session import LANGUAGE, Last, Session, ShellContext
from sublex.tools.messages import counted, shell_word
from sublex.tools.outputs import expect_no_input


@operation(needs=Needs.SESSION)
def topics(session: Session, file: DataFile, fields: Annotated[str, positional("FIELDS")] = "title") -> Shown:
    """Load the topics of a file, in any format that `sublex run` reads. FIELDS form the query, as in title+desc."""
    loaded = sublex.read_topics(file, fields)
    session.topics, session.topic, session.last_topic = loaded, "", ""
    rows = [[topic.qid, topic.text] for topic in loaded]
    try:
        noted = topics_notes(loaded, session.index, session.settings.language, LANGUAGE)
    except InputError as error:
        # A query that cannot be read raises an error only when it is asked, so the other topics can be used.
        noted = [str(error)]
    notes = [*loaded.notes, *noted]
    return Shown(lambda: [line(f"{loaded}; :next asks it", indent=0)], lambda: rows, ("qid", "query"), rows, notes)


@operation(needs=Needs.SESSION)
def topic(session: Session, qid: Annotated[str, positional("QID", completes="topic")] = "") -> Shown:
    """Ask a topic of the loaded topics. Without QID, list them."""
    loaded = session.loaded_topics()
    if not qid:
        rows = [(topic.qid, topic.text) for topic in loaded]
        return Shown(lambda: table_lines(rows, ("qid", "query")), lambda: rows, ("qid", "query"), rows)
    return _ask(session, qid)


@operation("next", Needs.SESSION)
def next_topic(session: Session) -> Shown:
    """Ask the topic after the last one, in the order of the file."""
    qids = [topic.qid for topic in session.loaded_topics()]
    place = qids.index(session.last_topic) + 1 if session.last_topic in qids else 0
    if place == len(qids):
        raise InputError(f"Topic {session.last_topic} is the last one; :topic {qids[0]} begins again.")
    return _ask(session, qids[place])


def _ask(session: Session, qid: str) -> Shown:
    text = session.loaded_topics()[qid].text
    session.topic = session.last_topic = qid
    return session.search(text).between(above=[line(f"topic {qid}: {text}", indent=0)])


@operation(needs=Needs.SESSION)
def qrels(
    session: Session, file: DataFile, contradictions: Literal["error", "first", "last", "highest"] = "error"
) -> Shown:
    """Load relevance judgements: each hit of a judged topic then shows its grade, or ? if it is not judged.

    A file that does not exist yet is made by the first :judge. If a topic judges a document with different grades, the
    file is refused; --contradictions first, last or highest takes that grade.
    """
    session.qrels_path, session.contradictions = Path(file), contradictions
    if not session.qrels_path.exists() and session.qrels_path.absolute().parent.is_dir() and ":" not in file:
        session.qrels = None
        return Shown(lambda: [line(f"{file} is new; :judge writes the first judgement to it")])
    session.qrels = sublex.read_qrels(file, contradictions)
    return Shown(lambda: [line(str(session.qrels), indent=0)], notes=session.qrels.notes)


Write = Annotated[
    bool, option(help="Write to a file that :judge did not make, or that was changed since, without asking.")
]


@operation(needs=Needs.SESSION)
def judge(
    session: Session,
    docno: Docno = "",
    grade: Annotated[int | None, positional("GRADE")] = None,
    form: Annotated[str, option(metavar="FILE", completes="file")] = "",
    write: Write = False,
) -> Shown:
    """Write a judgement of a document for the current topic into the loaded file: :judge 3 2 gives the third hit grade 2.

    :judge --form FILE reads a form that `sublex pool` wrote and a person filled in, and writes all its judgements.

    :judge asks before it first changes a file that it did not make; where nobody can answer, --write is needed. The
    file is replaced in one step, so it is never half written. An earlier judgement of the document is changed. :unjudge
    takes the last judgement back.
    """
    path = _judgements(session)
    if form:
        return _judge_form(session, path, Path(form), write)
    if grade is None:
        raise InputError("Write :judge N GRADE, such as :judge 3 2, or :judge --form FILE.")
    if not session.topic:
        raise InputError("Ask a topic by :topic QID first; a judgement is one for a topic.")
    if abs(grade) >= 2**31:
        raise InputError(f"{grade} is no grade that trec_eval can read; give a smaller number.")
    _expect_leave(session, path, write)
    write_judgement(path, session.topic, docno, grade)
    return _judged(session, f"topic {session.topic}: {docno} has grade {grade}")


def _judge_form(session: Session, path: Path, form: Path, write: bool) -> Shown:
    """Write the judgements of a form that are not in the file yet. Each is a step that :unjudge can take back."""
    if not form.is_file():
        raise InputError(f"There is no form {form}; name one that sublex pool wrote.")
    given = list(read_form(form))
    known: Mapping[str, Mapping[str, int]] = session.qrels or {}
    new = [(qid, docno, grade) for qid, docno, grade in given if qid not in known or known[qid].get(docno) != grade]
    if not new:
        return sentence(f"{form} has no new judgement.")
    _expect_leave(session, path, write, f":judge --write --form {shell_word(str(form))}")
    for qid, docno, grade in new:
        write_judgement(path, qid, docno, grade)
    return _judged(session, f"{counted(len(new), 'judgement')} of {form} written to {path}")


@operation(needs=Needs.SESSION)
def unjudge(session: Session, write: Write = False) -> Shown:
    """Take back the last judgement that :judge wrote into the loaded file. The next call takes back the one before.

    Judgements of earlier sessions can be taken back too. A judgement that was changed gets its grade from before.
    """
    path = _judgements(session)
    _expect_leave(session, path, write, ":unjudge --write")
    step = take_back(path)
    before = f"has grade {step.before[0].split()[-1]} again" if step.before else "is not judged any more"
    return _judged(session, f"topic {step.qid}: {step.docno} {before}")


def _judgements(session: Session) -> Path:
    if session.qrels_path is None:
        raise InputError("Load judgements by :qrels FILE first; a new file is made by the first :judge.")
    return session.qrels_path


def _expect_leave(session: Session, path: Path, write: bool, instead: str = ":judge --write N GRADE") -> None:
    """Raise InputError unless the session may write to a file.

    Sublex must have made the file, or the user must agree. `instead` is the command that writes without asking.
    """
    if write or path.absolute() in session.judged or is_own(path):
        session.judged |= {path.absolute()}
        return
    if session.confirm is None:
        raise InputError(f"{path} was not made by :judge, or was changed since; to write to it: {instead}.")
    if not session.confirm(f"{path} was not made by :judge, or was changed since. Write judgements to it?"):
        raise InputError(f"{path} stays as it is; load another file by :qrels FILE, which may be new.")
    session.judged |= {path.absolute()}


def _judged(session: Session, sentence: str) -> Shown:
    """Read the judgements again. Return `sentence` about a changed judgement, with the measures of the topic."""
    assert session.qrels_path is not None
    has_judgements = os.path.getsize(session.qrels_path) > 0
    session.qrels = sublex.read_qrels(session.qrels_path, session.contradictions) if has_judgements else None
    figures = "; ".join(f"{name} {value:.4f}" for name, value in session.measures().items())
    return Shown(lambda: [line(f"{sentence}  {figures}")], lambda: sentence)


@operation(needs=Needs.SESSION)
def run(
    session: Session,
    file: DataFile,
    expression: Annotated[str, positional("EXPR", completes="expression")] = "",
    overwrite: OverwriteFile = False,
) -> Shown:
    """Run the loaded topics and write a TREC run, by the session's expression or another one."""
    loaded, pipeline = session.loaded_topics(), session.pipeline(expression or None)
    expect_no_input(file, {"topics": str(loaded.path or ""), "qrels": str(session.qrels_path or "")})
    context, judged = ShellContext(session, write_runs), session.judged_feedback(False)
    context.give_judged(judged)
    done = write_run(
        context,
        loaded,
        pipeline,
        place_of_run(file, 1),
        k=RUN_HITS,
        overwrite=overwrite,
        language=session.settings.language,
    )
    if loaded.path:
        settings = session.settings
        given = {"topics": loaded.path, "rankers": (str(pipeline),), "output": file, "profile": settings.profile}
        given["language"], given["judged"] = settings.language, judged
        session.step = Last(write_runs, {**given, "allow_uncovered": settings.allow_uncovered})
    return sentence(done)
