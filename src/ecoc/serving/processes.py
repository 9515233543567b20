"""Worker processes on this machine, under a scheduler that has a process of its own."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ecoc._checks import require
from ecoc.errors import TimeLimitError

__all__ = ["LocalProcesses", "run_cluster"]

_END_SECONDS = 20.0
"""How long the processes may take to end by themselves."""

_REVIVAL_SECONDS = 1.0
"""How long after Dask has given a process up for good another one is begun."""

_FORKS = sys.platform == "linux"
"""Whether workers are forked from one process."""

_COMEBACK_SECONDS = 0.25
"""How long they take to be back then, and some more: it is 0.1 to 0.2 s."""

_QUIET_SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "1s",
}
"""What Dask looks at all the time, for its pages: it would take some per cent of a core."""

_PROGRAM = (
    "import json, sys; settings = json.loads(sys.stdin.readline()); "
    "sys.path[:] = settings.pop('path'); "
    "from ecoc.serving.processes import run_cluster; run_cluster(**settings)"
)


class LocalProcesses:
    """A Dask scheduler and workers on this machine, which listen on the loopback interface alone.

    They end with this process at the latest. Should the scheduler be lost, another one is begun
    when it is asked for.

    Parameters
    ----------
    n_workers : int
        The number of workers.
    modules : sequence of str
        What workers have loaded before they begin. Where processes can be forked that is done
        once, and all of them share it, so that a worker that was lost is back at once.

    Examples
    --------
    >>> processes = LocalProcesses(1, ["ecoc.codes"])
    >>> processes.address.startswith("tcp://127.0.0.1:")
    True
    >>> processes.close()
    """

    def __init__(self, n_workers: int, modules: Sequence[str]) -> None:
        self._n_workers, self._modules = n_workers, list(modules)
        self._process: Any = None
        self._address = ""

    @property
    def comeback_seconds(self) -> float:
        """Within how many seconds a worker that was lost is back; 0 if nobody knows."""
        return _COMEBACK_SECONDS if _FORKS else 0.0

    @property
    def address(self) -> str:
        """The address of the scheduler, which is begun if there is none."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._begin()
        return self._address

    def _begin(self) -> None:
        config = require("dask").config
        settings = {
            "path": [entry or os.getcwd() for entry in sys.path],  # noqa: PTH109
            "n_workers": self._n_workers,
            "modules": self._modules,
            "forks": _FORKS,
        }
        process: Any = subprocess.Popen(  # noqa: S603 - Python itself, with our own code
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # As Dask tells the programs that it begins.
            env=os.environ | {"DASK_INTERNAL_INHERIT_CONFIG": config.serialize(config.config)},
            start_new_session=True,  # what is typed at a terminal is for this process
        )
        self._process = process
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(settings) + "\n")
                process.stdin.flush()
            self._address = process.stdout.readline().strip()
        except BaseException:
            self.close()
            raise
        if not self._address:
            self.close()
            raise TimeLimitError(
                "The processes of the workers could not be begun; the error output says why."
            )

    def close(self) -> None:
        """End the processes."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(BrokenPipeError):
            process.stdin.close()  # it waits for this
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def run_cluster(n_workers: int, modules: Sequence[str], *, forks: bool) -> None:
    """Run a scheduler and workers until the standard input ends; prints the address.

    Parameters
    ----------
    n_workers : int
        The number of workers.
    modules : sequence of str
        What workers have loaded before they begin.
    forks : bool
        Whether they are forked from one process, which has loaded that.
    """
    # It ends when whoever began it lets go, after what was begun is answered.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # Nothing but the address is said there.
    address_output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    dask, distributed = require("dask"), require("distributed")
    dask.config.set(_QUIET_SETTINGS)
    if forks:
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        # What Dask would set for each process has to be there for the one that they fork from.
        settings = dask.config.get("distributed.nanny.pre-spawn-environ")
        os.environ.update((name, str(value)) for name, value in settings.items())
        multiprocessing.set_forkserver_preload(["distributed", *modules])
        from multiprocessing import forkserver  # not on every system

        forkserver.ensure_running()  # loads them while the cluster begins
    with distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        host="127.0.0.1",
        # Its pages are for whoever looks for them, on this machine alone.
        dashboard_address="127.0.0.1:0",
        preload=["ecoc.serving.cluster"],
        silence_logs=logging.CRITICAL,  # the server says who is lost
    ) as cluster:
        print(cluster.scheduler_address, file=address_output, flush=True)
        patience = dask.utils.parse_timedelta(
            dask.config.get("distributed.deploy.lost-worker-timeout")
        )
        ended = threading.Event()

        def read() -> None:
            sys.stdin.read()
            ended.set()

        threading.Thread(target=read, daemon=True).start()
        # A process that was slow to come back is given up by Dask, and asked for again.
        while not ended.wait(patience + _REVIVAL_SECONDS):
            cluster.scale(n_workers)
        # It has lost its clients by now, of which nobody need hear.
        logging.disable()
