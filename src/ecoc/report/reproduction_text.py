"""The records of a reproduction as Markdown, for documents."""

from __future__ import annotations

from collections.abc import Sequence

from ecoc.paper import VERDICTS, Record, Reproduction, paper_table

__all__ = ["reproduction_markdown"]


def reproduction_markdown(records: Sequence[Record]) -> str:
    """The paper beside what was measured, as Markdown without pictures.

    Parameters
    ----------
    records : sequence of Record
        What :func:`ecoc.paper.read_records` read.

    Examples
    --------
    >>> record = Record("table2", {"k": 13, "L": 26}, "quick", "ok", {"best": 13}, {"best": 14,
    ...     "bound": 14, "gap": 0.0, "status": "OPTIMAL"})
    >>> "| 13 | 26 | 13 | 14 | +1 |" in reproduction_markdown([record])
    True
    """
    run = Reproduction(records)
    parts = [
        "# Reproduction results",
        _table(
            ["Outcome", "The paper", "Measured here", "Where", "Scale"],
            [
                [
                    VERDICTS[one.verdict],
                    one.claim,
                    one.text,
                    paper_table(one.table).heading,
                    one.scale,
                ]
                for one in run.findings
            ],
        ),
    ]
    for table, results in run.tables:
        comparison = table.compare(results.measured)
        parts += [f"## {table.heading}", f"{table.caption}."]
        if comparison.rows:
            rows = [[value.text for value in row] for row in comparison.rows]
            parts.append(_table(comparison.headings, rows))
        notes = dict.fromkeys(record.note for record in results.measured if record.note)
        parts += [_escaped(text) for text in (*notes, *table.not_measured(results))]
    ran_with = f"{_escaped(run.machine)}; {_escaped(run.versions)}; {run.finished}"
    parts += ["## Measured with", ran_with]
    return "\n\n".join(parts) + "\n"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


def _escaped(text: str) -> str:
    """Text that Markdown takes for nothing else."""
    for sign in "\\`*_|<>[]":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")
