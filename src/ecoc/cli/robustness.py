"""The verbs that attack a trained model, and that prove what no attack can do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import click

from ecoc._checks import counted
from ecoc.cli._common import (
    F,
    common_options,
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

if TYPE_CHECKING:
    from ecoc.robustness.certificates.certify import BoundMethod, CertifiedDecoding
    from ecoc.robustness.model_files import ModelWithSamples


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
            "--norm", type=click.Choice(["linf", "l2"]), default="linf", show_default=True
        ),
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
    "--protocol", type=click.Choice(["strong", "paper"]), default="strong", show_default=True
)
@click.option("--steps", type=click.IntRange(min=1), default=100, show_default=True)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Return what has been found by then.",
)
@click.option("--no-certificates", is_flag=True, help="Do not try to certify beside.")
@common_options
def attack(
    model: str,
    data: str,
    data_folder: str | None,
    epsilons: tuple[float, ...],
    samples: int,
    norm: Literal["linf", "l2"],
    report: str | None,
    form: str,
    seed: int,
    protocol: Literal["strong", "paper"],
    steps: int,
    time_limit: float | None,
    no_certificates: bool,
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

    subject = _read(model, data, data_folder, samples, seed)
    radii = None
    if not no_certificates:
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
        time_limit=time_limit,
        random_state=seed,
        verbose=is_verbose() and not is_quiet(),
    )
    from ecoc.report import attack_page

    facts = _facts(model, data, subject)
    about = {"Attack": f"{protocol} protocol, {norm}", "Warnings": "; ".join(result.warnings)}
    _finish(result, facts, about, attack_page, report, "json" if as_json else form)


@click.command()
@_subject_options
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

    subject = _read(model, data, data_folder, samples, seed)
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


def _read(model: str, data: str, folder: str | None, samples: int, seed: int) -> ModelWithSamples:
    from ecoc.robustness.model_files import read_model_with_samples

    return read_model_with_samples(model, data, folder=folder, n_samples=samples, random_state=seed)


def _facts(model: str, data: str, subject: ModelWithSamples) -> Mapping[str, object]:
    return {
        "Model": f"{model}: {type(subject.model).__name__}",
        "Data": f"{data}: {counted(len(subject.X), 'sample')}",
        "Radii in": subject.units,
    }
