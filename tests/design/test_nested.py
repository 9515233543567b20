import json
from itertools import combinations

import pytest
from tests.design.forgeries import changed
from tests.test_verify_design import judged

from ecoc import Codebook
from ecoc.codes import dense_random
from ecoc.codes.columns import columns_to_matrix
from ecoc.design import DesignProblem, Status, design_codebook, read_design
from ecoc.errors import InvalidInputError, TooLargeError, UnsupportedError, VerificationError


@pytest.fixture(scope="module")
def nested():
    return design_codebook(9, 12, nested=True, random_state=0)


def best_sums(k):
    """The largest sums of the prefixes' distances for each length, by every order of columns."""
    n = 2 ** (k - 1) - 1
    matrix = columns_to_matrix(range(1, n + 1), k)
    masks = [
        sum(1 << j for j in range(n) if matrix[p, j] != matrix[q, j])
        for p, q in combinations(range(k), 2)
    ]
    first = (k - 1).bit_length()
    # The best order of a set of columns ends with one of them.
    best, sums = {0: 0}, {}
    for length in range(1, n + 1):
        longer = {}
        for chosen, value in best.items():
            for j in range(n):
                if not chosen >> j & 1:
                    more = chosen | 1 << j
                    longer[more] = max(longer.get(more, 0), value)
        least = {s: min((s & mask).bit_count() for mask in masks) for s in longer}
        counts = length >= first
        best = {s: value + (least[s] if counts else 0) for s, value in longer.items()}
        sums[length] = max(best.values())
    return sums


@pytest.mark.parametrize(("k", "lengths"), [(4, (2, 5, 7)), (5, (6, 10, 13))])
def test_no_order_of_any_columns_is_better(k, lengths):
    sums = best_sums(k)
    for length in lengths:
        design = design_codebook(k, length, nested=True, random_state=0)
        assert design.objective == sums[length] <= design.bound


def test_every_prefix_is_told_beside_its_bound(nested):
    assert nested.status is Status.OPTIMAL
    assert [p.n_columns for p in nested.prefixes] == list(range(4, 13))
    for prefix in nested.prefixes:
        part = nested.codebook.take_columns(range(prefix.n_columns))
        assert prefix.distance == part.min_row_distance == prefix.bound
    assert nested.objective == sum(prefix.distance for prefix in nested.prefixes)
    assert nested.prefix_table.splitlines()[2].split() == ["5-6", "2", "2"]


def test_a_file_keeps_it_and_both_verifiers_prove_it(tmp_path, nested):
    path = tmp_path / "nested.json"
    nested.save(path)
    loaded = read_design(path)
    assert loaded.codebook == nested.codebook
    assert loaded.problem == nested.problem
    assert loaded.prefixes == nested.prefixes
    status, lines = judged(path)
    assert status == 0
    assert "[0, 0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6]" in lines


def prefix(certificate, place):
    return certificate["proof"]["facts"]["proof"]["prefixes"][place]


def of_another_problem(certificate):
    other = design_codebook(8, 12, nested=True, time_limit=0).to_plain()
    certificate.update(proof=other["proof"], bound=other["bound"], status="feasible")


def stricter(certificate):
    prefix(certificate, 2).update(value=1)
    certificate["proof"].update(bound=32)
    certificate["proof"]["facts"].update(value="32")
    certificate.update(bound=32)


