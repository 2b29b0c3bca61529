"""Commands for topics and judgements: load them, ask topics, judge hits, run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import sublex
from sublex.errors import InputError
from sublex.forms.lines import Shown, line, sentence, table_lines
from sublex.operations import Needs, operation, positional
from sublex.operations.evaluating import RUN_HITS
from sublex.operations.parameters import DataFile, Docno, OverwriteFile
from sublex.operations.running import place_of_run, write_run
from sublex.operations.running import run as write_runs
from sublex.pipeline.query_forms import topics_notes
from sublex.shell.judging import write_judgement
from sublex.shell.session import Last, Session, ShellContext


@operation(needs=Needs.SESSION)
def topics(session: Session, file: DataFile, fields: Annotated[str, positional("FIELDS")] = "title") -> Shown:
    """Load the topics of a file, in any format that `sublex run` reads. FIELDS form the query, as in title+desc."""
    loaded = sublex.read_topics(file, fields)
    session.topics, session.topic, session.last_topic = loaded, "", ""
    rows = [[topic.qid, topic.text] for topic in loaded]
    notes = [*loaded.notes, *topics_notes(loaded, session.index)]
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


@operation(needs=Needs.SESSION)
def judge(session: Session, docno: Docno, grade: Annotated[int, positional("GRADE")]) -> Shown:
    """Write a judgement of a document for the current topic into the loaded file: :judge 3 2 gives the third hit grade 2.

    The file is replaced in one step, so it is never half written. A judgement that was there is changed.
    """
    if session.qrels_path is None or not session.topic:
        raise InputError("Load judgements by :qrels FILE and ask a topic by :topic QID first.")
    write_judgement(session.qrels_path, session.topic, docno, grade)
    session.qrels = sublex.read_qrels(session.qrels_path, session.contradictions)
    figures = "; ".join(f"{name} {value:.4f}" for name, value in session.measures().items())
    return Shown(lambda: [line(f"topic {session.topic}: {docno} has grade {grade}  {figures}")])


@operation(needs=Needs.SESSION)
def run(
    session: Session,
    file: DataFile,
    expression: Annotated[str, positional("EXPR", completes="expression")] = "",
    overwrite: OverwriteFile = False,
) -> Shown:
    """Run the loaded topics and write a TREC run, by the session's expression or another one."""
    loaded, pipeline = session.loaded_topics(), session.pipeline(expression or None)
    context = ShellContext(session, write_runs)
    done = write_run(context, loaded, pipeline, place_of_run(file, [expression]), k=RUN_HITS, overwrite=overwrite)
    if loaded.path:
        settings = session.settings
        given = {"topics": loaded.path, "rankers": (str(pipeline),), "output": file, "profile": settings.profile}
        session.step = Last(write_runs, {**given, "allow_uncovered": settings.allow_uncovered})
    return sentence(done)
