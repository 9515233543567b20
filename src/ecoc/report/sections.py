"""One section of the page for each table and figure: paper, ours, difference, pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.records import Record
from ecoc.report import drawings
from ecoc.report.comparisons import absent, comparison, title_of
from ecoc.report.findings import KINDS, Finding
from ecoc.report.results import Results
from ecoc.report.tables import sortable_table

__all__ = ["badge", "section"]


def badge(kind: str) -> str:
    """The outcome as a word with a colour."""
    return f'<span class="badge {kind}">{escape(KINDS[kind])}</span>'


def section(part: str, results: Results, found: Sequence[Finding]) -> str:
    """Everything about one table or figure."""
    verdicts = "".join(
        f"<p>{badge(one.kind)} <strong>{escape(one.claim)}.</strong> {escape(one.text)}</p>"
        for one in found
        if one.experiment == part
    )
    records = results.of(part)
    found_rows = comparison(part, records)
    table = (
        sortable_table(found_rows.headings, found_rows.rows, caption=title_of(part))
        if records
        else ""
    )
    missing = "".join(f"<li>{escape(text)}</li>" for text in absent(part, results))
    draw: Callable[[Results], str] | None = drawings.DRAWINGS.get(part)
    return (
        f'<section id="{part}"><h2>{escape(title_of(part))}</h2>'
        f'<p class="soft">{escape(paper_table(part).caption)}.</p>{verdicts}'
        f'<div class="drawings">{draw(results) if draw else ""}</div>'
        f"{table}{_notes(records)}{f'<ul>{missing}</ul>' if missing else ''}</section>"
    )


def _notes(records: Sequence[Record]) -> str:
    notes = list(dict.fromkeys(record.note for record in records if record.note))
    if not notes:
        return ""
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<details><summary>Notes on the measurements</summary><ul>{listed}</ul></details>"
