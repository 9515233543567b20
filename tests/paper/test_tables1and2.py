from dataclasses import replace
from math import comb

import pytest
from tests.paper.made_up import measured, table1, verdict_of

from ecoc.graphs import ConflictGraph
from ecoc.paper import paper_table


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


def test_figures_of_table_1_agree_with_each_other():
    for cell in paper_table("table1").printed:
        k, figures = cell.keys["k"], cell.figures
        assert figures["columns"] == 2 ** (k - 1) - 1
        assert figures["factor"] == figures["conflicts"] // figures["cliques"]
        assert figures["conflicts"] == ConflictGraph(k, figures["rho"], "one-sided").n_edges
    parts = paper_table("table1").figures(k=18, cover="partitioned")
    assert parts["cliques"] == parts["cliques_part_1"] + parts["cliques_part_2"]
    assert parts["seconds"] == pytest.approx(
        parts["seconds_part_1"] + parts["seconds_part_2"], 1e-5
    )


def test_bounds_of_table_2_are_averages_where_the_solver_had_not_finished():
    for cell in paper_table("table2").printed:
        k, length, figures = cell.keys["k"], cell.keys["L"], cell.figures
        average = length * (k * k // 4) // comb(k, 2)
        assert figures["bound"] == (average if figures["gap"] else figures["best"]) <= average
        gap = 100 * (figures["bound"] - figures["best"]) / figures["best"]
        assert figures["gap"] == pytest.approx(gap, abs=0.5)
