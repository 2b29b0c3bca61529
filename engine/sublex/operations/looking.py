"""Operations that show parts of an index or of Sublex: documents, terms, analysis, indexes, components, plugins."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sublex.contracts.operators import NAME
from sublex.errors import InputError, SublexError
from sublex.forms.lines import Shown, table_lines
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, option, positional
from sublex.operations.parameters import Docno, Language

if TYPE_CHECKING:
    from sublex.language.plugins import Plugin, Registry


@operation(shell="overview", python="index.statistics")
def info(context: OperationContext, terms: Annotated[int, option(least=0)] = 10) -> Shown:
    """Describe an index: counts, analyzer, models, sizes, frequent terms.

    Args:
        terms: Number of the most frequent terms to show.

    Examples:
        sublex info demo
        sublex info demo --terms 20
    """
    from sublex.display.overview import overview

    return overview(context.index, terms)


@operation(python="index.document({docno})")
def doc(context: OperationContext, docno: Docno) -> Shown:
    """Show a stored document.

    The index must store texts, which it does unless it was built with another --store.

    Examples:
        sublex doc demo birds-05
    """
    from sublex.display.document import document

    return document(context.index, docno)


@operation(forms=("table", "json", "csv"), python="index.terms({pattern})", prints="rows")
def terms(
    context: OperationContext,
    pattern: Annotated[str, positional("PATTERN", completes="word")] = "*",
    number: Annotated[int, option("-n", least=0)] = 50,
) -> Shown:
    """List the terms of an index that match PATTERN.

    Each term comes with its document frequency (df), its collection frequency (cf) and the form in which documents mostly
    write it. PATTERN is matched against terms as the analyzer makes them, in lower case: * stands for any characters, ? for
    one character, [ab] for a or b.

    Args:
        number: Maximum number of terms; 0 for all.

    Examples:
        sublex terms demo 'crane*'
        sublex terms demo -n 5
    """
    from sublex.display.terms import terms as shown

    return shown(context.index, pattern, number or None)


def term_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `term`, which shows the statistics of words."""
    text = given["text"]
    # A word with a field, such as title:cell, is analysed by the index.
    return f"index.term({text!r})" if re.match(rf"{NAME}:\S", text) else f"index.term(index.analyze({text!r})[0])"


@operation(faces=("shell", "service"), forms=("table", "json", "csv"), python=term_code)
def term(context: OperationContext, text: Annotated[str, positional("WORD...", completes="word")]) -> Shown:
    """Show the document frequency and the collection frequency of words, as you write them."""
    from sublex.display.terms import analyzed_terms, words

    shown, analyzed = words(context.index, text), analyzed_terms(context.index, text)
    if len(analyzed) == 1:
        shown.step = terms.step({"pattern": str(analyzed[0])}, context.path)
    return shown


