"""The errors Sublex raises. Each message is one sentence: what happened, to which thing, what to do next."""

from __future__ import annotations

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
    """What goes wrong in the code of a plugin's part becomes one sentence that names it."""
    try:
        yield
    except SublexError:
        raise
    except (Exception, SystemExit) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        if len(said) > LONGEST:
            said = f"{said[:LONGEST]}…"
        raise PluginError(f"The {kind} {part} failed ({said}); nothing was done by it.") from error


class IndexProblem(SublexError):
    """An index cannot do what was asked of it: absent, in the way, too new, in use."""


class IndexCorrupt(SublexError):
    """Bytes of an index are not the ones that were written."""
