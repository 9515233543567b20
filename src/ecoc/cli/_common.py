"""What all verbs share: options, exit codes, errors, streams, and where output goes."""

from __future__ import annotations

import difflib
import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar

import click

from ecoc._checks import printable
from ecoc._files import check_destination, write_atomically
from ecoc.errors import (
    EcocError,
    FileFormatError,
    InfeasibleError,
    InvalidInputError,
    VerificationError,
)

__all__ = ["abandon_output", "prepare_streams"]


class _Forgiving(io.FileIO):
    """A stream that loses what it cannot write: talk is never a reason to stop the work."""

    def write(self, data: object) -> int:
        """Write bytes, or not."""
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError:
            return memoryview(data).nbytes  # type: ignore[arg-type]


def prepare_streams() -> None:
    """Make standard output and error fit for anything that is printed to them.

    A closed stream leaves its number to the next file that is opened, which then gets what
    libraries print; so closed streams become the null device. A character that the
    encoding of a terminal lacks is written as its escape.
    """
    # A new file takes the lowest number that is free.
    while (null := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(null)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False))
    talk: Any = sys.stderr
    if talk is None or (talk is sys.__stderr__ and not os.isatty(2)):
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Forgiving(2, "w", closefd=False)),
            encoding=getattr(talk, "encoding", None),
            line_buffering=True,
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def abandon_output() -> None:
    """Let what standard output cannot take be lost, so that Python does not try again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


EXIT_ERROR = 1
EXIT_NOT_PROVED = 3
EXIT_INFEASIBLE = 4
EXIT_NOT_VERIFIED = 5
EXIT_INTERRUPTED = 130

LINES = "\n\t"
"""What a message may hold that is no printable character."""

F = TypeVar("F", bound=Callable[..., Any])


class VerbGroup(click.Group):
    """A group that imports a verb's module when the verb is named."""

    def __init__(self, *args: Any, verbs: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order in which they were given."""
        return list(self._verbs)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; suggest one that is spelled alike if there is none."""
        name = str(args[0])
        if name not in self._verbs and not name.startswith("-"):
            near = difflib.get_close_matches(name, self._verbs, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"There is no verb {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb by its name."""
        if cmd_name not in self._verbs:
            return None
        module, _, attribute = self._verbs[cmd_name].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)  # noqa: S101  # a fact about our own modules
        return command

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command; whatever goes wrong is told in one line."""
        prepare_streams()
        try:
            try:
                return super().main(*args, **extra)
            finally:
                sys.stdout.flush()
        except Exception as error:  # noqa: BLE001  # a user is told of everything in one line
            if isinstance(error, OSError):
                abandon_output()
            if _verbose():
                traceback.print_exc()
            # Whoever closed the other end of a pipe has seen enough.
            if not isinstance(error, BrokenPipeError):
                click.echo(f"ecoc: {printable(_unexpected(error), keep=LINES)}", err=True)
            sys.exit(EXIT_ERROR)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; an error of ours becomes one line and an exit code."""
        try:
            return super().invoke(ctx)
        except EcocError as error:
            if _verbose():
                traceback.print_exc()
            click.echo(f"ecoc: {printable(str(error), keep=LINES)}", err=True)
            sys.exit(exit_code_of(error))
        except KeyboardInterrupt:
            click.echo("ecoc: interrupted", err=True)
            sys.exit(EXIT_INTERRUPTED)


def _unexpected(error: Exception) -> str:
    """A line about an error that no verb has words for."""
    if isinstance(error, OSError):
        # Files that are opened by name have it in the error; what is left is our own output.
        place = error.filename or "standard output cannot be written"
        return f"{place}: {error.strerror or error}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this."
    return (
        f"internal error, {type(error).__name__}: {error}. Please report it, with the traceback "
        "that -v shows."
    )


def exit_code_of(error: EcocError) -> int:
    """The exit code that tells a script what went wrong."""
    if isinstance(error, VerificationError):
        return EXIT_NOT_VERIFIED
    if isinstance(error, InfeasibleError):
        return EXIT_INFEASIBLE
    return EXIT_ERROR


def _remember(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[f"ecoc.{parameter.name}"] = value


def _verbose() -> bool:
    # The error leaves the verb's own context before it is reported.
    return any(argument in {"-v", "--verbose"} for argument in sys.argv[1:])


def common_options(function: F) -> F:
    """Add the options that every verb has."""
    options = [
        click.option(
            "-v",
            "--verbose",
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Say more on standard error; show tracebacks.",
        ),
        click.option(
            "-q",
            "--quiet",
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Say nothing on standard error but errors.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    ]
    for option in options:
        function = option(function)
    return function


def destination(
    *suffixes: str,
) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """The check of an option that names a file to write, before any work for it begins."""

    def check(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if value is not None:
            try:
                check_destination(value, suffixes)
            except InvalidInputError as error:
                raise click.BadParameter(str(error)) from error
        return value

    return check


report_option = click.option(
    "--report",
    metavar="FILE",
    callback=destination(".html", ".htm"),
    help="Write a page about it (.html).",
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "latex"]),
    default="text",
    show_default=True,
    help="latex is a table with the package booktabs; json is as --json.",
)
trust_option = click.option(
    "--trust",
    multiple=True,
    type=click.Choice(["lightgbm", "xgboost"]),
    help="Load a model file with a learner of this library; its own code reads it.",
)
classes_option = click.option(
    "-k", "--classes", type=click.IntRange(min=2), required=True, help="Classes, k."
)
columns_option = click.option(
    "-l", "--columns", type=click.IntRange(min=1), help="Columns allowed, L. [2k]"
)
symbols_option = click.option(
    "--symbols",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Groups that a column may split the classes into, q.",
)
separation_option = click.option(
    "--separation",
    type=click.Choice(["two-sided", "one-sided", "literal"]),
    default="two-sided",
    show_default=True,
    help="Which rule separates columns.",
)
rho_option = click.option(
    "--min-column-distance", "--rho", type=click.IntRange(min=1), help="Column separation, rho."
)
balance_option = click.option(
    "--balance",
    type=click.FloatRange(0, 1),
    help="Largest difference of a column's sides, as a share of the whole.",
)


ternary_options = (
    click.option(
        "--alphabet",
        type=click.Choice(["binary", "ternary"]),
        default="binary",
        show_default=True,
        help="Whether columns may leave classes out (entries 0).",
    ),
    click.option(
        "--max-support", type=click.IntRange(min=2), help="Most classes that a ternary column uses."
    ),
    click.option(
        "--budget",
        type=click.FloatRange(min=0),
        help="What ternary columns may cost together, in place of or beside -l.",
    ),
    click.option(
        "--column-cost",
        metavar="THETA",
        type=click.FloatRange(0, 10),
        help="A column on n classes (or data points) costs n^THETA. [1]",
    ),
    click.option(
        "--objective",
        type=click.Choice(
            ["max-min-cover", "guaranteed-errors", "max-min-distance", "weighted-cover"]
        ),
        help="What a ternary codebook is best at. [max-min-cover]",
    ),
)


def problem_options(function: F) -> F:
    """Add the options that say what is wanted of a codebook."""
    options = (classes_option, columns_option, symbols_option, rho_option, separation_option)
    for option in reversed((*options, balance_option, *ternary_options)):
        function = option(function)
    return function


csv_output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=destination(),
    help="Write the CSV there. [standard output]",
)
repeated_columns_option = click.option(
    "--allow-repeated-columns",
    is_flag=True,
    help="Accept equal or complementary columns.",
)


def is_quiet() -> bool:
    """Whether the verb was asked to say nothing."""
    return bool(click.get_current_context().meta.get("ecoc.quiet", False))


def is_verbose() -> bool:
    """Whether the verb was asked to say more."""
    return bool(click.get_current_context().meta.get("ecoc.verbose", False))


def talk(message: str) -> None:
    """Say something to a person, on standard error, unless asked to be quiet."""
    if not is_quiet():
        click.echo(printable(message, keep=LINES), err=True)


def load_trained(path: str, trust: Sequence[str]) -> Any:
    """A trained model from a file; says how to load one with a learner of another library."""
    from ecoc.multiclass import load_model
    from ecoc.tables.learners import TRUSTED_TYPES

    try:
        return load_model(path, trusted=[kind for name in trust for kind in TRUSTED_TYPES[name]])
    except FileFormatError as error:
        text = str(error)
        strange = [n for n, kinds in TRUSTED_TYPES.items() if n not in trust and kinds[-1] in text]
        if not strange or "not trusted" not in text:
            raise
        raise FileFormatError(
            f"{text} --trust {strange[0]} loads it, if you know where it comes from."
        ) from error


def write_page(path: str, page: str) -> None:
    """Write a page to its file, and say so."""
    write_atomically(path, page.encode())
    talk(f"written to {path}")


def print_json(value: object) -> None:
    """Print a result for machines."""
    click.echo(json.dumps(value, indent=1, allow_nan=False))


def print_latex(table: str, facts: Mapping[str, object]) -> None:
    """Print tables for LaTeX, with what they are about as comments."""
    for title, value in facts.items():
        click.echo(printable(f"% {title}: {value}"))
    click.echo(printable(table, keep=LINES), nl=False)


def print_facts(facts: Mapping[str, object]) -> None:
    """Print titled values in two aligned columns."""
    width = max(map(len, facts))
    for title, value in facts.items():
        click.echo(printable(f"{title:<{width}}  {value}"))
