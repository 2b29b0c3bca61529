"""Text to terms."""

from sublex.hookspecs import Register, hookimpl

sublex_api = 2


@hookimpl
def register_analyzers(register: Register) -> None:
    """The built-in analyzers."""
    from sublex.analysis import analyzers

    analyzers.register(register)
