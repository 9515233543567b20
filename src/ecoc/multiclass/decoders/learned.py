"""A decoder that learns, from cross-fitted scores, how far to trust each column on each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._typing import Floats
from ecoc._workers import one_thread_for
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders.base import Decoder, Needs, symbol_indicator
from ecoc.multiclass.decoders.probabilities import smoothed

__all__ = ["Learned", "softmax", "stratified_folds"]

PENALTIES = (10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4)
"""Tried from the largest, which leaves the codebook as it is."""

_MAX_SELECTION_ROWS = 20_000
"""Samples that the choice of a penalty looks at."""


_MAX_STEPS = 200


@dataclass(frozen=True, eq=False)
class Learned(Decoder):
    """Multinomial logistic regression on column scores, shrunk towards the codebook.

    The class scores are log-odds: a multiple of the codebook's own sums (of scores that the
    logistic function has bounded), plus a correction for each column and class whose squares
    are penalised. With the largest penalty only the codebook remains. The class scores,
    exponentiated and normalised, are probabilities.

    With more than two symbols there is a correction for each column, symbol and class, and
    what the codebook itself says are the logarithms of the probabilities of its symbols, see
    :class:`ecoc.multiclass.decoders.LogLikelihood`.

    Parameters
    ----------
    penalty : float, optional
        The penalty; chosen by cross-validation if not given.
    n_folds : int, default=5
        The folds: of the classifier's cross-fitted scores, and of the choice of a penalty.
    coefficients, intercepts : arrays of shapes (n_classes, n_columns) and (n_classes,)
        What :meth:`fit` learns; the coefficients of symbols have a third axis.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> matrix = np.array([[1, 1], [1, -1], [-1, 1]])
    >>> targets = generator.integers(3, size=300)
    >>> scores = matrix[targets] + generator.normal(size=(300, 2))
    >>> decoder = Learned().fit(scores, targets, matrix)
    >>> decoder([[2.0, -1.0]], matrix).argmax()
    np.int64(1)
    """

    penalty: float | None = None
    n_folds: int = 5
    coefficients: Floats | None = None
    intercepts: Floats | None = None

    needs: ClassVar[Needs] = "cross-fitted"

    def __post_init__(self) -> None:
        check_int("n_folds", self.n_folds, minimum=2)
        if self.penalty is not None and not self.penalty > 0:
            raise InvalidInputError(f"penalty must be greater than 0, not {self.penalty!r}.")

    def fit(
        self,
        scores: npt.ArrayLike,
        targets: npt.ArrayLike,
        matrix: npt.ArrayLike,
        *,
        sample_weight: Floats | None = None,
    ) -> Learned:
        """Learn the corrections, and the penalty if none was given."""
        given = np.asarray(scores, dtype=np.float64)
        rows = np.asarray(targets, dtype=np.intp)
        code = np.asarray(matrix, dtype=np.float64)
        if given.ndim == 2:
            values = _squashed(given)
        else:
            values = _logarithms(given)
            code = symbol_indicator(code, given.shape[2])
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)
        # Columns on one scale, so that one penalty suits all of them.
        scale = np.sqrt((values**2).sum(axis=0) / max(1, len(values)))
        scale = np.where(scale > 0, scale, 1.0)
        problem = _Regression(values / scale, rows, code, weights)
        with one_thread_for(*values.shape, len(code)):
            penalty = self._select(problem) if self.penalty is None else self.penalty
            coefficients, intercepts = problem.solve(penalty)
        shape = (len(code), *given.shape[1:])
        return Learned(penalty, self.n_folds, (coefficients / scale).reshape(shape), intercepts)

    def _select(self, problem: _Regression) -> float:
        """The penalty with the least log-loss on samples held out."""
        n = len(problem.targets)
        if n > _MAX_SELECTION_ROWS:
            chosen = np.random.default_rng(0).permutation(n)[:_MAX_SELECTION_ROWS]
            problem = problem.part(chosen)
        folds = stratified_folds(problem.targets, self.n_folds, seed=0)
        parts = [
            (problem.part(folds != fold), problem.part(folds == fold))
            for fold in range(self.n_folds)
            if (folds == fold).any()
        ]
        solutions: list[Floats | None] = [None] * len(parts)
        losses: list[float] = []
        for penalty in PENALTIES:
            solutions = [
                training.minimise(penalty, start)
                for (training, _), start in zip(parts, solutions, strict=True)
            ]
            losses.append(
                sum(
                    held_out.loss(solution, 0.0)[0] * held_out.weights.sum()
                    for (_, held_out), solution in zip(parts, solutions, strict=True)
                    if solution is not None
                )
            )
            # Past the best penalty the loss only grows, and the fits take ever longer.
            if losses[-1] > 1.02 * min(losses):
                break
        return PENALTIES[int(np.argmin(losses))]

    def restricted(self, columns: npt.NDArray[np.intp]) -> Learned:
        """The same coefficients for some of the columns."""
        if self.coefficients is None:
            return self
        return Learned(self.penalty, self.n_folds, self.coefficients[:, columns], self.intercepts)

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Log-odds, up to a constant for each sample."""
        del matrix
        return self._log_odds(_squashed(scores))

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Log-odds, up to a constant for each sample."""
        del matrix
        return self._log_odds(_logarithms(probabilities))

    def _log_odds(self, values: Floats) -> Floats:
        if self.coefficients is None or self.intercepts is None:
            raise InvalidInputError("Learned must be fitted to decode.")
        coefficients = self.coefficients.reshape(len(self.coefficients), -1)
        result: Floats = values @ coefficients.T + self.intercepts
        return result


def _squashed(scores: Floats) -> Floats:
    """Scores by the logistic function, from -1 to 1.

    Columns that never saw the class of a sample can be far more certain of it than those
    that did, and a linear model must not go with them.
    """
    return np.tanh(scores / 2)


def _logarithms(probabilities: Floats) -> Floats:
    """Logarithms of the probabilities of all symbols of all columns, 0 where all are equal."""
    logs: Floats = np.log(probabilities.shape[2] * smoothed(probabilities))
    return logs.reshape(len(logs), logs.shape[1] * logs.shape[2])


def softmax(logits: Floats) -> Floats:
    """Exponentials divided by their row sums.

    Examples
    --------
    >>> softmax(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: Floats = powers / powers.sum(axis=1, keepdims=True)
    return result


def stratified_folds(
    targets: npt.NDArray[np.intp], n_folds: int, *, seed: int | None
) -> npt.NDArray[np.intp]:
    """Deal out the samples of each class to folds; a class's only sample stays in training, -1.

    Every class is then in the training part of every fold, however small it is.

    Examples
    --------
    >>> stratified_folds(np.array([0, 0, 0, 1]), 2, seed=None)
    array([ 0,  1,  0, -1])
    """
    folds = np.full(len(targets), -1, dtype=np.intp)
    generator = None if seed is None else np.random.default_rng(seed)
    dealt = 0
    for label in np.unique(targets):
        members = np.flatnonzero(targets == label)
        if len(members) > 1:
            order = members if generator is None else generator.permutation(members)
            folds[order] = (dealt + np.arange(len(order))) % n_folds
            dealt += len(order)
    return folds


class _Regression:
    """Penalised multinomial log-loss in a scale for the codebook, intercepts, corrections."""

    def __init__(
        self,
        values: Floats,
        targets: npt.NDArray[np.intp],
        code: Floats,
        weights: Floats,
    ) -> None:
        self.values, self.targets, self.code, self.weights = values, targets, code, weights
        self.sums = values @ code.T

    def part(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> _Regression:
        return _Regression(self.values[rows], self.targets[rows], self.code, self.weights[rows])

    def loss(self, parameters: Floats, penalty: float) -> tuple[float, Floats]:
        """Mean log-loss and penalty, and their gradient."""
        k, length = self.code.shape
        corrections = parameters[1 + k :].reshape(k, length)
        logits = parameters[0] * self.sums + parameters[1 : 1 + k] + self.values @ corrections.T
        errors = softmax(logits)
        places = np.arange(len(self.targets)), self.targets
        share = self.weights / max(self.weights.sum(), np.finfo(float).tiny)
        likely = np.maximum(errors[places], np.finfo(float).tiny)
        loss = -float(share @ np.log(likely)) + penalty / 2 * float((corrections**2).sum())
        errors[places] -= 1
        errors *= share[:, None]
        gradient = np.concatenate(
            [
                [np.vdot(errors, self.sums)],
                errors.sum(axis=0),
                (errors.T @ self.values + penalty * corrections).ravel(),
            ]
        )
        return loss, gradient

    def minimise(self, penalty: float, start: Floats | None = None) -> Floats:
        from scipy.optimize import minimize

        k, length = self.code.shape
        if start is None:
            start = np.zeros(1 + k + k * length)
            start[0] = 1 / length
        minimum = minimize(
            self.loss,
            start,
            args=(penalty,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _MAX_STEPS},
        )
        return np.asarray(minimum.x, dtype=np.float64)

    def solve(self, penalty: float) -> tuple[Floats, Floats]:
        k, length = self.code.shape
        parameters = self.minimise(penalty)
        corrections = parameters[1 + k :].reshape(k, length)
        return parameters[0] * self.code + corrections, parameters[1 : 1 + k]
