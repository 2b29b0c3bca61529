"""The shell: `sublex shell INDEX`, a prompt at which a line is a query and `:word` is a command.

A `Session` holds the index, the expression and the last results. Most commands are operations; `sublex.operations`
declares them for the command line, too. `sublex.shell.commands` has only the commands of the session itself. A command
returns the result as `Shown`. `prompt.py` reads lines with prompt_toolkit, which is an optional package, and prints
results.
"""
