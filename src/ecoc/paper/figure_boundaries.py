"""The figure of decision boundaries: what columns and classifiers decide in the plane."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.paper.drawings import Drawing, region_drawing
from ecoc.paper.measuring import (
    CODEBOOK_TITLES,
    Measurement,
    Workspace,
    accuracies,
    draw,
    paper_codebook,
    paper_decoding,
)
from ecoc.paper.records import Results
from ecoc.paper.table import FigureColumn, PaperCell, PaperTable, RecordForm, side_by_side

__all__ = ["FIGURE_BOUNDARIES", "pack", "unpack"]

_ACCURACIES = {"ip3": 89.8, "sparse": 66.8, "one-vs-all": 80.6}
_COLUMNS = 10
_ARRAYS = ("regions", "columns", "points", "classes")
_MAX_PIXELS = 50_000_000
_MAX_DIMENSIONS = 8


def _cells(scale: str) -> list[PaperCell]:  # noqa: ARG001  # the same at every scale
    return [
        PaperCell({"codebook": codebook, "L": _COLUMNS}, {"accuracy": accuracy})
        for codebook, accuracy in _ACCURACIES.items()
    ]


def _measure(cell: PaperCell, workspace: Workspace) -> Measurement:
    """What every column and the whole classifier decide on a grid."""
    from sklearn.svm import SVC

    from ecoc.multiclass import ECOCClassifier
    from ecoc.multiclass.diagnostics import decision_boundaries

    samples = draw(workspace.dataset("toy"), None, None, 0)
    codebook = paper_codebook(str(cell.keys["codebook"]), 10, int(cell.keys["L"]), workspace.seed)
    model = ECOCClassifier(SVC(), codebook=codebook, decoding=paper_decoding)
    model.fit(samples.X_train, samples.y_train)
    resolution = workspace.pick(24, 120, 200)
    grid = decision_boundaries(model, samples.X_train, samples.y_train, resolution=resolution)
    span = np.array([[grid.x[0], grid.x[-1]], [grid.y[0], grid.y[-1]]])
    places = (samples.X_train - span[:, 0]) / (span[:, 1] - span[:, 0])
    return Measurement(
        measured=accuracies(model, samples.X_test, samples.y_test),
        sizes={**samples.sizes, "grid": resolution},
        subset="made with seed 7",
        note="SVC with RBF kernel, C = 1, gamma = 'scale'; the paper's Hamming decoding.",
        data={
            "regions": pack(grid.regions[::-1]),
            "columns": pack((grid.column_scores[::-1] > 0).transpose(2, 0, 1)),
            "points": pack(np.clip(np.round(255 * places), 0, 255)),
            "classes": pack(samples.y_train),
            "rows": list(codebook.rows),
        },
    )


def pack(values: npt.ArrayLike) -> dict[str, Any]:
    """Write an array of values 0 to 255 as compressed text.

    Examples
    --------
    >>> packed = pack([[0, 1], [2, 3]])
    >>> packed["shape"], unpack(packed).tolist()
    ([2, 2], [[0, 1], [2, 3]])
    """
    array = np.asarray(values).astype(np.uint8)
    text = base64.b64encode(zlib.compress(array.tobytes(), 9)).decode("ascii")
    return {"shape": list(array.shape), "bytes": text}


def unpack(packed: Mapping[str, Any]) -> npt.NDArray[np.uint8]:
    """The array that was packed."""
    try:
        shape = tuple(check_int("shape", size, minimum=0) for size in packed["shape"])
        size = math.prod(shape)
        if size > _MAX_PIXELS or len(shape) > _MAX_DIMENSIONS:
            raise ValueError("too large")
        # One byte more than expected tells a stream that goes on.
        data = zlib.decompressobj().decompress(base64.b64decode(packed["bytes"]), size + 1)
        return np.frombuffer(data, dtype=np.uint8).reshape(shape)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise FileFormatError(f"no packed array: {error}") from error


def _check_data(data: Mapping[str, Any]) -> None:
    regions, columns, points, classes = (unpack(data[name]) for name in _ARRAYS)
    forms = (regions.ndim, columns.ndim, points.ndim, classes.ndim)
    sizes = (regions.size, columns.size, points.size)
    fit = forms == (2, 3, 2, 1) and all(sizes) and points.shape == (len(classes), 2)
    if not fit or columns.max() > 1:
        raise InvalidInputError(
            "data must have arrays that fit together: regions of a plane, columns of 0 and 1, "
            "and points with their classes."
        )


def _draw(results: Results) -> list[Drawing]:
    drawings = []
    for record in results.measured:
        regions, columns, points, classes = (unpack(record.data[name]) for name in _ARRAYS)
        caption = (
            f"{CODEBOOK_TITLES[str(record.keys['codebook'])]}, {record.keys['L']} columns: "
            f"{record.measured['accuracy']:.1f} % correct. Below, the two sides of each column"
        )
        drawings.append(region_drawing(regions, columns, points, classes, caption))
    return drawings


FIGURE_BOUNDARIES = PaperTable(
    name="figure-boundaries",
    title="Decision boundaries",
    caption="Decision boundaries of different hypotheses in three codebooks on the 2-d data set",
    printed=tuple(
        PaperCell({"codebook": codebook}, {"accuracy": accuracy})
        for codebook, accuracy in _ACCURACIES.items()
    ),
    choose_cells=_cells,
    measure=_measure,
    compare=side_by_side(FigureColumn("accuracy", "accuracy, %", 1)),
    draw=_draw,
    form=RecordForm(
        keys=("codebook", "L"), figures=("accuracy",), data=_ARRAYS, check_data=_check_data
    ),
    datasets=("toy",),
    cost=1,
)
