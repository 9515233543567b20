from dataclasses import replace

from tests.paper.made_up import attacked, measured, verdict_of

from ecoc.paper import PAPER_TABLES, Record
from ecoc.paper.reproduction import findings


def test_robustness_falls_with_a_stronger_attack():
    assert verdict_of(attacked(0.0), "table8", "robust") == "fails"
    assert verdict_of(attacked(6.0), "table8", "robust") == "fails"  # the paper has 13 at 0.25
    assert verdict_of(attacked(7.0), "table8", "robust") == "holds"


def test_certificates_are_what_the_paper_lacks():
    assert verdict_of(attacked(0.0), "table8", "proved") == "missing"
    figures = {"pgd 0.1": 90, "strong 0.1": 85, "certified 0.1": 70.0}
    trained = Record("table8", {"codebook": "ip3-ibp"}, "quick", "ok", None, figures)
    assert verdict_of([trained], "table8", "proved") == "better"
    figures = {**figures, "certified 0.1": 0.0}
    assert verdict_of([replace(trained, measured=figures)], "table8", "proved") == "open"


def correlated(p, phi):
    """Natural images with P = 0.1 and phi = 0, attacked ones with what is given."""
    figures = {"mean_p_if_independent": 0.1, "mean_error": 1.0}
    natural, attacked = measured("figure-correlation", change=lambda f: f | figures)
    return [
        replace(natural, measured={**natural.measured, "mean_p": 0.1, "mean_phi": 0.0}),
        replace(attacked, measured={**attacked.measured, "mean_p": p, "mean_phi": phi}),
    ]


def test_correlation_is_more_than_many_errors():
    assert verdict_of(correlated(0.5, 0.0), "figure-correlation", "measure P") == "holds"
    assert verdict_of(correlated(0.5, 0.0), "figure-correlation", "depend") == "fails"
    assert verdict_of(correlated(0.5, 0.3), "figure-correlation", "depend") == "holds"
    assert verdict_of(correlated(0.12, 0.0), "figure-correlation", "measure P") == "fails"


def test_smoke_decides_nothing_about_data():
    assert verdict_of(measured("table6", scale="smoke"), "table6") == "open"


def test_nothing_measured_is_told_for_every_claim():
    told = findings({})
    assert {finding.verdict for finding in told} == {"missing"}
    assert {finding.table for finding in told} == set(PAPER_TABLES) - {"figure-boundaries"}
    assert all(f"ecoc reproduce {finding.table}" in finding.text for finding in told)
