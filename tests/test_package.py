import pkgutil
import re
import subprocess
import sys
from importlib.metadata import version

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


def test_every_room_is_an_attribute():
    rooms = [room.name for room in pkgutil.iter_modules(ecoc.__path__) if room.ispkg]
    assert {"bounds", "codes", "design", "multiclass"} <= set(rooms)
    asked = "; ".join(f"ecoc.{room}.__name__" for room in rooms)
    subprocess.run([sys.executable, "-c", f"import ecoc; {asked}"], check=True)
    assert set(rooms) <= set(ecoc.__all__)


def test_a_design_problem_is_at_the_top():
    assert ecoc.DesignProblem is ecoc.design.DesignProblem
    assert ecoc.DesignProblem(10, 20).n_columns == 20
