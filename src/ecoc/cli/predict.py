"""The verb that uses a trained classifier."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import click

from ecoc._files import write_output
from ecoc.cli._common import common_options, destination, print_json, talk
from ecoc.cli.fit import told_warnings
from ecoc.errors import FileFormatError

if TYPE_CHECKING:
    from ecoc.tables import Predictions


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA.csv")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=destination(),
    help="Write the CSV there. [standard output]",
)
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option("--margin", is_flag=True, help="Add how many wrong columns each can still absorb.")
@common_options
def predict(
    model: str, data: str, output: str | None, proba: bool, margin: bool, as_json: bool
) -> None:
    """Predict the classes of the rows of a CSV file with a model of ecoc fit.

    Columns are found by name; those that the model does not take are ignored. Where the
    column of classes is there, the accuracy is told on standard error.
    """
    from ecoc.multiclass import load_model
    from ecoc.tables import TableModel, read_table

    with told_warnings():
        found = TableModel.of(load_model(model)).predict(
            read_table(data), proba=proba, margin=margin
        )
    for note in found.notes:
        talk(f"note: {note}")
    if found.accuracy is not None:
        talk(f"accuracy {found.accuracy:.4f} on {len(found.labels)} rows")
    if as_json:
        print_json(found.to_plain())
        return
    text = _csv(found).encode()
    try:
        write_output(output or "-", text)
    except FileFormatError:
        # They were asked for: on standard output they are not lost.
        write_output("-", text)
        raise
    if output is not None and output != "-":
        talk(f"written to {output}")


def _csv(found: Predictions) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(found.header)
    writer.writerows(found.rows())
    return stream.getvalue()
