"""What design_codebook reaches and proves, in how long. One core.

    python benchmarks/design.py                 # everything; the grid takes minutes
    python benchmarks/design.py table2 special  # some sections
    python benchmarks/design.py --smoke         # seconds: a few cells of each section

Figures of the paper (Gupta & Amin 2021) stand in columns of their own, headed "paper".
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from ecoc.codes import dense_random
from ecoc.design import Design, DesignProblem, design_codebook, search_codebook
from ecoc.errors import InfeasibleError

PAPER_TABLE_2 = {10: 10, 11: 12, 12: 12, 13: 13, 14: 14, 15: 15, 16: 16, 17: 16, 18: 17}
RULES = ("one-sided", "two-sided")


def timed(function: Callable[[], Design]) -> tuple[Design, float]:
    """A design and the seconds it took."""
    began = time.perf_counter()
    return function(), time.perf_counter() - began


def ground(design: Design) -> str:
    """What stands behind the bound, or the gap."""
    proof = design.certificate.summary if design.certificate else "nothing"
    return proof if design.status.name == "OPTIMAL" else f"bound {design.bound} ({proof})"


def checked(design: Design) -> bool:
    """Whether the proof is accepted again, from scratch."""
    problem, codebook = design.problem, design.codebook
    return (
        design.certificate is not None
        and not problem.violations(codebook)
        and not design.certificate.check(problem, codebook)
    )


def table2(smoke: bool) -> None:
    """The paper's Table 2: L = 2k, rho = floor(k / 3)."""
    for rule in RULES:
        total = 0.0
        print(f"\n{rule}\n  k   L rho  paper  ours  status   seconds  ground")
        for k in (10,) if smoke else PAPER_TABLE_2:
            wanted = {"min_column_distance": k // 3, "separation": rule, "random_state": 0}
            found, seconds = timed(lambda k=k, w=wanted: design_codebook(k, 2 * k, **w))
            total += seconds
            print(
                f"{k:>3} {2 * k:>3} {k // 3:>3} {PAPER_TABLE_2[k]:>6} {found.objective:>5}  "
                f"{found.status.name:<8} {seconds:>7.3f}  {ground(found)}, checked {checked(found)}"
            )
        print(f"together {total:.2f} s")


def sweep(smoke: bool) -> None:
    """L = 2k for many k, with the second goal: columns far apart."""
    sizes = [3, 9] if smoke else [*range(3, 131), 200, 256, 300, 500, 1000]
    missed, close, slowest = [], [], Counter()
    print("\n   k  distance  status    columns apart  at most  seconds")
    for k in sizes:
        found, seconds = timed(lambda k=k: design_codebook(k, 2 * k, random_state=0))
        apart = found.codebook.min_column_distance()
        most = found.separation_certificate.bound if found.separation_certificate else "-"
        slowest[k] = seconds
        if found.status.name != "OPTIMAL":
            missed.append(k)
        if 10 <= k <= 66 and apart < k // 3:
            close.append(k)
        print(
            f"{k:>4} {found.objective:>9}  {found.status.name:<8} {apart:>14} {most:>8} "
            f"{seconds:>8.2f}  {'' if found.status.name == 'OPTIMAL' else ground(found)}",
            flush=True,
        )
    print(f"not proved: {missed or 'none'}; columns closer than k // 3 (10..66): {close or 'none'}")
    print(f"slowest: {[(k, round(s, 1)) for k, s in slowest.most_common(4)]}")


def grid(smoke: bool) -> None:
    """Every cell 5 <= k <= 66, ceil(k / 2) + 2 <= L <= 3k, columns distinct."""
    began, proved, cells, missed = time.perf_counter(), 0, 0, []
    for k in (5, 12) if smoke else range(5, 67):
        for length in range(-(-k // 2) + 2, min(3 * k, 2 ** (k - 1) - 1) + 1, 7 if smoke else 1):
            found = design_codebook(k, length, min_column_distance=1, time_limit=10, random_state=0)
            cells += 1
            if found.status.name == "OPTIMAL":
                proved += 1
            else:
                missed.append((k, length, found.objective, found.bound))
    seconds = time.perf_counter() - began
    print(f"\n{proved} of {cells} cells proved optimal in {seconds:.0f} s")
    print(f"missed (k, L, found, bound): {missed or 'none'}")


def few(smoke: bool) -> None:
    """Every L >= ceil(log2 k) for k <= 20, against annealing alone and random codes."""
    proved, cells, missed, worse = 0, 0, [], []
    for k in (6,) if smoke else range(3, 21):
        least = (k - 1).bit_length()
        for length in range(least, min(-(-k // 2) + 2, 2 ** (k - 1))):
            found = design_codebook(k, length, min_column_distance=1, random_state=0)
            cells += 1
            proved += found.status.name == "OPTIMAL"
            if found.status.name != "OPTIMAL":
                missed.append((k, length, found.objective, found.bound))
            problem = DesignProblem(k, length)
            others = [search_codebook(problem, random_state=1).objective or 0]
            with suppress(InfeasibleError):
                others.append(dense_random(k, length, random_state=0).min_row_distance)
            if found.objective < max(others):
                worse.append((k, length, found.objective, max(others)))
    print(
        f"\n{proved} of {cells} cells proved; gap stated (k, L, found, bound): {missed or 'none'}"
    )
    print(f"below annealing alone or best of 10,000 random: {worse or 'none'}")


def special(smoke: bool) -> None:
    """Cells where something other than the averaging bound decides."""
    cases = [
        (7, 14, 2, "two-sided", 7),
        (8, 16, 3, "two-sided", 4),
        (9, 18, 3, "two-sided", 8),
        (5, 13, 1, "two-sided", 6),
        (6, 17, 1, "two-sided", 9),
        (50, 13, 1, "two-sided", 5),
    ]
    print("\n    k    L rho  rule       expected  ours  status   seconds  ground")
    for k, length, rho, rule, expected in cases[:3] if smoke else cases:
        found, seconds = timed(
            lambda k=k, n=length, r=rho, s=rule: design_codebook(
                k, n, min_column_distance=r, separation=s, random_state=0
            )
        )
        print(
            f"{k:>5} {length:>4} {rho:>3}  {rule:<10} {expected:>7} {found.objective:>6}  "
            f"{found.status.name:<8} {seconds:>7.2f}  {ground(found)}"
        )


def programs(smoke: bool) -> None:
    """IP3 alone, by HiGHS on one core: no bound and no start from outside."""
    cases = [(8, 16, 2)] if smoke else [(10, 20, 3), (11, 22, 3), (12, 24, 4)]
    print("\n rule       k   L rho  optimum  status   CPU seconds")
    for rule in RULES:
        for k, length, rho in cases:
            began = time.process_time()
            found = design_codebook(
                k,
                length,
                min_column_distance=rho,
                separation=rule,
                formulation="ip3",
                time_limit=300,
            )
            print(
                f"{rule:>10} {k:>3} {length:>3} {rho:>3} {found.objective!s:>8}  "
                f"{found.status.name:<8} {time.process_time() - began:>10.1f}",
                flush=True,
            )


def scale(smoke: bool) -> None:
    """Many classes."""
    print("\n    k     L  found  bound  gap     seconds  how")
    for k, length in [(200, 20)] if smoke else [(1000, 63), (1000, 2000), (20000, 64)]:
        found, seconds = timed(
            lambda k=k, n=length: design_codebook(k, n, min_column_distance=1, random_state=0)
        )
        print(
            f"{k:>5} {length:>5} {found.objective:>6} {found.bound:>6} {found.gap:>6.1%} "
            f"{seconds:>8.1f}  {found.codebook.name}"
        )


def separation(smoke: bool) -> None:
    """The largest distance f*(k, 2k, rho) for every rho that two columns can have."""
    print("\n    rule    k rho  f*  status    seconds  ground")
    for rule in RULES:
        for k in range(3, 6 if smoke else 11):
            for rho in range(1, (k // 2 if rule == "two-sided" else k - 1) + 1):
                began = time.perf_counter()
                length = min(2 * k, 2 ** (k - 1) - 1)
                try:
                    found = design_codebook(
                        k, length, min_column_distance=rho, separation=rule, random_state=0
                    )
                except InfeasibleError as error:
                    print(f"{rule:>9} {k:>3} {rho:>3}   -  INFEASIBLE  {str(error)[:70]}")
                    continue
                seconds = time.perf_counter() - began
                print(
                    f"{rule:>9} {k:>3} {rho:>3} {found.objective:>3}  {found.status.name:<9} "
                    f"{seconds:>7.2f}  {ground(found)}",
                    flush=True,
                )


def targets(smoke: bool) -> None:
    """Target distances (equation 19) for ten classes, against its parts in the same time."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 3))
    similarity = np.linalg.norm(centres[:, None] - centres, axis=2)
    limit = 0.2 if smoke else 60.0
    print("\n   L  rho  ours  bound  status    seconds  annealing  HiGHS")
    for length, rho in ((10, 2),) if smoke else ((n, 2) for n in range(10, 31)):
        wanted = np.round(similarity / similarity.max() * length * 0.7)
        request = {
            "min_column_distance": rho,
            "objective": "target-distances",
            "target_distances": wanted,
        }
        found, seconds = timed(
            lambda n=length, r=request: design_codebook(
                10, n, **r, time_limit=limit, random_state=0
            )
        )
        spent = max(seconds, 0.1 if smoke else 1.0)
        annealed = search_codebook(
            DesignProblem(10, length, **request), time_limit=spent, random_state=0
        )
        solved = design_codebook(10, length, **request, formulation="ip3", time_limit=spent)
        print(
            f"{length:>4} {rho:>4} {found.objective:>5} {found.bound:>6}  "
            f"{found.status.name:<8} {seconds:>8.1f} {annealed.objective!s:>10} "
            f"{solved.objective!s:>6}",
            flush=True,
        )


SECTIONS = {
    section.__name__: section
    for section in (table2, programs, sweep, special, scale, few, separation, targets, grid)
}


def main() -> None:
    """Run the sections that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=f"any of {', '.join(SECTIONS)}")
    parser.add_argument("--smoke", action="store_true", help="a few cells of each section")
    arguments = parser.parse_args()
    unknown = set(arguments.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}")
    for name in arguments.sections or SECTIONS:
        print(f"\n== {name}: {SECTIONS[name].__doc__}")
        SECTIONS[name](arguments.smoke)


if __name__ == "__main__":
    main()
