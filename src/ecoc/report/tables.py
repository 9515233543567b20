"""Tables that sort: a button in every heading, numbers on the right, the same without script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["SCRIPT", "Value", "sortable_table"]


@dataclass(frozen=True)
class Value:
    """A cell of a table.

    Attributes
    ----------
    text : str
        What is read.
    key : float or None
        What it sorts by; the text if None.
    kind : str
        ``"number"``, ``"paper"``, ``"ours"``, ``"text"`` or ``"small"``: how it looks.
    """

    text: str
    key: float | None = None
    kind: str = "number"


SCRIPT = """
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


def sortable_table(
    headings: Sequence[str], rows: Sequence[Sequence[Value]], *, caption: str
) -> str:
    """A table whose headings are buttons.

    Examples
    --------
    >>> table = sortable_table(["k"], [[Value("10", 10)]], caption="Classes")
    >>> '<button type="button">k</button>' in table and 'data-key="10"' in table
    True
    """
    head = "".join(
        f'<th scope="col"><button type="button">{escape(heading)}</button></th>'
        for heading in headings
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<div class="scroll" role="region" aria-label="{escape(caption)}" tabindex="0">'
        f'<table class="sortable"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: Value) -> str:
    if value.key is not None:
        key = f' data-key="{value.key}"'
    else:
        key = ' data-key=""' if value.text == "" and value.kind != "text" else ""
    return f'<td class="{value.kind}"{key}>{escape(value.text)}</td>'
