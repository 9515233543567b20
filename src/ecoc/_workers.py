"""Work in parallel, in processes that end when the one that asked for their work has ended."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache, partial, update_wrapper
from typing import Any, TypeVar

__all__ = [
    "ProgressLines",
    "in_parallel",
    "one_thread",
    "one_thread_for",
    "shown_work",
    "tethered",
]


Result = TypeVar("Result")

_SECONDS = 0.5
"""How often a worker looks for its parent, and how often work that goes on is looked at."""


def tethered(function: Callable[..., Result]) -> Callable[..., Result]:
    """The function, for worker processes, which end soon after this process has.

    However this process ends, by a signal or by a kill that no handler sees, its workers would
    otherwise finish what they do and wait for more. On a cluster, where a worker is no child of
    this process, nothing is different.

    Examples
    --------
    >>> tethered(pow)(2, 3)
    8
    """
    # With the function's name, by which a cluster shows its tasks.
    return update_wrapper(partial(_run, function, os.getpid()), function, updated=())


def _run(function: Callable[..., Result], caller: int, *arguments: Any, **options: Any) -> Result:
    if os.getppid() == caller:
        _watch(caller)
    return function(*arguments, **options)


@cache
def _watch(caller: int) -> None:
    threading.Thread(target=_end_after, args=(caller,), daemon=True).start()


def _end_after(caller: int) -> None:
    # An orphan gets another parent.
    while os.getppid() == caller:
        time.sleep(_SECONDS)
    os._exit(1)


class ProgressLines:
    """Lines about work that goes on, for logs and notebooks, rarer the longer it takes.

    The first comes after two seconds, later ones after a quarter of the time that has passed,
    and at least one in a minute.

    Parameters
    ----------
    say : callable, optional
        What a line is given to; standard error by default.
    clock : callable
        Seconds since some moment.

    Examples
    --------
    >>> times = iter([0, 1, 8, 9, 10.5])
    >>> lines = ProgressLines(print, clock=lambda: next(times))
    >>> for done in range(1, 5):
    ...     lines(f"columns: {done} of 4")
    columns: 2 of 4 (8 s)
    columns: 4 of 4 (10 s)
    """

    _FIRST, _SHARE, _RAREST = 2.0, 0.25, 60.0

    def __init__(
        self,
        say: Callable[[str], object] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say, self._clock = say, clock
        self._began = clock()
        self._next = self._FIRST

    def __call__(self, text: str) -> None:
        """Say where the work is, if it is time for a line."""
        passed = self._clock() - self._began
        if passed < self._next:
            return
        self._next = passed + min(max(self._SHARE * passed, self._FIRST), self._RAREST)
        line = f"{text} ({int(passed)} s)"
        if self._say is not None:
            self._say(line)
        else:
            sys.stderr.write(f"{line}\n")


@contextmanager
def shown_work(describe: Callable[[], str], *, verbose: int) -> Iterator[None]:
    """Tell where work stands while it goes on, also when nothing new happens for a while.

    Parameters
    ----------
    describe : callable
        Says in a few words where the work stands; called from another thread.
    verbose : int
        0 tells nothing; otherwise a terminal has one line that changes, and a log or notebook
        a line now and then.

    Examples
    --------
    >>> with shown_work(lambda: "half done", verbose=0):
    ...     pass
    """
    if not verbose:
        yield
        return
    began, ended = time.monotonic(), threading.Event()
    with ExitStack() as stack:
        if sys.stderr.isatty():
            from rich.console import Console

            status = stack.enter_context(Console(stderr=True).status(describe()))

            def tell() -> None:
                status.update(f"{describe()} ({time.monotonic() - began:.0f} s)")

        else:
            lines = ProgressLines()

            def tell() -> None:
                lines(describe())

        def tell_on() -> None:
            while not ended.wait(_SECONDS):
                tell()

        thread = threading.Thread(target=tell_on, name="ecoc-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


_WORTH_THREADS = 1e8
"""Multiplications of one product from which threads gain more than they cost."""


def _alone(n_jobs: int | None) -> bool:
    """Whether joblib would make the calls here, one after the other, which is dear for small ones.

    A cluster of one worker is asked all the same.
    """
    from joblib.parallel import effective_n_jobs, get_active_backend

    backend, _ = get_active_backend()
    return type(backend).__name__ in _OF_THIS_MACHINE and effective_n_jobs(n_jobs) == 1


_OF_THIS_MACHINE = {"LokyBackend", "SequentialBackend", "ThreadingBackend"}


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
        Show a progress bar if standard error is a terminal, a line now and then if not.
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
    if verbose <= 0 and _alone(n_jobs):
        return [function(*arguments) for arguments in calls]
    from sklearn.utils.parallel import Parallel, delayed

    tasks = [delayed(tethered(function))(*arguments) for arguments in calls]
    if verbose <= 0:
        return list(Parallel(n_jobs=n_jobs, **options)(tasks))
    results = Parallel(n_jobs=n_jobs, return_as="generator", **options)(tasks)
    if not sys.stderr.isatty():
        return list(_with_lines(results, len(tasks)))
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return list(track(results, "columns", len(tasks), console=console, transient=True))


def _with_lines(results: Iterable[Result], total: int) -> Iterator[Result]:
    lines = ProgressLines()
    for done, result in enumerate(results, start=1):
        lines(f"columns: {done} of {total}")
        yield result


def one_thread_for(*shape: int) -> AbstractContextManager[object]:
    """A context in which products of this shape, many of them in a row, run on one thread."""
    work = 1.0
    for size in shape:
        work *= size
    if work > _WORTH_THREADS:
        return nullcontext()
    return one_thread()


def one_thread() -> AbstractContextManager[object]:
    """A context in which linear algebra runs on one thread: others get in the way of small work.

    Examples
    --------
    >>> with one_thread():
    ...     pass
    """
    # SciPy has a linear algebra of its own, which may be loaded after the first call.
    limits: AbstractContextManager[object] = _linear_algebra("scipy.linalg" in sys.modules).limit(
        limits=1, user_api="blas"
    )
    return limits


@cache
def _linear_algebra(_with_scipy: bool) -> Any:
    """The libraries that are loaded; to look for them takes longer than a small product."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
