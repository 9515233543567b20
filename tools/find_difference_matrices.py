"""Look for difference matrices by annealing, for the table in ecoc.constructions.differences.

    python tools/find_difference_matrices.py Q COLUMNS ROWS MOST [--seconds 60]

Prints the entry for each matrix with more rows than the last, starting from ROWS.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from ecoc._limits import Budget
from ecoc.constructions.differences import searched_moves
from ecoc.constructions.symmetric_symbols import Rotation, anneal_differences


def rotations(n_columns: int, least: int, most: int) -> Iterator[Rotation]:
    """Symmetries of so many rows whose order divides the number of columns."""
    for rows in range(least, most + 1):
        for order in range(1, n_columns + 1):
            for fixed in range(min(4, rows)):
                if n_columns % order == 0 and (rows - fixed) % order == 0 and rows > fixed:
                    yield Rotation(rows, order, fixed)


def main() -> None:
    """Search until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("q", type=int)
    parser.add_argument("columns", type=int)
    parser.add_argument("rows", type=int)
    parser.add_argument("most", type=int, help="the most rows to look for")
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    ends, least, seed = time.monotonic() + args.seconds, args.rows, 0
    while time.monotonic() < ends and least <= args.most:
        # The larger a symmetry, the fewer entries there are to find.
        for rotation in sorted(
            rotations(args.columns, least, args.most), key=lambda r: (-r.order, r.n_fixed)
        ):
            if rotation.n_rows < least or time.monotonic() > ends:
                continue
            found = anneal_differences(
                rotation,
                args.columns,
                args.q,
                args.columns // args.q,
                seed=seed,
                n_moves=searched_moves(rotation, args.columns),
                budget=Budget(),
            )
            if found is not None:
                least = rotation.n_rows + 1
                print(
                    f"    ({args.q}, {args.columns}): "
                    f"(({rotation.n_rows}, {rotation.order}, {rotation.n_fixed}, {seed}),),",
                    flush=True,
                )
        seed += 1


if __name__ == "__main__":
    main()
