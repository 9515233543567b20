"""A codebook arranged: which class gets which codeword, and signs that balance its columns."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecoc._checks import RandomState, check_int, check_random_state, listing
from ecoc._typing import Floats
from ecoc.codes import Codebook, Provenance
from ecoc.codes.validation import check_two_symbols
from ecoc.design.similarity import ROUNDING, ClassSimilarity, check_similarity, direction_sign
from ecoc.errors import InvalidInputError

__all__ = ["assign_codewords", "balance_columns"]


def assign_codewords(
    codebook: Codebook,
    similarity: ClassSimilarity,
    direction: str = "group-similar",
    *,
    n_starts: int = 20,
    random_state: RandomState = None,
) -> Codebook:
    """Give the codewords of a codebook to the classes so that distances suit the similarity.

    Parameters
    ----------
    codebook : Codebook
        The codewords, of any symbols.
    similarity : ClassSimilarity
        How alike the classes are. Where the codebook has labels and these are the classes
        (as text), the two are matched by them, else by position.
    direction : {"group-similar", "separate-hard-pairs"}, default="group-similar"
        Whether similar classes get nearer or farther codewords.
    n_starts : int, default=20
        How many random assignments are improved on, beside the one that is there.
    random_state : int, Generator or None
        The seed of the starts; None is the seed 0.

    Returns
    -------
    Codebook
        The rows in another order under the same labels. Its provenance has the order, and a
        note where no order is better than another: all codewords are equally far apart, or
        all classes equally alike.

    Notes
    -----
    The sum of similarity times distance over all pairs of classes is made small
    (``"group-similar"``) or large. As a permutation changes neither the similarities nor the
    distances as a whole, this is also the best correlation of the two. It is a quadratic
    assignment problem: each start is improved by exchanging two codewords as long as that
    helps. Nothing is proved about the result, but it is never worse than the order that was
    there, and that order stays where nothing better is found.

    The paper asks for hard pairs to be far apart; [1]_ finds that near is better.

    References
    ----------
    .. [1] I. Evron, O. Onn, T. Weiss Orzech, H. Azeroual, D. Soudry (2023). The role of
       codeword-to-class assignments in error-correcting codes: an empirical study. AISTATS.

    Examples
    --------
    The first and the third codeword differ least; here they go to c and d.

    >>> code = Codebook.from_rows(["++++", "--++", "+++-", "-+-+"], labels=["a", "b", "c", "d"])
    >>> alike = ClassSimilarity.from_matrix(
    ...     [[1, 0.8, 0, 0], [0.8, 1, 0, 0], [0, 0, 1, 0.9], [0, 0, 0.9, 1]], "abcd"
    ... )
    >>> print(assign_codewords(code, alike))
    a  - + - +
    b  - - + +
    c  + + + -
    d  + + + +
    """
    if not isinstance(codebook, Codebook):
        raise InvalidInputError(f"codebook must be a Codebook, not {codebook!r}.")
    check_similarity(similarity)
    sign = direction_sign(direction)
    check_int("n_starts", n_starts, minimum=0)
    generator = check_random_state(0 if random_state is None else random_state)
    weights = sign * _matched(similarity, codebook)
    distances = codebook.row_distances().astype(np.float64)
    np.fill_diagonal(weights, 0)
    np.fill_diagonal(distances, 0)
    pairs = np.triu_indices(codebook.n_classes, 1)
    rows: npt.NDArray[np.integer] = np.arange(codebook.n_classes)
    note = None
    if np.ptp(distances[pairs]) == 0:
        note = "all codewords are equally far apart: the order of the rows does not matter"
    elif np.ptp(weights[pairs]) < ROUNDING:
        note = "all classes are equally alike: the order of the rows does not matter"
    else:
        rows = _assignment(weights, distances, n_starts, generator)
    source = codebook.provenance
    parameters = {
        "direction": direction,
        "similarity": similarity.method,
        "source": None if source is None else source.method,
        "rows": rows.tolist(),
        "n_starts": int(n_starts),
    }
    if note is not None:
        parameters["note"] = note
    seed = None if isinstance(random_state, np.random.Generator) else int(random_state or 0)
    provenance = Provenance("assigned-codewords", parameters, seed=seed)
    return replace(codebook, matrix=codebook.matrix[rows], provenance=provenance)


def _assignment(
    weights: Floats, distances: Floats, n_starts: int, generator: np.random.Generator
) -> npt.NDArray[np.integer]:
    """The order of the rows with the least sum of weight times distance that was found."""
    k = len(weights)
    rounding = ROUNDING * float(np.abs(weights).sum() * distances.max())
    best: npt.NDArray[np.integer] = np.arange(k)
    least = np.inf
    # A start from SciPy's "faq" was tried: for 10 to 200 classes, exchanges from it never ended
    # better than the best of 20 random starts.
    for start in (best, *(generator.permutation(k) for _ in range(n_starts))):
        rows = _exchanged(start, weights, distances, rounding)
        total = float((weights * distances[np.ix_(rows, rows)]).sum())
        if total < least - rounding:
            best, least = rows, total
    return best


def _exchanged(
    start: npt.NDArray[np.integer], weights: Floats, distances: Floats, rounding: float
) -> npt.NDArray[np.integer]:
    """Exchange the two rows for which it helps most, until no exchange helps."""
    rows = start.copy()
    placed = distances[np.ix_(rows, rows)]
    # What class p would pay with the row of class q, all other rows staying where they are.
    paid = weights @ placed
    while True:
        own = paid.diagonal()
        gain = own[:, None] + own - paid - paid.T - 2 * weights * placed
        p, q = divmod(int(gain.argmax()), len(rows))
        # Each pair counts twice in the sums that `rounding` is for.
        if 2 * gain[p, q] <= rounding:
            return rows
        paid += np.outer(weights[p] - weights[q], placed[q] - placed[p])
        paid[:, [p, q]] = paid[:, [q, p]]
        placed[[p, q]] = placed[[q, p]]
        placed[:, [p, q]] = placed[:, [q, p]]
        rows[[p, q]] = rows[[q, p]]


def _matched(similarity: ClassSimilarity, codebook: Codebook) -> Floats:
    """The similarities in the order of the codebook's rows."""
    if similarity.n_classes != codebook.n_classes:
        raise InvalidInputError(
            f"codebook and similarity must have the same classes: the codebook has "
            f"{codebook.n_classes}, the similarity {similarity.n_classes}."
        )
    names = [str(c) for c in similarity.classes]
    labels = codebook.labels or ()
    strange = [repr(label) for label in labels if label not in names]
    if len(strange) == len(labels):
        return similarity.matrix.copy()
    if strange:
        raise InvalidInputError(
            f"Some labels of the codebook are classes of the similarity, but not "
            f"{listing(strange)}. Rename them with relabel, or take the labels away to match "
            "by position."
        )
    order = [names.index(label) for label in labels]
    matched: Floats = similarity.matrix[np.ix_(order, order)]
    return matched


