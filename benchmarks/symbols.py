"""How many codebooks of several symbols are proved optimal, and in how long. One core.

    python benchmarks/symbols.py                      # all cells of the grid; hours
    python benchmarks/symbols.py --every 50           # every 50th cell, minutes
    python benchmarks/symbols.py --classes 10         # one number of classes
    python benchmarks/symbols.py --record cells.jsonl # keeps each cell; a second run goes on
    python benchmarks/symbols.py --annealing 40       # so many cells against annealing
    python benchmarks/symbols.py --smoke              # seconds: a few cells

The grid: k = 3..50 classes, q = 3, 4, 5, 8, 10 symbols, ceil(k/2) + 1 <= L <= 2k columns.
A cell is proved optimal if its row distance equals an upper bound whose checker accepts it;
for few classes the bound may be that of the integer program over all partitions.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

import numpy as np

from ecoc.bounds.checking.symbols import check_symbol_bound
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.constructions.symbol_measures import has_different_columns, least_distance
from ecoc.constructions.symbols import construct_symbols
from ecoc.design.programs.partitions import build_partition_program
from ecoc.design.solvers import solve
from ecoc.design.symbol_search import search_symbols

SYMBOLS = (3, 4, 5, 8, 10)
SPECIAL = ((50, 8, 10), (100, 12, 10), (200, 23, 10))
MAX_PROGRAM_CLASSES = 7

Cell = tuple[int, int, int]


def grid(classes: range) -> list[Cell]:
    """The cells (k, L, q)."""
    return [(k, n, q) for k in classes for q in SYMBOLS for n in range((k + 1) // 2 + 1, 2 * k + 1)]


def measure(cell: Cell) -> dict[str, object]:
    """The distance, the bound and what stands behind them, checked again."""
    k, n, q = cell
    began = time.perf_counter()
    problem = SymbolBoundProblem(k, n, q)
    bound = best_symbol_bound(problem)
    if check_symbol_bound(problem, bound):
        raise SystemExit(f"the bound of {cell} is not accepted")
    value, ground = bound.value, bound.name
    code = construct_symbols(k, n, q, random_state=0)
    matrix = None if code is None else code.matrix
    method = "nothing" if code is None else code.method
    distance = 0 if code is None else code.distance
    if distance < value and k <= MAX_PROGRAM_CLASSES:
        built = build_partition_program(k, n, q, cutoff=value)
        result = solve(built.program, time_limit=60)
        if result.x is not None and result.objective is not None and result.objective > distance:
            matrix, method = built.matrix_of(result.x), "integer program"
            distance = int(result.objective)
        if result.bound is not None and result.bound < value:
            value, ground = int(result.bound), "integer program"
    seconds = time.perf_counter() - began
    if matrix is not None and (
        least_distance(matrix) != distance
        or not has_different_columns(matrix)
        or matrix.shape[1] > n
        or matrix.max() >= q
    ):
        raise SystemExit(f"the codebook of {cell} is not what it should be")
    return {
        "cell": list(cell),
        "distance": distance,
        "bound": value,
        "ground": ground,
        "method": method,
        "seconds": round(seconds, 3),
    }


def report(results: list[dict[str, object]]) -> None:
    """Print how many cells are proved optimal by the number of symbols, and the others."""
    short = {tuple(r["cell"]): int(r["bound"]) - int(r["distance"]) for r in results}  # type: ignore[arg-type, call-overload]
    seconds = np.array([float(r["seconds"]) for r in results])  # type: ignore[arg-type]
    print("\n  q  cells  proved optimal  one short  more")
    for q in (*SYMBOLS, None):
        gaps = Counter(min(gap, 2) for cell, gap in short.items() if q in {None, cell[2]})
        total = sum(gaps.values())
        if total:
            share = f"{gaps[0]:>6} ({gaps[0] / total:.1%})"
            print(
                f"{'all' if q is None else q:>3} {total:>6} {share:>15} {gaps[1]:>10} {gaps[2]:>5}"
            )
    print(f"seconds: mean {seconds.mean():.2f}, largest {seconds.max():.1f}")
    ground = Counter(str(r["ground"]) for r in results if short[tuple(r["cell"])] == 0)  # type: ignore[arg-type]
    print("bounds:", ", ".join(f"{name} {count}" for name, count in ground.most_common()))
    print("not proved, by symbols and classes (columns):")
    for q in SYMBOLS:
        rows: dict[int, list[str]] = {}
        for (k, n, symbols), gap in sorted(short.items()):
            if symbols == q and gap:
                rows.setdefault(k, []).append(f"{n}" + (f" by {gap}" if gap > 1 else ""))
        for k, columns in rows.items():
            print(f"  q={q} k={k}: {', '.join(columns)}")


def against_annealing(results: list[dict[str, object]], count: int) -> None:
    """Compare with plain annealing of 1.5 million moves, one start, on a sample of cells."""
    rng = np.random.default_rng(0)
    better = worse = 0
    for i in rng.permutation(len(results))[:count]:
        k, n, q = results[i]["cell"]  # type: ignore[misc]
        ours = int(results[i]["distance"])  # type: ignore[call-overload]
        theirs = search_symbols(k, n, q, n_starts=1, random_state=0).distance
        better += ours > theirs
        worse += ours < theirs
        if ours < theirs:
            print(f"below annealing: k={k} L={n} q={q}: {ours} where it finds {theirs}")
    print(f"annealing of 1.5 million moves: above it in {better}, below in {worse} of {count}")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="take every so manieth cell")
    parser.add_argument("--offset", type=int, default=0, help="the first cell that is taken")
    parser.add_argument("--classes", type=int, help="one number of classes only")
    parser.add_argument("--annealing", type=int, default=0, help="cells to compare")
    parser.add_argument("--record", type=Path, help="a file with a line for each cell")
    parser.add_argument("--smoke", action="store_true", help="a few small cells")
    args = parser.parse_args()
    classes = range(3, 51) if args.classes is None else range(args.classes, args.classes + 1)
    cells = grid(range(6, 8) if args.smoke else classes)[args.offset :: args.every]
    if args.smoke:
        cells = cells[::9]
    results = []
    if args.record is not None and args.record.exists():
        results = [json.loads(line) for line in args.record.read_text().splitlines()]
    known = {tuple(r["cell"]) for r in results}
    for cell in cells:
        if cell not in known:
            results.append(measure(cell))
            if args.record is not None:
                with args.record.open("a") as file:
                    file.write(json.dumps(results[-1]) + "\n")
    chosen = set(cells)
    results = [r for r in results if tuple(r["cell"]) in chosen]
    report(results)
    against_annealing(results, 2 if args.smoke else min(args.annealing, len(results)))
    if not args.smoke and args.classes is None:
        print("\n  k   L   q  distance  bound  seconds")
        for cell in SPECIAL:
            r = measure(cell)
            k, n, q = cell
            print(f"{k:>3} {n:>3} {q:>3} {r['distance']:>9} {r['bound']:>6} {r['seconds']:>8}")


if __name__ == "__main__":
    main()
