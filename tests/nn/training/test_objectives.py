import pytest
import torch
from tests.nn.cases import TERNARY
from torch.nn import functional

from ecoc.nn import CodeDecoder
from ecoc.nn.training.objectives import ClassObjective, ColumnObjective

CODE = torch.tensor(TERNARY.tolist(), dtype=torch.float32)
TARGETS = torch.tensor([0, 1, 2, 3, 2, 0])
OUTPUTS = torch.randn(6, 3, generator=torch.manual_seed(0))


def test_columns_count_the_samples_they_use():
    found = ColumnObjective(CODE).losses(OUTPUTS, TARGETS)
    for column in range(3):
        sides = CODE[TARGETS, column]
        used = sides != 0
        expected = functional.binary_cross_entropy_with_logits(
            OUTPUTS[used, column], (sides[used] + 1) / 2
        )
        assert found[column].item() == pytest.approx(expected.item(), rel=1e-5)
    together = ColumnObjective(CODE, independent=False).losses(OUTPUTS, TARGETS)
    assert together.tolist() == pytest.approx([found.mean().item()])


def test_a_single_column_says_which_samples_it_uses():
    used = ColumnObjective(CODE[:, [2]]).used(TARGETS)
    assert used.tolist() == [False, True, True, True, True, False]
    assert ColumnObjective(CODE).used(TARGETS) is None
    assert ClassObjective().used(TARGETS) is None


def test_a_column_without_samples_has_no_loss():
    found = ColumnObjective(CODE).losses(OUTPUTS[:2], torch.tensor([0, 0]))
    assert found[2] == 0
    assert torch.isfinite(found).all()


def test_what_attackers_maximise():
    columns = ColumnObjective(CODE)
    n_used = (CODE[TARGETS] != 0).sum(dim=0)
    expected = (columns.losses(OUTPUTS, TARGETS) * n_used).sum()
    assert columns.attack_loss(OUTPUTS, TARGETS).item() == pytest.approx(expected.item(), rel=1e-5)
    decoder = CodeDecoder(TERNARY, "normalised-linear")
    through = ColumnObjective(CODE, decoder=decoder).attack_loss(OUTPUTS, TARGETS)
    scores = decoder(OUTPUTS).tolist()
    leads = [
        max(value for i, value in enumerate(row) if i != own) - row[own]
        for row, own in zip(scores, TARGETS.tolist(), strict=True)
    ]
    assert through.item() == pytest.approx(sum(leads), rel=1e-5)
    classes = ClassObjective(decoder)
    expected = 6 * classes.losses(OUTPUTS, TARGETS).item()
    assert classes.attack_loss(OUTPUTS, TARGETS).item() == pytest.approx(expected, rel=1e-5)


def test_the_worst_sides_have_the_largest_loss():
    objective = ColumnObjective(CODE)
    lower, upper = OUTPUTS - 0.5, OUTPUTS + 0.5
    worst = objective.losses(objective.worst(lower, upper, TARGETS), TARGETS)
    for seed in range(100):
        point = lower + torch.rand(6, 3, generator=torch.manual_seed(seed))
        assert (objective.losses(point, TARGETS) <= worst + 1e-6).all()
