"""Which classes are alike, and what the distances of their codewords should be for that.

Training data give a similarity of classes. From it come target distances, for the design of
a codebook by equation 19 of the paper, and the assignment of the codewords of a codebook that
is there already. Both go in either direction: ``"group-similar"`` puts the codewords of
similar classes near each other, so that columns need not part what is hard to part;
``"separate-hard-pairs"`` puts them far from each other, so that more columns may err there
(the paper's criterion iv).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import (
    RandomState,
    check_choice,
    check_int,
    check_number,
    check_random_state,
    listing,
)
from ecoc._typing import Floats, Ints
from ecoc.design.programs.rows import largest_total
from ecoc.errors import InvalidInputError

__all__ = [
    "DIRECTIONS",
    "SIMILARITIES",
    "ClassSimilarity",
    "class_kernel",
    "class_similarity",
    "target_distances",
]


SIMILARITIES = ("centroids", "kernel", "confusion")
DIRECTIONS = ("group-similar", "separate-hard-pairs")

LARGEST_FEATURE = 1e100
"""The largest size of a feature; its square is then far from overflow."""

ROUNDING = 1e-9
"""What sums of similarities may differ by without meaning anything."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassSimilarity:
    """How alike the classes are, a number from 0 to 1 for each pair.

    Only comparisons within one matrix mean something: the methods of
    :func:`class_similarity` do not share a scale.

    Parameters
    ----------
    classes : tuple
        The classes, distinct, in the order of rows and columns.
    matrix : array of shape (n_classes, n_classes)
        The similarities: symmetric, 1 on the diagonal, read-only.
    method : str
        Where they come from; ``"given"`` for a matrix of one's own.

    Examples
    --------
    >>> ClassSimilarity.from_matrix([[1, 0.8, 0], [0.8, 1, 0.1], [0, 0.1, 1]], ["a", "b", "c"])
    <ClassSimilarity: 3 classes, given, most similar 'a' and 'b'>
    """

    classes: tuple[Any, ...]
    matrix: Floats
    method: str

    def __post_init__(self) -> None:
        classes = tuple(self.classes)
        try:
            n_distinct = len(set(classes))
        except TypeError as error:
            raise InvalidInputError("classes must be text or numbers.") from error
        if len(classes) < 2 or n_distinct < len(classes):
            raise InvalidInputError(
                f"classes must be 2 or more and distinct; got {len(classes)}, "
                f"of which {n_distinct} are distinct."
            )
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "matrix", _as_similarities(self.matrix, len(classes)))

    def __setstate__(self, state: dict[str, object]) -> None:
        # A pickled array comes back writable.
        self.__dict__.update(state)
        self.matrix.setflags(write=False)

    @classmethod
    def from_matrix(
        cls, matrix: npt.ArrayLike, classes: Iterable[object] | None = None
    ) -> ClassSimilarity:
        """Take similarities from a matrix of one's own.

        Parameters
        ----------
        matrix : array-like of shape (n_classes, n_classes)
            Symmetric, from 0 to 1; the diagonal is not used. Distances d become
            similarities as ``1 - d / d.max()``.
        classes : iterable, optional
            The classes in the order of the rows; 0, 1, ... by default.
        """
        if classes is None:
            classes = range(len(np.atleast_1d(_as_numbers("matrix", matrix))))
        return cls(tuple(classes), np.asarray(matrix), "given")

    @property
    def n_classes(self) -> int:
        """The number of classes, k."""
        return len(self.classes)

    @property
    def _pairs(self) -> Floats:
        """The similarities of the pairs p < q."""
        pairs: Floats = self.matrix[np.triu_indices(self.n_classes, 1)]
        return pairs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassSimilarity):
            return NotImplemented
        return (
            self.classes == other.classes
            and self.method == other.method
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        return hash((self.classes, self.matrix.tobytes(), self.method))

    def __repr__(self) -> str:
        p, q = (int(place[self._pairs.argmax()]) for place in np.triu_indices(self.n_classes, 1))
        return (
            f"<ClassSimilarity: {self.n_classes} classes, {self.method}, "
            f"most similar {self.classes[p]!r} and {self.classes[q]!r}>"
        )


# ------------------------------------------------------------------ from data


def class_similarity(
    X: Any,  # noqa: N803  # the name that scikit-learn has for it
    y: Any,
    method: str = "centroids",
    *,
    estimator: Any = None,
    n_splits: int = 5,
    max_samples: int = 2000,
    random_state: RandomState = None,
) -> ClassSimilarity:
    """Measure on training data how alike the classes are.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features: finite numbers, at least one of which varies.
    y : array-like of shape (n_samples,)
        The class of each sample, two classes or more.
    method : {"centroids", "kernel", "confusion"}, default="centroids"
        What is compared, see Notes. ``"kernel"`` and ``"confusion"`` need two samples of
        each class.
    estimator : classifier, optional
        The learner whose confusions are counted, with scikit-learn's ``fit`` and
        ``predict``. It gets the features as they are and the classes as 0, 1, ...; one with
        randomness of its own needs its own seed. By default the class with the nearest
        centroid in standardised features. For ``"confusion"`` only.
    n_splits : int, default=5
        The folds of the cross-validation, fewer where a class has fewer samples.
    max_samples : int, default=2000
        With more samples than this, ``"kernel"`` takes at most ``max_samples / n_classes``
        of each class (and at least 2) at random: its time and memory grow with their square.
    random_state : int, Generator or None
        The seed of the folds and of the samples taken; None is the seed 0.

    Returns
    -------
    ClassSimilarity
        The classes are sorted, as scikit-learn's ``classes_`` are.

    Raises
    ------
    InvalidInputError
        If features are not finite numbers or all constant, if there is only one class, or
        if a class has too few samples for the method.

    Notes
    -----
    Features are divided by their standard deviations first.

    ``"centroids"``
        1 - d / max d, with d the Euclidean distance of class means.
    ``"kernel"``
        The same with d the maximum mean discrepancy [1]_, the distance of class means in
        the feature space of the kernel exp(-(x - x')² / 2σ²). Here σ² is the median of
        the squared distances of samples, and d² the unbiased estimate (0 where that is
        negative), because the biased one would set small classes apart.
    ``"confusion"``
        The mean of two shares, under cross-validation: of the samples of p that are taken
        for q, and of those of q that are taken for p.

    References
    ----------
    .. [1] A. Gretton, K. Borgwardt, M. Rasch, B. Schölkopf, A. Smola (2012). A kernel
       two-sample test. Journal of Machine Learning Research 13.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 8], [9, 9]]
    >>> y = ["ant", "ant", "bee", "bee", "cow", "cow"]
    >>> similarity = class_similarity(X, y)
    >>> similarity
    <ClassSimilarity: 3 classes, centroids, most similar 'ant' and 'bee'>
    >>> print(similarity.matrix.round(2))
    [[1.   0.92 0.  ]
     [0.92 1.   0.06]
     [0.   0.06 1.  ]]
    """
    check_choice("method", method, SIMILARITIES)
    if estimator is not None:
        if method != "confusion":
            raise InvalidInputError(f"estimator has no meaning for method={method!r}.")
        if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise InvalidInputError(
                f"estimator must be a classifier with fit and predict, not {estimator!r}."
            )
    check_int("n_splits", n_splits, minimum=2)
    check_int("max_samples", max_samples, minimum=2)
    generator = check_random_state(0 if random_state is None else random_state)
    features = _as_features(X)
    classes, codes = _as_codes(y, features.shape[0])
    if method == "centroids":
        matrix = _from_centroids(features, codes)
    else:
        _check_sizes(method, classes, codes)
        if method == "kernel":
            matrix = _from_kernel(features, codes, max_samples, generator)
        else:
            matrix = _from_confusion(features, codes, estimator, n_splits, generator)
    return ClassSimilarity(classes, matrix, method)


def _from_centroids(features: Any, codes: Ints) -> Floats:
    from scipy.spatial.distance import pdist, squareform

    # Centring would not change the distances, so sparse features stay sparse.
    return _nearness(squareform(pdist(_means(features * _scale(features), codes))))


def class_kernel(
    X: Any,  # noqa: N803  # the name that scikit-learn has for it
    y: Any,
    *,
    max_samples: int = 2000,
    random_state: RandomState = None,
) -> Floats:
    """The mean Gaussian kernel of a sample of one class and one of another, for all pairs.

    The features, the width of the kernel and the parameters are those of
    :func:`class_similarity` with ``method="kernel"``; a class may have a single sample. On the
    diagonal a sample is paired with itself, too.

    Returns
    -------
    array of shape (n_classes, n_classes)
        In the order of the sorted classes.

    Examples
    --------
    >>> class_kernel([[0.0], [1.0], [9.0]], ["ant", "ant", "bee"]).round(2)
    array([[1.  , 0.57],
           [0.57, 1.  ]])
    """
    features = _as_features(X)
    _, codes = _as_codes(y, features.shape[0])
    check_int("max_samples", max_samples, minimum=2)
    generator = check_random_state(0 if random_state is None else random_state)
    return _kernel_means(features, codes, max_samples, generator)[0]


def _kernel_means(
    features: Any, codes: Ints, max_samples: int, generator: np.random.Generator
) -> tuple[Floats, Ints]:
    """The mean kernel of each pair of classes, and of how many samples of each class."""
    from sklearn.metrics.pairwise import euclidean_distances

    scale = _scale(features)
    if len(codes) > max_samples:
        most = max(2, max_samples // (int(codes.max()) + 1))
        shuffled = generator.permutation(len(codes))
        kept = np.sort(
            np.concatenate(
                [shuffled[codes[shuffled] == c][:most] for c in range(int(codes.max()) + 1)]
            )
        )
        features, codes = features[kept], codes[kept]
    squares = euclidean_distances(features * scale, squared=True)
    np.fill_diagonal(squares, 0)
    pairs = squares[np.triu_indices(len(codes), 1)]
    # Where most samples are equal the median is 0 and says nothing.
    width = float(np.median(pairs)) or float(pairs.mean()) or 1.0
    kernel = np.exp(squares / (-2 * width))
    return _means(_means(kernel, codes).T, codes), np.bincount(codes)


def _from_kernel(
    features: Any, codes: Ints, max_samples: int, generator: np.random.Generator
) -> Floats:
    products, sizes = _kernel_means(features, codes, max_samples, generator)
    within = (sizes * products.diagonal() - 1) / (sizes - 1)
    discrepancies = within[:, None] + within - 2 * products
    np.fill_diagonal(discrepancies, 0)
    return _nearness(np.sqrt(np.maximum(discrepancies, 0)))


def _from_confusion(
    features: Any, codes: Ints, estimator: Any, n_splits: int, generator: np.random.Generator
) -> Floats:
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    sizes = np.bincount(codes)
    folds = StratifiedKFold(
        min(n_splits, int(sizes.min())), shuffle=True, random_state=int(generator.integers(1 << 31))
    )
    counts = np.zeros((len(sizes), len(sizes)))
    for train, test in folds.split(codes, codes):
        if estimator is None:
            predicted = _nearest_centroid(features[train], codes[train], features[test])
        else:
            predicted = clone(estimator).fit(features[train], codes[train]).predict(features[test])
            if not np.isin(predicted, codes).all():
                raise InvalidInputError(
                    f"estimator must be a classifier; {estimator!r} predicts what is no class."
                )
        np.add.at(counts, (codes[test], predicted), 1)
    shares = counts / sizes[:, None]
    return (shares + shares.T) / 2


def _nearest_centroid(features: Any, codes: Ints, others: Any) -> npt.NDArray[np.intp]:
    scale = _scale(features)
    means = _means(features * scale, codes)
    # |x - m|^2 = |x|^2 - 2 (<x, m> - |m|^2 / 2)
    scores = (others * scale) @ means.T - (means**2).sum(axis=1) / 2
    nearest: npt.NDArray[np.intp] = np.asarray(scores).argmax(axis=1)
    return nearest


def _nearness(distances: Floats) -> Floats:
    largest = distances.max()
    return 1 - distances / largest if largest > 0 else np.ones_like(distances)


def _scale(features: Any) -> Floats:
    """What to multiply features by for a standard deviation of 1; 1 for constant features."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=False).fit(features)
    scale: Floats = 1 / scaler.scale_
    return scale


def _means(values: Any, codes: Ints) -> Floats:
    """The mean row of each class."""
    from scipy.sparse import csr_array

    sizes = np.bincount(codes)
    weights = csr_array((1 / sizes[codes], (codes, np.arange(len(codes)))))
    means = weights @ values
    return means if isinstance(means, np.ndarray) else means.toarray()


# --------------------------------------------------------------------- checks


def direction_sign(direction: str) -> int:
    """1 where the codewords of similar classes are to be near, -1 where far."""
    return 1 if check_choice("direction", direction, DIRECTIONS) == "group-similar" else -1


def check_similarity(similarity: object) -> None:
    """Refuse what is not a :class:`ClassSimilarity`, and say how to make one."""
    if not isinstance(similarity, ClassSimilarity):
        raise InvalidInputError(
            "similarity must be a ClassSimilarity; make one of a matrix with "
            "ClassSimilarity.from_matrix."
        )


def _as_numbers(name: str, values: object) -> Floats:
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be a matrix of numbers.") from error


def _as_similarities(values: object, k: int) -> Floats:
    matrix = _as_numbers("matrix", values)
    if matrix.shape != (k, k):
        raise InvalidInputError(f"matrix must have shape ({k}, {k}), not {matrix.shape}.")
    np.fill_diagonal(matrix, 1)
    wrong = np.argwhere(~((matrix >= -ROUNDING) & (matrix <= 1 + ROUNDING)))
    if wrong.size:
        p, q = wrong[0].tolist()
        raise InvalidInputError(
            f"matrix must hold similarities from 0 to 1, but has {matrix[p, q]:g} in row {p}, "
            f"column {q}. For distances d, pass 1 - d / d.max()."
        )
    wrong = np.argwhere(np.abs(matrix - matrix.T) > ROUNDING)
    if wrong.size:
        p, q = wrong[0].tolist()
        raise InvalidInputError(
            f"matrix must be symmetric, but has {matrix[p, q]:g} in row {p}, column {q} and "
            f"{matrix[q, p]:g} in row {q}, column {p}. The mean of both is (m + m.T) / 2."
        )
    matrix = np.clip((matrix + matrix.T) / 2, 0, 1)
    matrix.setflags(write=False)
    return matrix


def _as_features(X: Any) -> Any:  # noqa: N803
    """Features as a dense or a CSR matrix of finite floats."""
    from scipy import sparse

    if sparse.issparse(X) and X.ndim == 2 and X.dtype.kind != "c":
        features = sparse.csr_array(X, dtype=np.float64)
        coordinates = features.tocoo()
        values, places = coordinates.data, coordinates.coords
    else:
        features = _as_numbers("X", X)
        if features.ndim != 2:
            raise InvalidInputError(
                f"X must have two dimensions (samples x features), not {features.ndim}."
            )
        values, places = features.ravel(), None
    if features.shape[1] == 0:
        raise InvalidInputError("X must have at least 1 feature, not 0.")
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST_FEATURE))
    if wrong.size:
        first = int(wrong[0])
        row, column = (
            divmod(first, features.shape[1])
            if places is None
            else (int(place[first]) for place in places)
        )
        raise InvalidInputError(
            f"X must hold finite numbers up to {LARGEST_FEATURE:g}, but has {values[first]:g} in "
            f"row {row}, column {column} ({wrong.size} such values in all)."
        )
    if features.shape[0] and np.ptp(_corners(features), axis=0).max() == 0:
        raise InvalidInputError("X must have a feature that varies; all are constant.")
    return features


def _corners(features: Any) -> Floats:
    """The least and the largest value of each feature."""
    least, most = features.min(axis=0), features.max(axis=0)
    if not isinstance(features, np.ndarray):
        least, most = least.toarray(), most.toarray()
    return np.vstack([least, most])


def _as_codes(y: Any, n_samples: int) -> tuple[tuple[Any, ...], Ints]:
    """The sorted classes, and the place of each sample's class among them."""
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise InvalidInputError("y must be a sequence of classes, one for each sample.") from error
    if labels.ndim != 1:
        raise InvalidInputError(
            f"y must have one dimension (a class for each sample), not {labels.ndim}."
        )
    if len(labels) != n_samples:
        raise InvalidInputError(
            f"X and y must have the same number of samples: X has {n_samples}, y {len(labels)}."
        )
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InvalidInputError(
            "y must hold classes that can be sorted: all text or all numbers, none missing."
        ) from error
    if any(isinstance(c, float) and not c.is_integer() for c in classes.tolist()):
        raise InvalidInputError(
            "y must hold classes, not measurements: it has NaN or fractions among its numbers."
        )
    if len(classes) < 2:
        raise InvalidInputError(f"y must have at least 2 classes, not {len(classes)}.")
    return tuple(classes.tolist()), codes.astype(np.int64)


def _check_sizes(method: str, classes: Sequence[object], codes: Ints) -> None:
    small = [repr(classes[c]) for c in np.flatnonzero(np.bincount(codes) < 2).tolist()]
    if small:
        raise InvalidInputError(
            f"method={method!r} needs at least 2 samples of each class; only 1 has "
            f"{listing(small)}. Use method='centroids', or leave such classes out."
        )


def target_distances(
    similarity: ClassSimilarity,
    n_columns: int,
    direction: str = "group-similar",
    *,
    spread: float = 0.25,
) -> Ints:
    """Turn a similarity of classes into target distances for a design.

    Parameters
    ----------
    similarity : ClassSimilarity
        How alike the classes are.
    n_columns : int
        The number of columns of the codebook, L.
    direction : {"group-similar", "separate-hard-pairs"}, default="group-similar"
        Whether similar classes get nearer or farther codewords.
    spread : float, default=0.25
        How far targets go from their mean at most, as a share of it, from 0 to 1. More of
        it shapes the code more, and leaves the nearest codewords less error correction.

    Returns
    -------
    array of shape (n_classes, n_classes)
        Integers, symmetric, from 1 to L off the diagonal and 0 on it; for
        ``DesignProblem(objective="target-distances", target_distances=...)``.

    Notes
    -----
    With s the similarity of a pair and s̄ the mean over pairs, the target is

        m - a (s - s̄) / r,

    or m + a (s - s̄) / r for ``"separate-hard-pairs"``, rounded to the nearest integer. Here r
    is the largest absolute value of s - s̄; m is the largest mean distance that L different
    columns of k classes reach, L floor(k²/4) / C(k, 2) while there are L columns as balanced
    as can be; and a is spread · m, less where m - a would be below 1 or m + a above L. So the
    mean before rounding is m.

    Examples
    --------
    >>> similarity = ClassSimilarity.from_matrix(
    ...     [[1, 0.9, 0.2, 0.1], [0.9, 1, 0.1, 0.2], [0.2, 0.1, 1, 0.8], [0.1, 0.2, 0.8, 1]]
    ... )
    >>> target_distances(similarity, 7)
    array([[0, 3, 4, 5],
           [3, 0, 5, 4],
           [4, 5, 0, 3],
           [5, 4, 3, 0]])
    """
    check_similarity(similarity)
    length = check_int("n_columns", n_columns, minimum=1)
    sign = direction_sign(direction)
    check_number("spread", spread, minimum=0, maximum=1)
    k = similarity.n_classes
    every_column = [0, *(comb(k - 1, weight) for weight in range(1, k))]
    mean = largest_total(every_column, k, length) / comb(k, 2)
    reach = max(0.0, min(spread * mean, length - mean, mean - 1))
    deviations = similarity.matrix - similarity._pairs.mean()
    largest = float(np.abs(similarity._pairs - similarity._pairs.mean()).max())
    if largest > ROUNDING:
        deviations /= largest
    # Ten places first: equal similarities must not part on the last bit of their sum.
    rounded = np.rint((mean - sign * reach * deviations).round(10))
    targets: Ints = np.clip(rounded, 1, length).astype(np.int64)
    np.fill_diagonal(targets, 0)
    return targets
