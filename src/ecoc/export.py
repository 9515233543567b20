"""Trained models as ONNX files: columns and decoder in one graph."""

from __future__ import annotations

import json
import logging
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import require
from ecoc._typing import Floats, Ints
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.columns import ScoreMethod, score_column
from ecoc.multiclass.data import open_pipeline
from ecoc.multiclass.decoders import Coupling, Learned, Soft
from ecoc.multiclass.onnx import OPSETS, Answers, OperatorGraph, Value, decoded, softplus

if TYPE_CHECKING:
    from onnx import ModelProto

    from ecoc.multiclass.joint.svm import Kernel

__all__ = ["to_onnx"]

_PROBES = 16
"""Samples on which formulas are compared with the learner that they are for."""


def to_onnx(model: Any, *, missing_columns: bool = False, probabilities: bool = True) -> ModelProto:
    """A trained model as one ONNX graph: its columns, and the decoder behind them.

    The graph takes ``X``, and gives ``label``, the class scores ``scores`` and, where the
    model has them, ``probabilities``. All is computed in double precision, as scikit-learn
    does, except for networks, which take and compute in single precision until the decoder.

    Parameters
    ----------
    model : ECOCClassifier, Pipeline, TableModel or a network of ``ecoc.nn``
        A fitted classifier, a pipeline that ends in one, a model of ``ecoc fit`` whose
        features are numbers, or trained networks.
    missing_columns : bool, default=False
        Give the graph a second input, ``missing``, that need not be given: True for columns to
        do without, of shape (1, n_columns), or (n_samples, n_columns) if that differs between
        samples. At least one column of each sample must stay.
    probabilities : bool, default=True
        Whether probabilities are among the outputs, if the model has them. Without them labels
        and scores come many times faster: coupling takes many steps, and onnxruntime computes
        all outputs whichever are asked for.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(model, path)`` writes it.

    Raises
    ------
    MissingDependencyError
        Without the extra ``onnx``.
    UnsupportedError
        For learners and decoders that have no form in operators; says which have.

    Notes
    -----
    Linear learners, kernel machines, trees, forests and boosted trees, and the calibration of
    any of them, are operators over all columns at once; ``skl2onnx`` translates other
    learners column by column, and steps of pipelines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(DecisionTreeClassifier(random_state=0)).fit(X, y)
    >>> graph = to_onnx(model).graph
    >>> [each.name for each in graph.input], [each.name for each in graph.output]
    (['X'], ['label', 'scores', 'probabilities'])
    """
    inner = _of_table(model)
    transformers, last = open_pipeline(inner)
    if hasattr(last, "records_"):
        if transformers:
            raise UnsupportedError(
                "A pipeline that ends in networks cannot be exported; export the networks, and "
                "transform their inputs before."
            )
        return _network_model(last, missing_columns=missing_columns, probabilities=probabilities)
    if not isinstance(last, ECOCClassifier):
        raise InvalidInputError(
            "model must be a fitted ECOCClassifier, a pipeline that ends in one, a model of ecoc "
            f"fit, or a network of ecoc.nn, not {type(last).__name__}."
        )
    _check_classifier(last)
    graph = OperatorGraph()
    first = transformers[0] if transformers else last
    value = graph.input("X", np.float64, ["n_samples", int(first.n_features_in_)])
    for transformer in transformers:
        value = _transformed(value, transformer)
    present = _presence(graph, last.codebook_.n_columns) if missing_columns else None
    return _finished(_Classifier(last, value, present), model, probabilities=probabilities)


def _of_table(model: Any) -> Any:
    """The pipeline of a model of a table, whose features must be numbers."""
    features = getattr(model, "features", None)
    if features is None or not hasattr(model, "pipeline"):
        return model
    others = [feature.name for feature in features if feature.kind != "number"]
    if others:
        raise UnsupportedError(
            "A table model is exported if all its features are numbers; these are not: "
            f"{', '.join(others[:5])}. Export model.pipeline, and give it the numbers of "
            "model.encode(table).X."
        )
    return model.pipeline


def _check_classifier(model: ECOCClassifier) -> None:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if any(learner is None for learner in model.estimators_):
        raise UnsupportedError("A model that has lost columns cannot be exported.")
    if model.rejects:
        raise UnsupportedError(
            "Rejected samples have no form in ONNX operators; export the model with "
            "reject_below=None and reject_outliers=None."
        )


