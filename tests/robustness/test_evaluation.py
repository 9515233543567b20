import json

import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.robustness.attacks.linear import best_margins, linear_case
from tests.robustness.networks import (
    Clock,
    CodeModel,
    Scaled,
    codebook,
    digits,
    images,
    ordinary,
    samples,
)

from ecoc.errors import InvalidInputError, VerificationError
from ecoc.multiclass import ECOCClassifier
from ecoc.nn import NetworkClassifier
from ecoc.robustness import RobustnessResult, certify, evaluate_robustness, evaluation
from ecoc.robustness.attacks import base

EPSILONS = (0.1, 1.0)


def digit_names(y):
    return np.array([f"digit {i}" for i in y])


@pytest.fixture(scope="module")
def healthy():
    x, y = samples(40)
    return evaluate_robustness(ordinary(), x, y, epsilons=EPSILONS, random_state=0)


@pytest.fixture(scope="module")
def masked():
    x, y = samples(40)
    network = Scaled(ordinary(), 50.0)
    return evaluate_robustness(network, x, y, epsilons=EPSILONS, random_state=0)


def test_arrays_need_not_be_writable():
    x, y = (values.numpy() for values in samples(4))
    x.setflags(write=False)
    y.setflags(write=False)
    found = evaluate_robustness(CodeModel(), x, digit_names(y), epsilons=[0.05], random_state=0)
    assert found.n_samples == 4
    proof = certify(ordinary(), x, y, epsilons=[0.01])
    assert len(proof.radii) == 4


def test_a_healthy_network(healthy):
    assert healthy.clean > 0.9
    assert healthy.warnings == ()
    assert healthy.complete
    assert all(np.diff([healthy.clean, *healthy.attacked]) <= 0)
    assert 0.1 < healthy.attacked[0] < 0.9
    assert healthy.attacked[-1] == 0
    assert all(s <= p for s, p in zip(healthy.attacked, healthy.paper, strict=True))
    assert max(healthy.zero_gradients.values()) == 0
    assert RobustnessResult.from_dict(json.loads(json.dumps(healthy.to_dict()))) == healthy


def test_detail_adds_up_to_the_accuracies(healthy):
    broken = np.array([np.inf if e is None else e for e in healthy.broken_at])
    assert np.mean(broken > 0) == healthy.clean
    assert [np.mean(broken > e) for e in EPSILONS] == list(healthy.attacked)
    for radius, name in zip(healthy.broken_at, healthy.broken_by, strict=True):
        assert (name is None) == (radius is None)
        assert (name == "clean") == (radius == 0)


def test_a_masked_network_is_seen_through(healthy, masked):
    assert any("Gradients are masked" in warning for warning in masked.warnings)
    assert masked.clean == healthy.clean
    assert np.array(masked.attacked) == pytest.approx(np.array(healthy.attacked), abs=0.03)
    assert masked.paper[0] > healthy.paper[0] + 0.3
    assert masked.zero_gradients["pgd-ce-logits"] > 0.5
    assert masked.attacked[-1] == 0


def test_the_papers_protocol_alone_warns_too(masked):
    x, y = samples(40)
    alone = evaluate_robustness(
        Scaled(ordinary(), 50.0), x, y, epsilons=EPSILONS, protocol="paper", random_state=7
    )
    # Word for word the first part of the strong protocol, whatever the seed.
    assert alone.attacked == alone.paper == masked.paper
    said = " ".join(alone.warnings)
    assert "exactly zero" in said
    assert "too weak: at 1" in said


@pytest.mark.parametrize("factor", [1.0, 300.0])
def test_networks_with_a_codebook(factor):
    x, y = samples(20)
    model = CodeModel(factor)
    found = evaluate_robustness(model, x, digit_names(y), epsilons=EPSILONS, random_state=0)
    assert found.attacked[-1] == 0
    assert all(s <= p for s, p in zip(found.attacked, found.paper, strict=True))
    masked = [w for w in found.warnings if "Gradients are masked" in w]
    assert len(masked) == (factor > 1)
    if factor > 1:
        assert found.zero_gradients["pgd-ce-soft"] > 0.3
        assert found.attacked[0] < found.paper[0] - 0.2


def test_scaled_columns_are_seen_through_where_scaling_changes_no_decision():
    x, y = samples(20)
    plain, scaled = (
        evaluate_robustness(
            CodeModel(factor, "normalised-linear"),
            x,
            digit_names(y),
            epsilons=[0.1],
            random_state=0,
        )
        for factor in (1.0, 300.0)
    )
    assert not any("Gradients are masked" in warning for warning in plain.warnings)
    assert any("Gradients are masked" in warning for warning in scaled.warnings)
    assert scaled.clean == plain.clean
    assert np.array(scaled.attacked) == pytest.approx(np.array(plain.attacked), abs=0.03)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_linear_models_fall_exactly_where_they_can(norm):
    layer, x, y = linear_case(4, n=80)
    box = None if norm == "l2" else (0.0, 1.0)
    found = evaluate_robustness(
        layer, x, y, epsilons=[0.03, 0.1], norm=norm, box=box, random_state=0
    )
    for i, epsilon in enumerate(found.epsilons):
        best = best_margins(layer, x, y, epsilon, norm, box=box)
        assert found.attacked[i] == np.mean(best <= 0)


def test_images_and_batches():
    x, y = samples(12)
    found = evaluate_robustness(
        images(), x.reshape(-1, 1, 8, 8), y, epsilons=[0.1], batch_size=5, random_state=0
    )
    whole = evaluate_robustness(ordinary(), x, y, epsilons=[0.1], random_state=0)
    assert found.attacked == pytest.approx(whole.attacked, abs=0.05)


def test_the_same_seed_gives_the_same_result():
    x, y = samples(15)
    runs = [
        evaluate_robustness(ordinary(), x, y, epsilons=[0.08], random_state=3) for _ in range(2)
    ]
    assert runs[0].broken_at == runs[1].broken_at
    assert runs[0].broken_by == runs[1].broken_by


X, Y = load_iris(return_X_y=True)
X = X / 8


@pytest.mark.parametrize(
    ("learner", "decoding"),
    [(SVC(C=100.0), "auto"), (SVC(C=100.0), "hamming"), (LinearSVC(random_state=0), "auto")],
)
def test_support_vector_machines_are_attacked_with_gradients(learner, decoding):
    model = ECOCClassifier(learner, codebook="one-vs-one", decoding=decoding).fit(X[::2], Y[::2])
    found = evaluate_robustness(model, X[1::4], Y[1::4], epsilons=[0.06, 0.6], random_state=0)
    assert found.paper is not None
    assert found.clean > found.attacked[0] > found.attacked[1]
    assert found.attacked[1] < 0.1


def test_black_boxes_are_attacked_without():
    tree = DecisionTreeClassifier(random_state=0)
    model = ECOCClassifier(tree, codebook="one-vs-rest").fit(X[::2], Y[::2])
    found = evaluate_robustness(model, X[1::20], Y[1::20], epsilons=[0.05, 0.9], random_state=0)
    assert found.paper is None
    assert found.zero_gradients == {}
    assert found.clean > found.attacked[0]
    assert found.attacked[1] == 0
    assert set(found.found_by) <= {"clean", "noise", "square", "neighbours", "hop-skip-jump"}
    with pytest.raises(InvalidInputError, match="needs gradients"):
        evaluate_robustness(model, X[1::4], Y[1::4], epsilons=[0.1], protocol="paper")


def test_rejections_are_counted_apart_from_wrong_answers():
    pictures, digit = digits()
    test, truth = pictures[1300:1306].astype(np.float64), digit[1300:1306]
    plain, model = (
        ECOCClassifier(RidgeClassifier(), codebook=codebook(), **rejecting)
        for rejecting in ({}, {"reject_below": 1, "reject_label": -1})
    )
    found, always = (
        evaluate_robustness(
            m.fit(pictures[:600], digit[:600]),
            test,
            truth,
            epsilons=[0.02, 0.1],
            random_state=0,
            keep_examples=True,
        )
        for m in (model, plain)
    )
    answers = model.predict(test)
    assert found.clean == np.mean(answers == truth)
    assert found.rejected[0] == np.mean(answers == -1)
    assert always.rejected is None
    for i in range(2):
        # Nobody is wrong with a third answer who was right without.
        wrong = 1 - found.attacked[i] - found.rejected[i + 1]
        assert -1e-9 <= wrong <= 1 - always.attacked[i] + 1e-9
    assert found.attacked[0] <= always.attacked[0]
    examples = found.examples
    assert (model.predict(examples.points) != examples.labels).all()


def test_rejected_outliers_are_counted_apart_too():
    pictures, digit = digits()
    test, truth = pictures[1300:1312], digit[1300:1312]
    model = NetworkClassifier(
        "mlp",
        epochs=4,
        validation_fraction=0.2,
        reject_outliers=0.1,
        reject_label=-1,
        random_state=0,
    ).fit(pictures[:800], digit[:800])
    found = evaluate_robustness(model, test, truth, epsilons=[0.05], random_state=0)
    answers = model.predict(test)
    assert found.clean == np.mean(answers == truth)
    assert found.rejected[0] == np.mean(answers == -1)
    assert found.rejected[1] > found.rejected[0]
    assert found.attacked[0] < found.clean


