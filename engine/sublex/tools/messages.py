"""Pieces of messages: the nearest known name, a step to take next, a command that installs a part, a number with its noun."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

# The largest number of characters of an exception's message that are shown. A plugin may write a very long message.
LONGEST = 300
# The least likeness of a known name that is suggested: 2 times the number of matching characters, divided by the number
# of all characters.
LEAST_LIKENESS = 0.6
# If there are at most ALL known names, a message lists them all. Otherwise it lists the NEAR names that are most like the
# wrong name.
ALL, NEAR = 8, 5
# Characters that end a line or move to a column: tab, line feed, vertical tab, form feed, return, NEL, U+2028 and U+2029.
BREAKS = "\t\n\v\f\r\x85\u2028\u2029"
_BREAKS = re.compile(f"[{BREAKS}]")
# Characters that steer a terminal: controls (C0, DEL, C1), and those that change the direction of text.
STEERING = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_STEERING = re.compile(f"[{STEERING}]")
# Characters that a message cannot show as they are: breaks, controls and surrogates. The match includes the character after a
# line feed, because a shell drops line feeds at the end of a command's output.
_UNSHOWN = re.compile(f"([{BREAKS}{STEERING}\ud800-\udfff]+(?:(?<=\n).)?)", re.DOTALL)

# Characters that a shell reads within double quotes. Some shells replace a ! by an earlier command.
_CHANGED = re.compile(r'["$`\\!]')


def one_line(text: str) -> str:
    """Return a text as one line that cannot steer a terminal: each break becomes a space, each control U+FFFD."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub(" ", text))


def clean_lines(text: str) -> str:
    """Return a message without characters that steer a terminal.

    A line break stays only before an indented line, such as a line under a syntax error. So no name in a message can
    begin a line of its own.
    """
    return "\n".join(map(one_line, re.split("\n(?=  )", text)))


def nearest(name: str, names: Iterable[str]) -> str:
    """Return "did you mean …? " with the known name most like `name`, or an empty string if no name is similar.

    Of several known names that are equally like `name`, the first is returned.
    """
    best = max(names, key=lambda known: _likeness(known, name), default="")
    return f"did you mean {best}? " if best and _likeness(best, name) >= LEAST_LIKENESS else ""


def _likeness(known: str, name: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, known.lower(), name.lower()).ratio()


def near_names(name: str, names: Iterable[str]) -> str:
    """Return known names, separated by commas. If there are more than eight, return the five that are most like `name`."""
    known = list(dict.fromkeys(names))
    if len(known) <= ALL:
        return ", ".join(known)
    near = sorted(known, key=lambda each: -_likeness(each, name))[:NEAR]
    return f"{', '.join(near)} and {len(known) - NEAR:,} others"


def unknown(what: str, name: str, names: Iterable[str], listing: Step | None = None) -> str:
    """Return the sentence for an unknown name: what was looked for, the nearest known name, and known names like it.

    `listing` is a step that lists all names. The sentence ends with this step if it does not list all names itself.
    """
    known = list(dict.fromkeys(names))
    hint = nearest(name, known)
    sentence = f"No {what} {name or repr(name)}; {hint}{'T' if hint else 't'}here are: {near_names(name, known)}"
    return Message(sentence, " (", listing, " lists all).") if listing and len(known) > ALL else f"{sentence}."


class Step:
    """An operation with its arguments that a user may run next. Each face prints it in the form that its users type.

    `words` are the positional arguments. The index comes first if the operation takes one; "INDEX" stands for any
    index. `options` are named as on the command line, with _ for -. `str()` returns the command line, quoted for the
    shell of the system.
    """

    def __init__(self, operation: str, *words: object, **options: object):
        self.operation, self.words, self.options = operation, words, options

    def __str__(self) -> str:
        words, options = [_argument(word) for word in self.words], option_words(self.options)
        # If a word begins with a dash, -- stands before this word and all later words.
        plain = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
        later = ["--", *words[plain:]] if words[plain:] else []
        return command_line(["sublex", *self.operation.split(), *words[:plain], *options, *later])


class Message(str):
    """A message that holds steps.

    As a string it has the wording of the command line; `worded` returns the wording of another face.
    """

    parts: tuple[object, ...]

    def __new__(cls, *parts: object) -> Message:
        """Join strings, steps and other messages."""
        flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Message) else (part,)))
        message = super().__new__(cls, "".join(map(str, flat)))
        message.parts = flat
        return message


def worded(message: str, wording: Callable[[Step], str]) -> str:
    """Return a message in which `wording` has turned each step into text."""
    parts = getattr(message, "parts", (message,))
    return "".join(wording(part) if isinstance(part, Step) else str(part) for part in parts)


def option_words(options: Mapping[str, object]) -> list[str]:
    """Return options as words of a command line. An option that is None or False is left out; True makes it a flag."""
    words: list[str] = []
    for name, value in options.items():
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        for each in value if isinstance(value, (list, tuple)) else (value,):
            words += [flag] if each is True else [] if each is None or each is False else [flag, str(each)]
    return words


def command_line(words: Iterable[str]) -> str:
    """Return words as one line that a POSIX shell reads as these words."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """Return a word in the quotes that a POSIX shell needs, so that a user can copy it from a message.

    Messages leave out some characters. Such a character, for example a tab, is written by its bytes in octal:
    `a"$(printf '\\011')"b`. Only line feeds at the end of the word stay as they are.
    """
    inner = word.rstrip("\n")
    pieces = [
        _octal(piece) if place % 2 else _quoted(piece) for place, piece in enumerate(_UNSHOWN.split(inner)) if piece
    ]
    pieces += [shlex.quote(word[len(inner) :])] if inner != word else []
    return "".join(pieces) or "''"


def _quoted(text: str) -> str:
    """Return a text in the quotes that it needs: none, single ones, or double ones around a single quote."""
    return f'"{text}"' if "'" in text and not _CHANGED.search(text) else shlex.quote(text)


def _octal(text: str) -> str:
    # If a byte of a file name is not UTF-8, Python writes it as a surrogate from U+DC80 to U+DCFF.
    kinds = ("surrogateescape" if "\udc80" <= each <= "\udcff" else "surrogatepass" for each in text)
    encoded = b"".join(each.encode(errors=kind) for each, kind in zip(text, kinds, strict=True))
    return "\"$(printf '" + "".join(f"\\{byte:03o}" for byte in encoded) + "')\""


def _argument(word: object) -> str:
    # A bare word is the name of an index, so a path without a slash is written with ./ in front.
    is_bare_path = isinstance(word, os.PathLike) and os.sep not in str(word)
    return f"./{word}" if is_bare_path else str(word)


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra of Sublex into the environment that Sublex runs in.

    The command names the packages and not Sublex, so it works for a Sublex from a checkout, too.
    """
    import shutil
    from importlib.util import find_spec

    packages = shlex.join(_packages(extra) or [f"sublex[{extra}]"])
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").exists():
        return f"pipx inject {environment.name} {packages}"
    if (environment / "uv-receipt.toml").exists() or find_spec("pip") is None:
        return f"uv pip install --python {shlex.quote(sys.executable)} {packages}"
    pip = shutil.which("pip")
    of_this_environment = pip is not None and os.path.dirname(pip) == os.path.dirname(sys.executable)
    return f"{'' if of_this_environment else f'{shlex.quote(sys.executable)} -m '}pip install {packages}"


def _packages(extra: str) -> list[str]:
    """Return the requirements that the installed Sublex declares for an extra."""
    from importlib import metadata

    try:
        declared = metadata.requires("sublex") or []
    except metadata.PackageNotFoundError:
        return []
    pattern = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    return [line.partition(";")[0].strip() for line in declared if pattern.search(line.partition(";")[2])]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 topic" or "2 topics"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def in_short(error: BaseException) -> str:
    """Return the type and the message of an exception on one line, cut after 300 characters."""
    return cut(" ".join(f"{type(error).__name__}: {error}".split()))


def cut(text: str) -> str:
    """Return a text cut after 300 characters. A text that was cut ends with …."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