FORGERIES = {
    "a lower bound": stricter,
    "another sum": lambda c: prefix(c, 2).update(value=3),
    "another problem": of_another_problem,
    "one proof twice": lambda c: prefix(c, 2).update(proof=prefix(c, 3)["proof"]),
    "a prefix less": lambda c: c["proof"]["facts"]["proof"]["prefixes"].pop(),
    "not nested": lambda c: c["problem"].pop("nested"),
    "a plain proof": lambda c: c["proof"].update(
        facts=prefix(c, 8) | {"value": "33", "reason": ""}
    ),
    "all columns": lambda c: c["proof"].update(kind="exhaustive", facts={}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_certificates_are_refused_by_both_verifiers(tmp_path, nested, name):
    path = changed(tmp_path / "a.json", nested, FORGERIES[name])
    with pytest.raises(VerificationError):
        read_design(path)
    assert judged(path)[0] == 5


def test_a_changed_order_of_columns_is_noticed(tmp_path, nested):
    nested.save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    document["matrix"] = [row[::-1] for row in document["matrix"]]
    (tmp_path / "a.json").write_text(json.dumps(document))
    with pytest.raises(VerificationError, match="the objective is stored as 33"):
        read_design(tmp_path / "a.json")
    assert judged(tmp_path / "a.json")[0] == 5


def test_a_seed_repeats_and_a_start_stays_in_front():
    start = dense_random(8, 5, random_state=3).complement_columns([0, 2])
    designs = [
        design_codebook(8, 9, nested=True, random_state=1, warm_start=start) for _ in range(2)
    ]
    assert designs[0].codebook == designs[1].codebook
    assert (designs[0].codebook.matrix[:, :5] == start.matrix).all()
    assert designs[0].codebook.n_columns == 9


def test_columns_are_added_even_where_they_bring_nothing():
    start = design_codebook(4, 6, nested=True, random_state=0).codebook.take_columns(range(3))
    # Distance 2 with three columns, and with four.
    design = design_codebook(4, 4, nested=True, warm_start=start)
    assert design.codebook.n_columns == 4
    assert design.codebook.min_row_distance == 2


def test_rules_for_columns_are_kept():
    design = design_codebook(
        8, 12, nested=True, min_column_distance=2, max_imbalance=0.25, random_state=0, time_limit=1
    )
    assert not DesignProblem(8, 12, 2, max_imbalance=0.25).violations(design.codebook)
    assert design.objective == sum(prefix.distance for prefix in design.prefixes)


def test_several_symbols(tmp_path):
    design = design_codebook(9, 4, n_symbols=3, nested=True, random_state=0)
    assert [prefix.distance for prefix in design.prefixes] == [1, 2, 3]
    assert design.status is Status.OPTIMAL
    design.save(tmp_path / "a.json")
    assert judged(tmp_path / "a.json")[0] == 0


def test_no_time_and_interruption_still_give_a_codebook():
    design = design_codebook(20, 30, nested=True, time_limit=0)
    assert design.status is Status.FEASIBLE
    assert "cut short by the time limit" in design.notes[-1]

    def interrupt(point):
        if point.incumbent is not None and point.bound is not None:
            raise KeyboardInterrupt

    design = design_codebook(20, 30, nested=True, random_state=0, progress=interrupt)
    assert design.status is Status.FEASIBLE
    assert "Ctrl-C" in design.notes[-1]


def test_fewer_columns_than_allowed():
    design = design_codebook(3, 6, nested=True)
    # 3 columns are all there are: 1, 2, and 2 for each length that is allowed beyond.
    assert design.codebook.n_columns == 3
    assert design.objective == design.problem.objective_of(
        Codebook([[1, 1, 1], [1, -1, -1], [-1, 1, -1]])
    )
    assert [p.n_columns for p in design.prefixes] == [2, 3]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"separation": "literal"}, "literal separation depends"),
        ({"n_symbols": 3, "min_column_distance": 2}, "without min_column_distance"),
        ({"n_symbols": 3, "max_imbalance": 0.5}, "without min_column_distance"),
        (
            {"objective": "target-distances", "target_distances": [[1] * 6] * 6},
            "not for target distances",
        ),
        ({"method": "search"}, "one method, 'auto'"),
        ({"formulation": "ip3"}, "one method, 'auto'"),
    ],
)
def test_what_cannot_be_nested_is_refused(wanted, message):
    with pytest.raises(UnsupportedError, match=message):
        design_codebook(6, 8, nested=True, **wanted)


def test_other_nonsense_is_refused():
    with pytest.raises(InvalidInputError, match="nested must be True or False"):
        DesignProblem(6, 8, nested="yes")
    with pytest.raises(TooLargeError, match="fewer columns"):
        design_codebook(3000, 200, nested=True)
