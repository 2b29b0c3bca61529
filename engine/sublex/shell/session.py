"""A session of the shell: an open index, the expression that ranks, the last results, and the loaded topics and judgements."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from sublex.contracts.base import Query
from sublex.display.hits import Extras, corrections, hits, nothing_found
from sublex.display.query_forms import query_notes
from sublex.display.uncovered import uncovered_notes
from sublex.errors import InputError
from sublex.forms.lines import Shown, Span, line
from sublex.index.manifest import MANIFEST, read_manifest
from sublex.shell.registry import PLUGINS, Command, Commands
from sublex.shell.settings import Settings
from sublex.shell.steps import Step, call, option_words
from sublex.tools.messages import cut

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Answer, Pipeline
    from sublex.retrieval.hits import Hits
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics

# Measures of the current topic, which the toolbar shows.
TOPIC_MEASURES = ("P@10", "nDCG@10")
# Hits that these measures look at.
MEASURED = 10


class Session:
    """The state of a shell, without its prompt. `run` answers one line: a query, or a command after a colon."""

    def __init__(
        self,
        open_index: Callable[[], Index],
        path: Path,
        commands: Commands,
        settings: Settings,
        say: Callable[[str], None] = lambda text: None,
    ):
        self._open, self.path, self.commands, self.settings, self.say = open_index, path, commands, settings, say
        self._index: Index | None = None
        self._lock = RLock()
        self._seen: tuple[int, int] | None = None
        # The last query, its answer, and the expression that answered.
        self.query: Query | None = None
        self.answer: Answer | None = None
        self.used: str | None = None
        self._measured: Hits | None = None
        # The document that the query was made from, for documents like it.
        self.like = ""
        self.topics: Topics | None = None
        self.qrels: Qrels | None = None
        self.qrels_path: Path | None = None
        # The topic that the last query is, and the last topic that was asked.
        self.topic = self.last_topic = ""
        self.snapshots: dict[str, list[str]] = {}
        self.lines: list[str] = []
        self.step: Step | None = None
        self.out: Path | None = None
        # The files that the session may write again.
        self._written: set[Path] = set()
        self.answers_again, self.ended = True, False

    # The index.

    @property
    def index(self) -> Index:
        """The index, opened when it is first needed."""
        # The prompt opens the index in a thread while the user types.
        with self._lock:
            if self._index is None:
                self._seen = _version(self.path)
                self._index = self._open()
            return self._index

    def reopen(self) -> None:
        """Open the present generation of the index; the last results stay as they are."""
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
        # The session's own changes, such as fitting, open the new generation themselves.
        self._seen = self._seen if changed else now
        return changed

    # Lines.

    def copy(self) -> Session:
        """Return a session in the state of this one, in which a line may change anything but the files on disk."""
        other = copy(self)
        other.settings, other.snapshots = copy(self.settings), dict(self.snapshots)
        return other

    def adopt(self, other: Session) -> None:
        """Take over the state of a copy. The settings stay the same object, since the prompt reads them."""
        vars(self.settings).update(vars(other.settings))
        vars(self).update({**vars(other), "settings": self.settings})

    def run(self, text: str) -> Shown | None:
        """Answer one line and return what to show. A query may begin with two colons, which stand for one."""
        text = text.replace("\x00", " ").replace("\n", " ").strip()
        if not text:
            return None
        self.lines.append(text)
        if not text.startswith(":") or text.startswith("::"):
            self.topic = ""
            return self.search(text[1:] if text.startswith("::") else text)
        command, rest = self.command_of(text)
        if rest and not command.usage:
            raise InputError(f":{command.name} takes nothing after it; leave {cut(rest)} out.")
        if command.section == PLUGINS:
            # A plugin's command that has code says so by `reproduced_by`, or searches.
            self.step = None
        return command.function(self, rest)

    def command_of(self, text: str) -> tuple[Command, str]:
        """Return the command that a line begins with, and the rest of the line."""
        name, _, rest = text[1:].partition(" ")
        return self.commands.find(name), rest.strip()

    # Ranking.

    def pipeline(self, expression: str | None = None) -> Pipeline:
        """Return the pipeline of an expression, by default of the session's own."""
        return self.index.pipeline(expression or self.settings.expression, self.settings.profile)

    def search(self, asked: str | Query, expression: str | None = None, like: str = "") -> Shown:
        """Find the best documents for a text or for weighted terms, remember them, and return them as Shown.

        Without an expression, that of the session ranks. `like` is the docno of a document that the query was made from; it
        is left out.
        """
        self.like = like
        index, used = self.index, expression or self.settings.expression
        pipeline, query = self.pipeline(used), index.query(asked)
        found = self.find(query, pipeline, max(self.settings.k, MEASURED))
        answer = found._replace(hits=found.hits.first(self.settings.k))
        self.query, self.answer, self.used, self._measured = query, answer, used, found.hits
        self.step = self.ranking_step()
        notes = uncovered_notes(pipeline)
        if not self.is_weighted():
            notes += [*query_notes(index, query.text, pipeline), *corrections(index, query.text)]
        if not len(answer.hits) and not any(note.startswith("No document") for note in notes):
            notes.append(nothing_found(index, query, pipeline))
        shown = hits(index, answer, self.extras())
        lines = shown.lines
        measured = self.measures()
        if measured:
            figures = "  ".join(f"{name} {value:.4f}" for name, value in measured.items())
            lines.append(line(Span(f"topic {self.topic}: {figures}", "dim")))
        return Shown(lambda: lines, lambda: shown.data, shown.head, shown.rows, notes)

    def find(self, query: Query, pipeline: Pipeline, k: int) -> Answer:
        """Return the best k documents for a query, without the document that the query was made from."""
        found = self.index.answer(query, pipeline, k + bool(self.like))
        doc = self.index.doc(self.like) if self.like else None
        return found._replace(hits=found.hits.without(doc).first(k))

    def rank_by(self, expression: str) -> Shown:
        """Rank by an expression from now on. Return it, with the hits of the last query, if there is one, as Shown."""
        self.settings.expression = str(self.pipeline(expression))
        top, shown = self.ranking(), self.again()
        if shown is None:
            return top
        return Shown(lambda: [*top.lines, *shown.lines], lambda: shown.data, shown.head, shown.rows, shown.notes)

    def ranking(self) -> Shown:
        """Return the expression of the session as Shown."""
        text = str(self.pipeline())
        return Shown(lambda: [line("ranking by ", Span(text, "heading"), indent=0)], lambda: text)

    def again(self) -> Shown | None:
        """Answer the last query again after the expression changed; None without a query, and in a pipe."""
        return self.search(self.asked(), like=self.like) if self.query is not None and self.answers_again else None

    def asked(self) -> str | Query:
        """Return the last query as it was asked: as text, or as weighted terms. Raise InputError without one."""
        if self.query is None:
            raise InputError("There is no query yet; type one.")
        return self.query if self.is_weighted() else self.query.text

    def is_weighted(self) -> bool:
        """Return whether the last query was weighted terms."""
        return self.query is not None and self.index.query(self.query.text) != self.query

    def ranking_step(self) -> Step:
        """Return the last query as a step."""
        assert self.query is not None
        if self.like:
            # The command line cannot leave a document out.
            return Step((), self.python_search(self.used), "hits")
        options = {**self.ranking_options(), "-k": self.settings.k, "--weighted": self.is_weighted()}
        words = ("search", "INDEX", *option_words(options), "--", self.query.text)
        return Step(words, self.python_search(self.used), "hits")

    def python_search(self, expression: str | None) -> str:
        """Return a search for the last query as code, without the document that the query was made from."""
        k, used = self.settings.k, [expression] if expression else []
        searched = call("search", "QUERY", *used, k=k + bool(self.like), profile=self.settings.profile)
        searched = searched.replace("'QUERY'", self.python_query(), 1)
        return f"{searched}.without(index.doc({self.like!r})).first({k})" if self.like else searched

    def reproduced_by(self, *words: str, python: str = "") -> None:
        """Name the command of the command line that does what this line does, for `:to-cli`, with INDEX in place of the index.

        `python` is an expression with `index` that has the same result, for `:to-python`.
        """
        self.step = Step(words, python)

    def ranking_options(self) -> dict[str, Any]:
        """Return the options of commands that rank, as they were for the last query."""
        return {
            "-r": self.used,
            "--profile": self.settings.profile,
            "--allow-uncovered": self.settings.allow_uncovered,
        }

    def python_call(self, method: str, *args: Any, **options: Any) -> str:
        """Return a call of a ranking method with the last query and the expression that answered it, as code."""
        code = call(
            method, "QUERY", *args, *([self.used] if self.used else []), **options, profile=self.settings.profile
        )
        assert self.query is not None
        return code.replace("'QUERY'", self.python_query(), 1)

    def python_query(self) -> str:
        """Return the last query as Python code."""
        assert self.query is not None
        if not self.is_weighted():
            return repr(self.query.text)
        terms = ", ".join(f"sublex.contracts.base.QueryTerm({t.term!r}, {t.weight!r})" for t in self.query.terms)
        return f"sublex.contracts.base.Query({self.query.text!r}, ({terms},))"

    # The last results.

    def docno(self, word: str) -> str:
        """Return the docno that a word names: the rank of a hit of the last results, or a docno, which may have = in front."""
        found = [] if self.answer is None else self.answer.hits.docnos
        if word.isdecimal() and 1 <= int(word) <= len(found):
            return found[int(word) - 1]
        for docno in (word, word.removeprefix("=")):
            if docno in self.index:
                return docno
        if word.isdecimal():
            known = f"they have the ranks 1 to {len(found)}" if found else "there are none; type another query"
            raise InputError(f"No hit {word} among the last results; {known}.")
        raise InputError(f"No document {word.removeprefix('=') or repr(word)} in {self.path}.")

    def new_file(self, name: str) -> Path:
        """Return the path of a file to write. Raise InputError for one that exists, unless this session wrote it."""
        path = Path(name)
        if path.is_dir() or not os.access(path.absolute().parent, os.W_OK):
            raise InputError(f"Cannot write {name}; choose another place.")
        if path.exists() and path.absolute() not in self._written:
            raise InputError(f"{name} exists; choose another name.")
        self._written.add(path.absolute())
        return path

    def extras(self) -> Extras:
        """Return the optional parts of hits that the session shows."""
        grades = dict(self.qrels[self.topic]) if self.qrels is not None and self.topic in self.qrels else None
        return Extras(self.settings.bars, grades, self.settings.labels or "")

    def measures(self) -> dict[str, float]:
        """Return the measures of the last ranking by the judgements of the current topic; empty without judgements."""
        if self.qrels is None or self._measured is None or self.topic not in self.qrels:
            return {}
        from sublex.evaluation.run_evaluation import evaluate

        run = {self.topic: dict(zip(self._measured.docnos, self._measured.scores.tolist(), strict=True))}
        return evaluate(self.qrels.only([self.topic]), run, TOPIC_MEASURES, "hits").mean


def _version(path: Path) -> tuple[int, int] | None:
    """Return the inode and modification time of the manifest, which change with every commit; None without a manifest."""
    try:
        stat = (path / MANIFEST).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns
