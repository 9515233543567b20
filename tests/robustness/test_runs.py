import torch
from tests.robustness.networks import ordinary, samples

from ecoc.robustness import evaluate_robustness


class Stubborn(torch.nn.Module):
    """Always says class 1, and counts how often it is asked."""

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.weight = torch.nn.Parameter(torch.tensor([0.0, 1.0, 0.0]))

    def forward(self, inputs):
        self.calls += 1
        return self.weight + 0.01 * inputs[:, :3]


def test_the_papers_attack_goes_up_and_the_battery_down():
    x, y = samples(20)
    told = []
    evaluate_robustness(
        ordinary(), x, y, epsilons=[0.05, 0.1], random_state=0, progress=told.append
    )
    radii = [point.epsilon for point in told]
    n_stages = (len(radii) - 2) // 2
    assert radii == [0.05, 0.1] + [0.1] * n_stages + [0.05] * n_stages
    assert {point.stage for point in told[:2]} == {"pgd-ce-logits"}
    last = {point.epsilon: point.n_standing for point in told}
    assert last[0.05] > last[0.1]


def test_what_stands_the_battery_is_not_attacked_again():
    calls, told = {}, []

    def note(point):
        calls[point.epsilon, point.stage] = model.calls
        told.append((point.epsilon, point.stage))

    model = Stubborn()
    result = evaluate_robustness(
        model,
        torch.full((4, 5), 0.5),
        [1, 1, 1, 1],
        epsilons=[0.1, 0.2],
        random_state=0,
        progress=note,
    )
    assert result.attacked == (1.0, 1.0)
    end_of_large = max(i for i, (epsilon, _) in enumerate(told) if epsilon == 0.2)
    assert calls[told[-1]] == calls[told[end_of_large]] > 500


def test_points_that_the_model_itself_denies_do_not_count():
    class Denying:
        def __init__(self):
            self.classes_ = torch.arange(10).numpy()

        def as_module(self, output="logits"):
            return ordinary()

        def predict(self, X):  # noqa: N803
            # Right about everything, whatever its module says.
            return truth[: len(X)]

    x, y = samples(1)
    truth = y.numpy()
    result = evaluate_robustness(Denying(), x, y, epsilons=[0.5], protocol="paper", random_state=0)
    assert result.clean == 1
    assert result.attacked == (1.0,)
