"""What is asked of design_codebook in seconds and bytes, and what it takes.

    python benchmarks/limits.py             # everything, about a quarter of an hour
    python benchmarks/limits.py memory      # some sections
    python benchmarks/limits.py --smoke     # seconds: a case of some sections

Each case has a process of its own. Its memory is the most that it and the process of its
solver have held, added up. A time limit is kept if at most 2 seconds or 10 % are added to it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

CODE = """
import json, resource, sys, time
from ecoc.design import design_codebook
case = json.loads(sys.argv[1])
began = time.perf_counter()
found = design_codebook(case.pop("k"), case.pop("L"), **case)
used = time.perf_counter() - began
memory = [resource.getrusage(who).ru_maxrss / 1024
          for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps({
    "seconds": used, "memory": sum(memory), "status": found.status.name,
    "objective": str(found.objective), "bound": str(found.bound),
    "cut": [note for note in found.notes if "cut short" in note],
}))
"""
SIZES = [120, 340, 56, 78, 90, 101, 203, 45, 67, 89, *range(150, 200, 10), *range(75, 180, 10)]


def run(case: dict[str, object], **environment: str) -> dict[str, object]:
    """One design in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(case)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout)


def show(case: dict[str, object], **environment: str) -> bool:
    """Print what a case takes; whether it keeps its limits."""
    found = run(case, **environment)
    rest = {key: value for key, value in case.items() if key not in {"k", "L", "class_sizes"}}
    limit, memory = rest.pop("time_limit", None), rest.pop("memory_limit", None)
    kept = limit is None or found["seconds"] <= limit + max(2.0, 0.1 * limit)
    most = "-"
    if memory is not None:
        most = f"{memory / 2**20:.0f}"
        kept = kept and found["memory"] <= memory / 2**20
    how = ", ".join(str(value) for value in rest.values()) or "auto"
    if "class_sizes" in case:
        how += ", class sizes"
    cut = found["cut"][0] if found["cut"] else ""
    print(
        f"{case['k']:>6} {case['L']:>4}  {how:<28} {limit or '-':>6} {found['seconds']:>7.1f} "
        f"{most:>6} {found['memory']:>7.0f}  {'kept' if kept else 'NOT KEPT':<8} "
        f"{found['status']:<8} {found['objective']:>4} of {found['bound']:<4} {cut}",
        flush=True,
    )
    return kept


def hard(smoke: bool) -> list[bool]:
    """Designs whose limits were once missed by far."""
    cases = [
        {"k": 20000, "L": 64, "time_limit": 60},
        {"k": 15, "L": 25, "method": "integer-program", "time_limit": 20},
        {"k": 14, "L": 17, "method": "integer-program", "time_limit": 20},
        {"k": 11, "L": 17, "formulation": "ip1", "time_limit": 20},
        {"k": 14, "L": 17, "formulation": "ip3", "solver": "scip", "time_limit": 5},
        {"k": 26, "L": 40, "max_imbalance": 0.05, "class_sizes": SIZES, "time_limit": 5},
    ]
    return [show(case) for case in ([{"k": 5, "L": 6, "time_limit": 1}] if smoke else cases)]


def methods(smoke: bool) -> list[bool]:
    """Every method, from 3 to 20,000 classes."""
    sizes = [
        (3, 3),
        (10, 12),
        (20, 11),
        (64, 40),
        (300, 64),
        (1000, 128),
        (3000, 64),
        (5000, 64),
        (20000, 64),
    ]
    return [
        show({"k": k, "L": length, "method": method, "time_limit": 5})
        for k, length in (sizes[:1] if smoke else sizes)
        for method in (("search",) if smoke else ("auto", "construction", "search"))
    ]


def programs(smoke: bool) -> list[bool]:
    """Every program and solver."""
    names = [(3, "ip1"), (9, "ip1"), (11, "ip1"), (12, "ip2"), (12, "ip3"), (17, "ip3")]
    return [
        show({"k": k, "L": k + 3, "formulation": name, "solver": solver, "time_limit": 5})
        for solver in (("highs",) if smoke else ("highs", "scip"))
        for k, name in (names[:1] if smoke else names)
    ]


def symbols(smoke: bool) -> list[bool]:
    """More than two symbols, from 3 to 1,000 classes."""
    sizes = [
        (3, 3, 3),
        (10, 14, 3),
        (12, 16, 4),
        (40, 34, 4),
        (81, 60, 3),
        (200, 46, 10),
        (300, 60, 5),
        (1000, 40, 4),
        (1000, 128, 16),
    ]
    cases = [
        {"k": k, "L": length, "n_symbols": q, "method": method, "time_limit": limit}
        for k, length, q in (sizes[:1] if smoke else sizes)
        for method, limit in (("auto", 1), ("auto", 10), ("search", 5))
    ]
    cases.append({"k": 40, "L": 30, "n_symbols": 5, "min_column_distance": 10, "time_limit": 5})
    cases.append({"k": 9, "L": 14, "n_symbols": 3, "method": "integer-program", "time_limit": 5})
    return [show(case) for case in (cases[:1] if smoke else cases)]


def cold(smoke: bool) -> list[bool]:
    """Nothing is compiled yet."""
    kept = []
    for k, length in [(3, 3)] if smoke else [(10, 12), (26, 40), (1000, 64)]:
        with tempfile.TemporaryDirectory() as folder:
            case = {"k": k, "L": length, "time_limit": 5}
            kept.append(show(case, NUMBA_CACHE_DIR=folder))
    return kept


def memory(smoke: bool) -> list[bool]:
    """500 MB for the process and that of the solver together."""
    half = 500_000_000
    cases = [
        {"k": 15, "L": 25, "method": "integer-program"},
        {"k": 14, "L": 17, "method": "integer-program"},
        {"k": 11, "L": 17, "formulation": "ip1"},
        {"k": 13, "L": 20, "formulation": "ip2"},
        {"k": 14, "L": 17, "formulation": "ip3", "solver": "scip"},
        {"k": 20000, "L": 64},
        {"k": 14, "L": 17},
    ]
    limits = {"time_limit": 1 if smoke else 20, "memory_limit": half}
    return [show({**case, **limits}) for case in (cases[:1] if smoke else cases)]


SECTIONS = {
    section.__name__: section for section in (hard, methods, programs, symbols, cold, memory)
}


def main() -> None:
    """Run the sections that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=f"any of {', '.join(SECTIONS)}")
    parser.add_argument("--smoke", action="store_true", help="a case of some sections")
    arguments = parser.parse_args()
    unknown = set(arguments.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}")
    kept = []
    for name in arguments.sections or (
        ["hard", "symbols", "memory"] if arguments.smoke else SECTIONS
    ):
        print(f"\n== {name}: {SECTIONS[name].__doc__}")
        print("     k    L  how                            asked    used  MB ask    used")
        kept += SECTIONS[name](arguments.smoke)
    print(f"\n{sum(kept)} of {len(kept)} keep their limits")


if __name__ == "__main__":
    main()
