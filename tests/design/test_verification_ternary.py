"""Ternary designs are accepted and forged ones refused by both verifiers."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from tests.bounds.checking.test_ternary import lowest
from tests.test_verify_design import NOT_JUDGED, accepted, hurt, judged, load_tool, places

from ecoc.codes import Codebook, one_vs_one
from ecoc.design.result import Certificate, Design
from ecoc.design.solvers.base import Status
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.design.verification import unverified
from ecoc.errors import EcocError

WEIGHTS = [[0, 1, 2, 1, 1], [1, 0, 3, 1, 2], [2, 3, 0, 1, 1], [1, 1, 1, 0, 4.5], [1, 2, 1, 4.5, 0]]
ALIKE = [[0, 0, 0.5, 0.1, 0.2], [0, 0, 0.9, 0.4, 0], [0.5, 0.9, 0, 0.3, 0.8]]
ALIKE += [[0.1, 0.4, 0.3, 0, 0.75], [0.2, 0, 0.8, 0.75, 0]]


def confused(k: int) -> list[list[float]]:
    """Weights of pairs: the first three classes are often taken for one another."""
    return [[9.5 if max(p, q) < 3 else 1 for q in range(k)] for p in range(k)]


def alike_in_order(k: int) -> list[list[float]]:
    """How alike classes are that have an order."""
    return [[round(0.9 / max(abs(p - q), 1), 2) for q in range(k)] for p in range(k)]


RULES = {"max_imbalance": 0.5, "min_column_distance": 1, "class_sizes": [2, 1, 1, 3, 1]}
PROBLEMS = {
    "averaging": (TernaryProblem(5, 10, max_support=2), "averaging"),
    "budget": (TernaryProblem(5, column_cost=1.3, budget=60, class_sizes=[2, 1, 1, 3, 1]), ""),
    "rules": (TernaryProblem(5, 9, max_support=4, **RULES), "averaging"),
    "distance": (TernaryProblem(6, 15, objective="max-min-distance"), "averaging"),
    "errors": (TernaryProblem(7, 9, objective="guaranteed-errors"), "plotkin"),
    "plotkin": (TernaryProblem(7, 9), "plotkin"),
    "singleton": (TernaryProblem(33, 6), "singleton"),
    "hamming": (TernaryProblem(20, 8), "hamming"),
    "delsarte": (TernaryProblem(33, 6), "delsarte"),
    "inertia": (TernaryProblem(12, 8, max_support=10), "inertia"),
    "degrees": (TernaryProblem(9, 16, max_support=6), "degrees"),
    "packing": (TernaryProblem(20, 8), "packing"),
    "pairs": (TernaryProblem(20, 8), "pairs"),
    "enumeration": (TernaryProblem(4, 5), "enumeration"),
    "dual": (
        TernaryProblem(
            5,
            10,
            max_support=3,
            column_cost=1.5,
            budget=40,
            objective="weighted-cover",
            pair_weights=WEIGHTS,
            class_similarity=ALIKE,
        ),
        "dual",
    ),
    "dual, some classes": (
        TernaryProblem(16, 24, objective="weighted-cover", pair_weights=confused(16)),
        "dual",
    ),
    "dual, similar classes": (
        TernaryProblem(
            15, 24, budget=300, objective="weighted-cover", class_similarity=alike_in_order(15)
        ),
        "dual",
    ),
}


def random_codebook(problem: TernaryProblem, rng: np.random.Generator) -> Codebook:
    """Random columns that satisfy a problem."""
    k, n, support = problem.n_classes, problem.n_columns, problem.support_limit
    while True:
        if k > 16:
            # As columns, these seldom tell many classes apart.
            rows = rng.permutation(1 << n)[:k, None]
            matrix = 1 - 2 * (rows >> np.arange(n) & 1)
        else:
            used = np.argsort(rng.random((k, n)), axis=0)
            size = np.where(rng.random(n) < 0.7, support, rng.integers(2, support + 1, n))
            matrix = np.where(used < size // 2, 1, np.where(used < size, -1, 0))
        try:
            codebook = Codebook(matrix)
        except EcocError:
            continue
        if not problem.violations(codebook):
            return codebook


def design_of(problem: TernaryProblem, name: str, codebook: Codebook) -> Design:
    bound = lowest(problem.ternary_bounds, name) if name else problem.ternary_theory()
    certificate, objective = Certificate.of_bound(bound), problem.objective_of(codebook)
    best = objective == certificate.bound
    status = Status.OPTIMAL if best else Status.FEASIBLE
    return Design(problem, codebook, status, objective, certificate.bound, certificate)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """A design with a proof of each kind, as plain data."""
    path = tmp_path_factory.mktemp("ternary") / "design.json"
    rng = np.random.default_rng(0)
    made = {}
    for key, (problem, name) in PROBLEMS.items():
        easy = key in {"averaging", "budget", "dual"}
        codebook = one_vs_one(5) if easy else random_codebook(problem, rng)
        design_of(problem, name, codebook).save(path)
        made[key] = json.loads(path.read_text())
    return made


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What both verifiers say of a document: whether it is accepted, and an exit status."""
    path = tmp_path_factory.mktemp("ternary") / "design.json"
    main = load_tool()["main"]

    def verdicts(document):
        path.write_text(json.dumps(document))
        return accepted(path), main([str(path)])

    return verdicts


