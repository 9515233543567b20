"""The verb that lists bounds."""

from __future__ import annotations

import click

from ecoc.cli._common import (
    balance_option,
    classes_option,
    columns_option,
    common_options,
    print_json,
    rho_option,
    separation_option,
)


@click.command()
@classes_option
@columns_option
@rho_option
@separation_option
@balance_option
@common_options
def bounds(
    classes: int,
    columns: int | None,
    min_column_distance: int | None,
    separation: str,
    balance: float | None,
    as_json: bool,
) -> None:
    """List what coding theory says about the largest minimum row distance.

    Every bound has a proof that was checked in whole numbers before it is printed; a bound
    that rests on a published value says so.
    """
    from ecoc.bounds import all_bounds, check_bound
    from ecoc.design import DesignProblem
    from ecoc.errors import VerificationError

    problem = DesignProblem(
        classes,
        2 * classes if columns is None else columns,
        min_column_distance=min_column_distance,
        separation=separation,
        max_imbalance=balance,
    ).bound_problem
    found = all_bounds(problem)
    for bound in found:
        wrong = check_bound(problem, bound)
        if wrong:
            raise VerificationError(f"the {bound.name} bound", wrong)
    if as_json:
        print_json(
            [
                {"name": b.name, "value": b.value, "reason": b.reason, "cited": b.cited}
                for b in found
            ]
        )
        return
    width = max(len(bound.name) for bound in found)
    for bound in found:
        source = f" [{bound.cited}]" if bound.cited else ""
        click.echo(f"{bound.value:>5}  {bound.name:<{width}}  {bound.reason}{source}")
