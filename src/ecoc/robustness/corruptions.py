"""Corruptions of images: noise, blur, geometry, light and things in front, in five severities."""

# ruff: noqa: N803  # X is what scikit-learn calls it

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError

__all__ = ["CORRUPTIONS", "SEVERITIES", "corrupt"]

SEVERITIES = (1, 2, 3, 4, 5)
"""How strong a corruption can be."""

_Corruption: TypeAlias = Callable[[Floats, int, np.random.Generator], Floats]
"""From an image (channels x height x width, 0 to 1), a severity from 0 on and randomness."""


def _gaussian_noise(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    return image + (0.1, 0.2, 0.3, 0.4, 0.5)[place] * rng.standard_normal(image.shape)


def _shot_noise(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    photons = (40, 20, 10, 5, 3)[place]
    return rng.poisson(np.clip(image, 0, 1) * photons) / photons


def _impulse_noise(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    drawn, colour = rng.random(image.shape[1:]), rng.integers(2, size=image.shape[1:])
    return np.where(drawn < (0.02, 0.05, 0.1, 0.15, 0.2)[place], colour, image)


def _gaussian_blur(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    from scipy.ndimage import gaussian_filter

    del rng
    width = (0.02, 0.035, 0.05, 0.07, 0.09)[place] * min(image.shape[1:])
    blurred: Floats = gaussian_filter(image, (0, width, width))
    return blurred


def _motion_blur(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    from scipy.ndimage import convolve

    reach = max(1, round((0.05, 0.08, 0.11, 0.14, 0.18)[place] * min(image.shape[1:])))
    angle = rng.uniform(0, np.pi)
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
    along = np.linspace(-reach, reach, 4 * reach + 1)
    down, across = (np.rint(reach + along * f(angle)).astype(int) for f in (np.sin, np.cos))
    kernel[down, across] = 1
    blurred: Floats = convolve(image, kernel[None] / kernel.sum(), mode="nearest")
    return blurred


def _moved(image: Floats, matrix: Floats, shift: tuple[float, float] = (0.0, 0.0)) -> Floats:
    """The image read at places that a matrix and a shift of the middle say."""
    from scipy.ndimage import affine_transform

    middle = (np.array(image.shape[1:]) - 1) / 2
    offset = middle - matrix @ middle - np.array(shift)
    return np.stack([affine_transform(part, matrix, offset, order=1) for part in image])


def _rotation(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    angle = np.deg2rad((10, 20, 30, 40, 50)[place]) * rng.choice((-1, 1))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return _moved(image, turn)


def _shear(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    slope = (0.15, 0.3, 0.45, 0.6, 0.75)[place] * rng.choice((-1, 1))
    return _moved(image, np.array([[1.0, 0.0], [slope, 1.0]]))


def _scaling(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    factor = (1.15, 1.3, 1.45, 1.6, 1.75)[place]
    return _moved(image, np.eye(2) * (factor if rng.random() < 0.5 else 1 / factor))


def _translation(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    angle = rng.uniform(0, 2 * np.pi)
    reach = (0.06, 0.1, 0.14, 0.18, 0.22)[place] * np.array(image.shape[1:])
    down, across = np.rint(reach * (np.sin(angle), np.cos(angle)))
    return _moved(image, np.eye(2), (down, across))


def _brightness(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    del rng
    return image + (0.1, 0.2, 0.3, 0.4, 0.5)[place]


def _contrast(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    del rng
    mean = float(image.mean())
    return mean + (0.6, 0.45, 0.3, 0.2, 0.12)[place] * (image - mean)


def _fog(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    from scipy.ndimage import gaussian_filter

    width = 0.15 * min(image.shape[1:])
    fog: Floats = gaussian_filter(rng.standard_normal(image.shape[1:]), width, mode="wrap")
    fog = (fog - fog.min()) / max(float(np.ptp(fog)), 1e-12)
    share = (0.2, 0.3, 0.4, 0.5, 0.6)[place]
    return (1 - share) * image + share * fog


def _stripe(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    """A band across the image in which light and dark are exchanged."""
    angle = rng.uniform(0, np.pi)
    down, across = np.indices(image.shape[1:])
    middle = (np.array(image.shape[1:]) - 1) / 2
    away = np.sin(angle) * (down - middle[0]) + np.cos(angle) * (across - middle[1])
    width = (0.04, 0.08, 0.12, 0.16, 0.2)[place] * min(image.shape[1:])
    return np.where(np.abs(away) <= width / 2, 1 - image, image)


def _occlusion(image: Floats, place: int, rng: np.random.Generator) -> Floats:
    """A grey square."""
    height, width = image.shape[1:]
    side = max(1, round((0.15, 0.2, 0.25, 0.3, 0.35)[place] * min(height, width)))
    down = int(rng.uniform() * (height - side + 1))
    across = int(rng.uniform() * (width - side + 1))
    covered = image.copy()
    covered[:, down : down + side, across : across + side] = 0.5
    return covered


_BY_NAME: dict[str, _Corruption] = {
    "gaussian-noise": _gaussian_noise,
    "shot-noise": _shot_noise,
    "impulse-noise": _impulse_noise,
    "gaussian-blur": _gaussian_blur,
    "motion-blur": _motion_blur,
    "rotation": _rotation,
    "shear": _shear,
    "scaling": _scaling,
    "translation": _translation,
    "brightness": _brightness,
    "contrast": _contrast,
    "fog": _fog,
    "stripe": _stripe,
    "occlusion": _occlusion,
}

CORRUPTIONS = tuple(_BY_NAME)
"""The names of corruptions, after MNIST-C (Mu & Gilmer 2019)."""


def corrupt(
    X: npt.ArrayLike,
    kind: str,
    severity: int,
    *,
    box: tuple[float, float] = (0.0, 1.0),
    seed: int = 0,
) -> npt.NDArray[Any]:
    """Corrupt images.

    What is random about it, such as noise or the side to which an image is turned, depends on
    the image, the kind and the seed alone: the same image is always corrupted in the same way,
    wherever it stands, and more so with a larger severity.

    Parameters
    ----------
    X : array of shape (n_samples, height, width) or (n_samples, channels, height, width)
        The images.
    kind : str
        One of :data:`CORRUPTIONS`.
    severity : int
        From 1 to 5.
    box : pair of float, default=(0.0, 1.0)
        The least and the largest value of a pixel.
    seed : int, default=0
        Another seed draws other noise.

    Returns
    -------
    array
        Of the shape of X; floats, of its dtype if it has floats.

    Examples
    --------
    >>> images = np.zeros((1, 4, 4))
    >>> images[0, 1:3, 1:3] = 1
    >>> corrupt(images, "brightness", 3)[0, 1]
    array([0.3, 1. , 1. , 0.3])
    >>> len(CORRUPTIONS)
    14
    """
    check_choice("kind", kind, CORRUPTIONS)
    check_int("severity", severity, minimum=1, maximum=len(SEVERITIES))
    check_int("seed", seed, minimum=0)
    images = np.asarray(X)
    if images.dtype.kind != "f":
        images = images.astype(np.float64)
    if images.ndim not in {3, 4}:
        raise InvalidInputError(
            "Corruptions need images, X of shape (n_samples, height, width) or (n_samples, "
            f"channels, height, width), not {images.shape}."
        )
    low, high = (float(limit) for limit in box)
    if not (np.isfinite([low, high]).all() and low < high):
        raise InvalidInputError(f"box must be two finite numbers, the smaller first, not {box!r}.")
    number = CORRUPTIONS.index(kind)
    result = np.empty_like(images)
    for place, image in enumerate(images):
        own = zlib.crc32(np.ascontiguousarray(image, dtype=np.float64).tobytes())
        scaled = (image.astype(np.float64) - low) / (high - low)
        shown = scaled if image.ndim == 3 else scaled[None]
        rng = np.random.default_rng([seed, number, own])
        changed = _BY_NAME[kind](shown, severity - 1, rng).reshape(image.shape)
        result[place] = low + (high - low) * np.clip(changed, 0, 1)
    clipped: npt.NDArray[Any] = np.clip(result, low, high)
    return clipped
