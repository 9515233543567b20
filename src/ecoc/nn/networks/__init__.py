"""Networks that a column can have, many of them as one, and intervals carried through them."""

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

__all__ = [
    "ARCHITECTURES",
    "ColumnEnsemble",
    "InputScaling",
    "LogitDifference",
    "ResidualBlock",
    "StackedLinear",
    "StackedNetworks",
    "interval_bounds",
    "mlp",
    "resnet18",
    "supports_intervals",
]
