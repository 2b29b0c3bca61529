"""Commands for topics and judgements: load them, ask topics, judge hits, run and measure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import sublex
from sublex.display.comparison import comparison
from sublex.display.evaluation import evaluation_json, evaluation_table
from sublex.display.query_forms import topics_notes
from sublex.errors import InputError
from sublex.forms.lines import Shown, figure_lines, line, table_lines
from sublex.shell.arguments import exactly, needed, unquoted, whole, words_of
from sublex.shell.judging import write_judgement
from sublex.shell.registry import Theme
from sublex.shell.session import Session
from sublex.shell.steps import Step, option_words

if TYPE_CHECKING:
    from sublex.evaluation.systems import System

command = Theme("Topics and judgements")
# Hits of a topic in a run.
RUN_HITS = 1000


@command("FILE [FIELDS]", completes="file")
def topics(session: Session, rest: str) -> Shown:
    """Load the topics of a file, in any format that `sublex run` reads. FIELDS form the query, as in title+desc."""
    words = words_of(rest)
    if len(words) not in (1, 2):
        raise InputError("Write :topics FILE.")
    loaded = sublex.read_topics(words[0], *words[1:])
    session.topics, session.topic, session.last_topic = loaded, "", ""
    rows = [[topic.qid, topic.text] for topic in loaded]
    notes = [*loaded.notes, *topics_notes(loaded)]
    return Shown(lambda: [line(f"{loaded}; :next asks it", indent=0)], lambda: rows, ("qid", "query"), rows, notes)


@command("[QID]", completes="topic")
def topic(session: Session, rest: str) -> Shown:
    """Ask a topic of the loaded topics. Without QID, list them."""
    loaded = _loaded(session)
    if not rest:
        rows = [(topic.qid, topic.text) for topic in loaded]
        return Shown(lambda: table_lines(rows, ("qid", "query")), lambda: rows, ("qid", "query"), rows)
    return _ask(session, rest)


@command(name="next")
def next_topic(session: Session, rest: str) -> Shown:
    """Ask the topic after the last one, in the order of the file."""
    qids = [topic.qid for topic in _loaded(session)]
    place = qids.index(session.last_topic) + 1 if session.last_topic in qids else 0
    if place == len(qids):
        raise InputError(f"Topic {session.last_topic} is the last one; :topic {qids[0]} begins again.")
    return _ask(session, qids[place])


def _ask(session: Session, qid: str) -> Shown:
    text = _loaded(session)[qid].text
    session.topic = session.last_topic = qid
    shown = session.search(text)
    return Shown(
        lambda: [line(f"topic {qid}: {text}", indent=0), *shown.lines],
        lambda: shown.data,
        shown.head,
        shown.rows,
        shown.notes,
    )


@command("FILE", completes="file")
def qrels(session: Session, rest: str) -> Shown:
    """Load relevance judgements: each hit of a judged topic then shows its grade, or ? if it is not judged.

    A file that does not exist yet is made by the first :judge.
    """
    (path,) = exactly(rest, 1, ":qrels FILE")
    session.qrels_path = Path(path)
    if not session.qrels_path.exists() and session.qrels_path.absolute().parent.is_dir() and ":" not in path:
        session.qrels = None
        return Shown(lambda: [line(f"{path} is new; :judge writes the first judgement to it")])
    session.qrels = sublex.read_qrels(path)
    return Shown(lambda: [line(str(session.qrels), indent=0)], notes=session.qrels.notes)


@command("N|DOCNO GRADE", completes="docno")
def judge(session: Session, rest: str) -> Shown:
    """Write a judgement of a document for the current topic into the loaded file: :judge 3 2 gives the third hit grade 2.

    The file is replaced in one step, so it is never half written. A judgement that was there is changed.
    """
    word, grade = exactly(rest, 2, ":judge 3 2")
    if session.qrels_path is None or not session.topic:
        raise InputError("Load judgements by :qrels FILE and ask a topic by :topic QID first.")
    docno = session.docno(word)
    write_judgement(session.qrels_path, session.topic, docno, whole(grade, ":judge 3 2"))
    session.qrels = sublex.read_qrels(session.qrels_path)
    figures = "; ".join(f"{name} {value:.4f}" for name, value in session.measures().items())
    return Shown(lambda: [line(f"topic {session.topic}: {docno} has grade {grade}  {figures}")])


@command("FILE [EXPR]", completes="file")
def run(session: Session, rest: str) -> Shown:
    """Run the loaded topics and write a TREC run, by the session's expression or another one."""
    from sublex.cli.commands.run import place_of_run
    from sublex.cli.progress import progress
    from sublex.pipeline.running import write

    path, _, expression = needed(rest, ":run FILE").partition(" ")
    loaded, pipeline = _loaded(session), session.pipeline(unquoted(expression.strip()) or None)
    place = place_of_run(path, [expression])
    with progress(str(pipeline), "topics", len(loaded)) as advance:
        done = write(session.index, loaded, pipeline, RUN_HITS, place, progress=advance)
    options = option_words({**session.ranking_options(), "-r": str(pipeline), "-o": path})
    if loaded.path:
        code = f"index.run({loaded.path!r}, {str(pipeline)!r})"
        session.step = Step(("run", "INDEX", loaded.path, *options), code)
    return Shown(lambda: [line(f"{done.path}  {done.times}", indent=0)])


