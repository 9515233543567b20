"""The equidistant blocks that Hadamard matrices and Legendre pairs give.

From a Hadamard matrix of order n come three sets of words (Levenshtein 1961):

* its rows and their complements, n columns, pairwise distance at least n/2;
* A_n: made constant in one column, which is then left out: n words of n - 1 columns,
  pairwise distance n/2;
* C_n: of those, the words that agree in a second column, which is left out too:
  n/2 words of n - 2 columns, pairwise distance n/2 (the residual).

A Legendre pair of length n, two +1/-1 sequences whose periodic autocorrelations sum to
-2, gives n words of 2n columns at distance n + 1 (Fletcher, Gysin & Seberry 2001): as
good as C_(2n+2) less a word, and often with better columns. Paley's symmetric conference
matrix of order q + 1 gives 2q + 2 words of q columns at distance (q - 1)/2 (Sloane &
Seidel 1970).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecoc.constructions.goethals_seidel import read_signs
from ecoc.constructions.hadamard import hadamard_matrix, hadamard_methods, jacobsthal_matrix
from ecoc.constructions.tables import load_table

__all__ = [
    "biorthogonal_block",
    "conference_block",
    "legendre_block",
    "legendre_lengths",
    "normalised_block",
    "residual_block",
]

Signs = npt.NDArray[np.int8]

_RESIDUALS_KEPT = 6


def biorthogonal_block(order: int, n_classes: int, rng: np.random.Generator) -> Signs:
    """The rows of a Hadamard matrix with random signs, and their complements where needed.

    Signs do not change the inner products of columns, but keep columns from being constant.
    """
    matrix = _some_matrix(order, rng)
    signs = (1 - 2 * rng.integers(0, 2, size=order)).astype(np.int8)
    rows: Signs = matrix * signs[:, None]
    return rows if n_classes <= order else np.vstack([rows, -rows])


def normalised_block(order: int, rng: np.random.Generator) -> Signs:
    """A_n: n words of n - 1 columns, n/2 apart.

    Examples
    --------
    >>> normalised_block(12, np.random.default_rng(0)).shape
    (12, 11)
    """
    matrix = _some_matrix(order, rng)
    column = int(rng.integers(order))
    return np.delete(matrix * matrix[:, [column]], column, axis=1)


def residual_block(order: int, rng: np.random.Generator) -> Signs:
    """C_n: n/2 words of n - 2 columns, n/2 apart, one of the best few residuals.

    Examples
    --------
    >>> residual_block(12, np.random.default_rng(0)).shape
    (6, 10)
    """
    found = _best_residuals(order)
    return found[int(rng.integers(len(found)))]


def legendre_lengths() -> frozenset[int]:
    """The lengths of the Legendre pairs in the table."""
    return frozenset(int(length) for length in load_table()["legendre"])


def legendre_block(length: int) -> Signs:
    """Two circulants side by side: n words of 2n columns, n + 1 apart.

    Examples
    --------
    >>> legendre_block(11).shape
    (11, 22)
    """
    shifts = (np.arange(length)[None, :] - np.arange(length)[:, None]) % length
    pair = load_table()["legendre"][str(length)]
    return np.hstack([read_signs(text)[shifts] for text in pair])


def conference_block(q: int) -> Signs:
    """2q + 2 words of q columns, at least (q - 1)/2 apart, for a prime power q = 1 mod 4.

    Examples
    --------
    >>> conference_block(9).shape
    (20, 9)
    """
    core, one = jacobsthal_matrix(q), np.eye(q, dtype=np.int8)
    constant = np.ones((1, q), dtype=np.int8)
    return np.vstack([one + core, one - core, constant, -constant])


def _some_matrix(order: int, rng: np.random.Generator) -> Signs:
    methods = hadamard_methods(order)
    matrix = hadamard_matrix(order, method=methods[int(rng.integers(len(methods)))])
    return matrix if rng.integers(2) else np.ascontiguousarray(matrix.T)


@lru_cache(maxsize=128)
def _best_residuals(order: int) -> tuple[Signs, ...]:
    """The residuals with the best column separation among some of each matrix.

    The quality differs much: those of Kronecker products repeat columns, and those of
    Paley's second kind have columns at distance 2.
    """
    rng = np.random.default_rng(order)
    n_pairs = min(order, max(4, 2_000_000 // order**2))
    scored: list[tuple[int, int, Signs]] = []
    for method in hadamard_methods(order):
        matrix = hadamard_matrix(order, method=method)
        for source in (matrix, matrix.T):
            for _ in range(n_pairs):
                block = _residual(source, *rng.choice(order, size=2, replace=False).tolist())
                single = block.astype(np.float32)
                products = np.abs(single.T @ single)
                np.fill_diagonal(products, 0)
                scored.append((int(products.max()), len(scored), block))
    scored.sort(key=lambda item: item[:2])
    return tuple(block for _, _, block in scored[:_RESIDUALS_KEPT])


def _residual(matrix: Signs, first: int, second: int) -> Signs:
    kept = matrix[matrix[:, first] == matrix[:, second]]
    return np.delete(kept * kept[:, [first]], [first, second], axis=1)
