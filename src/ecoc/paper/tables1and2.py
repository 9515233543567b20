"""Tables 1 and 2: edge clique covers, whole and in parts (Lemma 1), and the gaps of designs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache, partial

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

__all__ = ["TABLE1", "TABLE2"]


_COVER_NAMES = ("columns", "rho", "conflicts", "cliques", "factor", "seconds")
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
    **dict(zip(_COVER_NAMES, (131071, 6, 616094535, 6575510, 93, 21229.04), strict=True)),
    "cliques_part_1": 5952906,
    "cliques_part_2": 622604,
    "seconds_part_1": 16251.667,
    "seconds_part_2": 4977.376,
}
_COVERS_PRINTED = (
    *(
        PaperCell({"k": k, "cover": "whole"}, dict(zip(_COVER_NAMES, figures, strict=True)))
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


def _cover_cells(scale: str) -> list[PaperCell]:
    return [
        PaperCell(
            {"k": k, "cover": method},
            TABLE1.figures(k=k, cover="partitioned" if method == "partitioned" else "whole"),
        )
        for method, classes in _CLASSES.items()
        for k in classes[scale]
    ]


def _measure_cover(cell: PaperCell, workspace: Workspace) -> Measurement:
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


def _printed_points(
    names: Sequence[str], rows: Mapping[int, Sequence[float]], name: str
) -> list[tuple[float, float]]:
    """The paper's figures of a name over the number of classes."""
    place = names.index(name)
    return [(float(k), float(figures[place])) for k, figures in rows.items()]


def _measured_points(name: str, records: Sequence[Record]) -> list[tuple[float, float]]:
    """Our figures of a name over the number of classes."""
    return [(float(r.keys["k"]), float(r.measured[name])) for r in records]


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


def _draw_covers(results: Results) -> list[Drawing]:
    """The sizes of covers and the time that they take, over the number of classes."""
    printed = partial(_printed_points, _COVER_NAMES, _WHOLE)
    sizes = [
        Line("Conflicting pairs", printed("conflicts"), "grey"),
        Line("Cliques, paper", printed("cliques"), "orange"),
    ]
    times = [Line("Paper", printed("seconds"), "orange")]
    for method, colour in (("structured", "green"), ("greedy", "red"), ("partitioned", "purple")):
        records = [r for r in results.measured if r.keys["cover"] == method]
        records.sort(key=lambda r: r.keys["k"])
        points = {name: _measured_points(name, records) for name in ("cliques", "seconds")}
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
    printed=_COVERS_PRINTED,
    choose_cells=_cover_cells,
    measure=_measure_cover,
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
    draw=_draw_covers,
    form=RecordForm(
        keys=("k", "cover"),
        figures=("conflicts", "cliques", "factor", "seconds", "verified"),
        paper=("conflicts", "cliques"),
    ),
    cost=1,
)


_GAP_NAMES = ("best", "bound", "gap", "true_gap")
_GAPS = {
    10: (10, 10, 0, 0),
    11: (12, 12, 0, 0),
    12: (12, 12, 0, 0),
    13: (13, 14, 7.69, 7.7),
    14: (14, 15, 7.14, 0),
    15: (15, 16, 6.67, 0),
    16: (16, 17, 6.25, 0),
    17: (16, 18, 12.2, 6.25),
    18: (17, 19, 11.8, 5.5),
}
_GAPS_PRINTED = tuple(
    PaperCell({"k": k, "L": 2 * k}, dict(zip(_GAP_NAMES, figures, strict=True)))
    for k, figures in _GAPS.items()
)
_PAPER_SECONDS = 2000


def _gap_cells(scale: str) -> tuple[PaperCell, ...]:
    return _GAPS_PRINTED[:3] if scale == "smoke" else _GAPS_PRINTED


