import json

import pytest

from ecoc.codes import one_vs_rest, write_codebook, write_file
from ecoc.design import Design, Status, design_codebook, read_design
from ecoc.errors import FileFormatError, InvalidInputError, VerificationError


@pytest.fixture(scope="module")
def best():
    return design_codebook(6, 10, min_column_distance=2, method="integer-program")


@pytest.fixture(scope="module")
def by_theory():
    return design_codebook(8, 14)


@pytest.fixture(scope="module")
def every_column():
    return design_codebook(4, 9)


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


def changed(path, design, change):
    design.save(path)
    document = json.loads(path.read_text())
    change(document["certificate"])
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(objective=7), "stored as 7.0 but the matrix has 6"),
        (lambda c: c.update(bound=7), "nothing stands behind the bound 7"),
        (lambda c: (c.update(bound=5), c["proof"].update(bound=5)), "better than the bound 5"),
        (lambda c: (c.update(bound=7), c["proof"].update(bound=7)), "called optimal, with 6"),
        (lambda c: c.update(bound=None), "called optimal without a bound"),
        (lambda c: c.update(proof=None), "nothing stands behind"),
        (lambda c: c["problem"].update(min_column_distance=3), "apart, not 3 to 3"),
        (lambda c: c["problem"].update(n_columns=9), "10 columns where 9 are allowed"),
        (lambda c: c["problem"].update(n_classes=7), "6 classes where 7"),
        (
            lambda c: c["problem"].update(max_imbalance=0, class_sizes=[9, 1, 1, 1, 1, 1]),
            "sides that differ",
        ),
    ],
)
def test_false_claims_fail_verification(tmp_path, best, change, message):
    path = changed(tmp_path / "a.json", best, change)
    with pytest.raises(VerificationError, match=message):
        read_design(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(status="best"), "status must be one of optimal, feasible"),
        (lambda c: c.update(objective="6"), "objective must be a number"),
        (lambda c: c.update(objective=None), "objective must be a number"),
        (lambda c: c.update(objective=10**400), "not too large"),
        (lambda c: c.update(bound=10**400), "not too large"),
        (lambda c: c["proof"].update(bound=10**400), "not too large"),
        (lambda c: c.update(status=["optimal"]), "status must be one of"),
        (lambda c: c["problem"].update(max_imbalance=10**400), "not too large"),
        (
            lambda c: c["problem"].update(max_imbalance=0.5, class_sizes=[10**30] * 6),
            "must be at most",
        ),
        (lambda c: c.update(problem=[]), "problem must be an object"),
        (lambda c: c["problem"].update(n_classes="6"), "n_classes must be a whole number"),
        (lambda c: c["problem"].update(class_sizes=3), "class_sizes must be a list"),
        (lambda c: c["problem"].update(surprise=3), "unknown key 'surprise'"),
        (lambda c: c.update(surprise=3), "unknown key 'surprise'"),
        (lambda c: c.update(proof=[]), "a proof must be an object"),
        (lambda c: c["proof"].update(kind="faith"), "kind must be one of"),
        (lambda c: c["proof"].update(facts=[]), "facts must be an object"),
        (lambda c: c["proof"].update(kind="two-solvers"), "needs first"),
        (lambda c: c["proof"]["facts"].pop("version"), "needs version"),
        (lambda c: c["proof"]["facts"].update(mood=1), "no fact 'mood'"),
        (lambda c: c.update(notes="x"), "notes must be a list"),
    ],
)
def test_malformed_claims_are_refused(tmp_path, best, change, message):
    path = changed(tmp_path / "a.json", best, change)
    with pytest.raises(FileFormatError, match=message):
        read_design(path)


def test_exhaustive_certificates_are_checked_from_scratch(tmp_path, best, every_column):
    every_column.save(tmp_path / "all.json")
    assert read_design(tmp_path / "all.json").status is Status.OPTIMAL
    fewer = every_column.codebook.take_columns(range(6))
    claim = every_column.to_plain() | {"objective": 3, "bound": 3}
    claim["proof"]["bound"] = 3
    assert fewer.min_row_distance == 3
    write_file(fewer, tmp_path / "fewer.json", certificate=claim)
    with pytest.raises(VerificationError, match="1 admissible columns are not used"):
        read_design(tmp_path / "fewer.json")
    path = changed(
        tmp_path / "b.json",
        best,
        lambda c: c.update(proof={"kind": "exhaustive", "bound": 6, "facts": {}}),
    )
    with pytest.raises(VerificationError, match="proves nothing"):
        read_design(path)


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


def test_theory_certificates_are_checked_from_scratch(tmp_path, by_theory):
    path = tmp_path / "a.json"
    by_theory.save(path)
    copy = read_design(path)
    assert copy.certificate == by_theory.certificate
    assert copy.certificate.is_checkable
    assert copy.separation_certificate == by_theory.separation_certificate


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["proof"]["facts"].update(value="6"), "the proof is about 6"),
        (lambda c: c["proof"]["facts"].update(value="1e999999999"), "not a number"),
        (lambda c: c["proof"]["facts"].update(value="8/0"), "not a number"),
        (lambda c: c["proof"]["facts"].update(name="faith"), "no bound of this name"),
        (lambda c: c["proof"]["facts"].update(proof={}), "proof"),
        (lambda c: c["problem"].update(n_columns=20), "no field 'packing'"),
        (lambda c: c["separation_proof"].update(bound=1), "the proof is about"),
    ],
)
def test_tampered_theory_fails_verification(tmp_path, by_theory, change, message):
    path = changed(tmp_path / "a.json", by_theory, change)
    with pytest.raises(VerificationError, match=message):
        read_design(path)
