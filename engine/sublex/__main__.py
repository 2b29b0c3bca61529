"""`python -m sublex` is the command `sublex`."""

from sublex.cli import main

main()
