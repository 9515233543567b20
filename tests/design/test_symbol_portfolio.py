"""Designs with more than two symbols, from end to end."""

import json
from itertools import combinations, permutations

import numpy as np
import pytest

from ecoc.codes import balanced_random, one_vs_rest
from ecoc.constructions import symbols as construction
from ecoc.design import DesignProblem, Status, design_codebook, read_design
from ecoc.design.programs.partitions import all_partitions
from ecoc.design.result import n_partitions
from ecoc.errors import (
    InfeasibleError,
    InvalidInputError,
    TooLargeError,
    UnsupportedError,
    VerificationError,
)


def largest_distance(k, length, q, admitted=lambda columns: True):
    """The optimum by looking at every set of different columns."""
    columns = all_partitions(k, q)
    best = 0
    for size in range(1, min(length, len(columns)) + 1):
        for chosen in combinations(range(len(columns)), size):
            matrix = columns[list(chosen)]
            if admitted(matrix):
                pairs = combinations(matrix.T, 2)
                best = max(best, min(int((a != b).sum()) for a, b in pairs))
    return best


@pytest.mark.parametrize(
    ("k", "length", "q"),
    [(3, 2, 3), (3, 4, 3), (4, 2, 3), (4, 3, 3), (4, 4, 4), (4, 5, 3), (5, 2, 3), (5, 3, 4)],
)
def test_optima_are_those_of_trying_everything(k, length, q):
    design = design_codebook(k, length, n_symbols=q, random_state=0)
    assert design.objective == largest_distance(k, length, q)
    assert design.status is Status.OPTIMAL
    assert design.codebook.n_symbols == q
    assert design.problem.violations(design.codebook) == []


def test_a_separation_is_kept_and_optimal_with_it():
    def apart(matrix):
        names = [tuple(map(int, row)) for row in matrix]
        return all(_distance(a, b) >= 2 for a, b in combinations(names, 2))

    design = design_codebook(4, 3, n_symbols=3, min_column_distance=2, random_state=0)
    assert design.codebook.min_column_distance() >= 2
    assert design.objective == largest_distance(4, 3, 3, apart)


def _distance(a, b):
    """How many classes must change groups, by trying every way to rename symbols."""
    return min(
        sum(names[x] != y for x, y in zip(a, b, strict=True)) for names in permutations(range(4))
    )


@pytest.mark.parametrize(("k", "length"), [(10, 6), (10, 9), (10, 20)])
@pytest.mark.parametrize("q", [3, 5, 10])
def test_ten_classes_are_proved(k, length, q, tmp_path):
    design = design_codebook(k, length, n_symbols=q, random_state=0)
    assert design.status is Status.OPTIMAL
    design.save(tmp_path / "design.json")
    assert read_design(tmp_path / "design.json").codebook == design.codebook


def test_known_optima():
    for k, length, q, distance in ((50, 8, 10, 7), (100, 12, 10, 10), (16, 5, 4, 4), (9, 4, 3, 3)):
        design = design_codebook(k, length, n_symbols=q, random_state=0)
        assert (design.status, design.objective) == (Status.OPTIMAL, distance)


def test_less_effort_is_less_work(monkeypatch):
    limits = []

    def note(k, length, q, *, work_limit, **_):
        limits.append(work_limit)

    monkeypatch.setattr(construction, "construct_symbols", note)
    for effort in (1, 0.25):
        design_codebook(15, 10, n_symbols=3, method="construction", effort=effort)
    assert limits[1] == limits[0] / 4


def test_one_seed_gives_one_codebook():
    first, second = (design_codebook(14, 9, n_symbols=3, random_state=5).codebook for _ in range(2))
    assert first == second


def test_balance_by_groups_and_by_sizes():
    sizes = [5, 3, 8, 9, 2, 4, 7, 6, 5, 5, 3, 3]
    design = design_codebook(
        12, 10, n_symbols=4, max_imbalance=0.1, class_sizes=sizes, random_state=0
    )
    groups = design.codebook.column_balance(sizes).groups
    assert (groups.max(axis=0) - groups.min(axis=0)).max() <= 6
    even = design_codebook(12, 8, n_symbols=4, max_imbalance=0, random_state=0)
    assert {3} == set(even.codebook.column_balance().groups.ravel().tolist())


