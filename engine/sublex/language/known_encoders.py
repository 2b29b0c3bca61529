"""The user's file of known encoders. It has the expression of each encoder, and the hash that indexes store.

The file stands beside the settings of the shell and never in an index. So an index from another person can neither choose
the path of a model nor start a model. It has only a hash, and an encoder in the user's file must have the same hash.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sublex.contracts.base import Folder
from sublex.contracts.encoders import Encoder
from sublex.errors import InputError, UnknownName
from sublex.language.encoding import identity_of
from sublex.language.expression import Call, Expression
from sublex.language.names import check_name, is_component, rewritten
from sublex.language.parser import parse
from sublex.language.plugins import Component, Registry
from sublex.language.python_parts import PythonPart
from sublex.tools.confinement import confined, refused_folder
from sublex.tools.files import replace_file
from sublex.tools.messages import Message, Step, nearest
from sublex.tools.plain_files import open_plain

# The largest size of the file in bytes.
MOST_BYTES = 1 << 22


class KnownEncoder(NamedTuple):
    """An encoder of the user: its expression with absolute paths, and its hash. `name` is "" if the user gave no name."""

    identity: str
    expression: str
    name: str = ""


def encoders_path() -> Path:
    """Return the user's file of encoders."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) / "sublex" / "encoders.json"


def known_encoders() -> list[KnownEncoder]:
    """Return the encoders in the user's file."""
    try:
        with open_plain(encoders_path()) as file:
            entries = json.loads(file.read(MOST_BYTES))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError):
        raise _unreadable() from None
    if not isinstance(entries, list):
        raise _unreadable()
    try:
        found = [KnownEncoder(**entry) for entry in entries]
    except TypeError:
        raise _unreadable() from None
    if not all(isinstance(text, str) for each in found for text in each):
        raise _unreadable()
    return found


def _unreadable() -> InputError:
    return InputError(f"Cannot read {encoders_path()}, the list of your encoders; move it away and add them again.")


def keep_encoder(registry: Registry, encoder: Component, name: str = "") -> KnownEncoder:
    """Write an encoder into the user's file. Then an index finds the encoder by its hash, and an expression by its name.

    The paths of its folders become absolute. A known encoder keeps its name if no name is given. If another encoder has the
    name, the name goes to the new encoder. Raise InputError for a Python function, which has no path.
    """
    if isinstance(encoder, PythonPart):
        raise InputError(f"{encoder} is a Python function, which no file can name; give it again where it is used.")
    if name:
        check_name(name, registry)
    whole = _with_whole_paths(registry, encoder)
    new = KnownEncoder(identity_of(whole.make(), encoder), str(whole), name)
    path = encoders_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes that add encoders at the same time write one after the other.
        with open_plain(path.with_name(f"{path.name}.lock"), make=True) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = known_encoders()
            same = next((each for each in known if each.identity == new.identity), None)
            new = new._replace(name=name or (same.name if same else ""))
            others = [
                each._replace(name="") if name and each.name == name else each
                for each in known
                if each.identity != new.identity
            ]
            _write([*others, new])
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}.") from None
    return new


def forget_encoder(name: str) -> KnownEncoder:
    """Remove an encoder from the user's file, by its name or its hash, and return it. No index changes."""
    path = encoders_path()
    found = [each for each in known_encoders() if name in (each.name, each.identity) and name]
    if not found:
        raise InputError(_no_encoder(name))
    try:
        with open_plain(path.with_name(f"{path.name}.lock"), make=True) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _write([each for each in known_encoders() if each != found[0]])
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}.") from None
    return found[0]


def _write(entries: list[KnownEncoder]) -> None:
    data = json.dumps([entry._asdict() for entry in entries], indent=1).encode() + b"\n"
    replace_file(encoders_path(), data)


def _no_encoder(name: str) -> Message:
    names = [each.name for each in known_encoders() if each.name]
    hint = nearest(name, names)
    return Message(
        f"You have no encoder {name[:60]!r}; {hint}{'T' if hint else 't'}o list yours: ", Step("encoder list")
    )


def _with_whole_paths(registry: Registry, encoder: Component) -> Component:
    """Return an encoder with absolute paths of its folders and files."""
    folders = {param.name for param in encoder.registration.params if param.type is Folder}
    values: dict[str, Any] = {
        name: os.path.realpath(os.path.expanduser(value)) if name in folders and value is not None else value
        for name, value in encoder.values.items()
    }
    return registry.resolve("encoder", Call(encoder.name, (), values))


def named_encoders() -> Mapping[str, str]:
    """Return the expressions of the user's encoders by name."""
    return {each.name: each.expression for each in known_encoders() if each.name}


def with_known_encoders(expression: Expression, registry: Registry) -> Expression:
    """Return an expression in which the names of the user's encoders are replaced by the encoders.

    A name that a component has too means the component.
    """
    named: Mapping[str, str] | None = None

    def meaning(call: Call) -> Expression | None:
        nonlocal named
        if isinstance(call, Component) or call.args or call.params or is_component(call, registry):
            return None
        # The file is read only for an expression with an unknown word.
        named = named_encoders() if named is None else named
        if call.name in named:
            return _free(parse(named[call.name]), registry)
        hint = nearest(call.name, named)
        if hint and not nearest(call.name, registry.names("component")):
            raise UnknownName(Message(f"No component {call.name}; {hint}To list your encoders: ", Step("encoder list")))
        return None

    changed: Expression = rewritten(expression, registry, meaning)
    return changed


def _free(encoder: Expression, registry: Registry) -> Expression:
    """Return an encoder of the user's file.

    While a request is answered whose sender may name no folders, the encoder is resolved here without this limit,
    because the user, and not the sender, named its folder.
    """
    if not isinstance(encoder, Call) or not refused_folder(""):
        return encoder
    with confined(None):
        return registry.resolve("encoder", encoder)


def encoder_of(text: str | Expression, registry: Registry) -> Component:
    """Return the encoder of an expression, such as `onnx("models/bge")`, or the encoder to which the user gave this name."""
    given = parse(text) if isinstance(text, str) else text
    found = with_known_encoders(given, registry)
    if not isinstance(found, Call):
        raise InputError(f'{given} is no encoder; name one, as in onnx("FOLDER").')
    if isinstance(found, Component) and found.kind != "encoder":
        raise InputError(f'{given} is no encoder; name one, as in onnx("FOLDER").')
    return registry.resolve("encoder", found)


def encoder_by_identity(identity: str, registry: Registry) -> tuple[Component, Encoder]:
    """Return the user's encoder with this hash, which an index stores: as a component, and as an object.

    Raise InputError if the user has no such encoder, or if the files of the encoder have changed.
    """
    known = next((each for each in known_encoders() if each.identity == identity), None)
    if known is None:
        raise InputError(
            Message(
                f"You have no encoder with the hash {identity[:16]}; add the one that made the vectors: ",
                Step("encoder add", "NAME", 'onnx("FOLDER")'),
            )
        )
    with confined(None):
        component = encoder_of(known.expression, registry)
        made: Encoder = component.make()
    if identity_of(made, component) != identity:
        raise InputError(
            f"The files of {component} have changed since you added it, so its vectors differ from those of the index; "
            "put the files back, or encode the documents again."
        )
    return component, made
