"""Ways to train the columns of a codebook: in turn, in processes, stacked, on one trunk."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ecoc._workers import tethered
from ecoc.errors import InvalidInputError
from ecoc.nn.networks.architectures import Factory, InputFormat, make_network
from ecoc.nn.networks.stacked import StackedNetworks, can_stack
from ecoc.nn.training.checkpoints import Checkpoint, CheckpointFolder
from ecoc.nn.training.objectives import ColumnObjective, Objective
from ecoc.nn.training.trainer import (
    OnEpoch,
    TrainingData,
    TrainingRecord,
    TrainingSettings,
    Unit,
    find_device,
    train,
)

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = [
    "STRATEGIES",
    "NetworkSpec",
    "Training",
    "TrainingProgress",
    "choose_strategy",
    "network_seed",
]


class TrainingProgress:
    """Shows how many epochs of all networks are done.

    Parameters
    ----------
    description : str
        What is trained.
    total : int
        Epochs of all networks together.
    verbose : int
        0 shows nothing. Without a terminal nothing is shown either.

    Examples
    --------
    >>> with TrainingProgress("columns", 20, verbose=0) as progress:
    ...     progress.advance(0.5)
    """

    def __init__(self, description: str, total: int, *, verbose: int) -> None:
        self._shown = bool(verbose) and sys.stderr.isatty()
        self._description, self._total = description, total
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> TrainingProgress:
        if self._shown:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("epochs, loss {task.fields[loss]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._progress.add_task(self._description, total=self._total, loss="-")
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def advance(self, loss: float, epochs: int = 1) -> None:
        """Some more epochs are done, the last with this loss."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, advance=epochs, loss=f"{loss:.4f}")


