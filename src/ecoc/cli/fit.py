"""The verbs that train a classifier on a table, and that use it."""

from __future__ import annotations

import csv
import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ecoc._checks import counted
from ecoc._files import write_output
from ecoc._workers import ProgressLines
from ecoc.cli._common import (
    common_options,
    csv_output_option,
    destination,
    format_option,
    is_quiet,
    is_verbose,
    load_trained,
    print_facts,
    print_json,
    print_latex,
    report_option,
    talk,
    trust_option,
    write_page,
)
from ecoc.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ecoc.tables import Predictions


LEARNER_NAMES = (
    *("svm", "kernel-ridge", "tree", "forest", "hist-boosting", "lightgbm", "xgboost"),
    *("logistic", "linear-svm", "naive-bayes"),
)
_SHOWN_WARNINGS = 3

_TABLE_OPTIONS = (
    click.option("--separator", metavar="CHAR", help="What separates cells. [found out]"),
    click.option("--encoding", metavar="NAME", help="UTF-8, UTF-16, Latin-1, ... [found out]"),
    click.option("--decimal", type=click.Choice([".", ","]), help="[found out, by column]"),
)


def _symbols(_: click.Context, __: click.Parameter, value: str | None) -> int | str | None:
    """A number of symbols, or "auto"."""
    if value is None or value == "auto":
        return value
    if not value.isascii() or not value.isdigit() or int(value) < 2:
        raise click.BadParameter("must be a whole number from 2 on, or auto.")
    return int(value)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a verb that reads a table."""
    for option in reversed(_TABLE_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("data", metavar="DATA")
@click.option("-t", "--target", required=True, metavar="COL", help="The column with the classes.")
@click.option(
    "--codebook",
    default="auto",
    show_default=True,
    metavar="NAME|FILE",
    help="auto, optimal, similarity, decoc, forest-ecoc, ecoc-one, minimal, a code of ecoc make, "
    "or the file of a codebook or design.",
)
@click.option("-l", "--columns", type=click.IntRange(min=1), help="Columns, L. [2k]")
@click.option(
    "--symbols",
    metavar="N|auto",
    callback=_symbols,
    help="Groups that a column may split the classes into; auto, the default of the codebook "
    "auto, is by the learner; others have 2.",
)
@click.option(
    "--learner",
    type=click.Choice(("auto", *LEARNER_NAMES)),
    default="auto",
    show_default=True,
    help="auto is svm for up to 5,000 rows, tree for more; lightgbm and xgboost must be installed.",
)
@click.option(
    "--c", "price", type=float, metavar="C", help="Price of errors (svm, linear-svm, logistic)."
)
@click.option("--gamma", type=float, help="Parameter of the kernel (svm, kernel-ridge).")
@click.option(
    "--tune",
    is_flag=True,
    help="Choose the learner's settings from a few, on what is trained on alone.",
)
@click.option(
    "--decoding",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="How column scores become a class: hamming, votes, hinge, linear, learned, ...",
)
@click.option(
    "--calibration",
    type=click.Choice(["sigmoid", "isotonic"]),
    help="Calibrate the columns, for learners without probabilities.",
)
@click.option("--drop", multiple=True, metavar="COL", help="Leave a column out; repeatable.")
@click.option(
    "--category",
    multiple=True,
    metavar="COL",
    help="A column whose numbers are names, such as postcodes; repeatable.",
)
@table_options
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Validate by cross-validation with so many folds.",
)
@click.option(
    "--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Rounds of folds."
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Validate once, on this share of the rows, such as 0.2.",
)
@click.option("--test", metavar="FILE", help="Validate once, on the rows of another table.")
@click.option("--no-validation", is_flag=True, help="Only train.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--jobs", type=int, help="Columns trained at a time (joblib's n_jobs).")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=destination(".skops"),
    help="Save the trained model (.skops).",
)
@report_option
@format_option
@common_options
def fit(
    data: str,
    target: str,
    codebook: str,
    columns: int | None,
    symbols: int | str | None,
    learner: str,
    price: float | None,
    gamma: float | None,
    tune: bool,
    decoding: str,
    calibration: str | None,
    drop: tuple[str, ...],
    category: tuple[str, ...],
    separator: str | None,
    encoding: str | None,
    decimal: str | None,
    folds: int,
    repeats: int,
    holdout: float | None,
    test: str | None,
    no_validation: bool,
    seed: int,
    jobs: int | None,
    output: str | None,
    report: str | None,
    form: str,
    as_json: bool,
) -> None:
    """Train a classifier on a table, and compare it with others.

    DATA is a CSV file (also .csv.gz), .parquet or .xlsx. The first line names its columns; all
    but the target are features: numbers, texts, booleans and dates, some of them missing. The
    chosen codebook, one-vs-rest, one-vs-one, the learner without a code and a forest are
    compared on the same held-out rows. The only row of a class is always trained on. The model
    that is saved is trained on all rows of DATA.
    """
    from ecoc.multiclass import save_model
    from ecoc.tables import fit_table, read_table
    from ecoc.tables.learners import TRUSTED_TYPES

    if form == "latex" and no_validation:
        raise click.UsageError("--format latex shows what validation gave; there is none.")
    written = {"separator": separator, "encoding": encoding, "decimal": decimal}
    table = read_table(data, **written)
    beside = None if test is None else read_table(test, **written)
    with told_warnings(), _shown_progress() as progress:
        result = fit_table(
            table,
            target,
            codebook=codebook,
            n_columns=columns,
            n_symbols=symbols,
            learner=learner,
            C=price,
            gamma=gamma,
            tune=tune,
            decoding=decoding,
            calibration=calibration,
            n_folds=folds,
            n_repeats=repeats,
            holdout=holdout,
            test=beside,
            validate=not no_validation,
            random_state=seed,
            n_jobs=jobs,
            drop=drop,
            categories=category,
            progress=progress,
        )
    # Shown before it is saved, and saved whatever comes of showing it: nothing is lost.
    try:
        if as_json or form == "json":
            print_json({**result.to_plain(), "file": output, "report": report})
        elif form == "latex":
            print_latex(result.to_latex(), result.facts)
        else:
            print_facts(result.facts)
            if result.comparison is not None:
                click.echo()
                _print_table(result.comparison.table())
        for hint in result.hints:
            talk(f"hint: {hint}")
    finally:
        try:
            if output is not None:
                save_model(result.model, output, trusted=TRUSTED_TYPES.get(result.learner, ()))
                talk(f"written to {output}")
        finally:
            if report is not None:
                from ecoc.report import fit_page

                write_page(report, fit_page(result))


def _print_table(lines: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        click.echo("  ".join(cells).rstrip())


@contextmanager
def told_warnings() -> Iterator[None]:
    """Say what libraries warn of in a line each, and each thing once."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    texts = list(dict.fromkeys(str(warning.message) for warning in caught))
    for text in texts[:_SHOWN_WARNINGS]:
        talk(f"note: {' '.join(text.split())}")
    if len(texts) > _SHOWN_WARNINGS:
        talk(f"note: {counted(len(texts) - _SHOWN_WARNINGS, 'more warning')}")


