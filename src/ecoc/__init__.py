"""Provably optimal error-correcting output codes, and the classifiers built on them.

``import ecoc`` loads NumPy and nothing heavier; solvers, compilers and plotting
libraries load when something first needs them.
"""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from ecoc import codes, errors
from ecoc.codes import Codebook

__version__ = "0.1.0"

_LAZY = {
    "atlas": "ecoc.atlas",
    "bounds": "ecoc.bounds",
    "cli": "ecoc.cli",
    "constructions": "ecoc.constructions",
    "Design": "ecoc.design:Design",
    "DesignProblem": "ecoc.design:DesignProblem",
    "design": "ecoc.design",
    "design_codebook": "ecoc.design:design_codebook",
    "extend_codebook": "ecoc.design:extend_codebook",
    "ECOCClassifier": "ecoc.multiclass:ECOCClassifier",
    "datasets": "ecoc.datasets",
    "multiclass": "ecoc.multiclass",
    "nn": "ecoc.nn",
    "paper": "ecoc.paper",
    "robustness": "ecoc.robustness",
    "graphs": "ecoc.graphs",
    "report": "ecoc.report",
    "serving": "ecoc.serving",
    "survey": "ecoc.survey",
    "tables": "ecoc.tables",
    "to_onnx": "ecoc.export:to_onnx",
}

__all__ = [
    "Codebook",
    "Design",
    "DesignProblem",
    "ECOCClassifier",
    "__version__",
    "atlas",
    "bounds",
    "cli",
    "codes",
    "constructions",
    "datasets",
    "design",
    "design_codebook",
    "errors",
    "extend_codebook",
    "graphs",
    "load",
    "multiclass",
    "nn",
    "paper",
    "report",
    "robustness",
    "serving",
    "survey",
    "tables",
    "to_onnx",
]


def load(
    path: str | os.PathLike[str],
    *,
    trusted: Sequence[str] = (),
    architecture: Callable[..., Any] | None = None,
) -> Any:
    """Read what ``save`` wrote: a codebook, a design, a classifier or a network.

    Nothing in a file is run, and what a design claims is checked again.

    Parameters
    ----------
    path : str or path
        A ``.json``, ``.npz`` or ``.csv`` file of a codebook or design, a ``.skops`` file of a
        classifier, or a ``.safetensors`` file of networks.
    trusted : sequence of str
        For classifiers: the full names of types from elsewhere to trust.
    architecture : callable, optional
        For networks: the factory that made them, if they were not made by name.

    Returns
    -------
    Codebook, Design, ECOCClassifier, Pipeline, TableModel or a network of ``ecoc.nn``
        What was saved.

    Raises
    ------
    FileFormatError
        If the file cannot be read or is none of these.
    VerificationError
        If a design claims what does not hold.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> code = Codebook.from_rows(["+++", "+--", "-+-", "--+"])
    >>> with TemporaryDirectory() as folder:
    ...     code.save(f"{folder}/code.json")
    ...     load(f"{folder}/code.json") == code
    True
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()  # noqa: PTH122  # pathlib is heavier
    if suffix == ".skops":
        from ecoc.multiclass import load_model

        return load_model(path, trusted=trusted)
    if suffix == ".safetensors":
        from ecoc.nn import load_model as load_network

        return load_network(path, architecture=architecture)
    from ecoc.codes.files import read_file

    contents = read_file(path)
    if contents.certificate is None:
        return contents.codebook
    from ecoc.design import read_design

    return read_design(path)


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ecoc' has no attribute {name!r}")
    module, _, attribute = _LAZY[name].partition(":")
    room = import_module(module)
    return getattr(room, attribute) if attribute else room


def __dir__() -> list[str]:
    return sorted(__all__)
