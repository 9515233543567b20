"""``MulticlassTwin``: the networks of a codebook, trained end to end as one classifier."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted
from torch import nn

from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders.learned import softmax
from ecoc.nn.base import Floats
from ecoc.nn.classifier import ECOCNetworkClassifier
from ecoc.nn.data import TrainingData
from ecoc.nn.decoder import CodeDecoder
from ecoc.nn.objectives import ClassObjective
from ecoc.nn.strategies import Training
from ecoc.nn.trainer import TrainingRecord

__all__ = ["MulticlassTwin"]


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
