"""The commands of `sublex`, one file per command or per group of related commands.

`sublex.cli.SECTIONS` says which file defines which command. A file is imported when its command is called, so each may import
what it needs; heavy imports stay inside the functions, so that `sublex --help` is quick.
"""