def analyze_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `analyze`, which shows how a text becomes terms."""
    text = repr(given["text"])
    return f"index.analyze({text})" if given["language"] == "plain" else f"index.query({text}, language='query')"


@operation(needs=Needs.MAYBE_INDEX, python=analyze_code)
def analyze(
    context: OperationContext,
    text: Annotated[str, positional("TEXT", completes="word")],
    analyzer: Annotated[str | None, option(completes="analyzer", shown="english")] = None,
    language: Language = "plain",
) -> Shown:
    """Show how an analyzer turns TEXT into terms, stage by stage.

    With INDEX, the analyzer is that of the index. With --language query, show how TEXT is read in the query language: the
    terms and operators with their weights, and the condition that documents meet.

    Args:
        analyzer: Use this analyzer, such as 'plain(stem=porter2)' or german.

    Examples:
        sublex analyze "The cranes' nests" --analyzer "english(stem=porter2)"
        sublex analyze demo "cranes by the river"
        sublex analyze demo '+crane "by the river" -bird' --language query
    """
    from sublex.display.analysis import analysis, reading
    from sublex.language.parser import parse_call

    context.prepare("analyze")
    if context.names_index and analyzer:
        raise InputError("Name an index or --analyzer, not both.")
    if context.has_index and analyzer is None:
        snapshot = context.index.snapshot
        if language == "query":
            return reading(text, snapshot.analyzer, snapshot.analyzer_expression, snapshot)
        return analysis(text, snapshot.analyzer, snapshot.analyzer_expression)
    registry, call = context.registry, parse_call("english" if analyzer is None else analyzer, unnamed=True)
    chosen = registry.resolve("analyzer", call).make()
    printed = registry.print_of("analyzer", chosen, call.name, registry.by_name("analyzer", call))
    return reading(text, chosen, printed) if language == "query" else analysis(text, chosen, printed)


@operation(needs=Needs.NOTHING)
def components(
    context: OperationContext, name: Annotated[str | None, positional("NAME", completes="component")] = None
) -> Shown:
    """List what expressions are made of, or describe one component.

    These are the rankers, expanders, representations, filters and normalisers. The list has the parameters of each with
    their defaults and ranges, and the literature. NAME may also be an analyzer or a reader.

    Examples:
        sublex components
        sublex components BM25
        sublex components --format json
    """
    from sublex.display import components as display

    registry = context.registry
    return display.components(registry) if name is None else display.component(registry, name)


@operation(needs=Needs.NOTHING, faces=("cli",))
def backends(context: OperationContext) -> Shown:
    """List the engines whose indexes can be attached.

    For an engine of which a part is missing, the list has the command that installs it.

    Examples:
        sublex backends
    """
    from sublex.other_engines.backends import backends

    rows = backends(context.registry)
    cells = [(row.name, row.plugin, row.missing or "ready", row.about) for row in rows]
    head = ("back end", "plugin", "state", "")
    return Shown(lambda: table_lines(cells, head), lambda: [row._asdict() for row in rows])


@operation(needs=Needs.NOTHING, faces=("cli",))
def plugins(context: OperationContext) -> Shown:
    """List the installed plugins and what each registers.

    For a plugin that failed, the list has the reason. The built-in readers, analyzers, rankers and expanders are plugins
    too. If SUBLEX_PLUGINS is set, as in SUBLEX_PLUGINS=lsi,fisher, only these plugins are loaded besides the built-in ones.

    Examples:
        sublex plugins
    """
    found = context.registry.plugins
    rows = [
        (
            plugin.name,
            f"{plugin.distribution} {plugin.version}".strip(),
            str(plugin.api or ""),
            f"failed: {plugin.error}" if plugin.error else _registered(plugin),
        )
        for plugin in found
    ]
    head = ("plugin", "from", "API", "registers")
    return Shown(lambda: table_lines(rows, head), lambda: [_as_json(plugin) for plugin in found])


def _as_json(plugin: Plugin) -> dict[str, object]:
    return {
        "name": plugin.name,
        "module": plugin.module,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "api": plugin.api,
        "hooks": plugin.hooks,
        "registers": [f"{registration.kind} {registration.name}" for registration in plugin.registered],
        "error": plugin.error,
    }


def _registered(plugin: Plugin) -> str:
    """Return the names that a plugin registers, by kind. If it registers none, return the names of its hooks."""
    kinds: dict[str, list[str]] = {}
    for registration in plugin.registered:
        kinds.setdefault(registration.kind, []).append(registration.name)
    return "; ".join(f"{kind}s {', '.join(names)}" for kind, names in kinds.items()) or ", ".join(plugin.hooks)


@operation(needs=Needs.NOTHING, faces=("cli",))
def indexes(context: OperationContext) -> Shown:
    """List the indexes that a bare name finds.

    They are in the index home and in the working directory. Each comes with its documents, its size on disk, its
    analyzer, its fitted models and the time of its last change.

    Examples:
        sublex indexes
        sublex indexes --format json
    """
    from sublex.index.lookup import index_home, known_indexes

    facts, notes = [], []
    for path in known_indexes():
        try:
            facts.append(_facts(path, context.registry))
        except SublexError as error:
            notes.append(str(error))
    if not facts:
        notes.append(f"No index in {index_home()}; make one by: sublex index NAME FILE…")
    rows = [
        (each["name"], each["documents"], each["bytes"], each["analyzer"], ", ".join(each["fitted"]) or "nothing", each["changed"])
        for each in facts
    ]  # fmt: skip
    head, right = (
        ("index", "documents", "bytes", "analyzer", "fitted", "changed"),
        [False, True, True, False, False, False],
    )
    return Shown(lambda: table_lines(rows, head, right) if rows else [], lambda: facts, notes=notes)


def _facts(path: Path, registry: Registry) -> dict[str, Any]:
    """Return the facts of one index. Only the manifest of the index is read."""
    from sublex.index.manifest import MANIFEST, read_manifest
    from sublex.language.expression import Call
    from sublex.representations.stored_models import expressions_of

    manifest = read_manifest(path)
    settings = manifest.analyzer.settings
    try:
        analyzer = str(registry.resolve("analyzer", Call(settings.name, (), settings.params)))
    except SublexError:
        # The plugin of the analyzer is no longer installed.
        analyzer = settings.name
    return {
        "name": path.name,
        "path": str(path),
        "documents": manifest.statistics.docs,
        "bytes": _size(path),
        "analyzer": analyzer,
        "fitted": [e for entry in manifest.fitted.values() for e in expressions_of(entry)],
        "changed": datetime.fromtimestamp((path / MANIFEST).stat().st_mtime).isoformat(" ", "minutes"),
    }


def _size(folder: Path) -> int:
    """Return the bytes of all files below a folder. Files that disappear meanwhile do not count."""
    size = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                size += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue
    return size
