# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.nn.cases import digits

from ecoc.errors import InvalidInputError
from ecoc.nn.training.trainer import (
    Batches,
    TrainingData,
    TrainingSettings,
    as_inputs,
    find_range,
    split_rows,
)

CPU = torch.device("cpu")


def batches(n_samples=50, fraction=0.0, **settings):
    X, y = digits(n_samples=n_samples)
    data = TrainingData(X, y, *split_rows(y, fraction, 0))
    return Batches(data, TrainingSettings(**settings), CPU)


@given(n_samples=st.integers(1, 60), size=st.integers(1, 70))
def test_an_epoch_shows_every_sample_once_in_batches_of_nearly_one_size(n_samples, size):
    found = batches(n_samples, batch_size=size)
    parts = list(found.epoch(0))
    assert len(parts) == found.per_epoch
    sizes = [len(part.targets) for part in parts]
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    seen = torch.cat([part.inputs for part in parts]).flatten(1)
    expected = torch.from_numpy(digits(n_samples=n_samples)[0]).flatten(1)
    assert sorted(map(tuple, seen.tolist())) == sorted(map(tuple, expected.tolist()))


def test_the_order_depends_on_seed_and_epoch_alone():
    def order(seed, epoch):
        found = batches(seed=seed, batch_size=8).epoch(epoch)
        return torch.cat([part.targets for part in found]).tolist()

    assert order(0, 1) == order(0, 1)
    assert order(0, 1) != order(0, 2)
    assert order(0, 1) != order(1, 1)


def test_inputs_and_targets_stay_together():
    X, y = digits()
    label = {image.tobytes(): target for image, target in zip(X, y.tolist(), strict=True)}
    for part in batches(100, fraction=0.3, batch_size=16).epoch(3):
        for image, target in zip(part.inputs.numpy(), part.targets.tolist(), strict=True):
            assert label[image.tobytes()] == target


def test_noise_is_there_for_attacks_only_and_augmentation_is_seeded():
    assert next(batches().epoch(0)).noise is None
    (first, again) = (next(batches(training="adversarial").epoch(0)).noise for _ in range(2))
    assert torch.equal(first, again)
    assert first.min() >= -1
    assert first.max() <= 1

    def noisy(batch, generator):
        return batch + torch.rand(batch.shape, generator=generator)

    one, other = (next(batches(augment=noisy).epoch(0)).inputs for _ in range(2))
    assert torch.equal(one, other)
    assert not torch.equal(one, next(batches().epoch(0)).inputs)
    assert torch.equal(  # what networks are judged by is never augmented
        next(batches(augment=noisy, fraction=0.5).validation()).inputs,
        next(batches(fraction=0.5).validation()).inputs,
    )


@given(counts=st.lists(st.integers(1, 12), min_size=1, max_size=5), fraction=st.floats(0.05, 0.9))
def test_every_class_is_in_training_and_in_validation_if_it_can(counts, fraction):
    targets = np.repeat(np.arange(len(counts)), counts)
    training, validation = split_rows(targets, fraction, 1)
    assert sorted([*training, *validation]) == list(range(len(targets)))
    for target, count in enumerate(counts):
        held_out = int((targets[validation] == target).sum())
        assert held_out == min(max(round(fraction * count), 1), count - 1)


def test_without_a_fraction_everything_is_for_training():
    training, validation = split_rows(np.array([0, 1, 1]), 0.0, 0)
    assert training.tolist() == [0, 1, 2]
    assert len(validation) == 0


def test_ranges():
    values = np.float32([[0.25, 0.5]])
    assert find_range(values, None) == (0.0, 1.0)
    assert find_range(values * 8 - 3, None) == (-1.0, 1.0)
    assert find_range(values, (-1, 2)) == (-1.0, 2.0)
    assert find_range(np.float32([[5, 5]]), None) == (5.0, 6.0)
    with pytest.raises(InvalidInputError, match=r"X goes from 0\.25 to 0\.5"):
        find_range(values, (0.3, 1))


def test_inputs_become_float32_arrays():
    found = as_inputs([[0, 1], [2, 3]])
    assert found.dtype == np.float32
    assert as_inputs(torch.ones(1, 2, requires_grad=True)).tolist() == [[1.0, 1.0]]
    with pytest.raises(InvalidInputError, match="X must have shape"):
        as_inputs(np.zeros((0, 3)))
