"""Tables 8 and 9: accuracy under attack on MNIST and CIFAR-10, and what is certain there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._workers import tethered
from ecoc.errors import UnsupportedError
from ecoc.paper.drawings import Drawing, Line, line_drawing
from ecoc.paper.measuring import CODEBOOK_TITLES, Measurement, Workspace, proportion_error
from ecoc.paper.records import Figures, Record, Results
from ecoc.paper.table import (
    Claim,
    ComparisonTable,
    ComparisonValue,
    FigureColumn,
    PaperCell,
    PaperTable,
    RecordForm,
    Verdict,
    figure_values,
    key_value,
    measured_on,
)
from ecoc.paper.tables6and7 import image_samples, setup_of, trained

if TYPE_CHECKING:
    from ecoc.robustness import RobustnessResult

__all__ = ["TABLE8", "TABLE9", "attack_table", "judge_robustness"]


_ATTACKED = {"smoke": 4, "quick": 80, "full": 1000}
"""Test samples that are attacked at a scale."""

_SHOWN = 10
"""Per cent that count as something to show under attack."""


def attack_table(
    name: str,
    dataset: str,
    *,
    title: str,
    caption: str,
    claims: Sequence[Claim],
    radii: Sequence[str],
    steps: int,
    accuracies: Mapping[str, Sequence[float]],
    more_cells: Sequence[PaperCell] = (),
    cost: int,
) -> PaperTable:
    """A table of accuracies under attack, by codebook and radius.

    Parameters
    ----------
    name, dataset, title, caption, claims, cost
        As of the table.
    radii : sequence of str
        Such as ``8/255``.
    steps : int
        Of the paper's attack.
    accuracies : mapping of str to sequence of float
        What the paper prints for each codebook, a figure for each radius.
    more_cells : sequence of PaperCell
        What is measured besides.
    """
    printed = tuple(
        PaperCell(
            {"codebook": codebook},
            {f"pgd {radius}": value for radius, value in zip(radii, figures, strict=True)},
        )
        for codebook, figures in accuracies.items()
    )

    def cells(scale: str) -> tuple[PaperCell, ...]:
        return printed[:1] if scale == "smoke" else (*printed, *more_cells)

    return PaperTable(
        name=name,
        title=title,
        caption=caption,
        printed=printed,
        choose_cells=cells,
        measure=partial(_measure, dataset, radii, steps),
        compare=_compare,
        claims=tuple(claims),
        draw=_draw,
        form=RecordForm(keys=("codebook",)),
        datasets=(dataset,),
        extra="torch",
        cost=cost,
    )


def _measure(
    dataset: str, radii: Sequence[str], steps: int, cell: PaperCell, workspace: Workspace
) -> Measurement:
    """One evaluation gives both: the strong protocol begins with the paper's attack."""
    setup = setup_of(dataset, workspace.scale)
    samples = image_samples(setup, workspace)
    model = trained(setup, str(cell.keys["codebook"]), samples, workspace)
    count = _ATTACKED[workspace.scale]
    names = radii[: workspace.pick(1, None, None)]
    parts = _evaluated(
        model,
        samples.X_test[:count],
        samples.y_test[:count],
        epsilons=[_value(name) for name in names],
        steps=workspace.pick(5, steps, steps),
        workspace=workspace,
    )
    measured = {"clean": _mean(parts, [part.clean for part in parts])}
    for i, name in enumerate(names):
        measured[f"pgd {name}"] = _mean(parts, [_under_paper(part, i) for part in parts])
    for i, name in enumerate(names):
        measured[f"strong {name}"] = _mean(parts, [_under_strong(part, i) for part in parts])
    for i, name in enumerate(names):
        proved = [part.certified[i] for part in parts if part.certified is not None]
        if proved:
            measured[f"certified {name}"] = _mean(parts, proved)
    warnings = dict.fromkeys(warning for part in parts for warning in part.warnings)
    found_by: Counter[str] = Counter()
    for part in parts:
        found_by.update(part.found_by)
    return Measurement(
        measured=measured,
        standard_errors={name: proportion_error(value, count) for name, value in measured.items()},
        sizes={**samples.sizes, "attacked": count, "epochs": setup.epochs},
        subset=f"{samples.subset}; attacked: {count:,} of the test samples",
        note=" ".join((f"Network {setup.architecture}, {setup.epochs} epochs.", *warnings)),
        data={"found_by": dict(found_by)},
    )


