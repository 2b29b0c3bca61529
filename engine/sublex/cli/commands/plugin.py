"""Commands for plugins: plugin new writes one, plugin test checks one."""

from __future__ import annotations

import keyword
import re
import shlex
import tempfile
from importlib.util import find_spec
from pathlib import Path

import click

import sublex
from sublex.cli import completion
from sublex.cli.options import examples
from sublex.errors import InputError
from sublex.faces.compiling import say_if_compiling
from sublex.faces.output import print_help, show
from sublex.tools.messages import one_line

# The files that `plugin new` copies, with the plugin's name in place of NAME.
TEMPLATE = Path(sublex.__file__).parent / "template"


@click.group(
    invoke_without_command=True,
    epilog=examples("sublex plugin new mine", "pip install -e ./mine", "sublex plugin test mine"),
)
@click.pass_context
def plugin(context: click.Context) -> None:
    """Write a plugin, or test one."""
    print_help(context)


@plugin.command(epilog=examples("sublex plugin new mine", "sublex plugin new mine -o packages"))
@click.argument("name")
@click.option("-o", "--output", default=".", show_default=True, metavar="DIR", help="Make the package in this folder.")
def new(name: str, output: str) -> None:
    """Write a package with a working representation.

    The package has a representation that users can change, its tests and its entry point. NAME becomes the name of the
    package and of the representation.
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
    show(f"{folder} is a package that registers {name}. Next:")
    for command in (
        f"pip install -e {shlex.quote(str(folder))}",
        f"sublex plugin test {name}",
        f"sublex fit INDEX '{name}(r=64)'",
    ):
        show(f"  {command}")


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


@plugin.command(epilog=examples('sublex plugin test "lsi(e=20)"'))
@click.argument("expression", metavar="NAME", shell_complete=completion.named("representation"))
@click.pass_context
def test(context: click.Context, expression: str) -> None:
    """Check a representation on the demo collection.

    The checks are what every representation must hold, such as equal rows for any number of threads.
    NAME is what the plugin registers, with parameters where they matter, as in 'lsi(e=20)'. The exit code is 1 if a check
    fails.
    """
    from sublex.contracts.fitted import Representation
    from sublex.representations.stored_models import namer
    from sublex.testing import CHECKS, Subject

    # An unknown name or a parameter out of range is reported here, before the checks, each of which would report it.
    names = namer(Path(), {})
    representation = names.make(names.resolve(expression))
    if not isinstance(representation, Representation):
        raise InputError(f"{expression} is not a representation; the checks are for representations.")
    say_if_compiling()
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
    click.echo(f"{len(CHECKS) - failed} of {len(CHECKS)} hold")
    if failed:
        context.exit(1)
