"""The figure of error correlation: whether columns err on the same images, also under attack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_number
from ecoc._typing import Floats
from ecoc.paper.drawings import Drawing, matrix_drawing
from ecoc.paper.measuring import Measurement, Workspace
from ecoc.paper.records import Figures, Results
from ecoc.paper.table import (
    MAX_NUMBER,
    Claim,
    FigureColumn,
    PaperCell,
    PaperTable,
    RecordForm,
    Verdict,
    check_rows,
    side_by_side,
)
from ecoc.paper.tables6and7 import image_samples, setup_of, trained

if TYPE_CHECKING:
    from ecoc.nn import ECOCNetworkClassifier

__all__ = ["FIGURE_CORRELATION", "where_pgd_ends"]


_EPSILON = 8 / 255
_STEPS = 30
_BATCH = 250
_DEPENDENT = 0.05
"""Growth of the phi coefficient that counts as dependence."""


def _measure(cell: PaperCell, workspace: Workspace) -> Measurement:
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
    correlation = ErrorCorrelation.from_scores(model.column_scores(images), matrix, targets)
    return Measurement(
        measured={
            "accuracy": round(100 * float((model.predict(images) == classes).mean()), 3),
            "mean_error": round(100 * float(np.nanmean(np.diag(correlation.paper))), 3),
            "mean_p": round(_off_diagonal(correlation.paper), 4),
            "mean_p_if_independent": round(_off_diagonal(correlation.independent), 4),
            "mean_phi": round(_off_diagonal(correlation.phi), 4),
        },
        sizes={**samples.sizes, "images": count},
        subset=f"{samples.subset}; {count:,} of the test samples",
        note=(
            f"Network {setup.architecture}, {setup.epochs} epochs. Attacked images are where PGD "
            f"with {_STEPS} steps on the scores of equation 20 ends, not where it first succeeds."
        ),
        data={"p": _rounded(correlation.paper), "phi": _rounded(correlation.phi)},
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
    ends: npt.NDArray[np.float32] = points.cpu().numpy()
    return ends


def _off_diagonal(matrix: Floats) -> float:
    return float(np.nanmean(matrix[~np.eye(len(matrix), dtype=bool)]))


def _rounded(matrix: Floats) -> list[list[float | None]]:
    return [[None if np.isnan(value) else round(value, 3) for value in row] for row in matrix]


def _judge_growth(results: Results) -> Verdict:
    both = _natural_and_attacked(results)
    if both is None:
        return None
    before, after = both
    text = (
        f"P grows from {before['mean_p']:.3f} to {after['mean_p']:.3f} on average while the "
        f"accuracy falls from {before['accuracy']:.1f} to {after['accuracy']:.1f} %."
    )
    return "holds" if after["mean_p"] > 2 * before["mean_p"] else "fails", text


def _judge_dependence(results: Results) -> Verdict:
    both = _natural_and_attacked(results)
    if both is None:
        return None
    before, after = both
    text = (
        f"Independent errors at the same rates would give P = "
        f"{before['mean_p_if_independent']:.3f} and {after['mean_p_if_independent']:.3f}. The phi "
        f"coefficient, 0 for independent errors at any rate, goes from {before['mean_phi']:.3f} to "
        f"{after['mean_phi']:.3f}."
    )
    depend = after["mean_phi"] > before["mean_phi"] + _DEPENDENT
    return "holds" if depend else "fails", text


def _natural_and_attacked(results: Results) -> tuple[Figures, Figures] | None:
    natural, attacked = results.one(inputs="natural"), results.one(inputs="adversarial")
    return None if natural is None or attacked is None else (natural.measured, attacked.measured)


def _check_data(data: Mapping[str, Any]) -> None:
    for name in ("p", "phi"):
        check_rows(f"data[{name!r}]", data[name], list)
        for value in (value for row in data[name] for value in row):
            if value is not None:
                check_number(f"data[{name!r}]", value, minimum=-MAX_NUMBER, maximum=MAX_NUMBER)


def _draw(results: Results) -> list[Drawing]:
    drawings = []
    for record in results.measured:
        inputs = str(record.keys["inputs"])
        accuracy = f"{record.measured['accuracy']:.1f} % correct"
        drawings += [
            matrix_drawing(record.data["p"], f"P, {inputs} images, {accuracy}", low=0, high=1),
            matrix_drawing(record.data["phi"], f"phi, {inputs} images", low=0, high=1),
        ]
    return drawings


FIGURE_CORRELATION = PaperTable(
    name="figure-correlation",
    title="Error correlation",
    caption=(
        "Error-correlation matrices of the IP-generated codebook on natural and adversarial "
        "(eps 8/255) images of CIFAR-10"
    ),
    printed=(
        PaperCell({"inputs": "natural"}, {"accuracy": 76.25}),
        PaperCell({"inputs": "adversarial"}, {"accuracy": 16.48}),
    ),
    measure=_measure,
    compare=side_by_side(
        FigureColumn("accuracy", "accuracy, %", 2),
        FigureColumn("mean_error", "Mean error of a column, %", 1, compare=False),
        FigureColumn("mean_p", "Mean P", 3, compare=False),
        FigureColumn("mean_p_if_independent", "P if errors were independent", 3, compare=False),
        FigureColumn("mean_phi", "Mean phi", 3, compare=False),
    ),
    claims=(
        Claim(
            "The error-correlation measure P is far larger on attacked images than on natural ones",
            _judge_growth,
        ),
        Claim("So the errors of columns depend on each other under attack", _judge_dependence),
    ),
    draw=_draw,
    form=RecordForm(
        keys=("inputs",),
        figures=("accuracy", "mean_p", "mean_p_if_independent", "mean_phi"),
        data=("p", "phi"),
        check_data=_check_data,
    ),
    datasets=("cifar10",),
    extra="torch",
    cost=3,
)
