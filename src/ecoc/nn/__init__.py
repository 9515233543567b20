"""Neural columns: a network for each column of a codebook, and a decoder with gradients."""

# ruff: noqa: E402  # torch has to be there first
from ecoc._checks import require

require("torch", extra="nn")

from ecoc.nn.classifier import ECOCNetworkClassifier, MulticlassTwin
from ecoc.nn.decoder import OUTPUTS, CodeDecoder, CodeLoss
from ecoc.nn.files import load_model
from ecoc.nn.network import NetworkClassifier
from ecoc.nn.training.trainer import TrainingError, TrainingRecord

__all__ = [
    "OUTPUTS",
    "CodeDecoder",
    "CodeLoss",
    "ECOCNetworkClassifier",
    "MulticlassTwin",
    "NetworkClassifier",
    "TrainingError",
    "TrainingRecord",
    "load_model",
]
