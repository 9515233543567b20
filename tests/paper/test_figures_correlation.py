import numpy as np
import pytest

pytest.importorskip("torch")

from ecoc.paper.figures import where_pgd_ends
from ecoc.paper.measuring import Workspace
from ecoc.paper.tables6and7 import image_samples, setup_of, trained


def test_the_end_of_pgd_is_near_inside_and_worse(tmp_path):
    workspace = Workspace(tmp_path, "smoke")
    setup = setup_of("cifar10", "smoke")
    samples = image_samples(setup, workspace)
    model = trained(setup, "ip3", samples, workspace)
    images, targets = samples.X_test[:40], samples.y_test[:40]
    found = where_pgd_ends(model, images, targets, epsilon=0.2, steps=10)
    assert np.abs(found - images).max() <= 0.2 + 1e-6
    assert found.min() >= 0
    assert found.max() <= 1
    # By equation 20 itself: the score of the true class falls against the others'.
    matrix = model.codebook_.matrix

    def lead(inputs):
        r = 1 / (1 + np.exp(-model.column_scores(inputs)))
        scores = r @ (matrix == 1).T + (1 - r) @ (matrix == -1).T
        own = scores[np.arange(len(targets)), targets]
        return (own - scores.mean(axis=1)).mean()

    assert lead(found) < lead(images) - 0.1
