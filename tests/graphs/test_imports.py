import subprocess
import sys

import pytest

import ecoc.graphs


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, ecoc.graphs; "
        "print([m for m in ('numba', 'scipy', 'networkx', 'joblib') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


def test_every_public_name_is_there():
    assert dir(ecoc.graphs) == sorted(ecoc.graphs.__all__)
    for name in ecoc.graphs.__all__:
        assert getattr(ecoc.graphs, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ecoc.graphs.nothing  # noqa: B018
