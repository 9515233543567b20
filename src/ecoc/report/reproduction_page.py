"""The page of a reproduction: the paper beside what was measured, and what it comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from ecoc.errors import InvalidInputError
from ecoc.experiments.records import Record
from ecoc.report._complete import check_complete
from ecoc.report.comparisons import title_of
from ecoc.report.findings import KINDS, Finding, findings
from ecoc.report.page import facts_table, page
from ecoc.report.results import Results
from ecoc.report.sections import badge, section
from ecoc.report.tables import SCRIPT

__all__ = ["reproduction_page"]

_STYLE = """
:root { --c1: #1f5fa6; --c2: #b35c00; --c3: #1b7f4b; --c4: #b3261e; --c5: #6b4fa0; --c6: #5b6675;
  --wash: #f4f6f9; }
@media (prefers-color-scheme: dark) {
  :root { --c1: #7db4f0; --c2: #f0a860; --c3: #6fcf97; --c4: #ff8a80; --c5: #c3a6f2; --c6: #a4afbd;
    --wash: #1b212b; }
}
nav ul { display: flex; flex-wrap: wrap; gap: .2em 1.2em; padding: 0; list-style: none; }
a { color: var(--c1); }
.lead { font-size: 1.1rem; max-width: 60rem; }
.soft, .small { color: var(--soft); }
.small { font-size: .8rem; min-width: 13rem; text-align: left; }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; list-style: none; }
.tiles li { flex: 1 1 9rem; padding: .7rem 1rem; background: var(--wash); border-radius: .5rem; }
.tiles strong { display: block; font-size: 1.9rem; line-height: 1.2; }
.badge { display: inline-block; padding: 0 .6em; border: 1.5px solid; border-radius: 1em;
  font-size: .85rem; font-weight: 600; white-space: nowrap; }
.badge.better, .badge.holds { color: var(--c3); }
.badge.fails { color: var(--c4); }
.badge.open { color: var(--c2); }
.badge.missing { color: var(--soft); }
.scroll { overflow-x: auto; margin: 1.2em 0; }
.scroll:focus-visible, button:focus-visible, summary:focus-visible, a:focus-visible {
  outline: 2px solid var(--c1); outline-offset: 2px; }
table { font-size: .87rem; }
th, td { padding: .25em .8em .25em 0; }
caption { text-align: left; font-weight: 600; padding-bottom: .4em; }
th { vertical-align: bottom; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button::after { content: " \\2195"; color: var(--soft); }
th[aria-sort=ascending] button::after { content: " \\2191"; color: var(--c1); }
th[aria-sort=descending] button::after { content: " \\2193"; color: var(--c1); }
td.number, td.paper, td.ours { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
td.paper { color: var(--soft); }
td.ours { font-weight: 600; }
td.text { white-space: nowrap; }
.drawings { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
figure { margin: 0; max-width: 100%; }
figure.chart { display: table; min-width: 12rem; }
.chart figcaption { display: table-caption; caption-side: bottom; }
figcaption { font-size: .85rem; color: var(--soft); }
.chart svg { max-width: 100%; height: auto; display: block; }
.chart text { fill: var(--soft); font-size: 12px; font-family: inherit; }
.legend { display: flex; flex-wrap: wrap; gap: .1em 1.2em; margin: 0; padding: 0; list-style: none;
  font-size: .85rem; max-width: 28rem; }
.key { display: inline-block; width: 1.4em; margin-right: .4em; border-top: 3px solid;
  vertical-align: middle; }
.key.dashed { border-top-style: dashed; }
.pixels { image-rendering: pixelated; max-width: 100%; border-radius: 2px; }
.panel { max-width: 36rem; }
.columns { display: grid; grid-template-columns: repeat(5, max-content); gap: 4px; }
.columns .pixels { width: 56px; height: 56px; }
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
        What :func:`ecoc.experiments.read_records` read.

    Examples
    --------
    >>> from ecoc.experiments import paper_table
    >>> cell = paper_table("table2").cells[0]
    >>> ours = {"best": 10, "bound": 10, "gap": 0.0, "status": "OPTIMAL"}
    >>> record = Record("table2", cell.keys, "quick", "ok", cell.figures, ours)
    >>> "1 of 1 are proved optimal" in reproduction_page([record])
    True
    """
    if not records:
        raise InvalidInputError("There are no records to show; 'ecoc reproduce' makes them.")
    check_complete(records)
    results = Results(records)
    found = findings(results)
    parts = [
        _lead(results),
        _tiles(found),
        _contents(results),
        _summary(found),
        *(section(part, results, found) for part in results.parts),
        _again(results),
    ]
    head = f"<style>{_STYLE}</style>\n"
    body = "\n".join(parts) + f"\n<script>{SCRIPT}</script>"
    return page("Error-correcting output codes: the paper, measured again", body, head=head)


def _lead(results: Results) -> str:
    ok = [record for record in results.records if record.status == "ok"]
    scales = Counter(record.scale for record in ok)
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
        f"(2021), beside what this package measures: {len(ok)} cells ({escape(told)}).{warning}</p>"
    )


def _tiles(found: Sequence[Finding]) -> str:
    counts = Counter(finding.kind for finding in found)
    tiles = "".join(
        f"<li><strong>{counts[kind]}</strong>{badge(kind)}</li>" for kind in KINDS if counts[kind]
    )
    return f'<h2>In short</h2><ul class="tiles">{tiles}</ul>'


def _contents(results: Results) -> str:
    links = "".join(
        f'<li><a href="#{part}">{escape(title_of(part))}</a></li>' for part in results.parts
    )
    links += '<li><a href="#again">Run it again</a></li>'
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def _summary(found: Sequence[Finding]) -> str:
    rows = "".join(
        f"<tr><td>{badge(one.kind)}</td><td>{escape(one.claim)}</td><td>{escape(one.text)}</td>"
        f'<td><a href="#{one.experiment}">{escape(title_of(one.experiment).split(":")[0])}</a>'
        f"{f', {one.scale}' if one.scale else ''}</td></tr>"
        for one in found
    )
    return (
        '<div class="scroll" role="region" aria-label="What the paper says and what we find" '
        'tabindex="0"><table><caption>What the paper says, and what we find</caption>'
        '<thead><tr><th scope="col">Outcome</th><th scope="col">The paper</th>'
        '<th scope="col">Measured here</th><th scope="col">Where, scale</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _again(results: Results) -> str:
    ok = [record for record in results.records if record.status == "ok"]
    last = max(results.records, key=lambda record: record.finished)
    hours = sum(record.seconds for record in ok) / 3600
    machine = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in last.hardware.items())
    versions = ", ".join(f"{name} {version}" for name, version in last.versions.items())
    facts = {
        "measured until": last.finished,
        "time of all cells": f"{60 * hours:.0f} minutes" if hours < 2 else f"{hours:.1f} hours",
        "machine": machine,
        "versions": versions,
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