def _presence(graph: OperatorGraph, n_columns: int) -> Value:
    missing = graph.input(
        "missing", bool, ["n_masks", n_columns], default=np.zeros((1, n_columns), dtype=bool)
    )
    return 1.0 - missing.cast(np.float64)


@dataclass(frozen=True, eq=False)
class _Classifier:
    """The outputs of a classifier in a graph."""

    model: Any
    value: Value
    present: Value | None

    @property
    def graph(self) -> OperatorGraph:
        return self.value.graph

    def answers(self, method: ScoreMethod) -> Answers:
        """The scores of the columns."""
        codebook, learners = self.model.codebook_, self.model.estimators_
        q, present = codebook.n_symbols, self.present
        if q == 2:
            scores = _columns(self.value, learners, method)
        else:
            groups = self.model._task({}).groups
            scores = _symbol_columns(self.value, learners, method, groups, q)
        if self.model.nan_scores == "erase":
            there = self.graph.op("Not", self.graph.op("IsNaN", scores))
            scores = self.graph.where(there, scores, 0.0)
            kept = there.cast(np.float64)
            kept = kept if q == 2 else -(-kept).max(axis=2).reshape(0, -1)
            present = kept if present is None else kept * present
        return Answers(scores, codebook.matrix, q, present)

    def scores(self) -> Value:
        """The score of each class."""
        costs = getattr(self.model, "_costs_", None)
        if costs is None and getattr(self.model, "_ratios_", None) is None:
            return self._decoded()
        chances = self.probabilities()
        if chances is None:
            raise _unknown(self.model.estimators_[0])
        return chances if costs is None else -(chances @ costs)

    def _decoded(self) -> Value:
        return decoded(self.model.decoder_, self.answers(self.model._score_method()))

    def probabilities(self) -> Value | None:
        """The probability of each class; None if the model has none."""
        if not hasattr(self.model, "predict_proba"):
            return None
        ratios = getattr(self.model, "_ratios_", None)
        chances = self._chances()
        if ratios is None:
            return chances
        corrected: Value = chances * ratios
        return corrected / corrected.sum()

    def _chances(self) -> Value:
        """Probabilities where classes are as frequent as in training."""
        model = self.model
        if model.probabilities == "auto" and isinstance(model.decoder_, Learned):
            return self.graph.op("Softmax", self._decoded(), axis=1)
        method = model._score_method(probability=True)
        logistic = method == "decision_function"
        if model.probabilities == "normalised":
            sums = decoded(Soft(logistic), self.answers(method))
            return sums / sums.sum()
        return decoded(Coupling(logistic), self.answers(method))


def _finished(exported: _Classifier | _Network, model: Any, *, probabilities: bool) -> ModelProto:
    """The model of a graph: its outputs, and notes on what it is."""
    inner, graph = exported.model, exported.graph
    scores = exported.scores()
    shares = exported.probabilities() if probabilities else None
    labels = np.asarray(inner.classes_)
    if labels.dtype.kind in "iu":
        labels = labels.astype(np.int64)
    elif labels.dtype.kind not in "bf":
        labels = labels.astype(str).astype(object)
    dtype = np.dtype(object) if labels.dtype.kind == "O" else labels.dtype
    best = graph.op("ArgMax", scores, axis=1, keepdims=0)
    shape: list[int | str] = ["n_samples", len(labels)]
    outputs: dict[str, tuple[Value, npt.DTypeLike, Sequence[int | str]]] = {
        "label": (graph.op("Gather", graph.constant(labels), best), dtype, ["n_samples"]),
        "scores": (scores, np.float64, shape),
    }
    if shares is not None:
        outputs["probabilities"] = (shares, np.float64, shape)
    notes = {"classes": json.dumps([str(label) for label in inner.classes_])}
    if hasattr(inner, "codebook_"):
        notes["codebook"] = repr(inner.codebook_)
        notes["decoder"] = type(inner.decoder_).__name__
    names = getattr(model, "features", None)
    if names is not None:
        notes["features"] = json.dumps([feature.name for feature in names])
    return graph.model(outputs, notes)


# --------------------------------------------------------------------- columns


