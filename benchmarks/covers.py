"""Edge clique covers of the conflict graph: the paper's Table 1 beside ours.

    python benchmarks/covers.py            # k = 10 .. 15
    python benchmarks/covers.py --full     # k = 10 .. 18, every edge verified; minutes
    python benchmarks/covers.py --smoke    # seconds
    python benchmarks/covers.py --all      # every separation up to 18 classes; half an hour
    python benchmarks/covers.py --all --classes 16 17

The paper's seconds are from its own machine and program; ours and those of the
networkx peer are from this run. Each of our covers is verified on every edge.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import NamedTuple, ParamSpec, TypeVar

import networkx as nx

from ecoc.graphs import CliqueCover, ConflictGraph, clique_cover, verify_cover

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class PaperRow(NamedTuple):
    """A row of the paper's Table 1."""

    n_classes: int
    min_column_distance: int
    n_cliques: int
    seconds: float


PAPER = [
    PaperRow(10, 3, 695, 0.146),
    PaperRow(11, 3, 1_404, 0.208),
    PaperRow(12, 4, 8_165, 0.991),
    PaperRow(13, 4, 18_472, 2.573),
    PaperRow(14, 4, 41_088, 7.390),
    PaperRow(15, 5, 44_916, 58.957),
    PaperRow(16, 5, 91_304, 249.53),
    PaperRow(17, 5, 185_661, 935.76),
    PaperRow(18, 6, 1_073_248, 10_075.8),
]


def main() -> None:
    """Print the tables."""
    options = _parse()
    if options.all:
        for separation in ("one-sided", "two-sided"):
            _print_all(separation, options.classes)
        return
    last = 11 if options.smoke else 18 if options.full else 15
    rows = [row for row in PAPER if row.n_classes <= last]
    for method in ("structured", "greedy"):  # compiled before the clock runs
        verify_cover(ConflictGraph(6, 3), clique_cover(ConflictGraph(6, 3), method))
    _print_rule("one-sided", rows, greedy_up_to=15)
    _print_rule("two-sided", rows, greedy_up_to=0)
    _print_peer([row for row in rows if row.n_classes <= (10 if options.smoke else 12)])


def _print_rule(separation: str, rows: list[PaperRow], greedy_up_to: int) -> None:
    print(f"\n{separation} rule")
    print(_line("", "", "", "paper", "", "structured", "", "", "greedy", "", "", "reduced", "", ""))
    print(_line("k", "rho", "edges", "cliques", "s", *3 * ("cliques", "s", "verified")))
    for k, rho, paper_cliques, paper_seconds in rows:
        graph = ConflictGraph(k, rho, separation)
        cells = [str(k), str(rho), f"{graph.n_edges:,}", "-", "-"]
        if separation == "one-sided":
            cells[3:] = [f"{paper_cliques:,}", f"{paper_seconds:,.2f}"]
        cells += _measured(graph, "structured")
        for reduce in (False, True):
            cells += _measured(graph, "greedy", reduce=reduce) if k <= greedy_up_to else 3 * ["-"]
        print(_line(*cells), flush=True)


def _print_all(separation: str, classes: Iterable[int]) -> None:
    """Print the structured cover of every graph beside the number of all balls."""
    print(f"\n{separation} rule, structured covers")
    print(_line("k", "rho", "edges", "all balls", "MB", "cliques", "s", "verified"))
    graphs = [ConflictGraph(k, rho, separation) for k in classes for rho in range(1, k + 1)]
    for graph in graphs:
        k, rho = graph.n_classes, graph.min_column_distance
        # Of the double balls those along k + 1 - rho coordinates.
        all_balls = 2 ** (k - 1) if rho % 2 else (k + 1 - rho) * 2 ** (k - 2)
        cover, seconds = _timed(clique_cover, graph)
        megabytes = f"{cover.members.nbytes / 1e6:,.1f}"
        cells = [str(k), str(rho), f"{graph.n_edges:,}", f"{all_balls:,}", megabytes]
        print(_line(*cells, *_verified(graph, cover, seconds)), flush=True)


def _measured(graph: ConflictGraph, method: str, *, reduce: bool = True) -> list[str]:
    cover, seconds = _timed(clique_cover, graph, method, reduce=reduce)
    return _verified(graph, cover, seconds)


def _verified(graph: ConflictGraph, cover: CliqueCover, seconds: float) -> list[str]:
    report, check_seconds = _timed(verify_cover, graph, cover)
    verdict = f"in {check_seconds:.1f} s" if report.verified else str(report)
    return [f"{cover.n_cliques:,}", f"{seconds:.2f}", verdict]


def _print_peer(rows: list[PaperRow]) -> None:
    print("\none-sided, greedy in plain networkx: cliques (seconds), and how many times as long")
    for row in rows:
        graph = ConflictGraph(row.n_classes, row.min_column_distance, "one-sided")
        ours, seconds = _timed(clique_cover, graph, "greedy", reduce=False)
        other = graph.to_networkx()
        cliques, peer_seconds = _timed(greedy_in_networkx, other)
        print(
            f"k = {row.n_classes}: networkx {len(cliques):,} ({peer_seconds:.2f}), "
            f"ours {ours.n_cliques:,} ({seconds:.3f}), {peer_seconds / seconds:.0f} times"
        )


def greedy_in_networkx(graph: nx.Graph) -> list[list[int]]:
    """Grow a clique from each uncovered edge by the vertex that covers most new edges."""
    uncovered = {frozenset(edge) for edge in graph.edges()}
    cliques = []
    for u, v in graph.edges():
        if frozenset((u, v)) not in uncovered:
            continue
        clique = [u, v]
        candidates = set(nx.common_neighbors(graph, u, v))
        while candidates:
            gain, best = max(
                (sum(frozenset((w, x)) in uncovered for x in clique), -w) for w in candidates
            )
            if gain == 0:
                break
            clique.append(-best)
            candidates &= set(graph[-best])
        uncovered.difference_update(map(frozenset, combinations(clique, 2)))
        cliques.append(clique)
    return cliques


def _timed(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> tuple[Result, float]:
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - start


def _line(*cells: str) -> str:
    widths = (3, 4, 12, 10, 10, 12, 7, 10, 9, 7, 10, 9, 7, 10)
    return " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=False))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="up to 18 classes")
    parser.add_argument("--smoke", action="store_true", help="10 and 11 classes only")
    parser.add_argument("--all", action="store_true", help="every separation, structured only")
    parser.add_argument(
        "--classes", type=int, nargs="+", default=range(2, 19), help="with --all: so many classes"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
