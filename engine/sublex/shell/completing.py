"""Complete the text at the prompt: words of the index, commands, expressions, docnos, models, topics and files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from sublex.errors import SublexError
from sublex.faces.continuations import continuations_of
from sublex.faces.vocabulary import Vocabulary
from sublex.index.spelling import suggestions
from sublex.language.names import built_in
from sublex.language.plugins import Registration
from sublex.operations import Operation
from sublex.representations.stored_models import expressions_of
from sublex.shell.arguments import quoted, split, spoken, typed_docno, word_at_end
from sublex.shell.saved import read_saved
from sublex.shell.session import Session
from sublex.shell.settings import SETTINGS

# OFFERED is the highest number of completions. If more than ENOUGH words begin with the typed text, words with a
# similar spelling are not offered.
OFFERED, ENOUGH = 30, 3
_WORD_AT_END = re.compile(r"[^\s\"'()\[\],=:*+]*\Z")
_LAST_WORD = re.compile(r"\S*\Z")
_FIRST_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s"'])+\s+""")


class Offer(NamedTuple):
    """A completion: its text, the number of typed characters that it replaces, and the help beside it."""

    text: str
    replaces: int
    beside: str = ""


class Completions:
    """Completes lines for a session. The vocabulary is sorted once, by `prepare`, which may run in another thread."""

    def __init__(self, session: Session):
        self.session = session
        self._vocabulary: Vocabulary | None = None
        self._generation, self._lock = -1, Lock()
        self._kinds: dict[str, Callable[[str], Iterable[Offer]]] = {
            "word": self._words, "docno": self._docnos, "expression": self._expressions, "model": self._models,
            "expander": self._expanders, "name": self._names, "fittable": self._fittable,
            "component": self._components, "file": _files, "setting": self._settings, "topic": self._topics,
            "command": self._commands, "column or model": self._columns_and_models, "snapshot": self._snapshots, "saved": self._saved,
        }  # fmt: skip

    def prepare(self) -> None:
        """Sort the vocabulary of the current generation."""
        index = self.session.index
        with self._lock:
            if self._generation != index.generation:
                self._vocabulary, self._generation = Vocabulary(index.snapshot), index.generation

    def complete(self, text: str) -> Iterator[Offer]:
        """Yield the completions of a line. The cursor is at its end."""
        if not text.startswith(":") or text.startswith("::"):
            yield from self._words(text)
            return
        name, blank, rest = text[1:].partition(" ")
        if not blank:
            yield from self._commands(name)
        elif command := self.session.commands.known(name):
            yield from self._arguments(command, rest)

    def _arguments(self, operation: Operation, text: str) -> Iterator[Offer]:
        """Yield the completions for the argument at the end of the line: options after a dash, otherwise values."""
        if re.fullmatch(r"-\S*", text):
            flags = {flag: each.help for each in operation.parameters if not each.hidden for flag in each.flags or ()}
            yield from (Offer(flag, len(text), flags[flag]) for flag in flags if flag.startswith(text))
        rest, wanted = text.removeprefix("-- "), spoken(operation)
        while len(wanted) > 1 and (word := _FIRST_WORD.match(rest)):
            rest, wanted = rest[word.end() :], wanted[1:]
        offers = self._kinds.get(wanted[0].completes) if wanted else None
        for offer in offers(rest) if offers else ():
            # A first argument that begins with a dash would be read as an option.
            dashes = "-- " * (offer.text.startswith("-") and offer.replaces == len(text))
            yield offer._replace(text=dashes + offer.text)

    def _words(self, text: str) -> Iterator[Offer]:
        word = _WORD_AT_END.search(text)[0]  # type: ignore[index]
        if not word or self._vocabulary is None:
            return
        if self.session.settings.language == "query" and text[: -len(word)][-1:] != ":":
            for field in self.session.index.snapshot.fields:
                if field.startswith(word):
                    yield Offer(f"{field}:", len(word), "field")
        words = self._vocabulary.beginning(word, OFFERED)
        for found in words:
            if found.written != word:
                yield Offer(found.written, len(word), f"{found.df:,}")
        alike = [] if len(words) > ENOUGH else self._vocabulary.spelt_alike(word, OFFERED)
        for found in alike:
            if found not in words:
                yield Offer(found.written, len(word), f"{found.df:,}, spelt alike")
        if not words and not alike:
            for near in suggestions(self.session.index.snapshot, word).values():
                yield Offer(near.surface, len(word), f"{near.df:,}, spelt alike")

    def _commands(self, name: str) -> Iterator[Offer]:
        summaries = {command.shell: command.summary for command in self.session.commands}
        for found in fuzzy(name.lower(), summaries):
            yield Offer(found, len(name), summaries[found].rstrip("."))

    def _docnos(self, text: str) -> Iterator[Offer]:
        """Yield the ranks of the last hits, and the docnos that begin with the last word."""
        (word, typed), index = word_at_end(text), self.session.opened
        if index is None:
            return
        hits = self.session.answer.hits if self.session.answer else None
        for number in range(1, min(OFFERED, len(hits) if hits else 0) + 1):
            if hits and str(number).startswith(word):
                yield Offer(str(number), typed, hits.snapshot.docno(int(hits.docs[number - 1])))
        if word:
            for docno in docnos_beginning(index.snapshot, word.removeprefix("="), OFFERED):
                yield Offer(quoted(typed_docno(docno)), typed)

    def _expressions(self, text: str) -> Iterator[Offer]:
        """Yield components, parameters and values for the end of an expression, and the fitted models."""
        index = self.session.index
        typed, offers = continuations_of(text, index.registry, index.snapshot.columns)
        helps = dict(offers)
        if "raw" in helps:
            # A fitted model and a name may stand in any place for a component.
            helps |= dict.fromkeys(self._fitted(), "fitted") | built_in(index.names) | self._meanings()
        for found in fuzzy(typed, helps):
            yield Offer(found, len(typed), helps[found])

    def _expanders(self, text: str) -> Iterator[Offer]:
        yield from self._that_are(text, lambda component: component.kind == "expander")

    def _fittable(self, text: str) -> Iterator[Offer]:
        yield from self._that_are(
            text, lambda c: c.kind == "representation" or any(param.stage != "query" for param in c.params)
        )
        there = {} if "(" in text else built_in(self.session.index.names)
        yield from (Offer(name, len(text), there[name]) for name in fuzzy(text, there))

    def _that_are(self, text: str, wanted: Callable[[Registration], bool]) -> Iterator[Offer]:
        """Yield the wanted components, and the fitted models of these components.

        Within parentheses, yield all completions.
        """
        registry = self.session.index.registry
        names = {name for name in registry.names("component") if wanted(registry.find("component", name))}
        names |= {name for name, text in self._meanings().items() if text.partition("(")[0] in names}
        for offer in self._expressions(text):
            if "(" in text or offer.text.partition("(")[0] in names:
                yield offer

    def _models(self, text: str) -> Iterator[Offer]:
        return _last_of(text, {**self._meanings(), **dict.fromkeys(self._fitted(), "")})

    def _columns_and_models(self, text: str) -> Iterator[Offer]:
        columns = {name: f"column ({kind})" for name, kind in self.session.index.snapshot.columns.items()}
        return _last_of(text, {**columns, **self._meanings(), **dict.fromkeys(self._fitted(), "")})

    def _meanings(self) -> dict[str, str]:
        """Return the expressions behind the names of the index. A name that cannot be used is left out."""
        index, found = self.session.index, dict[str, str]()
        for name in index.names:
            with suppress(SublexError):
                found[name] = str(index.written_out(name))
        return found

    def _fitted(self) -> list[str]:
        return [expression for entry in self.session.index.fitted.values() for expression in expressions_of(entry)]

    def _names(self, text: str) -> Iterator[Offer]:
        names = self.session.index.names
        yield from (Offer(name, len(text), names[name]) for name in fuzzy(text, names))

    def _components(self, text: str) -> Iterator[Offer]:
        registry = self.session.index.registry
        names = [(name, kind) for kind in ("component", "analyzer", "reader") for name in registry.names(kind)]
        kinds = dict(reversed(names))
        yield from (Offer(name, len(text), kinds[name]) for name in fuzzy(text, kinds))

    def _settings(self, text: str) -> Iterator[Offer]:
        word = _LAST_WORD.search(text)[0]  # type: ignore[index]
        component, dot, parameter = word.rpartition(".")
        if dot:
            registry = self.session.index.registry
            known = {name.casefold(): name for name in registry.names("component")}
            if component.casefold() in known:
                params = {p.name: p.help for p in registry.find("component", known[component.casefold()]).params}
                for name in fuzzy(parameter, params):
                    yield Offer(f"{name}=", len(parameter), params[name])
            return
        yield from (Offer(f"{name}=", len(word)) for name in fuzzy(word, SETTINGS))

    def _topics(self, text: str) -> Iterator[Offer]:
        for topic in self.session.topics or ():
            if topic.qid.startswith(text):
                yield Offer(topic.qid, len(text), topic.text)

    def _snapshots(self, text: str) -> Iterator[Offer]:
        word, typed = word_at_end(text)
        yield from (Offer(quoted(name), typed) for name in fuzzy(word, self.session.snapshots))

    def _saved(self, text: str) -> Iterator[Offer]:
        (word, typed), saved = word_at_end(text), read_saved()
        yield from (Offer(quoted(name), typed, saved[name].query) for name in fuzzy(word, saved))


