"""The ``ecoc`` command: one verb for each job, thin over the library."""

from __future__ import annotations

import click

from ecoc import __version__
from ecoc.cli._common import VerbGroup

__all__ = ["main"]


@click.group(
    cls=VerbGroup,
    verbs={
        "design": "ecoc.cli.design:design",
        "make": "ecoc.cli.codebooks:make",
        "show": "ecoc.cli.codebooks:show",
        "verify": "ecoc.cli.codebooks:verify",
        "convert": "ecoc.cli.codebooks:convert",
        "bounds": "ecoc.cli.design:bounds",
        "cover": "ecoc.cli.design:cover",
        "data": "ecoc.cli.info:data",
        "fit": "ecoc.cli.fit:fit",
        "predict": "ecoc.cli.fit:predict",
        "attack": "ecoc.cli.robustness:attack",
        "certify": "ecoc.cli.robustness:certify",
        "reproduce": "ecoc.cli.reproduce:reproduce",
        "report": "ecoc.cli.reproduce:report",
        "info": "ecoc.cli.info:info",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", prog_name="ecoc", message="%(prog)s %(version)s")
def main() -> None:
    """Design, check and use error-correcting output codes.

    Results go to standard output, everything else to standard error. A file named -
    is standard input or output. Exit codes: 0 ok (and proved, where there is something
    to prove), 1 error, 2 wrong usage, 3 feasible but not proved optimal, 4 infeasible,
    5 verification failed.
    """
