"""Table 2: the best codebook, the bound, and the proof that they meet."""

from __future__ import annotations

import time

from ecoc.experiments.experiment import Cell, Experiment, Measurement
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.workspace import Workspace

__all__ = ["TABLE2"]

PAPER_SECONDS = 2000


def _cells(scale: str) -> list[Cell]:
    table = paper_table("table2")
    classes = range(10, 13) if scale == "smoke" else range(10, 19)
    return [Cell({"k": k, "L": 2 * k}, table.figures(k=k, L=2 * k)) for k in classes]


def _measure(cell: Cell, workspace: Workspace) -> Measurement:
    """Design, write to a file, and believe only what reading the file again proves."""
    from ecoc.design import design_codebook, read_design

    k, length = int(cell.keys["k"]), int(cell.keys["L"])
    began = time.perf_counter()
    found = design_codebook(
        k,
        length,
        min_column_distance=k // 3,
        time_limit=PAPER_SECONDS,
        random_state=workspace.seed,
    )
    seconds = time.perf_counter() - began
    path = workspace.path("designs", f"table2-k{k}.json")
    found.save(path)
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


TABLE2 = Experiment("table2", _cells, _measure)
