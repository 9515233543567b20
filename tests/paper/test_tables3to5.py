from tests.paper.made_up import measured, verdict_of

from ecoc.paper.records import results_by_table
from ecoc.paper.reproduction import findings


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
