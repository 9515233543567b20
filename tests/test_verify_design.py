"""The verifier that needs only the standard library, against the package's own."""

import contextlib
import io
import json
import random
import subprocess
import sys
from collections import Counter
from copy import deepcopy
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.design.forgeries import FORGED

from ecoc import Codebook, design_codebook
from ecoc.bounds import BoundProblem, all_bounds, separation_bound, target_bound, words_bound
from ecoc.codes import one_vs_rest, write_codebook
from ecoc.codes.columns import columns_to_matrix
from ecoc.design import Design, DesignProblem, Status, read_design
from ecoc.design.result import Certificate
from ecoc.errors import EcocError

TOOL = Path(__file__).parents[1] / "tools" / "verify_design.py"


@cache
def load_tool():
    space = {"__name__": "verify_design"}
    exec(compile(TOOL.read_text(), str(TOOL), "exec"), space)
    return space


def judged(path):
    """What the tool does, in the process of the tests, which is much faster."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = load_tool()["main"]([str(path)])
    return code, said.getvalue()


def judged_alone(path):
    """Run the tool without site-packages and without the directory of the tests."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(TOOL), str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.stderr
    return done.returncode, done.stdout


def accepted(path):
    try:
        return read_design(path)
    except EcocError:
        return None


TARGETS = [[0, 1, 1, 2.5], [1, 0, 1, 0.5], [1, 1, 0, 3], [2.5, 0.5, 3, 0]]
FAR = (7 - 7 * np.eye(5)).tolist()

DESIGNS = {
    "averaging": ({"n_classes": 8, "n_columns": 14}, 0),
    "parity": ({"n_classes": 5, "n_columns": 5, "min_column_distance": 1}, 0),
    "packing": ({"n_classes": 4, "n_columns": 8, "min_column_distance": 2}, 0),
    "plotkin": ({"n_classes": 50, "n_columns": 13}, 0),
    "inner-products": ({"n_classes": 7, "n_columns": 14, "min_column_distance": 2}, 0),
    "pairs": ({"n_classes": 6, "n_columns": 14, "min_column_distance": 1}, 0),
    "exhaustive": ({"n_classes": 4, "n_columns": 9}, 0),
    "exhaustive, balanced": ({"n_classes": 6, "n_columns": 12, "max_imbalance": 0}, 0),
    "exhaustive, sizes": (
        {
            "n_classes": 6,
            "n_columns": 8,
            "max_imbalance": 0.1,
            "class_sizes": [3, 1, 2, 2, 1, 1],
        },
        0,
    ),
    "balance by sizes": (
        {
            "n_classes": 6,
            "n_columns": 8,
            "max_imbalance": 0.4,
            "class_sizes": [3, 1, 2, 2, 1, 1],
        },
        0,
    ),
    "one-sided": (
        {"n_classes": 6, "n_columns": 10, "min_column_distance": 2, "separation": "one-sided"},
        0,
    ),
    "literal": (
        {"n_classes": 6, "n_columns": 10, "min_column_distance": 2, "separation": "literal"},
        0,
    ),
    "solver": ({"n_classes": 6, "n_columns": 10, "method": "integer-program"}, 3),
    "two solvers": (
        {"n_classes": 5, "n_columns": 7, "method": "integer-program", "solver": "both"},
        3,
    ),
    "targets, cut": (
        {"n_classes": 4, "n_columns": 6, "target_distances": TARGETS},
        None,
    ),
    "targets, sum": ({"n_classes": 5, "n_columns": 10, "target_distances": FAR}, None),
    "symbols, averaging": ({"n_classes": 10, "n_columns": 9, "n_symbols": 4}, 0),
    "symbols, plotkin": ({"n_classes": 10, "n_columns": 3, "n_symbols": 3}, 0),
    "symbols, hamming": ({"n_classes": 23, "n_columns": 5, "n_symbols": 3}, None),
    "symbols, delsarte": ({"n_classes": 19, "n_columns": 5, "n_symbols": 3}, None),
    "symbols, exhaustive": ({"n_classes": 4, "n_columns": 20, "n_symbols": 3}, 0),
    "symbols, all apart": (
        {"n_classes": 12, "n_columns": 6, "n_symbols": 4, "min_column_distance": 6},
        0,
    ),
    "symbols, balance": (
        {
            "n_classes": 6,
            "n_columns": 5,
            "n_symbols": 3,
            "max_imbalance": 0.3,
            "class_sizes": [3, 1, 2, 2, 1, 1],
        },
        None,
    ),
    "symbols, solver": (
        {"n_classes": 6, "n_columns": 7, "n_symbols": 3, "method": "integer-program"},
        3,
    ),
    "many symbols": ({"n_classes": 45, "n_columns": 3, "n_symbols": 40}, 0),
}


