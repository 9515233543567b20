"""The verbs that design codebooks, list bounds, and cover the conflict graph."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ecoc._checks import exact, exact_text, exact_to_plain
from ecoc.cli._common import (
    EXIT_NOT_PROVED,
    EXIT_NOT_VERIFIED,
    classes_option,
    common_options,
    destination,
    format_option,
    is_quiet,
    is_verbose,
    print_facts,
    print_json,
    problem_options,
    separation_option,
    talk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from ecoc.design import Design, DesignProblem


@click.command()
@problem_options
@format_option
@common_options
def bounds(
    classes: int,
    columns: int | None,
    symbols: int,
    min_column_distance: int | None,
    separation: str,
    balance: float | None,
    alphabet: str,
    max_support: int | None,
    budget: float | None,
    column_cost: float | None,
    objective: str | None,
    form: str,
    as_json: bool,
) -> None:
    """List what coding theory says about the largest minimum row distance.

    With --alphabet ternary it is about the objective of ternary codebooks. Every bound has a
    proof that was checked in whole numbers before it is printed; a bound that rests on a
    published value says so.
    """
    from ecoc.errors import VerificationError

    problem = _problem(
        classes,
        columns,
        _ternary_fields(alphabet, max_support, budget, column_cost, objective),
        {
            "min_column_distance": min_column_distance,
            "separation": separation,
            "max_imbalance": balance,
            "n_symbols": symbols,
        },
    )
    proved, check = _bounds_of(problem)
    for bound in proved:
        wrong = check(bound)
        if wrong:
            raise VerificationError(f"the {bound.name} bound", wrong)
    if as_json or form == "json":
        print_json(
            [
                {
                    "name": bound.name,
                    "value": exact_to_plain(exact(bound.value)),
                    "reason": bound.reason,
                    "cited": getattr(bound, "cited", None),
                }
                for bound in proved
            ]
        )
        return
    lines = []
    for bound in proved:
        cited = getattr(bound, "cited", None)
        source = f" [{cited}]" if cited else ""
        lines.append((exact_text(exact(bound.value)), bound.name, f"{bound.reason}{source}"))
    if form == "latex":
        from ecoc._latex import text_table

        click.echo(text_table([("at most", "bound", "reason"), *lines]), nl=False)
        return
    width = max(len(bound.name) for bound in proved)
    for value, name, reason in lines:
        click.echo(f"{value:>5}  {name:<{width}}  {reason}")


def _bounds_of(problem: DesignProblem) -> tuple[list[Any], Callable[[Any], list[str]]]:
    """The bounds on a problem, and what checks them."""
    from ecoc.design.ternary_problem import TernaryProblem

    if isinstance(problem, TernaryProblem):
        from ecoc.bounds.checking.ternary import check_ternary_bound
        from ecoc.bounds.ternary import all_ternary_bounds

        ternary = problem.ternary_bounds
        return list(all_ternary_bounds(ternary)), partial(check_ternary_bound, ternary)
    if problem.n_symbols == 2:
        from ecoc.bounds import all_bounds, check_bound

        plain = problem.bound_problem
        return list(all_bounds(plain)), partial(check_bound, plain)
    from ecoc.bounds.checking.symbols import check_symbol_bound
    from ecoc.bounds.symbols import all_symbol_bounds

    symbols = problem.symbol_bound_problem
    return list(all_symbol_bounds(symbols)), partial(check_symbol_bound, symbols)


def _ternary_fields(
    alphabet: str,
    max_support: int | None,
    budget: float | None,
    column_cost: float | None,
    objective: str | None,
) -> dict[str, Any] | None:
    """What was asked of a ternary codebook; None for a binary one."""
    asked = {
        "max_support": max_support,
        "budget": budget,
        "column_cost": column_cost,
        "objective": objective,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    if alphabet == "ternary":
        return asked
    if asked:
        option = "--" + next(iter(asked)).replace("_", "-")
        raise click.UsageError(f"{option} has a meaning with --alphabet ternary.")
    return None


def _with_covers(
    ternary: dict[str, Any] | None, min_cover: int | None, matrices: dict[str, str | None]
) -> dict[str, Any] | None:
    """What was asked of a ternary codebook, with what pairs of classes need."""
    files = {name: file for name, file in matrices.items() if file is not None}
    if ternary is None:
        if files or min_cover is not None:
            raise click.UsageError(
                "--min-cover, --pair-weights and --class-similarity have a meaning with "
                "--alphabet ternary."
            )
        return None
    least = {} if min_cover is None else {"min_cover": min_cover}
    return ternary | least | {name: _read_matrix(file) for name, file in files.items()}


def _problem(
    classes: int, columns: int | None, ternary: dict[str, Any] | None, fields: dict[str, Any]
) -> DesignProblem:
    """The problem that the options ask for; it has 2k columns unless a budget limits them."""
    from ecoc.design import DesignProblem
    from ecoc.design.ternary_problem import TernaryProblem

    if ternary is None:
        return DesignProblem(classes, 2 * classes if columns is None else columns, **fields)
    if columns is None:
        columns = 0 if "budget" in ternary else 2 * classes
    return TernaryProblem(classes, columns, **fields, **ternary)


@click.command()
@classes_option
@click.option(
    "--rho",
    "--min-column-distance",
    "rho",
    type=click.IntRange(min=1),
    help="Column separation, rho. [floor(k / 3), as in the paper]",
)
@click.option(
    "-l", "--columns", type=click.IntRange(min=1), help="Columns, L, for the literal rule."
)
@separation_option
@click.option(
    "--method",
    type=click.Choice(["structured", "greedy", "partitioned"]),
    default="structured",
    show_default=True,
)
@click.option("--parts", type=click.IntRange(min=1), help="Parts of the partitioned method. [2]")
@click.option("--jobs", type=int, help="Parts covered at a time (joblib's n_jobs).")
@click.option("--no-verify", is_flag=True, help="Do not check the cover on every edge.")
@common_options
def cover(
    classes: int,
    rho: int | None,
    columns: int | None,
    separation: str,
    method: str,
    parts: int | None,
    jobs: int | None,
    no_verify: bool,
    as_json: bool,
) -> None:
    """Cover the conflicting pairs of columns by cliques (the rows of IP3).

    Prints the number of conflicting pairs and of cliques, their ratio, the time, the
    memory, and how the cover was verified; exits with 5 if it is no cover.
    """
    from ecoc.graphs import ConflictGraph, clique_cover, verify_cover

    graph = ConflictGraph(
        classes, max(1, classes // 3) if rho is None else rho, separation, n_columns=columns
    )
    edges = graph.n_edges
    began = time.perf_counter()
    cliques = clique_cover(graph, method=method, n_parts=parts, n_jobs=jobs)
    seconds = time.perf_counter() - began
    peak = _peak_memory()
    checked = None if no_verify else verify_cover(graph, cliques)
    verified = None if checked is None else checked.verified
    result = {
        "classes": classes,
        "rho": graph.min_column_distance,
        "separation": separation,
        "method": method,
        "edges": edges,
        "cliques": cliques.n_cliques,
        "factor": edges / cliques.n_cliques if cliques.n_cliques else None,
        "seconds": seconds,
        "peak_memory_bytes": peak,
        "verified": verified,
        "verification": None if checked is None else str(checked),
    }
    if as_json:
        print_json(result)
    else:
        print_facts(
            {
                "Conflicting pairs": f"{edges:,}",
                "Cliques": f"{cliques.n_cliques:,}",
                "Pairs per clique": f"{result['factor']:.1f}" if cliques.n_cliques else "none",
                "Seconds": f"{seconds:.3f}",
                "Peak memory": "unknown" if peak is None else f"{peak / 2**20:.0f} MiB",
                "Verification": "not asked for" if checked is None else str(checked),
            }
        )
    if verified is False:
        sys.exit(EXIT_NOT_VERIFIED)


def _peak_memory() -> int | None:
    """The most memory that this process has held, in bytes, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _whole_numbers(
    ctx: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        message = "must be whole numbers with commas between, such as 50,20,30."
        raise click.BadParameter(message) from None


@click.command()
@problem_options
@click.option(
    "--class-sizes",
    metavar="N,N,...",
    callback=_whole_numbers,
    help="Data points of each class, for --balance.",
)
@click.option(
    "--nested",
    is_flag=True,
    help="Make every prefix of columns good, so that columns can be added or dropped.",
)
@click.option("--targets", metavar="FILE", help="CSV matrix of wanted row distances (equation 19).")
@click.option("--min-cover", type=click.IntRange(min=1), help="Least cover of a ternary pair. [1]")
@click.option(
    "--pair-weights", metavar="FILE", help="CSV matrix of the cover that ternary pairs need."
)
@click.option(
    "--class-similarity", metavar="FILE", help="CSV matrix of how alike classes are, 0 to 1."
)
@click.option(
    "--method",
    type=click.Choice(["auto", "construction", "search", "integer-program"]),
    default="auto",
    show_default=True,
    help="How to look for it; auto does all of them in turn.",
)
@click.option(
    "--formulation",
    type=click.Choice(["ip1", "ip2", "ip3"]),
    help="Solve this integer program of the paper, and do nothing else. [ip3]",
)
@click.option(
    "--solver",
    type=click.Choice(["auto", "highs", "scip", "gurobi", "both"]),
    default="auto",
    show_default=True,
    help="auto is HiGHS; both asks SCIP to confirm it.",
)
@click.option("--time-limit", type=click.FloatRange(min=0), metavar="SECONDS")
@click.option("--memory-limit", type=click.FloatRange(min=0, min_open=True), metavar="GIB")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--warm-start", metavar="FILE", help="A codebook to begin with.")
@click.option(
    "--export",
    metavar="FILE",
    callback=destination(".mps", ".lp"),
    help="Write the program to a .mps or .lp file; solve nothing.",
)
@click.option(
    "--import-solution",
    metavar="FILE",
    help="Take the solution that another solver found for the exported program.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=destination("-", ".json", ".npz"),
    help="Save the design (.json or .npz).",
)
@common_options
def design(
    classes: int,
    columns: int | None,
    symbols: int,
    min_column_distance: int | None,
    separation: str,
    balance: float | None,
    alphabet: str,
    max_support: int | None,
    budget: float | None,
    column_cost: float | None,
    objective: str | None,
    class_sizes: tuple[int, ...] | None,
    nested: bool,
    targets: str | None,
    min_cover: int | None,
    pair_weights: str | None,
    class_similarity: str | None,
    method: str,
    formulation: str | None,
    solver: str,
    time_limit: float | None,
    memory_limit: float | None,
    seed: int,
    warm_start: str | None,
    export: str | None,
    import_solution: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Design the best codebook, with a proof or a gap.

    Exits with 0 only when the codebook is proved optimal, with 3 when it is not, with 4
    when no codebook satisfies the request. Ctrl-C ends with the best so far, a second
    one at once.
    """
    from ecoc.codes import read_codebook
    from ecoc.design import design_codebook

    wanted: dict[str, Any] = {
        "min_column_distance": min_column_distance,
        "separation": separation,
        "max_imbalance": balance,
        "class_sizes": class_sizes,
        "n_symbols": symbols,
        "nested": nested,
    }
    start = None if warm_start is None else read_codebook(warm_start)
    ternary = _ternary_fields(alphabet, max_support, budget, column_cost, objective)
    matrices = {"pair_weights": pair_weights, "class_similarity": class_similarity}
    ternary = _with_covers(ternary, min_cover, matrices)
    if ternary is not None and (targets, export, import_solution) != (None, None, None):
        raise click.UsageError(
            "--targets, --export and --import-solution are for binary codebooks."
        )
    if targets is not None:
        wanted |= {
            "objective": "target-distances",
            "target_distances": _read_matrix(targets),
        }
    problem = _problem(classes, columns, ternary, wanted)
    if export is not None:
        _export(problem, formulation or "ip3", export)
        return
    if import_solution is not None:
        result = _imported(problem, formulation or "ip3", import_solution)
    else:
        # In a terminal a person looks; with -v a log has a line now and then.
        watched = not is_quiet() and (sys.stderr.isatty() or is_verbose())
        with _announced_interrupt():
            result = design_codebook(
                problem,
                method=method,
                formulation=formulation,
                solver=solver,
                time_limit=time_limit,
                memory_limit=None if memory_limit is None else int(memory_limit * 2**30),
                random_state=seed,
                warm_start=start,
                verbose=watched,
            )
    # Shown before it is saved, and saved whatever comes of showing it: nothing is lost.
    try:
        _present(result, output, as_json=as_json)
    finally:
        if output is not None and result.codebook is not None:
            result.save(output)
            if output != "-":
                talk(f"written to {output}")
    if result.status.name != "OPTIMAL":
        sys.exit(EXIT_NOT_PROVED)


def _present(result: Design, output: str | None, *, as_json: bool) -> None:
    if as_json:
        print_json(_plain(result, output))
        return
    if output == "-":
        # The file itself is on standard output.
        talk(result.verdict)
    else:
        if result.codebook is not None:
            from ecoc.cli.codebooks import titled_figures

            click.echo(str(result.codebook), color=True)
            click.echo()
            print_facts(titled_figures(result.codebook))
            click.echo()
        if result.prefixes:
            click.echo(f"{result.prefix_table}\n")
        click.echo(result.verdict)
    for note in result.told_notes:
        talk(f"note: {note}")
    if is_verbose():
        for stage in result.stages:
            best = exact_text(stage.objective)
            talk(f"{stage.name}: {stage.seconds:.2f} s, best {best}, {stage.note}")


def _plain(result: Design, output: str | None) -> dict[str, Any]:
    codebook, farthest = result.codebook, result.separation_certificate
    nested = {"prefixes": [asdict(prefix) for prefix in result.prefixes]}
    return {
        **(nested if result.problem.nested else {}),
        "status": result.status.value,
        "objective": exact_to_plain(result.objective),
        "bound": exact_to_plain(result.bound),
        "gap": result.gap,
        "n_columns": codebook and codebook.n_columns,
        "rows": codebook and codebook.rows,
        "proof": result.certificate and result.certificate.summary,
        "max_column_distance": farthest and exact_to_plain(farthest.bound),
        "notes": result.told_notes,
        "stages": [
            asdict(stage)
            | {
                "objective": exact_to_plain(stage.objective),
                "bound": exact_to_plain(stage.bound),
            }
            for stage in result.stages
        ],
        "file": output,
    }


def _export(problem: DesignProblem, formulation: str, path: str) -> None:
    from ecoc.design.programs import build_program, check_size

    problem.check_feasible()
    check_size(problem, formulation)
    program = build_program(problem, formulation).program
    (program.write_mps if path.lower().endswith(".mps") else program.write_lp)(path)
    talk(f"{program.sizes} written to {path}")


def _imported(problem: DesignProblem, formulation: str, path: str) -> Design:
    from ecoc.design import design_from_solution
    from ecoc.design.programs import build_program, check_size, read_solution

    problem.check_feasible()
    check_size(problem, formulation)
    program = build_program(problem, formulation)
    return design_from_solution(problem, program, read_solution(path, program.program), path)


def _read_matrix(path: str) -> Any:
    """A square matrix of numbers from a CSV file, without a header."""
    import csv

    from ecoc.errors import FileFormatError

    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as stream:
            rows = [[_number(cell) for cell in line] for line in csv.reader(stream) if line]
    except OSError as error:
        raise FileFormatError(f"{path!r} cannot be read: {error.strerror}.") from error
    except (ValueError, csv.Error) as error:
        raise FileFormatError(f"{path}: must be a matrix of numbers ({error}).") from error
    if not rows or any(len(row) != len(rows) for row in rows):
        raise FileFormatError(f"{path}: must be a square matrix of numbers.")
    return rows


def _number(cell: str) -> float:
    """A decimal number; other digits than ours, and signs that only Python knows, are refused."""
    if not re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", cell):
        raise ValueError(f"{cell!r:.40} is not a number")
    return float(cell)


@contextmanager
def _announced_interrupt() -> Iterator[None]:
    """Let the first Ctrl-C end the design with the best so far, and the second everything."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        # The second one is left to the system, which does not wait for Python.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        with suppress(OSError):
            # Not by print: it may have been interrupted itself.
            os.write(2, b"\necoc: ends with the best so far; Ctrl-C again stops at once\n")
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
