"""The decorators of kernels, which are functions that Numba compiles, and the cache that keeps their machine code on disk.

Numba's own cache starts the compiler before it loads machine code, and lets two processes overwrite each other's files.
The cache here does neither.
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
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import binding
from numba import config, njit, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import _nrt_python, rtsys  # type: ignore[attr-defined]
from numba.core.typing.typeof import Purpose, typeof
from numba.np import numpy_support

# Numba's types know neither these options nor this attribute.
numba_jit: Any = njit
numba_config: Any = config
Function = Callable[..., Any]
# The types of a kernel's arguments, in their order.
Signature = tuple[Any, ...]
# The beginning of the names of folders for machine code that last as long as a process.
TEMPORARY = "sublex-kernels-"
# The threads that are loading machine code now, by their identifiers. The main thread is not among them. An interrupt must wait until such
# a thread has finished loading; `_interrupted_later` says why.
loading: set[int] = set()

# Decorates a function that only kernels call. It becomes a part of their machine code. Python must not call it: such a
# function has no code that unpacks Python's objects, which saves a quarter of the time that its kernels take to compile.
inner = numba_jit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def kernel(*signatures: Signature) -> Callable[[Function], Any]:
    """Return a decorator that has Numba compile a function when it is first called, and keeps the machine code on disk.

    `signatures` are the types of arguments with which Sublex calls the function. `sublex warmup` compiles these. A call
    with other types works, but has to wait for the compiler.
    """

    def decorate(function: Function) -> Any:
        compiled = numba_jit(nogil=True)(function)
        # Without its compiler (NUMBA_DISABLE_JIT) Numba returns the function itself.
        if compiled is not function:
            compiled.declared = signatures
            compiled.typeof_pyval = type_of
            with suppress(OSError):
                compiled._cache = _cache(function)
        return compiled

    return decorate


def type_of(value: Any) -> Any:
    """Return Numba's type of an argument. For an array Numba would load NumPy's masked arrays first, which takes 15 ms."""
    if type(value) not in (np.ndarray, np.memmap):
        return typeof(value, Purpose.argument)
    flags = value.flags
    return types.Array(
        numpy_support.from_dtype(value.dtype), value.ndim, numpy_support.map_layout(value),
        readonly=not flags.writeable, aligned=flags.aligned,
    )  # fmt: skip


class KernelCache(FunctionCache):
    """The machine code of one function, in files of its own for each signature.

    So several processes can compile at the same time: two of them write to the same file only if they write the same code.
    """

    def load_overload(self, sig: Signature, target_context: Any) -> Any:
        """Return the function for a signature, or None. Numba's method loads the whole compiler first, which takes 0.3 s."""
        with _interrupted_later():
            self._open(sig, target_context.codegen())
            _start_runtime(target_context)
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Signature, data: Any) -> None:
        """Write the machine code for a signature to disk."""
        self._open(sig, data.codegen)
        super().save_overload(sig, data)

    def _open(self, signature: Signature, codegen: Any) -> dict:
        """Turn to the files for a signature, this source and this processor, and return their index, empty if there are none.

        Numba's compiler lock is held, so no other thread turns to other files meanwhile.
        """
        stamp = self._impl.locator.get_source_stamp()
        if others := _stamps_of_others(self._py_func):
            stamp = stamp, others
        key = repr((self._index_key(signature, codegen), stamp))
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        self._cache_file = IndexDataCacheFile(self._cache_path, f"{self._impl.filename_base}.{digest}", stamp)
        return self._cache_file._load_index()


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Run a block, and deliver an interrupt that comes meanwhile when the block has ended.

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


def _stamps_of_others(function: Function) -> tuple:
    """Return the time and size of each other file with compiled functions that the function may call, directly or through others.

    Numba looks only at the function's own file, but these functions become a part of its machine code.
    """
    files = sorted(_files_of(function, set()) - {function.__code__.co_filename})
    return tuple((stat.st_mtime, stat.st_size) for stat in map(os.stat, files))


def _files_of(function: Function, seen: set[str]) -> set[str]:
    """Add the file of a function, and those of all compiled functions that it may call, to `seen`, and return it."""
    file = function.__code__.co_filename
    if file not in seen:
        seen.add(file)
        for value in function.__globals__.values():
            if isinstance(value, Dispatcher):
                _files_of(value.py_func, seen)
    return seen


def _start_runtime(target: Any) -> None:
    """Tell the loader where Numba's runtime is. Numba also compiles parts of it, which only the compiler needs."""
    if hasattr(_nrt_python, "memsys_set_atomic_ops"):
        # An old Numba, whose runtime does not work without these parts.
        rtsys.initialize(target)
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@global_compiler_lock
def has_code(kernel: Any, signature: Signature) -> bool:
    """Return whether the machine code of a kernel for a signature is on disk, or nothing can be written to disk."""
    cache = kernel._cache
    return not isinstance(cache, KernelCache) or bool(cache._open(signature, kernel.targetctx.codegen()))


def is_temporary(kernel: Any) -> bool:
    """Return whether the machine code of a kernel is deleted when this process ends, because no lasting folder can be written to."""
    return Path(kernel._cache.cache_path).parent.name.startswith(TEMPORARY)


def _cache(function: Function) -> KernelCache:
    """Return the cache of a function: in a folder that Numba chooses, or if it can write to none, in one for this process."""
    try:
        return KernelCache(function)
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix=TEMPORARY)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        # Processes that this one starts share the folder.
        numba_config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder
        return KernelCache(function)
