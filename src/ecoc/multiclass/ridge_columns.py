"""Kernel ridge regression of all columns of a codebook on the same samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from ecoc.multiclass.decoder import Floats
from ecoc.multiclass.ridge_spectrum import (
    RidgeSolution,
    gram_spectrum,
    landmark_map,
    landmark_spectrum,
)

__all__ = ["ColumnProblem", "ColumnSolution"]

_GAMMA_SAMPLES = 1000
"""Samples that the choice of gamma looks at."""

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ColumnSolution:
    """The regressions of all columns.

    Attributes
    ----------
    centres : array or sparse matrix of shape (n_centres, n_features)
        Where the kernel functions sit.
    gamma : float
        The kernel's coefficient.
    coefficients : array of shape (n_centres, n_columns)
        0 for samples that a column does not use.
    intercepts, alphas : arrays of shape (n_columns,)
        The intercepts and the penalties that were chosen.
    loo : array of shape (n_samples, n_columns)
        Leave-one-out values, NaN for samples that a column does not use.
    error : float
        The mean squared leave-one-out error, averaged over the columns.
    """

    centres: Any
    gamma: float
    coefficients: Floats
    intercepts: Floats
    alphas: Floats
    loo: Floats
    error: float


@dataclass(frozen=True)
class ColumnProblem:
    """Samples, their sides and weights, and a kernel.

    Attributes
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The features.
    signs : array of shape (n_samples, n_columns)
        -1 and +1, 0 for samples that a column does not use.
    roots : array of shape (n_samples,)
        The square roots of the weights, positive for all samples that are used.
    kernel : callable
        From two sets of samples and gamma to the kernel between them.
    alphas : array of shape (n_alphas,), optional
        The penalties to choose from.
    """

    X: Any
    signs: npt.NDArray[np.int8]
    roots: Floats
    kernel: Callable[[Any, Any, float], Floats]
    alphas: Floats | None

    def solve_used(
        self,
        gammas: Callable[[Any], Sequence[float]],
        *,
        max_samples: int,
        n_landmarks: int,
        random_state: Any,
    ) -> ColumnSolution:
        """Regress every column on the samples that any of them uses.

        Parameters
        ----------
        gammas : callable
            From these samples to the values of gamma to choose from.
        max_samples : int
            The most samples for an exact solution.
        n_landmarks : int
            The number of landmarks, chosen at random, if there are more samples.
        random_state : int, RandomState or None
            Chooses the landmarks.
        """
        used = np.flatnonzero(self.signs.any(axis=1))
        n_samples, n_columns = self.signs.shape
        if len(used) == n_samples:
            return self._solve_all(gammas(self.X), max_samples, n_landmarks, random_state)
        part = self.part(used)
        found = part._solve_all(gammas(part.X), max_samples, n_landmarks, random_state)
        loo = np.full((n_samples, n_columns), np.nan)
        loo[used] = found.loo
        return replace(found, loo=loo)

    def _solve_all(
        self, gammas: Sequence[float], max_samples: int, n_landmarks: int, random_state: Any
    ) -> ColumnSolution:
        n = len(self.roots)
        gamma = gammas[0]
        if len(gammas) > 1:
            if n <= min(max_samples, _GAMMA_SAMPLES):
                return self.best_gamma(gammas)
            few = np.random.default_rng(0).permutation(n)[:_GAMMA_SAMPLES]
            gamma = self.part(np.sort(few)).best_gamma(gammas).gamma
        if n <= max_samples:
            return self.solve(gamma)
        generator = check_random_state(random_state)
        landmarks = generator.choice(n, min(n_landmarks, n), replace=False)
        return self.solve(gamma, np.sort(landmarks))

    def part(self, rows: Rows) -> ColumnProblem:
        """The same problem for some of the samples."""
        return replace(self, X=self.X[rows], signs=self.signs[rows], roots=self.roots[rows])

    def solve(self, gamma: float, landmarks: Rows | None = None) -> ColumnSolution:
        """Regress every column, on all its samples or on features from some landmarks.

        Parameters
        ----------
        gamma : float
            The kernel's coefficient.
        landmarks : array of int, optional
            The samples where the kernel functions sit; by default all.
        """
        centres = self.X if landmarks is None else self.X[landmarks]
        n_columns = self.signs.shape[1]
        coefficients = np.zeros((centres.shape[0], n_columns))
        intercepts, alphas, errors = np.zeros((3, n_columns))
        loo = np.full(self.signs.shape, np.nan)
        solutions = self._exact(gamma) if landmarks is None else self._on(centres, gamma)
        for columns, rows, found in solutions:
            place = np.ix_(rows, columns)
            loo[place] = found.loo
            if landmarks is None:
                coefficients[place] = found.coefficients
            else:
                coefficients[:, columns] = found.coefficients
            intercepts[columns], alphas[columns] = found.intercepts, found.alphas
            errors[columns] = found.errors
        return ColumnSolution(
            centres, gamma, coefficients, intercepts, alphas, loo, float(errors.mean())
        )

    def best_gamma(self, gammas: Sequence[float]) -> ColumnSolution:
        """The exact solution with the least leave-one-out error; of equal ones the first."""
        best = self.solve(gammas[0])
        for gamma in gammas[1:]:
            found = self.solve(gamma)
            if found.error < best.error:
                best = found
        return best

    def _exact(self, gamma: float) -> Iterator[tuple[Rows, Rows, RidgeSolution]]:
        gram = self.kernel(self.X, self.X, gamma)
        for columns, rows in self._groups():
            # The spectrum is computed in the memory of the matrix that it gets.
            whole = len(rows) == len(gram)
            spectrum = gram_spectrum(gram if whole else gram[np.ix_(rows, rows)], self.roots[rows])
            yield columns, rows, spectrum.solve(self._targets(rows, columns), self.alphas)

    def _on(self, centres: Any, gamma: float) -> Iterator[tuple[Rows, Rows, RidgeSolution]]:
        mapping = landmark_map(self.kernel(centres, centres, gamma))
        for columns, rows in self._groups():
            samples = self.X if len(rows) == len(self.roots) else self.X[rows]
            block = self.kernel(samples, centres, gamma)
            spectrum = landmark_spectrum(block, mapping, self.roots[rows])
            yield columns, rows, spectrum.solve(self._targets(rows, columns), self.alphas)

    def _targets(self, rows: Rows, columns: Rows) -> Floats:
        return self.signs[np.ix_(rows, columns)].astype(np.float64)

    def _groups(self) -> Iterator[tuple[Rows, Rows]]:
        """Columns that use the same samples, and these samples; smallest sets first."""
        masks = np.packbits(self.signs != 0, axis=0)
        _, group = np.unique(masks, axis=1, return_inverse=True)
        group = group.ravel()
        groups = []
        for number in range(group.max() + 1):
            columns = np.flatnonzero(group == number)
            rows = np.flatnonzero(self.signs[:, columns[0]])
            # A sample alone cannot be left out; it may be alone in a part of the problem.
            if len(rows) > 1:
                groups.append((columns, rows))
        # The set of all samples comes last, because it uses up the Gram matrix.
        return iter(sorted(groups, key=lambda found: len(found[1])))