def test_the_stand_alone_verifier_needs_nothing_else(documents, tmp_path):
    path = tmp_path / "design.json"
    path.write_text(json.dumps(documents["averaging"]))
    code, said = judged(path)
    assert code == 0
    assert said.endswith("OPTIMAL: least cover of a pair 1, proved here (averaging)\n")


@pytest.mark.parametrize("key", PROBLEMS)
def test_honest_designs_are_accepted(documents, both, key, capsys):
    document = documents[key]
    design, code = both(document)
    assert design.problem == PROBLEMS[key][0]
    assert design.certificate.facts["name"] == PROBLEMS[key][1] or key == "budget"
    assert code == (0 if design.status is Status.OPTIMAL else 3)
    assert "proved here" in capsys.readouterr().out
    assert unverified(design) is None


def test_verdicts_name_the_objective(documents, both):
    wanted = {
        "averaging": "OPTIMAL: least cover of a pair 1 (averaging bound)",
        "errors": "errors surely corrected",
        "distance": "minimum row distance",
        "dual": "weighted cover",
    }
    for key, words in wanted.items():
        design, _ = both(documents[key])
        assert words in design.verdict
        assert design.plot_history().axes[0].get_ylabel() in design.verdict


# ------------------------------------------------------------------------ forgeries


def claim_of(document):
    return document["certificate"]


def facts_of(document):
    return document["certificate"]["proof"]["facts"]


def lower(document, step=1):
    """Claim a lower bound with the same proof."""
    claim = claim_of(document)
    value = Fraction(str(claim["bound"])) - step
    plain = int(value) if value.denominator == 1 else str(value)
    claim["bound"] = claim["proof"]["bound"] = plain
    facts_of(document)["value"] = str(value)


def longer(document):
    """Take the proof for a problem that allows more."""
    problem = claim_of(document)["problem"]
    problem["n_columns"] *= 2
    if problem["budget"] is not None:
        problem["budget"] *= 2


def another_column(document):
    """Add a column that nobody allowed, and claim what the matrix has then."""
    document["matrix"] = [row + "+-0"[min(i, 2)] for i, row in enumerate(document["matrix"])]
    document["figures"] = {}


def flip(document):
    """Change an entry of the matrix."""
    first = document["matrix"][0]
    document["matrix"][0] = ("0" if first[0] != "0" else "+") + first[1:]


def vouch(document):
    """Say that all columns are used."""
    claim_of(document)["proof"].update(kind="exhaustive", facts={})


def separate(document):
    """Add a bound on the column distance, of the form that binary codebooks have."""
    claim_of(document)["separation_proof"] = deepcopy(claim_of(document)["proof"])


@pytest.mark.parametrize("key", PROBLEMS)
@pytest.mark.parametrize("forge", [lower, longer, another_column, flip, vouch, separate])
def test_forgeries_are_refused_by_both(documents, both, key, forge):
    document = deepcopy(documents[key])
    if forge is lower and (key == "distance" or key.startswith("dual")):
        lower(document, Fraction(1, 2) if key == "distance" else Fraction(1, 10**6))
    else:
        forge(document)
    assert both(document) == (None, 5)


