"""The look that all pages share, and their parts: facts, tables, and drawings by matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ecoc import __version__
from ecoc.errors import InvalidInputError

if TYPE_CHECKING:
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
    "heat_table",
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


_TITLES = {
    "n_classes": "classes, k",
    "n_columns": "columns, L",
    "n_symbols": "symbols, q",
    "min_column_distance": "column separation, rho",
    "separation": "rule of separation",
    "max_imbalance": "largest imbalance",
    "class_sizes": "data points of each class",
    "blocks": "pieces",
    "n_cut": "columns cut off",
    "n_free": "columns added freely",
    "n_candidates": "candidates",
    "n_nodes": "nodes of the search",
}
"""What people read for the names of arguments."""


def facts_table(facts: Mapping[str, object]) -> str:
    """A table of names and values, in words.

    Examples
    --------
    >>> "<td>feasibility 1e-09, gap 0</td>" in facts_table({"x": {"feasibility": 1e-9, "gap": 0.0}})
    True
    """
    rows = "".join(
        f'<tr><th scope="row">{escape(_title(key))}</th><td>{escape(_worded(value))}</td></tr>'
        for key, value in facts.items()
    )
    return f'<table class="facts"><tbody>{rows}</tbody></table>'


def _title(key: object) -> str:
    return _TITLES.get(str(key), str(key).replace("_", " "))


def _worded(value: object) -> str:
    """A value as a person writes it: no brackets, quotes or braces of Python."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_title(key)} {_worded(part)}" for key, part in value.items()) or "none"
    if isinstance(value, list | tuple | set):
        return ", ".join(map(_worded, value)) or "none"
    return str(value)


