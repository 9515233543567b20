"""A bound, and the data that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Bound", "Proof"]

Proof: TypeAlias = "dict[str, Any]"
"""Plain JSON data: whole numbers, strings, lists and dicts."""


@dataclass(frozen=True)
class Bound:
    """An upper bound with its proof; :func:`check_bound` takes nobody's word for it.

    Attributes
    ----------
    name : str
        Which argument it is.
    value : int
        No codebook of the problem has a larger minimum row distance (or, from
        :func:`separation_bound`, a larger column separation).
    proof : dict
        Plain JSON data from which the bound can be checked in whole numbers.
    reason : str
        The argument in a line.
    cited : str or None
        The source, where the value rests on a published result that is not proved again.

    Examples
    --------
    >>> from ecoc.bounds import BoundProblem, averaging_bound
    >>> averaging_bound(BoundProblem(10, 20)).reason
    '20 columns separate at most 500 pairs of rows in all, and 45 pairs share them.'
    """

    name: str
    value: int
    proof: Proof
    reason: str
    cited: str | None = None
