"""The bound on nested codebooks: one bound for each prefix of columns, and their sum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ecoc._limits import check_deadline
from ecoc.bounds.collection import best_bound
from ecoc.bounds.problem import Bound, BoundProblem, SymbolBoundProblem, first_prefix
from ecoc.bounds.symbols import best_symbol_bound

__all__ = ["nested_bound"]


def nested_bound(problem: BoundProblem | SymbolBoundProblem) -> Bound:
    """Bound the sum of the least row distances of all prefixes of columns.

    Prefixes count from the length at which rows can be distinct. Each is a codebook of its own
    that the best bound for its length holds for.

    Examples
    --------
    >>> bound = nested_bound(BoundProblem(6, 8))
    >>> bound.value, [prefix["value"] for prefix in bound.proof["prefixes"]]
    (16, [1, 2, 2, 3, 4, 4])
    """
    q = problem.n_symbols if isinstance(problem, SymbolBoundProblem) else 2
    first, last = first_prefix(problem.n_classes, q), problem.n_columns
    prefixes: list[dict[str, Any]] = []
    for length in range(first, last + 1):
        check_deadline()
        if isinstance(problem, SymbolBoundProblem):
            bound = best_symbol_bound(replace(problem, n_columns=length))
        else:
            bound = best_bound(replace(problem, n_columns=length))
        prefixes.append(
            {
                "n_columns": length,
                "name": bound.name,
                "value": bound.value,
                "proof": bound.proof,
            }
        )
    total = sum(prefix["value"] for prefix in prefixes)
    return Bound(
        "nested",
        total,
        {"prefixes": prefixes},
        f"the bounds on the prefixes of {first} to {last} columns add up to {total}.",
    )
