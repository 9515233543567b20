"""Training of the decoders that learn, from scores that tell the truth about the columns."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._typing import Floats
from ecoc.multiclass.columns import ColumnTask, ScoreMethod, column_scores, fit_columns
from ecoc.multiclass.data import take_params, take_rows
from ecoc.multiclass.decoders.base import Decoder, erasures
from ecoc.multiclass.decoders.learned import stratified_folds
from ecoc.multiclass.joint.kernel_ridge import KernelRidgeColumns, loo_scores

__all__ = ["cross_fitted_scores", "held_out_scores", "trained_decoder"]


def trained_decoder(
    decoder: Decoder,
    task: ColumnTask,
    learners: Sequence[Any],
    X: Any,
    targets: npt.NDArray[np.intp],
    *,
    method: ScoreMethod,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Decoder:
    """The decoder, once it has learned what it needs to; most need nothing.

    Parameters
    ----------
    decoder : Decoder
        What is to be trained.
    task : ColumnTask
        What the columns were trained with.
    learners : sequence
        The fitted columns.
    X, targets
        The training data: features, and the row of the codebook for each sample.
    method : {"decision_function", "predict_proba", "predict"}
        Where the scores come from.
    n_jobs, verbose
        As in :func:`ecoc.multiclass.columns.fit_columns`.
    """
    if decoder.needs == "nothing":
        return decoder
    asked = _asked(task, n_jobs, verbose)
    if decoder.needs == "training":
        scores = column_scores(learners, X, method, **asked)
    else:
        n_folds = int(getattr(decoder, "n_folds", 5))
        scores = held_out_scores(
            task,
            learners,
            X,
            targets,
            method=method,
            n_folds=n_folds,
            n_jobs=n_jobs,
            verbose=verbose,
        )
    # The only sample of a class was always trained on: its score says nothing.
    rows = np.flatnonzero(~erasures(scores).all(axis=1))
    weight = take_params(task.params, rows, len(targets)).get("sample_weight")
    return decoder.fit(
        np.nan_to_num(scores[rows]),
        targets[rows],
        task.matrix,
        sample_weight=None if weight is None else np.asarray(weight, dtype=np.float64),
    )


def _asked(task: ColumnTask, n_jobs: int | None, verbose: int) -> dict[str, Any]:
    """How columns are asked for their scores."""
    return {
        "estimator": task.estimator,
        "name": task.name,
        "groups": task.groups,
        "n_symbols": task.n_symbols,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }


def held_out_scores(
    task: ColumnTask,
    learners: Sequence[Any],
    X: Any,
    targets: npt.NDArray[np.intp],
    *,
    method: ScoreMethod,
    n_folds: int = 5,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Floats:
    """What columns say of samples that they did not learn from, in the cheapest way there is.

    The parameters are those of :func:`trained_decoder`, and the result is that of
    :func:`cross_fitted_scores`.
    """
    if not all(isinstance(learner, KernelRidgeColumns) for learner in learners):
        return cross_fitted_scores(
            task, X, targets, method, n_folds=n_folds, n_jobs=n_jobs, verbose=verbose
        )
    # These columns know what each would say if it had not seen the sample.
    left_out = loo_scores(learners)
    unused = np.isnan(left_out)
    if not unused.any():
        return left_out
    scores = column_scores(learners, X, method, **_asked(task, n_jobs, verbose))
    return np.where(unused, scores, left_out)


def cross_fitted_scores(
    task: ColumnTask,
    X: Any,
    targets: npt.NDArray[np.intp],
    method: ScoreMethod,
    *,
    n_folds: int = 5,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Floats:
    """Scores of columns that were trained without the samples they score.

    The parameters are those of :func:`trained_decoder`.

    Returns
    -------
    array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
        NaN for samples that no fold holds out, because their class has no other.
    """
    folds = stratified_folds(targets, n_folds, seed=task.seed or 0)
    symbols = () if task.n_symbols == 2 else (task.n_symbols,)
    scores = np.full((len(targets), task.matrix.shape[1], *symbols), np.nan)
    for fold in range(n_folds):
        held_out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if not len(held_out):
            continue
        part = replace(task, params=take_params(task.params, kept, len(targets)))
        learners = fit_columns(
            part, take_rows(X, kept), targets[kept], n_jobs=n_jobs, verbose=verbose
        )
        scores[held_out] = column_scores(
            learners, take_rows(X, held_out), method, **_asked(task, n_jobs, verbose)
        )
    return scores