def test_no_time_still_gives_a_codebook():
    design = design_codebook(60, 20, n_symbols=5, time_limit=0)
    assert design.status is Status.FEASIBLE
    assert design.codebook is not None
    assert design.bound == 16


@pytest.mark.usefixtures("without_atlas")
def test_columns_are_moved_apart_where_it_is_free():
    design = design_codebook(12, 8, n_symbols=4, random_state=0)
    assert design.codebook.min_row_distance == design.bound
    assert design.codebook.min_column_distance() >= 4
    assert any("least eigenvalue" in stage.note for stage in design.stages)


@pytest.mark.parametrize("method", ["construction", "search", "integer-program"])
def test_every_method_alone(method):
    design = design_codebook(7, 8, n_symbols=3, method=method, random_state=0)
    assert design.objective == 6
    assert (design.certificate.kind == "solver") == (method == "integer-program")


def test_a_start_is_used():
    start = balanced_random(8, 6, n_symbols=3, random_state=0)
    design = design_codebook(8, 6, n_symbols=3, warm_start=start, time_limit=0)
    assert design.objective >= start.min_row_distance
    with pytest.raises(InvalidInputError, match="it has 2 symbols where 3 are asked for"):
        design_codebook(8, 8, n_symbols=3, warm_start=one_vs_rest(8))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_symbols": 9}, InvalidInputError, "at most the number of classes, 8, not 9"),
        ({"n_symbols": 1}, InvalidInputError, "n_symbols"),
        ({"n_symbols": 3, "separation": "one-sided"}, UnsupportedError, "up to renaming"),
        ({"n_symbols": 3, "formulation": "ip3"}, UnsupportedError, "of two symbols"),
        ({"n_symbols": 3, "n_columns": 1}, InfeasibleError, "only 3 different rows"),
        ({"n_symbols": 3, "min_column_distance": 6}, InfeasibleError, "<= 5"),
    ],
)
def test_what_cannot_be_asked_for(arguments, error, message):
    arguments = {"n_classes": 8, "n_columns": 6, **arguments}
    with pytest.raises(error, match=message):
        design_codebook(**arguments)


def test_programs_that_are_too_large_are_refused():
    with pytest.raises(TooLargeError, match="more than the 5,000"):
        design_codebook(14, 9, n_symbols=4, method="integer-program")
    with pytest.raises(TooLargeError, match="up to 1,000 classes, not 1,001"):
        design_codebook(1001, 30, n_symbols=3)


def test_targets_are_for_two_symbols():
    with pytest.raises(UnsupportedError, match="more than two symbols"):
        DesignProblem(
            4, 5, objective="target-distances", target_distances=np.ones((4, 4)), n_symbols=3
        )


@pytest.mark.parametrize(("k", "q"), [(3, 3), (4, 3), (5, 3), (6, 4), (7, 7)])
def test_columns_are_counted(k, q):
    assert n_partitions(k, q) == len(all_partitions(k, q))


def test_files_keep_the_number_of_symbols_and_lies_are_found(tmp_path):
    design = design_codebook(10, 9, n_symbols=4, random_state=0)
    path = tmp_path / "design.json"
    design.save(path)
    assert design.problem.to_plain()["n_symbols"] == 4
    assert DesignProblem.from_plain(design.problem.to_plain()) == design.problem
    assert "n_symbols" not in DesignProblem(10, 9).to_plain()
    document = json.loads(path.read_text())
    claim = document["certificate"]
    for changed in (
        {**claim, "bound": 8},
        {**claim, "problem": {**claim["problem"], "n_symbols": 5}},
        {**claim, "proof": {**claim["proof"], "bound": 6}},
    ):
        path.write_text(json.dumps({**document, "certificate": changed}))
        with pytest.raises(VerificationError):
            read_design(path)