def test_certificates_stand_beside_and_are_put_to_the_test():
    layer, x, y = linear_case(3, n=40)
    reach = [best_margins(layer, x, y, e, "linf", box=None) for e in (0.02, 0.1)]
    radii = np.where(reach[1] <= 0, 0.1, np.where(reach[0] <= 0, 0.02, 0.0))
    options = {"epsilons": [0.02, 0.1], "box": None, "random_state": 0}
    found = evaluate_robustness(layer, x, y, certified_radii=radii, **options)
    assert found.certified == found.attacked
    with pytest.raises(VerificationError, match="within their certified radius"):
        evaluate_robustness(layer, x, y, certified_radii=radii + 0.1, **options)
    with pytest.raises(InvalidInputError, match="each of the 40 samples"):
        evaluate_robustness(layer, x, y, certified_radii=radii[:3], **options)


def test_limits_return_what_was_found():
    x, y = samples(10)
    found = evaluate_robustness(ordinary(), x, y, epsilons=[0.1], time_limit=0.0)
    assert not found.complete
    assert "time limit" in found.warnings[-1]
    assert found.attacked[0] == found.clean
    # It ends the attack that is going on, whose points count.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "time", Clock())
        patch.setattr(evaluation, "time", base.time)
        found = evaluate_robustness(ordinary(), x, y, epsilons=[0.2], time_limit=20, random_state=0)
    assert not found.complete
    assert set(found.broken_by) - {None, "clean"} == {"pgd-ce-logits"}

    def interrupt(point):
        if point.stage == "apgd-cw-logits":
            raise KeyboardInterrupt

    found = evaluate_robustness(ordinary(), x, y, epsilons=[0.1, 0.2], progress=interrupt)
    assert not found.complete
    assert "Ctrl-C" in found.warnings[-1]
    assert found.attacked[0] < found.clean


def test_a_decision_that_hangs_on_rounding_does_not_stand():
    class Undecided:
        classes_ = np.array([0, 1])

        def as_module(self, output="logits"):
            # A tie, of which the first class is the argmax.
            return torch.nn.Sequential(torch.nn.Linear(2, 2).requires_grad_(False).apply(self.flat))

        @staticmethod
        def flat(layer):
            layer.weight.zero_()
            layer.bias.zero_()

        def predict(self, X):  # noqa: N803
            return np.ones(len(X), dtype=int)

    found = evaluate_robustness(Undecided(), np.full((4, 2), 0.5), [1, 1, 0, 0], epsilons=[0.1])
    assert found.clean == 0.5
    assert found.attacked == (0.0,)
    assert found.broken_by == ("rounding", "rounding", "clean", "clean")


def test_progress_is_told(capsys):
    x, y = samples(10)
    points = []
    evaluate_robustness(
        ordinary(), x, y, epsilons=[0.1], protocol="paper", progress=points.append, verbose=True
    )
    assert [(p.stage, p.epsilon, p.n_samples) for p in points] == [("pgd-ce-logits", 0.1, 10)]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("epsilon 0.1, pgd-ce-logits: ")


def test_dropout_is_off_and_comes_back():
    x, y = samples(20)
    network = torch.nn.Sequential(ordinary(), torch.nn.Dropout(0.9)).train()
    found = evaluate_robustness(network, x, y, epsilons=[0.01], protocol="paper")
    assert found.clean > 0.8
    assert network.training
    ordinary().eval()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epsilons": []}, "at least one"),
        ({"epsilons": [0.2, 0.1]}, "increasing order"),
        ({"epsilons": [-0.1]}, "at least 0"),
        ({"protocol": "weak"}, "protocol must be one of"),
        ({"norm": "l3"}, "norm must be one of"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"box": (0.4, 0.6)}, "lie in the box"),
        ({"y": np.full(5, 10)}, "the largest label is 10"),
        ({"X": np.zeros((0, 64))}, "at least one"),
    ],
)
def test_what_cannot_be_is_refused(change, said):
    x, y = samples(5)
    arguments = {"X": x, "y": y, "epsilons": [0.1], **change}
    with pytest.raises(InvalidInputError, match=said):
        evaluate_robustness(ordinary(), **arguments)


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
    end_of_paper = max(i for i, (_, stage) in enumerate(told) if stage == "pgd-ce-logits")
    assert calls[told[-1]] == calls[told[end_of_large]]
    # The whole battery was run once: at the large radius, on what stood the paper's attack.
    assert calls[told[end_of_large]] > calls[told[end_of_paper]] + 200


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