_ALL_SIGNS = 16
"""Up to this many classes every choice of signs is tried."""

_STARTS = 12
_WORK = 2_000_000
"""How many entries all starts together may have."""

_BLOCK = 2048
_LOOK = 256


def balance_columns(
    codebook: Codebook, *, random_state: int = 0, deadline: float | None = None
) -> Codebook:
    """Turn round some codewords so that the columns split the classes more evenly.

    Negating a codeword leaves every distance between columns as it is, and turns the
    distance d to another codeword into n_columns - d. Only such choices count as keep the
    minimum row distance. In a code from a Hadamard matrix, whose codewords are all
    n_columns / 2 apart, that is every choice.

    Parameters
    ----------
    codebook : Codebook
        A codebook of +1 and -1.
    random_state : int, default=0
        For more than 16 classes, where signs are found by local search.
    deadline : float, optional
        When to stop by ``time.monotonic()``.

    Returns
    -------
    Codebook
        Its least balanced column is as balanced as could be found, and then the others; or
        the codebook itself, where nothing better was found.

    Examples
    --------
    >>> from ecoc.constructions import hadamard_matrix
    >>> code = Codebook(hadamard_matrix(12)[:10] * np.array(9 * [[1]] + [[-1]]))
    >>> int(abs(code.matrix.sum(axis=0)).max())
    6
    >>> better = balance_columns(code)
    >>> int(abs(better.matrix.sum(axis=0)).max())
    4
    >>> better.min_row_distance == code.min_row_distance
    True
    """
    check_two_symbols(codebook, "balance_columns")
    matrix = codebook.matrix.astype(np.int64)
    # No column of an odd number of classes has equal sides.
    if np.abs(matrix.sum(axis=0)).max() <= codebook.n_classes % 2:
        return codebook
    label = _components(codebook, deadline)
    n_groups = int(label.max()) + 1
    if n_groups == 1:
        return codebook
    order = np.argsort(label, kind="stable")
    sums = np.add.reduceat(matrix[order], np.searchsorted(label[order], range(n_groups)), axis=0)
    if n_groups <= _ALL_SIGNS:
        signs = _all_signs(sums)
    else:
        signs = _local_signs(sums, random_state, deadline)
    if _cost(sums.sum(axis=0)) <= _cost(signs @ sums):
        return codebook
    return Codebook(
        matrix * signs[label][:, None],
        labels=codebook.labels,
        name=codebook.name,
        provenance=codebook.provenance,
    )