@pytest.fixture(scope="module")
def designs(tmp_path_factory):
    """Designs of many kinds, in files."""
    folder = tmp_path_factory.mktemp("designs")
    made = {}
    for i, (name, (asked, _)) in enumerate(DESIGNS.items()):
        goal = {"objective": "target-distances"} if "target_distances" in asked else {}
        design = design_codebook(**asked, **goal, random_state=0)
        made[name] = folder / f"{i}.json"
        design.save(made[name])
    return made


@pytest.mark.parametrize("name", DESIGNS)
def test_verdicts_are_those_of_the_package(designs, name):
    design = read_design(designs[name])
    code, said = judged_alone(designs[name])
    expected = DESIGNS[name][1]
    assert code == expected if expected is not None else code in {0, 3}
    assert f"min_row_distance: {design.codebook.min_row_distance}\n" in said
    verdict = said.splitlines()[-1]
    assert f" {float(design.objective):.12g}" in verdict
    if code == 0:
        assert design.status is Status.OPTIMAL
        assert design.certificate.is_checkable
        assert verdict.startswith("OPTIMAL: ")
        assert "proved here" in verdict
    else:
        word = design.certificate.kind in {"solver", "two-solvers"}
        assert verdict.startswith("NOT VERIFIED" if word else "FEASIBLE")


def test_the_kinds_of_proof_are_what_their_names_say(designs):
    for name in ("averaging", "parity", "plotkin", "inner-products", "pairs"):
        assert read_design(designs[name]).certificate.facts["name"] == name
    for name in ("averaging", "plotkin", "hamming", "delsarte"):
        assert read_design(designs[f"symbols, {name}"]).certificate.facts["name"] == name
    for name, kind in [
        ("exhaustive", "exhaustive"),
        ("exhaustive, sizes", "exhaustive"),
        ("solver", "solver"),
        ("two solvers", "two-solvers"),
        ("balance by sizes", "theory"),
    ]:
        assert read_design(designs[name]).certificate.kind == kind


def test_the_balance_rule_takes_the_decimal_as_it_is_written(tmp_path):
    # In binary 0.6 is a little less than 3 / 5.
    problem = DesignProblem(5, 5, max_imbalance=0.6)
    path = tmp_path / "a.json"
    Design(problem, one_vs_rest(5), Status.FEASIBLE, 2, None, None).save(path)
    assert accepted(path) is not None
    code, said = judged(path)
    assert code == 3
    assert said.endswith("FEASIBLE: least row distance 2; no bound is claimed\n")


def test_what_is_not_proved_here_is_said(designs):
    assert "optimal only by the word of highs" in judged(designs["solver"])[1]
    assert " and scip" in judged(designs["two solvers"])[1]


@pytest.mark.parametrize("message", FORGED)
def test_forged_words_of_solvers_are_refused_by_both(designs, tmp_path, message):
    document = json.loads(designs["solver"].read_text())
    FORGED[message](document["certificate"])
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(document))
    assert judged(path)[0] == 5
    assert accepted(path) is None


# ------------------------------------------------------------------ tampering


def tampered(designs, name, tmp_path, change):
    document = json.loads(designs[name].read_text())
    change(document)
    path = tmp_path / "tampered.json"
    path.write_text(json.dumps(document))
    return path


def flip(document, row=1, column=2):
    text = document["matrix"][row]
    other = "-" if text[column] == "+" else "+"
    document["matrix"][row] = text[:column] + other + text[column + 1 :]


def lower_bound_everywhere(document):
    claim = document["certificate"]
    claim["bound"] = claim["proof"]["bound"] = claim["bound"] - 1
    claim["proof"]["facts"]["value"] = str(claim["bound"])


def proof_of(document):
    return document["certificate"]["proof"]["facts"]["proof"]


