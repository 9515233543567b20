"""The records of a reproduction as Markdown, for documents."""

from __future__ import annotations

from collections.abc import Sequence

from ecoc.errors import InvalidInputError
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.records import Record
from ecoc.report._complete import check_complete
from ecoc.report.comparisons import absent, comparison, title_of
from ecoc.report.findings import KINDS, findings
from ecoc.report.results import Results

__all__ = ["reproduction_markdown"]


def reproduction_markdown(records: Sequence[Record]) -> str:
    """The paper beside what was measured, as Markdown without pictures.

    Parameters
    ----------
    records : sequence of Record
        What :func:`ecoc.experiments.read_records` read.

    Examples
    --------
    >>> record = Record("table2", {"k": 13, "L": 26}, "quick", "ok", {"best": 13}, {"best": 14,
    ...     "bound": 14, "gap": 0.0, "status": "OPTIMAL"})
    >>> "| 13 | 26 | 13 | 14 | +1 |" in reproduction_markdown([record])
    True
    """
    if not records:
        raise InvalidInputError("There are no records to show; 'ecoc reproduce' makes them.")
    check_complete(records)
    results = Results(records)
    found = findings(results)
    parts = [
        "# Reproduction results",
        _table(
            ["Outcome", "The paper", "Measured here", "Where", "Scale"],
            [
                [KINDS[one.kind], one.claim, one.text, title_of(one.experiment), one.scale]
                for one in found
            ],
        ),
    ]
    for part in results.parts:
        rows = comparison(part, results.of(part))
        parts += [f"## {title_of(part)}", f"{paper_table(part).caption}."]
        if rows.rows:
            parts.append(
                _table(rows.headings, [[value.text for value in row] for row in rows.rows])
            )
        notes = dict.fromkeys(record.note for record in results.of(part) if record.note)
        parts += [_escaped(text) for text in (*notes, *absent(part, results))]
    last = max(results.records, key=lambda record: record.finished)
    machine = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in last.hardware.items())
    versions = ", ".join(f"{name} {version}" for name, version in last.versions.items())
    parts += ["## Measured with", f"{_escaped(machine)}; {_escaped(versions)}; {last.finished}"]
    return "\n\n".join(parts) + "\n"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


def _escaped(text: str) -> str:
    """Text that Markdown takes for nothing else."""
    for sign in "\\`*_|<>[]":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")
