"""A session of the shell: an open index, the expression that ranks, the last results, and the loaded topics and judgements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from copy import copy
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from sublex.contracts.base import Query
from sublex.display.hits import Extras
from sublex.errors import InputError
from sublex.faces.files import check_output, write_file
from sublex.faces.interrupts import reporting_interrupts
from sublex.faces.output import terminal_width
from sublex.faces.progress import progress
from sublex.forms.lines import Shown, Span, line
from sublex.index.manifest import MANIFEST, read_manifest
from sublex.operations import INDEXED, Needs, Operation, OperationContext, Parameter
from sublex.operations.searching import search
from sublex.shell.arguments import arguments_of, typed
from sublex.shell.registry import ShellCommands, is_command
from sublex.shell.settings import ShellSettings
from sublex.tools.messages import Step, one_line, worded
from sublex.tools.outputs import expect_folder, expect_no_input

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Answer, Pipeline
    from sublex.retrieval.hits import Hits
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics

# The measures of the current topic that the toolbar shows.
TOPIC_MEASURES = ("P@10", "nDCG@10")
# The command by which a user chooses the query language.
LANGUAGE = ":set language=query"
# The number of hits that these measures need.
MEASURED = 10


class Last(NamedTuple):
    """The last step of the shell: an operation and its arguments.

    If the command line has another operation for it, `twin` is that step.
    """

    operation: Operation
    arguments: Mapping[str, Any]
    twin: Step | None = None


class Session:
    """The state of a shell, without its prompt. `run` answers one line: a query, or a command after a colon."""

    def __init__(
        self,
        open_index: Callable[[], Index],
        path: Path,
        commands: ShellCommands,
        settings: ShellSettings,
        say: Callable[[str], None] = lambda text: None,
    ):
        self.open_index, self.path, self.commands, self.settings, self.say = open_index, path, commands, settings, say
        self._index: Index | None = None
        self._lock = RLock()
        self._seen: tuple[int, int] | None = None
        # The last query, its answer, and the expression that answered.
        self.query: Query | None = None
        self.answer: Answer | None = None
        self.used: str | None = None
        self._measured: Hits | None = None
        # The document from which a query for similar documents was made.
        self.like = ""
        # A function that asks the user a question, and returns yes or no; None if nobody can answer.
        self.confirm: Callable[[str], bool] | None = None
        # The files to which the user allows the session to write judgements.
        self.judged: frozenset[Path] = frozenset()
        self.topics: Topics | None = None
        self.qrels: Qrels | None = None
        self.qrels_path: Path | None = None
        # The rule for contradicting judgements with which the file was read.
        self.contradictions = "error"
        # The topic of the last query, or "", and the last topic that was asked.
        self.topic = self.last_topic = ""
        self.snapshots: dict[str, list[str]] = {}
        self.lines: list[str] = []
        self.step: Last | None = None
        # The last comparison or evaluation.
        self.comparison: Last | None = None
        self.out: Path | None = None
        # The files that the session wrote, and so may write again.
        self._written: set[Path] = set()
        self.answers_again, self.ended = True, False
        # The topic id of the next hits in a run.
        self.qid = "1"

    # The index.

    @property
    def index(self) -> Index:
        """The index, opened when it is first needed."""
        # The prompt opens the index in a thread while the user types.
        with self._lock:
            if self._index is None:
                self._seen = _version(self.path)
                self._index = self.open_index()
            return self._index

    def reopen(self) -> None:
        """Open the current generation of the index. The last results stay."""
        self._index = None
        assert self.index

    @property
    def opened(self) -> Index | None:
        """The index, or None if it is not open yet."""
        return self._index

    def has_changed(self) -> bool:
        """Return whether another process has committed a generation since the index was opened."""
        if self._index is None or self._seen == (now := _version(self.path)):
            return False
        changed = bool(now) and read_manifest(self.path).generation != self._index.generation
        # After the session's own changes, such as fitting, the new generation is already open.
        self._seen = self._seen if changed else now
        return changed

    # Lines.

    def copy(self) -> Session:
        """Return a copy of the session, on which a line can be tried.

        Changes by the line stay in the copy until `adopt`. Only files are changed at once.
        """
        other = copy(self)
        other.settings, other.snapshots = copy(self.settings), dict(self.snapshots)
        return other

    def adopt(self, other: Session) -> None:
        """Take over the state of a copy. The settings stay the same object, because the prompt reads them."""
        vars(self.settings).update(vars(other.settings))
        vars(self).update({**vars(other), "settings": self.settings})

    def run(self, text: str) -> Shown | None:
        """Answer one line and return what to show. Two colons at the beginning of a query stand for one."""
        text = text.replace("\x00", " ").replace("\n", " ").strip()
        if not text:
            return None
        self.lines.append(text)
        if not is_command(text):
            self.topic = ""
            return self.search(text[1:] if text.startswith("::") else text)
        name, _, rest = text[1:].partition(" ")
        operation = self.commands.find(name)
        arguments, output, overwrite = arguments_of(operation, rest.strip(), self)
        if output is None:
            return self.ask(operation, **arguments)
        expect_no_input(output, arguments)
        ending = check_output(output, *operation.file.endings, overwrite=overwrite) if operation.file else ""
        shown, after = write_file(self.ask(operation, **arguments), output, ending)
        return shown.between(notes=list(filter(None, [after])))

    def ask(self, operation: Operation, **arguments: Any) -> Any:
        """Answer an operation and return what to show.

        The operation becomes the last step, unless it is a command of the session.
        """
        if operation.needs is Needs.SESSION:
            return operation(self, **arguments)
        return ShellContext(self, operation).ask(operation, **arguments)

    def remembered(self, parameter: Parameter) -> Any:
        """Return the session's value for a parameter of an operation.

        The value comes from the last query, the settings, or the loaded topics and judgements. A parameter for which
        the session has no value gets its default.
        """
        values: dict[str, Callable[[], Any]] = {
            "query": lambda: self.asked_text(), "weighted": self.is_weighted, "without": lambda: self.like,
            "ranker": lambda: self.used, "ranking": lambda: str(self.pipeline()),
            "k": lambda: self.settings.k, "profile": lambda: self.settings.profile,
            "allow_uncovered": lambda: self.settings.allow_uncovered,
            "language": lambda: "plain" if self.is_weighted() else self.settings.language,
            "loaded_topics": self.loaded_topics, "loaded_qrels": self.loaded_qrels,
            "judgements": lambda: self.qrels,
            "contradictions": lambda: self.contradictions, "queries": self.query_vectors,
            "judged": lambda: self.judged_feedback(parameter.given != ""),
            "qid": lambda: self.topic if self.judged_feedback(True) else "",
        }  # fmt: skip
        return values[parameter.name]() if parameter.name in values else () if parameter.many else parameter.default

    def loaded_topics(self) -> Topics:
        """Return the loaded topics. Raise InputError if no topics are loaded."""
        if self.topics is None:
            raise InputError("There are no topics; load them by :topics FILE.")
        return self.topics

    def loaded_qrels(self) -> Qrels:
        """Return the loaded judgements. Raise InputError if no judgements are loaded."""
        if self.qrels is None:
            raise InputError("There are no judgements; load them by :qrels FILE.")
        return self.qrels

    def worded(self, message: str) -> str:
        """Return a message as text. Its steps become commands of the shell, if the shell has them."""
        return worded(message, self._wording).replace(" && :", ", then :")

    def _wording(self, step: Step) -> str:
        operation = self.commands.doing(step.operation)
        words = [str(word) for word in step.words]
        if operation is not None and operation.needs in INDEXED:
            index, words = words[0], words[1:]
            operation = operation if index == "INDEX" or os.path.abspath(index) == os.path.abspath(self.path) else None
        worded = typed(operation, words, step.options) if operation is not None else ""
        # A line of the shell cannot contain characters that a message cannot show. A command line escapes them.
        return worded if worded and one_line(worded) == worded else str(step)

    # Ranking.

    def pipeline(self, expression: str | None = None) -> Pipeline:
        """Return the pipeline of an expression, by default of the session's expression."""
        return self.index.pipeline(expression or self.settings.expression, self.settings.profile)

    def search(self, asked: str | Query, expression: str | None = None, like: str = "") -> Shown:
        """Find the best documents for a text or for weighted terms, remember them, and return them as Shown.

        Without `expression`, the expression of the session ranks. If the query was made from a document, `like` is its
        docno, and this document is left out of the hits.
        """
        settings, is_text = self.settings, isinstance(asked, str)
        given: dict[str, Any] = {
            "ranker": expression or settings.expression,
            "k": settings.k,
            "profile": settings.profile,
            "without": like,
        }
        text = asked if isinstance(asked, str) else asked.text
        given |= {"allow_uncovered": settings.allow_uncovered, "weighted": not is_text}
        given["language"] = settings.language if is_text else "plain"
        given["queries"], given["judged"] = self.query_vectors(), self.judged_feedback(True)
        given["qid"] = self.topic if given["judged"] else ""
        return self.ask(search, query=text, facets=None, of=(), **given)

    def rank_by(self, expression: str) -> Shown:
        """Rank by an expression from now on. Return the expression and the hits of the last query, if any, as Shown."""
        pipeline = self.pipeline(expression)
        self.settings.expression = str(pipeline)
        for note in pipeline.chosen:
            self.say(note)
        top, shown = self.ranking(), self.again()
        return top if shown is None else shown.between(above=top.lines)

    def ranking(self) -> Shown:
        """Return the expression of the session as Shown."""
        text = str(self.pipeline())
        return Shown(lambda: [line("ranking by ", Span(text, "heading"), indent=0)], lambda: text)

    def again(self) -> Shown | None:
        """Answer the last query again after the expression changed. Return None without a query, and in a pipe."""
        if self.query is None or not self.answers_again:
            return None
        return self.search(self.query if self.is_weighted() else self.asked_text(), like=self.like)

    def asked(self) -> Query:
        """Return the last query. Raise InputError without one."""
        if self.query is None:
            raise InputError("There is no query yet; type one.")
        return self.query

    def asked_text(self) -> str:
        """Return the text of the last query. For a query in the query language, return its printed form."""
        query = self.asked()
        return query.text if query.tree is None else str(query.tree)

    def is_weighted(self) -> bool:
        """Return whether the last query was weighted terms."""
        if self.query is None or self.query.tree is not None:
            return False
        return self.index.query(self.query.text) != self.query._replace(given=None, judged=None)

    def query_vectors(self) -> tuple[str, ...]:
        """Return the files of vectors of queries that the user has set, each as NAME=FILE."""
        return tuple((self.settings.queries or "").split())

    def judged_feedback(self, of_topic: bool) -> str:
        """Return the file of the judgements from which expanders learn; "" if they learn from none.

        With `of_topic`, the current topic must be judged.
        """
        if not self.settings.judged or self.qrels is None or (of_topic and self.topic not in self.qrels):
            return ""
        return str(self.qrels_path)

    # The last results.

    def docno(self, word: str) -> str:
        """Return the docno for a word.

        The word is the rank of a hit of the last results, or a docno, which may have = in front.
        """
        found = [] if self.answer is None else self.answer.hits.docnos
        if word.isdecimal() and 1 <= int(word) <= len(found):
            return found[int(word) - 1]
        for docno in (word.removeprefix("="), word):
            if docno in self.index:
                return docno
        if word.isdecimal():
            known = f"they have the ranks 1 to {len(found)}" if found else "there are none; type another query"
            raise InputError(f"No hit {word} among the last results; {known}.")
        raise InputError(f"No document {word.removeprefix('=') or repr(word)} in {self.path}.")

    def new_file(self, name: str) -> Path:
        """Return the path of a file to write. Raise InputError if the file exists, unless this session wrote it."""
        expect_folder(name)
        path = Path(name)
        if path.is_dir() or not os.access(path.absolute().parent, os.W_OK):
            raise InputError(f"Cannot write {name}; choose another place.")
        if os.path.lexists(path) and (path.is_symlink() or path.absolute() not in self._written):
            raise InputError(f"{name} exists; choose another name.")
        self._written.add(path.absolute())
        return path

    def extras(self) -> Extras:
        """Return the optional parts of hits that the session shows."""
        grades = dict(self.qrels[self.topic]) if self.qrels is not None and self.topic in self.qrels else None
        return Extras(self.settings.bars, grades, self.settings.labels or "")

    def measures(self) -> dict[str, float]:
        """Return the measures of the last ranking, by the judgements of the current topic; empty without judgements."""
        if self.qrels is None or self._measured is None or self.topic not in self.qrels:
            return {}
        from sublex.evaluation.run_evaluation import evaluate

        run = {self.topic: dict(zip(self._measured.docnos, self._measured.scores.tolist(), strict=True))}
        return evaluate(self.qrels.only([self.topic]), run, TOPIC_MEASURES, "hits").mean