STRATEGIES = ("auto", "sequential", "processes", "stacked")

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of parameters in malloc.h."""


@dataclass(frozen=True)
class NetworkSpec:
    """All that a network is, except for its weights.

    Attributes
    ----------
    architecture : str or callable
        As for :func:`ecoc.nn.networks.architectures.make_network`, like the rest.
    inputs : InputFormat
        What it gets.
    n_outputs : int
        What it returns.
    column : bool
        Whether it is the network of one column.
    """

    architecture: str | Factory
    inputs: InputFormat
    n_outputs: int = 1
    column: bool = True

    def build(self, seed: int) -> nn.Sequential:
        """The network with the weights of a seed."""
        return make_network(
            self.architecture, self.inputs, self.n_outputs, seed, column=self.column
        )


def network_seed(seed: int, column: int) -> int:
    """The seed of a column's weights: it depends on nothing but these two.

    Examples
    --------
    >>> network_seed(0, 1) == network_seed(0, 1) != network_seed(0, 2)
    True
    """
    state = np.random.SeedSequence([seed, column]).generate_state(1, np.uint64)[0]
    return int(state) >> 1


def choose_strategy(
    strategy: str, network: nn.Sequential, settings: TrainingSettings, n_jobs: int | None
) -> str:
    """What ``"auto"`` means: stacked on a GPU, in processes where several may run.

    Parameters
    ----------
    strategy : str
        One of :data:`STRATEGIES`.
    network : nn.Sequential
        A network of a column.
    settings : TrainingSettings
        For the device.
    n_jobs : int, optional
        Columns to be trained at the same time, as in joblib.
    """
    from joblib import effective_n_jobs

    if strategy != "auto":
        return strategy
    if find_device(settings.device).type != "cpu":
        return "stacked" if can_stack(network) else "sequential"
    return "processes" if effective_n_jobs(n_jobs) > 1 else "sequential"


@dataclass(frozen=True)
class Training:
    """What all ways of training have in common.

    Attributes
    ----------
    data : TrainingData
        The samples.
    settings : TrainingSettings
        How networks are trained.
    folder : CheckpointFolder, optional
        Where states are kept.
    verbose : int
        Whether a progress bar is shown.
    """

    data: TrainingData
    settings: TrainingSettings
    folder: CheckpointFolder | None = None
    verbose: int = 0

    def one(
        self, name: str, network: nn.Module, objective: Objective
    ) -> tuple[TrainingRecord, ...]:
        """Train one network, or several through a common objective."""
        unit = Unit(name, network, objective)
        with TrainingProgress(name, self.settings.epochs, verbose=self.verbose) as progress:
            return self._train(unit, progress.advance)

    def columns(
        self,
        spec: NetworkSpec,
        matrix: npt.NDArray[np.int8],
        strategy: str,
        n_jobs: int | None = None,
    ) -> tuple[list[nn.Sequential], tuple[TrainingRecord, ...]]:
        """Train a network for each column of a codebook.

        Parameters
        ----------
        spec : NetworkSpec
            What the networks are.
        matrix : array of shape (n_classes, n_columns)
            The codebook.
        strategy : {"sequential", "processes", "stacked"}
            The way, which makes no difference to the result beyond rounding.
        n_jobs : int, optional
            For processes, as in joblib.
        """
        n_columns = matrix.shape[1]
        total = n_columns * self.settings.epochs
        with TrainingProgress("columns", total, verbose=self.verbose) as progress:
            if strategy == "stacked":
                return self._stacked(spec, matrix, progress)
            if strategy == "processes":
                return self._in_processes(spec, matrix, n_jobs, progress)
            networks = [self._network(spec, column) for column in range(n_columns)]
            records: list[TrainingRecord] = []
            for column, network in enumerate(networks):
                unit = _column_unit(column, network, matrix)
                records += self._train(unit, progress.advance)
            return networks, tuple(records)

    def _train(self, unit: Unit, on_epoch: OnEpoch | None = None) -> tuple[TrainingRecord, ...]:
        return train(
            unit,
            self.data,
            self.settings,
            checkpoint=self._checkpoint(unit.name),
            on_epoch=on_epoch,
        )

    def _checkpoint(self, name: str) -> Checkpoint | None:
        return None if self.folder is None else self.folder.checkpoint(name)

    def _network(self, spec: NetworkSpec, column: int) -> nn.Sequential:
        return spec.build(network_seed(self.settings.seed, column))

    def _stacked(
        self, spec: NetworkSpec, matrix: npt.NDArray[np.int8], progress: TrainingProgress
    ) -> tuple[list[nn.Sequential], tuple[TrainingRecord, ...]]:
        networks = [self._network(spec, column) for column in range(matrix.shape[1])]
        stacked = StackedNetworks(networks)
        _check_normalisation(stacked, matrix)
        unit = Unit("stacked", stacked, ColumnObjective(_as_code(matrix)), len(networks))
        records = self._train(unit, lambda loss: progress.advance(loss, len(networks)))
        for network in networks:
            network.to(find_device(self.settings.device)).eval()
        stacked.write_to(networks)
        return networks, records

    def _in_processes(
        self,
        spec: NetworkSpec,
        matrix: npt.NDArray[np.int8],
        n_jobs: int | None,
        progress: TrainingProgress,
    ) -> tuple[list[nn.Sequential], tuple[TrainingRecord, ...]]:
        from joblib import Parallel, delayed

        quiet = Training(self.data, self.settings, self.folder)
        trained = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(tethered(_train_column))(quiet, spec, matrix, column, os.getpid())
            for column in range(matrix.shape[1])
        )
        networks, records = [], []
        for column, (weights, record) in enumerate(trained):
            network = self._network(spec, column)
            network.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
            networks.append(network.to(find_device(self.settings.device)).eval())
            records.append(record)
            progress.advance(record.losses[-1], self.settings.epochs)
        return networks, tuple(records)


def _train_column(
    training: Training, spec: NetworkSpec, matrix: npt.NDArray[np.int8], column: int, asking: int
) -> tuple[dict[str, npt.NDArray[Any]], TrainingRecord]:
    """Train one column, in another process than the one that asks; weights travel as arrays."""
    if os.getpid() != asking:
        _keep_memory()
    network = training._network(spec, column)
    with _one_thread():
        (record,) = training._train(_column_unit(column, network, matrix))
    weights = {name: value.cpu().numpy() for name, value in network.state_dict().items()}
    return weights, record


def _column_unit(column: int, network: nn.Module, matrix: npt.NDArray[np.int8]) -> Unit:
    code = _as_code(matrix[:, column : column + 1])
    return Unit(f"column-{column:04d}", network, ColumnObjective(code))


def _as_code(matrix: npt.NDArray[np.int8]) -> torch.Tensor:
    return torch.tensor(matrix.tolist(), dtype=torch.float32)


def _keep_memory() -> None:
    """Let this process keep the memory that a training step frees, for the next step.

    The C library of Linux gives large pieces back to the system, which has to clear them when
    they are asked for again: a fifth of the time of small networks.
    """
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return
    for parameter, value in ((_TRIM_THRESHOLD, 1 << 30), (_MMAP_THRESHOLD, 32 << 20)):
        mallopt(parameter, value)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Several processes with a thread each do more than their threads would in turn."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _check_normalisation(stacked: nn.Module, matrix: npt.NDArray[np.int8]) -> None:
    normalised = any(isinstance(layer, nn.BatchNorm2d) for layer in stacked.modules())
    if normalised and not matrix.all():
        raise InvalidInputError(
            "strategy='stacked' shows every column all samples, so batch normalisation would mix "
            "in those that a ternary column leaves out. Use 'sequential' or 'processes'."
        )