def _evaluated(
    model: Any,
    inputs: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    *,
    epsilons: Sequence[float],
    steps: int,
    workspace: Workspace,
) -> list[RobustnessResult]:
    """Evaluate in as many parts as run at the same time; small batches use one core at best."""
    from joblib import Parallel, delayed, effective_n_jobs

    n_parts = min(effective_n_jobs(workspace.jobs), len(labels))
    parts = np.array_split(np.arange(len(labels)), n_parts)
    results: list[RobustnessResult] = Parallel(n_jobs=workspace.jobs)(
        delayed(tethered(_evaluated_part))(
            model, inputs[part], labels[part], epsilons, steps, workspace.seed, n_parts > 1
        )
        for part in parts
    )
    return results


def _evaluated_part(  # noqa: PLR0917  # what a process is given
    model: Any,
    inputs: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    epsilons: Sequence[float],
    steps: int,
    seed: int,
    in_process: bool,
) -> RobustnessResult:
    import torch

    from ecoc.robustness import certify, evaluate_robustness

    if in_process:
        torch.set_num_threads(1)
    result = evaluate_robustness(
        model, inputs, labels, epsilons=epsilons, steps=steps, random_state=seed
    )
    try:
        proved = certify(model, inputs, labels, epsilons=epsilons, method="ibp")
    except UnsupportedError:  # networks with layers that interval bounds do not know
        return result
    return replace(result, certified=proved.certified_accuracy)


def _mean(parts: Sequence[RobustnessResult], shares: Sequence[float]) -> float:
    """The percentage of all samples, from the shares of parts."""
    weights = [part.n_samples for part in parts]
    return round(100 * float(np.average(shares, weights=weights)), 3)


def _under_strong(part: RobustnessResult, i: int) -> float:
    share = part.attacked[i]
    if share is None:
        raise UnsupportedError(f"The accuracy under attack is not known. {part.withheld}")
    return share


def _under_paper(part: RobustnessResult, i: int) -> float:
    assert part.paper is not None  # noqa: S101  # networks have gradients
    return part.paper[i]


def _value(radius: str) -> float:
    """The number that a text such as ``8/255`` means."""
    number, _, divisor = radius.partition("/")
    return float(number) / float(divisor or 1)


def _compare(records: Sequence[Record]) -> ComparisonTable:
    """A row for each codebook and radius."""
    rows = []
    for record in records:
        for name in (name for name in record.measured if name.startswith("pgd ")):
            radius = name.removeprefix("pgd ")
            rows.append(
                (
                    key_value(record.keys["codebook"]),
                    ComparisonValue(radius, _value(radius)),
                    *figure_values(record, FigureColumn(name, "", 2)),
                    *figure_values(record, FigureColumn(f"strong {radius}", "", 2, compare=False)),
                    *figure_values(
                        record, FigureColumn(f"certified {radius}", "", 2, compare=False)
                    ),
                    measured_on(record),
                )
            )
    headings = (
        "Codebook",
        "Radius",
        "Paper: PGD, %",
        "Ours: PGD, %",
        "Difference",
        "Ours: strong, %",
        "Ours: certified, %",
        "Measured on",
    )
    return ComparisonTable(headings, tuple(rows))


def judge_robustness(results: Results) -> Verdict:
    """Whether IP3 stands under the strong attack as the paper says."""
    ours = results.one(codebook="ip3")
    if ours is None or ours.paper is None:
        return None
    radii = [name.removeprefix("pgd ") for name in ours.measured if name.startswith("pgd ")]
    told = "; ".join(
        f"{radius}: {ours.paper[f'pgd {radius}']:.0f}, {ours.measured[f'pgd {radius}']:.0f}, "
        f"{ours.measured[f'strong {radius}']:.0f}"
        for radius in radii
    )
    text = (
        "Accuracies in per cent by radius, the paper's figure, ours under its attack, ours "
        f"under the strong one: {told}."
    )
    # The claim is about the largest radius at which the paper has something to show.
    shown = [radius for radius in radii if ours.paper[f"pgd {radius}"] >= _SHOWN]
    if not shown:
        return "open", text
    strong, paper = ours.measured[f"strong {shown[-1]}"], ours.paper[f"pgd {shown[-1]}"]
    if strong < paper / 2:
        text += f" At {shown[-1]}, {strong:.0f} % stand where the paper reports {paper:.0f} %."
        return "fails", text
    return "holds", text


