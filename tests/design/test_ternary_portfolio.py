import numpy as np
import pytest

from ecoc.design import Design, design_codebook, read_design, ternary_portfolio
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.errors import InfeasibleError, InvalidInputError, TooLargeError, UnsupportedError


def design(k, n=None, **wanted) -> Design:
    return design_codebook(k, n, alphabet="ternary", random_state=0, **wanted)


@pytest.mark.parametrize(
    ("k", "n", "w", "cover"),
    [(4, 5, 4, 2), (4, 25, 4, 9), (5, 6, 3, 1), (6, 5, 6, 2), (7, 9, 7, 4), (6, 12, 6, 6)],
)
def test_small_cells_are_proved(k, n, w, cover):
    result = design(k, n, max_support=w)
    assert result.status.name == "OPTIMAL"
    assert result.objective == cover
    assert result.certificate.is_checkable


def test_ten_classes_and_twenty_columns_are_eleven_apart():
    # Where zeros count 1/2, no binary code has more than 10.
    result = design(10, 20, objective="max-min-distance")
    assert result.objective == result.bound == 11
    gram = result.codebook.matrix.astype(int) @ result.codebook.matrix.T
    assert gram.max(where=~np.eye(10, dtype=bool), initial=-99) == -2


def test_known_codes_are_used():
    assert design(10, 10, max_support=9).codebook.provenance.method == "conference"
    tree = design(10, budget=90, column_cost=1.5)
    assert tree.objective == 1
    binary = design(16, 15)
    assert (binary.objective, binary.status.name) == (8, "OPTIMAL")


def test_errors_are_guaranteed():
    result = design(8, 14, objective="guaranteed-errors", max_support=6)
    assert result.objective == result.codebook.correctable_errors == result.bound == 1


def test_weights_move_columns_to_where_they_are_needed(tmp_path):
    weights = np.ones((6, 6))
    weights[0, 1] = weights[1, 0] = 4
    wanted = {"objective": "weighted-cover", "pair_weights": weights, "max_support": 4}
    searched = design(6, 12, method="search", effort=0.1, time_limit=0, **wanted)
    assert searched.certificate.facts["name"] == "dual"
    assert searched.certificate.is_checkable
    result = design(6, 12, **wanted)
    assert 0 < result.objective == result.bound <= searched.bound
    matrix = result.codebook.matrix
    covers = {(p, q): (matrix[p] * matrix[q] == -1).sum() for p in range(6) for q in range(p)}
    assert covers[1, 0] >= 4 * result.objective > covers[1, 0] - 4
    path = tmp_path / "design.json"
    result.save(path)
    assert read_design(path).objective == result.objective


def test_one_seed_gives_one_file(tmp_path):
    paths = [tmp_path / f"{i}.json" for i in range(2)]
    for path in paths:
        design(7, 14, max_support=3).save(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("solver", ["highs", "both"])
def test_the_program_finds_the_same_alone(solver):
    if solver == "both":
        pytest.importorskip("pyscipopt")
    result = design(5, 7, max_support=4, method="integer-program", solver=solver)
    assert result.objective == design(5, 7, max_support=4).objective == 2
    assert result.certificate.kind == ("two-solvers" if solver == "both" else "solver")
    assert not result.certificate.is_checkable


def test_the_program_keeps_the_rules():
    wanted = {"min_column_distance": 2, "max_imbalance": 0, "budget": 22, "max_support": 4}
    result = design(5, 8, method="integer-program", **wanted)
    assert result.problem.violations(result.codebook) == []
    assert result.objective == 2
    halves = design(4, 5, method="integer-program", objective="max-min-distance")
    assert halves.objective == design(4, 5, objective="max-min-distance").objective
    errors = design(5, 8, method="integer-program", objective="guaranteed-errors")
    assert errors.objective == errors.codebook.correctable_errors == errors.bound == 1


@pytest.mark.parametrize("similarity", [None, np.full((5, 5), 0.5) - 0.3 * np.eye(5)[::-1]])
def test_the_program_has_weights(similarity):
    weights = np.add.outer(np.arange(1, 6), np.arange(1, 6)) / 4
    wanted = {"objective": "weighted-cover", "pair_weights": weights, "max_support": 3}
    result = design(5, 7, class_similarity=similarity, method="integer-program", **wanted)
    assert result.status.name == "OPTIMAL"
    assert result.objective >= design(5, 7, class_similarity=similarity, **wanted).objective
    # Its own linear program bounds it, too.
    assert result.bound <= result.problem.ternary_theory().value


def test_the_program_looks_at_the_best_columns_first(monkeypatch):
    monkeypatch.setattr(ternary_portfolio, "_PROGRAM_COLUMNS", (30, 80))
    # Whatever is left of all 301 columns, prices prove that no more than 3 is possible.
    result = design(6, 6, max_support=6, method="integer-program")
    assert result.objective == result.bound == 3
    assert "30 columns, of 301 of 301" in result.stages[-1].note
    # Here they do not, and 80 of 301 columns prove nothing.
    monkeypatch.setattr(ternary_portfolio, "_PROGRAM_WORK", 200)
    result = design(6, 7, max_support=6, method="integer-program")
    assert result.status.name == "FEASIBLE"
    assert result.certificate.facts["name"] == "averaging"
    assert any("proves nothing about the others" in note for note in result.notes)


def test_what_the_program_does_not_do():
    with pytest.raises(TooLargeError, match="15 classes have more ternary columns"):
        design(15, 20, method="integer-program")
    with pytest.raises(UnsupportedError, match="without zeros"):
        design(5, 9, formulation="ip3")
    with pytest.raises(InfeasibleError, match="says highs"):
        design(6, method="integer-program", budget=12)
    with pytest.raises(InfeasibleError, match="as balanced"):
        design(3, 4, method="integer-program", max_imbalance=0, class_sizes=(1, 2, 4))


def test_no_time_still_gives_a_codebook():
    result = design(12, 30, max_support=4, time_limit=0)
    assert result.codebook is not None
    assert result.problem.violations(result.codebook) == []


def test_a_warm_start_is_kept():
    first = design(9, 27, max_support=4, time_limit=0)
    result = design(9, 27, max_support=4, time_limit=0, warm_start=first)
    assert result.objective >= first.objective
    with pytest.raises(InvalidInputError, match="warm_start must satisfy"):
        design(9, 27, max_support=3, warm_start=first)


def test_fields_of_two_alphabets_are_not_mixed():
    with pytest.raises(InvalidInputError, match="must come with alphabet='ternary'"):
        design_codebook(6, 12, max_support=3)
    with pytest.raises(InvalidInputError, match="not both; max_support"):
        design_codebook(TernaryProblem(6, 12), max_support=3)
    with pytest.raises(InvalidInputError, match="alphabet must be"):
        design_codebook(6, 12, alphabet="quaternary")


def test_a_budget_that_pays_for_too_little_ends():
    with pytest.raises(InfeasibleError, match="says highs"):
        design(4, budget=12, class_sizes=(1, 1, 100, 100))
