"""The verb that covers the conflict graph by cliques."""

from __future__ import annotations

import sys
import time

import click

from ecoc.cli._common import (
    EXIT_NOT_VERIFIED,
    classes_option,
    common_options,
    print_facts,
    print_json,
    separation_option,
)


@click.command()
@classes_option
@click.option(
    "--rho",
    "--min-column-distance",
    "rho",
    type=click.IntRange(min=1),
    help="Column separation, rho. [floor(k / 3), as in the paper]",
)
@click.option(
    "-l", "--columns", type=click.IntRange(min=1), help="Columns, L, for the literal rule."
)
@separation_option
@click.option(
    "--method",
    type=click.Choice(["structured", "greedy", "partitioned"]),
    default="structured",
    show_default=True,
)
@click.option("--parts", type=click.IntRange(min=1), help="Parts of the partitioned method. [2]")
@click.option("--jobs", type=int, help="Parts covered at a time (joblib's n_jobs).")
@click.option("--no-verify", is_flag=True, help="Do not check the cover on every edge.")
@common_options
def cover(
    classes: int,
    rho: int | None,
    columns: int | None,
    separation: str,
    method: str,
    parts: int | None,
    jobs: int | None,
    no_verify: bool,
    as_json: bool,
) -> None:
    """Cover the conflicting pairs of columns by cliques (the rows of IP3).

    Prints the number of conflicting pairs and of cliques, their ratio, the time, the
    memory, and how the cover was verified; exits with 5 if it is no cover.
    """
    from ecoc.graphs import ConflictGraph, clique_cover, verify_cover

    graph = ConflictGraph(
        classes, max(1, classes // 3) if rho is None else rho, separation, n_columns=columns
    )
    edges = graph.n_edges
    began = time.perf_counter()
    found = clique_cover(graph, method=method, n_parts=parts, n_jobs=jobs)
    seconds = time.perf_counter() - began
    peak = _peak_memory()
    checked = None if no_verify else verify_cover(graph, found)
    verified = None if checked is None else checked.verified
    result = {
        "classes": classes,
        "rho": graph.min_column_distance,
        "separation": separation,
        "method": method,
        "edges": edges,
        "cliques": found.n_cliques,
        "factor": edges / found.n_cliques if found.n_cliques else None,
        "seconds": seconds,
        "peak_memory_bytes": peak,
        "verified": verified,
        "verification": None if checked is None else str(checked),
    }
    if as_json:
        print_json(result)
    else:
        print_facts(
            {
                "Conflicting pairs": f"{edges:,}",
                "Cliques": f"{found.n_cliques:,}",
                "Pairs per clique": f"{result['factor']:.1f}" if found.n_cliques else "none",
                "Seconds": f"{seconds:.3f}",
                "Peak memory": "unknown" if peak is None else f"{peak / 2**20:.0f} MiB",
                "Verification": "not asked for" if checked is None else str(checked),
            }
        )
    if verified is False:
        sys.exit(EXIT_NOT_VERIFIED)


def _peak_memory() -> int | None:
    """The most memory that this process has held, in bytes, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
