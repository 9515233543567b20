"""Scores of columns some of which are missing, or say nothing of use."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import listing
from ecoc.multiclass.columns import ColumnError, ColumnTask, ScoreMethod, column_scores
from ecoc.multiclass.decoder import Floats, kept_columns

__all__ = ["scores_with_gaps"]


def scores_with_gaps(
    learners: Sequence[Any],
    X: Any,
    method: ScoreMethod,
    *,
    task: ColumnTask,
    missing_columns: Sequence[int] | None = None,
    erase: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Floats:
    """The scores of all columns, NaN where there are none.

    Parameters
    ----------
    learners : sequence
        The fitted columns; a missing one may be None.
    X : array, sparse matrix or data frame
        The features.
    method : {"decision_function", "predict_proba", "predict"}
        Where the scores come from.
    task : ColumnTask
        What the columns were trained with.
    missing_columns : sequence of int, optional
        Columns that are not asked.
    erase : bool, default=False
        Take scores that are not finite for missing, instead of raising.
    n_jobs, verbose
        As in :func:`ecoc.multiclass.column_scores`.

    Raises
    ------
    ColumnError
        If a learner raises, or a score is not finite; names the column.
    """
    n_columns = task.matrix.shape[1]
    kept = kept_columns(missing_columns, n_columns)
    found = column_scores(
        [learners[column] for column in kept],
        X,
        method,
        estimator=task.estimator,
        name=lambda place: task.name(int(kept[place])),
        n_jobs=n_jobs,
        verbose=verbose,
    )
    finite = np.isfinite(found)
    if not finite.all():
        if not erase:
            raise ColumnError(_strange_scores(task, kept, finite))
        found[~finite] = np.nan
    if len(kept) == n_columns:
        return found
    scores = np.full((len(found), n_columns), np.nan)
    scores[:, kept] = found
    return scores


def _strange_scores(
    task: ColumnTask, columns: npt.NDArray[np.intp], finite: npt.NDArray[np.bool_]
) -> str:
    named = [task.name(int(columns[i])) for i in np.flatnonzero(~finite.all(axis=0))]
    return (
        f"Scores must be finite; NaN or infinity came from {listing(named, limit=3)}, for "
        f"{int((~finite).any(axis=1).sum())} of {len(finite)} samples. Leave these columns "
        "out with missing_columns, or set nan_scores='erase'."
    )
