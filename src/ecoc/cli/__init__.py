"""The ``ecoc`` command: one verb for each job, thin over the library."""

from __future__ import annotations

import click

from ecoc import __version__
from ecoc.cli._common import VerbGroup, common_options, print_facts, print_json

__all__ = ["main"]


_REQUIRED = (
    *("numpy", "scipy", "scikit-learn", "skops", "highspy", "numba"),
    *("joblib", "matplotlib", "click", "rich"),
)
_EXTRAS = {
    "pyscipopt": "scip",
    "gurobipy": "gurobi",
    "distributed": "dask",
    "torch": "nn",
    "onnx": "onnx",
    "starlette": "serve",
}


@click.group(
    cls=VerbGroup,
    verbs={
        "design": "ecoc.cli.design:design",
        "make": "ecoc.cli.codebooks:make",
        "show": "ecoc.cli.codebooks:show",
        "verify": "ecoc.cli.codebooks:verify",
        "convert": "ecoc.cli.codebooks:convert",
        "extend": "ecoc.cli.codebooks:extend",
        "bounds": "ecoc.cli.design:bounds",
        "atlas": "ecoc.cli.atlas:atlas",
        "cover": "ecoc.cli.design:cover",
        "data": "ecoc.cli.reproduce:data",
        "fit": "ecoc.cli.fit:fit",
        "predict": "ecoc.cli.fit:predict",
        "export": "ecoc.cli.fit:export",
        "serve": "ecoc.cli.serve:serve",
        "attack": "ecoc.cli.robustness:attack",
        "certify": "ecoc.cli.robustness:certify",
        "reproduce": "ecoc.cli.reproduce:reproduce",
        "report": "ecoc.cli.reproduce:report",
        "info": "ecoc.cli:info",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", prog_name="ecoc", message="%(prog)s %(version)s")
def main() -> None:
    """Design, check and use error-correcting output codes.

    Results go to standard output, everything else to standard error. A file named -
    is standard input or output. Exit codes: 0 ok (and proved, where there is something
    to prove), 1 error, 2 wrong usage, 3 feasible but not proved optimal, 4 infeasible,
    5 verification failed.
    """


@click.command()
@common_options
def info(as_json: bool) -> None:
    """Tell versions, and which optional parts are installed."""
    import platform

    facts = {
        "ecoc": _version("ecoc"),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        **{name: _version(name) for name in (*_REQUIRED, *_EXTRAS)},
    }
    if as_json:
        print_json(facts)
        return
    for name, extra in _EXTRAS.items():
        facts[name] = facts[name] or f"not installed (pip install 'ecoc[{extra}]')"
    print_facts({name: value or "not installed" for name, value in facts.items()})


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
