"""Target distances of codewords from the similarity of their classes."""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, check_number
from ecoc.design.programs.objectives import largest_total
from ecoc.design.similarity import ROUNDING, ClassSimilarity, check_similarity, direction_sign

__all__ = ["target_distances"]

Ints = npt.NDArray[np.int64]


def target_distances(
    similarity: ClassSimilarity,
    n_columns: int,
    direction: str = "group-similar",
    *,
    spread: float = 0.25,
) -> Ints:
    """Turn a similarity of classes into target distances for a design.

    Parameters
    ----------
    similarity : ClassSimilarity
        How alike the classes are.
    n_columns : int
        The number of columns of the codebook, L.
    direction : {"group-similar", "separate-hard-pairs"}, default="group-similar"
        Whether similar classes get nearer or farther codewords.
    spread : float, default=0.25
        How far targets go from their mean at most, as a share of it, from 0 to 1. More of
        it shapes the code more, and leaves the nearest codewords less error correction.

    Returns
    -------
    array of shape (n_classes, n_classes)
        Integers, symmetric, from 1 to L off the diagonal and 0 on it; for
        ``DesignProblem(objective="target-distances", target_distances=...)``.

    Notes
    -----
    With s the similarity of a pair and s̄ the mean over pairs, the target is

        m - a (s - s̄) / r,

    or m + a (s - s̄) / r for ``"separate-hard-pairs"``, rounded to the nearest integer. Here r
    is the largest absolute value of s - s̄; m is the largest mean distance that L different
    columns of k classes reach, L floor(k²/4) / C(k, 2) while there are L columns as balanced
    as can be; and a is spread · m, less where m - a would be below 1 or m + a above L. So the
    mean before rounding is m.

    Examples
    --------
    >>> similarity = ClassSimilarity.from_matrix(
    ...     [[1, 0.9, 0.2, 0.1], [0.9, 1, 0.1, 0.2], [0.2, 0.1, 1, 0.8], [0.1, 0.2, 0.8, 1]]
    ... )
    >>> target_distances(similarity, 7)
    array([[0, 3, 4, 5],
           [3, 0, 5, 4],
           [4, 5, 0, 3],
           [5, 4, 3, 0]])
    """
    check_similarity(similarity)
    length = check_int("n_columns", n_columns, minimum=1)
    sign = direction_sign(direction)
    check_number("spread", spread, minimum=0, maximum=1)
    k = similarity.n_classes
    every_column = [0, *(comb(k - 1, weight) for weight in range(1, k))]
    mean = largest_total(every_column, k, length) / comb(k, 2)
    reach = max(0.0, min(spread * mean, length - mean, mean - 1))
    deviations = similarity.matrix - similarity._pairs.mean()
    largest = float(np.abs(similarity._pairs - similarity._pairs.mean()).max())
    if largest > ROUNDING:
        deviations /= largest
    # Ten places first: equal similarities must not part on the last bit of their sum.
    rounded = np.rint((mean - sign * reach * deviations).round(10))
    targets: Ints = np.clip(rounded, 1, length).astype(np.int64)
    np.fill_diagonal(targets, 0)
    return targets
