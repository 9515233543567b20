"""Numba's compiler with a type that mypy can follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def njit(function: Function) -> Function:
    """Compile a function on first call, keep the result on disk, release the GIL."""
    return cast("Function", numba.njit(cache=True, nogil=True)(function))


def inline(function: Function) -> Function:
    """Compile a small function into each of its callers; a call would cost more than it does."""
    return cast("Function", numba.njit(cache=True, nogil=True, forceinline=True)(function))