def _draw(results: Results) -> list[Drawing]:
    """Accuracies over the radius, a drawing for each codebook."""
    drawings = []
    for record in results.measured:
        title = CODEBOOK_TITLES.get(str(record.keys["codebook"]), str(record.keys["codebook"]))
        lines = [
            Line("Paper", _curve(record.paper or {}, "pgd "), "orange", dashed=True),
            Line("Ours, the paper's attack", _curve(record.measured, "pgd ")),
            Line("Ours, strong", _curve(record.measured, "strong "), "red"),
            Line("Ours, certified", _curve(record.measured, "certified "), "green"),
        ]
        drawings += line_drawing(
            lines,
            caption=f"{title}: accuracy under attack",
            x_label="radius (l_inf)",
            y_label="accuracy, %",
            y_range=(-2, 102),
        )
    return drawings


def _curve(figures: Figures, start: str) -> list[tuple[float, float]]:
    return [
        (round(_value(name.removeprefix(start)), 4), float(value))
        for name, value in figures.items()
        if name.startswith(start) and value is not None
    ]


def _judge_certainty(results: Results) -> Verdict:
    record = results.one(codebook="ip3-ibp")
    proved = {
        name.removeprefix("certified "): value
        for name, value in (record.measured.items() if record else ())
        if name.startswith("certified ")
    }
    if not proved:
        return None
    told = ", ".join(f"{value:.0f} % at {radius}" for radius, value in proved.items() if value > 0)
    text = (
        f"IP3 columns trained with interval bounds are certified, whatever the attack: {told}."
        if told
        else "Interval bounds certify nothing at these radii here either."
    )
    return "better" if told else "open", text


TABLE8 = attack_table(
    "table8",
    "mnist",
    title="MNIST under attack",
    caption="Adversarial accuracy of nominally trained codebooks on MNIST (l_inf PGD, 100 steps)",
    claims=(
        Claim("On MNIST, IP3 is robust to attacks without adversarial training", judge_robustness),
        Claim("No accuracy under attack is proved", _judge_certainty),
    ),
    radii=("0.05", "0.1", "0.15", "0.2", "0.25", "0.3"),
    steps=100,
    accuracies={
        "ip3": (95.46, 83.6, 57.67, 29.96, 12.99, 4.81),
        "one-vs-one": (84.48, 59.17, 25.57, 7.91, 2.36, 0.66),
        "one-vs-all": (93.64, 70.74, 30.89, 6.74, 1.87, 0.86),
        "sparse": (86.12, 58.67, 22.65, 5.4, 0.63, 0.01),
        "dense": (95.17, 84.08, 62.95, 43.54, 28.6, 16.34),
        "multiclass": (94.35, 70.29, 21.72, 2.19, 0.04, 0.0),
    },
    # Bounds on the paper's networks certify next to nothing at its radii; those on networks
    # that were trained for it do.
    more_cells=(PaperCell({"codebook": "ip3-ibp"}),),
    cost=5,
)


TABLE9 = attack_table(
    "table9",
    "cifar10",
    title="CIFAR-10 under attack",
    caption="Adversarial accuracy of nominally trained codebooks on CIFAR-10 (l_inf PGD, 30 steps)",
    claims=(
        Claim(
            "On CIFAR-10, IP3 is robust to attacks without adversarial training",
            judge_robustness,
        ),
    ),
    radii=("2/255", "4/255", "8/255"),
    steps=30,
    accuracies={
        "ip3": (24.04, 19.24, 16.48),
        "one-vs-one": (4.65, 0.11, 0.0),
        "one-vs-all": (2.83, 0.14, 0.0),
        "sparse": (5.05, 0.08, 0.0),
        "dense": (24.2, 12.79, 11.63),
        "multiclass": (15.46, 2.55, 0.27),
    },
    cost=4,
)
