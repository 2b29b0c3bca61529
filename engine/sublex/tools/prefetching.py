"""A kernel's advance request for memory: the processor reads lines while the kernel computes with others."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# The bytes that a processor reads at a time.
LINE = 64


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(context: Any, array: Any, place: Any) -> Any:
    """Ask for the line of memory that holds the element `place` of a contiguous array.

    `place` may lie behind the end of the array; the request then has no effect. It never changes a result.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        request = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        # For reading, to keep in all caches, as data.
        builder.call(request, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
