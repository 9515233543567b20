import numpy as np
import pytest
from tests.paper.made_up import measured, verdict_of

pytest.importorskip("torch")

from ecoc.paper import PaperCell, paper_table
from ecoc.paper.measuring import Workspace
from ecoc.paper.tables6and7 import image_samples, setup_of, trained


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return Workspace(tmp_path_factory.mktemp("networks"), "smoke")


def test_images_are_between_0_and_1_with_channels_first(workspace):
    samples = image_samples(setup_of("mnist", "smoke"), workspace)
    assert samples.X_train.shape == (300, 1, 8, 8)
    assert samples.X_train.dtype == np.float32
    assert samples.X_train.min() == 0
    assert samples.X_train.max() == 1


def test_networks_are_trained_once_and_then_read(workspace):
    setup = setup_of("mnist", "smoke")
    samples = image_samples(setup, workspace)
    first = trained(setup, "ip3", samples, workspace)
    (path,) = (workspace.folder / "models" / "smoke").glob("*-ip3-*")  # the checkpoint is gone
    written = path.stat().st_mtime_ns
    again = trained(setup, "ip3", samples, workspace)
    assert path.stat().st_mtime_ns == written
    assert np.array_equal(again.column_scores(samples.X_test), first.column_scores(samples.X_test))


def test_raw_scores_are_the_sums_of_equation_20(workspace):
    """Written out as the paper prints it, for the sparse code."""
    setup = setup_of("mnist", "smoke")
    samples = image_samples(setup, workspace)
    found = {
        decoding: paper_table("table6").measure(
            PaperCell({"codebook": "sparse", "decoding": decoding}), workspace
        )
        for decoding in ("raw", "normalised")
    }
    model = trained(setup, "sparse", samples, workspace)
    r = 1 / (1 + np.exp(-model.column_scores(samples.X_test).astype(np.float64)))
    matrix = model.codebook_.matrix
    scores = np.array([[sum(r_l if m == 1 else 1 - r_l for m, r_l in zip(row, sample, strict=True)
                            if m != 0) for row in matrix] for sample in r])  # fmt: skip
    raw = model.classes_[scores.argmax(axis=1)] == samples.y_test
    means = scores / np.abs(matrix).sum(axis=1)
    normalised = model.classes_[means.argmax(axis=1)] == samples.y_test
    assert found["raw"].measured["accuracy"] == round(100 * raw.mean(), 3)
    assert found["normalised"].measured["accuracy"] == round(100 * normalised.mean(), 3)


@pytest.mark.parametrize("part", ["table6", "table7"])
def test_order_of_codebooks(part):
    assert verdict_of(measured(part), part) == "holds"
    noisy = measured(part, standard_errors={"accuracy": 3})
    assert verdict_of(noisy, part) == "open"
    backwards = measured(part, change=lambda f: {"accuracy": 100 - f["accuracy"]})
    assert verdict_of(backwards, part) == "fails"
