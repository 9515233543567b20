"""The page of a reproduction, the paper beside what was measured; also as Markdown and LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from ecoc._checks import counted
from ecoc._latex import escaped, text_table
from ecoc.paper import VERDICTS, Finding, PaperTable, Record, Reproduction, paper_table
from ecoc.paper.records import Results
from ecoc.report.page import SORT_SCRIPT, drawing, facts_table, page, sortable_table

__all__ = ["reproduction_latex", "reproduction_markdown", "reproduction_page"]


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
        comparison = table.compare(results.shown)
        parts += [f"## {table.heading}", f"{table.caption}."]
        if comparison.rows:
            rows = [[value.text for value in row] for row in comparison.rows]
            parts.append(_table(comparison.headings, rows))
        notes = dict.fromkeys(record.note for record in results.shown if record.note)
        parts += [_escaped(text) for text in (*notes, *table.not_measured(results))]
    ran_with = f"{_escaped(run.machine)}; {_escaped(run.versions)}; {run.finished}"
    parts += ["## Measured with", ran_with]
    return "\n\n".join(parts) + "\n"


def reproduction_latex(records: Sequence[Record]) -> str:
    r"""The tables of the paper beside what was measured, for LaTeX with the package booktabs.

    Parameters
    ----------
    records : sequence of Record
        What :func:`ecoc.paper.read_records` read.

    Examples
    --------
    >>> record = Record("table2", {"k": 13, "L": 26}, "quick", "ok", {"best": 13}, {"best": 14,
    ...     "bound": 14, "gap": 0.0, "status": "OPTIMAL"})
    >>> r"13 & 26 & 13 & 14 & +1 &" in reproduction_latex([record])
    True
    """
    tables = []
    for table, results in Reproduction(records).tables:
        comparison = table.compare(results.shown)
        if not comparison.rows:
            continue
        # What was measured on what is too long for a cell of a printed page.
        kept = [i for i, title in enumerate(comparison.headings) if title != "Measured on"]
        lines = [[comparison.headings[i] for i in kept]]
        lines += [[row[i].text for i in kept] for row in comparison.rows]
        caption = escaped(f"{table.heading}. {table.caption}.")
        tables.append(
            f"\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n"
            f"{text_table(lines)}\\end{{table}}\n"
        )
    return "\n".join(tables)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


def _escaped(text: str) -> str:
    """Text that Markdown takes for nothing else."""
    for sign in "\\`*_|<>[]":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")


_STYLE = """
:root { --wash: #f4f6f9; }
@media (prefers-color-scheme: dark) { :root { --wash: #1b212b; } }
nav ul { display: flex; flex-wrap: wrap; gap: .2em 1.2em; padding: 0; list-style: none; }
a { color: var(--blue); }
.lead { font-size: 1.1rem; max-width: 60rem; }
.small { color: var(--soft); }
.small { font-size: .8rem; min-width: 13rem; text-align: left; }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; list-style: none; }
.tiles li { flex: 1 1 9rem; padding: .7rem 1rem; background: var(--wash); border-radius: .5rem; }
.tiles strong { display: block; font-size: 1.9rem; line-height: 1.2; }
.badge { display: inline-block; padding: 0 .6em; border: 1.5px solid; border-radius: 1em;
  font-size: .85rem; font-weight: 600; white-space: nowrap; }
.badge.better, .badge.holds { color: var(--green); }
.badge.fails { color: var(--red); }
.badge.open { color: var(--orange); }
.badge.missing { color: var(--soft); }
section > .scroll { margin: 1.2em 0; }
.scroll:focus-visible, button:focus-visible, summary:focus-visible, a:focus-visible {
  outline: 2px solid var(--blue); outline-offset: 2px; }
table { font-size: .87rem; }
th, td { padding: .25em .8em .25em 0; }
caption { text-align: left; font-weight: 600; padding-bottom: .4em; }
th { vertical-align: bottom; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button::after { content: " \\2195"; color: var(--soft); }
th[aria-sort=ascending] button::after { content: " \\2191"; color: var(--blue); }
th[aria-sort=descending] button::after { content: " \\2193"; color: var(--blue); }
td.number, td.paper, td.ours { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
td.paper { color: var(--soft); }
td.ours { font-weight: 600; }
td.text { white-space: nowrap; }
.charts { grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
section { margin-top: 3rem; border-top: 1px solid var(--line); }
@page { size: A4 landscape; margin: 12mm; }
@media print { nav, th button::after { display: none; } section { break-before: auto; }
  .scroll { overflow: visible; } table { font-size: .68rem; break-inside: auto; }
  th, td { padding: .15em .6em .15em 0; } .small { font-size: .6rem; min-width: 0; }
  thead { display: table-header-group; } tr { break-inside: avoid; } }
"""


def reproduction_page(records: Sequence[Record]) -> str:
    """The records of a run as one page that needs no network.

    Parameters
    ----------
    records : sequence of Record
        What :func:`ecoc.paper.read_records` read.

    Examples
    --------
    >>> from ecoc.paper import paper_table
    >>> cell = paper_table("table2").printed[0]
    >>> ours = {"best": 10, "bound": 10, "gap": 0.0, "status": "OPTIMAL"}
    >>> record = Record("table2", cell.keys, "quick", "ok", cell.figures, ours)
    >>> "1 of 1 are proved optimal" in reproduction_page([record])
    True
    """
    run = Reproduction(records)
    parts = [
        _lead(run),
        _tiles(run.findings),
        _contents(run),
        _summary(run.findings),
        *(_section(table, results, run.findings) for table, results in run.tables),
        _again(run),
    ]
    head = f"<style>{_STYLE}</style>\n"
    body = "\n".join(parts) + f"\n<script>{SORT_SCRIPT}</script>"
    return page("Error-correcting output codes: the paper, measured again", body, head=head)


def _lead(run: Reproduction) -> str:
    scales = Counter(record.scale for record in run.measured)
    told = ", ".join(f"{count} at scale {scale}" for scale, count in scales.items())
    partial = set(scales) - {"full"}
    warning = (
        " Cells that are not at scale full use subsets and small networks, named beside each "
        "figure: compare their order, not their last digits."
        if partial
        else ""
    )
    return (
        '<p class="lead">Every table and figure of S. Gupta and S. Amin, <cite>Integer '
        "Programming-based Error-Correcting Output Code Design for Robust Classification</cite> "
        f"(2021), beside what this package measures: {counted(len(run.measured), 'cell')} "
        f"({escape(told)}).{warning}</p>"
    )


def _tiles(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings)
    tiles = "".join(
        f"<li><strong>{counts[verdict]}</strong>{_badge(verdict)}</li>"
        for verdict in VERDICTS
        if counts[verdict]
    )
    return f'<h2>In short</h2><ul class="tiles">{tiles}</ul>'


def _contents(run: Reproduction) -> str:
    links = "".join(
        f'<li><a href="#{table.name}">{escape(table.heading)}</a></li>' for table, _ in run.tables
    )
    links += '<li><a href="#again">Run it again</a></li>'
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def _summary(findings: Sequence[Finding]) -> str:
    rows = "".join(
        f"<tr><td>{_badge(one.verdict)}</td><td>{escape(one.claim)}</td><td>{escape(one.text)}</td>"
        f'<td><a href="#{one.table}">{escape(paper_table(one.table).heading.split(":")[0])}</a>'
        f"{f', {one.scale}' if one.scale else ''}</td></tr>"
        for one in findings
    )
    return (
        '<div class="scroll" role="region" aria-label="What the paper says and what we find" '
        'tabindex="0"><table><caption>What the paper says, and what we find</caption>'
        '<thead><tr><th scope="col">Outcome</th><th scope="col">The paper</th>'
        '<th scope="col">Measured here</th><th scope="col">Where, scale</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _badge(verdict: str) -> str:
    """The verdict as a word with a colour."""
    return f'<span class="badge {verdict}">{escape(VERDICTS[verdict])}</span>'


def _section(table: PaperTable, results: Results, findings: Sequence[Finding]) -> str:
    """Everything about one table or figure: verdicts, drawings, paper and ours, notes."""
    verdicts = "".join(
        f"<p>{_badge(one.verdict)} <strong>{escape(one.claim)}.</strong> {escape(one.text)}</p>"
        for one in findings
        if one.table == table.name
    )
    drawings = "".join(
        drawing(one.figure, one.caption, one.description) for one in table.draw(results)
    )
    records = results.shown
    rows = sortable_table(table.compare(records), caption=table.heading) if records else ""
    missing = "".join(f"<li>{escape(text)}</li>" for text in table.not_measured(results))
    return (
        f'<section id="{table.name}"><h2>{escape(table.heading)}</h2>'
        f'<p class="soft">{escape(table.caption)}.</p>{verdicts}'
        f'<div class="charts">{drawings}</div>'
        f"{rows}{_notes(records)}{f'<ul>{missing}</ul>' if missing else ''}</section>"
    )


def _notes(records: Sequence[Record]) -> str:
    notes = list(dict.fromkeys(record.note for record in records if record.note))
    if not notes:
        return ""
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<details><summary>Notes on the measurements</summary><ul>{listed}</ul></details>"


def _again(run: Reproduction) -> str:
    hours = sum(record.seconds for record in run.measured) / 3600
    facts = {
        "measured until": run.finished,
        "time of all cells": f"{60 * hours:.0f} minutes" if hours < 2 else f"{hours:.1f} hours",
        "machine": run.machine,
        "versions": run.versions,
    }
    return (
        '<section id="again"><h2>Run it again</h2>'
        "<pre>ecoc reproduce all --quick --data FOLDER -o results\n"
        "ecoc reproduce all --quick --data FOLDER -o results --resume   # after a break\n"
        "ecoc reproduce all --full  --data FOLDER -o results            # the paper's sizes\n"
        "ecoc report results -o report.html</pre>"
        "<p>FOLDER has the data files; the error about a missing set says where to get it. Seeds "
        "are fixed, so figures come out the same on the same versions, and times do not.</p>"
        f"{facts_table(facts)}</section>"
    )
