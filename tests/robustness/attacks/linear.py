"""Linear classifiers, whose best attack is known."""

import numpy as np
import torch
from torch import nn


def linear_case(n_classes, seed=0, n_features=8, n=200):
    """A linear model in float64, samples in the box, and what the model takes them for."""
    rng = np.random.default_rng(seed)
    layer = nn.Linear(n_features, n_classes, dtype=torch.float64)
    layer.weight.data = torch.tensor(rng.normal(size=(n_classes, n_features)))
    # No class is preferred in the middle of the box.
    layer.bias.data = -layer.weight.data.sum(1) / 2
    x = torch.tensor(rng.random((n, n_features)))
    y = layer(x).argmax(1)
    return layer, x, y


def best_margins(layer, x, y, epsilon, norm, *, box):
    """The largest lead of a wrong class that is possible in the ball and the box.

    Exact for l_inf, feature by feature, and for l_2 without a box. For l_1 the steepest features
    go as far as the box lets them until the radius is used up, l_0 takes the features that gain
    the most, and a patch the window that does.
    """
    weights, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    points, labels = x.numpy(), y.numpy()
    low, high = (-np.inf, np.inf) if box is None else box
    leads = np.full((len(points), len(weights)), -np.inf)
    for i, (point, label) in enumerate(zip(points, labels, strict=True)):
        for other in set(range(len(weights))) - {int(label)}:
            gap, shift = weights[other] - weights[label], bias[other] - bias[label]
            if norm == "linf":
                best = np.where(
                    gap > 0, np.minimum(point + epsilon, high), np.maximum(point - epsilon, low)
                )
                leads[i, other] = gap @ best + shift
            elif norm in {"l1", "l0", "patch"}:
                leads[i, other] = gap @ point + shift + _gain(gap, point, epsilon, norm)
            else:
                leads[i, other] = gap @ point + shift + epsilon * np.linalg.norm(gap)
    return leads.max(axis=1)


def _gain(gap, point, epsilon, norm):
    room = np.where(gap > 0, 1 - point, point)
    gains = np.abs(gap) * room
    if norm == "l0":
        return np.sort(gains)[::-1][:epsilon].sum()
    if norm == "patch":
        side = round(len(gap) ** 0.5)
        square, places = gains.reshape(side, side), range(side - epsilon + 1)
        return max(square[i : i + epsilon, j : j + epsilon].sum() for i in places for j in places)
    total = 0.0
    for place in np.argsort(-np.abs(gap)):
        step = min(epsilon, room[place])
        total, epsilon = total + abs(gap[place]) * step, epsilon - step
    return total


CASES = [("linf", (0.0, 1.0)), ("linf", None), ("l2", None)]
