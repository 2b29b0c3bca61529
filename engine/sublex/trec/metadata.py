"""Run metadata in the form of ir_metadata (https://www.ir-metadata.org).

It is YAML at the beginning of a run file, or in a file next to it.

This module turns metadata into YAML and back. It reads the YAML that people and tools write for runs. Values have the
types of YAML 1.2, so `no`, `1:20` and dates are text. A run may come from a stranger. So the reader limits the length
and the nesting of a text, and refuses tags and aliases. It creates only dictionaries, lists, strings, numbers, booleans
and None.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import yaml

# The keys under which the metadata of Sublex's runs have the fingerprint of the index.
FINGERPRINT = ("data", "index", "fingerprint")
EXPRESSION = ("method", "expression")
START, END = "# ir_metadata.start", "# ir_metadata.end"
# The largest number of characters of metadata. PyYAML takes seconds for a longer text.
LONGEST = 1 << 18
# The deepest nesting of metadata.
DEEPEST = 50

# Words that YAML 1.1 or 1.2 does not read as strings, in upper or lower case.
RESERVED = {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "~", ""}
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
# Strings written without quotes. Every version of YAML reads them as strings, unless they are reserved.
_UNQUOTED = re.compile(r"[A-Za-z_][\w()./+,;=-]*(?: [\w()./+,;=-]+)*", re.ASCII)
# Characters that quotes of YAML would escape.
_ESCAPED = re.compile(r'["\\]')
# Python refuses whole numbers of several thousand digits.
_WHOLE = re.compile(r"[+-]?[0-9]{1,300}", re.ASCII)
_FRACTION = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}


def sidecar_path(run: str | os.PathLike[str]) -> str:
    """Return the path of the metadata file that stands next to a run: `bm25.run.yaml` for `bm25.run`."""
    return f"{os.fspath(run)}.yaml"


def value_at(metadata: Any, keys: Sequence[str]) -> Any:
    """Return the value under nested keys, or None."""
    for key in keys:
        metadata = metadata.get(key) if isinstance(metadata, Mapping) else None
    return metadata


def to_comments(metadata: Mapping[str, Any]) -> str:
    """Return metadata as YAML in comment lines, which a run file can begin with."""
    lines = "".join(f"# {line}\n" for line in to_yaml(metadata).splitlines())
    return f"{START}\n{lines}{END}\n"


def yaml_in_comments(lines: Iterable[str]) -> str | None:
    """Return the YAML text in a run's comment lines, or None if these hold no metadata."""
    text: list[str] | None = None
    for line in lines:
        if line == START:
            text = []
        elif line == END:
            break
        elif text is not None:
            text.append(line.removeprefix("#").removeprefix(" "))
    return None if text is None else "\n".join(text)


def to_yaml(metadata: Mapping[str, Any]) -> str:
    """Return metadata as block-style YAML with its keys in their order; YAML 1.1 and 1.2 readers see the same values."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            # Indents lists below their key, as ir_metadata's examples do.
            super().increase_indent(flow, False)

    def string(dumper: Dumper, text: str) -> yaml.Node:
        unquoted = _UNQUOTED.fullmatch(text) and text.lower() not in RESERVED
        # A text with quotes, such as a command, gets a block of its own. It needs no escapes there, so people can copy
        # it.
        style = None if unquoted else "|" if _ESCAPED.search(text) and text.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, string)
    return yaml.dump(
        _plain(metadata), Dumper=Dumper, default_flow_style=False, sort_keys=False, allow_unicode=True, width=math.inf
    )


def _plain(value: Any) -> Any:
    """Return a copy with only the types of YAML. Keys and objects of other types become strings."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool):
        return value
    return next((kind(value) for kind in (int, float) if isinstance(value, kind)), str(value))


def from_yaml(text: str) -> dict[str, Any]:
    """Return the metadata in a YAML text. Raise ValueError, with the line, for text that cannot be read."""
    import yaml

    if len(text) > LONGEST:
        raise ValueError(f"line 1: the text is longer than {LONGEST:,} characters")
    try:
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        return _document(e for e in events if isinstance(e, (yaml.NodeEvent, yaml.CollectionEndEvent)))
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"line {error.problem_mark.line + 1}: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(f"line {line}: YAML allows no character U+{error.character:04X}") from None
    except OverflowError:
        raise ValueError("an escaped character is out of Unicode's range") from None


def _document(events: Iterator[yaml.Event]) -> dict[str, Any]:
    first = next(events, None)
    value = None if first is None else _value(first, events, 0)
    if value is not None and not isinstance(value, dict):
        raise ValueError("line 1: the metadata are not a mapping")
    for event in events:
        _refuse(event, "a second document begins; metadata are one document")
    return value or {}


def _value(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Any:
    """Return the value that begins with `event`. Take the other events of the value from `events`."""
    import yaml

    if isinstance(event, yaml.AliasEvent):
        _refuse(event, f"the alias *{event.anchor} is not read; repeat the value")
    if event.tag is not None:
        _refuse(event, f"the tag {event.tag[:50]} is not read")
    if depth > DEEPEST:
        _refuse(event, f"nested more than {DEEPEST} levels deep")
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event.value) if event.implicit[0] else _joined(event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_value(item, events, depth + 1))
        return items
    mapping: dict[str, Any] = {}
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        if not isinstance(key, yaml.ScalarEvent) or key.tag is not None:
            _refuse(key, "a key is not plain text")
        name = _joined(key.value)
        if name in mapping:
            _refuse(key, f"the key {name} occurs twice")
        mapping[name] = _value(next(events), events, depth + 1)
    return mapping


def _refuse(event: yaml.Event, reason: str) -> NoReturn:
    raise ValueError(f"line {event.start_mark.line + 1}: {reason}")


def _scalar(text: str) -> Any:
    """Return the value of a scalar written without quotes."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if text in _SPECIAL:
        return _SPECIAL[text]
    return int(text) if _WHOLE.fullmatch(text) else float(text) if _FRACTION.fullmatch(text) else text


def _joined(text: str) -> str:
    """Join surrogate pairs. JSON writes them as two escapes, which PyYAML reads as two characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
