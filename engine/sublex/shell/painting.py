"""Paint lines on a terminal with prompt_toolkit, and make the prompt: the only file that imports prompt_toolkit when it is loaded."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import print_formatted_text
from prompt_toolkit.styles import Style

from sublex.forms.lines import Line, wrapped

if TYPE_CHECKING:
    from sublex.shell.prompt import Talker

# The number of rows that a terminal needs for a toolbar, and the number of rows of the menu of completions.
LEAST_ROWS, MENU_ROWS = 8, 6
# The styles of spans, and of the prompt.
STYLE = Style.from_dict(
    {
        "docno": "bold", "match": "bold ansiyellow", "heading": "bold", "best": "bold", "dim": "ansibrightblack",
        "bar": "ansicyan", "grade": "bold ansimagenta", "up": "ansigreen", "down": "ansired", "new": "bold ansiblue",
        "kept": "bold", "stopped": "ansibrightblack", "unknown": "ansired",
        "label-0": "ansigreen", "label-1": "ansimagenta", "label-2": "ansiblue", "label-3": "ansired",
        "label-4": "ansicyan", "label-5": "ansibrightgreen", "label-6": "ansibrightmagenta", "label-7": "ansibrightblue",
        "bottom-toolbar": "noreverse", "facts": "reverse", "prompt": "bold ansicyan",
    }
)  # fmt: skip


def paint(lines: Sequence[Line], pager: bool) -> None:
    """Print lines in colours, wrapped to the terminal.

    With `pager`, output of more lines than the terminal has goes to the pager.
    """
    size = shutil.get_terminal_size()
    rows = [row for long in lines for row in wrapped(long, size.columns)]
    text = _coloured(rows, size.columns)
    if pager and len(rows) >= size.lines:
        import click

        os.environ.setdefault("LESS", "-RFX")
        click.echo_via_pager(text, color=True)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


def _coloured(rows: Iterable[Line], columns: int) -> str:
    """Return lines with the escape sequences of the terminal."""
    stream = io.StringIO()
    output = Vt100_Output(stream, lambda: Size(rows=24, columns=columns), term=os.environ.get("TERM"))
    fragments = [(f"class:{style}" if style else "", text) for row in rows for text, style in (*row.spans, ("\n", ""))]
    print_formatted_text(output, FormattedText(fragments), STYLE, color_depth=_depth())
    return stream.getvalue().replace("\r\n", "\n")


def _depth() -> ColorDepth:
    """Return the depth of colours that the user wants. With NO_COLOR, there are no colours."""
    return ColorDepth.from_env() or ColorDepth.DEPTH_4_BIT


def prompt_session(talker: Talker, keys: str, history: str | None) -> PromptSession[str]:
    """Return the prompt of a talker. `keys` is "emacs" or "vi". `history` is the file of the history, or None."""
    session: PromptSession[str] = PromptSession(
        FormattedText([("class:prompt", f"{talker.name}> ")]),
        history=FileHistory(history) if history else InMemoryHistory(),
        auto_suggest=AutoSuggestFromHistory(),
        completer=ThreadedCompleter(_Completer(talker)),
        complete_while_typing=True,
        style=STYLE,
        color_depth=_depth(),
        editing_mode=EditingMode.VI if keys == "vi" else EditingMode.EMACS,
        enable_open_in_editor=True,
        key_bindings=_keys(),
        refresh_interval=1.0,
    )
    session.app.after_render += lambda _: talker.start()
    return session


def fit_to_terminal(prompt: PromptSession[str], talker: Talker) -> None:
    """Give a prompt a toolbar and room for its menu, if the terminal has enough rows."""

    def toolbar() -> FormattedText:
        reading = talker.reading(get_app().current_buffer.text)
        spans = [(f"class:{style}", text) for text, style in reading.spans]
        return FormattedText([*spans, ("", "\n"), ("class:facts", f" {talker.facts()} ")])

    rows = shutil.get_terminal_size().lines
    prompt.bottom_toolbar = toolbar if rows >= LEAST_ROWS else None
    prompt.reserve_space_for_menu = max(0, min(MENU_ROWS, rows - LEAST_ROWS))


def _keys() -> KeyBindings:
    """Return the keys beyond those of prompt_toolkit: Alt-Enter begins another line of the query."""
    bindings = KeyBindings()

    @bindings.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return bindings


class _Completer(Completer):
    """Offers the completions of a talker. After an error, it offers nothing."""

    def __init__(self, talker: Talker):
        self.talker = talker

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions of the text before the cursor."""
        try:
            for offer in self.talker.complete(document.text_before_cursor):
                yield Completion(offer.text, -offer.replaces, display_meta=offer.beside)
        except Exception:
            return