def _measure_gap(cell: PaperCell, workspace: Workspace) -> Measurement:
    """Design, write to a file, and believe only what reading the file again proves."""
    from ecoc.design import design_codebook, read_design

    k, length = int(cell.keys["k"]), int(cell.keys["L"])
    began = time.perf_counter()
    designed = design_codebook(
        k,
        length,
        min_column_distance=k // 3,
        time_limit=_PAPER_SECONDS,
        random_state=workspace.seed,
    )
    seconds = time.perf_counter() - began
    path = workspace.path("designs", f"table2-k{k}.json")
    designed.save(path)
    design = read_design(path)
    codebook = design.codebook
    assert codebook is not None and design.bound is not None  # noqa: S101, PT018  # from a file
    return Measurement(
        measured={
            "best": design.objective,
            "bound": design.bound,
            "gap": round(100 * (design.bound - codebook.min_row_distance) / design.bound, 2),
            "columns": codebook.n_columns,
            "rho": k // 3,
            "column_distance": codebook.min_column_distance(),
            "status": design.status.name,
            "certificate": design.certificate.summary if design.certificate else "",
            "verified": True,
            "seconds": round(seconds, 3),
        },
        note=(
            f"Columns are at least {k // 3} apart and from each other's complements (two-sided "
            "rule). The file was read again and its certificate checked in integers."
        ),
        data={
            "rows": list(codebook.rows),
            "spectrum": {f"{d:g}": n for d, n in codebook.row_distance_spectrum().items()},
            "file": f"designs/{path.name}",
        },
    )


def _judge_gaps(results: Results) -> Verdict:
    rows = [r for r in results.measured if r.paper]
    if not rows:
        return None
    proved = [r for r in rows if r.measured["status"] == "OPTIMAL" and r.measured["gap"] == 0]
    longer = [r for r in rows if r.paper and r.measured["best"] > r.paper["best"]]
    classes = ", ".join(str(r.keys["k"]) for r in longer)
    more = f" The distance is larger than the paper's for k = {classes}." if longer else ""
    text = f"{len(proved)} of {len(rows)} are proved optimal, gap 0 %, certificates verified.{more}"
    return "better" if len(proved) == len(rows) else "open", text


def _draw_gaps(results: Results) -> list[Drawing]:
    """Gaps and distances over the number of classes."""
    records = sorted(results.measured, key=lambda r: r.keys["k"])
    printed = partial(_printed_points, _GAP_NAMES, _GAPS)
    return [
        *line_drawing(
            [
                Line("Paper", printed("gap"), "orange"),
                Line("Ours", _measured_points("gap", records)),
            ],
            caption="Gap between codebook and bound",
            x_label="classes, k",
            y_label="gap, %",
        ),
        *line_drawing(
            [
                Line("Bound, paper", printed("bound"), "orange", dashed=True),
                Line("Distance, paper", printed("best"), "orange"),
                Line("Distance = bound, ours", _measured_points("best", records)),
            ],
            caption="Minimum row distance with L = 2k columns",
            x_label="classes, k",
            y_label="distance",
        ),
    ]


TABLE2 = PaperTable(
    name="table2",
    title="Optimality gaps",
    caption="IP3: optimality gap (at most 2000 s)",
    printed=_GAPS_PRINTED,
    choose_cells=_gap_cells,
    measure=_measure_gap,
    compare=side_by_side(
        FigureColumn("best", "distance"),
        FigureColumn("bound", "bound", difference=False),
        FigureColumn("gap", "gap %", 2, difference=False),
        FigureColumn("column_distance", "Columns apart", 0, compare=False),
        FigureColumn("certificate", "Ground of the bound", None, compare=False),
        FigureColumn("seconds", "Seconds", 2, compare=False),
    ),
    claims=(
        Claim(
            "Codebooks for 10 to 18 classes with low optimality gaps (0 % for six of nine)",
            _judge_gaps,
        ),
    ),
    draw=_draw_gaps,
    form=RecordForm(keys=("k", "L"), figures=("best", "bound", "gap", "status"), paper=("best",)),
    headline=True,
)
