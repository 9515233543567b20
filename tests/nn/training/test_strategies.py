# ruff: noqa: N806  # X is what scikit-learn calls it
import joblib
import pytest
import torch
from tests.nn.cases import TERNARY, digits, normalised_cnn, tiny_cnn, tiny_mlp, weights

from ecoc.codes import one_vs_rest
from ecoc.errors import InvalidInputError
from ecoc.nn import ECOCNetworkClassifier
from ecoc.nn.training.strategies import choose_strategy
from ecoc.nn.training.trainer import TrainingSettings

QUICK = {"epochs": 2, "learning_rate": 0.01, "batch_size": 32, "random_state": 0}
SETTINGS = {
    "plain": {},
    "augmented sgd": {
        "augment": lambda batch, generator: (
            batch + 0.1 * torch.rand(batch.shape, generator=generator)
        ),
        "optimizer": "sgd",
        "schedule": "cosine",
    },
    "early stopping": {"validation_fraction": 0.3, "patience": 1, "epochs": 4},
    "attacked": {"training": "adversarial", "attack_steps": 2},
    "intervals": {"training": "ibp", "epochs": 3},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_stacked_is_the_same_as_in_turn(name):
    X, y = digits()
    in_turn, stacked = (
        ECOCNetworkClassifier(
            TERNARY, architecture=tiny_cnn, strategy=strategy, **{**QUICK, **SETTINGS[name]}
        ).fit(X, y)
        for strategy in ("sequential", "stacked")
    )
    assert torch.allclose(weights(in_turn), weights(stacked), atol=2e-4)
    for one, other in zip(in_turn.records_, stacked.records_, strict=True):
        assert one.losses == pytest.approx(other.losses, rel=1e-3)
        assert one.validation_losses == pytest.approx(other.validation_losses, rel=1e-3)
        assert one.best_epoch == other.best_epoch


@pytest.mark.slow
def test_processes_are_the_same_as_in_turn():
    X, y = digits()
    in_turn, in_processes = (
        ECOCNetworkClassifier(
            TERNARY, architecture="mlp", strategy=strategy, n_jobs=2, **QUICK
        ).fit(X, y)
        for strategy in ("sequential", "auto")
    )
    assert torch.allclose(weights(in_turn), weights(in_processes), atol=1e-5)
    assert in_turn.predict(X).tolist() == in_processes.predict(X).tolist()


def test_a_dask_cluster_trains_the_same():
    distributed = pytest.importorskip("distributed")
    X, y = digits()
    in_turn = ECOCNetworkClassifier(TERNARY, architecture=tiny_mlp, **QUICK).fit(X, y)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        spread = ECOCNetworkClassifier(
            TERNARY, architecture=tiny_mlp, strategy="processes", **QUICK
        ).fit(X, y)
    assert torch.allclose(weights(in_turn), weights(spread), atol=1e-5)


def test_threads_are_left_as_they_were():
    before = torch.get_num_threads()
    X, y = digits()
    ECOCNetworkClassifier(
        TERNARY, architecture=tiny_mlp, strategy="processes", n_jobs=1, **QUICK
    ).fit(X, y)
    assert torch.get_num_threads() == before


def test_a_column_without_samples_in_a_batch_goes_on():
    X, y = digits()
    models = [
        ECOCNetworkClassifier(
            TERNARY, architecture=tiny_mlp, strategy=strategy, **{**QUICK, "batch_size": 1}
        ).fit(X[:12], y[:12])
        for strategy in ("sequential", "stacked")
    ]
    assert torch.allclose(weights(models[0]), weights(models[1]), atol=1e-4)


def test_normalised_networks_are_stacked_for_codes_without_zeros_only():
    X, y = digits()
    models = [
        ECOCNetworkClassifier(
            one_vs_rest(4), architecture=normalised_cnn, strategy=strategy, **QUICK
        ).fit(X, y)
        for strategy in ("sequential", "stacked")
    ]
    # Normalisation by the few samples of a batch magnifies rounding.
    assert torch.allclose(weights(models[0]), weights(models[1]), atol=1e-2)
    with pytest.raises(InvalidInputError, match="batch normalisation would mix"):
        ECOCNetworkClassifier(
            TERNARY, architecture=normalised_cnn, strategy="stacked", **QUICK
        ).fit(X, y)


def test_what_auto_means():
    network, settings = tiny_mlp((4,), 1), TrainingSettings(device="cpu")
    assert choose_strategy("auto", network, settings, None) == "sequential"
    assert choose_strategy("auto", network, settings, 2) == "processes"
    assert choose_strategy("stacked", network, settings, 2) == "stacked"
    assert choose_strategy("auto", network, TrainingSettings(device="meta"), 2) == "stacked"
