"""Attacks that know the model they attack: what evaluations are measured by.

Written apart from ``ecoc.robustness``: of a masked network they attack the network behind the
mask, and of columns of uneven sizes they know the sizes. One plain loop of gradient steps that
get shorter, at every other class in turn, from the sample and from random points.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch


def standing(network, losses, decide, x, y, *, epsilon, norm="linf", steps=40, restarts=1, seed=0):
    """Which samples in the box [0, 1] keep their class in the ball of radius epsilon.

    Parameters
    ----------
    network : callable
        From inputs to outputs with honest gradients.
    losses : list of callable
        From outputs, labels and targets to what is made small.
    decide : callable
        From outputs to classes.
    """
    generator = torch.Generator().manual_seed(seed)
    y = torch.as_tensor(y)
    with torch.no_grad():
        outputs = network(x)
    stands = decide(outputs) == y
    n_classes = int(max(y.max(), decide(outputs).max())) + 1
    for restart in range(restarts):
        for loss in losses:
            for shift in range(1, n_classes):
                rows = torch.nonzero(stands)[:, 0]
                if not len(rows):
                    return stands.numpy()
                labels, centre = y[rows], x[rows]
                targets = (labels + shift) % n_classes
                start = torch.zeros_like(centre)
                if restart:
                    start = 2 * torch.rand(centre.shape, generator=generator).to(centre) - 1
                walk = _Walk(network, loss, decide, epsilon, norm, steps)
                fell = walk(centre, labels, targets, start)
                stands[rows[fell]] = False
    return stands.numpy()


@dataclass
class _Walk:
    network: Callable
    loss: Callable
    decide: Callable
    epsilon: float
    norm: str
    steps: int

    def __call__(self, centre, labels, targets, start):
        points = self.inside(centre + self.epsilon * start, centre)
        fell = torch.zeros(len(centre), dtype=torch.bool)
        speed = torch.zeros_like(centre)
        for step in range(self.steps):
            points = points.detach().requires_grad_()
            outputs = self.network(points)
            fell |= self.decide(outputs.detach()) != labels
            (gradient,) = torch.autograd.grad(self.loss(outputs, labels, targets).sum(), points)
            flat = gradient.flatten(1)
            # By the largest entry first: sums of squares of small gradients would be zero.
            flat = flat / flat.abs().amax(1, keepdim=True).clamp(min=torch.finfo(flat.dtype).tiny)
            if self.norm == "linf":
                flat = flat.sign()
            else:
                flat = flat / flat.norm(dim=1, keepdim=True).clamp(1e-9)
            speed = 0.6 * speed + flat.reshape(centre.shape)
            length = self.epsilon * 0.25 * (1 + np.cos(np.pi * step / self.steps))
            points = self.inside(points.detach() - length * speed, centre)
        with torch.no_grad():
            return fell | (self.decide(self.network(points)) != labels)

    def inside(self, points, centre):
        change = points - centre
        if self.norm == "linf":
            change = change.clamp(-self.epsilon, self.epsilon)
        else:
            length = change.flatten(1).norm(dim=1).clamp(min=1e-30)
            factor = (self.epsilon / length).clamp(max=1)
            change = change * factor.reshape(-1, *[1] * (centre.ndim - 1))
        return (centre + change).clamp(0, 1)


def led(outputs, labels, targets):
    """By how much a class leads its target, in the outputs themselves."""
    return (outputs.gather(1, labels[:, None]) - outputs.gather(1, targets[:, None]))[:, 0]


def largest(outputs):
    """The class with the largest output."""
    return outputs.argmax(dim=1)


def votes(matrix, sizes, sharpness):
    """A loss of columns: by how much a codeword leads in votes that are a little soft."""
    code = torch.tensor(np.asarray(matrix).tolist(), dtype=torch.float64)

    def loss(outputs, labels, targets):
        sides = (code[labels] - code[targets]).to(outputs)
        return (sides * torch.tanh(sharpness * outputs / sizes.to(outputs))).sum(dim=1)

    return loss


def fewest(matrix, sizes):
    """A loss of columns: what the cheaper half of those that tell two classes apart still needs."""
    code = torch.tensor(np.asarray(matrix).tolist(), dtype=torch.float64)

    def loss(outputs, labels, targets):
        sides = (code[labels] - code[targets]).to(outputs) / 2
        leads = torch.where(sides != 0, sides.sign() * outputs / sizes.to(outputs), torch.inf)
        order = leads.argsort(dim=1)
        weights = sides.abs().gather(1, order)
        needed = weights.cumsum(1) - weights <= weights.sum(1, keepdim=True) / 2
        costs = torch.relu(leads.gather(1, order) + 1e-3)
        return torch.where(needed & (weights > 0), costs, 0.0).sum(dim=1)

    return loss


def nearest_codeword(matrix):
    """The class whose codeword is nearest to the signs; a zero counts one half."""
    code = torch.tensor(np.asarray(matrix).tolist(), dtype=torch.float64)
    return lambda outputs: (outputs.sign().double() @ code.T).argmax(dim=1)
