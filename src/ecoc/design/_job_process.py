"""The process in which a job is done: it reads the job, and writes messages until the end."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from ecoc.design.jobs import GRACE_SECONDS, perform

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Do one job for the process at the other end of standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    # What a solver prints must not come between the messages.
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lock = threading.Lock()
    stopped = threading.Event()

    def send(message: tuple[Any, ...]) -> None:
        with lock, suppress(OSError):
            pickle.dump(message, messages)
            messages.flush()

    send(("ready",))
    try:
        job, time_limit = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the parent process
    except EOFError:
        return
    threading.Thread(target=_await_stop, args=(stopped,), daemon=True).start()
    perform(job, time_limit, send, stopped.is_set)
    messages.close()
    # Threads of a solver that are still at work would keep the process waiting.
    os._exit(0)


def _await_stop(stopped: threading.Event) -> None:
    """Input ends when the other process asks to stop, and when it ends itself."""
    sys.stdin.buffer.read()
    stopped.set()
    time.sleep(2 * GRACE_SECONDS)
    os._exit(1)


def _end_with_parent() -> None:
    """Have Linux end this process with its parent, even in the middle of a long call."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
