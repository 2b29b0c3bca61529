"""The command line: one file a group of commands. Only here, in the shell and on the web page is anything printed."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import re
import sys
from importlib import import_module
from typing import Any

import click

from sublex import __version__
from sublex.errors import SublexError
from sublex.messages import nearest

# Where each command lives, and under which name if not its own; imported when it is asked for.
COMMANDS = {
    "index": "indexing", "add": "indexing", "delete": "indexing", "merge": "indexing", "check": "indexing",
    "info": "inspecting", "doc": "inspecting", "terms": "inspecting", "analyze": "inspecting",
    "search": "searching", "explain": "searching", "run": "searching", "fuse": "fusing",
    "lint": "linting", "eval": "judging:evaluate", "compare": "comparing", "tune": "tuning",
    "fit": "fitting", "forget": "fitting", "card": "fitting", "encode": "fitting", "resource": "resources",
    "plugins": "plugin_tools", "plugin": "plugin_tools", "demo": "demo",
}  # fmt: skip


class Commands(click.Group):
    """Built-in commands first, then those of plugins."""

    _plugins_asked = False

    def list_commands(self, context: click.Context) -> list[str]:
        self._ask_plugins()
        return [*COMMANDS, *sorted(name for name in self.commands if name not in COMMANDS)]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in COMMANDS:
            module, _, attribute = COMMANDS[name].partition(":")
            return getattr(import_module(f"sublex.cli.{module}"), attribute or name)
        self._ask_plugins()
        return self.commands.get(name)

    def _ask_plugins(self) -> None:
        if self._plugins_asked:
            return
        self._plugins_asked = True
        from sublex import plugins

        for plugin, implementation in plugins.load().hook("register_commands"):
            try:
                implementation(cli=self)
            except Exception as error:
                click.echo(f"Plugin {plugin.name} could not add its commands: {error}", err=True)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command with its whole first sentence, which click would cut."""
        found = [(name, self.get_command(context, name)) for name in self.list_commands(context)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(200)) for name, command in found if command])

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(context, args)
        except click.UsageError:
            hint = nearest(args[0], self.list_commands(context))
            raise click.UsageError(f"No command {args[0]}; {hint}See sublex --help.", context) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="sublex %(version)s")
def cli() -> None:
    """A search engine for people who study ranking.

    INDEX is a path with a slash (./name), an index of that name here, or a bare name in $SUBLEX_INDEXES, ./indexes or the
    user's data folder.
    """


def main() -> None:
    """Run a command and leave at once: tearing down a loaded compiler would take a fifth of a second."""
    gc.set_threshold(50_000, 20, 20)
    for name in ("stdout", "stderr"):
        # What is closed takes nothing; what cannot show a character shows its number.
        stream = getattr(sys, name) or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, stream)
    code = run()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def run() -> int:
    """Run a command; a user's mistake costs one sentence. The exit code."""
    try:
        code = cli(prog_name="sublex", standalone_mode=False) or 0
        sys.stdout.flush()
        return code
    except SublexError as error:
        click.echo(f"sublex: {error}", err=True)
        return 2
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        click.echo(f"sublex: {_in_one_line(error)}", err=True)
        return 2
    except (KeyboardInterrupt, click.Abort) as error:
        left = str(error.__cause__ or "")
        click.echo(f"sublex: interrupted{left and '; '}{left}.", err=True)
        return 130
    except BrokenPipeError:
        return 0
    except OSError as error:
        click.echo(f"sublex: {error.filename or 'Cannot write the output'}: {error.strerror}.", err=True)
        return 2
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        click.echo(
            "sublex: No place to keep compiled kernels; name a folder in NUMBA_CACHE_DIR that can be written to.",
            err=True,
        )
        return 2


def _in_one_line(error: click.ClickException) -> str:
    """What is wrong with the call, and where help is."""
    said = " ".join(error.format_message().split()).rstrip(".")
    said = re.sub(r"is not in the range x>=(\S+)", r"has to be at least \1", said)
    if isinstance(error, click.NoSuchOption):
        said += "; if it is no option, write -- before it"
    context = getattr(error, "ctx", None)
    return f"{said}; see {context.command_path} --help." if context and "--help" not in said else f"{said}."
