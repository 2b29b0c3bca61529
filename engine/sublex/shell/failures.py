"""Answer a line of the shell so that no failure ends the session: each costs one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sublex.errors import SublexError, is_interrupt
from sublex.messages import in_short

if TYPE_CHECKING:
    from sublex.display.lines import Shown
    from sublex.shell.session import Session


class Failed(Exception):
    """A line that was not answered; the message is the sentence for the user."""


class Interrupted(Failed):
    """A line that the user interrupted."""


def attempt(session: Session, text: str) -> Shown | None:
    """Answer a line and return what to show. Raise Failed, with one sentence, whatever goes wrong, also for Ctrl-C."""
    try:
        return session.run(text)
    except SublexError as error:
        raise Failed(str(error)) from None
    except KeyboardInterrupt as interrupt:
        # A change of the index says in the message what became of the index.
        raise Interrupted(f"interrupted; {interrupt}." if str(interrupt) else "interrupted.") from None
    except MemoryError:
        raise Failed(
            "There is not enough memory for this; close other programs, or raise the limit on memory."
        ) from None
    except OSError as error:
        place = error.filename or "The system"
        raise Failed(f"{place}: {error.strerror or in_short(error)}.") from None
    except Exception as error:
        if is_interrupt(error):
            raise Interrupted("interrupted.") from None
        what = text.split()[0] if text.startswith(":") else "The query"
        raise Failed(f"{what} failed ({in_short(error)}).") from None
