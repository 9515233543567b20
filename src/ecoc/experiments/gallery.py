"""The figure of codebooks: the supplement's exhaustive code, and a gallery of designs."""

from __future__ import annotations

from ecoc.codes import Codebook, exhaustive
from ecoc.experiments.codebooks import paper_codebook
from ecoc.experiments.experiment import Cell, Experiment, Measurement
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.workspace import Workspace

__all__ = ["FIGURE_CODEBOOKS"]

_SIZES = ((5, 10), (6, 12), (7, 14), (8, 16), (9, 18), (10, 10), (10, 15), (10, 20), (10, 30))
_RANDOM = ("dense", "sparse")
_LARGER = ((12, 24), (16, 32), (20, 40))


def _cells(scale: str) -> list[Cell]:
    table = paper_table("figure-codebooks")
    sizes = _SIZES[:3] if scale == "smoke" else (*_SIZES, *_LARGER)
    return [
        *(Cell(cell.keys, cell.figures) for cell in table.cells),
        *(Cell({"code": name, "k": 10, "L": 20}) for name in _RANDOM),
        *(Cell({"code": "ip3", "k": k, "L": length}) for k, length in sizes),
    ]


def _measure(cell: Cell, workspace: Workspace) -> Measurement:
    k, length = int(cell.keys["k"]), int(cell.keys["L"])
    if cell.keys["code"] == "exhaustive":
        return _described(exhaustive(k), "", cell)
    if cell.keys["code"] in _RANDOM:
        name = str(cell.keys["code"])
        return _described(paper_codebook(name, k, length, workspace.seed), "", cell)
    from ecoc.design import design_codebook

    design = design_codebook(k, length, random_state=workspace.seed)
    assert design.codebook is not None  # noqa: S101  # without a limit of time there is one
    return _described(design.codebook, design.verdict, cell)


def _described(codebook: Codebook, verdict: str, cell: Cell) -> Measurement:
    same = {} if cell.paper is None else {"same_rows": list(codebook.rows) == cell.paper["rows"]}
    return Measurement(
        measured={
            "columns": codebook.n_columns,
            "row_distance": codebook.min_row_distance,
            "column_distance": codebook.min_column_distance(),
            "largest_imbalance": round(float(codebook.column_balance().max_imbalance), 3),
            **({"verdict": verdict} if verdict else {}),
            **same,
        },
        data={
            "rows": list(codebook.rows),
            "spectrum": {f"{d:g}": n for d, n in codebook.row_distance_spectrum().items()},
        },
    )


FIGURE_CODEBOOKS = Experiment("figure-codebooks", _cells, _measure)
