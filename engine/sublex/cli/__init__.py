"""The command line: the `sublex` program, its commands, and how it reports errors.

The commands are derived from operations. The operations `demo`, `warmup` and `plugin` exist only on the command line.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import re
import resource
import signal
import sys
import warnings
from typing import Any

import click

from sublex import __version__
from sublex.errors import LITTLE_MEMORY, SublexError, SublexWarning, is_interrupt, is_out_of_memory
from sublex.faces.interrupts import deliver_ignored_interrupts
from sublex.operations import GROUPS, NAMES, SECTIONS, WITHOUT_COMMAND, find, plugin_operations
from sublex.tools.messages import clean_lines, in_short, nearest

# With less address space, in bytes, loading compiled code fails and may hang.
LEAST_MEMORY = 640 << 20
# With less address space, linear algebra uses one thread.
FEW_THREADS_BELOW = 4 << 30
# The commands, each with its operations. There is one operation of the same name, or several that begin with the name.
COMMANDS: dict[str, list[str]] = {}
for _name in NAMES:
    if _name not in WITHOUT_COMMAND:
        COMMANDS.setdefault(_name.split()[0], []).append(_name)
# The room for a command's first sentence in `sublex --help`, in characters. click's default would cut the sentence.
LONGEST_SENTENCE = 200
# Names that newcomers use for commands.
MEANT = {
    "build": "index", "create": "index", "list": "indexes", "ls": "indexes", "query": "search", "retrieve": "run",
    "evaluate": "eval", "trec_eval": "eval", "measure": "eval", "experiment": "compare", "remove": "delete", "rm": "delete",
    "train": "fit", "show": "doc", "get": "doc", "stats": "info", "optimize": "merge", "repl": "shell", "version": "--version",
}  # fmt: skip
# Parts of click's messages, as regular expressions, with the plain words that replace them.
PLAIN = {
    r"is not in the range x>=(\S+)": r"has to be at least \1",
    r"is not in the range (\S+)<=x<=(\S+)": r"has to be from \1 to \2",
    r"is not a valid integer( range)?": "is not a whole number",
    r"is not a valid float( range)?": "is not a number",
    r"Got unexpected extra arguments? \((.*)\)": r"Cannot tell what this stands for: \1; put text of several words in quotes",
}


class LazyCommands(click.Group):
    """The commands of Sublex, each imported when it is called, and the commands that plugins add."""

    _has_plugin_commands = False

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands: the commands of Sublex, then those of plugins."""
        self._add_plugin_commands()
        return [*COMMANDS, *self._plugin_commands()]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command. Plugins are loaded only if Sublex itself has no command of this name."""
        if name in COMMANDS:
            from sublex.cli.deriving import command_beside, command_of, group_of

            found = list(map(find, COMMANDS[name]))
            if found[1:] and name not in GROUPS:
                return command_beside(found[0], found[1:])
            return group_of(name, GROUPS[name], found) if name in GROUPS else command_of(found[0])
        self._add_plugin_commands()
        return self.commands.get(name)

    def _plugin_commands(self) -> list[str]:
        return sorted(name for name in self.commands if name not in COMMANDS)

    def _add_plugin_commands(self) -> None:
        """Let each installed plugin add its operations, once.

        Sublex's built-in plugins have no operations and are not loaded.
        """
        if self._has_plugin_commands:
            return
        self._has_plugin_commands = True
        from sublex.cli.deriving import command_of
        from sublex.language import plugins

        found, failures = plugin_operations(plugins.load(builtin=False))
        for each in found:
            if "cli" in each.faces:
                self.add_command(command_of(each))
        for failure in failures:
            _say(failure)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their sections, each with its whole first sentence."""
        self._add_plugin_commands()
        sections = {
            title: list(dict.fromkeys(name.split()[0] for name in names if name not in WITHOUT_COMMAND))
            for title, names in SECTIONS.items()
        }
        sections["Commands of plugins"] = self._plugin_commands()
        widest = max(len(name) for names in sections.values() for name in names)
        for title, names in sections.items():
            commands = [(name, self.get_command(context, name)) for name in names]
            lines = [
                (f"{n:<{widest}}", c.get_short_help_str(LONGEST_SENTENCE)) for n, c in commands if c and not c.hidden
            ]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        """Return the command to run, or raise a UsageError that suggests the nearest name. `help` is an option for click."""
        if args[0] == "help":
            if not args[1:]:
                click.echo(context.get_help())
                context.exit()
            args = [*args[1:], "--help"]
        try:
            return super().resolve_command(context, args)
        except click.UsageError:
            meant = MEANT.get(args[0].lower())
            hint = f"did you mean sublex {meant}? " if meant else nearest(args[0], self.list_commands(context))
            see = "See" if hint else "see"
            raise click.UsageError(f"No command {args[0]}; {hint}{see} sublex --help.", context) from None