def _columns(value: Value, learners: Sequence[Any], method: ScoreMethod) -> Value:
    """The scores of columns of two sides, (n_samples, n_columns), as score_column has them."""
    graph, first = value.graph, learners[0]
    transformers, last = open_pipeline(first)
    if transformers or last is not first:
        parts = []
        for learner in learners:
            before, last = open_pipeline(learner)
            inner = value
            for transformer in before:
                inner = _transformed(inner, transformer)
            parts.append(_columns(inner, [last], method))
        return graph.concat(parts)
    if method == "predict_proba":
        return 2.0 * _side_probabilities(value, learners) - 1.0
    decisions = _decision_values(value, learners, method)
    if decisions is not None:
        return decisions
    if method == "decision_function":
        raise _unknown(first)
    answers = [_translated(value, learner)[0] for learner in learners]
    columns = graph.concat([each.reshape(-1, 1).cast(np.float64) for each in answers])
    return 2.0 * columns - 1.0 if hasattr(first, "classes_") else columns


def _unknown(learner: Any, reason: str = "") -> UnsupportedError:
    return UnsupportedError(
        f"{type(learner).__name__} has no form in ONNX operators here{reason}. These have: linear "
        "learners, SVC and SVR with a kernel by name, kernel ridge columns, trees, forests, "
        "gradient boosting, sigmoid calibration of any of these, pipelines of them, and "
        "classifiers with probabilities that skl2onnx translates in double precision, such as "
        "MLPClassifier, GaussianNB and KNeighborsClassifier."
    )


def _decision_values(value: Value, learners: Sequence[Any], method: ScoreMethod) -> Value | None:
    """Decision values or predictions of a regressor by formula; None if it is not known."""
    first = learners[0]
    if _is_kernel_machine(first):
        return _kernel_machines(value, learners)
    if hasattr(first, "coef_") and hasattr(first, "intercept_"):
        weights = np.stack([np.ravel(learner.coef_) for learner in learners], axis=1)
        shifts = np.array([float(np.ravel(learner.intercept_)[0]) for learner in learners])
        probes = _probes(first)
        if len(weights) == probes.shape[1] and np.allclose(
            score_column(first, probes, method), probes @ weights[:, 0] + shifts[0]
        ):
            return value @ weights + shifts
    trees = _boosted_trees(learners) if method == "decision_function" else _mean_trees(learners)
    return None if trees is None else trees(value)


def _probes(learner: Any) -> Floats:
    return np.random.default_rng(0).normal(size=(_PROBES, int(learner.n_features_in_)))


def _side_probabilities(value: Value, learners: Sequence[Any]) -> Value:
    """The probabilities of the +1 sides."""
    graph, first = value.graph, learners[0]
    if type(first).__name__ == "CalibratedClassifierCV":
        return _calibrated(value, learners)
    trees = _mean_trees(learners)
    if trees is not None:
        return trees(value)
    if hasattr(first, "decision_function") and len(first.classes_) == 2:
        probes = _probes(first)
        decision = score_column(first, probes, "decision_function")
        if np.allclose(first.predict_proba(probes)[:, 1], 1 / (1 + np.exp(-decision))):
            decisions = _decision_values(value, learners, "decision_function")
            if decisions is not None:
                return graph.op("Sigmoid", decisions)
    parts = [_translated(value, learner)[1] for learner in learners]
    return graph.concat([graph.op("Gather", part, np.array([1]), axis=1) for part in parts])


def _calibrated(value: Value, learners: Sequence[Any]) -> Value:
    """Probabilities by the sigmoid function of what calibrated learners say."""
    pairs = [learner.calibrated_classifiers_ for learner in learners]
    calibrators = [each[0].calibrators[0] for each in pairs]
    if any(len(each) > 1 for each in pairs) or not hasattr(calibrators[0], "a_"):
        raise _unknown(learners[0], " unless it is that of calibration='sigmoid'")
    inner = [each[0].estimator for each in pairs]
    if hasattr(inner[0], "decision_function"):
        said = _columns(value, inner, "decision_function")
    else:
        said = _columns(value, inner, "predict_proba") / 2.0 + 0.5
    slopes = np.array([each.a_ for each in calibrators])
    shifts = np.array([each.b_ for each in calibrators])
    return value.graph.op("Sigmoid", -(said * slopes + shifts))


