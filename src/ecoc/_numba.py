"""Numba's compiler with a type that mypy can follow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

Function = TypeVar("Function", bound=Callable[..., object])
Entry = TypeVar("Entry", bound=np.generic)


def njit(function: Function) -> Function:
    """Compile a function on first call, keep the result on disk, release the GIL."""
    return cast("Function", numba.njit(cache=True, nogil=True)(function))


@njit
def copy_to(target: npt.NDArray[Entry], source: npt.NDArray[Entry]) -> None:
    """Copy a vector over the beginning of another; ``target[:n] = source`` compiles 2 s longer."""
    for i in range(source.size):
        target[i] = source[i]


def read_only(array: npt.NDArray[Entry]) -> npt.NDArray[Entry]:
    """A view that cannot be written, lest functions be compiled for both kinds of arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


_COMPILATIONS: dict[Callable[[], object], threading.Thread] = {}


def await_compilation(compile_kernels: Callable[[], object], seconds: float | None) -> bool:
    """Compile functions by calling them, which takes seconds the first time on a machine.

    It goes on in a thread where it is not done in time, so that the next call finds it done;
    and Ctrl-C is heard at once, which the compiler would not hear.

    Parameters
    ----------
    compile_kernels : callable
        Calls the functions with arguments of the right types. It is called once, or again where
        another thread was loading modules at the same time.
    seconds : float, optional
        How long to wait.

    Returns
    -------
    bool
        Whether the functions are ready.
    """
    thread = _COMPILATIONS.get(compile_kernels)
    if thread is None:
        thread = threading.Thread(
            target=_compile, args=(compile_kernels,), name="ecoc-compiler", daemon=True
        )
        _COMPILATIONS[compile_kernels] = thread
        thread.start()
    thread.join(seconds)
    return not thread.is_alive()


def _compile(compile_kernels: Callable[[], object], attempts: int = 10) -> None:
    try:
        compile_kernels()
    except RuntimeError as error:
        # The compiler goes through dictionaries of the interpreter, as that of builtins, which
        # may grow while another thread imports. What it has compiled it keeps.
        if attempts == 1 or "changed size during iteration" not in str(error):
            raise
        _compile(compile_kernels, attempts - 1)


def inline(function: Function) -> Function:
    """Compile a small function into each of its callers; a call would cost more than it does."""
    return cast("Function", numba.njit(cache=True, nogil=True, forceinline=True)(function))
