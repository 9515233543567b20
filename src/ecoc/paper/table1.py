"""Table 1: edge clique covers of the conflict graph, whole and in parts (Lemma 1)."""

from __future__ import annotations

import time
from functools import cache

from ecoc.paper.drawings import Drawing, Line, line_drawing
from ecoc.paper.measuring import Measurement, Workspace
from ecoc.paper.records import Record, Results
from ecoc.paper.table import (
    Claim,
    FigureColumn,
    PaperCell,
    PaperTable,
    RecordForm,
    Verdict,
    side_by_side,
)

__all__ = ["TABLE1"]

_NAMES = ("columns", "rho", "conflicts", "cliques", "factor", "seconds")
_WHOLE = {
    10: (511, 3, 11475, 695, 16, 0.146),
    11: (1023, 3, 28105, 1404, 20, 0.208),
    12: (2047, 4, 236313, 8165, 28, 0.991),
    13: (4095, 4, 610006, 18472, 33, 2.573),
    14: (8191, 4, 1543815, 41088, 37, 7.39),
    15: (16383, 5, 12040770, 44916, 268, 58.957),
    16: (32767, 5, 31783020, 91304, 348, 249.53),
    17: (65535, 5, 82441772, 185661, 444, 935.76),
    18: (131071, 6, 616094535, 1073248, 574, 10075.8),
}
_PARTS = {
    **dict(zip(_NAMES, (131071, 6, 616094535, 6575510, 93, 21229.04), strict=True)),
    "cliques_part_1": 5952906,
    "cliques_part_2": 622604,
    "seconds_part_1": 16251.667,
    "seconds_part_2": 4977.376,
}
_PRINTED = (
    *(
        PaperCell({"k": k, "cover": "whole"}, dict(zip(_NAMES, figures, strict=True)))
        for k, figures in _WHOLE.items()
    ),
    PaperCell({"k": 18, "cover": "partitioned"}, _PARTS),
)

_CLASSES = {
    "structured": {"smoke": range(10, 12), "quick": range(10, 19), "full": range(10, 19)},
    "greedy": {"smoke": range(10, 11), "quick": range(10, 15), "full": range(10, 18)},
    "partitioned": {"smoke": range(10, 11), "quick": range(10, 15), "full": range(10, 19)},
}
_PARTS_IN_MEMORY = 16
"""Classes up to which all edges may be listed at once when parts are merged."""


def _cells(scale: str) -> list[PaperCell]:
    return [
        PaperCell(
            {"k": k, "cover": method},
            TABLE1.figures(k=k, cover="partitioned" if method == "partitioned" else "whole"),
        )
        for method, classes in _CLASSES.items()
        for k in classes[scale]
    ]


def _measure(cell: PaperCell, workspace: Workspace) -> Measurement:
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


def _structured(results: Results) -> list[Record]:
    return [r for r in results.measured if r.keys["cover"] == "structured" and r.paper]


def _judge_conflicts(results: Results) -> Verdict:
    rows = _structured(results)
    if not rows:
        return None
    same = [r for r in rows if r.paper and r.measured["conflicts"] == r.paper["conflicts"]]
    text = f"{len(same)} of {len(rows)} counts agree exactly, by the paper's one-sided rule."
    return "holds" if len(same) == len(rows) else "fails", text


def _judge_covers(results: Results) -> Verdict:
    rows = _structured(results)
    if not rows:
        return None
    gains = [r.paper["cliques"] / r.measured["cliques"] for r in rows if r.paper]
    factors = [r.measured["factor"] for r in rows]
    verified = all(r.measured["verified"] for r in rows)
    text = (
        f"{min(factors):.0f} to {max(factors):,.0f} times smaller: the covers have "
        f"{min(gains):.1f} to {max(gains):.1f} times fewer cliques than the paper's, "
        f"{'and every conflicting pair was checked' if verified else 'but some are no covers'}."
    )
    return "better" if min(gains) > 1 and verified else "fails", text


def _judge_parts(results: Results) -> Verdict:
    rows = [r for r in results.measured if r.keys["cover"] == "partitioned"]
    if not rows:
        return None
    verified = all(r.measured["verified"] for r in rows)
    most = max(int(r.keys["k"]) for r in rows)
    rest = "" if most >= 18 else f" The paper's k = 18 was not run in parts, only up to k = {most}."
    text = f"{len(rows)} covers in parts, all verified edge by edge.{rest}"
    return "holds" if verified else "fails", text


def _draw(results: Results) -> list[Drawing]:
    """The sizes of covers and the time that they take, over the number of classes."""

    def printed(name: str) -> list[tuple[float, float]]:
        place = _NAMES.index(name)
        return [(float(k), float(figures[place])) for k, figures in _WHOLE.items()]

    sizes = [
        Line("Conflicting pairs", printed("conflicts"), "grey"),
        Line("Cliques, paper", printed("cliques"), "orange"),
    ]
    times = [Line("Paper", printed("seconds"), "orange")]
    for method, colour in (("structured", "green"), ("greedy", "red"), ("partitioned", "purple")):
        records = [r for r in results.measured if r.keys["cover"] == method]
        records.sort(key=lambda r: r.keys["k"])
        points = {
            name: [(float(r.keys["k"]), float(r.measured[name])) for r in records]
            for name in ("cliques", "seconds")
        }
        dashed = method != "structured"
        sizes.append(Line(f"Cliques, ours, {method}", points["cliques"], colour, dashed))
        times.append(Line(f"Ours, {method}", points["seconds"], colour, dashed))
    return [
        *line_drawing(
            sizes,
            caption="Constraints before and after covering by cliques (logarithmic)",
            x_label="classes, k",
            y_label="number",
            log_y=True,
        ),
        *line_drawing(
            times,
            caption="Time to cover (logarithmic)",
            x_label="classes, k",
            y_label="seconds",
            log_y=True,
        ),
    ]


TABLE1 = PaperTable(
    name="table1",
    title="Edge clique covers",
    caption=(
        "Reducing the size of the constraint set of IP2 by finding an edge clique cover of the "
        "conflict graph"
    ),
    printed=_PRINTED,
    choose_cells=_cells,
    measure=_measure,
    compare=side_by_side(
        FigureColumn("conflicts", "conflicting pairs"),
        FigureColumn("cliques", "cliques"),
        FigureColumn("factor", "factor", 1, difference=False),
        FigureColumn("seconds", "seconds", 3, difference=False),
        FigureColumn("verified", "Checked", None, compare=False),
    ),
    claims=(
        Claim("The number of conflicting pairs of columns for 10 to 18 classes", _judge_conflicts),
        Claim("Edge clique covers make the constraint set 16 to 574 times smaller", _judge_covers),
        Claim(
            "Covers of edge-disjoint parts make a cover of the whole (Lemma 1)",
            _judge_parts,
        ),
    ),
    draw=_draw,
    form=RecordForm(
        keys=("k", "cover"),
        figures=("conflicts", "cliques", "factor", "seconds", "verified"),
        paper=("conflicts", "cliques"),
    ),
    cost=1,
)
