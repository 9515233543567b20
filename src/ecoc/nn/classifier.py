"""``ECOCNetworkClassifier``, a network for each column, and its twin trained end to end."""

# ruff: noqa: N803  # X is what scikit-learn calls it

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from ecoc._checks import check_choice, check_int, listing
from ecoc._typing import Floats
from ecoc.codes import Codebook
from ecoc.codes.validation import check_two_symbols
from ecoc.errors import InvalidInputError
from ecoc.multiclass import choose_codebook
from ecoc.multiclass.decoders import DECODERS, Decoder, hamming_margin, make_decoder
from ecoc.multiclass.decoders.learned import softmax
from ecoc.multiclass.decoders.probabilities import couple
from ecoc.nn.base import NetworkEstimator
from ecoc.nn.decoder import OUTPUTS, CodeDecoder
from ecoc.nn.network import check_intervals
from ecoc.nn.networks.architectures import ColumnEnsemble, Factory, InputFormat
from ecoc.nn.networks.stacked import StackedNetworks
from ecoc.nn.training.objectives import ClassObjective, ColumnObjective
from ecoc.nn.training.strategies import (
    STRATEGIES,
    NetworkSpec,
    Training,
    choose_strategy,
    network_seed,
)
from ecoc.nn.training.trainer import Augmentation, TrainingData, TrainingRecord

__all__ = ["ECOCNetworkClassifier", "MulticlassTwin"]


_DECODINGS = tuple(output for output in OUTPUTS if output in DECODERS)
"""The decoders that have a torch module."""