def _symbol_columns(
    value: Value,
    learners: Sequence[Any],
    method: ScoreMethod,
    groups: Sequence[Ints],
    n_symbols: int,
) -> Value:
    """The probabilities of symbols, (n_samples, n_columns, n_symbols), or votes."""
    graph = value.graph
    placed = []
    for learner, symbols in zip(learners, groups, strict=True):
        seen = np.asarray(getattr(learner, "classes_", np.arange(len(symbols)))).astype(np.intp)
        place = np.zeros((len(seen), n_symbols))
        place[np.arange(len(seen)), symbols[seen]] = 1
        placed.append(place)
    if method == "predict_proba" and _tree_members(learners[0]) is not None:
        return _symbol_trees(value, learners, placed)
    parts = []
    for learner, place in zip(learners, placed, strict=True):
        before, last = open_pipeline(learner)
        inner = value
        for transformer in before:
            inner = _transformed(inner, transformer)
        label, *others = _translated(inner, last)
        if method == "predict":
            known = np.asarray(last.classes_, dtype=np.int64)
            said = graph.op("Equal", label.reshape(-1, 1), known).cast(np.float64)
        else:
            said = others[0]
        parts.append((said @ place).reshape(0, 1, n_symbols))
    return graph.concat(parts)


# ---------------------------------------------------------------------- kernels


_KERNELS = ("linear", "poly", "polynomial", "rbf", "sigmoid", "laplacian")


def _is_kernel_machine(learner: Any) -> bool:
    from sklearn.svm import SVC, SVR, NuSVC, NuSVR

    from ecoc.multiclass import KernelRidgeColumns

    return type(learner) in {SVC, NuSVC, SVR, NuSVR, KernelRidgeColumns}


def _kernel_machines(value: Value, learners: Sequence[Any]) -> Value:
    """Kernel machines, those with a kernel in common by one product."""
    from ecoc.multiclass.joint.svm import Kernel, distinct_vectors

    groups: dict[Kernel, list[int]] = defaultdict(list)
    for column, learner in enumerate(learners):
        if learner.kernel not in _KERNELS:
            raise _unknown(learner, f" with the kernel {learner.kernel!r}")
        gamma = learner.gamma_ if hasattr(learner, "centres_") else learner._gamma
        kernel = Kernel(learner.kernel, float(gamma), float(learner.coef0), learner.degree)
        groups[kernel].append(column)
    parts, order = [], []
    for kernel, columns in groups.items():
        members = [learners[column] for column in columns]
        centres, places = distinct_vectors([_dense(_centres(each)) for each in members])
        coefficients = np.zeros((len(centres), len(members)))
        for column, (member, where) in enumerate(zip(members, places, strict=True)):
            np.add.at(coefficients[:, column], where, _dense(member.dual_coef_).ravel())
        shifts = np.array([float(np.ravel(member.intercept_)[0]) for member in members])
        parts.append(_kernel_block(value, centres, kernel) @ coefficients + shifts)
        order += columns
    values = value.graph.concat(parts)
    if order == sorted(order):
        return values
    return value.graph.op("Gather", values, np.argsort(order), axis=1)


def _centres(learner: Any) -> Any:
    return learner.centres_ if hasattr(learner, "centres_") else learner.support_vectors_


def _kernel_block(value: Value, centres: Floats, kernel: Kernel) -> Value:
    """Kernel values of samples against centres."""
    graph, gamma = value.graph, kernel.gamma
    if kernel.name == "rbf":
        # Distances do not change, and those far from 0 are sums of smaller numbers.
        middle = centres.mean(axis=0)
        value, centres = value - middle, centres - middle
        squares = (value * value).sum() + (centres**2).sum(axis=1)
        # Centres take the factor, which onnxruntime would round as a factor of its own.
        exponents = value @ (2 * gamma * centres).T - squares * np.array([gamma])
        return graph.op("Exp", exponents.minimum(0.0))
    if kernel.name == "laplacian":
        gaps = graph.op("Abs", value.reshape(0, 1, -1) - centres[None])
        return graph.op("Exp", graph.op("Squeeze", gaps.sum(axis=2), np.array([2])) * -gamma)
    if kernel.name == "linear":
        return value @ centres.T
    products = value @ (gamma * centres).T + kernel.coef0
    if kernel.name == "sigmoid":
        return graph.op("Tanh", products)
    return graph.op("Pow", products, np.array(float(kernel.degree)))


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)


