import pytest
from tests.robustness.networks import CodeModel, codebook, ordinary, samples

from ecoc.codes import Codebook
from ecoc.robustness.attacks import PGD, SPSA, EveryTarget
from ecoc.robustness.models import attacked_model
from ecoc.robustness.protocols import escalation_stages, paper_stage, strong_stages

INPUTS = samples(5)[0].numpy()


def test_the_papers_attack_is_as_its_text_says():
    stage = paper_stage(attacked_model(CodeModel(), INPUTS))
    assert (stage.name, stage.head) == ("pgd-ce-soft", "soft")
    assert stage.attack == PGD(steps=100, loss="cross-entropy", random_start=False)
    assert paper_stage(attacked_model(ordinary(), INPUTS), 30).name == "pgd-ce-logits"


def test_the_battery_has_what_gets_around_saturation():
    stages = strong_stages(attacked_model(CodeModel(), INPUTS), 10)
    names = [stage.name for stage in stages]
    assert len(set(names)) == len(names)
    assert {
        "apgd-cw-sharp",
        "apgd-cw-logits",
        "apgd-ce-log",
        "apgd-cw-soft",
        "every-target-cw-tempered",
    } <= set(names)
    # Whatever needs no gradients comes after all that do.
    kinds = [stage.kind for stage in stages]
    assert kinds == ["gradient"] * (len(kinds) - 2) + ["noise", "black-box"]


def test_ternary_codes_are_also_attacked_by_their_likelihood():
    model = CodeModel()
    matrix = codebook().matrix.copy()
    matrix[0, 0] = 0
    model.codebook_ = Codebook(matrix)
    names = [
        [s.name for s in strong_stages(attacked_model(m, INPUTS), 3)] for m in (CodeModel(), model)
    ]
    assert ["apgd-cw-log-likelihood" in found for found in names] == [False, True]


@pytest.mark.parametrize(
    ("factor", "decoding", "head"),
    [
        (1.0, "hamming", "sharp"),
        (300.0, "soft", "sharp"),
        (1.0, "soft", "tempered"),
        (300.0, "normalised-linear", "logits"),
    ],
)
def test_targets_are_gone_for_in_the_form_that_decides(factor, decoding, head):
    model = attacked_model(CodeModel(factor, decoding), samples(40)[0].numpy())
    names = {stage.name for stage in strong_stages(model, 10)}
    assert f"every-target-cw-{head}" in names
    (stage,) = (s for s in strong_stages(model, 10) if s.name == f"every-target-cw-{head}")
    assert stage.attack.n_targets == 9
    assert stage.attack.last.steps > stage.attack.attack.steps
    # The last climb is in what decides, of which tempered scores are a stand-in.
    assert stage.attack.last_scores is model.heads["soft" if head == "tempered" else head]
    assert ("apgd-cw-fewest" in names) == (head == "sharp")


def test_two_classes_have_no_other_targets_and_no_ratio():
    victim = attacked_model(ordinary(), INPUTS)
    two, many = strong_stages(victim, 2), strong_stages(victim, 10)
    assert "apgd-dlr-logits" in {stage.name for stage in many}
    assert "apgd-dlr-logits" not in {stage.name for stage in two}
    assert not any(isinstance(stage.attack, EveryTarget) for stage in two)


def test_what_is_left_of_a_masked_model_is_asked_many_more_times():
    spsa, square = (stage.attack for stage in escalation_stages("logits"))
    assert isinstance(spsa, SPSA)
    assert square.queries == 5000
