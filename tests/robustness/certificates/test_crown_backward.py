import pytest
import torch
from torch import nn

from ecoc.nn.networks.architectures import InputScaling, LogitDifference
from ecoc.robustness.certificates.crown import Forms, pull_affine, pull_relu

LAYERS = [
    (nn.Linear(5, 4), (5,)),
    (nn.Linear(5, 4, bias=False), (5,)),
    (nn.Linear(5, 4), (3, 5)),
    (nn.Conv2d(2, 4, 3, stride=2, padding=1), (2, 7, 6)),
    (nn.Conv2d(2, 4, (2, 3), dilation=(1, 2), groups=2, bias=False), (2, 7, 8)),
    (nn.Conv2d(2, 3, 4, stride=3), (2, 9, 9)),
    (nn.Conv2d(2, 3, 3, padding="same"), (2, 5, 5)),
    (nn.AvgPool2d(2, ceil_mode=True), (2, 5, 5)),
    (nn.AdaptiveAvgPool2d(2), (2, 5, 5)),
    (nn.BatchNorm2d(2), (2, 3, 3)),
    (nn.Flatten(), (2, 3, 3)),
    (nn.Unflatten(1, (2, 3, 3)), (18,)),
    (InputScaling(-1, 3), (4,)),
    (LogitDifference(), (6,)),
]


@pytest.mark.parametrize(("layer", "shape"), LAYERS, ids=str)
def test_functions_keep_their_values(layer, shape):
    layer = layer.double().eval().requires_grad_(False)
    torch.manual_seed(0)
    inputs = torch.randn(3, *shape, dtype=torch.float64)
    outputs = layer(inputs)
    forms = Forms(
        torch.randn(5, *outputs.shape, dtype=torch.float64),
        torch.randn(5, 3, dtype=torch.float64),
        tuple(outputs.shape[1:]),
    )
    pulled = pull_affine(layer, forms, shape)
    assert pulled.shape == shape
    expected = (forms.coefficients * outputs).flatten(2).sum(2) + forms.constants
    found = (pulled.coefficients * inputs).flatten(2).sum(2) + pulled.constants
    assert torch.allclose(found, expected)


@pytest.mark.parametrize("place", [(0, 0), (1, 2), (3, 2)])
def test_a_window_is_as_good_as_the_whole(place):
    torch.manual_seed(1)
    layers = [nn.Conv2d(1, 2, 3, stride=2, padding=1), nn.Conv2d(2, 3, 3, padding=1)]
    layers = [layer.double().requires_grad_(False) for layer in layers]
    inputs = torch.randn(2, 1, 7, 6, dtype=torch.float64)
    middle = layers[0](inputs)
    outputs = layers[1](middle)
    unit = torch.eye(3, dtype=torch.float64)[:, None, :, None, None].expand(-1, 2, -1, 1, 1)
    constants = torch.zeros(3, 2, dtype=torch.float64)
    small = Forms(unit, constants, tuple(outputs.shape[1:]), place)
    whole = Forms(small.coefficients, constants, small.shape)
    assert whole.window.shape[2:] == outputs.shape[1:]
    for layer, shape in zip(layers[::-1], (middle.shape[1:], inputs.shape[1:]), strict=True):
        small = pull_affine(layer, small, tuple(shape))
        whole = pull_affine(layer, whole, tuple(shape))
        assert torch.allclose(small.coefficients, whole.coefficients)
        assert torch.allclose(small.constants, whole.constants)
    assert small.window.numel() < whole.window.numel()
    at = (small.window * small.cut(inputs)).flatten(2).sum(2) + small.constants
    assert torch.allclose(at, outputs[:, :, place[0], place[1]].T)


def test_relus_are_replaced_by_their_lines():
    inputs = torch.linspace(-1, 2, 31, dtype=torch.float64)[:, None]
    slope, constant = torch.full_like(inputs, 2 / 3), torch.full_like(inputs, 2 / 3)
    unit = torch.ones(1, 31, 1, dtype=torch.float64)
    zero = torch.zeros(1, 31, dtype=torch.float64)
    one = torch.ones_like(inputs)
    below = pull_relu(Forms(unit, zero, (1,)), one, slope, constant)
    above = pull_relu(Forms(-unit, zero, (1,)), one, slope, constant)
    values = inputs[:, 0].clamp(min=0)
    assert (below.window[0, :, 0] * inputs[:, 0] + below.constants[0] <= values).all()
    assert (-(above.window[0, :, 0] * inputs[:, 0] + above.constants[0]) >= values - 1e-12).all()
