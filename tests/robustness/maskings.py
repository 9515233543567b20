"""Ways to hide the gradients of a network that leave its decisions nearly as they are."""

import torch
from tests.robustness.networks import ordinary
from torch import nn


class OtherBackward(torch.autograd.Function):
    """Does nothing on the way forward, and something else on the way back."""

    @staticmethod
    def forward(ctx, values, change):
        ctx.change = change
        return values.clone()

    @staticmethod
    def backward(ctx, gradient):
        return ctx.change(gradient), None


class Masked(nn.Module):
    """The ordinary network with something done to its inputs or its outputs."""

    def __init__(self, before=lambda x: x, after=lambda z: z):
        super().__init__()
        self.network, self.before, self.after = ordinary(), before, after

    def forward(self, inputs):
        return self.after(self.network(self.before(inputs)))


class Layer(nn.Module):
    """A layer that does something without weights."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, inputs):
        return self.function(inputs)


class Sealed(Masked):
    """The same without layers that could be asked by themselves."""

    def forward(self, inputs):
        first, second = self.network[0], self.network[2]
        hidden = torch.relu(self.before(inputs) @ first.weight.T + first.bias)
        return self.after(hidden @ second.weight.T + second.bias)


class Closed(Masked):
    """The same without gradients of any layer."""

    def forward(self, inputs):
        with torch.no_grad():
            return super().forward(inputs)


def shattered(inputs):
    return inputs + 0.003 * torch.sin(3000 * inputs)


OUTPUTS = {
    "logits rounded to 1/2": lambda z: (2 * z).round() / 2,
    "probabilities rounded": lambda z: (100 * z.softmax(dim=1)).round() / 100,
    "softmax(20 z)": lambda z: (20 * z).softmax(dim=1),
    "negated gradients": lambda z: OtherBackward.apply(z, torch.neg),
    "random gradients": lambda z: OtherBackward.apply(z, torch.randn_like),
    "clamp(z, 3)": lambda z: z.clamp(-3, 3),
    "z + .3 sin(1000 z)": lambda z: z + 0.3 * torch.sin(1000 * z),
    "detached": torch.Tensor.detach,
    "ranks": lambda z: z.argsort(dim=1).argsort(dim=1).to(z.dtype),
    "gradients that are not finite": lambda z: OtherBackward.apply(z, lambda g: g / 0),
}
