"""The verbs that attack a trained model, and that prove what no attack can do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import numpy as np

from ecoc._checks import check_int, counted, require
from ecoc._files import read_arrays, read_bytes
from ecoc.cli._common import (
    F,
    common_options,
    destination,
    format_option,
    is_quiet,
    is_verbose,
    print_facts,
    print_json,
    print_latex,
    report_option,
    talk,
    write_page,
)
from ecoc.errors import FileFormatError, InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ecoc.datasets import Dataset
    from ecoc.robustness.certificates.certify import BoundMethod, CertifiedDecoding


def _radii(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[float, ...]:
    try:
        radii = tuple(sorted(set(map(float, text.split(",")))))
    except ValueError:
        raise click.BadParameter(f"radii are numbers with commas between, not {text!r}.") from None
    if not all(0 <= radius < math.inf for radius in radii):
        raise click.BadParameter(f"radii are finite and not below 0, not {text!r}.")
    return radii


def _subject_options(verb: F) -> F:
    """What both verbs take: a model, samples for it, and radii."""
    for option in (
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
        report_option,
        format_option,
        click.option(
            "--samples",
            type=click.IntRange(min=1),
            default=200,
            show_default=True,
            help="How many samples, drawn at random.",
        ),
        click.option(
            "--eps", "epsilons", required=True, callback=_radii, help="Radii, such as 0.05,0.1."
        ),
        click.option(
            "--data-folder", metavar="DIR", help="Folder of data sets. [the variable ECOC_DATA]"
        ),
        click.option(
            "--data",
            required=True,
            metavar="DATA",
            help="A CSV file for a model of ecoc fit; for networks an NPZ file with X and y, "
            "or the name of a data set.",
        ),
        click.argument("model"),
    ):
        verb = option(verb)
    return verb


@click.command()
@_subject_options
@click.option(
    "--norm",
    default="linf",
    show_default=True,
    metavar="NAME",
    help="What radii measure: linf, l2 or l1 the size of a change, l0 its pixels, patch the "
    "side of a square, corruptions the severity, 1 to 5; or the name of one corruption.",
)
@click.option(
    "--protocol", type=click.Choice(["strong", "paper"]), default="strong", show_default=True
)
@click.option("--steps", type=click.IntRange(min=1), default=100, show_default=True)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Return what has been found by then, without certificates.",
)
@click.option("--no-certificates", is_flag=True, help="Do not try to certify beside.")
@click.option(
    "--examples",
    metavar="FILE",
    callback=destination(".npz"),
    help="Write the points that broke samples (.npz).",
)
@common_options
def attack(
    model: str,
    data: str,
    data_folder: str | None,
    epsilons: tuple[float, ...],
    samples: int,
    norm: str,
    report: str | None,
    form: str,
    seed: int,
    protocol: Literal["strong", "paper"],
    steps: int,
    time_limit: float | None,
    no_certificates: bool,
    examples: str | None,
    as_json: bool,
) -> None:
    """Attack a trained model in many ways, and count the samples that stand.

    MODEL is a .skops file of ecoc fit or a .safetensors file of ecoc.nn. Radii are in the
    units of the network's inputs; for a table model in standard deviations of its features,
    if its learner has them scaled. What stands may still fall to a better attack; warnings
    tell where gradients seem to be masked.
    """
    from ecoc.errors import UnsupportedError
    from ecoc.robustness import certify, evaluate_robustness
    from ecoc.robustness.models import adapt
    from ecoc.robustness.threat import check_norm

    check_norm(norm)
    subject = read_model_with_samples(
        model, data, folder=data_folder, n_samples=samples, random_state=seed
    )
    # What cannot be attacked is refused here, once, and not by the certificates as well.
    adapt(subject.model)
    radii = None
    if not no_certificates and time_limit is None:
        talk("certifying (--no-certificates leaves it out)")
        try:
            radii = certify(
                subject.model, subject.X, epsilons=epsilons, norm=norm, box=subject.box
            ).radii
        except UnsupportedError as error:
            talk(f"no certificates: {error}")
    result = evaluate_robustness(
        subject.model,
        subject.X,
        subject.y,
        epsilons=epsilons,
        protocol=protocol,
        norm=norm,
        box=subject.box,
        steps=steps,
        certified_radii=radii,
        keep_examples=examples is not None,
        time_limit=time_limit,
        random_state=seed,
        verbose=is_verbose() and not is_quiet(),
    )
    from ecoc.report import attack_page

    facts = _facts(model, data, subject)
    about = {
        "Attack": f"{protocol} protocol, {norm}",
        "Withheld": result.withheld,
        "Warnings": "; ".join(result.warnings),
    }
    try:
        _finish(result, facts, about, attack_page, report, "json" if as_json else form)
    finally:
        if examples is not None and result.examples is not None:
            result.examples.save(examples)
            talk(f"wrote {examples}: {counted(len(result.examples), 'point')}")


@click.command()
@_subject_options
@click.option("--norm", type=click.Choice(["linf", "l2"]), default="linf", show_default=True)
@click.option(
    "--method",
    type=click.Choice(["auto", "linear", "rbf", "ibp", "crown", "smoothing"]),
    default="auto",
    show_default=True,
)
@click.option(
    "--decoding",
    type=click.Choice(
        ["model", "soft", "normalised-linear", "hamming", "hamming-count", "all-bits"]
    ),
    default="model",
    show_default=True,
)
@common_options
def certify(
    model: str,
    data: str,
    data_folder: str | None,
    epsilons: tuple[float, ...],
    samples: int,
    norm: Literal["linf", "l2"],
    report: str | None,
    form: str,
    seed: int,
    method: BoundMethod,
    decoding: CertifiedDecoding,
    as_json: bool,
) -> None:
    """Prove for how many samples no change within a radius can change the decision.

    The arguments are those of ecoc attack. Linear and kernel columns are bounded in closed
    form, networks by interval or backward linear bounds; smoothing certifies the smoothed
    classifier, with a probability.
    """
    from ecoc.robustness import certify as prove

    subject = read_model_with_samples(
        model, data, folder=data_folder, n_samples=samples, random_state=seed
    )
    result = prove(
        subject.model,
        subject.X,
        subject.y,
        epsilons=epsilons,
        norm=norm,
        method=method,
        decoding=decoding,
        box=subject.box,
        random_state=seed,
        verbose=is_verbose() and not is_quiet(),
    )
    from ecoc.report import certificate_page

    facts = _facts(model, data, subject)
    form = "json" if as_json else form
    _finish(result, facts, {"Guarantee": result.guarantee}, certificate_page, report, form)
    if form == "text":
        click.echo(f"\n{result.guarantee}")


def _finish(
    result: Any,
    facts: Mapping[str, object],
    about: Mapping[str, str],
    page: Callable[[Any, Mapping[str, object]], str],
    report: str | None,
    form: str,
) -> None:
    """Print the result in a form, and write the page that was asked for."""
    try:
        if form == "json":
            print_json(result.to_dict())
        elif form == "latex":
            print_latex(result.to_latex(), {**facts, **{k: v for k, v in about.items() if v}})
        else:
            print_facts(facts)
            click.echo(f"\n{result}")
    finally:
        if report is not None:
            write_page(report, page(result, facts))


def _facts(model: str, data: str, subject: ModelWithSamples) -> Mapping[str, object]:
    return {
        "Model": f"{model}: {type(subject.model).__name__}",
        "Data": f"{data}: {counted(len(subject.X), 'sample')}",
        "Radii in": subject.units,
    }


@dataclass(frozen=True, eq=False)
class ModelWithSamples:
    """A model, samples in the units that it takes, and what these units are.

    Attributes
    ----------
    model : object
        What :func:`ecoc.robustness.evaluate_robustness` takes.
    X, y : arrays
        The samples and their labels.
    box : tuple of float or None
        The range of a feature.
    units : str
        What a radius is measured in.
    """

    model: Any
    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    box: tuple[float, float] | None
    units: str


def read_model_with_samples(
    model: str,
    data: str,
    *,
    folder: str | None = None,
    n_samples: int | None = None,
    random_state: int = 0,
) -> ModelWithSamples:
    """Read a model, and samples for it.

    Parameters
    ----------
    model : str
        A ``.skops`` file of ``ecoc fit``, or a ``.safetensors`` file of :mod:`ecoc.nn`.
    data : str
        For a table model a CSV file that has the classes too. For a network an NPZ file with
        the arrays X and y, or the name of a data set, whose test part is taken, scaled to the
        range that the network was trained on.
    folder : str, optional
        The folder of data files for data sets.
    n_samples : int, optional
        Take so many samples at random.
    random_state : int, default=0
        Which ones.
    """
    suffix = Path(model).suffix.lower()
    if suffix == ".skops":
        loaded = _table_model(model, data)
    elif suffix == ".safetensors":
        loaded = _network(model, data, folder)
    else:
        raise InvalidInputError(
            f"The model must be a .skops file (ecoc fit) or a .safetensors file (ecoc.nn), "
            f"not {model!r}."
        )
    if n_samples is None or check_int("n_samples", n_samples, minimum=1) >= len(loaded.X):
        return loaded
    rows = np.random.default_rng(random_state).permutation(len(loaded.X))[:n_samples]
    return replace(loaded, X=loaded.X[rows], y=loaded.y[rows])


def _table_model(path: str, data: str) -> ModelWithSamples:
    from ecoc.multiclass import load_model
    from ecoc.tables import TableModel, read_table

    model = TableModel.of(load_model(path))
    table = read_table(data)
    if model.target is None:
        raise InvalidInputError(
            "The model does not know which column has the classes; train it with ecoc fit."
        )
    table.check_column("The target", model.target)
    classifier, numbers = model.reach(table)
    labels = np.array(table.column(model.target)).astype(classifier.classes_.dtype)
    scaled = classifier is not model.pipeline
    return ModelWithSamples(
        classifier,
        np.asarray(numbers, dtype=np.float64),
        labels,
        None,
        "standard deviations of each feature" if scaled else "the features' own units",
    )


def _network(path: str, data: str, folder: str | None) -> ModelWithSamples:
    require("torch", extra="nn")
    from ecoc.datasets import DATASETS, load_dataset
    from ecoc.nn import load_model

    network = load_model(path)
    low, high = network.input_range_
    if data in DATASETS:
        dataset = load_dataset(data, data=folder)
        cut = dataset.n_train or 0
        values, labels = _laid_out(dataset)[cut:], dataset.y[cut:]
        values = low + (high - low) * values / values.max()
    else:
        values, labels = _read_arrays(data)
    shape = network.inputs_.given
    if values[0].size != int(np.prod(shape)):
        raise InvalidInputError(
            f"The samples must have the {int(np.prod(shape))} values that the network takes, not "
            f"{values[0].size}."
        )
    return ModelWithSamples(
        network, values.reshape(-1, *shape), labels, (low, high), "the inputs' range"
    )


def _laid_out(dataset: Dataset) -> npt.NDArray[np.float32]:
    """The samples of a data set, colours before pixels."""
    values = dataset.X if dataset.image_shape is None else dataset.images
    return (np.moveaxis(values, 3, 1) if values.ndim == 4 else values).astype(np.float32)


def _read_arrays(path: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    try:
        arrays = read_arrays(read_bytes(path), kinds="biufU")
    except FileFormatError as error:
        raise FileFormatError(
            f"{path!r} is neither the name of a data set nor an NPZ file of X and y: {error}"
        ) from error
    if not {"X", "y"} <= set(arrays):
        raise FileFormatError(f"{path}: must have the arrays X and y.")
    values, labels = arrays["X"], arrays["y"]
    if labels.ndim != 1 or values.shape[:1] != labels.shape or not values.size:
        raise FileFormatError(
            f"{path}: X must have a sample for each label of y, at least one, not the shapes "
            f"{values.shape} and {labels.shape}."
        )
    if values.dtype.kind == "U" or not np.isfinite(values).all():
        raise FileFormatError(f"{path}: X must have finite numbers only.")
    return values.astype(np.float32), labels
