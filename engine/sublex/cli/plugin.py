"""Commands for plugins: plugin new writes one, plugin test checks one."""

from __future__ import annotations

import keyword
import re
import shlex
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import click

import sublex
from sublex.errors import InputError
from sublex.faces.output import show
from sublex.forms.lines import Shown, line, sentence
from sublex.operations import Context, Needs, operation, option, positional
from sublex.tools.messages import one_line

# The files that `plugin new` copies, with the plugin's name in place of NAME.
TEMPLATE = Path(sublex.__file__).parent / "template"


@operation("plugin new", Needs.NOTHING, faces=("cli",), forms=("table",))
def new(
    context: Context,
    name: Annotated[str, positional()],
    output: Annotated[str, option("-o", "--output", metavar="DIR")] = ".",
) -> Shown:
    """Write a package with a working representation.

    The package has a representation that users can change, its tests and its entry point. NAME becomes the name of the
    package and of the representation.

    Args:
        output: Make the package in this folder.

    Examples:
        sublex plugin new mine
        sublex plugin new mine -o packages
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"A package cannot be called {name!r}; use a to z, digits and _, and begin with a letter.")
    if _is_taken(name):
        raise InputError(f"A package cannot be called {name!r}: Python or Sublex has something of that name.")
    folder = Path(output) / name
    if folder.exists():
        raise InputError(f"{folder} is there already; choose another name or place.")
    try:
        _copy_template(name, folder)
    except OSError as error:
        raise InputError(f"Cannot write {folder}: {error.strerror}; choose another place.") from None
    commands = (
        f"pip install -e {shlex.quote(str(folder))}",
        f"sublex plugin test {name}",
        f"sublex fit INDEX '{name}(r=64)'",
    )
    head = line(f"{folder} is a package that registers {name}. Next:")
    return Shown(lambda: [head, *(line(f"  {command}") for command in commands)])


def _is_taken(name: str) -> bool:
    """Return whether Python or Sublex uses a name already."""
    from sublex.language import plugins

    registry = plugins.load()
    is_registered = any(name in registry.names(kind) for kind in plugins.KINDS)
    return is_registered or keyword.iskeyword(name) or name == "tests" or find_spec(name) is not None


def _copy_template(name: str, folder: Path) -> None:
    for file in sorted(path for path in TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        to = folder / str(file.relative_to(TEMPLATE)).replace("NAME", name)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(file.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")


@operation("plugin test", Needs.NOTHING, faces=("cli",), forms=("table",))
def test(context: Context, expression: Annotated[str, positional("NAME", completes="representation")]) -> Shown:
    """Check a representation on the demo collection.

    The checks are what every representation must hold, such as equal rows for any number of threads.
    NAME is what the plugin registers, with parameters where they matter, as in 'lsi(e=20)'. The exit code is 1 if a check
    fails.

    Examples:
        sublex plugin test "lsi(e=20)"
    """
    from sublex.contracts.fitted import Representation
    from sublex.representations.identity import Namer
    from sublex.testing import CHECKS, Subject

    # An unknown name or a parameter out of range is reported here, before the checks, each of which would report it.
    names = Namer(Path(), None)
    representation = names.make(names.resolve(expression))
    if not isinstance(representation, Representation):
        raise InputError(f"{expression} is not a representation; the checks are for representations.")
    context.prepare()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sublex-") as folder:
        # A representation that cannot be fitted at all is reported here too.
        Subject(expression, Path(folder) / "first").index.representation(expression)
        for number, check in enumerate(CHECKS):
            description = (check.__doc__ or check.__name__).split("\n")[0]
            try:
                check(Subject(expression, Path(folder) / str(number)))
                show(f"ok      {description}")
            except Exception as error:
                failed += 1
                click.echo(f"{click.style('failed', bold=True)}  {one_line(description)}")
                show(f"        {' '.join(str(error).split())}")
    return sentence(f"{len(CHECKS) - failed} of {len(CHECKS)} hold", code=bool(failed))
