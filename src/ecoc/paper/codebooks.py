"""The codebooks that the paper compares, by the names of its tables."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from ecoc._checks import check_choice
from ecoc.codes import Codebook, dense_random, one_vs_one, one_vs_rest, sparse_random
from ecoc.errors import InfeasibleError

__all__ = ["CODEBOOK_TITLES", "PAPER_CODEBOOKS", "paper_codebook"]

PAPER_CODEBOOKS = ("ip3", "dense", "sparse", "one-vs-all", "one-vs-one")
"""Their names, in the order of the paper."""

CODEBOOK_TITLES = {
    "ip3": "IP3",
    "dense": "Dense",
    "sparse": "Sparse",
    "one-vs-all": "1-vs-all",
    "one-vs-one": "1-vs-1",
    "exhaustive": "Exhaustive",
    "multiclass": "Multiclass",
    "ip3-ibp": "IP3, trained with bounds",
}
"""What readers are shown."""


@cache
def paper_codebook(name: str, n_classes: int, n_columns: int, seed: int = 0) -> Codebook:
    """A codebook as in the paper's comparisons.

    Parameters
    ----------
    name : {"ip3", "dense", "sparse", "one-vs-all", "one-vs-one"}
        ``"ip3"`` is the optimal code with columns at least k/3 apart, as in Table 1; dense
        and sparse are the best of 10,000 random ones; where none of so many sparse ones is
        valid, as for 10 x 10, of ten or a hundred times as many.
    n_classes, n_columns : int
        Its size; one-vs-all and one-vs-one have the columns that they have.
    seed : int, default=0
        For the random ones and the search.

    Examples
    --------
    >>> paper_codebook("ip3", 10, 20).min_row_distance
    10
    >>> paper_codebook("one-vs-one", 10, 20).n_columns
    45
    """
    check_choice("name", name, PAPER_CODEBOOKS)
    if name == "one-vs-all":
        return one_vs_rest(n_classes)
    if name == "one-vs-one":
        return one_vs_one(n_classes)
    if name == "dense":
        return dense_random(n_classes, n_columns, random_state=seed)
    if name == "sparse":
        return _sparse(n_classes, n_columns, seed)
    from ecoc.design import design_codebook

    design = design_codebook(
        n_classes, n_columns, min_column_distance=max(1, n_classes // 3), random_state=seed
    )
    assert design.codebook is not None  # noqa: S101  # without a limit of time there is one
    return design.codebook


def _sparse(n_classes: int, n_columns: int, seed: int) -> Codebook:
    for candidates in (10_000, 100_000):
        with suppress(InfeasibleError):
            return sparse_random(n_classes, n_columns, n_candidates=candidates, random_state=seed)
    return sparse_random(n_classes, n_columns, n_candidates=1_000_000, random_state=seed)
