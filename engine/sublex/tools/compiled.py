"""The decorators of kernels, which are functions that Numba compiles, and the cache that keeps their machine code on disk.

Numba's own cache starts the compiler before it loads machine code, lets two processes overwrite each other's files, and looks for
changes only in the file of the kernel. The cache here detects changes of everything that a kernel's machine code
depends on.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
from llvmlite import binding
from numba import config, njit, types
from numba.core import serialize
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import _nrt_python, rtsys  # type: ignore[attr-defined]
from numba.core.typing.typeof import Purpose, typeof
from numba.np import numpy_support

from sublex.errors import InputError
from sublex.tools.private_folder import why_shared

# Numba's type hints do not have the options that are used below, nor the attribute `CACHE_DIR`. `Any` hides this from the
# type checker.
numba_jit: Any = njit
numba_config: Any = config
Function = Callable[..., Any]
# The types of arrays that kernels take: one-dimensional and contiguous. Arrays of the types STORED_… come from files and
# are read-only.
FLAGS = types.boolean[::1]
I16, I32, I64 = types.int16[::1], types.int32[::1], types.int64[::1]
U8, U32, U64 = types.uint8[::1], types.uint32[::1], types.uint64[::1]
F32, F64 = types.float32[::1], types.float64[::1]
STORED_U8, STORED_I32, STORED_U32 = (
    types.Array(kind, 1, "C", readonly=True) for kind in (types.uint8, types.int32, types.uint32)
)
# The types of a kernel's arguments, in their order.
Signature = tuple[Any, ...]
# The types of constants whose `repr` is the same in all processes.
PLAIN = frozenset((int, float, str, bytes, bool, type(None)))
# The beginning of the names of temporary folders for machine code, which are deleted when the process ends.
TEMPORARY = "sublex-kernels-"
# The identifiers of the threads that are loading machine code now, without the main thread. An interrupt must wait until such
# a thread has finished loading; `_interrupted_later` says why.
loading: set[int] = set()

# Kernels that return arrays call this function of Numba to get the class of the arrays, and crash if it raises an
# exception. An interrupt that comes while a kernel runs would be raised in the first Python code that runs next, which
# is this function. With a cache, the function runs Python code only once; `sublex.faces.interrupts` delivers
# interrupts of commands after that.
unpickle: Any = serialize._numba_unpickle  # type: ignore[attr-defined]
serialize._numba_unpickle = lru_cache(maxsize=None)(unpickle)  # type: ignore[attr-defined]

# Decorates a function that only kernels call. The function becomes a part of their machine code. Python must not call
# the function: it has no code that unpacks Python's objects, which saves a quarter of the time to compile its kernels.
inner = numba_jit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def kernel(*signatures: Signature, before: str = "") -> Callable[[Function], Any]:
    """Return a decorator that has Numba compile a function when it is first called, and keeps the machine code on disk.

    `signatures` are the types of arguments with which Sublex calls the function. `sublex warmup` compiles these. A call
    with other types works, but has to wait for the compiler. `before` names tasks, such as "search merge". A command says
    which tasks it begins, and compiles their kernels first.
    """

    def decorate(function: Function) -> Any:
        compiled = numba_jit(nogil=True)(function)
        # Without its compiler (NUMBA_DISABLE_JIT) Numba returns the function itself.
        if compiled is not function:
            compiled.declared = signatures
            compiled.before = frozenset(before.split())
            compiled.typeof_pyval = type_of
            with suppress(OSError):
                compiled._cache = _cache(function)
        return compiled

    return decorate


def type_of(value: Any) -> Any:
    """Return Numba's type of an argument.

    For an array, Numba's own function would first import NumPy's masked arrays, which takes 15 ms.
    """
    if type(value) not in (np.ndarray, np.memmap):
        return typeof(value, Purpose.argument)
    flags = value.flags
    return types.Array(
        numpy_support.from_dtype(value.dtype), value.ndim, numpy_support.map_layout(value),
        readonly=not flags.writeable, aligned=flags.aligned,
    )  # fmt: skip


class KernelCache(FunctionCache):
    """The machine code of one function, in files of its own for each signature.

    Several processes can therefore compile at the same time: two processes write to the same file only if they write
    the same code.
    """

    def load_overload(self, sig: Signature, target_context: Any) -> Any:
        """Return the function for a signature, or None.

        Numba's own method would first load the whole compiler, which takes 0.3 s.
        """
        with _interrupted_later():
            self._open(sig, target_context.codegen())
            _start_runtime(target_context)
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Signature, data: Any) -> None:
        """Write the machine code for a signature to disk."""
        self._open(sig, data.codegen)
        super().save_overload(sig, data)

    def _open(self, signature: Signature, codegen: Any) -> dict:
        """Select the files for a signature, this code and this processor.

        Return Numba's index of them, empty without files. The caller holds Numba's compiler lock, so no other thread
        selects other files in the meantime.
        """
        key = (
            self._index_key(signature, codegen),
            [_fields(argument) for argument in signature],
            _contents(self._py_func),
        )
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        # Numba's name of the file contains the line number of the function. It does not matter, so it is removed.
        base = self._impl.filename_base.replace(f"-{self._impl.locator.get_disambiguator()}.", ".")
        self._cache_file = IndexDataCacheFile(self._cache_path, f"{base}.{digest}", digest)
        return self._cache_file._load_index()


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Run a block. An interrupt that arrives during the block is delivered after the block.

    While LLVM loads machine code it calls Python. Python ignores exceptions there, so LLVM would load nothing after an
    interrupt, and the first call of the kernel would crash.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        thread = threading.get_ident()
        try:
            loading.add(thread)
            yield
        finally:
            loading.discard(thread)
        return
    came: list[tuple] = []
    signal.signal(signal.SIGINT, lambda *arguments: came.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if came:
        handler(*came[0])


def functions_in(function: Function) -> list[Function]:
    """Return a function and all compiled functions that it calls, directly or through others."""
    functions = [function]
    for caller in functions:
        functions += [called for called in _content(caller)[1] if called not in functions]
    return functions


@cache
def _contents(function: Function) -> str:
    """Return a digest of everything that the machine code of a function depends on, in all files.

    This is the bytecode of the function and of all compiled functions that it calls, and the values of the constants
    that these functions name. Functions and constants may be named alone or as attributes of modules. Classes, and
    functions that Numba replaces by its own, are represented by their names; for a class of named tuples, the fields
    are included too.
    """
    return hashlib.sha256("\n".join(_content(part)[0] for part in functions_in(function)).encode()).hexdigest()


@cache
def _content(function: Function) -> tuple[str, list[Function]]:
    """Return the code of a function with the values that it names, as text, and the compiled functions among these values."""
    used = [*_named(function), *(cell.cell_contents for cell in function.__closure__ or ())]
    called = [value.py_func for value in used if type(value) not in PLAIN and isinstance(value, Dispatcher)]
    described = _code(function.__code__, function.__doc__), _described(function.__defaults__), [*map(_described, used)]
    return repr(described), list(dict.fromkeys(called))


def _code(code: CodeType, docstring: str | None = None) -> tuple[Any, ...]:
    """Return the parts of a code object that machine code depends on: all but file, line numbers and docstring."""
    constants = [None if value is docstring else _described(value) for value in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_argcount, code.co_flags, constants


def _named(function: Function) -> Iterator[Any]:
    """Yield the values of the names in a function's code, from its globals and modules; None for unknown names."""
    names = list(dict.fromkeys(_names(function.__code__)))
    modules: list[ModuleType] = []
    scopes = [function.__globals__]
    for scope in scopes:
        for name in names:
            value = scope.get(name)
            if not isinstance(value, ModuleType):
                yield value
            elif value not in modules:
                modules.append(value)
                scopes.append(vars(value))


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in a function's code, and in the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _described(value: Any) -> Any:
    """Return a description of a value's content that has the same `repr` in all processes."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (tuple, list)):
        return kind.__qualname__, [_described(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    if isinstance(value, Dispatcher):
        value = value.py_func
    if name := getattr(value, "__qualname__", ""):
        return name, getattr(value, "__module__", ""), getattr(value, "_fields", ())
    return kind.__qualname__ if kind.__repr__ is object.__repr__ else repr(value)


def _fields(argument: Any) -> Any:
    """Return the fields of a type that is a named tuple, and the fields of the named tuples inside it.

    Numba prints types of arguments without these fields.
    """
    if type(argument) is types.Array or not isinstance(argument, types.BaseTuple):
        return ()
    return getattr(argument, "fields", ()), [_fields(item) for item in argument]  # type: ignore[attr-defined]


def _start_runtime(target: Any) -> None:
    """Tell the loader where Numba's runtime is. The parts of the runtime that only the compiler needs are not compiled."""
    if hasattr(_nrt_python, "memsys_set_atomic_ops"):
        # The runtime of an old Numba does not work without these parts.
        rtsys.initialize(target)
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@global_compiler_lock
def has_code(kernel: Any, signature: Signature) -> bool:
    """Return whether a kernel's machine code for a signature is on disk, or could not be written to any folder."""
    cache = kernel._cache
    return not isinstance(cache, KernelCache) or bool(cache._open(signature, kernel.targetctx.codegen()))


def is_temporary(kernel: Any) -> bool:
    """Return whether a kernel's machine code is deleted when this process ends.

    That is so if Numba found no lasting folder to write to.
    """
    return Path(kernel._cache.cache_path).parent.name.startswith(TEMPORARY)


@cache
def _expect_private(folder: str, source: str) -> None:
    """Raise InputError if others may write to the folder of machine code, so that their code would run in this process.

    `source` is the folder of the source code.
    """
    path = Path(folder)
    if why := why_shared(path, beside_source=path.parent == Path(source)):
        raise InputError(
            f"The compiled code in {folder} is not used, because others could have put their own there: {why}; set "
            "NUMBA_CACHE_DIR to a folder that only you can write to."
        )


def _cache(function: Function) -> KernelCache:
    """Return the cache of a function. It is in a folder that Numba chooses, or in a temporary folder if Numba can write to none.

    Raise InputError if others may write to the folder, because reading Numba's files can run code that is in them.
    """
    try:
        found = KernelCache(function)
        _expect_private(found.cache_path, str(Path(function.__code__.co_filename).parent))
        return found
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix=TEMPORARY)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        # Processes that this one starts share the folder.
        numba_config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder
        return KernelCache(function)
