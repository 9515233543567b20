import pytest

from ecoc.robustness.masking import Evidence, masking_signs

HEALTHY = {
    "n_samples": 200,
    "zero_gradients": {"pgd-ce-soft": 0.01},
    "beaten_by": {"noise": 0, "square": 2},
    "epsilons": (0.1, 0.5),
    "attacked": (0.4, 0.01),
    "paper": (0.45, 0.02),
    "large": 0.5,
}


def test_nothing_is_said_about_a_healthy_evaluation():
    assert masking_signs(Evidence(**HEALTHY)) == []
    assert masking_signs(Evidence(**{**HEALTHY, "paper": None})) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"zero_gradients": {"a": 0.06, "b": 0.0}}, "6 % of those of a were exactly zero"),
        ({"beaten_by": {"noise": 3}}, "noise broke 3 of 200 samples"),
        ({"paper": (0.9, 0.02)}, "at 0.1 it leaves 90 % where the battery leaves 40 %"),
        ({"attacked": (0.4, 0.06), "paper": None}, "at 0.5, with half of the box in reach"),
    ],
)
def test_each_sign_by_itself(change, said):
    (sign,) = masking_signs(Evidence(**{**HEALTHY, **change}))
    assert said in sign
