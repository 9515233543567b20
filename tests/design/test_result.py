import json
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tests.design.forgeries import changed

from ecoc.codes import one_vs_rest, write_codebook
from ecoc.design import Design, Status, design_codebook, read_design
from ecoc.errors import FileFormatError, InvalidInputError, VerificationError


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_designs_are_saved_with_their_certificate(tmp_path, best, suffix):
    path = tmp_path / f"design{suffix}"
    best.save(path)
    copy = read_design(path)
    assert copy.codebook == best.codebook
    assert copy.problem == best.problem
    assert copy.certificate == best.certificate
    assert (copy.status, copy.objective, copy.bound) == (best.status, best.objective, best.bound)


def test_csv_has_no_room_for_a_design(best):
    with pytest.raises(InvalidInputError, match="no room"):
        best.save("a.csv")


def test_a_mere_codebook_is_no_design(tmp_path):
    path = tmp_path / "code.json"
    write_codebook(one_vs_rest(4), path)
    with pytest.raises(FileFormatError, match="no design"):
        read_design(path)


def test_designs_by_a_solver_have_the_same_bytes(tmp_path, best):
    best.save(tmp_path / "a.json")
    again = design_codebook(6, 10, min_column_distance=2, method="integer-program")
    again.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


# ------------------------------------------------------------ exact fractions


def targeted(targets, n_columns, **asked):
    k = len(targets)
    return design_codebook(
        k, n_columns, objective="target-distances", target_distances=targets, **asked
    )


def symmetric(entries, k):
    matrix = np.zeros((k, k))
    matrix[np.triu_indices(k, 1)] = entries
    return (matrix + matrix.T).tolist()


def test_targets_are_the_decimals_that_are_written(tmp_path):
    design = targeted(symmetric([3.5, 1.3, 1.8], 3), 5)
    assert design.status is Status.OPTIMAL
    assert design.objective == design.bound == Fraction(12, 5)
    design.save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    claim = document["certificate"]
    assert (claim["objective"], claim["bound"], claim["proof"]["bound"]) == ("12/5",) * 3
    assert read_design(tmp_path / "a.json").objective == Fraction(12, 5)
    for near in (2.4000000000000004, 2.3999999999999995, "24000000000000001/10000000000000000"):
        claim["objective"] = near
        (tmp_path / "b.json").write_text(json.dumps(document))
        with pytest.raises(VerificationError, match="the matrix has 12/5"):
            read_design(tmp_path / "b.json")
    claim["objective"] = 2.4
    (tmp_path / "c.json").write_text(json.dumps(document))
    assert read_design(tmp_path / "c.json").objective == Fraction(12, 5)


def least_deviation(targets, n_columns):
    """The optimum by enumeration of all sets of columns, in whole hundredths."""
    k = len(targets)
    wanted = {(p, q): round(100 * targets[p][q]) for p, q in combinations(range(k), 2)}
    best = None
    for size in range(1, min(n_columns, 2 ** (k - 1) - 1) + 1):
        for columns in combinations(range(1, 2 ** (k - 1)), size):
            rows = [[0] * size, *([c >> p & 1 for c in columns] for p in range(k - 1))]
            apart = {
                (p, q): sum(a != b for a, b in zip(rows[p], rows[q], strict=True))
                for p, q in wanted
            }
            if min(apart.values()) > 0:
                total = sum(abs(100 * apart[pair] - wanted[pair]) for pair in wanted)
                best = total if best is None else min(best, total)
    return Fraction(best, 100)


@pytest.mark.parametrize("seed", range(12))
def test_fractional_targets_give_optima_whose_files_hold(tmp_path, seed):
    rng = random.Random(seed)
    k = rng.choice([3, 4])
    n_columns = rng.randint(k - 1, 6)
    places = rng.choice([1, 2])
    entries = [round(rng.uniform(0, n_columns), places) for _ in range(k * (k - 1) // 2)]
    targets = symmetric(entries, k)
    for asked in ({}, {"formulation": "ip2"}, {"formulation": "ip3", "solver": "scip"}):
        design = targeted(targets, n_columns, **asked, random_state=seed)
        assert design.status is Status.OPTIMAL
        assert design.objective == design.bound == least_deviation(targets, n_columns)
        design.save(tmp_path / "a.json")
        assert read_design(tmp_path / "a.json").objective == design.objective


def test_a_solver_cannot_prove_what_it_cannot_tell_apart(tmp_path):
    rng = random.Random(0)
    design = targeted(symmetric([rng.uniform(0, 5) for _ in range(6)], 4), 5, formulation="ip2")
    assert design.status is Status.FEASIBLE
    assert 0 < design.objective - design.bound < Fraction(1, 10**5)
    assert "Round them" in design.notes[0]
    design.save(tmp_path / "a.json")
    assert read_design(tmp_path / "a.json").objective == design.objective


@pytest.mark.parametrize("text", ["1.5", "１", True])
def test_text_is_no_target(tmp_path, text):
    targets = symmetric([1.5], 2)
    design = targeted(targets, 1)
    path = changed(
        tmp_path / "a.json",
        design,
        lambda c: c["problem"].update(target_distances=[[0, text], [text, 0]]),
    )
    with pytest.raises(FileFormatError, match="must be a matrix of numbers"):
        read_design(path)
    with pytest.raises(InvalidInputError, match="must be a matrix of numbers"):
        targeted([["0", str(text)], [str(text), "0"]], 1)


def test_designs_show_themselves(best):
    assert repr(best).startswith("<Design: <Codebook 'designed': 6 classes x 10 columns")
    assert "OPTIMAL: minimum row distance 6 (the word of highs" in str(best)
    assert "<svg" in best._repr_html_()
    assert "OPTIMAL" in best._repr_html_()
    assert best.plot_history().axes[0].get_xlabel() == "seconds"


def test_gaps_are_stated():
    problem = design_codebook(4, 9).problem
    code = one_vs_rest(4)
    found = Design(problem, code, Status.FEASIBLE, 2, 4, None)
    assert found.gap == 0.5
    assert found.verdict == "FEASIBLE: minimum row distance 2, bound 4, gap 50.0%"
