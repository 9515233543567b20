"""Measures tables cell by cell; what is recorded is never measured again."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cache
from importlib import metadata
from pathlib import Path

from ecoc import __version__
from ecoc._checks import check_int, check_number, require
from ecoc.datasets import DatasetNotFoundError
from ecoc.errors import EcocError, InvalidInputError, MissingDependencyError
from ecoc.paper.measuring import Workspace, silent
from ecoc.paper.records import Record, identity, latest
from ecoc.paper.registry import tables_named
from ecoc.paper.reproduction import RECORDS_FILE, RecordWriter, read_records
from ecoc.paper.table import PaperCell, PaperTable

__all__ = ["ReproductionCounts", "ReproductionProgress", "reproduce"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "highspy", "torch")


@dataclass(frozen=True)
class ReproductionProgress:
    """How far a run is.

    Attributes
    ----------
    done, total : int
        Cells that have a record, and all that were asked for.
    identity : str
        The cell.
    record : Record or None
        Its record; None when its measurement begins.
    """

    done: int
    total: int
    identity: str
    record: Record | None = None


@dataclass(frozen=True)
class ReproductionCounts:
    """How many cells a run measured, kept, skipped, failed at and left.

    Attributes
    ----------
    measured, kept, skipped, failed, left : int
        Cells measured now, measured before, without their data, that raised an error, and
        not begun because the time was over.
    """

    measured: int = 0
    kept: int = 0
    skipped: int = 0
    failed: int = 0
    left: int = 0


@dataclass(frozen=True)
class _Job:
    table: PaperTable
    cell: PaperCell
    identity: str


def reproduce(
    names: Sequence[str],
    folder: str | os.PathLike[str],
    *,
    scale: str = "quick",
    resume: bool = False,
    time_limit: float | None = None,
    jobs: int | None = None,
    data: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    skip_missing: bool = False,
    progress: Callable[[ReproductionProgress], object] | None = None,
    say: Callable[[str], object] | None = None,
) -> ReproductionCounts:
    """Measure tables and figures of the paper, and write a record for every cell.

    Parameters
    ----------
    names : sequence of str
        Names of :data:`ecoc.paper.PAPER_TABLES`, or ``"all"``.
    folder : path
        Where ``records.jsonl``, designs and trained networks go.
    scale : {"smoke", "quick", "full"}, default="quick"
        Seconds on stand-ins for the data, minutes on stated subsets, or the paper's sizes.
    resume : bool, default=False
        Keep what the folder already has and measure the rest. Without it a folder that has
        some of these cells is refused.
    time_limit : float, optional
        Seconds after which no new cell is begun.
    jobs : int, optional
        How much runs at the same time within a cell, as joblib understands it; by default as
        much as there are cores, and one thing at a time at the scale smoke.
    data : path, optional
        The folder of data files, see :func:`ecoc.datasets.load_dataset`.
    random_state : int, default=0
        What everything random starts from.
    skip_missing : bool, default=False
        Record cells whose data or library is missing as skipped, instead of raising.
    progress : callable, optional
        Called with each cell as it begins and as it ends.
    say : callable, optional
        Called with a line about what goes on inside a cell.

    Returns
    -------
    ReproductionCounts
        The counts. A cell that raises is recorded as failed, and the others go on.

    Raises
    ------
    DatasetNotFoundError
        Before any work, if a data set is missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reproduce(["table2"], folder, scale="smoke")
    ...     reproduce(["table2"], folder, scale="smoke", resume=True)
    ReproductionCounts(measured=3, kept=0, skipped=0, failed=0, left=0)
    ReproductionCounts(measured=0, kept=3, skipped=0, failed=0, left=0)
    """
    if time_limit is not None:
        check_number("time_limit", time_limit, minimum=0)
    check_int("random_state", random_state, minimum=0)
    tables = tables_named(tuple(names))
    if jobs is None and scale != "smoke":
        jobs = -1
    workspace = Workspace(Path(folder), scale, random_state, jobs, data, say or silent)
    every = [
        _Job(table, cell, identity(table.name, cell.keys, scale, random_state))
        for table in tables
        for cell in table.cells(scale)
    ]
    tell = progress or silent
    began = time.perf_counter()
    counts = dict.fromkeys(("measured", "kept", "skipped", "failed", "left"), 0)
    with RecordWriter.open(workspace.folder) as writer:
        known = _known(workspace.folder)
        jobs_left = [job for job in every if job.identity not in known]
        counts["kept"] = len(every) - len(jobs_left)
        if counts["kept"] and not resume:
            raise InvalidInputError(
                f"{workspace.folder} has {counts['kept']} of these {len(every)} records. --resume "
                "(resume=True) keeps them and measures the rest; another folder starts anew."
            )
        missing = _missing(jobs_left, workspace, skip_missing=skip_missing)
        for done, job in enumerate(jobs_left, start=counts["kept"]):
            if time_limit is not None and time.perf_counter() - began > time_limit:
                counts["left"] = len(every) - done
                break
            tell(ReproductionProgress(done, len(every), job.identity))
            why = missing.get(job.table.name)
            record = _skipped(job, workspace, why) if why else _measured(job, workspace)
            writer.append(record)
            counts["measured" if record.status == "ok" else record.status] += 1
            tell(ReproductionProgress(done + 1, len(every), job.identity, record))
    return ReproductionCounts(**counts)


def _known(folder: Path) -> set[str]:
    records = read_records(folder / RECORDS_FILE)
    return {name for name, record in latest(records).items() if record.status == "ok"}


def _missing(jobs: Sequence[_Job], workspace: Workspace, *, skip_missing: bool) -> dict[str, str]:
    """Look for all data and libraries before any work; say what lacks which."""
    lacking = {}
    for table in {job.table.name: job.table for job in jobs}.values():
        error = _lack(table, workspace)
        if error is not None and not skip_missing:
            raise error
        if error is not None:
            lacking[table.name] = str(error)
    return lacking


def _lack(table: PaperTable, workspace: Workspace) -> EcocError | None:
    """What keeps a table from being measured, if anything."""
    try:
        for name in table.datasets:
            workspace.dataset(name)
        if table.extra is not None:
            require(table.extra, extra="nn")
    except (DatasetNotFoundError, MissingDependencyError) as error:
        return error
    return None


def _blank(job: _Job, workspace: Workspace, status: str) -> Record:
    return Record(
        experiment=job.table.name,
        keys=job.cell.keys,
        scale=workspace.scale,
        status=status,
        paper=job.cell.figures,
        seed=workspace.seed,
        finished=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        versions=_versions(),
        hardware=_hardware(),
    )


def _skipped(job: _Job, workspace: Workspace, why: str) -> Record:
    return replace(_blank(job, workspace, "skipped"), note=why)


def _measured(job: _Job, workspace: Workspace) -> Record:
    began = time.perf_counter()
    try:
        measurement = job.table.measure(job.cell, workspace)
    except (EcocError, ArithmeticError, LookupError, OSError, RuntimeError, ValueError) as error:
        note = f"{type(error).__name__}: {error}"
        blank = _blank(job, workspace, "failed")
        return replace(blank, note=note, seconds=round(time.perf_counter() - began, 3))
    return replace(
        _blank(job, workspace, "ok"),
        measured=measurement.measured,
        standard_errors=measurement.standard_errors,
        sizes=measurement.sizes,
        subset=measurement.subset,
        note=measurement.note,
        data=measurement.data,
        seconds=round(time.perf_counter() - began, 3),
    )


@cache
def _versions() -> dict[str, str]:
    """The versions of ecoc, Python, and the libraries that results depend on."""
    versions = {"ecoc": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


@cache
def _hardware() -> dict[str, str | int]:
    """The processor, its cores, the memory and the system, as far as they are told."""
    facts: dict[str, str | int] = {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
    }
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        facts["memory_gib"] = round(size / 2**30)
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
