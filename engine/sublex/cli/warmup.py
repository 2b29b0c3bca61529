"""The command that compiles all kernels: warmup."""

from __future__ import annotations

from sublex.faces.compiling import compile_missing
from sublex.forms.lines import Shown
from sublex.operations import Needs, OperationContext, operation


@operation(needs=Needs.NOTHING, faces=("cli",), forms=("table",))
def warmup(context: OperationContext) -> Shown:
    """Compile all kernels now, so that no later command has to.

    Kernels are the functions that Numba compiles to machine code. Each command compiles the kernels that it needs, once.
    This command compiles all of them, with those of the installed plugins, on all processors.

    Examples:
        sublex warmup
    """
    from sublex.language import plugins
    from sublex.tools.compile_ahead import all_jobs

    compiled = compile_missing(all_jobs(plugins.load().modules))
    return Shown(list, notes=[] if compiled else ["All kernels are compiled."])