# ------------------------------------------------------------------------ trees


@dataclass(frozen=True, eq=False)
class _Tree:
    """The nodes of a tree: samples go left that are at most the threshold."""

    left: Ints
    right: Ints
    feature: Ints
    threshold: Floats
    missing_left: npt.NDArray[Any]
    leaf: npt.NDArray[np.bool_]
    values: Floats

    @classmethod
    def of(cls, learner: Any, values: Floats) -> _Tree:
        """A tree of scikit-learn with the value of each node."""
        tree = learner.tree_
        missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
        left = tree.children_left
        return cls(
            left, tree.children_right, tree.feature, tree.threshold, missing, left == -1, values
        )

    @classmethod
    def of_histogram(cls, predictor: Any, learner: Any) -> _Tree:
        """A tree of histogram gradient boosting."""
        nodes = predictor.nodes
        if (nodes["is_categorical"] != 0).any():
            raise _unknown(learner, " with categorical features")
        return cls(
            nodes["left"].astype(np.int64),
            nodes["right"].astype(np.int64),
            nodes["feature_idx"].astype(np.int64),
            nodes["num_threshold"],
            nodes["missing_go_to_left"],
            nodes["is_leaf"] != 0,
            nodes["value"],
        )


def _tree_members(learner: Any) -> list[Any] | None:
    """The trees whose mean answer a learner gives; None for other learners."""
    from sklearn import ensemble, tree

    single = (tree.DecisionTreeClassifier, tree.DecisionTreeRegressor)
    forests = (
        *(ensemble.RandomForestClassifier, ensemble.ExtraTreesClassifier),
        *(ensemble.RandomForestRegressor, ensemble.ExtraTreesRegressor),
    )
    if isinstance(learner, single):
        return [learner]
    return list(learner.estimators_) if isinstance(learner, forests) else None


def _shares(tree: Any) -> Floats:
    """The probabilities of the classes in each node, or what a regressor predicts there."""
    values: Floats = tree.tree_.value[:, 0, :]
    return values / values.sum(axis=1, keepdims=True) if hasattr(tree, "classes_") else values


def _mean_trees(learners: Sequence[Any]) -> Callable[[Value], Value] | None:
    """Trees and forests: the probabilities of the +1 sides, or predictions of regressors."""
    members = [_tree_members(learner) for learner in learners]
    if members[0] is None:
        return None
    trees = [
        (column, _Tree.of(tree, _shares(tree)[:, -1]))
        for column, group in enumerate(members)
        for tree in group or ()
    ]
    sizes = np.array([len(group or ()) for group in members], dtype=np.float64)

    def values(value: Value) -> Value:
        sums = _tree_sums(_single(value), trees, len(learners))
        return sums if (sizes == 1).all() else sums / sizes

    return values


def _boosted_trees(learners: Sequence[Any]) -> Callable[[Value], Value] | None:
    """Boosted trees of two sides: the sum of what they say, and of where they start."""
    from sklearn import ensemble

    first = learners[0]
    if isinstance(first, ensemble.GradientBoostingClassifier) and first.init is None:
        starts = [float(each._raw_predict_init(_probes(each))[0, 0]) for each in learners]
        trees = [
            (column, _Tree.of(tree, learner.learning_rate * tree.tree_.value[:, 0, 0]))
            for column, learner in enumerate(learners)
            for tree in learner.estimators_.ravel()
        ]
        prepared = _single
    elif isinstance(first, ensemble.HistGradientBoostingClassifier):
        starts = [float(np.ravel(each._baseline_prediction)[0]) for each in learners]
        trees = [
            (column, _Tree.of_histogram(predictor, learner))
            for column, learner in enumerate(learners)
            for (predictor,) in learner._predictors
        ]
        prepared = _as_given
    else:
        return None
    return lambda value: _tree_sums(prepared(value), trees, len(learners)) + np.array(starts)


def _as_given(value: Value) -> Value:
    return value


def _single(value: Value) -> Value:
    """Features as trees see them: rounded to single precision, and compared in double."""
    return value.cast(np.float32).cast(np.float64)


def _symbol_trees(value: Value, learners: Sequence[Any], placed: Sequence[Floats]) -> Value:
    """Trees and forests of several symbols: leaves by number, whose answers stand in a table."""
    graph = value.graph
    members = [_tree_members(learner) or [] for learner in learners]
    size, n_symbols = len(members[0]), placed[0].shape[1]
    trees: list[tuple[int, _Tree]] = []
    tables: list[Floats] = []
    count = 0
    for group, place in zip(members, placed, strict=True):
        for tree in group:
            nodes = tree.tree_.node_count
            trees.append((len(trees), _Tree.of(tree, count + np.arange(nodes, dtype=np.float64))))
            tables.append(_shares(tree) @ place)
            count += nodes
    numbers = _tree_sums(_single(value), trees, len(trees)).cast(np.int64)
    said = graph.op("Gather", graph.constant(np.concatenate(tables)), numbers)
    said = said.reshape(-1, len(learners), size, n_symbols)
    return graph.op("Squeeze", said.sum(axis=2), np.array([2])) / float(size)


def _tree_sums(value: Value, trees: Sequence[tuple[int, _Tree]], n_targets: int) -> Value:
    """The sum of what trees say, each of them for one target."""
    from onnx import numpy_helper

    roots: list[int] = []
    lists: dict[str, list[Any]] = defaultdict(list)
    n_inner = n_leaves = 0
    for target, tree in trees:
        inner, leaves = np.flatnonzero(~tree.leaf), np.flatnonzero(tree.leaf)
        number = np.empty(len(tree.leaf), dtype=np.int64)
        number[inner] = n_inner + np.arange(len(inner))
        number[leaves] = n_leaves + np.arange(len(leaves))
        left, right, feature = tree.left[inner], tree.right[inner], tree.feature[inner]
        threshold, missing = tree.threshold[inner], tree.missing_left[inner]
        if not len(inner):
            # A root has to ask something, though both answers lead to the only leaf.
            left = right = feature = np.zeros(1, dtype=np.int64)
            threshold, missing = np.zeros(1), np.zeros(1)
        roots.append(n_inner)
        for name, values in (
            ("nodes_featureids", feature),
            ("nodes_splits", threshold),
            ("nodes_truenodeids", number[left]),
            ("nodes_falsenodeids", number[right]),
            ("nodes_trueleafs", tree.leaf[left]),
            ("nodes_falseleafs", tree.leaf[right]),
            ("nodes_missing_value_tracks_true", missing),
            ("leaf_targetids", np.full(len(leaves), target)),
            ("leaf_weights", tree.values[leaves]),
        ):
            lists[name].append(values)
        n_inner, n_leaves = n_inner + len(left), n_leaves + len(leaves)
    joined = {name: np.concatenate(parts) for name, parts in lists.items()}
    attributes: dict[str, Any] = {
        name: numpy_helper.from_array(joined.pop(name).astype(np.float64), name)
        for name in ("nodes_splits", "leaf_weights")
    }
    for name, values in joined.items():
        attributes[name] = values.astype(np.int64).tolist()
    modes = np.zeros(n_inner, dtype=np.uint8)  # at most the threshold
    return value.graph.op(
        "TreeEnsemble",
        value,
        domain="ai.onnx.ml",
        n_targets=n_targets,
        aggregate_function=1,  # the sum
        post_transform=0,
        tree_roots=roots,
        nodes_modes=numpy_helper.from_array(modes, "nodes_modes"),
        **attributes,
    )


# ------------------------------------------------------------------- skl2onnx


def _transformed(value: Value, transformer: Any) -> Value:
    """Features after a step of a pipeline."""
    from sklearn.impute import SimpleImputer

    if type(transformer) is not SimpleImputer:
        return _translated(value, transformer)[0]
    # That of skl2onnx has no double precision.
    usual = isinstance(transformer.missing_values, float) and np.isnan(transformer.missing_values)
    if transformer.add_indicator or not usual:
        raise _unknown(transformer, " with an indicator, or for missing values other than NaN")
    graph, fill = value.graph, np.asarray(transformer.statistics_, dtype=np.float64)
    filled = graph.where(graph.op("IsNaN", value), np.nan_to_num(fill), value)
    kept = np.flatnonzero(~np.isnan(fill))
    if len(kept) == len(fill) or transformer.keep_empty_features:
        return filled
    return graph.op("Gather", filled, kept, axis=1)


