"""The verb that tells what is installed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import click

from ecoc.cli._common import common_options, print_facts, print_json

REQUIRED = (
    *("numpy", "scipy", "scikit-learn", "skops", "highspy", "numba"),
    *("joblib", "matplotlib", "click", "rich"),
)
EXTRAS = {"pyscipopt": "scip", "gurobipy": "gurobi", "distributed": "dask", "torch": "nn"}


@click.command()
@common_options
def info(as_json: bool) -> None:
    """Tell versions, and which optional parts are installed."""
    facts = {
        "ecoc": _version("ecoc"),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        **{name: _version(name) for name in (*REQUIRED, *EXTRAS)},
    }
    if as_json:
        print_json(facts)
        return
    for name, extra in EXTRAS.items():
        facts[name] = facts[name] or f"not installed (pip install 'ecoc[{extra}]')"
    print_facts({name: value or "not installed" for name, value in facts.items()})


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
