"""Columns that scikit-learn trained, as torch modules in float64: linear and kernel machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ecoc._typing import Floats
from ecoc.errors import UnsupportedError
from ecoc.multiclass.data import open_pipeline

__all__ = ["DIFFERENTIABLE_KERNELS", "AffineMap", "KernelMachine", "torch_columns"]

DIFFERENTIABLE_KERNELS = ("linear", "poly", "polynomial", "rbf", "sigmoid", "laplacian")
"""The kernels whose gradients are known."""


@dataclass(frozen=True, eq=False)
class AffineMap:
    """What transformers that multiply and shift do to features: ``matrix @ x + shift``.

    Attributes
    ----------
    matrix : array of shape (n_after, n_before)
        What features are multiplied by.
    shift : array of shape (n_after,)
        What is added.
    """

    matrix: Floats
    shift: Floats

    @classmethod
    def of(cls, transformers: Sequence[Any]) -> AffineMap | None:
        """The map that fitted transformers are together; None if there are none.

        Raises
        ------
        UnsupportedError
            If one of them does more than multiply and shift; names it.

        Examples
        --------
        >>> from sklearn.preprocessing import MinMaxScaler
        >>> affine = AffineMap.of([MinMaxScaler().fit([[1.0, 0.0], [3.0, 4.0]])])
        >>> affine.matrix, affine.shift
        (array([[0.5 , 0.  ],
           [0.  , 0.25]]), array([-0.5,  0. ]))
        """
        steps = [cls._of_one(transformer) for transformer in transformers]
        if not steps:
            return None
        whole = steps[0]
        for step in steps[1:]:
            whole = step.after(whole)
        return whole

    @classmethod
    def _of_one(cls, transformer: Any) -> AffineMap:
        # The very types: a subclass may do something else.
        kind = type(transformer)
        known = kind.__module__.startswith("sklearn.") and kind.__name__ in _AFFINE_STEPS
        if not known or getattr(transformer, "clip", False):
            clipping = " with clip=True" if known else ""
            raise UnsupportedError(
                f"{kind.__name__}{clipping} is not known to only multiply and shift features, as "
                f"{', '.join(_AFFINE_STEPS)} do."
            )
        matrix, shift = _AFFINE_STEPS[kind.__name__](transformer)
        return cls(np.asarray(matrix, dtype=np.float64), np.asarray(shift, dtype=np.float64))

    def after(self, first: AffineMap | None) -> AffineMap:
        """The map that does another one first."""
        if first is None:
            return self
        return AffineMap(self.matrix @ first.matrix, self.matrix @ first.shift + self.shift)

    def layer(self) -> nn.Linear:
        """The map as a layer of torch, in float64."""
        n_after, n_before = self.matrix.shape
        layer = nn.Linear(n_before, n_after, dtype=torch.float64)
        layer.weight = nn.Parameter(_double(self.matrix), requires_grad=False)
        layer.bias = nn.Parameter(_double(self.shift), requires_grad=False)
        return layer


def _standard_scaler(step: Any) -> tuple[Floats, Floats]:
    return _each_feature(step.n_features_in_, step.mean_ if step.with_mean else 0.0, step.scale_)


def _robust_scaler(step: Any) -> tuple[Floats, Floats]:
    centre = step.center_ if step.with_centering else 0.0
    return _each_feature(step.n_features_in_, centre, step.scale_ if step.with_scaling else None)


def _each_feature(n: int, centre: Any, scale: Any) -> tuple[Floats, Floats]:
    factors = np.full(n, 1.0) / (1.0 if scale is None else scale)
    return np.diag(factors), -centre * factors


def _pca(step: Any) -> tuple[Floats, Floats]:
    matrix = step.components_
    if step.whiten:
        scale = np.sqrt(step.explained_variance_)
        matrix = matrix / np.maximum(scale, np.finfo(scale.dtype).eps)[:, None]
    return matrix, -matrix @ step.mean_


_AFFINE_STEPS: dict[str, Callable[[Any], tuple[Floats, Floats]]] = {
    "StandardScaler": _standard_scaler,
    "MinMaxScaler": lambda step: (np.diag(step.scale_), step.min_),
    "MaxAbsScaler": lambda step: _each_feature(step.n_features_in_, 0.0, step.scale_),
    "RobustScaler": _robust_scaler,
    "PCA": _pca,
}
"""Transformers of scikit-learn that multiply and shift, by what they have learnt."""


_SHAPE = ("degree", "coef0")
"""What kernels have beside their gamma."""


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
        One of :data:`DIFFERENTIABLE_KERNELS`.
    gamma, degree, coef0
        As in scikit-learn.

    Examples
    --------
    >>> machine = KernelMachine([[0.0, 0.0]], [[2.0]], [1.0], kernel="rbf", gamma=1.0)
    >>> machine(torch.tensor([[0.0, 1.0]], dtype=torch.float64))
    tensor([[1.7358]], dtype=torch.float64)
    """

    centres: Tensor
    squares: Tensor
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
        self.register_buffer("squares", self.centres.square().sum(1))
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
            squares = inputs.square().sum(1)[:, None] + self.squares
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
    UnsupportedError
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
        groups.setdefault(_kind(learner, column), []).append(column)
    parts = [_part([estimators[i] for i in members]) for members in groups.values()]
    return _Columns(parts, [i for members in groups.values() for i in members])


