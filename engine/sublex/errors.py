"""The errors Sublex raises. Each message is one sentence: what happened, to which thing, what to do next."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


def nearest(name: str, names: Iterable[str]) -> str:
    """A question for the middle of a message: did you mean this one?"""
    import difflib

    known = {other.lower(): other for other in names}
    near = [known[other] for other in difflib.get_close_matches(name.lower(), known, 1)]
    return f"did you mean {near[0]}? " if near else ""


def unknown(what: str, name: str, names: Iterable[str]) -> str:
    """A name that is none of the known ones, and what there is."""
    known = list(names)
    hint = nearest(name, known)
    return f"No {what} {name or repr(name)}; {hint}{'T' if hint else 't'}here are: {', '.join(known)}."


def command(*words: object) -> str:
    """A command of Sublex as it is typed; a path of one word gets ./ before it, or it would be taken for a bare name."""
    bare = [isinstance(word, os.PathLike) and os.sep not in str(word) for word in words]
    return shlex.join(
        ["sublex", *(f"./{word}" if alone else str(word) for word, alone in zip(words, bare, strict=True))]
    )


def counted(number: int, what: str) -> str:
    """A number with its noun: 1 topic, 2 topics."""
    return f"{number:,} {what}{'s' * (number != 1)}"


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


# Of what a plugin says when it fails, so many characters are shown.
LONGEST = 300


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


def in_short(error: BaseException) -> str:
    """An error of any kind on one line."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"


class IndexProblem(SublexError):
    """An index cannot do what was asked of it: absent, in the way, too new, in use."""


class IndexCorrupt(SublexError):
    """Bytes of an index are not the ones that were written."""
