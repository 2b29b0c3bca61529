"""The errors that Sublex raises. Each message says what happened, to which thing, and what to do next."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sublex.tools.messages import in_short, install_command


class SublexError(Exception):
    """The base of all errors that Sublex reports to a user. The command line prints the message and exits with 2."""


class InputError(SublexError):
    """The user's input is at fault: a file, a record, a name or a value."""


class MissingExtra(SublexError):
    """A feature needs an optional package that is not installed; the message names the command that installs it."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} needs an optional part; to install it: {install_command(extra)}")


class UnknownName(SublexError):
    """Nothing is registered under a name."""


class UnknownTopic(InputError, KeyError):
    """A run, qrels or a result has no topic with an id. It is a KeyError too, because these are mappings."""

    __str__ = Exception.__str__


class PluginError(SublexError):
    """A plugin could not be loaded, failed, or returned a value that its contract does not allow."""


class IndexProblem(SublexError):
    """An index cannot be used as requested: it is missing, in the way, in use, or of a newer format."""


class IndexCorrupt(SublexError):
    """A file of an index differs from the file that was written."""


@contextmanager
def contract(kind: str, part: object) -> Iterator[None]:
    """Run code of a plugin, and turn any exception into a `PluginError` with one sentence that names the plugin's part.

    `kind` and `part` name the part in the message, as in "The ranker BM25 failed". A `SublexError` passes through; a
    `PluginError` that does not name the part gets its name in front. An error because the disk is full, or because a
    file is larger than the system allows, passes through too, since the plugin did not cause it.
    """
    try:
        yield
    except PluginError as error:
        if str(part) in str(error):
            raise
        raise PluginError(f"{part}: {error}") from error
    except SublexError:
        raise
    except (Exception, SystemExit) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise PluginError(f"The {kind} {part} failed ({in_short(error)}); its results are not used.") from error


def is_interrupt(error: BaseException) -> bool:
    """Return whether an exception is an interrupt by the user that came while a compiled kernel was called.

    Python then reports that the call "returned a result with an exception set", and the interrupt is the cause of that error,
    or the cause of its cause if the kernel in turn called Python.
    """
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__ or cause.__context__
    return cause is not error and isinstance(cause, KeyboardInterrupt)