def _components(codebook: Codebook, deadline: float | None) -> npt.NDArray[np.intp]:
    """Which codewords can only be turned round together: the number of the group of each.

    Two that are farther apart than n_columns less the minimum distance would come too near
    if one of them were turned round. All are one group where the deadline comes first.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = codebook.matrix.astype(np.float32)
    k, length = rows.shape
    # The product of two codewords is n_columns less twice their distance.
    product = np.float32(2 * codebook.min_row_distance - length)
    label: npt.NDArray[np.intp] = np.arange(k)
    for top in range(0, k, _BLOCK):
        for left in range(top, k, _BLOCK):
            if deadline is not None and time.monotonic() >= deadline:
                return np.zeros(k, dtype=np.intp)
            far = rows[top : top + _BLOCK] @ rows[left : left + _BLOCK].T < product
            first, second = np.nonzero(far)
            if not first.size:
                continue
            ends = label[first + top], label[second + left]
            n_groups = int(label.max()) + 1
            edges = coo_array((np.ones(first.size, dtype=np.int8), ends), (n_groups, n_groups))
            n_groups, merged = connected_components(edges, directed=False)
            label = merged[label].astype(np.intp)
            if n_groups == 1:
                return label
    return label


def _cost(column_sums: npt.NDArray[np.int64]) -> tuple[int, int]:
    """The least balanced column, then the fourth powers: their squares hardly vary."""
    return int(np.abs(column_sums).max()), int((column_sums**4).sum())


def _all_signs(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The best signs of all, with the first one positive."""
    n = len(sums)
    bits = np.arange(1 << (n - 1))[:, None] >> np.arange(n - 1) & 1
    signs = np.column_stack([np.ones(len(bits), dtype=np.int64), 1 - 2 * bits])
    totals = signs @ sums
    order = np.lexsort([(totals**4).sum(axis=1), np.abs(totals).max(axis=1)])
    best: npt.NDArray[np.int64] = signs[order[0]]
    return best


def _local_signs(
    sums: npt.NDArray[np.int64], seed: int, deadline: float | None
) -> npt.NDArray[np.int64]:
    """Good signs: from some starts, change every sign that helps until none does."""
    generator = np.random.default_rng(seed)
    best = np.ones(len(sums), dtype=np.int64)
    values = sums.astype(np.float64)
    for start in range(max(1, min(_STARTS, _WORK // sums.size))):
        signs = np.ones_like(best) if start == 0 else generator.choice([-1, 1], size=len(best))
        total = (signs @ sums).astype(np.float64)
        cost = float((total**4).sum())
        improved = True
        while improved:
            improved = False
            for place in range(len(signs)):
                if deadline is not None and place % _LOOK == 0 and time.monotonic() >= deadline:
                    return best
                moved = total - 2 * signs[place] * values[place]
                squares = moved * moved
                moved_cost = float(squares @ squares)
                if moved_cost < cost:
                    signs[place] *= -1
                    total, cost, improved = moved, moved_cost, True
        if _cost(signs @ sums) < _cost(best @ sums):
            best = signs.copy()
    return best
