"""Answers of columns under a deadline, on a cluster whose workers die, lag behind or lie."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecoc.serving.http import make_app
    from ecoc.serving.server import ColumnServer, ServedBatch, ServerStatus

__all__ = ["ColumnServer", "ServedBatch", "ServerStatus", "make_app"]


# What a worker loads is less than a server needs.
_LAZY = {
    "ColumnServer": "server",
    "ServedBatch": "server",
    "ServerStatus": "server",
    "make_app": "http",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"ecoc.serving.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
