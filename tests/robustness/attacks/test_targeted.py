import numpy as np
import pytest
from tests.robustness.attacks.linear import CASES, best_margins, linear_case
from tests.robustness.networks import ordinary, samples

from ecoc.errors import InvalidInputError
from ecoc.robustness import APGD, FGSM, EveryTarget


@pytest.mark.parametrize(("norm", "box"), CASES)
def test_every_class_of_a_linear_model_is_tried(norm, box):
    layer, x, y = linear_case(5)
    best = best_margins(layer, x, y, 0.08, norm, box=box)
    found = EveryTarget(FGSM("margin"))(layer, x, y, epsilon=0.08, norm=norm, box=box)
    assert 0.1 < (best > 0).mean() < 0.9
    assert np.array_equal(found.success, best > 0)


def test_fewer_targets_are_the_likeliest():
    network, (x, y) = ordinary(), samples(60)
    rates = [
        EveryTarget(APGD(steps=10, random_start=False), n)(network, x, y, epsilon=0.08).success
        for n in (1, None)
    ]
    assert bool((rates[1] | ~rates[0]).all())
    assert rates[0].double().mean() > 0.8 * rates[1].double().mean()
    with pytest.raises(InvalidInputError, match="n_targets"):
        EveryTarget(n_targets=0)
