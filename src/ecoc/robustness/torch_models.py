"""Columns that scikit-learn trained, as torch modules in float64: linear and kernel machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ecoc.errors import InvalidInputError

__all__ = ["KERNELS", "KernelMachine", "torch_columns"]

KERNELS = ("linear", "poly", "polynomial", "rbf", "sigmoid", "laplacian")
"""The kernels whose gradients are known."""

_TRANSFORMERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PCA")
"""Transformers of scikit-learn that multiply and shift."""


class KernelMachine(nn.Module):
    """Weighted kernel functions around centres, for one column or several.

    Parameters
    ----------
    centres : array of shape (n_centres, n_features)
        Where the kernel functions sit.
    coefficients : array of shape (n_centres, n_columns)
        Their weights.
    intercepts : array of shape (n_columns,)
        What is added.
    kernel : str
        One of :data:`KERNELS`.
    gamma, degree, coef0
        As in scikit-learn.

    Examples
    --------
    >>> machine = KernelMachine([[0.0, 0.0]], [[2.0]], [1.0], kernel="rbf", gamma=1.0)
    >>> machine(torch.tensor([[0.0, 1.0]], dtype=torch.float64))
    tensor([[1.7358]], dtype=torch.float64)
    """

    centres: Tensor
    coefficients: Tensor
    intercepts: Tensor

    def __init__(
        self,
        centres: npt.ArrayLike,
        coefficients: npt.ArrayLike,
        intercepts: npt.ArrayLike,
        *,
        kernel: str,
        gamma: float = 1.0,
        degree: float = 3.0,
        coef0: float = 0.0,
    ) -> None:
        super().__init__()
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0
        self.register_buffer("centres", _double(centres))
        self.register_buffer("coefficients", _double(coefficients))
        self.register_buffer("intercepts", _double(intercepts))

    def forward(self, inputs: Tensor) -> Tensor:
        """The scores (n_samples x n_columns)."""
        return self._block(inputs) @ self.coefficients + self.intercepts

    def _block(self, inputs: Tensor) -> Tensor:
        if self.kernel == "laplacian":
            return torch.exp(-self.gamma * torch.cdist(inputs, self.centres, p=1.0))
        products = inputs @ self.centres.T
        if self.kernel == "rbf":
            squares = inputs.square().sum(1)[:, None] + self.centres.square().sum(1)
            return torch.exp(-self.gamma * (squares - 2 * products))
        if self.kernel == "linear":
            return products
        products = self.gamma * products + self.coef0
        return torch.tanh(products) if self.kernel == "sigmoid" else products**self.degree


class _Columns(nn.Module):
    """Modules of some columns each, after the transformation of features that each needs."""

    def __init__(self, parts: Sequence[nn.Module], order: Sequence[int]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        # Where each column is among the outputs of the parts.
        self.order = np.argsort(order).tolist()

    def forward(self, inputs: Tensor) -> Tensor:
        inputs = inputs.flatten(1).double()
        return torch.cat([part(inputs) for part in self.parts], dim=1)[:, self.order]


def torch_columns(estimators: Sequence[Any]) -> nn.Module:
    """The score functions of fitted columns as one module, with gradients.

    Parameters
    ----------
    estimators : sequence
        Learners with `coef_` and `intercept_` (linear classifiers and regressors), support
        vector machines, or :class:`ecoc.multiclass.KernelRidgeColumns`; each alone, or at
        the end of a pipeline of transformers that multiply and shift.

    Returns
    -------
    torch.nn.Module
        From features (n_samples x n_features) to scores (n_samples x n_columns), in float64.

    Raises
    ------
    InvalidInputError
        If the gradient of a learner is not known; names the learner.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = SVC().fit(X, y == 1)
    >>> scores = torch_columns([learner])(torch.tensor(X))[:, 0]
    >>> bool(np.allclose(scores, learner.decision_function(X)))
    True
    """
    groups: dict[object, list[int]] = {}
    for column, learner in enumerate(estimators):
        shared = getattr(learner, "centres_", None)
        key = ("linear",) if _is_linear(learner) else (column if shared is None else id(shared))
        groups.setdefault(key, []).append(column)
    parts = [_part([estimators[i] for i in members]) for members in groups.values()]
    return _Columns(parts, [i for members in groups.values() for i in members])


def _part(learners: Sequence[Any]) -> nn.Module:
    first = learners[0]
    if _is_linear(first):
        weights, biases = zip(*(_linear(learner) for learner in learners), strict=True)
        layer = nn.Linear(len(weights[0]), len(weights), dtype=torch.float64)
        layer.weight = nn.Parameter(_double(np.stack(weights)), requires_grad=False)
        layer.bias = nn.Parameter(_double(biases), requires_grad=False)
        return layer
    matrix, shift, last = _taken_apart(first)
    machine = _kernel_machine(last, [_taken_apart(learner)[2] for learner in learners])
    if matrix is None:
        return machine
    before = nn.Linear(matrix.shape[1], matrix.shape[0], dtype=torch.float64)
    before.weight = nn.Parameter(_double(matrix), requires_grad=False)
    before.bias = nn.Parameter(_double(shift), requires_grad=False)
    return nn.Sequential(before, machine)


def _kernel_machine(learner: Any, learners: Sequence[Any]) -> KernelMachine:
    kernel = getattr(learner, "kernel", None)
    settings: dict[str, Any] = {
        "kernel": kernel,
        "degree": getattr(learner, "degree", 3),
        "coef0": getattr(learner, "coef0", 0.0),
    }
    if kernel in KERNELS and hasattr(learner, "centres_"):
        coefficients = np.stack([each.dual_coef_ for each in learners], axis=1)
        intercepts = [each.intercept_ for each in learners]
        return KernelMachine(
            _dense(learner.centres_), coefficients, intercepts, gamma=learner.gamma_, **settings
        )
    # The number behind gamma="scale" depends on the training data: the learner alone has it.
    gamma = getattr(learner, "_gamma", None)
    if kernel in KERNELS and gamma is not None and hasattr(learner, "support_vectors_"):
        centres, coefficients = learner.support_vectors_, _dense(learner.dual_coef_).T
        return KernelMachine(
            _dense(centres), coefficients, learner.intercept_, gamma=float(gamma), **settings
        )
    raise InvalidInputError(
        f"Gradients of {type(learner).__name__} are not known. They are for linear learners, "
        f"support vector machines and kernel ridge regression with kernels {', '.join(KERNELS)}; "
        "attack others as black boxes."
    )


def _is_linear(learner: Any) -> bool:
    last = learner.steps[-1][1] if hasattr(learner, "steps") else learner
    return hasattr(last, "coef_") and hasattr(last, "intercept_")


def _linear(learner: Any) -> tuple[npt.NDArray[np.float64], float]:
    """Weights and bias in the features that the learner was given."""
    matrix, shift, last = _taken_apart(learner)
    weights = _dense(last.coef_).ravel()
    bias = float(np.ravel(last.intercept_)[0])
    return (weights, bias) if matrix is None else (weights @ matrix, bias + float(weights @ shift))


def _taken_apart(
    learner: Any,
) -> tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.float64] | float, Any]:
    """What a pipeline does to features, as a matrix and a shift, and the learner at its end."""
    if not hasattr(learner, "steps"):
        return None, 0.0, learner
    transformers = [step for _, step in learner.steps[:-1] if step not in (None, "passthrough")]
    for transformer in transformers:
        if type(transformer).__name__ not in _TRANSFORMERS or getattr(transformer, "clip", False):
            raise InvalidInputError(
                f"Gradients of {type(transformer).__name__} in a pipeline are not known; "
                f"they are for {', '.join(_TRANSFORMERS)}."
            )
    if not transformers:
        return None, 0.0, learner.steps[-1][1]
    # Whatever multiplies and shifts is known by what it does to the origin and the axes.
    size = transformers[0].n_features_in_
    probes = np.vstack([np.zeros(size), np.eye(size)])
    for transformer in transformers:
        probes = transformer.transform(probes)
    return (probes[1:] - probes[0]).T, probes[0], learner.steps[-1][1]


def _dense(values: Any) -> npt.NDArray[np.float64]:
    dense: npt.NDArray[np.float64] = np.asarray(
        values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64
    )
    return dense


def _double(values: npt.ArrayLike) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float64).copy())
