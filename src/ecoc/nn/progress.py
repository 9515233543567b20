"""A progress bar with the loss, on standard error, where someone watches."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["TrainingProgress"]


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
