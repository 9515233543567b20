"""How many columns fit at all, given their separation."""

from __future__ import annotations

from ecoc.bounds.bound import Proof
from ecoc.bounds.delsarte import delsarte
from ecoc.bounds.johnson import johnson
from ecoc.bounds.known import known
from ecoc.bounds.problem import BoundProblem
from ecoc.bounds.words import ELEMENTARY, Words

__all__ = ["column_limit", "fewer_words"]


def column_limit(problem: BoundProblem, *, cited: bool = False) -> Proof | None:
    """Prove that fewer columns than L fit, or return None.

    Columns with +1 for the first class are words of length k - 1, so that the bounds on the
    number of words apply; the two-sided rule adds Grey and Rankin's.

    Parameters
    ----------
    problem : BoundProblem
        The problem.
    cited : bool, default=False
        Whether published values of A(n, d) may be used without proof.

    Returns
    -------
    dict or None
        The proof; ``"size"`` is the number of columns that are not exceeded.

    Examples
    --------
    >>> column_limit(BoundProblem(8, 16, min_column_distance=3))["size"]
    10
    >>> column_limit(BoundProblem(10, 20, min_column_distance=3)) is None
    True
    """
    best: Proof | None = None
    count = problem.n_columns
    admissible = problem.n_admissible(count)
    if admissible < count:
        best, count = {"method": "count", "size": admissible}, admissible
    smallest, largest = problem.column_distances
    if (smallest, largest) == (1, problem.n_classes - 1):
        return best
    return fewer_words(Words(problem.n_classes - 1, smallest, largest), count, cited=cited) or best


def fewer_words(words: Words, count: int, *, cited: bool = False) -> Proof | None:
    """Return the best proof that fewer than `count` words fit, the simplest of equals.

    Examples
    --------
    >>> fewer_words(Words(16, 8, 16), 34)
    {'method': 'plotkin', 'size': 32, 'shortened': 1}
    """
    best: Proof | None = None
    for argument in (*ELEMENTARY, johnson, delsarte, *((known,) if cited else ())):
        found = argument(words, count)
        if found is not None:
            best, count = found, found["size"]
    return best
