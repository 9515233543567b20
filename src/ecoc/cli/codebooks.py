"""The verbs for codebooks: make, show, verify, convert, extend."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import click

from ecoc._checks import counted, exact_to_plain, printable
from ecoc._files import write_output
from ecoc.cli._common import (
    EXIT_NOT_PROVED,
    EXIT_NOT_VERIFIED,
    classes_option,
    common_options,
    destination,
    load_trained,
    print_facts,
    print_json,
    repeated_columns_option,
    talk,
    trust_option,
)

if TYPE_CHECKING:
    from ecoc.codes import Codebook
    from ecoc.codes.files import CodebookFile
    from ecoc.design import Design

CODE_NAMES = (
    *("one-vs-rest", "one-vs-one", "exhaustive", "ternary-complete"),
    *("ordinal", "one-vs-followers", "one-vs-previous"),
    *("dense-random", "sparse-random", "balanced-random", "digits"),
)


_output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=destination("-", ".json", ".csv", ".npz"),
    help="Write to a .json, .csv or .npz file.",
)


@click.command()
@click.argument("name", type=click.Choice(CODE_NAMES), metavar="NAME")
@classes_option
@click.option(
    "-l",
    "--columns",
    type=click.IntRange(min=1),
    help="Columns, L (random codes; 2k by default, sparse-random 15 log2 k).",
)
@click.option(
    "--symbols",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Symbols, q (balanced-random and digits).",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@_output_option
@common_options
def make(
    name: str,
    classes: int,
    columns: int | None,
    symbols: int,
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Make a standard code.

    NAME is one-vs-rest, one-vs-one, exhaustive, ternary-complete; for classes in an order,
    ordinal, one-vs-followers, one-vs-previous; dense-random, sparse-random; or, with as many
    symbols as asked for, balanced-random or digits.
    """
    from ecoc.codes import make_code, write_codebook

    codebook = make_code(name, classes, columns, n_symbols=symbols, random_state=seed)
    if output is not None:
        write_codebook(codebook, output)
        if output != "-":
            talk(f"{codebook!r} written to {output}")
    elif as_json:
        write_codebook(codebook, "-")
    else:
        _print_text(codebook)


