"""Which class gets which codeword of a codebook that is there already."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecoc._checks import RandomState, check_int, check_random_state, listing
from ecoc.codes import Codebook, Provenance
from ecoc.design.similarity import ROUNDING, ClassSimilarity, check_similarity, direction_sign
from ecoc.errors import InvalidInputError

__all__ = ["assign_codewords"]

Floats = npt.NDArray[np.float64]


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
        The codewords; binary or ternary.
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
    return Codebook(
        codebook.matrix[rows],
        labels=codebook.labels,
        name=codebook.name,
        provenance=Provenance("assigned-codewords", parameters, seed=seed),
        allow_repeated_columns=codebook.allow_repeated_columns,
    )


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