def _last_of(text: str, helps: Mapping[str, str]) -> Iterator[Offer]:
    """Yield the completions of the last of several names.

    Blanks within the brackets of an expression do not separate names.
    """
    words, _ = split(text, None, True)
    typed = words[-1] if words and not (text.endswith(" ") and quoted(words[-1], True) == words[-1]) else ""
    yield from (Offer(found, len(typed), helps[found]) for found in fuzzy(typed, helps))


def fuzzy(typed: str, names: Iterable[str]) -> list[str]:
    """Return the names that contain the typed letters in order, in any case. Names that begin with the letters come first."""
    letters = typed.casefold()
    pattern = re.compile(".*?".join(map(re.escape, letters)))
    found = []
    for place, name in enumerate(names):
        match = pattern.search(name.casefold())
        if match:
            found.append((not name.casefold().startswith(letters), match.end() - match.start(), place, name))
    return [name for *_, name in sorted(found)]


def docnos_beginning(snapshot: object, prefix: str, number: int) -> Iterator[str]:
    """Yield the first docnos of live documents that begin with a prefix, in ascending order. Bisection finds them."""
    wanted = prefix.encode("utf-8", "surrogatepass")
    for segment in snapshot.segments:  # type: ignore[attr-defined]
        order, strings = segment.docno_order, segment.docnos
        place = strings.bisect(wanted, order)
        left = number
        while left and place < len(order) and strings[doc := int(order[place])].startswith(wanted):
            if not segment.dead[doc]:
                yield strings.text(doc)
                left -= 1
            place += 1


def _files(text: str) -> Iterator[Offer]:
    """Yield the files and folders that begin with the last word."""
    word, typed = word_at_end(text)
    folder, name = os.path.split(word)
    try:
        entries = sorted(Path(os.path.expanduser(folder) or ".").iterdir())
    except OSError:
        return
    for entry in entries[: 100 * OFFERED]:
        if entry.name.startswith(name) and (name or not entry.name.startswith(".")):
            path = os.path.join(folder, entry.name) + "/" * entry.is_dir()
            if quoted(path) == path and typed == len(word):
                yield Offer(path[len(word) - len(name) :], len(name))
            else:
                # Quotes are put around the whole path. After a folder, the user goes on typing, so the last quote is
                # left out.
                yield Offer(quoted(path)[: -1 if entry.is_dir() else None], typed)
