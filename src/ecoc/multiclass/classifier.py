"""``ECOCClassifier``: any learner and any codebook as one multiclass classifier."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ecoc._checks import check_choice, check_int, check_seed, listing
from ecoc._typing import Floats
from ecoc.codes import Codebook
from ecoc.errors import InvalidInputError
from ecoc.multiclass.choosing import choose_codebook, is_name
from ecoc.multiclass.columns import (
    CALIBRATIONS,
    ColumnTask,
    ScoreMethod,
    fit_columns,
    score_method,
    scores_with_gaps,
    update_columns,
)
from ecoc.multiclass.data import (
    check_class_weight,
    check_costs,
    check_features,
    check_pairwise,
    check_priors,
    check_rejection,
    check_symbol_learner,
    check_targets,
    check_weights,
    class_weights,
    outlier_threshold,
    routed_params,
    with_label,
)
from ecoc.multiclass.decoder_training import held_out_scores, trained_decoder
from ecoc.multiclass.decoders.base import Decoder, erasures
from ecoc.multiclass.decoders.distances import hamming_margin
from ecoc.multiclass.decoders.healing import SelfHealing
from ecoc.multiclass.decoders.learned import Learned, softmax
from ecoc.multiclass.decoders.names import decodes_symbols, make_decoder
from ecoc.multiclass.decoders.probabilities import (
    Coupling,
    LogLikelihood,
    Soft,
    normalise_rows,
    settle_ties,
)
from ecoc.multiclass.growth import (
    check_extendable,
    check_new_classes,
    check_prefix,
    codewords_by_answers,
    least_sure_columns,
    with_columns,
)

__all__ = ["ECOCClassifier", "SkopsFileMixin"]

PROBABILITIES = ("auto", "coupling", "normalised")


def _gives_probabilities(classifier: ECOCClassifier) -> bool:
    # A lost column may have None in its place.
    fitted = (learner for learner in getattr(classifier, "estimators_", ()) if learner is not None)
    if isinstance(getattr(classifier, "decoder_", None), Learned):
        return True
    if classifier.calibration is not None or classifier.decoding == "learned":
        return True
    if hasattr(next(fitted, classifier._learner), "predict_proba"):
        return True
    raise AttributeError(
        f"predict_proba needs columns with probabilities, and "
        f"{type(classifier._learner).__name__} has none. Use calibration='sigmoid', or "
        "decoding='learned'."
    )


def _learns_in_parts(classifier: ECOCClassifier) -> bool:
    if hasattr(classifier._learner, "partial_fit"):
        return True
    raise AttributeError(
        f"partial_fit needs a learner that has it; {type(classifier._learner).__name__} does not."
    )


class SkopsFileMixin:
    """Models that are written to files of skops."""

    def save(self, path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> None:
        """Write the fitted model to a ``.skops`` file; ``ecoc.load`` reads it.

        Parameters
        ----------
        path : str or path
            The file.
        trusted : sequence of str
            The full names of types from elsewhere that the model may have.
        """
        from ecoc.multiclass.files import save_model

        save_model(self, path, trusted=trusted)


class ECOCClassifier(SkopsFileMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Multiclass classification with an error-correcting output code.

    Each column of the codebook is a binary problem, some classes against some others, and a
    clone of the learner is trained for it. The scores of all columns are decoded together. In
    a codebook of q >= 3 symbols each column is a problem of up to q groups of classes, for
    learners that take q classes.

    Parameters
    ----------
    estimator : object, optional
        The learner, ``LogisticRegression(max_iter=1000)`` by default: it is quick, has
        probabilities, takes weights and sparse data, and needs no seed. Trees, forests and
        SVMs gain more from long codes. It is a classifier with ``decision_function``,
        ``predict_proba`` or ``predict`` (asked for in this order), or a regressor, which is
        trained on +1 and -1. One that can train all columns together does so, see
        :func:`ecoc.multiclass.joint.joint_learner`: ``SVC`` shares its kernel, for example.
        Its ``class_weight`` must not be a dict, which would weigh the sides of the columns
        and not the classes; `class_weight` below weighs the classes. With more than two
        symbols it is a multiclass classifier with ``predict_proba``, or with ``predict``,
        whose labels count as votes.
    codebook : Codebook, Design, matrix, path or str, default="auto"
        A codebook, whose labels are matched with the classes (as text) if it has any, and
        whose rows else are the sorted classes; the name of a codebook file; or one of

        - ``"auto"``: one-vs-one for linear learners (one-vs-rest beyond 40 classes), the
          optimal code otherwise, and wherever `n_columns` is given; of several symbols for
          trees, see `n_symbols`. `codebook_reason_` tells which it was and why.
        - ``"optimal"``: the code with the largest minimum row distance.
        - ``"similarity"``: a code whose row distances follow target distances from the
          training data, similar classes on near codewords; beyond 12 classes the optimal
          code, its codewords assigned by similarity.
        - ``"decoc"``, ``"forest-ecoc"``, ``"ecoc-one"``, ``"minimal"``: published codes that
          are made for the training data, see :func:`ecoc.multiclass.decoc`,
          :func:`ecoc.multiclass.forest_ecoc`, :func:`ecoc.multiclass.ecoc_one` and
          :func:`ecoc.multiclass.minimal_code`.
        - a standard code: ``"one-vs-rest"``, ``"one-vs-one"``, ``"dense-random"``,
          ``"sparse-random"``, ``"balanced-random"``, ``"digits"``, ``"exhaustive"``,
          ``"ternary-complete"``, or, for classes whose sorted order means something,
          ``"ordinal"``, ``"one-vs-followers"``, ``"one-vs-previous"``.
    n_columns : int, optional
        The length of an optimal, similarity or random code: 2k for k classes by default
        (``"sparse-random"``: ceil(15 log2 k)), and never more than there are different columns;
        the most columns of ``"ecoc-one"``, and about those of ``"forest-ecoc"``, which is three
        trees by default. Other codes have a length of their own. Where the length is not the one
        asked for, a warning and `codebook_reason_` say so.
    decoding : str, Decoder or callable, default="auto"
        How column scores become a class: a name of :data:`ecoc.multiclass.decoders.DECODERS`, a
        decoder, or a function of scores (n_samples x n_columns) and codebook matrix that
        returns class scores. ``"auto"`` takes Hamming decoding where the learner gives
        labels alone, votes for one-vs-one, the mean loss over the columns that a class uses
        for other ternary codes, the sum of losses for codes of +1 and -1, and the coupling of
        probabilities for codes of more symbols.
    n_jobs : int, optional
        Columns that are trained or asked at the same time, as in joblib.
    random_state : int, Generator, RandomState or None
        Seeds random codes, and every ``random_state`` of the learner that is None,
        differently in each column. With None these stay as they are.
    verbose : int, default=0
        Show a progress bar if standard error is a terminal, a line now and then if not.
    probabilities : {"auto", "coupling", "normalised"}, default="auto"
        What `predict_proba` gives: the coupling of the columns' probabilities
        (:class:`ecoc.multiclass.decoders.Coupling`), or the scores of equation 20 divided by
        their sum.
        ``"auto"`` is the coupling, or what the learned decoder says where that is used.
    calibration : {"sigmoid", "isotonic"}, optional
        Calibrate each column by cross-validation (`CalibratedClassifierCV`), for learners
        without probabilities of their own.
    nan_scores : {"raise", "erase"}, default="raise"
        What to do with a score that is not finite: name its column and stop, or decode the
        sample by its other columns.
    reject_below : int, optional
        Give `reject_label` to samples whose :meth:`margin` is less than this.
    reject_label : object, optional
        The label of rejected samples; no class may have it.
    reject_outliers : float, optional
        Give `reject_label` to samples whose :meth:`outlier_score` is above a threshold that this
        share of the training samples exceeds, scored by columns that did not learn from them:
        these are trained in five folds. 0.01 calls about one of a hundred ordinary samples
        foreign. No defence against somebody who aims at it.
    n_symbols : int or "auto", optional
        The number of symbols of the codebooks ``"auto"``, ``"optimal"``,
        ``"balanced-random"`` and ``"digits"``, into how many groups a column splits the
        classes, and never more than there are classes. ``"auto"`` is the limit that the learner
        states, see :func:`ecoc.multiclass.choosing.class_limit`, if there are more classes than
        that, and else what was best for its kind,
        :data:`ecoc.multiclass.choosing.SYMBOL_SHARES`: more than 2 for trees, boosting
        (``HistGradientBoostingClassifier``) and Gaussian naive Bayes, and for more than 20 classes
        with fewer columns than classes. The default is ``"auto"`` for the codebook ``"auto"``,
        unless `decoding` is for two symbols alone, and 2 for others. With a matrix as codebook it
        is the number of its symbols.
    max_classes : int, optional
        How many classes the learner takes at most. With more classes than that `n_symbols` is
        ``"auto"`` by default, and has this limit. A codebook whose columns need more groups is
        refused.
    class_weight : dict or "balanced", optional
        How much the samples of each class count in training, by class label (1 for those not
        named), beside `sample_weight`. ``"balanced"`` gives all classes the same sum.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        What it costs to predict the class of a column for a sample of the class of a row, both
        in sorted order. The class of least expected cost is then predicted, by the
        probabilities of `predict_proba`.
    priors : dict or array-like of shape (n_classes,), optional
        How frequent the classes are where the model is used, by class label or in sorted
        order, if not as in training. Probabilities are corrected for it, and the most
        probable class is predicted.

    warm_start : bool, default=False
        Keep the columns that are fitted when `fit` is called again, and train only new ones:
        raise `n_columns` before, which adds columns to the codebook, or set a codebook whose
        first columns are those that are fitted. The classes, and the data, are the same.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    codebook_ : Codebook
        The codebook that was used, its rows in the order of `classes_`.
    code_book_ : array of shape (n_classes, n_columns)
        Its matrix; the name is that of scikit-learn's ``OutputCodeClassifier``.
    codebook_reason_ : str
        Which codebook it is, and why.
    estimators_ : list
        The fitted learners, one for each column.
    decoder_ : Decoder
        The decoder that was used.
    absent_classes_, dropped_columns_ : tuple
        Classes of the codebook that the training data do not have, and the columns that
        were useless without them.
    stale_columns_ : tuple of int
        The columns that never saw a class that :meth:`add_classes` added; empty before.
    outlier_threshold_ : float
        The :meth:`outlier_score` above which samples are rejected, with `reject_outliers`.
    healed_columns_ : tuple of int
        The columns that ``decoding="self-healing"`` distrusted in the last batch that was
        predicted; empty if none. Other decoders do not set it.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] S. Gupta, S. Amin (2021). Integer programming-based error-correcting output code
       design for robust classification. UAI.
    .. [2] E. Allwein, R. Schapire, Y. Singer (2000). Reducing multiclass to binary.
       Journal of Machine Learning Research 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> model = ECOCClassifier(tree).fit(train, y_train)
    >>> model.codebook_.n_columns, model.codebook_.n_symbols, model.codebook_.min_row_distance
    (20, 3, 14)
    >>> model.score(test, y_test) > tree.fit(train, y_train).score(test, y_test) + 0.05
    True
    >>> print(model.codebook_reason_.replace("; ", "\n"))
    optimal code, 3 symbols, because 3 symbols were best for learners such as DecisionTreeClassifier
    OPTIMAL: minimum row distance 14 (averaging bound)
    """

    classes_: npt.NDArray[Any]
    codebook_: Codebook
    codebook_reason_: str
    estimators_: list[Any]
    stale_columns_: tuple[int, ...]

    def __init__(  # noqa: PLR0917  # scikit-learn's estimators take theirs by position too
        self,
        estimator: Any = None,
        codebook: Any = "auto",
        n_columns: int | None = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        probabilities: str = "auto",
        calibration: str | None = None,
        nan_scores: str = "raise",
        reject_below: int | None = None,
        reject_label: Any = None,
        n_symbols: int | str | None = None,
        max_classes: int | None = None,
        class_weight: Any = None,
        cost_matrix: Any = None,
        priors: Any = None,
        warm_start: bool = False,
        reject_outliers: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.codebook = codebook
        self.n_columns = n_columns
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.probabilities = probabilities
        self.calibration = calibration
        self.nan_scores = nan_scores
        self.reject_below = reject_below
        self.reject_label = reject_label
        self.n_symbols = n_symbols
        self.max_classes = max_classes
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.priors = priors
        self.warm_start = warm_start
        self.reject_outliers = reject_outliers

    # -------------------------------------------------------------- training

    def fit(self, X: Any, y: Any, **fit_params: Any) -> ECOCClassifier:
        """Train the columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features. Data frames and lists of texts reach the learner as they are.
        y : array-like of shape (n_samples,)
            The class labels.
        **fit_params
            ``sample_weight``; with metadata routing, all that the learner asks for.
        """
        self._check_parameters()
        warm = self.warm_start and hasattr(self, "estimators_")
        X = check_features(self, X, reset=not warm)
        labels = check_targets(X, y)
        params = routed_params(self, "fit", fit_params)
        check_weights(params.get("sample_weight"), len(labels))
        classes, targets = np.unique(labels, return_inverse=True)
        self._settle_decision(classes, targets, params.get("sample_weight"))
        params = self._weighted(params, classes, targets)
        fitted = self.estimators_ if warm else []
        task = self._start(classes, params, data=(X, targets), warm=warm)
        new = task.part(range(len(fitted), task.matrix.shape[1])) if fitted else task
        if new.matrix.shape[1]:
            trained = fit_columns(new, X, targets, n_jobs=self.n_jobs, verbose=self.verbose)
            self.estimators_ = [*fitted, *trained]
        method = self._score_method()
        self.decoder_ = trained_decoder(
            make_decoder(self.decoding, self.codebook_, method),
            task,
            self.estimators_,
            X,
            targets,
            method=method,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        if self.reject_outliers is not None:
            scores = held_out_scores(
                task,
                self.estimators_,
                X,
                targets,
                method=method,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
            known = ~erasures(scores).all(axis=1)
            self.outlier_threshold_ = outlier_threshold(
                self._least_losses(scores[known]), self.reject_outliers
            )
        return self

    @available_if(_learns_in_parts)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        **fit_params: Any,
    ) -> ECOCClassifier:
        """Train the columns on one more batch.

        Parameters
        ----------
        X, y
            The batch, as for :meth:`fit`.
        classes : array-like, optional
            All classes there will be; needed in the first call.
        **fit_params
            As for :meth:`fit`.
        """
        self._check_parameters()
        first = not hasattr(self, "estimators_")
        X = check_features(self, X, reset=first)
        labels = check_targets(X, y)
        params = routed_params(self, "partial_fit", fit_params)
        check_weights(params.get("sample_weight"), len(labels))
        if first:
            if classes is None:
                raise InvalidInputError("classes must be given in the first call of partial_fit.")
            self._check_parts()
            self._settle_decision(np.unique(classes), np.empty(0, dtype=np.intp), None)
            task = self._start(np.unique(np.asarray(classes)), params, data=None)
            decoder = self._unfitted_decoder()
            if decoder.needs != "nothing":
                raise InvalidInputError(
                    f"decoding={self.decoding!r} learns from all the training data, so "
                    "partial_fit cannot use it."
                )
            self.estimators_ = [task.learner(column) for column in range(task.matrix.shape[1])]
            self.decoder_ = decoder
        else:
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise InvalidInputError("classes must be those of the first call of partial_fit.")
            task = self._task(params)
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise InvalidInputError(
                f"y must hold only the classes of the first call of partial_fit; "
                f"got {listing(unknown.tolist())}."
            )
        targets = np.searchsorted(self.classes_, labels)
        task = replace(task, params=self._weighted(params, self.classes_, targets))
        update_columns(task, self.estimators_, X, targets)
        return self

    def add_classes(
        self,
        X: Any,
        y: Any,
        *,
        retrain: int = 0,
    ) -> ECOCClassifier:
        """Add classes that the model does not know, and keep its columns as they are trained.

        A column that has seen no sample of a class still answers something on it. A new class
        gets the codeword that the columns answer most, other than those of all others. Columns
        that are trained again learn the new classes, and take their codewords further from
        others; those go first that answer least clearly on the new classes.

        Parameters
        ----------
        X, y
            Samples of the new classes, and of all others where columns are trained again.
        retrain : int, default=0
            How many columns to train again on these samples; with all of them the new codewords
            are those of :func:`ecoc.extend_codebook`.

        Returns
        -------
        ECOCClassifier
            Itself. `stale_columns_` are the columns that never saw a new class.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.svm import SVC
        >>> X, y = load_digits(return_X_y=True)
        >>> known = y < 8
        >>> model = ECOCClassifier(SVC(), n_columns=12).fit(X[known], y[known])
        >>> model = model.add_classes(X, y, retrain=6)
        >>> len(model.classes_), len(model.stale_columns_)
        (10, 6)
        """
        check_is_fitted(self)
        self._check_parameters()
        X = check_features(self, X, reset=False)
        labels = check_targets(X, y)
        new, classes = check_new_classes(self.classes_, labels)
        learned = self.decoder_.needs != "nothing" or self.reject_outliers is not None
        if learned or not (self.cost_matrix is self.priors is None):
            raise InvalidInputError(
                "Decoders that learn, reject_outliers, cost_matrix and priors know the classes "
                "there were; fit again with the codebook of ecoc.extend_codebook."
            )
        n_columns = self.codebook_.n_columns
        check_int("retrain", retrain, minimum=0, maximum=n_columns)
        absent = np.setdiff1d(classes, labels)
        if retrain and len(absent):
            raise InvalidInputError(
                f"Columns that are trained again need samples of all classes; y has none of "
                f"{listing(absent.tolist())}. With retrain=0 samples of the new classes are enough."
            )
        self._check_rejection(classes)
        check_extendable(self.codebook_)
        signs = np.sign(np.nan_to_num(self._scores(X, self._score_method())))
        answers = np.stack([signs[labels == label].mean(axis=0) for label in new])
        retrained = least_sure_columns(answers, retrain)
        extended = codewords_by_answers(self.codebook_, answers, retrained, seed=self._seed_)
        order = np.argsort(np.concatenate([self.classes_, new]), kind="stable")
        self.classes_ = classes
        self.codebook_ = replace(extended, labels=None, matrix=extended.matrix[order])
        self.codebook_reason_ = f"{self.codebook_reason_}; with rows for {listing(new.tolist())}"
        if retrained:
            targets = np.searchsorted(classes, labels)
            task = self._task(self._weighted({}, classes, targets)).part(retrained)
            trained = fit_columns(task, X, targets, n_jobs=self.n_jobs, verbose=self.verbose)
            for column, learner in zip(retrained, trained, strict=True):
                self.estimators_[column] = learner
        stale = set(getattr(self, "stale_columns_", ())) | set(range(n_columns))
        self.stale_columns_ = tuple(sorted(stale - set(retrained)))
        return self

    @property
    def _learner(self) -> Any:
        """The learner that is meant."""
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def _weighted(
        self,
        params: dict[str, Any],
        classes: npt.NDArray[Any],
        targets: npt.NDArray[np.intp],
    ) -> dict[str, Any]:
        """The parameters of the columns' fit, samples weighed by their classes."""
        if self.class_weight is None:
            return params
        if not has_fit_parameter(self._learner, "sample_weight"):
            raise InvalidInputError(
                f"class_weight weighs samples, which {type(self._learner).__name__} does not take. "
                "Use class_weight='balanced' of the learner, which balances the sides of columns."
            )
        weights = class_weights(self.class_weight, classes, targets)[targets]
        given = params.get("sample_weight")
        return {**params, "sample_weight": weights if given is None else weights * given}

    def _settle_decision(
        self, classes: npt.NDArray[Any], targets: npt.NDArray[np.intp], sample_weight: Any
    ) -> None:
        """What probabilities are multiplied by, and what errors cost, if either is given."""
        self._costs_ = self._ratios_ = None
        if self.cost_matrix is None and self.priors is None:
            return
        try:
            _gives_probabilities(self)
        except AttributeError as error:
            raise InvalidInputError(
                f"cost_matrix and priors decide by probabilities. {error}"
            ) from error
        if self.cost_matrix is not None:
            self._costs_ = check_costs(self.cost_matrix, len(classes))
        if self.priors is not None:
            weights = self._weighted({"sample_weight": sample_weight}, classes, targets)[
                "sample_weight"
            ]
            seen = np.bincount(targets, weights=weights, minlength=len(classes))
            # A class of no weight was never learnt, and is not made up for.
            share = np.where(seen > 0, seen / seen.sum(), 1.0)
            self._ratios_ = check_priors(self.priors, classes) / share

    def _check_parts(self) -> None:
        """Refuse what needs all the training data at once."""
        if isinstance(self.class_weight, str) or self.priors is not None:
            raise InvalidInputError(
                "class_weight='balanced' and priors need the sizes of all classes, which "
                "partial_fit does not know; give weights by class."
            )
        if self.reject_outliers is not None:
            raise InvalidInputError(
                "reject_outliers needs all the training data, so partial_fit cannot use it."
            )

    def _start(
        self,
        classes: npt.NDArray[Any],
        params: Mapping[str, Any],
        data: tuple[Any, npt.NDArray[np.intp]] | None,
        *,
        warm: bool = False,
    ) -> ColumnTask:
        """Choose the codebook for the classes, and say what training needs."""
        if len(classes) < 2:
            raise InvalidInputError(
                f"y must have at least 2 classes; it has only one class, {classes[0]!r}."
            )
        self._check_rejection(classes)
        if not warm:
            self._seed_ = check_seed(self.random_state)
            self.stale_columns_ = ()
        # What is automatic keeps to what the decoder that was asked for can do.
        automatic = self.n_symbols is None and isinstance(self.codebook, str)
        binary = automatic and self.max_classes is None and not decodes_symbols(self.decoding)
        if warm and is_name(self.codebook):
            self._check_same(classes)
            choice = with_columns(self.codebook_, self.n_columns, seed=self._seed_)
        else:
            choice = choose_codebook(
                self.codebook,
                classes,
                estimator=self._learner,
                n_columns=self.n_columns,
                n_symbols=2 if binary else self.n_symbols,
                max_classes=self.max_classes,
                random_state=self._seed_,
                data=data,
                decoding=self.decoding,
                verbose=self.verbose,
            )
        if warm:
            self._check_same(classes)
            check_prefix(choice.codebook, self.codebook_)
        choice.report()
        self.classes_ = classes
        self.codebook_ = choice.codebook
        self.codebook_reason_ = choice.reason
        self.absent_classes_ = choice.absent_classes
        self.dropped_columns_ = choice.dropped_columns
        check_symbol_learner(self._learner, self.codebook_)
        check_pairwise(self._learner, self.codebook_, self._unfitted_decoder())
        return self._task(params)

    def _check_same(self, classes: npt.NDArray[Any]) -> None:
        if not np.array_equal(classes, self.classes_):
            raise InvalidInputError(
                f"With warm_start=True y must have the classes that are fitted, "
                f"{listing(self.classes_.tolist())}. add_classes adds others."
            )

    def _unfitted_decoder(self) -> Decoder:
        """The decoder that is meant, before anything is trained."""
        method = score_method(self._learner, n_symbols=self.codebook_.n_symbols)
        return make_decoder(self.decoding, self.codebook_, method)

    def _task(self, params: Mapping[str, Any]) -> ColumnTask:
        return ColumnTask(
            estimator=self._learner,
            matrix=self.codebook_.matrix,
            classes=self.classes_,
            params=params,
            calibration=self.calibration,
            seed=self._seed_,
            n_symbols=self.codebook_.n_symbols,
        )

    # ------------------------------------------------------------ prediction

    def predict(self, X: Any, missing_columns: Sequence[int] | None = None) -> Any:
        """Predict a class for each sample.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        missing_columns : sequence of int, optional
            Columns to do without: they are not asked, and decoded as erasures.

        Returns
        -------
        array of shape (n_samples,)
            Class labels; the reject label where the margin is less than `reject_below`, or the
            outlier score above the threshold of `reject_outliers`.
        """
        scores = self._decision_scores(X, missing_columns)
        rows = self._class_scores(scores, X, missing_columns).argmax(axis=1)
        labels = self.classes_[rows]
        if not self.rejects:
            return labels
        return with_label(labels, self.rejected(scores, rows), self.reject_label)

    @property
    def rejects(self) -> bool:
        """Whether the model may leave a sample undecided."""
        # Files of before know no outliers.
        outliers = getattr(self, "reject_outliers", None)
        return self.reject_below is not None or outliers is not None

    def rejected(self, scores: Floats, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Which samples are rejected, from the scores of their columns and the rows decoded.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns)
            What :meth:`column_scores` gives.
        rows : array of int of shape (n_samples,)
            The places of the classes that they were decoded to.
        """
        rejected = np.zeros(len(rows), dtype=bool)
        if self.reject_below is not None:
            rejected |= hamming_margin(scores, self.codebook_.matrix, rows) < self.reject_below
        if getattr(self, "reject_outliers", None) is not None:
            rejected |= self._least_losses(scores) > self.outlier_threshold_
        return rejected

    def decision_function(
        self,
        X: Any,
        missing_columns: Sequence[int] | None = None,
    ) -> Floats:
        """The decoder's score for each class; the largest wins.

        With `cost_matrix` it is minus the expected cost, with `priors` alone the probability.
        The parameters are those of :meth:`predict`.

        Returns
        -------
        array of shape (n_samples, n_classes), or (n_samples,) for two classes
            With two classes positive values are for the second.
        """
        scores = self._decision_scores(X, missing_columns)
        result = self._class_scores(scores, X, missing_columns)
        return result[:, 1] - result[:, 0] if len(self.classes_) == 2 else result

    @available_if(_gives_probabilities)
    def predict_proba(
        self,
        X: Any,
        missing_columns: Sequence[int] | None = None,
    ) -> Floats:
        """Estimate the probability of each class, see the parameter `probabilities`.

        The parameters are those of :meth:`predict`. The most probable class need not be the
        predicted one: the two come from the same columns by different rules. They agree with
        ``decoding="learned"``, with `priors`, and with ``decoding="coupling"`` unless the
        learner's probabilities are not the logistic function of its decision values.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Rows sum to one.
        """
        check_is_fitted(self)
        result = self._probabilities(X, missing_columns)
        ratios = getattr(self, "_ratios_", None)
        return result if ratios is None else normalise_rows(result * ratios)

    def _class_scores(
        self, scores: Floats, X: Any, missing_columns: Sequence[int] | None
    ) -> Floats:
        """What decides: the decoder, or what probabilities make of costs and priors."""
        # Files of before have neither.
        costs, ratios = getattr(self, "_costs_", None), getattr(self, "_ratios_", None)
        if costs is None and ratios is None:
            return self._decoded(scores)
        chances: Floats = self.predict_proba(X, missing_columns)
        if costs is None:
            return chances
        expected: Floats = chances @ costs
        return -expected

    def _probabilities(self, X: Any, missing_columns: Sequence[int] | None) -> Floats:
        """Probabilities where classes are as frequent as in training."""
        matrix = self.codebook_.matrix
        if self.probabilities == "auto" and isinstance(self.decoder_, Learned):
            return softmax(self._decoded(self._decision_scores(X, missing_columns)))
        method = self._score_method(probability=True)
        X = check_features(self, X, reset=False)
        scores = self._scores(X, method, missing_columns)
        # Without probabilities of its own a column is believed by the logistic function.
        logistic = method == "decision_function"
        if self.probabilities == "normalised":
            result = normalise_rows(Soft(logistic)(scores, matrix))
        else:
            result = Coupling(logistic)(scores, matrix)
        # Where the same scores decide, what ties falls to the class that is predicted.
        without_ties = self.decoder_.whole_batch or isinstance(self.decoder_, Coupling)
        if method == self._score_method() and not without_ties:
            settle_ties(result, self.decoder_(scores, matrix).argmax(axis=1))
        return result

    def margin(
        self,
        X: Any,
        missing_columns: Sequence[int] | None = None,
    ) -> npt.NDArray[np.int64]:
        """How many wrong columns the prediction for each sample can still absorb.

        The parameters are those of :meth:`predict`. A margin is counted for Hamming
        decoding, see :func:`ecoc.multiclass.decoders.hamming_margin`: it is 0 where one column more
        may change the decision, or where Hamming decoding prefers another class already.
        """
        scores = self._decision_scores(X, missing_columns)
        rows = self._class_scores(scores, X, missing_columns).argmax(axis=1)
        return hamming_margin(scores, self.codebook_.matrix, rows)

    def outlier_score(
        self,
        X: Any,
        missing_columns: Sequence[int] | None = None,
    ) -> Floats:
        """How badly the columns fit the codeword that they fit best: large for foreign samples.

        The parameters are those of :meth:`predict`. The score is the least loss to a codeword:
        minus the mean logarithm, over the columns, of the probability of its sides. Columns
        that agree on a codeword score about 0, columns that know nothing log 2.

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> model = ECOCClassifier(LogisticRegression(), codebook="one-vs-one").fit(X, y)
        >>> own, foreign = model.outlier_score(X), model.outlier_score(X.mean() - X)
        >>> bool(own.mean() < foreign.mean())
        True
        """
        return self._least_losses(self._decision_scores(X, missing_columns))

    def _least_losses(self, scores: Floats) -> Floats:
        # Without probabilities of its own a column is believed by the logistic function.
        likelihood = LogLikelihood(self._score_method() == "decision_function")
        best: Floats = likelihood(scores, self.codebook_.matrix).max(axis=1)
        return -best / self.codebook_.n_columns

    def column_scores(
        self,
        X: Any,
        missing_columns: Sequence[int] | None = None,
    ) -> Floats:
        """The scores of the columns before decoding: positive for the +1 side.

        The parameters are those of :meth:`predict`; missing columns have NaN. With more than
        two symbols there is a third axis: the probabilities of the symbols, or votes.
        """
        return self._decision_scores(X, missing_columns)

    def _decision_scores(
        self,
        X: Any,
        missing_columns: Sequence[int] | None,
    ) -> Floats:
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return self._scores(X, self._score_method(), missing_columns)

    def _decoded(self, scores: Floats) -> Floats:
        """The score of each class, and a note of the columns that were distrusted."""
        matrix = self.codebook_.matrix
        if isinstance(self.decoder_, SelfHealing):
            self.healed_columns_ = self.decoder_.healed_columns(scores, matrix)
        return self.decoder_(scores, matrix)

    def _score_method(self, *, probability: bool = False) -> ScoreMethod:
        # A lost column may have None in its place.
        present = next(learner for learner in self.estimators_ if learner is not None)
        return score_method(present, probability=probability, n_symbols=self.codebook_.n_symbols)

    def _scores(
        self,
        X: Any,
        method: ScoreMethod,
        missing_columns: Sequence[int] | None = None,
    ) -> Floats:
        """The scores of the columns that are there, NaN for the others."""
        return scores_with_gaps(
            self.estimators_,
            X,
            method,
            task=self._task({}),
            missing_columns=missing_columns,
            erase=self.nan_scores == "erase",
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    # ------------------------------------------------------------ the rest

    @property
    def code_book_(self) -> npt.NDArray[np.int8]:
        """The matrix of the codebook."""
        check_is_fitted(self)
        return self.codebook_.matrix

    @property
    def n_classes_(self) -> int:
        """The number of classes, k."""
        check_is_fitted(self)
        return len(self.classes_)

    def _check_parameters(self) -> None:
        check_class_weight(self._learner)
        check_choice("probabilities", self.probabilities, PROBABILITIES)
        check_choice("nan_scores", self.nan_scores, ("raise", "erase"))
        if self.calibration is not None:
            check_choice("calibration", self.calibration, CALIBRATIONS)
        if self.reject_below is not None:
            check_int("reject_below", self.reject_below, minimum=0)

    def _check_rejection(self, classes: npt.NDArray[Any]) -> None:
        if self.rejects:
            check_rejection(classes, self.reject_label, self.reject_outliers)

    def get_metadata_routing(self) -> MetadataRouter:
        """What the learner asks of metadata, for scikit-learn's routing."""
        mapping = MethodMapping()
        for method in ("fit", "partial_fit"):
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=type(self).__name__).add(
            estimator=self._learner, method_mapping=mapping
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._learner).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.pairwise = inner.pairwise
        tags.input_tags.allow_nan = inner.allow_nan
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = str(super().__repr__(N_CHAR_MAX))
        reason = getattr(self, "codebook_reason_", None)
        return text if reason is None else f"{text}\n# {self.codebook_!r}\n# {reason}"