@command("[EXPR]...", name="eval", completes="expression")
def measure(session: Session, rest: str) -> Shown:
    """Run the loaded topics by expressions, and measure the runs by the loaded judgements.

    Without EXPR, the expression of the session is measured. Put an expression with blanks in quotes.
    """
    from sublex.evaluation.run_evaluation import evaluate

    judgements = _judgements(session)
    found = [evaluate(judgements, system.run, name=system.name) for system in _systems(session, words_of(rest) or [""])]
    table = evaluation_table(found, False)
    session.step = _compared(session, [evaluation.name for evaluation in found])
    return Shown(
        lambda: figure_lines(table),
        lambda: [evaluation_json(evaluation, False) for evaluation in found],
        table.head,
        table.rows,
    )


@command("[EXPR]...", completes="expression")
def compare(session: Session, rest: str) -> Shown:
    """Run the loaded topics by expressions, measure the runs, and test each against the first.

    With one EXPR, the first is the expression of the session. Put an expression with blanks in quotes.
    """
    from sublex.evaluation.comparison import compare

    expressions = words_of(needed(rest, ":compare BM25 PL2"))
    if len(expressions) == 1:
        expressions.insert(0, "")
    judgements = _judgements(session)
    compared = compare(_systems(session, expressions), judgements, _loaded(session), index=session.index)
    session.step = _compared(session, compared.names)
    shown = comparison(compared)
    return Shown(lambda: shown.lines, lambda: shown.data, notes=compared.notes)


def _systems(session: Session, expressions: Sequence[str]) -> list[System]:
    """Run the loaded topics by expressions; the empty one is that of the session."""
    from sublex.cli.progress import progress
    from sublex.evaluation.systems import run_system

    loaded, systems = _loaded(session), []
    for pipeline in [session.pipeline(expression or None) for expression in expressions]:
        with progress(str(pipeline), "topics", len(loaded)) as advance:
            systems.append(run_system(session.index, loaded, pipeline, RUN_HITS, progress=advance))
    return systems


def _compared(session: Session, expressions: Sequence[str]) -> Step | None:
    """Return the step that compares expressions; None if topics or judgements come from no file."""
    topics, judgements = _loaded(session).path, _judgements(session).path
    if not topics or not judgements:
        return None
    ranked = [word for name in expressions for word in ("-r", name)]
    code = f"sublex.compare(index, {topics!r}, {judgements!r}, {list(expressions)!r}).table()"
    return Step(("compare", "INDEX", topics, judgements, *ranked), code)


def _judgements(session: Session) -> sublex.Qrels:
    if session.qrels is None:
        raise InputError("There are no judgements; load them by :qrels FILE.")
    return session.qrels


def _loaded(session: Session) -> sublex.Topics:
    if session.topics is None:
        raise InputError("There are no topics; load them by :topics FILE.")
    return session.topics
