"""The prompt: reads lines with prompt_toolkit, with completion, a toolbar and the live reading of the query, and answers them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sublex.cli.output import say
from sublex.display.lines import Line, Span
from sublex.errors import MissingExtra, SublexError
from sublex.messages import counted, in_short
from sublex.profiles import profile
from sublex.shell.batch import is_command
from sublex.shell.completing import Completions
from sublex.shell.failures import Failed, attempt
from sublex.shell.printing import Printer, print_result
from sublex.shell.reading import Reader
from sublex.shell.session import Session
from sublex.shell.settings import state_folder

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

# Seconds between two looks at the index on disk.
LOOKS = 1.0


def talk(session: Session, lines: Iterable[str], plain: bool) -> None:
    """Answer lines that are given, and then those that the user types, until the session ends.

    Raise MissingExtra if prompt_toolkit is not installed and the prompt is not to be plain.
    """
    if plain:
        _talk_plainly(session, lines)
        return
    try:
        import prompt_toolkit  # noqa: F401
    except ImportError:
        raise MissingExtra("The prompt of the shell (sublex shell --plain does without)", "shell") from None
    from sublex.shell.painting import paint, prompt_session

    session.settings.bars = True
    talker = Talker(session)
    prompt = prompt_session(talker, session.settings.keys, _history_path())

    def printer(rows: Sequence[Line]) -> None:
        paint(rows, session.settings.pager)

    for text in lines:
        print(f"{session.path.name}> {text}")
        talker.answer(text, printer)
    while not session.ended and (typed := talker.read(prompt)) is not None:
        talker.answer(typed, printer)


class Talker:
    """Answers the lines of one prompt, and prepares in a thread what answers need, while the user types the first line."""

    def __init__(self, session: Session):
        self.session, self.completions = session, Completions(session)
        self.reader: Reader | None = None
        self.status, self.error, self.figures = "getting ready", "", ""
        self.seconds: float | None = None
        self._ready, self._started = threading.Event(), False
        self._changed, self._looked = False, 0.0

    def start(self) -> None:
        """Begin to prepare, once."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._prepare, daemon=True).start()

    def _prepare(self) -> None:
        """Open the index, load plugins and compiled code, answer a query, and sort the vocabulary."""
        from sublex.cli.compiling import compile_quietly

        try:
            index = self.session.index
            compile_quietly("shell", self._say_status)
            from sublex.shell.commands import add_plugins

            for failure in add_plugins(self.session.commands, index.registry):
                say(failure)
            frequent = index.top_terms(1)
            if frequent:
                index.search(frequent[0].surface, None, 1)
            self._follow()
            self.status = ""
        except SublexError as error:
            self.error = str(error)
        except Exception as error:
            self.error = f"The index cannot be made ready ({in_short(error)})."
        finally:
            self._ready.set()
        if not self.error:
            self.completions.prepare()

    def _say_status(self, status: str) -> None:
        self.status = status

    def _follow(self) -> None:
        """Read queries with the snapshot that the session has now."""
        if self.reader is None or self.reader.snapshot is not self.session.index.snapshot:
            self.reader = Reader(self.session.index.snapshot)

    def read(self, prompt: PromptSession[str]) -> str | None:
        """Return the next line of the user; None at the end. Ctrl-C empties the line."""
        from prompt_toolkit.patch_stdout import patch_stdout

        while True:
            try:
                with patch_stdout(raw=True):
                    return prompt.prompt()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None

    def answer(self, text: str, printer: Printer) -> bool:
        """Answer a line and print the result; a failure costs one sentence. Return whether all went well."""
        begin = time.perf_counter()
        try:
            self.start()
            self._ready.wait()
            if self.error:
                raise Failed(self.error)
            shown = attempt(self.session, text)
            self.seconds = time.perf_counter() - begin
            print_result(self.session, shown, printer)
            self._follow()
            self._measure()
            threading.Thread(target=self.completions.prepare, daemon=True).start()
        except Failed as failure:
            say(f"sublex: {failure}")
            return False
        except KeyboardInterrupt:
            say("sublex: interrupted.")
            return False
        if self.session.settings.timing and text.strip():
            say(f"{1000 * self.seconds:.3g} ms")
        return True

    def _measure(self) -> None:
        self.figures = "  ".join(f"{name} {value:.3f}" for name, value in self.session.measures().items())

    def reading(self, text: str) -> Line:
        """Return how the query under the cursor is read, or how a command is typed."""
        if is_command(text):
            name = text.lstrip()[1:].partition(" ")[0].lower()
            if name not in self.session.commands.names():
                return Line()
            command = self.session.commands.find(name)
            return Line((Span(f":{command.name} {command.usage}  ", "kept"), Span(command.summary, "dim")))
        if self.reader is None or not text.strip():
            return Line()
        try:
            return self.reader.read(text)
        except SublexError:
            return Line()

    def facts(self) -> str:
        """Return the line of the toolbar: index, documents, expression, k, milliseconds, measures of the topic, and changes."""
        session, index = self.session, self.session.opened
        parts = [session.path.name]
        if index is not None:
            parts.append(counted(len(index), "document"))
            ranker = profile(session.settings.profile or index.profile).ranker.rpartition(":")[2]
            parts += [session.settings.expression or ranker, f"k {session.settings.k}"]
        if self.seconds is not None:
            parts.append(f"{1000 * self.seconds:.3g} ms")
        if session.topic:
            parts.append(f"topic {session.topic}  {self.figures}".rstrip())
        if self.error or self.status:
            parts.append(self.error or self.status)
        if self._has_changed():
            parts.append("changed on disk; :reopen shows the changes")
        return " · ".join(parts)

    def _has_changed(self) -> bool:
        """Return whether the index on disk is newer; the disk is looked at once a second."""
        now = time.monotonic()
        if now - self._looked > LOOKS:
            self._looked = now
            try:
                self._changed = self.session.has_changed()
            except SublexError:
                self._changed = True
        return self._changed


def _history_path() -> str | None:
    """Return the file of the history; None if its folder cannot be made."""
    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder / "shell_history") if os.access(folder, os.W_OK) else None


def _talk_plainly(session: Session, lines: Iterable[str]) -> None:
    """Answer lines that are given and typed, without prompt_toolkit."""
    import readline  # noqa: F401 -- input() then edits the line and has a history.

    from sublex.cli.output import print_lines

    talker = Talker(session)
    for text in lines:
        print(f"{session.path.name}> {text}")
        talker.answer(text, print_lines)
    while not session.ended:
        try:
            if talker.error == "" and session.opened is not None and session.has_changed():
                say("The index has changed on disk; :reopen shows the changes.")
            text = input(f"{session.path.name}> ")
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print(file=sys.stderr)
            continue
        talker.answer(text, print_lines)
