import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.errors import InvalidInputError
from ecoc.robustness.corruptions import CORRUPTIONS, SEVERITIES, corrupt


def digit():
    """A bright seven on black."""
    image = np.zeros((28, 28))
    image[5:8, 8:20] = image[5:24, 17:20] = 0.8
    return image


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_severities_go_further_and_further(kind):
    images = digit()[None]
    changes = [np.abs(corrupt(images, kind, s) - images).mean() for s in SEVERITIES]
    assert changes[0] > 0
    assert changes == sorted(changes)


@given(st.sampled_from(CORRUPTIONS), st.sampled_from(SEVERITIES), st.integers(0, 10**6))
def test_images_stay_images(kind, severity, seed):
    rng = np.random.default_rng(seed)
    low, high = (-1.0, 2.0) if seed % 2 else (0.0, 1.0)
    images = (low + (high - low) * rng.random((3, 2, 9, 11))).astype(np.float32)
    before = images.copy()
    made = corrupt(images, kind, severity, box=(low, high))
    assert np.array_equal(images, before)
    assert made.shape == images.shape
    assert made.dtype == np.float32
    assert np.isfinite(made).all()
    assert low <= made.min() <= made.max() <= high
    # What becomes of an image depends on it and the seed alone.
    again = corrupt(images[::-1], kind, severity, box=(low, high))[::-1]
    assert np.array_equal(made, again)


def test_boxes_are_a_matter_of_units():
    images = np.random.default_rng(0).random((2, 8, 8))
    for kind in ("contrast", "brightness", "gaussian-blur"):
        scaled = corrupt(16 * images, kind, 4, box=(0, 16))
        assert scaled == pytest.approx(16 * corrupt(images, kind, 4), abs=1e-12)


def test_seeds_and_images_draw_other_noise():
    images = np.stack([digit(), digit() + 0.01])
    noise = corrupt(images, "gaussian-noise", 2) - images
    assert np.abs(noise[0] - noise[1]).max() > 0.1
    other = corrupt(images, "gaussian-noise", 2, seed=1)
    assert np.abs(other - images - noise).max() > 0.1


def test_geometry_is_what_its_name_says():
    image = np.zeros((1, 21, 21))
    image[0, 10, 4:17] = 1
    turned = corrupt(image, "rotation", 5)[0]
    down, across = np.nonzero(turned > 0.3)
    slope = np.polyfit(across, down, 1)[0]
    assert abs(slope) == pytest.approx(np.tan(np.deg2rad(50)), rel=0.15)
    moved = corrupt(image, "translation", 3)[0]
    assert moved.sum() == pytest.approx(13)
    assert not np.array_equal(moved, image[0])
    covered = corrupt(image, "occlusion", 2)[0]
    assert (covered == 0.5).sum() == 16


def test_wrong_arguments_are_refused():
    images = digit()[None]
    with pytest.raises(InvalidInputError, match="kind must be one of"):
        corrupt(images, "rain", 1)
    with pytest.raises(InvalidInputError, match="severity"):
        corrupt(images, "fog", 6)
    with pytest.raises(InvalidInputError, match="need images"):
        corrupt(images.reshape(1, -1), "fog", 1)
    with pytest.raises(InvalidInputError, match="box must be two finite"):
        corrupt(images, "fog", 1, box=(0.0, np.inf))
