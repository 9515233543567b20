"""Work on many columns at once, with a progress bar, and on no more threads than it is worth."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from sklearn.utils.parallel import Parallel, delayed

from ecoc._workers import tethered

__all__ = ["in_parallel", "one_thread_for"]

Result = TypeVar("Result")

_WORTH_THREADS = 1e8
"""Multiplications of one product from which threads gain more than they cost."""


def in_parallel(
    function: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    **options: Any,
) -> list[Result]:
    """Call a function with each of the tuples of arguments.

    Parameters
    ----------
    function : callable
        What to call.
    calls : iterable of tuples
        The arguments of each call.
    n_jobs : int, optional
        As in joblib.
    verbose : int, default=0
        Show a progress bar if standard error is a terminal, joblib's messages if not.
    **options
        For ``joblib.Parallel``.

    Returns
    -------
    list
        The results, in the order of the calls.

    Examples
    --------
    >>> in_parallel(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    tasks = [delayed(tethered(function))(*arguments) for arguments in calls]
    if verbose <= 0 or not sys.stderr.isatty():
        return list(Parallel(n_jobs=n_jobs, verbose=verbose, **options)(tasks))
    from rich.console import Console
    from rich.progress import track

    results = Parallel(n_jobs=n_jobs, return_as="generator", **options)(tasks)
    console = Console(stderr=True)
    return list(track(results, "columns", len(tasks), console=console, transient=True))


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
