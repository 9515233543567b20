"""Keeping matrix products on one thread where more of them would only wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

__all__ = ["one_thread_for"]

_WORTH_THREADS = 1e8
"""Multiplications of one product from which threads gain more than they cost."""


def one_thread_for(*shape: int) -> AbstractContextManager[object]:
    """A context in which products of this shape, many of them in a row, run on one thread."""
    work = 1.0
    for size in shape:
        work *= size
    if work > _WORTH_THREADS:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits
