"""``SubclassECOCClassifier``: classes that a dichotomy cannot hold are split before coding."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ecoc._checks import check_int, check_number, check_seed
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.multiclass.adaptive import decoc
from ecoc.multiclass.classifier import ECOCClassifier, SkopsFileMixin
from ecoc.multiclass.columns import ColumnTask, fit_columns, score_method, scores_with_gaps

__all__ = ["SubclassECOCClassifier"]

_PER_CLASS = 3
"""So many subclasses for each class are the most there are by default, in the mean."""


def _gives_probabilities(classifier: SubclassECOCClassifier) -> bool:
    inner = getattr(classifier, "model_", None) or classifier._inner()
    return hasattr(inner, "predict_proba")


class SubclassECOCClassifier(SkopsFileMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A coded classifier of subclasses: a class that lies in parts is learnt in parts.

    A tree of dichotomies (:func:`ecoc.multiclass.decoc`) is made of the classes. Where a column
    cannot be learnt, each of its classes is cut in two by k-means, and the parts of the class
    whose parts are told from the other side with the fewest errors, compared with the whole,
    become subclasses; then the tree is made again. In the end an :class:`ecoc.ECOCClassifier` is
    trained on the subclasses, and what it says of them goes to their classes.

    Parameters
    ----------
    estimator : object, optional
        The learner, ``LogisticRegression(max_iter=1000)`` by default. Splitting is for learners
        that are simple: what fits all training samples by itself splits no class.
    codebook : str, default="decoc"
        The code of the subclasses, a name that :class:`ecoc.ECOCClassifier` takes.
    decoding : str, Decoder or callable, default="auto"
        As for :class:`ecoc.ECOCClassifier`; but ``"auto"`` takes the most probable class, by the
        probabilities of its subclasses, where the learner has probabilities.
    max_error : float, default=0.0
        The share of training samples that a column may have wrong without being split.
    min_share : float, default=0.02
        The fewest samples of a subclass, as a share of all samples.
    min_gain : float, default=0.05
        By which share a split must lower the number of errors.
    max_subclasses : int, optional
        The most subclasses, 3k by default.
    n_jobs : int, optional
        As for :class:`ecoc.ECOCClassifier`.
    random_state : int, Generator, RandomState or None
        Seeds k-means, the code and the learners.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    owners_ : array of int of shape (n_subclasses,)
        The place in `classes_` of the class of each subclass.
    model_ : ECOCClassifier
        The classifier of the subclasses, which are numbers from 0.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    The first three limits are those of the publication. There a whole side of a node is clustered,
    here one class of it. The tree of the subclasses tells the parts of a
    class apart as well, which costs columns and no errors.

    References
    ----------
    .. [1] S. Escalera, D. M. J. Tax, O. Pujol, P. Radeva, R. P. W. Duin (2008). Subclass
       problem-dependent design for error-correcting output codes. IEEE Transactions on Pattern
       Analysis and Machine Intelligence 30(6), 1041-1054.

    Examples
    --------
    A class on both sides of another is too much for a hyperplane, and its halves are not:

    >>> generator = np.random.default_rng(0)
    >>> X = np.repeat([[-6.0, 0], [0, 0], [6, 0]], 30, axis=0) + generator.normal(size=(90, 2))
    >>> y = np.repeat(["outside", "inside", "outside"], 30)
    >>> model = SubclassECOCClassifier(random_state=0).fit(X, y)
    >>> model.classes_[model.owners_].tolist(), round(model.score(X, y), 2)
    (['inside', 'outside', 'outside'], 1.0)
    """

    classes_: npt.NDArray[Any]
    owners_: npt.NDArray[np.intp]
    model_: ECOCClassifier

    def __init__(  # noqa: PLR0917  # scikit-learn's estimators take theirs by position too
        self,
        estimator: Any = None,
        codebook: str = "decoc",
        decoding: Any = "auto",
        max_error: float = 0.0,
        min_share: float = 0.02,
        min_gain: float = 0.05,
        max_subclasses: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.codebook = codebook
        self.decoding = decoding
        self.max_error = max_error
        self.min_share = min_share
        self.min_gain = min_gain
        self.max_subclasses = max_subclasses
        self.n_jobs = n_jobs
        self.random_state = random_state

    # -------------------------------------------------------------- training

    def fit(self, X: Any, y: Any) -> SubclassECOCClassifier:
        """Split classes where that helps, and train the columns of a code of the parts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The features, finite numbers.
        y : array-like of shape (n_samples,)
            The class labels.
        """
        for name in ("max_error", "min_share", "min_gain"):
            check_number(name, getattr(self, name), minimum=0, maximum=1)
        X, labels = validate_data(self, X, y, accept_sparse="csr")
        check_classification_targets(labels)
        classes, targets = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InvalidInputError(
                f"y must have at least 2 classes; it has only one class, {classes[0]!r}."
            )
        most = self.max_subclasses
        if most is None:
            most = _PER_CLASS * len(classes)
        check_int("max_subclasses", most, minimum=2)
        seed = check_seed(self.random_state)
        parts, owners = self._split(X, targets, most, seed)
        self.model_ = self._inner().set_params(random_state=seed).fit(X, parts)
        self.classes_ = classes
        self.owners_ = np.array(owners, dtype=np.intp)
        return self

    def _inner(self) -> ECOCClassifier:
        return ECOCClassifier(
            self._learner, codebook=self.codebook, decoding=self.decoding, n_jobs=self.n_jobs
        )

    @property
    def _learner(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def _split(
        self, X: Any, targets: npt.NDArray[np.intp], most: int, seed: int | None
    ) -> tuple[npt.NDArray[np.intp], list[int]]:
        """The subclass of each sample, and the class of each subclass."""
        parts = targets.astype(np.intp)
        owners = list(range(int(targets.max()) + 1))
        refused: set[tuple[object, ...]] = set()
        while len(owners) < most:
            moved = self._next_split(X, parts, owners, refused, seed)
            if moved is None:
                break
            owners.append(owners[parts[moved[0]]])
            parts[moved] = len(owners) - 1
        return parts, owners

    def _next_split(
        self,
        X: Any,
        parts: npt.NDArray[np.intp],
        owners: list[int],
        refused: set[tuple[object, ...]],
        seed: int | None,
    ) -> npt.NDArray[np.intp] | None:
        """The samples that leave their subclass for a new one; None if there is no such split."""
        for column in decoc(X, parts, random_state=seed).matrix.T:
            used = np.flatnonzero(column)
            # The parts of one class need not be told apart.
            if len({owners[part] for part in used.tolist()}) == 1:
                continue
            rows = np.flatnonzero(column[parts])
            wrong = self._wrong(X, rows, column[parts[rows]] > 0, seed)
            if wrong.mean() <= self.max_error:
                continue
            best, best_gain = None, 0.0
            for part in used.tolist():
                others = np.flatnonzero(column == -column[part])
                # What was tried on the same samples would end in the same way.
                sizes = np.bincount(parts, minlength=len(owners))[[part, *others]]
                attempt = (part, others.tobytes(), sizes.tobytes())
                if attempt in refused:
                    continue
                half, gain = self._halved(X, parts, part, others, seed)
                if gain <= 0:
                    refused.add(attempt)
                elif gain > best_gain:
                    best, best_gain = half, gain
            if best is not None:
                return best
        return None

    def _halved(
        self,
        X: Any,
        parts: npt.NDArray[np.intp],
        part: int,
        others: npt.NDArray[np.intp],
        seed: int | None,
    ) -> tuple[npt.NDArray[np.intp], float]:
        """Half of a subclass, and how many errors fewer its halves have against others.

        What is too small, or gains too little, has no gain.
        """
        members = np.flatnonzero(parts == part)
        side = _clusters(X, members, seed)
        halves = members[side], members[~side]
        if min(map(len, halves)) < max(1, self.min_share * len(parts)):
            return halves[0], 0.0
        other = np.flatnonzero(np.isin(parts, others))
        before = self._wrong_of(X, members, other, seed).sum()
        after = 0.0
        for half in halves:
            wrong = self._wrong_of(X, half, other, seed)
            # The other side is asked twice.
            after += wrong[: len(half)].sum() + wrong[len(half) :].sum() / 2
        enough = after <= (1 - self.min_gain) * before
        return halves[0], float(before - after) if enough else 0.0

    def _wrong_of(
        self,
        X: Any,
        first: npt.NDArray[np.intp],
        second: npt.NDArray[np.intp],
        seed: int | None,
    ) -> npt.NDArray[np.bool_]:
        rows = np.concatenate([first, second])
        return self._wrong(X, rows, np.arange(len(rows)) < len(first), seed)

    def _wrong(
        self, X: Any, rows: npt.NDArray[np.intp], side: npt.NDArray[np.bool_], seed: int | None
    ) -> npt.NDArray[np.bool_]:
        """Which training samples the learner of a column has on the wrong side."""
        entries = np.array([[1], [-1]], dtype=np.int8)
        task = ColumnTask(self._learner, entries, np.array(["a part", "others"]), seed=seed)
        learners = fit_columns(task, X[rows], (~side).astype(np.intp))
        scores = scores_with_gaps(learners, X[rows], score_method(learners[0]), task=task)
        wrong: npt.NDArray[np.bool_] = (scores[:, 0] > 0) != side
        return wrong

    # ------------------------------------------------------------ prediction

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict a class for each sample."""
        places = self._class_scores(X).argmax(axis=1)
        predicted: npt.NDArray[Any] = self.classes_[places]
        return predicted

    def decision_function(self, X: Any) -> Floats:
        """The score of each class, the probability or that of its best subclass; the largest wins.

        Returns
        -------
        array of shape (n_samples, n_classes), or (n_samples,) for two classes
            With two classes positive values are for the second.
        """
        scores = self._class_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class, the sum of those of its subclasses."""
        check_is_fitted(self)
        shares = self.model_.predict_proba(self._features(X))
        summed: Floats = shares @ np.eye(len(self.classes_))[self.owners_]
        return summed

    def _class_scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        if (
            isinstance(self.decoding, str)
            and self.decoding == "auto"
            and hasattr(self.model_, "predict_proba")
        ):
            chances: Floats = self.predict_proba(X)
            return chances
        scores = self.model_.decision_function(self._features(X))
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        best = [scores[:, self.owners_ == c].max(axis=1) for c in range(len(self.classes_))]
        return np.column_stack(best)

    def _features(self, X: Any) -> Any:
        return validate_data(self, X, accept_sparse="csr", reset=False)

    # ------------------------------------------------------------- in files

    @property
    def pipeline(self) -> ECOCClassifier:
        """The model inside, for what reads and writes models."""
        check_is_fitted(self)
        return self.model_

    def with_pipeline(self, pipeline: Any) -> SubclassECOCClassifier:
        """The same with another model of the subclasses."""
        other = copy.copy(self)
        other.model_ = pipeline
        return other

    def renewed(self) -> SubclassECOCClassifier:
        """The model, after a check of what was read from a file."""
        n_parts, k = len(self.model_.classes_), len(self.classes_)
        owners = np.asarray(self.owners_)
        if owners.shape != (n_parts,) or not np.array_equal(np.unique(owners), np.arange(k)):
            raise InvalidInputError(
                f"owners_ must have one of {k} classes for each of {n_parts} subclasses."
            )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._learner).input_tags.sparse
        return tags


def _clusters(X: Any, members: npt.NDArray[np.intp], seed: int | None) -> npt.NDArray[np.bool_]:
    """Which samples are in the first of two clusters, their features on one scale."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import StandardScaler

    if len(members) < 2:
        return np.ones(len(members), dtype=bool)
    scaled = StandardScaler(with_mean=False).fit(X).transform(X[members])
    with warnings.catch_warnings():
        # Equal samples are one cluster, and the other is empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = KMeans(2, n_init=3, random_state=seed or 0).fit_predict(scaled)
    side: npt.NDArray[np.bool_] = labels == 0
    return side
