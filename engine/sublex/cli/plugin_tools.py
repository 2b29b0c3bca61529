"""Commands about plugins."""

from __future__ import annotations

import keyword
import re
import shlex
import tempfile
from importlib.util import find_spec
from pathlib import Path

import click

from sublex.cli.output import format_option, say_if_compiling, show_help, show_json, table
from sublex.errors import InputError


@click.command()
@format_option("table", "json")
def plugins(form: str) -> None:
    """List plugins: what each registers, or why it failed."""
    from sublex import plugins

    found = plugins.load().plugins
    if form == "json":
        records = [
            {
                "name": p.name,
                "module": p.module,
                "distribution": p.distribution,
                "version": p.version,
                "api": p.api,
                "hooks": p.hooks,
                "registers": [f"{r.kind} {r.name}" for r in p.registered],
                "error": p.error,
            }
            for p in found
        ]
        show_json(records)
        return
    table(
        [
            (
                p.name,
                f"{p.distribution} {p.version}".strip(),
                str(p.api or ""),
                (p.error and f"failed: {p.error}") or _registers(p),
            )
            for p in found
        ],
        ("plugin", "from", "API", "registers"),
    )


def _registers(plugin) -> str:
    kinds: dict[str, list[str]] = {}
    for registration in plugin.registered:
        kinds.setdefault(registration.kind, []).append(registration.name)
    return "; ".join(f"{kind}s {', '.join(names)}" for kind, names in kinds.items()) or ", ".join(plugin.hooks)


@click.group(invoke_without_command=True)
@click.pass_context
def plugin(context: click.Context) -> None:
    """Write a plugin of your own (new), or test one (test)."""
    show_help(context)


@plugin.command()
@click.argument("name")
@click.option("-o", "--output", default=".", show_default=True, metavar="DIR", help="Where its folder is made.")
def new(name: str, output: str) -> None:
    """Write a working package with a representation, its tests and its entry point."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(f"A package cannot be called {name!r}: take a to z, digits and _, a letter first.")
    if _is_taken(name):
        raise InputError(f"A package cannot be called {name!r}: Python or Sublex has something of that name.")
    place = Path(output) / name
    if place.exists():
        raise InputError(f"{place} is there already; choose another name or place.")
    template = Path(__file__).parents[1] / "template"
    try:
        for file in sorted(path for path in template.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            to = place / str(file.relative_to(template)).replace("NAME", name)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(file.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {place}: {error.strerror}; choose another place.") from None
    click.echo(f"{place} is a package that registers {name}. Next:")
    for command in (
        f"pip install -e {shlex.quote(str(place))}",
        f"sublex plugin test {name}",
        f"sublex fit INDEX '{name}(r=64)'",
    ):
        click.echo(f"  {command}")


def _is_taken(name: str) -> bool:
    """Whether Python or Sublex have something else by this name."""
    from sublex import plugins

    registry = plugins.load()
    known = any(name in registry.names(kind) for kind in plugins.KINDS)
    return known or keyword.iskeyword(name) or name == "tests" or find_spec(name) is not None


@plugin.command()
@click.argument("expression", metavar="NAME")
@click.pass_context
def test(context: click.Context, expression: str) -> None:
    """Check what every representation must hold, on the demo collection.

    NAME is what the plugin registers, with parameters where they matter, as in 'lsi(e=20)'.
    """
    from sublex.fitted import Representation
    from sublex.representations.stored_models import namer
    from sublex.testing import CHECKS, Subject

    # A name that is none, or a parameter out of its range, is said once.
    names = namer(Path(), {})
    made = names.make(names.resolve(expression))
    if not isinstance(made, Representation):
        raise InputError(f"{expression} is no representation; what is checked here is what these must hold.")
    say_if_compiling()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sublex-") as folder:
        # So is what cannot be fitted at all.
        Subject(expression, Path(folder) / "first").index.representation(expression)
        for number, check in enumerate(CHECKS):
            said = (check.__doc__ or check.__name__).split("\n")[0]
            try:
                check(Subject(expression, Path(folder) / str(number)))
                click.echo(f"ok      {said}")
            except Exception as error:
                failed += 1
                click.echo(f"{click.style('failed', bold=True)}  {said}\n        {' '.join(str(error).split())}")
    click.echo(f"{len(CHECKS) - failed} of {len(CHECKS)} hold")
    if failed:
        context.exit(1)
