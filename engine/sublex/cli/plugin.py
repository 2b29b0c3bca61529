"""Commands for plugins: `plugin new` writes a plugin, and `plugin test` checks a plugin."""

from __future__ import annotations

import keyword
import re
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from unittest import SkipTest

import click

import sublex
from sublex.errors import InputError, SublexError
from sublex.faces.output import show
from sublex.forms.lines import Shown, line, sentence
from sublex.operations import Needs, OperationContext, operation, option, positional
from sublex.tools.messages import in_short, one_line, shell_word

if TYPE_CHECKING:
    from sublex.testing import Check

# The files that `plugin new` copies. `package` has the files of every package, and a folder with the name of a kind has
# the files of this kind. NAME, KIND and USES stand for the name of the plugin, its kind, and the commands that use it.
TEMPLATE = Path(sublex.__file__).parent / "template"
USES = {
    "ranker": ("sublex search INDEX 'a query' -r 'NAME(s=0.4)'",),
    "filter": ("sublex search INDEX 'a query' -r 'BM25 >> NAME(first=2018)'",),
    "expander": ("sublex search INDEX 'a query' -r 'BM25 >> NAME(terms=5) >> BM25'",),
    "reader": ("sublex index INDEX FILE --reader NAME",),
    "representation": (
        "sublex fit INDEX 'NAME(r=64)'",
        "sublex search INDEX 'a query' -r 'BM25 >> NAME(r=64)'",
    ),
}


@operation("plugin new", Needs.NOTHING, faces=("cli",), forms=("table",))
def new(
    context: OperationContext,
    name: Annotated[str, positional()],
    kind: Annotated[
        Literal["ranker", "filter", "expander", "reader", "representation"], option("--kind")
    ] = "representation",
    output: Annotated[str, option("-o", "--output", metavar="DIR")] = ".",
) -> Shown:
    """Write a package with a working component.

    The package has a component that users can change, its tests and its entry point. NAME becomes the name of the
    package and of the component.

    Args:
        kind: What the package registers.
        output: Make the package in this folder.

    Examples:
        sublex plugin new mine
        sublex plugin new mine --kind ranker -o packages
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"A package cannot be called {name!r}; use a to z, digits and _, and begin with a letter.")
    if _is_taken(name):
        raise InputError(f"A package cannot be called {name!r}: Python or Sublex has something of that name.")
    folder = Path(output) / name
    if folder.exists():
        raise InputError(f"{folder} is there already; choose another name or place.")
    try:
        _copy_template(name, kind, folder)
    except OSError as error:
        raise InputError(f"Cannot write {folder}: {error.strerror}; choose another place.") from None
    commands = (f"pip install -e {shell_word(str(folder))}", f"sublex plugin test {name}", *_uses(name, kind))
    head = line(f"{folder} is a package that registers the {kind} {name}. Next:")
    return Shown(lambda: [head, *(line(f"  {command}") for command in commands)])


def _is_taken(name: str) -> bool:
    """Return whether Python or Sublex already uses a name."""
    from sublex.language import plugins

    registry = plugins.load()
    is_registered = any(name in registry.names(kind) for kind in plugins.KINDS)
    return is_registered or keyword.iskeyword(name) or name == "tests" or find_spec(name) is not None


def _uses(name: str, kind: str) -> list[str]:
    """Return the commands that use the component of a new package."""
    return [use.replace("NAME", name) for use in USES[kind]]


def _copy_template(name: str, kind: str, folder: Path) -> None:
    """Write the files of all packages, and the files of one kind of plugin."""
    words = {"NAME": name, "KIND": kind, "USES": "\n".join(_uses(name, kind))}
    for root in (TEMPLATE / "package", TEMPLATE / kind):
        for file in sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            if root.name == "package":
                to = folder / str(file.relative_to(root)).replace("NAME", name)
            else:
                to = folder / ("tests" if file.name.startswith("test_") else name) / file.name
            to.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8")
            to.write_text(re.sub("|".join(words), lambda word: words[word[0]], text), encoding="utf-8")


@operation("plugin test", Needs.NOTHING, faces=("cli",), forms=("table",))
def test(
    context: OperationContext, names: Annotated[tuple[str, ...], positional("NAME", completes="component")]
) -> Shown:
    """Check what a plugin registers, on the demo collection.

    NAME is a plugin, for all that it registers, or a component with parameters where they matter, as in 'lsi(e=20)'. Rankers,
    filters, expanders, readers, analyzers, representations and operations each have their checks, such as finite scores, or
    equal rows for any number of threads. The exit code is 1 if a check fails.

    Examples:
        sublex plugin test "lsi(e=20)"
        sublex plugin test lda 'topic("0", of=lda(k=5))'
    """
    from sublex.testing import checks

    # An unknown name or a value out of range is reported here, before the checks.
    chosen = checks(*names)
    context.prepare()
    results: Counter[str] = Counter()
    thing = broken = ""
    with tempfile.TemporaryDirectory(prefix="sublex-") as folder:
        for number, check in enumerate(chosen):
            if check.thing != thing:
                thing = check.thing
                click.echo(click.style(one_line(thing), bold=True))
            if check.thing == broken:
                continue
            result, finding = _result(check, Path(folder) / str(number))
            results[result] += 1
            click.echo(click.style(f"{result:<8}", bold=result == "failed") + one_line(check.description))
            if finding:
                show(f"        {' '.join(finding.split())}")
            if result == "failed" and check.is_needed:
                broken = thing
    made = results["ok"] + results["failed"]
    skipped = f"; {results['skipped']} skipped" * bool(results["skipped"])
    return sentence(f"{results['ok']} of {made} hold{skipped}", code=bool(results["failed"]))


def _result(check: Check, folder: Path) -> tuple[str, str]:
    """Return "ok", "skipped" or "failed" for a check, and a sentence with the reason."""
    try:
        check(folder)
    except SkipTest as reason:
        return "skipped", str(reason)
    except (AssertionError, SublexError) as error:
        return "failed", str(error)
    except (Exception, SystemExit) as error:
        return "failed", in_short(error)
    return "ok", ""
