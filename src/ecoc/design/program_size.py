"""The size of a program in closed form, so that one that is too large is never begun."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from ecoc._checks import check_choice, check_int
from ecoc.design.averaging import parity_matters
from ecoc.design.linear_program import ProgramSize
from ecoc.errors import InvalidInputError

__all__ = ["program_size"]


def program_size(
    formulation: str,
    n_classes: int,
    n_columns: int | None = None,
    *,
    columns_by_weight: Sequence[int] | None = None,
    n_edges: int = 0,
    n_cliques: int = 0,
    clique_nonzeros: int = 0,
    tight_pairs: int = 0,
    distance_nonzeros: int | None = None,
    parity_cuts: bool = True,
    targets: bool = False,
    odd_triples: int = 0,
    cutoff: bool = False,
    min_row_distance: bool = False,
    symmetry_breaking: bool = False,
) -> ProgramSize:
    """Count the variables, rows and non-zeros of a program without building it.

    Parameters
    ----------
    formulation : {"IP1", "IP2", "IP3"}
        The formulation.
    n_classes : int
        The number of classes k.
    n_columns : int, optional
        The number of columns L, on which it depends whether parity cuts are of use; without
        it they are counted if they are asked for.
    columns_by_weight : sequence of int, optional
        The number of candidates that part w classes from class 0, for w = 0, ..., k - 1.
        By default all 2^(k-1) - 1 columns are candidates.
    n_edges : int
        The number of conflicting pairs, for IP2.
    n_cliques, clique_nonzeros : int
        The number of cliques and of all their members together, for IP3.
    tight_pairs : int
        For IP1, how often the distance of a pair equals a limit of separation, which empties
        its row.
    distance_nonzeros : int, optional
        The non-zeros of given row weights. By default columns count 0 or 1, unweighted.
    parity_cuts, targets, cutoff, min_row_distance, symmetry_breaking : bool
        Which options of the program are used, as in :class:`ProgramOptions`.
    odd_triples : int
        With whole targets, the triples of classes whose targets have an odd sum.

    Examples
    --------
    >>> print(program_size("IP1", 10, parity_cuts=False))
    130,817 variables, 651,571 rows, 1,184,821 non-zeros
    >>> print(program_size("IP3", 10, 20, n_cliques=464, clique_nonzeros=4640))
    514 variables, 631 rows, 63,039 non-zeros
    """
    check_choice("formulation", formulation, ("IP1", "IP2", "IP3"))
    k = check_int("n_classes", n_classes, minimum=2)
    counts = _counts(columns_by_weight, k)
    n, pairs, triples = sum(counts), comb(k, 2), comb(k, 3)
    parted = sum(count * w * (k - w) for w, count in enumerate(counts))
    distances = parted if distance_nonzeros is None else distance_nonzeros
    variables, rows, nonzeros = n, 1, n
    if formulation == "IP1":
        choices = comb(n, 2)
        variables += choices
        rows += 5 * choices
        nonzeros += 9 * choices - tight_pairs
    elif formulation == "IP2":
        rows += n_edges
        nonzeros += 2 * n_edges
    else:
        rows += n_cliques
        nonzeros += clique_nonzeros
    parity = parity_cuts and distance_nonzeros is None and k >= 3
    if parity and not targets and n_columns is not None:
        parity = parity_matters(counts, k, n_columns)
    if targets:
        variables += pairs
        rows += 2 * pairs + (odd_triples if parity else 0) + cutoff
        nonzeros += 2 * (distances + pairs) + 3 * odd_triples * parity + pairs * cutoff
        if min_row_distance:
            rows += pairs
            nonzeros += distances
    else:
        variables += 1
        rows += pairs
        nonzeros += distances + pairs
        if parity:
            variables += 2
            rows += triples + 1
            spread = sum(
                count * (triples - comb(w, 3) - comb(k - w, 3)) for w, count in enumerate(counts)
            )
            nonzeros += spread + 2 * triples + 3
    if symmetry_breaking and k >= 3:
        rows += k - 2
        differing = sum(2 * comb(k - 3, w - 1) for w in range(1, k) if counts[w])
        nonzeros += (k - 2) * differing
    return ProgramSize(variables, rows, nonzeros)


def _counts(columns_by_weight: Sequence[int] | None, n_classes: int) -> list[int]:
    if columns_by_weight is None:
        return [0] + [comb(n_classes - 1, w) for w in range(1, n_classes)]
    if len(columns_by_weight) != n_classes:
        raise InvalidInputError(
            f"columns_by_weight must have {n_classes} entries, for 0 to {n_classes - 1} classes, "
            f"not {len(columns_by_weight)}."
        )
    return [
        check_int(f"columns_by_weight[{w}]", count, minimum=0)
        for w, count in enumerate(columns_by_weight)
    ]
