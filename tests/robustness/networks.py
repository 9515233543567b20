"""Small networks that tests attack, trained once."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from functools import cache

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

from ecoc.design import design_codebook
from ecoc.multiclass.decoders import make_decoder
from ecoc.nn import CodeDecoder


@cache
def digits():
    X, y = load_digits(return_X_y=True)
    return (X / 16).astype(np.float32), y


def samples(n=60, start=1300):
    X, y = digits()
    return torch.tensor(X[start : start + n]), torch.tensor(y[start : start + n])


def trained(n_outputs, loss):
    X, y = digits()
    inputs, labels = torch.tensor(X[:1200]), torch.tensor(y[:1200])
    with torch.random.fork_rng(), torch.enable_grad():
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, n_outputs))
        optimizer = torch.optim.Adam(network.parameters(), 1e-2)
        for _ in range(12):
            for rows in torch.randperm(1200).split(100):
                optimizer.zero_grad()
                loss(network(inputs[rows]), labels[rows]).backward()
                optimizer.step()
    return network.eval()


@cache
def ordinary():
    """A network with an output for each of the ten digits."""
    return trained(10, nn.functional.cross_entropy)


@cache
def images():
    """The same for images of one channel."""
    return nn.Sequential(nn.Flatten(), ordinary())


@cache
def codebook():
    return design_codebook(10, 15, random_state=0).codebook


@cache
def columns():
    """A network with an output for each column of a codebook."""
    matrix = torch.tensor(codebook().matrix, dtype=torch.float32)
    return trained(15, lambda logits, y: nn.functional.softplus(-matrix[y] * logits).mean())


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self):
        self.now = 0

    def monotonic(self):
        self.now += 1
        return self.now


class Scaled(nn.Module):
    """A network whose last layer is multiplied: the same decisions, saturated scores."""

    def __init__(self, network, factor):
        super().__init__()
        self.network = network
        self.factor = factor

    def forward(self, inputs):
        return self.factor * self.network(inputs)


class CodeModel:
    """What the networks of ecoc.nn offer."""

    def __init__(self, factor=1.0, decoding="soft"):
        self.codebook_ = codebook()
        self.classes_ = np.array([f"digit {i}" for i in range(10)])
        self.columns = Scaled(columns(), factor)
        self.decoding_ = decoding

    @property
    def decoder_(self):
        return make_decoder(self.decoding_, self.codebook_, "decision_function")

    def column_module(self):
        return self.columns

    def as_module(self, output=None):
        return nn.Sequential(self.columns, CodeDecoder(self.codebook_, output or self.decoding_))

    def predict(self, X):
        with torch.no_grad():
            return self.classes_[self.as_module()(torch.as_tensor(X)).argmax(1).numpy()]
