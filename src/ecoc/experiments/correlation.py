"""The figure of error correlation: whether columns err on the same images, also under attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc.experiments.experiment import Cell, Experiment, Measurement
from ecoc.experiments.networks import image_samples, setup_of, trained
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.workspace import Workspace

if TYPE_CHECKING:
    from ecoc.nn import ECOCNetworkClassifier

__all__ = ["FIGURE_CORRELATION", "where_pgd_ends"]

Floats: TypeAlias = "npt.NDArray[np.float64]"

_EPSILON = 8 / 255
_STEPS = 30
_BATCH = 250


def _cells(scale: str) -> list[Cell]:  # noqa: ARG001  # the same at every scale
    return [Cell(cell.keys, cell.figures) for cell in paper_table("figure-correlation").cells]


def _measure(cell: Cell, workspace: Workspace) -> Measurement:
    """P and phi of the IP3 columns, on images as they are or where the paper's attack ends."""
    from ecoc.multiclass.diagnostics import ErrorCorrelation

    setup = setup_of("cifar10", workspace.scale)
    samples = image_samples(setup, workspace)
    model = trained(setup, "ip3", samples, workspace)
    count = workspace.pick(50, 500, len(samples.y_test))
    images, classes = samples.X_test[:count], samples.y_test[:count]
    targets = np.searchsorted(model.classes_, classes)
    if cell.keys["inputs"] == "adversarial":
        parts = range(0, count, _BATCH)
        images = np.concatenate(
            [where_pgd_ends(model, images[i : i + _BATCH], targets[i : i + _BATCH]) for i in parts]
        )
    matrix = model.codebook_.matrix
    found = ErrorCorrelation.from_scores(model.column_scores(images), matrix, targets)
    return Measurement(
        measured={
            "accuracy": round(100 * float((model.predict(images) == classes).mean()), 3),
            "mean_error": round(100 * float(np.nanmean(np.diag(found.paper))), 3),
            "mean_p": round(_off_diagonal(found.paper), 4),
            "mean_p_if_independent": round(_off_diagonal(found.independent), 4),
            "mean_phi": round(_off_diagonal(found.phi), 4),
        },
        sizes={**samples.sizes, "images": count},
        subset=f"{samples.subset}; {count:,} of the test samples",
        note=(
            f"Network {setup.architecture}, {setup.epochs} epochs. Attacked images are where PGD "
            f"with {_STEPS} steps on the scores of equation 20 ends, not where it first succeeds."
        ),
        data={"p": _rounded(found.paper), "phi": _rounded(found.phi)},
    )


def where_pgd_ends(
    model: ECOCNetworkClassifier,
    images: npt.NDArray[Any],
    targets: npt.NDArray[np.intp],
    *,
    epsilon: float = _EPSILON,
    steps: int = _STEPS,
) -> npt.NDArray[np.float32]:
    """The last points of the paper's attack.

    An evaluation of robustness keeps the first point that succeeds, where columns are no
    more wrong than needed; the paper's figure is about points that were pushed to the end.
    """
    import torch
    from torch.nn import functional

    from ecoc.nn import CodeDecoder

    columns = model.column_module()
    decoder = CodeDecoder(model.codebook_, normalise=not model.codebook_.is_binary)
    device = next(columns.parameters()).device
    start = torch.from_numpy(images).to(device)
    labels = torch.from_numpy(targets).to(device)
    low, high = (start - epsilon).clamp(min=0), (start + epsilon).clamp(max=1)
    points = start.clone()
    for _ in range(steps):
        points.requires_grad_(True)
        loss = functional.cross_entropy(decoder.to(device)(columns(points)), labels)
        (gradient,) = torch.autograd.grad(loss, points)
        moved = points.detach() + 2.5 * epsilon / steps * gradient.sign()
        points = torch.maximum(torch.minimum(moved, high), low)
    found: npt.NDArray[np.float32] = points.cpu().numpy()
    return found


def _off_diagonal(matrix: Floats) -> float:
    return float(np.nanmean(matrix[~np.eye(len(matrix), dtype=bool)]))


def _rounded(matrix: Floats) -> list[list[float | None]]:
    return [[None if np.isnan(value) else round(value, 3) for value in row] for row in matrix]


FIGURE_CORRELATION = Experiment(
    "figure-correlation", _cells, _measure, datasets=("cifar10",), extra="torch"
)
