"""The shell: `sublex shell INDEX`, a prompt at which a line is a query and `:word` is a command.

A `Session` holds the index, the expression and the last results. Commands are plain functions in `sublex.shell.commands`
that return what to show. `prompt.py` reads lines with prompt_toolkit, which is an optional package, and prints.
"""
