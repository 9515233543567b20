"""Worker processes that end when the process that asked for their work has ended."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import cache, partial, update_wrapper
from typing import Any, TypeVar

__all__ = ["tethered"]

Result = TypeVar("Result")

_SECONDS = 0.5
"""How often a worker looks for its parent."""


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
