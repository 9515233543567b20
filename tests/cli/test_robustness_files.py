import numpy as np
import pytest

pytest.importorskip("torch")

from ecoc.cli.robustness import read_model_with_samples
from ecoc.codes import one_vs_rest
from ecoc.datasets import load_dataset
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.nn import ECOCNetworkClassifier


def test_other_files_are_no_models():
    with pytest.raises(InvalidInputError, match=r"must be a .skops file .* not 'model.pkl'"):
        read_model_with_samples("model.pkl", "digits")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    digits = load_dataset("digits")
    images = (digits.images[:100, None] / 16).astype(np.float32)
    path = tmp_path_factory.mktemp("model") / "digits.safetensors"
    model = ECOCNetworkClassifier(one_vs_rest(10), architecture="mlp", epochs=1, random_state=0)
    model.fit(images, digits.y[:100]).save(path)
    return str(path)


def test_samples_of_a_data_set_are_scaled_to_the_range_of_the_network(network):
    everything = read_model_with_samples(network, "digits")
    assert everything.X.shape == (1797, 1, 8, 8)
    assert everything.box == (0, 1)
    assert (everything.X.min(), everything.X.max()) == (0, 1)
    some = read_model_with_samples(network, "digits", n_samples=20, random_state=1)
    again = read_model_with_samples(network, "digits", n_samples=20, random_state=1)
    assert len(some.X) == len(some.y) == 20
    assert np.array_equal(some.X, again.X)


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"X": np.ones((2, 64))}, "must have the arrays X and y"),
        ({"X": np.ones((2, 64)), "y": np.ones(3)}, "a sample for each label"),
        ({"X": np.full((2, 64), np.nan), "y": np.ones(2)}, "finite numbers"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(network, tmp_path, arrays, told):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, **arrays)
    with pytest.raises(FileFormatError, match=told):
        read_model_with_samples(network, str(path))
    np.savez_compressed(path, X=np.ones((2, 63)), y=np.ones(2))
    with pytest.raises(InvalidInputError, match="the 64 values that the network takes, not 63"):
        read_model_with_samples(network, str(path))