class ECOCNetworkClassifier(NetworkEstimator):
    """Multiclass classification with a binary network for each column of a codebook.

    Every network is trained by itself, for the classes that its column tells apart. The
    decoder that predicts is differentiable, and the one that attacks go through.

    Parameters
    ----------
    codebook : Codebook, Design, matrix, path or str, default="optimal"
        As for :class:`ecoc.multiclass.ECOCClassifier`.
    n_columns : int, optional
        The length of an optimal or random code: 2k for k classes by default.
    architecture : str or callable, default="small-cnn"
        - ``"mlp"``: 128 and 64 dense units, for vectors and images.
        - ``"small-cnn"``: two strided convolutions and 64 dense units, quick on a CPU.
        - ``"paper-mnist-cnn"``: the paper's network for MNIST.
        - ``"resnet18"``: ResNet-18 for small images.
        - a function of the shape of an input and the number of outputs that returns a
          ``torch.nn.Module``.
    shared_trunk : bool, default=False
        One network with an output for each column, instead of a network for each.
    epochs, batch_size : int, default=10, 128
        The length of training. All columns see the same batches.
    learning_rate : float, default=0.005
        The largest learning rate.
    optimizer : {"adamw", "adam", "sgd"}, default="adamw"
        ``"sgd"`` has a Nesterov momentum of 0.9.
    schedule : {"one-cycle", "cosine", "constant"}, default="one-cycle"
        How the learning rate changes.
    weight_decay : float, default=1e-4
        As in torch.
    augment : callable, optional
        Takes a batch of inputs and a ``torch.Generator``, returns a batch to train on.
    device : str, default="auto"
        Of torch; a GPU if there is one.
    mixed_precision : bool, default=False
        Train in bfloat16 where torch sees fit.
    validation_fraction : float, default=0
        Share of the samples, of every class, that networks are judged by instead of being
        trained on. Each network then keeps the weights of its best epoch.
    patience : int, optional
        Stop a network that has not improved for this many epochs.
    decoding : {"auto", "soft", "normalised-logistic", "normalised-linear", "hamming"}
        The decoder that predicts, by its name in :data:`ecoc.multiclass.decoders.DECODERS`.
        ``"auto"``, the default, is ``"normalised-logistic"``, which weighs columns by their
        certainty; for codes of +1 and -1 it decides as ``"normalised-linear"`` does.
        ``"soft"`` is equation 20 of Gupta & Amin (2021).
    training : {"standard", "adversarial", "ibp"}, default="standard"
        ``"adversarial"`` trains on inputs that projected gradient steps made worse;
        ``"ibp"`` also on the worst case within interval bounds.
    epsilon : float, default=0.1
        The l_inf radius of both, in the scale of X.
    attack_steps : int, default=7
        Steps of the attack in adversarial training.
    attack_through : {"column", "decoder"}, default="column"
        Attack every network by itself, or the class through the decoder; the networks are
        then trained together in one process.
    strategy : {"auto", "sequential", "processes", "stacked"}, default="auto"
        How networks are trained: in turn, in processes with a thread each (joblib, so also
        on a Dask cluster), or as one stacked network. ``"auto"`` stacks on a GPU and uses
        processes if `n_jobs` allows several. The result is the same up to rounding.
    n_jobs : int, optional
        Processes, as in joblib.
    input_shape : tuple of int, optional
        Channels, height and width, for images that come as vectors.
    input_range : tuple of float, optional
        The least and the largest value that an input can have; by default (0, 1) if X lies
        in it, and the range of X otherwise. Networks scale it to [0, 1].
    checkpoint : path, optional
        A folder for the state after every epoch. Fitted again with it, a model goes on
        where it was stopped, and ends as it would have.
    random_state : int, Generator, RandomState or None
        Seeds codes, weights, batches and attacks.
    verbose : int, default=0
        Whether a terminal shows a progress bar.
    reject_outliers : float, optional
        Give `reject_label` to samples whose :meth:`outlier_score` is above a threshold that this
        share of the validation samples exceeds; it needs `validation_fraction`.
    reject_label : object, optional
        The label of rejected samples; no class may have it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    codebook_ : Codebook
        The codebook, its rows in the order of `classes_`.
    codebook_reason_ : str
        Which codebook it is, and why.
    networks_ : list of nn.Sequential
        A network for each column, or the only one with a shared trunk.
    records_ : tuple of TrainingRecord
        How the training of each went.
    input_range_ : tuple of float
        The range of the inputs.
    outlier_threshold_ : float
        The :meth:`outlier_score` above which samples are rejected, with `reject_outliers`.
    decoding_ : str
        The form of scores that predicts.
    decoder_ : Decoder
        The decoder of :mod:`ecoc.multiclass` that decides alike, for diagnostics.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ECOCNetworkClassifier(
    ...     architecture="mlp", epochs=3, batch_size=32, random_state=0
    ... ).fit(X[:1000], y[:1000])
    >>> model.codebook_
    <Codebook 'atlas-2-10-20': 10 classes x 20 columns, row distance 10, column distance 3>
    >>> model.score(X[1000:], y[1000:]) > 0.85
    True
    >>> import torch
    >>> model.as_module("normalised-linear")(torch.tensor(X[:2], dtype=torch.float32)).argmax(dim=1)
    tensor([0, 1])
    """

    codebook_: Codebook
    codebook_reason_: str
    networks_: list[nn.Sequential]

    _auto_decoding: ClassVar[str] = "normalised-logistic"

    def __init__(  # noqa: PLR0917  # scikit-learn's estimators take theirs by position too
        self,
        codebook: Any = "optimal",
        n_columns: int | None = None,
        architecture: str | Factory = "small-cnn",
        shared_trunk: bool = False,
        epochs: int = 10,
        batch_size: int = 128,
        learning_rate: float = 5e-3,
        optimizer: str = "adamw",
        schedule: str = "one-cycle",
        weight_decay: float = 1e-4,
        augment: Augmentation | None = None,
        device: str = "auto",
        mixed_precision: bool = False,
        validation_fraction: float = 0.0,
        patience: int | None = None,
        decoding: str = "auto",
        training: str = "standard",
        epsilon: float = 0.1,
        attack_steps: int = 7,
        attack_through: str = "column",
        strategy: str = "auto",
        n_jobs: int | None = None,
        input_shape: tuple[int, ...] | None = None,
        input_range: tuple[float, float] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        verbose: int = 0,
        reject_outliers: float | None = None,
        reject_label: Any = None,
    ) -> None:
        self.codebook = codebook
        self.n_columns = n_columns
        self.architecture = architecture
        self.shared_trunk = shared_trunk
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.augment = augment
        self.device = device
        self.mixed_precision = mixed_precision
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.decoding = decoding
        self.training = training
        self.epsilon = epsilon
        self.attack_steps = attack_steps
        self.attack_through = attack_through
        self.strategy = strategy
        self.n_jobs = n_jobs
        self.input_shape = input_shape
        self.input_range = input_range
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose
        self.reject_outliers = reject_outliers
        self.reject_label = reject_label

    # -------------------------------------------------------------- training

    def _prepare(self, data: TrainingData, seed: int) -> None:
        check_choice("decoding", self.decoding, ("auto", *_DECODINGS))
        check_choice("strategy", self.strategy, STRATEGIES)
        flat = data.inputs.reshape(len(data.inputs), -1)
        choice = choose_codebook(
            self.codebook,
            self.classes_,
            estimator=self,
            n_columns=self.n_columns,
            random_state=seed,
            data=(flat, data.targets),
            verbose=self.verbose,
        )
        check_two_symbols(choice.codebook, "ECOCNetworkClassifier")
        if choice.absent_classes:
            warnings.warn(
                f"The training data have no sample of {listing(choice.absent_classes)}, which "
                "the codebook has; it will never be predicted.",
                UserWarning,
                stacklevel=3,
            )
        self.codebook_, self.codebook_reason_ = choice.codebook, choice.reason
        network = self._spec().build(network_seed(seed, 0))
        check_intervals(self.training, network)
        if not self.shared_trunk:
            _check_one_logit(network, self.inputs_.given)

    def _spec(self) -> NetworkSpec:
        if self.shared_trunk:
            n_columns = self.codebook_.n_columns
            return NetworkSpec(self.architecture, self.inputs_, n_columns, column=False)
        return NetworkSpec(self.architecture, self.inputs_)

    def _train(self, training: Training) -> tuple[TrainingRecord, ...]:
        matrix, spec, settings = self.codebook_.matrix, self._spec(), training.settings
        through_decoder = self.attack_through == "decoder"
        decoder = CodeDecoder(matrix, "normalised-linear")
        if not self.shared_trunk and not (through_decoder and self.training == "adversarial"):
            strategy = choose_strategy(self.strategy, spec.build(0), settings, self.n_jobs)
            self.networks_, records = training.columns(spec, matrix, strategy, self.n_jobs)
            return records
        objective = ColumnObjective(
            decoder.code, independent=False, decoder=decoder if through_decoder else None
        )
        self.networks_ = self._fresh_networks(settings.seed)
        return training.one("columns", self._columns(self.networks_), objective)

    def _fresh_networks(self, seed: int) -> list[nn.Sequential]:
        count = 1 if self.shared_trunk else self.codebook_.n_columns
        return [self._spec().build(network_seed(seed, column)) for column in range(count)]

    def _columns(self, networks: list[nn.Sequential], *, stacked: bool = False) -> nn.Module:
        if self.shared_trunk:
            return networks[0]
        if stacked:
            return StackedNetworks(networks).eval().requires_grad_(False)
        return ColumnEnsemble(networks)

    def _networks(self) -> list[nn.Sequential]:
        return self.networks_

    def _rebuild(self) -> None:
        """Networks without weights, to be filled from a file."""
        self.networks_ = self._fresh_networks(0)

    def _identity(self) -> dict[str, Any]:
        matrix = self.codebook_.matrix
        together = self.strategy == "stacked"
        return {
            "codebook": hashlib.sha256(f"{matrix.shape}".encode() + matrix.tobytes()).hexdigest(),
            "shared_trunk": self.shared_trunk,
            "stacked": together,
            "decoding": self.decoding_,
        }

    @classmethod
    def from_columns(
        cls,
        columns: nn.Module | Sequence[nn.Module],
        codebook: Codebook,
        input_shape: tuple[int, ...],
        *,
        classes: npt.ArrayLike | None = None,
        decoding: str = "auto",
    ) -> ECOCNetworkClassifier:
        """A fitted classifier from networks that were trained elsewhere.

        Parameters
        ----------
        columns : nn.Module or sequence of nn.Module
            One network with an output for each column, or a network with one output for each.
            They are used as they are, in evaluation mode, and take inputs as they come.
        codebook : Codebook
            What they were trained for: a positive output means the +1 side of its column.
        input_shape : tuple of int
            The shape of one input.
        classes : array-like of shape (n_classes,), optional
            The labels of the codebook's rows, sorted; 0, 1, 2 and so on by default.
        decoding : str, default="auto"
            As for the class.

        Examples
        --------
        >>> from ecoc.codes import one_vs_rest
        >>> trained = nn.Sequential(nn.Linear(4, 3))
        >>> model = ECOCNetworkClassifier.from_columns(trained, one_vs_rest(3), (4,))
        >>> model.predict(np.zeros((2, 4))).shape
        (2,)
        """
        check_two_symbols(codebook, cls.__name__)
        shared = isinstance(columns, nn.Module)
        given = [columns] if isinstance(columns, nn.Module) else list(columns)
        networks = [
            nn.Sequential(*(each if isinstance(each, nn.Sequential) else [each])) for each in given
        ]
        labels = np.arange(codebook.n_classes) if classes is None else np.asarray(classes)
        if labels.shape != (codebook.n_classes,) or (labels[:-1] >= labels[1:]).any():
            raise InvalidInputError(
                f"classes must be the {codebook.n_classes} labels of the codebook's rows, sorted "
                "and all different."
            )
        check_choice("decoding", decoding, ("auto", *_DECODINGS))
        model = cls(
            codebook, architecture=lambda *_: networks[0], shared_trunk=shared, decoding=decoding
        )
        shape = tuple(check_int("input_shape", size, minimum=1) for size in input_shape)
        model.inputs_, model.classes_ = InputFormat(shape, shape), labels
        model.codebook_, model.codebook_reason_ = codebook, "the codebook that was given"
        model.networks_ = [network.eval().requires_grad_(False) for network in networks]
        outputs = model._columns(networks)(torch.zeros(2, *shape))
        if outputs.shape != (2, codebook.n_columns):
            raise InvalidInputError(
                f"columns must give {codebook.n_columns} outputs for each sample, as many as the "
                f"codebook has columns, not an array of shape {tuple(outputs.shape)} for 2."
            )
        model.records_ = ()
        return model

    # ------------------------------------------------------------ prediction

    def column_module(self, *, stacked: bool = False) -> nn.Module:
        """The logits of the columns as a torch module, (n_samples, n_columns).

        Parameters
        ----------
        stacked : bool, default=False
            As one stacked network, which is quicker on a GPU, instead of one after the other.
        """
        return self._columns(self._copies(), stacked=stacked).eval()

    def as_module(self, output: str | None = None, *, stacked: bool = False) -> nn.Module:
        """The whole model as a torch module: inputs in the scale of X to scores of classes.

        It is a copy in evaluation mode, for attacks, certificates and other tools.

        Parameters
        ----------
        output : str, optional
            The form of the scores, one of :data:`OUTPUTS`, see :class:`CodeDecoder`; by
            default `decoding_`, which is the one that predicts.
        stacked : bool, default=False
            As for :meth:`column_module`.
        """
        return self._assembled(self._copies(), output, stacked=stacked)

    def _assembled(
        self, networks: list[nn.Sequential], output: str | None, *, stacked: bool = False
    ) -> nn.Module:
        columns = self._columns(networks, stacked=stacked)
        decoder = CodeDecoder(self.codebook_, self.decoding_ if output is None else output)
        return nn.Sequential(columns, decoder).eval()

    def column_scores(self, X: Any) -> Floats:
        """The logits of all columns: positive on the +1 side."""
        check_is_fitted(self, "records_")
        return self._evaluate(self._columns(self._networks()), X)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, coupled from those of the columns.

        Their order can differ from that of the scores, see
        :class:`ecoc.multiclass.decoders.Coupling`.
        """
        logits = self.column_scores(X)
        return couple((np.tanh(logits / 2) + 1) / 2, self.codebook_.matrix)

    def margin(self, X: Any) -> npt.NDArray[np.int64]:
        """How many columns may change sides before Hamming decoding can change its mind."""
        matrix = self.codebook_.matrix
        logits = self.column_scores(X)
        rows = self.decision_function(X).argmax(axis=1)
        return hamming_margin(logits, matrix, rows)

    def outlier_score(self, X: Any) -> Floats:
        """How badly the columns fit the codeword that they fit best: large for foreign samples.

        The least mean logistic loss to a codeword. No defence against somebody who aims at it.
        """
        check_is_fitted(self, "records_")
        module = self._assembled(self._networks(), "normalised-logistic")
        best: Floats = self._evaluate(module, X).max(axis=1)
        return -best

    def _least_losses(self, scores: Floats) -> Floats:
        decoder = CodeDecoder(self.codebook_, "normalised-logistic").double()
        best: Floats = decoder(torch.from_numpy(scores).double()).amax(dim=1).numpy()
        return -best

    @property
    def decoding_(self) -> str:
        """The name of the decoder that predicts."""
        return self._auto_decoding if self.decoding == "auto" else self.decoding

    @property
    def decoder_(self) -> Decoder:
        """The decoder of :mod:`ecoc.multiclass` that decides alike."""
        return make_decoder(self.decoding_, self.codebook_, "decision_function")

    @property
    def code_book_(self) -> npt.NDArray[np.int8]:
        """The matrix of the codebook."""
        check_is_fitted(self, "records_")
        return self.codebook_.matrix


def _check_one_logit(network: nn.Module, shape: tuple[int, ...]) -> None:
    outputs = network.eval()(torch.zeros(2, *shape))
    if tuple(outputs.shape) != (2, 1):
        raise InvalidInputError(
            "A network of a column must return one output for each sample, of shape (n, 1), not "
            f"{tuple(outputs.shape)}."
        )


class MulticlassTwin(ECOCNetworkClassifier):
    """The same networks and the same codebook, trained end to end as one classifier.

    This is the paper's control for capacity: the networks of all columns are combined by the
    decoder before training, and trained together with cross-entropy of the classes. What the
    twin lacks in comparison is not capacity but independent columns.

    The parameters are those of :class:`ECOCNetworkClassifier`. `decoding` is the form that
    is trained and predicts: ``"soft"`` (sums of equation 20, as the paper's text says, and as
    ``"auto"`` takes), ``"normalised-linear"`` (as its code does) or ``"normalised-logistic"``.
    `strategy` and `attack_through` make no difference, and `shared_trunk` is a codebook as the
    last layer of one network.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> twin = MulticlassTwin(architecture="mlp", epochs=3, batch_size=32, random_state=0)
    >>> twin.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85
    True
    """

    _auto_decoding = "soft"

    def _prepare(self, data: TrainingData, seed: int) -> None:
        super()._prepare(data, seed)
        if self.decoding_ == "hamming":
            raise InvalidInputError("decoding='hamming' has no gradient to train the twin by.")
        if self.training == "ibp":
            raise InvalidInputError(
                "training='ibp' is for columns and for NetworkClassifier, not for the twin."
            )

    def _decoder(self) -> CodeDecoder:
        # Means of equation 20 lie between 0 and 1, which a softmax cannot make much of.
        return CodeDecoder(self.codebook_, self.decoding_, normalise=not self.codebook_.is_binary)

    def _train(self, training: Training) -> tuple[TrainingRecord, ...]:
        self.networks_ = self._fresh_networks(training.settings.seed)
        return training.one("twin", self._columns(self.networks_), ClassObjective(self._decoder()))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, by softmax of what was trained."""
        check_is_fitted(self, "records_")
        module = nn.Sequential(self._columns(self._networks()), self._decoder())
        return softmax(self._evaluate(module, X))