def _translated(value: Value, estimator: Any) -> list[Value]:
    """What skl2onnx makes of an estimator: labels and probabilities, or features."""
    skl2onnx = require("skl2onnx", extra="onnx")
    types = require("skl2onnx.common.data_types", extra="onnx")
    onnx = require("onnx", extra="onnx")
    width = int(estimator.n_features_in_)
    options = {id(estimator): {"zipmap": False}} if hasattr(estimator, "classes_") else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            part = skl2onnx.convert_sklearn(
                estimator,
                initial_types=[("X", types.DoubleTensorType([None, width]))],
                options=options,
                target_opset={"": OPSETS[""], "ai.onnx.ml": 3},
            )
        onnx.checker.check_model(part, full_check=True)
    except Exception as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise _unknown(estimator, f" ({type(error).__name__}: {reason})") from error
    return value.graph.inline(part, value)


# -------------------------------------------------------------------- networks


def _network_model(model: Any, *, missing_columns: bool, probabilities: bool) -> ModelProto:
    """Networks by the exporter of torch, and the decoder behind them."""
    coded = hasattr(model, "column_module")
    if missing_columns and not coded:
        raise InvalidInputError("missing_columns needs a model with a codebook.")
    graph = OperatorGraph()
    shape = tuple(int(size) for size in model.inputs_.given)
    value = graph.input("X", np.float32, ["n_samples", *shape])
    module = model.column_module() if coded else model.as_module(output="logits")
    outputs = graph.inline(_torch_model(module, shape), value)[0].cast(np.float64)
    present = _presence(graph, model.codebook_.n_columns) if missing_columns else None
    return _finished(_Network(model, outputs, present), model, probabilities=probabilities)


@dataclass(frozen=True, eq=False)
class _Network:
    """The outputs of networks in a graph."""

    model: Any
    outputs: Value
    present: Value | None

    @property
    def graph(self) -> OperatorGraph:
        return self.outputs.graph

    def scores(self) -> Value:
        """The score of each class."""
        if not self._coded:
            return self.outputs
        return self._decoded(self.model.decoding_, normalise=True)

    def probabilities(self) -> Value:
        """The probability of each class."""
        if not self._coded:
            return self.graph.op("Softmax", self.outputs, axis=1)
        if hasattr(self.model, "_decoder"):
            # The twin is trained, and gives probabilities, by a softmax of what it decodes.
            decoder = self.model._decoder()
            scores = self._decoded(decoder.output, normalise=decoder.normalise)
            return self.graph.op("Softmax", scores, axis=1)
        return decoded(Coupling(logistic=True), self._answers)

    @property
    def _coded(self) -> bool:
        return hasattr(self.model, "codebook_")

    @property
    def _answers(self) -> Answers:
        return Answers(self.outputs, self.model.codebook_.matrix, 2, self.present)

    def _decoded(self, form: str, *, normalise: bool) -> Value:
        """The class scores that :class:`ecoc.nn.CodeDecoder` computes."""
        answers, graph = self._answers, self.graph
        signs, (positive, negative) = answers.signs, answers.sides
        used = answers.count(answers.used).maximum(1.0)
        if form == "hamming":
            agreement = answers.sums(graph.op("Sign", self.outputs), signs)
            return (agreement - answers.n_columns) / 2.0
        if form == "normalised-linear":
            sums = answers.sums(self.outputs, signs)
            return sums / used if normalise and not self.model.codebook_.is_binary else sums
        sides = [graph.op("Sigmoid", each) for each in (self.outputs, -self.outputs)]
        if form == "normalised-logistic":
            sides = [-softplus(each) for each in (-self.outputs, self.outputs)]
        sums = answers.sums(sides[0], positive) + answers.sums(sides[1], negative)
        return sums / used if normalise else sums


def _torch_model(module: Any, shape: tuple[int, ...]) -> ModelProto:
    torch = require("torch", extra="nn")
    require("onnxscript", extra="onnx")
    # It tells of libraries that are not there, and that nothing here needs.
    talk = logging.getLogger("torch.onnx._internal.exporter._registration")
    before = talk.level
    talk.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module.cpu().eval(),
            (torch.zeros(2, *shape),),
            dynamo=True,
            dynamic_shapes=({0: torch.export.Dim("n_samples")},),
            opset_version=OPSETS[""],
            verbose=False,
        )
    talk.setLevel(before)
    exported: ModelProto = program.model_proto
    return exported