@click.command()
@click.argument("file")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "csv", "latex", "html", "png"]),
    default="text",
    show_default=True,
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=destination(),
    help="Write there instead of standard output.",
)
@repeated_columns_option
@trust_option
@common_options
def show(
    file: str,
    form: str,
    output: str | None,
    allow_repeated_columns: bool,
    trust: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show a codebook or a design: its matrix and its key figures.

    FILE may also be a model of ecoc fit (.skops), whose codebook is shown with the classes.
    """
    from ecoc._limits import deadline
    from ecoc.codes import files
    from ecoc.design.verification import VERIFICATION_SECONDS

    if file.lower().endswith(".skops"):
        contents, design = files.CodebookFile(_codebook_of_model(file, trust), {}), None
    else:
        with deadline(VERIFICATION_SECONDS):
            contents = files.read_file(file, allow_repeated_columns=allow_repeated_columns)
            design = _claimed_design(contents, file)
    if as_json:
        form = "json"
    if form == "text" and output is None:
        _print_text(contents.codebook)
        if design is not None and design.prefixes:
            click.echo(f"\n{design.prefix_table}")
        if design is not None:
            click.echo(f"\n{_claim_text(design)}")
        return
    if form == "png" and output in {None, "-"} and sys.stdout.isatty():
        raise click.UsageError("A PNG picture does not belong in a terminal; give -o FILE.")
    data = _rendered(contents, design, form)
    if output in {None, "-"} and sys.stdout.isatty():
        data = printable(data.decode(), keep="\n\t").encode()
    write_output(output or "-", data)
    if output is not None and output != "-":
        talk(f"written to {output}")


@click.command()
@click.argument("file")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Seconds that checking may take.",
)
@repeated_columns_option
@common_options
def verify(file: str, time_limit: float, allow_repeated_columns: bool, as_json: bool) -> None:
    """Recompute what a codebook or design file claims, from its matrix alone.

    Exits with 0 if every claim holds, and with 5 after naming each one that does not. A
    design that is not proved optimal exits with 3; so does one whose bound rests on the
    word of a solver, and one that could not be checked in time.
    """
    from ecoc._limits import deadline
    from ecoc.codes.files import read_file
    from ecoc.errors import TimeLimitError, VerificationError

    try:
        with deadline(time_limit):
            contents = read_file(file, allow_repeated_columns=allow_repeated_columns)
            design = _claimed_design(contents, file)
            report = _report(contents, design, as_json=as_json)
    except VerificationError as error:
        if not as_json:
            click.echo("INVALID")
            raise
        print_json({"file": file, "verified": False, "differences": error.differences})
        sys.exit(EXIT_NOT_VERIFIED)
    except TimeLimitError as error:
        report = {"verified": False, "differences": [], "unverified": str(error)}
    if as_json:
        print_json({"file": file, **report})
    elif not report["verified"]:
        click.echo(f"NOT VERIFIED: {report['unverified']}")
    proved = "design" not in report or report["design"]["status"] == "optimal"
    if not (report["verified"] and proved):
        sys.exit(EXIT_NOT_PROVED)


def _report(contents: CodebookFile, design: Design | None, *, as_json: bool) -> dict[str, Any]:
    """What verifying a file gave, as plain data; said to people unless machines ask."""
    from ecoc.codes.measures import key_figures

    report: dict[str, Any] = {"verified": True, "differences": []}
    if design is not None:
        from ecoc.design.verification import unverified

        doubt = unverified(design)
        report |= {"verified": doubt is None, "unverified": doubt}
        report["design"] = {**design.to_plain(), "gap": design.gap}
    if as_json:
        return report | {"figures": key_figures(contents.codebook)}
    print_facts(titled_figures(contents.codebook))
    stored = counted(len(contents.figures), "stored figure agrees", "stored figures agree")
    talk(
        f"verified: {stored} with the matrix"
        if contents.figures
        else "valid codebook; no figures were stored"
    )
    if design is not None and report["verified"]:
        click.echo(design.verdict)
    return report


def _claimed_design(contents: CodebookFile, file: str) -> Design | None:
    """The design that a file claims to hold, checked; None for a mere codebook."""
    if contents.certificate is None:
        return None
    from ecoc.design import verify_claim

    return verify_claim(contents.codebook, contents.certificate, file)


def _claim_text(design: Design) -> str:
    """What a file claims of its codebook, or what of it could not be checked."""
    from ecoc.design.verification import unverified

    doubt = unverified(design)
    return design.verdict if doubt is None else f"NOT VERIFIED: {doubt}"


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", callback=destination("-", ".json", ".csv", ".npz"))
@repeated_columns_option
@common_options
def convert(source: str, target: str, allow_repeated_columns: bool, as_json: bool) -> None:
    """Convert a codebook between .json, .csv and .npz."""
    from ecoc.codes.files import read_file, write_file

    contents = read_file(source, allow_repeated_columns=allow_repeated_columns)
    write_file(contents.codebook, target, certificate=contents.certificate)
    lost = []
    if target.lower().endswith(".csv"):
        kept = {
            "the name": contents.codebook.name,
            "the provenance": contents.codebook.provenance,
            "the certificate": contents.certificate,
        }
        lost = [what for what, value in kept.items() if value is not None]
    if lost:
        talk(f"note: CSV has no room for {', '.join(lost)}")
    if as_json:
        print_json({"source": source, "target": target, "lost": lost})


@click.command()
@click.argument("file")
@click.option(
    "-n",
    "--new-classes",
    type=click.IntRange(min=1),
    required=True,
    help="How many classes are new.",
)
@click.option(
    "--labels", metavar="NAME,NAME,...", help="Their names, where the codebook has labels."
)
@click.option("--time-limit", type=click.FloatRange(min=0), metavar="SECONDS")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@_output_option
@repeated_columns_option
@common_options
def extend(
    file: str,
    new_classes: int,
    labels: str | None,
    time_limit: float | None,
    seed: int,
    output: str | None,
    allow_repeated_columns: bool,
    as_json: bool,
) -> None:
    """Give new classes codewords, and keep the rows of the others.

    The new rows are as far from each other and from all others as could be found; what no
    extension exceeds is told beside it. Exits with 0 only if that is reached, with 3 if it is
    not, with 4 if there are not so many words.
    """
    from ecoc.codes import write_codebook
    from ecoc.codes.files import read_file
    from ecoc.design import Status, extend_codebook

    extended = extend_codebook(
        read_file(file, allow_repeated_columns=allow_repeated_columns).codebook,
        new_classes,
        labels=None if labels is None else labels.split(","),
        time_limit=time_limit,
        random_state=seed,
    )
    if output is not None:
        write_codebook(extended.codebook, output)
    if as_json:
        print_json(
            {
                "status": extended.status.value,
                "distance": exact_to_plain(extended.distance),
                "bound": exact_to_plain(extended.bound),
                "ground": extended.ground,
                "rows": extended.codebook.rows,
                "file": output,
            }
        )
    elif output == "-":
        talk(extended.verdict)
    else:
        _print_text(extended.codebook)
        click.echo(f"\n{extended.verdict}")
        if output is not None:
            talk(f"written to {output}")
    if extended.status is not Status.OPTIMAL:
        sys.exit(EXIT_NOT_PROVED)


def _rendered(contents: CodebookFile, design: Design | None, form: str) -> bytes:
    """A codebook in one of the formats for showing."""
    from ecoc.codes.files import to_bytes

    codebook = contents.codebook
    if form == "text":
        from ecoc.codes.display import text

        return (text(codebook, colour=False) + "\n").encode()
    if form == "latex":
        claim = "" if design is None else f"% {_claim_text(design)}\n"
        return (claim + codebook.to_latex()).encode()
    if form == "html":
        from ecoc.report import codebook_page, design_page

        page = codebook_page(codebook) if design is None else design_page(design)
        return page.encode()
    if form == "png":
        stream = io.BytesIO()
        codebook.plot().savefig(stream, format="png", dpi=150)
        return stream.getvalue()
    return to_bytes(codebook, f".{form}", certificate=contents.certificate)


def _codebook_of_model(path: str, trust: tuple[str, ...]) -> Codebook:
    """The codebook of a trained model, with its classes as labels."""
    from ecoc.multiclass import ECOCClassifier

    model = load_trained(path, trust)
    # A table model knows its classifier, and a pipeline ends in it.
    last = getattr(model, "classifier", None) or model
    classifier = last if isinstance(last, ECOCClassifier) else last[-1]
    labels = [str(label) for label in classifier.classes_.tolist()]
    return classifier.codebook_.relabel(labels)


def _print_text(codebook: Codebook) -> None:
    click.echo(str(codebook), color=True)
    click.echo()
    print_facts(titled_figures(codebook))


def titled_figures(codebook: Codebook) -> dict[str, object]:
    """The key figures with titles, short enough for a line each."""
    from ecoc.codes.measures import FIGURE_TITLES, shown_figures

    figures = shown_figures(codebook)
    spectrum = [f"{d}: {count:,}" for d, count in figures["row_distance_spectrum"].items()]
    if len(spectrum) > 12:
        spectrum = [*spectrum[:6], "...", *spectrum[-5:]]
    figures["row_distance_spectrum"] = ", ".join(spectrum)
    for share in figures.keys() & {"max_imbalance", "min_eigenvalue"}:
        figures[share] = f"{figures[share]:.3g}"
    return {
        FIGURE_TITLES[name]: "none" if value is None else value for name, value in figures.items()
    }