class ShellContext(OperationContext):
    """The context of one operation in a session. The session then remembers the operation and its answer."""

    def __init__(self, session: Session, operation: Operation):
        super().__init__(session.index)
        self.session = session
        self.extras, self.least_hits, self.topic = session.extras(), MEASURED, session.qid
        self.language_option = LANGUAGE
        self._asked = False

    def ask(self, operation: Operation, **arguments: Any) -> Shown:
        """Answer an operation. If operations call operations, the innermost one becomes the last step of the session."""
        shown = super().ask(operation, **arguments)
        if not self._asked:
            self._asked, self.session.step = True, Last(operation, arguments, shown.step)
            if operation.name in ("compare", "eval"):
                self.session.comparison = self.session.step
        if operation is search and (measured := self.session.measures()):
            figures = "  ".join(f"{name} {value:.4f}" for name, value in measured.items())
            shown = shown.between(below=[line(Span(f"topic {self.session.topic}: {figures}", "dim"))])
        return shown

    def give_judged(self, judged: str, qid: str | None = None) -> None:
        """Give the index the loaded judgements, if the settings say so."""
        if judged and judged == self.session.judged_feedback(False):
            self._index = self.index.with_judged(self.session.qrels)
        else:
            super().give_judged(judged, qid)

    @property
    def names_index(self) -> bool:
        """Always false, because the session has its index already."""
        return False

    @property
    def width(self) -> int:
        """The width of the terminal in columns; without limit if results go to a file."""
        return terminal_width() if self.session.out is None else sys.maxsize

    def say(self, *messages: str) -> None:
        """Show messages while the operation runs."""
        for message in messages:
            self.session.say(self.session.worded(message))

    def progress(
        self, label: str, unit: str = "documents", total: int | None = None
    ) -> AbstractContextManager[Callable[..., None]]:
        """Run a block with a bar."""
        return progress(label, unit, total)

    def changing(self) -> AbstractContextManager[None]:
        """Run a block. After an interrupt, the message tells the state of the index."""
        return reporting_interrupts(self.session.path)

    def remember(self, **facts: Any) -> None:
        """Keep the last query, its answer, and the expression that answered."""
        session = self.session
        session.query, session.answer, session.used = facts["query"], facts["answer"], facts["used"]
        session._measured, session.like = facts["found"], facts["like"]
        if session.like:
            session.topic = ""


def _version(path: Path) -> tuple[int, int] | None:
    """Return the inode and modification time of the manifest, which change with every commit.

    Return None without a manifest.
    """
    try:
        stat = (path / MANIFEST).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns
