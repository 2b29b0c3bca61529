"""Read the arguments of a command of the shell: first options, then words, which need quotes around blanks, then a text."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sublex.errors import InputError
from sublex.operations import Operation, Parameter
from sublex.operations.parameters import OVERWRITE_HELP
from sublex.tools.messages import cut, option_words

if TYPE_CHECKING:
    from sublex.shell.session import Session

# The completions that mark a parameter as an expression, where brackets may contain blanks and quotes; and those that
# mark a single word, even as the last argument.
EXPRESSIONS = ("expression", "model", "fittable", "expander")
WORDS = ("docno", "file", "snapshot", "saved", "command", "name")
# The option that lets -o replace any file.
_OVERWRITE = Parameter(name="overwrite_file", type=bool, flags=("--overwrite",), help=OVERWRITE_HELP)


def spoken(operation: Operation) -> list[Parameter]:
    """Return the parameters that a user of the shell types without a name. The session supplies all others."""
    return [p for p in operation.parameters if p.bare or (p.flags is None and not p.remembered and not p.hidden)]


def usage_of(operation: Operation) -> str:
    """Return the usage line of a command, such as ":explain N | DOCNO [vs N | DOCNO]"."""
    words = [f":{operation.shell}"]
    for each in spoken(operation):
        name = "N | DOCNO" if each.completes == "docno" else each.metavar
        name = f"{each.word} {name}" if each.word else name
        words.append((name if each.is_required else f"[{name}]") + "..." * each.many)
    if operation.file and operation.file.required:
        words.insert(1, f"-o {operation.file.metavar}")
    return " ".join(words)


def arguments_of(operation: Operation, text: str, session: Session) -> tuple[dict[str, Any], str | None, bool]:
    """Read the text after the name of a command.

    Return the arguments, the file of -o or None, and whether --overwrite is given.
    """
    given, rest = _options(operation, text)
    output, overwrite = given.pop("-o", None), given.pop("overwrite_file", False)
    if operation.file and operation.file.required and output is None:
        raise usage_error(operation)
    given |= _positional(operation, rest, given)
    arguments = {}
    for each in operation.parameters:
        if each.name in given:
            words = given[each.name]
            values = [_typed(each, word, session) for word in (words if each.many else (words,))]
            arguments[each.name] = tuple(values) if each.many else values[0]
        elif each.remembered:
            arguments[each.name] = session.remembered(each)
        elif each.is_required:
            raise usage_error(operation)
    return arguments, output, overwrite


def usage_error(operation: Operation) -> InputError:
    """Return the error for arguments that do not fit a command."""
    return InputError(f"Write {usage_of(operation)}.")


def _options(operation: Operation, text: str) -> tuple[dict[str, Any], str]:
    """Return the options at the beginning of a text, written as on the command line, and the rest of the text."""
    flags: Mapping[str, Parameter | None] = {
        **{flag: each for each in operation.parameters if not each.hidden for flag in each.flags or ()},
        **({"-o": None, "--output": None, "--overwrite": _OVERWRITE} if operation.file else {}),
    }
    given: dict[str, Any] = {}
    while text.startswith("-"):
        flag, _, rest = text.partition(" ")
        flag, equals, value = flag.partition("=")
        if flag == "--":
            return given, rest
        if flag not in flags:
            break
        each, text = flags[flag], rest.lstrip()
        if each is not None and each.type is bool:
            given[each.name] = True
            continue
        if not equals:
            words, text = split(text, 1, each is not None and each.completes in EXPRESSIONS)
            if not words:
                raise InputError(f"{flag} needs a value.")
            value = words[0]
        if each is None:
            given["-o"] = value
        else:
            given[each.name] = [*given.get(each.name, ()), value] if each.many else value
    return given, text


def _positional(operation: Operation, text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the words of a text as positional arguments. Raise InputError if they do not fit."""
    wanted, found = [each for each in spoken(operation) if each.name not in given], dict[str, Any]()
    if text and not wanted:
        raise InputError(f":{operation.shell} takes nothing after it; leave {cut(text)} out.")
    for place, each in enumerate(wanted):
        if not text:
            break
        if each.many:
            words, text = split(text, None, each.completes in EXPRESSIONS)
            _refuse_late_options(operation, words)
            found[each.name] = words
        elif place == len(wanted) - 1 and takes_rest(each):
            found[each.name], text = (text if each.completes == "word" else unquoted(text)), ""
        else:
            words, text = split(text, 1 + bool(each.word), each.completes in EXPRESSIONS)
            if each.word and words.pop(0).lower() != each.word:
                raise usage_error(operation)
            if not words:
                raise usage_error(operation)
            found[each.name] = words[0]
    if text:
        raise usage_error(operation)
    return found


def _refuse_late_options(operation: Operation, words: Sequence[str]) -> None:
    """Raise InputError for an option after the arguments, because it would be read as another argument."""
    flags = [flag for each in operation.parameters if not each.hidden for flag in each.flags or ()]
    if late := next((word for word in words if word in flags and word.startswith("--")), None):
        raise InputError(f"Options stand before the arguments: :{operation.shell} {late} …")


def _typed(each: Parameter, word: Any, session: Session) -> Any:
    """Convert a word to the value of a parameter. Raise InputError if the word cannot be a value of this parameter."""
    if each.completes == "docno":
        return session.docno(word)
    if each.choices and word not in each.choices:
        raise InputError(f"{each.name} is {' or '.join(each.choices)}, not {cut(word)}.")
    if each.type is int:
        if not word.lstrip("-").isdecimal() or word.startswith("--"):
            raise InputError(f"{cut(word)} is not a whole number.")
        if each.least is not None and int(word) < each.least:
            raise InputError(f"{each.name} has to be at least {each.least}, not {word}.")
        return int(word)
    if each.type is float:
        try:
            return float(word)
        except ValueError:
            raise InputError(f"{cut(word)} is not a number.") from None
    return word


def split(text: str, most: int | None = None, brackets: bool = False) -> tuple[list[str], str]:
    """Return the first words of a text, at most `most`, and the rest of the text.

    Blanks in quotes do not separate words. With `brackets`, blanks in brackets do not separate words either. Raise
    InputError for a quote that is not closed.
    """
    words, word, quote, depth, place = list[str](), None, "", 0, 0
    for place, character in enumerate(text):
        if quote:
            word = (word or "") + character * (depth > 0 or character != quote)
            quote = "" if character == quote else quote
        elif character in "'\"" and (depth or word is None or not brackets):
            quote, word = character, (word or "") + character * (depth > 0)
        elif character.isspace() and not depth:
            if word is not None:
                words, word = [*words, word], None
            if most is not None and len(words) == most:
                return words, text[place:].lstrip()
        else:
            depth += brackets * ((character in "([{") - (character in ")]}" and depth > 0))
            word = (word or "") + character
    if quote:
        raise InputError(f"A quote in {text} is not closed.")
    return ([*words, word] if word is not None else words), ""


def word_at_end(text: str) -> tuple[str, int]:
    """Return the last word of an unfinished text, without its quotes, and the number of characters typed for it."""
    word, quote, begin = "", "", 0
    for place, character in enumerate(text):
        if character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
        elif not quote and character.isspace():
            word, begin = "", place + 1
        else:
            word += character
    return word, len(text) - begin


def quoted(word: str, brackets: bool = False) -> str:
    """Return a word as a user types it. It is in quotes if `split` would otherwise read another word, or several words."""
    try:
        is_plain = split(word, None, brackets) == ([word], "")
    except InputError:
        is_plain = False
    return word if is_plain else _in_quotes(word)


def _in_quotes(word: str) -> str:
    mark = next((mark for mark in "'\"" if mark not in word), None)
    return f"{mark}{word}{mark}" if mark else shlex.quote(word)


def typed(operation: Operation, words: Sequence[str], options: Mapping[str, Any]) -> str:
    """Return a call of a command as a user types it, with its positional arguments and its options.

    `arguments_of` reads the same arguments from this text.
    """
    wanted = [each for each in spoken(operation) if each.name not in options and each.flag not in options]
    wanted += wanted[-1:] * (len(words) - len(wanted))
    said = [_typed_word(each, word, each is wanted[-1]) for each, word in zip(wanted, words, strict=False)]
    dashes = ["--"] if said and said[0].startswith("-") else []
    return " ".join([f":{operation.shell}", *map(quoted, option_words(options)), *dashes, *said])


def _typed_word(each: Parameter, word: str, is_last: bool) -> str:
    if each.completes == "docno":
        return quoted(typed_docno(word))
    if is_last and takes_rest(each):
        return word if each.completes == "word" or unquoted(word) == word.strip() == word else _in_quotes(word)
    return quoted(word, each.completes in EXPRESSIONS)


def typed_docno(docno: str) -> str:
    """Return a docno as a user types it. It needs = in front if it looks like the rank of a hit, or begins with =."""
    return f"={docno}" if docno.isdecimal() or docno.startswith("=") else docno


def takes_rest(each: Parameter) -> bool:
    """Return whether a parameter, as the last one, takes the rest of a line. It then needs no quotes."""
    return not each.many and not each.word and each.type is str and each.completes not in WORDS


def unquoted(text: str) -> str:
    """Return an expression without quotes around it. The command line needs these quotes, but the shell does not."""
    inside = text[1:-1]
    return inside if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in inside else text
