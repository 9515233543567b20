"""The conflict graph of columns and its edge clique covers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ecoc.graphs.conflict import SEPARATIONS, AnyGraph, ConflictGraph, Graph, conflicting_weights
from ecoc.graphs.cover import COVER_METHODS, CliqueCover, clique_cover

if TYPE_CHECKING:
    from ecoc.graphs.verify import CoverVerification, verify_cover

__all__ = [
    "COVER_METHODS",
    "SEPARATIONS",
    "AnyGraph",
    "CliqueCover",
    "ConflictGraph",
    "CoverVerification",
    "Graph",
    "clique_cover",
    "conflicting_weights",
    "verify_cover",
]

# Numba takes a moment to load, and only these need it.
_LAZY = {
    "CoverVerification": "verify",
    "verify_cover": "verify",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"ecoc.graphs.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
