"""Checking the bound on nested codebooks: the proof of every prefix, and their sum."""

from __future__ import annotations

from dataclasses import replace

from ecoc._limits import check_deadline
from ecoc.bounds.checking.distances import check_bound
from ecoc.bounds.checking.reading import RejectedError, field, integer, record, text
from ecoc.bounds.checking.symbols import check_symbol_bound
from ecoc.bounds.problem import Bound, BoundProblem, SymbolBoundProblem

__all__ = ["check_nested_bound"]


def check_nested_bound(problem: BoundProblem | SymbolBoundProblem, bound: Bound) -> list[str]:
    """Check that no codebook has prefixes whose distances add up to more.

    Parameters
    ----------
    problem : BoundProblem or SymbolBoundProblem
        The problem, with as many columns as the longest prefix.
    bound : Bound
        The bound; nothing in it is trusted.

    Returns
    -------
    list of str
        What is wrong with the proof; empty if it is accepted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from ecoc.bounds.nested import nested_bound
    >>> problem = BoundProblem(6, 8)
    >>> bound = nested_bound(problem)
    >>> check_nested_bound(problem, bound)
    []
    >>> check_nested_bound(problem, replace(bound, value=15))
    ['the bounds on the prefixes add up to 16, not to 15']
    """
    try:
        _check(problem, bound)
    except RejectedError as error:
        return [str(error)]
    return []


def _check(problem: BoundProblem | SymbolBoundProblem, bound: Bound) -> None:
    if bound.name != "nested" or bound.cited is not None:
        raise RejectedError("this is not a bound on the prefixes of a codebook")
    if isinstance(problem, BoundProblem) and problem.separation == "literal":
        raise RejectedError("the literal separation is another rule for each prefix")
    value = integer(bound.value, "value")
    prefixes = field(record(bound.proof, "the proof"), "prefixes")
    # Rows of fewer columns are not distinct: q^length words are fewer than the classes.
    q = problem.n_symbols if isinstance(problem, SymbolBoundProblem) else 2
    first = 1
    while q**first < problem.n_classes:
        first += 1
    if type(prefixes) is not list or len(prefixes) != problem.n_columns + 1 - first:
        raise RejectedError(
            f"prefixes is not a list of all from {first} to {problem.n_columns} columns"
        )
    total = 0
    for length, entry in enumerate(prefixes, start=first):
        check_deadline()
        prefix = record(entry, "a prefix")
        if integer(field(prefix, "n_columns"), "n_columns") != length:
            raise RejectedError(f"the prefix of {length} columns is missing")
        of_prefix = Bound(
            text(field(prefix, "name"), "name"),
            integer(field(prefix, "value"), "value"),
            record(field(prefix, "proof"), "the proof of a prefix"),
            "",
        )
        if isinstance(problem, SymbolBoundProblem):
            wrong = check_symbol_bound(replace(problem, n_columns=length), of_prefix)
        else:
            wrong = check_bound(replace(problem, n_columns=length), of_prefix)
        if wrong:
            raise RejectedError(f"the prefix of {length} columns: {wrong[0]}")
        total += of_prefix.value
    if total != value:
        raise RejectedError(f"the bounds on the prefixes add up to {total}, not to {value}")
