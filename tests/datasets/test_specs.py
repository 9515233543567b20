# X is what scikit-learn calls it
from ecoc.datasets import DATASETS
from ecoc.datasets._specs import CIFAR10_WHOLE, SPECS


def test_every_stated_count_is_consistent():
    assert set(DATASETS) == {*SPECS, "digits", "toy"}
    for spec in (*SPECS.values(), CIFAR10_WHOLE):
        assert not spec.features or len(spec.features) == spec.n_features
        assert spec.n_train is None or spec.n_train < spec.n_samples
        assert set(spec.counts) & set(spec.other_labels) <= set(spec.other_labels.values())
    assert SPECS["mnist"].n_samples == 70000
    assert SPECS["pendigits"].n_samples == 10992
    assert SPECS["soybean"].n_samples == 683
