"""How many codebooks of several symbols are proved optimal, and in how long. One core.

    python benchmarks/symbols.py                      # all cells of the grid; hours
    python benchmarks/symbols.py --every 50           # every 50th cell, minutes
    python benchmarks/symbols.py --classes 10         # one number of classes
    python benchmarks/symbols.py --record cells.jsonl # keeps each cell; a second run goes on
    python benchmarks/symbols.py --annealing 40       # so many cells against annealing
    python benchmarks/symbols.py --quick --every 50   # a hundredth of the work, all of it if that
                                                      # proves nothing
    python benchmarks/symbols.py --atlas              # only what the atlas has proved, of all cells
    python benchmarks/symbols.py --atlas --annealing 12  # and its open cells against annealing
    python benchmarks/symbols.py --smoke              # seconds: a few cells

The grid: k = 3..50 classes, q = 3, 4, 5, 8, 10 symbols, ceil(k/2) + 1 <= L <= 2k columns.
A cell is what `design_codebook` gives; q symbols for fewer than q classes are k symbols. It is
proved optimal if its row distance equals its bound. Every design is saved, read again, which
checks the codebook and the bound, and checked by tools/verify_design.py. A cell that the atlas has
proved is proved by its design, whatever the work, which goes into even columns; --quick saves that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from ecoc.atlas import packaged_atlas
from ecoc.design import design_codebook, read_design
from ecoc.design.symbol_search import search_symbols

VERIFIER = Path(__file__).parents[1] / "tools" / "verify_design.py"
SYMBOLS = (3, 4, 5, 8, 10)
SPECIAL = ((50, 8, 10), (100, 12, 10), (200, 23, 10))

Cell = tuple[int, int, int]


def grid(classes: range) -> list[Cell]:
    """The cells (k, L, q)."""
    return [(k, n, q) for k in classes for q in SYMBOLS for n in range((k + 1) // 2 + 1, 2 * k + 1)]


def measure(cell: Cell, effort: float = 1.0) -> dict[str, object]:
    """The distance, the bound and what stands behind them, checked again by both verifiers."""
    k, n, q = cell
    began = time.perf_counter()
    design = design_codebook(k, n, n_symbols=min(k, q), effort=effort, random_state=0)
    if effort < 1 and design.status != "optimal":
        design = design_codebook(k, n, n_symbols=min(k, q), random_state=0)
    seconds = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "design.json"
        design.save(path)
        read_design(path)  # raises if a claim is false
        command = [sys.executable, str(VERIFIER), str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        # What rests on a solver's word alone is not optimal for the verifier.
        proof = design.certificate
        checkable = design.status == "optimal" and proof is not None and proof.is_checkable
        if said.returncode not in ((0,) if checkable else (0, 3)):
            raise SystemExit(f"{VERIFIER} does not accept {cell}: {said.stdout}{said.stderr}")
    codebook, proof = design.codebook, design.certificate
    return {
        "cell": list(cell),
        "distance": int(design.objective or 0),
        "bound": int(design.bound or 0),
        "ground": "" if proof is None else proof.facts.get("name", proof.kind),
        "method": codebook.provenance.method if codebook and codebook.provenance else "",
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


def report_atlas(cells: list[Cell]) -> list[dict[str, object]]:
    """Print how many cells the atlas has proved, by the number of symbols; return the open ones."""
    atlas = packaged_atlas()
    open_cells: list[dict[str, object]] = []
    print("  q  cells  proved in the atlas")
    for q in (*SYMBOLS, None):
        of_symbols = [cell for cell in cells if q in {None, cell[2]}]
        records = [atlas.find(k, n, min(k, symbols)) for k, n, symbols in of_symbols]
        proved = sum(record is not None and record.is_proved for record in records)
        share = proved / max(1, len(of_symbols))
        print(f"{'all' if q is None else q:>3} {len(of_symbols):>6} {proved:>6} ({share:.1%})")
        if q is None:
            open_cells += [
                {"cell": list(cell), "distance": record.distance}
                for cell, record in zip(of_symbols, records, strict=True)
                if record is not None and not record.is_proved
            ]
    return open_cells


def against_annealing(results: list[dict[str, object]], count: int) -> None:
    """Compare with plain annealing of 1.5 million moves, three starts, on a sample of cells."""
    rng = np.random.default_rng(0)
    better = worse = 0
    for i in rng.permutation(len(results))[:count]:
        k, n, q = results[i]["cell"]  # type: ignore[misc]
        ours = int(results[i]["distance"])  # type: ignore[call-overload]
        theirs = search_symbols(k, n, min(k, q), random_state=0).distance
        better += ours > theirs
        worse += ours < theirs
        print(f"k={k} L={n} q={q}: {ours}, annealing {theirs}", flush=True)
    if count:
        print(f"annealing of 1.5 million moves: above it in {better}, below in {worse} of {count}")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="take every so manieth cell")
    parser.add_argument("--offset", type=int, default=0, help="the first cell that is taken")
    parser.add_argument("--classes", type=int, help="one number of classes only")
    parser.add_argument("--annealing", type=int, default=0, help="cells to compare")
    parser.add_argument("--record", type=Path, help="a file with a line for each cell")
    parser.add_argument("--quick", action="store_true", help="little work where that is enough")
    parser.add_argument("--atlas", action="store_true", help="only count what the atlas has")
    parser.add_argument("--smoke", action="store_true", help="a few small cells")
    args = parser.parse_args()
    classes = range(3, 51) if args.classes is None else range(args.classes, args.classes + 1)
    cells = grid(range(6, 8) if args.smoke else classes)[args.offset :: args.every]
    if args.smoke:
        cells = cells[::30]
    if args.atlas:
        open_cells = report_atlas(cells)
        against_annealing(open_cells, min(args.annealing, len(open_cells)))
        return
    results = []
    if args.record is not None and args.record.exists():
        results = [json.loads(line) for line in args.record.read_text().splitlines()]
    known = {tuple(r["cell"]) for r in results}
    for cell in cells:
        if cell not in known:
            results.append(measure(cell, 0.01 if args.quick else 1.0))
            if args.record is not None:
                with args.record.open("a") as file:
                    file.write(json.dumps(results[-1]) + "\n")
    chosen = set(cells)
    results = [r for r in results if tuple(r["cell"]) in chosen]
    report(results)
    against_annealing(results, 1 if args.smoke else min(args.annealing, len(results)))
    if not args.smoke and args.classes is None:
        print("\n  k   L   q  distance  bound  seconds")
        for cell in SPECIAL:
            r = measure(cell)
            k, n, q = cell
            print(f"{k:>3} {n:>3} {q:>3} {r['distance']:>9} {r['bound']:>6} {r['seconds']:>8}")


if __name__ == "__main__":
    main()
