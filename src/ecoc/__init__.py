"""Provably optimal error-correcting output codes, and the classifiers built on them.

``import ecoc`` loads NumPy and nothing heavier; solvers, compilers and plotting
libraries load when something first needs them.
"""

from importlib import import_module
from typing import Any

from ecoc import codes, errors
from ecoc._version import __version__
from ecoc.codes import Codebook, read_codebook, write_codebook

_LAZY = {
    "bounds": "ecoc.bounds",
    "cli": "ecoc.cli",
    "constructions": "ecoc.constructions",
    "Design": "ecoc.design:Design",
    "DesignProblem": "ecoc.design:DesignProblem",
    "design": "ecoc.design",
    "design_codebook": "ecoc.design:design_codebook",
    "ECOCClassifier": "ecoc.multiclass:ECOCClassifier",
    "datasets": "ecoc.datasets",
    "multiclass": "ecoc.multiclass",
    "nn": "ecoc.nn",
    "paper": "ecoc.paper",
    "robustness": "ecoc.robustness",
    "read_design": "ecoc.design:read_design",
    "graphs": "ecoc.graphs",
    "report": "ecoc.report",
    "tables": "ecoc.tables",
}

__all__ = [
    "Codebook",
    "Design",
    "DesignProblem",
    "ECOCClassifier",
    "__version__",
    "bounds",
    "cli",
    "codes",
    "constructions",
    "datasets",
    "design",
    "design_codebook",
    "errors",
    "graphs",
    "multiclass",
    "nn",
    "paper",
    "read_codebook",
    "read_design",
    "report",
    "robustness",
    "tables",
    "write_codebook",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ecoc' has no attribute {name!r}")
    module, _, attribute = _LAZY[name].partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found


def __dir__() -> list[str]:
    return sorted(__all__)
