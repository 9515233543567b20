"""Codebooks from coding theory: Hadamard matrices, Legendre pairs, linear codes.

:func:`construct` gives the best codebook for a number of classes and columns;
:func:`constructions` lists what applies and how much each promises. Nothing is taken on
trust: Hadamard matrices are checked when they are made, and distances are those counted
on the codebook.
"""

from ecoc.constructions.construct import best_linear, construct, constructions
from ecoc.constructions.hadamard import (
    hadamard_matrix,
    hadamard_methods,
    hadamard_orders,
    is_hadamard,
    missing_orders,
)
from ecoc.constructions.patchwork import Patchwork

__all__ = [
    "Patchwork",
    "best_linear",
    "construct",
    "constructions",
    "hadamard_matrix",
    "hadamard_methods",
    "hadamard_orders",
    "is_hadamard",
    "missing_orders",
]
