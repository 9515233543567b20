# ruff: noqa: N806  # X is what scikit-learn calls it
"""Small data, small networks and small codes for the tests of this room."""

from functools import lru_cache

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

from ecoc.nn.networks import resnet18

TERNARY = np.array([[1, 1, 0], [1, -1, 1], [-1, 0, -1], [-1, 1, 1]], dtype=np.int8)
"""Four classes, and two columns that leave one of them out."""


@lru_cache
def digits(n_classes=4, n_samples=160, flat=False):
    """The first samples of some digits, with values from 0 to 1."""
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(y < n_classes)[:n_samples]
    images = (X[rows] / 16).astype(np.float32)
    return images if flat else images.reshape(-1, 1, 8, 8), y[rows]


def tiny_cnn(input_shape, n_outputs):
    """A network with every kind of layer that the others have, and few weights."""
    channels, height, width = input_shape
    return nn.Sequential(
        nn.Conv2d(channels, 3, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(3 * (height // 4) * (width // 4), n_outputs),
    )


def tiny_mlp(input_shape, n_outputs):
    return nn.Sequential(
        nn.Flatten(), nn.Linear(int(np.prod(input_shape)), 6), nn.ReLU(), nn.Linear(6, n_outputs)
    )


def normalised_cnn(input_shape, n_outputs):
    """With batch normalisation and a branch, as in a residual network."""
    return resnet18(input_shape, n_outputs, widths=(2, 3))


def weights(model):
    """All weights of a model, one after the other."""
    return torch.cat(
        [value.double().flatten() for net in model.networks_ for value in net.state_dict().values()]
    )


LEARNING = {
    "architecture": tiny_mlp,
    "epochs": 12,
    "batch_size": 16,
    "learning_rate": 0.01,
    "random_state": 0,
}