@contextmanager
def _shown_progress() -> Iterator[Callable[[int, int], object] | None]:
    """Show a bar of trainings on standard error, if a person looks; with -v a log has lines."""
    if is_quiet() or not (sys.stderr.isatty() or is_verbose()):
        yield None
        return
    if not sys.stderr.isatty():
        lines = ProgressLines(talk)
        yield lambda done, total: lines(f"training: {done} of {total}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns: tuple[Any, ...] = (
        *("[progress.description]{task.description}", BarColumn()),
        *(MofNCompleteColumn(), TimeRemainingColumn()),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("training", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@csv_output_option
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option("--margin", is_flag=True, help="Add how many wrong columns each can still absorb.")
@table_options
@trust_option
@common_options
def predict(
    model: str,
    data: str,
    output: str | None,
    proba: bool,
    margin: bool,
    separator: str | None,
    encoding: str | None,
    decimal: str | None,
    trust: tuple[str, ...],
    as_json: bool,
) -> None:
    """Predict the classes of the rows of a table with a model of ecoc fit.

    DATA is a CSV file (also .csv.gz), .parquet or .xlsx. Columns are found by name; those that
    the model does not take are ignored, and those that are not there count as missing. Where
    the column of classes is there, the accuracy is told on standard error.
    """
    from ecoc.tables import TableModel, read_table

    with told_warnings():
        predictions = TableModel.of(load_trained(model, trust)).predict(
            read_table(data, separator=separator, encoding=encoding, decimal=decimal),
            proba=proba,
            margin=margin,
        )
    for note in predictions.notes:
        talk(f"note: {note}")
    if predictions.accuracy is not None:
        talk(f"accuracy {predictions.accuracy:.4f} on {counted(len(predictions.labels), 'row')}")
    if as_json:
        print_json(predictions.to_plain())
        return
    text = _csv(predictions).encode()
    try:
        write_output(output or "-", text)
    except FileFormatError:
        # They were asked for: on standard output they are not lost.
        write_output("-", text)
        raise
    if output is not None and output != "-":
        talk(f"written to {output}")


def _csv(predictions: Predictions) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(predictions.header)
    writer.writerows(predictions.rows())
    return stream.getvalue()


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
