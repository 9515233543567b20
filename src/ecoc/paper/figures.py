"""The figures of the paper: decision boundaries, codebooks, and errors that go together."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, check_number
from ecoc._typing import Floats
from ecoc.codes import Codebook, exhaustive
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.paper.drawings import Drawing, codebook_drawing, matrix_drawing, region_drawing
from ecoc.paper.measuring import (
    CODEBOOK_TITLES,
    Measurement,
    Workspace,
    accuracies,
    draw,
    paper_codebook,
    paper_decoding,
)
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

__all__ = [
    "FIGURE_BOUNDARIES",
    "FIGURE_CODEBOOKS",
    "FIGURE_CORRELATION",
    "pack",
    "unpack",
    "where_pgd_ends",
]


_ACCURACIES = {"ip3": 89.8, "sparse": 66.8, "one-vs-all": 80.6}
_BOUNDARY_COLUMNS = 10
_BOUNDARY_ARRAYS = ("regions", "columns", "points", "classes")
_MAX_PIXELS = 50_000_000
_MAX_DIMENSIONS = 8


def _boundary_cells(scale: str) -> list[PaperCell]:  # noqa: ARG001  # the same at every scale
    return [
        PaperCell({"codebook": codebook, "L": _BOUNDARY_COLUMNS}, {"accuracy": accuracy})
        for codebook, accuracy in _ACCURACIES.items()
    ]


def _measure_boundaries(cell: PaperCell, workspace: Workspace) -> Measurement:
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


def _check_boundaries(data: Mapping[str, Any]) -> None:
    regions, columns, points, classes = (unpack(data[name]) for name in _BOUNDARY_ARRAYS)
    forms = (regions.ndim, columns.ndim, points.ndim, classes.ndim)
    sizes = (regions.size, columns.size, points.size)
    fit = forms == (2, 3, 2, 1) and all(sizes) and points.shape == (len(classes), 2)
    if not fit or columns.max() > 1:
        raise InvalidInputError(
            "data must have arrays that fit together: regions of a plane, columns of 0 and 1, "
            "and points with their classes."
        )


def _draw_boundaries(results: Results) -> list[Drawing]:
    drawings = []
    for record in results.measured:
        regions, columns, points, classes = (unpack(record.data[name]) for name in _BOUNDARY_ARRAYS)
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
    choose_cells=_boundary_cells,
    measure=_measure_boundaries,
    compare=side_by_side(FigureColumn("accuracy", "accuracy, %", 1)),
    draw=_draw_boundaries,
    form=RecordForm(
        keys=("codebook", "L"),
        figures=("accuracy",),
        data=_BOUNDARY_ARRAYS,
        check_data=_check_boundaries,
    ),
    datasets=("toy",),
    cost=1,
)


_EXHAUSTIVE_ROWS = [
    "+++++++++++++++",
    "--------+++++++",
    "----++++----+++",
    "--++--++--++--+",
    "-+-+-+-+-+-+-+-",
]
_CODEBOOKS_PRINTED = (
    PaperCell({"code": "exhaustive", "k": 5, "L": 15}, {"columns": 15, "rows": _EXHAUSTIVE_ROWS}),
)
_DESIGN_SIZES = (
    (5, 10),
    (6, 12),
    (7, 14),
    (8, 16),
    (9, 18),
    (10, 10),
    (10, 15),
    (10, 20),
    (10, 30),
)
_RANDOM = ("dense", "sparse")
_LARGER = ((12, 24), (16, 32), (20, 40))
_MAX_DISTANCES = 10_000


def _codebook_cells(scale: str) -> list[PaperCell]:
    sizes = _DESIGN_SIZES[:3] if scale == "smoke" else (*_DESIGN_SIZES, *_LARGER)
    return [
        *_CODEBOOKS_PRINTED,
        *(PaperCell({"code": name, "k": 10, "L": 20}) for name in _RANDOM),
        *(PaperCell({"code": "ip3", "k": k, "L": length}) for k, length in sizes),
    ]


def _measure_codebook(cell: PaperCell, workspace: Workspace) -> Measurement:
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


def _described(codebook: Codebook, verdict: str, cell: PaperCell) -> Measurement:
    same = (
        {} if cell.figures is None else {"same_rows": list(codebook.rows) == cell.figures["rows"]}
    )
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


def _judge_exhaustive(results: Results) -> Verdict:
    record = results.one(code="exhaustive")
    if record is None:
        return None
    same = bool(record.measured.get("same_rows"))
    return ("holds", "All 75 entries agree.") if same else ("fails", "The entries differ.")


def _check_codebooks(data: Mapping[str, Any]) -> None:
    _check_codebook("data['rows']", data["rows"])
    _check_spectrum("data['spectrum']", data["spectrum"])


def _check_codebook(name: str, rows: Any) -> None:
    check_rows(name, rows, str)
    if not all(set(row) <= set("+-0") for row in rows):
        raise InvalidInputError(f"{name} must be rows such as '+-+0'.")


def _check_spectrum(name: str, spectrum: Any) -> None:
    if not isinstance(spectrum, Mapping) or not 1 <= len(spectrum) <= _MAX_DISTANCES:
        raise InvalidInputError(f"{name} must have a count for each distance.")
    for distance, count in spectrum.items():
        try:
            fit = math.isfinite(float(distance))
        except ValueError:
            fit = False
        if not fit:
            raise InvalidInputError(f"{name} must have distances that are numbers.")
        check_int(f"{name}[{distance!r:.80}]", count, minimum=0, maximum=int(MAX_NUMBER))


def _draw_codebooks(results: Results) -> list[Drawing]:
    drawings = []
    for record in results.measured:
        distances = list(record.data["spectrum"])
        apart = (
            f"all rows {distances[0]} apart"
            if len(distances) == 1
            else f"rows at least {record.measured['row_distance']:g} apart"
        )
        title = CODEBOOK_TITLES[str(record.keys["code"])]
        caption = f"{title}, {record.keys['k']} x {record.keys['L']}: {apart}"
        drawings.append(codebook_drawing(record.data["rows"], record.data["spectrum"], caption))
    return drawings


FIGURE_CODEBOOKS = PaperTable(
    name="figure-codebooks",
    title="Codebooks",
    caption="A sample exhaustive code (k = 5), and codebooks generated by integer programming",
    printed=_CODEBOOKS_PRINTED,
    choose_cells=_codebook_cells,
    measure=_measure_codebook,
    compare=side_by_side(
        FigureColumn("columns", "columns"),
        FigureColumn("row_distance", "Row distance", 1, compare=False),
        FigureColumn("column_distance", "Columns apart", 1, compare=False),
        FigureColumn("verdict", "What is proved", None, compare=False),
    ),
    claims=(Claim("The exhaustive code for five classes (supplement)", _judge_exhaustive),),
    draw=_draw_codebooks,
    form=RecordForm(
        keys=("code", "k", "L"),
        figures=("row_distance",),
        data=("rows", "spectrum"),
        check_data=_check_codebooks,
    ),
)


_EPSILON = 8 / 255
_STEPS = 30
_BATCH = 250
_DEPENDENT = 0.05
"""Growth of the phi coefficient that counts as dependence."""


def _measure_correlation(cell: PaperCell, workspace: Workspace) -> Measurement:
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


def _check_correlation(data: Mapping[str, Any]) -> None:
    for name in ("p", "phi"):
        check_rows(f"data[{name!r}]", data[name], list)
        for value in (value for row in data[name] for value in row):
            if value is not None:
                check_number(f"data[{name!r}]", value, minimum=-MAX_NUMBER, maximum=MAX_NUMBER)


def _draw_correlation(results: Results) -> list[Drawing]:
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
    measure=_measure_correlation,
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
    draw=_draw_correlation,
    form=RecordForm(
        keys=("inputs",),
        figures=("accuracy", "mean_p", "mean_p_if_independent", "mean_phi"),
        data=("p", "phi"),
        check_data=_check_correlation,
    ),
    datasets=("cifar10",),
    extra="torch",
    cost=3,
)
