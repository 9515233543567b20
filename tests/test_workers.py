"""Worker processes do not outlive the process that started them, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ECOC = Path(sys.executable).with_name("ecoc")
PATIENCE = 200
"""Seconds until what must happen is given up; workers that wait for more work take 300."""

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to look into")

ASLEEP = """
import os, time
from joblib import Parallel, delayed
from ecoc._workers import tethered
def nap(seconds):
    os.write(1, b"asleep\\n")  # whole, beside the other's
    time.sleep(seconds)
if __name__ == "__main__":
    Parallel(n_jobs=2)(delayed(tethered(nap))(1000) for _ in range(4))
"""


def _fields(process):
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["Z", "0"]


def is_running(process):
    return _fields(process)[0] != "Z"


def workers_of(process):
    """The worker processes among the children of a process."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        if int(_fields(place.name)[1]) == process:
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if b"LokyProcess" in line:
                found.append(int(place.name))
    return found


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def busy(process):
    """Whether two workers are at work: they have had more of the processor than imports take."""
    ticks = os.sysconf("SC_CLK_TCK")
    times = [sum(map(int, _fields(worker)[11:13])) for worker in workers_of(process)]
    return sum(used > 3 * ticks for used in times) == 2


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_sleeping_workers_end(end, tmp_path):
    script = tmp_path / "asleep.py"
    script.write_text(ASLEEP)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as process:
        for _ in range(2):
            assert process.stdout.readline() == b"asleep\n"
        workers = workers_of(process.pid)
        assert len(workers) == 2
        process.send_signal(end)
        assert process.wait(PATIENCE) == -end
    wait_for(lambda: not any(map(is_running, workers)))


@pytest.mark.slow
def test_fit_leaves_no_workers_behind(tmp_path):
    rng = np.random.default_rng(0)
    table = tmp_path / "noise.csv"
    rows = [",".join(map(str, row)) for row in rng.integers(100, size=(1500, 12))]
    labels = rng.integers(8, size=len(rows))
    head = ",".join(f"f{i}" for i in range(12))
    lines = [f"{row},c{label}" for row, label in zip(rows, labels, strict=True)]
    table.write_text("\n".join([f"{head},kind", *lines]) + "\n")
    # So many rounds would take an hour.
    process = subprocess.Popen(
        [ECOC, "fit", table, "-t", "kind", "--learner", "forest", "--jobs", "2", "--repeats", "99"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: busy(process.pid))
    workers = workers_of(process.pid)
    process.terminate()
    assert process.wait(PATIENCE) == -signal.SIGTERM
    wait_for(lambda: not any(map(is_running, workers)))
