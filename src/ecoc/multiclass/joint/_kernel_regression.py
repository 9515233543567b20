"""Kernel ridge regression of all columns of a codebook on the same samples.

One decomposition serves all columns and penalties, with exact leave-one-out values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from ecoc._typing import Floats
from ecoc._workers import one_thread_for

__all__ = [
    "ColumnProblem",
    "ColumnSolution",
    "RidgeSolution",
    "RidgeSpectrum",
    "gram_spectrum",
    "landmark_map",
    "landmark_spectrum",
]

_GAMMA_SAMPLES = 1000
"""Samples that the choice of gamma looks at."""

Rows = npt.NDArray[np.intp]

_RELATIVE_ALPHAS = 2.0 ** np.arange(6.0, -25.0, -1.5)
"""Penalties to try, as multiples of the mean variance that the kernel sees; largest first."""

_SMALLEST_EIGENVALUE = 1e-10
"""Directions below this share of the largest eigenvalue are noise of rounding."""

_ROUNDING = 8 * np.finfo(float).eps
"""What remains of a trace by rounding where nothing should remain."""

_CHUNK = 1024


@dataclass(frozen=True)
class RidgeSolution:
    """The regressions of all targets.

    Attributes
    ----------
    coefficients : array of shape (n_centres, n_targets)
        Of the kernel functions.
    intercepts, alphas, errors : arrays of shape (n_targets,)
        Intercepts, chosen penalties and their mean squared leave-one-out errors.
    loo : array of shape (n_samples, n_targets)
        The value for each sample of the regression that never saw it.
    """

    coefficients: Floats
    intercepts: Floats
    alphas: Floats
    errors: Floats
    loo: Floats


@dataclass(frozen=True)
class RidgeSpectrum:
    r"""What ridge regression with a free intercept needs to know of kernel, samples and weights.

    With the roots s of the weights, :math:`q = s / |s|` and :math:`P = I - q q^T`, the
    regression of y minimises :math:`|P (s y - s f)|^2 + \alpha |f|^2`: the best intercept
    is what P takes out. Its residuals, times s, are :math:`(G + U D U^T) s y`, with
    :math:`D = \alpha / (\lambda + \alpha)`, where U are eigenvectors orthogonal to q,
    :math:`\lambda` their eigenvalues, and G projects on what neither U nor q reach. A
    residual divided by its entry on the diagonal of that matrix is the residual of the
    regression without this sample. If U is complete, nothing large is subtracted anywhere.

    Attributes
    ----------
    left : array of shape (n_samples, rank)
        U.
    values : array of shape (rank,)
        The eigenvalues.
    right : array of shape (n_centres, rank)
        Takes :math:`U^T s y / (\lambda + \alpha)` to the coefficients.
    mean_kernel : array of shape (n_centres,)
        The weighted mean of the kernel's rows.
    roots : array of shape (n_samples,)
        The square roots of the weights.
    complete : bool
        Whether U and q span everything, so that G is zero.
    """

    left: Floats
    values: Floats
    right: Floats
    mean_kernel: Floats
    roots: Floats
    complete: bool

    @property
    def default_alphas(self) -> Floats:
        """Penalties from far too large to hardly any."""
        scale = float(self.values.sum()) / len(self.roots)
        return _RELATIVE_ALPHAS * (scale if scale > np.finfo(float).tiny else 1.0)

    def solve(self, targets: Floats, alphas: Floats | None = None) -> RidgeSolution:
        """Regress each target, with the penalty of the least leave-one-out squared error.

        Parameters
        ----------
        targets : array of shape (n_samples, n_targets)
            What to regress on.
        alphas : array of shape (n_alphas,), optional
            The penalties to choose from; of equally good ones the largest is taken.
        """
        grid = self.default_alphas if alphas is None else np.sort(alphas)[::-1]
        weights = self.roots**2
        with one_thread_for(*self.left.shape, targets.shape[1] + 1):
            scaled = self.roots[:, None] * targets
            inner = self.left.T @ scaled
            outside = self._outside(scaled, inner)
            diagonals = self._diagonals(grid)
            best = np.full(targets.shape[1], np.inf)
            chosen = np.full(targets.shape[1], grid[0])
            loo = np.zeros_like(targets)
            for alpha, diagonal in zip(grid, diagonals.T, strict=True):
                residuals = self.left @ ((alpha / (self.values + alpha))[:, None] * inner)
                held_out = (residuals + outside) / (diagonal * self.roots)[:, None]
                errors = weights @ held_out**2 / weights.sum()
                better = errors < best
                best[better], chosen[better] = errors[better], alpha
                loo[:, better] = targets[:, better] - held_out[:, better]
            coefficients = self.right @ (inner / (self.values[:, None] + chosen))
        intercepts = weights @ targets / weights.sum() - self.mean_kernel @ coefficients
        return RidgeSolution(coefficients, intercepts, chosen, best, loo)

    def _outside(self, scaled: Floats, inner: Floats) -> Floats | float:
        if self.complete:
            return 0.0
        direction = self.roots / np.linalg.norm(self.roots)
        rest: Floats = scaled - np.outer(direction, direction @ scaled) - self.left @ inner
        return rest

    def _diagonals(self, alphas: Floats) -> Floats:
        """The diagonal of the matrix that takes targets to residuals, for each penalty."""
        shrunk = alphas / (self.values[:, None] + alphas)
        result = np.empty((len(self.left), len(alphas)))
        for start in range(0, len(result), _CHUNK):
            part = slice(start, start + _CHUNK)
            squares = self.left[part] ** 2
            result[part] = squares @ shrunk
            if not self.complete:
                shares = self.roots[part] ** 2 / (self.roots @ self.roots)
                result[part] += np.maximum(1 - shares - squares.sum(axis=1), 0)[:, None]
        return np.maximum(result, np.finfo(float).tiny)


def gram_spectrum(gram: Floats, roots: Floats) -> RidgeSpectrum:
    """The spectrum of kernel ridge regression whose centres are the samples themselves.

    Parameters
    ----------
    gram : array of shape (n_samples, n_samples)
        The kernel between the samples; overwritten.
    roots : array of shape (n_samples,)
        The square roots of their weights, all positive.
    """
    from scipy.linalg import eigh

    weights = roots**2
    beyond = 2 * float(weights @ gram.diagonal()) or 1.0
    mean_kernel: Floats = weights @ gram / weights.sum()
    gram -= mean_kernel
    gram -= mean_kernel[:, None]
    gram += weights @ mean_kernel / weights.sum()
    gram *= roots
    gram *= roots[:, None]
    # The direction that the intercept takes up becomes the eigenvector of the largest
    # eigenvalue, beyond all others, so that it cannot mix with other directions of no variance.
    direction = roots / np.linalg.norm(roots)
    gram += np.outer(beyond * direction, direction)
    with _threads_for(len(gram)):
        # Transposed, the matrix is the same and lies as LAPACK wants it: nothing is copied.
        values, vectors = eigh(gram.T, driver="evd", overwrite_a=True, check_finite=False)
    left, values = vectors[:, :-1], values[:-1]
    values[values < _ROUNDING * beyond] = 0.0
    right = left if (roots == 1).all() else roots[:, None] * left
    return RidgeSpectrum(left, values, right, mean_kernel, roots, True)


def landmark_map(kernel: Floats) -> Floats:
    """The matrix that takes kernel rows against landmarks to Nystroem features.

    Parameters
    ----------
    kernel : array of shape (n_landmarks, n_landmarks)
        The kernel between the landmarks.
    """
    with _threads_for(len(kernel)):
        values, vectors = np.linalg.eigh(kernel)
    kept = values > _SMALLEST_EIGENVALUE * values.max(initial=0.0)
    mapping: Floats = vectors[:, kept] / np.sqrt(values[kept])
    return mapping


def landmark_spectrum(block: Floats, mapping: Floats, roots: Floats) -> RidgeSpectrum:
    """The spectrum of ridge regression on Nystroem features, whose centres are landmarks.

    Parameters
    ----------
    block : array of shape (n_samples, n_landmarks)
        The kernel between samples and landmarks; overwritten.
    mapping : array of shape (n_landmarks, n_features)
        From :func:`landmark_map`.
    roots : array of shape (n_samples,)
        The square roots of the samples' weights, all positive.
    """
    weights = roots**2
    mean_kernel: Floats = weights @ block / weights.sum()
    features = _times(block, mapping)
    total = float(weights @ np.einsum("ij,ij->i", features, features))
    features -= mean_kernel @ mapping
    features *= roots[:, None]
    inner = features.T @ features
    with _threads_for(len(inner)):
        values, vectors = np.linalg.eigh(inner)
    smallest = _SMALLEST_EIGENVALUE * values.max(initial=0.0)
    kept = values > max(float(smallest), _ROUNDING * total)
    values, vectors = values[kept], vectors[:, kept]
    left = _times(features, vectors / np.sqrt(values))
    right = mapping @ (vectors * np.sqrt(values))
    return RidgeSpectrum(left, values, right, mean_kernel, roots, False)


def _threads_for(order: int) -> AbstractContextManager[object]:
    # Half the work of a decomposition waits for memory, where threads help only large ones;
    # those that compete for cores make it many times slower.
    return one_thread_for(order, order, 25)


def _times(block: Floats, matrix: npt.NDArray[np.float64]) -> Floats:
    """The product, in the memory of its first factor: these are the largest arrays there are."""
    width = matrix.shape[1]
    for start in range(0, len(block), _CHUNK):
        part = slice(start, start + _CHUNK)
        block[part, :width] = block[part] @ matrix
    return block[:, :width]


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
        solution = part._solve_all(gammas(part.X), max_samples, n_landmarks, random_state)
        loo = np.full((n_samples, n_columns), np.nan)
        loo[used] = solution.loo
        return replace(solution, loo=loo)

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
        for columns, rows, solution in solutions:
            place = np.ix_(rows, columns)
            loo[place] = solution.loo
            if landmarks is None:
                coefficients[place] = solution.coefficients
            else:
                coefficients[:, columns] = solution.coefficients
            intercepts[columns], alphas[columns] = solution.intercepts, solution.alphas
            errors[columns] = solution.errors
        return ColumnSolution(
            centres, gamma, coefficients, intercepts, alphas, loo, float(errors.mean())
        )

    def best_gamma(self, gammas: Sequence[float]) -> ColumnSolution:
        """The exact solution with the least leave-one-out error; of equal ones the first."""
        best = self.solve(gammas[0])
        for gamma in gammas[1:]:
            solution = self.solve(gamma)
            if solution.error < best.error:
                best = solution
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
        return iter(sorted(groups, key=lambda part: len(part[1])))
