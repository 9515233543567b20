"""Table 1: edge clique covers of the conflict graph, whole and in parts (Lemma 1)."""

from __future__ import annotations

import time
from functools import cache

from ecoc.experiments.experiment import Cell, Experiment, Measurement
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.workspace import Workspace

__all__ = ["TABLE1"]

_CLASSES = {
    "structured": {"smoke": range(10, 12), "quick": range(10, 19), "full": range(10, 19)},
    "greedy": {"smoke": range(10, 11), "quick": range(10, 15), "full": range(10, 18)},
    "partitioned": {"smoke": range(10, 11), "quick": range(10, 15), "full": range(10, 19)},
}
_PARTS_IN_MEMORY = 16
"""Classes up to which all edges may be listed at once when parts are merged."""


def _cells(scale: str) -> list[Cell]:
    table = paper_table("table1")
    return [
        Cell(
            {"k": k, "cover": method},
            table.figures(k=k, cover="partitioned" if method == "partitioned" else "whole"),
        )
        for method, classes in _CLASSES.items()
        for k in classes[scale]
    ]


def _measure(cell: Cell, workspace: Workspace) -> Measurement:
    """Cover the graph of the paper's one-sided rule, and check every edge of it."""
    from ecoc.graphs import ConflictGraph, clique_cover, verify_cover

    k, method = int(cell.keys["k"]), str(cell.keys["cover"])
    rho = k // 3
    graph = ConflictGraph(k, rho, "one-sided")
    in_parts = method == "partitioned"
    large = k > _PARTS_IN_MEMORY
    n_parts, jobs = (64 if large else 2, workspace.jobs) if in_parts else (None, None)
    _compile(method, jobs)
    began = time.perf_counter()
    cover = clique_cover(
        graph, method, reduce=not (in_parts and large), n_parts=n_parts, n_jobs=jobs
    )
    seconds = time.perf_counter() - began
    return Measurement(
        measured={
            "columns": graph.n_vertices,
            "rho": rho,
            "conflicts": graph.n_edges,
            "cliques": cover.n_cliques,
            "factor": round(graph.n_edges / cover.n_cliques, 1),
            "seconds": round(seconds, 3),
            "verified": verify_cover(graph, cover).verified,
        },
        sizes={"parts": n_parts or 1},
        note="Every conflicting pair was checked to lie in a clique, by a separate program.",
    )


@cache
def _compile(method: str, jobs: int | None) -> None:
    """Cover a tiny graph first, so that no time holds compilation or the start of processes."""
    from ecoc.graphs import ConflictGraph, clique_cover

    clique_cover(ConflictGraph(6, 2, "one-sided"), method, n_jobs=jobs)


TABLE1 = Experiment("table1", _cells, _measure)
