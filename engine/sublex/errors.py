"""The errors Sublex raises. Each message is one sentence: what happened, to which thing, what to do next."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sublex.messages import in_short


class SublexError(Exception):
    """Anything Sublex tells a user about; the command line prints it and exits with 2."""


class InputError(SublexError):
    """The user's data is at fault: a file, a record, a name, a value."""


class MissingExtra(SublexError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} needs an optional part: run pip install 'sublex[{extra}]'.")


class UnknownName(SublexError):
    """A name that nothing is registered under."""


class PluginError(SublexError):
    """A plugin could not be loaded or broke its contract."""


@contextmanager
def contract(kind: str, part: object) -> Iterator[None]:
    """What goes wrong in the code of a plugin's part becomes one sentence that names it; a full disk is nobody's fault."""
    try:
        yield
    except PluginError as error:
        if str(part) in str(error):
            raise
        raise PluginError(f"{part}: {error}") from error
    except SublexError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise PluginError(f"The {kind} {part} failed ({in_short(error)}); nothing was done by it.") from error


class IndexProblem(SublexError):
    """An index cannot do what was asked of it: absent, in the way, too new, in use."""


class IndexCorrupt(SublexError):
    """Bytes of an index are not the ones that were written."""
