"""The prompt: reads lines with prompt_toolkit and answers them.

It has completion, a toolbar, and a view of the query as it is read.
"""

from __future__ import annotations

import gc
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sublex import __version__
from sublex.errors import MissingExtra, SublexError
from sublex.faces.output import say
from sublex.faces.reading import QueryReader
from sublex.faces.user_folders import state_folder
from sublex.forms.lines import Line, Span
from sublex.language.profiles import profile
from sublex.shell.arguments import usage_of
from sublex.shell.failures import Failed, attempt
from sublex.shell.registry import bare_command, is_command
from sublex.shell.settings import ShellSettings
from sublex.tools.messages import counted, in_short, one_line

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

    from sublex.shell.completing import Completions, Offer
    from sublex.shell.printing import Printer
    from sublex.shell.session import Session

# The first words that a user sees.
BANNER = "Sublex {}. A line is a query; :help lists the commands, :quit or Ctrl-D ends."
# The seconds between two checks whether the index on disk has changed.
LOOKS = 1.0


def talk(
    make_session: Callable[[], Session], name: str, settings: ShellSettings, lines: Iterable[str], plain: bool
) -> None:
    """Answer `lines`, and then the lines that the user types, until the session ends.

    The prompt is drawn before `make_session` is called, because a session loads NumPy. `name` is the name of the index.
    Raise MissingExtra if prompt_toolkit is not installed, unless `plain` is set.
    """
    talker = Talker(make_session, name, settings)
    say(BANNER.format(__version__))
    if plain:
        _talk_plainly(talker, lines)
        return
    try:
        import prompt_toolkit  # noqa: F401
    except ImportError:
        raise MissingExtra("The prompt of the shell (sublex shell --plain does without)", "shell") from None
    from sublex.shell.painting import paint, prompt_session

    prompt = prompt_session(talker, settings.keys, _history_path())

    def printer(rows: Sequence[Line]) -> None:
        paint(rows, settings.pager)

    for text in lines:
        print(one_line(f"{name}> {text}"))
        talker.answer(text, printer)
        if talker.ended:
            return
    while not talker.ended and (typed := talker.read(prompt)) is not None:
        talker.typed(typed, printer)


