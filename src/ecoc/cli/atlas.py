"""The verbs of the atlas of optimal codebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ecoc._checks import counted
from ecoc.cli._common import (
    EXIT_INTERRUPTED,
    EXIT_NOT_PROVED,
    classes_option,
    columns_option,
    common_options,
    destination,
    is_quiet,
    print_facts,
    print_json,
    symbols_option,
    talk,
)

if TYPE_CHECKING:
    from ecoc.atlas import AtlasCell
    from ecoc.survey import BuildProgress


@click.group()
def atlas() -> None:
    """Look up, build and verify the atlas of optimal codebooks.

    The atlas has the best codebook known for each number of classes k, columns L and symbols
    q, with the bound on what any could reach. It comes with the package and needs no network.
    """


@atlas.command()
@classes_option
@columns_option
@symbols_option
@click.option("--matrix", is_flag=True, help="Print the codebook too.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=destination(".json", ".npz"),
    help="Write the design, which 'ecoc verify' checks (.json, .npz).",
)
@common_options
def show(
    classes: int,
    columns: int | None,
    symbols: int,
    matrix: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Show a cell: the best codebook known for so many classes, columns and symbols."""
    from ecoc.atlas import get

    cell = get(classes, 2 * classes if columns is None else columns, symbols)
    if output is not None:
        from ecoc.design import Design

        Design.from_cell(cell).save(output)
        talk(f"written to {output}")
    if as_json:
        rows = {"matrix": list(cell.codebook.rows)} if matrix else {}
        print_json(cell.to_plain() | rows)
        return
    print_facts(_facts(cell))
    if matrix:
        click.echo(f"\n{cell.codebook}")


def _facts(cell: AtlasCell) -> dict[str, object]:
    groups = "" if cell.n_symbols == 2 else f" of {cell.n_symbols} symbols"
    apart = f"{cell.separation}"
    if cell.separation_bound is not None:
        met = "which is met" if cell.is_separated else "open between"
        apart += f", at most {cell.separation_bound} possible, {met}"
    proved = "proved" if cell.is_proved else "open between"
    return {
        "Codebook": f"{cell.n_classes} classes x {cell.n_columns} columns{groups}",
        "Row distance": f"{cell.distance}, at most {cell.bound} possible, {proved}",
        "Bound": f"{cell.argument}: {cell.ground}",
        "Columns apart": apart,
        "Imbalance": f"{counted(cell.imbalance, 'class', 'classes')} at most",
        "Made": f"{cell.how} ({cell.made.isoformat()})",
        "Digest": cell.digest,
    }


def _range(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[int, int]:
    low, dots, high = value.partition("..")
    try:
        numbers = int(low), int(high if dots else low)
    except ValueError as error:
        raise click.BadParameter(
            f"must be a number or a range such as 3..256, not {value!r}."
        ) from error
    if not 3 <= numbers[0] <= numbers[1]:
        raise click.BadParameter("must go from 3 or more to as many or more.")
    return numbers


@atlas.command()
@click.option(
    "-o", "--output", metavar="FOLDER", required=True, help="Where the atlas is, or will be."
)
@click.option(
    "--symbols",
    multiple=True,
    type=click.IntRange(2, 36),
    help="Symbols, q; may be given several times. [2, 3, 4, 5, 8, 10]",
)
@click.option(
    "--classes",
    default="3..16384",
    show_default=True,
    callback=_range,
    metavar="A..B",
    help="Numbers of classes.",
)
@click.option("--improve", is_flag=True, help="Work again where distances are open.")
@click.option(
    "--design", is_flag=True, help="Design codebooks for cells that are missing or open; slow."
)
@click.option(
    "--effort",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="How much work --improve does for each code of several symbols.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes at a time."
)
@common_options
def build(
    output: str,
    symbols: tuple[int, ...],
    classes: tuple[int, int],
    improve: bool,
    design: bool,
    effort: float,
    jobs: int,
    as_json: bool,
) -> None:
    """Fill an atlas where it was left, or improve it.

    What is done is kept, also on Ctrl-C, and the next call goes on from there. A cell is
    replaced only by a better one.
    """
    from dataclasses import asdict

    from ecoc.survey import SURVEYED_SYMBOLS, build_atlas

    with _progress_shown() as progress:
        outcome = build_atlas(
            output,
            n_symbols=symbols or SURVEYED_SYMBOLS,
            classes=classes,
            improve=improve,
            design=design,
            effort=effort,
            n_jobs=jobs,
            progress=progress,
        )
    if as_json:
        print_json(asdict(outcome))
    else:
        click.echo(
            f"{counted(outcome.n_cells, 'cell')}, {outcome.n_proved} proved; "
            f"{outcome.n_new} new, {outcome.n_better} better than before"
        )
    if not outcome.is_complete:
        talk("interrupted; the same call goes on from here")
        sys.exit(EXIT_INTERRUPTED)


@atlas.command()
@click.option(
    "-o", "--output", metavar="FOLDER", required=True, help="A new folder, or that of a site."
)
@common_options
def site(output: str, as_json: bool) -> None:
    """Write the pages of the atlas: map, search, and a page for each cell.

    The pages are static, need no network, and open from the disk: FOLDER/index.html.
    """
    from ecoc._workers import ProgressLines
    from ecoc.atlas.site import write_site

    lines = ProgressLines()

    def progress(done: int, total: int) -> None:
        if not is_quiet():
            lines(f"cells: {done:,} of {total:,}")

    written = write_site(output, progress=progress)
    facts = {
        "folder": str(written.folder),
        "cells": written.n_cells,
        "proved": written.n_proved,
        "files": written.n_files,
        "bytes": written.n_bytes,
    }
    if as_json:
        print_json(facts)
        return
    click.echo(
        f"{written.folder / 'index.html'}: {written.n_cells:,} cells, {written.n_files:,} files, "
        f"{written.n_bytes / 1e6:.1f} MB"
    )


@atlas.command("submit-check")
@click.argument("file", metavar="FILE")
@common_options
def submit_check(file: str, as_json: bool) -> None:
    """Check whether a codebook is better than the atlas.

    FILE is a codebook in .json, .csv or .npz; its distances are counted. Exits with 0 if it is
    better, in its row distance or, where that is equal, in the separation of its columns, and
    with 3 if it is not.
    """
    from ecoc.atlas.submission import compare_with_atlas
    from ecoc.codes import read_codebook

    submission = compare_with_atlas(read_codebook(file, allow_repeated_columns=True))
    cell = submission.cell
    if as_json:
        print_json(
            {
                "verdict": submission.verdict,
                "distance": submission.distance,
                "separation": submission.separation,
                "atlas_distance": cell.distance,
                "atlas_separation": cell.separation,
                "bound": cell.bound,
            }
        )
    else:
        click.echo(str(submission))
    if submission.verdict not in {"better", "better separated"}:
        sys.exit(EXIT_NOT_PROVED)


@contextmanager
def _progress_shown() -> Iterator[Callable[[BuildProgress], None] | None]:
    """A bar where standard error is a terminal, a line now and then elsewhere."""
    if is_quiet():
        yield None
        return
    if not sys.stderr.isatty():
        from ecoc._workers import ProgressLines

        lines = ProgressLines()
        yield lambda at: lines(f"done: {at.done} of {at.total}, {at.n_cells} cells")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    parts = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    text = TextColumn("{task.description}", markup=False)
    with Progress(*parts, text, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        yield lambda at: bar.update(
            task, completed=at.done, total=at.total, description=f"{at.n_cells} cells"
        )
