"""The errors that Sublex raises. Each message says what happened, to which thing, and what to do next."""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sublex.tools.messages import in_short, install_command, one_line


class SublexError(Exception):
    """The base of all errors that Sublex reports to a user. The command line prints the message and exits with 2."""


class InputError(SublexError):
    """The user's input is at fault: a file, a record, a name or a value."""


class MissingExtra(SublexError):
    """A feature needs an optional package that is not installed; the message names the command that installs it."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} needs an optional part; to install it: {install_command(extra)}")
        self.what, self.extra = what, extra

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.extra)


class UnknownName(SublexError):
    """The given name is not registered."""


class UnknownTopic(InputError, KeyError):
    """A run, qrels or a result has no topic with the given id.

    The error is also a KeyError, because these objects are mappings.
    """

    __str__ = Exception.__str__


class UnknownDocument(InputError):
    """An index has no document with the given docno."""


class PluginError(SublexError):
    """A plugin could not be loaded, failed, or returned a value that its contract does not allow."""


class IndexProblem(SublexError):
    """An index cannot be used as requested.

    It is missing, it exists where a new one should be written, it is in use, or its format is newer.
    """


class IndexCorrupt(SublexError):
    """A file of an index differs from the file that was written."""


class SublexWarning(UserWarning):
    """The warnings that functions of Sublex give to Python code. The commands print the same sentences as messages."""


def warn(sentences: Sequence[str]) -> None:
    """Give warnings that name the line of the user's code which called Sublex."""
    if not sentences:
        return
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in ("sublex", "functools"):
        frame, level = frame.f_back, level + 1
    for sentence in sentences:
        warnings.warn(one_line(sentence), SublexWarning, level)


# The sentence for any error for which `is_out_of_memory` is true.
LITTLE_MEMORY = "There is not enough memory for this; close other programs, or raise the limit on memory."


@contextmanager
def contract(kind: str, part: object) -> Iterator[None]:
    """Run code of a plugin, and turn any exception into a `PluginError` that names the part of the plugin.

    `kind` and `part` name the part in the message, as in "The ranker BM25 failed". A `SublexError` is raised unchanged,
    but the message of a `PluginError` that does not name the part gets the name in front. The error for a full disk, or
    for a file that is larger than the system allows, is raised unchanged too, because the plugin did not cause it. An
    error for too little memory becomes a MemoryError.
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
        if is_out_of_memory(error):
            raise MemoryError from error
        raise PluginError(f"The {kind} {part} failed ({in_short(error)}); its results are not used.") from error


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception, or one that led to it, says that the memory does not suffice.

    Without memory, Python raises MemoryError or OSError, cannot load the library of a module, or cannot start a thread.
    For IndexCorrupt the result is False: a damaged file may claim any size.
    """
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen and not isinstance(cause, IndexCorrupt):
        text = str(cause)
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno == errno.ENOMEM):
            return True
        if isinstance(cause, (ImportError, OSError)) and ("allocate memory" in text or "failed to map segment" in text):
            return True
        if isinstance(cause, RuntimeError) and text.startswith("can't start new thread"):
            return True
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return False


def is_interrupt(error: BaseException) -> bool:
    """Return whether an exception comes from an interrupt by the user during the call of a compiled kernel.

    Python then reports that the call "returned a result with an exception set", and the interrupt is the `__cause__` of
    this error. If the kernel called Python code, the interrupt is one `__cause__` further.
    """
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__ or cause.__context__
    return cause is not error and isinstance(cause, KeyboardInterrupt)
