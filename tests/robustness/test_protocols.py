from tests.robustness.networks import CodeModel, ordinary

from ecoc.codes import Codebook
from ecoc.robustness.attacks import PGD, EveryTarget
from ecoc.robustness.models import attacked_model
from ecoc.robustness.protocols import paper_stage, strong_stages


def test_the_papers_attack_is_as_its_text_says():
    stage = paper_stage(attacked_model(CodeModel(), None))
    assert (stage.name, stage.head) == ("pgd-ce-soft", "soft")
    assert stage.attack == PGD(steps=100, loss="cross-entropy", random_start=False)
    assert paper_stage(attacked_model(ordinary(), None), 30).name == "pgd-ce-logits"


def test_the_battery_has_what_gets_around_saturation():
    stages = strong_stages(attacked_model(CodeModel(), None), 10)
    names = [stage.name for stage in stages]
    assert len(set(names)) == len(names)
    assert {
        "pgd-cw-logits",
        "apgd-cw-logits",
        "apgd-ce-log",
        "apgd-ce-soft",
        "apgd-cw-soft",
        "every-target-cw-sharp",
    } <= set(names)
    # Whatever needs no gradients comes after all that do.
    kinds = [stage.kind for stage in stages]
    assert kinds == ["gradient"] * (len(kinds) - 2) + ["noise", "black-box"]


def test_ternary_codes_are_also_attacked_by_their_likelihood():
    model = CodeModel()
    model.codebook_ = Codebook([[1, 1, 0], [1, -1, 1], [-1, 0, -1]])
    names = [
        [s.name for s in strong_stages(attacked_model(m, None), 3)] for m in (CodeModel(), model)
    ]
    assert ["apgd-cw-log-likelihood" in found for found in names] == [False, True]


def test_two_classes_have_no_other_targets_and_no_ratio():
    victim = attacked_model(ordinary(), None)
    two, many = strong_stages(victim, 2), strong_stages(victim, 10)
    assert "apgd-dlr-logits" in {stage.name for stage in many}
    assert "apgd-dlr-logits" not in {stage.name for stage in two}
    assert not any(isinstance(stage.attack, EveryTarget) for stage in two)
