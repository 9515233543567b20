"""Parts of pages that results share: plain tables, and drawings by matplotlib."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

__all__ = ["drawing", "plain_table"]


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


def drawing(figure: Figure, caption: str) -> str:
    """A drawing inside the page, the same bytes for the same figures."""
    import matplotlib as mpl

    stream = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "ecoc"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, facecolor="white")
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    text = escape(caption)
    return (
        f'<figure style="margin:1em 0"><img src="data:image/svg+xml;base64,{data}" '
        f'alt="{text}" style="max-width:100%;border-radius:.4em">'
        f'<figcaption style="font-size:.85em">{text}</figcaption></figure>'
    )