class Talker:
    """Answers the lines of one prompt. While the user types the first line, a thread loads what answers need."""

    def __init__(self, make_session: Callable[[], Session], name: str, settings: ShellSettings):
        self._make_session, self.name, self.settings = make_session, name, settings
        self.session: Session | None = None
        self.reader: QueryReader | None = None
        self._completions: Completions | None = None
        self.status, self.error, self.figures = "getting ready", "", ""
        self.seconds: float | None = None
        # Three events. _ready: queries can be answered. _complete: the commands of plugins are loaded, too. _idle: no
        # query is being answered, so other work may use the processor.
        self._ready, self._complete, self._idle = threading.Event(), threading.Event(), threading.Event()
        self._started = self._is_asked = False
        self._changed, self._looked = False, 0.0

    @property
    def ended(self) -> bool:
        """Whether a command has ended the session."""
        return self.session is not None and self.session.ended

    def start(self) -> None:
        """Start the thread that prepares the session. Further calls do nothing."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._prepare, daemon=True).start()

    def _prepare(self) -> None:
        """Open the index and load everything for queries. Then load the commands of plugins, and sort the vocabulary."""
        # Almost all objects made here stay in use, so collecting garbage would only cost time.
        gc.disable()
        try:
            self._prepare_queries()
            if self.session is not None and self._completions is not None:
                self._prepare_commands(self.session)
                self._completions.prepare()
        except SublexError as error:
            self.error = str(error)
        except Exception as error:
            self.error = f"The index cannot be made ready ({in_short(error)})."
        finally:
            self.status = ""
            self._ready.set()
            self._complete.set()
            gc.freeze()
            gc.enable()

    def _prepare_queries(self) -> None:
        """Open the index and load compiled code.

        Then answer a query as a warm-up, unless the user has already typed one.
        """
        from sublex.faces.compiling import compile_quietly

        session = self._make_session()
        session.confirm = confirm
        index = session.index
        compile_quietly("analyze search explain", index, self._say_status)
        from sublex.shell.completing import Completions

        self.session, self._completions = session, Completions(session)
        self._follow(session)
        if not self._is_asked and (frequent := index.top_terms(1)):
            session.copy().search(frequent[0].surface)
        self.status = ""
        self._ready.set()
        if self._is_asked:
            self._idle.wait(LOOKS)

    def _prepare_commands(self, session: Session) -> None:
        """Add the commands of plugins."""
        from sublex.shell.commands import add_plugins

        for failure in add_plugins(session.commands, session.index.registry):
            say(failure)
        self._complete.set()

    def _say_status(self, status: str) -> None:
        self.status = status

    def _follow(self, session: Session) -> None:
        """Show the reading of queries with the session's current snapshot."""
        if self.reader is None or self.reader.snapshot is not session.index.snapshot:
            self.reader = QueryReader(session.index.snapshot)

    def complete(self, text: str) -> Iterator[Offer]:
        """Yield the completions of a line, with the cursor at its end. Until the shell is ready, there are none."""
        if self._completions is not None:
            yield from self._completions.complete(text)

    def read(self, prompt: PromptSession[str]) -> str | None:
        """Return the next line of the user, or None at the end of the input. Ctrl-C empties the line."""
        from prompt_toolkit.patch_stdout import patch_stdout

        from sublex.shell.painting import fit_to_terminal

        while True:
            fit_to_terminal(prompt, self)
            try:
                with patch_stdout(raw=True):
                    return prompt.prompt()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return None

    def typed(self, text: str, printer: Printer) -> bool:
        """Answer a line that a person typed. `help` and `quit` are commands even without a colon."""
        meant = bare_command(text)
        if meant:
            say(f"{text.strip()} means {meant}; to search for the word, write ::{text.strip()}")
        return self.answer(meant or text, printer)

    def answer(self, text: str, printer: Printer) -> bool:
        """Answer a line and print the result, or one sentence about a failure. Return whether there was no failure."""
        begin = time.perf_counter()
        try:
            self._is_asked = True
            self.start()
            if is_command(text):
                self._idle.set()
                self._complete.wait()
            self._ready.wait()
            if self.session is None or self._completions is None:
                raise Failed(self.error)
            from sublex.shell.printing import print_result

            shown = attempt(self.session, text)
            self.seconds = time.perf_counter() - begin
            print_result(self.session, shown, printer)
            self._follow(self.session)
            figures = self.session.measures()
            self.figures = "  ".join(f"{name} {value:.3f}" for name, value in figures.items())
            threading.Thread(target=self._completions.prepare, daemon=True).start()
        except Failed as failure:
            say(f"sublex: {failure}")
            return False
        except OSError as error:
            say(f"sublex: Cannot write {(self.session and self.session.out) or 'the result'}: {error.strerror}.")
            return False
        except KeyboardInterrupt:
            say("sublex: interrupted.")
            return False
        finally:
            self._idle.set()
        if self.settings.timing and text.strip():
            say(_milliseconds(self.seconds))
        return True

    def reading(self, text: str) -> Line:
        """Return a line about the typed text: the reading of a query, or the usage of a command."""
        text = bare_command(text) or text
        if is_command(text):
            name = text.lstrip()[1:].partition(" ")[0].lower()
            command = self.session.commands.known(name) if self.session else None
            if command is None:
                return Line()
            return Line((Span(f"{usage_of(command)}  ", "kept"), Span(command.summary, "dim")))
        if self.reader is None or not text.strip():
            return Line()
        try:
            return self.reader.read(text, self.settings.language)
        except SublexError as error:
            # An unfinished query may be wrong only because its end is missing.
            return Line((Span(one_line(self.session.worded(str(error)) if self.session else str(error)), "unknown"),))

    def facts(self) -> str:
        """Return the line of the toolbar: index, documents, expression, k, milliseconds, measures of the topic, and changes."""
        session, parts = self.session, [self.name]
        if self.error or self.status:
            parts.append(self.error or self.status)
        if self.has_changed():
            parts.append("changed on disk; :reopen shows the changes")
        if session is not None:
            ranker = profile(self.settings.profile or session.index.profile).ranker.rpartition(":")[2]
            parts.append(counted(len(session.index), "document"))
            parts += [self.settings.expression or ranker, f"k {self.settings.k}"]
        if self.seconds is not None:
            parts.append(_milliseconds(self.seconds))
        if session is not None and session.topic:
            parts.append(f"topic {session.topic}  {self.figures}".rstrip())
        return " · ".join(parts)

    def has_changed(self) -> bool:
        """Return whether the index on disk is newer. The disk is read at most once a second."""
        now = time.monotonic()
        if self.session is not None and now - self._looked > LOOKS:
            self._looked = now
            try:
                self._changed = self.session.has_changed()
            except SublexError:
                self._changed = True
        return self._changed


def _milliseconds(seconds: float) -> str:
    """Return seconds as milliseconds, with at least three digits."""
    return f"{1000 * seconds:,.0f} ms" if seconds >= 0.1 else f"{1000 * seconds:.3g} ms"


def _history_path() -> str | None:
    """Return the file of the history; None if its folder cannot be made."""
    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder / "shell_history") if os.access(folder, os.W_OK) else None


def confirm(question: str) -> bool:
    """Ask the user at the terminal, and return whether the answer is yes. Ctrl-C ends the question within a moment."""
    print(f"{one_line(question)} [y/n] ", end="", flush=True)
    answer = b""
    while not answer.endswith(b"\n"):
        # A thread that waits in the system for a key could not be interrupted.
        if select.select([sys.stdin], [], [], 0.1)[0]:
            key = os.read(sys.stdin.fileno(), 1)
            if not key:
                print()
                break
            answer += key
    return answer.strip().lower() in (b"y", b"yes")


def _talk_plainly(talker: Talker, lines: Iterable[str]) -> None:
    """Answer given and typed lines without prompt_toolkit."""
    import readline  # noqa: F401 -- input() then edits the line and has a history.

    from sublex.faces.output import print_lines

    for text in lines:
        print(one_line(f"{talker.name}> {text}"))
        talker.answer(text, print_lines)
        if talker.ended:
            return
    while not talker.ended:
        try:
            if talker.has_changed():
                say("The index has changed on disk; :reopen shows the changes.")
            text = input(f"{talker.name}> ")
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print(file=sys.stderr)
            continue
        talker.typed(text, print_lines)
