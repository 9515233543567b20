"""Table 3 and the figure of decision boundaries: Gaussian classes in the plane."""

from __future__ import annotations

import numpy as np

from ecoc._workers import tethered
from ecoc.codes import Codebook
from ecoc.experiments import svm
from ecoc.experiments.arrays import pack
from ecoc.experiments.codebooks import paper_codebook
from ecoc.experiments.datasets import make_toy
from ecoc.experiments.experiment import Cell, Experiment, Measurement
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.summaries import summarise
from ecoc.experiments.workspace import Samples, Workspace, draw

__all__ = ["FIGURE_BOUNDARIES", "TABLE3"]

_SHOWN = (("ip3", 10), ("sparse", 10), ("one-vs-all", 10))


def _samples(workspace: Workspace, seed: int | None = None) -> Samples:
    """The set of the documented seed, or one whose Gaussians another seed draws."""
    toy = workspace.dataset("toy") if seed is None else make_toy(random_state=seed)
    return draw(toy, None, None, 0)


def _table_cells(scale: str) -> list[Cell]:  # noqa: ARG001  # the same at every scale
    return [Cell(cell.keys, cell.figures) for cell in paper_table("table3").cells]


def _measure_table(cell: Cell, workspace: Workspace) -> Measurement:
    """The documented set, and others of its kind for the standard error."""
    from joblib import Parallel, delayed

    codebook = paper_codebook(str(cell.keys["codebook"]), 10, int(cell.keys["L"]), workspace.seed)
    samples = _samples(workspace)
    one_set = _accuracies(codebook, samples)
    n_others = workspace.pick(2, 20, 100)
    others = Parallel(n_jobs=workspace.jobs)(
        delayed(tethered(_accuracies))(codebook, _samples(workspace, 1000 + seed))
        for seed in range(n_others)
    )
    means, errors = summarise(others)
    return Measurement(
        measured={**one_set, **{f"{name}_mean": value for name, value in means.items()}},
        standard_errors={f"{name}_mean": value for name, value in errors.items()},
        sizes={**samples.sizes, "sets": len(others)},
        subset=f"made with seed 7; means over {len(others)} sets with other Gaussians",
        note="SVC with RBF kernel, C = 1, gamma = 'scale'. The paper does not give its Gaussians.",
    )


def _accuracies(codebook: Codebook, samples: Samples) -> dict[str, float]:
    from sklearn.svm import SVC

    model = svm.fit(SVC(), codebook, samples)
    return svm.accuracies(model, samples.X_test, samples.y_test)


def _figure_cells(scale: str) -> list[Cell]:  # noqa: ARG001  # the same at every scale
    table = paper_table("figure-boundaries")
    return [
        Cell({"codebook": name, "L": length}, table.figures(codebook=name))
        for name, length in _SHOWN
    ]


def _measure_figure(cell: Cell, workspace: Workspace) -> Measurement:
    """What every column and the whole classifier decide on a grid."""
    from sklearn.svm import SVC

    from ecoc.multiclass import ECOCClassifier
    from ecoc.multiclass.boundaries import decision_boundaries

    samples = _samples(workspace)
    codebook = paper_codebook(str(cell.keys["codebook"]), 10, int(cell.keys["L"]), workspace.seed)
    model = ECOCClassifier(SVC(), codebook=codebook, decoding=svm.paper_decoding)
    model.fit(samples.X_train, samples.y_train)
    resolution = workspace.pick(24, 120, 200)
    found = decision_boundaries(model, samples.X_train, samples.y_train, resolution=resolution)
    span = np.array([[found.x[0], found.x[-1]], [found.y[0], found.y[-1]]])
    places = (samples.X_train - span[:, 0]) / (span[:, 1] - span[:, 0])
    return Measurement(
        measured=svm.accuracies(model, samples.X_test, samples.y_test),
        sizes={**samples.sizes, "grid": resolution},
        subset="made with seed 7",
        note="SVC with RBF kernel, C = 1, gamma = 'scale'; the paper's Hamming decoding.",
        data={
            "regions": pack(found.regions[::-1]),
            "columns": pack((found.column_scores[::-1] > 0).transpose(2, 0, 1)),
            "points": pack(np.clip(np.round(255 * places), 0, 255)),
            "classes": pack(samples.y_train),
            "rows": list(codebook.rows),
        },
    )


TABLE3 = Experiment("table3", _table_cells, _measure_table, datasets=("toy",))
FIGURE_BOUNDARIES = Experiment(
    "figure-boundaries", _figure_cells, _measure_figure, datasets=("toy",)
)