FALSE = [
    ("averaging", flip),
    ("plotkin", flip),
    ("exhaustive", flip),
    ("solver", flip),
    ("targets, cut", flip),
    ("averaging", lambda d: d["certificate"].update(objective=9)),
    ("averaging", lambda d: d["certificate"].update(bound=9)),
    ("averaging", lambda d: d["certificate"].update(bound=None)),
    ("averaging", lambda d: d["certificate"].update(proof=None)),
    ("averaging", lambda d: d["certificate"]["proof"].update(bound=7)),
    ("averaging", lambda d: d["certificate"]["proof"]["facts"].update(value="7")),
    ("averaging", lambda d: d["certificate"]["proof"]["facts"].update(value="1e999")),
    ("averaging", lambda d: d["certificate"]["proof"]["facts"].update(name="faith")),
    ("averaging", lambda d: d["certificate"]["proof"]["facts"].update(name="known")),
    ("averaging", lambda d: d["certificate"]["proof"]["facts"].update(proof={})),
    ("averaging", lower_bound_everywhere),
    ("averaging", lambda d: proof_of(d).update(largest_sum=200)),
    ("averaging", lambda d: proof_of(d).update(n_columns=13)),
    ("averaging", lambda d: d["certificate"]["problem"].update(n_columns=20)),
    ("averaging", lambda d: d["certificate"]["problem"].update(n_columns=13)),
    ("averaging", lambda d: d["certificate"]["problem"].update(n_classes=9)),
    ("averaging", lambda d: d["certificate"]["problem"].update(min_column_distance=3)),
    ("averaging", lambda d: d["certificate"]["separation_proof"].update(bound=1)),
    ("averaging", lambda d: d["certificate"]["separation_proof"]["facts"].update(name="x")),
    ("averaging", lambda d: d["figures"].update(min_row_distance=7)),
    ("averaging", lambda d: d["figures"].update(correctable_errors=4)),
    ("averaging", lambda d: d["figures"].update(row_distance_spectrum={"8": 27})),
    ("averaging", lambda d: d["figures"].update(min_column_distance_two_sided=3)),
    ("averaging", lambda d: d["figures"].update(min_column_distance_one_sided=1)),
    ("averaging", lambda d: d["figures"].update(max_imbalance=0.5)),
    ("averaging", lambda d: d["figures"].update(kind="ternary")),
    ("averaging", lambda d: d["figures"].update(beauty=1)),
    ("parity", lambda d: proof_of(d).update(needed_sum=1)),
    ("parity", lambda d: d["certificate"]["proof"]["facts"].update(name="averaging")),
    ("plotkin", lambda d: proof_of(d)["words"].update(shortened=0)),
    ("plotkin", lambda d: proof_of(d)["words"].update(size=50)),
    ("plotkin", lambda d: proof_of(d)["words"].update(size=47)),
    ("plotkin", lambda d: proof_of(d)["words"].update(method="hamming")),
    ("inner-products", lambda d: proof_of(d).update(polynomial=[1, 0, 0])),
    ("inner-products", lambda d: d["certificate"]["problem"].update(separation="one-sided")),
    ("exhaustive", lambda d: d.update(matrix=[row[:-1] for row in d["matrix"]], figures={})),
    ("exhaustive", lambda d: d["certificate"]["problem"].update(min_column_distance=2)),
    ("exhaustive, sizes", lambda d: d["certificate"]["problem"].update(max_imbalance=1)),
    ("packing", lambda d: proof_of(d).update(n_columns=2, largest_sum=8)),
    ("packing", lambda d: proof_of(d).update(n_columns=8, largest_sum=28)),
    ("packing", lambda d: proof_of(d)["packing"].update(method="count")),
    ("packing", lambda d: proof_of(d)["packing"].update(size=1)),
    ("packing", lambda d: proof_of(d).pop("packing")),
    ("exhaustive, sizes", lambda d: d["certificate"]["problem"]["class_sizes"].reverse()),
    ("solver", lambda d: d["certificate"].update(bound=5)),
    ("targets, cut", lambda d: d["certificate"].update(objective=0)),
    ("targets, sum", lambda d: proof_of(d).update(largest_sum=59)),
]


@pytest.mark.parametrize(("name", "change"), FALSE)
def test_tampering_is_found(designs, tmp_path, name, change):
    path = tampered(designs, name, tmp_path, change)
    code, said = judged(path)
    assert code == 5
    assert said.startswith("INVALID: ")
    if "largest_sum is" not in said:  # the package does not look at one that it need not
        assert accepted(path) is None


@pytest.mark.parametrize("n_generators", [1, 3, 5])
@pytest.mark.parametrize("change", ["none", "shifted", "one more", "one other", "one less"])
def test_distances_of_linear_words_and_of_others_are_counted(n_generators, change):
    rng = random.Random(n_generators)
    words = [0]
    while len(words) < 1 << n_generators:
        generator = rng.getrandbits(20)
        if generator not in words:
            words += [word ^ generator for word in words]
    new = next(word for word in iter(lambda: rng.getrandbits(20), None) if word not in words)
    if change == "shifted":
        words = [word ^ new for word in words]
    elif change == "one more":
        words.append(new)
    elif change == "one other":
        words[-1] = new
    elif change == "one less":
        words = words[: max(2, len(words) - 1)]
    rng.shuffle(words)
    pairs = Counter((a ^ b).bit_count() for a, b in combinations(words, 2))
    assert load_tool()["distances"](words) == pairs


