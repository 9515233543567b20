import pytest
from tests.design.forgeries import FORGED, changed

from ecoc.codes import dense_random, digits, one_vs_rest
from ecoc.codes.files import write_file
from ecoc.design import DesignProblem, Status, design_codebook, read_design
from ecoc.design.verification import unverified
from ecoc.errors import FileFormatError, TimeLimitError, VerificationError


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(objective=7), "stored as 7 but the matrix has 6"),
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
        (lambda c: c.update(objective=10**400), "must be a number"),
        (lambda c: c.update(bound=10**400), "must be a number"),
        (lambda c: c["proof"].update(bound=10**400), "must be a number"),
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
        (lambda c: c.update(objective="６/5"), "objective must be a number"),
        (lambda c: c.update(objective="12/4"), "lowest terms"),
        (lambda c: c.update(objective=True), "objective must be a number"),
        (lambda c: c.update(notes="x"), "notes must be a list"),
    ],
)
def test_malformed_claims_are_refused(tmp_path, best, change, message):
    path = changed(tmp_path / "a.json", best, change)
    with pytest.raises(FileFormatError, match=message):
        read_design(path)


@pytest.mark.parametrize("message", FORGED)
def test_words_that_no_solver_said_fail_verification(tmp_path, best, message):
    path = changed(tmp_path / "a.json", best, FORGED[message])
    with pytest.raises(VerificationError, match=message):
        read_design(path)


@pytest.mark.parametrize("status", ["optimal", "feasible"])
def test_a_solver_that_is_said_to_exclude_a_codebook_that_exists_is_refuted(tmp_path, best, status):
    code = dense_random(10, 20, n_candidates=1, random_state=3)
    assert code.min_row_distance < 9
    bound = code.min_row_distance + (status == "feasible")
    claim = best.to_plain() | {
        "status": status,
        "objective": code.min_row_distance,
        "bound": bound,
        "problem": DesignProblem(10, 20).to_plain(),
        "separation_proof": None,
    }
    claim["proof"]["bound"] = bound
    path = tmp_path / "forged.json"
    write_file(code, path, certificate=claim)
    with pytest.raises(VerificationError, match=f"the bound {bound} is false: there is a codebook"):
        read_design(path)


def test_the_proof_of_another_codebook_is_no_proof_for_more_symbols(tmp_path, best):
    path = tmp_path / "forged.json"
    write_file(digits(6, n_symbols=3), path, certificate=best.to_plain())
    with pytest.raises(VerificationError, match="3 symbols where two are asked for"):
        read_design(path)


def test_a_sum_of_deviations_that_a_solver_is_said_to_need_is_refuted(tmp_path):
    targets = one_vs_rest(5).row_distances()
    goal = {"objective": "target-distances", "target_distances": targets}
    design = design_codebook(5, 5, **goal, formulation="ip3")
    assert (design.objective, design.certificate.kind) == (0, "solver")
    worse = dense_random(5, 5, random_state=1)
    value = design.problem.objective_of(worse)
    assert value > 0
    claim = design.to_plain() | {"objective": value, "bound": value}
    claim["proof"]["bound"] = value
    write_file(worse, tmp_path / "forged.json", certificate=claim)
    with pytest.raises(VerificationError, match="is false: there is a codebook"):
        read_design(tmp_path / "forged.json")


def test_the_word_of_a_solver_is_not_verified(best, by_theory, every_column):
    assert "rests on the word of highs" in unverified(best)
    assert "coding theory allows at most 6" in unverified(best)
    assert unverified(by_theory) is None
    assert unverified(every_column) is None


def test_a_verification_ends_at_its_time_limit(tmp_path, by_theory):
    path = tmp_path / "a.json"
    by_theory.save(path)
    with pytest.raises(TimeLimitError, match="not done within 0 seconds"):
        read_design(path, time_limit=0)


def test_claims_of_impossible_sizes_are_refused_at_once(tmp_path, every_column):
    pairs = design_codebook(6, 14, min_column_distance=1)
    assert pairs.certificate.facts["name"] == "pairs"

    def many(c):
        c["problem"]["n_columns"] = c["proof"]["facts"]["proof"]["n_columns"] = 10**9
        c["proof"]["facts"]["proof"].pop("packing", None)

    with pytest.raises(VerificationError, match="more columns than there are"):
        read_design(changed(tmp_path / "a.json", pairs, many))
    code = one_vs_rest(27)
    claim = every_column.to_plain() | {"objective": 2, "bound": 2}
    claim["problem"] |= {"n_classes": 27, "n_columns": 27}
    claim["proof"]["bound"] = 2
    write_file(code, tmp_path / "b.json", certificate=claim)
    with pytest.raises(VerificationError, match="too many columns for all of them"):
        read_design(tmp_path / "b.json")


def test_exhaustive_certificates_are_checked_from_scratch(tmp_path, best, every_column):
    every_column.save(tmp_path / "all.json")
    assert read_design(tmp_path / "all.json").status is Status.OPTIMAL
    fewer = every_column.codebook.take_columns(range(6))
    claim = every_column.to_plain() | {"objective": 3, "bound": 3}
    claim["proof"]["bound"] = 3
    assert fewer.min_row_distance == 3
    write_file(fewer, tmp_path / "fewer.json", certificate=claim)
    with pytest.raises(VerificationError, match="1 admissible column is not used"):
        read_design(tmp_path / "fewer.json")
    path = changed(
        tmp_path / "b.json",
        best,
        lambda c: c.update(proof={"kind": "exhaustive", "bound": 6, "facts": {}}),
    )
    with pytest.raises(VerificationError, match="proves nothing"):
        read_design(path)


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
        (lambda c: c["proof"]["facts"].update(value="1e999999999"), "the proof is about 1e9"),
        (lambda c: c["proof"]["facts"].update(value="8/0"), "the proof is about 8/0"),
        (lambda c: c["proof"]["facts"].update(value="８"), "the proof is about"),
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
