"""Answer a line of the shell. A failure or an interrupt prints one sentence; the session goes on and is unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sublex.errors import LITTLE_MEMORY, SublexError, is_interrupt, is_out_of_memory
from sublex.faces.work import Work
from sublex.tools.messages import in_short

if TYPE_CHECKING:
    from sublex.forms.lines import Shown
    from sublex.shell.session import Session


class Failed(Exception):
    """A line was not answered. The message is the sentence for the user."""


class Interrupted(Failed):
    """The user interrupted a line."""


def attempt(session: Session, text: str) -> Shown | None:
    """Answer a line and return what to show. Raise Failed, with one sentence, for any error and for Ctrl-C.

    The line runs in a thread, on a copy of the session. So a line that fails does not change the session.
    """
    trial = session.copy()
    try:
        shown = Work(lambda: _answered(trial, text)).result()
        session.adopt(trial)
        return shown
    except SublexError as error:
        if is_out_of_memory(error):
            raise Failed(LITTLE_MEMORY) from None
        raise Failed(session.worded(error.args[0] if error.args else str(error))) from None
    except KeyboardInterrupt as interrupt:
        # If the line changed the index, the message tells the state of the index.
        raise Interrupted(f"interrupted; {interrupt}." if str(interrupt) else "interrupted.") from None
    except OSError as error:
        if is_out_of_memory(error):
            raise Failed(LITTLE_MEMORY) from None
        place = error.filename or "The system"
        raise Failed(f"{place}: {error.strerror or in_short(error)}.") from None
    except Exception as error:
        if is_interrupt(error):
            raise Interrupted("interrupted.") from None
        if is_out_of_memory(error):
            raise Failed(LITTLE_MEMORY) from None
        what = text.split()[0] if text.startswith(":") else "The query"
        raise Failed(f"{what} failed ({in_short(error)}).") from None


def _answered(session: Session, text: str) -> Shown | None:
    """Answer a line. Compute the output here as well, so that Ctrl-C can also end this computation."""
    shown = session.run(text)
    if shown is not None:
        shown.compute(session.settings.format)
    return shown
