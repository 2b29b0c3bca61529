"""Read the values of a study file. A mistake is reported in one sentence, with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from sublex.errors import InputError, SublexError
from sublex.language.parser import parse
from sublex.studies.toml_lines import Toml
from sublex.tools.arguments import shown
from sublex.tools.messages import near_names, nearest, one_line

# The largest number of entries in a table of a study file.
MOST_ENTRIES = 1_000
# The pattern of names of collections, indexes, topics, tables and plots, which become names of files.
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)


class StudyValues:
    """Reads values of a study file. `path` is the place of a value, such as ("systems", "BM25"); errors name its line.

    The methods raise InputError for a value of the wrong type or range.
    """

    def __init__(self, toml: Toml):
        self.toml = toml

    def refuse(self, path: Sequence[str], problem: str) -> NoReturn:
        raise InputError(f"{self.toml.where(path)}: {one_line(problem)}")

    # Values.

    def table(self, value: Any, path: Sequence[str], keys: Sequence[str] = ()) -> dict[str, Any]:
        """Return a table. With `keys`, the table may have only these keys; without `keys`, any name is a key."""
        what = f"[{'.'.join(path)}]" if path else "the study"
        if not isinstance(value, Mapping):
            self.refuse(path, f"{'.'.join(path)} is {shown(value)}, and should be a table, with a line for each name.")
        if len(value) > MOST_ENTRIES:
            self.refuse(path, f"{what} has {len(value):,} entries, and {MOST_ENTRIES:,} is the most.")
        for name in value:
            if not isinstance(name, str):
                self.refuse(path, f"{what} has the key {shown(name)}; give texts as keys.")
            if keys and name not in keys:
                hint = nearest(name, keys)
                self.refuse(
                    (*path, name),
                    f"{what} has no key {name}; {hint}{'T' if hint else 't'}here are: {near_names(name, keys)}.",
                )
        return dict(value)

    def text(self, table: Mapping[str, Any], path: Sequence[str], name: str, default: Any = ...) -> Any:
        """Return the text under a key, or the default."""
        value = table.get(name, default)
        if value is default and default is not ...:
            return value
        if value is ...:
            self.refuse(path, f'[{".".join(path)}] has no {name}; add {name} = "…".')
        if not isinstance(value, str) or not value.strip():
            self.refuse((*path, name), f"{name} is {shown(value)}; give a text.")
        return value

    def choice(self, table: Mapping[str, Any], path: Sequence[str], name: str, choices: Sequence[str]) -> str:
        """Return the text under a key, which must be one of `choices`; the first choice is the default."""
        value = self.text(table, path, name, choices[0])
        if value not in choices:
            self.refuse((*path, name), f"{name} is {shown(value)}; give {', '.join(choices[:-1])} or {choices[-1]}.")
        return str(value)

    def whole(
        self,
        table: Mapping[str, Any],
        path: Sequence[str],
        name: str,
        default: int,
        least: int,
        most: int = (1 << 31) - 1,
    ) -> int:
        """Return the whole number under a key, or the default."""
        value = table.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.refuse((*path, name), f"{name} is {shown(value)}; give a whole number, {least} to {most:,}.")
        return value

    def number(self, value: Any, path: Sequence[str], least: float | None = None) -> float:
        """Return a finite number."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not abs(value) < 1e308 or (least is not None and value < least):
            more = "" if least is None else f", at least {least:g}"
            self.refuse(path, f"{path[-1]} is {shown(value)}; give a number{more}.")
        return float(value)

    def truth(self, table: Mapping[str, Any], path: Sequence[str], name: str) -> bool:
        """Return true or false under a key; false is the default."""
        value = table.get(name, False)
        if not isinstance(value, bool):
            self.refuse((*path, name), f"{name} is {shown(value)}; give true or false.")
        return value

    def texts(self, value: Any, path: Sequence[str]) -> tuple[str, ...]:
        """Return one text, or the texts of a list."""
        given = [value] if isinstance(value, str) else value
        if (
            not isinstance(given, (list, tuple))
            or not given
            or not all(isinstance(e, str) and e.strip() for e in given)
        ):
            self.refuse(path, f"{path[-1]} is {shown(value)}; give a text, or a list of texts.")
        return tuple(given)

    def known(self, value: Any, path: Sequence[str], what: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names in a list; without a list, all known names. Refuse an unknown name, and a name given twice."""
        if value is None:
            return tuple(names)
        given = self.texts(value, path)
        for place, name in enumerate(given):
            if name not in names:
                hint = nearest(name, names)
                there = f"{hint}{'T' if hint else 't'}here are: {near_names(name, names)}"
                self.refuse(path, f"no {what} {name}; {there}.")
            if name in given[:place]:
                self.refuse(path, f"the {what} {name} comes twice; give it once.")
        return given

    def names(self, table: Mapping[str, Any], path: Sequence[str]) -> None:
        """Refuse names that no file can have, and names that differ in case alone, which some disks take for one."""
        for name in table:
            if not NAME.fullmatch(name):
                self.refuse(
                    (*path, name),
                    f"{name!r} cannot be a name here; take letters, digits, _, - and points, a letter first, 64 in all.",
                )
        self.expect_apart(table, path)

    def expect_apart(self, table: Mapping[str, Any], path: Sequence[str]) -> None:
        """Refuse names that differ in case alone."""
        seen: dict[str, str] = {}
        for name in table:
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                self.refuse((*path, name), f"{name} and {other} differ in case alone, and both name files; rename one.")

    def expression(self, value: Any, path: Sequence[str]) -> str:
        """Return the text of an expression. Refuse a text that cannot be parsed."""
        text = self.text({path[-1]: value}, path[:-1], path[-1])
        try:
            parse(text)
        except SublexError as error:
            # The message has a single line, so it cannot show the caret under the mistake.
            reason, caret, _ = str(error).partition(":\n")
            self.refuse(path, f"{reason} of {text[:200]!r}; correct the expression." if caret else str(error))
        return str(text)
