"""Reading a design: everything it claims is checked again, and what cannot be is named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ecoc._checks import Exact, exact, exact_from_plain, exact_text
from ecoc._limits import check_deadline, deadline, seconds_left
from ecoc.bounds import target_bound
from ecoc.codes import Codebook
from ecoc.codes.columns import MAX_CLASSES
from ecoc.codes.files import read_file
from ecoc.design.problem import DesignProblem
from ecoc.design.result import Certificate, Design
from ecoc.design.search import search_codebook
from ecoc.design.solvers.base import Status
from ecoc.design.symbol_portfolio import symbol_codebook
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.errors import FileFormatError, InvalidInputError, VerificationError

__all__ = ["VERIFICATION_SECONDS", "read_design", "unverified", "verify_claim"]

VERIFICATION_SECONDS = 60.0
"""How long a verification may take unless another limit is asked for."""

_CONSTRUCTION_SECONDS = 10.0
_SEARCH_MOVES = 100_000
_SEARCH_STEPS = 200_000_000


def read_design(
    path: str | os.PathLike[str], *, time_limit: float | None = VERIFICATION_SECONDS
) -> Design:
    """Read a design from a file and check everything it claims that can be checked.

    A bound that rests on the word of a solver cannot be: `unverified` says so.

    Parameters
    ----------
    path : str or path
        A ``.json`` or ``.npz`` file; ``"-"`` reads standard input.
    time_limit : float, optional
        Seconds that checking may take; None sets no limit.

    Raises
    ------
    FileFormatError
        If the file is malformed or holds no design.
    VerificationError
        If a claim is false.
    TimeLimitError
        If checking is not done in time.
    """
    with deadline(time_limit):
        contents = read_file(path)
        if contents.certificate is None:
            raise FileFormatError(f"{path}: a codebook without a certificate is no design.")
        return verify_claim(contents.codebook, contents.certificate, os.fspath(path))


def verify_claim(codebook: Codebook, claim: Mapping[str, Any], place: str) -> Design:
    """Turn plain data into a design, and check it against the codebook from scratch."""
    try:
        design = _from_plain(codebook, claim)
        wrong = list(design.problem.violations(codebook)) or _wrong_claims(design, codebook)
    except InvalidInputError as error:
        raise FileFormatError(f"{place}: certificate: {error}") from error
    if wrong:
        raise VerificationError(place, wrong)
    return design


def unverified(design: Design) -> str | None:
    """Say in a sentence what of a design nothing here can check; None if that is nothing.

    Examples
    --------
    >>> from ecoc.design import design_codebook
    >>> design = design_codebook(5, 6, method="integer-program")
    >>> print(unverified(design))  # doctest: +ELLIPSIS
    the codebook is as claimed, but the bound 3 rests on the word of highs ... on IP3, proved,
    which nothing here can check (coding theory allows at most 3).
    """
    certificate = design.certificate
    if certificate is None or certificate.is_checkable:
        return None
    return (
        f"the codebook is as claimed, but the bound {exact_text(certificate.bound)} rests on "
        f"{certificate.summary}, which nothing here can check ({_limit_by_theory(design.problem)})."
    )


def _limit_by_theory(problem: DesignProblem) -> str:
    if isinstance(problem, TernaryProblem):
        return f"theory allows at most {exact_text(exact(problem.ternary_theory().value))}"
    if problem.maximises:
        return f"coding theory allows at most {problem.theory().value}"
    targets = () if problem.target_distances is None else problem.target_distances
    least = exact_text(target_bound(problem.n_columns, targets).value)
    return f"coding theory allows no less than {least}"


def _wrong_claims(design: Design, codebook: Codebook) -> list[str]:
    wrong = []
    objective = design.problem.objective_of(codebook)
    if design.objective != objective:
        wrong.append(
            f"the objective is stored as {design.objective} but the matrix has {objective}"
        )
    certificate = design.certificate
    if design.bound is not None and (certificate is None or certificate.bound != design.bound):
        wrong.append(f"nothing stands behind the bound {design.bound}")
    if certificate is not None:
        wrong += certificate.check(design.problem, codebook)
    if design.bound is not None:
        ahead = objective - design.bound if design.problem.maximises else design.bound - objective
        if ahead > 0:
            wrong.append(f"the codebook does better than the bound {design.bound} allows")
        if design.status is Status.OPTIMAL and ahead != 0:
            wrong.append(f"called optimal, with {objective} where the bound is {design.bound}")
    elif design.status is Status.OPTIMAL:
        wrong.append("called optimal without a bound")
    wrong += _wrong_separation(design, codebook)
    if certificate is not None and not wrong:
        if design.status is Status.OPTIMAL:
            wrong += certificate.check_optimum()
        if not certificate.is_checkable:
            wrong += _contradictions(design.problem, certificate.bound, codebook.n_columns)
    return wrong


def _wrong_separation(design: Design, codebook: Codebook) -> list[str]:
    separation = design.separation_certificate
    if separation is None:
        return []
    if isinstance(design.problem, TernaryProblem):
        return ["no bound on the column distance is known for ternary codebooks"]
    wrong = separation.check_separation(codebook)
    if (codebook.min_column_distance() or 0) > separation.bound:
        wrong.append(f"columns are further apart than the bound {separation.bound} allows")
    return wrong


def _contradictions(problem: DesignProblem, bound: Exact, n_columns: int) -> list[str]:
    """Say so if a codebook that is quickly found does better than a solver's bound allows.

    It has no more columns than the one in the file, whatever the problem allows. Nothing finds
    ternary codebooks as quickly.
    """
    if isinstance(problem, TernaryProblem):
        return []
    if problem.n_classes > MAX_CLASSES:
        return [f"no solver can hold a program for {problem.n_classes} classes"]
    problem = replace(problem, n_columns=min(problem.n_columns, n_columns))
    for find in (_constructed, _searched):
        check_deadline()
        codebook = find(problem, bound)
        if codebook is None or problem.violations(codebook):
            continue
        value = problem.objective_of(codebook)
        if value > bound if problem.maximises else value < bound:
            return [f"the bound {bound} is false: there is a codebook with {exact_text(value)}"]
    return []


def _constructed(problem: DesignProblem, bound: Exact) -> Codebook | None:
    if not problem.maximises:
        return None
    if problem.n_symbols > 2:
        return symbol_codebook(problem, int(bound) + 1, seconds_left(_CONSTRUCTION_SECONDS))
    from ecoc.constructions import construct

    return construct(
        problem.n_classes,
        problem.n_columns,
        min_column_distance=problem.rho,
        separation="one-sided" if problem.separation == "one-sided" else "two-sided",
        random_state=0,
        time_limit=seconds_left(_CONSTRUCTION_SECONDS),
        target_distance=int(bound) + 1,
    )


def _searched(problem: DesignProblem, bound: Exact) -> Codebook | None:
    """One run of the search, which asks for no more than the bound excludes."""
    if problem.n_symbols > 2:
        return None
    better = int(bound) + 1 if problem.maximises else None
    steps = problem.n_classes + problem.n_columns
    return search_codebook(
        problem,
        bound=better,
        at_least=better or 1,
        n_starts=1,
        n_moves=max(1, min(_SEARCH_MOVES, _SEARCH_STEPS // steps)),
        random_state=0,
    ).codebook


def _from_plain(codebook: Codebook, claim: Mapping[str, Any]) -> Design:
    unknown = sorted(set(claim) - _CLAIMS)
    if unknown:
        raise InvalidInputError(f"unknown key {unknown[0]!r}.")
    problem = DesignProblem.from_plain(claim.get("problem"))
    values = {"optimal": Status.OPTIMAL, "feasible": Status.FEASIBLE}
    if not isinstance(claim.get("status"), str) or claim["status"] not in values:
        raise InvalidInputError(f"status must be one of {', '.join(values)}.")
    bound = claim.get("bound")
    notes = claim.get("notes") or []
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise InvalidInputError("notes must be a list of texts.")
    return Design(
        problem=problem,
        codebook=codebook,
        status=values[claim["status"]],
        objective=exact_from_plain("objective", claim.get("objective")),
        bound=None if bound is None else exact_from_plain("bound", bound),
        certificate=Certificate.from_plain(claim.get("proof")),
        separation_certificate=Certificate.from_plain(claim.get("separation_proof")),
        notes=tuple(notes),
    )


_CLAIMS = {
    "problem",
    "status",
    "objective",
    "bound",
    "proof",
    "separation_proof",
    "notes",
}