@click.group(
    cls=LazyCommands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="sublex %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Sublex is a search engine for people who study ranking.

    It builds an index of a collection, searches it, runs the queries of a topic file, and compares rankers by relevance
    judgements. `sublex demo` does all of this on a small collection that comes with Sublex.

    \b
      sublex index animals documents.jsonl
      sublex search animals "cranes by the river"
      sublex search animals "cranes by the river" -r "BM25 >> RM3 >> BM25"

    INDEX is the name or the path of an index. A name with a slash, such as ./animals, is a path. Any other name is a
    folder in the working directory if that is an index; otherwise it is a folder in $SUBLEX_INDEXES, in ./indexes if
    that exists, or in ~/.local/share/sublex/indexes.

    `sublex COMMAND --help` describes a command.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    """Run the command of this process and exit at once. A normal exit takes 0.2 seconds to tear down a loaded compiler."""
    gc.set_threshold(50_000, 20, 20)
    for name in ("stdout", "stderr"):
        # A closed stream is replaced by the null device. Characters that a stream cannot encode are written as escapes.
        stream = getattr(sys, name) or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, stream)
    deliver_ignored_interrupts()
    code = 130
    try:
        code = _refuse_little_memory() or run()
        # The work is done, so ignore interrupts from here on.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        # The user pressed Ctrl-C again while `run` reported the first interrupt.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def run() -> int:
    """Run the command of this process and return its exit code.

    The code is 0 for success and 130 for an interrupt. It is 2 for a mistake of the user, about which one sentence is
    printed. A command may return other codes: `check` and `lint` return 1 when they find something.
    """
    if os.environ.get("_SUBLEX_COMPLETE"):
        from sublex.cli.completion import complete_quietly, is_completing

        if is_completing():
            return complete_quietly(cli)
    # Commands print the sentences of these warnings as messages.
    warnings.simplefilter("ignore", SublexWarning)
    try:
        code = cli(prog_name="sublex", standalone_mode=False) or 0
        sys.stdout.flush()
        return code
    except SublexError as error:
        return _refuse(LITTLE_MEMORY if is_out_of_memory(error) else str(error))
    except click.exceptions.Exit as exit:
        return exit.exit_code
    except click.ClickException as error:
        return _refuse(_in_one_line(error))
    except (KeyboardInterrupt, click.Abort, SystemError) as error:
        if isinstance(error, SystemError) and not is_interrupt(error):
            if is_out_of_memory(error):
                return _refuse(LITTLE_MEMORY)
            raise
        state = "" if isinstance(error, SystemError) else str(error.__cause__ or "")
        _say(f"sublex: interrupted{state and '; '}{state}.")
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:
        if is_out_of_memory(error):
            return _refuse(LITTLE_MEMORY)
        if not isinstance(error, OSError):
            raise
        if error.strerror is None:
            return _refuse(f"{in_short(error)}.")
        return _refuse(f"{error.filename or 'Cannot write the output'}: {error.strerror}.")


def _refuse_little_memory() -> int:
    """Return 2, after a message, if a limit leaves too little memory to load compiled code. Otherwise return 0."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < FEW_THREADS_BELOW:
        # Each thread of OpenBLAS takes address space, and OpenBLAS ends the process if there is none left.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if limit == resource.RLIM_INFINITY or limit >= LEAST_MEMORY:
        return 0
    return _refuse(
        f"The limit on memory is {limit >> 20:,} MB, and Sublex needs at least {LEAST_MEMORY >> 20:,} MB; raise it by ulimit -v."
    )


def _refuse(sentence: str) -> int:
    _say(f"sublex: {sentence}")
    return 2


def _say(sentence: str) -> None:
    """Print a message on standard error. Its names and paths may have any characters."""
    click.echo(clean_lines(sentence), err=True)


def _in_one_line(error: click.ClickException) -> str:
    """Return one line with the fault of a command line, and the command that shows its help."""
    message = " ".join(error.format_message().split()).rstrip(".")
    for pattern, plain in PLAIN.items():
        message = re.sub(pattern, plain, message)
    if isinstance(error, click.NoSuchOption):
        from sublex.cli.meant import meant

        near = f"did you mean {' or '.join(error.possibilities)}? If" if error.possibilities else "if"
        message = meant(error) or f"No option {error.option_name}; {near} it is no option, write -- before it"
    context = getattr(error, "ctx", None)
    return f"{message}; see {context.command_path} --help." if context and "--help" not in message else f"{message}."
