"""Tables 8 and 9: accuracy under attack, the paper's and a strong one, and what is certain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._workers import tethered
from ecoc.errors import InvalidInputError
from ecoc.experiments.experiment import Cell, Experiment, Measurement
from ecoc.experiments.networks import image_samples, setup_of, trained
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.summaries import proportion_error
from ecoc.experiments.workspace import Workspace

if TYPE_CHECKING:
    from ecoc.robustness import RobustnessResult

__all__ = ["TABLE8", "TABLE9"]

_STEPS = {"mnist": 100, "cifar10": 30}
_ATTACKED = 80
"""Test samples that are attacked at the scale quick; at full, all are."""

_EPSILONS = {
    "mnist": ("0.05", "0.1", "0.15", "0.2", "0.25", "0.3"),
    "cifar10": ("2/255", "4/255", "8/255"),
}


def _cells(table: str, scale: str) -> list[Cell]:
    cells = [Cell(cell.keys, cell.figures) for cell in paper_table(table).cells]
    if scale == "smoke":
        return cells[:1]
    # Bounds on the paper's networks certify next to nothing at its radii; those on networks
    # that were trained for it do.
    return [*cells, Cell({"codebook": "ip3-ibp"})] if table == "table8" else cells


def _measure(dataset: str, cell: Cell, workspace: Workspace) -> Measurement:
    """One evaluation gives both: the strong protocol begins with the paper's attack."""
    setup = setup_of(dataset, workspace.scale)
    samples = image_samples(setup, workspace)
    model = trained(setup, str(cell.keys["codebook"]), samples, workspace)
    count = workspace.pick(4, _ATTACKED, len(samples.y_test))
    names = _EPSILONS[dataset][: workspace.pick(1, None, None)]
    parts = _evaluated(
        model,
        samples.X_test[:count],
        samples.y_test[:count],
        epsilons=[_value(name) for name in names],
        steps=workspace.pick(5, _STEPS[dataset], _STEPS[dataset]),
        workspace=workspace,
    )
    measured = {"clean": _mean(parts, [part.clean for part in parts])}
    for i, name in enumerate(names):
        measured[f"pgd {name}"] = _mean(parts, [_under_paper(part, i) for part in parts])
    for i, name in enumerate(names):
        measured[f"strong {name}"] = _mean(parts, [part.attacked[i] for part in parts])
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
    found: list[RobustnessResult] = Parallel(n_jobs=workspace.jobs)(
        delayed(tethered(_evaluated_part))(
            model, inputs[part], labels[part], epsilons, steps, workspace.seed, n_parts > 1
        )
        for part in parts
    )
    return found


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

    from ecoc.robustness import evaluate_robustness
    from ecoc.robustness.certify import certify

    if in_process:
        torch.set_num_threads(1)
    found = evaluate_robustness(
        model, inputs, labels, epsilons=epsilons, steps=steps, random_state=seed
    )
    try:
        proved = certify(model, inputs, labels, epsilons=epsilons, method="ibp")
    except InvalidInputError:  # networks with layers that interval bounds do not know
        return found
    return replace(found, certified=proved.certified_accuracy)


def _mean(parts: Sequence[RobustnessResult], shares: Sequence[float]) -> float:
    """The percentage of all samples, from the shares of parts."""
    weights = [part.n_samples for part in parts]
    return round(100 * float(np.average(shares, weights=weights)), 3)


def _under_paper(part: RobustnessResult, i: int) -> float:
    assert part.paper is not None  # noqa: S101  # networks have gradients
    return part.paper[i]


def _value(epsilon: str) -> float:
    """The radius that a text such as ``8/255`` means."""
    number, _, divisor = epsilon.partition("/")
    return float(number) / float(divisor or 1)


def _experiment(table: str, dataset: str) -> Experiment:
    cells: Callable[[str], list[Cell]] = partial(_cells, table)
    return Experiment(table, cells, partial(_measure, dataset), datasets=(dataset,), extra="torch")


TABLE8 = _experiment("table8", "mnist")
TABLE9 = _experiment("table9", "cifar10")
