"""The look that all pages share, and their parts: facts, tables, and drawings by matplotlib."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

from ecoc import __version__
from ecoc.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from ecoc.codes import Codebook
    from ecoc.design import Design
    from ecoc.paper.table import ComparisonTable, ComparisonValue

__all__ = [
    "SORT_SCRIPT",
    "codebook_page",
    "design_page",
    "drawing",
    "facts_table",
    "page",
    "plain_table",
    "sortable_table",
]


SORT_SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      const value = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const numbers = !isNaN(x) && !isNaN(y);
        const order = numbers ? x - y : String(x).localeCompare(String(y), "en", {numeric: true});
        return up ? order : -order;
      });
      table.tBodies[0].append(...rows);
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    });
  });
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
"""
"""What makes tables sort, empty cells below, and paper show all; pages are complete without."""


def facts_table(facts: Mapping[str, object]) -> str:
    """A table of names and values."""
    rows = "".join(
        f'<tr><th scope="row">{escape(str(key).replace("_", " "))}</th>'
        f"<td>{escape(str(value))}</td></tr>"
        for key, value in facts.items()
    )
    return f"<table><tbody>{rows}</tbody></table>"


def plain_table(lines: Sequence[Sequence[str]]) -> str:
    """A table whose first line has the headings, and whose first column names the rows."""
    heading = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in lines[0])
    body = "".join(
        f'<tr><th scope="row">{escape(line[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in line[1:])
        + "</tr>"
        for line in lines[1:]
    )
    return f"<table><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"


def sortable_table(comparison: ComparisonTable, *, caption: str) -> str:
    """A table whose headings are buttons, the same without script.

    Examples
    --------
    >>> from ecoc.paper.table import ComparisonTable, ComparisonValue
    >>> comparison = ComparisonTable(("k",), ((ComparisonValue("10", 10),),))
    >>> table = sortable_table(comparison, caption="Classes")
    >>> '<button type="button">k</button>' in table and 'data-key="10"' in table
    True
    """
    head = "".join(
        f'<th scope="col"><button type="button">{escape(heading)}</button></th>'
        for heading in comparison.headings
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in comparison.rows)
    return (
        f'<div class="scroll" role="region" aria-label="{escape(caption)}" tabindex="0">'
        f'<table class="sortable"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: ComparisonValue) -> str:
    if value.key is not None:
        key = f' data-key="{value.key}"'
    else:
        key = ' data-key=""' if value.text == "" and value.kind != "text" else ""
    return f'<td class="{value.kind}"{key}>{escape(value.text)}</td>'


def drawing(figure: Figure, caption: str, description: str = "") -> str:
    """A drawing inside the page, the same bytes for the same figures.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What is seen.
    caption : str
        What is read below it.
    description : str
        More for those who cannot see it.
    """
    import matplotlib as mpl

    stream = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "ecoc"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, facecolor="white")
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    text = escape(caption)
    told = escape(f"{caption}. {description}" if description else caption)
    return (
        f'<figure style="margin:1em 0"><img src="data:image/svg+xml;base64,{data}" '
        f'alt="{told}" style="max-width:100%;border-radius:.4em">'
        f'<figcaption style="font-size:.85em">{text}</figcaption></figure>'
    )


_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --soft: #5b6675; --line: #d5dae1; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --paper: #14181f; --soft: #a4afbd; --line: #37404d; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.5rem 3rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3em; }
h2 { font-size: 1.2rem; margin: 2em 0 .6em; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; padding: .8em 1em; border: 1px solid var(--line); border-radius: .4em; }
table { border-collapse: collapse; }
th, td { padding: .25em 1em .25em 0; text-align: left; border-bottom: 1px solid var(--line); }
footer { margin-top: 3em; padding-top: .8em; border-top: 1px solid var(--line);
  color: var(--soft); font-size: .85em; }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; }
  figure, table { break-inside: avoid; } }
"""


def page(title: str, body: str, *, head: str = "") -> str:
    """Wrap an HTML fragment into a page of its own.

    Parameters
    ----------
    title : str
        Plain text; it becomes the heading too.
    body : str
        HTML, already escaped.
    head : str
        More for the head of the page, such as styles of its own.
    """
    heading = escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{heading}</title>\n<style>{_STYLE}</style>\n{head}</head>\n"
        f"<body>\n<main>\n<h1>{heading}</h1>\n{body}\n</main>\n"
        f"<footer>Made with ecoc {escape(__version__)}.</footer>\n</body>\n</html>\n"
    )


def design_page(design: Design) -> str:
    """A page that shows a design: what was wanted, what was found, and what is proved."""
    if design.codebook is None:
        raise InvalidInputError("A design without a codebook has no page.")
    wanted = {key: value for key, value in design.problem.to_plain().items() if value is not None}
    wanted.pop("target_distances", None)
    notes = "".join(f"<li>{escape(note)}</li>" for note in design.notes)
    proof = {} if design.certificate is None else design.certificate.facts
    from ecoc.design.verification import unverified

    doubt = unverified(design)
    parts = [
        f"<p><strong>{escape(design.verdict)}</strong></p>",
        f"<p>Not verified: {escape(doubt)}</p>" if doubt else "",
        f"<ul>{notes}</ul>" if notes else "",
        *_codebook_parts(design.codebook),
        f"<h2>What was wanted</h2>\n{facts_table(wanted)}",
        f"<h2>What stands behind the bound</h2>\n{facts_table(proof)}" if proof else "",
    ]
    return page("Codebook design", "\n".join(part for part in parts if part))


def codebook_page(codebook: Codebook) -> str:
    """A page that shows a codebook: its picture, its figures, and how it was made."""
    return page("Codebook", "\n".join(_codebook_parts(codebook)))


def _codebook_parts(codebook: Codebook) -> list[str]:
    parts = [codebook._repr_html_()]
    provenance = codebook.provenance
    if provenance is not None:
        facts = dict(provenance.parameters)
        if provenance.seed is not None:
            facts["seed"] = provenance.seed
        table = facts_table({"method": provenance.method, **facts})
        parts.append(f"<h2>How it was made</h2>\n{table}")
    rows_text = "\n".join(codebook.rows[:400])
    if codebook.n_columns <= 400:
        parts.append(f"<h2>The matrix as text</h2>\n<pre>{rows_text}</pre>")
    return parts
