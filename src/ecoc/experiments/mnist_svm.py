"""Table 5: MNIST in 25 principal components, linear and RBF support vector machines."""

from __future__ import annotations

from typing import Any

from ecoc.experiments import svm
from ecoc.experiments.codebooks import paper_codebook
from ecoc.experiments.experiment import Cell, Experiment, Measurement
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.summaries import proportion_error
from ecoc.experiments.workspace import Samples, Workspace, draw

__all__ = ["TABLE5"]

_COMPONENTS = 25
_SIZES = {
    "linear": {"smoke": (300, 200), "quick": (None, None), "full": (None, None)},
    "rbf": {"smoke": (300, 200), "quick": (6000, 4000), "full": (None, None)},
}


def _cells(scale: str) -> list[Cell]:  # noqa: ARG001  # the same at every scale
    return [Cell(cell.keys, cell.figures) for cell in paper_table("table5").cells]


def _measure(cell: Cell, workspace: Workspace) -> Measurement:
    kernel = str(cell.keys["kernel"])
    dataset = workspace.dataset("mnist")
    drawn = draw(dataset, *_SIZES[kernel][workspace.scale], workspace.seed, stands_for="mnist")
    samples = _reduced(drawn, float(dataset.X.max()), workspace.seed)
    codebook = paper_codebook(str(cell.keys["codebook"]), 10, 20, workspace.seed)
    model = svm.fit(_learner(kernel), codebook, samples, workspace.jobs)
    found = svm.accuracies(model, samples.X_test, samples.y_test)
    return Measurement(
        measured=found,
        standard_errors={
            name: proportion_error(value, len(samples.y_test)) for name, value in found.items()
        },
        sizes=samples.sizes,
        subset=samples.subset,
        note=(
            "LinearSVC, C = 1 (squared hinge)."
            if kernel == "linear"
            else "SVC with RBF kernel, C = 1, gamma = 'scale'."
        )
        + " The paper gives no parameters.",
    )


def _reduced(samples: Samples, brightest: float, seed: int) -> Samples:
    """The samples in principal components of the training part."""
    from sklearn.decomposition import PCA

    components = PCA(_COMPONENTS, random_state=seed).fit(samples.X_train / brightest)
    return Samples(
        components.transform(samples.X_train / brightest),
        samples.y_train,
        components.transform(samples.X_test / brightest),
        samples.y_test,
        samples.subset,
    )


def _learner(kernel: str) -> Any:
    from sklearn.svm import SVC, LinearSVC

    return LinearSVC(dual=False) if kernel == "linear" else SVC(cache_size=500)


TABLE5 = Experiment("table5", _cells, _measure, datasets=("mnist",))
