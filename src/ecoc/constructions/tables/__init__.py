"""Sequences found by search, from which Hadamard matrices and codes are made."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["load_table"]


@cache
def load_table() -> dict[str, Any]:
    """Read the table of sequences that is shipped with the package."""
    text = resources.files(__package__).joinpath("sequences.json").read_text(encoding="ascii")
    table: dict[str, Any] = json.loads(text)
    return table
