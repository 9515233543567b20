import numpy as np
import pytest
from tests.robustness.networks import CodeModel, codebook, columns, ordinary, samples

from ecoc.errors import InvalidInputError
from ecoc.multiclass.diagnostics import ErrorCorrelation
from ecoc.robustness import View, adversarial_error_correlation
from ecoc.robustness.attacks import PGD
from ecoc.robustness.models import code_heads


def test_correlation_of_natural_and_attacked_inputs():
    x, y = samples(100)
    names = np.array([f"digit {i}" for i in y])
    attack = PGD(steps=10, loss="margin", random_start=False)
    found = adversarial_error_correlation(CodeModel(), x, names, epsilon=0.1, attack=attack)
    natural = ErrorCorrelation.from_scores(
        columns()(x).detach().numpy(), codebook().matrix, y.numpy()
    )
    assert np.array_equal(found.natural.paper, natural.paper, equal_nan=True)
    heads = code_heads(codebook().matrix)
    view = View(columns(), heads["logits"], heads["soft"])
    points = attack(view, x, y, epsilon=0.1).points
    attacked = ErrorCorrelation.from_scores(
        columns()(points).detach().numpy(), codebook().matrix, y.numpy()
    )
    assert found.attacked.paper == pytest.approx(attacked.paper, nan_ok=True)
    assert found.attacked_accuracy < found.accuracy
    # Attacked columns err more often, and P with them.
    assert found.attacked.mean_paper > 2 * found.natural.mean_paper
    left, right = found.plot().axes[:2]
    assert "natural" in left.get_title()
    assert "attacked at 0.1" in right.get_title()


def test_models_without_columns_are_refused():
    x, y = samples(5)
    with pytest.raises(InvalidInputError, match="must have a codebook"):
        adversarial_error_correlation(ordinary(), x, y, epsilon=0.1)
    with pytest.raises(InvalidInputError, match="soft, log, logits"):
        adversarial_error_correlation(
            CodeModel(), x, np.array([f"digit {i}" for i in y]), epsilon=0.1, head="score"
        )