@pytest.mark.parametrize("key", PROBLEMS)
def test_the_proof_of_another_problem_is_refused_by_both(documents, both, key):
    refused = 0
    for other in PROBLEMS:
        document = deepcopy(documents[key])
        claim = claim_of(document)
        claim["proof"] = deepcopy(claim_of(documents[other])["proof"])
        claim["bound"] = claim["proof"]["bound"]
        claim["status"] = "feasible"
        design, code = both(document)
        assert (design is None) == (code == 5)
        refused += code == 5
    assert refused >= 5


@pytest.mark.parametrize("key", PROBLEMS)
def test_changed_numbers_are_judged_alike(documents, both, key):
    refused = tried = 0
    for path in list(places(facts_of(documents[key])["proof"]))[:8]:
        for change in (lambda n: n + 1, lambda n: 2 * n + 3, lambda n: n // 2):
            document = deepcopy(documents[key])
            inside = facts_of(document)["proof"]
            for step in path[:-1]:
                inside = inside[step]
            old = inside[path[-1]]
            if type(old) is int:
                inside[path[-1]] = change(old)
            elif type(old) is str and old[0].isdigit():
                inside[path[-1]] = str(change(Fraction(old)))
            else:
                continue
            design, code = both(document)
            assert (design is None) == (code == 5), (path, inside)
            refused, tried = refused + (code == 5), tried + 1
    assert 4 * refused >= tried


@pytest.mark.parametrize(
    ("key", "rules"),
    [
        ("averaging", {"n_classes": 6}),
        ("averaging", {"n_columns": 9}),
        ("averaging", {"min_cover": 2}),
        ("averaging", {"min_column_distance": 3}),
        ("averaging", {"budget": 19.9}),
        ("averaging", {"objective": "guaranteed-errors"}),
        ("budget", {"column_cost": 2}),
        ("rules", {"max_support": 3}),
        ("rules", {"max_imbalance": 0.1}),
        ("dual", {"pair_weights": None}),
        ("dual", {"class_similarity": None}),
    ],
)
def test_rules_that_the_matrix_breaks_are_found_by_both(documents, both, key, rules):
    document = deepcopy(documents[key])
    claim_of(document)["problem"].update(rules)
    assert both(document) == (None, 5)


@pytest.mark.parametrize(
    "rules",
    [
        {"alphabet": "binary"},
        {"separation": "one-sided"},
        {"nested": False},
        {"max_support": 1},
        {"column_cost": 11},
        {"budget": True},
        {"objective": "beauty"},
        {"pair_weights": WEIGHTS},
        {"objective": "weighted-cover", "pair_weights": [[0, 10**400], [1, 0]]},
        {"objective": "weighted-cover", "class_similarity": [[0, 1], [0]]},
        {"objective": "weighted-cover", "class_similarity": (2 - 2 * np.eye(5)).tolist()},
    ],
)
def test_what_is_no_ternary_problem_is_refused_by_both(documents, both, rules):
    document = deepcopy(documents["averaging"])
    claim_of(document)["problem"].update(rules)
    assert both(document) == (None, 1)


def test_the_word_of_a_solver_is_not_verified(documents, both, capsys):
    document = deepcopy(documents["averaging"])
    words = {
        "solver": "highs",
        "version": "1.15.1",
        "formulation": "TERNARY",
        "termination": "proved",
        "tolerances": dict.fromkeys(
            ("feasibility", "integrality", "absolute_gap", "relative_gap"), 1e-9
        ),
        "n_nodes": 1,
    }
    claim_of(document)["proof"].update(kind="solver", facts=words)
    design, code = both(document)
    assert code == 3
    assert "NOT VERIFIED" in capsys.readouterr().out
    assert "theory allows at most 1" in unverified(design)
    words["formulation"] = "IP4"
    assert both(document) == (None, 5)


def test_strange_files_are_judged_without_an_accident(documents, both):
    rng = random.Random(0)
    for _ in range(60):
        document = deepcopy(documents[rng.choice(list(documents))])
        where = hurt(document, rng)
        design, code = both(document)
        assert code in {0, 1, 3, 5}, where
        if code in {0, 3} and not NOT_JUDGED & set(where):
            assert design is not None, (where, document)
