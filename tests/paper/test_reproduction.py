from dataclasses import replace

import pytest
from tests.paper.made_up import attacked, measured, table1

from ecoc.paper import PAPER_TABLES, VERDICTS, Record
from ecoc.paper.records import results_by_table
from ecoc.paper.reproduction import findings


def verdict_of(records, table, word=""):
    (found,) = [
        finding
        for finding in findings(results_by_table(records))
        if finding.table == table and word in finding.claim
    ]
    assert found.verdict in VERDICTS
    return found.verdict


def test_same_counts_reproduce_and_one_wrong_does_not():
    records = table1()
    assert verdict_of(records, "table1", "number of conflicting") == "holds"
    wrong = replace(records[0], measured={**records[0].measured, "conflicts": 1})
    assert verdict_of([*records[1:], wrong], "table1", "number of conflicting") == "fails"


def test_covers_are_better_only_if_smaller_and_verified():
    assert verdict_of(table1(0.5), "table1", "Edge clique") == "better"
    assert verdict_of(table1(1.0), "table1", "Edge clique") == "fails"
    unchecked = [replace(r, measured={**r.measured, "verified": False}) for r in table1(0.5)]
    assert verdict_of(unchecked, "table1", "Edge clique") == "fails"


def test_gaps():
    proved = measured("table2", change=lambda f: f | {"status": "OPTIMAL", "gap": 0, "best": 20})
    assert verdict_of(proved, "table2") == "better"
    as_paper = measured("table2", change=lambda f: f | {"status": "FEASIBLE"})
    assert verdict_of(as_paper, "table2") == "open"


@pytest.mark.parametrize("part", ["table6", "table7"])
def test_order_of_codebooks(part):
    assert verdict_of(measured(part), part) == "holds"
    noisy = measured(part, standard_errors={"accuracy": 3})
    assert verdict_of(noisy, part) == "open"
    backwards = measured(part, change=lambda f: {"accuracy": 100 - f["accuracy"]})
    assert verdict_of(backwards, part) == "fails"


def test_kernels_are_judged_apart():
    records = measured("table5")
    assert verdict_of(records, "table5", "Linear SVM on MNIST") == "holds"
    assert verdict_of(records, "table5", "RBF") == "holds"


def test_ties_can_turn_the_order():
    same = measured("table5", change=lambda f: f | {"accuracy_ties": f["accuracy"]})
    assert verdict_of(same, "table5", "than 1-vs-all") == "holds"
    turned = measured("table5", change=lambda f: f | {"accuracy_ties": 100 - f["accuracy"]})
    assert verdict_of(turned, "table5", "than 1-vs-all") == "fails"


def test_paper_averages_contradict_its_claim():
    records = measured("table4", change=lambda f: {"accuracy": f["single_split"]})
    (found,) = [f for f in findings(results_by_table(records)) if f.table == "table4"]
    assert found.verdict == "fails"
    assert "71.06 for Dense and 69.86 for IP3" in found.text


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
