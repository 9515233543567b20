"""Parts of pages: facts, plain tables, tables that sort, and drawings by matplotlib."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from ecoc.paper.comparison import ComparisonTable, ComparisonValue

__all__ = ["SORT_SCRIPT", "drawing", "facts_table", "plain_table", "sortable_table"]

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
    >>> from ecoc.paper.comparison import ComparisonTable, ComparisonValue
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