def plain_table(lines: Sequence[Sequence[str]]) -> str:
    """A table whose first line has the headings, and whose first column names the rows."""
    heading = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in lines[0])
    body = "".join(
        f'<tr><th scope="row">{escape(line[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in line[1:])
        + "</tr>"
        for line in lines[1:]
    )
    return (
        f'<div class="scroll" tabindex="0"><table class="lines"><thead><tr>{heading}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


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
    """A drawing inside the page, in the colours of the page, the same bytes for the same figures.

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
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    # The page is the paper.
    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    # Letters stay letters. Names inside differ by what they name, and by the drawing. What saves
    # figures of every kind would draw it once more, only to see where everything goes.
    with mpl.rc_context({"svg.hashsalt": f"ecoc {caption}", "svg.fonttype": "none"}):
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(stream, metadata=dict.fromkeys(_NO_METADATA))
    told = escape(f"{caption}. {description}" if description else caption)
    width = 96 * figure.get_figwidth()
    return (
        f'<figure class="chart{" wide" if width > _WIDE else ""}"><div class="scroll">'
        f"{_inline(stream.getvalue(), told, width)}</div>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


_NO_METADATA = ("Date", "Creator", "Format", "Type")
_WIDE = 640
"""The width, in pixels, from which a drawing has a line of the page for itself."""

_PAGE_COLOURS = {
    **dict.fromkeys(("#000000", "#333333"), "currentColor"),
    **dict.fromkeys(("#5b6675", "#888888"), "var(--soft)"),
    **dict.fromkeys(("#b0b0b0", "#d5dae1", "#dee2e6"), "var(--line)"),
    "#1f5fa6": "var(--blue)",
    "#b35c00": "var(--orange)",
    "#1b7f4b": "var(--green)",
    "#b3261e": "var(--red)",
    "#6b4fa0": "var(--purple)",
}
"""Colours of drawings, and what the page has for them in light and dark."""


def _inline(svg: str, told: str, width: float) -> str:
    """What matplotlib wrote, as a part of a page."""
    drawn = svg[svg.index("<svg") :]
    box = re.search(r'viewBox="([^"]+)"', drawn)
    body = drawn[drawn.index(">") + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    # Groups are numbered alike in every drawing.
    body = re.sub(r'<g id="[a-zA-Z0-9_. ]+"', "<g", body)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r"font: ([0-9.]+)px [^;\"]*", r"font-size: \1px", body)
    body = re.sub(r"font-family: [^;\"]*;? ?", "", body)
    body = re.sub(r"\n *", "\n", body)
    for colour, meant in _PAGE_COLOURS.items():
        body = body.replace(colour, meant)
    return (
        f'<svg role="img" aria-label="{told}" viewBox="{box.group(1) if box else ""}" '
        f'style="width:100%;min-width:{0.6 * width:.0f}px;max-width:{1.3 * width:.0f}px" '
        f'fill="currentColor">{body}'
    )


def heat_table(
    values: Sequence[Sequence[int]], names: Sequence[str], *, caption: str, across: str
) -> str:
    """A square table of counts, each the darker the larger its share of the row is.

    Parameters
    ----------
    values : rows of int
        The counts.
    names : sequence of str
        Of the rows, and of the columns.
    caption : str
        What it shows.
    across : str
        What the columns are.

    Examples
    --------
    >>> table = heat_table([[3, 1], [0, 2]], ["a", "b"], caption="Counts", across="given")
    >>> '<td class="right" style="--share:0.866">3</td>' in table
    True
    """
    head = "".join(f'<th scope="col"><span>{escape(name)}</span></th>' for name in names)
    lines = []
    for place, (name, row) in enumerate(zip(names, values, strict=True)):
        total = max(sum(row), 1)
        cells = "".join(
            _heat_cell(count, count / total, right=column == place)
            for column, count in enumerate(row)
        )
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return (
        f'<p class="soft">{escape(caption)}</p>'
        f'<div class="scroll" role="region" aria-label="{escape(caption)}" tabindex="0">'
        f'<table class="heat"><thead><tr>'
        f'<th scope="col">{escape(across)}</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _heat_cell(count: int, share: float, *, right: bool) -> str:
    if not count:
        return "<td></td>"
    kind = ' class="right"' if right else ""
    # The root lets small shares be seen.
    return f'<td{kind} style="--share:{share**0.5:.3g}">{count}</td>'


_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --soft: #5b6675; --line: #d5dae1;
  --blue: #1f5fa6; --orange: #b35c00; --green: #1b7f4b; --red: #b3261e; --purple: #6b4fa0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --paper: #14181f; --soft: #a4afbd; --line: #37404d;
    --blue: #7db4f0; --orange: #f0a860; --green: #6fcf97; --red: #ff8a80; --purple: #b9a3e3; }
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
table.lines td { white-space: nowrap; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .4em; }
table.facts { width: 100%; }
table.facts th { font-weight: 600; vertical-align: top; width: 11em; }
table.facts td { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; max-width: 100%; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 29rem), 1fr));
  gap: 1.5rem 2rem; align-items: start; margin: 1.2em 0; }
.chart { margin: 0; min-width: 0; }
.chart.wide { grid-column: 1 / -1; }
.chart svg { display: block; height: auto; font-family: system-ui, sans-serif; }
figcaption, .soft { color: var(--soft); }
figcaption { font-size: .85rem; }
table.heat { font-size: .85rem; font-variant-numeric: tabular-nums; }
table.heat td { min-width: 2.1em; padding: .25em .35em; text-align: center;
  border: 1px solid var(--line); background: rgba(190, 90, 20, calc(.6 * var(--share, 0))); }
table.heat td.right { background: rgba(40, 110, 190, calc(.6 * var(--share, 0))); }
table.heat thead th { vertical-align: bottom; font-weight: normal; }
table.heat thead span { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap; }
table.heat tbody th { position: sticky; left: 0; background: var(--paper); font-weight: normal;
  padding-right: .6em; min-width: 7em; max-width: 14em; overflow-wrap: anywhere; }
footer { margin-top: 3em; padding-top: .8em; border-top: 1px solid var(--line);
  color: var(--soft); font-size: .85em; }
@media (max-width: 32rem) { body { padding: 1.2rem .9rem 2rem; } h1 { font-size: 1.4rem; }
  table { font-size: .9rem; } table.facts th { width: 6.5em; } }
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
    notes = "".join(f"<li>{escape(note)}</li>" for note in design.told_notes)
    proof = {} if design.certificate is None else design.certificate.facts
    from ecoc.design.verification import unverified

    doubt = unverified(design)
    parts = [
        f"<p><strong>{escape(design.verdict)}</strong></p>",
        f"<p>Not verified: {escape(doubt)}</p>" if doubt else "",
        f"<ul>{notes}</ul>" if notes else "",
        f"<pre>{escape(design.prefix_table)}</pre>" if design.prefixes else "",
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
