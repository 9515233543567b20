"""ResNet-18 in its form for small images (He et al. 2016; 3x3 stem, no first pooling)."""

from __future__ import annotations

from torch import Tensor, nn

__all__ = ["ResidualBlock", "resnet18"]

_WIDTHS = (64, 128, 256, 512)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut.

    Examples
    --------
    >>> import torch
    >>> ResidualBlock(4, 8, stride=2)(torch.zeros(1, 4, 6, 6)).shape
    torch.Size([1, 8, 3, 3])
    """

    def __init__(self, n_inputs: int, n_outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(n_inputs, n_outputs, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(n_outputs),
            nn.ReLU(),
            nn.Conv2d(n_outputs, n_outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(n_outputs),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or n_inputs != n_outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(n_inputs, n_outputs, 1, stride=stride, bias=False),
                nn.BatchNorm2d(n_outputs),
            )
        self.activation = nn.ReLU()

    def forward(self, inputs: Tensor) -> Tensor:
        """Body plus shortcut."""
        result: Tensor = self.activation(self.body(inputs) + self.shortcut(inputs))
        return result


def resnet18(
    input_shape: tuple[int, ...], n_outputs: int, widths: tuple[int, ...] = _WIDTHS
) -> nn.Sequential:
    """ResNet-18 for images such as those of CIFAR-10.

    Parameters
    ----------
    input_shape : tuple of int
        Channels, height and width.
    n_outputs : int
        Units of the last layer.
    widths : tuple of int, default=(64, 128, 256, 512)
        Channels of the stages, of two blocks each.

    Examples
    --------
    >>> sum(p.numel() for p in resnet18((3, 32, 32), 2).parameters())
    11169858
    """
    layers: list[nn.Module] = [
        nn.Conv2d(input_shape[0], widths[0], 3, padding=1, bias=False),
        nn.BatchNorm2d(widths[0]),
        nn.ReLU(),
    ]
    before = widths[0]
    for stage, width in enumerate(widths):
        layers.append(ResidualBlock(before, width, stride=1 if stage == 0 else 2))
        layers.append(ResidualBlock(width, width, stride=1))
        before = width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, n_outputs)]
    return nn.Sequential(*layers)
