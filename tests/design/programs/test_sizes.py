from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from tests.design.programs.cases import build_all, conflicts, greedy_cliques

from ecoc.codes.columns import Dichotomies
from ecoc.design import DesignProblem
from ecoc.design.programs import (
    ProgramOptions,
    build_ip2,
    build_program,
    check_size,
    program_size,
    sizes,
)
from ecoc.errors import TooLargeError


def weights_of(columns, n_classes):
    return np.bincount(np.bitwise_count(columns), minlength=n_classes).tolist()


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("n_columns", [4, 6])
@pytest.mark.parametrize("imbalance", [None, 0.5])
@pytest.mark.parametrize(
    "options",
    [
        ProgramOptions(),
        ProgramOptions(parity_cuts=False, cutoff=3),
    ],
)
def test_sizes_are_known_before_building(n_classes, n_columns, imbalance, options):
    columns = Dichotomies(n_classes, max_imbalance=imbalance).to_array()
    low, high = 2, n_classes - 1
    table = conflicts(columns, low, high)
    tight = sum(
        (a ^ b).bit_count() == limit
        for a, b in combinations(columns.tolist(), 2)
        for limit in (low, high)
    )
    cliques = greedy_cliques(np.argwhere(table))
    for ip in build_all(columns, n_classes, n_columns, low, high, options=options):
        assert ip.program.sizes == program_size(
            ip.name,
            n_classes,
            n_columns,
            columns_by_weight=None if imbalance is None else weights_of(columns, n_classes),
            n_edges=int(table.sum()),
            n_cliques=len(cliques["indptr"]) - 1,
            clique_nonzeros=len(cliques["members"]),
            tight_pairs=tight,
            parity_cuts=options.parity_cuts,
        )


@pytest.mark.parametrize("cutoff", [None, 2])
@pytest.mark.parametrize("parity_cuts", [True, False])
def test_sizes_with_targets(cutoff, parity_cuts):
    targets = np.array([1, 2, 3, 4, 3, 2, 1, 2, 3, 5])
    pairs = list(combinations(range(5), 2))
    odd = sum(
        sum(targets[pairs.index(pair)] for pair in combinations(triple, 2)) % 2
        for triple in combinations(range(5), 3)
    )
    options = ProgramOptions(
        targets=targets, cutoff=cutoff, parity_cuts=parity_cuts, min_row_distance=int(parity_cuts)
    )
    ip = build_ip2(range(1, 16), 5, 6, edges=[(0, 1)], options=options)
    assert ip.program.sizes == program_size(
        "IP2",
        5,
        n_edges=1,
        targets=True,
        odd_triples=int(odd),
        cutoff=cutoff is not None,
        parity_cuts=parity_cuts,
        min_row_distance=parity_cuts,
    )


def test_the_papers_count_for_ten_classes():
    """The paper: approximately 130,000 variables and 650,000 constraints."""
    size = program_size("IP1", 10, parity_cuts=False)
    assert size.n_variables == 511 + comb(511, 2) + 1 == 130_817
    assert size.n_rows == 1 + 5 * comb(511, 2) + comb(10, 2) == 651_571


def test_sizes_of_programs_too_large_to_build():
    assert program_size("IP1", 40).n_bytes > 2**75


@pytest.mark.parametrize("arguments", [{}, {"max_imbalance": 0.5}, {"separation": "one-sided"}])
@pytest.mark.parametrize("formulation", ["ip1", "ip2", "ip3"])
def test_sizes_are_known_before_anything_is_built(formulation, arguments, monkeypatch):
    problem = DesignProblem(6, 12, min_column_distance=2, **arguments)
    built = build_program(problem, formulation).program.sizes
    monkeypatch.setattr(sizes, "MAX_PROGRAM_BYTES", built.n_bytes - 1)
    if formulation != "ip3":
        with pytest.raises(TooLargeError):
            check_size(problem, formulation)
    # What is counted for IP1 is an upper bound; the others are exact.
    room = built.n_bytes if formulation != "ip1" else int(1.2 * built.n_bytes)
    monkeypatch.setattr(sizes, "MAX_PROGRAM_BYTES", room)
    check_size(problem, formulation)