def test_repeated_columns_and_equal_rows_are_no_codebook(designs, tmp_path):
    def repeat(document):
        document["matrix"] = [row + ("-" if row[0] == "+" else "+") for row in document["matrix"]]
        document.update(allow_repeated_columns=True, figures={})
        document["certificate"]["problem"]["n_columns"] += 1

    def equal(document):
        document["matrix"][0] = document["matrix"][1]

    for change in (repeat, equal):
        assert judged(tampered(designs, "exhaustive", tmp_path, change))[0] == 5


# -------------------------------------------------------------------- hostile


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "[]",
        "{}",
        "[" * 100_000,
        '{"format": "ecoc-codebook", "version": 2}',
        '{"format": "ecoc-codebook", "version": 1, "matrix": ["+", "-"]}',
        '{"format": "ecoc-codebook", "format": "ecoc-codebook"}',
        '{"format": "ecoc-codebook", "version": 1, "matrix": 3, "certificate": {}}',
        '{"format": NaN}',
        '{"format": 1e999}',
        '{"version": ' + "9" * 10_000 + "}",
        '{"format": "\\ud800", "\\ud800": 1}',
    ],
)
def test_what_is_no_design_is_refused(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    code, said = judged_alone(path)
    assert code == 1
    assert said.startswith("not a design file: ")


def test_a_missing_file_a_folder_and_a_mere_codebook_are_refused(tmp_path):
    write_codebook(one_vs_rest(4), tmp_path / "code.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for name in ("missing.json", ".", "code.json", "bytes.json"):
        assert judged(tmp_path / name)[0] == 1


def test_usage():
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(TOOL)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "usage" in done.stderr


def places(value, path=()):
    """Produce the path to every value in plain data."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


STRANGE = [None, True, -1, 0, 10**30, 10**4000, 0.5, 1e300, "", "\ud800\n", [], {}, [[]], [1, 2]]


def hurt(document, rng):
    """Put something strange anywhere."""
    *path, last = rng.choice(list(places(document)))
    inside = document
    for key in path:
        inside = inside[key]
    old = inside[last]
    near = [old + 1, old - 1] if type(old) in {int, float} else []
    inside[last] = deepcopy(rng.choice(STRANGE + 10 * near))
    return (*path, last)


NOT_JUDGED = {
    *("name", "labels", "provenance", "allow_repeated_columns", "notes", "reason"),
    *("solver", "version", "formulation", "termination", "tolerances", "n_nodes"),
}
"""What tells a story, and does not bear on any claim."""


@pytest.mark.parametrize("seed", range(4))
def test_strange_files_are_judged_without_an_accident(designs, tmp_path, capsys, seed):
    rng = random.Random(seed)
    main = load_tool()["main"]
    path = tmp_path / "strange.json"
    for _ in range(150):
        name = rng.choice(list(designs))
        document = json.loads(designs[name].read_text())
        where = hurt(document, rng)
        path.write_text(json.dumps(document))
        code = main([str(path)])
        said = capsys.readouterr().out
        assert code in {0, 1, 3, 5}, (where, said)
        said.encode("ascii")
        if code in {0, 3} and not NOT_JUDGED & set(where):
            assert accepted(path) is not None, (name, where, document)


# ------------------------------------------------------------ random agreement


def random_problem(rng):
    k = rng.randint(3, 8)
    balanced = rng.random() < 0.4
    sizes = [rng.randint(1, 9) for _ in range(k)] if balanced and rng.random() < 0.6 else None
    targets = None
    if rng.random() < 0.25:
        targets = np.triu([[rng.randint(0, 12) / rng.choice([1, 2, 3]) for _ in range(k)]] * k, 1)
        targets = (targets + targets.T).tolist()
    return DesignProblem(
        k,
        rng.randint((k - 1).bit_length(), 14),
        min_column_distance=rng.choice([None, 1, 2, 2, 3]),
        separation=rng.choice(["two-sided", "two-sided", "one-sided", "literal"]),
        max_imbalance=rng.choice([0, 0.1, 0.3, 0.5, 0.75]) if balanced else None,
        class_sizes=sizes,
        objective="max-min-distance" if targets is None else "target-distances",
        target_distances=targets,
    )


def random_codebook(problem, rng):
    """Random columns that go together; None if they do not tell the classes apart."""
    columns = list(problem.candidates)
    rng.shuffle(columns)
    low, high = problem.separation_limits
    chosen = []
    for column in columns:
        if all(low <= (column ^ other).bit_count() <= high for other in chosen):
            chosen.append(column)
        if len(chosen) == problem.n_columns:
            break
    if not chosen:
        return None
    try:
        return Codebook(columns_to_matrix(chosen, problem.n_classes))
    except EcocError:
        return None


def random_design(rng):
    while True:
        problem = random_problem(rng)
        codebook = random_codebook(problem, rng)
        if codebook is not None:
            break
    if not problem.maximises:
        bound = target_bound(problem.n_columns, problem.target_distances)
    else:
        bounds = [bound for bound in all_bounds(problem.bound_problem) if bound.cited is None]
        bound = rng.choice([bounds[0], rng.choice(bounds)])
    objective = problem.objective_of(codebook)
    certificate = Certificate.of_bound(bound)
    complete = problem.maximises and problem.rho == 1
    if complete and codebook.n_columns == len(problem.candidates):
        certificate = Certificate("exhaustive", objective, {})
    separation = None
    if codebook.n_columns > 1 and rng.random() < 0.5:
        distance = int(codebook.min_row_distance)
        separation = Certificate.of_bound(
            separation_bound(problem.n_classes, codebook.n_columns, min_row_distance=distance)
        )
    best = certificate.bound == objective
    return Design(
        problem,
        codebook,
        Status.OPTIMAL if best else Status.FEASIBLE,
        objective,
        certificate.bound,
        certificate,
        separation_certificate=separation,
    )


def test_the_verifiers_agree_on_random_designs(tmp_path, capsys):
    rng = random.Random(1)
    path = tmp_path / "a.json"
    codes = []
    main = load_tool()["main"]
    for _ in range(120):
        design = random_design(rng)
        design.save(path)
        assert accepted(path) is not None
        code, said = main([str(path)]), capsys.readouterr().out
        assert code == (0 if design.status is Status.OPTIMAL else 3), (design, said)
        codes.append(code)
    assert codes.count(0) >= 15
    assert codes.count(3) >= 15


def test_the_verifiers_agree_on_changed_designs(tmp_path, capsys):
    rng = random.Random(2)
    main = load_tool()["main"]
    path = tmp_path / "a.json"
    rejected = 0
    for _ in range(300):
        design = random_design(rng)
        design.save(path)
        document = json.loads(path.read_text())
        numbers = [
            p
            for p in places(document["certificate"])
            if type(_at(document["certificate"], p)) is int
        ]
        *inner, last = rng.choice(numbers)
        inside = _at(document["certificate"], inner)
        inside[last] += rng.choice([-1, 1])
        path.write_text(json.dumps(document))
        code = main([str(path)])
        said = capsys.readouterr().out
        expected = accepted(path)
        if last == "largest_sum":
            continue
        assert (code in {0, 3}) == (expected is not None), (inner, last, said, document)
        rejected += expected is None
    assert rejected >= 100


def _at(value, path):
    for key in path:
        value = value[key]
    return value


# ------------------------------------------------- proofs that designs seldom need


@pytest.mark.parametrize("name", ["singleton", "hamming", "plotkin", "johnson", "delsarte"])
@pytest.mark.parametrize(("k", "n_columns"), [(90, 16), (1000, 24)])
def test_proofs_about_words(tmp_path, k, n_columns, name):
    # The last two arguments are only tried from somewhere below half the length downwards.
    tries = (
        words_bound(BoundProblem(k, n_columns), name, below=d) for d in range(n_columns, 0, -1)
    )
    bound = next(bound for bound in tries if bound is not None)
    rng = random.Random(0)
    rows = rng.sample(range(2**n_columns), k)
    matrix = [[1 - 2 * (row >> j & 1) for j in range(n_columns)] for row in rows]
    codebook = Codebook(matrix)
    certificate = Certificate.of_bound(bound)
    design = Design(
        DesignProblem(k, n_columns),
        codebook,
        Status.FEASIBLE,
        codebook.min_row_distance,
        certificate.bound,
        certificate,
    )
    path = tmp_path / "a.json"
    design.save(path)
    assert accepted(path) is not None
    code, said = judged(path)
    assert code == 3
    assert said.rstrip().endswith("proved here")
    document = json.loads(path.read_text())
    lower_bound_everywhere(document)
    path.write_text(json.dumps(document))
    assert accepted(path) is None
    assert judged(path)[0] == 5
