"""How many ternary codebooks are proved optimal, and in how long. One core.

    python benchmarks/ternary.py               # both grids, minutes
    python benchmarks/ternary.py --grid small  # k <= 7, L <= 12, support 2, 3, 4 and k
    python benchmarks/ternary.py --grid ten    # k = 10, L = 20..45, support 4, 5, 6 and 8
    python benchmarks/ternary.py --half-zero 600  # (10, 20): seconds of looking for distance 11
    python benchmarks/ternary.py --smoke       # seconds: a few cells

A cell is what `design_codebook(k, L, alphabet="ternary", max_support=w)` gives: the least number
of columns that set a pair of classes apart. Every design is saved, read again, which checks the
codebook and the bound, and checked by tools/verify_design.py. Cells without a codebook (some pair
cannot be set apart) must be refused. Where there are few sets of columns, all of them are tried,
which must give the same.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from math import comb
from pathlib import Path

from ecoc.design import Design, design_codebook, read_design
from ecoc.errors import InfeasibleError

VERIFIER = Path(__file__).parents[1] / "tools" / "verify_design.py"
MOST_SETS = 300_000

Cell = tuple[int, int, int]


def small_cells() -> list[Cell]:
    """The cells (k, L, w) with at most seven classes."""
    supports = ((k, w) for k in range(3, 8) for w in sorted({2, 3, 4, k}) if w <= k)
    return [(k, n, w) for k, w in supports for n in range(1, 13)]


def ten_cells() -> list[Cell]:
    """The cells (k, L, w) with ten classes."""
    return [(10, n, w) for w in (4, 5, 6, 8) for n in range(20, 46)]


def designed(cell: Cell) -> Design | None:
    """The design of a cell, checked again by both verifiers; None if there is no codebook."""
    k, n, w = cell
    try:
        design = design_codebook(k, n, alphabet="ternary", max_support=w, random_state=0)
    except InfeasibleError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "design.json"
        design.save(path)
        read_design(path)  # raises if a claim is false
        command = [sys.executable, str(VERIFIER), str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        proof = design.certificate
        checkable = design.status == "optimal" and proof is not None and proof.is_checkable
        if said.returncode not in ((0,) if checkable else (0, 3)):
            raise SystemExit(f"{VERIFIER} does not accept {cell}: {said.stdout}{said.stderr}")
    return design


def brute_force(cell: Cell) -> int | None:
    """The best least cover of all sets of columns; None where they are too many."""
    k, n, w = cell
    columns = []
    for used in range(2, w + 1):
        for classes in combinations(range(k), used):
            for size in range(1, used):
                # The first class is on the side of plus.
                for plus in combinations(classes, size):
                    if plus[0] == classes[0]:
                        minus = set(classes) - set(plus)
                        columns.append({(min(p, q), max(p, q)) for p in plus for q in minus})
    n = min(n, len(columns))
    if comb(len(columns), n) > MOST_SETS:
        return None
    pairs = list(combinations(range(k), 2))
    return max(
        min(sum(pair in column for column in chosen) for pair in pairs)
        for chosen in combinations(columns, n)
    )


def run(name: str, cells: list[Cell]) -> None:
    """Measure the cells of a grid, and print what is proved."""
    proved, gaps, refused, agreed, seconds, grounds = 0, [], 0, 0, [], {}
    for cell in cells:
        began = time.perf_counter()
        design = designed(cell)
        seconds.append(time.perf_counter() - began)
        reached = 0 if design is None else int(design.objective or 0)
        best = brute_force(cell)
        if best is not None:
            agreed += 1
            if best != reached:
                raise SystemExit(f"{cell}: {reached} where going through all sets gives {best}")
        if design is None:
            refused += 1
            continue
        proof = design.certificate
        if design.status == "optimal" and proof is not None and proof.is_checkable:
            proved += 1
            ground = proof.facts.get("name", proof.kind)
            grounds[ground] = grounds.get(ground, 0) + 1
        else:
            gaps.append((cell, reached, int(design.bound or 0)))
    n = len(cells) - refused
    print(
        f"{name}: {n} cells with a codebook, {proved} proved optimal ({proved / n:.1%}), "
        f"{refused} refused, {agreed} agree with going through all sets"
    )
    print(f"  seconds: mean {sum(seconds) / len(seconds):.2f}, largest {max(seconds):.1f}")
    print("  bounds:", ", ".join(f"{name} {count}" for name, count in sorted(grounds.items())))
    for (k, length, w), reached, bound in gaps:
        print(f"  not proved: k={k} L={length} w={w}: {reached}, bound {bound}")


def half_zero(seconds: float) -> None:
    """Look for ten rows of twenty entries at distance 11, in which 0 counts 1/2."""
    design = design_codebook(
        10, 20, alphabet="ternary", objective="max-min-distance", time_limit=seconds, random_state=0
    )
    print(f"k=10 L=20, zeros count 1/2: {design.verdict}; {design.stages[-1].note}")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grid", choices=["small", "ten"], help="one grid only")
    parser.add_argument("--half-zero", type=float, help="seconds for the distance 11 alone")
    parser.add_argument("--smoke", action="store_true", help="a few small cells")
    args = parser.parse_args()
    if args.half_zero is not None:
        half_zero(args.half_zero)
        return
    if args.smoke:
        run("a few", [(4, 5, 4), (5, 6, 3), (6, 4, 4)])
        return
    for name, cells in (("small", small_cells()), ("ten", ten_cells())):
        if args.grid in {None, name}:
            run(name, cells)


if __name__ == "__main__":
    main()