def _kind(learner: Any, column: int) -> object:
    """A key that is equal for columns which one part computes together."""
    if _is_linear(learner):
        return "linear"
    if hasattr(learner, "centres_"):
        return id(learner.centres_)
    if hasattr(learner, "support_vectors_"):
        return tuple(getattr(learner, name, None) for name in ("kernel", "_gamma", *_SHAPE))
    return column


def _part(learners: Sequence[Any]) -> nn.Module:
    if _is_linear(learners[0]):
        columns = [_linear(learner) for learner in learners]
        together = AffineMap(
            np.vstack([column.matrix for column in columns]),
            np.concatenate([column.shift for column in columns]),
        )
        return together.layer()
    transformers, first = open_pipeline(learners[0])
    machine = _kernel_machine(first, [open_pipeline(learner)[1] for learner in learners])
    before = AffineMap.of(transformers)
    return machine if before is None else nn.Sequential(before.layer(), machine)


def _kernel_machine(learner: Any, learners: Sequence[Any]) -> KernelMachine:
    kernel = getattr(learner, "kernel", None)
    settings = {name: value for name, value in vars(learner).items() if name in _SHAPE}
    if kernel in DIFFERENTIABLE_KERNELS and hasattr(learner, "centres_"):
        coefficients = np.stack([each.dual_coef_ for each in learners], axis=1)
        intercepts = [each.intercept_ for each in learners]
        return KernelMachine(
            _dense(learner.centres_),
            coefficients,
            intercepts,
            kernel=kernel,
            gamma=learner.gamma_,
            **settings,
        )
    # The number behind gamma="scale" depends on the training data: the learner alone has it.
    gamma = getattr(learner, "_gamma", None)
    if (
        kernel in DIFFERENTIABLE_KERNELS
        and gamma is not None
        and hasattr(learner, "support_vectors_")
    ):
        centres, coefficients = _shared_centres(learners)
        intercepts = [value for each in learners for value in each.intercept_]
        return KernelMachine(
            centres, coefficients, intercepts, kernel=kernel, gamma=float(gamma), **settings
        )
    raise UnsupportedError(
        f"Gradients of {type(learner).__name__} are not known. They are for linear learners, "
        "support vector machines and kernel ridge regression with kernels "
        f"{', '.join(DIFFERENTIABLE_KERNELS)}."
    )


def _shared_centres(learners: Sequence[Any]) -> tuple[Floats, Floats]:
    """The support vectors of all learners, each once, and their weight in each column."""
    vectors = [_dense(learner.support_vectors_) for learner in learners]
    centres, places = np.unique(np.vstack(vectors), axis=0, return_inverse=True)
    columns = np.repeat(np.arange(len(learners)), [len(each) for each in vectors])
    coefficients = np.zeros((len(centres), len(learners)))
    weights = [_dense(learner.dual_coef_).ravel() for learner in learners]
    np.add.at(coefficients, (places.ravel(), columns), np.concatenate(weights))
    return centres, coefficients


def _is_linear(learner: Any) -> bool:
    last = open_pipeline(learner)[1]
    return hasattr(last, "coef_") and hasattr(last, "intercept_")


def _linear(learner: Any) -> AffineMap:
    """Weights and bias in the features that the learner was given."""
    transformers, last = open_pipeline(learner)
    weights = _dense(last.coef_).reshape(1, -1)
    return AffineMap(weights, np.ravel(last.intercept_)[:1]).after(AffineMap.of(transformers))


def _dense(values: Any) -> Floats:
    dense: Floats = np.asarray(
        values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64
    )
    return dense


def _double(values: npt.ArrayLike) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float64).copy())
