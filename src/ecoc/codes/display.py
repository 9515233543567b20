"""Codebooks as text: one line for a shell, a matrix of signs for a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecoc.codes.codebook import Codebook

__all__ = ["class_names", "summary", "text"]

CHEAP = 100_000_000
"""Multiplications that a one-line summary may cost."""

MAX_ROWS = 60
MAX_COLUMNS = 80

_COLOURS = {"+": "\033[34m", "-": "\033[31m", "0": "\033[2m"}
_RESET = "\033[0m"


def summary(codebook: Codebook) -> str:
    """One line: the size and, where they are cheap to know, the distances."""
    k, length = codebook.matrix.shape
    parts = [f"{k} classes x {length} column{'s' if length != 1 else ''}"]
    if not codebook.is_binary:
        parts.append("ternary")
    if k * k * length + k * length * length <= CHEAP:
        parts.append(f"row distance {codebook.min_row_distance:g}")
        least = codebook.min_column_distance()
        if least is not None:
            parts.append(f"column distance {least:g}")
    name = f" {codebook.name!r}" if codebook.name else ""
    return f"<Codebook{name}: {', '.join(parts)}>"


def class_names(codebook: Codebook) -> list[str]:
    """The labels of the classes, or their numbers."""
    return list(codebook.labels or map(str, range(codebook.n_classes)))


def text(codebook: Codebook, *, colour: bool | None = None) -> str:
    """The matrix, a line for each class; large ones are cut, and say so.

    `colour` None colours only where standard output is a terminal that can.
    """
    if colour is None:
        colour = _terminal_has_colour()
    k, length = codebook.matrix.shape
    names = [_fit(name) for name in class_names(codebook)[:MAX_ROWS]]
    width = max(map(len, names))
    lines = []
    for name, row in zip(names, codebook.rows, strict=False):
        cells = (f"{_COLOURS[c]}{c}{_RESET}" if colour else c for c in row[:MAX_COLUMNS])
        more = " ..." if length > MAX_COLUMNS else ""
        lines.append(f"{name:<{width}}  {' '.join(cells)}{more}")
    if k > MAX_ROWS or length > MAX_COLUMNS:
        shown = f"{min(k, MAX_ROWS)} of {k} classes, {min(length, MAX_COLUMNS)} of {length} columns"
        lines.append(f"({shown} shown)")
    return "\n".join(lines)


def _fit(name: str, limit: int = 24) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "…"


def _terminal_has_colour() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()
