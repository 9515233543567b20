"""Neural columns: a network for each column of a codebook, and a decoder with gradients."""

# ruff: noqa: E402  # torch has to be there first
from ecoc._checks import require

require("torch", extra="nn")

from ecoc.nn.classifier import ECOCNetworkClassifier, MulticlassTwin
from ecoc.nn.decoder import OUTPUTS, CodeDecoder
from ecoc.nn.files import load_model
from ecoc.nn.network import NetworkClassifier
from ecoc.nn.networks.architectures import (
    ARCHITECTURES,
    ColumnEnsemble,
    InputScaling,
    LogitDifference,
    ResidualBlock,
    mlp,
    resnet18,
)
from ecoc.nn.networks.intervals import interval_bounds, supports_intervals
from ecoc.nn.networks.stacked import StackedLinear, StackedNetworks
from ecoc.nn.training.trainer import TrainingError, TrainingRecord

__all__ = [
    "ARCHITECTURES",
    "OUTPUTS",
    "CodeDecoder",
    "ColumnEnsemble",
    "ECOCNetworkClassifier",
    "InputScaling",
    "LogitDifference",
    "MulticlassTwin",
    "NetworkClassifier",
    "ResidualBlock",
    "StackedLinear",
    "StackedNetworks",
    "TrainingError",
    "TrainingRecord",
    "interval_bounds",
    "load_model",
    "mlp",
    "resnet18",
    "supports_intervals",
]
