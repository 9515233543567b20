import ast
import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import ecoc
from ecoc import errors

HEAVY = ("scipy", "sklearn", "torch", "highspy", "numba", "matplotlib", "joblib", "rich", "click")


def modules_after(statement):
    code = f"{statement}; import sys; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_import_loads_numpy_and_nothing_heavier():
    loaded = modules_after("import ecoc")
    assert "numpy" in loaded
    assert not loaded & set(HEAVY)
    foreign = loaded - modules_after("import numpy") - set(sys.stdlib_module_names) - {"ecoc"}
    assert not foreign


def test_designs_are_read_without_a_compiler_or_a_solver():
    assert not modules_after("import ecoc.design") & {"highspy", "numba", "sklearn", "torch"}


def test_every_public_name_is_there():
    for name in ecoc.__all__:
        assert getattr(ecoc, name) is not None
    assert sorted(ecoc.__all__) == dir(ecoc)
    assert not hasattr(ecoc, "surprise")


def test_the_version_is_the_packages():
    assert ecoc.__version__ == version("ecoc")
    assert re.fullmatch(r"\d+\.\d+\.\d+", ecoc.__version__)


def test_errors_have_one_base():
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.EcocError)


@pytest.mark.slow
def test_every_room_is_an_attribute():
    rooms = [room.name for room in pkgutil.iter_modules(ecoc.__path__) if room.ispkg]
    assert {"bounds", "codes", "design", "multiclass"} <= set(rooms)
    asked = "; ".join(f"ecoc.{room}.__name__" for room in rooms)
    subprocess.run([sys.executable, "-c", f"import ecoc; {asked}"], check=True)
    assert set(rooms) <= set(ecoc.__all__)


def definitions(tree):
    """The classes and the public constants that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (name for target in targets for name in ast.walk(target))
            names = [name.id for name in names if isinstance(name, ast.Name)]
            yield from (name for name in names if name.isupper() and name[0] != "_")


def test_no_class_and_no_public_constant_is_defined_twice():
    places = defaultdict(list)
    for path in sorted(Path(ecoc.__file__).parent.rglob("*.py")):
        for name in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            places[name].append(path.name)
    assert {"Codebook", "DECODERS"} <= set(places)
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


def test_a_design_problem_is_at_the_top():
    assert ecoc.DesignProblem is ecoc.design.DesignProblem
    assert ecoc.DesignProblem(10, 20).n_columns == 20


def test_one_function_reads_whatever_was_saved(tmp_path):
    code = ecoc.Codebook.from_rows(["+++", "+--", "-+-", "--+"], labels=list("abcd"))
    for suffix in ("json", "csv", "npz"):
        code.save(tmp_path / f"code.{suffix}")
        assert ecoc.load(tmp_path / f"code.{suffix}") == code

    design = ecoc.design_codebook(6, 10, random_state=0)
    design.save(tmp_path / "design.json")
    loaded = ecoc.load(tmp_path / "design.json")
    assert isinstance(loaded, ecoc.Design)
    assert loaded.codebook == design.codebook
    assert loaded.certificate == design.certificate

    samples, labels = load_iris(return_X_y=True)
    model = ecoc.ECOCClassifier(GaussianNB()).fit(samples, labels)
    model.save(tmp_path / "model.skops")
    assert (ecoc.load(tmp_path / "model.skops").predict(samples) == model.predict(samples)).all()

    network = ecoc.nn.NetworkClassifier("mlp", epochs=1, random_state=0).fit(samples, labels)
    network.save(tmp_path / "model.safetensors")
    assert (
        ecoc.load(tmp_path / "model.safetensors").predict(samples) == network.predict(samples)
    ).all()


def test_what_cannot_be_loaded_is_named(tmp_path):
    for name in ("missing.json", "missing.skops", "missing.safetensors"):
        with pytest.raises(errors.FileFormatError, match="cannot be read"):
            ecoc.load(tmp_path / name)
    (tmp_path / "model.pkl").write_bytes(b"")
    with pytest.raises(errors.EcocError, match=r"\.json"):
        ecoc.load(tmp_path / "model.pkl")


def test_rooms_show_what_users_call_and_little_more():
    rooms = [room.name for room in pkgutil.walk_packages(ecoc.__path__, "ecoc.") if room.ispkg]
    shown = {room: len(getattr(import_module(room), "__all__", ())) for room in rooms}
    assert "ecoc.multiclass.decoders" in shown
    assert {room: count for room, count in shown.items() if count > 17} == {}


WITHOUT_MIRROR = {
    "_typing": "names of types",
    "errors": "types of errors, which are raised everywhere",
    "constructions/_annealing": "kernels; what they give is counted again where they are called",
    "design/solvers/gurobi": "test_base runs on every solver that is installed",
    "design/solvers/highs": "test_base runs on every solver that is installed",
    "design/solvers/scip": "test_base runs on every solver that is installed",
}
ABOUT_NO_MODULE = {
    "test_benchmarks": "benchmarks/",
    "test_docs": "README and docs/",
    "test_docs_browser": "the site that make docs builds",
    "test_fuzz_files": "every reader of files",
    "test_package": "the package",
    "test_verify_design": "tools/verify_design.py",
}


def mirrored(test, modules):
    """The module that a test file is named after: test_MODULE.py or test_MODULE_TOPIC.py."""
    words = test.name.removeprefix("test_").split("_")
    names = ["_".join(words[:n]) for n in range(len(words), 0, -1)]
    return next((test.parent / name for name in names if test.parent / name in modules), None)


def test_tests_mirror_the_source():
    source, tests = Path(ecoc.__file__).parent, Path(__file__).parent
    paths = {path.relative_to(source).with_suffix("") for path in source.rglob("*.py")}
    modules = {path.parent / path.name.lstrip("_"): path.as_posix() for path in paths}
    files = {path.relative_to(tests).with_suffix("") for path in tests.rglob("test_*.py")}
    named = {test.as_posix(): mirrored(test, modules) for test in files}
    strays = {test for test, module in named.items() if module is None}
    # What a room's __init__ does, such as loading late, is tested in test_imports.
    strays = {test for test in strays if not test.endswith("/test_imports")}
    assert strays == set(ABOUT_NO_MODULE)
    seen = {modules[module] for module in named.values() if module is not None}
    missing = {path for path in modules.values() if not path.endswith("__init__")} - seen
    assert missing == set(WITHOUT_MIRROR)
