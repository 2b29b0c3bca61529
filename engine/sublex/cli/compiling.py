"""Tell the user when Numba compiles a kernel, which makes a command slow the first time it runs."""

from __future__ import annotations

from typing import Any

from sublex.cli.output import say


def say_if_compiling() -> None:
    """Print one line on standard error when this process compiles its first kernel.

    Only Numba knows whether a kernel has to be compiled and where compiled kernels are cached, so this function listens
    to Numba's events. It imports Numba; commands that run no kernel should not call it.
    """
    from numba.core import event

    class Listener(event.Listener):
        """Announces the first compilation."""

        announced = False

        def on_start(self, event: Any) -> None:
            """Announce that a compilation has started, once."""
            if not self.announced:
                say("Compiling kernels; this may take half a minute. They are stored for the next time.")
            self.announced = True

        def on_end(self, event: Any) -> None:
            """Do nothing when a compilation ends."""

    event.register("numba:compile", Listener())
