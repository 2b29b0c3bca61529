"""The context of an operation. The face provides it, with the index, messages, progress, and a memory of the last answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sublex.errors import InputError, SublexError

if TYPE_CHECKING:
    from sublex.contracts.base import Document
    from sublex.display.hits import Extras
    from sublex.forms.lines import Shown
    from sublex.language.plugins import Registry
    from sublex.operations.declaring import Operation
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline
    from sublex.representations.loaded import LoadedModel


def query_files(given: Sequence[str]) -> dict[str, str]:
    """Return the files of vectors of queries, by name. Each given text is NAME=FILE."""
    files: dict[str, str] = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or not name or not file:
            raise InputError(f"--queries {text} names no file; write NAME=FILE, such as bge=queries.npz.")
        if name in files:
            raise InputError(f"--queries names {name} twice; give one file.")
        files[name] = file
    return files


class OperationContext:
    """The context of an operation on an opened index.

    This class prints and remembers nothing; each face has a subclass.
    """

    def __init__(self, index: Index | None = None):
        self._index = index
        # The name that the user gave for the index.
        self.name = ""
        # The parts of hits that the face shows, and the lowest number of hits that it remembers.
        self.extras: Extras | None = None
        self.least_hits = 0
        # The id of the query in a run.
        self.topic = "1"
        # The text by which a user of this face chooses the query language.
        self.language_option = "--language query"
        # Whether the runs of a comparison are stored with the index, for the next comparison.
        self.stores_runs = True
        # The command line of the user, for reports that show it; empty if there is none.
        self.command_line = ""

    def ask(self, operation: Operation, **arguments: Any) -> Shown:
        """Answer an operation.

        If an operation calls another operation in this way, faces that remember steps remember the other operation.
        """
        return operation(self, **arguments)

    def open(self, name: str, allow_uncovered: bool = False) -> None:
        """Open the index with this name or path, which the operation found in its arguments."""
        import sublex
        from sublex.index.lookup import existing_path

        self._index, self.name = sublex.open(existing_path(name), allow_uncovered), name

    @property
    def index(self) -> Index:
        """The index, opened when it is first used."""
        assert self._index is not None
        return self._index

    def launch(self, launcher: str, partial: bool = False) -> None:
        """Have the shards of a cluster searched by a launcher, "embedded" or "processes"."""
        if launcher == "processes":
            self._index = self.index.launch(partial=partial)
        elif partial:
            raise InputError("--partial goes with --launcher processes; give both, or neither.")

    def give_queries(self, given: Sequence[str]) -> None:
        """Give the index vectors of queries. Each text is NAME=FILE."""
        if not given:
            return
        files = query_files(given)
        with self.step(f"Read {', '.join(files.values())}"):
            self._index = self.index.with_queries(files)

    def give_judged(self, judged: str, qid: str | None = None) -> None:
        """Give the index judgements, from which expanders learn; with `qid`, only those of this topic are needed.

        Raise InputError for a topic that is not judged, and for judgements of a single query without the id of a topic.
        """
        if not judged:
            if qid:
                raise InputError("--qid names a topic of --judged; name the file of judgements, too.")
            return
        from sublex.trec.given_tables import qrels_of

        with self.step(f"Read {judged}"):
            given = qrels_of(judged)
        if qid is not None and qid not in given:
            known = f"{judged} judges {', '.join(given.qids[:3])}{', …' if len(given) > 3 else ''}"
            raise InputError(f"{known}, and not topic {qid}." if qid else f"{known}; name the query's topic by --qid.")
        self._index = self.index.with_judged(given)

    @property
    def has_index(self) -> bool:
        """Whether there is an index, for an operation that does not need one."""
        return self._index is not None

    @property
    def names_index(self) -> bool:
        """Whether the user named the index for this operation. In a session, the index is there already."""
        return self.has_index

    @property
    def path(self) -> Path:
        """The path of the index, which need not be open."""
        return self.index.path

    @property
    def registry(self) -> Registry:
        """The registered components. If the operation has an index, they are those with which the index was opened."""
        from sublex.language import plugins

        return plugins.load() if self._index is None else self._index.registry

    @property
    def width(self) -> int:
        """The number of characters in a line that the face can show. Without a limit, it is a very large number."""
        return sys.maxsize

    def say(self, *messages: str) -> None:
        """Tell the user something while the operation runs.

        Facts that are known only at its end should be notes of `Shown`.
        """

    def show(self, text: str) -> bool:
        """Show a line of the result at once and return True.

        Return False if the face cannot; the line must then be in `Shown`.
        """
        return False

    def report(self, error: SublexError) -> None:
        """Report an error after which the operation goes on."""
        self.say(str(error))

    def step(self, what: str) -> AbstractContextManager[None]:
        """Run a block that does a part of the operation, such as "Ranked by BM25".

        A face may print how long the block took.
        """
        return nullcontext()

    def progress(
        self, label: str, unit: str = "documents", total: int | None = None
    ) -> AbstractContextManager[Callable[..., None]]:
        """Run a block that reports its progress by the function `advance(done, total, unit)`.

        The total, and a unit other than that of the bar, may be left out.
        """
        return nullcontext(lambda done, total=None, unit=None: None)

    def changing(self) -> AbstractContextManager[None]:
        """Run a block that changes the index. After an interrupt, a face may tell the user the state of the index."""
        return nullcontext()

    def prepare(self, tasks: str = "", index: Index | None = None, once: bool = False) -> None:
        """Compile the kernels that tasks such as "analyze search" need on an index.

        `once` says that each term is searched only once; fewer kernels are then needed.
        """

    def remember(self, **facts: Any) -> None:
        """Keep the query, the answer and the ranker of a search, for a face that has a memory."""

    def pipeline(self, ranker: str | None, profile: str | None = None) -> Pipeline:
        """Return the pipeline of an expression, or of the default ranker."""
        with self.step("Made the pipeline"):
            return self.index.pipeline(ranker, profile)

    def system(self, ranker: str | None, profile: str | None = None) -> Pipeline:
        """Return the pipeline of an expression, or of a text NAME=EXPR, which gives the pipeline a name in tables and files."""
        from sublex.language.names import check_name, given_name

        named = given_name(ranker)
        if named is None:
            return self.pipeline(ranker, profile)
        check_name(named[0], self.index.registry)
        return self.pipeline(named[1], profile).called(named[0])

    def meaning(self, expression: str) -> str:
        """Return the expression of the fitted model that a user names, written out.

        Tell the user if the model is taken because no other fitted model matches.
        """
        text, notes = self.index.meaning(expression)
        self.say(*notes)
        return text

    def fitted_model(self, expression: str, kind: type, otherwise: str) -> LoadedModel:
        """Return the fitted model that a user names.

        Its `model` is the plugin's object, of the class `kind`; its `view` has the rows. Raise `InputError` for a model
        of another class. `otherwise` is the end of the message, such as "has no word graphs; name a fitted swg".
        """
        found = self.index.fitted_model(self.meaning(expression))
        if not isinstance(found.model, kind):
            raise InputError(f"{expression} {otherwise.rstrip('.')}.")
        return found

    def read_documents(self, file: str, reader: str | None = None) -> list[Document]:
        """Return the documents of a file in any format of collections.

        A message counts malformed records. The reader is found by the content of the file, unless the user names it, as
        in --reader tsv. Raise `InputError` for a file without documents.
        """
        from sublex.building.document_source import source_of
        from sublex.contracts.base import Report
        from sublex.tools.messages import counted

        report = Report()
        sources = source_of(file, self.registry, reader, False).sources
        documents = [document for source in sources for document in source.documents(report)]
        if report.problems:
            malformed = counted(len(report.problems), "record")
            self.say(f"{malformed} of {file} left out as malformed, the first {report.problems[0]}.")
        if not documents:
            raise InputError(f"{file} holds no document.")
        return documents
